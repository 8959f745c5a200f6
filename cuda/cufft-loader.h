/* cuFFT, opened when it is first needed, so that nothing but fftmag depends on
 * it. */
#ifndef IMG_CUFFT_LOADER_H
#define IMG_CUFFT_LOADER_H

#include <cufft.h>

#include "operation.h"

/* The functions that are used of it. */
typedef struct {
  cufftResult (*plan_many) (cufftHandle *, int, int *, int *, int, int, int *,
      int, int, cufftType, int);
  cufftResult (*set_stream) (cufftHandle, cudaStream_t);
  cufftResult (*exec_c2c) (cufftHandle, cufftComplex *, cufftComplex *, int);
  cufftResult (*destroy) (cufftHandle);
} ImgCufft;

/* The library, which stays open; NULL, with the error, if there is none. May
 * be called from any thread. */
const ImgCufft *img_cufft_load (ImgError *error);

/* True if `result` is success; else fills `error`, after `what`. */
bool img_cufft_check (cufftResult result, const char *what, ImgError *error);

#endif
