/* Rows of luma: how the channels of a format become grey, and the way back. */
#include "luma.h"

#include <string.h>

#include "arith.h"
#include "vector.h"

/* Where a channel of one row begins, and how far its components are apart. */
typedef struct {
  void *data;
  int step;
} Channel;

static void *
row_of (const ImgPlane *plane, int y)
{
  return (char *) plane->data + y * plane->stride;
}

static Channel
channel_find (const ImgView *view, int y, ImgChannel channel)
{
  Channel result = { NULL, 0 };

  for (int i = 0; i < view->n_planes; i++)
    for (int c = 0; c < view->plane[i].channels; c++)
      if (view->plane[i].channel[c] == channel) {
        result.data = (char *) row_of (&view->plane[i], y)
            + c * view->component_bytes;
        result.step = view->plane[i].channels;
      }
  return result;
}

/* With a constant `step` the compiler knows how to load vectors. */
static inline void
mix_step (const uint8_t *r, const uint8_t *g, const uint8_t *b, int step,
    int n, uint16_t *luma)
{
  for (int x = 0; x < n; x++)
    luma[x] = (uint16_t) img_luma (r[x * step], g[x * step], b[x * step]);
}

static IMG_VECTOR void
mix8 (const uint8_t *r, const uint8_t *g, const uint8_t *b, int step, int n,
    uint16_t *luma)
{
  if (step == 1)
    mix_step (r, g, b, 1, n, luma);
  else if (step == 3)
    mix_step (r, g, b, 3, n, luma);
  else
    mix_step (r, g, b, 4, n, luma);
}

static IMG_VECTOR void
mix16 (const uint16_t *r, const uint16_t *g, const uint16_t *b, int step,
    int shift, int n, uint16_t *luma)
{
  for (int x = 0; x < n; x++)
    luma[x] = (uint16_t) img_luma (r[x * step] >> shift, g[x * step] >> shift,
        b[x * step] >> shift);
}

static IMG_VECTOR void
widen (const uint8_t *y, int n, uint16_t *luma)
{
  for (int x = 0; x < n; x++)
    luma[x] = y[x];
}

/* A container may hold more than `max`; a histogram has no place for that. */
static IMG_VECTOR void
shift_down (const uint16_t *y, int shift, int max, int n, uint16_t *luma)
{
  for (int x = 0; x < n; x++) {
    const int value = y[x] >> shift;

    luma[x] = (uint16_t) (value < max ? value : max);
  }
}

void
img_luma_load (const ImgView *view, int y, uint16_t *luma)
{
  if (view->model != IMG_MODEL_RGB) {
    const void *row = row_of (&view->plane[0], y);

    if (view->component_bytes == 1)
      widen (row, view->width, luma);
    else
      shift_down (row, view->shift, img_view_levels (view).max, view->width,
          luma);
    return;
  }
  Channel r = channel_find (view, y, IMG_CHANNEL_R);
  Channel g = channel_find (view, y, IMG_CHANNEL_G);
  Channel b = channel_find (view, y, IMG_CHANNEL_B);
  if (view->component_bytes == 1)
    mix8 (r.data, g.data, b.data, r.step, view->width, luma);
  else
    mix16 (r.data, g.data, b.data, r.step, view->shift, view->width, luma);
}

static IMG_VECTOR void
narrow (const uint16_t *luma, int n, uint8_t *row)
{
  for (int x = 0; x < n; x++)
    row[x] = (uint8_t) luma[x];
}

static IMG_VECTOR void
triple (const uint16_t *luma, int n, uint8_t *row)
{
  for (int x = 0; x < n; x++)
    row[3 * x] = row[3 * x + 1] = row[3 * x + 2] = (uint8_t) luma[x];
}

