/* How a program comes to the counts of the injected library. */
#include "cuda_count.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#define VARIABLE "CUDA_INJECTION64_PATH"

CudaCountRead
cuda_count_open (void)
{
  const char *path = getenv (VARIABLE);
  void *library = path ? dlopen (path, RTLD_NOW | RTLD_NOLOAD) : NULL;

  return library ? (CudaCountRead) dlsym (library, CUDA_COUNT_READ_SYMBOL)
      : NULL;
}

void
cuda_count_inject (const char *library, char **argv)
{
  if (getenv (VARIABLE))
    return;
  setenv (VARIABLE, library, 1);
  execv ("/proc/self/exe", argv);
}

CudaCount
cuda_count_difference (const CudaCount *after, const CudaCount *before)
{
  CudaCount result;

#define X(name, text) result.name = after->name - before->name;
  CUDA_COUNTS (X)
#undef X
  return result;
}
