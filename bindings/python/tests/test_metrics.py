# SPDX-License-Identifier: LGPL-2.1-or-later
import fractions
import math
import random

import tap
from common import Apr, TestCase, needs_numpy, numpy


def exact(name, y_true, y_pred, weights=None):
    """A metric in rational arithmetic, rounded once (a root after 400 bits)."""
    truth, predictions = ([fractions.Fraction(value) for value in values] for values in (y_true, y_pred))
    weights = [fractions.Fraction(weight) for weight in weights or [1] * len(truth)]
    errors = [t - p for t, p in zip(truth, predictions)]

    def mean(values):
        return sum(w * value for w, value in zip(weights, values)) / sum(weights)

    def variance(values):
        return mean([(value - mean(values)) ** 2 for value in values])

    squared = mean([e ** 2 for e in errors])
    if name == 'r2_score':
        return float(1 - squared / variance(truth))
    if name == 'explained_variance_score':
        return float(1 - variance(errors) / variance(truth))
    if name == 'mean_squared_error':
        return float(squared)
    if name == 'root_mean_squared_error':
        return float(fractions.Fraction(math.isqrt(squared.numerator * squared.denominator << 800),
                                        squared.denominator << 400))
    if name == 'mean_absolute_percentage_error':
        return float(mean([abs(e) / max(abs(t), fractions.Fraction(2) ** -52) for e, t in zip(errors, truth)]))
    if name == 'median_absolute_error':
        rest, below = sorted((abs(e), w) for e, w in zip(errors, weights) if w > 0), 0
        for i, (e, w) in enumerate(rest):
            below += w
            if 2 * below >= sum(weights):
                return float((e + rest[i + 1][0]) / 2 if 2 * below == sum(weights) else e)
    return float(mean([abs(e) for e in errors]))


METRICS = ('r2_score', 'explained_variance_score', 'mean_squared_error', 'root_mean_squared_error',
           'mean_absolute_error', 'mean_absolute_percentage_error', 'median_absolute_error')


