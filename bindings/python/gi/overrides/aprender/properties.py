# SPDX-License-Identifier: LGPL-2.1-or-later
"""Properties as Python's attributes and constructor keywords, and strings wherever an enumeration goes."""

import ctypes
import difflib
import functools
import inspect
import os

from gi.repository import GLib, GObject

from .errors import ArgumentError
from .reference import PROPERTIES

_WRITABLE = GObject.ParamFlags.WRITABLE
_CONSTRUCT_ONLY = GObject.ParamFlags.CONSTRUCT_ONLY
_REALS = (GObject.TYPE_FLOAT, GObject.TYPE_DOUBLE)
_WHOLE = (GObject.TYPE_INT, GObject.TYPE_UINT, GObject.TYPE_LONG, GObject.TYPE_ULONG, GObject.TYPE_INT64,
          GObject.TYPE_UINT64)
# PyGObject's own descriptor of “props”. To look it up takes as long as a tenth of a small fit.
_get_props = inspect.getattr_static(GObject.Object, 'props').__get__
# The values that a property takes, where they are not all of its enumeration.
_NICKS = {('AprLinearRegression', 'dtype'): ('none', 'f32', 'f64')}


def to_enum(class_, value, name, nicks=None):
    """The value of an enumeration, which may be a string: its name, one of the nicks where they are given; letters may
    be large, and “_” stand for “-”. Dtypes have numpy's names too.
    """
    if isinstance(value, class_):
        return value
    if class_.__gtype__.name == 'AprDType' and not isinstance(value, int):
        from .memory import find_dtype_named
        value = to_plain(find_dtype_named(value))
    if isinstance(value, int):
        return value
    choices = [choice for choice in class_.__enum_values__.values() if not nicks or choice.value_nick in nicks]
    # The format itself calls dtypes F32 and F8_E4M3.
    nick = value.lower().replace('_', '-') if isinstance(value, str) else None
    for choice in choices:
        if choice.value_nick.replace('_', '-') == nick:
            return choice
    names = ', '.join(f'“{choice.value_nick}”' for choice in choices)
    from .lists import describe
    raise ArgumentError(f'{name} must be one of {names}, not ' + (f'“{value}”' if isinstance(value, str) else describe(value)))


def check_text(value, name, is_list=False):
    """Refuses a NUL in a string, or in one of a list: C would take what stands before it. A string is no list of its
    letters.
    """
    if is_list and isinstance(value, str):
        raise ArgumentError(f'{name} must be a list of strings, not the string “{value}”')
    for text in value if is_list and hasattr(value, '__iter__') else (value,):
        if isinstance(text, str) and '\0' in text:
            raise ArgumentError(f'{name} has a NUL: {text!r}')


# GObject takes longer to tell than all else takes that is asked of a property.
@functools.lru_cache(maxsize=None)
def _is_enum(pspec):
    return GObject.type_is_a(pspec.value_type, GObject.TYPE_ENUM)


def to_name(pspec):
    """What Python calls a property."""
    return pspec.name.replace('-', '_')


def to_plain(value):
    """An enumeration's value as a string; others as they are."""
    return value.value_nick if isinstance(value, GObject.GEnum) else value


def _is_cloned(pspec):
    # The same rule as in apr_is_cloned_property().
    wanted = GObject.ParamFlags.READABLE | _WRITABLE
    return pspec.flags & (wanted | GObject.ParamFlags.DEPRECATED) == wanted and pspec.owner_type.name != 'AprEstimator'


@functools.lru_cache(maxsize=None)
def list_cloned(class_):
    """The hyper-parameters, and what is transient, by name: the order of a Python class's properties is left to chance."""
    return sorted(filter(_is_cloned, GObject.list_properties(class_)), key=lambda pspec: pspec.name)


def is_changeable(pspec):
    """Whether a property can be written after its object was made."""
    return pspec.flags & (_WRITABLE | _CONSTRUCT_ONLY) == _WRITABLE


@functools.lru_cache(maxsize=None)
def _find_pspecs(class_):
    return {to_name(pspec): pspec for pspec in GObject.list_properties(class_)}


def _is_vector(pspec):
    return pspec.value_type.name == 'AprTensor'


def _find_number(pspec, value):
    """The number that a property is to hold; None of what is not one number, or would lose a part: PyGObject would cut
    off a fraction, and numpy the imaginary part.
    """
    is_real = pspec.value_type in _REALS
    if getattr(value, 'ndim', 0) or isinstance(value, (str, bytes)) or getattr(value, 'imag', 0) or not (
            hasattr(value, '__index__') or hasattr(value, '__float__')):
        return None
    try:
        number = float(value) if is_real else int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if not is_real and number != value:
        return None
    return ctypes.c_float(number).value if pspec.value_type == GObject.TYPE_FLOAT else number


