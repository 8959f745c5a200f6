/* The table of formats, and views of pictures in them. */
#include "image.h"

#include <string.h>

#define PACKED(name, channels) \
  { name, IMG_MODEL_RGB, 8, 0, 1, 1, { { channels, 0, 0 } } }
#define PLANAR(name, a, b, c) \
  { name, IMG_MODEL_RGB, 8, 0, 1, 3, { { a, 0, 0 }, { b, 0, 0 }, { c, 0, 0 } } }
#define YUV3(name, depth, bytes, a, b, x, y) \
  { name, IMG_MODEL_YUV, depth, 0, bytes, 3, \
    { { "Y", 0, 0 }, { a, x, y }, { b, x, y } } }
#define YUV2(name, depth, shift, bytes, chroma) \
  { name, IMG_MODEL_YUV, depth, shift, bytes, 2, \
    { { "Y", 0, 0 }, { chroma, 1, 1 } } }

/* In the order in which negotiation prefers them: grey, which loses colour,
 * last. */
static const ImgFormat formats[] = {
  PACKED ("RGB", "RGB"),
  PACKED ("BGR", "BGR"),
  PACKED ("RGBA", "RGBA"),
  PACKED ("BGRA", "BGRA"),
  PACKED ("ARGB", "ARGB"),
  PACKED ("ABGR", "ABGR"),
  PACKED ("RGBx", "RGBX"),
  PACKED ("BGRx", "BGRX"),
  PACKED ("xRGB", "XRGB"),
  PACKED ("xBGR", "XBGR"),
  PLANAR ("RGBP", "R", "G", "B"),
  PLANAR ("BGRP", "B", "G", "R"),
  PLANAR ("GBR", "G", "B", "R"),
  { "GBRA", IMG_MODEL_RGB, 8, 0, 1, 4,
      { { "G", 0, 0 }, { "B", 0, 0 }, { "R", 0, 0 }, { "A", 0, 0 } } },
  YUV3 ("I420", 8, 1, "U", "V", 1, 1),
  YUV3 ("YV12", 8, 1, "V", "U", 1, 1),
  YUV2 ("NV12", 8, 0, 1, "UV"),
  YUV2 ("NV21", 8, 0, 1, "VU"),
  YUV3 ("Y42B", 8, 1, "U", "V", 1, 0),
  YUV3 ("Y444", 8, 1, "U", "V", 0, 0),
  YUV2 ("P010_10LE", 10, 6, 2, "UV"),
  YUV2 ("P016_LE", 16, 0, 2, "UV"),
  YUV3 ("I420_10LE", 10, 2, "U", "V", 1, 1),
  YUV3 ("Y444_16LE", 16, 2, "U", "V", 0, 0),
  { "GRAY8", IMG_MODEL_GRAY, 8, 0, 1, 1, { { "Y", 0, 0 } } },
  { "GRAY16_LE", IMG_MODEL_GRAY, 16, 0, 2, 1, { { "Y", 0, 0 } } },
};

#define N_FORMATS ((int) (sizeof (formats) / sizeof (formats[0])))

const ImgFormat *
img_format_find (const char *name)
{
  for (int i = 0; i < N_FORMATS; i++)
    if (strcmp (formats[i].name, name) == 0)
      return &formats[i];
  return NULL;
}

const ImgFormat *
img_format_at (int index)
{
  return index >= 0 && index < N_FORMATS ? &formats[index] : NULL;
}

static ImgChannel
channel_of_letter (char letter)
{
  static const char letters[] = "YUVRGBAX"; /* in the order of ImgChannel */

  return (ImgChannel) (strchr (letters, letter) - letters);
}

void
img_view_init (ImgView *view, const ImgFormat *format, int width, int height)
{
  memset (view, 0, sizeof (*view));
  view->model = format->model;
  view->width = width;
  view->height = height;
  view->depth = format->depth;
  view->shift = format->shift;
  view->component_bytes = format->component_bytes;
  view->full_range = format->model != IMG_MODEL_YUV;
  view->matrix = height > 576 ? IMG_MATRIX_BT709 : IMG_MATRIX_BT601;
  view->h_cosited = true;
  view->n_planes = format->n_planes;
  for (int i = 0; i < format->n_planes; i++) {
    ImgPlane *plane = &view->plane[i];
    const char *letters = format->plane[i].channels;

    plane->x_sub = format->plane[i].x_sub;
    plane->y_sub = format->plane[i].y_sub;
    plane->width = (width + (1 << plane->x_sub) - 1) >> plane->x_sub;
    plane->height = (height + (1 << plane->y_sub) - 1) >> plane->y_sub;
    plane->channels = (int) strlen (letters);
    for (int c = 0; c < plane->channels; c++)
      plane->channel[c] = channel_of_letter (letters[c]);
  }
}

size_t
img_plane_row_bytes (const ImgView *view, const ImgPlane *plane)
{
  return (size_t) plane->width * plane->channels * view->component_bytes;
}

size_t
img_view_lay_out (ImgView *view, void *data, int align)
{
  size_t mask = (size_t) align - 1, offset = 0;

  for (int i = 0; i < view->n_planes; i++) {
    ImgPlane *plane = &view->plane[i];
    size_t stride = (img_plane_row_bytes (view, plane) + mask) & ~mask;

    plane->data = data ? (char *) data + offset : NULL;
    plane->stride = (ptrdiff_t) stride;
    offset += stride * plane->height;
  }
  return offset;
}

ImgView
img_view_field (const ImgView *view, int field)
{
  ImgView result = *view;

  result.height = (view->height + 1 - field) / 2;
  for (int i = 0; i < view->n_planes; i++) {
    ImgPlane *plane = &result.plane[i];

    if (plane->data)
      plane->data = (char *) plane->data + field * plane->stride;
    plane->stride *= 2;
    plane->height = (plane->height + 1 - field) / 2;
  }
  return result;
}

static bool
same_plane_layout (const ImgPlane *a, const ImgPlane *b)
{
  return a->width == b->width && a->height == b->height
      && a->channels == b->channels
      && memcmp (a->channel, b->channel, sizeof (a->channel)) == 0;
}

bool
img_view_same_layout (const ImgView *a, const ImgView *b)
{
  if (a->model != b->model || a->width != b->width || a->height != b->height
      || a->depth != b->depth || a->shift != b->shift
      || a->component_bytes != b->component_bytes
      || a->full_range != b->full_range || a->matrix != b->matrix
      || a->h_cosited != b->h_cosited || a->v_cosited != b->v_cosited
      || a->n_planes != b->n_planes)
    return false;
  for (int i = 0; i < a->n_planes; i++)
    if (!same_plane_layout (&a->plane[i], &b->plane[i]))
      return false;
  return true;
}

ImgLevels
img_view_levels (const ImgView *view)
{
  ImgLevels levels;

  levels.max = (1 << view->depth) - 1;
  levels.black = view->full_range ? 0 : 16 << (view->depth - 8);
  levels.white = view->full_range ? levels.max : 235 << (view->depth - 8);
  levels.neutral = 1 << (view->depth - 1);
  return levels;
}

double
img_view_scale_difference (const ImgView *view, double difference)
{
  ImgLevels levels = img_view_levels (view);

  return difference * (levels.white - levels.black) / 255.0;
}

double
img_view_scale (const ImgView *view, double value)
{
  return img_view_levels (view).black
      + img_view_scale_difference (view, value);
}
