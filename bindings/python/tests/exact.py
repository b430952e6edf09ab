# SPDX-License-Identifier: LGPL-2.1-or-later
"""Linear regression in rational numbers: what statistics are compared with."""

import math
from fractions import Fraction


def multiply(A, B):
    return [[sum(a * b for a, b in zip(row, column)) for column in zip(*B)] for row in A]


def transpose(A):
    return [list(column) for column in zip(*A)]


def invert(A):
    """By Gauss and Jordan."""
    n = len(A)
    rows = [list(row) + [Fraction(i == j) for j in range(n)] for i, row in enumerate(A)]
    for i in range(n):
        k = next(k for k in range(i, n) if rows[k][i] != 0)
        rows[i], rows[k] = rows[k], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(n):
            if k != i and rows[k][i] != 0:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i])]
    return [row[n:] for row in rows]


def root(value):
    """The root of a fraction as a double, but for a few units in the last place."""
    shift = (value.numerator.bit_length() - value.denominator.bit_length()) // 2 - 60
    scaled = value * Fraction(4) ** -shift
    return math.ldexp(math.isqrt(scaled.numerator // scaled.denominator), shift)


class Fit:
    """Weighted least squares of y on the columns of Z, among which is that of the intercept."""

    def __init__(self, X, y, weights=None, intercept=True):
        self.Z = [[Fraction(1)] * intercept + [Fraction(value) for value in row] for row in X]
        self.y = [Fraction(value) for value in y]
        self.weights = [Fraction(1)] * len(y) if weights is None else [Fraction(value) for value in weights]
        weighted = [[weight * value for value in row] for weight, row in zip(self.weights, self.Z)]
        self.inverse = invert(multiply(transpose(self.Z), weighted))
        self.coefficients = [row[0] for row in multiply(multiply(self.inverse, transpose(weighted)),
                                                        [[value] for value in self.y])]
        self.residuals = [value - sum(b * z for b, z in zip(self.coefficients, row)) for value, row in zip(self.y, self.Z)]
        self.leverages = [weight * multiply([row], multiply(self.inverse, [[value] for value in row]))[0][0]
                          for weight, row in zip(self.weights, self.Z)]
        self.n = sum(weight > 0 for weight in self.weights)
        self.df = self.n - len(self.inverse)
        self.rss = sum(weight * e * e for weight, e in zip(self.weights, self.residuals))

    def get_covariance(self, kind):
        if kind == 'classical':
            return [[value * self.rss / self.df for value in row] for row in self.inverse]
        power = {'hc0': 0, 'hc1': 0, 'hc2': 1, 'hc3': 2}[kind]
        factors = [(weight * e) ** 2 / (1 - h) ** power
                   for weight, e, h in zip(self.weights, self.residuals, self.leverages)]
        if kind == 'hc1':
            factors = [factor * self.n / self.df for factor in factors]
        scores = [[factor * value for value in row] for factor, row in zip(factors, self.Z)]
        return multiply(multiply(self.inverse, multiply(transpose(self.Z), scores)), self.inverse)

    def test(self, kind, factors, values):
        """The estimates, the standard errors and F of R b = q."""
        factors = [[Fraction(value) for value in row] for row in factors]
        matrix = multiply(multiply(factors, self.get_covariance(kind)), transpose(factors))
        estimates = multiply(factors, [[b] for b in self.coefficients])
        distances = [[estimate[0] - Fraction(value)] for estimate, value in zip(estimates, values)]
        f = multiply(multiply(transpose(distances), invert(matrix)), distances)[0][0] / len(factors)
        return [float(row[0]) for row in estimates], [root(matrix[i][i]) for i in range(len(factors))], float(f)
