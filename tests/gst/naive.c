/* The elements' pictures by plain loops; see naive.h. */
#include "naive.h"

#include <complex.h>
#include <gst/check/gstcheck.h>
#include <math.h>

#define MAX_RADIUS 512

/* One component of a picture or of a field of it. */
typedef struct {
  gint w, h;
  gint *v;
} Plane;

typedef struct {
  Plane c[GST_VIDEO_MAX_COMPONENTS];
  guint n;
  guint n_color; /* components before alpha */
  gboolean rgb, yuv;
  gint depth, max, black, white, neutral;
} Scene;

/* properties */

const gchar *
naive_nick (GstElement * element, const gchar * property)
{
  GValue value = G_VALUE_INIT;
  const gchar *nick;

  g_object_get_property (G_OBJECT (element), property, &value);
  nick = g_enum_get_value (G_ENUM_CLASS (g_type_class_peek (G_VALUE_TYPE
              (&value))), g_value_get_enum (&value))->value_nick;
  g_value_unset (&value);
  return nick;
}

static gboolean
is (GstElement * element, const gchar * property, const gchar * nick)
{
  return g_str_equal (naive_nick (element, property), nick);
}

/* An int, double or boolean property. */
static gdouble
number (GstElement * element, const gchar * property)
{
  GValue value = G_VALUE_INIT, converted = G_VALUE_INIT;
  gdouble result;

  g_object_get_property (G_OBJECT (element), property, &value);
  if (G_VALUE_HOLDS_BOOLEAN (&value))
    return g_value_get_boolean (&value);
  g_value_init (&converted, G_TYPE_DOUBLE);
  g_value_transform (&value, &converted);
  result = g_value_get_double (&converted);
  g_value_unset (&value);
  return result;
}

/* planes */

static Plane
plane_new (gint w, gint h)
{
  Plane plane = { w, h, g_new0 (gint, w * h) };

  return plane;
}

static Plane
plane_copy (const Plane * plane)
{
  Plane copy = plane_new (plane->w, plane->h);

  memcpy (copy.v, plane->v, sizeof (gint) * plane->w * plane->h);
  return copy;
}

static void
plane_fill (Plane * plane, gint value)
{
  for (gint i = 0; i < plane->w * plane->h; i++)
    plane->v[i] = value;
}

static gint
clamp_round (gdouble value, gint low, gint high)
{
  return (gint) CLAMP (rint (value), low, high);
}

/* The value at any position; `outside` beyond the edge of border=constant. */
static gint
plane_at (const Plane * plane, gint x, gint y, const gchar * border,
    gint outside)
{
  gint *pos[2] = { &x, &y }, size[2] = { plane->w, plane->h };

  for (gint d = 0; d < 2; d++) {
    gint *i = pos[d], n = size[d];

    while (*i < 0 || *i >= n) {
      if (g_str_equal (border, "constant"))
        return outside;
      if (g_str_equal (border, "replicate") || n == 1)
        *i = *i < 0 ? 0 : n - 1;
      else if (g_str_equal (border, "wrap"))
        *i += *i < 0 ? n : -n;
      else if (g_str_equal (border, "reflect"))
        *i = *i < 0 ? -1 - *i : 2 * n - 1 - *i;
      else
        *i = *i < 0 ? -*i : 2 * n - 2 - *i;
    }
  }
  return plane->v[y * plane->w + x];
}

/* BT.601 in 15 bits, as OpenCV; of grey and YUV the first component. */
static Plane
scene_luma (const Scene * s)
{
  Plane luma = plane_new (s->c[0].w, s->c[0].h);

  for (gint i = 0; i < luma.w * luma.h; i++)
    luma.v[i] = !s->rgb ? s->c[0].v[i]
        : (gint) ((9798LL * s->c[0].v[i] + 19235LL * s->c[1].v[i]
            + 3735LL * s->c[2].v[i] + 16384) / 32768);
  return luma;
}

/* Writes `luma` to all colour components; neutral chroma. */
static void
scene_set_luma (Scene * s, const Plane * luma)
{
  for (guint c = 0; c < s->n_color; c++)
    if (s->yuv && c > 0)
      plane_fill (&s->c[c], s->neutral);
    else
      memcpy (s->c[c].v, luma->v, sizeof (gint) * luma->w * luma->h);
}

