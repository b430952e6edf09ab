# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes arrays, lists and paths at home in Apr.

Data go in as anything that numpy.asarray understands, and come out as numpy arrays, both without a copy
where the memory allows it. Without numpy, lists go in and nested lists come out.
"""

import ctypes
import functools
import operator
import os
import pickle
import struct
import types
from collections.abc import Iterable

from gi.repository import GLib, GObject

from . import aprender_pickle
from .aprender_arrays import (_FORMATS, _NOTHING, _bytes, _copy_bytes, _count, _describe, _find_numpy_dtype, _import,
                              _to_data, _to_tensor)
from ..module import get_introspection_module
from ..overrides import override

Apr = get_introspection_module('Apr')

__all__ = []

# numpy 1.24 writes more dimensions of an __array_interface__ past the end of an array on its stack.
_MAX_NUMPY_DIMS = 32


# The types are kept: to make one takes longer than all the rest.
@functools.lru_cache(maxsize=1024)
def _find_memory_type(size):
    return ctypes.c_char * size


class Tensor(Apr.Tensor):
    """An immutable n-dimensional array, made from anything that numpy.asarray understands.

    An array in C order and of a dtype that SafeTensors has is shared, not copied, as numpy.asarray does: do
    not change it while the tensor is in use. `Apr.Tensor(array.copy())` has memory of its own. Numbers that
    carry no dtype, such as those of lists, become F64; masked entries become NaN.

    `numpy.asarray(tensor)` is a read-only view of the same memory, which it keeps alive. Indexing and
    iterating give what numpy gives.

    cast(dtype) makes a tensor of another dtype, slice_rows(start, stop) one of some rows in the same memory.
    get_bytes() gives the memory, get_double(i) one element, equal(other) compares all bits.
    """

    # Equal tensors are equal by their elements, which are too many to hash.
    __hash__ = None

    def __new__(cls, value):
        return _to_tensor(value)

    def __init__(self, value):
        # A boxed type's own refuses every argument.
        pass

    # Python sets a pending exception aside only for this function: else it would be lost when the last reference goes
    # and the memory's release is called.
    __del__ = Apr.Tensor._clear_boxed

    new_from_bytes = staticmethod(
        lambda dtype, shape, data: Apr.Tensor.new_from_bytes(dtype, shape, _bytes(data)))

    @property
    def shape(self):
        """The size along each dimension, as a tuple."""
        return tuple(self.get_shape())

    @property
    def dtype(self):
        """The Apr.DType of the elements."""
        return self.get_dtype()

    @property
    def __array_interface__(self):
        dtype, shape, address, _ = self.get_memory()
        typestr = _FORMATS.get(dtype, (None, None))[1]
        if typestr is None or len(shape) > _MAX_NUMPY_DIMS:
            # Then numpy asks __array__.
            raise AttributeError('__array_interface__')
        return {'version': 3, 'shape': tuple(shape), 'typestr': typestr,
                'data': (address or ctypes.addressof(_NOTHING), True)}

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        if dtype is not None:
            array = array.astype(dtype, copy=False)
        return array.copy() if copy else array

    def numpy(self):
        """The elements as a read-only numpy array, which shares the tensor's memory."""
        dtype, shape, address, size = self.get_memory()
        dtype = _find_numpy_dtype(dtype)
        memory = _find_memory_type(size).from_address(address or ctypes.addressof(_NOTHING))
        memory.tensor = self
        # Not the view itself, behind which numpy finds what may be written to.
        return _import('numpy').ndarray(shape, dtype, pickle.PickleBuffer(memoryview(memory).toreadonly()))

    def tolist(self):
        """The elements as nested lists of Python's numbers, or as one number for a scalar."""
        if _import('numpy') is not None:
            return self.numpy().tolist()

        code = _FORMATS.get(self.dtype, (None, None, None))[2]
        if code is None:
            raise TypeError(f'{Apr.DType.to_string(self.dtype)} has no counterpart in Python without numpy')
        values = struct.unpack(f'<{self.get_n_elements()}{code}', _copy_bytes(self.get_bytes()))
        return self._nest(list(values), self.shape)

    @staticmethod
    def _nest(values, shape):
        if not shape:
            return values[0]
        width = len(values) // shape[0] if shape[0] > 0 else 0
        return [Tensor._nest(values[i * width:(i + 1) * width], shape[1:]) for i in range(shape[0])]

    def _get_values(self):
        # What comes out: an array, or nested lists without numpy.
        return self.tolist() if _import('numpy') is None else self.numpy()

    def __len__(self):
        if not self.shape:
            raise TypeError('A scalar has no length')
        return self.shape[0]

    def __bool__(self):
        return bool(self._get_values())

    def __iter__(self):
        return iter(self._get_values())

    def __getitem__(self, key):
        return self._get_values()[key]

    def __eq__(self, other):
        return self.equal(other) if isinstance(other, Apr.Tensor) else NotImplemented

    def __ne__(self, other):
        return not self.equal(other) if isinstance(other, Apr.Tensor) else NotImplemented

    def _have_no_order(self, other):
        return NotImplemented

    # A boxed type's own compare addresses.
    __lt__ = __le__ = __gt__ = __ge__ = _have_no_order

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        data = _copy_bytes(self.get_bytes())
        return aprender_pickle.tensor, (Apr.DType.to_string(self.dtype), self.shape, data)

    def __str__(self):
        return self.to_string()

    def __repr__(self):
        return f'<Apr.Tensor {self.to_string()}>'


