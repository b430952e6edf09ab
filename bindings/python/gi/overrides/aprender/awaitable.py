# SPDX-License-Identifier: LGPL-2.1-or-later
"""Asynchronous methods: with a callback, as GLib has them; without one, to be awaited under asyncio or GLib's main loop."""

import contextlib
import os
import signal
import sys
import threading
import time

from gi.repository import Gio, GLib

# The number of products of two numbers from which on Ctrl-C is to end a call earlier than it ends by itself. So many take
# some milliseconds, beside which a thread's fraction of one counts little, and no more than two seconds where features
# depend on each other, or groups are small.
_LONG = 16 << 20
# So few values take no second, whatever they are.
_FEW = 2 << 10
# In a step with bounds one product counts as so many: its numbers may need many digits.
_PRODUCTS_PER_STEP = 32

# GLib's threads stay behind where a process is forked, as multiprocessing does.
_is_forked = False


def _note_fork():
    global _is_forked
    _is_forked = True


os.register_at_fork(after_in_child=_note_fork)

# How long after a call its caller has what it gave, in seconds.
_SOON = .05

# How long asyncio's loop does something else before GLib's main context may run again, in seconds.
_INTERVAL = 0.002


def _find_asyncio():
    """The module, where one of its loops runs here."""
    asyncio = sys.modules.get('asyncio')
    return asyncio if asyncio is not None and asyncio._get_running_loop() is not None else None


@contextlib.contextmanager
def _own_context():
    """The main context in which a call tells its progress and its end. Under asyncio in a thread other than the main one, the
    call gets a context of its own: the global context is run by the loops of other threads, too.
    """
    if threading.current_thread() is threading.main_thread() or _find_asyncio() is None or \
            GLib.MainContext.get_thread_default() is not None:
        yield GLib.MainContext.ref_thread_default()
        return
    context = GLib.MainContext()
    context.push_thread_default()
    try:
        yield context
    finally:
        context.pop_thread_default()


class Awaitable:
    """A call that runs. Awaiting it gives what the synchronous method returns, or raises what that raises.

    Under asyncio it lets GLib's main context run meanwhile. Without asyncio it gives itself to whoever drives the
    coroutine, who resumes the coroutine when add_done_callback() has called back. To asyncio.run() it is a coroutine.
    """

    _steps = None

    def __init__(self, start, finish, cancellable):
        self._cancellable = Gio.Cancellable() if cancellable is None else cancellable
        self._finish = finish
        self._callbacks = []
        self._outcome = None
        with _own_context() as self._context:
            start(self._cancellable, self._when_done)

    def _when_done(self, source, result):
        try:
            self._outcome = self._finish(source, result), None
        except BaseException as error:
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
        try:
            while not self.done():
                self._context.iteration(False)
                yield from asyncio.sleep(_INTERVAL).__await__()
        except asyncio.CancelledError:
            self.end()
            if self._outcome[1] is None:
                raise asyncio.CancelledError('the call had succeeded before it could be cancelled') from None
            raise
        except BaseException:
            self.end()
            raise

    def end(self):
        """Cancels the call, and waits until it has ended: the data are in use until then."""
        self.cancel()
        while not self.done():
            self._context.iteration(False)
            time.sleep(_INTERVAL)

    def __await__(self):
        asyncio = _find_asyncio()
        if asyncio is not None:
            yield from self._wait(asyncio)
        while not self.done():
            yield self
        return self.result()

    def send(self, value):
        """Goes on to where it waits again, as a coroutine does."""
        self._steps = self._steps or self.__await__()
        return self._steps.send(value)

    def throw(self, *error):
        """Raises an exception where it waits, as a coroutine does."""
        if self._steps is None:
            self.close()
        return (self._steps or self.__await__()).throw(*error)

    def close(self):
        """Ends the call, as a coroutine does that is not awaited any more."""
        if not self.done():
            self.end()


def _interrupt_soon():
    """As if Ctrl-C were pressed once the caller has what a call gave."""
    timer = threading.Timer(_SOON, signal.pthread_kill, (threading.get_ident(), signal.SIGINT))
    # A program that ends before needs no interruption.
    timer.daemon = True
    timer.start()


