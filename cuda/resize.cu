/*
 * resize.h on the GPU: one launch for all planes that are made alike, and one
 * more where there is a border.
 *
 * Where an output takes up to 8 inputs in each direction, a thread makes the
 * outputs of one column, from the top of a strip down: its weights across stay
 * in registers, and so do the sums across of the rows that the next output
 * takes, each of which is made once.
 *
 * Else a warp makes a piece of one row of results from a piece of the rows
 * above each other that it takes: these are added up into floats in shared
 * memory, with loads of whole words, and then the columns of that sum.
 *
 * Halving in both directions, and picking the nearest, need no such sum.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "launch.cuh"
#include "pointwise.cuh"
#include "resize-arith.h"

#define WARPS 8
/* Components of a piece, of the sums over rows and of the results. */
#define PIECE 512
/* Outputs of a piece where nothing is added up. */
#define SIMPLE_PIECE 128
/* A block that walks, and how far: further needs fewer rows twice. */
#define WALK_THREADS 128
#define WALK_ROWS 16
#define WALK_MIN_ROWS 4
#define WALK_MIN_BLOCKS 1000

/* Inputs of an output, in each direction, for which there are kernels. */
static const int walk_taps[] = { 2, 3, 4, 8 };
#define N_WALK_TAPS 4

typedef enum {
  KIND_SUM,
  KIND_WALK,  /* of as many inputs as `taps` of State in each direction */
  KIND_HALVE, /* the mean of 2x2, aligned */
  KIND_PICK   /* one input for an output */
} ResizeKind;

/* The arrays of ImgResizeAxis in device memory. */
struct ResizeAxis {
  const int *first;
  const float *weight;
  int taps;
};

/* One plane on its way, of the rectangle that gets the picture. */
struct ResizePlane {
  const unsigned char *src;
  unsigned char *dst; /* first output that is not black */
  ptrdiff_t src_stride, dst_stride;
  ResizeAxis x, y;
  ResizeKind kind;
  const int *piece; /* KIND_SUM: first outputs of the pieces, and the end */
  int pieces;
  int width, height; /* of the rectangle */
  int src_row;       /* components of a source row */
  int src_rows;
  int channels, shift, max;
  float bias, scale;
  bool apart;                /* KIND_WALK: as in WalkPlane */
  int blocks;                /* of WARPS rows */
  bool aligned, dst_aligned; /* to words */
};

struct ResizeJob {
  int n_planes;
  ResizePlane plane[IMG_MAX_PLANES];
};

/* sums */

/* Component `i` of a word. */
template <typename T>
static __device__ __forceinline__ unsigned
component (unsigned word, int i)
{
  return sizeof (T) == 1 ? word >> 8 * i & 0xff : word >> 16 * i & 0xffff;
}

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

/* halving */

/* A lane's outputs from x on, from two words of each row for each word. */
template <typename T, int Channels>
static __device__ __forceinline__ void
halve (const ResizePlane &plane, int x, int y)
{
  const int per_word = 4 / sizeof (T), bits = 8 * sizeof (T);
  const size_t offset = (size_t)x * Channels * sizeof (T);
  const unsigned char *p = plane.src + 2 * y * plane.src_stride + 2 * offset;
  unsigned char *to = plane.dst + y * plane.dst_stride + offset;
  unsigned in[2][2 * Channels], out[Channels] = {};

#pragma unroll
  for (int row = 0; row < 2; row++, p += plane.src_stride)
#pragma unroll
    for (int i = 0; i < Channels; i++) {
      const uint2 two = __ldg ((const uint2 *)p + i);

      in[row][2 * i] = two.x;
      in[row][2 * i + 1] = two.y;
    }
#pragma unroll
  for (int i = 0; i < Channels * per_word; i++) {
    const int a = i / Channels * 2 * Channels + i % Channels, b = a + Channels;
    unsigned sum = 0;

#pragma unroll
    for (int row = 0; row < 2; row++)
      sum += (component<T> (in[row][a / per_word], a % per_word) >> plane.shift)
             + (component<T> (in[row][b / per_word], b % per_word)
                 >> plane.shift);
    out[i / per_word] |= ((sum + 2) >> 2 << plane.shift)
                         << bits * (i % per_word);
  }
#pragma unroll
  for (int i = 0; i < Channels; i++)
    ((unsigned *)to)[i] = out[i];
}

/* picking */

