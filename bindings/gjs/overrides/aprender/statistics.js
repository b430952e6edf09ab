/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// What a regression says of itself: Apr.RegressionStatistics, Apr.HypothesisTest and Apr.RegressionDiagnostics.

const {GLib} = imports.gi;

const PRIORITY = GLib.PRIORITY_DEFAULT;

function extend(Apr, functions) {
  const {HypothesisTest, RegressionDiagnostics, RegressionStatistics} = Apr;
  const {defineGetter, fromTensor, promisify, toTensor} = functions;

  for (const name of ['fitted_values', 'residuals', 'leverages', 'standardized_residuals', 'studentized_residuals',
    'cooks_distances']) {
    defineGetter(RegressionDiagnostics.prototype, name, function () {
      return fromTensor(this[`get_${name}`]());
    });
  }

  for (const name of ['coefficients', 'minimum_norm', 'standard_errors', 't_values', 'p_values',
    'variance_inflation', 'covariance']) {
    defineGetter(RegressionStatistics.prototype, name, function () {
      return fromTensor(this[`get_${name}`]());
    });
  }

  // Factors, or a text such as 'x1 = x2', which has its values in it.
  function toHypothesis(statistics, factors, values) {
    if (typeof factors !== 'string')
      return [toTensor(factors, 'factors'), values === null ? null : toTensor(values, 'values')];
    if (values !== null)
      throw new TypeError('Where the hypotheses are a text, their values are in it');
    return statistics.parse_hypothesis(factors);
  }

  const parseHypothesis = RegressionStatistics.prototype.parse_hypothesis;
  RegressionStatistics.prototype.parse_hypothesis = function (text) {
    return parseHypothesis.call(this, text).slice(-2);
  };
  const testHypothesis = RegressionStatistics.prototype.test_hypothesis;
  RegressionStatistics.prototype.test_hypothesis = function (factors, values = null) {
    return testHypothesis.call(this, ...toHypothesis(this, factors, values));
  };
  const testHypothesisAsync = promisify(RegressionStatistics.prototype, 'test_hypothesis');
  RegressionStatistics.prototype.test_hypothesis_async = async function (factors, values = null, cancellable = null) {
    return testHypothesisAsync.call(this, ...toHypothesis(this, factors, values), PRIORITY, cancellable);
  };
  for (const name of ['estimates', 'standard_errors', 't_values', 'p_values']) {
    defineGetter(HypothesisTest.prototype, name, function () {
      return fromTensor(this[`get_${name}`]());
    });
  }

  const getConfidenceIntervals = RegressionStatistics.prototype.get_confidence_intervals;
  RegressionStatistics.prototype.get_confidence_intervals = function (level = 0.95) {
    return fromTensor(getConfidenceIntervals.call(this, level));
  };

  RegressionStatistics.prototype.toString = RegressionStatistics.prototype.to_string;
  RegressionStatistics.prototype[Symbol.iterator] = function * () {
    for (let i = 0; i < this.get_n_items(); i++)
      yield this.get_item(i);
  };
}
