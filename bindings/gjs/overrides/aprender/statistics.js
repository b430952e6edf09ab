/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// What a regression says of itself: Apr.RegressionStatistics, Apr.HypothesisTest and Apr.RegressionDiagnostics.

const {GLib} = imports.gi;

// What diagnostics have of each sample.
const DIAGNOSTICS = ['fitted_values', 'residuals', 'leverages', 'standardized_residuals', 'studentized_residuals',
  'cooks_distances'];
const PRIORITY = GLib.PRIORITY_DEFAULT;

function extend(Apr, functions) {
  const {HypothesisTest, RegressionDiagnostics, RegressionStatistics} = Apr;
  const {count, defineGetter, fromTensor, promisify, readNumber, toTensor} = functions;

  for (const name of DIAGNOSTICS) {
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

  // Factors, or a text such as 'x1 = x2', or some of them, which have their values in them.
  function toHypothesis(statistics, factors, values) {
    if (Array.isArray(factors) && factors.length > 0 && factors.every(text => typeof text === 'string'))
      factors = factors.join(', ');
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

  for (const type of [RegressionStatistics, HypothesisTest]) {
    const getConfidenceIntervals = type.prototype.get_confidence_intervals;
    type.prototype.get_confidence_intervals = function (level = 0.95) {
      return fromTensor(getConfidenceIntervals.call(this, readNumber(level, 'level')));
    };
  }

  // As Python shows them.
  const show = (number, digits = 6) => String(Number(number.toPrecision(digits)));
  Apr.Term.prototype.toString = function () {
    return `${this.name}: ${show(this.estimate)}, std. error ${show(this.standard_error)}, t = ${show(this.t_value, 4)}, ` +
      `p = ${show(this.p_value, 3)}`;
  };
  HypothesisTest.prototype.toString = function () {
    return `F = ${show(this.f_statistic)} with ${this.df_hypothesis} and ${this.df_residual} degrees of freedom, ` +
      `p = ${show(this.f_p_value, 3)}`;
  };
  RegressionDiagnostics.prototype.toString = function () {
    return `${count(this.residuals.length, 'sample')}, Durbin-Watson ${show(this.durbin_watson)}: ${DIAGNOSTICS.join(', ')}`;
  };

  RegressionStatistics.prototype.toString = RegressionStatistics.prototype.to_string;
  RegressionStatistics.prototype[Symbol.iterator] = function * () {
    for (let i = 0; i < this.get_n_items(); i++)
      yield this.get_item(i);
  };
}
