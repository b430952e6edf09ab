/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';

import {assertEqual, assertRejects, assertThrows, assertTrue, run, test} from './tap.js';

const {Tensor} = Apr;
const X = [[1.5, 2], [3.25, -1], [0.1, 7], [1e9, 1e-9], [5, 0]];
const y = [1, 2.5, -3, 0.5, 1e6];

test('any-cut-is-the-whole', () => {
  const whole = Apr.CrossProducts.new(2, 1).update(X, y);

  for (let cut = 1; cut < 5; cut++) {
    const state = Apr.CrossProducts.new(2, 1).update(X.slice(cut), y.slice(cut));
    state.merge(Apr.CrossProducts.new(2, 1).update(X.slice(0, cut), y.slice(0, cut)));
    assertEqual(state.equal(whole), true);
    assertEqual(state.to_bytes().equal(whole.to_bytes()), true);
  }
  assertEqual([whole.n_samples, whole.n_features, whole.n_targets], [5, 2, 1]);
});

test('sizes', () => {
  for (const size of [1.5, '2', -1, NaN, null]) {
    assertThrows(() => Apr.CrossProducts.new(size, 1), TypeError, null, 'The number of features must be a whole number');
    assertThrows(() => Apr.CrossProducts.new(1, size), TypeError, null, 'The number of targets must be a whole number');
    assertThrows(() => Apr.CrossProducts.new_with_precision(size, 1, 'double'), TypeError, null, 'The number of features');
    assertThrows(() => new Apr.CrossProducts({n_features: size, n_targets: 1}), TypeError, null, 'n_features must be');
    assertThrows(() => new Apr.CrossProducts({nFeatures: 1, nTargets: size}), TypeError, null, 'n_targets must be');
  }
  assertEqual(new Apr.CrossProducts({n_features: 3, n_targets: 2}).n_features, 3);
  assertThrows(() => Apr.CrossProducts.new(0, 1), Apr.Error, null, '0');
});

test('chains', () => {
  const [one, other] = [0, 2].map(i => Apr.CrossProducts.new(2, 1).update(X.slice(i, i + 2), y.slice(i, i + 2)));
  const both = Apr.CrossProducts.new(2, 1).update(X.slice(0, 4), y.slice(0, 4));
  const state = one.copy();
  assertTrue(state.merge(other) === state && state.equal(both));
  assertTrue(state.subtract(other) === state && state.equal(one));
  assertTrue(state.merge_bytes(other.to_bytes()) === state && state.equal(both));
  assertTrue([one, other].reduce((sum, part) => sum.merge(part), Apr.CrossProducts.new(2, 1)).equal(both));
});

test('fit', () => {
  const state = Apr.CrossProducts.new(2, 1).update(X, y);
  const loaded = Apr.CrossProducts.from_bytes(state.to_bytes());
  const model = new Apr.LinearRegression().fit_cross_products(loaded);
  const atOnce = new Apr.LinearRegression().fit(X, y);
  assertEqual(model.coefficients, atOnce.coefficients);
  assertEqual(model.intercept, atOnce.intercept);

  const cancellable = new Gio.Cancellable();
  cancellable.cancel();
  assertThrows(() => model.fit_cross_products(state, cancellable), Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED);
});

test('precision-threads-and-names', () => {
  const state = Apr.CrossProducts.new_with_precision(2, 1, Apr.Precision.DOUBLE);
  state.n_threads = 3;
  assertEqual(state.feature_names, null);
  state.update(Tensor.from(Int32Array.of(1, 2, 3, 5, 7, 11), [3, 2]), [1, 0, 2]);
  state.set_feature_names(['width', 'height']);
  const loaded = Apr.CrossProducts.from_bytes(state.to_bytes());
  assertEqual([loaded.precision, loaded.n_threads], [Apr.Precision.DOUBLE, 0]);
  assertEqual(loaded.feature_names, ['width', 'height']);
  assertEqual(new Apr.LinearRegression().fit_cross_products(loaded).feature_names, ['width', 'height']);
  assertEqual(loaded.target_names, null);
  loaded.target_names = ['price'];
  assertEqual(Apr.CrossProducts.from_bytes(loaded.to_bytes()).target_names, ['price']);
  assertEqual(new Apr.LinearRegression().fit_cross_products(loaded).target_names, ['price']);
  state.n_threads = 2 ** 32 - 1;
  assertEqual(state.n_threads, 2 ** 32 - 1);
  state.set_n_threads(1025);
  assertEqual(state.n_threads, 1025);
  const other = Apr.CrossProducts.new(2, 1);
  other.set_feature_names(['width', 'depth']);
  assertThrows(() => state.merge(other), Apr.Error, Apr.Error.FEATURE_NAMES, 'is “depth”');
});

test('progress', () => {
  const told = [];
  const state = Apr.CrossProducts.new(2, 1);
  state.connect('notify::progress', () => told.push([state.n_samples, state.progress]));
  state.update(X, y).update(X, y);
  assertEqual(told, [[0, 1], [5, 0], [5, 1]]);
});

test('errors', () => {
  assertThrows(() => new Apr.CrossProducts().to_bytes(), Apr.Error, Apr.Error.EMPTY, '0 features');
  const state = Apr.CrossProducts.new(2, 1);
  assertThrows(() => state.update([[1]], [1]), Apr.Error, Apr.Error.SHAPE, 'are of 2 and 1');
  assertThrows(() => new Apr.LinearRegression().fit_cross_products(state), Apr.Error, Apr.Error.EMPTY,
    '0 samples');
});

test('asynchronously', async () => {
  const directory = Gio.File.new_for_path(GLib.Dir.make_tmp('aprender-XXXXXX'));
  const file = directory.get_child('state.safetensors');
  const n = 300000;
  const X = Float64Array.from({length: 2 * n}, (_, i) => i % 97);
  Object.defineProperty(X, 'shape', {value: [n, 2]});
  const y = Float64Array.from({length: n}, (_, i) => i % 89);
  const state = Apr.CrossProducts.new(2, 1);

  const promise = state.update_async(X, y);
  assertTrue(state.busy);
  await assertRejects(state.update_async(X, y), Gio.IOErrorEnum, Gio.IOErrorEnum.PENDING);
  assertThrows(() => state.update([[1, 2]], [1]), Gio.IOErrorEnum, Gio.IOErrorEnum.PENDING);
  assertTrue(await promise === state);
  assertTrue(!state.busy);
  await assertRejects(state.update_async(X, [null]), TypeError, null, 'y has null');
  assertTrue(!state.busy);
  assertTrue(state.equal(Apr.CrossProducts.new(2, 1).update(X, y)));
  assertTrue(await state.save_to_file_async(file));
  assertTrue(Apr.CrossProducts.load_from_file(file).equal(state));
  assertTrue(state.save_to_file(file));
  assertTrue((await Apr.CrossProducts.load_from_file_async(file)).equal(state));

  const bytes = await state.to_bytes_async();
  const other = await Apr.CrossProducts.from_bytes_async(bytes);
  const sum = Apr.CrossProducts.new(2, 1);
  assertTrue(await other.equal_async(state));
  assertTrue(await sum.merge_async(other) === sum && sum.equal(state));
  assertTrue(await sum.merge_bytes_async(bytes) === sum && !await sum.equal_async(state));
  assertTrue(await sum.subtract_async(other) === sum && sum.equal(state));
  file.delete(null);
  directory.delete(null);
});

await run();
