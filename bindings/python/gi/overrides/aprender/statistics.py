# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a linear regression says of its coefficients and of its samples: statistics, tests, diagnostics."""

from __future__ import annotations

from gi.repository import GLib

from . import awaitable
from .blocks import call_whole, taking_outcomes
from .data import to_data
from .errors import ArgumentError, AprError
from .estimator import explain_features, get_values, read_samples
from .lists import find_shape, count, to_target
from .native import Apr, extends
from .properties import add_attributes, advise, to_enum

_diagnose = Apr.LinearRegression.diagnose
_diagnose_async = Apr.LinearRegression.diagnose_async
_diagnose_finish = Apr.LinearRegression.diagnose_finish
_get_robust_statistics = Apr.LinearRegression.get_robust_statistics
_get_robust_statistics_async = Apr.LinearRegression.get_robust_statistics_async
_get_robust_statistics_finish = Apr.LinearRegression.get_robust_statistics_finish
_get_confidence_intervals = Apr.RegressionStatistics.get_confidence_intervals
_get_intervals_of_test = Apr.HypothesisTest.get_confidence_intervals
_get_row = Apr.RegressionStatistics.__getitem__
_has_row = Apr.RegressionStatistics.__contains__
_test_hypothesis = Apr.RegressionStatistics.test_hypothesis
_test_hypothesis_async = Apr.RegressionStatistics.test_hypothesis_async
_parse_hypothesis = Apr.RegressionStatistics.parse_hypothesis
_to_string = Apr.RegressionStatistics.to_string


# What diagnostics have of each sample.
_DIAGNOSTICS = ('fitted_values', 'residuals', 'leverages', 'standardized_residuals', 'studentized_residuals',
                'cooks_distances')


def _to_kind(kind):
    return to_enum(Apr.CovarianceKind, kind.lower() if isinstance(kind, str) else kind, 'kind')


def _find_shape_of(value):
    return list(getattr(value, 'shape', None) or find_shape(value, 'factors'))


def _to_hypothesis(statistics, factors, values):
    """The factors of the terms and the values, of which a text has both, or a list of texts."""
    if isinstance(factors, (list, tuple)) and factors and all(isinstance(text, str) for text in factors):
        factors = ', '.join(factors)
    if isinstance(factors, tuple) and len(factors) == 2:
        shapes = [_find_shape_of(part) for part in factors]
        if shapes[0] != shapes[1]:
            raise ArgumentError(f'factors is a tuple of two, with the shapes {shapes[0]} and {shapes[1]}: pass factors and '
                                'values as two arguments, test_hypothesis(factors, values)')
    if not isinstance(factors, str):
        return to_data(factors, 'factors'), None if values is None else to_data(values, 'values')
    if values is not None:
        raise ArgumentError('Where the hypotheses are a text, their values are in it')
    return statistics.parse_hypothesis(factors)


@extends(Apr.LinearRegression)
class Methods:
    def diagnose(self, X: Data, y: Target, sample_weight: Weights = None, target: int | str = 0,
                 cancellable: Gio.Cancellable | None = None) -> RegressionDiagnostics:
        """The Apr.RegressionDiagnostics of the samples of the fit: residuals, leverages, Cook's distances and more."""
        samples = read_samples(self, X, y, sample_weight)
        target = to_target(self, target)
        tensors = samples.get_tensors()
        try:
            return awaitable.run(
                self, awaitable.count_products(*tensors[:2]), cancellable,
                lambda cancellable: _diagnose(self, *tensors, target, cancellable),
                lambda *args: _diagnose_async(self, *tensors, target, GLib.PRIORITY_DEFAULT, *args), _diagnose_finish, False)
        except AprError as error:
            raise explain_features(self, error, samples) from None

    def diagnose_async(self, X, y, sample_weight=None, target=0, cancellable=None, callback=None, *user_data):
        """The diagnostics without blocking: `await model.diagnose_async(X, y)` gives them."""
        samples = read_samples(self, X, y, sample_weight)
        target = to_target(self, target)
        return call_whole(
            samples, lambda X, y, weights, *args: _diagnose_async(self, X, y, weights, target, GLib.PRIORITY_DEFAULT, *args),
            Apr.LinearRegression.diagnose_finish, cancellable, callback, user_data)

    diagnose_finish = taking_outcomes(_diagnose_finish)

    def get_robust_statistics(self, X: Data, y: Target, sample_weight: Weights = None, kind: CovarianceKind | str = 'hc3',
                              target: int | str = 0, cancellable: Gio.Cancellable | None = None) -> RegressionStatistics:
        """The statistics with standard errors that are consistent whatever the variances of the errors are.

        X, y and sample_weight are the samples of the fit, and kind is 'hc0', 'hc1', 'hc2' or 'hc3'. They are those of
        statsmodels' get_robustcov_results(), with Student's t.
        """
        samples = read_samples(self, X, y, sample_weight)
        kind, target = _to_kind(kind), to_target(self, target)
        tensors = samples.get_tensors()
        try:
            return awaitable.run(
                self, awaitable.count_products(*tensors[:2]), cancellable,
                lambda cancellable: _get_robust_statistics(self, *tensors, kind, target, cancellable),
                lambda *args: _get_robust_statistics_async(self, *tensors, kind, target, GLib.PRIORITY_DEFAULT, *args),
                _get_robust_statistics_finish, False)
        except AprError as error:
            raise explain_features(self, error, samples) from None

    def get_robust_statistics_async(self, X, y, sample_weight=None, kind='hc3', target=0, cancellable=None, callback=None,
                                    *user_data):
        """The same without blocking: `await model.get_robust_statistics_async(X, y)` gives the statistics."""
        samples = read_samples(self, X, y, sample_weight)
        kind, target = _to_kind(kind), to_target(self, target)
        return call_whole(
            samples, lambda X, y, weights, *args: _get_robust_statistics_async(self, X, y, weights, kind, target,
                                                                               GLib.PRIORITY_DEFAULT, *args),
            Apr.LinearRegression.get_robust_statistics_finish, cancellable, callback, user_data)

    get_robust_statistics_finish = taking_outcomes(_get_robust_statistics_finish)


