/* cudaresize: the size that is chosen, borders, pixels, and metas that carry
 * coordinates. Pixels of other methods than these few are compared with
 * OpenCV's in tests/oracle. */
#include "helper.h"

#define ELEMENT "cudaresize"

/* A harness whose input has the caps `in`, and whose peer takes `out`. */
static GstHarness *
resize_harness_new (gint backend, const gchar * settings, const gchar * in,
    const gchar * out)
{
  GstHarness *h = filter_harness_new (ELEMENT, backend_name (backend),
      settings);
  gchar *in_caps = g_strconcat ("video/x-raw,framerate=25/1,", in, NULL);
  gchar *out_caps = g_strconcat ("video/x-raw,", out, NULL);

  gst_harness_set_sink_caps_str (h, out_caps);
  gst_harness_set_src_caps_str (h, in_caps);
  g_free (in_caps);
  g_free (out_caps);
  return h;
}

/* The picture that comes out for `in`, whose caps the harness has. */
static Picture *
resize_picture (GstHarness * h, const Picture * in)
{
  GstBuffer *out = filter_harness_run (h, picture_to_buffer (in));
  GstCaps *caps = gst_pad_get_current_caps (h->sinkpad);
  Picture *picture = picture_from_buffer (out, caps);

  gst_caps_unref (caps);
  gst_buffer_unref (out);
  return picture;
}

/* sizes */

static const struct {
  const gchar *in, *out;
  gint width, height, par_n, par_d;
} sizes[] = {
  /* nothing is asked for: nothing changes */
  {"width=320,height=240", "width=[1,max]", 320, 240, 1, 1},
  {"width=320,height=240,pixel-aspect-ratio=4/3", "width=[1,max]", 320, 240,
      4, 3},
  /* pixels make up for what is asked for */
  {"width=320,height=240", "width=400,height=400", 400, 400, 4, 3},
  {"width=320,height=240", "width=100", 100, 240, 16, 5},
  {"width=320,height=240", "height=100", 320, 100, 5, 12},
  {"width=320,height=240", "width=[100,200]", 200, 240, 8, 5},
  /* with the shape of pixels given, the other side does */
  {"width=320,height=240", "width=100,pixel-aspect-ratio=1/1", 100, 75, 1, 1},
  {"width=320,height=240", "height=77,pixel-aspect-ratio=1/1", 103, 77, 1, 1},
  {"width=320,height=240", "pixel-aspect-ratio=2/1", 160, 240, 2, 1},
  {"width=320,height=240", "width=320,pixel-aspect-ratio=2/1", 320, 480, 2,
      1},
  {"width=720,height=576,pixel-aspect-ratio=16/15",
      "pixel-aspect-ratio=1/1", 768, 576, 1, 1},
  {"width=720,height=576,pixel-aspect-ratio=16/15",
      "width=360,pixel-aspect-ratio=1/1", 360, 270, 1, 1},
  {"width=320,height=240", "width=[100,200],height=[1,90],"
      "pixel-aspect-ratio=1/1", 120, 90, 1, 1},
  /* everything is given: the picture gets another shape, or borders */
  {"width=320,height=240", "width=300,height=300,pixel-aspect-ratio=1/1",
      300, 300, 1, 1},
};

GST_START_TEST (test_sizes)
{
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    gchar *in = g_strconcat ("format=I420,", sizes[i].in, NULL);
    GstHarness *h = resize_harness_new (__i__, NULL, in, sizes[i].out);
    Picture *picture = picture_new (in, i);
    Picture *out = resize_picture (h, picture);

    fail_unless (GST_VIDEO_INFO_WIDTH (&out->info) == sizes[i].width
        && GST_VIDEO_INFO_HEIGHT (&out->info) == sizes[i].height
        && GST_VIDEO_INFO_PAR_N (&out->info) == sizes[i].par_n
        && GST_VIDEO_INFO_PAR_D (&out->info) == sizes[i].par_d,
        "%s to %s gives %s", sizes[i].in, sizes[i].out,
        gst_caps_to_string (out->caps));
    picture_free (out);
    picture_free (picture);
    g_free (in);
    filter_harness_free (h);
  }
}

GST_END_TEST;

/* What could only go out in another format is refused. */
GST_START_TEST (test_format_stays)
{
  GstHarness *h = filter_harness_new (ELEMENT, backend_name (__i__), NULL);
  GstCaps *wanted = gst_caps_from_string ("video/x-raw,format=RGB"), *caps;

  gst_harness_set_sink_caps_str (h, "video/x-raw,format=NV12");
  caps = gst_pad_peer_query_caps (h->srcpad, wanted);
  fail_unless (gst_caps_is_empty (caps));
  gst_caps_unref (caps);
  gst_caps_unref (wanted);
  filter_harness_free (h);
}

