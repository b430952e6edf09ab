// SPDX-License-Identifier: LGPL-2.1-or-later
import Apr from 'gi://Apr?version=1.0';

const state = Apr.CrossProducts.new(2, 1).update([[1, 2], [2, 1]], [5, 4]);
const other = Apr.CrossProducts.new(2, 1).update([[3, 4], [4, 3]], [11, 10]);
state.merge(other);
const model = new Apr.LinearRegression().fit_cross_products(state);
print(state.n_samples, model.coefficients, model.intercept);
