/*
 * resize.h on the CPU.
 *
 * Rows of results are made four at a time, in tiles that stay in the cache: the
 * rows that each takes are added up, as floats; these sums are interleaved, so
 * that the columns of all four are added up in one go; and the results are
 * parted again. Nearest only picks pixels, and halving needs no weights.
 */
#include <stdlib.h>
#include <string.h>

#include "parallel.h"
#include "resize-arith.h"
#include "rows.h"
#include "vector.h"

#define TILE_ROWS 4
/* Components of a tile's row, of the sums over rows and of the results. */
#define TILE 1024
/* Multiplications that are worth waking another thread. */
#define PIECE_WORK (1 << 18)

/* One plane on its way. */
typedef struct {
  const ImgPlane *from, *to;
  const ImgResizePlane *plan;
  int component_bytes, shift, max;
} Job;

/* Outputs begin..end-1 of a row, counted from the first that is not black. */
typedef struct {
  int begin, end;
  float rows[TILE_ROWS][TILE]; /* sums over rows */
  float sums[TILE_ROWS * TILE]; /* the same interleaved */
  float results[TILE_ROWS * TILE];
  uint16_t levels[TILE_ROWS * TILE]; /* the results as components */
  uint16_t spare[TILE]; /* for the results of rows that are none */
} Tile;

/* The same component of four rows. */
typedef float Four
    __attribute__ ((vector_size (16), aligned (4), may_alias));

/* sums over rows */

/* Adds two rows of In to `to`, or with `begins` sets it. */
#define DEFINE_ADD(name, In, LEVEL) \
  static inline __attribute__ ((always_inline)) void \
  name##_loop (const In *a, const In *b, float weight_a, float weight_b, \
      int n, int shift, bool begins, float *to) \
  { \
    (void) shift; /* of no use to AS_IT_IS */ \
    _Pragma ("GCC ivdep") \
    for (int x = 0; x < n; x++) \
      to[x] = (begins ? 0 : to[x]) + weight_a * (float) LEVEL (a[x]) \
          + weight_b * (float) LEVEL (b[x]); \
  } \
\
  static IMG_VECTOR void \
  name (const void *a, const void *b, float weight_a, float weight_b, int n, \
      int shift, bool begins, float *to) \
  { \
    if (begins) \
      name##_loop (a, b, weight_a, weight_b, n, shift, true, to); \
    else \
      name##_loop (a, b, weight_a, weight_b, n, shift, false, to); \
  }

#define AS_IT_IS(level) (level)
#define SHIFTED(level) ((level) >> shift)

DEFINE_ADD (add8, uint8_t, AS_IT_IS)
DEFINE_ADD (add16, uint16_t, SHIFTED)

/* Sums the rows of output row `y` over pixels x..x+count-1. */
static void
sum_rows (const Job *job, int y, int x, int count, float *sums)
{
  const ImgResizeAxis *axis = &job->plan->y;
  const int taps = axis->taps, channels = job->from->channels;
  const float *weight = axis->weight + (size_t) y * taps;
  const size_t offset = (size_t) x * channels * job->component_bytes;

  for (int k = 0; k < taps; k += 2) {
    const char *a = img_row (job->from, axis->first[y] + k);
    const bool pair = k + 1 < taps;
    const char *b = pair ? a + job->from->stride : a;

    (job->component_bytes == 1 ? add8 : add16) (a + offset, b + offset,
        weight[k], pair ? weight[k + 1] : 0, count * channels, job->shift,
        k == 0, sums);
  }
}

static IMG_VECTOR void
interleave (const float rows[TILE_ROWS][TILE], int n, float *restrict to)
{
  for (int x = 0; x < n; x++)
    for (int i = 0; i < TILE_ROWS; i++)
      to[x * TILE_ROWS + i] = rows[i][x];
}

/* sums over columns */

/* With constant `taps` and `channels` the loops over them are unrolled. Input
 * `origin` of the rows stands at sums[0]. */
