/* What bench_operations measures and how it is told. */
#ifndef BENCH_OPERATIONS_H
#define BENCH_OPERATIONS_H

#include <glib.h>

#include "bench_timer.h"

/* One row of the table of operations, and what it should reach from 4K on;
 * 0: no aim. */
typedef struct {
  const char *name;
  const ImgOperation *cpu, *cuda;
  const void *params;
  bool luma_only;      /* reads no chroma */
  double floor_target; /* at most so many times the floor */
  double peer_target;  /* at most so many times the fastest peer */
  const char *to;      /* format of the result; NULL: that of the source */
  int reduction;       /* of both sizes; 0: none */
  int enlargement;     /* likewise, by which they are multiplied first */
} BenchOperation;

typedef struct {
  const BenchOperation *operation;
  const char *format;
  int width, height;
  BenchTime time;
  double floor_us; /* the bytes that must move over the copy's bandwidth */
  double gbs;
  double peer_us; /* of the fastest peer, or 0 */
  const char *peer;
} BenchResult;

/* `results` are BenchResult. */
void bench_print_table (const BenchMachine *machine, const GArray *results);
bool bench_write_json (const char *path, const BenchMachine *machine,
    const GArray *results);

#endif
