/* Checks of the CPU version that need no other version to compare with. */
#include "cases.h"

#include <glib.h>
#include <string.h>

#include "report.h"

/* Equal. */
static const TestTolerance exact = { 0, 0 };

static bool
run_cpu (const TestCase *c, void **state, const ImgView *src,
    const ImgView *dst)
{
  const ImgOperation *op = c->pair->cpu;
  ImgError error = { 0 };

  if (op->prepare (state, src, dst, c->params, &error)
      && op->run (*state, src, dst, c->params, NULL, &error))
    return true;
  case_failure (c, "the CPU version fails: %s", error.text);
  op->release (*state);
  *state = NULL;
  return false;
}

/* Runs into `result`, whose memory is allocated here, and checks that nothing
 * but its pixels was written. */
static bool
run_guarded (TestCase *c, void **state, const TestPicture *src,
    TestPicture *result)
{
  unsigned char *src_before, *before;
  bool ok;

  picture_init (result, &c->dst, c->dst_layout, c->guard, &c->random);
  src_before = g_memdup2 (src->block, src->size);
  before = g_memdup2 (result->block, result->size);
  ok = run_cpu (c, state, &src->view, &result->view);
  case_check_guards (c, "source", src, src_before, true);
  case_check_guards (c, "destination", result, before, false);
  g_free (src_before);
  g_free (before);
  return ok;
}

/* What a component of the result must be, or -1: anything within the depth. */
static int
expected_container (const TestCase *c, const ImgView *src, const ImgView *dst,
    int plane, int x, int y, int channel)
{
  ImgChannel kind = dst->plane[plane].channel[channel];
  bool alpha = kind == IMG_CHANNEL_A && !(c->row->filters_alpha
      && c->row->filters_alpha (c->params));

  if (alpha || kind == IMG_CHANNEL_X)
    return view_container (src, plane, x, y, channel);
  if ((kind == IMG_CHANNEL_U || kind == IMG_CHANNEL_V)
      && c->row->is_gray && c->row->is_gray (c->params, src))
    return img_view_levels (dst).neutral << dst->shift;
  return -1;
}

static bool
check_component (const TestCase *c, const ImgView *src, const ImgView *dst,
    int plane, int x, int y, int channel)
{
  int value = view_container (dst, plane, x, y, channel);
  int expected = c->row->shape ? -1
      : expected_container (c, src, dst, plane, x, y, channel);
  int used = img_view_levels (dst).max << dst->shift;

  if (expected >= 0 && value != expected)
    case_failure (c, "plane %d, x %d, y %d, channel %d: %d, must be %d",
        plane, x, y, channel, value, expected);
  else if (case_is_defined (c) && (value & ~used))
    case_failure (c, "plane %d, x %d, y %d, channel %d: %d has bits outside "
        "of the depth", plane, x, y, channel, value);
  else
    return true;
  return false;
}

static void
check_components (const TestCase *c, const ImgView *src, const ImgView *dst)
{
  for (int i = 0; i < dst->n_planes; i++)
    for (int y = 0; y < dst->plane[i].height; y++)
      for (int x = 0; x < dst->plane[i].width; x++)
        for (int k = 0; k < dst->plane[i].channels; k++)
          if (!check_component (c, src, dst, i, x, y, k))
            return;
}

static bool
is_rgb (ImgChannel channel)
{
  return channel == IMG_CHANNEL_R || channel == IMG_CHANNEL_G
      || channel == IMG_CHANNEL_B;
}

/* The first of red, green and blue at a position, in any plane. */
static int
first_color (const ImgView *view, int x, int y)
{
  for (int k = 0; k < view->plane[0].channels; k++)
    if (is_rgb (view->plane[0].channel[k]))
      return view_container (view, 0, x, y, k);
  g_return_val_if_reached (-1);
}

static void
check_colors_equal (const TestCase *c, const ImgView *dst)
{
  for (int i = 0; i < dst->n_planes; i++)
    for (int y = 0; y < dst->height; y++)
      for (int x = 0; x < dst->width; x++)
        for (int k = 0; k < dst->plane[i].channels; k++)
          if (is_rgb (dst->plane[i].channel[k])
              && view_container (dst, i, x, y, k) != first_color (dst, x, y)) {
            case_failure (c, "x %d, y %d: colours differ in a grey result", x,
                y);
            return;
          }
}

/* Another destination, with other bytes in it before: pixels that are not
 * written, or hang on anything but the source, differ. */
static void
check_again (TestCase *c, void **state, const TestPicture *src,
    const TestPicture *first)
{
  TestPicture again;

  c->dst_layout = (TestLayout) random_below (&c->random, N_LAYOUTS);
  if (run_guarded (c, state, src, &again))
    case_compare (c, "first and second run", &first->view, &again.view, exact);
  picture_clear (&again);
}

static void
check_in_place (TestCase *c, void **state, const TestPicture *src,
    const TestPicture *first)
{
  TestPicture both;
  unsigned char *before;

  picture_init (&both, &c->src, c->src_layout, c->guard, &c->random);
  picture_copy_pixels (&both, src);
  before = g_memdup2 (both.block, both.size);
  if (run_cpu (c, state, &both.view, &both.view)) {
    case_check_guards (c, "in place", &both, before, false);
    case_compare (c, "out of place and in place", &first->view, &both.view,
        exact);
  }
  g_free (before);
  picture_clear (&both);
}

