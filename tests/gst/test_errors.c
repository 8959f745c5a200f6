/* What is refused, and what the user is told about it. */
#include "helper.h"

#include <glib/gstdio.h>
#include <gst/app/gstappsrc.h>

static const gchar *const gray = "format=GRAY8,width=16,height=8";

/* The next error of the element, which must be of this kind and say this. */
static void
assert_error (GstHarness * h, GQuark domain, gint code, const gchar * part)
{
  GstMessage *message = filter_harness_message (h, GST_MESSAGE_ERROR);
  GError *error = NULL;

  fail_unless (message != NULL, "%s: no error that says \"%s\"",
      GST_OBJECT_NAME (h->element), part);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, domain, code),
      "\"%s\" has the code %s %d", error->message,
      g_quark_to_string (error->domain), error->code);
  assert_message_says (message, part);
  g_error_free (error);
  gst_message_unref (message);
}

/* formats */

GST_START_TEST (test_unsupported_format)
{
  static const gchar *const caps[] = {
    "video/x-raw,format=YUY2,width=16,height=8,framerate=25/1",
    "video/x-raw,format=GRAY16_BE,width=16,height=8,framerate=25/1",
    "video/x-raw(memory:Other),format=RGB,width=16,height=8,framerate=25/1",
    "image/jpeg,width=16,height=8,framerate=25/1"
  };

  for (guint e = 0; filter_names[e]; e++)
    for (guint i = 0; i < G_N_ELEMENTS (caps); i++) {
      GstHarness *h = filter_harness_new (filter_names[e],
          backend_name (__i__), NULL);
      GstCaps *wanted = gst_caps_from_string (caps[i]);
      GstSegment segment;

      gst_segment_init (&segment, GST_FORMAT_TIME);
      gst_pad_push_event (h->srcpad, gst_event_new_caps (wanted));
      gst_pad_push_event (h->srcpad, gst_event_new_segment (&segment));
      gst_caps_unref (wanted);
      fail_unless_equals_int (gst_pad_push (h->srcpad,
              gst_buffer_new_allocate (NULL, 4096, NULL)),
          GST_FLOW_NOT_NEGOTIATED);
      fail_unless_equals_int (gst_harness_buffers_received (h), 0);
      filter_harness_free (h);
    }
}

GST_END_TEST;

/* The first error on the bus of a pipeline, within ten seconds. */
static GstMessage *
wait_for_error (GstElement * pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND,
      GST_MESSAGE_ERROR | GST_MESSAGE_EOS);

  fail_unless (message != NULL, "the pipeline goes on without an error");
  fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR,
      "the pipeline ends without an error");
  gst_object_unref (bus);
  return message;
}

/* In a pipeline the user reads not-negotiated. */
GST_START_TEST (test_unsupported_format_in_pipeline)
{
  GstElement *pipeline = pipeline_new ("appsrc name=src ! "
      "cudainvert backend=%s ! fakesink", backend_name (__i__));
  GstElement *src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  GstCaps *caps = gst_caps_from_string ("video/x-raw,format=YUY2,width=16,"
      "height=8,framerate=25/1");
  GstMessage *message;
  gchar *text;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_app_src_set_caps (GST_APP_SRC (src), caps);
  gst_app_src_push_buffer (GST_APP_SRC (src), gst_buffer_new_allocate (NULL,
          256, NULL));
  message = wait_for_error (pipeline);
  text = message_text (message);
  fail_unless (strstr (text, "not-negotiated") != NULL, "%s", text);
  g_free (text);
  gst_message_unref (message);
  gst_caps_unref (caps);
  gst_object_unref (src);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* A buffer that is too small for its caps is an error, not a crash. */
GST_START_TEST (test_small_buffer)
{
  for (guint e = 0; filter_names[e]; e++) {
    GstHarness *h = filter_harness_new (filter_names[e], backend_name (__i__),
        NULL);
    Picture *in = picture_new (gray, 1);

    gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
    fail_unless_equals_int (gst_harness_push (h, gst_buffer_new_allocate (NULL,
                16 * 8 - 1, NULL)), GST_FLOW_ERROR);
    gst_message_unref (filter_harness_message (h, GST_MESSAGE_ERROR));
    picture_free (in);
    filter_harness_free (h);
  }
}

GST_END_TEST;

/* settings */

static const struct {
  const gchar *element, *settings, *says;
} bad[] = {
  {"cudagaussian", "kernel-width=4", "kernel-width"},
  {"cudagaussian", "kernel-height=6", "kernel-height"},
  {"cudagaussian", "kernel-width=0", "kernel-width"},
  {"cudasobel", "kernel-size=4", "kernel-size"},
  {"cudasobel", "operator=scharr kernel-size=5", "kernel-size"},
  {"cudathreshold", "method=adaptive-mean block-size=10", "block-size"},
  {"cudafftmag", "normalize=range range-min=3 range-max=3", "range-m"},
};

static void
assert_settings_error (GstHarness * h, const Picture * in, const gchar * says)
{
  fail_unless_equals_int (gst_harness_push (h, picture_to_buffer (in)),
      GST_FLOW_ERROR);
  assert_error (h, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, says);
}

/* Set before the first frame, or while frames flow. */
GST_START_TEST (test_bad_settings)
{
  Picture *in = picture_new (gray, 1);

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    GstHarness *h = filter_harness_new (bad[i].element, backend_name (__i__),
        bad[i].settings);

    gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
    assert_settings_error (h, in, bad[i].says);
    filter_harness_free (h);
    h = filter_harness_new (bad[i].element, backend_name (__i__), NULL);
    assert_filtered (h, in);
    filter_set (h->element, bad[i].settings);
    assert_settings_error (h, in, bad[i].says);
    filter_harness_free (h);
  }
  picture_free (in);
}

