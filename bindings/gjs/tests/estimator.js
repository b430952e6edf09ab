/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import GLib from 'gi://GLib';
import GObject from 'gi://GObject';
import Gio from 'gi://Gio';

import {assertEqual, assertRejects, assertThrows, assertTrue, readFile, run, test, withPath} from './tap.js';

const {Tensor} = Apr;

// Predicts the weighted mean of each target, plus a constant.
const Mean = GObject.registerClass({
  GTypeName: 'TestMean',
  Properties: {
    offset: GObject.ParamSpec.double('offset', null, null, GObject.ParamFlags.READWRITE, -1000, 1000, 0.5),
    label: GObject.ParamSpec.string('label', null, null,
      GObject.ParamFlags.READWRITE | GObject.ParamFlags.CONSTRUCT, null),
  },
}, class Mean extends Apr.Estimator {
  vfunc_fit(X, y, sampleWeight, cancellable) {
    this.arguments = [X, y, sampleWeight, cancellable];
    const weights = sampleWeight?.to_array() ?? y.to_array().map(() => 1);
    const sum = weights.reduce((a, b) => a + b, 0);
    const rows = [...y].map(row => typeof row === 'number' ? [row] : [...row]);
    this.isMatrix = y.get_n_dims() === 2;
    this.means = rows[0].map((_, target) =>
      rows.reduce((a, row, i) => a + weights[i] * row[target], 0) / sum);
    return true;
  }

  vfunc_predict(X) {
    const row = this.means.map(mean => mean + this.offset);
    return Tensor.from(Array(X.shape[0]).fill(this.isMatrix ? row : row[0]));
  }

  vfunc_save_tensors(writer) {
    writer.add_tensor('n_features', Uint32Array.of(this.n_features));
    return writer.add_tensor('means', this.isMatrix ? [this.means] : this.means);
  }

  vfunc_load_tensors(reader) {
    const means = reader.get_tensor('means');
    this.isMatrix = means.get_n_dims() === 2;
    this.means = [...means.to_typed_array()];
    return [true, reader.get_tensor('n_features').get_double(0), this.means.length];
  }
});

test('constructors-take-properties', () => {
  for (const construct of [value => new Apr.LinearRegression(value), value => new Apr.CrossProducts(value, 1),
    value => new Apr.SafetensorsReader(value)]) {
    for (const value of [5, true, 'path', null, Symbol('x')])
      assertThrows(() => construct(value), Error, null, 'should be an object with properties to set');
    assertThrows(() => construct([7]), Error, null, 'No property 0');
  }
  assertEqual(new Apr.LinearRegression({alpha: undefined, fit_intercept: false}).fit_intercept, false);
  assertEqual(new Apr.LinearRegression(undefined).alpha, 0);
});

// Does in each virtual function what it is told.
const Odd = GObject.registerClass({GTypeName: 'TestOdd'}, class Odd extends Apr.Estimator {
  vfunc_fit() {
    return this.act();
  }

  vfunc_predict() {
    return this.act();
  }

  vfunc_save_tensors() {
    return this.act();
  }
});

const Empty = GObject.registerClass({GTypeName: 'TestEmpty'}, class Empty extends Apr.Estimator {});
const Deaf = GObject.registerClass({GTypeName: 'TestDeaf'}, class Deaf extends Apr.Estimator {
  vfunc_fit() {
    return true;
  }
});

const {READWRITE, READABLE, CONSTRUCT, CONSTRUCT_ONLY, DEPRECATED} = GObject.ParamFlags;
const FLAGS = {
  plain: READWRITE,
  construct: READWRITE | CONSTRUCT,
  once: READWRITE | CONSTRUCT_ONLY,
  deprecated: READWRITE + DEPRECATED,
  read_only: READABLE,
};
const Flags = GObject.registerClass({
  GTypeName: 'TestFlags',
  Properties: Object.fromEntries(Object.entries(FLAGS).map(([name, flags]) =>
    [name, GObject.ParamSpec.int(name.replace('_', '-'), null, null, flags, 0, 9, 0)])),
}, class Flags extends Mean {
  // Whose defaults these are not.
  get deprecated() {
    return 1;
  }

  get read_only() {
    return 1;
  }
});

