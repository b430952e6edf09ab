# SPDX-License-Identifier: LGPL-2.1-or-later
import asyncio
import contextlib
import copy
import inspect
import io
import math
import pickle
import pydoc
import struct
import subprocess
import sys
import traceback
import types
import weakref

import tap
from common import Apr, GLib, TestCase, needs_numpy, numpy
from gi.overrides.aprender import errors
from gi.repository import Gio, GObject

X = [[1, 2], [2, 1], [3, 4], [4, 3]]
Y = [5, 4, 11, 10]


class ShiftedMean(Apr.Estimator):
    """Predicts the targets' mean, and something more."""

    __gtype_name__ = 'AprTestShiftedMean'

    shift = GObject.Property(type=float, default=0.5)
    times = GObject.Property(type=int, default=1)
    absolute = GObject.Property(type=bool, default=False)
    label = GObject.Property(type=str, default='')
    dtype = GObject.Property(type=Apr.DType, default=Apr.DType.F64)

    n_threads = GObject.Property(type=int, default=1,
                                 flags=GObject.ParamFlags.READWRITE | Apr.PARAM_TRANSIENT)

    mean = None
    n_columns = 0

    def do_fit(self, x, y, sample_weight, cancellable):
        values = y.tolist()
        weights = sample_weight.tolist() if sample_weight is not None else [1] * len(values)
        self.mean = sum(v * w for v, w in zip(values, weights)) / sum(weights)
        self.n_columns = x.shape[1]
        return True

    def do_predict(self, x):
        return Apr.Tensor([self.mean + self.times * self.shift] * x.shape[0])

    def do_save_tensors(self, writer):
        return writer.add_tensor('mean', [self.mean, self.n_columns])

    def do_load_tensors(self, reader):
        self.mean, n_columns = reader['mean'].tolist()
        self.n_columns = int(n_columns)
        return True, self.n_columns, 1


class Failing(ShiftedMean):
    __gtype_name__ = 'AprTestFailing'

    how = GObject.Property(type=str, default='raise')

    def fail(self):
        if self.how == 'raise':
            raise LookupError('the reason') from ZeroDivisionError()
        if self.how == 'interrupt':
            raise KeyboardInterrupt
        if self.how == 'GLib.Error':
            raise GLib.Error.new_literal(Apr.error_quark(), 'no luck with 7', Apr.Error.RANGE)

    def do_fit(self, x, y, sample_weight, cancellable):
        return self.fail()

    def do_predict(self, x):
        return self.fail()

    def do_save_tensors(self, writer):
        return self.fail()


class Frame:
    """What is asked of a data frame."""

    def __init__(self, values, columns):
        self.values = values
        self.columns = columns

    def __array__(self, dtype=None, copy=None):
        return numpy.asarray(self.values, dtype)


