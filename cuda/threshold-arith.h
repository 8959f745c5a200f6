/*
 * What the CPU and the GPU version of threshold share: how parameters become
 * levels of a view, what is written for a pixel, and how Otsu, triangle and
 * the adaptive methods decide.
 */
#ifndef IMG_THRESHOLD_ARITH_H
#define IMG_THRESHOLD_ARITH_H

#include <stdint.h>

#include "arith.h"
#include "threshold.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Parameters in the units of a view's depth (before its shift). A value v
 * becomes v & keep | set of the side of the level on which it is. */
typedef struct {
  int level;     /* FIXED: above is value > level */
  int offset;    /* ADAPTIVE: above is value > mean - offset */
  bool truncate; /* above gives the level itself, but not less than black */
  int black;
  unsigned keep_above, set_above;
  unsigned keep_below, set_below;
} ImgThresholdRule;

/* Checks what prepare must check, on either backend. */
bool img_threshold_check (const ImgView *src, const ImgView *dst,
    const ImgThresholdParams *params, ImgError *error);

ImgThresholdRule img_threshold_rule (const ImgView *view,
    const ImgThresholdParams *params);

/* Whether one decision per pixel, from its luma, is written to all channels;
 * else every colour channel is decided by itself. */
bool img_threshold_uses_luma (const ImgView *view,
    const ImgThresholdParams *params);

/* `level` of the view's depth on the 8-bit scale. */
double img_threshold_unscale (const ImgView *view, int level);

/* The result for one value; `level` is rule->level, or that of the picture or
 * the pixel, and may be outside of the range of values (-1: all are above). */
IMG_INLINE int
img_threshold_apply (const ImgThresholdRule *rule, int value, int level)
{
  const int floor = level > rule->black ? level : rule->black;
  const unsigned v = (unsigned) value;
  const unsigned above = (v & rule->keep_above)
      | (rule->truncate ? (unsigned) floor : rule->set_above);
  const unsigned below = (v & rule->keep_below) | rule->set_below;

  return (int) (value > level ? above : below);
}

/*
 * Otsu. With n1 pixels of sum s1 at levels 0..T, of n pixels of sum s, the
 * variance between the classes is n1 n2 (mean1 - mean2)². It is computed from
 * exact integers with the same few roundings on every machine (there is no
 * product before a sum, so nothing to contract into an FMA), and levels that
 * only an empty bin parts have the same bits.
 *
 * The result is the first level of the largest variance, or 0 if none is above
 * 0. OpenCV computes by a recurrence whose roundings decide between tied
 * levels: on 8-bit formats, if any other level is img_otsu_near the largest
 * variance, the result is img_otsu_recurrence.
 */

/* 0 for a class of less than 2^-23 of the pixels, as in OpenCV. */
IMG_INLINE double
img_otsu_variance (unsigned n1, uint64_t s1, unsigned n, uint64_t s)
{
  const unsigned n2 = n - n1, smaller = n1 < n2 ? n1 : n2;

  if (smaller == 0 || ((uint64_t) smaller << 23) < n)
    return 0;
  const double difference = (double) s1 / (double) n1
      - (double) (s - s1) / (double) n2;

  return (double) n1 * (double) n2 * (difference * difference);
}

IMG_INLINE bool
img_otsu_near (double variance, double largest)
{
  return variance > 0 && variance >= largest * (1 - 1e-6);
}

/* Products and sums that stay apart under nvcc too. */
IMG_INLINE double
img_multiply_add (double a, double b, double c)
{
#ifdef __CUDA_ARCH__
  return __dadd_rn (__dmul_rn (a, b), c);
#else
  return a * b + c;
#endif
}

/* Otsu's level over 256 bins, with OpenCV's arithmetic (getThreshVal_Otsu).
 * `n` is the number of pixels and `s` the sum of their levels. */
