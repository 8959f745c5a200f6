/* What test programs print: one line per group of cases, the mismatches of a
 * group before it, and totals at the end. */
#ifndef TEST_REPORT_H
#define TEST_REPORT_H

/* Begins a group; the last one must have ended. */
void report_begin (const char *format, ...)
    __attribute__ ((format (printf, 1, 2)));

/* Counts one case of the current group. */
void report_case (void);

/* Says why the current case failed. Only the first few of a group print. */
void report_failure (const char *format, ...)
    __attribute__ ((format (printf, 1, 2)));

/* Ends the current group and prints its line. */
void report_end (void);

/* Counts a group that cannot run, and says why. */
void report_skip (const char *group, const char *reason);

/* Prints the totals. Returns the exit status: 0, 1 after a failure, or 77,
 * which means skipped to meson, when nothing ran. */
int report_finish (void);

#endif
