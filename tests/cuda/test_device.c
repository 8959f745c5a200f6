/* device.h: memory, copies of pictures in every layout, and streams that wait
 * for each other. */
#include <glib.h>
#include <string.h>

#include "device.h"
#include "picture.h"
#include "report.h"
#include "stream.h"

#define GUARD 64

static ImgStream stream;

static bool
copy (const ImgView *to, const ImgView *from)
{
  ImgError error = { 0 };

  if (img_cuda_copy (to, from, stream, &error))
    return true;
  report_failure ("%s", error.text);
  return false;
}

/* Host to device to device to host, each time into another layout. */
static void
copy_round (const TestPicture *src, const TestPicture *shape,
    const TestPicture *dst)
{
  ImgError error = { 0 };
  void *first = img_cuda_alloc (src->size, &error);
  void *second = img_cuda_alloc (shape->size, &error);
  ImgView first_view = picture_view_at (src, first);
  ImgView second_view = picture_view_at (shape, second);
  TestDifference d;

  if (!first || !second) {
    report_failure ("%s", error.text);
  } else if (copy (&first_view, &src->view) && copy (&second_view, &first_view)
      && copy (&dst->view, &second_view)) {
    if (!img_cuda_synchronize (stream, &error))
      report_failure ("%s", error.text);
    d = view_difference (&src->view, &dst->view, 0);
    if (d.max > 0)
      report_failure ("plane %d, x %d, y %d: %d became %d", d.plane, d.x, d.y,
          d.a, d.b);
  }
  img_cuda_free (first);
  img_cuda_free (second);
}

static void
check_copy (const ImgView *shape, const TestLayout layouts[3],
    TestRandom *random)
{
  TestPicture pictures[3];
  unsigned char *before;

  report_case ();
  for (int i = 0; i < 3; i++)
    picture_init (&pictures[i], shape, layouts[i], GUARD, random);
  before = g_memdup2 (pictures[2].block, pictures[2].size);
  copy_round (&pictures[0], &pictures[1], &pictures[2]);
  for (size_t i = 0; i < pictures[2].size; i++)
    if (!pictures[2].pixel[i] && pictures[2].block[i] != before[i]) {
      report_failure ("%s to %s: byte %zu overwritten",
          layout_name (layouts[1]), layout_name (layouts[2]), i);
      break;
    }
  g_free (before);
  for (int i = 0; i < 3; i++)
    picture_clear (&pictures[i]);
}

static void
test_copies (void)
{
  const ImgFormat *format;
  TestRandom random = 1;

  for (int i = 0; (format = img_format_at (i)); i++) {
    report_begin ("device copies %s", format->name);
    for (int k = 0; k < N_LAYOUTS * N_LAYOUTS; k++) {
      const TestLayout layouts[3] = { k % N_LAYOUTS, k / N_LAYOUTS,
        random_below (&random, N_LAYOUTS) };
      ImgView view;

      img_view_init (&view, format, 1 + random_below (&random, 70),
          1 + random_below (&random, 40));
      check_copy (&view, layouts, &random);
    }
    /* a field that has no chroma row at all */
    ImgView view, field;
    img_view_init (&view, format, 5, 2);
    field = img_view_field (&view, 1);
    check_copy (&field, (TestLayout[3]) { LAYOUT_TIGHT }, &random);
    report_end ();
  }
}

static void
test_memory (void)
{
  ImgError error = { 0 };
  void *data;

  report_begin ("device memory");
  report_case ();
  data = img_cuda_alloc ((size_t) 1 << 50, &error);
  if (data || error.code != IMG_ERROR_NO_MEMORY || !error.text[0])
    report_failure ("a PiB: error %d, \"%s\"", error.code, error.text);
  report_case ();
  data = img_cuda_alloc (1, &error);
  if (!data)
    report_failure ("no memory after an error: %s", error.text);
  img_cuda_free (data);
  img_cuda_free (NULL);
  report_case ();
  data = img_cuda_host_alloc (100, &error);
  if (data)
    memset (data, 1, 100);
  else
    report_failure ("page-locked memory: %s", error.text);
  img_cuda_host_free (data);
  report_end ();
}

/* Copies a large picture on one stream and back on another that waits. */
static void
check_wait (ImgStream other, TestPicture *src, TestPicture *dst)
{
  ImgError error = { 0 };
  void *block = img_cuda_alloc (src->size, &error);
  ImgView view = picture_view_at (src, block);

  if (!block || !img_cuda_copy (&view, &src->view, stream, &error)
      || !img_cuda_wait (other, stream, &error)
      || !img_cuda_copy (&dst->view, &view, other, &error)
      || !img_cuda_synchronize (other, &error))
    report_failure ("%s", error.text);
  else if (view_difference (&src->view, &dst->view, 0).max > 0)
    report_failure ("the second stream did not wait");
  img_cuda_free (block);
}

static void
test_wait (void)
{
  ImgError error = { 0 };
  ImgStream other = stream_new (&error);
  TestRandom random = 2;
  TestPicture src, dst;
  ImgView shape;

  report_begin ("device streams");
  img_view_init (&shape, img_format_find ("RGBA"), 2000, 1500);
  picture_init (&src, &shape, LAYOUT_TIGHT, 0, &random);
  picture_init (&dst, &shape, LAYOUT_TIGHT, 0, &random);
  for (int i = 0; i < 4; i++) {
    report_case ();
    picture_fill (&src, FILL_RANDOM, &random);
    check_wait (other, &src, &dst);
  }
  picture_clear (&src);
  picture_clear (&dst);
  stream_free (other);
  report_end ();
}

int
main (void)
{
  ImgError error = { 0 };

  stream = stream_new (&error);
  if (stream) {
    test_memory ();
    test_copies ();
    test_wait ();
    stream_free (stream);
  } else {
    report_skip ("device", error.text);
  }
  return report_finish ();
}
