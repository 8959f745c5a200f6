/* cvtcolor.h on the CPU: the plan of a conversion, which the GPU uses too, and
 * its way through the rows, in blocks of columns that stay in the cache. */
#include "cvtcolor.h"

#include <stdint.h>
#include <string.h>

#include "cvtcolor-arith.h"
#include "parallel.h"
#include "vector.h"

#define BLOCK 256 /* columns, even */
#define SPAN (2 * BLOCK + 2) /* samples of the source for a block */
#define PIECE_PIXELS (64 * 1024) /* that are worth waking another thread */

/* the plan */

/* How numbers of one component stand for values: v = offset + range * n. */
typedef struct {
  double offset, range;
} Scale;

static Scale
scale_of (const ImgView *view, int component)
{
  const ImgLevels levels = img_view_levels (view);

  if (view->model == IMG_MODEL_RGB || component == 0)
    return (Scale) { levels.black, levels.white - levels.black };
  return (Scale) { levels.neutral,
    view->full_range ? levels.max : 224 << (view->depth - 8) };
}

/* Kr, Kg and Kb. */
static void
weights_of (ImgMatrix matrix, double k[3])
{
  static const double red[] = { 0.299, 0.2126, 0.2627 };
  static const double blue[] = { 0.114, 0.0722, 0.0593 };

  k[0] = red[matrix];
  k[1] = 1 - red[matrix] - blue[matrix];
  k[2] = blue[matrix];
}

static void
rgb_from_yuv (ImgMatrix matrix, double m[3][3])
{
  double k[3];

  weights_of (matrix, k);
  const double r = 2 * (1 - k[0]), b = 2 * (1 - k[2]);
  const double result[3][3] = { { 1, 0, r },
    { 1, -b * k[2] / k[1], -r * k[0] / k[1] }, { 1, b, 0 } };

  memcpy (m, result, sizeof (result));
}

static void
yuv_from_rgb (ImgMatrix matrix, double m[3][3])
{
  double k[3];

  weights_of (matrix, k);
  const double r = 2 * (1 - k[0]), b = 2 * (1 - k[2]);
  const double result[3][3] = { { k[0], k[1], k[2] },
    { -k[0] / b, -k[1] / b, (1 - k[2]) / b },
    { (1 - k[0]) / r, -k[1] / r, -k[2] / r } };

  memcpy (m, result, sizeof (result));
}

static void
multiply (double a[3][3], double b[3][3], double m[3][3])
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      m[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
}

/* Between values on their scales. Grey is YUV without chroma. */
static void
model_matrix (const ImgView *src, const ImgView *dst, double m[3][3])
{
  static const double same[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
  double to_rgb[3][3], from_rgb[3][3];

  rgb_from_yuv (src->matrix, to_rgb);
  yuv_from_rgb (dst->matrix, from_rgb);
  memcpy (m, same, sizeof (same));
  if (src->model == IMG_MODEL_YUV && dst->model == IMG_MODEL_YUV
      && src->matrix != dst->matrix) {
    multiply (from_rgb, to_rgb, m);
    m[0][0] = 1;
    m[1][0] = m[2][0] = 0;
  } else if (src->model == IMG_MODEL_RGB && dst->model == IMG_MODEL_YUV) {
    memcpy (m, from_rgb, sizeof (from_rgb));
  } else if (src->model != IMG_MODEL_RGB && dst->model == IMG_MODEL_RGB) {
    memcpy (m, to_rgb, sizeof (to_rgb));
  }
  if (src->model == IMG_MODEL_GRAY || dst->model == IMG_MODEL_GRAY)
    for (int i = 0; i < 3; i++)
      m[i][1] = m[i][2] = 0;
}

static void
plan_mix (ImgCvtcolorPlan *plan, const ImgView *src, const ImgView *dst)
{
  double m[3][3];

  model_matrix (src, dst, m);
  for (int i = 0; i < 3; i++) {
    const Scale to = scale_of (dst, i);
    double offset = to.offset;

    for (int j = 0; j < 3; j++) {
      const Scale from = scale_of (src, j);
      const double factor = m[i][j] * (to.range / from.range);

      plan->mix[i][j] = (float) factor;
      offset -= factor * from.offset;
    }
    plan->mix[i][3] = (float) offset;
  }
}

static ImgResample
resample_kind (int src_sub, bool src_cosited, int dst_sub, bool dst_cosited)
{
  if (src_sub > dst_sub)
    return src_cosited ? IMG_RESAMPLE_UP_COSITED : IMG_RESAMPLE_UP_CENTRED;
  if (src_sub < dst_sub)
    return dst_cosited ? IMG_RESAMPLE_DOWN_COSITED
        : IMG_RESAMPLE_DOWN_CENTRED;
  if (src_sub == 0 || src_cosited == dst_cosited)
    return IMG_RESAMPLE_SAME;
  return dst_cosited ? IMG_RESAMPLE_TO_COSITED : IMG_RESAMPLE_TO_CENTRED;
}

static void
plan_resampling (ImgCvtcolorPlan *plan, const ImgView *src, const ImgView *dst)
{
  const int last = src->n_planes - 1, dst_last = dst->n_planes - 1;

  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) {
      const bool from = i && plan->src_chroma, to = j && plan->chroma;

      plan->h[i][j] = resample_kind (from ? src->plane[last].x_sub : 0,
          src->h_cosited, to ? dst->plane[dst_last].x_sub : 0, dst->h_cosited);
      plan->v[i][j] = resample_kind (from ? src->plane[last].y_sub : 0,
          src->v_cosited, to ? dst->plane[dst_last].y_sub : 0, dst->v_cosited);
    }
}

