/*
 * What the elements cost inside pipelines on the GPU: one element more, host
 * time and GPU time apart; the latency of a frame from upload to download;
 * many pipelines at once.
 *
 *   bench_pipelines [JSON-FILE]        (exit 77: no GPU)
 *
 * The source repeats one device buffer, which costs almost nothing. GPU times
 * come from CUPTI in a second process, so that counting slows nothing down;
 * without libcuda_count.so the column stays empty.
 */
#include <stdio.h>
#include <string.h>

#include "cuda_count.h"
#include "pipeline_run.h"

#define FRAMES 400 /* and ten times as many */
#define COUNTED_FRAMES 60
#define REPEATS 3
#define LATENCY_WARMUP 20
#define LATENCY_FRAMES 80
#define CROWD_FRAMES 100

#define INVERT "cudainvert"
#define TWICE(x) x " ! " x
#define THREE "cudasobel ! cudagaussian ! cudainvert"
#define FIVE "cudasobel ! cudagaussian ! cudainvert ! cudathreshold ! " \
  "cudafftmag"

typedef struct {
  const char *name;
  const char *format;
  int width, height;
} Picture;

static const Picture pictures[] = {
  { "RGBA 1080p", "RGBA", 1920, 1080 },
  { "NV12 1080p", "NV12", 1920, 1080 },
  { "RGB 4K", "RGB", 3840, 2160 },
};

#define N_PICTURES ((int) G_N_ELEMENTS (pictures))

static const struct {
  const char *name;
  int elements;
  const char *launch;
} chains[] = {
  { "none", 0, "identity" },
  { "invert", 1, INVERT },
  { "invert x2", 2, TWICE (INVERT) },
  { "invert x4", 4, TWICE (TWICE (INVERT)) },
  { "invert x8", 8, TWICE (TWICE (TWICE (INVERT))) },
  { "sobel", 1, "cudasobel" },
  { "gaussian", 1, "cudagaussian" },
  { "threshold", 1, "cudathreshold" },
  { "fftmag", 1, "cudafftmag" },
  { "all five", 5, FIVE },
};

#define N_CHAINS ((int) G_N_ELEMENTS (chains))

static const struct {
  const char *name, *launch;
} routes[] = {
  { "cudaupload, cudadownload", "cudaupload ! "
        "video/x-raw(memory:CUDAMemory) ! cudadownload" },
  { "with one element", "cudaupload ! cudasobel ! cudadownload" },
  { "with three elements", "cudaupload ! " THREE " ! cudadownload" },
  { "with all five", "cudaupload ! " FIVE " ! cudadownload" },
  { "one element by itself", "cudasobel" },
  { "three by themselves", THREE },
};

static const int crowds[] = { 1, 4, 16 };

static FILE *json;
static int failures;

static char *
source_text (const Picture *picture)
{
  return g_strdup_printf ("videotestsrc num-buffers=1 pattern=snow ! "
      "video/x-raw,format=%s,width=%d,height=%d ! cudaupload ! "
      "video/x-raw(memory:CUDAMemory) ! imagefreeze num-buffers=@N@ ! ", picture->format, picture->width,
      picture->height);
}

static char *
chain_text (const Picture *picture, const char *elements)
{
  char *source = source_text (picture);
  char *text = g_strconcat (source, elements, " ! fakesink sync=false", NULL);

  g_free (source);
  return text;
}

static gboolean
failed (const char *what, GError *error)
{
  g_printerr ("%s: %s\n", what, error->message);
  g_error_free (error);
  failures++;
  return FALSE;
}

static char *
beside_program (const char *name)
{
  char *program = g_file_read_link ("/proc/self/exe", NULL);
  char *folder = g_path_get_dirname (program);
  char *path = g_build_filename (folder, name, NULL);

  g_free (folder);
  g_free (program);
  return path;
}

/* GPU time, the process that counts: a line for every chain of every picture.
 */

