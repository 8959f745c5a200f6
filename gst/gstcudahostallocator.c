/*
 * System memory that the GPU copies from and to at full speed, without a
 * staging copy of the driver: what the elements offer to neighbours that work
 * in system memory. To those it is ordinary memory.
 */
#include "gstcudahostallocator.h"

#include <stdlib.h>

#include "device.h"

struct _GstCudaHostAllocator {
  GstAllocator parent;

  GstCudaContext *context;
};

typedef struct {
  GstMemory mem;

  gpointer data;
} GstCudaHostMemory;

G_DEFINE_TYPE (GstCudaHostAllocator, gst_cuda_host_allocator,
    GST_TYPE_ALLOCATOR);

static GstMemory *
gst_cuda_host_allocator_alloc (GstAllocator * allocator, gsize size,
    GstAllocationParams * params)
{
  GstCudaHostAllocator *self = GST_CUDA_HOST_ALLOCATOR (allocator);
  gsize maxsize = size + params->prefix + params->padding;
  GstCudaHostMemory *mem;
  gpointer data;
  ImgError error;

  if (!gst_cuda_context_push (self->context))
    return NULL;
  data = img_cuda_host_alloc (maxsize, &error); /* aligned to a page */
  gst_cuda_context_pop (NULL);
  if (!data)
    return NULL;
  mem = g_new0 (GstCudaHostMemory, 1);
  mem->data = data;
  gst_memory_init (GST_MEMORY_CAST (mem), params->flags, allocator, NULL,
      maxsize, params->align, params->prefix, size);
  return GST_MEMORY_CAST (mem);
}

static void
gst_cuda_host_allocator_free (GstAllocator * allocator, GstMemory * memory)
{
  GstCudaHostAllocator *self = GST_CUDA_HOST_ALLOCATOR (allocator);
  GstCudaHostMemory *mem = (GstCudaHostMemory *) memory;

  if (!memory->parent && gst_cuda_context_push (self->context)) {
    img_cuda_host_free (mem->data);
    gst_cuda_context_pop (NULL);
  } else if (!memory->parent) {
    free (mem->data); /* the context is gone, and its lock with it */
  }
  g_free (mem);
}

static gpointer
gst_cuda_host_memory_map (GstMemory * memory, gsize maxsize, GstMapFlags flags)
{
  return ((GstCudaHostMemory *) memory)->data;
}

static void
gst_cuda_host_memory_unmap (GstMemory * memory)
{
}

static GstMemory *
gst_cuda_host_memory_share (GstMemory * memory, gssize offset, gssize size)
{
  GstCudaHostMemory *share = g_new0 (GstCudaHostMemory, 1);
  GstMemory *parent = memory->parent ? memory->parent : memory;

  if (size == -1)
    size = memory->size - offset;
  share->data = ((GstCudaHostMemory *) memory)->data;
  gst_memory_init (GST_MEMORY_CAST (share),
      GST_MINI_OBJECT_FLAGS (parent) | GST_MINI_OBJECT_FLAG_LOCK_READONLY,
      memory->allocator, parent, memory->maxsize, memory->align,
      memory->offset + offset, size);
  return GST_MEMORY_CAST (share);
}

static void
gst_cuda_host_allocator_finalize (GObject * object)
{
  gst_clear_object (&GST_CUDA_HOST_ALLOCATOR (object)->context);
  G_OBJECT_CLASS (gst_cuda_host_allocator_parent_class)->finalize (object);
}

static void
gst_cuda_host_allocator_class_init (GstCudaHostAllocatorClass * klass)
{
  GstAllocatorClass *allocator_class = GST_ALLOCATOR_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gst_cuda_host_allocator_finalize;
  allocator_class->alloc = gst_cuda_host_allocator_alloc;
  allocator_class->free = gst_cuda_host_allocator_free;
}

static void
gst_cuda_host_allocator_init (GstCudaHostAllocator * self)
{
  GstAllocator *allocator = GST_ALLOCATOR_CAST (self);

  allocator->mem_type = "CudaHostMemory";
  allocator->mem_map = gst_cuda_host_memory_map;
  allocator->mem_unmap = gst_cuda_host_memory_unmap;
  allocator->mem_share = gst_cuda_host_memory_share;
  /* copies, which gst_buffer_copy_deep makes, are ordinary system memory */
}

GstAllocator *
gst_cuda_host_allocator_new (GstCudaContext * context)
{
  GstCudaHostAllocator *self =
      g_object_new (gst_cuda_host_allocator_get_type (), NULL);

  gst_object_ref_sink (self);
  self->context = gst_object_ref (context);
  return GST_ALLOCATOR_CAST (self);
}
