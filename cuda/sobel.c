/* sobel.h on the CPU. */
#include "sobel.h"

#include "sobel-arith.h"

bool
img_sobel_check (const ImgView *src, const ImgView *dst,
    const ImgSobelParams *params, ImgError *error)
{
  const int size = params->kernel_size;

  if (!img_view_same_layout (src, dst))
    return img_fail (error, IMG_ERROR_UNSUPPORTED,
        "sobel: source and destination differ in format or size");
  if (params->op == IMG_SOBEL_SCHARR && size != 3)
    return img_fail (error, IMG_ERROR_SETTINGS, "The Scharr operator has "
        "kernel size 3 only, not %d: set kernel-size to 3, or the operator to "
        "sobel", size);
  if (size != 3 && size != 5 && size != 7)
    return img_fail (error, IMG_ERROR_SETTINGS, "Kernel size %d of sobel is "
        "none of 3, 5 and 7: set kernel-size to one of them", size);
  if (!isfinite (params->scale) || !isfinite (params->delta))
    return img_fail (error, IMG_ERROR_SETTINGS, "Scale or delta of sobel is "
        "not a finite number: set both to finite numbers");
  return true;
}

ImgSobelRule
img_sobel_rule (const ImgView *view, const ImgSobelParams *params)
{
  const ImgLevels levels = img_view_levels (view);
  const bool one = params->direction != IMG_SOBEL_MAGNITUDE;
  const bool offset = one && params->output == IMG_SOBEL_OFFSET;
  ImgSobelRule rule;

  rule.kind = !one ? params->norm == IMG_SOBEL_L1
      ? IMG_SOBEL_RULE_L1 : IMG_SOBEL_RULE_L2
      : params->output == IMG_SOBEL_ABS
      ? IMG_SOBEL_RULE_ABS : IMG_SOBEL_RULE_SIGNED;
  rule.scale = (float) params->scale;
  rule.delta = (float) img_view_scale_difference (view,
      params->delta + (offset ? 128 : 0));
  rule.black = levels.black;
  rule.range = levels.white - levels.black;
  return rule;
}

static bool
prepare (void **state, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  return img_fail (error, IMG_ERROR_UNSUPPORTED, "sobel: not written yet");
}

static bool
run (void *state, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  return img_fail (error, IMG_ERROR_UNSUPPORTED, "sobel: not written yet");
}

static void
release (void *state)
{
}

const ImgOperation img_sobel_cpu = { "sobel", sizeof (ImgSobelParams), false,
  prepare, run, release };