/* 255 on the 8-bit scale is the way from black to white. */
static gdouble
scene_difference (const Scene * s, gdouble value)
{
  return value * (s->white - s->black) / 255.0;
}

/* The operations: `s` is the input and becomes the output. */

static void
invert (GstElement * element, Scene * s)
{
  for (guint c = 0; c < s->n; c++)
    for (gint i = 0; i < s->c[c].w * s->c[c].h; i++) {
      gint *v = &s->c[c].v[i];

      if (c < s->n_color && s->yuv && c > 0)
        *v = CLAMP (2 * s->neutral - *v, 0, s->max);
      else if (c < s->n_color)
        *v = CLAMP (s->black + s->white - *v, 0, s->max);
      else if (number (element, "invert-alpha") != 0)
        *v = s->max - *v;
    }
}

typedef struct {
  const gchar *type, *method;
  gdouble level, offset; /* in units of the depth */
  gint top, block_size;
} Threshold;

static Threshold
threshold_settings (GstElement * element, const Scene * s)
{
  Threshold t = { naive_nick (element, "type"),
    naive_nick (element, "method"), number (element, "threshold")
  };

  if (g_str_equal (t.method, "otsu") || g_str_equal (t.method, "triangle"))
    t.level = number (element, "computed-threshold");
  t.level = s->black + scene_difference (s, t.level);
  t.offset = scene_difference (s, number (element, "offset"));
  t.top = (gint) rint (s->black
      + scene_difference (s, number (element, "max-value")));
  t.block_size = (gint) number (element, "block-size");
  return t;
}

static gint
threshold_value (const Threshold * t, const Scene * s, gint v, gdouble level)
{
  gboolean above = v > level;

  if (g_str_equal (t->type, "binary"))
    return above ? t->top : s->black;
  if (g_str_equal (t->type, "binary-inv"))
    return above ? s->black : t->top;
  if (g_str_equal (t->type, "trunc"))
    return above ? CLAMP ((gint) floor (level), 0, s->max) : v;
  if (g_str_equal (t->type, "tozero"))
    return above ? v : s->black;
  return above ? s->black : v;
}

/* The mean of the block around a pixel, less offset. */
static gdouble
adaptive_level (const Threshold * t, const Plane * luma, gint x, gint y)
{
  gint r = t->block_size / 2;
  gboolean gaussian = g_str_equal (t->method, "adaptive-gaussian");
  gdouble sigma = 0.3 * (r - 1) + 0.8, sum = 0, weights = 0;

  for (gint j = -r; j <= r; j++)
    for (gint i = -r; i <= r; i++) {
      gdouble w = gaussian ? exp (-(i * i + j * j) / (2 * sigma * sigma)) : 1;

      sum += w * plane_at (luma, x + i, y + j, "replicate", 0);
      weights += w;
    }
  return rint (sum / weights) - t->offset;
}

static void
threshold_plane (GstElement * element, const Scene * s, Plane * plane)
{
  Threshold t = threshold_settings (element, s);
  gboolean adaptive = g_str_has_prefix (t.method, "adaptive");
  Plane in = plane_copy (plane);

  for (gint i = 0; i < in.w * in.h; i++)
    plane->v[i] = threshold_value (&t, s, in.v[i], adaptive
        ? adaptive_level (&t, &in, i % in.w, i / in.w) : t.level);
  g_free (in.v);
}

static void
threshold (GstElement * element, Scene * s)
{
  Plane luma;

  if (s->rgb && is (element, "channels", "each")
      && is (element, "method", "fixed")) {
    for (guint c = 0; c < s->n_color; c++)
      threshold_plane (element, s, &s->c[c]);
    return;
  }
  luma = scene_luma (s);
  threshold_plane (element, s, &luma);
  scene_set_luma (s, &luma);
  g_free (luma.v);
}

/* One derivative at a pixel: `d` differentiates in the direction (dx, dy), `k`
 * smooths across it. */
static gint
derivative (const Plane * plane, gint x, gint y, const gint * d,
    const gint * k, gint r, gboolean horizontal, const gchar * border,
    gint outside)
{
  gint sum = 0;

  for (gint j = -r; j <= r; j++)
    for (gint i = -r; i <= r; i++)
      sum += (horizontal ? d[i + r] * k[j + r] : k[i + r] * d[j + r])
          * plane_at (plane, x + i, y + j, border, outside);
  return sum;
}

