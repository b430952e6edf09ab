/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';

import {
  assertEqual, assertRejects, assertThrows, assertTrue, float32Bytes, float64Bytes, makeFile, parseHeader,
  readFile, run, test, withPath,
} from './tap.js';

const {SafetensorsError, SafetensorsReader, SafetensorsWriter, Tensor} = Apr;

// By hand: the widest dtype first, and spaces up to a multiple of eight.
const FILE = makeFile('{"__metadata__":{"a":"1","b":"2"},' +
  '"z":{"dtype":"F64","shape":[1,2],"data_offsets":[0,16]},' +
  '"a":{"dtype":"F32","shape":[1],"data_offsets":[16,20]}}       ',
float64Bytes(1, 2), float32Bytes(0.5));

function makeWriter() {
  const writer = new SafetensorsWriter();
  writer.set_metadata('b', '2');
  writer.add_tensor('a', Float32Array.of(0.5));
  writer.add_tensor('z', [[1, 2]]);
  writer.set_metadata('a', '1');
  return writer;
}

test('write-to-bytes', () => {
  assertEqual((FILE.length - 20) % 8, 0);
  assertEqual(makeWriter().write_to_bytes().toArray().slice(), FILE);
  assertEqual(new SafetensorsWriter().write_to_bytes().toArray().slice(), makeFile('{}      '));
});

test('write-to-path', () => withPath(path => {
  makeWriter().write_to_path(path);
  assertEqual(readFile(path), FILE);
}));

test('write-to-file', () => withPath(path => {
  const file = Gio.File.new_for_path(path);
  makeWriter().write_to_file(file);
  assertEqual(readFile(path), FILE);

  // A file is replaced.
  const other = new SafetensorsWriter();
  other.write_to_file(file, undefined);
  assertEqual(readFile(path), makeFile('{}      '));

  const cancellable = new Gio.Cancellable();
  cancellable.cancel();
  assertThrows(() => makeWriter().write_to_file(file, cancellable), Gio.IOErrorEnum,
    Gio.IOErrorEnum.CANCELLED);
  assertEqual(readFile(path), makeFile('{}      '));
}));

test('add-tensor-keeps-the-dtype', () => {
  const writer = new SafetensorsWriter();
  const values = {
    array: [1, 2], bytes: Uint8Array.of(1), double: Float64Array.of(1), float: Float32Array.of(1),
    int: Int32Array.of(-1), long: BigInt64Array.of(-1n), number: 0.5, tensor: Tensor.from(Int8Array.of(-1)),
  };
  for (const [name, value] of Object.entries(values))
    writer.add_tensor(name, value);

  const reader = SafetensorsReader.new_from_bytes(writer.write_to_bytes());
  assertEqual([...reader], Object.keys(values));
  assertEqual([...reader].map(name => Apr.DType.to_string(reader.get_dtype(name))),
    ['F64', 'U8', 'F64', 'F32', 'I32', 'I64', 'F64', 'I8']);
  for (const name of ['bytes', 'double', 'float', 'int', 'long'])
    assertEqual(reader.get_tensor(name).to_typed_array(), values[name]);
  assertEqual(reader.get_shape('number'), []);
});

// The bytes of z and a, and of no other.
const DATA = {z: float64Bytes(1, 2), a: float32Bytes(0.5)};

function declareWriter() {
  const writer = new SafetensorsWriter();
  writer.set_metadata('a', '1');
  writer.set_metadata('b', '2');
  writer.declare_tensor('a', Apr.DType.F32, [1]);
  writer.declare_tensor('z', Apr.DType.F64, [1, 2]);
  return writer;
}

function giveThree(writer, name, offset, size) {
  return new GLib.Bytes(DATA[name].slice(offset, offset + Math.min(size, 3)));
}

function writeToStream(writer) {
  const stream = Gio.MemoryOutputStream.new_resizable();
  writer.write_to_stream(stream);
  stream.close(null);
  return stream.steal_as_bytes().toArray().slice();
}

