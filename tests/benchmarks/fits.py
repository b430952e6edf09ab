# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fitting linear regressions, against scikit-learn in one run.

    with-peer fits.py REGRESSION VERSION [--rounds N] [--threads N] [--only TEXT]

REGRESSION is regression.c, built; VERSION its version. Both fit the same arrays through what a user calls, with
the same number of threads, in turns; the ratio is the median of theirs divided by the median of ours. Behind it
stands what the machine allows: the time that reading the data once takes, or that the products of the exact sums
take at the peak, whichever is longer, and how many times that we take. --only measures the cases whose name has
the text. Fails where a bar is missed.
"""

import argparse
import os
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

# The least ratios to scikit-learn's LinearRegression: exact sums in float32 and float64, then sums in double.
BARS = {
    (1_000, 10): ((10, 10), None),
    (1_000_000, 10): ((12, 7), None),
    (100_000, 100): ((6, 4), None),
    (500_000, 100): ((7, 5), None),
    (20_000, 500): ((1.2, 1), (2.5, 4)),
    (5_000, 1_000): ((1.2, 1), (2, 3.5)),
}
IN_C = 20

# So many fits are measured in a row that it does not count how long a processor that has rested takes to wake up.
ELEMENTS_IN_A_ROW = 20_000_000
DTYPES = ('float32', 'float64')

# Operations for a product of the exact sums: of vectors of doubles (apr-gram-private.h), or of bytes
# (apr-gram-digits-private.h).
OPERATIONS = {'float32': 4, 'float64': 10}
BYTE_OPERATIONS = {'float32': 36, 'float64': 81}


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

    def bar(self, name, ratio, least):
        met = ratio >= least
        self.n_missed += not met
        print(f'    {name}: {ratio:.2f}x, bar {least}x: {"met" if met else "missed"}', flush=True)

    def model(self, precision):
        model = Apr.LinearRegression()
        model.props.n_threads = self.arguments.threads
        model.props.precision = precision
        return model

    def roofline(self, n_samples, n_features, dtype):
        n_bytes = n_samples * (n_features + 1) * numpy.dtype(dtype).itemsize
        n_products = n_samples * (n_features + 2) * (n_features + 3) / 2
        read = float(self.program.ask(f'read {n_bytes} {self.arguments.threads} 5')[0]) / 1e9
        rate = float(self.program.ask(f'peak {self.arguments.threads}')[0])
        byte_rate = float(self.program.ask(f'byte-peak {self.arguments.threads}')[0])
        if byte_rate > 0:
            return read, n_products * BYTE_OPERATIONS[dtype] / byte_rate
        return read, n_products * OPERATIONS[dtype] / rate

    def fit(self, n_samples, n_features, dtype, bars, deficient=False, repeats=1):
        name = f'{n_samples} x {n_features} {dtype}{" rank-deficient" if deficient else ""}'
        if self.arguments.only not in name:
            return
        X, y = make_data(n_samples, n_features, dtype, deficient)
        functions = {
            'scikit-learn LinearRegression': lambda: LinearRegression().fit(X, y),
            'scikit-learn Ridge(solver="cholesky")': lambda: Ridge(solver='cholesky').fit(X, y),
            'ours, exact': lambda: self.model(Apr.Precision.EXACT).fit(X, y),
        }
        in_double = bars[1] is not None
        if in_double:
            functions['ours, precision=double'] = lambda: self.model(Apr.Precision.DOUBLE).fit(X, y)
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
              f'exact takes {medians["ours, exact"] / limit:.1f} times the longer')
        which = DTYPES.index(dtype)
        self.bar('exact', theirs / medians['ours, exact'], bars[0][which])
        if 'ours, exact, in C' in medians:
            self.bar('exact, in C', theirs / medians['ours, exact, in C'], IN_C)
        if in_double:
            seconds = medians['ours, precision=double']
            self.bar('precision=double', theirs / seconds, bars[1][which])
            if dtype == 'float64':
                ridge = medians['scikit-learn Ridge(solver="cholesky")']
                self.bar('precision=double, beside Ridge', ridge / seconds, 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('version')
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--threads', type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument('--only', default='')
    arguments = parser.parse_args()

    print(f'# {rounds.machine()}')
    print(f'# ours: aprender {arguments.version}; theirs: scikit-learn {sklearn.__version__}, '
          f'numpy {numpy.__version__}')
    print(f'# {arguments.threads} threads; medians of {arguments.rounds} rounds in turn; '
          'the last column is scikit-learn LinearRegression divided by each')
    program = rounds.Program('ours', [arguments.program])
    bench = Bench(program, arguments)
    for (n_samples, n_features), bars in BARS.items():
        for dtype in DTYPES:
            bench.fit(n_samples, n_features, dtype, bars, repeats=max(1, ELEMENTS_IN_A_ROW // (n_samples * n_features)))
    for dtype in DTYPES:
        bench.fit(5_000, 1_000, dtype, BARS[5_000, 1_000], deficient=True)
    program.close()
    print(f'{bench.n_missed} bars are missed' if bench.n_missed else 'all bars are met')
    return 1 if bench.n_missed else 0


if __name__ == '__main__':
    sys.exit(main())
