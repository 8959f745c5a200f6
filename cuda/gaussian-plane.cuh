/*
 * What the ways to blur a plane share: the plane, and products of matrices of
 * halves on tensor cores. Components are exact in half precision; weights and
 * results of a first product are the sum of two halves, which is worth 22 bits,
 * and sums are float32.
 */
#ifndef IMG_GAUSSIAN_PLANE_CUH
#define IMG_GAUSSIAN_PLANE_CUH

#include <cuda_fp16.h>
#include <stdint.h>
#include <stdlib.h>

#include "arith.h"
#include "launch.cuh"
#include "pointwise.cuh"

/* One plane to blur. */
struct BlurPlane {
  const unsigned char *src;
  unsigned char *dst;
  ptrdiff_t src_stride, dst_stride;
  int width, height, channels;
  int row; /* components in a row */
  int shift, max;
  int constant; /* beyond the edge with IMG_BORDER_CONSTANT */
  ImgBorder border;
  bool copied[IMG_MAX_CHANNELS]; /* channels that are not blurred */
};

/* The component of row `y` that stands at `x`, both anywhere. */
template <typename T>
static __device__ int
blur_component (const BlurPlane &plane, int x, int y)
{
  const int c = plane.channels;
  int pixel = x >= 0 ? x / c : -((c - 1 - x) / c);
  const int channel = x - pixel * c;

  pixel = img_border_index (pixel, plane.width, plane.border);
  y = img_border_index (y, plane.height, plane.border);
  if (pixel < 0 || y < 0)
    return plane.constant;
  return ((const T *)(plane.src + y * plane.src_stride))[pixel * c + channel]
         >> plane.shift;
}

struct HalfPair {
  unsigned high, low;
};

/* Two floats as two pairs of halves that add up to them. */
static __device__ __forceinline__ HalfPair
split (float a, float b)
{
  const __half2 high = __floats2half2_rn (a, b);
  const float2 back = __half22float2 (high);
  const __half2 low = __floats2half2_rn (a - back.x, b - back.y);
  HalfPair pair;

  pair.high = *(const unsigned *)&high;
  pair.low = *(const unsigned *)&low;
  return pair;
}

static __device__ __forceinline__ float
weight_at (const float *weight, int distance, int radius)
{
  distance = abs (distance);
  return distance <= radius ? weight[distance] : 0.f;
}

/* Two sums as bytes. They are within 0..255 but for their last bits; adding
 * 2^23 + 2^22 rounds to nearest, ties to even, into the low byte. */
static __device__ __forceinline__ uint16_t
round_pair (float a, float b)
{
  return (uint16_t)__byte_perm (__float_as_uint (a + 12582912.f),
      __float_as_uint (b + 12582912.f), 0x0040);
}

#endif
