/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import Gio from 'gi://Gio';

import {assertEqual, assertRejects, assertThrows, assertTrue, run, test} from './tap.js';

// y = 1 + 2 x, y = 5 - x, and one point.
const X = [[0], [1], [1], [3], [2], [8]];
const y = [1, 4, 3, 2, 5, 7];
const cities = ['Rome', 'Oslo', 'Rome', 'Oslo', 'Rome', 'Paris'];

test('groups by text', () => {
  const model = new Apr.LinearRegression();
  const fits = model.fit_groups(X, y, cities);
  assertTrue(fits instanceof Apr.GroupFits);
  assertEqual(fits.n_groups, 3);
  assertEqual(fits.n_failed, 0);
  assertEqual([...fits.labels], ['Oslo', 'Paris', 'Rome']);
  assertEqual([...fits.coefficients], [-1, 0, 2]);
  assertEqual([...fits.coefficients.shape], [3, 1]);
  assertEqual([...fits.intercepts], [5, 7, 1]);
  assertEqual([...fits.intercepts.shape], [3, 1]);
  assertEqual([...fits.n_samples].map(Number), [2, 1, 3]);
  assertEqual([...fits.ranks].map(Number), [1, 0, 1]);
  assertEqual([...fits.correctly_rounded].map(Number), [1, 1, 1]);
  assertEqual(String(fits), '3 groups: labels, coefficients, intercepts, n_samples, ranks, correctly_rounded');
  assertEqual(model.fitted, false);
});

test('groups by numbers', () => {
  const model = new Apr.LinearRegression();
  assertEqual([...model.fit_groups(X, y, [2.5, -1, 2.5, -1, 2.5, 0]).labels], [-1, 0, 2.5]);
  const fits = model.fit_groups(X, y, Int16Array.of(30, -7, 30, -7, 30, 4));
  assertTrue(fits.labels instanceof Int16Array);
  assertEqual([...fits.labels], [-7, 4, 30]);
  assertEqual([...fits.coefficients], [-1, 0, 2]);
});

test('a group that cannot be fitted', () => {
  const fits = new Apr.LinearRegression().fit_groups(X, y, cities, [1, 0, 1, 0, 3, 1]);
  assertEqual(fits.n_failed, 1);
  assertTrue(Number.isNaN(fits.coefficients[0]));
  assertEqual(fits.coefficients[2], 2);
  assertEqual(Number(fits.ranks[0]), -1);
  assertEqual([...fits.n_samples].map(Number), [0, 1, 3]);
  assertThrows(() => fits.check(0), Apr.Error, Apr.Error.WEIGHTS, 'no value above zero');
  assertTrue(fits.check(1));
  assertThrows(() => fits.check(3), Apr.Error, Apr.Error.RANGE, 'no group 3');
  assertThrows(() => fits.check(-1), TypeError, null, 'The group');
});

test('what is refused', () => {
  const model = new Apr.LinearRegression();
  assertThrows(() => model.fit_groups(X, y, ['a']), Apr.Error, Apr.Error.SHAPE, 'groups has 1');
  assertThrows(() => model.fit_groups(X, y, [...cities.slice(1), null]), TypeError, null, 'null at 5');
  assertThrows(() => model.fit_groups(X, y, [...cities.slice(1), 1]), TypeError, null, 'two types');
  assertThrows(() => model.fit_groups(X, y, 'city'), TypeError, null, 'label for each sample');
  assertThrows(() => model.fit_groups([...X.slice(1), [NaN]], y, cities), Apr.Error, Apr.Error.NOT_FINITE, 'row 5');
});

test('without blocking', async () => {
  const model = new Apr.LinearRegression();
  const promise = model.fit_groups_async(X, y, cities);
  assertTrue(model.busy);
  const fits = await promise;
  assertEqual([...fits.labels], ['Oslo', 'Paris', 'Rome']);
  assertEqual([...fits.coefficients], [-1, 0, 2]);
  assertEqual(model.busy, false);
  const cancellable = new Gio.Cancellable();
  cancellable.cancel();
  await assertRejects(model.fit_groups_async(X, y, cities, null, cancellable), Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED);
});

await run();
