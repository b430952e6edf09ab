# SPDX-License-Identifier: LGPL-2.1-or-later
import asyncio
import copy
import fractions
import hashlib
import math
import os
import random
import struct
import subprocess
import sys
import threading
import unittest.mock

import tap
from common import EXAMPLES, Apr, Gio, GLib, GObject, TestCase, needs_numpy, numpy, read_longley
from gi.overrides.aprender import linear_regression

# NIST's certified values for Longley's data: the intercept, then the coefficients.
LONGLEY = [-3482258.63459582, 15.0618722713733, -0.0358191792925910, -2.02022980381683, -1.03322686717359,
           -0.0511041056535807, 1829.15146461355]
LONGLEY_R_SQUARED = 0.995479004577296


class Scaled(Apr.LinearRegression):
    """A linear regression whose predictions are multiplied by a hyper-parameter of its own."""

    __gtype_name__ = 'AprTestScaled'

    factor = GObject.Property(type=float, default=1, minimum=0, maximum=100)

    def do_fit(self, X, y, sample_weight, cancellable):
        self.n_fits = getattr(self, 'n_fits', 0) + 1
        return Apr.LinearRegression.do_fit(self, X, y, sample_weight, cancellable)

    def do_predict(self, X):
        predictions = Apr.LinearRegression.do_predict(self, X)
        return Apr.Tensor([self.factor * prediction for prediction in predictions])


def to_float32(value):
    """The nearest float to a rational number, found without rounding to a double first."""
    low, high = 0, 0x7f800000
    if value < 0:
        return -to_float32(-value)
    unpack = lambda bits: struct.unpack('<f', struct.pack('<I', bits))[0]  # noqa: E731
    while high - low > 1:
        middle = (low + high) // 2
        if fractions.Fraction(unpack(middle)) <= value:
            low = middle
        else:
            high = middle
    below, above = fractions.Fraction(unpack(low)), fractions.Fraction(unpack(high))
    if value - below == above - value:
        return unpack(low if low % 2 == 0 else high)
    return unpack(low if value - below < above - value else high)


def solve_exactly(X, y, fit_intercept=True, weights=None):
    """The intercept and the coefficients of least squares, in rational arithmetic."""
    rows = [[fractions.Fraction(value) for value in ([1] if fit_intercept else []) + list(row)] for row in X]
    targets = [fractions.Fraction(value) for value in y]
    weights = [fractions.Fraction(weight) for weight in weights or [1] * len(targets)]
    n = len(rows[0])
    matrix = [[sum(w * row[i] * row[j] for w, row in zip(weights, rows)) for j in range(n)] +
              [sum(w * row[i] * target for w, row, target in zip(weights, rows, targets))] for i in range(n)]
    for i in range(n):
        pivot = next(k for k in range(i, n) if matrix[k][i] != 0)
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        matrix[i] = [value / matrix[i][i] for value in matrix[i]]
        for k in range(n):
            if k != i:
                matrix[k] = [a - matrix[k][i] * b for a, b in zip(matrix[k], matrix[i])]
    answer = [row[-1] for row in matrix]
    return answer if fit_intercept else [fractions.Fraction(0)] + answer


