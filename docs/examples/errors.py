# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender

model = aprender.LinearRegression()
try:
    model.predict([[1, 2]])
except aprender.NotFittedError as error:
    print(error)

try:
    model.fit([[1, 2], [3, float('nan')]], [1, 2])
except ValueError as error:
    print(error)
    print(error.matches(aprender.error_quark(), aprender.Error.NOT_FINITE), model.fitted)

try:
    aprender.LinearRegression.load('missing.safetensors')
except FileNotFoundError as error:
    print(error)
