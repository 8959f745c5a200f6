/* gstcudafilterdevice.h on GStreamer's CUDA library. */
#include "gstcudafilterdevice.h"

#include "device.h"
#include "gstcudacompat.h"
#include "gstcudagraypool.h"
#include "gstcudahostallocator.h"

GST_DEBUG_CATEGORY_STATIC (gst_cuda_filter_device_debug);
#define GST_CAT_DEFAULT gst_cuda_filter_device_debug

struct _GstCudaFilterDevice {
  GstElement *element;

  /* Taken for the pointer only, never while a neighbour is asked, so that two
   * neighbours that ask each other cannot wait for each other. */
  GMutex lock;
  GstCudaContext *context;

  GstCudaStream *stream;
};

GstCudaFilterDevice *
gst_cuda_filter_device_new (GstElement * element)
{
  GstCudaFilterDevice *device = g_new0 (GstCudaFilterDevice, 1);

  GST_DEBUG_CATEGORY_INIT (gst_cuda_filter_device_debug, "cudafilterdevice", 0,
      "device side of the CUDA filters");
  device->element = element;
  g_mutex_init (&device->lock);
  return device;
}

void
gst_cuda_filter_device_free (GstCudaFilterDevice * device)
{
  gst_cuda_filter_device_close (device);
  g_mutex_clear (&device->lock);
  g_free (device);
}

/* context */

static gchar *
gst_cuda_filter_device_name (guint id)
{
  gchar name[128] = "unknown";
  CUdevice handle;

  if (CuDeviceGet (&handle, (int) id) == CUDA_SUCCESS)
    CuDeviceGetName (name, sizeof (name), handle);
  return g_strdup_printf ("GPU %u (%s)", id, name);
}

gboolean
gst_cuda_filter_device_look (gint device_id, gchar ** text)
{
  const char *reason = NULL;
  CUresult result;
  int n = 0;

  if (!gst_cuda_load_library ()) {
    *text = g_strdup ("no NVIDIA driver found (libcuda.so.1 cannot be loaded)");
    return FALSE;
  }
  result = CuInit (0);
  if (result == CUDA_SUCCESS)
    result = CuDeviceGetCount (&n);
  if (result != CUDA_SUCCESS || n == 0) {
    CuGetErrorString (result == CUDA_SUCCESS ? CUDA_ERROR_NO_DEVICE : result,
        &reason);
    *text = g_strdup_printf ("the NVIDIA driver finds no usable GPU (%s)",
        reason ? reason : "unknown error");
    return FALSE;
  }
  if (device_id >= n) {
    *text = g_strdup_printf ("there is no GPU with cuda-device-id %d: "
        "this machine has %d, numbered from 0", device_id, n);
    return FALSE;
  }
  *text = gst_cuda_filter_device_name (MAX (device_id, 0));
  return TRUE;
}

/* Drops a context that was given before `cuda-device-id` named another GPU. */
static void
gst_cuda_filter_device_drop_other (GstCudaFilterDevice * device,
    gint device_id)
{
  guint id = 0;

  if (!device->context || device_id < 0)
    return;
  g_object_get (device->context, "cuda-device-id", &id, NULL);
  if (id != (guint) device_id)
    gst_cuda_filter_device_close (device);
}

gboolean
gst_cuda_filter_device_open (GstCudaFilterDevice * device, gint device_id,
    ImgError * error)
{
  gchar *text;
  gboolean ok;

  ok = gst_cuda_filter_device_look (device_id, &text);
  if (!ok)
    img_fail (error, IMG_ERROR_NO_DEVICE, "%s", text);
  g_free (text);
  if (!ok)
    return FALSE;
  gst_cuda_memory_init_once ();
  gst_cuda_filter_device_drop_other (device, device_id);
  /* sets device->context itself, or through set_context () */
  if (!gst_cuda_ensure_element_context (device->element, device_id,
          &device->context))
    return img_fail (error, IMG_ERROR_NO_DEVICE,
        "no CUDA context can be made on GPU %d (is its memory full, or the GPU "
        "in exclusive use?)", MAX (device_id, 0));
  if (!gst_cuda_filter_device_push (device)) {
    gst_cuda_filter_device_close (device);
    return img_fail (error, IMG_ERROR_DEVICE, "the CUDA context is unusable");
  }
  ok = img_cuda_probe (error);
  gst_cuda_filter_device_pop (device);
  if (ok)
    device->stream = gst_cuda_stream_new (device->context);
  else
    gst_cuda_filter_device_close (device);
  return ok;
}

