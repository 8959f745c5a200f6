/* The means of the adaptive methods: flat ones by running sums, Gaussian ones
 * in two passes of fixed-point weights. */
#include <stddef.h>
#include <string.h>

#include "gaussian.h"
#include "threshold-cpu.h"
#include "vector.h"

void
img_gauss_weights (int block_size, uint32_t weight[IMG_GAUSS_MAX_RADIUS + 1])
{
  const ImgGaussianParams params = { block_size, block_size, 0, 0,
    IMG_BORDER_REPLICATE };
  ImgGaussianKernel kernel, unused;
  ImgError error;
  uint32_t outer = 0; /* sum of what is further out, rounded */
  double exact = 0;

  img_gaussian_kernels (&params, 8, 0, 0, &kernel, &unused, &error);
  /* rounding the sums, not the weights, keeps errors beside their opposites */
  for (int i = block_size / 2; i > 0; i--) {
    exact += kernel.weight[i] * 65536.0;
    weight[i] = (uint32_t) rint (exact) - outer;
    outer += weight[i];
  }
  weight[0] = 65536 - 2 * outer;
}

void
img_adaptive_block_init (ImgAdaptiveBlock *block, bool gaussian,
    int block_size, int depth)
{
  block->gaussian = gaussian;
  block->radius = block_size / 2;
  block->depth = depth;
  if (gaussian)
    img_gauss_weights (block_size, block->weight);
}

static const uint16_t *
plane_row (const ImgAdaptivePlane *plane, int y)
{
  return plane->data + (ptrdiff_t) img_clamp (y, 0, plane->height - 1)
      * plane->width;
}

/* sum[x] = weight[0] * center[x] */
static IMG_VECTOR void
start_sum (const uint16_t *restrict center, uint32_t weight, int n,
    uint32_t *restrict sum)
{
  for (int x = 0; x < n; x++)
    sum[x] = weight * center[x];
}

/* Adds four pairs of the kernel, at distances whose rows are given. */
static IMG_VECTOR void
add_pairs4 (const uint16_t *const *before, const uint16_t *const *after,
    const uint32_t *weight, int n, uint32_t *restrict sum)
{
  const uint16_t *a0 = before[0], *a1 = before[1], *a2 = before[2];
  const uint16_t *a3 = before[3], *b0 = after[0], *b1 = after[1];
  const uint16_t *b2 = after[2], *b3 = after[3];
  const uint32_t w0 = weight[0], w1 = weight[1], w2 = weight[2];
  const uint32_t w3 = weight[3];

  for (int x = 0; x < n; x++)
    sum[x] += w0 * ((uint32_t) a0[x] + b0[x]) + w1 * ((uint32_t) a1[x] + b1[x])
        + w2 * ((uint32_t) a2[x] + b2[x]) + w3 * ((uint32_t) a3[x] + b3[x]);
}

static IMG_VECTOR void
add_pair (const uint16_t *before, const uint16_t *after, uint32_t weight,
    int n, uint32_t *restrict sum)
{
  for (int x = 0; x < n; x++)
    sum[x] += weight * ((uint32_t) before[x] + after[x]);
}

/* The weighted sum over rows that are the center, and before[i] and after[i]
 * at distance i. */
static void
weigh (const ImgAdaptiveBlock *block, const uint16_t *const *before,
    const uint16_t *const *after, int n, uint32_t *sum)
{
  int i = 1;

  start_sum (before[0], block->weight[0], n, sum);
  for (; i + 3 <= block->radius; i += 4)
    add_pairs4 (before + i, after + i, block->weight + i, n, sum);
  for (; i <= block->radius; i++)
    add_pair (before[i], after[i], block->weight[i], n, sum);
}

static IMG_VECTOR void
round_first (const uint32_t *restrict sum, int depth, int n,
    uint16_t *restrict result)
{
  for (int x = 0; x < n; x++)
    result[x] = (uint16_t) img_gauss_first (sum[x], depth);
}

