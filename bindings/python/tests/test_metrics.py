# SPDX-License-Identifier: LGPL-2.1-or-later
import fractions
import math
import random

import tap
from common import Apr, TestCase, needs_numpy, numpy


def exact_r2(y_true, y_pred, weights=None):
    """R² in rational arithmetic, rounded once."""
    truth, predictions = ([fractions.Fraction(value) for value in values] for values in (y_true, y_pred))
    weights = [fractions.Fraction(weight) for weight in weights or [1] * len(truth)]
    mean = sum(w * t for w, t in zip(weights, truth)) / sum(weights)
    residual = sum(w * (t - p) ** 2 for w, t, p in zip(weights, truth, predictions))
    total = sum(w * (t - mean) ** 2 for w, t in zip(weights, truth))
    return float(1 - residual / total)


class Metrics(TestCase):
    def test_r2_score(self):
        self.assertEqual(Apr.r2_score([1, 2, 3], [1, 2, 3]), 1.0)
        self.assertEqual(Apr.r2_score([1, 2, 3], [2, 2, 2]), 0.0)
        self.assertEqual(Apr.r2_score([1, 2, 3], [3, 2, 1]), -3.0)
        self.assertEqual(Apr.r2_score([5, 5], [5, 5]), 1.0)
        self.assertEqual(Apr.r2_score([5, 5], [5, 6]), 0.0)

    def test_r2_score_is_exact(self):
        numbers = random.Random(5)
        for _ in range(50):
            n = numbers.randrange(2, 20)
            truth = [numbers.gauss(1e6, 1) for _ in range(n)]
            predictions = [value + numbers.gauss(0, 0.1) for value in truth]
            weights = [numbers.random() for _ in range(n)]
            for chosen in (None, weights):
                self.assertTrue(math.isclose(Apr.r2_score(truth, predictions, chosen),
                                             exact_r2(truth, predictions, chosen), rel_tol=1e-15))

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
        self.assertFails(Apr.Error.NOT_FINITE, 'y_pred has a NaN at element 1', Apr.r2_score, [1, 2],
                         [1, math.nan])


if __name__ == '__main__':
    tap.main()
