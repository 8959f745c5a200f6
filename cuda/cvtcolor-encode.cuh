/*
 * cvtcolor from packed RGB to grey and to 8-bit YUV 4:2:0. A value is a dot
 * product of a pixel's bytes, as they lie in memory, with weights of 16 bits:
 * its error is below 0.05 levels, and grey is exact. Chroma is summed over the
 * rows and then, weighted, over the columns that its sample covers.
 */
#ifndef IMG_CVTCOLOR_ENCODE_CUH
#define IMG_CVTCOLOR_ENCODE_CUH

#include "cvtcolor-octets.cuh"

#define ENCODE_LUMA_BITS 16 /* of the weights below the point */
#define ENCODE_CHROMA_BITS 15
#define ENCODE_LANES 0xffffffffu

/* Weights of the bytes of a pixel: of 0 and 1, and of 2 and 3; and of pixels
 * of three bytes that begin with the last byte of a half-word: of that byte,
 * and of 1 and 2. Those of luma have no sign. */
struct EncodeWeights {
  unsigned low, high, last, behind;
};

struct EncodeJob {
  const unsigned char *src;
  unsigned char *luma;
  unsigned char *chroma[2]; /* NV12: the one plane, and NULL */
  int src_stride, luma_stride, chroma_stride[2];
  int octets, height, chroma_height;
  EncodeWeights luma_weights, weights[2]; /* of chroma in order of memory */
  unsigned luma_offset;
  int offset, shift; /* chroma is (sum + offset) >> shift */
  int column[3];     /* weights of columns 2i - 1, 2i and 2i + 1 */
};

/* sum + two weights times bytes 0 and 1, or (High) 2 and 3, of a word. */
template <bool Luma, bool High>
static __device__ __forceinline__ unsigned
encode_dot (unsigned weights, unsigned word, unsigned sum)
{
  if (!Luma)
    return ptx_dp2a<High> (weights, word, sum);
  return High ? __dp2a_hi (weights, word, sum) : __dp2a_lo (weights, word, sum);
}

/* sum + pixel `i` of an octet, in its words, times weights. */
template <int Src, bool Luma>
static __device__ __forceinline__ unsigned
encode_add (const EncodeWeights &w, const unsigned word[8], int i, unsigned sum)
{
  const unsigned *at = Src == CVTCOLOR_PACKED4 ? word + i : word + 3 * (i / 4);

  switch (Src == CVTCOLOR_PACKED4 ? 0 : i % 4) {
  case 0:
    sum = encode_dot<Luma, false> (w.low, at[0], sum);
    return encode_dot<Luma, true> (w.high, at[0], sum);
  case 1:
    sum = encode_dot<Luma, true> (w.last, at[0], sum);
    return encode_dot<Luma, false> (w.behind, at[1], sum);
  case 2:
    sum = encode_dot<Luma, true> (w.low, at[1], sum);
    return encode_dot<Luma, false> (w.high, at[2], sum);
  default:
    sum = encode_dot<Luma, false> (w.last, at[2], sum);
    return encode_dot<Luma, true> (w.behind, at[2], sum);
  }
}

/* The rows y[0..Rows-1] of this thread's octet. The whole warp calls. */
template <int Src, int Rows>
static __device__ __forceinline__ void
encode_load (const EncodeJob &job, const int y[Rows], int first,
    OctetStage<Src, Rows> *stage, unsigned word[Rows][8])
{
  if constexpr (Src == CVTCOLOR_PACKED4) {
    const int octet = min (first + (int)threadIdx.x, job.octets - 1);

#pragma unroll
    for (int r = 0; r < Rows; r++) {
      const uint4 *at
          = ptx_row ((const uint4 *)job.src + 2 * octet, y[r], job.src_stride);

#pragma unroll
      for (int h = 0; h < 2; h++) {
        const uint4 v = at[h];

        word[r][4 * h] = v.x, word[r][4 * h + 1] = v.y;
        word[r][4 * h + 2] = v.z, word[r][4 * h + 3] = v.w;
      }
    }
  } else {
    const unsigned char *from = job.src + 24 * first;
    const int left = 24 * (job.octets - first);

#pragma unroll
    for (int k = 0; k < (Rows * stage->row_chunks + 31) / 32; k++) {
      const int r = octets_row<Src> (k), at = 16 * octets_column<Src> (k);

      if (r < Rows && at < left)
        stage->chunk[32 * k + (int)threadIdx.x] = octets_load (
            ptx_row (from, y[r], job.src_stride) + at, left - at);
    }
    __syncwarp ();
#pragma unroll
    for (int r = 0; r < Rows; r++)
      stage->get (r, word[r]);
  }
}

