/* What happens to a stream: new caps, flushes, seeks, its end, late frames,
 * states that come and go, and several elements in one pipeline. */
#include "helper.h"

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

/* Frames of another size and format, back and forth. */
GST_START_TEST (test_renegotiation)
{
  static const gchar *const pictures[] = { "format=NV12,width=32,height=16",
    "format=NV12,width=16,height=32", "format=RGB,width=16,height=32",
    "format=GRAY8,width=3,height=1", "format=NV12,width=32,height=16",
    "format=I420,width=32,height=16,interlace-mode=interleaved",
    "format=P010_10LE,width=64,height=40", "format=NV12,width=32,height=16"
  };

  for (guint e = 0; filter_names[e]; e++) {
    GstHarness *h = filter_harness_new (filter_names[e], backend_name (__i__),
        NULL);

    for (guint i = 0; i < G_N_ELEMENTS (pictures); i++) {
      Picture *in = picture_new (pictures[i], i);
      GstCaps *caps;

      assert_filtered (h, in);
      caps = gst_pad_get_current_caps (h->sinkpad);
      fail_unless (gst_caps_is_equal (caps, in->caps));
      gst_caps_unref (caps);
      assert_filtered (h, in);
      picture_free (in);
    }
    filter_harness_free (h);
  }
}

GST_END_TEST;

/* After a flush, in the middle of a stream, frames are filtered as before and
 * at the times of the new segment. */
GST_START_TEST (test_flush)
{
  for (guint e = 0; filter_names[e]; e++) {
    GstHarness *h = filter_harness_new (filter_names[e], backend_name (__i__),
        NULL);
    Picture *in = picture_new ("format=NV12,width=24,height=16", e);
    GstSegment segment;

    for (guint n = 0; n < 3; n++) {
      assert_filtered (h, in);
      fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
      fail_unless_equals_int (gst_harness_push (h, picture_to_buffer (in)),
          GST_FLOW_FLUSHING);
      fail_unless (gst_harness_push_event (h,
              gst_event_new_flush_stop (TRUE)));
      gst_segment_init (&segment, GST_FORMAT_TIME);
      segment.start = segment.time = n * GST_SECOND;
      fail_unless (gst_harness_push_event (h,
              gst_event_new_segment (&segment)));
    }
    assert_filtered (h, in);
    picture_free (in);
    filter_harness_free (h);
  }
}

GST_END_TEST;

GST_START_TEST (test_eos)
{
  GstHarness *h = filter_harness_new ("cudasobel", backend_name (__i__), NULL);
  Picture *in = picture_new ("format=NV12,width=24,height=16", 1);
  GstEvent *event;
  gboolean ended = FALSE;

  assert_filtered (h, in);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  while ((event = gst_harness_try_pull_event (h))) {
    ended |= GST_EVENT_TYPE (event) == GST_EVENT_EOS;
    gst_event_unref (event);
  }
  fail_unless (ended, "the end of the stream stays in the element");
  fail_unless_equals_int (gst_harness_push (h, picture_to_buffer (in)),
      GST_FLOW_EOS);
  picture_free (in);
  filter_harness_free (h);
}

GST_END_TEST;

/* A frame that would come too late is not filtered at all. */
GST_START_TEST (test_qos)
{
  GstHarness *h = filter_harness_new ("cudasobel", backend_name (__i__), NULL);
  Picture *in = picture_new ("format=NV12,width=24,height=16", 1);
  GstBuffer *late = picture_to_buffer (in), *early = picture_to_buffer (in);

  GST_BUFFER_PTS (late) = GST_SECOND;
  GST_BUFFER_PTS (early) = 20 * GST_SECOND;
  assert_filtered (h, in);
  fail_unless (gst_harness_push_upstream_event (h,
          gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, 5 * GST_SECOND,
              GST_SECOND)));
  fail_unless_equals_int (gst_harness_push (h, late), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  assert_filter_result (h->element, in, filter_harness_run (h, early), FALSE);
  picture_free (in);
  filter_harness_free (h);
}

GST_END_TEST;

