/*
 * cuFFT's real transform alone, from float to complex: what cudafftmag has to
 * do besides reading and writing a picture.
 *
 *   nvcc -shared -Xcompiler -fPIC -I cuda tests/bench/peers_cufft.cu -lcufft \
 *     -o BUILD/tests/bench/libbench_peers_cufft.so
 */
#include <cuda_runtime.h>
#include <cufft.h>
#include <stdlib.h>

#include "bench_peers.h"

#define N_BUFFERS 4 /* in rotation: at 4K, 265 MB */

typedef struct {
  cufftHandle plan;
  float *in[N_BUFFERS];
  cufftComplex *out[N_BUFFERS];
  int next;
} State;

static void
release (void *state)
{
  State *self = (State *)state;

  if (!self)
    return;
  if (self->plan)
    cufftDestroy (self->plan);
  for (int i = 0; i < N_BUFFERS; i++) {
    cudaFree (self->in[i]);
    cudaFree (self->out[i]);
  }
  free (self);
}

/* Random values 0..255, as a picture has. */
static bool
allocate (State *self, size_t in_count, size_t out_count)
{
  float *host = (float *)malloc (in_count * sizeof (float));
  bool ok = host != NULL;

  for (size_t i = 0; ok && i < in_count; i++)
    host[i] = (float)(rand () & 255);
  for (int i = 0; ok && i < N_BUFFERS; i++)
    ok = cudaMalloc (&self->in[i], in_count * sizeof (float)) == cudaSuccess
         && cudaMalloc (&self->out[i], out_count * sizeof (cufftComplex))
                == cudaSuccess
         && cudaMemcpy (self->in[i], host, in_count * sizeof (float),
                cudaMemcpyHostToDevice)
                == cudaSuccess;
  free (host);
  return ok;
}

static bool
prepare (void **state, const ImgView *view, ImgStream stream)
{
  State *self = (State *)calloc (1, sizeof (State));
  size_t w = view->width, h = view->height;

  *state = self;
  return self && allocate (self, w * h, (w / 2 + 1) * h)
         && cufftPlan2d (&self->plan, view->height, view->width, CUFFT_R2C)
                == CUFFT_SUCCESS
         && cufftSetStream (self->plan, stream) == CUFFT_SUCCESS;
}

static bool
run (void *state, const ImgView *src, const ImgView *dst)
{
  State *self = (State *)state;
  int i = self->next;

  self->next = (i + 1) % N_BUFFERS;
  return cufftExecR2C (self->plan, self->in[i], self->out[i]) == CUFFT_SUCCESS;
}

extern "C" __attribute__ ((visibility ("default")))
const BenchPeer bench_peers[]
    = {
        { "fftmag", "cufftExecR2C", prepare, run, release },
        {},
      };
