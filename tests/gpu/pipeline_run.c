#include "pipeline_run.h"

#include <stdlib.h>
#include <time.h>

#define TIMEOUT (120 * GST_SECOND)
#define MAX_REPEATS 9
#define CUDA_CONTEXT "gst.cuda.context"

static gboolean sharing;
static GstContext *shared; /* of the first pipeline that made one */

static double
now_us (clockid_t clock)
{
  struct timespec now;

  clock_gettime (clock, &now);
  return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

double
pipeline_now_us (void)
{
  return now_us (CLOCK_MONOTONIC);
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return x < y ? -1 : x > y;
}

double
pipeline_median (double *values, int n)
{
  qsort (values, n, sizeof (*values), compare_doubles);
  return values[n / 2];
}

void
pipeline_share_context (gboolean share)
{
  sharing = share;
  g_clear_pointer (&shared, gst_context_unref);
}

static void
keep_context (GstMessage *message)
{
  GstContext *context;

  gst_message_parse_have_context (message, &context);
  if (sharing && !shared
      && gst_context_has_context_type (context, CUDA_CONTEXT))
    shared = gst_context_ref (context);
  gst_context_unref (context);
}

/* Waits until the pipeline posts `expected`; an error before that counts. */
static gboolean
wait_for (GstElement *pipeline, GstMessageType expected, GError **error)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  gboolean ok = FALSE;

  while ((message = gst_bus_timed_pop_filtered (bus, TIMEOUT, expected
                  | GST_MESSAGE_ERROR | GST_MESSAGE_HAVE_CONTEXT))
      && GST_MESSAGE_TYPE (message) == GST_MESSAGE_HAVE_CONTEXT) {
    keep_context (message);
    gst_message_unref (message);
  }
  if (!message)
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_FAILED,
        "the pipeline did not end in time");
  else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, error, NULL);
  else
    ok = TRUE;
  gst_clear_message (&message);
  gst_object_unref (bus);
  return ok;
}

/* Brings them as far as PAUSED, so that what happens once stays out of the
 * time. */
static gboolean
open_copies (GPtrArray *pipelines, const char *launch, int copies,
    GError **error)
{
  for (int i = 0; i < copies; i++) {
    GstElement *pipeline = gst_parse_launch_full (launch, NULL,
        GST_PARSE_FLAG_FATAL_ERRORS, error);

    if (!pipeline)
      return FALSE;
    g_ptr_array_add (pipelines, pipeline);
    if (shared)
      gst_element_set_context (pipeline, shared);
    gst_element_set_state (pipeline, GST_STATE_PAUSED);
  }
  for (int i = 0; i < copies; i++)
    if (!wait_for (pipelines->pdata[i], GST_MESSAGE_ASYNC_DONE, error))
      return FALSE;
  return TRUE;
}

static void
close_copies (GPtrArray *pipelines)
{
  for (guint i = 0; i < pipelines->len; i++) {
    gst_element_set_state (pipelines->pdata[i], GST_STATE_NULL);
    gst_object_unref (pipelines->pdata[i]);
  }
  g_ptr_array_unref (pipelines);
}

gboolean
pipeline_run_copies (const char *launch, int copies, PipelineTime *time,
    GError **error)
{
  GPtrArray *pipelines = g_ptr_array_new ();
  gboolean ok = open_copies (pipelines, launch, copies, error);
  double wall = now_us (CLOCK_MONOTONIC);
  double cpu = now_us (CLOCK_PROCESS_CPUTIME_ID);

  for (int i = 0; ok && i < copies; i++)
    gst_element_set_state (pipelines->pdata[i], GST_STATE_PLAYING);
  for (int i = 0; ok && i < copies; i++)
    ok = wait_for (pipelines->pdata[i], GST_MESSAGE_EOS, error);
  time->wall_us = now_us (CLOCK_MONOTONIC) - wall;
  time->cpu_us = now_us (CLOCK_PROCESS_CPUTIME_ID) - cpu;
  close_copies (pipelines);
  return ok;
}

gboolean
pipeline_run (const char *launch, GError **error)
{
  PipelineTime time;

  return pipeline_run_copies (launch, 1, &time, error);
}

char *
pipeline_with_frames (const char *launch, int n)
{
  char **parts = g_strsplit (launch, "@N@", -1), number[16], *text;

  g_snprintf (number, sizeof (number), "%d", n);
  text = g_strjoinv (number, parts);
  g_strfreev (parts);
  return text;
}

static gboolean
run_frames (const char *launch, int n, int copies, PipelineTime *time,
    GError **error)
{
  char *text = pipeline_with_frames (launch, n);
  gboolean ok = pipeline_run_copies (text, copies, time, error);

  g_free (text);
  return ok;
}

gboolean
pipeline_time_frame (const char *launch, int n, int copies, int repeats,
    PipelineTime *time, GError **error)
{
  double wall[MAX_REPEATS], cpu[MAX_REPEATS];

  g_return_val_if_fail (repeats >= 1 && repeats <= MAX_REPEATS, FALSE);
  for (int i = 0; i < repeats; i++) {
    PipelineTime few, many;

    if (!run_frames (launch, n, copies, &few, error)
        || !run_frames (launch, 10 * n, copies, &many, error))
      return FALSE;
    wall[i] = (many.wall_us - few.wall_us) / (9.0 * n);
    cpu[i] = (many.cpu_us - few.cpu_us) / (9.0 * n);
  }
  time->wall_us = pipeline_median (wall, repeats);
  time->cpu_us = pipeline_median (cpu, repeats);
  return TRUE;
}
