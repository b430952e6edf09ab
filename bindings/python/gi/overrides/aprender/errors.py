# SPDX-License-Identifier: LGPL-2.1-or-later
"""What Apr raises: GLib.Errors that are also the exceptions which Python has for the same mistake. And what it warns of."""

import errno
import functools
import itertools
import math
import os
import re
import sys
import threading
import warnings

from gi.repository import Gio, GLib

# The codes of Apr.Error that have an exception of their own; this module is imported without the typelib.
NOT_FITTED = 6
FAILED = 9
NO_MEMORY = 12
# That of Apr.SafetensorsError.
TENSOR_NOT_FOUND = 16

_APR = 'apr-error-quark'
_SAFETENSORS = 'apr-safetensors-error-quark'
_IO = 'g-io-error-quark'
_FILE = 'g-file-error-quark'


class AprError(GLib.Error):
    """A failure, whose text is its message. matches (Apr.error_quark (), Apr.Error.SHAPE) tells which."""

    __module__ = 'aprender'

    def __str__(self):
        return self.message

    def __repr__(self):
        return f'{type(self).__name__}({self.message!r})'

    def __reduce__(self):
        return make, (self.message, self.domain, self.code)


class DataError(AprError, ValueError):
    """Arguments, data or a file that are not as they must be."""

    __module__ = 'aprender'


class NotFittedError(DataError):
    """A model that has not been fitted yet; scikit-learn's NotFittedError too, where that has been imported."""

    __module__ = 'aprender'


class ArgumentError(TypeError, ValueError):
    """An argument of a kind that a function cannot work with."""

    __module__ = 'aprender'

    def __init__(self, message, column=None):
        super().__init__(message)
        # The name of a column that does not hold numbers, and what it holds.
        self.column = column


class NoMemoryError(AprError, MemoryError):
    """No memory for what was asked for."""

    __module__ = 'aprender'


class TensorNotFoundError(AprError, KeyError):
    """A name that no tensor of a file has."""

    __module__ = 'aprender'


_ERRNOS = {
    _IO: {
        Gio.IOErrorEnum.NOT_FOUND: errno.ENOENT,
        Gio.IOErrorEnum.EXISTS: errno.EEXIST,
        Gio.IOErrorEnum.IS_DIRECTORY: errno.EISDIR,
        Gio.IOErrorEnum.NOT_DIRECTORY: errno.ENOTDIR,
        Gio.IOErrorEnum.PERMISSION_DENIED: errno.EACCES,
        Gio.IOErrorEnum.NO_SPACE: errno.ENOSPC,
        Gio.IOErrorEnum.TIMED_OUT: errno.ETIMEDOUT,
    },
    _FILE: {
        GLib.FileError.NOENT: errno.ENOENT,
        GLib.FileError.EXIST: errno.EEXIST,
        GLib.FileError.ISDIR: errno.EISDIR,
        GLib.FileError.NOTDIR: errno.ENOTDIR,
        GLib.FileError.ACCES: errno.EACCES,
        GLib.FileError.PERM: errno.EPERM,
        GLib.FileError.NOSPC: errno.ENOSPC,
    },
}
# Not a file is wrong with these, but what it holds, or an argument.
_DATA_ERRORS = [int(code) for code in (Gio.IOErrorEnum.INVALID_DATA, Gio.IOErrorEnum.INVALID_ARGUMENT)]
# Nor with these, which are of calls.
_CALL_ERRORS = [int(code) for code in (Gio.IOErrorEnum.CANCELLED, Gio.IOErrorEnum.PENDING)]
_ERRNOS = {domain: {int(code): number for code, number in codes.items()} for domain, codes in _ERRNOS.items()}


@functools.lru_cache(maxsize=None)
def _find_file_error(number):
    base = type(OSError(number, '')) if number else OSError
    return type(base.__name__, (AprError, base), {'__module__': 'aprender', '__doc__': 'A file that cannot be used.'})


@functools.lru_cache(maxsize=None)
def _find_sklearn_error(base):
    return type('NotFittedError', (NotFittedError, base), {'__module__': 'aprender', '__doc__': NotFittedError.__doc__})


def _find_not_fitted():
    sklearn = sys.modules.get('sklearn.exceptions')
    return NotFittedError if sklearn is None else _find_sklearn_error(sklearn.NotFittedError)


def make(message, domain, code):
    """The exception for what GLib calls a domain and a code."""
    if domain == _IO and code in _DATA_ERRORS:
        return DataError(message, domain, code)
    if domain in _ERRNOS and (domain != _IO or code not in _CALL_ERRORS):
        number = _ERRNOS[domain].get(code)
        error = _find_file_error(number)(message, domain, code)
        if number is not None:
            error.errno, error.strerror = number, os.strerror(number)
        return error

    if domain == _APR:
        kind = (_find_not_fitted() if code == NOT_FITTED else
                {FAILED: AprError, NO_MEMORY: NoMemoryError}.get(code, DataError))
    elif domain == _SAFETENSORS:
        kind = TensorNotFoundError if code == TENSOR_NOT_FOUND else DataError
    else:
        kind = AprError
    return kind(message, domain, code)


def warn(text, category=UserWarning):
    """Warns whoever called the library."""
    level, folder = 1, os.path.dirname(__file__)
    while os.path.dirname(sys._getframe(level).f_code.co_filename) == folder:
        level += 1
    warnings.warn(text, category, stacklevel=level + 1)


def check_r2(value):
    """The same number; warns in scikit-learn's words where R² is not defined."""
    if math.isnan(value):
        sklearn = sys.modules.get('sklearn.exceptions')
        warn('R^2 score is not well-defined with less than two samples.',
             UserWarning if sklearn is None else sklearn.UndefinedMetricWarning)
    return value


# What Python's functions have raised that C calls, by number, with the thread and the message of the GLib.Error that takes it
# through C. The oldest of a thread are of calls whose errors nobody has asked for.
_raised = {}
_MAX_RAISED = 16
_numbers = itertools.count()


def carry(exception, function):
    """The GLib.Error of an exception that a function raised which C has called: translate() gives the exception."""
    message, thread = f'{function} raised {type(exception).__name__}: {exception}', threading.get_ident()
    _raised[next(_numbers)] = thread, message, exception
    for oldest in [number for number, entry in list(_raised.items()) if entry[0] == thread][:-_MAX_RAISED]:
        _raised.pop(oldest, None)
    return make(message, _APR, FAILED)


def _take_raised(message):
    """What a function raised with this message: the latest in this thread, or else in another, in which C called it. C may put
    before the message where it did, such as in which fold: that becomes a note.
    """
    found = [(thread == threading.get_ident(), number) for number, (thread, text, _) in list(_raised.items())
             if message.endswith(text)]
    _, text, exception = _raised.pop(max(found)[1], (None,) * 3) if found else (None,) * 3
    if exception is not None and message != text and hasattr(exception, 'add_note'):
        exception.add_note(message[:-len(text)].removesuffix(': '))
    return exception


def translate(error):
    """The exception that says the same as a GLib.Error, with a hyper-parameter called as Python calls it."""
    raised = _take_raised(error.message)
    if raised is not None:
        return raised
    if isinstance(error, AprError):
        return error
    message = re.sub(r'(?<=hyper-parameter )[a-z]+(-[a-z]+)+', lambda match: match.group().replace('-', '_'), error.message)
    return make(message, error.domain, error.code)
