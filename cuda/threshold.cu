#include "threshold.h"

static bool
prepare (void **state, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  return img_fail (error, IMG_ERROR_UNSUPPORTED, "threshold: not written yet");
}

static bool
run (void *state, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  return img_fail (error, IMG_ERROR_UNSUPPORTED, "threshold: not written yet");
}

static void
release (void *state)
{
}

const ImgOperation img_threshold_cuda = { "threshold", sizeof (ImgThresholdParams), false, prepare,
  run, release };

double
img_threshold_computed_cuda (const void *state)
{
  return -1;
}
