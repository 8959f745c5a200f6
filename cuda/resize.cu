/*
 * resize.h on the GPU: one launch for the planes that are made alike, and one
 * more where there is a border. What is here prepares and launches the kernels
 * of resize-*.cuh.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "resize-halve.cuh"
#include "resize-sum.cuh"
#include "resize-walk.cuh"

/* The rows of a strip that is walked, most and least. Long ones need fewer rows
 * twice, and short ones make more blocks, of which there should be so many. */
#define WALK_ROWS 16
#define WALK_MIN_ROWS 4
#define WALK_BLOCKS 2000

/* Inputs of an output, in each direction, with which one can walk. */
static const int walk_taps[] = { 2, 3, 4, 8 };
#define N_WALK_TAPS 4

/* black */

struct BlackPlane {
  unsigned char *dst;
  ptrdiff_t stride;
  int width, height, channels;
  int x_begin, x_end, y_begin, y_end; /* the rectangle, which is left alone */
  unsigned black[IMG_MAX_CHANNELS];
};

template <typename T>
__global__ void __launch_bounds__ (256)
    black_kernel (const __grid_constant__ BlackPlane plane)
{
  const int i = blockIdx.x * 256 + threadIdx.x, y = blockIdx.y;
  const int x = i / plane.channels;

  kernel_begin ();
  if (x < plane.width
      && !(x >= plane.x_begin && x < plane.x_end && y >= plane.y_begin
           && y < plane.y_end))
    ((T *)(plane.dst + y * plane.stride))[i]
        = (T)plane.black[i - x * plane.channels];
}

/* host */

/* The arrays of a plane, as offsets into the block of device memory, in units
 * of 4 bytes. */
typedef struct {
  size_t first_x, weight_x, first_y, weight_y, piece;
  int pieces;
  bool walks, apart, halves, cosited; /* as in ResizePlane */
} Offsets;

typedef struct {
  ImgResizePlan plan; /* its arrays, and what is below, are uploaded */
  Offsets offsets[IMG_MAX_PLANES];
  int taps;        /* of the planes that walk */
  int *block;      /* on the device */
  size_t capacity; /* of the block, in units of 4 bytes */
} State;

/* Where the pieces of a row with `channels` begin, and the end: as many outputs
 * as fit. */
static int
cut_pieces (const ImgResizeAxis *axis, int channels, int *piece)
{
  const int n = axis->end - axis->begin;
  /* a piece begins and ends amid a word at worst */
  const int most = (PIECE - 6) / channels;
  int pieces = 0;

  for (int begin = 0, end; begin < n; begin = end) {
    piece[pieces++] = begin;
    for (end = begin + 1; end < n && end - begin < most; end++)
      if (axis->first[end] + axis->taps - axis->first[begin] > most)
        break;
  }
  piece[pieces] = n;
  return pieces;
}

/* Appends an array to `data`, or only counts it if that is NULL. */
static size_t
append (int *data, size_t *used, const void *array, size_t n)
{
  const size_t offset = *used;

  if (data && n > 0)
    memcpy (data + offset, array, n * 4);
  *used += (n + 3) / 4 * 4; /* so that weights can be loaded together */
  return offset;
}

/* Appends an axis, with `taps` for each output of a plane of `size`. The
 * weights are multiplied by `factor`. */
static void
append_walk_axis (const ImgResizeAxis *axis, int size, int taps, float factor,
    int *data, size_t *used, size_t *first, size_t *weight)
{
  const size_t n = axis->end - axis->begin;

  *first = append (data, used, axis->first, n);
  *weight = append (data, used, NULL, 0);
  *used += (n * taps + 3) / 4 * 4;
  for (size_t i = 0; data && i < n; i++) {
    const int inside = min (axis->first[i], size - taps);
    float *to = (float *)data + *weight + i * taps + axis->first[i] - inside;

    data[*first + i] = inside;
    for (int k = 0; k < axis->taps; k++)
      to[k] = axis->weight[i * axis->taps + k] * factor;
  }
}

