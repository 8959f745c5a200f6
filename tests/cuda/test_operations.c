/*
 * Every operation × format × size, with random parameters, memory layouts and
 * fills: the CPU version against what must hold of any result, and the CUDA
 * version against the CPU version. A new operation is a row in operations.c.
 *
 * Everything follows from the seed. A failure is replayed with
 *   test_operations --seed SEED --only OPERATION --format FORMAT --case CASE
 */
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "report.h"
#include "stream.h"

static struct
{
  gint64 seed;
  char *only;
  char *format;
  char *backend;
  int number;
  int repeat;
  gboolean quick;
  gboolean bare;
  gboolean list;
} options = {.seed = 1,.number = -1,.repeat = 3 };

static const GOptionEntry entries[] = {
  { "seed", 's', 0, G_OPTION_ARG_INT64, &options.seed,
      "Start of the random sequence; 0 takes the time (default 1)", "N" },
  { "only", 'o', 0, G_OPTION_ARG_STRING, &options.only,
      "Only this operation", "OPERATION" },
  { "format", 'f', 0, G_OPTION_ARG_STRING, &options.format,
      "Only this format", "FORMAT" },
  { "case", 'c', 0, G_OPTION_ARG_INT, &options.number,
      "Only this case of each group", "N" },
  { "backend", 'b', 0, G_OPTION_ARG_STRING, &options.backend,
      "Only this backend: cpu or cuda", "NAME" },
  { "repeat", 'r', 0, G_OPTION_ARG_INT, &options.repeat,
      "Cases for each small size (default 3)", "N" },
  { "quick", 'q', 0, G_OPTION_ARG_NONE, &options.quick,
      "Small sizes only, once each", NULL },
  { "bare", 0, 0, G_OPTION_ARG_NONE, &options.bare,
      "No guard bytes before and after, so that a sanitizer sees all", NULL },
  { "list", 'l', 0, G_OPTION_ARG_NONE, &options.list,
      "List the operations", NULL },
  { NULL }
};

/* One pixel, one row, one column, odd, prime, the sizes around a tile's. */
static const struct
{
  int width, height;
} sizes[] = {
  { 1, 1 }, { 2, 1 }, { 1, 2 }, { 2, 2 }, { 3, 5 }, { 5, 3 }, { 4, 4 },
  { 17, 1 }, { 1, 17 }, { 7, 6 }, { 13, 42 }, { 31, 33 }, { 32, 32 },
  { 33, 31 }, { 63, 9 }, { 64, 16 }, { 65, 8 }, { 255, 1 }, { 1, 257 },
  /* the rest is left out by --quick */
  { 63, 65 }, { 64, 64 }, { 65, 63 }, { 101, 37 }, { 127, 129 }, { 128, 128 },
  { 129, 127 }, { 255, 7 }, { 256, 17 }, { 257, 5 }, { 9, 256 }, { 16, 255 },
  { 255, 257 }, { 641, 363 },
};

#define N_SIZES ((int) G_N_ELEMENTS (sizes))
#define N_QUICK_SIZES 19
#define SMALL_PIXELS 5000 /* up to here, every size is tried repeatedly */

typedef enum {
  CHECK_CPU,
  CHECK_CUDA
} Check;

static ImgStream stream;

static bool
backend_wanted (const char *name)
{
  return !options.backend || strcmp (options.backend, name) == 0;
}

static bool
operation_wanted (const char *name)
{
  return !options.only || strcmp (options.only, name) == 0;
}

static bool
format_wanted (const ImgFormat *format)
{
  return !options.format || strcmp (options.format, format->name) == 0;
}

static int
repeats_of_size (int size)
{
  bool small = sizes[size].width * sizes[size].height <= SMALL_PIXELS;

  return small && !options.quick ? options.repeat : 1;
}

/* All cases of one format. States live on from case to case, as in a stream
 * whose size and properties change. */
