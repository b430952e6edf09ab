# SPDX-License-Identifier: LGPL-2.1-or-later
"""Structures of Arrow that a broken program hands out: they are refused, and no memory beyond theirs is read.

    with-peer python test_arrow.py
"""

import tap
from common import Apr, TestCase

import pyarrow

from gi.overrides.aprender import arrow


class Changed:
    """Hands out an array whose structures have been changed."""

    def __init__(self, batch, change):
        self._capsules = batch.__arrow_c_array__()
        schema = arrow._Schema.from_address(arrow._get_pointer(self._capsules[0], b'arrow_schema'))
        array = arrow._Array.from_address(arrow._get_pointer(self._capsules[1], b'arrow_array'))
        change(schema, array)

    def __arrow_c_array__(self, requested_schema=None):
        return self._capsules


class Arrow(TestCase):
    def test_broken_arrays(self):
        def set_child(**values):
            def change(_, array):
                for name, value in values.items():
                    setattr(array.children[0].contents, name, value)
            return change

        def lengthen(_, array):
            array.length = 3_000_000

        def go_back(_, array):
            array.offset = -3_000_000

        def lose(_, array):
            array.n_children = 0

        def take_away(_, array):
            array.children[0].contents.buffers[1] = None

        for what, change in (('3 values from 0 on, for 3000000 rows', lengthen), ('3 values from -3000000 on', go_back),
                             ('-1 values', set_child(length=-1)), ('2 values from 0 on, for 3', set_child(length=2)),
                             ('3 values from -9 on', set_child(offset=-9)), ('0 columns, where there are 1', lose),
                             ('no values in column', take_away), ('no values in column', set_child(n_buffers=0)),
                             ('3 values missing .*not said which', set_child(null_count=3))):
            batch = pyarrow.record_batch({'a': [1., 2., 4.]})
            with self.assertRaisesRegex(ValueError, f'X has a broken array of Arrow.*{what}', msg=what):
                Apr.LinearRegression().fit(Changed(batch, change), [1, 2, 3])

    def test_decimals_without_end(self):
        def change(schema, _):
            schema.children[0].contents.format = b'd:5,999999999,64'

        batch = pyarrow.record_batch({'a': pyarrow.array([1, 2, 4])})
        with self.assertRaisesRegex(ValueError, 'Column “a” of X holds decimal numbers'):
            Apr.LinearRegression().fit(Changed(batch, change), [1, 2, 3])

    def test_a_stream_is_read_once(self):
        class Once:
            def __init__(self, table):
                self._capsule = table.__arrow_c_stream__()

            def __arrow_c_stream__(self, requested_schema=None):
                return self._capsule

        stream = Once(pyarrow.table({'a': [1., 2., 4.], 'y': [1., 2., 3.]}))
        Apr.CrossProducts.new(1, 1).update_arrow(stream, ['y'])
        with self.assertRaisesRegex(ValueError, 'X is a stream of Arrow that has been read, or released'):
            Apr.LinearRegression().fit(stream, 'y')


if __name__ == '__main__':
    tap.main()
