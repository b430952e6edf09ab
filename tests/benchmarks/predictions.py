# SPDX-License-Identifier: LGPL-2.1-or-later
"""Predicting with linear regressions, against scikit-learn in one run.

    with-peer predictions.py REGRESSION VERSION [--rounds N] [--threads N]

REGRESSION is regression.c, built; VERSION its version. The same arrays, the same number of threads, in turns; ratios
are of medians. Beside the predictions stands the time that reading X once takes, measured in the same rounds. Fails
where a bar is missed.
"""

import argparse
import os
import sys

import rounds

try:
    import numpy
    import sklearn
    import threadpoolctl
    from sklearn.linear_model import LinearRegression
except ImportError as error:
    print(f'1..0 # SKIP {error}: tests/interop/install-peers python installs scikit-learn')
    sys.exit(0)

import gi

gi.require_version('Apr', '1.0')
from gi.repository import Apr  # noqa: E402

SHAPES = ((1_000_000, 10), (200_000, 100))
N_FEATURES = 10

# In a row, so many that it does not count how long a processor that has rested takes to wake up.
REPEATS = 40

TWICE = 2
OF_THE_BANDWIDTH = 0.8
SINGLE_PER_SECOND = 100_000
SINGLE_NANOSECONDS = 40


class Bars:
    def __init__(self):
        self.n_missed = 0
        self.rows = []

    def check(self, text, met):
        self.n_missed += not met
        print(f'    {text}: {"met" if met else "missed"}', flush=True)


def measure_many(program, arguments, bars, n_samples, n_features, dtype):
    random = numpy.random.default_rng(1)
    X = random.standard_normal((n_samples, n_features), dtype=dtype)
    y = X[:, 0] + random.standard_normal(n_samples, dtype=dtype)
    theirs = LinearRegression().fit(X[:1000], y[:1000])
    ours = Apr.LinearRegression().fit(X[:1000], y[:1000])
    ours.props.n_threads = arguments.threads
    out = numpy.empty(n_samples, dtype)

    def ask(question):
        return float(program.ask(f'{question} {arguments.threads} {REPEATS}')[0]) / 1e9

    functions = {
        'scikit-learn': rounds.repeated(lambda: theirs.predict(X), REPEATS),
        'ours': rounds.repeated(lambda: ours.predict(X), REPEATS),
        'ours, into an array': rounds.repeated(lambda: ours.predict(X, out=out), REPEATS),
        'ours in C, into memory': lambda: ask(f'predict {n_samples} {n_features} {dtype}'),
        'reading X': lambda: ask(f'read {X.nbytes}'),
    }
    with threadpoolctl.threadpool_limits(arguments.threads):
        times = rounds.interleave(functions, arguments.rounds)
    medians = {name: rounds.median(values) for name, values in times.items()}

    print(f'{n_samples} x {n_features} {dtype}')
    for name, seconds in medians.items():
        print(f'    {name:30}{rounds.show(seconds):>14}{medians["scikit-learn"] / seconds:10.2f}x'
              f'{X.nbytes / seconds / 1e9:10.1f} GB/s of X')
    ratio = medians['scikit-learn'] / medians['ours']
    bars.rows.append((f'{n_samples} x {n_features} {dtype}', rounds.show(medians['scikit-learn']),
                      rounds.show(medians['ours']), f'{ratio:.1f}'))
    bars.check(f'{ratio:.2f} times scikit-learn\'s rate, bar {TWICE}', ratio >= TWICE)
    part = medians['reading X'] / medians['ours in C, into memory']
    bars.check(f'{part:.0%} of the read bandwidth in C, bar {OF_THE_BANDWIDTH:.0%}', part >= OF_THE_BANDWIDTH)
    part = medians['reading X'] / medians['ours, into an array']
    bars.check(f'{part:.0%} of it from Python, bar {OF_THE_BANDWIDTH:.0%}', part >= OF_THE_BANDWIDTH)


def measure_single(program, arguments, bars, dtype):
    random = numpy.random.default_rng(2)
    X = random.standard_normal((1000, N_FEATURES), dtype=dtype)
    y = X[:, 0] + random.standard_normal(1000, dtype=dtype)
    theirs = LinearRegression().fit(X, y)
    ours = Apr.LinearRegression().fit(X, y)
    single, matrix, values = X[7], X[7:8], X[7].tolist()
    assert ours.predict_one(single) == ours.predict_one(values) == ours.predict(matrix)[0]

    functions = {
        'scikit-learn, a matrix of one row': rounds.repeated(lambda: theirs.predict(matrix), 300),
        'ours, a matrix of one row': rounds.repeated(lambda: ours.predict(matrix), 1000),
        'ours, predict_one of an array': rounds.repeated(lambda: ours.predict_one(single), 10_000),
        'ours, predict_one of a list': rounds.repeated(lambda: ours.predict_one(values), 10_000),
        'ours in C, processor time':
            lambda: float(program.ask(f'predict-one {N_FEATURES} {dtype} 1000000')[0]) / 1e9,
    }
    with threadpoolctl.threadpool_limits(arguments.threads):
        times = rounds.interleave(functions, arguments.rounds)
    medians = {name: rounds.median(values) for name, values in times.items()}

    print(f'one sample of {N_FEATURES} {dtype}')
    for name, seconds in medians.items():
        print(f'    {name:36}{seconds * 1e6:10.3f} µs')
    reference = medians['scikit-learn, a matrix of one row']
    for name in ('ours, a matrix of one row', 'ours, predict_one of a list', 'ours in C, processor time'):
        bars.rows.append((f'one row of {N_FEATURES} {dtype}' + name.removeprefix('ours').removesuffix(', processor time'),
                          f'{reference * 1e6:.1f} µs', f'{medians[name] * 1e6:.3f} µs', f'{reference / medians[name]:.0f}'))
    for what in ('an array', 'a list'):
        rate = 1 / medians[f'ours, predict_one of {what}']
        bars.check(f'{rate:.0f} of {what} a second from Python, bar {SINGLE_PER_SECOND}',
                   rate >= SINGLE_PER_SECOND)
    nanoseconds = medians['ours in C, processor time'] * 1e9
    bars.check(f'{nanoseconds:.0f} ns in C, bar {SINGLE_NANOSECONDS}', nanoseconds < SINGLE_NANOSECONDS)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('version')
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--threads', type=int, default=len(os.sched_getaffinity(0)))
    arguments = parser.parse_args()

    print(f'# {rounds.machine()}')
    print(f'# ours: aprender {arguments.version}; theirs: scikit-learn {sklearn.__version__}, '
          f'numpy {numpy.__version__}')
    print(f'# {arguments.threads} threads; medians of {arguments.rounds} rounds in turn')
    program = rounds.Program('ours', [arguments.program])
    bars = Bars()
    for shape in SHAPES:
        for dtype in ('float32', 'float64'):
            measure_many(program, arguments, bars, *shape, dtype)
    for dtype in ('float32', 'float64'):
        measure_single(program, arguments, bars, dtype)
    program.close()
    rounds.print_table(('predictions', 'scikit-learn', 'aprender', 'times as fast'), bars.rows)
    print(f'{bars.n_missed} bars are missed' if bars.n_missed else 'all bars are met')
    return 1 if bars.n_missed else 0


if __name__ == '__main__':
    sys.exit(main())