GST_END_TEST;

/* After a stop and better settings the same element works. */
GST_START_TEST (test_recovers)
{
  GstHarness *h = filter_harness_new ("cudagaussian", backend_name (__i__),
      "kernel-width=4");
  Picture *in = picture_new (gray, 1);

  gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
  assert_settings_error (h, in, "kernel-width");
  filter_set (h->element, "kernel-width=5");
  assert_filter_result (h->element, in, filter_harness_run (h,
          picture_to_buffer (in)), FALSE);
  picture_free (in);
  filter_harness_free (h);
}

GST_END_TEST;

/* A value outside of its range is refused by GObject and changes nothing. */
GST_START_TEST (test_out_of_range)
{
  GstElement *element = filter_new ("cudathreshold", NULL, NULL);
  gdouble threshold = 0;

  /* a warning, or in later versions of GLib a critical */
  _gst_check_expecting_log = TRUE;
  g_object_set (element, "threshold", 256.5, NULL);
  _gst_check_expecting_log = FALSE;
  fail_unless (_gst_check_raised_warning || _gst_check_raised_critical);
  g_object_get (element, "threshold", &threshold, NULL);
  fail_unless (threshold == 127 || threshold == 255);
  gst_object_unref (element);
}

GST_END_TEST;

/* backends */

/* Whether one of the words that name what is missing is in the text. */
static void
assert_names_what_is_missing (GstMessage * message)
{
  static const gchar *const missing[] = { "driver", "without cuda", "gpu" };
  gchar *text = message_text (message), *lower = g_ascii_strdown (text, -1);
  gboolean found = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (missing); i++)
    found |= strstr (lower, missing[i]) != NULL;
  fail_unless (found, "\"%s\" does not say what is missing", text);
  g_free (lower);
  g_free (text);
}

/* An element that is asked for a GPU which is not there stays in READY and
 * says so. */
static void
check_no_gpu (const gchar * name, const gchar * settings, const gchar * says)
{
  GstElement *element = filter_new (name, "cuda", settings);
  GstBus *bus = gst_bus_new ();
  GstMessage *message;

  gst_element_set_bus (element, bus);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "%s fails without a word", name);
  fail_unless_message_error (message, RESOURCE, NOT_FOUND);
  assert_names_what_is_missing (message);
  assert_message_says (message, says);
  gst_message_unref (message);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}

GST_START_TEST (test_cuda_without_gpu)
{
  for (guint e = 0; filter_names[e]; e++) {
    check_no_gpu (filter_names[e], NULL, "");
    check_no_gpu (filter_names[e], "cuda-device-id=99", "");
  }
}

GST_END_TEST;

GST_START_TEST (test_no_such_device)
{
  check_no_gpu ("cudasobel", "cuda-device-id=99", "99");
}

GST_END_TEST;

/* backend=auto says what it took, and why. */
static void
check_auto (const gchar * settings, gboolean gpu)
{
  for (guint e = 0; filter_names[e]; e++) {
    GstHarness *h = filter_harness_new (filter_names[e], "auto", settings);
    GstMessage *message = filter_harness_message (h, GST_MESSAGE_INFO);
    Picture *in = picture_new (gray, 1);

    fail_unless (message != NULL, "auto falls back silently");
    if (gpu)
      assert_message_says (message, "GPU");
    else {
      assert_message_says (message, "CPU");
      assert_names_what_is_missing (message);
    }
    gst_message_unref (message);
    assert_filtered (h, in);
    fail_if (filter_harness_message (h, GST_MESSAGE_INFO),
        "it is said more than once");
    picture_free (in);
    filter_harness_free (h);
  }
}

