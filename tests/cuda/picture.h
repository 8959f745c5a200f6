/* Pictures for tests: views in memory with guard bytes before, after and
 * between the rows of every plane, ways to fill them, and checks on them. */
#ifndef TEST_PICTURE_H
#define TEST_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "image.h"

/* The state of a random sequence: any start value will do. */
typedef uint64_t TestRandom;

uint64_t random_next (TestRandom *random);

/* 0 .. n-1. */
int random_below (TestRandom *random, int n);

/* How the rows of a picture lie in memory. */
typedef enum {
  LAYOUT_ALIGNED,  /* rows at multiples of 256 bytes, as in device pools */
  LAYOUT_TIGHT,    /* no padding at all */
  LAYOUT_PADDED,   /* any stride, unaligned start */
  LAYOUT_FIELD,    /* a row of something else between two rows */
  LAYOUT_NEGATIVE, /* bottom row first */
  N_LAYOUTS
} TestLayout;

typedef enum {
  FILL_RANDOM,
  FILL_ZERO,
  FILL_MAX,
  FILL_CHECKERBOARD,
  FILL_DOT,        /* all zero but one component of each plane */
  FILL_TWO_LEVELS, /* two values, scattered */
  FILL_GRADIENT,
  FILL_FLAT_NOISE, /* a grey value, plus or minus 2 */
  FILL_DIRTY,      /* random also in the bits that the depth does not use */
  N_FILLS
} TestFill;

typedef struct {
  ImgView view;
  unsigned char *block; /* all memory, guard bytes included */
  unsigned char *pixel; /* for each byte of block: 1 if it is of a pixel */
  size_t size;
} TestPicture;

const char *layout_name (TestLayout layout);
const char *fill_name (TestFill fill);

/* Allocates a picture like `shape`, whose pointers and strides are not read,
 * with random bytes in it. `guard` bytes lie before and after each plane; with
 * 0, a sanitizer sees accesses outside of the picture. */
void picture_init (TestPicture *picture, const ImgView *shape,
    TestLayout layout, int guard, TestRandom *random);
void picture_clear (TestPicture *picture);

void picture_fill (TestPicture *picture, TestFill fill, TestRandom *random);

/* The view that `picture` has once its block is copied to `block`. */
ImgView picture_view_at (const TestPicture *picture, void *block);

/* Copies pixels between pictures of the same shape. */
void picture_copy_pixels (const TestPicture *to, const TestPicture *from);

/* The container at a position, with the bits below the depth. */
int view_container (const ImgView *view, int plane, int x, int y, int channel);
void view_set_container (const ImgView *view, int plane, int x, int y,
    int channel, int value);

/* How far two pictures of the same layout are apart, over every component. */
typedef struct {
  int max;      /* largest difference, in units of the depth */
  double share; /* of components that differ at all */
  double beyond; /* of components that differ by more than the limit */
  int plane, x, y, channel; /* of the largest */
  int a, b;                 /* the values there */
} TestDifference;

TestDifference view_difference (const ImgView *a, const ImgView *b,
    double limit);

#endif
