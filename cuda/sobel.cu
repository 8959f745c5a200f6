/*
 * sobel.h on CUDA.
 *
 * 8-bit planes with the 3 × 3 Sobel kernel: a thread walks down a column of
 * eight components and keeps the last two rows in registers. Its sums are
 * integers below 2048 and so exact in half precision, two to an instruction.
 * Everything else: one component a thread, from its neighbourhood in the
 * cache. The luma of RGB is read into a plane of its own first.
 */
#include "sobel.h"

#include <cuda_fp16.h>
#include <stdint.h>
#include <stdlib.h>

#include "check.h"
#include "pointwise.cuh"
#include "sobel-arith.h"

/* One plane to derive. */
struct SobelPlane {
  const unsigned char *src;
  unsigned char *dst;
  ptrdiff_t src_stride, dst_stride;
  int width, height, channels;
  int row; /* components in a row */
  int shift;
  ImgBorder border; /* its constant is the rule's black */
  ImgSobelRule rule;
  unsigned keep;                 /* bits of a word that are copied */
  bool copied[IMG_MAX_CHANNELS]; /* the same by channel */
};

/* Component `x` of row `y`, both anywhere. */
template <typename T>
static __device__ int
sobel_component (const SobelPlane &plane, int x, int y)
{
  const int c = plane.channels;
  int pixel = x >= 0 ? x / c : -((c - 1 - x) / c);
  const int channel = x - pixel * c;

  pixel = img_border_index (pixel, plane.width, plane.border);
  y = img_border_index (y, plane.height, plane.border);
  if (pixel < 0 || y < 0)
    return plane.rule.black;
  return ((const T *)(plane.src + y * plane.src_stride))[pixel * c + channel]
         >> plane.shift;
}

/* 3 × 3 on 8 bits */

#define WALK_THREADS 128
#define WALK_COLS 8  /* components of a thread, 8-byte aligned */
#define WALK_ROWS 32 /* result rows of a thread */

/* Sums along one row, of four pairs of components. */
struct RowSums {
  __half2 smooth[4];  /* 1 2 1, plus 1024 */
  __half2 derived[4]; /* -1 0 1 */
};

/* Two bytes of a word as halves, 1024 + b each. */
static __device__ __forceinline__ __half2
biased_halves (unsigned word, int pair)
{
  const unsigned bits = __byte_perm (word, 0x64646464, pair ? 0x4342 : 0x4140);

  return *(const __half2 *)&bits;
}

/* The row's 16 bytes from four components before to four after the thread's:
 * word[1] and word[2] are its own. */
struct RowBytes {
  unsigned word[4];
};

static __device__ RowBytes
walk_gather (const SobelPlane &plane, int x, int y)
{
  RowBytes bytes = {};

#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll 1
    for (int k = 0; k < 4; k++) {
      const int at = x - 4 + 4 * i + k;

      /* not beyond what a result of the row needs */
      if (at >= -plane.channels && at < plane.row + plane.channels)
        bytes.word[i] |= (unsigned)sobel_component<uint8_t> (plane, at, y)
                         << 8 * k;
    }
  return bytes;
}

static __device__ __forceinline__ RowBytes
walk_load (const SobelPlane &plane, int x, int y, bool inside)
{
  if (!inside)
    return walk_gather (plane, x, y);
  y = img_border_index (y, plane.height, plane.border);
  if (y < 0) {
    const unsigned black = plane.rule.black * 0x01010101u;

    return { { black, black, black, black } };
  }
  const unsigned char *data = plane.src + y * plane.src_stride + x;
  const uint2 own = *(const uint2 *)data;

  return { { *(const unsigned *)(data - 4), own.x, own.y,
      *(const unsigned *)(data + 8) } };
}