class Metrics(TestCase):
    def test_r2_score(self):
        self.assertEqual(Apr.r2_score([1, 2, 3], [1, 2, 3]), 1.0)
        self.assertEqual(Apr.r2_score([1, 2, 3], [2, 2, 2]), 0.0)
        self.assertEqual(Apr.r2_score([1, 2, 3], [3, 2, 1]), -3.0)
        self.assertEqual(Apr.r2_score([5, 5], [5, 5]), 1.0)
        self.assertEqual(Apr.r2_score([5, 5], [5, 6]), 0.0)

    def test_multioutput(self):
        numbers = random.Random(6)
        for weights in (None, [numbers.random() for _ in range(9)]):
            truth = [[numbers.gauss(3, 1), numbers.gauss(0, 1e3), 7.0] for _ in range(9)]
            predictions = [[value + numbers.gauss(0, 1) for value in row] for row in truth]
            variances = []
            for column in zip(*truth):
                values = [fractions.Fraction(value) for value in column]
                w = [fractions.Fraction(weight) for weight in weights or [1] * 9]
                mean = sum(map(fractions.Fraction.__mul__, values, w)) / sum(w)
                variances.append(float(sum(weight * (value - mean) ** 2 for value, weight in zip(values, w)) / sum(w)))
            for name in METRICS:
                metric = getattr(Apr, name)
                raw = list(metric(truth, predictions, weights, multioutput='raw_values'))
                for value, t, p in zip(raw, list(zip(*truth))[:2], zip(*predictions)):
                    self.assertAlmostEqual(value / exact(name, t, p, weights), 1, 14, name)
                self.assertAlmostEqual(metric(truth, predictions, weights), sum(raw) / 3, 9)
                self.assertAlmostEqual(metric(truth, predictions, weights, multioutput=[3, 0, 1]), (3 * raw[0] + raw[2]) / 4, 9)
                expected = sum(a * b for a, b in zip(raw, variances)) / sum(variances)
                self.assertAlmostEqual(metric(truth, predictions, weights, 'variance_weighted') / expected, 1, 12, name)
        # Without any variance they count alike.
        self.assertEqual(Apr.r2_score([[1, 2]] * 3, [[1, 3]] * 3, multioutput='variance_weighted'), 0.5)
        self.assertEqual(list(Apr.r2_score([1, 2, 3], [2, 2, 2], multioutput='raw_values')), [0])
        for multioutput, pattern in (('mean', 'must be one of'), ([1], '1 weights .* 2 targets'), ([0, 0], 'sum 0')):
            with self.assertRaisesRegex(ValueError, pattern):
                Apr.r2_score([[1, 2]] * 3, [[1, 3]] * 3, multioutput=multioutput)

    def test_median_and_percentage(self):
        self.assertEqual(Apr.median_absolute_error([1, 2, 3, 1000], [1, 1, 1, 1]), 1.5)
        self.assertEqual(Apr.median_absolute_error([1, 2, 3], [1, 1, 1]), 1)
        # A weight of 0 does not count, one of 3 counts as three samples, and the half between two is their mean.
        self.assertEqual(Apr.median_absolute_error([1, 2, 3, 9], [1, 1, 1, 1], [1, 1, 3, 0]), 2)
        self.assertEqual(Apr.median_absolute_error([1, 2, 3, 9], [1, 1, 1, 1], [0.1, 0.2, 0.3, 0]), exact(
            'median_absolute_error', [1, 2, 3, 9], [1] * 4, [0.1, 0.2, 0.3, 0]))
        self.assertEqual(Apr.median_absolute_error([1, 2, 4], [1, 1, 1], [1, 1, 2]), 2)
        self.assertEqual(Apr.mean_absolute_percentage_error([2, -4], [3, -4]), 0.25)
        self.assertEqual(Apr.mean_absolute_percentage_error([0], [2 ** -52]), 1)
        self.assertEqual(Apr.mean_absolute_percentage_error([1e308], [-1e308]), 2)
        self.assertEqual(Apr.mean_absolute_percentage_error([0], [1e308]), math.inf)
        self.assertEqual(Apr.median_absolute_error([1e308, 1e308], [-5e307, -6e307]), 1.55e308)

    def test_exact(self):
        # Near zero and far from it; errors beside which the values are huge; what is as good as the mean.
        numbers = random.Random(5)
        for _ in range(100):
            n = numbers.randrange(2, 20)
            center = numbers.choice([0, 1e6, 1e12])
            truth = [numbers.gauss(center, 1) for _ in range(n)]
            spread = numbers.choice([1e-6, 0.1, 1, 100])
            predictions = [value + numbers.gauss(0, spread) for value in truth]
            if numbers.random() < 0.2:
                predictions = [sum(truth) / n] * n
            weights = [numbers.random() for _ in range(n)]
            for name in METRICS:
                for chosen in (None, weights):
                    actual = getattr(Apr, name)(truth, predictions, chosen)
                    expected = exact(name, truth, predictions, chosen)
                    # 1 - 1 is known to 106 bits only.
                    if abs(actual - expected) > 1e-30:
                        self.assertEqual(actual, expected, (name, truth, predictions, chosen))

    def test_exact_at_every_scale(self):
        numbers = random.Random(6)
        for exponent in (-1060, -700, -160, 160, 500, 1015):
            truth = [math.ldexp(numbers.gauss(0, 1), exponent) for _ in range(9)]
            predictions = [value * (1 + numbers.gauss(0, 0.1)) for value in truth]
            weights = [math.ldexp(numbers.random(), numbers.choice([-1000, 900])) for _ in range(9)]
            for name in METRICS:
                try:
                    expected = exact(name, truth, predictions, weights)
                except OverflowError:
                    expected = math.inf
                self.assertEqual(getattr(Apr, name)(truth, predictions, weights), expected, (name, exponent))

    def test_error_of_one_rounding(self):
        # A square that vanishes beside the values' own, and errors that only a pair of doubles holds.
        self.assertEqual(Apr.root_mean_squared_error([1e-170, 1], [0, 1]), 1e-170 / math.sqrt(2))
        self.assertEqual(Apr.mean_absolute_error([1, 1], [2.0 ** -60, 1]), (1 - 2.0 ** -60) / 2)
        self.assertEqual(Apr.max_error([1e308, 0], [-1e308, 0]), math.inf)
        self.assertEqual(Apr.mean_absolute_error([1.5e308, 0], [-1.5e308, 0]), 1.5e308)

    def test_constant(self):
        # 0.1 is not what the mean of its sums in doubles is.
        constant = [0.1] * 7
        for name in ('r2_score', 'explained_variance_score'):
            metric = getattr(Apr, name)
            self.assertEqual(metric(constant, constant), 1.0)
            self.assertEqual(metric(constant, constant[:-1] + [0.2]), 0.0)
            # Where what differs has no weight, it is constant too.
            self.assertEqual(metric([0.1, 0.1, 5], [0.1, 0.2, 5], [1, 1, 0]), 0.0)
        self.assertEqual(Apr.r2_score(constant, [0.3] * 7), 0.0)
        self.assertEqual(Apr.explained_variance_score(constant, [0.3] * 7), 1.0)
        self.assertEqual(Apr.explained_variance_score([1, 2, 4], [1.3, 2.3, 4.3]), exact(
            'explained_variance_score', [1, 2, 4], [1.3, 2.3, 4.3]))

    def test_several_targets(self):
        # Errors 1, 1 and 0, 3: the means of 1 and 4.5, of their roots, of 1 and 1.5.
        y_true, y_pred = [[1, 10], [2, 20]], [[2, 10], [1, 23]]
        self.assertEqual(Apr.mean_squared_error(y_true, y_pred), 2.75)
        self.assertEqual(Apr.root_mean_squared_error(y_true, y_pred), (1 + math.sqrt(4.5)) / 2)
        self.assertEqual(Apr.mean_absolute_error(y_true, y_pred), 1.25)
        self.assertEqual(Apr.max_error(y_true, y_pred), 3)
        self.assertEqual(max(Apr.compute_metric('max-error', 'raw_values', y_true, y_pred)), 3)

    def test_sample_weight(self):
        self.assertEqual(Apr.r2_score([1, 2, 9], [1, 2, 0], sample_weight=[1, 1, 0]), 1.0)
        self.assertFails(Apr.Error.WEIGHTS, '-1 at row 1', Apr.r2_score, [1, 2], [1, 2], [1, -1])

    @needs_numpy
    def test_arrays(self):
        for dtype in ('f2', 'f4', 'f8', '>f8', 'i4', 'u1', 'i8'):
            y_true = numpy.array([1, 2, 3], dtype)
            self.assertEqual(Apr.r2_score(y_true, y_true[::-1]), -3.0)
        self.assertEqual(Apr.r2_score(Apr.Tensor([1, 2, 3]), numpy.array([[1, 2, 3]]).T[:, 0]), 1.0)
        # The mean of 1 and 0.
        self.assertEqual(Apr.r2_score([[1, 1], [2, 2], [3, 3]], [[1, 2], [2, 2], [3, 2]]), 0.5)

    def test_errors(self):
        self.assertFails(Apr.Error.SHAPE, r'\[3\].*\[2\]', Apr.r2_score, [1, 2, 3], [1, 2])
        self.assertFails(Apr.Error.EMPTY, 'empty', Apr.r2_score, [], [])
        self.assertFails(Apr.Error.NOT_FINITE, 'y_pred has a NaN at row 1', Apr.r2_score, [1, 2],
                         [1, math.nan])
        Y = [[1, 2], [3, 4], [5, 6], [7, math.nan]]
        for function in (Apr.r2_score, Apr.mean_absolute_error, Apr.max_error):
            self.assertFails(Apr.Error.NOT_FINITE, r'^y_true has a NaN at row 3, column 1 \(counted from 0\)$', function, Y,
                             [[0, 1]] * 4)
        # A score calls its targets as it takes them.
        X, model = [[1], [2], [3], [4]], Apr.LinearRegression().fit([[1], [2]], [[1, 2], [3, 4]])
        self.assertFails(Apr.Error.NOT_FINITE, r'^y has a NaN at row 3, column 1 \(counted from 0\)$', model.score, X, Y)
        self.assertFails(Apr.Error.NOT_FINITE, r'^y has a NaN at row 1 ', model.fit(X, X[::-1]).score, [[1], [2]], [1, math.nan])


if __name__ == '__main__':
    tap.main()
