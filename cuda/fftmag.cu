/*
 * fftmag.h on the GPU, with cuFFT. The passes of a run:
 *   1. windowed luma less about its mean, as floats, so that the rounding
 * errors of F (0, 0) do not drown the rest and a flat picture is exactly zero;
 *      and its exact sum, which is F (0, 0);
 *   2. cuFFT, real to complex: the half spectrum 0 <= u <= width / 2;
 *   3. with MINMAX the smallest and largest |F|² (every scale grows with it);
 *   4. scale and range; each element of the half spectrum goes to its own
 *      pixel and to that of its mirror image F (-v, -u) = conj (F (v, u)).
 */
#include "fftmag.h"

#include <math.h>
#include <stdlib.h>

#include "cufft-loader.h"
#include "fftmag-arith.h"
#include "luma.cuh"

#define ROW_THREADS_X 64
#define ROW_THREADS_Y 4
#define ROW_WARPS (ROW_THREADS_X * ROW_THREADS_Y / 32)
#define FORWARD_ROWS 4 /* rows of a thread, ROW_THREADS_Y apart */
#define SAMPLES_X 16   /* a sample for each thread of a block */
#define SAMPLES_Y 16
#define EXTREMES_ROWS 8
#define WRITE_THREADS 256
#define WRITE_SPAN 1024 /* elements of a row that a block of pass 4 takes */
#define N_WINDOWS 3     /* hann, hamming, blackman */

/* What the passes hand on to each other. */
struct Statistics {
  double total; /* zero between runs, as is `blocks` */
  unsigned blocks;
  float sum;             /* of the windowed luma, black being 0: F (0, 0) */
  int smallest, largest; /* |F|², as the bits of a float */
};

/* Two rows whose product is a window. */
struct Window {
  const float *x, *y;
};

/* How |F|² is read from the output of cuFFT. */
struct Spectrum {
  const float2 *data;
  int width, height, half; /* half: elements in a row of data */
  float unit;              /* from units of the depth to 8 bits */
  Statistics *statistics;
};

/* The pixels that pass 4 writes, and how. */
struct Output {
  unsigned char *dst[3];
  const unsigned char *src; /* of the alpha that is copied */
  ptrdiff_t dst_stride[3], src_stride;
  int n_planes;
  unsigned colors;              /* bit c: channel c is a colour */
  int shift_x, shift_y, origin; /* origin: of the mirrored columns */
  int black, white, shift;
  ImgFftmagScale scale;
  bool minmax;
  float range_min, range_max;
};

typedef struct {
  const ImgCufft *cufft;
  cufftHandle plan;
  bool early;        /* pass 4 starts before pass 3 ends */
  int width, height; /* what the rest is made for; 0: nothing */
  char *memory;      /* one block, which holds all that follows */
  float *input;
  float2 *spectrum;
  Statistics *statistics;
  Window window[N_WINDOWS];
} FftmagState;

/* Pass 1 */

/* Adds up `value` over the block, for all threads. */
template <typename T>
static __device__ T
block_sum (T value)
{
  __shared__ T partial[ROW_WARPS];
  const int thread = threadIdx.y * ROW_THREADS_X + threadIdx.x;
  T sum = 0;

  for (int i = 16; i > 0; i /= 2)
    value += __shfl_down_sync (~0u, value, i);
  if (thread % 32 == 0)
    partial[thread / 32] = value;
  __syncthreads ();
#pragma unroll
  for (int i = 0; i < ROW_WARPS; i++)
    sum += partial[i];
  return sum;
}

/* Adds up `sum` over all blocks; the last one leaves what later passes read.
 * Exact without a window: the sum is an integer of less than 53 bits. */
static __device__ void
finish_sum (Statistics *statistics, double sum)
{
  sum = block_sum (sum);
  if (threadIdx.x > 0 || threadIdx.y > 0)
    return;
  atomicAdd (&statistics->total, sum);
  __threadfence ();
  if (atomicInc (&statistics->blocks, gridDim.x * gridDim.y - 1)
      < gridDim.x * gridDim.y - 1)
    return;
  statistics->sum = (float)atomicAdd (&statistics->total, 0.0);
  statistics->total = 0;
  statistics->smallest = __float_as_int (INFINITY);
  statistics->largest = 0;
}

