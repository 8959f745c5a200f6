/*
 * Blurs 8-bit planes of one or two channels with kernels up to a radius of 16
 * in one pass on tensor cores, without shared memory for the picture. A warp
 * takes a strip of 16 columns and walks down the rows in chunks of 16. It blurs
 * a chunk along the rows, as the product of a banded matrix of weights (16
 * columns that come out by the columns of the window around them) and the
 * picture (these columns by 8 rows). Lanes hold the result of that as they must
 * hold the operand of the product that blurs down the columns: weights of 16
 * rows that come out by the rows of the last chunks. So all stays in registers,
 * and all but the weights is read once (the window's overlap comes from the L1
 * cache).
 *
 * A column here is a byte: a channel of a pixel. In a window the columns of a
 * product are numbered such that a lane reads bytes that lie side by side, and
 * the columns that come out such that it writes four of them.
 */
#ifndef IMG_GAUSSIAN_STRIP_CUH
#define IMG_GAUSSIAN_STRIP_CUH

#include "gaussian-plane.cuh"
#include "ptx.cuh"

#define STRIP_MAX_RADIUS 16
#define STRIP_WARPS 4 /* strips of a block, side by side */
#define STRIP_THREADS (32 * STRIP_WARPS)

struct StripWeights {
  float x[STRIP_MAX_RADIUS + 1], y[STRIP_MAX_RADIUS + 1];
};

struct StripJob {
  BlurPlane plane;
  StripWeights weights;
  int rx, ry;
  int chunks;    /* that a warp writes */
  unsigned keep; /* bits of four columns that are copied */
  bool aligned;  /* to words of eight bytes */
};

/* What follows from channels and the largest radius. */
template <int Channels, int Radius> struct StripShape {
  static constexpr int reach = Radius * Channels;
  static constexpr int lead = (reach + 7) / 8 * 8;
  static constexpr int steps_x = (lead + 16 + reach + 15) / 16;
  static constexpr int window = 16 * steps_x;
  static constexpr int steps_y = Radius <= 8 ? 2 : 3;
  static constexpr int above = Radius <= 8 ? 8 : 16; /* rows read before y */
  /* registers for the weights limit the blocks of a multiprocessor */
  static constexpr int blocks = steps_x <= 3 ? 4 : steps_x <= 5 ? 3 : 2;
};

/* Where in its window the products of step `step` have column `k`. */
template <typename Shape>
static __device__ __forceinline__ int
strip_column (int step, int k)
{
  const int lane = k % 8 / 2, byte = k % 2 + k / 8 * 2;

  if (step == Shape::steps_x - 1 && step % 2 == 0)
    return step * 16 + lane * 4 + byte;
  return step / 2 * 32 + lane * 8 + step % 2 * 4 + byte;
}

/* Which of the 16 columns that come out is row `m` of the weights. */
static __device__ __forceinline__ int
strip_column_out (int m)
{
  return m % 8 / 2 * 4 + m / 8 * 2 + m % 2;
}

/* Weights as operands, in shared memory: for every step and lane four words of
 * high and four of low halves. */
template <typename Shape> struct StripFragments {
  uint4 x[Shape::steps_x][2][32], y[Shape::steps_y][2][32];
};

/* The weight of the window's column `from` in column `to`. */
template <typename Shape, int Channels>
static __device__ __forceinline__ float
strip_weight_x (const StripJob &job, int from, int to)
{
  const int distance = from - Shape::lead - to;

  return distance % Channels == 0
             ? weight_at (job.weights.x, distance / Channels, job.rx)
             : 0.f;
}

template <int Channels, typename Shape>
static __device__ void
strip_make_fragments (StripFragments<Shape> &fragments, const StripJob &job)
{
  const int n_x = Shape::steps_x * 32 * 4, n_y = Shape::steps_y * 32 * 4;

  for (int i = threadIdx.x; i < n_x + n_y; i += STRIP_THREADS) {
    const int at = i < n_x ? i : i - n_x;
    const int word = at % 4, lane = at / 4 % 32, step = at / 128;
    const int m = lane / 4 + (word & 1) * 8;
    const int k = lane % 4 * 2 + (word >> 1) * 8;
    float w[2];

    for (int j = 0; j < 2; j++)
      w[j] = i < n_x ? strip_weight_x<Shape, Channels> (
                 job, strip_column<Shape> (step, k + j), strip_column_out (m))
                     : weight_at (job.weights.y,
                         step * 16 + k + j - Shape::above - m, job.ry);
    const HalfPair pair = split (w[0], w[1]);
    unsigned *to = (unsigned *)(i < n_x ? &fragments.x[step][0][lane]
                                        : &fragments.y[step][0][lane]);

    to[word] = pair.high;
    to[word + 32 * 4] = pair.low;
  }
}

