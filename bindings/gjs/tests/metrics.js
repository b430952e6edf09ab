/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import Gio from 'gi://Gio';

import {assertClose, assertEqual, assertRejects, assertThrows, run, test} from './tap.js';

test('r2-score', () => {
  // The mean is 2.875; the sums of squares are 1.5 and 29.1875.
  assertClose(Apr.r2_score([3, -0.5, 2, 7], [2.5, 0, 2, 8]), 443 / 467, 2e-16);
  assertEqual(Apr.r2_score([1, 2, 3], [1, 2, 3]), 1);
  assertEqual(Apr.r2_score([1, 2, 3], [2, 2, 2]), 0);
  assertEqual(Apr.r2_score([1, 2, 3], [3, 2, 1]), -3);
});

test('r2-score-of-constant-targets', () => {
  assertEqual(Apr.r2_score([5, 5], [5, 5]), 1);
  assertEqual(Apr.r2_score([5, 5], [5, 6]), 0);
});

test('r2-score-with-weights', () => {
  // Without the last sample, which has no weight, the predictions are perfect.
  assertEqual(Apr.r2_score([1, 2, 3], [1, 2, 9], [1, 1, 0]), 1);
  // The same as the first sample three times: mean 1.5, 1 - 3 * 0.25 / 3.
  assertEqual(Apr.r2_score([1, 3], [1.5, 3], Int32Array.of(3, 1)), 0.75);
  assertEqual(Apr.r2_score([1, 2, 3], [2, 2, 2], null), 0);
  assertEqual(Apr.r2_score([1, 2, 3], [2, 2, 2], undefined), 0);
});

test('r2-score-of-several-targets', () => {
  const predictions = [Float64Array.of(1, 2), Float64Array.of(2, 2), Float64Array.of(3, 2)];
  assertEqual(Apr.r2_score([[1, 1], [2, 2], [3, 3]], predictions), 0.5);
});

test('r2-score-of-whole-numbers', () => {
  assertEqual(Apr.r2_score(Int32Array.of(1, 2, 3), Uint8Array.of(3, 2, 1)), -3);
  assertEqual(Apr.r2_score(BigInt64Array.of(1n, 2n, 3n), Float32Array.of(3, 2, 1)), -3);
});

test('each-target', () => {
  const [yTrue, yPred] = [[[1, 10], [2, 20], [3, 60]], [[1, 20], [2, 20], [4, 60]]];
  const {RAW_VALUES, VARIANCE_WEIGHTED} = Apr.Multioutput;
  const scores = Apr.r2_score(yTrue, yPred, null, RAW_VALUES);
  assertEqual(scores.join(), '0.5,0.9285714285714286');
  // The variances are 2 and 1400 by 3.
  assertClose(Apr.r2_score(yTrue, yPred, null, VARIANCE_WEIGHTED), (0.5 * 2 + 1300) / 1402, 1e-15);
  assertEqual(Apr.median_absolute_error(yTrue, yPred, null, RAW_VALUES).join(), '0,0');
  assertClose(Apr.mean_absolute_percentage_error(yTrue, yPred), (1 / 9 + 1 / 3) / 2, 1e-15);
  assertEqual(Apr.compute_metric(Apr.Metric.MEAN_ABSOLUTE_ERROR, VARIANCE_WEIGHTED, [1, 2], [1, 4])[0], 1);
});

test('without-blocking', async () => {
  const [yTrue, yPred] = [[[1, 10], [2, 20], [3, 60]], [[1, 20], [2, 20], [4, 60]]];
  const cancellable = new Gio.Cancellable();
  cancellable.cancel();

  assertEqual((await Apr.compute_metric_async('r2', 'raw_values', yTrue, yPred)).join(), '0.5,0.9285714285714286');
  await assertRejects(Apr.compute_metric_async('r2', 'raw_values', [1, 2], [1, 2, 3]), Apr.Error, Apr.Error.SHAPE);
  await assertRejects(Apr.compute_metric_async('r2', 'raw_values', [1, 2], [1, 2], null, cancellable),
    Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED);
});

test('errors-of-predictions', () => {
  const [yTrue, yPred] = [[3, -0.5, 2, 7], Float32Array.of(2.5, 0, 2, 8)];

  assertEqual(Apr.mean_squared_error(yTrue, yPred), 0.375);
  assertEqual(Apr.root_mean_squared_error(yTrue, yPred), Math.sqrt(0.375));
  assertEqual(Apr.mean_absolute_error(yTrue, yPred), 0.5);
  assertEqual(Apr.mean_absolute_error(yTrue, yPred, [0, 0, 1, 1]), 0.5);
  assertEqual(Apr.max_error(yTrue, yPred), 1);
  // The errors 0.5, -0.5, 0, -1 have the mean -0.25 and the squares' sum 1.25 from it.
  assertClose(Apr.explained_variance_score(yTrue, yPred), 1 - 1.25 / 29.1875, 2e-16);
  assertEqual(Apr.explained_variance_score([1, 2, 3], [2, 3, 4]), 1);
});

test('errors', () => {
  const score = (...args) => () => Apr.r2_score(...args);

  assertThrows(score([1, 2], [1, 2, 3]), Apr.Error, Apr.Error.SHAPE, '[2]');
  assertThrows(score([], []), Apr.Error, Apr.Error.EMPTY);
  assertThrows(score([1, NaN], [1, 2]), Apr.Error, Apr.Error.NOT_FINITE, 'y_true has a NaN at row 1');
  assertThrows(score([1, 2], [1, 2], [1, -1]), Apr.Error, Apr.Error.WEIGHTS, 'row 1');
  assertThrows(score([1, 2], [1, 2], [0, 0]), Apr.Error, Apr.Error.WEIGHTS);
  assertThrows(score([1, null], [1, 2]), TypeError, null, 'y_true has null at row 1');
  assertThrows(score([1, 2], [1, '2']), TypeError, null, 'y_pred has the string “2” at row 1');
  assertThrows(score([1, 2], [1, 2], [1, undefined]), TypeError, null,
    'sample_weight has undefined at row 1');
});

await run();