static void
check_format (const TestOperation *row, const ImgOperationPair *pair,
    const ImgFormat *format, Check check)
{
  int n_sizes = options.quick ? N_QUICK_SIZES : N_SIZES;
  void *cpu_state = NULL, *cuda_state = NULL;
  int index = 0;

  for (int i = 0; i < n_sizes; i++)
    for (int k = 0; k < repeats_of_size (i); k++, index++) {
      TestCase c = {.guard = options.bare ? 0 : 64 };

      if (options.number >= 0 && options.number != index)
        continue;
      case_draw (&c, row, pair, format, sizes[i].width, sizes[i].height, index,
          (uint64_t) options.seed);
      if (check == CHECK_CPU)
        case_check_cpu (&c, &cpu_state);
      else
        case_check_cuda (&c, &cpu_state, &cuda_state, stream);
    }
  pair->cpu->release (cpu_state);
  pair->cuda->release (cuda_state);
}

static void
check_formats (const TestOperation *row, const ImgOperationPair *pair,
    Check check)
{
  const ImgFormat *format;

  for (int i = 0; (format = img_format_at (i)); i++)
    if (format_wanted (format)) {
      report_begin ("%s %s %s", check == CHECK_CPU ? "cpu" : "cuda", row->name,
          format->name);
      check_format (row, pair, format, check);
      report_end ();
    }
}

/* A few cases of a size that threads share. */
static void
check_few (const TestOperation *row, const ImgOperationPair *pair, Check check)
{
  static const char *const names[] = { "RGBA", "NV12", "GRAY16_LE" };

  report_begin (check == CHECK_CPU ? "cpu %s in several threads"
      : "cuda %s run only queues", row->name);
  for (size_t i = 0; i < G_N_ELEMENTS (names); i++)
    for (int k = 0; k < 8; k++) {
      TestCase c = {.guard = 64 };

      case_draw (&c, row, pair, img_format_find (names[i]), 129, 165, k,
          (uint64_t) options.seed);
      if (check == CHECK_CPU)
        case_check_threads (&c);
      else
        case_check_recorded (&c, stream);
    }
  report_end ();
}

/* Deep formats against the 8-bit format that is their like. */
static void
check_depths (const TestOperation *row, const ImgOperationPair *pair)
{
  static const char *const names[][2] = {
    { "P010_10LE", "NV12" }, { "P016_LE", "NV12" }, { "I420_10LE", "I420" },
    { "Y444_16LE", "Y444" }, { "GRAY16_LE", "GRAY8" },
  };
  int repeat = options.quick ? 1 : 6;

  for (size_t i = 0; i < G_N_ELEMENTS (names); i++) {
    report_begin ("cpu %s %s as %s", row->name, names[i][0], names[i][1]);
    for (int k = 0; k < N_QUICK_SIZES * repeat; k++) {
      TestCase c = {.guard = 64 };

      case_draw (&c, row, pair, img_format_find (names[i][0]),
          sizes[k / repeat].width, sizes[k / repeat].height, k,
          (uint64_t) options.seed);
      case_check_depth (&c, img_format_find (names[i][1]));
    }
    report_end ();
  }
}

static void
check_bad_call (const TestBadCall *call, const ImgOperation *op)
{
  const TestOperation *row = test_operation_find (call->operation);
  alignas (max_align_t) char params[TEST_PARAMS_SIZE];
  char text[512];
  ImgError error = { 0 };
  void *state = NULL;
  ImgView view;

  img_view_init (&view, img_format_find ("RGB"), 16, 16);
  img_view_lay_out (&view, NULL, 4);
  test_params_bad (call, params);
  test_params_describe (row, params, text, sizeof (text));
  report_case ();
  if (op->prepare (&state, &view, &view, params, &error))
    report_failure ("accepted: %s", text);
  else if (error.code != IMG_ERROR_SETTINGS || !error.text[0])
    report_failure ("error %d, \"%s\": %s", error.code, error.text, text);
  op->release (state);
}

