#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cross products beyond one process: states that travel, and engines that make them, each beside its own way.

Usage: scale.py VERSION [states] [mpi] [dask] [spark]
"""

import os
import pathlib
import pickle
import statistics
import subprocess
import sys
import tempfile
import time

import aprender
import numpy
import pyarrow
import pyarrow.parquet
import rounds

N_ROUNDS = 5
N_ROWS = 4_000_000
GROUP = 250_000
P = 10
NAMES = [f'x{i}' for i in range(P)]


def make_table(path):
    """A file of Parquet with ten features."""
    rng = numpy.random.default_rng(1)
    writer = None
    for _ in range(0, N_ROWS, GROUP):
        X = rng.normal(size=(P, GROUP))
        y = 3 + X[0] - 2 * X[1] + rng.normal(size=GROUP)
        table = pyarrow.table({**dict(zip(NAMES, X)), 'y': y})
        writer = writer or pyarrow.parquet.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=GROUP)
    writer.close()


def processor_time(function, n=9):
    """The median of the seconds that the processors work."""
    times = []
    for _ in range(n):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return statistics.median(times)


def compare_states():
    """What is done with states, in processor time, which other work on the machine changes little."""
    for p, n in (10, 1_000_000), (100, 100_000), (1000, 10_000):
        rng = numpy.random.default_rng(p)
        X, y = aprender.Tensor(rng.normal(size=(n, p))), aprender.Tensor(rng.normal(size=n))
        row = X[:1], y[:1]
        sum_rows = aprender.CrossProducts(n_features=p, n_targets=1, n_threads=1).update
        state = aprender.CrossProducts(n_features=p, n_targets=1).update(X, y)
        other = aprender.CrossProducts(n_features=p, n_targets=1).update(X[::2], y[::2])
        total = state.copy().merge(other)
        data = bytes(state.to_bytes().get_data())
        # Ones, as zeros that were never written take no memory of their own.
        words, others = numpy.ones((2, max(state.get_n_bytes() // 8, 1)), dtype='i8')
        n_rows = n / processor_time(lambda: sum_rows(X, y), 5)
        seconds = {
            'update of 1 row': processor_time(lambda: total.update(*row)),
            'merge': processor_time(lambda: total.merge(other)),
            'numpy adding as many bytes to others': processor_time(lambda: numpy.add(words, others, out=words)),
            'numpy copying as many bytes': processor_time(lambda: numpy.copyto(words, others)),
            'to_bytes': processor_time(state.to_bytes),
            'from_bytes': processor_time(lambda: aprender.CrossProducts.from_bytes(data)),
            'merge_bytes': processor_time(lambda: total.merge_bytes(data)),
            'solving': processor_time(lambda: aprender.LinearRegression(n_threads=1).fit_cross_products(state)),
            'dumps, protocol 5 out of band': processor_time(lambda: pickle.dumps(state, 5, buffer_callback=lambda buffer: None)),
        }
        print(f'{p} features: {len(data)} bytes, {len(data) / ((p + 2) * (p + 3) / 2):.1f} an entry; processor time:')
        # What the memory has to do: a merge reads two states and writes one, a copy reads one and writes one.
        moved = [n * words.nbytes / seconds[name] for n, name in ((3, 'merge'), (2, 'numpy copying as many bytes'))]
        print(f'  rows summed in a second: {n_rows:.3g}')
        print(f'  bytes read and written in a second, merge / copy: {moved[0] / moved[1]:.2f}')
        for name, value in seconds.items():
            rate = f', {len(data) / value / 1e6:.0f} MB/s' if 'bytes' in name and 'numpy' not in name else ''
            print(f'  {name}: {rounds.show(value)}{rate}', flush=True)


def run_mpi():
    """An allreduce of states beside the update that makes them; run by mpiexec."""
    from mpi4py import MPI  # pylint: disable=import-outside-toplevel

    world = MPI.COMM_WORLD
    p = 1000
    rng = numpy.random.default_rng(world.rank)
    X, y = rng.normal(size=(20_000, p)), rng.normal(size=20_000)
    ratios = []
    for _ in range(N_ROUNDS):
        state = aprender.CrossProducts(n_features=p, n_targets=1, n_threads=1)
        world.Barrier()
        start = time.perf_counter()
        state.update(X, y)
        world.Barrier()
        updated = time.perf_counter()
        world.allreduce(state, op=lambda one, other: one + other)
        world.Barrier()
        ratios.append(((time.perf_counter() - updated), updated - start))
    if world.rank == 0:
        own, update = (statistics.median(pair[i] for pair in ratios) for i in range(2))
        print(f'MPI, {world.size} processes, {p} features: update of 20,000 rows {rounds.show(update)}, allreduce '
              f'{rounds.show(own)}, ratio {statistics.median(a / b for a, b in ratios):.3f}', flush=True)


def compare_mpi():
    mpiexec = pathlib.Path(sys.executable).parent / 'mpiexec'
    subprocess.run([mpiexec, '-n', '2', sys.executable, __file__, 'run-mpi'], check=True)


def take_turns(title, ours, theirs):
    """Seconds of both, and the ratio of each turn."""
    ours()
    theirs()
    times = rounds.interleave({'aprender': ours, 'other': theirs}, N_ROUNDS)
    ratio = statistics.median(a / b for a, b in zip(times['aprender'], times['other']))
    print(f'{title}, {N_ROWS} rows of {P}: aprender {rounds.show(rounds.median(times["aprender"]))}, the other '
          f'{rounds.show(rounds.median(times["other"]))}, aprender / the other {ratio:.2f} ({N_ROUNDS} turns)', flush=True)


def sum_group(path, group):
    rows = pyarrow.parquet.ParquetFile(path).read_row_group(group, use_threads=False)
    return aprender.CrossProducts(n_features=P, n_targets=1, n_threads=1).update_arrow(rows, ['y'])


def read_group(path, group):
    """A column of ones, the features and the target, as dask.array's blocks have them."""
    rows = pyarrow.parquet.ParquetFile(path).read_row_group(group, use_threads=False)
    return numpy.column_stack([numpy.ones(rows.num_rows), *(rows[name].to_numpy() for name in [*NAMES, 'y'])])


