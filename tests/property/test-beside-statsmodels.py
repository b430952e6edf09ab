# SPDX-License-Identifier: LGPL-2.1-or-later
"""Asks the Python package statsmodels for the statistics of regressions of random data, and compares.

    with-peer python test-beside-statsmodels.py

Both know the same formulas; statsmodels works in doubles, so the data are such that it loses few digits. What Python's
users have besides, such as frames, clusters and formulas of models, bindings/python/tests/test_statsmodels.py tests.
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

        self.compare_tests(ours, theirs, len(errors))
        for kind in ('HC0', 'HC1', 'HC2', 'HC3') if theirs.df_resid > 0 else ():
            X_used, y_used, w_used = X[used], y[used], None if weights is None else weights[used]
            ours = model.get_robust_statistics(X_used, y_used, w_used, kind)
            robust = theirs.get_robustcov_results(cov_type=kind, use_t=True)
            self.assertClose(ours.standard_errors, robust.bse, f'{kind} standard errors')
            self.assertClose(ours.covariance, robust.cov_params(), f'{kind} covariance', numpy.outer(robust.bse, robust.bse))
            self.assertClose(ours.get_confidence_intervals(0.9), robust.conf_int(0.1), f'{kind} intervals',
                             10 * robust.bse[:, None])
            self.assertClose(ours.f_statistic, robust.fvalue, f'{kind} F')
            self.compare_tests(ours, robust, len(errors))

        new = X[:5] * 1.5 + 0.25
        frame = theirs.get_prediction(
            statsmodels.add_constant(new, has_constant='add') if intercept else new, weights=1)
        for kind, observed in ((Apr.IntervalKind.CONFIDENCE, False), (Apr.IntervalKind.PREDICTION, True)):
            expected = frame.conf_int(obs=observed, alpha=0.1)
            lower, upper = model.predict_interval(new, 0.9, kind)
            scale = (expected[:, 1] - expected[:, 0]) + numpy.abs(expected[:, 0])
            self.assertClose(lower, expected[:, 0], 'lower ends', scale)
            self.assertClose(upper, expected[:, 1], 'upper ends', scale)

    def compare_tests(self, ours, theirs, n_terms):
        random = numpy.random.default_rng(7)
        factors, values = random.normal(size=(min(2, n_terms), n_terms)), random.normal(size=min(2, n_terms))
        test, f_test, t_test = (ours.test_hypothesis(factors, values), theirs.f_test((factors, values)),
                                theirs.t_test((factors, values)))
        self.assertClose(test.f_statistic, f_test.fvalue, 'F of hypotheses')
        self.assertClose(test.f_p_value, f_test.pvalue, 'p of hypotheses', 10 * (1 + f_test.fvalue) * f_test.pvalue + 1e-290)
        self.assertEqual((test.df_hypothesis, test.df_residual), (f_test.df_num, f_test.df_denom))
        self.assertClose(test.estimates, t_test.effect, 'estimates', test.standard_errors)
        self.assertClose(test.get_confidence_intervals(0.9), t_test.conf_int(0.1), 'intervals of hypotheses',
                         10 * test.standard_errors[:, None])
        self.assertClose(test.t_values, numpy.ravel(t_test.tvalue), 't of hypotheses', 1 + numpy.abs(t_test.tvalue).ravel())

    def test_nested_models(self):
        random = numpy.random.default_rng(8)
        X, y = random.normal(size=(50, 6)), random.normal(size=50)
        y += X[:, 0] + X[:, 4] / 5
        for weights in (None, random.uniform(0.1, 3, 50)):
            ours = [Apr.LinearRegression().fit(X[:, :p], y, weights).get_statistics() for p in (6, 2)]
            theirs = [statsmodels.WLS(y, statsmodels.add_constant(X[:, :p]), 1 if weights is None else weights).fit()
                      for p in (6, 2)]
            f, p_value, df = theirs[0].compare_f_test(theirs[1])
            test = ours[0].compare(ours[1])
            self.assertClose([test.f_statistic, test.f_p_value, test.df_hypothesis], [f, p_value, df], 'comparison')

    def test_hypotheses_as_text(self):
        """Both read the same hypotheses out of a text, and find the same of them."""
        random = numpy.random.default_rng(10)
        X = random.normal(size=(50, 4))
        y = X @ [1, 1.5, 0.3, 0] + random.normal(size=50) * (1 + X[:, 0] ** 2)
        model = Apr.LinearRegression()
        model.set_feature_names(['x1', 'x2', 'x3', 'x4'])
        theirs = statsmodels.OLS(y, statsmodels.add_constant(X)).fit()
        for ours, robust in ((model.fit(X, y).get_statistics(), theirs),
                             (model.get_robust_statistics(X, y, kind='hc3'),
                              theirs.get_robustcov_results(cov_type='HC3', use_t=True))):
            for text in ('x1 = x2', 'x1 + 2*x2 = 3', 'x1, x2 = 0', 'x1 = x2 = x3', '2*(x1 - x3) = -1, x2/4 = 0.5', 'x4',
                         'x1 - -x2 = 1e-1 + x3*3'):
                test, f_test = ours.test_hypothesis(text), robust.f_test(text)
                self.assertEqual(test.df_hypothesis, f_test.df_num, text)
                self.assertClose(test.f_statistic, f_test.fvalue, text)
                self.assertClose(numpy.abs(test.t_values), numpy.abs(numpy.ravel(robust.t_test(text).tvalue)), text,
                                 1 + numpy.abs(test.t_values))

    def test_constant_columns(self):
        random = numpy.random.default_rng(9)
        X = random.normal(size=(60, 3)) * [1, 10, 0.1] + [300, 0, -2]
        groups = (numpy.arange(60)[:, None] % 3 == [0, 1, 2]).astype(float)
        shares = random.uniform(size=(60, 4))
        shares /= shares.sum(axis=1, keepdims=True)
        y = X @ [1, 2, 3] + groups @ [0, 1, 5] + random.normal(size=60)
        designs = {'constant': statsmodels.add_constant(X), 'tenths': statsmodels.add_constant(X) * 0.1,
                   'ones alone': numpy.ones((60, 1)), 'dummies': numpy.column_stack([X, groups]), 'shares': shares,
                   'none': X, 'nearly constant': numpy.column_stack([X, 1 + random.normal(size=60) * 1e-4])}
        for name, design in designs.items():
            for weights in (None, random.uniform(0.1, 3, 60)):
                with self.subTest(name=name, weighted=weights is not None):
                    model = Apr.LinearRegression(fit_intercept=False).fit(design, y, weights)
                    ours = model.get_statistics()
                    theirs = statsmodels.WLS(y, design, 1 if weights is None else weights).fit()
                    self.assertEqual((ours.df_model, ours.df_residual), (theirs.df_model, theirs.df_resid))
                    self.assertClose(ours.r_squared, theirs.rsquared, 'R²', 1)
                    self.assertClose(ours.adjusted_r_squared, theirs.rsquared_adj, 'adjusted R²', 1)
                    self.assertClose(ours.total_sum_of_squares,
                                     theirs.centered_tss if theirs.k_constant else theirs.uncentered_tss, 'total')
                    for value, other in ((ours.aic, theirs.aic), (ours.bic, theirs.bic)):
                        self.assertClose(value, other, 'AIC or BIC', 1000)
                    if name == 'ones alone':
                        self.assertTrue(numpy.isnan(ours.f_statistic) and numpy.isnan(theirs.fvalue))
                        continue
                    self.assertClose(ours.f_statistic, theirs.fvalue, 'F')
                    # Where the constant is no column, statsmodels has none by a robust covariance, and few digits where
                    # it nearly is one.
                    if name == 'nearly constant':
                        continue
                    robust = theirs.get_robustcov_results(cov_type='HC1', use_t=True)
                    if not numpy.isnan(robust.fvalue):
                        self.assertClose(model.get_robust_statistics(design, y, weights, 'HC1').f_statistic, robust.fvalue,
                                         'robust F')
                    if weights is None and name == 'constant':
                        inflation = [variance_inflation_factor(design, i) for i in range(1, design.shape[1])]
                        self.assertClose(ours.variance_inflation[1:], inflation, 'variance inflation')
                        self.assertTrue(numpy.isnan(ours.variance_inflation[0]))

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
