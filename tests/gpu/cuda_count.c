/*
 * libcuda_count.so: counts what a process does with its GPU.
 *
 *   CUDA_INJECTION64_PATH=…/libcuda_count.so CUDA_COUNT_PRINT=1 \
 *     gst-launch-1.0 videotestsrc num-buffers=100 ! cudasobel ! fakesink
 *
 * CUPTI's activity records are used rather than its callbacks: a copy by the
 * driver interface, by the runtime or inside a graph makes the same record,
 * and the record tells the direction. CUDA_COUNT_PRINT is 1 for standard
 * error, or a file's name; what is written is JSON.
 */
#include "cuda_count.h"

#include <cupti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (1 << 20)
#define BUFFER_ALIGN 8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CudaCount counts;           /* under the lock */
static uint32_t last_copy_call;    /* likewise */

static const CUpti_ActivityKind kinds[] = {
  CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
  CUPTI_ACTIVITY_KIND_MEMCPY,
  CUPTI_ACTIVITY_KIND_MEMSET,
  CUPTI_ACTIVITY_KIND_MEMORY2,
  CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
};

#define N_KINDS (sizeof (kinds) / sizeof (kinds[0]))

int InitializeInjection (void) __attribute__ ((visibility ("default")));
void cuda_count_read (CudaCount *result)
    __attribute__ ((visibility ("default")));

static void CUPTIAPI
buffer_requested (uint8_t **buffer, size_t *size, size_t *max_records)
{
  *buffer = aligned_alloc (BUFFER_ALIGN, BUFFER_BYTES);
  *size = *buffer ? BUFFER_BYTES : 0;
  *max_records = 0; /* as many as fit */
}

/* A large copy from pageable memory may be cut into several records, which
 * carry the number of one call. */
static void
count_copy (const CUpti_ActivityMemcpy6 *record)
{
  int once = record->correlationId != last_copy_call;

  last_copy_call = record->correlationId;
  counts.gpu_ns += record->end - record->start;
  counts.copies_blocking
      += once && !(record->flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
  switch (record->copyKind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      counts.copies_in += once;
      counts.bytes_in += record->bytes;
      break;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      counts.copies_out += once;
      counts.bytes_out += record->bytes;
      break;
    default:
      counts.copies_device += once;
      counts.bytes_device += record->bytes;
  }
}

static void
count_memory (const CUpti_ActivityMemory4 *record)
{
  if (record->memoryOperationType
      != CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION)
    return;
  if (record->memoryKind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED)
    counts.host_allocs++;
  else
    counts.device_allocs++;
}

static void
count_synchronization (const CUpti_ActivitySynchronization2 *record)
{
  switch (record->type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
      counts.stream_syncs++;
      break;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
      counts.event_syncs++;
      break;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE:
      counts.context_syncs++;
      break;
    default: /* one stream waits for another: the host does not */
      break;
  }
}

static void
count_record (const CUpti_Activity *record)
{
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:{
      const CUpti_ActivityKernel10 *kernel = (const void *) record;

      counts.kernels++;
      counts.gpu_ns += kernel->end - kernel->start;
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET:{
      const CUpti_ActivityMemset4 *memset = (const void *) record;

      counts.memsets++;
      counts.gpu_ns += memset->end - memset->start;
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      count_copy ((const void *) record);
      break;
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      count_memory ((const void *) record);
      break;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      count_synchronization ((const void *) record);
      break;
    default:
      break;
  }
}

static void CUPTIAPI
buffer_completed (CUcontext context, uint32_t stream, uint8_t *buffer,
    size_t size, size_t valid)
{
  CUpti_Activity *record = NULL;
  size_t dropped = 0;

  pthread_mutex_lock (&lock);
  while (valid > 0
      && cuptiActivityGetNextRecord (buffer, valid, &record) == CUPTI_SUCCESS)
    count_record (record);
  if (cuptiActivityGetNumDroppedRecords (context, stream, &dropped)
      == CUPTI_SUCCESS)
    counts.lost += dropped;
  pthread_mutex_unlock (&lock);
  free (buffer);
}

void
cuda_count_read (CudaCount *result)
{
  cuptiActivityFlushAll (CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  pthread_mutex_lock (&lock);
  *result = counts;
  pthread_mutex_unlock (&lock);
}

static void
print_counts (void)
{
  const char *path = getenv ("CUDA_COUNT_PRINT"), *separator = "{";
  FILE *file = strcmp (path, "1") == 0 ? stderr : fopen (path, "w");
  CudaCount count;

  if (!file)
    return;
  cuda_count_read (&count);
#define X(name, text) \
  fprintf (file, "%s\"" #name "\": %lld", separator, (long long) count.name); \
  separator = ", ";
  CUDA_COUNTS (X)
#undef X
  fprintf (file, "}\n");
  if (file != stderr)
    fclose (file);
}

/* The driver calls this when it is initialised. */
int
InitializeInjection (void)
{
  CUptiResult result = cuptiActivityRegisterCallbacks (buffer_requested,
      buffer_completed);
  const char *text = "";

  for (size_t i = 0; result == CUPTI_SUCCESS && i < N_KINDS; i++)
    result = cuptiActivityEnable (kinds[i]);
  if (result != CUPTI_SUCCESS) {
    cuptiGetResultString (result, &text);
    fprintf (stderr, "cuda_count: CUPTI: %s\n", text);
    return 0;
  }
  if (getenv ("CUDA_COUNT_PRINT"))
    atexit (print_counts);
  return 1;
}
