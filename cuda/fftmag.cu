/*
 * fftmag.h on the GPU, with cuFFT. The passes of a run:
 *   1. windowed luma less about its mean, as floats, so that the rounding
 * errors of F (0, 0) do not drown the rest and a flat picture is exactly zero;
 *      and its exact sum, which is F (0, 0). Two rows are the real and the
 *      imaginary parts of one;
 *   2. cuFFT along these pairs of rows;
 *   3. the half spectra 0 <= u <= width / 2 of both rows, into columns: cuFFT
 *      takes three times as long for columns that do not lie in a piece;
 *   4. cuFFT along the columns;
 *   5. with MINMAX the smallest and largest |F|² (every scale grows with it);
 *   6. scale and range; each element of the half spectrum goes to its own
 *      pixel and to that of its mirror image F (-v, -u) = conj (F (v, u)).
 */
#include "fftmag.h"

#include <math.h>
#include <stdlib.h>

#include "cufft-loader.h"
#include "fftmag-arith.h"
#include "luma.cuh"
#include "ptx.cuh"

#define FORWARD_THREADS_X 64
#define FORWARD_THREADS_Y 4
#define FORWARD_WARPS (FORWARD_THREADS_X * FORWARD_THREADS_Y / 32)
#define FORWARD_PAIRS 2 /* pairs of rows of a thread, THREADS_Y apart */
#define SAMPLES_X 16    /* a sample for each thread of a block */
#define SAMPLES_Y 16
#define SPLIT_COLUMNS 32 /* of a block of pass 3 */
#define SPLIT_PAIRS 16
#define SPLIT_THREADS 256
#define EXTREMES_THREADS 256
#define EXTREMES_LOADS 4
#define WRITE_COLUMNS 128 /* of a block of pass 6 */
#define WRITE_ROWS 32
#define WRITE_THREADS 256
#define WRITE_STEP (WRITE_THREADS / (WRITE_ROWS / 2)) /* columns at a time */
#define WRITE_LOADS (WRITE_COLUMNS / WRITE_STEP)
#define NO_PLAN ((cufftHandle)-1)
#define N_WINDOWS 3 /* hann, hamming, blackman */

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

/* How |F|² is read: column u of the half spectrum is a row of data. */
struct Spectrum {
  const float2 *data;
  int width, height, half; /* half: columns */
  float unit;              /* from units of the depth to 8 bits */
  Statistics *statistics;
};

/* The pixels that pass 6 writes, and how. */
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
  cufftHandle rows, columns; /* NO_PLAN: of length 1, which changes nothing */
  int width, height;         /* what all is made for; 0: nothing */
  int processors;
  char *memory;  /* one block, which holds all that follows */
  float2 *pairs; /* (height + 1) / 2 rows */
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
  __shared__ T partial[FORWARD_WARPS];
  const int thread = threadIdx.y * FORWARD_THREADS_X + threadIdx.x;
  T sum = 0;

  for (int i = 16; i > 0; i /= 2)
    value += __shfl_down_sync (~0u, value, i);
  if (thread % 32 == 0)
    partial[thread / 32] = value;
  __syncthreads ();
#pragma unroll
  for (int i = 0; i < FORWARD_WARPS; i++)
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
  const int thread = threadIdx.y * FORWARD_THREADS_X + threadIdx.x;
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

