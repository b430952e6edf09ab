# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender
import dask
import dask.array
import numpy
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.regression import LinearRegression
from pyspark.sql import SparkSession

# 20 rows of a line whose slope is 2.
rows = [(1e8 + i, 2.0 * i) for i in range(20)]
spark = SparkSession.builder.master('local[2]').getOrCreate()
frame = VectorAssembler(inputCols=['x'], outputCol='features').transform(spark.createDataFrame(rows, ['x', 'y']))
theirs = LinearRegression(labelCol='y').fit(frame).coefficients[0]
spark.stop()
ours = aprender.LinearRegression().fit([[x] for x, _ in rows], [y for _, y in rows]).coefficients[0]
print('a slope of 2:')
print(f'{"aprender":16}{ours:.1f}')
print(f'{"Spark MLlib":16}{theirs:.1f}')

# The same rows, in blocks of another size.
rng = numpy.random.default_rng(1)
X, y = rng.normal(size=(4000, 5)), rng.normal(size=4000)
own, blockwise = [], []
for size in 1000, 1300:
    state = aprender.CrossProducts.new(5, 1)
    for start in range(0, 4000, size):
        state.update(X[start:start + size], y[start:start + size])
    own.append(aprender.LinearRegression(fit_intercept=False).fit_cross_products(state).coefficients)
    blocks, targets = dask.array.from_array(X, chunks=(size, 5)), dask.array.from_array(y, chunks=size)
    blockwise.append(numpy.linalg.solve(*dask.compute(blocks.T @ blocks, blocks.T @ targets)))
print('blocks of 1,000 and of 1,300 rows:')
for name, (first, second) in ('aprender', own), ('dask', blockwise):
    print(f'{name:16}{"the same coefficients" if (first == second).all() else "other coefficients"}')
