/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// Apr.LinearRegression.

const {GLib} = imports.gi;

const PRIORITY = GLib.PRIORITY_DEFAULT;

function extend(Apr, functions) {
  const {Estimator, LinearRegression} = Apr;
  const {defineGetter, describe, findShape, flatten, isList, isTypedArray, promisify, toEnum, toShapedArray,
    toTensor, toTensorInSlices, toTensorsInSlices, toWeights} = functions;

  // The typed constructors make no subclass.
  for (const name of ['load', 'from_bytes']) {
    const create = LinearRegression[name];
    LinearRegression[name] = function (source) {
      return this === LinearRegression ? create.call(this, source) : Estimator[name].call(this, source);
    };
  }

  for (const name of ['coefficients', 'intercept']) {
    defineGetter(LinearRegression.prototype, name, function () {
      return toShapedArray(this[`get_${name}`]());
    });
  }

  const partialFit = LinearRegression.prototype.partial_fit;
  LinearRegression.prototype.partial_fit = function (X, y, sampleWeight = null, cancellable = null) {
    partialFit.call(this, toTensor(X, 'X'), toTensor(y, 'y'), toWeights(sampleWeight), cancellable);
    return this;
  };

  const partialFitAsync = promisify(LinearRegression.prototype, 'partial_fit');
  LinearRegression.prototype.partial_fit_async = async function (X, y, sampleWeight = null, cancellable = null,
    ...rest) {
    const tensors = await toTensorsInSlices(X, y, sampleWeight, cancellable);
    // The rest is an optional callback.
    await partialFitAsync.call(this, ...tensors, PRIORITY, cancellable, ...rest);
    return this;
  };

  const fitCrossProducts = LinearRegression.prototype.fit_cross_products;
  LinearRegression.prototype.fit_cross_products = function (state) {
    fitCrossProducts.call(this, state);
    return this;
  };

  const fitCrossProductsAsync = promisify(LinearRegression.prototype, 'fit_cross_products');
  LinearRegression.prototype.fit_cross_products_async = async function (state, cancellable = null) {
    await fitCrossProductsAsync.call(this, state, PRIORITY, cancellable);
    return this;
  };

  const scoreCrossProductsAsync = promisify(LinearRegression.prototype, 'score_cross_products');
  LinearRegression.prototype.score_cross_products_async = function (state, cancellable = null) {
    return scoreCrossProductsAsync.call(this, state, PRIORITY, cancellable);
  };

  const {predict_one: predictOne} = LinearRegression.prototype;
  LinearRegression.prototype.predict_one = function (x) {
    const shape = isList(x) ? findShape(x, 'x') : [];
    if (shape.length !== 1)
      throw new TypeError(`x must be the features of one sample in an array, not ${describe(x)}`);
    return predictOne.call(this, isTypedArray(x) ? Array.from(x, Number) : flatten(x, shape, 'x'));
  };

  const getStatistics = LinearRegression.prototype.get_statistics;
  LinearRegression.prototype.get_statistics = function (target = 0) {
    return getStatistics.call(this, target);
  };

  const getStatisticsAsync = promisify(LinearRegression.prototype, 'get_statistics');
  LinearRegression.prototype.get_statistics_async = function (target = 0, cancellable = null) {
    return getStatisticsAsync.call(this, target, PRIORITY, cancellable);
  };

  const computeConditionNumberAsync = promisify(LinearRegression.prototype, 'compute_condition_number');
  LinearRegression.prototype.compute_condition_number_async = function (cancellable = null) {
    return computeConditionNumberAsync.call(this, PRIORITY, cancellable);
  };

  const predictIntervalAsync = promisify(LinearRegression.prototype, 'predict_interval');
  LinearRegression.prototype.predict_interval_async = async function (X, level = 0.95,
    kind = Apr.IntervalKind.PREDICTION, cancellable = null) {
    const type = toEnum(Apr.IntervalKind, kind, 'kind');
    const tensor = await toTensorInSlices(X, 'X', cancellable);
    const ends = await predictIntervalAsync.call(this, tensor, level, type, PRIORITY, cancellable);
    // GJS leaves out what the function returns, or not.
    return ends.slice(-2).map(end => toShapedArray(end, true));
  };

  const predictInterval = LinearRegression.prototype.predict_interval;
  LinearRegression.prototype.predict_interval = function (X, level = 0.95, kind = Apr.IntervalKind.PREDICTION) {
    const type = toEnum(Apr.IntervalKind, kind, 'kind');
    const [, lower, upper] = predictInterval.call(this, toTensor(X, 'X'), level, type);
    return [toShapedArray(lower, true), toShapedArray(upper, true)];
  };

  const {diagnose} = LinearRegression.prototype;
  LinearRegression.prototype.diagnose = function (X, y, sampleWeight = null, target = 0, cancellable = null) {
    return diagnose.call(this, toTensor(X, 'X'), toTensor(y, 'y'), toWeights(sampleWeight), target, cancellable);
  };

  const diagnoseAsync = promisify(LinearRegression.prototype, 'diagnose');
  LinearRegression.prototype.diagnose_async = async function (X, y, sampleWeight = null, target = 0,
    cancellable = null) {
    const tensors = await toTensorsInSlices(X, y, sampleWeight, cancellable);
    return diagnoseAsync.call(this, ...tensors, target, PRIORITY, cancellable);
  };

  const getRobustStatistics = LinearRegression.prototype.get_robust_statistics;
  LinearRegression.prototype.get_robust_statistics = function (X, y, sampleWeight = null,
    kind = Apr.CovarianceKind.HC3, target = 0, cancellable = null) {
    return getRobustStatistics.call(this, toTensor(X, 'X'), toTensor(y, 'y'), toWeights(sampleWeight),
      toEnum(Apr.CovarianceKind, kind, 'kind'), target, cancellable);
  };

  const getRobustStatisticsAsync = promisify(LinearRegression.prototype, 'get_robust_statistics');
  LinearRegression.prototype.get_robust_statistics_async = async function (X, y, sampleWeight = null,
    kind = Apr.CovarianceKind.HC3, target = 0, cancellable = null) {
    const type = toEnum(Apr.CovarianceKind, kind, 'kind');
    const tensors = await toTensorsInSlices(X, y, sampleWeight, cancellable);
    return getRobustStatisticsAsync.call(this, ...tensors, type, target, PRIORITY, cancellable);
  };
}
