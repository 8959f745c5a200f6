/* What all programs of this folder share; see helper.h. */
#include "helper.h"

#include <dlfcn.h>
#include <gst/app/gstappsink.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const gchar *const filter_names[] = { "cudainvert", "cudathreshold",
  "cudasobel", "cudagaussian", "cudafftmag", NULL
};

/* backends */

enum
{
  GPU_FOUND,
  GPU_NO_DRIVER,
  GPU_NO_DEVICE
};

static gint
look_for_gpu (void)
{
  void *driver = dlopen ("libcuda.so.1", RTLD_NOW);
  int (*init) (unsigned int), (*count) (int *), n = 0;

  if (!driver)
    return GPU_NO_DRIVER;
  init = (int (*)(unsigned int)) dlsym (driver, "cuInit");
  count = (int (*)(int *)) dlsym (driver, "cuDeviceGetCount");
  if (!init || !count || init (0) != 0 || count (&n) != 0 || n < 1)
    return GPU_NO_DEVICE;
  return GPU_FOUND;
}

static gint
look_for_gpu_in_child (void)
{
  gint status = 0;
  pid_t pid = fork ();

  if (pid == 0)
    _exit (look_for_gpu ());
  if (pid < 0 || waitpid (pid, &status, 0) != pid || !WIFEXITED (status))
    return GPU_NO_DEVICE;
  return WEXITSTATUS (status);
}

const gchar *
gpu_missing (void)
{
  static const gchar *const reasons[] = { NULL,
    "no NVIDIA driver (libcuda.so.1)", "the driver finds no GPU"
  };
  static gint found = -1;

  if (!TEST_WITH_CUDA)
    return "built without CUDA";
  if (found < 0)
    found = look_for_gpu_in_child ();
  return reasons[found];
}

const gchar *
cuda_neighbours_missing (void)
{
  static const gchar *const names[] = { "cudaupload", "cudadownload" };

  for (guint i = 0; i < G_N_ELEMENTS (names) && !gpu_missing (); i++) {
    GstElementFactory *factory = gst_element_factory_find (names[i]);

    if (!factory)
      return "GStreamer's cudaupload or cudadownload is not installed";
    gst_object_unref (factory);
  }
  return gpu_missing ();
}

guint
n_backends (void)
{
  return gpu_missing () ? 1 : 2;
}

const gchar *
backend_name (guint i)
{
  return i == 0 ? "cpu" : "cuda";
}

/* elements */

void
filter_set (GstElement * element, const gchar * settings)
{
  gchar **pairs = g_strsplit (settings ? settings : "", " ", -1);

  for (gchar ** pair = pairs; *pair; pair++) {
    gchar *equals = strchr (*pair, '=');

    if (!equals)
      continue;
    *equals = '\0';
    fail_unless (g_object_class_find_property (G_OBJECT_GET_CLASS (element),
            *pair), "%s has no property %s", GST_OBJECT_NAME (element), *pair);
    gst_util_set_object_arg (G_OBJECT (element), *pair, equals + 1);
  }
  g_strfreev (pairs);
}

GstElement *
filter_new (const gchar * name, const gchar * backend, const gchar * settings)
{
  GstElement *element = gst_element_factory_make (name, NULL);

  fail_unless (element != NULL, "no element %s: is GST_PLUGIN_PATH set?",
      name);
  if (backend)
    gst_util_set_object_arg (G_OBJECT (element), "backend", backend);
  filter_set (element, settings);
  return gst_object_ref_sink (element);
}

GstHarness *
filter_harness_new (const gchar * name, const gchar * backend,
    const gchar * settings)
{
  GstElement *element = filter_new (name, backend, settings);
  GstBus *bus = gst_bus_new ();
  GstHarness *h;

  gst_element_set_bus (element, bus);
  gst_object_unref (bus);
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  return h;
}

void
filter_harness_free (GstHarness * h)
{
  GstElement *element = gst_object_ref (h->element);
  GstBus *bus = gst_element_get_bus (element);

  gst_harness_teardown (h);
  /* messages of pads hold the pads, whose end takes the lock of the element */
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_element_set_bus (element, NULL);
  gst_object_unref (element);
}

GstMessage *
filter_harness_message (GstHarness * h, GstMessageType types)
{
  GstBus *bus = gst_element_get_bus (h->element);
  GstMessage *message = gst_bus_pop_filtered (bus, types);

  gst_object_unref (bus);
  return message;
}

GstBuffer *
filter_harness_run (GstHarness * h, GstBuffer * buffer)
{
  GstFlowReturn flow = gst_harness_push (h, buffer);

  fail_unless (flow == GST_FLOW_OK, "%s gives %s: %s",
      GST_OBJECT_NAME (h->element), gst_flow_get_name (flow),
      message_text (filter_harness_message (h, GST_MESSAGE_ERROR)));
  return gst_harness_pull (h);
}

