/* Drawing cases, describing them, and the checks that all backends share. */
#include "cases.h"

#include <glib.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "report.h"

/* The shape of a whole picture, or of one field of an interlaced one, whose
 * chroma planes may have fewer rows than those of a picture of its height. */
static ImgView
draw_shape (const ImgFormat *format, int width, int height, TestRandom *random)
{
  ImgView view;
  int field = random_below (random, 12);

  if (field > 1) {
    img_view_init (&view, format, width, height);
  } else {
    int odd = random_below (random, 2) * (field == 0 ? -1 : 1);

    img_view_init (&view, format, width, 2 * height + odd);
    view = img_view_field (&view, field);
  }
  if (view.model == IMG_MODEL_YUV) {
    view.full_range = random_below (random, 2);
    view.matrix = (ImgMatrix) random_below (random, 3);
    view.h_cosited = random_below (random, 2);
    view.v_cosited = random_below (random, 2);
  }
  return view;
}

static uint64_t
hash_text (uint64_t hash, const char *text)
{
  for (; *text; text++)
    hash = (hash ^ (unsigned char) *text) * 0x100000001b3u; /* FNV-1a */
  return hash;
}

void
case_draw (TestCase *c, const TestOperation *row, const ImgOperationPair *pair,
    const ImgFormat *format, int width, int height, int index, uint64_t seed)
{
  TestRandom *random = &c->random;

  c->row = row;
  c->pair = pair;
  c->format = format;
  c->index = index;
  *random = hash_text (hash_text (seed, row->name), format->name) + index;
  random_next (random);
  c->src = draw_shape (format, width, height, random);
  c->src_layout = (TestLayout) random_below (random, N_LAYOUTS);
  c->dst_layout = (TestLayout) random_below (random, N_LAYOUTS);
  c->fill = (TestFill) random_below (random, N_FILLS);
  test_params_draw (row, random, c->params);
  c->dst = c->src;
  if (row->shape)
    row->shape (&c->src, c->params, random, &c->dst);
}

void
case_failure (const TestCase *c, const char *format, ...)
{
  char params[512], text[512];
  va_list args;

  test_params_describe (c->row, c->params, params, sizeof (params));
  va_start (args, format);
  vsnprintf (text, sizeof (text), format, args);
  va_end (args);
  report_failure ("case %d, %s %s %dx%d%s, %s to %s, %s, %s: %s", c->index,
      c->row->name, c->format->name, c->src.width, c->src.height,
      c->src.model == IMG_MODEL_YUV && c->src.full_range ? " full range" : "",
      layout_name (c->src_layout), layout_name (c->dst_layout),
      fill_name (c->fill), params, text);
}

void
case_compare (const TestCase *c, const char *what, const ImgView *a,
    const ImgView *b, TestTolerance tolerance)
{
  double unit = (double) ((1 << a->depth) - 1) / 255;
  TestDifference d = view_difference (a, b, tolerance.level * unit);

  if (d.beyond <= tolerance.outliers && d.share <= tolerance.share)
    return;
  case_failure (c, "%s: plane %d, x %d, y %d, channel %d: %d and %d; "
      "%.4g%% of all differ", what, d.plane, d.x, d.y, d.channel, d.a, d.b,
      100 * d.share);
}

void
case_check_guards (const TestCase *c, const char *what,
    const TestPicture *picture, const unsigned char *before, bool intact)
{
  for (size_t i = 0; i < picture->size; i++)
    if (picture->block[i] != before[i] && (intact || !picture->pixel[i])) {
      case_failure (c, "%s: byte %td after the first pixel overwritten", what,
          picture->block + i - (unsigned char *) picture->view.plane[0].data);
      return;
    }
}

void
case_source (TestCase *c, TestPicture *picture)
{
  picture_init (picture, &c->src, c->src_layout, c->guard, &c->random);
  picture_fill (picture, c->fill, &c->random);
}

bool
case_is_defined (const TestCase *c)
{
  return c->fill != FILL_DIRTY
      || c->src.depth == 8 * c->src.component_bytes;
}

bool
case_in_place (const TestCase *c)
{
  return c->row->in_place ? c->row->in_place (c->params)
      : c->pair->cpu->in_place;
}
