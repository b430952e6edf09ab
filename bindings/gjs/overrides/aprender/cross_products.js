/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// Apr.CrossProducts.

const {Gio, GLib} = imports.gi;

const PRIORITY = GLib.PRIORITY_DEFAULT;

function extend(Apr, functions) {
  const {CrossProducts} = Apr;
  const {count, defineGetter, toTensor, toTensorsInSlices, toWeights} = functions;

  const {update} = CrossProducts.prototype;
  CrossProducts.prototype.update = function (X, y, sampleWeight = null, cancellable = null) {
    update.call(this, toTensor(X, 'X'), toTensor(y, 'y'), toWeights(sampleWeight), cancellable);
    return this;
  };

  Gio._promisify(CrossProducts, 'load_from_file_async', 'load_from_file_finish');
  for (const name of ['update', 'save_to_file'])
    Gio._promisify(CrossProducts.prototype, `${name}_async`, `${name}_finish`);

  const {load_from_file: loadFromFile} = CrossProducts;
  CrossProducts.load_from_file = function (file, cancellable = null) {
    return loadFromFile.call(this, file, cancellable);
  };

  const {save_to_file: saveToFile} = CrossProducts.prototype;
  CrossProducts.prototype.save_to_file = function (file, cancellable = null) {
    return saveToFile.call(this, file, cancellable);
  };

  const loadFromFileAsync = CrossProducts.load_from_file_async;
  CrossProducts.load_from_file_async = function (file, cancellable = null) {
    return loadFromFileAsync.call(this, file, PRIORITY, cancellable);
  };

  const {update_async: updateAsync, save_to_file_async: saveToFileAsync} = CrossProducts.prototype;
  CrossProducts.prototype.update_async = async function (X, y, sampleWeight = null, cancellable = null) {
    const tensors = await toTensorsInSlices(X, y, sampleWeight, cancellable);
    await updateAsync.call(this, ...tensors, PRIORITY, cancellable);
    return this;
  };

  CrossProducts.prototype.save_to_file_async = function (file, cancellable = null) {
    return saveToFileAsync.call(this, file, PRIORITY, cancellable);
  };

  // They take an address of memory, which nothing in JavaScript has.
  for (const name of ['update_arrow', 'update_arrow_async', 'update_arrow_finish'])
    CrossProducts.prototype[name] = undefined;

  for (const name of ['n_features', 'n_targets', 'n_samples', 'feature_names']) {
    defineGetter(CrossProducts.prototype, name, function () {
      return this[`get_${name}`]();
    });
  }

  CrossProducts.prototype.toString = function () {
    return `[Apr.CrossProducts: ${count(this.n_samples, 'sample')}, ${count(this.n_features, 'feature')}, ` +
      `${count(this.n_targets, 'target')}]`;
  };
}
