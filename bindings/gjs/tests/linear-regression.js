/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import GLib from 'gi://GLib';
import GObject from 'gi://GObject';
import Gio from 'gi://Gio';

import {
  assertClose, assertEqual, assertRejects, assertThrows, assertTrue, float32Bytes, makeFile, makeRandom,
  readFile, run, test, withPath, writeFile,
} from './tap.js';

const {DType, LinearRegression, Tensor} = Apr;

// A linear regression whose predictions are multiplied by a hyper-parameter of its own.
const Scaled = GObject.registerClass({
  GTypeName: 'TestScaled',
  Properties: {
    factor: GObject.ParamSpec.double('factor', null, null, GObject.ParamFlags.READWRITE, 0, 100, 1),
  },
}, class Scaled extends LinearRegression {
  vfunc_fit(X, y, sampleWeight, cancellable) {
    this.nFits = (this.nFits ?? 0) + 1;
    return super.vfunc_fit(X, y, sampleWeight, cancellable);
  }

  vfunc_predict(X) {
    return Tensor.from(super.vfunc_predict(X).to_array().map(prediction => this.factor * prediction));
  }
});

// NIST's Longley data: y, x1 to x6.
const LONGLEY = [
  [60323, 83, 234289, 2356, 1590, 107608, 1947],
  [61122, 88.5, 259426, 2325, 1456, 108632, 1948],
  [60171, 88.2, 258054, 3682, 1616, 109773, 1949],
  [61187, 89.5, 284599, 3351, 1650, 110929, 1950],
  [63221, 96.2, 328975, 2099, 3099, 112075, 1951],
  [63639, 98.1, 346999, 1932, 3594, 113270, 1952],
  [64989, 99, 365385, 1870, 3547, 115094, 1953],
  [63761, 100, 363112, 3578, 3350, 116219, 1954],
  [66019, 101.2, 397469, 2904, 3048, 117388, 1955],
  [67857, 104.6, 419180, 2822, 2857, 118734, 1956],
  [68169, 108.4, 442769, 2936, 2798, 120445, 1957],
  [66513, 110.8, 444546, 4681, 2637, 121950, 1958],
  [68655, 112.6, 482704, 3813, 2552, 123366, 1959],
  [69564, 114.2, 502601, 3931, 2514, 125368, 1960],
  [69331, 115.7, 518173, 4806, 2572, 127852, 1961],
  [70551, 116.9, 554894, 4007, 2827, 130081, 1962],
];

const X = [[1], [2], [3]];
const y = [3, 5, 7];

function assertLine(model) {
  assertEqual([...model.coefficients], [2]);
  assertEqual([...model.intercept], [1]);
}

test('strings-for-enumerations', () => {
  const model = new LinearRegression({dtype: 'f32', precision: 'double'});
  assertEqual([model.dtype, model.precision], [DType.F32, Apr.Precision.DOUBLE]);
  model.dtype = 'f64';
  model.precision = Apr.Precision.EXACT;
  assertEqual([model.dtype, model.precision], [DType.F64, Apr.Precision.EXACT]);
  model.set_dtype('none');
  assertEqual(model.get_dtype(), DType.NONE);
  // GJS alone takes any string for the first value.
  for (const wrong of [() => new LinearRegression({dtype: 'float32'}), () => { model.dtype = 'float32'; },
    () => new LinearRegression({precision: 'single'}), () => { model.precision = 'F32'; }])
    assertThrows(wrong, TypeError, null, 'must be one of “');
  assertThrows(() => new LinearRegression({dtype: 'i8'}), TypeError, null, 'dtype must be one of “none”, “f32”, “f64”, not');
  assertEqual(new Scaled({precision: 'double', factor: 2}).precision, Apr.Precision.DOUBLE);
  assertEqual(Apr.CrossProducts.new_with_precision(2, 1, 'double').precision, Apr.Precision.DOUBLE);
  assertEqual(new Apr.CrossProducts({n_features: 2, n_targets: 1, precision: 'double'}).precision,
    Apr.Precision.DOUBLE);
  const tensor = Tensor.new_from_bytes('i16', [2], Uint8Array.of(1, 0, 2, 0));
  assertEqual([tensor.dtype, tensor.cast('f32').dtype, DType.get_bits('bf16')], [DType.I16, DType.F32, 16]);
  const bytes = model.fit(X, y).to_bytes();
  for (const key of ['load_mode', 'load-mode', 'loadMode'])
    assertEqual(new Apr.SafetensorsReader({bytes, [key]: 'read'}).load_mode, Apr.SafetensorsLoadMode.READ);
});

test('before-the-fit', () => {
  const model = new LinearRegression();
  assertEqual(model.fit_intercept, true);
  assertEqual(model.dtype, DType.NONE);
  assertEqual(model.fitted, false);
  assertEqual([model.coefficients, model.intercept], [null, null]);
  assertEqual([model.n_features, model.n_targets, model.rank], [0, 0, -1]);
  assertTrue(LinearRegression.new() instanceof LinearRegression);
});

