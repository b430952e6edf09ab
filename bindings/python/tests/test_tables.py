# SPDX-License-Identifier: LGPL-2.1-or-later
"""Data as people have them: pandas, polars, pyarrow, DuckDB, scipy's sparse matrices, and arrays in any order.

    with-peer python test_tables.py
"""

import asyncio
import copy
import decimal
import gc
import math
import pathlib
import pickle
import resource
import unittest.mock
import weakref

import tap
from common import Apr, GLib, TestCase, numpy
from gi.repository import Gio

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import scipy.sparse

ROWS = 40
AREAS = [50.0 + 3 * i + i % 7 for i in range(ROWS)]
ROOMS, NEW = [1 + i % 5 for i in range(ROWS)], [i % 3 == 0 for i in range(ROWS)]
RENTS = [10.0 * area + 20 * rooms + 75 * new + 3 for area, rooms, new in zip(AREAS, ROOMS, NEW)]
COLUMNS = {'area': AREAS, 'rooms': ROOMS, 'new': NEW}
MATRIX = numpy.array([AREAS, ROOMS, NEW], 'f8').T


def make_wide(n=200_000, p=10):
    """More than a block, of doubles that are sums of few powers of two, so that a fit is quick."""
    random = numpy.random.default_rng(5)
    X = random.integers(-512, 512, (n, p)) / 16
    return X, X @ numpy.arange(1, p + 1) + random.integers(-8, 8, n)