IMG_INLINE int
img_otsu_recurrence (const unsigned *histogram, unsigned n, uint64_t s)
{
  const double epsilon = 1.0 / (1 << 23), scale = 1.0 / n, mu = s * scale;
  double mu1 = 0, q1 = 0, largest = 0;
  int level = 0;

  for (int i = 0; i < 256; i++) {
    const double p = histogram[i] * scale, before = mu1 * q1;

    q1 = img_multiply_add (histogram[i], scale, q1);
    mu1 = before;
    const double q2 = 1 - q1;
    if (fmin (q1, q2) < epsilon || fmax (q1, q2) > 1 - epsilon)
      continue;
    mu1 = img_multiply_add (i, p, before) / q1;
    const double mu2 = img_multiply_add (-q1, mu1, mu) / q2;
    const double sigma = q1 * q2 * (mu1 - mu2) * (mu1 - mu2);
    if (sigma > largest) {
      largest = sigma;
      level = i;
    }
  }
  return level;
}

/*
 * Triangle. The line goes from the peak of the histogram to the end of its
 * longer tail; the level is one before that with the largest distance to the
 * line. Positions count towards the peak: of a tail on the right they are
 * mirrored (bins - 1 - level).
 */
typedef struct {
  int bins;
  bool mirrored;
  int begin, peak; /* positions; candidates are begin + 1..peak */
  unsigned height; /* of the peak */
} ImgTriangle;

/* first, last: the lowest and highest level that occurs; peak: the lowest of
 * those with the largest count, `height`. */
IMG_INLINE ImgTriangle
img_triangle (int bins, int first, int last, int peak, unsigned height)
{
  const int left = first > 0 ? first - 1 : 0;
  const int right = last < bins - 1 ? last + 1 : bins - 1;
  ImgTriangle triangle = { bins, peak - left < right - peak, left, peak,
    height };

  if (triangle.mirrored) {
    triangle.begin = bins - 1 - right;
    triangle.peak = bins - 1 - peak;
  }
  return triangle;
}

IMG_INLINE int
img_triangle_mirror (const ImgTriangle *triangle, int position)
{
  return triangle->mirrored ? triangle->bins - 1 - position : position;
}

/* Of a position whose level has `count` pixels, in units of no meaning. */
IMG_INLINE int64_t
img_triangle_distance (const ImgTriangle *triangle, int position,
    unsigned count)
{
  return (int64_t) triangle->height * position
      + (int64_t) (triangle->begin - triangle->peak) * count;
}

/* The level, from the first position with the largest distance above 0 (or
 * `begin` if there is none). -1 for a flat picture of level 1, as OpenCV. */
IMG_INLINE int
img_triangle_level (const ImgTriangle *triangle, int position)
{
  return img_triangle_mirror (triangle, position - 1);
}

/*
 * Adaptive means. The flat one is the exact sum of the block, divided. The
 * Gaussian one is separable and in fixed point: rows first, with
 * img_gauss_first, whose results have 16 bits, then columns of these with
 * img_gauss_second. Both take sums of weight * value; every value here fits 32
 * bits unsigned at every depth and block.
 */

/* Nearest integer to sum / area; `area` is odd, so that there are no ties.
 * `reciprocal` is 1.0f / area; its error is corrected. */
IMG_INLINE int
img_box_mean (unsigned sum, int area, float reciprocal)
{
  const unsigned n = sum + (unsigned) area / 2;
  const int quotient = (int) ((float) n * reciprocal);
  const int rest = (int) (n - (unsigned) quotient * (unsigned) area);

  return quotient + (rest >= area) - (rest < 0);
}

/* One side of the symmetric kernel of `block_size` weights, which sum to
 * 65536: weight[i] is that at distance i, for i up to block_size / 2. */
#define IMG_GAUSS_MAX_RADIUS 127
void img_gauss_weights (int block_size,
    uint32_t weight[IMG_GAUSS_MAX_RADIUS + 1]);

/* A row's sum to 16 bits: the value with 16 - depth fractional bits. */
IMG_INLINE unsigned
img_gauss_first (unsigned sum, int depth)
{
  return (sum + (1u << (depth - 1))) >> depth;
}

/* A column's sum to the mean in units of the depth; ties to even, as OpenCV
 * rounds it. */
IMG_INLINE int
img_gauss_second (unsigned sum, int depth)
{
  const int shift = 32 - depth;

  return (int) ((sum + (1u << (shift - 1)) - 1 + (sum >> shift & 1)) >> shift);
}

#ifdef __cplusplus
}
#endif
#endif