void
assert_filter_result (GstElement * element, const Picture * in,
    GstBuffer * out, gboolean interlaced)
{
  Picture *expected = interlaced ? naive_filter_fields (element, in)
      : naive_filter_frame (element, in);
  Picture *actual = picture_from_buffer (out, in->caps);

  assert_pictures_equal (expected, actual, naive_tolerance (element, in),
      GST_OBJECT_NAME (element));
  picture_free (expected);
  picture_free (actual);
  gst_buffer_unref (out);
}

void
assert_filtered (GstHarness * h, const Picture * in)
{
  GstCaps *caps = gst_pad_get_current_caps (h->srcpad);

  if (!caps || !gst_caps_is_equal (caps, in->caps))
    gst_harness_set_src_caps (h, gst_caps_ref (in->caps));
  gst_clear_caps (&caps);
  assert_filter_result (h->element, in, filter_harness_run (h,
          picture_to_buffer (in)), GST_VIDEO_INFO_INTERLACE_MODE (&in->info)
      == GST_VIDEO_INTERLACE_MODE_INTERLEAVED);
}

gboolean
pad_is_cuda (GstElement * element, const gchar * name)
{
  GstPad *pad = gst_element_get_static_pad (element, name);
  GstCaps *caps = gst_pad_get_current_caps (pad);
  gboolean result;

  fail_unless (caps != NULL, "%s:%s has no caps", GST_OBJECT_NAME (element),
      name);
  result = gst_caps_features_contains (gst_caps_get_features (caps, 0),
      CUDA_MEMORY);
  gst_caps_unref (caps);
  gst_object_unref (pad);
  return result;
}

/* pipelines */

GstElement *
pipeline_new (const gchar * launch, const gchar * backend)
{
  gchar **pieces = g_strsplit (launch, "backend=%s", -1);
  gchar *setting = g_strconcat ("backend=", backend, NULL);
  gchar *text = g_strjoinv (setting, pieces);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (text, &error);

  fail_unless (pipeline != NULL && error == NULL, "%s: %s", text,
      error ? error->message : "no pipeline");
  g_free (text);
  g_free (setting);
  g_strfreev (pieces);
  return pipeline;
}

static void
fail_on_error (GstElement * pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);

  gst_object_unref (bus);
  fail_unless (message == NULL, "%s", message_text (message));
}

void
pipeline_set_state (GstElement * pipeline, GstState state)
{
  GstStateChangeReturn change = gst_element_set_state (pipeline, state);

  if (change == GST_STATE_CHANGE_ASYNC)
    change = gst_element_get_state (pipeline, NULL, NULL, 60 * GST_SECOND);
  fail_on_error (pipeline);
  fail_unless (change == GST_STATE_CHANGE_SUCCESS
      || change == GST_STATE_CHANGE_NO_PREROLL, "going to %s: %s",
      gst_element_state_get_name (state),
      gst_element_state_change_return_get_name (change));
}

void
pipeline_play_to_end (GstElement * pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "the pipeline does not end");
  fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS,
      "the pipeline ends with %s", message_text (message));
  gst_message_unref (message);
  gst_object_unref (bus);
}

GstSample *
pipeline_pull (GstElement * pipeline, const gchar * name)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), name);
  GstSample *sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink),
      60 * GST_SECOND);

  fail_on_error (pipeline);
  fail_unless (sample != NULL, "no frame comes to %s", name);
  gst_object_unref (sink);
  return sample;
}

gchar *
message_text (GstMessage * message)
{
  GError *error = NULL;
  gchar *debug = NULL, *text;

  if (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, &debug);
  else if (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_INFO)
    gst_message_parse_info (message, &error, &debug);
  else
    return g_strdup (message ? GST_MESSAGE_TYPE_NAME (message) : "no message");
  text = g_strdup_printf ("%s: %s (%s)", GST_MESSAGE_SRC_NAME (message),
      error->message, debug);
  g_free (debug);
  g_error_free (error);
  return text;
}

void
assert_message_says (GstMessage * message, const gchar * part)
{
  GError *error = NULL;
  gchar *all, *lower = g_ascii_strdown (part, -1);

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  else
    gst_message_parse_info (message, &error, NULL);
  all = g_ascii_strdown (error->message, -1);
  fail_unless (strstr (all, lower) != NULL,
      "the message \"%s\" does not say \"%s\"", error->message, part);
  g_free (all);
  g_free (lower);
  g_error_free (error);
}