static gboolean
count_frames (CudaCountRead read_counts, const char *launch, int n,
    CudaCount *count)
{
  char *text = pipeline_with_frames (launch, n);
  GError *error = NULL;
  CudaCount before, after;
  gboolean ok;

  read_counts (&before);
  ok = pipeline_run (text, &error) || failed (text, error);
  read_counts (&after);
  *count = cuda_count_difference (&after, &before);
  g_free (text);
  return ok;
}

static void
count_chain (CudaCountRead read_counts, const char *launch)
{
  CudaCount few, many;
  double us = 0, kernels = 0;

  if (count_frames (read_counts, launch, COUNTED_FRAMES, &few)
      && count_frames (read_counts, launch, 2 * COUNTED_FRAMES, &many)) {
    us = (many.gpu_ns - few.gpu_ns) / 1e3 / COUNTED_FRAMES;
    kernels = (double) (many.kernels - few.kernels) / COUNTED_FRAMES;
  }
  printf ("%.3f %.3f\n", us, kernels);
}

static int
count_chains (void)
{
  CudaCountRead read_counts;
  GError *error = NULL;

  /* the driver loads the library when the first element initialises it */
  if (!pipeline_run ("videotestsrc num-buffers=1 ! cudaupload ! fakesink",
          &error))
    return failed ("cudaupload", error), 77;
  read_counts = cuda_count_open ();
  if (!read_counts)
    return 77;
  for (int p = 0; p < N_PICTURES; p++)
    for (int c = 0; c < N_CHAINS; c++) {
      char *launch = chain_text (&pictures[p], chains[c].launch);

      count_chain (read_counts, launch);
      g_free (launch);
    }
  return failures ? 1 : 0;
}

typedef struct {
  double us, kernels;
} GpuTime;

/* GPU times of all chains, or zeros. */
static GpuTime *
read_gpu_times (void)
{
  GpuTime *times = g_new0 (GpuTime, N_PICTURES * N_CHAINS);
  char *program = beside_program ("bench_pipelines"), *output = NULL;
  char *library = beside_program ("../gpu/libcuda_count.so");
  char *argv[] = { program, (char *) "--count", NULL }, **lines;
  char **envp = g_environ_setenv (g_get_environ (), "CUDA_INJECTION64_PATH",
      library, TRUE);

  if (g_file_test (library, G_FILE_TEST_EXISTS))
    g_spawn_sync (NULL, argv, envp, G_SPAWN_DEFAULT, NULL, NULL, &output, NULL,
        NULL, NULL);
  lines = g_strsplit (output ? output : "", "\n", 0);
  for (int i = 0; i < N_PICTURES * N_CHAINS && lines[i]; i++)
    sscanf (lines[i], "%lf %lf", &times[i].us, &times[i].kernels);
  g_strfreev (lines);
  g_strfreev (envp);
  g_free (output);
  g_free (library);
  g_free (program);
  return times;
}

/* One element more. */

static void
report_chain (const Picture *picture, int chain, const PipelineTime *time,
    const PipelineTime *none, const GpuTime *gpu)
{
  int n = chains[chain].elements;
  double wall = n ? (time->wall_us - none->wall_us) / n : 0;
  double cpu = n ? (time->cpu_us - none->cpu_us) / n : 0;

  printf ("%-11s %-10s %8.1f %8.1f %8.1f %8.1f", picture->name,
      chains[chain].name, time->wall_us, time->cpu_us, gpu->us, gpu->kernels);
  if (n)
    printf (" %11.1f %8.1f", wall, cpu);
  printf ("\n");
  fprintf (json, "  {\"bench\": \"chain\", \"picture\": \"%s\", \"chain\": "
      "\"%s\", \"wall_us\": %.2f, \"cpu_us\": %.2f, \"gpu_us\": %.2f, "
      "\"kernels\": %.2f, \"wall_us_per_element\": %.2f, "
      "\"cpu_us_per_element\": %.2f},\n", picture->name, chains[chain].name,
      time->wall_us, time->cpu_us, gpu->us, gpu->kernels, wall, cpu);
}