Tensor = override(Tensor)
__all__.append('Tensor')


def _get_column_names(X):
    """The names of a data frame's columns, where all are strings."""
    columns = getattr(X, 'columns', None)
    names = list(columns) if isinstance(columns, Iterable) else []
    if not names or not all(isinstance(name, str) for name in names):
        return None

    for i, name in enumerate(names):
        if '\0' in name or name.encode(errors='replace').decode() != name:
            raise ValueError(f'Column {i} of X (counted from 0) has the name {name!r}, which is not text')
    if len(set(names)) < len(names):
        raise ValueError('Two columns of X have the name “%s”' % next(n for n in names if names.count(n) > 1))
    return names


def _to_fit(X, y, sample_weight):
    """The data of a fit and the names of the features, checked so that to give the names cannot fail."""
    names = _get_column_names(X)
    data = _to_data(X, 'X'), _to_data(y, 'y'), _to_data(sample_weight, 'sample_weight')
    shape = data[0].shape if names is not None else ()
    if len(shape) == 2 and len(names) != shape[1]:
        raise ValueError(f'X has {len(names)} names of columns, but {_count(shape[1], "column")}')
    return data, names


def _check_columns(self, X):
    names = _get_column_names(X)
    if names is not None and self.get_fitted():
        self.check_feature_names(names)


_fit = Apr.Estimator.fit
_fit_async = Apr.Estimator.fit_async
_predict = Apr.Estimator.predict
_score = Apr.Estimator.score
_save = Apr.Estimator.save
_load = Apr.Estimator.load
_from_bytes = Apr.Estimator.from_bytes
_get_feature_names = Apr.Estimator.get_feature_names
_predict_into = Apr.LinearRegression.predict_into
_predict_one = Apr.LinearRegression.predict_one


def fit(self, X, y, sample_weight=None, cancellable=None):
    """Fits the model to data, in place of what it was fitted to before, and returns the model.

    X is [n_samples, n_features], y [n_samples] or [n_samples, n_targets], sample_weight [n_samples]: arrays,
    which are shared, or lists. The columns' names of a data frame, where all are strings, become the names of
    the features. Integers and truth values are computed with as doubles, float16 as float32. A fit that
    raises leaves the model as it was.
    """
    data, names = _to_fit(X, y, sample_weight)
    _fit(self, *data, cancellable)
    if names is not None:
        self.set_feature_names(names)
    return self