GST_END_TEST;

/* pixels */

/* The mean of `n` x `n`, rounded. */
static gint
mean (const Picture * in, gint c, gint x, gint y, gint n)
{
  gint sum = 0;

  for (gint i = 0; i < n * n; i++)
    sum += picture_get (in, c, n * x + i % n, n * y + i / n);
  return (2 * sum + n * n) / (2 * n * n);
}

static void
check_means (GstHarness * h, const Picture * in, gint n)
{
  Picture *out = resize_picture (h, in);
  Picture *expected = picture_new_like (out);

  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&out->info); c++)
    for (gint y = 0; y < GST_VIDEO_INFO_HEIGHT (&out->info); y++)
      for (gint x = 0; x < GST_VIDEO_INFO_WIDTH (&out->info); x++)
        picture_set (expected, c, x, y, mean (in, c, x, y, n));
  assert_pictures_equal (expected, out, 0, "means");
  picture_free (expected);
  picture_free (out);
}

GST_START_TEST (test_means)
{
  static const gchar *const formats[] = { "RGB", "BGRA", "GBR", "Y444",
    "GRAY8", "GRAY16_LE", "Y444_16LE"
  };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    for (gint n = 1; n <= 5; n += 2) {
      gchar *in = g_strdup_printf ("format=%s,width=%d,height=%d", formats[i],
          17 * n, 11 * n);
      GstHarness *h = resize_harness_new (__i__, "method=area", in,
          "width=17,height=11");
      Picture *picture = picture_new (in, i);

      check_means (h, picture, n);
      picture_free (picture);
      filter_harness_free (h);
      g_free (in);
    }
}

GST_END_TEST;

/* Every method and format, up and down: what is flat stays so. */
GST_START_TEST (test_flat)
{
  static const gchar *const methods[] = { "nearest", "linear", "cubic", "area",
    "lanczos"
  };
  static const gchar *const formats[] = { "RGB", "RGBx", "NV12", "I420",
    "Y42B", "P010_10LE", "GRAY16_LE"
  };

  for (guint i = 0; i < G_N_ELEMENTS (methods) * G_N_ELEMENTS (formats); i++) {
    gchar *in = g_strdup_printf ("format=%s,width=33,height=21",
        formats[i % G_N_ELEMENTS (formats)]);
    gchar *settings = g_strconcat ("add-borders=false method=",
        methods[i / G_N_ELEMENTS (formats)], NULL);
    GstHarness *h = resize_harness_new (__i__, settings, in,
        i % 2 ? "width=12,height=50" : "width=70,height=9");
    Picture *picture = picture_new (in, i), *out, *expected;

    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&picture->info); c++)
      picture_fill (picture, c, 100 + (gint) c);
    memset (picture->data, 77, formats[i % 7][3] == 'x' ? picture->map.size
        : 0);
    out = resize_picture (h, picture);
    expected = picture_new_like (out);
    memset (expected->data, 77, expected->map.size);
    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&out->info); c++)
      picture_fill (expected, c, picture_get (picture, c, 0, 0));
    assert_pictures_equal (expected, out, 0, settings);
    picture_free (expected);
    picture_free (out);
    picture_free (picture);
    filter_harness_free (h);
    g_free (settings);
    g_free (in);
  }
}

GST_END_TEST;

/* The lines of the two fields do not mix. */
GST_START_TEST (test_fields)
{
  const gchar *in = "format=GRAY8,width=16,height=16,"
      "interlace-mode=interleaved";
  GstHarness *h = resize_harness_new (__i__, NULL, in, "width=20,height=24");
  Picture *picture = picture_new (in, 1), *out;

  for (gint i = 0; i < 256; i++)
    picture_set (picture, 0, i % 16, i / 16, i / 16 % 2 ? 200 : 10);
  out = resize_picture (h, picture);
  for (gint i = 0; i < 20 * 24; i++)
    fail_unless_equals_int (picture_get (out, 0, i % 20, i / 20),
        i / 20 % 2 ? 200 : 10);
  picture_free (out);
  picture_free (picture);
  filter_harness_free (h);
}

GST_END_TEST;

