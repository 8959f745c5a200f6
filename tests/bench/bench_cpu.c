/*
 * The elements on the CPU beside GStreamer's OpenCV elements, in the same run,
 * on 1080p RGB:
 *
 *   bench_cpu [JSON-FILE]
 *
 * The source repeats one picture of noise. cvsmooth works in place and so has
 * to copy it first, about half a millisecond.
 */
#include <stdio.h>

#include "pipeline_run.h"

#define FRAMES 3 /* and ten times as many */
#define REPEATS 3
#define SOURCE "videotestsrc num-buffers=1 pattern=snow ! video/x-raw," \
  "format=RGB,width=1920,height=1080 ! imagefreeze num-buffers=@N@ ! "
#define SINK " ! fakesink sync=false"

/* A row without elements of OpenCV's has no `theirs`. */
static const struct {
  const char *what, *ours, *theirs;
} rows[] = {
  { "Sobel, x, of the luma",
      "cudasobel backend=cpu direction=x channels=luma",
      "cvsobel x-order=1 y-order=0 aperture-size=3" },
  { "Gaussian 15x15", "cudagaussian backend=cpu kernel-width=15",
      "cvsmooth type=gaussian kernel-width=15 kernel-height=15" },
  { "Gaussian 31x31", "cudagaussian backend=cpu kernel-width=31",
      "cvsmooth type=gaussian kernel-width=31 kernel-height=31" },
  { "Sobel, Gaussian 15x15",
      "cudasobel backend=cpu direction=x channels=luma ! "
        "cudagaussian backend=cpu",
      "cvsobel x-order=1 y-order=0 ! "
        "cvsmooth type=gaussian kernel-width=15 kernel-height=15" },
  { "Sobel, magnitude, each channel", "cudasobel backend=cpu", NULL },
  { "invert", "cudainvert backend=cpu", NULL },
  { "threshold, fixed", "cudathreshold backend=cpu", NULL },
  { "threshold, Otsu", "cudathreshold backend=cpu method=otsu", NULL },
  { "threshold, adaptive mean 11", "cudathreshold backend=cpu "
        "method=adaptive-mean", NULL },
  { "threshold, adaptive Gauss 11", "cudathreshold backend=cpu "
        "method=adaptive-gaussian", NULL },
  { "spectrum", "cudafftmag backend=cpu", NULL },
};

/* Milliseconds a frame, or 0. */
static double
time_elements (const char *elements)
{
  char *launch = g_strconcat (SOURCE, elements, SINK, NULL);
  PipelineTime time = { 0 };
  GError *error = NULL;

  if (!pipeline_time_frame (launch, FRAMES, 1, REPEATS, &time, &error)) {
    g_printerr ("%s: %s\n", elements, error->message);
    g_error_free (error);
  }
  g_free (launch);
  return time.wall_us / 1e3;
}

static void
report (FILE *json, const char *what, double ours, double theirs, gboolean last)
{
  printf ("%-32s %9.2f", what, ours);
  if (theirs > 0 && ours > 0)
    printf (" %11.2f %7.2f", theirs, theirs / ours);
  printf ("\n");
  if (json)
    fprintf (json, "  {\"what\": \"%s\", \"ms\": %.3f, \"opencv_ms\": %.3f}%s\n",
        what, ours, theirs, last ? "" : ",");
}

int
main (int argc, char **argv)
{
  FILE *json = NULL;
  int failures = 0;

  setvbuf (stdout, NULL, _IOLBF, 0);
  gst_init (&argc, &argv);
  if (argc > 1 && !(json = fopen (argv[1], "w"))) {
    perror (argv[1]);
    return 2;
  }
  if (json)
    fprintf (json, "[\n");
  printf ("%s, 1920x1080 RGB, %u threads\n", gst_version_string (),
      g_get_num_processors ());
  printf ("%-32s %9s %11s %7s\n", "ms a frame", "ours", "OpenCV's", "faster");
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++) {
    double ours = time_elements (rows[i].ours);
    double theirs = rows[i].theirs ? time_elements (rows[i].theirs) : 0;

    failures += ours <= 0;
    report (json, rows[i].what, ours, theirs, i + 1 == G_N_ELEMENTS (rows));
  }
  if (json) {
    fprintf (json, "]\n");
    fclose (json);
  }
  return failures ? 1 : 0;
}
