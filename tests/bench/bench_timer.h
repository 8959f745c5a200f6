/*
 * Where bench_operations measures: one table of functions for the CPU and one
 * for the GPU. A timer owns two large blocks of memory; the pictures that are
 * measured lie in them one after the other, so that a call finds nothing of
 * the last one in a cache.
 */
#ifndef BENCH_TIMER_H
#define BENCH_TIMER_H

#include "operation.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  char name[320];  /* of the processor, and the versions that matter */
  void *src, *dst; /* blocks of `size` bytes; src holds random bytes */
  size_t size;
  double copy_gbs; /* of a copy from one to the other: read and written */
  ImgStream stream;
} BenchMachine;

/* Does the work once on the pictures at `index` of the rotation, queued on
 * `stream`. */
typedef bool (*BenchCall) (void *data, int index, ImgStream stream,
    ImgError *error);

/* Medians, in microseconds a call. */
typedef struct {
  double us;      /* of the processor that does the work */
  double host_us; /* until the call returns */
  bool queued;    /* the GPU was timed without the host's launches in between */
} BenchTime;

typedef struct {
  bool (*open) (BenchMachine *machine, ImgError *error);
  /* Times `call` for the indices 0..n-1, over and over. */
  bool (*time) (const BenchMachine *machine, BenchCall call, void *data, int n,
      BenchTime *time, ImgError *error);
  void (*close) (BenchMachine *machine);
} BenchTimer;

extern const BenchTimer bench_timer_cpu;
extern const BenchTimer bench_timer_cuda; /* in a build without CUDA it fails
                                             to open */

void bench_random_fill (void *data, size_t size);
double bench_now_us (void);
double bench_median (double *values, int n); /* sorts them */

#ifdef __cplusplus
}
#endif
#endif
