# SPDX-License-Identifier: LGPL-2.1-or-later
"""Apr.Estimator: fit, predict, score, save and load."""

from __future__ import annotations

import functools
import itertools
import os
import types
from copy import deepcopy

from gi.repository import GLib, GObject

from . import awaitable, pickling
from .blocks import Outcome, guarding, taking_outcomes
from .data import to_tensor
from .errors import ArgumentError, AprError, check_r2, make
from .estimator_type import adopt, claim_name
from .lists import count
from .memory import copy_bytes, wrap_bytes
from .metrics import r2_score
from .native import CLASSES, Apr, extends
from .properties import add_attributes, add_constructor, check_constructor, is_changeable, list_cloned, to_name, to_plain
from .samples import Samples, check_feature_names, check_target_names, explain, get_labels, refuse_readers, share_plain, warn_of_names
from .scikit_learn import copy_requests
from .virtual_functions import check_results

_fit = Apr.Estimator.fit
_fit_async = Apr.Estimator.fit_async
_fit_finish = Apr.Estimator.fit_finish
_predict = Apr.Estimator.predict
native_predict_async = Apr.Estimator.predict_async
native_predict_finish = Apr.Estimator.predict_finish
_score = Apr.Estimator.score
_score_async = Apr.Estimator.score_async
_score_finish = Apr.Estimator.score_finish
_save = Apr.Estimator.save
_save_to_file = Apr.Estimator.save_to_file
_save_to_file_async = Apr.Estimator.save_to_file_async
_load_from_file = Apr.Estimator.load_from_file
_load_from_file_async = Apr.Estimator.load_from_file_async
_load_from_file_finish = Apr.Estimator.load_from_file_finish
_copy = Apr.Estimator.copy
_load = Apr.Estimator.load
_clone = Apr.Estimator.clone
_from_bytes = Apr.Estimator.from_bytes
_from_bytes_async = Apr.Estimator.from_bytes_async
_from_bytes_finish = Apr.Estimator.from_bytes_finish
_to_bytes_async = Apr.Estimator.to_bytes_async
_get_feature_names = Apr.Estimator.get_feature_names
_get_target_names = Apr.Estimator.get_target_names
_reserve = Apr.Estimator.reserve
_set_result = Apr.Estimator.set_result


class ClassFunction:
    """A function of a class that an instance does not have.

    A plain class method could be called through a model too, and would leave that model as it is, unseen.
    For the abstract class the function keeps its type argument: Apr.Estimator.load(type, path).
    """

    def __init__(self, function):
        @functools.wraps(function)
        def of_abstract(*arguments, **keywords):
            if not isinstance(arguments[0] if arguments else keywords.get('cls'), (type, GObject.GType)):
                raise ArgumentError(f'Call {function.__name__} on the class of the model, such as '
                                    f'LinearRegression.{function.__name__}')
            return function(*arguments, **keywords)

        self.function = function
        self.of_abstract = of_abstract
        self.__doc__ = function.__doc__

    def __get__(self, instance, owner):
        name = self.function.__name__
        if instance is not None:
            raise AttributeError(f'{name} makes a new model and leaves this one as it is: '
                                 f'call {owner.__name__}.{name}, on the class')
        return self.of_abstract if owner is Apr.Estimator else types.MethodType(self.function, owner)


def _is_transient(pspec):
    return pspec.flags & Apr.PARAM_TRANSIENT != 0


def _format_value(value):
    if isinstance(value, GObject.GEnum):
        namespace = type(value).__module__.rsplit('.', 1)[-1]
        return f'{namespace}.{type(value).__name__}.{value.value_nick.upper().replace("-", "_")}'
    return repr(value)


def get_values(value):
    """What comes out of a property: arrays, or lists without numpy, and other values as they are."""
    return value._get_values() if isinstance(value, Apr.Tensor) else value