/* The pixel left of the warp's first, in the lowest three bytes or in all. */
template <int Src>
static __device__ __forceinline__ unsigned
encode_load_left (const EncodeJob &job, int y, int first)
{
  constexpr int bytes = octets_pixel_bytes<Src>;
  const unsigned char *p
      = ptx_row (job.src + bytes * (8 * first - 1), y, job.src_stride);
  const unsigned three = p[0] | p[1] << 8 | p[2] << 16;

  return bytes == 3 ? three : three | (unsigned)p[3] << 24;
}

template <int Src>
static __device__ __forceinline__ void
encode_store_luma (
    const EncodeJob &job, int y, int octet, const unsigned word[8])
{
  unsigned luma[8];

#pragma unroll
  for (int i = 0; i < 8; i++)
    luma[i]
        = encode_add<Src, true> (job.luma_weights, word, i, job.luma_offset);
  *ptx_row ((uint2 *)job.luma + octet, y, job.luma_stride) = make_uint2 (
      octets_join<ENCODE_LUMA_BITS / 8> (luma[0], luma[1], luma[2], luma[3]),
      octets_join<ENCODE_LUMA_BITS / 8> (luma[4], luma[5], luma[6], luma[7]));
}

/* Sums of a component of chroma over the rows: of column `i` of the octet. The
 * first row counts twice where there is a third, the one above it. */
template <int Src, int Rows>
static __device__ __forceinline__ int
encode_column (const EncodeWeights &w, const unsigned word[Rows][8], int i)
{
  unsigned sum = encode_add<Src, false> (w, word[0], i, 0);

  if (Rows == 3)
    sum = encode_add<Src, false> (w, word[2], i, 2 * sum);
  return (int)encode_add<Src, false> (w, word[1], i, sum);
}

