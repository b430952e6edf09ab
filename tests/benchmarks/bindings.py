# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a call from Python costs beside the same call in C, and beside scikit-learn, in one run.

    with-peer bindings.py [--rounds N]

C's functions are called in this process, by ctypes, with the same arrays, in turns with Python's methods. Ratios are
medians over pairs, of processor time, which other programs do not show in. Fails where a bar is missed.
"""

import argparse
import ctypes
import gc
import statistics
import sys
import time

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

N_SAMPLES, N_FEATURES = 1_000_000, 10
MOST_OVER_C = 1.05
PART_OF_SCIKIT_LEARN = 1 / 6

library = ctypes.CDLL('libaprender-1.0.so.0')
for name in ('apr_linear_regression_new', 'apr_estimator_predict', 'apr_tensor_new_from_floats'):
    getattr(library, name).restype = ctypes.c_void_p


def make_tensor(array):
    """A tensor of C's, of floats in C order."""
    shape = (ctypes.c_size_t * array.ndim)(*array.shape)
    return ctypes.c_void_p(library.apr_tensor_new_from_floats(
        ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.size), shape, ctypes.c_size_t(array.ndim), None))


def measure(function, n):
    start = time.process_time()
    for _ in range(n):
        function()
    return (time.process_time() - start) / n


def compare(ours, theirs, n_rounds, n):
    """The median of the ratios, and of the seconds of each."""
    ours(), theirs()
    pairs = []
    gc.disable()
    for i in range(n_rounds):
        if i % 2 == 0:
            pairs.append((measure(ours, n), measure(theirs, n)))
        else:
            pairs.append((measure(theirs, n), measure(ours, n))[::-1])
    gc.enable()
    return statistics.median(a / b for a, b in pairs), *(statistics.median(times) for times in zip(*pairs))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--rounds', type=int, default=41)
    arguments = parser.parse_args()
    random = numpy.random.default_rng(1)
    X = random.standard_normal((N_SAMPLES, N_FEATURES), dtype='f4')
    y = X @ numpy.arange(N_FEATURES).astype('f4') + random.standard_normal(N_SAMPLES, dtype='f4')
    x_in_c, y_in_c = make_tensor(X), make_tensor(y)
    model = Apr.LinearRegression().fit(X, y)
    # The address of an object is what PyGObject hashes it to.
    model_in_c = ctypes.c_void_p(hash(model))

    def fit_in_c():
        new = ctypes.c_void_p(library.apr_linear_regression_new())
        if not library.apr_estimator_fit(new, x_in_c, y_in_c, None, None, None):
            raise RuntimeError('the fit failed')
        library.g_object_unref(new)

    def predict_in_c():
        library.apr_tensor_unref(ctypes.c_void_p(
            library.apr_estimator_predict(model_in_c, x_in_c, None)))

    row = X[7:8]
    values = row[0].tolist()
    theirs = LinearRegression().fit(X[:1000], y[:1000])
    print(f'# {rounds.machine()}')
    print(f'# aprender {Apr.__version__}, scikit-learn {sklearn.__version__}, numpy {numpy.__version__}; '
          f'medians of {arguments.rounds} pairs, processor time')
    n_missed = 0
    for text, function, other, n, most in (
            (f'fit of {N_SAMPLES} x {N_FEATURES} float32 over C', lambda: Apr.LinearRegression().fit(X, y), fit_in_c, 2, MOST_OVER_C),
            (f'predict of {N_SAMPLES} x {N_FEATURES} float32 over C', lambda: model.predict(X), predict_in_c, 20, MOST_OVER_C),
            ('predict_one of a list over scikit-learn', lambda: model.predict_one(values), lambda: theirs.predict(row), 300,
             PART_OF_SCIKIT_LEARN),
            ('predict_one of an array over scikit-learn', lambda: model.predict_one(X[7]), lambda: theirs.predict(row), 300,
             PART_OF_SCIKIT_LEARN)):
        with threadpoolctl.threadpool_limits(1):
            ratio, ours_seconds, other_seconds = compare(function, other, arguments.rounds, n)
        n_missed += ratio > most
        print(f'{text}: {rounds.show(ours_seconds)} by {rounds.show(other_seconds)}, {ratio:.3f}, bar {most:.3f}: '
              f'{"met" if ratio <= most else "missed"}', flush=True)
    print(f'{n_missed} bars are missed' if n_missed else 'all bars are met')
    return 1 if n_missed else 0


if __name__ == '__main__':
    sys.exit(main())