const X = [[1, 2], [3, 4], [5, 6], [7, 8]];
const y = [1, 2, 3, 6];

test('fit-and-predict', () => {
  const model = new Mean({offset: 10});
  assertTrue(!model.fitted);
  assertTrue(model.fit(X, y) === model);
  assertTrue(model.fitted);
  assertEqual(model.n_features, 2);
  assertEqual(model.n_targets, 1);
  assertEqual(model.predict([[0, 0], [9, 9]]), Float64Array.of(13, 13));
  assertEqual(model.predict(Tensor.from(new Float32Array(0), [0, 2])),
    new Float64Array(0));
});

test('fit-with-several-targets', () => {
  const model = new Mean({offset: 0}).fit(X, y.map(value => [value, 2 * value]));
  assertEqual(model.n_targets, 2);
  assertEqual(model.predict([[0, 0], [9, 9]]), Float64Array.of(3, 6, 3, 6));
  assertEqual(model.predict([[0, 0], [9, 9]]).shape, [2, 2]);
});

test('hyper-parameters', () => {
  const model = new Flags({offset: 1, label: 'a', plain: 2, construct: 3, once: 4});
  const names = ['construct', 'label', 'offset', 'once', 'plain'];
  // What the library writes is what it takes for a hyper-parameter.
  const written = Apr.SafetensorsReader.new_from_bytes(model.clone().fit(X, y).to_bytes()).metadata;
  assertEqual(Object.keys(written).sort(), ['format', 'model', ...names].map(name => `aprender.${name}`).sort());
  assertEqual(String(model).match(/\w+(?=: )/g), names);
  assertEqual(String(new Apr.LinearRegression({n_threads: 2})), 'new Apr.LinearRegression()');
});

test('to-string', () => {
  assertEqual(String(new Apr.LinearRegression()), 'new Apr.LinearRegression()');
  const model = new Apr.LinearRegression({fit_intercept: false, dtype: Apr.DType.F32});
  const text = 'new Apr.LinearRegression({dtype: Apr.DType.F32, fit_intercept: false})';
  assertEqual(model.toString(), text);
  assertEqual(`${model.fit(X, y)}`, `${text}, fitted: 2 features`);
  assertEqual(String(model.fit([[1], [2]], [[1, 2], [3, 4]])), `${text}, fitted: 1 feature, 2 targets`);
  assertEqual(String(new Mean({offset: 2, label: 'a "b"'})), 'new Mean({label: "a \\"b\\"", offset: 2})');
});

test('virtual-functions-get-tensors', () => {
  const model = new Mean();
  const cancellable = new Gio.Cancellable();
  model.fit([Float32Array.of(1), Float32Array.of(2)], Int32Array.of(5, 7),
    Uint8Array.of(1, 3), cancellable);
  const [x, targets, weights, passed] = model.arguments;
  assertTrue(passed === cancellable);
  assertEqual(x.dtype, Apr.DType.F32);
  assertEqual(x.to_array(), [[1], [2]]);
  assertEqual(targets.dtype, Apr.DType.I32);
  assertEqual(targets.to_array(), [5, 7]);
  assertEqual(weights.to_array(), [1, 3]);

  const tensor = Tensor.from(X);
  model.fit(tensor, Tensor.from(y));
  assertTrue(model.arguments[0].equal(tensor));
  assertEqual(model.arguments[2], null);
  assertEqual(model.arguments[3], null);
});

test('score', () => {
  const model = new Mean({offset: 0}).fit(X, y);
  assertEqual(model.score(X, y), 0);
  // Predicts 3 for targets 3 and 6 that count the same: 1 - 9 / 4.5.
  assertEqual(model.score(X, y, [0, 0, 2, 2]), -1);
});

test('notify', () => {
  const model = new Mean();
  const names = [];
  model.connect('notify', (_, pspec) => names.push(pspec.name));
  model.fit(X, y);
  assertEqual([...new Set(names)].sort(), ['busy', 'fitted', 'n-features', 'n-targets', 'progress']);
});

test('clone', () => {
  const model = new Mean({offset: 2, label: 'a'}).fit(X, y);
  const clone = model.clone();
  assertTrue(clone instanceof Mean);
  assertTrue(clone !== model);
  assertTrue(!clone.fitted);
  assertEqual([clone.offset, clone.label], [2, 'a']);
  assertEqual(clone.fit(X, y).predict([[0, 0]]), model.predict([[0, 0]]));
});

