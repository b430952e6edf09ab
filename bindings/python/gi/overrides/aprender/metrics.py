# SPDX-License-Identifier: LGPL-2.1-or-later
"""The metrics: functions of arrays."""

from __future__ import annotations

from .data import to_data
from .native import Apr, translating

__all__ = []


def _add_metric(name, doc):
    function = translating(getattr(Apr, name))

    def metric(y_true, y_pred, sample_weight=None):
        return function(to_data(y_true, 'y_true'), to_data(y_pred, 'y_pred'),
                        to_data(sample_weight, 'sample_weight'))

    metric.__name__ = metric.__qualname__ = name
    metric.__doc__ = doc
    globals()[name] = metric
    __all__.append(name)


_add_metric('r2_score', 'Computes the coefficient of determination, R²: '
            '1 for perfect predictions, 0 for those like the mean.')
_add_metric('explained_variance_score', 'Computes 1 - Var(y_true - y_pred) / Var(y_true).')
_add_metric('mean_squared_error', 'Computes the mean of the squared errors.')
_add_metric('root_mean_squared_error', 'Computes the square root of the mean of the squared errors.')
_add_metric('mean_absolute_error', 'Computes the mean of the magnitudes of the errors.')

_max_error = translating(Apr.max_error)


def max_error(y_true: Data, y_pred: Data) -> float:
    """Finds the greatest magnitude of an error."""
    return _max_error(to_data(y_true, 'y_true'), to_data(y_pred, 'y_pred'))


__all__.append('max_error')
