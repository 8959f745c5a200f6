/* Checks of the CUDA version against the CPU version. */
#include "cases.h"

#include <glib.h>
#include <string.h>

#include "device.h"
#include "report.h"
#include "stream.h"

static const TestTolerance exact = { 0, 0 };

/* A picture and a copy of its whole block on the device. */
typedef struct {
  TestPicture host;
  unsigned char *before; /* the block as it was uploaded */
  void *block;           /* of the device; NULL: no memory */
  ImgView view;          /* into it */
} Twin;

/* Bytes in a row, as a view that img_cuda_copy takes. */
static ImgView
byte_view (void *data, size_t size)
{
  ImgView view;

  img_view_init (&view, img_format_find ("GRAY8"), (int) size, 1);
  img_view_lay_out (&view, data, 1);
  return view;
}

static bool
copy_block (void *to, void *from, size_t size, ImgStream stream,
    ImgError *error)
{
  ImgView to_view = byte_view (to, size), from_view = byte_view (from, size);

  return img_cuda_copy (&to_view, &from_view, stream, error)
      && img_cuda_synchronize (stream, error);
}

/* Makes the twin of `host`, which it takes over. */
static bool
twin_init (Twin *twin, const TestPicture *host, ImgStream stream,
    ImgError *error)
{
  twin->host = *host;
  twin->before = g_memdup2 (host->block, host->size);
  twin->block = img_cuda_alloc (host->size, error);
  if (!twin->block)
    return false;
  twin->view = picture_view_at (host, twin->block);
  return copy_block (twin->block, host->block, host->size, stream, error);
}

static bool
twin_download (Twin *twin, ImgStream stream, ImgError *error)
{
  return copy_block (twin->host.block, twin->block, twin->host.size, stream,
      error);
}

static void
twin_clear (Twin *twin)
{
  img_cuda_free (twin->block);
  g_free (twin->before);
  picture_clear (&twin->host);
}

static bool
run_operation (const ImgOperation *op, void **state, const ImgView *src,
    const ImgView *dst, const void *params, ImgStream stream, ImgError *error)
{
  return op->prepare (state, src, dst, params, error)
      && op->run (*state, src, dst, params, stream, error);
}

/* Releases a state that has failed, as its owner must. */
static void
drop_state (const ImgOperation *op, void **state)
{
  op->release (*state);
  *state = NULL;
}

static void
check_number (const TestCase *c, const void *cpu_state, const void *cuda_state)
{
  double cpu, cuda;

  if (!c->row->number[IMG_BACKEND_CPU] || !case_is_defined (c))
    return;
  cpu = c->row->number[IMG_BACKEND_CPU] (cpu_state);
  cuda = c->row->number[IMG_BACKEND_CUDA] (cuda_state);
  if (cpu != cuda)
    case_failure (c, "computed %g on the CPU and %g on the GPU", cpu, cuda);
}

static TestTolerance
tolerance_of (const TestCase *c)
{
  if (!case_is_defined (c))
    return (TestTolerance) { 256, 1 };
  return c->row->backends ? c->row->backends (c->params, &c->src) : exact;
}

/* Runs the CUDA version from `src` into `dst` and brings both back. */
static bool
run_cuda (TestCase *c, void **state, Twin *src, Twin *dst, ImgStream stream)
{
  ImgError error = { 0 };

  if (run_operation (c->pair->cuda, state, &src->view, &dst->view, c->params,
          stream, &error)
      && twin_download (dst, stream, &error)
      && (src == dst || twin_download (src, stream, &error)))
    return true;
  case_failure (c, "the CUDA version fails: %s", error.text);
  drop_state (c->pair->cuda, state);
  return false;
}

static void
check_in_place (TestCase *c, void **state, const Twin *src, const Twin *dst,
    ImgStream stream)
{
  TestPicture host;
  ImgError error = { 0 };
  Twin both;

  picture_init (&host, &c->src, c->src_layout, c->guard, &c->random);
  picture_copy_pixels (&host, &src->host);
  if (!twin_init (&both, &host, stream, &error)) {
    case_failure (c, "%s", error.text);
  } else if (run_cuda (c, state, &both, &both, stream)) {
    case_check_guards (c, "CUDA in place", &both.host, both.before, false);
    case_compare (c, "CUDA out of place and in place", &dst->host.view,
        &both.host.view, exact);
  }
  twin_clear (&both);
}

/* Compares with `reference`, which the CPU made of the same source. */
static void
check_result (const TestCase *c, const TestPicture *reference,
    const Twin *src, const Twin *dst)
{
  case_check_guards (c, "CUDA source", &src->host, src->before, true);
  case_check_guards (c, "CUDA destination", &dst->host, dst->before, false);
  case_compare (c, "CPU and CUDA", &reference->view, &dst->host.view,
      tolerance_of (c));
}

/* The source, the CPU's result, and a destination for the GPU. False after a
 * failure, which is reported; all three must be cleared in any case. */
static bool
set_up (TestCase *c, void **cpu_state, ImgStream stream, Twin *src,
    TestPicture *reference, Twin *dst)
{
  ImgError error = { 0 };
  TestPicture host;
  bool ok;

  memset (dst, 0, sizeof (*dst));
  case_source (c, &host);
  picture_init (reference, &c->dst, LAYOUT_TIGHT, 0, &c->random);
  ok = twin_init (src, &host, stream, &error);
  picture_init (&host, &c->dst, c->dst_layout, c->guard, &c->random);
  ok = twin_init (dst, &host, stream, &error) && ok;
  ok = ok && run_operation (c->pair->cpu, cpu_state, &src->host.view,
      &reference->view, c->params, NULL, &error);
  if (!ok) {
    case_failure (c, "%s", error.text);
    drop_state (c->pair->cpu, cpu_state);
  }
  return ok;
}

void
case_check_cuda (TestCase *c, void **cpu_state, void **cuda_state,
    ImgStream stream)
{
  TestPicture reference;
  Twin src, dst;

  report_case ();
  if (set_up (c, cpu_state, stream, &src, &reference, &dst)
      && run_cuda (c, cuda_state, &src, &dst, stream)) {
    check_number (c, *cpu_state, *cuda_state);
    check_result (c, &reference, &src, &dst);
    if (case_in_place (c))
      check_in_place (c, cuda_state, &src, &dst, stream);
  }
  twin_clear (&src);
  twin_clear (&dst);
  picture_clear (&reference);
}

static bool
record_and_play (const TestCase *c, void **state, const Twin *src,
    const Twin *dst, ImgStream stream, ImgError *error)
{
  const ImgOperation *op = c->pair->cuda;
  ImgError play_error;
  bool ok;

  if (!op->prepare (state, &src->view, &dst->view, c->params, error)
      || !stream_record (stream, error))
    return false;
  ok = op->run (*state, &src->view, &dst->view, c->params, stream, error);
  return stream_play (stream, ok ? error : &play_error) && ok;
}

void
case_check_recorded (TestCase *c, ImgStream stream)
{
  void *cpu_state = NULL, *cuda_state = NULL;
  ImgError error = { 0 };
  TestPicture reference;
  Twin src, dst;

  report_case ();
  if (set_up (c, &cpu_state, stream, &src, &reference, &dst)) {
    if (record_and_play (c, &cuda_state, &src, &dst, stream, &error)
        && twin_download (&dst, stream, &error))
      check_result (c, &reference, &src, &dst);
    else
      case_failure (c, "run must only queue: %s", error.text);
  }
  c->pair->cpu->release (cpu_state);
  c->pair->cuda->release (cuda_state);
  twin_clear (&src);
  twin_clear (&dst);
  picture_clear (&reference);
}
