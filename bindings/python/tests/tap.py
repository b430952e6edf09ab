# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the tests of the calling file and prints their results in the Test Anything Protocol."""

import sys
import unittest


def _print(text):
    print(text, flush=True)


def _print_diagnostics(text):
    for line in text.splitlines():
        _print('# ' + line)


class _Result(unittest.TestResult):
    def _get_n_troubles(self):
        return len(self.failures) + len(self.errors) + len(self.unexpectedSuccesses)

    def startTest(self, test):
        super().startTest(test)
        self.reason = None
        self.n_troubles = self._get_n_troubles()

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.reason = reason

    def addError(self, test, err):
        super().addError(test, err)
        if not isinstance(test, unittest.TestCase):
            # What a class or a module sets up for its tests: they do not run.
            _print_diagnostics(self.errors[-1][1])
            _print('Bail out! ' + test.id())

    def stopTest(self, test):
        super().stopTest(test)
        ok = self._get_n_troubles() == self.n_troubles
        name = test.id().partition('.')[2].replace('.', '/')
        skip = f' # SKIP {self.reason}' if self.reason is not None else ''
        for _, traceback in (self.failures + self.errors)[self.n_troubles:] if not ok else ():
            _print_diagnostics(traceback)
        _print(f'{"ok" if ok else "not ok"} {self.testsRun} - {name}{skip}')


def main():
    """Runs the tests of __main__, or those of it that the arguments name."""
    suite = unittest.TestSuite()
    loader = unittest.TestLoader()
    module = sys.modules['__main__']
    if sys.argv[1:]:
        suite.addTests(loader.loadTestsFromNames(sys.argv[1:], module))
    else:
        suite.addTests(loader.loadTestsFromModule(module))

    # Exceptions that nobody can catch, such as those in the release of a tensor's memory, and warnings of
    # resources that were left open, count as failures too.
    unraisable = []

    def note_unraisable(info):
        unraisable.append(repr(info.exc_value))
        sys.__unraisablehook__(info)

    sys.unraisablehook = note_unraisable

    _print(f'1..{suite.countTestCases()}')
    result = _Result()
    suite.run(result)
    for text in unraisable:
        _print(f'Bail out! {text}')
    sys.exit(0 if result.wasSuccessful() and not unraisable else 1)