/* Writes up to four complex numbers from `x` on to a row of `width`. */
static __device__ __forceinline__ void
store_four (float2 *row, int x, int width, const float *re, const float *im)
{
  if (width % 4 == 0) {
    float4 *to = (float4 *)(row + x);

    to[0] = make_float4 (re[0], im[0], re[1], im[1]);
    to[1] = make_float4 (re[2], im[2], re[3], im[3]);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
    if (x + i < width)
      row[x + i] = make_float2 (re[i], im[i]);
}

/* Four weights of the window's row; those past its end are never used. */
static __device__ __forceinline__ float4
load_weights (const float *weight, int x, int width)
{
  const int last = width - 1;

  return make_float4 (weight[x], weight[min (x + 1, last)],
      weight[min (x + 2, last)], weight[min (x + 3, last)]);
}

/* Four pixels of a row less `mean`, as `to`; adds what they are to `sum`. */
template <typename Group, bool Windowed>
static __device__ __forceinline__ void
window_four (float *to, const LumaPicture &picture, const Group &group, int x,
    int black, float4 weight, float row_weight, float mean, float *sum)
{
  const float w[4] = { weight.x, weight.y, weight.z, weight.w };

#pragma unroll
  for (int i = 0; i < 4; i++) {
    float v = (float)((int)group.luma (picture, i) - black);

    if (Windowed)
      v *= w[i] * row_weight;
    *sum += x + i < picture.width ? v : 0;
    to[i] = v - mean;
  }
}

template <typename Group, bool Windowed>
__global__ void
__launch_bounds__ (FORWARD_THREADS_X *FORWARD_THREADS_Y)
    forward_kernel (const __grid_constant__ LumaPicture picture, float2 *pairs,
        int black, Statistics *statistics, Window window)
{
  const int x = (blockIdx.x * FORWARD_THREADS_X + threadIdx.x) * 4;
  const int first
      = blockIdx.y * FORWARD_THREADS_Y * FORWARD_PAIRS + threadIdx.y;
  const int width = picture.width;
  const int rows = x < width ? picture.height : 0;
  Group group[FORWARD_PAIRS][2];
  float4 weight = {};
  float sum = 0; /* of 16 pixels of at most 16 bits: exact */

  kernel_begin ();
#pragma unroll
  for (int k = 0; k < FORWARD_PAIRS; k++)
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const int row = 2 * (first + k * FORWARD_THREADS_Y) + i;

      if (row < rows)
        group[k][i].load (picture, row, x / 4);
    }
  if (Windowed && x < width)
    weight = load_weights (window.x, x, width);
  const float mean = sample_mean<Group, Windowed> (picture, black, window);
#pragma unroll
  for (int k = 0; k < FORWARD_PAIRS; k++) {
    const int pair = first + k * FORWARD_THREADS_Y;
    float part[2][4] = {}; /* an odd last row is paired with zeros */

#pragma unroll
    for (int i = 0; i < 2; i++)
      if (2 * pair + i < rows)
        window_four<Group, Windowed> (part[i], picture, group[k][i], x, black,
            weight, Windowed ? window.y[2 * pair + i] : 1, mean, &sum);
    if (2 * pair < rows)
      store_four (pairs + (size_t)pair * width, x, width, part[0], part[1]);
  }
  finish_sum (statistics, sum);
}

/* Pass 3 */

/* Elements u of the spectra of two rows, from elements u and -u of that of the
 * first plus i times the second: twice each is z + conj (m) and
 * -i (z - conj (m)). */
static __device__ __forceinline__ float4
split_pair (float2 z, float2 m)
{
  return make_float4 (0.5f * (z.x + m.x), 0.5f * (z.y - m.y),
      0.5f * (z.y + m.y), 0.5f * (m.x - z.x));
}

/* A block turns a tile of pairs of rows into columns. */
__global__ void
__launch_bounds__ (SPLIT_THREADS)
    split_kernel (const float2 *pairs, float2 *spectrum, int width, int height)
{
  __shared__ float4 tile[SPLIT_COLUMNS][SPLIT_PAIRS + 1];
  const int u0 = blockIdx.x * SPLIT_COLUMNS, first = blockIdx.y * SPLIT_PAIRS;
  const int half = width / 2 + 1, n_pairs = (height + 1) / 2;

  kernel_begin ();
#pragma unroll
  for (int i = 0; i < SPLIT_COLUMNS * SPLIT_PAIRS; i += SPLIT_THREADS) {
    const int column = threadIdx.x % SPLIT_COLUMNS;
    const int pair = (threadIdx.x + i) / SPLIT_COLUMNS;
    const int u = u0 + column;

    if (u < half && first + pair < n_pairs) {
      const float2 *row = pairs + (size_t)(first + pair) * width;

      tile[column][pair] = split_pair (row[u], row[u > 0 ? width - u : 0]);
    }
  }
  __syncthreads ();
#pragma unroll
  for (int i = 0; i < SPLIT_COLUMNS * SPLIT_PAIRS; i += SPLIT_THREADS) {
    const int pair = threadIdx.x % SPLIT_PAIRS;
    const int column = (threadIdx.x + i) / SPLIT_PAIRS;
    const int v = 2 * (first + pair);

    if (u0 + column < half && v < height) {
      const float4 both = tile[column][pair];
      float2 *to = spectrum + (size_t)(u0 + column) * height + v;

      if (height % 2 == 0) {
        *(float4 *)to = both;
        continue;
      }
      to[0] = make_float2 (both.x, both.y);
      if (v + 1 < height)
        to[1] = make_float2 (both.z, both.w);
    }
  }
}