struct StripOperand {
  unsigned high[4], low[4];
};

static __device__ __forceinline__ StripOperand
strip_operand (const uint4 fragment[2][32])
{
  const uint4 h = fragment[0][threadIdx.x % 32];
  const uint4 l = fragment[1][threadIdx.x % 32];

  return { { h.x, h.y, h.z, h.w }, { l.x, l.y, l.z, l.w } };
}

/* The picture */

/* The row to read for row `y`, or -1: the constant. Rows that no result needs
 * are any. */
static __device__ __forceinline__ int
strip_row (const StripJob &job, int y)
{
  y = min (max (y, -job.ry), job.plane.height - 1 + job.ry);
  return img_border_index (y, job.plane.height, job.plane.border);
}

/* Reads the lane's columns of windows that lie inside, at aligned words. */
template <typename Shape> struct StripInside {
  const unsigned char *column; /* the lane's first, of row 0 */

  __device__ __forceinline__ StripInside (const StripJob &job, int x0)
      : column (job.plane.src + x0 - Shape::lead + threadIdx.x % 4 * 8)
  {
  }

  __device__ __forceinline__ void load (
      unsigned *word, const StripJob &job, int row) const
  {
    const unsigned char *from = column + row * job.plane.src_stride;

#pragma unroll
    for (int i = 0; i + 1 < Shape::steps_x; i += 2) {
      const uint2 v = *(const uint2 *)(from + i * 16);

      word[i] = v.x;
      word[i + 1] = v.y;
    }
    if (Shape::steps_x % 2 == 1)
      word[Shape::steps_x - 1]
          = *(const unsigned *)(from + (Shape::steps_x - 1) * 16
                                - threadIdx.x % 4 * 4);
  }
};

/* Reads any window, byte by byte. `map` has where each column of it is read in
 * a row, or -1. */
template <typename Shape> struct StripEdge {
  const int *map;

  /* Fills the map of the window around x0 for the warp. */
  template <int Channels>
  static __device__ __forceinline__ void make_map (
      int *map, const StripJob &job, int x0)
  {
    const BlurPlane &plane = job.plane;

    for (int i = threadIdx.x % 32; i < Shape::window; i += 32) {
      const int reach = job.rx * Channels;
      const int x
          = min (max (x0 - Shape::lead + i, -reach), plane.row + reach - 1);
      const int pixel
          = x >= 0 ? x / Channels : -((Channels - 1 - x) / Channels);
      const int index = img_border_index (pixel, plane.width, plane.border);

      map[i] = index < 0 ? -1 : index * Channels + x - pixel * Channels;
    }
    __syncwarp ();
  }

  __device__ __forceinline__ void load (
      unsigned *word, const StripJob &job, int row) const
  {
    const unsigned char *from = job.plane.src + row * job.plane.src_stride;

#pragma unroll
    for (int i = 0; i < Shape::steps_x; i++) {
      const int4 at
          = *(const int4 *)(map + strip_column<Shape> (i, threadIdx.x % 4 * 2));

      word[i] = byte (job, from, at.x) | byte (job, from, at.y) << 8
                | byte (job, from, at.z) << 16 | byte (job, from, at.w) << 24;
    }
  }

  static __device__ __forceinline__ unsigned byte (
      const StripJob &job, const unsigned char *row, int at)
  {
    return at < 0 ? job.plane.constant : row[at];
  }
};

/* Reads the lane's two rows of the chunk whose first row is `y`. */
template <typename Shape, typename Reader>
static __device__ __forceinline__ void
strip_load (unsigned word[2][Shape::steps_x], const StripJob &job,
    const Reader &reader, int y)
{
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const int row = strip_row (job, y + 8 * i + threadIdx.x % 32 / 4);

    if (row >= 0) {
      reader.load (word[i], job, row);
    } else {
#pragma unroll
      for (int k = 0; k < Shape::steps_x; k++)
        word[i][k] = job.plane.constant * 0x01010101u;
    }
  }
}