static inline __attribute__ ((always_inline)) void
columns_loop (const ImgResizeAxis *axis, int begin, int end, int origin,
    const float *restrict sums, int taps, int channels, float *restrict to)
{
  for (int x = begin; x < end; x++) {
    const Four *from = (const Four *) sums
        + (axis->first[x] - origin) * channels;
    const float *weight = axis->weight + (size_t) x * taps;
    Four sum[IMG_MAX_CHANNELS] = { 0 };

    for (int k = 0; k < taps; k++)
      for (int c = 0; c < channels; c++)
        sum[c] += weight[k] * from[k * channels + c];
    for (int c = 0; c < channels; c++)
      ((Four *) to)[(x - begin) * channels + c] = sum[c];
  }
}

typedef void (*ColumnsFunc) (const ImgResizeAxis *axis, int begin, int end,
    int origin, const float *sums, float *to);

#define DEFINE_COLUMNS(channels) \
  static IMG_VECTOR void \
  columns##channels (const ImgResizeAxis *axis, int begin, int end, \
      int origin, const float *sums, float *to) \
  { \
    if (axis->taps == 2) \
      columns_loop (axis, begin, end, origin, sums, 2, channels, to); \
    else if (axis->taps == 4) \
      columns_loop (axis, begin, end, origin, sums, 4, channels, to); \
    else if (axis->taps == 8) \
      columns_loop (axis, begin, end, origin, sums, 8, channels, to); \
    else \
      columns_loop (axis, begin, end, origin, sums, axis->taps, channels, \
          to); \
  }

DEFINE_COLUMNS (1)
DEFINE_COLUMNS (2)
DEFINE_COLUMNS (3)
DEFINE_COLUMNS (4)

static const ColumnsFunc columns[] = { columns1, columns2, columns3, columns4 };

/* img_resize_round without branches. Adding 2^23 leaves no bits for a fraction.
 */
static inline int
round_level (float sum, float bias, float scale, float max)
{
  float value = (sum + bias) * scale;

  value = value > 0 ? value : 0;
  value = value < max ? value : max;
  return (int) (value + 0x1p23f - 0x1p23f);
}

static IMG_VECTOR void
finish8 (const float *restrict sum, int n, float bias, float scale, int max,
    uint8_t *restrict to)
{
  for (int x = 0; x < n; x++)
    to[x] = (uint8_t) round_level (sum[x], bias, scale, (float) max);
}

static IMG_VECTOR void
finish16 (const float *restrict sum, int n, float bias, float scale, int max,
    int shift, uint16_t *restrict to)
{
  for (int x = 0; x < n; x++)
    to[x] = (uint16_t) (round_level (sum[x], bias, scale, (float) max)
        << shift);
}

#define DEFINE_PART(name, Component) \
  static IMG_VECTOR void \
  name (const Component *restrict from, int n, Component *restrict a, \
      Component *restrict b, Component *restrict c, Component *restrict d) \
  { \
    for (int x = 0; x < n; x++) { \
      a[x] = from[4 * x]; \
      b[x] = from[4 * x + 1]; \
      c[x] = from[4 * x + 2]; \
      d[x] = from[4 * x + 3]; \
    } \
  }

DEFINE_PART (part8, uint8_t)
DEFINE_PART (part16, uint16_t)

/* tiles */

/* The last output of a tile that starts at `begin`, at least one. */
static int
tile_end (const Job *job, int begin)
{
  const ImgResizeAxis *axis = &job->plan->x;
  const int most = TILE / job->from->channels, n = axis->end - axis->begin;
  int end = begin + 1;

  while (end < n && end - begin < most
      && axis->first[end] + axis->taps - axis->first[begin] <= most)
    end++;
  return end;
}

/* A single output that takes more inputs than a tile has, of row `i`. */
static void
sum_long_output (const Job *job, int y, int i, Tile *tile)
{
  const ImgResizeAxis *axis = &job->plan->x;
  const int channels = job->from->channels, most = TILE / channels;
  const int first = axis->first[tile->begin];
  const float *weight = axis->weight + (size_t) tile->begin * axis->taps;

  for (int c = 0; c < channels; c++)
    tile->results[c * TILE_ROWS + i] = 0;
  for (int k = 0; k < axis->taps; k += most) {
    const int count = k + most < axis->taps ? most : axis->taps - k;

    sum_rows (job, y, first + k, count, tile->sums);
    for (int j = 0; j < count; j++)
      for (int c = 0; c < channels; c++)
        tile->results[c * TILE_ROWS + i]
            += weight[k + j] * tile->sums[j * channels + c];
  }
}

