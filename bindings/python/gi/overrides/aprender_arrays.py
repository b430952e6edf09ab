# SPDX-License-Identifier: LGPL-2.1-or-later
"""How arrays and lists become tensors: for Apr.py, which PyGObject loads."""

import ctypes
import functools
import itertools
import numbers

from gi.repository import GLib

from ..module import get_introspection_module

Apr = get_introspection_module('Apr')

# For each dtype numpy's name, the type string of the array interface, and the code of the module struct. The
# names without a type string are those of ml_dtypes; the packed dtypes have no counterpart.
_FORMATS = {
    Apr.DType.BOOL: ('bool', '|b1', '?'),
    Apr.DType.U8: ('uint8', '|u1', 'B'),
    Apr.DType.I8: ('int8', '|i1', 'b'),
    Apr.DType.F8_E5M2: ('float8_e5m2', None, None),
    Apr.DType.F8_E4M3: ('float8_e4m3fn', None, None),
    Apr.DType.F8_E8M0: ('float8_e8m0fnu', None, None),
    Apr.DType.F8_E4M3FNUZ: ('float8_e4m3fnuz', None, None),
    Apr.DType.F8_E5M2FNUZ: ('float8_e5m2fnuz', None, None),
    Apr.DType.I16: ('int16', '<i2', 'h'),
    Apr.DType.U16: ('uint16', '<u2', 'H'),
    Apr.DType.F16: ('float16', '<f2', 'e'),
    Apr.DType.BF16: ('bfloat16', None, None),
    Apr.DType.I32: ('int32', '<i4', 'i'),
    Apr.DType.U32: ('uint32', '<u4', 'I'),
    Apr.DType.F32: ('float32', '<f4', 'f'),
    Apr.DType.C64: ('complex64', '<c8', None),
    Apr.DType.F64: ('float64', '<f8', 'd'),
    Apr.DType.I64: ('int64', '<i8', 'q'),
    Apr.DType.U64: ('uint64', '<u8', 'Q'),
}
# Where arrays without elements are: numpy takes no null pointer for them.
_NOTHING = ctypes.c_char()

_DTYPES = {name: dtype for dtype, (name, _, _) in _FORMATS.items()}

# How deep lists may stand within each other: not without end, as a list does that is its own entry.
_MAX_DEPTH = 32


@functools.lru_cache(maxsize=None)
def _import(name):
    try:
        return __import__(name)
    except ImportError:
        return None


def _bytes(data):
    """Wraps whatever has a buffer: bytes without a copy, anything else with one."""
    if isinstance(data, GLib.Bytes):
        return data
    return GLib.Bytes.new(data if isinstance(data, bytes) else bytes(memoryview(data)))


def _copy_bytes(data):
    """GLib.Bytes.get_data(), which forgets what is above 4 GiB."""
    return ctypes.string_at(data.get_region(1, 0, data.get_size()) or 0, data.get_size())


def _is_list(value):
    numpy = _import('numpy')
    return isinstance(value, (list, tuple, range)) or \
        numpy is not None and isinstance(value, numpy.ndarray) and value.ndim > 0


def _describe(value):
    if _is_list(value):
        return 'an array'
    if isinstance(value, str):
        return f'the string “{value}”'
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)
    name = type(value).__name__
    return f'{"an" if name[0] in "AEIOUaeiou" else "a"} {name}'


def _describe_place(index):
    places = [f'{what} {i}' for what, i in zip(('row', 'column'), index)]
    return f'{", ".join(places) if len(index) <= len(places) else list(index)} (counted from 0)'


def _find_shape(value, name):
    """The shape by the first entry at each depth: _flatten() holds all the others against it."""
    shape = []
    while _is_list(value):
        if len(shape) == _MAX_DEPTH:
            raise TypeError(f'{name} has more than {_MAX_DEPTH} lists within each other')
        shape.append(len(value))
        value = value[0] if len(value) > 0 else None
    return shape


def _flatten(value, shape, name, index=()):
    """The numbers of nested lists, as doubles."""
    if not _is_list(value):
        raise TypeError(f'{name} has {_describe(value)} at {_describe_place(index)}, not an array')
    if len(value) != shape[len(index)]:
        raise ValueError(f'{name} is ragged: the length at {_describe_place(index)} is {len(value)}, '
                         f'but before it was {shape[len(index)]}')
    if len(index) < len(shape) - 1:
        return [number for i, item in enumerate(value) for number in _flatten(item, shape, name, (*index, i))]

    for i, item in enumerate(value):
        if not isinstance(item, (int, float, numbers.Real)):
            raise TypeError(f'{name} has {_describe(item)} at {_describe_place((*index, i))}, not a number')
    return [float(item) for item in value]


def _tensor_from_lists(value, name):
    if isinstance(value, numbers.Real):
        return Apr.Tensor.new_from_doubles([float(value)], [])
    if not _is_list(value):
        raise TypeError(f'{name} must be numbers in lists, or an Apr.Tensor, not {_describe(value)}')
    shape = _find_shape(value, name)
    return Apr.Tensor.new_from_doubles(_flatten(value, shape, name), shape)


