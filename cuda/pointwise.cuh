/*
 * Applies a functor to every component of the planes of a picture, in one
 * launch. Memory-bound: each thread keeps several 16-byte loads in flight.
 *
 * A functor works on words of 32 bits that hold four components of one byte
 * or two of two bytes, in memory order. What differs between the channels of
 * a plane is in words of its own ("lanes"), which repeat every four bytes:
 * that fits planes of 1, 2 and 4 bytes per pixel, and all others whose
 * channels are treated alike. It has two members:
 *   void begin ()                    by all threads of a block, before any
 *                                    word; what it loads overlaps with the
 *                                    picture
 *   unsigned operator() (unsigned)   the new value of a word
 */
#ifndef IMG_POINTWISE_CUH
#define IMG_POINTWISE_CUH

#include <stdint.h>

#include "arith.h"
#include "check.h"
#include "launch.cuh"

#define POINTWISE_THREADS_X 64
#define POINTWISE_THREADS_Y 4
#define POINTWISE_ROWS 2 /* rows of a thread, POINTWISE_THREADS_Y apart */
#define POINTWISE_TILE_ROWS (POINTWISE_THREADS_Y * POINTWISE_ROWS)

template <typename Functor> struct PointwisePlane {
  const unsigned char *src; /* NULL: nothing is read, all words are zero */
  unsigned char *dst;
  ptrdiff_t src_stride, dst_stride;
  unsigned row_bytes;
  int rows, tiles; /* tiles: of POINTWISE_TILE_ROWS rows each */
  Functor functor;
};

template <typename Functor> struct PointwiseJob {
  bool early; /* the functors wait for the kernel before, in begin */
  int n_planes;
  PointwisePlane<Functor> plane[IMG_MAX_PLANES];
};

/* A word at any address. */
struct PointwiseBytes {
  unsigned word;
};

/* The first `n` bytes (1 to 4) of the word at `p`; the others are zero. */
static __device__ __forceinline__ unsigned
pointwise_load_bytes (const unsigned char *p, int n)
{
  unsigned word = 0;

#pragma unroll
  for (int i = 0; i < 4; i++)
    if (i < n)
      word |= (unsigned)p[i] << 8 * i;
  return word;
}

static __device__ __forceinline__ void
pointwise_store_bytes (unsigned char *p, unsigned word, int n)
{
#pragma unroll
  for (int i = 0; i < 4; i++)
    if (i < n)
      p[i] = (unsigned char)(word >> 8 * i);
}

template <typename Access>
static __device__ __forceinline__ Access
pointwise_load (const unsigned char *p)
{
  return *(const Access *)p;
}

template <>
__device__ __forceinline__ PointwiseBytes
pointwise_load<PointwiseBytes> (const unsigned char *p)
{
  return { pointwise_load_bytes (p, 4) };
}

template <typename Functor>
static __device__ __forceinline__ void
pointwise_store (unsigned char *p, uint4 v, const Functor &f)
{
  *(uint4 *)p = make_uint4 (f (v.x), f (v.y), f (v.z), f (v.w));
}

template <typename Functor>
static __device__ __forceinline__ void
pointwise_store (unsigned char *p, unsigned v, const Functor &f)
{
  *(unsigned *)p = f (v);
}

template <typename Functor>
static __device__ __forceinline__ void
pointwise_store (unsigned char *p, PointwiseBytes v, const Functor &f)
{
  pointwise_store_bytes (p, f (v.word), 4);
}

/* The last `n` bytes of a row, fewer than an access; `src` may be NULL. */
template <typename Functor>
static __device__ void
pointwise_tail (
    const unsigned char *src, unsigned char *dst, int n, const Functor &f)
{
  for (int i = 0; i < n; i += 4)
    pointwise_store_bytes (
        dst + i, f (src ? pointwise_load_bytes (src + i, n - i) : 0), n - i);
}

template <typename Access, typename Functor>
__global__ void
__launch_bounds__ (POINTWISE_THREADS_X *POINTWISE_THREADS_Y)
    pointwise_kernel (const __grid_constant__ PointwiseJob<Functor> job)
{
  const size_t x = ((size_t)blockIdx.x * POINTWISE_THREADS_X + threadIdx.x)
                   * sizeof (Access);
  int tile = blockIdx.y, i = 0;

  start_next_kernel ();
  if (!job.early)
    wait_for_kernel_before ();
  while (tile >= job.plane[i].tiles)
    tile -= job.plane[i++].tiles;
  const PointwisePlane<Functor> &plane = job.plane[i];
  const int row = tile * POINTWISE_TILE_ROWS + threadIdx.y;
  const unsigned char *src
      = plane.src ? plane.src + row * plane.src_stride + x : NULL;
  unsigned char *dst = plane.dst + row * plane.dst_stride + x;
  const bool whole = x + sizeof (Access) <= plane.row_bytes;
  Functor functor = plane.functor;
  Access value[POINTWISE_ROWS] = {};

  if (whole && src) {
#pragma unroll
    for (int k = 0; k < POINTWISE_ROWS; k++)
      if (row + k * POINTWISE_THREADS_Y < plane.rows)
        value[k] = pointwise_load<Access> (
            src + k * POINTWISE_THREADS_Y * plane.src_stride);
  }
  functor.begin ();
  if (whole) {
#pragma unroll
    for (int k = 0; k < POINTWISE_ROWS; k++)
      if (row + k * POINTWISE_THREADS_Y < plane.rows)
        pointwise_store (dst + k * POINTWISE_THREADS_Y * plane.dst_stride,
            value[k], functor);
  } else if (x < plane.row_bytes) {
    for (int k = 0; k < POINTWISE_ROWS; k++)
      if (row + k * POINTWISE_THREADS_Y < plane.rows)
        pointwise_tail (
            src ? src + k * POINTWISE_THREADS_Y * plane.src_stride : NULL,
            dst + k * POINTWISE_THREADS_Y * plane.dst_stride,
            (int)(plane.row_bytes - x), functor);
  }
}

