# SPDX-License-Identifier: LGPL-2.1-or-later
"""Metrics and predictions beside scikit-learn's: the same conventions, and numbers equal to its rounding.

    with-peer python test-beside-scikit-learn.py
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'bindings' / 'python' / 'tests'))

import tap  # noqa: E402
from common import Apr, TestCase, numpy  # noqa: E402

try:
    from sklearn import linear_model, metrics
except ImportError as error:
    print(f'1..0 # SKIP {error}: tests/interop/install-peers python installs scikit-learn')
    sys.exit(0)

METRICS = ('r2_score', 'explained_variance_score', 'mean_squared_error', 'root_mean_squared_error',
           'mean_absolute_error', 'mean_absolute_percentage_error', 'median_absolute_error')


class Metrics(TestCase):
    def setUp(self):
        self.random = numpy.random.default_rng(3)

    def check(self, y_true, y_pred, weights=None):
        for name in METRICS:
            theirs = getattr(metrics, name)(y_true, y_pred, sample_weight=weights)
            ours = getattr(Apr, name)(y_true, y_pred, weights)
            self.assertTrue(numpy.isclose(ours, theirs, rtol=1e-11, atol=1e-13), (name, ours, theirs))
            for multioutput in ('raw_values', 'variance_weighted', numpy.arange(1, numpy.shape(y_true)[-1] + 1)):
                if numpy.ndim(y_true) < 2 or name[-5:] != 'score' and str(multioutput) == 'variance_weighted':
                    continue
                theirs = getattr(metrics, name)(y_true, y_pred, sample_weight=weights, multioutput=multioutput)
                ours = getattr(Apr, name)(y_true, y_pred, weights, multioutput)
                self.assertTrue(numpy.allclose(ours, theirs, rtol=1e-11, atol=1e-13), (name, multioutput, ours, theirs))

    def test_one_target(self):
        for n in (2, 3, 10, 1000):
            y_true = self.random.normal(3, 2, n)
            y_pred = y_true + self.random.normal(0.5, 1, n)
            self.check(y_true, y_pred)
            self.check(y_true, y_pred, self.random.random(n))
            self.check(y_true, y_pred, self.random.integers(0, 3, n) + numpy.eye(n)[0])
            self.assertEqual(Apr.max_error(y_true, y_pred), metrics.max_error(y_true, y_pred))

    def test_several_targets(self):
        y_true = self.random.normal(3, [1, 10, 100], (50, 3))
        y_pred = y_true + self.random.normal(0.5, 1, (50, 3))
        self.check(y_true, y_pred)
        self.check(y_true, y_pred, self.random.random(50))

    def test_constant(self):
        constant = numpy.full(5, 2.0)
        for y_pred in (constant, constant + 1, numpy.arange(5.0)):
            self.check(constant, y_pred)

    def test_whole_numbers(self):
        self.check(numpy.array([1, 2, 4, 7]), numpy.array([1, 3, 3, 9]))


class Predictions(TestCase):
    def test_predict(self):
        random = numpy.random.default_rng(4)
        for n_targets in (1, 4):
            X = random.normal(size=(500, 7))
            y = X @ random.normal(size=(7, n_targets)) + random.normal(size=(500, n_targets))
            y = y[:, 0] if n_targets == 1 else y
            ours, theirs = Apr.LinearRegression().fit(X, y), linear_model.LinearRegression().fit(X, y)
            numpy.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-12)
            self.assertTrue(numpy.isclose(ours.score(X, y), theirs.score(X, y), rtol=1e-13))


class Penalties(TestCase):
    def test_ridge_with_a_penalty_for_each_target(self):
        random = numpy.random.default_rng(4)
        X, Y = random.normal(size=(30, 4)), random.normal(size=(30, 3))
        alphas = numpy.array([0.1, 10, 0.1])
        for intercept in (True, False):
            for weights in (None, random.uniform(0.1, 3, 30)):
                theirs = linear_model.Ridge(alpha=alphas, fit_intercept=intercept).fit(X, Y, weights)
                ours = Apr.LinearRegression(alphas=alphas, fit_intercept=intercept).fit(X, Y, weights)
                numpy.testing.assert_allclose(ours.coefficients, theirs.coef_, rtol=1e-10, atol=1e-12)
                numpy.testing.assert_allclose(ours.intercept, theirs.intercept_ * numpy.ones(3), rtol=1e-10, atol=1e-12)


if __name__ == '__main__':
    tap.main()
