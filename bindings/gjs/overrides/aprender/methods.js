/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported getFunctions */

// How methods are changed.

const {Gio} = imports.gi;

function getFunctions(Apr, functions) {
  const {describe} = functions;

  function defineGetter(object, name, get) {
    Object.defineProperty(object, name, {get, configurable: true, enumerable: true});
  }

  // Makes promises of a method, and returns it.
  function promisify(prototype, name) {
    Gio._promisify(prototype, `${name}_async`, `${name}_finish`);
    return prototype[`${name}_async`];
  }

  // The value of an enumeration, which may be a string: its name in small letters. GJS would make 0 of any string.
  function toEnum(type, value, what) {
    const simplify = name => name.toLowerCase().replaceAll('_', '-');
    const names = Object.keys(type).filter(name => typeof type[name] === 'number');
    const found = names.find(name => typeof value === 'string' ? simplify(name) === simplify(value) : type[name] === value);
    if (found === undefined) {
      const choices = names.map(name => `“${simplify(name)}”`).join(', ');
      throw new TypeError(`${what} must be one of ${choices}, not ${describe(value)}`);
    }
    return type[found];
  }

  return {defineGetter, promisify, toEnum};
}
