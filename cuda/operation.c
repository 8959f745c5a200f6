/* The table of operations, and errors. */
#include "operation.h"

#include <stdarg.h>
#include <stdio.h>

#include "cvtcolor.h"
#include "fftmag.h"
#include "gaussian.h"
#include "invert.h"
#include "resize.h"
#include "sobel.h"
#include "threshold.h"

static const ImgOperationPair operations[] = {
  { &img_invert_cpu, &img_invert_cuda },
  { &img_threshold_cpu, &img_threshold_cuda },
  { &img_sobel_cpu, &img_sobel_cuda },
  { &img_gaussian_cpu, &img_gaussian_cuda },
  { &img_fftmag_cpu, &img_fftmag_cuda },
  { &img_resize_cpu, &img_resize_cuda },
  { &img_cvtcolor_cpu, &img_cvtcolor_cuda },
};

const ImgOperationPair *
img_operation_at (int index)
{
  int n = (int) (sizeof (operations) / sizeof (operations[0]));

  return index >= 0 && index < n ? &operations[index] : NULL;
}

bool
img_fail (ImgError *error, ImgErrorCode code, const char *format, ...)
{
  va_list args;

  error->code = code;
  va_start (args, format);
  vsnprintf (error->text, sizeof (error->text), format, args);
  va_end (args);
  return false;
}

bool
img_check_enum (const char *what, int value, int count, ImgError *error)
{
  if (value >= 0 && value < count)
    return true;
  return img_fail (error, IMG_ERROR_SETTINGS,
      "%s is %d; set one of its values, 0 to %d", what, value, count - 1);
}