def _take_no_interrupts():
    """Gives Ctrl-C back to Python, which first runs the handlers of other signals, and changes nothing if one raises."""
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    except BaseException:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        raise


def count_products(X, y, model=None):
    """About how many products a call needs for samples: of each pair of features, or of samples where these are fewer and the
    coefficients of the model have no bounds. A product of these takes a sixteenth of the time. With bounds there is about a
    step for each feature, which solves for all of them, in as many digits as it takes.
    """
    has_bounds = getattr(model, 'positive', False)
    # To ask for more takes as long as a tenth of a small fit.
    if y is None or not has_bounds and X.get_n_elements() < _FEW and y.get_n_elements() < _FEW:
        return 0
    shape = X.shape
    if len(shape) != 2:
        return 0
    n_samples, n_features = shape
    n_others = n_features if n_features <= n_samples or has_bounds else n_samples / 16
    n_products = n_features * (n_samples * n_others + y.get_n_elements())
    return n_products + _PRODUCTS_PER_STEP * n_features ** 4 if has_bounds else n_products


def run(source, n_products, cancellable, call, start, finish, makes_busy=True):
    """Calls call(cancellable), which blocks. Where it needs many products, and nobody else can cancel it, starts the same
    without blocking, start(cancellable, when_done), and waits until the source is no longer busy, or until it has ended where
    the source can be used meanwhile: Python heeds Ctrl-C only between two calls of C. A call that ends in spite of Ctrl-C is
    not lost: KeyboardInterrupt is then raised soon after it.
    """
    if n_products < _LONG or cancellable is not None or _is_forked or \
            threading.current_thread() is not threading.main_thread() or \
            signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return call(cancellable)

    cancellable, is_interrupted, is_refused, ended = Gio.Cancellable(), False, False, {}

    def end(_, result):
        ended[None] = result

    def is_running():
        return not ended and (not makes_busy or source.busy or context.pending())

    def interrupt(*_):
        nonlocal is_interrupted
        is_interrupted = True
        cancellable.cancel()

    context = GLib.MainContext()
    try:
        signal.signal(signal.SIGINT, interrupt)
        context.push_thread_default()
        try:
            # What is busy tells when it is no longer. What is not has to be told by a function in C, which is called to its
            # end whatever the handler of another signal raises.
            try:
                start(cancellable, end if makes_busy else ended.setdefault)
            except (TypeError, ValueError):
                # An argument was refused, and nothing has begun.
                is_refused = True
                raise
            while is_running():
                context.iteration(True)
        except BaseException:
            # What the handler of another signal raises, such as that of a time-out: anywhere above.
            cancellable.cancel()
            while source.busy if makes_busy else not (ended or is_refused):
                context.iteration(False)
                time.sleep(_INTERVAL)
            raise
        finally:
            context.pop_thread_default()
        try:
            if not ended:
                raise InterruptedError('The handler of a signal raised an exception while the call ended')
            value = finish(source, ended.popitem()[1])
        except Exception:
            if is_interrupted:
                raise KeyboardInterrupt from None
            raise
    finally:
        _take_no_interrupts()
    if is_interrupted:
        _interrupt_soon()
    return value


async def _give(call):
    return await call


def call(start, finish, cancellable, callback, user_data):
    """Starts a call; start takes a cancellable and a callback. Returns what can be awaited where there is no callback.
    Where a loop of asyncio runs, a task ends the call even if nobody awaits it, and calls the callback where there is one.
    """
    asyncio = _find_asyncio()

    def call_back(source, result):
        callback(source, result, *user_data)

    if asyncio is None and callback is not None:
        start(cancellable, call_back)
        return None
    awaitable = Awaitable(start, finish if callback is None else call_back, cancellable)
    if asyncio is None:
        return awaitable
    task = asyncio.get_running_loop().create_task(_give(awaitable))
    # A task that is cancelled before it begins has not got to where it waits.
    task.add_done_callback(lambda _: awaitable.close())
    return task if callback is None else None
