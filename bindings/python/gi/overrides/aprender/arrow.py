# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whatever speaks Arrow's C interface: tables of pyarrow and polars, results of DuckDB, readers of Parquet.

The structures are those of https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html, and the
capsules those of CDataInterface/PyCapsuleInterface.html; nothing else is needed to read them.
"""

import ctypes

from .errors import ArgumentError
from .lists import count
from .memory import import_module
from .tables import NULLS, Table, make_missing, raise_not_a_number

_DTYPES = {'b': '?', 'c': 'i1', 'C': 'u1', 's': 'i2', 'S': 'u2', 'i': 'i4', 'I': 'u4', 'l': 'i8', 'L': 'u8', 'e': 'f2',
           'f': 'f4', 'g': 'f8'}
_KINDS = {'u': 'text', 'U': 'text', 'vu': 'text', 'z': 'bytes', 'Z': 'bytes', 'vz': 'bytes', 'n': NULLS,
          '_pli128': 'integers of 128 bits', '_plu128': 'integers of 128 bits'}
# The range of doubles, and some more.
_MAX_SCALE = 400
_PREFIXES = {'td': 'dates', 'tt': 'times', 'ts': 'times', 'tD': 'durations', 'ti': 'intervals', 'd:': 'decimal numbers of 256 bits',
             '+r': 'run-end-encoded values', '+': 'values that are not single numbers'}


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Schema._fields_ = [
    ('format', ctypes.c_char_p), ('name', ctypes.c_char_p), ('metadata', ctypes.c_char_p), ('flags', ctypes.c_int64),
    ('n_children', ctypes.c_int64), ('children', ctypes.POINTER(ctypes.POINTER(_Schema))),
    ('dictionary', ctypes.POINTER(_Schema)), ('release', ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))),
    ('private_data', ctypes.c_void_p)]
_Array._fields_ = [
    ('length', ctypes.c_int64), ('null_count', ctypes.c_int64), ('offset', ctypes.c_int64), ('n_buffers', ctypes.c_int64),
    ('n_children', ctypes.c_int64), ('buffers', ctypes.POINTER(ctypes.c_void_p)),
    ('children', ctypes.POINTER(ctypes.POINTER(_Array))), ('dictionary', ctypes.POINTER(_Array)),
    ('release', ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))), ('private_data', ctypes.c_void_p)]
_Stream._fields_ = [
    ('get_schema', ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))),
    ('get_next', ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))),
    ('get_last_error', ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))),
    ('release', ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))), ('private_data', ctypes.c_void_p)]

_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype = ctypes.c_void_p
_get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def is_arrow(value):
    """Whether it hands out a stream or an array of Arrow's."""
    return hasattr(value, '__arrow_c_stream__') or hasattr(value, '__arrow_c_array__')


def get_stream(value):
    """The capsule of a stream, which is to be kept as long as its address is in use, and that address."""
    capsule = value.__arrow_c_stream__()
    return capsule, _get_pointer(capsule, b'arrow_array_stream')


class _Owned:
    """A structure that is released when it is no longer in use."""

    def __init__(self, type_):
        self.structure = type_()

    def __del__(self):
        if self.structure.release:
            self.structure.release(ctypes.byref(self.structure))


def _parse_decimal(text):
    """The number of bits and the decimal places of decimal numbers, “d:PRECISION,SCALE[,BITS]”."""
    parts = text[2:].split(',') if text.startswith('d:') else []
    bits = int(parts[2]) if len(parts) == 3 else 128
    # No decimal places are further from the point in what any program writes.
    return (bits, int(parts[1])) if parts and bits in (32, 64, 128) and abs(int(parts[1])) <= _MAX_SCALE else None


def _round_decimals(words, scale):
    """The nearest doubles to decimal numbers, of which each row has the words, the lowest first."""
    numpy = import_module('numpy')
    low, high = words[:, 0], words[:, -1]
    exact = -(1 << 53), 1 << 53
    is_small = words.shape[1] == 1 or bool((high == low >> 63).all())
    if is_small and 0 <= scale <= 22 and ((exact[0] <= low) & (low <= exact[1])).all():
        # Both are doubles, and one division is rounded once.
        return low / numpy.float64(10 ** scale)
    numbers = low.tolist() if words.shape[1] == 1 else \
        [(upper << 64) + lower for upper, lower in zip(high.tolist(), low.view('u8').tolist())]
    return numpy.array([number / 10 ** scale if scale >= 0 else float(number * 10 ** -scale) for number in numbers])


def _find_dtype(schema, name, label, has_dummies):
    text = schema.format.decode()
    if schema.dictionary:
        raise_not_a_number(name, label, 'categories', has_dummies)
    if text in _DTYPES:
        return import_module('numpy').dtype(_DTYPES[text])
    if _parse_decimal(text) is not None:
        return import_module('numpy').dtype('f8')
    kind = _KINDS.get(text) or next((kind for prefix, kind in _PREFIXES.items() if text.startswith(prefix)), None)
    raise_not_a_number(name, label, kind or f'values of the Arrow type “{text}”', has_dummies)


