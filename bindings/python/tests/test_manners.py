# SPDX-License-Identifier: LGPL-2.1-or-later
"""What Python's users expect of any library: its exceptions and its protocols."""

import asyncio
import copy
import inspect
import math
import pathlib
import pickle
import re
import textwrap
import threading
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import tap
from common import Apr, GLib, TestCase, needs_numpy, numpy
from gi.repository import Gio, GObject

X = [[1, 2], [2, 1], [3, 4], [4, 3]]
Y = [5, 4, 11, 10]


class Errors(TestCase):
    def assertRaisesPlainly(self, kinds, pattern, function, *arguments):
        """Checks that an exception is of all these kinds, and that its text is what happened and no more."""
        for kind in kinds:
            with self.assertRaisesRegex(kind, pattern) as context:
                function(*arguments)
        self.assertNotRegex(str(context.exception), r'quark|\(\d+\)$')
        return context.exception

    def test_values(self):
        model = Apr.LinearRegression().fit(X, Y)
        for function, arguments, pattern in (
            (model.fit, (X, [1]), 'X has 4 samples, but y has 1'),
            (model.fit, (X, Y, [1, 1, 1, -1]), '-1'),
            (model.predict, ([[float('nan'), 1]],), 'NaN at row 0, column 0'),
            (model.set_feature_names, (['a'],), 'There is 1 feature name, but'),
            (model.predict_one, ([1],), '1 features'),
            (Apr.LinearRegression.from_bytes, (b'nonsense',), ''),
            (Apr.CrossProducts.new(1, 1).merge, (Apr.CrossProducts.new(2, 1),), ''),
            (Apr.SafetensorsWriter().set_metadata, ('dtype', 'x'), 'dtype'),
            (Apr.r2_score, ([1, 2], [1]), ''),
            (Apr.Tensor([1.0]).slice, ('1:2:0',), ''),
        ):
            with self.subTest(pattern):
                self.assertRaisesPlainly((ValueError, GLib.Error), pattern, function, *arguments)

    def test_files(self):
        directory = self.make_directory()
        model = Apr.LinearRegression().fit(X, Y)
        path = directory / 'missing' / 'model'
        for function in (Apr.LinearRegression.load, Apr.CrossProducts.load, Apr.SafetensorsReader.new_from_path,
                         Apr.SafetensorsReader, Apr.load_file, model.save):
            error = self.assertRaisesPlainly((FileNotFoundError, OSError, GLib.Error), 'missing', function, path)
            self.assertEqual(error.errno, 2)
        self.assertRaisesPlainly((IsADirectoryError, OSError), '', model.save, directory)
        with Apr.SafetensorsReader.new_from_bytes(model.to_bytes()) as reader:
            for function in (reader.get_tensor, reader.__getitem__):
                self.assertRaisesPlainly((KeyError, GLib.Error), '“bias”', function, 'bias')

    def test_not_fitted(self):
        for function in (lambda model: model.predict(X), lambda model: model.score(X, Y), lambda model: model.to_bytes(),
                         lambda model: model.predict_one([1, 2]), lambda model: model.summary()):
            error = self.assertRaisesPlainly((ValueError, GLib.Error), 'unfitted', function, Apr.LinearRegression())
            self.assertEqual(type(error).__name__, 'NotFittedError')

    def test_codes(self):
        # errors.py is imported without the typelib, and has them as numbers.
        from gi.overrides.aprender import errors

        self.assertEqual((errors.NOT_FITTED, errors.FAILED, errors.NO_MEMORY),
                         (Apr.Error.NOT_FITTED, Apr.Error.FAILED, Apr.Error.NO_MEMORY))
        self.assertEqual(errors.TENSOR_NOT_FOUND, Apr.SafetensorsError.NOT_FOUND)

    def test_exceptions_of_several_threads(self):
        """Each gets its own, although all say the same and are on their way through C at once."""
        from gi.overrides.aprender import errors

        raised, caught, all_raised = [ValueError('did not converge') for _ in range(20)], [None] * 20, threading.Barrier(20)

        def call(i):
            error = errors.carry(raised[i], 'do_fit')
            all_raised.wait()
            caught[i] = errors.translate(error)

        threads = [threading.Thread(target=call, args=[i]) for i in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for i in range(20):
            self.assertIs(caught[i], raised[i])
        # C may have called the function in a thread of its own.
        thread = threading.Thread(target=lambda: caught.append(errors.carry(raised[0], 'do_fit')))
        thread.start()
        thread.join()
        self.assertIs(errors.translate(caught[-1]), raised[0])
        self.assertIsInstance(errors.translate(caught[-1]), GLib.Error)

    def test_no_memory(self):
        from gi.overrides.aprender import errors

        error = errors.make('There is no memory for a matrix of 8 bytes', 'apr-error-quark', Apr.Error.NO_MEMORY)
        self.assertIsInstance(error, MemoryError)
        self.assertIsInstance(error, GLib.Error)
        self.assertNotIsInstance(error, ValueError)
        self.assertTrue(error.matches(Apr.error_quark(), Apr.Error.NO_MEMORY))
        self.assertEqual(str(error), 'There is no memory for a matrix of 8 bytes')
        self.assertIsInstance(pickle.loads(pickle.dumps(error)), MemoryError)

    @needs_numpy
    def test_single_numbers(self):
        model = Apr.LinearRegression().fit(X, Y)
        for function in (lambda: model.predict(3), lambda: model.fit(3, Y)):
            self.assertRaisesPlainly((TypeError, ValueError), 'X must be numbers in lists .* not 3', function)
        self.assertRaisesPlainly((TypeError, ValueError), 'y must be numbers in lists .* not 3.0', model.fit, X, 3.0)

    def test_statistics_are_not_pickled(self):
        model = Apr.LinearRegression().fit([*X, [1, 1]], [*Y, 3])
        statistics = model.get_statistics()
        for value in (statistics, model.diagnose([*X, [1, 1]], [*Y, 3]), statistics['x0'], statistics.test_hypothesis('x0 = 1')):
            self.assertRaisesPlainly((TypeError,), 'cannot be pickled: pass on .*keep_state=True', pickle.dumps, value)
            self.assertIs(copy.deepcopy(value), value)
            self.assertIs(copy.copy(value), value)

    def test_one_dimension(self):
        with self.assertRaisesRegex(ValueError, r'it has \[3\].*X.reshape\(-1, 1\)'):
            Apr.LinearRegression().fit(numpy.ones(3), [1, 2, 3])
        with self.assertRaisesRegex(ValueError, r'X.reshape\(1, -1\)'):
            Apr.LinearRegression().fit(X, Y).predict(numpy.ones(2))

    @needs_numpy
    def test_what_holds_data_in_another_form(self):
        class Reader:
            def iter_batches(self):
                return iter([])

        for data, advice in (('rents.csv', 'pandas.read_csv'), (pathlib.Path('rents.parquet'), 'iter_batches'),
                             (Reader(), r'pass what its iter_batches\(\) gives'), ({'a': [1, 2]}, 'pandas.DataFrame')):
            with self.assertRaisesRegex(ValueError, f'^X must be numbers .* not .*{advice}'):
                Apr.LinearRegression().fit(data, [1, 2])
        with self.assertRaisesRegex(TypeError, 'a dict at row 0 .*pandas.DataFrame'):
            Apr.LinearRegression().fit([{'a': 1}, {'a': 2}], [1, 2])

    @needs_numpy
    def test_tensors_that_numpy_cannot_read(self):
        class Tensor:
            def __init__(self, error, **attributes):
                self.error = error
                vars(self).update(attributes)

            def __array__(self, *args, **kwargs):
                raise self.error

        # As PyTorch words them.
        gradient = Tensor(RuntimeError("Can't call numpy() on Tensor that requires grad."), requires_grad=True, dtype='torch.float32')
        short = Tensor(TypeError('Got unsupported ScalarType BFloat16'), requires_grad=False, dtype='torch.bfloat16')
        other = Tensor(TypeError("can't convert cuda:0 device type tensor to numpy."))
        path = self.make_directory() / 'tensors'
        eighth = Tensor(TypeError('Got unsupported ScalarType Float8_e4m3fn'), requires_grad=False, dtype='torch.float8_e4m3fn')
        models = (('X', lambda X: Apr.LinearRegression().fit(X, Y)), ('y', lambda y: Apr.LinearRegression().fit(X, y)))
        files = (('The tensor', Apr.Tensor), ('The tensor “w”', lambda w: Apr.save_file({'w': w}, path)))
        for calls, tensor, said in ((models + files, gradient, r"Can't call .*: pass what its detach\(\) gives$"),
                                    (models, short, r'Got unsupported ScalarType BFloat16: pass what its float\(\) gives$'),
                                    (files, short, r"BFloat16: pass Apr\.Tensor\.new_from_bytes\('bf16', tensor\.shape, "
                                                   r'tensor\.detach\(\)\.view\(torch\.int16\)\.numpy\(\)\)$'),
                                    (files, eighth, r"pass Apr\.Tensor\.new_from_bytes\('f8-e4m3', .*\.view\(torch\.uint8\)"),
                                    (models + files, other, r"can't convert cuda:0 device type tensor to numpy\.$")):
            for name, call in calls:
                self.assertRaisesPlainly((TypeError, ValueError), f'^{name} cannot be read as an array: .*{said}', call, tensor)

    @needs_numpy
    def test_names_of_tensors_that_cannot_be_saved(self):
        path = self.make_directory() / 'tensors'
        array = numpy.array(['2020-01-01'], dtype='M8[D]')
        for name, call in (('The tensor', Apr.Tensor), ('The tensor “w”', lambda w: Apr.save_file({'w': w}, path)),
                           ('The tensor “w”', lambda w: Apr.SafetensorsWriter().add_tensor('w', w))):
            self.assertRaisesPlainly((TypeError,), f'^{name} is an array of the dtype “datetime64.*bool, uint8', call, array)

    def test_lists_of_decimals(self):
        texts = ['0.1', '1.00000000000000011102230246251565404236316680908203125', '-12345678901234567890.123', '7']
        state = Apr.CrossProducts.new(1, 1).update([[Decimal(text)] for text in texts], [Fraction(text) for text in texts])
        self.assertEqual(state, Apr.CrossProducts.new(1, 1).update([[float(text)] for text in texts], list(map(float, texts))))
        self.assertEqual(Apr.Tensor([Decimal('0.1'), 2, 0.5]).tolist(), [0.1, 2, 0.5])
        for text, said in (('1e400', 'X has an infinity at row 0'), ('NaN', 'X has a NaN at row 0'),
                           ('sNaN', 'X has a number at row 0, column 0 .* which a double cannot hold')):
            with self.assertRaisesRegex(ValueError, said):
                Apr.LinearRegression().fit([[Decimal(text)], [1]], [1, 2])

    @needs_numpy
    def test_records(self):
        with self.assertRaisesRegex(ValueError, 'X is an array of records: .*pandas.DataFrame'):
            Apr.LinearRegression().fit(numpy.zeros(2, [('a', 'f8'), ('b', 'f8')]), [1, 2])

    def test_predict_one_by_names(self):
        """Names in a dictionary have no order: what is wrong with them is which there are."""
        model = Apr.LinearRegression().fit(X, Y)
        model.set_feature_names(['area', 'rooms'])
        self.assertEqual(model.predict_one({'rooms': 4, 'area': 3}), model.predict_one([3, 4]))
        for sample, said in (({'rooms': 1, 'area': 1, 'age': 1}, ['Feature names unseen at fit time:', '- age']),
                             ({'rooms': 1}, ['Feature names seen at fit time, yet now missing:', '- area']),
                             ({'age': 1, 'rooms': 1}, ['Feature names unseen at fit time:', '- age',
                                                       'Feature names seen at fit time, yet now missing:', '- area'])):
            with self.subTest(sample), self.assertRaises(ValueError) as context:
                model.predict_one(sample)
            self.assertTrue(context.exception.matches(Apr.error_quark(), Apr.Error.FEATURE_NAMES))
            self.assertEqual(str(context.exception).split('\n'),
                             ['The feature names should match those that were passed during fit.', *said])

    def test_predict_one_names_the_feature(self):
        class Sample(NamedTuple):
            area: float
            rooms: float

        model = Apr.LinearRegression().fit(X, Y)
        for names in (None, ['area', 'rooms']):
            model.set_feature_names(names)
            for make in (lambda **sample: sample, lambda **sample: Sample(**sample)) if names else (lambda **sample: sample,):
                for value, said in ((None, 'a missing value'), ('two', 'the string “two”'), ([2], 'an array')):
                    with self.assertRaisesRegex(TypeError, f'^The sample has {said} at feature “rooms”, not a number$'):
                        model.predict_one(make(area=3, rooms=value))
                for value, said in ((math.nan, 'a NaN'), (-math.inf, 'an infinity')):
                    self.assertFails(Apr.Error.NOT_FINITE, f'^The sample has {said} at feature “rooms”$', model.predict_one,
                                     make(area=3, rooms=value))
        self.assertFails(Apr.Error.NOT_FINITE, 'a NaN at feature 1 .counted', model.predict_one, [3, math.nan])
        with self.assertRaisesRegex(TypeError, 'numbers in a list'):
            model.predict_one([3, None])

    def test_a_reader(self):
        """It has y too, and is often passed without one."""
        table = GLib.Bytes.new(b'a,y\n1,2\n2,3\n3,5\n')
        reader = Apr.TableReader.new(Gio.MemoryInputStream.new_from_bytes(table), 'table')
        reader.targets = ['y']
        model, state = Apr.LinearRegression().fit([[1], [2]], [1, 2]), Apr.CrossProducts.new(1, 1)
        for function in (model.fit, model.fit_async, model.partial_fit, model.partial_fit_async, model.score,
                         model.score_async, state.update, state.update_async):
            for arguments in ((reader,), (reader, None), (reader, [2, 3, 5])):
                with self.assertRaisesRegex(ValueError, r'^X must be .* not a TableReader: .*Apr.CrossProducts, .*update\(X, y, '
                                            r'weights\)”, and call model.fit_cross_products\(state\)'):
                    function(*arguments)
        with self.assertRaisesRegex(ValueError, r'not a TableReader: .*; predict\(\) takes the X of each batch$'):
            model.predict(reader)
        with self.assertRaisesRegex(ValueError, '^y must be .* not a TableReader'):
            model.fit([[1], [2]], reader)
        # As the message says; what else is missing is Python's to say.
        for batch in reader:
            state.update(*batch)
        self.assertEqual(Apr.LinearRegression().fit_cross_products(state).n_features, 1)
        with self.assertRaisesRegex(TypeError, "missing 1 required positional argument: 'y'"):
            model.fit([[1], [2]])
        self.assertEqual(list(inspect.signature(Apr.LinearRegression.fit).parameters),
                         ['self', 'X', 'y', 'sample_weight', 'cancellable'])


class Strings(TestCase):
    def test_enumerations(self):
        model = Apr.LinearRegression(dtype='f32', precision='double').fit(X, Y)
        self.assertEqual((model.dtype, model.precision), (Apr.DType.F32, Apr.Precision.DOUBLE))
        for kind, same in (('confidence', Apr.IntervalKind.CONFIDENCE), ('prediction', Apr.IntervalKind.PREDICTION)):
            noisy = Apr.LinearRegression().fit(X, [5, 4, 11, 11])
            self.assertEqual([list(part) for part in noisy.predict_interval(X, kind=kind)],
                             [list(part) for part in noisy.predict_interval(X, kind=same)])
        with self.assertRaisesRegex(ValueError, 'kind must be one of “prediction”, “confidence”, not “both”'):
            model.predict_interval(X, kind='both')
        tensor = Apr.Tensor.new_from_bytes('i16', [2], b'\1\0\2\0')
        self.assertEqual((tensor.dtype, tensor.cast('f32').dtype), (Apr.DType.I16, Apr.DType.F32))
        for nick, size in (('bool', 1), ('u8', 1), ('f8-e4m3', 1), ('bf16', 2), ('f16', 2), ('f32', 4), ('f8-e4m3fnuz', 1)):
            for name in (nick, nick.upper(), nick.replace('-', '_'), nick.upper().replace('-', '_')):
                tensor = Apr.Tensor.new_from_bytes(name, [1], bytes(size))
                self.assertEqual(tensor.dtype.value_nick, nick)
        self.assertEqual(tensor.cast('F32').dtype, Apr.DType.F32)
        self.assertEqual(Apr.LinearRegression(dtype='F32').fit(X, Y).dtype, Apr.DType.F32)
        self.assertEqual(Apr.CrossProducts.new_with_precision(1, 1, 'double').get_precision(), Apr.Precision.DOUBLE)
        model.set_dtype('f64')
        self.assertEqual(model.get_dtype(), Apr.DType.F64)
        for dtype, named in (('single', 'single'), ('int8', 'i8'), ('bf16', 'bf16')):
            with self.assertRaisesRegex(ValueError, f'^dtype must be one of “none”, “f32”, “f64”, not “{named}”$'):
                Apr.LinearRegression(dtype=dtype)
        for value, shown in ((float, 'a type'), (2.5, '2.5')):
            for function, choices in ((lambda value: Apr.LinearRegression(dtype=value), '“none”, “f32”, “f64”'),
                                      (lambda value: Apr.LinearRegression().set_params(dtype=value), '“none”, “f32”, “f64”'),
                                      (Apr.Tensor([1.0]).cast, '“none”, “bool”, .*')):
                with self.assertRaisesRegex(ValueError, f'dtype must be one of {choices}, not {shown}$') as context:
                    function(value)
                self.assertIsInstance(context.exception, TypeError)
        for function, name in ((lambda: Apr.LinearRegression(precision=None), 'precision'),
                               (lambda: model.predict_interval(X, kind=None), 'kind'),
                               (lambda: Apr.CrossProducts.new_with_precision(1, 1, None), 'precision')):
            with self.assertRaisesRegex(ValueError, f'^{name} must be one of “[a-z]+”, “[a-z]+”, not None$'):
                function()

    def test_numbers(self):
        for keywords, text in (({'alpha': '1'}, 'alpha must be a number, not the string “1”'),
                               ({'alpha': [1, 2]}, 'alpha must be a number, not an array; alphas has one for each target'),
                               ({'n_threads': 1.5}, 'n_threads must be a whole number from 0 to 4294967295, not 1.5$'),
                               ({'n_threads': -1}, 'whole number from 0 to 4294967295, not -1$')):
            (name, value), = keywords.items()
            for function in (Apr.LinearRegression, Apr.LinearRegression().set_params,
                             lambda **_: setattr(Apr.LinearRegression(), name, value)):
                with self.assertRaisesRegex(ValueError, text):
                    function(**keywords)
        self.assertEqual(Apr.LinearRegression(alpha=Fraction(1, 4), n_threads=True).alpha, 0.25)

    @needs_numpy
    def test_numbers_of_numpy(self):
        for alpha in (numpy.float32(0.5), numpy.array(0.5)):
            self.assertEqual(Apr.LinearRegression(alpha=alpha, n_threads=numpy.int64(2)).alpha, 0.5)
        with self.assertRaisesRegex(ValueError, 'alpha must be a number, not an array'):
            Apr.LinearRegression(alpha=numpy.array([0.5]))

    def test_values_of_classes_in_python(self):
        """GObject would keep the old number, and only warn, and PyGObject would make a string of anything."""
        class Settings(Apr.Estimator):
            __gtype_name__ = 'AprTestSettings'
            factor = GObject.Property(type=float, default=0.5, minimum=0, maximum=1)
            free = GObject.Property(type=float)
            above = GObject.Property(type=float, minimum=0)
            loose = GObject.Property(type=float, flags=GObject.ParamFlags.READWRITE | GObject.ParamFlags.LAX_VALIDATION)
            single = GObject.Property(type=GObject.TYPE_FLOAT, default=0.1, minimum=0.1, maximum=3)
            steps = GObject.Property(type=int, default=3, minimum=1)
            small = GObject.Property(type=GObject.TYPE_UINT, default=3, maximum=9)
            signed = GObject.Property(type=GObject.TYPE_LONG)
            unsigned = GObject.Property(type=GObject.TYPE_ULONG)
            large = GObject.Property(type=GObject.TYPE_INT64)
            larger = GObject.Property(type=GObject.TYPE_UINT64)
            unit = GObject.Property(type=str, default='m')
            flag = GObject.Property(type=bool, default=False)

        defaults = Settings().get_params()
        whole = r'must be a whole number from 1 to \d+, not '
        for name, value, text in (
                ('factor', 5.0, 'must be a number from 0 to 1, not 5.0$'), ('factor', -1, 'not -1.0$'),
                ('factor', math.nan, 'not nan$'), ('factor', '0.5', 'not the string “0.5”'), ('factor', None, 'not None'),
                ('free', math.inf, 'must be a finite number, not inf'), ('free', math.nan, 'not nan'), ('free', 10 ** 400, 'not 1'),
                ('above', -0.5, 'must be a finite number from 0 on, not -0.5'), ('loose', math.inf, 'not inf'),
                ('single', 4, 'must be a number from 0.1 to 3, not 4.0'), ('single', 1e300, 'not inf'),
                ('steps', 0, f'{whole}0'), ('steps', 2.9, f'{whole}2.9'), ('steps', '2', f'{whole}the string “2”'),
                ('small', 10, 'must be a whole number from 0 to 9, not 10'), ('signed', 1 << 70, 'whole number'),
                ('unsigned', -1, 'whole number from 0'), ('large', 1 << 63, 'whole number'), ('larger', -1, 'whole number from 0'),
                ('unit', 5, 'must be a string, not 5'), ('unit', b'x', 'must be a string, not a bytes'),
                ('flag', 'no', "must be True or False, not 'no'"),
                ('steps', 2j, 'whole number'), ('free', 1 + 2j, 'must be a finite number')):
            settings = Settings()
            for function in (Settings, settings.set_params, settings.set_properties,
                             lambda **_: setattr(settings, name, value), lambda **_: setattr(settings.props, name, value),
                             lambda **_: settings.set_property(name, value)):
                with self.assertRaisesRegex(ValueError, f'^{name} .*{text}'):
                    function(**{name: value})
            self.assertEqual(settings.get_params(), defaults)
        for name, value in (('factor', 1), ('single', 2), ('steps', 1), ('larger', (1 << 64) - 1), ('unit', None),
                            ('unit', 'km'), ('flag', 1), ('free', Fraction(1, 4)), ('steps', 2.0), ('steps', Decimal(2)),
                            ('steps', True)):
            self.assertEqual(Settings(**{name: value}).get_property(name), value)
        self.assertEqual(Settings(unit=pathlib.PurePosixPath('/x')).unit, '/x')
        for name in ('fitted', 'n-features'):
            with self.assertRaisesRegex(TypeError, 'not writable'):
                Settings().set_property(name, 'x')
        # The nearest number of single precision is the bound.
        self.assertAlmostEqual(Settings(single=0.1).single, 0.1)
        self.assertTrue(math.isnan(Settings(loose=math.nan).loose))

    def test_no_dtype(self):
        model = Apr.LinearRegression(dtype=None)
        self.assertEqual((model.dtype, model.get_params()['dtype'], model.clone().dtype), (Apr.DType.NONE, None, Apr.DType.NONE))
        self.assertEqual(model.set_params(dtype='f32').set_params(dtype=None).dtype, Apr.DType.NONE)

    def test_dtypes_by_the_names_of_numpy(self):
        for dtype in ('float32', 'f32', Apr.DType.F32):
            self.assertEqual(Apr.LinearRegression(dtype=dtype).get_property('dtype'), Apr.DType.F32)
        self.assertEqual(Apr.Tensor([1.0]).cast('float32').get_dtype(), Apr.DType.F32)
        # numpy calls 8 bytes “i8”, and the library 8 bits.
        self.assertEqual(Apr.Tensor.new_from_bytes('i8', [1], b'\1').get_dtype(), Apr.DType.I8)

    @needs_numpy
    def test_dtypes_of_numpy(self):
        for dtype in (numpy.float32, numpy.dtype('f4')):
            model = Apr.LinearRegression()
            model.dtype = dtype
            self.assertEqual(model.get_params()['dtype'], 'f32')
            self.assertEqual(Apr.LinearRegression(dtype=dtype).clone().fit(X, Y).coefficients.dtype, numpy.float32)

    def test_n_threads_stay(self):
        for model in (Apr.LinearRegression(n_threads=3), Apr.LinearRegression(n_threads=3).fit(X, Y)):
            for other in (model.clone(), copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
                self.assertEqual(other.n_threads, 3)

    def test_predict_by_one(self):
        """What linear regression itself predicts can be asked for in a subclass's predict."""
        class Clipped(Apr.LinearRegression):
            __gtype_name__ = 'AprTestClipped'

            def do_predict(self, X):
                return Apr.Tensor([max(self.predict_one(row), 10.0) for row in X.tolist()])

        model = Clipped().fit([[1], [2], [3]], [2, 4, 6])
        self.assertEqual((list(model.predict([[1]])), model.predict_one([1])), ([10.0], 2))

    def test_no_memory_by_address(self):
        self.assertFalse(hasattr(Apr.LinearRegression, 'predict_into'))
        self.assertFalse(hasattr(Apr.LinearRegression(), 'predict_into'))


class Files(TestCase):
    def test_tensor_without_an_array(self):
        path = self.make_directory() / 'packed.safetensors'
        Apr.save_file({'a': [1.0], 'packed': Apr.Tensor.new_from_bytes('f4', [4], b'\x12\x34')}, path)
        with self.assertRaisesRegex(TypeError, 'load_file.* the tensor “packed”, as Apr.SafetensorsReader need not: .*F4'):
            Apr.load_file(path)

    def test_dictionary(self):
        path = self.make_directory() / 'weights.safetensors'
        Apr.save_file({'b': [[1.0, 2.0], [3.0, 4.0]], 'a': Apr.Tensor([5]).cast('f32')}, path, {'format': 'pt'})
        arrays = Apr.load_file(str(path))
        self.assertEqual({name: list(map(list, array)) if name == 'b' else list(array) for name, array in arrays.items()},
                         {'a': [5], 'b': [[1, 2], [3, 4]]})
        with Apr.SafetensorsReader(path) as file:
            self.assertEqual(file['b'].tolist(), [[1, 2], [3, 4]])
            self.assertEqual([name for name, _ in file.items()], ['a', 'b'])
            self.assertEqual([tensor.shape for tensor in file.values()], [(1,), (2, 2)])
            self.assertEqual(file.get('a'), file['a'])
            self.assertIsNone(file.get('c'))
            self.assertEqual(file.get('c', 7), 7)
            self.assertEqual(file.metadata, {'format': 'pt'})
            self.assertEqual(dict(file)['a'], file['a'])
        self.assertEqual(Apr.SafetensorsReader(path=path, load_mode='read')['a'].tolist(), [5])

    def test_constructor_without_such_a_property(self):
        with self.assertRaisesRegex(TypeError, r'^LinearRegression.__init__\(\) takes 1 positional argument'):
            Apr.LinearRegression(False)
        with self.assertRaisesRegex(TypeError, 'LinearRegression has no property “n_thread”: is it “n_threads”'):
            Apr.LinearRegression(n_thread=2)
        with self.assertRaisesRegex(TypeError, 'no property “n_jobs”: it is “n_threads” here, and 0'):
            Apr.LinearRegression(n_jobs=2)
        with self.assertRaisesRegex(TypeError, 'has no property “n_jobs”$'):
            Apr.SafetensorsWriter(n_jobs=2)
        with self.assertRaisesRegex(TypeError, 'has no property “quux”$'):
            Apr.LinearRegression(quux=2)

    def test_constructor_with_what_it_does_not_set(self):
        with self.assertRaisesRegex(TypeError, 'CrossProducts takes no “feature_names”: set it after .*_names = '):
            Apr.CrossProducts(feature_names=['a', 'b'])
        for class_, name in ((Apr.LinearRegression, 'rank'), (Apr.LinearRegression, 'intercept'),
                             (Apr.LinearRegression, 'coefficients'), (Apr.LinearRegression, 'n-features'),
                             (Apr.TableReader, 'names'), (Apr.CrossProducts, 'busy')):
            with self.assertRaisesRegex(TypeError, f'takes no “{name.replace("-", "_")}”: it can only be read$'):
                class_(**{name: None})
        self.assertEqual(Apr.CrossProducts(n_features=2, n_targets=1, precision='double').n_features, 2)
        self.assertEqual(Apr.TableReader(delimiter=';', name='rents').delimiter, ';')

    def test_constructor_with_properties(self):
        path = self.make_directory() / 'weights.safetensors'
        Apr.save_file({'a': [1.0]}, path)
        reader = Apr.SafetensorsReader(bytes=GLib.Bytes.new(path.read_bytes()))
        reader.init(None)
        self.assertEqual(reader['a'].tolist(), [1.0])


class Tensors(TestCase):
    @needs_numpy
    def test_shape(self):
        tensor = Apr.Tensor(numpy.arange(6.0).reshape(2, 3))
        self.assertEqual((tensor.ndim, tensor.size, tensor.shape), (2, 6, (2, 3)))
        self.assertEqual(tensor.T.tolist(), [[0, 3], [1, 4], [2, 5]])

    def test_numbers(self):
        for tensor in (Apr.Tensor(2.5), Apr.Tensor([2.5]), Apr.Tensor([[2.5]])):
            self.assertEqual((float(tensor), int(tensor)), (2.5, 2))
        with self.assertRaisesRegex(TypeError, r'one element.*\[2\]'):
            float(Apr.Tensor([1, 2]))

    def test_intercept(self):
        model = Apr.LinearRegression().fit(X, Y)
        self.assertEqual((float(model.intercept), f'{model.intercept:.1f}'), (0.0, '0.0'))
        self.assertEqual(list(Apr.LinearRegression().fit(X, [[5, 1], [4, 1], [11, 1], [10, 1]]).intercept), [0, 1])


class Subclasses(TestCase):
    SOURCE = textwrap.dedent('''
        class Mean(Apr.Estimator):
            __gtype_name__ = 'AprTestNotebookMean'

            shift = GObject.Property(type=float, default=0.0)

            def do_fit(self, X, y, sample_weight, cancellable):
                self.mean = float(sum(y) / len(y))
                return True

            def do_predict(self, X):
                return Apr.Tensor([self.mean + self.shift] * X.shape[0])

            def do_save_tensors(self, writer):
                return writer.add_tensor('mean', [self.mean])

            def do_load_tensors(self, reader):
                self.mean = float(reader['mean'])
                return True, 2, 1
    ''')

    def define(self):
        names = {'Apr': Apr, 'GObject': GObject}
        exec(self.SOURCE, names)
        return names['Mean']

    def test_a_cell_may_run_again(self):
        first = self.define()
        data = first(shift=1).fit(X, Y).to_bytes()
        for _ in range(3):
            again = self.define()
            model = again.from_bytes(data)
            self.assertIs(type(model), again)
            self.assertEqual((model.shift, list(model.predict(X))), (1.0, [8.5] * 4))
            self.assertEqual(model.to_bytes().get_data(), data.get_data())
            self.assertEqual(again(shift=2).get_params(), {'shift': 2})
            self.assertEqual(again(shift=2).clone().shift, 2.0)
        with self.assertRaisesRegex(ValueError, '“AprTestNotebookMean”, not “AprLinearRegression”'):
            Apr.LinearRegression.from_bytes(data)

    def test_arguments_that_clones_would_lose(self):
        with self.assertRaisesRegex(TypeError, r'Shrunk.__init__ takes “factor”, .* factor = GObject.Property\('):
            class Shrunk(Apr.Estimator):
                def __init__(self, factor=1.0, *, fit_intercept=True):
                    super().__init__()

        class Grown(Apr.LinearRegression):
            __gtype_name__ = 'AprTestGrown'
            __gproperties__ = {'how-much': (float, None, None, 0, 9, 1, GObject.ParamFlags.READWRITE)}
            factor = GObject.Property(type=float, default=1.0)

            def __init__(self, factor=2.0, how_much=3.0, alpha=4.0, *others, **rest):
                super().__init__(factor=factor, alpha=alpha, **rest)

        class More(Grown):
            def __init__(self, factor=5.0):
                super().__init__(factor)

        self.assertEqual([Grown().factor, Grown(6.0).clone().factor, More().clone().factor], [2.0, 6.0, 5.0])

    def test_hyper_parameters(self):
        flags = GObject.ParamFlags

        class Flags(self.define()):
            __gtype_name__ = 'AprTestFlags'

            plain = GObject.Property(type=int, default=0)
            construct = GObject.Property(type=int, default=0, flags=flags.READWRITE | flags.CONSTRUCT)
            once = GObject.Property(type=int, default=0, flags=flags.READWRITE | flags.CONSTRUCT_ONLY)
            transient = GObject.Property(type=int, default=0, flags=flags.READWRITE | Apr.PARAM_TRANSIENT)
            once_transient = GObject.Property(type=int, default=0,
                                              flags=flags.READWRITE | flags.CONSTRUCT_ONLY | Apr.PARAM_TRANSIENT)
            deprecated = GObject.Property(type=int, default=0, flags=flags.READWRITE | -flags.DEPRECATED)
            read_only = GObject.Property(type=int, default=0, flags=flags.READABLE)

        values = {'shift': 1.0, 'plain': 2, 'construct': 3, 'once': 4}
        transient = {'transient': 5, 'once_transient': 6}
        model = Flags(**values, **transient)
        data = model.clone().fit(X, Y).to_bytes()
        # What the library writes is what it takes for a hyper-parameter.
        written = Apr.SafetensorsReader.new_from_bytes(data).metadata
        self.assertEqual(set(written), {f'aprender.{name}' for name in ('model', 'format', *values)})
        self.assertEqual(Flags.from_bytes(data).once, 4)
        self.assertEqual(set(re.findall(r'(\w+)=', repr(model))), set(values))
        self.assertEqual(model.get_params(), values | transient)
        for copied in (model.clone(), copy.copy(model), Flags(**model.get_params())):
            self.assertEqual(copied.get_params(), values | transient)
        make, (_, arguments), _ = model.__reduce__()
        self.assertEqual(make(Flags, arguments).get_params(), values | transient)
        # No file holds what is only written when an object is made, and only says how a machine is used.
        make, (_, *arguments), _ = model.fit(X, Y).__reduce__()
        self.assertEqual(make(Flags, *arguments).get_params(), values | transient | {'once_transient': 0})

    def test_score_uses_an_overridden_predict(self):
        class Squares(Apr.LinearRegression):
            """Predicts the squares of what a line predicts."""

            __gtype_name__ = 'AprTestSquares'

            def fit(self, X, y, sample_weight=None):
                return super().fit(X, [value ** 0.5 for value in y], sample_weight)

            def predict(self, X):
                return [value ** 2 for value in super().predict(X)]

        class Shifted(self.define()):
            __gtype_name__ = 'AprTestShifted'

            def predict(self, X):
                return [value + 1 for value in super().predict(X)]

        X, y = [[0], [1], [2], [3]], [1, 9, 25, 49]
        model = Squares().fit(X, y)
        self.assertEqual(list(model.predict([[4]])), [81])
        self.assertEqual((model.score(X, y), asyncio.run(model.score_async(X, y))), (1.0, 1.0))
        # 1 - Σ (y - 6)² / Σ (y - 5)², about the mean 5.
        model = Shifted().fit(X, [2, 4, 6, 8])
        loop, scores = GLib.MainLoop(), []
        model.score_async(X, [2, 4, 6, 8], None, None, lambda model, result: (scores.append(model.score_finish(result)), loop.quit()))
        if not scores:
            loop.run()
        self.assertEqual([model.score(X, [2, 4, 6, 8]), *scores], [-0.2] * 2)


if __name__ == '__main__':
    tap.main()
