#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A fit to a file of Parquet, batch by batch, beside reading it, numpy's inexact products, and scikit-learn in memory.

Usage: parquet.py VERSION [MILLIONS OF ROWS]
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile

import aprender
import numpy
import pyarrow
import pyarrow.parquet
import rounds

N_ROUNDS = 5
P = 10
GROUP = 100_000
# The cheapest file to read, one as pyarrow writes it unless told otherwise, and one that is compressed well.
FILES = {
    'plain': {'compression': 'none', 'use_dictionary': False},
    'default': {},
    'zstd': {'compression': 'zstd'},
}


def make_table(path, n_rows, **options):
    rng = numpy.random.default_rng(1)
    writer = None
    for _ in range(0, n_rows, GROUP):
        X = rng.normal(size=(P, GROUP))
        table = pyarrow.table({**{f'x{i}': X[i] for i in range(P)}, 'y': 3 + X[0] - 2 * X[1] + rng.normal(size=GROUP)})
        writer = writer or pyarrow.parquet.ParquetWriter(path, table.schema, **options)
        writer.write_table(table, row_group_size=GROUP)
    writer.close()


def open_batches(path):
    # With it, what has been read of the file would stay in memory.
    file = pyarrow.parquet.ParquetFile(path, pre_buffer=False)
    return pyarrow.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches(batch_size=65536, use_threads=False))


def read(path):
    for _ in open_batches(path):
        pass


def fit(path):
    state = aprender.CrossProducts(n_features=P, n_targets=1, n_threads=1).update_arrow(open_batches(path), ['y'])
    return aprender.LinearRegression().fit_cross_products(state).coefficients


def multiply(path):
    total = 0
    for batch in open_batches(path):
        Z = numpy.column_stack([numpy.ones(batch.num_rows), *(column.to_numpy() for column in batch.columns)])
        total = total + Z.T @ Z
    return numpy.linalg.solve(total[:-1, :-1], total[:-1, -1])[1:]


def fit_in_memory(path):
    from sklearn.linear_model import LinearRegression  # pylint: disable=import-outside-toplevel

    table = pyarrow.parquet.read_table(path, use_threads=False).to_pandas()
    return LinearRegression().fit(table.iloc[:, :P], table['y']).coef_


FUNCTIONS = {'read': read, 'aprender': fit, 'numpy': multiply, 'scikit-learn': fit_in_memory}


def measure(name, path):
    """Seconds of processor time that it takes in a process of its own, and the most MiB that the process has."""
    # OpenBLAS's threads wait busily for work once they are there.
    result = subprocess.run([sys.executable, __file__, 'run', name, path], check=True, stdout=subprocess.PIPE, encoding='ascii',
                            env={**os.environ, 'OPENBLAS_NUM_THREADS': '1'})
    return [float(word) for word in result.stdout.split()]


def compare(kind, path, names, n_rows):
    found = {name: [] for name in names}
    for _ in range(N_ROUNDS):
        for name, results in found.items():
            results.append(measure(name, path))
    for name, results in found.items():
        seconds, memory = (statistics.median(result[i] for result in results) for i in range(2))
        ratio = statistics.median(one[0] / other[0] for one, other in zip(found['aprender'], results))
        print(f'{kind}, {name}, {n_rows} rows of {P}: {rounds.show(seconds)} of processor time, {memory:.0f} MiB; '
              f'aprender / {name} {ratio:.2f}', flush=True)


def run(name, path):
    before = resource.getrusage(resource.RUSAGE_SELF)
    FUNCTIONS[name](path)
    after = resource.getrusage(resource.RUSAGE_SELF)
    # The peak of getrusage () is inherited from the process that started this one.
    with open('/proc/self/status', encoding='ascii') as file:
        peak = next(int(line.split()[1]) for line in file if line.startswith('VmHWM'))
    print(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, peak / 1024)


def main():
    if sys.argv[1] == 'run':
        run(*sys.argv[2:])
        return
    n_rows = int(float(sys.argv[2]) * 1e6) if len(sys.argv) > 2 else 2_000_000
    print(f'aprender {sys.argv[1]}, {rounds.machine()}, load {os.getloadavg()[0]:.1f}', flush=True)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'rows.parquet')
        for kind, options in FILES.items():
            make_table(path, n_rows, **options)
            assert numpy.allclose(fit(path), multiply(path))
            compare(kind, path, FUNCTIONS if kind == 'default' else ['read', 'aprender'], n_rows)


if __name__ == '__main__':
    main()
