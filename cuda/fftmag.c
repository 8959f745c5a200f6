/*
 * fftmag.h on the CPU. The passes of a run, each shared among threads:
 *   1. the mean of the windowed luma, which is taken off it, so that the
 *      rounding errors of F (0, 0) do not drown the rest;
 *   2. rows, two real ones in one complex transform, into columns of the half
 *      spectrum 0 <= u <= width / 2;
 *   3. columns, of which |F|² and its extremes are kept;
 *   4. levels, for rows v and -v together, since F (-v, -u) = conj (F (v, u)).
 */
#include "fftmag.h"

#include <float.h>
#include <string.h>

#include <glib.h>

#include "fft.h"
#include "fftmag-arith.h"
#include "luma.h"
#include "parallel.h"
#include "vector.h"

/* A pass is cut into parts, each of which has scratch memory of its own. */
#define MAX_PARTS 16
#define PART_PIXELS (32 * 1024)
#define BLOCK 8 /* rows that a part takes at a time: a cache line of complex */

typedef struct {
  kiss_fft_cpx *in, *out, *scratch;
  uint16_t *luma[2];
  float *rows[2]; /* BLOCK rows v, and the rows -v, of the half spectrum */
  uint16_t *levels[2];
} Scratch;

typedef struct {
  int width, height, half; /* half: columns of the half spectrum */
  ImgFft *row_fft, *column_fft;
  size_t column; /* values from one column to the next */
  kiss_fft_cpx *spectrum;
  float *window_x, *window_y;
  ImgFftmagWindow window;
  int n_parts;
  Scratch scratch[MAX_PARTS];
  void *memory; /* which holds all arrays of the above */
} State;

typedef struct {
  const State *state;
  const ImgView *src, *dst;
  const ImgFftmagParams *params;
  double black, unit, mean;
  double sum[MAX_PARTS];
  float smallest[MAX_PARTS], largest[MAX_PARTS]; /* |F|² */
  ImgFftmagMap map;
} Job;

bool
img_fftmag_check (const ImgView *src, const ImgView *dst,
    const ImgFftmagParams *params, ImgError *error)
{
  if (!img_view_same_layout (src, dst))
    return img_fail (error, IMG_ERROR_UNSUPPORTED,
        "fftmag: source and destination differ in format or size");
  if (!img_check_enum ("fftmag: scale", params->scale, IMG_FFTMAG_DECIBEL + 1,
          error)
      || !img_check_enum ("fftmag: normalize", params->normalize,
          IMG_FFTMAG_RANGE + 1, error)
      || !img_check_enum ("fftmag: window", params->window,
          IMG_FFTMAG_WINDOW_BLACKMAN + 1, error))
    return false;
  if (params->normalize == IMG_FFTMAG_RANGE
      && !(params->range_min < params->range_max))
    return img_fail (error, IMG_ERROR_SETTINGS,
        "fftmag: range-min %g must be less than range-max %g",
        params->range_min, params->range_max);
  return true;
}

double
img_fftmag_window (ImgFftmagWindow window, int i, int n)
{
  const double angle = n > 1 ? 2 * M_PI * i / (n - 1) : 0;

  if (n == 1)
    return 1;
  switch (window) {
    case IMG_FFTMAG_WINDOW_HANN:
      return 0.5 - 0.5 * cos (angle);
    case IMG_FFTMAG_WINDOW_HAMMING:
      return 0.54 - 0.46 * cos (angle);
    case IMG_FFTMAG_WINDOW_BLACKMAN:
      return 0.42 - 0.5 * cos (angle) + 0.08 * cos (2 * angle);
    default:
      return 1;
  }
}

double
img_fftmag_unit (const ImgView *view)
{
  const ImgLevels levels = img_view_levels (view);

  return 255.0 / (levels.white - levels.black);
}

/* The share of `n` things that is a part's, in units of `unit` things. */
static void
part_range (const State *state, int part, int n, int unit, int *begin,
    int *end)
{
  const gint64 units = (n + unit - 1) / unit;

  *begin = (int) (part * units / state->n_parts) * unit;
  *end = MIN ((int) ((part + 1) * units / state->n_parts) * unit, n);
}

