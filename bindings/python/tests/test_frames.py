# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables as programs pass them on: without rows, in batches whose columns change, with gaps, grouped by several columns.

    with-peer python test_frames.py
"""

import array
import asyncio
import copy
import decimal
import gc
import io
import math
import re
import pickle
import unittest.mock
import warnings

import tap
from common import Apr, TestCase, numpy

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.compute
import scipy.sparse
import sklearn.exceptions

FRAME = pandas.DataFrame({'a': [1., 2, 4], 'y': [1., 2, 3]})


class Frames(TestCase):
    def test_no_rows(self):
        state = Apr.CrossProducts.new(1, 1).update(FRAME, 'y')
        before = state.copy()
        for make in (lambda frame: frame, pyarrow.table, polars.from_pandas, lambda frame: frame.convert_dtypes(),
                     lambda frame: pyarrow.table(frame).to_reader(), lambda frame: iter([frame, frame])):
            self.assertEqual(state.update(make(FRAME[:0]), 'y'), before)
            self.assertEqual(Apr.CrossProducts.new(1, 1).update(make(FRAME[:0]), 'y').n_samples, 0)
            self.assertFails(Apr.Error.EMPTY, 'Cannot fit 0 samples', Apr.LinearRegression().fit, make(FRAME[:0]), 'y')

    def test_dtypes_that_no_model_computes_with(self):
        if numpy.dtype('longdouble').itemsize == 8:
            self.skipTest('a long double is a double')
        frame = FRAME.astype({'a': 'longdouble'})
        column = f'the dtype “{frame.a.dtype}”, but models compute with .*astype'
        model = Apr.LinearRegression().fit(FRAME[['a']], FRAME.y)
        for function, arguments, name in (
                (model.fit, (frame, 'y'), 'Column “a” of X'), (model.fit, (FRAME, 'y', frame.a), 'sample_weight'),
                (model.fit, (FRAME, frame.a), 'y'), (model.fit, (iter([frame]), 'y'), 'Column “a” of X'),
                (model.fit, (frame.a, FRAME.y), 'X'), (model.predict, (frame[['a']],), 'Column “a” of X'),
                (model.fit, (pandas.DataFrame(frame.a.to_numpy()), FRAME.y), 'Column 0 of X'),
                (model.fit, (scipy.sparse.csr_matrix(frame[['a']].to_numpy()), FRAME.y), 'X')):
            with self.assertRaisesRegex(ValueError, f'^{name} has {column}'):
                function(*arguments)

    def test_advice_that_fits_the_column(self):
        dummies = 'drop it, or make numbers of it, such as the dummies of X.to_dummies(\'c\'), of which the same one is dropped ' \
            'each time, or of a OneHotEncoder'
        for values, dtype, what in (
                (['a', 'b', 'a'], None, f'text, but models compute with numbers: {dummies}, or a cast if the texts are numbers'),
                (['a', 'b', 'a'], polars.Categorical, f'categories, but models compute with numbers: {dummies}'),
                ([None] * 3, None, 'nulls only, but models compute with numbers: drop it'),
                ([b'1', b'2', b'3'], None, 'bytes, but models compute with numbers: drop it, or make numbers of it, such as a cast '
                                           'if they spell numbers'),
                ([1, 2, 3], polars.Int128, 'integers of 128 bits, but models compute with numbers: drop it, or make numbers of '
                                           'it, such as a cast to float64')):
            with self.assertRaises(ValueError) as caught:
                Apr.LinearRegression().fit(polars.DataFrame({'c': polars.Series(values, dtype=dtype)}), [1, 2, 3])
            self.assertEqual(str(caught.exception), f'Column “c” of X holds {what}')
        periods = pandas.DataFrame({'c': pandas.period_range('2020', '2022', freq='Y')})
        with self.assertRaisesRegex(ValueError, 'holds period.*: drop it, or make numbers of it$'):
            Apr.LinearRegression().fit(periods, [1, 2, 3])

    def test_sparse_arrays_of_one_dimension(self):
        ones, X, y = scipy.sparse.coo_array(numpy.ones(3)), [[1], [2], [4]], [1, 2, 3]
        model = Apr.LinearRegression().fit(X, y)
        expected = r'X must have the shape \[n_samples, n_features\], but it has \[3\]\. Reshape your data: X\.reshape\(-1, 1\)'
        for function, arguments in ((model.fit, (ones, y)), (model.predict, (ones,)), (model.partial_fit, (ones.tocsr(), y))):
            self.assertFails(Apr.Error.SHAPE, expected, function, *arguments)
        self.assertFails(Apr.Error.SHAPE, r'y is a sparse array of the shape \[3\]: pass y\.toarray\(\)', model.fit, X, ones)
        self.assertFails(Apr.Error.SHAPE, r'pass sample_weight\.toarray\(\)', model.fit, X, y, ones)
        self.assertEqual(model.fit(ones.reshape(-1, 1), ones.toarray()).intercept, 1)

    def test_columns_change_in_later_batches(self):
        """pandas makes integers of a column of a CSV until the first decimal fraction comes."""
        text = 'rooms,rent\n1,500\n2,700\n2.5,800\n3,900\n'
        expected = Apr.LinearRegression().fit(pandas.read_csv(io.StringIO(text)), 'rent')
        for size in (1, 2, 3):
            model = Apr.LinearRegression().fit(pandas.read_csv(io.StringIO(text), chunksize=size), 'rent')
            self.assertEqual(model.get_coefficients(), expected.get_coefficients())
            self.assertEqual(model.predict(pandas.read_csv(io.StringIO(text), chunksize=size, usecols=['rooms'])).tolist(),
                             expected.predict(pandas.read_csv(io.StringIO(text), usecols=['rooms'])).tolist())
        # A gap makes doubles of integers, too.
        gap = pandas.read_csv(io.StringIO('rooms,rent\n1,500\n2,700\n,800\n'), chunksize=2)
        self.assertFails(Apr.Error.NOT_FINITE, 'row 2, column “rooms”', Apr.LinearRegression().fit, gap, 'rent')
        # No number is rounded before it is summed.
        large = [pandas.DataFrame({'a': [2 ** 53 + 1, 5], 'y': [1, 2]}), pandas.DataFrame({'a': [.5], 'y': [3.]}),
                 pandas.DataFrame({'a': numpy.array([2 ** 63 + 1], 'u8'), 'y': [7]})]
        for batches in (large, large[::-1], large + large):
            state = Apr.CrossProducts.new(1, 1)
            for batch in batches:
                state.update(batch, 'y')
            self.assertEqual(Apr.CrossProducts.new(1, 1).update(iter(batches), 'y'), state)

    def test_gaps_in_y_have_no_names_of_features(self):
        X, holes = pandas.DataFrame({'area': [1., 2, 3, 4], 'rooms': [2., 1, 4, 3]}), [[1., 2], [3., 4], [5., 6], [math.nan, 8]]
        model, state = Apr.LinearRegression().fit(X, numpy.ones((4, 2))), Apr.CrossProducts.new(2, 2)
        functions = (model.fit, Apr.LinearRegression().partial_fit, state.update, model.score, model.diagnose,
                     lambda X, y: asyncio.run(state.update_async(X, y)), lambda X, y: asyncio.run(model.score_async(X, y)))
        for y, name in ((holes, 'column 0'), (polars.DataFrame(holes, ['rent', 'tax'], orient='row'), 'column “rent”')):
            for function in functions:
                self.assertFails(Apr.Error.NOT_FINITE, rf'^y has a NaN at row 3, {name} \(counted from 0\)$', function, X, y)
            for function in (model.fit_groups, lambda *arguments: asyncio.run(model.fit_groups_async(*arguments))):
                self.assertFails(Apr.Error.NOT_FINITE, rf'^y has a NaN at row 3, {name} \(counted from 0\)$', function, X, y, [1] * 4)

    def test_gaps_are_counted(self):
        advice = r'row 1, column “a” .*2 rows miss values: the others are X\[X.notna\(\).all\(axis=1\)\]'
        frame = pandas.DataFrame({'a': [1., None, 3, None], 'b': [1, 2, 3, 5]})
        for X in (frame, frame.astype('f4'), frame.convert_dtypes(), frame.astype(object), frame[['a']]):
            self.assertFails(Apr.Error.NOT_FINITE, advice, Apr.LinearRegression().fit, X, [1, 2, 3, 4])
            self.assertFails(Apr.Error.NOT_FINITE, advice, Apr.CrossProducts.new(X.shape[1], 1).update, X, [1, 2, 3, 4])
        self.assertFails(Apr.Error.NOT_FINITE, r'^y has a missing value at row 1 .*2 rows .*y\[y.notna\(\)\]$',
                         Apr.LinearRegression().fit, frame[['b']], frame.a)
        self.assertFails(Apr.Error.NOT_FINITE, advice, Apr.LinearRegression().fit, frame, 'a')
        whole = pandas.DataFrame({'a': [1, 2, 4], 'y': [1, 2, 3]})
        for dtype in (object, 'Int64'):
            batches = [whole.astype(dtype), whole.assign(a=[1, None, 2]).astype(dtype)]
            self.assertFails(Apr.Error.NOT_FINITE, r'row 4, column “a” \(counted from 0\)$', Apr.LinearRegression().fit,
                             iter(batches), 'y')
        self.assertFails(Apr.Error.NOT_FINITE, 'an infinity at row 3', Apr.LinearRegression().fit,
                         frame.fillna({'a': 1.}).assign(b=[1, 2, 3, math.inf]), [1, 2, 3, 4])

    def test_batches_that_are_none(self):
        model, table = Apr.LinearRegression(), pyarrow.table(FRAME)
        for frame in (FRAME, table, polars.from_pandas(FRAME)):
            for y in ('y', FRAME.y):
                with self.assertRaisesRegex(ValueError, r'X is a list of tables: batches come from an iterator, such as iter\(X\)'):
                    model.fit([frame, frame], y)
        for rows in ([[1., 2], [2., 1]], FRAME.to_numpy()):
            with self.assertRaisesRegex(ValueError, r'X must have tables as batches, not an array: pass list\(X\) where it gives rows'):
                model.fit(iter(rows), [1., 2])
        buffer = pyarrow.BufferOutputStream()
        with pyarrow.ipc.new_file(buffer, table.schema) as file:
            file.write_table(table)
        file = pyarrow.ipc.open_file(buffer.getvalue())
        with self.assertRaisesRegex(ValueError, r'X must be numbers .*: pass what its read_all\(\) gives'):
            model.fit(file, 'y')
        self.assertTrue(model.fit(file.read_all(), 'y').fitted)

    def test_runs(self):
        runs = pyarrow.table({'a': pyarrow.compute.run_end_encode(pyarrow.array([1., 1, 2])), 'y': [1., 2, 3]})
        with self.assertRaisesRegex(ValueError, r'“a” of X holds run-end-encoded values, .* such as pyarrow.compute.run_end_decode'):
            Apr.LinearRegression().fit(runs, 'y')
        self.assertFails(Apr.Error.DTYPE, 'Column “a” of X holds run-end-encoded values', Apr.CrossProducts.new(1, 1).update_arrow,
                         runs, ['y'])

    def test_decimals_of_pandas(self):
        numbers = [decimal.Decimal('1.1'), decimal.Decimal('2.2'), decimal.Decimal('4.7')]
        table = pyarrow.table({'p': pyarrow.array(numbers, pyarrow.decimal128(7, 3))})
        expected = Apr.LinearRegression().fit([[1.1], [2.2], [4.7]], [1, 2, 3])
        model = Apr.LinearRegression().fit(table.to_pandas(types_mapper=pandas.ArrowDtype), [1, 2, 3])
        self.assertEqual(model.get_coefficients(), expected.get_coefficients())

    def test_kinds_of_columns(self):
        for column, what in ((pandas.interval_range(0, 3), r'holds interval\[int64'),
                             (pandas.date_range('2020', periods=3, tz='UTC'), 'holds times.*the days since a date'),
                             (pandas.period_range('2020', periods=3, freq='D'), r'holds period\[D\]'),
                             ([1j, 2, 3], 'holds complex numbers.*their real and their imaginary parts')):
            with self.assertRaisesRegex(ValueError, f'Column “p” of X {what}'):
                Apr.LinearRegression().fit(pandas.DataFrame({'p': column}), [1, 2, 3])
        with self.assertRaisesRegex(ValueError, 'X has a number at row 1, column 0 .*a double cannot hold'):
            Apr.LinearRegression().fit([[1], [10 ** 400]], [1, 2])

    def test_names_of_targets_in_any_sequence(self):
        frame = pandas.DataFrame({'a': [1., 2, 4], 'b': [1., 2, 3], 'c': [1., 2, 5]})
        expected = Apr.LinearRegression().fit(frame, ['b', 'c'])
        for names in (('b', 'c'), frame.columns[1:], numpy.array(['b', 'c']), numpy.array(['b', 'c'], object)):
            model = Apr.LinearRegression().fit(frame, names)
            self.assertEqual(model.get_coefficients(), expected.get_coefficients())
            self.assertEqual(model.target_names, ['b', 'c'])
        for names in (('b', 'd'), numpy.array(['b', 'd'])):
            with self.assertRaisesRegex(ValueError, 'y holds text, “d”'):
                Apr.LinearRegression().fit(frame, names)

    def test_name_of_one_target(self):
        """The column of X that y names is the name of the target, and y stays of one dimension."""
        table = pandas.DataFrame({'a': [1.0, 2, 3, 5, 7], 'y': [1.0, 2, 3, 4, 6], 'z': [5.0, 4, 2, 2, 9]})
        first, other = table[['a', 'y']], table[['a', 'z']]

        async def fit_async(model, *data):
            return await model.fit_async(*data)

        def fit_partly(model, *data):
            return model.partial_fit(*data)

        for fit in (Apr.LinearRegression.fit, fit_partly, lambda *args: asyncio.run(fit_async(*args))):
            for data in (first, pyarrow.table(dict(first)), pandas.concat([first] * 60_000)):
                model = fit(Apr.LinearRegression(keep_state=True), data, 'y')
                self.assertEqual((model.feature_names, model.target_names), (['a'], ['y']))
                self.assertEqual((model.coefficients.shape, model.predict(first[['a']]).shape), ((1,), (5,)))
                self.assertEqual(model.get_statistics('y').r_squared, model.get_statistics().r_squared)
                expected = model.score(first, 'y')
                for function in (model.score, model.score_async, model.partial_fit, model.partial_fit_async, model.diagnose):
                    with self.assertRaisesRegex(ValueError, 'y has the targets “z”, but the model was fitted to “y”'):
                        function(other, 'z')
                # Numbers without a table have no name to compare.
                self.assertEqual(model.score(first[['a']], table.y.rename('z')), expected)
        loaded = Apr.LinearRegression.from_bytes(model.to_bytes())
        with self.assertRaisesRegex(ValueError, 'the model was fitted to “y”'):
            loaded.score(other, 'z')
        state = Apr.CrossProducts.new(1, 1).update(first, 'y')
        self.assertEqual(state.target_names, ['y'])
        self.assertEqual(state.update_arrow(pyarrow.table(dict(first)), ['y']).n_samples, 10)
        with self.assertRaisesRegex(ValueError, 'the targets “z”, but the samples before had “y”'):
            state.update(other, 'z')

    def test_targets_that_are_no_arrays(self):
        y = array.array('d', [1., 2, 3])
        expected = Apr.LinearRegression().fit(FRAME[['a']], FRAME.y)
        for targets in (y, memoryview(y), pyarrow.Tensor.from_numpy(numpy.array(y))):
            self.assertEqual(Apr.LinearRegression().fit(FRAME[['a']], targets).get_coefficients(),
                             expected.get_coefficients())

    def test_one_target_in_two_dimensions(self):
        model = Apr.LinearRegression().fit(FRAME, 'y')
        expected = model.score(FRAME[['a']], FRAME.y)
        self.assertEqual(model.score(FRAME[['a']], FRAME[['y']]), expected)
        self.assertEqual(Apr.LinearRegression().fit(FRAME, ['y']).score(FRAME, 'y'), expected)

    def test_one_sample_has_no_score(self):
        model = Apr.LinearRegression().fit(FRAME, 'y')
        for score in (lambda: model.score([[1.]], [1.]), lambda: Apr.r2_score([1.], [2.]),
                      lambda: max(Apr.r2_score([[1., 2.]], [[2., 2.]], multioutput='raw_values'))):
            with self.assertWarnsRegex(sklearn.exceptions.UndefinedMetricWarning, 'less than two samples') as caught:
                self.assertTrue(math.isnan(score()))
            self.assertEqual(caught.filename, __file__)
        sums = Apr.CrossProducts.new(1, 1).update([[1.]], [1.])
        self.assertTrue(math.isnan(model.score_cross_products(sums)))
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            self.assertEqual(Apr.r2_score([1., 1.], [1., 1.]), 1)

    def test_nothing_holds_a_refused_stream(self):
        """DuckDB's connection is free for the next query, without a garbage collection."""
        connection = duckdb.connect()
        gc.disable()
        self.addCleanup(gc.enable)
        for query, y in (("SELECT 'x' AS a, 1 AS y", 'y'), ("SELECT 1 AS a, 'x' AS y", 'y'), ('SELECT [1, 2] AS a', [1])):
            with self.assertRaises(ValueError):
                Apr.LinearRegression().fit(connection.sql(query), y)
            self.assertEqual(connection.execute('SELECT 1').fetchall(), [(1,)])

    def test_text_in_a_late_batch(self):
        """The message says in which, and at which row it begins."""
        numbers = pandas.DataFrame({'a': [1.0, 2.0], 'y': [3.0, 4.0]})
        text = pandas.DataFrame({'a': pandas.Series(['5', 'oops'], dtype='string'), 'y': [3.0, 4.0]})
        for batches in ((numbers, numbers, text), map(pyarrow.Table.from_pandas, (numbers, numbers, text))):
            with self.assertRaisesRegex(ValueError, r'Batch 2 of X \(counted from 0\), from row 4 on: Column “a” of X holds text'):
                Apr.LinearRegression().fit(iter(batches), 'y')

    def test_advice_for_arrays_of_objects(self):
        for X in (numpy.array([[1.0, 2.0], [3.0, 'x']], object), pandas.DataFrame({'a': [1.0, 3.0], 1: [2.0, 'x']}, dtype=object)):
            with self.assertRaisesRegex(ValueError, r'pandas\.to_numeric\((X\[.*?\]), ') as context:
                Apr.LinearRegression().fit(X, [1, 2])
            column = re.search(r'pandas\.to_numeric\((X\[.*?\]), ', str(context.exception)).group(1)
            self.assertEqual(list(eval(column, {'X': X})), [2.0, 'x'])

    def test_dlpack_that_cannot_be_read(self):
        class Locked:
            def __dlpack__(self, **keywords):
                raise BufferError('the memory is that of a device')

            def __dlpack_device__(self):
                return 1, 0

        with self.assertRaisesRegex(TypeError, 'X cannot be read as an array: the memory is that of a device') as context:
            Apr.LinearRegression().fit(Locked(), [1, 2])
        self.assertIsInstance(context.exception, ValueError)

    def test_lists_of_masked_rows(self):
        """They are masked arrays."""
        for dtype in ('i4', 'f8'):
            masked = numpy.ma.masked_equal(numpy.array([[5, 6], [5, 7], [5, 9], [5, 8]], dtype), 9)
            for rows in (list(masked), tuple(masked)):
                self.assertFails(Apr.Error.NOT_FINITE, 'X is masked at row [02], column 1', Apr.LinearRegression().fit, rows, [1] * len(rows))
            self.assertFails(Apr.Error.NOT_FINITE, 'X is masked at row 2, column 1', Apr.LinearRegression().fit, [[1, 2], *masked[1:3]], [1] * 3)
            self.assertTrue(math.isnan(Apr.Tensor(list(masked)).get_double(5)))
            self.assertEqual(Apr.LinearRegression().fit(list(masked[:2]), [1, 2]).n_features, 2)
            with self.assertRaisesRegex(ValueError, 'X is ragged: the length at row 1 '):
                Apr.LinearRegression().fit([masked[0], masked[1][:1]], [1, 2])


