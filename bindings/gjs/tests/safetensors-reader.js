/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import GLib from 'gi://GLib';
import Gio from 'gi://Gio';

import {
  assertEqual, assertRejects, assertThrows, assertTrue, float32Bytes, makeFile, readFile, run, test, withPath,
  writeFile,
} from './tap.js';

const {DType, SafetensorsError, SafetensorsLoadMode, SafetensorsReader} = Apr;

const HEADER = '{"__metadata__":{"b":"2","a":"1"},' +
  '"weights":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},' +
  '"mask":{"dtype":"BOOL","shape":[],"data_offsets":[8,9]}}';
const FILE = makeFile(HEADER, float32Bytes(1.5, -2), Uint8Array.of(1));

function withFile(bytes, body) {
  withPath(path => {
    writeFile(path, bytes);
    body(path);
  });
}

function check(reader) {
  assertEqual(reader.get_names(), ['mask', 'weights']);
  assertEqual([...reader], ['mask', 'weights']);
  assertTrue(reader.has_tensor('weights'));
  assertTrue(!reader.has_tensor('bias'));
  assertEqual(reader.get_dtype('weights'), DType.F32);
  assertEqual(reader.get_shape('weights'), [2, 1]);
  assertEqual(reader.get_shape('mask'), []);
  assertEqual(reader.get_tensor('weights').shape, [2, 1]);
  assertEqual(reader.get_tensor('weights').to_typed_array(), Float32Array.of(1.5, -2));
  assertEqual(reader.get_tensor('mask').to_array(), 1);
  assertEqual(reader.get_names_in_file_order(), ['weights', 'mask']);
  assertEqual(reader.get_size('weights'), 8);
  assertEqual(reader.get_offset('mask') - reader.get_offset('weights'), 8);
  assertEqual(reader.get_slice('weights', '::-1, 0').to_array(), [-2, 1.5]);
  assertEqual(reader.get_metadata_keys(), ['a', 'b']);
  assertEqual(Object.keys(reader.metadata), ['a', 'b']);
  assertEqual(reader.metadata, {a: '1', b: '2'});
  assertEqual(reader.get_metadata().b, '2');
}

test('new-from-bytes', () => {
  check(SafetensorsReader.new_from_bytes(FILE));
  check(SafetensorsReader.new_from_bytes(new GLib.Bytes(FILE)));
});

test('new-from-path', () => withFile(FILE, path => check(SafetensorsReader.new_from_path(path))));

test('new-from-file', () => withFile(FILE, path => {
  const file = Gio.File.new_for_path(path);
  check(SafetensorsReader.new_from_file(file));
  check(SafetensorsReader.new_from_file(file, null));
  check(SafetensorsReader.new_from_file(file, new Gio.Cancellable()));

  const cancellable = new Gio.Cancellable();
  cancellable.cancel();
  assertThrows(() => SafetensorsReader.new_from_file(file, cancellable), Gio.IOErrorEnum,
    Gio.IOErrorEnum.CANCELLED);
}));

// GJS takes any object for one of properties, of which these have none.
test('constructor-without-properties', () => {
  const file = Gio.File.new_for_path('weights.safetensors');
  for (const value of [file, new GLib.Bytes(FILE), Apr.Tensor.from([1])]) {
    assertThrows(() => new SafetensorsReader(value), TypeError, null, 'SafetensorsReader takes {bytes, file, load_mode, max_header_size}');
    assertThrows(() => new Apr.TableReader(value), TypeError, null, 'stream');
    assertThrows(() => new Apr.LinearRegression(value), TypeError, null, 'fit_intercept');
  }
});

test('load-modes', () => withFile(FILE, path => {
  const file = Gio.File.new_for_path(path);
  for (const load_mode of [SafetensorsLoadMode.MAP, SafetensorsLoadMode.READ]) {
    const reader = new SafetensorsReader({file, load_mode});
    reader.init(null);
    check(reader);
    assertEqual(reader.load_mode, load_mode);
    assertEqual(reader.max_header_size, 100000000);
  }
  const reader = new SafetensorsReader({file, max_header_size: 8});
  assertThrows(() => reader.init(null), SafetensorsError, SafetensorsError.HEADER_TOO_LARGE, 'limit of 8');
}));

