/*
 * sobel.h on the GPU. 3x3 Sobel kernels on components of 8 bits have a kernel
 * of their own, which slides down the picture with packed arithmetic; all else
 * goes through tiles in shared memory.
 */
#include "sobel.h"

#include <cuda_fp16.h>
#include <stdint.h>

#include "launch.cuh"
#include "pointwise.cuh"
#include "ptx.cuh"
#include "sobel-arith.h"
#include "tile.cuh"

#define MAX_JOBS 3
#define SLIDE_X 32
#define SLIDE_Y 4
#define SLIDE_ROWS 8 /* of a thread */
#define SLIDE_BYTES 8
#define SLIDE_BLOCKS 5 /* at a time: registers for all rows of a thread */
#define TILE_COLUMNS 128
#define TILE_Y 2
#define TILE_ROWS 16 /* of a thread */

/* Planes of the same size, one for each blockIdx.z, or the luma of RGB. */
struct SobelJob {
  TileSource source;
  const unsigned char *src[MAX_JOBS];
  ptrdiff_t src_stride[MAX_JOBS];
  unsigned char *dst[MAX_JOBS];
  ptrdiff_t dst_stride[MAX_JOBS];
  int n_planes;
  /* components and rows that stand beyond the edges, or -1: the constant */
  int before, after, above, below;
  unsigned kept; /* bit c: channel c of a pixel is copied */
  bool vertical; /* gy is the one derivative */
  ImgSobelRule rule;
  ImgSobelKernel kernel;
};

static __device__ __forceinline__ int
sobel_finish (const SobelJob &job, float gx, float gy)
{
  return img_sobel_finish (&job.rule, job.vertical ? gy : gx, gy);
}

/* Sliding down: 3x3, 8 bits.
 *
 * Sums are integers up to 1020, kept two by two in half2 in units of 2^-24:
 * that is what a byte is as the bits of a half, without a conversion. */

#define SLIDE_UNIT 16777216.0f /* 2^24 */

/* The eight bytes of a thread and those around them. */
struct SlideWords {
  unsigned word[4];
};

/* Derivatives and smooth values along a row, of components 0 and 2, 1 and 3,
 * 4 and 6, 5 and 7. */
struct SlideSums {
  __half2 derive[4], smooth[4];
};

/* The word at component `at`, which the end of the row, or of the pixel that
 * stands after it, may cross. */
template <int Step>
static __device__ __forceinline__ unsigned
slide_edge (const SobelJob &job, const unsigned char *row, int at)
{
  const int end = job.source.width * Step;
  unsigned word = 0;

#pragma unroll 1
  for (int i = 0; i < 4; i++) {
    const int beyond = at + i - end;
    unsigned byte = job.source.outside;

    if (beyond >= Step)
      break;
    if (beyond < 0)
      byte = row[at + i];
    else if (job.after >= 0)
      byte = row[job.after + beyond];
    word |= byte << 8 * i;
  }
  return word;
}

/* The pixel at `column`, beyond an edge, as the lowest bytes of a word. */
template <int Step>
static __device__ __forceinline__ unsigned
slide_pixel (const SobelJob &job, const unsigned char *row, int column)
{
  return column < 0 ? job.source.outside * 0x01010101u
                    : pointwise_load_bytes (row + column, Step);
}

template <int Step>
static __device__ __forceinline__ SlideWords
slide_load (const SobelJob &job, int x, int y)
{
  const TileSource &source = job.source;
  const int inside = y < 0 ? job.above : y < source.height ? y : job.below;
  const int left = source.width * Step - x;
  const unsigned char *row
      = job.src[blockIdx.z] + inside * job.src_stride[blockIdx.z];
  SlideWords w;

  if (inside < 0) {
#pragma unroll
    for (int i = 0; i < 4; i++)
      w.word[i] = source.outside * 0x01010101u;
    return w;
  }
  w.word[0] = x > 0
                  ? *(const unsigned *)(row + x - 4)
                  : slide_pixel<Step> (job, row, job.before) << 8 * (4 - Step);
  if (left >= SLIDE_BYTES) {
    const uint2 v = *(const uint2 *)(row + x);

    w.word[1] = v.x;
    w.word[2] = v.y;
  } else {
    w.word[1] = slide_edge<Step> (job, row, x);
    w.word[2] = slide_edge<Step> (job, row, x + 4);
  }
  if (left >= SLIDE_BYTES + 4)
    w.word[3] = *(const unsigned *)(row + x + SLIDE_BYTES);
  else if (left == SLIDE_BYTES)
    w.word[3] = slide_pixel<Step> (job, row, job.after);
  else
    w.word[3] = slide_edge<Step> (job, row, x + SLIDE_BYTES);
  return w;
}

