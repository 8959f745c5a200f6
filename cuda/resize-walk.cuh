/*
 * resize.cu's kernel where an output takes up to 8 inputs in each direction.
 *
 * A thread makes the outputs of one column, or of some beside each other, from
 * the top of a strip down: its weights across stay in registers, and so do the
 * sums across of the rows that the next output takes, each of which is made
 * once.
 */
#ifndef IMG_RESIZE_WALK_CUH
#define IMG_RESIZE_WALK_CUH

#include "ptx.cuh"
#include "resize-plane.cuh"

/* Threads of a block for planes of so many channels: what is fastest on an
 * H200. */
static __host__ __device__ constexpr int
walk_threads (int channels)
{
  return channels > 2 ? 128 : 64;
}

/* Pixels of a thread, so that it has a word of them if that is not much. */
template <typename T, int Channels, int Taps> struct WalkShape {
  static const int fit = (Taps > 4 ? 2 : 4) / (Channels * (int)sizeof (T));
  static const int pixels = fit > 1 ? fit : 1;
  static const int parts = pixels * Channels;            /* components */
  static const int bytes = Taps * Channels * sizeof (T); /* a pixel's inputs */
  static const int words = (bytes + 3) / 4;
  static const bool shifts = Channels * sizeof (T) % 4 != 0;
};

/* One pixel's weights across, and where its inputs of the next row are. */
template <int Taps> struct WalkPixel {
  float weight[Taps];
  const unsigned char *p; /* `Whole`: the word of the first byte */
  int bits;               /* of that word that are before it */
};

/* A thread's pixels. At the edge the last one is there several times, and lanes
 * to the right of the plane have it too. */
template <typename T, int Channels, int Taps> struct WalkColumn {
  WalkPixel<Taps> pixel[WalkShape<T, Channels, Taps>::pixels];
  int x, n; /* first pixel, and how many */
};

/* The words of a row's inputs, and one after them. */
template <typename T, int Channels, int Taps> struct WalkWords {
  unsigned word[WalkShape<T, Channels, Taps>::pixels]
               [WalkShape<T, Channels, Taps>::words + 1];
};

/* What window_value adds: so that a byte is the last but one of a number. */
#define WINDOW_OFFSET 32768

/* Component `i` of a window; bytes without arithmetic, with WINDOW_OFFSET,
 * which leaves the sums exact to about 1/200. */
template <typename T>
static __device__ __forceinline__ float
window_value (const unsigned *window, int i)
{
  if (sizeof (T) == 1)
    return __uint_as_float (
        __byte_perm (window[i / 4], 0x47000000u, 0x7404u | (i % 4) << 4));
  return __uint_as_float (__byte_perm (
             window[i / 2], 0x4b000000u, i % 2 ? 0x7432u : 0x7410u))
         - 8388608.0f;
}

/* Loads a pixel's inputs: `Whole`, in words, else by bytes. Not with __ldg:
 * the compiler would load them where they are used, after the stores. */
template <typename T, int Channels, int Taps, bool Whole>
static __device__ __forceinline__ void
load_pixel (const WalkPixel<Taps> &pixel, unsigned *word)
{
  typedef WalkShape<T, Channels, Taps> Shape;
  const int spare = Shape::words * 32 - Shape::bytes * 8;

#pragma unroll
  for (int i = 0; i < Shape::words; i++) {
    const int left = Shape::bytes - 4 * i;

    word[i] = Whole
                  ? ((const unsigned *)pixel.p)[i]
                  : pointwise_load_bytes (pixel.p + 4 * i, left < 4 ? left : 4);
  }
  if (Whole && Shape::shifts && pixel.bits > spare)
    word[Shape::words] = ((const unsigned *)pixel.p)[Shape::words];
}

/* Loads the inputs of a row and goes on to the one `step` behind it. */
template <typename T, int Channels, int Taps, bool Whole>
static __device__ __forceinline__ WalkWords<T, Channels, Taps>
load_row (WalkColumn<T, Channels, Taps> *column, ptrdiff_t step)
{
  WalkWords<T, Channels, Taps> words;

#pragma unroll
  for (int i = 0; i < WalkShape<T, Channels, Taps>::pixels; i++) {
    load_pixel<T, Channels, Taps, Whole> (column->pixel[i], words.word[i]);
    column->pixel[i].p += step;
  }
  return words;
}