/* About the mean of the windowed luma: that of a grid of samples. It is the
 * same in all blocks, and that of a flat picture without a window is exact. */
template <typename Group, bool Windowed>
static __device__ float
sample_mean (const LumaPicture &picture, int black, Window window)
{
  const int thread = threadIdx.y * ROW_THREADS_X + threadIdx.x;
  const int column = 2 * (thread % SAMPLES_X) + 1;
  const int row = 2 * (thread / SAMPLES_X) + 1;
  const int x = column * ((picture.width + 3) / 4) / (2 * SAMPLES_X);
  const int y = row * picture.height / (2 * SAMPLES_Y);
  Group group;

  group.load (picture, y, x);
  float value = (float)((int)group.luma (picture, 0) - black);
  if (Windowed)
    value *= window.x[4 * x] * window.y[y];
  return block_sum (value) / (SAMPLES_X * SAMPLES_Y);
}

/* Writes the group's pixels from `x` on to a row of `width`. */
static __device__ __forceinline__ void
store_four (float *row, int x, int width, float4 v)
{
  if (width % 4 == 0) {
    *(float4 *)(row + x) = v;
    return;
  }
  row[x] = v.x;
  if (x + 1 < width)
    row[x + 1] = v.y;
  if (x + 2 < width)
    row[x + 2] = v.z;
  if (x + 3 < width)
    row[x + 3] = v.w;
}

/* Four weights of the window's row; those past its end are never used. */
static __device__ __forceinline__ float4
load_weights (const float *weight, int x, int width)
{
  const int last = width - 1;

  return make_float4 (weight[x], weight[min (x + 1, last)],
      weight[min (x + 2, last)], weight[min (x + 3, last)]);
}

/* Four pixels of a row less `mean`; adds what they are to `sum`. */
template <typename Group, bool Windowed>
static __device__ __forceinline__ float4
window_four (const LumaPicture &picture, const Group &group, int x, int black,
    float4 weight, float row_weight, float mean, float *sum)
{
  const float w[4] = { weight.x, weight.y, weight.z, weight.w };
  float v[4];

#pragma unroll
  for (int i = 0; i < 4; i++) {
    v[i] = (float)((int)group.luma (picture, i) - black);
    if (Windowed)
      v[i] *= w[i] * row_weight;
    *sum += x + i < picture.width ? v[i] : 0;
  }
  return make_float4 (v[0] - mean, v[1] - mean, v[2] - mean, v[3] - mean);
}

template <typename Group, bool Windowed>
__global__ void
__launch_bounds__ (ROW_THREADS_X *ROW_THREADS_Y)
    forward_kernel (const __grid_constant__ LumaPicture picture, float *output,
        int black, Statistics *statistics, Window window)
{
  const int x = (blockIdx.x * ROW_THREADS_X + threadIdx.x) * 4;
  const int y = blockIdx.y * ROW_THREADS_Y * FORWARD_ROWS + threadIdx.y;
  const int width = picture.width;
  const int rows = x < width ? picture.height : 0;
  Group group[FORWARD_ROWS];
  float4 weight = {};
  float sum = 0; /* of 16 pixels of at most 16 bits: exact */

#pragma unroll
  for (int k = 0; k < FORWARD_ROWS; k++)
    if (y + k * ROW_THREADS_Y < rows)
      group[k].load (picture, y + k * ROW_THREADS_Y, x / 4);
  if (Windowed && x < width)
    weight = load_weights (window.x, x, width);
  const float mean = sample_mean<Group, Windowed> (picture, black, window);
#pragma unroll
  for (int k = 0; k < FORWARD_ROWS; k++) {
    const int row = y + k * ROW_THREADS_Y;

    if (row < rows)
      store_four (output + (size_t)row * width, x, width,
          window_four<Group, Windowed> (picture, group[k], x, black, weight,
              Windowed ? window.y[row] : 1, mean, &sum));
  }
  finish_sum (statistics, sum);
}

/* Passes 3 and 4 */

