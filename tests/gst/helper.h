/* What all programs of this folder share: the backends that this machine has,
 * elements in harnesses and in pipelines, and checks on what they give. */
#ifndef TEST_HELPER_H
#define TEST_HELPER_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include "naive.h"
#include "picture.h"

#define CUDA_MEMORY "memory:CUDAMemory"

/* The five elements, in the order of the contract, and NULL. */
extern const gchar *const filter_names[];

/* "cpu", and "cuda" where this machine has a GPU and the plugin was built for
 * one. */
guint n_backends (void);
const gchar *backend_name (guint i);

/* Why there is no GPU, or NULL. Asked in a process of its own, since CUDA does
 * not survive the fork () of check. */
const gchar *gpu_missing (void);

/* Adds a test once for each backend; __i__ is its number. */
#define tcase_add_backend_test(tcase, func) \
  tcase_add_loop_test (tcase, func, 0, (int) n_backends ())

/* Why there are no cudaupload and cudadownload for the GPU, or NULL. */
const gchar *cuda_neighbours_missing (void);

/* Adds a test `n` times, or prints why it is skipped. */
#define tcase_add_test_unless(missing, tcase, func, n) \
  G_STMT_START { \
    if (missing) \
      g_print ("skipped: %s: %s\n", #func, missing); \
    else \
      tcase_add_loop_test (tcase, func, 0, n); \
  } G_STMT_END

/* An element with `settings` of the form "name=value name=value"; may be
 * NULL. */
GstElement *filter_new (const gchar * name, const gchar * backend,
    const gchar * settings);
void filter_set (GstElement * element, const gchar * settings);

/* The same in a harness, playing; frees with filter_harness_free (), which
 * also ends the element's bus. */
GstHarness *filter_harness_new (const gchar * name, const gchar * backend,
    const gchar * settings);
void filter_harness_free (GstHarness * h);

/* The next message of `types` on the bus of the harness's element, or NULL. */
GstMessage *filter_harness_message (GstHarness * h, GstMessageType types);

/* Pushes `buffer` and returns the frame that comes out. */
GstBuffer *filter_harness_run (GstHarness * h, GstBuffer * buffer);

/* Pushes `in`, of the caps that the harness has or else now gets, and checks
 * the frame that comes out against the naive result. */
void assert_filtered (GstHarness * h, const Picture * in);

/* Checks that `out` is the naive result on `in`; of interlaced caps (or where
 * a mixed stream's `interlaced` says so) on its fields. Takes `out`. */
void assert_filter_result (GstElement * element, const Picture * in,
    GstBuffer * out, gboolean interlaced);

/* True if the current caps of the pad are in CUDA memory. */
gboolean pad_is_cuda (GstElement * element, const gchar * pad);

/* A pipeline from text, with its errors as failures; backend=BACKEND stands
 * for %s wherever the text has it as "backend=%s". */
GstElement *pipeline_new (const gchar * launch, const gchar * backend);

/* To PLAYING and to the end of the stream. Fails on an error or after a
 * minute. */
void pipeline_play_to_end (GstElement * pipeline);

/* Until the state is reached. Takes what is on the bus off it. */
void pipeline_set_state (GstElement * pipeline, GstState state);

/* The next sample of the appsink called `name`; fails if none comes. */
GstSample *pipeline_pull (GstElement * pipeline, const gchar * name);

/* The text for users and the debug text of an error or info message, to be
 * freed; of any other message, or NULL, its type. */
gchar *message_text (GstMessage * message);

/* Checks that the text for users has `part` in it. Case does not matter. */
void assert_message_says (GstMessage * message, const gchar * part);

/* Runs the suite as GST_CHECK_MAIN does, after saying what is skipped. */
#define TEST_MAIN(name) \
  int \
  main (int argc, char **argv) \
  { \
    gst_check_init (&argc, &argv); \
    if (gpu_missing ()) \
      g_print ("skipped: all tests of backend=cuda: %s\n", gpu_missing ()); \
    return gst_check_run_suite (name ## _suite (), #name, __FILE__); \
  }

#endif