/* False if another part of the process has destroyed the context. */
static gboolean
gst_cuda_filter_device_is_alive (GstCudaFilterDevice * device)
{
  return device->context
      && img_cuda_context_is_alive (gst_cuda_context_get_handle
      (device->context));
}

void
gst_cuda_filter_device_close (GstCudaFilterDevice * device)
{
  /* the driver crashes on the stream of a context that is gone: that leaks */
  if (device->context && !gst_cuda_filter_device_is_alive (device))
    device->stream = NULL;
  gst_clear_cuda_stream (&device->stream);
  g_mutex_lock (&device->lock);
  gst_clear_object (&device->context);
  g_mutex_unlock (&device->lock);
}

gchar *
gst_cuda_filter_device_describe (GstCudaFilterDevice * device)
{
  guint id = 0;

  g_object_get (device->context, "cuda-device-id", &id, NULL);
  return gst_cuda_filter_device_name (id);
}

void
gst_cuda_filter_device_set_context (GstCudaFilterDevice * device,
    GstContext * context, gint device_id)
{
  g_mutex_lock (&device->lock);
  gst_cuda_handle_set_context (device->element, context, device_id,
      &device->context);
  g_mutex_unlock (&device->lock);
}

gboolean
gst_cuda_filter_device_answer_query (GstCudaFilterDevice * device,
    GstQuery * query)
{
  GstCudaContext *context;
  gboolean answered;

  g_mutex_lock (&device->lock);
  context = device->context ? gst_object_ref (device->context) : NULL;
  g_mutex_unlock (&device->lock);
  answered = gst_cuda_handle_context_query (device->element, query, context);
  gst_clear_object (&context);
  return answered;
}

gboolean
gst_cuda_filter_device_push (GstCudaFilterDevice * device)
{
  if (!gst_cuda_filter_device_is_alive (device)
      || !gst_cuda_context_push (device->context))
    return FALSE;
  img_cuda_clear_error ();
  return TRUE;
}

void
gst_cuda_filter_device_pop (GstCudaFilterDevice * device)
{
  gst_cuda_context_pop (NULL);
}

ImgStream
gst_cuda_filter_device_get_stream (GstCudaFilterDevice * device)
{
  return gst_cuda_stream_get_handle (device->stream);
}

/* buffers */

/* The device memory of `buffer`, or NULL. */
static GstCudaMemory *
gst_cuda_filter_device_memory (GstBuffer * buffer)
{
  GstMemory *mem = gst_buffer_n_memory (buffer) > 0
      ? gst_buffer_peek_memory (buffer, 0) : NULL;

  return gst_is_cuda_memory (mem) ? GST_CUDA_MEMORY_CAST (mem) : NULL;
}

gboolean
gst_cuda_filter_device_owns (GstCudaFilterDevice * device, GstBuffer * buffer)
{
  GstCudaMemory *mem = gst_cuda_filter_device_memory (buffer);

  return mem && mem->context == device->context;
}

gboolean
gst_cuda_filter_device_should_follow (GstCudaFilterDevice * device,
    GstBuffer * buffer, gint device_id)
{
  GstCudaMemory *mem = gst_cuda_filter_device_memory (buffer);
  guint id = 0;

  if (!mem || mem->context == device->context)
    return FALSE;
  g_object_get (mem->context, "cuda-device-id", &id, NULL);
  return device_id < 0 || id == (guint) device_id;
}

void
gst_cuda_filter_device_follow (GstCudaFilterDevice * device,
    GstBuffer * buffer)
{
  GstCudaContext *context =
      gst_object_ref (gst_cuda_filter_device_memory (buffer)->context);

  GST_INFO_OBJECT (device->element, "following the context %" GST_PTR_FORMAT,
      context);
  gst_cuda_filter_device_close (device);
  g_mutex_lock (&device->lock);
  device->context = context;
  g_mutex_unlock (&device->lock);
  device->stream = gst_cuda_stream_new (context);
}

