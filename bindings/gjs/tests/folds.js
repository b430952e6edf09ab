/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import GLib from 'gi://GLib';
import GObject from 'gi://GObject';
import Gio from 'gi://Gio';

import {assertClose, assertEqual, assertRejects, assertThrows, assertTrue, makeRandom, run, test} from './tap.js';

const N_SAMPLES = 23;
const random = makeRandom(7);
const X = Array.from({length: N_SAMPLES}, () => [random(), random(), random()]);
const y = X.map(([a, b, c]) => 3 * a - 2 * b + c + random());
const weights = X.map(() => 1 + Math.floor(4 * random()));
const cities = X.map((_, i) => ['Rome', 'Oslo', 'Bern'][i % 3]);
const METRICS = [['r2', Apr.r2_score], ['explained_variance', Apr.explained_variance_score],
  ...['mean_squared_error', 'root_mean_squared_error', 'mean_absolute_error', 'mean_absolute_percentage_error',
    'median_absolute_error'].map(name => [name, Apr[name]]),
  ['max_error', (yTrue, yPred) => Apr.max_error(yTrue, yPred)]];

// Predicts the weighted mean of the targets, plus a constant. In each virtual function it first calls Mean.act().
const Mean = GObject.registerClass({
  GTypeName: 'TestMean',
  Properties: {offset: GObject.ParamSpec.double('offset', null, null, GObject.ParamFlags.READWRITE, -9, 9, 0)},
}, class Mean extends Apr.Estimator {
  static act = () => undefined;

  vfunc_fit(X, y, sampleWeight) {
    const result = Mean.act('fit', X);
    const counts = sampleWeight?.to_array() ?? Array(X.shape[0]).fill(1);
    const sum = y.to_array().reduce((total, value, i) => total + counts[i] * value, 0);
    this.set_result('mean', [sum / counts.reduce((a, b) => a + b) + this.offset]);
    return result ?? true;
  }

  vfunc_predict(X) {
    return Mean.act('predict', X) ?? Array(X.shape[0]).fill(this.get_result('mean').get_double(0));
  }
});

async function act(action, body) {
  Mean.act = action;
  try {
    await body();
  } finally {
    Mean.act = () => undefined;
  }
}

// A regression that a script has made a class of, and one that it has changed.
const Plain = GObject.registerClass({GTypeName: 'TestPlain'}, class Plain extends Apr.LinearRegression {});
const Twice = GObject.registerClass({GTypeName: 'TestTwice'}, class Twice extends Apr.LinearRegression {
  vfunc_predict(X) {
    return super.vfunc_predict(X).to_typed_array().map(value => 2 * value);
  }
});

const pick = (values, rows) => rows.map(row => values[row]);

// The rows of each fold, in the order of their labels, and all other rows.
function cut(labels) {
  const rows = [...labels.keys()];
  return [...new Set(labels)].filter(label => typeof label === 'string' || label >= 0).sort((a, b) => a < b ? -1 : 1)
    .map(label => [rows.filter(row => labels[row] !== label), rows.filter(row => labels[row] === label)]);
}

// What each fold's model predicts for it.
function predict(model, labels, sampleWeight = null) {
  return cut(labels).map(([others, own]) => {
    const seen = sampleWeight === null ? null : pick(sampleWeight, others);
    return [own, model.clone().fit(pick(X, others), pick(y, others), seen).predict(pick(X, own))];
  });
}

function assertAllClose(actual, expected) {
  assertEqual(actual.length, expected.length);
  expected.forEach((value, i) => assertClose(actual[i], value, 1e-12 * Math.max(1, Math.abs(value)), `at ${i}`));
}

test('scores-are-those-of-the-other-samples', () => {
  for (const model of [new Apr.LinearRegression(), new Apr.LinearRegression({alpha: 0.5, fit_intercept: false}),
    new Apr.LinearRegression({precision: 'double'}), new Plain({alpha: 2}), new Twice(), new Mean({offset: 0.25})]) {
    for (const [folds, labels] of [
      [Apr.Folds.new(X, y, weights, 5), X.map((_, i) => [5, 10, 15, 19].filter(end => i >= end).length)],
      [Apr.Folds.new_from_labels(X, y, weights, cities), cities],
    ]) {
      assertTrue(folds instanceof Apr.Folds);
      const predictions = predict(model, labels, weights);
      for (const [metric, compute] of METRICS) {
        const expected = predictions.map(([own, predicted]) => compute(pick(y, own), predicted, pick(weights, own)));
        const scores = model.cross_validate(folds, metric);
        assertTrue(scores instanceof Float64Array);
        assertAllClose(scores, expected);
      }
      assertEqual(model.cross_validate(folds), model.cross_validate(folds, Apr.Metric.R2));
      const joined = model.cross_predict(folds);
      for (const [own, predicted] of predictions)
        assertAllClose(pick(joined, own), Array.from(predicted));
      assertEqual([model.fitted, model.busy], [false, false]);
    }
  }
});

