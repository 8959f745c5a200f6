/* threshold.h on the CPU. A run has up to three steps, each shared among
 * threads: the level of the picture (OTSU, TRIANGLE) or the plane that means
 * are taken of (ADAPTIVE); then the pixels; then the planes without luma. */
#include "threshold.h"

#include <glib.h>
#include <string.h>

#include "luma.h"
#include "parallel.h"
#include "threshold-cpu.h"
#include "vector.h"

/* A picture is cut into parts of at least so many pixels, each of which has
 * scratch memory of its own. */
#define MAX_PARTS 16
#define PART_PIXELS (64 * 1024)

/* Components that are taken at a time; they hold whole pixels of four. */
#define LANES 64

typedef struct {
  int n_parts, n_tables; /* n_tables: histograms of a part */
  int bins;
  uint32_t *histogram; /* of n_parts * n_tables * bins */
  ImgAdaptiveRows rows[MAX_PARTS];
  uint16_t *result[MAX_PARTS];
  ImgAdaptivePlane plane;
  ImgAdaptiveBlock block;
  void *memory; /* which holds all of these */
  size_t size;
  double computed;
} State;

typedef struct {
  const State *state;
  const ImgView *src, *dst;
  ImgThresholdRule rule;
  bool adaptive;
  const ImgPlane *from, *to; /* of apply_lanes */
} Job;

bool
img_threshold_check (const ImgView *src, const ImgView *dst,
    const ImgThresholdParams *params, ImgError *error)
{
  if (!img_view_same_layout (src, dst))
    return img_fail (error, IMG_ERROR_UNSUPPORTED,
        "threshold: source and destination differ in format or size");
  if (!(params->threshold >= 0 && params->threshold <= 255))
    return img_fail (error, IMG_ERROR_SETTINGS,
        "threshold: threshold %g is not in 0..255", params->threshold);
  if (!(params->max_value >= 0 && params->max_value <= 255))
    return img_fail (error, IMG_ERROR_SETTINGS,
        "threshold: max-value %g is not in 0..255", params->max_value);
  if (!img_check_enum ("threshold: type", params->type,
          IMG_THRESHOLD_TOZERO_INV + 1, error)
      || !img_check_enum ("threshold: method", params->method,
          IMG_THRESHOLD_ADAPTIVE_GAUSSIAN + 1, error)
      || !img_check_enum ("threshold: channels", params->channels,
          IMG_CHANNELS_LUMA + 1, error))
    return false;
  if (params->method < IMG_THRESHOLD_ADAPTIVE_MEAN)
    return true;
  if (params->block_size < 3 || params->block_size > 255
      || params->block_size % 2 == 0)
    return img_fail (error, IMG_ERROR_SETTINGS,
        "threshold: block-size is %d; set an odd one from 3 to 255",
        params->block_size);
  if (!(params->offset >= -255 && params->offset <= 255))
    return img_fail (error, IMG_ERROR_SETTINGS,
        "threshold: offset %g is not in -255..255", params->offset);
  return true;
}

static void
set_rule_type (ImgThresholdRule *rule, ImgThresholdType type, unsigned high,
    unsigned black)
{
  const bool binary = type == IMG_THRESHOLD_BINARY;

  rule->truncate = type == IMG_THRESHOLD_TRUNC;
  if (type == IMG_THRESHOLD_BINARY || type == IMG_THRESHOLD_BINARY_INV) {
    rule->set_above = binary ? high : black;
    rule->set_below = binary ? black : high;
  } else if (type == IMG_THRESHOLD_TOZERO) {
    rule->keep_above = ~0u;
    rule->set_below = black;
  } else {
    rule->set_above = black;
    rule->keep_below = ~0u;
  }
}

