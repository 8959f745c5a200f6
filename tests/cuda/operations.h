/* The operations under test: one row each says which parameters are tried, how
 * near the CUDA version must be, and what every result must keep. */
#ifndef TEST_OPERATIONS_H
#define TEST_OPERATIONS_H

#include "operation.h"
#include "picture.h"

typedef enum {
  FIELD_INT, /* and every enum */
  FIELD_BOOL,
  FIELD_DOUBLE
} TestFieldType;

/* One member of a parameter struct, and the values that it is tried with. */
typedef struct {
  const char *name;
  TestFieldType type;
  size_t offset;
  int n_values;
  double values[10];
} TestField;

/* How far apart two results may be. */
typedef struct {
  double level; /* largest difference of a component, on the 8-bit scale */
  double share; /* of components that differ at all; 1: no limit */
  double outliers; /* share of components that may differ by more */
} TestTolerance;

typedef struct {
  const char *name;
  const TestField *fields; /* ends with one that has no name */

  /* Makes parameters that were drawn one by one go together; NULL: they do. */
  void (*settle) (void *params);

  /* Makes `dst`, which starts as a copy of `src`, the shape of the result.
   * NULL: the same layout. */
  void (*shape) (const ImgView *src, const void *params, TestRandom *random,
      ImgView *dst);

  /* Between the CPU and the CUDA version. NULL: equal. */
  TestTolerance (*backends) (const void *params, const ImgView *src);

  /* Between a result of more than 8 bits and the 8-bit result of the same
   * picture. A level of 256 leaves the parameters out. */
  TestTolerance (*depths) (const void *params);

  /* Whether alpha is filtered. NULL: never, as padding. */
  bool (*filters_alpha) (const void *params);

  /* Whether the result is grey: chroma neutral, colours equal. NULL: no. */
  bool (*is_gray) (const void *params, const ImgView *src);

  /* Whether dst may be src. NULL: what the operation says. */
  bool (*in_place) (const void *params);

  /* A number that the state keeps of the last run, by backend; or NULL. */
  double (*number[2]) (const void *state);
} TestOperation;

/* The row called `name`, or NULL. */
const TestOperation *test_operation_find (const char *name);

/* Bytes that hold the parameters of any operation. */
#define TEST_PARAMS_SIZE 256

void test_params_draw (const TestOperation *row, TestRandom *random,
    void *params);

/* Writes "name=value name=value" to `text`. */
void test_params_describe (const TestOperation *row, const void *params,
    char *text, size_t size);

#define TEST_MAX_SET 2

/* A call that must fail with IMG_ERROR_SETTINGS: the first value of every
 * field, but for those named here. */
typedef struct {
  const char *operation;
  struct {
    const char *field;
    double value;
  } set[TEST_MAX_SET];
} TestBadCall;

/* The call at `index` of the table, or NULL past its end. */
const TestBadCall *test_bad_call_at (int index);

/* Fills `params` with what the call passes. */
void test_params_bad (const TestBadCall *call, void *params);

#endif
