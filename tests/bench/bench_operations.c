/*
 * Times every operation by itself, without GStreamer, and on the GPU its peers
 * in other libraries in the same run:
 *
 *   bench_operations [--backend cuda|cpu] [--operation PART] [--format NAME]
 *                    [--size WxH] [--json FILE]
 *
 * The floor is what the bytes that must move, each read once and written once,
 * take at the speed of a large copy measured in the same run.
 */
#include "bench_operations.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "bench_peers.h"
#include "cvtcolor.h"
#include "fftmag.h"
#include "gaussian.h"
#include "invert.h"
#include "resize.h"
#include "sobel.h"
#include "threshold.h"

#define ROW_ALIGN 512 /* what the driver gives to pitched allocations */
#define MAX_ROTATION 256

static const ImgInvertParams invert = { false };

#define THRESHOLD(name, method) \
  static const ImgThresholdParams name = { 127, 255, IMG_THRESHOLD_BINARY, \
    IMG_THRESHOLD_##method, 11, 2, IMG_CHANNELS_EACH }
THRESHOLD (fixed, FIXED);
THRESHOLD (otsu, OTSU);
THRESHOLD (mean_11, ADAPTIVE_MEAN);
THRESHOLD (gaussian_11, ADAPTIVE_GAUSSIAN);

#define SOBEL(name, direction) \
  static const ImgSobelParams name = { IMG_SOBEL_##direction, \
    IMG_SOBEL_SOBEL, 3, IMG_SOBEL_L2, IMG_SOBEL_ABS, 1, 0, \
    IMG_BORDER_REFLECT_101, IMG_CHANNELS_EACH }
SOBEL (magnitude, MAGNITUDE);
SOBEL (sobel_x, X);

static const ImgGaussianParams gaussian_15
    = { 15, 0, 0, 0, IMG_BORDER_REFLECT_101 };
static const ImgGaussianParams gaussian_31
    = { 31, 0, 0, 0, IMG_BORDER_REFLECT_101 };
static const ImgFftmagParams spectrum = { IMG_FFTMAG_LOG, true,
  IMG_FFTMAG_MINMAX, 0, 20, IMG_FFTMAG_WINDOW_NONE };

static const ImgCvtcolorParams opaque = { 255 };

#define RESIZE(name, method) \
  static const ImgResizeParams name = { IMG_RESIZE_##method, 0, 0, 0, 0 }
RESIZE (linear, LINEAR);
RESIZE (cubic, CUBIC);
RESIZE (area, AREA);
RESIZE (lanczos, LANCZOS);

#define BOTH(op) &img_##op##_cpu, &img_##op##_cuda
static const BenchOperation operations[] = {
  { "invert", BOTH (invert), &invert, false, 1.15, 0 },
  { "threshold-fixed", BOTH (threshold), &fixed, true, 1.15, 0 },
  { "threshold-otsu", BOTH (threshold), &otsu, true, 3, 0 },
  { "threshold-mean-11", BOTH (threshold), &mean_11, true, 3, 0 },
  { "threshold-gauss-11", BOTH (threshold), &gaussian_11, true, 3, 0 },
  { "sobel-magnitude", BOTH (sobel), &magnitude, true, 2, 1 },
  { "sobel-x", BOTH (sobel), &sobel_x, true, 2, 1 },
  { "gaussian-15", BOTH (gaussian), &gaussian_15, false, 4, 0.2 },
  { "gaussian-31", BOTH (gaussian), &gaussian_31, false, 0, 0 },
  { "fftmag", BOTH (fftmag), &spectrum, true, 0, 1.4 },
  { "cvtcolor-gray", BOTH (cvtcolor), &opaque, true, 1.3, 1, "GRAY8" },
  { "cvtcolor-bgr", BOTH (cvtcolor), &opaque, false, 1.3, 1, "BGR" },
  { "cvtcolor-bgra", BOTH (cvtcolor), &opaque, false, 1.3, 1, "BGRA" },
  { "cvtcolor-nv12", BOTH (cvtcolor), &opaque, false, 1.3, 1, "NV12" },
  { "resize-half-linear", BOTH (resize), &linear, false, 1.5, 1, NULL, 2 },
  { "resize-half-cubic", BOTH (resize), &cubic, false, 0, 1, NULL, 2 },
  { "resize-half-lanczos", BOTH (resize), &lanczos, false, 0, 1, NULL, 2 },
  { "resize-third-area", BOTH (resize), &area, false, 0, 1, NULL, 3 },
  { "resize-2/3-linear", BOTH (resize), &linear, false, 0, 1, NULL, 3, 2 },
  { "resize-2/3-cubic", BOTH (resize), &cubic, false, 0, 1, NULL, 3, 2 },
  { "resize-2/3-area", BOTH (resize), &area, false, 0, 1, NULL, 3, 2 },
  { "resize-double-linear", BOTH (resize), &linear, false, 0, 1, NULL, 1, 2 },
  { "resize-double-cubic", BOTH (resize), &cubic, false, 0, 1, NULL, 1, 2 },
};

static const char *const formats[] = { "RGB", "RGBA", "NV12", "GRAY8" };

static const struct {
  int width, height;
} sizes[] = { { 1920, 1080 }, { 3840, 2160 } };

static char *option_backend, *option_operation, *option_format, *option_size,
    *option_json;

static const GOptionEntry options[] = {
  { "backend", 0, 0, G_OPTION_ARG_STRING, &option_backend, "cuda (default) or "
        "cpu", "NAME" },
  { "operation", 0, 0, G_OPTION_ARG_STRING, &option_operation,
      "only the rows whose name holds PART", "PART" },
  { "format", 0, 0, G_OPTION_ARG_STRING, &option_format, "only this format",
      "NAME" },
  { "size", 0, 0, G_OPTION_ARG_STRING, &option_size, "this size only, any",
      "WxH" },
  { "json", 0, 0, G_OPTION_ARG_FILENAME, &option_json, "write the results to",
      "FILE" },
  { NULL }
};

typedef struct {
  const BenchTimer *timer;
  BenchMachine machine;
  bool on_gpu;
  GArray *peers;   /* BenchPeer */
  GArray *results; /* BenchResult */
  int failures;
} Bench;

/* The pictures of one row, in rotation, and what is done to them. */
typedef struct {
  ImgView src[MAX_ROTATION], dst[MAX_ROTATION];
  int n;
  const ImgOperation *operation;
  const void *params;
  const BenchPeer *peer;
  void *state;
} Work;

static bool
run_operation (void *data, int index, ImgStream stream, ImgError *error)
{
  Work *work = data;

  return work->operation->run (work->state, &work->src[index],
      &work->dst[index], work->params, stream, error);
}

static bool
run_peer (void *data, int index, ImgStream stream, ImgError *error)
{
  Work *work = data;

  return work->peer->run (work->state, &work->src[index], &work->dst[index])
      || img_fail (error, IMG_ERROR_DEVICE, "%s failed", work->peer->name);
}

/* As many pictures as the blocks hold. */
static void
lay_out (Work *work, const BenchMachine *machine, const ImgView *from,
    const ImgView *to)
{
  ImgView src = *from, dst = *to;
  const size_t src_size = img_view_lay_out (&src, NULL, ROW_ALIGN);
  const size_t dst_size = img_view_lay_out (&dst, NULL, ROW_ALIGN);

  work->n = (int) MIN (machine->size / MAX (src_size, dst_size),
      MAX_ROTATION);
  for (int i = 0; i < work->n; i++) {
    work->src[i] = src;
    work->dst[i] = dst;
    img_view_lay_out (&work->src[i], (char *) machine->src + i * src_size,
        ROW_ALIGN);
    img_view_lay_out (&work->dst[i], (char *) machine->dst + i * dst_size,
        ROW_ALIGN);
  }
}

/* Bytes of a picture; `luma_only`: without those of chroma. */
static double
bytes_of (const ImgView *view, bool luma_only)
{
  double bytes = 0;

  for (int i = 0; i < view->n_planes; i++)
    if (!luma_only || view->model != IMG_MODEL_YUV || i == 0)
      bytes += (double) img_plane_row_bytes (view, &view->plane[i])
          * view->plane[i].height;
  return bytes;
}

static void
time_peers (Bench *bench, Work *work, BenchResult *result)
{
  for (guint i = 0; i < bench->peers->len; i++) {
    BenchTime time;
    ImgError error;

    work->peer = &g_array_index (bench->peers, BenchPeer, i);
    if (strcmp (work->peer->operation, result->operation->name) != 0)
      continue;
    work->state = NULL;
    if (work->peer->prepare (&work->state, &work->src[0],
            bench->machine.stream)) {
      if (!bench->timer->time (&bench->machine, run_peer, work, work->n, &time,
              &error))
        g_printerr ("%s\n", error.text);
      else if (result->peer_us == 0 || time.us < result->peer_us) {
        result->peer_us = time.us;
        result->peer = work->peer->name;
      }
    }
    work->peer->release (work->state);
  }
}

static bool
time_operation (Bench *bench, Work *work, BenchResult *result)
{
  ImgError error = { IMG_OK, "" };
  double bytes;
  bool ok;

  work->state = NULL;
  ok = work->operation->prepare (&work->state, &work->src[0], &work->dst[0],
      work->params, &error)
      && bench->timer->time (&bench->machine, run_operation, work, work->n,
      &result->time, &error);
  work->operation->release (work->state);
  if (!ok) {
    g_printerr ("%s %s %dx%d: %s\n", result->operation->name, result->format,
        result->width, result->height, error.text);
    return false;
  }
  bytes = bytes_of (&work->src[0], result->operation->luma_only)
      + bytes_of (&work->dst[0], false);
  result->floor_us = bytes / bench->machine.copy_gbs * 1e-3;
  result->gbs = bytes / result->time.us * 1e-3;
  return true;
}

static void
measure (Bench *bench, const BenchOperation *operation, const char *format,
    int width, int height)
{
  BenchResult result = { operation, format, width, height };
  Work *work = g_new0 (Work, 1);
  const int reduction = MAX (operation->reduction, 1);
  const int enlargement = MAX (operation->enlargement, 1);
  ImgView src, dst;

  img_view_init (&src, img_format_find (format), width, height);
  img_view_init (&dst, img_format_find (operation->to ? operation->to
          : format), MAX (width * enlargement / reduction, 1),
      MAX (height * enlargement / reduction, 1));
  lay_out (work, &bench->machine, &src, &dst);
  work->operation = bench->on_gpu ? operation->cuda : operation->cpu;
  work->params = operation->params;
  if (work->n > 0 && time_operation (bench, work, &result)) {
    time_peers (bench, work, &result);
    g_array_append_val (bench->results, result);
  } else {
    bench->failures++;
  }
  g_free (work);
}

static void
measure_size (Bench *bench, int width, int height)
{
  for (guint o = 0; o < G_N_ELEMENTS (operations); o++) {
    if (option_operation && !strstr (operations[o].name, option_operation))
      continue;
    for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
      if ((!option_format || strcmp (option_format, formats[f]) == 0)
          && (!operations[o].to || strcmp (operations[o].to, formats[f]) != 0))
        measure (bench, &operations[o], formats[f], width, height);
  }
}

static bool
measure_all (Bench *bench)
{
  int width, height;

  if (!option_size) {
    for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
      measure_size (bench, sizes[i].width, sizes[i].height);
    return true;
  }
  if (sscanf (option_size, "%dx%d", &width, &height) != 2 || width < 1
      || height < 1)
    return false;
  measure_size (bench, width, height);
  return true;
}

static void
open_peer (GArray *peers, const char *path)
{
  void *library = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  const BenchPeer *peer = library ? dlsym (library, BENCH_PEERS_SYMBOL) : NULL;

  if (!peer) {
    g_printerr ("no peers from it: %s\n", dlerror ());
    return;
  }
  for (; peer->operation; peer++)
    g_array_append_vals (peers, peer, 1);
}

/* All libraries of peers that lie beside this program. */
static void
open_peers (GArray *peers)
{
  char *program = g_file_read_link ("/proc/self/exe", NULL);
  char *folder = g_path_get_dirname (program ? program : "./.");
  GDir *dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir && (name = g_dir_read_name (dir)))
    if (g_str_has_prefix (name, "libbench_peers_")
        && g_str_has_suffix (name, ".so")) {
      char *path = g_build_filename (folder, name, NULL);

      open_peer (peers, path);
      g_free (path);
    }
  if (dir)
    g_dir_close (dir);
  g_free (folder);
  g_free (program);
}

static bool
parse_options (int *argc, char ***argv)
{
  GOptionContext *context = g_option_context_new (NULL);
  GError *error = NULL;
  bool ok;

  g_option_context_add_main_entries (context, options, NULL);
  ok = g_option_context_parse (context, argc, argv, &error);
  if (!ok)
    g_printerr ("%s\n", error->message);
  g_clear_error (&error);
  g_option_context_free (context);
  return ok;
}

int
main (int argc, char **argv)
{
  Bench bench = { 0 };
  ImgError error;
  bool ok;

  if (!parse_options (&argc, &argv))
    return 2;
  bench.on_gpu = !option_backend || strcmp (option_backend, "cpu") != 0;
  setvbuf (stdout, NULL, _IOLBF, 0);
  bench.timer = bench.on_gpu ? &bench_timer_cuda : &bench_timer_cpu;
  if (!bench.timer->open (&bench.machine, &error)) {
    g_printerr ("bench_operations: %s\n", error.text);
    return 77; /* skipped */
  }
  bench.peers = g_array_new (FALSE, FALSE, sizeof (BenchPeer));
  bench.results = g_array_new (FALSE, FALSE, sizeof (BenchResult));
  if (bench.on_gpu)
    open_peers (bench.peers);
  ok = measure_all (&bench);
  bench_print_table (&bench.machine, bench.results);
  if (option_json)
    ok &= bench_write_json (option_json, &bench.machine, bench.results);
  bench.timer->close (&bench.machine);
  g_array_unref (bench.results);
  g_array_unref (bench.peers);
  return ok && bench.failures == 0 ? 0 : 1;
}