def _get_attached(self):
    """What a script has attached to a model, beside its properties."""
    names = {to_name(pspec) for pspec in type(self).list_properties()}
    # PyGObject keeps values of GObject.Property under names of its own.
    return {name: value for name, value in vars(self).items()
            if name not in names and not name.startswith('_property_helper_')}


def is_native(self):
    return type(self).__module__ == 'gi.repository.Apr'


@extends(Apr.Estimator)
class Methods:
    """What every model has in common: fit, predict, score, clone, save and load.

    Data go in as arrays, which are shared and must not change while they are in use, as data frames or as lists.
    What comes out is arrays, or lists without numpy.

    A subclass gives do_fit and do_predict, which get Apr.Tensor, and a __gtype_name__, by which files know it. do_fit
    hands what it finds to set_result(name, numbers), which copies and files then hold, and do_predict gets it as
    get_result(name). The properties of a subclass that can be written are its hyper-parameters: they say how the next
    fit is done, and clone() and files hold them as they are.

    clone() makes an unfitted model with the same hyper-parameters; a copy is fitted as well, and so is a pickle, which
    has what a file holds, and the attributes that a script has set. Methods whose names end with _async can be awaited, under asyncio too. to_bytes() makes the
    bytes of the file that save() writes. set_feature_names(names) names the features, check_feature_names(names) raises
    where they are others.
    """

    @classmethod
    def __init_subclass__(cls, **keywords):
        claim_name(cls)
        check_results(cls)
        check_constructor(cls)

    def fit(self, X: Data, y: Target, sample_weight: Weights = None,
            cancellable: Gio.Cancellable | None = None) -> Self:
        """Fits the model to data, in place of what it was fitted to before, and returns the model.

        X is [n_samples, n_features], y [n_samples] or [n_samples, n_targets], sample_weight [n_samples]: arrays,
        which are shared, lists, data frames of pandas or polars, Arrow tables or streams, or sparse matrices. y and
        sample_weight may be names of columns of a table X, which then are no features. The names of a table's
        columns, where all are strings, become the names of the features, and those of a table y the names of the targets.
        Arrays of integers and truth values are read in place, each
        exactly, lists as doubles; the model is then in float64. A fit that raises leaves the model as it was.
        """
        if fit_plain(self, X, y, sample_weight, cancellable):
            return self
        return fit_whole(self, Samples(X, y, sample_weight), cancellable)

    def fit_async(self, X: Data, y: Target, sample_weight: Weights = None,
                  cancellable: Gio.Cancellable | None = None, callback: Callable[..., object] | None = None,
                  *user_data: Any) -> Any:
        """Fits the model without blocking: `await model.fit_async(X, y)` gives the model.

        The arguments are those of fit(). With a callback, callback(model, result, *user_data) is called instead, and
        calls model.fit_finish(result), which raises what went wrong. The arrays are shared, and must not change
        before that.
        """
        return fit_whole_async(self, Samples(X, y, sample_weight), cancellable, callback, user_data)

    def predict(self, X: Data) -> Array:
        """Predicts the targets of samples: [n_samples] or [n_samples, n_targets].

        The columns' names of a data frame must be those that the model was fitted with, in the same order.
        """
        return predict_whole(self, read_features(self, X))._copy_values()

    def predict_async(self, X, cancellable=None, callback=None, *user_data):
        """Predicts without blocking: `await model.predict_async(X)` gives the predictions."""
        return predict_whole_async(self, read_features(self, X), cancellable, callback, user_data)

    def predict_finish(self, result: Gio.AsyncResult) -> Array:
        """Ends what predict_async() began with a callback: the predictions."""
        return predict_finish(self, result)

    def score(self, X: Data, y: Target, sample_weight: Weights = None) -> float:
        """Predicts from X and compares with y: the coefficient of determination, R²."""
        if overrides(type(self), 'predict'):
            return score_predictions(self, X, y, sample_weight)
        return score_whole(self, read_to_score(self, X, y, sample_weight))

    def score_async(self, X, y, sample_weight=None, cancellable=None, callback=None, *user_data):
        """Scores without blocking: `await model.score_async(X, y)` gives the score."""
        if overrides(type(self), 'predict'):
            return score_predictions_async(self, X, y, sample_weight, cancellable, callback, user_data)
        return score_whole_async(self, read_to_score(self, X, y, sample_weight), cancellable, callback, user_data)

    def reserve(self) -> bool:
        """Makes the model busy while a caller prepares the data of a fit, such as by reading them.

        busy is true, and other fits raise, until release(), which the caller calls just before the fit:

            with model.freeze_notify():
                model.release()
                call = model.fit_async(X, y)

        Between the two no other fit can begin, unless in another thread, and nobody sees a model that is not busy.
        """
        return _reserve(self)

    release = guarding(Apr.Estimator.release)

    score_finish = taking_outcomes(Apr.Estimator.score_finish)

    def save_to_file(self, file: Gio.File | Path, cancellable: Gio.Cancellable | None = None) -> bool:
        """Writes the model to a Gio.File."""
        return _save_to_file(self, file, cancellable)

    def save_to_file_async(self, file, cancellable=None, callback=None, *user_data):
        """Writes the model, as it is now, to a Gio.File without blocking; to be awaited."""
        return awaitable.call(
            lambda *args: _save_to_file_async(self, file, GLib.PRIORITY_DEFAULT, *args),
            Apr.Estimator.save_to_file_finish, cancellable, callback, user_data)

    @ClassFunction
    def load_from_file(cls, file: Gio.File | Path, cancellable: Gio.Cancellable | None = None) -> Self:
        """Makes a fitted model of the class from a Gio.File."""
        return _load_from_file(cls, file, cancellable)

    @ClassFunction
    def load_from_file_async(cls, file, cancellable=None, callback=None, *user_data):
        """Makes a fitted model of the class from a Gio.File without blocking; to be awaited."""
        return awaitable.call(
            lambda *args: _load_from_file_async(cls, file, GLib.PRIORITY_DEFAULT, *args),
            lambda source, result: _load_from_file_finish(result), cancellable, callback, user_data)

    def save(self, path: Path) -> bool:
        """Writes the model to a SafeTensors file, in one step: there is the old file or the new one."""
        return _save(self, os.fspath(path))

    @ClassFunction
    def load(cls, path: Path) -> Self:
        """Makes a fitted model of the class from a SafeTensors file."""
        return _load(cls, os.fspath(path))

    @ClassFunction
    def from_bytes(cls, data: Buffer) -> Self:
        """Makes a fitted model of the class from the bytes of a SafeTensors file, bytes or GLib.Bytes."""
        return _from_bytes(cls, wrap_bytes(data))

    def set_result(self, name: str, result: Data) -> bool:
        """Keeps a result of a fit, a number, an array or lists, under a name: for do_fit() of a subclass. Returns True."""
        return _set_result(self, name, to_tensor(result))

    @ClassFunction
    def from_bytes_async(cls, data, cancellable=None, callback=None, *user_data):
        """Makes a fitted model of the class from the bytes of a SafeTensors file without blocking; to be awaited."""
        return awaitable.call(
            lambda *args: _from_bytes_async(cls, wrap_bytes(data), GLib.PRIORITY_DEFAULT, *args),
            lambda source, result: _from_bytes_finish(result), cancellable, callback, user_data)

    def to_bytes_async(self, cancellable=None, callback=None, *user_data):
        """Makes the bytes of a SafeTensors file without blocking: `await model.to_bytes_async()` gives them."""
        return awaitable.call(
            lambda *args: _to_bytes_async(self, GLib.PRIORITY_DEFAULT, *args),
            Apr.Estimator.to_bytes_finish, cancellable, callback, user_data)

    def get_feature_names(self) -> list[str] | None:
        """The names of the features as a list, or None where they have none."""
        return _get_feature_names(self) or None

    def get_target_names(self) -> list[str] | None:
        """The names of the targets as a list, or None where they have none."""
        return _get_target_names(self) or None

    def clone(self) -> Self:
        """An unfitted model of the same class with the same properties."""
        return copy_requests(self, _clone(self))

    def __copy__(self):
        """A model of its own: as it was fitted, or unfitted with the same hyper-parameters."""
        model = _copy(self)
        vars(model).update(_get_attached(self))
        return model

    def __deepcopy__(self, memo):
        model = memo[id(self)] = _copy(self)
        vars(model).update(deepcopy(_get_attached(self), memo))
        return model

    def __reduce__(self):
        model = type(self).__name__ if is_native(self) else type(self)
        values = {pspec.name: to_plain(self.get_property(pspec.name)) for pspec in list_cloned(type(self))
                  if not self.get_fitted() or _is_transient(pspec) and is_changeable(pspec)}
        if self.get_fitted():
            return pickling.fitted_model, (model, copy_bytes(self.to_bytes()), values), _get_attached(self)
        return pickling.model, (model, values), _get_attached(self)

    def __repr__(self) -> str:
        arguments = []
        for pspec in itertools.filterfalse(_is_transient, list_cloned(type(self))):
            value = self.get_property(pspec.name)
            if value != getattr(pspec, 'default_value', None):
                arguments.append(f'{to_name(pspec)}={_format_value(value)}')

        prefix = 'Apr.' if is_native(self) else ''
        text = f'{prefix}{type(self).__name__}({", ".join(arguments)})'
        if self.get_fitted():
            text += f', fitted: {count(self.get_n_features(), "feature")}'
            if self.get_n_targets() != 1:
                text += f', {count(self.get_n_targets(), "target")}'
        return text