test('opens-when-first-used', () => withFile(FILE, path => {
  const file = Gio.File.new_for_path(path);
  check(new SafetensorsReader({file}));
  check(new SafetensorsReader({file, load_mode: SafetensorsLoadMode.READ}));
  check(new SafetensorsReader({bytes: new GLib.Bytes(FILE)}));
  assertEqual([...new SafetensorsReader({file})], ['mask', 'weights']);
  assertEqual(new SafetensorsReader({file}).metadata, {a: '1', b: '2'});

  const missing = new SafetensorsReader({file: Gio.File.new_for_path(`${path}.missing`)});
  for (const use of [() => missing.get_names(), () => missing.has_tensor('a'), () => missing.metadata,
    () => missing.get_tensor('a')])
    assertThrows(use, Gio.IOErrorEnum, Gio.IOErrorEnum.NOT_FOUND, '.missing: ');
  assertThrows(() => new SafetensorsReader().get_names(), Gio.IOErrorEnum, Gio.IOErrorEnum.INVALID_ARGUMENT);
}));

test('new-from-stream', () => {
  const open = bytes => SafetensorsReader.new_from_stream(
    Gio.MemoryInputStream.new_from_bytes(new GLib.Bytes(bytes)));

  check(open(FILE));
  assertThrows(() => open(FILE.slice(0, -1)), SafetensorsError, SafetensorsError.TRUNCATED, '“mask”');
});

test('new-from-file-async', async () => {
  const directory = Gio.File.new_for_path(GLib.Dir.make_tmp('aprender-XXXXXX'));
  const file = directory.get_child('model.safetensors');
  const cancellable = new Gio.Cancellable();

  writeFile(file.get_path(), FILE);
  check(await SafetensorsReader.new_from_file_async(file));
  check(await SafetensorsReader.new_from_file_async(file, cancellable));
  cancellable.cancel();
  await assertRejects(SafetensorsReader.new_from_file_async(file, cancellable),
    Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED);
  file.delete(null);
  await assertRejects(SafetensorsReader.new_from_file_async(file), Gio.IOErrorEnum,
    Gio.IOErrorEnum.NOT_FOUND);
  directory.delete(null);
});

test('tensors-async', async () => {
  const directory = Gio.File.new_for_path(GLib.Dir.make_tmp('aprender-XXXXXX'));
  const file = directory.get_child('model.safetensors');
  const cancellable = new Gio.Cancellable();

  writeFile(file.get_path(), FILE);
  for (const load_mode of ['map', 'read']) {
    const reader = new SafetensorsReader({file, load_mode});
    assertEqual((await reader.get_tensor_async('weights')).to_array(), [[1.5], [-2]]);
    assertEqual((await reader.get_tensor_async('mask', cancellable)).to_array(), 1);
    assertEqual((await reader.get_slice_async('weights', '::-1, 0')).to_array(), [-2, 1.5]);
    assertEqual((await reader.get_slice_async('weights', '1', cancellable)).to_array(), [-2]);
    await assertRejects(reader.get_tensor_async('bias'), SafetensorsError, SafetensorsError.NOT_FOUND);
  }
  cancellable.cancel();
  await assertRejects(new SafetensorsReader({file, load_mode: 'read'}).get_tensor_async('weights', cancellable),
    Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED);
  file.delete(null);
  directory.delete(null);
});

test('slices', () => {
  const reader = SafetensorsReader.new_from_bytes(FILE);
  assertEqual(reader.get_slice('weights', '').to_array(), [[1.5], [-2]]);
  assertEqual(reader.get_slice('weights', '1').shape, [1]);
  assertEqual(reader.get_slice('weights', '2:').shape, [0, 1]);
  assertEqual(reader.get_slice('mask', '...').to_array(), 1);
  assertThrows(() => reader.get_slice('weights', '2'), Apr.Error, Apr.Error.RANGE, 'tensor “weights”');
  assertThrows(() => reader.get_slice('weights', 'x'), Apr.Error, Apr.Error.SYNTAX);
  assertThrows(() => reader.get_slice('bias', ''), SafetensorsError, SafetensorsError.NOT_FOUND);
});

