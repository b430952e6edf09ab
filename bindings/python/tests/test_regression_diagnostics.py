#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Apr.RegressionDiagnostics: what a linear regression says of each sample."""

import math

import tap
from common import Apr, TestCase, needs_numpy, numpy, read_longley


class RegressionDiagnostics(TestCase):
    @needs_numpy
    def test_hat_matrix(self):
        X, y = read_longley()
        model = Apr.LinearRegression().fit(X, y)
        diagnostics = model.diagnose(X, y)
        # By the QR factors of the scaled design.
        Z = numpy.column_stack([numpy.ones(16), numpy.array(X, float)])
        Q = numpy.linalg.qr(Z / numpy.linalg.norm(Z, axis=0))[0]
        leverages = (Q * Q).sum(axis=1)
        self.assertIsInstance(diagnostics.leverages, numpy.ndarray)
        self.assertTrue(numpy.allclose(diagnostics.leverages, leverages, rtol=1e-8))
        residuals = numpy.array(y) - model.predict(X)
        self.assertTrue(numpy.allclose(diagnostics.residuals, residuals, rtol=0, atol=1e-8))
        self.assertTrue(numpy.allclose(diagnostics.fitted_values, model.predict(X), rtol=1e-12))
        self.assertEqual(diagnostics.fitted_values.tolist(), (numpy.array(y) - diagnostics.residuals).tolist())
        sigma = model.get_statistics().residual_standard_error
        standardized = residuals / (sigma * numpy.sqrt(1 - leverages))
        self.assertTrue(numpy.allclose(diagnostics.standardized_residuals, standardized, rtol=1e-7))
        self.assertTrue(numpy.allclose(diagnostics.cooks_distances,
                                       standardized**2 * leverages / (1 - leverages) / 7, rtol=1e-7))
        # statsmodels prints 2.559 for these data.
        self.assertAlmostEqual(diagnostics.durbin_watson, 2.559, 3)

    def test_lists(self):
        model = Apr.LinearRegression().fit([[0.], [1.], [2.], [3.]], [1., 2., 2., 5.])
        diagnostics = model.diagnose([[0.], [1.], [2.], [3.]], [1., 2., 2., 5.], [1., 1., 1., 1.])
        self.assertAlmostEqual(sum(diagnostics.leverages), 2)
        self.assertAlmostEqual(sum(diagnostics.residuals), 0)
        with self.assertRaisesRegex(ValueError, '2 features'):
            model.diagnose([[0., 1.]] * 4, [1., 2., 2., 5.])

    def test_empty(self):
        self.assertTrue(math.isnan(Apr.RegressionDiagnostics().durbin_watson))
        self.assertEqual(list(Apr.RegressionDiagnostics().residuals), [])


if __name__ == '__main__':
    tap.main()
