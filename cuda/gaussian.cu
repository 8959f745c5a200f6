/*
 * gaussian.h on CUDA. Planes of 8 bits: one pass over device memory; with small
 * kernels by strips on tensor cores (one or two channels) or by windows in
 * float32 (three or four), with large ones by tiles on tensor cores. Everything
 * else: two passes in float32 with a picture of floats between them.
 */
#include "gaussian.h"

#include "check.h"
#include "gaussian-strip.cuh"
#include "gaussian-tile.cuh"
#include "gaussian-window.cuh"

/* the path for everything else */

struct PassWeights {
  int radius;
  float weight[IMG_GAUSSIAN_MAX_RADIUS + 1];
};

#define PASS_THREADS 128

/* Down the columns, from the plane to floats. */
template <typename T>
__global__ void
__launch_bounds__ (PASS_THREADS)
    blur_pass_columns (const __grid_constant__ BlurPlane plane,
        const __grid_constant__ PassWeights w, float *sums, int pitch)
{
  const int x = blockIdx.x * PASS_THREADS + threadIdx.x;
  const int y = blockIdx.y;
  const unsigned char *column = plane.src + x * sizeof (T);
  float sum = 0;

  kernel_begin ();
  if (x >= plane.row)
    return;
  for (int i = -w.radius; i <= w.radius; i++) {
    const int from = img_border_index (y + i, plane.height, plane.border);
    const int value = from < 0 ? plane.constant
                               : *(const T *)(column + from * plane.src_stride)
                                     >> plane.shift;

    sum = fmaf (w.weight[abs (i)], (float)value, sum);
  }
  sums[(size_t)y * pitch + x] = sum;
}

/* Along the rows, from floats to the plane. */
template <typename T>
__global__ void
__launch_bounds__ (PASS_THREADS)
    blur_pass_rows (const __grid_constant__ BlurPlane plane,
        const __grid_constant__ PassWeights w, const float *sums, int pitch)
{
  const int x = blockIdx.x * PASS_THREADS + threadIdx.x;
  const int y = blockIdx.y, c = plane.channels;
  const int pixel = x / c, channel = x - pixel * c;
  const float *row = sums + (size_t)y * pitch + channel;
  T *to = (T *)(plane.dst + y * plane.dst_stride) + x;
  float sum = 0;

  kernel_begin ();
  if (x >= plane.row)
    return;
  if (plane.copied[channel]) {
    *to = ((const T *)(plane.src + y * plane.src_stride))[x];
    return;
  }
  for (int i = -w.radius; i <= w.radius; i++) {
    const int from = img_border_index (pixel + i, plane.width, plane.border);

    sum = fmaf (w.weight[abs (i)],
        from < 0 ? (float)plane.constant : row[(size_t)from * c], sum);
  }
  *to = (T)(img_round_clamp (sum, 0, plane.max) << plane.shift);
}

/* host */

typedef struct {
  float *sums; /* of the largest plane; NULL while no plane needs them */
  size_t n_sums;
  int max_shared; /* bytes a block may have; 0: no tensor cores */
  int processors, processor_shared; /* and the shared bytes of each */
} State;

static bool
plane_is_copied (const ImgPlane *plane)
{
  return !img_channel_is_color (plane->channel[0]) && plane->channels == 1;
}

static bool
plane_uses_strips (const ImgView *view, const ImgPlane *plane, int rx, int ry)
{
  return view->component_bytes == 1 && plane->channels <= 2
         && rx <= STRIP_MAX_RADIUS && ry <= STRIP_MAX_RADIUS;
}

static bool
plane_uses_window (const ImgView *view, const ImgPlane *plane, int rx, int ry)
{
  return view->component_bytes == 1 && plane->channels > 2
         && rx <= WINDOW_MAX_RADIUS && ry <= WINDOW_MAX_RADIUS;
}

static bool
plane_uses_tile (const State *state, const ImgView *view, const ImgPlane *plane,
    int rx, int ry)
{
  return view->component_bytes == 1 && rx <= TILE_MAX_RADIUS
         && ry <= TILE_MAX_RADIUS
         && tile_bytes (tile_shape (rx, ry, plane->channels))
                <= (size_t)state->max_shared;
}

static int
plane_pitch (const ImgPlane *plane)
{
  return (plane->width * plane->channels + 31) / 32 * 32;
}

static bool
read_attribute (int *value, cudaDeviceAttr attribute, ImgError *error)
{
  int device;
  cudaError_t result = cudaGetDevice (&device);

  if (result == cudaSuccess)
    result = cudaDeviceGetAttribute (value, attribute, device);
  return img_cuda_check (result, "asking what the GPU can do", error);
}