def fit_async(self, X, y, sample_weight=None, cancellable=None, callback=None, *user_data):
    """Fits the model without blocking, then calls callback(model, result, *user_data).

    The arguments are those of fit(). The callback calls model.fit_finish(result), which raises what went
    wrong. The arrays are shared, and must not change before that.
    """
    data, names = _to_fit(X, y, sample_weight)
    when_fitted = callback
    if names is not None:
        def when_fitted(model, result, *data):
            try:
                if not result.had_error():
                    model.set_feature_names(names)
            finally:
                if callback is not None:
                    callback(model, result, *data)

    _fit_async(self, *data, cancellable, when_fitted, *user_data)


def predict(self, X):
    """Predicts the targets of samples: a read-only array, [n_samples] or [n_samples, n_targets].

    The columns' names of a data frame must be those that the model was fitted with.
    """
    _check_columns(self, X)
    return _predict(self, _to_data(X, 'X'))._get_values()


def predict_linear(self, X, out=None):
    """Predicts the targets of samples: a read-only array, [n_samples] or [n_samples, n_targets].

    With out, an array of that shape and of the dtype of the coefficients, they are written there, and it is
    what is returned. The columns' names of a data frame must be those that the model was fitted with.
    """
    if out is None:
        return predict(self, X)

    _check_columns(self, X)
    data = _to_data(X, 'X')
    coefficients = self.get_coefficients()
    if coefficients is not None:
        typestr = _FORMATS[coefficients.dtype][1]
        shape = data.shape[:1] + coefficients.shape[:-1]
        if not isinstance(out, _import('numpy').ndarray) or out.dtype.str != typestr or out.shape != shape:
            raise ValueError(f'out must be an array of the dtype {typestr} and the shape {list(shape)}, '
                             f'not {getattr(out, "dtype", type(out).__name__)} {list(getattr(out, "shape", []))}')
        if not out.flags.carray:
            raise ValueError('out must be a writable array in C order')
    _predict_into(self, data, out.ctypes.data, out.nbytes)
    return out


def predict_one(self, x):
    """Predicts the target of one sample, a list, a tuple or an array of its features, as a float.

    It is the row of what predict() gives, to the last bit, many times faster than predict() of one row.
    """
    if not isinstance(x, (list, tuple)):
        if isinstance(x, (str, bytes, bytearray)) or not hasattr(x, '__len__'):
            raise TypeError(f'x must be the features of one sample, not {_describe(x)}')
        # A list's entries are converted faster than those of an array.
        x = x.tolist() if hasattr(x, 'tolist') else list(x)
    return _predict_one(self, x)


def score(self, X, y, sample_weight=None):
    """Predicts from X and compares with y: the coefficient of determination, R²."""
    _check_columns(self, X)
    return _score(self, _to_data(X, 'X'), _to_data(y, 'y'), _to_data(sample_weight, 'sample_weight'))


def save(self, path):
    """Writes the model to a SafeTensors file, in one step: there is the old file or the new one."""
    return _save(self, os.fspath(path))


def load(cls, path):
    """Makes a fitted model of the class from a SafeTensors file."""
    return _load(cls, os.fspath(path))


def from_bytes(cls, data):
    """Makes a fitted model of the class from the bytes of a SafeTensors file, bytes or GLib.Bytes."""
    return _from_bytes(cls, _bytes(data))


def get_feature_names(self):
    """The names of the features as a list, or None where they have none."""
    return _get_feature_names(self) or None


class _ClassFunction:
    """A function of a class that an instance does not have.

    A plain class method could be called through a model too, and would leave that model as it is, unseen.
    For the abstract class the function keeps its type argument: Apr.Estimator.load(type, path).
    """

    def __init__(self, function):
        self.function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance, owner):
        name = self.function.__name__
        if instance is not None:
            raise AttributeError(f'{name} makes a new model and leaves this one as it is: '
                                 f'call {owner.__name__}.{name}, on the class')
        return self.function if owner is Apr.Estimator else types.MethodType(self.function, owner)


