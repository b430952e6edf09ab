# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender

X = [[1, 2], [2, 1], [3, 4], [4, 3]]
y = [5, 4, 11, 10]

model = aprender.LinearRegression(dtype='f32').fit(X, y)
print(model.coefficients, model.intercept, model.score(X, y))
model.save('first.safetensors')

loaded = aprender.LinearRegression.load('first.safetensors')
print(loaded.predict([[5, 6]]))
