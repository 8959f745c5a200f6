/*
 * A view of a picture: where its planes lie in memory and what their numbers
 * mean. Every operation takes views; none knows a format by name. A format is
 * one row of the table in image.c.
 *
 * A view owns nothing: it is a small struct that is copied by value and that
 * names memory of somebody else, on the host or on the device.
 */
#ifndef IMG_IMAGE_H
#define IMG_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IMG_MAX_PLANES 4
#define IMG_MAX_CHANNELS 4

typedef enum {
  IMG_MODEL_GRAY,
  IMG_MODEL_RGB,
  IMG_MODEL_YUV
} ImgModel;

/* What one channel of a plane holds. */
typedef enum {
  IMG_CHANNEL_Y, /* luma, or grey */
  IMG_CHANNEL_U,
  IMG_CHANNEL_V,
  IMG_CHANNEL_R,
  IMG_CHANNEL_G,
  IMG_CHANNEL_B,
  IMG_CHANNEL_A,
  IMG_CHANNEL_X /* padding */
} ImgChannel;

/* YUV matrices, by the standard that defines their luma weights. */
typedef enum {
  IMG_MATRIX_BT601,
  IMG_MATRIX_BT709,
  IMG_MATRIX_BT2020
} ImgMatrix;

/* A format: how the channels of a picture are laid out. */
typedef struct {
  const char *name; /* as GStreamer writes it, e.g. "NV12" */
  ImgModel model;
  int depth;           /* significant bits of a component: 8, 10 or 16 */
  int shift;           /* zero bits below them in the container (P010: 6) */
  int component_bytes; /* bytes of the container: 1 or 2, little-endian */
  int n_planes;
  struct {
    const char *channels; /* one letter a channel, in memory order: "UV" */
    int x_sub, y_sub;     /* log2 of the chroma subsampling */
  } plane[IMG_MAX_PLANES];
} ImgFormat;

/* One plane of a picture. A pixel of the plane is `channels` interleaved
 * components; rows may have any stride, negative included. */
typedef struct {
  void *data;       /* first component of the first row */
  ptrdiff_t stride; /* bytes from one row to the next */
  int width;        /* in pixels of this plane */
  int height;
  int channels; /* interleaved components per pixel, 1 to 4 */
  ImgChannel channel[IMG_MAX_CHANNELS];
  int x_sub, y_sub; /* log2 of the subsampling against the picture */
} ImgPlane;

typedef struct {
  ImgModel model;
  int width; /* of the picture, in pixels */
  int height;
  int depth;
  int shift;
  int component_bytes;
  bool full_range;  /* 0..max rather than 16..235 (scaled to the depth) */
  ImgMatrix matrix; /* of YUV */
  bool h_cosited;   /* chroma sample on the left luma sample, or between two */
  bool v_cosited;   /* the same vertically */
  int n_planes;
  ImgPlane plane[IMG_MAX_PLANES];
} ImgView;

/* The values that the range of a view gives to a component, in units of its
 * depth (before `shift`). */
typedef struct {
  int max;     /* (1 << depth) - 1 */
  int black;   /* luma and RGB: 0, or 16 scaled in limited range */
  int white;   /* max, or 235 scaled */
  int neutral; /* chroma: 1 << (depth - 1) */
} ImgLevels;

/* The format called `name`, or NULL. The result is static. */
const ImgFormat *img_format_find (const char *name);

/* The format at `index` of the table, or NULL past its end. */
const ImgFormat *img_format_at (int index);

/* Fills `view` for a picture of `width` × `height` pixels: everything but the
 * data pointers and strides, which are zeroed. GRAY and RGB are full range;
 * YUV starts as limited range, BT.601 up to 576 lines and BT.709 above, chroma
 * centred between two lines and on the left column (MPEG-2). */
void img_view_init (ImgView *view, const ImgFormat *format, int width,
    int height);

/* Sets data pointers and strides for planes that follow each other in one
 * block, each row padded to a multiple of `align` bytes (a power of two).
 * `data` may be NULL. Returns the size of the block in bytes. */
size_t img_view_lay_out (ImgView *view, void *data, int align);

/* The rows of field `field` (0: top, 1: bottom) of an interlaced picture. */
ImgView img_view_field (const ImgView *view, int field);

/* True if both have the same model, size, depth, colorimetry, chroma siting
 * and planes: all but pointers and strides. */
bool img_view_same_layout (const ImgView *a, const ImgView *b);

/* Bytes of a row of `plane` that hold pixels. */
size_t img_plane_row_bytes (const ImgView *view, const ImgPlane *plane);

ImgLevels img_view_levels (const ImgView *view);

/* `value` on the 8-bit scale (0 black, 255 white) in units of the view's depth
 * and range: 127 is 127 in GRAY8, 32639 in GRAY16 and 125.07 in limited NV12.
 */
double img_view_scale (const ImgView *view, double value);

/* A difference on the 8-bit scale in units of the view's depth and range. */
double img_view_scale_difference (const ImgView *view, double difference);

#ifdef __cplusplus
}
#endif
#endif
