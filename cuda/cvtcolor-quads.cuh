/*
 * cvtcolor between the 8-bit formats that matter most, four pixels by two rows
 * in a thread and 16 bytes in an access: packed RGB, grey, and YUV 4:2:0 in
 * two or three planes. A pixel on its way is a word of R, G, B, A from its
 * lowest byte on. Columns beyond the last four are left to the general kernel.
 */
#ifndef IMG_CVTCOLOR_QUADS_CUH
#define IMG_CVTCOLOR_QUADS_CUH

#include <stdint.h>

#include "cvtcolor-arith.h"
#include "launch.cuh"

#define QUADS_WARPS 4  /* of a block, one above the other */
#define QUADS_WORDS 96 /* of a warp's pixels with three bytes each */
#define QUADS_ALL 0xffffffffu

enum QuadsKind {
  QUADS_GRAY,
  QUADS_PACKED3,
  QUADS_PACKED4,
  QUADS_NV12, /* and NV21 */
  QUADS_I420, /* and YV12 */
  QUADS_NONE
};

/* What no thread works out for itself. */
struct QuadsJob {
  ImgCvtcolorPlan plan;
  const unsigned char *src; /* of a packed picture */
  unsigned char *dst;
  int quads, height;
  unsigned src_select, dst_select; /* of a packed pixel, for __byte_perm */

  /* of the chroma plane of NV12 and NV21 */
  const unsigned char *src_uv;
  unsigned char *dst_uv;
  unsigned one, pair[2]; /* __byte_perm of one and of two samples as they lie
                            there to u and v in 16 bits */
  unsigned uv_select;    /* __byte_perm of u v u v to two samples */

  /* quarters: of the two samples around an even and an odd place, and of the
   * three of a sum */
  unsigned up_h[2][2], up_v[2][2], down_h[3], down_v[3];
  float mix[3][4]; /* to 0..1 */
};

template <int Kind>
static constexpr bool quads_is_yuv = Kind == QUADS_NV12 || Kind == QUADS_I420;

/* A row of shared memory that a warp fills and reads. */
typedef unsigned QuadsStage[QUADS_WORDS];

/* Up to 16 bytes, of which `left` are in the row. */
static __device__ __forceinline__ uint4
quads_load_chunk (const unsigned char *p, int left)
{
  const unsigned *word = (const unsigned *)p;
  uint4 v = make_uint4 (0, 0, 0, 0);

  if (left >= 16)
    return *(const uint4 *)p;
  if (left >= 4)
    v.x = word[0];
  if (left >= 8)
    v.y = word[1];
  if (left >= 12)
    v.z = word[2];
  return v;
}

static __device__ __forceinline__ void
quads_store_chunk (unsigned char *p, uint4 v, int left)
{
  unsigned *word = (unsigned *)p;

  if (left >= 16) {
    *(uint4 *)p = v;
    return;
  }
  if (left >= 4)
    word[0] = v.x;
  if (left >= 8)
    word[1] = v.y;
  if (left >= 12)
    word[2] = v.z;
}

/* Pixels of three bytes: four of them are three words. */
static __device__ __forceinline__ void
quads_split (const unsigned *word, unsigned px[4])
{
  px[0] = word[0];
  px[1] = __byte_perm (word[0], word[1], 0x0543);
  px[2] = __byte_perm (word[1], word[2], 0x0432);
  px[3] = word[2] >> 8;
}

static __device__ __forceinline__ void
quads_join (const unsigned px[4], unsigned *word)
{
  word[0] = __byte_perm (px[0], px[1], 0x4210);
  word[1] = __byte_perm (px[1], px[2], 0x5421);
  word[2] = __byte_perm (px[2], px[3], 0x6542);
}

/* Reads this thread's four pixels of each of `n` rows. The whole warp calls;
 * `first` is the quad of its first thread. */
