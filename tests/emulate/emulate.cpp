/* emulate.h: the threads of a block as fibers, and the memory, streams and
 * graphs of the CUDA runtime, where everything is done at once. */
#include <cuda_runtime_api.h>

#include <assert.h>
#include <functional>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <vector>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace {

const int MAX_THREADS = 1024;
const size_t STACK_BYTES = 256 * 1024;
const size_t SHARED_BYTES = 227 * 1024;

enum Wait { WAIT_NOTHING, WAIT_BLOCK, WAIT_WARP, WAIT_FOREVER };

struct Slot {
  alignas (16) unsigned char bytes[64];
};

/* A thread of the current block. */
struct Fiber {
  bool begun;
  jmp_buf context;
  ucontext_t start;
  Wait wait;
  int predicate; /* of a barrier of the block */
  unsigned mask; /* of a barrier of the warp */
  int exchanges;
};

Fiber *fibers;
Slot (*slots)[2][32]; /* of each warp, for its exchanges in turn */
alignas (16) unsigned char shared_memory[SHARED_BYTES];
jmp_buf scheduler;
int current, n_threads, n_counted;
const std::function<void ()> *kernel;
uint64_t random_state = 1;

void
give_up (const char *why)
{
  fprintf (stderr, "emulation: block %u,%u,%u, thread %d: %s\n", blockIdx.x,
      blockIdx.y, blockIdx.z, current, why);
  abort ();
}

void
yield (Wait wait)
{
  fibers[current].wait = wait;
  if (_setjmp (fibers[current].context) == 0)
    _longjmp (scheduler, 1);
}

/* What a fiber does: the kernel, once for each block. */
void
fiber_main ()
{
  for (;;) {
    (*kernel) ();
    yield (WAIT_FOREVER);
  }
}

void
resume (int i)
{
  Fiber *fiber = &fibers[i];

  current = i;
  threadIdx.x = i % blockDim.x;
  threadIdx.y = i / blockDim.x % blockDim.y;
  threadIdx.z = i / (blockDim.x * blockDim.y);
  if (_setjmp (scheduler) != 0)
    return;
  if (fiber->begun)
    _longjmp (fiber->context, 1);
  fiber->begun = true;
  setcontext (&fiber->start);
}

void
make_fibers ()
{
  if (fibers)
    return;
  fibers = (Fiber *)calloc (MAX_THREADS, sizeof (Fiber));
  slots = (Slot (*)[2][32])calloc (MAX_THREADS / 32, sizeof (*slots));
  for (int i = 0; i < MAX_THREADS; i++) {
    getcontext (&fibers[i].start);
    fibers[i].start.uc_stack.ss_sp = malloc (STACK_BYTES);
    fibers[i].start.uc_stack.ss_size = STACK_BYTES;
    makecontext (&fibers[i].start, fiber_main, 0);
  }
}

/* Lets the block go on if all threads that have not ended are at its
 * barrier. */
bool
release_block ()
{
  int waiting = 0;

  n_counted = 0;
  for (int i = 0; i < n_threads; i++) {
    if (fibers[i].wait != WAIT_BLOCK && fibers[i].wait != WAIT_FOREVER)
      return false;
    waiting += fibers[i].wait == WAIT_BLOCK;
    n_counted += fibers[i].wait == WAIT_BLOCK && fibers[i].predicate;
  }
  for (int i = 0; i < n_threads; i++)
    if (fibers[i].wait == WAIT_BLOCK)
      fibers[i].wait = WAIT_NOTHING;
  return waiting > 0;
}

bool
release_warp (int first)
{
  const int n = n_threads - first < 32 ? n_threads - first : 32;
  const unsigned present = n < 32 ? (1u << n) - 1 : ~0u;
  bool released = false;

  for (int lane = 0; lane < n; lane++) {
    const unsigned mask = fibers[first + lane].mask & present;
    bool complete = fibers[first + lane].wait == WAIT_WARP;

    for (int k = 0; k < n && complete; k++)
      if (mask >> k & 1)
        complete = fibers[first + k].wait == WAIT_WARP
                   && (fibers[first + k].mask & present) == mask;
    for (int k = 0; k < n && complete; k++)
      if (mask >> k & 1)
        fibers[first + k].wait = WAIT_NOTHING;
    released |= complete;
  }
  return released;
}

int
random_below (int n)
{
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (int)((random_state >> 33) % (unsigned)n);
}

