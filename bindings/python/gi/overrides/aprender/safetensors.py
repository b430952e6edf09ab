# SPDX-License-Identifier: LGPL-2.1-or-later
"""Apr.SafetensorsReader and Apr.SafetensorsWriter as dictionaries of tensors."""

from __future__ import annotations

import inspect
import operator
import os
from collections.abc import Mapping

from gi.repository import Gio, GLib

from . import awaitable
from .data import to_tensor
from .errors import ArgumentError, carry, translate
from .lists import describe
from .memory import wrap_bytes
from .native import Apr, extends
from .properties import add_attributes, add_constructor

_reader_new_from_path = Apr.SafetensorsReader.new_from_path
_reader_new_from_bytes = Apr.SafetensorsReader.new_from_bytes
_reader_new_from_file_async = Apr.SafetensorsReader.new_from_file_async
_reader_get_slice = Apr.SafetensorsReader.get_slice
_reader_get_slice_async = Apr.SafetensorsReader.get_slice_async
_reader_get_tensor_async = Apr.SafetensorsReader.get_tensor_async
_writer_add_tensor = Apr.SafetensorsWriter.add_tensor
_writer_set_data_func = Apr.SafetensorsWriter.set_data_func
_writer_set_source_bytes = Apr.SafetensorsWriter.set_source_bytes
_writer_write_to_path = Apr.SafetensorsWriter.write_to_path
_writer_write_to_file_async = Apr.SafetensorsWriter.write_to_file_async
_writer_write_to_bytes_async = Apr.SafetensorsWriter.write_to_bytes_async
_writer_write_to_stream_async = Apr.SafetensorsWriter.write_to_stream_async
_writer_write_shards_async = Apr.SafetensorsWriter.write_shards_async

_MIN_INT64, _MAX_INT64 = -1 << 63, (1 << 63) - 1


def _format_index(index):
    if index is Ellipsis:
        return '...'
    if isinstance(index, slice):
        if index.step is not None and operator.index(index.step) == 0:
            raise ValueError('The step of a slice cannot be 0')
        # Python lets bounds of any length mean the end.
        bounds = ['' if bound is None else str(min(max(operator.index(bound), _MIN_INT64), _MAX_INT64))
                  for bound in (index.start, index.stop, index.step)]
        return ':'.join(bounds)
    if isinstance(index, bool) or not hasattr(index, '__index__'):
        raise TypeError(f'An index is a whole number, a slice or “...”, not {index!r}')
    return str(operator.index(index))