/* `Channels` components before and after are the neighbours. */
template <int Channels>
static __device__ __forceinline__ RowSums
walk_sums (const RowBytes &bytes)
{
  const __half2 bias = __float2half2_rn (1024.f), two = __float2half2_rn (2.f);
  RowSums sums;

#pragma unroll
  for (int i = 0; i < 2; i++) {
    const unsigned *w = bytes.word + i;
    const unsigned left = __funnelshift_r (w[0], w[1], 32 - 8 * Channels);
    const unsigned right
        = Channels == 4 ? w[2] : __funnelshift_r (w[1], w[2], 8 * Channels);
    const unsigned before = Channels == 4 ? w[0] : left;

#pragma unroll
    for (int k = 0; k < 2; k++) {
      const __half2 l = biased_halves (before, k);
      const __half2 r = biased_halves (right, k);
      const __half2 c = __hsub2 (biased_halves (w[1], k), bias);

      sums.derived[2 * i + k] = __hsub2 (r, l);
      sums.smooth[2 * i + k] = __hfma2 (c, two, __hadd2 (__hsub2 (l, bias), r));
    }
  }
  return sums;
}

/* The rule of the contract, for any parameters. */
struct FinishAny {
  ImgSobelRule rule;
  int direction;

  __device__ __forceinline__ unsigned operator() (float gx, float gy) const
  {
    return (unsigned)img_sobel_finish (
        &rule, direction == IMG_SOBEL_Y ? gy : gx, gy);
  }
};

/* sqrt (gx² + gy²) with scale 1 and delta 0: sobel-arith.h says why an inexact
 * root is enough. Adding 2^23 + 2^22 rounds; the result is in the low byte. */
struct FinishMagnitude {
  ImgSobelRule rule;
  int direction;

  __device__ __forceinline__ unsigned operator() (float gx, float gy) const
  {
    float root;

    asm("sqrt.approx.ftz.f32 %0, %1;"
        : "=f"(root)
        : "f"(__fmaf_rn (gx, gx, gy * gy)));
    root = fminf (root, (float)rule.range) + (float)rule.black;
    return __float_as_uint (root + 12582912.f);
  }
};

template <typename Finish>
static __device__ __forceinline__ unsigned
walk_word (const RowSums &a, const RowSums &b, const RowSums &c, int half,
    const Finish &finish)
{
  const __half2 two = __float2half2_rn (2.f);
  unsigned value[4];

#pragma unroll
  for (int k = 0; k < 2; k++) {
    const int i = 2 * half + k;
    const float2 gx = __half22float2 (
        __hadd2 (__hfma2 (b.derived[i], two, a.derived[i]), c.derived[i]));
    const float2 gy = __half22float2 (__hsub2 (c.smooth[i], a.smooth[i]));

    value[2 * k] = finish (gx.x, gy.x);
    value[2 * k + 1] = finish (gx.y, gy.y);
  }
  return __byte_perm (__byte_perm (value[0], value[1], 0x0040),
      __byte_perm (value[2], value[3], 0x0040), 0x5410);
}

/* Writes the thread's results of row `y`; `own` are its own bytes there. */
static __device__ __forceinline__ void
walk_store (const SobelPlane &plane, int x, int y, uint2 value, uint2 own)
{
  const int left = plane.row - x;
  unsigned char *dst = plane.dst + y * plane.dst_stride + x;

  value.x = (value.x & ~plane.keep) | (own.x & plane.keep);
  value.y = (value.y & ~plane.keep) | (own.y & plane.keep);
  if (left >= WALK_COLS) {
    *(uint2 *)dst = value;
  } else {
    pointwise_store_bytes (dst, value.x, left);
    pointwise_store_bytes (dst + 4, value.y, left - 4);
  }
}

