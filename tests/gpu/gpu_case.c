/* gpu_case.h: processes, contexts, and the comparison of two pipelines. */
#include "gpu_case.h"

#include <gst/app/gstappsink.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudautils.h>
#include <gst/video/video.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRAME_TIMEOUT (10 * GST_SECOND)
#define TOLERANCE 1             /* of each backend's own rounding */

/* processes */

void
gpu_case_fail (const gchar * format, ...)
{
  va_list args;

  printf ("    FAILED: ");
  va_start (args, format);
  vprintf (format, args);
  va_end (args);
  printf ("\n");
  fflush (stdout);
  _exit (1);
}

void
gpu_case_skip (const gchar * reason)
{
  printf ("    skipped: %s\n", reason);
  fflush (stdout);
  _exit (GPU_CASE_SKIPPED);
}

/* The exit status of the process, or -1, once it was killed, if it hangs. */
static gint
wait_for_child (pid_t pid, gint seconds)
{
  gint64 end = g_get_monotonic_time () + seconds * G_USEC_PER_SEC;
  gint status;

  while (waitpid (pid, &status, WNOHANG) == 0) {
    if (g_get_monotonic_time () > end) {
      kill (pid, SIGKILL);
      waitpid (pid, &status, 0);
      return -1;
    }
    g_usleep (20000);
  }
  return status;
}

/* True unless it failed. A new program, and not a fork, since CUDA does not
 * survive one. */
static gboolean
run_in_child (const gchar * program, const GpuCase * test)
{
  gint64 begin = g_get_monotonic_time ();
  gint status;
  pid_t pid = fork ();

  if (pid == 0) {
    if (test->variable)
      setenv (test->variable, test->value, TRUE);
    execl (program, program, test->name, NULL);
    _exit (1);
  }
  status = wait_for_child (pid, test->seconds);
  printf ("%-40s %6.1f s  ", test->name,
      (g_get_monotonic_time () - begin) / 1e6);
  if (status == -1)
    printf ("HUNG\n");
  else if (WIFSIGNALED (status))
    printf ("CRASHED: %s\n", strsignal (WTERMSIG (status)));
  else if (WEXITSTATUS (status) == GPU_CASE_SKIPPED)
    printf ("skipped\n");
  else
    printf ("%s\n", WEXITSTATUS (status) == 0 ? "ok" : "FAILED");
  return status != -1 && WIFEXITED (status)
      && (WEXITSTATUS (status) == 0
      || WEXITSTATUS (status) == GPU_CASE_SKIPPED);
}

static const gchar *
why_no_gpu (void)
{
  int n = 0;

  if (!gst_cuda_load_library ())
    return "no NVIDIA driver (libcuda.so.1)";
  if (CuInit (0) != CUDA_SUCCESS || CuDeviceGetCount (&n) != CUDA_SUCCESS
      || n == 0)
    return "the driver finds no GPU";
  return NULL;
}

static gint
run_all (const GpuCase * cases, guint n)
{
  gchar *program = g_file_read_link ("/proc/self/exe", NULL);
  guint failures = 0;

  printf ("%s\n", gst_version_string ());
  for (guint i = 0; i < n; i++)
    failures += !run_in_child (program, &cases[i]);
  g_free (program);
  printf ("%u of %u failed\n", failures, n);
  return failures ? 1 : 0;
}

gint
gpu_case_main (gint argc, gchar ** argv, const GpuCase * cases, guint n)
{
  const gchar *reason;

  setvbuf (stdout, NULL, _IOLBF, 0);
  gst_init (&argc, &argv);
  if (argc < 2) {
    reason = why_no_gpu ();
    if (!reason)
      return run_all (cases, n);
    printf ("skipped: %s\n", reason);
    return GPU_CASE_SKIPPED;
  }
  for (guint i = 0; i < n; i++) {
    if (strcmp (cases[i].name, argv[1]) == 0) {
      cases[i].run ();
      return 0;
    }
  }
  printf ("no case %s\n", argv[1]);
  return 2;
}

/* pipelines and contexts */

GstElement *
gpu_case_pipeline (const gchar * launch)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch_full (launch, NULL,
      GST_PARSE_FLAG_FATAL_ERRORS, &error);

  if (!pipeline)
    gpu_case_fail ("%s: %s", launch, error->message);
  return pipeline;
}

GstCudaContext *
gpu_case_context (guint device)
{
  GstCudaContext *context;

  gst_cuda_load_library ();
  context = gst_cuda_context_new (device);
  if (!context)
    gpu_case_fail ("no CUDA context on GPU %u", device);
  return context;
}

void
gpu_case_set_context (GstElement * element, GstCudaContext * context)
{
  GstContext *shared = gst_context_new_cuda_context (context);

  gst_element_set_context (element, shared);
  gst_context_unref (shared);
}