def predict_finish(self, result):
    return native_predict_finish(self, result)._copy_values()


def _fit_tensors(self, tensors, cancellable):
    if not is_native(self):
        # What a class of a script does is done in the thread that asks for it.
        _fit(self, *tensors, cancellable)
        return
    awaitable.run(self, awaitable.count_products(tensors[0], tensors[1], self), cancellable,
                  lambda cancellable: _fit(self, *tensors, cancellable),
                  lambda *args: _fit_async(self, *tensors, GLib.PRIORITY_DEFAULT, *args), _fit_finish)


def fit_plain(self, X, y, sample_weight, cancellable):
    """Fits to arrays that are read in place, without names and weights; false where that is not what they are."""
    tensors = share_plain(X, y) if sample_weight is None else None
    if tensors is None:
        return False
    _fit_tensors(self, (*tensors, None), cancellable)
    if vars(self):
        name_columns(self, None, None)
    return True


def fit_whole(self, samples, cancellable):
    """Fits to all samples at once."""
    try:
        _fit_tensors(self, samples.get_tensors(), cancellable)
    except AprError as error:
        raise explain(error, samples) from None
    name_columns(self, samples.names, samples.target_names)
    return self


def fit_whole_async(self, samples, cancellable, callback, user_data):
    """Fits to all samples at once, without blocking."""
    def start(cancellable, when_fitted):
        def when_named(model, result):
            try:
                if not result.had_error():
                    name_columns(model, samples.names, samples.target_names)
            finally:
                when_fitted(model, result)

        _fit_async(self, *samples.get_tensors(), GLib.PRIORITY_DEFAULT, cancellable, when_named)

    def finish(model, result):
        try:
            _fit_finish(model, result)
        except AprError as error:
            raise explain(error, samples) from None
        return model

    return awaitable.call(start, finish, cancellable, callback, user_data)


