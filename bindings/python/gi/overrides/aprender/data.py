# SPDX-License-Identifier: LGPL-2.1-or-later
"""How whatever users have becomes tensors: those of any dtype, and the data that models compute with."""

import os
from collections.abc import Mapping

from .arrow import ArrowTable, is_arrow
from .batches import Batches
from .errors import ArgumentError, AprError
from .frames import Frame, is_frame
from .lists import find_shape, describe, describe_place, flatten, is_list, tensor_from_lists
from .memory import (FORMATS, find_data_dtype_in_place, find_dtype, find_dtype_in_place, find_dtype_named, import_module,
                     is_data, share, share_as_it_is)
from .native import Apr, make_error
from .tables import BLOCK_SIZE, Rows, raise_wrong_dtype, to_numbers


def advise_shape(one_feature='X.reshape(-1, 1)', one_sample='X.reshape(1, -1)'):
    """How data of one dimension get two."""
    return f'{one_feature} where they are the samples of one feature; {one_sample} where they are one sample'


def refuse_reader(name):
    """A reader is read once, batch by batch, so that it is not asked for all that it has."""
    raise ArgumentError(f'{name} must be numbers in lists or in an array, or an Apr.Tensor, not a TableReader: to fit to its '
                        'rows, sum them up in an Apr.CrossProducts, “for X, y, weights in reader: state.update(X, y, '
                        'weights)”, and call model.fit_cross_products(state); predict() takes the X of each batch')


def _advise(value):
    """What to do with something that holds data in another form, or that names it."""
    if hasattr(value, 'collect'):
        return ': pass what its collect() gives'
    if hasattr(value, 'read_all'):
        # A file of Arrow's, as pyarrow.ipc.open_file() gives it.
        return ': pass what its read_all() gives'
    if hasattr(value, 'iter_batches'):
        return ': pass what its iter_batches() gives'
    if hasattr(value, 'to_arrow_reader'):
        # A connection of DuckDB, of which a result is asked for in rows.
        return ': pass what its sql(query) gives'
    if isinstance(value, (str, os.PathLike)):
        return ': read the file first, with pandas.read_csv(), pyarrow.parquet.ParquetFile(path).iter_batches() or the like'
    return ': make a table of it, such as a pandas.DataFrame' if isinstance(value, Mapping) else ''


def _advise_cast(value):
    """What to do with a tensor of PyTorch's that numpy cannot read."""
    if getattr(value, 'requires_grad', None) is True:
        return ': pass what its detach() gives'
    return ': pass what its float() gives' if str(getattr(value, 'dtype', '')).endswith('bfloat16') else ''


def _advise_bytes(value):
    """How a tensor of PyTorch's is saved whose dtype numpy does not have."""
    dtype = find_dtype_named(str(getattr(value, 'dtype', '')).removeprefix('torch.'))
    if not isinstance(dtype, Apr.DType) or FORMATS[dtype][1] is not None:
        return _advise_cast(value)
    integers = 'int16' if dtype == Apr.DType.BF16 else 'uint8'
    return (f": pass Apr.Tensor.new_from_bytes('{dtype.value_nick}', tensor.shape, "
            f'tensor.detach().view(torch.{integers}).numpy())')


def _join_masked(numpy, value):
    """A list of rows of which some are masked, as one array: numpy.asarray passes over masks in a list."""
    if not isinstance(value, (list, tuple)) or not any(issubclass(kind, numpy.ma.MaskedArray) for kind in set(map(type, value))):
        return value
    try:
        array = numpy.ma.array(value)
    except ValueError:
        # The rows are not alike.
        return value
    return array if numpy.ma.is_masked(array) else value


def to_array(numpy, value, name, advise=_advise_cast):
    """numpy.asarray, but numbers that carry no dtype are doubles, and what is masked is a NaN."""
    value = _join_masked(numpy, value)
    if isinstance(value, numpy.ma.MaskedArray) and numpy.ma.is_masked(value) and value.dtype.kind in 'biuf':
        return (value if value.dtype.kind == 'f' else value.astype('f8')).filled(numpy.nan)

    try:
        array = numpy.asarray(value)
    except AprError:
        raise
    except (RuntimeError, TypeError, ValueError) as error:
        if not is_list(value) or not isinstance(error, ValueError):
            raise ArgumentError(f'{name} cannot be read as an array: {error}{advise(value)}') from None
        array = None
    if isinstance(value, (list, tuple, range)) and (array is None or find_dtype(array.dtype) is None):
        # numpy does not say which entry it is.
        shape = find_shape(value, name)
        return numpy.array(flatten(value, shape, name)).reshape(shape)
    if array.ndim == 0 and array.dtype.kind in 'OSU':
        raise ArgumentError(f'{name} must be numbers in lists or in an array, or an Apr.Tensor, '
                            f'not {describe(value)}{_advise(value)}')
    if array.dtype.kind in 'biuf' and isinstance(value, (list, tuple, range, int, float)):
        return array.astype('f8', copy=False)
    return array


def to_tensor(value, name='The tensor'):
    numpy = import_module('numpy')
    if numpy is not None and type(value) is numpy.ndarray:
        dtype = find_dtype_in_place(value.dtype)
        if dtype is not None:
            return share_as_it_is(value, dtype)

    if isinstance(value, Apr.Tensor):
        return value
    if numpy is None:
        return tensor_from_lists(value, name)
    array = to_array(numpy, value, name, _advise_bytes)
    dtype = find_dtype(array.dtype)
    if dtype is None:
        raise TypeError(f'{name} is an array of the dtype “{array.dtype}”, which cannot be an Apr.Tensor. These can: ' +
                        ', '.join(name for name, typestr, _ in FORMATS.values() if typestr is not None))
    return share(array, dtype)


