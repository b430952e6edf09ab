# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender
import pyarrow
import pyarrow.parquet

table = pyarrow.table({'area': [50.0, 80, 120, 65, 95], 'rooms': [1, 2, 4, 2, 3], 'rent': [523, 843, 1283, 693, 1013]})
pyarrow.parquet.write_table(table, 'rents.parquet')

# However large the file is, no more than a row group of it is in memory; with pre_buffer, pyarrow would read it all ahead.
file = pyarrow.parquet.ParquetFile('rents.parquet', pre_buffer=False)
model = aprender.LinearRegression().fit(file.iter_batches(batch_size=2), 'rent')
print(model.feature_names, model.coefficients, model.intercept)

# Or batch by batch, as they arrive.
state = aprender.CrossProducts.new(2, 1)
for batch in file.iter_batches(batch_size=2):
    state.update(batch, 'rent')
print(state.n_samples, aprender.LinearRegression().fit_cross_products(state).coefficients)
