/*
 * The device side of CUDA C++ on the CPU, so that kernels can be tested where
 * there is no GPU. Included before a .cu file, which a C++ compiler then takes:
 * kernels become functions that a fiber calls for each thread of a block, and
 * that yield where threads wait for each other. Blocks run one after the other,
 * and the threads of a block in random order, so that a missing barrier shows.
 *
 * It replaces cuda/launch.cuh and cuda/ptx.cuh. A kernel for a GPU of compute
 * capability 9.0 is what it emulates. It says nothing about speed.
 */
#ifndef EMULATE_H
#define EMULATE_H

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <functional>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <type_traits>

#define IMG_LAUNCH_CUH
#define IMG_PTX_CUH
#define __CUDA_ARCH__ 900

#undef __shared__
#define __shared__ static
#undef __launch_bounds__
#define __launch_bounds__(...)
#define __builtin_assume(x)

/* emulate.cpp */

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

#define EMULATE_ALL_LANES 0xffffffffu

/* Does what is queued on a stream, or records it where a stream records. */
void emulate_queue (const std::function<void ()> &work);

/* Runs a kernel, or records it where a stream records. */
void emulate_launch (
    dim3 grid, dim3 block, size_t shared, const std::function<void ()> &kernel);
void *emulate_shared (void);
int emulate_lane (void);

/* Waits for all threads of the block; returns how many gave a predicate that
 * is not 0. */
int emulate_barrier (int predicate);

/* What the lanes of a warp tell each other, each in a slot. */
struct EmulateSlot {
  alignas (16) unsigned char bytes[64];
};

/* Puts `size` bytes into the lane's slot, waits for all lanes of `mask`, and
 * returns the 32 slots. They are overwritten by the next exchange but one. */
const EmulateSlot *emulate_exchange (
    unsigned mask, const void *value, size_t size);

/* launch.cuh */

static inline void
start_next_kernel (void)
{
}

static inline void
wait_for_kernel_before (void)
{
}

static inline void
kernel_begin (void)
{
}

template <typename T>
static inline T *
dynamic_shared (void)
{
  return (T *)emulate_shared ();
}

template <typename... Parameters>
static void
launch (void (*kernel) (Parameters...), dim3 grid, dim3 block, size_t shared,
    cudaStream_t stream, const Parameters &...parameters)
{
  emulate_launch (grid, block, shared, [=] { kernel (parameters...); });
}

template <typename... Parameters>
static cudaError_t
cudaFuncSetAttribute (
    void (*kernel) (Parameters...), cudaFuncAttribute attribute, int value)
{
  return cudaSuccess;
}

template <typename... Parameters>
static cudaError_t
cudaFuncGetAttributes (
    cudaFuncAttributes *attributes, void (*kernel) (Parameters...))
{
  return cudaSuccess;
}

/* threads that wait for each other */

static inline void
__syncthreads (void)
{
  emulate_barrier (0);
}

static inline int
__syncthreads_count (int predicate)
{
  return emulate_barrier (predicate);
}

static inline void
__syncwarp (unsigned mask = EMULATE_ALL_LANES)
{
  emulate_exchange (mask, NULL, 0);
}

template <typename T>
static T
emulate_value_of (const EmulateSlot *slots, int lane)
{
  T value;

  memcpy (&value, slots[lane].bytes, sizeof (T));
  return value;
}

template <typename T>
static T
__shfl_sync (unsigned mask, T value, int lane, int width = 32)
{
  const EmulateSlot *slots = emulate_exchange (mask, &value, sizeof (T));
  const int first = emulate_lane () & -width;

  return emulate_value_of<T> (slots, first | (lane & (width - 1)));
}

template <typename T>
static T
__shfl_xor_sync (unsigned mask, T value, int bits)
{
  return __shfl_sync (mask, value, emulate_lane () ^ bits);
}

template <typename T>
static T
__shfl_up_sync (unsigned mask, T value, int delta)
{
  const int lane = emulate_lane ();

  return __shfl_sync (mask, value, lane >= delta ? lane - delta : lane);
}

template <typename T>
static T
__shfl_down_sync (unsigned mask, T value, int delta)
{
  const int lane = emulate_lane ();

  return __shfl_sync (mask, value, lane + delta < 32 ? lane + delta : lane);
}

/* atomic operations: nothing runs beside a thread */

template <typename T>
static T
emulate_replace (T *at, T value)
{
  const T old = *at;

  *at = value;
  return old;
}

template <typename T> using EmulateValue = typename std::common_type<T>::type;