test('shards', () => {
  const directory = Gio.File.new_for_path(GLib.Dir.make_tmp('aprender-XXXXXX'));
  const index = directory.get_child('model.safetensors.index.json');
  const shard = directory.get_child('model-00001-of-00001.safetensors');
  const writeIndex = name => writeFile(index.get_path(),
    new TextEncoder().encode(JSON.stringify({weight_map: {weights: name, mask: name}})));

  writeFile(shard.get_path(), FILE);
  writeIndex(shard.get_basename());
  check(SafetensorsReader.new_from_file(index));
  writeIndex(`../${shard.get_basename()}`);
  assertThrows(() => SafetensorsReader.new_from_file(index), SafetensorsError, SafetensorsError.SHARD_NAME);
  for (const file of [index, shard, directory])
    file.delete(null);
});

test('metadata', () => {
  const reader = SafetensorsReader.new_from_bytes(makeFile(
    '{"__metadata__":{"é":"Ü","z":"2","😀":"5","\\uff00":"4","__proto__":"1","Z":""}}'));
  assertEqual(Object.entries(reader.metadata),
    [['Z', ''], ['__proto__', '1'], ['z', '2'], ['é', 'Ü'], ['\uff00', '4'], ['😀', '5']]);
  assertEqual(Object.getPrototypeOf(reader.metadata), Object.prototype);
  assertEqual(SafetensorsReader.new_from_bytes(makeFile('{}')).metadata, {});
});

test('tensors-outlive-the-reader', () => {
  const tensors = [];
  withFile(FILE, path => tensors.push(SafetensorsReader.new_from_path(path).get_tensor('weights')));
  imports.system.gc();
  assertEqual(tensors[0].to_array(), [[1.5], [-2]]);
});

// Where GJS hands out the mapped memory itself, there is a private copy behind it.
test('writing-to-the-bytes-does-not-reach-the-file', () => withFile(FILE, path => {
  const view = SafetensorsReader.new_from_path(path).get_tensor('weights').get_bytes().toArray();
  view.fill(255);
  assertEqual([...view], Array(8).fill(255));
  assertEqual(readFile(path), FILE);
  check(SafetensorsReader.new_from_path(path));
}));

test('errors', () => {
  const open = bytes => () => SafetensorsReader.new_from_bytes(bytes);

  assertThrows(() => SafetensorsReader.new_from_path('/nonexistent/file'), Gio.IOErrorEnum,
    Gio.IOErrorEnum.NOT_FOUND, 'No such file');
  assertThrows(() => SafetensorsReader.new_from_path(GLib.get_tmp_dir()), Gio.IOErrorEnum,
    Gio.IOErrorEnum.IS_DIRECTORY);
  assertThrows(open(Uint8Array.of(1, 2, 3)), SafetensorsError, SafetensorsError.TRUNCATED);
  assertThrows(open(new Uint8Array(0)), SafetensorsError, SafetensorsError.TRUNCATED);
  assertThrows(open(new Uint8Array(8).fill(255)), SafetensorsError);
  assertThrows(open(FILE.slice(0, -1)), SafetensorsError, SafetensorsError.TRUNCATED);
  assertThrows(open(Uint8Array.of(...FILE, 0)), SafetensorsError, SafetensorsError.TRAILING_DATA);
  assertThrows(open(makeFile('[]')), SafetensorsError);
  assertThrows(open(makeFile('{"a":{"dtype":"F33","shape":[],"data_offsets":[0,0]}}')), SafetensorsError,
    SafetensorsError.DTYPE, 'F33');
});

test('unknown-tensor', () => {
  const reader = SafetensorsReader.new_from_bytes(FILE);
  for (const get of ['get_dtype', 'get_shape', 'get_tensor']) {
    assertThrows(() => reader[get]('bias'), SafetensorsError, SafetensorsError.NOT_FOUND, '“bias”');
    assertThrows(() => reader[get]('__metadata__'), SafetensorsError, SafetensorsError.NOT_FOUND);
  }
});

await run();
