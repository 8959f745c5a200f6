/* fftmag: the magnitude of the 2-D discrete Fourier transform of the luma, as
 * a grey picture of the same layout (RGB: equal channels; YUV: chroma neutral;
 * alpha and padding copied).
 *
 * The luma is taken on the 8-bit scale (black 0, white 255), so |F| has the
 * same unit at every depth. |F| is not divided by the number of pixels: it is
 * numpy.abs (numpy.fft.fft2 (luma)). Then `scale`:
 *   LOG log (1 + |F|), LINEAR |F|, POWER |F|²,
 *   DECIBEL 20 log10 (max (|F|, 1))
 * `shift` moves element (0, 0) to (height / 2, width / 2), as fftshift does
 * for odd sizes too. `normalize` maps to black..white, rounded to nearest and
 * saturated: MINMAX the smallest and the largest value of this picture, RANGE
 * range_min and range_max. A picture whose values are all equal, but for the
 * rounding of floats (1e-5 of the largest), is black.
 * `window` multiplies the luma by w (y) * w (x), NumPy's hanning, hamming and
 * blackman (symmetric: w (0) = w (N - 1)); of one sample it is 1.
 * Source and destination have the same layout and may be the same.
 */
#ifndef IMG_FFTMAG_H
#define IMG_FFTMAG_H

#include "operation.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  IMG_FFTMAG_LOG,
  IMG_FFTMAG_LINEAR,
  IMG_FFTMAG_POWER,
  IMG_FFTMAG_DECIBEL
} ImgFftmagScale;

typedef enum {
  IMG_FFTMAG_MINMAX,
  IMG_FFTMAG_RANGE
} ImgFftmagNormalize;

typedef enum {
  IMG_FFTMAG_WINDOW_NONE,
  IMG_FFTMAG_WINDOW_HANN,
  IMG_FFTMAG_WINDOW_HAMMING,
  IMG_FFTMAG_WINDOW_BLACKMAN
} ImgFftmagWindow;

typedef struct {
  ImgFftmagScale scale;
  bool shift;
  ImgFftmagNormalize normalize;
  double range_min; /* in units of `scale`; below range_max */
  double range_max;
  ImgFftmagWindow window;
} ImgFftmagParams;

extern const ImgOperation img_fftmag_cpu;
extern const ImgOperation img_fftmag_cuda;

#ifdef __cplusplus
}
#endif
#endif
