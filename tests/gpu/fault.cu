/* fault.h on the CUDA runtime. */
#include "fault.h"

#include <cuda_runtime.h>

#define MIB ((size_t)1 << 20)

__global__ void
write_to (int *address)
{
  *address = 1;
}

extern "C" size_t
fault_free_bytes (void)
{
  size_t free_bytes = 0, total = 0;

  return cudaMemGetInfo (&free_bytes, &total) == cudaSuccess ? free_bytes : 0;
}

extern "C" size_t
fault_take_memory (void)
{
  size_t taken = 0;
  void *data;

  for (size_t chunk = (size_t)1 << 36; chunk >= MIB; chunk /= 2)
    while (cudaMalloc (&data, chunk) == cudaSuccess)
      taken += chunk;
  cudaGetLastError ();
  return taken;
}

extern "C" int
fault_write_nowhere (void)
{
  write_to<<<1, 1>>> ((int *)256);
  return cudaGetLastError () == cudaSuccess;
}
