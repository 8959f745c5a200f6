/*
 * NPP's functions for the jobs of bench_operations, on interleaved 8-bit
 * pictures. On a machine with CUDA's toolkit but without meson's dependencies:
 *
 *   nvcc -shared -Xcompiler -fPIC -I cuda tests/bench/peers_npp.cu \
 *     -lnppial -lnppicc -lnppidei -lnppif -lnppig -lnppist -lnppitc -lnppc \
 *     -o BUILD/tests/bench/libbench_peers_npp.so
 */
#include <cuda_runtime.h>
#include <math.h>
#include <npp.h>
#include <stdlib.h>

#include "bench_peers.h"

#define MAX_TAPS 31
#define HISTOGRAM_LEVELS 257 /* the edges of 256 bins */

typedef struct {
  NppStreamContext context;
  float *kernel; /* MAX_TAPS weights at most, on the device */
  Npp32s *histogram;
  Npp8u *scratch;
} State;

/* The arguments that NPP's functions begin with, without and with what they
 * must know to stop at the border. */
#define SRC (const Npp8u *)src->plane[0].data, (int)src->plane[0].stride
#define DST (Npp8u *)dst->plane[0].data, (int)dst->plane[0].stride
#define SIZE size_of (src)
#define POINT_ARGS SRC, DST, SIZE
#define BORDER_ARGS SRC, SIZE, origin, DST, SIZE
#define CONTEXT ((State *)state)->context

