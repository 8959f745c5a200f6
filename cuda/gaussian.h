/* gaussian: Gaussian blur of every channel but padding and alpha, which are
 * copied. On 8-bit photographs within 1 of OpenCV's GaussianBlur, which rounds
 * the weights to 8 bits: on noise and on one-dimensional kernels of 99 and more
 * it is itself further from the exact sum, up to 15 of 255 at size 255.
 *
 * Weights are getGaussianKernel's: for sizes 1, 3, 5, 7, 9 without a sigma
 * OpenCV's fixed kernels, else exp (-i² / (2 sigma²)), normalised. A size of 0
 * follows from sigma: round (sigma * 3 * 2 + 1) | 1, with 4 in place of 3 on
 * formats deeper than 8 bits. A sigma of 0 follows from the size:
 * 0.3 * ((size - 1) * 0.5 - 1) + 0.8. A sigma_y of 0 equals sigma_x, a height
 * of 0 equals the width; if both sizes are 0 each follows from its sigma.
 *
 * On a channel subsampled by two the kernel w becomes
 *   v[j] = w[2j] + (w[2j-1] + w[2j+1]) / 2,
 * which is what upsampling, blurring with w and downsampling again comes to,
 * for centred and for cosited chroma.
 *
 * The result is the exact weighted sum rounded to nearest, computed in
 * float32; the sum itself is within 0.001 at 8 bits and 0.05 at 16. Source
 * and destination have the same layout and must not overlap.
 */
#ifndef IMG_GAUSSIAN_H
#define IMG_GAUSSIAN_H

#include "operation.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* sigma 100 at 4 sigma to each side */
#define IMG_GAUSSIAN_MAX_RADIUS 400

typedef struct {
  int kernel_width;  /* odd 1..255, or 0 */
  int kernel_height; /* odd 1..255, or 0 */
  double sigma_x;    /* 0..100 */
  double sigma_y;    /* 0..100 */
  ImgBorder border;
} ImgGaussianParams;

/* One side of a symmetric kernel: weight[i] is that of the pixels at distance
 * i, so the whole kernel has 2 * radius + 1 weights, which sum to 1. */
typedef struct {
  int radius;
  float weight[IMG_GAUSSIAN_MAX_RADIUS + 1];
} ImgGaussianKernel;

/* The kernels for a plane of a picture of `depth` bits, subsampled by
 * 1 << x_sub and 1 << y_sub. False, with the reason, if `params` make no
 * sense. */
bool img_gaussian_kernels (const ImgGaussianParams *params, int depth,
    int x_sub, int y_sub, ImgGaussianKernel *horizontal,
    ImgGaussianKernel *vertical, ImgError *error);

extern const ImgOperation img_gaussian_cpu;
extern const ImgOperation img_gaussian_cuda;

#ifdef __cplusplus
}
#endif
#endif
