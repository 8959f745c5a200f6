/* Negotiation: every format and every pair of memories, with the pixels that
 * come of it. */
#include "helper.h"

static const gchar *const formats[] = { "RGB", "BGR", "RGBA", "BGRA", "ARGB",
  "ABGR", "RGBx", "BGRx", "xRGB", "xBGR", "RGBP", "BGRP", "GBR", "GBRA",
  "I420", "YV12", "NV12", "NV21", "Y42B", "Y444", "P010_10LE", "P016_LE",
  "I420_10LE", "Y444_16LE", "GRAY8", "GRAY16_LE"
};

/* One frame of each format through one element, whose caps change with it. */
static void
check_all_formats (const gchar * name, const gchar * backend,
    const gchar * settings, const gchar * size)
{
  GstHarness *h = filter_harness_new (name, backend, settings);

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    gchar *fields = g_strdup_printf ("format=%s,%s", formats[i], size);
    Picture *in = picture_new (fields, i);

    assert_filtered (h, in);
    picture_free (in);
    g_free (fields);
  }
  filter_harness_free (h);
}

GST_START_TEST (test_invert_formats)
{
  check_all_formats ("cudainvert", backend_name (__i__), NULL,
      "width=34,height=18");
  check_all_formats ("cudainvert", backend_name (__i__), "invert-alpha=true",
      "width=7,height=5");
}

GST_END_TEST;

GST_START_TEST (test_threshold_formats)
{
  check_all_formats ("cudathreshold", backend_name (__i__),
      "threshold=100 max-value=200", "width=34,height=18");
}

GST_END_TEST;

GST_START_TEST (test_sobel_formats)
{
  check_all_formats ("cudasobel", backend_name (__i__),
      "direction=x output=clip", "width=34,height=18");
}

GST_END_TEST;

GST_START_TEST (test_gaussian_formats)
{
  check_all_formats ("cudagaussian", backend_name (__i__),
      "kernel-width=9 kernel-height=5", "width=34,height=18");
}

GST_END_TEST;

GST_START_TEST (test_fftmag_formats)
{
  check_all_formats ("cudafftmag", backend_name (__i__), NULL,
      "width=15,height=14");
}

GST_END_TEST;

/* The same numbers mean something else in another range. */
GST_START_TEST (test_yuv_ranges)
{
  static const gchar *const colorimetry[] = { "bt601", "bt709", "bt2020",
    "1:4:0:0", "1:3:5:1"
  };
  static const gchar *const yuv[] = { "NV12", "Y444", "I420_10LE" };

  for (guint f = 0; filter_names[f]; f++) {
    GstHarness *h = filter_harness_new (filter_names[f], backend_name (__i__),
        NULL);

    for (guint i = 0; i < G_N_ELEMENTS (colorimetry) * G_N_ELEMENTS (yuv);
        i++) {
      gchar *fields = g_strdup_printf ("format=%s,width=12,height=8,"
          "colorimetry=(string)%s", yuv[i / G_N_ELEMENTS (colorimetry)],
          colorimetry[i % G_N_ELEMENTS (colorimetry)]);
      Picture *in = picture_new (fields, i);

      assert_filtered (h, in);
      picture_free (in);
      g_free (fields);
    }
    filter_harness_free (h);
  }
}

GST_END_TEST;

static gboolean
caps_name_cuda (GstCaps * caps)
{
  gboolean result = FALSE;

  for (guint i = 0; i < gst_caps_get_size (caps); i++)
    result |= gst_caps_features_contains (gst_caps_get_features (caps, i),
        CUDA_MEMORY);
  return result;
}

static gboolean
pad_offers_cuda (GstElement * element, const gchar * name)
{
  GstPad *pad = gst_element_get_static_pad (element, name);
  GstCaps *caps = gst_pad_query_caps (pad, NULL);
  gboolean result = caps_name_cuda (caps);

  fail_if (gst_caps_is_empty (caps));
  gst_caps_unref (caps);
  gst_object_unref (pad);
  return result;
}

