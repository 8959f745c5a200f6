/* invert.h on the GPU: one pointwise launch for all planes. */
#include "invert.h"

#include "arith.h"
#include "pointwise.cuh"

/* Lane by lane ((v - raise) ^ flip) - lower, each difference saturated at 0.
 * With max - v = v ^ max that is max + black - (max - white) - v for luma in
 * limited range, where `lower` is what black + white falls short of max by,
 * and max + 1 - v, saturated to max, for chroma, where `raise` is 1. Lanes
 * that are copied have 0 in all. */
template <int Bytes, bool Saturate> struct Invert {
  unsigned flip, raise, lower;

  __device__ void
  begin ()
  {
  }

  __device__ unsigned
  operator() (unsigned word) const
  {
    if (!Saturate)
      return word ^ flip;
    if (Bytes == 1)
      return __vsubus4 (__vsubus4 (word, raise) ^ flip, lower);
    return __vsubus2 (__vsubus2 (word, raise) ^ flip, lower);
  }
};

/* What the lanes of a plane do, and whether any of them saturates. */
typedef struct {
  unsigned flip[IMG_MAX_CHANNELS];
  unsigned raise[IMG_MAX_CHANNELS];
  unsigned lower[IMG_MAX_CHANNELS];
} InvertLanes;

static InvertLanes
invert_lanes (const ImgView *view, const ImgPlane *plane, bool invert_alpha)
{
  const ImgLevels levels = img_view_levels (view);
  InvertLanes lanes = {};

  for (int c = 0; c < plane->channels; c++) {
    const ImgChannel channel = plane->channel[c];

    if (img_channel_is_color (channel)
        || (invert_alpha && channel == IMG_CHANNEL_A))
      lanes.flip[c] = levels.max << view->shift;
    if (img_channel_is_chroma (channel))
      lanes.raise[c] = (2 * levels.neutral - levels.max) << view->shift;
    else if (img_channel_is_color (channel))
      lanes.lower[c] = (levels.max - levels.black - levels.white)
          << view->shift;
  }
  return lanes;
}

template <int Bytes, bool Saturate>
static bool
invert_planes (const ImgView *src, const ImgView *dst, bool invert_alpha,
    ImgStream stream, ImgError *error)
{
  PointwiseJob<Invert<Bytes, Saturate>> job = {};

  for (int i = 0; i < src->n_planes; i++) {
    const ImgPlane *plane = &src->plane[i];
    const InvertLanes lanes = invert_lanes (src, plane, invert_alpha);
    Invert<Bytes, Saturate> functor;

    functor.flip = pointwise_lanes (src, plane, lanes.flip);
    functor.raise = pointwise_lanes (src, plane, lanes.raise);
    functor.lower = pointwise_lanes (src, plane, lanes.lower);
    pointwise_add (&job, src, dst, i, functor);
  }
  return pointwise_run (&job, stream, "launching invert", error);
}

static bool
prepare (void **state, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  if (!img_view_same_layout (src, dst))
    return img_fail (error, IMG_ERROR_UNSUPPORTED,
        "invert: source and destination differ in format or size");
  if (!pointwise_fits (src))
    return img_fail (error, IMG_ERROR_UNSUPPORTED,
        "invert: more than four bytes per pixel in one plane");
  return true;
}

static bool
run (void *state, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  const bool alpha = ((const ImgInvertParams *)params)->invert_alpha;
  const bool saturate = src->model == IMG_MODEL_YUV;

  if (src->component_bytes == 1)
    return saturate ? invert_planes<1, true> (src, dst, alpha, stream, error)
                    : invert_planes<1, false> (src, dst, alpha, stream, error);
  return saturate ? invert_planes<2, true> (src, dst, alpha, stream, error)
                  : invert_planes<2, false> (src, dst, alpha, stream, error);
}

static void
release (void *state)
{
}

extern "C" const ImgOperation img_invert_cuda = { "invert",
  sizeof (ImgInvertParams), true, prepare, run, release };