test('sources', () => {
  const writer = declareWriter();
  writer.set_source_bytes('a', DATA.a);
  writer.set_source_stream('z', Gio.MemoryInputStream.new_from_bytes(new GLib.Bytes(DATA.z)));
  assertEqual(writer.write_to_bytes().toArray().slice(), FILE);
  assertEqual(writeToStream(writer), FILE);
});

test('data-func', () => {
  const writer = declareWriter();
  const progress = [];

  writer.set_data_func(giveThree);
  writer.set_progress_func((done, total) => progress.push([done, total]));
  assertEqual(writeToStream(writer), FILE);
  // The header, six pieces of z, two of a.
  assertEqual(progress.length, 9);
  assertEqual(progress.at(-1), [FILE.length, FILE.length]);

  writer.set_data_func((_writer, name) => DATA[name]);
  assertEqual(writer.write_to_bytes().toArray().slice(), FILE);
});

test('data-func-fails', () => withPath(path => {
  const writer = declareWriter();

  makeWriter().write_to_path(path);
  for (const [func, type, code, message] of [
    [() => {
      throw new GLib.Error(Gio.IOErrorEnum, Gio.IOErrorEnum.TIMED_OUT, 'too slow');
    }, Gio.IOErrorEnum, Gio.IOErrorEnum.TIMED_OUT, 'tensor “z”: too slow'],
    [() => null, Apr.Error, Apr.Error.FAILED, 'tensor “z”'],
    [() => new GLib.Bytes([]), SafetensorsError, SafetensorsError.SIZE_MISMATCH,
      'tensor “z”: its source gave 0 of its 16 bytes'],
    [() => new Uint8Array(17), SafetensorsError, SafetensorsError.SIZE_MISMATCH, 'gave 17 bytes at offset 0'],
  ]) {
    writer.set_data_func(func);
    assertThrows(() => writer.write_to_path(path), type, code, message);
    assertEqual(readFile(path), FILE);
  }
  writer.set_data_func(null);
  assertThrows(() => writer.write_to_path(path), SafetensorsError, SafetensorsError.SIZE_MISMATCH,
    '“z”: it has no source for its 16 bytes');
}));

test('write-to-file-async', async () => {
  const directory = Gio.File.new_for_path(GLib.Dir.make_tmp('aprender-XXXXXX'));
  const file = directory.get_child('model.safetensors');
  const writer = declareWriter();
  const cancellable = new Gio.Cancellable();

  writer.set_data_func(giveThree);
  assertTrue(await writer.write_to_file_async(file));
  assertEqual(readFile(file.get_path()), FILE);

  writer.set_alignment(4096);
  writer.set_data_func((...args) => {
    cancellable.cancel();
    return giveThree(...args);
  });
  await assertRejects(writer.write_to_file_async(file, cancellable), Gio.IOErrorEnum,
    Gio.IOErrorEnum.CANCELLED);
  assertEqual(readFile(file.get_path()), FILE);

  // Fails where something else is left.
  file.delete(null);
  directory.delete(null);
});

test('write-to-bytes-async', async () => {
  const writer = declareWriter();
  writer.set_data_func(giveThree);
  assertEqual((await writer.write_to_bytes_async()).toArray().slice(), FILE);

  const cancellable = new Gio.Cancellable();
  cancellable.cancel();
  await assertRejects(writer.write_to_bytes_async(cancellable), Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED);
});

test('write-to-stream-async', async () => {
  const writer = declareWriter();
  const stream = Gio.MemoryOutputStream.new_resizable();
  writer.set_data_func(giveThree);
  assertTrue(await writer.write_to_stream_async(stream));
  stream.close(null);
  assertEqual(stream.steal_as_bytes().toArray().slice(), FILE);
  await assertRejects(writer.write_to_stream_async(stream), Gio.IOErrorEnum, Gio.IOErrorEnum.CLOSED);
});