ImgThresholdRule
img_threshold_rule (const ImgView *view, const ImgThresholdParams *params)
{
  const ImgLevels levels = img_view_levels (view);
  const double offset = img_view_scale_difference (view, params->offset);
  const double high = rint (img_view_scale (view, params->max_value));
  ImgThresholdRule rule = { 0 };

  rule.level = (int) floor (img_view_scale (view, params->threshold));
  /* OpenCV: a fraction moves towards above for BINARY_INV, else away */
  rule.offset = (int) (params->type == IMG_THRESHOLD_BINARY_INV
      ? floor (offset) : ceil (offset));
  rule.black = levels.black;
  set_rule_type (&rule, params->type, (unsigned) high,
      (unsigned) levels.black);
  return rule;
}

bool
img_threshold_uses_luma (const ImgView *view, const ImgThresholdParams *params)
{
  return view->model != IMG_MODEL_RGB || params->channels == IMG_CHANNELS_LUMA
      || params->method != IMG_THRESHOLD_FIXED;
}

double
img_threshold_unscale (const ImgView *view, int level)
{
  const ImgLevels levels = img_view_levels (view);

  return (level - levels.black) * 255.0 / (levels.white - levels.black);
}

static void
part_rows (const Job *job, int part, int *begin, int *end)
{
  const gint64 height = job->src->height;

  *begin = (int) (part * height / job->state->n_parts);
  *end = (int) ((part + 1) * height / job->state->n_parts);
}

/* Neighbours, which often are equal, count in different tables. */
static void
count_row (const uint16_t *luma, int n, uint32_t *const table[4])
{
  int x = 0;

  for (; x + 3 < n; x += 4) {
    table[0][luma[x]]++;
    table[1][luma[x + 1]]++;
    table[2][luma[x + 2]]++;
    table[3][luma[x + 3]]++;
  }
  for (; x < n; x++)
    table[0][luma[x]]++;
}

static void
count_part (const Job *job, int part)
{
  const State *state = job->state;
  const size_t size = (size_t) state->n_tables * state->bins;
  uint32_t *histogram = state->histogram + part * size;
  uint32_t *table[4];
  const uint16_t *luma = state->rows[part].value;
  int begin, end;

  memset (histogram, 0, size * sizeof (*histogram));
  for (int i = 0; i < 4; i++)
    table[i] = histogram + i % state->n_tables * state->bins;
  part_rows (job, part, &begin, &end);
  for (int y = begin; y < end; y++) {
    img_luma_load (job->src, y, state->rows[part].value);
    count_row (luma, job->src->width, table);
  }
}

static void
count_parts (int begin, int end, void *data)
{
  for (int part = begin; part < end; part++)
    count_part (data, part);
}

/* Adds all histograms to the first. */
static IMG_VECTOR void
merge (uint32_t *histogram, int n, int bins)
{
  for (int i = 1; i < n; i++)
    for (int k = 0; k < bins; k++)
      histogram[k] += histogram[(size_t) i * bins + k];
}

static int
picture_level (Job *job, ImgThresholdMethod method)
{
  const State *state = job->state;

  img_parallel_rows (state->n_parts, 1, count_parts, job);
  merge (state->histogram, state->n_parts * state->n_tables, state->bins);
  return method == IMG_THRESHOLD_OTSU
      ? img_otsu_level (state->histogram, state->bins)
      : img_triangle_level_of (state->histogram, state->bins);
}

static void
make_plane (int begin_part, int end_part, void *data)
{
  const Job *job = data;

  for (int part = begin_part; part < end_part; part++) {
    const ImgAdaptiveRows *rows = &job->state->rows[part];
    int begin, end;

    part_rows (job, part, &begin, &end);
    for (int y = begin; y < end; y++) {
      img_luma_load (job->src, y, rows->value);
      img_adaptive_first (&job->state->block, &job->state->plane, y, rows);
    }
  }
}

static IMG_VECTOR void
subtract (int32_t *level, int offset, int n)
{
  for (int x = 0; x < n; x++)
    level[x] -= offset;
}

static IMG_VECTOR void
apply_levels (const ImgThresholdRule *rule, const uint16_t *restrict value,
    const int32_t *restrict level, int n, uint16_t *restrict result)
{
  const ImgThresholdRule r = *rule;

  for (int x = 0; x < n; x++)
    result[x] = (uint16_t) img_threshold_apply (&r, value[x], level[x]);
}