/* A pixel's sum across, of the words that load_pixel has loaded. */
template <typename T, int Channels, int Taps, bool Whole>
static __device__ __forceinline__ void
sum_pixel (const ResizePlane &plane, const unsigned *word,
    const WalkPixel<Taps> &pixel, float *sum)
{
  typedef WalkShape<T, Channels, Taps> Shape;
  unsigned window[Shape::words];

#pragma unroll
  for (int i = 0; i < Shape::words; i++) {
    window[i] = Whole && Shape::shifts
                    ? __funnelshift_r (word[i], word[i + 1], pixel.bits)
                    : word[i];
    if (sizeof (T) == 2)
      window[i] &= plane.mask;
  }
#pragma unroll
  for (int k = 0; k < Taps; k++)
#pragma unroll
    for (int c = 0; c < Channels; c++)
      sum[c] = fmaf (pixel.weight[k],
          window_value<T> (window, k * Channels + c), k ? sum[c] : plane.start);
}

template <typename T, int Channels, int Taps, bool Whole>
static __device__ __forceinline__ void
sum_across (const ResizePlane &plane, const WalkWords<T, Channels, Taps> &words,
    const WalkColumn<T, Channels, Taps> &column, float *sum)
{
#pragma unroll
  for (int i = 0; i < WalkShape<T, Channels, Taps>::pixels; i++)
    sum_pixel<T, Channels, Taps, Whole> (
        plane, words.word[i], column.pixel[i], sum + i * Channels);
}

/* Pixel x, from source row `row` on. */
template <typename T, int Channels, int Taps, bool Whole>
static __device__ __forceinline__ WalkPixel<Taps>
walk_pixel (const ResizePlane &plane, int x, int row)
{
  const unsigned from = plane.x.first[x] * Channels * sizeof (T);
  const float *weight = plane.x.weight + (size_t)x * Taps;
  WalkPixel<Taps> pixel;

#pragma unroll
  for (int k = 0; k < Taps; k++)
    pixel.weight[k] = __ldg (weight + k);
  pixel.p = plane.src + row * plane.src_stride + (Whole ? from & ~3u : from);
  pixel.bits = (int)(from & 3) * 8;
  return pixel;
}

template <typename T, int Channels, int Taps, bool Whole>
static __device__ __forceinline__ WalkColumn<T, Channels, Taps>
walk_column (const ResizePlane &plane, int thread, int row)
{
  const int pixels = WalkShape<T, Channels, Taps>::pixels;
  WalkColumn<T, Channels, Taps> column;

  column.x = thread * pixels;
  column.n = min (plane.width - column.x, pixels);
#pragma unroll
  for (int i = 0; i < pixels; i++)
    column.pixel[i] = walk_pixel<T, Channels, Taps, Whole> (
        plane, min (column.x + i, plane.width - 1), row);
  return column;
}

/* results */

/* Two components, the second in the lowest byte, below `high`. */
static __device__ __forceinline__ unsigned
pack_pair (float a, float b, unsigned high)
{
  return ptx_pack_bytes (__float2int_rn (a), __float2int_rn (b), high);
}

/* Words of components from their sums, as img_resize_round. */
template <typename T, int Parts>
static __device__ __forceinline__ void
finish_parts (const ResizePlane &plane, const float *sum, unsigned *word)
{
  float value[(Parts + 3) / 4 * 4] = {};

#pragma unroll
  for (int i = 0; i < Parts; i++)
    value[i] = fmaf (sum[i], plane.scale, plane.scaled_bias);
  if (sizeof (T) == 1) {
#pragma unroll
    for (int i = 0; i < Parts; i += 4)
      word[i / 4] = pack_pair (value[i + 1], value[i],
          Parts - i > 2 ? pack_pair (value[i + 3], value[i + 2], 0) : 0);
  } else {
#pragma unroll
    for (int i = 0; i < Parts; i++) {
      const float clamped = fminf (fmaxf (value[i], 0), (float)plane.max);
      const unsigned level = __float_as_uint (clamped + 8388608.0f) & 0xffff;

      word[i / 2]
          = (i % 2 ? word[i / 2] : 0) | level << (plane.shift + i % 2 * 16);
    }
  }
}

