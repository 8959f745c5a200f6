#include "invert.h"

static bool
prepare (void **state, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  return img_fail (error, IMG_ERROR_UNSUPPORTED, "invert: not written yet");
}

static bool
run (void *state, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  return img_fail (error, IMG_ERROR_UNSUPPORTED, "invert: not written yet");
}

static void
release (void *state)
{
}

const ImgOperation img_invert_cpu = { "invert", sizeof (ImgInvertParams), false, prepare,
  run, release };
