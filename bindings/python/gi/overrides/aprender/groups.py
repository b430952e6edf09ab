# SPDX-License-Identifier: LGPL-2.1-or-later
"""Regressions of groups of samples: Apr.LinearRegression.fit_groups(), and the Apr.GroupFits that it gives."""

from __future__ import annotations

import array
import sys

from gi.repository import GLib

from . import awaitable
from .data import to_tensor
from .errors import ArgumentError, AprError
from .estimator import get_values
from .lists import count, describe
from .memory import import_module
from .names import number_names
from .native import Apr, extends, make_error
from .properties import add_attributes
from .samples import Samples, explain, get_labels, quote
from .tables import is_missing

_fit_groups = Apr.LinearRegression.fit_groups
_fit_groups_async = Apr.LinearRegression.fit_groups_async
_fit_groups_finish = Apr.LinearRegression.fit_groups_finish


def _read_table(value, name):
    """A table of pyarrow's in place of a stream of Arrow's, such as a result of DuckDB, or of a batch: columns can be taken
    out of it. Anything else as it is.
    """
    is_stream = hasattr(value, '__arrow_c_stream__') and not hasattr(value, '__array__')
    is_batch = hasattr(value, 'column_names') and not hasattr(value, 'drop')
    pyarrow = import_module('pyarrow') if is_stream or is_batch else None
    if pyarrow is None:
        return value
    try:
        return pyarrow.table(value)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f'{name} cannot be read as a table: {error}') from None


def _take_columns(X, names):
    """X without the columns that say which groups its rows belong to, and those columns."""
    # What can be collected has no rows yet, and what is a stream has them only once.
    has_rows = not hasattr(X, 'collect') and (hasattr(X, '__array__') or not hasattr(X, '__arrow_c_stream__'))
    if not has_rows or not hasattr(X, 'drop') or not hasattr(X, 'columns'):
        raise ArgumentError(f'groups names a column of X, “{names[0]}”, but X is no table with named columns: pass a table '
                            'of pandas, polars or pyarrow')
    known = _find_columns(X)
    for name in names:
        if name not in known:
            raise ArgumentError(f'groups names a column of X, “{name}”, but X has {quote(known)}')
    return (X.drop(columns=names) if hasattr(X, 'iloc') else X.drop(names)), [X[name] for name in names]


def _find_columns(table):
    """The names of a table's columns: pyarrow has them under another name. None where it is no table."""
    names = getattr(table, 'columns' if hasattr(table, 'iloc') else 'column_names', getattr(table, 'columns', None))
    return None if names is None else list(names)


def _get_names(X, groups):
    """The columns of X that groups names. A list with a label for each row is none of names. One that is shorter is, if any
    is known: the others are mistakes.
    """
    if isinstance(groups, str):
        return [groups]
    known = _find_columns(X)
    if not known or not hasattr(groups, '__len__') or not hasattr(X, '__len__') or len(groups) == len(X):
        return []
    names = get_labels(groups)
    are_names = set(names) <= set(known) or (len(names) < len(X) and not set(names).isdisjoint(known))
    return names if are_names and len(set(names)) == len(names) else []


def _get_columns(groups):
    """The names and the columns of a table of labels; None where groups is none."""
    names = _find_columns(groups)
    if names == []:
        raise ArgumentError('groups is a table without columns')
    return None if names is None else (names, [groups[name] for name in names])


def _refuse_missing(row):
    raise make_error(Apr.Error.NOT_FINITE, f'groups has no label at row {row} (counted from 0)')


def _find_missing(values):
    """The rows without a label: None or NA, and what does not equal itself, as NaN."""
    return [i for i, value in enumerate(values) if is_missing(value) or value != value]


