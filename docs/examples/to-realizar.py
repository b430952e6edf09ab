# SPDX-License-Identifier: LGPL-2.1-or-later
import gi
gi.require_version('Apr', '1.0')
from gi.repository import Apr

X = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]]
y = [0.5, 2.5, 3.5, 2, 7]

model = Apr.LinearRegression(dtype=Apr.DType.F32).fit(X, y)
print(model.predict([[1, 2, 3]])[0])
model.save('realizar.safetensors')
