# SPDX-License-Identifier: LGPL-2.1-or-later
"""Asks the Python package statsmodels for the statistics of the same regressions, and compares.

    with-peer test-statsmodels.py

Both know the same formulas; statsmodels works in doubles, so the data are such that it loses few digits.
"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'bindings' / 'python' / 'tests'))

import gi  # noqa: E402
import tap  # noqa: E402

gi.require_version('Apr', '1.0')
from gi.repository import Apr  # noqa: E402

try:
    import numpy
    import statsmodels.api as statsmodels
    from statsmodels.stats.outliers_influence import variance_inflation_factor
except ImportError:
    print('1..0 # SKIP the Python package statsmodels is not there: tests/interop/install-peers python installs it')
    sys.exit(0)

TOLERANCE = 1e-9


class Statsmodels(unittest.TestCase):
    def assertClose(self, ours, theirs, what, scale=None):
        ours, theirs = numpy.asarray(ours, 'f8'), numpy.asarray(theirs, 'f8')
        self.assertEqual(ours.shape, theirs.shape, what)
        difference = numpy.abs(ours - theirs)
        limit = TOLERANCE * (numpy.abs(theirs) if scale is None else scale)
        self.assertTrue(numpy.all(difference <= limit), f'{what}: {ours} is not {theirs}')

    def compare(self, X, y, weights, intercept):
        model = Apr.LinearRegression(fit_intercept=intercept)
        cut = len(y) // 3
        for rows in (slice(cut, None), slice(0, cut)):
            model.partial_fit(X[rows], y[rows], None if weights is None else weights[rows])
        ours = model.get_statistics()

        used = numpy.ones(len(y), bool) if weights is None else weights > 0
        design = statsmodels.add_constant(X[used], has_constant='add') if intercept else X[used]
        if weights is None:
            theirs = statsmodels.OLS(y, design, hasconst=intercept).fit()
        else:
            theirs = statsmodels.WLS(y[used], design, weights=weights[used], hasconst=intercept).fit()

        self.assertEqual((ours.n_samples, ours.df_model, ours.df_residual),
                         (theirs.nobs, theirs.df_model, theirs.df_resid))
        errors = theirs.bse
        self.assertClose(ours.coefficients, theirs.params, 'coefficients', errors)
        self.assertClose(ours.standard_errors, errors, 'standard errors')
        self.assertClose(ours.t_values, theirs.tvalues, 't values', 1 + numpy.abs(theirs.tvalues))
        # A relative error of t grows in the tails.
        growth = 1 + theirs.tvalues ** 2
        self.assertClose(ours.p_values, theirs.pvalues, 'p values', growth * theirs.pvalues + 1e-290)
        self.assertClose(ours.covariance, theirs.cov_params(), 'covariance', numpy.outer(errors, errors))
        for level in (0.5, 0.95, 0.999):
            intervals = ours.get_confidence_intervals(level)
            self.assertClose(intervals, theirs.conf_int(1 - level), 'intervals', 10 * errors[:, None])
        total = theirs.centered_tss if intercept else theirs.uncentered_tss
        for name, value in (
                ('residual_sum_of_squares', theirs.ssr), ('total_sum_of_squares', total),
                ('residual_variance', theirs.scale), ('residual_standard_error', theirs.scale ** 0.5),
                ('f_statistic', theirs.fvalue)):
            self.assertClose(getattr(ours, name), value, name)
        self.assertClose(ours.f_p_value, theirs.f_pvalue, 'p value of F',
                         theirs.df_model * (1 + theirs.fvalue) * theirs.f_pvalue * 10 + 1e-290)
        self.assertClose(ours.r_squared, theirs.rsquared, 'R²', 1)
        self.assertClose(ours.adjusted_r_squared, theirs.rsquared_adj, 'adjusted R²', 1)
        # A sum over the samples, of which any part may cancel.
        scale = 1e-12 / TOLERANCE * (len(y) + abs(theirs.llf))
        self.assertClose(ours.log_likelihood, theirs.llf, 'log-likelihood', scale)
        self.assertClose(ours.aic, theirs.aic, 'AIC', 2 * scale)
        self.assertClose(ours.bic, theirs.bic, 'BIC', 2 * scale)
        if weights is None and intercept:
            inflation = [variance_inflation_factor(design, i) for i in range(1, design.shape[1])]
            self.assertClose(ours.variance_inflation[1:], inflation, 'variance inflation')

        new = X[:5] * 1.5 + 0.25
        frame = theirs.get_prediction(
            statsmodels.add_constant(new, has_constant='add') if intercept else new, weights=1)
        for kind, observed in ((Apr.IntervalKind.CONFIDENCE, False), (Apr.IntervalKind.PREDICTION, True)):
            expected = frame.conf_int(obs=observed, alpha=0.1)
            lower, upper = model.predict_interval(new, 0.9, kind)
            scale = (expected[:, 1] - expected[:, 0]) + numpy.abs(expected[:, 0])
            self.assertClose(lower, expected[:, 0], 'lower ends', scale)
            self.assertClose(upper, expected[:, 1], 'upper ends', scale)

    def test_random_data(self):
        random = numpy.random.default_rng(20261121)
        for n, p in ((7, 2), (12, 1), (40, 5), (300, 20), (2000, 3)):
            for weighted in (False, True):
                for intercept in (True, False):
                    X = random.normal(size=(n, p)) * random.uniform(0.1, 100, p) + random.uniform(-3, 3, p)
                    y = X @ random.normal(size=p) + random.normal(size=n) * random.uniform(0.01, 100)
                    weights = random.uniform(0.01, 5, n) if weighted else None
                    if weighted:
                        weights[n // 2] = 0
                    with self.subTest(n=n, p=p, weighted=weighted, intercept=intercept):
                        self.compare(X, y, weights, intercept)


if __name__ == '__main__':
    tap.main()
