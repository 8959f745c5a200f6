/*
 * Frames stay on the GPU: counts what pipelines ask of the driver for N and
 * for 2 N frames; the difference is what one frame costs. A frame is copied in
 * once and out once, and nothing else: no copy between elements, no allocation
 * once frames flow, no wait of the host between elements.
 *
 *   test_frames_stay        (exit 77: no GPU, or CUPTI cannot be used)
 *
 * ball-32.h264 beside the program is 32 frames of
 *   videotestsrc pattern=ball ! video/x-raw,width=640,height=360 ! x264enc
 *   pass=quant quantizer=28 bframes=0 ! video/x-h264,stream-format=byte-stream
 */
#include <stdio.h>
#include <string.h>

#include "cuda_count.h"
#include "pipeline_run.h"

#define N 32
#define CLIP_FRAMES 32
#define WIDTH 1280
#define HEIGHT 720

#define FIVE "cudasobel ! cudagaussian ! cudainvert ! cudathreshold ! " \
  "cudafftmag"
#define THREE "cudasobel ! cudagaussian ! cudainvert"
#define SINK "fakesink sync=false"
#define DECODED "h264parse ! nvh264dec ! video/x-raw(memory:CUDAMemory)"
#define NOT_CHECKED -1

/* Both texts follow a source: raw frames of `format`, or the clip if that is
 * NULL. What `baseline` does is not ours. */
typedef struct {
  const char *name;
  const char *format;
  int planes;
  double frame_bytes; /* in and out; NOT_CHECKED: no copy beyond baseline's */
  const char *baseline;
  const char *launch;
  int elements; /* of ours */
  int syncs;    /* beyond baseline's, from GStreamer 1.24 on */
} Case;

#define RGBA_BYTES (WIDTH * HEIGHT * 4.0)
#define NV12_BYTES (WIDTH * HEIGHT * 1.5)
#define TO_HOST "video/x-raw ! " SINK /* a sink alone takes device memory */
#define UPLOADED "cudaupload ! video/x-raw(memory:CUDAMemory) ! " \
  "cudadownload ! " TO_HOST
#define PASSED "identity ! " SINK

static const Case cases[] = {
  { "RGBA, cudaupload … cudadownload", "RGBA", 1, RGBA_BYTES, UPLOADED,
      "cudaupload ! " FIVE " ! cudadownload ! " TO_HOST, 5, 0 },
  { "NV12, cudaupload … cudadownload", "NV12", 2, NV12_BYTES, UPLOADED,
      "cudaupload ! " FIVE " ! cudadownload ! " TO_HOST, 5, 0 },
  { "RGBA, by themselves", "RGBA", 1, RGBA_BYTES, PASSED,
      FIVE " ! " TO_HOST, 5, 1 },
  { "NV12, by themselves", "NV12", 2, NV12_BYTES, PASSED,
      FIVE " ! " TO_HOST, 5, 1 },
  { "one element by itself", "RGBA", 1, RGBA_BYTES, PASSED,
      "cudasobel ! " TO_HOST, 1, 1 },
  { "nvh264dec, three elements", NULL, 0, NOT_CHECKED,
      DECODED " ! " SINK, DECODED " ! " THREE " ! " SINK, 3, 0 },
};

/* Per frame. */
typedef struct {
#define X(name, text) double name;
  CUDA_COUNTS (X)
#undef X
} PerFrame;

static CudaCountRead read_counts;
static char *clips[2]; /* of N and 2 N frames */

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

static gboolean
count_run (const Case *test, const char *rest, int doubled, CudaCount *count,
    GError **error)
{
  CudaCount before, after;
  gboolean ok;
  char *launch;

  if (test->format)
    launch = g_strdup_printf ("videotestsrc num-buffers=%d ! video/x-raw,"
        "format=%s,width=%d,height=%d ! %s", N << doubled, test->format,
        WIDTH, HEIGHT, rest);
  else
    launch = g_strdup_printf ("filesrc location=%s ! %s", clips[doubled],
        rest);
  read_counts (&before);
  ok = pipeline_run (launch, error);
  read_counts (&after);
  *count = cuda_count_difference (&after, &before);
  g_free (launch);
  return ok;
}

static gboolean
count_per_frame (const Case *test, const char *rest, PerFrame *per_frame,
    GError **error)
{
  CudaCount once, twice;

  if (!count_run (test, rest, 0, &once, error)
      || !count_run (test, rest, 1, &twice, error))
    return FALSE;
#define X(name, text) \
  per_frame->name = (double) (twice.name - once.name) / N;
  CUDA_COUNTS (X)
#undef X
  return TRUE;
}

static double
syncs_of (const PerFrame *frame)
{
  return frame->stream_syncs + frame->event_syncs + frame->context_syncs
      + frame->copies_blocking;
}

