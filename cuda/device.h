/*
 * The few things beside operations that a caller needs of the CUDA runtime.
 * All act on the CUDA context that is current in the calling thread. Built
 * without CUDA, each fails with "built without CUDA" (stub.c).
 */
#ifndef IMG_DEVICE_H
#define IMG_DEVICE_H

#include "operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether this build holds CUDA kernels at all. */
bool img_cuda_built (void);

/* Whether the kernels of this build can run in the current context; the error
 * names the GPU, its compute capability and what to do. */
bool img_cuda_probe (ImgError *error);

/* Whether `context`, a CUcontext, has not been destroyed. The driver crashes
 * when it gets a stream of one that has. */
bool img_cuda_context_is_alive (void *context);

/* Queues a copy of every plane of `src` to `dst` (same layout, any strides),
 * between any of host and device memory. The copy of pageable host memory may
 * block until it has been read. */
bool img_cuda_copy (const ImgView *dst, const ImgView *src, ImgStream stream,
    ImgError *error);

/* Waits until all work queued on `stream` has ended, and reports its errors. */
bool img_cuda_synchronize (ImgStream stream, ImgError *error);

/* Makes later work on `waiter` wait for all work now queued on `other`,
 * without stopping the calling thread. */
bool img_cuda_wait (ImgStream waiter, ImgStream other, ImgError *error);

/* A moment in a stream. Recording makes it, in the current context, where
 * `*event` is NULL. */
typedef struct CUevent_st *ImgEvent;
bool img_cuda_event_record (ImgEvent *event, ImgStream stream, ImgError *error);

/* Whether all work before the moment has ended. Never waits. */
bool img_cuda_event_is_past (ImgEvent event);
bool img_cuda_event_wait (ImgEvent event, ImgError *error);
void img_cuda_event_free (ImgEvent event);

/* Whether `data` is page-locked, so that copies from it do not wait for the
 * device. Copies from other memory as a rule do, but need not: both may be read
 * after the call that queued the copy has returned. */
bool img_cuda_host_is_locked (const void *data);

/* Device memory of the current context; NULL, with the error, if there is
 * none. Freeing waits for the work that uses it. */
void *img_cuda_alloc (size_t size, ImgError *error);
void img_cuda_free (void *data);

/* Host memory, page-locked where the driver allows it, so that the device
 * copies from and to it at full speed. It is malloc's, and so stays readable
 * when the context goes; then free () it. NULL if there is none; `error` says
 * why. */
void *img_cuda_host_alloc (size_t size, ImgError *error);
void img_cuda_host_free (void *data);

/* Forgets an error that others left behind in this thread, which would be
 * taken for that of the next launch. */
void img_cuda_clear_error (void);

#ifdef __cplusplus
}
#endif
#endif