def _number_list(values):
    """The distinct labels in order, and a tensor with the number of each row's label."""
    missing = _find_missing(values)
    if missing:
        _refuse_missing(missing[0])
    labels = sorted(set(values))
    numbers = {label: i for i, label in enumerate(labels)}
    codes = array.array('q', (numbers[value] for value in values))
    if sys.byteorder == 'big':
        codes.byteswap()
    return labels, Apr.Tensor.new_from_bytes(Apr.DType.I64, [len(values)], GLib.Bytes.new(codes.tobytes()))


def _number_array(numpy, values):
    """The same of an array; None in place of the labels where its numbers are the labels."""
    if values.ndim != 1:
        raise make_error(Apr.Error.SHAPE, f'groups must have the shape [n_samples], but it has {list(values.shape)}')
    if values.dtype.kind in 'biu':
        return None, to_tensor(values)
    pandas = sys.modules.get('pandas')
    if pandas is not None:
        # It has a table of labels, where numpy sorts the rows.
        codes, labels = pandas.factorize(values, sort=True)
        missing = (codes < 0).nonzero()[0]
    else:
        missing = _find_missing(values)
        labels, codes = (None, None) if len(missing) else numpy.unique(values, return_inverse=True)
    if len(missing):
        _refuse_missing(missing[0])
    return labels, to_tensor(numpy.ascontiguousarray(codes.reshape(-1), 'i8'))


def _number_columns(columns):
    """The same of several columns, whose labels are tuples."""
    numpy = import_module('numpy')
    codes, chosen = None, []
    for column in columns:
        labels, tensor = _number_labels(column)
        numbers = tensor.numpy()
        if labels is None:
            labels, numbers = numpy.unique(numbers, return_inverse=True)
        # Renumbered after each column, so that the numbers stay below those of the rows.
        pairs = numbers if codes is None else codes * len(labels) + numbers
        found, codes = numpy.unique(pairs, return_inverse=True)
        before, last = (found // len(labels), found % len(labels)) if chosen else (None, found)
        chosen = [[old[i] for i in before] for old in chosen] + [[labels[i] for i in last]]
    return list(zip(*chosen)), to_tensor(numpy.ascontiguousarray(codes, 'i8'))


def _number_labels(groups):
    if isinstance(groups, Apr.Tensor):
        return None, groups
    if isinstance(groups, (list, tuple, range)):
        return _number_list(groups)
    if not hasattr(groups, '__array__'):
        raise ArgumentError(f'groups must be a label for each row of X, not {describe(groups)}')
    numpy = import_module('numpy')
    return _number_array(numpy, numpy.asarray(groups))


def _get_own(model, key, names):
    """The names that somebody gave the model, as those of an earlier table are not for other data."""
    return None if names == vars(model).get(key) else names


def _fit_names(names, n):
    return names if names is not None and len(names) == n else None


class _Groups:
    """What a call is given: samples, and the group of each."""

    def __init__(self, model, X, y, groups, sample_weight):
        X, groups = _read_table(X, 'X'), _read_table(groups, 'groups')
        self.label_names = _get_names(X, groups)
        if self.label_names:
            X, columns = _take_columns(X, self.label_names)
            if isinstance(groups, str):
                groups, columns = columns[0], None
        else:
            self.label_names, columns = _get_columns(groups) or ([getattr(groups, 'name', None) or None], None)
        self.has_tuples = columns is not None
        self.samples = Samples(X, y, sample_weight)
        self.names = self.samples.names or _get_own(model, '_table_names', model.get_feature_names())
        self.target_names = self.samples.target_names or _get_own(model, '_table_target_names', model.get_target_names())
        try:
            self.labels, self.tensor = _number_labels(groups) if columns is None else _number_columns(columns)
        except TypeError as error:
            # Of labels that have no order.
            if isinstance(error, ArgumentError):
                raise
            raise ArgumentError(f'groups has labels that cannot be sorted: {error}') from None

    def get_tensors(self):
        X, y, sample_weight = self.samples.get_tensors()
        return X, y, self.tensor, sample_weight

    def finish(self, fits):
        vars(fits).update(_labels=self.labels, _label_names=self.label_names, _has_tuples=self.has_tuples, _names=self.names,
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
