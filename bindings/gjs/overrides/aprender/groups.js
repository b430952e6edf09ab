/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// Regressions of groups of samples: Apr.LinearRegression.fit_groups() and Apr.GroupFits.

const {GLib} = imports.gi;

// What has an entry for each group.
const ARRAYS = ['coefficients', 'intercepts', 'n_samples', 'ranks', 'correctly_rounded'];
const PRIORITY = GLib.PRIORITY_DEFAULT;

function extend(Apr, functions) {
  const {GroupFits, LinearRegression, Tensor} = Apr;
  const {count, defineGetter, describe, isList, isTypedArray, promisify, toShapedArray, toTensor, toWeights,
    updateInSlices} = functions;

  function compare(a, b) {
    return a < b ? -1 : Number(a > b);
  }

  // A tensor of whole numbers, and, but where these are the labels themselves, the labels that they stand for.
  function numberLabels(groups) {
    if (groups instanceof Tensor)
      return {tensor: groups};
    if (!isList(groups))
      throw new TypeError(`groups must be a label for each sample, not ${describe(groups)}`);
    if (isTypedArray(groups) && !(groups instanceof Float32Array || groups instanceof Float64Array))
      return {tensor: toTensor(groups, 'groups')};
    const values = Array.from(groups);
    const wrong = values.findIndex(value => !['string', 'number', 'bigint', 'boolean'].includes(typeof value) || Number.isNaN(value));
    if (wrong >= 0)
      throw new TypeError(`groups has ${describe(values[wrong])} at ${wrong} (counted from 0), not a label`);
    const labels = [...new Set(values)].sort(compare);
    const numbers = new Map(labels.map((label, i) => [label, i]));
    return {labels, tensor: toTensor(Int32Array.from(values, value => numbers.get(value)), 'groups')};
  }

  function finish(fits, labels) {
    if (labels !== undefined)
      Object.defineProperty(fits, 'labels', {value: labels, enumerable: true});
    return fits;
  }

  const fitGroups = LinearRegression.prototype.fit_groups;
  LinearRegression.prototype.fit_groups = function (X, y, groups, sampleWeight = null, cancellable = null) {
    const {tensor, labels} = numberLabels(groups);
    return finish(fitGroups.call(this, toTensor(X, 'X'), toTensor(y, 'y'), tensor, toWeights(sampleWeight), cancellable),
      labels);
  };

  const fitGroupsAsync = promisify(LinearRegression.prototype, 'fit_groups');
  LinearRegression.prototype.fit_groups_async = async function (X, y, groups, sampleWeight = null, cancellable = null) {
    const {tensor, labels} = numberLabels(groups);
    let fits = null;
    await updateInSlices(this, X, y, sampleWeight, cancellable, async ([x, targets, weights]) => {
      fits = await fitGroupsAsync.call(this, x, targets, tensor, weights, PRIORITY, cancellable);
    });
    return finish(fits, labels);
  };

  for (const name of ARRAYS) {
    defineGetter(GroupFits.prototype, name, function () {
      return toShapedArray(this[`get_${name}`]());
    });
  }
  defineGetter(GroupFits.prototype, 'labels', function () {
    return this.get_labels().to_typed_array();
  });

  GroupFits.prototype.toString = function () {
    return `${count(this.n_groups, 'group')}${this.n_failed > 0 ? `, of which ${this.n_failed} failed` : ''}: ` +
      `labels, ${ARRAYS.join(', ')}`;
  };
}