class Estimator(TestCase):
    def test_fit_returns_the_model(self):
        model = Apr.LinearRegression()
        self.assertIs(model.fit(X, Y), model)
        self.assertEqual(list(model.predict(X)), Y)
        self.assertEqual(model.score(X, Y), 1.0)

    def test_arguments(self):
        names = list(inspect.signature(Apr.LinearRegression.fit).parameters)
        self.assertEqual(names, ['self', 'X', 'y', 'sample_weight', 'cancellable'])
        model = Apr.LinearRegression().fit(X=X, y=Y, sample_weight=[1, 1, 1, 1])
        self.assertEqual(model.score(X=X, y=Y, sample_weight=[1, 2, 3, 4]), 1.0)
        with self.assertRaises(TypeError):
            Apr.LinearRegression(fit_itercept=True)
        with self.assertRaises(TypeError):
            Apr.Estimator()

    @needs_numpy
    def test_dtypes(self):
        for dtype, expected in (('f4', 'f4'), ('f8', 'f8'), ('>f8', 'f8'), ('f2', 'f4'), ('i1', 'f8'),
                                ('i8', 'f8'), ('u4', 'f8')):
            with self.subTest(dtype):
                x = numpy.array(X, dtype)
                model = Apr.LinearRegression().fit(x, numpy.array(Y, dtype))
                self.assertEqual(model.coefficients.dtype, numpy.dtype(expected))
                self.assertEqual(model.predict(x).dtype, numpy.dtype(expected))
                self.assertEqual(model.predict(x).tolist(), Y)
        model = Apr.LinearRegression().fit(numpy.array([[False], [True]]), [1, 3])
        self.assertEqual((model.coefficients.tolist(), model.intercept), ([2.0], 1.0))
        self.assertEqual(model.predict(numpy.array([[True], [False]])).tolist(), [3, 1])

    @needs_numpy
    def test_predict_shares_what_it_reads(self):
        class Seen(Apr.Estimator):
            __gtype_name__ = 'TestSeen'

            def do_fit(self, X, y, sample_weight, cancellable):
                return True

            def do_predict(self, X):
                self.seen = X
                return Apr.Tensor([0.0] * X.shape[0])

        model = Seen().fit(X, Y)
        for dtype in ('?', 'u1', 'i2', 'i4', 'u8', 'f2', 'f4', 'f8'):
            with self.subTest(dtype):
                x = numpy.array(X, dtype)
                model.predict(x)
                self.assertEqual(model.seen.get_memory()[2], x.ctypes.data)

    @needs_numpy
    def test_dtypes_that_are_refused(self):
        good = Apr.LinearRegression().fit(X, Y)
        for values, name in ((numpy.array(X, complex), 'complex128'),
                             (numpy.array(X, 'U9'), 'U9'), (numpy.array(X, 'g'), 'float128'),
                             (numpy.array(X, 'm8[s]'), 'timedelta64')):
            with self.subTest(name):
                with self.assertRaisesRegex(TypeError, f'X .*{name}'):
                    Apr.LinearRegression().fit(values, Y)
                with self.assertRaisesRegex(TypeError, f'X .*{name}'):
                    good.predict(values)
                with self.assertRaisesRegex(TypeError, f'y .*{name}'):
                    good.fit(X, values)
        self.assertFails(Apr.Error.DTYPE, 'X has the dtype C64', good.predict,
                         Apr.Tensor(numpy.array(X, 'c8')))
        self.assertEqual(good.predict(X).tolist(), Y)

    def test_lists_that_are_refused(self):
        model = Apr.LinearRegression().fit(X, Y)
        for values, pattern in (([[1, 2], [3, None]], r'X has None at row 1, column 1 \(counted'),
                                ([['a', 'b']], 'X has the string “a” at row 0, column 0'),
                                (None, 'X .*, not None')):
            for function in (lambda x: model.fit(x, Y), model.predict, lambda x: model.score(x, Y)):
                with self.subTest(values), self.assertRaisesRegex(TypeError, pattern):
                    function(values)
        with self.assertRaisesRegex(ValueError, 'X is ragged: the length at row 1 '):
            model.predict([[1, 2], [3]])
        with self.assertRaisesRegex(TypeError, 'sample_weight has None at row 2 '):
            model.fit(X, Y, [1, 1, None, 1])
        with self.assertRaisesRegex(TypeError, 'y_pred has the string “1” at row 0 '):
            Apr.r2_score([1, 2], ['1', 2])
        self.assertEqual(list(model.predict(X)), Y)

    @needs_numpy
    def test_layouts(self):
        wide = numpy.zeros((8, 6))
        wide[::2, ::3] = X
        for x in (numpy.asfortranarray(X, 'f8'), numpy.array(X).T.copy().T, wide[::2, ::3],
                  Apr.Tensor(X), numpy.asarray(Apr.Tensor(X))):
            model = Apr.LinearRegression().fit(x, Y)
            self.assertEqual(model.predict(x).tolist(), Y)

    @needs_numpy
    def test_shapes_that_are_refused(self):
        model = Apr.LinearRegression()
        self.assertFails(Apr.Error.SHAPE, r'it has \[3\]', model.fit, numpy.ones(3), [1, 2, 3])
        self.assertFails(Apr.Error.SHAPE, '4 samples, but y has 3', model.fit, X, [1, 2, 3])
        self.assertFails(Apr.Error.SHAPE, 'sample_weight has 1', model.fit, X, Y, [1])
        self.assertFails(Apr.Error.EMPTY, '0 samples of 2 features', model.fit, numpy.ones((0, 2)), [])
        self.assertFalse(model.fitted)
        model.fit(X, Y)
        self.assertFails(Apr.Error.SHAPE, 'X has 3 features, but LinearRegression is expecting 2',
                         model.predict, numpy.ones((2, 3)))
        self.assertFails(Apr.Error.SHAPE, r'it has \[4, 2, 3\]', model.predict, numpy.ones((4, 2, 3)))
        self.assertFails(Apr.Error.WEIGHTS, '-1', model.fit, X, Y, [1, 1, 1, -1])
        self.assertEqual(model.predict(X).tolist(), Y)

    @needs_numpy
    def test_missing_values(self):
        model = Apr.LinearRegression().fit(X, Y)
        for value, name in ((math.nan, 'NaN'), (math.inf, 'infinity')):
            x = numpy.array(X, 'f4')
            x[2, 1] = value
            self.assertFails(Apr.Error.NOT_FINITE, f'X has an? {name} at row 2, column 1', model.fit, x, Y)
            self.assertFails(Apr.Error.NOT_FINITE, f'X has an? {name} at row 2, column 1', model.predict, x)
        for dtype in ('i4', 'f4', 'f8'):
            masked = numpy.ma.masked_equal(numpy.array([[5, 6], [5, 7], [5, 9], [5, 8]], dtype), 9)
            self.assertFails(Apr.Error.NOT_FINITE, 'X is masked at row 2, column 1', model.fit, masked, Y)
            self.assertFails(Apr.Error.NOT_FINITE, 'y is masked at row 2 ', model.fit, X, masked[:, 1])
            self.assertEqual(model.fit(masked[:2], [1, 2]).n_features, 2)
        model.fit(X, Y)
        self.assertFails(Apr.Error.NOT_FINITE, r'y has a NaN at row 3 \(counted', model.fit, X,
                         [1, 2, 3, math.nan])
        self.assertEqual(model.predict(X).tolist(), Y)

    @needs_numpy
    def test_column_names(self):
        frame = Frame(X, ['height', 'größe'])
        model = Apr.LinearRegression().fit(frame, Y)
        self.assertEqual(model.feature_names, ['height', 'größe'])
        self.assertEqual(model.predict(frame).tolist(), Y)
        self.assertEqual(model.predict(X).tolist(), Y)
        self.assertEqual(model.score(frame, Y), 1.0)
        swapped = Frame(X, ['größe', 'height'])
        for function in (model.predict, lambda x: model.score(x, Y)):
            self.assertFails(Apr.Error.FEATURE_NAMES, '“größe”, but.*“height”', function, swapped)
            self.assertFails(Apr.Error.FEATURE_NAMES, '“größe”.*is missing', function,
                             Frame([[1]], ['height']))
        loaded = Apr.LinearRegression.from_bytes(model.to_bytes())
        self.assertEqual(loaded.feature_names, model.feature_names)

        with self.assertRaisesRegex(ValueError, '“a”'):
            model.fit(Frame(X, ['a', 'a']), Y)
        self.assertEqual(model.feature_names, ['height', 'größe'])
        for columns in ([0, 1], ['a', 1], []):
            self.assertIsNone(model.fit(Frame(X, columns), Y).feature_names)
        self.assertIsNone(model.fit(frame, Y).clone().feature_names)
        self.assertFails(Apr.Error.NOT_FITTED, 'Cannot predict with an unfitted', model.clone().predict,
                         frame)

    @needs_numpy
    def test_column_names_that_are_refused(self):
        model = Apr.LinearRegression().fit(Frame([[1, 1], [2, 3], [3, 2]], ['height', 'größe']), [1, 2, 4])
        before = model.to_bytes().get_data()
        for columns, pattern in ((['a', 'a'], '“a”'), (['a'], '1 names.* 2 columns'),
                                 (['a', 'b', 'c'], '3 names'),
                                 (['a', 'b\0c'], r'Column 1 .*b\\x00c.*not text'),
                                 (['\udcff', 'b'], r'Column 0 .*udcff.*not text')):
            with self.subTest(columns):
                with self.assertRaisesRegex(ValueError, pattern):
                    model.fit(Frame(X, columns), Y)
                with self.assertRaisesRegex(ValueError, pattern):
                    model.fit_async(Frame(X, columns), Y)
                self.assertEqual(model.to_bytes().get_data(), before)
        for columns in (None, 7, len):
            self.assertIsNone(model.fit(Frame(X, columns), Y).feature_names)
            self.assertEqual(model.predict(Frame(X, columns)).tolist(), Y)

    @needs_numpy
    def test_fit_async_always_calls_back(self):
        # Another fit ends between this one and the names of its features.
        model = Apr.LinearRegression()
        model.connect('notify::coefficients',
                      lambda *_: model.fit([[1], [2]], [1, 2]) if model.n_features == 2 else None)
        with contextlib.redirect_stderr(io.StringIO()):
            self.run_async(model, Frame(X, ['a', 'b']), Y)

    def test_properties(self):
        model = Apr.LinearRegression()
        self.assertEqual((model.fitted, model.n_features, model.n_targets), (False, 0, 0))
        self.assertIsNone(model.feature_names)
        self.assertIsNone(model.get_feature_names())
        notified = []
        model.connect('notify', lambda model, pspec: notified.append(pspec.name))
        model.fit(X, Y)
        self.assertEqual((model.fitted, model.n_features, model.n_targets), (True, 2, 1))
        self.assertLessEqual({'fitted', 'n-features', 'n-targets', 'coefficients'}, set(notified))
        for name in ('fitted', 'n_features', 'n_targets'):
            with self.assertRaises(AttributeError):
                setattr(model, name, 1)
        model.feature_names = ('width', 'größe')
        self.assertEqual(model.feature_names, ['width', 'größe'])
        with self.assertRaisesRegex(ValueError, 'There is 1 feature name, but'):
            model.feature_names = ['width']
        with self.assertRaisesRegex(ValueError, 'NUL'):
            model.feature_names = ['a', 'b\0']
        with self.assertRaisesRegex(TypeError, 'a list of strings, not the string “ab”'):
            model.feature_names = 'ab'
        self.assertEqual(model.feature_names, ['width', 'größe'])
        model.feature_names = None
        self.assertIsNone(model.feature_names)

    def test_feature_names_as_property(self):
        model = Apr.LinearRegression(feature_names=['width', 'größe'])
        self.assertEqual(model.feature_names, ['width', 'größe'])
        other = Apr.LinearRegression()
        model.bind_property('feature-names', other, 'feature-names', GObject.BindingFlags.SYNC_CREATE)
        self.assertEqual(other.feature_names, ['width', 'größe'])
        model.props.feature_names = ['a', 'b', 'c']
        for unfitted in (model, other):
            with self.assertRaisesRegex(ValueError, '3 feature names, but X has 2'):
                unfitted.fit(X, Y)
        model.set_property('feature-names', ['a', 'b'])
        self.assertEqual(other.fit(X, Y).feature_names, ['a', 'b'])
        self.assertIsNone(other.clone().feature_names)
        self.assertNotIn('feature_names', repr(other))
        self.assertNotIn('feature_names', other.get_params())
        with self.assertRaisesRegex(ValueError, 'feature_names has a NUL'):
            Apr.LinearRegression(feature_names=['a', 'b\0'])

    def test_clone(self):
        model = Apr.LinearRegression(fit_intercept=False, dtype=Apr.DType.F32).fit(X, Y)
        clone = model.clone()
        self.assertIs(type(clone), Apr.LinearRegression)
        self.assertEqual((clone.fit_intercept, clone.dtype, clone.fitted), (False, Apr.DType.F32, False))

    def test_save_and_load(self):
        model = Apr.LinearRegression(fit_intercept=False).fit(X, Y)
        directory = self.make_directory()
        model.save(directory / 'path')
        model.save(str(directory / 'text'))
        data = model.to_bytes()
        self.assertIsInstance(data, GLib.Bytes)
        self.assertEqual((directory / 'path').read_bytes(), data.get_data())
        self.assertEqual((directory / 'text').read_bytes(), data.get_data())

        for loaded in (
            Apr.LinearRegression.load(directory / 'path'),
            Apr.LinearRegression.load(str(directory / 'path')),
            Apr.LinearRegression.from_bytes(data),
            Apr.LinearRegression.from_bytes(data.get_data()),
            Apr.LinearRegression.from_bytes(bytearray(data.get_data())),
            Apr.Estimator.load(Apr.LinearRegression, directory / 'path'),
            Apr.Estimator.from_bytes(Apr.LinearRegression, data.get_data()),
        ):
            self.assertIs(type(loaded), Apr.LinearRegression)
            self.assertFalse(loaded.fit_intercept)
            self.assertEqual(list(loaded.predict(X)), Y)
            self.assertEqual(loaded.to_bytes().get_data(), data.get_data())

    def test_loading_is_no_method(self):
        model = Apr.LinearRegression()
        for name in ('load', 'from_bytes'):
            with self.assertRaisesRegex(AttributeError, f'new model.*LinearRegression.{name}'):
                getattr(model, name)
            self.assertFalse(hasattr(ShiftedMean(), name))
            self.assertIn('fitted model', getattr(Apr.LinearRegression, name).__doc__)

    def test_text(self):
        model = Apr.LinearRegression()
        self.assertEqual(repr(model), 'Apr.LinearRegression()')
        model.fit_intercept = False
        model.dtype = Apr.DType.F32
        text = 'Apr.LinearRegression(dtype=Apr.DType.F32, fit_intercept=False)'
        self.assertEqual(repr(model), text)
        self.assertEqual(repr(eval(text)), text)
        self.assertTrue(repr(model.fit(X, Y)).startswith(text + ', fitted: 2 features, '))
        # The statistics that take no time; a file has no sums of samples, unless it is asked to.
        model = Apr.LinearRegression().fit([[1], [2], [3]], [[1, 2], [2, 1], [2, 3]])
        text = 'Apr.LinearRegression(), fitted: 1 feature, 2 targets'
        self.assertEqual(repr(model), text + ', 3 samples, R² 0.75, 0.25')
        self.assertEqual(repr(Apr.LinearRegression.from_bytes(model.to_bytes())), text)
        model.fit([[float(i == j) for i in range(51)] for j in range(52)], list(range(52)))
        self.assertEqual(repr(model), 'Apr.LinearRegression(), fitted: 51 features, 52 samples')
        self.assertEqual(repr(ShiftedMean(times=3, label='it’s')), "ShiftedMean(label='it’s', times=3)")

    def test_documentation(self):
        for owner in (Apr.Tensor, Apr.Estimator, Apr.LinearRegression, Apr.CrossProducts,
                      Apr.SafetensorsReader, Apr.SafetensorsWriter):
            self.assertIn(owner.__doc__.splitlines()[0], pydoc.render_doc(owner))
            self.assertGreater(len(owner.__doc__.splitlines()), 5)
            for name, value in vars(owner).items():
                if isinstance(value, (property, types.FunctionType)) and name[0] != '_' and \
                        name != 'parent_instance':
                    self.assertTrue(value.__doc__, f'{owner.__name__}.{name}')
        text = pydoc.plain(pydoc.render_doc(Apr.LinearRegression))
        self.assertRegex(text, r'coefficients\n.*\[n_features\] or \[n_targets, n_features\]')
        self.assertIn('something more', ShiftedMean.__doc__)

    def assertSame(self, model, other):
        self.assertIs(type(other), type(model))
        self.assertIsNot(other, model)
        self.assertEqual(repr(other).partition(', 4 samples')[0], repr(model).partition(', 4 samples')[0])
        if model.fitted:
            self.assertEqual(other.to_bytes().get_data(), model.to_bytes().get_data())
            self.assertEqual(list(other.predict(X)), list(model.predict(X)))

    def test_copies(self):
        for model in (Apr.LinearRegression(fit_intercept=False, dtype=Apr.DType.F32),
                      ShiftedMean(shift=0.1, label='grüß', dtype=Apr.DType.BF16)):
            for _ in range(2):
                for other in (copy.copy(model), copy.deepcopy(model), copy.deepcopy([model])[0]):
                    self.assertSame(model, other)
                for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
                    self.assertSame(model, pickle.loads(pickle.dumps(model, protocol)))
                model.fit(X, Y).set_feature_names(['a', 'größe'])
            other = copy.deepcopy(model)
            other.fit([[1], [2]], [1, 2])
            self.assertEqual((model.n_features, model.feature_names), (2, ['a', 'größe']))

    def test_pickle_in_new_process(self):
        code = 'import pickle, sys; print(pickle.load(sys.stdin.buffer))'
        for model in (Apr.LinearRegression(dtype=Apr.DType.F32), Apr.LinearRegression().fit(X, Y)):
            data = pickle.dumps(model)
            done = subprocess.run([sys.executable, '-c', code], input=data, capture_output=True)
            self.assertEqual(done.stdout.decode().strip(), repr(model).partition(', 4 samples')[0], done.stderr.decode())
            # Which warns of an import without a version.
            self.assertNotIn('PyGIWarning', done.stderr.decode())

    @needs_numpy
    def test_tensors_wait_for_no_module(self):
        """To import numpy takes longer than a window may wait."""
        code = """import sys
import aprender
shape, data = [3, 1], aprender.Tensor.new_from_doubles
print(aprender.LinearRegression().fit(data([1, 2, 3], shape), data([1, 3, 5], [3])).fitted, 'numpy' in sys.modules)
aprender.LinearRegression().fit([[1], [2]], [1, 2])
print('numpy' in sys.modules)
"""
        done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
        self.assertEqual(done.stdout.split(), ['True', 'False', 'True'], done.stderr)

    def run_async(self, model, *arguments):
        """Fits in the main loop, and returns what the callback was called with."""
        loop = GLib.MainLoop()
        calls = []

        def when_fitted(*call):
            calls.append(call)
            loop.quit()

        self.assertIsNone(model.fit_async(*arguments, callback=when_fitted))
        self.assertFalse(model.fitted)
        loop.run()
        self.assertEqual(len(calls), 1)
        self.assertIs(calls[0][0], model)
        return calls[0][1]

    def test_fit_async(self):
        for model in (Apr.LinearRegression(), ShiftedMean()):
            result = self.run_async(model, X, Y)
            self.assertTrue(model.fit_finish(result))
            self.assertTrue(model.fitted)
            self.assertEqual(list(model.predict(X)), list(model.clone().fit(X, Y).predict(X)))

    def test_fit_async_user_data(self):
        loop = GLib.MainLoop()
        calls = []
        Apr.LinearRegression().fit_async(X, Y, [1, 2, 3, 4], None,
                                         lambda *call: (calls.append(call[2:]), loop.quit()), 'one', 2)
        loop.run()
        self.assertEqual(calls, [('one', 2)])

    def test_fit_async_errors(self):
        model = Apr.LinearRegression()
        self.assertFails(Apr.Error.SHAPE, '4 samples', model.fit_finish, self.run_async(model, X, [1]))
        model = Failing()
        result = self.run_async(model, X, Y)
        with self.assertRaisesRegex(LookupError, 'the reason'):
            model.fit_finish(result)

    @needs_numpy
    def test_fit_async_column_names(self):
        model = Apr.LinearRegression()
        result = self.run_async(model, Frame(X, ['a', 'b']), Y)
        self.assertEqual(model.feature_names, ['a', 'b'])
        self.assertTrue(model.fit_finish(result))
        model = Apr.LinearRegression()
        result = self.run_async(model, Frame(X, ['a', 'b']), [1])
        self.assertFails(Apr.Error.SHAPE, '4 samples', model.fit_finish, result)
        self.assertIsNone(model.feature_names)

        model = Apr.LinearRegression()
        model.fit_async(Frame(X, ['a', 'b']), Y)
        while not model.fitted:
            GLib.MainContext.default().iteration(True)
        self.assertEqual(model.feature_names, ['a', 'b'])

    def test_cancel(self):
        cancellable = Gio.Cancellable()
        cancellable.cancel()
        model = Apr.LinearRegression()
        with self.assertRaises(GLib.Error) as context:
            model.fit(X, Y, cancellable=cancellable)
        self.assertTrue(context.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))
        self.assertFalse(model.fitted)

    @needs_numpy
    def test_fit_lets_go_of_the_data(self):
        x, y = numpy.array(X, 'f8'), numpy.array(Y, 'f8')
        alive = [weakref.ref(x), weakref.ref(y)]
        before = sys.getrefcount(x)
        model = Apr.LinearRegression()
        for _ in range(500):
            model.fit(x, y).predict(x)
            model.score(x, y)
        self.assertEqual(sys.getrefcount(x), before)
        del x, y
        self.assertEqual([ref() for ref in alive], [None, None])

    @needs_numpy
    def test_fits_leak_nothing(self):
        x, y = numpy.array(X, 'f8'), numpy.array(Y, 'f8')
        self.assertNoLeak(lambda: Apr.LinearRegression().fit(x, y).predict(x), 20000)

    def test_models_are_released(self):
        alive = []
        for i in range(500):
            model = (Apr.LinearRegression if i % 2 else ShiftedMean)().fit(X, Y)
            model = type(model).from_bytes(model.clone().fit(X, Y).to_bytes())
            alive.append(weakref.ref(model))
        del model
        self.assertEqual([ref() for ref in alive], [None] * 500)


