/* GStreamer's video frames as the views that operations take. */
#include "gstcudafilter.h"

static ImgMatrix
gst_cuda_filter_matrix (const GstVideoInfo * info)
{
  switch (info->colorimetry.matrix) {
    case GST_VIDEO_COLOR_MATRIX_BT601:
    case GST_VIDEO_COLOR_MATRIX_FCC:
      return IMG_MATRIX_BT601;
    case GST_VIDEO_COLOR_MATRIX_BT2020:
      return IMG_MATRIX_BT2020;
    case GST_VIDEO_COLOR_MATRIX_BT709:
      return IMG_MATRIX_BT709;
    default:
      return GST_VIDEO_INFO_HEIGHT (info) > 576
          ? IMG_MATRIX_BT709 : IMG_MATRIX_BT601;
  }
}

gboolean
gst_cuda_filter_view_from_info (ImgView * view, const GstVideoInfo * info)
{
  const ImgFormat *format =
      img_format_find (gst_video_format_to_string (GST_VIDEO_INFO_FORMAT
          (info)));

  if (!format)
    return FALSE;
  img_view_init (view, format, GST_VIDEO_INFO_WIDTH (info),
      GST_VIDEO_INFO_HEIGHT (info));
  /* RGB has no limited range here: its black is 0 whatever the caps say */
  if (view->model != IMG_MODEL_RGB)
    view->full_range =
        info->colorimetry.range != GST_VIDEO_COLOR_RANGE_16_235;
  view->matrix = gst_cuda_filter_matrix (info);
  view->h_cosited =
      (info->chroma_site & GST_VIDEO_CHROMA_SITE_H_COSITED) != 0;
  view->v_cosited =
      (info->chroma_site & GST_VIDEO_CHROMA_SITE_V_COSITED) != 0;
  return TRUE;
}

/* Where the picture of the caps lies in a frame that may be larger. */
static gboolean
gst_cuda_filter_view_origin (const ImgView * view, const GstVideoFrame * frame,
    guint * x, guint * y)
{
  const GstVideoCropMeta *crop;

  *x = *y = 0;
  if (GST_VIDEO_FRAME_WIDTH (frame) == view->width
      && GST_VIDEO_FRAME_HEIGHT (frame) == view->height)
    return TRUE;
  crop = gst_buffer_get_video_crop_meta (frame->buffer);
  if (crop) {
    *x = crop->x;
    *y = crop->y;
  }
  return (gint) *x + view->width <= GST_VIDEO_FRAME_WIDTH (frame)
      && (gint) *y + view->height <= GST_VIDEO_FRAME_HEIGHT (frame);
}

gboolean
gst_cuda_filter_view_map (ImgView * view, const GstVideoFrame * frame)
{
  guint x, y;

  if (!gst_cuda_filter_view_origin (view, frame, &x, &y))
    return FALSE;
  for (gint i = 0; i < view->n_planes; i++) {
    ImgPlane *plane = &view->plane[i];
    gsize pixel = plane->channels * view->component_bytes;

    plane->stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, i);
    plane->data = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, i)
        + (gssize) (y >> plane->y_sub) * plane->stride
        + (gssize) (x >> plane->x_sub) * pixel;
  }
  return TRUE;
}