/* A lane's output: a pixel of `Bytes` that is one access, or else by parts. */
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

/* the kernel */

/* A piece for which nothing is added up. */
template <typename T, int Channels>
static __device__ __forceinline__ void
make_simple_piece (const ResizePlane &plane, int piece, int y)
{
  const int begin = piece * SIMPLE_PIECE;
  const int end = min (begin + SIMPLE_PIECE, plane.width);
  const int step = 4 / sizeof (T); /* whole words for each lane */

  if (plane.kind == KIND_HALVE) {
    for (int x = begin + threadIdx.x * step; x < end; x += 32 * step)
      halve<T, Channels> (plane, x, y);
  } else if (plane.aligned && plane.dst_aligned && Channels * sizeof (T) == 4) {
    pick<unsigned> (plane, begin, end, y, 1);
  } else {
    pick<T> (plane, begin, end, y, Channels);
  }
}

template <typename T>
__global__ void __launch_bounds__ (32 * WARPS)
    resize_kernel (const __grid_constant__ ResizeJob job)
{
  __shared__ __align__ (16) float sums[WARPS][PIECE];
  int block = blockIdx.y, i = 0;

  kernel_begin ();
  while (block >= job.plane[i].blocks)
    block -= job.plane[i++].blocks;
  const ResizePlane &plane = job.plane[i];
  const int y = block * WARPS + threadIdx.y, piece = blockIdx.x;

  if (piece >= plane.pieces || y >= plane.height)
    return;
  if (plane.kind == KIND_SUM)
    sum_piece<T> (plane, plane.piece[piece], plane.piece[piece + 1], y,
        sums[threadIdx.y]);
  else if (plane.channels == 1)
    make_simple_piece<T, 1> (plane, piece, y);
  else if (plane.channels == 2)
    make_simple_piece<T, 2> (plane, piece, y);
  else if (plane.channels == 3)
    make_simple_piece<T, 3> (plane, piece, y);
  else
    make_simple_piece<T, 4> (plane, piece, y);
}

/* walking */

/* One plane of which each output takes up to Taps inputs in each direction, as
 * ResizePlane. The arrays have Taps weights an output, some of them 0. */
struct WalkPlane {
  const unsigned char *src;
  unsigned char *dst;
  ptrdiff_t src_stride, dst_stride;
  const int *first_x, *first_y;
  const float *weight_x, *weight_y;
  int width, height;
  int last_word;              /* of a source row, in bytes */
  int words_begin, words_end; /* rows that may be read in words, to the last */
  int channels, shift;
  unsigned mask; /* what the depth uses of a word */
  float bias, scale, max;
  bool apart;       /* no two outputs take the same row */
  int strips;       /* of `rows` rows */
  bool dst_aligned; /* to words */
};

struct WalkJob {
  int rows; /* of a strip */
  WalkPlane plane[IMG_MAX_PLANES];
};

/* A thread's column: the weights across, and where its inputs are. */
template <int Taps> struct WalkColumn {
  float weight[Taps];
  float start; /* takes away what window_value adds */
  int bits;    /* of the first word that are before the inputs */
  int tail;    /* bytes to the last word that is loaded, which is in the row */
};

/* The words of a row's inputs, and the one after them. */
template <int Words> struct WalkWords {
  unsigned word[Words + 1];
};

/* What window_value adds: so that a byte is the last of a number. */
template <typename T>
static __device__ __forceinline__ float
window_offset ()
{
  return sizeof (T) == 1 ? 32768.0f : 0;
}

/* Component `i` of a window and window_offset: without arithmetic if it is a
 * byte. The sums lose 1/512 by it. */
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

/* Loads `Bytes` bytes: `Whole`, from the words at p on, else from p on. */
template <int Bytes, int Taps, bool Whole>
static __device__ __forceinline__ WalkWords<(Bytes + 3) / 4>
load_words (const unsigned char *p, const WalkColumn<Taps> &column)
{
  const int n = (Bytes + 3) / 4;
  WalkWords<n> words;

#pragma unroll
  for (int i = 0; i < n; i++)
    words.word[i] = Whole ? __ldg ((const unsigned *)p + i)
                          : pointwise_load_bytes (
                              p + 4 * i, Bytes - 4 * i < 4 ? Bytes - 4 * i : 4);
  if (Whole && Bytes / Taps % 4 != 0)
    words.word[n] = __ldg ((const unsigned *)(p + column.tail));
  return words;
}