def _describe_range(pspec):
    if pspec.value_type not in _REALS:
        return f'a whole number from {pspec.minimum} to {pspec.maximum}'
    # A property without bounds has the largest numbers as such, or the infinities.
    is_double = pspec.value_type == GObject.TYPE_DOUBLE
    largest = GLib.MAXDOUBLE if is_double else GLib.MAXFLOAT
    low, high = (None if abs(bound) >= largest else repr(bound).removesuffix('.0') if is_double else f'{bound:.7g}'
                 for bound in (pspec.minimum, pspec.maximum))
    if low is not None and high is not None:
        return f'a number from {low} to {high}'
    number = 'a finite number' if largest in (-pspec.minimum, pspec.maximum) else 'a number'
    return number + (f' from {low} on' if low is not None else f' up to {high}' if high is not None else '')


def _check_number(pspec, value):
    """Refuses what is not one number of a property's range: GObject would keep another, and only warn."""
    number = _find_number(pspec, value)
    if number is not None and (pspec.minimum <= number <= pspec.maximum or
                               number != number and pspec.flags & GObject.ParamFlags.LAX_VALIDATION):
        return
    from .lists import describe

    name = to_name(pspec)
    text = f'{name} must be {_describe_range(pspec)}, not {describe(value) if number is None else number}'
    if any(other.name == f'{pspec.name}s' for other in GObject.list_properties(pspec.owner_type)):
        text += f'; {name}s has one for each target'
    raise ArgumentError(text)


def _check_string(pspec, value):
    """Refuses what is no string, of which PyGObject would make one, unless it is a path; None is no string at all, which
    GObject allows.
    """
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if value is not None and not isinstance(value, str):
        from .lists import describe
        raise ArgumentError(f'{to_name(pspec)} must be a string, not {describe(value)}')
    check_text(value, to_name(pspec))


def _check_strings(pspec, value):
    check_text(value, to_name(pspec), True)


def _check_boolean(pspec, value):
    if value not in (True, False):
        raise ArgumentError(f'{to_name(pspec)} must be True or False, not {value!r}')


_CHECKS = {GObject.TYPE_STRING: _check_string, GObject.TYPE_STRV: _check_strings, GObject.TYPE_BOOLEAN: _check_boolean,
           **dict.fromkeys(_REALS + _WHOLE, _check_number)}


@functools.lru_cache(maxsize=None)
def _find_check(pspec):
    """What refuses a value that PyGObject or GObject would make another one of, where there is such a danger."""
    return _CHECKS.get(pspec.value_type)


def _convert(pspec, value):
    """What PyGObject is given for a property: an enumeration's value for a string, a tensor for what becomes one; only
    truth values become ones, and None is an enumeration's value that is called none.
    """
    if pspec is None:
        return value
    check = _find_check(pspec)
    if check is not None:
        check(pspec, value)
        return value
    if _is_vector(pspec) and value is not None:
        from .data import to_data
        return to_data(value, to_name(pspec))
    if _is_enum(pspec):
        is_none = value is None and pspec.default_value.value_nick == 'none'
        nicks = _NICKS.get((pspec.owner_type.name, pspec.name))
        return to_enum(type(pspec.default_value), 'none' if is_none else value, to_name(pspec), nicks)
    return value


def _check_property(self, name, value):
    pspec = _find_pspecs(type(self)).get(name.replace('-', '_')) if isinstance(name, str) else None
    # GObject itself says of others that they cannot be set.
    is_writable = pspec is not None and is_changeable(pspec)
    check = _find_check(pspec) if is_writable else None
    if check is not None:
        check(pspec, value)


_set = object.__setattr__


class _Props:
    """An object's properties as PyGObject has them, object.props.name, but for values that GObject would change."""

    __slots__ = ('_object',)

    def __init__(self, object):
        _set(self, '_object', object)

    def __getattr__(self, name):
        return getattr(_get_props(self._object), name)

    def __setattr__(self, name, value):
        _check_property(self._object, name, value)
        setattr(_get_props(self._object), name, value)

    def __dir__(self):
        return dir(_get_props(self._object))

    def __iter__(self):
        return iter(_get_props(self._object))

    def __len__(self):
        return len(_get_props(self._object))


class _PropsOf:
    """What a class has as its attribute “props”: of the class they are GObject.ParamSpecs."""

    def __get__(self, object, class_):
        return _get_props(object, class_) if object is None else _Props(object)


