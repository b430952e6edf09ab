# SPDX-License-Identifier: LGPL-2.1-or-later
"""The parts of the override Apr.py. Nothing here needs the typelib to be imported, so that pickles find pickling.py."""

from pkgutil import extend_path

# A build folder has reference.py, which is made, and the sources have the rest.
__path__ = extend_path(__path__, __name__)
