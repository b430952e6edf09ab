/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// Apr.CrossProducts.

const {GLib} = imports.gi;

const PRIORITY = GLib.PRIORITY_DEFAULT;

function extend(Apr, functions) {
  const {CrossProducts} = Apr;
  const {convertArgument, convertProperties, count, defineNames, defineGetter, letOmitCancellable, promisify,
    promisifySimple, readCount, readEnum, toTensor, toWeights, updateInSlices} = functions;

  const readPrecision = precision => readEnum(Apr.Precision, precision, 'precision');
  convertProperties(CrossProducts, {n_features: readCount, n_targets: readCount, n_threads: readCount, precision: readPrecision});
  convertArgument(CrossProducts, 'new_with_precision', 2, readPrecision);

  const {update} = CrossProducts.prototype;
  CrossProducts.prototype.update = function (X, y, sampleWeight = null, cancellable = null) {
    update.call(this, toTensor(X, 'X'), toTensor(y, 'y'), toWeights(sampleWeight), cancellable);
    return this;
  };

  for (const name of ['merge', 'merge_bytes', 'subtract']) {
    const method = CrossProducts.prototype[name];
    CrossProducts.prototype[name] = function (other) {
      method.call(this, other);
      return this;
    };
  }

  for (const name of ['merge', 'merge_bytes', 'subtract']) {
    const method = promisify(CrossProducts.prototype, name);
    CrossProducts.prototype[`${name}_async`] = async function (other, cancellable = null) {
      await method.call(this, other, PRIORITY, cancellable);
      return this;
    };
  }

  letOmitCancellable(CrossProducts, 'load_from_file', 1);
  letOmitCancellable(CrossProducts.prototype, 'save_to_file', 1);
  for (const name of ['load_from_file', 'from_bytes'])
    promisifySimple(CrossProducts, name, 1);
  for (const [name, nArguments] of [['equal', 1], ['save_to_file', 1], ['to_bytes', 0]])
    promisifySimple(CrossProducts.prototype, name, nArguments);

  const updateAsync = promisify(CrossProducts.prototype, 'update');
  CrossProducts.prototype.update_async = function (X, y, sampleWeight = null, cancellable = null) {
    return updateInSlices(this, X, y, sampleWeight, cancellable,
      tensors => updateAsync.call(this, ...tensors, PRIORITY, cancellable));
  };

  // They take an address of memory, which nothing in JavaScript has.
  for (const name of ['update_arrow', 'update_arrow_async', 'update_arrow_finish'])
    CrossProducts.prototype[name] = undefined;

  defineNames(CrossProducts.prototype, 'feature_names');
  defineNames(CrossProducts.prototype, 'target_names');
  for (const name of ['n_features', 'n_targets', 'n_samples']) {
    defineGetter(CrossProducts.prototype, name, function () {
      return this[`get_${name}`]();
    });
  }

  CrossProducts.prototype.toString = function () {
    return `[Apr.CrossProducts: ${count(this.n_samples, 'sample')}, ${count(this.n_features, 'feature')}, ` +
      `${count(this.n_targets, 'target')}]`;
  };
}
