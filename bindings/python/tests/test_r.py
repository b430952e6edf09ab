#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Statistics, tests, intervals and diagnostics beside what R 4.2 says of data sets of its own: tests/data/r/make.R."""

import json
import pathlib

import tap
from common import Apr, TestCase, needs_numpy, numpy

FIGURES = pathlib.Path(__file__).resolve().parents[3] / 'tests' / 'data' / 'r' / 'figures.json'
# R has doubles throughout: Longley's data, the most difficult ones here, leave it 9 digits. Its covariances of them
# that allow for unequal variances have 7: computed with 60 digits, the first standard error of HC0 is 832.21158058.
TOLERANCE = 1e-9
ROBUST_TOLERANCE = 1e-7


def read_sets():
    return json.loads(FIGURES.read_text(encoding='utf-8'))['sets']


def as_array(values):
    return numpy.array([numpy.nan if value is None else value for value in values], float)


class R(TestCase):
    def assert_close(self, actual, expected, what, tolerance=TOLERANCE):
        expected = numpy.array(expected, float)
        self.assertTrue(numpy.allclose(actual, expected, rtol=tolerance, atol=TOLERANCE * numpy.abs(expected).max()),
                        f'{self.name}, {what}: {actual} for {expected}')

    def each(self):
        for name, figures in read_sets().items():
            self.name = name
            model = Apr.LinearRegression()
            X, y, weights = figures['X'], figures['y'], figures.get('weights')
            model.set_feature_names(figures['names'])
            model.fit(X, y, weights)
            yield model, X, y, weights, figures, as_array(figures['coefficients'])

    @needs_numpy
    def test_statistics(self):
        for model, X, y, weights, figures, coefficients in self.each():
            statistics = model.get_statistics()
            self.assertEqual(numpy.isnan(statistics.coefficients).tolist(), numpy.isnan(coefficients).tolist())
            kept = ~numpy.isnan(coefficients)
            self.assert_close(statistics.coefficients[kept], coefficients[kept], 'coefficients')
            for ours, name in ((statistics.standard_errors, 'standard_errors'), (statistics.t_values, 't_values'),
                               (statistics.p_values, 'p_values')):
                self.assert_close(ours[kept], figures[name], name)
            intervals = statistics.get_confidence_intervals(0.95)
            self.assert_close(intervals[kept, 0], figures['lower'], 'lower')
            self.assert_close(intervals[kept, 1], figures['upper'], 'upper')
            for name in ('r_squared', 'adjusted_r_squared', 'f_statistic', 'log_likelihood'):
                self.assert_close(getattr(statistics, name), figures[name], name)
            self.assert_close(statistics.residual_standard_error, figures['sigma'], 'sigma')
            self.assert_close(statistics.f_p_value, figures['f_p_value'], 'p of F', 10 * TOLERANCE)
            if 'variance_inflation' in figures and kept.all():
                self.assert_close(statistics.variance_inflation[1:], figures['variance_inflation'], 'variance inflation')

    @needs_numpy
    def test_robust(self):
        for model, X, y, weights, figures, coefficients in self.each():
            kept = ~numpy.isnan(coefficients)
            for kind in ('hc0', 'hc1', 'hc2', 'hc3'):
                robust = model.get_robust_statistics(X, y, weights, kind=kind)
                self.assert_close(robust.standard_errors[kept], figures[kind], kind, ROBUST_TOLERANCE)

    @needs_numpy
    def test_hypotheses(self):
        for model, X, y, weights, figures, coefficients in self.each():
            if numpy.isnan(coefficients).any():
                continue
            text = ', '.join(f'{name} = 0' for name in figures['dropped'])
            statistics = model.get_statistics()
            robust = model.get_robust_statistics(X, y, weights, kind='hc3')
            for test, kind, tolerance in ((statistics, 'test', TOLERANCE), (robust, 'robust', ROBUST_TOLERANCE)):
                tested = test.test_hypothesis(text)
                self.assert_close(tested.f_statistic, figures[f'{kind}_f'], kind, tolerance)
                self.assert_close(tested.f_p_value, figures[f'{kind}_p'], kind, 10 * tolerance)

            left = [i for i, name in enumerate(figures['names']) if name not in figures['dropped']]
            columns = [[row[i] for i in left] for row in X] if left else [[1.]] * len(X)
            smaller = Apr.LinearRegression(fit_intercept=bool(left)).fit(columns, y, weights)
            nested = statistics.compare(smaller.get_statistics())
            self.assert_close(nested.f_statistic, figures['nested_f'], 'nested')
            self.assert_close(nested.f_p_value, figures['nested_p'], 'p of nested', 10 * TOLERANCE)

    @needs_numpy
    def test_samples(self):
        for model, X, y, weights, figures, coefficients in self.each():
            diagnostics = model.diagnose(X, y, weights)
            for ours, name in ((diagnostics.fitted_values, 'fitted'), (diagnostics.residuals, 'residuals'),
                               (diagnostics.leverages, 'leverages'), (diagnostics.cooks_distances, 'cooks_distances'),
                               (diagnostics.standardized_residuals, 'standardized'),
                               (diagnostics.studentized_residuals, 'studentized')):
                self.assert_close(ours, figures[name], name)
            if 'durbin_watson' in figures:
                self.assert_close(diagnostics.durbin_watson, figures['durbin_watson'], 'Durbin-Watson')

    @needs_numpy
    def test_intervals(self):
        for model, X, y, weights, figures, coefficients in self.each():
            for kind in ('confidence', 'prediction') if 'new' in figures else ():
                lower, upper = model.predict_interval(figures['new'], level=0.9, kind=kind)
                expected = numpy.array(figures[kind])
                self.assert_close(model.predict(figures['new']), expected[:, 0], 'fit')
                self.assert_close(lower, expected[:, 1], kind)
                self.assert_close(upper, expected[:, 2], kind)


if __name__ == '__main__':
    tap.main()
