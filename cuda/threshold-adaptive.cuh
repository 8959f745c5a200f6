/*
 * Adaptive thresholds. Pictures of 8 bits with blocks of up to 57 pixels take
 * one pass: a block of threads has a tile of luma with its halo in shared
 * memory, sums rows with four products of bytes at a time, then columns. Other
 * depths and blocks take two passes, with the sums of the rows in scratch.
 */
#ifndef IMG_THRESHOLD_ADAPTIVE_CUH
#define IMG_THRESHOLD_ADAPTIVE_CUH

#include "threshold-levels.cuh"

#define TILE_GROUPS                                                            \
  32 /* groups of four pixels, halo included: one per lane                     \
      */
#define TILE_WARPS 8
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define BOX_BLOCKS 4 /* of a multiprocessor at once */
#else
#define BOX_BLOCKS 6
#endif
#define TILE_ROWS 64    /* without the halo */
#define TILE_MAX_HALO 7 /* groups on each side */
#define TILE_MAX_RADIUS (4 * TILE_MAX_HALO)
#define TILE_MAX_WORDS (2 * TILE_MAX_HALO + 1)
#define TILE_OWN_ROWS (TILE_ROWS / TILE_WARPS)
#define COLUMN_STEP 4      /* rows that share the loads of a Gaussian column */
#define SMALL_BOX_RADIUS 7 /* 255 times the area fits 16 bits */
#define ROWS_THREADS 256
#define COLUMNS_X 32
#define COLUMNS_Y 8
#define COLUMNS_TILE 64

/* What depends on block and method alone; prepare computes it. */
struct AdaptiveKernel {
  int radius, area;
  bool gaussian;
  uint32_t weight[IMG_GAUSS_MAX_RADIUS + 1];
};

/* The kernel once for each pixel of a group, as weights of the bytes of the
 * words around it: four bytes in `low`, or two times two of 16 bits. */
struct AdaptiveTile {
  int radius, halo;
  unsigned area, half, magic; /* box: mean = (sum + half) * magic >> 32 */
  unsigned select_in;  /* box: bytes of its last two words that come in, */
  unsigned select_out; /* and of its first two that go out, when it moves */
  unsigned bias; /* box: value > mean - offset if sum + bias < value * area */
  unsigned keep_above, set_above; /* of the rule, for four bytes */
  unsigned keep_below, set_below;
  unsigned low[TILE_MAX_WORDS][4];
  unsigned high[TILE_MAX_WORDS][4];
  unsigned column[2 * (TILE_MAX_RADIUS + COLUMN_STEP)];
  LumaPicture src;
  LumaTarget dst;
  ImgThresholdRule rule;
};

static __device__ __forceinline__ unsigned
pack_bytes (unsigned a, unsigned b, unsigned c, unsigned d)
{
  return a | b << 8 | c << 16 | d << 24;
}

/* The luma of pixels x..x + 3 of a row, x being a multiple of 4; beyond the
 * edges that of the nearest pixel. */
template <typename Group>
static __device__ __forceinline__ unsigned
load_luma_word (const LumaPicture &picture, int x, int y)
{
  if (x < 0 || x + 4 > picture.width) {
    const int last = picture.width - 1;
    unsigned word = 0;

#pragma unroll 1
    for (int i = 0; i < 4; i++)
      word |= luma_at<Group> (picture, img_clamp (x + i, 0, last), y) << 8 * i;
    return word;
  }
  typename Group::Four group;

  group.load (picture, y, x / 4);
  if constexpr (Group::kStep == 1 && Group::kPlanes == 1)
    return group.word[0][0];
  else
    return pack_bytes (group.luma (picture, 0), group.luma (picture, 1),
        group.luma (picture, 2), group.luma (picture, 3));
}