static int
component_of (ImgChannel channel)
{
  switch (channel) {
    case IMG_CHANNEL_Y:
    case IMG_CHANNEL_R:
      return 0;
    case IMG_CHANNEL_U:
    case IMG_CHANNEL_G:
      return 1;
    case IMG_CHANNEL_V:
    case IMG_CHANNEL_B:
      return 2;
    default:
      return IMG_CVTCOLOR_ALPHA;
  }
}

static void
plan_channels (const ImgView *view, ImgCvtcolorChannel channels[4])
{
  for (int i = 0; i < view->n_planes; i++) {
    const ImgPlane *plane = &view->plane[i];

    for (int c = 0; c < plane->channels; c++)
      channels[component_of (plane->channel[c])] = (ImgCvtcolorChannel) {
        (unsigned char *) plane->data + c * view->component_bytes,
        plane->stride, plane->channels * view->component_bytes, plane->width,
        plane->height
      };
  }
}

static bool
has_channel (const ImgView *view, ImgChannel channel)
{
  for (int i = 0; i < view->n_planes; i++)
    for (int c = 0; c < view->plane[i].channels; c++)
      if (view->plane[i].channel[c] == channel)
        return true;
  return false;
}

static void
plan_alpha (ImgCvtcolorPlan *plan, const ImgView *src, const ImgView *dst,
    double alpha)
{
  plan->alpha = plan->max;
  plan->alpha_scale = 0;
  if (!has_channel (dst, IMG_CHANNEL_A))
    return;
  if (has_channel (src, IMG_CHANNEL_A))
    plan->alpha_scale = (float) plan->max / (float) img_view_levels (src).max;
  else
    plan->alpha = img_round_clamp ((float) (alpha * plan->max / 255), 0,
        plan->max);
}

ImgCvtcolorPlan
img_cvtcolor_plan (const ImgView *src, const ImgView *dst,
    const ImgCvtcolorParams *params)
{
  ImgCvtcolorPlan plan = { 0 };
  ImgView from = *src;

  plan.src_bytes = src->component_bytes;
  plan.src_shift = src->shift;
  plan.dst_bytes = dst->component_bytes;
  plan.dst_shift = dst->shift;
  plan.n_dst = dst->model == IMG_MODEL_GRAY ? 1 : 3;
  plan.chroma = dst->model == IMG_MODEL_YUV;
  plan.src_chroma = src->model == IMG_MODEL_YUV;
  plan.neutral = img_view_levels (src).neutral;
  plan.max = img_view_levels (dst).max;
  plan.luma = src->model == IMG_MODEL_RGB && dst->model == IMG_MODEL_GRAY;
  if (plan.luma)
    from.model = IMG_MODEL_GRAY;
  plan_channels (src, plan.src);
  plan_channels (dst, plan.dst);
  plan_mix (&plan, &from, dst);
  plan_resampling (&plan, src, dst);
  plan_alpha (&plan, src, dst, params->alpha);
  return plan;
}

