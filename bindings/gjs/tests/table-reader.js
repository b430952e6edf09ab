/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import Gio from 'gi://Gio';

import {assertEqual, assertRejects, assertThrows, assertTrue, run, test} from './tap.js';

function newReader(text) {
  const stream = Gio.MemoryInputStream.new_from_bytes(new TextEncoder().encode(text));
  const reader = Apr.TableReader.new(stream, 'rents.csv');
  reader.targets = ['rent'];
  return reader;
}

const TEXT = 'area,rooms,rent\n50,1,520\n80,2,840\n';

test('read', () => {
  const reader = newReader(TEXT);
  const [x, y, weights] = reader.read();
  assertEqual(x.to_array(), [[50, 1], [80, 2]]);
  assertEqual(y.to_array(), [520, 840]);
  assertEqual(weights, null);
  assertEqual(reader.read(), null);
  assertEqual([reader.n_rows, reader.progress], [2, 1]);
});

test('read-async', async () => {
  const reader = newReader(TEXT);
  const [x, y, weights] = await reader.read_async();
  assertEqual(x.to_array(), [[50, 1], [80, 2]]);
  assertEqual(y.to_array(), [520, 840]);
  assertEqual(weights, null);
  assertEqual(await reader.read_async(), null);
});

test('iterators', async () => {
  // Rows of more than one block.
  const n = 100000;
  const text = `area,rent\n${Array.from({length: n}, (_, i) => `${i},${2 * i}\n`).join('')}`;
  const areas = Array.from({length: n}, (_, i) => i);
  const found = [];
  for (const [x, y, weights] of newReader(text)) {
    found.push(...x.to_typed_array());
    assertEqual([y.get_double(0), weights], [2 * x.get_double(0), null]);
  }
  assertEqual(found, areas);

  const later = [];
  for await (const [x] of newReader(text))
    later.push(...x.to_typed_array());
  assertEqual(later, areas);

  // A loop that ends early leaves the rest to the next.
  const reader = newReader(text);
  for (const [x] of reader) {
    assertTrue(x.shape[0] < n);
    break;
  }
  let nRows = reader.n_rows;
  for await (const [x] of reader)
    nRows += x.shape[0];
  assertEqual([nRows, reader.n_rows, [...reader]], [n, n, []]);
});

test('without-a-stream', () => {
  const reader = new Apr.TableReader();
  assertThrows(() => reader.read(), Gio.IOErrorEnum, Gio.IOErrorEnum.INVALID_ARGUMENT, 'has no stream');
});

test('names', () => {
  const reader = newReader(TEXT);
  assertTrue(reader.read_names());
  assertEqual(reader.names, ['area', 'rooms', 'rent']);
});

test('first-cells', () => {
  const reader = newReader('a;b\n 1;"x;y"\n2;z\n');
  assertEqual(reader.peek_cells(9), null);
  reader.read_names();
  assertEqual(reader.peek_cells(1), ['1', 'x;y']);
  assertEqual(reader.peek_cells(9), ['1', 'x;y', '2', 'z']);
});

test('names-async', async () => {
  const reader = newReader(TEXT);
  let nTold = 0;
  reader.connect('notify::names', () => nTold++);
  assertTrue(await reader.read_names_async());
  assertTrue(await reader.read_names_async());
  assertEqual([reader.names, nTold], [['area', 'rooms', 'rent'], 1]);
  const cancellable = new Gio.Cancellable();
  cancellable.cancel();
  await assertRejects(newReader(TEXT).read_names_async(cancellable), Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED);
});

test('categories', async () => {
  const text = 'color,rent\nred,1\nblue,2\nred,3\n';
  const names = newReader(text).read_categories(['color']);
  assertEqual(names, ['color=blue', 'color=red']);
  assertEqual(await newReader(text).read_categories_async(['color']), names);
  const reader = newReader(text);
  reader.features = names;
  assertEqual((await reader.read_async())[0].to_array(), [[0, 1], [1, 0], [0, 1]]);
});

test('errors', async () => {
  assertThrows(() => newReader('area,rent\n50,x\n').read(), Gio.IOErrorEnum, Gio.IOErrorEnum.INVALID_DATA, 'rents.csv:2');
  await assertRejects(newReader('area,rent\n50,x\n').read_async(), Gio.IOErrorEnum, Gio.IOErrorEnum.INVALID_DATA, 'rents.csv:2');
  assertThrows(() => [...newReader('area,rent\n50,x\n')], Gio.IOErrorEnum, Gio.IOErrorEnum.INVALID_DATA, 'rents.csv:2');
  const readAll = async reader => {
    for await (const rows of reader)
      assertEqual(rows, null);
  };
  await assertRejects(readAll(newReader('area,rent\n50,x\n')), Gio.IOErrorEnum, Gio.IOErrorEnum.INVALID_DATA, 'rents.csv:2');
  const file = Gio.File.new_for_path('/nonexistent/rents.csv');
  assertThrows(() => Apr.TableReader.new_for_file(file), Gio.IOErrorEnum, Gio.IOErrorEnum.NOT_FOUND);
  const cancellable = new Gio.Cancellable();
  cancellable.cancel();
  await assertRejects(newReader(TEXT).read_async(cancellable), Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED);
});

await run();
