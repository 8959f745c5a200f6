/*
 * sobel.h on the CPU.
 *
 * A row of results is made in tiles that stay in the first cache: sums along
 * the columns (a smooth and a derived one), of these sums along the row, which
 * are gx and gy, and of these the values. All sums are made by the same few
 * loops, which see only the rows, or the shifted rows, that they add up.
 */
#include "sobel.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "luma.h"
#include "parallel.h"
#include "rows.h"
#include "sobel-arith.h"
#include "vector.h"

#define MAX_TAPS (2 * IMG_SOBEL_MAX_RADIUS + 1)
/* Components of a tile, and of its margins. */
#define TILE 1024
#define MARGIN (2 * IMG_SOBEL_MAX_RADIUS * IMG_MAX_CHANNELS)
/* Threads take bands of rows; each has its own scratch memory. */
#define MAX_BANDS 64
#define MIN_BAND_ROWS 8
/* Bytes of a picture that are worth waking another thread. */
#define PIECE_BYTES (64 * 1024)

static bool
check_enums (const ImgSobelParams *params, ImgError *error)
{
  return img_check_enum ("sobel: direction", params->direction,
          IMG_SOBEL_Y + 1, error)
      && img_check_enum ("sobel: operator", params->op, IMG_SOBEL_SCHARR + 1,
          error)
      && img_check_enum ("sobel: norm", params->norm, IMG_SOBEL_L1 + 1, error)
      && img_check_enum ("sobel: output", params->output,
          IMG_SOBEL_OFFSET + 1, error)
      && img_check_enum ("sobel: border", params->border,
          IMG_BORDER_CONSTANT + 1, error)
      && img_check_enum ("sobel: channels", params->channels,
          IMG_CHANNELS_LUMA + 1, error);
}

bool
img_sobel_check (const ImgView *src, const ImgView *dst,
    const ImgSobelParams *params, ImgError *error)
{
  const int size = params->kernel_size;

  if (!img_view_same_layout (src, dst))
    return img_fail (error, IMG_ERROR_UNSUPPORTED,
        "sobel: source and destination differ in format or size");
  if (params->op == IMG_SOBEL_SCHARR && size != 3)
    return img_fail (error, IMG_ERROR_SETTINGS, "The Scharr operator has "
        "kernel size 3 only, not %d: set kernel-size to 3, or the operator to "
        "sobel", size);
  if (size != 3 && size != 5 && size != 7)
    return img_fail (error, IMG_ERROR_SETTINGS, "Kernel size %d of sobel is "
        "none of 3, 5 and 7: set kernel-size to one of them", size);
  if (!isfinite (params->scale) || !isfinite (params->delta))
    return img_fail (error, IMG_ERROR_SETTINGS, "Scale or delta of sobel is "
        "not a finite number: set both to finite numbers");
  return check_enums (params, error);
}

ImgSobelRule
img_sobel_rule (const ImgView *view, const ImgSobelParams *params)
{
  const ImgLevels levels = img_view_levels (view);
  const bool one = params->direction != IMG_SOBEL_MAGNITUDE;
  const bool offset = one && params->output == IMG_SOBEL_OFFSET;
  ImgSobelRule rule;

  rule.kind = !one ? params->norm == IMG_SOBEL_L1
      ? IMG_SOBEL_RULE_L1 : IMG_SOBEL_RULE_L2
      : params->output == IMG_SOBEL_ABS
      ? IMG_SOBEL_RULE_ABS : IMG_SOBEL_RULE_SIGNED;
  rule.scale = (float) params->scale;
  rule.delta = (float) img_view_scale_difference (view,
      params->delta + (offset ? 128 : 0));
  rule.black = levels.black;
  rule.range = levels.white - levels.black;
  return rule;
}

/* Rows to add up: those at equal distance from the middle one have the same
 * weight, or with `odd` the opposite one. */
typedef struct {
  const void *tap[MAX_TAPS];
  const int *weight; /* [i] at distance i */
  int radius;
  bool odd;
  int shift; /* zero bits below the components of a picture */
} Taps;

typedef void (*SumFunc) (const Taps *taps, int n, void *to);

/* SumFuncs from components of type In to Out, by sums of type Sum. With a
 * constant radius and parity the loop over the taps is unrolled, and that over
 * the row vectorised. */