@extends(Apr.RegressionStatistics)
class Statistics:
    """What a linear regression says beside its coefficients, of one target.

        statistics = model.get_statistics()
        print(statistics)
        statistics.terms, statistics.standard_errors, statistics.p_values, statistics.get_confidence_intervals(0.95)
        statistics.test_hypothesis('x0 = x1').f_p_value
        statistics['x0'].p_value, statistics.to_frame()

    Arrays have an entry for each of terms: the intercept, where there is one, and the features. covariance is
    [n_terms, n_terms]. Weights are analytic, as in statsmodels' WLS and R's lm.
    """

    def get_confidence_intervals(self, level: float = 0.95) -> Array:
        """Intervals that hold the true coefficients with the probability level each: [n_terms, 2]."""
        return _get_confidence_intervals(self, level)._get_values()

    def parse_hypothesis(self, text: str) -> tuple[Tensor, Tensor]:
        """The factors of the terms, and the values, that a text of hypotheses stands for."""
        return _parse_hypothesis(self, text)[-2:]

    def test_hypothesis(self, factors: Data | str, values: Data = None) -> HypothesisTest:
        """Tests that sums of the coefficients, factors @ coefficients, are the values, or 0.

        factors is [n_terms] for one hypothesis, or [n_hypotheses, n_terms]: [0, 1, -1] says that the coefficients of
        the second and the third of terms are the same. Or it is a text, such as 'x1 = x2' or 'x1 + 2*x2 = 3, x3 = 0',
        as statsmodels takes it, or a list of such texts; a name that holds operators may stand in backquotes. Each
        hypothesis has a t-value, and all together have an F-statistic.
        """
        return _test_hypothesis(self, *_to_hypothesis(self, factors, values))

    def test_hypothesis_async(self, factors, values=None, cancellable=None, callback=None, *user_data):
        """Tests without blocking: `await statistics.test_hypothesis_async('x1 = x2')` gives the test."""
        hypothesis = _to_hypothesis(self, factors, values)
        return awaitable.call(lambda *args: _test_hypothesis_async(self, *hypothesis, GLib.PRIORITY_DEFAULT, *args),
                              Apr.RegressionStatistics.test_hypothesis_finish, cancellable, callback, user_data)

    def __getitem__(self, key: int | str) -> Term:
        """A row of the summary, by its place or by the name of its term: statistics['area'].p_value."""
        if not isinstance(key, str):
            if isinstance(key, int) and not -len(self) <= key < len(self):
                raise IndexError(f'There are {count(len(self), "term")}, but none at {key}')
            return _get_row(self, key)
        terms = self.terms
        if key not in terms:
            raise KeyError(f'There is no term “{key}”{advise(key, terms)}')
        return self.get_item(terms.index(key))

    def __len__(self) -> int:
        return self.get_n_items()

    def __iter__(self) -> Iterator[Term]:
        return map(self.get_item, range(len(self)))

    def __contains__(self, item: Term | str) -> bool:
        return item in self.terms if isinstance(item, str) else _has_row(self, item)

    def to_frame(self, level: float = 0.95) -> Any:
        """The rows of the summary as a pandas.DataFrame: estimate, standard_error and so on, by the names of the terms.

        lower and upper are the ends of the intervals that hold the true coefficients with the probability level each.
        """
        from pandas import DataFrame

        columns = {'estimate': self.coefficients, 'standard_error': self.standard_errors, 't_value': self.t_values,
                   'p_value': self.p_values, **dict(zip(('lower', 'upper'), self.get_confidence_intervals(level).T))}
        return DataFrame(columns, self.terms)

    def __str__(self) -> str:
        return _to_string(self)

    __repr__ = __str__