bool
img_cvtcolor_check (const ImgView *src, const ImgView *dst,
    const ImgCvtcolorParams *params, ImgError *error)
{
  if (!(params->alpha >= 0 && params->alpha <= 255))
    return img_fail (error, IMG_ERROR_SETTINGS,
        "cvtcolor: alpha is %g; set 0 to 255", params->alpha);
  if (src->width != dst->width || src->height != dst->height)
    return img_fail (error, IMG_ERROR_UNSUPPORTED,
        "cvtcolor: source and destination differ in size");
  return true;
}

/* rows */

/* With a constant `step` the compiler knows how to load vectors; it does so
 * best between bytes. */
static inline void
pick_step (const uint8_t *from, int step, int n, uint8_t *to)
{
  for (int x = 0; x < n; x++)
    to[x] = from[x * step];
}

static IMG_VECTOR void
widen8 (const uint8_t *from, int step, int n, float *to)
{
  uint8_t row[SPAN];

  if (step == 2)
    pick_step (from, 2, n, row);
  else if (step == 3)
    pick_step (from, 3, n, row);
  else if (step == 4)
    pick_step (from, 4, n, row);
  if (step > 1)
    from = row;
  for (int x = 0; x < n; x++)
    to[x] = from[x];
}

static IMG_VECTOR void
widen16 (const uint16_t *from, int step, int shift, int n, float *to)
{
  for (int x = 0; x < n; x++)
    to[x] = (float) (from[x * step] >> shift);
}

/* Samples first..first+n-1 of a row; beyond its ends stands the last one. */
static void
load (const ImgCvtcolorPlan *plan, const ImgCvtcolorChannel *c, int first,
    int n, int y, float *to)
{
  const int begin = first < 0 ? 0 : first;
  const int end = first + n < c->width ? first + n : c->width;
  const unsigned char *from = c->data + img_clamp (y, 0, c->height - 1)
      * c->stride + (ptrdiff_t) begin * c->step;

  if (plan->src_bytes == 1)
    widen8 (from, c->step, end - begin, to + (begin - first));
  else
    widen16 ((const uint16_t *) from, c->step / 2, plan->src_shift,
        end - begin, to + (begin - first));
  for (int x = first; x < begin; x++)
    to[x - first] = to[begin - first];
  for (int x = end; x < first + n; x++)
    to[x - first] = to[end - 1 - first];
}

static IMG_VECTOR void
accumulate (const float *from, float weight, int n, float *sum)
{
  for (int x = 0; x < n; x++)
    sum[x] += weight * from[x];
}

static float
weight_of (ImgResample kind, int i, int tap)
{
  return (float) (img_resample_quarters (kind, i) >> 8 * tap & 0xff) / 4;
}

/* The row of `kind` around row `y` of the result: samples first..first+n-1. */
static void
resample_rows (const ImgCvtcolorPlan *plan, const ImgCvtcolorChannel *c,
    ImgResample kind, int first, int n, int y, float *sum)
{
  const int base = img_resample_base (kind, y);
  float row[SPAN];

  if (c->height == 0) {
    for (int x = 0; x < n; x++)
      sum[x] = (float) plan->neutral;
    return;
  }
  if (kind == IMG_RESAMPLE_SAME) {
    load (plan, c, first, n, base, sum);
    return;
  }
  memset (sum, 0, n * sizeof (*sum));
  for (int tap = 0; tap < 3; tap++) {
    const float weight = weight_of (kind, y, tap);

    if (weight == 0)
      continue;
    load (plan, c, first, n, base + tap - 1, row);
    accumulate (row, weight, n, sum);
  }
}

/* out[x] = the three samples around from[step * x], by weight. */
static IMG_VECTOR void
resample3 (const float *from, int step, const float w[3], int n, float *out)
{
  if (step == 1)
    for (int x = 0; x < n; x++)
      out[x] = w[0] * from[x - 1] + w[1] * from[x] + w[2] * from[x + 1];
  else
    for (int x = 0; x < n; x++)
      out[x] = w[0] * from[2 * x - 1] + w[1] * from[2 * x]
          + w[2] * from[2 * x + 1];
}

/* Two results for each sample: of weights `even` and `odd`. */
static IMG_VECTOR void
resample_up (const float *from, const float even[3], const float odd[3], int n,
    float *out)
{
  for (int x = 0; x < (n + 1) / 2; x++) {
    out[2 * x] = even[0] * from[x - 1] + even[1] * from[x];
    out[2 * x + 1] = odd[1] * from[x] + odd[2] * from[x + 1];
  }
}

