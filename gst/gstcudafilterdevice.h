/*
 * What the elements know of GStreamer's CUDA library: the context, the stream,
 * buffers and pools in device memory. In a build without CUDA
 * gstcudafilterdevice-stub.c answers instead, so no caller has an #ifdef.
 *
 * One device belongs to one element. Unless said otherwise the functions are
 * called from its streaming thread or while it is stopped.
 */
#ifndef GST_CUDA_FILTER_DEVICE_H
#define GST_CUDA_FILTER_DEVICE_H

#include <gst/gst.h>
#include <gst/video/video.h>

#include "operation.h"

G_BEGIN_DECLS

typedef struct _GstCudaFilterDevice GstCudaFilterDevice;

GstCudaFilterDevice *gst_cuda_filter_device_new (GstElement * element);
void gst_cuda_filter_device_free (GstCudaFilterDevice * device);

/* Says in one sentence whether GPU `device_id` (-1: any) can be used, and why
 * not. The caller frees `text`. Makes no context. */
gboolean gst_cuda_filter_device_look (gint device_id, gchar ** text);

/* Takes a context from the neighbours, the application or a new one on GPU
 * `device_id` (-1: any), and checks that the kernels run in it. */
gboolean gst_cuda_filter_device_open (GstCudaFilterDevice * device,
    gint device_id, ImgError * error);
void gst_cuda_filter_device_close (GstCudaFilterDevice * device);

/* "GPU 0 (NVIDIA H200)"; the caller frees it. Open devices only. */
gchar *gst_cuda_filter_device_describe (GstCudaFilterDevice * device);

/* For GstElementClass.set_context and context queries; any thread. */
void gst_cuda_filter_device_set_context (GstCudaFilterDevice * device,
    GstContext * context, gint device_id);
gboolean gst_cuda_filter_device_answer_query (GstCudaFilterDevice * device,
    GstQuery * query);

/* Makes the context current in this thread, and ends that. Calls nest. */
gboolean gst_cuda_filter_device_push (GstCudaFilterDevice * device);
void gst_cuda_filter_device_pop (GstCudaFilterDevice * device);

/* The stream on which the element queues its work. */
ImgStream gst_cuda_filter_device_get_stream (GstCudaFilterDevice * device);

/* True if `buffer` lies in device memory of the context in use. */
gboolean gst_cuda_filter_device_owns (GstCudaFilterDevice * device,
    GstBuffer * buffer);

/* True if `buffer` lies in device memory of another context that the element
 * should take over. Then follow () takes it; nothing made in the old context
 * may be left. */
gboolean gst_cuda_filter_device_should_follow (GstCudaFilterDevice * device,
    GstBuffer * buffer, gint device_id);
void gst_cuda_filter_device_follow (GstCudaFilterDevice * device,
    GstBuffer * buffer);

/* Maps a buffer: in device memory if it lies there (see owns ()), else in host
 * memory. */
gboolean gst_cuda_filter_device_map (GstCudaFilterDevice * device,
    GstVideoFrame * frame, const GstVideoInfo * info, GstBuffer * buffer,
    GstMapFlags flags);

/* Before work on an owned buffer: orders it after the work that wrote it. */
gboolean gst_cuda_filter_device_begin (GstCudaFilterDevice * device,
    GstBuffer * buffer, ImgError * error);

/* After work on an owned buffer was queued: orders whoever uses the buffer
 * next after it; by waiting only if the buffer carries no stream and was
 * written. */
gboolean gst_cuda_filter_device_end (GstCudaFilterDevice * device,
    GstBuffer * buffer, gboolean written, ImgError * error);

/* A pool of frames in device memory, with a VideoMeta each; not active. Sets
 * the size of a buffer. NULL: no memory. */
GstBufferPool *gst_cuda_filter_device_new_pool (GstCudaFilterDevice * device,
    GstCaps * caps, guint * size, guint min, guint max);

/* True if the pool gives device memory of the context in use. Then the element
 * also works on the pool's stream from now on, if it has one. */
gboolean gst_cuda_filter_device_adopt_pool (GstCudaFilterDevice * device,
    GstBufferPool * pool);

/* An allocator of page-locked host memory. */
GstAllocator *gst_cuda_filter_device_new_host_allocator (GstCudaFilterDevice *
    device);

G_END_DECLS

#endif
