/*
 * gaussian.h on CUDA.
 *
 * 8-bit planes and small kernels: one pass over device memory, in float32. The
 * limit of such a kernel is the rate of float32 arithmetic, with 30 products a
 * component for 15x15; tensor cores are no faster there, as bands of weights
 * are mostly zero.
 *
 * 8-bit planes and larger kernels, up to a radius of 63: one pass on tensor
 * cores. A block blurs a tile that lies in shared memory with its margins:
 * down the columns, then along the rows, each time as a product with a banded
 * matrix of weights. Pictures are exact in half precision; weights and the
 * result of the first product are kept as the sum of two halves, which is
 * worth 22 bits, and all sums are float32. Everything else: two passes in
 * float32 with a picture of floats between them.
 */
#include "gaussian.h"

#include <cuda_fp16.h>
#include <stdint.h>
#include <stdlib.h>

#include "arith.h"
#include "check.h"
#include "pointwise.cuh"

/* One plane to blur. */
struct BlurPlane {
  const unsigned char *src;
  unsigned char *dst;
  ptrdiff_t src_stride, dst_stride;
  int width, height, channels;
  int row; /* components in a row */
  int shift, max;
  int constant; /* beyond the edge with IMG_BORDER_CONSTANT */
  ImgBorder border;
  bool copied[IMG_MAX_CHANNELS]; /* channels that are not blurred */
};

/* The component of row `y` that stands at `x`, both anywhere. */
template <typename T>
static __device__ int
blur_component (const BlurPlane &plane, int x, int y)
{
  const int c = plane.channels;
  int pixel = x >= 0 ? x / c : -((c - 1 - x) / c);
  const int channel = x - pixel * c;

  pixel = img_border_index (pixel, plane.width, plane.border);
  y = img_border_index (y, plane.height, plane.border);
  if (pixel < 0 || y < 0)
    return plane.constant;
  return ((const T *)(plane.src + y * plane.src_stride))[pixel * c + channel]
         >> plane.shift;
}

/* the tensor core path */

#define TILE_ROWS 64
#define TILE_COLS 128
#define TILE_THREADS 256
#define TILE_MAX_RADIUS 63
#define TILE_PITCH (TILE_COLS + 16) /* of its bytes */
#define HALF_PAD 8 /* keeps the rows of ldmatrix in different banks */

struct TileWeights {
  float x[TILE_MAX_RADIUS + 1], y[TILE_MAX_RADIUS + 1];
};

/* Sizes that follow from the radius; columns are components. */
struct TileShape {
  int rx, ry;           /* radii; rx in pixels */
  int reach;            /* of the horizontal kernel, in components */
  int lead;             /* columns left of the tile: reach, rounded up to 8 */
  int cols, rows;       /* of the tile with margins */
  int pitch;            /* halves from one row to the next */
  int steps_y, steps_x; /* products of 16 that make a sum */
  int x_blocks;         /* different 16 × 8 blocks of horizontal weights */
};

static TileShape
tile_shape (int rx, int ry, int channels)
{
  TileShape s;

  s.rx = rx;
  s.ry = ry;
  s.reach = rx * channels;
  s.lead = (s.reach + 7) / 8 * 8;
  s.cols = TILE_COLS + 2 * s.lead;
  s.steps_y = (16 + 2 * ry + 15) / 16;
  s.rows = TILE_ROWS - 16 + 16 * s.steps_y;
  s.pitch = s.cols + HALF_PAD;
  s.steps_x = (s.lead + s.reach + 32 + 15) / 16;
  s.x_blocks = 2 * s.steps_x + 3;
  return s;
}

/* Shared memory: fragments of the weights as the lanes hold them, the picture,
 * and the two halves of the blurred columns. */
static size_t
tile_bytes (const TileShape &s)
{
  return (size_t)s.steps_y * 32 * 8 * 4 + (size_t)s.x_blocks * 32 * 4 * 4
         + (size_t)s.rows * s.pitch * 2 + 2 * (size_t)TILE_ROWS * s.pitch * 2;
}

struct HalfPair {
  unsigned high, low;
};

