/* Runs pipelines from text to their end, and times a frame of them. */
#ifndef PIPELINE_RUN_H
#define PIPELINE_RUN_H

#include <gst/gst.h>

/* What a run, or a frame of one, took; microseconds. */
typedef struct {
  double wall_us; /* from PLAYING to the end of the stream */
  double cpu_us;  /* of all threads of the process */
} PipelineTime;

/* Plays `launch` until its end. False, with the error of the bus, if it fails
 * or takes more than two minutes. */
gboolean pipeline_run (const char *launch, GError **error);

/* The same of `copies` pipelines at once. */
gboolean pipeline_run_copies (const char *launch, int copies,
    PipelineTime *time, GError **error);

/* Whether pipelines from now on use one CUDA context, that of the first, as
 * an application would have it; else each makes its own, which takes time. */
void pipeline_share_context (gboolean share);

/* What one frame more takes of `copies` pipelines at once: the difference
 * between `n` and 10 * `n` frames, so that the start of the pipelines falls
 * out; the median of `repeats`. In `launch`, each @N@ stands for the number. */
gboolean pipeline_time_frame (const char *launch, int n, int copies,
    int repeats, PipelineTime *time, GError **error);

/* `launch` with every @N@ replaced. */
char *pipeline_with_frames (const char *launch, int n);

double pipeline_now_us (void);
double pipeline_median (double *values, int n); /* sorts them */

#endif