/* An end that comes from downstream reaches the source. */
GST_START_TEST (test_downstream_flow)
{
  GstElement *pipeline = pipeline_new ("videotestsrc name=src ! "
      "video/x-raw,format=NV12,width=32,height=16 ! "
      "cudainvert backend=%s ! identity eos-after=3 ! fakesink",
      backend_name (__i__));

  pipeline_play_to_end (pipeline);
  pipeline_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* pipelines with the input beside the output */

#define BESIDE(caps, chain) "videotestsrc name=src pattern=ball " \
    "num-buffers=400 ! video/x-raw,framerate=25/1," caps " ! tee name=t " \
    "t. ! queue ! appsink name=in sync=false max-buffers=2 " \
    "t. ! queue ! " chain " ! video/x-raw ! " \
    "appsink name=out sync=false max-buffers=2"

static Picture *
picture_from_sample (GstSample * sample)
{
  return picture_from_buffer (gst_sample_get_buffer (sample),
      gst_sample_get_caps (sample));
}

/* The naive results of all filters called f0, f1, … one after the other. */
static Picture *
naive_chain (GstElement * pipeline, const Picture * in)
{
  Picture *picture = picture_copy (in);
  GstElement *filter;

  for (guint i = 0; i < 10; i++) {
    gchar *name = g_strdup_printf ("f%u", i);

    filter = gst_bin_get_by_name (GST_BIN (pipeline), name);
    g_free (name);
    if (filter) {
      Picture *next = naive_filter_frame (filter, picture);

      picture_free (picture);
      picture = next;
      gst_object_unref (filter);
    }
  }
  return picture;
}

/* The next frame of both sinks, and that the one is the result on the other.
 * Returns its time. */
static GstClockTime
check_next (GstElement * pipeline, gint tolerance)
{
  GstSample *in = pipeline_pull (pipeline, "in");
  GstSample *out = pipeline_pull (pipeline, "out");
  Picture *source = picture_from_sample (in);
  Picture *expected = naive_chain (pipeline, source);
  Picture *actual = picture_from_sample (out);
  GstClockTime time = GST_BUFFER_PTS (gst_sample_get_buffer (out));

  fail_unless_equals_clocktime (GST_BUFFER_PTS (gst_sample_get_buffer (in)),
      time);
  assert_pictures_equal (expected, actual, tolerance, "the pipeline");
  picture_free (source);
  picture_free (expected);
  picture_free (actual);
  gst_sample_unref (in);
  gst_sample_unref (out);
  return time;
}

GST_START_TEST (test_seek)
{
  GstElement *pipeline = pipeline_new (BESIDE
      ("format=NV12,width=32,height=16", "cudasobel name=f0 backend=%s"),
      backend_name (__i__));
  static const gint seconds[] = { 5, 2, 11, 0 };

  pipeline_set_state (pipeline, GST_STATE_PLAYING);
  fail_unless_equals_clocktime (check_next (pipeline, 0), 0);
  for (guint i = 0; i < G_N_ELEMENTS (seconds); i++) {
    fail_unless (gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
            GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
            seconds[i] * GST_SECOND));
    fail_unless_equals_clocktime (check_next (pipeline, 0),
        seconds[i] * GST_SECOND);
    fail_unless_equals_clocktime (check_next (pipeline, 0),
        seconds[i] * GST_SECOND + 40 * GST_MSECOND);
  }
  pipeline_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* All five, with threads between them. */
GST_START_TEST (test_chain)
{
  static const gchar *const chains[] = {
    BESIDE ("format=NV12,width=32,height=24",
        "cudainvert name=f0 backend=%s ! cudasobel name=f1 backend=%s ! "
        "cudathreshold name=f2 backend=%s ! cudagaussian name=f3 backend=%s ! "
        "cudafftmag name=f4 scale=linear backend=%s"),
    BESIDE ("format=RGBA,width=33,height=25",
        "cudainvert name=f0 backend=%s ! queue ! "
        "cudasobel name=f1 backend=%s ! queue ! "
        "cudathreshold name=f2 backend=%s ! queue ! "
        "cudagaussian name=f3 backend=%s ! queue ! "
        "cudafftmag name=f4 scale=linear backend=%s"),
  };

  for (guint i = 0; i < G_N_ELEMENTS (chains); i++) {
    GstElement *pipeline = pipeline_new (chains[i], backend_name (__i__));

    pipeline_set_state (pipeline, GST_STATE_PLAYING);
    for (guint n = 0; n < 20; n++)
      check_next (pipeline, 2);
    pipeline_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (pipeline);
  }
}

GST_END_TEST;

/* Two branches that share each frame, one of which would write over it. */
GST_START_TEST (test_tee)
{
  GstElement *pipeline = pipeline_new ("videotestsrc pattern=ball "
      "num-buffers=60 ! video/x-raw,format=RGB,width=40,height=30 ! "
      "tee name=t "
      "t. ! queue ! cudainvert name=f0 backend=%s ! tee name=u "
      "u. ! queue ! appsink name=a sync=false max-buffers=2 "
      "u. ! queue ! cudainvert backend=%s ! appsink name=b sync=false "
      "max-buffers=2 t. ! queue ! appsink name=in sync=false max-buffers=2",
      backend_name (__i__));

  pipeline_set_state (pipeline, GST_STATE_PLAYING);
  for (guint n = 0; n < 60; n++) {
    GstSample *sample[3] = { pipeline_pull (pipeline, "in"),
      pipeline_pull (pipeline, "a"), pipeline_pull (pipeline, "b")
    };
    Picture *in = picture_from_sample (sample[0]);
    Picture *once = picture_from_sample (sample[1]);
    Picture *twice = picture_from_sample (sample[2]);
    Picture *expected = naive_chain (pipeline, in);

    assert_pictures_equal (expected, once, 0, "inverted once");
    assert_pictures_equal (in, twice, 0, "inverted twice");
    picture_free (in);
    picture_free (once);
    picture_free (twice);
    picture_free (expected);
    for (guint i = 0; i < 3; i++)
      gst_sample_unref (sample[i]);
  }
  pipeline_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* Two pipelines that run at once; one ends and the other goes on. */
GST_START_TEST (test_two_pipelines)
{
  GstElement *first = pipeline_new (BESIDE ("format=NV12,width=32,height=16",
          "cudagaussian name=f0 backend=%s"), backend_name (__i__));
  GstElement *second = pipeline_new (BESIDE ("format=RGB,width=20,height=36",
          "cudasobel name=f0 backend=%s"), backend_name (__i__));

  pipeline_set_state (first, GST_STATE_PLAYING);
  pipeline_set_state (second, GST_STATE_PLAYING);
  for (guint n = 0; n < 10; n++) {
    check_next (first, 1);
    check_next (second, 0);
  }
  pipeline_set_state (first, GST_STATE_NULL);
  gst_object_unref (first);
  for (guint n = 0; n < 10; n++)
    check_next (second, 0);
  pipeline_set_state (second, GST_STATE_NULL);
  gst_object_unref (second);
}

GST_END_TEST;

/* To the end, with every frame. */
GST_START_TEST (test_play_to_end)
{
  GstElement *pipeline = pipeline_new ("videotestsrc num-buffers=25 ! "
      "video/x-raw,format=I420,width=64,height=48 ! "
      "cudafftmag backend=%s ! cudainvert backend=%s ! "
      "fakesink name=sink",
      backend_name (__i__));
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstStructure *stats;
  guint64 rendered = 0;

  pipeline_play_to_end (pipeline);
  g_object_get (sink, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "rendered", &rendered);
  fail_unless_equals_uint64 (rendered, 25);
  gst_structure_free (stats);
  gst_object_unref (sink);
  pipeline_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* states */

GST_START_TEST (test_state_cycles)
{
  GstElement *pipeline = pipeline_new (BESIDE
      ("format=NV12,width=32,height=16", "cudagaussian name=f0 backend=%s ! "
          "cudathreshold name=f1 type=trunc backend=%s"),
      backend_name (__i__));

  for (guint n = 0; n < 100; n++) {
    pipeline_set_state (pipeline, GST_STATE_PLAYING);
    fail_unless_equals_clocktime (check_next (pipeline, 1), 0);
    pipeline_set_state (pipeline, GST_STATE_NULL);
  }
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* To READY, where GstAppSink (up to 1.26 at least) would keep frames of the
 * last run for the next one: its queue is emptied only on the way to NULL. */
static void
pipeline_rest (GstElement * pipeline)
{
  static const gchar *const sinks[] = { "in", "out" };

  pipeline_set_state (pipeline, GST_STATE_READY);
  for (guint i = 0; i < G_N_ELEMENTS (sinks); i++) {
    GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), sinks[i]);
    GstSample *old;

    while ((old = gst_app_sink_try_pull_sample (GST_APP_SINK (sink), 0)))
      gst_sample_unref (old);
    gst_object_unref (sink);
  }
}

/* From READY, and with frames that wait in a full queue. */
GST_START_TEST (test_ready_cycles)
{
  GstElement *pipeline = pipeline_new (BESIDE
      ("format=RGBA,width=64,height=16", "cudasobel name=f0 backend=%s ! "
          "queue max-size-buffers=1 ! cudainvert name=f1 backend=%s"),
      backend_name (__i__));

  for (guint n = 0; n < 60; n++) {
    pipeline_set_state (pipeline, n % 2 ? GST_STATE_PAUSED
        : GST_STATE_PLAYING);
    if (n % 4 == 0)
      fail_unless_equals_clocktime (check_next (pipeline, 0), 0);
    pipeline_rest (pipeline);
  }
  pipeline_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* A backend that is changed in READY is the one that works next. */
GST_START_TEST (test_change_backend)
{
  GstElement *pipeline = pipeline_new (BESIDE
      ("format=NV12,width=32,height=16", "cudasobel name=f0 backend=%s"),
      "cpu");
  GstElement *filter = gst_bin_get_by_name (GST_BIN (pipeline), "f0");

  for (guint n = 0; n < 4; n++) {
    pipeline_set_state (pipeline, GST_STATE_PLAYING);
    fail_unless_equals_clocktime (check_next (pipeline, 0), 0);
    pipeline_rest (pipeline);
    gst_util_set_object_arg (G_OBJECT (filter), "backend",
        n % 2 ? "cpu" : "auto");
  }
  pipeline_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (filter);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* Frames that an application pushes, whose caps change on the way. */
GST_START_TEST (test_appsrc)
{
  static const gchar *const pictures[] = { "format=RGB,width=16,height=8",
    "format=GRAY8,width=7,height=30", "format=NV12,width=18,height=8"
  };
  GstElement *pipeline = pipeline_new ("appsrc name=src format=time ! "
      "cudainvert name=f0 backend=%s ! queue ! cudasobel name=f1 backend=%s ! "
      "appsink name=out sync=false", backend_name (__i__));
  GstElement *src = gst_bin_get_by_name (GST_BIN (pipeline), "src");

  pipeline_set_state (pipeline, GST_STATE_READY);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 12; i++) {
    Picture *in = picture_new (pictures[i / 2 % 3], i), *expected, *actual;
    GstBuffer *buffer = picture_to_buffer (in);
    GstSample *sample, *out;

    GST_BUFFER_PTS (buffer) = i * 40 * GST_MSECOND;
    sample = gst_sample_new (buffer, in->caps, NULL, NULL);
    gst_buffer_unref (buffer);
    fail_unless_equals_int (gst_app_src_push_sample (GST_APP_SRC (src),
            sample), GST_FLOW_OK);
    gst_sample_unref (sample);
    out = pipeline_pull (pipeline, "out");
    expected = naive_chain (pipeline, in);
    actual = picture_from_sample (out);
    assert_pictures_equal (expected, actual, 0, "appsrc");
    gst_sample_unref (out);
    picture_free (expected);
    picture_free (actual);
    picture_free (in);
  }
  gst_object_unref (src);
  pipeline_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

/* on a GPU, between GStreamer's own elements */

GST_START_TEST (test_cuda_neighbours)
{
  static const gchar *const chains[] = {
    BESIDE ("format=NV12,width=64,height=48",
        "cudaupload ! cudasobel name=f0 backend=cuda ! cudadownload"),
    BESIDE ("format=RGBA,width=64,height=48",
        "cudaupload ! cudainvert name=f0 backend=cuda ! queue ! "
        "cudasobel name=f1 backend=cuda ! cudadownload"),
    BESIDE ("format=NV12,width=64,height=48",
        "cudaupload ! tee name=u u. ! queue ! cudainvert backend=cuda ! "
        "fakesink async=false u. ! queue ! cudasobel name=f0 backend=cuda ! "
        "cudadownload"),
  };

  for (guint i = 0; i < G_N_ELEMENTS (chains); i++) {
    GstElement *pipeline = pipeline_new (chains[i], "cuda");

    pipeline_set_state (pipeline, GST_STATE_PLAYING);
    for (guint n = 0; n < 50; n++)
      check_next (pipeline, 0);
    pipeline_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (pipeline);
  }
}

GST_END_TEST;

static Suite *
streams_suite (void)
{
  Suite *suite = suite_create ("streams");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_backend_test (tcase, test_renegotiation);
  tcase_add_backend_test (tcase, test_flush);
  tcase_add_backend_test (tcase, test_eos);
  tcase_add_backend_test (tcase, test_qos);
  tcase_add_backend_test (tcase, test_downstream_flow);
  tcase_add_backend_test (tcase, test_seek);
  tcase_add_backend_test (tcase, test_chain);
  tcase_add_backend_test (tcase, test_tee);
  tcase_add_backend_test (tcase, test_two_pipelines);
  tcase_add_backend_test (tcase, test_play_to_end);
  tcase_add_backend_test (tcase, test_state_cycles);
  tcase_add_backend_test (tcase, test_ready_cycles);
  tcase_add_test (tcase, test_change_backend);
  tcase_add_backend_test (tcase, test_appsrc);
  tcase_add_test_unless (cuda_neighbours_missing (), tcase,
      test_cuda_neighbours, 1);
  return suite;
}

TEST_MAIN (streams)