static int
expect (const char *what, double value, double least, double most)
{
  if (value >= least && value <= most)
    return 0;
  printf ("    FAILED: %s: %g a frame", what, value);
  if (least == most)
    printf (", expected %g\n", most);
  else
    printf (", at most %g\n", most);
  return 1;
}

static int
expect_copies (const Case *test, const PerFrame *ours, const PerFrame *base)
{
  if (test->frame_bytes == NOT_CHECKED)
    return expect ("copies in beyond the decoder's",
        ours->copies_in - base->copies_in, -1e9, 0)
        + expect ("copies out beyond the decoder's",
        ours->copies_out - base->copies_out, -1e9, 0)
        + expect ("copies on the device beyond the decoder's",
        ours->copies_device - base->copies_device, -1e9, 0);
  return expect ("copies in", ours->copies_in, test->planes, test->planes)
      + expect ("copies out", ours->copies_out, test->planes, test->planes)
      + expect ("bytes in", ours->bytes_in, test->frame_bytes,
      test->frame_bytes)
      + expect ("bytes out", ours->bytes_out, test->frame_bytes,
      test->frame_bytes)
      + expect ("copies on the device", ours->copies_device, 0, 0);
}

/* Before 1.24 the library has no streams to share: each element may wait. */
static int
most_syncs (const Case *test)
{
  guint major, minor, micro, nano;

  gst_version (&major, &minor, &micro, &nano);
  return minor >= 24 || major > 1 ? test->syncs : test->elements;
}

static int
check (const Case *test)
{
  PerFrame base = { 0 }, ours = { 0 };
  GError *error = NULL;
  int failures = 0;

  if (!count_per_frame (test, test->baseline, &base, &error)
      || !count_per_frame (test, test->launch, &ours, &error)) {
    printf ("%-32s FAILED: %s\n", test->name, error->message);
    g_error_free (error);
    return 1;
  }
  printf ("%-32s %7g %4g %4g %6g %6g %5g %5g %6g %6.1f\n", test->name,
      ours.kernels, ours.copies_in, ours.copies_out, ours.copies_device,
      ours.memsets, syncs_of (&ours), syncs_of (&ours) - syncs_of (&base),
      ours.device_allocs + ours.host_allocs, ours.gpu_ns / 1e3);
  failures += expect_copies (test, &ours, &base);
  failures += expect ("host waits", syncs_of (&ours) - syncs_of (&base), -1e9,
      most_syncs (test));
  failures += expect ("device allocations", ours.device_allocs
      - base.device_allocs, -1e9, 0);
  failures += expect ("host allocations", ours.host_allocs - base.host_allocs,
      -1e9, 0);
  failures += expect ("records lost", ours.lost, 0, 0);
  return failures;
}

/* The same clip several times over is a clip again: it starts with its own
 * parameter sets. */
static gboolean
write_clips (GError **error)
{
  char *path = beside_program ("ball-32.h264"), *data;
  gboolean ok = TRUE;
  gsize size;

  if (!g_file_get_contents (path, &data, &size, error)) {
    g_free (path);
    return FALSE;
  }
  for (int i = 0; ok && i < 2; i++) {
    GString *clip = g_string_new (NULL);

    for (int frames = 0; frames < N << i; frames += CLIP_FRAMES)
      g_string_append_len (clip, data, size);
    clips[i] = g_strdup_printf ("%s/frames-stay-%d.h264", g_get_tmp_dir (), i);
    ok = g_file_set_contents (clips[i], clip->str, clip->len, error);
    g_string_free (clip, TRUE);
  }
  g_free (data);
  g_free (path);
  return ok;
}

static int
skip (const char *reason)
{
  printf ("skipped: %s\n", reason);
  return 77;
}

/* NULL, or why nothing can be counted here. */
static const char *
start (void)
{
  GError *error = NULL;

  if (!pipeline_run ("videotestsrc num-buffers=2 ! cudaupload ! cudadownload "
          "! fakesink", &error)) {
    g_printerr ("%s\n", error->message);
    g_error_free (error);
    return "no GPU that GStreamer can use";
  }
  read_counts = cuda_count_open ();
  if (!read_counts)
    return "the driver did not load libcuda_count.so";
  return NULL;
}

int
main (int argc, char **argv)
{
  char *library = beside_program ("libcuda_count.so");
  GError *error = NULL;
  const char *reason;
  int failures = 0;

  setvbuf (stdout, NULL, _IOLBF, 0);
  cuda_count_inject (library, argv);
  g_free (library);
  gst_init (&argc, &argv);
  reason = start ();
  if (reason)
    return skip (reason);
  if (!write_clips (&error)) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  printf ("%s, %dx%d; per frame:\n", gst_version_string (), WIDTH, HEIGHT);
  printf ("%-32s %7s %4s %4s %6s %6s %5s %5s %6s %6s\n", "", "kernels", "in",
      "out", "device", "memset", "waits", "ours", "allocs", "us");
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    failures += check (&cases[i]);
  printf ("%s\n", failures ? "FAILED" : "ok");
  return failures ? 1 : 0;
}
