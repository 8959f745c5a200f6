/* Guarded pictures, fills and comparisons. */
#include "picture.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_ALIGN 256 /* of cudaMalloc, so that host and device agree */

static const char *const layout_names[N_LAYOUTS]
    = { "aligned", "tight", "padded", "field", "negative" };
static const char *const fill_names[N_FILLS]
    = { "random", "zero", "max", "checkerboard", "dot", "two-levels",
        "gradient", "flat-noise", "dirty" };

/* splitmix64, Steele, Lea and Flood 2014 */
uint64_t
random_next (TestRandom *random)
{
  uint64_t z = (*random += 0x9e3779b97f4a7c15u);

  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int
random_below (TestRandom *random, int n)
{
  return (int) (random_next (random) % (uint64_t) n);
}

const char *
layout_name (TestLayout layout)
{
  return layout_names[layout];
}

const char *
fill_name (TestFill fill)
{
  return fill_names[fill];
}

static void
fill_with_random_bytes (unsigned char *data, size_t size, TestRandom *random)
{
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word = random_next (random);

    memcpy (data + i, &word, MIN (8, size - i));
  }
}

/* Stride of a plane, and the bytes that its first row is moved by. */
static ptrdiff_t
choose_stride (const ImgView *view, const ImgPlane *plane, TestLayout layout,
    TestRandom *random, size_t *offset)
{
  size_t row = img_plane_row_bytes (view, plane);
  int unit = view->component_bytes;

  *offset = 0;
  switch (layout) {
    case LAYOUT_ALIGNED:
      return (ptrdiff_t) ((row + 255) & ~(size_t) 255);
    case LAYOUT_TIGHT:
      return (ptrdiff_t) row;
    case LAYOUT_FIELD:
      return (ptrdiff_t) ((row + 15) & ~(size_t) 15) * 2;
    default:
      *offset = (size_t) random_below (random, 16) * unit;
      return (ptrdiff_t) row + (1 + random_below (random, 37)) * unit;
  }
}

/* Sets strides, and data pointers counted from `block`, which may be NULL.
 * Returns the size of the block. */
static size_t
lay_out (ImgView *view, TestLayout layout, int guard, unsigned char *block,
    TestRandom *random)
{
  size_t end = 0, offset;

  for (int i = 0; i < view->n_planes; i++) {
    ImgPlane *plane = &view->plane[i];
    ptrdiff_t stride = choose_stride (view, plane, layout, random, &offset);
    size_t mask = BLOCK_ALIGN - 1;
    size_t start = ((end + guard + mask) & ~mask) + offset;
    size_t rows = plane->height > 0 ? plane->height - 1 : 0;

    end = start + rows * stride
        + (plane->height > 0 ? img_plane_row_bytes (view, plane) : 0);
    if (layout == LAYOUT_NEGATIVE) {
      start += rows * stride;
      stride = -stride;
    }
    plane->data = block ? block + start : NULL;
    plane->stride = stride;
  }
  return end + guard;
}

static void
mark_pixels (TestPicture *picture)
{
  for (int i = 0; i < picture->view.n_planes; i++) {
    const ImgPlane *plane = &picture->view.plane[i];
    size_t row = img_plane_row_bytes (&picture->view, plane);
    size_t start = (unsigned char *) plane->data - picture->block;

    for (int y = 0; y < plane->height; y++)
      memset (picture->pixel + start + y * plane->stride, 1, row);
  }
}

void
picture_init (TestPicture *picture, const ImgView *shape, TestLayout layout,
    int guard, TestRandom *random)
{
  TestRandom again = *random;

  picture->view = *shape;
  picture->size = lay_out (&picture->view, layout, guard, NULL, &again);
  if (posix_memalign ((void **) &picture->block, BLOCK_ALIGN,
          MAX (picture->size, 1)) != 0)
    g_error ("no memory");
  picture->pixel = g_malloc0 (MAX (picture->size, 1));
  lay_out (&picture->view, layout, guard, picture->block, random);
  mark_pixels (picture);
  fill_with_random_bytes (picture->block, picture->size, random);
}

void
picture_clear (TestPicture *picture)
{
  free (picture->block);
  g_free (picture->pixel);
}

ImgView
picture_view_at (const TestPicture *picture, void *block)
{
  ImgView view = picture->view;

  for (int i = 0; i < view.n_planes; i++)
    view.plane[i].data = (unsigned char *) block
        + ((unsigned char *) view.plane[i].data - picture->block);
  return view;
}