/* |F (v, u)|² on the 8-bit scale, `z` being what cuFFT gave. */
static __device__ __forceinline__ float
power_of (const Spectrum &spectrum, float2 z, int u, int v)
{
  if (u == 0 && v == 0)
    z = make_float2 (spectrum.statistics->sum, 0.f);
  z.x *= spectrum.unit;
  z.y *= spectrum.unit;
  return z.x * z.x + z.y * z.y;
}

/* Lowers and raises the extremes, with few atomic operations. Powers are not
 * negative, so they compare as their bits do. */
static __device__ void
update_extremes (Statistics *statistics, float low, float high)
{
  for (int i = 16; i > 0; i /= 2) {
    low = fminf (low, __shfl_down_sync (~0u, low, i));
    high = fmaxf (high, __shfl_down_sync (~0u, high, i));
  }
  if ((threadIdx.x + threadIdx.y * blockDim.x) % 32 != 0)
    return;
  if (__float_as_int (low) < *(volatile int *)&statistics->smallest)
    atomicMin (&statistics->smallest, __float_as_int (low));
  if (__float_as_int (high) > *(volatile int *)&statistics->largest)
    atomicMax (&statistics->largest, __float_as_int (high));
}

__global__ void
__launch_bounds__ (ROW_THREADS_X *ROW_THREADS_Y)
    extremes_kernel (const __grid_constant__ Spectrum spectrum)
{
  const int u = blockIdx.x * ROW_THREADS_X + threadIdx.x;
  const int v = blockIdx.y * ROW_THREADS_Y * EXTREMES_ROWS + threadIdx.y;
  float low = INFINITY, high = 0;
  float2 z[EXTREMES_ROWS];

#pragma unroll
  for (int k = 0; k < EXTREMES_ROWS; k++) {
    const int row = v + k * ROW_THREADS_Y;

    if (u < spectrum.half && row < spectrum.height)
      z[k] = spectrum.data[(size_t)row * spectrum.half + u];
  }
  start_next_kernel ();
#pragma unroll
  for (int k = 0; k < EXTREMES_ROWS; k++) {
    const int row = v + k * ROW_THREADS_Y;

    if (u < spectrum.half && row < spectrum.height) {
      const float power = power_of (spectrum, z[k], u, row);

      low = fminf (low, power);
      high = fmaxf (high, power);
    }
  }
  update_extremes (spectrum.statistics, low, high);
}

static __device__ __forceinline__ float
square_root (float x)
{
  float root;

  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}

/* |F|² in units of the scale. */
static __device__ __forceinline__ float
scaled (float power, ImgFftmagScale scale)
{
  switch (scale) {
  case IMG_FFTMAG_LOG:
    return __logf (1.f + square_root (power));
  case IMG_FFTMAG_LINEAR:
    return square_root (power);
  case IMG_FFTMAG_POWER:
    return power;
  default: /* 10 log10 (x) = 10 log10 (2) log2 (x) */
    return 3.0102999566f * __log2f (fmaxf (power, 1.f));
  }
}

/* What maps values to levels. */
static __device__ __forceinline__ ImgFftmagMap
output_map (const Spectrum &spectrum, const Output &output)
{
  float low = output.range_min, high = output.range_max;

  if (output.minmax) {
    low = scaled (
        __int_as_float (__ldcg (&spectrum.statistics->smallest)), output.scale);
    high = scaled (
        __int_as_float (__ldcg (&spectrum.statistics->largest)), output.scale);
  }
  return img_fftmag_map (low, high, output.black, output.white);
}

/* A row of output: components of which channel c is a colour where bit c of
 * `colors` is set and else a copy of `src`. */
template <typename T> struct OutputRow {
  T *dst;
  const T *src;
  unsigned colors;
};

/* Writes pixels x..x + n - 1 of a row: pixel x + i is level[i * direction].
 * All threads of the block share in it. */
