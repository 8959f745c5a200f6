/*
 * What the kernels between packed RGB and 8-bit YUV 4:2:0 or grey share. An
 * octet is eight pixels of a row; a thread has those of two rows, a warp 32 of
 * them side by side. Packed pixels pass through shared memory, so that each
 * access to the picture has 16 bytes beside those of the next thread.
 */
#ifndef IMG_CVTCOLOR_OCTETS_CUH
#define IMG_CVTCOLOR_OCTETS_CUH

#include <stdint.h>

#include "cvtcolor-arith.h"
#include "launch.cuh"
#include "ptx.cuh"

#define OCTETS_WARPS 4 /* of a block, one above the other */

enum CvtcolorKind {
  CVTCOLOR_GRAY,
  CVTCOLOR_PACKED3,
  CVTCOLOR_PACKED4,
  CVTCOLOR_NV12, /* and NV21 */
  CVTCOLOR_I420, /* and YV12 */
  CVTCOLOR_OTHER
};

template <int Kind>
static constexpr int octets_pixel_bytes = Kind == CVTCOLOR_PACKED3 ? 3 : 4;

/* Packed pixels of a warp: `Rows` rows of chunks of 16 bytes. */
template <int Kind, int Rows> struct OctetStage {
  static constexpr int row_chunks = 16 * octets_pixel_bytes<Kind>;
  uint4 chunk[Rows * row_chunks];

  /* Where a chunk lies. Octets of two whole chunks are spread so that eight
   * threads that each take one of theirs meet different banks. */
  static __device__ __forceinline__ int place (int i)
  {
    return Kind == CVTCOLOR_PACKED4 ? i ^ (i >> 3 & 1) : i;
  }

  /* The words of this thread's octet, six or eight, in row `r`. */
  __device__ __forceinline__ void put (int r, const unsigned *word)
  {
    if constexpr (Kind == CVTCOLOR_PACKED4) {
      const int at = r * row_chunks + 2 * (int)threadIdx.x;

      chunk[place (at)] = make_uint4 (word[0], word[1], word[2], word[3]);
      chunk[place (at + 1)] = make_uint4 (word[4], word[5], word[6], word[7]);
    } else {
      uint2 *to = (uint2 *)(chunk + r * row_chunks) + 3 * threadIdx.x;

#pragma unroll
      for (int i = 0; i < 3; i++)
        to[i] = make_uint2 (word[2 * i], word[2 * i + 1]);
    }
  }

  /* The same from there, of three bytes a pixel. */
  __device__ __forceinline__ void get (int r, unsigned *word) const
  {
    const uint2 *from
        = (const uint2 *)(chunk + r * row_chunks) + 3 * threadIdx.x;

#pragma unroll
    for (int i = 0; i < 3; i++) {
      const uint2 two = from[i];

      word[2 * i] = two.x;
      word[2 * i + 1] = two.y;
    }
  }
};

/* A chunk of a row with `left` bytes, 8 or more, from there on. */
static __device__ __forceinline__ uint4
octets_load (const unsigned char *p, int left)
{
  if (left >= 16)
    return *(const uint4 *)p;
  const uint2 half = *(const uint2 *)p;

  return make_uint4 (half.x, half.y, 0, 0);
}

/* Of chunk 32 * k + (this lane): the row and the place in it, which the
 * compiler knows but where the lanes are in two rows. */
template <int Kind>
static __device__ __forceinline__ int
octets_row (int k)
{
  constexpr int chunks = OctetStage<Kind, 1>::row_chunks;
  const int low = 32 * k / chunks, high = (32 * k + 31) / chunks;

  return low == high ? low : low + ((int)threadIdx.x >= high * chunks - 32 * k);
}

template <int Kind>
static __device__ __forceinline__ int
octets_column (int k)
{
  return 32 * k + (int)threadIdx.x
         - octets_row<Kind> (k) * OctetStage<Kind, 1>::row_chunks;
}

/* Stores two rows, `y` and the one below it where they are in the picture;
 * `to` is where the warp's first pixel of row `y` goes, with `left` bytes in
 * the row from there on: a multiple of 8. The whole warp calls. */
template <int Kind>
static __device__ __forceinline__ void
octets_store (const OctetStage<Kind, 2> *stage, unsigned char *to, int stride,
    int left, int y, int height)
{
#pragma unroll
  for (int k = 0; k < 2 * stage->row_chunks / 32; k++) {
    const int r = octets_row<Kind> (k), at = 16 * octets_column<Kind> (k);
    unsigned char *p = ptx_row (to, r, stride) + at;

    if ((unsigned)(y + r) >= (unsigned)height || at >= left)
      continue;
    const uint4 v = stage->chunk[stage->place (32 * k + (int)threadIdx.x)];

    if (at + 16 <= left)
      *(uint4 *)p = v;
    else
      *(uint2 *)p = make_uint2 (v.x, v.y);
  }
}

/* Byte `Byte` of each of four words. */
template <int Byte>
static __device__ __forceinline__ unsigned
octets_join (unsigned a, unsigned b, unsigned c, unsigned d)
{
  constexpr unsigned pick = 0x0040 + 0x11 * Byte;

  return __byte_perm (
      __byte_perm (a, b, pick), __byte_perm (c, d, pick), 0x5410);
}

/* on the host */

static inline CvtcolorKind
cvtcolor_kind (const ImgView *view)
{
  if (view->component_bytes != 1 || view->depth != 8)
    return CVTCOLOR_OTHER;
  if (view->model == IMG_MODEL_GRAY)
    return CVTCOLOR_GRAY;
  if (view->model == IMG_MODEL_RGB && view->n_planes == 1)
    return view->plane[0].channels == 3 ? CVTCOLOR_PACKED3 : CVTCOLOR_PACKED4;
  const ImgPlane *last = &view->plane[view->n_planes - 1];

  if (view->model != IMG_MODEL_YUV || last->x_sub != 1 || last->y_sub != 1
      || last->height == 0)
    return CVTCOLOR_OTHER;
  return view->n_planes == 2 ? CVTCOLOR_NV12 : CVTCOLOR_I420;
}

/* Which channel of `plane` is `channel`, or -1. */
static inline int
cvtcolor_find (const ImgPlane *plane, ImgChannel channel)
{
  for (int c = 0; c < plane->channels; c++)
    if (plane->channel[c] == channel)
      return c;
  return -1;
}

static inline dim3
octets_grid (int octets, int pairs)
{
  return dim3 ((octets + 31) / 32, (pairs + OCTETS_WARPS - 1) / OCTETS_WARPS);
}

#endif