static unsigned char *
component_at (const ImgView *view, int plane, int x, int y, int channel)
{
  const ImgPlane *p = &view->plane[plane];

  return (unsigned char *) p->data + y * p->stride
      + ((ptrdiff_t) x * p->channels + channel) * view->component_bytes;
}

int
view_container (const ImgView *view, int plane, int x, int y, int channel)
{
  const unsigned char *at = component_at (view, plane, x, y, channel);

  return view->component_bytes == 1 ? at[0] : at[0] | at[1] << 8;
}

void
view_set_container (const ImgView *view, int plane, int x, int y, int channel,
    int value)
{
  unsigned char *at = component_at (view, plane, x, y, channel);

  at[0] = (unsigned char) value;
  if (view->component_bytes == 2)
    at[1] = (unsigned char) (value >> 8);
}

/* What a fill keeps for all of a plane. */
typedef struct {
  TestFill fill;
  int max;
  int low, high;    /* two levels */
  int dot_x, dot_y; /* where the bright pixel is */
} Painter;

static int
near (int value, int distance, int max, TestRandom *random)
{
  value += random_below (random, 2 * distance + 1) - distance;
  return CLAMP (value, 0, max);
}

static int
paint (const Painter *p, int x, int y, int channel, TestRandom *random)
{
  switch (p->fill) {
    case FILL_ZERO:
      return 0;
    case FILL_MAX:
      return p->max;
    case FILL_CHECKERBOARD:
      return (x + y) & 1 ? p->max : 0;
    case FILL_DOT:
      return x == p->dot_x && y == p->dot_y ? p->max : 0;
    case FILL_TWO_LEVELS:
      return random_next (random) & 1 ? p->high : p->low;
    case FILL_GRADIENT:
      return (int) ((3ll * x + 2ll * y + 40 * channel) * (p->max / 255)
          % (p->max + 1));
    case FILL_FLAT_NOISE:
      return near (p->low, 2, p->max, random);
    default:
      return random_below (random, p->max + 1);
  }
}

static void
fill_plane (const ImgView *view, int plane, TestFill fill, TestRandom *random)
{
  const ImgPlane *p = &view->plane[plane];
  int max = (1 << view->depth) - 1;
  Painter painter = { fill, max, random_below (random, max + 1),
    random_below (random, max + 1), random_below (random, p->width),
    p->height > 0 ? random_below (random, p->height) : 0
  };

  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      for (int c = 0; c < p->channels; c++)
        view_set_container (view, plane, x, y, c, fill == FILL_DIRTY
            ? random_below (random, 1 << 16)
            : paint (&painter, x, y, c, random) << view->shift);
}

void
picture_fill (TestPicture *picture, TestFill fill, TestRandom *random)
{
  for (int i = 0; i < picture->view.n_planes; i++)
    fill_plane (&picture->view, i, fill, random);
}

void
picture_copy_pixels (const TestPicture *to, const TestPicture *from)
{
  for (int i = 0; i < to->view.n_planes; i++) {
    const ImgPlane *t = &to->view.plane[i], *f = &from->view.plane[i];

    for (int y = 0; y < t->height; y++)
      memcpy ((char *) t->data + y * t->stride,
          (char *) f->data + y * f->stride,
          img_plane_row_bytes (&to->view, t));
  }
}

static void
note_difference (TestDifference *d, const ImgView *a, const ImgView *b,
    double limit, int plane, int x, int y, int channel)
{
  int va = view_container (a, plane, x, y, channel) >> a->shift;
  int vb = view_container (b, plane, x, y, channel) >> b->shift;

  if (abs (va - vb) > d->max)
    *d = (TestDifference) { abs (va - vb), d->share, d->beyond, plane, x, y,
      channel, va, vb
    };
  d->share += va != vb;
  d->beyond += abs (va - vb) > limit;
}

TestDifference
view_difference (const ImgView *a, const ImgView *b, double limit)
{
  TestDifference d = { 0 };
  double count = 0;

  for (int i = 0; i < a->n_planes; i++) {
    const ImgPlane *p = &a->plane[i];

    count += (double) p->width * p->height * p->channels;
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++)
        for (int c = 0; c < p->channels; c++)
          note_difference (&d, a, b, limit, i, x, y, c);
  }
  d.share = count > 0 ? d.share / count : 0;
  d.beyond = count > 0 ? d.beyond / count : 0;
  return d;
}
