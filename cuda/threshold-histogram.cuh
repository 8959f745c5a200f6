/*
 * The threshold of OTSU and TRIANGLE in one launch: histograms of parts of the
 * picture in shared memory, added up in device memory; the last block to end
 * makes the threshold of the sum and zeroes it for the next picture.
 *
 * The kernel behind it, which applies the threshold, starts when the picture
 * has been counted: what came before this kernel has ended by then. It waits
 * for the threshold, not for the end of this kernel.
 */
#ifndef IMG_THRESHOLD_HISTOGRAM_CUH
#define IMG_THRESHOLD_HISTOGRAM_CUH

#include "luma.cuh"
#include "ptx.cuh"
#include "threshold-arith.h"
#include "threshold-levels.cuh"

#define HISTOGRAM_THREADS 1024    /* one block for each multiprocessor */
#define HISTOGRAM_COUNTERS 8192   /* of a block, in shared memory */
#define HISTOGRAM_BYTE_COPIES 32  /* counters of a bin of 256 */
#define HISTOGRAM_SHARED_DEPTH 12 /* deeper ones count in device memory */

typedef unsigned long long HistogramKey;

/* In device memory. Between runs all but `level` is zero. */
struct ThresholdHistogram {
  int level; /* the computed threshold, in units of the depth */
  unsigned blocks;
  unsigned count[1]; /* 2^depth of them */
};

/* Where the last block puts the threshold. */
struct HistogramResult {
  ThresholdHistogram *histogram;
  ImgThresholdMethod method;
  int bins;
};

/* Threads that the last block goes on with: no more than 8 bits need. */
static __device__ __forceinline__ int
finish_threads (int bins)
{
  return max (256, min (bins, HISTOGRAM_THREADS));
}

/* The largest key of the first `threads` threads, for all of them. */
template <typename T>
static __device__ T
block_max (T key, int threads)
{
  __shared__ T warp[32];

  for (int i = 16; i > 0; i /= 2)
    key = max (key, __shfl_xor_sync (~0u, key, i));
  __syncthreads ();
  if (threadIdx.x % 32 == 0)
    warp[threadIdx.x / 32] = key;
  __syncthreads ();
#pragma unroll 8
  for (int i = 0; i < threads / 32; i++)
    key = max (key, warp[i]);
  return key;
}

/* A number of pixels and the sum of their levels. */
struct HistogramSum {
  unsigned n;
  HistogramKey sum;
};

/* The sum over this lane and those before it. */
static __device__ __forceinline__ HistogramSum
warp_scan (HistogramSum value)
{
  for (int i = 1; i < 32; i *= 2) {
    const unsigned n = __shfl_up_sync (~0u, value.n, i);
    const HistogramKey sum = __shfl_up_sync (~0u, value.sum, i);

    if (threadIdx.x % 32 >= i) {
      value.n += n;
      value.sum += sum;
    }
  }
  return value;
}

/* The sum over the threads before this one; `total` is that over all. */
static __device__ HistogramSum
block_scan (HistogramSum value, int threads, HistogramSum *total)
{
  __shared__ HistogramSum warp[32];
  HistogramSum sum = warp_scan (value), all = {};

  if (threadIdx.x % 32 == 31)
    warp[threadIdx.x / 32] = sum;
  __syncthreads ();
  sum.n -= value.n;
  sum.sum -= value.sum;
#pragma unroll 8
  for (int i = 0; i < threads / 32; i++) {
    const HistogramSum other = warp[i];

    if (i == threadIdx.x / 32) {
      sum.n += all.n;
      sum.sum += all.sum;
    }
    all.n += other.n;
    all.sum += other.sum;
  }
  *total = all;
  return sum;
}

/* The bins first..end - 1 of this thread. */
static __device__ int2
own_bins (int bins, int threads)
{
  const int chunk = (bins + threads - 1) / threads;
  const int first = min ((int)threadIdx.x * chunk, bins);

  return make_int2 (first, min (first + chunk, bins));
}

/* Of the threads whose key is the largest, the lowest level; -1 if no key is
 * above 0. */
static __device__ int
first_best (HistogramKey key, HistogramKey best, int level, int threads)
{
  const int back = block_max (key == best ? INT_MAX - level : 0, threads);

  return best == 0 ? -1 : INT_MAX - back;
}

/* The first of this thread's levels with the largest variance, which is put
 * into `largest`. `before` is the sum over the bins before them. */
static __device__ int
own_variances (const unsigned *count, int2 own, HistogramSum before,
    HistogramSum total, double *largest)
{
  int level = 0;

  *largest = 0;
  for (int i = own.x; i < own.y; i++) {
    before.n += count[i];
    before.sum += (HistogramKey)count[i] * i;
    const double variance
        = img_otsu_variance (before.n, before.sum, total.n, total.sum);

    if (variance > *largest) {
      *largest = variance;
      level = i;
    }
  }
  return level;
}

