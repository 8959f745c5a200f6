/* Harm done to the GPU on purpose. All act on the CUDA context that is current
 * in the calling thread. */
#ifndef FAULT_H
#define FAULT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of device memory that are free, or 0 if the driver does not say. */
size_t fault_free_bytes (void);

/* Takes all device memory, to the last MiB; the bytes that were taken. They are
 * free again with the context. */
size_t fault_take_memory (void);

/* Queues a kernel that writes to an address that is nobody's, which ends the
 * context. True if it was queued. */
int fault_write_nowhere (void);

#ifdef __cplusplus
}
#endif
#endif
