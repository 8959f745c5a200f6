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

/* The coefficient that stands at `position` of a row or column of n. */
IMG_INLINE int
img_fftmag_frequency (int position, int n, bool shift)
{
  if (!shift)
    return position;
  return position < n / 2 ? position + (n + 1) / 2 : position - n / 2;
}

/* A coefficient in units of `scale`. */
IMG_INLINE float
img_fftmag_value (ImgFftmagScale scale, float re, float im)
{
  const float power = re * re + im * im;

  switch (scale) {
    case IMG_FFTMAG_LOG:
      return log1pf (sqrtf (power));
    case IMG_FFTMAG_LINEAR:
      return sqrtf (power);
    case IMG_FFTMAG_POWER:
      return power;
    default:
      return 10.0f * log10f (power > 1.0f ? power : 1.0f);
  }
}

/* What maps the values low..high to levels: value * gain + bias, rounded and
 * saturated to black..white. */
typedef struct {
  float low, gain;
  int black, white;
} ImgFftmagMap;

IMG_INLINE ImgFftmagMap
img_fftmag_map (float low, float high, int black, int white)
{
  const ImgFftmagMap map = { low,
    high > low ? (float) (white - black) / (high - low) : 0.0f, black, white };

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
