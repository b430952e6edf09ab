# SPDX-License-Identifier: LGPL-2.1-or-later
"""The metrics: functions of arrays.

Of several targets, multioutput='uniform_average' is the mean of the targets' values, 'raw_values' an array of them,
'variance_weighted' or a list of weights another mean.
"""

from __future__ import annotations

from gi.repository import GLib

from . import awaitable
from .data import to_data
from .errors import ArgumentError, check_r2
from .native import Apr, translating
from .properties import to_enum

__all__ = ['r2_score', 'explained_variance_score', 'mean_squared_error', 'root_mean_squared_error', 'mean_absolute_error',
           'mean_absolute_percentage_error', 'median_absolute_error', 'max_error', 'compute_metric', 'compute_metric_async']

_compute_metric = translating(Apr.compute_metric)
native_compute_async = Apr.compute_metric_async
native_compute_finish = translating(Apr.compute_metric_finish)


def _to_arguments(metric, multioutput, y_true, y_pred, sample_weight):
    return (to_enum(Apr.Metric, metric, 'metric'), to_enum(Apr.Multioutput, multioutput, 'multioutput'),
            to_data(y_true, 'y_true'), to_data(y_pred, 'y_pred'), to_data(sample_weight, 'sample_weight'))


def compute_metric(metric: Metric | str, multioutput: Multioutput | str, y_true: Data, y_pred: Data,
                   sample_weight: Weights = None) -> Array:
    """Computes a metric by its name, such as 'r2': of each target for 'raw_values', else one number in an array."""
    return _compute_metric(*_to_arguments(metric, multioutput, y_true, y_pred, sample_weight))._get_values()


def compute_metric_async(metric, multioutput, y_true, y_pred, sample_weight=None, cancellable=None, callback=None,
                         *user_data):
    """Computes without blocking: `await Apr.compute_metric_async('r2', 'raw_values', y_true, y_pred)` gives an array."""
    arguments = _to_arguments(metric, multioutput, y_true, y_pred, sample_weight)
    return awaitable.call(lambda *args: native_compute_async(*arguments, GLib.PRIORITY_DEFAULT, *args),
                          lambda _, result: native_compute_finish(result)._get_values(), cancellable, callback, user_data)


def _compute(metric, multioutput, y_true, y_pred, sample_weight):
    tensors = (to_data(y_true, 'y_true'), to_data(y_pred, 'y_pred'), to_data(sample_weight, 'sample_weight'))
    if isinstance(multioutput, (str, Apr.Multioutput)):
        multioutput = to_enum(Apr.Multioutput, multioutput, 'multioutput')
        values = _compute_metric(metric, multioutput, *tensors)
        return values._get_values() if multioutput == Apr.Multioutput.RAW_VALUES else values.get_double(0)

    values = list(_compute_metric(metric, Apr.Multioutput.RAW_VALUES, *tensors)._get_values())
    weights = [float(weight) for weight in multioutput]
    if len(weights) != len(values) or not sum(weights) > 0:
        raise ArgumentError(f'multioutput has {len(weights)} weights with the sum {sum(weights):g}, but there are '
                            f'{len(values)} targets')
    return sum(float(value) * weight for value, weight in zip(values, weights) if weight) / sum(weights)


def r2_score(y_true: Data, y_pred: Data, sample_weight: Weights = None,
             multioutput: Sequence[float] | Multioutput | str = 'uniform_average') -> Any:
    """Computes the coefficient of determination, R²: 1 for perfect predictions, 0 for those like the mean, and a NaN, with a
    warning, for one sample.
    """
    values = _compute(Apr.Metric.R2, multioutput, y_true, y_pred, sample_weight)
    check_r2(values if isinstance(values, float) else max(values))
    return values


def explained_variance_score(y_true: Data, y_pred: Data, sample_weight: Weights = None,
                             multioutput: Sequence[float] | Multioutput | str = 'uniform_average') -> Any:
    """Computes 1 - Var(y_true - y_pred) / Var(y_true)."""
    return _compute(Apr.Metric.EXPLAINED_VARIANCE, multioutput, y_true, y_pred, sample_weight)


def mean_squared_error(y_true: Data, y_pred: Data, sample_weight: Weights = None,
                       multioutput: Sequence[float] | Multioutput | str = 'uniform_average') -> Any:
    """Computes the mean of the squared errors."""
    return _compute(Apr.Metric.MEAN_SQUARED_ERROR, multioutput, y_true, y_pred, sample_weight)


def root_mean_squared_error(y_true: Data, y_pred: Data, sample_weight: Weights = None,
                            multioutput: Sequence[float] | Multioutput | str = 'uniform_average') -> Any:
    """Computes the square root of the mean of the squared errors."""
    return _compute(Apr.Metric.ROOT_MEAN_SQUARED_ERROR, multioutput, y_true, y_pred, sample_weight)


def mean_absolute_error(y_true: Data, y_pred: Data, sample_weight: Weights = None,
                        multioutput: Sequence[float] | Multioutput | str = 'uniform_average') -> Any:
    """Computes the mean of the magnitudes of the errors."""
    return _compute(Apr.Metric.MEAN_ABSOLUTE_ERROR, multioutput, y_true, y_pred, sample_weight)


def mean_absolute_percentage_error(y_true: Data, y_pred: Data, sample_weight: Weights = None,
                                   multioutput: Sequence[float] | Multioutput | str = 'uniform_average') -> Any:
    """Computes the mean of the magnitudes of the errors by those of the targets: 0.1 for 10 %."""
    return _compute(Apr.Metric.MEAN_ABSOLUTE_PERCENTAGE_ERROR, multioutput, y_true, y_pred, sample_weight)


def median_absolute_error(y_true: Data, y_pred: Data, sample_weight: Weights = None,
                          multioutput: Sequence[float] | Multioutput | str = 'uniform_average') -> Any:
    """Finds the median of the magnitudes of the errors."""
    return _compute(Apr.Metric.MEDIAN_ABSOLUTE_ERROR, multioutput, y_true, y_pred, sample_weight)


_max_error = translating(Apr.max_error)


def max_error(y_true: Data, y_pred: Data) -> float:
    """Finds the greatest magnitude of an error."""
    return _max_error(to_data(y_true, 'y_true'), to_data(y_pred, 'y_pred'))
