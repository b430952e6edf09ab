# SPDX-License-Identifier: LGPL-2.1-or-later
import json
import struct

import tap
from common import Apr, GLib, TestCase, needs_numpy, numpy


def split(data):
    """The header and the tensors' bytes, read with Python's own struct and JSON."""
    length, = struct.unpack_from('<Q', data)
    return json.loads(data[8:8 + length]), data[8 + length:]


class Writer(TestCase):
    def test_bytes(self):
        # The bytes that the Python package safetensors writes for the same tensor.
        expected = (b'\x38\0\0\0\0\0\0\0{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}' + b' ' * 2 +
                    b'\0\0\x80\x3f\0\0\0\x40')
        writer = Apr.SafetensorsWriter()
        writer.add_tensor('a', Apr.Tensor.new_from_floats([1, 2], [2]))
        data = writer.write_to_bytes()
        self.assertIsInstance(data, GLib.Bytes)
        self.assertEqual(data.get_data(), expected)

    def test_lists(self):
        writer = Apr.SafetensorsWriter()
        writer.add_tensor('a', [[1, 2], [3, 4]])
        header, data = split(writer.write_to_bytes().get_data())
        self.assertEqual(header['a'], {'dtype': 'F64', 'shape': [2, 2], 'data_offsets': [0, 32]})
        self.assertEqual(struct.unpack('<4d', data), (1, 2, 3, 4))

    @needs_numpy
    def test_arrays(self):
        tensors = {'half': numpy.arange(3, dtype='f2'), 'bool': numpy.array([True, False]),
                   'columns': numpy.arange(6, dtype='>i4').reshape(2, 3).T}
        writer = Apr.SafetensorsWriter()
        for name, array in tensors.items():
            writer.add_tensor(name, array)
        reader = Apr.SafetensorsReader.new_from_bytes(writer.write_to_bytes())
        self.assertEqual(list(reader), sorted(tensors))
        for name, array in tensors.items():
            self.assertEqual(reader[name].tolist(), array.tolist())
        self.assertEqual(reader.get_dtype('half'), Apr.DType.F16)

        with self.assertRaisesRegex(TypeError, 'complex128'):
            writer.add_tensor('complex', numpy.zeros(2, complex))

    def test_metadata_is_sorted(self):
        data = []
        for keys in ('bca', 'abc', 'cab'):
            writer = Apr.SafetensorsWriter()
            for key in keys:
                writer.set_metadata(key, 'value of ' + key)
            data.append(writer.write_to_bytes().get_data())
        self.assertEqual(data[1:], data[:-1])
        self.assertEqual(list(split(data[0])[0]['__metadata__']), ['a', 'b', 'c'])

    def test_path_of_every_kind(self):
        directory = self.make_directory()
        writer = Apr.SafetensorsWriter()
        writer.add_tensor('a', [1])
        for path in (directory / 'path', directory / 'text'):
            writer.write_to_path(path if path.name == 'path' else str(path))
            self.assertEqual(path.read_bytes(), writer.write_to_bytes().get_data())
        self.assertEqual(sorted(p.name for p in directory.iterdir()), ['path', 'text'])

    def test_errors(self):
        writer = Apr.SafetensorsWriter()
        writer.add_tensor('a', [1])
        self.assertFails(Apr.SafetensorsError.DUPLICATE, '“a”', writer.add_tensor, 'a', [1])
        self.assertFails(Apr.SafetensorsError.NAME, '“__metadata__”', writer.add_tensor, '__metadata__', [1])
        with self.assertRaisesRegex(GLib.Error, 'No such file'):
            writer.write_to_path(self.make_directory() / 'missing' / 'file')


if __name__ == '__main__':
    tap.main()
