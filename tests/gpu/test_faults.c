/*
 * What goes wrong outside of the elements: each fault must end in an error
 * message with a text within a second of the next frame, without a crash or a
 * hang, and pipelines of the process in contexts of their own go on; after a
 * faulty kernel only those on the CPU, since the driver then refuses all work of
 * the process on the GPU, in other contexts and in new ones too.
 *
 *   test_faults [CASE]        (exit 77: no GPU)
 */
#include "gpu_case.h"

#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudautils.h>
#include <stdio.h>
#include <string.h>

#include "fault.h"

#define SOUND_CHAIN "cudasobel backend=cuda ! cudainvert backend=cuda"
#define CPU_CHAIN "cudasobel backend=cpu ! cudainvert backend=cpu"
#define FRAMES_BEFORE 10
#define START_TIMEOUT (10 * GST_SECOND)
#define ERROR_TIMEOUT GST_SECOND

/* pipelines to harm: `chain` has an element "victim" */

typedef struct
{
  GstElement *pipeline;
  gint frames;                  /* atomic: that left the victim */
} Victim;

static GstPadProbeReturn
count_frame (GstPad * pad, GstPadProbeInfo * info, gpointer frames)
{
  g_atomic_int_inc ((gint *) frames);
  return GST_PAD_PROBE_OK;
}

static GstElement *
victim_element (Victim * victim)
{
  return gst_bin_get_by_name (GST_BIN (victim->pipeline), "victim");
}

static void
victim_add_probe (Victim * victim, GstPadProbeCallback callback, gpointer data)
{
  GstElement *element = victim_element (victim);
  GstPad *pad = gst_element_get_static_pad (element, "src");

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, callback, data, NULL);
  gst_object_unref (pad);
  gst_object_unref (element);
}

static Victim *
victim_new (const gchar * chain)
{
  Victim *victim = g_new0 (Victim, 1);
  gchar *launch = g_strdup_printf ("videotestsrc ! capsfilter name=size "
      "caps=video/x-raw,format=RGBA,width=64,height=48 ! %s ! "
      "video/x-raw ! fakesink sync=false", chain);

  victim->pipeline = gpu_case_pipeline (launch);
  victim_add_probe (victim, count_frame, &victim->frames);
  g_free (launch);
  return victim;
}

static GstMessage *
wait_message (GstElement * pipeline, GstMessageType type, GstClockTime time)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered (bus, time, type);

  gst_object_unref (bus);
  return message;
}

static void
victim_play (Victim * victim)
{
  gint64 end = g_get_monotonic_time () + START_TIMEOUT / 1000;

  gst_element_set_state (victim->pipeline, GST_STATE_PLAYING);
  while (g_atomic_int_get (&victim->frames) < FRAMES_BEFORE) {
    if (g_get_monotonic_time () > end)
      gpu_case_fail ("the pipeline gives no frames before the fault");
    g_usleep (1000);
  }
}

/* A message with a text that holds `words`, from one of ours, in time. */
static void
victim_expect_error (Victim * victim, const gchar * words, GstClockTime time)
{
  gint64 begin = g_get_monotonic_time ();
  GstMessage *message = wait_message (victim->pipeline, GST_MESSAGE_ERROR,
      time);
  GError *error = NULL;
  GType type;

  if (!message)
    gpu_case_fail ("no error message within %g s", (gdouble) time / GST_SECOND);
  gst_message_parse_error (message, &error, NULL);
  printf ("    %4.0f ms: %s: %s\n", (g_get_monotonic_time () - begin) / 1e3,
      GST_MESSAGE_SRC_NAME (message), error->message);
  type = g_type_from_name ("GstCudaFilter");
  if (!type || !g_type_is_a (G_OBJECT_TYPE (GST_MESSAGE_SRC (message)), type))
    gpu_case_fail ("the error is not from one of our elements");
  if (strlen (error->message) < 10 || !strstr (error->message, words))
    gpu_case_fail ("the error does not say what is wrong");
  g_error_free (error);
  gst_message_unref (message);
}

static void
victim_free (Victim * victim)
{
  if (gst_element_set_state (victim->pipeline, GST_STATE_NULL)
      != GST_STATE_CHANGE_SUCCESS)
    gpu_case_fail ("the pipeline does not go to NULL");
  gst_object_unref (victim->pipeline);
  g_free (victim);
}

static void
push_context (GstCudaContext * context)
{
  if (!gst_cuda_context_push (context))
    gpu_case_fail ("the context of the test cannot be used");
}

