# SPDX-License-Identifier: LGPL-2.1-or-later
"""What several test files need."""

import csv
import gc
import os
import pathlib
import shutil
import tempfile
import unittest

import gi

gi.require_version('Apr', '1.0')
from gi.repository import Apr, Gio, GLib, GObject  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None

needs_numpy = unittest.skipIf(numpy is None, 'numpy is not installed')

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / 'docs' / 'examples'


def read_longley():
    """The features and the target of NIST's Longley data, as lists of the doubles that the file spells."""
    with open(EXAMPLES / 'longley.csv', newline='') as file:
        rows = [[float(cell) for cell in row] for row in list(csv.reader(file))[1:]]
    return [row[1:] for row in rows], [row[0] for row in rows]


class TestCase(unittest.TestCase):
    def assertFails(self, code, pattern, function, *arguments, **keywords):
        """Checks that a function raises a GLib.Error of this code, with this in its message."""
        with self.assertRaisesRegex(GLib.Error, pattern) as context:
            function(*arguments, **keywords)
        error = context.exception
        quark = Apr.error_quark() if isinstance(code, Apr.Error) else Apr.safetensors_error_quark()
        self.assertTrue(error.matches(quark, code), f'{error.domain} {error.code}: {error.message}')

    def assertNoLeak(self, function, n_calls):
        """Checks that the process grows by less than 8 bytes a call, or 256 KiB in all.

        What leaks grows in each round. One round may grow without a leak: threads that come later than usual on a busy
        machine get heaps of their own.
        """
        statm = pathlib.Path('/proc/self/statm')
        if not statm.exists():
            self.skipTest('the system does not tell the size of a process')

        def call_many(n):
            for _ in range(n):
                function()
            gc.collect()
            return int(statm.read_text().split()[1]) * os.sysconf('SC_PAGE_SIZE')

        before = call_many(n_calls // 4)
        if 'libasan' in os.environ.get('LD_PRELOAD', ''):
            # It puts by what is freed.
            return
        growths = []
        while len(growths) < 4 and (not growths or growths[-1] >= max(8 * n_calls, 1 << 18)):
            after = call_many(n_calls)
            growths.append(after - before)
            before = after
        self.assertLess(growths[-1], max(8 * n_calls, 1 << 18), growths)

    def make_directory(self):
        directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, directory)
        return pathlib.Path(directory)