template <int Kind, int Rows>
static __device__ __forceinline__ void
quads_load (const QuadsJob &job, const int y[Rows], int n, int first,
    QuadsStage *stage, unsigned px[Rows][4])
{
  const ptrdiff_t stride = job.plan.src[0].stride;
  const int lane = threadIdx.x, quad = first + lane;
  uint4 v[Rows] = {};

#pragma unroll
  for (int r = 0; r < Rows; r++) {
    const unsigned char *row = job.src + y[r] * stride;

    if (r >= n)
      continue;
    if (Kind == QUADS_PACKED4 && quad < job.quads)
      v[r] = ((const uint4 *)row)[quad];
    if (Kind == QUADS_PACKED3 && lane < QUADS_WORDS / 4)
      v[r] = quads_load_chunk (row + 12 * (ptrdiff_t)first + 16 * lane,
          12 * (job.quads - first) - 16 * lane);
  }
  if (Kind == QUADS_PACKED3) {
#pragma unroll
    for (int r = 0; r < Rows; r++)
      if (lane < QUADS_WORDS / 4)
        ((uint4 *)stage[r])[lane] = v[r];
    __syncwarp ();
  }
#pragma unroll
  for (int r = 0; r < Rows; r++) {
    if (Kind == QUADS_PACKED3)
      quads_split (stage[r] + 3 * lane, px[r]);
    else
      px[r][0] = v[r].x, px[r][1] = v[r].y, px[r][2] = v[r].z,
      px[r][3] = v[r].w;
#pragma unroll
    for (int i = 0; i < 4; i++)
      px[r][i] = __byte_perm (px[r][i], job.plan.alpha, job.src_select);
  }
  if (Kind == QUADS_PACKED3)
    __syncwarp ();
}

/* Writes them; `valid`: the row exists. */
template <int Kind>
static __device__ __forceinline__ void
quads_store (const QuadsJob &job, int y, bool valid, int first,
    QuadsStage *stage, const unsigned px[4])
{
  unsigned char *row = job.dst + y * job.plan.dst[0].stride;
  const int lane = threadIdx.x, quad = first + lane;
  unsigned out[4];

#pragma unroll
  for (int i = 0; i < 4; i++)
    out[i] = __byte_perm (px[i], QUADS_ALL, job.dst_select);
  if (Kind == QUADS_PACKED4) {
    if (valid && quad < job.quads)
      ((uint4 *)row)[quad] = make_uint4 (out[0], out[1], out[2], out[3]);
    return;
  }
  quads_join (out, *stage + 3 * lane);
  __syncwarp ();
  if (valid && lane < QUADS_WORDS / 4)
    quads_store_chunk (row + 12 * (ptrdiff_t)first + 16 * lane,
        ((const uint4 *)*stage)[lane], 12 * (job.quads - first) - 16 * lane);
  __syncwarp ();
}

/* Four bytes of a plane of one byte per sample. */
static __device__ __forceinline__ unsigned *
quads_word (const ImgCvtcolorChannel &c, int y, int quad)
{
  return (unsigned *)(c.data + y * c.stride) + quad;
}

/* img_luma of a pixel. */
static __device__ __forceinline__ unsigned
quads_luma (unsigned px)
{
  unsigned sum = __dp2a_lo (9798u | 19235u << 16, px, 1u << 14);

  return __dp2a_hi (3735u, px, sum) >> 15;
}

/* The byte of a value of 0..1, in the lowest byte of the result. */
static __device__ __forceinline__ unsigned
quads_byte (float value)
{
  return __float_as_uint (__fmaf_rn (value, 255.0f, 8388608.0f));
}

static __device__ __forceinline__ float
quads_mix (const float m[4], float a, float b, float c)
{
  return __saturatef (
      __fmaf_rn (m[2], c, __fmaf_rn (m[1], b, __fmaf_rn (m[0], a, m[3]))));
}

static __device__ __forceinline__ unsigned
quads_pack (unsigned a, unsigned b, unsigned c, unsigned d)
{
  return __byte_perm (
      __byte_perm (a, b, 0x0040), __byte_perm (c, d, 0x0040), 0x5410);
}

/* Samples i-1..i+2 of a row of chroma, each as u and v in 16 bits; `i` is that
 * of the left one of the quad's two. */
