/*
 * cvtcolor among 8-bit packed RGB of any order, and from grey to it: four
 * pixels by two rows in a thread and 16 bytes in an access. A pixel on its way
 * is a word of R, G, B, A from its lowest byte on. Columns beyond the last
 * four are left to the general kernel.
 */
#ifndef IMG_CVTCOLOR_QUADS_CUH
#define IMG_CVTCOLOR_QUADS_CUH

#include "cvtcolor-octets.cuh"

#define QUADS_WARPS 4  /* of a block, one above the other */
#define QUADS_WORDS 96 /* of a warp's pixels with three bytes each */
#define QUADS_ALL 0xffffffffu

/* What no thread works out for itself. */
struct QuadsJob {
  ImgCvtcolorPlan plan;
  const unsigned char *src;
  unsigned char *dst;
  int quads, height;
  unsigned src_select, dst_select; /* of a packed pixel, for __byte_perm */
};

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

/* Reads this thread's four pixels of each row. The whole warp calls; `first` is
 * the quad of its first thread. */
template <int Kind, int Rows>
static __device__ __forceinline__ void
quads_load (const QuadsJob &job, const int y[Rows], int first,
    QuadsStage *stage, unsigned px[Rows][4])
{
  const ptrdiff_t stride = job.plan.src[0].stride;
  const int lane = threadIdx.x, quad = first + lane;
  uint4 v[Rows] = {};

#pragma unroll
  for (int r = 0; r < Rows; r++) {
    const unsigned char *row = job.src + y[r] * stride;

    if (Kind == CVTCOLOR_PACKED4 && quad < job.quads)
      v[r] = ((const uint4 *)row)[quad];
    if (Kind == CVTCOLOR_PACKED3 && lane < QUADS_WORDS / 4)
      v[r] = quads_load_chunk (row + 12 * (ptrdiff_t)first + 16 * lane,
          12 * (job.quads - first) - 16 * lane);
  }
  if (Kind == CVTCOLOR_PACKED3) {
#pragma unroll
    for (int r = 0; r < Rows; r++)
      if (lane < QUADS_WORDS / 4)
        ((uint4 *)stage[r])[lane] = v[r];
    __syncwarp ();
  }
#pragma unroll
  for (int r = 0; r < Rows; r++) {
    if (Kind == CVTCOLOR_PACKED3)
      quads_split (stage[r] + 3 * lane, px[r]);
    else
      px[r][0] = v[r].x, px[r][1] = v[r].y, px[r][2] = v[r].z,
      px[r][3] = v[r].w;
#pragma unroll
    for (int i = 0; i < 4; i++)
      px[r][i] = __byte_perm (px[r][i], job.plan.alpha, job.src_select);
  }
  if (Kind == CVTCOLOR_PACKED3)
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
  if (Kind == CVTCOLOR_PACKED4) {
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

/* From packed RGB. */
template <int Src, int Dst>
static __device__ __forceinline__ void
quads_from_rgb (const QuadsJob &job, int pair, int first, QuadsStage *stage)
{
  const int last = job.height - 1;
  const int y[2] = { min (2 * pair, last), min (2 * pair + 1, last) };
  unsigned px[2][4];

  quads_load<Src, 2> (job, y, first, stage, px);
#pragma unroll
  for (int r = 0; r < 2; r++)
    quads_store<Dst> (job, y[r], 2 * pair + r <= last, first, stage + r, px[r]);
}

template <int Dst>
static __device__ __forceinline__ void
quads_from_gray (const QuadsJob &job, int pair, int first, QuadsStage *stage)
{
  const int last = job.height - 1;
  const int quad = min (first + (int)threadIdx.x, job.quads - 1);
  const int y[2] = { min (2 * pair, last), min (2 * pair + 1, last) };
  unsigned luma[2], px[4];

#pragma unroll
  for (int r = 0; r < 2; r++)
    luma[r] = *quads_word (job.plan.src[0], y[r], quad);
#pragma unroll
  for (int r = 0; r < 2; r++) {
#pragma unroll
    for (int i = 0; i < 4; i++)
      px[i]
          = __byte_perm (luma[r], job.plan.alpha, 0x4000 | 0x111 * (unsigned)i);
    quads_store<Dst> (job, y[r], 2 * pair + r <= last, first, stage + r, px);
  }
}

template <int Src, int Dst>
static __global__ void __launch_bounds__ (32 * QUADS_WARPS)
    quads_kernel (const __grid_constant__ QuadsJob job)
{
  __shared__ __align__ (16) QuadsStage stage[QUADS_WARPS][2];
  const int pair = (int)(blockIdx.y * QUADS_WARPS + threadIdx.y);
  const int first = (int)blockIdx.x * 32;

  kernel_begin ();
  if constexpr (Src == CVTCOLOR_GRAY)
    quads_from_gray<Dst> (job, pair, first, stage[threadIdx.y]);
  else
    quads_from_rgb<Src, Dst> (job, pair, first, stage[threadIdx.y]);
}

#endif