static void
append_plane (State *state, const ImgView *src, int i, int *data, size_t *used)
{
  const ImgResizePlane *plan = &state->plan.plane[i];
  const ImgPlane *plane = &src->plane[i];
  const size_t width = plan->x.end - plan->x.begin;
  const size_t height = plan->y.end - plan->y.begin;
  Offsets *o = &state->offsets[i];

  if (o->walks) {
    append_walk_axis (&plan->x, plane->width, state->taps,
        1.0f / (1 << src->shift), data, used, &o->first_x, &o->weight_x);
    append_walk_axis (&plan->y, plane->height, state->taps, 1, data, used,
        &o->first_y, &o->weight_y);
    return;
  }
  o->first_x = append (data, used, plan->x.first, width);
  o->weight_x = append (data, used, plan->x.weight, width * plan->x.taps);
  o->first_y = append (data, used, plan->y.first, height);
  o->weight_y = append (data, used, plan->y.weight, height * plan->y.taps);
  o->piece = *used;
  *used += (width + 4) / 4 * 4;
  if (data)
    o->pieces = cut_pieces (&plan->x, plane->channels, data + o->piece);
}

/* Whether hardly any outputs share an input, of `taps` each. */
static bool
are_apart (const ImgResizeAxis *axis, int taps)
{
  const int n = axis->end - axis->begin;

  return n > 0
         && (int64_t)axis->first[n - 1] - axis->first[0]
                >= (int64_t)(n - 1) * taps - taps;
}

/* Finds out which planes walk, and with how many inputs. */
static void
choose_walks (State *state, const ImgView *src)
{
  state->taps = walk_taps[0];
  for (int i = 0; i < src->n_planes; i++) {
    const ImgResizePlane *plan = &state->plan.plane[i];
    const int taps = max (plan->x.taps, plan->y.taps);

    state->offsets[i].walks = taps > 1 && taps <= walk_taps[N_WALK_TAPS - 1];
    for (int k = 0; state->offsets[i].walks && state->taps < taps; k++)
      state->taps = walk_taps[k];
  }
  for (int i = 0; i < src->n_planes; i++) {
    Offsets *o = &state->offsets[i];

    o->walks &= src->plane[i].width >= state->taps
                && src->plane[i].height >= state->taps;
    o->apart = o->walks && are_apart (&state->plan.plane[i].y, state->taps);
  }
}

/* Whether each output takes the two inputs at twice its place alike. */
static bool
are_pairs (const ImgResizeAxis *axis)
{
  for (int i = 0; i < axis->end - axis->begin; i++)
    if (axis->first[i] != 2 * i || axis->weight[2 * i] != 0.5f
        || axis->weight[2 * i + 1] != 0.5f)
      return false;
  return axis->taps == 2;
}

/* Whether the weights are those of halve_mean where it takes three. */
static bool
are_cosited (const ImgResizeAxis *axis)
{
  const float edge[] = { 4 / 7.0f, 3 / 7.0f, 0 },
              other[] = { 0.125, 0.5, 0.375 };

  for (int i = 0; i < axis->end - axis->begin; i++)
    for (int k = 0; k < 3; k++)
      if (axis->first[i] != max (2 * i - 1, 0)
          || fabsf (axis->weight[3 * i + k] - (i ? other : edge)[k]) > 1e-6f)
        return false;
  return true;
}

static void
choose_halves (State *state, const ImgView *src)
{
  for (int i = 0; i < src->n_planes; i++) {
    const ImgResizePlane *plan = &state->plan.plane[i];
    Offsets *o = &state->offsets[i];

    o->cosited = src->plane[i].channels <= 2 && plan->x.taps == 3
                 && plan->y.taps == 2 && are_pairs (&plan->y)
                 && are_cosited (&plan->x);
    o->halves = plan->halves || o->cosited;
  }
}

