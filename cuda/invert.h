/* invert: the negative of a picture, as OpenCV's bitwise_not on RGB and grey.
 *
 * RGB, grey: max - value. YUV: luma mirrored inside its range (black + white -
 * value), chroma mirrored about neutral (2 * neutral - value), both saturated
 * to 0..max, so that the picture looks like inverting the RGB it stands for.
 * Alpha is copied, or with `invert_alpha` becomes max - alpha; padding is
 * copied. Source and destination have the same layout and may be the same.
 */
#ifndef IMG_INVERT_H
#define IMG_INVERT_H

#include "operation.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  bool invert_alpha;
} ImgInvertParams;

extern const ImgOperation img_invert_cpu;
extern const ImgOperation img_invert_cuda;

#ifdef __cplusplus
}
#endif
#endif
