# SPDX-License-Identifier: LGPL-2.1-or-later
import gi
gi.require_version('Apr', '1.0')
from gi.repository import Apr

state = Apr.CrossProducts.new(2, 1).update([[1, 2], [2, 1]], [5, 4])
other = Apr.CrossProducts.new(2, 1).update([[3, 4], [4, 3]], [11, 10])
state.merge(other)
model = Apr.LinearRegression().fit_cross_products(state)
print(state.n_samples, model.coefficients, model.intercept)