@extends(Apr.Term)
class Term:
    """A row of the summary: the intercept or a feature, its coefficient, and what is known of it.

        statistics = Apr.LinearRegression().fit(X, y).get_statistics()
        for term in statistics:
            print(term.name, term.estimate, term.standard_error, term.lower, term.upper)
        statistics['x0'].p_value

    lower and upper are the ends of the interval of 95 %. Numbers are floats, in the units of the data; all but the name
    are NaN for a feature that depends on others before it. A term never changes: any thread may read it.
    """

    def __repr__(self) -> str:
        return (f'{self.name}: {self.estimate:.6g}, std. error {self.standard_error:.6g}, t = {self.t_value:.4g}, '
                f'p = {self.p_value:.3g}')


@extends(Apr.RegressionDiagnostics)
class Diagnostics:
    """How well each sample is fitted, and how much the fit depends on it, from model.diagnose(X, y).

        model = Apr.LinearRegression().fit(X, y)
        diagnostics = model.diagnose(X, y)
        print(diagnostics.residuals, diagnostics.durbin_watson)
        most = max(range(len(y)), key=lambda i: diagnostics.leverages[i])

    fitted_values, residuals, leverages, standardized_residuals, studentized_residuals and cooks_distances are
    [n_samples], in the order of X. The first two are in the units of y, the others have none. to_frame() has them as
    a pandas.DataFrame. Where there are as many coefficients as samples, what needs a residual variance is NaN; so are
    the last three of a sample whose leverage is 1, which is more influential than any other.
    Diagnostics never change: any thread may read them.
    """

    def to_frame(self, index: Any = None) -> Any:
        """The numbers of each sample as a pandas.DataFrame, which may be given the index of another one."""
        from pandas import DataFrame

        return DataFrame({name: getattr(self, name) for name in _DIAGNOSTICS}, index)

    def __repr__(self) -> str:
        return (f'{count(len(self.residuals), "sample")}, Durbin-Watson {self.durbin_watson:.6g}: '
                + ', '.join(_DIAGNOSTICS))


@extends(Apr.HypothesisTest)
class Test:
    """What a test of hypotheses about the coefficients found: test_hypothesis() and compare() give it.

        statistics = Apr.LinearRegression().fit(X, y).get_statistics()
        test = statistics.test_hypothesis(['x0 = 1', 'x0 = x1'])
        print(test.p_values)
        print(test.f_statistic, test.df_hypothesis, test.df_residual, test.f_p_value)

    estimates, standard_errors, t_values and p_values are [n_hypotheses]: each hypothesis alone, by Student's t. They are
    empty where compare() gave the test. f_statistic and f_p_value are of all together, by F with df_hypothesis and
    df_residual degrees of freedom. A test never changes: any thread may read it.
    """

    def get_confidence_intervals(self, level: float = 0.95) -> Array:
        """Intervals that hold the true sums of the coefficients with the probability level each: [n_hypotheses, 2]."""
        return _get_intervals_of_test(self, level)._get_values()

    def __repr__(self) -> str:
        return (f'F = {self.f_statistic:.6g} with {self.df_hypothesis} and {self.df_residual} degrees of freedom, '
                f'p = {self.f_p_value:.3g}')


def _refuse_pickle(self, protocol):
    frame = 'what its to_frame() gives, or ' if hasattr(self, 'to_frame') else ''
    raise TypeError(f'{type(self).__name__} cannot be pickled: pass on {frame}the model, with keep_state=True')


for _class in (Apr.RegressionStatistics, Apr.RegressionDiagnostics, Apr.HypothesisTest, Apr.Term):
    _class.__reduce_ex__ = _refuse_pickle
    # They never change.
    _class.__copy__ = lambda self: self
    _class.__deepcopy__ = lambda self, memo: self

for _class in (Apr.RegressionStatistics, Apr.RegressionDiagnostics, Apr.HypothesisTest, Apr.Term):
    add_attributes(_class, get_values)
