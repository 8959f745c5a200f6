/* invert.h on the GPU: one pointwise launch for all planes. */
#include "invert.h"

#include "arith.h"
#include "pointwise.cuh"

/* Full range: max - v = v ^ max. Lanes that are copied have 0. */
struct InvertFlip {
  unsigned mask;

  __device__ void begin ()
  {
  }

  __device__ unsigned operator() (unsigned word) const
  {
    return word ^ mask;
  }
};

/* YUV: `sum` - v, with v kept where that is from 0 to max: luma has a sum of
 * up to max, chroma one of max + 1, which does not fit 8 bits. Lanes without
 * `mirrored` are flipped. */
template <int Bytes> struct InvertMirror {
  unsigned sum, low, high;
  unsigned mirrored, mask;

  __device__ void begin ()
  {
  }

  __device__ unsigned mirror (unsigned word) const
  {
    if (Bytes == 2)
      return __vsub2 (sum, __vminu2 (__vmaxu2 (word, low), high));
    return low ? ~__vsubus4 (word, low) : __vsubus4 (sum, word);
  }

  __device__ unsigned operator() (unsigned word) const
  {
    return (mirror (word) & mirrored) | ((word ^ mask) & ~mirrored);
  }
};

/* A word whose components of the channels of a plane that `invert` are `set`.
 */
static unsigned
flipped_lanes (
    const ImgView *view, const ImgPlane *plane, bool invert_alpha, unsigned set)
{
  unsigned lanes[IMG_MAX_CHANNELS] = {};

  for (int c = 0; c < plane->channels; c++)
    if (img_channel_is_color (plane->channel[c])
        || (invert_alpha && plane->channel[c] == IMG_CHANNEL_A))
      lanes[c] = set;
  return pointwise_lanes (view, plane, lanes);
}

template <int Bytes>
static InvertMirror<Bytes>
make_mirror (const ImgView *view, const ImgPlane *plane, bool invert_alpha)
{
  const ImgLevels levels = img_view_levels (view);
  const bool chroma = img_channel_is_chroma (plane->channel[0]);
  const int sum = chroma ? 2 * levels.neutral : levels.black + levels.white;
  const unsigned all = Bytes == 1 ? 0x01010101u : 0x00010001u;
  InvertMirror<Bytes> mirror = {};

  mirror.sum = all * ((sum << view->shift) & ((1u << 8 * Bytes) - 1));
  mirror.low = all * (max (sum - levels.max, 0) << view->shift);
  mirror.high = all * (min (sum, levels.max) << view->shift);
  mirror.mirrored = flipped_lanes (view, plane, false, (1u << 8 * Bytes) - 1);
  mirror.mask
      = flipped_lanes (view, plane, invert_alpha, levels.max << view->shift);
  return mirror;
}

static bool
flip_planes (const ImgView *src, const ImgView *dst, bool invert_alpha,
    ImgStream stream, ImgError *error)
{
  const unsigned max = img_view_levels (src).max << src->shift;
  PointwiseJob<InvertFlip> job = {};

  for (int i = 0; i < src->n_planes; i++) {
    const InvertFlip flip
        = { flipped_lanes (src, &src->plane[i], invert_alpha, max) };

    pointwise_add (&job, src, dst, i, flip);
  }
  return pointwise_run (&job, stream, "launching invert", error);
}

template <int Bytes>
static bool
mirror_planes (const ImgView *src, const ImgView *dst, bool invert_alpha,
    ImgStream stream, ImgError *error)
{
  PointwiseJob<InvertMirror<Bytes>> job = {};

  for (int i = 0; i < src->n_planes; i++)
    pointwise_add (&job, src, dst, i,
        make_mirror<Bytes> (src, &src->plane[i], invert_alpha));
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

  if (src->model != IMG_MODEL_YUV)
    return flip_planes (src, dst, alpha, stream, error);
  return src->component_bytes == 1
             ? mirror_planes<1> (src, dst, alpha, stream, error)
             : mirror_planes<2> (src, dst, alpha, stream, error);
}

static void
release (void *state)
{
}

extern "C" const ImgOperation img_invert_cuda
    = { "invert", sizeof (ImgInvertParams), true, prepare, run, release };
