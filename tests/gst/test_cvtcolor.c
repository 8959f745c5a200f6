/* cudacvtcolor: which caps it agrees on, and its pixels against plain loops
 * that take colours from GStreamer's tables. */
#include "helper.h"

#include <math.h>

#define SIZE "width=34,height=18"

static const gchar *const rgb[] = { "RGB", "BGR", "RGBA", "BGRA", "ARGB",
  "ABGR", "RGBx", "BGRx", "xRGB", "xBGR", "RGBP", "BGRP", "GBR", "GBRA"
};

/* What becomes of `in` toward a sink of `fields`. */
static Picture *
convert (GstHarness * h, const Picture * in, const gchar * fields)
{
  gchar *text = g_strconcat ("video/x-raw,framerate=25/1,", fields, NULL);
  GstBuffer *buffer;
  GstCaps *caps;
  Picture *out;

  gst_harness_set_sink_caps_str (h, text);
  gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
  buffer = filter_harness_run (h, picture_to_buffer (in));
  caps = gst_pad_get_current_caps (h->sinkpad);
  out = picture_from_buffer (buffer, caps);
  gst_caps_unref (caps);
  gst_buffer_unref (buffer);
  g_free (text);
  return out;
}

static gint
luma (const Picture * in, gint x, gint y)
{
  return (9798 * picture_get (in, 0, x, y) + 19235 * picture_get (in, 1, x, y)
      + 3735 * picture_get (in, 2, x, y) + (1 << 14)) >> 15;
}

/* The grey of OpenCV's cvtColor. */
GST_START_TEST (test_gray)
{
  GstHarness *h = filter_harness_new ("cudacvtcolor", backend_name (__i__),
      NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rgb); i++) {
    gchar *fields = g_strdup_printf ("format=%s," SIZE, rgb[i]);
    Picture *in = picture_new (fields, i);
    Picture *out = convert (h, in, "format=GRAY8," SIZE);

    for (gint y = 0; y < 18; y++)
      for (gint x = 0; x < 34; x++)
        fail_unless_equals_int (picture_get (out, 0, x, y), luma (in, x, y));
    picture_free (in);
    picture_free (out);
    g_free (fields);
  }
  filter_harness_free (h);
}

GST_END_TEST;

static void
assert_same_colors (const Picture * in, const Picture * out, gint alpha)
{
  gboolean from = GST_VIDEO_INFO_HAS_ALPHA (&in->info);

  for (gint y = 0; y < 18; y++)
    for (gint x = 0; x < 34; x++) {
      for (gint c = 0; c < 3; c++)
        fail_unless_equals_int (picture_get (out, c, x, y),
            picture_get (in, c, x, y));
      if (GST_VIDEO_INFO_HAS_ALPHA (&out->info))
        fail_unless_equals_int (picture_get (out, 3, x, y),
            from ? picture_get (in, 3, x, y) : alpha);
    }
}

/* Every order of RGB into every other. */
GST_START_TEST (test_orders)
{
  GstHarness *h = filter_harness_new ("cudacvtcolor", backend_name (__i__),
      "alpha=77");

  for (guint i = 0; i < G_N_ELEMENTS (rgb) * G_N_ELEMENTS (rgb); i++) {
    gchar *from = g_strdup_printf ("format=%s," SIZE,
        rgb[i % G_N_ELEMENTS (rgb)]);
    gchar *to = g_strdup_printf ("format=%s," SIZE,
        rgb[i / G_N_ELEMENTS (rgb)]);
    Picture *in = picture_new (from, i);
    Picture *out = convert (h, in, to);

    assert_same_colors (in, out, 77);
    picture_free (in);
    picture_free (out);
    g_free (from);
    g_free (to);
  }
  filter_harness_free (h);
}

GST_END_TEST;

