/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// Apr.Estimator.

const {GLib, GObject} = imports.gi;

const PRIORITY = GLib.PRIORITY_DEFAULT;

function extend(Apr, functions) {
  const {DType, Estimator, LinearRegression} = Apr;
  const {count, defineNames, isHyperParameter, letOmitCancellable, promisify, promisifySimple, toShapedArray, toTensor,
    toTensorInSlices, toTensorsInSlices, toWeights, updateInSlices} = functions;

  function showValue(value, pspec) {
    if (pspec.value_type === DType.$gtype)
      return `Apr.DType.${Object.keys(DType).find(name => DType[name] === value)}`;
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  }

  Estimator.prototype.toString = function () {
    const values = GObject.Object.list_properties.call(this.constructor)
      .filter(pspec => isHyperParameter(pspec) && this[pspec.name] !== pspec.get_default_value())
      .map(pspec => `${pspec.name.replace(/-/g, '_')}: ${showValue(this[pspec.name], pspec)}`)
      .sort();
    let text = `new ${this.constructor.name.replace(/^Apr_/, 'Apr.')}`;

    text += values.length > 0 ? `({${values.join(', ')}})` : '()';
    if (this.fitted)
      text += `, fitted: ${count(this.n_features, 'feature')}`;
    if (this.fitted && this.n_targets !== 1)
      text += `, ${count(this.n_targets, 'target')}`;
    return text;
  };

  for (const name of ['feature_names', 'target_names'])
    defineNames(Estimator.prototype, name);

  const {clone, fit, predict, score, set_result: setResult} = Estimator.prototype;

  Estimator.prototype.clone = function () {
    const made = clone.call(this);
    if (made === null)
      throw new TypeError(`No ${this.constructor.$gtype.name} can be cloned: its constructor must do without arguments, and not fail`);
    return made;
  };

  Estimator.prototype.set_result = function (name, result) {
    return setResult.call(this, name, toTensor(result, `The result “${name}”`));
  };

  Estimator.prototype.fit = function (X, y, sampleWeight = null, cancellable = null) {
    fit.call(this, toTensor(X, 'X'), toTensor(y, 'y'), toWeights(sampleWeight), cancellable);
    return this;
  };

  const fitAsync = promisify(Estimator.prototype, 'fit');
  Estimator.prototype.fit_async = function (X, y, sampleWeight = null, cancellable = null) {
    return updateInSlices(this, X, y, sampleWeight, cancellable,
      tensors => fitAsync.call(this, ...tensors, PRIORITY, cancellable));
  };

  const predictAsync = promisify(Estimator.prototype, 'predict');
  Estimator.prototype.predict_async = async function (X, cancellable = null) {
    const tensor = await toTensorInSlices(X, 'X', cancellable);
    return toShapedArray(await predictAsync.call(this, tensor, PRIORITY, cancellable),
      this.constructor === LinearRegression);
  };

  const scoreAsync = promisify(Estimator.prototype, 'score');
  Estimator.prototype.score_async = async function (X, y, sampleWeight = null, cancellable = null) {
    const tensors = await toTensorsInSlices(X, y, sampleWeight, cancellable);
    return scoreAsync.call(this, ...tensors, PRIORITY, cancellable);
  };

  letOmitCancellable(Estimator.prototype, 'save_to_file', 1);
  promisifySimple(Estimator.prototype, 'save_to_file', 1);
  promisifySimple(Estimator.prototype, 'to_bytes', 0);

  const loadModel = Estimator.load_from_file;
  Estimator.load_from_file = function (file, cancellable = null) {
    return loadModel(this, file, cancellable);
  };

  for (const name of ['load_from_file', 'from_bytes']) {
    const createAsync = promisify(Estimator, name);
    Estimator[`${name}_async`] = function (source, cancellable = null) {
      return createAsync.call(Estimator, this, source, PRIORITY, cancellable);
    };
  }

  Estimator.prototype.predict = function (X) {
    // A class of a script may return a tensor that it keeps.
    return toShapedArray(predict.call(this, toTensor(X, 'X')), this.constructor === LinearRegression);
  };

  Estimator.prototype.score = function (X, y, sampleWeight = null) {
    return score.call(this, toTensor(X, 'X'), toTensor(y, 'y'), toWeights(sampleWeight));
  };

  // What a function of a class that is written in JavaScript returns. GJS would take a promise for true.
  function readReturned(object, name, value) {
    const type = object.constructor;
    if (value instanceof Promise)
      throw new TypeError(`${name} of ${type.$gtype.name} returned a promise: it must end before it returns`);
    if (name !== 'predict')
      return value;
    if (value === undefined || value === null)
      throw new GLib.Error(Apr.Error, Apr.Error.FAILED, `${name} of ${type.$gtype.name} failed without giving a reason`);
    return toTensor(value, `What ${type.name} predicts`);
  }

  const {_classInit: initClass} = Estimator;
  Estimator._classInit = function (type) {
    for (const name of ['fit', 'predict', 'save_tensors', 'load_tensors']) {
      const key = `vfunc_${name}`;
      if (!Object.hasOwn(type.prototype, key))
        continue;
      const method = type.prototype[key];
      type.prototype[key] = function (...args) {
        return readReturned(this, name, method.apply(this, args));
      };
    }
    return initClass.call(this, type);
  };

  // A class that is written in JavaScript inherits these: Model.load(path) returns a Model.
  for (const name of ['load', 'from_bytes']) {
    const create = Estimator[name];
    Estimator[name] = function (...args) {
      return args.length > 1 ? create(...args) : create(this, ...args);
    };
  }
}
