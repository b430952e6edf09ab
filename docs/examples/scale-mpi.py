# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender
import pyarrow.parquet
from mpi4py import MPI

world = MPI.COMM_WORLD
file = pyarrow.parquet.ParquetFile('rows.parquet')
state = aprender.CrossProducts(n_features=3, n_targets=1, n_threads=1)
for group in range(world.rank, file.num_row_groups, world.size):
    state.update(file.read_row_group(group), 'y')

# Sums in any order are the same, so any algorithm that MPI chooses for the reduction will do.
state = world.reduce(state, op=lambda one, other: one + other)

if world.rank == 0:
    model = aprender.LinearRegression().fit_cross_products(state)
    alone = aprender.LinearRegression().fit(pyarrow.parquet.read_table('rows.parquet'), 'y')
    print('the same bytes as one machine:', model.to_bytes().equal(alone.to_bytes()))