/* Fills the tile whose first pixel, halo included, is (x, y). */
template <typename Group>
static __device__ void
load_tile (const AdaptiveTile &tile, int x, int y, unsigned *luma)
{
  const int rows = TILE_ROWS + 2 * tile.radius;
  const int last = tile.src.height - 1;

  for (int row = threadIdx.y; row < rows; row += 4 * TILE_WARPS) {
    unsigned word[4];

#pragma unroll
    for (int k = 0; k < 4; k++)
      word[k] = load_luma_word<Group> (tile.src, x + 4 * (int)threadIdx.x,
          img_clamp (y + row + k * TILE_WARPS, 0, last));
#pragma unroll
    for (int k = 0; k < 4; k++)
      if (row + k * TILE_WARPS < rows)
        luma[(row + k * TILE_WARPS) * TILE_GROUPS + threadIdx.x] = word[k];
  }
}

/* sum + the products of unsigned bytes and signed weights. */
static __device__ __forceinline__ unsigned
add_signed_bytes (unsigned bytes, unsigned weights, unsigned sum)
{
  asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(bytes), "r"(weights));
  return sum;
}

/* Sums the four boxes of a row: the first one, whose words start at `data`,
 * then what the others gain and lose, from its two first and last words. */
static __device__ __forceinline__ void
sum_box_row (const AdaptiveTile &tile, const unsigned *data, unsigned *sum)
{
  const int last = 2 * tile.halo;
  const unsigned out0 = data[0], out1 = data[1];
  const unsigned in0 = data[last - 1], in1 = data[last];

  sum[0] = __dp4a (out0, tile.low[0][0], 0u);
  sum[0] = __dp4a (in1, tile.low[last][0], sum[0]);
  sum[0] = __dp4a (in0, tile.low[last - 1][0], sum[0]);
  if (last > 2)
    sum[0] = __dp4a (out1, 0x01010101u, sum[0]);
  for (int i = 2; i < last - 1; i++)
    sum[0] = __dp4a (data[i], 0x01010101u, sum[0]);

  const unsigned in = __byte_perm (in0, in1, tile.select_in);
  const unsigned out = __byte_perm (out0, out1, tile.select_out);
  const unsigned both = __byte_perm (in, out, 0x5140);

  sum[1] = add_signed_bytes (both, 0x0000ff01u, sum[0]);
  sum[2] = add_signed_bytes (both, 0xff01ff01u, sum[0]);
  sum[3]
      = add_signed_bytes (out, 0x00ffffffu, __dp4a (in, 0x00010101u, sum[0]));
}

/* Whether the kernel of pixel `j` of a group weighs the two bytes of word `i`
 * that `half` tells. Always, if Radius is 0: known at run time only. */
template <int Radius>
static __device__ __forceinline__ constexpr bool
is_weighed (int i, int half, int j)
{
  const int at = 4 * (i - (Radius + 3) / 4) + 2 * half - j;

  return Radius == 0 || (at <= Radius && at + 1 >= -Radius);
}

/* Sums four rows with the weights of a Gaussian, to 16 bits. */
template <int Radius>
static __device__ __forceinline__ void
sum_gauss_rows (
    const AdaptiveTile &tile, const unsigned *data, unsigned sum[4][4])
{
  const int halo = Radius > 0 ? (Radius + 3) / 4 : tile.halo;

#pragma unroll(Radius > 0 ? 5 : 1)
  for (int i = 0; i <= 2 * halo; i++)
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const unsigned word = data[k * TILE_GROUPS + i];

#pragma unroll
      for (int j = 0; j < 4; j++) {
        if (is_weighed<Radius> (i, 0, j))
          sum[k][j] = __dp2a_lo (tile.low[i][j], word, sum[k][j]);
        if (is_weighed<Radius> (i, 1, j))
          sum[k][j] = __dp2a_hi (tile.high[i][j], word, sum[k][j]);
      }
    }
#pragma unroll
  for (int k = 0; k < 4; k++)
#pragma unroll
    for (int j = 0; j < 4; j++)
      sum[k][j] = img_gauss_first (sum[k][j], 8);
}

