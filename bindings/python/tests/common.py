# SPDX-License-Identifier: LGPL-2.1-or-later
"""What several test files need."""

import csv
import ctypes
import gc
import os
import pathlib
import shutil
import sys
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


class MallInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        'arena', 'ordblks', 'smblks', 'hblks', 'hblkhd', 'usmblks', 'fsmblks', 'uordblks', 'fordblks', 'keepcost')]


class TestCase(unittest.TestCase):
    def assertFails(self, code, pattern, function, *arguments, **keywords):
        """Checks that a function raises a GLib.Error of this code, with this in its message."""
        with self.assertRaisesRegex(GLib.Error, pattern) as context:
            function(*arguments, **keywords)
        error = context.exception
        quark = Apr.error_quark() if isinstance(code, Apr.Error) else Apr.safetensors_error_quark()
        self.assertTrue(error.matches(quark, code), f'{error.domain} {error.code}: {error.message}')

    def assertNoLeak(self, function, n_calls):
        """Checks that calls keep less than 8 bytes each of C's heap, or 256 KiB in all, and no block of Python's.

        What is in use is counted, not what the system has given to the process: that also grows where the threads of a
        busy machine get heaps of their own.
        """
        libc = ctypes.CDLL(None)
        if not hasattr(libc, 'mallinfo2'):
            self.skipTest('the system does not tell how much of the heap is in use')
        libc.mallinfo2.restype = MallInfo

        def call_many(n):
            for _ in range(n):
                function()
            gc.collect()
            info = libc.mallinfo2()
            return info.uordblks + info.hblkhd, sys.getallocatedblocks()

        before = call_many(n_calls // 4)
        if 'libasan' in os.environ.get('LD_PRELOAD', ''):
            # Its heap is not that of the C library.
            return
        n_bytes, n_blocks = (end - begin for begin, end in zip(before, call_many(n_calls)))
        self.assertLess(n_bytes, max(8 * n_calls, 1 << 18))
        self.assertLess(n_blocks, n_calls // 10)

    def make_directory(self):
        directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, directory)
        return pathlib.Path(directory)
