/* Rows of luma for the CPU versions: read from any format, and written back as
 * a grey picture. Levels are in units of the view's depth. */
#ifndef IMG_LUMA_H
#define IMG_LUMA_H

#include <stdint.h>

#include "image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the luma of row `y`: of RGB by img_luma, else the Y channel. */
void img_luma_load (const ImgView *view, int y, uint16_t *luma);

/* Whether luma is read from plane `i`. */
bool img_plane_is_luma (const ImgView *view, int i);

/* Writes luma[] to every colour channel of row `y` of the planes that luma is
 * read from, and copies what else is in them (alpha, padding) from `src`. */
void img_luma_store (const ImgView *src, const ImgView *dst, int y,
    const uint16_t *luma);

/* Writes the planes that luma is not read from: neutral chroma, and alpha as
 * it is in `src`. */
void img_luma_fill_others (const ImgView *src, const ImgView *dst);

/* Copies plane `i`, unless it is the same memory. */
void img_plane_copy (const ImgView *src, const ImgView *dst, int i);

#ifdef __cplusplus
}
#endif
#endif
