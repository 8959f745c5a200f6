/*
 * resize.cu's kernels for any number of inputs, and for one.
 *
 * A warp makes a piece of one row of results from a piece of the rows above
 * each other that it takes: these are added up into floats in shared memory,
 * with loads of whole words, and then the columns of that sum.
 */
#ifndef IMG_RESIZE_SUM_CUH
#define IMG_RESIZE_SUM_CUH

#include "resize-plane.cuh"

#define WARPS 8
/* Components of a piece, of the sums over rows and of the results. */
#define PIECE 512
/* Outputs of a piece where nothing is added up. */
#define PICK_PIECE 128

/* Sums the rows of output row `y`, words from..from+words-1, to `sums`.
 * `Whole`: they are aligned, and in the plane to the last byte. `Taps` of 0:
 * any number.
 */
template <typename T, bool Whole, int Taps>
static __device__ __forceinline__ void
sum_rows (const ResizePlane &plane, int y, int from, int words, float *sums)
{
  const int per_word = 4 / sizeof (T), taps = Taps ? Taps : plane.y.taps;
  const unsigned char *rows
      = plane.src + plane.y.first[y] * plane.src_stride + (size_t)from * 4;
  const float *weight = plane.y.weight + (size_t)y * taps;

#pragma unroll 4
  for (int i = threadIdx.x; i < words; i += 32) {
    const int left = (plane.src_row - (from + i) * per_word) * (int)sizeof (T);
    const unsigned char *p = rows + (size_t)i * 4;
    float sum[per_word] = {};

#pragma unroll 4
    for (int k = 0; k < taps; k++, p += plane.src_stride) {
      const unsigned word = Whole ? __ldg ((const unsigned *)p)
                                  : pointwise_load_bytes (p, min (left, 4));

#pragma unroll
      for (int c = 0; c < per_word; c++)
        sum[c] = fmaf (
            weight[k], (float)(component<T> (word, c) >> plane.shift), sum[c]);
    }
#pragma unroll
    for (int c = 0; c < per_word; c += 2)
      ((float2 *)sums)[(i * per_word + c) / 2]
          = make_float2 (sum[c], sum[c + 1]);
  }
}

static __device__ __forceinline__ unsigned
finish (const ResizePlane &plane, float sum)
{
  return (unsigned)img_resize_round (sum, plane.bias, plane.scale, plane.max)
         << plane.shift;
}

/* Adds a pixel of `Channels` floats. */
template <int Channels>
static __device__ __forceinline__ void
add_pixel (float *sum, float weight, const float *from)
{
  if (Channels == 4) {
    const float4 pixel = *(const float4 *)from;

    sum[0] = fmaf (weight, pixel.x, sum[0]);
    sum[1] = fmaf (weight, pixel.y, sum[1]);
    sum[2 % Channels] = fmaf (weight, pixel.z, sum[2 % Channels]);
    sum[3 % Channels] = fmaf (weight, pixel.w, sum[3 % Channels]);
  } else if (Channels == 2) {
    const float2 pixel = *(const float2 *)from;

    sum[0] = fmaf (weight, pixel.x, sum[0]);
    sum[1 % Channels] = fmaf (weight, pixel.y, sum[1 % Channels]);
  } else {
#pragma unroll
    for (int c = 0; c < Channels; c++)
      sum[c] = fmaf (weight, from[c], sum[c]);
  }
}

template <typename T, int Channels>
static __device__ __forceinline__ void
store_pixel (const ResizePlane &plane, const float *sum, T *to)
{
  const int bits = 8 * sizeof (T);
  unsigned word = 0;

  if (Channels * sizeof (T) == 4 && plane.dst_aligned) {
#pragma unroll
    for (int c = 0; c < Channels; c++)
      word |= finish (plane, sum[c]) << bits * c % 32;
    *(unsigned *)to = word;
  } else {
#pragma unroll
    for (int c = 0; c < Channels; c++)
      to[c] = (T)finish (plane, sum[c]);
  }
}

/* Outputs begin..end-1 of a row from the sums over rows, of which component
 * `origin` stands at sums[0]. `Taps` of 0: any number. */
template <typename T, int Channels, int Taps>
static __device__ __forceinline__ void
sum_columns (const ResizePlane &plane, int begin, int end, int origin,
    const float *sums, T *row)
{
  const int taps = Taps ? Taps : plane.x.taps;

  for (int x = begin + threadIdx.x; x < end; x += 32) {
    const float *from = sums + plane.x.first[x] * Channels - origin;
    const float *weight = plane.x.weight + (size_t)x * taps;
    float sum[Channels] = {};

    if (Taps == 2) {
      const float2 two = *(const float2 *)weight;

      add_pixel<Channels> (sum, two.x, from);
      add_pixel<Channels> (sum, two.y, from + Channels);
    } else {
#pragma unroll 4
      for (int k = 0; k < taps; k++)
        add_pixel<Channels> (sum, weight[k], from + k * Channels);
    }
    store_pixel<T, Channels> (plane, sum, row + (size_t)x * Channels);
  }
}