/* Pass 1 */

static void
sum_part (Job *job, int part)
{
  const State *state = job->state;
  uint16_t *luma = state->scratch[part].luma[0];
  int begin, end;

  job->sum[part] = 0;
  part_range (state, part, state->height, 1, &begin, &end);
  for (int y = begin; y < end; y++) {
    double sum = 0; /* exact without a window */

    img_luma_load (job->src, y, luma);
    for (int x = 0; x < state->width; x++)
      sum += (luma[x] - job->black) * state->window_x[x];
    job->sum[part] += sum * state->window_y[y];
  }
}

static void
sum_parts (int begin, int end, void *data)
{
  for (int part = begin; part < end; part++)
    sum_part (data, part);
}

/* Pass 2 */

/* Two rows as the real and the imaginary part of one. */
static IMG_VECTOR void
join_rows (const Job *job, const uint16_t *const luma[2], const double w[2],
    kiss_fft_cpx *restrict in)
{
  const double black = job->black, mean = job->mean, unit = job->unit;
  const uint16_t *a = luma[0], *b = luma[1];
  const float *window = job->state->window_x;
  const int n = job->state->width;

  for (int x = 0; x < n; x++) {
    in[x].r = (float) (((a[x] - black) * (w[0] * window[x]) - mean) * unit);
    in[x].i = (float) (((b[x] - black) * (w[1] * window[x]) - mean) * unit);
  }
}

/* The transforms of both rows, from that of the joined one: elements y and
 * y + 1 of every column. */
static void
split_rows (const State *state, const kiss_fft_cpx *z, int y)
{
  for (int u = 0; u < state->half; u++) {
    const kiss_fft_cpx p = z[u], q = z[u > 0 ? state->width - u : 0];
    kiss_fft_cpx *to = state->spectrum + u * state->column + y;

    to[0].r = 0.5f * (p.r + q.r);
    to[0].i = 0.5f * (p.i - q.i);
    to[1].r = 0.5f * (p.i + q.i);
    to[1].i = 0.5f * (q.r - p.r);
  }
}

static void
transform_rows (const Job *job, int part)
{
  const State *state = job->state;
  const Scratch *s = &state->scratch[part];
  int begin, end;

  part_range (state, part, state->height, BLOCK, &begin, &end);
  for (int y = begin; y < end; y += 2) {
    const int next = y + 1 < end ? y + 1 : y; /* a last one goes twice */
    const uint16_t *const luma[2] = { s->luma[0], s->luma[1] };
    const double w[2] = { state->window_y[y], state->window_y[next] };

    img_luma_load (job->src, y, s->luma[0]);
    img_luma_load (job->src, next, s->luma[1]);
    join_rows (job, luma, w, s->in);
    img_fft_run (state->row_fft, s->in, s->out, s->scratch);
    split_rows (state, s->out, y);
  }
}

static void
transform_rows_parts (int begin, int end, void *data)
{
  for (int part = begin; part < end; part++)
    transform_rows (data, part);
}

/* Pass 3 */

static IMG_VECTOR void
take_power (const kiss_fft_cpx *restrict in, int n, float *restrict power)
{
  for (int i = 0; i < n; i++)
    power[i] = in[i].r * in[i].r + in[i].i * in[i].i;
}

/* |F|² of a column stands where the column was. */
static float *
column_power (const State *state, int u)
{
  return (float *) (state->spectrum + u * state->column);
}

static void
transform_columns (Job *job, int part)
{
  const State *state = job->state;
  const Scratch *s = &state->scratch[part];
  float smallest = FLT_MAX, largest = 0;
  int begin, end;

  part_range (state, part, state->half, 1, &begin, &end);
  for (int u = begin; u < end; u++) {
    float *power = column_power (state, u);

    img_fft_run (state->column_fft, state->spectrum + u * state->column,
        s->out, s->scratch);
    if (u == 0) {
      const double pixels = (double) state->width * state->height;

      s->out[0].r = (float) (job->mean * pixels * job->unit);
      s->out[0].i = 0;
    }
    take_power (s->out, state->height, power);
    for (int v = 0; v < state->height; v++) {
      smallest = power[v] < smallest ? power[v] : smallest;
      largest = power[v] > largest ? power[v] : largest;
    }
  }
  job->smallest[part] = smallest;
  job->largest[part] = largest;
}

