# SPDX-License-Identifier: LGPL-2.1-or-later
import gi
gi.require_version('Apr', '1.0')
from gi.repository import Apr

X = [[1, 2], [2, 1], [3, 4], [4, 3]]
y = [5, 4, 11, 10]

model = Apr.LinearRegression(dtype=Apr.DType.F32).fit(X, y)
print(model.coefficients, model.intercept, model.score(X, y))
model.save('first.safetensors')

loaded = Apr.LinearRegression.load('first.safetensors')
print(loaded.predict([[5, 6]]))