class LinearRegression(TestCase):
    def assertAnswer(self, model, exact, nearest=float):
        answer = [model.intercept] + list(model.coefficients)
        self.assertEqual([float(value) for value in answer], [nearest(value) for value in exact])

    def test_years(self):
        X = [[year] for year in range(2000, 2020)]
        model = Apr.LinearRegression().fit(X, [2 * row[0] + 1 for row in X])
        self.assertEqual((list(model.coefficients), model.intercept), ([2.0], 1.0))
        self.assertEqual((model.rank, model.score(X, [2 * row[0] + 1 for row in X])), (1, 1.0))

    def test_longley_certified(self):
        X, y = read_longley()
        model = Apr.LinearRegression().fit(X, y)
        for value, certified in zip([model.intercept] + list(model.coefficients), LONGLEY):
            self.assertTrue(math.isclose(value, certified, rel_tol=1e-14), (value, certified))
        self.assertTrue(math.isclose(model.score(X, y), LONGLEY_R_SQUARED, rel_tol=1e-14))
        self.assertEqual(model.rank, 6)

    def test_longley_is_correctly_rounded(self):
        X, y = read_longley()
        for fit_intercept in (True, False):
            exact = solve_exactly(X, y, fit_intercept)
            model = Apr.LinearRegression(fit_intercept=fit_intercept).fit(X, y)
            self.assertAnswer(model, exact)
            model.dtype = Apr.DType.F32
            self.assertAnswer(model.fit(X, y), exact, to_float32)
            rows = list(zip(X, y))
            random.Random(3).shuffle(rows)
            self.assertAnswer(model.fit(*zip(*rows)), exact, to_float32)

    def test_random_data_are_correctly_rounded(self):
        numbers = random.Random(11)
        for _ in range(30):
            p = numbers.randrange(1, 5)
            n = numbers.randrange(p + 2, 15)
            X = [[numbers.gauss(10 ** numbers.uniform(-3, 6), 1) for _ in range(p)] for _ in range(n)]
            y = [numbers.gauss(0, 1e3) for _ in range(n)]
            weights = [numbers.random() for _ in range(n)]
            self.assertAnswer(Apr.LinearRegression().fit(X, y), solve_exactly(X, y))
            self.assertAnswer(Apr.LinearRegression(fit_intercept=False).fit(X, y, weights),
                              solve_exactly(X, y, False, weights))
            self.assertAnswer(Apr.LinearRegression(dtype=Apr.DType.F32).fit(X, y, weights),
                              solve_exactly(X, y, True, weights), to_float32)

    @needs_numpy
    def test_floats_are_correctly_rounded(self):
        X, y = read_longley()
        x32, y32 = numpy.array(X, 'f4'), numpy.array(y, 'f4')
        exact = solve_exactly(x32.tolist(), y32.tolist())
        self.assertAnswer(Apr.LinearRegression().fit(x32, y32), exact, to_float32)
        self.assertAnswer(Apr.LinearRegression(dtype=Apr.DType.F64).fit(x32, y32), exact)

    @needs_numpy
    def test_attributes(self):
        model = Apr.LinearRegression()
        self.assertIsNone(model.coefficients)
        self.assertIsNone(model.intercept)
        self.assertEqual(model.rank, -1)
        model.fit([[1], [2], [3]], [3, 5, 7])
        self.assertIsInstance(model.coefficients, numpy.ndarray)
        self.assertEqual(model.coefficients.tolist(), [2.0])
        self.assertFalse(model.coefficients.flags.writeable)
        self.assertIs(type(model.intercept), float)
        self.assertEqual(model.intercept, 1.0)
        self.assertIsInstance(model.get_coefficients(), Apr.Tensor)
        for name in ('coefficients', 'intercept', 'rank'):
            with self.assertRaises(AttributeError):
                setattr(model, name, 1)

        # What was handed out stays as it was.
        coefficients = model.coefficients
        model.fit([[1], [2], [3]], [1, 1, 1])
        self.assertEqual((coefficients.tolist(), model.coefficients.tolist()), ([2.0], [0.0]))
        del model
        self.assertEqual(coefficients.tolist(), [2.0])

    def test_hyper_parameters(self):
        model = Apr.LinearRegression()
        self.assertIs(model.fit_intercept, True)
        self.assertEqual(model.dtype, Apr.DType.NONE)
        model.fit_intercept = False
        model.dtype = Apr.DType.F32
        self.assertFalse(model.props.fit_intercept)
        self.assertEqual(model.get_dtype(), Apr.DType.F32)
        model = Apr.LinearRegression(fit_intercept=False, dtype=Apr.DType.F32).fit([[1], [2]], [2, 4])
        self.assertEqual((list(model.coefficients), model.intercept), ([2.0], 0.0))
        self.assertEqual(model.get_coefficients().dtype, Apr.DType.F32)
        model.dtype = 'f64'
        model.precision = 'double'
        self.assertEqual((model.dtype, model.precision), (Apr.DType.F64, Apr.Precision.DOUBLE))
        for strange in ('F65', 'float', ''):
            with self.assertRaises(TypeError):
                model.dtype = strange
        self.assertEqual(model.dtype, Apr.DType.F64)
        model.dtype = Apr.DType.I8
        self.assertFails(Apr.Error.DTYPE, 'is I8', model.fit, [[1], [2]], [2, 4])

    def test_hyper_parameters_may_change_after_the_fit(self):
        X = [[1, 2], [3, 5], [4, 4]]
        for fit_intercept, dtype in ((False, Apr.DType.F32), (True, Apr.DType.F64), (False, Apr.DType.I8)):
            model = Apr.LinearRegression(fit_intercept=not fit_intercept).fit(X, [1, 3, 7])
            model.fit_intercept, model.dtype = fit_intercept, dtype
            loaded = Apr.LinearRegression.from_bytes(model.to_bytes())
            self.assertEqual(repr(loaded), repr(model).partition(', 3 samples')[0])
            for name in ('fit_intercept', 'dtype', 'n_features', 'n_targets', 'rank', 'feature_names'):
                self.assertEqual(getattr(loaded, name), getattr(model, name))
            self.assertEqual(loaded.get_coefficients(), model.get_coefficients())
            self.assertEqual(loaded.get_intercept(), model.get_intercept())
            self.assertEqual(list(loaded.predict([[7, 11]])), list(model.predict([[7, 11]])))
            self.assertEqual(loaded.to_bytes().get_data(), model.to_bytes().get_data())

    @needs_numpy
    def test_dtype(self):
        X, y = read_longley()
        for given, asked, expected in (('f4', 'NONE', 'f4'), ('f8', 'NONE', 'f8'), ('f4', 'F64', 'f8'),
                                       ('f8', 'F32', 'f4')):
            x = numpy.array(X, given)
            model = Apr.LinearRegression(dtype=getattr(Apr.DType, asked)).fit(x, y)
            self.assertEqual(model.coefficients.dtype, numpy.dtype(expected))
            self.assertEqual(numpy.asarray(model.get_intercept()).dtype, numpy.dtype(expected))
            self.assertEqual(model.predict(x).dtype, numpy.dtype(expected))
            self.assertEqual(model.dtype, getattr(Apr.DType, asked))

    @needs_numpy
    def test_targets(self):
        X = numpy.array([[1, 2], [2, 1], [3, 4], [4, 3], [5, 5]], 'f8')
        Y = numpy.stack([X @ [1, 2] + 3, X @ [-1, 4] - 5], axis=1)
        model = Apr.LinearRegression().fit(X, Y)
        self.assertEqual(model.coefficients.tolist(), [[1, 2], [-1, 4]])
        self.assertEqual(model.intercept.tolist(), [3, -5])
        self.assertEqual((model.n_targets, model.predict(X).tolist()), (2, Y.tolist()))
        self.assertEqual(model.score(X, Y), 1.0)

        column = Apr.LinearRegression().fit(X, Y[:, :1])
        self.assertEqual((column.coefficients.shape, column.intercept.shape), ((1, 2), (1,)))
        self.assertEqual(column.predict(X).shape, (5, 1))
        self.assertEqual(Apr.LinearRegression().fit(X, Y[:, 0]).predict(X).shape, (5,))

    def test_weights(self):
        X, y = read_longley()
        weights = [1, 0, 2, 1, 1, 3, 1, 1, 0, 1, 2, 1, 1, 1, 1, 1]
        repeated = [i for i, weight in enumerate(weights) for _ in range(weight)]
        self.assertAnswer(Apr.LinearRegression().fit(X, y, weights), solve_exactly(X, y, True, weights))
        model = Apr.LinearRegression().fit([X[i] for i in repeated], [y[i] for i in repeated])
        self.assertAnswer(model, solve_exactly(X, y, True, weights))

    def test_partial_fit(self):
        X, y = read_longley()
        whole = Apr.LinearRegression(keep_state=True).fit(X, y)
        model = Apr.LinearRegression(keep_state=True)
        for i in range(0, 16, 5):
            self.assertIs(model.partial_fit(X[i:i + 5], y[i:i + 5]), model)
            model = Apr.LinearRegression.from_bytes(model.to_bytes())
        self.assertEqual(model.to_bytes().get_data(), whole.to_bytes().get_data())
        self.assertEqual(model.cross_products, whole.cross_products)
        self.assertEqual(model.cross_products.n_samples, 16)

        model.keep_state = False
        loaded = Apr.LinearRegression.from_bytes(model.to_bytes())
        self.assertIsNone(loaded.cross_products)
        with self.assertRaisesRegex(GLib.Error, 'hyper-parameter keep_state is') as caught:
            loaded.partial_fit(X, y)
        self.assertTrue(caught.exception.matches(Apr.error_quark(), Apr.Error.STATE))

    def test_partial_fit_keeps_names(self):
        class Frame(list):
            columns = ['a', 'b']

        model = Apr.LinearRegression().partial_fit(Frame([[1, 2], [3, 5]]), [1, 2])
        self.assertEqual(model.feature_names, ['a', 'b'])
        model.partial_fit([[2, 2]], [3])
        self.assertEqual(model.feature_names, ['a', 'b'])
        other = Frame([[1, 2]])
        other.columns = ['a', 'c']
        with self.assertRaisesRegex(GLib.Error, '“c”'):
            model.partial_fit(other, [1])
        self.assertEqual(model.cross_products.n_samples, 3)

    @needs_numpy
    def test_minimum_norm(self):
        X = [[1, 2, 3], [4, 5, 7]]
        y = [6, 9]
        model = Apr.LinearRegression().fit(X, y)
        centred = numpy.array(X, 'f8') - numpy.mean(X, axis=0)
        expected = numpy.linalg.pinv(centred) @ (numpy.array(y) - numpy.mean(y))
        self.assertTrue(numpy.allclose(model.coefficients, expected, rtol=1e-14))
        self.assertTrue(numpy.allclose(model.predict(X), y, rtol=1e-14))
        self.assertEqual(model.rank, 1)
        model = Apr.LinearRegression().fit([[1, 1], [2, 2], [3, 3]], [2, 4, 6])
        self.assertEqual((model.coefficients.tolist(), model.rank), ([1.0, 1.0], 1))

    @needs_numpy
    def test_predictions_are_close_to_numpy(self):
        X, y = read_longley()
        for dtype, tolerance in (('f4', 1e-6), ('f8', 1e-14)):
            x = numpy.array(X, dtype)
            model = Apr.LinearRegression().fit(x, y)
            terms = x.astype('f8') * model.coefficients
            scale = numpy.abs(terms).sum(axis=1) + numpy.abs(model.intercept)
            difference = model.predict(x) - (terms.sum(axis=1) + model.intercept)
            self.assertLess(numpy.max(numpy.abs(difference) / scale), tolerance)

    def test_predict_one(self):
        X, y = read_longley()
        for dtype in (Apr.DType.F32, Apr.DType.F64):
            model = Apr.LinearRegression(dtype=dtype).fit(X, y)
            for row, prediction in zip(X, model.predict(X)):
                self.assertEqual(model.predict_one(row), prediction)
                self.assertEqual(model.predict_one(tuple(row)), prediction)
        self.assertFails(Apr.Error.SHAPE, '2 features, but this model was fitted with 6', model.predict_one, [1, 2])
        self.assertFails(Apr.Error.NOT_FINITE, 'a NaN at feature 1', model.predict_one, [1, math.nan, 1, 1, 1, 1])
        self.assertFails(Apr.Error.NOT_FITTED, 'unfitted', Apr.LinearRegression().predict_one, [1])
        self.assertFails(Apr.Error.NOT_FITTED, 'unfitted', Apr.LinearRegression().predict_one, {'a': 1})
        for strange in (b'123456', '123456', 5.0, None, [[1, 2, 3, 4, 5, 6]], [None] * 6, ['1'] * 6):
            with self.assertRaises(TypeError):
                model.predict_one(strange)
        two = Apr.LinearRegression().fit([[1], [2]], [[1, 2], [3, 4]])
        self.assertFails(Apr.Error.SHAPE, '2 targets', two.predict_one, [1])

    @needs_numpy
    def test_predict_one_of_an_array(self):
        X, y = map(numpy.array, read_longley())
        model = Apr.LinearRegression().fit(X, y)
        for dtype in ('f8', '>f8', 'f4', 'i4', 'u1'):
            rows = (X % 200).astype(dtype)
            # Every other column, so that an entry is not beside the next one.
            wide = numpy.repeat(rows, 2, axis=1)[:, ::2]
            for row, prediction in zip(wide, model.predict(rows)):
                self.assertEqual(model.predict_one(row), prediction)
        with self.assertRaises(TypeError):
            model.predict_one(X)
        with self.assertRaises(TypeError):
            model.predict_one(X[0] * 1j)

    @needs_numpy
    def test_predict_into_an_array(self):
        X, y = map(numpy.array, read_longley())
        for dtype, name in ((Apr.DType.F32, 'f4'), (Apr.DType.F64, 'f8')):
            for targets, shape in ((y, (16,)), (numpy.stack([y, -y], 1), (16, 2))):
                model = Apr.LinearRegression(dtype=dtype).fit(X, targets)
                out = numpy.full(shape, 7, name)
                self.assertIs(model.predict(X, out=out), out)
                self.assertEqual(out.tobytes(), model.predict(X).tobytes())
        frozen = numpy.zeros((16, 2), 'f8')
        frozen.flags.writeable = False
        for strange in (numpy.zeros(16), numpy.zeros((16, 2), 'f4'), numpy.zeros((2, 16)).T, numpy.zeros((15, 2)),
                        numpy.zeros((16, 2), '>f8'), frozen, [0] * 32, bytearray(256)):
            with self.assertRaisesRegex(ValueError, 'out must be'):
                model.predict(X, out=strange)
        self.assertFails(Apr.Error.SHAPE, 'expecting 6', model.predict, X[:, :5], numpy.zeros((16, 2)))
        self.assertFails(Apr.Error.NOT_FITTED, 'unfitted', Apr.LinearRegression().predict, X, numpy.zeros(16))

    @needs_numpy
    def test_predictions_may_be_written_to(self):
        X, y = map(numpy.array, read_longley())
        model = Apr.LinearRegression().fit(X, y)
        expected = model.predict(X).tolist()
        for array in (model.predict(X), *model.predict_interval(X)):
            array[:] = 0
            self.assertEqual(array.tolist(), [0.0] * 16)
        self.assertEqual(model.predict(X).tolist(), expected)

    def test_progress(self):
        X, y = [[i % 101, i % 7] for i in range(5000)], list(range(5000))
        told = []
        model = Apr.LinearRegression()
        handler = model.connect('notify::progress', lambda model, _: told.append((model.progress, model.busy)))
        model.fit(X, y)
        self.assertEqual((told[0], told[-1]), ((0, True), (1, True)))
        self.assertEqual(sorted(told), told)
        self.assertEqual(model.coefficients.tolist(), Apr.LinearRegression().fit(X, y).coefficients.tolist())

        cancellable = Gio.Cancellable()
        model.disconnect(handler)
        model.connect('notify::progress', lambda *_: cancellable.cancel())
        before = model.coefficients.tolist()
        with self.assertRaises(GLib.Error) as caught:
            model.partial_fit(X, y, cancellable=cancellable)
        self.assertTrue(caught.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))
        self.assertEqual(model.coefficients.tolist(), before)

    def test_progress_async(self):
        told = []
        loop = GLib.MainLoop()
        model = Apr.LinearRegression()
        model.connect('notify::progress', lambda *_: told.append((threading.get_ident(), model.fitted)))
        model.fit_async([[1], [2], [4]], [1, 2, 4], callback=lambda *_: loop.quit())
        loop.run()
        self.assertEqual((told[0], told[-1]), ((threading.get_ident(), False), (threading.get_ident(), True)))
        self.assertTrue(model.fitted)

    def test_example_longley(self):
        X, y = read_longley()
        path = self.make_directory() / 'model.safetensors'
        for dtype, code in ((Apr.DType.F64, 'd'), (Apr.DType.F32, 'f')):
            model = Apr.LinearRegression(dtype=dtype).fit(X, y)
            predictions = struct.pack('<16' + code, *model.predict(X))
            for names in (None, ['x1', 'x2', 'x3', 'x4', 'x5', 'x6']):
                model.set_feature_names(names)
                model.save(path)
                command = [sys.executable, EXAMPLES / 'longley.py', path, EXAMPLES / 'longley.csv']
                done = subprocess.run(command, capture_output=True, text=True)
                self.assertEqual(done.stdout, f'sha256  {hashlib.sha256(predictions).hexdigest()}\n',
                                 done.stderr)