GstCudaContext *
gpu_case_context_of (GstElement * pipeline, const gchar * name)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), name);
  GstPad *pad = gst_element_get_static_pad (element, "sink");
  GstQuery *query = gst_query_new_context (GST_CUDA_CONTEXT_TYPE);
  GstCudaContext *result = NULL;
  GstContext *context = NULL;

  if (gst_pad_query (pad, query))
    gst_query_parse_context (query, &context);
  if (context)
    gst_structure_get (gst_context_get_structure (context),
        GST_CUDA_CONTEXT_TYPE, GST_TYPE_CUDA_CONTEXT, &result, NULL);
  gst_query_unref (query);
  gst_object_unref (pad);
  gst_object_unref (element);
  return result;
}

/* streams */

static GstElement *
stream_pipeline (const gchar * chain, gint width, gint height, gboolean cpu)
{
  static const gchar *const replaced[][2] = { {"backend=cuda", "backend=cpu"},
  {"cudaupload", "identity"}, {"cudadownload", "identity"},
  {"(memory:CUDAMemory)", ""}
  };
  GString *text = g_string_new (NULL);
  GstElement *pipeline;

  g_string_printf (text, "videotestsrc pattern=ball ! video/x-raw,"
      "format=RGBA,width=%d,height=%d ! %s ! video/x-raw ! "
      "appsink name=out sync=false max-buffers=2", width, height, chain);
  for (guint i = 0; cpu && i < G_N_ELEMENTS (replaced); i++)
    g_string_replace (text, replaced[i][0], replaced[i][1], 0);
  pipeline = gpu_case_pipeline (text->str);
  g_string_free (text, TRUE);
  return pipeline;
}

CheckedStream *
checked_stream_new (const gchar * chain, gint width, gint height)
{
  CheckedStream *stream = g_new0 (CheckedStream, 1);

  stream->gpu = stream_pipeline (chain, width, height, FALSE);
  stream->cpu = stream_pipeline (chain, width, height, TRUE);
  return stream;
}

static void
fail_with_bus (GstElement * pipeline, const gchar * what)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  GError *error = NULL;

  if (message)
    gst_message_parse_error (message, &error, NULL);
  gpu_case_fail ("%s: %s", what, error ? error->message : "no message");
}

static GstSample *
pull (GstElement * pipeline)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  GstSample *sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink),
      FRAME_TIMEOUT);

  gst_object_unref (sink);
  if (!sample)
    fail_with_bus (pipeline, "no frame comes");
  return sample;
}

static void
map_sample (GstVideoFrame * frame, GstSample * sample)
{
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, gst_sample_get_caps (sample))
      || !gst_video_frame_map (frame, &info, gst_sample_get_buffer (sample),
          GST_MAP_READ))
    gpu_case_fail ("a frame cannot be mapped");
}

static void
compare_samples (GstSample * gpu, GstSample * cpu)
{
  GstVideoFrame a, b;

  map_sample (&a, gpu);
  map_sample (&b, cpu);
  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (&a); y++) {
    const guint8 *left = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&a, 0)
        + y * GST_VIDEO_FRAME_PLANE_STRIDE (&a, 0);
    const guint8 *right = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&b, 0)
        + y * GST_VIDEO_FRAME_PLANE_STRIDE (&b, 0);

    for (gint i = 0; i < 4 * GST_VIDEO_FRAME_WIDTH (&a); i++)
      if (ABS (left[i] - right[i]) > TOLERANCE)
        gpu_case_fail ("wrong picture: byte %d of line %d is %d, not %d", i, y,
            left[i], right[i]);
  }
  gst_video_frame_unmap (&a);
  gst_video_frame_unmap (&b);
}

void
checked_stream_compare (CheckedStream * stream, guint n)
{
  if (gst_element_set_state (stream->gpu, GST_STATE_PLAYING)
      == GST_STATE_CHANGE_FAILURE)
    fail_with_bus (stream->gpu, "a sound pipeline does not start");
  gst_element_set_state (stream->cpu, GST_STATE_PLAYING);
  for (guint i = 0; i < n; i++) {
    GstSample *gpu = pull (stream->gpu), *cpu = pull (stream->cpu);

    compare_samples (gpu, cpu);
    gst_sample_unref (gpu);
    gst_sample_unref (cpu);
  }
}

void
checked_stream_free (CheckedStream * stream)
{
  gst_element_set_state (stream->gpu, GST_STATE_NULL);
  gst_element_set_state (stream->cpu, GST_STATE_NULL);
  gst_object_unref (stream->gpu);
  gst_object_unref (stream->cpu);
  g_free (stream);
}