/* Sums the rows row..row + 3 of the tile around this lane's four pixels. */
template <bool Gaussian, int Radius>
static __device__ __forceinline__ void
sum_rows (const AdaptiveTile &tile, const unsigned *luma, uint2 *sums, int row)
{
  const unsigned *data = luma + row * TILE_GROUPS + threadIdx.x - tile.halo;
  unsigned sum[4][4] = {};

  if (Gaussian)
    sum_gauss_rows<Radius> (tile, data, sum);
  else
#pragma unroll
    for (int k = 0; k < 4; k++)
      sum_box_row (tile, data + k * TILE_GROUPS, sum[k]);
#pragma unroll
  for (int k = 0; k < 4; k++)
    sums[(row + k) * TILE_GROUPS + threadIdx.x]
        = make_uint2 (sum[k][0] | sum[k][1] << 16, sum[k][2] | sum[k][3] << 16);
}

static __device__ __forceinline__ void
add_four (unsigned *sum, uint2 row, unsigned weight)
{
  sum[0] += (row.x & 0xffff) * weight;
  sum[1] += (row.x >> 16) * weight;
  sum[2] += (row.y & 0xffff) * weight;
  sum[3] += (row.y >> 16) * weight;
}

/* In the two low bytes all bits of those of a and b that are negative. */
static __device__ __forceinline__ unsigned
negative_bytes (unsigned a, unsigned b)
{
  unsigned mask;

  asm("prmt.b32 %0, %1, %2, 0xfb;" : "=r"(mask) : "r"(a), "r"(b));
  return mask;
}

/* Where a group of a tile is written. */
template <typename Group> struct TileWriter {
  const AdaptiveTile &tile;
  int x, y; /* of the group, in row 0 of the tile without its halo */
  const unsigned *luma;

  __device__ __forceinline__ unsigned value (int row) const
  {
    return luma[(row + tile.radius) * TILE_GROUPS + threadIdx.x];
  }

  /* Writes row `row`, whose luma is `word`: a pixel is above its mean less the
   * offset if its `difference` is negative. */
  __device__ __forceinline__ void write (
      int row, unsigned word, const unsigned *difference) const
  {
    const unsigned above
        = __byte_perm (negative_bytes (difference[0], difference[1]),
            negative_bytes (difference[2], difference[3]), 0x5410);

    store (row, (above & ((word & tile.keep_above) | tile.set_above))
                    | (~above & ((word & tile.keep_below) | tile.set_below)));
  }

  /* The same from what a pixel is compared with, for any rule. */
  __device__ __forceinline__ void apply (
      int row, unsigned word, const int *at) const
  {
    unsigned level[4];

#pragma unroll
    for (int j = 0; j < 4; j++)
      level[j] = img_threshold_apply (&tile.rule, word >> 8 * j & 0xff, at[j]);
    store (row, pack_bytes (level[0], level[1], level[2], level[3]));
  }

  __device__ __forceinline__ void store (int row, unsigned level) const
  {
    typename Group::Four group;

    if (y + row >= tile.src.height || x >= tile.src.width)
      return;
    if (Group::kStep == 4)
      group.load (tile.src, y + row, x / 4);
    store_four_levels (tile.dst, group, y + row, x / 4, level);
  }
};

/* Writes a row from the sums of its four boxes plus tile.bias. */
template <typename Group>
static __device__ __forceinline__ void
write_box (const TileWriter<Group> &writer, int row, const unsigned *sum)
{
  const AdaptiveTile &tile = writer.tile;
  const unsigned word = writer.value (row);

  if (tile.rule.truncate) {
    int at[4];

#pragma unroll
    for (int j = 0; j < 4; j++)
      at[j] = (int)__umulhi (sum[j] - tile.bias + tile.half, tile.magic)
              - tile.rule.offset;
    writer.apply (row, word, at);
  } else {
    unsigned difference[4];

#pragma unroll
    for (int j = 0; j < 4; j++)
      difference[j] = sum[j] - (word >> 8 * j & 0xff) * tile.area;
    writer.write (row, word, difference);
  }
}

