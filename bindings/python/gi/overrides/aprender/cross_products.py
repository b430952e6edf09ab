# SPDX-License-Identifier: LGPL-2.1-or-later
"""Apr.CrossProducts: rows in, and what is kept of them out."""

from __future__ import annotations

import os
import pickle

from gi.repository import GLib

from . import awaitable, pickling
from .arrow import get_stream
from .blocks import Outcome, call as call_blocks, guarding, release, taking_outcomes
from .errors import AprError
from .lists import count
from .memory import copy_bytes, view_bytes, wrap_bytes
from .native import Apr, extends
from .properties import add_attributes, add_constructor
from .samples import Samples, check_feature_names, check_target_names, explain, refuse_readers

_merge = Apr.CrossProducts.merge
_merge_bytes = Apr.CrossProducts.merge_bytes
_get_identities = Apr.CrossProducts.get_identities
_subtract = Apr.CrossProducts.subtract
_merge_async = Apr.CrossProducts.merge_async
_merge_bytes_async = Apr.CrossProducts.merge_bytes_async
_subtract_async = Apr.CrossProducts.subtract_async
_equal_async = Apr.CrossProducts.equal_async
_to_bytes_async = Apr.CrossProducts.to_bytes_async
_from_bytes_async = Apr.CrossProducts.from_bytes_async
_update = Apr.CrossProducts.update
native_update_async = Apr.CrossProducts.update_async
native_update_finish = Apr.CrossProducts.update_finish
_update_arrow = Apr.CrossProducts.update_arrow
_update_arrow_async = Apr.CrossProducts.update_arrow_async
_save = Apr.CrossProducts.save
_save_to_file_async = Apr.CrossProducts.save_to_file_async
_load_from_file_async = Apr.CrossProducts.load_from_file_async
_load = Apr.CrossProducts.load
_from_bytes = Apr.CrossProducts.from_bytes
_get_feature_names = Apr.CrossProducts.get_feature_names
_get_target_names = Apr.CrossProducts.get_target_names


def _update_block(state, samples, block, cancellable):
    start, *tensors = block
    try:
        awaitable.run(state, awaitable.count_products(*tensors[:2]), cancellable, lambda cancellable: _update(state, *tensors, cancellable),
                      lambda *args: native_update_async(state, *tensors, GLib.PRIORITY_DEFAULT, *args), native_update_finish)
    except AprError as error:
        raise explain(error, samples, start) from None


def _write(state, start, finish, argument, cancellable, callback, user_data):
    """A write that gives the state."""
    def give(state, result):
        finish(state, result)
        return state

    return awaitable.call(lambda *args: start(state, argument, GLib.PRIORITY_DEFAULT, *args),
                          give, cancellable, callback, user_data)


_BEFORE = 'the samples before had'


def _new_like(state):
    empty = Apr.CrossProducts.new_with_precision(state.n_features, state.n_targets, state.get_precision())
    empty.set_n_threads(state.get_n_threads())
    return empty


def _name(state, samples):
    """The names of tables are those of the features and targets from the first update on."""
    if samples.names is not None and state.get_feature_names() is None:
        state.set_feature_names(samples.names)
    if samples.target_names is not None and state.get_target_names() is None:
        state.set_target_names(samples.target_names)


def _check_names(state, samples):
    check_feature_names(state, samples.names)
    check_target_names(samples.target_names, state.get_target_names(), _BEFORE)


def _update_blocks_async(state, samples, cancellable, callback, user_data):
    """Sums up a block at a time beside the state, and adds the sums when all samples have been seen to be good."""
    sums = _new_like(state)

    def begin(block, cancellable, ended):
        native_update_async(sums, *block[1:], GLib.PRIORITY_DEFAULT, cancellable, ended)

    def end(block, result):
        try:
            native_update_finish(sums, result)
        except AprError as error:
            raise explain(error, samples, block[0]) from None

    def stop(cancellable, done):
        def merged(state, result):
            try:
                Apr.CrossProducts.merge_finish(state, result)
                _name(state, samples)
            except AprError as error:
                done(Outcome(error=error))
            else:
                done(Outcome(state))

        # Nobody sees the moment between the two.
        with state.freeze_notify():
            release(state)
            _merge_async(state, sums, GLib.PRIORITY_DEFAULT, cancellable, merged)

    return call_blocks(state, samples, begin, end, stop, cancellable, callback, user_data, reserves=True)


