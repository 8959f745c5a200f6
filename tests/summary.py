"""Counts the single tests of several runs and prints the result.

    summary.py NAME=LOG...

LOG is a testlog.json of meson, or the output of one test program. A program
says how many tests it ran by a line `N passed, N failed, N skipped`, or as
libcheck does; one that says nothing is a single test. Exits with 1 if a test
failed or nothing passed.
"""
import json
import re
import sys

TOTALS = re.compile(r'^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$', re.M)
CHECK = re.compile(r'^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)$',
                   re.M)
SKIPPED = re.compile(r'^skip(?:ped)?:? (.*)$', re.M)
FAILED = re.compile(r'^(?:FAIL(?:ED)?:? .*|.*:\d+:[FE]:.*)$', re.M)


class Count:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.failures = []
        self.reasons = []

    def add(self, name, output, result, status=0):
        """Adds one program; `result` is meson's word for how it ended."""
        skips = SKIPPED.findall(output)
        passed, failed, skipped = totals(output, len(skips))
        if result == 'SKIP' and not skipped:
            skipped = 1
        lines = FAILED.findall(output)
        if result not in ('OK', 'SKIP') and not failed:
            failed = 1
            lines.append(f'ended with {result}, exit status {status}')
        if result == 'OK' and not passed + failed + skipped:
            passed = 1
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        if failed:
            self.failures += [f'{name}: {line}' for line in lines]
        if skipped:
            lines = skips or ['no reason given']
            self.reasons += [f'{name}: {line}' for line in lines]


def totals(output, skips):
    """Passed, failed and skipped, as the program itself counted them."""
    counts = [0, 0, 0]
    for line in TOTALS.findall(output):
        counts = [a + int(b or 0) for a, b in zip(counts, line)]
    for checks, failures, errors in CHECK.findall(output):
        failed = int(failures) + int(errors)
        counts[0] += int(checks) - failed
        counts[1] += failed
        counts[2] += skips
        skips = 0
    return counts


def read_log(count, name, path):
    try:
        with open(path, encoding='utf-8', errors='replace') as file:
            text = file.read()
    except OSError as error:
        count.add(name, str(error), 'no log')
        return
    if not path.endswith('.json'):
        count.add(name, text, 'OK' if TOTALS.search(text) else 'no totals')
        return
    for line in text.splitlines():
        test = json.loads(line)
        output = test.get('stdout', '') + '\n' + test.get('stderr', '')
        count.add(f'{name}: {test["name"]}', output, test['result'],
                  test['returncode'])


def main():
    count = Count()
    for argument in sys.argv[1:]:
        name, path = argument.split('=', 1)
        read_log(count, name, path)
    if count.reasons:
        print('\nSkipped:')
        for line in sorted(set(count.reasons)):
            print(f'  {line}')
    if count.failures:
        print('\nFailed:')
        for line in count.failures:
            print(f'  {line}')
    print(f'\n{count.passed} passed, {count.failed} failed, '
          f'{count.skipped} skipped')
    return 1 if count.failed or not count.passed else 0


sys.exit(main())
