# SPDX-License-Identifier: LGPL-2.1-or-later
import array
import asyncio
import copy
import ctypes
import fractions
import gc
import pickle
import re
import subprocess
import sys
import threading
import weakref

import tap
from common import Apr, Gio, GLib, TestCase, needs_numpy, numpy

NUMPY_NAMES = {
    'BOOL': 'bool', 'U8': 'uint8', 'I8': 'int8', 'I16': 'int16', 'U16': 'uint16', 'F16': 'float16',
    'I32': 'int32', 'U32': 'uint32', 'F32': 'float32', 'C64': 'complex64', 'F64': 'float64',
    'I64': 'int64', 'U64': 'uint64',
}

# What is wrong with lists, and how that is said.
BAD_LISTS = [
    ([[1, 2], [3]], ValueError,
     'The tensor is ragged: the length at row 1 (counted from 0) is 1, but before it was 2'),
    ([[[1, 2]], [[1]]], ValueError, 'the length at row 1, column 0 (counted from 0) is 1'),
    ([[1, 2], [3, None]], TypeError, 'The tensor has None at row 1, column 1 (counted from 0), not a number'),
    ([1, '2'], TypeError, 'the string “2” at row 1'),
    ([1, [2]], TypeError, 'an array at row 1 (counted from 0), not a number'),
    ([[1, 2], 3], TypeError, '3 at row 1 (counted from 0), not an array'),
    ([[1, 2], None], TypeError, 'None at row 1 (counted from 0), not an array'),
    ([1, 1j], TypeError, 'a complex at row 1'),
    ([[[1, 2]], [[1, 'x']]], TypeError, 'the string “x” at [1, 0, 1] (counted from 0)'),
    (None, TypeError, 'The tensor must be numbers in lists'),
    ('text', TypeError, 'not the string “text”'),
    (b'abc', TypeError, 'not a bytes'),
    ({1, 2}, TypeError, 'not a set'),
]

WITHOUT_NUMPY = '''
import ast, builtins, sys
sys.modules['numpy'] = None
import gi, pickle
gi.require_version('Apr', '1.0')
from gi.repository import Apr

tensor = Apr.Tensor([[1, 2.5], [3, 4]])
assert tensor.dtype == Apr.DType.F64 and tensor.shape == (2, 2), tensor
assert tensor.tolist() == [[1.0, 2.5], [3.0, 4.0]], tensor.tolist()
assert tensor[1] == [3.0, 4.0] and list(tensor) == tensor.tolist() and len(tensor) == 2
assert tensor.cast(Apr.DType.F16).tolist() == tensor.tolist()
assert pickle.loads(pickle.dumps(tensor)) == tensor
assert Apr.Tensor(7).tolist() == 7.0 and Apr.Tensor(7).shape == ()
assert Apr.Tensor([]).shape == (0,) and Apr.Tensor([]).tolist() == []
assert Apr.Tensor([[], []]).shape == (2, 0) and Apr.Tensor([[], []]).tolist() == [[], []]
for bad, kind, text in ast.literal_eval(sys.argv[1]):
    try:
        Apr.Tensor(bad)
    except getattr(builtins, kind) as error:
        assert text in str(error), (text, error)
    else:
        raise AssertionError(bad)
X = [[1, 2], [2, 1], [3, 4], [4, 3]]
y = [5, 4, 11, 10]
model = Apr.LinearRegression().fit(X, y)
assert model.coefficients == [1.0, 2.0] and model.intercept == 0.0, model.coefficients
assert model.predict(X) == y and model.score(X, y) == 1.0
assert Apr.r2_score(y, y) == 1.0
print('fine')
'''


