/*
 * Instructions that CUDA C++ has no word for. All inline PTX is here, but for
 * that of launch.cuh; the emulation of tests/emulate has its own version of
 * both files.
 *
 * What a lane holds of the matrices of `mma` is described in the PTX manual,
 * "Matrix Fragments for mma.m16n8k16" and "… mma.m16n8k32".
 */
#ifndef IMG_PTX_CUH
#define IMG_PTX_CUH

#include <cuda_fp16.h>

/* arithmetic */

/* A square root with an error below 2 units in the last place; 0 for numbers
 * that are not normal. */
static __device__ __forceinline__ float
ptx_sqrt (float x)
{
  float root;

  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}

/* `b` and `a` as bytes, saturated, in the two lowest bytes of the result (b
 * below a), under the two lowest bytes of `high`. */
static __device__ __forceinline__ unsigned
ptx_pack_bytes (int a, int b, unsigned high)
{
  unsigned word;

  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
      : "=r"(word)
      : "r"(a), "r"(b), "r"(high));
  return word;
}

/* sum + the signed halves of `pair` times the bytes 0 and 1, or (High) 2 and
 * 3, of `bytes`. */
template <bool High>
static __device__ __forceinline__ unsigned
ptx_dp2a (unsigned pair, unsigned bytes, unsigned sum)
{
  if (High)
    asm("dp2a.hi.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(pair), "r"(bytes));
  else
    asm("dp2a.lo.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(pair), "r"(bytes));
  return sum;
}

/* Bytes 0 and 1: all bits of the signs of a and b. The others: of no use. */
static __device__ __forceinline__ unsigned
ptx_sign_bytes (unsigned a, unsigned b)
{
  unsigned mask;

  asm("prmt.b32 %0, %1, %2, 0xfb;" : "=r"(mask) : "r"(a), "r"(b));
  return mask;
}

/* memory */

/* `base`, in global memory, and `row` strides more, in one instruction. */
template <typename T>
static __device__ __forceinline__ T *
ptx_row (T *base, int row, int stride)
{
  T *at;

  asm("mad.wide.s32 %0, %1, %2, %3;"
      : "=l"(at)
      : "r"(row), "r"(stride), "l"(base));
  __builtin_assume (__isGlobal (at));
  return at;
}

/* An address in shared memory, which takes one instruction to compute. */
typedef unsigned SharedAddress;

static __device__ __forceinline__ SharedAddress
ptx_shared_address (const void *shared)
{
  return (unsigned)__cvta_generic_to_shared (shared);
}

static __device__ __forceinline__ void
ptx_increment (SharedAddress counter)
{
  asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(counter) : "memory");
}

/* Counts up to `last` and then back to 0; returns the old value. What the
 * thread wrote before is seen before, what others wrote is seen after it. */
static __device__ __forceinline__ unsigned
ptx_count (unsigned *counter, unsigned last)
{
  unsigned old;

  asm volatile("atom.inc.acq_rel.gpu.global.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(counter), "r"(last)
               : "memory");
  return old;
}

/* Four 8 × 8 blocks of halves from shared memory; lane i gives the address of
 * row i % 8 of block i / 8. From compute capability 8.0 on. */
static __device__ __forceinline__ void
ptx_load_blocks (unsigned r[4], const __half *row)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
               "{%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(ptx_shared_address (row))
               : "memory");
#endif
}

static __device__ __forceinline__ void
ptx_load_blocks_transposed (unsigned r[4], const __half *row)
{
#if __CUDA_ARCH__ >= 800
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
               "{%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(ptx_shared_address (row))
               : "memory");
#endif
}

/* tensor cores */

/* d += a * b, of 16 × 16 and 16 × 8 halves. */
static __device__ __forceinline__ void
ptx_mma_halves (float d[4], const unsigned a[4], unsigned b0, unsigned b1)
{
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b0));
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[2]), "r"(a[3]), "r"(b1));
#endif
}

/* c += a * b, of 16 × 32 and 32 × 8 bytes. */
static __device__ __forceinline__ void
ptx_mma_bytes (int c[4], const unsigned a[4], unsigned b0, unsigned b1)
{
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(c[0]),
      "r"(c[1]), "r"(c[2]), "r"(c[3]));
#else
  const unsigned b[2] = { b0, b1 };

#pragma unroll
  for (int i = 0; i < 4; i++)
    asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, "
        "{%0, %1};"
        : "+r"(c[i % 2 * 2]), "+r"(c[i % 2 * 2 + 1])
        : "r"(a[i]), "r"(b[i / 2]));
#endif
}

#endif
