/*
 * An application with the filters inside: it hands frames to an appsrc, a
 * chain of elements filters them, and it takes them back from an appsink.
 *
 *   embed PICTURE OUT.png [CHAIN]
 *
 * PICTURE is any picture that GStreamer decodes; it is read once and sent
 * through the chain as FRAMES frames, as an application would send what its
 * camera gives. The last result is written to OUT.png.
 *
 * On a GPU the frames go up at the first element of the chain and come down
 * after the last one; nothing here has to know about it.
 */
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <string.h>

#define FRAMES 100
#define RATE 30
#define DEFAULT_CHAIN "cudagaussian kernel-width=7 ! cudasobel"

/* The application's own picture: RGB, 8 bits, rows one after the other. */
typedef struct
{
  gint width, height;
  gsize stride;
  guint8 *data;
} Picture;

/* Prints the first error on the bus of `pipeline`, if there is one, and what
 * the elements have to say: which backend they run on. */
static gboolean
check_bus (GstElement * pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  gboolean ok = TRUE;

  while (ok && (message = gst_bus_pop_filtered (bus,
              GST_MESSAGE_ERROR | GST_MESSAGE_INFO))) {
    GError *error;
    gchar *debug;

    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
      gst_message_parse_error (message, &error, &debug);
      g_printerr ("%s: %s\n%s\n", GST_OBJECT_NAME (message->src),
          error->message, debug ? debug : "");
      ok = FALSE;
    } else {
      gst_message_parse_info (message, &error, &debug);
      g_print ("%s: %s\n", GST_OBJECT_NAME (message->src), error->message);
    }
    g_error_free (error);
    g_free (debug);
    gst_message_unref (message);
  }
  gst_object_unref (bus);
  return ok;
}

static GstElement *
parse_pipeline (const gchar * text)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch_full (text, NULL,
      GST_PARSE_FLAG_FATAL_ERRORS, &error);

  if (!pipeline)
    g_printerr ("%s\n", error->message);
  g_clear_error (&error);
  return pipeline;
}

/* Takes the next frame from the sink. NULL: end of stream, or an error, which
 * was printed and sets `failed`. An error does not reach the sink: hence the
 * look at the bus while there is no frame. */
static GstSample *
pull_sample (GstElement * pipeline, gboolean * failed)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstSample *sample = NULL;

  while (!sample && !*failed) {
    gboolean eos = gst_app_sink_is_eos (GST_APP_SINK (sink));

    sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink),
        100 * GST_MSECOND);
    if (!sample) {
      *failed = !check_bus (pipeline);
      if (eos)
        break;
    }
  }
  gst_object_unref (sink);
  return sample;
}

/* Copies the frame into memory of the application, without padding. */
static gboolean
copy_sample (GstSample * sample, Picture * picture)
{
  GstVideoInfo info;
  GstVideoFrame frame;
  gint y;

  if (!gst_video_info_from_caps (&info, gst_sample_get_caps (sample))
      || !gst_video_frame_map (&frame, &info, gst_sample_get_buffer (sample),
          GST_MAP_READ))
    return FALSE;
  picture->width = GST_VIDEO_FRAME_WIDTH (&frame);
  picture->height = GST_VIDEO_FRAME_HEIGHT (&frame);
  picture->stride = 3 * (gsize) picture->width;
  picture->data = g_malloc (picture->stride * picture->height);
  for (y = 0; y < picture->height; y++)
    memcpy (picture->data + y * picture->stride,
        (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
        (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
        picture->stride);
  gst_video_frame_unmap (&frame);
  return TRUE;
}

static gboolean
load_picture (const gchar * path, Picture * picture)
{
  GstElement *pipeline, *source;
  GstSample *sample;
  gboolean failed = FALSE, ok;

  pipeline = parse_pipeline ("filesrc name=source ! decodebin ! videoconvert "
      "! video/x-raw,format=RGB ! appsink name=sink sync=false");
  if (!pipeline)
    return FALSE;
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_object_set (source, "location", path, NULL);
  gst_object_unref (source);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  sample = pull_sample (pipeline, &failed);
  ok = sample && copy_sample (sample, picture);
  if (!ok)
    g_printerr ("%s: cannot be read as a picture\n", path);
  g_clear_pointer (&sample, gst_sample_unref);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return ok;
}

static GstElement *
make_chain (const gchar * chain, const Picture * picture)
{
  gchar *text = g_strdup_printf ("appsrc name=source format=time block=true "
      "! %s ! appsink name=sink sync=false max-buffers=4", chain);
  GstElement *pipeline = parse_pipeline (text);
  GstElement *source;
  GstCaps *caps;

  g_free (text);
  if (!pipeline)
    return NULL;
  /* plain video/x-raw: the frames are in system memory, and because appsink
   * takes anything, results come back in the memory of the input */
  caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "RGB",
      "width", G_TYPE_INT, picture->width, "height", G_TYPE_INT,
      picture->height, "framerate", GST_TYPE_FRACTION, RATE, 1, NULL);
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_object_set (source, "caps", caps, NULL);
  gst_caps_unref (caps);
  gst_object_unref (source);
  return pipeline;
}

/* A buffer around the application's own memory, which is neither copied nor
 * freed. The rows have no padding, which RGB in GStreamer has: the VideoMeta
 * says how they lie. */
static GstBuffer *
wrap_picture (const Picture * picture, gint index)
{
  gsize size = picture->stride * picture->height;
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0, };
  gint stride[GST_VIDEO_MAX_PLANES] = { (gint) picture->stride, };
  GstBuffer *buffer = gst_buffer_new_wrapped_full (GST_MEMORY_FLAG_READONLY,
      picture->data, size, 0, size, NULL, NULL);

  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
      GST_VIDEO_FORMAT_RGB, picture->width, picture->height, 1, offset,
      stride);
  GST_BUFFER_PTS (buffer) = gst_util_uint64_scale (index, GST_SECOND, RATE);
  GST_BUFFER_DURATION (buffer) = gst_util_uint64_scale (1, GST_SECOND, RATE);
  return buffer;
}

