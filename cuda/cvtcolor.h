/* cvtcolor: a picture in another format, matrix, range or chroma siting.
 *
 * Source and destination have the same size and any formats of the table in
 * image.c. A value n of a component v is on a scale of its own:
 *
 *   luma, grey, RGB   n = (v - black) / (white - black)
 *   chroma            n = (v - neutral) / chroma, where `chroma` is the
 *                     largest value in full range and 224, scaled to the
 *                     depth, in limited range
 *
 * (ITU-T H.273, 8.3; black, white and neutral as in ImgLevels.) Between models
 * (H.273, 8.3; Kr, Kb: .299, .114 of BT.601, .2126, .0722 of BT.709, .2627,
 * .0593 of BT.2020):
 *
 *   RGB from YUV    r = y + 2 (1 - Kr) v,  b = y + 2 (1 - Kb) u,
 *                   g = (y - Kr r - Kb b) / (1 - Kr - Kb)
 *   YUV from RGB    the inverse
 *   YUV from YUV    of another matrix: through RGB, which is not clipped; of
 *                   the same matrix: the same values
 *   grey from RGB   img_luma, the value of OpenCV's cvtColor, whatever the
 *                   matrices
 *   grey from YUV   the luma
 *   RGB from grey   equal components; YUV from grey: neutral chroma
 *
 * The result is (m3 + m0 * v0 + m1 * v1 + m2 * v2) of the three components of
 * the source, with factors rounded to float32, rounded to nearest (ties to
 * even) and saturated to the depth. So where range, matrix and depth are the
 * same, values are copied, also RGB to another order; full range becomes
 * deeper by v * (max / max), limited range by a shift.
 *
 * Where a component of the source has another resolution than the result, or
 * its samples another place, it is resampled linearly to the place of the
 * result, columns and rows each by itself and without rounding:
 *
 *   to more samples    cosited: (1), (1 1)/2 in turn; between two: (1 3)/4,
 *                      (3 1)/4 in turn
 *   to fewer           cosited: (1 2 1)/4; between two: (1 1)/2
 *   to the same number, from cosited to between two: (3 1)/4, back: (1 3)/4
 *
 * Beyond the edges stands the last sample. A chroma plane without rows (of the
 * bottom field of two lines) is neutral.
 *
 * Alpha is copied (scaled to the depth) where both have it, and is `alpha`
 * where only the destination has; padding becomes the largest value. The
 * memory of source and destination must not overlap.
 *
 * The CUDA version is within 1 of the CPU version, and equal to it where the
 * result is grey or both are RGB.
 */
#ifndef IMG_CVTCOLOR_H
#define IMG_CVTCOLOR_H

#include "operation.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  double alpha; /* 0..255 */
} ImgCvtcolorParams;

extern const ImgOperation img_cvtcolor_cpu;
extern const ImgOperation img_cvtcolor_cuda;

#ifdef __cplusplus
}
#endif
#endif
