/*
 * resize.cu's kernel for halving: means of 2x2 inputs, in aligned words; or of
 * 3x2, for chroma that lies on the left luma samples.
 */
#ifndef IMG_RESIZE_HALVE_CUH
#define IMG_RESIZE_HALVE_CUH

#include "resize-plane.cuh"

#define HALVE_THREADS_X 32
#define HALVE_THREADS_Y 8
#define HALVE_ROWS 1 /* of a thread, HALVE_THREADS_Y apart */
#define HALVE_TILE_ROWS (HALVE_THREADS_Y * HALVE_ROWS)

/* What a thread takes of a row: 16 bytes or, of three channels, 48. */
template <int Channels> struct HalveRow {
  static const int words = Channels == 3 ? 12 : 4;
  unsigned word[words];
  unsigned before; /* the word before them, where a pixel of it is taken */
};

template <int Channels>
static __device__ __forceinline__ HalveRow<Channels>
halve_load (const ResizePlane &plane, const unsigned char *p, bool first)
{
  HalveRow<Channels> row;

#pragma unroll
  for (int i = 0; i < HalveRow<Channels>::words; i += 4) {
    const uint4 four = __ldg ((const uint4 *)(p + 4 * i));

    row.word[i] = four.x;
    row.word[i + 1] = four.y;
    row.word[i + 2] = four.z;
    row.word[i + 3] = four.w;
  }
  row.before = 0;
  if (Channels <= 2 && plane.cosited && !first)
    row.before = __ldg ((const unsigned *)p - 1);
  return row;
}

/* The mean of two or three sums of two. `edge`: there is nothing to the left,
 * and the others count 4/7 and 3/7. */
static __device__ __forceinline__ unsigned
halve_mean (
    bool cosited, bool edge, unsigned left, unsigned middle, unsigned right)
{
  const unsigned sum = left + 4 * middle + 3 * right;

  if (!cosited)
    return (middle + right + 2) >> 2;
  if (edge)
    return (sum + 7) / 14;
  return (sum + 7 + (sum >> 4 & 1)) >> 4; /* ties to even */
}

/* The sum of component `i` of two rows, which may be in the word before. */
template <typename T, int Channels>
static __device__ __forceinline__ unsigned
halve_pair (const ResizePlane &plane, const HalveRow<Channels> &above,
    const HalveRow<Channels> &below, int i)
{
  const int per_word = 4 / sizeof (T), at = (i + per_word) % per_word;
  const unsigned a = i < 0 ? above.before : above.word[i / per_word];
  const unsigned b = i < 0 ? below.before : below.word[i / per_word];

  return (component<T> (a, at) >> plane.shift)
         + (component<T> (b, at) >> plane.shift);
}

/* Writes the outputs of a thread. */
template <typename T, int Channels>
static __device__ __forceinline__ void
halve_store (const ResizePlane &plane, const HalveRow<Channels> &above,
    const HalveRow<Channels> &below, bool first, unsigned char *to)
{
  const int per_word = 4 / sizeof (T), words = HalveRow<Channels>::words / 2;
  const bool cosited = Channels <= 2 && plane.cosited;
  unsigned out[words] = {};

#pragma unroll
  for (int i = 0; i < words * per_word; i++) {
    const int at = i / Channels * 2 * Channels + i % Channels;
    const unsigned mean = halve_mean (cosited, first && i < Channels,
        cosited ? halve_pair<T> (plane, above, below, at - Channels) : 0,
        halve_pair<T> (plane, above, below, at),
        halve_pair<T> (plane, above, below, at + Channels));

    out[i / per_word] |= mean << (plane.shift + i % per_word * 8 * sizeof (T));
  }
#pragma unroll
  for (int i = 0; i < words; i += 2)
    ((uint2 *)to)[i / 2] = make_uint2 (out[i], out[i + 1]);
}

template <typename T, int Channels>
static __device__ __forceinline__ void
halve_row (const ResizePlane &plane, const unsigned char *p, bool first,
    unsigned char *to)
{
  const HalveRow<Channels> above = halve_load<Channels> (plane, p, first);
  const HalveRow<Channels> below
      = halve_load<Channels> (plane, p + plane.src_stride, first);

  halve_store<T, Channels> (plane, above, below, first, to);
}

/* The sum of a component and the one below it. */
template <typename T>
static __device__ __forceinline__ unsigned
component_pair (const ResizePlane &plane, const T *p)
{
  const T *below = (const T *)((const unsigned char *)p + plane.src_stride);

  return (unsigned)(*p >> plane.shift) + (unsigned)(*below >> plane.shift);
}

/* The last `n` components of a row, fewer than halve_row makes. */
template <typename T>
static __device__ void
halve_tail (const ResizePlane &plane, const unsigned char *p, int n, bool first,
    unsigned char *to)
{
  const int channels = plane.channels;

  for (int i = 0; i < n; i++) {
    const T *at = (const T *)p + i / channels * 2 * channels + i % channels;
    const bool edge = first && i < channels;
    const unsigned mean = halve_mean (plane.cosited, edge,
        plane.cosited && !edge ? component_pair (plane, at - channels) : 0,
        component_pair (plane, at), component_pair (plane, at + channels));

    ((T *)to)[i] = (T)(mean << plane.shift);
  }
}

/* A thread's outputs of rows y, y + HALVE_THREADS_Y and so on. */
template <typename T, int Channels>
static __device__ __forceinline__ void
halve_column (const ResizePlane &plane, int y)
{
  const int bytes = HalveRow<Channels>::words * 2;
  const int x = (blockIdx.x * HALVE_THREADS_X + threadIdx.x) * bytes;
  const int left = plane.width * Channels * (int)sizeof (T) - x;
  const int unrolled = Channels == 3 ? 1 : HALVE_ROWS;

  if (left <= 0)
    return;
#pragma unroll unrolled
  for (int k = 0; k < HALVE_ROWS; k++, y += HALVE_THREADS_Y) {
    const unsigned char *p = plane.src + 2 * y * plane.src_stride + 2 * x;
    unsigned char *to = plane.dst + y * plane.dst_stride + x;

    if (y < plane.height && left >= bytes)
      halve_row<T, Channels> (plane, p, x == 0, to);
    else if (y < plane.height)
      halve_tail<T> (plane, p, left / (int)sizeof (T), x == 0, to);
  }
}

/* Of a plane with `Channels`; if 2, of several, some of which may have 1. */
template <typename T, int Channels>
__global__ void
__launch_bounds__ (HALVE_THREADS_X *HALVE_THREADS_Y)
    halve_kernel (const __grid_constant__ ResizeJob job)
{
  int tile;

  kernel_begin ();
  const ResizePlane &plane = plane_of_block<Channels == 2> (job, &tile);
  const int y = tile * HALVE_TILE_ROWS + threadIdx.y;

  if (Channels == 2 && plane.channels == 1)
    halve_column<T, 1> (plane, y);
  else
    halve_column<T, Channels> (plane, y);
}

#endif