template <typename T>
static T
atomicAdd (T *at, EmulateValue<T> value)
{
  return emulate_replace (at, (T)(*at + value));
}

template <typename T>
static T
atomicExch (T *at, EmulateValue<T> value)
{
  return emulate_replace (at, (T)value);
}

template <typename T>
static T
atomicMin (T *at, EmulateValue<T> value)
{
  return emulate_replace (at, value < *at ? (T)value : *at);
}

template <typename T>
static T
atomicMax (T *at, EmulateValue<T> value)
{
  return emulate_replace (at, value > *at ? (T)value : *at);
}

static inline unsigned
atomicInc (unsigned *at, unsigned last)
{
  return emulate_replace (at, *at >= last ? 0 : *at + 1);
}

static inline void
__threadfence (void)
{
}

template <typename T>
static inline T
__ldg (const T *at)
{
  return *at;
}

template <typename T>
static inline T
__ldcg (const T *at)
{
  return *at;
}

/* arithmetic */

#define EMULATE_MIN_MAX(T)                                                     \
  static inline T min (T a, T b)                                               \
  {                                                                            \
    return a < b ? a : b;                                                      \
  }                                                                            \
  static inline T max (T a, T b)                                               \
  {                                                                            \
    return a > b ? a : b;                                                      \
  }
EMULATE_MIN_MAX (int)
EMULATE_MIN_MAX (unsigned)
EMULATE_MIN_MAX (long)
EMULATE_MIN_MAX (unsigned long)
EMULATE_MIN_MAX (unsigned long long)
EMULATE_MIN_MAX (float)

static inline float
__fadd_rn (float a, float b)
{
  return a + b;
}

static inline float
__fsub_rn (float a, float b)
{
  return a - b;
}

static inline float
__fmul_rn (float a, float b)
{
  return a * b;
}

static inline float
__fdiv_rn (float a, float b)
{
  return a / b;
}

static inline float
__fsqrt_rn (float a)
{
  return sqrtf (a);
}

static inline double
__dadd_rn (double a, double b)
{
  return a + b;
}

static inline double
__dmul_rn (double a, double b)
{
  return a * b;
}

static inline float
__fmaf_rn (float a, float b, float c)
{
  return fmaf (a, b, c);
}

static inline float
__saturatef (float a)
{
  return a > 0 ? a < 1 ? a : 1 : 0;
}

static inline int
__float2int_rn (float a)
{
  return a >= 2147483648.0f   ? INT_MAX
         : a > -2147483648.0f ? (int)rintf (a)
                              : INT_MIN;
}

static inline unsigned
__float2uint_rn (float a)
{
  return a >= 4294967296.0f ? UINT_MAX : a > 0 ? (unsigned)rintf (a) : 0;
}

template <typename To, typename From>
static inline To
emulate_bits (From from)
{
  To to;

  static_assert (sizeof (to) == sizeof (from), "sizes differ");
  memcpy (&to, &from, sizeof (to));
  return to;
}

static inline int
__float_as_int (float a)
{
  return emulate_bits<int> (a);
}

static inline unsigned
__float_as_uint (float a)
{
  return emulate_bits<unsigned> (a);
}

static inline float
__int_as_float (int a)
{
  return emulate_bits<float> (a);
}

static inline float
__uint_as_float (unsigned a)
{
  return emulate_bits<float> (a);
}

static inline long long
__double_as_longlong (double a)
{
  return emulate_bits<long long> (a);
}

static inline double
__longlong_as_double (long long a)
{
  return emulate_bits<double> (a);
}

static inline unsigned
__umulhi (unsigned a, unsigned b)
{
  return (unsigned)((uint64_t)a * b >> 32);
}

static inline int
__popc (unsigned a)
{
  return __builtin_popcount (a);
}

static inline int
__clz (int a)
{
  return a ? __builtin_clz ((unsigned)a) : 32;
}

static inline unsigned
emulate_byte (unsigned word, int i)
{
  return word >> 8 * i & 0xff;
}

static inline unsigned
emulate_half (unsigned word, int i)
{
  return word >> 16 * i & 0xffff;
}

static inline unsigned
__byte_perm (unsigned a, unsigned b, unsigned select)
{
  const uint64_t bytes = (uint64_t)b << 32 | a;
  unsigned word = 0;

  for (int i = 0; i < 4; i++)
    word |= (unsigned)(bytes >> 8 * (select >> 4 * i & 7) & 0xff) << 8 * i;
  return word;
}

