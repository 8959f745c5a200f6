/* A plane on its way through resize.cu, and what its kernels share. */
#ifndef IMG_RESIZE_PLANE_CUH
#define IMG_RESIZE_PLANE_CUH

#include "launch.cuh"
#include "pointwise.cuh"
#include "resize-arith.h"

typedef enum {
  KIND_SUM,   /* any number of inputs: resize-sum.cuh */
  KIND_PICK,  /* one input for an output: there too */
  KIND_WALK,  /* few inputs: resize-walk.cuh */
  KIND_HALVE, /* the mean of 2x2, aligned: resize-halve.cuh */
  N_KINDS
} ResizeKind;

/* The arrays of ImgResizeAxis in device memory; for KIND_WALK, with as many
 * taps as its kernel has, of which some weigh nothing. */
struct ResizeAxis {
  const int *first;
  const float *weight;
  int taps;
};

/* One plane, of the rectangle that gets the picture. */
struct ResizePlane {
  ResizeKind kind;
  const unsigned char *src;
  unsigned char *dst; /* first output that is not black */
  ptrdiff_t src_stride, dst_stride;
  ResizeAxis x, y;
  int width, height;     /* of the rectangle */
  int src_row, src_rows; /* components of a source row, and rows */
  int channels, shift, max;
  float bias, scale;
  bool aligned, dst_aligned; /* to words */
  int blocks;                /* in the grid's y */

  /* KIND_SUM: first outputs of the pieces, and the end */
  const int *piece;
  int pieces; /* KIND_PICK too */

  /* KIND_WALK */
  bool apart;                 /* hardly any two outputs take the same row */
  unsigned mask;              /* of a word, without what is below the depth */
  float scaled_bias;          /* which is exact */
  float start;                /* of a sum across: less what bytes have more */
  int words_begin, words_end; /* rows that may be read in words, to the last */

  bool cosited; /* KIND_HALVE: 3x2 */
};

/* The planes of one kind, and the rows of a block's strip. */
struct ResizeJob {
  int n_planes, rows;
  ResizePlane plane[IMG_MAX_PLANES];
};

/* The plane of this block, and `block` counted from its first. `Several`:
 * whether the job may have more than one; else all of it is constants. */
template <bool Several>
static __device__ __forceinline__ const ResizePlane &
plane_of_block (const ResizeJob &job, int *block)
{
  int i = 0;

  *block = blockIdx.y;
  while (Several && *block >= job.plane[i].blocks)
    *block -= job.plane[i++].blocks;
  return job.plane[i];
}

/* Component `i` of a word. */
template <typename T>
static __device__ __forceinline__ unsigned
component (unsigned word, int i)
{
  return sizeof (T) == 1 ? word >> 8 * i & 0xff : word >> 16 * i & 0xffff;
}

#endif
