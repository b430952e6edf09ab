# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender
import pyarrow.parquet
from dask.distributed import Client, LocalCluster


def sum_group(group):
    rows = pyarrow.parquet.ParquetFile('rows.parquet').read_row_group(group)
    return aprender.CrossProducts(n_features=3, n_targets=1, n_threads=1).update(rows, 'y')


if __name__ == '__main__':
    with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster) as client:
        states = client.map(sum_group, range(8))
        while len(states) > 1:   # a tree: each worker merges two at a time
            states = [client.submit(sum, states[i:i + 2]) for i in range(0, len(states), 2)]
        state = states[0].result()

    model = aprender.LinearRegression().fit_cross_products(state)
    alone = aprender.LinearRegression().fit(pyarrow.parquet.read_table('rows.parquet'), 'y')
    print('the same bytes as one machine:', model.to_bytes().equal(alone.to_bytes()))
