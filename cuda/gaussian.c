/*
 * gaussian.h on the CPU, and the kernels for both versions.
 *
 * A row of results is made in tiles that stay in the first cache: sums along
 * the columns, of these sums along the row, and these rounded. Both are made
 * by the same few loops, which see only the rows, or the shifted rows, that
 * they add up.
 */
#include "gaussian.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arith.h"
#include "luma.h"
#include "parallel.h"
#include "rows.h"
#include "vector.h"

#define MAX_TAPS (2 * IMG_GAUSSIAN_MAX_RADIUS + 1)
#define MAX_MARGIN (2 * IMG_GAUSSIAN_MAX_RADIUS * IMG_MAX_CHANNELS)
/* Components of a tile: many in comparison to those of its margins. */
#define MIN_TILE 1024
#define MAX_TILE 8192
/* Multiplications that are worth waking another thread. */
#define PIECE_WORK (1 << 20)

/* Weights of `sigma`, or without one (0) those that OpenCV has for `size`. */
static void
fill_kernel (ImgGaussianKernel *kernel, int size, double sigma)
{
  static const float fixed[5][5] = { { 1 }, { 0.5f, 0.25f },
    { 0.375f, 0.25f, 0.0625f }, { 0.28125f, 0.21875f, 0.109375f, 0.03125f },
    { 0.234375f, 0.19921875f, 0.1171875f, 0.05078125f, 0.015625f } };
  const int radius = kernel->radius = size / 2;
  const bool is_fixed = size <= 9 && sigma == 0;
  double weight[IMG_GAUSSIAN_MAX_RADIUS + 1] = { 1 }, sum = 1;

  if (sigma == 0)
    sigma = 0.3 * ((size - 1) * 0.5 - 1) + 0.8;
  for (int i = 1; i <= radius; i++) {
    weight[i] = exp (-0.5 * i * i / (sigma * sigma));
    sum += 2 * weight[i];
  }
  for (int i = 0; i <= radius; i++)
    kernel->weight[i] = is_fixed ? fixed[radius][i]
        : (float) (weight[i] / sum);
}

/* The kernel of a channel with half the samples, as gaussian.h says. */
static void
halve_kernel (ImgGaussianKernel *kernel)
{
  const int radius = kernel->radius, half = (radius + 1) / 2;
  float w[IMG_GAUSSIAN_MAX_RADIUS + 3] = { 0 };

  for (int i = 0; i <= radius; i++)
    w[i] = kernel->weight[i];
  kernel->radius = half;
  kernel->weight[0] = w[0] + w[1];
  for (int j = 1; j <= half; j++)
    kernel->weight[j] = w[2 * j] + 0.5f * (w[2 * j - 1] + w[2 * j + 1]);
}

static void
make_kernel (ImgGaussianKernel *kernel, int size, double sigma, int depth,
    int sub)
{
  if (size == 0)
    size = (int) rint (sigma * (depth == 8 ? 3 : 4) * 2 + 1) | 1;
  fill_kernel (kernel, size, sigma);
  while (sub-- > 0)
    halve_kernel (kernel);
}

static bool
check_size (const char *name, int size, ImgError *error)
{
  if (size < 0 || size > 255)
    return img_fail (error, IMG_ERROR_SETTINGS, "gaussian: %s %d is not "
        "within 0..255: set one that is", name, size);
  if (size != 0 && size % 2 == 0)
    return img_fail (error, IMG_ERROR_SETTINGS, "gaussian: %s %d is even, so "
        "the kernel has no centre: set %d or %d", name, size, size - 1,
        size + 1);
  return true;
}

static bool
check_sigma (const char *name, double sigma, ImgError *error)
{
  if (sigma >= 0 && sigma <= 100)
    return true;
  return img_fail (error, IMG_ERROR_SETTINGS, "%s of the Gaussian kernel, %g, "
      "is not within 0..100: set one that is", name, sigma);
}