/* Makes the tile's part of `n` output rows from `y` on. */
static void
make_tile (const Job *job, int y, int n, Tile *tile)
{
  const ImgResizeAxis *axis = &job->plan->x;
  const int channels = job->from->channels;
  const int first = axis->first[tile->begin];
  const int count = axis->first[tile->end - 1] + axis->taps - first;

  if (count * channels > TILE) {
    for (int i = 0; i < n; i++)
      sum_long_output (job, y + i, i, tile);
    return;
  }
  for (int i = 0; i < n; i++)
    sum_rows (job, y + i, first, count, tile->rows[i]);
  interleave (tile->rows, count * channels, tile->sums);
  columns[channels - 1] (axis, tile->begin, tile->end, first, tile->sums,
      tile->results);
}

/* Writes the tile's part of `n` rows from row `y` of the plane on. */
static void
finish_tile (const Job *job, int y, int n, Tile *tile)
{
  const ImgResizePlane *plan = job->plan;
  const int channels = job->from->channels;
  const int count = (tile->end - tile->begin) * channels;
  const size_t at = (size_t) (plan->x.begin + tile->begin) * channels
      * job->component_bytes;
  void *to[TILE_ROWS];

  for (int i = 0; i < TILE_ROWS; i++)
    to[i] = i < n ? (char *) img_row (job->to, y + i) + at
        : (char *) tile->spare;
  if (job->component_bytes == 1) {
    finish8 (tile->results, count * TILE_ROWS, plan->bias, plan->scale,
        job->max, (uint8_t *) tile->levels);
    part8 ((uint8_t *) tile->levels, count, to[0], to[1], to[2], to[3]);
  } else {
    finish16 (tile->results, count * TILE_ROWS, plan->bias, plan->scale,
        job->max, job->shift, tile->levels);
    part16 (tile->levels, count, to[0], to[1], to[2], to[3]);
  }
}

/* Output rows first..last-1, in tiles beside each other. */
static void
make_tiles (const Job *job, int first, int last)
{
  const ImgResizeAxis *x = &job->plan->x;
  Tile tile;

  /* what rows that are none have is computed with too */
  memset (tile.rows, 0, sizeof (tile.rows));
  memset (tile.results, 0, sizeof (tile.results));
  for (tile.begin = 0; tile.begin < x->end - x->begin; tile.begin = tile.end) {
    tile.end = tile_end (job, tile.begin);
    for (int y = first; y < last; y += TILE_ROWS) {
      const int n = last - y < TILE_ROWS ? last - y : TILE_ROWS;

      make_tile (job, y - job->plan->y.begin, n, &tile);
      finish_tile (job, y, n, &tile);
    }
  }
}

/* halving */

/* The means of 2x2, ties upwards. `up` is a half of the sum of four, and `mask`
 * keeps what the depth uses of it. */
#define DEFINE_HALVE(name, Component, channels) \
  static IMG_VECTOR void \
  name (const void *above, const void *below, int n, unsigned up, \
      unsigned mask, void *to) \
  { \
    const Component *a = above, *b = below; \
    Component *out = to; \
\
    _Pragma ("GCC ivdep") \
    for (int x = 0; x < n; x++) \
      for (int c = 0; c < channels; c++) { \
        const int i = 2 * x * channels + c, j = i + channels; \
\
        out[x * channels + c] = (Component) ((((unsigned) a[i] + a[j] + b[i] \
                    + b[j] + up) >> 2) & mask); \
      } \
  }

DEFINE_HALVE (halve8_1, uint8_t, 1)
DEFINE_HALVE (halve8_2, uint8_t, 2)
DEFINE_HALVE (halve8_3, uint8_t, 3)
DEFINE_HALVE (halve8_4, uint8_t, 4)
DEFINE_HALVE (halve16_1, uint16_t, 1)
DEFINE_HALVE (halve16_2, uint16_t, 2)
DEFINE_HALVE (halve16_3, uint16_t, 3)
DEFINE_HALVE (halve16_4, uint16_t, 4)

typedef void (*HalveFunc) (const void *above, const void *below, int n,
    unsigned up, unsigned mask, void *to);

static const HalveFunc halve[2][IMG_MAX_CHANNELS] = {
  { halve8_1, halve8_2, halve8_3, halve8_4 },
  { halve16_1, halve16_2, halve16_3, halve16_4 }
};

