# SPDX-License-Identifier: LGPL-2.1-or-later
"""Linear regression with correctly rounded answers, and SafeTensors files: gi.repository.Apr, under its own name.

    import aprender

    model = aprender.LinearRegression().fit(X, y)

Where the package was installed by pip, it brings the library along; to import it once makes `from gi.repository import
Apr` work too.
"""

import ctypes as _ctypes
import pathlib as _pathlib

import gi as _gi

_here = _pathlib.Path(__file__).parent
if (_here / 'Apr-1.0.typelib').exists():
    _gi.require_version('GIRepository', '3.0' if _gi.version_info >= (3, 51) else '2.0')
    from gi.repository import GIRepository

    # The typelib names the library, which is found where it has been loaded already.
    _library = _ctypes.CDLL(str(next(_here.glob('libaprender-1.0.so.*'))), mode=_ctypes.RTLD_GLOBAL)
    _repository = GIRepository.Repository
    _repository = _repository.dup_default() if hasattr(_repository, 'dup_default') else _repository
    _repository.prepend_search_path(str(_here))

_gi.require_version('Apr', '1.0')
from gi.repository import Apr  # noqa: E402
from gi.overrides.aprender.errors import (AprError, ArgumentError, DataError, NoMemoryError,  # noqa: E402, F401
                                          NotFittedError, TensorNotFoundError)

__version__ = Apr.__version__


def __getattr__(name):
    if name.startswith('__'):
        raise AttributeError(name)
    return getattr(Apr, name)


def __dir__():
    return sorted(set(dir(Apr)) | set(globals()))