bool
img_gaussian_kernels (const ImgGaussianParams *params, int depth, int x_sub,
    int y_sub, ImgGaussianKernel *horizontal, ImgGaussianKernel *vertical,
    ImgError *error)
{
  const int width = params->kernel_width;
  const int height = params->kernel_height ? params->kernel_height : width;
  const double sigma_x = params->sigma_x;
  const double sigma_y = params->sigma_y > 0 ? params->sigma_y : sigma_x;

  if (!check_size ("kernel-width", width, error)
      || !check_size ("kernel-height", height, error)
      || !check_sigma ("sigma-x", params->sigma_x, error)
      || !check_sigma ("sigma-y", params->sigma_y, error)
      || !img_check_enum ("gaussian: border", params->border,
          IMG_BORDER_CONSTANT + 1, error))
    return false;
  if ((width == 0 && sigma_x == 0) || (height == 0 && sigma_y == 0))
    return img_fail (error, IMG_ERROR_SETTINGS, "Neither size nor sigma of "
        "the Gaussian kernel is set: set kernel-width, or sigma-x to more "
        "than 0");
  make_kernel (horizontal, width, sigma_x, depth, x_sub);
  make_kernel (vertical, height, sigma_y, depth, y_sub);
  return true;
}

/* Rows to add up: tap[radius - i] and tap[radius + i] with weight[i]. */
typedef struct {
  const void *const *tap;
  const float *weight;
  int radius;
  int shift; /* zero bits below the components of a picture */
} Taps;

typedef void (*SumFunc) (const Taps *taps, int n, float *to);

/* SumFuncs of rows of In; the two of the same weight are added as Pair first.
 * The middle row and up to three pairs make the first sum, four pairs at a time
 * go to it. With a constant `count` the loop over the pairs is unrolled, and
 * that over the row vectorised. */
#define DEFINE_SUM(name, In, Pair, LEVEL) \
  static inline __attribute__ ((always_inline)) void \
  name##_pairs (const Taps *taps, bool begins, int first, int count, int n, \
      float *to) \
  { \
    const void *const *tap = taps->tap + taps->radius; \
    const In *centre = tap[0], *before[4], *after[4]; \
    const float middle = taps->weight[0]; \
    const int shift = taps->shift; \
    float weight[4]; \
\
    for (int i = 0; i < count; i++) { \
      before[i] = tap[-first - i]; \
      after[i] = tap[first + i]; \
      weight[i] = taps->weight[first + i]; \
    } \
    (void) shift; /* of no use to AS_IT_IS */ \
    _Pragma ("GCC ivdep") \
    for (int x = 0; x < n; x++) { \
      float sum = begins ? middle * (float) LEVEL (centre[x]) : to[x]; \
\
      _Pragma ("GCC unroll 4") \
      for (int i = 0; i < count; i++) \
        sum += weight[i] * (float) ((Pair) LEVEL (before[i][x]) \
            + (Pair) LEVEL (after[i][x])); \
      to[x] = sum; \
    } \
  } \
\
  static IMG_VECTOR void \
  name (const Taps *taps, int n, float *to) \
  { \
    const int few = taps->radius % 4; \
\
    if (few == 0) \
      name##_pairs (taps, true, 1, 0, n, to); \
    else if (few == 1) \
      name##_pairs (taps, true, 1, 1, n, to); \
    else if (few == 2) \
      name##_pairs (taps, true, 1, 2, n, to); \
    else \
      name##_pairs (taps, true, 1, 3, n, to); \
    for (int i = few + 1; i <= taps->radius; i += 4) \
      name##_pairs (taps, false, i, 4, n, to); \
  }

#define AS_IT_IS(level) (level)
#define SHIFTED(level) ((level) >> shift)

DEFINE_SUM (columns8, uint8_t, int, AS_IT_IS)
DEFINE_SUM (columns16, uint16_t, int, SHIFTED)
DEFINE_SUM (rows, float, float, AS_IT_IS)

static IMG_VECTOR void
round8 (const float *sum, int n, int max, uint8_t *to)
{
#pragma GCC ivdep
  for (int x = 0; x < n; x++)
    to[x] = (uint8_t) img_round_clamp (sum[x], 0, max);
}

static IMG_VECTOR void
round16 (const float *sum, int n, int max, int shift, uint16_t *to)
{
#pragma GCC ivdep
  for (int x = 0; x < n; x++)
    to[x] = (uint16_t) (img_round_clamp (sum[x], 0, max) << shift);
}

