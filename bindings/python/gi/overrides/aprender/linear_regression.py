# SPDX-License-Identifier: LGPL-2.1-or-later
"""Apr.LinearRegression: what it has beside Apr.Estimator; what goes through the samples again is in statistics.py."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Mapping, Set
from copy import copy

from gi.repository import GLib

from . import awaitable
from .blocks import Outcome, call as call_blocks, release, reserving, taking_outcomes
from .cross_products import native_update_async, native_update_finish
from .data import to_block
from .errors import ArgumentError, AprError, make
from .estimator import (ClassFunction, explain_features, fit_plain, fit_whole, fit_whole_async, get_values,
                        name_columns, native_predict_async, native_predict_finish, overrides, predict_whole,
                        predict_whole_async, read_features, read_samples, read_to_score, score_predictions,
                        score_predictions_async, score_whole, score_whole_async)
from .lists import count, describe, to_target
from .memory import FORMATS, import_module
from .metrics import native_compute_async, native_compute_finish, r2_score
from .native import Apr, extends
from .properties import add_attributes, add_constructor, to_enum
from .samples import Samples, check_feature_names, check_names, explain, refuse_readers
from .tables import is_missing

_get_intercept = Apr.LinearRegression.get_intercept
_predict_into = Apr.LinearRegression.predict_into
_predict_one = Apr.LinearRegression.predict_one
_partial_fit = Apr.LinearRegression.partial_fit
_partial_fit_async = Apr.LinearRegression.partial_fit_async
_partial_fit_finish = Apr.LinearRegression.partial_fit_finish
_get_statistics = Apr.LinearRegression.get_statistics
_get_statistics_async = Apr.LinearRegression.get_statistics_async
_summary_async = Apr.LinearRegression.summary_async
_compute_condition_number_async = Apr.LinearRegression.compute_condition_number_async
_predict_interval = Apr.LinearRegression.predict_interval
_predict_interval_async = Apr.LinearRegression.predict_interval_async
_predict_interval_finish = Apr.LinearRegression.predict_interval_finish
_fit_cross_products = Apr.LinearRegression.fit_cross_products
_fit_cross_products_async = Apr.LinearRegression.fit_cross_products_async
_fit_cross_products_finish = Apr.LinearRegression.fit_cross_products_finish
_score_cross_products = Apr.LinearRegression.score_cross_products
_score_cross_products_finish = Apr.LinearRegression.score_cross_products_finish
_score_cross_products_async = Apr.LinearRegression.score_cross_products_async


# Up to these, R² of the sums takes a fraction of a millisecond.
_MAX_SHOWN_FEATURES, _MAX_SHOWN_TARGETS = 50, 3


@functools.lru_cache(maxsize=None)
def _is_ours(class_):
    """Whether a class fits and predicts as Apr.LinearRegression does, whatever else a script has given it."""
    own = class_.__mro__[:class_.__mro__.index(Apr.LinearRegression)]
    return not any(name in vars(owner) for owner in own for name in ('do_fit', 'do_predict'))


def _check_out(out, typestr, shape):
    if not isinstance(out, import_module('numpy').ndarray) or out.dtype.str != typestr or out.shape != shape:
        raise ValueError(f'out must be an array of the dtype {typestr} and the shape {list(shape)}, '
                         f'not {getattr(out, "dtype", type(out).__name__)} {list(getattr(out, "shape", []))}')
    if not out.flags.carray:
        raise ValueError('out must be a writable array in C order')


def _check_apart(out, X, tensor):
    """Refuses memory of samples, which would be overwritten before they are read: of what was passed, or of its tensor."""
    numpy = import_module('numpy')
    if not isinstance(out, numpy.ndarray):
        return
    _, _, begin, size = tensor.get_memory() if tensor is not None else (None, None, 0, 0)
    start = out.__array_interface__['data'][0]
    if isinstance(X, numpy.ndarray) and numpy.shares_memory(out, X) or begin < start + out.nbytes and start < begin + size:
        raise ValueError('out must not be memory of X, which is read while predictions are written')


def _read_one(model, x):
    """The features of one sample as a list, whose entries are converted faster than those of an array, and the names
    that it has for them.
    """
    if isinstance(x, Mapping):
        if not all(isinstance(name, str) for name in x):
            raise ArgumentError(f'x must have the names of the features as keys, not {list(x)}')
        names = model.get_feature_names()
        check_feature_names(model, sorted(x, key=names.index if set(names or ()) == set(x) else None), is_ordered=False)
        names = names or list(x)
        return [x[name] for name in names], names
    # A list of a table is one of its columns, or of their names.
    is_table = hasattr(x, 'columns') or hasattr(x, 'column_names')
    if is_table or isinstance(x, (str, bytes, bytearray, Set)) or not hasattr(x, '__len__'):
        raise ArgumentError(f'x must be the features of one sample, not {describe(x)}' +
                            (': pass one of its rows, or all of it to predict()' if is_table else ''))
    labels = list(x.index) if hasattr(x, 'iloc') else list(getattr(x, '_fields', []))
    if any(str(label).startswith('_') for label in getattr(x, '_fields', [])):
        # Names that cannot be a tuple's, which numbers them instead.
        labels = []
    names = check_names(labels) if model.get_fitted() else None
    check_feature_names(model, names)
    return x.tolist() if hasattr(x, 'tolist') else list(x), names


def _explain_one(error, values, names):
    """The same error about one sample, with the name of the feature where the sample has names."""
    if isinstance(error, AprError):
        place = re.search(r'feature (\d+) \(counted from 0\)$', error.message)
        return error if place is None or names is None else \
            make(error.message[:place.start()] + f'feature “{names[int(place.group(1))]}”', error.domain, error.code)
    # PyGObject counts the items.
    place = re.match(r'Item (\d+): ', str(error))
    if place is None or names is None:
        return ArgumentError(f'x must be the features of one sample, numbers in a list or an array: {error}')
    value = values[int(place.group(1))]
    return ArgumentError(f'The sample has {"a missing value" if is_missing(value) else describe(value)} at feature '
                         f'“{names[int(place.group(1))]}”, not a number')


def _show_score(model):
    """How many samples there were, and R² of them, where that takes no longer than it takes to read it."""
    state = model.get_cross_products()
    if state is None:
        return ''
    text = f', {count(state.n_samples, "sample")}'
    if state.n_features > _MAX_SHOWN_FEATURES or state.n_targets > _MAX_SHOWN_TARGETS:
        return text
    try:
        scores = _score_cross_products(model, state)
    except AprError:
        # Such as of targets that are all the same.
        return text
    return f'{text}, R² ' + ', '.join(f'{scores.get_double(i):.4g}' for i in range(state.n_targets))


def _new_state(model, X, y):
    n_targets = y.shape[1] if y.get_n_dims() == 2 else 1
    state = Apr.CrossProducts.new_with_precision(X.shape[1], n_targets, model.get_precision())
    state.set_n_threads(model.get_n_threads())
    return state


def _get_options(model):
    """The hyper-parameters that a fit of sums reads, which are none of a subclass."""
    return {name: model.get_property(name) for name in Apr.LinearRegression().get_params()}


@contextlib.contextmanager
def _as_begun(model, options):
    """The model with the hyper-parameters that it had when a call began: those that were set since are for the next fit."""
    later = {name: value for name, value in _get_options(model).items() if value != options[name]}
    # Nobody hears of the moment between.
    with model.freeze_notify() if later else contextlib.nullcontext():
        for name in later:
            model.set_property(name, options[name])
        try:
            yield
        finally:
            for name, value in later.items():
                model.set_property(name, value)


def _fit_blocks_async(model, samples, is_partial, cancellable, callback, user_data):
    """Sums up a block at a time, then fits to the sums. The model is busy from the call on, so that no other fit begins
    meanwhile.
    """
    state, options = None, _get_options(model)

    def begin(block, cancellable, ended):
        nonlocal state
        _, *tensors = block
        if state is None:
            state = _new_state(model, *tensors[:2])
        native_update_async(state, *tensors, GLib.PRIORITY_DEFAULT, cancellable, ended)

    def end(block, result):
        try:
            native_update_finish(state, result)
        except AprError as error:
            raise explain(error, samples, block[0]) from None

    def stop(cancellable, done):
        def fitted(model, result):
            try:
                _fit_cross_products_finish(model, result)
                if sums is None:
                    name_columns(model, samples.names, samples.target_names)
            except AprError as error:
                done(Outcome(error=error))
            else:
                done(Outcome(model))

        sums = model.get_cross_products() if is_partial else None
        if sums is not None:
            sums.merge(state)
        # Nobody sees the moment between the two.
        with model.freeze_notify(), _as_begun(model, options):
            release(model)
            _fit_cross_products_async(model, state if sums is None else sums, GLib.PRIORITY_DEFAULT, cancellable, fitted)

    return call_blocks(model, samples, begin, end, stop, cancellable, callback, user_data, reserves=True)


def _call_blocks(model, samples, begin, finish, join, cancellable, callback, user_data):
    """Works on each block with the model as it is now, and join(parts, cancellable, done) what finish(model, result) gives."""
    now, parts = copy(model), []

    def end(block, result):
        try:
            parts.append(finish(now, result))
        except AprError as error:
            raise explain_features(model, error, samples, block[0]) from None

    def begin_block(block, cancellable, ended):
        begin(now, block, GLib.PRIORITY_DEFAULT, cancellable, ended)

    return call_blocks(model, samples, begin_block, end, lambda cancellable, done: join(parts, cancellable, done), cancellable,
                       callback, user_data)


def _joining(join):
    """A join at once, of what join(parts) gives."""
    return lambda parts, _, done: done(Outcome(join(parts)))


def _sum_up(model, samples, cancellable):
    """The cross products of samples that come in blocks."""
    state = None
    for start, X, y, sample_weight in samples.blocks:
        if state is None:
            state = _new_state(model, X, y)
        try:
            state.update(X, y, sample_weight, cancellable)
        except AprError as error:
            raise explain(error, samples, start) from None
    return state


def _fit_blocks(model, samples, is_partial, cancellable):
    """The same as _fit_blocks_async(), which waits."""
    options = _get_options(model)
    with contextlib.ExitStack() as frozen:
        with reserving(model):
            state = _sum_up(model, samples, cancellable)
            sums = model.get_cross_products() if is_partial else None
            if sums is not None:
                sums.merge(state)
            # Nobody sees the moment between the two.
            frozen.enter_context(model.freeze_notify())
        with _as_begun(model, options):
            model.fit_cross_products(state if sums is None else sums, cancellable)
    if sums is None:
        name_columns(model, samples.names, samples.target_names)
    return model


def _adds_blocks(model, samples):
    """Whether a partial fit is to sums; without those of before, it is refused at once."""
    return samples.blocks is not None and _is_ours(type(model)) and \
        not (model.get_fitted() and model.get_cross_products() is None)


def _predict_block(model, samples, X, out, start=0):
    try:
        _predict_into(model, X, out.ctypes.data, out.nbytes)
    except AprError as error:
        raise explain_features(model, error, samples, start) from None


def _predict_blocks(model, samples, out, typestr, shape):
    """Predictions of samples that come in blocks, in one array."""
    numpy, n_rows = import_module('numpy'), samples.data.n_rows
    if out is not None or n_rows is not None:
        out = numpy.empty((n_rows, *shape), typestr) if out is None else out
        _check_out(out, typestr, (len(out) if n_rows is None else n_rows, *shape))
    parts = []
    for start, X, _, _ in samples.blocks:
        part = numpy.empty(X.shape[:1] + shape, typestr) if out is None else out[start:start + X.shape[0]]
        _check_out(part, typestr, X.shape[:1] + shape)
        _predict_block(model, samples, X, part, start)
        parts.append(part)
    return numpy.concatenate(parts) if out is None else out


def _predict_interval_of(model, samples, X, level, kind, start=0):
    """The lower and the upper ends for a block of samples, which begins at a row."""
    try:
        _, lower, upper = _predict_interval(model, X, level, kind)
    except AprError as error:
        raise explain_features(model, error, samples, start) from None
    return lower._take_values(), upper._take_values()


def _to_scores(tensor):
    """What the scores of the targets are: a number where there is one target."""
    return tensor.get_double(0) if tensor.shape == (1,) else tensor._take_values()


def _finish_interval(model, result):
    _, lower, upper = _predict_interval_finish(model, result)
    return lower._take_values(), upper._take_values()


def _join_intervals(parts):
    return tuple(map(import_module('numpy').concatenate, zip(*parts)))


def _join_parts(parts):
    """The targets, predictions and weights of blocks."""
    concatenate = import_module('numpy').concatenate
    return [None if of_blocks[0] is None else concatenate(of_blocks) for of_blocks in zip(*parts)]


def _score_blocks(model, samples):
    """R² of samples that come in blocks: of their features no two blocks are kept."""
    numpy, coefficients = import_module('numpy'), model.get_coefficients()
    kept = []
    for start, X, y, sample_weight in samples.blocks:
        out = numpy.empty(X.shape[:1] + coefficients.shape[:-1], FORMATS[coefficients.dtype][1])
        _predict_block(model, samples, X, out, start)
        kept.append((y.numpy(), out, None if sample_weight is None else sample_weight.numpy()))
    return r2_score(*_join_parts(kept))


@extends(Apr.LinearRegression)
class Methods:
    """Ordinary least squares: the coefficients b and the intercept a that minimise Σ w (y - a - X b)².

    They are correctly rounded. Where features depend on each other, the coefficients with the least sum of squares are taken.

        model = Apr.LinearRegression().fit(X, y)
        model.coefficients, model.intercept, model.predict(X), model.score(X, y)
        print(model.summary())
        model.save('model.safetensors')
        model = Apr.LinearRegression.load('model.safetensors')
    """

    def __repr__(self) -> str:
        return Apr.Estimator.__repr__(self) + _show_score(self)

    load = ClassFunction(Apr.Estimator.load)
    load_from_file = ClassFunction(Apr.Estimator.load_from_file)
    load_from_file_async = ClassFunction(Apr.Estimator.load_from_file_async)
    from_bytes = ClassFunction(Apr.Estimator.from_bytes)
    from_bytes_async = ClassFunction(Apr.Estimator.from_bytes_async)

    def fit(self, X: Data, y: Target, sample_weight: Weights = None,
            cancellable: Gio.Cancellable | None = None) -> Self:
        if fit_plain(self, X, y, sample_weight, cancellable):
            return self
        samples = Samples(X, y, sample_weight)
        if samples.blocks is None or not _is_ours(type(self)):
            return fit_whole(self, samples, cancellable)
        return _fit_blocks(self, samples, False, cancellable)

    fit.__doc__ = Apr.Estimator.fit.__doc__

    def fit_async(self, X, y, sample_weight=None, cancellable=None, callback=None, *user_data):
        samples = Samples(X, y, sample_weight)
        if samples.blocks is None or not _is_ours(type(self)):
            return fit_whole_async(self, samples, cancellable, callback, user_data)
        return _fit_blocks_async(self, samples, False, cancellable, callback, user_data)

    fit_async.__doc__ = Apr.Estimator.fit_async.__doc__
    fit_finish = taking_outcomes(Apr.Estimator.fit_finish)

    def predict(self, X: Data, out: Array | None = None) -> Array:
        """Predicts the targets of samples: an array, [n_samples] or [n_samples, n_targets].

        With out, an array of that shape and of the dtype of the coefficients, and no memory of X, they are written there,
        and it is what is returned. The columns' names of a data frame must be those that the model was fitted with, in the same
        order.
        """
        samples = read_features(self, X)
        if samples.blocks is None and out is None or not _is_ours(type(self)):
            tensor = predict_whole(self, samples)
            return tensor._take_values() if _is_ours(type(self)) else tensor._copy_values()

        coefficients = self.get_coefficients()
        if coefficients is None:
            return predict_whole(self, samples)
        typestr, shape = FORMATS[coefficients.dtype][1], coefficients.shape[:-1]
        if out is not None:
            _check_apart(out, X, samples.X if samples.blocks is None else None)
        if samples.blocks is None:
            _check_out(out, typestr, samples.X.shape[:1] + shape)
            _predict_block(self, samples, samples.X, out)
            return out
        return _predict_blocks(copy(self), samples, out, typestr, shape)

    def predict_async(self, X, cancellable=None, callback=None, *user_data):
        samples = read_features(self, X)
        if samples.blocks is None or not _is_ours(type(self)) or not self.get_fitted():
            return predict_whole_async(self, samples, cancellable, callback, user_data)
        return _call_blocks(self, samples, lambda model, block, *args: native_predict_async(model, block[1], *args),
                            lambda model, result: native_predict_finish(model, result)._take_values(),
                            _joining(import_module('numpy').concatenate), cancellable, callback, user_data)

    predict_async.__doc__ = Apr.Estimator.predict_async.__doc__
    predict_finish = taking_outcomes(Apr.Estimator.predict_finish)

    def score(self, X: Data, y: Target, sample_weight: Weights = None) -> float:
        if overrides(type(self), 'predict'):
            return score_predictions(self, X, y, sample_weight)
        samples = read_to_score(self, X, y, sample_weight)
        if samples.blocks is None or not _is_ours(type(self)) or not self.get_fitted():
            return score_whole(self, samples)
        return _score_blocks(copy(self), samples)

    score.__doc__ = Apr.Estimator.score.__doc__

    def score_async(self, X, y, sample_weight=None, cancellable=None, callback=None, *user_data):
        if overrides(type(self), 'predict'):
            return score_predictions_async(self, X, y, sample_weight, cancellable, callback, user_data)
        samples = read_to_score(self, X, y, sample_weight)
        if samples.blocks is None or not _is_ours(type(self)) or not self.get_fitted():
            return score_whole_async(self, samples, cancellable, callback, user_data)
        kept = []

        def begin(model, block, *args):
            kept.append([None if tensor is None else tensor.numpy() for tensor in block[2:]])
            native_predict_async(model, block[1], *args)

        def join(predictions, cancellable, done):
            def scored(_, result):
                try:
                    done(Outcome(native_compute_finish(result).get_double(0)))
                except AprError as error:
                    done(Outcome(error=error))

            parts = [(y, part, weights) for (y, weights), part in zip(kept, predictions)]
            tensors = (None if part is None else to_block(part) for part in _join_parts(parts))
            native_compute_async(Apr.Metric.R2, Apr.Multioutput.UNIFORM_AVERAGE, *tensors, GLib.PRIORITY_DEFAULT,
                                 cancellable, scored)

        return _call_blocks(self, samples, begin, lambda model, result: native_predict_finish(model, result)._take_values(), join,
                            cancellable, callback, user_data)

    score_async.__doc__ = Apr.Estimator.score_async.__doc__

    def predict_one(self, x: Sequence[float] | Mapping[str, float] | Array) -> float:
        """Predicts the target of one sample, a list, a tuple or an array of its features, as a float.

        It is the row of what predict() gives, to the last bit, many times faster than predict() of one row. A
        dictionary has them by their names, in any order; the index of a pandas.Series, and the fields of a named tuple,
        must be as the model has them.
        """
        names = None
        try:
            if type(x) not in (list, tuple):
                x, names = _read_one(self, x)
            return _predict_one(self, x)
        except ArgumentError:
            raise
        except (AprError, TypeError) as error:
            raise _explain_one(error, x, names) from None

    @property
    def intercept(self) -> Any:
        """The prediction for a sample whose features are all 0, in units of the target.

        A float, or an array with one for each target where y was [n_samples, n_targets]; None before the first fit.
        """
        tensor = _get_intercept(self)
        if tensor is None:
            return None
        return tensor.get_double(0) if self.get_coefficients().get_n_dims() == 1 else tensor._get_values()

    def fit_cross_products(self, state: Sum, cancellable: Gio.Cancellable | None = None) -> Self:
        """Fits the model to samples that have been summed before, and returns the model."""
        n_products = state.n_features ** 3 if isinstance(state, Apr.CrossProducts) else 0
        awaitable.run(self, n_products, cancellable, lambda cancellable: _fit_cross_products(self, state, cancellable),
                      lambda *args: _fit_cross_products_async(self, state, GLib.PRIORITY_DEFAULT, *args),
                      _fit_cross_products_finish)
        return self

    def fit_cross_products_async(self, state, cancellable=None, callback=None, *user_data):
        """Fits to sums without blocking: `await model.fit_cross_products_async(state)` gives the model."""
        def finish(model, result):
            _fit_cross_products_finish(model, result)
            return model

        return awaitable.call(
            lambda *args: _fit_cross_products_async(self, state, GLib.PRIORITY_DEFAULT, *args),
            finish, cancellable, callback, user_data)

    def partial_fit(self, X: Data, y: Target, sample_weight: Weights = None,
                    cancellable: Gio.Cancellable | None = None) -> Self:
        """Fits the model to more samples, beside those that it was fitted to before, and returns the model.

        It is the model of one fit with all of them, bit for bit. A batch without rows leaves it as it is.
        """
        samples = read_samples(self, X, y, sample_weight)
        fitted = self.get_fitted()
        if _adds_blocks(self, samples):
            return _fit_blocks(self, samples, True, cancellable)
        try:
            tensors = samples.get_tensors()
            # It takes so many to solve for the coefficients, however few samples are added.
            n_products = awaitable.count_products(*tensors[:2]) + sum(tensors[0].shape[1:]) ** 3
            awaitable.run(self, n_products, cancellable, lambda cancellable: _partial_fit(self, *tensors, cancellable),
                          lambda *args: _partial_fit_async(self, *tensors, GLib.PRIORITY_DEFAULT, *args), _partial_fit_finish)
        except AprError as error:
            raise (explain_features(self, error, samples) if fitted else explain(error, samples)) from None
        if not fitted and self.get_fitted():
            name_columns(self, samples.names, samples.target_names)
        return self

    def partial_fit_async(self, X, y, sample_weight=None, cancellable=None, callback=None, *user_data):
        """Fits the model to more samples without blocking: `await model.partial_fit_async(X, y)` gives the model."""
        samples = read_samples(self, X, y, sample_weight)
        fitted = self.get_fitted()
        if _adds_blocks(self, samples):
            return _fit_blocks_async(self, samples, True, cancellable, callback, user_data)

        def finish(model, result):
            try:
                _partial_fit_finish(model, result)
            except AprError as error:
                raise explain(error, samples) from None
            if not fitted and model.get_fitted():
                name_columns(model, samples.names, samples.target_names)
            return model

        return awaitable.call(
            lambda *args: _partial_fit_async(self, *samples.get_tensors(), GLib.PRIORITY_DEFAULT, *args),
            finish, cancellable, callback, user_data)

    partial_fit_finish = taking_outcomes(Apr.LinearRegression.partial_fit_finish)

    def get_statistics(self, target: int | str = 0) -> RegressionStatistics:
        """The Apr.RegressionStatistics of one target, by its number from 0 on or its name: how well the coefficients are known."""
        return _get_statistics(self, to_target(self, target))

    def score_cross_products(self, cross_products: Sum) -> Any:
        """R² for samples that have been summed, which need not be those of the fit: a number, or an array of several
        targets'.
        """
        return _to_scores(_score_cross_products(self, cross_products))

    def score_cross_products_async(self, cross_products, cancellable=None, callback=None, *user_data):
        """The score without blocking: `await model.score_cross_products_async(sums)` gives it."""
        return awaitable.call(
            lambda *args: _score_cross_products_async(self, cross_products, GLib.PRIORITY_DEFAULT, *args),
            Apr.LinearRegression.score_cross_products_finish, cancellable, callback, user_data)

    def score_cross_products_finish(self, result: Gio.AsyncResult) -> Any:
        """Ends what score_cross_products_async() began with a callback: the score."""
        return _to_scores(_score_cross_products_finish(self, result))

    def get_statistics_async(self, target=0, cancellable=None, callback=None, *user_data):
        """The statistics without blocking: `await model.get_statistics_async()` gives them."""
        target = to_target(self, target)
        return awaitable.call(
            lambda *args: _get_statistics_async(self, target, GLib.PRIORITY_DEFAULT, *args),
            Apr.LinearRegression.get_statistics_finish, cancellable, callback, user_data)

    def summary_async(self, cancellable=None, callback=None, *user_data):
        """The text of the statistics without blocking: `await model.summary_async()` gives it."""
        return awaitable.call(
            lambda *args: _summary_async(self, GLib.PRIORITY_DEFAULT, *args),
            Apr.LinearRegression.summary_finish, cancellable, callback, user_data)

    def compute_condition_number_async(self, cancellable=None, callback=None, *user_data):
        """The condition number without blocking: `await model.compute_condition_number_async()` gives it."""
        return awaitable.call(
            lambda *args: _compute_condition_number_async(self, GLib.PRIORITY_DEFAULT, *args),
            Apr.LinearRegression.compute_condition_number_finish, cancellable, callback, user_data)

    def predict_interval_async(self, X, level=0.95, kind='prediction', cancellable=None, callback=None, *user_data):
        """Predicts intervals without blocking: `await model.predict_interval_async(X)` gives lower and upper ends."""
        samples = read_features(self, X)
        kind = to_enum(Apr.IntervalKind, kind, 'kind')
        if samples.blocks is not None and _is_ours(type(self)):
            return _call_blocks(
                self, samples, lambda model, block, *args: _predict_interval_async(model, block[1], level, kind, *args),
                _finish_interval, _joining(_join_intervals), cancellable, callback, user_data)
        return awaitable.call(
            lambda *args: _predict_interval_async(self, samples.get_tensors()[0], level, kind, GLib.PRIORITY_DEFAULT, *args),
            _finish_interval, cancellable, callback, user_data)

    def predict_interval_finish(self, result: Gio.AsyncResult) -> tuple[Array, Array]:
        """Ends what predict_interval_async() began with a callback: lower and upper ends."""
        return result.get() if isinstance(result, Outcome) else _finish_interval(self, result)

    def predict_interval(self, X: Data, level: float = 0.95,
                         kind: IntervalKind | str = 'prediction') -> tuple[Array, Array]:
        """The bounds within which the truth is with the probability level: two arrays, lower and upper ends.

        kind says what truth that is: 'prediction', one more sample of weight 1, or 'confidence', the mean of samples
        with these features; Apr.IntervalKind has both too.
        """
        samples = read_features(self, X)
        kind = to_enum(Apr.IntervalKind, kind, 'kind')
        if samples.blocks is None or not _is_ours(type(self)):
            return _predict_interval_of(self, samples, samples.get_tensors()[0], level, kind)
        model = copy(self)
        parts = [_predict_interval_of(model, samples, X, level, kind, start) for start, X, _, _ in samples.blocks]
        return _join_intervals(parts)


# It writes to the memory at an address, whatever is there: predict() takes an array, out.
del Apr.LinearRegression.predict_into
refuse_readers(Apr.LinearRegression, 'fit', 'fit_async', 'partial_fit', 'partial_fit_async', 'score', 'score_async')
add_attributes(Apr.LinearRegression, get_values)
add_constructor(Apr.LinearRegression)
