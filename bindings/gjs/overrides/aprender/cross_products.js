/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// Apr.CrossProducts.

const {Gio, GLib} = imports.gi;

const PRIORITY = GLib.PRIORITY_DEFAULT;

function extend(Apr, functions) {
  const {CrossProducts} = Apr;
  const {convertArgument, convertProperties, count, defineNames, defineGetter, readCount, readEnum, toTensor, toWeights,
    updateInSlices} = functions;

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

  for (const name of ['load_from_file', 'from_bytes'])
    Gio._promisify(CrossProducts, `${name}_async`, `${name}_finish`);
  for (const name of ['update', 'save_to_file', 'merge', 'merge_bytes', 'subtract', 'equal', 'to_bytes'])
    Gio._promisify(CrossProducts.prototype, `${name}_async`, `${name}_finish`);

  for (const name of ['merge', 'merge_bytes', 'subtract']) {
    const method = CrossProducts.prototype[`${name}_async`];
    CrossProducts.prototype[`${name}_async`] = async function (other, cancellable = null) {
      await method.call(this, other, PRIORITY, cancellable);
      return this;
    };
  }

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

  const fromBytesAsync = CrossProducts.from_bytes_async;
  CrossProducts.from_bytes_async = function (bytes, cancellable = null) {
    return fromBytesAsync.call(this, bytes, PRIORITY, cancellable);
  };

  const {equal_async: equalAsync, to_bytes_async: toBytesAsync} = CrossProducts.prototype;
  CrossProducts.prototype.equal_async = function (other, cancellable = null) {
    return equalAsync.call(this, other, PRIORITY, cancellable);
  };

  CrossProducts.prototype.to_bytes_async = function (cancellable = null) {
    return toBytesAsync.call(this, PRIORITY, cancellable);
  };

  const {update_async: updateAsync, save_to_file_async: saveToFileAsync} = CrossProducts.prototype;
  CrossProducts.prototype.update_async = function (X, y, sampleWeight = null, cancellable = null) {
    return updateInSlices(this, X, y, sampleWeight, cancellable,
      tensors => updateAsync.call(this, ...tensors, PRIORITY, cancellable));
  };

  CrossProducts.prototype.save_to_file_async = function (file, cancellable = null) {
    return saveToFileAsync.call(this, file, PRIORITY, cancellable);
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