typedef struct
{
  GstElement *pipeline;
  const Picture *picture;
} Feed;

/* The producer, in a thread of its own: appsrc blocks it when the chain is
 * busy, and refuses frames when the chain has failed. */
static gpointer
feed_frames (gpointer data)
{
  Feed *feed = data;
  GstElement *source = gst_bin_get_by_name (GST_BIN (feed->pipeline), "source");
  GstFlowReturn ret = GST_FLOW_OK;
  gint i;

  for (i = 0; i < FRAMES && ret == GST_FLOW_OK; i++)
    ret = gst_app_src_push_buffer (GST_APP_SRC (source),
        wrap_picture (feed->picture, i));
  gst_app_src_end_of_stream (GST_APP_SRC (source));
  gst_object_unref (source);
  return NULL;
}

/* Sends the picture through the pipeline FRAMES times. Returns the last result,
 * or NULL after an error. */
static GstSample *
filter_frames (GstElement * pipeline, const Picture * picture)
{
  Feed feed = { pipeline, picture };
  GstSample *sample, *last = NULL;
  GThread *thread;
  gint64 begin = g_get_monotonic_time ();
  gboolean failed = FALSE;
  gint n = 0;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  thread = g_thread_new ("feed", feed_frames, &feed);
  for (; (sample = pull_sample (pipeline, &failed)); n++) {
    g_clear_pointer (&last, gst_sample_unref);
    last = sample;
  }
  if (failed)
    g_clear_pointer (&last, gst_sample_unref);
  else
    g_print ("%d frames of %d x %d, %.1f frames/s\n", n, picture->width,
        picture->height, n * (gdouble) G_USEC_PER_SEC /
        (g_get_monotonic_time () - begin));

  /* the thread may be blocked in a chain that has failed: stop that first */
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_thread_join (thread);
  return last;
}

static gboolean
save_sample (GstSample * sample, const gchar * path)
{
  GstCaps *caps = gst_caps_new_empty_simple ("image/png");
  GError *error = NULL;
  GstSample *png = gst_video_convert_sample (sample, caps, 10 * GST_SECOND,
      &error);
  GstMapInfo map;
  gboolean ok = FALSE;

  gst_caps_unref (caps);
  if (png && gst_buffer_map (gst_sample_get_buffer (png), &map, GST_MAP_READ)) {
    ok = g_file_set_contents (path, (const gchar *) map.data, map.size, &error);
    gst_buffer_unmap (gst_sample_get_buffer (png), &map);
  }
  g_clear_pointer (&png, gst_sample_unref);
  if (!ok)
    g_printerr ("%s: %s\n", path,
        error ? error->message : "the picture cannot be read");
  g_clear_error (&error);
  return ok;
}

static gboolean
run (const gchar * in, const gchar * out, const gchar * chain)
{
  Picture picture = { 0, };
  GstElement *pipeline = NULL;
  GstSample *sample = NULL;
  gboolean ok;

  if (load_picture (in, &picture))
    pipeline = make_chain (chain, &picture);
  if (pipeline)
    sample = filter_frames (pipeline, &picture);
  ok = sample && save_sample (sample, out);
  if (ok)
    g_print ("%s\n", out);

  g_clear_pointer (&sample, gst_sample_unref);
  g_clear_object (&pipeline);
  g_free (picture.data);
  return ok;
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  if (argc < 3 || argc > 4) {
    g_printerr ("usage: embed PICTURE OUT.png [CHAIN]\n");
    return 1;
  }
  return run (argv[1], argv[2], argc > 3 ? argv[3] : DEFAULT_CHAIN) ? 0 : 1;
}