typedef struct {
  const gchar *direction, *norm, *output;
  gdouble scale, delta, offset; /* in units of the depth */
} Sobel;

static gint
sobel_value (const Sobel * sobel, const Scene * s, gint gx, gint gy)
{
  gdouble v;

  if (g_str_equal (sobel->direction, "magnitude")) {
    v = g_str_equal (sobel->norm, "l1") ? abs (gx) + abs (gy) : hypot (gx, gy);
    v = v * sobel->scale + sobel->delta;
  } else {
    v = g_str_equal (sobel->direction, "x") ? gx : gy;
    v = v * sobel->scale + sobel->delta;
    if (g_str_equal (sobel->output, "abs"))
      v = fabs (v);
    else if (g_str_equal (sobel->output, "clip"))
      v = MAX (v, 0);
    else
      v += sobel->offset;
  }
  return clamp_round (s->black + v, s->black, s->white);
}

static void
sobel_plane (GstElement * element, const Scene * s, Plane * plane)
{
  static const gint d[4][7] = { {-1, 0, 1}, {-1, -2, 0, 2, 1},
  {-1, -4, -5, 0, 5, 4, 1}, {-1, 0, 1} };
  static const gint k[4][7] = { {1, 2, 1}, {1, 4, 6, 4, 1},
  {1, 6, 15, 20, 15, 6, 1}, {3, 10, 3} };
  gint r = (gint) number (element, "kernel-size") / 2;
  gint kind = is (element, "operator", "scharr") ? 3 : r - 1;
  const gchar *border = naive_nick (element, "border");
  Sobel sobel = { naive_nick (element, "direction"),
    naive_nick (element, "norm"), naive_nick (element, "output"),
    number (element, "scale"),
    scene_difference (s, number (element, "delta")),
    scene_difference (s, 128)
  };
  Plane in = plane_copy (plane);

  for (gint i = 0; i < in.w * in.h; i++)
    plane->v[i] = sobel_value (&sobel, s,
        derivative (&in, i % in.w, i / in.w, d[kind], k[kind], r, TRUE, border,
            s->black),
        derivative (&in, i % in.w, i / in.w, d[kind], k[kind], r, FALSE,
            border, s->black));
  g_free (in.v);
}

static void
sobel (GstElement * element, Scene * s)
{
  Plane luma;

  if (s->rgb && is (element, "channels", "each")) {
    for (guint c = 0; c < s->n_color; c++)
      sobel_plane (element, s, &s->c[c]);
    return;
  }
  luma = scene_luma (s);
  sobel_plane (element, s, &luma);
  scene_set_luma (s, &luma);
  g_free (luma.v);
}

/* Weights at the distances 0 … radius of OpenCV's kernel of a size and sigma,
 * shrunk to a component with half the samples if `halved`. */
static gint
gaussian_kernel (gint size, gdouble sigma, gboolean halved, gdouble * weight)
{
  static const gdouble fixed[5][5] = { {1}, {.5, .25}, {.375, .25, .0625},
  {.28125, .21875, .109375, .03125},
  {.234375, .19921875, .1171875, .05078125, .015625} };
  gdouble w[2 * MAX_RADIUS + 2] = { 0 }, sum = 0;
  gint r = size / 2;

  for (gint i = 0; i <= r; i++) {
    gdouble s = sigma > 0 ? sigma : 0.3 * ((size - 1) * 0.5 - 1) + 0.8;

    w[i] = sigma <= 0 && size <= 9 ? fixed[r][i] : exp (-i * i / (2 * s * s));
    sum += i ? 2 * w[i] : w[i];
  }
  for (gint i = 0; i <= r; i++)
    w[i] /= sum;
  for (gint j = 0; j < MAX_RADIUS; j++)
    weight[j] = halved
        ? w[2 * j] + (w[j ? 2 * j - 1 : 1] + w[2 * j + 1]) / 2 : w[j];
  return halved ? (r + 1) / 2 : r;
}

static void
gaussian_plane (const Plane * in, Plane * out, gint rx, const gdouble * wx,
    gint ry, const gdouble * wy, const gchar * border, gint outside, gint max)
{
  for (gint y = 0; y < in->h; y++)
    for (gint x = 0; x < in->w; x++) {
      gdouble sum = 0;

      for (gint j = -ry; j <= ry; j++)
        for (gint i = -rx; i <= rx; i++)
          sum += wx[ABS (i)] * wy[ABS (j)]
              * plane_at (in, x + i, y + j, border, outside);
      out->v[y * in->w + x] = clamp_round (sum, 0, max);
    }
}

