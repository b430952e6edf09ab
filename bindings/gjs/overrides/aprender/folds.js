/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// Cross-validation: Apr.Folds, and what models do with them.

const {GLib} = imports.gi;

const PRIORITY = GLib.PRIORITY_DEFAULT;
// Where folds keep the label of each.
const FOLD_LABELS = Symbol('labels');

function extend(Apr, functions) {
  const {CrossProducts, Estimator, Folds, Metric, Tensor} = Apr;
  const {collectGarbage, count, countGarbage, countTensor, defineGetter, describe, isList, numberLabels, promisify,
    readCount, toEnum, toShapedArray, toTensor, toWeights} = functions;

  // Those of samples have to be made by a function. GJS would take a tensor for an object that sets no property.
  const {_init: init} = Folds.prototype;
  Folds.prototype._init = function (...args) {
    if (args.length > 1 || isList(args[0]) || args[0] instanceof Tensor)
      throw new TypeError('The constructor of Folds takes nothing: write Apr.Folds.new(X, y, sample_weight, n_folds)');
    return init.call(this, ...args);
  };

  // Makes folds of samples, and notes how much they take beside these: the labels, and sums for each fold, about.
  function make(create, X, y, sampleWeight = null, ...args) {
    collectGarbage();
    const x = toTensor(X, 'X');
    const folds = create.call(Folds, x, toTensor(y, 'y'), toWeights(sampleWeight), ...args);
    countTensor(folds.get_labels());
    countGarbage(32 * folds.n_folds * (x.shape[1] + 2) ** 2);
    return folds;
  }

  const {new: create, new_shuffled: createShuffled, new_from_labels: createFromLabels,
    new_from_cross_products: createFromCrossProducts} = Folds;
  Folds.new = (X, y, sampleWeight, nFolds) => make(create, X, y, sampleWeight, readCount(nFolds, 'n_folds'));

  Folds.new_shuffled = (X, y, sampleWeight, nFolds, seed) =>
    make(createShuffled, X, y, sampleWeight, readCount(nFolds, 'n_folds'), readCount(seed, 'seed'));

  Folds.new_from_labels = (X, y, sampleWeight, labels) => {
    const {tensor, values, distinct, nNegative} = numberLabels(labels, 'labels');
    const folds = make(createFromLabels, X, y, sampleWeight, tensor);
    if (values !== undefined) {
      Object.defineProperty(folds, 'labels', {value: values, enumerable: true});
      Object.defineProperty(folds, FOLD_LABELS, {value: distinct.slice(nNegative)});
    }
    return folds;
  };

  Folds.new_from_cross_products = states => {
    if (!Array.isArray(states))
      throw new TypeError(`states must be an array of Apr.CrossProducts, not ${describe(states)}`);
    // C would take null for a state.
    const wrong = states.findIndex(state => !(state instanceof CrossProducts));
    if (wrong >= 0) {
      throw new TypeError(`states has ${describe(states[wrong])} at ${wrong} (counted from 0), ` +
        'not an Apr.CrossProducts');
    }
    return createFromCrossProducts.call(Folds, states);
  };

  defineGetter(Folds.prototype, 'labels', function () {
    return this.get_labels()?.to_typed_array() ?? null;
  });

  Folds.prototype.toString = function () {
    const nSamples = this.get_labels()?.get_n_elements() ?? 0;
    return `[Apr.Folds: ${count(this.n_folds, 'fold')}${nSamples > 0 ? `, ${count(nSamples, 'sample')}` : ''}]`;
  };

  // Says which label a fold has that C knows by its number, where that is not the label.
  function explain(error, folds) {
    const [prefix, fold] = error?.message?.match?.(/^Fold (\d+) \(counted from 0\)(?=: )/) ?? [];
    const label = folds[FOLD_LABELS]?.[fold];
    if (label === undefined || typeof label !== 'string' && Number(label) === Number(fold))
      return error;
    const message = `${prefix}, label ${label}${error.message.slice(prefix.length)}`;
    if (error instanceof GLib.Error)
      return new GLib.Error(error.domain, error.code, message);
    error.message = message;
    return error;
  }

  // GJS would blame another argument, or none.
  function checkFolds(folds) {
    if (!(folds instanceof Folds)) {
      throw new TypeError('folds must be an Apr.Folds, as Apr.Folds.new(X, y, null, 5) makes them, not ' +
        describe(folds));
    }
  }

  function call(folds, compute) {
    try {
      return toShapedArray(compute(), true);
    } catch (error) {
      throw explain(error, folds);
    }
  }

  async function callAsync(folds, compute) {
    try {
      return toShapedArray(await compute(), true);
    } catch (error) {
      throw explain(error, folds);
    }
  }

  const {cross_validate: crossValidate, cross_predict: crossPredict} = Estimator.prototype;
  Estimator.prototype.cross_validate = function (folds, metric = Metric.R2, cancellable = null) {
    checkFolds(folds);
    const type = toEnum(Metric, metric, 'metric');
    return call(folds, () => crossValidate.call(this, folds, type, cancellable));
  };

  Estimator.prototype.cross_predict = function (folds, cancellable = null) {
    checkFolds(folds);
    return call(folds, () => crossPredict.call(this, folds, cancellable));
  };

  const crossValidateAsync = promisify(Estimator.prototype, 'cross_validate');
  Estimator.prototype.cross_validate_async = async function (folds, metric = Metric.R2, cancellable = null) {
    checkFolds(folds);
    const type = toEnum(Metric, metric, 'metric');
    return callAsync(folds, () => crossValidateAsync.call(this, folds, type, PRIORITY, cancellable));
  };

  const crossPredictAsync = promisify(Estimator.prototype, 'cross_predict');
  Estimator.prototype.cross_predict_async = async function (folds, cancellable = null) {
    checkFolds(folds);
    return callAsync(folds, () => crossPredictAsync.call(this, folds, PRIORITY, cancellable));
  };
}
