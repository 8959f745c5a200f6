/* The operations as one C call that Python's ctypes can make: pictures are
 * blocks whose planes follow each other without padding. */
#include <string.h>

#include "device.h"
#include "operation.h"
#include "threshold.h"

#define EXPORT __attribute__ ((visibility ("default")))

/* A picture as Python names it. */
typedef struct {
  const char *format;
  int width, height;
  int full_range; /* of YUV */
  int matrix;     /* of YUV: 1 + ImgMatrix; 0: by the size */
  int siting;     /* of YUV: 1 + h_cosited + 2 * v_cosited; 0: the usual one */
  int limited;    /* of grey: limited range */
} Picture;

/* Bytes of a picture, or 0 if there is no such format. */
EXPORT size_t oracle_size (const Picture *picture);

/* Runs an operation on the CPU, or with `cuda` on the GPU, from picture[0] at
 * `src` to picture[1] at `dst`, and stores in `computed` what threshold
 * computed. Returns 0, or an ImgErrorCode. */
EXPORT int oracle_run (const char *operation, int cuda,
    const Picture picture[2], const void *params, void *src, void *dst,
    double *computed, ImgError *error);

static bool
make_view (ImgView *view, const Picture *picture, void *data, size_t *size)
{
  const ImgFormat *format = img_format_find (picture->format);

  if (!format)
    return false;
  img_view_init (view, format, picture->width, picture->height);
  if (view->model == IMG_MODEL_YUV)
    view->full_range = picture->full_range;
  if (view->model == IMG_MODEL_GRAY)
    view->full_range = !picture->limited;
  if (picture->matrix > 0)
    view->matrix = (ImgMatrix) (picture->matrix - 1);
  if (picture->siting > 0) {
    view->h_cosited = (picture->siting - 1) & 1;
    view->v_cosited = (picture->siting - 1) >> 1;
  }
  *size = img_view_lay_out (view, data, 1);
  return true;
}

size_t
oracle_size (const Picture *picture)
{
  ImgView view;
  size_t size;

  return make_view (&view, picture, NULL, &size) ? size : 0;
}

static const ImgOperation *
find_operation (const char *name, int cuda)
{
  const ImgOperationPair *pair;

  for (int i = 0; (pair = img_operation_at (i)); i++)
    if (strcmp (pair->cpu->name, name) == 0)
      return cuda ? pair->cuda : pair->cpu;
  return NULL;
}

static bool
run_on_cpu (const ImgOperation *op, const ImgView *src, const ImgView *dst,
    const void *params, double *computed, ImgError *error)
{
  void *state = NULL;
  bool ok = op->prepare (&state, src, dst, params, error)
      && op->run (state, src, dst, params, NULL, error);

  *computed = op == &img_threshold_cpu && ok
      ? img_threshold_computed_cpu (state) : -1;
  op->release (state);
  return ok;
}

static bool
run_on_cuda (const ImgOperation *op, const ImgView *src, const ImgView *dst,
    const void *params, const size_t size[2], double *computed,
    ImgError *error)
{
  ImgView device_src = *src, device_dst = *dst;
  void *block = img_cuda_alloc (size[0] + size[1], error), *state = NULL;
  bool ok;

  if (!block)
    return false;
  img_view_lay_out (&device_src, block, 1);
  img_view_lay_out (&device_dst, (char *) block + size[0], 1);
  ok = img_cuda_copy (&device_src, src, NULL, error)
      && op->prepare (&state, &device_src, &device_dst, params, error)
      && op->run (state, &device_src, &device_dst, params, NULL, error)
      && img_cuda_copy (dst, &device_dst, NULL, error)
      && img_cuda_synchronize (NULL, error);
  *computed = op == &img_threshold_cuda && ok
      ? img_threshold_computed_cuda (state) : -1;
  op->release (state);
  img_cuda_free (block);
  return ok;
}

int
oracle_run (const char *operation, int cuda, const Picture picture[2],
    const void *params, void *src, void *dst, double *computed,
    ImgError *error)
{
  const ImgOperation *op = find_operation (operation, cuda);
  ImgView src_view, dst_view;
  size_t size[2];
  bool ok;

  if (!op || !make_view (&src_view, &picture[0], src, &size[0])
      || !make_view (&dst_view, &picture[1], dst, &size[1])) {
    img_fail (error, IMG_ERROR_UNSUPPORTED, "no such operation or format");
    return error->code;
  }
  if (cuda)
    ok = run_on_cuda (op, &src_view, &dst_view, params, size, computed, error);
  else
    ok = run_on_cpu (op, &src_view, &dst_view, params, computed, error);
  return ok ? IMG_OK : error->code;
}