def _make_attribute(pspec, doc):
    def get(self):
        value = self.get_property(pspec.name)
        return value._get_values() if isinstance(value, Apr.Tensor) else value

    def set(self, value):
        if isinstance(value, str) and GObject.type_is_a(pspec.value_type, GObject.TYPE_ENUM):
            # As the constructor takes it.
            choices = type(self.get_property(pspec.name)).__enum_values__.values()
            value = next((choice for choice in choices if choice.value_nick == value), value)
        self.set_property(pspec.name, value)

    is_writable = pspec.flags & (GObject.ParamFlags.WRITABLE | GObject.ParamFlags.CONSTRUCT_ONLY)
    return property(get, set if is_writable == GObject.ParamFlags.WRITABLE else None, doc=doc)


def _add_attributes(class_):
    for pspec in GObject.list_properties(class_):
        if pspec.owner_type == class_.__gtype__:
            setattr(class_, pspec.name.replace('-', '_'), _make_attribute(pspec, _ATTRIBUTES[pspec.name]))


def _format_value(value):
    if isinstance(value, GObject.GEnum):
        namespace = type(value).__module__.rsplit('.', 1)[-1]
        return f'{namespace}.{type(value).__name__}.{value.value_nick.upper().replace("-", "_")}'
    return repr(value)


def _is_hyper_parameter(pspec):
    # As apr_hyper_parameters_list() has it.
    wanted = GObject.ParamFlags.READABLE | GObject.ParamFlags.WRITABLE
    return pspec.flags & (wanted | GObject.ParamFlags.DEPRECATED | Apr.PARAM_TRANSIENT) == wanted


def _list_hyper_parameters(self):
    # Sorted, as the order of a Python class's properties is left to chance.
    pspecs = filter(_is_hyper_parameter, GObject.list_properties(type(self)))
    return sorted(pspecs, key=lambda pspec: pspec.name)


def __copy__(self):
    """A model of its own: as it was fitted, or unfitted with the same hyper-parameters."""
    return type(self).from_bytes(self.to_bytes()) if self.get_fitted() else self.clone()


def __reduce__(self):
    model = type(self).__name__ if _is_native(self) else type(self)
    if self.get_fitted():
        return aprender_pickle.fitted_model, (model, _copy_bytes(self.to_bytes()))

    values = {pspec.name: self.get_property(pspec.name) for pspec in _list_hyper_parameters(self)}
    # The class of an enumeration would be looked for before Apr's version is asked for.
    return aprender_pickle.model, (model, {name: int(value) if isinstance(value, GObject.GEnum) else value
                                           for name, value in values.items()})


def _is_native(self):
    return type(self).__module__ == 'gi.repository.Apr'


def __repr__(self):
    arguments = []
    for pspec in _list_hyper_parameters(self):
        value = self.get_property(pspec.name)
        if value != getattr(pspec, 'default_value', None):
            arguments.append(f'{pspec.name.replace("-", "_")}={_format_value(value)}')

    prefix = 'Apr.' if _is_native(self) else ''
    text = f'{prefix}{type(self).__name__}({", ".join(arguments)})'
    if self.get_fitted():
        text += f', fitted: {_count(self.get_n_features(), "feature")}'
        if self.get_n_targets() != 1:
            text += f', {_count(self.get_n_targets(), "target")}'
    return text


for _function in (fit, fit_async, predict, score, save, get_feature_names, __copy__, __reduce__, __repr__):
    setattr(Apr.Estimator, _function.__name__, _function)

# GObject's metaclass has a property of this name, which cannot be written and gives what the class's has.
_document = type.__dict__['__doc__'].__set__