/* Component `s` of the source at samples x..x+n-1 of row `y` of the result's
 * luma or (`chroma`) chroma. `x` is a multiple of BLOCK, n at most BLOCK, and
 * `out` has room for a block. */
static void
resample (const ImgCvtcolorPlan *plan, int s, bool chroma, int x, int n, int y,
    float *out)
{
  const ImgCvtcolorChannel *c = &plan->src[s];
  const ImgResample h = plan->h[s > 0][chroma], v = plan->v[s > 0][chroma];
  const int first = img_resample_base (h, x) - 1;
  const int last = img_resample_base (h, x + n - 1) + 1;
  float even[3], odd[3], sum[SPAN];

  if (h == IMG_RESAMPLE_SAME) {
    resample_rows (plan, c, v, x, n, y, out);
    return;
  }
  resample_rows (plan, c, v, first, last - first + 1, y, sum);
  for (int tap = 0; tap < 3; tap++) {
    even[tap] = weight_of (h, 0, tap);
    odd[tap] = weight_of (h, 1, tap);
  }
  if (h == IMG_RESAMPLE_UP_COSITED || h == IMG_RESAMPLE_UP_CENTRED)
    resample_up (sum + 1, even, odd, n, out);
  else
    resample3 (sum + 1, img_resample_base (h, 1), even, n, out);
}

static IMG_VECTOR void
mix_luma (float *r, const float *g, const float *b, int n)
{
  for (int x = 0; x < n; x++)
    r[x] = (float) img_luma ((int) r[x], (int) g[x], (int) b[x]);
}

/* Adding and subtracting 1.5 * 2^23 rounds to nearest, ties to even. */
static IMG_VECTOR void
mix_row (const float *a, const float *b, const float *c, const float m[4],
    float max, int n, uint16_t *restrict to)
{
  const float round = 12582912.0f;

  for (int x = 0; x < n; x++) {
    float value = ((m[3] + m[0] * a[x]) + m[1] * b[x]) + m[2] * c[x];

    value = value > 0 ? value : 0;
    value = value < max ? value : max;
    to[x] = (uint16_t) (int) ((value + round) - round);
  }
}

/* Components begin..end-1 of the result, at samples x..x+n-1 of row `y` of its
 * luma or chroma. */
static void
convert (const ImgCvtcolorPlan *plan, int begin, int end, bool chroma, int x,
    int n, int y, uint16_t (*to)[BLOCK])
{
  float row[3][BLOCK];
  const float *from[3] = { row[0], row[0], row[0] };

  memset (row[0], 0, n * sizeof (row[0][0]));
  for (int s = 0; s < 3; s++) {
    bool used = plan->luma;

    for (int i = begin; i < end; i++)
      used |= plan->mix[i][s] != 0;
    if (used) {
      resample (plan, s, chroma, x, n, y, row[s]);
      from[s] = row[s];
    }
  }
  if (plan->luma)
    mix_luma (row[0], row[1], row[2], n);
  for (int i = begin; i < end; i++)
    mix_row (from[0], from[1], from[2], plan->mix[i], (float) plan->max, n,
        to[i]);
}

static void
convert_alpha (const ImgCvtcolorPlan *plan, int x, int n, int y, uint16_t *to)
{
  const float scale[4] = { plan->alpha_scale, 0, 0, 0 };
  float row[BLOCK];

  if (plan->alpha_scale != 0) {
    load (plan, &plan->src[IMG_CVTCOLOR_ALPHA], x, n, y, row);
    mix_row (row, row, row, scale, (float) plan->max, n, to);
  } else {
    for (int i = 0; i < n; i++)
      to[i] = (uint16_t) plan->alpha;
  }
}

static IMG_VECTOR void
narrow (const uint16_t *from, int n, uint8_t *to)
{
  for (int x = 0; x < n; x++)
    to[x] = (uint8_t) from[x];
}

static IMG_VECTOR void
join2 (const uint16_t *restrict a, const uint16_t *restrict b, int n,
    uint8_t *restrict to)
{
  for (int x = 0; x < n; x++) {
    to[2 * x] = (uint8_t) a[x];
    to[2 * x + 1] = (uint8_t) b[x];
  }
}

static IMG_VECTOR void
join3 (const uint16_t *restrict a, const uint16_t *restrict b,
    const uint16_t *restrict c, int n, uint8_t *restrict to)
{
  for (int x = 0; x < n; x++) {
    to[3 * x] = (uint8_t) a[x];
    to[3 * x + 1] = (uint8_t) b[x];
    to[3 * x + 2] = (uint8_t) c[x];
  }
}

