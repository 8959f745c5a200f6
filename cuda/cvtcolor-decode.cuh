/*
 * cvtcolor from 8-bit YUV 4:2:0 to packed RGB. Between two rows and two columns
 * of chroma lie two rows and at most two columns of pixels; each of them has
 * its chroma from those four samples, by one dot product of their bytes with
 * weights. A thread takes two such rows: its rows start one row above the
 * first where chroma lies between two rows.
 *
 * A sum of bytes is turned into a float32 by being added to the bits of 2^23:
 * what is below 2^23 is then in its lowest bits.
 */
#ifndef IMG_CVTCOLOR_DECODE_CUH
#define IMG_CVTCOLOR_DECODE_CUH

#include "cvtcolor-octets.cuh"

#define DECODE_BITS 0x4b000000u /* of the float32 2^23 */
#define DECODE_ONE 8388608.0f
#define DECODE_UNIT 128 /* sums of bytes are in 128ths */
#define DECODE_PAIRS 5  /* of columns of chroma that an octet lies between */

/* The two components of chroma are called first and second: of the first
 * colour in memory (by blue and red) and of the last. */
struct DecodeJob {
  const unsigned char *luma;
  const unsigned char *chroma[2]; /* NV12: the one plane, and NULL */
  unsigned char *dst;
  int luma_stride, chroma_stride[2], dst_stride;
  int octets, height, chroma_width, chroma_height;
  int shift;             /* 1: rows start one above the first */
  unsigned weight[2][2]; /* [row][odd column]: of left and right above, left
                            and right below */
  unsigned pick[2];      /* NV12: first and second component of two pairs */

  /* a value of 0..1 = luma * (y in units) + offset + the others * (u - 128) */
  float luma_factor, offset, first, second, green[2];
  float last;      /* 2^23, and in the second byte of its bits alpha */
  unsigned select; /* __byte_perm of two colours, and one and alpha, to a pixel
                      of four bytes */
};

/* Pairs of columns of one row of NV12 as they lie there; `at` is the octet's
 * first sample. */
static __device__ __forceinline__ void
decode_load_pairs (const uint16_t *at, bool is_first, bool is_last,
    unsigned pair[DECODE_PAIRS])
{
  const uint2 two = *(const uint2 *)at;
  const unsigned left = is_first ? two.x : at[-1];
  const unsigned right = is_last ? two.y >> 16 : at[4];

  pair[0] = __byte_perm (left, two.x, 0x5410);
  pair[1] = two.x;
  pair[2] = __byte_perm (two.x, two.y, 0x5432);
  pair[3] = two.y;
  pair[4] = __byte_perm (two.y, right, 0x5432);
}

/* The pairs of one component of two rows of I420. */
static __device__ __forceinline__ void
decode_load_plane (const unsigned char *above, const unsigned char *below,
    bool is_first, bool is_last, unsigned pair[DECODE_PAIRS])
{
  const unsigned a = *(const unsigned *)above, b = *(const unsigned *)below;
  const unsigned left = is_first ? __byte_perm (a, b, 0x0040)
                                 : __byte_perm (above[-1], below[-1], 0x0040);
  const unsigned right = is_last ? __byte_perm (a, b, 0x0073)
                                 : __byte_perm (above[4], below[4], 0x0040);

  pair[1] = __byte_perm (a, b, 0x5410);
  pair[2] = __byte_perm (a, b, 0x6521);
  pair[3] = __byte_perm (a, b, 0x7632);
  pair[0] = __byte_perm (pair[1], left, 0x2504);
  pair[4] = __byte_perm (pair[3], right, 0x5341);
}

/* For each pair of columns the four samples of rows `row` and `row` + 1, of
 * each component: left and right above, left and right below. */
template <int Src>
static __device__ __forceinline__ void
decode_load_chroma (
    const DecodeJob &job, int row, int octet, unsigned chroma[2][DECODE_PAIRS])
{
  const int last = job.chroma_height - 1; /* a field may lack its last row */
  const int above = min (max (row, 0), last), below = min (row + 1, last);
  const bool is_first = octet == 0;
  const bool is_last = 4 * octet + 4 >= job.chroma_width;

  if constexpr (Src == CVTCOLOR_NV12) {
    const uint16_t *at = (const uint16_t *)job.chroma[0] + 4 * octet;
    unsigned pair[2][DECODE_PAIRS];

    decode_load_pairs (
        ptx_row (at, above, job.chroma_stride[0]), is_first, is_last, pair[0]);
    decode_load_pairs (
        ptx_row (at, below, job.chroma_stride[0]), is_first, is_last, pair[1]);
#pragma unroll
    for (int i = 0; i < DECODE_PAIRS; i++) {
      chroma[0][i] = __byte_perm (pair[0][i], pair[1][i], job.pick[0]);
      chroma[1][i] = __byte_perm (pair[0][i], pair[1][i], job.pick[1]);
    }
  } else {
#pragma unroll
    for (int c = 0; c < 2; c++) {
      const unsigned char *at = job.chroma[c] + 4 * octet;

      decode_load_plane (ptx_row (at, above, job.chroma_stride[c]),
          ptx_row (at, below, job.chroma_stride[c]), is_first, is_last,
          chroma[c]);
    }
  }
}