/* CUDA memory is offered on a GPU and nowhere else. */
GST_START_TEST (test_offered_memory)
{
  gboolean cuda = g_str_equal (backend_name (__i__), "cuda");

  for (guint i = 0; filter_names[i]; i++) {
    GstHarness *h =
        filter_harness_new (filter_names[i], backend_name (__i__), NULL);

    fail_unless (pad_offers_cuda (h->element, "sink") == cuda);
    fail_unless (pad_offers_cuda (h->element, "src") == cuda);
    filter_harness_free (h);
  }
}

GST_END_TEST;

/* Before it is started, backend=cpu already offers system memory only. */
GST_START_TEST (test_offered_memory_before_start)
{
  GstElement *element = filter_new ("cudainvert", "cpu", NULL);

  fail_if (pad_offers_cuda (element, "sink"));
  fail_if (pad_offers_cuda (element, "src"));
  gst_object_unref (element);
}

GST_END_TEST;

/* What goes out must be what comes in, but for the memory. */
GST_START_TEST (test_caps_follow)
{
  GstHarness *h = filter_harness_new ("cudasobel", backend_name (__i__), NULL);
  GstPad *pad = gst_element_get_static_pad (h->element, "sink");
  GstCaps *caps;

  gst_harness_set_sink_caps_str (h, "video/x-raw,format={RGB,NV12},"
      "width=[3,5],height=7,framerate=30/1");
  caps = gst_pad_query_caps (pad, NULL);
  fail_if (gst_caps_is_empty (caps));
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstStructure *s = gst_caps_get_structure (caps, i);
    gint height = 0;

    fail_unless (gst_structure_get_int (s, "height", &height) && height == 7);
    fail_unless_equals_int (gst_value_list_get_size (gst_structure_get_value
            (s, "format")), 2);
    fail_unless (gst_structure_has_field_typed (s, "width",
            GST_TYPE_INT_RANGE));
  }
  gst_caps_unref (caps);
  gst_object_unref (pad);
  filter_harness_free (h);
}

GST_END_TEST;

/* A pipeline with one appsink takes what our element gives: its caps say which
 * memory. */
static void
check_peer (const gchar * launch, const gchar * backend, gboolean cuda)
{
  GstElement *pipeline = pipeline_new (launch, backend);
  GstElement *filter = gst_bin_get_by_name (GST_BIN (pipeline), "f");

  pipeline_set_state (pipeline, GST_STATE_PAUSED);
  fail_unless (pad_is_cuda (filter, "sink") == cuda, "%s: other input memory",
      launch);
  fail_unless (pad_is_cuda (filter, "src") == cuda,
      "%s: the output is not in the memory of the input", launch);
  pipeline_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (filter);
  gst_object_unref (pipeline);
}

#define SOURCE "videotestsrc num-buffers=3 ! " \
    "video/x-raw,format=NV12,width=32,height=16 ! "

GST_START_TEST (test_any_peer)
{
  const gchar *backend = backend_name (__i__);

  check_peer (SOURCE "cudainvert name=f backend=%s ! fakesink", backend,
      FALSE);
  check_peer (SOURCE "cudasobel name=f backend=%s ! appsink", backend, FALSE);
  check_peer (SOURCE "cudasobel name=f backend=%s ! identity ! fakesink",
      backend, FALSE);
}

GST_END_TEST;

GST_START_TEST (test_any_peer_in_cuda_memory)
{
  check_peer (SOURCE "cudaupload ! cudainvert name=f backend=%s ! fakesink",
      "cuda", TRUE);
  check_peer (SOURCE "cudaupload ! cudasobel name=f backend=%s ! appsink",
      "cuda", TRUE);
  check_peer (SOURCE "cudaupload ! cudasobel name=f backend=%s ! queue ! "
      "identity ! fakesink", "cuda", TRUE);
}

GST_END_TEST;

/* memories, on a GPU */

/* Quoted, since a harness puts the line in parentheses. */
#define CUDA_CAPS "capsfilter caps=\"video/x-raw(" CUDA_MEMORY ")\""
#define SYSTEM_CAPS "capsfilter caps=video/x-raw"

/* Before 1.24 frames of odd heights that cudaupload made cannot be mapped in
 * system memory: their last plane lies where the copy does not look. */
#if GST_CHECK_VERSION (1, 24, 0)
#define I420_SIZE "width=33,height=21"
#else
#define I420_SIZE "width=33,height=22"
#endif