#define DEFINE_SUM(name, In, Sum, Out, bits_below) \
  static inline __attribute__ ((always_inline)) void \
  name##_taps (const Taps *taps, int radius, bool odd, int n, Out *to) \
  { \
    const int shift = bits_below; \
    const In *tap[MAX_TAPS]; \
    Sum weight[IMG_SOBEL_MAX_RADIUS + 1]; \
\
    for (int i = 0; i <= radius; i++) \
      weight[i] = (Sum) taps->weight[i]; \
    for (int i = 0; i <= 2 * radius; i++) \
      tap[i] = taps->tap[i]; \
    _Pragma ("GCC ivdep") \
    for (int x = 0; x < n; x++) { \
      Sum sum = odd ? 0 : (Sum) (weight[0] * (tap[radius][x] >> shift)); \
\
      _Pragma ("GCC unroll 3") \
      for (int i = 1; i <= radius; i++) { \
        const Sum before = (Sum) (tap[radius - i][x] >> shift); \
        const Sum after = (Sum) (tap[radius + i][x] >> shift); \
\
        sum = (Sum) (sum + weight[i] \
            * (Sum) (odd ? after - before : after + before)); \
      } \
      to[x] = (Out) sum; \
    } \
  } \
\
  static IMG_VECTOR void \
  name (const Taps *taps, int n, void *to) \
  { \
    if (taps->radius == 1 && taps->odd) \
      name##_taps (taps, 1, true, n, to); \
    else if (taps->radius == 1) \
      name##_taps (taps, 1, false, n, to); \
    else if (taps->radius == 2 && taps->odd) \
      name##_taps (taps, 2, true, n, to); \
    else if (taps->radius == 2) \
      name##_taps (taps, 2, false, n, to); \
    else if (taps->odd) \
      name##_taps (taps, 3, true, n, to); \
    else \
      name##_taps (taps, 3, false, n, to); \
  }

/* 8-bit sums of columns fit 16 bits, 64 * 255 at most; and so do those of rows
 * up to kernel size 5, 48 * 255 at most. */
DEFINE_SUM (columns8, uint8_t, int16_t, int16_t, 0)
DEFINE_SUM (columns16, uint16_t, int32_t, int32_t, taps->shift)
DEFINE_SUM (rows8, int16_t, int16_t, float, 0)
DEFINE_SUM (rows8_wide, int16_t, int32_t, float, 0)
DEFINE_SUM (rows16, int32_t, int32_t, float, 0)

/* With a constant kind the loops are vectorised. */
static inline __attribute__ ((always_inline)) void
finish8_kind (ImgSobelRule rule, ImgSobelRuleKind kind, const float *gx,
    const float *gy, int n, uint8_t *to)
{
  rule.kind = kind;
#pragma GCC ivdep
  for (int x = 0; x < n; x++)
    to[x] = (uint8_t) img_sobel_finish (&rule, gx[x], gy[x]);
}

static IMG_VECTOR void
finish8 (const ImgSobelRule *rule, const float *gx, const float *gy, int n,
    uint8_t *to)
{
  if (rule->kind == IMG_SOBEL_RULE_L2)
    finish8_kind (*rule, IMG_SOBEL_RULE_L2, gx, gy, n, to);
  else if (rule->kind == IMG_SOBEL_RULE_L1)
    finish8_kind (*rule, IMG_SOBEL_RULE_L1, gx, gy, n, to);
  else if (rule->kind == IMG_SOBEL_RULE_ABS)
    finish8_kind (*rule, IMG_SOBEL_RULE_ABS, gx, gy, n, to);
  else
    finish8_kind (*rule, IMG_SOBEL_RULE_SIGNED, gx, gy, n, to);
}

static inline __attribute__ ((always_inline)) void
finish16_kind (ImgSobelRule rule, ImgSobelRuleKind kind, int shift,
    const float *gx, const float *gy, int n, uint16_t *to)
{
  rule.kind = kind;
#pragma GCC ivdep
  for (int x = 0; x < n; x++)
    to[x] = (uint16_t) (img_sobel_finish (&rule, gx[x], gy[x]) << shift);
}

static IMG_VECTOR void
finish16 (const ImgSobelRule *rule, int shift, const float *gx,
    const float *gy, int n, uint16_t *to)
{
  if (rule->kind == IMG_SOBEL_RULE_L2)
    finish16_kind (*rule, IMG_SOBEL_RULE_L2, shift, gx, gy, n, to);
  else if (rule->kind == IMG_SOBEL_RULE_L1)
    finish16_kind (*rule, IMG_SOBEL_RULE_L1, shift, gx, gy, n, to);
  else if (rule->kind == IMG_SOBEL_RULE_ABS)
    finish16_kind (*rule, IMG_SOBEL_RULE_ABS, shift, gx, gy, n, to);
  else
    finish16_kind (*rule, IMG_SOBEL_RULE_SIGNED, shift, gx, gy, n, to);
}

typedef struct {
  int bands;
  size_t band_bytes, row_bytes; /* of scratch memory */
  void *black_row;
  char *scratch;
} State;

/* One plane on its way, or the luma of RGB, which is read into a ring of rows
 * and written back as a grey picture. */
