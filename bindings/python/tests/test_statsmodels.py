# SPDX-License-Identifier: LGPL-2.1-or-later
"""Statistics, tests, intervals, diagnostics and metrics beside statsmodels and scikit-learn, on the same data.

    with-peer python test_statsmodels.py
"""

import contextlib
import io
import pathlib
import runpy
import warnings

import tap
from common import Apr, TestCase, numpy, read_longley

import formulaic
import pandas
import patsy
import statsmodels.api as sm
from sklearn import linear_model, metrics
from statsmodels.stats.stattools import durbin_watson

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / 'docs/examples'
# statsmodels has doubles throughout, and a pseudo-inverse: Longley's data leave it 8 digits.
TOLERANCE = 1e-10
LONGLEY_TOLERANCE = 1e-6


def make_sets():
    """X, y, weights, and how near statsmodels comes."""
    random = numpy.random.default_rng(11)
    X = random.normal(size=(60, 3)) * [1, 20, 0.3] + [0, 5, -1]
    y = X @ [2, -0.1, 3] + 4 + random.normal(size=60) * (1 + X[:, 0] ** 2)
    longley_X, longley_y = map(numpy.array, read_longley())
    return [(X, y, None, TOLERANCE), (X, y, random.random(60) + 0.1, TOLERANCE), (X[:, :1], y, None, TOLERANCE),
            (longley_X, longley_y, None, LONGLEY_TOLERANCE)]


