# SPDX-License-Identifier: LGPL-2.1-or-later
"""Apr.Folds, and models that are validated by them: cross_validate() and cross_predict()."""

from __future__ import annotations

import decimal
import math
import numbers
import operator
import re

from gi.repository import GLib, GObject

from . import awaitable
from .data import to_tensor
from .errors import ArgumentError, AprError, check_r2, make
from .estimator import get_values, is_native, overrides
from .labels import Labels
from .lists import count, describe
from .native import Apr, extends, make_error
from .properties import add_attributes, to_enum
from .samples import Samples, explain

_new = Apr.Folds.new
_new_shuffled = Apr.Folds.new_shuffled
_new_from_labels = Apr.Folds.new_from_labels
_new_from_cross_products = Apr.Folds.new_from_cross_products
_construct = Apr.Folds.__init__
_cross_validate = Apr.Estimator.cross_validate
_cross_validate_async = Apr.Estimator.cross_validate_async
_cross_validate_finish = Apr.Estimator.cross_validate_finish
_cross_predict = Apr.Estimator.cross_predict
_cross_predict_async = Apr.Estimator.cross_predict_async
_cross_predict_finish = Apr.Estimator.cross_predict_finish

_MAX_NUMBER = 2**64 - 1


def _find_number(value):
    """A whole number, or None of anything else."""
    try:
        return operator.index(value)
    except TypeError:
        return None


def _are_sums(value):
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(isinstance(item, Apr.CrossProducts) for item in value)


def _is_number(label):
    # Durations of numpy are integers of its, but no numbers.
    is_duration = getattr(getattr(label, 'dtype', None), 'kind', '') == 'm'
    return isinstance(label, (numbers.Real, decimal.Decimal)) and not is_duration


def _count_outside(labels):
    """How many of the distinct labels, in order, are negative numbers, as those of samples in no fold are."""
    are_outside = (_is_number(label) and label < 0 for label in labels)
    return next((i for i, is_outside in enumerate(are_outside) if not is_outside), len(labels))


def _cut(X, y, sample_weight, n_folds, seed):
    samples = Samples(X, y, sample_weight)
    if not 0 <= n_folds <= _MAX_NUMBER:
        raise make_error(Apr.Error.RANGE, f'There must be 2 folds at least, and a sample in each, but folds is {n_folds}')
    try:
        self = _new(*samples.get_tensors(), n_folds) if seed is None else \
            _new_shuffled(*samples.get_tensors(), n_folds, seed)
    except AprError as error:
        raise explain(error, samples) from None
    vars(self)['_samples'] = samples
    return self


def _cut_by_labels(X, y, sample_weight, folds):
    labels = Labels(X, folds, 'folds', y=y, sample_weight=sample_weight)
    samples = Samples(labels.X, y, sample_weight)
    tensor, n_outside = labels.tensor, 0 if labels.distinct is None else _count_outside(labels.distinct)
    if n_outside > 0:
        tensor = to_tensor([number - n_outside for number in tensor.tolist()])
    try:
        self = _new_from_labels(*samples.get_tensors(), tensor)
    except AprError as error:
        # What the argument is called here.
        message = re.sub(r'\blabels (?=has|must)', 'folds ', error.message)
        raise explain(make(message, error.domain, error.code), samples) from None
    vars(self).update(_samples=samples, _distinct=labels.distinct, _n_outside=n_outside)
    return self


