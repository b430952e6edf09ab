# SPDX-License-Identifier: LGPL-2.1-or-later
"""How nested lists become tensors, and what messages call values and places."""

import decimal
import numbers
import operator
from collections.abc import Mapping

from .errors import ArgumentError
from .memory import import_module
from .native import Apr
from .properties import advise, check_text

# How deep lists may stand within each other: not without end, as a list does that is its own entry.
_MAX_DEPTH = 32


def count(n, what):
    return f'{n} {what}' if n == 1 else f'{n} {what}s'


def is_list(value):
    numpy = import_module('numpy')
    return isinstance(value, (list, tuple, range)) or \
        numpy is not None and isinstance(value, numpy.ndarray) and value.ndim > 0


def describe(value):
    if is_list(value):
        return 'an array'
    if isinstance(value, str):
        return f'the string “{value}”'
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)
    name = type(value).__name__
    return f'{"an" if name[0] in "AEIOUaeiou" else "a"} {name}'


def to_target(model, value):
    """The number of a target, whose name may be given: PyGObject would cut a fraction off."""
    check_text(value, 'target')
    if isinstance(value, str) and model.target_names:
        if value not in model.target_names:
            raise ArgumentError(f'The model has no target “{value}”{advise(value, model.target_names)}')
        return model.target_names.index(value)
    if not hasattr(value, '__index__') or operator.index(value) < 0:
        raise ArgumentError(f'target must be a whole number from 0 on, or a name where targets have names, not {describe(value)}')
    return operator.index(value)


def describe_place(index):
    places = [f'{what} {i}' for what, i in zip(('row', 'column'), index)]
    return f'{", ".join(places) if len(index) <= len(places) else list(index)} (counted from 0)'


def find_shape(value, name):
    """The shape by the first entry at each depth: flatten() holds all the others against it."""
    shape = []
    while is_list(value):
        if len(shape) == _MAX_DEPTH:
            raise TypeError(f'{name} has more than {_MAX_DEPTH} lists within each other')
        shape.append(len(value))
        value = value[0] if len(value) > 0 else None
    return shape


def _is_double(number):
    try:
        float(number)
    except (OverflowError, ValueError):
        return False
    return True


def flatten(value, shape, name, index=()):
    """The numbers of nested lists, as doubles."""
    if not is_list(value):
        raise TypeError(f'{name} has {describe(value)} at {describe_place(index)}, not an array')
    if len(value) != shape[len(index)]:
        raise ValueError(f'{name} is ragged: the length at {describe_place(index)} is {len(value)}, '
                         f'but before it was {shape[len(index)]}')
    if len(index) < len(shape) - 1:
        return [number for i, item in enumerate(value) for number in flatten(item, shape, name, (*index, i))]

    for i, item in enumerate(value):
        if not isinstance(item, (int, float, numbers.Real, decimal.Decimal)):
            advice = ': make a table of all, such as a pandas.DataFrame' if isinstance(item, Mapping) else ''
            raise TypeError(f'{name} has {describe(item)} at {describe_place((*index, i))}, not a number{advice}')
    try:
        return [float(item) for item in value]
    except (OverflowError, ValueError):
        # The whole numbers of Python have no end, and decimals have NaNs that signal.
        i = next(i for i, item in enumerate(value) if not _is_double(item))
        raise ArgumentError(f'{name} has a number at {describe_place((*index, i))} which a double cannot hold') from None


def tensor_from_lists(value, name):
    if isinstance(value, numbers.Real):
        return Apr.Tensor.new_from_doubles([float(value)], [])
    if not is_list(value):
        raise TypeError(f'{name} must be numbers in lists, or an Apr.Tensor, not {describe(value)}')
    shape = find_shape(value, name)
    return Apr.Tensor.new_from_doubles(flatten(value, shape, name), shape)