static IMG_VECTOR void
round_second (const uint32_t *restrict sum, int depth, int n,
    int32_t *restrict mean)
{
  for (int x = 0; x < n; x++)
    mean[x] = img_gauss_second (sum[x], depth);
}

void
img_adaptive_first (const ImgAdaptiveBlock *block,
    const ImgAdaptivePlane *plane, int y, const ImgAdaptiveRows *rows)
{
  const uint16_t *before[IMG_GAUSS_MAX_RADIUS + 1];
  const uint16_t *after[IMG_GAUSS_MAX_RADIUS + 1];
  uint16_t *result = plane->data + (ptrdiff_t) y * plane->width;
  const int n = plane->width;

  if (!block->gaussian) {
    memcpy (result, rows->value, (size_t) n * sizeof (*result));
    return;
  }
  for (int i = 0; i <= block->radius; i++) {
    rows->value[-i] = rows->value[0];
    rows->value[n - 1 + i] = rows->value[n - 1];
    before[i] = rows->value - i;
    after[i] = rows->value + i;
  }
  weigh (block, before, after, n, rows->sum);
  round_first (rows->sum, block->depth, n, result);
}

static void
gaussian_mean (const ImgAdaptiveBlock *block, const ImgAdaptivePlane *plane,
    int y, const ImgAdaptiveRows *rows)
{
  const uint16_t *before[IMG_GAUSS_MAX_RADIUS + 1];
  const uint16_t *after[IMG_GAUSS_MAX_RADIUS + 1];

  for (int i = 0; i <= block->radius; i++) {
    before[i] = plane_row (plane, y - i);
    after[i] = plane_row (plane, y + i);
  }
  weigh (block, before, after, plane->width, rows->sum);
  round_second (rows->sum, block->depth, plane->width, rows->level);
}

/* sum += add - subtract */
static IMG_VECTOR void
move_columns (const uint16_t *restrict add, const uint16_t *restrict subtract,
    int n, uint32_t *restrict sum)
{
  for (int x = 0; x < n; x++)
    sum[x] += (uint32_t) add[x] - subtract[x];
}

/* The sums of columns over the rows y - radius..y + radius. */
static void
sum_columns (const ImgAdaptiveBlock *block, const ImgAdaptivePlane *plane,
    int y, bool first, uint32_t *sum)
{
  const int n = plane->width, radius = block->radius;

  if (!first) {
    move_columns (plane_row (plane, y + radius),
        plane_row (plane, y - radius - 1), n, sum);
    return;
  }
  start_sum (plane_row (plane, y), 1, n, sum);
  for (int i = 1; i <= radius; i++)
    add_pair (plane_row (plane, y - i), plane_row (plane, y + i), 1, n, sum);
}

static IMG_VECTOR void
divide (int32_t *sum, int area, int n)
{
  const float reciprocal = 1.0f / area;

  for (int x = 0; x < n; x++)
    sum[x] = img_box_mean ((uint32_t) sum[x], area, reciprocal);
}

static void
box_mean (const ImgAdaptiveBlock *block, const ImgAdaptivePlane *plane, int y,
    bool first, const ImgAdaptiveRows *rows)
{
  const int n = plane->width, radius = block->radius;
  const int size = 2 * radius + 1;
  uint32_t *column = rows->sum, sum;

  sum_columns (block, plane, y, first, column);
  sum = column[0];
  for (int i = 1; i <= radius; i++) {
    column[-i] = column[0];
    column[n - 1 + i] = column[n - 1];
  }
  for (int i = 1; i <= radius; i++)
    sum += column[-i] + column[i];
  rows->level[0] = (int32_t) sum;
  for (int x = 1; x < n; x++) {
    sum += column[x + radius] - column[x - radius - 1];
    rows->level[x] = (int32_t) sum;
  }
  divide (rows->level, size * size, n);
}

void
img_adaptive_mean (const ImgAdaptiveBlock *block,
    const ImgAdaptivePlane *plane, int y, bool first,
    const ImgAdaptiveRows *rows)
{
  if (block->gaussian)
    gaussian_mean (block, plane, y, rows);
  else
    box_mean (block, plane, y, first, rows);
}
