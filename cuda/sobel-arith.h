/*
 * What the CPU and the GPU version of sobel share: the kernels, and how two
 * derivatives become a value of the picture.
 *
 * A derivative is an exact integer; it fits 32 bits at every depth and kernel
 * (16 bits for 8-bit pictures, but for kernel size 7). Then it is converted to
 * float32, and from there on each operation is rounded to nearest and none
 * contracted, so that both versions give the same bits. 8-bit magnitudes with scale 1 and delta 0
 * are then also sqrt (gx² + gy²) rounded correctly: below 2^24 the sum is
 * exact; its root is at least 1 / 2048 away from any half that is below 256,
 * and the error of a float32 root there is 1 / 65536; and roots of larger
 * sums saturate. (A root with an error of several such units, as GPUs have
 * it, gives the same value in that case.)
 */
#ifndef IMG_SOBEL_ARITH_H
#define IMG_SOBEL_ARITH_H

#include "arith.h"
#include "sobel.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IMG_SOBEL_MAX_RADIUS 3

/* One side of the two separable factors, [i] at distance i from the centre:
 * gx derives along rows and smooths along columns, gy the other way round.
 * `derive` is negative on the other side. */
typedef struct {
  int radius;
  int smooth[IMG_SOBEL_MAX_RADIUS + 1];
  int derive[IMG_SOBEL_MAX_RADIUS + 1];
} ImgSobelKernel;

IMG_INLINE ImgSobelKernel
img_sobel_kernel (ImgSobelOperator op, int kernel_size)
{
  const ImgSobelKernel scharr = { 1, { 10, 3, 0, 0 }, { 0, 1, 0, 0 } };
  const ImgSobelKernel sobel3 = { 1, { 2, 1, 0, 0 }, { 0, 1, 0, 0 } };
  const ImgSobelKernel sobel5 = { 2, { 6, 4, 1, 0 }, { 0, 2, 1, 0 } };
  const ImgSobelKernel sobel7 = { 3, { 20, 15, 6, 1 }, { 0, 5, 4, 1 } };

  if (op == IMG_SOBEL_SCHARR)
    return scharr;
  return kernel_size == 3 ? sobel3 : kernel_size == 5 ? sobel5 : sobel7;
}

/* How derivatives become a value. CLIP and OFFSET differ in delta only. */
typedef enum {
  IMG_SOBEL_RULE_L2,
  IMG_SOBEL_RULE_L1,
  IMG_SOBEL_RULE_ABS,   /* of gx, which holds the one derivative */
  IMG_SOBEL_RULE_SIGNED /* of gx */
} ImgSobelRuleKind;

/* Parameters in the units of a view's depth. */
typedef struct {
  ImgSobelRuleKind kind;
  float scale, delta;
  int black, range; /* results are black..black + range */
} ImgSobelRule;

/* Checks what prepare must check, on either backend. */
bool img_sobel_check (const ImgView *src, const ImgView *dst,
    const ImgSobelParams *params, ImgError *error);

ImgSobelRule img_sobel_rule (const ImgView *view,
    const ImgSobelParams *params);

/* Whether the derivative is that of the luma, and chroma becomes neutral. */
IMG_INLINE bool
img_sobel_uses_luma (const ImgView *view, const ImgSobelParams *params)
{
  return view->model != IMG_MODEL_RGB || params->channels == IMG_CHANNELS_LUMA;
}

/* a * b + c, rounded twice under nvcc too. */
IMG_INLINE float
img_sobel_multiply_add (float a, float b, float c)
{
#ifdef __CUDA_ARCH__
  return __fadd_rn (__fmul_rn (a, b), c);
#else
  return a * b + c;
#endif
}

IMG_INLINE float
img_sobel_norm (ImgSobelRuleKind kind, float gx, float gy)
{
  if (kind == IMG_SOBEL_RULE_L1)
    return fabsf (gx) + fabsf (gy);
  if (kind != IMG_SOBEL_RULE_L2)
    return gx;
#ifdef __CUDA_ARCH__
  return __fsqrt_rn (__fadd_rn (__fmul_rn (gx, gx), __fmul_rn (gy, gy)));
#else
  return sqrtf (gx * gx + gy * gy);
#endif
}

/* The value above black, not yet rounded (img_round_clamp to 0..range). */
IMG_INLINE float
img_sobel_value (const ImgSobelRule *rule, float gx, float gy)
{
  const float value = img_sobel_multiply_add (
      img_sobel_norm (rule->kind, gx, gy), rule->scale, rule->delta);

  return rule->kind == IMG_SOBEL_RULE_ABS ? fabsf (value) : value;
}

/* The result for one pixel, in units of the depth. */
IMG_INLINE int
img_sobel_finish (const ImgSobelRule *rule, float gx, float gy)
{
  return rule->black
      + img_round_clamp (img_sobel_value (rule, gx, gy), 0, rule->range);
}

#ifdef __cplusplus
}
#endif
#endif