/* Where a thread reads the words around its own, for rows that it can read
 * without a branch: `pick` takes bytes of such a word and of the thread's
 * second one, as __byte_perm does. At an end of the row they hold the pixel
 * that stands beyond it. */
struct SlideReach {
  int before, after;
  unsigned pick_before, pick_after;
  bool plain; /* else slide_load has to read */
};

template <int Step>
static __device__ __forceinline__ SlideReach
slide_reach (const SobelJob &job, int x)
{
  const int left = job.source.width * Step - x;
  SlideReach reach = { x - 4, x + SLIDE_BYTES, 0x3210, 0x3210, false };

  /* A pixel of three bytes may cross words: in full rows only where it is the
   * second from an end, and then into the thread's second word. */
  const bool starts = job.before == Step || (job.before & 3) + Step <= 4;

  reach.plain
      = job.above >= 0 && job.below >= 0
        && (x > 0 || (job.before >= 0 && starts && (job.before | 3) < x + left))
        && (left >= SLIDE_BYTES + 4 || (left == SLIDE_BYTES && job.after >= 0));
  if (x == 0) {
    reach.before = job.before & ~3;
    reach.pick_before = (0x3210 + 0x1111 * (job.before & 3)) << 4 * (4 - Step);
  }
  if (left == SLIDE_BYTES) {
    reach.after = job.after & ~3;
    reach.pick_after = 0x3210 + 0x1111 * (job.after & 3);
  }
  return reach;
}

template <int Step>
static __device__ __forceinline__ SlideWords
slide_load_plain (const SobelJob &job, const SlideReach &reach, int x, int y)
{
  const int inside = y < 0 ? job.above : y < job.source.height ? y : job.below;
  const unsigned char *row
      = job.src[blockIdx.z] + inside * job.src_stride[blockIdx.z];
  const uint2 own = *(const uint2 *)(row + x);
  SlideWords w;

  w.word[0] = __byte_perm (
      *(const unsigned *)(row + reach.before), own.y, reach.pick_before);
  w.word[1] = own.x;
  w.word[2] = own.y;
  w.word[3] = __byte_perm (
      *(const unsigned *)(row + reach.after), own.y, reach.pick_after);
  return w;
}

static __device__ __forceinline__ __half2
slide_halves (unsigned bits)
{
  __half2_raw raw;

  raw.x = (unsigned short)bits;
  raw.y = (unsigned short)(bits >> 16);
  return raw;
}

static __device__ __forceinline__ unsigned
slide_bits (__half2 halves)
{
  const __half2_raw raw = halves;

  return raw.x | (unsigned)raw.y << 16;
}

/* The upper half of `a` and the lower one of `b`. */
static __device__ __forceinline__ unsigned
slide_between (unsigned a, unsigned b)
{
  return __byte_perm (a, b, 0x5432);
}

/* The pairs left and right of pairs 2 * i and 2 * i + 1 (words 1 and 2 have
 * i = 0 and 1), from the even and odd bytes of all words. */
template <int Step>
static __device__ __forceinline__ void
slide_neighbours (const unsigned *even, const unsigned *odd, int i,
    unsigned left[2], unsigned right[2])
{
  if (Step == 1) {
    left[0] = slide_between (odd[i], odd[i + 1]);
    right[0] = odd[i + 1];
    left[1] = even[i + 1];
    right[1] = slide_between (even[i + 1], even[i + 2]);
  } else if (Step == 3) {
    left[0] = odd[i];
    right[0] = slide_between (odd[i + 1], odd[i + 2]);
    left[1] = slide_between (even[i], even[i + 1]);
    right[1] = even[i + 2];
  } else {
    left[0] = even[i];
    right[0] = even[i + 2];
    left[1] = odd[i];
    right[1] = odd[i + 2];
  }
}

