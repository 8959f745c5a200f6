/* cvtcolor.h on the GPU, in one pass over the picture: a general kernel for
 * any two formats, and others for those that matter most. */
#include "cvtcolor.h"

#include <string.h>

#include "check.h"
#include "cvtcolor-arith.h"
#include "cvtcolor-decode.cuh"
#include "cvtcolor-encode.cuh"
#include "cvtcolor-quads.cuh"
#include "launch.cuh"
#include "pointwise.cuh"

#define THREADS_X 32
#define THREADS_Y 8

/* What the general kernel is told: it converts columns first..width-1. */
struct GeneralJob {
  ImgCvtcolorPlan plan;
  int first, width, height;
  int x_sub, y_sub;     /* of chroma of the destination */
  unsigned uses_luma;   /* bit s: luma, or RGB, needs component s of the */
  unsigned uses_chroma; /* source; and chroma the same */
};

static __device__ __forceinline__ unsigned
read_sample (const GeneralJob &job, const ImgCvtcolorChannel &c, int x, int y)
{
  const unsigned char *p = c.data + img_clamp (y, 0, c.height - 1) * c.stride
                           + img_clamp (x, 0, c.width - 1) * (ptrdiff_t)c.step;

  return job.plan.src_bytes == 1 ? *p
                                 : *(const uint16_t *)p >> job.plan.src_shift;
}

/* Component `s` of the source at a place of luma or of chroma of the result.
 * The sums are exact, as they are in float32. */
static __device__ __forceinline__ float
resample (const GeneralJob &job, int s, bool chroma, int x, int y)
{
  const ImgCvtcolorChannel &c = job.plan.src[s];
  const ImgResample h = job.plan.h[s > 0][chroma];
  const ImgResample v = job.plan.v[s > 0][chroma];
  const unsigned columns = img_resample_quarters (h, x);
  const unsigned rows = img_resample_quarters (v, y);
  const int base_x = img_resample_base (h, x) - 1;
  const int base_y = img_resample_base (v, y) - 1;
  unsigned sum = 0;

  if (c.height == 0)
    return (float)job.plan.neutral;
  if (h == IMG_RESAMPLE_SAME && v == IMG_RESAMPLE_SAME)
    return (float)read_sample (job, c, x, y);
#pragma unroll
  for (int i = 0; i < 3; i++)
#pragma unroll
    for (int k = 0; k < 3; k++) {
      const unsigned weight
          = (rows >> 8 * i & 0xff) * (columns >> 8 * k & 0xff);

      if (weight > 0)
        sum += weight * read_sample (job, c, base_x + k, base_y + i);
    }
  return (float)sum * (1.0f / 16);
}

/* The steps of mix_row () in cvtcolor.c, none of them contracted. */
static __device__ __forceinline__ int
mix (const GeneralJob &job, int component, const float from[3])
{
  const float *m = job.plan.mix[component];
  float value = m[3];

#pragma unroll
  for (int s = 0; s < 3; s++)
    value = __fadd_rn (value, __fmul_rn (m[s], from[s]));
  return img_round_clamp (value, 0, job.plan.max);
}

static __device__ __forceinline__ void
write_sample (const GeneralJob &job, int component, int x, int y, int value)
{
  const ImgCvtcolorChannel &c = job.plan.dst[component];
  unsigned char *p = c.data + y * c.stride + x * (ptrdiff_t)c.step;

  if (job.plan.dst_bytes == 1)
    *p = (unsigned char)value;
  else
    *(uint16_t *)p = (uint16_t)(value << job.plan.dst_shift);
}

/* Luma, grey or RGB of one pixel, and its alpha. */
static __device__ __forceinline__ void
convert_pixel (const GeneralJob &job, int x, int y)
{
  const int n = job.plan.chroma ? 1 : job.plan.n_dst;
  float from[3] = {};

#pragma unroll
  for (int s = 0; s < 3; s++)
    if (job.uses_luma >> s & 1)
      from[s] = resample (job, s, false, x, y);
  if (job.plan.luma)
    from[0] = (float)img_luma ((int)from[0], (int)from[1], (int)from[2]);
#pragma unroll
  for (int k = 0; k < 3; k++)
    if (k < n)
      write_sample (job, k, x, y, mix (job, k, from));
  if (!job.plan.dst[IMG_CVTCOLOR_ALPHA].data)
    return;
  int alpha = job.plan.alpha;

  if (job.plan.alpha_scale != 0)
    alpha = img_round_clamp (
        __fmul_rn (job.plan.alpha_scale,
            (float)read_sample (job, job.plan.src[IMG_CVTCOLOR_ALPHA], x, y)),
        0, job.plan.max);
  write_sample (job, IMG_CVTCOLOR_ALPHA, x, y, alpha);
}