def name_columns(self, names, target_names):
    """Gives a fitted model the names of its tables. Those of an earlier table do not stay, but others do."""
    _name(self, names, '_table_names', self.get_feature_names, self.set_feature_names)
    name_targets(self, target_names)


def name_targets(self, names):
    """Gives a fitted model the names of the targets' columns."""
    _name(self, names, '_table_target_names', self.get_target_names, self.set_target_names)


def _name(self, names, key, get, set):
    before = vars(self).pop(key, None)
    if names is not None:
        set(names)
        vars(self)[key] = names
    elif before is not None and before == get():
        set(None)


def read_samples(self, X, y, sample_weight):
    """The samples of a call that reads a model, with the names that the model was fitted with, or none."""
    samples = Samples(X, y, sample_weight)
    _check_names(self, samples)
    return samples


def _check_names(self, samples):
    if self.get_fitted():
        check_feature_names(self, samples.names)
        check_target_names(samples.target_names, self.get_target_names(), 'the model was fitted to')


def read_features(self, X):
    """The samples to predict, with the names that the model was fitted with, or none."""
    samples = Samples(X, has_y=False)
    _check_names(self, samples)
    if self.get_fitted():
        warn_of_names(self, samples)
    return samples


def read_to_score(self, X, y, sample_weight):
    """The samples to predict and compare. The others are those of the fit, of which the sums tell if they are not."""
    samples = read_samples(self, X, y, sample_weight)
    if self.get_fitted():
        warn_of_names(self, samples)
    return samples


