// SPDX-License-Identifier: LGPL-2.1-or-later
import Apr from 'gi://Apr?version=1.0';

// Rents, by square metres and rooms.
const X = [[50, 1], [80, 2], [120, 3], [65, 2], [95, 4]];
const y = [520, 840, 1260, 690, 1030];

const model = new Apr.LinearRegression({keep_state: true}).fit(X, y);
model.save('rents.safetensors');

const later = Apr.LinearRegression.load('rents.safetensors');
later.partial_fit([[70, 2], [100, 3]], [735, 1050]);
print(later.summary());
for (const term of later.get_statistics())
  print(term.name, term.standard_error.toFixed(6));
const [lower, upper] = later.predict_interval([[85, 3]], 0.9);
print([lower, later.predict([[85, 3]]), upper].map(rent => rent[0].toFixed(3)).join(' '));
