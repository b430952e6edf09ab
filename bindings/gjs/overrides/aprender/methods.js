/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported getFunctions */

// How methods are changed.

const {Gio} = imports.gi;

function getFunctions() {
  function defineGetter(object, name, get) {
    Object.defineProperty(object, name, {get, configurable: true, enumerable: true});
  }

  // Makes promises of a method, and returns it.
  function promisify(prototype, name) {
    Gio._promisify(prototype, `${name}_async`, `${name}_finish`);
    return prototype[`${name}_async`];
  }

  return {defineGetter, promisify};
}