test('a-weight-is-a-count', () => {
  const repeat = values => values.flatMap((value, i) => Array(weights[i]).fill(value));
  for (const model of [new Apr.LinearRegression(), new Mean()]) {
    const folds = Apr.Folds.new_from_labels(X, y, weights, cities);
    const repeated = Apr.Folds.new_from_labels(repeat(X), repeat(y), null, repeat(cities));
    for (const metric of ['r2', 'mean_squared_error'])
      assertAllClose(model.cross_validate(folds, metric), Array.from(model.cross_validate(repeated, metric)));
    assertAllClose(repeat([...model.cross_predict(folds)]), [...model.cross_predict(repeated)]);
  }
});

test('predictions-have-the-shape-and-dtype-of-predict', () => {
  const floats = Object.assign(Float32Array.from(X.flat()), {shape: [N_SAMPLES, 3]});
  for (const targets of [y, y.map(value => [value]), y.map(value => [value, -value])]) {
    for (const samples of [X, floats]) {
      const target = samples === floats ? Apr.Tensor.from(targets).cast('f32') : targets;
      const expected = new Apr.LinearRegression().fit(samples, target).predict(samples);
      const actual = new Apr.LinearRegression().cross_predict(Apr.Folds.new(samples, target, null, 3));
      assertEqual([actual.constructor, actual.shape], [expected.constructor, expected.shape]);
    }
  }
});

test('shuffled', () => {
  const labels = seed => Array.from(Apr.Folds.new_shuffled(X, y, null, 4, seed).labels, Number);
  for (const seed of [0, 42, 2 ** 32 + 42, Number.MAX_SAFE_INTEGER]) {
    assertEqual(labels(seed), labels(seed));
    assertEqual([0, 1, 2, 3].map(fold => labels(seed).filter(label => label === fold).length), [6, 6, 6, 5]);
  }
  assertTrue(String(labels(42)) !== String(labels(43)) && String(labels(42)) !== String(labels(2 ** 32 + 42)));
  const folds = Apr.Folds.new_shuffled(X, y, null, 4, 42);
  const model = new Apr.LinearRegression();
  assertEqual(model.cross_validate(folds), model.cross_validate(Apr.Folds.new_from_labels(X, y, null, folds.labels)));
});

test('labels', () => {
  const numbers = X.map((_, i) => [3, -7, 0, -1][i % 4]);
  const model = new Apr.LinearRegression();
  const expected = predict(model, numbers).map(([own, predicted]) => Apr.r2_score(pick(y, own), predicted));

  // Samples with a negative label are in no fold, however the labels are given.
  for (const labels of [numbers, Int8Array.from(numbers), Float64Array.from(numbers), numbers.map(label => label / 4),
    numbers.map(BigInt), BigInt64Array.from(numbers, BigInt), Apr.Tensor.from(numbers),
    Apr.Tensor.from(Int16Array.from(numbers))]) {
    const folds = Apr.Folds.new_from_labels(X, y, null, labels);
    assertEqual(folds.n_folds, 2);
    assertAllClose(model.cross_validate(folds), expected);
    assertEqual([...model.cross_predict(folds)].map(Number.isNaN), numbers.map(label => label < 0));
    assertEqual([...folds.labels], [...labels instanceof Apr.Tensor ? labels.to_typed_array() : labels]);
  }
  assertEqual(Apr.Folds.new_from_labels(X, y, null, cities).labels, cities);
  assertEqual(Apr.Folds.new_from_labels(X, y, null, X.map((_, i) => i < 9)).n_folds, 2);
  const labels = Array.from(cities);
  const folds = Apr.Folds.new_from_labels(X, y, null, labels);
  labels.fill('');
  assertEqual(folds.labels, cities);
  for (const equal of [null, undefined])
    assertEqual(Array.from(Apr.Folds.new([[1], [2], [3]], [1, 2, 3], equal, 2).labels, Number), [0, 0, 1]);
});

