# SPDX-License-Identifier: LGPL-2.1-or-later
"""Regressions of groups of samples: Apr.LinearRegression.fit_groups(), and the Apr.GroupFits that it gives."""

from __future__ import annotations

from gi.repository import GLib

from . import awaitable
from .errors import ArgumentError, AprError
from .estimator import get_values
from .labels import Labels
from .lists import count
from .names import number_names
from .native import Apr, extends
from .properties import add_attributes
from .samples import Samples, explain

_fit_groups = Apr.LinearRegression.fit_groups
_fit_groups_async = Apr.LinearRegression.fit_groups_async
_fit_groups_finish = Apr.LinearRegression.fit_groups_finish


def _get_own(model, key, names):
    """The names that somebody gave the model, as those of an earlier table are not for other data."""
    return None if names == vars(model).get(key) else names


def _fit_names(names, n):
    return names if names is not None and len(names) == n else None


class _Groups:
    """What a call is given: samples, and the group of each."""

    def __init__(self, model, X, y, groups, sample_weight):
        self.labels = Labels(X, groups, 'groups', y=y, sample_weight=sample_weight)
        self.samples = Samples(self.labels.X, y, sample_weight)
        self.names = self.samples.names or _get_own(model, '_table_names', model.get_feature_names())
        self.target_names = self.samples.target_names or _get_own(model, '_table_target_names', model.get_target_names())

    def get_tensors(self):
        X, y, sample_weight = self.samples.get_tensors()
        return X, y, self.labels.tensor, sample_weight

    def finish(self, fits):
        labels = self.labels
        vars(fits).update(_labels=labels.distinct, _label_names=labels.names, _has_tuples=labels.has_tuples, _names=self.names,
                          _target_names=self.target_names)
        return fits


@extends(Apr.LinearRegression)
class Methods:
    def fit_groups(self, X: Data, y: Target, groups: Any, sample_weight: Weights = None,
                   cancellable: Gio.Cancellable | None = None) -> GroupFits:
        """Fits a regression to each group of rows, with the settings of this model, and returns the Apr.GroupFits.

        groups is a label for each row, of any kind that can be sorted, or the name of a column of the table X, which then
        is no feature. By several columns, their names in a list or a table of their own, labels are tuples. The model stays as
        it is. The coefficients of each group are those of fit() with its rows alone.
        """
        call = _Groups(self, X, y, groups, sample_weight)
        tensors = call.get_tensors()
        try:
            return call.finish(awaitable.run(
                self, awaitable.count_products(*tensors[:2], self), cancellable,
                lambda cancellable: _fit_groups(self, *tensors, cancellable),
                lambda *args: _fit_groups_async(self, *tensors, GLib.PRIORITY_DEFAULT, *args), _fit_groups_finish))
        except AprError as error:
            raise explain(error, call.samples) from None

    def fit_groups_async(self, X, y, groups, sample_weight=None, cancellable=None, callback=None, *user_data):
        """The same without blocking: `await model.fit_groups_async(X, y, groups)` gives the fits."""
        call = _Groups(self, X, y, groups, sample_weight)

        def finish(model, result):
            try:
                return call.finish(_fit_groups_finish(model, result))
            except AprError as error:
                raise explain(error, call.samples) from None

        return awaitable.call(
            lambda *args: _fit_groups_async(self, *call.get_tensors(), GLib.PRIORITY_DEFAULT, *args), finish, cancellable,
            callback, user_data)


@extends(Apr.GroupFits)
class Fits:
    """Linear regressions of groups of rows, from fit_groups().

        fits = model.fit_groups(X, y, groups)
        fits.labels, fits.coefficients, fits.intercepts, fits.ranks, fits.correctly_rounded
        fits.to_frame()

    Each array has an entry for each group, in the order of labels. Where a group cannot be fitted, as where all its weights
    are 0, its coefficients are NaN, its rank is -1, and check(i) raises what is wrong; n_failed counts such groups.
    """

    @property
    def labels(self) -> Any:
        """The labels of the groups, sorted: an array where groups was an array or one column, else a list."""
        labels = vars(self).get('_labels')
        return get_values(self.get_property('labels')) if labels is None else labels

    def __len__(self) -> int:
        return self.n_groups

    def __copy__(self):
        # It never changes.
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce_ex__(self, protocol):
        raise TypeError('GroupFits cannot be pickled: pass on what its to_frame() gives, or its arrays')

    def to_frame(self) -> Any:
        """A pandas.DataFrame with a row for each group: its coefficients, its intercept, its number of samples, its rank.

        Samples of weight 0 are not counted. Where y is a matrix, there is a row for each group and target. The index has the
        name of the column of labels. A feature called intercept, n_samples or rank is an ArgumentError.
        """
        from pandas import DataFrame, Index, MultiIndex

        coefficients, n_targets, known = self.coefficients, self.intercepts.shape[1], vars(self)
        n_features, is_one = coefficients.shape[-1], coefficients.ndim == 2
        names = _fit_names(known.get('_names'), n_features) or number_names('x', n_features)
        others = {'intercept': self.intercepts.reshape(-1), 'n_samples': self.n_samples.repeat(n_targets),
                  'rank': self.ranks.repeat(n_targets)}
        taken = [name for name in others if name in names]
        if taken:
            raise ArgumentError(f'A feature has the name “{taken[0]}”, as a column of to_frame() has: give it another name before '
                                'the fit, or take coefficients, which has no names')
        frame = DataFrame(coefficients.reshape(-1, n_features), columns=names).assign(**others)
        names, labels = known.get('_label_names', [None]), self.labels
        targets = _fit_names(known.get('_target_names'), n_targets) or range(n_targets)
        if known.get('_has_tuples'):
            labels = labels if is_one else [(*label, target) for label in labels for target in targets]
            frame.index = MultiIndex.from_tuples(labels, names=names if is_one else [*names, None])
        else:
            frame.index = Index(labels, name=names[0]) if is_one else \
                MultiIndex.from_product([labels, targets], names=[*names, None])
        return frame

    def __repr__(self) -> str:
        failed = f', of which {self.n_failed} failed' if self.n_failed else ''
        return f'{count(self.n_groups, "group")}{failed}: labels, coefficients, intercepts, n_samples, ranks, correctly_rounded'


add_attributes(Apr.GroupFits, get_values)
