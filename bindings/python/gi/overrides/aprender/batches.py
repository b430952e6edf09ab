# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables that come one after the other: what iterates over the batches of a file, or over the pieces of a CSV."""

import itertools

from .errors import ArgumentError
from .memory import import_module
from .tables import Table


def _is_single(dtype):
    """Whether models compute with it in float32."""
    return dtype.kind == 'f' and dtype.itemsize <= 4


def _join_dtypes(before, dtype):
    """That of a column from now on; None where a model would go over from float32 to float64. Whole numbers stay what they
    are, as not all are doubles.
    """
    numpy = import_module('numpy')
    if _is_single(before):
        joined = numpy.result_type(before, dtype)
        return joined if _is_single(joined) else None
    return numpy.dtype('f8') if _is_single(dtype) else dtype


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
        if table.labels != self.labels:
            raise ArgumentError(f'Batch {number} of {self.name} (counted from 0) has the columns {table.labels}, but before '
                                f'there were {self.labels}')
        dtypes = list(map(_join_dtypes, self.dtypes, table.dtypes))
        i = next((i for i, dtype in enumerate(dtypes) if dtype is None), None)
        if i is not None:
            raise ArgumentError(f'Batch {number} of {self.name} (counted from 0) has {table.dtypes[i]} in the column '
                                f'“{self.labels[i]}”, but before there were {self.dtypes[i]}: convert it to one dtype')
        self.dtypes = dtypes

    def get_batches(self, n):
        row = 0
        for number in itertools.count():
            try:
                table = self._first if number == 0 else next(self._tables, None)
            except ArgumentError as error:
                raise ArgumentError(f'Batch {number} of {self.name} (counted from 0), from row {row} on: {error}') from None
            if table is None:
                return
            self._check(table, number)
            for n_rows, get_column in table.get_batches(n):
                row += n_rows
                yield n_rows, get_column