template <int Step>
static __device__ __forceinline__ SlideSums
slide_sum_row (const SlideWords &w)
{
  const __half2 two = __floats2half2_rn (2, 2);
  unsigned even[4], odd[4], left[2], right[2];
  SlideSums sums;

#pragma unroll
  for (int i = 0; i < 4; i++) {
    even[i] = w.word[i] & 0x00ff00ff;
    odd[i] = __byte_perm (w.word[i], 0, 0x4341);
  }
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const unsigned centre[2] = { even[i + 1], odd[i + 1] };

    slide_neighbours<Step> (even, odd, i, left, right);
#pragma unroll
    for (int k = 0; k < 2; k++) {
      const __half2 l = slide_halves (left[k]), r = slide_halves (right[k]);

      sums.derive[2 * i + k] = __hsub2 (r, l);
      sums.smooth[2 * i + k]
          = __hfma2 (slide_halves (centre[k]), two, __hadd2 (l, r));
    }
  }
  return sums;
}

/* The value of one component, in the lowest byte; adding 1.5 * 2^23, and black,
 * which is even, rounds to nearest, ties to even. */
template <ImgSobelRuleKind Kind>
static __device__ __forceinline__ unsigned
slide_finish (const SobelJob &job, float gx, float gy)
{
  ImgSobelRule rule = job.rule;

  rule.kind = Kind;
  const float value = img_sobel_value (
      &rule, (job.vertical ? gy : gx) * SLIDE_UNIT, gy * SLIDE_UNIT);
  return __float_as_uint (fminf (fmaxf (value, 0.0f), (float)job.rule.range)
                          + (12582912.0f + job.rule.black));
}

/* The length of a vector, rounded, in the lower half. A fast root is as good
 * as an exact one: see sobel-arith.h. */
static __device__ __forceinline__ unsigned
slide_length (float gx, float gy)
{
  return __float_as_uint (
      __fmaf_rn (ptx_sqrt (gx * gx + gy * gy), SLIDE_UNIT, 12582912.0f));
}

/* Two components as the halves of a word, with scale 1 and delta 0. All but
 * lengths are integers below 2048, which as halves have their own bits. */
template <ImgSobelRuleKind Kind>
static __device__ __forceinline__ unsigned
slide_plain_pair (const SobelJob &job, __half2 gx, __half2 gy)
{
  unsigned pair;

  if (Kind == IMG_SOBEL_RULE_L2) {
    const float2 x = __half22float2 (gx), y = __half22float2 (gy);

    pair = __byte_perm (
        slide_length (x.x, y.x), slide_length (x.y, y.y), 0x5410);
  } else if (Kind == IMG_SOBEL_RULE_L1) {
    pair = slide_bits (__hadd2 (__habs2 (gx), __habs2 (gy)));
  } else {
    pair = slide_bits (job.vertical ? gy : gx);
    pair = Kind == IMG_SOBEL_RULE_ABS ? pair & 0x7fff7fff : __vmaxs2 (pair, 0);
  }
  return __vminu2 (pair, job.rule.range * 0x10001u) + job.rule.black * 0x10001u;
}

/* Four components, from their two pairs of sums in three rows. */
template <ImgSobelRuleKind Kind, bool Plain>
static __device__ __forceinline__ unsigned
slide_word (const SobelJob &job, const SlideSums &above, const SlideSums &here,
    const SlideSums &below, int i)
{
  const __half2 two = __floats2half2_rn (2, 2);
  unsigned pair[2];

#pragma unroll
  for (int k = 0; k < 2; k++) {
    const int at = 2 * i + k;
    const __half2 gx = __hfma2 (
        here.derive[at], two, __hadd2 (above.derive[at], below.derive[at]));
    const __half2 gy = __hsub2 (below.smooth[at], above.smooth[at]);

    if (Plain) {
      pair[k] = slide_plain_pair<Kind> (job, gx, gy);
      continue;
    }
    const float2 x = __half22float2 (gx), y = __half22float2 (gy);
    pair[k] = __byte_perm (slide_finish<Kind> (job, x.x, y.x),
        slide_finish<Kind> (job, x.y, y.y), 0x5410);
  }
  return __byte_perm (pair[0], pair[1], 0x6240);
}