/* The products */

/* Two bytes of a word as halves: 0x6400 | b is 1024 + b. */
static __device__ __forceinline__ unsigned
strip_halves (unsigned word, unsigned selector)
{
  const unsigned bits = __byte_perm (word, 0x64646464, selector);
  const __half2 value
      = __hsub2 (*(const __half2 *)&bits, __floats2half2_rn (1024, 1024));

  return *(const unsigned *)&value;
}

/* A chunk blurred along the rows, as operand of the second product: for both
 * tiles of eight columns, two words of high and of low halves. */
struct StripChunk {
  unsigned high[2][2], low[2][2];
};

template <typename Shape>
static __device__ __forceinline__ StripChunk
strip_blur_rows (const StripOperand weights[Shape::steps_x],
    const unsigned word[2][Shape::steps_x])
{
  float sum[2][4] = {};
  StripChunk chunk;

#pragma unroll
  for (int k = 0; k < Shape::steps_x; k++)
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const unsigned b0 = strip_halves (word[i][k], 0x4140);
      const unsigned b1 = strip_halves (word[i][k], 0x4342);

      ptx_mma_halves (sum[i], weights[k].high, b0, b1);
      ptx_mma_halves (sum[i], weights[k].low, b0, b1);
    }
#pragma unroll
  for (int tile = 0; tile < 2; tile++)
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const HalfPair pair = split (sum[i][2 * tile], sum[i][2 * tile + 1]);

      chunk.high[tile][i] = pair.high;
      chunk.low[tile][i] = pair.low;
    }
  return chunk;
}

/* Blurs the last chunks down the columns: four columns of two rows, eight
 * apart. */
template <typename Shape>
static __device__ __forceinline__ uint2
strip_blur_columns (const StripOperand weights[Shape::steps_y],
    const StripChunk chunk[Shape::steps_y])
{
  float sum[2][4] = {};

#pragma unroll
  for (int k = 0; k < Shape::steps_y; k++)
#pragma unroll
    for (int tile = 0; tile < 2; tile++) {
      const unsigned *high = chunk[k].high[tile], *low = chunk[k].low[tile];

      ptx_mma_halves (sum[tile], weights[k].high, high[0], high[1]);
      ptx_mma_halves (sum[tile], weights[k].low, high[0], high[1]);
      ptx_mma_halves (sum[tile], weights[k].high, low[0], low[1]);
    }
  return make_uint2 (round_pair (sum[0][0], sum[0][1])
                         | (unsigned)round_pair (sum[1][0], sum[1][1]) << 16,
      round_pair (sum[0][2], sum[0][3])
          | (unsigned)round_pair (sum[1][2], sum[1][3]) << 16);
}

/* Writes four columns of row `y`. */
static __device__ __forceinline__ void
strip_store (const StripJob &job, int x, int y, unsigned value)
{
  const BlurPlane &plane = job.plane;
  const int left = plane.row - x;
  unsigned char *to = plane.dst + y * plane.dst_stride + x;

  if (y >= plane.height || left <= 0)
    return;
  const bool whole = job.aligned && left >= 4;
  if (job.keep) {
    const unsigned char *from = plane.src + y * plane.src_stride + x;
    const unsigned old
        = whole ? *(const unsigned *)from : pointwise_load_bytes (from, left);

    value = (value & ~job.keep) | (old & job.keep);
  }
  if (whole)
    *(unsigned *)to = value;
  else
    pointwise_store_bytes (to, value, left);
}

