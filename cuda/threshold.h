/* threshold: as OpenCV's threshold and adaptiveThreshold.
 *
 * Levels are on the 8-bit scale and mapped to the view by img_view_scale: a
 * pixel is above when its value > the mapped threshold. What a type writes for
 * above | not above:
 *   BINARY      max_value | black       TOZERO      value | black
 *   BINARY_INV  black | max_value       TOZERO_INV  black | value
 *   TRUNC       floor (threshold) | value
 * Written levels are rounded to nearest, as OpenCV does (TRUNC: floor, but not
 * below black).
 *
 * Methods:
 *   FIXED     `threshold` for every pixel
 *   OTSU      Otsu 1979, the first level that maximises the variance between
 *             the two classes, over a histogram of 2^depth bins; on 8 bits
 *             levels that tie are decided as OpenCV does
 *   TRIANGLE  Zack 1977, as OpenCV's THRESH_TRIANGLE, over 2^depth bins; a
 *             flat picture of level 1 has the threshold -1
 *   ADAPTIVE  the mean of the block around the pixel, rounded to an integer,
 *             less `offset`; border REPLICATE: OpenCV's adaptiveThreshold.
 *             Gaussian means have the weights of gaussian.h without a sigma,
 *             in fixed point. As in OpenCV, `offset` is first rounded in units
 *             of the depth: down for BINARY_INV, else up
 * threshold-arith.h has the arithmetic of OTSU, TRIANGLE and ADAPTIVE.
 * Methods other than FIXED, and all YUV formats, use the luma. With LUMA one
 * level per pixel is computed from its luma and written to every colour
 * channel; YUV chroma becomes neutral. Alpha and padding are copied.
 * Source and destination have the same layout; in place only for FIXED, OTSU
 * and TRIANGLE.
 */
#ifndef IMG_THRESHOLD_H
#define IMG_THRESHOLD_H

#include "operation.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  IMG_THRESHOLD_BINARY,
  IMG_THRESHOLD_BINARY_INV,
  IMG_THRESHOLD_TRUNC,
  IMG_THRESHOLD_TOZERO,
  IMG_THRESHOLD_TOZERO_INV
} ImgThresholdType;

typedef enum {
  IMG_THRESHOLD_FIXED,
  IMG_THRESHOLD_OTSU,
  IMG_THRESHOLD_TRIANGLE,
  IMG_THRESHOLD_ADAPTIVE_MEAN,
  IMG_THRESHOLD_ADAPTIVE_GAUSSIAN
} ImgThresholdMethod;

typedef struct {
  double threshold; /* 0..255 */
  double max_value; /* 0..255 */
  ImgThresholdType type;
  ImgThresholdMethod method;
  int block_size; /* odd, 3..255 */
  double offset;  /* -255..255 */
  ImgChannels channels;
} ImgThresholdParams;

/* The threshold that the last finished run with this state used, on the 8-bit
 * scale; OTSU and TRIANGLE only, else and before the first run -1. On CUDA it
 * follows when the queued work has ended. Never waits. NULL is allowed. */
double img_threshold_computed_cpu (const void *state);
double img_threshold_computed_cuda (const void *state);

extern const ImgOperation img_threshold_cpu;
extern const ImgOperation img_threshold_cuda;

#ifdef __cplusplus
}
#endif
#endif