class Slice:
    """A tensor of a file, of which indexing gets a part: reader.get_slice('weights')[1:3, ::-1]."""

    def __init__(self, reader, name):
        # Here already, a name that is not there raises.
        self._shape = tuple(reader.get_shape(name))
        self._reader = reader
        self._name = name

    def get_shape(self):
        """The whole tensor's shape, as a tuple."""
        return self._shape

    def get_dtype(self):
        """The Apr.DType of the elements."""
        return self._reader.get_dtype(self._name)

    def __getitem__(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        indices = ','.join(map(_format_index, keys))
        are_too_many = sum(index is not Ellipsis for index in keys) > len(self._shape)
        try:
            return _reader_get_slice(self._reader, self._name, indices)
        except GLib.Error as error:
            if are_too_many or error.matches(Apr.error_quark(), Apr.Error.RANGE):
                raise IndexError(error.message) from error
            raise

    # Without it, Python takes the IndexError of a scalar for the end.
    def __iter__(self):
        if not self._shape:
            raise TypeError(f'The tensor “{self._name}” is a scalar, which cannot be iterated over')
        return map(self.__getitem__, range(self._shape[0]))


def _check_name(name):
    # C would take what stands before it.
    if isinstance(name, str) and '\0' in name:
        raise ValueError(f'The name {name!r} of a tensor has a NUL')


@extends(Apr.SafetensorsReader)
class Reader:
    """The tensors of a SafeTensors file, by their names.

        with Apr.SafetensorsReader('model.safetensors') as reader:
            for name, tensor in reader.items():
                print(name, tensor)

    A Gio.File does as well as a path, and new_from_bytes(data) reads bytes. Where the constructor gets properties in place
    of either, it opens nothing until init() is called, which raises what is wrong:

        reader = Apr.SafetensorsReader(file=file, load_mode='read')
        reader.init(cancellable)

    reader[name] is an Apr.Tensor in the file's own memory; get_dtype(name) and get_shape(name) do without it. metadata
    is a dictionary of strings.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        # Tensors keep the file that they are in; there is nothing to close.
        return None

    @staticmethod
    def new_from_path(path: Path) -> SafetensorsReader:
        """Opens the file of a path, or the index of several files, and checks it."""
        return _reader_new_from_path(os.fspath(path))

    @staticmethod
    def new_from_bytes(data: Buffer) -> SafetensorsReader:
        """Reads the bytes of a file, bytes or GLib.Bytes."""
        return _reader_new_from_bytes(wrap_bytes(data))

    @staticmethod
    def new_from_file_async(file, cancellable=None, callback=None, *user_data):
        """Opens a Gio.File without blocking: `await Apr.SafetensorsReader.new_from_file_async(file)` gives the reader."""
        return awaitable.call(
            lambda *args: _reader_new_from_file_async(file, GLib.PRIORITY_DEFAULT, *args),
            lambda _, result: Apr.SafetensorsReader.new_from_file_finish(result), cancellable, callback, user_data)

    def get_slice(self, name: str, indices: str | None = None) -> Any:
        """A part of a tensor: by indices in a text, as in '1:3, ::-1', or else by indexing what is returned."""
        _check_name(name)
        return Slice(self, name) if indices is None else _reader_get_slice(self, name, indices)

    def get_tensor_async(self, name, cancellable=None, callback=None, *user_data):
        """A tensor, read from the file without blocking: `await reader.get_tensor_async(name)`."""
        _check_name(name)
        return awaitable.call(
            lambda *args: _reader_get_tensor_async(self, name, GLib.PRIORITY_DEFAULT, *args),
            Apr.SafetensorsReader.get_tensor_finish, cancellable, callback, user_data)

    def get_slice_async(self, name, indices, cancellable=None, callback=None, *user_data):
        """A part of a tensor, without blocking: `await reader.get_slice_async(name, '1:3, ::-2')`."""
        _check_name(name)
        return awaitable.call(
            lambda *args: _reader_get_slice_async(self, name, indices, GLib.PRIORITY_DEFAULT, *args),
            Apr.SafetensorsReader.get_slice_finish, cancellable, callback, user_data)

    @property
    def metadata(self) -> dict[str, str]:
        """The strings of __metadata__, in the order of their keys."""
        return dict(sorted(self.get_metadata().items()))

    def keys(self) -> list[str]:
        """The names of the tensors, as a list."""
        return self.get_names()

    def values(self) -> Iterator[Tensor]:
        """The tensors, one after the other, in the order of their names."""
        return map(self.get_tensor, self.get_names())

    def items(self) -> Iterator[tuple[str, Tensor]]:
        """Pairs of a name and its tensor, one after the other."""
        return ((name, self.get_tensor(name)) for name in self.get_names())

    def get(self, name: str, default: Any = None) -> Any:
        """The tensor of a name, or default where none has it."""
        return self.get_tensor(name) if name in self else default

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str) or '\0' in name:
            raise KeyError(name)
        return self.get_tensor(name)

    def __contains__(self, name: str) -> bool:
        return isinstance(name, str) and '\0' not in name and self.has_tensor(name)

    def __len__(self) -> int:
        return len(self.get_names())

    def __iter__(self) -> Iterator[Any]:
        return iter(self.get_names())


@extends(Apr.SafetensorsWriter)
class Writer:
    """Writes tensors to a SafeTensors file.

        writer = Apr.SafetensorsWriter()
        writer.add_tensor('weights', array)
        writer.set_metadata('format', 'pt')
        writer.write_to_path('model.safetensors')

    The same tensors and metadata make the same bytes, in whatever order they were added. Arrays are shared, and
    must not change while the writer is in use. write_to_bytes() makes GLib.Bytes.
    """

    def add_tensor(self, name: str, tensor: Data) -> bool:
        """Adds a tensor, or anything that Apr.Tensor makes one of."""
        _check_name(name)
        return _writer_add_tensor(self, name, to_tensor(tensor, f'The tensor “{name}”'))

    def set_data_func(self, function: Callable[..., object] | None, *user_data: Any) -> None:
        """Sets a function that gives tensors' data, as anything with a buffer, or None."""
        if function is None:
            return _writer_set_data_func(self, None)

        def give(*args):
            try:
                return wrap_bytes(function(*args))
            except GLib.Error:
                raise
            except BaseException as error:
                raise carry(error, 'The function that gives data') from None

        return _writer_set_data_func(self, give, *user_data)

    def set_source_bytes(self, name: str, data: Buffer) -> bool:
        """Sets a tensor's data, anything with a buffer."""
        _check_name(name)
        return _writer_set_source_bytes(self, name, wrap_bytes(data))

    def write_to_path(self, path: Path) -> bool:
        """Writes the file, in one step: there is the old one or the new one."""
        return _writer_write_to_path(self, os.fspath(path))

    def write_to_file_async(self, file, cancellable=None, callback=None, *user_data):
        """Writes to a Gio.File without blocking: `await writer.write_to_file_async(file)`."""
        return awaitable.call(
            lambda *args: _writer_write_to_file_async(self, file, GLib.PRIORITY_DEFAULT, *args),
            Apr.SafetensorsWriter.write_to_file_finish, cancellable, callback, user_data)

    def write_to_bytes_async(self, cancellable=None, callback=None, *user_data):
        """Makes the bytes of the file without blocking: `await writer.write_to_bytes_async()` gives GLib.Bytes."""
        return awaitable.call(
            lambda *args: _writer_write_to_bytes_async(self, GLib.PRIORITY_DEFAULT, *args),
            Apr.SafetensorsWriter.write_to_bytes_finish, cancellable, callback, user_data)

    def write_to_stream_async(self, stream, cancellable=None, callback=None, *user_data):
        """Writes to a Gio.OutputStream without blocking: `await writer.write_to_stream_async(stream)`. It stays open."""
        return awaitable.call(
            lambda *args: _writer_write_to_stream_async(self, stream, GLib.PRIORITY_DEFAULT, *args),
            Apr.SafetensorsWriter.write_to_stream_finish, cancellable, callback, user_data)

    def write_shards_async(self, folder, prefix, max_shard_size, cancellable=None, callback=None, *user_data):
        """Writes shards and their index to a folder without blocking: `await writer.write_shards_async(…)`."""
        return awaitable.call(
            lambda *args: _writer_write_shards_async(self, folder, prefix, max_shard_size, GLib.PRIORITY_DEFAULT, *args),
            Apr.SafetensorsWriter.write_shards_finish, cancellable, callback, user_data)


def save_file(tensors: Mapping[str, object], path: Path, metadata: Mapping[str, str] | None = None) -> None:
    """Writes a dictionary of arrays, or of tensors, to a SafeTensors file, in one step."""
    writer = Apr.SafetensorsWriter()
    if not isinstance(tensors, Mapping):
        raise ArgumentError(f'save_file() takes a dictionary of arrays, not {describe(tensors)}')
    for name, tensor in tensors.items():
        if not isinstance(name, str):
            raise ArgumentError(f'Tensors have names, but one has {describe(name)}')
        writer.add_tensor(name, tensor)
    for key, value in (metadata or {}).items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise ArgumentError(f'Metadata are texts by text, but {describe(key)} stands for {describe(value)}')
        writer.set_metadata(key, value)
    writer.write_to_path(path)


def load_file(path: Path) -> dict[str, Array]:
    """Reads the arrays of a SafeTensors file, or of an index of several, into a dictionary.

    The arrays are read-only views of the file's memory, as array.copy() is not. BF16 and the F8 dtypes need the package
    ml_dtypes; F4 and F6 make no arrays. Apr.SafetensorsReader gives tensors of all dtypes.
    """
    return {name: _to_values(name, tensor) for name, tensor in Apr.SafetensorsReader(path).items()}


def _to_values(name, tensor):
    try:
        return tensor._get_values()
    except TypeError as error:
        raise TypeError(f'load_file() cannot make an array of the tensor “{name}”, as Apr.SafetensorsReader need not: '
                        f'{error}') from None


for _class in (Apr.SafetensorsReader, Apr.SafetensorsWriter):
    add_attributes(_class)
    add_constructor(_class)

_init = Apr.SafetensorsReader.__init__


def _init_reader(self, path=None, **properties):
    if path is None:
        _init(self, **properties)
        return
    if not isinstance(path, (str, bytes, os.PathLike, Gio.File)):
        raise ArgumentError(f'SafetensorsReader() takes a path or a Gio.File, not {describe(path)}: new_from_bytes() and '
                            'new_from_stream() read others')
    _init(self, file=path if isinstance(path, Gio.File) else Gio.File.new_for_path(os.fspath(path)), **properties)
    try:
        self.init(None)
    except GLib.Error as error:
        raise translate(error) from None


_parameters = list(_init.__signature__.parameters.values())
_parameters.insert(1, inspect.Parameter('path', inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None))
_init_reader.__signature__ = inspect.Signature(_parameters)
_init_reader.__doc__ = 'Opens the file of a path, or a Gio.File, and checks it; without one, the keywords are properties.'
Apr.SafetensorsReader.__init__ = _init_reader