class Statsmodels(TestCase):
    def assertClose(self, ours, theirs, tolerance=TOLERANCE, what=''):
        numpy.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * 1e-3, err_msg=what)

    def each(self):
        for X, y, weights, tolerance in make_sets():
            design = sm.add_constant(X)
            theirs = (sm.OLS(y, design) if weights is None else sm.WLS(y, design, weights)).fit()
            yield Apr.LinearRegression().fit(X, y, weights), theirs, X, y, weights, tolerance

    def check(self, ours, theirs, tolerance):
        for name, other in (('coefficients', theirs.params), ('standard_errors', theirs.bse), ('t_values', theirs.tvalues),
                            ('p_values', theirs.pvalues), ('covariance', theirs.cov_params()), ('r_squared', theirs.rsquared),
                            ('adjusted_r_squared', theirs.rsquared_adj), ('f_statistic', theirs.fvalue),
                            ('f_p_value', theirs.f_pvalue), ('df_model', theirs.df_model), ('df_residual', theirs.df_resid),
                            ('residual_sum_of_squares', theirs.ssr), ('residual_variance', theirs.mse_resid),
                            ('log_likelihood', theirs.llf), ('aic', theirs.aic), ('bic', theirs.bic)):
            numpy.testing.assert_allclose(getattr(ours, name), other, rtol=tolerance, atol=1e-15, err_msg=name)
        self.assertClose(ours.get_confidence_intervals(0.9), theirs.conf_int(0.1), tolerance)

    def test_statistics(self):
        for model, theirs, *_, tolerance in self.each():
            self.check(model.get_statistics(), theirs, tolerance)

    def test_weights_of_zero(self):
        # statsmodels counts samples that weigh nothing, as docs/statistics.md says.
        X, y, weights, tolerance = make_sets()[1]
        weights[::3] = 0
        design, kept = sm.add_constant(X), weights > 0
        ours = Apr.LinearRegression().fit(X, y, weights).get_statistics()
        self.check(ours, sm.WLS(y[kept], design[kept], weights[kept]).fit(), tolerance)
        self.assertEqual(sm.WLS(y, design, weights).fit().df_resid, ours.df_residual + numpy.sum(~kept))

    def test_robust(self):
        for model, theirs, X, y, weights, tolerance in self.each():
            for kind in ('hc0', 'hc1', 'hc2', 'hc3'):
                ours = model.get_robust_statistics(X, y, weights, kind=kind)
                self.check(ours, theirs.get_robustcov_results(kind.upper(), use_t=True), tolerance)

    def test_clusters(self):
        # What docs/statistics.md shows.
        with contextlib.redirect_stdout(io.StringIO()):
            program = runpy.run_path(str(EXAMPLES / 'clusters.py'))
        for model, theirs, X, y, weights, tolerance in self.each():
            clusters = numpy.arange(len(y)) * 7 % 11
            other = theirs.get_robustcov_results('cluster', groups=clusters)
            ours = program['find_covariance'](model, X, y, clusters, weights if weights is None else list(weights))
            self.assertClose(ours, other.cov_params(), tolerance)

    def test_hypotheses(self):
        for model, theirs, X, y, weights, tolerance in self.each():
            n_terms = X.shape[1] + 1
            factors = numpy.eye(n_terms)[1:] * 2 + numpy.eye(n_terms)[0]
            if tolerance > TOLERANCE:
                # More of Longley's, of units so different, have a covariance that statsmodels takes for singular.
                factors = numpy.eye(n_terms)[[2, 4]]
            values = numpy.arange(1.0, len(factors) + 1)
            robust = theirs.get_robustcov_results('HC3', use_t=True)
            for ours, other in ((model.get_statistics(), theirs),
                                (model.get_robust_statistics(X, y, weights, kind='hc3'), robust)):
                test = ours.test_hypothesis(factors, values)
                one_by_one, together = other.t_test((factors, values)), other.f_test((factors, values))
                self.assertClose(test.estimates, numpy.ravel(one_by_one.effect), tolerance)
                self.assertClose(test.standard_errors, numpy.ravel(one_by_one.sd), tolerance)
                self.assertClose(test.t_values, numpy.ravel(one_by_one.tvalue), tolerance)
                self.assertClose(test.p_values, numpy.ravel(one_by_one.pvalue), 10 * tolerance)
                self.assertClose(test.f_statistic, float(together.fvalue), 10 * tolerance)
                self.assertClose(test.f_p_value, float(together.pvalue), 100 * tolerance)
                self.assertEqual((test.df_hypothesis, test.df_residual), (together.df_num, together.df_denom))

    def test_frames(self):
        for model, theirs, X, y, weights, tolerance in self.each():
            frame = model.get_statistics().to_frame(0.9)
            self.assertEqual(list(frame.index), model.get_statistics().terms)
            self.assertClose(frame['estimate'], theirs.params, tolerance)
            self.assertClose(frame['standard_error'], theirs.bse, tolerance)
            self.assertClose(frame['t_value'], theirs.tvalues, tolerance)
            self.assertClose(frame['p_value'], theirs.pvalues, 10 * tolerance)
            self.assertClose(frame[['lower', 'upper']], theirs.conf_int(0.1), tolerance)
            index = [f'row {i}' for i in range(len(X))]
            samples = model.diagnose(X, y, weights).to_frame(index)
            self.assertEqual(list(samples.index), index)
            self.assertClose(samples['residuals'], theirs.resid, tolerance * numpy.abs(y).max())

    def test_lists_of_hypotheses(self):
        model, theirs, *_, tolerance = next(self.each())
        ours = model.get_statistics().test_hypothesis(['x0 = 1', 'x1 = 2*x2'])
        self.assertClose(ours.f_statistic, float(theirs.f_test('x1 = 1, x2 = 2*x3').fvalue), 10 * tolerance)

    def test_formulas(self):
        X, y, *_ = make_sets()[0]
        frame = pandas.DataFrame(X, columns=['a', 'b', 'c']).assign(y=y, town=['Kiel', 'Ulm', None, 'Bonn'] * 15)
        frame.loc[7, 'b'] = numpy.nan
        formula = 'y ~ a * C(town) + I(b**2)'
        y, X = formulaic.model_matrix(formula, frame)
        model = Apr.LinearRegression(fit_intercept=False).fit(X, y['y'])
        theirs = sm.OLS.from_formula(formula, frame).fit()
        ours = model.get_statistics().to_frame(0.9).loc[theirs.params.index]
        self.assertClose(ours['estimate'], theirs.params)
        self.assertClose(ours['standard_error'], theirs.bse)
        self.assertClose(ours[['lower', 'upper']], theirs.conf_int(0.1))
        self.assertClose(model.get_statistics().f_statistic, theirs.fvalue)
        # patsy's matrices are arrays, whose names are checked as well.
        swapped = patsy.dmatrix('C(town) + b + a', frame.dropna())
        design = patsy.dmatrix('C(town) + a + b', frame.dropna())
        named = Apr.LinearRegression(fit_intercept=False).fit(design, y['y'])
        self.assertEqual(named.feature_names, design.design_info.column_names)
        with self.assertRaisesRegex(ValueError, 'in the same order'):
            named.predict(swapped)
        new = pandas.DataFrame({'a': [1.0, 2.0], 'b': [0.5, 3.0], 'town': ['Ulm', 'Bonn']})
        self.assertClose(model.predict(X.model_spec.get_model_matrix(new)), theirs.predict(new))

    def test_nested_models(self):
        for model, theirs, X, y, weights, tolerance in self.each():
            columns = X[:, :-1] if X.shape[1] > 1 else numpy.ones((len(X), 1))
            smaller = Apr.LinearRegression(fit_intercept=X.shape[1] > 1).fit(columns, y, weights)
            design = sm.add_constant(columns)
            restricted = (sm.OLS(y, design) if weights is None else sm.WLS(y, design, weights)).fit()
            test = model.get_statistics().compare(smaller.get_statistics())
            f, p, df = theirs.compare_f_test(restricted)
            self.assertClose([test.f_statistic, test.f_p_value, test.df_hypothesis], [f, p, df], 10 * tolerance)

    def test_samples(self):
        for model, theirs, X, y, weights, tolerance in self.each():
            diagnostics = model.diagnose(X, y, weights)
            self.assertClose(diagnostics.fitted_values, theirs.fittedvalues, tolerance)
            self.assertClose(diagnostics.residuals, theirs.resid, tolerance * numpy.abs(y).max())
            self.assertClose(diagnostics.durbin_watson, durbin_watson(theirs.wresid), tolerance)
            if weights is None:
                influence = theirs.get_influence()
                self.assertClose(diagnostics.leverages, influence.hat_matrix_diag, tolerance)
                self.assertClose(diagnostics.standardized_residuals, influence.resid_studentized_internal, tolerance)
                self.assertClose(diagnostics.studentized_residuals, influence.resid_studentized_external, tolerance)
                self.assertClose(diagnostics.cooks_distances, influence.cooks_distance[0], tolerance)

    def test_intervals(self):
        for model, theirs, X, _, weights, tolerance in self.each():
            new = X[:5] * 1.01
            frame = theirs.get_prediction(sm.add_constant(new, has_constant='add')).summary_frame(alpha=0.1)
            self.assertClose(model.predict(new), frame['mean'], tolerance)
            for kind, name in (('confidence', 'mean_ci'), ('prediction', 'obs_ci')):
                for ours, end in zip(model.predict_interval(new, level=0.9, kind=kind), ('lower', 'upper')):
                    self.assertClose(ours, frame[f'{name}_{end}'], tolerance)

    def test_constants(self):
        """A constant among the features, and the mean alone: R² and degrees of freedom as statsmodels has them."""
        X, y, *_ = make_sets()[0]
        dummies = numpy.eye(3)[numpy.arange(60) % 3]
        for design in (sm.add_constant(X), numpy.hstack([X, 7 * numpy.ones((60, 1))]), numpy.ones((60, 1)),
                       numpy.hstack([dummies, X]), X):
            ours = Apr.LinearRegression(fit_intercept=False).fit(design, y).get_statistics()
            with warnings.catch_warnings():
                # The mean alone has no F.
                warnings.simplefilter('ignore')
                self.check(ours, sm.OLS(y, design).fit(), TOLERANCE)

    def test_alphas(self):
        X, y, *_ = make_sets()[0]
        Y = numpy.stack([y, y ** 2, -y], 1)
        alphas = [0.5, 3.0, 1e3]
        ours, theirs = Apr.LinearRegression(alphas=alphas).fit(X, Y), linear_model.Ridge(alpha=alphas).fit(X, Y)
        self.assertClose(ours.coef_, theirs.coef_)
        self.assertClose(ours.intercept_, theirs.intercept_)

    def test_metrics(self):
        random = numpy.random.default_rng(3)
        truth = random.normal(size=(50, 3)) * [1, 10, 100] + 3
        predictions = truth + random.normal(size=(50, 3))
        for weights in (None, random.random(50)):
            for name in ('r2_score', 'explained_variance_score', 'mean_squared_error', 'root_mean_squared_error',
                         'mean_absolute_error', 'mean_absolute_percentage_error', 'median_absolute_error'):
                for multioutput in ('raw_values', 'uniform_average', [0.2, 0.3, 0.5], 'variance_weighted'):
                    if multioutput == 'variance_weighted' and name not in ('r2_score', 'explained_variance_score'):
                        continue
                    ours, theirs = (getattr(module, name)(truth, predictions, sample_weight=weights, multioutput=multioutput)
                                    for module in (Apr, metrics))
                    self.assertClose(ours, theirs, what=f'{name} {multioutput}')
        self.assertEqual(Apr.max_error(truth[:, 0], predictions[:, 0]), metrics.max_error(truth[:, 0], predictions[:, 0]))


if __name__ == '__main__':
    tap.main()