@extends(Apr.Folds)
class Folds:
    """Samples that are cut into folds, by which models are validated.

        folds = Apr.Folds(X, y, folds=5, seed=1)
        for alpha in (0.1, 1, 10):
            print(alpha, Apr.LinearRegression(alpha=alpha).cross_validate(folds).mean())

    Each fold in turn is set aside, and a model is fitted to all other samples. X, y and sample_weight are those of fit(). By a
    number of folds, samples are cut as they follow each other, as scikit-learn's cv=5 does, or, with a seed, dealt out at
    random. folds may also be a label for each row, or the name of a column of the table X, which then is no feature: rows with
    the same label are in the same fold. By several columns, their names in a list or a table of their own, labels are tuples.
    Rows whose label is a negative number are in no fold: they are in each fit. Or folds is a list of Apr.CrossProducts, those of
    each fold, in place of X and y.

    len(folds) is the number of folds; folds are in the order of their labels. Linear regressions sum the samples once, and
    the folds keep the sums: what is shared must not change while they are in use.
    """

    def __new__(cls, X: Data = None, y: Target = None, sample_weight: Weights = None, folds: Any = 5, seed: int | None = None):
        n_folds = _find_number(folds)
        has_data = X is not None or y is not None or sample_weight is not None
        if not has_data and n_folds == 5 and seed is None:
            # As GObject makes an object: without any.
            self = GObject.Object.__new__(cls)
            _construct(self)
            return self
        if seed is not None:
            if n_folds is None:
                raise ArgumentError('seed is for a number of folds: it has no meaning where folds says what is in each')
            number = _find_number(seed)
            if number is None or not 0 <= number <= _MAX_NUMBER:
                raise ArgumentError(f'seed must be a whole number from 0 to {_MAX_NUMBER}, not ' +
                                    (describe(seed) if number is None else str(number)))
            seed = number
        is_empty = isinstance(folds, (list, tuple)) and not folds
        if _are_sums(folds) or is_empty and not has_data:
            if has_data:
                raise ArgumentError('Where folds are cross products, these are the samples: pass neither X nor y nor weights')
            return _new_from_cross_products(list(folds))
        if _are_sums(X):
            raise ArgumentError('X is a list of cross products: pass it as folds, Apr.Folds(folds=[…])')
        if n_folds is not None:
            return _cut(X, y, sample_weight, n_folds, seed)
        if folds is None or isinstance(folds, numbers.Number):
            raise ArgumentError(f'folds must be a number of folds, or a label for each row of X, not {describe(folds)}')
        return _cut_by_labels(X, y, sample_weight, folds)

    def __init__(self, *args, **keywords):
        # It has been made.
        pass

    @property
    def labels(self) -> Any:
        """The label of each sample's fold: an array where labels were an array or one column, or where there were none; a list
        where they were one; None of cross products.
        """
        tensor, distinct = self.get_property('labels'), vars(self).get('_distinct')
        if tensor is None or distinct is None:
            return get_values(tensor)
        n_outside = vars(self)['_n_outside']
        if isinstance(distinct, list):
            return [distinct[int(number) + n_outside] for number in tensor.tolist()]
        return distinct[tensor.numpy().astype('i8') + n_outside]

    def __len__(self) -> int:
        return self.n_folds

    def __copy__(self):
        # They never change.
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce_ex__(self, protocol):
        raise TypeError('Folds cannot be pickled: pass on the samples and the labels')

    def __repr__(self) -> str:
        labels = self.get_property('labels')
        return f'<Apr.Folds: {count(self.n_folds, "fold")}' + ('>' if labels is None else f', {count(len(labels), "sample")}>')


def _check(model, folds, name):
    if not isinstance(folds, Apr.Folds):
        raise ArgumentError(f'folds must be an Apr.Folds, as Apr.Folds(X, y) makes them, not {describe(folds)}')
    own = next((method for method in ('fit', 'predict') if overrides(type(model), method)), None)
    if own is not None:
        raise ArgumentError(f'{name}() calls do_fit() and do_predict(), but {type(model).__name__} has its own {own}(): write '
                            f'do_{own}() instead, or call scikit-learn’s {name.replace("cross_predict", "cross_val_predict")}()')


def _format_label(label):
    return f'({", ".join(map(str, label))})' if isinstance(label, tuple) else str(label)


def _name_fold(text, folds):
    """Says which label a fold has that C knows by its number, where that is not the label."""
    match = re.match(r'Fold (\d+) \(counted from 0\)(?=: |$)', text)
    distinct = vars(folds).get('_distinct')
    if match is None or distinct is None:
        return text
    fold = int(match.group(1))
    label = distinct[fold + vars(folds)['_n_outside']]
    return text if _is_number(label) and label == fold else f'{match.group()}, label {_format_label(label)}{text[match.end():]}'


def _explain(error, folds):
    samples = vars(folds).get('_samples')
    error = error if samples is None else explain(error, samples)
    message = _name_fold(error.message, folds)
    return error if message == error.message else make(message, error.domain, error.code)


def _explain_note(error, folds):
    """The same for the note that an exception of an estimator's own got, which stays what it is."""
    notes = getattr(error, '__notes__', None)
    if notes:
        notes[-1] = _name_fold(notes[-1], folds)


def _count_products(model, folds):
    samples = vars(folds).get('_samples')
    if samples is None:
        # How many samples and features there are nobody knows.
        return math.inf
    X, y, _ = samples.get_tensors()
    return len(folds) * max(awaitable.count_products(X, y, model), X.shape[1] ** 3)


