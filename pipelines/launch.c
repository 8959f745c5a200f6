/*
 * gst-launch-1.0 with progress: runs a pipeline and shows percent, frames and
 * frames per second, counted at its element `identity name=frames`.
 *
 *   launch [--start=SECONDS] [--report=FILE] PIPELINE...
 */
#include "player.h"

#include <gst/pbutils/pbutils.h>
#include <string.h>

/* A word of the command line as the parser of pipelines wants it: the value of
 * `property=value` in quotes, so that it may hold anything. */
static gchar *
quote_word (const gchar * word)
{
  gsize name = strspn (word, "abcdefghijklmnopqrstuvwxyz0123456789-:_");
  GString *quoted = g_string_new_len (word, name);

  if (name > 0 && word[name] == '=' && word[name + 1] != '\0') {
    g_string_append (quoted, "=\"");
    for (word += name + 1; *word; word++) {
      if (*word == '"' || *word == '\\')
        g_string_append_c (quoted, '\\');
      g_string_append_c (quoted, *word);
    }
    g_string_append_c (quoted, '"');
  } else {
    g_string_append (quoted, word + name);
  }
  return g_string_free (quoted, FALSE);
}

static GstElement *
parse_pipeline (gchar ** words)
{
  GString *text = g_string_new (NULL);
  GError *error = NULL;
  GstElement *pipeline;

  for (; *words; words++) {
    gchar *quoted = quote_word (*words);

    g_string_append_printf (text, "%s ", quoted);
    g_free (quoted);
  }
  pipeline = gst_parse_launch_full (text->str, NULL,
      GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (!pipeline)
    g_printerr ("  error: %s\n", error->message);
  g_clear_error (&error);
  g_string_free (text, TRUE);
  return pipeline;
}

/* What a shell script wants to know: one NAME=VALUE a line. */
static gboolean
write_report (const Player * player, const gchar * path)
{
  GString *text = g_string_new (NULL);
  GError *error = NULL;
  gboolean ok;
  guint i;

  g_string_append_printf (text, "frames=%" G_GUINT64_FORMAT "\n",
      player->frames);
  g_string_append_printf (text, "seconds=%.3f\n", player->seconds);
  for (i = 0; i < player->notes->len; i++)
    g_string_append_printf (text, "note=%s\n",
        (gchar *) g_ptr_array_index (player->notes, i));
  ok = g_file_set_contents (path, text->str, -1, &error);
  if (!ok)
    g_printerr ("  error: %s\n", error->message);
  g_clear_error (&error);
  g_string_free (text, TRUE);
  return ok;
}

static gboolean
run (gchar ** words, gdouble start, const gchar * report)
{
  GstElement *pipeline = parse_pipeline (words);
  Player player;
  gboolean ok;

  if (!pipeline)
    return FALSE;
  player_init (&player, pipeline);
  player.start = start;
  ok = player_run (&player) && (!report || write_report (&player, report));
  player_clear (&player);
  return ok;
}

int
main (int argc, char **argv)
{
  gdouble start = 0;
  gchar *report = NULL;
  gchar **words = NULL;
  GOptionEntry entries[] = {
    {"start", 0, 0, G_OPTION_ARG_DOUBLE, &start,
        "Begin this far into the stream", "SECONDS"},
    {"report", 0, 0, G_OPTION_ARG_FILENAME, &report,
        "Write frames, seconds and notes to this file", "FILE"},
    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &words, NULL,
        "PIPELINE..."},
    {NULL}
  };
  GOptionContext *context = g_option_context_new (NULL);
  GError *error = NULL;
  gboolean ok;

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  ok = g_option_context_parse (context, &argc, &argv, &error);
  g_option_context_free (context);
  if (!ok || !words) {
    g_printerr ("launch: %s\n", error ? error->message : "no pipeline given");
    g_clear_error (&error);
    return 1;
  }
  gst_pb_utils_init ();

  ok = run (words, start, report);
  g_free (report);
  g_strfreev (words);
  return ok ? 0 : 1;
}
