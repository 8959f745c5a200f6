/* Runs a pipeline to its end, with progress on the terminal. */
#ifndef PLAYER_H
#define PLAYER_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  GstElement *pipeline;
  gdouble start;                /* seconds into the stream; 0: its beginning */

  /* what was seen */
  guint64 frames;               /* buffers that left the element `frames` */
  gdouble seconds;              /* from the first of them to the end */
  GPtrArray *notes;             /* each text of an INFO message, once */

  /* private */
  GMainLoop *loop;
  gint64 first, last;           /* monotonic time, microseconds */
  gboolean terminal, playing, seeking, failed;
} Player;

/* Takes the pipeline. Its element called `frames`, if there is one, is where
 * frames are counted. */
void player_init (Player * player, GstElement * pipeline);

/* Plays to the end of stream; an interrupt (Ctrl-C) ends the stream early and
 * properly. FALSE: it failed, and the reason was printed. */
gboolean player_run (Player * player);

void player_clear (Player * player);

G_END_DECLS

#endif