/* Variances are not negative, so their bits compare as they do. */
static __device__ int
otsu_level (const unsigned *count, int bins)
{
  __shared__ int level;
  const int threads = finish_threads (bins);
  const int2 own = own_bins (bins, threads);
  HistogramSum sum = {}, total;
  double largest;

  for (int i = own.x; i < own.y; i++) {
    sum.n += count[i];
    sum.sum += (HistogramKey)count[i] * i;
  }
  if (threadIdx.x == 0)
    level = INT_MAX;
  sum = block_scan (sum, threads, &total);
  const int own_level = own_variances (count, own, sum, total, &largest);
  const HistogramKey key = (HistogramKey)__double_as_longlong (largest);
  const HistogramKey best = block_max (key, threads);
  if (key == best)
    atomicMin (&level, best > 0 ? own_level : 0);
  /* `largest` is the variance of this thread's only level, of 256 */
  const double limit = __longlong_as_double ((long long)best);
  const int near = __syncthreads_count (img_otsu_near (largest, limit));
  if (bins == 256 && near > 1) {
    if (threadIdx.x == 0) /* rare: some 20 µs */
      level = img_otsu_recurrence (count, total.n, total.sum);
    __syncthreads ();
  }
  return level;
}

static __device__ int
triangle_level (const unsigned *count, int bins)
{
  const int threads = finish_threads (bins);
  const int2 own = own_bins (bins, threads);
  HistogramKey peak = 0, best = 0;
  int first = 0, last = 0;
  int position = 0;

  for (int i = own.x; i < own.y; i++) {
    const HistogramKey n = count[i];

    if (n > 0) {
      first = max (first, bins - i);
      last = max (last, i);
    }
    /* of equal peaks the first */
    peak = max (peak, n << 32 | (HistogramKey)(bins - i));
  }
  first = block_max (first, threads);
  last = block_max (last, threads);
  peak = block_max (peak, threads);
  const ImgTriangle triangle = img_triangle (bins, bins - first, last,
      bins - (int)(peak & 0xffffffffu), (unsigned)(peak >> 32));
  for (int i = own.x; i < own.y; i++) {
    const int64_t distance = i > triangle.begin && i <= triangle.peak
                                 ? img_triangle_distance (&triangle, i,
                                     count[img_triangle_mirror (&triangle, i)])
                                 : 0;

    if (distance > (int64_t)best) {
      best = distance;
      position = i;
    }
  }
  const HistogramKey own_best = best;
  best = block_max (own_best, threads);
  position = first_best (own_best, best, position, threads);
  return img_triangle_level (
      &triangle, position < 0 ? triangle.begin : position);
}

/* The last block: makes the threshold and zeroes the histogram. */
static __device__ void
finish_histogram (const HistogramResult &result)
{
  ThresholdHistogram *histogram = result.histogram;
  const int threads = finish_threads (result.bins);

  if (threadIdx.x >= threads)
    return;
  const int level = result.method == IMG_THRESHOLD_OTSU
                        ? otsu_level (histogram->count, result.bins)
                        : triangle_level (histogram->count, result.bins);

  if (threadIdx.x == 0)
    *(volatile int *)&histogram->level = level;
  __syncthreads ();
  for (int i = threadIdx.x; i < result.bins; i += threads)
    histogram->count[i] = 0;
}

/* Counts in shared memory: each bin has as many counters as fit, and the lanes
 * of a warp use different ones, so a flat picture is as fast as any. */
template <typename Group> struct SharedCounter {
  unsigned *counters;
  int log_copies, bins;

  __device__ __forceinline__ int copies () const
  {
    return sizeof (typename Group::Component) == 1 ? HISTOGRAM_BYTE_COPIES
                                                   : 1 << log_copies;
  }

  __device__ __forceinline__ void add (
      const LumaPicture &picture, const Group &group, int n)
  {
    const SharedAddress own
        = ptx_shared_address (counters + (threadIdx.x & (copies () - 1)));

    if (n == Group::kPixels) { /* nearly always: without branches */
#pragma unroll
      for (int i = 0; i < Group::kPixels; i++)
        ptx_increment (own + group.luma (picture, i) * (4 * copies ()));
    } else {
#pragma unroll
      for (int i = 0; i < Group::kPixels; i++)
        if (i < n)
          ptx_increment (own + group.luma (picture, i) * (4 * copies ()));
    }
  }

  /* When all threads of the block have counted. */
  __device__ void flush (unsigned *count)
  {
    for (int bin = threadIdx.x; bin < bins; bin += HISTOGRAM_THREADS) {
      unsigned sum = 0;

#pragma unroll 8
      for (int i = 0; i < copies (); i++) /* lanes: from different banks */
        sum += counters[bin * copies () + (i ^ (bin & (copies () - 1)))];
      if (sum > 0)
        atomicAdd (&count[bin], sum);
    }
  }
};