test('cross-products', () => {
  const parts = cut(cities).map(([, own]) => Apr.CrossProducts.new(3, 1).update(pick(X, own), pick(y, own)));
  const folds = Apr.Folds.new_from_cross_products(parts);
  const whole = Apr.Folds.new_from_labels(X, y, null, cities);
  const model = new Apr.LinearRegression({alpha: 0.1});
  parts[0].update(X, y);
  assertEqual([folds.n_folds, folds.labels, folds.get_labels()], [3, null, null]);
  for (const metric of ['r2', 'root_mean_squared_error'])
    assertEqual(model.cross_validate(folds, metric), model.cross_validate(whole, metric));

  const [state] = parts;
  assertEqual([...new Set(model.cross_validate(Apr.Folds.new_from_cross_products([state, state])))].length, 1);
  assertThrows(() => model.cross_predict(folds), Apr.Error, Apr.Error.STATE, 'cross products');
  assertThrows(() => model.cross_validate(folds, 'max_error'), Apr.Error, Apr.Error.STATE, '“max-error”');
  assertThrows(() => new Mean().cross_validate(folds), Apr.Error, Apr.Error.STATE, 'TestMean');
  for (const [states, message] of [[undefined, 'undefined'], [state, 'an array of Apr.CrossProducts'],
    [[state, null], 'null at 1'], [[undefined, state], 'undefined at 0'], [[state, X], 'an array at 1'],
    [[state, model], 'an Apr_LinearRegression at 1']])
    assertThrows(() => Apr.Folds.new_from_cross_products(states), TypeError, null, message);
  assertThrows(() => Apr.Folds.new_from_cross_products([]), Apr.Error, Apr.Error.EMPTY, '0');
  assertThrows(() => Apr.Folds.new_from_cross_products([state]), Apr.Error, Apr.Error.EMPTY, '1');
});

test('to-string', () => {
  assertEqual(String(Apr.Folds.new(X, y, null, 5)), '[Apr.Folds: 5 folds, 23 samples]');
  assertEqual(`${Apr.Folds.new_from_labels([[1], [2]], [1, 2], null, [-1, 0])}`, '[Apr.Folds: 1 fold, 2 samples]');
  const state = Apr.CrossProducts.new(3, 1).update(X, y);
  assertEqual(`${Apr.Folds.new_from_cross_products([state, state])}`, '[Apr.Folds: 2 folds]');
});

test('no-folds', async () => {
  for (const folds of [new Apr.Folds(), new Apr.Folds({}), GObject.Object.new(Apr.Folds)]) {
    assertEqual([folds.n_folds, folds.labels, `${folds}`], [0, null, '[Apr.Folds: 0 folds]']);
    for (const model of [new Apr.LinearRegression(), new Mean()]) {
      assertThrows(() => model.cross_validate(folds), Apr.Error, Apr.Error.EMPTY, '0 folds');
      assertThrows(() => model.cross_predict(folds), Apr.Error, Apr.Error.EMPTY, '0 folds');
      await assertRejects(model.cross_validate_async(folds), Apr.Error, Apr.Error.EMPTY, '0 folds');
    }
  }
  for (const args of [[X, y, null, 5], [X], [Apr.Tensor.from(X)]])
    assertThrows(() => new Apr.Folds(...args), TypeError, null, 'write Apr.Folds.new(X, y, sample_weight, n_folds)');
});

