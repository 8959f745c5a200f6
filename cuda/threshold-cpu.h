/* What the files of the CPU version of threshold share. */
#ifndef IMG_THRESHOLD_CPU_H
#define IMG_THRESHOLD_CPU_H

#include "threshold-arith.h"

/* The level of a histogram with 2^depth bins that holds a picture. */
int img_otsu_level (const uint32_t *histogram, int bins);
int img_triangle_level_of (const uint32_t *histogram, int bins);

/* Rows of one thread, each with `margin` valid elements before and after. */
typedef struct {
  uint16_t *value;
  uint32_t *sum;
  int32_t *level;
} ImgAdaptiveRows;

/* The block around a pixel. */
typedef struct {
  bool gaussian;
  int radius;
  int depth;
  uint32_t weight[IMG_GAUSS_MAX_RADIUS + 1]; /* of Gaussian */
} ImgAdaptiveBlock;

/* A picture of luma, or of its rows already filtered. */
typedef struct {
  uint16_t *data;
  int width, height;
} ImgAdaptivePlane;

void img_adaptive_block_init (ImgAdaptiveBlock *block, bool gaussian,
    int block_size, int depth);

/* Makes row `y` of the plane from its luma, which is in rows->value; what is
 * in the margins of rows->value is overwritten. */
void img_adaptive_first (const ImgAdaptiveBlock *block,
    const ImgAdaptivePlane *plane, int y, const ImgAdaptiveRows *rows);

/* Writes the means of row `y` to rows->level, when all rows of the plane are
 * made. Rows of one thread come in order: `first` tells the first of them, and
 * rows->sum keeps what the next one needs. */
void img_adaptive_mean (const ImgAdaptiveBlock *block,
    const ImgAdaptivePlane *plane, int y, bool first,
    const ImgAdaptiveRows *rows);

#endif
