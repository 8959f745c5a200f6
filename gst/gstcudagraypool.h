/* A pool of grey frames in GStreamer's CUDA memory; see gstcudagraypool.c. */
#ifndef GST_CUDA_GRAY_POOL_H
#define GST_CUDA_GRAY_POOL_H

#include "gstcudacompat.h"

G_BEGIN_DECLS

G_DECLARE_FINAL_TYPE (GstCudaGrayPool, gst_cuda_gray_pool, GST, CUDA_GRAY_POOL,
    GstBufferPool)

GstBufferPool *gst_cuda_gray_pool_new (GstCudaContext * context);

/* The context of the pool; stays the pool's. */
GstCudaContext *gst_cuda_gray_pool_get_context (GstCudaGrayPool * self);

G_END_DECLS

#endif