// Its constructor cannot be called by the library, which has no arguments for it.
const Needy = GObject.registerClass({GTypeName: 'TestNeedy'}, class Needy extends Apr.Estimator {
  constructor({factor}) {
    super();
    this.factor = factor;
  }

  vfunc_fit() {
    return this.set_result('mean', [this.factor]);
  }

  vfunc_predict(X) {
    return Array(X.shape[0]).fill(0);
  }
});

test('constructor-with-arguments', async () => {
  // GLib warns of what GJS does then.
  const fatal = GLib.log_set_always_fatal(GLib.LogLevelFlags.LEVEL_ERROR);
  const model = new Needy({factor: 2});
  const path = GLib.build_filenamev([GLib.get_tmp_dir(), `${GLib.uuid_string_random()}.safetensors`]);
  const file = Gio.File.new_for_path(path);
  const refusal = [Apr.Error, Apr.Error.FAILED, 'No TestNeedy can be made'];
  // What the constructor throws, where it is called within the call.
  assertThrows(() => model.copy(), TypeError, null, 'undefined');
  assertThrows(() => model.clone(), TypeError, null, 'No TestNeedy can be cloned');
  model.fit(X, y).save(path);
  const bytes = model.to_bytes();
  for (const make of [
    () => model.copy(),
    () => Needy.load(path),
    () => Needy.load_from_file(file),
    () => Needy.from_bytes(bytes),
  ])
    assertThrows(make, TypeError, null, 'undefined');
  await assertRejects(Needy.load_from_file_async(file), ...refusal);
  await assertRejects(Needy.from_bytes_async(bytes), ...refusal);
  file.delete(null);
  GLib.log_set_always_fatal(fatal);
});

test('save-and-load', () => withPath(path => {
  const model = new Mean({offset: 0.1, label: 'Grüße'}).fit(X, y);
  model.save(path);
  assertEqual(Object.keys(Apr.SafetensorsReader.new_from_path(path).metadata),
    ['aprender.format', 'aprender.label', 'aprender.model', 'aprender.offset']);

  for (const loaded of [
    Mean.load(path), Apr.Estimator.load(Mean, path), Apr.Estimator.load(Mean.$gtype, path),
  ]) {
    assertTrue(loaded instanceof Mean);
    assertTrue(loaded.fitted);
    assertEqual([loaded.offset, loaded.label], [0.1, 'Grüße']);
    assertEqual([loaded.n_features, loaded.n_targets], [2, 1]);
    assertEqual(loaded.predict(X), model.predict(X));
    assertEqual(loaded.to_bytes().toArray().slice(), model.to_bytes().toArray().slice());
  }
}));

test('from-bytes', () => {
  const model = new Mean().fit(X, y.map(value => [value, -value]));
  for (const bytes of [model.to_bytes(), model.to_bytes().toArray()]) {
    assertEqual(Mean.from_bytes(bytes).predict(X), model.predict(X));
    assertEqual(Apr.Estimator.from_bytes(Mean, bytes).predict(X), model.predict(X));
  }
});

test('load-another-type', () => withPath(path => {
  const bytes = new Mean().fit(X, y).to_bytes();
  new Mean().fit(X, y).save(path);
  assertThrows(() => Odd.load(path), Apr.Error, Apr.Error.MODEL, 'model “TestMean”, not “TestOdd”');
  assertThrows(() => Apr.LinearRegression.from_bytes(bytes), Apr.Error, Apr.Error.MODEL, '“TestMean”');
  assertThrows(() => Apr.Estimator.load(path), Apr.Error, Apr.Error.MODEL, 'AprEstimator');
  assertThrows(() => Apr.Estimator.load(GObject.Object, path), Apr.Error, Apr.Error.MODEL, 'GObject');
}));

