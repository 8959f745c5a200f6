/*
 * Adaptive thresholds of 8-bit pictures, with blocks of up to 81 pixels, in one
 * pass on tensor cores. A warp takes a strip of 16 columns and walks down the
 * rows in chunks of 16. It sums a chunk along the rows, as the product of a
 * banded matrix of weights (16 columns that come out by the columns of the
 * window around them) and the luma (these columns by 8 rows). Lanes hold the
 * result of that as they must hold the operand of the product that sums down
 * the columns: weights of 16 rows that come out by the rows of the last chunks.
 * So all stays in registers.
 *
 * The products are of unsigned bytes and exact: 16-bit weights and sums of rows
 * are split into high and low bytes. In a window the columns of a product are
 * numbered such that a lane reads 8 pixels that lie side by side, and the
 * columns that come out such that it writes four of them.
 */
#ifndef IMG_THRESHOLD_STRIP_CUH
#define IMG_THRESHOLD_STRIP_CUH

#include "launch.cuh"
#include "ptx.cuh"
#include "threshold-levels.cuh"

#define STRIP_WARPS 8 /* strips of a block, side by side */
#define STRIP_THREADS (32 * STRIP_WARPS)
#define STRIP_MAX_RADIUS 40
#define STRIP_MIN_CHUNKS 2 /* of a warp, where the picture has them */

/* What depends on block and method alone; prepare computes it. */
struct AdaptiveKernel {
  int radius, area;
  bool gaussian;
  uint32_t weight[IMG_GAUSS_MAX_RADIUS + 1];
};

/* What every row needs. Lanes read it from shared memory, once: the compiler
 * would not keep parameters of the kernel in registers. */
struct StripConstants {
  int half_row[4], start[4]; /* what sums of rows and of columns start from */
  unsigned keep_above, set_above; /* of the rule, for four bytes */
  unsigned keep_below, set_below;
  unsigned minus[2]; /* minus what a value is multiplied by, in either half */
};

struct StripJob {
  int radius, chunks;         /* chunks: that a warp writes */
  unsigned area, half, magic; /* box: mean = (sum + half) * magic >> 32 */
  unsigned bias; /* box: value > mean - offset if sum + bias < value * area */
  StripConstants constants;
  uint32_t weight[STRIP_MAX_RADIUS + 1];
  int src_stride[3], dst_stride[3]; /* those of src and dst */
  LumaPicture src;
  LumaTarget dst;
  ImgThresholdRule rule;
};

/* Steps: products over 32 columns or rows that a window takes. */
template <bool Gaussian, int Steps> struct StripShape {
  static constexpr bool gaussian = Gaussian;
  static constexpr int steps = Steps;
  static constexpr int lead = 16 * Steps - 8;    /* of the window, both ways */
  static constexpr int chunks = 2 * Steps;       /* rows of the window */
  static constexpr int parts = Gaussian ? 2 : 1; /* bytes of a weight */
};

/* Blocks of a multiprocessor at once, for which the registers suffice. */
template <typename Group, typename Shape>
static constexpr int strip_blocks
    = Shape::steps > 1                                             ? 2
      : Shape::gaussian || Group::kBytes > 8 || Group::kPlanes > 1 ? 3
                                                                   : 4;

/* Weights */

/* Which column of 32 is column `k` of a product. */
static __device__ __forceinline__ int
strip_column (int k)
{
  return k % 16 / 4 * 8 + k / 16 * 4 + k % 4;
}

/* The same for rows: lanes have two of each half of a chunk. */
static __device__ __forceinline__ int
strip_row (int k)
{
  return k / 16 * 16 + k % 4 / 2 * 8 + k % 16 / 4 * 2 + k % 2;
}

/* Which of the 16 columns that come out is row `m` of the weights. */
static __device__ __forceinline__ int
strip_column_out (int m)
{
  return m % 8 / 2 * 4 + m / 8 * 2 + m % 2;
}

/* Weights as operands, four words for every lane: [0] is along the rows, [1]
 * down the columns. Of a Gaussian the high bytes come first. */
template <typename Shape> struct StripFragments {
  uint4 operand[2][Shape::steps][Shape::parts][32];
  StripConstants constants;
};

