/* Timing on the CPU, and what both timers share. */
#include "bench_timer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t) 192 << 20)
#define MIN_US 300e3
#define MIN_CALLS 5
#define MAX_CALLS 400

double
bench_now_us (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return x < y ? -1 : x > y;
}

double
bench_median (double *values, int n)
{
  qsort (values, n, sizeof (*values), compare_doubles);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void
bench_random_fill (void *data, size_t size)
{
  uint64_t *words = data, state = 0x9e3779b97f4a7c15u; /* xorshift64 */

  for (size_t i = 0; i < size / sizeof (*words); i++) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    words[i] = state;
  }
}

static void
name_cpu (BenchMachine *machine)
{
  char line[256], model[96] = "CPU";
  FILE *file = fopen ("/proc/cpuinfo", "r");

  while (file && fgets (line, sizeof (line), file))
    if (sscanf (line, "model name : %95[^\n]", model) == 1)
      break;
  if (file)
    fclose (file);
  snprintf (machine->name, sizeof (machine->name), "%s, %ld threads", model,
      sysconf (_SC_NPROCESSORS_ONLN));
}

static bool
copy_block (void *data, int index, ImgStream stream, ImgError *error)
{
  BenchMachine *machine = data;

  memcpy (machine->dst, machine->src, machine->size);
  return true;
}

static bool
time_calls (const BenchMachine *machine, BenchCall call, void *data, int n,
    BenchTime *time, ImgError *error)
{
  double values[MAX_CALLS], begin = bench_now_us (), last = begin;
  int count = 0;

  if (!call (data, 0, NULL, error))
    return false;
  for (last = bench_now_us (); count < MAX_CALLS; count++) {
    double now;

    if (count >= MIN_CALLS && last - begin > MIN_US)
      break;
    if (!call (data, count % n, NULL, error))
      return false;
    now = bench_now_us ();
    values[count] = now - last;
    last = now;
  }
  time->us = time->host_us = bench_median (values, count);
  time->queued = true;
  return true;
}

static void
close_cpu (BenchMachine *machine)
{
  free (machine->src);
  free (machine->dst);
}

static bool
open_cpu (BenchMachine *machine, ImgError *error)
{
  BenchTime time;

  machine->size = BLOCK_BYTES;
  machine->src = malloc (machine->size);
  machine->dst = malloc (machine->size);
  if (!machine->src || !machine->dst) {
    close_cpu (machine);
    return img_fail (error, IMG_ERROR_NO_MEMORY, "no memory for the pictures");
  }
  bench_random_fill (machine->src, machine->size);
  name_cpu (machine);
  time_calls (machine, copy_block, machine, 1, &time, error);
  machine->copy_gbs = 2.0 * machine->size / time.us * 1e-3;
  return true;
}

const BenchTimer bench_timer_cpu = { open_cpu, time_calls, close_cpu };
