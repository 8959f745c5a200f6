/*
 * Grey frames in device memory. GStreamer's CUDA allocator knows no grey
 * format, so each frame is allocated as BGRA of a quarter of its row bytes,
 * and the GstVideoMeta says what it really is.
 */
#include "gstcudagraypool.h"

struct _GstCudaGrayPool {
  GstBufferPool parent;

  GstCudaContext *context;
  GstAllocator *allocator;
  GstCudaStream *stream;
  GstVideoInfo info;    /* of the grey frames */
  GstVideoInfo carrier; /* of the format that the allocator knows */
};

G_DEFINE_TYPE (GstCudaGrayPool, gst_cuda_gray_pool, GST_TYPE_BUFFER_POOL);

static const gchar **
gst_cuda_gray_pool_get_options (GstBufferPool * pool)
{
  static const gchar *options[] = { GST_BUFFER_POOL_OPTION_VIDEO_META, NULL };

  return options;
}

static GstMemory *
gst_cuda_gray_pool_alloc_memory (GstCudaGrayPool * self)
{
  return gst_cuda_compat_alloc ((GstCudaAllocator *) self->allocator,
      self->context, self->stream, &self->carrier);
}

static gboolean
gst_cuda_gray_pool_set_config (GstBufferPool * pool, GstStructure * config)
{
  GstCudaGrayPool *self = GST_CUDA_GRAY_POOL (pool);
  guint min, max, row_bytes;
  GstCaps *caps = NULL;
  GstMemory *mem;

  if (!gst_buffer_pool_config_get_params (config, &caps, NULL, &min, &max)
      || !caps || !gst_video_info_from_caps (&self->info, caps))
    return FALSE;
  row_bytes = GST_VIDEO_INFO_WIDTH (&self->info)
      * GST_VIDEO_INFO_COMP_PSTRIDE (&self->info, 0);
  gst_video_info_set_format (&self->carrier, GST_VIDEO_FORMAT_BGRA,
      (row_bytes + 3) / 4, GST_VIDEO_INFO_HEIGHT (&self->info));
  gst_clear_cuda_stream (&self->stream);
  self->stream = gst_buffer_pool_config_get_cuda_stream (config);

  /* only the allocation tells the pitch, and so the size */
  mem = gst_cuda_gray_pool_alloc_memory (self);
  if (!mem)
    return FALSE;
  gst_buffer_pool_config_set_params (config, caps,
      (guint) GST_CUDA_MEMORY_CAST (mem)->info.size, min, max);
  gst_memory_unref (mem);

  return GST_BUFFER_POOL_CLASS (gst_cuda_gray_pool_parent_class)->set_config
      (pool, config);
}

static GstFlowReturn
gst_cuda_gray_pool_alloc_buffer (GstBufferPool * pool, GstBuffer ** buffer,
    GstBufferPoolAcquireParams * params)
{
  GstCudaGrayPool *self = GST_CUDA_GRAY_POOL (pool);
  GstMemory *mem = gst_cuda_gray_pool_alloc_memory (self);
  GstCudaMemory *cuda_mem = GST_CUDA_MEMORY_CAST (mem);

  if (!mem)
    return GST_FLOW_ERROR;
  *buffer = gst_buffer_new ();
  gst_buffer_append_memory (*buffer, mem);
  gst_buffer_add_video_meta_full (*buffer, GST_VIDEO_FRAME_FLAG_NONE,
      GST_VIDEO_INFO_FORMAT (&self->info), GST_VIDEO_INFO_WIDTH (&self->info),
      GST_VIDEO_INFO_HEIGHT (&self->info), 1, cuda_mem->info.offset,
      cuda_mem->info.stride);
  return GST_FLOW_OK;
}

static void
gst_cuda_gray_pool_finalize (GObject * object)
{
  GstCudaGrayPool *self = GST_CUDA_GRAY_POOL (object);

  gst_clear_cuda_stream (&self->stream);
  gst_clear_object (&self->allocator);
  gst_clear_object (&self->context);
  G_OBJECT_CLASS (gst_cuda_gray_pool_parent_class)->finalize (object);
}

static void
gst_cuda_gray_pool_class_init (GstCudaGrayPoolClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstBufferPoolClass *pool_class = GST_BUFFER_POOL_CLASS (klass);

  object_class->finalize = gst_cuda_gray_pool_finalize;
  pool_class->get_options = gst_cuda_gray_pool_get_options;
  pool_class->set_config = gst_cuda_gray_pool_set_config;
  pool_class->alloc_buffer = gst_cuda_gray_pool_alloc_buffer;
}

static void
gst_cuda_gray_pool_init (GstCudaGrayPool * self)
{
}

GstBufferPool *
gst_cuda_gray_pool_new (GstCudaContext * context)
{
  GstCudaGrayPool *self = g_object_new (gst_cuda_gray_pool_get_type (), NULL);

  gst_object_ref_sink (self);
  gst_cuda_memory_init_once ();
  self->allocator = gst_allocator_find (GST_CUDA_MEMORY_TYPE_NAME);
  self->context = gst_object_ref (context);
  return GST_BUFFER_POOL (self);
}

GstCudaContext *
gst_cuda_gray_pool_get_context (GstCudaGrayPool * self)
{
  return self->context;
}
