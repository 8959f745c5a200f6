/* resize: a picture in another size, as OpenCV's resize with the method of the
 * same name; on 8-bit pictures within 1 of it.
 *
 * Source and destination differ in size only. The source goes to the rectangle
 * `x`, `y`, `width`, `height` of the destination, in which it must lie (a width
 * or height of 0: up to the edge); what is outside of it becomes black, with
 * alpha and padding at their largest value.
 *
 * Every channel is resampled, alpha and padding like the others. With scale =
 * source size / size of the rectangle, in each direction, pixel i of the
 * rectangle is made from the source at i * scale, and with
 *   centre = (i + 0.5) * scale - 0.5, sample = floor (centre)
 *   NEAREST  the pixel at floor (i * scale)
 *   LINEAR   the two at `sample`, weighted by nearness
 *   CUBIC    four from sample - 1 on, by the cubic with a = -0.75
 *   LANCZOS  eight from sample - 3 on, by sinc (t) sinc (t / 4), which then are
 *            divided by their sum
 *   AREA     the mean over i * scale .. (i + 1) * scale, if no direction is
 *            enlarged; else two as LINEAR, the second with the share of that
 *            interval that it covers, and none where the interval ends before
 *            it begins
 * Beyond the edges stand the pixels of the edge. Results are rounded to
 * nearest and saturated. If both scales are integers, AREA is the mean rounded
 * to nearest, exactly, ties to even; LINEAR with both scales 2 is AREA, and
 * there ties go up.
 *
 * Subsampled chroma is resampled with the scale of the picture and shifted, so
 * that it stays where the luma is: the samples lie where h_cosited and
 * v_cosited of either view say. NEAREST does not shift.
 *
 * Weights are float32, not OpenCV's 1/2048; the rest is rounded once. (The
 * GPU's sums of 8-bit components are exact to about 1/200: what lies so close
 * to a half may be 1 off.)
 */
#ifndef IMG_RESIZE_H
#define IMG_RESIZE_H

#include "operation.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  IMG_RESIZE_NEAREST,
  IMG_RESIZE_LINEAR,
  IMG_RESIZE_CUBIC,
  IMG_RESIZE_AREA,
  IMG_RESIZE_LANCZOS
} ImgResizeMethod;

typedef struct {
  ImgResizeMethod method;
  int x, y, width, height; /* of the destination, in pixels */
} ImgResizeParams;

extern const ImgOperation img_resize_cpu;
extern const ImgOperation img_resize_cuda;

#ifdef __cplusplus
}
#endif
#endif
