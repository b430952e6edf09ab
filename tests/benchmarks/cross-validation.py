# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cross-validation, against scikit-learn in one run.

    with-peer cross-validation.py VERSION [--rounds N] [--threads N] [--only TEXT]

VERSION is that of the library. Both score the same arrays through what a user calls, in turns: one linear regression in
5 folds, beside cross_val_score; and 20 penalties in 5 shuffled folds, beside GridSearchCV without its last fit. A ratio
is the median of scikit-learn's times divided by the median of ours. Fails where a bar is missed.
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
    from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
except ImportError as error:
    print(f'1..0 # SKIP {error}: tests/interop/install-peers python installs scikit-learn')
    sys.exit(0)

import gi

gi.require_version('Apr', '1.0')
from gi.repository import Apr  # noqa: E402

N_FOLDS = 5
ALPHAS = numpy.logspace(-3, 3, 20)
# The least ratios, of one model and of the penalties.
BARS = {
    (1_000, 10): (5, 5),
    (100_000, 10): (15, 50),
    (100_000, 100): (15, 40),
    (5_000, 500): (3, 5),
}
N_PROCESSORS = len(os.sched_getaffinity(0))


def validate(X, y):
    return Apr.LinearRegression().cross_validate(Apr.Folds(X, y, folds=N_FOLDS))


def compare(X, y):
    folds = Apr.Folds(X, y, folds=N_FOLDS, seed=1)
    return [Apr.LinearRegression(alpha=alpha).cross_validate(folds).mean() for alpha in ALPHAS]


def search(X, y):
    folds = KFold(N_FOLDS, shuffle=True, random_state=1)
    return GridSearchCV(Ridge(), {'alpha': ALPHAS}, cv=folds, refit=False).fit(X, y)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('version')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--threads', type=int, default=N_PROCESSORS)
    parser.add_argument('--only', default='')
    arguments = parser.parse_args()
    print(f'# {rounds.machine()}, kernel {Apr.get_kernel()}')
    print(f'# ours: aprender {arguments.version}; theirs: scikit-learn {sklearn.__version__}, numpy {numpy.__version__}')
    print(f'# {arguments.threads} threads; medians of {arguments.rounds} rounds in turn')

    n_missed = 0
    for (n_samples, n_features), bars in BARS.items():
        name = f'{n_samples} x {n_features}'
        if arguments.only not in name:
            continue
        random = numpy.random.default_rng(1)
        X = random.standard_normal((n_samples, n_features))
        y = X @ random.standard_normal(n_features) + random.standard_normal(n_samples)
        theirs = cross_val_score(LinearRegression(), X, y, cv=N_FOLDS)
        assert numpy.allclose(validate(X, y), theirs, rtol=1e-9), (name, validate(X, y), theirs)

        functions = {
            'one model': (lambda X=X, y=y: cross_val_score(LinearRegression(), X, y, cv=N_FOLDS),
                          lambda X=X, y=y: validate(X, y)),
            f'{len(ALPHAS)} penalties': (lambda X=X, y=y: search(X, y), lambda X=X, y=y: compare(X, y)),
        }
        print(name)
        for (kind, pair), bar in zip(functions.items(), bars):
            with threadpoolctl.threadpool_limits(arguments.threads):
                times = rounds.interleave(dict(zip(('scikit-learn', 'ours'), pair)), arguments.rounds)
            medians = {key: rounds.median(values) for key, values in times.items()}
            ratio = medians['scikit-learn'] / medians['ours']
            met = ratio >= bar
            n_missed += not met
            print(f'    {kind:14} scikit-learn {rounds.show(medians["scikit-learn"]):>10}, ours '
                  f'{rounds.show(medians["ours"]):>10}: {ratio:.1f}x, bar {bar}x: {"met" if met else "missed"}', flush=True)
    return 1 if n_missed else 0


if __name__ == '__main__':
    sys.exit(main())
