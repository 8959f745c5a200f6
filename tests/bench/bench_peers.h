/*
 * Other people's GPU code for the same job. A library libbench_peers_NAME.so
 * beside bench_operations exports an array `bench_peers`; bench_operations
 * opens every such library that it finds, so it needs none of them itself.
 */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "operation.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char *operation; /* the row that it stands beside; NULL ends the array */
  const char *name;      /* the function that it calls */
  /* False where the peer does not take pictures like `view`. */
  bool (*prepare) (void **state, const ImgView *view, ImgStream stream);
  bool (*run) (void *state, const ImgView *src, const ImgView *dst);
  void (*release) (void *state);
} BenchPeer;

#define BENCH_PEERS_SYMBOL "bench_peers"

#ifdef __cplusplus
}
#endif
#endif
