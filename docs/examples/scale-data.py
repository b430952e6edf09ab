# SPDX-License-Identifier: LGPL-2.1-or-later
import numpy
import pyarrow
import pyarrow.parquet

rng = numpy.random.default_rng(1)
X = rng.normal(size=(40_000, 3))
y = 3 + X @ [1, -2, 0.5] + rng.normal(size=40_000)
table = pyarrow.table({'a': X[:, 0], 'b': X[:, 1], 'c': X[:, 2], 'y': y})
pyarrow.parquet.write_table(table, 'rows.parquet', row_group_size=5_000)
