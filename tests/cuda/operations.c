/* The table of operations under test, and of calls that must fail. */
#include "operations.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cvtcolor.h"
#include "fftmag.h"
#include "gaussian.h"
#include "invert.h"
#include "resize.h"
#include "sobel.h"
#include "threshold.h"

#define FIELD(Type, Params, member, ...) \
  { #member, FIELD_##Type, offsetof (Params, member), \
    sizeof ((double[]) { __VA_ARGS__ }) / sizeof (double), { __VA_ARGS__ } }
#define BORDERS(Params) FIELD (INT, Params, border, 0, 1, 2, 3, 4)
#define CHANNELS(Params) FIELD (INT, Params, channels, 0, 1)
#define END { NULL }

/* invert */

static const TestField invert_fields[] = {
  FIELD (BOOL, ImgInvertParams, invert_alpha, 0, 1),
  END
};

static bool
invert_filters_alpha (const void *params)
{
  return ((const ImgInvertParams *) params)->invert_alpha;
}

/* 2 * neutral - 0 saturates, by one level of the depth. */
static TestTolerance
invert_depths (const void *params)
{
  return (TestTolerance) { 1, 1 };
}

/* threshold */

static const TestField threshold_fields[] = {
  FIELD (DOUBLE, ImgThresholdParams, threshold, 127, 0, 1, 127.5, 200, 255),
  FIELD (DOUBLE, ImgThresholdParams, max_value, 255, 0, 128, 200.5),
  FIELD (INT, ImgThresholdParams, type, 0, 1, 2, 3, 4),
  FIELD (INT, ImgThresholdParams, method, 0, 0, 1, 2, 3, 4),
  FIELD (INT, ImgThresholdParams, block_size, 11, 3, 5, 31, 99, 255),
  FIELD (DOUBLE, ImgThresholdParams, offset, 2, 0, -5, 7.5, 255, -255),
  CHANNELS (ImgThresholdParams),
  END
};

/* Between tied levels Otsu decides by rounding, which moves the few pixels of
 * one level, or with TRUNC the level that is written. The other methods work in
 * steps of the depth. */
static TestTolerance
threshold_depths (const void *params)
{
  const ImgThresholdParams *p = params;

  if (p->method == IMG_THRESHOLD_FIXED)
    return (TestTolerance) { 1, 1 };
  if (p->method == IMG_THRESHOLD_OTSU && p->type != IMG_THRESHOLD_TRUNC)
    return (TestTolerance) { 255, 0.1 };
  return (TestTolerance) { 256, 1 };
}

static bool
threshold_is_gray (const void *params, const ImgView *src)
{
  const ImgThresholdParams *p = params;

  return src->model == IMG_MODEL_YUV || p->channels == IMG_CHANNELS_LUMA
      || p->method != IMG_THRESHOLD_FIXED;
}

static bool
threshold_in_place (const void *params)
{
  return ((const ImgThresholdParams *) params)->method
      <= IMG_THRESHOLD_TRIANGLE;
}

/* sobel */

static const TestField sobel_fields[] = {
  FIELD (INT, ImgSobelParams, direction, 0, 1, 2),
  FIELD (INT, ImgSobelParams, op, 0, 0, 1),
  FIELD (INT, ImgSobelParams, kernel_size, 3, 5, 7),
  FIELD (INT, ImgSobelParams, norm, 0, 1),
  FIELD (INT, ImgSobelParams, output, 0, 1, 2),
  FIELD (DOUBLE, ImgSobelParams, scale, 1, 1, 0.25, 0.01, 2.5, -1),
  FIELD (DOUBLE, ImgSobelParams, delta, 0, 0, 12, -30.5),
  BORDERS (ImgSobelParams),
  CHANNELS (ImgSobelParams),
  END
};

static void
sobel_settle (void *params)
{
  ImgSobelParams *p = params;

  if (p->op == IMG_SOBEL_SCHARR)
    p->kernel_size = 3;
}

/* Sums of integers with small factors are exact in float32; a square root or
 * any other scale may round to the other side of a half. */
static TestTolerance
sobel_backends (const void *params, const ImgView *src)
{
  const ImgSobelParams *p = params;
  bool root = p->direction == IMG_SOBEL_MAGNITUDE && p->norm == IMG_SOBEL_L2;

  if (src->depth == 8 && !root && fabs (p->scale) == 1 && p->delta == 0)
    return (TestTolerance) { 0, 0 };
  return (TestTolerance) { 1.0 / (1 << (src->depth - 8)), 0.02 };
}