/* The four samples of one component in an octet. */
template <int Src, int Rows>
static __device__ __forceinline__ void
encode_chroma (const EncodeJob &job, const EncodeWeights &w, int first,
    const unsigned word[Rows][8], const unsigned left[Rows], int sample[4])
{
  int column[9];
  unsigned before[Rows][8];

#pragma unroll
  for (int i = 0; i < 8; i++)
    column[i + 1] = encode_column<Src, Rows> (w, word, i);
  column[0] = __shfl_up_sync (ENCODE_LANES, column[8], 1);
  if (threadIdx.x == 0) {
#pragma unroll
    for (int r = 0; r < Rows; r++)
      before[r][0] = left[r];
    column[0] = first > 0 ? encode_column<Src, Rows> (w, before, 0) : column[1];
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
    sample[i]
        = (job.column[0] * column[2 * i] + job.column[1] * column[2 * i + 1]
              + job.column[2] * column[2 * i + 2] + job.offset)
          >> job.shift;
}

template <int Dst>
static __device__ __forceinline__ void
encode_store_chroma (
    const EncodeJob &job, int row, int octet, const int s[2][4])
{
  if constexpr (Dst == CVTCOLOR_NV12) {
    unsigned word[2];

#pragma unroll
    for (int h = 0; h < 2; h++)
      word[h] = ptx_pack_bytes (s[1][2 * h], s[0][2 * h],
          ptx_pack_bytes (s[1][2 * h + 1], s[0][2 * h + 1], 0));
    *ptx_row ((uint2 *)job.chroma[0] + octet, row, job.chroma_stride[0])
        = make_uint2 (word[0], word[1]);
  } else {
#pragma unroll
    for (int c = 0; c < 2; c++)
      *ptx_row ((unsigned *)job.chroma[c] + octet, row, job.chroma_stride[c])
          = ptx_pack_bytes (
              s[c][1], s[c][0], ptx_pack_bytes (s[c][3], s[c][2], 0));
  }
}

template <int Src, int Dst, int Rows>
static __global__ void __launch_bounds__ (32 * OCTETS_WARPS)
    encode_kernel (const __grid_constant__ EncodeJob job)
{
  constexpr bool staged = Src == CVTCOLOR_PACKED3;
  __shared__ OctetStage<Src, Rows> stages[staged ? OCTETS_WARPS : 1];
  const int pair = (int)(blockIdx.y * OCTETS_WARPS + threadIdx.y);
  const int first = 32 * (int)blockIdx.x, octet = first + (int)threadIdx.x;
  const int last = job.height - 1;
  const int rows[3]
      = { 2 * pair, min (2 * pair + 1, last), max (2 * pair - 1, 0) };
  unsigned word[Rows][8], left[Rows] = {};

  kernel_begin ();
  if (2 * pair > last)
    return;
  if (Dst != CVTCOLOR_GRAY && threadIdx.x == 0 && first > 0) {
#pragma unroll
    for (int r = 0; r < Rows; r++)
      left[r] = encode_load_left<Src> (job, rows[r], first);
  }
  encode_load<Src, Rows> (
      job, rows, first, &stages[staged ? threadIdx.y : 0], word);
  if constexpr (Dst != CVTCOLOR_GRAY) {
    int sample[2][4];

#pragma unroll
    for (int c = 0; c < 2; c++)
      encode_chroma<Src, Rows> (
          job, job.weights[c], first, word, left, sample[c]);
    if (octet < job.octets && pair < job.chroma_height)
      encode_store_chroma<Dst> (job, pair, octet, sample);
  }
  if (octet >= job.octets)
    return;
  encode_store_luma<Src> (job, rows[0], octet, word[0]);
  if (2 * pair < last)
    encode_store_luma<Src> (job, rows[1], octet, word[1]);
}

/* on the host */

static unsigned
encode_pair (int low, int high)
{
  return ((unsigned)low & 0xffff) | (unsigned)high << 16;
}

/* For the factors of red, green and blue in units of 2^-bits. */
static EncodeWeights
encode_weights (const ImgPlane *plane, const int factor[3])
{
  static const ImgChannel channels[]
      = { IMG_CHANNEL_R, IMG_CHANNEL_G, IMG_CHANNEL_B };
  int w[4] = {};

  for (int s = 0; s < 3; s++)
    w[cvtcolor_find (plane, channels[s])] = factor[s];
  return { encode_pair (w[0], w[1]), encode_pair (w[2], w[3]),
    encode_pair (0, w[0]), encode_pair (w[1], w[2]) };
}

static EncodeWeights
encode_weights_of (const ImgPlane *plane, const float mix[4], int bits)
{
  int factor[3];

  for (int s = 0; s < 3; s++)
    factor[s] = (int)rint (mix[s] * (double)(1 << bits));
  return encode_weights (plane, factor);
}

static void
encode_set_luma (
    EncodeJob *job, const ImgCvtcolorPlan *plan, const ImgPlane *packed)
{
  static const int gray[3] = { 2 * 9798, 2 * 19235, 2 * 3735 }; /* img_luma */
  const float *mix = plan->mix[0];
  const double half = 0.5 * (1 << ENCODE_LUMA_BITS);

  job->luma_weights = plan->luma
                          ? encode_weights (packed, gray)
                          : encode_weights_of (packed, mix, ENCODE_LUMA_BITS);
  job->luma_offset
      = (unsigned)(half + (plan->luma ? 0 : mix[3] * (1 << ENCODE_LUMA_BITS)));
}

static void
encode_set_chroma (
    EncodeJob *job, const ImgCvtcolorPlan *plan, const ImgPlane *packed)
{
  const bool above = plan->v[0][1] == IMG_RESAMPLE_DOWN_COSITED;

  for (int i = 0; i < 3; i++)
    job->column[i] = img_resample_quarters (plan->h[0][1], 0) >> 8 * i & 0xff;
  job->shift = ENCODE_CHROMA_BITS + 2 + (above ? 2 : 1);
  job->offset = (int)rint ((plan->mix[1][3] + 0.5) * (1 << job->shift));
  job->chroma_height = plan->dst[1].height;
  for (int c = 0; c < 2; c++) {
    /* in the order of memory, if it is one plane */
    const int i
        = (plan->dst[2].data < plan->dst[1].data && plan->dst[1].step == 2)
              ? 2 - c
              : 1 + c;

    job->chroma[c] = plan->dst[i].data;
    job->chroma_stride[c] = (int)plan->dst[i].stride;
    job->weights[c]
        = encode_weights_of (packed, plan->mix[i], ENCODE_CHROMA_BITS);
  }
}

/* Whether the weights fit their bits and luma its byte. */
static bool
encode_fits (const ImgCvtcolorPlan *plan)
{
  const float *m = plan->mix[0];

  if (plan->luma)
    return m[0] == 1 && m[3] == 0;
  for (int s = 0; s < 3; s++)
    if (m[s] < 0 || m[s] >= 1 || fabsf (plan->mix[1][s]) >= 1
        || fabsf (plan->mix[2][s]) >= 1)
      return false;
  return m[3] >= 0 && m[3] + 255 * (m[0] + m[1] + m[2]) < 255.4f;
}

template <int Src, int Dst>
static bool
encode_start (const EncodeJob *job, bool above, cudaStream_t stream)
{
  const dim3 grid = octets_grid (job->octets, (job->height + 1) / 2);
  const dim3 block (32, OCTETS_WARPS);

  if constexpr (Dst != CVTCOLOR_GRAY)
    if (above) {
      launch (encode_kernel<Src, Dst, 3>, grid, block, 0, stream, *job);
      return true;
    }
  launch (encode_kernel<Src, Dst, 2>, grid, block, 0, stream, *job);
  return true;
}

template <int Src>
static bool
encode_start_from (
    CvtcolorKind dst, const EncodeJob *job, bool above, cudaStream_t stream)
{
  if (dst == CVTCOLOR_GRAY)
    return encode_start<Src, CVTCOLOR_GRAY> (job, above, stream);
  if (dst == CVTCOLOR_NV12)
    return encode_start<Src, CVTCOLOR_NV12> (job, above, stream);
  return encode_start<Src, CVTCOLOR_I420> (job, above, stream);
}

/* Converts whole octets of columns of `src`, packed RGB of 16-byte aligned
 * rows, to grey, NV12 or I420. False if it does not. */
static bool
encode_run (const ImgCvtcolorPlan *plan, const ImgView *src, const ImgView *dst,
    cudaStream_t stream)
{
  const ImgPlane *packed = &src->plane[0];
  const CvtcolorKind to = cvtcolor_kind (dst);
  const bool above = plan->v[0][1] == IMG_RESAMPLE_DOWN_COSITED;
  EncodeJob job = {};

  if (!encode_fits (plan))
    return false;
  job.src = (const unsigned char *)packed->data;
  job.src_stride = (int)packed->stride;
  job.luma = plan->dst[0].data;
  job.luma_stride = (int)plan->dst[0].stride;
  job.octets = src->width / 8;
  job.height = src->height;
  encode_set_luma (&job, plan, packed);
  if (to != CVTCOLOR_GRAY)
    encode_set_chroma (&job, plan, packed);
  return packed->channels == 3
             ? encode_start_from<CVTCOLOR_PACKED3> (to, &job, above, stream)
             : encode_start_from<CVTCOLOR_PACKED4> (to, &job, above, stream);
}

#endif
