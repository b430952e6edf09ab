# SPDX-License-Identifier: LGPL-2.1-or-later
"""Asynchronous calls that take one block of the samples after the other."""

import contextlib

from gi.repository import GLib

from . import awaitable
from .errors import AprError


# What is reserved for a call that goes by blocks, and is not a caller's to release, by id: sums are no keys.
_reserved = set()


def _reserve(source):
    source.reserve()
    _reserved.add(id(source))


@contextlib.contextmanager
def reserving(source):
    """Makes the source busy while its samples are read and summed."""
    _reserve(source)
    try:
        yield
    finally:
        release(source)


def release(source):
    """Ends the reservation of a call that goes by blocks."""
    _reserved.discard(id(source))
    source.release()


def guarding(native_release):
    """A method that ends what a caller's reserve() began, and nothing else."""
    def call(self):
        if id(self) not in _reserved:
            native_release(self)

    call.__name__, call.__doc__ = native_release.__name__, native_release.__doc__
    return call


class Outcome:
    """What such a call came to: what a callback gets in place of GLib's result, and what the method finish takes."""

    def __init__(self, value=None, error=None):
        self._value, self._error = value, error

    def get(self):
        """What the call gives; raises what it raised."""
        if self._error is not None:
            raise self._error
        return self._value


def taking_outcomes(finish):
    """A method that ends a call: of GLib's, or one that went by blocks."""
    def call(self, result):
        return result.get() if isinstance(result, Outcome) else finish(self, result)

    call.__name__, call.__doc__ = finish.__name__, finish.__doc__
    return call


def call_whole(samples, start, finish, cancellable, callback, user_data):
    """Calls start(*tensors, cancellable, when_done) with all samples, which are read a block at a time in the main loop."""
    def start_whole(cancellable, when_done):
        blocks = samples.read()

        def read_block(_):
            try:
                if next(blocks, samples) is None:
                    return GLib.SOURCE_CONTINUE
                start(*samples.get_tensors(), cancellable, when_done)
            except BaseException as error:
                when_done(None, Outcome(error=error))
            return GLib.SOURCE_REMOVE

        if samples.blocks is None:
            start(*samples.get_tensors(), cancellable, when_done)
            return
        idle = GLib.Idle(GLib.PRIORITY_DEFAULT)
        idle.set_callback(read_block)
        idle.attach(GLib.MainContext.ref_thread_default())

    return awaitable.call(start_whole, finish, cancellable, callback, user_data)


def call(source, samples, begin, end, stop, cancellable, callback, user_data, reserves=False):
    """Goes through all blocks, and returns what can be awaited where there is no callback.

    begin(block, cancellable, ended) starts the work on a block, end(block, result) takes what it gives, and at last
    stop(cancellable, done) has done(outcome) called. With reserves, the source is busy from the call on, until stop()
    releases it.
    """
    def start(cancellable, when_done):
        def done(outcome):
            when_done(source, outcome)

        def fail(error):
            if reserves:
                release(source)
            done(Outcome(error=error))

        def end_block(block, result):
            try:
                end(block, result)
            except BaseException as error:
                fail(error)
            else:
                begin_block()

        def begin_block():
            try:
                block = next(samples.blocks, None)
                if block is None:
                    stop(cancellable, done)
                else:
                    begin(block, cancellable, lambda _, result: end_block(block, result))
            except BaseException as error:
                fail(error)

        if reserves:
            try:
                _reserve(source)
            except AprError as error:
                done(Outcome(error=error))
                return
        begin_block()

    return awaitable.call(start, lambda _, outcome: outcome.get(), cancellable, callback, user_data)
