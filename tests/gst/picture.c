/* Pictures in system memory; see picture.h. */
#include "picture.h"

#include <gst/check/gstcheck.h>

static Picture *
picture_alloc (GstCaps * caps)
{
  Picture *picture = g_new0 (Picture, 1);

  fail_unless (gst_video_info_from_caps (&picture->info, caps),
      "no picture can have the caps %s", gst_caps_to_string (caps));
  picture->caps = gst_caps_ref (caps);
  picture->buffer =
      gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&picture->info),
      NULL);
  gst_buffer_map (picture->buffer, &picture->map, GST_MAP_READWRITE);
  picture->data = picture->map.data;
  memset (picture->data, 0, picture->map.size);
  return picture;
}

Picture *
picture_new (const gchar * fields, guint32 seed)
{
  gchar *text = g_strconcat ("video/x-raw,framerate=25/1,", fields, NULL);
  GstCaps *caps = gst_caps_from_string (text);
  GRand *random = g_rand_new_with_seed (seed);
  Picture *picture;

  fail_unless (caps != NULL, "not caps: %s", text);
  picture = picture_alloc (caps);
  for (gsize i = 0; i < picture->map.size; i++)
    picture->data[i] = (guint8) g_rand_int (random);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&picture->info); c++)
    for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (&picture->info, c); y++)
      for (gint x = 0; x < GST_VIDEO_INFO_COMP_WIDTH (&picture->info, c); x++)
        picture_set (picture, c, x, y, g_rand_int_range (random, 0,
                1 << GST_VIDEO_INFO_COMP_DEPTH (&picture->info, c)));
  g_rand_free (random);
  gst_caps_unref (caps);
  g_free (text);
  return picture;
}

Picture *
picture_new_like (const Picture * other)
{
  return picture_alloc (other->caps);
}

Picture *
picture_copy (const Picture * other)
{
  Picture *picture = picture_new_like (other);

  memcpy (picture->data, other->data, other->map.size);
  return picture;
}

void
picture_free (Picture * picture)
{
  gst_buffer_unmap (picture->buffer, &picture->map);
  gst_buffer_unref (picture->buffer);
  gst_caps_unref (picture->caps);
  g_free (picture);
}

static guint8 *
picture_at (const Picture * picture, gint c, gint x, gint y)
{
  const GstVideoInfo *info = &picture->info;
  gint offset = GST_VIDEO_INFO_COMP_POFFSET (info, c);

  /* GStreamer's table has V of P010 and P016 one byte after U */
  if (GST_VIDEO_INFO_COMP_DEPTH (info, c) > 8 && offset == 1)
    offset = 2;
  return picture->data
      + GST_VIDEO_INFO_PLANE_OFFSET (info, GST_VIDEO_INFO_COMP_PLANE (info, c))
      + offset + y * GST_VIDEO_INFO_COMP_STRIDE (info, c)
      + x * GST_VIDEO_INFO_COMP_PSTRIDE (info, c);
}

gint
picture_get (const Picture * picture, gint c, gint x, gint y)
{
  const guint8 *p = picture_at (picture, c, x, y);
  gint depth = GST_VIDEO_INFO_COMP_DEPTH (&picture->info, c);

  if (depth <= 8)
    return *p;
  return GST_READ_UINT16_LE (p) >>
      GST_VIDEO_FORMAT_INFO_SHIFT (picture->info.finfo, c);
}

void
picture_set (Picture * picture, gint c, gint x, gint y, gint value)
{
  guint8 *p = picture_at (picture, c, x, y);
  gint depth = GST_VIDEO_INFO_COMP_DEPTH (&picture->info, c);

  if (depth <= 8)
    *p = (guint8) value;
  else
    GST_WRITE_UINT16_LE (p, (guint16) (value <<
            GST_VIDEO_FORMAT_INFO_SHIFT (picture->info.finfo, c)));
}

void
picture_fill (Picture * picture, gint c, gint value)
{
  for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (&picture->info, c); y++)
    for (gint x = 0; x < GST_VIDEO_INFO_COMP_WIDTH (&picture->info, c); x++)
      picture_set (picture, c, x, y, value);
}

void
picture_fill_ramp (Picture * picture)
{
  const GstVideoInfo *info = &picture->info;

  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++)
    for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (info, c); y++)
      for (gint x = 0; x < GST_VIDEO_INFO_COMP_WIDTH (info, c); x++)
        picture_set (picture, c, x, y,
            x * ((1 << GST_VIDEO_INFO_COMP_DEPTH (info, c)) - 1)
            / MAX (GST_VIDEO_INFO_COMP_WIDTH (info, c) - 1, 1));
}

GstBuffer *
picture_to_buffer (const Picture * picture)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, picture->map.size, NULL);

  gst_buffer_fill (buffer, 0, picture->data, picture->map.size);
  return buffer;
}

/* Bytes of a row of plane `p` that hold pixels. */
static gsize
picture_row_bytes (const GstVideoInfo * info, guint p)
{
  gint c[GST_VIDEO_MAX_COMPONENTS];

  gst_video_format_info_component (info->finfo, p, c);
  return (gsize) GST_VIDEO_INFO_COMP_WIDTH (info, c[0])
      * GST_VIDEO_INFO_COMP_PSTRIDE (info, c[0]);
}