/* Calls function_8u_C1R_Ctx, C3R or (alpha left alone) AC4R. */
#define BY_CHANNELS(function, ...)                                             \
  (src->plane[0].channels == 1      ? function##_8u_C1R_Ctx (__VA_ARGS__)      \
      : src->plane[0].channels == 3 ? function##_8u_C3R_Ctx (__VA_ARGS__)      \
                                    : function##_8u_AC4R_Ctx (__VA_ARGS__))

static const NppiPoint origin = { 0, 0 };

static NppiSize
size_of (const ImgView *view)
{
  NppiSize size = { view->width, view->height };

  return size;
}

static bool
fill_context (NppStreamContext *context, ImgStream stream)
{
  cudaDeviceProp properties;

  if (cudaGetDevice (&context->nCudaDeviceId) != cudaSuccess
      || cudaGetDeviceProperties (&properties, context->nCudaDeviceId)
             != cudaSuccess)
    return false;
  context->hStream = stream;
  context->nMultiProcessorCount = properties.multiProcessorCount;
  context->nMaxThreadsPerMultiProcessor
      = properties.maxThreadsPerMultiProcessor;
  context->nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
  context->nSharedMemPerBlock = properties.sharedMemPerBlock;
  context->nCudaDevAttrComputeCapabilityMajor = properties.major;
  context->nCudaDevAttrComputeCapabilityMinor = properties.minor;
  return cudaStreamGetFlags (stream, &context->nStreamFlags) == cudaSuccess;
}

static bool
prepare (void **state, const ImgView *view, ImgStream stream)
{
  State *self = (State *)calloc (1, sizeof (State));
  int channels = view->plane[0].channels;

  *state = self;
  return self && view->n_planes == 1 && view->component_bytes == 1
         && channels != 2
         && (channels != 4 || view->plane[0].channel[3] == IMG_CHANNEL_A)
         && fill_context (&self->context, stream);
}

static bool
prepare_gray (void **state, const ImgView *view, ImgStream stream)
{
  return prepare (state, view, stream) && view->plane[0].channels == 1;
}

/* Pictures in RGB order, and NV12, whose colour conversions NPP has. */
static bool
prepare_rgb (void **state, const ImgView *view, ImgStream stream)
{
  return prepare (state, view, stream) && view->plane[0].channels == 3;
}

static bool
prepare_color (void **state, const ImgView *view, ImgStream stream)
{
  State *self = (State *)calloc (1, sizeof (State));

  *state = self;
  return self && view->component_bytes == 1 && view->n_planes <= 2
         && (view->model == IMG_MODEL_YUV || view->plane[0].channels == 3)
         && fill_context (&self->context, stream);
}

static bool
prepare_gaussian (void **state, const ImgView *view, ImgStream stream)
{
  float weight[MAX_TAPS];
  State *self;

  if (!prepare (state, view, stream))
    return false;
  self = (State *)*state;
  /* the values do not matter to the time */
  for (int i = 0; i < MAX_TAPS; i++)
    weight[i] = 1.0f / MAX_TAPS;
  return cudaMalloc (&self->kernel, sizeof (weight)) == cudaSuccess
         && cudaMemcpy (
                self->kernel, weight, sizeof (weight), cudaMemcpyHostToDevice)
                == cudaSuccess;
}

static bool
prepare_histogram (void **state, const ImgView *view, ImgStream stream)
{
  State *self;
  size_t size = 0;

  if (!prepare_gray (state, view, stream))
    return false;
  self = (State *)*state;
  return nppiHistogramEvenGetBufferSize_8u_C1R_Ctx (
             size_of (view), HISTOGRAM_LEVELS, &size, self->context)
             == NPP_SUCCESS
         && cudaMalloc (&self->histogram, HISTOGRAM_LEVELS * sizeof (Npp32s))
                == cudaSuccess
         && cudaMalloc (&self->scratch, size) == cudaSuccess;
}

static void
release (void *state)
{
  State *self = (State *)state;

  if (!self)
    return;
  cudaFree (self->kernel);
  cudaFree (self->histogram);
  cudaFree (self->scratch);
  free (self);
}

static bool
run_not (void *state, const ImgView *src, const ImgView *dst)
{
  return BY_CHANNELS (nppiNot, POINT_ARGS, CONTEXT) == NPP_SUCCESS;
}

static bool
run_threshold (void *state, const ImgView *src, const ImgView *dst)
{
  static const Npp8u below[] = { 128, 128, 128 }, black[] = { 0, 0, 0 },
                     above[] = { 127, 127, 127 }, white[] = { 255, 255, 255 };

  if (src->plane[0].channels == 1)
    return nppiThreshold_LTValGTVal_8u_C1R_Ctx (
               POINT_ARGS, below[0], black[0], above[0], white[0], CONTEXT)
           == NPP_SUCCESS;
  if (src->plane[0].channels == 3)
    return nppiThreshold_LTValGTVal_8u_C3R_Ctx (
               POINT_ARGS, below, black, above, white, CONTEXT)
           == NPP_SUCCESS;
  return nppiThreshold_LTValGTVal_8u_AC4R_Ctx (
             POINT_ARGS, below, black, above, white, CONTEXT)
         == NPP_SUCCESS;
}

/* Without the step between the two that chooses the threshold, which NPP does
 * not have. */
static bool
run_histogram_threshold (void *state, const ImgView *src, const ImgView *dst)
{
  State *self = (State *)state;

  return nppiHistogramEven_8u_C1R_Ctx (SRC, SIZE, self->histogram,
             HISTOGRAM_LEVELS, 0, 256, self->scratch, self->context)
             == NPP_SUCCESS
         && run_threshold (state, src, dst);
}

static bool
run_adaptive (void *state, const ImgView *src, const ImgView *dst)
{
  NppiSize mask = { 11, 11 };

  return nppiFilterThresholdAdaptiveBoxBorder_8u_C1R_Ctx (
             BORDER_ARGS, mask, 2, 255, 0, NPP_BORDER_REPLICATE, CONTEXT)
         == NPP_SUCCESS;
}

static bool
run_sobel (void *state, const ImgView *src, const ImgView *dst)
{
  return BY_CHANNELS (nppiFilterSobelVertBorder, BORDER_ARGS,
             NPP_BORDER_REPLICATE, CONTEXT)
         == NPP_SUCCESS;
}

static bool
run_gauss (void *state, const ImgView *src, const ImgView *dst)
{
  return BY_CHANNELS (nppiFilterGaussBorder, BORDER_ARGS, NPP_MASK_SIZE_15_X_15,
             NPP_BORDER_REPLICATE, CONTEXT)
         == NPP_SUCCESS;
}

static bool
run_gauss_taps (void *state, const ImgView *src, const ImgView *dst, int taps)
{
  return BY_CHANNELS (nppiFilterGaussAdvancedBorder, BORDER_ARGS, taps,
             ((State *)state)->kernel, NPP_BORDER_REPLICATE, CONTEXT)
         == NPP_SUCCESS;
}

static bool
run_gauss_15 (void *state, const ImgView *src, const ImgView *dst)
{
  return run_gauss_taps (state, src, dst, 15);
}

static bool
run_gauss_31 (void *state, const ImgView *src, const ImgView *dst)
{
  return run_gauss_taps (state, src, dst, 31);
}

static bool
run_resize (void *state, const ImgView *src, const ImgView *dst, int method)
{
  const NppiRect from = { 0, 0, src->width, src->height };
  const NppiRect to = { 0, 0, dst->width, dst->height };

  return BY_CHANNELS (nppiResize, SRC, size_of (src), from, DST, size_of (dst),
             to, method, CONTEXT)
         == NPP_SUCCESS;
}

static bool
run_resize_linear (void *state, const ImgView *src, const ImgView *dst)
{
  return run_resize (state, src, dst, NPPI_INTER_LINEAR);
}

static bool
run_resize_cubic (void *state, const ImgView *src, const ImgView *dst)
{
  return run_resize (state, src, dst, NPPI_INTER_CUBIC);
}

static bool
run_resize_lanczos (void *state, const ImgView *src, const ImgView *dst)
{
  return run_resize (state, src, dst, NPPI_INTER_LANCZOS);
}

static bool
run_resize_super (void *state, const ImgView *src, const ImgView *dst)
{
  return run_resize (state, src, dst, NPPI_INTER_SUPER);
}

static bool
run_gray (void *state, const ImgView *src, const ImgView *dst)
{
  return nppiRGBToGray_8u_C3C1R_Ctx (POINT_ARGS, CONTEXT) == NPP_SUCCESS;
}

/* To BGR: of the same order, or of NV12. */
static bool
run_bgr (void *state, const ImgView *src, const ImgView *dst)
{
  static const int order[3] = { 2, 1, 0 };
  const Npp8u *planes[2] = { (const Npp8u *)src->plane[0].data,
    (const Npp8u *)src->plane[1].data };

  if (src->model == IMG_MODEL_YUV)
    return nppiNV12ToBGR_8u_P2C3R_Ctx (
               planes, (int)src->plane[0].stride, DST, SIZE, CONTEXT)
           == NPP_SUCCESS;
  return nppiSwapChannels_8u_C3R_Ctx (POINT_ARGS, order, CONTEXT)
         == NPP_SUCCESS;
}

/* clang-format off */
extern "C" __attribute__ ((visibility ("default")))
const BenchPeer bench_peers[] = {
  { "invert", "nppiNot", prepare, run_not, release },
  { "threshold-fixed", "nppiThreshold_LTValGTVal", prepare, run_threshold,
    release },
  { "threshold-otsu", "nppiHistogramEven+Threshold", prepare_histogram,
    run_histogram_threshold, release },
  { "threshold-mean-11", "nppiFilterThresholdAdaptiveBox", prepare_gray,
    run_adaptive, release },
  { "sobel-magnitude", "nppiFilterSobelVert (x only)", prepare, run_sobel,
    release },
  { "sobel-x", "nppiFilterSobelVert", prepare, run_sobel, release },
  { "gaussian-15", "nppiFilterGaussBorder", prepare, run_gauss, release },
  { "gaussian-15", "nppiFilterGaussAdvanced", prepare_gaussian, run_gauss_15,
    release },
  { "gaussian-31", "nppiFilterGaussAdvanced", prepare_gaussian, run_gauss_31,
    release },
  { "cvtcolor-gray", "nppiRGBToGray", prepare_rgb, run_gray, release },
  { "cvtcolor-bgr", "nppiSwapChannels, NV12ToBGR", prepare_color, run_bgr,
    release },
  { "resize-half-linear", "nppiResize", prepare, run_resize_linear, release },
  { "resize-half-cubic", "nppiResize", prepare, run_resize_cubic, release },
  { "resize-half-lanczos", "nppiResize", prepare, run_resize_lanczos,
    release },
  { "resize-third-area", "nppiResize, super", prepare, run_resize_super,
    release },
  { "resize-2/3-linear", "nppiResize", prepare, run_resize_linear, release },
  { "resize-2/3-cubic", "nppiResize", prepare, run_resize_cubic, release },
  { "resize-2/3-area", "nppiResize, super", prepare, run_resize_super,
    release },
  { "resize-double-linear", "nppiResize", prepare, run_resize_linear, release },
  { "resize-double-cubic", "nppiResize", prepare, run_resize_cubic, release },
  {},
};
/* clang-format on */