def _run(model, folds, cancellable, call, start, finish):
    try:
        if not is_native(model):
            # What a class of a script does is done in the thread that asks for it.
            return call(cancellable)
        return awaitable.run(model, _count_products(model, folds), cancellable, call, start, finish)
    except AprError as error:
        raise _explain(error, folds) from None
    except BaseException as error:
        _explain_note(error, folds)
        raise


def _explaining(finish, folds, convert):
    """What ends a call, and gives values that belong to the caller."""
    def end(model, result):
        try:
            return convert(finish(model, result))
        except AprError as error:
            raise _explain(error, folds) from None
        except BaseException as error:
            _explain_note(error, folds)
            raise

    return end


def _remembering(callback, folds):
    """The callback, whose result tells what ends the call of which folds it is."""
    def call_back(model, result, *user_data):
        result._folds = folds
        callback(model, result, *user_data)

    return None if callback is None else call_back


def _end(finish, model, result):
    """Ends a call that began with a callback."""
    folds = getattr(result, '_folds', None)
    return _take(finish(model, result)) if folds is None else _explaining(finish, folds, _take)(model, result)


def _take(tensor):
    return tensor._take_values()


def _to_scores(metric):
    def convert(tensor):
        scores = tensor._take_values()
        if metric == Apr.Metric.R2:
            check_r2(next(filter(math.isnan, scores), 0.0))
        return scores

    return convert


@extends(Apr.Estimator)
class Methods:
    def cross_validate(self, folds: Folds, metric: Metric | str = 'r2',
                       cancellable: Gio.Cancellable | None = None) -> Array:
        """Scores the model for samples that it has not seen, and returns the score of each fold: an array, [n_folds].

        For each fold, a new model with these hyper-parameters is fitted to all other samples, and scored for the fold by the
        metric, such as 'mean_squared_error'. The model stays as it is, and need not be fitted. Linear regressions take the
        sums that the folds keep: the next penalty takes no further pass over the samples.
        """
        _check(self, folds, 'cross_validate')
        metric = to_enum(Apr.Metric, metric, 'metric')
        return _to_scores(metric)(_run(
            self, folds, cancellable, lambda cancellable: _cross_validate(self, folds, metric, cancellable),
            lambda *args: _cross_validate_async(self, folds, metric, GLib.PRIORITY_DEFAULT, *args), _cross_validate_finish))

    def cross_validate_async(self, folds, metric='r2', cancellable=None, callback=None, *user_data):
        """Scores without blocking: `await model.cross_validate_async(folds, 'r2')` gives the scores."""
        _check(self, folds, 'cross_validate')
        metric = to_enum(Apr.Metric, metric, 'metric')
        return awaitable.call(
            lambda *args: _cross_validate_async(self, folds, metric, GLib.PRIORITY_DEFAULT, *args),
            _explaining(_cross_validate_finish, folds, _to_scores(metric)), cancellable, _remembering(callback, folds),
            user_data)

    def cross_validate_finish(self, result: Gio.AsyncResult) -> Array:
        """Ends what cross_validate_async() began with a callback: the scores."""
        return _end(_cross_validate_finish, self, result)

    def cross_predict(self, folds: Folds, cancellable: Gio.Cancellable | None = None) -> Array:
        """Predicts each sample by a model that has not seen it, in the order of the samples: what predict() gives.

        That is the model of all samples but those of its fold. Samples in no fold have NaN.
        """
        _check(self, folds, 'cross_predict')
        return _run(self, folds, cancellable, lambda cancellable: _cross_predict(self, folds, cancellable),
                    lambda *args: _cross_predict_async(self, folds, GLib.PRIORITY_DEFAULT, *args),
                    _cross_predict_finish)._take_values()

    def cross_predict_async(self, folds, cancellable=None, callback=None, *user_data):
        """Predicts without blocking: `await model.cross_predict_async(folds)` gives the predictions."""
        _check(self, folds, 'cross_predict')
        return awaitable.call(
            lambda *args: _cross_predict_async(self, folds, GLib.PRIORITY_DEFAULT, *args),
            _explaining(_cross_predict_finish, folds, _take), cancellable, _remembering(callback, folds), user_data)

    def cross_predict_finish(self, result: Gio.AsyncResult) -> Array:
        """Ends what cross_predict_async() began with a callback: the predictions."""
        return _end(_cross_predict_finish, self, result)


add_attributes(Apr.Folds, get_values)