test('fit', () => {
  const model = new LinearRegression();
  assertTrue(model.fit(X, y) === model);
  assertEqual(model.coefficients, Float64Array.of(2));
  assertEqual(model.intercept, Float64Array.of(1));
  assertEqual(model.predict([[10], [-1]]), Float64Array.of(21, -1));
  for (const x of [Int8Array.of(10, -1), Int16Array.of(10, -1), Int32Array.of(10, -1), BigInt64Array.of(10n, -1n)])
    assertEqual(model.predict(Tensor.from(x, [2, 1])), Float64Array.of(21, -1));
  assertEqual(model.score(X, y), 1);
  assertEqual([model.fitted, model.n_features, model.n_targets, model.rank], [true, 1, 1, 1]);
  assertEqual(model.get_coefficients().shape, [1]);
});

test('years', () => {
  const years = Array.from({length: 20}, (_, i) => 2000 + i);
  assertLine(new LinearRegression().fit(years.map(year => [year]), years.map(year => 2 * year + 1)));
});

test('longley', () => {
  const samples = LONGLEY.map(row => row.slice(1));
  const targets = LONGLEY.map(row => row[0]);
  const model = new LinearRegression().fit(samples, targets);
  // Exact rational arithmetic on the doubles above, rounded once.
  assertEqual([...model.intercept, ...model.coefficients], [
    -3482258.6345958184, 15.061872271373323, -0.03581917929259102, -2.020229803816825, -1.033226867173592,
    -0.05110410565358071, 1829.151464613552,
  ]);
  // Certified.
  assertClose(model.score(samples, targets), 0.995479004577296, 1e-15);
});

test('wampler1', () => {
  const powers = x => [1, 2, 3, 4, 5].map(power => x ** power);
  const samples = Array.from({length: 21}, (_, x) => powers(x));
  const model = new LinearRegression().fit(samples, samples.map(row => row.reduce((a, b) => a + b, 1)));
  assertEqual([...model.intercept, ...model.coefficients], [1, 1, 1, 1, 1, 1]);
});

test('inputs', () => {
  for (const [samples, targets] of [
    [X, y],
    [X, Float64Array.from(y)],
    [X, Int32Array.from(y)],
    [X, BigInt64Array.from(y.map(BigInt))],
    [X.map(row => Uint8Array.from(row)), Uint8Array.from(y)],
    [Tensor.from(Float64Array.from(X.flat()), [3, 1]), Tensor.from(y)],
    [Tensor.from(X), Float32Array.from(y)],
    [Tensor.from(Int16Array.from(X.flat()), [3, 1]).cast(DType.F64), y],
  ]) {
    const model = new LinearRegression().fit(samples, targets);
    assertLine(model);
    assertEqual(model.coefficients.constructor, Float64Array);
  }
});

test('floats', () => {
  const samples = Tensor.from(Float32Array.of(1, 2, 3), [3, 1]);
  const model = new LinearRegression().fit(samples, Float32Array.from(y));
  assertEqual(model.dtype, DType.NONE);
  assertEqual(model.coefficients, Float32Array.of(2));
  assertEqual(model.intercept, Float32Array.of(1));
  assertEqual(model.predict([[10]]), Float32Array.of(21));
  assertEqual(model.predict([Float32Array.of(10)]), Float32Array.of(21));
  assertLine(new LinearRegression().fit([Float32Array.of(1), Float32Array.of(2)], [3, 5]));
});

test('dtype', () => {
  // A tenth of three and of seven, each rounded once.
  const floats = new LinearRegression({dtype: DType.F32}).fit([[0], [10]], [0, 3]);
  assertEqual(floats.coefficients, Float32Array.of(0.3));
  assertEqual(floats.dtype, DType.F32);
  const doubles = new LinearRegression({dtype: DType.F64})
    .fit([Float32Array.of(0), Float32Array.of(10)], [0, 7]);
  assertEqual(doubles.coefficients, Float64Array.of(0.7));
  assertThrows(() => new LinearRegression({dtype: DType.I8}).fit(X, y), Apr.Error, Apr.Error.DTYPE, 'I8');
});

test('without-intercept', () => {
  const model = new LinearRegression({fit_intercept: false}).fit([[1], [2]], [3, 6]);
  assertEqual(model.fit_intercept, false);
  assertEqual(model.coefficients, Float64Array.of(3));
  assertEqual(model.intercept, Float64Array.of(0));

  model.fit_intercept = true;
  assertLine(model.fit(X, y));
});

