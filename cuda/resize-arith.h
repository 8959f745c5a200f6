/* What both versions of resize compute with: which pixels make a pixel, and
 * with which weights (resize-plan.c), and how a sum becomes a component. */
#ifndef IMG_RESIZE_ARITH_H
#define IMG_RESIZE_ARITH_H

#include "arith.h"
#include "resize.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One direction of a plane. Output begin + i is the sum of
 *   weight[i * taps + k] * input[first[i] + k], k < taps.
 * All these inputs are inside of the plane, and `first` never goes back.
 * Outputs before `begin` and from `end` on are black. */
typedef struct {
  int begin, end;
  int taps;
  int *first;
  float *weight;
} ImgResizeAxis;

/* A plane: its components are (sum over both directions + bias) * scale. */
typedef struct {
  ImgResizeAxis x, y;
  bool halves; /* the mean of 2x2, which may be had more cheaply */
  float bias, scale;
  int black[IMG_MAX_CHANNELS]; /* as stored, zero bits below included */
} ImgResizePlane;

typedef struct {
  ImgResizePlane plane[IMG_MAX_PLANES];
} ImgResizePlan;

/* Checks that `src` can be resized to `dst`, and fills `plan`, which starts
 * zeroed, for all planes. To be cleared, after a failure too. */
bool img_resize_plan (ImgResizePlan *plan, const ImgView *src,
    const ImgView *dst, const ImgResizeParams *params, ImgError *error);
void img_resize_plan_clear (ImgResizePlan *plan);

/* A component, in units of the depth. */
IMG_INLINE int
img_resize_round (float sum, float bias, float scale, int max)
{
  return img_round_clamp ((sum + bias) * scale, 0, max);
}

#ifdef __cplusplus
}
#endif
#endif
