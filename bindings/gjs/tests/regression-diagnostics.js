/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';

import {assertClose, assertEqual, assertThrows, assertTrue, run, test} from './tap.js';

const X = [[0], [1], [2], [3], [4]];
const y = [3, 1, 3, 9, 9];

test('leverages and residuals of a line', () => {
  const model = new Apr.LinearRegression().fit(X, y);
  const diagnostics = model.diagnose(X, y);
  assertTrue(diagnostics.leverages instanceof Float64Array);
  [0.6, 0.3, 0.2, 0.3, 0.6].forEach((value, i) => assertClose(diagnostics.leverages[i], value, 1e-13));
  [2, -2, -2, 2, 0].forEach((value, i) => assertClose(diagnostics.residuals[i] + 10, value + 10, 1e-13));
  assertClose(diagnostics.durbin_watson, 36 / 16, 1e-13);
  assertEqual(diagnostics.cooks_distances.length, 5);
});

test('other features', () => {
  const model = new Apr.LinearRegression().fit(X, y);
  assertThrows(() => model.diagnose([[1, 2]], [1]), Apr.Error, Apr.Error.SHAPE, '2 features');
});

await run();
