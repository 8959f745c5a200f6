#include "fftmag.h"

static bool
prepare (void **state, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  return img_fail (error, IMG_ERROR_UNSUPPORTED, "fftmag: not written yet");
}

static bool
run (void *state, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  return img_fail (error, IMG_ERROR_UNSUPPORTED, "fftmag: not written yet");
}

static void
release (void *state)
{
}

const ImgOperation img_fftmag_cpu = { "fftmag", sizeof (ImgFftmagParams), false, prepare,
  run, release };