class Tensor(TestCase):
    def test_cast_async(self):
        async def cast(dtype, cancellable=None):
            return await Apr.Tensor([0.1, 1, 1e300]).cast_async(dtype, cancellable)

        tensor = asyncio.run(cast('float32'))
        self.assertEqual(tensor.dtype, Apr.DType.F32)
        self.assertEqual(tensor.tolist(), [float.fromhex('0x1.99999ap-4'), 1.0, float('inf')])
        with self.assertRaisesRegex(ValueError, 'F64 cannot be cast to I32'):
            asyncio.run(cast('int32'))
        cancellable = Gio.Cancellable()
        cancellable.cancel()
        with self.assertRaisesRegex(GLib.Error, 'cancelled'):
            asyncio.run(cast('f32', cancellable))

    @needs_numpy
    def test_every_dtype_of_numpy(self):
        for name, numpy_name in NUMPY_NAMES.items():
            with self.subTest(name):
                values = numpy.array([[0, 1, 1], [1, 0, 1]]).astype(numpy_name)
                tensor = Apr.Tensor(values)
                self.assertEqual(Apr.DType.to_string(tensor.dtype), name)
                self.assertEqual(tensor.get_bytes().get_data(), values.tobytes())
                view = numpy.asarray(tensor)
                self.assertEqual(view.dtype, values.dtype)
                self.assertEqual(view.tolist(), values.tolist())
                self.assertEqual(tensor.tolist(), values.tolist())
                self.assertEqual(tensor.numpy().dtype, values.dtype)
                self.assertTrue(numpy.shares_memory(tensor.numpy(), view))

    @needs_numpy
    def test_array_in_without_copy(self):
        values = numpy.arange(12.0).reshape(3, 4)
        tensor = Apr.Tensor(values)
        self.assertEqual(tensor.shape, (3, 4))
        self.assertTrue(numpy.shares_memory(numpy.asarray(tensor), values))
        self.assertFalse(numpy.shares_memory(numpy.asarray(Apr.Tensor(values.copy())), values))
        values.flags.writeable = False
        self.assertTrue(numpy.shares_memory(numpy.asarray(Apr.Tensor(values)), values))

    @needs_numpy
    def test_array_out_without_copy(self):
        tensor = Apr.Tensor.new_from_doubles([1, 2, 3, 4, 5, 6], [2, 3])
        view = numpy.asarray(tensor)
        self.assertIs(view.base, tensor)
        for array in view, tensor.numpy():
            self.assertFalse(array.flags.writeable)
            with self.assertRaises(ValueError):
                array[0, 0] = 7
            with self.assertRaises(ValueError):
                array.flags.writeable = True
        self.assertTrue(numpy.shares_memory(view, numpy.asarray(tensor.slice_rows(1, 2))))
        self.assertEqual(tensor.numpy().tolist(), [[1, 2, 3], [4, 5, 6]])

    @needs_numpy
    def test_view_outlives_tensor(self):
        for make_view in numpy.asarray, Apr.Tensor.numpy:
            values = numpy.arange(1000.0)
            view = make_view(Apr.Tensor(values).slice_rows(500, 1000))
            alive = weakref.ref(values)
            del values
            gc.collect()
            self.assertEqual(view.sum(), sum(range(500, 1000)))
            del view
            self.assertIsNone(alive())

    @needs_numpy
    def test_an_exception_survives_the_last_owner_of_an_array(self):
        values = numpy.arange(4.0)
        before = sys.getrefcount(values)
        # Python drops what it has of a call's arguments while the exception is on its way.
        with self.assertRaises(ZeroDivisionError):
            print(Apr.LinearRegression(alphas=values), 1 / 0)
        self.assertEqual(sys.getrefcount(values), before)

    @needs_numpy
    def test_other_layouts(self):
        values = numpy.arange(24, dtype='f4').reshape(4, 6)
        layouts = {
            'transposed': values.T, 'fortran': numpy.asfortranarray(values), 'strided': values[::2, ::3],
            'reversed': values[::-1], 'big-endian': values.astype('>f4'), 'broadcast': values[:1] + [[0]] * 3,
            'read-only broadcast': numpy.broadcast_to(values[0], (5, 6)),
        }
        for name, layout in layouts.items():
            with self.subTest(name):
                tensor = Apr.Tensor(layout)
                self.assertEqual(tensor.tolist(), layout.tolist())
                self.assertEqual(tensor.shape, layout.shape)
        self.assertEqual(Apr.Tensor(values.astype('>f4')).dtype, Apr.DType.F32)

    @needs_numpy
    def test_unaligned(self):
        values = numpy.frombuffer(b'x' + numpy.arange(5.0).tobytes(), 'f8', offset=1)
        self.assertFalse(values.flags.aligned)
        self.assertEqual(Apr.Tensor(values).get_double(3), 3.0)
        self.assertEqual(Apr.Tensor(values).get_doubles(), [0.0, 1.0, 2.0, 3.0, 4.0])

        data = GLib.Bytes.new(b'xyz' + numpy.arange(5, dtype='f4').tobytes())
        for start in (0, 3):
            piece = data.new_from_bytes(start, 20)
            view = numpy.asarray(Apr.Tensor.new_from_bytes(Apr.DType.F32, [5], piece))
            self.assertEqual(view.tobytes(), piece.get_data())

    @needs_numpy
    def test_empty_and_scalar(self):
        for shape in ((0,), (0, 3), (3, 0), (2, 0, 4)):
            tensor = Apr.Tensor(numpy.zeros(shape, 'f4'))
            self.assertEqual(tensor.shape, shape)
            self.assertEqual(numpy.asarray(tensor).shape, shape)
            self.assertEqual(numpy.asarray(tensor).dtype, numpy.float32)

        tensor = Apr.Tensor(numpy.array(2.5))
        self.assertEqual(tensor.shape, ())
        self.assertEqual(tensor.tolist(), 2.5)
        self.assertEqual(numpy.asarray(tensor).shape, ())
        self.assertEqual(Apr.Tensor(numpy.float32(2.5)).dtype, Apr.DType.F32)
        with self.assertRaises(TypeError):
            len(tensor)

    def test_numbers_without_dtype_are_doubles(self):
        for value in ([1, 2], (1, 2), range(1, 3), [1.0, 2.0], [True, 2]):
            tensor = Apr.Tensor(value)
            self.assertEqual(tensor.dtype, Apr.DType.F64)
            self.assertEqual(tensor.tolist(), [1.0, 2.0])
        self.assertEqual(Apr.Tensor(7).dtype, Apr.DType.F64)
        self.assertEqual(Apr.Tensor([[1, 2], [3, 4]]).shape, (2, 2))

    @needs_numpy
    def test_buffers(self):
        tensor = Apr.Tensor(array.array('f', [1, 2, 3]))
        self.assertEqual(tensor.dtype, Apr.DType.F32)
        self.assertEqual(Apr.Tensor(memoryview(array.array('h', [1, -2]))).tolist(), [1, -2])

    @needs_numpy
    def test_masked_entries_become_nan(self):
        masked = numpy.ma.masked_equal(numpy.array([1, 2, 3]), 2)
        self.assertTrue(numpy.array_equal(Apr.Tensor(masked), [1, numpy.nan, 3], equal_nan=True))
        self.assertEqual(Apr.Tensor(numpy.ma.array([1, 2])).dtype, Apr.Tensor(numpy.array([1, 2])).dtype)

    @needs_numpy
    def test_dtypes_that_do_not_map(self):
        for value, name in ((numpy.zeros(2, 'c16'), 'complex128'), (numpy.array(['a']), 'U1'),
                            (numpy.array([None]), 'object'), (numpy.zeros(2, 'M8[s]'), 'datetime64'),
                            (numpy.zeros(2, 'g'), 'float128')):
            with self.subTest(name), self.assertRaisesRegex(TypeError, f'{name}.* These can: .*float32'):
                Apr.Tensor(value)

    def test_bad_lists(self):
        for value, kind, text in BAD_LISTS:
            with self.subTest(value), self.assertRaisesRegex(kind, re.escape(text)):
                Apr.Tensor(value)
        cyclic = []
        cyclic.append(cyclic)
        for value in (cyclic, (cyclic,), [[1, 2], cyclic]):
            with self.assertRaises((TypeError, ValueError)):
                Apr.Tensor(value)
        with self.assertRaisesRegex(TypeError, 'more than 32 lists'):
            Apr.LinearRegression().fit(cyclic, [1])

    @needs_numpy
    def test_lists_that_numpy_has_no_dtype_for(self):
        self.assertEqual(Apr.Tensor([2 ** 70, fractions.Fraction(1, 4)]).tolist(), [2.0 ** 70, 0.25])
        self.assertEqual(Apr.Tensor([numpy.longdouble(0.5), 1]).tolist(), [0.5, 1])
        with self.assertRaisesRegex(ValueError, 'ragged: the length at row 1'):
            Apr.Tensor([numpy.ones(2), numpy.ones(3)])

    @needs_numpy
    def test_dtypes_of_ml_dtypes(self):
        bits = Apr.Tensor.new_from_bytes(Apr.DType.BF16, [2], b'\x80\x3f\x00\xc0')
        try:
            import ml_dtypes
        except ImportError:
            with self.assertRaisesRegex(TypeError, 'BF16'):
                bits.numpy()
            return
        self.assertEqual(bits.numpy().dtype, ml_dtypes.bfloat16)
        self.assertEqual(numpy.asarray(bits).tolist(), [1.0, -2.0])
        self.assertEqual(Apr.Tensor(bits.numpy()), bits)
        self.assertTrue(numpy.shares_memory(Apr.Tensor(bits.numpy()).numpy(), bits.numpy()))
        for name in ('float8_e5m2', 'float8_e4m3fn', 'float8_e4m3fnuz', 'float8_e5m2fnuz'):
            values = numpy.array([1, -2], getattr(ml_dtypes, name))
            self.assertEqual(numpy.asarray(Apr.Tensor(values)).dtype, values.dtype)

    @needs_numpy
    def test_f8(self):
        # Each has other bits for 1.
        for name, one, numpy_name in (('E4M3', 0x38, 'e4m3fn'), ('E5M2', 0x3c, 'e5m2'), ('E8M0', 0x7f, 'e8m0fnu'),
                                      ('E4M3FNUZ', 0x40, 'e4m3fnuz'), ('E5M2FNUZ', 0x40, 'e5m2fnuz')):
            dtype = getattr(Apr.DType, f'F8_{name}')
            self.assertEqual(Apr.Tensor.new_from_bytes(dtype, [1], bytes([one])).cast('f32').tolist(), [1])
            tensor = Apr.Tensor.new_from_bytes(dtype, [256], bytes(range(256)))
            try:
                import ml_dtypes
                expected = numpy.frombuffer(bytes(range(256)), getattr(ml_dtypes, f'float8_{numpy_name}')).astype('f4')
            except (ImportError, AttributeError):
                with self.assertRaisesRegex(TypeError, f'numpy has no dtype for F8_{name}: cast the tensor, install'):
                    numpy.asarray(tensor)
                continue
            numpy.testing.assert_array_equal(tensor.cast('f32').numpy(), expected)
            self.assertEqual(numpy.signbit(tensor.cast('f32').numpy()[:1]), numpy.signbit(expected[:1]))

    @needs_numpy
    def test_packed_dtypes_are_bytes(self):
        tensor = Apr.Tensor.new_from_bytes(Apr.DType.F4, [4], b'\x12\x34')
        for function in (tensor.numpy, tensor.tolist, lambda: numpy.asarray(tensor), lambda: tensor[0]):
            with self.assertRaisesRegex(TypeError, r'numpy has no dtype for F4: get_bytes\(\) gives its bytes'):
                function()
        self.assertEqual(pickle.loads(pickle.dumps(tensor)), tensor)

    def test_bytes_in(self):
        data = b'\x00\x00\x80\x3f\x00\x00\x00\x40'
        for value in (data, GLib.Bytes.new(data), bytearray(data), memoryview(data)):
            tensor = Apr.Tensor.new_from_bytes(Apr.DType.F32, [2], value)
            self.assertEqual(tensor.tolist(), [1.0, 2.0])
        with self.assertRaises(TypeError):
            Apr.Tensor.new_from_bytes(Apr.DType.F32, [1], 4)
        self.assertFails(Apr.Error.SHAPE, r'F32 \[3\] needs 12 bytes, but there are 8',
                         Apr.Tensor.new_from_bytes, Apr.DType.F32, [3], data)

    def test_tensor_is_returned_as_it_is(self):
        tensor = Apr.Tensor([1, 2])
        self.assertIs(Apr.Tensor(tensor), tensor)
        self.assertIsInstance(tensor, Apr.Tensor)
        self.assertIs(type(tensor.slice_rows(0, 1)), Apr.Tensor)

    @needs_numpy
    def test_indexing(self):
        tensor = Apr.Tensor(numpy.arange(12.0).reshape(3, 4))
        self.assertEqual(len(tensor), 3)
        self.assertEqual(tensor[1, 2], 6.0)
        self.assertEqual(tensor[1:, ::2].tolist(), [[4.0, 6.0], [8.0, 10.0]])
        self.assertEqual([row.sum() for row in tensor], [6.0, 22.0, 38.0])
        self.assertEqual(tensor[tensor.numpy() > 9].tolist(), [10.0, 11.0])
        with self.assertRaises(IndexError):
            tensor[3]

    def test_equal(self):
        tensor = Apr.Tensor([1, 2])
        self.assertTrue(tensor == Apr.Tensor.new_from_doubles([1, 2], [2]))
        self.assertFalse(tensor != Apr.Tensor.new_from_doubles([1, 2], [2]))
        self.assertNotEqual(tensor, Apr.Tensor.new_from_floats([1, 2], [2]))
        self.assertNotEqual(tensor, Apr.Tensor([[1, 2]]))
        self.assertNotEqual(tensor, Apr.Tensor([1, 3]))
        self.assertNotEqual(tensor, 'text')
        self.assertIsNone(Apr.Tensor.__hash__)
        with self.assertRaises(TypeError):
            tensor < Apr.Tensor([1, 3])

    def test_text(self):
        tensor = Apr.Tensor([[1, 2.5], [3, 4]])
        self.assertEqual(str(tensor), 'F64 [2, 2] [[1, 2.5], [3, 4]]')
        self.assertEqual(repr(tensor), '<Apr.Tensor F64 [2, 2] [[1, 2.5], [3, 4]]>')

    def test_copies_are_the_tensor(self):
        tensor = Apr.Tensor([1, 2])
        self.assertIs(copy.copy(tensor), tensor)
        self.assertIs(copy.deepcopy([tensor])[0], tensor)

    def test_pickle(self):
        for tensor in (Apr.Tensor([[1, 2.5], [3, 4]]), Apr.Tensor(7), Apr.Tensor.new_from_floats([], [0, 3])):
            for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
                self.assertEqual(pickle.loads(pickle.dumps(tensor, protocol)), tensor)

    def test_pickle_in_new_process(self):
        data = pickle.dumps(Apr.Tensor([[1, 2.5], [3, 4]]))
        code = 'import pickle, sys; print(pickle.load(sys.stdin.buffer))'
        done = subprocess.run([sys.executable, '-c', code], input=data, capture_output=True)
        self.assertEqual(done.stdout.decode(), 'F64 [2, 2] [[1, 2.5], [3, 4]]\n', done.stderr.decode())

    def test_without_numpy(self):
        bad_lists = repr([(bad, kind.__name__, text) for bad, kind, text in BAD_LISTS])
        command = [sys.executable, '-c', WITHOUT_NUMPY, bad_lists]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.stdout, 'fine\n', done.stderr)

    @needs_numpy
    def test_tensors_release_their_arrays(self):
        values = [numpy.full(1000, float(i)) for i in range(2000)]
        alive = [weakref.ref(value) for value in values]
        tensors = [Apr.Tensor(value) for value in values]
        del values
        self.assertTrue(all(ref() is not None for ref in alive))
        self.assertEqual([tensor.get_double(7) for tensor in tensors], [float(i) for i in range(2000)])
        del tensors
        self.assertEqual(sum(ref() is not None for ref in alive), 0)

    @needs_numpy
    def test_one_array_in_many_tensors(self):
        values = numpy.ones(1000)
        alive = weakref.ref(values)
        tensors = [Apr.Tensor(values) for _ in range(3)]
        del values
        while tensors:
            self.assertIsNotNone(alive())
            tensors.pop()
        self.assertIsNone(alive())

    @needs_numpy
    def test_tensors_leak_nothing(self):
        values = numpy.ones(3)
        self.assertNoLeak(lambda: Apr.Tensor(values), 200000)

    @needs_numpy
    def test_views_release_their_tensors(self):
        tensor = Apr.Tensor(numpy.arange(10.0))
        before = sys.getrefcount(tensor)
        for make_view in numpy.asarray, Apr.Tensor.numpy:
            views = [make_view(tensor) for _ in range(2000)]
            self.assertEqual(sys.getrefcount(tensor), before + 2000)
            del views
            self.assertEqual(sys.getrefcount(tensor), before)

    @needs_numpy
    def test_failed_tensor_releases_its_array(self):
        values = numpy.zeros(4)
        alive = weakref.ref(values)
        number = 2 ** 40 + 1
        released = []
        release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(released.append)
        with self.assertRaises(GLib.Error):
            Apr.Tensor.new_from_memory(Apr.DType.F64, [5], values.ctypes.data, values.nbytes,
                                       ctypes.cast(release, ctypes.c_void_p).value, number)
        self.assertEqual(released, [number])
        del values
        self.assertIsNone(alive())

    @needs_numpy
    def test_release_keeps_a_pending_exception(self):
        # The tensor goes while the exception looks for somebody to catch it.
        for _ in range(100):
            with self.assertRaises(ZeroDivisionError):
                max(Apr.Tensor(numpy.ones(3)), 1 / 0)
        writer = Apr.SafetensorsWriter()
        writer.add_tensor('a', [1])
        for _ in range(100):
            self.assertFails(Apr.SafetensorsError.DUPLICATE, '“a”', writer.add_tensor, 'a', numpy.ones(3))

    @needs_numpy
    def test_release_in_another_thread(self):
        values = numpy.ones(1000)
        alive = weakref.ref(values)
        tensors = [Apr.Tensor(values)]
        del values
        thread = threading.Thread(target=tensors.clear)
        thread.start()
        thread.join()
        self.assertIsNone(alive())

    @needs_numpy
    def test_release_when_the_interpreter_ends(self):
        code = ('import gi, numpy; gi.require_version("Apr", "1.0"); from gi.repository import Apr; '
                'tensor = Apr.Tensor(numpy.ones(9)); cycle = [tensor, Apr.Tensor(numpy.ones(9))]; '
                'cycle.append(cycle)')
        done = subprocess.run([sys.executable, '-W', 'ignore', '-c', code], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ''))

    @needs_numpy
    def test_no_elements(self):
        for data in (b'', GLib.Bytes.new(b'')):
            tensor = Apr.Tensor.new_from_bytes(Apr.DType.U16, [0, 3], data)
            self.assertEqual((numpy.asarray(tensor).shape, tensor.numpy().dtype), ((0, 3), numpy.dtype('u2')))
            self.assertEqual(tensor.tolist(), [])

    @needs_numpy
    def test_more_dimensions_than_numpy_has(self):
        """A file may have them, and numpy must not be given a shape that it does not check."""
        tensor = Apr.Tensor.new_from_bytes(Apr.DType.U8, [1] * 100000, b'x')
        for function in numpy.asarray, numpy.array, numpy.sum:
            with self.assertRaisesRegex(ValueError, 'dimension'):
                function(tensor)
        self.assertFalse(hasattr(Apr.Tensor.new_from_bytes(Apr.DType.U8, [1] * 33, b'x'), '__array_interface__'))
        self.assertEqual(numpy.asarray(Apr.Tensor.new_from_bytes(Apr.DType.U8, [1] * 32, b'x')).ndim, 32)

    @needs_numpy
    def test_slice_like_numpy(self):
        random = numpy.random.RandomState(7)
        items = [':', '...', '0', '-1', '1', '2', '1:', ':-1', '::-1', '::2', '3:0:-2', '-2:', '9:', ':-9', '2:2',
                 '3:1', '-9:9:3', '::-9', ' 1 : 3 ']
        shapes = [(480,), (20, 24), (5, 6, 16), (3, 4, 5, 8), (1, 480, 1)]
        n_sliced = 0
        for _ in range(20000):
            array = numpy.arange(480).reshape(shapes[random.randint(len(shapes))])
            text = ','.join(random.choice(items, random.randint(0, array.ndim + 2)))
            try:
                expected = eval(f'array[{text or "()"}]')
            except IndexError:
                with self.assertRaises(GLib.Error, msg=text):
                    Apr.Tensor(array).slice(text)
                continue
            actual = numpy.asarray(Apr.Tensor(array).slice(text))
            self.assertEqual(actual.shape, expected.shape, text)
            self.assertTrue((actual == expected).all(), text)
            n_sliced += 1
        self.assertGreater(n_sliced, 5000)

    @needs_numpy
    def test_slice_of_any_text(self):
        random = numpy.random.RandomState(8)
        array = numpy.arange(24).reshape(2, 3, 4)
        tensor = Apr.Tensor(array)
        n_sliced = 0
        for _ in range(20000):
            text = ''.join(random.choice(list('0123--::,,. '), random.randint(0, 8)))
            try:
                actual = numpy.asarray(tensor.slice(text))
            except GLib.Error:
                continue
            # What the library takes, Python takes too, and as the same.
            expected = eval(f'array[{text.strip() or "()"}]')
            self.assertEqual((actual.shape, actual.tolist()), (expected.shape, expected.tolist()), text)
            n_sliced += 1
        self.assertGreater(n_sliced, 1000)

    def test_errors(self):
        tensor = Apr.Tensor([1, 2])
        self.assertFails(Apr.Error.RANGE, 'index 2 is out of range for dimension 0 of size 2', tensor.slice, '2')
        self.assertFails(Apr.Error.RANGE, 'Element 2 of a tensor that has 2', tensor.get_double, 2)
        self.assertFails(Apr.Error.DTYPE, 'F64, not F32', tensor.get_floats)
        self.assertFails(Apr.Error.RANGE, 'Rows 1 to 3', tensor.slice_rows, 1, 3)

    @needs_numpy
    def test_dlpack(self):
        """What takes a tensor by DLPack can write to a copy, or is told that it must not write."""
        tensor = Apr.Tensor(numpy.arange(6, dtype='f4').reshape(2, 3))
        self.assertEqual(tensor.__dlpack_device__(), (1, 0))
        array = numpy.from_dlpack(tensor)
        self.assertEqual((array.dtype, array.tolist()), (numpy.float32, [[0, 1, 2], [3, 4, 5]]))
        if array.flags.writeable:
            array[:] = 7
        # The version of DLPack that knows of memory that must not be written to.
        self.assertEqual(numpy.shares_memory(array, tensor.numpy()),
                         numpy.lib.NumpyVersion(numpy.__version__) >= '2.1.0')
        self.assertEqual(tensor.tolist(), [[0, 1, 2], [3, 4, 5]])
        del tensor
        self.assertEqual(array.shape, (2, 3))
        with self.assertRaises(BufferError):
            Apr.Tensor([1.0]).__dlpack__(copy=False)
        with self.assertRaises(BufferError):
            Apr.Tensor([1.0]).__dlpack__(stream=1)
        for _ in range(1000):
            # Nobody takes the capsule.
            Apr.Tensor([1.0]).__dlpack__()


if __name__ == '__main__':
    tap.main()
