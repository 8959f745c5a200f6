/* invert.h on the CPU. */
#include "invert.h"

#include <stdint.h>
#include <string.h>

#include "arith.h"
#include "parallel.h"
#include "vector.h"

/* Bytes of a plane that are worth waking another thread. */
#define PIECE_BYTES (128 * 1024)

/* One plane on its way; every component becomes
 *   flip:   component ^ mask (max - v, or v itself, channel by channel)
 *   mirror: sum - min (max (component, low), high)
 * Components are taken as they are stored, zero bits below them included. */
typedef struct {
  const ImgPlane *src, *dst;
  size_t row_bytes;
  int component_bytes;
  bool mirror;
  uint64_t mask; /* of eight bytes, which hold whole pixels or like channels */
  int sum, low, high;
} Job;

static IMG_VECTOR void
flip (const uint8_t *from, uint8_t *to, size_t n, uint64_t mask)
{
  const size_t words = n / 8;

  /* the two rows may be the same */
#pragma GCC ivdep
  for (size_t i = 0; i < words; i++) {
    uint64_t word;

    memcpy (&word, from + 8 * i, 8);
    word ^= mask;
    memcpy (to + 8 * i, &word, 8);
  }
  for (size_t i = 8 * words; i < n; i++)
    to[i] = from[i] ^ (uint8_t) (mask >> 8 * (i % 8));
}

static IMG_VECTOR void
mirror8 (const uint8_t *from, uint8_t *to, size_t n, uint8_t sum, uint8_t low,
    uint8_t high)
{
#pragma GCC ivdep
  for (size_t i = 0; i < n; i++) {
    uint8_t value = from[i] > low ? from[i] : low;

    value = value < high ? value : high;
    to[i] = (uint8_t) (sum - value);
  }
}

static IMG_VECTOR void
mirror16 (const uint16_t *from, uint16_t *to, size_t n, uint16_t sum,
    uint16_t low, uint16_t high)
{
#pragma GCC ivdep
  for (size_t i = 0; i < n; i++) {
    uint16_t value = from[i] > low ? from[i] : low;

    value = value < high ? value : high;
    to[i] = (uint16_t) (sum - value);
  }
}

static void
invert_rows (int begin, int end, void *data)
{
  const Job *job = data;

  for (int y = begin; y < end; y++) {
    const void *from = (char *) job->src->data + y * job->src->stride;
    void *to = (char *) job->dst->data + y * job->dst->stride;

    if (!job->mirror)
      flip (from, to, job->row_bytes, job->mask);
    else if (job->component_bytes == 1)
      mirror8 (from, to, job->row_bytes, job->sum, job->low, job->high);
    else
      mirror16 (from, to, job->row_bytes / 2, job->sum, job->low, job->high);
  }
}

static uint64_t
flip_mask (const ImgView *view, const ImgPlane *plane, bool invert_alpha)
{
  const uint64_t max = (uint64_t) img_view_levels (view).max << view->shift;
  const int bits = 8 * view->component_bytes;
  uint64_t mask = 0;

  for (int i = 0; i * bits < 64; i++) {
    const ImgChannel channel = plane->channel[i % plane->channels];

    if (img_channel_is_color (channel)
        || (invert_alpha && channel == IMG_CHANNEL_A))
      mask |= max << i * bits;
  }
  return mask;
}

static void
set_mirror (Job *job, const ImgView *view, ImgChannel channel)
{
  const ImgLevels levels = img_view_levels (view);
  const int sum = img_channel_is_chroma (channel) ? 2 * levels.neutral
      : levels.black + levels.white;

  job->mirror = true;
  job->sum = sum << view->shift;
  job->low = (sum > levels.max ? sum - levels.max : 0) << view->shift;
  job->high = (sum < levels.max ? sum : levels.max) << view->shift;
}

static bool
prepare (void **state, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  if (!img_view_same_layout (src, dst))
    return img_fail (error, IMG_ERROR_UNSUPPORTED,
        "invert: source and destination differ in format or size");
  return true;
}

static bool
run (void *state, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  const ImgInvertParams *p = params;

  for (int i = 0; i < src->n_planes; i++) {
    const ImgPlane *plane = &src->plane[i];
    Job job = { plane, &dst->plane[i], img_plane_row_bytes (src, plane),
      src->component_bytes };

    if (src->model == IMG_MODEL_YUV)
      set_mirror (&job, src, plane->channel[0]);
    else
      job.mask = flip_mask (src, plane, p->invert_alpha);
    img_parallel_rows (plane->height, 1 + PIECE_BYTES / job.row_bytes,
        invert_rows, &job);
  }
  return true;
}

static void
release (void *state)
{
}

const ImgOperation img_invert_cpu = { "invert", sizeof (ImgInvertParams), true,
  prepare, run, release };