# What help() says of the properties.
_ATTRIBUTES = {
    'fitted': 'Whether the model has been fitted, or loaded.',
    'n-features': 'The number of features that the model was fitted with; 0 before the first fit.',
    'n-targets': 'The number of targets that are predicted for a sample; 0 before the first fit.',
    'feature-names': 'The names of the features as a list, or None where they have none.',
    'fit-intercept': 'Whether the next fit looks for an intercept, which is the default; else it is 0.',
    'dtype': 'The Apr.DType of what the next fit finds: F32, F64, or NONE, the default, to follow X.',
    'alpha': 'How much large coefficients cost: alpha Σ b² is added to what a fit minimises; 0 is ordinary least '
             'squares.',
    'positive': 'Whether no coefficient may be below 0.',
    'n-threads': 'How many threads a fit uses at the most; 0, the default, for as many as there are processors.',
    'precision': 'How products are summed: Apr.Precision.EXACT, the default, or DOUBLE, which is faster for wide '
                 'data.',
    'keep-state': 'Whether a file holds the sums of the samples too, for partial_fit() and the like after load().',
    'coefficients': 'The fitted weights, [n_features] or [n_targets, n_features], in units of the target '
                    'per unit of\nthe feature: a read-only array, None before the first fit.',
    'intercept': 'The prediction for a sample whose features are all 0, [1] or [n_targets], in units of the '
                 'target:\na read-only array, None before the first fit.',
    'rank': 'The number of independent features; -1 before the first fit, and where a file does not tell.',
    'condition-number': 'How much an error of the data can grow in the coefficients, at the most; NaN where that '
                        'is not known.',
    'correctly-rounded': 'Whether it is proven that coefficients and intercept are the nearest to the exact answer.',
    'dependent-features': 'The names of the features that depend on others before them; None where that is not '
                          'known.',
    'cross-products': 'The Apr.CrossProducts of all samples that the model was fitted to, in a copy; None '
                      'before the\nfirst fit, and where a file holds none.',
    'file': 'The Gio.File that the tensors are in, or the index of the files; None where they are in bytes.',
    'bytes': 'The GLib.Bytes that the tensors are in; None where they are in a file.',
    'load-mode': 'How a file\'s bytes are got at, an Apr.SafetensorsLoadMode.',
    'max-header-size': 'The longest header to accept, in bytes.',
    'alignment': 'The data begin at a multiple of so many bytes: a power of two from 8, the default, to 4096.',
    'durable': 'Whether a file is safe from a power cut when a write returns, which is the default.',
    'portable': 'Whether metadata keys are refused that make other readers refuse the file, which is the default.',
}

for _class in (Apr.Estimator, Apr.LinearRegression):
    _class.load = _ClassFunction(load)
    _class.from_bytes = _ClassFunction(from_bytes)
    _add_attributes(_class)

Apr.LinearRegression.predict = predict_linear
Apr.LinearRegression.predict_one = predict_one
Apr.Estimator.feature_names = property(get_feature_names)
Apr.Estimator.__deepcopy__ = lambda self, memo: self.__copy__()
_document(Apr.Estimator, """What every model has in common: fit, predict, score, clone, save and load.

Data go in as arrays, which are shared and must not change while they are in use, or as lists. What comes out
is read-only arrays, or lists without numpy.

A subclass gives do_fit, do_predict, do_save_tensors and do_load_tensors, which get and give Apr.Tensor and
raise GLib.Error, and a __gtype_name__, by which files know it. Its properties that can be written are its
hyper-parameters: they say how the next fit is done, and clone() and files hold them as they are.

clone() makes an unfitted model with the same hyper-parameters; a copy or a pickle is fitted as well, and has
what a file holds. to_bytes() makes the bytes of the file that save() writes. set_feature_names(names) names
the features of a fitted model, check_feature_names(names) raises where they are others.
""")
_document(Apr.LinearRegression, """LinearRegression(fit_intercept=True, alpha=0, positive=False, dtype=Apr.DType.NONE,
                 precision=Apr.Precision.EXACT, keep_state=False, n_threads=0)

Ordinary least squares: the coefficients b and the intercept a that minimise Σ w (y - a - X b)², correctly
rounded. Where features depend on each other, those with the least sum of squares.

    model = Apr.LinearRegression().fit(X, y)
    model.coefficients, model.intercept, model.predict(X), model.score(X, y)
    print(model.summary())
    model.save('model.safetensors')
    model = Apr.LinearRegression.load('model.safetensors')
""")


_update = Apr.CrossProducts.update
_save_state = Apr.CrossProducts.save
_load_state = Apr.CrossProducts.load
_state_from_bytes = Apr.CrossProducts.from_bytes
_get_state_names = Apr.CrossProducts.get_feature_names
_partial_fit = Apr.LinearRegression.partial_fit
_get_statistics = Apr.LinearRegression.get_statistics
_predict_interval = Apr.LinearRegression.predict_interval
_get_confidence_intervals = Apr.RegressionStatistics.get_confidence_intervals
_fit_cross_products = Apr.LinearRegression.fit_cross_products