test('feature-names', () => {
  const model = new Mean();
  assertEqual([model.get_feature_names(), model.feature_names], [null, null]);
  model.set_feature_names(['a', 'b', 'c']);
  assertThrows(() => model.fit(X, y), Apr.Error, Apr.Error.FEATURE_NAMES, '3 feature names');
  model.set_feature_names(['a', 'b']);
  assertEqual(model.fit(X, y).feature_names, ['a', 'b']);
  model.feature_names = ['größe', 'b'];
  assertThrows(() => { model.feature_names = ['a']; }, Apr.Error, Apr.Error.FEATURE_NAMES);
  assertThrows(() => { model.feature_names = ['a\0', 'b']; }, TypeError, null, 'NUL');
  assertEqual(Mean.from_bytes(model.to_bytes()).feature_names, ['größe', 'b']);
  assertTrue(model.check_feature_names(['größe', 'b']));
  assertEqual([model.get_target_names(), model.target_names], [null, null]);
  model.target_names = ['rent'];
  assertThrows(() => { model.target_names = ['a', 'b']; }, Apr.Error, Apr.Error.FEATURE_NAMES);
  assertEqual(Mean.from_bytes(model.to_bytes()).get_target_names(), ['rent']);
  assertThrows(() => model.check_target_names(['heating']), Apr.Error, Apr.Error.FEATURE_NAMES);
  assertThrows(() => model.check_feature_names(['b', 'größe']), Apr.Error, Apr.Error.FEATURE_NAMES,
    '“b”');
  assertThrows(() => model.set_feature_names(['a']), Apr.Error, Apr.Error.FEATURE_NAMES);
  assertEqual(model.feature_names, ['größe', 'b']);
  assertEqual(model.fit(X, y).feature_names, ['größe', 'b']);
});

test('feature-names-as-property', () => {
  for (const type of [Mean, Apr.LinearRegression]) {
    const model = new type({feature_names: ['a', 'größe']});
    const other = new type();
    model.bind_property('feature-names', other, 'feature-names', GObject.BindingFlags.SYNC_CREATE);
    assertEqual([model.feature_names, other.feature_names], [['a', 'größe'], ['a', 'größe']]);
    model.feature_names = ['a', 'b', 'c'];
    assertThrows(() => other.fit(X, y), Apr.Error, Apr.Error.FEATURE_NAMES, '3 feature names');
    model.feature_names = ['a', 'b'];
    assertEqual(other.fit(X, y).feature_names, ['a', 'b']);
    assertEqual(other.clone().feature_names, null);
    assertThrows(() => new type({feature_names: ['a', 'b\0']}), TypeError, null, 'NUL');
  }
  assertEqual(`${new Apr.LinearRegression({feature_names: ['a']})}`, 'new Apr.LinearRegression()');
});

test('fit-async', async () => {
  const model = new Mean({offset: 1});
  const promise = model.fit_async(X, y);
  assertTrue(!model.fitted);
  assertTrue(await promise === model);
  assertEqual(model.predict([[0, 0]]), Float64Array.of(4));
  await model.fit_async(X, y, [1, 1, 1, 0], new Gio.Cancellable());
  assertEqual(model.predict([[0, 0]]), Float64Array.of(3));
});

// A promise beside a callback would resolve before the fit.
test('callbacks', () => {
  const model = new Mean();
  assertThrows(() => model.fit_async(X, y, null, null, () => {}), TypeError, null,
    'fit_async returns a promise, and takes no callback: it has at most 4 arguments, the cancellable last, not 5');
  assertTrue(!model.busy);
  assertThrows(() => model.predict_async(X, null, () => {}), TypeError, null, 'at most 2 arguments');
  assertThrows(() => model.to_bytes_async(null, () => {}), TypeError, null, 'at most 1 argument,');
  assertThrows(() => Mean.from_bytes_async(new Uint8Array(8), null, () => {}), TypeError, null, 'at most 2 arguments');
  assertThrows(() => Apr.compute_metric_async('r2', 'raw_values', y, y, null, null, () => {}), TypeError, null,
    'at most 6 arguments');
  assertThrows(() => new Apr.SafetensorsWriter().write_to_bytes_async(null, () => {}), TypeError, null, 'no callback');
  assertThrows(() => Apr.SafetensorsReader.new_from_file_async(Gio.File.new_for_path('a'), null, () => {}), TypeError, null,
    'no callback');
});

