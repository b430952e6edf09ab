/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported getFunctions */

// Labels of samples, which C knows as whole numbers.

function getFunctions(Apr, functions) {
  const {Tensor} = Apr;
  const {describe, isList, isTypedArray, toTensor} = functions;

  function compare(a, b) {
    return a < b ? -1 : Number(a > b);
  }

  // A tensor of whole numbers in the order of the labels, negative where these are; and, but where it is of the labels
  // themselves, these: those of all samples, and each once, of which so many are negative.
  function numberLabels(labels, name) {
    if (labels instanceof Tensor)
      return {tensor: labels};
    if (!isList(labels))
      throw new TypeError(`${name} must be a label for each sample, not ${describe(labels)}`);
    if (isTypedArray(labels) && !(labels instanceof Float32Array || labels instanceof Float64Array))
      return {tensor: toTensor(labels, name)};
    const values = Array.from(labels);
    const wrong = values.findIndex(value => !['string', 'number', 'bigint', 'boolean'].includes(typeof value) || Number.isNaN(value));
    if (wrong >= 0)
      throw new TypeError(`${name} has ${describe(values[wrong])} at ${wrong} (counted from 0), not a label`);
    // Text has no place among numbers, and 1n would be another label than 1.
    const other = values.findIndex(value => typeof value !== typeof values[0]);
    if (other >= 0) {
      throw new TypeError(`${name} has labels of two types, which have no order: ${describe(values[0])} at 0 and ` +
        `${describe(values[other])} at ${other} (counted from 0)`);
    }
    const distinct = [...new Set(values)].sort(compare);
    const nNegative = distinct.filter(value => typeof value !== 'string' && value < 0).length;
    const numbers = new Map(distinct.map((label, i) => [label, i - nNegative]));
    return {values, distinct, nNegative, tensor: toTensor(Int32Array.from(values, value => numbers.get(value)), name)};
  }

  return {numberLabels};
}