/* Slides down the tile's own rows first..first + TILE_OWN_ROWS - 1. */
template <typename Group>
static __device__ __forceinline__ void
box_columns (const TileWriter<Group> &writer, const uint2 *sums, int first)
{
  const AdaptiveTile &tile = writer.tile;
  const int block = 2 * tile.radius + 1;
  const uint2 *row = sums + first * TILE_GROUPS + threadIdx.x;
  unsigned sum[4] = { tile.bias, tile.bias, tile.bias, tile.bias };

  for (int i = 0; i < block - 1; i++)
    add_four (sum, row[i * TILE_GROUPS], 1);
#pragma unroll
  for (int i = 0; i < TILE_OWN_ROWS; i++) {
    add_four (sum, row[(i + block - 1) * TILE_GROUPS], 1);
    write_box (writer, first + i, sum);
    add_four (sum, row[i * TILE_GROUPS], ~0u);
  }
}

/* The same for boxes whose sums have 16 bits: two in a word. */
template <typename Group>
static __device__ __forceinline__ void
small_box_columns (
    const TileWriter<Group> &writer, const uint2 *sums, int first)
{
  const AdaptiveTile &tile = writer.tile;
  const int block = 2 * tile.radius + 1;
  const uint2 *row = sums + first * TILE_GROUPS + threadIdx.x;
  uint2 pairs = make_uint2 (0, 0);

#pragma unroll 2
  for (int i = 0; i < block - 1; i++) {
    const uint2 v = row[i * TILE_GROUPS];

    pairs.x += v.x, pairs.y += v.y;
  }
#pragma unroll
  for (int i = 0; i < TILE_OWN_ROWS; i++) {
    const uint2 in = row[(i + block - 1) * TILE_GROUPS];
    const uint2 out = row[i * TILE_GROUPS];

    pairs.x += in.x, pairs.y += in.y;
    const unsigned sum[4] = { __dp2a_lo (pairs.x, 0x0001u, tile.bias),
      __dp2a_lo (pairs.x, 0x0100u, tile.bias),
      __dp2a_lo (pairs.y, 0x0001u, tile.bias),
      __dp2a_lo (pairs.y, 0x0100u, tile.bias) };
    write_box (writer, first + i, sum);
    pairs.x -= out.x, pairs.y -= out.y;
  }
}

/* Step rows from `first` on; column[] has COLUMN_STEP - 1 zeros before the
 * kernel and as many after it, which a known Radius spares. */
template <int Radius, int Step, typename Group>
static __device__ __forceinline__ void
gauss_columns (const TileWriter<Group> &writer, const uint2 *sums, int first)
{
  const AdaptiveTile &tile = writer.tile;
  const int radius = Radius > 0 ? Radius : tile.radius;
  const uint2 *row = sums + first * TILE_GROUPS + threadIdx.x;
  unsigned sum[Step][4] = {};

#pragma unroll(Radius > 0 ? 2 * Radius + Step : 1)
  for (int i = 0; i < 2 * radius + Step; i++) {
    const uint2 v = row[i * TILE_GROUPS];

#pragma unroll
    for (int k = 0; k < Step; k++)
      if (Radius == 0 || (i >= k && i - k <= 2 * Radius))
        add_four (sum[k], v, tile.column[i + COLUMN_STEP - 1 - k]);
  }
#pragma unroll
  for (int k = 0; k < Step; k++) {
    const unsigned word = writer.value (first + k);
    unsigned difference[4];
    int at[4];

#pragma unroll
    for (int j = 0; j < 4; j++) {
      at[j] = img_gauss_second (sum[k][j], 8) - tile.rule.offset;
      difference[j] = (unsigned)at[j] - (word >> 8 * j & 0xff);
    }
    if (tile.rule.truncate)
      writer.apply (first + k, word, at);
    else
      writer.write (first + k, word, difference);
  }
}

