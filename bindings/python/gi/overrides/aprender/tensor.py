# SPDX-License-Identifier: LGPL-2.1-or-later
"""Apr.Tensor: an array of numpy's, or nested lists without numpy."""

from __future__ import annotations

import ctypes
import functools
import pickle
import struct

from gi.repository import GLib

from . import awaitable, pickling
from .data import to_tensor
from .memory import FORMATS, NOTHING, wrap_bytes, copy_bytes, find_numpy_dtype, import_module
from .native import Apr
from ...overrides import override

# numpy 1.24 writes more dimensions of an __array_interface__ past the end of an array on its stack.
_MAX_NUMPY_DIMS = 32


# The types are kept: to make one takes longer than all the rest.
@functools.lru_cache(maxsize=1024)
def _find_memory_type(size):
    return ctypes.c_char * size


_cast_async = Apr.Tensor.cast_async
_cast_finish = Apr.Tensor.cast_finish


class _Meta(type(Apr.Tensor)):
    # That of PyGObject has the constructors, whatever the class says of itself.
    __doc__ = type.__dict__['__doc__']


@override
class Tensor(Apr.Tensor, metaclass=_Meta):
    """An immutable n-dimensional array, made from anything that numpy.asarray understands.

        tensor = Apr.Tensor([[1.5, 2.5], [3.0, 4.0]])
        print(tensor.shape, tensor.dtype, tensor[0], tensor.cast('f32'))
        array = numpy.asarray(tensor)

    An array in C order and of a dtype that SafeTensors has is shared, not copied, as numpy.asarray does: do
    not change it while the tensor is in use. `Apr.Tensor(array.copy())` has memory of its own. Numbers that
    carry no dtype, such as those of lists, become F64; masked entries become NaN.

    `numpy.asarray(tensor)` is a read-only view of the same memory, which it keeps alive. Indexing and
    iterating give what numpy gives.

    cast(dtype) makes a tensor of another dtype, slice_rows(start, stop) one of some rows in the same memory.
    get_bytes() gives the memory, get_double(i) one element, equal(other) compares all bits. Any number of threads may
    read a tensor.

    What holds anything but numbers is a TypeError, and rows of different lengths are a ValueError.
    """

    # The namespace that override() looks for.
    __module__ = 'gi.overrides.Apr'

    # Equal tensors are equal by their elements, which are too many to hash.
    __hash__ = None

    def __new__(cls, value: Data):
        return to_tensor(value)

    def __init__(self, value):
        # A boxed type's own refuses every argument.
        pass

    # Python sets a pending exception aside only for this function: else it would be lost when the last reference goes
    # and the memory's release is called.
    __del__ = Apr.Tensor._clear_boxed

    @staticmethod
    def new_from_bytes(dtype: DType | DTypeLike, shape: Sequence[int], data: Buffer) -> Tensor:
        """A tensor of elements that lie in bytes, or in anything with a buffer, in C order and little-endian."""
        return Apr.Tensor.new_from_bytes(dtype, shape, wrap_bytes(data))

    def copy(self) -> Tensor:
        """The same tensor, which never changes, in the same memory; numpy.array(tensor) has memory of its own."""
        return super().copy()

    def cast_async(self, dtype, cancellable=None, callback=None, *user_data):
        """What cast() gives, without blocking: `await tensor.cast_async('f32')`."""
        return awaitable.call(
            lambda *args: _cast_async(self, dtype, GLib.PRIORITY_DEFAULT, *args),
            lambda _, result: _cast_finish(self, result), cancellable, callback, user_data)

    @property
    def shape(self) -> tuple[int, ...]:
        """The size along each dimension, as a tuple."""
        return tuple(self.get_shape())

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.get_n_dims()

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.get_n_elements()

    @property
    def T(self) -> Array:
        """The transposed array: a view of the same memory, for which numpy is needed."""
        return self.numpy().T

    @property
    def dtype(self) -> DType:
        """The Apr.DType of the elements."""
        return self.get_dtype()

    @property
    def __array_interface__(self):
        dtype, shape, address, _ = self.get_memory()
        typestr = FORMATS.get(dtype, (None, None))[1]
        if typestr is None or len(shape) > _MAX_NUMPY_DIMS:
            # Then numpy asks __array__.
            raise AttributeError('__array_interface__')
        return {'version': 3, 'shape': tuple(shape), 'typestr': typestr,
                'data': (address or ctypes.addressof(NOTHING), True)}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = self.numpy()
        if dtype is not None:
            array = array.astype(dtype, copy=False)
        return array.copy() if copy else array

    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        """What torch.from_dlpack(tensor) and others ask for: the same memory where they promise not to write to it.

        Since DLPack 1.0 a consumer can be told so; one that knows no such version gets a copy.
        """
        if stream is not None:
            raise BufferError('The memory is that of the processor, which has no streams')
        if max_version is not None and max_version >= (1, 0) and import_module('numpy').lib.NumpyVersion(
                import_module('numpy').__version__) >= '2.1.0':
            return self.numpy().__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)
        if copy is False:
            raise BufferError('A tensor must not be written to, which DLPack before version 1.0 cannot say: copy it')
        if dl_device not in (None, self.__dlpack_device__()):
            raise BufferError('A tensor is in the memory of the processor')
        return self.numpy().copy().__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def numpy(self) -> Array:
        """The elements as a read-only numpy array, which shares the tensor's memory."""
        # Not the view itself, behind which numpy finds what may be written to.
        return self._view(lambda memory: pickle.PickleBuffer(memoryview(memory).toreadonly()))

    def _view(self, get_buffer):
        dtype, shape, address, size = self.get_memory()
        dtype = find_numpy_dtype(dtype)
        memory = _find_memory_type(size).from_address(address or ctypes.addressof(NOTHING))
        memory.tensor = self
        return import_module('numpy').ndarray(shape, dtype, get_buffer(memory))

    def _copy_values(self):
        # What comes out of a script's function, which may keep the tensor.
        return self.tolist() if import_module('numpy') is None else self.numpy().copy()

    def _take_values(self):
        # What comes out of a function that has made the tensor for the caller alone: an array that may be written to.
        return self.tolist() if import_module('numpy') is None else self._view(lambda memory: memory)

    def tolist(self) -> Any:
        """The elements as nested lists of Python's numbers, or as one number for a scalar."""
        if import_module('numpy') is not None:
            return self.numpy().tolist()

        code = FORMATS.get(self.dtype, (None, None, None))[2]
        if code is None:
            raise TypeError(f'{Apr.DType.to_string(self.dtype)} has no counterpart in Python without numpy')
        values = struct.unpack(f'<{self.get_n_elements()}{code}', copy_bytes(self.get_bytes()))
        return self._nest(list(values), self.shape)

    @staticmethod
    def _nest(values, shape):
        if not shape:
            return values[0]
        width = len(values) // shape[0] if shape[0] > 0 else 0
        return [Tensor._nest(values[i * width:(i + 1) * width], shape[1:]) for i in range(shape[0])]

    def _get_values(self):
        # What comes out: an array, or nested lists without numpy.
        return self.tolist() if import_module('numpy') is None else self.numpy()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError('A scalar has no length')
        return self.shape[0]

    def _get_number(self):
        if self.get_n_elements() != 1:
            raise TypeError(f'Only a tensor of one element is a number, but this one has the shape {list(self.shape)}')
        return self.get_double(0)

    def __float__(self) -> float:
        return self._get_number()

    def __int__(self) -> int:
        return int(self._get_number())

    def __bool__(self) -> bool:
        return bool(self._get_values())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._get_values())

    def __getitem__(self, key: Any) -> Any:
        return self._get_values()[key]

    def __eq__(self, other: object) -> bool:
        return self.equal(other) if isinstance(other, Apr.Tensor) else NotImplemented

    def __ne__(self, other):
        return not self.equal(other) if isinstance(other, Apr.Tensor) else NotImplemented

    def _have_no_order(self, other):
        return NotImplemented

    # A boxed type's own compare addresses.
    __lt__ = __le__ = __gt__ = __ge__ = _have_no_order

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        data = copy_bytes(self.get_bytes())
        return pickling.tensor, (Apr.DType.to_string(self.dtype), self.shape, data)

    def __str__(self) -> str:
        return self.to_string()

    def __repr__(self) -> str:
        return f'<Apr.Tensor {self.to_string()}>'