typedef struct {
  const State *state;
  const ImgView *src, *dst;
  const ImgPlane *from, *to; /* NULL: the luma of RGB */
  int width, height, channels;
  int component_bytes, sum_bytes, shift;
  uint64_t kept; /* bits of every eight bytes that are copied */
  ImgBorder border;
  ImgSobelRule rule;
  ImgSobelKernel kernel;
  bool needs_x, needs_y;
  SumFunc sum_columns, sum_rows;
} Job;

/* What a tile needs beside its rows; of 16-bit or 32-bit sums. */
typedef struct {
  int32_t smooth[TILE + MARGIN], derive[TILE + MARGIN];
  float gx[TILE], gy[TILE];
} Sums;

/* Sums the columns of pixels x..x+count-1 of `rows` into the margin and the
 * pixels of the tile from its pixel `at` on. */
static void
sum_columns (const Job *job, const void *const *rows, int x, int count,
    int at, Sums *sums)
{
  const size_t offset = (size_t) x * job->channels * job->component_bytes;
  const size_t to = (size_t) at * job->channels * job->sum_bytes;
  const int n = count * job->channels;
  Taps taps = { {}, job->kernel.smooth, job->kernel.radius, false,
    job->shift };

  for (int i = 0; i <= 2 * taps.radius; i++)
    taps.tap[i] = (const char *) rows[i] + offset;
  if (job->needs_x)
    job->sum_columns (&taps, n, (char *) sums->smooth + to);
  taps.weight = job->kernel.derive;
  taps.odd = true;
  if (job->needs_y)
    job->sum_columns (&taps, n, (char *) sums->derive + to);
}

/* The same for pixel `x`, which lies outside of the row. */
static void
sum_border_column (const Job *job, const void *const *rows, int x, int at,
    Sums *sums)
{
  const int inside = img_border_index (x, job->width, job->border);
  const void *black[MAX_TAPS];

  if (inside >= 0) {
    sum_columns (job, rows, inside, 1, at, sums);
    return;
  }
  for (int i = 0; i < MAX_TAPS; i++)
    black[i] = job->state->black_row;
  sum_columns (job, black, 0, 1, at, sums);
}

static void
sum_rows (const Job *job, const int32_t *columns, const int *weight, bool odd,
    int n, float *to)
{
  Taps taps = { {}, weight, job->kernel.radius, odd, 0 };

  for (int i = 0; i <= 2 * taps.radius; i++)
    taps.tap[i] = (const char *) columns
        + (size_t) i * job->channels * job->sum_bytes;
  job->sum_rows (&taps, n, to);
}

/* Pixels begin..end-1 of the row in the middle of `rows`. */
static void
make_tile (const Job *job, const void *const *rows, int begin, int end,
    void *row)
{
  const int radius = job->kernel.radius, n = (end - begin) * job->channels;
  const int left = begin - radius, right = end + radius;
  const int first = left > 0 ? left : 0;
  const int last = right < job->width ? right : job->width;
  const size_t offset = (size_t) begin * job->channels * job->component_bytes;
  void *to = (char *) row + offset;
  Sums sums;

  sum_columns (job, rows, first, last - first, first - left, &sums);
  for (int x = left; x < first; x++)
    sum_border_column (job, rows, x, x - left, &sums);
  for (int x = last; x < right; x++)
    sum_border_column (job, rows, x, x - left, &sums);
  if (job->needs_x)
    sum_rows (job, sums.smooth, job->kernel.derive, true, n, sums.gx);
  if (job->needs_y)
    sum_rows (job, sums.derive, job->kernel.smooth, false, n, sums.gy);
  const float *gx = job->needs_x ? sums.gx : sums.gy;
  if (job->component_bytes == 1)
    finish8 (&job->rule, gx, sums.gy, n, to);
  else
    finish16 (&job->rule, job->shift, gx, sums.gy, n, to);
  if (job->kept)
    img_row_keep ((const char *) rows[radius] + offset,
        (size_t) n * job->component_bytes, job->kept, to);
}

/* The row that stands at `y`; that of luma is read into its place of `ring`.
 */
static const void *
source_row (const Job *job, char *ring, int y)
{
  const int inside = img_border_index (y, job->height, job->border);

  if (inside < 0)
    return job->state->black_row;
  if (job->from)
    return img_row (job->from, inside);
  const int taps = 2 * job->kernel.radius + 1;
  char *row = ring + (y + taps) % taps * job->state->row_bytes;
  img_luma_load (job->src, inside, (uint16_t *) row);
  return row;
}