static void
apply_luma_part (const Job *job, int part)
{
  const State *state = job->state;
  const ImgAdaptiveRows *rows = &state->rows[part];
  const int width = job->src->width;
  int begin, end;

  for (int x = 0; x < width; x++)
    rows->level[x] = job->rule.level;
  part_rows (job, part, &begin, &end);
  for (int y = begin; y < end; y++) {
    if (job->adaptive) {
      img_adaptive_mean (&state->block, &state->plane, y, y == begin, rows);
      subtract (rows->level, job->rule.offset, width);
    }
    img_luma_load (job->src, y, rows->value);
    apply_levels (&job->rule, rows->value, rows->level, width,
        state->result[part]);
    img_luma_store (job->src, job->dst, y, state->result[part]);
  }
}

static void
apply_luma (int begin, int end, void *data)
{
  for (int part = begin; part < end; part++)
    apply_luma_part (data, part);
}

/* The rule for each of LANES components of 8 bits that follow each other. */
typedef struct {
  uint8_t limit[LANES];
  uint8_t keep_above[LANES], set_above[LANES];
  uint8_t keep_below[LANES], set_below[LANES];
} LaneRule;

static void
set_lanes (LaneRule *lanes, const ImgThresholdRule *rule, const ImgPlane *plane)
{
  const int limit = img_clamp (rule->level, 0, 255);
  const int value = limit + 1; /* whatever is above */
  const bool always = rule->level < 0;
  const unsigned set_above = rule->truncate
      ? (unsigned) img_threshold_apply (rule, value, rule->level)
      : rule->set_above;

  for (int i = 0; i < LANES; i++) {
    const bool color = img_channel_is_color (plane->channel[i
            % plane->channels]);

    lanes->limit[i] = (uint8_t) limit;
    lanes->keep_above[i] = (uint8_t) (color ? rule->keep_above : ~0u);
    lanes->set_above[i] = (uint8_t) (color ? set_above : 0);
    lanes->keep_below[i] = (uint8_t) (!color ? ~0u
        : always ? rule->keep_above : rule->keep_below);
    lanes->set_below[i] = (uint8_t) (!color ? 0
        : always ? set_above : rule->set_below);
  }
}

static inline uint8_t
apply_lane (const LaneRule *rule, int i, uint8_t v)
{
  const uint8_t above = (v & rule->keep_above[i]) | rule->set_above[i];
  const uint8_t below = (v & rule->keep_below[i]) | rule->set_below[i];

  return v > rule->limit[i] ? above : below;
}

static IMG_VECTOR void
apply_lanes (const LaneRule *rule, const uint8_t *from, uint8_t *to, size_t n)
{
  const LaneRule r = *rule;

  for (; n >= LANES; n -= LANES, from += LANES, to += LANES) {
    uint8_t result[LANES]; /* for the two rows may be the same */

    for (int i = 0; i < LANES; i++)
      result[i] = apply_lane (&r, i, from[i]);
    memcpy (to, result, LANES);
  }
  for (int i = 0; i < (int) n; i++)
    to[i] = apply_lane (&r, i, from[i]);
}

static void
apply_rows (int begin, int end, void *data)
{
  const Job *job = data;
  const size_t n = img_plane_row_bytes (job->src, job->from);
  LaneRule rule;

  set_lanes (&rule, &job->rule, job->from);
  for (int y = begin; y < end; y++)
    apply_lanes (&rule, (uint8_t *) job->from->data + y * job->from->stride,
        (uint8_t *) job->to->data + y * job->to->stride, n);
}

/* Components of 8 bits, each of which has its own decision. */
static void
apply_components (Job *job)
{
  for (int i = 0; i < job->src->n_planes; i++) {
    job->from = &job->src->plane[i];
    job->to = &job->dst->plane[i];
    if (img_plane_is_luma (job->src, i))
      img_parallel_rows (job->from->height,
          1 + PART_PIXELS / job->from->width, apply_rows, job);
  }
}

/* Where the parts of the memory are; returns its size. With a NULL memory only
 * that. */
