/*
 * CUDA contexts: our elements among elements of another one, several in one
 * process, neighbours that ask each other, and what is left after many starts.
 *
 *   test_contexts [CASE]        (exit 77: no GPU)
 */
#include "gpu_case.h"

#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudautils.h>
#include <stdio.h>
#include <unistd.h>

#include "fault.h"

#define FRAMES 20
#define UPLOADED "cudaupload name=other ! video/x-raw(memory:CUDAMemory) ! "

static void
set_context_of (GstElement * pipeline, const gchar * name,
    GstCudaContext * context)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), name);

  gpu_case_set_context (element, context);
  gst_object_unref (element);
}

static void
expect_context (CheckedStream * stream, const gchar * name,
    GstCudaContext * expected)
{
  GstCudaContext *context = gpu_case_context_of (stream->gpu, name);

  if (context != expected)
    gpu_case_fail ("%s works in another context than expected", name);
  gst_object_unref (context);
}

/* foreign contexts */

/* "other" works in the first context and gives device memory to "ours", which
 * starts in the second and must follow. */
static void
check_follows (const gchar * chain, guint other_device)
{
  GstCudaContext *others = gpu_case_context (other_device);
  GstCudaContext *ours = gpu_case_context (0);
  CheckedStream *stream = checked_stream_new (chain, 320, 240);

  printf ("    %s\n", chain);
  set_context_of (stream->gpu, "other", others);
  set_context_of (stream->gpu, "ours", ours);
  checked_stream_compare (stream, FRAMES);
  expect_context (stream, "ours", others);
  checked_stream_free (stream);
  gst_object_unref (others);
  gst_object_unref (ours);
}

static void
follow_any_device (void)
{
  check_follows (UPLOADED "cudasobel name=ours backend=cuda ! "
      "cudainvert backend=cuda ! cudadownload", 0);
  check_follows (UPLOADED "cudagaussian name=ours backend=cuda", 0);
  check_follows ("cudainvert name=other backend=cuda ! "
      "video/x-raw(memory:CUDAMemory) ! cudasobel name=ours backend=cuda", 0);
}

static void
follow_same_device (void)
{
  check_follows (UPLOADED "cudasobel name=ours cuda-device-id=0 backend=cuda "
      "! cudadownload", 0);
}

/* Memory of another GPU than the one that the element must use. */
static void
other_device (void)
{
  GstCudaContext *others;
  CheckedStream *stream;
  int n = 0;

  gst_cuda_load_library ();
  CuInit (0);
  CuDeviceGetCount (&n);
  if (n < 2)
    gpu_case_skip ("this machine has one GPU");
  check_follows (UPLOADED "cudasobel name=ours backend=cuda", 1);
  others = gpu_case_context (1);
  stream = checked_stream_new (UPLOADED "cudasobel name=ours "
      "cuda-device-id=0 backend=cuda", 320, 240);
  set_context_of (stream->gpu, "other", others);
  checked_stream_compare (stream, FRAMES);
  checked_stream_free (stream);
  gst_object_unref (others);
}

/* "ours" between elements of another context on both sides. */
static void
between_foreign_elements (void)
{
  GstCudaContext *first = gpu_case_context (0);
  GstCudaContext *ours = gpu_case_context (0);
  GstCudaContext *last = gpu_case_context (0);
  CheckedStream *stream = checked_stream_new (UPLOADED
      "cudasobel name=ours backend=cuda ! video/x-raw(memory:CUDAMemory) ! "
      "cudadownload name=last", 320, 240);

  set_context_of (stream->gpu, "other", first);
  set_context_of (stream->gpu, "ours", ours);
  set_context_of (stream->gpu, "last", last);
  checked_stream_compare (stream, FRAMES);
  expect_context (stream, "ours", first);
  checked_stream_free (stream);
  gst_object_unref (first);
  gst_object_unref (ours);
  gst_object_unref (last);
}

/* several pipelines */

static void
two_pipelines (void)
{
  CheckedStream *stream[2];
  GstCudaContext *context[2];

  for (guint i = 0; i < 2; i++)
    stream[i] = checked_stream_new ("cudasobel name=ours backend=cuda ! "
        "cudagaussian backend=cuda", 320 + 16 * i, 240);
  for (guint n = 0; n < FRAMES; n++)
    for (guint i = 0; i < 2; i++)
      checked_stream_compare (stream[i], 1);
  for (guint i = 0; i < 2; i++)
    context[i] = gpu_case_context_of (stream[i]->gpu, "ours");
  if (context[0] == context[1])
    gpu_case_fail ("two pipelines have one context");
  for (guint i = 0; i < 2; i++)
    gst_object_unref (context[i]);
  checked_stream_free (stream[0]);
  checked_stream_compare (stream[1], FRAMES);
  checked_stream_free (stream[1]);
}

static void
context_of_the_application (void)
{
  GstCudaContext *context = gpu_case_context (0);

  for (guint i = 0; i < 3; i++) {
    CheckedStream *stream = checked_stream_new ("cudasobel name=first "
        "backend=cuda ! cudainvert name=last backend=cuda", 320, 240);

    gpu_case_set_context (stream->gpu, context);
    checked_stream_compare (stream, FRAMES);
    expect_context (stream, "first", context);
    expect_context (stream, "last", context);
    checked_stream_free (stream);
  }
  gst_object_unref (context);
}

