// SPDX-License-Identifier: LGPL-2.1-or-later
import Apr from 'gi://Apr?version=1.0';

// The rents of flats by square metres and rooms, in districts.
const flats = [[54, 2], [38, 1], [81, 3], [61, 2], [72, 3], [45, 2], [95, 4], [50, 2], [66, 3], [84, 3], [40, 1], [70, 3]];
const rents = [1010, 765, 1420, 790, 905, 640, 1130, 735, 910, 1105, 640, 1260];
const districts = [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0].map(i => ['centre', 'north', 'south'][i]);

const folds = Apr.Folds.new_from_labels(flats, rents, null, districts);
for (const alpha of [0, 1000, 10000]) {
  const model = new Apr.LinearRegression({alpha});
  const errors = model.cross_validate(folds, Apr.Metric.ROOT_MEAN_SQUARED_ERROR);
  const [centre, north, south] = Array.from(errors, error => error.toFixed(1));
  print(`alpha ${alpha}: wrong by ${centre}, ${north} and ${south}`);
}
