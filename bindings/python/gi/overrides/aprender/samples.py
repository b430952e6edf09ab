# SPDX-License-Identifier: LGPL-2.1-or-later
"""The samples of a call: X, y and weights that belong together, whole or block by block, and the names of the features."""

import functools
import itertools
import re
from collections.abc import Iterable

from .data import advise_shape, open_data, read_whole, refuse_reader, to_block
from .errors import ArgumentError, AprError, make, warn
from .frames import Frame, is_frame
from .lists import count, describe
from .memory import find_address, find_data_dtype_in_place, import_module, share_memory
from .native import Apr, make_error
from .tables import Rows, Table


def check_names(names, of='X'):
    """Checks labels of columns so that to give them to a model cannot fail; None where they are no names."""
    if not names or not all(isinstance(name, str) for name in names):
        return None
    for i, name in enumerate(names):
        if '\0' in name or name.encode(errors='replace').decode() != name:
            raise ValueError(f'Column {i} of {of} (counted from 0) has the name {name!r}, which is not text')
    if len(set(names)) < len(names):
        raise ValueError(f'Two columns of {of} have the name “%s”' % next(n for n in names if names.count(n) > 1))
    return names


def _find_names(X, data):
    """The names of X's columns: of a table, or of what merely has columns, such as a subclass of an array."""
    if isinstance(data, Table):
        return check_names(list(data.names or []))
    # patsy's matrices have a description of their columns.
    columns = getattr(getattr(X, 'design_info', None), 'column_names', getattr(X, 'columns', None))
    return check_names(list(columns) if isinstance(columns, Iterable) else [])


