/* rows.h: what is beyond the edges of a row, and what an operation leaves. */
#include "rows.h"

#include <stdlib.h>
#include <string.h>

#include "arith.h"
#include "vector.h"

void *
img_row_new (int n, int component_bytes, int level)
{
  uint16_t *row = malloc ((size_t) n * component_bytes);

  if (row && component_bytes == 1)
    memset (row, level, n);
  else if (row)
    for (int x = 0; x < n; x++)
      row[x] = (uint16_t) level;
  return row;
}

uint64_t
img_row_kept_bits (const ImgView *view, const ImgPlane *plane)
{
  const int bits = 8 * view->component_bytes;
  uint64_t kept = 0;

  for (int i = 0; i * bits < 64; i++)
    if (!img_channel_is_color (plane->channel[i % plane->channels]))
      kept |= (((uint64_t) 1 << bits) - 1) << i * bits;
  return kept;
}

static IMG_VECTOR void
keep_words (const uint8_t *from, size_t words, uint64_t kept, uint8_t *to)
{
#pragma GCC ivdep
  for (size_t i = 0; i < words; i++) {
    uint64_t old, new;

    memcpy (&old, from + 8 * i, 8);
    memcpy (&new, to + 8 * i, 8);
    new = (old & kept) | (new & ~kept);
    memcpy (to + 8 * i, &new, 8);
  }
}

void
img_row_keep (const void *from, size_t size, uint64_t kept, void *to)
{
  const uint8_t *old = from;
  uint8_t *new = to;

  keep_words (old, size / 8, kept, new);
  for (size_t i = size / 8 * 8; i < size; i++)
    if (kept >> 8 * (i % 8) & 1)
      new[i] = old[i];
}