static size_t
lay_out (State *state, char *memory, const ImgView *view,
    ImgThresholdMethod method, int radius)
{
  const size_t width = view->width, row = width + 2 * (size_t) radius;
  size_t size = 0;

#define TAKE(pointer, n) \
  ((pointer) = memory ? (void *) (memory + size) : NULL, \
      size += ((n) * sizeof (*(pointer)) + 63) / 64 * 64)
  for (int i = 0; i < state->n_parts; i++) {
    TAKE (state->rows[i].value, row);
    TAKE (state->rows[i].sum, row);
    TAKE (state->rows[i].level, width);
    TAKE (state->result[i], width);
    if (memory) {
      state->rows[i].value += radius;
      state->rows[i].sum += radius;
    }
  }
  if (method == IMG_THRESHOLD_OTSU || method == IMG_THRESHOLD_TRIANGLE)
    TAKE (state->histogram, (size_t) state->n_parts * state->n_tables
        * state->bins);
  else if (method != IMG_THRESHOLD_FIXED)
    TAKE (state->plane.data, width * view->height);
#undef TAKE
  return size;
}

static bool
make_memory (State *state, const ImgView *view,
    const ImgThresholdParams *params, ImgError *error)
{
  const bool adaptive = params->method >= IMG_THRESHOLD_ADAPTIVE_MEAN;
  const int radius = adaptive ? params->block_size / 2 : 0;
  const size_t pixels = (size_t) view->width * view->height;
  size_t size;

  state->n_parts = (int) MIN (MIN (pixels / PART_PIXELS + 1, MAX_PARTS),
      (size_t) view->height);
  state->bins = 1 << view->depth;
  state->n_tables = view->depth > 10 ? 1 : 4;
  state->plane.width = view->width;
  state->plane.height = view->height;
  size = lay_out (state, NULL, view, params->method, radius);
  if (size > state->size) {
    g_free (state->memory);
    state->memory = g_try_malloc (size);
    state->size = state->memory ? size : 0;
    if (!state->memory)
      return img_fail (error, IMG_ERROR_NO_MEMORY, "threshold: out of memory");
  }
  lay_out (state, state->memory, view, params->method, radius);
  return true;
}

static bool
prepare (void **data, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  const ImgThresholdParams *p = params;
  State *state = *data;

  if (!img_threshold_check (src, dst, p, error))
    return false;
  if (!state) {
    *data = state = g_new0 (State, 1);
    state->computed = -1;
  }
  if (!make_memory (state, src, p, error))
    return false;
  if (p->method >= IMG_THRESHOLD_ADAPTIVE_MEAN)
    img_adaptive_block_init (&state->block,
        p->method == IMG_THRESHOLD_ADAPTIVE_GAUSSIAN, p->block_size,
        src->depth);
  return true;
}

static bool
run (void *data, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  const ImgThresholdParams *p = params;
  State *state = data;
  Job job = { state, src, dst, img_threshold_rule (src, p),
    p->method >= IMG_THRESHOLD_ADAPTIVE_MEAN };
  double computed = -1;

  if (p->method == IMG_THRESHOLD_OTSU || p->method == IMG_THRESHOLD_TRIANGLE) {
    job.rule.level = picture_level (&job, p->method);
    computed = img_threshold_unscale (src, job.rule.level);
  }
  if (job.adaptive)
    img_parallel_rows (state->n_parts, 1, make_plane, &job);
  if (!job.adaptive && src->component_bytes == 1
      && (src->model != IMG_MODEL_RGB || !img_threshold_uses_luma (src, p)))
    apply_components (&job);
  else
    img_parallel_rows (state->n_parts, 1, apply_luma, &job);
  img_luma_fill_others (src, dst);
  state->computed = computed;
  return true;
}

static void
release (void *data)
{
  State *state = data;

  if (state)
    g_free (state->memory);
  g_free (state);
}

const ImgOperation img_threshold_cpu = { "threshold",
  sizeof (ImgThresholdParams), true, prepare, run, release };

double
img_threshold_computed_cpu (const void *state)
{
  return state ? ((const State *) state)->computed : -1;
}
