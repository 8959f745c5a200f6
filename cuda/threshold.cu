/*
 * threshold.h on the GPU. FIXED is one pointwise launch (or one over pixels,
 * for the luma of RGB). OTSU and TRIANGLE take a launch before that, which
 * leaves the level in device memory. ADAPTIVE is in threshold-adaptive.cuh.
 */
#include "threshold.h"

#include <stdlib.h>

#include "device.h"
#include "threshold-adaptive.cuh"
#include "threshold-histogram.cuh"
#include "threshold-levels.cuh"

#define PIXEL_THREADS_X 64
#define PIXEL_THREADS_Y 4
#define PIXEL_ROWS 2 /* rows of a thread, PIXEL_THREADS_Y apart */

typedef struct {
  ImgThresholdMethod method; /* of the last prepare, as is `view` */
  ImgView view;
  int processors;
  ThresholdHistogram *histogram; /* NULL: never needed yet */
  int bins;
  volatile int *computed; /* on the host; INT_MIN: none yet */
  int *computed_device;   /* the same memory, for the device */
  AdaptiveKernel adaptive;
  unsigned *scratch; /* a row sum for each pixel, for large blocks */
  size_t scratch_size;
} ThresholdState;

/* Applies a threshold to every channel by itself, or to a luma plane. */

/* What a channel becomes: decided by the rule, neutral, or copied. The values
 * are those of its lanes, in the order of the fields of ThresholdWords. */
typedef struct {
  unsigned keep_above, set_above, keep_below, set_below, ones;
} ThresholdLane;

static ThresholdLane
threshold_lane (
    const ImgView *view, const ImgThresholdRule *rule, ImgChannel channel)
{
  const unsigned all = (1u << 8 * view->component_bytes) - 1;
  const unsigned neutral = (unsigned)img_view_levels (view).neutral
                           << view->shift;
  const int shift = view->shift;

  if (img_channel_is_chroma (channel))
    return { 0, neutral, 0, neutral, 0 };
  if (!img_channel_is_color (channel))
    return { all, 0, all, 0, 0 };
  return { (rule->keep_above << shift) & all, rule->set_above << shift,
    (rule->keep_below << shift) & all, rule->set_below << shift, 1u << shift };
}

/* The functor of a plane. */
template <int Bytes>
static ThresholdWords<Bytes>
plane_words (const ImgView *view, const ImgPlane *plane,
    const ImgThresholdRule *rule, ComputedLevel computed)
{
  const unsigned last
      = img_view_levels (view).max << view->shift | ((1u << view->shift) - 1);
  unsigned lanes[5][IMG_MAX_CHANNELS] = {};
  ThresholdWords<Bytes> words = {};

  for (int c = 0; c < plane->channels; c++) {
    const ThresholdLane lane = threshold_lane (view, rule, plane->channel[c]);

    lanes[0][c] = lane.keep_above;
    lanes[1][c] = lane.set_above;
    lanes[2][c] = lane.keep_below;
    lanes[3][c] = lane.set_below;
    lanes[4][c] = lane.ones;
  }
  words.keep_above = pointwise_lanes (view, plane, lanes[0]);
  words.set_above = pointwise_lanes (view, plane, lanes[1]);
  words.keep_below = pointwise_lanes (view, plane, lanes[2]);
  words.set_below = pointwise_lanes (view, plane, lanes[3]);
  words.ones = pointwise_lanes (view, plane, lanes[4]);
  words.last = last * (Bytes == 1 ? 0x01010101u : 0x00010001u);
  words.truncate = rule->truncate;
  words.black = rule->black;
  words.shift = view->shift;
  if (words.ones)
    words.computed = computed;
  if (!computed.level)
    words.set_level (rule->level);
  return words;
}

template <int Bytes>
static bool
apply_to_planes (const ImgView *src, const ImgView *dst,
    const ImgThresholdRule *rule, ComputedLevel computed, ImgStream stream,
    ImgError *error)
{
  PointwiseJob<ThresholdWords<Bytes>> job = {};

  job.early = computed.level != NULL;
  for (int i = 0; i < src->n_planes; i++)
    pointwise_add (&job, src, dst, i,
        plane_words<Bytes> (src, &src->plane[i], rule, computed));
  return pointwise_run (&job, stream, "launching threshold", error);
}

