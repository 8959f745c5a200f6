/* Loops that the compiler vectorises, compiled for several levels of x86; the
 * loader picks the best that the machine has. */
#ifndef IMG_VECTOR_H
#define IMG_VECTOR_H

/* Before the definition of a function whose inner loops are worth it. Only
 * what is inlined into it is compiled with it. */
#if !defined (__x86_64__) || !defined (__gnu_linux__) || defined (__clang__)
#define IMG_VECTOR
#elif __GNUC__ >= 12
#define IMG_VECTOR \
  __attribute__ ((target_clones ("arch=x86-64-v4", "arch=x86-64-v3", \
              "default")))
#else
#define IMG_VECTOR __attribute__ ((target_clones ("avx2", "default")))
#endif

#endif