class Attached(TestCase):
    def test_attributes_are_copied(self):
        """What a program has attached to a model stays with it, as with scikit-learn's."""
        for model in (Apr.LinearRegression(alpha=.5), Apr.LinearRegression(alpha=.5).fit(FRAME, 'y')):
            model.note = {'source': ['a.csv']}
            for other in (pickle.loads(pickle.dumps(model)), copy.copy(model), copy.deepcopy(model)):
                self.assertEqual((other.note, other.alpha, other.fitted), (model.note, .5, model.fitted))
            model.own = model
            self.assertIs(copy.deepcopy(model).own.__class__, Apr.LinearRegression)
            other = copy.deepcopy(model)
            self.assertIs(other.own, other)
            self.assertIs(copy.copy(model).note, model.note)
            self.assertIsNot(copy.deepcopy(model).note['source'], model.note['source'])


class Groups(TestCase):
    COLUMNS = {'city': ['x', 'z', 'x', 'x', 'z', 'x'], 'floor': [1, 2, 1, 2, 2, 2], 'area': [0., 1, 2, 3, 5, 4],
               'price': [1., 2, 5, 1, 4, 3]}

    def test_several_columns(self):
        frame = pandas.DataFrame(self.COLUMNS)
        model = Apr.LinearRegression()
        for X in (frame, polars.DataFrame(self.COLUMNS), pyarrow.table(self.COLUMNS)):
            for fits in (model.fit_groups(X, 'price', ['city', 'floor']),
                         model.fit_groups(X.select(['area', 'price']) if hasattr(X, 'select') else X[['area', 'price']],
                                          'price', X.select(['city', 'floor']) if hasattr(X, 'select') else
                                          X[['city', 'floor']])):
                self.assertEqual([tuple(label) for label in fits.labels], [('x', 1), ('x', 2), ('z', 2)])
                for i, (_, part) in enumerate(frame.groupby(['city', 'floor'])):
                    expected = model.clone().fit(part[['area']], part.price)
                    self.assertEqual(fits.coefficients[i].tolist(), expected.coefficients.tolist())
        table = model.fit_groups(frame, 'price', ['city', 'floor']).to_frame()
        self.assertEqual(table.index.names, ['city', 'floor'])
        self.assertEqual(table.loc[('z', 2)].tolist(), [.5, 1.5, 2, 1])
        table = model.fit_groups(frame[['area']], frame[['price', 'price']].to_numpy(), frame[['city', 'floor']]).to_frame()
        self.assertEqual(table.loc[('z', 2, 1)].tolist(), [.5, 1.5, 2, 1])

    def test_names_of_frames(self):
        frame, model = pandas.DataFrame(self.COLUMNS), Apr.LinearRegression()
        means = frame.groupby('city')[['area', 'price']].mean()
        for X, groups in ((frame[['city', 'area', 'price']], 'city'), (frame[['area', 'price']], frame.city)):
            pandas.testing.assert_index_equal(model.fit_groups(X, 'price', groups).to_frame().index, means.index)
        two = model.fit_groups(frame[['area']], frame[['price', 'floor']], frame.city).to_frame()
        pandas.testing.assert_index_equal(two.index, means.assign(floor=0)[['price', 'floor']].stack().index)
        two = model.fit_groups(frame, ['price', 'area'], ['city']).to_frame()
        self.assertEqual(two.index.tolist(), [('x', 'price'), ('x', 'area'), ('z', 'price'), ('z', 'area')])
        # Names of the model's own stay, as they do in a fit, unless they are of another number.
        model.feature_names, model.target_names = ['size'], ['rent']
        table = model.fit_groups(frame[['area']].to_numpy(), frame.price.to_numpy()[:, None], self.COLUMNS['city']).to_frame()
        self.assertEqual(table.columns.tolist(), ['size', 'intercept', 'n_samples', 'rank'])
        self.assertEqual((table.index.tolist(), table.index.names), ([('x', 'rent'), ('z', 'rent')], [None, None]))
        table = model.fit_groups(frame[['area', 'area']].to_numpy(), self.COLUMNS['price'], self.COLUMNS['city']).to_frame()
        self.assertEqual(table.columns.tolist()[:2], ['x0', 'x1'])
        model = Apr.LinearRegression().fit(frame[['area']], frame.price)
        table = model.fit_groups(frame[['floor']].to_numpy(), self.COLUMNS['price'], self.COLUMNS['city']).to_frame()
        self.assertEqual(table.columns.tolist()[0], 'x0')

    def test_names_that_frames_have_too(self):
        for name in ('rank', 'n_samples', 'intercept'):
            frame = pandas.DataFrame(self.COLUMNS)[['city', 'area', 'price']].rename(columns={'area': name})
            fits = Apr.LinearRegression().fit_groups(frame, 'price', 'city')
            self.assertEqual(fits.coefficients.tolist(), Apr.LinearRegression().fit_groups(
                frame[[name]].to_numpy(), frame.price, frame.city).coefficients.tolist())
            with self.assertRaisesRegex(ValueError, f'A feature has the name “{name}”'):
                fits.to_frame()
            self.assertIsNone(fits._repr_html_())

    def test_labels_beside_groupby(self):
        frame, model = pandas.DataFrame(self.COLUMNS), Apr.LinearRegression()
        ordered = frame.assign(city=pandas.Categorical(frame.city, ['z', 'x'], ordered=True))
        self.assertEqual(model.fit_groups(ordered[['area', 'price', 'city']], 'price', 'city').to_frame().index.tolist(), ['x', 'z'])
        for missing in (pandas.NA, pandas.NaT, None):
            for labels in (['b', missing] * 3, pandas.Series(['b', missing] * 3)):
                self.assertFails(Apr.Error.NOT_FINITE, 'groups has no label at row 1', model.fit_groups, frame[['area']],
                                 frame.price, labels)

    def test_notebooks(self):
        frame = pandas.DataFrame(self.COLUMNS)
        model = Apr.LinearRegression().fit(frame[['area', 'floor']], frame.price)
        for shown in (model.fit_groups(frame, 'price', 'city'), model.diagnose(frame[['area', 'floor']], frame.price)):
            self.assertEqual(shown._repr_html_(), shown.to_frame()._repr_html_())
            self.assertIn('<table', shown._repr_html_())
            with unittest.mock.patch.dict('sys.modules', pandas=None):
                self.assertIsNone(shown._repr_html_())

    def test_streams_and_batches(self):
        table, model = pyarrow.table(self.COLUMNS), Apr.LinearRegression()
        makers = (lambda names: duckdb.from_arrow(table).project(', '.join(names)),
                  lambda names: table.select(names).to_reader(), lambda names: table.select(names).to_batches()[0])
        one, several = ['city', 'area', 'price'], ['city', 'floor']
        for make in makers:
            self.assertEqual(list(model.fit_groups(make(one), 'price', 'city').labels), ['x', 'z'])
            for fits in (model.fit_groups(make(list(self.COLUMNS)), 'price', several),
                         model.fit_groups(make(['area', 'price']), 'price', make(several))):
                self.assertEqual(fits.coefficients.tolist(), model.fit_groups(table, 'price', several).coefficients.tolist())
            with self.assertRaisesRegex(ValueError, 'groups names a column of X, “town”, but X has “city”, “area”, “price”'):
                model.fit_groups(make(one), 'price', 'town')
            with unittest.mock.patch('gi.overrides.aprender.labels.import_module', return_value=None):
                with self.assertRaisesRegex(ValueError, 'no table with named columns: pass a table of pandas, polars or pyarrow'):
                    model.fit_groups(make(one), 'price', 'city')
        with self.assertRaisesRegex(ValueError, 'pass a table of pandas'):
            model.fit_groups(polars.LazyFrame(self.COLUMNS), 'price', 'city')

    def test_labels_that_are_names_too(self):
        frame = pandas.DataFrame({'a': [0., 1, 2, 3, 5, 4], 'b': [1., 1, 2, 0, 3, 4]})
        y = [1., 2, 5, 1, 4, 3]
        for labels in (['a', 'b'] * 3, numpy.array(['a', 'b'] * 3), ('a', 'b') * 3):
            self.assertEqual(list(Apr.LinearRegression().fit_groups(frame, y, labels).labels), ['a', 'b'])
        self.assertEqual(list(Apr.LinearRegression().fit_groups(frame[:2], y[:2], ['b', 'a']).labels), ['a', 'b'])

    def test_mistakes(self):
        frame, model = pandas.DataFrame(self.COLUMNS), Apr.LinearRegression()
        for X in (frame, polars.DataFrame(self.COLUMNS), pyarrow.table(self.COLUMNS)):
            with self.assertRaisesRegex(ValueError, 'groups names a column of X, “town”, but X has “city”, “floor”, “area”'):
                model.fit_groups(X, 'price', 'town')
            for names, wrong in (['city', 'town'], 'town'), (['flor', 'city'], 'flor'), (['a', 'b', 'c', 'd', 'city'], 'a'):
                with self.assertRaisesRegex(ValueError, f'groups names a column of X, “{wrong}”, but X has “city”, “floor”'):
                    model.fit_groups(X, 'price', names)
        for labels in (['x', 'z'], ['floor', 'floor'], ['floor', 't', 'u', 'v', 'w', 'x', 'y', 'z']):
            self.assertFails(Apr.Error.SHAPE, f'groups has {len(labels)}', model.fit_groups, frame[['area', 'floor']],
                             self.COLUMNS['price'], labels)
        gap = frame.assign(city=['x', None, 'x', 'x', 'z', 'x'])
        self.assertFails(Apr.Error.NOT_FINITE, 'groups has no label at row 1', model.fit_groups, gap, 'price', ['city', 'floor'])
        with self.assertRaisesRegex(TypeError, 'GroupFits cannot be pickled: .*to_frame'):
            pickle.dumps(model.fit_groups(frame[['area', 'price']], 'price', frame.city))