static TestTolerance
sobel_depths (const void *params)
{
  return (TestTolerance) { 1, 1 };
}

static bool
sobel_is_gray (const void *params, const ImgView *src)
{
  return src->model == IMG_MODEL_YUV
      || ((const ImgSobelParams *) params)->channels == IMG_CHANNELS_LUMA;
}

/* gaussian */

static const TestField gaussian_fields[] = {
  FIELD (INT, ImgGaussianParams, kernel_width, 0, 1, 3, 5, 7, 15, 31, 255),
  FIELD (INT, ImgGaussianParams, kernel_height, 0, 0, 1, 3, 5, 9, 15, 63, 255),
  FIELD (DOUBLE, ImgGaussianParams, sigma_x, 0, 0, 0.5, 1.4, 5, 33, 100),
  FIELD (DOUBLE, ImgGaussianParams, sigma_y, 0, 0, 0.3, 2, 8, 70),
  BORDERS (ImgGaussianParams),
  END
};

static void
gaussian_settle (void *params)
{
  ImgGaussianParams *p = params;

  if (p->kernel_width == 0 && p->sigma_x == 0)
    p->kernel_width = 15;
}

/* Sums of up to 801 float32 products, in different orders. How many round to
 * the other side depends on the picture: on a checkerboard, and with the small
 * kernels of dyadic weights, most sums are halves. */
static TestTolerance
gaussian_backends (const void *params, const ImgView *src)
{
  return (TestTolerance) { (src->depth == 8 ? 1.0 : 2.0)
        / (1 << (src->depth - 8)), 1 };
}

/* A size of 0 is larger for deep pictures: that cuts the kernel elsewhere. */
static TestTolerance
gaussian_depths (const void *params)
{
  const ImgGaussianParams *p = params;

  return (TestTolerance) { p->kernel_width == 0 ? 2 : 1, 1 };
}

/* fftmag */

static const TestField fftmag_fields[] = {
  FIELD (INT, ImgFftmagParams, scale, 0, 1, 2, 3),
  FIELD (BOOL, ImgFftmagParams, shift, 1, 0),
  FIELD (INT, ImgFftmagParams, normalize, 0, 1),
  FIELD (DOUBLE, ImgFftmagParams, range_min, 0, 2.5, -10),
  FIELD (DOUBLE, ImgFftmagParams, range_max, 20, 120, 1e6),
  FIELD (INT, ImgFftmagParams, window, 0, 1, 2, 3),
  END
};

/* A range of decibels far above the rounding noise of float32. */
static void
fftmag_settle (void *params)
{
  ImgFftmagParams *p = params;

  if (p->scale == IMG_FFTMAG_DECIBEL) {
    p->range_min = 80;
    p->range_max = 180;
  }
}

/* Two FFT libraries in float32: one 8-bit level, at any depth. Pictures whose
 * spectrum has zeros have noise there, which logarithms show. */
static TestTolerance
fftmag_backends (const void *params, const ImgView *src)
{
  return (TestTolerance) { 1, 1, 0.005 };
}

static TestTolerance
fftmag_depths (const void *params)
{
  return (TestTolerance) { 1, 1 };
}

static bool
fftmag_is_gray (const void *params, const ImgView *src)
{
  return true;
}

/* cvtcolor */

static const TestField cvtcolor_fields[] = {
  FIELD (DOUBLE, ImgCvtcolorParams, alpha, 255, 0, 77.5),
  END
};

/* A field of a picture in any format, so that all pairs come up. */
static void
cvtcolor_shape (const ImgView *src, const void *params, TestRandom *random,
    ImgView *dst)
{
  int n = 0;

  while (img_format_at (n))
    n++;
  img_view_init (dst, img_format_at (random_below (random, n)), src->width,
      2 * src->height);
  *dst = img_view_field (dst, random_below (random, 2));
  dst->matrix = (ImgMatrix) random_below (random, 3);
  dst->h_cosited = random_below (random, 2);
  dst->v_cosited = random_below (random, 2);
  if (dst->model != IMG_MODEL_RGB)
    dst->full_range = random_below (random, 2);
}

/* Sums of three float32 products, contracted or not. */
static TestTolerance
cvtcolor_backends (const void *params, const ImgView *src)
{
  return (TestTolerance) { 1, 0.25 };
}

/* resize */

