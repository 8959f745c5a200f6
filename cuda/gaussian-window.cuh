/*
 * Blurs 8-bit planes of three and four channels with kernels up to a radius of
 * 15 in one pass, in float32: on an H200 that is faster than tensor cores
 * there, since bands of weights for interleaved channels are mostly zero. A
 * block blurs a tile down the columns, from the plane into shared memory, and
 * from there along the rows. Radii and channels are template arguments, so that
 * every weight is an operand out of constant memory.
 */
#ifndef IMG_GAUSSIAN_WINDOW_CUH
#define IMG_GAUSSIAN_WINDOW_CUH

#include "check.h"
#include "gaussian-plane.cuh"

#define WINDOW_THREADS 256
#define WINDOW_ROWS 32 /* of a tile */
#define WINDOW_DOWN 8  /* rows of a thread in the first pass */
#define WINDOW_RUN 8   /* pixels of a thread in the second pass */
#define WINDOW_MAX_RADIUS 15

/* Distances beyond the radius of the kernel weigh 0. */
struct WindowWeights {
  float x[WINDOW_MAX_RADIUS + 1], y[WINDOW_MAX_RADIUS + 1];
};

/* Sizes of a tile, in components. */
template <int Channels, int Radius> struct WindowShape {
  static constexpr int run = WINDOW_RUN * Channels;
  static constexpr int lead = (Radius * Channels + 3) / 4 * 4;
  /* wide where the margins are, yet within the 64 KB of the smallest GPU */
  static constexpr int limit = Channels > 1 && Radius > 8 ? 480 : 256;
  static constexpr int cols = (limit - 2 * lead) / run * run;
  static constexpr int words = (cols + 2 * lead) / 4;
  /* 4 more than a multiple of 32: rows begin in different banks */
  static constexpr int pitch = limit + 4;
  static constexpr int bytes = WINDOW_ROWS * pitch * (int)sizeof (float);
};

/* Where four components of a row are read. */
struct WindowColumns {
  int at[4]; /* -1: the constant */
  bool whole;
};

template <int Channels, int Radius>
static __device__ __forceinline__ WindowColumns
window_columns (const BlurPlane &plane, int x, bool aligned)
{
  WindowColumns columns;

  columns.whole = aligned && x >= 0 && x + 4 <= plane.row;
#pragma unroll
  for (int i = 0; i < 4; i++) {
    columns.at[i] = x + i;
    if (columns.whole)
      continue;
    /* no result needs what is further away */
    const int inside = min (x + i, plane.row + Radius * Channels - 1);
    const int from_start = inside + WINDOW_MAX_RADIUS * 2 * Channels;
    const int pixel = from_start / Channels - WINDOW_MAX_RADIUS * 2;
    const int index = img_border_index (pixel, plane.width, plane.border);

    columns.at[i] = index < 0 ? -1 : index * Channels + from_start % Channels;
  }
  return columns;
}

/* Four components of row `y`, which is inside or -1. */
static __device__ __forceinline__ unsigned
window_word (const BlurPlane &plane, const WindowColumns &columns, int y)
{
  const unsigned char *row = plane.src + y * plane.src_stride;
  unsigned word = 0;

  if (columns.whole && y >= 0)
    return *(const unsigned *)(row + columns.at[0]);
#pragma unroll
  for (int i = 0; i < 4; i++)
    word |= (y < 0 || columns.at[i] < 0 ? (unsigned)plane.constant
                                        : row[columns.at[i]])
            << 8 * i;
  return word;
}

/* Byte `i` of a word, exactly: 2^23 + b has the bits 0x4b000000 | b. */
static __device__ __forceinline__ float
window_byte (unsigned word, int i)
{
  return __uint_as_float (__byte_perm (word, 0x4b000000, 0x7440 + i))
         - 8388608.f;
}