/* The sum across of a row. */
template <typename T, int Channels, int Taps, bool Whole, int Words>
static __device__ __forceinline__ void
sum_across (const WalkPlane &plane, WalkWords<Words> words,
    const WalkColumn<Taps> &column, float *sum)
{
#pragma unroll
  for (int i = 0; i < Words; i++) {
    if (Whole && Channels * sizeof (T) % 4 != 0)
      words.word[i]
          = __funnelshift_r (words.word[i], words.word[i + 1], column.bits);
    if (sizeof (T) == 2)
      words.word[i] &= plane.mask;
  }
#pragma unroll
  for (int k = 0; k < Taps; k++)
#pragma unroll
    for (int c = 0; c < Channels; c++)
      sum[c] = fmaf (column.weight[k],
          window_value<T> (words.word, k * Channels + c),
          k ? sum[c] : column.start);
}

/* Two components, the second in the lowest byte, below `high`. */
static __device__ __forceinline__ unsigned
pack_pair (float a, float b, unsigned high)
{
  unsigned word;

  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
      : "=r"(word)
      : "r"(__float2int_rn (a)), "r"(__float2int_rn (b)), "r"(high));
  return word;
}

/* The components of a pixel from its sums, as img_resize_round. */
template <typename T, int Channels>
static __device__ __forceinline__ void
finish_pixel (const WalkPlane &plane, const float *sum, unsigned *word)
{
  float value[4] = {};

#pragma unroll
  for (int c = 0; c < Channels; c++)
    value[c] = fmaf (sum[c], plane.scale, plane.bias);
  if (sizeof (T) == 1) {
    word[0] = Channels > 2 ? pack_pair (value[3], value[2], 0) : 0;
    word[0] = pack_pair (value[1], value[0], word[0]);
  } else {
#pragma unroll
    for (int c = 0; c < Channels; c++) {
      const float clamped = fminf (fmaxf (value[c], 0), plane.max);
      const unsigned level = __float_as_uint (clamped + 8388608.0f) & 0xffff;

      word[c / 2]
          = (c % 2 ? word[c / 2] : 0) | level << (plane.shift + c % 2 * 16);
    }
  }
}

/* Three bytes of each lane: four lanes write three words. */
static __device__ __forceinline__ void
store_triples (const WalkPlane &plane, unsigned pixel, int x, unsigned char *to)
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

/* `to` is where the pixel lies, which is written if x is in the plane. */
template <typename T, int Channels>
static __device__ __forceinline__ void
walk_store (const WalkPlane &plane, const float *sum, int x, unsigned char *to)
{
  const int bytes = Channels * sizeof (T), bits = 8 * sizeof (T);
  unsigned word[(bytes + 3) / 4];

  finish_pixel<T, Channels> (plane, sum, word);
  if (bytes == 3) {
    store_triples (plane, word[0], x, to);
    return;
  }
  if (x >= plane.width)
    return;
  if (plane.dst_aligned && bytes % 4 == 0) {
#pragma unroll
    for (int i = 0; i < bytes / 4; i++)
      ((unsigned *)to)[i] = word[i];
  } else if (plane.dst_aligned && bytes == 2) {
    *(uint16_t *)to = (uint16_t)word[0];
  } else {
#pragma unroll
    for (int c = 0; c < Channels; c++)
      ((T *)to)[c] = (T)(word[c * sizeof (T) / 4] >> bits * c % 32);
  }
}

template <typename T, int Channels, int Taps, bool Whole>
static __device__ __forceinline__ WalkColumn<Taps>
walk_column (const WalkPlane &plane, int x, size_t *offset)
{
  WalkColumn<Taps> column;
  const size_t from = (size_t)plane.first_x[x] * Channels * sizeof (T);
  const int words = (Taps * Channels * sizeof (T) + 3) / 4;
  double total = 0;

#pragma unroll
  for (int k = 0; k < Taps; k++) {
    column.weight[k] = plane.weight_x[(size_t)x * Taps + k];
    total += column.weight[k];
  }
  column.start = (float)(-window_offset<T> () * total);
  *offset = Whole ? from & ~(size_t)3 : from;
  column.bits = (int)(from & 3) * 8;
  column.tail = min (words * 4, plane.last_word - (int)*offset);
  return column;
}

