# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender
import pyarrow
import pyarrow.parquet
from pyspark.sql import SparkSession


def sum_partition(batches):
    state = aprender.CrossProducts(n_features=3, n_targets=1, n_threads=1)
    for batch in batches:
        state.update(batch, 'y')
    yield pyarrow.record_batch({'state': [state.to_bytes().get_data()]})


spark = SparkSession.builder.master('local[2]').getOrCreate()
parts = spark.read.parquet('rows.parquet').repartition(4).mapInArrow(sum_partition, 'state binary').collect()
state = sum(aprender.CrossProducts.from_bytes(bytes(part.state)) for part in parts)
spark.stop()

model = aprender.LinearRegression().fit_cross_products(state)
alone = aprender.LinearRegression().fit(pyarrow.parquet.read_table('rows.parquet'), 'y')
print('the same bytes as one machine:', model.to_bytes().equal(alone.to_bytes()))
