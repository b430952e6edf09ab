/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported _init */

// Lets Apr take and return JavaScript's arrays, typed arrays and promises. Numbers cross over as bytes, in one copy: GJS
// would convert them one by one, and turn null into 0 and undefined into NaN on the way.
//
// The parts are in aprender/ beside this file. Some give functions to all that come after them; the others extend a type.

const parts = imports.overrides.aprender;

function _init() {
  const Apr = this;
  const functions = {};

  for (const name of ['garbage', 'describe', 'lists', 'data', 'labels', 'methods', 'copying'])
    Object.assign(functions, parts[name].getFunctions(Apr, functions));

  for (const name of ['tensor', 'safetensors', 'estimator', 'linear_regression', 'groups', 'statistics', 'cross_products', 'folds',
    'tables', 'metrics', 'promises', 'guards'])
    parts[name].extend(Apr, functions);
}