/* Blurs four columns of WINDOW_DOWN rows. `rows` are the rows to read. */
template <int Channels, int Radius>
static __device__ __forceinline__ void
window_blur_columns (float *sums, const BlurPlane &plane,
    const WindowWeights &weights, const int *rows, const WindowColumns &columns,
    bool inside)
{
  const int n = WINDOW_DOWN + 2 * Radius;
  unsigned words[n];
  float sum[WINDOW_DOWN][4] = {};

  if (inside && columns.whole) {
    const unsigned char *from
        = plane.src + rows[0] * plane.src_stride + columns.at[0];

#pragma unroll
    for (int i = 0; i < n; i++, from += plane.src_stride)
      words[i] = *(const unsigned *)from;
  } else {
#pragma unroll
    for (int i = 0; i < n; i++)
      words[i] = window_word (plane, columns, rows[i]);
  }
#pragma unroll
  for (int i = 0; i < n; i++)
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const float value = window_byte (words[i], k);

#pragma unroll
      for (int row = 0; row < WINDOW_DOWN; row++) {
        const int distance = i - row - Radius;

        if (distance >= -Radius && distance <= Radius)
          sum[row][k] += weights.y[distance < 0 ? -distance : distance] * value;
      }
    }
#pragma unroll
  for (int row = 0; row < WINDOW_DOWN; row++)
    *(float4 *)(sums + row * WindowShape<Channels, Radius>::pitch)
        = make_float4 (sum[row][0], sum[row][1], sum[row][2], sum[row][3]);
}

/* Blurs a run of pixels along the row; `from` is `lead` before it. */
template <int Channels, int Radius>
static __device__ __forceinline__ void
window_blur_run (float *sum, const float *from, const WindowWeights &weights)
{
  typedef WindowShape<Channels, Radius> Shape;

  const int first = Shape::lead - Radius * Channels;
  __align__ (16) float value[Shape::run + 2 * Shape::lead];

#pragma unroll
  for (int i = 0; i < Shape::run + 2 * Shape::lead; i += 4)
    *(float4 *)(value + i) = *(const float4 *)(from + i);
#pragma unroll
  for (int i = 0; i < Shape::run; i++)
    sum[i] = 0;
#pragma unroll
  for (int i = 0; i < WINDOW_RUN + 2 * Radius; i++)
#pragma unroll
    for (int c = 0; c < Channels; c++)
#pragma unroll
      for (int to = 0; to < WINDOW_RUN; to++) {
        const int distance = i - to - Radius;

        if (distance >= -Radius && distance <= Radius)
          sum[to * Channels + c]
              += weights.x[distance < 0 ? -distance : distance]
                 * value[first + i * Channels + c];
      }
}

/* Four sums as bytes; see round_pair. */
static __device__ __forceinline__ unsigned
window_round (const float *sum)
{
  return __byte_perm (
      round_pair (sum[0], sum[1]), round_pair (sum[2], sum[3]), 0x5410);
}

/* Writes a run to component `x` of row `y`; `keep` are the bits of a word that
 * are copied. */
template <int Channels>
static __device__ __forceinline__ void
window_store (const BlurPlane &plane, int x, int y, const float *sum,
    unsigned keep, bool aligned)
{
  const unsigned char *src = plane.src + y * plane.src_stride + x;
  unsigned char *dst = plane.dst + y * plane.dst_stride + x;

#pragma unroll
  for (int i = 0; i < WINDOW_RUN * Channels; i += 8) {
    const int left = plane.row - x - i;
    uint2 value
        = make_uint2 (window_round (sum + i), window_round (sum + i + 4));

    if (Channels == 4 && keep) {
      value.x
          = (value.x & ~keep) | (pointwise_load_bytes (src + i, left) & keep);
      value.y = (value.y & ~keep)
                | (pointwise_load_bytes (src + i + 4, left - 4) & keep);
    }
    if (aligned && left >= 8) {
      *(uint2 *)(dst + i) = value;
    } else {
      pointwise_store_bytes (dst + i, value.x, left);
      pointwise_store_bytes (dst + i + 4, value.y, left - 4);
    }
  }
}