def explain_features(self, error, samples, start=0):
    """The same error, with the numbers of features where they are what is wrong."""
    X = samples.X if samples.blocks is None else None
    if error.matches(Apr.error_quark(), Apr.Error.SHAPE) and X is not None and len(X.shape) == 2 and \
            X.shape[1] != self.get_n_features():
        message = f'X has {X.shape[1]} features, but {type(self).__name__} is expecting ' \
            f'{self.get_n_features()} features as input'
        return make(message, error.domain, error.code)
    return explain(error, samples, start)


def predict_whole(self, samples):
    """The tensor of all predictions."""
    try:
        return _predict(self, samples.get_tensors()[0])
    except AprError as error:
        raise explain_features(self, error, samples) from None


def predict_whole_async(self, samples, cancellable, callback, user_data):
    """Predicts all samples at once, without blocking."""
    def finish(model, result):
        try:
            return predict_finish(model, result)
        except AprError as error:
            raise explain_features(self, error, samples) from None

    return awaitable.call(
        lambda *args: native_predict_async(self, samples.get_tensors()[0], GLib.PRIORITY_DEFAULT, *args),
        finish, cancellable, callback, user_data)


def score_whole_async(self, samples, cancellable, callback, user_data):
    """Scores all samples at once, without blocking."""
    def finish(model, result):
        try:
            return check_r2(_score_finish(model, result))
        except AprError as error:
            raise explain_features(self, error, samples) from None

    return awaitable.call(
        lambda *args: _score_async(self, *samples.get_tensors(), GLib.PRIORITY_DEFAULT, *args),
        finish, cancellable, callback, user_data)


def score_whole(self, samples):
    """R² of all samples at once."""
    try:
        return check_r2(_score(self, *samples.get_tensors()))
    except AprError as error:
        raise explain_features(self, error, samples) from None


@functools.lru_cache(maxsize=None)
def overrides(class_, method):
    """Whether a class of a script has a method of its own, such as predict() instead of do_predict()."""
    return next(owner for owner in class_.__mro__ if method in vars(owner)).__module__ != 'gi.repository.Apr'


def score_predictions(self, X, y, sample_weight):
    """R² of what predict() gives."""
    if get_labels(y) or get_labels(sample_weight):
        X, y, sample_weight = Samples(X, y, sample_weight).get_tensors()
    return r2_score(y, self.predict(X), sample_weight)


def score_predictions_async(self, X, y, sample_weight, cancellable, callback, user_data):
    """The same where the caller awaits it; predict() blocks, whatever it does."""
    score = score_predictions(self, X, y, sample_weight)
    return awaitable.call(lambda _, done: done(self, Outcome(score)), lambda _, outcome: outcome.get(), cancellable, callback,
                          user_data)


refuse_readers(Apr.Estimator, 'fit', 'fit_async', 'score', 'score_async')
pickling.explain_types()
for _class in CLASSES:
    if issubclass(_class, Apr.Estimator):
        adopt(_class)
add_attributes(Apr.Estimator, get_values)
add_constructor(Apr.Estimator)