test('sample-weight', () => {
  const samples = [[0], [1], [1]];
  const targets = [0, 1, 3];
  assertEqual(new LinearRegression().fit(samples, targets).coefficients, Float64Array.of(2));
  for (const weights of [[1, 3, 1], Float32Array.of(1, 3, 1), Uint8Array.of(1, 3, 1), Tensor.from([1, 3, 1])])
    assertEqual(new LinearRegression().fit(samples, targets, weights).coefficients, Float64Array.of(1.5));
  assertEqual(new LinearRegression().fit(samples, targets, [1, 0, 1]).coefficients, Float64Array.of(3));
  assertEqual(new LinearRegression().fit(samples, targets, undefined).coefficients, Float64Array.of(2));
});

test('several-targets', () => {
  const model = new LinearRegression().fit([[0, 0], [1, 0], [0, 1]], [[1, 10], [3, 10], [4, 15]]);
  assertEqual(model.n_targets, 2);
  assertEqual(model.coefficients, Float64Array.of(2, 3, 0, 5));
  assertEqual(model.coefficients.shape, [2, 2]);
  assertEqual(Tensor.from(model.coefficients).to_array(), [[2, 3], [0, 5]]);
  assertEqual(model.intercept, Float64Array.of(1, 10));
  const predictions = model.predict([[1, 1], [2, 0], [0, 0]]);
  assertEqual(predictions, Float64Array.of(6, 15, 5, 10, 1, 10));
  assertEqual(predictions.shape, [3, 2]);
  assertEqual(Object.keys(predictions).length, 6);
  // The predictions are the caller's.
  predictions.fill(0);
  assertEqual(model.predict([[1, 1]]), Float64Array.of(6, 15));

  const one = new LinearRegression().fit([[0], [1]], [1, 3]);
  assertEqual([one.coefficients.constructor, one.predict([[1]]).constructor, one.predict([[1]]).shape],
    [model.coefficients.constructor, predictions.constructor, [1]]);
  assertEqual(one.coefficients.shape, [1]);
  // What is predicted can go back in.
  assertEqual(model.score([[1, 1], [2, 0]], model.predict([[1, 1], [2, 0]])), 1);
  assertEqual(LinearRegression.from_bytes(model.to_bytes()).coefficients, model.coefficients);
});

test('dependent-features', () => {
  const model = new LinearRegression().fit([[1, 1], [2, 2], [3, 3]], [2, 4, 6]);
  assertEqual(model.coefficients, Float64Array.of(1, 1));
  assertEqual(model.intercept, Float64Array.of(0));
  assertEqual(model.rank, 1);
});

test('more-features-than-samples', () => {
  // The shortest b with 3 b1 + 4 b2 = 25.
  const model = new LinearRegression({fit_intercept: false}).fit([[3, 4]], [25]);
  assertEqual(model.coefficients, Float64Array.of(3, 4));
});

test('partial-fit', () => {
  const whole = new LinearRegression({keep_state: true}).fit(X, y);
  let model = new LinearRegression({keep_state: true});
  model = model.partial_fit(X.slice(0, 2), y.slice(0, 2));
  model = LinearRegression.from_bytes(model.to_bytes()).partial_fit(X.slice(2), y.slice(2));
  assertTrue(model.to_bytes().equal(whole.to_bytes()));
  assertTrue(model.cross_products.equal(whole.cross_products));

  model.keep_state = false;
  const loaded = LinearRegression.from_bytes(model.to_bytes());
  assertEqual(loaded.cross_products, null);
  assertThrows(() => loaded.partial_fit(X, y), Apr.Error, Apr.Error.STATE, 'keep-state');
});

test('notify', () => {
  const model = new LinearRegression();
  const names = [];
  model.connect('notify', (_, pspec) => names.push(pspec.name));
  model.connect('notify::coefficients', () => assertLine(model));
  model.fit(X, y);
  assertEqual([...new Set(names)].sort(),
    ['busy', 'coefficients', 'correctly-rounded', 'cross-products', 'dependent-features', 'fitted',
      'has-statistics', 'intercept', 'n-features', 'n-targets', 'prediction-rounding', 'progress', 'rank']);
});

test('clone', () => {
  const model = new LinearRegression({fit_intercept: false, dtype: DType.F32}).fit(X, y);
  const clone = model.clone();
  assertTrue(clone instanceof LinearRegression);
  assertEqual([clone.fit_intercept, clone.dtype, clone.fitted], [false, DType.F32, false]);
  assertEqual(clone.coefficients, null);
});

test('save-and-load', () => withPath(path => {
  const model = new LinearRegression({fit_intercept: false, dtype: DType.F32})
    .fit([[1, 2], [3, 5]], [0.1, 0.3]);
  model.set_feature_names(['größe', 'b']);
  model.save(path);
  const bytes = readFile(path);

  for (const loaded of [
    LinearRegression.load(path),
    LinearRegression.from_bytes(bytes), LinearRegression.from_bytes(new GLib.Bytes(bytes)),
    Apr.Estimator.load(LinearRegression, path), Apr.Estimator.from_bytes(LinearRegression.$gtype, bytes),
  ]) {
    assertTrue(loaded instanceof LinearRegression);
    assertEqual([loaded.fit_intercept, loaded.dtype], [false, DType.F32]);
    assertEqual([loaded.rank, loaded.n_features], [2, 2]);
    assertEqual(loaded.feature_names, ['größe', 'b']);
    assertEqual(loaded.coefficients, model.coefficients);
    assertEqual(loaded.intercept, model.intercept);
    assertEqual(loaded.predict([[7, 11]]), model.predict([[7, 11]]));
    assertEqual(loaded.to_bytes().toArray().slice(), bytes);
  }

  // A save again, of the same bytes, in place of the file.
  model.save(path);
  assertEqual(readFile(path), bytes);
}));