/* Radius: that of the Gaussian, or 0. */
template <typename Group, bool Gaussian, int Radius>
__global__ void __launch_bounds__ (32 * TILE_WARPS, Gaussian ? 4 : BOX_BLOCKS)
    tile_kernel (const __grid_constant__ AdaptiveTile tile)
{
  extern __shared__ unsigned shared[];
  const int rows = (TILE_ROWS + 2 * tile.radius + 3) / 4 * 4;
  const int lane = threadIdx.x;
  const int x = (int)blockIdx.x * 4 * (TILE_GROUPS - 2 * tile.halo)
                + 4 * (lane - tile.halo);
  const int y = blockIdx.y * TILE_ROWS;
  unsigned *luma = shared;
  uint2 *sums = (uint2 *)(luma + rows * TILE_GROUPS);

  kernel_begin ();
  load_tile<Group> (tile, x - 4 * lane, y - tile.radius, luma);
  __syncthreads ();
  const bool inside = lane >= tile.halo && lane < TILE_GROUPS - tile.halo;
  if (inside)
    for (int row = 4 * threadIdx.y; row < rows; row += 4 * TILE_WARPS)
      sum_rows<Gaussian, Radius> (tile, luma, sums, row);
  __syncthreads ();
  if (!inside)
    return;
  const TileWriter<Group> writer = { tile, x, y, luma };
  const int first = threadIdx.y * TILE_OWN_ROWS;
  if constexpr (Gaussian && Radius > 0)
    gauss_columns<Radius, TILE_OWN_ROWS> (writer, sums, first);
  else if constexpr (Gaussian)
    for (int i = 0; i < TILE_OWN_ROWS; i += COLUMN_STEP)
      gauss_columns<0, COLUMN_STEP> (writer, sums, first + i);
  else if (tile.radius <= SMALL_BOX_RADIUS)
    small_box_columns (writer, sums, first);
  else
    box_columns (writer, sums, first);
}

/* The two passes */

struct AdaptivePasses {
  AdaptiveKernel kernel;
  int depth;
  unsigned *scratch; /* src.width * src.height */
  LumaPicture src;
  LumaTarget dst;
  ImgThresholdRule rule;
};

template <typename Group>
__global__ void
__launch_bounds__ (ROWS_THREADS)
    rows_kernel (const __grid_constant__ AdaptivePasses job)
{
  __shared__ unsigned short luma[ROWS_THREADS + 2 * IMG_GAUSS_MAX_RADIUS];
  const int radius = job.kernel.radius, width = job.src.width;
  const int first = blockIdx.x * ROWS_THREADS, y = blockIdx.y;
  const unsigned short *own = luma + threadIdx.x + radius;
  unsigned sum = 0;

  kernel_begin ();
  for (int i = threadIdx.x; i < ROWS_THREADS + 2 * radius; i += ROWS_THREADS)
    luma[i] = luma_at<Group> (
        job.src, img_clamp (first + i - radius, 0, width - 1), y);
  __syncthreads ();
  for (int i = 1; i <= radius; i++)
    sum += job.kernel.weight[i] * ((unsigned)own[i] + own[-i]);
  sum += job.kernel.weight[0] * own[0];
  if (job.kernel.gaussian)
    sum = img_gauss_first (sum, job.depth);
  if (first + (int)threadIdx.x < width)
    job.scratch[(size_t)y * width + first + threadIdx.x] = sum;
}

/* Writes one pixel's level to every colour channel and copies the others. */
template <typename Group>
static __device__ void
write_pixel (
    const LumaPicture &src, const LumaTarget &dst, int x, int y, unsigned level)
{
  typedef typename Group::Component T;
  const size_t at = (size_t)x * Group::kStep;

  for (int p = 0; p < Group::kPlanes; p++) {
    T *to = (T *)(dst.data[p] + y * dst.stride[p]) + at;
    const T *from = (const T *)(src.data[p] + y * src.stride[p]) + at;

    for (int c = 0; c < Group::kStep; c++)
      to[c] = Group::kStep == 4 && dst.keep >> 8 * c & 0xff
                  ? from[c]
                  : (T)(level << dst.shift);
  }
}