/* Two floats as two pairs of halves that add up to them. */
static __device__ __forceinline__ HalfPair
split (float a, float b)
{
  const __half2 high = __floats2half2_rn (a, b);
  const float2 back = __half22float2 (high);
  const __half2 low = __floats2half2_rn (a - back.x, b - back.y);
  HalfPair pair;

  pair.high = *(const unsigned *)&high;
  pair.low = *(const unsigned *)&low;
  return pair;
}

static __device__ __forceinline__ void
multiply_add (float d[4], const unsigned a[4], unsigned b0, unsigned b1)
{
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

/* Four 8 × 8 blocks of halves; lane i gives the address of row i % 8 of block
 * i / 8. */
static __device__ __forceinline__ void
load_blocks (unsigned r[4], const __half *row)
{
#if __CUDA_ARCH__ >= 800
  const unsigned address = (unsigned)__cvta_generic_to_shared (row);

  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
               "{%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
#endif
}

static __device__ __forceinline__ void
load_blocks_transposed (unsigned r[4], const __half *row)
{
#if __CUDA_ARCH__ >= 800
  const unsigned address = (unsigned)__cvta_generic_to_shared (row);

  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
               "{%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
#endif
}

static __device__ __forceinline__ float
weight_at (const float *weight, int distance, int radius)
{
  distance = abs (distance);
  return distance <= radius ? weight[distance] : 0.f;
}

/* The weight of the component `distance` columns away. */
static __device__ __forceinline__ float
weight_of_column (
    const float *weight, int distance, int channels, const TileShape &s)
{
  return distance % channels == 0
             ? weight_at (weight, distance / channels, s.rx)
             : 0.f;
}

/* Weights of 16 output rows (m) from 16 input rows (k) a step, as operand A of
 * the product: per lane four words of high halves and four of low ones. */
static __device__ void
make_row_fragments (
    unsigned *fragments, const float *weight, const TileShape &s)
{
  for (int i = threadIdx.x; i < s.steps_y * 32 * 4; i += TILE_THREADS) {
    const int word = i % 4, lane = i / 4 % 32, step = i / 128;
    const int m = lane / 4 + (word & 1) * 8;
    const int k = step * 16 + lane % 4 * 2 + (word >> 1) * 8;
    const HalfPair pair = split (weight_at (weight, k - m - s.ry, s.ry),
        weight_at (weight, k + 1 - m - s.ry, s.ry));

    fragments[(step * 32 + lane) * 8 + word] = pair.high;
    fragments[(step * 32 + lane) * 8 + 4 + word] = pair.low;
  }
}

/* Weights of 16 input columns (k) for 8 output columns (n), as operand B. All
 * blocks at the same distance are equal: block i has the input columns begin
 * 8 * (i - 3) after the output columns, less `lead`. */
static __device__ void
make_column_fragments (
    unsigned *fragments, const float *weight, int channels, const TileShape &s)
{
  for (int i = threadIdx.x; i < s.x_blocks * 32 * 2; i += TILE_THREADS) {
    const int word = i % 2, lane = i / 2 % 32, block = i / 64;
    const int k = (block - 3) * 8 - s.lead + lane % 4 * 2 + word * 8;
    const int n = lane / 4;
    const HalfPair pair = split (weight_of_column (weight, k - n, channels, s),
        weight_of_column (weight, k + 1 - n, channels, s));

    fragments[(block * 32 + lane) * 4 + word] = pair.high;
    fragments[(block * 32 + lane) * 4 + 2 + word] = pair.low;
  }
}

/* Four bytes as four halves, each 1024 more than its byte: 0x6400 | b. */
static __device__ __forceinline__ uint2
bytes_to_halves (unsigned bytes)
{
  return make_uint2 (__byte_perm (bytes, 0x64646464, 0x4140),
      __byte_perm (bytes, 0x64646464, 0x4342));
}

static __device__ __forceinline__ void
store_halves (__half *to, uint2 bytes)
{
  const uint2 a = bytes_to_halves (bytes.x), b = bytes_to_halves (bytes.y);

  *(uint4 *)to = make_uint4 (a.x, a.y, b.x, b.y);
}

/* Eight components from `x` of row `y`, anywhere; those that no result needs
 * are any value. */
static __device__ uint2
gather_bytes (const BlurPlane &plane, int x, int y, int reach)
{
  unsigned word[2] = { 0, 0 };

  if (x + 8 <= -reach || x >= plane.row + reach)
    return make_uint2 (0, 0);
#pragma unroll 4
  for (int i = 0; i < 8; i++)
    word[i / 4] |= (unsigned)blur_component<uint8_t> (plane, x + i, y)
                   << i % 4 * 8;
  return make_uint2 (word[0], word[1]);
}

/* Reads the tile at `x0`, `y0` with its margins. Threads lie on groups of
 * eight columns, and go down the rows together. */
static __device__ __forceinline__ void
load_tile (__half *picture, const BlurPlane &plane, const TileShape &s, int x0,
    int y0, bool aligned)
{
  const int groups = s.cols / 8, step = TILE_THREADS / groups;
  const int group = threadIdx.x % groups;
  const int x = x0 - s.lead + group * 8;
  const int last = plane.height - 1 + s.ry;
  const bool whole = aligned && x >= 0 && x + 8 <= plane.row;
  const bool inside = y0 >= s.ry && y0 - s.ry + s.rows <= plane.height;
  int row = threadIdx.x / groups;
  __half *to = picture + row * s.pitch + group * 8;

  if (row >= step)
    return;
  if (whole && inside) {
    const unsigned char *from
        = plane.src + (y0 - s.ry + row) * plane.src_stride + x;

#pragma unroll 4
    for (; row < s.rows; row += step) {
      store_halves (to, *(const uint2 *)from);
      from += step * plane.src_stride;
      to += step * s.pitch;
    }
    return;
  }
  for (; row < s.rows; row += step) {
    const int y = min (y0 - s.ry + row, last);
    const int from = img_border_index (y, plane.height, plane.border);

    store_halves (
        to, whole && from >= 0
                ? *(const uint2 *)(plane.src + from * plane.src_stride + x)
                : gather_bytes (plane, x, y, s.reach));
    to += step * s.pitch;
  }
}

/* Blurs 16 rows by 16 columns of the picture down the columns. `bias` takes
 * away what the 1024 of the picture add to a sum. */
static __device__ __forceinline__ void
blur_columns (__half *high, __half *low, const __half *picture,
    const unsigned *fragments, float bias, int row, int col, const TileShape &s)
{
  const int lane = threadIdx.x % 32;
  const __half *from
      = picture + (row + lane % 16) * s.pitch + col + lane / 16 * 8;
  const int to = (row + lane / 4) * s.pitch + col + lane % 4 * 2;
  float sum[2][4] = { { bias, bias, bias, bias }, { bias, bias, bias, bias } };

  for (int step = 0; step < s.steps_y; step++, from += 16 * s.pitch) {
    const uint4 *weights = (const uint4 *)fragments + (step * 32 + lane) * 2;
    const uint4 h = weights[0], l = weights[1];
    const unsigned ah[4] = { h.x, h.y, h.z, h.w };
    const unsigned al[4] = { l.x, l.y, l.z, l.w };
    unsigned b[4];

    load_blocks_transposed (b, from);
#pragma unroll
    for (int n = 0; n < 2; n++) {
      multiply_add (sum[n], ah, b[2 * n], b[2 * n + 1]);
      multiply_add (sum[n], al, b[2 * n], b[2 * n + 1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const int at = to + i % 2 * 8 * s.pitch + i / 2 * 8;
    const HalfPair pair
        = split (sum[i / 2][i % 2 * 2], sum[i / 2][i % 2 * 2 + 1]);

    *(unsigned *)(high + at) = pair.high;
    *(unsigned *)(low + at) = pair.low;
  }
}

/* Two sums as bytes. They are within 0..255 but for their last bits; adding
 * 2^23 + 2^22 rounds to nearest, ties to even, into the low byte. */
static __device__ __forceinline__ uint16_t
round_pair (float a, float b)
{
  return (uint16_t)__byte_perm (__float_as_uint (a + 12582912.f),
      __float_as_uint (b + 12582912.f), 0x0040);
}

/* Blurs 16 rows by 32 columns along the rows, into bytes. */
static __device__ __forceinline__ void
blur_rows (unsigned char *bytes, const __half *high, const __half *low,
    const unsigned *fragments, int row, int col, const TileShape &s)
{
  const int lane = threadIdx.x % 32;
  const int at = (row + lane % 16) * s.pitch + col + lane / 16 * 8;
  const uint4 *weights = (const uint4 *)fragments + 3 * 32 + lane;
  unsigned char *to
      = bytes + (row + lane / 4) * TILE_PITCH + col + lane % 4 * 2;
  float sum[4][4] = {};

  for (int step = 0; step < s.steps_x; step++, weights += 2 * 32) {
    unsigned ah[4], al[4];

    load_blocks (ah, high + at + step * 16);
    load_blocks (al, low + at + step * 16);
#pragma unroll
    for (int n = 0; n < 4; n++) {
      const uint4 b = weights[-n * 32];

      multiply_add (sum[n], ah, b.x, b.y);
      multiply_add (sum[n], ah, b.z, b.w);
      multiply_add (sum[n], al, b.x, b.y);
    }
  }
#pragma unroll
  for (int n = 0; n < 4; n++) {
    *(uint16_t *)(to + n * 8) = round_pair (sum[n][0], sum[n][1]);
    *(uint16_t *)(to + n * 8 + 8 * TILE_PITCH)
        = round_pair (sum[n][2], sum[n][3]);
  }
}

/* Writes the tile; `keep` are the bits of a word that are copied. */
static __device__ __forceinline__ void
store_tile (const unsigned char *bytes, const BlurPlane &plane, int x0, int y0,
    unsigned keep, bool aligned)
{
  const int col = threadIdx.x % (TILE_COLS / 8) * 8;
  const int left = plane.row - x0 - col;
  const int rows = min (TILE_ROWS, plane.height - y0);

#pragma unroll 4
  for (int row = threadIdx.x / (TILE_COLS / 8); row < rows;
       row += TILE_THREADS / (TILE_COLS / 8)) {
    const unsigned char *src
        = plane.src + (y0 + row) * plane.src_stride + x0 + col;
    unsigned char *dst = plane.dst + (y0 + row) * plane.dst_stride + x0 + col;
    uint2 value = *(const uint2 *)(bytes + row * TILE_PITCH + col);

    if (keep) {
      value.x = (value.x & ~keep) | (pointwise_load_bytes (src, left) & keep);
      value.y = (value.y & ~keep)
                | (pointwise_load_bytes (src + 4, left - 4) & keep);
    }
    if (aligned && left >= 8) {
      *(uint2 *)dst = value;
    } else {
      pointwise_store_bytes (dst, value.x, left);
      pointwise_store_bytes (dst + 4, value.y, left - 4);
    }
  }
}

/* 1024 times the sum of the weights as the products use them, negative. */
static __device__ float
picture_bias (const float *weight, int radius)
{
  float sum = 0;

  for (int i = -radius; i <= radius; i++) {
    const HalfPair pair = split (weight[abs (i)], 0);

    sum += __low2float (*(const __half2 *)&pair.high)
           + __low2float (*(const __half2 *)&pair.low);
  }
  return -1024.f * sum;
}

/* Blocks take tiles until none is left, so that the fragments are made few
 * times. */
__global__ void
__launch_bounds__ (TILE_THREADS)
    blur_tiles (const __grid_constant__ BlurPlane plane,
        const __grid_constant__ TileWeights weights,
        const __grid_constant__ TileShape shape, unsigned keep, bool aligned)
{
  extern __shared__ __align__ (16) unsigned char shared[];
  __shared__ TileWeights w;
  unsigned *row_fragments = (unsigned *)shared;
  unsigned *column_fragments = row_fragments + shape.steps_y * 32 * 8;
  __half *picture = (__half *)(column_fragments + shape.x_blocks * 32 * 4);
  __half *high = picture + shape.rows * shape.pitch;
  __half *low = high + TILE_ROWS * shape.pitch;
  unsigned char *bytes = (unsigned char *)picture;
  const int warp = threadIdx.x / 32, warps = TILE_THREADS / 32;
  const int chunks = shape.cols / 16, groups = TILE_ROWS / 16;
  const int across = (plane.row + TILE_COLS - 1) / TILE_COLS;
  const int tiles = across * ((plane.height + TILE_ROWS - 1) / TILE_ROWS);

  for (int i = threadIdx.x; i <= TILE_MAX_RADIUS; i += TILE_THREADS)
    w.x[i] = weights.x[i], w.y[i] = weights.y[i];
  __syncthreads ();
  make_row_fragments (row_fragments, w.y, shape);
  make_column_fragments (column_fragments, w.x, plane.channels, shape);
  const float bias = picture_bias (w.y, shape.ry);

  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int x0 = tile % across * TILE_COLS, y0 = tile / across * TILE_ROWS;

    load_tile (picture, plane, shape, x0, y0, aligned);
    __syncthreads ();
    for (int i = warp; i < groups * chunks; i += warps)
      blur_columns (high, low, picture, row_fragments, bias, i % groups * 16,
          i / groups * 16, shape);
    __syncthreads ();
    for (int i = warp; i < groups * (TILE_COLS / 32); i += warps)
      blur_rows (bytes, high, low, column_fragments, i % groups * 16,
          i / groups * 32, shape);
    __syncthreads ();
    store_tile (bytes, plane, x0, y0, keep, aligned);
    __syncthreads ();
  }
}

/* the path of small kernels: float32, both passes in one kernel
 *
 * A block blurs a tile down the columns, from the plane into shared memory, and
 * from there along the rows. Radii and channels are template arguments, so that
 * every weight is an operand out of constant memory. */

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
  extern __shared__ __align__ (16) float sums[];
  __shared__ int rows[WINDOW_ROWS + 2 * Radius];
  const int x0 = blockIdx.x * Shape::cols, y0 = blockIdx.y * WINDOW_ROWS;
  const bool inside = y0 >= Radius && y0 + WINDOW_ROWS + Radius <= plane.height;

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
plane_uses_window (const ImgView *view, int rx, int ry)
{
  return view->component_bytes == 1 && rx <= WINDOW_MAX_RADIUS
         && ry <= WINDOW_MAX_RADIUS;
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
        && !plane_uses_window (view, x.radius, y.radius)
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

template <int Channels, int Radius>
static bool
start_window (const BlurPlane &plane, const WindowWeights &weights,
    cudaStream_t stream, ImgError *error)
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
  blur_window<Channels, Radius>
      <<<grid, WINDOW_THREADS, Shape::bytes, stream>>> (
          plane, weights, kept_bits (plane), plane_is_aligned (plane));
  return img_cuda_launched ("launching a blur", error);
}

template <int Channels>
static bool
run_window_channels (const BlurPlane &plane, int radius,
    const WindowWeights &weights, cudaStream_t stream, ImgError *error)
{
  if (radius <= 2)
    return start_window<Channels, 2> (plane, weights, stream, error);
  if (radius <= 4)
    return start_window<Channels, 4> (plane, weights, stream, error);
  if (radius <= 7)
    return start_window<Channels, 7> (plane, weights, stream, error);
  if (radius <= 10)
    return start_window<Channels, 10> (plane, weights, stream, error);
  return start_window<Channels, 15> (plane, weights, stream, error);
}

static bool
run_window (const BlurPlane &plane, const ImgGaussianKernel &x,
    const ImgGaussianKernel &y, cudaStream_t stream, ImgError *error)
{
  const int radius = x.radius > y.radius ? x.radius : y.radius;
  WindowWeights weights = {};

  for (int i = 0; i <= x.radius; i++)
    weights.x[i] = x.weight[i];
  for (int i = 0; i <= y.radius; i++)
    weights.y[i] = y.weight[i];
  switch (plane.channels) {
  case 1:
    return run_window_channels<1> (plane, radius, weights, stream, error);
  case 2:
    return run_window_channels<2> (plane, radius, weights, stream, error);
  case 3:
    return run_window_channels<3> (plane, radius, weights, stream, error);
  default:
    return run_window_channels<4> (plane, radius, weights, stream, error);
  }
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
  blur_tiles<<<tile_blocks (state, plane, shared), TILE_THREADS, shared,
      stream>>> (
      plane, weights, shape, kept_bits (plane), plane_is_aligned (plane));
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

  blur_pass_columns<T><<<grid, PASS_THREADS, 0, stream>>> (
      plane, pass_weights (y), sums, pitch);
  blur_pass_rows<T><<<grid, PASS_THREADS, 0, stream>>> (
      plane, pass_weights (x), sums, pitch);
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
  if (plane_uses_window (src, x.radius, y.radius))
    return run_window (plane, x, y, stream, error);
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
