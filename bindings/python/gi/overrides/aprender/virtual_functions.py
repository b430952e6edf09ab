# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the virtual functions of a Python class return, checked: PyGObject reads past the end of a tuple that is too short.
And what they raise, which reaches the caller: PyGObject would print it.
"""

import functools
import operator
import reprlib
import types

from gi.repository import GLib

from .errors import carry
from .native import Apr, make_error

_MAX_COUNT = 2**64 - 1


def _is_true(result):
    return not isinstance(result, (tuple, list)) and bool(result)


def _is_tensor(result):
    return isinstance(result, Apr.Tensor)


def _is_count(number):
    try:
        return 0 <= operator.index(number) <= _MAX_COUNT
    except TypeError:
        return False


def _is_loaded(result):
    return isinstance(result, tuple) and len(result) == 3 and _is_true(result[0]) and all(map(_is_count, result[1:]))


_CHECKS = {
    'do_fit': (_is_true, 'True'),
    'do_predict': (_is_tensor, 'an Apr.Tensor'),
    'do_save_tensors': (_is_true, 'True'),
    'do_load_tensors': (_is_loaded, '(True, n_features, n_targets)'),
}


def _checked(function, accepts, expected):
    @functools.wraps(function)
    def call(self, *args):
        try:
            result = function(self, *args)
        except GLib.Error:
            raise
        except BaseException as error:
            raise carry(error, f'{function.__name__} of {type(self).__name__}') from None
        if not accepts(result):
            raise make_error(Apr.Error.FAILED, f'{function.__name__} of {type(self).__name__} returned '
                                               f'{reprlib.repr(result)}, not {expected}')
        return result

    return call


def check_results(class_):
    """Has the virtual functions that a class defines raise where PyGObject could not take what they return."""
    for name, (accepts, expected) in _CHECKS.items():
        function = vars(class_).get(name)
        if isinstance(function, types.FunctionType):
            setattr(class_, name, _checked(function, accepts, expected))