static bool
read_device (State *state, ImgError *error)
{
  int major, shared;

  if (!read_attribute (&major, cudaDevAttrComputeCapabilityMajor, error)
      || !read_attribute (
          &shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, error)
      || !read_attribute (
          &state->processors, cudaDevAttrMultiProcessorCount, error)
      || !read_attribute (&state->processor_shared,
          cudaDevAttrMaxSharedMemoryPerMultiprocessor, error))
    return false;
  if (major < 8)
    return true;
  state->max_shared = shared - (int)sizeof (TileWeights);
  return img_cuda_check (
      cudaFuncSetAttribute (blur_tiles,
          cudaFuncAttributeMaxDynamicSharedMemorySize, state->max_shared),
      "reserving shared memory", error);
}

/* Makes the picture of floats as large as `view` needs with these kernels. */
static bool
reserve_sums (State *state, const ImgView *view,
    const ImgGaussianParams *params, ImgError *error)
{
  ImgGaussianKernel x, y;
  size_t n = 0;

  for (int i = 0; i < view->n_planes; i++) {
    const ImgPlane *plane = &view->plane[i];
    const size_t size = (size_t)plane_pitch (plane) * plane->height;

    if (!img_gaussian_kernels (
            params, view->depth, plane->x_sub, plane->y_sub, &x, &y, error))
      return false;
    if (!plane_is_copied (plane) && size > n
        && !plane_uses_strips (view, plane, x.radius, y.radius)
        && !plane_uses_window (view, plane, x.radius, y.radius)
        && !plane_uses_tile (state, view, plane, x.radius, y.radius))
      n = size;
  }
  if (n <= state->n_sums)
    return true;
  cudaFree (state->sums);
  state->sums = NULL;
  state->n_sums = 0;
  if (!img_cuda_check (cudaMalloc (&state->sums, n * sizeof (float)),
          "allocating memory for a blur", error))
    return false;
  state->n_sums = n;
  return true;
}

static void
release (void *data)
{
  State *state = (State *)data;

  if (state)
    cudaFree (state->sums);
  free (state);
}

static bool
prepare (void **data, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  State *state = (State *)*data;

  if (!img_view_same_layout (src, dst))
    return img_fail (error, IMG_ERROR_UNSUPPORTED,
        "gaussian: source and destination differ in format or size");
  if (!state) {
    *data = state = (State *)calloc (1, sizeof (*state));
    if (!state)
      return img_fail (error, IMG_ERROR_NO_MEMORY, "gaussian: no memory");
    if (!read_device (state, error))
      return false;
  }
  return reserve_sums (state, src, (const ImgGaussianParams *)params, error);
}

static BlurPlane
blur_plane (const ImgView *src, const ImgView *dst, int i, ImgBorder border)
{
  const ImgPlane *from = &src->plane[i], *to = &dst->plane[i];
  const ImgLevels levels = img_view_levels (src);
  BlurPlane plane = {};

  plane.src = (const unsigned char *)from->data;
  plane.dst = (unsigned char *)to->data;
  plane.src_stride = from->stride;
  plane.dst_stride = to->stride;
  plane.width = from->width;
  plane.height = from->height;
  plane.channels = from->channels;
  plane.row = from->width * from->channels;
  plane.shift = src->shift;
  plane.max = levels.max;
  plane.constant = img_channel_is_chroma (from->channel[0]) ? levels.neutral
                                                            : levels.black;
  plane.border = border;
  for (int c = 0; c < from->channels; c++)
    plane.copied[c] = !img_channel_is_color (from->channel[c]);
  return plane;
}

/* The bits of four components that are copied. */
static unsigned
kept_bits (const BlurPlane &plane)
{
  unsigned keep = 0;

  for (int c = 0; c < plane.channels; c++)
    keep |= plane.copied[c] ? 0xffu << 8 * c : 0;
  return keep;
}

/* Whether words of eight bytes may be read and written. */
static bool
plane_is_aligned (const BlurPlane &plane)
{
  const uintptr_t bits = (uintptr_t)plane.src | (uintptr_t)plane.dst
                         | (uintptr_t)plane.src_stride
                         | (uintptr_t)plane.dst_stride;

  return bits % 8 == 0;
}

static bool
run_strips (const State *state, const BlurPlane &plane,
    const ImgGaussianKernel &x, const ImgGaussianKernel &y, cudaStream_t stream,
    ImgError *error)
{
  StripJob job = {};

  job.plane = plane;
  job.rx = x.radius;
  job.ry = y.radius;
  job.keep = kept_bits (plane);
  job.aligned = plane_is_aligned (plane);
  for (int i = 0; i <= x.radius; i++)
    job.weights.x[i] = x.weight[i];
  for (int i = 0; i <= y.radius; i++)
    job.weights.y[i] = y.weight[i];
  return strip_run (&job, state->processors, stream, error);
}