static void
transform_columns_parts (int begin, int end, void *data)
{
  for (int part = begin; part < end; part++)
    transform_columns (data, part);
}

/* Pass 4 */

static ImgFftmagMap
make_map (const Job *job)
{
  const ImgFftmagParams *params = job->params;
  const ImgLevels levels = img_view_levels (job->dst);
  float smallest = job->smallest[0], largest = job->largest[0];

  if (params->normalize == IMG_FFTMAG_RANGE)
    return img_fftmag_map ((float) params->range_min,
        (float) params->range_max, levels.black, levels.white);
  for (int i = 1; i < job->state->n_parts; i++) {
    smallest = MIN (smallest, job->smallest[i]);
    largest = MAX (largest, job->largest[i]);
  }
  /* every scale grows with |F|² */
  return img_fftmag_map (img_fftmag_value (params->scale, smallest),
      img_fftmag_value (params->scale, largest), levels.black, levels.white);
}

/* Rows v..v + n - 1 of |F|², and their mirror images, out of the columns. */
static void
gather_rows (const State *state, int v, int n, float *const rows[2])
{
  const int height = state->height;

  for (int u = 0; u < state->half; u++) {
    const float *power = column_power (state, u);

    for (int i = 0; i < n; i++) {
      rows[0][i * state->half + u] = power[v + i];
      rows[1][i * state->half + u] = power[v + i > 0 ? height - v - i : 0];
    }
  }
}

static void
make_levels (const Job *job, const float *power, uint16_t *levels)
{
  const ImgFftmagScale scale = job->params->scale;

  for (int u = 0; u < job->state->half; u++)
    levels[u] = (uint16_t) img_fftmag_level (&job->map,
        img_fftmag_value (scale, power[u]));
}

/* Row `v` of the picture from its half spectrum and that of row -v. */
static void
write_row (const Job *job, int v, const uint16_t *own, const uint16_t *mirror,
    uint16_t *row)
{
  const bool shift = job->params->shift;
  const int width = job->state->width, height = job->state->height;
  const int center = shift ? width / 2 : 0;

  for (int u = 0; u <= (width - 1) / 2; u++)
    row[center + u] = own[u];
  for (int u = 1; u <= (width - 1) / 2; u++)
    row[(shift ? center : width) - u] = mirror[u];
  if (width % 2 == 0)
    row[shift ? 0 : width / 2] = own[width / 2];
  img_luma_store (job->src, job->dst, shift ? (v + height / 2) % height : v,
      row);
}

static void
write_block (const Job *job, const Scratch *s, int v, int n)
{
  const State *state = job->state;

  gather_rows (state, v, n, s->rows);
  for (int i = 0; i < n; i++) {
    const int mirror = v + i > 0 ? state->height - v - i : 0;

    make_levels (job, s->rows[0] + i * state->half, s->levels[0]);
    make_levels (job, s->rows[1] + i * state->half, s->levels[1]);
    write_row (job, v + i, s->levels[0], s->levels[1], s->luma[0]);
    if (mirror != v + i)
      write_row (job, mirror, s->levels[1], s->levels[0], s->luma[0]);
  }
}

static void
write_parts (int begin_part, int end_part, void *data)
{
  const Job *job = data;

  for (int part = begin_part; part < end_part; part++) {
    int begin, end;

    part_range (job->state, part, job->state->height / 2 + 1, BLOCK, &begin,
        &end);
    for (int v = begin; v < end; v += BLOCK)
      write_block (job, &job->state->scratch[part], v, MIN (BLOCK, end - v));
  }
}

/* State */

/* Where the arrays are in the memory; returns its size. With a NULL memory
 * only that. */
