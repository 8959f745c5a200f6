/*
 * Reads the luma of a picture in groups of a few pixels that lie side by side.
 * Luma is in units of the depth, as img_luma gives it.
 */
#ifndef IMG_LUMA_CUH
#define IMG_LUMA_CUH

#include <stdint.h>

#include "arith.h"
#include "pointwise.cuh"

/* Where the channels lie that luma is made of. */
struct LumaPicture {
  const unsigned char *data[3];
  ptrdiff_t stride[3];
  int width, height, shift;
  unsigned max;       /* no luma is above it, whatever a container holds */
  bool aligned;       /* all groups may be read as 16-byte vectors */
  unsigned weight[4]; /* of the components of a packed pixel, or the planes */
  /* Twice the weights, of 16 bits. Of a packed pixel: two in each of [0][0] and
   * [0][1]. Else of each plane: one, in the low and in the high half. */
  unsigned pair[3][2];
};

/* Pixels that fill 16 bytes, or 48 where 16 do not hold whole pixels. */
template <typename T, int Step>
static constexpr int luma_pixels
    = (Step == 3 ? 48 : 16) / (Step * (int)sizeof (T));

/* T: a component. Step: components in a pixel. Planes: 1, or 3 for R, G, B in
 * planes of their own. Pixels: in a group; they fill whole words. */
template <typename T, int Step, int Planes, int Pixels = luma_pixels<T, Step>>
struct LumaGroup {
  typedef T Component;
  typedef LumaGroup<T, Step, Planes, 4> Four; /* a group of four pixels */
  typedef LumaGroup<T, Step, Planes, 8> Eight;
  static constexpr int kStep = Step;
  static constexpr int kPlanes = Planes;
  static constexpr int kPixels = Pixels;
  static constexpr int kBytes = Pixels * Step * (int)sizeof (T);
  static constexpr int kWords = kBytes / 4;

  unsigned word[Planes][kWords];

  /* Reads all words of a plane, which is aligned to 16 bytes. Groups start at
   * multiples of their size. */
  __device__ __forceinline__ void load_vectors (
      unsigned *to, const unsigned char *data)
  {
    if constexpr (kWords % 4 == 0) {
#pragma unroll
      for (int i = 0; i < kWords / 4; i++) {
        const uint4 v = ((const uint4 *)data)[i];

        to[4 * i] = v.x, to[4 * i + 1] = v.y;
        to[4 * i + 2] = v.z, to[4 * i + 3] = v.w;
      }
    } else if constexpr (kWords % 2 == 0) {
#pragma unroll
      for (int i = 0; i < kWords / 2; i++) {
        const uint2 v = ((const uint2 *)data)[i];

        to[2 * i] = v.x, to[2 * i + 1] = v.y;
      }
    } else {
#pragma unroll
      for (int i = 0; i < kWords; i++)
        to[i] = ((const unsigned *)data)[i];
    }
  }

  /* Reads group `group` of row `row`; what is beyond the row's end is 0. */
  __device__ __forceinline__ void load (
      const LumaPicture &picture, int row, int group)
  {
    const int x = group * kBytes;
    const int left = picture.width * Step * (int)sizeof (T) - x;

#pragma unroll
    for (int p = 0; p < Planes; p++) {
      const unsigned char *data = picture.data[p] + row * picture.stride[p] + x;

      if (picture.aligned && left >= kBytes) {
        load_vectors (word[p], data);
      } else {
#pragma unroll
        for (int i = 0; i < kWords; i++)
          word[p][i] = pointwise_load_bytes (data + 4 * i, left - 4 * i);
      }
    }
  }

  __device__ __forceinline__ unsigned component (int plane, int index) const
  {
    const int per_word = 4 / sizeof (T);
    const int at = index % per_word * 8 * (int)sizeof (T);

    if (sizeof (T) == 1)
      return __byte_perm (word[plane][index / 4], 0, 0x4440 + index % 4);
    return (T)(word[plane][index / per_word] >> at);
  }

  /* The luma of pixel `i` of RGB, a constant, with 16 fractional bits. */
  __device__ __forceinline__ unsigned luma_sum (
      const LumaPicture &picture, int i) const
  {
    unsigned sum = 1 << 15;

    if constexpr (Planes == 1) {
      const int at = i * Step;
      const unsigned pixel = __byte_perm (word[0][at / 4],
          word[0][(at + Step - 1) / 4], 0x3210 + at % 4 * 0x1111);

      sum = __dp2a_lo (picture.pair[0][0], pixel, sum);
      sum = __dp2a_hi (picture.pair[0][1], pixel, sum);
    } else {
#pragma unroll
      for (int p = 0; p < Planes; p++) {
        const unsigned pair = picture.pair[p][i % 2];

        sum = i % 4 < 2 ? __dp2a_lo (pair, word[p][i / 4], sum)
                        : __dp2a_hi (pair, word[p][i / 4], sum);
      }
    }
    return sum;
  }