def update(self, X, y, sample_weight=None, cancellable=None):
    """Adds samples, and returns the state.

    The columns' names of a data frame, where all are strings, become the names of the features; they must be the
    same in every update.
    """
    data, names = _to_fit(X, y, sample_weight)
    if names is not None:
        self.check_feature_names(names)
    _update(self, *data, cancellable)
    if names is not None and self.get_feature_names() is None:
        self.set_feature_names(names)
    return self


def get_state_names(self):
    """The names of the features as a list, or None where they have none."""
    return _get_state_names(self) or None


def fit_cross_products(self, state):
    """Fits the model to samples that have been summed before, and returns the model."""
    _fit_cross_products(self, state)
    return self


def partial_fit(self, X, y, sample_weight=None, cancellable=None):
    """Fits the model to more samples, beside those that it was fitted to before, and returns the model.

    It is the model of one fit with all of them, bit for bit.
    """
    (X, y, sample_weight), names = _to_fit(X, y, sample_weight)
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


def predict_interval(self, X, level=0.95, kind=Apr.IntervalKind.PREDICTION):
    """The bounds within which the truth is with the probability level: two arrays, lower and upper ends.

    kind says what truth that is: Apr.IntervalKind.PREDICTION, one more sample of weight 1, or CONFIDENCE, the
    mean of samples with these features.
    """
    _check_columns(self, X)
    _, lower, upper = _predict_interval(self, _to_data(X, 'X'), level, kind)
    return lower._get_values(), upper._get_values()


def get_confidence_intervals(self, level=0.95):
    """Intervals that hold the true coefficients with the probability level each: [n_terms, 2]."""
    return _get_confidence_intervals(self, level)._get_values()


def save_state(self, path):
    """Writes the sums to a SafeTensors file."""
    return _save_state(self, os.fspath(path))


def load_state(path):
    """Reads sums that were saved."""
    return _load_state(os.fspath(path))


def state_from_bytes(data):
    """Reads sums from the bytes of a file, bytes or GLib.Bytes."""
    return _state_from_bytes(_bytes(data))


def _equal_states(self, other):
    return self.equal(other) if isinstance(other, Apr.CrossProducts) else NotImplemented


def _reduce_state(self):
    return aprender_pickle.cross_products, (_copy_bytes(self.to_bytes()),)


def _describe_state(self):
    return (f'<Apr.CrossProducts: {_count(self.get_n_samples(), "sample")}, '
            f'{_count(self.get_n_features(), "feature")}, {_count(self.get_n_targets(), "target")}>')


Apr.CrossProducts.update = update
Apr.CrossProducts.save = save_state
Apr.CrossProducts.load = staticmethod(load_state)
Apr.CrossProducts.from_bytes = staticmethod(state_from_bytes)
Apr.CrossProducts.n_features = property(lambda self: self.get_n_features(), doc='The number of features.')
Apr.CrossProducts.n_targets = property(lambda self: self.get_n_targets(), doc='The number of targets.')
Apr.CrossProducts.get_feature_names = get_state_names
Apr.CrossProducts.feature_names = property(get_state_names, doc='The names of the features, or None.')
Apr.CrossProducts.n_samples = property(lambda self: self.get_n_samples(), doc='The number of samples.')
_document(Apr.CrossProducts, """All that least squares needs of the data: exact sums of their products.

    state = Apr.CrossProducts.new(n_features, n_targets).update(X, y).update(more_X, more_y)
    model = Apr.LinearRegression().fit_cross_products(state)

Rows may be added in any order, number of calls and machines: the same rows make equal states. merge(other)
adds the rows of another state, subtract(other) takes them away, copy() and to_bytes() do as they say.

Apr.CrossProducts.new_with_precision(n_features, n_targets, Apr.Precision.DOUBLE) sums the products of each few
hundred rows in double: faster for wide data, and no longer the same for any cut of the rows into calls.
""")
Apr.CrossProducts.__copy__ = lambda self: self.copy()
Apr.CrossProducts.__deepcopy__ = lambda self, memo: self.copy()
Apr.CrossProducts.__eq__ = _equal_states
Apr.CrossProducts.__hash__ = None
Apr.CrossProducts.__reduce__ = _reduce_state
Apr.CrossProducts.__repr__ = _describe_state
Apr.LinearRegression.fit_cross_products = fit_cross_products
Apr.LinearRegression.partial_fit = partial_fit
Apr.LinearRegression.get_statistics = get_statistics
Apr.LinearRegression.predict_interval = predict_interval
Apr.RegressionStatistics.get_confidence_intervals = get_confidence_intervals
Apr.RegressionStatistics.__str__ = Apr.RegressionStatistics.to_string
for _pspec in GObject.list_properties(Apr.RegressionStatistics):
    setattr(Apr.RegressionStatistics, _pspec.name.replace('-', '_'), _make_attribute(_pspec, None))