/* Passes 5 and 6 */

/* |F|² on the 8-bit scale, `z` being what cuFFT gave. */
static __device__ __forceinline__ float
power_of (float2 z, float unit)
{
  z.x *= unit;
  z.y *= unit;
  return z.x * z.x + z.y * z.y;
}

/* The same of F (0, 0). */
static __device__ __forceinline__ float
power_of_sum (const Spectrum &spectrum)
{
  const float sum = __ldcg (&spectrum.statistics->sum);

  return power_of (make_float2 (sum, 0.f), spectrum.unit);
}

/* Lowers and raises the extremes by those of a block. Powers are not negative,
 * so they compare as their bits do. */
static __device__ void
update_extremes (Statistics *statistics, float low, float high)
{
  __shared__ int smallest, largest;

  for (int i = 16; i > 0; i /= 2) {
    low = fminf (low, __shfl_down_sync (~0u, low, i));
    high = fmaxf (high, __shfl_down_sync (~0u, high, i));
  }
  if (threadIdx.x == 0)
    smallest = __float_as_int (INFINITY), largest = 0;
  __syncthreads ();
  if (threadIdx.x % 32 == 0) {
    atomicMin (&smallest, __float_as_int (low));
    atomicMax (&largest, __float_as_int (high));
  }
  __syncthreads ();
  if (threadIdx.x == 0) {
    atomicMin (&statistics->smallest, smallest);
    atomicMax (&statistics->largest, largest);
  }
}

__global__ void
__launch_bounds__ (EXTREMES_THREADS)
    extremes_kernel (const __grid_constant__ Spectrum spectrum)
{
  const size_t n = (size_t)spectrum.half * spectrum.height;
  const size_t step = (size_t)gridDim.x * EXTREMES_THREADS;
  size_t i = (size_t)blockIdx.x * EXTREMES_THREADS + threadIdx.x;
  float low = INFINITY, high = 0;
  const auto add = [&] (float power) {
    low = fminf (low, power);
    high = fmaxf (high, power);
  };

  wait_for_kernel_before ();
  if (i == 0) { /* F (0, 0), not what cuFFT made of it, and odd ends */
    add (power_of_sum (spectrum));
    if (n > 1) {
      add (power_of (spectrum.data[1], spectrum.unit));
      add (power_of (spectrum.data[n - 1], spectrum.unit));
    }
    i += step;
  }
  for (; i < n / 2; i += EXTREMES_LOADS * step) {
    float4 z[EXTREMES_LOADS];

#pragma unroll
    for (int k = 0; k < EXTREMES_LOADS; k++)
      if (i + k * step < n / 2)
        z[k] = ((const float4 *)spectrum.data)[i + k * step];
#pragma unroll
    for (int k = 0; k < EXTREMES_LOADS; k++)
      if (i + k * step < n / 2) {
        add (power_of (make_float2 (z[k].x, z[k].y), spectrum.unit));
        add (power_of (make_float2 (z[k].z, z[k].w), spectrum.unit));
      }
  }
  start_next_kernel ();
  update_extremes (spectrum.statistics, low, high);
}