static inline unsigned
__funnelshift_r (unsigned low, unsigned high, unsigned shift)
{
  return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}

static inline unsigned
__dp4a (unsigned a, unsigned b, unsigned sum)
{
  for (int i = 0; i < 4; i++)
    sum += emulate_byte (a, i) * emulate_byte (b, i);
  return sum;
}

static inline unsigned
__dp2a_lo (unsigned a, unsigned b, unsigned sum)
{
  return sum + emulate_half (a, 0) * emulate_byte (b, 0)
         + emulate_half (a, 1) * emulate_byte (b, 1);
}

static inline unsigned
__dp2a_hi (unsigned a, unsigned b, unsigned sum)
{
  return __dp2a_lo (a, b >> 16, sum);
}

static inline __half2
__hfma2 (__half2 a, __half2 b, __half2 c)
{
  const float2 x = __half22float2 (a), y = __half22float2 (b);
  const float2 z = __half22float2 (c);

  return __floats2half2_rn (fmaf (x.x, y.x, z.x), fmaf (x.y, y.y, z.y));
}

/* A function of the halves or bytes of two words. */
template <typename Part, typename Function>
static inline unsigned
emulate_parts (unsigned a, unsigned b, Function function)
{
  const int bits = 8 * sizeof (Part);
  unsigned word = 0;

  for (int i = 0; i < 32; i += bits)
    word |= ((unsigned)function ((Part)(a >> i), (Part)(b >> i))
                & (UINT_MAX >> (32 - bits)))
            << i;
  return word;
}

#define EMULATE_PARTS(name, Part, expression)                                  \
  static inline unsigned name (unsigned x, unsigned y)                         \
  {                                                                            \
    return emulate_parts<Part> (                                               \
        x, y, [] (Part a, Part b) { return expression; });                     \
  }
EMULATE_PARTS (__vminu2, uint16_t, a < b ? a : b)
EMULATE_PARTS (__vmaxu2, uint16_t, a > b ? a : b)
EMULATE_PARTS (__vmaxs2, int16_t, a > b ? a : b)
EMULATE_PARTS (__vmins2, int16_t, a < b ? a : b)
EMULATE_PARTS (__vadd2, uint16_t, a + b)
EMULATE_PARTS (__vsub2, uint16_t, a - b)
EMULATE_PARTS (__vcmpgtu2, uint16_t, a > b ? 0xffff : 0)
EMULATE_PARTS (__vcmpgtu4, uint8_t, a > b ? 0xff : 0)
EMULATE_PARTS (__vsubus4, uint8_t, a > b ? a - b : 0)

/* Fast approximations, which the C library happens to declare. */
#define __logf(x) logf (x)
#define __log2f(x) log2f (x)

/* ptx.cuh */

static inline float
ptx_sqrt (float x)
{
  return sqrtf (x);
}

static inline unsigned
ptx_pack_bytes (int a, int b, unsigned high)
{
  const unsigned low = (unsigned)min (max (b, 0), 255);

  return high << 16 | (unsigned)min (max (a, 0), 255) << 8 | low;
}

template <bool High>
static inline unsigned
ptx_dp2a (unsigned pair, unsigned bytes, unsigned sum)
{
  for (int i = 0; i < 2; i++)
    sum += (unsigned)((int16_t)emulate_half (pair, i)
                      * (int)emulate_byte (bytes, 2 * High + i));
  return sum;
}

static inline unsigned
ptx_sign_bytes (unsigned a, unsigned b)
{
  return (a >> 31) * 0xff | (b >> 31) * 0xff00;
}

template <typename T>
static inline T *
ptx_row (T *base, int row, int stride)
{
  return (T *)((const char *)base + (ptrdiff_t)row * stride);
}

typedef uintptr_t SharedAddress;

static inline SharedAddress
ptx_shared_address (const void *shared)
{
  return (SharedAddress)shared;
}

static inline void
ptx_increment (SharedAddress counter)
{
  ++*(unsigned *)counter;
}

static inline unsigned
ptx_count (unsigned *counter, unsigned last)
{
  return atomicInc (counter, last);
}

/* emulate-mma.cpp */
void ptx_load_blocks (unsigned r[4], const __half *row);
void ptx_load_blocks_transposed (unsigned r[4], const __half *row);
void ptx_mma_halves (float d[4], const unsigned a[4], unsigned b0, unsigned b1);
void ptx_mma_bytes (int c[4], const unsigned a[4], unsigned b0, unsigned b1);

#endif