test('unfitted', () => {
  const model = new Mean();
  assertThrows(() => model.predict(X), Apr.Error, Apr.Error.NOT_FITTED, 'unfitted TestMean');
  assertThrows(() => model.score(X, y), Apr.Error, Apr.Error.NOT_FITTED);
  assertThrows(() => model.to_bytes(), Apr.Error, Apr.Error.NOT_FITTED);
  withPath(path => {
    assertThrows(() => model.save(path), Apr.Error, Apr.Error.NOT_FITTED, 'Cannot save an unfitted TestMean');
    assertTrue(!GLib.file_test(path, GLib.FileTest.EXISTS));
  });
});

test('wrong-arguments', () => {
  const cyclic = [];
  cyclic.push(cyclic);
  const model = new Mean().fit(X, y);
  const before = model.predict(X);

  for (const [args, code, message] of [
    [[X, [1]], Apr.Error.SHAPE, 'X has 4 samples, but y has 1'],
    [[[1, 2], y], Apr.Error.SHAPE, 'it has [2]: the samples of one feature are [2, 1], one sample is [1, 2]'],
    [[X, y, [1]], Apr.Error.SHAPE, 'sample_weight has 1'],
    [[[], []], Apr.Error.SHAPE, '[0]'],
    [[[[]], [1]], Apr.Error.EMPTY, '0 features'],
    [[Tensor.new_from_bytes(Apr.DType.C64, [1, 1], new Uint8Array(8)), [1]], Apr.Error.DTYPE,
      'X has the dtype C64'],
  ])
    assertThrows(() => model.fit(...args), Apr.Error, code, message);

  for (const [args, message] of [
    [[[[1, null]], [1]], 'X has null at row 0, column 1'],
    [[X, [1, undefined, 3, 4]], 'y has undefined at row 1'],
    [[X, y, [1, 1, '1', 1]], 'sample_weight has the string “1” at row 2'],
    [[X], 'y must be numbers'],
    [[X, null], 'not null: an Apr.TableReader gives y if its targets are set before it reads'],
    [[new Apr.TableReader()], 'not an Apr_TableReader: to fit to its rows, sum them up in an Apr.CrossProducts'],
    [[X, y, new Gio.Cancellable()], 'not a Gio_Cancellable: pass null before the cancellable'],
    [[], 'X must be numbers'],
    [[cyclic, y], 'X has more than 32 arrays within each other'],
  ])
    assertThrows(() => model.fit(...args), TypeError, null, message);

  assertThrows(() => model.predict([[1, 2, 3]]), Apr.Error, Apr.Error.SHAPE,
    'X has 3 features, but this model was fitted with 2');
  assertThrows(() => model.predict([[1, 2], [3]]), Apr.Error, Apr.Error.SHAPE, 'X is ragged');
  assertThrows(() => model.predict([[1, NaN, 3]]), Apr.Error, Apr.Error.SHAPE);
  assertThrows(() => model.score(X, [1, 2, 3, null]), TypeError, null, 'y has null at row 3');
  assertEqual(model.predict(X), before);
});

test('errors-of-virtual-functions', async () => {
  const model = new Odd();

  model.act = () => true;
  model.fit(X, y);
  for (const call of [() => model.fit(X, y), () => model.predict(X), () => model.to_bytes()]) {
    model.act = () => {
      throw new GLib.Error(Apr.Error, Apr.Error.RANGE, 'my own error');
    };
    assertThrows(call, Apr.Error, Apr.Error.RANGE, 'my own error');
    model.act = () => {
      throw new RangeError('a plain error');
    };
    assertThrows(call, RangeError, null, 'a plain error');
    await assertRejects(model.fit_async(X, y), RangeError, null, 'a plain error');
  }

  model.act = () => undefined;
  assertThrows(() => model.fit(X, y), Apr.Error, Apr.Error.FAILED,
    'fit of TestOdd failed without giving a reason');
  await assertRejects(model.fit_async(X, y), Apr.Error, Apr.Error.FAILED, 'TestOdd');
  assertThrows(() => model.to_bytes(), Apr.Error, Apr.Error.FAILED, 'save_tensors of TestOdd');
  for (const nothing of [undefined, null]) {
    model.act = () => nothing;
    assertThrows(() => model.predict(X), Apr.Error, Apr.Error.FAILED, 'predict of TestOdd failed without giving a reason');
    await assertRejects(model.predict_async(X), Apr.Error, Apr.Error.FAILED, 'predict of TestOdd');
  }
  model.act = () => 'text';
  assertThrows(() => model.predict(X), TypeError, null, 'What Odd predicts must be numbers');

  // A wrong number of predictions is not handed on.
  model.act = () => Tensor.from([1]);
  assertThrows(() => model.predict(X), Apr.Error, Apr.Error.FAILED, '4 samples');
});