template <int Channels, typename Finish>
__global__ void
__launch_bounds__ (WALK_THREADS)
    sobel_walk (const __grid_constant__ SobelPlane plane, const Finish finish)
{
  const int x = (blockIdx.x * WALK_THREADS + threadIdx.x) * WALK_COLS;
  const int y0 = blockIdx.y * WALK_ROWS;
  const int y1 = min (y0 + WALK_ROWS, plane.height);
  /* with four more on each side */
  const bool inside = x >= 4 && x + WALK_COLS + 4 <= plane.row;

  if (x >= plane.row)
    return;
  RowSums a = walk_sums<Channels> (walk_load (plane, x, y0 - 1, inside));
  RowBytes middle = walk_load (plane, x, y0, inside);
  RowSums b = walk_sums<Channels> (middle);

#pragma unroll 2
  for (int y = y0; y < y1; y++) {
    const RowBytes below = walk_load (plane, x, y + 1, inside);
    const RowSums c = walk_sums<Channels> (below);

    walk_store (plane, x, y,
        make_uint2 (
            walk_word (a, b, c, 0, finish), walk_word (a, b, c, 1, finish)),
        make_uint2 (middle.word[1], middle.word[2]));
    a = b;
    b = c;
    middle = below;
  }
}

/* any kernel, any component */

#define GENERIC_X 32
#define GENERIC_Y 8

template <typename T, int Radius>
__global__ void
__launch_bounds__ (GENERIC_X *GENERIC_Y)
    sobel_generic (const __grid_constant__ SobelPlane plane,
        const ImgSobelKernel kernel, const FinishAny finish)
{
  const int x = blockIdx.x * GENERIC_X + threadIdx.x;
  const int y = blockIdx.y * GENERIC_Y + threadIdx.y;
  int gx = 0, gy = 0;

  if (x >= plane.row || y >= plane.height)
    return;
  T *to = (T *)(plane.dst + y * plane.dst_stride) + x;
  if (plane.copied[x % plane.channels]) {
    *to = ((const T *)(plane.src + y * plane.src_stride))[x];
    return;
  }
#pragma unroll
  for (int dy = -Radius; dy <= Radius; dy++) {
    int smooth = 0, derived = 0; /* along the row */

#pragma unroll
    for (int dx = -Radius; dx <= Radius; dx++) {
      const int value
          = sobel_component<T> (plane, x + dx * plane.channels, y + dy);

      smooth += kernel.smooth[abs (dx)] * value;
      derived += (dx < 0 ? -1 : 1) * kernel.derive[abs (dx)] * value;
    }
    gx += kernel.smooth[abs (dy)] * derived;
    gy += (dy < 0 ? -1 : 1) * kernel.derive[abs (dy)] * smooth;
  }
  *to = (T)(finish ((float)gx, (float)gy) << plane.shift);
}

/* the luma of RGB */

struct LumaPlanes {
  const unsigned char *src[IMG_MAX_PLANES];
  unsigned char *dst[IMG_MAX_PLANES];
  ptrdiff_t src_stride[IMG_MAX_PLANES], dst_stride[IMG_MAX_PLANES];
  int width, height, n_planes, channels;
  int at[3];                     /* component (packed) or plane of R, G, B */
  bool copied[IMG_MAX_CHANNELS]; /* component or plane */
};

__global__ void
read_luma (const __grid_constant__ LumaPlanes p, unsigned char *luma, int pitch)
{
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  int v[3];

  if (x >= p.width)
    return;
  for (int i = 0; i < 3; i++)
    v[i] = p.n_planes > 1 ? p.src[p.at[i]][y * p.src_stride[p.at[i]] + x]
                          : p.src[0][y * p.src_stride[0]
                                     + (ptrdiff_t)x * p.channels + p.at[i]];
  luma[(size_t)y * pitch + x] = (unsigned char)img_luma (v[0], v[1], v[2]);
}

__global__ void
write_luma (
    const __grid_constant__ LumaPlanes p, const unsigned char *luma, int pitch)
{
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;

  if (x >= p.width)
    return;
  const unsigned char value = luma[(size_t)y * pitch + x];
  const int n = p.n_planes > 1 ? p.n_planes : p.channels;

  for (int i = 0; i < n; i++) {
    const int plane = p.n_planes > 1 ? i : 0;
    const ptrdiff_t at = p.n_planes > 1 ? x : (ptrdiff_t)x * p.channels + i;

    p.dst[plane][y * p.dst_stride[plane] + at]
        = p.copied[i] ? p.src[plane][y * p.src_stride[plane] + at] : value;
  }
}

/* host */