test('hyper-parameters-may-change-after-the-fit', () => {
  const model = new LinearRegression().fit([[1, 2], [3, 5], [4, 4]], [1, 3, 7]);
  model.fit_intercept = false;
  model.dtype = DType.F32;
  const loaded = LinearRegression.from_bytes(model.to_bytes());
  assertEqual([loaded.fit_intercept, loaded.dtype, loaded.rank], [false, DType.F32, 2]);
  assertEqual([loaded.coefficients, loaded.intercept], [model.coefficients, model.intercept]);
  assertEqual(loaded.predict([[7, 11]]), model.predict([[7, 11]]));
  assertEqual(loaded.to_bytes().toArray().slice(), model.to_bytes().toArray().slice());
});

test('load-files-of-other-programs', () => {
  // White space in the header.
  const spaced = makeFile(`{
  "coefficients": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]},
  "intercept": {"dtype": "F32", "shape": [1], "data_offsets": [12, 16]}
}`, float32Bytes(2, 3, 1.5, 0.5));
  assertEqual(LinearRegression.from_bytes(spaced).predict([[1, 2, 3]]), Float32Array.of(13));

  // No metadata, and a header that is not padded: the data are not aligned.
  const header = '{"coefficients":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},' +
    '"intercept":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}';
  assertTrue(header.length % 4 !== 0);
  withPath(path => {
    writeFile(path, makeFile(header, float32Bytes(2, 1)));
    const model = LinearRegression.load(path);
    assertLine(model);
    assertEqual([model.fit_intercept, model.dtype, model.rank], [true, DType.NONE, -1]);
    assertEqual(model.predict([[20]]), Float32Array.of(41));
  });
});

test('load-errors', () => {
  const load = (...file) => () => LinearRegression.from_bytes(makeFile(...file));
  const entry = (name, shape, begin, end) =>
    `"${name}":{"dtype":"F32","shape":[${shape}],"data_offsets":[${begin},${end}]}`;

  assertThrows(() => LinearRegression.load('/nonexistent/model'), Gio.IOErrorEnum, Gio.IOErrorEnum.NOT_FOUND,
    'No such file');
  assertThrows(() => LinearRegression.from_bytes(Uint8Array.of(1, 2, 3)), Apr.SafetensorsError,
    Apr.SafetensorsError.TRUNCATED);
  assertThrows(load(`{${entry('coefficients', 1, 0, 4)}}`, float32Bytes(1)), Apr.Error, Apr.Error.MODEL,
    '“intercept”');

  const coefficients = entry('coefficients', 1, 0, 4);
  const intercept = entry('intercept', 1, 4, 8);
  assertThrows(load(`{${coefficients},${entry('intercept', '', 4, 8)}}`, float32Bytes(1, 2)),
    Apr.Error, Apr.Error.SHAPE, '“intercept”');
  assertThrows(load(`{${coefficients},${intercept}}`, float32Bytes(NaN, 2)),
    Apr.Error, Apr.Error.NOT_FINITE, '“coefficients”');
  const metadata = '"__metadata__":{"aprender.model":"Other"}';
  assertThrows(load(`{${metadata},${coefficients},${intercept}}`, float32Bytes(1, 2)),
    Apr.Error, Apr.Error.MODEL, '“Other”');
});

test('a-failed-fit-changes-nothing', async () => {
  const model = new LinearRegression().fit(X, y);

  for (const [args, type, code, message] of [
    [[[[1], [2], [NaN]], y], Apr.Error, Apr.Error.NOT_FINITE, 'X has a NaN at row 2, column 0'],
    [[X, [1, 2, -Infinity]], Apr.Error, Apr.Error.NOT_FINITE, 'y has an infinity at row 2 (counted'],
    [[X, [1, 2]], Apr.Error, Apr.Error.SHAPE, 'X has 3 samples, but y has 2'],
    [[X, y, [1, -1, 1]], Apr.Error, Apr.Error.WEIGHTS, 'row 1'],
    [[X, y, [0, 0, 0]], Apr.Error, Apr.Error.WEIGHTS],
    [[[1, 2, 3], y], Apr.Error, Apr.Error.SHAPE, '[3]'],
    [[[[1], [2, 3], [4]], y], Apr.Error, Apr.Error.SHAPE, 'X is ragged'],
    [[[[1], [null], [3]], y], TypeError, null, 'X has null at row 1, column 0'],
    [[X, [1, undefined, 3]], TypeError, null, 'y has undefined at row 1'],
    [[X, '357'], TypeError, null, 'y must be numbers'],
  ]) {
    assertThrows(() => model.fit(...args), type, code, message);
    await assertRejects(model.fit_async(...args), type, code, message);
    assertLine(model);
  }
});

