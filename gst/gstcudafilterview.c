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

/* The rows of plane `i` that the two fields have together. Where chroma is
 * subsampled this may be one more than the frame has, because each field has a
 * last row of its own. */
static gint
gst_cuda_filter_field_rows (const ImgView * view, gint i)
{
  const gint y_sub = view->plane[i].y_sub;
  const gint top = (view->height + 1) / 2;

  return y_sub == 0 ? view->plane[i].height
      : 2 * ((top + (1 << y_sub) - 1) >> y_sub);
}

/* True if plane `i` has memory for those rows before the next plane begins. So
 * it is in system memory; GStreamer's CUDA allocator leaves no room. */
static gboolean
gst_cuda_filter_has_field_rows (const ImgView * view,
    const GstVideoFrame * frame, gint i)
{
  const ImgPlane *plane = &view->plane[i];
  const GstMapInfo *map = &frame->map[frame->meta ? i : 0];
  const guint8 *begin = GST_VIDEO_FRAME_PLANE_DATA (frame, i);
  const guint8 *end = map->data + map->size;
  const gint rows = gst_cuda_filter_field_rows (view, i);

  if (rows == plane->height)
    return TRUE;
  for (gint k = 0; k < view->n_planes; k++) {
    const guint8 *other = GST_VIDEO_FRAME_PLANE_DATA (frame, k);

    if (other > begin && other < end)
      end = other;
  }
  return plane->stride > 0 && end - (const guint8 *) plane->data
      >= plane->stride * (rows - 1)
      + (gssize) img_plane_row_bytes (view, plane);
}

void
gst_cuda_filter_view_add_field_rows (ImgView * src, const GstVideoFrame * in,
    ImgView * dst, const GstVideoFrame * out)
{
  for (gint i = 0; i < src->n_planes; i++)
    if (!gst_cuda_filter_has_field_rows (src, in, i))
      return;
  for (gint i = 0; i < dst->n_planes; i++)
    if (!gst_cuda_filter_has_field_rows (dst, out, i))
      return;
  for (gint i = 0; i < src->n_planes; i++)
    src->plane[i].height = gst_cuda_filter_field_rows (src, i);
  for (gint i = 0; i < dst->n_planes; i++)
    dst->plane[i].height = gst_cuda_filter_field_rows (dst, i);
}
