/* What stands in for the .cu files in a build without CUDA: the same symbols,
 * each of which answers that it is not there. */
#include "cvtcolor.h"
#include "device.h"
#include "fftmag.h"
#include "gaussian.h"
#include "invert.h"
#include "resize.h"
#include "sobel.h"
#include "threshold.h"

static bool
fail (ImgError *error)
{
  return img_fail (error, IMG_ERROR_NO_DEVICE, "built without CUDA");
}

static bool
prepare (void **state, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  return fail (error);
}

static bool
run (void *state, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  return fail (error);
}

static void
release (void *state)
{
}

#define STUB(op, Params) \
  const ImgOperation img_##op##_cuda \
      = { #op, sizeof (Params), false, prepare, run, release }

STUB (invert, ImgInvertParams);
STUB (threshold, ImgThresholdParams);
STUB (sobel, ImgSobelParams);
STUB (gaussian, ImgGaussianParams);
STUB (fftmag, ImgFftmagParams);
STUB (resize, ImgResizeParams);
STUB (cvtcolor, ImgCvtcolorParams);

double
img_threshold_computed_cuda (const void *state)
{
  return -1;
}

bool
img_cuda_built (void)
{
  return false;
}

bool
img_cuda_context_is_alive (void *context)
{
  return false;
}

bool
img_cuda_probe (ImgError *error)
{
  return fail (error);
}

bool
img_cuda_copy (const ImgView *dst, const ImgView *src, ImgStream stream,
    ImgError *error)
{
  return fail (error);
}

bool
img_cuda_synchronize (ImgStream stream, ImgError *error)
{
  return fail (error);
}

bool
img_cuda_wait (ImgStream waiter, ImgStream other, ImgError *error)
{
  return fail (error);
}

bool
img_cuda_event_record (ImgEvent *event, ImgStream stream, ImgError *error)
{
  return fail (error);
}

bool
img_cuda_event_is_past (ImgEvent event)
{
  return true;
}

bool
img_cuda_event_wait (ImgEvent event, ImgError *error)
{
  return fail (error);
}

void
img_cuda_event_free (ImgEvent event)
{
}

bool
img_cuda_host_is_locked (const void *data)
{
  return false;
}

void *
img_cuda_alloc (size_t size, ImgError *error)
{
  fail (error);
  return NULL;
}

void
img_cuda_free (void *data)
{
}

void *
img_cuda_host_alloc (size_t size, ImgError *error)
{
  fail (error);
  return NULL;
}

void
img_cuda_host_free (void *data)
{
}

void
img_cuda_clear_error (void)
{
}