/* Writes row `y`; `copied` are the bits that stay as they are in `centre`. */
template <int Step>
static __device__ __forceinline__ void
slide_store (const SobelJob &job, int x, int y, unsigned copied,
    const SlideWords &centre, uint2 v)
{
  const int left = job.source.width * Step - x;
  unsigned char *to = job.dst[blockIdx.z] + y * job.dst_stride[blockIdx.z] + x;

  if (Step == 4) {
    v.x = (v.x & ~copied) | (centre.word[1] & copied);
    v.y = (v.y & ~copied) | (centre.word[2] & copied);
  }
  if (left >= SLIDE_BYTES) {
    *(uint2 *)to = v;
  } else {
    pointwise_store_bytes (to, v.x, left);
    pointwise_store_bytes (to + 4, v.y, left - 4);
  }
}

static __device__ __forceinline__ unsigned
slide_copied (unsigned kept)
{
  unsigned bits = 0;

#pragma unroll
  for (int c = 0; c < 4; c++)
    bits |= kept >> c & 1 ? 0xffu << 8 * c : 0;
  return bits;
}

/* Slides down SLIDE_ROWS rows; `load` reads one. All are read first, so that
 * the thread waits for memory once. */
template <int Step, ImgSobelRuleKind Kind, bool Plain, typename Load>
static __device__ __forceinline__ void
slide_down (const SobelJob &job, int x, int y, const Load &load)
{
  const unsigned copied = slide_copied (job.kept);
  SlideWords words[SLIDE_ROWS + 2];
  SlideSums sums[SLIDE_ROWS + 2];

#pragma unroll
  for (int i = 0; i < SLIDE_ROWS + 2; i++)
    words[i] = load (y + i - 1);
#pragma unroll
  for (int i = 0; i < SLIDE_ROWS + 2; i++) {
    sums[i] = slide_sum_row<Step> (words[i]);
    if (i < 2)
      continue;
    const unsigned low
        = slide_word<Kind, Plain> (job, sums[i - 2], sums[i - 1], sums[i], 0);
    const unsigned high
        = slide_word<Kind, Plain> (job, sums[i - 2], sums[i - 1], sums[i], 1);
    slide_store<Step> (
        job, x, y + i - 2, copied, words[i - 1], make_uint2 (low, high));
    if (y + i - 1 >= job.source.height)
      return;
  }
}

/* Pointers and strides are multiples of SLIDE_BYTES. */
template <int Step, ImgSobelRuleKind Kind, bool Plain>
__global__ void
__launch_bounds__ (SLIDE_X *SLIDE_Y, SLIDE_BLOCKS)
    slide_kernel (const __grid_constant__ SobelJob job)
{
  const int x = (blockIdx.x * SLIDE_X + threadIdx.x) * SLIDE_BYTES;
  const int y = (blockIdx.y * SLIDE_Y + threadIdx.y) * SLIDE_ROWS;

  kernel_begin ();
  if (x >= job.source.width * Step || y >= job.source.height)
    return;
  const SlideReach reach = slide_reach<Step> (job, x);

  if (reach.plain)
    slide_down<Step, Kind, Plain> (job, x, y,
        [&] (int row) { return slide_load_plain<Step> (job, reach, x, row); });
  else
    slide_down<Step, Kind, Plain> (
        job, x, y, [&] (int row) { return slide_load<Step> (job, x, row); });
}

/* Tiles */

/* Sums of 2 * Radius + 1 values, of which value (i) is the one at distance
 * i. */
template <int Radius, typename Value>
static __device__ __forceinline__ int
sum_smooth (const SobelJob &job, const Value &value)
{
  int sum = job.kernel.smooth[0] * value (0);

#pragma unroll
  for (int i = 1; i <= Radius; i++)
    sum += job.kernel.smooth[i] * (value (i) + value (-i));
  return sum;
}

template <int Radius, typename Value>
static __device__ __forceinline__ int
sum_derive (const SobelJob &job, const Value &value)
{
  int sum = 0;

#pragma unroll
  for (int i = 1; i <= Radius; i++)
    sum += job.kernel.derive[i] * (value (i) - value (-i));
  return sum;
}

static __device__ __forceinline__ void
tile_store_component (
    unsigned char *row, int x, const TileSource &source, int value)
{
  if (source.component_bytes == 1)
    row[x] = (unsigned char)value;
  else
    ((uint16_t *)row)[x] = (uint16_t)(value << source.shift);
}

