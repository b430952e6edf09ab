# SPDX-License-Identifier: LGPL-2.1-or-later
"""How the memory of arrays and of bytes becomes that of tensors, and what numpy calls their dtypes."""

import ctypes
import functools

import gi._gobject
from gi.repository import GLib

from .errors import translate
from .native import Apr, native_new_from_memory

# For each dtype numpy's name, the type string of the array interface, and the code of the module struct. The
# names without a type string are those of ml_dtypes; the packed dtypes have no counterpart.
FORMATS = {
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
NOTHING = ctypes.c_char()

_DTYPES = {name: dtype for dtype, (name, _, _) in FORMATS.items()}


@functools.lru_cache(maxsize=None)
def import_module(name):
    try:
        return __import__(name)
    except ImportError:
        return None


def wrap_bytes(data):
    """Wraps whatever has a buffer: bytes without a copy, anything else with one."""
    if isinstance(data, GLib.Bytes):
        return data
    return GLib.Bytes.new(data if isinstance(data, bytes) else bytes(memoryview(data)))


def copy_bytes(data):
    """GLib.Bytes.get_data(), which forgets what is above 4 GiB."""
    return ctypes.string_at(data.get_region(1, 0, data.get_size()) or 0, data.get_size())


def view_bytes(data):
    """The memory of GLib.Bytes, not to be written to, as an object that has a buffer and keeps them."""
    size = data.get_size()
    view = (ctypes.c_char * size).from_address(data.get_region(1, 0, size))
    view.owner = data
    return memoryview(view).toreadonly()


def _find_destroy_notify():
    """The address of PyGObject's function in C that drops a reference to the object at an address, in any thread; it is
    the seventh of those that pygobject.h has for other modules. A function in Python, which ctypes would call, loses the
    exception that is on its way when the last owner of a tensor goes.
    """
    get_pointer = ctypes.pythonapi['PyCapsule_GetPointer']
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    functions = get_pointer(gi._gobject._PyGObject_API, b'gobject._PyGObject_API')
    return (ctypes.c_void_p * 7).from_address(functions)[6]


# An array whose memory a tensor reads has one reference more, until the tensor goes.
_release_address = _find_destroy_notify()
_add_reference = ctypes.pythonapi['Py_IncRef']
_add_reference.restype, _add_reference.argtypes = None, [ctypes.py_object]


_from_buffer = ctypes.c_char.from_buffer
_address_of = ctypes.addressof


@functools.lru_cache(maxsize=64)
def find_dtype(dtype):
    """The Apr.DType of numpy's, if there is one."""
    # To find the name takes numpy longer than everything else that is asked of an array.
    return _DTYPES.get(dtype.name)


def find_dtype_named(value):
    """The Apr.DType that numpy calls by this name, or that is numpy's dtype or type; anything else as it is."""
    name = value if isinstance(value, str) else getattr(value, 'name', getattr(value, '__name__', None))
    return _DTYPES.get(name, value)


@functools.lru_cache(maxsize=64)
def find_numpy_dtype(dtype):
    import numpy

    name, typestr, _ = FORMATS.get(dtype, (None, None, None))
    module = import_module('ml_dtypes')
    found = typestr or getattr(module, name or '', None)
    if found is None:
        advice = 'get_bytes() gives its bytes'
        if name is not None:
            package = 'ml_dtypes' if module is None else 'a newer ml_dtypes'
            advice = f'cast the tensor, install {package}, or take its get_bytes()'
        raise TypeError(f'numpy has no dtype for {Apr.DType.to_string(dtype)}: {advice}')
    return numpy.dtype(found)


@functools.lru_cache(maxsize=64)
def find_dtype_in_place(dtype):
    """The Apr.DType of numpy's, if the elements' bytes are the same."""
    found = find_dtype(dtype)
    return found if found is not None and find_numpy_dtype(found) == dtype else None


@functools.lru_cache(maxsize=64)
def find_data_dtype_in_place(dtype):
    """The same, if models compute with it."""
    found = find_dtype_in_place(dtype)
    return found if found is not None and is_data(dtype, found) else None


def is_data(dtype, found):
    return dtype.kind in 'biu' or found in (Apr.DType.F16, Apr.DType.BF16, Apr.DType.F32, Apr.DType.F64)


def share_memory(array, dtype, address):
    """Makes a tensor that reads the array's own memory, which is in C order."""
    _add_reference(array)
    try:
        return native_new_from_memory(dtype, array.shape, address, array.nbytes, _release_address, id(array))
    except GLib.Error as error:
        raise translate(error) from None


def share(array, dtype):
    """Makes a tensor that reads the array's own memory, or that of a copy where the layout is another."""
    array = import_module('numpy').asarray(array, find_numpy_dtype(dtype), order='C')
    return share_memory(array, dtype, array.__array_interface__['data'][0])


def find_address(array):
    """Where an array of numpy's own is that can be read as it is, which nearly all can: to find that out is to be quick."""
    try:
        return _address_of(_from_buffer(array))
    except (TypeError, ValueError, BufferError):
        # Not in C order, or read-only, or empty, or of a dtype that is unknown to Python's buffers.
        return None


def share_as_it_is(array, dtype):
    """The same for an array of numpy's own."""
    address = find_address(array)
    return share(array, dtype) if address is None else share_memory(array, dtype, address)