typedef struct {
  unsigned char *luma; /* two planes, source and result; NULL: not needed */
  size_t n_luma;       /* bytes of both */
} State;

static int
luma_pitch (const ImgView *view)
{
  return (view->width + 255) / 256 * 256;
}

/* Whether the luma must be made first: RGB has none. */
static bool
makes_luma (const ImgView *view, const ImgSobelParams *params)
{
  return view->model == IMG_MODEL_RGB && img_sobel_uses_luma (view, params);
}

static void
release (void *data)
{
  State *state = (State *)data;

  if (state)
    cudaFree (state->luma);
  free (state);
}

static bool
prepare (void **data, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  const ImgSobelParams *p = (const ImgSobelParams *)params;
  const size_t n = 2 * (size_t)luma_pitch (src) * src->height;
  State *state = (State *)*data;

  if (!img_sobel_check (src, dst, p, error))
    return false;
  if (!state)
    *data = state = (State *)calloc (1, sizeof (*state));
  if (!state)
    return img_fail (error, IMG_ERROR_NO_MEMORY, "sobel: no memory");
  if (!makes_luma (src, p) || n <= state->n_luma)
    return true;
  cudaFree (state->luma);
  state->luma = NULL;
  state->n_luma = 0;
  if (!img_cuda_check (
          cudaMalloc (&state->luma, n), "allocating memory for sobel", error))
    return false;
  state->n_luma = n;
  return true;
}

static SobelPlane
sobel_plane (
    const ImgView *src, const ImgView *dst, int i, const ImgSobelParams *params)
{
  const ImgPlane *from = &src->plane[i], *to = &dst->plane[i];
  SobelPlane plane = {};

  plane.src = (const unsigned char *)from->data;
  plane.dst = (unsigned char *)to->data;
  plane.src_stride = from->stride;
  plane.dst_stride = to->stride;
  plane.width = from->width;
  plane.height = from->height;
  plane.channels = from->channels;
  plane.row = from->width * from->channels;
  plane.shift = src->shift;
  plane.border = params->border;
  plane.rule = img_sobel_rule (src, params);
  for (int c = 0; c < from->channels; c++) {
    plane.copied[c] = !img_channel_is_color (from->channel[c]);
    plane.keep |= plane.copied[c] ? 0xffu << 8 * c : 0;
  }
  return plane;
}

template <typename Finish>
static void
start_walk (const SobelPlane &plane, const Finish &finish, cudaStream_t stream)
{
  const int span = WALK_THREADS * WALK_COLS;
  const dim3 grid ((plane.row + span - 1) / span,
      (plane.height + WALK_ROWS - 1) / WALK_ROWS);

  if (plane.channels == 1)
    sobel_walk<1><<<grid, WALK_THREADS, 0, stream>>> (plane, finish);
  else if (plane.channels == 3)
    sobel_walk<3><<<grid, WALK_THREADS, 0, stream>>> (plane, finish);
  else
    sobel_walk<4><<<grid, WALK_THREADS, 0, stream>>> (plane, finish);
}

template <typename T>
static void
start_generic (const SobelPlane &plane, const ImgSobelKernel &kernel,
    const FinishAny &finish, cudaStream_t stream)
{
  const dim3 block (GENERIC_X, GENERIC_Y);
  const dim3 grid ((plane.row + GENERIC_X - 1) / GENERIC_X,
      (plane.height + GENERIC_Y - 1) / GENERIC_Y);

  if (kernel.radius == 1)
    sobel_generic<T, 1><<<grid, block, 0, stream>>> (plane, kernel, finish);
  else if (kernel.radius == 2)
    sobel_generic<T, 2><<<grid, block, 0, stream>>> (plane, kernel, finish);
  else
    sobel_generic<T, 3><<<grid, block, 0, stream>>> (plane, kernel, finish);
}