class Subclass(TestCase):
    def test_fit_predict_score(self):
        model = ShiftedMean(shift=2, times=3)
        self.assertIs(model.fit(X, Y), model)
        self.assertEqual(list(model.predict(X)), [7.5 + 6] * 4)
        # 1 - Σ (y - 13.5)² / Σ (y - 7.5)²
        self.assertEqual(model.score(X, Y), 1 - 181 / 37)
        self.assertEqual((model.fitted, model.n_features, model.n_targets), (True, 2, 1))
        self.assertEqual(list(ShiftedMean(shift=0).fit(X, Y, [1, 0, 0, 0]).predict([[0, 0]])), [5])

    def test_clone(self):
        model = ShiftedMean(shift=-1e-300, times=-7, absolute=True, label='grüß', dtype=Apr.DType.BF16)
        clone = model.fit(X, Y).clone()
        self.assertIs(type(clone), ShiftedMean)
        self.assertEqual(repr(clone), repr(ShiftedMean(shift=-1e-300, times=-7, absolute=True, label='grüß',
                                                       dtype=Apr.DType.BF16)))
        self.assertEqual(clone.shift, -1e-300)
        self.assertEqual(ShiftedMean(n_threads=4).clone().n_threads, 4)
        self.assertFalse(clone.fitted)
        self.assertIsNone(clone.mean)

    def test_save_and_load(self):
        path = self.make_directory() / 'model.safetensors'
        model = ShiftedMean(shift=0.1, times=-7, absolute=True, label='grüß “Gott”', dtype=Apr.DType.BF16)
        model.n_threads = 4
        model.fit(X, Y).save(path)
        for loaded in (ShiftedMean.load(path), ShiftedMean.from_bytes(path.read_bytes())):
            self.assertIs(type(loaded), ShiftedMean)
            self.assertEqual(repr(loaded), repr(model))
            self.assertEqual(loaded.shift, 0.1)
            self.assertEqual(list(loaded.predict(X)), list(model.predict(X)))
            self.assertEqual(loaded.to_bytes().get_data(), path.read_bytes())
        metadata = Apr.SafetensorsReader.new_from_path(path).metadata
        self.assertEqual(metadata['aprender.model'], 'AprTestShiftedMean')
        self.assertNotIn('aprender.n_threads', metadata)
        self.assertEqual(struct.pack('<d', float(metadata['aprender.shift'])), struct.pack('<d', 0.1))

    def test_wrong_model(self):
        data = ShiftedMean().fit(X, Y).to_bytes()
        self.assertFails(Apr.Error.MODEL, '“AprTestShiftedMean”, not “AprLinearRegression”',
                         Apr.LinearRegression.from_bytes, data)
        data = Apr.LinearRegression().fit(X, Y).to_bytes()
        self.assertFails(Apr.Error.MODEL, '“AprLinearRegression”, not “AprTestShiftedMean”',
                         ShiftedMean.from_bytes, data)
        self.assertFails(Apr.Error.MODEL, 'AprEstimator', Apr.Estimator.from_bytes, Apr.Estimator, data)

    def test_failures(self):
        with contextlib.redirect_stderr(io.StringIO()) as stderr:
            # The very exception, with where it comes from.
            caught = self.assertRaisesRegex(LookupError, '^the reason$')
            with caught:
                try:
                    Failing(how='raise').fit(X, Y)
                finally:
                    where = [frame.name for frame in traceback.extract_tb(sys.exc_info()[2])]
            self.assertIn('fail', where)
            self.assertIsInstance(caught.exception.__cause__, ZeroDivisionError)
            with self.assertRaisesRegex(LookupError, 'the reason'):
                asyncio.run(Failing(how='raise').fit_async(X, Y))
            with self.assertRaises(KeyboardInterrupt):
                Failing(how='interrupt').fit(X, Y)
        self.assertEqual(stderr.getvalue(), '')
        model = Failing(how='return None')
        self.assertFails(Apr.Error.FAILED, 'do_fit of Failing returned None, not True', model.fit, X, Y)
        self.assertFalse(model.fitted)
        self.assertFails(Apr.Error.RANGE, 'no luck with 7', Failing(how='GLib.Error').fit, X, Y)

        model = Failing.from_bytes(ShiftedMean().fit(X, Y).to_bytes().get_data().replace(
            b'AprTestShiftedMean"', b'AprTestFailing"    '))
        model.how = 'return None'
        self.assertFails(Apr.Error.FAILED, 'do_predict of Failing returned None, not an Apr.Tensor', model.predict, X)
        self.assertFails(Apr.Error.FAILED, 'do_save_tensors of Failing returned None, not True', model.to_bytes)
        model.how = 'raise'
        for function, argument in ((model.predict, X), (model.save, self.make_directory() / 'model.safetensors')):
            with self.assertRaisesRegex(LookupError, 'the reason'):
                function(argument)

    def test_exceptions_are_not_kept(self):
        """Of calls whose errors nobody asks for there are a few, and none of those that have been raised."""
        for _ in range(50):
            with self.assertRaises(LookupError):
                Failing(how='raise').fit(X, Y)
        for i in range(50):
            errors.carry(ValueError(i), 'do_fit of None')
        self.assertLess(len(errors._raised), 20)

    def test_wrong_results(self):
        class Wrong(ShiftedMean):
            __gtype_name__ = 'AprTestWrong'
            result = ()

            def do_fit(self, x, y, sample_weight, cancellable):
                ShiftedMean.do_fit(self, x, y, sample_weight, cancellable)
                return Wrong.result

            def do_predict(self, x):
                return Wrong.result

            def do_save_tensors(self, writer):
                ShiftedMean.do_save_tensors(self, writer)
                return Wrong.result

            def do_load_tensors(self, reader):
                return Wrong.result

        for result in ((), [], (1, 2), (True,), None, False):
            Wrong.result = result
            self.assertFails(Apr.Error.FAILED, 'do_fit of Wrong returned .*, not True', Wrong().fit, X, Y)

        Wrong.result = True
        model = Wrong().fit(X, Y)
        data = model.to_bytes()
        for result in ((), (1, 2), 7):
            Wrong.result = result
            self.assertFails(Apr.Error.FAILED, 'do_predict of Wrong returned .*, not an Apr.Tensor', model.predict, X)
        for result in ((), (True,)):
            Wrong.result = result
            self.assertFails(Apr.Error.FAILED, 'do_save_tensors of Wrong returned .*, not True', model.to_bytes)
        for result in ((2, 1), (), True, None, (False, 2, 1), (True, 2), (True, 2, 1, 1), (True, -1, 1), (True, 2**64, 1), (True, 1.5, 1)):
            Wrong.result = result
            self.assertFails(Apr.Error.FAILED, r'do_load_tensors of Wrong returned .*, not \(True, n_features, n_targets\)',
                             Wrong.from_bytes, data)
        for result in ((True, 0, 1), (True, 2, 0), (True, 2**60, 1), (True, 2, 2**60)):
            Wrong.result = result
            self.assertFails(Apr.Error.MODEL, f'{result[1]} features and {result[2]} targets', Wrong.from_bytes, data)
        Wrong.result = True, 2, 1
        self.assertEqual(Wrong.from_bytes(data).n_features, 2)

    def test_own_read_only_property_becomes_a_hyper_parameter(self):
        class Base(ShiftedMean):
            __gtype_name__ = 'AprTestKindOfBase'
            kind = GObject.Property(type=str, default='base', flags=GObject.ParamFlags.READABLE)

        class Derived(Base):
            __gtype_name__ = 'AprTestKindOfDerived'
            kind = GObject.Property(type=str, default='derived')

        self.assertEqual(Derived.from_bytes(Derived(kind='own').fit(X, Y).to_bytes()).kind, 'own')

    def test_results(self):
        class Line(Apr.Estimator):
            __gtype_name__ = 'AprTestLine'
            missing = False

            def do_fit(self, X, y, sample_weight, cancellable):
                self.set_result('bounds', [min(y), max(y)])
                return self.set_result('count', len(y))

            def do_predict(self, X):
                if self.missing:
                    self.get_result('nothing')
                return Apr.Tensor([sum(self.get_result('bounds'))] * len(X))

        model = Line().fit(X, Y)
        self.assertEqual(list(model.predict(X)), [min(Y) + max(Y)] * len(X))
        for other in (copy.copy(model), Line.from_bytes(model.to_bytes())):
            self.assertEqual(other.get_result('bounds').tolist(), [min(Y), max(Y)])
            self.assertEqual(float(other.get_result('count')), len(Y))
            self.assertEqual((other.n_features, other.n_targets), (2, 1))
        self.assertFails(Apr.Error.MODEL, 'AprTestLine has no result “bounds”', model.clone().get_result, 'bounds')
        self.assertFails(Apr.Error.FAILED, 'while it is fitted or loaded only', model.set_result, 'count', 1)
        with self.assertRaisesRegex(ValueError, 'NUL'):
            model.get_result('a\0b')
        model.missing = True
        self.assertFails(Apr.Error.MODEL, 'has no result “nothing”', model.predict, X)

        class Linear(Apr.LinearRegression):
            __gtype_name__ = 'AprTestResultsOfLinear'

            def do_fit(self, X, y, sample_weight, cancellable):
                return self.set_result('coefficients', [1, 2])

        self.assertFails(Apr.Error.FAILED, 'keeps its results itself', Linear().fit, X, Y)


if __name__ == '__main__':
    tap.main()