/* Three bytes of each lane: four lanes write three words. */
static __device__ __forceinline__ void
store_triples (
    const ResizePlane &plane, unsigned pixel, int x, unsigned char *to)
{
  const int lane = threadIdx.x % 4;
  const unsigned next = __shfl_down_sync (~0u, pixel, 1);

  if (plane.dst_aligned && (x | 3) < plane.width) {
    if (lane < 3)
      *(unsigned *)(to + lane) = pixel >> 8 * lane | next << (24 - 8 * lane);
  } else if (x < plane.width) {
    pointwise_store_bytes (to, pixel, 3);
  }
}

/* Writes a thread's pixels to `to`, as many as are in the plane. */
template <typename T, int Channels, int Taps>
static __device__ __forceinline__ void
walk_store (const ResizePlane &plane, const float *sum,
    const WalkColumn<T, Channels, Taps> &column, unsigned char *to)
{
  typedef WalkShape<T, Channels, Taps> Shape;
  const int bytes = Shape::parts * sizeof (T), per_word = 4 / sizeof (T);
  unsigned word[(bytes + 3) / 4];

  finish_parts<T, Shape::parts> (plane, sum, word);
  if (bytes == 3) {
    store_triples (plane, word[0], column.x, to);
  } else if (plane.dst_aligned && bytes % 2 == 0 && column.n == Shape::pixels) {
    if (bytes == 2)
      *(uint16_t *)to = (uint16_t)word[0];
#pragma unroll
    for (int i = 0; i < bytes / 4; i++)
      ((unsigned *)to)[i] = word[i];
  } else {
#pragma unroll
    for (int i = 0; i < Shape::parts; i++)
      if (i / Channels < column.n)
        ((T *)to)[i] = (T)(word[i / per_word] >> i % per_word * 8 * sizeof (T));
  }
}

/* The weights of an output's rows. */
template <int Taps>
static __device__ __forceinline__ void
load_weights (const ResizePlane &plane, int y, float *weight)
{
  const float *from = plane.y.weight + (size_t)y * Taps;

  if (Taps % 4 == 0)
#pragma unroll
    for (int k = 0; k < Taps; k += 4) {
      const float4 four = __ldg ((const float4 *)(from + k));

      weight[k] = four.x;
      weight[k + 1] = four.y;
      weight[k + 2 < Taps ? k + 2 : 0] = four.z;
      weight[k + 3 < Taps ? k + 3 : 0] = four.w;
    }
  else
#pragma unroll
    for (int k = 0; k < Taps; k++)
      weight[k] = __ldg (from + k);
}

/* Output y, of which `across` has the sums across, the first at `at`. */
template <typename T, int Channels, int Taps>
static __device__ __forceinline__ void
walk_output (const ResizePlane &plane,
    const float (*across)[WalkShape<T, Channels, Taps>::parts], int at, int y,
    const WalkColumn<T, Channels, Taps> &column, unsigned char *to)
{
  const int parts = WalkShape<T, Channels, Taps>::parts;
  float weight[Taps], sum[parts] = {};

  load_weights<Taps> (plane, y, weight);
#pragma unroll
  for (int k = 0; k < Taps; k++)
#pragma unroll
    for (int i = 0; i < parts; i++)
      sum[i] = fmaf (weight[k], across[(at + k) % Taps][i], sum[i]);
  walk_store<T, Channels, Taps> (plane, sum, column, to);
}

/* strips */

/* Rows begin..end-1 of a column, from source rows of which each is summed
 * across once. */