static gint
picture_rows (const GstVideoInfo * info, guint p)
{
  gint c[GST_VIDEO_MAX_COMPONENTS];

  gst_video_format_info_component (info->finfo, p, c);
  return GST_VIDEO_INFO_COMP_HEIGHT (info, c[0]);
}

Picture *
picture_from_buffer (GstBuffer * buffer, GstCaps * caps)
{
  Picture *picture;
  GstCaps *system = gst_caps_copy (caps);
  GstVideoFrame frame;

  gst_caps_set_features (system, 0, NULL);
  picture = picture_alloc (system);
  gst_caps_unref (system);
  fail_unless (gst_video_frame_map (&frame, &picture->info, buffer,
          GST_MAP_READ), "cannot map the frame");
  fail_unless_equals_int (GST_VIDEO_FRAME_WIDTH (&frame),
      GST_VIDEO_INFO_WIDTH (&picture->info));
  fail_unless_equals_int (GST_VIDEO_FRAME_HEIGHT (&frame),
      GST_VIDEO_INFO_HEIGHT (&picture->info));
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (&picture->info); p++)
    for (gint y = 0; y < picture_rows (&picture->info, p); y++)
      memcpy (picture->data + GST_VIDEO_INFO_PLANE_OFFSET (&picture->info, p)
          + y * GST_VIDEO_INFO_PLANE_STRIDE (&picture->info, p),
          (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, p)
          + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, p),
          picture_row_bytes (&picture->info, p));
  gst_video_frame_unmap (&frame);
  return picture;
}

/* Samples of component `c` that differ by more than `tolerance`; the first of
 * them is at `first`. */
static guint
count_differences (const Picture * expected, const Picture * actual, guint c,
    gint tolerance, gint first[2])
{
  const GstVideoInfo *info = &expected->info;
  guint n = 0;

  for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (info, c); y++)
    for (gint x = 0; x < GST_VIDEO_INFO_COMP_WIDTH (info, c); x++) {
      gint e = picture_get (expected, c, x, y);
      gint a = picture_get (actual, c, x, y);

      if (ABS (e - a) > tolerance && n++ == 0)
        first[0] = x, first[1] = y;
    }
  return n;
}

static void
assert_components_equal (const Picture * expected, const Picture * actual,
    gint tolerance, const gchar * what)
{
  const GstVideoInfo *info = &expected->info;

  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    gint at[2] = { 0, 0 };
    guint n = count_differences (expected, actual, c, tolerance, at);

    fail_unless (n == 0, "%s: %s %dx%d, component %u: %u of %d samples differ "
        "by more than %d, the first at (%d, %d): %d instead of %d", what,
        GST_VIDEO_INFO_NAME (info), GST_VIDEO_INFO_WIDTH (info),
        GST_VIDEO_INFO_HEIGHT (info), c, n,
        GST_VIDEO_INFO_COMP_WIDTH (info, c)
        * GST_VIDEO_INFO_COMP_HEIGHT (info, c), tolerance, at[0], at[1],
        picture_get (actual, c, at[0], at[1]),
        picture_get (expected, c, at[0], at[1]));
  }
}

/* The bytes that belong to pixels but to no component: x of RGBx. */
static void
assert_padding_equal (const Picture * expected, const Picture * actual,
    const gchar * what)
{
  const GstVideoInfo *info = &expected->info;
  Picture *e = picture_copy (expected), *a = picture_copy (actual);

  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    picture_fill (e, c, 0);
    picture_fill (a, c, 0);
  }
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++)
    for (gint y = 0; y < picture_rows (info, p); y++) {
      gsize at = GST_VIDEO_INFO_PLANE_OFFSET (info, p)
          + y * GST_VIDEO_INFO_PLANE_STRIDE (info, p);

      fail_unless (memcmp (e->data + at, a->data + at,
              picture_row_bytes (info, p)) == 0,
          "%s: %s: the padding channel of row %d was changed", what,
          GST_VIDEO_INFO_NAME (info), y);
    }
  picture_free (e);
  picture_free (a);
}

void
assert_pictures_equal (const Picture * expected, const Picture * actual,
    gint tolerance, const gchar * what)
{
  fail_unless_equals_string (GST_VIDEO_INFO_NAME (&expected->info),
      GST_VIDEO_INFO_NAME (&actual->info));
  fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&expected->info),
      GST_VIDEO_INFO_WIDTH (&actual->info));
  fail_unless_equals_int (GST_VIDEO_INFO_HEIGHT (&expected->info),
      GST_VIDEO_INFO_HEIGHT (&actual->info));
  assert_components_equal (expected, actual, tolerance, what);
  assert_padding_equal (expected, actual, what);
}

gdouble
picture_difference (const Picture * a, const Picture * b)
{
  const GstVideoInfo *info = &a->info;
  guint n = 0, different = 0;

  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++)
    for (gint y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT (info, c); y++)
      for (gint x = 0; x < GST_VIDEO_INFO_COMP_WIDTH (info, c); x++, n++)
        different += picture_get (a, c, x, y) != picture_get (b, c, x, y);
  return (gdouble) different / n;
}
