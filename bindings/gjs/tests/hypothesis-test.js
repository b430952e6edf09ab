/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';

import {assertClose, assertEqual, assertThrows, assertTrue, run, test} from './tap.js';

// y = 1 + 2 x, the residuals 2, -2, -2, 2, 0, σ² = 16 / 3, and the inverse of Z'Z is [30 -10; -10 5] / 50.
const X = [[0], [1], [2], [3], [4]];
const y = [3, 1, 3, 9, 9];

test('one-and-several-hypotheses', () => {
  const statistics = new Apr.LinearRegression().fit(X, y).get_statistics();
  const one = statistics.test_hypothesis([1, 1], [2]);
  assertTrue(one.t_values instanceof Float64Array);
  assertClose(one.estimates[0], 3, 1e-14);
  assertClose(one.standard_errors[0], Math.sqrt(1.6), 1e-14);
  assertClose(one.t_values[0], 1 / Math.sqrt(1.6), 1e-14);
  assertClose(one.f_statistic, 1 / 1.6, 1e-14);
  assertClose(one.p_values[0], one.f_p_value, 1e-13);
  // With 3 degrees of freedom, t is between -√3 and √3 with the probability 1/2 + 1/π, and R's qt (0.975, 3) is 3.182446.
  assertClose(one.get_confidence_intervals(0.5 + 1 / Math.PI)[0][1], 3 + Math.sqrt(3 * 1.6), 1e-13);
  assertClose(one.get_confidence_intervals()[0][0], 3 - 3.182446 * Math.sqrt(1.6), 1e-6);

  const several = statistics.test_hypothesis([[1, 0], [1, 1]], [0, 2]);
  assertClose(several.f_statistic, 15 / 32, 1e-13);
  assertEqual([several.df_hypothesis, several.df_residual].join(), '2,3');
  assertThrows(() => statistics.test_hypothesis([1, 2, 3]), Apr.Error, Apr.Error.SHAPE, '[3]');
});

test('hypotheses-as-text', async () => {
  const statistics = new Apr.LinearRegression().fit(X, y).get_statistics();
  const expected = statistics.test_hypothesis([[1, 0], [1, 1]], [0, 2]);
  const text = '(Intercept) = 0, (Intercept) + x0 = 2';
  assertEqual(statistics.test_hypothesis(text).t_values.join(), expected.t_values.join());
  assertEqual(statistics.test_hypothesis(text.split(', ')).t_values.join(), expected.t_values.join());
  assertEqual((await statistics.test_hypothesis_async(text)).f_statistic, expected.f_statistic);
  const [factors, values] = statistics.parse_hypothesis(text);
  assertEqual(factors.to_array(), [[1, 0], [1, 1]]);
  assertEqual(values.to_array(), [0, 2]);
  assertThrows(() => statistics.test_hypothesis('x0 = x7'), Apr.Error, Apr.Error.FEATURE_NAMES, '“x7” at position 5 ');
  assertThrows(() => statistics.test_hypothesis('x0 = 1', [1]), TypeError, null, 'their values are in it');
});

// What Python says of the same: 0.46875 is 15 / 32, and the p-value R's pf (15 / 32, 2, 3, lower.tail = FALSE).
test('text', () => {
  const model = new Apr.LinearRegression().fit(X, y);
  const statistics = model.get_statistics();
  assertEqual(`${statistics.test_hypothesis([[1, 0], [1, 1]], [0, 2])}`,
    'F = 0.46875 with 2 and 3 degrees of freedom, p = 0.665');
  assertEqual(`${statistics.get_item(1)}`, 'x0: 2, std. error 0.730297, t = 2.739, p = 0.0714');
  assertEqual(`${model.diagnose(X, y)}`.split(':')[0], '5 samples, Durbin-Watson 2.25');
});

test('terms-are-iterated', () => {
  const statistics = new Apr.LinearRegression().fit(X, y).get_statistics();
  assertEqual([...statistics].map(term => term.name), ['(Intercept)', 'x0']);
});

// GJS makes 0 of a string, which would be another kind without a word.
test('strings-for-enumerations', async () => {
  const model = new Apr.LinearRegression().fit(X, y);
  const errors = kind => model.get_robust_statistics(X, y, null, kind).standard_errors.join();
  assertEqual(errors('hc1'), errors(Apr.CovarianceKind.HC1));
  assertEqual(errors('HC1'), errors('hc1'));
  assertEqual((await model.get_robust_statistics_async(X, y, null, 'hc0')).standard_errors.join(), errors('hc0'));
  assertThrows(() => errors('hc7'), TypeError, null, 'kind must be one of “classical”, “hc0”');
  assertThrows(() => errors(7), TypeError, null, 'not 7');
  const ends = kind => model.predict_interval(X, 0.9, kind)[0].join();
  assertEqual(ends('confidence'), ends(Apr.IntervalKind.CONFIDENCE));
  assertEqual((await model.predict_interval_async(X, 0.9, 'confidence'))[0].join(), ends('confidence'));
  assertThrows(() => ends('other'), TypeError, null, 'kind must be one of “prediction”, “confidence”');
  const Y = [[1, 2], [3, 4]];
  assertEqual(Apr.mean_squared_error(Y, [[1, 2], [3, 6]], null, 'raw_values').join(), '0,2');
  assertThrows(() => Apr.mean_squared_error(Y, Y, null, 'raw'), TypeError, null, 'multioutput must be one of');
});

test('nested-models', () => {
  const full = new Apr.LinearRegression().fit(X, y).get_statistics();
  const smaller = new Apr.LinearRegression({fit_intercept: false}).fit(X, y).get_statistics();
  const nested = full.compare(smaller);
  assertEqual(nested.t_values.length, 0);
  assertClose(nested.f_statistic, full.test_hypothesis([1, 0]).f_statistic, 1e-13);
  assertThrows(() => full.compare(full), Apr.Error, Apr.Error.RANGE, 'no part of this one');
});

test('robust-statistics', async () => {
  const model = new Apr.LinearRegression().fit(X, y);
  const statistics = model.get_robust_statistics(X, y, null, Apr.CovarianceKind.HC0);
  // (Z'Z)⁻¹ Σ e² z z' (Z'Z)⁻¹: Σ e² z z' = 4 [4 6; 6 14], and the row of the slope is [-10 5] / 50.
  assertClose(statistics.standard_errors[1], Math.sqrt(4 * (4 * 100 - 6 * 100 + 14 * 25)) / 50, 1e-14);
  assertEqual(statistics.covariance_kind, Apr.CovarianceKind.HC0);
  const awaited = await model.get_robust_statistics_async(X, y);
  assertEqual(awaited.standard_errors.join(), model.get_robust_statistics(X, y).standard_errors.join());
  const diagnostics = await model.diagnose_async(X, y);
  assertClose(diagnostics.leverages[0], 0.6, 1e-14);
});

await run();
