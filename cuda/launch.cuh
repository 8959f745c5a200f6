/*
 * Launches kernels so that each starts up while the one before it in the
 * stream ends ("programmatic dependent launch"): between the short kernels of
 * a chain of elements that saves more than a microsecond each.
 *
 * A kernel that `launch` starts calls kernel_begin before it touches global
 * memory, in every thread; then all that came before has ended, as without it.
 *
 * The emulation of tests/emulate has its own version of this file.
 */
#ifndef IMG_LAUNCH_CUH
#define IMG_LAUNCH_CUH

#include <cuda_runtime.h>

#define LAUNCH_MAX_DEVICES 64

/* Lets the kernel behind this one start: its blocks take the place of those
 * of this one that have ended. */
static __device__ __forceinline__ void
start_next_kernel (void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Waits until the kernel before has ended and its results can be seen. */
static __device__ __forceinline__ void
wait_for_kernel_before (void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

static __device__ __forceinline__ void
kernel_begin (void)
{
  start_next_kernel ();
  wait_for_kernel_before ();
}

/* Whether the code of `kernel` that runs on the current device has the two
 * instructions; it has not if it was made for an older GPU. */
template <typename Kernel>
static bool
can_start_early (Kernel *kernel)
{
  cudaFuncAttributes attributes = {};

  return cudaFuncGetAttributes (&attributes, kernel) == cudaSuccess
         && attributes.ptxVersion >= 90;
}

/* The same, asked once for each device: all kernels are made for the same
 * GPUs. */
template <typename Kernel>
static bool
starts_early (Kernel *kernel)
{
  static signed char known[LAUNCH_MAX_DEVICES]; /* 1: yes, -1: no */
  int device = 0;

  if (cudaGetDevice (&device) != cudaSuccess || device >= LAUNCH_MAX_DEVICES)
    return false;
  if (known[device] == 0)
    known[device] = can_start_early (kernel) ? 1 : -1;
  return known[device] > 0;
}

/* The `shared` bytes of a launch, aligned to 16. */
template <typename T>
static __device__ __forceinline__ T *
dynamic_shared (void)
{
  extern __shared__ __align__ (16) unsigned char launch_shared[];

  return (T *)launch_shared;
}

/* Launches a kernel, which calls kernel_begin, with `shared` bytes of dynamic
 * shared memory. Errors are those of cudaGetLastError. */
template <typename... Parameters>
static void
launch (void (*kernel) (Parameters...), dim3 grid, dim3 block, size_t shared,
    cudaStream_t stream, const Parameters &...parameters)
{
  cudaLaunchAttribute attribute = {};
  cudaLaunchConfig_t config = {};

  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = starts_early (kernel);
  cudaLaunchKernelEx (&config, kernel, parameters...);
}

#endif