test('fractions', () => {
  const writer = new SafetensorsWriter();
  for (const shape of [[1.5], [-1], [null], [2 ** 53], 3])
    assertThrows(() => writer.declare_tensor('a', Apr.DType.F32, shape), TypeError, null, 'array of whole numbers');
  assertThrows(() => writer.set_alignment(8.5), TypeError, null, 'The alignment must be a whole number');
  const folder = Gio.File.new_for_path('/nonexistent');
  assertThrows(() => writer.write_shards(folder, 'm', 0.5), TypeError, null, 'The size of a shard must be');
  assertThrows(() => writer.write_shards(folder, 'm', -1), TypeError, null, 'from 0 on, not -1');
});

test('write-shards-async', async () => {
  const directory = Gio.File.new_for_path(GLib.Dir.make_tmp('aprender-XXXXXX'));
  const file = directory.get_child('model.safetensors');

  assertTrue(await makeWriter().write_shards_async(directory, 'model', 1e9));
  assertEqual(SafetensorsReader.new_from_file(file).get_names(), ['a', 'z']);
  await assertRejects(makeWriter().write_shards_async(directory, '', 16), Gio.IOErrorEnum,
    Gio.IOErrorEnum.INVALID_FILENAME);
  await assertRejects(makeWriter().write_shards_async(directory, 'model'), TypeError, null, 'arguments required');
  file.delete(null);
  directory.delete(null);
});

test('write-shards', () => {
  const directory = Gio.File.new_for_path(GLib.Dir.make_tmp('aprender-XXXXXX'));
  const first = 'model-00001-of-00002.safetensors';
  const second = 'model-00002-of-00002.safetensors';
  const index = directory.get_child('model.safetensors.index.json');

  makeWriter().write_shards(directory, 'model', 16);
  assertEqual(JSON.parse(new TextDecoder().decode(readFile(index.get_path()))),
    {metadata: {total_size: 20}, weight_map: {a: second, z: first}});
  for (const [name, shard] of [['z', first], ['a', second]]) {
    const child = directory.get_child(shard);
    assertEqual(SafetensorsReader.new_from_file(child).get_names(), [name]);
    child.delete(null);
  }
  index.delete(null);
  directory.delete(null);
});

test('properties', () => {
  const writer = makeWriter();
  assertEqual([writer.alignment, writer.durable, writer.portable], [8, true, true]);
  assertThrows(() => writer.set_metadata('dtype', ''), SafetensorsError, SafetensorsError.NAME, 'Ollama');

  const other = new SafetensorsWriter({alignment: 64, durable: false, portable: false});
  other.set_metadata('dtype', '');
  other.add_tensor('a', [1]);
  const bytes = other.write_to_bytes().toArray().slice();
  assertEqual([(8 + parseHeader(bytes).length) % 64, bytes.length % 64], [0, 8]);

  other.alignment = 24;
  assertThrows(() => other.write_to_bytes(), Apr.Error, Apr.Error.RANGE,
    'the alignment is 24, not a power of two from 8 to 4096');
});

test('errors', () => {
  const writer = makeWriter();
  assertThrows(() => writer.add_tensor('a', [1]), SafetensorsError, SafetensorsError.DUPLICATE, '“a”');
  assertThrows(() => writer.add_tensor('__metadata__', [1]), SafetensorsError, SafetensorsError.NAME);
  assertThrows(() => writer.add_tensor('new', [[1], [null]]), TypeError, null,
    'The tensor “new” has null at row 1, column 0');
  assertThrows(() => writer.add_tensor('new', [[1], []]), Apr.Error, Apr.Error.SHAPE,
    'The tensor “new” is ragged');
  assertThrows(() => writer.write_to_path('/nonexistent/directory/file'), Gio.IOErrorEnum,
    Gio.IOErrorEnum.NOT_FOUND, 'No such file');
  assertEqual(writer.write_to_bytes().toArray().slice(), FILE);
});

await run();
