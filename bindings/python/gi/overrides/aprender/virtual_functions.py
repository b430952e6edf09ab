# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the virtual functions of a Python class return, checked: PyGObject reads past the end of a tuple that is too short."""

import functools
import operator
import reprlib
import types

from .native import Apr, make_error

_MAX_COUNT = 2**64 - 1


def _is_truth_value(result):
    # Of None and of false values the library makes an error that says that there is no reason.
    return not isinstance(result, (tuple, list))


def _is_tensor(result):
    return result is None or isinstance(result, Apr.Tensor)


def _is_count(number):
    try:
        return 0 <= operator.index(number) <= _MAX_COUNT
    except TypeError:
        return False


def _is_loaded(result):
    if not isinstance(result, tuple):
        return not result
    return len(result) == 3 and not isinstance(result[0], (tuple, list)) and all(map(_is_count, result[1:]))


_CHECKS = {
    'do_fit': (_is_truth_value, 'True'),
    'do_predict': (_is_tensor, 'an Apr.Tensor'),
    'do_save_tensors': (_is_truth_value, 'True'),
    'do_load_tensors': (_is_loaded, '(True, n_features, n_targets)'),
}


def _checked(function, accepts, expected):
    @functools.wraps(function)
    def call(self, *args):
        result = function(self, *args)
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
