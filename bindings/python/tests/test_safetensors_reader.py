# SPDX-License-Identifier: LGPL-2.1-or-later
import gc
import json
import struct

import tap
from common import Apr, GLib, TestCase, needs_numpy, numpy


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

    def test_dtype_and_shape(self):
        reader = Apr.SafetensorsReader.new_from_bytes(TWO)
        self.assertEqual(reader.get_dtype('a'), Apr.DType.I16)
        self.assertEqual(reader.get_shape('a'), [3, 1])
        self.assertEqual(reader.get_shape('scalar'), [])
        self.assertFails(Apr.SafetensorsError.NOT_FOUND, '“c”', reader.get_shape, 'c')
        self.assertFails(Apr.SafetensorsError.NOT_FOUND, '“c”', reader.get_dtype, 'c')

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