void
run_block ()
{
  int order[MAX_THREADS];
  bool going = true;

  for (int i = 0; i < n_threads; i++) {
    const int k = random_below (i + 1);

    order[i] = order[k];
    order[k] = i;
    fibers[i].wait = WAIT_NOTHING;
  }
  while (going) {
    going = false;
    for (int i = 0; i < n_threads; i++)
      if (fibers[order[i]].wait == WAIT_NOTHING) {
        resume (order[i]);
        going = true;
      }
    going |= release_block ();
    for (int first = 0; first < n_threads; first += 32)
      going |= release_warp (first);
  }
  for (current = 0; current < n_threads; current++)
    if (fibers[current].wait != WAIT_FOREVER)
      give_up ("waits for threads that never come");
}

void
run_kernel (dim3 grid, dim3 block, const std::function<void ()> &function)
{
  make_fibers ();
  kernel = &function;
  gridDim = grid;
  blockDim = block;
  n_threads = (int)(block.x * block.y * block.z);
  for (unsigned z = 0; z < grid.z; z++)
    for (unsigned y = 0; y < grid.y; y++)
      for (unsigned x = 0; x < grid.x; x++) {
        blockIdx = { x, y, z };
        memset (shared_memory, 0xa5, sizeof (shared_memory));
        run_block ();
      }
}

/* streams, and graphs, which are what a stream has recorded */

struct Graph {
  std::vector<std::function<void ()>> work;
};

Graph *recording;
cudaError_t last_error;

cudaError_t
result (cudaError_t error)
{
  if (error != cudaSuccess)
    last_error = error;
  return error;
}

cudaError_t
not_while_recording ()
{
  return result (recording ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
}

} // namespace

void emulate_queue (const std::function<void ()> &work);

namespace {

cudaError_t
queue (const std::function<void ()> &work)
{
  emulate_queue (work);
  return cudaSuccess;
}

} // namespace

/* emulate.h */

struct EmulateSlot;

void
emulate_queue (const std::function<void ()> &work)
{
  if (recording)
    recording->work.push_back (work);
  else
    work ();
}

void
emulate_launch (dim3 grid, dim3 block, size_t shared,
    const std::function<void ()> &function)
{
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.y > 65535
      || grid.z > 65535 || block.x * block.y * block.z == 0
      || block.x * block.y * block.z > (unsigned)MAX_THREADS
      || shared > SHARED_BYTES) {
    result (cudaErrorInvalidConfiguration);
    return;
  }
  queue ([=] { run_kernel (grid, block, function); });
}

void *
emulate_shared ()
{
  return shared_memory;
}

int
emulate_lane ()
{
  return current % 32;
}

int
emulate_barrier (int predicate)
{
  fibers[current].predicate = predicate;
  yield (WAIT_BLOCK);
  return n_counted;
}

const EmulateSlot *
emulate_exchange (unsigned mask, const void *value, size_t size)
{
  Fiber *fiber = &fibers[current];
  Slot *own = slots[current / 32][fiber->exchanges++ % 2];

  assert (size <= sizeof (own->bytes));
  if (size > 0)
    memcpy (own[current % 32].bytes, value, size);
  fiber->mask = mask;
  if (!(mask >> current % 32 & 1))
    give_up ("is not in the mask of its own exchange");
  yield (WAIT_WARP);
  return (const EmulateSlot *)own;
}

/* the runtime */

