/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported getFunctions */

// Nested arrays of numbers: their shape, and their copy in one typed array.

const {GLib} = imports.gi;

const MAX_DEPTH = 32;

function getFunctions(Apr, functions) {
  const {isList, isTypedArray, describe, describePlace} = functions;

  // The shape by the first entry at each depth. A Flattener checks all others against it.
  function findShape(values, name) {
    const shape = [];
    for (; isList(values); values = values[0]) {
      // An array that is its own entry has no end.
      if (shape.length === MAX_DEPTH)
        throw new TypeError(`${name} has more than ${MAX_DEPTH} arrays within each other`);
      shape.push(values.length);
    }
    return shape;
  }

  // Copies nested arrays of numbers into one Float64Array, as many of the outermost entries at a time as is asked for.
  class Flattener {
    constructor(values, shape, name, nTogether = values.length) {
      Object.assign(this, {values, shape, name});
      this.flat = new Float64Array(shape.slice(1).reduce((product, size) => product * size, nTogether));
      this.index = [];
      this.offset = 0;
      this.isFloat32 = true; // all numbers so far were in a Float32Array
    }

    checkList(list) {
      const {name, shape, index} = this;
      if (!isList(list))
        throw new TypeError(`${name} has ${describe(list)} at ${describePlace(index)}, not an array`);
      if (list.length !== shape[index.length]) {
        throw new GLib.Error(Apr.Error, Apr.Error.SHAPE,
          `${name} is ragged: the length at ${describePlace(index)} is ${list.length}, but before it was ` +
          `${shape[index.length]}`);
      }
    }

    appendNumbers(list, start, stop) {
      if (isTypedArray(list) && typeof list[0] === 'number') {
        this.flat.set(start === 0 && stop === list.length ? list : list.subarray(start, stop), this.offset);
        this.offset += stop - start;
        this.isFloat32 &&= list instanceof Float32Array;
        return;
      }

      const {flat, index, name} = this;
      this.isFloat32 = false;
      for (let i = start; i < stop; i++) {
        const number = list[i];

        if (typeof number !== 'number') {
          index.push(i);
          throw new TypeError(`${name} has ${describe(number)} at ${describePlace(index)}, not a number`);
        }
        flat[this.offset++] = number;
      }
    }

    append(list, start, stop) {
      const {index} = this;
      if (index.length === this.shape.length - 1) {
        this.appendNumbers(list, start, stop);
        return;
      }
      for (let i = start; i < stop; i++) {
        index.push(i);
        this.checkList(list[i]);
        this.append(list[i], 0, list[i].length);
        index.pop();
      }
    }

    // The numbers of the outermost entries from start up to stop; the memory is used again the next time.
    flatten(start, stop) {
      this.offset = 0;
      this.append(this.values, start, stop);
      return this.flat.subarray(0, this.offset);
    }
  }

  // Nested arrays of numbers in one Float64Array, or in a Float32Array if all of them are in Float32Arrays.
  function flatten(values, shape, name) {
    const flattener = new Flattener(values, shape, name);
    const flat = flattener.flatten(0, values.length);
    return flattener.isFloat32 ? new Float32Array(flat) : flat;
  }

  return {findShape, Flattener, flatten};
}