def get_labels(value):
    """The columns of X that stand for y or the weights, where that is what they are."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, (list, tuple)):
        # Such as some of the columns of a table of pandas, or of their names in an array.
        kind = getattr(getattr(value, 'dtype', None), 'kind', '')
        is_text = kind in ('O', 'U') and getattr(value, 'ndim', 0) == 1 and not is_frame(value)
        value = value.tolist() if is_text and hasattr(value, 'tolist') else []
    return list(value) if all(isinstance(item, str) for item in value) else []


def _advise_shape(X):
    """How these data of one dimension get two."""
    if not hasattr(X, 'to_frame'):
        return advise_shape()
    # A series of polars has no index: its table would have other names than the features have.
    return advise_shape('X.to_frame()', 'X.to_frame().T or predict_one(X)' if is_frame(X) else 'predict_one(X)')


def share_plain(X, y):
    """The tensors of arrays of numpy's own, of which there is nothing to find out: for a small fit that takes as long as to
    sum it up. None where there may be.
    """
    # To import numpy takes a while: for tensors, nobody waits for it.
    numpy = None if isinstance(X, Apr.Tensor) else import_module('numpy')
    if numpy is None or type(X) is not numpy.ndarray or type(y) is not numpy.ndarray or X.ndim != 2 or not y.ndim:
        return None
    dtype, y_dtype = find_data_dtype_in_place(X.dtype), find_data_dtype_in_place(y.dtype)
    address, y_address = find_address(X), find_address(y)
    if dtype is None or y_dtype is None or address is None or y_address is None:
        return None
    return share_memory(X, dtype, address), share_memory(y, y_dtype, y_address)


class Samples:
    """What is fitted to: tensors of all, where that is little or lies ready, or else blocks, of which no two are kept."""

    def __init__(self, X, y=None, sample_weight=None, has_y=True):
        try:
            self._open(X, y, sample_weight, has_y)
        except ArgumentError as error:
            label, what = error.column or (None, None)
            for name, value in (('y', y), ('sample_weight', sample_weight)):
                if label in get_labels(value):
                    raise ArgumentError(f'Column “{label}” of X, which is {name}, holds {what}, but models compute with '
                                        'numbers') from None
            raise

    def _open(self, X, y, sample_weight, has_y):
        plain = share_plain(X, y) if has_y and sample_weight is None else None
        if plain is not None:
            self.is_tensor = False
            self.X, self.y = plain
            self.data = self.X
            self.names = self.target_names = self.sample_weight = self.blocks = None
            self._selections = ()
            self._frames = []
            return
        self.is_tensor = isinstance(X, Apr.Tensor)
        self.data = open_data(X, 'X')
        # A table takes each of its columns out anew for each block.
        if not has_y and isinstance(self.data, Rows):
            self.data.n_rows_at_a_time = 1
        self._frames = [self.data]
        self.names = _find_names(X, self.data)
        self.y = self.sample_weight = None
        self._selections = ()
        if get_labels(y) or get_labels(sample_weight):
            self._select(y, sample_weight)
        self.target_names = check_names(get_labels(y), 'y')
        if has_y and not get_labels(y):
            if y is None:
                raise ArgumentError('A fit requires y to be passed, but the target y is None' +
                                    (': an Apr.TableReader gives one if its targets are set before it reads'
                                     if isinstance(X, Apr.Tensor) else ''))
            targets = open_data(y, 'y')
            self._frames.append(targets)
            if isinstance(targets, Table) and not targets.is_column:
                self.target_names = check_names(list(targets.names or []), 'y')
            self.y = read_whole(targets)
        if has_y and not get_labels(sample_weight):
            self.sample_weight = read_whole(open_data(sample_weight, 'sample_weight'))
        for name, data, value in (('X', self.data, X), ('y', self.y, y)):
            if isinstance(data, Apr.Tensor) and not data.shape:
                raise ArgumentError(f'{name} must be numbers in lists or in an array, or an Apr.Tensor, not {describe(value)}')
        self._check_shapes(X)
        self._begin()

    def _select(self, y, sample_weight):
        is_table = isinstance(self.data, Table) and not self.data.is_column
        for name, value in (('y', y), ('sample_weight', sample_weight)):
            unknown = [label for label in get_labels(value) if not is_table or label not in self.data.labels]
            if unknown and not isinstance(value, str):
                why = f'X has no column of this name, but {quote(self.data.labels)}' if is_table else \
                    'X is no table with named columns'
                raise ArgumentError(f'{name} holds text, “{unknown[0]}”, but models compute with numbers. Names of columns of X '
                                    f'may stand for it, but {why}')
        if not is_table:
            raise ArgumentError(f'y and sample_weight name columns of X, {quote(get_labels(y) + get_labels(sample_weight))}, '
                                'but X is no table with named columns')
        taken = [self.data.find(label) for label in get_labels(y) + get_labels(sample_weight)]
        features = [i for i in range(self.data.n_columns) if i not in taken]
        self._selections = [features]
        for value in (y, sample_weight):
            if get_labels(value):
                columns = [self.data.find(label) for label in get_labels(value)]
                self._selections.append(columns[0] if isinstance(value, str) else columns)
        self._keys = [name for name, value in (('y', y), ('sample_weight', sample_weight)) if get_labels(value)]
        self.names = check_names([self.data.labels[i] for i in features])

    def _check_shapes(self, X):
        data = self.data
        shape = data.shape if isinstance(data, Apr.Tensor) else (data.n_rows,) if data.is_column else (data.n_rows, 1)
        if len(shape) == 1:
            raise make_error(Apr.Error.SHAPE, 'X must have the shape [n_samples, n_features], but it has '
                             f'[{"n_samples" if shape[0] is None else shape[0]}]. Reshape your data: {_advise_shape(X)}')
        if isinstance(data, Apr.Tensor) and len(shape) == 2:
            if self.names is not None and len(self.names) != shape[1]:
                raise ValueError(f'X has {len(self.names)} names of columns, but {count(shape[1], "column")}')
            if shape[1] == 0 and shape[0] > 0:
                raise make_error(Apr.Error.EMPTY, f'X has 0 feature(s) (shape=({shape[0]}, 0)) while a minimum of 1 is '
                                 'required. The feature of the mean alone is a column of ones')
        if isinstance(data, Table) and (self._selections[0] if self._selections else range(data.n_columns)) in ([], range(0)):
            raise make_error(Apr.Error.EMPTY, 'X has no columns that are features. The feature of the mean alone is a column of ones')
        if not isinstance(data, Apr.Tensor) and data.n_rows is not None:
            self._check_length(data.n_rows)

    def _check_length(self, n_rows):
        for name, tensor in (('y', self.y), ('sample_weight', self.sample_weight)):
            if tensor is not None and tensor.shape and tensor.shape[0] != n_rows:
                raise make_error(Apr.Error.SHAPE, f'X has {n_rows} samples, but {name} has {tensor.shape[0]}')

    def _begin(self):
        """Finds out whether there is more than one block."""
        self.blocks = None
        if isinstance(self.data, Apr.Tensor):
            self.X = self.data
            return
        blocks = self._read_blocks()
        begin = list(itertools.islice(blocks, 2))
        if len(begin) == 2:
            self.blocks = itertools.chain(begin, blocks)
        else:
            _, self.X, self.y, self.sample_weight = begin[0]

    def _read_blocks(self):
        """Where a block begins, and the tensors of X, y and weights."""
        start = 0
        for X, *others in self.data.blocks(*self._selections):
            stop = start + len(X)
            tensors = {}
            for name in ('y', 'sample_weight'):
                tensor = getattr(self, name)
                if tensor is not None and tensor.shape:
                    if stop > tensor.shape[0]:
                        self._check_length(stop)
                    tensors[name] = tensor if (start, stop) == (0, tensor.shape[0]) else tensor.slice_rows(start, stop)
            if others:
                tensors.update(zip(self._keys, map(to_block, others)))
            yield start, to_block(X), tensors.get('y'), tensors.get('sample_weight')
            start = stop
        self._check_length(start)

    def read(self):
        """Yields after each block that it has read, until X, y and weights are tensors of all samples: in one copy where the
        number of rows is known.
        """
        if self.blocks is None:
            return
        numpy, n_rows = import_module('numpy'), self.data.n_rows
        whole = [None, self.y, self.sample_weight]
        parts, arrays, end = [], None, 0
        for start, *tensors in self.blocks:
            blocks = [None if tensor is None or before is not None else tensor.numpy() for tensor, before in zip(tensors, whole)]
            end = start + len(blocks[0])
            if n_rows is None:
                parts.append(blocks)
                yield
                continue
            if arrays is None:
                arrays = [None if block is None else numpy.empty((n_rows, *block.shape[1:]), block.dtype) for block in blocks]
            for array, block in zip(arrays, blocks):
                if block is not None:
                    array[start:end] = block
            yield
        if arrays is None:
            arrays = [None if of_blocks[0] is None else numpy.concatenate(of_blocks) for of_blocks in zip(*parts)]
        self.X, self.y, self.sample_weight = (before if array is None else to_block(array[:end])
                                              for array, before in zip(arrays, whole))
        self.blocks = None

    def find_missing(self):
        """The error that says where a frame of pandas misses values, and in how many rows; None where none does."""
        errors = (frame.find_missing() for frame in self._frames if isinstance(frame, Frame))
        return next(filter(None, errors), None)

    def get_tensors(self):
        """X, y and weights as tensors of all samples."""
        if self.blocks is not None:
            for _ in self.read():
                pass
        return self.X, self.y, self.sample_weight


def check_feature_names(model, names, is_ordered=True):
    """Refuses other names than the model's, or an other order, in the words that scikit-learn's tools know. Where names
    have no order, as those of a dictionary, no place is said to be wrong.
    """
    if names is None:
        return
    try:
        model.check_feature_names(names)
    except AprError as error:
        if not error.matches(Apr.error_quark(), Apr.Error.FEATURE_NAMES):
            raise
        known = model.get_feature_names()
        text = 'The feature names should match those that were passed during fit.\n'
        for what, these, others in (('Feature names unseen at fit time', names, known),
                                    ('Feature names seen at fit time, yet now missing', known, names)):
            different = sorted(set(these) - set(others))
            if different:
                text += f'{what}:\n' + ''.join(f'- {name}\n' for name in different[:5])
                text += '- ...\n' if len(different) > 5 else ''
        if set(names) == set(known):
            text += 'Feature names must be in the same order as they were in fit.\n'
        raise make(text + error.message if is_ordered else text.rstrip('\n'), error.domain, error.code) from None


def warn_of_names(model, samples):
    """Says in scikit-learn's words that only one of data and model has names, so that they cannot be compared. A tensor,
    which a reader gives, has none.
    """
    known = model.get_feature_names()
    if (samples.names is None) == (known is None) or samples.is_tensor:
        return
    text = 'X has feature names, but {} was fitted without feature names' if known is None else \
        'X does not have valid feature names, but {} was fitted with feature names'
    warn(text.format(type(model).__name__))


def check_target_names(names, known, what):
    """Refuses other names of targets than those that are known, or an other order, where both are names."""
    if names is not None and known is not None and list(names) != list(known):
        raise make_error(Apr.Error.FEATURE_NAMES, f'y has the targets {quote(names)}, but {what} {quote(known)}, in this order')


def quote(names):
    return ', '.join(f'“{name}”' for name in names[:20]) + (', …' if len(names) > 20 else '')


def _refusing_readers(function):
    reader = Apr.TableReader

    @functools.wraps(function)
    def call(self, *args, **kwargs):
        if args and isinstance(args[0], reader):
            refuse_reader('X')
        return function(self, *args, **kwargs)

    return call


def refuse_readers(class_, *names):
    """Has methods say how to fit to a reader. It has y too, so most who pass one pass no y, and Python would miss that."""
    for name in names:
        setattr(class_, name, _refusing_readers(vars(class_)[name]))


def explain(error, samples, start=0):
    """The same error, with the place in all of X instead of that in a block, and with the name of the column."""
    if not isinstance(error, AprError):
        return error
    names = {'X': samples.names, 'y': samples.target_names}.get(error.message.partition(' ')[0])
    is_missing = error.matches(Apr.error_quark(), Apr.Error.NOT_FINITE) and ' NaN ' in error.message
    missing = samples.find_missing() if is_missing else None
    if missing is not None:
        return missing

    def shift(match):
        column = match.group(2)
        named = column is not None and names is not None and int(column) < len(names)
        return f'row {int(match.group(1)) + start}' + \
            ('' if column is None else f', column “{names[int(column)]}”' if named else f', column {column}')

    message = re.sub(r'row (\d+)(?:, column (\d+))?', shift, error.message, count=1)
    return error if message == error.message else make(message, error.domain, error.code)
