#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Apr.HypothesisTest: tests of sums of coefficients, and of nested models."""

import math
import random

import exact
import tap
from common import Apr, GLib, TestCase, read_longley

KINDS = ('classical', 'hc0', 'hc1', 'hc2', 'hc3')


class HypothesisTest(TestCase):
    def assertClose(self, values, expected, tolerance=1e-11):
        values, expected = list(values), list(expected)
        self.assertEqual(len(values), len(expected))
        for value, other in zip(values, expected):
            self.assertLessEqual(abs(value - other), tolerance * abs(other), f'{values} is not {expected}')

    def check(self, X, y, weights, intercept, factors, values, tolerance=1e-11):
        model = Apr.LinearRegression(fit_intercept=intercept).fit(X, y, weights)
        fit = exact.Fit(X, y, weights, intercept)
        for kind in KINDS:
            test = model.get_robust_statistics(X, y, weights, kind).test_hypothesis(factors, values)
            estimates, errors, f = fit.test(kind, factors, values)
            self.assertEqual((test.df_hypothesis, test.df_residual), (len(factors), fit.df))
            self.assertClose(test.estimates, estimates, tolerance)
            self.assertClose(test.standard_errors, errors, tolerance)
            self.assertClose(test.t_values, [(a - b) / c for a, b, c in zip(estimates, values, errors)], tolerance)
            self.assertClose([test.f_statistic], [f], tolerance)

    def test_rational_numbers(self):
        numbers = random.Random(13)
        for n, p in ((6, 1), (9, 3), (30, 4)):
            for weighted in (False, True):
                for intercept in (True, False):
                    X = [[numbers.randrange(-50, 50) / 8 for _ in range(p)] for _ in range(n)]
                    y = [sum(row) + numbers.randrange(-9, 9) for row in X]
                    weights = [numbers.randrange(1, 9) / 4 for _ in X] if weighted else None
                    factors = [[numbers.randrange(-3, 4) + 0.5 for _ in range(p + intercept)] for _ in range(1 + (p > 1))]
                    with self.subTest(n=n, p=p, weighted=weighted, intercept=intercept):
                        self.check(X, y, weights, intercept, factors, [1, -2][:len(factors)])

    def test_longley(self):
        """The features depend on each other so much that the covariance in double has not the digits that F needs."""
        X, y = read_longley()
        every = [[float(i == j) for j in range(7)] for i in range(1, 7)]
        self.check(X, y, None, True, every, [0] * 6)
        self.check(X, y, None, True, [[0, 1, -1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 1]], [10, 2000])
        statistics = Apr.LinearRegression().fit(X, y).get_statistics()
        # NIST's.
        self.assertClose([statistics.f_statistic], [330.285339234588])
        self.assertClose([statistics.test_hypothesis(every).f_statistic], [330.285339234588])

    def test_far_from_zero_and_of_any_size(self):
        """Means that are large beside the spread, and columns that are very large and very small."""
        numbers = random.Random(3)
        base = [[numbers.randrange(-50, 50) / 8 for _ in range(2)] for _ in range(12)]
        y = [sum(row) + numbers.randrange(-9, 9) for row in base]
        weights = [numbers.randrange(1, 9) / 4 for _ in base]
        self.check([[a + 2.0 ** 24, b - 2.0 ** 20] for a, b in base], y, weights, True, [[0, 1, -1], [0, 1, 0]], [0, 1], 1e-7)
        for small, large in ((-600, 40), (-900, 900)):
            X = [[math.ldexp(a, small), math.ldexp(b, large)] for a, b in base]
            self.check(X, y, weights, False, [[math.ldexp(1, small), 0]], [2])
            self.check(X, y, weights, True, [[0, math.ldexp(1, small), math.ldexp(1, large)]], [1])

    def test_one_hypothesis_is_its_t_test(self):
        X, y = read_longley()
        statistics = Apr.LinearRegression().fit(X, y).get_statistics()
        for i in range(7):
            test = statistics.test_hypothesis([float(i == j) for j in range(7)])
            self.assertClose(test.t_values, [statistics.t_values[i]], 1e-14)
            for level in ({}, {'level': 0.5}):
                self.assertClose(test.get_confidence_intervals(**level)[0], statistics.get_confidence_intervals(**level)[i],
                                 1e-9)
            self.assertClose([test.f_statistic, test.f_p_value],
                             [statistics.t_values[i] ** 2, statistics.p_values[i]], 1e-12)
            self.assertEqual(test.estimates[0], statistics.coefficients[i])

    def test_nested_models(self):
        X, y = read_longley()
        statistics = Apr.LinearRegression().fit(X, y).get_statistics()
        some = [row[2:5] for row in X]
        smaller = Apr.LinearRegression().fit(some, y).get_statistics()
        test = statistics.compare(smaller)
        full, restricted = exact.Fit(X, y), exact.Fit(some, y)
        self.assertEqual((test.df_hypothesis, test.df_residual), (3, 9))
        self.assertClose([test.f_statistic], [float((restricted.rss - full.rss) / 3 / (full.rss / 9))])
        # It is the test that the coefficients are 0.
        wald = statistics.test_hypothesis([[float(i == j) for j in range(7)] for i in (1, 2, 6)])
        self.assertClose([wald.f_statistic, wald.f_p_value], [test.f_statistic, test.f_p_value])
        self.assertEqual(len(test.t_values), 0)
        self.assertIn('3 and 9 degrees', repr(test))

    def test_models_that_are_not_nested(self):
        X, y = read_longley()

        def fit(columns, names=None, y=y, **keywords):
            model = Apr.LinearRegression(**keywords).fit([[row[i] for i in columns] for row in X], y)
            model.feature_names = names
            return model.get_statistics()

        full = fit(range(6), list('abcdef'))
        self.assertEqual(full.compare(fit([4, 2], ['e', 'c'])).df_hypothesis, 4)
        # Without names on either side, what shows in the sums is all that there is; without an intercept, R² is about 0.
        self.assertEqual(full.compare(fit([4, 2])).df_hypothesis, 4)
        self.assertEqual(fit(range(6)).compare(fit([4, 2], ['e', 'c'])).df_hypothesis, 4)
        self.assertEqual(full.compare(fit([4, 2], ['e', 'c'], fit_intercept=False)).df_hypothesis, 5)
        self.assertEqual(full.compare(fit([4, 2], ['e', 'c'], precision='double')).df_hypothesis, 4)
        with self.assertRaisesRegex(ValueError, 'no part of this one, which has no feature “g”'):
            full.compare(fit([4, 2], ['e', 'g']))
        with self.assertRaisesRegex(ValueError, 'other targets: their total sums of squares are 1850.*and 7400'):
            full.compare(fit([4, 2], ['e', 'c'], [2 * value for value in y]))
        # Names count as such, however they look.
        numbered = fit(range(6), [f'x{i}' for i in range(6)])
        self.assertEqual(numbered.compare(fit([4, 2])).df_hypothesis, 4)
        self.assertEqual(fit(range(6)).compare(fit([4, 2], ['x1', 'g'])).df_hypothesis, 4)
        with self.assertRaisesRegex(ValueError, 'no part of this one, which has no feature “g”'):
            numbered.compare(fit([4, 2], ['x4', 'g']))
        # The smaller model has the smaller residual sum of squares.
        with self.assertRaisesRegex(ValueError, 'no part of this one: it has 14 degrees of freedom'):
            fit([2, 3]).compare(fit([1]))

    def test_errors(self):
        X, y = read_longley()
        model = Apr.LinearRegression().fit(X, y)
        statistics = model.get_statistics()
        for pattern, factors, *values in (
                (r'\[2\].* 7 terms', [1, 0]), ('some follow from the others', [[0, 1, 0, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0, 0]]),
                ('only factors of 0', [0] * 7), (r'\[2\].* 1 hypotheses', [1] * 7, [1, 2]), ('has a NaN at element 0', [math.nan] * 7),
                ('has an infinity at element 0', [1] * 7, [math.inf]),
                ('has a NaN at row 1, column 2', [[1] * 7, [1, 1, math.nan, 1, 1, 1, 1]])):
            with self.assertRaisesRegex(ValueError, pattern):
                statistics.test_hypothesis(factors, *values)
        # A tuple of both, as statsmodels' f_test() takes it; one of two hypotheses is none.
        for pair, shapes in ((([[0, 1] + [0] * 5, [0, 0, 1] + [0] * 4], [0, 0]), r'\[2, 7\] and \[2\]'),
                             (([0, 1] + [0] * 5, 0), r'\[7\] and \[\]'),
                             ((Apr.Tensor([[0, 1] + [0] * 5]), [0]), r'\[1, 7\] and \[1\]')):
            with self.assertRaisesRegex(TypeError, f'tuple of two, with the shapes {shapes}: pass .* as two arguments'):
                statistics.test_hypothesis(pair)
        self.assertEqual(statistics.test_hypothesis(((0, 1, 0, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0, 0))).df_hypothesis, 2)
        with self.assertRaisesRegex(ValueError, 'no part of this one'):
            statistics.compare(statistics)
        with self.assertRaisesRegex(ValueError, 'of 16 samples with one of 15'):
            statistics.compare(Apr.LinearRegression().fit(X[1:], y[1:]).get_statistics())
        with self.assertRaisesRegex(GLib.Error, 'robust'):
            model.get_robust_statistics(X, y).compare(statistics)
        for function in (lambda: Apr.RegressionStatistics().test_hypothesis([1]),
                         lambda: Apr.RegressionStatistics().compare(statistics)):
            with self.assertRaisesRegex(ValueError, 'do not come from a fitted model'):
                function()
        # A feature that depends on others.
        twice = Apr.LinearRegression().fit([row[:2] + row[:1] for row in X], y).get_statistics()
        with self.assertRaisesRegex(ValueError, '“x2”, which depends on features before it'):
            twice.test_hypothesis([0, 0, 0, 1])
        self.assertClose([twice.test_hypothesis([0, 1, -1, 0]).f_statistic],
                         [exact.Fit([row[:2] for row in X], y).test('classical', [[0, 1, -1]], [0])[2]])

    def test_text(self):
        X, y = read_longley()
        model = Apr.LinearRegression()
        model.set_feature_names(['deflator', 'GNP', 'unemployed', 'armed', 'population', 'I(year - 1947)'])
        statistics = model.fit(X, y).get_statistics()
        for text, factors, values in (
                ('GNP = armed', [[0, 0, 1, 0, -1, 0, 0]], [0]),
                ('GNP + 2*armed = 3', [[0, 0, 1, 0, 2, 0, 0]], [3]),
                ('GNP, armed = unemployed = 0', [[0, 0, 1, 0, 0, 0, 0], [0, 0, 0, -1, 1, 0, 0], [0, 0, 0, 1, 0, 0, 0]], [0] * 3),
                ('I(year - 1947) / 4 = -(GNP - 1)', [[0, 0, 1, 0, 0, 0, .25]], [1])):
            ours, expected = statistics.test_hypothesis(text), statistics.test_hypothesis(factors, values)
            self.assertEqual((ours.f_statistic, list(ours.t_values)), (expected.f_statistic, list(expected.t_values)))
            self.assertEqual([list(tensor.numpy().ravel()) for tensor in statistics.parse_hypothesis(text)],
                             [[factor for row in factors for factor in row], values])
        with self.assertRaisesRegex(ValueError, 'no term is named “gnp” at position 10 '):
            statistics.test_hypothesis('armed = 3*gnp')
        with self.assertRaisesRegex(ValueError, 'has a NUL'):
            statistics.test_hypothesis('armed\0 = 1')
        with self.assertRaisesRegex(TypeError, 'their values are in it'):
            statistics.test_hypothesis('armed = 1', [1])

    def test_async(self):
        import asyncio

        async def main():
            statistics = Apr.LinearRegression().fit(*read_longley()).get_statistics()
            test = await statistics.test_hypothesis_async('x1 = x2')
            self.assertEqual(test.f_statistic, statistics.test_hypothesis('x1 = x2').f_statistic)

        asyncio.run(main())

    def test_texts_of_objects(self):
        X, y = read_longley()
        model = Apr.LinearRegression().fit(X, y)
        self.assertRegex(repr(model.get_statistics()[1]), r'^x0: 15\.0619, std\. error 84\.9149, t = 0\.1774, p = 0\.863$')
        self.assertRegex(repr(model.diagnose(X, y)), '^16 samples, Durbin-Watson 2.5594')

    def test_exact_fit_and_no_degrees_of_freedom(self):
        X, y = [[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]
        for statistics in (Apr.LinearRegression().fit(X, y).get_statistics(),
                           Apr.LinearRegression().fit(X, y).get_robust_statistics(X, y, kind='HC0')):
            self.assertEqual(statistics.test_hypothesis([0, 1]).f_statistic, math.inf)
            self.assertEqual(statistics.test_hypothesis([0, 1]).f_p_value, 0)
            self.assertTrue(math.isnan(statistics.test_hypothesis([0, 1], [2]).f_statistic))
        statistics = Apr.LinearRegression().fit(X[:2], y[:2]).get_statistics()
        self.assertTrue(math.isnan(statistics.test_hypothesis([0, 1]).f_statistic))
        self.assertEqual(statistics.test_hypothesis([0, 1]).estimates[0], 2)

    def test_empty(self):
        self.assertTrue(math.isnan(Apr.HypothesisTest().f_statistic))
        self.assertEqual(list(Apr.HypothesisTest().t_values), [])
        self.assertEqual(len(Apr.HypothesisTest().get_confidence_intervals()), 0)


if __name__ == '__main__':
    tap.main()