template <typename T, int Channels, int Taps, bool Whole>
static __device__ __forceinline__ void
walk (const ResizePlane &plane, int thread, int begin, int end)
{
  const int stop = plane.y.first[end - 1] + Taps - 1;
  int row = plane.y.first[begin], last = row + Taps - 1, y = begin;
  WalkColumn<T, Channels, Taps> column
      = walk_column<T, Channels, Taps, Whole> (plane, thread, row);
  unsigned char *to = plane.dst + begin * plane.dst_stride
                      + (size_t)column.x * Channels * sizeof (T);
  WalkWords<T, Channels, Taps> next
      = load_row<T, Channels, Taps, Whole> (&column, plane.src_stride);
  float across[Taps][WalkShape<T, Channels, Taps>::parts];

  for (;; row += Taps) {
#pragma unroll
    for (int j = 0; j < Taps; j++) {
      const WalkWords<T, Channels, Taps> words = next;

      /* after the last row, that one again */
      next = load_row<T, Channels, Taps, Whole> (
          &column, row + j + 1 < stop ? plane.src_stride : 0);
      sum_across<T, Channels, Taps, Whole> (plane, words, column, across[j]);
      while (last == row + j) {
        walk_output<T, Channels, Taps> (plane, across, j + 1, y, column, to);
        if (++y == end)
          return;
        to += plane.dst_stride;
        last = __ldg (plane.y.first + y) + Taps - 1;
      }
    }
  }
}

/* The same where hardly any outputs share rows. */
template <typename T, int Channels, int Taps, bool Whole>
static __device__ __forceinline__ void
walk_apart (const ResizePlane &plane, int thread, int begin, int end)
{
  int row = plane.y.first[begin];
  WalkColumn<T, Channels, Taps> column
      = walk_column<T, Channels, Taps, Whole> (plane, thread, row);
  unsigned char *to = plane.dst + begin * plane.dst_stride
                      + (size_t)column.x * Channels * sizeof (T);

  for (int y = begin; y < end; y++, to += plane.dst_stride) {
    const int first = __ldg (plane.y.first + y);
    WalkWords<T, Channels, Taps> words[Taps];
    float across[Taps][WalkShape<T, Channels, Taps>::parts];

#pragma unroll
    for (int i = 0; i < WalkShape<T, Channels, Taps>::pixels; i++)
      column.pixel[i].p += (first - row) * plane.src_stride;
#pragma unroll
    for (int k = 0; k < Taps; k++)
      words[k] = load_row<T, Channels, Taps, Whole> (&column, plane.src_stride);
#pragma unroll
    for (int k = 0; k < Taps; k++)
      sum_across<T, Channels, Taps, Whole> (plane, words[k], column, across[k]);
    walk_output<T, Channels, Taps> (plane, across, 0, y, column, to);
    row = first + Taps;
  }
}

template <typename T, int Channels, int Taps, bool Whole>
static __device__ __forceinline__ void
walk_rows (const ResizePlane &plane, int thread, int begin, int end)
{
  if (Taps < 4 && plane.apart)
    walk_apart<T, Channels, Taps, Whole> (plane, thread, begin, end);
  else
    walk<T, Channels, Taps, Whole> (plane, thread, begin, end);
}

/* The strip of rows begin..end-1, which warps to the right of it leave. */
template <typename T, int Channels, int Taps>
static __device__ __forceinline__ void
walk_strip (const ResizePlane &plane, int begin, int end)
{
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int warp = thread - (int)threadIdx.x % 32;

  if (warp * WalkShape<T, Channels, Taps>::pixels >= plane.width)
    return;
  if (plane.y.first[begin] >= plane.words_begin
      && plane.y.first[end - 1] + Taps <= plane.words_end)
    walk_rows<T, Channels, Taps, true> (plane, thread, begin, end);
  else
    walk_rows<T, Channels, Taps, false> (plane, thread, begin, end);
}

/* Of a plane with `Channels`; if 2, of several, some of which may have 1. */
template <typename T, int Channels, int Taps>
__global__ void
__launch_bounds__ (walk_threads (Channels))
    walk_kernel (const __grid_constant__ ResizeJob job)
{
  int strip;

  kernel_begin ();
  const ResizePlane &plane = plane_of_block<Channels == 2> (job, &strip);
  const int begin = strip * job.rows;
  const int end = min (begin + job.rows, plane.height);

  if (Channels == 2 && plane.channels == 1)
    walk_strip<T, 1, Taps> (plane, begin, end);
  else
    walk_strip<T, Channels, Taps> (plane, begin, end);
}

#endif