/* Source and destination that do not go together. */
static void
check_bad_layouts (const TestOperation *row, const ImgOperation *op)
{
  static const char *const names[] = { "BGR", "GRAY8", "NV12", "RGB" };
  alignas (max_align_t) char params[TEST_PARAMS_SIZE];
  TestRandom random = 1;
  ImgView src, dst;

  test_params_draw (row, &random, params);
  img_view_init (&src, img_format_find ("RGB"), 16, 16);
  for (size_t i = 0; i < G_N_ELEMENTS (names); i++) {
    ImgError error = { 0 };
    void *state = NULL;

    /* the last one differs in size only */
    img_view_init (&dst, img_format_find (names[i]), 16, i == 3 ? 17 : 16);
    report_case ();
    if (op->prepare (&state, &src, &dst, params, &error))
      report_failure ("accepted RGB to %s %dx%d", names[i], dst.width,
          dst.height);
    else if (error.code == IMG_OK || !error.text[0])
      report_failure ("RGB to %s: error %d, \"%s\"", names[i], error.code,
          error.text);
    op->release (state);
  }
}

static void
check_failing (const TestOperation *row, const ImgOperation *op,
    const char *backend)
{
  const TestBadCall *call;

  report_begin ("%s %s calls that must fail", backend, row->name);
  for (int i = 0; (call = test_bad_call_at (i)); i++)
    if (strcmp (call->operation, row->name) == 0)
      check_bad_call (call, op);
  if (!row->shape)
    check_bad_layouts (row, op);
  report_end ();
}

static void
check_cpu (const TestOperation *row, const ImgOperationPair *pair)
{
  check_failing (row, pair->cpu, "cpu");
  check_formats (row, pair, CHECK_CPU);
  if (options.format || options.number >= 0)
    return;
  check_few (row, pair, CHECK_CPU);
  if (row->depths)
    check_depths (row, pair);
}

static void
check_cuda (const TestOperation *row, const ImgOperationPair *pair)
{
  check_failing (row, pair->cuda, "cuda");
  check_formats (row, pair, CHECK_CUDA);
  if (!options.format && options.number < 0)
    check_few (row, pair, CHECK_CUDA);
}

static void
check_operations (const char *backend, void (*check) (const TestOperation *,
        const ImgOperationPair *))
{
  const ImgOperationPair *pair;

  for (int i = 0; (pair = img_operation_at (i)); i++) {
    const TestOperation *row = test_operation_find (pair->cpu->name);

    if (!operation_wanted (pair->cpu->name))
      continue;
    if (row) {
      check (row, pair);
    } else {
      report_begin ("%s %s", backend, pair->cpu->name);
      report_failure ("no row in operations.c");
      report_end ();
    }
  }
}

static void
list_operations (void)
{
  const ImgOperationPair *pair;

  for (int i = 0; (pair = img_operation_at (i)); i++)
    puts (pair->cpu->name);
}

static bool
parse (int argc, char **argv)
{
  GOptionContext *context = g_option_context_new (NULL);
  GError *error = NULL;

  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    fprintf (stderr, "%s\n", error->message);
    g_clear_error (&error);
  } else if (options.only && !test_operation_find (options.only)) {
    fprintf (stderr, "no operation is called %s\n", options.only);
  } else if (options.format && !img_format_find (options.format)) {
    fprintf (stderr, "no format is called %s\n", options.format);
  } else {
    g_option_context_free (context);
    return true;
  }
  g_option_context_free (context);
  return false;
}

int
main (int argc, char **argv)
{
  ImgError error = { 0 };

  if (!parse (argc, argv))
    return 2;
  if (options.list) {
    list_operations ();
    return 0;
  }
  if (options.seed == 0)
    options.seed = g_get_real_time ();
  printf ("seed %" G_GINT64_FORMAT "\n", options.seed);
  if (backend_wanted ("cpu"))
    check_operations ("cpu", check_cpu);
  if (backend_wanted ("cuda")) {
    stream = stream_new (&error);
    if (stream) {
      check_operations ("cuda", check_cuda);
      stream_free (stream);
    } else {
      report_skip ("cuda against cpu", error.text);
    }
  }
  return report_finish ();
}