static IMG_VECTOR void
join4 (const uint16_t *restrict a, const uint16_t *restrict b,
    const uint16_t *restrict c, const uint16_t *restrict d, int n,
    uint8_t *restrict to)
{
  for (int x = 0; x < n; x++) {
    to[4 * x] = (uint8_t) a[x];
    to[4 * x + 1] = (uint8_t) b[x];
    to[4 * x + 2] = (uint8_t) c[x];
    to[4 * x + 3] = (uint8_t) d[x];
  }
}

static void
join (const uint16_t *const from[4], int channels, int n, uint8_t *to)
{
  if (channels == 1)
    narrow (from[0], n, to);
  else if (channels == 2)
    join2 (from[0], from[1], n, to);
  else if (channels == 3)
    join3 (from[0], from[1], from[2], n, to);
  else
    join4 (from[0], from[1], from[2], from[3], n, to);
}

static IMG_VECTOR void
shift_up (const uint16_t *from, int shift, int step, int n, uint16_t *to)
{
  for (int x = 0; x < n; x++)
    to[step * x] = (uint16_t) (from[x] << shift);
}

static void
store (const ImgView *dst, const ImgPlane *plane, uint16_t (*from)[BLOCK],
    int x, int n, int y)
{
  const uint16_t *rows[IMG_MAX_CHANNELS];
  char *to = (char *) plane->data + y * plane->stride
      + (ptrdiff_t) x * plane->channels * dst->component_bytes;

  for (int c = 0; c < plane->channels; c++)
    rows[c] = from[component_of (plane->channel[c])];
  if (dst->component_bytes == 1)
    join (rows, plane->channels, n, (uint8_t *) to);
  else
    for (int c = 0; c < plane->channels; c++)
      shift_up (rows[c], dst->shift, plane->channels, n, (uint16_t *) to + c);
}

typedef struct {
  const ImgView *dst;
  ImgCvtcolorPlan plan;
  int chroma_sub; /* log2 of the rows that share a row of chroma */
} Job;

static void
convert_row (const Job *job, bool chroma, int y)
{
  const ImgView *dst = job->dst;
  const ImgPlane *planes = dst->plane;
  const bool yuv = job->plan.chroma;
  const int width = planes[chroma ? dst->n_planes - 1 : 0].width;
  uint16_t to[4][BLOCK];

  for (int x = 0; x < width; x += BLOCK) {
    const int n = width - x < BLOCK ? width - x : BLOCK;

    convert (&job->plan, chroma ? 1 : 0, yuv && !chroma ? 1 : job->plan.n_dst,
        chroma, x, n, y, to);
    if (job->plan.dst[IMG_CVTCOLOR_ALPHA].data && !chroma)
      convert_alpha (&job->plan, x, n, y, to[IMG_CVTCOLOR_ALPHA]);
    for (int i = 0; i < dst->n_planes; i++)
      if (img_channel_is_chroma (planes[i].channel[0]) == chroma)
        store (dst, &planes[i], to, x, n, y);
  }
}

/* Each row of chroma, and the rows of luma that share it. */
static void
convert_rows (int begin, int end, void *data)
{
  const Job *job = data;
  const ImgPlane *last = &job->dst->plane[job->dst->n_planes - 1];

  for (int i = begin; i < end; i++) {
    for (int k = 0; k < 1 << job->chroma_sub; k++)
      if ((i << job->chroma_sub) + k < job->dst->height)
        convert_row (job, false, (i << job->chroma_sub) + k);
    if (job->plan.chroma && i < last->height)
      convert_row (job, true, i);
  }
}

static bool
prepare (void **state, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  return img_cvtcolor_check (src, dst, params, error);
}

static bool
run (void *state, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  const int sub = dst->plane[dst->n_planes - 1].y_sub;
  const Job job = { dst, img_cvtcolor_plan (src, dst, params), sub };
  const int rows = (dst->height + (1 << sub) - 1) >> sub;

  img_parallel_rows (rows, 1 + PIECE_PIXELS / (dst->width << sub),
      convert_rows, (void *) &job);
  return true;
}

static void
release (void *state)
{
}

const ImgOperation img_cvtcolor_cpu = { "cvtcolor",
  sizeof (ImgCvtcolorParams), false, prepare, run, release };
