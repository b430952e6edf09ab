// SPDX-License-Identifier: LGPL-2.1-or-later
import Apr from 'gi://Apr?version=1.0';

// Rents by square metres, each in its city.
const areas = [[50], [80], [60], [120], [65], [95], [30]];
const rents = [510, 810, 740, 1210, 800, 960, 450];
const cities = ['Rome', 'Rome', 'Oslo', 'Rome', 'Oslo', 'Rome', 'Bern'];

const fits = new Apr.LinearRegression().fit_groups(areas, rents, cities);
const {coefficients, intercepts, ranks} = fits;
for (const [i, city] of fits.labels.entries())
  print(`${city}: ${intercepts[i]} + ${coefficients[i]} x, rank ${ranks[i]}`);
