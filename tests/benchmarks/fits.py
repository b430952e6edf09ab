# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fitting linear regressions, against scikit-learn in one run.

    with-peer fits.py REGRESSION VERSION [--rounds N] [--threads N] [--only TEXT]

REGRESSION is regression.c, built; VERSION its version. Both fit the same arrays through what a user calls, with
the same number of threads, in turns; a ratio is the median of scikit-learn's LinearRegression divided by the median of
ours. Behind it stands what the machine allows: the time that reading the data once takes, or that the products of the
exact sums take in the kernel at its best, whichever is longer, and what share of our time that is. --only measures the
cases whose name has the text. Every kernel of this machine that has bars is measured in turn, in a process of its own,
or the one that APRENDER_KERNEL names. Fails where a bar is missed.
"""

import argparse
import os
import subprocess
import sys

import rounds

try:
    import numpy
    import sklearn
    import threadpoolctl
    from sklearn.linear_model import LinearRegression, Ridge
except ImportError as error:
    print(f'1..0 # SKIP {error}: tests/interop/install-peers python installs scikit-learn')
    sys.exit(0)

import gi

gi.require_version('Apr', '1.0')
from gi.repository import Apr  # noqa: E402

# The least ratios to scikit-learn's LinearRegression of exact fits in float32 and float64, by kernel. With kernels of
# 256 bits, BLAS is held to these too; with others it does what it finds best, whatever the environment says.
BARS_512 = {
    (1_000, 10): (14, 12),
    (1_000_000, 10): (12, 10),
    (500_000, 100): (10, 11),
    (100_000, 100): (8, 7),
    (20_000, 500): (2, 2),
    (5_000, 1_000): (1.6, 1.8),
}
BARS_256 = {
    (1_000, 10): (10, 8),
    (1_000_000, 10): (9, 7),
    (500_000, 100): (6.5, 6.5),
    (100_000, 100): (4, 4),
    (20_000, 500): (1.5, 1.5),
    (5_000, 1_000): (1.2, 1.2),
}
BARS = {'amx': BARS_512, 'avx512vnni': BARS_512, 'avx512dot': BARS_512, 'avx512': BARS_512,
        'avxvnni': BARS_256, 'avx2': BARS_256}
BLAS = {'avxvnni': 'Haswell', 'avx2': 'Haswell'}

# Of sums in double, whichever the kernel.
DOUBLE_BARS = {
    (20_000, 500): (2.5, 4),
    (5_000, 1_000): (2, 3.5),
}

# More features than samples: beside LinearRegression, and with a penalty beside Ridge.
FEW_SAMPLES = ((60, 2_000), (100, 20_000))
FEW_SAMPLES_BAR = 1
IN_C = 20

# With weights of like sizes, and with weights of sizes far apart, as the kernels of local regressions give them. The
# latter are summed in several passes, which may take longer than scikit-learn, but not many times as long.
WEIGHTED = ((200_000, 10), (30_000, 100), (5_000, 500))
WEIGHTED_BARS = {'uniform': 1, 'exp(-4 z²)': 0.5}

# So many fits are measured in a row that it does not count how long a processor that has rested takes to wake up.
ELEMENTS_IN_A_ROW = 20_000_000
DTYPES = ('float32', 'float64')
N_PROCESSORS = len(os.sched_getaffinity(0))


def make_data(n_samples, n_features, dtype, deficient=False):
    random = numpy.random.default_rng(1)
    X = random.standard_normal((n_samples, n_features), dtype=dtype)
    if deficient:
        # Two features that follow from others, and one that is constant.
        X[:, -1] = X[:, 0]
        X[:, -2] = X[:, 1] - X[:, 2]
        X[:, -3] = 3
    y = X @ random.standard_normal(n_features, dtype=dtype) + random.standard_normal(n_samples, dtype=dtype)
    return X, y


class Bench:
    def __init__(self, program, arguments):
        self.program = program
        self.arguments = arguments
        self.n_missed = 0
        self.rows = []

    def bar(self, name, ratio, least):
        met = ratio >= least
        self.n_missed += not met
        print(f'    {name}: {ratio:.2f}x, bar {least}x: {"met" if met else "missed"}', flush=True)

    def model(self, **properties):
        """A model as users make it: no property is set to its default."""
        if self.arguments.threads != N_PROCESSORS:
            properties['n_threads'] = self.arguments.threads
        return Apr.LinearRegression(**properties)

    def roofline(self, n_samples, n_features, dtype):
        n_bytes = n_samples * (n_features + 1) * numpy.dtype(dtype).itemsize
        n_products = n_samples * (n_features + 2) * (n_features + 3) / 2
        read = float(self.program.ask(f'read {n_bytes} {self.arguments.threads} 5')[0]) / 1e9
        rate = float(self.program.ask(f'products {n_samples} {n_features} {dtype} {self.arguments.threads}')[0])
        return read, n_products / rate

    def fit(self, n_samples, n_features, dtype, bars, double_bars, deficient=False):
        repeats = max(1, ELEMENTS_IN_A_ROW // (n_samples * n_features))
        name = f'{n_samples} x {n_features} {dtype}{" rank-deficient" if deficient else ""}'
        if self.arguments.only not in name:
            return
        X, y = make_data(n_samples, n_features, dtype, deficient)
        functions = {
            'scikit-learn LinearRegression': lambda: LinearRegression().fit(X, y),
            'scikit-learn Ridge(solver="cholesky")': lambda: Ridge(solver='cholesky').fit(X, y),
            'ours, exact': lambda: self.model().fit(X, y),
        }
        in_double = double_bars is not None
        if in_double:
            functions['ours, precision=double'] = lambda: self.model(precision='double').fit(X, y)
        if (n_samples, n_features) == (1_000, 10):
            command = f'fit {n_samples} {n_features} {dtype} {self.arguments.threads} {repeats}'
            functions['ours, exact, in C'] = lambda: float(self.program.ask(command)[0]) / 1e9

        for key, function in functions.items():
            if repeats > 1 and 'in C' not in key:
                functions[key] = rounds.repeated(function, repeats)
        with threadpoolctl.threadpool_limits(self.arguments.threads):
            times = rounds.interleave(functions, self.arguments.rounds)
        medians = {key: rounds.median(values) for key, values in times.items()}

        print(name)
        theirs = medians['scikit-learn LinearRegression']
        for key, seconds in medians.items():
            print(f'    {key:40}{rounds.show(seconds):>14}{theirs / seconds:10.2f}x', flush=True)
        read, arithmetic = self.roofline(n_samples, n_features, dtype)
        limit = max(read, arithmetic)
        print(f'    reading the data once {rounds.show(read)}, arithmetic at the peak {rounds.show(arithmetic)}: '
              f'the longer is {100 * limit / medians["ours, exact"]:.0f} % of what exact takes')
        self.rows.append((name, rounds.show(theirs), rounds.show(medians['ours, exact']),
                          f'{theirs / medians["ours, exact"]:.1f}'))
        which = DTYPES.index(dtype)
        self.bar('exact', theirs / medians['ours, exact'], bars[which])
        if 'ours, exact, in C' in medians:
            self.bar('exact, in C', theirs / medians['ours, exact, in C'], IN_C)
        if in_double:
            seconds = medians['ours, precision=double']
            self.bar('precision=double', theirs / seconds, double_bars[which])
            if dtype == 'float64':
                ridge = medians['scikit-learn Ridge(solver="cholesky")']
                self.bar('precision=double, beside Ridge', ridge / seconds, 1)

    def fit_few(self, n_samples, n_features, dtype):
        """Few samples, without a penalty and with one."""
        name = f'{n_samples} x {n_features} {dtype}'
        if self.arguments.only not in name:
            return
        X, y = make_data(n_samples, n_features, dtype)

        functions = {
            'scikit-learn LinearRegression': lambda: LinearRegression().fit(X, y),
            'ours': lambda: self.model().fit(X, y),
            'scikit-learn Ridge': lambda: Ridge().fit(X, y),
            'ours, alpha = 1': lambda: self.model(alpha=1).fit(X, y),
        }
        repeats = max(1, ELEMENTS_IN_A_ROW // 10 // (n_samples * n_features))
        if repeats > 1:
            functions = {key: rounds.repeated(function, repeats) for key, function in functions.items()}
        with threadpoolctl.threadpool_limits(self.arguments.threads):
            times = rounds.interleave(functions, self.arguments.rounds)
        medians = {key: rounds.median(values) for key, values in times.items()}

        print(name)
        for key, seconds in medians.items():
            print(f'    {key:40}{rounds.show(seconds):>14}', flush=True)
        for key, reference, title in (('ours', 'scikit-learn LinearRegression', name),
                                      ('ours, alpha = 1', 'scikit-learn Ridge', f'{name}, ridge')):
            self.rows.append((title, rounds.show(medians[reference]), rounds.show(medians[key]),
                              f'{medians[reference] / medians[key]:.1f}'))
        self.bar('minimum norm', medians['scikit-learn LinearRegression'] / medians['ours'], FEW_SAMPLES_BAR)
        self.bar('ridge', medians['scikit-learn Ridge'] / medians['ours, alpha = 1'], FEW_SAMPLES_BAR)

    def fit_weighted(self, n_samples, n_features, dtype):
        name = f'{n_samples} x {n_features} {dtype}, weights'
        if self.arguments.only not in name:
            return
        X, y = make_data(n_samples, n_features, dtype)
        random = numpy.random.default_rng(2)
        weights = {
            'uniform': random.uniform(size=n_samples),
            'exp(-4 z²)': numpy.exp(-4 * random.standard_normal(n_samples) ** 2),
        }
        for kind, weight in weights.items():
            functions = {
                'scikit-learn LinearRegression': lambda w=weight: LinearRegression().fit(X, y, sample_weight=w),
                'ours': lambda w=weight: self.model().fit(X, y, sample_weight=w),
            }
            with threadpoolctl.threadpool_limits(self.arguments.threads):
                times = rounds.interleave(functions, self.arguments.rounds)
            medians = {key: rounds.median(values) for key, values in times.items()}
            theirs, ours = medians.values()
            print(f'{name} {kind}')
            self.rows.append((f'{name} {kind}', rounds.show(theirs), rounds.show(ours), f'{theirs / ours:.1f}'))
            self.bar('weighted', theirs / ours, WEIGHTED_BARS[kind])


def measure_kernels():
    """Runs itself for each kernel; returns how many of them miss a bar."""
    n_missed = 0
    for kernel in Apr.list_kernels():
        if kernel in BARS:
            environment = dict(os.environ, APRENDER_KERNEL=kernel)
            environment.pop('OPENBLAS_CORETYPE', None)
            if kernel in BLAS:
                environment['OPENBLAS_CORETYPE'] = BLAS[kernel]
            command = [sys.executable, __file__, *sys.argv[1:]]
            n_missed += subprocess.run(command, env=environment, check=False).returncode != 0
    return n_missed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('version')
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--threads', type=int, default=N_PROCESSORS)
    parser.add_argument('--only', default='')
    arguments = parser.parse_args()
    kernel = os.environ.get('APRENDER_KERNEL')
    if kernel is None:
        return 1 if measure_kernels() else 0
    if kernel not in BARS:
        parser.error(f'there are no bars for APRENDER_KERNEL={kernel}')

    print(f'# {rounds.machine()}, kernel {kernel}')
    print(f'# ours: aprender {arguments.version}; theirs: scikit-learn {sklearn.__version__}, '
          f'numpy {numpy.__version__}')
    print(f'# {arguments.threads} threads; medians of {arguments.rounds} rounds in turn')
    program = rounds.Program('ours', [arguments.program])
    bench = Bench(program, arguments)
    all_bars = BARS[kernel]
    for shape, bars in all_bars.items():
        for dtype in DTYPES:
            bench.fit(*shape, dtype, bars, DOUBLE_BARS.get(shape))
    for dtype in DTYPES:
        bench.fit(5_000, 1_000, dtype, all_bars[5_000, 1_000], DOUBLE_BARS[5_000, 1_000], deficient=True)
    for shape in FEW_SAMPLES:
        for dtype in DTYPES:
            bench.fit_few(*shape, dtype)
    for shape in WEIGHTED:
        for dtype in DTYPES:
            bench.fit_weighted(*shape, dtype)
    program.close()
    if not bench.rows:
        parser.error(f'no row is named like “{arguments.only}”: they are like “5000 x 1000 float64”')
    rounds.print_table(('samples x features', 'scikit-learn', 'aprender', 'times as fast'), bench.rows)
    print(f'{bench.n_missed} bars are missed' if bench.n_missed else 'all bars are met')
    return 1 if bench.n_missed else 0


if __name__ == '__main__':
    sys.exit(main())
