/*
 * What a process asked of its GPU. libcuda_count.so, which the driver loads by
 * itself where CUDA_INJECTION64_PATH names it, counts through CUPTI; a program
 * may read the counts at any time (cuda_count_open), and every process prints
 * them when it ends if CUDA_COUNT_PRINT is set.
 */
#ifndef CUDA_COUNT_H
#define CUDA_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/* One a line: name, and what it counts. Copies of one call count once. */
#define CUDA_COUNTS(X) \
  X (kernels, "kernel launches") \
  X (copies_in, "copies host to device") \
  X (copies_out, "copies device to host") \
  X (copies_device, "copies device to device") \
  X (copies_blocking, "of these copies, calls that block the host") \
  X (bytes_in, "bytes host to device") \
  X (bytes_out, "bytes device to host") \
  X (bytes_device, "bytes device to device") \
  X (memsets, "memsets") \
  X (stream_syncs, "host waits for a stream") \
  X (event_syncs, "host waits for an event") \
  X (context_syncs, "host waits for a context") \
  X (device_allocs, "allocations of device memory") \
  X (host_allocs, "allocations of page-locked host memory") \
  X (gpu_ns, "nanoseconds of kernels, copies and memsets") \
  X (lost, "records that CUPTI dropped: if any, counts are too low")

typedef struct {
#define X(name, text) int64_t name;
  CUDA_COUNTS (X)
#undef X
} CudaCount;

/* Writes the counts so far. What the GPU has not finished may be missing. */
typedef void (*CudaCountRead) (CudaCount *count);

#define CUDA_COUNT_READ_SYMBOL "cuda_count_read"

/* The function that reads this process's counts, or NULL when the library has
 * not been loaded: before the driver's initialisation, or without a GPU. */
CudaCountRead cuda_count_open (void);

/* Makes sure that the driver will load `library`: starts the program anew with
 * the variable set, unless it is. Does not return then. */
void cuda_count_inject (const char *library, char **argv);

CudaCount cuda_count_difference (const CudaCount *after,
    const CudaCount *before);

#endif
