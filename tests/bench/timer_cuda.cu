/*
 * Timing on the GPU: a batch of calls is captured into a graph, so that the
 * host's launches do not stand between the kernels, and replayed between two
 * events. Where something cannot be captured, the events stand around the
 * calls themselves.
 */
#include "bench_timer.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"

#define BLOCK_BYTES ((size_t)320 << 20) /* five times the L2 of an H200 */
#define BATCH_US 2000.0
#define MAX_BATCH 2048
#define REPLAYS 15
#define HOST_LOOPS 5
#define CLOCK_WARMUPS 5

/* A batch of calls, as one thing to launch. */
typedef struct {
  BenchCall call;
  void *data;
  int n;
  int calls; /* in the batch: a multiple of n */
  cudaStream_t stream;
  cudaGraphExec_t graph; /* NULL: not captured */
} Batch;

static bool
queue_calls (const Batch *batch, int calls, ImgError *error)
{
  for (int i = 0; i < calls; i++)
    if (!batch->call (batch->data, i % batch->n, batch->stream, error))
      return false;
  return true;
}

static bool
launch_batch (const Batch *batch, ImgError *error)
{
  if (!batch->graph)
    return queue_calls (batch, batch->calls, error);
  return img_cuda_check (cudaGraphLaunch (batch->graph, batch->stream),
      "launching a batch", error);
}

/* Microseconds on the GPU for `repeats` launches, each by itself. */
static bool
time_launches (const Batch *batch, double *us, int repeats, ImgError *error)
{
  cudaEvent_t begin, end;
  bool ok = true;

  cudaEventCreate (&begin);
  cudaEventCreate (&end);
  for (int i = 0; ok && i < repeats; i++) {
    float ms = 0;

    cudaEventRecord (begin, batch->stream);
    ok = launch_batch (batch, error);
    cudaEventRecord (end, batch->stream);
    ok = ok
         && img_cuda_check (
             cudaEventSynchronize (end), "timing a batch", error);
    cudaEventElapsedTime (&ms, begin, end);
    us[i] = ms * 1e3;
  }
  cudaEventDestroy (begin);
  cudaEventDestroy (end);
  return ok;
}

/* Leaves graph NULL where a call does what a capture forbids. */
static void
capture (Batch *batch)
{
  cudaGraph_t graph = NULL;
  ImgError error;
  bool ok;

  cudaStreamBeginCapture (batch->stream, cudaStreamCaptureModeRelaxed);
  ok = queue_calls (batch, batch->calls, &error);
  cudaStreamEndCapture (batch->stream, &graph);
  if (!ok || !graph
      || cudaGraphInstantiateWithFlags (&batch->graph, graph, 0) != cudaSuccess)
    batch->graph = NULL;
  if (graph)
    cudaGraphDestroy (graph);
  cudaGetLastError ();
}

/* The time until one call returns, over few enough calls that the driver's
 * queue never fills. */
static bool
time_host (const Batch *batch, double *us, ImgError *error)
{
  double values[HOST_LOOPS];
  int calls = batch->n < 32 ? batch->n : 32;

  for (int i = 0; i < HOST_LOOPS; i++) {
    double begin = bench_now_us ();

    if (!queue_calls (batch, calls, error))
      return false;
    values[i] = (bench_now_us () - begin) / calls;
    if (!img_cuda_check (
            cudaStreamSynchronize (batch->stream), "running a batch", error))
      return false;
  }
  *us = bench_median (values, HOST_LOOPS);
  return true;
}

/* Chooses the number of calls that take about BATCH_US. */
static bool
size_batch (Batch *batch, ImgError *error)
{
  double us[3];
  int rounds, most = MAX_BATCH / batch->n;

  batch->calls = batch->n;
  if (!time_launches (batch, us, 3, error))
    return false;
  rounds = (int)(BATCH_US / bench_median (us, 3)) + 1;
  batch->calls = batch->n * (rounds < most ? rounds : most > 0 ? most : 1);
  return true;
}

static bool
time_calls (const BenchMachine *machine, BenchCall call, void *data, int n,
    BenchTime *time, ImgError *error)
{
  Batch batch = { call, data, n, n, machine->stream, NULL };
  double us[REPLAYS];
  bool ok;

  if (!size_batch (&batch, error) || !time_host (&batch, &time->host_us, error))
    return false;
  capture (&batch);
  ok = time_launches (&batch, us, 2, error)
       && time_launches (&batch, us, REPLAYS, error);
  time->queued = batch.graph != NULL;
  if (batch.graph)
    cudaGraphExecDestroy (batch.graph);
  if (ok)
    time->us = bench_median (us, REPLAYS) / batch.calls;
  return ok;
}

static bool
copy_block (void *data, int index, ImgStream stream, ImgError *error)
{
  BenchMachine *machine = (BenchMachine *)data;

  return img_cuda_check (cudaMemcpyAsync (machine->dst, machine->src,
                             machine->size, cudaMemcpyDeviceToDevice, stream),
      "copying a block", error);
}

static void
close_cuda (BenchMachine *machine)
{
  if (machine->stream)
    cudaStreamDestroy (machine->stream);
  cudaFree (machine->src);
  cudaFree (machine->dst);
}

static bool
name_gpu (BenchMachine *machine, ImgError *error)
{
  cudaDeviceProp properties;
  int driver = 0, runtime = 0;

  if (!img_cuda_check (
          cudaGetDeviceProperties (&properties, 0), "looking for a GPU", error))
    return false;
  cudaDriverGetVersion (&driver);
  cudaRuntimeGetVersion (&runtime);
  snprintf (machine->name, sizeof (machine->name),
      "%s, driver for CUDA %d.%d, runtime %d.%d", properties.name,
      driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  return true;
}

static bool
allocate (BenchMachine *machine, ImgError *error)
{
  void *host = malloc (machine->size);
  bool ok;

  if (!host)
    return img_fail (error, IMG_ERROR_NO_MEMORY, "no memory for the pictures");
  bench_random_fill (host, machine->size);
  ok = img_cuda_check (cudaMalloc (&machine->src, machine->size),
           "allocating the pictures", error)
       && img_cuda_check (cudaMalloc (&machine->dst, machine->size),
           "allocating the pictures", error)
       && img_cuda_check (cudaMemcpy (machine->src, host, machine->size,
                              cudaMemcpyHostToDevice),
           "uploading the pictures", error)
       && img_cuda_check (
           cudaStreamCreateWithFlags (&machine->stream, cudaStreamNonBlocking),
           "creating a stream", error);
  free (host);
  return ok;
}

static bool
open_cuda (BenchMachine *machine, ImgError *error)
{
  BenchTime time = {};
  bool ok;

  machine->size = BLOCK_BYTES;
  if (!name_gpu (machine, error))
    return false;
  ok = allocate (machine, error);
  /* the last of them counts: by then the clocks have risen */
  for (int i = 0; ok && i < CLOCK_WARMUPS; i++)
    ok = time_calls (machine, copy_block, machine, 1, &time, error);
  if (!ok) {
    close_cuda (machine);
    return false;
  }
  machine->copy_gbs = 2.0 * machine->size / time.us * 1e-3;
  return true;
}

extern "C" const BenchTimer bench_timer_cuda
    = { open_cuda, time_calls, close_cuda };
