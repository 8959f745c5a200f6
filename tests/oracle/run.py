"""Runs the named test modules of this folder: one line per test, and at the
end `N passed, N failed, N skipped`. Exits with 77 when nothing ran."""
import os
import sys
import unittest


class Result(unittest.TestResult):
    """Prints a line as each test ends."""

    def __init__(self):
        super().__init__()
        self.passed = self.failed = 0

    def _name(self, test):
        return test.id().replace('.', ' ')

    def startTest(self, test):
        super().startTest(test)
        self._ok = True

    def stopTest(self, test):
        super().stopTest(test)
        if self._ok:
            self.passed += 1
            print(f'ok   {self._name(test)}', flush=True)

    def _fail(self, test, error):
        if self._ok:
            self.failed += 1
            print(f'FAIL {self._name(test)}')
        self._ok = False
        text = self._exc_info_to_string(error, test).strip()
        print(f'  {test}: {text.splitlines()[-1]}', flush=True)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._fail(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self._fail(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self._fail(test, error)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._ok = False
        print(f'skip {self._name(test)}: {reason}', flush=True)




def main():
    if 'IMG_ORACLE_LIBRARY' not in os.environ:
        return 'IMG_ORACLE_LIBRARY must name libimgoracle.so'
    result = Result()
    try:
        import cv2, numpy  # noqa: E401,F401
        unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:]).run(result)
    except ModuleNotFoundError as error:
        print(f'skip {" ".join(sys.argv[1:])}: {error}')
        result.skipped.append((None, str(error)))
    print(f'{result.passed} passed, {result.failed} failed, '
          f'{len(result.skipped)} skipped')
    if result.failed or result.errors:
        return 1
    return 0 if result.passed else 77


if __name__ == '__main__':
    sys.exit(main())
