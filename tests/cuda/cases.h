/* Cases: one picture, one set of parameters, and what is checked with them. */
#ifndef TEST_CASES_H
#define TEST_CASES_H

#include <stdalign.h>
#include <stddef.h>

#include "operations.h"

/* Drawn from a seed, so that the same numbers give the same case. */
typedef struct {
  const TestOperation *row;
  const ImgOperationPair *pair;
  const ImgFormat *format;
  int index; /* in its group */
  int guard; /* bytes around each plane */
  ImgView src, dst; /* shapes only */
  TestLayout src_layout, dst_layout;
  TestFill fill;
  TestRandom random; /* for the rest of the case */
  alignas (max_align_t) char params[TEST_PARAMS_SIZE];
} TestCase;

void case_draw (TestCase *c, const TestOperation *row,
    const ImgOperationPair *pair, const ImgFormat *format, int width,
    int height, int index, uint64_t seed);

/* Reports a failure of the case, after its size, layouts and parameters. */
void case_failure (const TestCase *c, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* Reports where two results differ, if by more than `tolerance`. */
void case_compare (const TestCase *c, const char *what, const ImgView *a,
    const ImgView *b, TestTolerance tolerance);

/* Checks that only pixels differ between `before`, the block of `picture` as
 * it was, and now; with `intact`, not even pixels. */
void case_check_guards (const TestCase *c, const char *what,
    const TestPicture *picture, const unsigned char *before, bool intact);

/* A source for the case, filled. */
void case_source (TestCase *c, TestPicture *picture);

/* Whether results for this source have only one right value: not where the
 * containers have bits that the depth does not use, and those are set. Then
 * only memory safety is checked. */
bool case_is_defined (const TestCase *c);

bool case_in_place (const TestCase *c);

/* The CPU version: alpha and padding kept, chroma neutral, guard bytes intact,
 * nothing left unwritten, the same in place, the same again. `state` is kept
 * from case to case. */
void case_check_cpu (TestCase *c, void **state);

/* The CPU version in several threads at once: all get the same. */
void case_check_threads (TestCase *c);

/* The CUDA version against the CPU version, on `stream`. */
void case_check_cuda (TestCase *c, void **cpu_state, void **cuda_state,
    ImgStream stream);

/* That run of the CUDA version only queues: it is recorded, then played. */
void case_check_recorded (TestCase *c, ImgStream stream);

/* The CPU version on a deep format against itself on `shallow`, of 8 bits. */
void case_check_depth (TestCase *c, const ImgFormat *shallow);

#endif
