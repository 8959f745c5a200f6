/*
 * What an operation is: one table of functions for each backend. The CPU table
 * (NAME.c) is the definition; the CUDA table (NAME.cu) gives the same picture.
 *
 * Life of a state, which belongs to one thread at a time:
 *
 *   void *state = NULL;
 *   op->prepare (&state, &src, &dst, &params, &error);   // allocates
 *   op->run (state, &src, &dst, &params, stream, &error) // any number of times
 *   op->release (state);                                 // NULL is allowed
 *
 * The CUDA functions use the CUDA context that is current in the calling
 * thread; prepare, run and release of one state must see the same one.
 */
#ifndef IMG_OPERATION_H
#define IMG_OPERATION_H

#include "image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A CUDA stream (a CUstream or cudaStream_t); the CPU tables ignore it. */
typedef struct CUstream_st *ImgStream;

typedef enum {
  IMG_OK,
  IMG_ERROR_SETTINGS,    /* a parameter, or a pair of them, makes no sense */
  IMG_ERROR_UNSUPPORTED, /* this format or size */
  IMG_ERROR_NO_MEMORY,   /* of the host or of the device */
  IMG_ERROR_NO_DEVICE,   /* no usable GPU, driver or library */
  IMG_ERROR_DEVICE       /* the device or the driver reports a failure */
} ImgErrorCode;

/* Why a call failed, as a sentence that a user can act on. */
typedef struct {
  ImgErrorCode code;
  char text[256];
} ImgError;

typedef struct {
  const char *name;
  size_t params_size; /* of the operation's parameter struct */
  bool in_place;      /* dst may be the same memory as src */

  /* Checks parameters and formats and makes `*state` ready to run pictures
   * like `src` into pictures like `dst` (their pointers are not read). Called
   * again, with the same `*state`, when formats, sizes or parameters change.
   * The only function that allocates. False: `error` says why, and the state
   * must be released before it is used again. */
  bool (*prepare) (void **state, const ImgView *src, const ImgView *dst,
      const void *params, ImgError *error);

  /* Computes dst from src. On CUDA it queues the work on `stream` and returns:
   * it neither allocates nor waits. Takes the same formats, sizes and
   * parameters as the last prepare. */
  bool (*run) (void *state, const ImgView *src, const ImgView *dst,
      const void *params, ImgStream stream, ImgError *error);

  /* Frees the state. On CUDA the work queued with it must have ended. */
  void (*release) (void *state);
} ImgOperation;

typedef enum {
  IMG_BACKEND_CPU,
  IMG_BACKEND_CUDA
} ImgBackend;

/* One row of the table of operations. */
typedef struct {
  const ImgOperation *cpu;
  const ImgOperation *cuda;
} ImgOperationPair;

/* The operation at `index` of the table, or NULL past its end. */
const ImgOperationPair *img_operation_at (int index);

/* Fills `error` and returns false, so that `return img_fail (…)` reads well. */
bool img_fail (ImgError *error, ImgErrorCode code, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

/* Whether `value` is one of the `count` values of an enum that start at 0; if
 * not, `error` says so of `what`, as "sobel: border". */
bool img_check_enum (const char *what, int value, int count, ImgError *error);

#ifdef __cplusplus
}
#endif
#endif