static void
make_rows (const Job *job, char *scratch, int begin, int end)
{
  const int radius = job->kernel.radius, step = TILE / job->channels;
  char *luma = scratch + MAX_TAPS * job->state->row_bytes;
  const void *rows[MAX_TAPS];

  for (int i = 0; i < 2 * radius; i++)
    rows[i] = source_row (job, scratch, begin - radius + i);
  for (int y = begin; y < end; y++) {
    void *row = job->to ? img_row (job->to, y) : luma;

    rows[2 * radius] = source_row (job, scratch, y + radius);
    for (int x = 0; x < job->width; x += step)
      make_tile (job, rows, x, x + step < job->width ? x + step : job->width,
          row);
    if (!job->to)
      img_luma_store (job->src, job->dst, y, (uint16_t *) luma);
    memmove (rows, rows + 1, 2 * radius * sizeof (rows[0]));
  }
}

static void
make_bands (int begin, int end, void *data)
{
  const Job *job = data;
  const int64_t height = job->height;
  const int bands = job->state->bands;

  for (int i = begin; i < end; i++)
    make_rows (job, job->state->scratch + i * job->state->band_bytes,
        (int) (height * i / bands), (int) (height * (i + 1) / bands));
}

/* What is the same for all planes. */
static Job
make_job (const State *state, const ImgView *src, const ImgView *dst,
    const ImgSobelParams *params)
{
  Job job = { state, src, dst };

  job.border = params->border;
  job.rule = img_sobel_rule (src, params);
  job.kernel = img_sobel_kernel (params->op, params->kernel_size);
  job.needs_x = params->direction != IMG_SOBEL_Y;
  job.needs_y = params->direction != IMG_SOBEL_X;
  return job;
}

static void
run_job (Job *job)
{
  const bool narrow = job->component_bytes == 1;
  const size_t band = (size_t) job->width * job->channels
      * job->component_bytes * job->height / job->state->bands;

  job->sum_bytes = narrow ? sizeof (int16_t) : sizeof (int32_t);
  job->sum_columns = narrow ? columns8 : columns16;
  job->sum_rows = !narrow ? rows16 : job->kernel.radius < 3 ? rows8
      : rows8_wide;
  img_parallel_rows (job->state->bands, 1 + (int) (PIECE_BYTES / (band + 1)),
      make_bands, job);
}

static void
run_luma_of_rgb (Job *job)
{
  job->width = job->src->width;
  job->height = job->src->height;
  job->channels = 1;
  job->component_bytes = sizeof (uint16_t);
  run_job (job);
}

static void
run_plane (Job *job, int i)
{
  job->from = &job->src->plane[i];
  job->to = &job->dst->plane[i];
  job->width = job->from->width;
  job->height = job->from->height;
  job->channels = job->from->channels;
  job->component_bytes = job->src->component_bytes;
  job->shift = job->src->shift;
  job->kept = img_row_kept_bits (job->src, job->from);
  if (~job->kept)
    run_job (job);
  else
    img_plane_copy (job->src, job->dst, i);
}

static bool
run (void *state, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  const ImgSobelParams *p = params;
  Job job = make_job (state, src, dst, p);

  if (!img_sobel_uses_luma (src, p)) {
    for (int i = 0; i < src->n_planes; i++)
      run_plane (&job, i);
    return true;
  }
  if (src->model == IMG_MODEL_RGB)
    run_luma_of_rgb (&job);
  else
    run_plane (&job, 0);
  img_luma_fill_others (src, dst);
  return true;
}

static void
release (void *data)
{
  State *state = data;

  if (!state)
    return;
  free (state->black_row);
  free (state->scratch);
  free (state);
}

static bool
prepare (void **data, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  const ImgSobelParams *p = params;
  const bool reads_luma = src->model == IMG_MODEL_RGB
      && img_sobel_uses_luma (src, p);
  State *state;

  if (!img_sobel_check (src, dst, p, error))
    return false;
  release (*data);
  *data = state = calloc (1, sizeof (State));
  if (!state)
    return img_fail (error, IMG_ERROR_NO_MEMORY, "sobel: out of memory");
  state->bands = img_clamp (src->height / MIN_BAND_ROWS, 1, MAX_BANDS);
  state->black_row = img_row_new (src->width * IMG_MAX_CHANNELS, reads_luma ? 2
      : src->component_bytes, img_view_levels (src).black << src->shift);
  if (reads_luma) {
    state->row_bytes = src->width * sizeof (uint16_t);
    state->band_bytes = (MAX_TAPS + 1) * state->row_bytes;
    state->scratch = malloc (state->bands * state->band_bytes);
  }
  if (!state->black_row || (reads_luma && !state->scratch))
    return img_fail (error, IMG_ERROR_NO_MEMORY, "sobel: out of memory");
  return true;
}

const ImgOperation img_sobel_cpu = { "sobel", sizeof (ImgSobelParams), false,
  prepare, run, release };
