# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library as PyGObject gives it, but for the errors that it raises, and for documentation."""

import functools

from gi.repository import GLib

from ...module import get_introspection_module
from . import documentation
from .errors import make, translate

Apr = get_introspection_module('Apr')

CLASSES = (Apr.Tensor, Apr.Estimator, Apr.LinearRegression, Apr.RegressionStatistics,
           Apr.RegressionDiagnostics, Apr.Term, Apr.CrossProducts, Apr.SafetensorsReader, Apr.SafetensorsWriter)

# GObject's metaclass has a property of this name, which cannot be written and gives what the class's has.
document = type.__dict__['__doc__'].__set__


def make_error(code, message):
    """The exception that the library itself would raise."""
    return make(message, GLib.quark_to_string(Apr.error_quark()), int(code))


def translating(function):
    """The function, which raises the exceptions of errors.py."""
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except GLib.Error as error:
            raise translate(error) from None

    return call


def _wrap(class_, info):
    name = info.get_name()
    # What a class does is called on it, what an object does is called with it.
    function = translating(getattr(class_, name) if not info.is_method() else info)
    function.__name__ = name
    function.__qualname__ = f'{class_.__name__}.{name}'
    function.__module__ = 'gi.repository.Apr'
    text = documentation.METHODS.get((class_.__name__, name))
    signature = info.__doc__
    function.__doc__ = signature if text is None else f'{signature}\n\n{text}'
    return function if info.is_method() else staticmethod(function)


for _class in CLASSES:
    for _name, _info in list(vars(_class).items()):
        if type(_info).__name__ == 'FunctionInfo' and (_info.can_throw_gerror() or not _info.is_method()):
            setattr(_class, _name, _wrap(_class, _info))


def extends(class_):
    """Gives the methods of the class below to one of the library, and its documentation."""
    def extend(methods):
        for name, value in vars(methods).items():
            if name in ('__dict__', '__weakref__', '__module__', '__doc__'):
                continue
            if hasattr(value, '__qualname__'):
                value.__qualname__ = f'{class_.__name__}.{name}'
                value.__module__ = 'gi.repository.Apr'
            setattr(class_, name, value)
        if methods.__doc__ is not None:
            document(class_, methods.__doc__)
        return class_

    return extend
