/*
 * Runs a pipeline to its end: counts frames, prints progress and everything
 * that the elements have to say, and closes files properly on Ctrl-C.
 *
 * On a terminal the progress is one line that changes, elsewhere a line every
 * few seconds, so that it reads well in a log too.
 */
#include "player.h"

#include <glib-unix.h>
#include <gst/pbutils/pbutils.h>
#include <string.h>
#include <unistd.h>

#define TERMINAL_INTERVAL_MS 200
#define LOG_INTERVAL_MS 2000

static GstPadProbeReturn
count_frame (GstPad * pad, GstPadProbeInfo * info, gpointer user_data)
{
  Player *player = user_data;

  if (player->frames == 0)
    player->first = g_get_monotonic_time ();
  player->frames++;
  return GST_PAD_PROBE_OK;
}

static gdouble
player_elapsed (Player * player)
{
  if (player->frames == 0)
    return 0;
  return (g_get_monotonic_time () - player->first) / (gdouble) G_USEC_PER_SEC;
}

static gboolean
print_progress (gpointer user_data)
{
  Player *player = user_data;
  gint64 position, duration;
  gdouble seconds = player_elapsed (player);
  gchar *percent = NULL;

  if (player->frames < 2)
    return G_SOURCE_CONTINUE;
  if (gst_element_query_position (player->pipeline, GST_FORMAT_TIME, &position)
      && gst_element_query_duration (player->pipeline, GST_FORMAT_TIME,
          &duration) && duration > 0)
    percent = g_strdup_printf ("%3d %%  ",
        (gint) MIN (100, position * 100.0 / duration));
  g_print ("%s  %s%" G_GUINT64_FORMAT " frames  %.1f frames/s%s",
      player->terminal ? "\r" : "", percent ? percent : "", player->frames,
      seconds > 0 ? player->frames / seconds : 0,
      player->terminal ? "\033[K" : "\n");
  g_free (percent);
  return G_SOURCE_CONTINUE;
}

/* Prints on a line of its own, whatever progress stands on the terminal. */
static void
print_line (Player * player, const gchar * what, const gchar * text)
{
  g_print ("%s  %s%s\n", player->terminal ? "\r\033[K" : "", what, text);
}

static void
handle_info (Player * player, GstMessage * message)
{
  GError *error;

  gst_message_parse_info (message, &error, NULL);
  if (!g_ptr_array_find_with_equal_func (player->notes, error->message,
          g_str_equal, NULL)) {
    print_line (player, "", error->message);
    g_ptr_array_add (player->notes, g_strdup (error->message));
  }
  g_error_free (error);
}

static void
handle_warning (Player * player, GstMessage * message)
{
  GError *error;

  gst_message_parse_warning (message, &error, NULL);
  print_line (player, "warning: ", error->message);
  g_error_free (error);
}

static void
handle_error (Player * player, GstMessage * message)
{
  GError *error;
  gchar *debug, *details;

  gst_message_parse_error (message, &error, &debug);
  print_line (player, "error: ", error->message);
  /* the first line of it names a place in the source */
  details = debug ? strchr (debug, '\n') : NULL;
  if (details)
    print_line (player, "  ", details + 1);
  g_error_free (error);
  g_free (debug);
  player->failed = TRUE;
  g_main_loop_quit (player->loop);
}

/* A plugin that decodebin would need. It may do without, so that alone is no
 * failure. */
static void
handle_missing_plugin (Player * player, GstMessage * message)
{
  gchar *text = gst_missing_plugin_message_get_description (message);

  print_line (player, "not installed: ", text);
  g_free (text);
}

static void
player_play (Player * player)
{
  player->playing = TRUE;
  gst_element_set_state (player->pipeline, GST_STATE_PLAYING);
}

/* The pipeline is ready to play, after the start or after a seek. */
static void
handle_ready (Player * player)
{
  if (player->start > 0 && !player->seeking) {
    player->seeking = TRUE;
    if (gst_element_seek_simple (player->pipeline, GST_FORMAT_TIME,
            GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
            (gint64) (player->start * GST_SECOND)))
      return;
    print_line (player, "warning: ", "no seeking here; from the beginning");
  }
  if (!player->playing)
    player_play (player);
}

static gboolean
handle_message (GstBus * bus, GstMessage * message, gpointer user_data)
{
  Player *player = user_data;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ASYNC_DONE:
      handle_ready (player);
      break;
    case GST_MESSAGE_INFO:
      handle_info (player, message);
      break;
    case GST_MESSAGE_WARNING:
      handle_warning (player, message);
      break;
    case GST_MESSAGE_ERROR:
      handle_error (player, message);
      break;
    case GST_MESSAGE_ELEMENT:
      if (gst_is_missing_plugin_message (message))
        handle_missing_plugin (player, message);
      break;
    case GST_MESSAGE_LATENCY:
      gst_bin_recalculate_latency (GST_BIN (player->pipeline));
      break;
    case GST_MESSAGE_EOS:
      player->seconds = player_elapsed (player);
      g_main_loop_quit (player->loop);
      break;
    default:
      break;
  }
  return G_SOURCE_CONTINUE;
}

static gboolean
handle_interrupt (gpointer user_data)
{
  Player *player = user_data;

  print_line (player, "", "interrupted: ending the stream");
  if (!player->playing) {
    player->failed = TRUE;
    g_main_loop_quit (player->loop);
  }
  gst_element_send_event (player->pipeline, gst_event_new_eos ());
  return G_SOURCE_CONTINUE;
}

void
player_init (Player * player, GstElement * pipeline)
{
  const gchar *term = g_getenv ("TERM");
  GstElement *frames;

  *player = (Player) {.pipeline = pipeline };
  player->notes = g_ptr_array_new_with_free_func (g_free);
  player->loop = g_main_loop_new (NULL, FALSE);
  player->terminal = isatty (STDOUT_FILENO) && term
      && !g_str_equal (term, "dumb");

  frames = gst_bin_get_by_name (GST_BIN (pipeline), "frames");
  if (frames) {
    GstPad *pad = gst_element_get_static_pad (frames, "src");

    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_frame, player,
        NULL);
    gst_object_unref (pad);
    gst_object_unref (frames);
  }
}

gboolean
player_run (Player * player)
{
  GstBus *bus = gst_element_get_bus (player->pipeline);
  guint sources[2];

  gst_bus_add_watch (bus, handle_message, player);
  sources[0] = g_timeout_add (player->terminal ? TERMINAL_INTERVAL_MS :
      LOG_INTERVAL_MS, print_progress, player);
  sources[1] = g_unix_signal_add (SIGINT, handle_interrupt, player);

  /* live sources have nothing to show before they play */
  if (gst_element_set_state (player->pipeline, GST_STATE_PAUSED) ==
      GST_STATE_CHANGE_NO_PREROLL)
    player_play (player);
  /* a failure has its message on the bus */
  g_main_loop_run (player->loop);
  if (!player->failed)
    print_progress (player);
  if (player->terminal && player->frames > 1)
    g_print ("\n");

  gst_element_set_state (player->pipeline, GST_STATE_NULL);
  g_source_remove (sources[0]);
  g_source_remove (sources[1]);
  gst_bus_remove_watch (bus);
  gst_object_unref (bus);
  return !player->failed;
}

void
player_clear (Player * player)
{
  g_main_loop_unref (player->loop);
  g_ptr_array_unref (player->notes);
  gst_object_unref (player->pipeline);
}