class Folds(TestCase):
    COLUMNS = {'city': ['x', 'z', 'x', 'y', 'z', 'y'], 'floor': [1, 2, 1, 2, 2, 2], 'area': [0., 1, 2, 3, 5, 4],
               'price': [1., 2, 5, 1, 4, 3], 'weight': [1, 1, 2, 1, 3, 1]}

    def test_columns(self):
        """Columns that are labels, targets or weights are no features."""
        model, matrix = Apr.LinearRegression(alpha=1.), numpy.array([self.COLUMNS['area']]).T
        for folds, labels in (('city', self.COLUMNS['city']), ('floor', self.COLUMNS['floor']),
                              (['city', 'floor'], list(zip(self.COLUMNS['city'], self.COLUMNS['floor'])))):
            names = ['area', 'price', 'weight', *([folds] if isinstance(folds, str) else folds)]
            expected = Apr.Folds(matrix, self.COLUMNS['price'], self.COLUMNS['weight'], labels)
            for make in (pandas.DataFrame, polars.DataFrame, pyarrow.table, lambda columns: pyarrow.table(columns).to_reader(),
                         lambda columns: duckdb.from_arrow(pyarrow.table(columns))):
                table = make({name: self.COLUMNS[name] for name in names})
                ours = Apr.Folds(table, 'price', 'weight', folds)
                self.assertEqual([tuple(label) if len(names) > 4 else label for label in ours.labels], labels)
                self.assertEqual(model.cross_predict(ours).tolist(), model.cross_predict(expected).tolist())
                self.assertEqual(model.cross_validate(ours, 'max_error').tolist(),
                                 model.cross_validate(expected, 'max_error').tolist())
        frame = pandas.DataFrame(self.COLUMNS)
        for labels in frame.city, polars.Series(self.COLUMNS['city']), pyarrow.array(self.COLUMNS['city']), \
                frame.city.astype('category'):
            ours = Apr.Folds(frame[['area']], frame[['price', 'weight']], folds=labels)
            self.assertEqual(list(ours.labels), self.COLUMNS['city'])
            self.assertEqual(model.cross_predict(ours).shape, (6, 2))

    def test_one_column(self):
        """In whatever way it is named, or is a table of its own, it is that column."""
        columns = {'s': [-1, 0, 1, 0, 1, 1], 't': ['x', 'z', 'x', 'x', 'z', 'x'], 'area': self.COLUMNS['area'],
                   'price': self.COLUMNS['price']}
        for make in pandas.DataFrame, polars.DataFrame, pyarrow.table:
            table = make(columns)
            for name, n_folds, labels in ('s', 2, [-1, 0, 1]), ('t', 2, ['x', 'z']):
                X, one = make({key: columns[key] for key in (name, 'area')}), make({name: columns[name]})
                rest = make({'area': columns['area']})
                for data, folds in (X, name), (X, [name]), (X, (name,)), (rest, table[name]), (rest, one):
                    ours = Apr.Folds(data, columns['price'], folds=folds)
                    self.assertEqual((len(ours), list(ours.labels)), (n_folds, columns[name]))
                    fits = Apr.LinearRegression().fit_groups(data, columns['price'], folds)
                    self.assertEqual(list(fits.labels), labels)
                    self.assertEqual(fits.to_frame().index.tolist(), labels)

    def test_negative_labels(self):
        """Decimals below 0 are of rows in no fold, but durations are labels."""
        days = numpy.array([-2, -2, -1, -1], 'm8[s]')
        frame = pandas.DataFrame({'a': [1., 2, 4, 5], 'y': [1., 2, 3, 5]}).assign(decimal=[decimal.Decimal(number) for number in ('-1', '-0.5', '0', '0')], days=days)
        table = pyarrow.table(frame)
        for labels, n_folds in ((frame.decimal, 1), (table['decimal'], 1), (polars.from_arrow(table)['decimal'], 1),
                                (frame.days, 2), (days, 2), (list(days), 2), (polars.from_arrow(table)['days'], 2)):
            folds = Apr.Folds(frame[['a']], frame.y, folds=labels)
            self.assertEqual((len(folds), list(folds.labels)), (n_folds, list(numpy.asarray(labels))))
        X = duckdb.sql('SELECT a, y, decimal::DECIMAL(9, 1) AS decimal FROM frame')
        self.assertEqual(len(Apr.Folds(X, 'y', folds='decimal')), 1)

    def test_data(self):
        """Whatever fit() takes."""
        model, frame = Apr.LinearRegression(), pandas.DataFrame(self.COLUMNS)[['area', 'floor', 'price']]
        expected = model.cross_predict(Apr.Folds(frame[['area', 'floor']].to_numpy(), frame.price, folds=3, seed=4)).tolist()
        self.assertEqual(model.cross_predict(Apr.Folds(frame, 'price', None, 3, 4)).tolist(), expected)
        for make in (pyarrow.table, polars.from_pandas, lambda frame: frame.convert_dtypes(),
                     lambda frame: iter([frame[:2], frame[2:]]), lambda frame: pyarrow.table(frame).to_batches()[0]):
            self.assertEqual(model.cross_predict(Apr.Folds(make(frame), 'price', folds=3, seed=4)).tolist(), expected)
        matrix = scipy.sparse.csr_array(frame[['area', 'floor']].to_numpy())
        self.assertEqual(model.cross_predict(Apr.Folds(matrix, frame.price, folds=3, seed=4)).tolist(), expected)
        with self.assertRaisesRegex(TypeError, 'not a TableReader'):
            Apr.Folds(Apr.TableReader())

    def test_names(self):
        """Names of a model and of the samples are no matter to each other, as in fit()."""
        frame = pandas.DataFrame(self.COLUMNS)[['area', 'floor', 'price']]
        folds = Apr.Folds(frame, 'price', folds=2)
        expected = Apr.LinearRegression().cross_predict(folds).tolist()
        for names in ['size', 'storey'], ['floor', 'area'], ['one']:
            model = Apr.LinearRegression(feature_names=names, target_names=['rent'])
            self.assertEqual(model.cross_predict(folds).tolist(), expected)
            self.assertEqual((model.feature_names, model.target_names, model.fitted), (names, ['rent'], False))
        model = Apr.LinearRegression().fit(frame[['floor']], frame.area)
        self.assertEqual(model.cross_predict(folds).tolist(), expected)
        self.assertEqual((model.feature_names, model.n_features), (['floor'], 1))

    def test_mistakes(self):
        frame, model = pandas.DataFrame(self.COLUMNS), Apr.LinearRegression()
        with self.assertRaisesRegex(ValueError, 'folds names a column of X, “town”, but X has “city”, “floor”, “area”'):
            Apr.Folds(frame, 'price', folds='town')
        with self.assertRaisesRegex(ValueError, 'X has no column “rent”'):
            Apr.Folds(frame, 'rent', folds='city')
        for what, targets, weights, folds in (
                ('“price” of X, which is the target', 'price', None, 'price'),
                ('“floor” of X, which is the target', ['price', 'floor'], None, ['city', 'floor']),
                ('“weight” of X, which is sample_weight', 'price', 'weight', 'weight')):
            for make in pandas.DataFrame, polars.DataFrame, pyarrow.table:
                with self.assertRaisesRegex(ValueError, f'^folds names the column {what}$'):
                    Apr.Folds(make(self.COLUMNS), targets, weights, folds)
        with self.assertRaisesRegex(ValueError, '^groups names the column “price” of X, which is the target$'):
            model.fit_groups(frame, 'price', 'price')
        twice = frame[['city', 'area', 'price', 'city']]
        for table in twice, pyarrow.Table.from_arrays([pyarrow.array(twice.iloc[:, i]) for i in range(4)], list(twice)):
            with self.assertRaisesRegex(ValueError, '^folds names a column of X, “city”, but X has 2 columns of this name$'):
                Apr.Folds(table, 'price', folds='city')
        with self.assertRaisesRegex(ValueError, '“city” .*numbers'):
            Apr.Folds(frame, 'price', folds='floor')
        gap = frame.assign(city=['x', None, 'x', 'y', 'z', 'y'])
        self.assertFails(Apr.Error.NOT_FINITE, 'folds has no label at row 1', Apr.Folds, gap, 'price', folds='city')
        missing = frame[['area', 'price']].assign(area=[0, 1, math.nan, 3, math.nan, 4])
        for folds in 2, frame.city:
            for call in (model.cross_validate, model.cross_predict, lambda folds: asyncio.run(model.cross_validate_async(folds))):
                self.assertFails(Apr.Error.NOT_FINITE, 'row 2.*“area”|“area”.*row 2', call, Apr.Folds(missing, 'price', folds=folds))


if __name__ == '__main__':
    tap.main()
