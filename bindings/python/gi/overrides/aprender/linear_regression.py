# SPDX-License-Identifier: LGPL-2.1-or-later
"""Apr.LinearRegression: what it has beside Apr.Estimator; what goes through the samples again is in statistics.py."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Set

from gi.repository import GLib

from . import awaitable
from .cross_products import native_update_async, native_update_finish
from .errors import ArgumentError, AprError
from .estimator import (ClassFunction, explain_features, fit_whole, fit_whole_async, get_values,
                        predict_whole, read_features, score_whole)
from .lists import describe
from .memory import FORMATS, import_module
from .metrics import r2_score
from .native import Apr, extends
from .properties import add_attributes, add_constructor, to_enum
from .samples import Samples, check_feature_names, check_names, explain

_get_intercept = Apr.LinearRegression.get_intercept
_predict_into = Apr.LinearRegression.predict_into
_predict_one = Apr.LinearRegression.predict_one
_partial_fit = Apr.LinearRegression.partial_fit
_partial_fit_async = Apr.LinearRegression.partial_fit_async
_partial_fit_finish = Apr.LinearRegression.partial_fit_finish
_get_statistics = Apr.LinearRegression.get_statistics
_get_statistics_async = Apr.LinearRegression.get_statistics_async
_compute_condition_number_async = Apr.LinearRegression.compute_condition_number_async
_predict_interval = Apr.LinearRegression.predict_interval
_predict_interval_async = Apr.LinearRegression.predict_interval_async
_predict_interval_finish = Apr.LinearRegression.predict_interval_finish
_fit_cross_products = Apr.LinearRegression.fit_cross_products
_fit_cross_products_async = Apr.LinearRegression.fit_cross_products_async
_fit_cross_products_finish = Apr.LinearRegression.fit_cross_products_finish
_score_cross_products_async = Apr.LinearRegression.score_cross_products_async


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


def _read_one(model, x):
    """The features of one sample as a list, whose entries are converted faster than those of an array."""
    if isinstance(x, Mapping):
        names = model.get_feature_names()
        check_feature_names(model, sorted(x, key=names.index if set(names or ()) == set(x) else None))
        return [x[name] for name in names or x]
    if isinstance(x, (str, bytes, bytearray, Set)) or not hasattr(x, '__len__'):
        raise ArgumentError(f'x must be the features of one sample, not {describe(x)}')
    labels = list(x.index) if hasattr(x, 'iloc') else []
    if model.get_fitted():
        check_feature_names(model, check_names(labels))
    return x.tolist() if hasattr(x, 'tolist') else list(x)


def _new_state(model, X, y):
    n_targets = y.shape[1] if y.get_n_dims() == 2 else 1
    state = Apr.CrossProducts.new_with_precision(X.shape[1], n_targets, model.get_precision())
    state.set_n_threads(model.get_n_threads())
    return state


def _fit_blocks_async(model, samples, cancellable, when_done):
    """Sums up a block at a time, then fits to the sums; when_done gets the model and a result, or an error for one."""
    state, start = None, 0

    def end_block(_, result):
        try:
            native_update_finish(state, result)
        except AprError as error:
            when_done(model, explain(error, start, samples.names))
        else:
            begin_block()

    def begin_block():
        nonlocal state, start
        try:
            block = next(samples.blocks, None)
            if block is None:
                if samples.names is not None:
                    state.set_feature_names(samples.names)
                _fit_cross_products_async(model, state, GLib.PRIORITY_DEFAULT, cancellable, when_done)
                return
            start, *tensors = block
            if state is None:
                state = _new_state(model, *tensors[:2])
            native_update_async(state, *tensors, GLib.PRIORITY_DEFAULT, cancellable, end_block)
        except Exception as error:
            when_done(model, error)

    begin_block()


def _finish_blocks(model, result):
    if isinstance(result, Exception):
        raise result
    _fit_cross_products_finish(model, result)
    return model


def _sum_up(model, samples, cancellable):
    """The cross products of samples that come in blocks."""
    state = None
    for start, X, y, sample_weight in samples.blocks:
        if state is None:
            state = _new_state(model, X, y)
        try:
            state.update(X, y, sample_weight, cancellable)
        except AprError as error:
            raise explain(error, start, samples.names) from None
    if samples.names is not None:
        state.set_feature_names(samples.names)
    return state


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


def _score_blocks(model, samples):
    """R² of samples that come in blocks: of their features no two blocks are kept."""
    numpy, coefficients = import_module('numpy'), model.get_coefficients()
    kept = []
    for start, X, y, sample_weight in samples.blocks:
        out = numpy.empty(X.shape[:1] + coefficients.shape[:-1], FORMATS[coefficients.dtype][1])
        _predict_block(model, samples, X, out, start)
        kept.append((y.numpy(), out, None if sample_weight is None else sample_weight.numpy()))
    return r2_score(*(None if parts[0] is None else numpy.concatenate(parts) for parts in zip(*kept)))


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
    load_from_file = ClassFunction(Apr.Estimator.load_from_file)
    load_from_file_async = ClassFunction(Apr.Estimator.load_from_file_async)
    from_bytes = ClassFunction(Apr.Estimator.from_bytes)

    def fit(self, X: Data, y: Target, sample_weight: Weights = None,
            cancellable: Gio.Cancellable | None = None) -> Self:
        samples = Samples(X, y, sample_weight)
        if samples.blocks is None or not _is_ours(type(self)):
            return fit_whole(self, samples, cancellable)
        return self.fit_cross_products(_sum_up(self, samples, cancellable))

    fit.__doc__ = Apr.Estimator.fit.__doc__

    def fit_async(self, X, y, sample_weight=None, cancellable=None, callback=None, *user_data):
        samples = Samples(X, y, sample_weight)
        if samples.blocks is None or not _is_ours(type(self)) or callback is not None:
            return fit_whole_async(self, samples, cancellable, callback, user_data)
        return awaitable.Awaitable(functools.partial(_fit_blocks_async, self, samples), _finish_blocks, cancellable)

    fit_async.__doc__ = Apr.Estimator.fit_async.__doc__

    def predict(self, X: Data, out: Array | None = None) -> Array:
        """Predicts the targets of samples: an array, [n_samples] or [n_samples, n_targets].

        With out, an array of that shape and of the dtype of the coefficients, they are written there, and it is
        what is returned. The columns' names of a data frame must be those that the model was fitted with, in the same
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
        if samples.blocks is None:
            _check_out(out, typestr, samples.X.shape[:1] + shape)
            _predict_block(self, samples, samples.X, out)
            return out
        return _predict_blocks(self, samples, out, typestr, shape)

    def score(self, X: Data, y: Target, sample_weight: Weights = None) -> float:
        samples = Samples(X, y, sample_weight)
        if self.get_fitted():
            check_feature_names(self, samples.names)
        if samples.blocks is None or not _is_ours(type(self)) or not self.get_fitted():
            return score_whole(self, samples)
        return _score_blocks(self, samples)

    score.__doc__ = Apr.Estimator.score.__doc__

    def predict_one(self, x: Sequence[float] | Mapping[str, float] | Array) -> float:
        """Predicts the target of one sample, a list, a tuple or an array of its features, as a float.

        It is the row of what predict() gives, to the last bit, many times faster than predict() of one row. A
        dictionary has them by their names, in any order; the index of a pandas.Series must be as the model has them.
        """
        return _predict_one(self, x if type(x) in (list, tuple) else _read_one(self, x))

    @property
    def intercept(self) -> Any:
        """The prediction for a sample whose features are all 0, in units of the target.

        A float, or an array with one for each target where y was [n_samples, n_targets]; None before the first fit.
        """
        tensor = _get_intercept(self)
        if tensor is None:
            return None
        return tensor.get_double(0) if self.get_coefficients().get_n_dims() == 1 else tensor._get_values()

    def fit_cross_products(self, state: CrossProducts) -> Self:
        """Fits the model to samples that have been summed before, and returns the model."""
        _fit_cross_products(self, state)
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

        It is the model of one fit with all of them, bit for bit.
        """
        samples = Samples(X, y, sample_weight)
        fitted = self.get_fitted()
        if fitted:
            check_feature_names(self, samples.names)
        if samples.blocks is not None and _is_ours(type(self)):
            state = _sum_up(self, samples, cancellable)
            before = self.get_cross_products()
            if not fitted or before is not None:
                if before is not None:
                    before.merge(state)
                return self.fit_cross_products(state if before is None else before)
        try:
            _partial_fit(self, *samples.get_tensors(), cancellable)
        except AprError as error:
            raise (explain_features(self, error, samples) if fitted else explain(error, 0, samples.names)) from None
        if not fitted and samples.names is not None:
            self.set_feature_names(samples.names)
        return self

    def partial_fit_async(self, X, y, sample_weight=None, cancellable=None, callback=None, *user_data):
        """Fits the model to more samples without blocking: `await model.partial_fit_async(X, y)` gives the model."""
        samples = Samples(X, y, sample_weight)
        fitted = self.get_fitted()
        if fitted:
            check_feature_names(self, samples.names)

        def finish(model, result):
            try:
                _partial_fit_finish(model, result)
            except AprError as error:
                raise explain(error, 0, samples.names) from None
            if not fitted and samples.names is not None:
                model.set_feature_names(samples.names)
            return model

        return awaitable.call(
            lambda *args: _partial_fit_async(self, *samples.get_tensors(), GLib.PRIORITY_DEFAULT, *args),
            finish, cancellable, callback, user_data)

    def get_statistics(self, target: int = 0) -> RegressionStatistics:
        """The Apr.RegressionStatistics of one target, counted from 0: how well the coefficients are known."""
        return _get_statistics(self, target)

    def score_cross_products_async(self, cross_products, cancellable=None, callback=None, *user_data):
        """The scores without blocking: `await model.score_cross_products_async(sums)` gives R² of each target."""
        return awaitable.call(
            lambda *args: _score_cross_products_async(self, cross_products, GLib.PRIORITY_DEFAULT, *args),
            Apr.LinearRegression.score_cross_products_finish, cancellable, callback, user_data)

    def get_statistics_async(self, target=0, cancellable=None, callback=None, *user_data):
        """The statistics without blocking: `await model.get_statistics_async()` gives them."""
        return awaitable.call(
            lambda *args: _get_statistics_async(self, target, GLib.PRIORITY_DEFAULT, *args),
            Apr.LinearRegression.get_statistics_finish, cancellable, callback, user_data)

    def compute_condition_number_async(self, cancellable=None, callback=None, *user_data):
        """The condition number without blocking: `await model.compute_condition_number_async()` gives it."""
        return awaitable.call(
            lambda *args: _compute_condition_number_async(self, GLib.PRIORITY_DEFAULT, *args),
            Apr.LinearRegression.compute_condition_number_finish, cancellable, callback, user_data)

    def predict_interval_async(self, X, level=0.95, kind='prediction', cancellable=None, callback=None, *user_data):
        """Predicts intervals without blocking: `await model.predict_interval_async(X)` gives lower and upper ends."""
        samples = read_features(self, X)
        kind = to_enum(Apr.IntervalKind, kind, 'kind')
        return awaitable.call(
            lambda *args: _predict_interval_async(self, samples.get_tensors()[0], level, kind, GLib.PRIORITY_DEFAULT, *args),
            Apr.LinearRegression.predict_interval_finish, cancellable, callback, user_data)

    def predict_interval_finish(self, result):
        """Ends what predict_interval_async() began with a callback: lower and upper ends."""
        _, lower, upper = _predict_interval_finish(self, result)
        return lower._copy_values(), upper._copy_values()

    def predict_interval(self, X: Data, level: float = 0.95,
                         kind: IntervalKind | str = 'prediction') -> tuple[Array, Array]:
        """The bounds within which the truth is with the probability level: two arrays, lower and upper ends.

        kind says what truth that is: 'prediction', one more sample of weight 1, or 'confidence', the mean of samples
        with these features; Apr.IntervalKind has both too.
        """
        samples = read_features(self, X)
        kind = to_enum(Apr.IntervalKind, kind, 'kind')
        try:
            _, lower, upper = _predict_interval(self, samples.get_tensors()[0], level, kind)
        except AprError as error:
            raise explain_features(self, error, samples) from None
        return lower._take_values(), upper._take_values()


add_attributes(Apr.LinearRegression, get_values)
add_constructor(Apr.LinearRegression)