void
case_check_cpu (TestCase *c, void **state)
{
  TestPicture src, dst;

  report_case ();
  case_source (c, &src);
  if (run_guarded (c, state, &src, &dst)) {
    check_components (c, &src.view, &dst.view);
    if (dst.view.model == IMG_MODEL_RGB && c->row->is_gray
        && c->row->is_gray (c->params, &src.view))
      check_colors_equal (c, &dst.view);
    check_again (c, state, &src, &dst);
    if (case_in_place (c))
      check_in_place (c, state, &src, &dst);
  }
  picture_clear (&src);
  picture_clear (&dst);
}

#define N_THREADS 4

/* One of several threads that run at once, each with a state of its own. */
typedef struct {
  const TestCase *c;
  const ImgView *src;
  TestPicture result;
  bool ok;
} Worker;

static gpointer
work (gpointer data)
{
  Worker *worker = data;
  const ImgOperation *op = worker->c->pair->cpu;
  const ImgView *dst = &worker->result.view;
  const void *params = worker->c->params;
  ImgError error = { 0 };
  void *state = NULL;

  worker->ok = op->prepare (&state, worker->src, dst, params, &error);
  for (int i = 0; i < 3 && worker->ok; i++)
    worker->ok = op->run (state, worker->src, dst, params, NULL, &error);
  op->release (state);
  return NULL;
}

void
case_check_threads (TestCase *c)
{
  Worker workers[N_THREADS];
  GThread *threads[N_THREADS];
  TestPicture src;

  report_case ();
  case_source (c, &src);
  for (int i = 0; i < N_THREADS; i++) {
    workers[i] = (Worker) { c, &src.view };
    picture_init (&workers[i].result, &c->dst, LAYOUT_TIGHT, 0, &c->random);
  }
  for (int i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("worker", work, &workers[i]);
  for (int i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  for (int i = 0; i < N_THREADS; i++) {
    if (!workers[i].ok)
      case_failure (c, "thread %d failed", i);
    else if (i > 0)
      case_compare (c, "two threads at once", &workers[0].result.view,
          &workers[i].result.view, exact);
  }
  for (int i = 0; i < N_THREADS; i++)
    picture_clear (&workers[i].result);
  picture_clear (&src);
}

/* Sets `deep` to the same picture as `shallow`: times 256 in limited range,
 * and 257 in full range, where white is all ones. */
static void
deepen (const TestPicture *deep, const TestPicture *shallow)
{
  const ImgView *d = &deep->view, *s = &shallow->view;

  for (int i = 0; i < d->n_planes; i++)
    for (int y = 0; y < d->plane[i].height; y++)
      for (int x = 0; x < d->plane[i].width; x++)
        for (int k = 0; k < d->plane[i].channels; k++) {
          int value = view_container (s, i, x, y, k);

          value = d->full_range ? value * 257 : value << (d->depth - 8);
          view_set_container (d, i, x, y, k, value << d->shift);
        }
}

/* Rounds `deep` to the 8 bits of `shallow`. */
static void
flatten (const TestPicture *shallow, const TestPicture *deep)
{
  const ImgView *d = &deep->view, *s = &shallow->view;
  int unit = d->full_range ? 257 : 1 << (d->depth - 8);

  for (int i = 0; i < d->n_planes; i++)
    for (int y = 0; y < d->plane[i].height; y++)
      for (int x = 0; x < d->plane[i].width; x++)
        for (int k = 0; k < d->plane[i].channels; k++) {
          int value = view_container (d, i, x, y, k) >> d->shift;

          value = MIN ((value + unit / 2) / unit, 255);
          view_set_container (s, i, x, y, k, value);
        }
}

/* Runs the same picture in both depths and compares. */
static void
compare_depths (TestCase *c, const ImgView *shallow_shape)
{
  TestPicture deep, result, shallow, shallow_result, flat;
  void *state = NULL, *shallow_state = NULL;

  picture_init (&shallow, shallow_shape, c->src_layout, c->guard, &c->random);
  picture_init (&shallow_result, shallow_shape, LAYOUT_TIGHT, 0, &c->random);
  picture_init (&flat, shallow_shape, LAYOUT_TIGHT, 0, &c->random);
  picture_init (&deep, &c->src, c->src_layout, c->guard, &c->random);
  picture_fill (&shallow, c->fill, &c->random);
  deepen (&deep, &shallow);
  if (run_cpu (c, &shallow_state, &shallow.view, &shallow_result.view)
      && run_guarded (c, &state, &deep, &result)) {
    flatten (&flat, &result);
    case_compare (c, "8 bits and more", &shallow_result.view, &flat.view,
        c->row->depths (c->params));
    picture_clear (&result);
  }
  c->pair->cpu->release (state);
  c->pair->cpu->release (shallow_state);
  picture_clear (&shallow);
  picture_clear (&shallow_result);
  picture_clear (&flat);
  picture_clear (&deep);
}

void
case_check_depth (TestCase *c, const ImgFormat *shallow)
{
  ImgView shape;

  if (c->row->depths (c->params).level > 255)
    return;
  report_case ();
  img_view_init (&c->src, c->format, c->src.width, c->src.height);
  c->dst = c->src;
  img_view_init (&shape, shallow, c->src.width, c->src.height);
  compare_depths (c, &shape);
}