/* Pixels of four bytes, little-endian; `kept` are the bits of `from`. */
static IMG_VECTOR void
quadruple (const uint16_t *luma, int n, uint32_t kept, const uint8_t *from,
    uint8_t *row)
{
  for (int x = 0; x < n; x++) {
    uint32_t pixel;

    memcpy (&pixel, from + 4 * x, 4);
    pixel = (pixel & kept) | ((luma[x] * 0x01010101u) & ~kept);
    memcpy (row + 4 * x, &pixel, 4);
  }
}

static IMG_VECTOR void
shift_up (const uint16_t *luma, int shift, int n, uint16_t *row)
{
  for (int x = 0; x < n; x++)
    row[x] = (uint16_t) (luma[x] << shift);
}

/* Any layout, one component at a time. */
static void
store_any (const ImgView *view, const ImgPlane *plane, const void *from,
    const uint16_t *luma, void *to)
{
  const int bytes = view->component_bytes;

  for (int x = 0; x < plane->width; x++)
    for (int c = 0; c < plane->channels; c++) {
      const size_t at = (size_t) (x * plane->channels + c) * bytes;
      const uint16_t level = (uint16_t) (luma[x] << view->shift);

      memcpy ((char *) to + at, img_channel_is_color (plane->channel[c])
          ? (const char *) &level : (const char *) from + at, bytes);
    }
}

static uint32_t
kept_bits (const ImgPlane *plane)
{
  uint32_t kept = 0;

  for (int c = 0; c < plane->channels; c++)
    if (!img_channel_is_color (plane->channel[c]))
      kept |= 0xffu << 8 * c;
  return kept;
}

static void
store_plane (const ImgView *view, const ImgPlane *plane, const void *from,
    const uint16_t *luma, void *to)
{
  if (view->component_bytes == 2 && plane->channels == 1)
    shift_up (luma, view->shift, plane->width, to);
  else if (view->component_bytes == 2)
    store_any (view, plane, from, luma, to);
  else if (plane->channels == 1)
    narrow (luma, plane->width, to);
  else if (plane->channels == 3)
    triple (luma, plane->width, to);
  else
    quadruple (luma, plane->width, kept_bits (plane), from, to);
}

bool
img_plane_is_luma (const ImgView *view, int i)
{
  const ImgPlane *plane = &view->plane[i];

  for (int c = 0; c < plane->channels; c++)
    if (img_channel_is_color (plane->channel[c])
        && !img_channel_is_chroma (plane->channel[c]))
      return true;
  return false;
}

void
img_luma_store (const ImgView *src, const ImgView *dst, int y,
    const uint16_t *luma)
{
  for (int i = 0; i < dst->n_planes; i++)
    if (img_plane_is_luma (dst, i))
      store_plane (dst, &dst->plane[i], row_of (&src->plane[i], y), luma,
          row_of (&dst->plane[i], y));
}

static IMG_VECTOR void
fill16 (uint16_t *row, size_t n, uint16_t value)
{
  for (size_t x = 0; x < n; x++)
    row[x] = value;
}

static void
fill_plane (const ImgView *view, const ImgPlane *plane, int value)
{
  const size_t n = (size_t) plane->width * plane->channels;

  for (int y = 0; y < plane->height; y++)
    if (view->component_bytes == 1)
      memset (row_of (plane, y), value, n);
    else
      fill16 (row_of (plane, y), n, (uint16_t) value);
}

void
img_plane_copy (const ImgView *src, const ImgView *dst, int i)
{
  const ImgPlane *from = &src->plane[i], *to = &dst->plane[i];

  if (from->data == to->data)
    return;
  for (int y = 0; y < to->height; y++)
    memcpy (row_of (to, y), row_of (from, y), img_plane_row_bytes (dst, to));
}

void
img_luma_fill_others (const ImgView *src, const ImgView *dst)
{
  const int neutral = img_view_levels (dst).neutral << dst->shift;

  for (int i = 0; i < dst->n_planes; i++) {
    if (img_plane_is_luma (dst, i))
      continue;
    if (img_channel_is_chroma (dst->plane[i].channel[0]))
      fill_plane (dst, &dst->plane[i], neutral);
    else
      img_plane_copy (src, dst, i);
  }
}
