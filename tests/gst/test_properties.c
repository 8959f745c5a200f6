/* Properties at work: each value of each of them gives its picture, set before
 * or while frames flow, by hand or by a control source. */
#include "helper.h"

#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

typedef struct {
  const gchar *element;
  const gchar *settings[24]; /* one after the other, while playing */
} Changes;

static const Changes changes[] = {
  {"cudainvert", {"invert-alpha=true", "invert-alpha=false"}},
  {"cudathreshold", {"threshold=40", "max-value=77.4", "type=binary-inv",
              "type=trunc", "type=tozero", "type=tozero-inv", "channels=luma",
              "type=trunc", "threshold=0", "threshold=255", "threshold=126.5",
              "method=adaptive-mean type=binary", "block-size=3", "offset=-30",
          "block-size=41", "method=fixed channels=each"}},
  {"cudasobel", {"direction=x", "direction=y", "output=clip", "output=offset",
              "direction=x", "scale=0.25", "delta=-30", "operator=scharr",
              "operator=sobel kernel-size=5", "border=replicate",
              "border=reflect", "border=wrap", "border=constant",
              "kernel-size=7 scale=0.03125", "channels=luma",
          "direction=magnitude norm=l1", "norm=l2 delta=12", "channels=each"}},
  {"cudagaussian", {"kernel-width=3", "kernel-width=5", "kernel-width=7",
              "kernel-height=1", "kernel-width=1 kernel-height=9",
              "kernel-width=9 sigma-x=1.25", "sigma-y=4", "border=replicate",
              "border=reflect", "border=wrap", "border=constant",
              "kernel-width=0 kernel-height=0 sigma-x=2 sigma-y=0",
          "kernel-width=63 sigma-x=0"}},
  {"cudafftmag", {"shift=false", "scale=linear", "scale=power",
              "scale=decibel", "normalize=range range-min=10 range-max=90",
              "scale=log range-min=1.5 range-max=11.5", "window=hann",
              "window=hamming", "window=blackman", "shift=true",
          "window=none normalize=minmax"}},
};

static const gchar *const pictures[] = { "format=RGBA,width=37,height=22",
  "format=NV12,width=24,height=20", "format=GRAY8,width=29,height=31"
};

/* Each frame is filtered with what the properties are when it comes. */
static void
check_changes (const Changes * change, const gchar * backend,
    const gchar * picture)
{
  GstHarness *h = filter_harness_new (change->element, backend, NULL);
  Picture *in = picture_new (picture, 7);

  assert_filtered (h, in);
  for (guint i = 0; change->settings[i]; i++) {
    filter_set (h->element, change->settings[i]);
    assert_filtered (h, in);
  }
  picture_free (in);
  filter_harness_free (h);
}

/* The same values, each list set before the element starts. */
static void
check_settings (const Changes * change, const gchar * backend,
    const gchar * picture)
{
  Picture *in = picture_new (picture, 8);
  GString *settings = g_string_new (NULL);

  for (guint i = 0; change->settings[i]; i++) {
    GstHarness *h;

    g_string_append_printf (settings, " %s", change->settings[i]);
    h = filter_harness_new (change->element, backend, settings->str);
    assert_filtered (h, in);
    filter_harness_free (h);
  }
  g_string_free (settings, TRUE);
  picture_free (in);
}

GST_START_TEST (test_change_while_playing)
{
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    for (guint p = 0; p < G_N_ELEMENTS (pictures); p++)
      check_changes (&changes[i], backend_name (__i__), pictures[p]);
}

GST_END_TEST;

GST_START_TEST (test_set_before_start)
{
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    check_settings (&changes[i], backend_name (__i__), pictures[0]);
}

GST_END_TEST;

/* Otsu and triangle: the picture is the one of the threshold that they
 * report, and that lies between the two levels of the frame. */
