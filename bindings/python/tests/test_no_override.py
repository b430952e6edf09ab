# SPDX-License-Identifier: LGPL-2.1-or-later
"""Without the override, PyGObject refuses arguments before any code of the library runs: the guide has its messages."""

import pathlib
import unittest

import tap
import gi

gi.require_version('Apr', '1.0')
from gi.repository import Apr  # noqa: E402


class NoOverride(unittest.TestCase):
    def test_guide_has_the_messages(self):
        guide = pathlib.Path(__file__).resolve().parents[3] / 'docs' / 'python.md'
        _, section = guide.read_text(encoding='utf-8').split('## Where the override is missing')
        self.assertFalse(hasattr(Apr, '__version__'), 'an override is installed')
        for function, argument in ((Apr.LinearRegression().predict, [[1.0]]), (Apr.Tensor, [1.0])):
            with self.assertRaises(TypeError) as caught:
                function(argument)
            self.assertIn(f'`{caught.exception}`', section)


if __name__ == '__main__':
    tap.main()
