/*
 * What a threshold writes: a functor that applies a rule to whole planes, and
 * the store of a group of pixels that a rule made.
 */
#ifndef IMG_THRESHOLD_LEVELS_CUH
#define IMG_THRESHOLD_LEVELS_CUH

#include <limits.h>

#include "luma.cuh"
#include "threshold-arith.h"

/* A level that the kernel before leaves in device memory, and where the host
 * wants to see it. It is there before that kernel has ended. */
#define LEVEL_PENDING INT_MIN

struct ComputedLevel {
  volatile int *level; /* NULL: the level is fixed */
  volatile int *report;

  /* The level, for all threads of a block. All blocks of the kernel before run
   * or have ended, so that it will come. */
  __device__ __forceinline__ int read () const
  {
    __shared__ int shared;

    if (threadIdx.x + threadIdx.y == 0) { /* of thousands of warps few ask */
      int value;

      do
        value = *level;
      while (value == LEVEL_PENDING);
      shared = value;
      if (blockIdx.x + blockIdx.y == 0) {
        *report = value;
        wait_for_kernel_before (); /* this one does not end before it */
      }
    }
    __syncthreads ();
    return shared;
  }
};

/* ImgThresholdRule on words; see pointwise.cuh. */
template <int Bytes> struct ThresholdWords {
  unsigned limit; /* what a component above is greater than */
  unsigned last;  /* the largest component, where containers have room */
  unsigned keep_above, set_above;
  unsigned keep_below, set_below;
  unsigned ones;          /* 1 << shift in the lanes that are decided */
  ComputedLevel computed; /* unless set_level has been called */
  bool truncate;
  int black, shift;

  /* From -1, where all are above, to one more than the largest value. */
  __host__ __device__ void set_level (int level)
  {
    const unsigned lanes = Bytes == 1 ? 0x01010101u : 0x00010001u;
    const int last = (1 << (8 * Bytes - shift)) - 1;
    const int at = img_clamp (level, 0, last);

    limit = lanes * ((unsigned)at << shift | ((1u << shift) - 1));
    if (truncate)
      set_above = (set_above & ~(ones * last))
                  | ones * (unsigned)(at > black ? at : black);
    if (level < 0) {
      keep_below = keep_above;
      set_below = set_above;
    }
  }

  __device__ void begin ()
  {
    if (computed.level)
      set_level (computed.read ());
  }

  __device__ unsigned operator() (unsigned word) const
  {
    if (Bytes == 2)
      word = __vminu2 (word, last);
    const unsigned above
        = Bytes == 1 ? __vcmpgtu4 (word, limit) : __vcmpgtu2 (word, limit);

    return (above & ((word & keep_above) | set_above))
           | (~above & ((word & keep_below) | set_below));
  }
};

/* The planes that luma is written to. */
struct LumaTarget {
  unsigned char *data[3];
  ptrdiff_t stride[3];
  int n_planes, width, height, shift;
  bool aligned;  /* all groups may be written as 16-byte vectors */
  unsigned keep; /* bits of a word that are copied: alpha of a packed pixel */
};

static inline LumaTarget
luma_target (const ImgView *view)
{
  const LumaPicture picture = luma_picture (view);
  const ImgPlane *plane = &view->plane[0];
  unsigned copied[IMG_MAX_CHANNELS] = {};
  LumaTarget target = {};

  for (int i = 0; i < 3 && picture.data[i]; i++) {
    target.data[i] = (unsigned char *)picture.data[i];
    target.stride[i] = picture.stride[i];
    target.n_planes++;
  }
  for (int c = 0; c < plane->channels; c++)
    if (!img_channel_is_color (plane->channel[c]))
      copied[c] = (1u << 8 * view->component_bytes) - 1;
  target.keep
      = luma_is_planar (view) ? 0 : pointwise_lanes (view, plane, copied);
  target.width = view->width;
  target.height = view->height;
  target.shift = view->shift;
  target.aligned = picture.aligned;
  return target;
}

/* Words of `Group` whose pixels are level[], in units of the depth, and whose
 * other components are those of `group`. */