test('predict-errors', () => {
  assertThrows(() => new LinearRegression().predict(X), Apr.Error, Apr.Error.NOT_FITTED,
    'unfitted AprLinearRegression');

  const model = new LinearRegression().fit(X, y);
  assertThrows(() => model.predict([[1, 2, 3]]), Apr.Error, Apr.Error.SHAPE,
    'X has 3 features, but this model was fitted with 1');
  assertThrows(() => model.predict([[1], [Infinity]]), Apr.Error, Apr.Error.NOT_FINITE,
    'X has an infinity at row 1, column 0');
  assertThrows(() => model.predict([[1], [undefined]]), TypeError, null,
    'X has undefined at row 1, column 0');
});

// It wants memory of the caller's, which JavaScript cannot give.
test('no-predict-into', () => {
  assertEqual(new LinearRegression().predict_into, undefined);
});

test('predict-one', () => {
  const X = LONGLEY.map(row => row.slice(1));
  const model = new LinearRegression().fit(X, LONGLEY.map(row => row[0]));
  model.predict(X).forEach((prediction, i) => {
    assertEqual(model.predict_one(X[i]), prediction);
    assertEqual(model.predict_one(Float64Array.from(X[i])), prediction);
  });

  assertEqual(model.predict_one(Uint8Array.of(1, 2, 3, 4, 5, 6)), model.predict_one([1, 2, 3, 4, 5, 6]));
  assertThrows(() => model.predict_one([1, 2]), Apr.Error, Apr.Error.SHAPE, '2 features');
  assertThrows(() => model.predict_one([1, 2, NaN, 4, 5, 6]), Apr.Error, Apr.Error.NOT_FINITE, 'feature 2');
  assertThrows(() => model.predict_one([1, 2, null, 4, 5, 6]), TypeError, null, 'x has null');
  assertThrows(() => model.predict_one(X), TypeError, null, 'one sample');
  assertThrows(() => model.predict_one(5), TypeError, null, 'one sample');
});

test('predict-one-by-names', () => {
  const model = new LinearRegression().fit([[1, 2], [2, 1], [3, 4], [4, 3]], [5, 4, 11, 10]);
  const {FEATURE_NAMES} = Apr.Error;
  assertThrows(() => model.predict_one({area: 3, rooms: 4}), Apr.Error, FEATURE_NAMES, 'features of this model have none');
  // JavaScript puts names that are whole numbers first.
  model.feature_names = ['area', '7'];
  assertEqual(model.predict_one({area: 3, 7: 4}), model.predict_one([3, 4]));
  assertEqual(model.predict_one(JSON.parse('{"7": 4, "area": 3}')), model.predict_one([3, 4]));
  assertEqual(model.predict_one(Object.assign(Object.create(null), {7: 4, area: 3})), model.predict_one([3, 4]));

  assertThrows(() => model.predict_one({area: 3}), Apr.Error, FEATURE_NAMES, 'fitted with; missing: “7”');
  assertThrows(() => model.predict_one({7: 4, area: 3, age: 1}), Apr.Error, FEATURE_NAMES, 'fitted with; too many: “age”');
  assertThrows(() => model.predict_one({7: 4, floor: 3}), Apr.Error, FEATURE_NAMES, 'missing: “area”; too many: “floor”');
  assertThrows(() => model.predict_one({...'abcdef', 7: 4, area: 3}), Apr.Error, FEATURE_NAMES, '“3”, “4”, …');
  // What every object inherits is no feature.
  model.feature_names = ['area', 'toString'];
  assertThrows(() => model.predict_one({area: 3}), Apr.Error, FEATURE_NAMES, 'missing: “toString”');
  model.feature_names = ['area', 'rooms'];
  assertThrows(() => model.predict_one({area: 3, rooms: '4'}), TypeError, null, 'the string “4” for the feature “rooms”');
  assertThrows(() => model.predict_one({area: 3, rooms: undefined}), TypeError, null, 'undefined for the feature “rooms”');
  assertThrows(() => model.predict_one({area: 3, rooms: NaN}), Apr.Error, Apr.Error.NOT_FINITE, 'feature 1');
  assertThrows(() => model.predict_one(new Map([['area', 3], ['rooms', 4]])), TypeError, null, 'not a Map');
  assertThrows(() => new LinearRegression().predict_one({area: 3}), Apr.Error, Apr.Error.NOT_FITTED);
});