/* To be called by all threads of a block, which then must synchronise. */
template <typename Shape>
static __device__ void
strip_make_fragments (StripFragments<Shape> &fragments, const StripJob &job)
{
  unsigned *to = (unsigned *)fragments.operand;

  if (threadIdx.x == 0)
    fragments.constants = job.constants;

  for (int i = threadIdx.x; i < (int)(sizeof (fragments.operand) / 4);
       i += STRIP_THREADS) {
    const int word = i % 4, lane = i / 4 % 32;
    const int part = i / 128 % Shape::parts;
    const int step = i / 128 / Shape::parts % Shape::steps;
    const bool down = i / 128 / Shape::parts >= Shape::steps;
    const int m = lane / 4 + word % 2 * 8;
    const int high = Shape::gaussian && part == 0 ? 8 : 0;

    to[i] = 0;
    for (int j = 0; j < 4; j++) {
      const int k = lane % 4 * 4 + word / 2 * 16 + j;
      const int at
          = down ? strip_row (k) - m : strip_column (k) - strip_column_out (m);
      const int distance = abs (at + step * 32 - Shape::lead);

      if (distance <= job.radius)
        to[i] |= (job.weight[distance] >> high & 0xff) << 8 * j;
    }
  }
}

template <typename Shape> struct StripOperand {
  unsigned word[Shape::steps][Shape::parts][4];

  __device__ __forceinline__ void read (
      const uint4 operand[Shape::steps][Shape::parts][32])
  {
#pragma unroll
    for (int s = 0; s < Shape::steps; s++)
#pragma unroll
      for (int p = 0; p < Shape::parts; p++) {
        const uint4 v = operand[s][p][threadIdx.x % 32];

        word[s][p][0] = v.x, word[s][p][1] = v.y;
        word[s][p][2] = v.z, word[s][p][3] = v.w;
      }
  }
};

/* The picture */

static __device__ __forceinline__ unsigned
pack_bytes (unsigned a, unsigned b, unsigned c, unsigned d)
{
  return a | b << 8 | c << 16 | d << 24;
}

/* The luma of pixels x..x + 7 of a row; beyond the edges that of the nearest
 * pixel. Slow, for edges and odd alignments. */
template <typename Group>
static __device__ uint2
strip_slow_words (const LumaPicture &picture, int x, int row)
{
  const int last = picture.width - 1;
  unsigned long long words = 0;

  if (x + 7 <= 0 || x >= last) {
    const unsigned word
        = luma_at<Group> (picture, x < 0 ? 0 : last, row) * 0x01010101u;

    return make_uint2 (word, word);
  }
#pragma unroll 1
  for (int i = 0; i < 8; i++)
    words |= (unsigned long long)luma_at<Group> (
                 picture, img_clamp (x + i, 0, last), row)
             << 8 * i;
  return make_uint2 ((unsigned)words, (unsigned)(words >> 32));
}

/* What a lane reads of a chunk: two rows, 8 apart, and 8 pixels of every 32
 * columns of the window. */
template <typename Group, int Steps> struct StripPixels {
  Group group[2][Steps];
  const unsigned char *column[Group::kPlanes]; /* the first, of row 0 */
  int x, y;                                    /* the same; may lie outside */
  bool fast[Steps];

  __device__ __forceinline__ StripPixels (const StripJob &job, int x, int y)
      : x (x), y (y)
  {
#pragma unroll
    for (int p = 0; p < Group::kPlanes; p++)
      column[p] = job.src.data[p] + x * Group::kStep;
#pragma unroll
    for (int s = 0; s < Steps; s++)
      fast[s] = job.src.aligned && x + 32 * s >= 0
                && x + 32 * s + 8 <= job.src.width;
  }

  __device__ __forceinline__ int row (const StripJob &job, int i) const
  {
    return max (min (y + 8 * i, job.src.height - 1), 0);
  }

  /* Starts to read the chunk whose first row, of the lane's, is y. */
  __device__ __forceinline__ void load (const StripJob &job)
  {
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
      for (int p = 0; p < Group::kPlanes; p++) {
        const unsigned char *from
            = ptx_row (column[p], row (job, i), job.src_stride[p]);

#pragma unroll
        for (int s = 0; s < Steps; s++)
          if (fast[s])
            group[i][s].load_vectors (
                group[i][s].word[p], from + 32 * s * Group::kStep);
      }
  }

  /* The luma of both rows. */
  __device__ __forceinline__ void get (
      const StripJob &job, uint2 word[2][Steps]) const
  {
#pragma unroll
    for (int s = 0; s < Steps; s++)
      if (fast[s]) {
#pragma unroll
        for (int i = 0; i < 2; i++)
          word[i][s] = make_uint2 (luma_bytes (job.src, group[i][s], 0),
              luma_bytes (job.src, group[i][s], 4));
      } else {
#pragma unroll
        for (int i = 0; i < 2; i++)
          word[i][s]
              = strip_slow_words<Group> (job.src, x + 32 * s, row (job, i));
      }
  }
};