test('promises-of-virtual-functions', async () => {
  const model = new Odd();
  model.act = async () => true;
  assertThrows(() => model.fit(X, y), TypeError, null, 'fit of TestOdd returned a promise');
  await assertRejects(model.fit_async(X, y), TypeError, null, 'fit of TestOdd returned a promise');
  assertEqual([model.fitted, model.busy], [false, false]);
  model.act = () => true;
  model.fit(X, y);
  model.act = async () => Tensor.from([1, 1, 1, 1]);
  assertThrows(() => model.predict(X), TypeError, null, 'predict of TestOdd returned a promise');
  assertThrows(() => model.to_bytes(), TypeError, null, 'save_tensors of TestOdd returned a promise');
});

const Range = GObject.registerClass({GTypeName: 'TestRange'}, class Range extends Apr.Estimator {
  vfunc_fit(X, y) {
    const values = y.to_array();
    return this.set_result('range', [Math.min(...values), Math.max(...values)]);
  }

  vfunc_predict(X) {
    const [low, high] = this.get_result('range').to_array();
    return Tensor.from(Array(X.shape[0]).fill(high - low));
  }
});

test('results', async () => {
  const model = new Range().fit(X, y);
  assertEqual([...model.predict(X)], [5, 5, 5, 5]);
  for (const other of [model.copy(), Range.from_bytes(model.to_bytes()), await new Range().fit_async(X, y)]) {
    assertEqual(other.get_result('range').to_array(), [1, 6]);
    assertEqual(other.n_features, 2);
    assertEqual(other.n_targets, 1);
  }
  assertThrows(() => model.clone().get_result('range'), Apr.Error, Apr.Error.MODEL, 'TestRange has no result “range”');
  assertThrows(() => model.set_result('range', [1]), Apr.Error, Apr.Error.FAILED, 'while it is fitted or loaded only');
  assertThrows(() => model.get_result('a\0b'), TypeError, null, 'NUL');
  assertThrows(() => new Apr.LinearRegression().set_result('a', [1]), Apr.Error, Apr.Error.FAILED,
    'keeps its results itself');
});

// The page's example, with other targets.
function runExample(targets) {
  const file = Gio.File.new_for_uri(import.meta.url).resolve_relative_path('../../../../docs/examples/estimator.js');
  const source = new TextDecoder().decode(readFile(file.get_path()));
  const program = source.replace(/^import .*$/gm, '').replaceAll("'mean.safetensors'", 'path')
    .replaceAll('ExampleMean', `ExampleMean${GLib.uuid_string_random().replaceAll('-', '')}`).replace('[1, 2, 6]', targets);
  const lines = [];
  const print = (...words) => lines.push(words.join(' '));
  withPath(path => new Function('Apr', 'GObject', 'print', 'path', program)(Apr, GObject, print, path));
  return lines;
}

test('example', () => {
  for (const targets of ['[1, 2, 6]', '[[1], [2], [6]]', 'BigInt64Array.of(1n, 2n, 6n)'])
    assertEqual(runExample(targets), ['6 6 6', '2 6 6 6', '1']);
});

const Lists = GObject.registerClass({GTypeName: 'TestLists'}, class Lists extends Apr.Estimator {
  vfunc_fit() {
    return true;
  }

  vfunc_predict(X) {
    return Array(X.shape[0]).fill(this.value ?? 7);
  }
});

test('predictions-in-arrays', () => {
  const model = new Lists().fit(X, y);
  assertEqual(model.predict(X), Float64Array.of(7, 7, 7, 7));
  assertEqual(model.score(X, y) < 0, true);
  model.value = 'a';
  assertThrows(() => model.predict(X), TypeError, null, 'What Lists predicts has the string “a” at row 0');
});

