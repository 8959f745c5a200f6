/* cufft-loader.h on kissfft: transforms of rows, one after the other. */
#include "cufft-loader.h"
#include "emulate.h"

#include <kissfft/kiss_fft.h>
#include <stdlib.h>
#include <vector>

namespace {

struct Plan {
  int n, batch;
  kiss_fft_cfg forward;
};

std::vector<Plan> plans;

cufftResult
plan_many (cufftHandle *handle, int rank, int *n, int *inembed, int istride,
    int idist, int *onembed, int ostride, int odist, cufftType type, int batch)
{
  if (rank != 1 || inembed || onembed || idist != *n || odist != *n
      || type != CUFFT_C2C)
    return CUFFT_INVALID_VALUE;
  plans.push_back ({ *n, batch, kiss_fft_alloc (*n, 0, NULL, NULL) });
  *handle = (cufftHandle)plans.size ();
  return CUFFT_SUCCESS;
}

cufftResult
set_stream (cufftHandle handle, cudaStream_t stream)
{
  return CUFFT_SUCCESS;
}

/* Queued as a copy is: a transform that a stream records is done later. */
cufftResult
exec_c2c (
    cufftHandle handle, cufftComplex *from, cufftComplex *to, int direction)
{
  const Plan plan = plans[handle - 1];

  if (direction != CUFFT_FORWARD)
    return CUFFT_INVALID_VALUE;
  emulate_queue ([=] {
    std::vector<kiss_fft_cpx> row (plan.n);

    for (int i = 0; i < plan.batch; i++) {
      kiss_fft (
          plan.forward, (kiss_fft_cpx *)from + (size_t)i * plan.n, row.data ());
      memcpy (to + (size_t)i * plan.n, row.data (), plan.n * sizeof (*to));
    }
  });
  return CUFFT_SUCCESS;
}

cufftResult
destroy (cufftHandle handle)
{
  kiss_fft_free (plans[handle - 1].forward);
  plans[handle - 1].forward = NULL;
  return CUFFT_SUCCESS;
}

const ImgCufft functions = { plan_many, set_stream, exec_c2c, destroy };

} // namespace

const ImgCufft *
img_cufft_load (ImgError *error)
{
  return &functions;
}

bool
img_cufft_check (cufftResult result, const char *what, ImgError *error)
{
  return result == CUFFT_SUCCESS
         || img_fail (
             error, IMG_ERROR_DEVICE, "%s: cuFFT error %d", what, (int)result);
}