template <typename T, int Step>
static __device__ void
write_run (const OutputRow<T> &row, int x, int n, const T *level, int direction)
{
  const int per_word = 4 / sizeof (T);
  const int total = n * Step;
  T *dst = row.dst + (size_t)x * Step;
  const T *src = row.src + (size_t)x * Step;
  const int skip = (int)((uintptr_t)dst & 3) / (int)sizeof (T);

  for (int c0 = threadIdx.x * per_word - skip; c0 < total;
       c0 += WRITE_THREADS * per_word) {
    unsigned word = 0;

#pragma unroll
    for (int j = 0; j < per_word; j++) {
      const int c = min (max (c0 + j, 0), total - 1);
      const T value = Step < 4 || row.colors >> c % Step & 1
                          ? level[c / Step * direction]
                          : src[c];

      word |= (unsigned)value << 8 * (int)sizeof (T) * j;
    }
    if (c0 >= 0 && c0 + per_word <= total) {
      *(unsigned *)(dst + c0) = word;
      continue;
    }
    for (int j = 0; j < per_word; j++)
      if (c0 + j >= 0 && c0 + j < total)
        dst[c0 + j] = (T)(word >> 8 * (int)sizeof (T) * j);
  }
}

/* Writes levels of the elements u..u + n - 1 of row v where they belong. */
template <typename T, int Step>
static __device__ void
write_levels (const Spectrum &spectrum, const Output &output, const T *level,
    int u, int n, int v)
{
  const int width = spectrum.width, height = spectrum.height;
  const int y = (v + output.shift_y) % height;
  const int mirror_y = ((height - v) % height + output.shift_y) % height;
  const int straight = min (n, width - output.shift_x - u); /* till the edge */
  const int first = max (u, 1), end = min (u + n, (width + 1) / 2);

  for (int p = 0; p < output.n_planes; p++) {
    const OutputRow<T> row = { (T *)(output.dst[p] + y * output.dst_stride[p]),
      (const T *)(output.src + y * output.src_stride), output.colors };
    const OutputRow<T> mirror
        = { (T *)(output.dst[p] + mirror_y * output.dst_stride[p]),
            (const T *)(output.src + mirror_y * output.src_stride),
            output.colors };

    if (straight > 0)
      write_run<T, Step> (row, u + output.shift_x, straight, level, 1);
    if (straight < n) /* only u = width / 2 of an even width */
      write_run<T, Step> (row, u + straight + output.shift_x - width,
          n - straight, level + straight, 1);
    if (first < end)
      write_run<T, Step> (mirror, output.origin - end + 1, end - first,
          level + (end - 1 - u), -1);
  }
}

template <typename T, int Step>
__global__ void
__launch_bounds__ (WRITE_THREADS)
    write_kernel (const __grid_constant__ Spectrum spectrum,
        const __grid_constant__ Output output)
{
  __shared__ T level[WRITE_SPAN];
  const int u = blockIdx.x * WRITE_SPAN, v = blockIdx.y;
  const int n = min (WRITE_SPAN, spectrum.half - u);
  const float2 *data = spectrum.data + (size_t)v * spectrum.half + u;
  float2 z[WRITE_SPAN / WRITE_THREADS];

#pragma unroll
  for (int k = 0; k < WRITE_SPAN / WRITE_THREADS; k++)
    if ((int)threadIdx.x + k * WRITE_THREADS < n)
      z[k] = data[threadIdx.x + k * WRITE_THREADS];
  wait_for_kernel_before ();
  const ImgFftmagMap map = output_map (spectrum, output);
#pragma unroll
  for (int k = 0; k < WRITE_SPAN / WRITE_THREADS; k++) {
    const int i = threadIdx.x + k * WRITE_THREADS;

    if (i < n) {
      const float power = power_of (spectrum, z[k], u + i, v);
      level[i] = (T)(img_fftmag_level (&map, scaled (power, output.scale))
                     << output.shift);
    }
  }
  __syncthreads ();
  write_levels<T, Step> (spectrum, output, level, u, n, v);
}

/* State */

static void
release (void *data)
{
  FftmagState *state = (FftmagState *)data;

  if (!state)
    return;
  if (state->width > 0)
    state->cufft->destroy (state->plan);
  cudaFree (state->memory);
  free (state);
}

