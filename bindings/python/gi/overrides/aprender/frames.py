# SPDX-License-Identifier: LGPL-2.1-or-later
"""Data frames and series of pandas, column by column, whatever their columns are made of."""

from .errors import AprError
from .memory import find_dtype, import_module
from .tables import Table, make_missing, raise_not_a_number, raise_wrong_dtype, to_numbers

_KINDS = {'M': 'times', 'm': 'durations', 'c': 'complex numbers', 'U': 'text', 'S': 'text', 'T': 'text'}


def is_frame(value):
    """Whether it has what is used here of a pandas.DataFrame or a pandas.Series."""
    return hasattr(value, 'iloc') and hasattr(value, 'dtypes') and hasattr(value, 'to_numpy')


def _find_dtype(dtype, name, label):
    """The dtype of numpy's that a column's numbers have."""
    numpy = import_module('numpy')
    # What has a value to fill in is sparse, and what it has a subtype for are its elements.
    subtype = getattr(dtype, 'subtype', None) if hasattr(dtype, 'fill_value') else None
    found = dtype if isinstance(dtype, numpy.dtype) else getattr(dtype, 'numpy_dtype', subtype)
    if str(dtype).startswith(('string', 'str')):
        raise_not_a_number(name, label, 'text')
    if hasattr(dtype, 'categories'):
        raise_not_a_number(name, label, 'categories')
    if isinstance(found, numpy.dtype) and found.kind in 'biuf':
        if find_dtype(found) is None:
            raise_wrong_dtype(name, label, found)
        return found
    if isinstance(dtype, numpy.dtype) and dtype.kind == 'O' or str(dtype).startswith('decimal'):
        return numpy.dtype('f8')
    raise_not_a_number(name, label, _KINDS.get(getattr(found or dtype, 'kind', None), f'{dtype}'))


class Frame(Table):
    def __init__(self, frame, name):
        super().__init__(name)
        self.is_column = not hasattr(frame, 'columns')
        self.labels = [frame.name] if self.is_column else list(frame.columns)
        self.n_rows = len(frame)
        self._frame = frame
        dtypes = [frame.dtypes] if self.is_column else list(frame.dtypes)
        self.label_texts = [None] if self.is_column else self.labels
        self.dtypes = [_find_dtype(dtype, name, text) for dtype, text in zip(dtypes, self.label_texts)]

    def blocks(self, *selections):
        dtypes = set(self.dtypes)
        if selections or self.is_column or len(dtypes) != 1 or dtypes != set(self._frame.dtypes):
            yield from super().blocks(*selections)
            return
        # Where all columns are alike, rows are taken out of all of them at once.
        n = self.count_block_rows(self.n_columns * self.dtypes[0].itemsize)
        for start in range(0, max(self.n_rows, 1), n):
            yield (import_module('numpy').ascontiguousarray(self._frame.iloc[start:start + n].to_numpy()),)

    def get_batches(self, n):
        for start in range(0, self.n_rows, n):
            part = self._frame.iloc[start:start + n]
            # Where the frame is a batch, its rows begin later.
            yield len(part), lambda i, row, part=part, begin=start: self._get_column(
                part if self.is_column else part.iloc[:, i], i, row, row - begin)

    def find_missing(self, start=0):
        """The error that says of all columns together which row is the first without a value, how it is called, and how many
        there are; None where all have one. Of a batch that starts at a later row it only says the row.
        """
        missing = self._frame.isna().to_numpy().reshape(self.n_rows, -1)
        rows = missing.any(axis=1)
        if not rows.any():
            return None
        row = int(rows.argmax())
        index, n = self._frame.index, int(rows.sum())
        label = index[row]
        if start > 0:
            return make_missing(self.name, start + row, self.label_texts[int(missing[row].argmax())])
        called = '' if type(label).__name__ in ('int', 'int64') and label == row else f', which the index calls “{label}”'
        return make_missing(self.name, row, self.label_texts[int(missing[row].argmax())],
                            f'{called}. {"One row misses" if n == 1 else f"{n} rows miss"} values: the others are '
                            f'{self.name}[{self.name}.notna(){"" if self.is_column else ".all(axis=1)"}]')

    def _to_numbers(self, column, i, row, start):
        """Those among Python's objects."""
        try:
            return to_numbers(column.to_numpy(dtype=object), self.name, self.label_texts[i], row)
        except AprError:
            raise self.find_missing(start) from None

    def _get_column(self, column, i, row, start):
        dtype, numpy = column.dtype, import_module('numpy')
        if dtype.kind == 'O':
            return self._to_numbers(column, i, row, start)
        if not isinstance(dtype, numpy.dtype):
            missing = column.isna().to_numpy()
            if missing.any() and not getattr(dtype, 'kind', '') == 'f':
                raise self.find_missing(start)
            return column.to_numpy(dtype=self.dtypes[i], na_value=numpy.nan) if missing.any() else \
                column.to_numpy(dtype=self.dtypes[i])
        return column.to_numpy()
