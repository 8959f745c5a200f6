/* What the test of the CUDA versions needs of the CUDA runtime beside
 * device.h. Built without CUDA, stream-stub.c stands in and each call fails. */
#ifndef TEST_STREAM_H
#define TEST_STREAM_H

#include "operation.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A stream that does not wait for the default stream, so that work queued on
 * the wrong one shows; NULL if there is no usable GPU. */
ImgStream stream_new (ImgError *error);
void stream_free (ImgStream stream);

/* Records what is queued on `stream` from now on in place of doing it. Until
 * the end a call that allocates, waits or uses another stream fails. */
bool stream_record (ImgStream stream, ImgError *error);

/* Ends the recording and does the recorded work. */
bool stream_play (ImgStream stream, ImgError *error);

#ifdef __cplusplus
}
#endif
#endif