/* Makes the block at least `size` large. What is queued may still read it. */
static bool
reserve_block (State *state, size_t size, ImgError *error)
{
  const char *what = "allocating memory for resizing";

  if (size <= state->capacity)
    return img_cuda_check (cudaDeviceSynchronize (), what, error);
  cudaFree (state->block);
  state->block = NULL;
  state->capacity = 0;
  if (!img_cuda_check (cudaMalloc (&state->block, size * 4), what, error))
    return false;
  state->capacity = size;
  return true;
}

static bool
upload_plan (State *state, const ImgView *src, ImgError *error)
{
  size_t size = 0, used = 0;
  int *data;
  bool ok;

  choose_walks (state, src);
  choose_halves (state, src);
  for (int i = 0; i < src->n_planes; i++)
    append_plane (state, src, i, NULL, &size);
  data = (int *)calloc (size, 4);
  if (!data)
    return img_fail (error, IMG_ERROR_NO_MEMORY, "resize: out of memory");
  for (int i = 0; i < src->n_planes; i++)
    append_plane (state, src, i, data, &used);
  /* such a copy may return before the device has all */
  ok = reserve_block (state, size, error)
       && img_cuda_check (
           cudaMemcpy (state->block, data, size * 4, cudaMemcpyHostToDevice),
           "uploading weights", error)
       && img_cuda_check (
           cudaStreamSynchronize (NULL), "uploading weights", error);
  free (data);
  return ok;
}

static void
release (void *data)
{
  State *state = (State *)data;

  if (state) {
    cudaFree (state->block);
    img_resize_plan_clear (&state->plan);
  }
  free (state);
}

static bool
prepare (void **data, const ImgView *src, const ImgView *dst,
    const void *params, ImgError *error)
{
  State *state = (State *)*data;

  if (!state)
    *data = state = (State *)calloc (1, sizeof (*state));
  if (!state)
    return img_fail (error, IMG_ERROR_NO_MEMORY, "resize: out of memory");
  img_resize_plan_clear (&state->plan);
  return img_resize_plan (
             &state->plan, src, dst, (const ImgResizeParams *)params, error)
         && upload_plan (state, src, error);
}

static bool
is_aligned (const void *data, ptrdiff_t stride, unsigned align)
{
  return ((uintptr_t)data | (uintptr_t)stride) % align == 0;
}

/* What a walk needs. The row that comes last in memory may not be read in words
 * if it ends amid one. */
static void
set_walk (ResizePlane *plane, int component_bytes)
{
  const bool all = plane->src_row * component_bytes % 4 == 0;
  const bool box = plane->scale != 1;
  const unsigned used = 0xffffu >> plane->shift << plane->shift;

  plane->mask = used << 16 | used;
  if (component_bytes
      == 1) /* weights of a box are 1, and all others sum to 1 */
    plane->start = -(float)WINDOW_OFFSET * (box ? plane->x.taps : 1);
  plane->scaled_bias = plane->bias * plane->scale;
  plane->words_begin = !all && plane->src_stride < 0;
  plane->words_end = !plane->aligned                  ? 0
                     : !all && plane->src_stride >= 0 ? plane->src_rows - 1
                                                      : plane->src_rows;
}

/* How a plane is made, which depends on how it lies in memory. */
static ResizeKind
choose_kind (const ResizePlane &plane, const Offsets *o)
{
  if (plane.x.taps == 1 && plane.y.taps == 1)
    return KIND_PICK;
  if (o->halves && is_aligned (plane.src, plane.src_stride, 16)
      && is_aligned (plane.dst, plane.dst_stride, 8))
    return KIND_HALVE;
  return o->walks ? KIND_WALK : KIND_SUM;
}

static void
set_arrays (ResizePlane *plane, const State *state, int i)
{
  const ImgResizePlane *plan = &state->plan.plane[i];
  const Offsets *o = &state->offsets[i];
  const int *block = state->block;

  plane->x = { block + o->first_x, (const float *)block + o->weight_x,
    plan->x.taps };
  plane->y = { block + o->first_y, (const float *)block + o->weight_y,
    plan->y.taps };
  plane->piece = block + o->piece;
  plane->pieces = o->pieces;
  plane->apart = o->apart;
  plane->cosited = o->cosited;
}

