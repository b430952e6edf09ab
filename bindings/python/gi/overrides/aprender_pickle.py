# SPDX-License-Identifier: LGPL-2.1-or-later
"""What pickles of Apr's objects name: a module that a new process can import before it has loaded Apr."""

import gi


def _import():
    gi.require_version('Apr', '1.0')
    from gi.repository import Apr

    return Apr


def cross_products(data):
    """Makes the Apr.CrossProducts that were pickled."""
    return _import().CrossProducts.from_bytes(data)


def tensor(dtype, shape, data):
    """Makes the Apr.Tensor that was pickled."""
    Apr = _import()
    return Apr.Tensor.new_from_bytes(Apr.DType.from_string(dtype).dtype, shape, data)