/* Applies a threshold to the luma of RGB. */

struct PixelJob {
  LumaPicture src;
  LumaTarget dst;
  ImgThresholdRule rule;
  int groups;
  ComputedLevel computed;
};

template <typename Group>
__global__ void
__launch_bounds__ (PIXEL_THREADS_X *PIXEL_THREADS_Y)
    pixel_kernel (const __grid_constant__ PixelJob job)
{
  const int index = blockIdx.x * PIXEL_THREADS_X + threadIdx.x;
  const int y = blockIdx.y * PIXEL_THREADS_Y * PIXEL_ROWS + threadIdx.y;
  Group group[PIXEL_ROWS];

  start_next_kernel ();
  if (!job.computed.level)
    wait_for_kernel_before ();
#pragma unroll
  for (int k = 0; k < PIXEL_ROWS; k++)
    if (index < job.groups && y + k * PIXEL_THREADS_Y < job.src.height)
      group[k].load (job.src, y + k * PIXEL_THREADS_Y, index);
  const int at = job.computed.level ? job.computed.read () : job.rule.level;
  if (index >= job.groups)
    return;
#pragma unroll
  for (int k = 0; k < PIXEL_ROWS; k++) {
    unsigned level[Group::kPixels];

#pragma unroll
    for (int i = 0; i < Group::kPixels; i++)
      level[i]
          = img_threshold_apply (&job.rule, group[k].luma (job.src, i), at);
    if (y + k * PIXEL_THREADS_Y < job.src.height)
      store_levels (job.dst, group[k], y + k * PIXEL_THREADS_Y, index, level);
  }
}

static bool
apply_to_pixels (const ImgView *src, const ImgView *dst,
    const ImgThresholdRule *rule, ComputedLevel computed, cudaStream_t stream,
    ImgError *error)
{
  PixelJob job = { luma_picture (src), luma_target (dst), *rule, 0, computed };

  luma_dispatch (src, [&] (auto group) {
    typedef decltype (group) Group;
    const int tile = PIXEL_THREADS_Y * PIXEL_ROWS;
    const dim3 block (PIXEL_THREADS_X, PIXEL_THREADS_Y);

    job.groups = (src->width + Group::kPixels - 1) / Group::kPixels;
    launch (pixel_kernel<Group>,
        dim3 ((job.groups + block.x - 1) / block.x,
            (src->height + tile - 1) / tile),
        block, 0, stream, job);
  });
  return img_cuda_launched ("launching threshold", error)
         && pointwise_fill_others (src, dst, stream, error);
}

/* Applies rule->level, or `computed`. */
static bool
apply (const ImgView *src, const ImgView *dst, const ImgThresholdParams *params,
    ComputedLevel computed, ImgStream stream, ImgError *error)
{
  const ImgThresholdRule rule = img_threshold_rule (src, params);

  if (src->model == IMG_MODEL_RGB && img_threshold_uses_luma (src, params))
    return apply_to_pixels (src, dst, &rule, computed, stream, error);
  return src->component_bytes == 1
             ? apply_to_planes<1> (src, dst, &rule, computed, stream, error)
             : apply_to_planes<2> (src, dst, &rule, computed, stream, error);
}

/* State */

static bool
is_automatic (ImgThresholdMethod method)
{
  return method == IMG_THRESHOLD_OTSU || method == IMG_THRESHOLD_TRIANGLE;
}

static bool
is_adaptive (ImgThresholdMethod method)
{
  return method == IMG_THRESHOLD_ADAPTIVE_MEAN
         || method == IMG_THRESHOLD_ADAPTIVE_GAUSSIAN;
}

static void
release (void *data)
{
  ThresholdState *state = (ThresholdState *)data;

  if (!state)
    return;
  cudaFree (state->histogram);
  cudaFree (state->scratch);
  img_cuda_host_free ((void *)state->computed);
  free (state);
}