/* RGB of the YUV of one pixel of `in`, in 0..255 and not rounded. */
static void
rgb_of (const Picture * in, gint x, gint y, gdouble out[3])
{
  const GstVideoInfo *info = &in->info;
  gint offset[4], scale[4];
  gdouble kr, kb, v[3];

  gst_video_color_matrix_get_Kr_Kb (info->colorimetry.matrix, &kr, &kb);
  gst_video_color_range_offsets (info->colorimetry.range, info->finfo, offset,
      scale);
  for (gint c = 0; c < 3; c++)
    v[c] = (gdouble) (picture_get (in, c, x, y) - offset[c]) / scale[c];
  out[0] = v[0] + 2 * (1 - kr) * v[2];
  out[2] = v[0] + 2 * (1 - kb) * v[1];
  out[1] = (v[0] - kr * out[0] - kb * out[2]) / (1 - kr - kb);
  for (gint c = 0; c < 3; c++)
    out[c] = CLAMP (out[c], 0, 1) * 255;
}

static const gchar *const colorimetry[] = { "bt601", "bt709", "bt2020",
  "1:4:0:0", "1:3:5:1"
};

/* By the matrix and range of the caps. */
GST_START_TEST (test_matrices)
{
  GstHarness *h = filter_harness_new ("cudacvtcolor", backend_name (__i__),
      NULL);

  for (guint i = 0; i < G_N_ELEMENTS (colorimetry); i++) {
    gchar *fields = g_strdup_printf ("format=Y444,colorimetry=(string)%s,"
        SIZE, colorimetry[i]);
    Picture *in = picture_new (fields, i);
    Picture *out = convert (h, in, "format=BGRx," SIZE);

    for (gint n = 0; n < 34 * 18; n++) {
      gdouble expected[3];

      rgb_of (in, n % 34, n / 34, expected);
      for (gint c = 0; c < 3; c++)
        fail_unless (fabs (picture_get (out, c, n % 34, n / 34) - expected[c])
            < 0.51, "%s: component %d of %d is %d, not %f", colorimetry[i], c,
            n, picture_get (out, c, n % 34, n / 34), expected[c]);
    }
    picture_free (in);
    picture_free (out);
    g_free (fields);
  }
  filter_harness_free (h);
}

GST_END_TEST;

/* To YUV and back: colours come back but for the rounding of YUV. */
GST_START_TEST (test_round_trip)
{
  GstHarness *h = filter_harness_new ("cudacvtcolor", backend_name (__i__),
      NULL);

  for (guint i = 0; i < G_N_ELEMENTS (colorimetry); i++) {
    gchar *fields = g_strdup_printf ("format=Y444,colorimetry=(string)%s,"
        SIZE, colorimetry[i]);
    Picture *in = picture_new ("format=RGB," SIZE, i);
    Picture *yuv = convert (h, in, fields);
    Picture *out = convert (h, yuv, "format=RGB," SIZE);

    assert_pictures_equal (in, out, 2, colorimetry[i]);
    picture_free (in);
    picture_free (yuv);
    picture_free (out);
    g_free (fields);
  }
  filter_harness_free (h);
}

GST_END_TEST;

/* A flat colour has the same chroma at every resolution and siting. */
GST_START_TEST (test_flat_chroma)
{
  static const gchar *const formats[] = { "I420", "YV12", "NV12", "NV21",
    "Y42B", "Y444"
  };
  GstHarness *h = filter_harness_new ("cudacvtcolor", backend_name (__i__),
      NULL);

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    gchar *fields = g_strdup_printf ("format=%s,colorimetry=bt601,"
        "chroma-site=%s,width=33,height=17", formats[i],
        i % 2 ? "jpeg" : "mpeg2");
    Picture *in = picture_new ("format=RGBA,width=33,height=17", i);
    Picture *yuv, *out;

    for (gint c = 0; c < 4; c++)
      picture_fill (in, c, 60 + 50 * c);
    picture_fill (in, 3, 255);
    yuv = convert (h, in, fields);
    out = convert (h, yuv, "format=RGBA,width=33,height=17");
    assert_pictures_equal (in, out, 2, formats[i]);
    picture_free (in);
    picture_free (yuv);
    picture_free (out);
    g_free (fields);
  }
  filter_harness_free (h);
}