GST_START_TEST (test_computed_threshold)
{
  static const gchar *const methods[] = { "method=otsu", "method=triangle" };
  Picture *in = picture_new ("format=GRAY8,width=40,height=30", 1);

  for (gint i = 0; i < 40 * 30; i++)
    picture_set (in, 0, i % 40, i / 40, i % 5 ? 50 + i % 7 : 190 + i % 3);
  for (guint i = 0; i < G_N_ELEMENTS (methods); i++) {
    GstHarness *h = filter_harness_new ("cudathreshold", backend_name (__i__),
        methods[i]);
    gdouble computed = 0;

    g_object_get (h->element, "computed-threshold", &computed, NULL);
    fail_unless_equals_float (computed, -1);
    gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
    assert_filter_result (h->element, in, filter_harness_run (h,
            picture_to_buffer (in)), FALSE);
    g_object_get (h->element, "computed-threshold", &computed, NULL);
    fail_unless (computed >= 50 && computed < 192, "%s: threshold %g",
        methods[i], computed);
    if (i == 0)
      fail_unless (computed >= 56 && computed < 190, "otsu: %g", computed);
    filter_harness_free (h);
  }
  picture_free (in);
}

GST_END_TEST;

/* adaptive-gaussian, whose weights leave a few pixels to rounding. */
GST_START_TEST (test_adaptive_gaussian)
{
  GstHarness *h = filter_harness_new ("cudathreshold", backend_name (__i__),
      "method=adaptive-gaussian block-size=7 offset=-10");
  Picture *in = picture_new ("format=GRAY8,width=60,height=40", 3);
  Picture *expected = naive_filter_frame (h->element, in), *actual;
  GstBuffer *out;

  gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
  out = filter_harness_run (h, picture_to_buffer (in));
  actual = picture_from_buffer (out, in->caps);
  fail_unless (picture_difference (expected, actual) < 0.005);
  fail_unless (picture_difference (in, actual) > 0.5);
  gst_buffer_unref (out);
  picture_free (actual);
  picture_free (expected);
  picture_free (in);
  filter_harness_free (h);
}

GST_END_TEST;

/* control sources */

static void
control (GstElement * element, const gchar * property, const gdouble * values,
    guint n)
{
  GstControlSource *source = gst_interpolation_control_source_new ();

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  for (guint i = 0; i < n; i++)
    gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE
        (source), i * GST_SECOND, values[i]);
  fail_unless (gst_object_add_control_binding (GST_OBJECT (element),
          gst_direct_control_binding_new_absolute (GST_OBJECT (element),
              property, source)), "%s cannot be controlled", property);
  gst_object_unref (source);
}

/* On a ramp 0, 1, … 255 as many pixels are white as lie above the value that
 * the control source has at the frame's time. */
GST_START_TEST (test_control_source)
{
  static const gdouble values[] = { 20, 220, 70 };
  GstHarness *h = filter_harness_new ("cudathreshold", backend_name (__i__),
      NULL);
  Picture *in = picture_new ("format=GRAY8,width=256,height=2", 1);

  picture_fill_ramp (in);
  control (h->element, "threshold", values, G_N_ELEMENTS (values));
  gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
  for (guint n = 0; n <= 50; n++) {
    GstBuffer *buffer = picture_to_buffer (in), *out;
    Picture *actual;
    gint wanted = n <= 25 ? 20 + 8 * n : 220 - 6 * (n - 25), white = 0;

    GST_BUFFER_PTS (buffer) = n * GST_SECOND / 25;
    out = filter_harness_run (h, buffer);
    actual = picture_from_buffer (out, in->caps);
    for (gint x = 0; x < 256; x++)
      white += picture_get (actual, 0, x, 1) == 255;
    fail_unless (white == 255 - wanted, "frame %u: threshold %d in place of "
        "%d", n, 255 - white, wanted);
    picture_free (actual);
    gst_buffer_unref (out);
  }
  picture_free (in);
  filter_harness_free (h);
}

GST_END_TEST;

/* Properties of every type can be bound: a constant control source sets them.
 * Of an enum, GStreamer takes 1 for the last value. */