/* The products */

/* A chunk summed along the rows, as operand of the second product: a word of
 * high and one of low bytes for both tiles of eight columns. And the luma of
 * the four columns that the lane writes, for both halves of the chunk. */
struct StripChunk {
  unsigned high[2], low[2];
  unsigned luma[2];
};

/* From the lane that has read them, the columns lead + 4 t of the window. */
template <int Steps>
static __device__ __forceinline__ unsigned
strip_own_luma (const uint2 word[Steps])
{
  const int t = threadIdx.x % 4;
  const int from = Steps % 2 == 1 ? 1 + t / 2 : t / 2 == 0 ? 3 : 0;
  const uint2 mine
      = Steps % 2 == 1 || t == 0 ? word[Steps / 2] : word[(Steps - 1) / 2];
  const unsigned even = __shfl_sync (~0u, mine.x, from, 4);
  const unsigned odd = __shfl_sync (~0u, mine.y, from, 4);

  return t % 2 ? odd : even;
}

/* Splits four sums, of which 16 bits count, into their high and low bytes. */
template <bool Gaussian>
static __device__ __forceinline__ void
strip_split (const int *first, const int *second, unsigned *high, unsigned *low)
{
  const unsigned two = Gaussian ? 0x6521 : 0x5410;
  const unsigned a = __byte_perm (first[0], first[1], two);
  const unsigned b = __byte_perm (second[0], second[1], two);

  *high = __byte_perm (a, b, 0x7531);
  *low = __byte_perm (a, b, 0x6420);
}