static ResizePlane
resize_plane (const State *state, const ImgView *src, const ImgView *dst, int i)
{
  const ImgPlane *from = &src->plane[i], *to = &dst->plane[i];
  const ImgResizePlane *plan = &state->plan.plane[i];
  ResizePlane plane = {};

  plane.src = (const unsigned char *)from->data;
  plane.dst = (unsigned char *)to->data + plan->y.begin * to->stride
              + (size_t)plan->x.begin * to->channels * dst->component_bytes;
  plane.src_stride = from->stride;
  plane.dst_stride = to->stride;
  plane.width = plan->x.end - plan->x.begin;
  plane.height = plan->y.end - plan->y.begin;
  plane.src_row = from->width * from->channels;
  plane.src_rows = from->height;
  plane.channels = from->channels;
  plane.shift = src->shift;
  plane.max = img_view_levels (src).max;
  plane.bias = plan->bias;
  plane.scale = plan->scale;
  plane.aligned = is_aligned (plane.src, plane.src_stride, 4);
  plane.dst_aligned = is_aligned (plane.dst, plane.dst_stride, 4);
  set_arrays (&plane, state, i);
  set_walk (&plane, src->component_bytes);
  plane.kind = choose_kind (plane, &state->offsets[i]);
  return plane;
}

static int
divide_up (int a, int b)
{
  return (a + b - 1) / b;
}

/* Blocks beside each other in a plane. */
static int
count_columns (const ResizePlane &plane, int taps, int component_bytes)
{
  const int pixel = plane.channels * component_bytes;

  switch (plane.kind) {
  case KIND_WALK:
    return divide_up (plane.width,
        walk_threads (plane.channels) * max ((taps > 4 ? 2 : 4) / pixel, 1));
  case KIND_HALVE:
    return divide_up (
        plane.width * pixel, HALVE_THREADS_X * (plane.channels == 3 ? 24 : 8));
  case KIND_PICK:
    return divide_up (plane.width, PICK_PIECE);
  default:
    return plane.pieces;
  }
}

/* The grid of a job whose blocks have `rows` rows. */
static dim3
cut_rows (ResizeJob *job, int rows, int taps, int component_bytes)
{
  dim3 grid (0, 0);

  job->rows = rows;
  for (int i = 0; i < job->n_planes; i++) {
    const int columns = count_columns (job->plane[i], taps, component_bytes);

    job->plane[i].blocks = divide_up (job->plane[i].height, rows);
    grid.x = max (grid.x, (unsigned)columns);
    grid.y += job->plane[i].blocks;
  }
  return grid;
}

/* The grid of a job of planes that walk. */
static dim3
cut_strips (ResizeJob *job, int taps, int component_bytes)
{
  const int least = job->plane[0].apart ? 1 : WALK_MIN_ROWS;
  int rows = WALK_ROWS;
  dim3 grid;

  do {
    grid = cut_rows (job, rows, taps, component_bytes);
    rows /= 2;
  } while (grid.x * grid.y < WALK_BLOCKS && rows >= least);
  return grid;
}

typedef void (*Kernel) (const ResizeJob job);

#define WALK_KERNELS(taps)                                                     \
  {                                                                            \
    walk_kernel<T, 1, taps>, walk_kernel<T, 2, taps>, walk_kernel<T, 3, taps>, \
        walk_kernel<T, 4, taps>                                                \
  }

template <typename T>
static Kernel
walk_kernel_of (int taps, int channels)
{
  static const Kernel kernel[N_WALK_TAPS][IMG_MAX_CHANNELS]
      = { WALK_KERNELS (2), WALK_KERNELS (3), WALK_KERNELS (4),
          WALK_KERNELS (8) };
  int i = 0;

  while (walk_taps[i] < taps)
    i++;
  return kernel[i][channels - 1];
}