static void
halve_row (const Job *job, int y, char *row)
{
  const ImgResizeAxis *x = &job->plan->x;
  const int channels = job->from->channels, bytes = job->component_bytes;
  const char *above = img_row (job->from, job->plan->y.first[y]);

  halve[bytes - 1][channels - 1] (above, above + job->from->stride,
      x->end - x->begin, 2u << job->shift, (unsigned) job->max << job->shift,
      row + (size_t) x->begin * channels * bytes);
}

/* nearest */

static inline __attribute__ ((always_inline)) void
pick_loop (const char *from, const int *first, int n, size_t size, char *to)
{
  for (int x = 0; x < n; x++)
    memcpy (to + x * size, from + first[x] * size, size);
}

/* Copies `n` pixels of `size` bytes, those that `first` names. */
static void
pick (const char *from, const int *first, int n, size_t size, char *to)
{
  switch (size) {
    case 1:
      pick_loop (from, first, n, 1, to);
      break;
    case 2:
      pick_loop (from, first, n, 2, to);
      break;
    case 3:
      pick_loop (from, first, n, 3, to);
      break;
    case 4:
      pick_loop (from, first, n, 4, to);
      break;
    default:
      pick_loop (from, first, n, size, to);
      break;
  }
}

static void
pick_row (const Job *job, int y, char *row)
{
  const ImgResizeAxis *x = &job->plan->x;
  const size_t size = (size_t) job->from->channels * job->component_bytes;

  pick (img_row (job->from, job->plan->y.first[y]), x->first,
      x->end - x->begin, size, row + x->begin * size);
}

/* rows */

/* Makes pixels begin..end-1 of a row black. */
static void
fill_black (const Job *job, int begin, int end, void *row)
{
  const int channels = job->to->channels;

  for (int i = begin * channels; i < end * channels; i++)
    if (job->component_bytes == 1)
      ((uint8_t *) row)[i] = (uint8_t) job->plan->black[i % channels];
    else
      ((uint16_t *) row)[i] = (uint16_t) job->plan->black[i % channels];
}

/* What is black of rows begin..end-1. */
static void
fill_borders (const Job *job, int begin, int end)
{
  const ImgResizeAxis *x = &job->plan->x, *y = &job->plan->y;

  for (int i = begin; i < end; i++) {
    const bool inside = i >= y->begin && i < y->end;

    fill_black (job, 0, inside ? x->begin : job->to->width,
        img_row (job->to, i));
    if (inside)
      fill_black (job, x->end, job->to->width, img_row (job->to, i));
  }
}

static void
make_rows (int begin, int end, void *data)
{
  const Job *job = data;
  const ImgResizeAxis *x = &job->plan->x, *y = &job->plan->y;
  const int first = begin > y->begin ? begin : y->begin;
  const int last = end < y->end ? end : y->end;

  fill_borders (job, begin, end);
  if ((x->taps == 1 && y->taps == 1) || job->plan->halves) {
    for (int i = first; i < last; i++)
      (job->plan->halves ? halve_row : pick_row) (job, i - y->begin,
          img_row (job->to, i));
    return;
  }
  make_tiles (job, first, last);
}

static bool
run (void *state, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  const ImgResizePlan *plan = state;

  for (int i = 0; i < src->n_planes; i++) {
    const ImgResizePlane *plane = &plan->plane[i];
    const ImgPlane *from = &src->plane[i], *to = &dst->plane[i];
    Job job = { from, to, plane, src->component_bytes, src->shift,
      img_view_levels (src).max };
    const int64_t work = (int64_t) from->channels
        * (1 + (int64_t) from->width * plane->y.taps
        + (int64_t) to->width * plane->x.taps);

    img_parallel_rows (to->height, (int) (1 + PIECE_WORK / work), make_rows,
        &job);
  }
  return true;
}

static void
release (void *state)
{
  if (state)
    img_resize_plan_clear (state);
  free (state);
}

static bool
prepare (void **state, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  release (*state);
  *state = calloc (1, sizeof (ImgResizePlan));
  if (!*state)
    return img_fail (error, IMG_ERROR_NO_MEMORY, "resize: out of memory");
  return img_resize_plan (*state, src, dst, params, error);
}

const ImgOperation img_resize_cpu = { "resize", sizeof (ImgResizeParams),
  false, prepare, run, release };