def guard_properties(class_):
    """Checks values in all the ways of PyGObject to set a property, of classes that derive from this one too."""
    def set_property(self, property_name, value):
        """Sets a property to a value."""
        _check_property(self, property_name, value)
        GObject.Object.set_property(self, property_name, value)

    def set_properties(self, **properties):
        """Sets properties to values."""
        for name, value in properties.items():
            _check_property(self, name, value)
        GObject.Object.set_properties(self, **properties)

    class_.set_property, class_.set_properties, class_.props = set_property, set_properties, _PropsOf()


def get_given(self, pspec):
    """A property's value: the very object that it was set to, which scikit-learn looks for in copies."""
    value = to_plain(self.get_property(pspec.name))
    given = vars(self).get(to_name(pspec), value)
    if _is_vector(pspec):
        return given if given is not None and value is not None and _convert(pspec, given).equal(value) else value
    return given if to_plain(given) == value or given is None and value == 'none' else value


def _make_attribute(class_, pspec, convert):
    name = to_name(pspec)

    def get(self):
        return convert(self.get_property(pspec.name))

    def set(self, value):
        self.set_property(pspec.name, _convert(pspec, value))
        vars(self)[name] = value

    return property(get, set if is_changeable(pspec) else None, doc=PROPERTIES.get((class_.__name__, name)))


def add_attributes(class_, convert=lambda value: value):
    """Makes a class's own properties attributes, but for those that Python has methods for."""
    for pspec in GObject.list_properties(class_):
        name = to_name(pspec)
        if pspec.owner_type == class_.__gtype__ and not isinstance(vars(class_).get(name), property):
            setattr(class_, name, _make_attribute(class_, pspec, convert))


def advise(name, names):
    """What else may be meant by a name that there is not."""
    if name == 'n_jobs' and 'n_threads' in names:
        return ': it is “n_threads” here, and 0, which it is unless set, means one thread per processor'
    close = difflib.get_close_matches(name, names, 1)
    return f': is it “{close[0]}”?' if close else ''


def _refuse_read_only(class_, name):
    # Some have a setter in Python all the same.
    attribute = getattr(class_, name, None)
    advice = f'set it after construction, object.{name} = …' if isinstance(attribute, property) and attribute.fset else \
        'it can only be read'
    raise TypeError(f'The constructor of {class_.__name__} takes no “{name}”: {advice}')


def check_constructor(class_):
    """Refuses a subclass whose constructor takes what is no property: clone(), files and scikit-learn's tools would lose it."""
    construct = vars(class_).get('__init__')
    if not inspect.isfunction(construct):
        return
    # Those of the class itself become GObject's only after this.
    known = {name for owner in class_.__mro__ for name, value in vars(owner).items() if isinstance(value, GObject.Property)}
    known |= {name.replace('-', '_') for name in vars(class_).get('__gproperties__', {})}
    known |= set(_find_pspecs(next(base for base in class_.__mro__[1:] if hasattr(base, '__gtype__'))))
    for parameter in list(inspect.signature(construct).parameters.values())[1:]:
        is_given = parameter.kind not in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        if is_given and parameter.name not in known:
            raise TypeError(f'{class_.__name__}.__init__ takes “{parameter.name}”, which is no property of the class, so that '
                            'clones and files would not have it: define it as one, such as '
                            f'{parameter.name} = GObject.Property(type=float, default=1.0)')


def add_constructor(class_):
    """Makes help and completion tell which keywords the constructor takes."""
    # That of a base class has done all this already.
    construct = getattr(class_.__init__, 'construct', class_.__init__)

    def __init__(self, **properties):
        if not properties:
            construct(self)
            return
        pspecs = _find_pspecs(type(self))
        for name in properties:
            pspec = pspecs.get(name.replace('-', '_'))
            if pspec is None:
                writable = [other for other, pspec in pspecs.items() if pspec.flags & _WRITABLE]
                raise TypeError(f'{type(self).__name__} has no property “{name}”{advise(name, writable)}')
            if not pspec.flags & _WRITABLE:
                _refuse_read_only(type(self), to_name(pspec))
        construct(self, **{name: _convert(pspecs.get(name.replace('-', '_')), value) for name, value in properties.items()})
        vars(self).update(properties)

    writable = sorted((to_name(pspec), pspec) for pspec in GObject.list_properties(class_) if pspec.flags & _WRITABLE)
    parameters = [inspect.Parameter('self', inspect.Parameter.POSITIONAL_ONLY)]
    parameters += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY,
                                     default=to_plain(getattr(pspec, 'default_value', None))) for name, pspec in writable]
    __init__.__signature__ = inspect.Signature(parameters)
    __init__.__qualname__ = f'{class_.__name__}.__init__'
    __init__.construct = construct
    __init__.__doc__ = 'Makes an object; the keywords are its properties.'
    class_.__init__ = __init__
