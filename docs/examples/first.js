// SPDX-License-Identifier: LGPL-2.1-or-later
import Apr from 'gi://Apr?version=1.0';

const X = [[1, 2], [2, 1], [3, 4], [4, 3]];
const y = [5, 4, 11, 10];

const model = new Apr.LinearRegression({dtype: Apr.DType.F32}).fit(X, y);
print(model.coefficients, model.intercept, model.score(X, y));
model.save('first.safetensors');

const loaded = Apr.LinearRegression.load('first.safetensors');
print(loaded.predict([[5, 6]]));
