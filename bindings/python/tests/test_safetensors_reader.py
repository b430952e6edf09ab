# SPDX-License-Identifier: LGPL-2.1-or-later
import asyncio
import gc
import itertools
import json
import struct

import tap
from common import Apr, Gio, GLib, TestCase, needs_numpy, numpy


def make_file(header, data=b''):
    """The bytes of a SafeTensors file, from Python's own JSON and struct."""
    text = json.dumps(header).encode()
    return struct.pack('<Q', len(text)) + text + data


TWO = make_file({
    '__metadata__': {'zeta': 'last', 'alpha': 'first', 'Ωmega': 'greek'},
    'b': {'dtype': 'F32', 'shape': [2], 'data_offsets': [0, 8]},
    'a': {'dtype': 'I16', 'shape': [3, 1], 'data_offsets': [8, 14]},
    'scalar': {'dtype': 'U8', 'shape': [], 'data_offsets': [14, 15]},
}, struct.pack('<ff3hB', 1.5, -2, 1, -2, 3, 9))


class Reader(TestCase):
    def test_mapping(self):
        reader = Apr.SafetensorsReader.new_from_bytes(TWO)
        self.assertEqual(len(reader), 3)
        self.assertEqual(list(reader), ['a', 'b', 'scalar'])
        self.assertEqual(reader.get_names(), ['a', 'b', 'scalar'])
        self.assertIn('a', reader)
        self.assertNotIn('c', reader)
        self.assertNotIn(1, reader)
        self.assertEqual(reader['b'].tolist(), [1.5, -2.0])
        self.assertEqual(reader['a'].tolist(), [[1], [-2], [3]])
        self.assertEqual(reader['scalar'].tolist(), 9)
        self.assertEqual({name: tensor.shape for name, tensor in dict(reader).items()},
                         {'a': (3, 1), 'b': (2,), 'scalar': ()})
        with self.assertRaises(KeyError):
            reader['c']
        self.assertFails(Apr.SafetensorsError.NOT_FOUND, '“c”', reader.get_tensor, 'c')
        self.assertNotIn('a\0c', reader)
        with self.assertRaises(KeyError):
            reader['a\0c']
        with self.assertRaisesRegex(ValueError, 'NUL'):
            reader.get_slice('a\0c')

    def test_properties(self):
        path = self.make_directory() / 'model.safetensors'
        path.write_bytes(TWO)
        reader = Apr.SafetensorsReader(file=Gio.File.new_for_path(str(path)), load_mode='read')
        self.assertEqual(len(reader), 0)
        reader.init(None)
        self.assertEqual(reader['b'].tolist(), [1.5, -2.0])
        path.write_bytes(b'')
        with self.assertRaises(GLib.Error):
            Apr.SafetensorsReader(file=Gio.File.new_for_path(str(path))).init(None)

    def test_dtype_and_shape(self):
        reader = Apr.SafetensorsReader.new_from_bytes(TWO)
        self.assertEqual(reader.get_dtype('a'), Apr.DType.I16)
        self.assertEqual(reader.get_shape('a'), [3, 1])
        self.assertEqual(reader.get_shape('scalar'), [])
        self.assertFails(Apr.SafetensorsError.NOT_FOUND, '“c”', reader.get_shape, 'c')
        self.assertFails(Apr.SafetensorsError.NOT_FOUND, '“c”', reader.get_dtype, 'c')

    def test_places(self):
        reader = Apr.SafetensorsReader.new_from_bytes(TWO)
        self.assertEqual(reader.get_names_in_file_order(), ['b', 'a', 'scalar'])
        start = len(TWO) - 15
        self.assertEqual([(reader.get_offset(name), reader.get_size(name)) for name in ('b', 'a', 'scalar')],
                         [(start, 8), (start + 8, 6), (start + 14, 1)])
        self.assertFails(Apr.SafetensorsError.NOT_FOUND, '“c”', reader.get_size, 'c')

    def _open(self, mode, data=None):
        path = self.make_directory() / 'model.safetensors'
        path.write_bytes(TWO if data is None else data)
        reader = Apr.SafetensorsReader(file=Gio.File.new_for_path(str(path)), load_mode=mode)
        reader.init(None)
        return reader

    def test_load_modes(self):
        for mode in (Apr.SafetensorsLoadMode.MAP, Apr.SafetensorsLoadMode.READ):
            reader = self._open(mode)
            self.assertEqual(reader['a'].tolist(), [[1], [-2], [3]])
            self.assertEqual(list(reader.metadata), ['alpha', 'zeta', 'Ωmega'])
            self.assertEqual((reader.load_mode, reader.max_header_size, reader.bytes), (mode, 100000000, None))
            self.assertEqual(reader.file.get_basename(), 'model.safetensors')
            with self.assertRaises(AttributeError):
                reader.load_mode = mode
        self.assertEqual(Apr.SafetensorsReader.new_from_bytes(TWO).bytes.get_data(), TWO)

    def test_slices(self):
        for mode in (Apr.SafetensorsLoadMode.MAP, Apr.SafetensorsLoadMode.READ):
            reader = self._open(mode)
            part = reader.get_slice('a')
            self.assertEqual((part.get_shape(), part.get_dtype()), ((3, 1), Apr.DType.I16))
            self.assertEqual(part[:].tolist(), [[1], [-2], [3]])
            self.assertEqual(part[()].tolist(), [[1], [-2], [3]])
            self.assertEqual(part[..., 0].tolist(), [1, -2, 3])
            self.assertEqual(part[1:3, ::-1].tolist(), [[-2], [3]])
            self.assertEqual(part[::-2, 0].tolist(), [3, 1])
            self.assertEqual(part[-1, -1].tolist(), 3)
            self.assertEqual(part[1 << 70:-1 << 70:-1].shape, (3, 1))
            self.assertEqual(part[2:2].shape, (0, 1))
            self.assertEqual([row.tolist() for row in part], [[1], [-2], [3]])
            self.assertEqual(reader.get_slice('a', '1:, 0').tolist(), [-2, 3])
            with self.assertRaisesRegex(IndexError, '“a”: The index 3 is out of range for dimension 0 of size 3'):
                part[3]
            for index in (True, 1.0, 'x', None, [0, 1]):
                with self.assertRaises(TypeError):
                    part[index]
            # As numpy has it.
            for indices in ((0, 0, 0), (0, 0, 0, ...), (slice(None),) * 3):
                with self.assertRaisesRegex(IndexError, '“a”: 3 indices are too many for a tensor of 2 dimensions'):
                    part[indices]
            for indices in (slice(None, None, 0), (0, slice(1, 0, 0))):
                with self.assertRaisesRegex(ValueError, 'The step of a slice cannot be 0'):
                    part[indices]
            self.assertFails(Apr.SafetensorsError.NOT_FOUND, '“c”', reader.get_slice, 'c')

    def test_slice_of_a_scalar(self):
        writer = Apr.SafetensorsWriter()
        writer.add_tensor('s', Apr.Tensor.new_from_bytes('u8', [], b'x'))
        scalar = Apr.SafetensorsReader.new_from_bytes(writer.write_to_bytes()).get_slice('s')
        self.assertEqual((scalar[()].tolist(), scalar[...].tolist()), (120, 120))
        with self.assertRaises(IndexError):
            scalar[0]
        with self.assertRaisesRegex(TypeError, '“s” is a scalar'):
            list(scalar)

    @needs_numpy
    def test_slices_like_numpy(self):
        array = numpy.arange(3 * 4 * 5, dtype='u2').reshape(3, 4, 5)
        data = make_file({'a': {'dtype': 'U16', 'shape': [3, 4, 5], 'data_offsets': [0, 120]}}, array.tobytes())
        part = self._open(Apr.SafetensorsLoadMode.READ, data).get_slice('a')
        choices = [slice(None), Ellipsis, 0, -1, numpy.int8(2), slice(1, None), slice(None, None, -1),
                   slice(-2, 0, -1), slice(2, 2), slice(None, 9, 2)]
        for key in itertools.product(choices, repeat=3):
            if key.count(Ellipsis) < 2:
                self.assertTrue(numpy.array_equal(part[key].numpy(), array[key]), key)

    def test_stream(self):
        stream = Gio.MemoryInputStream.new_from_bytes(GLib.Bytes.new(TWO))
        self.assertEqual(Apr.SafetensorsReader.new_from_stream(stream)['b'].tolist(), [1.5, -2.0])
        stream = Gio.MemoryInputStream.new_from_bytes(GLib.Bytes.new(TWO[:-1]))
        self.assertFails(Apr.SafetensorsError.TRUNCATED, '“scalar”', Apr.SafetensorsReader.new_from_stream, stream)

    def test_async(self):
        path = self.make_directory() / 'model.safetensors'
        path.write_bytes(TWO)
        loop = GLib.MainLoop()
        readers = []

        def when_open(_, result):
            readers.append(Apr.SafetensorsReader.new_from_file_finish(result))
            loop.quit()

        file = Gio.File.new_for_path(str(path))
        Apr.SafetensorsReader.new_from_file_async(file, None, when_open)
        loop.run()
        self.assertEqual(readers[0]['b'].tolist(), [1.5, -2.0])

    def test_tensors_async(self):
        async def read(reader):
            whole, part = await reader.get_tensor_async('a'), await reader.get_slice_async('a', '::-1, 0')
            return whole.tolist(), part.tolist()

        async def cancel(reader):
            cancellable = Gio.Cancellable()
            cancellable.cancel()
            await reader.get_tensor_async('a', cancellable)

        for mode in ('map', 'read'):
            self.assertEqual(asyncio.run(read(self._open(mode))), ([[1], [-2], [3]], [3, -2, 1]))
            with self.assertRaises(GLib.Error) as caught:
                asyncio.run(cancel(self._open(mode)))
            self.assertTrue(caught.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))
            with self.assertRaisesRegex(ValueError, 'NUL'):
                self._open(mode).get_tensor_async('a\0c')

    def test_shards(self):
        directory = self.make_directory()
        index = directory / 'model.safetensors.index.json'
        (directory / 'one').write_bytes(TWO)
        (directory / 'two').write_bytes(make_file({'c': {'dtype': 'U8', 'shape': [1], 'data_offsets': [0, 1]}}, b'c'))
        weight_map = {'a': 'one', 'b': 'one', 'scalar': 'one', 'c': 'two'}
        index.write_text(json.dumps({'metadata': {'total_size': 16}, 'weight_map': weight_map}, indent=2))
        reader = Apr.SafetensorsReader.new_from_path(index)
        self.assertEqual(list(reader), ['a', 'b', 'c', 'scalar'])
        self.assertEqual(reader['c'].tolist(), [99])
        index.write_text(json.dumps({'weight_map': {**weight_map, 'c': '../two'}}))
        self.assertFails(Apr.SafetensorsError.SHARD_NAME, '“../two”', Apr.SafetensorsReader.new_from_path, index)

    def test_metadata(self):
        reader = Apr.SafetensorsReader.new_from_bytes(TWO)
        self.assertEqual(list(reader.metadata.items()),
                         [('alpha', 'first'), ('zeta', 'last'), ('Ωmega', 'greek')])
        self.assertEqual(Apr.SafetensorsReader.new_from_bytes(make_file({})).metadata, {})

    def test_empty(self):
        reader = Apr.SafetensorsReader.new_from_bytes(make_file({}))
        self.assertEqual((len(reader), list(reader)), (0, []))

    def test_bytes_of_every_kind(self):
        for data in (TWO, GLib.Bytes.new(TWO), bytearray(TWO), memoryview(TWO)):
            self.assertEqual(len(Apr.SafetensorsReader.new_from_bytes(data)), 3)
        for bad in (7, 'text', None):
            with self.assertRaises(TypeError):
                Apr.SafetensorsReader.new_from_bytes(bad)

    def test_path_of_every_kind(self):
        path = self.make_directory() / 'two.safetensors'
        path.write_bytes(TWO)
        for argument in (path, str(path)):
            self.assertEqual(len(Apr.SafetensorsReader.new_from_path(argument)), 3)
        for argument in (path, str(path), Gio.File.new_for_path(str(path))):
            self.assertEqual(len(Apr.SafetensorsReader(argument)), 3)
            self.assertEqual(len(Apr.SafetensorsReader(argument, load_mode='read')), 3)
        for function in (Apr.SafetensorsReader, Apr.load_file):
            with self.assertRaisesRegex(FileNotFoundError, 'nonexistent'):
                function(Gio.File.new_for_path('nonexistent.safetensors'))
            with self.assertRaisesRegex(TypeError, 'a path or a Gio.File, not 7'):
                function(7)

    @needs_numpy
    def test_tensors_outlive_file_and_reader(self):
        path = self.make_directory() / 'two.safetensors'
        path.write_bytes(TWO)
        reader = Apr.SafetensorsReader.new_from_path(path)
        view = numpy.asarray(reader['b'])
        again = numpy.asarray(reader['b'])
        self.assertTrue(numpy.shares_memory(view, again))
        path.unlink()
        del reader
        gc.collect()
        self.assertEqual(view.tolist(), [1.5, -2.0])

    @needs_numpy
    def test_unaligned_tensors(self):
        header = {'byte': {'dtype': 'U8', 'shape': [1], 'data_offsets': [0, 1]},
                  'doubles': {'dtype': 'F64', 'shape': [2], 'data_offsets': [1, 17]}}
        for padding in range(8):
            header['__metadata__'] = {'padding': 'x' * padding}
            data = make_file(header, b'\x05' + struct.pack('<dd', 0.1, -1e300))
            view = numpy.asarray(Apr.SafetensorsReader.new_from_bytes(data)['doubles'])
            self.assertEqual(view.tolist(), [0.1, -1e300])
            self.assertEqual((view * 2).tolist(), [0.2, -2e300])

    def test_bad_files(self):
        entry = {'dtype': 'F32', 'shape': [2], 'data_offsets': [0, 8]}
        for code, data in (
            (Apr.SafetensorsError.TRUNCATED, b''),
            (Apr.SafetensorsError.TRUNCATED, b'\1\2\3'),
            (Apr.SafetensorsError.TRUNCATED, TWO[:-1]),
            (Apr.SafetensorsError.TRAILING_DATA, TWO + b'x'),
            (Apr.SafetensorsError.HEADER_TOO_LARGE, b'\xff' * 8 + b'{}'),
            (Apr.SafetensorsError.SYNTAX, struct.pack('<Q', 2) + b'[]'),
            (Apr.SafetensorsError.DTYPE, make_file({'a': {**entry, 'dtype': 'F31'}}, b'x' * 8)),
            (Apr.SafetensorsError.SIZE_MISMATCH, make_file({'a': {**entry, 'shape': [3]}}, b'x' * 8)),
            (Apr.SafetensorsError.FIELD, make_file({'a': {'dtype': 'F32', 'shape': [2]}}, b'x' * 8)),
            (Apr.SafetensorsError.METADATA, make_file({'__metadata__': {'a': 1}})),
        ):
            with self.subTest(code.value_nick):
                self.assertFails(code, '.', Apr.SafetensorsReader.new_from_bytes, data)

    def test_missing_file(self):
        with self.assertRaisesRegex(GLib.Error, 'nonexistent.*No such file'):
            Apr.SafetensorsReader.new_from_path('nonexistent.safetensors')


if __name__ == '__main__':
    tap.main()
