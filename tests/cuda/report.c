/* Counting and printing of test results. */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>

#define MAX_PRINTED 5 /* failures of one group */

static struct
{
  char name[128];
  int cases;
  int failures;
} group;

static int passed, failed, skipped;

void
report_begin (const char *format, ...)
{
  va_list args;

  va_start (args, format);
  vsnprintf (group.name, sizeof (group.name), format, args);
  va_end (args);
  group.cases = 0;
  group.failures = 0;
}

void
report_case (void)
{
  group.cases++;
}

void
report_failure (const char *format, ...)
{
  va_list args;

  if (group.failures++ >= MAX_PRINTED)
    return;
  printf ("  %s: ", group.name);
  va_start (args, format);
  vprintf (format, args);
  va_end (args);
  putchar ('\n');
}

void
report_end (void)
{
  if (group.failures == 0) {
    passed++;
    printf ("ok   %s: %d cases\n", group.name, group.cases);
  } else {
    failed++;
    printf ("FAIL %s: %d cases, %d failures\n", group.name, group.cases,
        group.failures);
  }
  fflush (stdout);
}

void
report_skip (const char *name, const char *reason)
{
  skipped++;
  printf ("skip %s: %s\n", name, reason);
}

int
report_finish (void)
{
  printf ("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
  if (failed > 0)
    return 1;
  return passed > 0 ? 0 : 77;
}