@extends(Apr.CrossProducts)
class Methods:
    """All that least squares needs of the data: exact sums of their products.

        state = Apr.CrossProducts.new(n_features, n_targets).update(X, y).update(more_X, more_y)
        model = Apr.LinearRegression().fit_cross_products(state)

    Rows may be added in any order, number of calls and machines: the same rows make equal states. merge(other)
    adds the rows of another state, as + and += and sum() do, subtract(other) takes them away, copy() and to_bytes()
    do as they say. Pickles of protocol 5 hand the sums over without a copy.

    Apr.CrossProducts.new_with_precision(n_features, n_targets, 'double') sums the products of each few hundred rows in
    double: faster for wide data, and no longer the same for any cut of the rows into calls.
    """

    # Equal states are equal by their sums, which change.
    __hash__ = None

    def update(self, X: Data, y: Target, sample_weight: Weights = None,
               cancellable: Gio.Cancellable | None = None) -> Self:
        """Adds samples, and returns the state.

        The columns' names of a data frame, where all are strings, become the names of the features; they must be the
        same in every update.
        """
        samples = Samples(X, y, sample_weight)
        _check_names(self, samples)
        if samples.blocks is None:
            _update_block(self, samples, (0, *samples.get_tensors()), cancellable)
        else:
            # Nothing is added before all samples have been seen to be good.
            state = _new_like(self)
            for block in samples.blocks:
                _update_block(state, samples, block, cancellable)
            self.merge(state)
        _name(self, samples)
        return self

    def update_arrow(self, X: ArrowStream, targets: list[str], sample_weight: str | None = None,
                     cancellable: Gio.Cancellable | None = None) -> Self:
        """Adds all samples of whatever hands out a stream of Arrow, and returns the state.

        targets and sample_weight name columns; all others are features. This needs neither numpy nor pyarrow, and some
        megabytes of memory, however many samples there are.
        """
        check_target_names(targets, self.get_target_names(), _BEFORE)
        capsule, address = get_stream(X)
        _update_arrow(self, address, targets, sample_weight, cancellable)
        del capsule
        return self

    def merge(self, other: Sum) -> Self:
        """Adds the samples of another state, which stays as it is, and returns this one."""
        if not isinstance(other, Apr.CrossProducts):
            raise TypeError(f'A state is merged with another state, not with {other!r}')
        check_target_names(other.get_target_names(), self.get_target_names(), 'this state has')
        _merge(self, other)
        return self

    def merge_bytes(self, data: Buffer) -> Self:
        """Adds the samples of a state that was sent as its bytes, and returns this one.

        What does not fit is found out from the header, before the sums are read.
        """
        _merge_bytes(self, wrap_bytes(data))
        return self

    def subtract(self, other: Sum) -> Self:
        """Takes the samples of another state away, which must have been added before, and returns this one."""
        _subtract(self, other)
        return self

    def __add__(self, other: Sum) -> CrossProducts:
        return self.copy().merge(other) if isinstance(other, Apr.CrossProducts) else NotImplemented

    def __radd__(self, other: int) -> CrossProducts:
        # What sum() begins with.
        return self.copy() if isinstance(other, int) and other == 0 else NotImplemented

    def __iadd__(self, other: Sum) -> Self:
        return self.merge(other) if isinstance(other, Apr.CrossProducts) else NotImplemented

    def update_async(self, X, y, sample_weight=None, cancellable=None, callback=None, *user_data):
        """Adds samples without blocking: `await state.update_async(X, y)` gives the state."""
        samples = Samples(X, y, sample_weight)
        _check_names(self, samples)
        if samples.blocks is not None:
            return _update_blocks_async(self, samples, cancellable, callback, user_data)

        def finish(state, result):
            try:
                native_update_finish(state, result)
            except AprError as error:
                raise explain(error, samples) from None
            _name(state, samples)
            return state

        return awaitable.call(
            lambda *args: native_update_async(self, *samples.get_tensors(), GLib.PRIORITY_DEFAULT, *args),
            finish, cancellable, callback, user_data)

    release = guarding(Apr.CrossProducts.release)

    update_finish = taking_outcomes(Apr.CrossProducts.update_finish)

    def update_arrow_async(self, X, targets, sample_weight=None, cancellable=None, callback=None, *user_data):
        """Adds the samples of a stream of Arrow without blocking: `await state.update_arrow_async(X, targets)`."""
        check_target_names(targets, self.get_target_names(), _BEFORE)
        capsule, address = get_stream(X)

        def begin(*args):
            # The stream is moved out of its capsule before this returns.
            _update_arrow_async(self, address, targets, sample_weight, GLib.PRIORITY_DEFAULT, *args)
            nonlocal capsule
            capsule = None

        def finish(state, result):
            Apr.CrossProducts.update_arrow_finish(state, result)
            return state

        return awaitable.call(begin, finish, cancellable, callback, user_data)

    def merge_async(self, other, cancellable=None, callback=None, *user_data):
        """Adds the samples of another state without blocking: `await state.merge_async(other)` gives the state."""
        return _write(self, _merge_async, Apr.CrossProducts.merge_finish, other, cancellable, callback, user_data)

    def merge_bytes_async(self, data, cancellable=None, callback=None, *user_data):
        """Adds the samples of a state that was sent without blocking: `await state.merge_bytes_async(data)`."""
        return _write(self, _merge_bytes_async, Apr.CrossProducts.merge_bytes_finish, wrap_bytes(data), cancellable,
                      callback, user_data)

    def subtract_async(self, other, cancellable=None, callback=None, *user_data):
        """Takes the samples of another state away without blocking: `await state.subtract_async(other)`."""
        return _write(self, _subtract_async, Apr.CrossProducts.subtract_finish, other, cancellable, callback, user_data)

    def equal_async(self, other, cancellable=None, callback=None, *user_data):
        """Compares without blocking: `await state.equal_async(other)` tells whether the two are equal."""
        return awaitable.call(
            lambda *args: _equal_async(self, other, GLib.PRIORITY_DEFAULT, *args),
            Apr.CrossProducts.equal_finish, cancellable, callback, user_data)

    def to_bytes_async(self, cancellable=None, callback=None, *user_data):
        """Makes the bytes of a file without blocking: `await state.to_bytes_async()` gives them."""
        return awaitable.call(
            lambda *args: _to_bytes_async(self, GLib.PRIORITY_DEFAULT, *args),
            Apr.CrossProducts.to_bytes_finish, cancellable, callback, user_data)

    @staticmethod
    def from_bytes_async(data, cancellable=None, callback=None, *user_data):
        """Reads sums from bytes without blocking: `await Apr.CrossProducts.from_bytes_async(data)` gives them."""
        return awaitable.call(
            lambda *args: _from_bytes_async(wrap_bytes(data), GLib.PRIORITY_DEFAULT, *args),
            lambda _, result: Apr.CrossProducts.from_bytes_finish(result), cancellable, callback, user_data)

    def save_to_file_async(self, file, cancellable=None, callback=None, *user_data):
        """Writes the sums to a Gio.File without blocking: `await state.save_to_file_async(file)`."""
        return awaitable.call(
            lambda *args: _save_to_file_async(self, file, GLib.PRIORITY_DEFAULT, *args),
            Apr.CrossProducts.save_to_file_finish, cancellable, callback, user_data)

    @staticmethod
    def load_from_file_async(file, cancellable=None, callback=None, *user_data):
        """Reads sums from a Gio.File without blocking: `await Apr.CrossProducts.load_from_file_async(file)` gives them."""
        return awaitable.call(
            lambda *args: _load_from_file_async(file, GLib.PRIORITY_DEFAULT, *args),
            lambda _, result: Apr.CrossProducts.load_from_file_finish(result), cancellable, callback, user_data)

    def get_feature_names(self) -> list[str] | None:
        """The names of the features as a list, or None where they have none."""
        return _get_feature_names(self) or None

    def get_target_names(self) -> list[str] | None:
        """The names of the targets as a list, or None where they have none."""
        return _get_target_names(self) or None

    @property
    def identities(self) -> list[str]:
        """The identities of the parts that the state was made of, which set_identity() gives."""
        return _get_identities(self) or []

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self.get_n_features()

    @property
    def n_targets(self) -> int:
        """The number of targets."""
        return self.get_n_targets()

    @property
    def n_samples(self) -> int:
        """The number of samples."""
        return self.get_n_samples()

    def save(self, path: Path) -> bool:
        """Writes the sums to a SafeTensors file."""
        return _save(self, os.fspath(path))

    @staticmethod
    def load(path: Path) -> CrossProducts:
        """Reads sums that were saved."""
        return _load(os.fspath(path))

    @staticmethod
    def from_bytes(data: Buffer) -> CrossProducts:
        """Reads sums from the bytes of a file, bytes or GLib.Bytes."""
        return _from_bytes(wrap_bytes(data))

    def __sizeof__(self):
        return object.__sizeof__(self) + self.get_n_bytes()

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __eq__(self, other: object) -> bool:
        return self.equal(other) if isinstance(other, Apr.CrossProducts) else NotImplemented

    def __reduce_ex__(self, protocol):
        data = self.to_bytes()
        return pickling.cross_products, (pickle.PickleBuffer(view_bytes(data)) if protocol >= 5 else copy_bytes(data),
                                         self.get_n_threads())

    def __repr__(self) -> str:
        return (f'<Apr.CrossProducts: {count(self.get_n_samples(), "sample")}, '
                f'{count(self.get_n_features(), "feature")}, {count(self.get_n_targets(), "target")}>')


refuse_readers(Apr.CrossProducts, 'update', 'update_async')
add_attributes(Apr.CrossProducts)
add_constructor(Apr.CrossProducts)
