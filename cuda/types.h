/* Parameters that several operations share. */
#ifndef IMG_TYPES_H
#define IMG_TYPES_H

/* What stands beyond the edge of a picture; the letters show a row abcdefgh.
 * Names and meanings are OpenCV's. */
typedef enum {
  IMG_BORDER_REFLECT_101, /* gfedcb|abcdefgh|gfedcba */
  IMG_BORDER_REPLICATE,   /* aaaaaa|abcdefgh|hhhhhhh */
  IMG_BORDER_REFLECT,     /* fedcba|abcdefgh|hgfedcb */
  IMG_BORDER_WRAP,        /* cdefgh|abcdefgh|abcdefg */
  IMG_BORDER_CONSTANT     /* black (chroma: neutral) */
} ImgBorder;

/* Which channels of a picture an operation works on. YUV is always LUMA. */
typedef enum {
  IMG_CHANNELS_EACH, /* every colour channel by itself */
  IMG_CHANNELS_LUMA  /* the luma (BT.601 for RGB), written to all of them */
} ImgChannels;

#endif
