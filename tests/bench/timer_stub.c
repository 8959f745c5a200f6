/* The GPU's timer in a build without CUDA. */
#include "bench_timer.h"

static bool
open_stub (BenchMachine *machine, ImgError *error)
{
  return img_fail (error, IMG_ERROR_NO_DEVICE, "built without CUDA");
}

const BenchTimer bench_timer_cuda = { open_stub, NULL, NULL };
