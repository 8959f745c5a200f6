/*
 * GStreamer's CUDA library, and all that differs between its versions: before
 * 1.24 there is no GstCudaStream, frames carry none, and everybody works on
 * the default stream.
 */
#ifndef GST_CUDA_COMPAT_H
#define GST_CUDA_COMPAT_H

#define GST_USE_UNSTABLE_API

#include <gst/gst.h>

#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#if GST_CHECK_VERSION (1, 24, 0)
#include <gst/cuda/gstcudastream.h>

#define GST_CUDA_COMPAT_HAS_STREAMS TRUE

static inline GstMemory *
gst_cuda_compat_alloc (GstCudaAllocator * allocator, GstCudaContext * context,
    GstCudaStream * stream, const GstVideoInfo * info)
{
  return gst_cuda_allocator_alloc (allocator, context, stream, info);
}

/* Nothing to do; see below. */
static inline void
gst_cuda_compat_fix_layout (GstBuffer * buffer)
{
}

/* The next reader, or the end of the memory, must wait for its stream. */
static inline void
gst_cuda_compat_set_need_sync (GstMemory * mem)
{
  GST_MINI_OBJECT_FLAG_SET (mem, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC);
}

#else

typedef struct _GstCudaStream GstCudaStream;

#define GST_CUDA_COMPAT_HAS_STREAMS FALSE
#define gst_cuda_stream_new(context) NULL
#define gst_cuda_stream_get_handle(stream) NULL
#define gst_cuda_stream_ref(stream) (stream)
#define gst_clear_cuda_stream(stream) (*(stream) = NULL)
#define gst_cuda_memory_get_stream(mem) NULL
#define gst_buffer_pool_config_get_cuda_stream(config) NULL
#define gst_buffer_pool_config_set_cuda_stream(config, stream) \
  G_STMT_START { } G_STMT_END

static inline GstMemory *
gst_cuda_compat_alloc (GstCudaAllocator * allocator, GstCudaContext * context,
    GstCudaStream * stream, const GstVideoInfo * info)
{
  return gst_cuda_allocator_alloc (allocator, context, info);
}

static inline void
gst_cuda_compat_set_need_sync (GstMemory * mem)
{
}

/* For a buffer about to be written. This version puts the third plane of 4:2:0
 * at half the height, so for odd heights in the middle of a row, where its own
 * copy to system memory does not look; the next whole row is still inside. */
static inline void
gst_cuda_compat_fix_layout (GstBuffer * buffer)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  const GstVideoFormatInfo *info =
      meta ? gst_video_format_get_info (meta->format) : NULL;

  if (info && info->n_planes == 3 && info->h_sub[1] == 1)
    meta->offset[2] = meta->offset[1] + meta->stride[1]
        * ((gsize) (meta->height + 1) / 2);
}

#endif
#endif
