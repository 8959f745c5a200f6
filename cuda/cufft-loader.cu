/* Finds and opens libcufft with dlopen. */
#include "cufft-loader.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static ImgCufft cufft;
static bool loaded;

/* CUDA 13 has version 12 of the library, CUDA 12 has 11, CUDA 11 has 10. */
static void *
open_library (void)
{
  static const char *const folders[] = { "", "/usr/local/cuda/lib64/" };
  static const char *const names[] = { "libcufft.so.12", "libcufft.so.11",
    "libcufft.so.10", "libcufft.so.13", "libcufft.so" };

  for (const char *folder : folders) {
    for (const char *name : names) {
      char path[64];
      void *library;

      snprintf (path, sizeof (path), "%s%s", folder, name);
      library = dlopen (path, RTLD_NOW | RTLD_LOCAL);
      if (library)
        return library;
    }
  }
  return NULL;
}

/* Sets `*function` to the symbol `name`; false if the library has none. */
template <typename Function>
static bool
find (void *library, const char *name, Function *function)
{
  *function = (Function)dlsym (library, name);
  return *function != NULL;
}

static void
load (void)
{
  void *library = open_library ();

  loaded = library && find (library, "cufftPlanMany", &cufft.plan_many)
           && find (library, "cufftSetStream", &cufft.set_stream)
           && find (library, "cufftExecC2C", &cufft.exec_c2c)
           && find (library, "cufftDestroy", &cufft.destroy);
}

const ImgCufft *
img_cufft_load (ImgError *error)
{
  pthread_once (&once, load);
  if (loaded)
    return &cufft;
  img_fail (error, IMG_ERROR_NO_DEVICE,
      "cuFFT not found: looked for libcufft.so.10 to .13 in the library path "
      "and in /usr/local/cuda/lib64; install it (package "
      "libcufft-13-0, or libcufft-VERSION of your CUDA toolkit)");
  return NULL;
}

bool
img_cufft_check (cufftResult result, const char *what, ImgError *error)
{
  if (result == CUFFT_SUCCESS)
    return true;
  return img_fail (error,
      result == CUFFT_ALLOC_FAILED ? IMG_ERROR_NO_MEMORY : IMG_ERROR_DEVICE,
      "%s: cuFFT error %d", what, (int)result);
}
