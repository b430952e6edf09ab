// SPDX-License-Identifier: LGPL-2.1-or-later
import Apr from 'gi://Apr?version=1.0';

// A part of the samples is summed up where it is, gets a name, and is sent as bytes.
const other = Apr.CrossProducts.new(2, 1).update([[3, 4], [4, 3]], [11, 10]);
other.set_identity('Tuesday');
const sent = other.to_bytes();

const state = Apr.CrossProducts.new(2, 1).update([[1, 2], [2, 1]], [5, 4]);
state.set_identity('Monday');
state.merge_bytes(sent);
try {
  state.merge_bytes(sent);
} catch (error) {
  print(error.message);
}

const model = new Apr.LinearRegression().fit_cross_products(state);
print(state.get_identities(), state.n_samples, model.coefficients, model.intercept);
print(model.predict_one([5, 6]));