/* A sum of chroma less its neutral value, in units. */
static __device__ __forceinline__ float
decode_chroma (unsigned samples, unsigned weight)
{
  return __fadd_rn (__uint_as_float (__dp4a (samples, weight, DECODE_BITS)),
      -(DECODE_ONE + 128 * DECODE_UNIT));
}

/* The byte of a value, in the lowest byte of the result. */
static __device__ __forceinline__ unsigned
decode_byte (float value, float one)
{
  return __float_as_uint (__fmaf_rn (__saturatef (value), 255.0f, one));
}

/* The colours of pixel `i` of an octet in the order of memory, the last one
 * with alpha in its second byte. */
static __device__ __forceinline__ void
decode_pixel (const DecodeJob &job, int i, unsigned luma,
    const unsigned chroma[2][DECODE_PAIRS], const unsigned weight[2],
    unsigned colour[3])
{
  const int pair = (i + 1) / 2;
  const unsigned y
      = __dp4a (luma, (unsigned)DECODE_UNIT << 8 * (i % 4), DECODE_BITS);
  const float grey
      = __fmaf_rn (job.luma_factor, __uint_as_float (y), job.offset);
  const float first = decode_chroma (chroma[0][pair], weight[i % 2]);
  const float second = decode_chroma (chroma[1][pair], weight[i % 2]);
  const float green
      = __fmaf_rn (job.green[1], second, __fmaf_rn (job.green[0], first, grey));

  colour[0] = decode_byte (__fmaf_rn (job.first, first, grey), DECODE_ONE);
  colour[1] = decode_byte (green, DECODE_ONE);
  colour[2] = decode_byte (__fmaf_rn (job.second, second, grey), job.last);
}

/* An octet as it is stored. */
template <int Dst>
static __device__ __forceinline__ void
decode_octet (const DecodeJob &job, uint2 luma,
    const unsigned chroma[2][DECODE_PAIRS], const unsigned weight[2],
    unsigned word[8])
{
#pragma unroll
  for (int h = 0; h < 2; h++) {
    unsigned c[4][3];

#pragma unroll
    for (int i = 0; i < 4; i++)
      decode_pixel (job, 4 * h + i, h ? luma.y : luma.x, chroma, weight, c[i]);
    if constexpr (Dst == CVTCOLOR_PACKED3) {
      word[3 * h] = octets_join<0> (c[0][0], c[0][1], c[0][2], c[1][0]);
      word[3 * h + 1] = octets_join<0> (c[1][1], c[1][2], c[2][0], c[2][1]);
      word[3 * h + 2] = octets_join<0> (c[2][2], c[3][0], c[3][1], c[3][2]);
    } else {
#pragma unroll
      for (int i = 0; i < 4; i++)
        word[4 * h + i] = __byte_perm (
            __byte_perm (c[i][0], c[i][1], 0x0040), c[i][2], job.select);
    }
  }
}

template <int Src, int Dst>
static __global__ void __launch_bounds__ (32 * OCTETS_WARPS)
    decode_kernel (const __grid_constant__ DecodeJob job)
{
  constexpr int octet_bytes = 8 * octets_pixel_bytes<Dst>;
  __shared__ OctetStage<Dst, 2> stages[OCTETS_WARPS];
  OctetStage<Dst, 2> *stage = &stages[threadIdx.y];
  const int row = (int)(blockIdx.y * OCTETS_WARPS + threadIdx.y) - job.shift;
  const int y = 2 * row + job.shift, first = 32 * (int)blockIdx.x;
  const int octet = min (first + (int)threadIdx.x, job.octets - 1);
  unsigned chroma[2][DECODE_PAIRS], word[8];
  uint2 luma[2];

  kernel_begin ();
  if (y >= job.height)
    return;
#pragma unroll
  for (int r = 0; r < 2; r++)
    luma[r] = *ptx_row ((const uint2 *)job.luma + octet,
        min (max (y + r, 0), job.height - 1), job.luma_stride);
  decode_load_chroma<Src> (job, row, octet, chroma);
#pragma unroll
  for (int r = 0; r < 2; r++) {
    decode_octet<Dst> (job, luma[r], chroma, job.weight[r], word);
    stage->put (r, word);
  }
  __syncwarp ();
  octets_store<Dst> (stage,
      ptx_row (job.dst + first * octet_bytes, y, job.dst_stride),
      job.dst_stride, (job.octets - first) * octet_bytes, y, job.height);
}

/* on the host */