_document(Apr.RegressionStatistics, """What a linear regression says beside its coefficients, of one target.

    statistics = model.get_statistics()
    print(statistics)
    statistics.terms, statistics.standard_errors, statistics.p_values, statistics.get_confidence_intervals(0.95)

Arrays have an entry for each of terms: the intercept, where there is one, and the features. covariance is
[n_terms, n_terms]. Weights are analytic, as in statsmodels' WLS and R's lm.
""")


def _add_metric(name, doc):
    function = getattr(Apr, name)

    def metric(y_true, y_pred, sample_weight=None):
        return function(_to_data(y_true, 'y_true'), _to_data(y_pred, 'y_pred'),
                        _to_data(sample_weight, 'sample_weight'))

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

_max_error = Apr.max_error


def max_error(y_true, y_pred):
    """Finds the greatest magnitude of an error."""
    return _max_error(_to_data(y_true, 'y_true'), _to_data(y_pred, 'y_pred'))


__all__.append('max_error')


_reader_new_from_path = Apr.SafetensorsReader.new_from_path
_reader_new_from_bytes = Apr.SafetensorsReader.new_from_bytes
_reader_get_slice = Apr.SafetensorsReader.get_slice
_writer_add_tensor = Apr.SafetensorsWriter.add_tensor
_writer_set_data_func = Apr.SafetensorsWriter.set_data_func
_writer_set_source_bytes = Apr.SafetensorsWriter.set_source_bytes
_writer_write_to_path = Apr.SafetensorsWriter.write_to_path


_MIN_INT64, _MAX_INT64 = -1 << 63, (1 << 63) - 1


def _format_index(index):
    if index is Ellipsis:
        return '...'
    if isinstance(index, slice):
        # Python lets bounds of any length mean the end.
        bounds = ['' if bound is None else str(min(max(operator.index(bound), _MIN_INT64), _MAX_INT64))
                  for bound in (index.start, index.stop, index.step)]
        return ':'.join(bounds)
    if isinstance(index, bool) or not hasattr(index, '__index__'):
        raise TypeError(f'An index is a whole number, a slice or “...”, not {index!r}')
    return str(operator.index(index))


class _Slice:
    """A tensor of a file, of which indexing gets a part: reader.get_slice('weights')[1:3, ::-1]."""

    def __init__(self, reader, name):
        # Here already, a name that is not there raises.
        self._shape = tuple(reader.get_shape(name))
        self._reader = reader
        self._name = name

    def get_shape(self):
        return self._shape

    def get_dtype(self):
        return self._reader.get_dtype(self._name)

    def __getitem__(self, key):
        indices = ','.join(map(_format_index, key if isinstance(key, tuple) else (key,)))
        try:
            return _reader_get_slice(self._reader, self._name, indices)
        except GLib.Error as error:
            if error.matches(Apr.error_quark(), Apr.Error.RANGE):
                raise IndexError(error.message) from error
            raise


def _check_name(name):
    # C would take what stands before it.
    if isinstance(name, str) and '\0' in name:
        raise ValueError(f'The name {name!r} of a tensor has a NUL')