/* An output that takes more inputs than a piece has: all lanes add up. */
template <typename T>
static __device__ void
sum_long_output (const ResizePlane &plane, int x, int y, T *row)
{
  const int taps = plane.x.taps, channels = plane.channels;

  for (int c = 0; c < channels; c++) {
    float sum = 0;

    for (int j = 0; j < plane.y.taps; j++) {
      const T *from
          = (const T *)(plane.src + (plane.y.first[y] + j) * plane.src_stride)
            + (size_t)plane.x.first[x] * channels + c;
      float across = 0;

      for (int k = threadIdx.x; k < taps; k += 32)
        across = fmaf (plane.x.weight[(size_t)x * taps + k],
            (float)(from[(size_t)k * channels] >> plane.shift), across);
      sum = fmaf (plane.y.weight[(size_t)y * plane.y.taps + j], across, sum);
    }
    for (int lane = 16; lane > 0; lane /= 2)
      sum += __shfl_xor_sync (~0u, sum, lane);
    if (threadIdx.x == 0)
      row[(size_t)x * channels + c] = (T)finish (plane, sum);
  }
}

template <typename T, int Channels>
static __device__ __forceinline__ void
sum_columns_by_taps (const ResizePlane &plane, int begin, int end, int origin,
    const float *sums, T *row)
{
  if (plane.x.taps == 2)
    sum_columns<T, Channels, 2> (plane, begin, end, origin, sums, row);
  else if (plane.x.taps == 4)
    sum_columns<T, Channels, 4> (plane, begin, end, origin, sums, row);
  else
    sum_columns<T, Channels, 0> (plane, begin, end, origin, sums, row);
}

template <typename T>
static __device__ __forceinline__ void
sum_piece (const ResizePlane &plane, int begin, int end, int y, float *sums)
{
  const int per_word = 4 / sizeof (T), channels = plane.channels;
  const int from = plane.x.first[begin] * channels / per_word;
  const int to = (plane.x.first[end - 1] + plane.x.taps) * channels;
  const int words = (to + per_word - 1) / per_word - from;
  const int origin = from * per_word;
  T *row = (T *)(plane.dst + y * plane.dst_stride);

  if (words * per_word > PIECE) {
    sum_long_output (plane, begin, y, row);
    return;
  }
  if (!plane.aligned || (from + words) * per_word > plane.src_row)
    sum_rows<T, false, 0> (plane, y, from, words, sums);
  else if (plane.y.taps == 2)
    sum_rows<T, true, 2> (plane, y, from, words, sums);
  else
    sum_rows<T, true, 0> (plane, y, from, words, sums);
  __syncwarp ();
  if (channels == 1)
    sum_columns_by_taps<T, 1> (plane, begin, end, origin, sums, row);
  else if (channels == 2)
    sum_columns_by_taps<T, 2> (plane, begin, end, origin, sums, row);
  else if (channels == 3)
    sum_columns_by_taps<T, 3> (plane, begin, end, origin, sums, row);
  else
    sum_columns_by_taps<T, 4> (plane, begin, end, origin, sums, row);
}

template <typename T>
__global__ void __launch_bounds__ (32 * WARPS)
    sum_kernel (const __grid_constant__ ResizeJob job)
{
  __shared__ __align__ (16) float sums[WARPS][PIECE];
  int block;

  kernel_begin ();
  const ResizePlane &plane = plane_of_block<true> (job, &block);
  const int y = block * WARPS + threadIdx.y, piece = blockIdx.x;

  if (piece < plane.pieces && y < plane.height)
    sum_piece<T> (plane, plane.piece[piece], plane.piece[piece + 1], y,
        sums[threadIdx.y]);
}

/* picking */

/* Outputs of `parts` components of T each. */
template <typename T>
static __device__ __forceinline__ void
pick (const ResizePlane &plane, int begin, int end, int y, int parts)
{
  const unsigned char *from = plane.src + plane.y.first[y] * plane.src_stride;
  T *to = (T *)(plane.dst + y * plane.dst_stride);

  for (int x = begin + threadIdx.x; x < end; x += 32) {
    const T *pixel = (const T *)from + (size_t)plane.x.first[x] * parts;

    for (int c = 0; c < parts; c++)
      to[(size_t)x * parts + c] = pixel[c];
  }
}

template <typename T>
__global__ void __launch_bounds__ (32 * WARPS)
    pick_kernel (const __grid_constant__ ResizeJob job)
{
  const int begin = blockIdx.x * PICK_PIECE;
  int block;

  kernel_begin ();
  const ResizePlane &plane = plane_of_block<true> (job, &block);
  const int y = block * WARPS + threadIdx.y;
  const int end = min (begin + PICK_PIECE, plane.width);

  if (y >= plane.height)
    return;
  if (plane.aligned && plane.dst_aligned && plane.channels * sizeof (T) == 4)
    pick<unsigned> (plane, begin, end, y, 1);
  else
    pick<T> (plane, begin, end, y, plane.channels);
}

#endif