template <typename Group>
__global__ void
__launch_bounds__ (COLUMNS_X *COLUMNS_Y)
    columns_kernel (const __grid_constant__ AdaptivePasses job)
{
  extern __shared__ unsigned shared[];
  const int radius = job.kernel.radius;
  const int width = job.src.width, height = job.src.height;
  const int x = blockIdx.x * COLUMNS_X + threadIdx.x;
  const int top = blockIdx.y * COLUMNS_TILE;
  const float reciprocal = 1.0f / job.kernel.area;

  kernel_begin ();
  if (x < width)
    for (int i = threadIdx.y; i < COLUMNS_TILE + 2 * radius; i += COLUMNS_Y)
      shared[i * COLUMNS_X + threadIdx.x]
          = job.scratch[(size_t)img_clamp (top + i - radius, 0, height - 1)
                            * width
                        + x];
  __syncthreads ();
  for (int i = threadIdx.y; i < COLUMNS_TILE; i += COLUMNS_Y) {
    const unsigned *own = shared + (i + radius) * COLUMNS_X + threadIdx.x;
    const int y = top + i;
    unsigned sum = job.kernel.weight[0] * own[0];

    if (x >= width || y >= height)
      return;
    for (int k = 1; k <= radius; k++)
      sum += job.kernel.weight[k] * (own[k * COLUMNS_X] + own[-k * COLUMNS_X]);
    const int mean = job.kernel.gaussian
                         ? img_gauss_second (sum, job.depth)
                         : img_box_mean (sum, job.kernel.area, reciprocal);
    const int value = luma_at<Group> (job.src, x, y);
    write_pixel<Group> (job.src, job.dst, x, y,
        img_threshold_apply (&job.rule, value, mean - job.rule.offset));
  }
}

/* Host side */

static AdaptiveKernel
adaptive_kernel (const ImgThresholdParams *params)
{
  AdaptiveKernel kernel = {};

  kernel.radius = params->block_size / 2;
  kernel.area = params->block_size * params->block_size;
  kernel.gaussian = params->method == IMG_THRESHOLD_ADAPTIVE_GAUSSIAN;
  if (kernel.gaussian)
    img_gauss_weights (params->block_size, kernel.weight);
  else
    for (int i = 0; i <= kernel.radius; i++)
      kernel.weight[i] = 1;
  return kernel;
}

static bool
adaptive_fits_tile (const ImgView *view, const ImgThresholdParams *params)
{
  return view->depth == 8 && params->block_size / 2 <= TILE_MAX_RADIUS;
}

/* Spreads the kernel over the bytes of the words around a group. */
static void
fill_tile_weights (AdaptiveTile *tile, const AdaptiveKernel *kernel)
{
  const int block = 2 * kernel->radius + 1;

  for (int j = 0; j < 4; j++)
    for (int i = 0; i < block; i++) {
      const unsigned weight = kernel->weight[abs (i - kernel->radius)];
      const int at = 4 * tile->halo + j + i - kernel->radius;
      const int word = at / 4, byte = at % 4;

      if (!kernel->gaussian)
        tile->low[word][j] |= weight << 8 * byte;
      else if (byte < 2)
        tile->low[word][j] |= weight << 16 * byte;
      else
        tile->high[word][j] |= weight << 16 * (byte - 2);
    }
  for (int i = 0; i < block; i++)
    tile->column[COLUMN_STEP - 1 + i]
        = kernel->weight[abs (i - kernel->radius)];
}