static __device__ __forceinline__ void
convert_chroma (const GeneralJob &job, int x, int y)
{
  float from[3] = {};

  if (x >= job.plan.dst[1].width || y >= job.plan.dst[1].height)
    return;
#pragma unroll
  for (int s = 0; s < 3; s++)
    if (job.uses_chroma >> s & 1)
      from[s] = resample (job, s, true, x, y);
  write_sample (job, 1, x, y, mix (job, 1, from));
  write_sample (job, 2, x, y, mix (job, 2, from));
}

/* Two by two pixels in a thread, and the chroma that lies among them. */
static __global__ void
__launch_bounds__ (THREADS_X *THREADS_Y)
    general_kernel (const __grid_constant__ GeneralJob job)
{
  const int x = job.first + 2 * (int)(blockIdx.x * THREADS_X + threadIdx.x);
  const int y = 2 * (int)(blockIdx.y * THREADS_Y + threadIdx.y);

  kernel_begin ();
  for (int k = 0; k < 4; k++)
    if (x + (k & 1) < job.width && y + (k >> 1) < job.height)
      convert_pixel (job, x + (k & 1), y + (k >> 1));
  if (!job.plan.chroma || x >= job.width || y >= job.height)
    return;
  for (int i = 0; i < 2 >> job.y_sub; i++)
    for (int k = 0; k < 2 >> job.x_sub; k++)
      convert_chroma (job, (x >> job.x_sub) + k, (y >> job.y_sub) + i);
}

/* Bit s: one of components begin..end-1 needs component s of the source. */
static unsigned
uses (const ImgCvtcolorPlan *plan, int begin, int end)
{
  unsigned bits = plan->luma ? 7 : 0;

  for (int i = begin; i < end; i++)
    for (int s = 0; s < 3; s++)
      if (plan->mix[i][s] != 0)
        bits |= 1u << s;
  return bits;
}

/* Converts the columns from `first`, which is even, on. */
static void
start_general (const ImgCvtcolorPlan *plan, const ImgView *dst, int first,
    cudaStream_t stream)
{
  const ImgPlane *last = &dst->plane[dst->n_planes - 1];
  const int span_x = 2 * THREADS_X, span_y = 2 * THREADS_Y;
  const dim3 block (THREADS_X, THREADS_Y);
  const dim3 grid ((dst->width - first + span_x - 1) / span_x,
      (dst->height + span_y - 1) / span_y);
  GeneralJob job
      = { *plan, first, dst->width, dst->height, last->x_sub, last->y_sub,
          uses (plan, 0, plan->chroma ? 1 : plan->n_dst), uses (plan, 1, 3) };

  launch (general_kernel, grid, block, 0, stream, job);
}

static bool
is_aligned (const ImgView *view)
{
  uintptr_t bits = 0;

  for (int i = 0; i < view->n_planes; i++)
    bits |= (uintptr_t)view->plane[i].data | (uintptr_t)view->plane[i].stride;
  return bits % 16 == 0;
}

/* For __byte_perm of a stored pixel and alpha: R, G, B, A. */
static unsigned
select_from (const ImgView *view)
{
  unsigned select = 0x4000;

  for (int c = 0; c < view->plane[0].channels; c++)
    switch (view->plane[0].channel[c]) {
    case IMG_CHANNEL_R:
      select |= c;
      break;
    case IMG_CHANNEL_G:
      select |= c << 4;
      break;
    case IMG_CHANNEL_B:
      select |= c << 8;
      break;
    case IMG_CHANNEL_A:
      select = (select & 0x0fff) | c << 12;
      break;
    default:
      break;
    }
  return select;
}

/* For __byte_perm of R, G, B, A and a word of ones: a pixel as it is stored. */
static unsigned
select_to (const ImgView *view)
{
  unsigned select = 0;

  for (int c = 0; c < view->plane[0].channels; c++)
    switch (view->plane[0].channel[c]) {
    case IMG_CHANNEL_R:
      break;
    case IMG_CHANNEL_G:
      select |= 1u << 4 * c;
      break;
    case IMG_CHANNEL_B:
      select |= 2u << 4 * c;
      break;
    case IMG_CHANNEL_A:
      select |= 3u << 4 * c;
      break;
    default:
      select |= 4u << 4 * c;
      break;
    }
  return select;
}

template <int Src, int Dst>
static bool
start_quads (const QuadsJob *job, cudaStream_t stream)
{
  const dim3 block (32, QUADS_WARPS);
  const dim3 grid ((job->quads + 31) / 32,
      (job->height + 2 * QUADS_WARPS - 1) / (2 * QUADS_WARPS));

  launch (quads_kernel<Src, Dst>, grid, block, 0, stream, *job);
  return true;
}

template <int Src>
static bool
start_quads_from (CvtcolorKind dst, const QuadsJob *job, cudaStream_t stream)
{
  return dst == CVTCOLOR_PACKED3
             ? start_quads<Src, CVTCOLOR_PACKED3> (job, stream)
             : start_quads<Src, CVTCOLOR_PACKED4> (job, stream);
}

