// SPDX-License-Identifier: LGPL-2.1-or-later
import Apr from 'gi://Apr?version=1.0';

// A typed array is flat: the property shape says how many rows and columns it has.
const X = new Float64Array([50, 1, 80, 2, 120, 3, 65, 2, 95, 4]);
X.shape = [5, 2];
const model = new Apr.LinearRegression();
model.feature_names = ['area', 'rooms'];
model.fit(X, [523, 838, 1270, 688, 1030]);

// What comes out is flat too.
const rents = model.predict([[70, 2], [100, 3]]);
print(rents.constructor.name, rents.shape, rents.length);

// One sample is an array in the order of the features, or an object with their names.
print(model.predict_one([70, 2]) === rents[0], model.predict_one({rooms: 2, area: 70}) === rents[0]);

for (const {name, estimate, p_value} of model.get_statistics())
  print(name, estimate.toFixed(2), p_value.toFixed(4));