/* The rectangle is set by `shape`, with what these draw. */
static const TestField resize_fields[] = {
  FIELD (INT, ImgResizeParams, method, 0, 1, 2, 3, 4),
  FIELD (INT, ImgResizeParams, x, 0, 0, 0, 1, 2, 5),
  FIELD (INT, ImgResizeParams, y, 0, 0, 0, 1, 2, 7),
  FIELD (INT, ImgResizeParams, width, 0, 0, 0, 1, 16, 33),
  FIELD (INT, ImgResizeParams, height, 0, 0, 0, 1, 8, 21),
  END
};

/* A size near `n`, one pixel, many, or `n` times or divided by an integer. */
static int
resize_draw (int n, TestRandom *random)
{
  const int factor = 1 + random_below (random, 4);

  switch (random_below (random, 6)) {
    case 0:
      return 1;
    case 1:
      return n * factor;
    case 2:
      return n % factor == 0 ? n / factor : n;
    case 3:
      return n / 2 + 1;
    default:
      return 1 + random_below (random, 2 * n + 20);
  }
}

/* At least as large as the rectangle. */
static void
resize_shape (const ImgView *src, const void *params, TestRandom *random,
    ImgView *dst)
{
  const ImgResizeParams *p = params;
  const int least_width = p->x + (p->width ? p->width : 1);
  const int least_height = p->y + (p->height ? p->height : 1);
  const int width = resize_draw (src->width, random);
  const int height = resize_draw (src->height, random);

  dst->width = width < least_width ? least_width : width;
  dst->height = height < least_height ? least_height : height;
  dst->h_cosited = random_below (random, 2);
  for (int i = 0; i < dst->n_planes; i++) {
    ImgPlane *plane = &dst->plane[i];

    plane->width = (dst->width + (1 << plane->x_sub) - 1) >> plane->x_sub;
    plane->height = (dst->height + (1 << plane->y_sub) - 1) >> plane->y_sub;
  }
}

/* Sums of float32 products in other orders, which may be a half: what lies
 * halfway between 0 and 255, or at a mean of six, is only nearly one. */
static TestTolerance
resize_backends (const void *params, const ImgView *src)
{
  const ImgResizeParams *p = params;

  if (p->method == IMG_RESIZE_NEAREST)
    return (TestTolerance) { 0, 0 };
  return (TestTolerance) { 1.0 / (1 << (src->depth - 8)), 1 };
}

static const TestOperation rows[] = {
  { "invert", invert_fields,
      .depths = invert_depths,
      .filters_alpha = invert_filters_alpha },
  { "threshold", threshold_fields,
      .depths = threshold_depths,
      .is_gray = threshold_is_gray,
      .in_place = threshold_in_place,
      .number = { img_threshold_computed_cpu, img_threshold_computed_cuda } },
  { "sobel", sobel_fields,
      .settle = sobel_settle,
      .backends = sobel_backends,
      .depths = sobel_depths,
      .is_gray = sobel_is_gray },
  { "gaussian", gaussian_fields,
      .settle = gaussian_settle,
      .backends = gaussian_backends,
      .depths = gaussian_depths },
  { "fftmag", fftmag_fields,
      .settle = fftmag_settle,
      .backends = fftmag_backends,
      .depths = fftmag_depths,
      .is_gray = fftmag_is_gray },
  { "cvtcolor", cvtcolor_fields,
      .shape = cvtcolor_shape,
      .backends = cvtcolor_backends },
  { "resize", resize_fields,
      .shape = resize_shape,
      .backends = resize_backends },
};

#define N_ROWS (sizeof (rows) / sizeof (rows[0]))

const TestOperation *
test_operation_find (const char *name)
{
  for (size_t i = 0; i < N_ROWS; i++)
    if (strcmp (rows[i].name, name) == 0)
      return &rows[i];
  return NULL;
}

static void
set_field (const TestField *field, void *params, double value)
{
  char *at = (char *) params + field->offset;

  switch (field->type) {
    case FIELD_INT:
      *(int *) at = (int) value;
      break;
    case FIELD_BOOL:
      *(bool *) at = value != 0;
      break;
    case FIELD_DOUBLE:
      *(double *) at = value;
      break;
  }
}

static double
get_field (const TestField *field, const void *params)
{
  const char *at = (const char *) params + field->offset;

  switch (field->type) {
    case FIELD_INT:
      return *(const int *) at;
    case FIELD_BOOL:
      return *(const bool *) at;
    default:
      return *(const double *) at;
  }
}

void
test_params_draw (const TestOperation *row, TestRandom *random, void *params)
{
  memset (params, 0, TEST_PARAMS_SIZE);
  for (const TestField *f = row->fields; f->name; f++)
    set_field (f, params, f->values[random_below (random, f->n_values)]);
  if (row->settle)
    row->settle (params);
}