/* Where the parts of the block lie; returns its size. `memory` may be NULL. */
static size_t
lay_out (FftmagState *state, char *memory, int width, int height)
{
  const size_t align = 256;
  const size_t half = width / 2 + 1, n = (size_t)width * height;
  size_t offset = 0;
  auto take = [&] (size_t bytes) {
    char *part = memory + offset;

    offset += (bytes + align - 1) / align * align;
    return part;
  };

  state->statistics = (Statistics *)take (sizeof (Statistics));
  for (int i = 0; i < N_WINDOWS; i++) {
    state->window[i].x = (float *)take (width * sizeof (float));
    state->window[i].y = (float *)take (height * sizeof (float));
  }
  state->spectrum = (float2 *)take (half * height * sizeof (float2));
  state->input = (float *)take (n * sizeof (float));
  return offset;
}

/* Fills the tables and zeroes the statistics: what lies before `spectrum`. */
static bool
fill_tables (FftmagState *state, int width, int height, ImgError *error)
{
  const size_t size = (char *)state->spectrum - state->memory;
  char *host = (char *)calloc (1, size);
  FftmagState tables = *state;
  bool ok;

  if (!host)
    return img_fail (error, IMG_ERROR_NO_MEMORY, "fftmag: out of memory");
  lay_out (&tables, host, width, height);
  for (int i = 0; i < N_WINDOWS; i++) {
    const ImgFftmagWindow kind = (ImgFftmagWindow)(IMG_FFTMAG_WINDOW_HANN + i);

    for (int x = 0; x < width; x++)
      ((float *)tables.window[i].x)[x]
          = (float)img_fftmag_window (kind, x, width);
    for (int y = 0; y < height; y++)
      ((float *)tables.window[i].y)[y]
          = (float)img_fftmag_window (kind, y, height);
  }
  ok = img_cuda_check (
           cudaMemcpy (state->memory, host, size, cudaMemcpyHostToDevice),
           "copying the window tables", error)
       && img_cuda_check (cudaStreamSynchronize (0),
           "copying the window tables", error); /* for streams of any kind */
  free (host);
  return ok;
}

/* Makes the plan and the memory for a size. */
static bool
resize (FftmagState *state, int width, int height, ImgError *error)
{
  if (state->width > 0)
    state->cufft->destroy (state->plan);
  state->width = state->height = 0;
  cudaFree (state->memory);
  state->memory = NULL;
  if (!img_cuda_check (
          cudaMalloc (&state->memory, lay_out (state, NULL, width, height)),
          "allocating the spectrum", error))
    return false;
  lay_out (state, state->memory, width, height);
  if (!fill_tables (state, width, height, error)
      || !img_cufft_check (
          state->cufft->plan_2d (&state->plan, height, width, CUFFT_R2C),
          "planning the transform", error))
    return false;
  state->width = width;
  state->height = height;
  return true;
}

static bool
prepare (void **data, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  const ImgFftmagParams *p = (const ImgFftmagParams *)params;
  FftmagState *state = (FftmagState *)*data;

  if (!img_fftmag_check (src, dst, p, error))
    return false;
  if (!luma_fits (src) || !pointwise_fits (src))
    return img_fail (
        error, IMG_ERROR_UNSUPPORTED, "fftmag: no GPU version for this format");
  if (!state) {
    state = (FftmagState *)calloc (1, sizeof (*state));
    if (!state)
      return img_fail (error, IMG_ERROR_NO_MEMORY, "fftmag: out of memory");
    *data = state;
    state->early = can_start_early (extremes_kernel);
  }
  state->cufft = img_cufft_load (error);
  if (!state->cufft)
    return false;
  return (state->width == src->width && state->height == src->height)
         || resize (state, src->width, src->height, error);
}

/* Run */

static Spectrum
make_spectrum (const FftmagState *state, const ImgView *view)
{
  Spectrum spectrum = {};

  spectrum.data = state->spectrum;
  spectrum.width = view->width;
  spectrum.height = view->height;
  spectrum.half = view->width / 2 + 1;
  spectrum.unit = (float)img_fftmag_unit (view);
  spectrum.statistics = state->statistics;
  return spectrum;
}