/* Writes `value` to every colour channel of pixel `x`, and copies the others,
 * which only packed pixels have. */
static __device__ __forceinline__ void
tile_store_luma (const SobelJob &job, int x, int y, int value)
{
  const int bytes = job.source.pixel_bytes;
  const size_t at = (size_t)x * bytes;

  for (int i = 0; i < job.n_planes; i++)
    for (int c = 0; c < bytes; c++)
      job.dst[i][y * job.dst_stride[i] + at + c]
          = job.kept >> c & 1 ? job.src[i][y * job.src_stride[i] + at + c]
                              : (unsigned char)value;
}

/* Writes component `x` of row `y`, whose value in the source is `centre`. */
static __device__ __forceinline__ void
tile_store (const SobelJob &job, int x, int y, int centre, int gx, int gy)
{
  const int value = sobel_finish (job, (float)gx, (float)gy);
  const bool kept = job.kept && job.kept >> x % job.source.step & 1;

  if (job.source.luma)
    tile_store_luma (job, x, y, value);
  else
    tile_store_component (job.dst[blockIdx.z] + y * job.dst_stride[blockIdx.z],
        x, job.source, kept ? centre : value);
}

template <int Radius>
__global__ void
__launch_bounds__ (TILE_COLUMNS *TILE_Y)
    tile_kernel (const __grid_constant__ SobelJob job)
{
  const int pitch = TILE_COLUMNS + 2 * Radius * IMG_MAX_CHANNELS;
  __shared__ uint16_t tile[TILE_Y * TILE_ROWS + 2 * Radius][pitch];
  const int step = job.source.step, margin = Radius * IMG_MAX_CHANNELS;
  const int left = blockIdx.x * TILE_COLUMNS, x = left + threadIdx.x;
  const int top = blockIdx.y * TILE_Y * TILE_ROWS;
  const int first = threadIdx.y * TILE_ROWS, column = threadIdx.x + margin;
  int derive[TILE_ROWS + 2 * Radius], smooth[TILE_ROWS + 2 * Radius];
  TileSource source = job.source;

  kernel_begin ();
  if (!source.luma) {
    source.data[0] = job.src[blockIdx.z];
    source.stride[0] = job.src_stride[blockIdx.z];
  }
  tile_load (source, left - margin, top - Radius,
      TILE_Y * TILE_ROWS + 2 * Radius, pitch, &tile[0][0]);
  __syncthreads ();
  if (x >= source.width * step)
    return;
#pragma unroll
  for (int i = 0; i < TILE_ROWS + 2 * Radius; i++) {
    const uint16_t *row = tile[first + i];
    const auto along = [&] (int k) -> int { return row[column + k * step]; };
    const int y = i - 2 * Radius;

    derive[i] = sum_derive<Radius> (job, along);
    smooth[i] = sum_smooth<Radius> (job, along);
    if (y < 0 || top + first + y >= source.height)
      continue;
    tile_store (job, x, top + first + y, tile[first + y + Radius][column],
        sum_smooth<Radius> (
            job, [&] (int k) { return derive[y + Radius + k]; }),
        sum_derive<Radius> (
            job, [&] (int k) { return smooth[y + Radius + k]; }));
  }
}

/* Host side */

static int
divide_up (int a, int b)
{
  return (a + b - 1) / b;
}

/* The job reads and writes the planes that hold colour. */
static void
add_planes (SobelJob *job, const ImgView *src, const ImgView *dst)
{
  const int n = src->model == IMG_MODEL_RGB ? src->n_planes : 1;

  for (int i = 0; i < n; i++) {
    const ImgPlane *plane = &src->plane[i];

    if (n > 1 && !img_channel_is_color (plane->channel[0]))
      continue;
    job->src[job->n_planes] = (const unsigned char *)plane->data;
    job->src_stride[job->n_planes] = plane->stride;
    job->dst[job->n_planes] = (unsigned char *)dst->plane[i].data;
    job->dst_stride[job->n_planes++] = dst->plane[i].stride;
    for (int c = 0; c < plane->channels; c++)
      if (!img_channel_is_color (plane->channel[c]))
        job->kept |= 1u << c;
  }
}