/* |F|² in units of the scale. */
static __device__ __forceinline__ float
scaled (float power, ImgFftmagScale scale)
{
  switch (scale) {
  case IMG_FFTMAG_LOG:
    return __logf (1.f + ptx_sqrt (power));
  case IMG_FFTMAG_LINEAR:
    return ptx_sqrt (power);
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
 * All threads of the warp share in it. */
template <typename T, int Step>
static __device__ void
write_run (const OutputRow<T> &row, int x, int n, const T *level, int direction)
{
  const int per_word = 4 / sizeof (T);
  const int total = n * Step;
  T *dst = row.dst + (size_t)x * Step;
  const T *src = row.src + (size_t)x * Step;
  const int skip = (int)((uintptr_t)dst & 3) / (int)sizeof (T);

  for (int c0 = threadIdx.x % 32 * per_word - skip; c0 < total;
       c0 += 32 * per_word) {
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

/* Reads the tile at (u, v), two rows a load; what is beyond is any value. */
static __device__ __forceinline__ void
load_tile (float4 *z, const Spectrum &spectrum, int u, int v)
{
#pragma unroll
  for (int k = 0; k < WRITE_LOADS; k++, u += WRITE_STEP) {
    const float2 *from = spectrum.data + (size_t)u * spectrum.height + v;

    if (u >= spectrum.half || v >= spectrum.height)
      continue;
    if (spectrum.height % 2 == 0) {
      z[k] = *(const float4 *)from;
    } else {
      const float2 first = from[0];
      const float2 second = v + 1 < spectrum.height ? from[1] : first;

      z[k] = make_float4 (first.x, first.y, second.x, second.y);
    }
  }
}

template <typename T, int Step>
__global__ void
__launch_bounds__ (WRITE_THREADS)
    write_kernel (const __grid_constant__ Spectrum spectrum,
        const __grid_constant__ Output output)
{
  __shared__ T level[WRITE_ROWS][WRITE_COLUMNS + 4 / sizeof (T)];
  __shared__ ImgFftmagMap map;
  const int u0 = blockIdx.x * WRITE_COLUMNS, v0 = blockIdx.y * WRITE_ROWS;
  const int row = threadIdx.x % (WRITE_ROWS / 2) * 2;
  const int column = threadIdx.x / (WRITE_ROWS / 2);
  float4 z[WRITE_LOADS] = {};

  start_next_kernel ();
  if (!output.minmax)
    wait_for_kernel_before ();
  load_tile (z, spectrum, u0 + column, v0 + row);
  if (output.minmax)
    wait_for_kernel_before ();
  if (threadIdx.x == 0)
    map = output_map (spectrum, output);
  __syncthreads ();
#pragma unroll
  for (int k = 0; k < WRITE_LOADS; k++) {
    const int u = column + k * WRITE_STEP;
    float2 power
        = make_float2 (power_of (make_float2 (z[k].x, z[k].y), spectrum.unit),
            power_of (make_float2 (z[k].z, z[k].w), spectrum.unit));

    if (u0 + u == 0 && v0 + row == 0)
      power.x = power_of_sum (spectrum);
    level[row][u] = (T)(img_fftmag_level (&map, scaled (power.x, output.scale))
                        << output.shift);
    level[row + 1][u]
        = (T)(img_fftmag_level (&map, scaled (power.y, output.scale))
              << output.shift);
  }
  __syncthreads ();
  const int n = min (WRITE_COLUMNS, spectrum.half - u0);
  const int rows = min (WRITE_ROWS, spectrum.height - v0);

  for (int i = threadIdx.x / 32; i < rows; i += WRITE_THREADS / 32)
    write_levels<T, Step> (spectrum, output, level[i], u0, n, v0 + i);
}

/* State */

static void
destroy_plan (const ImgCufft *cufft, cufftHandle *plan)
{
  if (*plan != NO_PLAN)
    cufft->destroy (*plan);
  *plan = NO_PLAN;
}

static void
release (void *data)
{
  FftmagState *state = (FftmagState *)data;

  if (!state)
    return;
  destroy_plan (state->cufft, &state->rows);
  destroy_plan (state->cufft, &state->columns);
  cudaFree (state->memory);
  free (state);
}

/* Where the parts of the block lie; returns its size. `memory` may be NULL. */
static size_t
lay_out (FftmagState *state, char *memory, int width, int height)
{
  const size_t align = 256;
  const size_t half = width / 2 + 1, n_pairs = (height + 1) / 2;
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
  state->pairs = (float2 *)take (n_pairs * width * sizeof (float2));
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

/* Plans `batch` transforms of `n` that lie one after the other, in place. */
static bool
make_plan (
    const ImgCufft *cufft, cufftHandle *plan, int n, int batch, ImgError *error)
{
  cufftHandle made;

  if (n == 1)
    return true;
  if (!img_cufft_check (cufft->plan_many (&made, 1, &n, NULL, 1, n, NULL, 1, n,
                            CUFFT_C2C, batch),
          "planning the transform", error))
    return false;
  *plan = made;
  return true;
}

/* Makes the plans and the memory for a size. */
static bool
resize (FftmagState *state, int width, int height, ImgError *error)
{
  int device = 0;

  destroy_plan (state->cufft, &state->rows);
  destroy_plan (state->cufft, &state->columns);
  state->width = state->height = 0;
  cudaFree (state->memory);
  state->memory = NULL;
  if (!img_cuda_check (cudaGetDevice (&device), "finding the GPU", error)
      || !img_cuda_check (cudaDeviceGetAttribute (&state->processors,
                              cudaDevAttrMultiProcessorCount, device),
          "reading the GPU's properties", error)
      || !img_cuda_check (
          cudaMalloc (&state->memory, lay_out (state, NULL, width, height)),
          "allocating the spectrum", error))
    return false;
  lay_out (state, state->memory, width, height);
  if (!fill_tables (state, width, height, error)
      || !make_plan (state->cufft, &state->rows, width, (height + 1) / 2, error)
      || !make_plan (
          state->cufft, &state->columns, height, width / 2 + 1, error))
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
    state->rows = state->columns = NO_PLAN;
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

static int
divide_up (int a, int b)
{
  return (a + b - 1) / b;
}

/* Pass 1. `window` is read only if Windowed. */
template <bool Windowed>
static bool
load_luma (const FftmagState *state, const ImgView *src, Window window,
    cudaStream_t stream, ImgError *error)
{
  const dim3 block (FORWARD_THREADS_X, FORWARD_THREADS_Y);
  const dim3 grid (divide_up (src->width, 4 * FORWARD_THREADS_X),
      divide_up (src->height, 2 * FORWARD_PAIRS * FORWARD_THREADS_Y));

  luma_dispatch (src, [&] (auto group) {
    typedef typename decltype (group)::Four Four;

    launch (forward_kernel<Four, Windowed>, grid, block, 0, stream,
        luma_picture (src), state->pairs, img_view_levels (src).black,
        state->statistics, window);
  });
  return img_cuda_launched ("launching the fftmag input", error);
}

/* Transforms `data` in place, unless there is nothing to do. */
static bool
transform (const ImgCufft *cufft, cufftHandle plan, float2 *data,
    cudaStream_t stream, ImgError *error)
{
  return plan == NO_PLAN
         || (img_cufft_check (cufft->set_stream (plan, stream),
                 "setting the stream of the transform", error)
             && img_cufft_check (
                 cufft->exec_c2c (plan, data, data, CUFFT_FORWARD),
                 "running the transform", error));
}

/* Passes 2 to 4. */
static bool
transform_luma (const FftmagState *state, cudaStream_t stream, ImgError *error)
{
  const dim3 grid (divide_up (state->width / 2 + 1, SPLIT_COLUMNS),
      divide_up (state->height, 2 * SPLIT_PAIRS));

  if (!transform (state->cufft, state->rows, state->pairs, stream, error))
    return false;
  launch (split_kernel, grid, dim3 (SPLIT_THREADS), 0, stream,
      (const float2 *)state->pairs, state->spectrum, state->width,
      state->height);
  return img_cuda_launched ("launching the fftmag columns", error)
         && transform (
             state->cufft, state->columns, state->spectrum, stream, error);
}

/* Passes 5 and 6. */
static bool
write_luma (const FftmagState *state, const ImgView *src, const ImgView *dst,
    const ImgFftmagParams *params, cudaStream_t stream, ImgError *error)
{
  const Spectrum spectrum = make_spectrum (state, src);
  const Output output = make_output (src, dst, params);
  const dim3 grid (divide_up (spectrum.half, WRITE_COLUMNS),
      divide_up (spectrum.height, WRITE_ROWS));

  if (output.minmax)
    launch (extremes_kernel, dim3 (8 * state->processors),
        dim3 (EXTREMES_THREADS), 0, stream, spectrum);
  luma_dispatch (dst, [&] (auto group) {
    typedef decltype (group) Group;

    launch (write_kernel<typename Group::Component, Group::kStep>, grid,
        dim3 (WRITE_THREADS), 0, stream, spectrum, output);
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
  return transform_luma (state, stream, error)
         && write_luma (state, src, dst, p, stream, error)
         && pointwise_fill_others (src, dst, stream, error);
}

extern "C" const ImgOperation img_fftmag_cuda
    = { "fftmag", sizeof (ImgFftmagParams), true, prepare, run, release };
