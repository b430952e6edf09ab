# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender

X = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
y = [0.5, 2.5, 3.5, 2, 7]

model = aprender.LinearRegression(dtype='f32').fit(X, y)
print(model.predict([[1, 2, 3]])[0])
model.save('realizar.safetensors')
