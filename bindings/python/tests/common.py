# SPDX-License-Identifier: LGPL-2.1-or-later
"""What several test files need."""

import csv
import pathlib
import shutil
import tempfile
import unittest

import gi

gi.require_version('Apr', '1.0')
from gi.repository import Apr, Gio, GLib  # noqa: E402

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

    def make_directory(self):
        directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, directory)
        return pathlib.Path(directory)