template <int Channels, int Radius>
__global__ void
__launch_bounds__ (WINDOW_THREADS, 3) blur_window (
    const __grid_constant__ BlurPlane plane,
    const __grid_constant__ WindowWeights weights, unsigned keep, bool aligned)
{
  typedef WindowShape<Channels, Radius> Shape;
  float *sums = dynamic_shared<float> ();
  __shared__ int rows[WINDOW_ROWS + 2 * Radius];
  const int x0 = blockIdx.x * Shape::cols, y0 = blockIdx.y * WINDOW_ROWS;
  const bool inside = y0 >= Radius && y0 + WINDOW_ROWS + Radius <= plane.height;

  kernel_begin ();
  for (int i = threadIdx.x; i < WINDOW_ROWS + 2 * Radius; i += WINDOW_THREADS)
    rows[i]
        = img_border_index (min (y0 - Radius + i, plane.height + Radius - 1),
            plane.height, plane.border);
  __syncthreads ();
  for (int i = threadIdx.x; i < Shape::words * (WINDOW_ROWS / WINDOW_DOWN);
       i += WINDOW_THREADS) {
    const int col = i % Shape::words * 4, row = i / Shape::words * WINDOW_DOWN;

    window_blur_columns<Channels, Radius> (sums + row * Shape::pitch + col,
        plane, weights, rows + row,
        window_columns<Channels, Radius> (
            plane, x0 - Shape::lead + col, aligned),
        inside);
  }
  __syncthreads ();
  /* eight lanes go down the rows, through all banks */
  for (int i = threadIdx.x; i < Shape::cols / Shape::run * WINDOW_ROWS;
       i += WINDOW_THREADS) {
    const int runs = Shape::cols / Shape::run;
    const int row = i / (8 * runs) * 8 + i % 8;
    const int col = i / 8 % runs * Shape::run;
    float sum[Shape::run];

    if (y0 + row >= plane.height || x0 + col >= plane.row)
      continue;
    window_blur_run<Channels, Radius> (
        sum, sums + row * Shape::pitch + col, weights);
    window_store<Channels> (plane, x0 + col, y0 + row, sum, keep, aligned);
  }
}

/* host */

template <int Channels, int Radius>
static bool
start_window (const BlurPlane &plane, const WindowWeights &weights,
    unsigned keep, bool aligned, cudaStream_t stream, ImgError *error)
{
  typedef WindowShape<Channels, Radius> Shape;
  const dim3 grid ((plane.row + Shape::cols - 1) / Shape::cols,
      (plane.height + WINDOW_ROWS - 1) / WINDOW_ROWS);

  if (Shape::bytes > 48 * 1024 - 512
      && !img_cuda_check (
          cudaFuncSetAttribute (blur_window<Channels, Radius>,
              cudaFuncAttributeMaxDynamicSharedMemorySize, Shape::bytes),
          "reserving shared memory", error))
    return false;
  launch (blur_window<Channels, Radius>, grid, WINDOW_THREADS, Shape::bytes,
      stream, plane, weights, keep, aligned);
  return img_cuda_launched ("launching a blur", error);
}

template <int Channels>
static bool
run_window_channels (const BlurPlane &plane, int radius,
    const WindowWeights &weights, unsigned keep, bool aligned,
    cudaStream_t stream, ImgError *error)
{
  if (radius <= 2)
    return start_window<Channels, 2> (
        plane, weights, keep, aligned, stream, error);
  if (radius <= 4)
    return start_window<Channels, 4> (
        plane, weights, keep, aligned, stream, error);
  if (radius <= 7)
    return start_window<Channels, 7> (
        plane, weights, keep, aligned, stream, error);
  if (radius <= 10)
    return start_window<Channels, 10> (
        plane, weights, keep, aligned, stream, error);
  return start_window<Channels, 15> (
      plane, weights, keep, aligned, stream, error);
}

/* Blurs a plane of three or four channels. `keep`: bits of a word that are
 * copied; `aligned`: to words of eight bytes. */
static bool
run_window (const BlurPlane &plane, const ImgGaussianKernel &x,
    const ImgGaussianKernel &y, unsigned keep, bool aligned,
    cudaStream_t stream, ImgError *error)
{
  const int radius = x.radius > y.radius ? x.radius : y.radius;
  WindowWeights weights = {};

  for (int i = 0; i <= x.radius; i++)
    weights.x[i] = x.weight[i];
  for (int i = 0; i <= y.radius; i++)
    weights.y[i] = y.weight[i];
  return plane.channels == 3 ? run_window_channels<3> (
             plane, radius, weights, keep, aligned, stream, error)
                             : run_window_channels<4> (plane, radius, weights,
                                 keep, aligned, stream, error);
}

#endif