/* From packed RGB, or grey, to packed RGB. */
static bool
run_quads (const ImgCvtcolorPlan *plan, const ImgView *src, const ImgView *dst,
    cudaStream_t stream)
{
  const CvtcolorKind from = cvtcolor_kind (src), to = cvtcolor_kind (dst);
  const float *m = plan->mix[0];
  QuadsJob job = {};

  if (m[0] != 1 || m[1] != 0 || m[2] != 0 || m[3] != 0)
    return false;
  job.plan = *plan;
  job.src = (const unsigned char *)src->plane[0].data;
  job.dst = (unsigned char *)dst->plane[0].data;
  job.quads = src->width / 4;
  job.height = src->height;
  job.src_select = select_from (src);
  job.dst_select = select_to (dst);
  if (from == CVTCOLOR_GRAY)
    return start_quads_from<CVTCOLOR_GRAY> (to, &job, stream);
  return from == CVTCOLOR_PACKED3
             ? start_quads_from<CVTCOLOR_PACKED3> (to, &job, stream)
             : start_quads_from<CVTCOLOR_PACKED4> (to, &job, stream);
}

/* The steps of mix () on each byte where only one component counts. The bits of
 * 2^23 + n end with those of n. */
struct CvtcolorScale {
  float factor, offset;

  __device__ void begin ()
  {
  }

  __device__ unsigned scale (unsigned word, int i) const
  {
    const float from
        = __uint_as_float (__byte_perm (word, 0x4b000000u, 0x7440u + i))
          - 8388608.0f;
    const float value = __fadd_rn (offset, __fmul_rn (factor, from));

    return __float_as_uint (
        __fadd_rn (fminf (fmaxf (value, 0), 255), 8388608.0f));
  }

  __device__ unsigned operator() (unsigned word) const
  {
    if (factor == 1 && offset == 0)
      return word;
    return octets_join<0> (
        scale (word, 0), scale (word, 1), scale (word, 2), scale (word, 3));
  }
};

static bool
is_luma_plane (const ImgView *view)
{
  return view->component_bytes == 1 && view->depth == 8
         && view->model != IMG_MODEL_RGB && view->plane[0].channels == 1;
}

/* Between grey and YUV with a plane of luma; chroma becomes neutral. */
static bool
run_luma (const ImgCvtcolorPlan *plan, const ImgView *src, const ImgView *dst,
    cudaStream_t stream, ImgError *error)
{
  PointwiseJob<CvtcolorScale> job = {};

  for (int i = 0; i < dst->n_planes; i++) {
    const float *mix = plan->mix[i];
    const CvtcolorScale scale = { i == 0 ? mix[0] : 0, mix[3] };

    pointwise_add (&job, i == 0 ? src : NULL, dst, i, scale);
  }
  return pointwise_run (&job, stream, "launching cvtcolor", error);
}

/* Converts as many columns as a kernel for these formats can; returns how many
 * that are. */
static int
run_fast (const ImgCvtcolorPlan *plan, const ImgView *src, const ImgView *dst,
    cudaStream_t stream)
{
  const CvtcolorKind from = cvtcolor_kind (src), to = cvtcolor_kind (dst);
  const bool from_rgb = from == CVTCOLOR_PACKED3 || from == CVTCOLOR_PACKED4;
  const bool from_yuv = from == CVTCOLOR_NV12 || from == CVTCOLOR_I420;
  const bool to_rgb = to == CVTCOLOR_PACKED3 || to == CVTCOLOR_PACKED4;
  const int quads = src->width & ~3, octets = src->width & ~7;

  if (to == CVTCOLOR_OTHER || !is_aligned (src) || !is_aligned (dst))
    return 0;
  if (to_rgb && (from_rgb || from == CVTCOLOR_GRAY))
    return quads > 0 && run_quads (plan, src, dst, stream) ? quads : 0;
  if (from_yuv && to_rgb)
    return octets > 0 && decode_run (plan, src, dst, stream) ? octets : 0;
  if (from_rgb)
    return octets > 0 && encode_run (plan, src, dst, stream) ? octets : 0;
  return 0;
}

static bool
prepare (void **state, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  return img_cvtcolor_check (
      src, dst, (const ImgCvtcolorParams *)params, error);
}

static bool
run (void *state, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  const ImgCvtcolorPlan plan
      = img_cvtcolor_plan (src, dst, (const ImgCvtcolorParams *)params);

  if (is_luma_plane (src) && is_luma_plane (dst)
      && (src->model == IMG_MODEL_GRAY || dst->model == IMG_MODEL_GRAY))
    return run_luma (&plan, src, dst, stream, error);
  const int done = run_fast (&plan, src, dst, stream);

  if (done < dst->width)
    start_general (&plan, dst, done, stream);
  return img_cuda_launched ("launching cvtcolor", error);
}

static void
release (void *state)
{
}

extern "C" const ImgOperation img_cvtcolor_cuda
    = { "cvtcolor", sizeof (ImgCvtcolorParams), false, prepare, run, release };
