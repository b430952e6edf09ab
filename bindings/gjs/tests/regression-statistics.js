/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import Gio from 'gi://Gio';

import {assertClose, assertEqual, assertRejects, assertThrows, assertTrue, run, test} from './tap.js';

const {LinearRegression} = Apr;

// Eight samples, of which statsmodels 0.14.6 gives these numbers for the first seven with these weights.
const X = [[1, 2], [2, 1], [3, 5], [4, 3], [5, 8], [6, 5], [7, 9], [8, 1]];
const y = [3, 5, 4, 9, 8, 12, 11, 100];
const weights = [1, 2, 0.5, 1, 4, 1, 0.25, 0];

test('statistics', () => {
  const model = new LinearRegression({keep_state: true}).fit(X, y, weights);
  const statistics = LinearRegression.from_bytes(model.to_bytes()).get_statistics();
  assertEqual([statistics.n_samples, statistics.df_model, statistics.df_residual], [7, 2, 4]);
  assertEqual(statistics.terms, ['(Intercept)', 'x0', 'x1']);
  const expected = {
    standard_errors: [0.5068798949938771, 0.20721955158395594, 0.11827714719471975],
    p_values: [0.0522192903118566, 0.00041521329009037414, 0.007845901326040053],
  };
  for (const [name, values] of Object.entries(expected))
    values.forEach((value, i) => assertClose(statistics[name][i], value, 1e-11));
  assertClose(statistics.r_squared, 0.9765136693143357, 1e-13);
  assertTrue(statistics.coefficients instanceof Float64Array);
  assertEqual(statistics.covariance.length, 3);
  assertClose(Math.sqrt(statistics.covariance[1][1]), statistics.standard_errors[1], 1e-14);
  assertTrue(Number.isNaN(statistics.variance_inflation[0]));
});

test('a list of terms', () => {
  const statistics = new LinearRegression().fit(X, y, weights).get_statistics();
  assertEqual(statistics.get_n_items(), 3);
  const term = statistics.get_item(1);
  assertTrue(term instanceof Apr.Term);
  assertEqual(term.name, 'x0');
  assertClose(term.standard_error, 0.20721955158395594, 1e-12);
  assertClose((term.lower + term.upper) / 2, term.estimate, 1e-12);
  assertTrue(statistics.condition_number > 1);
  assertTrue(statistics.prediction_rounding > 0 && statistics.prediction_rounding < 1e-14);
  assertEqual(Array.from(statistics, ({name}) => name), ['(Intercept)', 'x0', 'x1']);
});

test('an empty object says so', () => {
  const statistics = new Apr.RegressionStatistics();
  assertEqual(statistics.to_string(), 'no statistics: they come from a fitted model\n');
  assertEqual(statistics.terms, []);
  assertTrue(Number.isNaN(statistics.r_squared));
  assertEqual(statistics.coefficients.length, 0);
  assertEqual(statistics.get_confidence_intervals(0.95).length, 0);
});

test('intervals', () => {
  const model = new LinearRegression().fit(X, y);
  const [lower, upper] = model.predict_interval(X);
  const [near] = model.predict_interval(X, 0.95, Apr.IntervalKind.CONFIDENCE);
  const predictions = model.predict(X);
  for (let i = 0; i < X.length; i++) {
    assertClose((lower[i] + upper[i]) / 2, predictions[i], 1e-12);
    assertTrue(lower[i] < near[i] && near[i] < predictions[i]);
  }

  const intervals = model.get_statistics().get_confidence_intervals();
  assertEqual(intervals.map(interval => interval.length), [2, 2, 2]);
  assertThrows(() => model.predict_interval(X, 2), Apr.Error, Apr.Error.RANGE, '2');
});

test('text', () => {
  const model = new LinearRegression().fit(X, y);
  model.set_feature_names(['length', 'width']);
  assertTrue(model.summary().includes('length'));
  assertEqual(`${model.get_statistics()}`, model.summary());
});

test('errors', () => {
  const model = new LinearRegression();
  assertThrows(() => model.get_statistics(), Apr.Error, Apr.Error.NOT_FITTED);
  model.fit(X, y);
  assertThrows(() => model.get_statistics(1), Apr.Error, Apr.Error.RANGE, 'target 1');
  // GJS would make the target 0 of a string.
  for (const target of ['x', -1, 1.5, null]) {
    for (const call of [() => model.get_statistics(target), () => model.get_statistics_async(target),
      () => model.diagnose(X, y, null, target), () => model.get_robust_statistics(X, y, null, 'hc3', target)])
      assertThrows(call, TypeError, null, 'The target must be a whole number from 0 on');
  }
  const loaded = LinearRegression.from_bytes(model.to_bytes());
  assertThrows(() => loaded.summary(), Apr.Error, Apr.Error.STATE, 'keep-state');
});

test('targets-by-name', async () => {
  const targets = [[1, 6], [3, 2], [2, 3], [6, 1]];
  const features = [[1], [2], [3], [5]];
  const model = new LinearRegression().fit(features, targets);
  assertThrows(() => model.get_statistics('rent'), TypeError, null, 'not the string “rent”');
  model.target_names = ['price', 'rent'];
  const expected = new LinearRegression().fit(features, targets.map(row => row[1]));
  const rSquared = expected.get_statistics().get_r_squared();
  assertEqual(model.get_statistics('rent').get_r_squared(), rSquared);
  assertEqual((await model.get_statistics_async('rent')).get_r_squared(), rSquared);
  const fitted = expected.diagnose(features, targets.map(row => row[1])).fitted_values;
  assertEqual(model.diagnose(features, targets, null, 'rent').fitted_values, fitted);
  assertEqual((await model.diagnose_async(features, targets, null, 'rent')).fitted_values, fitted);
  assertEqual(model.get_robust_statistics(features, targets, null, 'hc3', 'rent').get_r_squared(), rSquared);
  assertEqual((await model.get_robust_statistics_async(features, targets, null, 'hc3', 'rent')).get_r_squared(), rSquared);
  for (const call of [() => model.get_statistics('town'), () => model.diagnose(features, targets, null, 'town')])
    assertThrows(call, Apr.Error, Apr.Error.RANGE, 'The model has no target “town”, but “price”, “rent”');
  assertThrows(() => new LinearRegression().get_statistics('rent'), TypeError, null, 'not the string “rent”');
});

test('levels', async () => {
  const model = new LinearRegression().fit([[1], [2], [3], [5]], [1, 3, 2, 6]);
  assertThrows(() => model.predict_interval([[1]], '0.9'), TypeError, null, 'level must be a number, not the string “0.9”');
  assertThrows(() => model.predict_interval([[1]], new Gio.Cancellable()), TypeError, null, 'level must be a number');
  assertThrows(() => model.get_statistics().get_confidence_intervals('0.9'), TypeError, null, 'level must be a number');
  await assertRejects(model.predict_interval_async([[1]], '0.9'), TypeError, null, 'level must be a number');
});

await run();