test('fit-async', async () => {
  const model = new LinearRegression();
  const promise = model.fit_async(X, y);
  assertTrue(!model.fitted);
  assertTrue(await promise === model);
  assertLine(model);
  await model.fit_async([[0], [1], [1]], [0, 1, 3], [1, 3, 1], new Gio.Cancellable());
  assertEqual(model.coefficients, Float64Array.of(1.5));

  const models = await Promise.all([1, 2, 3, 4].map(slope =>
    new LinearRegression().fit_async([[0], [1]], [0, slope])));
  assertEqual(models.map(each => each.coefficients[0]), [1, 2, 3, 4]);
});

test('fit-async-does-not-see-later-changes', async () => {
  const samples = Float64Array.from({length: 30000}, (_, i) => i);
  const promise = new LinearRegression().fit_async(Tensor.from(samples, [30000, 1]), samples);
  samples.fill(0);
  assertEqual((await promise).coefficients, Float64Array.of(1));
});

test('fit-async-copies-in-slices', async () => {
  const n = 600000;
  const flat = Float64Array.from({length: 2 * n}, (_, i) => i % 1009);
  const targets = Float64Array.from({length: n}, (_, i) => 3 * flat[2 * i] - flat[2 * i + 1]);
  const rows = Array.from({length: n}, (_, i) => [flat[2 * i], flat[2 * i + 1]]);
  const floats = Array.from({length: n}, (_, i) => Float32Array.from(rows[i]));
  const expected = new LinearRegression().fit(Tensor.from(flat, [n, 2]), targets);

  for (const [X, y] of [[Tensor.from(flat, [n, 2]), targets], [rows, [...targets]], [rows, targets]]) {
    const model = await new LinearRegression().fit_async(X, y);
    assertEqual(model.coefficients, expected.coefficients);
  }
  assertEqual((await new LinearRegression().fit_async(floats, targets)).coefficients,
    new LinearRegression().fit(floats, targets).coefficients);
  // What is no Float32Array among the last rows makes doubles of all.
  const mixed = [...floats.slice(0, n - 1), [0.1, 0.2]];
  const doubles = await new LinearRegression().fit_async(mixed, targets);
  assertEqual(doubles.coefficients.constructor, Float64Array);
  assertEqual(doubles.coefficients, new LinearRegression().fit(mixed, targets).coefficients);
  const typed = await new LinearRegression().fit_async(
    Object.defineProperty(Float32Array.from(flat), 'shape', {value: [n, 2]}), targets);
  assertEqual(typed.coefficients.constructor, Float32Array);

  rows[n - 1] = [1];
  await assertRejects(new LinearRegression().fit_async(rows, targets), Apr.Error, Apr.Error.SHAPE, 'X is ragged');
  rows[n - 1] = [1, null];
  await assertRejects(new LinearRegression().fit_async(rows, targets), TypeError, null, 'X has null');
  const cancellable = new Gio.Cancellable();
  const promise = new LinearRegression().fit_async(rows, targets, null, cancellable);
  cancellable.cancel();
  await assertRejects(promise, Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED);
});

test('busy-from-the-call-on', async () => {
  const n = 600000;
  const X = Float64Array.from({length: 2 * n}, (_, i) => i % 1009);
  X.shape = [n, 2];
  const y = Float64Array.from({length: n}, (_, i) => 3 * X[2 * i] - X[2 * i + 1]);
  const model = new LinearRegression();
  const told = [];
  model.connect('notify::busy', () => told.push(model.busy));

  for (const fit of [() => model.fit_async(X, y), () => model.partial_fit_async(X, y)]) {
    told.length = 0;
    const promise = fit();
    assertTrue(model.busy);
    // The arrays are not copied yet.
    for (const other of [model.fit_async(X, y), model.partial_fit_async([[1, 2]], [1])])
      await assertRejects(other, Gio.IOErrorEnum, Gio.IOErrorEnum.PENDING, 'being fitted already');
    assertThrows(() => model.fit([[1, 2]], [1]), Gio.IOErrorEnum, Gio.IOErrorEnum.PENDING);
    assertTrue(await promise === model);
    assertEqual(model.coefficients, Float64Array.of(3, -1));
    // Nobody saw it idle between the copy and the fit.
    assertEqual([told[0], told.filter(busy => !busy).length, told.at(-1)], [true, 1, false]);
  }

  const cancellable = new Gio.Cancellable();
  const promise = model.fit_async(X, y, null, cancellable);
  cancellable.cancel();
  await assertRejects(promise, Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED);
  await assertRejects(model.fit_async(X, [null]), TypeError, null, 'y has null');
  await assertRejects(model.fit_async(X, [1, 2]), Apr.Error, Apr.Error.SHAPE, 'y has 2');
  assertTrue(!model.busy);
  await model.fit_async([[0], [1]], [1, 3]);
  assertEqual(model.coefficients, Float64Array.of(2));
});

