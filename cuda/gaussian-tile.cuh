/*
 * Blurs 8-bit planes with large kernels, up to a radius of 63, in one pass on
 * tensor cores: a block has a tile with its margins in shared memory and blurs
 * it down the columns, then along the rows, each time as a product with a
 * banded matrix of weights.
 */
#ifndef IMG_GAUSSIAN_TILE_CUH
#define IMG_GAUSSIAN_TILE_CUH

#include "gaussian-plane.cuh"
#include "ptx.cuh"

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

    ptx_load_blocks_transposed (b, from);
#pragma unroll
    for (int n = 0; n < 2; n++) {
      ptx_mma_halves (sum[n], ah, b[2 * n], b[2 * n + 1]);
      ptx_mma_halves (sum[n], al, b[2 * n], b[2 * n + 1]);
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

    ptx_load_blocks (ah, high + at + step * 16);
    ptx_load_blocks (al, low + at + step * 16);
#pragma unroll
    for (int n = 0; n < 4; n++) {
      const uint4 b = weights[-n * 32];

      ptx_mma_halves (sum[n], ah, b.x, b.y);
      ptx_mma_halves (sum[n], ah, b.z, b.w);
      ptx_mma_halves (sum[n], al, b.x, b.y);
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
  unsigned char *shared = dynamic_shared<unsigned char> ();
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

  kernel_begin ();
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

#endif