/* A sound pipeline works that is made after the fault. */
static void
check_new_pipeline (const gchar * chain)
{
  CheckedStream *stream = checked_stream_new (chain, 64, 48);

  checked_stream_compare (stream, 10);
  checked_stream_free (stream);
}

/* memory */

/* All memory of the card, until the context is unreffed. */
static GstCudaContext *
take_memory (void)
{
  GstCudaContext *context = gpu_case_context (0);
  gsize taken;

  push_context (context);
  taken = fault_take_memory ();
  gst_cuda_context_pop (NULL);
  printf ("    %.0f MiB taken\n", taken / 1048576.0);
  return context;
}

static void
memory_before_start (void)
{
  CheckedStream *stream = checked_stream_new (SOUND_CHAIN, 64, 48);
  Victim *victim = victim_new ("cudasobel name=victim backend=cuda");
  GstCudaContext *full;

  checked_stream_compare (stream, 10);
  full = take_memory ();
  gst_element_set_state (victim->pipeline, GST_STATE_PLAYING);
  victim_expect_error (victim, "", 5 * GST_SECOND);
  victim_free (victim);
  checked_stream_compare (stream, 10);
  gst_object_unref (full);
  check_new_pipeline (SOUND_CHAIN);
  checked_stream_free (stream);
}

static void
set_size (Victim * victim, gint width, gint height)
{
  GstElement *filter = gst_bin_get_by_name (GST_BIN (victim->pipeline),
      "size");
  gchar *text = g_strdup_printf ("video/x-raw,format=RGBA,width=%d,height=%d",
      width, height);

  gst_util_set_object_arg (G_OBJECT (filter), "caps", text);
  g_free (text);
  gst_object_unref (filter);
}

static void
memory_in_mid_stream (void)
{
  static const gchar *const chains[] = {
    "cudasobel name=victim backend=cuda",
    "cudainvert name=victim backend=cuda ! cudasobel backend=cuda",
    "cudagaussian name=victim backend=cuda",
    "cudathreshold name=victim method=otsu backend=cuda",
    "cudafftmag name=victim backend=cuda"
  };
  CheckedStream *stream = checked_stream_new (SOUND_CHAIN, 64, 48);

  checked_stream_compare (stream, 10);
  for (guint i = 0; i < G_N_ELEMENTS (chains); i++) {
    Victim *victim = victim_new (chains[i]);
    GstCudaContext *full;

    victim_play (victim);
    full = take_memory ();
    set_size (victim, 3840, 2160);
    victim_expect_error (victim, "", ERROR_TIMEOUT);
    checked_stream_compare (stream, 10);
    victim_free (victim);
    gst_object_unref (full);
  }
  check_new_pipeline (SOUND_CHAIN);
  checked_stream_free (stream);
}

/* contexts that end */

/* What a probe does once, between two frames, in the streaming thread. */
typedef struct
{
  void (*harm) (GstCudaContext * context);
  GstCudaContext *context;
  gint done;                    /* atomic */
} Harm;

static GstPadProbeReturn
do_harm (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  Harm *harm = data;

  harm->harm (harm->context);
  g_atomic_int_set (&harm->done, TRUE);
  return GST_PAD_PROBE_REMOVE;
}

static void
destroy (GstCudaContext * context)
{
  CuCtxDestroy ((CUcontext) gst_cuda_context_get_handle (context));
}

static void
write_nowhere (GstCudaContext * context)
{
  push_context (context);
  if (!fault_write_nowhere ())
    gpu_case_fail ("the faulty kernel cannot be queued");
  gst_cuda_context_pop (NULL);
}

static void
wait_for_harm (Harm * harm)
{
  gint64 end = g_get_monotonic_time () + START_TIMEOUT / 1000;

  while (!g_atomic_int_get (&harm->done)) {
    if (g_get_monotonic_time () > end)
      gpu_case_fail ("no frame came to the fault");
    g_usleep (100);
  }
}

/* Harms the context of a pipeline, beside one of `sound` elements that must go
 * on. */
static void
harm_in_mid_stream (const gchar * chain, const gchar * sound,
    GstCudaContext * given, void (*harm) (GstCudaContext * context))
{
  CheckedStream *stream = checked_stream_new (sound, 64, 48);
  Victim *victim = victim_new (chain);
  Harm data = { harm };

  printf ("    %s\n", chain);
  checked_stream_compare (stream, 10);
  if (given)
    gpu_case_set_context (victim->pipeline, given);
  victim_play (victim);
  data.context = gpu_case_context_of (victim->pipeline, "victim");
  if (!data.context || (given && data.context != given))
    gpu_case_fail ("the element is not in the context that it should use");
  victim_add_probe (victim, do_harm, &data);
  wait_for_harm (&data);
  victim_expect_error (victim, "", ERROR_TIMEOUT);
  checked_stream_compare (stream, 10);
  victim_free (victim);
  /* else its end would destroy the handle again */
  if (given || harm != destroy)
    gst_object_unref (data.context);
  checked_stream_compare (stream, 10);
  check_new_pipeline (sound);
  checked_stream_free (stream);
}

