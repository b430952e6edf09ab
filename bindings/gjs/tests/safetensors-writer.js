/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import Gio from 'gi://Gio';

import {
  assertEqual, assertThrows, float32Bytes, float64Bytes, makeFile, readFile, run, test, withPath,
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
  other.write_to_file(file, null);
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
