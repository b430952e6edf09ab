/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import Gio from 'gi://Gio';

const file = Gio.File.new_for_path('flats.csv');

// Each value of a text column becomes a feature: 1 in the rows that have it, 0 in the others.
const districts = Apr.TableReader.new_for_file(file).read_categories(['district']);
const reader = Apr.TableReader.new_for_file(file);
reader.features = ['area', 'rooms', ...districts];
reader.targets = ['rent'];

// However long the table is, no more than some blocks of rows are in memory.
const state = Apr.CrossProducts.new(reader.features.length, 1);
state.set_feature_names(reader.features);
for (const [X, y] of reader)
  state.update(X, y);

const model = new Apr.LinearRegression({keep_state: true}).fit_cross_products(state);
for (const {name, estimate, standard_error} of model.get_statistics())
  print(name.padEnd(15), estimate.toFixed(3).padStart(9), standard_error.toFixed(3).padStart(8));
print(reader.n_rows, 'rows');
