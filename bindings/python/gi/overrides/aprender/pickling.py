# SPDX-License-Identifier: LGPL-2.1-or-later
"""What pickles of Apr's objects name: a module that a new process can import before it has loaded Apr."""

import copyreg
import importlib
import pickle
import sys

import gi
from gi.repository import Gio, GLib, GObject
from gi.types import GObjectMeta

from .estimator_type import EstimatorType


def _import():
    # Which finds the library where pip has installed it.
    from aprender import Apr

    return Apr


def _find_repository(name, version):
    if name == 'Apr':
        return _import()
    gi.require_version(name, version)
    return importlib.import_module(f'gi.repository.{name}')


def _reduce_repository(module):
    return _find_repository, (module._namespace, module._version)


def _find_type(name):
    try:
        return GObject.type_from_name(name)
    except RuntimeError:
        return None


def _reduce_type(gtype):
    class_ = gtype.pytype
    if isinstance(class_, GObjectMeta) and not isinstance(class_, EstimatorType) and not _is_native(class_):
        raise pickle.PicklingError(
            f'The class {gtype.name} of GObject cannot be sent to another process as a value, as cloudpickle and joblib send '
            'classes of a script or a notebook: put the class into a module, which the other process imports, or use threads, '
            'as in joblib.parallel_config("threading")')
    return _find_type, (gtype.name,)


def _is_native(class_):
    return class_.__module__.startswith(('gi.repository.', 'gi.overrides.'))


def _reduce_class(class_):
    # A string is the name by which pickle finds a class in its module.
    return (_find, (class_.__name__,)) if _is_native(class_) else class_.__qualname__


def explain_types():
    """Tells pickle about what functions and classes of a script refer to: modules of libraries, their types and classes."""
    copyreg.pickle(GObject.GType, _reduce_type)
    copyreg.pickle(EstimatorType, _reduce_class)
    for module in (sys.modules['gi.repository.Apr'], Gio, GLib, GObject):
        copyreg.pickle(type(module), _reduce_repository)
    copyreg.pickle(type(GObject._introspection_module), _reduce_repository)


def cross_products(data, n_threads=0):
    """Makes the Apr.CrossProducts that were pickled."""
    state = _import().CrossProducts.from_bytes(data)
    state.set_n_threads(n_threads)
    return state


def _find(model):
    return getattr(_import(), model) if isinstance(model, str) else model


def model(model, hyper_parameters):
    """Makes the unfitted model that was pickled, of a class or of the one of Apr that has this name."""
    return _find(model)(**{name.replace('-', '_'): value for name, value in hyper_parameters.items()})


def fitted_model(model, data, values):
    """Makes the fitted model that was pickled; values are those of properties that a file does not hold."""
    loaded = _find(model).from_bytes(data)
    for name, value in values.items():
        loaded.set_property(name, value)
    return loaded


def tensor(dtype, shape, data):
    """Makes the Apr.Tensor that was pickled."""
    Apr = _import()
    return Apr.Tensor.new_from_bytes(Apr.DType.from_string(dtype).dtype, shape, data)