template <int Kind>
static __device__ __forceinline__ void
quads_load_chroma (const QuadsJob &job, int y, int quad, unsigned uv[4])
{
  const ImgCvtcolorChannel &u = job.plan.src[1];
  const int row = img_clamp (y, 0, u.height - 1), i = 2 * quad;
  const int left = max (i - 1, 0), right = min (i + 2, u.width - 1);

  if constexpr (Kind == QUADS_I420) {
    const unsigned char *at_u = u.data + row * u.stride;
    const unsigned char *at_v
        = job.plan.src[2].data + row * job.plan.src[2].stride;
    const unsigned two_u = *(const uint16_t *)(at_u + i);
    const unsigned two_v = *(const uint16_t *)(at_v + i);

    uv[0] = at_u[left] | at_v[left] << 16;
    uv[1] = __byte_perm (two_u, two_v, 0x6420);
    uv[2] = __byte_perm (two_u, two_v, 0x6521);
    uv[3] = at_u[right] | at_v[right] << 16;
  } else {
    const unsigned char *at = job.src_uv + row * u.stride;
    const unsigned two = *(const unsigned *)(at + 2 * i);

    uv[0] = __byte_perm (*(const uint16_t *)(at + 2 * left), 0, job.one);
    uv[1] = __byte_perm (two, 0, job.pair[0]);
    uv[2] = __byte_perm (two, 0, job.pair[1]);
    uv[3] = __byte_perm (*(const uint16_t *)(at + 2 * right), 0, job.one);
  }
}

/* Both halves of x and y by weight. */
static __device__ __forceinline__ unsigned
quads_blend (const unsigned weight[2], unsigned x, unsigned y)
{
  return weight[0] * x + weight[1] * y;
}

/* Chroma of the quad's pixels of one row, in sixteenths. */
static __device__ __forceinline__ void
quads_blend_chroma (const QuadsJob &job, int odd, const unsigned above[4],
    const unsigned below[4], unsigned uv[4])
{
  unsigned row[4];

#pragma unroll
  for (int i = 0; i < 4; i++)
    row[i] = quads_blend (job.up_v[odd], above[i], below[i]);
  uv[0] = quads_blend (job.up_h[0], row[0], row[1]);
  uv[1] = quads_blend (job.up_h[1], row[1], row[2]);
  uv[2] = quads_blend (job.up_h[0], row[1], row[2]);
  uv[3] = quads_blend (job.up_h[1], row[2], row[3]);
}

/* RGB of four pixels. Red needs no u, and blue no v. */
static __device__ __forceinline__ void
quads_rgb (
    const QuadsJob &job, unsigned luma, const unsigned uv[4], unsigned px[4])
{
  const float (*m)[4] = job.mix;

#pragma unroll
  for (int i = 0; i < 4; i++) {
    const float y = (float)(luma >> 8 * i & 0xff);
    const float u = (float)(uv[i] & 0xffff), v = (float)(uv[i] >> 16);
    const float r = __fmaf_rn (m[0][2], v, __fmaf_rn (m[0][0], y, m[0][3]));
    const float b = __fmaf_rn (m[2][1], u, __fmaf_rn (m[2][0], y, m[2][3]));

    px[i] = quads_pack (quads_byte (__saturatef (r)),
        quads_byte (quads_mix (m[1], y, u, v)), quads_byte (__saturatef (b)),
        job.plan.alpha);
  }
}

/* Component `k` of a pixel. */
static __device__ __forceinline__ unsigned
quads_component (const QuadsJob &job, int k, unsigned px)
{
  return quads_byte (quads_mix (job.mix[k], (float)(px & 0xff),
      (float)(px >> 8 & 0xff), (float)(px >> 16 & 0xff)));
}

/* Sums of up to 16 pixels: `rb` holds red and blue, `g` green in its lower
 * half. */
struct QuadsSum {
  unsigned rb, g;
};

static __device__ __forceinline__ void
quads_add (QuadsSum *sum, unsigned weight, unsigned px)
{
  sum->rb += weight * (px & 0x00ff00ff);
  sum->g += weight * (px >> 8 & 0xff);
}

static __device__ __forceinline__ QuadsSum
quads_sum_columns (const unsigned w[3], QuadsSum a, QuadsSum b, QuadsSum c)
{
  return { w[0] * a.rb + w[1] * b.rb + w[2] * c.rb,
    w[0] * a.g + w[1] * b.g + w[2] * c.g };
}

/* Component `k`, of chroma, from a sum of sixteenths. */
static __device__ __forceinline__ unsigned
quads_chroma (const QuadsJob &job, int k, QuadsSum sum)
{
  return quads_byte (quads_mix (job.mix[k], (float)(sum.rb & 0xffff),
      (float)sum.g, (float)(sum.rb >> 16)));
}