def get_slice(self, name, indices=None):
    """A part of a tensor: by indices in a text, as in '1:3, ::-1', or else by indexing what is returned."""
    _check_name(name)
    return _Slice(self, name) if indices is None else _reader_get_slice(self, name, indices)


def _contains(self, name):
    return isinstance(name, str) and '\0' not in name and self.has_tensor(name)


def _get_item(self, name):
    """The tensor of this name, without a copy."""
    if name not in self:
        raise KeyError(name)
    return self.get_tensor(name)


def _get_metadata(self):
    """The strings of __metadata__, in the order of their keys."""
    return dict(sorted(self.get_metadata().items()))


def keys(self):
    """The names of the tensors, as a list."""
    return self.get_names()


def write_to_path(self, path):
    """Writes the file, in one step: there is the old one or the new one."""
    return _writer_write_to_path(self, os.fspath(path))


def add_tensor(self, name, tensor):
    """Adds a tensor, or anything that Apr.Tensor makes one of."""
    _check_name(name)
    return _writer_add_tensor(self, name, _to_tensor(tensor))


def set_data_func(self, function, *user_data):
    """Sets a function that gives tensors' data, as anything with a buffer, or None."""
    if function is None:
        return _writer_set_data_func(self, None)
    return _writer_set_data_func(self, lambda *args: _bytes(function(*args)), *user_data)


def set_source_bytes(self, name, data):
    """Sets a tensor's data, anything with a buffer."""
    _check_name(name)
    return _writer_set_source_bytes(self, name, _bytes(data))


Apr.SafetensorsReader.new_from_path = staticmethod(lambda path: _reader_new_from_path(os.fspath(path)))
Apr.SafetensorsReader.new_from_bytes = staticmethod(lambda data: _reader_new_from_bytes(_bytes(data)))
Apr.SafetensorsReader.get_slice = get_slice
Apr.SafetensorsReader.metadata = property(_get_metadata)
Apr.SafetensorsReader.__getitem__ = _get_item
Apr.SafetensorsReader.__contains__ = _contains
Apr.SafetensorsReader.__len__ = lambda self: len(self.get_names())
Apr.SafetensorsReader.__iter__ = lambda self: iter(self.get_names())
Apr.SafetensorsReader.keys = keys
_add_attributes(Apr.SafetensorsReader)
_add_attributes(Apr.SafetensorsWriter)
Apr.SafetensorsWriter.add_tensor = add_tensor
Apr.SafetensorsWriter.set_data_func = set_data_func
Apr.SafetensorsWriter.set_source_bytes = set_source_bytes
Apr.SafetensorsWriter.write_to_path = write_to_path
_document(Apr.SafetensorsReader, """The tensors of a SafeTensors file, by their names.

    reader = Apr.SafetensorsReader.new_from_path('model.safetensors')
    for name in reader:
        print(name, reader[name])

new_from_bytes(data) reads bytes. The constructor takes properties, and opens nothing until init() is called, which raises
what is wrong:

    reader = Apr.SafetensorsReader(file=file, load_mode=Apr.SafetensorsLoadMode.READ)
    reader.init(cancellable)

reader[name] is an Apr.Tensor in the file's own memory; get_dtype(name) and
get_shape(name) do without it. metadata is a dictionary of strings.
""")
_document(Apr.SafetensorsWriter, """Writes tensors to a SafeTensors file.

    writer = Apr.SafetensorsWriter()
    writer.add_tensor('weights', array)
    writer.set_metadata('format', 'pt')
    writer.write_to_path('model.safetensors')

The same tensors and metadata make the same bytes, in whatever order they were added. Arrays are shared, and
must not change while the writer is in use. write_to_bytes() makes GLib.Bytes.
""")

# Attributes of this module are found at once: for others the typelib's module would be asked each time.
for _class in (Apr.CrossProducts, Apr.DType, Apr.Estimator, Apr.LinearRegression, Apr.Precision):
    globals()[_class.__name__] = _class
    __all__.append(_class.__name__)