  /* The luma of the group's pixel `i`, a constant after unrolling. */
  __device__ __forceinline__ unsigned luma (
      const LumaPicture &picture, int i) const
  {
    if constexpr (Step > 1 || Planes > 1)
      return luma_sum (picture, i) >> 16;
    else if constexpr (sizeof (T) == 1)
      return component (0, i); /* bytes are not shifted */
    else
      return min (component (0, i) >> picture.shift, picture.max);
  }
};

/* The luma of the pixels `i`..i + 3 of a group of bytes, in bytes. i is a
 * constant. */
template <typename Group>
static __device__ __forceinline__ unsigned
luma_bytes (const LumaPicture &picture, const Group &group, int i)
{
  static_assert (sizeof (typename Group::Component) == 1, "bytes");
  if constexpr (Group::kStep == 1 && Group::kPlanes == 1) {
    return group.word[0][i / 4];
  } else {
    const unsigned a = __byte_perm (
        group.luma_sum (picture, i), group.luma_sum (picture, i + 1), 0x0062);
    const unsigned b = __byte_perm (group.luma_sum (picture, i + 2),
        group.luma_sum (picture, i + 3), 0x0062);

    return __byte_perm (a, b, 0x5410);
  }
}

/* Groups of a thread in flight: some 64 bytes. */
template <typename Group>
static constexpr int luma_loads = Group::kWords *Group::kPlanes > 4 ? 2 : 4;

/* img_luma's weight of a channel: it is linear up to its rounding. */
static inline unsigned
luma_weight (ImgChannel channel)
{
  const int one = 1 << 15;

  return channel == IMG_CHANNEL_R   ? img_luma (one, 0, 0)
         : channel == IMG_CHANNEL_G ? img_luma (0, one, 0)
         : channel == IMG_CHANNEL_B ? img_luma (0, 0, one)
                                    : 0;
}

static inline bool
luma_is_planar (const ImgView *view)
{
  return view->model == IMG_MODEL_RGB && view->n_planes > 1;
}

/* Whether plane `i` is one of those that luma is read from. */
static inline bool
luma_is_source (const ImgView *view, int i)
{
  return view->model == IMG_MODEL_RGB
             ? img_channel_is_color (view->plane[i].channel[0])
                   || view->n_planes == 1
             : i == 0;
}

static inline LumaPicture
luma_picture (const ImgView *view)
{
  LumaPicture picture = {};
  uintptr_t bits = 0;
  int n = 0;

  picture.width = view->width;
  picture.height = view->height;
  picture.shift = view->shift;
  picture.max = (unsigned)img_view_levels (view).max;
  for (int i = 0; i < view->n_planes; i++) {
    const ImgPlane *plane = &view->plane[i];

    if (!luma_is_source (view, i))
      continue;
    for (int c = 0; c < plane->channels; c++)
      picture.weight[n + c] = luma_weight (plane->channel[c]);
    bits |= (uintptr_t)plane->data | (uintptr_t)plane->stride;
    for (int k = 0; k < 2; k++)
      picture.pair[n][k]
          = plane->channels > 1
                ? 2 * picture.weight[2 * k] | picture.weight[2 * k + 1] << 17
                : picture.weight[n] << (1 + 16 * k);
    picture.data[n] = (const unsigned char *)plane->data;
    picture.stride[n++] = plane->stride;
  }
  picture.aligned = bits % 16 == 0;
  return picture;
}

/* Whether luma_dispatch knows the layout: RGB of 8 bits, packed in 3 or 4
 * channels or in planes, and a luma plane of 8 or 16. */
static inline bool
luma_fits (const ImgView *view)
{
  const int channels = view->plane[0].channels;

  if (view->model != IMG_MODEL_RGB)
    return channels == 1;
  return view->component_bytes == 1
         && (view->n_planes > 1 ? channels == 1
                                : channels == 3 || channels == 4);
}

/* Calls `function` with a group of the type that fits the view. */
template <typename Function>
static void
luma_dispatch (const ImgView *view, Function function)
{
  if (luma_is_planar (view))
    function (LumaGroup<uint8_t, 1, 3> ());
  else if (view->plane[0].channels == 3)
    function (LumaGroup<uint8_t, 3, 1> ());
  else if (view->plane[0].channels == 4)
    function (LumaGroup<uint8_t, 4, 1> ());
  else if (view->component_bytes == 2)
    function (LumaGroup<uint16_t, 1, 1> ());
  else
    function (LumaGroup<uint8_t, 1, 1> ());
}

/* Threads on (row, group) pairs that are `step` groups apart, without a
 * division on each step. */
struct LumaWalk {
  int row, group, groups, step_rows, step_groups;

  __device__ __forceinline__ LumaWalk (int first, int step, int groups)
      : row (first / groups), group (first % groups), groups (groups),
        step_rows (step / groups), step_groups (step % groups)
  {
  }

  __device__ __forceinline__ void next ()
  {
    row += step_rows;
    group += step_groups;
    if (group >= groups) {
      group -= groups;
      row++;
    }
  }
};

#endif