class Tables(TestCase):
    def assertSame(self, X, names=('area', 'rooms', 'new'), y=RENTS):
        """The model of the table is bit for bit that of the same numbers in an array, and it predicts as that does."""
        model, expected = Apr.LinearRegression().fit(X, y), Apr.LinearRegression().fit(MATRIX, RENTS)
        self.assertEqual(model.get_coefficients(), expected.get_coefficients())
        self.assertEqual(model.intercept, expected.intercept)
        self.assertEqual(model.feature_names, list(names) if names else None)
        self.assertEqual(model.predict(X).tolist(), expected.predict(MATRIX).tolist())
        self.assertEqual(model.score(X, y), expected.score(MATRIX, RENTS))
        for part in model.predict_interval(X, kind='confidence'):
            self.assertEqual(part.shape, (ROWS,))
        state = Apr.CrossProducts.new(3, 1).update(MATRIX, RENTS)
        state.set_feature_names(list(names) if names else None)
        self.assertEqual(Apr.CrossProducts.new(3, 1).update(X, y), state)
        self.assertEqual(Apr.LinearRegression().partial_fit(X, y).get_coefficients(), expected.get_coefficients())

    def test_pandas(self):
        frame = pandas.DataFrame(COLUMNS)
        self.assertEqual([dtype.kind for dtype in frame.dtypes], ['f', 'i', 'b'])
        self.assertSame(frame)
        self.assertSame(frame, y=pandas.Series(RENTS))
        self.assertSame(frame.astype('f8'))
        self.assertSame(frame.astype({'area': 'Float64', 'rooms': 'Int64', 'new': 'boolean'}))
        self.assertSame(frame.astype({'area': 'double[pyarrow]', 'rooms': 'int16[pyarrow]', 'new': 'bool[pyarrow]'}))
        self.assertSame(frame.convert_dtypes(dtype_backend='pyarrow'))
        self.assertSame(frame.astype(object))
        self.assertSame(frame.iloc[::-1].iloc[::-1])
        self.assertSame(pandas.DataFrame({0: AREAS, 1: ROOMS, 2: NEW}), names=None)
        self.assertSame(frame.astype({'rooms': pandas.SparseDtype('int64', 0)}))

    def test_get_dummies(self):
        frame = pandas.DataFrame({'area': AREAS, 'town': ['Bonn', 'Ulm', 'Kiel', 'Ulm'] * (ROWS // 4)})
        dummies = pandas.get_dummies(frame, drop_first=True)
        model = Apr.LinearRegression().fit(dummies, RENTS)
        self.assertEqual(model.feature_names, ['area', 'town_Kiel', 'town_Ulm'])
        self.assertEqual(model.get_coefficients(),
                         Apr.LinearRegression().fit(dummies.to_numpy('f8'), RENTS).get_coefficients())

    def test_dtypes_are_kept(self):
        for dtype in ('f4', 'Float32', 'float[pyarrow]'):
            model = Apr.LinearRegression().fit(pandas.DataFrame({'a': [1, 2, 4], 'b': [1, 3, 2]}, dtype=dtype), [1, 2, 3])
            self.assertEqual(model.coefficients.dtype, numpy.float32)
        table = pyarrow.table({'a': pyarrow.array([1, 2, 4], 'float')})
        self.assertEqual(Apr.LinearRegression().fit(table, [1, 2, 3]).coefficients.dtype, numpy.float32)
        table = pyarrow.table({'a': pyarrow.array([1, 2, 4], 'float'), 'b': pyarrow.array([1, 3, 2], 'int64')})
        self.assertEqual(Apr.LinearRegression().fit(table, [1, 2, 3]).coefficients.dtype, numpy.float64)

    def test_arrow(self):
        table = pyarrow.table(COLUMNS)
        self.assertSame(table)
        self.assertSame(table, y=pyarrow.array(RENTS))
        self.assertSame(table, y=pyarrow.chunked_array([RENTS[:7], RENTS[7:]]))
        self.assertSame(pyarrow.concat_tables([table.slice(0, 3), table.slice(3, 10), table.slice(13)]))
        self.assertSame(table.combine_chunks().to_batches()[0])
        self.assertSame(table.combine_chunks().to_batches()[0].to_struct_array())
        for type_ in ('int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64', 'halffloat', 'float'):
            array = pyarrow.array(numpy.array([1, 2, 5, 7], 'f2') if type_ == 'halffloat' else [1, 2, 5, 7], type_)
            model = Apr.LinearRegression().fit(pyarrow.table({'a': array}), [3, 5, 11, 15])
            self.assertEqual((model.coefficients.tolist(), model.intercept), ([2.0], 1.0))

    def test_update_arrow(self):
        """In C: the same sums as of the arrays, of any stream, and nothing where one batch cannot be added."""
        X = numpy.random.default_rng(1).normal(size=(70_000, 3))
        y = X @ [1, -2, 0.5] + 3
        w = numpy.arange(70_000) % 7
        table = pyarrow.table({'a': X[:, 0], 'y': y, 'b': X[:, 1], 'w': w, 'c': X[:, 2]})
        expected = Apr.CrossProducts.new(3, 1).update(X, y, w)
        expected.feature_names, expected.target_names = ['a', 'b', 'c'], ['y']
        for stream in (table, table.to_reader(max_chunksize=999), polars.from_arrow(table)):
            state = Apr.CrossProducts.new(3, 1)
            self.assertIs(state.update_arrow(stream, ['y'], 'w'), state)
            self.assertEqual(state, expected)

        async def update():
            return await Apr.CrossProducts.new(3, 1).update_arrow_async(table.slice(1).to_reader(100), ['y'], 'w')

        async_state = asyncio.run(update())
        self.assertEqual(async_state, Apr.CrossProducts.new(3, 1).update_arrow(table.slice(1), ['y'], 'w'))

        before = state.copy()
        for holes, code, message in (([1.0, None], Apr.Error.NOT_FINITE, 'X has a missing value at row 70001, column “b”'),
                                     ([1.0, math.inf], Apr.Error.NOT_FINITE, 'X has an infinity at row 70001, column “b”')):
            bad = pyarrow.table({'a': [1.0, 2.0], 'y': [1.0, 2.0], 'b': holes, 'w': [1, 1], 'c': [1.0, 2.0]})
            stream = pyarrow.concat_tables([table, bad]).to_reader()
            self.assertFails(code, message, state.update_arrow, stream, ['y'], 'w')
            self.assertEqual(state, before)
        self.assertFails(Apr.Error.DTYPE, 'Column “c” of X holds text', state.update_arrow,
                         pyarrow.table({'a': [1.0], 'y': [1.0], 'b': [2.0], 'c': ['x']}), ['y'])
        reader = table.to_reader()
        reader.close()
        self.assertRaises(Exception, state.update_arrow, reader, ['y'])
        self.assertEqual(state, before)

    def test_arrow_decimals_in_c(self):
        numbers = [decimal.Decimal(text) for text in ('0.1', '12345678901234567890.123', '-99999999999999999999999999.999', '7')]
        table = pyarrow.table({'a': pyarrow.array(numbers, pyarrow.decimal128(38, 3)), 'y': [1, 2, 3, 4]})
        expected = Apr.CrossProducts.new(1, 1).update([[float(number)] for number in numbers], [1.0, 2, 3, 4])
        expected.feature_names, expected.target_names = ['a'], ['y']
        self.assertEqual(Apr.CrossProducts.new(1, 1).update_arrow(table, ['y']), expected)

    def test_arrow_slices(self):
        # Truth values are bits, so that a slice begins within a byte.
        longer = pyarrow.table({name: [values[0]] * 11 + values + [values[0]] * 5 for name, values in COLUMNS.items()})
        self.assertSame(longer.slice(11, ROWS))
        self.assertSame(longer.combine_chunks().to_batches()[0].slice(11, ROWS))

    def test_polars(self):
        frame = polars.DataFrame(COLUMNS)
        self.assertSame(frame)
        self.assertSame(frame, y=polars.Series('rent', RENTS))
        self.assertSame(polars.concat([frame[:9], frame[9:]], rechunk=False))

    def test_columns_of_the_table_as_targets(self):
        whole = dict(COLUMNS, rent=RENTS, weight=[1 + i % 3 for i in range(ROWS)])
        expected = Apr.LinearRegression().fit(MATRIX, RENTS, whole['weight'])
        two = Apr.LinearRegression().fit(MATRIX, numpy.stack([RENTS, whole['weight']], 1))
        for make in (pandas.DataFrame, polars.DataFrame, pyarrow.table):
            model = Apr.LinearRegression().fit(make(whole), 'rent', 'weight')
            self.assertEqual(model.feature_names, ['area', 'rooms', 'new'])
            self.assertEqual(model.get_coefficients(), expected.get_coefficients())
            model = Apr.LinearRegression().fit(make(whole), ['rent', 'weight'])
            self.assertEqual(model.get_coefficients(), two.get_coefficients())
            with self.assertRaisesRegex(ValueError, 'X has no column “price”, but “area”, “rooms”'):
                Apr.LinearRegression().fit(make(whole), 'price')
        with self.assertRaisesRegex(ValueError, 'X is no table'):
            Apr.LinearRegression().fit(MATRIX, 'rent')

    def test_groups(self):
        # y = 1 + 2 x, y = 5 - x, and one point.
        cities, prices = ['Rome', 'Oslo', 'Rome', 'Oslo', 'Rome', 'Paris'], [1., 4., 3., 2., 5., 7.]
        columns = {'area': [0., 1., 1., 3., 2., 8.], 'city': cities, 'price': prices}
        table, model = pandas.DataFrame(columns), Apr.LinearRegression()
        for X in (table, table.astype({'city': 'category'}), polars.DataFrame(columns), pyarrow.table(columns)):
            frame = model.fit_groups(X, 'price', 'city').to_frame()
            self.assertEqual(frame.columns.tolist(), ['area', 'intercept', 'n_samples', 'rank'])
            self.assertEqual(frame.index.tolist(), ['Oslo', 'Paris', 'Rome'])
            self.assertEqual(frame.loc['Rome'].tolist(), [2, 1, 3, 1])
        fits = model.fit_groups(table[['area']], [[price, -price] for price in prices], table.city)
        self.assertEqual(fits.to_frame().loc[('Rome', 1)].tolist(), [-2, -1, 3, 1])
        gap = pandas.Series([*cities[:4], None, 'Rome'])
        self.assertFails(Apr.Error.NOT_FINITE, 'no label at row 4', model.fit_groups, table[['area', 'price']], 'price', gap)
        # As pandas has it, group by group.
        table = pandas.DataFrame({**COLUMNS, 'rent': RENTS, 'floor': [i % 3 for i in range(ROWS)]})
        fits = model.fit_groups(table, 'rent', 'floor')
        for i, (floor, part) in enumerate(table.groupby('floor')):
            self.assertEqual(fits.labels[i], floor)
            self.assertEqual(fits.coefficients[i].tolist(),
                             Apr.LinearRegression().fit(part[list(COLUMNS)], part.rent).coefficients.tolist())

    def test_duckdb(self):
        frame = polars.DataFrame(dict(COLUMNS, rent=RENTS))  # noqa: F841
        relation = duckdb.sql('SELECT area, rooms, new, rent FROM frame WHERE rooms > 0')
        model = Apr.LinearRegression().fit(relation, 'rent')
        self.assertEqual(model.get_coefficients(), Apr.LinearRegression().fit(MATRIX, RENTS).get_coefficients())

    def test_decimals(self):
        # Python rounds the quotient of two integers once.
        numbers = [-123456, 0, 7, 10 ** 17 + 1, -(10 ** 37) + 3, 2 ** 53 + 1, 99]
        for scale, some in ((0, numbers), (3, numbers), (30, numbers), (2, numbers[:3])):
            values = [decimal.Decimal(number).scaleb(-scale) for number in some]
            array = pyarrow.array(values, pyarrow.decimal128(38, scale))
            self.assertEqual(Apr.r2_score(array, [number / 10 ** scale for number in some]), 1.0)
            self.assertEqual(Apr.max_error(array, [number / 10 ** scale for number in some]), 0.0)
        narrow = pyarrow.array([decimal.Decimal('1.25'), decimal.Decimal('-3.5')], pyarrow.decimal64(9, 2))
        self.assertEqual(Apr.max_error(narrow, [1.25, -3.5]), 0.0)
        frame = polars.DataFrame(dict(COLUMNS, rent=RENTS))  # noqa: F841
        relation = duckdb.sql('SELECT area, rooms, sum(rooms::INT) AS total, 10 * area + 1.5 AS rent FROM frame GROUP BY ALL')
        model = Apr.LinearRegression().fit(relation, 'rent')
        self.assertTrue(numpy.allclose(model.predict([[60, 2, 2]]), 601.5))

    def test_no_columns(self):
        for X in (pandas.DataFrame(index=range(3)), pyarrow.table({'y': [1.0, 2.0, 3.0]})):
            self.assertFails(Apr.Error.EMPTY, 'no columns', Apr.LinearRegression().fit, X, [1, 2, 3] if len(X) == 0 or
                             isinstance(X, pandas.DataFrame) else 'y')

    def test_parquet_in_batches(self):
        X, y = make_wide()
        path = self.make_directory() / 'data.parquet'
        names = [f'x{i}' for i in range(10)]
        table = pyarrow.table(dict(zip(names, X.T)) | {'y': y})
        pyarrow.parquet.write_table(table, path, row_group_size=30_000)
        expected = Apr.LinearRegression(keep_state=True).fit(X, y)
        expected.feature_names, expected.target_names = names, ['y']

        file = pyarrow.parquet.ParquetFile(path)
        reader = pyarrow.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches(batch_size=1000))
        model = Apr.LinearRegression(keep_state=True).fit(reader, 'y')
        self.assertEqual(model.to_bytes().get_data(), expected.to_bytes().get_data())

        dataset = pyarrow.dataset.dataset(path)
        for batches in (file.iter_batches(batch_size=70_000), dataset, dataset.scanner(), table.to_pandas(),
                        (table.slice(start, 50_000).to_pandas() for start in range(0, len(X), 50_000))):
            model = Apr.LinearRegression(keep_state=True).fit(batches, 'y')
            self.assertEqual(model.to_bytes().get_data(), expected.to_bytes().get_data())

        model = Apr.LinearRegression(keep_state=True)
        state = Apr.CrossProducts.new(10, 1)
        for batch in file.iter_batches(batch_size=70_000):
            model.partial_fit(batch, 'y')
            state.update(batch, 'y')
        self.assertEqual(model.to_bytes().get_data(), expected.to_bytes().get_data())
        self.assertEqual(state, expected.cross_products)
        features = table.drop(['y'])
        self.assertEqual(model.predict(features).tolist(), expected.predict(X).tolist())
        stream = pyarrow.RecordBatchReader.from_batches(features.schema, features.to_batches(max_chunksize=999))
        self.assertEqual(model.predict(stream).tolist(), expected.predict(X).tolist())
        self.assertEqual(model.score(features, y), expected.score(X, y))

    def test_advice_about_batches(self):
        with self.assertRaisesRegex(ValueError, 'not a DuckDBPyConnection: pass what its sql.query. gives'):
            Apr.LinearRegression().fit(duckdb.connect().execute('SELECT 1 AS a'), [1])
        frames = [pandas.DataFrame({'a': [1.0, 2.0], 'y': [2.0, 4.0]}), pandas.DataFrame({'a': [4.0], 'y': [8.0]})]
        with self.assertRaisesRegex(TypeError, r'X is a list of tables: .*such as iter\(X\)'):
            Apr.LinearRegression().fit(frames, 'y')
        self.assertEqual(Apr.LinearRegression().fit(iter(frames), 'y').coefficients.tolist(), [2.0])

    def test_batches_are_alike(self):
        whole = pandas.DataFrame({'a': [1, 2, 4], 'y': [1, 2, 3]})
        path = self.make_directory() / 'data.csv'
        whole.to_csv(path, index=False)
        model = Apr.LinearRegression().fit(pandas.read_csv(path, chunksize=2), 'y')
        self.assertEqual(model.get_coefficients(), Apr.LinearRegression().fit(whole, 'y').get_coefficients())
        for message, *batches in (
                (r'Batch 1 of X .* has the columns .*but before', whole, whole.rename(columns={'a': 'b'})),
                ('Batch 1 of X .* has float64 in the column “a”, but before there were float32', whole.astype('f4'), whole.astype('f8')),
                ('row 4, column “a”', whole.astype('f8'), whole.assign(a=[1, math.nan, 2])),
                ('tables as batches, not a', MATRIX), ('tables as batches, not 7', 7), ('X has no batches',)):
            with self.assertRaisesRegex(ValueError, message):
                Apr.LinearRegression().fit(iter(batches), 'y')
        with self.assertRaisesRegex(ValueError, r'a LazyFrame: pass what its collect\(\) gives'):
            Apr.LinearRegression().fit(polars.LazyFrame(COLUMNS), RENTS)

    def test_dtype_of_predictions(self):
        """That of the model: float32 stays, as in scikit-learn, and the coefficients are not made to look less exact."""
        for fitted in ('f4', 'f8'):
            model = Apr.LinearRegression().fit(MATRIX.astype(fitted), RENTS)
            for dtype in ('f4', 'f8'):
                self.assertEqual(model.predict(MATRIX.astype(dtype)).dtype, numpy.dtype(fitted))

    def test_errors_of_a_stream(self):
        def read():
            yield pyarrow.record_batch({'a': [1.0, 2.0], 'y': [1.0, 2.0]})
            raise RuntimeError('the disk is gone')

        schema = pyarrow.schema({'a': 'double', 'y': 'double'})
        model = Apr.LinearRegression().fit([[1], [2]], [1, 2])
        with self.assertRaisesRegex(ValueError, 'X cannot be read.*the disk is gone'):
            model.fit(pyarrow.RecordBatchReader.from_batches(schema, read()), 'y')
        self.assertEqual(model.coefficients.tolist(), [1.0])
        empty = pyarrow.RecordBatchReader.from_batches(schema, iter([]))
        self.assertFails(Apr.Error.EMPTY, '0 samples', model.fit, empty, [])

    def test_text_is_refused_with_what_to_do(self):
        towns = ['Bonn', 'Ulm'] * (ROWS // 2)
        for X in (pandas.DataFrame({'area': AREAS, 'town': towns}), polars.DataFrame({'area': AREAS, 'town': towns}),
                  polars.DataFrame({'area': AREAS, 'town': towns}, {'area': polars.Float64, 'town': polars.Categorical}),
                  pyarrow.table({'area': AREAS, 'town': towns}),
                  *(pandas.DataFrame({'area': AREAS, 'town': towns}).astype({'town': kind}) for kind in (object, 'category')),
                  pyarrow.table({'area': AREAS, 'town': pyarrow.array(towns).dictionary_encode()})):
            for error in (TypeError, ValueError):
                dummies = r'X\.to_dummies\(.town.\), of which' if isinstance(X, polars.DataFrame) else 'pandas.get_dummies'
                with self.assertRaisesRegex(error, f'Column “town” of X holds (text.*{dummies}.*a cast|categories.*{dummies}.*r$)'):
                    Apr.LinearRegression().fit(X, RENTS)
        with self.assertRaisesRegex(ValueError, 'Column 1 of X holds text, the string “Ulm” at row 2, but models'):
            Apr.LinearRegression().fit(numpy.array([[1, 2], [2, 3], [3, 'Ulm']], object), [1, 2, 3])
        towns = polars.DataFrame({'area': AREAS, 'town': towns}).to_dummies('town', drop_first=True)
        self.assertEqual(Apr.LinearRegression().fit(towns, RENTS).feature_names, ['area', 'town_Ulm'])
        for X, what in ((pandas.DataFrame({'when': pandas.date_range('2020-01-01', periods=ROWS)}), 'times, .*such as the days since'),
                        (pyarrow.table({'when': pyarrow.array([0] * ROWS, 'date32')}), 'dates, .*such as the days since'),
                        (pandas.DataFrame({'when': pandas.to_timedelta(range(ROWS), 'h')}), 'durations, .*such as their seconds'),
                        (pyarrow.table({'when': pyarrow.array([None] * ROWS)}), 'nulls'),
                        (pyarrow.table({'when': pyarrow.array([[1.0]] * ROWS)}), 'not single numbers, .*such as a column for each')):
            with self.assertRaisesRegex(ValueError, f'Column “when” of X holds .*{what}'):
                Apr.LinearRegression().fit(X, RENTS)

    def test_a_series_is_refused_with_what_to_do(self):
        model = Apr.LinearRegression().fit(pandas.DataFrame({'a': [1.0, 2, 4], 'b': [1.0, 3, 0]}), [1.0, 2, 3])
        sample = pandas.Series({'a': 2.0, 'b': 5.0})
        for series, has, one_sample in ((sample, '2', r'X\.to_frame\(\)\.T or predict_one\(X\)'),
                                        (polars.Series([2.0, 5.0]), 'n_samples', r'predict_one\(X\)')):
            for function in (model.predict, lambda X: model.clone().fit(X, [1, 2])):
                with self.assertRaisesRegex(ValueError, fr'it has \[{has}\]. Reshape your data: X\.to_frame\(\) where .* one '
                                                        fr'feature; {one_sample} where they are one sample$'):
                    function(series)
            self.assertEqual(model.predict_one(series), model.predict([[2.0, 5.0]])[0])
        self.assertEqual(model.predict(sample.to_frame().T)[0], model.predict_one(sample))
        for missing in (pandas.Series({'a': 2.0, 'b': pandas.NA}), pandas.Series({'a': 2.0, 'b': math.nan})):
            with self.assertRaisesRegex(ValueError, 'The sample has a (missing value|NaN) at feature “b”'):
                model.predict_one(missing)

    def test_missing_values_have_a_place(self):
        values = [float(i) for i in range(12)]
        holes = [None if i == 9 else value for i, value in enumerate(values)]
        for X in (pandas.DataFrame({'a': values, 'b': holes}), polars.DataFrame({'a': values, 'b': holes}),
                  pandas.DataFrame({'a': values, 'b': holes}).astype({'b': 'Int64'}),
                  pandas.DataFrame({'a': values, 'b': holes}).astype({'b': 'Float64'}),
                  pandas.DataFrame({'a': values, 'b': holes}).astype({'b': 'double[pyarrow]'}),
                  pandas.DataFrame({'a': values, 'b': holes}).astype(object),
                  pyarrow.table({'a': values, 'b': holes}), pyarrow.table({'a': values, 'b': holes}).slice(0)):
            self.assertFails(Apr.Error.NOT_FINITE, '(NaN|missing value) at row 9, column “b”', Apr.LinearRegression().fit,
                             X, values)
        self.assertFails(Apr.Error.NOT_FINITE, 'y has a .* at row 9', Apr.LinearRegression().fit,
                         pandas.DataFrame({'a': values}), pandas.Series(holes))

        with self.assertRaisesRegex(ValueError, r'“n/a” at row 1, .* such as pandas.to_numeric\(X\[.a.\], errors="coerce"\)'):
            Apr.LinearRegression().fit(pandas.DataFrame({'a': [1.0, 'n/a', 3.0]}), [1, 2, 3])
        # The first row of all columns, not of those that pandas knows as missing.
        X = pandas.DataFrame({'a': [1.0, 2.0, None, 4.0], 'b': pandas.array([1, 2, 3, None], 'Int64')}, index=list('wxyz'))
        self.assertFails(Apr.Error.NOT_FINITE, r'row 2, column “a” \(counted from 0\), which the index calls “y”. 2 rows miss '
                         r'values: the others are X\[X.notna\(\).all\(axis=1\)\]', Apr.LinearRegression().fit, X, [1, 2, 3, 4])

        X, y = make_wide()
        X[150_000, 3] = math.nan
        for table in (pandas.DataFrame(X, columns=list('abcdefghij')), pyarrow.table(dict(zip('abcdefghij', X.T)))):
            self.assertFails(Apr.Error.NOT_FINITE, 'X has a .* at row 150000, column “d”', Apr.LinearRegression().fit,
                             table, y)
            first = table[:1000] if isinstance(table, pandas.DataFrame) else table.slice(0, 1000)
            model = Apr.LinearRegression().fit(first, y[:1000])
            self.assertFails(Apr.Error.NOT_FINITE, 'X has a .* at row 150000, column “d”', model.predict_interval, table)

    def test_names_are_checked_everywhere(self):
        model = Apr.LinearRegression().fit(pandas.DataFrame({'a': [1, 2, 3, 5], 'b': [1, 0, 2, 2]}), [12, 11, 23, 25])
        # The samples of the fit, under other names.
        others = pandas.DataFrame({'b': [1, 2, 3, 5], 'a': [1, 0, 2, 2]}), [12, 11, 23, 25]
        for function in (model.diagnose, model.diagnose_async, model.get_robust_statistics, model.get_robust_statistics_async,
                         model.plot):
            with self.assertRaisesRegex(ValueError, '“b”, but.*“a”'):
                function(*others)
        swapped = {'b': [1.0], 'a': [0.0]}
        for make in (pandas.DataFrame, polars.DataFrame, pyarrow.table, pyarrow.RecordBatch.from_pydict):
            for function in (model.predict, lambda X: model.score(X, [1]), model.predict_interval,
                             lambda X: model.partial_fit(X, [1]), lambda X: model.cross_products.update(X, [1])):
                with self.assertRaisesRegex(ValueError, '“b”, but.*“a”'):
                    function(make(swapped))
        with self.assertRaisesRegex(ValueError, '“b”, but.*“a”'):
            model.predict_one(pandas.Series({'b': 1.0, 'a': 0.0}))
        expected = model.predict_one([0.0, 1.0])
        self.assertEqual(model.predict_one(pandas.Series({'a': 0.0, 'b': 1.0})), expected)
        self.assertEqual(model.predict_one({'b': 1.0, 'a': 0.0}), expected)
        self.assertEqual(model.predict_one(pandas.Series([0.0, 1.0])), expected)
        with self.assertRaisesRegex(ValueError, '- c\n'):
            model.predict_one({'a': 1.0, 'c': 0.0})
        # Named tuples, as itertuples() makes them.
        swapped_row, = pandas.DataFrame(swapped).itertuples(index=False)
        with self.assertRaisesRegex(ValueError, '“b”, but.*“a”'):
            model.predict_one(swapped_row)
        row, = pandas.DataFrame({'a': [0.0], 'b': [1.0]}).itertuples(index=False)
        self.assertEqual(model.predict_one(row), expected)
        row, = pandas.DataFrame({'an area': [0.0], 'b': [1.0]}).itertuples(index=False)
        self.assertEqual(model.predict_one(row), expected)
        # A table is no sample: a list of it would have the names of its columns, which may be numbers.
        for table in (pandas.DataFrame([[0.0, 1.0]]), polars.DataFrame({'a': [0.0], 'b': [1.0]}),
                      pyarrow.table({'a': [0.0], 'b': [1.0]})):
            with self.assertRaisesRegex(TypeError, 'one sample, not a (DataFrame|Table): pass one of its rows'):
                model.predict_one(table)
        with self.assertRaisesRegex(TypeError, 'names of the features as keys, not .0, 1.'):
            model.predict_one({0: 0.0, 1: 1.0})
        with self.assertRaisesRegex(TypeError, 'the features of one sample, numbers in'):
            model.predict_one([[0.0, 1.0]])
        for strange in ({1.0, 2.0}, frozenset([1.0, 2.0])):
            for function in (model.predict_one, model.predict, lambda x: model.fit(x, [1])):
                with self.assertRaisesRegex(TypeError, 'set'):
                    function(strange)

    def test_sparse_matrices(self):
        for make in (scipy.sparse.csr_matrix, scipy.sparse.csc_array, scipy.sparse.coo_array):
            self.assertSame(make(MATRIX), names=None)
        X, y = make_wide()
        X[numpy.abs(X) < 30] = 0
        model = Apr.LinearRegression(keep_state=True)
        self.assertEqual(model.fit(scipy.sparse.csr_array(X), y).to_bytes().get_data(),
                         model.clone().fit(X, y).to_bytes().get_data())
        self.assertEqual(model.predict(scipy.sparse.csr_array(X)).tolist(), model.predict(X).tolist())

    def test_dlpack(self):
        class Capsule:
            """What has nothing but DLPack."""

            def __init__(self, array):
                self._array = array

            def __dlpack__(self, **keywords):
                return self._array.__dlpack__(**keywords)

            def __dlpack_device__(self):
                return self._array.__dlpack_device__()

        self.assertSame(Capsule(MATRIX.copy()), names=None)

    def test_layouts_in_blocks(self):
        X, y = make_wide()
        wide = numpy.repeat(X, 2, axis=1)
        for precision in ('exact', 'double'):
            for dtype in ('f8', 'f4'):
                expected = Apr.LinearRegression(keep_state=True, precision=precision).fit(X.astype(dtype), y)
                for other in (numpy.asfortranarray(X, dtype), wide.astype(dtype)[:, ::2], X.astype('>' + dtype),
                              pandas.DataFrame(X.astype(dtype)), X.astype(dtype)[::-1][::-1]):
                    model = Apr.LinearRegression(keep_state=True, precision=precision).fit(other, y)
                    self.assertEqual(model.to_bytes().get_data(), expected.to_bytes().get_data())
                    self.assertEqual(model.predict(other).tobytes(), expected.predict(X.astype(dtype)).tobytes())
                    for ours, whole in zip(model.predict_interval(other, kind='confidence'),
                                           expected.predict_interval(X.astype(dtype), kind='confidence')):
                        self.assertEqual(ours.tobytes(), whole.tobytes())
        out = numpy.empty(len(X), 'f4')
        self.assertIs(model.predict(numpy.asfortranarray(X, 'f4'), out=out), out)
        self.assertEqual(out.tobytes(), expected.predict(X.astype('f4')).tobytes())
        self.assertFails(Apr.Error.SHAPE, '200000 samples, but y has 3', model.fit, numpy.asfortranarray(X), y[:3])

    def test_blocks_are_weighted(self):
        X, y = make_wide()
        weights = 1 + numpy.arange(len(y)) % 3
        expected = Apr.LinearRegression(keep_state=True).fit(X, y, weights)
        model = Apr.LinearRegression(keep_state=True).fit(numpy.asfortranarray(X), y, weights)
        self.assertEqual(model.to_bytes().get_data(), expected.to_bytes().get_data())
        told = []
        model.connect('notify::progress', lambda model, _: told.append(model.progress))
        model.fit(numpy.asfortranarray(X), y)
        self.assertEqual(told[-1], 1)

    def test_async_reads_in_slices(self):
        """The loop goes on between two blocks, and the score is computed in a thread."""
        rng = numpy.random.default_rng(4)
        X = pandas.DataFrame(rng.normal(size=(400_000, 4)), columns=list('abcd'))
        y = X.sum(axis=1) + rng.normal(size=len(X))
        model = Apr.LinearRegression().fit(X, y)

        def read():
            for start in range(0, len(X), 50_000):
                log.append('batch')
                yield X[start:start + 50_000]

        async def work(function):
            task = function(read(), y)
            while not task.done():
                log.append('tick')
                await asyncio.sleep(0)
            return await task

        for name in ('diagnose', 'get_robust_statistics'):
            log = []
            found, expected = asyncio.run(work(getattr(model, f'{name}_async'))), getattr(model, name)(X, y)
            attribute = 'residuals' if name == 'diagnose' else 'standard_errors'
            numpy.testing.assert_array_equal(getattr(found, attribute), getattr(expected, attribute))
            batches = [i for i, what in enumerate(log) if what == 'batch']
            self.assertEqual(len(batches), 8)
            self.assertIn('tick', log[batches[3]:batches[-1]])
        bad = X.copy()
        bad.loc[399_999, 'c'] = numpy.nan
        with self.assertRaisesRegex(ValueError, 'row 399999'):
            asyncio.run(work(lambda *_: model.diagnose_async(bad, y)))
        with self.assertRaisesRegex(ValueError, 'Batch 1 of X'):
            asyncio.run(work(lambda *_: model.diagnose_async(iter([X, X[['a', 'b']]]), y)))

        from gi.overrides.aprender import linear_regression
        expected = model.score(X, y)
        with unittest.mock.patch.object(linear_regression, 'r2_score', None):
            self.assertEqual(asyncio.run(work(lambda *_: model.score_async(X, y))), expected)

    def test_async_in_blocks(self):
        rng = numpy.random.default_rng(3)
        X = rng.normal(size=(200_000, 4))
        y, w = X @ [1, 2, 3, 4] + rng.normal(size=len(X)), rng.random(len(X))
        expected = Apr.LinearRegression().fit(X, y, w)
        fortran, bad = numpy.asfortranarray(X), numpy.asfortranarray(X)
        bad[150_000, 2] = numpy.nan

        async def work(data):
            model = await Apr.LinearRegression().fit_async(data, y, w)
            self.assertEqual(model.to_bytes().get_data(), expected.to_bytes().get_data())
            numpy.testing.assert_array_equal(await model.predict_async(data), expected.predict(X))
            numpy.testing.assert_array_equal(await model.predict_interval_async(data), expected.predict_interval(X))
            self.assertEqual(await model.score_async(data, y, w), expected.score(X, y, w))
            self.assertEqual(await Apr.CrossProducts.new(4, 1).update_async(data, y, w),
                             Apr.CrossProducts.new(4, 1).update(X, y, w))
            diagnostics = await model.diagnose_async(data, y, w)
            numpy.testing.assert_array_equal(diagnostics.leverages, expected.diagnose(X, y, w).leverages)

            # What is predicted is what the model was fitted to when the prediction began.
            running = model.predict_async(data)
            model.fit(X, -y, w)
            numpy.testing.assert_array_equal(await running, expected.predict(X))

            state = Apr.CrossProducts.new(4, 1)
            for call in (lambda: model.fit_async(bad, y), lambda: model.predict_async(bad), lambda: model.score_async(bad, y),
                         lambda: model.predict_interval_async(bad), lambda: state.update_async(bad, y)):
                with self.assertRaisesRegex(ValueError, 'row 150000, column 2'):
                    await call()
            self.assertFalse(model.busy)
            self.assertEqual(state, Apr.CrossProducts.new(4, 1))
            running = state.update_async(data, y)
            with self.assertRaises(GLib.Error) as context:
                state.update(X, y)
            self.assertTrue(context.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.PENDING))
            self.assertEqual((await running).n_samples, len(X))

        asyncio.run(work(fortran))

        outcomes, loop = [], GLib.MainLoop()

        def when_predicted(model, result, name):
            outcomes.append((name, model.predict_finish(result)))
            loop.quit()

        def when_failed(model, result):
            with self.assertRaisesRegex(ValueError, 'row 150000'):
                model.fit_finish(result)
            model.predict_async(fortran, None, when_predicted, 'name')

        expected.copy().fit_async(bad, y, w, None, when_failed)
        loop.run()
        self.assertEqual(outcomes[0][0], 'name')
        numpy.testing.assert_array_equal(outcomes[0][1], expected.predict(X))

    def test_memory_is_constant(self):
        # 80 MB each; blocks of 4 MiB, and what sums, predictions and threads need.
        def get_peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10

        def forget_peak():
            """Whether the system forgets it, so that what made the data cannot hide a copy of them."""
            before = get_peak()
            try:
                pathlib.Path('/proc/self/clear_refs').write_text('5')
            except OSError:
                return False
            return get_peak() < before

        def count_growth(function):
            forget_peak()
            before = get_peak()
            function()
            return get_peak() - before

        n = 1_000_000
        X, y = numpy.asfortranarray(numpy.arange(10 * n).reshape(n, 10) % 1009, 'f8'), numpy.arange(n) % 17
        frame, table = pandas.DataFrame(X, copy=False), pyarrow.table([X[:, i] for i in range(10)], names=list('abcdefghij'))
        model = Apr.LinearRegression().fit(X[:100_000], y[:100_000])
        if forget_peak():
            self.assertGreater(count_growth(X.copy), 70 << 20)

        async def work(data):
            await model.fit_async(data, y)
            await model.partial_fit_async(data, y)
            await model.score_async(data, y)
            await model.predict_async(data)
            await Apr.CrossProducts.new(10, 1).update_async(data, y)

        for data in (X, X[::-1], X[:, ::-1], frame, table):
            for function in (lambda data: model.fit(data, y), lambda data: asyncio.run(work(data)),
                             lambda data: model.score(data, y), model.predict):
                self.assertLess(count_growth(lambda: function(data)), 50 << 20)

        async def predict_interval():
            await model.predict_interval_async(frame)

        # Four arrays of 8 MB, of which the blocks are joined.
        model.fit(frame, y)
        self.assertLess(count_growth(lambda: asyncio.run(predict_interval())), 32 + 50 << 20)
        # What needs all samples at once makes one copy of them.
        self.assertLess(count_growth(lambda: model.diagnose(frame, y)), 80 + 48 + 50 << 20)

    def test_text_as_targets(self):
        """The error is about y or the weights, not about X."""
        X, text = pandas.DataFrame({'a': [1.0, 2, 3], 'b': [2.0, 1, 4]}), ['yes', 'no', 'yes']
        holds = 'holds text.*models compute with numbers'
        for arguments, pattern in (
            ((X, text), f'^y {holds}.* X has no column of this name, but “a”, “b”'),
            ((X.to_numpy(), text), f'^y {holds}.* X is no table'),
            ((X, X.a, text), f'^sample_weight {holds}'),
            ((X, ['a', 'no']), '^y holds text, “no”, but models'),
            ((X, pandas.Series(text)), f'^y {holds}'),
            ((X, numpy.array(text, object)), f'^y {holds}'),
            ((X, numpy.array(text)), f'^y {holds}'),
            ((X, pandas.DataFrame({'q': text})), f'^Column “q” of y {holds}'),
            ((X.assign(q=text), 'q'), f'^Column “q” of X, which is y, {holds}$'),
            ((pyarrow.table(dict(X.assign(q=text))), ['q']), f'^Column “q” of X, which is y, {holds}$'),
            ((X.assign(q=text), 'a', 'q'), f'^Column “q” of X, which is sample_weight, {holds}$'),
            ((X.assign(q=text), 'a'), f'^Column “q” of X {holds}: drop it'),
        ):
            for method in ('fit', 'partial_fit', 'fit_async'):
                with self.subTest(pattern), self.assertRaisesRegex(ValueError, pattern):
                    getattr(Apr.LinearRegression(), method)(*arguments)

    def test_names_of_targets(self):
        """Targets in another order are refused wherever they would be mixed up with others."""
        X = pandas.DataFrame({'a': [1.0, 2, 3, 5, 7], 'b': [2.0, 1, 4, 3, 9]})
        y = pandas.DataFrame({'u': [1.0, 2, 3, 4, 6], 'v': [5.0, 4, 2, 2, 9]})
        swapped, table = y[['v', 'u']], X.assign(u=y.u, v=y.v)
        long = pandas.concat([table] * 30_000)

        async def fit_async(model, *data):
            return await model.fit_async(*data)

        def fit_partly(model, *data):
            return model.partial_fit(*data)

        for fit in (Apr.LinearRegression.fit, fit_partly, lambda *args: asyncio.run(fit_async(*args))):
            for data in ((X, y), (pyarrow.table(dict(X)), pyarrow.table(dict(y))), (table, ['u', 'v']), (long, ['u', 'v'])):
                model = fit(Apr.LinearRegression(), *data)
                self.assertEqual(model.target_names, ['u', 'v'])
                expected = model.score(X, y)
                for function in (model.score, model.score_async, model.partial_fit, model.partial_fit_async, model.diagnose,
                                 model.diagnose_async, model.get_robust_statistics, model.plot):
                    with self.assertRaisesRegex(ValueError, 'y has the targets “v”, “u”, but the model was fitted to “u”, “v”'):
                        function(X, swapped)
                    with self.assertRaisesRegex(ValueError, 'the targets “v”, “u”'):
                        function(table, ['v', 'u'])
                self.assertEqual(model.score(X, y.to_numpy()), expected)
        for other in (copy.copy(model), pickle.loads(pickle.dumps(model)), Apr.LinearRegression.from_bytes(model.to_bytes())):
            self.assertEqual(other.target_names, ['u', 'v'])
        self.assertIn('Target v', model.summary())
        # A table's names do not stay for other data; that of a series is often one that nobody has given, and does not count.
        self.assertIsNone(model.fit(X.to_numpy(), y.to_numpy()).target_names)
        self.assertIsNone(model.fit(X, y.u).target_names)
        model.score(X, y.v.rename('w'))
        model.fit(long, ['u', 'v'])
        self.assertIsNone(model.fit(numpy.asfortranarray(long[['a', 'b']]), long[['u', 'v']].to_numpy()).target_names)
        state = Apr.CrossProducts.new(2, 2).update(X, y)
        for function in (state.update, state.update_async):
            with self.assertRaisesRegex(ValueError, 'the targets “v”, “u”, but the samples before had “u”, “v”'):
                function(X, swapped)
        arrow = pyarrow.table(dict(table))
        self.assertEqual(state.update_arrow(arrow, ['u', 'v']).n_samples, 10)
        for function in (state.update_arrow, state.update_arrow_async):
            with self.assertRaisesRegex(ValueError, 'the targets “v”, “u”, but the samples before had “u”, “v”'):
                function(arrow, ['v', 'u'])
        with self.assertRaisesRegex(ValueError, 'this state has'):
            state.merge(Apr.CrossProducts.new(2, 2).update(X, swapped))
        for same in state, copy.copy(state), pickle.loads(pickle.dumps(state)), state + Apr.CrossProducts.new(2, 2):
            self.assertEqual(Apr.LinearRegression().fit_cross_products(same).target_names, ['u', 'v'])

    def test_memory_is_released(self):
        table = pyarrow.table({name: numpy.arange(100_000.0) + i for i, name in enumerate('abc')})
        pool = pyarrow.total_allocated_bytes()
        for _ in range(3):
            reader = pyarrow.RecordBatchReader.from_batches(
                table.schema, (batch.take(numpy.arange(len(batch))) for batch in table.to_batches(max_chunksize=10_000)))
            Apr.LinearRegression().fit(reader, 'a')
            del reader
        gc.collect()
        self.assertLessEqual(pyarrow.total_allocated_bytes(), pool)
        small = pyarrow.table(COLUMNS)
        alive = weakref.ref(small)
        Apr.LinearRegression().fit(small, RENTS).predict(small)
        del small
        gc.collect()
        self.assertIsNone(alive())

    def test_leaks(self):
        table = pyarrow.table(COLUMNS)
        self.assertNoLeak(lambda: Apr.LinearRegression().fit(table, RENTS), 4000)


if __name__ == '__main__':
    tap.main()