GST_START_TEST (test_control_every_type)
{
  static const struct {
    const gchar *element, *property;
    gdouble value;
    const gchar *same;
  } bound[] = {
    {"cudainvert", "invert-alpha", 1, "invert-alpha=true"},
    {"cudathreshold", "max-value", 90, "max-value=90"},
    {"cudathreshold", "type", 1, "type=tozero-inv"},
    {"cudasobel", "scale", 0.5, "scale=0.5"},
    {"cudasobel", "direction", 1, "direction=y"},
    {"cudasobel", "kernel-size", 5, "kernel-size=5"},
    {"cudagaussian", "kernel-width", 5, "kernel-width=5"},
    {"cudagaussian", "sigma-x", 3, "sigma-x=3"},
    {"cudafftmag", "shift", 0, "shift=false"},
    {"cudafftmag", "window", 1, "window=blackman"},
  };
  Picture *in = picture_new ("format=RGBA,width=20,height=13", 1);

  for (guint i = 0; i < G_N_ELEMENTS (bound); i++) {
    GstHarness *h = filter_harness_new (bound[i].element, backend_name (__i__),
        NULL);
    GstBuffer *buffer = picture_to_buffer (in), *out;
    GstElement *wanted = filter_new (bound[i].element, NULL, bound[i].same);

    control (h->element, bound[i].property, &bound[i].value, 1);
    gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
    GST_BUFFER_PTS (buffer) = 0;
    out = filter_harness_run (h, buffer);
    assert_filter_result (wanted, in, out, FALSE);
    gst_object_unref (wanted);
    filter_harness_free (h);
  }
  picture_free (in);
}

GST_END_TEST;

/* a property that another thread changes all the time */

typedef struct {
  GstElement *element;
  gint stop;
} Hammer;

static gpointer
hammer (gpointer data)
{
  Hammer *hammer = data;

  for (guint i = 0; !g_atomic_int_get (&hammer->stop); i++) {
    g_object_set (hammer->element, "threshold", i % 2 ? 60.0 : 180.0, NULL);
    g_thread_yield ();
  }
  return NULL;
}

/* Every frame is wholly of the one or of the other value. */
GST_START_TEST (test_frame_sees_one_value)
{
  GstHarness *h = filter_harness_new ("cudathreshold", backend_name (__i__),
      "threshold=60");
  Picture *in = picture_new ("format=GRAY8,width=320,height=180", 5);
  Picture *low = naive_filter_frame (h->element, in), *high;
  Hammer data = { h->element, FALSE };
  GThread *thread;

  filter_set (h->element, "threshold=180");
  high = naive_filter_frame (h->element, in);
  gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
  thread = g_thread_new ("hammer", hammer, &data);
  for (guint n = 0; n < 100; n++) {
    GstBuffer *out = filter_harness_run (h, picture_to_buffer (in));
    Picture *actual = picture_from_buffer (out, in->caps);

    if (picture_difference (low, actual) != 0)
      assert_pictures_equal (high, actual, 0, "threshold=180");
    picture_free (actual);
    gst_buffer_unref (out);
  }
  g_atomic_int_set (&data.stop, TRUE);
  g_thread_join (thread);
  picture_free (low);
  picture_free (high);
  picture_free (in);
  filter_harness_free (h);
}

GST_END_TEST;

static Suite *
properties_suite (void)
{
  Suite *suite = suite_create ("properties");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_backend_test (tcase, test_change_while_playing);
  tcase_add_backend_test (tcase, test_set_before_start);
  tcase_add_backend_test (tcase, test_computed_threshold);
  tcase_add_backend_test (tcase, test_adaptive_gaussian);
  tcase_add_backend_test (tcase, test_control_source);
  tcase_add_backend_test (tcase, test_control_every_type);
  tcase_add_backend_test (tcase, test_frame_sees_one_value);
  return suite;
}

TEST_MAIN (properties)