template <int Kind>
static __device__ __forceinline__ void
quads_store_chroma (
    const QuadsJob &job, int row, int quad, const QuadsSum sum[2])
{
  const ImgCvtcolorChannel &u = job.plan.dst[1], &v = job.plan.dst[2];
  const unsigned u0 = quads_chroma (job, 1, sum[0]);
  const unsigned u1 = quads_chroma (job, 1, sum[1]);
  const unsigned v0 = quads_chroma (job, 2, sum[0]);
  const unsigned v1 = quads_chroma (job, 2, sum[1]);

  if constexpr (Kind == QUADS_I420) {
    ((uint16_t *)(u.data + row * u.stride))[quad]
        = (uint16_t)__byte_perm (u0, u1, 0x0040);
    ((uint16_t *)(v.data + row * v.stride))[quad]
        = (uint16_t)__byte_perm (v0, v1, 0x0040);
  } else {
    ((unsigned *)(job.dst_uv + row * u.stride))[quad]
        = __byte_perm (quads_pack (u0, v0, u1, v1), 0, job.uv_select);
  }
}

/* Two rows of packed pixels, and the one above them where chroma needs it, as
 * YUV. The whole warp calls. */
template <int Kind>
static __device__ __forceinline__ void
quads_write_yuv (const QuadsJob &job, int pair, int first,
    const unsigned px[3][4], const unsigned left[3])
{
  const int quad = first + (int)threadIdx.x;
  QuadsSum column[5] = {}, sum[2];

  if (quad >= job.quads)
    return;
#pragma unroll
  for (int r = 0; r < 3; r++) { /* the row above is the last of the three */
    const unsigned weight = job.down_v[(r + 1) % 3];

    quads_add (&column[0], weight, left[r]);
#pragma unroll
    for (int i = 0; i < 4; i++)
      quads_add (&column[i + 1], weight, px[r][i]);
  }
  sum[0] = quads_sum_columns (job.down_h, column[0], column[1], column[2]);
  sum[1] = quads_sum_columns (job.down_h, column[2], column[3], column[4]);
  if (pair < job.plan.dst[1].height)
    quads_store_chroma<Kind> (job, pair, quad, sum);
#pragma unroll
  for (int r = 0; r < 2; r++)
    if (2 * pair + r < job.height)
      *quads_word (job.plan.dst[0], 2 * pair + r, quad)
          = quads_pack (quads_component (job, 0, px[r][0]),
              quads_component (job, 0, px[r][1]),
              quads_component (job, 0, px[r][2]),
              quads_component (job, 0, px[r][3]));
}

/* The pixel left of the quad; of the first one, its own. The whole warp
 * calls. */
template <int Kind>
static __device__ __forceinline__ unsigned
quads_left (const QuadsJob &job, int y, int first, const unsigned px[4])
{
  constexpr int bytes = Kind == QUADS_PACKED3 ? 3 : 4;
  unsigned left = __shfl_up_sync (QUADS_ALL, px[3], 1);

  if (threadIdx.x > 0)
    return left;
  if (first == 0)
    return px[0];
  const unsigned char *p = job.src + y * job.plan.src[0].stride
                           + bytes * (4 * (ptrdiff_t)first - 1);

  left = p[0] | p[1] << 8 | p[2] << 16;
  if (Kind == QUADS_PACKED4)
    left |= (unsigned)p[3] << 24;
  return __byte_perm (left, job.plan.alpha, job.src_select);
}