/* Walks down from row `y`; `x` is where the strip begins. */
template <typename Shape, typename Reader>
static __device__ __forceinline__ void
strip_walk (const StripJob &job, const StripFragments<Shape> &fragments,
    const Reader &reader, int x, int y)
{
  const int lane = threadIdx.x % 32;
  const int end = min (y + 16 * job.chunks, job.plane.height);
  StripOperand weights_x[Shape::steps_x], weights_y[Shape::steps_y];
  StripChunk chunk[Shape::steps_y];
  unsigned word[2][Shape::steps_x];
  int from = y - Shape::above;

#pragma unroll
  for (int i = 0; i < Shape::steps_x; i++)
    weights_x[i] = strip_operand (fragments.x[i]);
#pragma unroll
  for (int i = 0; i < Shape::steps_y; i++)
    weights_y[i] = strip_operand (fragments.y[i]);
  strip_load<Shape> (word, job, reader, from);
#pragma unroll
  for (int i = 1; i < Shape::steps_y; i++) {
    chunk[i] = strip_blur_rows<Shape> (weights_x, word);
    strip_load<Shape> (word, job, reader, from += 16);
  }
  for (; y < end; y += 16) {
#pragma unroll
    for (int i = 1; i < Shape::steps_y; i++)
      chunk[i - 1] = chunk[i];
    chunk[Shape::steps_y - 1] = strip_blur_rows<Shape> (weights_x, word);
    if (y + 16 < end) /* while the rest is worked on */
      strip_load<Shape> (word, job, reader, from += 16);
    const uint2 value = strip_blur_columns<Shape> (weights_y, chunk);

    strip_store (job, x + lane % 4 * 4, y + lane / 4, value.x);
    strip_store (job, x + lane % 4 * 4, y + lane / 4 + 8, value.y);
  }
}

template <int Channels, int Radius>
__global__ void
__launch_bounds__ (STRIP_THREADS, StripShape<Channels, Radius>::blocks)
    blur_strips (const __grid_constant__ StripJob job)
{
  typedef StripShape<Channels, Radius> Shape;
  __shared__ StripFragments<Shape> fragments;
  __shared__ __align__ (16) int map[STRIP_WARPS][Shape::window];
  const int warp = threadIdx.x / 32;
  const int x = (blockIdx.x * STRIP_WARPS + warp) * 16;
  const int y = blockIdx.y * job.chunks * 16;

  start_next_kernel ();
  strip_make_fragments<Channels> (fragments, job);
  __syncthreads ();
  wait_for_kernel_before ();
  if (x >= job.plane.row)
    return;
  if (job.aligned && x >= Shape::lead
      && x - Shape::lead + Shape::window <= job.plane.row) {
    strip_walk<Shape> (job, fragments, StripInside<Shape> (job, x), x, y);
  } else {
    StripEdge<Shape>::template make_map<Channels> (map[warp], job, x);
    strip_walk<Shape> (job, fragments, StripEdge<Shape>{ map[warp] }, x, y);
  }
}

/* host */

/* Into how many chunks to cut strips, so that the GPU, which runs `at_once`
 * blocks, ends with all of them at about the same time. `extra` chunks are read
 * before the first. */
static int
strip_chunks (int blocks_across, int chunks_down, int at_once, int extra)
{
  int best = 1, best_time = 0;

  for (int chunks = 2; chunks <= 32; chunks++) {
    const int blocks = blocks_across * ((chunks_down + chunks - 1) / chunks);
    const int rounds = (blocks + at_once - 1) / at_once;
    const int time = rounds * (chunks + extra);

    if (best_time == 0 || time < best_time)
      best = chunks, best_time = time;
  }
  return best;
}

template <int Channels, int Radius>
static bool
strip_start (
    StripJob *job, int processors, cudaStream_t stream, ImgError *error)
{
  typedef StripShape<Channels, Radius> Shape;
  const int across
      = (job->plane.row + 16 * STRIP_WARPS - 1) / (16 * STRIP_WARPS);
  const int down = (job->plane.height + 15) / 16;

  job->chunks = strip_chunks (
      across, down, processors * Shape::blocks, Shape::steps_y - 1);
  launch (blur_strips<Channels, Radius>,
      dim3 (across, (down + job->chunks - 1) / job->chunks),
      dim3 (STRIP_THREADS), 0, stream, *job);
  return img_cuda_launched ("launching a blur", error);
}

template <int Channels>
static bool
strip_run_channels (
    StripJob *job, int processors, cudaStream_t stream, ImgError *error)
{
  const int radius = job->rx > job->ry ? job->rx : job->ry;

  if (radius <= 8)
    return strip_start<Channels, 8> (job, processors, stream, error);
  return strip_start<Channels, STRIP_MAX_RADIUS> (
      job, processors, stream, error);
}

/* Blurs a plane of one or two channels with kernels of at most
 * STRIP_MAX_RADIUS. */
static bool
strip_run (StripJob *job, int processors, cudaStream_t stream, ImgError *error)
{
  return job->plane.channels == 1
             ? strip_run_channels<1> (job, processors, stream, error)
             : strip_run_channels<2> (job, processors, stream, error);
}

#endif