/* Sizes and properties that change in mid-stream. */
GST_START_TEST (test_changes)
{
  static const gchar *const in[] = { "format=RGB,width=9,height=6",
    "format=RGB,width=33,height=22", "format=RGB,width=33,height=22",
    "format=GRAY8,width=3,height=2"
  };
  GstHarness *h = resize_harness_new (__i__, "method=area", in[0],
      "width=3,height=2");

  for (guint i = 0; i < G_N_ELEMENTS (in); i++) {
    Picture *picture = picture_new (in[i], i);

    filter_set (h->element, i == 2 ? "method=nearest" : "method=area");
    gst_harness_set_src_caps (h, gst_caps_ref (picture->caps));
    if (i == 2) {
      Picture *out = resize_picture (h, picture);

      for (gint k = 0; k < 6; k++)
        fail_unless_equals_int (picture_get (out, 0, k % 3, k / 3),
            picture_get (picture, 0, 11 * (k % 3), 11 * (k / 3)));
      picture_free (out);
    } else {
      check_means (h, picture, GST_VIDEO_INFO_WIDTH (&picture->info) / 3);
    }
    picture_free (picture);
  }
  filter_harness_free (h);
}

GST_END_TEST;

/* GStreamer looks at chroma-site only where there is colorimetry too. */
#define SITED "format=I420,width=20,height=20,colorimetry=bt601,chroma-site="

static Picture *
resize_sited (GstHarness * h, const gchar * site)
{
  gchar *fields = g_strconcat (SITED, site, NULL);
  Picture *in = picture_new (fields, 5), *out;

  gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
  out = resize_picture (h, in);
  picture_free (in);
  g_free (fields);
  return out;
}

/* A change of nothing but the place of the chroma samples counts. */
GST_START_TEST (test_siting_changes)
{
  GstHarness *h = resize_harness_new (__i__, NULL, SITED "jpeg",
      "width=33,height=33");
  GstHarness *other = resize_harness_new (__i__, NULL, SITED "mpeg2",
      "width=33,height=33");
  Picture *centred = resize_sited (h, "jpeg");
  Picture *left = resize_sited (h, "mpeg2");
  Picture *expected = resize_sited (other, "mpeg2");

  fail_unless (picture_difference (centred, left) > 0);
  assert_pictures_equal (expected, left, 0, "chroma on the left");
  picture_free (centred);
  picture_free (left);
  picture_free (expected);
  filter_harness_free (h);
  filter_harness_free (other);
}

GST_END_TEST;

/* Where nothing changes, the frame itself goes out. */
GST_START_TEST (test_passthrough)
{
  const gchar *in = "format=NV12,width=32,height=20";
  GstHarness *h = resize_harness_new (__i__, NULL, in, "width=[1,max]");
  Picture *picture = picture_new (in, 1);
  GstBuffer *buffer = picture_to_buffer (picture);
  GstBuffer *out = filter_harness_run (h, gst_buffer_ref (buffer));

  fail_unless (out == buffer);
  gst_buffer_unref (out);
  gst_buffer_unref (buffer);
  picture_free (picture);
  filter_harness_free (h);
}

GST_END_TEST;

/* borders */

/* The picture is flat, of `value`, in the rectangle, and black around it. */
static void
assert_bordered (const Picture * out, gint x, gint y, gint width, gint height,
    gint value, gint black)
{
  for (gint j = 0; j < GST_VIDEO_INFO_HEIGHT (&out->info); j++)
    for (gint i = 0; i < GST_VIDEO_INFO_WIDTH (&out->info); i++) {
      gboolean inside = i >= x && i < x + width && j >= y && j < y + height;
      gint got = picture_get (out, 0, i, j);

      fail_unless (got == (inside ? value : black), "%d,%d is %d", i, j, got);
    }
}

static const struct {
  const gchar *in, *out;
  gboolean borders;
  gint x, y, width, height, black;
} borders[] = {
  {"format=RGB,width=40,height=20",
      "width=40,height=40,pixel-aspect-ratio=1/1", TRUE, 0, 10, 40, 20, 0},
  {"format=RGB,width=20,height=40",
      "width=40,height=40,pixel-aspect-ratio=1/1", TRUE, 10, 0, 20, 40, 0},
  {"format=NV12,width=40,height=20",
      "width=80,height=80,pixel-aspect-ratio=1/1", TRUE, 0, 20, 80, 40, 16},
  {"format=I420,width=31,height=31",
      "width=33,height=11,pixel-aspect-ratio=1/1", TRUE, 11, 0, 11, 11, 16},
  {"format=GRAY16_LE,width=40,height=20",
      "width=40,height=40,pixel-aspect-ratio=1/1", TRUE, 0, 10, 40, 20, 0},
  {"format=RGB,width=40,height=20",
      "width=40,height=40,pixel-aspect-ratio=1/1", FALSE, 0, 0, 40, 40, 0},
  {"format=RGB,width=40,height=20", "width=40,height=40", TRUE, 0, 0, 40, 40,
      0},
  {"format=GRAY8,width=40,height=20,interlace-mode=interleaved",
        "width=40,height=40,pixel-aspect-ratio=1/1", TRUE, 0, 10, 40, 20, 0},
};

