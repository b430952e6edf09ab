/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// Apr.LinearRegression.

const {GLib} = imports.gi;

const PRIORITY = GLib.PRIORITY_DEFAULT;

function extend(Apr, functions) {
  const {Estimator, LinearRegression} = Apr;
  const {convertArgument, convertProperties, defineGetter, describe, findShape, flatten, isList, isTypedArray,
    promisify, promisifySimple, readBoolean, readCount, readEnum, readNumber, toEnum, toShapedArray, toTensor,
    toTensorInSlices, toTensorsInSlices, toWeights, updateInSlices} = functions;

  function readAlpha(value, what) {
    if (isList(value))
      throw new TypeError('alpha must be a number, not an array; alphas has one for each target');
    return readNumber(value, what);
  }

  convertProperties(LinearRegression, {
    alpha: readAlpha,
    alphas: alphas => alphas === null ? null : toTensor(alphas, 'alphas'),
    dtype: dtype => readEnum(Apr.DType, dtype, 'dtype', ['NONE', 'F32', 'F64']),
    fit_intercept: readBoolean,
    keep_state: readBoolean,
    n_threads: readCount,
    positive: readBoolean,
    precision: precision => readEnum(Apr.Precision, precision, 'precision'),
  });

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
  LinearRegression.prototype.partial_fit_async = function (X, y, sampleWeight = null, cancellable = null) {
    return updateInSlices(this, X, y, sampleWeight, cancellable,
      tensors => partialFitAsync.call(this, ...tensors, PRIORITY, cancellable));
  };

  const fitCrossProducts = LinearRegression.prototype.fit_cross_products;
  LinearRegression.prototype.fit_cross_products = function (state, cancellable = null) {
    fitCrossProducts.call(this, state, cancellable);
    return this;
  };

  const fitCrossProductsAsync = promisify(LinearRegression.prototype, 'fit_cross_products');
  LinearRegression.prototype.fit_cross_products_async = async function (state, cancellable = null) {
    await fitCrossProductsAsync.call(this, state, PRIORITY, cancellable);
    return this;
  };

  const scoreCrossProductsAsync = promisify(LinearRegression.prototype, 'score_cross_products');
  LinearRegression.prototype.score_cross_products_async = async function (state, cancellable = null) {
    return toShapedArray(await scoreCrossProductsAsync.call(this, state, PRIORITY, cancellable), true);
  };

  const scoreCrossProducts = LinearRegression.prototype.score_cross_products;
  LinearRegression.prototype.score_cross_products = function (state) {
    return toShapedArray(scoreCrossProducts.call(this, state), true);
  };

  // It writes to memory that only C can give it.
  LinearRegression.prototype.predict_into = undefined;

  // A literal object, and what JSON.parse() makes: of no class.
  function isPlainObject(value) {
    if (typeof value !== 'object' || value === null)
      return false;
    const prototype = Object.getPrototypeOf(value);
    return prototype === null || Object.getPrototypeOf(prototype) === null;
  }

  function quote(names) {
    return names.slice(0, 5).map(name => `“${name}”`).join(', ') + (names.length > 5 ? ', …' : '');
  }

  // The numbers of an object {name: number} in the order of the model's features, whatever order they have there.
  function orderByNames(x, names) {
    if (!names?.length) {
      throw new GLib.Error(Apr.Error, Apr.Error.FEATURE_NAMES,
        'x has names, but the features of this model have none: pass an array, or set feature_names');
    }
    const missing = names.filter(name => !Object.hasOwn(x, name));
    const known = new Set(names);
    const unknown = Object.keys(x).filter(name => !known.has(name));
    if (missing.length > 0 || unknown.length > 0) {
      throw new GLib.Error(Apr.Error, Apr.Error.FEATURE_NAMES, 'The names of x are not those that the model was fitted ' +
        `with${missing.length > 0 ? `; missing: ${quote(missing)}` : ''}` +
        `${unknown.length > 0 ? `; too many: ${quote(unknown)}` : ''}`);
    }
    return names.map(name => {
      if (typeof x[name] !== 'number')
        throw new TypeError(`x has ${describe(x[name])} for the feature “${name}”, not a number`);
      return x[name];
    });
  }

  const {predict_one: predictOne} = LinearRegression.prototype;
  LinearRegression.prototype.predict_one = function (x) {
    // The library says that a model is not fitted.
    if (isPlainObject(x))
      return predictOne.call(this, this.fitted ? orderByNames(x, this.get_feature_names()) : []);
    const shape = isList(x) ? findShape(x, 'x') : [];
    if (shape.length !== 1)
      throw new TypeError(`x must be the features of one sample in an array, or an object with their names, not ${describe(x)}`);
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

  for (const name of ['summary', 'compute_condition_number'])
    promisifySimple(LinearRegression.prototype, name, 0);

  const predictIntervalAsync = promisify(LinearRegression.prototype, 'predict_interval');
  LinearRegression.prototype.predict_interval_async = async function (X, level = 0.95,
    kind = Apr.IntervalKind.PREDICTION, cancellable = null) {
    readNumber(level, 'level');
    const type = toEnum(Apr.IntervalKind, kind, 'kind');
    const tensor = await toTensorInSlices(X, 'X', cancellable);
    const ends = await predictIntervalAsync.call(this, tensor, level, type, PRIORITY, cancellable);
    // GJS leaves out what the function returns, or not.
    return ends.slice(-2).map(end => toShapedArray(end, true));
  };

  const predictInterval = LinearRegression.prototype.predict_interval;
  LinearRegression.prototype.predict_interval = function (X, level = 0.95, kind = Apr.IntervalKind.PREDICTION) {
    readNumber(level, 'level');
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

  // The number of a target, whose name may be given. GJS would make 0 of a string.
  function readTarget(target) {
    const names = typeof target === 'string' && this.fitted ? this.get_target_names() : null;
    if (names?.length) {
      if (!names.includes(target))
        throw new GLib.Error(Apr.Error, Apr.Error.RANGE, `The model has no target “${target}”, but ${quote(names)}`);
      return names.indexOf(target);
    }
    if (target !== undefined && (!Number.isSafeInteger(target) || target < 0)) {
      throw new TypeError('The target must be a whole number from 0 on, or a name where targets have names, not ' +
        describe(target));
    }
    return target;
  }

  for (const suffix of ['', '_async']) {
    for (const [name, position] of [['get_statistics', 0], ['diagnose', 3], ['get_robust_statistics', 4]])
      convertArgument(LinearRegression.prototype, `${name}${suffix}`, position, readTarget);
  }
}
