# SPDX-License-Identifier: LGPL-2.1-or-later
"""Apr.LinearRegression: what it has beside Apr.Estimator, and its statistics."""

from .data import check_columns, to_data, to_fit
from .estimator import ClassFunction, get_values
from .lists import describe
from .memory import FORMATS, import_module
from .native import Apr, extends
from .properties import add_attributes, add_constructor, to_enum

_get_intercept = Apr.LinearRegression.get_intercept
_predict_into = Apr.LinearRegression.predict_into
_predict_one = Apr.LinearRegression.predict_one
_partial_fit = Apr.LinearRegression.partial_fit
_get_statistics = Apr.LinearRegression.get_statistics
_predict_interval = Apr.LinearRegression.predict_interval
_get_confidence_intervals = Apr.RegressionStatistics.get_confidence_intervals
_fit_cross_products = Apr.LinearRegression.fit_cross_products
_to_string = Apr.RegressionStatistics.to_string


def _check_out(out, typestr, shape):
    if not isinstance(out, import_module('numpy').ndarray) or out.dtype.str != typestr or out.shape != shape:
        raise ValueError(f'out must be an array of the dtype {typestr} and the shape {list(shape)}, '
                         f'not {getattr(out, "dtype", type(out).__name__)} {list(getattr(out, "shape", []))}')
    if not out.flags.carray:
        raise ValueError('out must be a writable array in C order')


@extends(Apr.LinearRegression)
class Methods:
    """Ordinary least squares: the coefficients b and the intercept a that minimise Σ w (y - a - X b)².

    They are correctly rounded. Where features depend on each other, those with the least sum of squares are taken.

        model = Apr.LinearRegression().fit(X, y)
        model.coefficients, model.intercept, model.predict(X), model.score(X, y)
        print(model.summary())
        model.save('model.safetensors')
        model = Apr.LinearRegression.load('model.safetensors')
    """

    load = ClassFunction(Apr.Estimator.load)
    from_bytes = ClassFunction(Apr.Estimator.from_bytes)

    def predict(self, X, out=None):
        """Predicts the targets of samples: an array, [n_samples] or [n_samples, n_targets].

        With out, an array of that shape and of the dtype of the coefficients, they are written there, and it is
        what is returned. The columns' names of a data frame must be those that the model was fitted with, in the same
        order.
        """
        check_columns(self, X)
        data = to_data(X, 'X')
        if out is None:
            return Apr.Estimator.predict(self, data)

        coefficients = self.get_coefficients()
        if coefficients is not None:
            _check_out(out, FORMATS[coefficients.dtype][1], data.shape[:1] + coefficients.shape[:-1])
        _predict_into(self, data, out.ctypes.data, out.nbytes)
        return out

    def predict_one(self, x):
        """Predicts the target of one sample, a list, a tuple or an array of its features, as a float.

        It is the row of what predict() gives, to the last bit, many times faster than predict() of one row.
        """
        if not isinstance(x, (list, tuple)):
            if isinstance(x, (str, bytes, bytearray)) or not hasattr(x, '__len__'):
                raise TypeError(f'x must be the features of one sample, not {describe(x)}')
            # A list's entries are converted faster than those of an array.
            x = x.tolist() if hasattr(x, 'tolist') else list(x)
        return _predict_one(self, x)

    @property
    def intercept(self):
        """The prediction for a sample whose features are all 0, in units of the target.

        A float, or an array with one for each target where y was [n_samples, n_targets]; None before the first fit.
        """
        tensor = _get_intercept(self)
        if tensor is None:
            return None
        return tensor.get_double(0) if self.get_coefficients().get_n_dims() == 1 else tensor._get_values()

    def fit_cross_products(self, state):
        """Fits the model to samples that have been summed before, and returns the model."""
        _fit_cross_products(self, state)
        return self

    def partial_fit(self, X, y, sample_weight=None, cancellable=None):
        """Fits the model to more samples, beside those that it was fitted to before, and returns the model.

        It is the model of one fit with all of them, bit for bit.
        """
        (X, y, sample_weight), names = to_fit(X, y, sample_weight)
        fitted = self.get_fitted()
        if fitted and names is not None:
            self.check_feature_names(names)
        _partial_fit(self, X, y, sample_weight, cancellable)
        if not fitted and names is not None:
            self.set_feature_names(names)
        return self

    def get_statistics(self, target=0):
        """The Apr.RegressionStatistics of one target, counted from 0: how well the coefficients are known."""
        return _get_statistics(self, target)

    def predict_interval(self, X, level=0.95, kind='prediction'):
        """The bounds within which the truth is with the probability level: two arrays, lower and upper ends.

        kind says what truth that is: 'prediction', one more sample of weight 1, or 'confidence', the mean of samples
        with these features; Apr.IntervalKind has both too.
        """
        check_columns(self, X)
        kind = to_enum(Apr.IntervalKind, kind, 'kind')
        _, lower, upper = _predict_interval(self, to_data(X, 'X'), level, kind)
        return lower._get_values(), upper._get_values()


@extends(Apr.RegressionStatistics)
class Statistics:
    """What a linear regression says beside its coefficients, of one target.

        statistics = model.get_statistics()
        print(statistics)
        statistics.terms, statistics.standard_errors, statistics.p_values, statistics.get_confidence_intervals(0.95)

    Arrays have an entry for each of terms: the intercept, where there is one, and the features. covariance is
    [n_terms, n_terms]. Weights are analytic, as in statsmodels' WLS and R's lm.
    """

    def get_confidence_intervals(self, level=0.95):
        """Intervals that hold the true coefficients with the probability level each: [n_terms, 2]."""
        return _get_confidence_intervals(self, level)._get_values()

    def __str__(self):
        return _to_string(self)


add_attributes(Apr.LinearRegression, get_values)
add_constructor(Apr.LinearRegression)
add_attributes(Apr.RegressionStatistics, get_values)
