# SPDX-License-Identifier: LGPL-2.1-or-later
"""The metaclass of estimators, whose classes can be sent to another process by value.

cloudpickle, and so joblib, sends a class of a script or a notebook as a name, its bases and its attributes, which it
sets one by one on a class without any. GObject registers a class with its properties, once. So a class without a body
is registered when it is first used.
"""

from gi.repository import GObject
from gi.types import GObjectMeta

# What GObject takes from the attributes of a class when it registers it.
_DECLARATIONS = ('__gproperties__', '__gsignals__')
_KEPT = '_declarations'


def _is_registered(name):
    try:
        return bool(GObject.type_from_name(name))
    except RuntimeError:
        return False


def claim_name(class_):
    """Changes the name by which GObject is to know a class, where there is one of that name.

    GObject knows no way to define a type again, which a notebook does whenever a cell is run again. The library
    leaves such an ending out of what files call the class.
    """
    name = vars(class_).get('__gtype_name__')
    if name is not None and _is_registered(name):
        n = 2
        while _is_registered(f'{name}-v{n}'):
            n += 1
        class_.__gtype_name__ = f'{name}-v{n}'


class EstimatorType(GObjectMeta):
    def __init__(cls, name, bases, namespace):
        # The statement “class” gives a __qualname__ too.
        if namespace.keys() <= {'__module__'}:
            type.__init__(cls, name, bases, namespace)
            cls.__class__ = UnregisteredType
            return
        _register_bases(cls)
        cls.__class__ = EstimatorType
        kept = {key: dict(namespace[key]) for key in _DECLARATIONS if key in namespace}
        super().__init__(name, bases, namespace)
        if kept:
            setattr(cls, _KEPT, kept)

    def __setattr__(cls, name, value):
        # The type that a class has in another process is none of this one.
        if name != '__gtype__' or name not in vars(cls):
            super().__setattr__(name, value)


class UnregisteredType(EstimatorType):
    """The metaclass of a class until it is used."""

    def __call__(cls, *arguments, **keywords):
        register(cls)
        return cls(*arguments, **keywords)

    def __getattribute__(cls, name):
        if name == '__gtype__':
            register(cls)
        return type.__getattribute__(cls, name)

    def __setattr__(cls, name, value):
        if name != '__gtype__':
            super().__setattr__(name, value)


def _register_bases(class_):
    # GObject would take the type of the next base that has one for that of the parent.
    for base in class_.__bases__:
        if isinstance(base, UnregisteredType):
            register(base)


def register(class_):
    """Has GObject know a class with the attributes that it has now."""
    class_.__class__ = EstimatorType
    _register_bases(class_)
    claim_name(class_)
    for key, value in vars(class_).get(_KEPT, {}).items():
        setattr(class_, key, dict(value))
    GObjectMeta.__init__(class_, class_.__name__, class_.__bases__, vars(class_))


def adopt(class_):
    """Makes a class of the library one of the metaclass, and so all that derive from it."""
    class_.__class__ = EstimatorType