static gint
gaussian_size (gdouble size, gdouble sigma, gint depth)
{
  return size > 0 ? (gint) size
      : (gint) rint (sigma * (depth > 8 ? 4 : 3) * 2 + 1) | 1;
}

static void
gaussian (GstElement * element, Scene * s)
{
  gdouble sx = number (element, "sigma-x"), sy = number (element, "sigma-y");
  gint w = gaussian_size (number (element, "kernel-width"), sx, s->depth);
  gint h = (gint) number (element, "kernel-height");
  gdouble wx[MAX_RADIUS], wy[MAX_RADIUS];

  if (h == 0)
    h = w;
  sy = sy > 0 ? sy : sx;
  for (guint c = 0; c < s->n_color; c++) {
    Plane in = plane_copy (&s->c[c]);
    gboolean chroma = s->yuv && c > 0;
    gint rx = gaussian_kernel (w, sx, chroma && s->c[c].w < s->c[0].w, wx);
    gint ry = gaussian_kernel (h, sy, chroma && s->c[c].h < s->c[0].h, wy);

    gaussian_plane (&in, &s->c[c], rx, wx, ry, wy,
        naive_nick (element, "border"), chroma ? s->neutral : s->black,
        s->max);
    g_free (in.v);
  }
}

static gdouble
window_value (const gchar * window, gint i, gint n)
{
  gdouble a = n > 1 ? 2 * G_PI * i / (n - 1) : G_PI;

  if (n == 1 || g_str_equal (window, "none"))
    return 1;
  if (g_str_equal (window, "hann"))
    return 0.5 - 0.5 * cos (a);
  if (g_str_equal (window, "hamming"))
    return 0.54 - 0.46 * cos (a);
  return 0.42 - 0.5 * cos (a) + 0.08 * cos (2 * a);
}

/* The discrete Fourier transform of n numbers, `step` apart, by its sum. */
static void
dft (complex double *data, gint n, gint step)
{
  complex double *out = g_new0 (complex double, n);
  complex double *root = g_new (complex double, n);

  for (gint k = 0; k < n; k++)
    root[k] = cexp (-2 * G_PI * I * k / n);
  for (gint k = 0; k < n; k++)
    for (gint i = 0; i < n; i++)
      out[k] += data[i * step] * root[k * i % n];
  for (gint k = 0; k < n; k++)
    data[k * step] = out[k];
  g_free (root);
  g_free (out);
}

static gdouble
fftmag_value (const gchar * scale, gdouble magnitude)
{
  if (g_str_equal (scale, "log"))
    return log (1 + magnitude);
  if (g_str_equal (scale, "linear"))
    return magnitude;
  if (g_str_equal (scale, "power"))
    return magnitude * magnitude;
  return 20 * log10 (MAX (magnitude, 1));
}

/* The spectrum of `luma`, in units of the property scale, shifted. */
static gdouble *
fftmag_spectrum (GstElement * element, const Scene * s, const Plane * luma)
{
  gint w = luma->w, h = luma->h;
  complex double *data = g_new (complex double, w * h);
  gdouble *value = g_new (gdouble, w * h);
  gboolean shift = number (element, "shift") != 0;
  const gchar *window = naive_nick (element, "window");
  const gchar *scale = naive_nick (element, "scale");

  for (gint i = 0; i < w * h; i++)
    data[i] = (luma->v[i] - s->black) * 255.0 / (s->white - s->black)
        * window_value (window, i % w, w) * window_value (window, i / w, h);
  for (gint y = 0; y < h; y++)
    dft (data + y * w, w, 1);
  for (gint x = 0; x < w; x++)
    dft (data + x, h, w);
  for (gint i = 0; i < w * h; i++) {
    gint x = shift ? (i % w + w / 2) % w : i % w;
    gint y = shift ? (i / w + h / 2) % h : i / w;

    value[y * w + x] = fftmag_value (scale, cabs (data[i]));
  }
  g_free (data);
  return value;
}