/* Launches a job of planes of one kind. `channels`: of its plane, or 2. */
template <typename T>
static void
launch_job (ResizeKind kind, ResizeJob *job, int taps, int channels,
    cudaStream_t stream)
{
  static const Kernel halve[IMG_MAX_CHANNELS] = { halve_kernel<T, 1>,
    halve_kernel<T, 2>, halve_kernel<T, 3>, halve_kernel<T, 4> };

  if (kind == KIND_WALK) {
    const dim3 grid = cut_strips (job, taps, sizeof (T));

    launch (walk_kernel_of<T> (taps, channels), grid, walk_threads (channels),
        0, stream, *job);
  } else if (kind == KIND_HALVE) {
    const dim3 grid = cut_rows (job, HALVE_TILE_ROWS, 0, sizeof (T));

    launch (halve[channels - 1], grid, dim3 (HALVE_THREADS_X, HALVE_THREADS_Y),
        0, stream, *job);
  } else {
    const dim3 grid = cut_rows (job, WARPS, 0, sizeof (T));

    launch (kind == KIND_PICK ? pick_kernel<T> : sum_kernel<T>, grid,
        dim3 (32, WARPS), 0, stream, *job);
  }
}

static bool
launch_planes (ResizeKind kind, const State *state, ResizeJob *job,
    int component_bytes, cudaStream_t stream, ImgError *error)
{
  const int channels = job->n_planes > 1 ? 2 : job->plane[0].channels;

  if (job->n_planes == 0)
    return true;
  if (component_bytes == 1)
    launch_job<uint8_t> (kind, job, state->taps, channels, stream);
  else
    launch_job<uint16_t> (kind, job, state->taps, channels, stream);
  return img_cuda_launched ("launching resize", error);
}

/* The planes of one kind: those of one or two channels in one launch. */
static bool
run_kind (ResizeKind kind, const State *state, const ImgView *src,
    const ResizePlane *plane, cudaStream_t stream, ImgError *error)
{
  ResizeJob several = {};

  for (int i = 0; i < src->n_planes; i++) {
    ResizeJob single = { 1, 0, { plane[i] } };

    if (plane[i].kind != kind || plane[i].width == 0 || plane[i].height == 0)
      continue;
    if (plane[i].channels <= 2)
      several.plane[several.n_planes++] = plane[i];
    else if (!launch_planes (
                 kind, state, &single, src->component_bytes, stream, error))
      return false;
  }
  return launch_planes (
      kind, state, &several, src->component_bytes, stream, error);
}

static bool
fill_black (const ImgResizePlane *plan, const ImgView *dst, int i,
    cudaStream_t stream, ImgError *error)
{
  const ImgPlane *to = &dst->plane[i];
  const dim3 grid ((to->width * to->channels + 255) / 256, to->height);
  BlackPlane plane = { (unsigned char *)to->data, to->stride, to->width,
    to->height, to->channels, plan->x.begin, plan->x.end, plan->y.begin,
    plan->y.end, {} };

  if (to->height == 0)
    return true;
  if (plan->x.end - plan->x.begin == to->width
      && plan->y.end - plan->y.begin == to->height)
    return true;
  for (int c = 0; c < to->channels; c++)
    plane.black[c] = plan->black[c];
  launch (dst->component_bytes == 1 ? black_kernel<uint8_t>
                                    : black_kernel<uint16_t>,
      grid, 256, 0, stream, plane);
  return img_cuda_launched ("launching a border", error);
}

static bool
run (void *data, const ImgView *src, const ImgView *dst, const void *params,
    ImgStream stream, ImgError *error)
{
  const State *state = (const State *)data;
  ResizePlane plane[IMG_MAX_PLANES];

  for (int i = 0; i < src->n_planes; i++) {
    plane[i] = resize_plane (state, src, dst, i);
    if (!fill_black (&state->plan.plane[i], dst, i, stream, error))
      return false;
  }
  for (int kind = 0; kind < N_KINDS; kind++)
    if (!run_kind ((ResizeKind)kind, state, src, plane, stream, error))
      return false;
  return true;
}

extern "C" const ImgOperation img_resize_cuda
    = { "resize", sizeof (ImgResizeParams), false, prepare, run, release };
