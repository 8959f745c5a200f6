/* resize-arith.h: which pixels make a pixel, and with which weights. */
#include "resize-arith.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* A direction of the picture, and then of one of its planes. */
typedef struct {
  ImgResizeMethod method;
  bool enlarges; /* any direction of the picture does */
  bool box;      /* the scale is an integer, and so is the other one's */
  int src;       /* size of the source plane */
  double scale;  /* source / destination, and the inverse */
  double inverse;
  double origin; /* first output of the rectangle */
  double from, to; /* where a sample lies in its cell of size 1 */
} Axis;

static double
sinc (double t)
{
  return fabs (t) < 1e-9 ? 1 : sin (M_PI * t) / (M_PI * t);
}

static void
normalize (double *weight, int n)
{
  double sum = 0;

  for (int k = 0; k < n; k++)
    sum += weight[k];
  for (int k = 0; k < n; k++)
    weight[k] /= sum;
}

/* Weights of inputs -1..2 for a position 0 <= t < 1. */
static void
cubic_weights (double t, double *weight)
{
  const double a = -0.75, u = 1 - t;

  weight[0] = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a;
  weight[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
  weight[2] = ((a + 2) * u - (a + 3)) * u * u + 1;
  weight[3] = 1 - weight[0] - weight[1] - weight[2];
}

/* Weights of inputs -3..4. */
static void
lanczos_weights (double t, double *weight)
{
  for (int k = 0; k < 8; k++)
    weight[k] = sinc (t + 3 - k) * sinc ((t + 3 - k) / 4);
  normalize (weight, 8);
}

/* Where the interval of inputs that output `j` covers begins. */
static double
interval_begin (const Axis *axis, double j)
{
  return (j - axis->origin) * axis->scale
      + (axis->to - 0.5) * axis->scale - (axis->from - 0.5);
}

/* Shares of the inputs in the interval of output `j`, cut to the plane, which
 * has `taps` at most; returns the first input. OpenCV leaves out slivers. */
static int
area_weights (const Axis *axis, double j, int taps, double *weight)
{
  const double a = interval_begin (axis, j), b = a + axis->scale;
  const double begin = fmax (a, 0), end = fmin (b, axis->src);
  int first = (int) floor (begin + 1e-3), n = 0;

  memset (weight, 0, taps * sizeof (*weight));
  if (end - begin < 1e-3) {
    weight[0] = 1;
    return (int) floor ((a + b) / 2);
  }
  for (int i = first; i < end - (n > 0 ? 1e-3 : 0) && n < taps; i++, n++)
    weight[n] = fmin (i + 1, end) - fmax (i, begin);
  normalize (weight, n);
  return first;
}

/* As OpenCV does where one direction is enlarged: there, area_weights (). */
static int
area_pair_weights (const Axis *axis, double j, double *weight)
{
  const double i = j - axis->origin;
  const double shift = interval_begin (axis, axis->origin);
  const double sample = floor (i * axis->scale + shift);
  double t = (i + 1) + shift * axis->inverse - (sample + 1) * axis->inverse;

  t = t <= 0 ? 0 : t - floor (t);
  weight[0] = 1 - t;
  weight[1] = t;
  return (int) sample;
}

static int
box_weights (const Axis *axis, double j, int taps, double *weight)
{
  for (int k = 0; k < taps; k++)
    weight[k] = 1;
  return (int) (j - axis->origin) * taps;
}

/* The weights of the inputs of output `j`, and the first input. */
static int
weigh (const Axis *axis, double j, int taps, double *weight)
{
  const double centre = (j - axis->origin + axis->to) * axis->scale
      - axis->from;
  const double sample = floor (centre), t = centre - sample;

  switch (axis->method) {
    case IMG_RESIZE_NEAREST:
      weight[0] = 1;
      return (int) floor ((j - floor (axis->origin)) * axis->scale);
    case IMG_RESIZE_LINEAR:
      weight[0] = 1 - t;
      weight[1] = t;
      return (int) sample;
    case IMG_RESIZE_CUBIC:
      cubic_weights (t, weight);
      return (int) sample - 1;
    case IMG_RESIZE_LANCZOS:
      lanczos_weights (t, weight);
      return (int) sample - 3;
    default:
      return axis->box ? box_weights (axis, j, taps, weight)
          : axis->enlarges ? area_pair_weights (axis, j, weight)
          : area_weights (axis, j, taps, weight);
  }
}

static int
count_taps (const Axis *axis)
{
  if (axis->box)
    return (int) axis->scale;
  switch (axis->method) {
    case IMG_RESIZE_NEAREST:
      return 1;
    case IMG_RESIZE_CUBIC:
      return 4;
    case IMG_RESIZE_LANCZOS:
      return 8;
    case IMG_RESIZE_AREA:
      return axis->enlarges ? 2 : (int) ceil (axis->scale) + 1;
    default:
      return 2;
  }
}

/* Fills output `i` of `result`: inputs outside of the plane give their weights
 * to those at its edge. */
static void
fill_output (const Axis *axis, int i, int taps, double *raw,
    ImgResizeAxis *result)
{
  const int first = weigh (axis, result->begin + i, taps, raw);
  const int inside = img_clamp (first, 0, axis->src - result->taps);
  float *weight = result->weight + (size_t) i * result->taps;
  int last = -1;

  result->first[i] = inside;
  for (int k = 0; k < taps; k++) {
    const int at = img_clamp (first + k, 0, axis->src - 1) - inside;

    /* several at an edge are added up before they are rounded */
    if (at == last)
      raw[k] += raw[k - 1];
    weight[at] = (float) raw[k];
    last = at;
  }
}

/* Takes tap `k`, the first or the last, away if nothing is ever taken from it.
 */
static bool
drop_tap (ImgResizeAxis *axis, int k)
{
  const int n = axis->end - axis->begin, taps = axis->taps;

  for (int i = 0; i < n; i++)
    if (axis->weight[(size_t) i * taps + k] != 0)
      return false;
  for (int i = 0; i < n; i++) {
    axis->first[i] += k == 0;
    memmove (axis->weight + (size_t) i * (taps - 1),
        axis->weight + (size_t) i * taps + (k == 0),
        (taps - 1) * sizeof (float));
  }
  axis->taps--;
  return true;
}

static bool
make_axis (const Axis *axis, int begin, int end, ImgResizeAxis *result,
    ImgError *error)
{
  const int taps = count_taps (axis);
  double *raw = malloc (taps * sizeof (*raw));
  const size_t n = (size_t) end - begin;

  result->begin = begin;
  result->end = end;
  result->taps = taps < axis->src ? taps : axis->src;
  result->first = malloc (n * sizeof (int));
  result->weight = calloc (n * result->taps, sizeof (float));
  if (!raw || !result->first || !result->weight) {
    free (raw);
    return img_fail (error, IMG_ERROR_NO_MEMORY, "resize: out of memory");
  }
  for (size_t i = 0; i < n; i++)
    fill_output (axis, (int) i, taps, raw, result);
  free (raw);
  while (result->taps > 1 && drop_tap (result, result->taps - 1));
  while (result->taps > 1 && drop_tap (result, 0));
  return true;
}

/* One direction of a plane, subsampled `sub` times, of sizes `src` and `dst`;
 * `at` and `size` are those of the rectangle in the picture. Chroma that is
 * cosited lies on the first of its luma samples, else amid them. */
static bool
plan_axis (Axis axis, int sub, int src, int dst, int at, int size, bool to_end,
    const bool cosited[2], ImgResizeAxis *result, ImgError *error)
{
  const int cell = 1 << sub;
  int begin = at >> sub, end = (at + size + cell - 1) >> sub;

  axis.src = src;
  axis.origin = (double) at / cell;
  axis.from = cosited[0] ? 0.5 / cell : 0.5;
  axis.to = cosited[1] ? 0.5 / cell : 0.5;
  /* a field may have fewer rows of chroma than its luma asks for */
  end = to_end || end > dst ? dst : end;
  begin = begin < end ? begin : end;
  if (src == 0) /* or none at all */
    begin = end = 0;
  return begin == end || make_axis (&axis, begin, end, result, error);
}

static bool
is_integer (double value)
{
  return fabs (value - rint (value)) < DBL_EPSILON;
}

static Axis
picture_axis (ImgResizeMethod method, int src, int dst)
{
  Axis axis = { method };

  axis.inverse = (double) dst / src;
  axis.scale = 1 / axis.inverse;
  return axis;
}

static void
join_axes (Axis *x, Axis *y)
{
  const bool integer = is_integer (x->scale) && is_integer (y->scale);

  if (x->method == IMG_RESIZE_LINEAR && integer && rint (x->scale) == 2
      && rint (y->scale) == 2)
    x->method = y->method = IMG_RESIZE_AREA;
  x->enlarges = y->enlarges = x->scale < 1 || y->scale < 1;
  x->box = y->box = x->method == IMG_RESIZE_AREA && integer && !x->enlarges;
  if (x->box) {
    x->scale = rint (x->scale);
    y->scale = rint (y->scale);
  }
}

static void
set_black (const ImgView *view, const ImgPlane *plane, ImgResizePlane *result)
{
  const ImgLevels levels = img_view_levels (view);

  for (int c = 0; c < plane->channels; c++) {
    const ImgChannel channel = plane->channel[c];

    result->black[c] = (!img_channel_is_color (channel) ? levels.max
        : img_channel_is_chroma (channel) ? levels.neutral
        : levels.black) << view->shift;
  }
}

/* The mean over a box: inputs of weight 1, and one multiplication, as OpenCV
 * does it. Its 2x2 adds a half and cuts: in float32 that is exact. */
static void
set_scale (ImgResizePlane *plane, bool box)
{
  const int area = plane->x.taps * plane->y.taps;

  plane->halves = box && plane->x.taps == 2 && plane->y.taps == 2;
  plane->bias = plane->halves ? 0.5f : 0;
  plane->scale = box ? 1.0f / (float) area : 1;
}

/* Whether the boxes of a plane are made of whole samples. */
static bool
box_fits (const Axis *axis, int sub, int src, int at, int size,
    const bool cosited[2])
{
  const int cell = 1 << sub;

  return axis->box && at % cell == 0
      && src == axis->scale * ((size + cell - 1) >> sub)
      && (sub == 0 || !(cosited[0] || cosited[1]));
}

static bool
plan_plane (Axis x, Axis y, const ImgView *src, const ImgView *dst, int i,
    const ImgResizeParams *r, ImgResizePlane *result, ImgError *error)
{
  const ImgPlane *from = &src->plane[i], *to = &dst->plane[i];
  const bool h[] = { src->h_cosited, dst->h_cosited };
  const bool v[] = { src->v_cosited, dst->v_cosited };

  x.box = y.box = box_fits (&x, from->x_sub, from->width, r->x, r->width, h)
      && box_fits (&y, from->y_sub, from->height, r->y, r->height, v);
  if (!plan_axis (x, from->x_sub, from->width, to->width, r->x, r->width,
          r->x + r->width == dst->width, h, &result->x, error)
      || !plan_axis (y, from->y_sub, from->height, to->height, r->y,
          r->height, r->y + r->height == dst->height, v, &result->y, error))
    return false;
  set_scale (result, x.box);
  set_black (dst, to, result);
  return true;
}

static bool
check_views (const ImgView *src, const ImgView *dst, ImgError *error)
{
  bool same = src->model == dst->model && src->depth == dst->depth
      && src->shift == dst->shift && src->n_planes == dst->n_planes
      && src->component_bytes == dst->component_bytes
      && src->full_range == dst->full_range;

  for (int i = 0; same && i < src->n_planes; i++) {
    const ImgPlane *a = &src->plane[i], *b = &dst->plane[i];

    same = a->channels == b->channels && a->x_sub == b->x_sub
        && a->y_sub == b->y_sub
        && memcmp (a->channel, b->channel, sizeof (a->channel)) == 0;
  }
  return same || img_fail (error, IMG_ERROR_UNSUPPORTED,
      "resize: source and destination differ in format");
}

static bool
resolve_rectangle (ImgResizeParams *p, const ImgView *dst, ImgError *error)
{
  if (p->width == 0)
    p->width = dst->width - p->x;
  if (p->height == 0)
    p->height = dst->height - p->y;
  if (p->x >= 0 && p->y >= 0 && p->width > 0 && p->height > 0
      && p->x <= dst->width - p->width && p->y <= dst->height - p->height)
    return true;
  return img_fail (error, IMG_ERROR_SETTINGS, "resize: the rectangle of "
      "%dx%d at %d,%d is not within the picture of %dx%d", p->width, p->height,
      p->x, p->y, dst->width, dst->height);
}

bool
img_resize_plan (ImgResizePlan *plan, const ImgView *src, const ImgView *dst,
    const ImgResizeParams *params, ImgError *error)
{
  ImgResizeParams p = *params;
  Axis x, y;

  if (!check_views (src, dst, error)
      || !img_check_enum ("resize: method", p.method, 5, error)
      || !resolve_rectangle (&p, dst, error))
    return false;
  x = picture_axis (p.method, src->width, p.width);
  y = picture_axis (p.method, src->height, p.height);
  join_axes (&x, &y);
  for (int i = 0; i < src->n_planes; i++)
    if (!plan_plane (x, y, src, dst, i, &p, &plan->plane[i], error))
      return false;
  return true;
}

void
img_resize_plan_clear (ImgResizePlan *plan)
{
  for (int i = 0; i < IMG_MAX_PLANES; i++) {
    free (plan->plane[i].x.first);
    free (plan->plane[i].x.weight);
    free (plan->plane[i].y.first);
    free (plan->plane[i].y.weight);
  }
  memset (plan, 0, sizeof (*plan));
}