static void
fftmag (GstElement * element, Scene * s)
{
  Plane luma = scene_luma (s);
  gdouble *value = fftmag_spectrum (element, s, &luma);
  gdouble low = value[0], high = value[0];

  for (gint i = 0; i < luma.w * luma.h; i++) {
    low = MIN (low, value[i]);
    high = MAX (high, value[i]);
  }
  if (is (element, "normalize", "range")) {
    low = number (element, "range-min");
    high = number (element, "range-max");
  }
  for (gint i = 0; i < luma.w * luma.h; i++)
    luma.v[i] = high > low ? clamp_round (s->black + (s->white - s->black)
        * (value[i] - low) / (high - low), s->black, s->white) : s->black;
  scene_set_luma (s, &luma);
  g_free (value);
  g_free (luma.v);
}

/* pictures */

/* The rows first, first + step, … of every component. */
static Scene
scene_take (const Picture * picture, gint first, gint step)
{
  const GstVideoInfo *info = &picture->info;
  gint depth = GST_VIDEO_INFO_COMP_DEPTH (info, 0);
  gint max = (1 << depth) - 1;
  gboolean limited = GST_VIDEO_INFO_IS_YUV (info)
      && info->colorimetry.range == GST_VIDEO_COLOR_RANGE_16_235;
  Scene s = { .n = GST_VIDEO_INFO_N_COMPONENTS (info),
    .n_color = MIN (GST_VIDEO_INFO_N_COMPONENTS (info), 3),
    .rgb = GST_VIDEO_INFO_IS_RGB (info), .yuv = GST_VIDEO_INFO_IS_YUV (info),
    .depth = depth, .max = max, .neutral = 1 << (depth - 1),
    .black = limited ? 16 << (depth - 8) : 0,
    .white = limited ? 235 << (depth - 8) : max
  };

  for (guint c = 0; c < s.n; c++) {
    s.c[c] = plane_new (GST_VIDEO_INFO_COMP_WIDTH (info, c),
        (GST_VIDEO_INFO_COMP_HEIGHT (info, c) - first + step - 1) / step);
    for (gint i = 0; i < s.c[c].w * s.c[c].h; i++)
      s.c[c].v[i] = picture_get (picture, c, i % s.c[c].w,
          first + i / s.c[c].w * step);
  }
  return s;
}

static void
scene_give (Scene * s, Picture * picture, gint first, gint step)
{
  for (guint c = 0; c < s->n; c++) {
    for (gint i = 0; i < s->c[c].w * s->c[c].h; i++)
      picture_set (picture, c, i % s->c[c].w, first + i / s->c[c].w * step,
          s->c[c].v[i]);
    g_free (s->c[c].v);
  }
}

static void
naive_filter_rows (GstElement * element, const Picture * in, Picture * out,
    gint first, gint step)
{
  static const struct {
    const gchar *name;
    void (*func) (GstElement * element, Scene * s);
  } operations[] = { {"cudainvert", invert}, {"cudathreshold", threshold},
  {"cudasobel", sobel}, {"cudagaussian", gaussian}, {"cudafftmag", fftmag}
  };
  const gchar *name = GST_OBJECT_NAME (gst_element_get_factory (element));
  Scene s = scene_take (in, first, step);

  for (guint i = 0; i < G_N_ELEMENTS (operations); i++)
    if (g_str_equal (operations[i].name, name) && s.c[0].h > 0)
      operations[i].func (element, &s);
  scene_give (&s, out, first, step);
}

Picture *
naive_filter_frame (GstElement * element, const Picture * in)
{
  Picture *out = picture_copy (in);

  naive_filter_rows (element, in, out, 0, 1);
  return out;
}

Picture *
naive_filter_fields (GstElement * element, const Picture * in)
{
  Picture *out = picture_copy (in);

  naive_filter_rows (element, in, out, 0, 2);
  naive_filter_rows (element, in, out, 1, 2);
  return out;
}

gint
naive_tolerance (GstElement * element, const Picture * in)
{
  const gchar *name = GST_OBJECT_NAME (gst_element_get_factory (element));

  if (g_str_equal (name, "cudagaussian"))
    return 1;
  if (g_str_equal (name, "cudafftmag"))
    return GST_VIDEO_INFO_COMP_DEPTH (&in->info, 0) > 10 ? 8 : 1;
  if (g_str_equal (name, "cudasobel"))
    return GST_VIDEO_INFO_COMP_DEPTH (&in->info, 0) > 10 ? 1 : 0;
  return 0;
}