static bool
can_walk (
    const SobelPlane &plane, int component_bytes, const ImgSobelParams *params)
{
  const uintptr_t bits = (uintptr_t)plane.src | (uintptr_t)plane.dst
                         | (uintptr_t)plane.src_stride
                         | (uintptr_t)plane.dst_stride;

  return component_bytes == 1 && plane.channels != 2
         && params->op == IMG_SOBEL_SOBEL && params->kernel_size == 3
         && bits % WALK_COLS == 0;
}

static bool
run_plane (const SobelPlane &plane, int component_bytes,
    const ImgSobelParams *params, cudaStream_t stream, ImgError *error)
{
  const ImgSobelKernel kernel
      = img_sobel_kernel (params->op, params->kernel_size);
  const FinishAny any = { plane.rule, params->direction };
  const FinishMagnitude magnitude = { plane.rule, params->direction };
  const bool plain = plane.rule.kind == IMG_SOBEL_RULE_L2
                     && plane.rule.scale == 1 && plane.rule.delta == 0;

  if (!can_walk (plane, component_bytes, params)) {
    if (component_bytes == 1)
      start_generic<uint8_t> (plane, kernel, any, stream);
    else
      start_generic<uint16_t> (plane, kernel, any, stream);
  } else if (plain) {
    start_walk (plane, magnitude, stream);
  } else {
    start_walk (plane, any, stream);
  }
  return img_cuda_launched ("launching sobel", error);
}

static LumaPlanes
luma_planes (const ImgView *src, const ImgView *dst)
{
  LumaPlanes p = {};

  p.width = src->width;
  p.height = src->height;
  p.n_planes = src->n_planes;
  p.channels = src->plane[0].channels;
  for (int i = 0; i < src->n_planes; i++) {
    p.src[i] = (const unsigned char *)src->plane[i].data;
    p.dst[i] = (unsigned char *)dst->plane[i].data;
    p.src_stride[i] = src->plane[i].stride;
    p.dst_stride[i] = dst->plane[i].stride;
  }
  for (int i = 0; i < (p.n_planes > 1 ? p.n_planes : p.channels); i++) {
    const ImgChannel channel
        = p.n_planes > 1 ? src->plane[i].channel[0] : src->plane[0].channel[i];

    p.copied[i] = !img_channel_is_color (channel);
    if (!p.copied[i])
      p.at[channel - IMG_CHANNEL_R] = i;
  }
  return p;
}

/* Luma out of the picture, sobel of it, and that into all colour channels. */
static bool
run_luma (const State *state, const ImgView *src, const ImgView *dst,
    const ImgSobelParams *params, cudaStream_t stream, ImgError *error)
{
  const LumaPlanes planes = luma_planes (src, dst);
  const int pitch = luma_pitch (src);
  const dim3 grid ((src->width + 127) / 128, src->height);
  unsigned char *result = state->luma + (size_t)pitch * src->height;
  SobelPlane plane = sobel_plane (src, dst, 0, params);

  plane.src = state->luma;
  plane.dst = result;
  plane.src_stride = plane.dst_stride = pitch;
  plane.channels = 1;
  plane.row = plane.width;
  plane.keep = 0;
  plane.copied[0] = false;
  read_luma<<<grid, 128, 0, stream>>> (planes, state->luma, pitch);
  if (!run_plane (plane, 1, params, stream, error))
    return false;
  write_luma<<<grid, 128, 0, stream>>> (planes, result, pitch);
  return img_cuda_launched ("launching sobel", error);
}

static bool
run (void *data, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  const ImgSobelParams *p = (const ImgSobelParams *)params;

  if (makes_luma (src, p))
    return run_luma ((const State *)data, src, dst, p, stream, error);
  if (!pointwise_fill_others (src, dst, stream, error))
    return false;
  for (int i = 0; i < (img_sobel_uses_luma (src, p) ? 1 : src->n_planes); i++)
    if (img_channel_is_color (src->plane[i].channel[0])
        || src->plane[i].channels > 1)
      if (!run_plane (sobel_plane (src, dst, i, p), src->component_bytes, p,
              stream, error))
        return false;
  return true;
}

const ImgOperation img_sobel_cuda
    = { "sobel", sizeof (ImgSobelParams), false, prepare, run, release };
