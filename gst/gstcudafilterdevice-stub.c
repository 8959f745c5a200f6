/* gstcudafilterdevice.h in a build without CUDA: there is no device, and the
 * functions that need an open one are never reached. */
#include "gstcudafilterdevice.h"

struct _GstCudaFilterDevice {
  gchar unused;
};

GstCudaFilterDevice *
gst_cuda_filter_device_new (GstElement * element)
{
  return g_new0 (GstCudaFilterDevice, 1);
}

void
gst_cuda_filter_device_free (GstCudaFilterDevice * device)
{
  g_free (device);
}

gboolean
gst_cuda_filter_device_look (gint device_id, gchar ** text)
{
  *text = g_strdup ("this plugin was built without CUDA");
  return FALSE;
}

gboolean
gst_cuda_filter_device_open (GstCudaFilterDevice * device, gint device_id,
    ImgError * error)
{
  return img_fail (error, IMG_ERROR_NO_DEVICE,
      "this plugin was built without CUDA");
}

void
gst_cuda_filter_device_close (GstCudaFilterDevice * device)
{
}

gchar *
gst_cuda_filter_device_describe (GstCudaFilterDevice * device)
{
  return NULL;
}

void
gst_cuda_filter_device_set_context (GstCudaFilterDevice * device,
    GstContext * context, gint device_id)
{
}

gboolean
gst_cuda_filter_device_answer_query (GstCudaFilterDevice * device,
    GstQuery * query)
{
  return FALSE;
}

gboolean
gst_cuda_filter_device_push (GstCudaFilterDevice * device)
{
  return FALSE;
}

void
gst_cuda_filter_device_pop (GstCudaFilterDevice * device)
{
}

ImgStream
gst_cuda_filter_device_get_stream (GstCudaFilterDevice * device)
{
  return NULL;
}

gboolean
gst_cuda_filter_device_owns (GstCudaFilterDevice * device, GstBuffer * buffer)
{
  return FALSE;
}

gboolean
gst_cuda_filter_device_should_follow (GstCudaFilterDevice * device,
    GstBuffer * buffer, gint device_id)
{
  return FALSE;
}

void
gst_cuda_filter_device_follow (GstCudaFilterDevice * device,
    GstBuffer * buffer)
{
}

gboolean
gst_cuda_filter_device_map (GstCudaFilterDevice * device,
    GstVideoFrame * frame, const GstVideoInfo * info, GstBuffer * buffer,
    GstMapFlags flags)
{
  return gst_video_frame_map (frame, info, buffer,
      flags | GST_VIDEO_FRAME_MAP_FLAG_NO_REF);
}

gboolean
gst_cuda_filter_device_begin (GstCudaFilterDevice * device, GstBuffer * buffer,
    ImgError * error)
{
  return FALSE;
}

gboolean
gst_cuda_filter_device_end (GstCudaFilterDevice * device, GstBuffer * buffer,
    gboolean written, ImgError * error)
{
  return FALSE;
}

GstBufferPool *
gst_cuda_filter_device_new_pool (GstCudaFilterDevice * device, GstCaps * caps,
    guint * size, guint min, guint max)
{
  return NULL;
}

gboolean
gst_cuda_filter_device_adopt_pool (GstCudaFilterDevice * device,
    GstBufferPool * pool)
{
  return FALSE;
}

GstAllocator *
gst_cuda_filter_device_new_host_allocator (GstCudaFilterDevice * device)
{
  return NULL;
}
