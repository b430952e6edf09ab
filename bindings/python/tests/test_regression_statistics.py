#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Apr.RegressionStatistics: what a linear regression says beside its coefficients."""

import json
import math
import pathlib

import exact
import tap
from common import Apr, GLib, TestCase, needs_numpy, numpy, read_longley

NIST = pathlib.Path(__file__).resolve().parents[3] / 'tests' / 'data' / 'nist'


class RegressionStatistics(TestCase):
    def assertClose(self, values, expected, tolerance=1e-13):
        values, expected = [list(item) for item in (values, expected)]
        self.assertEqual(len(values), len(expected))
        for value, other in zip(values, expected):
            self.assertLessEqual(abs(value - other), tolerance * abs(other))

    def test_longley(self):
        certified = json.loads((NIST / 'certified.json').read_text())['datasets']['longley']
        X, y = read_longley()
        model = Apr.LinearRegression(keep_state=True)
        for i in range(0, 16, 3):
            model.partial_fit(X[i:i + 3], y[i:i + 3])
        model = Apr.LinearRegression.from_bytes(model.to_bytes())
        statistics = model.get_statistics()
        self.assertClose(statistics.standard_errors, certified['std_err'])
        self.assertClose(statistics.coefficients, certified['coef'])
        self.assertEqual(statistics.coefficients[1:].tolist() if numpy else statistics.coefficients[1:],
                         model.coefficients.tolist() if numpy else model.coefficients)
        self.assertClose([statistics.r_squared, statistics.residual_standard_error, statistics.f_statistic],
                         [certified['r_squared'], certified['residual_sd'], certified['anova']['regression']['f']])
        self.assertEqual((statistics.n_samples, statistics.df_model, statistics.df_residual), (16, 6, 9))
        self.assertEqual(statistics.terms, ['(Intercept)', 'x0', 'x1', 'x2', 'x3', 'x4', 'x5'])
        self.assertClose([math.sqrt(statistics.covariance[i][i]) for i in range(7)], statistics.standard_errors)

    def test_empty(self):
        statistics = Apr.RegressionStatistics()
        self.assertEqual(statistics.to_string(), 'no statistics: they come from a fitted model\n')
        self.assertEqual(statistics.terms, [])
        self.assertTrue(math.isnan(statistics.r_squared))
        self.assertEqual(list(statistics.coefficients), [])
        self.assertEqual(len(statistics.get_confidence_intervals(0.95)), 0)

    def test_list(self):
        X, y = read_longley()
        statistics = Apr.LinearRegression().fit(X, y).get_statistics()
        self.assertEqual(len(statistics), 7)
        self.assertEqual([term.name for term in statistics], statistics.terms)
        self.assertEqual([term.estimate for term in statistics], list(statistics.coefficients))
        self.assertEqual([[term.lower, term.upper] for term in statistics],
                         [list(ends) for ends in statistics.get_confidence_intervals(0.95)])
        self.assertIs(statistics[3], statistics[3])
        self.assertIs(statistics['x3'], statistics[4])
        self.assertEqual([item in statistics for item in ('x3', 'x7', statistics[0])], [True, False, True])
        with self.assertRaisesRegex(KeyError, 'no term “x7”'):
            statistics['x7']
        self.assertEqual(min(statistics, key=lambda term: term.p_value).name, 'x3')
        # numpy's, in double.
        self.assertClose([statistics.condition_number], [4859257015.454873], 1e-6)

    @needs_numpy
    def test_arrays(self):
        X, y = read_longley()
        statistics = Apr.LinearRegression().fit(X, y).get_statistics()
        self.assertIsInstance(statistics.p_values, numpy.ndarray)
        self.assertEqual(statistics.covariance.shape, (7, 7))
        self.assertEqual(statistics.get_confidence_intervals(0.5).shape, (7, 2))
        self.assertTrue(numpy.allclose(statistics.t_values, statistics.coefficients / statistics.standard_errors,
                                       rtol=1e-15))
        self.assertTrue(numpy.allclose(statistics.get_confidence_intervals().mean(axis=1), statistics.coefficients))
        # The diagonal of the inverse of the correlations.
        inflation = numpy.diag(numpy.linalg.inv(numpy.corrcoef(numpy.array(X).T)))
        self.assertTrue(numpy.allclose(statistics.variance_inflation[1:], inflation, rtol=1e-8))
        self.assertTrue(numpy.isnan(statistics.variance_inflation[0]))

    def test_intervals(self):
        X, y = read_longley()
        model = Apr.LinearRegression().fit(X, y)
        predictions = model.predict(X[:3])
        lower, upper = model.predict_interval(X[:3])
        self.assertClose([(a + b) / 2 for a, b in zip(lower, upper)], predictions)
        near, far = model.predict_interval(X[:3], kind=Apr.IntervalKind.CONFIDENCE)
        for values in zip(lower, near, predictions, far, upper):
            self.assertEqual(list(values), sorted(values))
        wider, _ = model.predict_interval(X[:3], 0.99)
        self.assertLess(wider[0], lower[0])
        with self.assertRaisesRegex(GLib.Error, '1.5'):
            model.predict_interval(X, 1.5)

    def test_text(self):
        X, y = read_longley()
        model = Apr.LinearRegression().fit(X, y)
        model.set_feature_names(['a', 'b', 'c', 'd', 'e', 'year'])
        self.assertIn('year             1829.15      455.478', model.summary())
        self.assertEqual(str(model.get_statistics()), model.summary())

    def test_target_by_name(self):
        X, y = read_longley()
        Y = [[value, index ** 2] for index, value in enumerate(y)]
        model = Apr.LinearRegression()
        model.target_names = ['employed', 'square']
        model.fit(X, Y)
        for name, target in (('employed', 0), ('square', 1)):
            expected = model.get_statistics(target)
            self.assertNotEqual(str(expected), str(model.get_statistics(1 - target)))
            self.assertEqual(str(model.get_statistics(name)), str(expected))
            self.assertEqual(str(model.get_robust_statistics(X, Y, target=name)),
                             str(model.get_robust_statistics(X, Y, target=target)))
            self.assertEqual(list(model.diagnose(X, Y, target=name).residuals),
                             list(model.diagnose(X, Y, target=target).residuals))

    def test_errors(self):
        model = Apr.LinearRegression()
        with self.assertRaises(GLib.Error) as caught:
            model.get_statistics()
        self.assertTrue(caught.exception.matches(Apr.error_quark(), Apr.Error.NOT_FITTED))
        X, y = read_longley()
        with self.assertRaisesRegex(GLib.Error, 'target 1'):
            model.fit(X, y).get_statistics(1)
        for target in ('x', -1, 1.5, None):
            for call in (model.get_statistics, model.get_statistics_async, lambda target: model.diagnose(X, y, None, target),
                         lambda target: model.get_robust_statistics(X, y, target=target)):
                with self.assertRaisesRegex(TypeError, 'target must be a whole number from 0 on'):
                    call(target)
        model.set_target_names(['rent'])
        with self.assertRaisesRegex(ValueError, 'no target “rents”: is it “rent”[?]$'):
            model.get_statistics('rents')
        for keywords, text in (({'alpha': 1.0}, 'hyper-parameter alpha = 1$'), ({'positive': True}, 'hyper-parameter positive$'),
                               ({'alpha': 1.0, 'positive': True}, 'hyper-parameters alpha = 1 and positive$'),
                               ({'alphas': [1.0]}, 'hyper-parameter alphas$'), ({'alphas': [0.0]}, 'hyper-parameter alphas$')):
            with self.assertRaisesRegex(GLib.Error, text):
                Apr.LinearRegression(**keywords).fit(X, y).get_statistics()
        with self.assertRaisesRegex(GLib.Error, 'hyper-parameter keep_state is'):
            Apr.LinearRegression.from_bytes(model.to_bytes()).summary()

    def test_robust_standard_errors(self):
        """Beside rational numbers: with weights, one of them 0, and for data that depend on each other a lot."""
        X, y = read_longley()
        weights = [0.0, 1.5, 2.0, 0.25] * 4
        for intercept, w in ((True, weights), (False, None)):
            model = Apr.LinearRegression(fit_intercept=intercept).fit(X, y, w)
            fit = exact.Fit(X, y, w, intercept)
            for kind in ('classical', 'hc0', 'hc1', 'hc2', 'hc3'):
                with self.subTest(intercept=intercept, kind=kind):
                    statistics = model.get_robust_statistics(X, y, w, kind)
                    covariance = fit.get_covariance(kind)
                    errors = [exact.root(covariance[i][i]) for i in range(len(covariance))]
                    self.assertClose(statistics.standard_errors, errors, 1e-8)
                    for i, row in enumerate(covariance):
                        for j, value in enumerate(row):
                            self.assertLessEqual(abs(statistics.covariance[i][j] - float(value)), 1e-8 * errors[i] * errors[j])
                    self.assertClose(statistics.t_values,
                                     [float(b) / error for b, error in zip(fit.coefficients, errors)], 1e-8)
                    f = fit.test(kind, [[i == j for j in range(len(errors))] for i in range(intercept, len(errors))],
                                 [0] * 6)[2]
                    self.assertClose([statistics.f_statistic], [f], 1e-8)
                    self.assertEqual(statistics.covariance_kind.value_nick, kind)
                    self.assertEqual(statistics.residual_sum_of_squares, model.get_statistics().residual_sum_of_squares)
                    self.assertEqual(f' {kind.upper()}\n' in str(statistics), kind != 'classical')

    def test_robust_statistics_of_what_is_special(self):
        X, y = [[0.0], [1.0], [2.0], [3.0], [5.0]], [1.0, 2.0, 2.0, 5.0, 4.0]
        model = Apr.LinearRegression().fit(X, y)
        # Any number of threads gives the same bits, and so does any unit that is a power of two.
        first = list(model.get_robust_statistics(X, y).standard_errors)
        model.n_threads = 1
        self.assertEqual(list(model.get_robust_statistics(X, y).standard_errors), first)
        for scale in (2.0 ** 300, 2.0 ** -300):
            other = Apr.LinearRegression().fit(X, [value * scale for value in y])
            errors = other.get_robust_statistics(X, [value * scale for value in y]).standard_errors
            self.assertEqual([error / scale for error in errors], first)
        # Sums in double, where the fit has such.
        fast = Apr.LinearRegression(precision='double').fit(X, y)
        self.assertClose(fast.get_robust_statistics(X, y).standard_errors, first, 1e-12)
        # A feature that depends on others has no standard error, and changes nothing.
        wide = [[x, 2 * x, 1] for x, in X]
        statistics = Apr.LinearRegression().fit(wide, y).get_robust_statistics(wide, y)
        self.assertClose(statistics.standard_errors[:2], first, 1e-12)
        self.assertTrue(all(map(math.isnan, statistics.standard_errors[2:])))
        # A sample of a leverage of 1, two targets, single precision.
        lone = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [5.0, 0.0]]
        model = Apr.LinearRegression().fit(lone, y)
        with self.assertRaisesRegex(ValueError, 'leverage of sample 3 .* is 1'):
            model.get_robust_statistics(lone, y, kind='HC2')
        covariance = exact.Fit(lone, y).get_covariance('hc1')
        self.assertClose(model.get_robust_statistics(lone, y, kind='HC1').standard_errors[:2],
                         [exact.root(covariance[i][i]) for i in range(2)])
        two = [[value, -3 * value] for value in y]
        model = Apr.LinearRegression(dtype='f32').fit(X, two)
        self.assertClose(model.get_robust_statistics(X, two, target=1).standard_errors, [3 * error for error in first])

    def test_robust_statistics_of_other_samples(self):
        X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 2.0, 5.0]
        model = Apr.LinearRegression().fit(X, y)
        for pattern, *arguments in (('2 features', [[1.0, 2.0]] * 4, y), ('3 samples, .* fitted to 4', X[1:], y[1:]),
                                    ('no target 1', X, y, None, 'hc3', 1), ('row 2', X[:2] + [[math.nan]] + X[3:], y),
                                    ('row 1', X, [1.0, math.inf, 2.0, 5.0]), ('-1 at row 0', X, y, [-1, 1, 1, 1]),
                                    ('kind must be one of', X, y, None, 'hc4')):
            with self.assertRaisesRegex(ValueError, pattern):
                model.get_robust_statistics(*arguments)
        for arguments in (([[0.0], [1.0], [2.0], [3.0000000000000004]], y), (X, [2.0, 1.0, 2.0, 5.0]), (X, y, [1, 1, 1, 2])):
            with self.assertRaisesRegex(ValueError, 'not those that the model was fitted to'):
                model.get_robust_statistics(*arguments)
        # In another order, in another dtype and with weights that change nothing they are the same samples.
        for arguments in ((X[::-1], y[::-1]), ([[0], [1], [2], [3]], y), (X, y, [1, 1, 1, 1])):
            self.assertClose(model.get_robust_statistics(*arguments).standard_errors,
                             model.get_robust_statistics(X, y).standard_errors)
        with self.assertRaisesRegex(ValueError, 'unfitted'):
            Apr.LinearRegression().get_robust_statistics(X, y)
        with self.assertRaisesRegex(GLib.Error, 'alpha = 1'):
            Apr.LinearRegression(alpha=1.0).fit(X, y).get_robust_statistics(X, y)

    def test_a_column_of_ones_is_an_intercept(self):
        X, y = read_longley()
        for weights in (None, [1.0, 2.0, 0.0, 0.5] * 4):
            expected = Apr.LinearRegression().fit(X, y, weights).get_statistics()
            ones = [[2.5, *row] for row in X]
            model = Apr.LinearRegression(fit_intercept=False).fit(ones, y, weights)
            statistics = model.get_statistics()
            self.assertEqual((statistics.df_model, statistics.df_residual), (6, expected.df_residual))
            for name in ('r_squared', 'adjusted_r_squared', 'f_statistic', 'total_sum_of_squares', 'aic', 'log_likelihood'):
                self.assertClose([getattr(statistics, name)], [getattr(expected, name)], 1e-13)
            self.assertClose(statistics.variance_inflation[1:], expected.variance_inflation[1:])
            self.assertTrue(math.isnan(statistics.variance_inflation[0]))
            self.assertClose(statistics.standard_errors[1:], expected.standard_errors[1:])
            robust = model.get_robust_statistics(ones, y, weights, 'hc1')
            self.assertClose([robust.f_statistic],
                             [Apr.LinearRegression().fit(X, y, weights).get_robust_statistics(X, y, weights, 'hc1').f_statistic],
                             1e-8)

    def test_all_dummies_are_an_intercept_too(self):
        y = [1.0, 4.0, 2.0, 6.0, 5.0, 9.0, 7.0]
        groups = [[float(i % 3 == j) for j in range(3)] for i in range(7)]
        X = [row[1:] for row in groups]
        expected = Apr.LinearRegression().fit(X, y)
        model = Apr.LinearRegression(fit_intercept=False).fit(groups, y)
        for ours, theirs in ((model.get_statistics(), expected.get_statistics()),
                             (model.get_robust_statistics(groups, y), expected.get_robust_statistics(X, y))):
            self.assertEqual(ours.df_model, 2)
            self.assertClose([ours.r_squared, ours.f_statistic, ours.f_p_value],
                             [theirs.r_squared, theirs.f_statistic, theirs.f_p_value], 1e-13)
        # Two of the three make none: R² is about 0.
        statistics = Apr.LinearRegression(fit_intercept=False).fit(X, y).get_statistics()
        self.assertEqual((statistics.df_model, statistics.total_sum_of_squares), (2, sum(value * value for value in y)))

    def test_the_mean_of_cars(self):
        """R's lm (dist ~ 1, cars) and anova (lm (dist ~ 1, cars), lm (dist ~ speed, cars)), as its manuals have them."""
        speed = [4, 4, 7, 7, 8, 9, 10, 10, 10, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15, 16, 16, 17,
                 17, 17, 18, 18, 18, 18, 19, 19, 19, 20, 20, 20, 20, 20, 22, 23, 24, 24, 24, 24, 25]
        distance = [2, 10, 4, 22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28, 26, 34, 34, 46, 26, 36, 60, 80, 20, 26, 54, 32, 40,
                    32, 40, 50, 42, 56, 76, 84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120, 85]
        mean = Apr.LinearRegression(fit_intercept=False).fit([[1]] * 50, distance)
        statistics = mean.get_statistics()
        self.assertEqual(f'{statistics.coefficients[0]:.2f}', '42.98')
        self.assertEqual(f'{statistics.residual_standard_error:.2f} {statistics.df_residual}', '25.77 49')
        self.assertEqual((statistics.r_squared, statistics.adjusted_r_squared), (0, 0))
        lower, upper = mean.predict_interval([[1]], kind='confidence')
        self.assertClose([lower[0], upper[0]], statistics.get_confidence_intervals()[0])
        test = Apr.LinearRegression().fit([[v] for v in speed], distance).get_statistics().compare(statistics)
        self.assertEqual(f'{test.f_statistic:.2f} {test.df_hypothesis} {test.df_residual} {test.f_p_value:.2e}',
                         '89.57 1 48 1.49e-12')

    def test_intervals_of_features_that_depend_on_each_other(self):
        """They are those of the independent features, wherever the prediction is estimable."""
        towns = ['a', 'b', 'c', 'a', 'b', 'c', 'b']
        x, y = [1.0, 4, 2, 8, 5, 7, 1], [1.0, 5, 2, 9, 8, 7, 4]
        independent = [[a, float(town == 'a'), float(town == 'b')] for a, town in zip(x, towns)]
        every = [[*row, float(town == 'c')] for row, town in zip(independent, towns)]
        expected, model = (Apr.LinearRegression().fit(X, y) for X in (independent, every))
        for kind in ('confidence', 'prediction'):
            for ours, theirs in zip(model.predict_interval(every, 0.9, kind), expected.predict_interval(independent, 0.9, kind)):
                self.assertClose(ours, theirs, 1e-12)
        for row in ([1.0, 1, 1, 0], [1.0, 0, 0, 0]):
            with self.assertRaisesRegex(ValueError, 'Cannot give an interval for sample 1 .*“x3” to be a combination of features before it'):
                model.predict_interval([every[0], row])
        # A feature that was constant tells nothing elsewhere.
        constant = Apr.LinearRegression().fit([[a, 3.0] for a in x], y)
        self.assertClose(constant.predict_interval([[2.0, 3.0]])[0],
                         Apr.LinearRegression().fit([[a] for a in x], y).predict_interval([[2.0]])[0], 1e-12)
        for value in (4.0, 3.00000001):
            with self.assertRaisesRegex(ValueError, '“x1” to be a combination'):
                constant.predict_interval([[2.0, value]])
        # What is far below the size of two columns may be far above what they differ by.
        large = [[1e9 + a, 1e9 + a] for a in x]
        model = Apr.LinearRegression(fit_intercept=False).fit(large, y)
        model.predict_interval(large)
        with self.assertRaisesRegex(ValueError, '“x1” to be a combination'):
            model.predict_interval([[1e9, 1e9 + 10]])
        # Rows may have been rounded to floats, whatever the samples were.
        shares = [[a / 10, 1 - a / 10] for a in x]
        model = Apr.LinearRegression().fit(shares, y)
        model.predict_interval(shares)
        model.predict_interval(Apr.Tensor(shares).cast('f32'))
        model = Apr.LinearRegression().fit(Apr.Tensor(shares).cast('f32'), y)
        model.predict_interval(shares)

    def test_the_mean_alone(self):
        """A column of ones without an intercept, or with one, is the model of the mean."""
        y = [1.0, 4.0, 2.0, 6.0]
        for intercept in (False, True):
            statistics = Apr.LinearRegression(fit_intercept=intercept).fit([[1.0]] * 4, y).get_statistics()
            self.assertEqual((statistics.df_model, statistics.df_residual, statistics.r_squared), (0, 3, 0))
            self.assertEqual(statistics.coefficients[0], 3.25)
            self.assertClose([statistics.standard_errors[0]], [math.sqrt(14.75 / 3 / 4)])
            self.assertTrue(math.isnan(statistics.f_statistic))
            larger = Apr.LinearRegression().fit([[0.0], [1.0], [2.0], [3.0]], y).get_statistics()
            self.assertClose([larger.compare(statistics).f_statistic], [larger.f_statistic])

    def test_longley_with_a_column_twice(self):
        """As R has it: NA for the second, and NIST's values for all others."""
        certified = json.loads((NIST / 'certified.json').read_text())['datasets']['longley']
        X, y = read_longley()
        model = Apr.LinearRegression().fit([row[:2] + row[:1] + row[2:] for row in X], y)
        statistics = model.get_statistics()
        kept = [0, 1, 2, 4, 5, 6, 7]
        for values, expected in ((statistics.coefficients, certified['coef']), (statistics.standard_errors, certified['std_err'])):
            self.assertClose([values[i] for i in kept], expected)
            self.assertTrue(math.isnan(values[3]))
        for name in ('t_values', 'p_values', 'variance_inflation'):
            self.assertTrue(math.isnan(getattr(statistics, name)[3]), name)
        self.assertTrue(all(math.isnan(value) for row in (statistics.covariance[3], statistics.get_confidence_intervals()[3])
                            for value in row))
        self.assertEqual((model.rank, statistics.df_model, statistics.df_residual), (6, 6, 9))
        self.assertClose([statistics.r_squared, statistics.f_statistic],
                         [certified['r_squared'], certified['anova']['regression']['f']])
        term = statistics[3]
        self.assertEqual(term.name, 'x2')
        self.assertTrue(all(math.isnan(value) for value in (term.estimate, term.standard_error, term.p_value, term.lower)))
        for text in (str(statistics), model.summary()):
            row = next(line for line in text.splitlines() if line.startswith('x2 '))
            self.assertEqual(row.split()[1:7], ['NA'] * 6)
        self.assertIn('<td>x2</td>' + '<td>NA</td>' * 6, statistics._repr_html_())
        # The model's own coefficients share the effect between both columns.
        self.assertClose([statistics.minimum_norm[1] + statistics.minimum_norm[3]], [certified['coef'][1]], 1e-12)


if __name__ == '__main__':
    tap.main()