/* No frames of these pass between elements in device memory: GStreamer hands the
 * streams of such frames to the driver when it frees them, which ends the
 * process if their context is gone. */
static const gchar *const harmed_chains[] = {
  "cudasobel name=victim backend=cuda",
  "cudathreshold name=victim method=otsu backend=cuda",
  "cudafftmag name=victim backend=cuda"
};

static void
context_destroyed (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (harmed_chains); i++) {
    GstCudaContext *given;
    CUcontext handle, old;

    gst_cuda_load_library ();
    CuInit (0);
    if (CuCtxCreate (&handle, 0, 0) != CUDA_SUCCESS)
      gpu_case_fail ("no context for the neighbour");
    CuCtxPopCurrent (&old);
    given = gst_cuda_context_new_wrapped (handle, 0);
    harm_in_mid_stream (harmed_chains[i], SOUND_CHAIN, given, destroy);
    gst_object_unref (given);
  }
}

static void
own_context_destroyed (void)
{
  harm_in_mid_stream (harmed_chains[0], SOUND_CHAIN, NULL, destroy);
}

static void
kernel_fails (void)
{
  Victim *other = victim_new ("cudagaussian name=victim backend=cuda");

  victim_play (other);
  harm_in_mid_stream ("cudainvert name=victim backend=cuda ! "
      "cudasobel backend=cuda ! cudagaussian backend=cuda ! "
      "cudafftmag backend=cuda", CPU_CHAIN, NULL, write_nowhere);
  victim_expect_error (other, "", ERROR_TIMEOUT);
  victim_free (other);
}

/* GPUs that are not there */

static void
expect_no_device (const gchar * settings, const gchar * words)
{
  gchar *chain = g_strdup_printf ("cudasobel name=victim backend=cuda %s",
      settings);
  Victim *victim = victim_new (chain);

  if (gst_element_set_state (victim->pipeline, GST_STATE_PLAYING)
      != GST_STATE_CHANGE_FAILURE)
    gpu_case_fail ("the pipeline starts without a GPU");
  victim_expect_error (victim, words, ERROR_TIMEOUT);
  victim_free (victim);
  g_free (chain);
}

static void
expect_cpu (const gchar * settings)
{
  gchar *chain = g_strdup_printf ("cudasobel name=victim backend=auto %s",
      settings);
  CheckedStream *stream = checked_stream_new (chain, 64, 48);
  GstMessage *message;
  GError *info = NULL;

  checked_stream_compare (stream, 10);
  message = wait_message (stream->gpu, GST_MESSAGE_INFO, 0);
  if (!message)
    gpu_case_fail ("no message says that the CPU is used");
  gst_message_parse_info (message, &info, NULL);
  printf ("    %s\n", info->message);
  if (!strstr (info->message, "CPU"))
    gpu_case_fail ("the message does not name the CPU");
  g_error_free (info);
  gst_message_unref (message);
  checked_stream_free (stream);
  g_free (chain);
}

static void
device_id_out_of_range (void)
{
  CheckedStream *stream = checked_stream_new (SOUND_CHAIN, 64, 48);

  checked_stream_compare (stream, 10);
  expect_no_device ("cuda-device-id=999", "cuda-device-id");
  expect_cpu ("cuda-device-id=999");
  checked_stream_compare (stream, 10);
  checked_stream_free (stream);
}

static void
no_visible_gpu (void)
{
  expect_no_device ("", "NVIDIA");
  expect_cpu ("");
}

int
main (int argc, char **argv)
{
  static const GpuCase cases[] = {
    {"memory-before-start", 60, memory_before_start},
    {"memory-in-mid-stream", 90, memory_in_mid_stream},
    {"context-destroyed", 60, context_destroyed},
    {"own-context-destroyed", 60, own_context_destroyed},
    {"kernel-fails", 60, kernel_fails},
    {"device-id-out-of-range", 30, device_id_out_of_range},
    {"no-visible-gpu", 30, no_visible_gpu, "CUDA_VISIBLE_DEVICES", "-1"}
  };

  return gpu_case_main (argc, argv, cases, G_N_ELEMENTS (cases));
}
