/*
 * Arithmetic on which the CPU and the GPU version of an operation must agree,
 * written once: C reads it and so does nvcc, for the host and for the device.
 */
#ifndef IMG_ARITH_H
#define IMG_ARITH_H

#include <math.h>

#include "image.h"
#include "types.h"

#ifdef __CUDACC__
#define IMG_INLINE static inline __host__ __device__
#else
#define IMG_INLINE static inline
#endif

IMG_INLINE int
img_clamp (int value, int low, int high)
{
  return value < low ? low : value > high ? high : value;
}

/* Nearest integer, ties to even, saturated to low..high; NaN gives low. */
IMG_INLINE int
img_round_clamp (float value, int low, int high)
{
  if (!(value > (float) low))
    return low;
  if (value >= (float) high)
    return high;
#ifdef __CUDA_ARCH__
  return __float2int_rn (value);
#else
  return (int) rintf (value);
#endif
}

/* BT.601 luma of RGB values of any depth up to 16 bits, in OpenCV's 15-bit
 * fixed point (color_rgb.simd.hpp: RY15, GY15, BY15), rounded to nearest. */
IMG_INLINE int
img_luma (int r, int g, int b)
{
  return (int) ((9798u * (unsigned) r + 19235u * (unsigned) g
          + 3735u * (unsigned) b + (1u << 14)) >> 15);
}

/* Index of the pixel that stands at `i` of a row of `n`, for any i, or -1 for
 * the constant of IMG_BORDER_CONSTANT. OpenCV's borderInterpolate. */
IMG_INLINE int
img_border_index (int i, int n, ImgBorder border)
{
  if (i >= 0 && i < n)
    return i;
  switch (border) {
    case IMG_BORDER_REPLICATE:
      return i < 0 ? 0 : n - 1;
    case IMG_BORDER_WRAP:
      i %= n;
      return i < 0 ? i + n : i;
    case IMG_BORDER_REFLECT:
      i %= 2 * n;
      if (i < 0)
        i += 2 * n;
      return i < n ? i : 2 * n - 1 - i;
    case IMG_BORDER_REFLECT_101:
      if (n == 1)
        return 0;
      i %= 2 * n - 2;
      if (i < 0)
        i += 2 * n - 2;
      return i < n ? i : 2 * n - 2 - i;
    default:
      return -1;
  }
}

IMG_INLINE bool
img_channel_is_color (ImgChannel channel)
{
  return channel != IMG_CHANNEL_A && channel != IMG_CHANNEL_X;
}

IMG_INLINE bool
img_channel_is_chroma (ImgChannel channel)
{
  return channel == IMG_CHANNEL_U || channel == IMG_CHANNEL_V;
}

#endif