test('reserve', async () => {
  const model = new LinearRegression();
  model.reserve();
  assertTrue(model.busy);
  assertThrows(() => model.reserve(), Gio.IOErrorEnum, Gio.IOErrorEnum.PENDING);
  assertThrows(() => model.fit(X, y), Gio.IOErrorEnum, Gio.IOErrorEnum.PENDING);
  model.release();
  model.release();
  assertTrue(!model.busy);
  assertLine(model.fit(X, y));
});

test('cancel', async () => {
  const model = new LinearRegression().fit(X, y);
  const cancellable = new Gio.Cancellable();
  cancellable.cancel();
  assertThrows(() => model.fit(X, [0, 0, 0], null, cancellable), Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED);
  await assertRejects(model.fit_async(X, [0, 0, 0], null, cancellable), Gio.IOErrorEnum,
    Gio.IOErrorEnum.CANCELLED);
  assertLine(model);
});

test('release-of-others', async () => {
  const samples = Float64Array.from({length: 1000000}, (_, i) => i);
  samples.shape = [1000000, 1];
  const model = new LinearRegression();
  const state = Apr.CrossProducts.new(1, 1);
  const updates = [model.fit_async(samples, samples), state.update_async(samples, samples)];

  // Neither was reserved by this test: they are busy until the arrays have been copied and used.
  model.release();
  state.release();
  assertEqual([model.busy, state.busy], [true, true]);
  assertThrows(() => model.fit(X, y), Gio.IOErrorEnum, Gio.IOErrorEnum.PENDING);
  await Promise.all(updates);
  assertEqual([model.busy, state.busy, state.n_samples], [false, false, 1000000]);

  model.reserve();
  model.release();
  assertEqual(model.busy, false);
});

test('progress', async () => {
  const samples = Float64Array.from({length: 30000}, (_, i) => i);
  const matrix = Tensor.from(samples, [30000, 1]);
  const told = [];
  const model = new LinearRegression();
  const handler = model.connect('notify::progress', () => told.push([model.progress, model.busy, model.fitted]));
  model.fit(matrix, samples);
  assertEqual([told[0], told.at(-1)], [[0, true, false], [1, true, true]]);
  assertTrue(told.every(([progress], i) => i === 0 || progress > told[i - 1][0]));

  told.length = 0;
  await model.fit_async(X, y);
  assertEqual([told[0], told.at(-1)], [[0, true, true], [1, true, true]]);
  assertLine(model);

  const cancellable = new Gio.Cancellable();
  model.disconnect(handler);
  model.connect('notify::progress', () => cancellable.cancel());
  assertThrows(() => model.fit(matrix, samples, null, cancellable), Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED);
  assertLine(model);
});

test('loaded-model-is-the-saved-one', () => {
  const random = makeRandom(1);
  for (let i = 0; i < 20; i++) {
    const samples = Array.from({length: 12}, () => [random() * 1e6, random(), -random() * 1e-6]);
    const targets = samples.map(() => [random(), random() * 1e9]);
    const model = new LinearRegression().fit(samples, targets);
    const loaded = LinearRegression.from_bytes(model.to_bytes());
    assertEqual(loaded.coefficients, model.coefficients);
    assertEqual(loaded.intercept, model.intercept);
    assertEqual(loaded.predict(samples), model.predict(samples));
  }
});

test('async-twins', async () => {
  const rows = [[0, 1], [1, 1], [2, 0], [3, 5]];
  const targets = [1, 3, 5, 8];
  const expected = new LinearRegression({keep_state: true}).fit(rows, targets);
  const model = await new LinearRegression({keep_state: true}).fit_async(rows, targets);

  assertEqual([...await model.predict_async(rows)], [...expected.predict(rows)]);
  assertEqual(await model.score_async(rows, targets), expected.score(rows, targets));
  assertEqual((await model.get_statistics_async()).get_r_squared(), expected.get_statistics().get_r_squared());
  assertEqual(await model.summary_async(), expected.summary());
  assertEqual(await model.compute_condition_number_async(), expected.compute_condition_number());
  assertEqual((await model.predict_interval_async(rows, 0.9)).map(end => [...end]),
    expected.predict_interval(rows, 0.9).map(end => [...end]));
  assertTrue(await model.partial_fit_async(rows, targets) === model);
  assertEqual(model.cross_products.n_samples, 8);
  const other = new LinearRegression({keep_state: true});
  assertTrue(await other.fit_cross_products_async(model.cross_products) === other);
  const scores = other.score_cross_products(model.cross_products);
  assertEqual([...await other.score_cross_products_async(model.cross_products)], [...scores]);
  assertTrue(scores instanceof Float64Array && scores.length === 1);
  assertClose(scores[0], other.score(rows, targets), 1e-13);
  assertTrue(other.to_bytes().equal(model.to_bytes()));
  const bytes = await model.to_bytes_async();
  assertTrue(bytes.equal(model.to_bytes()));
  for (const made of [await LinearRegression.from_bytes_async(bytes),
    await Apr.Estimator.from_bytes_async.call(LinearRegression, bytes)]) {
    assertTrue(made instanceof LinearRegression);
    assertTrue(made.to_bytes().equal(bytes));
  }
  await assertRejects(LinearRegression.from_bytes_async(new GLib.Bytes(Uint8Array.of(0))), Apr.SafetensorsError);

  const path = GLib.build_filenamev([GLib.get_tmp_dir(), `${GLib.uuid_string_random()}.safetensors`]);
  const file = Gio.File.new_for_path(path);
  await model.save_to_file_async(file);
  const loaded = await LinearRegression.load_from_file_async(file);
  assertTrue(loaded instanceof LinearRegression);
  assertTrue(loaded.to_bytes().equal(model.to_bytes()));
  const before = [...loaded.predict(rows)];
  // In place: to replace the file would leave a mapping its own.
  file.open_readwrite(null).truncate(0, null);
  assertEqual([...loaded.predict(rows)], before);
  file.replace_contents(Uint8Array.of(0), null, false, Gio.FileCreateFlags.NONE, null);
  assertEqual([...loaded.predict(rows)], before);
  file.delete(null);
  await assertRejects(LinearRegression.load_from_file_async(file), Gio.IOErrorEnum, Gio.IOErrorEnum.NOT_FOUND);

  const first = model.fit_async(rows, targets);
  await assertRejects(model.fit_async(rows, targets), Gio.IOErrorEnum, Gio.IOErrorEnum.PENDING);
  await first;
});

