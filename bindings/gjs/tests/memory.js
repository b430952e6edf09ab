/* SPDX-License-Identifier: LGPL-2.1-or-later */
// What GJS's collector of garbage does to large arrays.
import Apr from 'gi://Apr?version=1.0';
import GLib from 'gi://GLib';
import Gio from 'gi://Gio';

import {assertEqual, assertTrue, run, test} from './tap.js';

const N_SAMPLES = 250000;
const X = new Float64Array(4 * N_SAMPLES).map((_, i) => Math.sin(i));
X.shape = [N_SAMPLES, 4];
const y = X.slice(0, N_SAMPLES);

function getResidentMegabytes() {
  const [, contents] = GLib.file_get_contents('/proc/self/statm');
  return Number(new TextDecoder().decode(contents).split(' ')[1]) * 4096 / 1e6;
}

// How many megabytes more are resident at most while body runs, after a first time.
async function measure(nTimes, body) {
  await body();
  const before = getResidentMegabytes();
  let most = before;
  for (let i = 0; i < nTimes; i++) {
    await body();
    most = Math.max(most, getResidentMegabytes());
  }
  return most - before;
}

// In megabytes; all that is asked for is twice as much for each. The address sanitizer keeps what is freed.
const MAX_GROWTH = GLib.getenv('LD_PRELOAD')?.includes('asan') ? Infinity : 120;

test('copies-are-freed', async () => {
  const model = new Apr.LinearRegression().fit(X, y);
  for (const [name, call] of [
    ['fit_async', () => model.fit_async(X, y)],
    ['predict_async', () => model.predict_async(X)],
    ['predict', () => model.predict(X)],
  ]) {
    const growth = await measure(25, call);
    assertTrue(growth < MAX_GROWTH, `${name}: ${growth} MB more`);
  }
});

test('sums-of-folds-are-freed', async () => {
  const model = new Apr.LinearRegression();
  const tensors = [Apr.Tensor.from(X.slice(0, 300000), [6000, 50]), Apr.Tensor.from(y.slice(0, 6000))];
  for (const name of ['cross_validate', 'cross_validate_async']) {
    const growth = await measure(15, () => model[name](Apr.Folds.new(...tensors, null, 100)));
    assertTrue(growth < MAX_GROWTH / 2, `${name}: ${growth} MB more`);
  }
});

test('rows-of-tables-are-freed', async () => {
  const table = new GLib.Bytes(new TextEncoder().encode(`a,b\n${'1,2\n'.repeat(1000000)}`));
  const growth = await measure(8, async () => {
    const reader = Apr.TableReader.new(Gio.MemoryInputStream.new_from_bytes(table), 'table');
    let nRows = 0;
    for (let rows; (rows = await reader.read_async()) !== null;)
      nRows += rows[0].shape[0];
    assertEqual(nRows, 1000000);
  });
  assertTrue(growth < MAX_GROWTH / 2, `${growth} MB more`);
});

// GJS refuses callbacks, with a message that ends a test, while it is between two slices of a collection: that is what
// typed arrays that become garbage bring about.
test('promises-resolve-while-arrays-become-garbage', async () => {
  const model = new Apr.LinearRegression();
  for (let i = 0; i < 25; i++) {
    const copy = Object.assign(X.slice(), {shape: X.shape});
    await model.fit_async(copy, y);
  }
  assertTrue(model.fitted);
});

await run();
