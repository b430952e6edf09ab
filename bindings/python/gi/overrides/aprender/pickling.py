# SPDX-License-Identifier: LGPL-2.1-or-later
"""What pickles of Apr's objects name: a module that a new process can import before it has loaded Apr."""

import copyreg
import pickle

from gi.repository import GObject


def _refuse_type(gtype):
    raise pickle.PicklingError(
        f'The class {gtype.name} of GObject cannot be sent to another process as a value, as cloudpickle and joblib send '
        'classes of a script or a notebook: put the class into a module, which the other process imports, or use threads, '
        'as in joblib.parallel_config("threading")')


def explain_types():
    """What pickle says of a GType, which it cannot pickle."""
    copyreg.pickle(GObject.GType, _refuse_type)


def _import():
    # Which finds the library where pip has installed it.
    from aprender import Apr

    return Apr


def cross_products(data, attributes=None):
    """Makes the Apr.CrossProducts that were pickled; attributes are what a file does not hold."""
    state = _import().CrossProducts.from_bytes(data)
    for name, value in (attributes or {}).items():
        setattr(state, name, value)
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
