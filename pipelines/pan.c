/*
 * Makes an H.264 video (MP4) of photographs, with a window that wanders over
 * them: test material that moves, from nothing but pictures.
 *
 *   pan OUT.mp4 PICTURE...
 *
 * The window is a compositor smaller than the picture; a GstControlSource
 * moves the picture under it, frame by frame.
 */
#include "player.h"

#include <gst/controller/gstdirectcontrolbinding.h>
#include <gst/controller/gstinterpolationcontrolsource.h>

#define RATE 30
#define FRAMES 100              /* of each picture */
#define PICTURE_WIDTH 1920      /* what a picture is scaled to */
#define PICTURE_HEIGHT 1280
#define WIDTH 1280              /* of the window, and so of the video */
#define HEIGHT 720

/* Moves `property` of the pad from `from` to `to` and back, over each of the
 * `n` pictures in turn. */
static void
add_motion (GstPad * pad, const gchar * property, gdouble from, gdouble to,
    gint n)
{
  GstControlSource *source = gst_interpolation_control_source_new ();
  GstTimedValueControlSource *values = GST_TIMED_VALUE_CONTROL_SOURCE (source);
  gint i;

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_LINEAR, NULL);
  for (i = 0; i <= n; i++)
    gst_timed_value_control_source_set (values,
        gst_util_uint64_scale (i * FRAMES, GST_SECOND, RATE),
        i % 2 == 0 ? from : to);
  gst_object_add_control_binding (GST_OBJECT (pad),
      gst_direct_control_binding_new_absolute (GST_OBJECT (pad), property,
          source));
  gst_object_unref (source);
}

static GstElement *
make_pipeline (gint n, GError ** error)
{
  GString *text = g_string_new (NULL);
  GstElement *pipeline;
  gint i;

  g_string_append_printf (text, "concat name=all ! compositor name=window "
      "! video/x-raw,format=I420,width=%d,height=%d,framerate=%d/1 "
      "! identity name=frames "
      "! x264enc speed-preset=veryfast bframes=0 bitrate=6000 "
      "key-int-max=30 ! h264parse ! mp4mux ! filesink name=sink ",
      WIDTH, HEIGHT, RATE);
  for (i = 0; i < n; i++)
    g_string_append_printf (text, "filesrc name=source%d ! decodebin "
        "! videoconvert ! videoscale add-borders=false ! video/x-raw,"
        "format=I420,width=%d,height=%d,pixel-aspect-ratio=1/1 "
        "! imagefreeze num-buffers=%d ! video/x-raw,framerate=%d/1 ! all. ",
        i, PICTURE_WIDTH, PICTURE_HEIGHT, FRAMES, RATE);
  pipeline = gst_parse_launch_full (text->str, NULL,
      GST_PARSE_FLAG_FATAL_ERRORS, error);
  g_string_free (text, TRUE);
  return pipeline;
}

static void
set_location (GstElement * pipeline, const gchar * name, const gchar * path)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), name);

  g_object_set (element, "location", path, NULL);
  gst_object_unref (element);
}

static void
set_up_pipeline (GstElement * pipeline, char **pictures, gint n)
{
  GstElement *window = gst_bin_get_by_name (GST_BIN (pipeline), "window");
  GstPad *pad = gst_element_get_static_pad (window, "sink_0");
  gint i;

  for (i = 0; i < n; i++) {
    gchar *name = g_strdup_printf ("source%d", i);

    set_location (pipeline, name, pictures[i]);
    g_free (name);
  }
  add_motion (pad, "xpos", 0, WIDTH - PICTURE_WIDTH, n);
  add_motion (pad, "ypos", (HEIGHT - PICTURE_HEIGHT) / 3.,
      (HEIGHT - PICTURE_HEIGHT) * 2 / 3., n);
  gst_object_unref (pad);
  gst_object_unref (window);
}

int
main (int argc, char **argv)
{
  GstElement *pipeline;
  GError *error = NULL;
  Player player;
  gboolean ok;

  gst_init (&argc, &argv);
  if (argc < 3) {
    g_printerr ("usage: pan OUT.mp4 PICTURE...\n");
    return 1;
  }
  pipeline = make_pipeline (argc - 2, &error);
  if (!pipeline) {
    g_printerr ("pan: %s\n", error->message);
    g_error_free (error);
    return 1;
  }
  set_location (pipeline, "sink", argv[1]);
  set_up_pipeline (pipeline, argv + 2, argc - 2);

  player_init (&player, pipeline);
  ok = player_run (&player);
  player_clear (&player);
  return ok ? 0 : 1;
}