static Output
make_output (
    const ImgView *src, const ImgView *dst, const ImgFftmagParams *params)
{
  const ImgLevels levels = img_view_levels (dst);
  Output output = {};

  for (int i = 0; i < dst->n_planes; i++)
    if (luma_is_source (dst, i)) {
      output.dst[output.n_planes] = (unsigned char *)dst->plane[i].data;
      output.dst_stride[output.n_planes++] = dst->plane[i].stride;
    }
  output.src = (const unsigned char *)src->plane[0].data;
  output.src_stride = src->plane[0].stride;
  for (int c = 0; c < dst->plane[0].channels; c++)
    if (img_channel_is_color (dst->plane[0].channel[c]))
      output.colors |= 1u << c;
  output.shift_x = params->shift ? dst->width / 2 : 0;
  output.shift_y = params->shift ? dst->height / 2 : 0;
  output.origin = params->shift ? dst->width / 2 : dst->width;
  output.black = levels.black;
  output.white = levels.white;
  output.shift = dst->shift;
  output.scale = params->scale;
  output.minmax = params->normalize == IMG_FFTMAG_MINMAX;
  output.range_min = (float)params->range_min;
  output.range_max = (float)params->range_max;
  return output;
}

/* The blocks of ROW_THREADS_X columns by ROW_THREADS_Y * `rows` rows. */
static dim3
row_grid (int columns, int height, int rows)
{
  const int tile = ROW_THREADS_Y * rows;

  return dim3 ((columns + ROW_THREADS_X - 1) / ROW_THREADS_X,
      (height + tile - 1) / tile);
}

/* Pass 1. `window` is read only if Windowed. */
template <bool Windowed>
static bool
load_luma (const FftmagState *state, const ImgView *src, Window window,
    cudaStream_t stream, ImgError *error)
{
  const dim3 grid = row_grid ((src->width + 3) / 4, src->height, FORWARD_ROWS);
  const dim3 block (ROW_THREADS_X, ROW_THREADS_Y);

  luma_dispatch (src, [&] (auto group) {
    typedef typename decltype (group)::Four Four;

    forward_kernel<Four, Windowed>
        <<<grid, block, 0, stream>>> (luma_picture (src), state->input,
            img_view_levels (src).black, state->statistics, window);
  });
  return img_cuda_launched ("launching the fftmag input", error);
}

/* Pass 2. */
static bool
transform (const FftmagState *state, cudaStream_t stream, ImgError *error)
{
  return img_cufft_check (state->cufft->set_stream (state->plan, stream),
             "setting the stream of the transform", error)
         && img_cufft_check (state->cufft->exec_r2c (
                                 state->plan, state->input, state->spectrum),
             "running the transform", error);
}

/* Passes 3 and 4. */
static bool
write_luma (const FftmagState *state, const ImgView *src, const ImgView *dst,
    const ImgFftmagParams *params, cudaStream_t stream, ImgError *error)
{
  const Spectrum spectrum = make_spectrum (state, src);
  const Output output = make_output (src, dst, params);
  const dim3 grid (
      (spectrum.half + WRITE_SPAN - 1) / WRITE_SPAN, spectrum.height);

  if (output.minmax)
    extremes_kernel<<<row_grid (spectrum.half, spectrum.height, EXTREMES_ROWS),
        dim3 (ROW_THREADS_X, ROW_THREADS_Y), 0, stream>>> (spectrum);
  luma_dispatch (dst, [&] (auto group) {
    typedef decltype (group) Group;

    launch_after (write_kernel<typename Group::Component, Group::kStep>, grid,
        dim3 (WRITE_THREADS), state->early && output.minmax, stream, spectrum,
        output);
  });
  return img_cuda_launched ("launching the fftmag output", error);
}

static bool
run (void *data, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  const FftmagState *state = (const FftmagState *)data;
  const ImgFftmagParams *p = (const ImgFftmagParams *)params;

  if (p->window == IMG_FFTMAG_WINDOW_NONE) {
    if (!load_luma<false> (state, src, Window (), stream, error))
      return false;
  } else {
    if (!load_luma<true> (state, src,
            state->window[p->window - IMG_FFTMAG_WINDOW_HANN], stream, error))
      return false;
  }
  return transform (state, stream, error)
         && write_luma (state, src, dst, p, stream, error)
         && pointwise_fill_others (src, dst, stream, error);
}

extern "C" const ImgOperation img_fftmag_cuda
    = { "fftmag", sizeof (ImgFftmagParams), true, prepare, run, release };