def compare_dask(path):
    import dask  # pylint: disable=import-outside-toplevel
    import dask.array
    from dask.distributed import Client, LocalCluster  # pylint: disable=import-outside-toplevel

    n_groups = N_ROWS // GROUP
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        def ours():
            states = client.map(sum_group, [path] * n_groups, range(n_groups), pure=False)
            while len(states) > 1:
                states = [client.submit(sum, states[i:i + 4], pure=False) for i in range(0, len(states), 4)]
            return aprender.LinearRegression().fit_cross_products(states[0].result())

        def theirs():
            blocks = [dask.array.from_delayed(dask.delayed(read_group, pure=False)(path, group), (GROUP, P + 2), float)
                      for group in range(n_groups)]
            Z = dask.array.concatenate(blocks)
            A, b = dask.compute(Z[:, :-1].T @ Z[:, :-1], Z[:, :-1].T @ Z[:, -1])
            return numpy.linalg.solve(A, b)

        assert numpy.allclose(ours().coefficients, theirs()[1:])
        take_turns("Dask, beside dask.array's normal equations", ours, theirs)


def sum_partition(batches):
    state = aprender.CrossProducts(n_features=P, n_targets=1, n_threads=1)
    for batch in batches:
        state.update_arrow(batch, ['y'])
    yield pyarrow.record_batch({'state': [state.to_bytes().get_data()]})


def compare_spark(path):
    from pyspark.ml.feature import VectorAssembler  # pylint: disable=import-outside-toplevel
    from pyspark.ml.regression import LinearRegression  # pylint: disable=import-outside-toplevel
    from pyspark.sql import SparkSession  # pylint: disable=import-outside-toplevel

    os.environ['PYSPARK_PYTHON'] = sys.executable
    spark = (SparkSession.builder.master('local[2]').config('spark.driver.memory', '4g').config('spark.ui.enabled', 'false')
             .config('spark.sql.execution.arrow.maxRecordsPerBatch', 65536).getOrCreate())
    spark.sparkContext.setLogLevel('ERROR')

    def ours():
        parts = spark.read.parquet(path).mapInArrow(sum_partition, 'state binary').collect()
        return aprender.LinearRegression().fit_cross_products(
            sum(aprender.CrossProducts.from_bytes(bytes(part.state)) for part in parts))

    def theirs():
        rows = VectorAssembler(inputCols=NAMES, outputCol='features').transform(spark.read.parquet(path))
        return LinearRegression(labelCol='y', solver='normal').fit(rows)

    assert numpy.allclose(ours().coefficients, theirs().coefficients.toArray())
    take_turns('Spark, beside MLlib', ours, theirs)
    spark.stop()


def main():
    if sys.argv[1:] == ['run-mpi']:
        run_mpi()
        return
    wanted = sys.argv[2:] or ['states', 'mpi', 'dask', 'spark']
    print(f'aprender {sys.argv[1]}, {rounds.machine()}, load {os.getloadavg()[0]:.1f}', flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'rows.parquet')
        if 'dask' in wanted or 'spark' in wanted:
            make_table(path)
        for name, compare in ('states', compare_states), ('mpi', compare_mpi), ('dask', lambda: compare_dask(path)), \
                ('spark', lambda: compare_spark(path)):
            if name in wanted:
                compare()


if __name__ == '__main__':
    main()