def _array(numpy, value, name):
    """numpy.asarray, but numbers that carry no dtype are doubles, and what is masked is a NaN."""
    if isinstance(value, numpy.ma.MaskedArray) and numpy.ma.is_masked(value) and value.dtype.kind in 'biuf':
        return (value if value.dtype.kind == 'f' else value.astype('f8')).filled(numpy.nan)

    try:
        array = numpy.asarray(value)
    except ValueError:
        if not _is_list(value):
            raise
        array = None
    if isinstance(value, (list, tuple, range)) and (array is None or _find_dtype(array.dtype) is None):
        # numpy does not say which entry it is.
        shape = _find_shape(value, name)
        return numpy.array(_flatten(value, shape, name)).reshape(shape)
    if array.ndim == 0 and array.dtype.kind in 'OSU':
        raise TypeError(f'{name} must be numbers in lists or in an array, or an Apr.Tensor, '
                        f'not {_describe(value)}')
    if array.dtype.kind in 'biuf' and isinstance(value, (list, tuple, range, int, float)):
        return array.astype('f8', copy=False)
    return array


# The arrays whose memory tensors read, by the token that each tensor's release is called with. One function
# of C's kind serves them all, as PyGObject would never free the closures that it makes. It has one reference
# more, for tensors that outlive this module when the interpreter ends.
_shared = {}
_tokens = itertools.count(1)
_release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(_shared.pop)
_release_address = ctypes.cast(_release, ctypes.c_void_p).value
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_release))


_new_from_memory = Apr.Tensor.new_from_memory
_from_buffer = ctypes.c_char.from_buffer
_address_of = ctypes.addressof


@functools.lru_cache(maxsize=64)
def _find_dtype(dtype):
    """The Apr.DType of numpy's, if there is one."""
    # To find the name takes numpy longer than everything else that is asked of an array.
    return _DTYPES.get(dtype.name)


@functools.lru_cache(maxsize=64)
def _find_numpy_dtype(dtype):
    import numpy

    name, typestr, _ = _FORMATS.get(dtype, (None, None, None))
    found = typestr or getattr(_import('ml_dtypes'), name or '', None)
    if found is None:
        raise TypeError(f'numpy has no dtype for {Apr.DType.to_string(dtype)}: '
                        'cast the tensor, install ml_dtypes, or take its get_bytes()')
    return numpy.dtype(found)


@functools.lru_cache(maxsize=64)
def _find_dtype_in_place(dtype):
    """The Apr.DType of numpy's, if the elements' bytes are the same."""
    found = _find_dtype(dtype)
    return found if found is not None and _find_numpy_dtype(found) == dtype else None


@functools.lru_cache(maxsize=64)
def _find_data_dtype_in_place(dtype):
    """The same, if models compute with it."""
    found = _find_dtype_in_place(dtype)
    return found if found is not None and _is_data(dtype, found) else None


def _is_data(dtype, found):
    return dtype.kind in 'biu' or found in (Apr.DType.F16, Apr.DType.BF16, Apr.DType.F32, Apr.DType.F64)


def _share_memory(array, dtype, address):
    token = next(_tokens)
    _shared[token] = array
    return _new_from_memory(dtype, list(array.shape), address, array.nbytes, _release_address, token)


def _share(array, dtype):
    """Makes a tensor that reads the array's own memory, or that of a copy where the layout is another."""
    array = _import('numpy').asarray(array, _find_numpy_dtype(dtype), order='C')
    return _share_memory(array, dtype, array.__array_interface__['data'][0])


def _share_as_it_is(array, dtype):
    """The same for an array of numpy's own; it can nearly always be read as it is: to find that out is to be quick."""
    try:
        address = _address_of(_from_buffer(array))
    except (TypeError, ValueError, BufferError):
        # Not in C order, or read-only, or empty, or of a dtype that is unknown to Python's buffers.
        return _share(array, dtype)
    return _share_memory(array, dtype, address)


def _to_tensor(value):
    numpy = _import('numpy')
    if numpy is not None and type(value) is numpy.ndarray:
        dtype = _find_dtype_in_place(value.dtype)
        if dtype is not None:
            return _share_as_it_is(value, dtype)

    if isinstance(value, Apr.Tensor):
        return value
    if numpy is None:
        return _tensor_from_lists(value, 'The tensor')
    array = _array(numpy, value, 'The tensor')
    dtype = _find_dtype(array.dtype)
    if dtype is None:
        raise TypeError(f'An array of the dtype “{array.dtype}” cannot be an Apr.Tensor. These can: ' +
                        ', '.join(name for name, typestr, _ in _FORMATS.values() if typestr is not None))
    return _share(array, dtype)


def _to_data(value, name):
    """What models compute with: real numbers of whatever dtype they have."""
    numpy = _import('numpy')
    if numpy is not None and type(value) is numpy.ndarray:
        dtype = _find_data_dtype_in_place(value.dtype)
        if dtype is not None:
            return _share_as_it_is(value, dtype)

    if value is None and name == 'sample_weight' or isinstance(value, Apr.Tensor):
        return value
    if numpy is None:
        return _tensor_from_lists(value, name)

    if isinstance(value, numpy.ma.MaskedArray) and value.ndim > 0 and numpy.ma.is_masked(value):
        place = _describe_place(numpy.argwhere(numpy.ma.getmaskarray(value))[0].tolist())
        raise GLib.Error.new_literal(Apr.error_quark(), f'{name} is masked at {place}', Apr.Error.NOT_FINITE)

    array = _array(numpy, value, name)
    dtype = _find_dtype(array.dtype)
    if not _is_data(array.dtype, dtype):
        raise TypeError(f'{name} has the dtype “{array.dtype}”, but models compute with bool, integers, '
                        'float16, bfloat16, float32 and float64: convert it with astype()')
    return _share(array, dtype)


def _count(n, what):
    return f'{n} {what}' if n == 1 else f'{n} {what}s'