test('wrong-names', () => {
  const model = new Mean();
  assertThrows(() => model.set_feature_names([1, 2]), TypeError, null, 'The name of a feature must be a string, not 1');
  assertThrows(() => model.set_target_names(['a', null]), TypeError, null, 'The name of a target must be a string, not null');
  assertThrows(() => model.set_feature_names(['\ud800']), TypeError, null, 'half of a surrogate pair');
  assertThrows(() => model.save('\udc00x'), TypeError, null, 'half of a surrogate pair');
  model.set_feature_names(['\u{1f3e0}', 'b']);
  assertEqual(model.fit(X, y).feature_names, ['\u{1f3e0}', 'b']);
});

test('missing-virtual-functions', async () => {
  const model = new Empty();
  assertThrows(() => model.fit(X, y), Apr.Error, Apr.Error.FAILED, 'TestEmpty has no fit');
  await assertRejects(model.fit_async(X, y), Apr.Error, Apr.Error.FAILED, 'TestEmpty has no fit');

  const deaf = new Deaf().fit(X, y);
  assertThrows(() => deaf.predict(X), Apr.Error, Apr.Error.FAILED, 'TestDeaf has no predict');
  await assertRejects(deaf.predict_async(X), Apr.Error, Apr.Error.FAILED, 'TestDeaf has no predict');
});

test('hyper-parameters-of-the-call', async () => {
  // Arrays that are copied at once, and some that are copied in slices.
  for (const n of [50, 300000]) {
    const X = Float64Array.from({length: 2 * n}, (_, i) => Math.sin(i * i));
    const y = Float64Array.from({length: n}, (_, i) => 3 * X[2 * i] - X[2 * i + 1]);
    X.shape = [n, 2];
    const model = new Apr.LinearRegression();
    const fit = model.fit_async(X, y);
    model.alpha = 1e9;
    model.positive = true;
    await fit;
    assertEqual(Array.from(model.coefficients), [3, -1]);
    assertEqual([model.alpha, model.positive], [1e9, true]);
    await model.fit_async(X, y);
    assertTrue(model.coefficients[0] < 0.01);
  }
});

test('names-of-the-call', async () => {
  for (const n of [50, 300000]) {
    const X = Float64Array.from({length: 2 * n}, (_, i) => Math.sin(i * i));
    X.shape = [n, 2];
    const y = Float64Array.from({length: n}, (_, i) => X[2 * i]);
    const fit = (names, targetNames, change) => {
      const model = new Apr.LinearRegression();
      model.feature_names = names;
      model.target_names = targetNames;
      const promise = model.fit_async(X, y);
      change(model);
      return promise;
    };

    // As many as the features: they name what was found.
    let model = await fit(['A', 'B'], ['t'], model => {
      model.feature_names = ['a', 'b'];
      model.target_names = ['u'];
    });
    assertEqual([model.feature_names, model.target_names], [['a', 'b'], ['u']]);

    // Not as many: the model keeps those of the call.
    model = await fit(['A', 'B'], ['t'], model => {
      model.feature_names = ['a'];
      model.target_names = ['u', 'v'];
    });
    assertEqual([model.feature_names, model.target_names], [['A', 'B'], ['t']]);

    model = await fit(['A', 'B'], null, model => {
      model.feature_names = null;
    });
    assertEqual(model.feature_names, null);
    await assertRejects(fit(['A'], null, model => {
      model.feature_names = ['a', 'b'];
    }), Apr.Error, Apr.Error.FEATURE_NAMES, '1 feature name');

    const twice = new Apr.LinearRegression({feature_names: ['a', 'a']});
    await assertRejects(twice.fit_async(X, y), Apr.Error, Apr.Error.FEATURE_NAMES, '“a”');
    assertEqual(twice.feature_names, ['a', 'a']);

    // Of a model that is fitted already.
    model = await fit(['A', 'B'], null, () => {});
    const again = model.fit_async(X, y);
    model.feature_names = ['a', 'b'];
    await again;
    assertEqual(model.feature_names, ['a', 'b']);

    // Names that did not change tell nobody.
    let nTold = 0;
    model.connect('notify::feature-names', () => nTold++);
    await model.fit_async(X, y);
    assertEqual(nTold, 0);
  }
});

await run();
