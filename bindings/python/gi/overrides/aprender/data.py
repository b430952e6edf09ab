# SPDX-License-Identifier: LGPL-2.1-or-later
"""How whatever users have becomes tensors: those of any dtype, and the data that models compute with."""

from collections.abc import Iterable

from gi.repository import GLib

from .lists import _find_shape, count, describe, describe_place, flatten, is_list, tensor_from_lists
from .memory import (FORMATS, find_data_dtype_in_place, find_dtype, find_dtype_in_place, import_module, is_data, share,
                     share_as_it_is)
from .native import Apr


def to_array(numpy, value, name):
    """numpy.asarray, but numbers that carry no dtype are doubles, and what is masked is a NaN."""
    if isinstance(value, numpy.ma.MaskedArray) and numpy.ma.is_masked(value) and value.dtype.kind in 'biuf':
        return (value if value.dtype.kind == 'f' else value.astype('f8')).filled(numpy.nan)

    try:
        array = numpy.asarray(value)
    except ValueError:
        if not is_list(value):
            raise
        array = None
    if isinstance(value, (list, tuple, range)) and (array is None or find_dtype(array.dtype) is None):
        # numpy does not say which entry it is.
        shape = _find_shape(value, name)
        return numpy.array(flatten(value, shape, name)).reshape(shape)
    if array.ndim == 0 and array.dtype.kind in 'OSU':
        raise TypeError(f'{name} must be numbers in lists or in an array, or an Apr.Tensor, '
                        f'not {describe(value)}')
    if array.dtype.kind in 'biuf' and isinstance(value, (list, tuple, range, int, float)):
        return array.astype('f8', copy=False)
    return array


def to_tensor(value):
    numpy = import_module('numpy')
    if numpy is not None and type(value) is numpy.ndarray:
        dtype = find_dtype_in_place(value.dtype)
        if dtype is not None:
            return share_as_it_is(value, dtype)

    if isinstance(value, Apr.Tensor):
        return value
    if numpy is None:
        return tensor_from_lists(value, 'The tensor')
    array = to_array(numpy, value, 'The tensor')
    dtype = find_dtype(array.dtype)
    if dtype is None:
        raise TypeError(f'An array of the dtype “{array.dtype}” cannot be an Apr.Tensor. These can: ' +
                        ', '.join(name for name, typestr, _ in FORMATS.values() if typestr is not None))
    return share(array, dtype)


def to_data(value, name):
    """What models compute with: real numbers of whatever dtype they have."""
    numpy = import_module('numpy')
    if numpy is not None and type(value) is numpy.ndarray:
        dtype = find_data_dtype_in_place(value.dtype)
        if dtype is not None:
            return share_as_it_is(value, dtype)

    if value is None and name == 'sample_weight' or isinstance(value, Apr.Tensor):
        return value
    if numpy is None:
        return tensor_from_lists(value, name)

    if isinstance(value, numpy.ma.MaskedArray) and value.ndim > 0 and numpy.ma.is_masked(value):
        place = describe_place(numpy.argwhere(numpy.ma.getmaskarray(value))[0].tolist())
        raise GLib.Error.new_literal(Apr.error_quark(), f'{name} is masked at {place}', Apr.Error.NOT_FINITE)

    array = to_array(numpy, value, name)
    dtype = find_dtype(array.dtype)
    if not is_data(array.dtype, dtype):
        raise TypeError(f'{name} has the dtype “{array.dtype}”, but models compute with bool, integers, '
                        'float16, bfloat16, float32 and float64: convert it with astype()')
    return share(array, dtype)


def _get_column_names(X):
    """The names of a data frame's columns, where all are strings."""
    columns = getattr(X, 'columns', None)
    names = list(columns) if isinstance(columns, Iterable) else []
    if not names or not all(isinstance(name, str) for name in names):
        return None

    for i, name in enumerate(names):
        if '\0' in name or name.encode(errors='replace').decode() != name:
            raise ValueError(f'Column {i} of X (counted from 0) has the name {name!r}, which is not text')
    if len(set(names)) < len(names):
        raise ValueError('Two columns of X have the name “%s”' % next(n for n in names if names.count(n) > 1))
    return names


def to_fit(X, y, sample_weight):
    """The data of a fit and the names of the features, checked so that to give the names cannot fail."""
    names = _get_column_names(X)
    data = to_data(X, 'X'), to_data(y, 'y'), to_data(sample_weight, 'sample_weight')
    shape = data[0].shape if names is not None else ()
    if len(shape) == 2 and len(names) != shape[1]:
        raise ValueError(f'X has {len(names)} names of columns, but {count(shape[1], "column")}')
    return data, names


def check_columns(model, X):
    """Checks that a data frame has the columns that a fitted model was fitted with."""
    names = _get_column_names(X)
    if names is not None and model.get_fitted():
        model.check_feature_names(names)
