/*
 * What the CPU and the GPU version of cvtcolor share: the plan of a
 * conversion, in which formats are no more than channels, resamplings and a
 * matrix.
 */
#ifndef IMG_CVTCOLOR_ARITH_H
#define IMG_CVTCOLOR_ARITH_H

#include "arith.h"
#include "cvtcolor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Components are numbered R G B or Y U V, and then alpha or padding. */
#define IMG_CVTCOLOR_ALPHA 3

/* The samples of one component. */
typedef struct {
  unsigned char *data; /* NULL: the picture has no such component */
  ptrdiff_t stride;
  int step; /* bytes from one sample of a row to the next */
  int width, height;
} ImgCvtcolorChannel;

/* How the samples along a row or a column become those of the result. */
typedef enum {
  IMG_RESAMPLE_SAME,
  IMG_RESAMPLE_UP_COSITED,
  IMG_RESAMPLE_UP_CENTRED,
  IMG_RESAMPLE_DOWN_COSITED,
  IMG_RESAMPLE_DOWN_CENTRED,
  IMG_RESAMPLE_TO_CENTRED,
  IMG_RESAMPLE_TO_COSITED
} ImgResample;

typedef struct {
  ImgCvtcolorChannel src[4], dst[4];
  int src_bytes, src_shift, dst_bytes, dst_shift;
  int n_dst;    /* components of the destination but alpha: 1 or 3 */
  bool luma;    /* component 0 of the source is the luma of its three */
  bool chroma;  /* components 1 and 2 of the destination are chroma */
  bool src_chroma;
  int neutral;  /* of chroma of the source */
  int max;      /* of components of the destination */
  float mix[3][4];
  ImgResample h[2][2], v[2][2]; /* [source is chroma][destination is] */
  float alpha_scale; /* of the alpha of the source; 0: alpha is... */
  int alpha;         /* ...this */
} ImgCvtcolorPlan;

/* Checks what prepare must check, on either backend. */
bool img_cvtcolor_check (const ImgView *src, const ImgView *dst,
    const ImgCvtcolorParams *params, ImgError *error);

ImgCvtcolorPlan img_cvtcolor_plan (const ImgView *src, const ImgView *dst,
    const ImgCvtcolorParams *params);

/* The sample of the source in the middle of three that make sample `i`. */
IMG_INLINE int
img_resample_base (ImgResample kind, int i)
{
  switch (kind) {
    case IMG_RESAMPLE_UP_COSITED:
    case IMG_RESAMPLE_UP_CENTRED:
      return i >> 1;
    case IMG_RESAMPLE_DOWN_COSITED:
    case IMG_RESAMPLE_DOWN_CENTRED:
      return 2 * i;
    default:
      return i;
  }
}

/* Their weights, in quarters, as bytes: the first one is the lowest. */
IMG_INLINE unsigned
img_resample_quarters (ImgResample kind, int i)
{
  switch (kind) {
    case IMG_RESAMPLE_UP_COSITED:
      return i & 1 ? 0x020200 : 0x000400;
    case IMG_RESAMPLE_UP_CENTRED:
      return i & 1 ? 0x010300 : 0x000301;
    case IMG_RESAMPLE_DOWN_COSITED:
      return 0x010201;
    case IMG_RESAMPLE_DOWN_CENTRED:
      return 0x020200;
    case IMG_RESAMPLE_TO_CENTRED:
      return 0x010300;
    case IMG_RESAMPLE_TO_COSITED:
      return 0x000301;
    default:
      return 0x000400;
  }
}

#ifdef __cplusplus
}
#endif
#endif