test('what-is-refused', async () => {
  const {Folds} = Apr;
  const model = new Apr.LinearRegression();
  const folds = Folds.new(X, y, null, 5);

  for (const n of [undefined, null, '5', 2.5, -1, NaN, 2 ** 53]) {
    assertThrows(() => Folds.new(X, y, null, n), TypeError, null, 'n_folds must be a whole number');
    assertThrows(() => Folds.new_shuffled(X, y, null, n, 1), TypeError, null, 'n_folds must be a whole number');
    assertThrows(() => Folds.new_shuffled(X, y, null, 5, n), TypeError, null, 'seed must be a whole number');
  }
  for (const n of [0, 1, N_SAMPLES + 1, Number.MAX_SAFE_INTEGER])
    assertThrows(() => Folds.new(X, y, null, n), Apr.Error, Apr.Error.RANGE, `${N_SAMPLES} samples into ${n} folds`);
  assertThrows(() => Folds.new(X, [1], null, 2), Apr.Error, Apr.Error.SHAPE, 'y has 1');
  assertThrows(() => Folds.new([1, 2], [1, 2], null, 2), Apr.Error, Apr.Error.SHAPE, '[2]');
  assertThrows(() => Folds.new(X, null, null, 2), TypeError, null, 'y must be numbers');
  assertThrows(() => Folds.new(X, y, 5), TypeError, null, 'n_folds');
  assertThrows(() => Folds.new_from_labels(X, y, null, ['a']), Apr.Error, Apr.Error.SHAPE, 'labels has 1');
  assertThrows(() => Folds.new_from_labels(X, y, null), TypeError, null, 'labels must be a label for each sample');
  assertThrows(() => Folds.new_from_labels(X, y, null, [...cities.slice(1), null]), TypeError, null, 'null at 22');
  for (const [first, second, message] of [['train', -1, 'the string “train” at 0 and -1 at 1 (counted from 0)'],
    [-1, 'train', '-1 at 0 and the string “train” at 1'], [1n, 1, 'a BigInt at 0 and 1 at 1'], [true, 1, 'true at 0 and 1 at 1']]) {
    assertThrows(() => Folds.new_from_labels(X, y, null, X.map((_, i) => i % 2 ? second : first)), TypeError, null,
      `labels has labels of two types, which have no order: ${message}`);
  }
  assertThrows(() => Folds.new_from_labels(X, y, null, X.map(() => 'a')), Apr.Error, Apr.Error.EMPTY, 'one fold');
  assertThrows(() => Folds.new_from_labels(X, y, null, X.map(() => -1)), Apr.Error, Apr.Error.EMPTY, 'no fold');

  for (const metric of ['r3', 9, null, new Gio.Cancellable()]) {
    assertThrows(() => model.cross_validate(folds, metric), TypeError, null, 'metric must be one of “r2”');
    await assertRejects(model.cross_validate_async(folds, metric), TypeError, null, 'metric must be one of “r2”');
  }
  for (const [wrong, what] of [[undefined, 'undefined'], [null, 'null'], [5, '5'], [X, 'an array'], ['r2', 'the string “r2”'],
    [model, 'an Apr_LinearRegression'], [Folds, 'a Function']]) {
    const message = `folds must be an Apr.Folds, as Apr.Folds.new(X, y, null, 5) makes them, not ${what}`;
    assertThrows(() => model.cross_validate(wrong), TypeError, null, message);
    assertThrows(() => model.cross_validate(wrong, 'r3'), TypeError, null, message);
    assertThrows(() => model.cross_predict(wrong), TypeError, null, message);
    await assertRejects(model.cross_validate_async(wrong, 'r3'), TypeError, null, message);
    await assertRejects(model.cross_predict_async(wrong), TypeError, null, message);
  }
  assertThrows(() => model.cross_validate(X, y), TypeError, null, 'not an array');
  assertThrows(() => model.cross_predict_async(folds, null, () => {}), TypeError, null, 'at most 2 arguments');
  assertThrows(() => model.cross_validate_async(folds, 'r2', null, () => {}), TypeError, null, 'at most 3 arguments');
  assertThrows(() => model.cross_validate(Folds.new_from_labels(X, y, X.map((_, i) => i % 2), X.map((_, i) => i % 2))),
    Apr.Error, Apr.Error.WEIGHTS, 'Fold 0');
  assertEqual([model.fitted, model.busy], [false, false]);
});

test('without-blocking', async () => {
  const folds = Apr.Folds.new_shuffled(X, y, weights, 4, 3);
  for (const model of [new Apr.LinearRegression({alpha: 0.5}), new Plain(), new Twice(), new Mean({offset: 1})]) {
    for (const metric of ['r2', Apr.Metric.MEAN_ABSOLUTE_ERROR]) {
      const promise = model.cross_validate_async(folds, metric);
      assertTrue(model.busy);
      assertThrows(() => model.cross_validate(folds), Gio.IOErrorEnum, Gio.IOErrorEnum.PENDING);
      const scores = await promise;
      assertTrue(scores instanceof Float64Array);
      assertEqual(scores, model.cross_validate(folds, metric));
    }
    assertEqual(await model.cross_validate_async(folds), model.cross_validate(folds));
    assertEqual(await model.cross_predict_async(folds), model.cross_predict(folds));
    assertEqual([model.fitted, model.busy, model.progress], [false, false, 1]);
  }
});

test('cancel', async () => {
  const folds = Apr.Folds.new(X, y, null, 5);
  const cancelled = [Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED];
  for (const model of [new Apr.LinearRegression(), new Mean()]) {
    const cancellable = new Gio.Cancellable();
    cancellable.cancel();
    assertThrows(() => model.cross_validate(folds, 'r2', cancellable), ...cancelled);
    assertThrows(() => model.cross_predict(folds, cancellable), ...cancelled);
    await assertRejects(model.cross_validate_async(folds, undefined, cancellable), ...cancelled);
    await assertRejects(model.cross_predict_async(folds, cancellable), ...cancelled);
    assertTrue(!model.busy);
  }

  // While it runs: the folds after that are passed over.
  for (const method of ['cross_predict', 'cross_predict_async']) {
    const cancellable = new Gio.Cancellable();
    const seen = [];
    await act(name => {
      seen.push(name);
      if (seen.length === 3)
        cancellable.cancel();
    }, () => assertRejects((async () => new Mean()[method](folds, cancellable))(), ...cancelled));
    assertEqual(seen.slice(0, 3), ['fit', 'predict', 'fit']);
    assertTrue(seen.length <= 4);
  }
});

