# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables of columns, and arrays in another order than C's, as blocks of rows: without a copy of all of them."""

from .errors import ArgumentError
from .lists import describe
from .memory import import_module
from .native import Apr, make_error

# Blocks have as many rows as fit into so many bytes.
BLOCK_SIZE = 4 << 20


class Blocks:
    """What comes in blocks of rows."""

    # What the precision DOUBLE sums at a time: blocks have a multiple of it. Predictions need none.
    n_rows_at_a_time = 256

    def count_block_rows(self, row_size):
        """How many rows a block has."""
        return max(BLOCK_SIZE // max(row_size, 1) // self.n_rows_at_a_time, 1) * self.n_rows_at_a_time


def _show(label):
    """How messages call a column, which has a name or a number."""
    return f'column “{label}”' if isinstance(label, str) else f'column {label}'


def is_missing(value):
    """Whether it stands for no value, as NaN does among numbers."""
    return value is None or type(value).__name__ in ('NAType', 'NaTType')


def make_missing(name, row, label, more=''):
    """The error that says where there is no value, and more."""
    column = '' if label is None else f', {_show(label)}'
    return make_error(Apr.Error.NOT_FINITE, f'{name} has a missing value at row {row}{column} (counted from 0){more}')


# What can be made of columns that hold something else than numbers; of nulls nothing can.
NULLS = 'nulls only'
_SUCH_AS = {
    'bytes': 'a cast if they spell numbers',
    'complex numbers': 'their real and their imaginary parts',
    'dates': 'the days since a date',
    'decimal numbers of 256 bits': 'a cast to float64',
    'durations': 'their seconds',
    'integers of 128 bits': 'a cast to float64',
    'run-end-encoded values': 'pyarrow.compute.run_end_decode()',
    'times': 'the days since a date',
    'values that are not single numbers': 'a column for each',
}


def _advise_dummies(name, label, what, has_dummies):
    # The one that drop_first leaves out is whichever comes first, which other data need not begin with.
    dummies = f'{name}.to_dummies({label!r}), of which the same one is dropped each time,' if has_dummies else \
        'pandas.get_dummies()'
    return f'the dummies of {dummies} or of a OneHotEncoder{", or a cast if the texts are numbers" if what != "categories" else ""}'


def raise_not_a_number(name, label, what, has_dummies=False, mixed=None):
    """Says which column is not made of numbers, and what to do: has_dummies, with a method of the table; mixed, how the column
    is called in Python whose other cells are numbers.
    """
    column = name if label is None else f'C{_show(label)[1:]} of {name}'
    such_as = _SUCH_AS.get(what)
    if mixed is not None:
        such_as = f'pandas.to_numeric({mixed}, errors="coerce"), which leaves a missing value there'
    elif what.startswith(('text', 'categories')):
        such_as = _advise_dummies(name, label, what, has_dummies)
    advice = ': drop it' + ('' if what == NULLS else ', or make numbers of it') + (f', such as {such_as}' if such_as else '')
    raise ArgumentError(f'{column} holds {what}, but models compute with numbers{advice if name == "X" else ""}', (label, what))


def raise_wrong_dtype(name, label, dtype):
    """Says of which dtype an array is, or a column of a table, that models do not compute with."""
    column = name if label is None else f'C{_show(label)[1:]} of {name}'
    raise ArgumentError(f'{column} has the dtype “{dtype}”, but models compute with bool, integers, float16, bfloat16, '
                        'float32 and float64: convert it with astype()')


def to_numbers(values, name, label, row=0, column=None):
    """The numbers among Python's objects, as doubles; column is how they are called in Python, X['a'] unless given."""
    numpy = import_module('numpy')
    numbers = numpy.empty(len(values))
    for i, value in enumerate(values):
        if is_missing(value):
            raise make_missing(name, row + i, label)
        place = f'row {row + i}' + ('' if label is None else f', {_show(label)}')
        if isinstance(value, (str, bytes)):
            raise_not_a_number(name, label, f'text, {describe(value)} at row {row + i}',
                               mixed=column or f'{name}[{label!r}]' if row + i > 0 else None)
        try:
            numbers[i] = float(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise ArgumentError(f'{name} has {describe(value)} at {place} (counted from 0): {error}') from None
    return numbers


class Rows(Blocks):
    """A matrix whose rows are made contiguous a block at a time: an array in another order, or a sparse one."""

    names = None
    is_column = False

    def __init__(self, name, matrix, dtype, to_block):
        self.name = name
        self.n_rows, self.n_columns = matrix.shape
        self.dtype = dtype
        self._matrix = matrix
        self._to_block = to_block

    def blocks(self):
        n = self.count_block_rows(self.n_columns * self.dtype.itemsize)
        for start in range(0, max(self.n_rows, 1), n):
            yield (self._to_block(self._matrix[start:start + n]),)


class Table(Blocks):
    """Columns of numbers that come in batches.

    A subclass gives labels, dtypes, n_rows, None where that is not known, is_column, and get_batches(), which gives
    pairs of a number of rows, and of a function that makes an array of the column with an index.
    """

    n_rows = None
    is_column = False

    def __init__(self, name):
        self.name = name

    @property
    def names(self):
        return self.labels if self.labels and all(isinstance(label, str) for label in self.labels) else None

    @property
    def n_columns(self):
        return len(self.labels)

    def find(self, label):
        """The index of a column, by its name."""
        if label not in self.labels:
            shown = ', '.join(f'“{label}”' for label in self.labels[:20]) + (', …' if self.n_columns > 20 else '')
            raise ArgumentError(f'{self.name} has no column “{label}”, but {shown}')
        return self.labels.index(label)

    def choose_dtype(self, columns):
        """The dtype that holds all of these columns: as numpy has it, and as data of models have it."""
        return import_module('numpy').result_type(*(self.dtypes[i] for i in columns))

    def blocks(self, *selections):
        """Arrays in C order, of some rows, for each selection: a list of indices of columns, or one index. There is a block
        where there are no rows, too.
        """
        numpy = import_module('numpy')
        selections = selections or (list(range(self.n_columns)),)
        lists = [selection if isinstance(selection, list) else [selection] for selection in selections]
        dtypes = [self.choose_dtype(columns) for columns in lists]
        n = self.count_block_rows(sum(dtype.itemsize * len(columns) for dtype, columns in zip(dtypes, lists)))

        arrays, filled, begun = None, 0, 0
        for n_rows, get_column in self.get_batches(n):
            # Those of batches that come later may be others.
            now = [self.choose_dtype(columns) for columns in lists]
            if arrays is not None and now != dtypes:
                yield self._finish(arrays, selections, filled)
                arrays, filled = None, 0
            dtypes = now
            loaded = {i: get_column(i, begun) for columns in lists for i in columns}
            done = 0
            while done < n_rows:
                if arrays is None:
                    arrays = [numpy.empty((n, len(columns)), dtype) for columns, dtype in zip(lists, dtypes)]
                k = min(n - filled, n_rows - done)
                for array, columns in zip(arrays, lists):
                    for j, i in enumerate(columns):
                        array[filled:filled + k, j] = loaded[i][done:done + k]
                done += k
                filled += k
                if filled == n:
                    yield self._finish(arrays, selections, n)
                    arrays, filled = None, 0
            begun += n_rows
        if begun == 0:
            arrays = [numpy.empty((0, len(columns)), dtype) for columns, dtype in zip(lists, dtypes)]
        if arrays is not None:
            yield self._finish(arrays, selections, filled)

    def _finish(self, arrays, selections, n):
        return tuple(array[:n] if isinstance(selection, list) else array[:n, 0]
                     for array, selection in zip(arrays, selections))
