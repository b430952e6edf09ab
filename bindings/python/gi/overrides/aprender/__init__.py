# SPDX-License-Identifier: LGPL-2.1-or-later
"""The parts of the override Apr.py. Nothing here needs the typelib to be imported, so that pickles find pickling.py."""
