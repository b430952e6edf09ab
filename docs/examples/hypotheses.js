// SPDX-License-Identifier: LGPL-2.1-or-later
import Apr from 'gi://Apr?version=1.0';

const X = [[1, 3], [2, 1], [3, 5], [4, 2], [5, 6], [6, 4], [7, 9], [8, 7]];
const y = [4, 3, 9, 5, 12, 9, 15, 16];

const model = new Apr.LinearRegression().fit(X, y);
const robust = await model.get_robust_statistics_async(X, y, null, Apr.CovarianceKind.HC1);
print(Array.from(robust.standard_errors, error => error.toFixed(5)).join(' '));

// Are the coefficients of both features the same?
const same = robust.test_hypothesis('x0 = x1');
print(`F = ${same.f_statistic.toFixed(5)}, p = ${same.f_p_value.toFixed(5)}`);

// The second feature alone, against both.
const statistics = model.get_statistics();
const smaller = new Apr.LinearRegression().fit(X.map(row => [row[1]]), y).get_statistics();
const comparison = statistics.compare(smaller);
print(`F = ${comparison.f_statistic.toFixed(5)} with ${comparison.df_hypothesis} and ${comparison.df_residual}`);

// How much the fit would change without the last sample.
print(model.diagnose(X, y).cooks_distances[7].toFixed(5));