/* Blocks that the GPU runs at a time, at most one for each tile. */
static int
tile_blocks (const State *state, const BlurPlane &plane, size_t shared)
{
  const int tiles = (plane.row + TILE_COLS - 1) / TILE_COLS
                    * ((plane.height + TILE_ROWS - 1) / TILE_ROWS);
  /* each block also takes its static kilobyte and one of the system's */
  int blocks = state->processor_shared / (int)(shared + 2048);

  if (blocks > 4)
    blocks = 4; /* registers */
  blocks *= state->processors;
  return tiles < blocks ? tiles : blocks;
}

static bool
run_tile (const State *state, const BlurPlane &plane,
    const ImgGaussianKernel &x, const ImgGaussianKernel &y, cudaStream_t stream,
    ImgError *error)
{
  const TileShape shape = tile_shape (x.radius, y.radius, plane.channels);
  const size_t shared = tile_bytes (shape);
  TileWeights weights = {};

  for (int i = 0; i <= x.radius; i++)
    weights.x[i] = x.weight[i];
  for (int i = 0; i <= y.radius; i++)
    weights.y[i] = y.weight[i];
  launch (blur_tiles, tile_blocks (state, plane, shared), TILE_THREADS, shared,
      stream, plane, weights, shape, kept_bits (plane),
      plane_is_aligned (plane));
  return img_cuda_launched ("launching a blur", error);
}

static PassWeights
pass_weights (const ImgGaussianKernel &kernel)
{
  PassWeights w = {};

  w.radius = kernel.radius;
  for (int i = 0; i <= kernel.radius; i++)
    w.weight[i] = kernel.weight[i];
  return w;
}

template <typename T>
static bool
run_passes (const BlurPlane &plane, const ImgGaussianKernel &x,
    const ImgGaussianKernel &y, float *sums, int pitch, cudaStream_t stream,
    ImgError *error)
{
  const dim3 grid ((plane.row + PASS_THREADS - 1) / PASS_THREADS, plane.height);

  launch (blur_pass_columns<T>, grid, PASS_THREADS, 0, stream, plane,
      pass_weights (y), sums, pitch);
  launch (blur_pass_rows<T>, grid, PASS_THREADS, 0, stream, plane,
      pass_weights (x), (const float *)sums, pitch);
  return img_cuda_launched ("launching a blur", error);
}

static bool
run_plane (const State *state, const ImgView *src, const ImgView *dst, int i,
    const ImgGaussianParams *params, cudaStream_t stream, ImgError *error)
{
  const ImgPlane *from = &src->plane[i];
  const BlurPlane plane = blur_plane (src, dst, i, params->border);
  const int pitch = plane_pitch (from);
  ImgGaussianKernel x, y;

  if (from->height == 0)
    return true;
  if (!img_gaussian_kernels (
          params, src->depth, from->x_sub, from->y_sub, &x, &y, error))
    return false;
  if (plane_uses_strips (src, from, x.radius, y.radius))
    return run_strips (state, plane, x, y, stream, error);
  if (plane_uses_window (src, from, x.radius, y.radius))
    return run_window (plane, x, y, kept_bits (plane), plane_is_aligned (plane),
        stream, error);
  if (plane_uses_tile (state, src, from, x.radius, y.radius))
    return run_tile (state, plane, x, y, stream, error);
  return src->component_bytes == 1 ? run_passes<uint8_t> (
             plane, x, y, state->sums, pitch, stream, error)
                                   : run_passes<uint16_t> (plane, x, y,
                                       state->sums, pitch, stream, error);
}

static bool
copy_plane (const ImgView *src, const ImgView *dst, int i, cudaStream_t stream,
    ImgError *error)
{
  const ImgPlane *from = &src->plane[i], *to = &dst->plane[i];
  const PointwiseSet copy = { ~0u, 0 };
  PointwiseJob<PointwiseSet> job = {};

  if (from->data == to->data)
    return true;
  pointwise_add (&job, src, dst, i, copy);
  return pointwise_run (&job, stream, "launching a copy of a plane", error);
}

static bool
run (void *data, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  for (int i = 0; i < src->n_planes; i++)
    if (plane_is_copied (&src->plane[i])
            ? !copy_plane (src, dst, i, stream, error)
            : !run_plane ((const State *)data, src, dst, i,
                (const ImgGaussianParams *)params, stream, error))
      return false;
  return true;
}

const ImgOperation img_gaussian_cuda
    = { "gaussian", sizeof (ImgGaussianParams), false, prepare, run, release };