/* A frame through the elements of `launch`; the filter in it is called f. Its
 * pads must have the memory that is said. */
static void
check_memories (const gchar * launch, gboolean in_cuda, gboolean out_cuda,
    const Picture * in)
{
  GstHarness *h = gst_harness_new_parse (launch);
  GstElement *filter = gst_bin_get_by_name (GST_BIN (h->element), "f");
  GstBuffer *out;

  gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
  fail_unless_equals_int (gst_harness_push (h, picture_to_buffer (in)),
      GST_FLOW_OK);
  out = gst_harness_pull (h);
  fail_unless (pad_is_cuda (filter, "sink") == in_cuda, "%s: input memory",
      launch);
  fail_unless (pad_is_cuda (filter, "src") == out_cuda, "%s: output memory",
      launch);
  assert_filter_result (filter, in, out, FALSE);
  gst_object_unref (filter);
  gst_harness_teardown (h);
}

GST_START_TEST (test_memories)
{
  static const struct {
    const gchar *before, *after;
    gboolean in, out;
  } neighbours[] = {
    {"", "", FALSE, FALSE},
    {"", " ! cudadownload", FALSE, TRUE},
    {"", " ! " CUDA_CAPS, FALSE, TRUE},
    {"cudaupload ! ", " ! cudadownload", TRUE, TRUE},
    {"cudaupload ! ", "", TRUE, TRUE},
    {"cudaupload ! ", " ! " SYSTEM_CAPS, TRUE, FALSE},
    {"cudaupload ! ", " ! queue ! cudadownload", TRUE, TRUE},
  };
  static const gchar *const pictures[] = {
    "format=NV12,width=62,height=34", "format=RGBA,width=17,height=3",
    "format=I420," I420_SIZE, "format=P010_10LE,width=16,height=16"
  };
  const gchar *name = filter_names[__i__];

  for (guint n = 0; n < G_N_ELEMENTS (neighbours); n++)
    for (guint p = 0; p < G_N_ELEMENTS (pictures); p++) {
      Picture *in = picture_new (pictures[p], p);
      gchar *launch = g_strconcat (neighbours[n].before, name,
          " name=f backend=cuda", neighbours[n].after, NULL);

      check_memories (launch, neighbours[n].in, neighbours[n].out, in);
      g_free (launch);
      picture_free (in);
    }
}

GST_END_TEST;

/* Uploaded by one of our elements, through a second in device memory, and
 * downloaded by a third: for every format, grey ones too. */
GST_START_TEST (test_formats_in_cuda_memory)
{
  const gchar *launch = "cudainvert backend=cuda ! " CUDA_CAPS
      " ! cudainvert name=f backend=cuda ! " CUDA_CAPS
      " ! cudainvert backend=cuda ! " SYSTEM_CAPS;

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    gchar *fields = g_strdup_printf ("format=%s,width=35,height=19",
        formats[i]);
    Picture *in = picture_new (fields, i);

    /* inverted three times is inverted once */
    if (formats[i][0] != 'x')
      check_memories (launch, TRUE, TRUE, in);
    picture_free (in);
    g_free (fields);
  }
}

GST_END_TEST;

static Suite *
formats_suite (void)
{
  Suite *suite = suite_create ("formats");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_backend_test (tcase, test_invert_formats);
  tcase_add_backend_test (tcase, test_threshold_formats);
  tcase_add_backend_test (tcase, test_sobel_formats);
  tcase_add_backend_test (tcase, test_gaussian_formats);
  tcase_add_backend_test (tcase, test_fftmag_formats);
  tcase_add_backend_test (tcase, test_yuv_ranges);
  tcase_add_backend_test (tcase, test_offered_memory);
  tcase_add_test (tcase, test_offered_memory_before_start);
  tcase_add_backend_test (tcase, test_caps_follow);
  tcase_add_backend_test (tcase, test_any_peer);
  tcase_add_test_unless (cuda_neighbours_missing (), tcase,
      test_any_peer_in_cuda_memory, 1);
  tcase_add_test_unless (cuda_neighbours_missing (), tcase, test_memories, 5);
  tcase_add_test_unless (gpu_missing (), tcase, test_formats_in_cuda_memory,
      1);
  return suite;
}

TEST_MAIN (formats)