class ArrowTable(Table):
    """The batches of a stream, which can be read once, or the one batch of an array."""

    def __init__(self, value, name):
        super().__init__(name)
        if hasattr(value, '__arrow_c_stream__'):
            self._capsules, address = get_stream(value)
            self._stream = _Stream.from_address(address)
            if not self._stream.release:
                raise ArgumentError(f'{name} is a stream of Arrow that has been read, or released')
            owned = _Owned(_Schema)
            self._check(self._stream.get_schema(ctypes.byref(self._stream), ctypes.byref(owned.structure)))
            schema = owned.structure
        else:
            self._capsules = value.__arrow_c_array__()
            self._stream = None
            schema = _Schema.from_address(_get_pointer(self._capsules[0], b'arrow_schema'))

        self.is_column = schema.format != b'+s'
        fields = [schema] if self.is_column else [schema.children[i].contents for i in range(schema.n_children)]
        self.labels = [(field.name or b'').decode() for field in fields]
        self._texts = [None] if self.is_column else self.labels
        self._decimals = [_parse_decimal(field.format.decode()) for field in fields]
        # A frame of polars.
        has_dummies = hasattr(value, 'to_dummies') and not self.is_column
        self.dtypes = [_find_dtype(field, name, text, has_dummies) for field, text in zip(fields, self._texts)]
        n_rows = getattr(value, 'num_rows', getattr(value, 'height', None))
        self.n_rows = n_rows if isinstance(n_rows, int) else None

    def _check(self, status):
        if status != 0:
            text = self._stream.get_last_error(ctypes.byref(self._stream))
            raise ArgumentError(f'{self.name} cannot be read: {text.decode() if text else f"error {status}"}')

    def _get_arrays(self):
        if self._stream is None:
            yield _Array.from_address(_get_pointer(self._capsules[1], b'arrow_array')), self._capsules
            return
        while True:
            owned = _Owned(_Array)
            self._check(self._stream.get_next(ctypes.byref(self._stream), ctypes.byref(owned.structure)))
            if not owned.structure.release:
                return
            yield owned.structure, owned

    def _check_array(self, array, n, label):
        """Refuses what could not be read without leaving the memory of the array, as far as it says how much it has."""
        if array.length < 0 or array.offset < 0 or array.length < n:
            raise ArgumentError(f'{self.name} has a broken array of Arrow{"" if label is None else f" as column “{label}”"}: '
                                f'{array.length} values from {array.offset} on, for {n} rows')

    def get_batches(self, n):
        for array, owner in self._get_arrays():
            self._check_array(array, 0, None)
            if not self.is_column and array.n_children != self.n_columns:
                raise ArgumentError(f'{self.name} has a broken array of Arrow: {array.n_children} columns, where there are '
                                    f'{self.n_columns}')
            yield array.length, lambda i, row, array=array, owner=owner: self._get_column(array, owner, i, row)

    def _get_column(self, array, owner, i, row):
        offset = array.offset
        column = array
        if not self.is_column:
            self._check_valid(array, offset, array.length, i, row)
            if not array.children or not array.children[i]:
                raise ArgumentError(f'{self.name} has a broken array of Arrow: none for column {self.labels[i]!r}')
            column = array.children[i].contents
            self._check_array(column, array.offset + array.length, self.labels[i])
            offset += column.offset
        self._check_valid(column, offset, array.length, i, row)
        if array.length > 0 and (column.n_buffers != 2 or not column.buffers[1]):
            raise ArgumentError(f'{self.name} has a broken array of Arrow: no values in column {self.labels[i]!r}')
        if self._decimals[i] is None:
            return self._read(column.buffers[1], offset, array.length, self.dtypes[i], owner)
        numpy, (bits, scale) = import_module('numpy'), self._decimals[i]
        n = bits // 64 or 1
        words = self._read(column.buffers[1], n * offset, n * array.length, numpy.dtype('i4' if bits == 32 else 'i8'), owner)
        return _round_decimals(words.astype('i8').reshape(-1, n), scale)

    def _check_valid(self, column, offset, n, i, row):
        if column.null_count == 0 or n == 0:
            return
        if not column.n_buffers or not column.buffers[0]:
            if column.null_count > 0:
                raise ArgumentError(f'{self.name} has a broken array of Arrow: {count(column.null_count, "value")} missing in '
                                    f'column {self.labels[i]!r}, but not said which')
            return
        numpy = import_module('numpy')
        valid = self._read(column.buffers[0], offset, n, numpy.dtype('?'), None)
        if not valid.all():
            raise make_missing(self.name, row + int(valid.argmin()), self._texts[i])

    def _read(self, address, offset, n, dtype, owner):
        """A column's elements, in place but for truth values, of which a byte holds eight."""
        numpy = import_module('numpy')
        if n == 0:
            return numpy.empty(0, dtype)
        if dtype.kind == 'b':
            begin, end = offset // 8, (offset + n + 7) // 8
            packed = numpy.frombuffer((ctypes.c_ubyte * (end - begin)).from_address(address + begin), 'u1')
            return numpy.unpackbits(packed, bitorder='little')[offset - 8 * begin:][:n].astype('?')
        memory = (ctypes.c_char * (n * dtype.itemsize)).from_address(address + offset * dtype.itemsize)
        memory.owner = owner
        return numpy.frombuffer(memory, dtype)