gboolean
gst_cuda_filter_device_map (GstCudaFilterDevice * device,
    GstVideoFrame * frame, const GstVideoInfo * info, GstBuffer * buffer,
    GstMapFlags flags)
{
  if (gst_cuda_filter_device_owns (device, buffer)) {
    if (!(flags & GST_MAP_READ))
      gst_cuda_compat_fix_layout (buffer);
    flags |= GST_MAP_CUDA;
  }
  return gst_video_frame_map (frame, info, buffer,
      flags | GST_VIDEO_FRAME_MAP_FLAG_NO_REF);
}

gboolean
gst_cuda_filter_device_begin (GstCudaFilterDevice * device, GstBuffer * buffer,
    ImgError * error)
{
  GstCudaStream *stream =
      gst_cuda_memory_get_stream (gst_cuda_filter_device_memory (buffer));

  if (stream == device->stream)
    return TRUE;
  return img_cuda_wait (gst_cuda_filter_device_get_stream (device),
      gst_cuda_stream_get_handle (stream), error);
}

gboolean
gst_cuda_filter_device_end (GstCudaFilterDevice * device, GstBuffer * buffer,
    gboolean written, ImgError * error)
{
  GstCudaMemory *mem = gst_cuda_filter_device_memory (buffer);
  GstCudaStream *stream = gst_cuda_memory_get_stream (mem);
  ImgStream ours = gst_cuda_filter_device_get_stream (device);

  /* nobody can wait for memory without a stream but us, here */
  if (!stream)
    return written || ours ? img_cuda_synchronize (ours, error) : TRUE;
  /* writing has set the flag that says so already, when it was mapped */
  if (stream == device->stream)
    return TRUE;
  gst_cuda_compat_set_need_sync (GST_MEMORY_CAST (mem));
  return img_cuda_wait (gst_cuda_stream_get_handle (stream), ours, error);
}

/* pools */

GstBufferPool *
gst_cuda_filter_device_new_pool (GstCudaFilterDevice * device, GstCaps * caps,
    guint * size, guint min, guint max)
{
  GstBufferPool *pool;
  GstStructure *config;
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, caps))
    return NULL;
  pool = GST_VIDEO_INFO_IS_GRAY (&info)
      ? gst_cuda_gray_pool_new (device->context)
      : gst_cuda_buffer_pool_new (device->context);
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_config_set_params (config, caps,
      GST_VIDEO_INFO_SIZE (&info), min, max);
  if (device->stream)
    gst_buffer_pool_config_set_cuda_stream (config, device->stream);
  if (!gst_buffer_pool_set_config (pool, config)) {
    gst_object_unref (pool);
    return NULL;
  }
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_get_params (config, NULL, size, NULL, NULL);
  gst_structure_free (config);
  return pool;
}

/* The context of `pool`, or NULL if it does not give device memory. */
static GstCudaContext *
gst_cuda_filter_device_pool_context (GstBufferPool * pool)
{
  if (GST_IS_CUDA_BUFFER_POOL (pool))
    return GST_CUDA_BUFFER_POOL (pool)->context;
  if (GST_IS_CUDA_GRAY_POOL (pool))
    return gst_cuda_gray_pool_get_context (GST_CUDA_GRAY_POOL (pool));
  return NULL;
}

gboolean
gst_cuda_filter_device_adopt_pool (GstCudaFilterDevice * device,
    GstBufferPool * pool)
{
  GstStructure *config;
  GstCudaStream *stream;
  ImgError error;

  if (gst_cuda_filter_device_pool_context (pool) != device->context)
    return FALSE;
  config = gst_buffer_pool_get_config (pool);
  stream = gst_buffer_pool_config_get_cuda_stream (config);
  gst_structure_free (config);
  if (!stream || stream == device->stream) {
    gst_clear_cuda_stream (&stream);
    return TRUE;
  }
  /* what the operation keeps between frames is ordered by the old stream */
  if (gst_cuda_filter_device_push (device)) {
    img_cuda_wait (gst_cuda_stream_get_handle (stream),
        gst_cuda_filter_device_get_stream (device), &error);
    gst_cuda_filter_device_pop (device);
  }
  gst_clear_cuda_stream (&device->stream);
  device->stream = stream;
  return TRUE;
}

GstAllocator *
gst_cuda_filter_device_new_host_allocator (GstCudaFilterDevice * device)
{
  return gst_cuda_host_allocator_new (device->context);
}