GST_START_TEST (test_auto)
{
  check_auto (NULL, gpu_missing () == NULL);
}

GST_END_TEST;

/* With a device that does not exist, auto takes the CPU. */
GST_START_TEST (test_auto_no_such_device)
{
  check_auto ("cuda-device-id=99", FALSE);
}

GST_END_TEST;

/* Who asks for the CPU is not told about it. */
GST_START_TEST (test_cpu_is_silent)
{
  GstHarness *h = filter_harness_new ("cudainvert", "cpu", NULL);

  fail_if (filter_harness_message (h, GST_MESSAGE_INFO | GST_MESSAGE_WARNING
          | GST_MESSAGE_ERROR));
  filter_harness_free (h);
}

GST_END_TEST;

/* broken files */

/* A PNG file of which half is missing, or has other bytes in its middle. */
static gchar *
write_broken_png (gboolean truncated)
{
  gchar *path = NULL, *launch, *content;
  GError *error = NULL;
  GstElement *pipeline;
  gsize length;
  gint fd = g_file_open_tmp ("cudafilters-XXXXXX.png", &path, &error);

  fail_unless (fd >= 0, "%s", error ? error->message : "");
  g_close (fd, NULL);
  launch = g_strdup_printf ("videotestsrc num-buffers=1 pattern=snow ! "
      "video/x-raw,format=RGB,width=64,height=64 ! pngenc ! filesink "
      "location=%s", path);
  pipeline = pipeline_new (launch, "cpu");
  pipeline_play_to_end (pipeline);
  pipeline_set_state (pipeline, GST_STATE_NULL);
  fail_unless (g_file_get_contents (path, &content, &length, NULL));
  if (!truncated)
    memset (content + length / 2, 0x55, 200);
  fail_unless (g_file_set_contents (path, content,
          truncated ? length / 2 : length, NULL));
  g_free (content);
  g_free (launch);
  gst_object_unref (pipeline);
  return path;
}

/* The pipeline ends by itself, with an error. */
static void
check_broken_png (const gchar * backend, gboolean truncated)
{
  gchar *path = write_broken_png (truncated);
  gchar *launch = g_strdup_printf ("filesrc location=%s ! pngparse ! pngdec ! "
      "videoconvert ! cudasobel backend=%%s ! fakesink", path);
  GstElement *pipeline = pipeline_new (launch, backend);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_message_unref (wait_for_error (pipeline));
  fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_NULL),
      GST_STATE_CHANGE_SUCCESS);
  gst_object_unref (pipeline);
  g_unlink (path);
  g_free (launch);
  g_free (path);
}

GST_START_TEST (test_broken_png)
{
  check_broken_png (backend_name (__i__), TRUE);
  check_broken_png (backend_name (__i__), FALSE);
}

GST_END_TEST;

static const gchar *
png_missing (void)
{
  static const gchar *const names[] = { "pngenc", "pngparse", "pngdec" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    GstElementFactory *factory = gst_element_factory_find (names[i]);

    if (!factory)
      return "pngenc, pngparse or pngdec is not installed";
    gst_object_unref (factory);
  }
  return NULL;
}

static Suite *
errors_suite (void)
{
  Suite *suite = suite_create ("errors");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_backend_test (tcase, test_unsupported_format);
  tcase_add_backend_test (tcase, test_unsupported_format_in_pipeline);
  tcase_add_backend_test (tcase, test_small_buffer);
  tcase_add_backend_test (tcase, test_bad_settings);
  tcase_add_backend_test (tcase, test_recovers);
  tcase_add_test (tcase, test_out_of_range);
  tcase_add_test_unless (gpu_missing () ? NULL : "there is a GPU", tcase,
      test_cuda_without_gpu, 1);
  tcase_add_test_unless (gpu_missing (), tcase, test_no_such_device, 1);
  tcase_add_test (tcase, test_auto);
  tcase_add_test (tcase, test_auto_no_such_device);
  tcase_add_test (tcase, test_cpu_is_silent);
  tcase_add_test_unless (png_missing (), tcase, test_broken_png,
      (int) n_backends ());
  return suite;
}

TEST_MAIN (errors)