static size_t
lay_out (State *state, char *memory)
{
  const size_t width = state->width, height = state->height;
  const size_t half = state->half, longer = MAX (width, height);
  const size_t scratch = MAX (img_fft_scratch (state->row_fft),
      img_fft_scratch (state->column_fft));
  size_t size = 0;

#define TAKE(pointer, n) \
  ((pointer) = memory ? (void *) (memory + size) : NULL, \
      size += ((n) * sizeof (*(pointer)) + 63) / 64 * 64)
  TAKE (state->window_x, width);
  TAKE (state->window_y, height);
  for (int i = 0; i < state->n_parts; i++) {
    Scratch *s = &state->scratch[i];

    TAKE (s->in, width);
    TAKE (s->out, longer);
    TAKE (s->scratch, scratch);
    for (int k = 0; k < 2; k++) {
      TAKE (s->luma[k], width);
      TAKE (s->rows[k], BLOCK * half);
      TAKE (s->levels[k], half);
    }
  }
  TAKE (state->spectrum, half * state->column);
#undef TAKE
  return size;
}

static void
clear (State *state)
{
  img_fft_free (state->row_fft);
  img_fft_free (state->column_fft);
  g_free (state->memory);
  memset (state, 0, sizeof (*state));
}

static bool
resize (State *state, int width, int height)
{
  const size_t pixels = (size_t) width * height;

  clear (state);
  state->half = width / 2 + 1;
  /* rows go in pairs; an odd number of cache lines from column to column
   * keeps the elements of a row out of each other's way in the cache */
  state->column = ((size_t) (height + BLOCK) / BLOCK | 1) * BLOCK;
  state->n_parts = (int) MIN (pixels / PART_PIXELS + 1, MAX_PARTS);
  state->row_fft = img_fft_new (width);
  state->column_fft = img_fft_new (height);
  if (!state->row_fft || !state->column_fft)
    return false;
  state->width = width;
  state->height = height;
  state->memory = g_try_malloc (lay_out (state, NULL));
  if (!state->memory)
    state->width = 0; /* nothing is ready */
  else
    lay_out (state, state->memory);
  return state->memory != NULL;
}

static void
fill_windows (State *state, ImgFftmagWindow window)
{
  state->window = window;
  for (int x = 0; x < state->width; x++)
    state->window_x[x] = (float) img_fftmag_window (window, x, state->width);
  for (int y = 0; y < state->height; y++)
    state->window_y[y] = (float) img_fftmag_window (window, y, state->height);
}

static bool
prepare (void **data, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  const ImgFftmagParams *p = params;
  State *state = *data;
  bool is_new;

  if (!img_fftmag_check (src, dst, p, error))
    return false;
  if (!state)
    *data = state = g_new0 (State, 1);
  is_new = state->width != src->width || state->height != src->height;
  if (is_new && !resize (state, src->width, src->height))
    return img_fail (error, IMG_ERROR_NO_MEMORY, "fftmag: out of memory");
  if (is_new || state->window != p->window)
    fill_windows (state, p->window);
  return true;
}

static bool
run (void *data, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  const State *state = data;
  Job job = { state, src, dst, params, img_view_levels (src).black,
    img_fftmag_unit (src) };
  double sum = 0;

  img_parallel_rows (state->n_parts, 1, sum_parts, &job);
  for (int i = 0; i < state->n_parts; i++)
    sum += job.sum[i];
  job.mean = sum / ((double) state->width * state->height);
  img_parallel_rows (state->n_parts, 1, transform_rows_parts, &job);
  img_parallel_rows (state->n_parts, 1, transform_columns_parts, &job);
  job.map = make_map (&job);
  img_parallel_rows (state->n_parts, 1, write_parts, &job);
  img_luma_fill_others (src, dst);
  return true;
}

static void
release (void *data)
{
  if (data)
    clear (data);
  g_free (data);
}

const ImgOperation img_fftmag_cpu = { "fftmag", sizeof (ImgFftmagParams), true,
  prepare, run, release };