void
test_params_bad (const TestBadCall *call, void *params)
{
  const TestOperation *row = test_operation_find (call->operation);

  memset (params, 0, TEST_PARAMS_SIZE);
  for (const TestField *f = row->fields; f->name; f++)
    set_field (f, params, f->values[0]);
  if (row->settle)
    row->settle (params);
  for (int i = 0; i < TEST_MAX_SET && call->set[i].field; i++)
    for (const TestField *f = row->fields; f->name; f++)
      if (strcmp (f->name, call->set[i].field) == 0)
        set_field (f, params, call->set[i].value);
}

void
test_params_describe (const TestOperation *row, const void *params, char *text,
    size_t size)
{
  size_t used = 0;

  text[0] = '\0';
  for (const TestField *f = row->fields; f->name && used < size; f++)
    used += (size_t) snprintf (text + used, size - used, "%s%s=%g",
        used > 0 ? " " : "", f->name, get_field (f, params));
}

static const TestBadCall bad_calls[] = {
  { "resize", { { "method", 5 } } },
  { "resize", { { "method", -1 } } },
  { "resize", { { "x", -1 } } },
  { "resize", { { "x", 16 } } },
  { "resize", { { "y", 12 }, { "height", 5 } } },
  { "resize", { { "width", 17 } } },
  { "resize", { { "height", -1 } } },
  { "threshold", { { "threshold", -1 } } },
  { "threshold", { { "threshold", 256 } } },
  { "threshold", { { "threshold", NAN } } },
  { "threshold", { { "max_value", -1 } } },
  { "threshold", { { "max_value", 300 } } },
  { "threshold", { { "max_value", NAN } } },
  { "threshold", { { "type", 5 } } },
  { "threshold", { { "type", -1 } } },
  { "threshold", { { "method", 5 } } },
  { "threshold", { { "method", 3 }, { "block_size", 4 } } },
  { "threshold", { { "method", 4 }, { "block_size", 1 } } },
  { "threshold", { { "method", 3 }, { "block_size", -11 } } },
  { "threshold", { { "method", 4 }, { "block_size", 257 } } },
  { "threshold", { { "method", 3 }, { "offset", 256 } } },
  { "threshold", { { "method", 3 }, { "offset", NAN } } },
  { "threshold", { { "channels", 2 } } },
  { "sobel", { { "kernel_size", 4 } } },
  { "sobel", { { "kernel_size", 0 } } },
  { "sobel", { { "kernel_size", 9 } } },
  { "sobel", { { "op", 1 }, { "kernel_size", 5 } } },
  { "sobel", { { "direction", 3 } } },
  { "sobel", { { "op", 2 } } },
  { "sobel", { { "norm", 2 } } },
  { "sobel", { { "output", 3 } } },
  { "sobel", { { "border", 5 } } },
  { "sobel", { { "border", -1 } } },
  { "sobel", { { "channels", 2 } } },
  { "sobel", { { "scale", NAN } } },
  { "sobel", { { "delta", INFINITY } } },
  { "gaussian", { { "kernel_width", 4 } } },
  { "gaussian", { { "kernel_height", 4 } } },
  { "gaussian", { { "kernel_width", -1 } } },
  { "gaussian", { { "kernel_width", 257 } } },
  { "gaussian", { { "kernel_height", 257 } } },
  { "gaussian", { { "kernel_width", 0 }, { "sigma_x", 0 } } },
  { "gaussian", { { "sigma_x", -1 } } },
  { "gaussian", { { "sigma_y", -1 } } },
  { "gaussian", { { "sigma_x", 101 } } },
  { "gaussian", { { "sigma_x", NAN } } },
  { "gaussian", { { "border", 5 } } },
  { "fftmag", { { "scale", 4 } } },
  { "fftmag", { { "window", 4 } } },
  { "fftmag", { { "normalize", 2 } } },
  { "fftmag", { { "normalize", 1 }, { "range_min", 20 } } },
  { "fftmag", { { "normalize", 1 }, { "range_max", -20 } } },
  { "fftmag", { { "normalize", 1 }, { "range_min", NAN } } },
  { "cvtcolor", { { "alpha", -1 } } },
  { "cvtcolor", { { "alpha", 256 } } },
  { "cvtcolor", { { "alpha", NAN } } },
};

const TestBadCall *
test_bad_call_at (int index)
{
  int n = (int) (sizeof (bad_calls) / sizeof (bad_calls[0]));

  return index >= 0 && index < n ? &bad_calls[index] : NULL;
}
