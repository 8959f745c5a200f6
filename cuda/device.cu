/* device.h on the CUDA runtime. */
#include "device.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdlib.h>

#include "check.h"

/* Asked for its attributes to learn whether this build has code for a GPU. */
__global__ void
probe_kernel (void)
{
}

extern "C" bool
img_cuda_check (cudaError_t result, const char *what, ImgError *error)
{
  if (result == cudaSuccess)
    return true;
  cudaGetLastError ();
  return img_fail (error,
      result == cudaErrorMemoryAllocation ? IMG_ERROR_NO_MEMORY
                                          : IMG_ERROR_DEVICE,
      "%s: %s (%s)", what, cudaGetErrorString (result),
      cudaGetErrorName (result));
}

extern "C" bool
img_cuda_built (void)
{
  return true;
}

extern "C" bool
img_cuda_probe (ImgError *error)
{
  cudaFuncAttributes attributes;
  cudaDeviceProp properties;
  int device = 0;
  cudaError_t result = cudaFuncGetAttributes (&attributes, probe_kernel);

  if (result != cudaErrorNoKernelImageForDevice
      && result != cudaErrorInvalidDeviceFunction)
    return img_cuda_check (result, "looking for a usable GPU", error);
  cudaGetLastError ();
  cudaGetDevice (&device);
  if (!img_cuda_check (cudaGetDeviceProperties (&properties, device),
          "reading the GPU's properties", error))
    return false;
  return img_fail (error, IMG_ERROR_NO_DEVICE,
      "this build has no code for %s (compute capability %d.%d); rebuild with "
      "-Dgpu_arch=sm_%d%d",
      properties.name, properties.major, properties.minor, properties.major,
      properties.minor);
}

/* The driver is loaded by then, and stays. */
extern "C" bool
img_cuda_context_is_alive (void *context)
{
  typedef CUresult (*Ask) (CUcontext, unsigned *);
  static Ask ask;
  unsigned version;

  if (!ask) {
    void *driver = dlopen ("libcuda.so.1", RTLD_NOW);

    ask = driver ? (Ask)dlsym (driver, "cuCtxGetApiVersion") : NULL;
  }
  return ask && ask ((CUcontext)context, &version) == CUDA_SUCCESS;
}

/* The runtime knows no negative strides: then the rows go one by one. */
static cudaError_t
copy_plane (const ImgPlane *to, const ImgPlane *from, size_t row_bytes,
    cudaStream_t stream)
{
  cudaError_t result = cudaSuccess;

  if (to->stride >= 0 && from->stride >= 0)
    return cudaMemcpy2DAsync (to->data, to->stride, from->data, from->stride,
        row_bytes, from->height, cudaMemcpyDefault, stream);
  for (int y = 0; y < from->height && result == cudaSuccess; y++)
    result = cudaMemcpyAsync ((char *)to->data + y * to->stride,
        (const char *)from->data + y * from->stride, row_bytes,
        cudaMemcpyDefault, stream);
  return result;
}

extern "C" bool
img_cuda_copy (
    const ImgView *dst, const ImgView *src, ImgStream stream, ImgError *error)
{
  for (int i = 0; i < src->n_planes; i++) {
    const ImgPlane *from = &src->plane[i];

    if (!img_cuda_check (copy_plane (&dst->plane[i], from,
                             img_plane_row_bytes (src, from), stream),
            "copying a frame", error))
      return false;
  }
  return true;
}

extern "C" bool
img_cuda_synchronize (ImgStream stream, ImgError *error)
{
  return img_cuda_check (
      cudaStreamSynchronize (stream), "waiting for the GPU", error);
}

extern "C" bool
img_cuda_wait (ImgStream waiter, ImgStream other, ImgError *error)
{
  cudaEvent_t event;
  cudaError_t result;

  result = cudaEventCreateWithFlags (&event, cudaEventDisableTiming);
  if (result != cudaSuccess)
    return img_cuda_check (result, "ordering two streams", error);
  result = cudaEventRecord (event, other);
  if (result == cudaSuccess)
    result = cudaStreamWaitEvent (waiter, event, 0);
  cudaEventDestroy (event); /* freed by the driver once it has happened */
  return img_cuda_check (result, "ordering two streams", error);
}

extern "C" bool
img_cuda_event_record (ImgEvent *event, ImgStream stream, ImgError *error)
{
  cudaError_t result = cudaSuccess;

  if (!*event)
    result = cudaEventCreateWithFlags (event, cudaEventDisableTiming);
  if (result == cudaSuccess)
    result = cudaEventRecord (*event, stream);
  return img_cuda_check (result, "marking the end of a copy", error);
}

extern "C" bool
img_cuda_event_is_past (ImgEvent event)
{
  const cudaError_t result = cudaEventQuery (event);

  if (result != cudaSuccess)
    cudaGetLastError (); /* not to be taken for that of a later launch */
  return result != cudaErrorNotReady;
}

extern "C" bool
img_cuda_event_wait (ImgEvent event, ImgError *error)
{
  return img_cuda_check (
      cudaEventSynchronize (event), "waiting for a copy", error);
}

extern "C" void
img_cuda_event_free (ImgEvent event)
{
  if (event)
    cudaEventDestroy (event);
}

extern "C" bool
img_cuda_host_is_locked (const void *data)
{
  cudaPointerAttributes attributes;

  if (cudaPointerGetAttributes (&attributes, data) != cudaSuccess) {
    cudaGetLastError ();
    return true;
  }
  return attributes.type != cudaMemoryTypeUnregistered;
}

extern "C" void *
img_cuda_alloc (size_t size, ImgError *error)
{
  void *data = NULL;

  if (!img_cuda_check (
          cudaMalloc (&data, size), "allocating device memory", error))
    return NULL;
  return data;
}

extern "C" void
img_cuda_free (void *data)
{
  cudaFree (data);
}

extern "C" void *
img_cuda_host_alloc (size_t size, ImgError *error)
{
  const size_t page = 4096, rounded = (size + page - 1) / page * page;
  void *data;

  if (posix_memalign (&data, page, rounded) != 0) {
    img_fail (error, IMG_ERROR_NO_MEMORY, "no memory for %zu bytes", size);
    return NULL;
  }
  if (cudaHostRegister (
          data, rounded, cudaHostRegisterPortable | cudaHostRegisterMapped)
      != cudaSuccess)
    cudaGetLastError ();
  return data;
}

extern "C" void
img_cuda_host_free (void *data)
{
  if (data && cudaHostUnregister (data) != cudaSuccess)
    cudaGetLastError ();
  free (data);
}

extern "C" void
img_cuda_clear_error (void)
{
  cudaGetLastError ();
}
