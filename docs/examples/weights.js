/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';

// Rents by square metres. The third is the mean of two flats: it has the weight 2.
const X = [[50], [65], [80], [120]];
const y = [523, 671, 835, 1214];
const weights = [1, 1, 2, 1];

const weighted = new Apr.LinearRegression().fit(X, y, weights);
const twice = new Apr.LinearRegression().fit([...X, X[2]], [...y, y[2]]);
for (const model of [weighted, twice]) {
  const statistics = model.get_statistics();
  for (const {name, estimate, standard_error: error} of statistics)
    print(`${name} ${estimate.toFixed(4)}, standard error ${error.toFixed(4)}`);
  print(`${statistics.df_residual} degrees of freedom`);
}