static void
bench_chains (void)
{
  GpuTime *gpu = read_gpu_times ();

  printf ("\na frame of a chain, us (wall: of the one thread that pushes; cpu: "
      "of the process)\n%-11s %-10s %8s %8s %8s %8s %11s %8s\n", "picture",
      "elements", "wall", "cpu", "GPU", "kernels", "+1 el. wall", "cpu");
  for (int p = 0; p < N_PICTURES; p++) {
    PipelineTime none = { 0 };

    for (int c = 0; c < N_CHAINS; c++) {
      char *launch = chain_text (&pictures[p], chains[c].launch);
      PipelineTime time;
      GError *error = NULL;

      if (!pipeline_time_frame (launch, FRAMES, 1, REPEATS, &time, &error)) {
        failed (launch, error);
      } else {
        if (chains[c].elements == 0)
          none = time;
        report_chain (&pictures[p], c, &time, &none, &gpu[p * N_CHAINS + c]);
      }
      g_free (launch);
    }
  }
  g_free (gpu);
}

/* Latency. */

static GstBuffer *
random_frame (const Picture *picture)
{
  gsize size = (gsize) picture->width * picture->height
      * (strcmp (picture->format, "NV12") == 0 ? 3 : strcmp (picture->format,
          "RGB") == 0 ? 6 : 8) / 2;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);
  GRand *rand = g_rand_new_with_seed (1);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < size / 4; i++)
    ((guint32 *) map.data)[i] = g_rand_int (rand);
  gst_buffer_unmap (buffer, &map);
  g_rand_free (rand);
  return buffer;
}

/* Microseconds from the push of a frame until it is there, or -1. */
static double
push_and_pull (GstElement *src, GstElement *sink, GstBuffer *frame)
{
  double begin = pipeline_now_us ();
  GstFlowReturn flow = GST_FLOW_ERROR;
  GstSample *sample = NULL;

  g_signal_emit_by_name (src, "push-buffer", frame, &flow);
  if (flow == GST_FLOW_OK)
    g_signal_emit_by_name (sink, "try-pull-sample", 5 * GST_SECOND, &sample);
  if (!sample)
    return -1;
  gst_sample_unref (sample);
  return pipeline_now_us () - begin;
}

