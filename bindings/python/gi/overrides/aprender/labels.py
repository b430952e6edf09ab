# SPDX-License-Identifier: LGPL-2.1-or-later
"""The labels that say which rows belong together, in a list, an array, a table, or columns of X."""

import array
import sys

from gi.repository import GLib

from .data import to_tensor
from .errors import ArgumentError
from .lists import describe
from .memory import import_module
from .native import Apr, make_error
from .samples import get_labels, quote
from .tables import is_missing


def _read_table(value, name):
    """A table of pyarrow's in place of a stream of Arrow's, such as a result of DuckDB, or of a batch: columns can be taken
    out of it. Anything else as it is.
    """
    is_stream = hasattr(value, '__arrow_c_stream__') and not hasattr(value, '__array__')
    is_batch = hasattr(value, 'column_names') and not hasattr(value, 'drop')
    pyarrow = import_module('pyarrow') if is_stream or is_batch else None
    if pyarrow is None:
        return value
    try:
        return pyarrow.table(value)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f'{name} cannot be read as a table: {error}') from None


def _take_columns(X, names, name):
    """X without the columns that hold labels of its rows, and those columns."""
    # What can be collected has no rows yet, and what is a stream has them only once.
    has_rows = not hasattr(X, 'collect') and (hasattr(X, '__array__') or not hasattr(X, '__arrow_c_stream__'))
    if not has_rows or not hasattr(X, 'drop') or not hasattr(X, 'columns'):
        raise ArgumentError(f'{name} names a column of X, “{names[0]}”, but X is no table with named columns: pass a table '
                            'of pandas, polars or pyarrow')
    known = _find_columns(X)
    for column in names:
        if column not in known:
            raise ArgumentError(f'{name} names a column of X, “{column}”, but X has {quote(known)}')
        if known.count(column) > 1:
            raise ArgumentError(f'{name} names a column of X, “{column}”, but X has {known.count(column)} columns of this name')
    return (X.drop(columns=names) if hasattr(X, 'iloc') else X.drop(names)), [X[column] for column in names]


def _find_columns(table):
    """The names of a table's columns: pyarrow has them under another name. None where it is no table."""
    names = getattr(table, 'columns' if hasattr(table, 'iloc') else 'column_names', getattr(table, 'columns', None))
    return None if names is None else list(names)


def _get_names(X, labels):
    """The columns of X that are named. A list with a label for each row is none of names. One that is shorter is, if any
    is known: the others are mistakes.
    """
    if isinstance(labels, str):
        return [labels]
    known = _find_columns(X)
    if not known or not hasattr(labels, '__len__') or not hasattr(X, '__len__') or len(labels) == len(X):
        return []
    names = get_labels(labels)
    are_names = set(names) <= set(known) or (len(names) < len(X) and not set(names).isdisjoint(known))
    return names if are_names and len(set(names)) == len(names) else []


def _get_columns(labels, name):
    """The names and the columns of a table of labels; None where it is none."""
    names = _find_columns(labels)
    if names == []:
        raise ArgumentError(f'{name} is a table without columns')
    return None if names is None else (names, [labels[column] for column in names])


def _refuse_missing(row, name):
    raise make_error(Apr.Error.NOT_FINITE, f'{name} has no label at row {row} (counted from 0)')


def _find_missing(values):
    """The rows without a label: None or NA, and what does not equal itself, as NaN."""
    return [i for i, value in enumerate(values) if is_missing(value) or value != value]


def _is_hashable(value):
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _number_list(values, name):
    """The distinct labels in order, and a tensor with the number of each row's label."""
    try:
        distinct = set(values)
    except TypeError:
        i = next(i for i, value in enumerate(values) if not _is_hashable(value))
        raise ArgumentError(f'{name} must be a label for each row of X, but has {describe(values[i])} at {i} '
                            '(counted from 0)') from None
    missing = _find_missing(values)
    if missing:
        _refuse_missing(missing[0], name)
    labels = sorted(distinct)
    numbers = {label: i for i, label in enumerate(labels)}
    codes = array.array('q', (numbers[value] for value in values))
    if sys.byteorder == 'big':
        codes.byteswap()
    return labels, Apr.Tensor.new_from_bytes(Apr.DType.I64, [len(values)], GLib.Bytes.new(codes.tobytes()))


def _number_array(numpy, values, name):
    """The same of an array; None in place of the labels where its numbers are the labels."""
    if values.ndim != 1:
        raise make_error(Apr.Error.SHAPE, f'{name} must have the shape [n_samples], but it has {list(values.shape)}')
    if values.dtype.kind in 'biu':
        return None, to_tensor(values)
    pandas = sys.modules.get('pandas')
    if pandas is not None:
        # It has a table of labels, where numpy sorts the rows.
        codes, labels = pandas.factorize(values, sort=True)
        missing = (codes < 0).nonzero()[0]
    else:
        missing = _find_missing(values)
        labels, codes = (None, None) if len(missing) else numpy.unique(values, return_inverse=True)
    if len(missing):
        _refuse_missing(missing[0], name)
    return labels, to_tensor(numpy.ascontiguousarray(codes.reshape(-1), 'i8'))


def _number_columns(columns, name):
    """The same of several columns, whose labels are tuples."""
    numpy = import_module('numpy')
    codes, chosen = None, []
    for column in columns:
        labels, tensor = _number_labels(column, name)
        numbers = tensor.numpy()
        if labels is None:
            labels, numbers = numpy.unique(numbers, return_inverse=True)
        # Renumbered after each column, so that the numbers stay below those of the rows.
        pairs = numbers if codes is None else codes * len(labels) + numbers
        found, codes = numpy.unique(pairs, return_inverse=True)
        before, last = (found // len(labels), found % len(labels)) if chosen else (None, found)
        chosen = [[old[i] for i in before] for old in chosen] + [[labels[i] for i in last]]
    return list(zip(*chosen)), to_tensor(numpy.ascontiguousarray(codes, 'i8'))


def _number_labels(labels, name):
    if isinstance(labels, Apr.Tensor):
        return None, labels
    if isinstance(labels, (list, tuple, range)):
        return _number_list(labels, name)
    if not hasattr(labels, '__array__'):
        raise ArgumentError(f'{name} must be a label for each row of X, not {describe(labels)}')
    numpy = import_module('numpy')
    return _number_array(numpy, numpy.asarray(labels), name)


class Labels:
    """The label of each row of X, and X without the columns that hold them. The argument's name is for errors, as are the
    others, which may name columns too.
    """

    def __init__(self, X, labels, name, **others):
        X, labels = _read_table(X, 'X'), _read_table(labels, name)
        self.names = _get_names(X, labels)
        if self.names:
            X, columns = _take_columns(X, self.names, name)
            for other, value in others.items():
                both = [column for column in get_labels(value) if column in self.names]
                if both:
                    raise ArgumentError(f'{name} names the column “{both[0]}” of X, which is ' +
                                        ('the target' if other == 'y' else other))
        else:
            self.names, columns = _get_columns(labels, name) or ([getattr(labels, 'name', None) or None], None)
        if columns is not None and len(columns) == 1:
            labels, columns = columns[0], None
        self.X = X
        self.has_tuples = columns is not None
        try:
            # The distinct labels, or None where numbers are the labels, and a number for each row.
            self.distinct, self.tensor = _number_labels(labels, name) if columns is None else _number_columns(columns, name)
        except TypeError as error:
            # Of labels that have no order.
            if isinstance(error, ArgumentError):
                raise
            raise ArgumentError(f'{name} has labels that cannot be sorted: {error}') from None
