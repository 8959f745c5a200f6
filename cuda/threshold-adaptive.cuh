/*
 * Adaptive thresholds: in one pass where threshold-strip.cuh can, else in two
 * passes, with the sums of the rows in scratch.
 */
#ifndef IMG_THRESHOLD_ADAPTIVE_CUH
#define IMG_THRESHOLD_ADAPTIVE_CUH

#include "threshold-strip.cuh"

#define ROWS_THREADS 256
#define COLUMNS_X 32
#define COLUMNS_Y 8
#define COLUMNS_TILE 64

/* The two passes */

struct AdaptivePasses {
  AdaptiveKernel kernel;
  int depth;
  unsigned *scratch; /* src.width * src.height */
  LumaPicture src;
  LumaTarget dst;
  ImgThresholdRule rule;
};

template <typename Group>
__global__ void
__launch_bounds__ (ROWS_THREADS)
    rows_kernel (const __grid_constant__ AdaptivePasses job)
{
  __shared__ unsigned short luma[ROWS_THREADS + 2 * IMG_GAUSS_MAX_RADIUS];
  const int radius = job.kernel.radius, width = job.src.width;
  const int first = blockIdx.x * ROWS_THREADS, y = blockIdx.y;
  const unsigned short *own = luma + threadIdx.x + radius;
  unsigned sum = 0;

  kernel_begin ();
  for (int i = threadIdx.x; i < ROWS_THREADS + 2 * radius; i += ROWS_THREADS)
    luma[i] = luma_at<Group> (
        job.src, img_clamp (first + i - radius, 0, width - 1), y);
  __syncthreads ();
  for (int i = 1; i <= radius; i++)
    sum += job.kernel.weight[i] * ((unsigned)own[i] + own[-i]);
  sum += job.kernel.weight[0] * own[0];
  if (job.kernel.gaussian)
    sum = img_gauss_first (sum, job.depth);
  if (first + (int)threadIdx.x < width)
    job.scratch[(size_t)y * width + first + threadIdx.x] = sum;
}

template <typename Group>
__global__ void
__launch_bounds__ (COLUMNS_X *COLUMNS_Y)
    columns_kernel (const __grid_constant__ AdaptivePasses job)
{
  unsigned *shared = dynamic_shared<unsigned> ();
  const int radius = job.kernel.radius;
  const int width = job.src.width, height = job.src.height;
  const int x = blockIdx.x * COLUMNS_X + threadIdx.x;
  const int top = blockIdx.y * COLUMNS_TILE;
  const float reciprocal = 1.0f / job.kernel.area;

  kernel_begin ();
  if (x < width)
    for (int i = threadIdx.y; i < COLUMNS_TILE + 2 * radius; i += COLUMNS_Y)
      shared[i * COLUMNS_X + threadIdx.x]
          = job.scratch[(size_t)img_clamp (top + i - radius, 0, height - 1)
                            * width
                        + x];
  __syncthreads ();
  for (int i = threadIdx.y; i < COLUMNS_TILE; i += COLUMNS_Y) {
    const unsigned *own = shared + (i + radius) * COLUMNS_X + threadIdx.x;
    const int y = top + i;
    unsigned sum = job.kernel.weight[0] * own[0];

    if (x >= width || y >= height)
      return;
    for (int k = 1; k <= radius; k++)
      sum += job.kernel.weight[k] * (own[k * COLUMNS_X] + own[-k * COLUMNS_X]);
    const int mean = job.kernel.gaussian
                         ? img_gauss_second (sum, job.depth)
                         : img_box_mean (sum, job.kernel.area, reciprocal);
    const int value = luma_at<Group> (job.src, x, y);
    write_pixel<Group> (job.src, job.dst, x, y,
        img_threshold_apply (&job.rule, value, mean - job.rule.offset));
  }
}

/* Host side */

static AdaptiveKernel
adaptive_kernel (const ImgThresholdParams *params)
{
  AdaptiveKernel kernel = {};

  kernel.radius = params->block_size / 2;
  kernel.area = params->block_size * params->block_size;
  kernel.gaussian = params->method == IMG_THRESHOLD_ADAPTIVE_GAUSSIAN;
  if (kernel.gaussian)
    img_gauss_weights (params->block_size, kernel.weight);
  else
    for (int i = 0; i <= kernel.radius; i++)
      kernel.weight[i] = 1;
  return kernel;
}

static bool
run_passes (const ImgView *src, const ImgView *dst,
    const ImgThresholdRule *rule, const AdaptiveKernel *kernel,
    unsigned *scratch, cudaStream_t stream, ImgError *error)
{
  const AdaptivePasses job = { *kernel, src->depth, scratch, luma_picture (src),
    luma_target (dst), *rule };
  const dim3 rows ((src->width + ROWS_THREADS - 1) / ROWS_THREADS, src->height);
  const dim3 columns ((src->width + COLUMNS_X - 1) / COLUMNS_X,
      (src->height + COLUMNS_TILE - 1) / COLUMNS_TILE);
  const size_t shared = (COLUMNS_TILE + 2 * (size_t)kernel->radius) * COLUMNS_X
                        * sizeof (unsigned);

  luma_dispatch (src, [&] (auto group) {
    typedef decltype (group) Group;

    launch (rows_kernel<Group>, rows, ROWS_THREADS, 0, stream, job);
    launch (columns_kernel<Group>, columns, dim3 (COLUMNS_X, COLUMNS_Y), shared,
        stream, job);
  });
  return img_cuda_launched ("launching the adaptive threshold", error);
}

/* `scratch`: of src->width * src->height, unless strip_fits. */
static bool
adaptive_run (const ImgView *src, const ImgView *dst,
    const ImgThresholdParams *params, const AdaptiveKernel *kernel,
    int processors, unsigned *scratch, cudaStream_t stream, ImgError *error)
{
  const ImgThresholdRule rule = img_threshold_rule (src, params);

  return strip_fits (src, dst, params)
             ? strip_run (src, dst, &rule, kernel, processors, stream, error)
             : run_passes (src, dst, &rule, kernel, scratch, stream, error);
}

#endif
