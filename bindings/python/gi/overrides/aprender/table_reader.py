# SPDX-License-Identifier: LGPL-2.1-or-later
"""Apr.TableReader: a table in, batches of its rows out."""

from __future__ import annotations

import math

from gi.repository import GLib

from . import awaitable
from .native import Apr, extends
from .properties import add_attributes, add_constructor

_read = Apr.TableReader.read
_read_async = Apr.TableReader.read_async
_read_finish = Apr.TableReader.read_finish
_read_names_async = Apr.TableReader.read_names_async
_read_categories = Apr.TableReader.read_categories
_read_categories_async = Apr.TableReader.read_categories_async
_read_categories_finish = Apr.TableReader.read_categories_finish


def _to_rows(read):
    """X, y and the weights, of which some may be None; None where there are no more rows."""
    has_rows, *tensors = read
    return tuple(tensors) if has_rows else None


@extends(Apr.TableReader)
class Methods:
    """Reads a table, such as a file of comma-separated values, and gives batches of rows.

        reader = Apr.TableReader.new_for_file(Gio.File.new_for_path('rents.csv'), None)
        reader.targets = ['rent']
        for X, y, weights in reader:
            state.update(X, y, weights)

    Without blocking, `async for X, y, weights in reader` does the same.
    """

    def read(self, cancellable: Gio.Cancellable | None = None) -> tuple[Tensor, Tensor | None, Tensor | None] | None:
        """The next rows: X, y, None without targets, and weights, None without them. None where there are no more."""
        return _to_rows(_read(self, cancellable))

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor | None, Tensor | None]]:
        while (rows := self.read()) is not None:
            yield rows

    async def __aiter__(self) -> AsyncIterator[tuple[Tensor, Tensor | None, Tensor | None]]:
        while (rows := await self.read_async()) is not None:
            yield rows

    def read_async(self, cancellable=None, callback=None, *user_data):
        """The next rows without blocking: `await reader.read_async()` gives what read() gives."""
        return awaitable.call(
            lambda *args: _read_async(self, GLib.PRIORITY_DEFAULT, *args),
            lambda reader, result: _to_rows(_read_finish(reader, result)), cancellable, callback, user_data)

    def read_names_async(self, cancellable=None, callback=None, *user_data):
        """Reads the names of the columns without blocking: `await reader.read_names_async()`, and `names` has them."""
        return awaitable.call(
            lambda *args: _read_names_async(self, GLib.PRIORITY_DEFAULT, *args),
            Apr.TableReader.read_names_finish, cancellable, callback, user_data)

    def read_categories(self, columns: Sequence[str], cancellable: Gio.Cancellable | None = None) -> list[str]:
        """Reads the whole table for the different texts in some columns, and names a feature for each, such as `color=red`."""
        # How long the table is nobody knows.
        return awaitable.run(
            self, math.inf, cancellable, lambda cancellable: _read_categories(self, columns, cancellable),
            lambda *args: _read_categories_async(self, columns, GLib.PRIORITY_DEFAULT, *args), _read_categories_finish, False)

    def read_categories_async(self, columns, cancellable=None, callback=None, *user_data):
        """The categories of columns of text: `await reader.read_categories_async(columns)` gives features to ask for."""
        return awaitable.call(
            lambda *args: _read_categories_async(self, columns, GLib.PRIORITY_DEFAULT, *args),
            _read_categories_finish, cancellable, callback, user_data)


add_attributes(Apr.TableReader)
add_constructor(Apr.TableReader)
