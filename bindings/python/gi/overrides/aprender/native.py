# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library as PyGObject gives it, but for the errors that it raises, and for documentation."""

import inspect
import os
import re

from gi.repository import Gio, GLib, GObject

from ...module import get_introspection_module
from .errors import make, translate
from .properties import check_text, to_enum
from .reference import METHODS

Apr = get_introspection_module('Apr')


def _list_all():
    for name in dir(Apr):
        try:
            yield name, getattr(Apr, name)
        except NotImplementedError:
            # A function's type, which PyGObject has no class for.
            continue


_ALL = dict(_list_all())
# Objects and structures, but for those of the virtual functions.
CLASSES = tuple(value for name, value in _ALL.items()
                if type(value) in (type(Apr.Estimator), type(Apr.Tensor)) and not name.endswith('Class'))
_ENUMS = tuple(value for value in _ALL.values() if isinstance(value, type) and issubclass(value, GObject.GEnum))

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
        except GLib.Error as glib_error:
            error = translate(glib_error)
        # Out of what handles the other, which would become the context of an exception that has one of its own.
        try:
            raise error
        finally:
            del error

    return call


def _list_arguments(info):
    """What PyGObject says that a function takes, such as “name:type=default”."""
    return [argument.strip() for argument in re.match(r'\w+\((.*?)\)', info.__doc__).group(1).split(',') if argument]


def _make_signature(arguments):
    # Arguments that C has between others, such as a callback's, may have defaults there.
    parameters = [inspect.Parameter(argument.partition(':')[0].partition('=')[0], inspect.Parameter.POSITIONAL_OR_KEYWORD,
                                    default=None if '=' in argument else inspect.Parameter.empty) for argument in arguments]
    if parameters and parameters[-1].name == 'user_data':
        # PyGObject hands all that follow to the callback.
        parameters[-1] = inspect.Parameter('user_data', inspect.Parameter.VAR_POSITIONAL)
    try:
        return inspect.Signature(parameters)
    except ValueError:
        return None


def _find_enums(arguments):
    """The places of arguments that are enumerations of ours, their names and classes."""
    found = []
    for i, argument in enumerate(arguments):
        name, _, type_ = argument.partition('=')[0].partition(':')
        try:
            class_ = getattr(Apr, type_[4:], None) if type_.startswith('Apr.') else None
        except NotImplementedError:
            # A function's type, which PyGObject has no class for.
            continue
        if isinstance(class_, type) and issubclass(class_, GObject.GEnum):
            found.append((i, name, class_))
    return found


def _find_texts(arguments):
    """The places of arguments that are strings, or lists of them, their names, and which of the two they are."""
    split = [re.match(r'(\w+):?(\w*)', argument).groups() for argument in arguments]
    return [(i, name, type_ == 'list') for i, (name, type_) in enumerate(split)
            if type_ == 'str' or type_ == 'list' and name in ('feature_names', 'target_names', 'features', 'targets', 'columns')]


def _refusing_nuls(function, texts):
    """The function, which takes no strings that C would cut short, and no string for a list."""
    def call(*args, **kwargs):
        for i, name, is_list in texts:
            if i < len(args):
                check_text(args[i], name, is_list)
            elif name in kwargs:
                check_text(kwargs[name], name, is_list)
        return function(*args, **kwargs)

    return call


def _to_file(value):
    if not isinstance(value, (str, os.PathLike)):
        return value
    check_text(os.fspath(value), 'file')
    return Gio.File.new_for_path(os.fspath(value))


def _taking_paths(function, i):
    """The function, which takes a path for the Gio.File that its argument i is, or its keyword “file”."""
    def call(*args, **kwargs):
        args = [_to_file(value) if place == i else value for place, value in enumerate(args)]
        if 'file' in kwargs:
            kwargs['file'] = _to_file(kwargs['file'])
        return function(*args, **kwargs)

    return call


def _taking_strings(function, enums):
    """The function, which takes strings for enumerations."""
    def call(*args, **kwargs):
        args = list(args)
        for i, name, class_ in enums:
            if i < len(args):
                args[i] = to_enum(class_, args[i], name)
            elif name in kwargs:
                kwargs[name] = to_enum(class_, kwargs[name], name)
        return function(*args, **kwargs)

    return call


def _wrap(class_, info):
    name, arguments = info.get_name(), _list_arguments(info)
    enums = _find_enums(arguments)
    # What a class does is called on it, what an object does is called with it.
    function = translating(getattr(class_, name) if not info.is_method() else info)
    function = _taking_strings(function, enums) if enums else function
    if 'file:Gio.File' in arguments:
        function = _taking_paths(function, arguments.index('file:Gio.File'))
    texts = _find_texts(arguments)
    function = _refusing_nuls(function, texts) if texts else function
    function.__name__ = name
    function.__qualname__ = name if class_ is Apr else f'{class_.__name__}.{name}'
    function.__module__ = 'gi.repository.Apr'
    function.__signature__ = _make_signature(arguments)
    text = METHODS.get(('' if class_ is Apr else class_.__name__, name))
    signature = info.__doc__
    function.__doc__ = signature if not text else f'{signature}\n\n{text}'
    return function if info.is_method() or class_ is Apr else staticmethod(function)


# Without what is put around it below: memory.py calls it for each array.
native_new_from_memory = Apr.Tensor.new_from_memory

# The functions are the attributes of the module.
for _class in (*CLASSES, *_ENUMS, Apr):
    for _name, _info in list(_ALL.items() if _class is Apr else vars(_class).items()):
        if type(_info).__name__ == 'FunctionInfo':
            setattr(_class, _name, _wrap(_class, _info))


def extends(*classes):
    """Gives the methods of the class below to some of the library, and its documentation."""
    def extend(methods):
        for class_ in classes:
            for name, value in vars(methods).items():
                if name in ('__dict__', '__weakref__', '__module__', '__doc__', '__qualname__'):
                    continue
                if hasattr(value, '__qualname__'):
                    value.__qualname__ = f'{class_.__name__}.{name}'
                    value.__module__ = 'gi.repository.Apr'
                setattr(class_, name, value)
            if methods.__doc__ is not None:
                document(class_, methods.__doc__)
        return classes[0]

    return extend
