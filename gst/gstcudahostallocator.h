/* Page-locked host memory for frames; see gstcudahostallocator.c. */
#ifndef GST_CUDA_HOST_ALLOCATOR_H
#define GST_CUDA_HOST_ALLOCATOR_H

#include "gstcudacompat.h"

G_BEGIN_DECLS

G_DECLARE_FINAL_TYPE (GstCudaHostAllocator, gst_cuda_host_allocator, GST,
    CUDA_HOST_ALLOCATOR, GstAllocator)

GstAllocator *gst_cuda_host_allocator_new (GstCudaContext * context);

G_END_DECLS

#endif
