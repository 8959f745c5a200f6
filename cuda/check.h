/* CUDA runtime errors as ImgError. For the files that call the runtime. */
#ifndef IMG_CHECK_H
#define IMG_CHECK_H

#include <cuda_runtime.h>

#include "operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* True if `result` is success; else fills `error` with the runtime's words
 * after `what` ("launching sobel") and clears the runtime's last error. */
bool img_cuda_check (cudaError_t result, const char *what, ImgError *error);

/* Ends a run function after its kernel launches: their error, if any. */
static inline bool
img_cuda_launched (const char *what, ImgError *error)
{
  return img_cuda_check (cudaGetLastError (), what, error);
}

#ifdef __cplusplus
}
#endif
#endif
