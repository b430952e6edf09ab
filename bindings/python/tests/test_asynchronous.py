# SPDX-License-Identifier: LGPL-2.1-or-later
"""Asynchronous methods beside the tools of asyncio, which take them for what they are."""

import asyncio
import gc
import operator
import os
import random
import signal
import threading
import time
import unittest.mock
import weakref

import tap
from common import Apr, GLib, TestCase
from gi.repository import Gio

X, Y = [[1.0], [2.0], [3.0]], [1.0, 3.0, 5.0]


def make_zeros(n):
    """Samples of which a fit takes far longer than it takes to cancel it."""
    return [Apr.Tensor.new_from_bytes(Apr.DType.F32, shape, GLib.Bytes.new(bytes(4 * n * shape[-1])))
            for shape in ([n, 3], [n, 1])]


class Asyncio(TestCase):
    def test_wait(self):
        async def main():
            models = [Apr.LinearRegression() for _ in range(3)]
            done, pending = await asyncio.wait([model.fit_async(X, Y) for model in models], timeout=30)
            self.assertEqual({task.result() for task in done}, set(models))
            self.assertEqual(pending, set())
            self.assertEqual([list(model.coefficients) for model in models], [[2.0]] * 3)

        asyncio.run(asyncio.wait_for(main(), 60))

    def test_idioms(self):
        async def main():
            model = Apr.LinearRegression()
            self.assertIs(await asyncio.wait_for(model.fit_async(X, Y), 30), model)
            self.assertIs(await asyncio.shield(model.fit_async(X, Y)), model)
            self.assertEqual(await asyncio.gather(model.score_async(X, Y), model.score_async(X, Y)), [1.0, 1.0])
            self.assertEqual([await task for task in asyncio.as_completed([model.score_async(X, Y)])], [1.0])
            task = model.fit_async(X, Y)
            self.assertIs(asyncio.ensure_future(task), task)
            self.assertIsInstance(task, asyncio.Task)
            await task
            async with asyncio.timeout(30):
                self.assertEqual(list(await model.predict_async([[4]])), [7.0])

        asyncio.run(main())

    def test_run_without_a_coroutine_around_it(self):
        model = Apr.LinearRegression()
        self.assertIs(asyncio.run(model.fit_async(X, Y)), model)
        with self.assertRaisesRegex(ValueError, '4 samples, but y has 3'):
            asyncio.run(model.fit_async([*X, [4]], Y))

        async def group():
            async with asyncio.TaskGroup() as tasks:
                return tasks.create_task(call)

        call = model.score_async(X, Y)
        self.assertEqual(asyncio.run(group()).result(), 1.0)

    def test_busy(self):
        """A call that comes too early is no mistake about a file."""
        async def main():
            model = Apr.LinearRegression()
            task = model.fit_async(X, Y)
            with self.assertRaisesRegex(RuntimeError, 'being fitted already') as context:
                model.fit(X, Y)
            self.assertNotIsInstance(context.exception, OSError)
            self.assertTrue(context.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.PENDING))
            await task

        asyncio.run(main())

    def test_paths(self):
        async def main():
            model = Apr.LinearRegression(keep_state=True).fit(X, Y)
            path = self.make_directory() / 'model.safetensors'
            self.assertTrue(await model.save_to_file_async(path))
            self.assertEqual((await Apr.LinearRegression.load_from_file_async(str(path))).intercept, model.intercept)
            self.assertTrue(model.save_to_file(str(path)))
            self.assertEqual(Apr.LinearRegression.load_from_file(path).intercept, model.intercept)
            self.assertTrue(await model.cross_products.save_to_file_async(path))
            self.assertEqual(await Apr.CrossProducts.load_from_file_async(path), model.cross_products)

        asyncio.run(main())

    def test_forgotten_await(self):
        async def main():
            model = Apr.LinearRegression()
            model.fit_async(X, Y)
            gc.collect()
            while model.busy:
                await asyncio.sleep(0.01)
            self.assertEqual(list(model.coefficients), [2.0])
            return model.fit(X, Y)

        self.assertTrue(asyncio.run(asyncio.wait_for(main(), 60)).fitted)

    def test_callbacks(self):
        """Also of a call that has blocks, and of one that fails."""
        def ended(source, result, finish, *data):
            self.assertIsInstance(asyncio.current_task(), asyncio.Task)
            try:
                told.append((source, finish(result), *data))
            except GLib.Error as error:
                told.append((source, error.message, *data))

        async def main():
            model, state = Apr.LinearRegression(), Apr.CrossProducts.new(1, 1)
            self.assertIsNone(model.fit_async(X, Y, None, None, ended, model.fit_finish, 'a', 7))
            self.assertTrue(model.busy)
            while not told:
                await asyncio.sleep(.01)
            self.assertEqual((told.pop(), list(model.coefficients), model.busy), ((model, True, 'a', 7), [2.0], False))
            model.fit_async([*X, [4]], Y, None, None, ended, model.fit_finish)
            state.update_async(X, Y, None, None, ended, state.update_finish)
            while len(told) < 2 or model.busy or state.busy:
                await asyncio.sleep(.01)
            self.assertIn('4 samples, but y has 3', next(text for source, text in told if source is model))
            self.assertEqual(state.n_samples, 3)

        told = []
        asyncio.run(asyncio.wait_for(main(), 60))

    def test_callback_when_the_loop_ends_first(self):
        async def main():
            model.fit_async(*samples, None, None, lambda *arguments: told.append(arguments), 'a')

        samples, told = make_zeros(5000000), []
        model = Apr.LinearRegression().fit(X, Y)
        asyncio.run(main())
        self.assertFalse(model.busy)
        (source, result, data), = told
        self.assertEqual((source, data), (model, 'a'))
        with self.assertRaises(GLib.Error) as context:
            model.fit_finish(result)
        self.assertTrue(context.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))

    def test_callback_that_fails(self):
        async def main():
            asyncio.get_running_loop().set_exception_handler(lambda _, context: logged.append(context['exception']))
            model = Apr.LinearRegression()
            model.fit_async(X, Y, None, None, lambda *_: 1 / 0)
            while model.busy or not logged:
                gc.collect()
                await asyncio.sleep(.01)

        logged = []
        asyncio.run(asyncio.wait_for(main(), 60))
        self.assertIsInstance(logged[0], ZeroDivisionError)

    def test_forgotten_error_is_logged(self):
        async def main():
            asyncio.get_running_loop().set_exception_handler(lambda _, context: logged.append(context['exception']))
            model = Apr.LinearRegression()
            task = model.fit_async([*X, [4]], Y)
            while not task.done():
                await asyncio.sleep(0.01)

        logged = []
        asyncio.run(asyncio.wait_for(main(), 60))
        gc.collect()
        self.assertRegex(str(logged), '4 samples, but y has 3')

    def test_loop_ends_first(self):
        async def main():
            model.fit_async(*samples)

        samples = make_zeros(5000000)
        model = Apr.LinearRegression().fit(X, Y)
        asyncio.run(main())
        self.assertFalse(model.busy)
        self.assertEqual(list(model.coefficients), [2.0])

    def test_cancelled_before_it_is_awaited(self):
        async def main():
            cancellable = Gio.Cancellable()
            task = model.fit_async(*samples, cancellable=cancellable)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertTrue(cancellable.is_cancelled())
            self.assertFalse(model.busy)

        samples = make_zeros(5000000)
        model = Apr.LinearRegression().fit(X, Y)
        asyncio.run(main())
        self.assertEqual(list(model.coefficients), [2.0])

    def test_cancelled_when_it_has_succeeded(self):
        async def main():
            for _ in range(100):
                task = total.merge_async(part)
                await asyncio.sleep(0)
                time.sleep(.05)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError) as raised:
                    await task
                if total.n_samples > 0:
                    return str(raised.exception)
            return 'Each call was cancelled before it had succeeded'

        total, part = Apr.CrossProducts.new(1, 1), Apr.CrossProducts.new(1, 1).update(X, Y)
        self.assertEqual(asyncio.run(main()), 'the call had succeeded before it could be cancelled')

    def test_exceptions_that_end_programs(self):
        class Ending(Apr.Estimator):
            def do_fit(self, *_):
                raise cause

        for cause in KeyboardInterrupt('now'), GeneratorExit('now'), SystemExit(3):
            with self.assertRaises(type(cause)) as raised:
                asyncio.run(Ending().fit_async(X, Y))
            self.assertIs(raised.exception, cause)

    def test_loops_of_several_threads(self):
        async def main():
            for _ in range(20):
                model = Apr.LinearRegression()
                thread = threading.get_ident()
                model.connect('notify', lambda *_: told.append(threading.get_ident() == thread))
                await model.fit_async(X, Y)
                self.assertEqual(list(model.coefficients), [2.0])

        told = []
        threads = [threading.Thread(target=asyncio.run, args=(main(),)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertGreater(len(told), 80)
        self.assertTrue(all(told))

    def test_thrown_into_before_it_waits(self):
        model = Apr.LinearRegression().fit(X, Y)
        call = model.fit_async(*make_zeros(5000000))
        with self.assertRaises(KeyboardInterrupt):
            call.throw(KeyboardInterrupt())
        self.assertFalse(model.busy)
        call = model.fit_async(*make_zeros(5000000))
        call.close()
        self.assertFalse(model.busy)
        self.assertEqual(list(model.coefficients), [2.0])


def make_dependent():
    """Samples of 270 features, all of them sums of the same 265: they take long to solve, few as they are."""
    numbers = random.Random(2)
    rows, parts = ([[numbers.randint(-9, 9) for _ in range(265)] for _ in range(n)] for n in (280, 270))
    X = [[float(sum(map(operator.mul, row, part))) for part in parts] for row in rows]
    return Apr.Tensor(X), Apr.Tensor([numbers.random() for _ in rows])


def make_far_apart():
    """A few samples of 60 features that are up to 500 powers of ten apart."""
    numbers = random.Random(1)
    scales = [10. ** numbers.randint(-150, 149) for _ in range(60)]
    X = [[round(numbers.gauss(0, 1)) * 10. ** numbers.randint(-100, 99) * scale for scale in scales] for _ in range(20)]
    return Apr.Tensor(X), Apr.Tensor([numbers.gauss(0, 1) for _ in X])


class Interrupted(TestCase):
    """Ctrl-C in a method that blocks, when the work is on its way, which its progress tells."""

    def assertInterrupted(self, make, call, is_unchanged):
        """A call that has ended before the signal comes is done again."""
        for _ in range(20):
            source, timers = make(), []

            def ask(*_, timers=timers):
                if not timers:
                    timers.append(threading.Timer(.001, os.kill, (os.getpid(), signal.SIGINT)))
                    timers[0].start()

            source.connect('notify::progress', ask)
            try:
                call(source)
                timers[0].join()
                time.sleep(1)
            except KeyboardInterrupt:
                pass
            self.assertFalse(source.busy)
            if is_unchanged(source):
                return
        self.fail('Each call went on to its end')

    def test_fits(self):
        X, y = make_zeros(5000000)
        more = [[1.], [3.]] * 2
        self.assertInterrupted(lambda: Apr.LinearRegression().fit(more, Y + [5.]), lambda model: model.fit(X, y),
                               lambda model: model.n_features == 1)
        self.assertInterrupted(lambda: Apr.LinearRegression().fit([[1., 2, 5]], [1.]), lambda model: model.partial_fit(X, y),
                               lambda model: model.cross_products.n_samples == 1)

    def test_bounds(self):
        X, y = make_far_apart()
        self.assertInterrupted(lambda: Apr.LinearRegression(positive=True).fit([[1., 2, 5]], [1.]),
                               lambda model: model.fit(X, y), lambda model: model.n_features == 3)

    def test_sums(self):
        X, y = make_zeros(5000000)
        self.assertInterrupted(lambda: Apr.CrossProducts.new(3, 1), lambda state: state.update(X, y),
                               lambda state: state.n_samples == 0)

    def assertEndsSoon(self, call):
        """That Ctrl-C in a call cancels it. A call that has not begun, or has ended, when the signal comes is done again: the
        time until then grows, and begins anew, as a short call may be missed on a busy machine.
        """
        for i in range(120):
            cause, timer = None, threading.Timer(.002 * 1.3 ** (i % 24), os.kill, (os.getpid(), signal.SIGINT))
            try:
                timer.start()
                call()
                timer.join()
                time.sleep(1)
            except KeyboardInterrupt as error:
                cause = error.__context__
            timer.join()
            self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)
            if isinstance(cause, GLib.Error):
                self.assertTrue(cause.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED), cause)
                return
        self.fail('No call was cancelled')

    def test_few_samples_that_take_long(self):
        X, y = make_dependent()
        state = Apr.CrossProducts.new(270, 1).update(X, y)
        model = Apr.LinearRegression().fit([[1.], [2.]], [1., 2.])
        for call in (lambda: model.fit(X, y), lambda: Apr.LinearRegression(positive=True).fit(X, y),
                     lambda: Apr.LinearRegression().partial_fit(X, y), lambda: model.fit_cross_products(state)):
            self.assertEndsSoon(call)
        self.assertEqual((model.n_features, model.busy), (1, False))

    def test_calls_that_go_through_the_samples_again(self):
        numbers = random.Random(3)
        X = Apr.Tensor([[numbers.random() for _ in range(20)] for _ in range(40000)])
        y = Apr.Tensor([numbers.random() for _ in range(40000)])
        model = Apr.LinearRegression(n_threads=1).fit(X, y)
        groups = [i // 2 for i in range(40000)]
        # Each call has to sum the samples.
        folds = iter([Apr.Folds(X, y) for _ in range(240)])
        for call in (lambda: model.get_robust_statistics(X, y), lambda: model.diagnose(X, y),
                     lambda: model.fit_groups(X, y, groups), lambda: model.cross_validate(next(folds)),
                     lambda: model.cross_predict(next(folds))):
            self.assertEndsSoon(call)
        self.assertFalse(model.busy)
        self.assertEqual(len(model.diagnose(X, y).residuals), 40000)

    def test_categories(self):
        text = GLib.Bytes.new(b'a,b\n' + b'red,blue\n' * 3000000)

        def read():
            reader = Apr.TableReader.new(Gio.MemoryInputStream.new_from_bytes(text), 'table')
            reader.n_threads = 1
            return reader.read_categories(['a', 'b'])

        self.assertEqual(read(), ['a=red', 'b=blue'])
        self.assertEndsSoon(read)

    def test_small_fits_start_no_thread(self):
        X, y = [[float(i * j % 7) for j in range(5)] for i in range(100)], [float(i) for i in range(100)]
        model = Apr.LinearRegression()
        with unittest.mock.patch.object(Gio, 'Cancellable', side_effect=AssertionError):
            model.fit(X, y).partial_fit(X, y).fit_cross_products(model.cross_products).fit(X, y)
            model.get_robust_statistics(X, y), model.diagnose(X, y), model.fit_groups(X, y, [0, 1] * 50)
            model.cross_validate(Apr.Folds(X, y)), model.cross_predict(Apr.Folds(X, y))

    def test_at_the_end(self):
        """A call that has done its work gives it, and the interruption follows."""
        X, y = make_zeros(5000000)
        for source, call in ((Apr.LinearRegression(keep_state=True), lambda model: model.fit(X, y)),
                             (Apr.LinearRegression(keep_state=True), lambda model: model.partial_fit(X, y)),
                             (Apr.CrossProducts.new(3, 1), lambda state: state.update(X, y))):
            def interrupt(source, _):
                if not source.busy:
                    os.kill(os.getpid(), signal.SIGINT)

            handler = source.connect('notify::busy', interrupt)
            self.assertIs(call(source), source)
            with self.assertRaises(KeyboardInterrupt):
                time.sleep(10)
            source.disconnect(handler)
            self.assertEqual(getattr(source, 'cross_products', source).n_samples, y.get_n_elements())
            self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_another_signal(self):
        """What its handler raises goes through, and the model and the sums can be used again."""
        def give_up(*_):
            raise TimeoutError

        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, give_up))
        X, y = make_zeros(5000000)
        for source, call in ((Apr.LinearRegression(), lambda model: model.fit(X, y)),
                             (Apr.CrossProducts.new(3, 1), lambda state: state.update(X, y))):
            signal.setitimer(signal.ITIMER_REAL, .001)
            try:
                call(source)
                time.sleep(.01)
            except (TimeoutError, InterruptedError):
                pass
            call(source)
            self.assertFalse(source.busy)

        X = Apr.Tensor([[float(i * j % 97) for j in range(1, 11)] for i in range(40000)])
        model = Apr.LinearRegression().fit(X, list(range(40000)))
        for i in range(20):
            signal.setitimer(signal.ITIMER_REAL, .002 * (i + 1))
            try:
                model.diagnose(X, list(range(40000)))
                time.sleep(.05)
            except TimeoutError:
                pass

    def test_another_signal_at_the_very_end(self):
        """CPython runs the handlers of other signals before it sets one, and sets none if one of them raises."""
        X, y = make_zeros(5000000)
        set_handler, n_raised = signal.signal, 0

        def set_or_raise(number, handler):
            nonlocal n_raised
            if handler is signal.default_int_handler and n_raised == 0:
                n_raised += 1
                raise TimeoutError
            return set_handler(number, handler)

        self.addCleanup(set_handler, signal.SIGINT, signal.default_int_handler)
        with unittest.mock.patch.object(signal, 'signal', set_or_raise):
            self.assertRaises(TimeoutError, Apr.LinearRegression().fit, X, y)
        self.assertEqual((signal.getsignal(signal.SIGINT), n_raised), (signal.default_int_handler, 1))

    def test_errors_hold_no_data(self):
        X, y = make_zeros(5000000)
        with self.assertRaises(ValueError):
            Apr.LinearRegression().fit(X, [1.])
        kept = weakref.ref(X)
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        with self.assertRaises(ValueError):
            Apr.LinearRegression().fit(X, Apr.Tensor.new_from_doubles([1.], [1]))
        del X
        self.assertIsNone(kept())

    def test_a_forked_process_has_no_threads_to_wait_for(self):
        X, y = make_zeros(5000000)
        expected = Apr.LinearRegression().fit(X, y)
        child = os.fork()
        if child == 0:
            status = 2
            try:
                status = Apr.LinearRegression(n_threads=1).fit(X, y).get_coefficients() != expected.get_coefficients()
            finally:
                os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


if __name__ == '__main__':
    tap.main()