static bool
make_state (ThresholdState **out, ImgError *error)
{
  ThresholdState *state = (ThresholdState *)calloc (1, sizeof (*state));
  int device = 0;

  *out = state;
  if (!state)
    return img_fail (error, IMG_ERROR_NO_MEMORY, "threshold: out of memory");
  if (!img_cuda_check (cudaGetDevice (&device), "finding the GPU", error)
      || !img_cuda_check (cudaDeviceGetAttribute (&state->processors,
                              cudaDevAttrMultiProcessorCount, device),
          "reading the GPU's properties", error))
    return false;
  state->computed = (int *)img_cuda_host_alloc (sizeof (int), error);
  if (!state->computed
      || !img_cuda_check (
          cudaHostGetDevicePointer (
              (void **)&state->computed_device, (void *)state->computed, 0),
          "mapping page-locked memory", error))
    return false;
  *state->computed = INT_MIN;
  return true;
}

/* Makes a zeroed histogram of `bins`. */
static bool
make_histogram (ThresholdState *state, int bins, ImgError *error)
{
  const size_t size
      = sizeof (ThresholdHistogram) + (bins - 1) * sizeof (unsigned);

  if (state->bins == bins)
    return true;
  cudaFree (state->histogram);
  state->histogram = NULL;
  state->bins = 0;
  *state->computed = INT_MIN;
  if (!img_cuda_check (
          cudaMalloc (&state->histogram, size), "allocating a histogram", error)
      || !img_cuda_check (
          cudaMemset (state->histogram, 0, size), "clearing a histogram", error)
      || !img_cuda_check (cudaStreamSynchronize (0), "clearing a histogram",
          error)) /* for streams of any kind */
    return false;
  state->bins = bins;
  return true;
}

static bool
make_scratch (ThresholdState *state, size_t size, ImgError *error)
{
  if (state->scratch_size >= size)
    return true;
  cudaFree (state->scratch);
  state->scratch = NULL;
  state->scratch_size = 0;
  if (!img_cuda_check (
          cudaMalloc (&state->scratch, size), "allocating row sums", error))
    return false;
  state->scratch_size = size;
  return true;
}

static bool
prepare (void **data, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  const ImgThresholdParams *p = (const ImgThresholdParams *)params;

  if (!img_threshold_check (src, dst, p, error))
    return false;
  if (!luma_fits (src) || !pointwise_fits (src))
    return img_fail (error, IMG_ERROR_UNSUPPORTED,
        "threshold: no GPU version for this format");
  if (!*data && !make_state ((ThresholdState **)data, error))
    return false;
  ThresholdState *state = (ThresholdState *)*data;

  state->method = p->method;
  state->view = *src;
  if (is_automatic (p->method))
    return make_histogram (state, 1 << src->depth, error);
  if (!is_adaptive (p->method))
    return true;
  state->adaptive = adaptive_kernel (p);
  return strip_fits (src, dst, p)
         || make_scratch (state,
             (size_t)src->width * src->height * sizeof (unsigned), error);
}

static bool
run (void *data, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  const ThresholdState *state = (const ThresholdState *)data;
  const ImgThresholdParams *p = (const ImgThresholdParams *)params;

  if (is_adaptive (p->method))
    return adaptive_run (src, dst, p, &state->adaptive, state->processors,
               state->scratch, stream, error)
           && pointwise_fill_others (src, dst, stream, error);
  if (!is_automatic (p->method))
    return apply (src, dst, p, ComputedLevel (), stream, error);
  const HistogramResult result = { state->histogram, p->method, state->bins };
  const ComputedLevel computed
      = { &state->histogram->level, state->computed_device };

  return histogram_run (src, &result, state->processors, stream, error)
         && apply (src, dst, p, computed, stream, error);
}

extern "C" const ImgOperation img_threshold_cuda
    = { "threshold", sizeof (ImgThresholdParams), true, prepare, run, release };

extern "C" double
img_threshold_computed_cuda (const void *data)
{
  const ThresholdState *state = (const ThresholdState *)data;
  const int level
      = state && is_automatic (state->method) ? *state->computed : INT_MIN;

  return level == INT_MIN ? -1 : img_threshold_unscale (&state->view, level);
}