/* The weights of an output's rows. */
template <int Taps>
static __device__ __forceinline__ void
load_weights (const WalkPlane &plane, int y, float *weight)
{
  const float *from = plane.weight_y + (size_t)y * Taps;

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
walk_output (const WalkPlane &plane, const float (*across)[Channels], int at,
    int x, int y, unsigned char *to)
{
  float weight[Taps], sum[Channels] = {};

  load_weights<Taps> (plane, y, weight);
#pragma unroll
  for (int k = 0; k < Taps; k++)
#pragma unroll
    for (int c = 0; c < Channels; c++)
      sum[c] = fmaf (weight[k], across[(at + k) % Taps][c], sum[c]);
  walk_store<T, Channels> (plane, sum, x, to);
}

/* Outputs x of rows begin..end-1, from source rows of which each is summed
 * across once. Lanes to the right of the plane take part, without a result. */
template <typename T, int Channels, int Taps, bool Whole>
static __device__ __forceinline__ void
walk (const WalkPlane &plane, int x, int begin, int end)
{
  const int bytes = Taps * Channels * sizeof (T);
  size_t offset;
  const WalkColumn<Taps> column = walk_column<T, Channels, Taps, Whole> (
      plane, min (x, plane.width - 1), &offset);
  const int stop = plane.first_y[end - 1] + Taps - 1;
  int row = plane.first_y[begin], last = row + Taps - 1, y = begin;
  const unsigned char *p = plane.src + row * plane.src_stride + offset;
  unsigned char *to = plane.dst + begin * plane.dst_stride
                      + (size_t)x * Channels * sizeof (T);
  WalkWords<(bytes + 3) / 4> next = load_words<bytes, Taps, Whole> (p, column);
  float across[Taps][Channels];

  for (;; row += Taps) {
#pragma unroll
    for (int j = 0; j < Taps; j++) {
      const WalkWords<(bytes + 3) / 4> words = next;

      p += plane.src_stride;
      if (row + j < stop)
        next = load_words<bytes, Taps, Whole> (p, column);
      sum_across<T, Channels, Taps, Whole> (plane, words, column, across[j]);
      while (last == row + j) {
        walk_output<T, Channels, Taps> (plane, across, j + 1, x, y, to);
        if (++y == end)
          return;
        to += plane.dst_stride;
        last = __ldg (plane.first_y + y) + Taps - 1;
      }
    }
  }
}

/* The same where outputs share no rows. */
template <typename T, int Channels, int Taps, bool Whole>
static __device__ __forceinline__ void
walk_apart (const WalkPlane &plane, int x, int begin, int end)
{
  const int bytes = Taps * Channels * sizeof (T);
  size_t offset;
  const WalkColumn<Taps> column = walk_column<T, Channels, Taps, Whole> (
      plane, min (x, plane.width - 1), &offset);
  unsigned char *to = plane.dst + begin * plane.dst_stride
                      + (size_t)x * Channels * sizeof (T);

  for (int y = begin; y < end; y++, to += plane.dst_stride) {
    const unsigned char *p
        = plane.src + __ldg (plane.first_y + y) * plane.src_stride + offset;
    WalkWords<(bytes + 3) / 4> words[Taps];
    float across[Taps][Channels];

#pragma unroll
    for (int k = 0; k < Taps; k++, p += plane.src_stride)
      words[k] = load_words<bytes, Taps, Whole> (p, column);
#pragma unroll
    for (int k = 0; k < Taps; k++)
      sum_across<T, Channels, Taps, Whole> (plane, words[k], column, across[k]);
    walk_output<T, Channels, Taps> (plane, across, 0, x, y, to);
  }
}

template <typename T, int Channels, int Taps, bool Whole>
static __device__ __forceinline__ void
walk_rows (const WalkPlane &plane, int x, int begin, int end)
{
  if (Taps < 8 && plane.apart)
    walk_apart<T, Channels, Taps, Whole> (plane, x, begin, end);
  else
    walk<T, Channels, Taps, Whole> (plane, x, begin, end);
}

template <typename T, int Channels, int Taps>
static __device__ __forceinline__ void
walk_strip (const WalkPlane &plane, int x, int begin, int end)
{
  if (plane.first_y[begin] >= plane.words_begin
      && plane.first_y[end - 1] + Taps <= plane.words_end)
    walk_rows<T, Channels, Taps, true> (plane, x, begin, end);
  else
    walk_rows<T, Channels, Taps, false> (plane, x, begin, end);
}

/* `Channels`: the most of a plane. */
template <typename T, int Channels, int Taps>
__global__ void
__launch_bounds__ (WALK_THREADS)
    walk_kernel (const __grid_constant__ WalkJob job)
{
  const int x = blockIdx.x * WALK_THREADS + threadIdx.x;
  int strip = blockIdx.y, i = 0;

  kernel_begin ();
  while (strip >= job.plane[i].strips)
    strip -= job.plane[i++].strips;
  const WalkPlane &plane = job.plane[i];
  const int begin = strip * job.rows;
  const int end = min (begin + job.rows, plane.height);

  if (x - (int)threadIdx.x % 32 >= plane.width)
    return;
  if (Channels == 2 && plane.channels == 1)
    walk_strip<T, 1, Taps> (plane, x, begin, end);
  else
    walk_strip<T, Channels, Taps> (plane, x, begin, end);
}

/* black */

struct BlackPlane {
  unsigned char *dst;
  ptrdiff_t stride;
  int width, height, channels;
  int x_begin, x_end, y_begin, y_end; /* the rectangle, which is left alone */
  unsigned black[IMG_MAX_CHANNELS];
};

template <typename T>
__global__ void __launch_bounds__ (256)
    black_kernel (const __grid_constant__ BlackPlane plane)
{
  const int i = blockIdx.x * 256 + threadIdx.x, y = blockIdx.y;
  const int x = i / plane.channels;

  kernel_begin ();
  if (x < plane.width
      && !(x >= plane.x_begin && x < plane.x_end && y >= plane.y_begin
           && y < plane.y_end))
    ((T *)(plane.dst + y * plane.stride))[i]
        = (T)plane.black[i - x * plane.channels];
}

/* host */

/* The arrays of a plane, as offsets into the block of device memory, in units
 * of 4 bytes. */
typedef struct {
  size_t first_x, weight_x, first_y, weight_y, piece;
  int pieces;
  bool walks, apart; /* as in WalkPlane */
} Offsets;

typedef struct {
  ImgResizePlan plan; /* its arrays, and what is below, are uploaded */
  Offsets offsets[IMG_MAX_PLANES];
  int taps;        /* of the planes that walk */
  int *block;      /* on the device */
  size_t capacity; /* of the block, in units of 4 bytes */
} State;

/* Where the pieces of a row with `channels` begin, and the end: as many outputs
 * as fit. */
static int
cut_pieces (const ImgResizeAxis *axis, int channels, int *piece)
{
  const int n = axis->end - axis->begin;
  /* a piece begins and ends amid a word at worst */
  const int most = (PIECE - 6) / channels;
  int pieces = 0;

  for (int begin = 0, end; begin < n; begin = end) {
    piece[pieces++] = begin;
    for (end = begin + 1; end < n && end - begin < most; end++)
      if (axis->first[end] + axis->taps - axis->first[begin] > most)
        break;
  }
  piece[pieces] = n;
  return pieces;
}

/* Appends an array to `data`, or only counts it if that is NULL. */
static size_t
append (int *data, size_t *used, const void *array, size_t n)
{
  const size_t offset = *used;

  if (data && n > 0)
    memcpy (data + offset, array, n * 4);
  *used += (n + 3) / 4 * 4; /* so that weights can be loaded together */
  return offset;
}

/* Appends an axis, with `taps` for each output of a plane of `size`. The
 * weights are multiplied by `factor`. */
static void
append_walk_axis (const ImgResizeAxis *axis, int size, int taps, float factor,
    int *data, size_t *used, size_t *first, size_t *weight)
{
  const size_t n = axis->end - axis->begin;

  *first = append (data, used, axis->first, n);
  *weight = append (data, used, NULL, 0);
  *used += n * taps;
  for (size_t i = 0; data && i < n; i++) {
    const int inside = min (axis->first[i], size - taps);
    float *to = (float *)data + *weight + i * taps + axis->first[i] - inside;

    data[*first + i] = inside;
    for (int k = 0; k < axis->taps; k++)
      to[k] = axis->weight[i * axis->taps + k] * factor;
  }
}

static void
append_plane (State *state, const ImgView *src, int i, int *data, size_t *used)
{
  const ImgResizePlane *plan = &state->plan.plane[i];
  const ImgPlane *plane = &src->plane[i];
  const size_t width = plan->x.end - plan->x.begin;
  const size_t height = plan->y.end - plan->y.begin;
  Offsets *o = &state->offsets[i];

  if (o->walks) {
    append_walk_axis (&plan->x, plane->width, state->taps,
        1.0f / (1 << src->shift), data, used, &o->first_x, &o->weight_x);
    append_walk_axis (&plan->y, plane->height, state->taps, 1, data, used,
        &o->first_y, &o->weight_y);
    return;
  }
  o->first_x = append (data, used, plan->x.first, width);
  o->weight_x = append (data, used, plan->x.weight, width * plan->x.taps);
  o->first_y = append (data, used, plan->y.first, height);
  o->weight_y = append (data, used, plan->y.weight, height * plan->y.taps);
  o->piece = *used;
  *used += (width + 4) / 4 * 4;
  if (data)
    o->pieces = cut_pieces (&plan->x, plane->channels, data + o->piece);
}

/* Whether hardly any outputs share an input, of `taps` each. */
static bool
are_apart (const ImgResizeAxis *axis, int taps)
{
  const int n = axis->end - axis->begin;

  return n > 0
         && (int64_t)axis->first[n - 1] - axis->first[0]
                >= (int64_t)(n - 1) * taps - taps;
}

/* Finds out which planes walk, and with how many inputs. */
static void
choose_walks (State *state, const ImgView *src)
{
  state->taps = walk_taps[0];
  for (int i = 0; i < src->n_planes; i++) {
    const ImgResizePlane *plan = &state->plan.plane[i];
    const int taps = max (plan->x.taps, plan->y.taps);

    state->offsets[i].walks = taps > 1 && taps <= walk_taps[N_WALK_TAPS - 1];
    for (int k = 0; state->offsets[i].walks && state->taps < taps; k++)
      state->taps = walk_taps[k];
  }
  for (int i = 0; i < src->n_planes; i++) {
    Offsets *o = &state->offsets[i];

    o->walks &= src->plane[i].width >= state->taps
                && src->plane[i].height >= state->taps;
    o->apart = o->walks && are_apart (&state->plan.plane[i].y, state->taps);
  }
}

/* Makes the block at least `size` large. What is queued may still read it. */
static bool
reserve_block (State *state, size_t size, ImgError *error)
{
  const char *what = "allocating memory for resizing";

  if (size <= state->capacity)
    return img_cuda_check (cudaDeviceSynchronize (), what, error);
  cudaFree (state->block);
  state->block = NULL;
  state->capacity = 0;
  if (!img_cuda_check (cudaMalloc (&state->block, size * 4), what, error))
    return false;
  state->capacity = size;
  return true;
}

static bool
upload_plan (State *state, const ImgView *src, ImgError *error)
{
  size_t size = 0, used = 0;
  int *data;
  bool ok;

  choose_walks (state, src);
  for (int i = 0; i < src->n_planes; i++)
    append_plane (state, src, i, NULL, &size);
  data = (int *)calloc (size, 4);
  if (!data)
    return img_fail (error, IMG_ERROR_NO_MEMORY, "resize: out of memory");
  for (int i = 0; i < src->n_planes; i++)
    append_plane (state, src, i, data, &used);
  /* such a copy may return before the device has all */
  ok = reserve_block (state, size, error)
       && img_cuda_check (
           cudaMemcpy (state->block, data, size * 4, cudaMemcpyHostToDevice),
           "uploading weights", error)
       && img_cuda_check (
           cudaStreamSynchronize (NULL), "uploading weights", error);
  free (data);
  return ok;
}

static void
release (void *data)
{
  State *state = (State *)data;

  if (state) {
    cudaFree (state->block);
    img_resize_plan_clear (&state->plan);
  }
  free (state);
}

static bool
prepare (void **data, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  State *state = (State *)*data;

  if (!state)
    *data = state = (State *)calloc (1, sizeof (*state));
  if (!state)
    return img_fail (error, IMG_ERROR_NO_MEMORY, "resize: out of memory");
  img_resize_plan_clear (&state->plan);
  return img_resize_plan (
             &state->plan, src, dst, (const ImgResizeParams *)params, error)
         && upload_plan (state, src, error);
}

static bool
is_aligned (const void *data, ptrdiff_t stride, unsigned align)
{
  return ((uintptr_t)data | (uintptr_t)stride) % align == 0;
}

/* A word of halved pixels must be whole, and lie right on both sides. */
static bool
can_halve (
    const ImgResizePlane *plan, const ImgView *view, const ResizePlane &plane)
{
  const int step = 4 / view->component_bytes;

  return plan->halves && plane.width % step == 0
         && is_aligned (plane.src, plane.src_stride, 8) && plane.dst_aligned;
}

static ResizePlane
resize_plane (const State *state, const ImgView *src, const ImgView *dst, int i)
{
  const ImgPlane *from = &src->plane[i], *to = &dst->plane[i];
  const ImgResizePlane *plan = &state->plan.plane[i];
  const Offsets *o = &state->offsets[i];
  const int *block = state->block;
  ResizePlane plane = {};

  plane.src = (const unsigned char *)from->data;
  plane.dst = (unsigned char *)to->data + plan->y.begin * to->stride
              + (size_t)plan->x.begin * to->channels * dst->component_bytes;
  plane.src_stride = from->stride;
  plane.dst_stride = to->stride;
  plane.x = { block + o->first_x, (const float *)block + o->weight_x,
    plan->x.taps };
  plane.y = { block + o->first_y, (const float *)block + o->weight_y,
    plan->y.taps };
  plane.piece = block + o->piece;
  plane.pieces = o->pieces;
  plane.apart = o->apart;
  plane.width = plan->x.end - plan->x.begin;
  plane.height = plan->y.end - plan->y.begin;
  plane.src_row = from->width * from->channels;
  plane.src_rows = from->height;
  plane.channels = from->channels;
  plane.shift = src->shift;
  plane.max = img_view_levels (src).max;
  plane.bias = plan->bias;
  plane.scale = plan->scale;
  plane.blocks = (plane.height + WARPS - 1) / WARPS;
  plane.aligned = is_aligned (plane.src, plane.src_stride, 4);
  plane.dst_aligned = is_aligned (plane.dst, plane.dst_stride, 4);
  plane.kind = plan->x.taps == 1 && plan->y.taps == 1 ? KIND_PICK
               : can_halve (plan, src, plane)         ? KIND_HALVE
               : o->walks                             ? KIND_WALK
                                                      : KIND_SUM;
  if (plane.kind != KIND_SUM)
    plane.pieces = (plane.width + SIMPLE_PIECE - 1) / SIMPLE_PIECE;
  return plane;
}

/* The planes that do not walk, in one launch. */
static bool
run_pieces (const ResizePlane *plane, int n, const ImgView *src,
    cudaStream_t stream, ImgError *error)
{
  const dim3 block (32, WARPS);
  dim3 grid (0, 0);
  ResizeJob job = {};

  for (int i = 0; i < n; i++) {
    if (plane[i].kind == KIND_WALK || plane[i].blocks == 0
        || plane[i].pieces == 0)
      continue;
    job.plane[job.n_planes++] = plane[i];
    grid.x = max (grid.x, (unsigned)plane[i].pieces);
    grid.y += plane[i].blocks;
  }
  if (job.n_planes == 0)
    return true;
  launch (src->component_bytes == 1 ? resize_kernel<uint8_t>
                                    : resize_kernel<uint16_t>,
      grid, block, 0, stream, job);
  return img_cuda_launched ("launching resize", error);
}

/* Finds the rows that may be read in words: not the one that comes last in
 * memory if it ends amid a word. */
static void
set_words (WalkPlane *walk, const ResizePlane &plane, int row_bytes)
{
  const bool all = row_bytes % 4 == 0;

  walk->last_word = (row_bytes - 1) & ~3;
  walk->words_begin = !all && plane.src_stride < 0;
  walk->words_end = !plane.aligned                  ? 0
                    : !all && plane.src_stride >= 0 ? plane.src_rows - 1
                                                    : plane.src_rows;
}

static WalkPlane
walk_plane (const ResizePlane &plane, int component_bytes)
{
  const unsigned used = (unsigned)plane.max << plane.shift;
  WalkPlane walk = {};

  walk.src = plane.src;
  walk.dst = plane.dst;
  walk.src_stride = plane.src_stride;
  walk.dst_stride = plane.dst_stride;
  walk.first_x = plane.x.first;
  walk.first_y = plane.y.first;
  walk.weight_x = plane.x.weight;
  walk.weight_y = plane.y.weight;
  walk.width = plane.width;
  walk.height = plane.height;
  walk.channels = plane.channels;
  walk.shift = plane.shift;
  walk.mask = used << 16 | used;
  walk.bias = plane.bias * plane.scale; /* exact: halves, or 0 */
  walk.scale = plane.scale;
  walk.max = (float)plane.max;
  walk.apart = plane.apart;
  walk.dst_aligned = plane.dst_aligned;
  set_words (&walk, plane, plane.src_row * component_bytes);
  return walk;
}

/* Cuts the planes into strips, short ones if there would be few. */
static dim3
cut_strips (WalkJob *job, int n)
{
  dim3 grid;

  for (job->rows = WALK_ROWS;; job->rows /= 2) {
    int blocks = 0;

    grid = dim3 (0, 0);
    for (int i = 0; i < n; i++) {
      WalkPlane *plane = &job->plane[i];
      const int columns = (plane->width + WALK_THREADS - 1) / WALK_THREADS;

      plane->strips = (plane->height + job->rows - 1) / job->rows;
      blocks += columns * plane->strips;
      grid.x = max (grid.x, (unsigned)columns);
      grid.y += plane->strips;
    }
    if (blocks >= WALK_MIN_BLOCKS || job->rows <= WALK_MIN_ROWS)
      return grid;
  }
}

typedef void (*WalkKernel) (const WalkJob job);

#define KERNELS(taps)                                                          \
  {                                                                            \
    walk_kernel<T, 1, taps>, walk_kernel<T, 2, taps>, walk_kernel<T, 3, taps>, \
        walk_kernel<T, 4, taps>                                                \
  }

template <typename T>
static WalkKernel
walk_kernel_of (int taps, int channels)
{
  static const WalkKernel kernel[N_WALK_TAPS][4]
      = { KERNELS (2), KERNELS (3), KERNELS (4), KERNELS (8) };
  int i = 0;

  while (walk_taps[i] < taps)
    i++;
  return kernel[i][channels - 1];
}

/* The planes that walk, in one launch. */
static bool
run_walks (const ResizePlane *plane, int n, const ImgView *src, int taps,
    cudaStream_t stream, ImgError *error)
{
  int channels = 0, walks = 0;
  WalkJob job = {};

  for (int i = 0; i < n; i++) {
    if (plane[i].kind != KIND_WALK || plane[i].width == 0
        || plane[i].height == 0)
      continue;
    job.plane[walks++] = walk_plane (plane[i], src->component_bytes);
    channels = max (channels, plane[i].channels);
  }
  if (walks == 0)
    return true;
  const dim3 grid = cut_strips (&job, walks);

  launch (src->component_bytes == 1 ? walk_kernel_of<uint8_t> (taps, channels)
                                    : walk_kernel_of<uint16_t> (taps, channels),
      grid, WALK_THREADS, 0, stream, job);
  return img_cuda_launched ("launching resize", error);
}

static bool
run_planes (const State *state, const ImgView *src, const ImgView *dst,
    cudaStream_t stream, ImgError *error)
{
  ResizePlane plane[IMG_MAX_PLANES];

  for (int i = 0; i < src->n_planes; i++)
    plane[i] = resize_plane (state, src, dst, i);
  return run_pieces (plane, src->n_planes, src, stream, error)
         && run_walks (plane, src->n_planes, src, state->taps, stream, error);
}

static bool
fill_black (const ImgResizePlane *plan, const ImgView *dst, int i,
    cudaStream_t stream, ImgError *error)
{
  const ImgPlane *to = &dst->plane[i];
  const dim3 grid ((to->width * to->channels + 255) / 256, to->height);
  BlackPlane plane = { (unsigned char *)to->data, to->stride, to->width,
    to->height, to->channels, plan->x.begin, plan->x.end, plan->y.begin,
    plan->y.end, {} };

  if (to->height == 0)
    return true;
  if (plan->x.end - plan->x.begin == to->width
      && plan->y.end - plan->y.begin == to->height)
    return true;
  for (int c = 0; c < to->channels; c++)
    plane.black[c] = plan->black[c];
  launch (dst->component_bytes == 1 ? black_kernel<uint8_t>
                                    : black_kernel<uint16_t>,
      grid, 256, 0, stream, plane);
  return img_cuda_launched ("launching a border", error);
}

static bool
run (void *data, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  const State *state = (const State *)data;

  for (int i = 0; i < src->n_planes; i++)
    if (!fill_black (&state->plan.plane[i], dst, i, stream, error))
      return false;
  return run_planes (state, src, dst, stream, error);
}

extern "C" const ImgOperation img_resize_cuda
    = { "resize", sizeof (ImgResizeParams), false, prepare, run, release };
