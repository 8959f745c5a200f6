/* sobel: image derivatives with OpenCV's Sobel and Scharr kernels, not
 * normalised.
 *
 * With gx, gy the two derivatives of a channel, in units of its depth:
 *   MAGNITUDE  round (norm (gx, gy) * scale + delta)
 *   X, Y       g = gx or gy, v = g * scale + delta, and by `output`
 *              ABS |v|, CLIP max (v, 0), OFFSET v + 128 (on the 8-bit scale)
 * The result is added to black and saturated to black..white; `delta` is on
 * the 8-bit scale. Rounding is to nearest, ties to even; sobel-arith.h has the
 * arithmetic, in which both versions agree bit for bit.
 * EACH: every colour channel by itself. LUMA: the derivative of the luma,
 * written to every colour channel. YUV: luma only, chroma neutral. Alpha and
 * padding are copied. Source and destination have the same layout and must
 * not overlap.
 */
#ifndef IMG_SOBEL_H
#define IMG_SOBEL_H

#include "operation.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  IMG_SOBEL_MAGNITUDE,
  IMG_SOBEL_X, /* finds vertical edges */
  IMG_SOBEL_Y
} ImgSobelDirection;

typedef enum {
  IMG_SOBEL_SOBEL,
  IMG_SOBEL_SCHARR /* kernel_size must be 3 */
} ImgSobelOperator;

typedef enum {
  IMG_SOBEL_L2, /* sqrt (gx² + gy²) */
  IMG_SOBEL_L1  /* |gx| + |gy| */
} ImgSobelNorm;

typedef enum {
  IMG_SOBEL_ABS,
  IMG_SOBEL_CLIP,
  IMG_SOBEL_OFFSET
} ImgSobelOutput;

typedef struct {
  ImgSobelDirection direction;
  ImgSobelOperator op;
  int kernel_size; /* 3, 5 or 7 */
  ImgSobelNorm norm;
  ImgSobelOutput output;
  double scale;
  double delta; /* on the 8-bit scale */
  ImgBorder border;
  ImgChannels channels;
} ImgSobelParams;

extern const ImgOperation img_sobel_cpu;
extern const ImgOperation img_sobel_cuda;

#ifdef __cplusplus
}
#endif
#endif