static SobelJob
make_job (const ImgView *src, const ImgView *dst, const ImgSobelParams *params)
{
  const bool luma
      = src->model == IMG_MODEL_RGB && img_sobel_uses_luma (src, params);
  SobelJob job = {};

  job.source = luma ? tile_luma_source (src, params->border)
                    : tile_source (src, &src->plane[0], params->border);
  job.before = tile_column (job.source, -job.source.step);
  job.after = tile_column (job.source, job.source.width * job.source.step);
  job.above = img_border_index (-1, job.source.height, params->border);
  job.below
      = img_border_index (job.source.height, job.source.height, params->border);
  job.vertical = params->direction == IMG_SOBEL_Y;
  job.rule = img_sobel_rule (src, params);
  job.kernel = img_sobel_kernel (params->op, params->kernel_size);
  add_planes (&job, src, dst);
  return job;
}

static bool
slide_fits (const SobelJob *job, const ImgSobelParams *params)
{
  uintptr_t bits = 0;

  for (int i = 0; i < job->n_planes; i++)
    bits |= (uintptr_t)job->src[i] | (uintptr_t)job->src_stride[i]
            | (uintptr_t)job->dst[i] | (uintptr_t)job->dst_stride[i];
  return bits % SLIDE_BYTES == 0 && job->source.component_bytes == 1
         && job->source.step != 2 && !job->source.luma
         && params->op == IMG_SOBEL_SOBEL && params->kernel_size == 3;
}

template <int Step, ImgSobelRuleKind Kind>
static void
start_slide_rule (const SobelJob *job, cudaStream_t stream)
{
  const dim3 block (SLIDE_X, SLIDE_Y);
  const dim3 grid (divide_up (job->source.width * Step, SLIDE_X * SLIDE_BYTES),
      divide_up (job->source.height, SLIDE_Y * SLIDE_ROWS), job->n_planes);

  launch (job->rule.scale == 1 && job->rule.delta == 0
              ? slide_kernel<Step, Kind, true>
              : slide_kernel<Step, Kind, false>,
      grid, block, 0, stream, *job);
}

template <int Step>
static void
start_slide (const SobelJob *job, cudaStream_t stream)
{
  switch (job->rule.kind) {
  case IMG_SOBEL_RULE_L2:
    start_slide_rule<Step, IMG_SOBEL_RULE_L2> (job, stream);
    break;
  case IMG_SOBEL_RULE_L1:
    start_slide_rule<Step, IMG_SOBEL_RULE_L1> (job, stream);
    break;
  case IMG_SOBEL_RULE_ABS:
    start_slide_rule<Step, IMG_SOBEL_RULE_ABS> (job, stream);
    break;
  case IMG_SOBEL_RULE_SIGNED:
    start_slide_rule<Step, IMG_SOBEL_RULE_SIGNED> (job, stream);
    break;
  }
}

static void
start_tiles (const SobelJob *job, cudaStream_t stream)
{
  const TileSource *source = &job->source;
  const dim3 block (TILE_COLUMNS, TILE_Y);
  const dim3 grid (divide_up (source->width * source->step, TILE_COLUMNS),
      divide_up (source->height, TILE_Y * TILE_ROWS),
      source->luma ? 1 : job->n_planes);

  launch (job->kernel.radius == 1   ? tile_kernel<1>
          : job->kernel.radius == 2 ? tile_kernel<2>
                                    : tile_kernel<3>,
      grid, block, 0, stream, *job);
}

static bool
prepare (void **state, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  return img_sobel_check (src, dst, (const ImgSobelParams *)params, error);
}

static bool
run (void *state, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  const ImgSobelParams *p = (const ImgSobelParams *)params;
  const SobelJob job = make_job (src, dst, p);

  if (!slide_fits (&job, p))
    start_tiles (&job, stream);
  else if (job.source.step == 1)
    start_slide<1> (&job, stream);
  else if (job.source.step == 3)
    start_slide<3> (&job, stream);
  else
    start_slide<4> (&job, stream);
  return img_cuda_launched ("launching sobel", error)
         && pointwise_fill_others (src, dst, stream, error);
}

static void
release (void *state)
{
}

extern "C" const ImgOperation img_sobel_cuda
    = { "sobel", sizeof (ImgSobelParams), false, prepare, run, release };
