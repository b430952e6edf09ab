# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables that come one after the other: what iterates over the batches of a file, or over the pieces of a CSV."""

import itertools

from .errors import ArgumentError
from .memory import import_module
from .tables import Table


class Batches(Table):
    """The rows of several tables with the same columns, of which one is in memory at a time."""

    def __init__(self, tables, name):
        super().__init__(name)
        self._tables = iter(tables)
        self._first = next(self._tables, None)
        if self._first is None:
            raise ArgumentError(f'{name} has no batches')
        self.labels, self.dtypes = self._first.labels, self._first.dtypes

    def _check(self, table, number):
        numpy = import_module('numpy')
        if table.labels != self.labels:
            raise ArgumentError(f'Batch {number} of {self.name} (counted from 0) has the columns {table.labels}, but before '
                                f'there were {self.labels}')
        for label, dtype, first in zip(self.labels, table.dtypes, self.dtypes):
            if not numpy.can_cast(dtype, first):
                raise ArgumentError(f'Batch {number} of {self.name} (counted from 0) has {dtype} in the column “{label}”, but '
                                    f'before there were {first}: convert it to one dtype')

    def get_batches(self, n):
        for number, table in enumerate(itertools.chain([self._first], self._tables)):
            self._check(table, number)
            yield from table.get_batches(n)
