# SPDX-License-Identifier: LGPL-2.1-or-later
"""Asynchronous methods: with a callback, as GLib has them; without one, to be awaited under asyncio or GLib's main loop."""

import sys
import time

from gi.repository import Gio, GLib

# How long asyncio's loop does something else before GLib's main context may run again, in seconds.
_INTERVAL = 0.002


def _find_asyncio():
    """The module, where one of its loops runs here."""
    asyncio = sys.modules.get('asyncio')
    return asyncio if asyncio is not None and asyncio._get_running_loop() is not None else None


class Awaitable:
    """A call that runs. Awaiting it gives what the synchronous method returns, or raises what that raises.

    Under asyncio it lets GLib's main context run meanwhile. Without asyncio it gives itself to whoever drives the
    coroutine, who resumes the coroutine when add_done_callback() has called back.
    """

    def __init__(self, start, finish, cancellable):
        self._cancellable = Gio.Cancellable() if cancellable is None else cancellable
        self._finish = finish
        self._callbacks = []
        self._outcome = None
        start(self._cancellable, self._when_done)

    def _when_done(self, source, result):
        try:
            self._outcome = self._finish(source, result), None
        except Exception as error:
            self._outcome = None, error
        for callback in self._callbacks:
            callback(self)

    def done(self):
        """Whether the call has ended."""
        return self._outcome is not None

    def cancel(self):
        """Cancels the call, which then ends soon."""
        self._cancellable.cancel()

    def result(self):
        """What the call returned; raises what it raised."""
        value, error = self._outcome
        if error is not None:
            raise error
        return value

    def add_done_callback(self, function):
        """Has function(self) called when the call has ended, at once if it has."""
        if self.done():
            function(self)
        else:
            self._callbacks.append(function)

    def _wait(self, asyncio):
        context = GLib.MainContext.ref_thread_default()
        try:
            while not self.done():
                context.iteration(False)
                yield from asyncio.sleep(_INTERVAL).__await__()
        except BaseException:
            # The data are in use until the call has ended.
            self.cancel()
            while not self.done():
                context.iteration(False)
                time.sleep(_INTERVAL)
            raise

    def __await__(self):
        asyncio = _find_asyncio()
        if asyncio is not None:
            yield from self._wait(asyncio)
        while not self.done():
            yield self
        return self.result()


def call(start, finish, cancellable, callback, user_data):
    """Starts a call; start takes a cancellable and a callback. Returns what can be awaited where there is no callback."""
    if callback is None:
        return Awaitable(start, finish, cancellable)
    start(cancellable, lambda source, result: callback(source, result, *user_data))
    return None
