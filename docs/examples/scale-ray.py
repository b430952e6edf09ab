# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender
import pyarrow.parquet
import ray


@ray.remote
def sum_group(path, group):
    rows = pyarrow.parquet.ParquetFile(path).read_row_group(group)
    return aprender.CrossProducts(n_features=3, n_targets=1, n_threads=1).update(rows, 'y')


ray.init(num_cpus=2, include_dashboard=False)
state = sum(ray.get([sum_group.remote('rows.parquet', group) for group in range(8)]))
ray.shutdown()

model = aprender.LinearRegression().fit_cross_products(state)
alone = aprender.LinearRegression().fit(pyarrow.parquet.read_table('rows.parquet'), 'y')
print('the same bytes as one machine:', model.to_bytes().equal(alone.to_bytes()))
