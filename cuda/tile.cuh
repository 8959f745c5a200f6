/*
 * Rows of components and what stands beyond their edges, for the kernels that
 * look at neighbours: a tile with its halo goes into shared memory. Works for
 * every format, alignment and border, at one component per load.
 */
#ifndef IMG_TILE_CUH
#define IMG_TILE_CUH

#include <stdint.h>

#include "arith.h"

/* A plane, or the luma of RGB, whose three channels lie in one plane or in
 * three. Its components are counted along the row: pixel * step + channel. */
struct TileSource {
  const unsigned char *data[3]; /* R, G and B, or the plane */
  ptrdiff_t stride[3];
  int width, height;   /* in pixels */
  int step;            /* components in a pixel, 1 for luma */
  int pixel_bytes;     /* from one pixel to the next */
  int component_bytes; /* 1 for luma of RGB */
  int shift;
  bool luma; /* of RGB */
  ImgBorder border;
  int outside; /* level of IMG_BORDER_CONSTANT */
};

/* Component `x` of row `y`, both inside. */
static __device__ __forceinline__ int
tile_inside (const TileSource &source, int x, int y)
{
  const unsigned char *row = source.data[0] + y * source.stride[0];

  if (source.luma) {
    const size_t at = (size_t)x * source.pixel_bytes;

    return img_luma (row[at], source.data[1][y * source.stride[1] + at],
        source.data[2][y * source.stride[2] + at]);
  }
  if (source.component_bytes == 1)
    return row[x];
  return ((const uint16_t *)row)[x] >> source.shift;
}

/* The component that stands at `x`, or -1 for the constant. */
static __host__ __device__ __forceinline__ int
tile_column (const TileSource &source, int x)
{
  if (x >= 0 && x < source.width * source.step)
    return x;
  const int pixel = (x < 0 ? x - source.step + 1 : x) / source.step;
  const int inside = img_border_index (pixel, source.width, source.border);
  return inside < 0 ? -1 : inside * source.step + x - pixel * source.step;
}

/* Component `x`, anywhere, of row `row`, which is inside or -1. */
static __device__ __forceinline__ int
tile_component (const TileSource &source, int x, int row)
{
  const int column = tile_column (source, x);

  if (row < 0 || column < 0)
    return source.outside;
  return tile_inside (source, column, row);
}

/* Fills `rows` rows of `pitch` components from component `x` and row `y` on.
 * To be called by all threads of a block, which then must synchronise. */
template <typename T>
static __device__ __forceinline__ void
tile_load (const TileSource &source, int x, int y, int rows, int pitch, T *tile)
{
  for (int i = threadIdx.y; i < rows; i += blockDim.y) {
    const int row = img_border_index (y + i, source.height, source.border);

    for (int j = threadIdx.x; j < pitch; j += blockDim.x)
      tile[i * pitch + j] = (T)tile_component (source, x + j, row);
  }
}

/* Plane `plane` of `view`. */
static inline TileSource
tile_source (const ImgView *view, const ImgPlane *plane, ImgBorder border)
{
  const ImgLevels levels = img_view_levels (view);
  TileSource source = {};

  source.data[0] = (const unsigned char *)plane->data;
  source.stride[0] = plane->stride;
  source.width = plane->width;
  source.height = plane->height;
  source.step = plane->channels;
  source.pixel_bytes = plane->channels * view->component_bytes;
  source.component_bytes = view->component_bytes;
  source.shift = view->shift;
  source.border = border;
  source.outside = img_channel_is_chroma (plane->channel[0]) ? levels.neutral
                                                             : levels.black;
  return source;
}

/* The luma of RGB of 8 bits. */
static inline TileSource
tile_luma_source (const ImgView *view, ImgBorder border)
{
  TileSource source = tile_source (view, &view->plane[0], border);

  for (int i = 0; i < view->n_planes; i++)
    for (int c = 0; c < view->plane[i].channels; c++) {
      const int to = view->plane[i].channel[c] - IMG_CHANNEL_R;

      if (to < 0 || to > 2)
        continue;
      source.data[to] = (const unsigned char *)view->plane[i].data + c;
      source.stride[to] = view->plane[i].stride;
    }
  source.step = 1;
  source.luma = true;
  return source;
}

#endif
