# SPDX-License-Identifier: LGPL-2.1-or-later
import asyncio
import json
import struct

import tap
from common import Apr, GLib, TestCase, needs_numpy, numpy
from gi.repository import Gio


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

    # 16 bytes of z come first in the file, then four of a.
    DATA = {'z': struct.pack('<2d', 1, 2), 'a': struct.pack('<f', 0.5)}

    def declare(self, **properties):
        writer = Apr.SafetensorsWriter(durable=False, **properties)
        writer.declare_tensor('a', Apr.DType.F32, [1])
        writer.declare_tensor('z', Apr.DType.F64, [1, 2])
        return writer

    def give_three(self, writer, name, offset, size, *user_data):
        return self.DATA[name][offset:offset + min(size, 3)]

    def expect(self):
        writer = Apr.SafetensorsWriter()
        writer.add_tensor('a', Apr.Tensor.new_from_floats([0.5], [1]))
        writer.add_tensor('z', [[1, 2]])
        return writer.write_to_bytes().get_data()

    def test_sources(self):
        writer = self.declare()
        writer.set_source_bytes('a', bytearray(self.DATA['a']))
        writer.set_source_stream('z', Gio.MemoryInputStream.new_from_bytes(GLib.Bytes.new(self.DATA['z'])))
        for _ in range(2):
            stream = Gio.MemoryOutputStream.new_resizable()
            writer.write_to_stream(stream, None)
            stream.close(None)
            self.assertEqual(stream.steal_as_bytes().get_data(), self.expect())
        self.assertFails(Apr.SafetensorsError.SIZE_MISMATCH, '“a”: 5 bytes', writer.set_source_bytes, 'a', b'12345')
        self.assertFails(Apr.SafetensorsError.NOT_FOUND, '“b”', writer.set_source_bytes, 'b', b'')
        for function in (writer.add_tensor, writer.set_source_bytes):
            with self.assertRaisesRegex(ValueError, r"'a\\x00b' of a tensor has a NUL"):
                function('a\0b', self.DATA['a'])

    def test_data_func(self):
        progress = []
        seen = set()
        writer = self.declare()

        def give(*args):
            seen.add(args[4:])
            return self.give_three(*args)

        writer.set_data_func(give, 'user', 'data')
        writer.set_progress_func(lambda done, total, *user_data: progress.append((done, total)))
        self.assertEqual(writer.write_to_bytes().get_data(), self.expect())
        self.assertEqual(seen, {('user', 'data')})
        # The header, six pieces of z, two of a.
        self.assertEqual(len(progress), 9)
        self.assertEqual(progress[-1], (len(self.expect()),) * 2)

    def test_data_func_fails(self):
        path = self.make_directory() / 'file'
        path.write_bytes(b'old')
        writer = self.declare()

        def fail(*args):
            raise GLib.Error.new_literal(Gio.io_error_quark(), 'too slow', Gio.IOErrorEnum.TIMED_OUT)

        writer.set_data_func(fail)
        with self.assertRaisesRegex(GLib.Error, 'tensor “z”: too slow') as context:
            writer.write_to_path(path)
        self.assertTrue(context.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.TIMED_OUT))
        for function, message in ((lambda *args: b'', 'gave 0 of its 16 bytes'),
                                  (lambda *args: bytes(17), 'gave 17 bytes at offset 0'), (None, 'has no source')):
            writer.set_data_func(function)
            self.assertFails(Apr.SafetensorsError.SIZE_MISMATCH, message, writer.write_to_path, path)
        self.assertEqual(path.read_bytes(), b'old')

    def test_data_func_raises(self):
        """The caller gets the exception itself, as of a method that C calls."""
        path = self.make_directory() / 'file'
        path.write_bytes(b'old')
        writer = self.declare()
        for error in (ValueError('no data here'), KeyError('k'), KeyboardInterrupt()):
            def fail(*args, error=error):
                raise error

            writer.set_data_func(fail)
            for write in (writer.write_to_bytes, lambda: writer.write_to_path(path)):
                with self.assertRaises(type(error)) as context:
                    write()
                self.assertIs(context.exception, error)
        writer.set_data_func(lambda *args: 'text')
        with self.assertRaisesRegex(TypeError, 'bytes-like'):
            writer.write_to_bytes()
        self.assertEqual(path.read_bytes(), b'old')

    def test_data_func_raises_async(self):
        error = ValueError('no data here')

        def fail(*args):
            raise error

        async def write():
            writer = self.declare()
            writer.set_data_func(fail)
            with self.assertRaises(ValueError) as context:
                await writer.write_to_bytes_async()
            self.assertIs(context.exception, error)

        asyncio.run(write())

    def test_async(self):
        path = self.make_directory() / 'file'
        writer = self.declare()
        writer.set_data_func(self.give_three)
        loop = GLib.MainLoop()
        results = []

        def on_written(source, result, *user_data):
            try:
                results.append(source.write_to_file_finish(result))
            except GLib.Error as error:
                results.append(error)
            loop.quit()

        writer.write_to_file_async(Gio.File.new_for_path(str(path)), None, on_written)
        loop.run()
        self.assertEqual(results, [True])
        self.assertEqual(path.read_bytes(), self.expect())

        cancellable = Gio.Cancellable()
        writer.alignment = 4096
        writer.set_progress_func(lambda *args: cancellable.cancel())
        writer.write_to_file_async(Gio.File.new_for_path(str(path)), cancellable, on_written)
        loop.run()
        self.assertTrue(results[1].matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))
        self.assertEqual(path.read_bytes(), self.expect())
        self.assertEqual([p.name for p in path.parent.iterdir()], ['file'])

    def test_stream_async(self):
        writer = self.declare()
        writer.set_data_func(self.give_three)
        stream = Gio.MemoryOutputStream.new_resizable()
        loop = GLib.MainLoop()
        results = []

        def on_written(source, result, *user_data):
            try:
                results.append(source.write_to_stream_finish(result))
            except GLib.Error as error:
                results.append(error)
            loop.quit()

        writer.write_to_stream_async(stream, None, on_written)
        loop.run()
        self.assertEqual(results, [True])
        stream.close(None)
        self.assertEqual(stream.steal_as_bytes().get_data(), self.expect())
        writer.write_to_stream_async(stream, None, on_written)
        loop.run()
        self.assertTrue(results[1].matches(Gio.io_error_quark(), Gio.IOErrorEnum.CLOSED))

    def test_shards(self):
        directory = self.make_directory()
        writer = self.declare()
        writer.set_data_func(self.give_three)
        writer.write_shards(Gio.File.new_for_path(str(directory)), 'model', 16, None)
        names = [f'model-{i:05d}-of-00002.safetensors' for i in (1, 2)]
        text = (directory / 'model.safetensors.index.json').read_text()
        index = {'metadata': {'total_size': 20}, 'weight_map': {'a': names[1], 'z': names[0]}}
        # As transformers writes it.
        self.assertEqual(text, json.dumps(index, indent=2, sort_keys=True) + '\n')
        for file, name in zip(names, 'za'):
            self.assertEqual(split((directory / file).read_bytes())[1], self.DATA[name])

    def test_properties(self):
        writer = Apr.SafetensorsWriter()
        self.assertEqual((writer.alignment, writer.durable, writer.portable), (8, True, True))
        writer.durable = writer.portable = False
        self.assertEqual((writer.get_durable(), writer.get_portable()), (False, False))
        writer.set_metadata('dtype', '')
        writer.portable = True
        self.assertFails(Apr.SafetensorsError.NAME, 'Ollama', writer.set_metadata, 'dtype', '')
        for alignment in (64, 4096):
            writer = self.declare(alignment=alignment)
            writer.set_data_func(self.give_three)
            data = writer.write_to_bytes().get_data()
            self.assertEqual(len(data) % alignment, 20)
        writer.alignment = 24
        self.assertEqual(writer.get_alignment(), 24)
        self.assertFails(Apr.Error.RANGE, 'the alignment is 24, not a power of two from 8 to 4096',
                         writer.write_to_bytes)

    def test_errors(self):
        writer = Apr.SafetensorsWriter()
        writer.add_tensor('a', [1])
        self.assertFails(Apr.SafetensorsError.DUPLICATE, '“a”', writer.add_tensor, 'a', [1])
        self.assertFails(Apr.SafetensorsError.NAME, '“__metadata__”', writer.add_tensor, '__metadata__', [1])
        with self.assertRaisesRegex(GLib.Error, 'No such file'):
            writer.write_to_path(self.make_directory() / 'missing' / 'file')


if __name__ == '__main__':
    tap.main()