template <typename Group>
static __device__ __forceinline__ void
pack_levels (const LumaTarget &target, const Group &group,
    const unsigned *level, unsigned *word)
{
  const int bytes = sizeof (typename Group::Component);

#pragma unroll
  for (int w = 0; w < Group::kWords; w++) {
    word[w] = 0;
#pragma unroll
    for (int j = 0; j < 4 / bytes; j++)
      word[w] |= level[(w * 4 / bytes + j) / Group::kStep]
                 << (8 * bytes * j + target.shift);
    if (Group::kStep == 4)
      word[w] = (word[w] & ~target.keep) | (group.word[0][w] & target.keep);
  }
}

/* One pixel's luma; slow, for edges and large blocks. */
template <typename Group>
static __device__ unsigned
luma_at (const LumaPicture &picture, int x, int y)
{
  typedef typename Group::Component T;
  unsigned sum = 1u << 14;

#pragma unroll
  for (int p = 0; p < Group::kPlanes; p++) {
    const T *pixel = (const T *)(picture.data[p] + y * picture.stride[p])
                     + (size_t)x * Group::kStep;

    if constexpr (Group::kStep == 1 && Group::kPlanes == 1) {
      return min ((unsigned)*pixel >> picture.shift, picture.max);
    } else {
#pragma unroll
      for (int c = 0; c < Group::kStep; c++)
        sum += picture.weight[p + c] * (pixel[c] >> picture.shift);
    }
  }
  return sum >> 15;
}

/* Writes a plane's words of a group that is aligned. */
template <typename Group>
static __device__ __forceinline__ void
store_vectors (unsigned char *data, const unsigned *word)
{
  if constexpr (Group::kWords % 4 == 0) {
#pragma unroll
    for (int w = 0; w < Group::kWords; w += 4)
      ((uint4 *)data)[w / 4]
          = make_uint4 (word[w], word[w + 1], word[w + 2], word[w + 3]);
  } else {
#pragma unroll
    for (int w = 0; w < Group::kWords; w++)
      ((unsigned *)data)[w] = word[w];
  }
}

/* Writes words of group `index` of row `row` to every luma plane. */
template <typename Group>
static __device__ __forceinline__ void
store_words (const LumaTarget &target, int row, int index, const unsigned *word)
{
  const int x = index * Group::kBytes;
  const int left
      = target.width * Group::kStep * (int)sizeof (typename Group::Component)
        - x;

#pragma unroll
  for (int p = 0; p < Group::kPlanes; p++) {
    unsigned char *data = target.data[p] + row * target.stride[p] + x;

    if (target.aligned && left >= Group::kBytes) {
      store_vectors<Group> (data, word);
    } else {
#pragma unroll
      for (int w = 0; w < Group::kWords; w++)
        pointwise_store_bytes (data + 4 * w, word[w], left - 4 * w);
    }
  }
}

/* The same from level[], of the group's pixels. */
template <typename Group>
static __device__ __forceinline__ void
store_levels (const LumaTarget &target, const Group &group, int row, int index,
    const unsigned *level)
{
  unsigned word[Group::kWords];

  pack_levels (target, group, level, word);
  store_words<Group> (target, row, index, word);
}

/* Words of `Group`, of four pixels of bytes, whose levels are those of
 * `level`. */
template <typename Group>
static __device__ __forceinline__ void
pack_four_levels (const LumaTarget &target, const Group &group, unsigned level,
    unsigned *word)
{
#pragma unroll
  for (int w = 0; w < Group::kWords; w++) {
    unsigned from = 0; /* the pixels of the word's bytes */

#pragma unroll
    for (int j = 0; j < 4; j++)
      from |= (unsigned)((4 * w + j) / Group::kStep) << 4 * j;
    word[w] = __byte_perm (level, 0, from);
    if (Group::kStep == 4)
      word[w] = (word[w] & ~target.keep) | (group.word[0][w] & target.keep);
  }
}

/* Writes one pixel's level to every colour channel and copies the others. */
template <typename Group>
static __device__ void
write_pixel (
    const LumaPicture &src, const LumaTarget &dst, int x, int y, unsigned level)
{
  typedef typename Group::Component T;
  const size_t at = (size_t)x * Group::kStep;

  for (int p = 0; p < Group::kPlanes; p++) {
    T *to = (T *)(dst.data[p] + y * dst.stride[p]) + at;
    const T *from = (const T *)(src.data[p] + y * src.stride[p]) + at;

    for (int c = 0; c < Group::kStep; c++)
      to[c] = Group::kStep == 4 && dst.keep >> 8 * c & 0xff
                  ? from[c]
                  : (T)(level << dst.shift);
  }
}

#endif
