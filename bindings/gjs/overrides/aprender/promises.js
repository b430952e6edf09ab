/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// What all methods have in common that return a promise.

function extend(Apr, functions) {
  const {collectGarbage, count} = functions;

  function extendMethod(object, name, nArguments) {
    const original = object[name];

    object[name] = function (...args) {
      if (args.length > nArguments) {
        throw new TypeError(`${name} returns a promise, and takes no callback: it has at most ` +
          `${count(nArguments, 'argument')}, the cancellable last, not ${args.length}`);
      }
      const promise = original.apply(this, args);
      collectGarbage();
      return promise.finally(collectGarbage);
    };
  }

  for (const type of [Apr, ...Object.values(Apr)]) {
    for (const object of [type, type?.prototype]) {
      // What Gio._promisify() has replaced. Scripts pass no priority and no callback, and no type to a class's method.
      for (const original of Object.keys(object ?? {}).filter(key => key.startsWith('_original_'))) {
        const nImplicit = object === Apr.Estimator ? 3 : 2;
        extendMethod(object, original.replace('_original_', ''), object[original].length - nImplicit);
      }
    }
  }
}
