# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender

state = aprender.CrossProducts.new(2, 1).update([[1, 2], [2, 1]], [5, 4])
other = aprender.CrossProducts.new(2, 1).update([[3, 4], [4, 3]], [11, 10])
state.merge(other)
model = aprender.LinearRegression().fit_cross_products(state)
print(state.n_samples, model.coefficients, model.intercept)