GST_END_TEST;

/* Frames pass untouched when nothing changes, and only then. */
GST_START_TEST (test_passthrough)
{
  static const struct {
    const gchar *in, *out;
    gboolean same;
  } cases[] = {
    {"format=NV12", "format=NV12", TRUE},
    {"format=NV12", "format={BGR,NV12}", TRUE},
    {"format=NV12,colorimetry=bt709", "format=NV12", TRUE},
    {"format=NV12,colorimetry=bt709", "format=NV12,colorimetry=bt601", FALSE},
    /* GStreamer 1.22 reads chroma-site beside colorimetry only */
    {"format=NV12,colorimetry=bt601,chroma-site=jpeg",
        "format=NV12,colorimetry=bt601,chroma-site=mpeg2", FALSE},
    {"format=RGB", "format=BGR", FALSE},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = filter_harness_new ("cudacvtcolor",
        backend_name (__i__), NULL);
    gchar *in_fields = g_strconcat (cases[i].in, "," SIZE, NULL);
    gchar *sink = g_strconcat ("video/x-raw,framerate=25/1," SIZE ",",
        cases[i].out, NULL);
    Picture *in = picture_new (in_fields, i);
    GstBuffer *buffer = picture_to_buffer (in), *out;

    gst_harness_set_sink_caps_str (h, sink);
    gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
    out = filter_harness_run (h, buffer);
    fail_unless ((out == buffer) == cases[i].same, "%s to %s", cases[i].in,
        cases[i].out);
    gst_buffer_unref (out);
    picture_free (in);
    g_free (in_fields);
    g_free (sink);
    filter_harness_free (h);
  }
}

GST_END_TEST;

/* Of what downstream takes, what loses least; colours stay as they are said to
 * be where they can. */
GST_START_TEST (test_choice)
{
  static const struct {
    const gchar *in, *out, *format, *colorimetry, *site;
  } cases[] = {
    {"format=I420", "format={GRAY8,RGB,Y42B,NV12}", "NV12"},
    {"format=I420", "format={GRAY8,RGB,Y42B}", "Y42B"},
    {"format=I420", "format={GRAY8,RGB}", "RGB"},
    {"format=Y444", "format={I420,Y42B}", "Y42B"},
    {"format=P010_10LE", "format={NV12,P016_LE}", "P016_LE"},
    {"format=RGBA", "format={RGB,BGRx,ABGR,Y444}", "ABGR"},
    {"format=BGR", "format={NV12,Y444,GRAY8}", "Y444"},
    {"format=GRAY8", "format={I420,RGB,GRAY16_LE}", "GRAY16_LE"},
    {"format=NV12,colorimetry=bt709,chroma-site=jpeg", "format=I420", "I420",
        "bt709", "jpeg"},
    {"format=NV12,colorimetry=bt709", "format=I420,"
        "colorimetry={(string)bt601,(string)bt709}", "I420", "bt709"},
    {"format=NV12,colorimetry=bt709", "format=RGB", "RGB", "1:1:5:1"},
    {"format=NV12,colorimetry=bt709", "format=I420,colorimetry=bt2020",
        "I420", "bt2020"},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = filter_harness_new ("cudacvtcolor",
        backend_name (__i__), NULL);
    gchar *in_fields = g_strconcat (cases[i].in, "," SIZE, NULL);
    gchar *out_fields = g_strconcat (cases[i].out, "," SIZE, NULL);
    Picture *in = picture_new (in_fields, i);
    Picture *out = convert (h, in, out_fields);
    GstStructure *s = gst_caps_get_structure (out->caps, 0);

    fail_unless_equals_string (gst_structure_get_string (s, "format"),
        cases[i].format);
    if (cases[i].colorimetry)
      fail_unless_equals_string (gst_structure_get_string (s, "colorimetry"),
          cases[i].colorimetry);
    if (cases[i].site)
      fail_unless_equals_string (gst_structure_get_string (s, "chroma-site"),
          cases[i].site);
    picture_free (in);
    picture_free (out);
    g_free (in_fields);
    g_free (out_fields);
    filter_harness_free (h);
  }
}