/* Of four samples, from the quarters of two rows and of two columns. */
static unsigned
decode_weight (unsigned rows, unsigned columns)
{
  unsigned weight = 0;

  for (int i = 0; i < 4; i++)
    weight |= (rows >> 8 * (i / 2) & 0xff) * (columns >> 8 * (i % 2) & 0xff)
                  * (DECODE_UNIT / 16)
              << 8 * i;
  return weight;
}

static void
decode_set_weights (DecodeJob *job, const ImgCvtcolorPlan *plan)
{
  const ImgResample v = plan->v[1][0], h = plan->h[1][0];
  const bool centred = v == IMG_RESAMPLE_UP_CENTRED;
  /* the two of three samples that the rows and the columns lie between */
  const unsigned rows[2] = { img_resample_quarters (v, centred) >> 8,
    centred ? img_resample_quarters (v, 0)
            : img_resample_quarters (v, 1) >> 8 };
  const unsigned columns[2]
      = { img_resample_quarters (h, 0), img_resample_quarters (h, 1) >> 8 };

  job->shift = centred;
  for (int r = 0; r < 2; r++)
    for (int odd = 0; odd < 2; odd++)
      job->weight[r][odd] = decode_weight (rows[r], columns[odd]);
}

/* Factors for values of 0..1; `first` is 0 where red is the first colour. */
static void
decode_set_factors (DecodeJob *job, const ImgCvtcolorPlan *plan, int first)
{
  const int chroma = first == 0 ? 2 : 1; /* red has v, blue has u */
  const double unit = 255.0 * DECODE_UNIT;
  const double black
      = plan->mix[0][3] + (double)plan->mix[0][2] * plan->neutral;

  job->luma_factor = (float)(plan->mix[0][0] / unit);
  job->offset = (float)(black / 255 - (double)job->luma_factor * DECODE_ONE);
  job->first = (float)(plan->mix[first][chroma] / unit);
  job->second = (float)(plan->mix[2 - first][3 - chroma] / unit);
  job->green[0] = (float)(plan->mix[1][chroma] / unit);
  job->green[1] = (float)(plan->mix[1][3 - chroma] / unit);
}

/* Where the bytes of a pixel of four come from: of two colours, the lowest two
 * bytes, and of the last with alpha behind it. */
static unsigned
decode_select (const ImgPlane *plane)
{
  static const unsigned source[] = { 0, 1, 4 };
  unsigned select = 0, colours = 0;

  for (int c = 0; c < plane->channels; c++)
    select |= (img_channel_is_color (plane->channel[c]) ? source[colours++] : 5)
              << 4 * c;
  return select;
}

template <int Src, int Dst>
static bool
decode_start (const DecodeJob *job, cudaStream_t stream)
{
  const int pairs = (job->height + job->shift + 1) / 2;

  launch (decode_kernel<Src, Dst>, octets_grid (job->octets, pairs),
      dim3 (32, OCTETS_WARPS), 0, stream, *job);
  return true;
}

/* Converts whole octets of columns of `src`, NV12 or I420 of 16-byte aligned
 * rows, to packed RGB. */
static bool
decode_run (const ImgCvtcolorPlan *plan, const ImgView *src, const ImgView *dst,
    cudaStream_t stream)
{
  const ImgPlane *packed = &dst->plane[0];
  const int red = cvtcolor_find (packed, IMG_CHANNEL_R);
  const int blue = cvtcolor_find (packed, IMG_CHANNEL_B);
  const int first = red < blue ? 0 : 2;
  const bool nv12 = cvtcolor_kind (src) == CVTCOLOR_NV12;
  const bool three = packed->channels == 3;
  DecodeJob job = {};

  job.luma = plan->src[0].data;
  job.luma_stride = (int)plan->src[0].stride;
  job.dst = (unsigned char *)packed->data;
  job.dst_stride = (int)packed->stride;
  job.octets = src->width / 8;
  job.height = src->height;
  job.chroma_width = plan->src[1].width;
  job.chroma_height = plan->src[1].height;
  for (int i = 0; i < 2; i++) {
    const int component = (i == 0) == (first == 0) ? 2 : 1;
    const ImgCvtcolorChannel *chroma = &plan->src[component];

    job.chroma[i]
        = nv12 ? (const unsigned char *)src->plane[1].data : chroma->data;
    job.chroma_stride[i] = (int)chroma->stride;
    job.pick[i] = chroma->data == src->plane[1].data ? 0x6420 : 0x7531;
  }
  decode_set_weights (&job, plan);
  decode_set_factors (&job, plan, first);
  job.last = DECODE_ONE + (float)(plan->alpha << 8);
  job.select = decode_select (packed);
  if (nv12)
    return three ? decode_start<CVTCOLOR_NV12, CVTCOLOR_PACKED3> (&job, stream)
                 : decode_start<CVTCOLOR_NV12, CVTCOLOR_PACKED4> (&job, stream);
  return three ? decode_start<CVTCOLOR_I420, CVTCOLOR_PACKED3> (&job, stream)
               : decode_start<CVTCOLOR_I420, CVTCOLOR_PACKED4> (&job, stream);
}

#endif