typedef struct {
  struct {
    ImgGaussianKernel horizontal, vertical;
    void *border_row; /* of the level of IMG_BORDER_CONSTANT */
  } plane[IMG_MAX_PLANES];
} State;

/* One plane on its way. */
typedef struct {
  const ImgPlane *from, *to;
  const ImgGaussianKernel *horizontal, *vertical;
  ImgBorder border;
  const void *border_row;
  int border_level, max;
  int component_bytes, shift;
  uint64_t kept; /* bits of every eight bytes that are copied */
  SumFunc sum_columns;
} Job;

/* Pixels begin..end-1 of a row; their sums, and those of the margins beside
 * them, which are those of pixels left..right-1. */
typedef struct {
  int begin, end, left, right;
  float columns[MAX_MARGIN + MAX_TILE];
  float rows[MAX_TILE];
} Tile;

/* Sums the columns of pixels x..x+count-1 of `window`, the rows from the
 * highest to the lowest, as if they stood at pixel `at`. */
static void
sum_columns (const Job *job, const void *const *window, int x, int count,
    int at, Tile *tile)
{
  const int channels = job->from->channels, radius = job->vertical->radius;
  const size_t offset = (size_t) x * channels * job->component_bytes;
  const void *tap[MAX_TAPS];
  const Taps taps = { tap, job->vertical->weight, radius, job->shift };

  for (int i = 0; i <= 2 * radius; i++)
    tap[i] = (const char *) window[i] + offset;
  job->sum_columns (&taps, count * channels,
      tile->columns + (size_t) (at - tile->left) * channels);
}

/* The sums of pixels begin..end-1, which lie outside of the row; those of
 * pixels first..last-1 are there. */
static void
sum_border_columns (const Job *job, const void *const *window, int begin,
    int end, int first, int last, Tile *tile)
{
  const int channels = job->from->channels, width = job->from->width;
  int count;

  for (int x = begin; x < end; x += count) {
    float *to = tile->columns + (size_t) (x - tile->left) * channels;
    const int inside = img_border_index (x, width, job->border);

    count = 1;
    if (inside < 0) {
      for (int c = 0; c < channels; c++)
        to[c] = (float) job->border_level;
    } else if (inside >= first && inside < last) {
      for (int c = 0; c < channels; c++)
        to[c] = to[(inside - x) * channels + c];
    } else {
      /* the other end of a row that wraps */
      count = end - x < width - inside ? end - x : width - inside;
      sum_columns (job, window, inside, count, x, tile);
    }
  }
}

static void
sum_rows (const Job *job, Tile *tile)
{
  const int channels = job->from->channels, radius = job->horizontal->radius;
  const void *tap[MAX_TAPS];
  const Taps taps = { tap, job->horizontal->weight, radius, 0 };

  for (int i = 0; i <= 2 * radius; i++)
    tap[i] = tile->columns + (size_t) i * channels;
  rows (&taps, (tile->end - tile->begin) * channels, tile->rows);
}

/* The tile's pixels of the row in the middle of `window`. */
static void
make_tile (const Job *job, const void *const *window, Tile *tile, void *row)
{
  const int first = tile->left > 0 ? tile->left : 0;
  const int last = tile->right < job->from->width ? tile->right
      : job->from->width;
  const int n = (tile->end - tile->begin) * job->from->channels;
  const size_t offset = (size_t) tile->begin * job->from->channels
      * job->component_bytes;
  void *to = (char *) row + offset;

  sum_columns (job, window, first, last - first, first, tile);
  sum_border_columns (job, window, tile->left, first, first, last, tile);
  sum_border_columns (job, window, last, tile->right, first, last, tile);
  sum_rows (job, tile);
  if (job->component_bytes == 1)
    round8 (tile->rows, n, job->max, to);
  else
    round16 (tile->rows, n, job->max, job->shift, to);
  if (job->kept)
    img_row_keep ((const char *) window[job->vertical->radius] + offset,
        (size_t) n * job->component_bytes, job->kept, to);
}