extern "C" {

cudaError_t
cudaGetLastError ()
{
  const cudaError_t error = last_error;

  last_error = cudaSuccess;
  return error;
}

const char *
cudaGetErrorString (cudaError_t error)
{
  return error == cudaErrorMemoryAllocation ? "out of memory"
                                            : "emulated error";
}

const char *
cudaGetErrorName (cudaError_t error)
{
  return error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation"
                                            : "cudaErrorUnknown";
}

cudaError_t
cudaGetDevice (int *device)
{
  *device = 0;
  return cudaSuccess;
}

cudaError_t
cudaGetDeviceProperties (cudaDeviceProp *properties, int device)
{
  memset (properties, 0, sizeof (*properties));
  return cudaSuccess;
}

/* Those of an H200, but for the number of its multiprocessors. */
cudaError_t
cudaDeviceGetAttribute (int *value, cudaDeviceAttr attribute, int device)
{
  switch (attribute) {
  case cudaDevAttrMultiProcessorCount:
    *value = 3;
    return cudaSuccess;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    *value = (int)SHARED_BYTES;
    return cudaSuccess;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
    *value = (int)SHARED_BYTES + 1024;
    return cudaSuccess;
  case cudaDevAttrComputeCapabilityMajor:
    *value = 9;
    return cudaSuccess;
  case cudaDevAttrComputeCapabilityMinor:
    *value = 0;
    return cudaSuccess;
  default:
    return result (cudaErrorInvalidValue);
  }
}

cudaError_t
cudaMalloc (void **data, size_t size)
{
  if (not_while_recording () != cudaSuccess)
    return cudaErrorStreamCaptureUnsupported;
  *data = aligned_alloc (512, (size + 511) / 512 * 512);
  memset (*data, 0xa5, size);
  return cudaSuccess;
}

cudaError_t
cudaFree (void *data)
{
  free (data);
  return not_while_recording ();
}

cudaError_t
cudaHostRegister (void *data, size_t size, unsigned flags)
{
  return cudaSuccess;
}

cudaError_t
cudaHostUnregister (void *data)
{
  return cudaSuccess;
}

cudaError_t
cudaHostGetDevicePointer (void **device, void *host, unsigned flags)
{
  *device = host;
  return cudaSuccess;
}

cudaError_t
cudaPointerGetAttributes (cudaPointerAttributes *attributes, const void *data)
{
  memset (attributes, 0, sizeof (*attributes));
  attributes->type = cudaMemoryTypeHost;
  return cudaSuccess;
}

cudaError_t
cudaMemset (void *to, int value, size_t size)
{
  memset (to, value, size);
  return not_while_recording ();
}

cudaError_t
cudaMemset2DAsync (void *to, size_t stride, int value, size_t width,
    size_t height, cudaStream_t stream)
{
  return queue ([=] {
    for (size_t y = 0; y < height; y++)
      memset ((char *)to + y * stride, value, width);
  });
}

cudaError_t
cudaMemcpy (void *to, const void *from, size_t size, cudaMemcpyKind kind)
{
  memcpy (to, from, size);
  return not_while_recording ();
}

cudaError_t
cudaMemcpyAsync (void *to, const void *from, size_t size, cudaMemcpyKind kind,
    cudaStream_t stream)
{
  return queue ([=] { memcpy (to, from, size); });
}

cudaError_t
cudaMemcpy2DAsync (void *to, size_t to_stride, const void *from,
    size_t from_stride, size_t width, size_t height, cudaMemcpyKind kind,
    cudaStream_t stream)
{
  return queue ([=] {
    for (size_t y = 0; y < height; y++)
      memcpy ((char *)to + y * to_stride, (const char *)from + y * from_stride,
          width);
  });
}

cudaError_t
cudaDeviceSynchronize ()
{
  return not_while_recording ();
}

cudaError_t
cudaStreamSynchronize (cudaStream_t stream)
{
  return not_while_recording ();
}

cudaError_t
cudaStreamCreateWithFlags (cudaStream_t *stream, unsigned flags)
{
  *stream = (cudaStream_t)&recording; /* any, as they are all the same */
  return cudaSuccess;
}

cudaError_t
cudaStreamDestroy (cudaStream_t stream)
{
  return cudaSuccess;
}

cudaError_t
cudaStreamWaitEvent (cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
  return cudaSuccess;
}

cudaError_t
cudaEventCreateWithFlags (cudaEvent_t *event, unsigned flags)
{
  *event = (cudaEvent_t)&recording;
  return cudaSuccess;
}

cudaError_t
cudaEventRecord (cudaEvent_t event, cudaStream_t stream)
{
  return cudaSuccess;
}

cudaError_t
cudaEventQuery (cudaEvent_t event)
{
  return cudaSuccess;
}

cudaError_t
cudaEventSynchronize (cudaEvent_t event)
{
  return not_while_recording ();
}

cudaError_t
cudaEventDestroy (cudaEvent_t event)
{
  return cudaSuccess;
}

cudaError_t
cudaStreamBeginCapture (cudaStream_t stream, cudaStreamCaptureMode mode)
{
  recording = new Graph;
  return cudaSuccess;
}

cudaError_t
cudaStreamEndCapture (cudaStream_t stream, cudaGraph_t *graph)
{
  *graph = (cudaGraph_t)recording;
  recording = NULL;
  return cudaSuccess;
}

cudaError_t
cudaGraphInstantiateWithFlags (
    cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
  *exec = (cudaGraphExec_t)graph;
  return cudaSuccess;
}

cudaError_t
cudaGraphLaunch (cudaGraphExec_t exec, cudaStream_t stream)
{
  for (const std::function<void ()> &work : ((Graph *)exec)->work)
    work ();
  return cudaSuccess;
}

cudaError_t
cudaGraphExecDestroy (cudaGraphExec_t exec)
{
  return cudaSuccess;
}

cudaError_t
cudaGraphDestroy (cudaGraph_t graph)
{
  delete (Graph *)graph;
  return cudaSuccess;
}
}
