/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// Regressions of groups of samples: Apr.LinearRegression.fit_groups() and Apr.GroupFits.

const {GLib} = imports.gi;

// What has an entry for each group.
const ARRAYS = ['coefficients', 'intercepts', 'n_samples', 'ranks', 'correctly_rounded'];
const PRIORITY = GLib.PRIORITY_DEFAULT;

function extend(Apr, functions) {
  const {GroupFits, LinearRegression} = Apr;
  const {count, defineGetter, numberLabels, promisify, toShapedArray, toTensor, toWeights, updateInSlices} = functions;

  function finish(fits, labels) {
    if (labels !== undefined)
      Object.defineProperty(fits, 'labels', {value: labels, enumerable: true});
    return fits;
  }

  const fitGroups = LinearRegression.prototype.fit_groups;
  LinearRegression.prototype.fit_groups = function (X, y, groups, sampleWeight = null, cancellable = null) {
    const {tensor, distinct} = numberLabels(groups, 'groups');
    return finish(fitGroups.call(this, toTensor(X, 'X'), toTensor(y, 'y'), tensor, toWeights(sampleWeight), cancellable),
      distinct);
  };

  const fitGroupsAsync = promisify(LinearRegression.prototype, 'fit_groups');
  LinearRegression.prototype.fit_groups_async = async function (X, y, groups, sampleWeight = null, cancellable = null) {
    const {tensor, distinct} = numberLabels(groups, 'groups');
    let fits = null;
    await updateInSlices(this, X, y, sampleWeight, cancellable, async ([x, targets, weights]) => {
      fits = await fitGroupsAsync.call(this, x, targets, tensor, weights, PRIORITY, cancellable);
    });
    return finish(fits, distinct);
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