// As those of a fit, with the fold in the message; no fold is tried after that.
test('errors-of-virtual-functions', async () => {
  const folds = Apr.Folds.new(X, y, null, 5);
  const model = new Mean();
  for (const [action, type, code, message] of [
    [() => {
      throw new RangeError('a plain error');
    }, RangeError, null, 'a plain error'],
    [() => {
      throw new GLib.Error(Apr.Error, Apr.Error.NOT_FINITE, 'my own error');
    }, Apr.Error, Apr.Error.NOT_FINITE, 'my own error'],
    [async () => {}, TypeError, null, 'returned a promise'],
  ]) {
    for (const where of ['fit', 'predict']) {
      for (const call of ['cross_validate', 'cross_validate_async', 'cross_predict', 'cross_predict_async']) {
        let nFits = 0;
        await act(name => {
          nFits += name === 'fit';
          // In the second fold.
          return name === where && nFits === 2 ? action() : undefined;
        }, async () => {
          const promise = (async () => model[call](folds))();
          await assertRejects(promise, type, code, message);
          await promise.catch(error => assertTrue(error.message.startsWith('Fold 1 (counted from 0): '), error.message));
        });
        assertEqual([nFits, model.busy], [2, false]);
      }
    }
  }
  await act(name => name === 'predict' ? 'text' : undefined, () =>
    assertThrows(() => model.cross_validate(folds), TypeError, null, 'What Mean predicts must be numbers'));
  await act(name => name === 'predict' ? [1] : undefined, () =>
    assertRejects(model.cross_predict_async(folds), Apr.Error, Apr.Error.FAILED, 'for 5 samples'));
});

// C knows no labels but numbers.
test('errors-name-the-label', async () => {
  const samples = [[1], [2], [3], [4]];
  const model = new Apr.LinearRegression();
  for (const [labels, name] of [[['control', 'control', 'treated', 'treated'], ', label control'],
    [[-1, 5, 7, 7], ', label 5'], [Float64Array.of(-1, 2.5, 3, 3), ', label 2.5'], [Int8Array.of(-1, 5, 7, 7), ', label 5'],
    [[-1, 0, 7, 7], ''], [[-1n, 0n, 7n, 7n], ''], [[false, false, true, true], '']]) {
    const folds = Apr.Folds.new_from_labels(samples, [1, 2, 3, 5], [0, 1, 0, 0], labels);
    for (const method of ['cross_validate', 'cross_validate_async', 'cross_predict', 'cross_predict_async']) {
      await assertRejects((async () => model[method](folds))(), Apr.Error, Apr.Error.WEIGHTS,
        `Fold 0 (counted from 0)${name}: sample_weight has no`);
    }
  }
  const folds = Apr.Folds.new_from_labels(X, y, null, cities);
  let nFits = 0;
  await act(name => {
    if (name === 'fit' && ++nFits % 2 === 0)
      throw new RangeError('a plain error');
  }, async () => {
    for (const method of ['cross_validate', 'cross_validate_async', 'cross_predict', 'cross_predict_async']) {
      await assertRejects((async () => new Mean()[method](folds))(), RangeError, null,
        'Fold 1 (counted from 0), label Oslo: a plain error');
    }
  });
});

// Each fold's model is new: its constructor has to do without arguments.
test('constructor-with-arguments', async () => {
  const Needy = GObject.registerClass({GTypeName: 'TestNeedy'}, class Needy extends Mean {
    constructor({factor}) {
      super();
      this.factor = factor;
    }
  });
  const folds = Apr.Folds.new(X, y, null, 5);
  const model = new Needy({factor: 2});
  // GLib warns of what GJS does then.
  const fatal = GLib.log_set_always_fatal(GLib.LogLevelFlags.LEVEL_ERROR);
  try {
    assertThrows(() => model.cross_validate(folds), TypeError, null, 'undefined');
    await assertRejects(model.cross_validate_async(folds), Apr.Error, Apr.Error.FAILED, 'No TestNeedy can be made');
    await assertRejects(model.cross_predict_async(folds), Apr.Error, Apr.Error.FAILED, 'No TestNeedy can be made');
  } finally {
    GLib.log_set_always_fatal(fatal);
  }
});

await run();