static gboolean
time_latency (GstElement *pipeline, const Picture *picture, double *us)
{
  GstElement *src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstBuffer *frame = random_frame (picture);
  gboolean ok = TRUE;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (int i = -LATENCY_WARMUP; ok && i < LATENCY_FRAMES; i++) {
    double once = push_and_pull (src, sink, frame);

    ok = once >= 0;
    if (i >= 0)
      us[i] = once;
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_buffer_unref (frame);
  gst_object_unref (src);
  gst_object_unref (sink);
  return ok;
}

static void
bench_latency_of (const Picture *picture, const char *name, const char *route)
{
  char *launch = g_strdup_printf ("appsrc name=src format=time max-bytes=0 "
      "caps=\"video/x-raw,format=%s,width=%d,height=%d,framerate=30/1\" ! "
      "%s ! video/x-raw ! appsink name=sink sync=false", picture->format, picture->width,
      picture->height, route);
  double us[LATENCY_FRAMES];
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch_full (launch, NULL,
      GST_PARSE_FLAG_FATAL_ERRORS, &error);

  if (!pipeline) {
    failed (launch, error);
  } else if (!time_latency (pipeline, picture, us)) {
    g_printerr ("%s: no frame came\n", launch);
    failures++;
  } else {
    double median = pipeline_median (us, LATENCY_FRAMES);

    printf ("%-11s %-26s %8.0f %8.0f %8.0f\n", picture->name, name, us[0],
        median, us[LATENCY_FRAMES * 99 / 100]);
    fprintf (json, "  {\"bench\": \"latency\", \"picture\": \"%s\", "
        "\"route\": \"%s\", \"min_us\": %.1f, \"median_us\": %.1f, "
        "\"p99_us\": %.1f},\n", picture->name, name, us[0], median,
        us[LATENCY_FRAMES * 99 / 100]);
  }
  gst_clear_object (&pipeline);
  g_free (launch);
}

static void
bench_latency (void)
{
  printf ("\nlatency of a frame from host memory to host memory, us\n"
      "%-11s %-26s %8s %8s %8s\n", "picture", "through", "least", "median",
      "99 of 100");
  for (int p = 0; p < N_PICTURES; p++)
    for (gsize r = 0; r < G_N_ELEMENTS (routes); r++)
      bench_latency_of (&pictures[p], routes[r].name, routes[r].launch);
}

/* Many at once. */

static const struct {
  const char *name;
  gboolean branches, shared_context;
} gatherings[] = {
  { "branches of one pipeline", TRUE, TRUE },
  { "pipelines, one context", FALSE, TRUE },
  { "pipelines, own contexts", FALSE, FALSE },
};

static void
report_crowd (int n, const char *how, const PipelineTime *time)
{
  double fps = n * 1e6 / time->wall_us;

  printf ("%3d %-26s %11.0f %11.1f %11.1f\n", n, how, fps, time->wall_us / n,
      time->cpu_us / n);
  fprintf (json, "  {\"bench\": \"crowd\", \"n\": %d, \"how\": \"%s\", "
      "\"fps\": %.1f, \"wall_us\": %.2f, \"cpu_us\": %.2f},\n", n, how, fps,
      time->wall_us / n, time->cpu_us / n);
}

static void
bench_crowd_of (int n, const char *how, gboolean branches)
{
  char *chain = chain_text (&pictures[0], THREE);
  GString *launch = g_string_new (NULL);
  PipelineTime time;
  GError *error = NULL;

  for (int i = 0; i < (branches ? n : 1); i++)
    g_string_append_printf (launch, "%s ", chain);
  if (pipeline_time_frame (launch->str, CROWD_FRAMES, branches ? 1 : n, 1,
          &time, &error))
    report_crowd (n, how, &time);
  else
    failed (chain, error);
  g_string_free (launch, TRUE);
  g_free (chain);
}

static void
bench_crowds (void)
{
  printf ("\nmany at once: %s, %s\n%3s %-26s %11s %11s %11s\n",
      pictures[0].name, THREE, "n", "", "frames/s", "us a frame", "cpu us");
  for (gsize g = 0; g < G_N_ELEMENTS (gatherings); g++) {
    pipeline_share_context (gatherings[g].shared_context);
    for (gsize i = 0; i < G_N_ELEMENTS (crowds); i++)
      bench_crowd_of (crowds[i], gatherings[g].name, gatherings[g].branches);
  }
}

int
main (int argc, char **argv)
{
  GError *error = NULL;

  setvbuf (stdout, NULL, _IOLBF, 0);
  gst_init (&argc, &argv);
  pipeline_share_context (TRUE);
  if (argc > 1 && strcmp (argv[1], "--count") == 0)
    return count_chains ();
  if (!pipeline_run ("videotestsrc num-buffers=1 ! cudaupload ! fakesink",
          &error)) {
    printf ("skipped, no GPU that GStreamer can use: %s\n", error->message);
    g_error_free (error);
    return 77;
  }
  json = fopen (argc > 1 ? argv[1] : "/dev/null", "w");
  if (!json) {
    perror (argv[1]);
    return 2;
  }
  printf ("%s\n", gst_version_string ());
  fprintf (json, "[\n");
  bench_chains ();
  bench_latency ();
  bench_crowds ();
  fprintf (json, "  {\"bench\": \"version\", \"gstreamer\": \"%s\"}\n]\n",
      gst_version_string ());
  fclose (json);
  return failures ? 1 : 0;
}