/* Counts in device memory, runs of equal pixels at once. */
template <typename Group> struct GlobalCounter {
  unsigned *count;
  unsigned value, run;

  __device__ __forceinline__ void add (
      const LumaPicture &picture, const Group &group, int n)
  {
#pragma unroll
    for (int i = 0; i < Group::kPixels; i++) {
      if (i >= n)
        break;
      const unsigned bin = group.luma (picture, i);

      if (bin != value) {
        flush (count);
        value = bin;
        run = 0;
      }
      run++;
    }
  }

  __device__ void flush (unsigned *to)
  {
    if (run > 0)
      atomicAdd (&to[value], run);
  }
};

/* Shows `counter` this thread's share of the picture. */
template <typename Group, typename Counter>
static __device__ void
count_picture (const LumaPicture &picture, int groups, Counter &counter)
{
  const int loads = luma_loads<Group>;
  LumaWalk walk (blockIdx.x * HISTOGRAM_THREADS + threadIdx.x,
      gridDim.x * HISTOGRAM_THREADS, groups);

  while (walk.row < picture.height) {
    Group group[loads];
    int n[loads];

#pragma unroll
    for (int k = 0; k < loads; k++, walk.next ()) {
      n[k] = 0;
      if (walk.row < picture.height) {
        group[k].load (picture, walk.row, walk.group);
        n[k]
            = min (picture.width - walk.group * Group::kPixels, Group::kPixels);
      }
    }
#pragma unroll
    for (int k = 0; k < loads; k++)
      counter.add (picture, group[k], n[k]);
  }
}

/* After what came before has ended: the level is not known any more. The
 * result is for end_counting. */
static __device__ __forceinline__ int
begin_level (ThresholdHistogram *histogram)
{
  return blockIdx.x + threadIdx.x == 0
             ? atomicExch (&histogram->level, LEVEL_PENDING)
             : 0;
}

/* Lets the next kernel start, when all threads of the block have counted. As
 * `old`, which is a level, has come, memory has what begin_level put there. */
static __device__ __forceinline__ void
end_counting (int old)
{
  __syncthreads ();
  if (blockIdx.x > 0 || (threadIdx.x == 0 && old != INT_MAX))
    start_next_kernel ();
}

/* Whether all other blocks have ended their part of the histogram. */
static __device__ bool
is_last_block (ThresholdHistogram *histogram)
{
  __shared__ bool last;

  __syncthreads ();
  if (threadIdx.x == 0)
    last = ptx_count (&histogram->blocks, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads ();
  return last;
}

template <typename Group>
__global__ void
__launch_bounds__ (HISTOGRAM_THREADS) shared_histogram_kernel (
    const __grid_constant__ LumaPicture picture, int groups, int log_copies,
    const __grid_constant__ HistogramResult result)
{
  __shared__ unsigned counters[HISTOGRAM_COUNTERS];
  SharedCounter<Group> counter = { counters, log_copies, result.bins };

  for (int i = threadIdx.x; i < HISTOGRAM_COUNTERS; i += HISTOGRAM_THREADS)
    counters[i] = 0;
  wait_for_kernel_before ();
  const int old = begin_level (result.histogram);
  __syncthreads ();
  count_picture<Group> (picture, groups, counter);
  end_counting (old);
  counter.flush (result.histogram->count);
  if (is_last_block (result.histogram))
    finish_histogram (result);
}

template <typename Group>
__global__ void
__launch_bounds__ (HISTOGRAM_THREADS)
    global_histogram_kernel (const __grid_constant__ LumaPicture picture,
        int groups, const __grid_constant__ HistogramResult result)
{
  GlobalCounter<Group> counter = { result.histogram->count, 0, 0 };

  wait_for_kernel_before ();
  const int old = begin_level (result.histogram);
  count_picture<Group> (picture, groups, counter);
  end_counting (old);
  counter.flush (result.histogram->count);
  if (is_last_block (result.histogram))
    finish_histogram (result);
}

/* Launches the kernel that fits the depth of `view`. */
static bool
histogram_run (const ImgView *view, const HistogramResult *result,
    int processors, cudaStream_t stream, ImgError *error)
{
  const LumaPicture picture = luma_picture (view);

  luma_dispatch (view, [&] (auto group) {
    typedef decltype (group) Group;
    const int groups = (view->width + Group::kPixels - 1) / Group::kPixels;
    int log_copies = 0;

    while (log_copies < 5
           && result->bins << (log_copies + 1) <= HISTOGRAM_COUNTERS)
      log_copies++;
    if (view->depth <= HISTOGRAM_SHARED_DEPTH)
      launch (shared_histogram_kernel<Group>, processors, HISTOGRAM_THREADS, 0,
          stream, picture, groups, log_copies, *result);
    else if constexpr (sizeof (typename Group::Component) > 1)
      launch (global_histogram_kernel<Group>, processors, HISTOGRAM_THREADS, 0,
          stream, picture, groups, *result);
  });
  return img_cuda_launched ("launching the histogram", error);
}

#endif