GST_START_TEST (test_borders)
{
  for (guint i = 0; i < G_N_ELEMENTS (borders); i++) {
    GstHarness *h = resize_harness_new (__i__,
        borders[i].borders ? NULL : "add-borders=false", borders[i].in,
        borders[i].out);
    Picture *picture = picture_new (borders[i].in, i), *out;

    for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (&picture->info); c++)
      picture_fill (picture, c, 90);
    out = resize_picture (h, picture);
    assert_bordered (out, borders[i].x, borders[i].y, borders[i].width,
        borders[i].height, 90, borders[i].black);
    if (GST_VIDEO_INFO_IS_YUV (&out->info))
      fail_unless_equals_int (picture_get (out, 1, 0, 0),
          borders[i].x || borders[i].y ? 128 : 90);
    picture_free (out);
    picture_free (picture);
    filter_harness_free (h);
  }
}

GST_END_TEST;

/* metas */

GST_START_TEST (test_metas)
{
  const gchar *in = "format=I420,width=64,height=32";
  GstHarness *h = resize_harness_new (__i__, NULL, in, "width=32,height=64");
  Picture *picture = picture_new (in, 1);
  GstBuffer *buffer = picture_to_buffer (picture), *out;
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);
  GstVideoRegionOfInterestMeta *roi;

  crop->x = 10;
  crop->y = 4;
  crop->width = 20;
  crop->height = 16;
  gst_buffer_add_video_region_of_interest_meta (buffer, "face", 32, 8, 8, 8);
  gst_buffer_add_reference_timestamp_meta (buffer,
      gst_static_caps_get (&(GstStaticCaps) GST_STATIC_CAPS ("timestamp/x")),
      7, GST_CLOCK_TIME_NONE);
  out = filter_harness_run (h, buffer);

  crop = gst_buffer_get_video_crop_meta (out);
  fail_unless (crop && crop->x == 5 && crop->y == 8 && crop->width == 10
      && crop->height == 32);
  roi = (GstVideoRegionOfInterestMeta *) gst_buffer_get_meta (out,
      GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  fail_unless (roi && roi->x == 16 && roi->y == 16 && roi->w == 4
      && roi->h == 16);
  fail_unless (gst_buffer_get_reference_timestamp_meta (out, NULL) != NULL);
  gst_buffer_unref (out);
  picture_free (picture);
  filter_harness_free (h);
}

GST_END_TEST;

/* Uploaded, resized and downloaded by our elements. */
GST_START_TEST (test_cuda_memory)
{
  GstHarness *h = gst_harness_new_parse ("cudainvert backend=cuda ! "
      "capsfilter caps=\"video/x-raw(" CUDA_MEMORY ")\" ! "
      "cudaresize backend=cuda method=area ! "
      "capsfilter caps=\"video/x-raw(" CUDA_MEMORY "),width=8,height=6\" ! "
      "cudainvert backend=cuda ! capsfilter caps=video/x-raw");
  Picture *picture = picture_new ("format=RGB,width=24,height=18", 3);

  gst_harness_set_src_caps (h, gst_caps_ref (picture->caps));
  check_means (h, picture, 3);
  picture_free (picture);
  gst_harness_teardown (h);
}

GST_END_TEST;

static Suite *
resize_suite (void)
{
  Suite *suite = suite_create ("resize");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_backend_test (tcase, test_sizes);
  tcase_add_backend_test (tcase, test_format_stays);
  tcase_add_backend_test (tcase, test_means);
  tcase_add_backend_test (tcase, test_flat);
  tcase_add_backend_test (tcase, test_fields);
  tcase_add_backend_test (tcase, test_changes);
  tcase_add_backend_test (tcase, test_siting_changes);
  tcase_add_backend_test (tcase, test_passthrough);
  tcase_add_backend_test (tcase, test_borders);
  tcase_add_backend_test (tcase, test_metas);
  tcase_add_test_unless (gpu_missing (), tcase, test_cuda_memory, 1);
  return suite;
}

TEST_MAIN (resize)
