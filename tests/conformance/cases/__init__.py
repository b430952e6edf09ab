# SPDX-License-Identifier: LGPL-2.1-or-later
"""The table of the corpus: one module to a subject, one row to a file."""

from . import attacks, fields, grammar, metadata, names, numbers, places, prefix, sizes

CASES = [case for module in (prefix, grammar, names, metadata, fields, numbers, sizes, places, attacks)
         for case in module.CASES]