def _refuse_dtype(name, dtype):
    if dtype.kind == 'c':
        raise ArgumentError(f'Complex data not supported: {name} has the dtype “{dtype}”')
    if dtype.names is not None:
        raise ArgumentError(f'{name} is an array of records: make a table of it, such as a pandas.DataFrame')
    raise_wrong_dtype(name, None, dtype)


def _to_rows(numpy, array, name):
    """A large array in another order than C's, which is not copied as a whole."""
    if array.ndim != 2 or array.nbytes <= BLOCK_SIZE or array.dtype.kind not in 'iuf' or array.dtype.itemsize > 8 or \
            array.flags.c_contiguous and array.dtype.isnative:
        return None
    dtype = array.dtype.newbyteorder('=')
    return Rows(name, array, dtype, lambda part: numpy.ascontiguousarray(part, dtype))


def _to_sparse_rows(matrix, name):
    if len(matrix.shape) != 2:
        shape = list(matrix.shape)
        if name == 'X':
            raise make_error(Apr.Error.SHAPE, f'X must have the shape [n_samples, n_features], but it has {shape}' +
                             (f'. Reshape your data: {advise_shape()}' if len(shape) == 1 else ''))
        raise make_error(Apr.Error.SHAPE, f'{name} is a sparse array of the shape {shape}: pass {name}.toarray()')
    numpy, rows = import_module('numpy'), matrix.tocsr()
    if not is_data(rows.dtype, find_dtype(rows.dtype)):
        _refuse_dtype(name, rows.dtype)
    return Rows(name, rows, rows.dtype, lambda part: numpy.ascontiguousarray(part.toarray()))


def _open_table(value, name):
    if is_frame(value):
        return Frame(value, name)
    return ArrowTable(value, name) if is_arrow(value) else None


def _open_batch(value, name):
    table = _open_table(value, name)
    if table is None or table.is_column:
        advice = f': pass list({name}) where it gives rows' if is_list(value) else ''
        raise ArgumentError(f'{name} must have tables as batches, not {describe(value)}{advice}')
    return table


def open_data(value, name):
    """What models compute with: an Apr.Tensor, or a Table or Rows, of which blocks become tensors."""
    if isinstance(value, Apr.Tensor) or value is None and name == 'sample_weight':
        return value
    numpy = import_module('numpy')
    if numpy is not None and type(value) is numpy.ndarray:
        dtype = find_data_dtype_in_place(value.dtype)
        if dtype is not None:
            rows = None if value.flags.c_contiguous else _to_rows(numpy, value, name)
            return share_as_it_is(value, dtype) if rows is None else rows

    if isinstance(value, Apr.TableReader):
        refuse_reader(name)
    if numpy is None:
        return tensor_from_lists(value, name)
    table = _open_table(value, name)
    if table is not None:
        return table
    if hasattr(value, 'to_batches'):
        # A dataset of pyarrow's, or a scanner.
        value = iter(value.to_batches())
    if hasattr(value, '__next__'):
        return Batches((_open_batch(batch, name) for batch in value), name)
    if hasattr(value, 'tocsr'):
        return _to_sparse_rows(value, name)
    if isinstance(value, (list, tuple)) and value and hasattr(value[0], 'columns'):
        raise ArgumentError(f'{name} is a list of tables: batches come from an iterator, such as iter({name})')
    if hasattr(value, '__dlpack__') and not hasattr(value, '__array__'):
        try:
            value = numpy.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise ArgumentError(f'{name} cannot be read as an array: {error}') from None

    value = _join_masked(numpy, value)
    if isinstance(value, numpy.ma.MaskedArray) and value.ndim > 0 and numpy.ma.is_masked(value):
        place = describe_place(numpy.argwhere(numpy.ma.getmaskarray(value))[0].tolist())
        raise make_error(Apr.Error.NOT_FINITE, f'{name} is masked at {place}')

    array = to_array(numpy, value, name)
    if array.dtype.kind == 'O' and 0 < array.ndim <= 2:
        array = _to_doubles(numpy, array, name)
    dtype = find_dtype(array.dtype)
    if not is_data(array.dtype, dtype):
        _refuse_dtype(name, array.dtype)
    rows = _to_rows(numpy, array, name)
    return share(array, dtype) if rows is None else rows


def _to_doubles(numpy, array, name):
    """The numbers that are Python's objects in an array."""
    if array.ndim == 1:
        return to_numbers(array, name, None)
    doubles = [to_numbers(column, name, i, column=f'{name}[:, {i}]') for i, column in enumerate(array.T)]
    return numpy.array(doubles).T if doubles else numpy.empty(array.shape)


def to_block(array):
    """The tensor of some rows."""
    return share_as_it_is(array, find_dtype(array.dtype))


def read_whole(data):
    """One tensor of all the rows of what open_data() gives."""
    if data is None or isinstance(data, Apr.Tensor):
        return data
    arrays = [array for array, in (data.blocks(0) if data.is_column else data.blocks())]
    return to_block(arrays[0] if len(arrays) == 1 else import_module('numpy').concatenate(arrays))


def to_data(value, name):
    """What models compute with, as a tensor: real numbers of whatever dtype they have."""
    return read_whole(open_data(value, name))
