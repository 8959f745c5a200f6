/* The results of bench_operations as a table and as JSON. */
#include "bench_operations.h"

#include <stdio.h>
#include <string.h>

#define TARGET_HEIGHT 2160
#define LARGE_KERNEL "gaussian-31"
#define SMALL_KERNEL "gaussian-15"
#define LARGE_KERNEL_TARGET 2.5

static const BenchResult *
find_same_picture (const GArray *results, const char *name,
    const BenchResult *like)
{
  for (guint i = 0; i < results->len; i++) {
    const BenchResult *r = &g_array_index (results, BenchResult, i);

    if (strcmp (r->operation->name, name) == 0 && r->width == like->width
        && r->height == like->height && strcmp (r->format, like->format) == 0)
      return r;
  }
  return NULL;
}

static void
append_verdict (GString *text, double value, double target, const char *unit)
{
  if (value > 0 && target > 0)
    g_string_append_printf (text, "%s%s %g %s", text->len ? ", " : "",
        value <= target ? "ok:" : "MISSED:", target, unit);
}

/* Which aims this result reaches. */
static void
judge (GString *text, const GArray *results, const BenchResult *r)
{
  g_string_truncate (text, 0);
  if (r->height < TARGET_HEIGHT)
    return;
  append_verdict (text, r->time.us / r->floor_us, r->operation->floor_target,
      "x floor");
  if (r->peer_us > 0)
    append_verdict (text, r->time.us / r->peer_us, r->operation->peer_target,
        "x peer");
  if (strcmp (r->operation->name, LARGE_KERNEL) == 0) {
    const BenchResult *small = find_same_picture (results, SMALL_KERNEL, r);

    if (small)
      append_verdict (text, r->time.us / small->time.us, LARGE_KERNEL_TARGET,
          "x " SMALL_KERNEL);
  }
}

static void
print_row (const BenchResult *r, const char *verdict)
{
  char size[16], peer[64] = "";

  g_snprintf (size, sizeof (size), "%dx%d", r->width, r->height);
  if (r->peer_us > 0)
    g_snprintf (peer, sizeof (peer), "%9.1f %6.2f  %s", r->peer_us,
        r->time.us / r->peer_us, r->peer);
  printf ("%-18s %-6s %-9s %9.1f%s %7.1f %7.2f %8.1f %-47s%s%s\n",
      r->operation->name, r->format, size, r->time.us,
      r->time.queued ? " " : "*", r->gbs, r->time.us / r->floor_us,
      r->time.host_us, peer, verdict[0] ? " " : "", verdict);
}

void
bench_print_table (const BenchMachine *machine, const GArray *results)
{
  GString *verdict = g_string_new (NULL);
  bool all_queued = true;

  printf ("\n%s; copy of a large block: %.0f GB/s\n", machine->name,
      machine->copy_gbs);
  printf ("%-18s %-6s %-9s %9s  %7s %7s %8s %9s %6s  %-29s %s\n", "operation",
      "format", "size", "us", "GB/s", "x floor", "call us", "peer us", "ratio",
      "peer", "aim");
  for (guint i = 0; i < results->len; i++) {
    const BenchResult *r = &g_array_index (results, BenchResult, i);

    if (machine->stream) /* the aims are for the GPU */
      judge (verdict, results, r);
    print_row (r, verdict->str);
    all_queued &= r->time.queued;
  }
  if (!all_queued)
    printf ("* timed with the host's launches in between\n");
  g_string_free (verdict, TRUE);
}

bool
bench_write_json (const char *path, const BenchMachine *machine,
    const GArray *results)
{
  FILE *file = fopen (path, "w");

  if (!file)
    return false;
  fprintf (file, "{\"machine\": \"%s\", \"copy_gbs\": %.1f, \"results\": [",
      machine->name, machine->copy_gbs);
  for (guint i = 0; i < results->len; i++) {
    const BenchResult *r = &g_array_index (results, BenchResult, i);

    fprintf (file,
        "%s\n  {\"operation\": \"%s\", \"format\": \"%s\", \"width\": %d, "
        "\"height\": %d, \"us\": %.3f, \"queued\": %s, \"gbs\": %.1f, "
        "\"x_floor\": %.3f, \"call_us\": %.3f, \"peer\": \"%s\", "
        "\"peer_us\": %.3f}",
        i ? "," : "", r->operation->name, r->format, r->width, r->height,
        r->time.us, r->time.queued ? "true" : "false", r->gbs,
        r->time.us / r->floor_us, r->time.host_us, r->peer ? r->peer : "",
        r->peer_us);
  }
  fprintf (file, "\n]}\n");
  return fclose (file) == 0;
}