static const void *
source_row (const Job *job, int y)
{
  const int inside = img_border_index (y, job->from->height, job->border);

  return inside < 0 ? job->border_row : img_row (job->from, inside);
}

/* The tile of every row begin..end-1. */
static void
make_tiles (const Job *job, int begin, int end, Tile *tile)
{
  const int radius = job->vertical->radius;
  const void *window[MAX_TAPS];

  tile->left = tile->begin - job->horizontal->radius;
  tile->right = tile->end + job->horizontal->radius;
  for (int i = 0; i < 2 * radius; i++)
    window[i + 1] = source_row (job, begin - radius + i);
  for (int y = begin; y < end; y++) {
    memmove (window, window + 1, 2 * radius * sizeof (window[0]));
    window[2 * radius] = source_row (job, y + radius);
    make_tile (job, window, tile, img_row (job->to, y));
  }
}

static void
make_rows (int begin, int end, void *data)
{
  const Job *job = data;
  const int channels = job->from->channels, width = job->from->width;
  const int step = img_clamp (16 * job->horizontal->radius * channels,
      MIN_TILE, MAX_TILE) / channels;
  Tile tile;

  for (int x = 0; x < width; x += step) {
    tile.begin = x;
    tile.end = x + step < width ? x + step : width;
    make_tiles (job, begin, end, &tile);
  }
}

static int
border_level (const ImgView *view, const ImgPlane *plane)
{
  const ImgLevels levels = img_view_levels (view);

  return img_channel_is_chroma (plane->channel[0]) ? levels.neutral
      : levels.black;
}

static void
run_plane (const State *state, const ImgView *src, const ImgView *dst,
    ImgBorder border, int i)
{
  const ImgPlane *plane = &src->plane[i];
  Job job = { plane, &dst->plane[i], &state->plane[i].horizontal,
    &state->plane[i].vertical, border, state->plane[i].border_row };
  const int64_t work = (int64_t) plane->width * plane->channels
      * (job.horizontal->radius + job.vertical->radius + 2);

  job.border_level = border_level (src, plane);
  job.max = img_view_levels (src).max;
  job.component_bytes = src->component_bytes;
  job.shift = src->shift;
  job.kept = img_row_kept_bits (src, plane);
  job.sum_columns = src->component_bytes == 1 ? columns8 : columns16;
  if (~job.kept)
    img_parallel_rows (plane->height, (int) (1 + PIECE_WORK / work), make_rows,
        &job);
  else
    img_plane_copy (src, dst, i);
}

static bool
run (void *state, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  const ImgGaussianParams *p = params;

  for (int i = 0; i < src->n_planes; i++)
    run_plane (state, src, dst, p->border, i);
  return true;
}

static void
release (void *data)
{
  State *state = data;

  for (int i = 0; state && i < IMG_MAX_PLANES; i++)
    free (state->plane[i].border_row);
  free (state);
}

static bool
prepare_plane (State *state, const ImgView *src, int i,
    const ImgGaussianParams *params, ImgError *error)
{
  const ImgPlane *plane = &src->plane[i];

  state->plane[i].border_row = img_row_new (plane->width * plane->channels,
      src->component_bytes, border_level (src, plane) << src->shift);
  if (!state->plane[i].border_row)
    return img_fail (error, IMG_ERROR_NO_MEMORY, "gaussian: out of memory");
  return img_gaussian_kernels (params, src->depth, plane->x_sub, plane->y_sub,
      &state->plane[i].horizontal, &state->plane[i].vertical, error);
}

static bool
prepare (void **data, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  if (!img_view_same_layout (src, dst))
    return img_fail (error, IMG_ERROR_UNSUPPORTED,
        "gaussian: source and destination differ in format or size");
  release (*data);
  *data = calloc (1, sizeof (State));
  if (!*data)
    return img_fail (error, IMG_ERROR_NO_MEMORY, "gaussian: out of memory");
  for (int i = 0; i < src->n_planes; i++)
    if (!prepare_plane (*data, src, i, params, error))
      return false;
  return true;
}

const ImgOperation img_gaussian_cpu = { "gaussian", sizeof (ImgGaussianParams),
  false, prepare, run, release };