/* From packed RGB. */
template <int Src, int Dst>
static __device__ __forceinline__ void
quads_from_rgb (const QuadsJob &job, int pair, int first, QuadsStage *stage)
{
  constexpr int rows = quads_is_yuv<Dst> ? 3 : 2;
  const int last = job.height - 1, quad = first + (int)threadIdx.x;
  const int y[3] = { min (2 * pair, last), min (2 * pair + 1, last),
    max (min (2 * pair - 1, last), 0) };
  const bool above = quads_is_yuv<Dst> && job.down_v[0] != 0;
  unsigned px[rows][4];

  quads_load<Src, rows> (job, y, above ? 3 : 2, first, stage, px);
  if constexpr (quads_is_yuv<Dst>) {
    unsigned left[3];

#pragma unroll
    for (int r = 0; r < 3; r++)
      left[r] = quads_left<Src> (job, y[r], first, px[r]);
    quads_write_yuv<Dst> (job, pair, first, px, left);
  } else if constexpr (Dst == QUADS_GRAY) {
#pragma unroll
    for (int r = 0; r < 2; r++)
      if (2 * pair + r <= last && quad < job.quads)
        *quads_word (job.plan.dst[0], y[r], quad)
            = quads_pack (quads_luma (px[r][0]), quads_luma (px[r][1]),
                quads_luma (px[r][2]), quads_luma (px[r][3]));
  } else {
#pragma unroll
    for (int r = 0; r < 2; r++)
      quads_store<Dst> (
          job, y[r], 2 * pair + r <= last, first, stage + r, px[r]);
  }
}

/* From grey and YUV to packed RGB. */
template <int Src, int Dst>
static __device__ __forceinline__ void
quads_to_rgb (const QuadsJob &job, int pair, int first, QuadsStage *stage)
{
  const int last = job.height - 1;
  const int quad = min (first + (int)threadIdx.x, job.quads - 1);
  const int y[2] = { min (2 * pair, last), min (2 * pair + 1, last) };
  unsigned luma[2], px[4], uv[3][4];

#pragma unroll
  for (int r = 0; r < 2; r++)
    luma[r] = *quads_word (job.plan.src[0], y[r], quad);
  if constexpr (quads_is_yuv<Src>) {
#pragma unroll
    for (int r = 0; r < 3; r++)
      quads_load_chroma<Src> (job, min (pair, last) - 1 + r, quad, uv[r]);
  }
#pragma unroll
  for (int r = 0; r < 2; r++) {
    if constexpr (quads_is_yuv<Src>) {
      unsigned blend[4];

      quads_blend_chroma (job, r, uv[r], uv[r + 1], blend);
      quads_rgb (job, luma[r], blend, px);
    } else {
#pragma unroll
      for (int i = 0; i < 4; i++)
        px[i] = __byte_perm (
            luma[r], job.plan.alpha, 0x4000 | 0x111 * (unsigned)i);
    }
    quads_store<Dst> (job, y[r], 2 * pair + r <= last, first, stage + r, px);
  }
}

/* Luma to grey, with the factors of the general kernel, so that it gives the
 * same. */
static __device__ __forceinline__ void
quads_luma_to_gray (const QuadsJob &job, int pair, int first)
{
  const float *m = job.plan.mix[0];
  const int quad = first + (int)threadIdx.x;

#pragma unroll
  for (int r = 0; r < 2; r++) {
    if (2 * pair + r >= job.height || quad >= job.quads)
      continue;
    unsigned luma = *quads_word (job.plan.src[0], 2 * pair + r, quad), to = 0;

#pragma unroll
    for (int i = 0; i < 4; i++)
      to |= (unsigned)img_round_clamp (
                __fadd_rn (
                    m[3], __fmul_rn (m[0], (float)(luma >> 8 * i & 0xff))),
                0, 255)
            << 8 * i;
    *quads_word (job.plan.dst[0], 2 * pair + r, quad)
        = m[0] == 1 && m[3] == 0 ? luma : to;
  }
}

template <int Src, int Dst>
static __global__ void __launch_bounds__ (32 * QUADS_WARPS)
    quads_kernel (const __grid_constant__ QuadsJob job)
{
  __shared__ __align__ (16) QuadsStage stage[QUADS_WARPS][3];
  const int pair = (int)(blockIdx.y * QUADS_WARPS + threadIdx.y);
  const int first = (int)blockIdx.x * 32;

  kernel_begin ();
  if constexpr (quads_is_yuv<Src> && Dst == QUADS_GRAY)
    quads_luma_to_gray (job, pair, first);
  else if constexpr (quads_is_yuv<Src> || Src == QUADS_GRAY)
    quads_to_rgb<Src, Dst> (job, pair, first, stage[threadIdx.y]);
  else
    quads_from_rgb<Src, Dst> (job, pair, first, stage[threadIdx.y]);
}

#endif