/* Adds plane `i` of `dst`, made from plane `i` of `src` or, where that is NULL,
 * from zeros, to a job that starts zeroed. */
template <typename Functor>
static void
pointwise_add (PointwiseJob<Functor> *job, const ImgView *src,
    const ImgView *dst, int i, const Functor &functor)
{
  const ImgPlane *to = &dst->plane[i];

  if (to->height == 0) /* chroma of the bottom field of two lines */
    return;
  PointwisePlane<Functor> *plane = &job->plane[job->n_planes++];

  if (src) {
    plane->src = (const unsigned char *)src->plane[i].data;
    plane->src_stride = src->plane[i].stride;
  }
  plane->dst = (unsigned char *)to->data;
  plane->dst_stride = to->stride;
  plane->row_bytes = (unsigned)img_plane_row_bytes (dst, to);
  plane->rows = to->height;
  plane->tiles = (to->height + POINTWISE_TILE_ROWS - 1) / POINTWISE_TILE_ROWS;
  plane->functor = functor;
}

template <typename Access, typename Functor>
static void
pointwise_start (const PointwiseJob<Functor> *job, cudaStream_t stream)
{
  const unsigned span = POINTWISE_THREADS_X * sizeof (Access);
  dim3 block (POINTWISE_THREADS_X, POINTWISE_THREADS_Y), grid (0, 0);

  for (int i = 0; i < job->n_planes; i++) {
    unsigned columns = (job->plane[i].row_bytes + span - 1) / span;

    grid.x = columns > grid.x ? columns : grid.x;
    grid.y += job->plane[i].tiles;
  }
  launch (pointwise_kernel<Access, Functor>, grid, block, 0, stream, *job);
}

/* Runs a job, which may be empty, with the widest access that the pointers and
 * strides of all its planes allow. */
template <typename Functor>
static bool
pointwise_run (const PointwiseJob<Functor> *job, cudaStream_t stream,
    const char *what, ImgError *error)
{
  uintptr_t bits = 0;

  if (job->n_planes == 0)
    return true;
  for (int i = 0; i < job->n_planes; i++)
    bits |= (uintptr_t)job->plane[i].src | (uintptr_t)job->plane[i].dst
            | (uintptr_t)job->plane[i].src_stride
            | (uintptr_t)job->plane[i].dst_stride;
  if (bits % 16 == 0)
    pointwise_start<uint4> (job, stream);
  else if (bits % 4 == 0)
    pointwise_start<unsigned> (job, stream);
  else
    pointwise_start<PointwiseBytes> (job, stream);
  return img_cuda_launched (what, error);
}

/* A word whose components of channel c are value[c]. */
static inline unsigned
pointwise_lanes (const ImgView *view, const ImgPlane *plane,
    const unsigned value[IMG_MAX_CHANNELS])
{
  const int bits = 8 * view->component_bytes;
  unsigned word = 0;

  for (int lane = 0; lane * bits < 32; lane++)
    word |= value[lane % plane->channels] << lane * bits;
  return word;
}

/* Whether lanes can tell the channels of every plane apart. */
static inline bool
pointwise_fits (const ImgView *view)
{
  for (int i = 0; i < view->n_planes; i++)
    if (view->plane[i].channels * view->component_bytes > 4)
      return false;
  return true;
}

/* Keeps some bits and sets others: copies alpha and makes chroma neutral. */
struct PointwiseSet {
  unsigned keep, set;

  __device__ void begin ()
  {
  }

  __device__ unsigned operator() (unsigned word) const
  {
    return (word & keep) | set;
  }
};

/* Fills chroma planes with neutral and copies alpha planes: those that an
 * operation on luma does not write. */
static inline bool
pointwise_fill_others (
    const ImgView *src, const ImgView *dst, ImgStream stream, ImgError *error)
{
  PointwiseJob<PointwiseSet> job = {};

  for (int i = 1; i < src->n_planes; i++) {
    const ImgPlane *plane = &src->plane[i];
    const unsigned neutral = (unsigned)img_view_levels (src).neutral
                             << src->shift;
    const unsigned value[IMG_MAX_CHANNELS]
        = { neutral, neutral, neutral, neutral };
    const PointwiseSet copy = { ~0u, 0 };
    const PointwiseSet fill = { 0, pointwise_lanes (src, plane, value) };

    if (img_channel_is_chroma (plane->channel[0]))
      pointwise_add (&job, NULL, dst, i, fill);
    else if (!img_channel_is_color (plane->channel[0])
             && dst->plane[i].data != plane->data)
      pointwise_add (&job, src, dst, i, copy);
  }
  return pointwise_run (&job, stream, "launching a fill of planes", error);
}

#endif
