/* Rows of planes, for the CPU versions of the operations that look at
 * neighbours. */
#ifndef IMG_ROWS_H
#define IMG_ROWS_H

#include <stdint.h>

#include "image.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline void *
img_row (const ImgPlane *plane, int y)
{
  return (char *) plane->data + y * plane->stride;
}

/* A row of `n` components of `level`, in units of the depth, which stands
 * beyond the edges of a picture. To be freed; NULL if there is no memory. */
void *img_row_new (int n, int component_bytes, int level);

/* The bits of every eight bytes of a row that hold alpha or padding: 0 if it
 * has none, all if it has nothing else. */
uint64_t img_row_kept_bits (const ImgView *view, const ImgPlane *plane);

/* Copies those bits of the `size` bytes at `from`, where a pixel begins. */
void img_row_keep (const void *from, size_t size, uint64_t kept, void *to);

#ifdef __cplusplus
}
#endif
#endif