template <typename Shape, typename Pixels>
static __device__ __forceinline__ StripChunk
strip_sum_rows (const StripJob &job, const StripOperand<Shape> &weights,
    const StripConstants &constants, const Pixels &pixels)
{
  uint2 word[2][Shape::steps];
  StripChunk chunk;
  int sum[2][4];

  pixels.get (job, word);
#pragma unroll
  for (int i = 0; i < 2; i++) {
    int high[4] = {}, low[4];

#pragma unroll
    for (int j = 0; j < 4; j++)
      low[j] = constants.half_row[j];
#pragma unroll
    for (int s = 0; s < Shape::steps; s++) {
      ptx_mma_bytes (high, weights.word[s][0], word[i][s].x, word[i][s].y);
      if (Shape::gaussian)
        ptx_mma_bytes (
            low, weights.word[s][Shape::parts - 1], word[i][s].x, word[i][s].y);
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
      sum[i][j] = Shape::gaussian ? high[j] * 256 + low[j] : high[j];
    chunk.luma[i] = strip_own_luma<Shape::steps> (word[i]);
  }
#pragma unroll
  for (int tile = 0; tile < 2; tile++)
    strip_split<Shape::gaussian> (sum[0] + 2 * tile, sum[1] + 2 * tile,
        &chunk.high[tile], &chunk.low[tile]);
  return chunk;
}

/* Sums the window's chunks down the columns: for a tile of eight columns the
 * lane's two columns of row y + lane / 4 and of that + 8. */
template <typename Shape>
static __device__ __forceinline__ void
strip_sum_columns (unsigned *sum, const StripOperand<Shape> &weights,
    const StripConstants &constants, const StripChunk *chunk, int tile)
{
  int high[4] = {}, middle[4] = {}, low[4];

#pragma unroll
  for (int j = 0; j < 4; j++)
    low[j] = constants.start[j];
#pragma unroll
  for (int s = 0; s < Shape::steps; s++) {
    const StripChunk &a = chunk[2 * s], &b = chunk[2 * s + 1];
    const unsigned *least = weights.word[s][Shape::parts - 1];

    if (Shape::gaussian) {
      ptx_mma_bytes (high, weights.word[s][0], a.high[tile], b.high[tile]);
      ptx_mma_bytes (middle, weights.word[s][0], a.low[tile], b.low[tile]);
    }
    ptx_mma_bytes (middle, least, a.high[tile], b.high[tile]);
    ptx_mma_bytes (low, least, a.low[tile], b.low[tile]);
  }
#pragma unroll
  for (int j = 0; j < 4; j++) {
    sum[j] = (unsigned)middle[j] * 256 + (unsigned)low[j];
    if (Shape::gaussian)
      sum[j] += (unsigned)high[j] << 16;
  }
}

/* What is written */

/* sum + the byte `j`, a constant, of `word` times what `pair` has, signed, in
 * its low and in its high half. */
static __device__ __forceinline__ unsigned
add_product (unsigned sum, unsigned word, int j, const unsigned *pair)
{
  return j < 2 ? ptx_dp2a<false> (pair[j % 2], word, sum)
               : ptx_dp2a<true> (pair[j % 2], word, sum);
}

/* The levels of four pixels if a rule truncates, from what each is compared
 * with. */
static __device__ __forceinline__ unsigned
strip_truncate (const StripJob &job, unsigned luma, const int *at)
{
  unsigned level[4];

#pragma unroll
  for (int j = 0; j < 4; j++)
    level[j] = img_threshold_apply (&job.rule, luma >> 8 * j & 0xff, at[j]);
  return pack_bytes (level[0], level[1], level[2], level[3]);
}

/* The levels of four pixels: above are those whose `difference` is negative. */
static __device__ __forceinline__ unsigned
strip_select (
    const StripConstants &constants, unsigned luma, const unsigned *difference)
{
  const unsigned above
      = __byte_perm (ptx_sign_bytes (difference[0], difference[1]),
          ptx_sign_bytes (difference[2], difference[3]), 0x5410);

  return (above & ((luma & constants.keep_above) | constants.set_above))
         | (~above & ((luma & constants.keep_below) | constants.set_below));
}

/* What four pixels are compared with, from the sums of their boxes plus
 * bias. */
static __device__ __forceinline__ void
strip_box_thresholds (const StripJob &job, const unsigned *sum, int *at)
{
#pragma unroll
  for (int j = 0; j < 4; j++)
    at[j] = (int)__umulhi (sum[j] - job.bias + job.half, job.magic)
            - job.rule.offset;
}

/* The same from Gaussian sums plus 2^23, a half: rounded to the nearest, ties
 * to even, as img_gauss_second does. */
static __device__ __forceinline__ void
strip_gauss_thresholds (const StripJob &job, const StripConstants &constants,
    const unsigned *sum, int *at)
{
  /* a tie is an integer now, and down to an even one if one is taken off; of
   * other sums that does not change the integer part */
  const unsigned odd = __byte_perm (__byte_perm (sum[0], sum[1], 0x0073),
                           __byte_perm (sum[2], sum[3], 0x0073), 0x5410)
                       & 0x01010101;

#pragma unroll
  for (int j = 0; j < 4; j++)
    at[j] = (int)(add_product (sum[j], odd, j, constants.minus) >> 24)
            - job.rule.offset;
}

/* The levels of four pixels of two rows, from their sums. */
template <bool Gaussian>
static __device__ __forceinline__ void
strip_levels (const StripJob &job, const StripConstants &constants,
    const unsigned *luma, const unsigned sum[2][4], unsigned *level)
{
  int at[2][4];
  unsigned difference[4];

  if (Gaussian)
#pragma unroll
    for (int i = 0; i < 2; i++)
      strip_gauss_thresholds (job, constants, sum[i], at[i]);
  if (job.rule.truncate) {
#pragma unroll
    for (int i = 0; i < 2; i++) {
      if (!Gaussian)
        strip_box_thresholds (job, sum[i], at[i]);
      level[i] = strip_truncate (job, luma[i], at[i]);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < 2; i++) {
#pragma unroll
    for (int j = 0; j < 4; j++)
      difference[j] = add_product (Gaussian ? (unsigned)at[i][j] : sum[i][j],
          luma[i], j, constants.minus);
    level[i] = strip_select (constants, luma[i], difference);
  }
}

/* The four columns that a lane writes. */
template <typename Group> struct StripColumns {
  typedef typename Group::Four Four;
  unsigned char *column[Group::kPlanes]; /* the first, of row 0 */
  int x;
  bool whole;

  __device__ __forceinline__ StripColumns (const StripJob &job, int x)
      : x (x), whole (job.dst.aligned && x + 4 <= job.src.width)
  {
#pragma unroll
    for (int p = 0; p < Group::kPlanes; p++)
      column[p] = job.dst.data[p] + x * Group::kStep;
  }

  /* Writes the rows `y` and y + 8. */
  __device__ __forceinline__ void store (
      const StripJob &job, int y, const unsigned *level) const
  {
    if (whole) {
#pragma unroll
      for (int i = 0; i < 2; i++)
        if (y + 8 * i < job.src.height)
          store_words (job, y + 8 * i, level[i]);
    } else {
#pragma unroll 1
      for (int i = 0; i < 8; i++)
        if (x + i % 4 < job.src.width && y + i / 4 * 8 < job.src.height)
          write_pixel<Group> (job.src, job.dst, x + i % 4, y + i / 4 * 8,
              (i < 4 ? level[0] : level[1]) >> i % 4 * 8 & 0xff);
    }
  }

  __device__ __forceinline__ void store_words (
      const StripJob &job, int y, unsigned level) const
  {
    unsigned word[Four::kWords];
    Four old;

    if constexpr (Group::kStep == 4)
      old.load (job.src, y, x / 4);
    pack_four_levels (job.dst, old, level, word);
#pragma unroll
    for (int p = 0; p < Group::kPlanes; p++)
      store_vectors<Four> (ptx_row (column[p], y, job.dst_stride[p]), word);
  }
};

/* Writes 16 rows; the lane's are `y` and y + 8. */
template <typename Shape, typename Columns>
static __device__ __forceinline__ void
strip_write (const StripJob &job, const StripOperand<Shape> &weights,
    const StripConstants &constants, const StripChunk *chunk,
    const Columns &columns, int y)
{
  /* the window starts half a chunk above a chunk that comes out */
  const unsigned luma[2]
      = { chunk[Shape::steps - 1].luma[1], chunk[Shape::steps].luma[0] };
  unsigned tile[2][4], sum[2][4], level[2];

#pragma unroll
  for (int i = 0; i < 2; i++)
    strip_sum_columns (tile[i], weights, constants, chunk, i);
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
      sum[i][j] = tile[j / 2][2 * i + j % 2];
  strip_levels<Shape::gaussian> (job, constants, luma, sum, level);
  columns.store (job, y, level);
}

template <typename Group, typename Shape>
__global__ void
__launch_bounds__ (STRIP_THREADS, strip_blocks<Group, Shape>)
    strip_kernel (const __grid_constant__ StripJob job)
{
  __shared__ StripFragments<Shape> fragments;
  const int lane = threadIdx.x % 32;
  const int x = (blockIdx.x * STRIP_WARPS + threadIdx.x / 32) * 16;
  const int top = blockIdx.y * job.chunks * 16;

  start_next_kernel ();
  strip_make_fragments<Shape> (fragments, job);
  __syncthreads ();
  wait_for_kernel_before ();
  if (x >= job.src.width)
    return;

  StripPixels<Group, Shape::steps> pixels (
      job, x - Shape::lead + lane % 4 * 8, top - Shape::lead + lane / 4);
  const StripColumns<Group> columns (job, x + lane % 4 * 4);
  const StripConstants constants = fragments.constants;
  StripOperand<Shape> along, down;
  StripChunk chunk[Shape::chunks];
  int y = top + lane / 4;

  along.read (fragments.operand[0]);
  down.read (fragments.operand[1]);
  pixels.load (job);
#pragma unroll
  for (int i = 1; i < Shape::chunks; i++) {
    chunk[i] = strip_sum_rows (job, along, constants, pixels);
    pixels.y += 16;
    pixels.load (job);
  }
#pragma unroll 1
  for (int n = min (job.chunks, (job.src.height - top + 15) / 16); n > 0; n--) {
#pragma unroll
    for (int i = 1; i < Shape::chunks; i++)
      chunk[i - 1] = chunk[i];
    chunk[Shape::chunks - 1] = strip_sum_rows (job, along, constants, pixels);
    pixels.y += 16;
    pixels.load (job); /* while the rest is worked on */
    strip_write (job, down, constants, chunk, columns, y);
    y += 16;
  }
}

/* Host side */

/* Into how many chunks to cut strips so that all blocks run at once. */
static int
strip_chunks (int blocks_across, int chunks_down, int at_once)
{
  const int parts = img_clamp (at_once / blocks_across, 1, chunks_down);
  const int chunks = (chunks_down + parts - 1) / parts;

  return chunks > STRIP_MIN_CHUNKS ? chunks : STRIP_MIN_CHUNKS;
}

template <typename Shape>
static void
strip_start (
    StripJob *job, const ImgView *src, int processors, cudaStream_t stream)
{
  const int across = (src->width + 16 * STRIP_WARPS - 1) / (16 * STRIP_WARPS);
  const int down = (src->height + 15) / 16;

  luma_dispatch (src, [&] (auto group) {
    typedef typename decltype (group)::Eight Group;

    if constexpr (sizeof (typename Group::Component) == 1) {
      job->chunks = strip_chunks (
          across, down, processors * strip_blocks<Group, Shape>);
      launch (strip_kernel<Group, Shape>,
          dim3 (across, (down + job->chunks - 1) / job->chunks),
          dim3 (STRIP_THREADS), 0, stream, *job);
    }
  });
}

/* Whether strip_run takes this. */
static bool
strip_fits (
    const ImgView *src, const ImgView *dst, const ImgThresholdParams *params)
{
  for (int i = 0; i < src->n_planes; i++)
    if (src->plane[i].stride != (int)src->plane[i].stride
        || dst->plane[i].stride != (int)dst->plane[i].stride)
      return false;
  return src->depth == 8 && params->block_size / 2 <= STRIP_MAX_RADIUS;
}

template <bool Gaussian>
static void
strip_start_radius (
    StripJob *job, const ImgView *src, int processors, cudaStream_t stream)
{
  if (job->radius <= StripShape<Gaussian, 1>::lead)
    strip_start<StripShape<Gaussian, 1>> (job, src, processors, stream);
  else if (job->radius <= StripShape<Gaussian, 2>::lead)
    strip_start<StripShape<Gaussian, 2>> (job, src, processors, stream);
  else
    strip_start<StripShape<Gaussian, 3>> (job, src, processors, stream);
}

static StripConstants
strip_constants (
    const ImgThresholdRule *rule, const AdaptiveKernel *kernel, unsigned bias)
{
  StripConstants constants = {};

  for (int j = 0; j < 4; j++) {
    constants.half_row[j] = 128; /* rounded as by img_gauss_first */
    constants.start[j] = kernel->gaussian ? 1 << 23 : (int)bias;
  }
  constants.keep_above = (rule->keep_above & 0xff) * 0x01010101u;
  constants.set_above = rule->set_above * 0x01010101u;
  constants.keep_below = (rule->keep_below & 0xff) * 0x01010101u;
  constants.set_below = rule->set_below * 0x01010101u;
  constants.minus[0] = (0u - (kernel->gaussian ? 1 : kernel->area)) & 0xffff;
  constants.minus[1] = constants.minus[0] << 16;
  return constants;
}

static bool
strip_run (const ImgView *src, const ImgView *dst, const ImgThresholdRule *rule,
    const AdaptiveKernel *kernel, int processors, cudaStream_t stream,
    ImgError *error)
{
  StripJob job = {};

  job.radius = kernel->radius;
  job.area = kernel->area;
  job.half = kernel->area / 2;
  job.magic = (unsigned)((1ull << 32) / kernel->area + 1);
  job.bias = job.half - (unsigned)rule->offset * job.area;
  job.constants = strip_constants (rule, kernel, job.bias);
  for (int i = 0; i <= kernel->radius; i++)
    job.weight[i] = kernel->weight[i];

  job.src = luma_picture (src);
  job.dst = luma_target (dst);
  for (int i = 0; i < job.dst.n_planes; i++) {
    job.src_stride[i] = (int)job.src.stride[i];
    job.dst_stride[i] = (int)job.dst.stride[i];
  }
  job.rule = *rule;
  if (kernel->gaussian)
    strip_start_radius<true> (&job, src, processors, stream);
  else
    strip_start_radius<false> (&job, src, processors, stream);
  return img_cuda_launched ("launching the adaptive threshold", error);
}

#endif