static bool
run_tile (const ImgView *src, const ImgView *dst, const ImgThresholdRule *rule,
    const AdaptiveKernel *kernel, cudaStream_t stream, ImgError *error)
{
  AdaptiveTile tile = {};
  const int rows = (TILE_ROWS + 2 * kernel->radius + 3) / 4 * 4;
  const size_t shared = (size_t)rows * TILE_GROUPS * 3 * sizeof (unsigned);

  tile.radius = kernel->radius;
  tile.halo = (kernel->radius + 3) / 4;
  tile.area = kernel->area;
  tile.half = kernel->area / 2;
  tile.select_in = 0x0210 + 0x0111 * (kernel->radius + 5 - 4 * tile.halo);
  tile.select_out = 0x0210 + 0x0111 * (-kernel->radius & 3);
  tile.bias = tile.half - (unsigned)rule->offset * tile.area;
  tile.keep_above = (rule->keep_above & 0xff) * 0x01010101u;
  tile.set_above = rule->set_above * 0x01010101u;
  tile.keep_below = (rule->keep_below & 0xff) * 0x01010101u;
  tile.set_below = rule->set_below * 0x01010101u;
  tile.magic = (unsigned)((1ull << 32) / kernel->area + 1);
  fill_tile_weights (&tile, kernel);
  tile.src = luma_picture (src);
  tile.dst = luma_target (dst);
  tile.rule = *rule;

  const int width = 4 * (TILE_GROUPS - 2 * tile.halo);
  const dim3 block (TILE_GROUPS, TILE_WARPS);
  const dim3 grid ((src->width + width - 1) / width,
      (src->height + TILE_ROWS - 1) / TILE_ROWS);
  luma_dispatch (src, [&] (auto group) {
    typedef decltype (group) Group;

    if constexpr (sizeof (typename Group::Component) == 1) {
      const auto start = [&] (auto function) {
        launch (function, grid, block, shared, stream, tile);
      };

      if (!kernel->gaussian)
        start (tile_kernel<Group, false, 0>);
      else if (kernel->radius == 3)
        start (tile_kernel<Group, true, 3>);
      else if (kernel->radius == 5)
        start (tile_kernel<Group, true, 5>);
      else if (kernel->radius == 7)
        start (tile_kernel<Group, true, 7>);
      else
        start (tile_kernel<Group, true, 0>);
    }
  });
  return img_cuda_launched ("launching the adaptive threshold", error);
}

static bool
run_passes (const ImgView *src, const ImgView *dst,
    const ImgThresholdRule *rule, const AdaptiveKernel *kernel,
    unsigned *scratch, cudaStream_t stream, ImgError *error)
{
  const AdaptivePasses job = { *kernel, src->depth, scratch, luma_picture (src),
    luma_target (dst), *rule };
  const dim3 rows ((src->width + ROWS_THREADS - 1) / ROWS_THREADS, src->height);
  const dim3 columns ((src->width + COLUMNS_X - 1) / COLUMNS_X,
      (src->height + COLUMNS_TILE - 1) / COLUMNS_TILE);
  const size_t shared = (COLUMNS_TILE + 2 * (size_t)kernel->radius) * COLUMNS_X
                        * sizeof (unsigned);

  luma_dispatch (src, [&] (auto group) {
    typedef decltype (group) Group;

    launch (rows_kernel<Group>, rows, ROWS_THREADS, 0, stream, job);
    launch (columns_kernel<Group>, columns, dim3 (COLUMNS_X, COLUMNS_Y), shared,
        stream, job);
  });
  return img_cuda_launched ("launching the adaptive threshold", error);
}

/* `scratch`: of src->width * src->height, where the tile does not fit. */
static bool
adaptive_run (const ImgView *src, const ImgView *dst,
    const ImgThresholdParams *params, const AdaptiveKernel *kernel,
    unsigned *scratch, cudaStream_t stream, ImgError *error)
{
  const ImgThresholdRule rule = img_threshold_rule (src, params);

  return adaptive_fits_tile (src, params)
             ? run_tile (src, dst, &rule, kernel, stream, error)
             : run_passes (src, dst, &rule, kernel, scratch, stream, error);
}

#endif
