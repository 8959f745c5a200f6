/*
 * What the CPU and the GPU version of fftmag share: checks, windows, and what
 * becomes of a coefficient of the transform.
 */
#ifndef IMG_FFTMAG_ARITH_H
#define IMG_FFTMAG_ARITH_H

#include "arith.h"
#include "fftmag.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Checks what prepare must check, on either backend. */
bool img_fftmag_check (const ImgView *src, const ImgView *dst,
    const ImgFftmagParams *params, ImgError *error);

/* The window at sample i of n. */
double img_fftmag_window (ImgFftmagWindow window, int i, int n);

/* Luma in units of the depth, less black, times this is luma on the 8-bit
 * scale. */
double img_fftmag_unit (const ImgView *view);

/* A coefficient with |F|² = power in units of `scale`. */
IMG_INLINE float
img_fftmag_value (ImgFftmagScale scale, float power)
{
  switch (scale) {
    case IMG_FFTMAG_LOG:
      return logf (1.0f + sqrtf (power));
    case IMG_FFTMAG_LINEAR:
      return sqrtf (power);
    case IMG_FFTMAG_POWER:
      return power;
    default:
      return 10.0f * log10f (power > 1.0f ? power : 1.0f);
  }
}

/* What maps the values low..high to black..white. A range of less than 1e-5
 * of its end is taken as empty, and all becomes black: so does the spectrum of
 * a single pixel, which is flat but for the rounding of floats. */
typedef struct {
  float low, gain;
  int black, white;
} ImgFftmagMap;

IMG_INLINE ImgFftmagMap
img_fftmag_map (float low, float high, int black, int white)
{
  const float span = high - low;
  const ImgFftmagMap map = { low,
    span > 1e-5f * fabsf (high) ? (float) (white - black) / span : 0.0f,
    black, white };

  return map;
}

IMG_INLINE int
img_fftmag_level (const ImgFftmagMap *map, float value)
{
  return map->black + img_round_clamp ((value - map->low) * map->gain, 0,
      map->white - map->black);
}

#ifdef __cplusplus
}
#endif
#endif
