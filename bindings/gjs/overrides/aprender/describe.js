/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported getFunctions */

// What a value is, and how messages call it.

function getFunctions() {
  // Globals are slow to look up from here, and these are used in every row.
  const {isArray} = Array;
  const {isView} = ArrayBuffer;
  const {DataView} = globalThis;

  function isTypedArray(value) {
    return isView(value) && !(value instanceof DataView);
  }

  function isList(value) {
    return isArray(value) || isTypedArray(value);
  }

  function describe(value) {
    if (isList(value))
      return 'an array';
    if (typeof value === 'string')
      return `the string “${value}”`;
    if (typeof value === 'number' || typeof value === 'boolean' || value === null || value === undefined)
      return String(value);

    const type = value.constructor?.name ?? typeof value;
    return `${/^[AEIOU]/i.test(type) ? 'an' : 'a'} ${type}`;
  }

  function describePlace(index) {
    const names = ['row', 'column'];
    const place = index.length > names.length
      ? `[${index.join(', ')}]`
      : index.map((position, dim) => `${names[dim]} ${position}`).join(', ');
    return `${place} (counted from 0)`;
  }

  function count(n, what) {
    return `${n} ${what}${n === 1 ? '' : 's'}`;
  }

  return {isTypedArray, isList, describe, describePlace, count};
}