def run_in_main_loop(coroutine):
    """Drives a coroutine by GLib's main loop alone."""
    loop, outcome = GLib.MainLoop(), []

    def advance(_=None):
        try:
            coroutine.send(None).add_done_callback(advance)
        except StopIteration as stop:
            outcome.append(stop.value)
            loop.quit()

    advance()
    loop.run()
    return outcome[0]


class Asynchronous(TestCase):
    X, Y = [[0, 1], [1, 1], [2, 0], [3, 5]], [1, 3, 5, 8]

    @needs_numpy
    def test_fit_to_blocks(self):
        """Data that are not in C order are summed up block by block, between which the main loop runs."""
        rng = numpy.random.default_rng(1)
        X, y = numpy.asfortranarray(rng.random((300000, 3))), rng.random(300000)
        model = Apr.LinearRegression(keep_state=True)
        n_updates = []
        update = linear_regression.native_update_async

        def count_updates(state, X, *arguments):
            n_updates.append(X.shape[0])
            update(state, X, *arguments)

        async def fit():
            told = []
            model.connect('notify::busy', lambda model, _: told.append(model.busy))
            first = model.fit_async(X, y)
            # From the call on, and without a break between the blocks and the fit.
            self.assertTrue(model.busy)
            for second in (model.fit_async(X, y), model.partial_fit_async(X, y), model.fit_async(self.X, self.Y)):
                with self.assertRaises(GLib.Error) as caught:
                    await second
                self.assertTrue(caught.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.PENDING))
            self.assertIs(await first, model)
            self.assertEqual((told[0], told.count(False), told[-1]), (True, 1, False))
            self.assertEqual(model.to_bytes().get_data(),
                             Apr.LinearRegression(keep_state=True).fit(X, y).to_bytes().get_data())
            await model.partial_fit_async(X, y)
            twice = Apr.LinearRegression(keep_state=True).fit(X, y).partial_fit(X, y).to_bytes().get_data()
            self.assertEqual(model.to_bytes().get_data(), twice)
            self.assertFalse(model.busy)
            before = twice
            X[299999, 1] = math.nan
            with self.assertRaisesRegex(ValueError, 'row 299999, column 1'):
                await model.fit_async(X, y)
            with self.assertRaisesRegex(ValueError, 'row 299999, column 1'):
                await model.partial_fit_async(X, y)
            cancellable = Gio.Cancellable()
            cancellable.cancel()
            with self.assertRaises(GLib.Error) as caught:
                await model.fit_async(X, y, cancellable=cancellable)
            self.assertTrue(caught.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))
            self.assertEqual((model.to_bytes().get_data(), model.busy), (before, False))

        with unittest.mock.patch.object(linear_regression, 'native_update_async', count_updates):
            asyncio.run(fit())
        self.assertGreater(len(n_updates), 3)
        self.assertLess(max(n_updates), 200000)

    async def use_cross_products(self, file):
        state = Apr.CrossProducts.new(2, 1)
        self.assertIs(await state.update_async(self.X, self.Y), state)
        self.assertEqual(state, Apr.CrossProducts.new(2, 1).update(self.X, self.Y))
        self.assertTrue(await state.save_to_file_async(file))
        self.assertEqual(await Apr.CrossProducts.load_from_file_async(file), state)
        with self.assertRaisesRegex(ValueError, '3'):
            await state.update_async([[1, 2, 3]], [1])

    def test_cross_products(self):
        file = Gio.File.new_for_path(str(self.make_directory() / 'sums.safetensors'))
        asyncio.run(self.use_cross_products(file))

    async def use(self, file):
        model = Apr.LinearRegression(keep_state=True)
        self.assertIs(await model.fit_async(self.X, self.Y), model)
        expected = Apr.LinearRegression(keep_state=True).fit(self.X, self.Y)
        self.assertEqual(list(await model.predict_async(self.X)), list(expected.predict(self.X)))
        self.assertEqual(await model.score_async(self.X, self.Y), expected.score(self.X, self.Y))
        self.assertEqual((await model.get_statistics_async()).get_r_squared(),
                         expected.get_statistics().get_r_squared())
        self.assertEqual(await model.summary_async(), expected.summary())
        self.assertEqual(await model.compute_condition_number_async(), expected.compute_condition_number())
        ends = await model.predict_interval_async(self.X, 0.9, 'confidence')
        for end, expected_end in zip(ends, expected.predict_interval(self.X, 0.9, 'confidence')):
            self.assertEqual(list(end), list(expected_end))
        await model.partial_fit_async(self.X, self.Y)
        self.assertEqual(model.cross_products.n_samples, 8)
        state = expected.cross_products.copy()
        data = await state.to_bytes_async()
        self.assertEqual(data.get_data(), state.to_bytes().get_data())
        self.assertIs(await state.merge_async(expected.cross_products), state)
        self.assertIs(await state.merge_bytes_async(data), state)
        self.assertIs(await state.subtract_async(expected.cross_products), state)
        self.assertTrue(await state.equal_async(model.cross_products))
        self.assertEqual(await Apr.CrossProducts.from_bytes_async(data), expected.cross_products)
        other = Apr.LinearRegression(keep_state=True)
        self.assertIs(await other.fit_cross_products_async(model.cross_products), other)
        scores = await other.score_cross_products_async(model.cross_products)
        self.assertEqual(scores, other.score_cross_products(model.cross_products))
        self.assertEqual(other.to_bytes().get_data(), model.to_bytes().get_data())
        with self.assertRaisesRegex(ValueError, '0 samples'):
            await other.fit_cross_products_async(Apr.CrossProducts.new(2, 1))

        data = await model.to_bytes_async()
        self.assertEqual(data.get_data(), model.to_bytes().get_data())
        for loaded in (await Apr.LinearRegression.from_bytes_async(data.get_data()),
                       await Apr.Estimator.from_bytes_async(Apr.LinearRegression, data)):
            self.assertIs(type(loaded), Apr.LinearRegression)
            self.assertEqual(loaded.to_bytes().get_data(), data.get_data())
        with self.assertRaises(GLib.Error):
            await Apr.LinearRegression.from_bytes_async(b'nothing')
        errors = await Apr.compute_metric_async('mean-absolute-error', 'raw_values', self.Y, [0, 0, 0, 0])
        self.assertEqual(list(errors), [Apr.mean_absolute_error(self.Y, [0, 0, 0, 0])])
        self.assertEqual(list(Apr.compute_metric('mean-absolute-error', 'raw_values', self.Y, [0, 0, 0, 0])), list(errors))
        with self.assertRaisesRegex(ValueError, r'\[3\]'):
            await Apr.compute_metric_async('r2', 'raw_values', self.Y, [0, 0, 0])

        await model.save_to_file_async(file)
        loaded = await Apr.LinearRegression.load_from_file_async(file)
        self.assertIs(type(loaded), Apr.LinearRegression)
        self.assertEqual(loaded.to_bytes().get_data(), model.to_bytes().get_data())
        self.assertEqual(Apr.LinearRegression.load_from_file(file).to_bytes().get_data(), loaded.to_bytes().get_data())
        with self.assertRaisesRegex(ValueError, 'features'):
            await model.predict_async([[1]])
        with self.assertRaises(GLib.Error) as caught:
            await asyncio_gather(model.fit_async(self.X, self.Y), model.fit_async(self.X, self.Y))
        self.assertTrue(caught.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.PENDING))
        return 'all'

    def make_file(self):
        return Gio.File.new_for_path(str(self.make_directory() / 'model.safetensors'))

    def test_under_asyncio(self):
        self.assertEqual(asyncio.run(self.use(self.make_file())), 'all')

    def test_under_the_main_loop(self):
        self.assertEqual(run_in_main_loop(self.use(self.make_file())), 'all')

    def test_cancelled_task(self):
        # The fit takes far longer than it takes to cancel it.
        n = 5000000
        X = Apr.Tensor.new_from_bytes(Apr.DType.F32, [n, 3], GLib.Bytes.new(bytes(12 * n)))
        y = Apr.Tensor.new_from_bytes(Apr.DType.F32, [n], GLib.Bytes.new(bytes(4 * n)))
        model = Apr.LinearRegression().fit(self.X, self.Y)

        async def run():
            task = asyncio.ensure_future(fit())
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        async def fit():
            await model.fit_async(X, y)

        asyncio.run(run())
        self.assertFalse(model.busy)
        self.assertEqual(model.n_features, 2)

    def test_deep_copy_keeps_the_sums(self):
        model = Apr.LinearRegression().fit(self.X, self.Y)
        self.assertEqual(copy.deepcopy(model).summary(), model.summary())
        self.assertTrue(copy.copy(model).cross_products == model.cross_products)

    def test_loaded_model_does_not_follow_the_file(self):
        path = self.make_directory() / 'model.safetensors'
        Apr.LinearRegression().fit(self.X, self.Y).save(path)
        model = Apr.LinearRegression.load(path)
        before = list(model.predict(self.X))
        os.truncate(path, 0)
        self.assertEqual(list(model.predict(self.X)), before)

    def test_threads_that_fit_and_read(self):
        model = Apr.LinearRegression().fit(self.X, self.Y)
        right = [list(Apr.LinearRegression().fit(self.X, y).coefficients) for y in (self.Y, self.Y[::-1])]
        wrong = []

        def read():
            for _ in range(300):
                if list(model.coefficients) not in right or model.get_coefficients().shape != (2,):
                    wrong.append(model.coefficients)
                model.summary()

        def write():
            for i in range(300):
                try:
                    model.fit(self.X, self.Y[::-1] if i % 2 else self.Y)
                except GLib.Error as error:
                    if not error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.PENDING):
                        wrong.append(error)

        threads = [threading.Thread(target=function) for function in (read, read, write, write)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


async def asyncio_gather(*calls):
    """Awaits all calls, then raises what the first of those that failed did."""
    errors = []
    for call in calls:
        try:
            await call
        except GLib.Error as error:
            errors.append(error)
    if errors:
        raise errors[0]


class Subclass(TestCase):
    X, Y = [[0], [1], [2]], [1, 3, 5]

    def test_fit_save_clone(self):
        model = Scaled(factor=3).fit(self.X, self.Y)
        self.assertEqual((list(model.predict(self.X)), list(model.coefficients)), ([3, 9, 15], [2]))
        self.assertEqual(repr(model.clone()), 'Scaled(factor=3.0)')
        self.assertFalse(model.clone().fitted)

        path = self.make_directory() / 'model.safetensors'
        model.save(path)
        for loaded in (Scaled.load(path), Scaled.from_bytes(path.read_bytes()), copy.copy(model)):
            self.assertIs(type(loaded), Scaled)
            self.assertEqual(list(loaded.predict(self.X)), [3, 9, 15])
        self.assertFails(Apr.Error.MODEL, '“AprTestScaled”, not “AprLinearRegression”', Apr.LinearRegression.load, path)

    def test_fit_async_calls_own_fit(self):
        model = Scaled(factor=3)
        loop = GLib.MainLoop()
        model.fit_async(self.X, self.Y, callback=lambda model, result: (model.fit_finish(result), loop.quit()))
        loop.run()
        self.assertEqual((model.n_fits, list(model.predict(self.X))), (1, [3, 9, 15]))


class Alphas(TestCase):
    """Penalties of the targets."""

    X = [[1.0, 2.0], [2.0, 1.5], [3.0, 4.0], [4.0, 3.0], [5.5, 1.0]]
    Y = [[1.0, 5.0, 2.0], [2.0, 3.0, 2.0], [4.0, 4.0, 1.0], [3.0, 7.0, 0.0], [1.0, 9.0, 3.0]]

    def fit_each(self, alphas, **properties):
        models = [Apr.LinearRegression(alpha=alpha, **properties).fit(self.X, [row[i] for row in self.Y])
                  for i, alpha in enumerate(alphas)]
        return [list(model.coefficients) for model in models], [model.intercept for model in models]

    def check(self, model, alphas, **properties):
        coefficients, intercepts = self.fit_each(alphas, **properties)
        self.assertEqual([list(row) for row in model.coefficients], coefficients)
        self.assertEqual(list(model.intercept), intercepts)

    def test_fit(self):
        """To the bit what models of one target each are."""
        for alphas in ([0.5, 0.0, 0.5], [1e-3, 2.0, 1e6], [0.0, 0.0, 0.0], [3, 3, 3]):
            for properties in ({}, {'fit_intercept': False}, {'positive': True}, {'dtype': 'f32'}):
                model = Apr.LinearRegression(alphas=alphas, **properties).fit(self.X, self.Y)
                self.check(model, alphas, **properties)
                self.assertEqual((model.rank, model.correctly_rounded), (2, True))
                self.assertEqual(list(model.alphas), alphas)
        model = Apr.LinearRegression(alphas=[0.5, 0, 1])
        for i in range(5):
            model.partial_fit(self.X[i:i + 1], self.Y[i:i + 1])
        self.check(model, [0.5, 0, 1])

    def test_more_features_than_samples(self):
        wide = [row + [row[0] * row[1], row[0] ** 2, row[1] ** 3, row[0] + row[1]] for row in self.X]
        model = Apr.LinearRegression(alphas=[0.5, 0, 1]).fit(wide, self.Y)
        for i, alpha in enumerate([0.5, 0, 1]):
            one = Apr.LinearRegression(alpha=alpha).fit(wide, [row[i] for row in self.Y])
            self.assertEqual(list(model.coefficients[i]), list(one.coefficients))
        self.assertEqual(model.rank, 4)

    def test_copies_and_files(self):
        for keep_state in (False, True):
            model = Apr.LinearRegression(alphas=[0.1, 0.0, 1e-300], keep_state=keep_state).fit(self.X, self.Y)
            for other in (model.clone().fit(self.X, self.Y), Apr.LinearRegression.from_bytes(model.to_bytes()), model.copy()):
                self.assertEqual(list(other.alphas), [0.1, 0.0, 1e-300])
                self.assertEqual(other.to_bytes().get_data(), model.to_bytes().get_data())
        # The sums know what they were fitted with, whatever the next fit has.
        self.assertFalse(model.has_statistics)
        with self.assertRaisesRegex(GLib.Error, 'alphas'):
            model.get_statistics()
        model.alphas = None
        self.assertIsNone(model.alphas)
        loaded = Apr.LinearRegression.from_bytes(model.to_bytes())
        self.assertFalse(loaded.has_statistics)
        loaded.fit_cross_products(loaded.get_cross_products())
        self.assertTrue(loaded.has_statistics)
        loaded.alphas = [1, 2, 3]
        self.assertTrue(Apr.LinearRegression.from_bytes(loaded.to_bytes()).has_statistics)
        given = [1.0, 2.0]
        self.assertIs(Apr.LinearRegression(alphas=given).get_params()['alphas'], given)

    def test_errors(self):
        for alphas, pattern in (([1], '1 numbers, but there are 3 targets'), ([1, -1, 1], '-1 for target 1'),
                                ([1, float('nan'), 1], 'nan for target 1'), ([[1, 2, 3]], r'\[1, 3\]')):
            model = Apr.LinearRegression(alphas=alphas)
            with self.assertRaisesRegex(ValueError, pattern):
                model.fit(self.X, self.Y)
            self.assertFalse(model.fitted)
        with self.assertRaises((TypeError, ValueError)):
            Apr.LinearRegression(alphas='much')


if __name__ == '__main__':
    tap.main()