test('subclass', () => {
  const [X, y] = [[[0], [1], [2]], [1, 3, 5]];
  const model = new Scaled({factor: 3}).fit(X, y);

  assertEqual([...model.predict(X)], [3, 9, 15]);
  assertEqual([model.clone().factor, model.clone().fitted], [3, false]);
  assertTrue(model.clone() instanceof Scaled);
  withPath(path => {
    model.save(path);
    for (const loaded of [Scaled.load(path), Scaled.from_bytes(model.to_bytes())]) {
      assertTrue(loaded instanceof Scaled);
      assertEqual([...loaded.predict(X)], [3, 9, 15]);
    }
  });
});

test('subclass-fits-async', async () => {
  const [X, y] = [[[0], [1], [2]], [1, 3, 5]];
  const model = await new Scaled({factor: 3}).fit_async(X, y);

  assertEqual([model.nFits, ...model.predict(X)], [1, 3, 9, 15]);
});

// GJS would make NaN of a text, true of 'no' and a large number of -1.
test('values-of-hyper-parameters', () => {
  for (const [name, values, text] of [
    ['alpha', ['1', null, true], 'alpha must be a number, not'],
    ['alpha', [[1, 2]], 'alpha must be a number, not an array; alphas has one for each target'],
    ['fit_intercept', ['no', 1, null], 'fit_intercept must be true or false, not'],
    ['keep_state', ['no'], 'keep_state must be true or false, not'],
    ['positive', [0], 'positive must be true or false, not 0'],
    ['n_threads', [-1, 1.5, '2'], 'n_threads must be a whole number from 0 on, not'],
  ]) {
    for (const value of values) {
      const model = new LinearRegression();
      assertThrows(() => new LinearRegression({[name]: value}), TypeError, null, text);
      assertThrows(() => (model[name] = value), TypeError, null, text);
    }
  }
  assertThrows(() => new LinearRegression({fitIntercept: 'no'}), TypeError, null, 'fit_intercept must be');
  assertThrows(() => new Apr.CrossProducts({n_features: 1, n_targets: 1, n_threads: -1}), TypeError, null, 'n_threads');
  const model = new LinearRegression({alpha: undefined, fit_intercept: false, n_threads: 2, positive: true});
  assertEqual([model.alpha, model.fit_intercept, model.n_threads, model.positive], [0, false, 2, true]);
});

test('alphas', () => {
  const [X, Y] = [[[1, 2], [2, 1], [3, 5], [4, 4]], [[1, 3], [2, 1], [3, 2], [5, 4]]];
  const model = new Apr.LinearRegression({alphas: Apr.Tensor.from([0.5, 2])}).fit(X, Y);
  [0.5, 2].forEach((alpha, i) => {
    const one = new Apr.LinearRegression({alpha}).fit(X, Y.map(row => row[i]));
    assertEqual(model.coefficients.slice(2 * i, 2 * i + 2).join(), one.coefficients.join());
  });
  const loaded = Apr.LinearRegression.from_bytes(model.to_bytes());
  assertEqual(loaded.alphas.to_array().join(), '0.5,2');
  loaded.alphas = null;
  assertEqual(loaded.alphas, null);
  loaded.alphas = [1, 3];
  assertEqual(loaded.alphas.to_array().join(), '1,3');
  assertEqual(new Apr.LinearRegression({alphas: Float64Array.of(2, 4)}).alphas.to_array().join(), '2,4');
  assertThrows(() => { loaded.alphas = ['much']; }, TypeError, null, 'alphas has the string');
});

await run();