GST_END_TEST;

/* What describes colours goes when they change. */
GST_START_TEST (test_metas)
{
  static const gchar *colors[] = { "colorspace", NULL };
  static const gchar *size[] = { "size", NULL };
  GstHarness *h = filter_harness_new ("cudacvtcolor", backend_name (__i__),
      NULL);
  Picture *in = picture_new ("format=RGB," SIZE, 1);
  GstBuffer *buffer = picture_to_buffer (in);

  gst_meta_register_custom ("test-of-colors", colors, NULL, NULL, NULL);
  gst_meta_register_custom ("test-of-size", size, NULL, NULL, NULL);
  gst_buffer_add_custom_meta (buffer, "test-of-colors");
  gst_buffer_add_custom_meta (buffer, "test-of-size");
  GST_BUFFER_PTS (buffer) = 40 * GST_MSECOND;
  gst_harness_set_sink_caps_str (h, "video/x-raw,format=NV12");
  gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
  buffer = filter_harness_run (h, buffer);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 40 * GST_MSECOND);
  fail_if (gst_buffer_get_custom_meta (buffer, "test-of-colors"));
  fail_unless (gst_buffer_get_custom_meta (buffer, "test-of-size") != NULL);
  gst_buffer_unref (buffer);
  picture_free (in);
  filter_harness_free (h);
}

GST_END_TEST;

/* Grey in whatever memory, and back. */
GST_START_TEST (test_gray_chain)
{
  GstElement *pipeline = pipeline_new ("videotestsrc num-buffers=2 ! "
      "video/x-raw,format=RGBA,width=64,height=36 ! "
      "cudacvtcolor backend=%s ! video/x-raw(ANY),format=GRAY8 ! "
      "cudathreshold name=f backend=%s ! cudacvtcolor backend=%s ! "
      "video/x-raw,format=BGR ! appsink name=out", backend_name (__i__));
  GstElement *filter = gst_bin_get_by_name (GST_BIN (pipeline), "f");
  GstSample *sample;
  Picture *out;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  sample = pipeline_pull (pipeline, "out");
  fail_unless (pad_is_cuda (filter, "sink") == (__i__ == 1));
  out = picture_from_buffer (gst_sample_get_buffer (sample),
      gst_sample_get_caps (sample));
  for (gint n = 0; n < 64 * 36; n++) {
    gint level = picture_get (out, 0, n % 64, n / 64);

    fail_unless (level == 0 || level == 255);
    fail_unless_equals_int (picture_get (out, 1, n % 64, n / 64), level);
    fail_unless_equals_int (picture_get (out, 2, n % 64, n / 64), level);
  }
  picture_free (out);
  gst_sample_unref (sample);
  gst_object_unref (filter);
  pipeline_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

static Suite *
cvtcolor_suite (void)
{
  Suite *suite = suite_create ("cvtcolor");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_backend_test (tcase, test_gray);
  tcase_add_backend_test (tcase, test_orders);
  tcase_add_backend_test (tcase, test_matrices);
  tcase_add_backend_test (tcase, test_round_trip);
  tcase_add_backend_test (tcase, test_flat_chroma);
  tcase_add_backend_test (tcase, test_passthrough);
  tcase_add_backend_test (tcase, test_choice);
  tcase_add_backend_test (tcase, test_metas);
  tcase_add_backend_test (tcase, test_gray_chain);
  return suite;
}

TEST_MAIN (cvtcolor);