/* elements that ask each other */

static gpointer
pause_element (gpointer element)
{
  gst_element_set_state (element, GST_STATE_PAUSED);
  return NULL;
}

/* Starts the elements at the same time, each in a thread of its own. */
static void
start_at_once (GstElement * pipeline)
{
  GThread *threads[8];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++) {
    gchar *name = g_strdup_printf ("f%u", i);
    GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), name);

    threads[i] = g_thread_new (name, pause_element, element);
    g_free (name);
    gst_object_unref (element);
  }
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
}

static void
neighbours_ask_each_other (void)
{
  GString *chain = g_string_new (NULL);

  for (guint i = 0; i < 8; i++)
    g_string_append_printf (chain, "%scuda%s name=f%u backend=cuda",
        i ? " ! " : "", i % 3 ? "invert" : "sobel", i);
  for (guint n = 0; n < 50; n++) {
    CheckedStream *stream = checked_stream_new (chain->str, 64, 48);

    if (n % 2)
      start_at_once (stream->gpu);
    checked_stream_compare (stream, 3);
    checked_stream_free (stream);
  }
  g_string_free (chain, TRUE);
}

/* what is left */

#define ALL_FIVE "cudasobel backend=cuda ! cudagaussian backend=cuda ! " \
  "cudainvert backend=cuda ! cudathreshold method=otsu backend=cuda ! " \
  "cudafftmag backend=cuda"
#define MIB 1048576.0
#define DEVICE_TOLERANCE 8.0    /* MiB */
#define HOST_TOLERANCE 32.0

typedef struct
{
  gdouble device_free;          /* MiB */
  gdouble host_used;
} Memory;

static Memory
read_memory (GstCudaContext * context)
{
  Memory memory;
  gchar *text = NULL;
  gulong pages = 0;

  if (!gst_cuda_context_push (context))
    gpu_case_fail ("the context of the test cannot be used");
  memory.device_free = fault_free_bytes () / MIB;
  gst_cuda_context_pop (NULL);
  if (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL))
    sscanf (text, "%*u %lu", &pages);
  g_free (text);
  memory.host_used = pages * (sysconf (_SC_PAGESIZE) / MIB);
  return memory;
}

static void
cycle (GstElement * pipeline, guint n)
{
  for (guint i = 0; i < n; i++) {
    GstState state = i % 2 ? GST_STATE_PLAYING : GST_STATE_PAUSED;

    gst_element_set_state (pipeline, state);
    if (gst_element_get_state (pipeline, NULL, NULL, 10 * GST_SECOND)
        != GST_STATE_CHANGE_SUCCESS)
      gpu_case_fail ("cycle %u does not come to %s", i,
          gst_element_state_get_name (state));
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }
}

/* In `shared`, or in contexts that come and go with the pipeline. */
static void
check_cycles (GstCudaContext * monitor, GstCudaContext * shared, guint n)
{
  static const gchar *const others[] = { "cudacvtcolor", "cudaresize" };
  GString *launch = g_string_new ("videotestsrc ! video/x-raw,format=RGBA,"
      "width=320,height=240 ! " ALL_FIVE);
  GstElement *pipeline;
  Memory before, after;

  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    GstElementFactory *factory = gst_element_factory_find (others[i]);

    if (factory)
      g_string_append_printf (launch, " ! %s backend=cuda", others[i]);
    gst_clear_object (&factory);
  }
  g_string_append (launch, " ! video/x-raw,format=BGRA,width=160,height=120 "
      "! fakesink sync=false");
  pipeline = gpu_case_pipeline (launch->str);
  if (shared)
    gpu_case_set_context (pipeline, shared);
  cycle (pipeline, 10);
  before = read_memory (monitor);
  cycle (pipeline, n);
  after = read_memory (monitor);
  printf ("    %u cycles: device memory free %.1f, then %.1f MiB; "
      "host memory used %.1f, then %.1f MiB\n", n, before.device_free,
      after.device_free, before.host_used, after.host_used);
  if (before.device_free - after.device_free > DEVICE_TOLERANCE)
    gpu_case_fail ("device memory is lost");
  if (after.host_used - before.host_used > HOST_TOLERANCE)
    gpu_case_fail ("host memory is lost");
  gst_object_unref (pipeline);
  g_string_free (launch, TRUE);
}

static void
cycles_in_one_context (void)
{
  GstCudaContext *context = gpu_case_context (0);

  check_cycles (context, context, 900);
  gst_object_unref (context);
}

static void
cycles_with_contexts (void)
{
  GstCudaContext *monitor = gpu_case_context (0);

  check_cycles (monitor, NULL, 100);
  gst_object_unref (monitor);
}

int
main (int argc, char **argv)
{
  static const GpuCase cases[] = {
    {"follow-any-device", 60, follow_any_device},
    {"follow-same-device", 30, follow_same_device},
    {"other-device", 60, other_device},
    {"between-foreign-elements", 30, between_foreign_elements},
    {"two-pipelines", 30, two_pipelines},
    {"context-of-the-application", 30, context_of_the_application},
    {"neighbours-ask-each-other", 120, neighbours_ask_each_other},
    {"cycles-in-one-context", 150, cycles_in_one_context},
    {"cycles-with-contexts", 150, cycles_with_contexts}
  };

  return gpu_case_main (argc, argv, cases, G_N_ELEMENTS (cases));
}
