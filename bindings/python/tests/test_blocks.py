# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls that take one block of the samples after the other."""

import asyncio
import math
import tracemalloc

import tap
from common import Apr, Gio, GLib, TestCase, numpy

import pandas
import pyarrow
import scipy.sparse


class Blocks(TestCase):
    def test_batches_of_all_sizes(self):
        """Large batches are read where they are, small ones are put together: the sums are those of the arrays."""
        rng = numpy.random.default_rng(2)
        columns = {'a': rng.normal(size=80_000), 'y': rng.normal(size=80_000), 'b': rng.integers(-9, 9, size=80_000) / 8}
        narrow = {name: values.astype('f4') for name, values in columns.items()}
        for data, precision in ((columns, 'exact'), (narrow, 'exact'), ({**columns, 'a': narrow['a']}, 'exact'),
                                (columns, 'double')):
            table = pyarrow.table(data)
            starts = [3, 103, 9_103, 29_103, 29_108, 37_300, 37_301, 79_999, 80_000]
            batches = [table.slice(start, end - start).to_batches()[0] for start, end in zip(starts, starts[1:])]

            def update(batches, precision=precision, schema=table.schema):
                reader = pyarrow.RecordBatchReader.from_batches(schema, batches)
                return Apr.CrossProducts(n_features=2, n_targets=1, precision=precision).update_arrow(reader, ['y'])

            state = update(batches)
            self.assertEqual(state, update(table.slice(3).to_batches(max_chunksize=500)))
            if precision == 'exact':
                expected = Apr.CrossProducts.new(2, 1).update(numpy.column_stack([data['a'], data['b']])[3:], data['y'][3:])
                expected.feature_names, expected.target_names = ['a', 'b'], ['y']
                self.assertEqual(state, expected)

            for name, which in (('b', 'X'), ('y', 'y')):
                bad = dict(data, **{name: data[name].copy()})
                bad[name][31_000] = math.nan
                spoilt = [pyarrow.table(bad).slice(start, end - start).to_batches()[0] for start, end in zip(starts, starts[1:])]
                self.assertFails(Apr.Error.NOT_FINITE, f'{which} has a NaN at row 30997, column “{name}”', update, spoilt)

    def test_batches_without_rows(self):
        """As a filter leaves them: partial_fit takes them as update does, also as the first."""
        table = pyarrow.table({'a': [1., 2, 3, 4], 'b': [1., 0, 2, 1], 'y': [3., 2, 7, 6]})
        empty, model, state = table.slice(0, 0), Apr.LinearRegression(keep_state=True), Apr.CrossProducts.new(2, 1)
        for i, batch in enumerate((empty, table.slice(0, 2), empty, table.slice(2), empty)):
            self.assertIs(model.partial_fit(batch, 'y'), model)
            self.assertEqual(model.fitted, i > 0)
            state.update(batch, 'y')
        self.assertEqual(model.feature_names, ['a', 'b'])
        self.assertEqual(model.cross_products, state)
        asyncio.run(model.partial_fit_async(empty, 'y'))
        self.assertEqual(model.to_bytes().get_data(),
                         Apr.LinearRegression(keep_state=True).fit(table, 'y').to_bytes().get_data())
        self.assertFails(Apr.Error.FEATURE_NAMES, '“c”', model.partial_fit, empty.rename_columns(['a', 'c', 'y']), 'y')
        self.assertFails(Apr.Error.SHAPE, '1 features', model.partial_fit, numpy.empty((0, 1)), [])
        self.assertFails(Apr.Error.EMPTY, 'Cannot fit 0 samples of 2 features', Apr.LinearRegression().fit, empty, 'y')
        other = Apr.LinearRegression()
        asyncio.run(other.partial_fit_async(empty, 'y'))
        self.assertIsNone(other.feature_names)

    def test_release_of_others(self):
        """What a call by blocks has reserved is not a caller's to release; what a caller has reserved is."""
        async def work(source, call):
            def read():
                for _ in range(8):
                    source.release()
                    busy.append(source.busy)
                    yield pandas.DataFrame({'x': x, 'y': 2 * x})

            busy = []
            await call(read(), 'y')
            # The first is read before the call begins.
            self.assertEqual(busy[2:], [True] * 6)
            source.reserve()
            self.assertTrue(source.busy)
            source.release()
            self.assertFalse(source.busy)

        x = numpy.arange(300_000.0)
        model, state = Apr.LinearRegression(), Apr.CrossProducts.new(1, 1)
        asyncio.run(work(model, model.fit_async))
        self.assertEqual(list(model.coefficients), [2.0])
        asyncio.run(work(state, state.update_async))
        self.assertEqual(state.n_samples, 2_400_000)

    def test_names_of_an_earlier_table(self):
        """A fit to an array has none, however large the table and the array are, and whichever method fitted before."""
        rng = numpy.random.default_rng(5)
        large = pandas.DataFrame(rng.normal(size=(200_000, 3)), columns=['a', 'b', 'c'])
        targets = pandas.DataFrame({'t': large['a'], 'u': large['b']})
        sizes = (10, 200_000)

        async def fit(model, method, n, X, y):
            if method.endswith('_async'):
                await getattr(model, method)(X[:n], y[:n])
            else:
                getattr(model, method)(X[:n], y[:n])

        for first in ('fit', 'fit_async', 'partial_fit', 'partial_fit_async'):
            for second in ('fit', 'fit_async'):
                for n, m in ((n, m) for n in sizes for m in sizes):
                    with self.subTest((first, n, second, m)):
                        model = Apr.LinearRegression()
                        asyncio.run(fit(model, first, n, large, targets))
                        self.assertEqual((model.feature_names, model.target_names), (['a', 'b', 'c'], ['t', 'u']))
                        X = numpy.asfortranarray(large[['c', 'b', 'a']].to_numpy()[:m])
                        asyncio.run(fit(model, second, m, X, targets.to_numpy()))
                        self.assertEqual((model.feature_names, model.target_names), (None, None))

        # Names that a caller gives stay, as do those of the first samples where more are added.
        for n in sizes:
            model = Apr.LinearRegression(feature_names=['p', 'q', 'r'])
            model.fit(numpy.asfortranarray(large.to_numpy()[:n]), targets['t'][:n])
            self.assertEqual(model.feature_names, ['p', 'q', 'r'])
            for call in (model.partial_fit, lambda X, y: asyncio.run(model.partial_fit_async(X, y))):
                model.fit(numpy.asarray(large)[:10], targets['t'][:10])
                model.feature_names = None
                call(large[:n], targets[['t']][:n])
                self.assertEqual((model.feature_names, model.target_names), (None, None))

    def test_busy_while_blocks_are_summed(self):
        """As while an array is fitted: a second fit is refused, and no samples are lost."""
        x = numpy.arange(300_000.0)
        frame = pandas.DataFrame({'x': x, 'y': 2 * x})
        for method in ('fit', 'partial_fit'):
            model, refused = Apr.LinearRegression().fit([[1], [2]], [2, 4]), []

            def read():
                yield frame
                yield frame
                # The first two are read before the call begins.
                self.assertTrue(model.busy)
                for call in (model.fit, model.partial_fit):
                    with self.assertRaisesRegex(GLib.Error, 'fitted already') as context:
                        call(frame, 'y')
                    refused.append(context.exception)
                model.release()
                self.assertTrue(model.busy)
                yield frame

            getattr(model, method)(read(), 'y')
            self.assertEqual(len(refused), 2)
            self.assertEqual(model.get_statistics().n_samples, 900_000 + 2 * (method == 'partial_fit'))
            self.assertFalse(model.busy)

            def fail():
                yield frame
                yield frame
                raise KeyError('no more')

            with self.assertRaisesRegex(KeyError, 'no more'):
                getattr(model, method)(fail(), 'y')
            self.assertFalse(model.busy)
            model.fit(frame, 'y')

    def test_nobody_hears_of_a_pause(self):
        """Nobody is told of the moment between the sums and the fit."""
        frame = pandas.DataFrame({'x': numpy.arange(300_000.0), 'y': 2 * numpy.arange(300_000.0)})
        for method in ('fit', 'partial_fit', 'fit_async', 'partial_fit_async'):
            with self.subTest(method):
                model, heard = Apr.LinearRegression(), []
                model.connect('notify::busy', lambda model, _, heard=heard: heard.append((model.busy, model.fitted)))
                call = getattr(model, method)(iter([frame, frame, frame]), 'y')
                if method.endswith('_async'):
                    asyncio.run(call)
                self.assertEqual(heard[0], (True, False))
                self.assertEqual(heard[-1], (False, True))
                self.assertNotIn((False, False), heard)

    def test_interrupted_iterators(self):
        """Whatever an iterator raises, the model is free again."""
        frame = pandas.DataFrame({'x': numpy.arange(300_000.0), 'y': 2 * numpy.arange(300_000.0)})

        def read(error):
            yield frame
            yield frame
            yield frame
            raise error

        async def fit(model, error):
            await asyncio.wait_for(model.fit_async(read(error), 'y'), 60)

        for error in (KeyboardInterrupt, GeneratorExit, asyncio.CancelledError, KeyError):
            with self.subTest(error):
                model = Apr.LinearRegression()
                with self.assertRaises(error):
                    asyncio.run(fit(model, error()))
                self.assertFalse(model.busy)
                self.assertTrue(model.fit(frame, 'y').fitted)

    def test_hyper_parameters_set_meanwhile(self):
        """They are for the next fit."""
        x = numpy.arange(300_000.0)
        frame = pandas.DataFrame({'x': x, 'y': 2 * x + 1})

        def read(model):
            yield frame
            yield frame
            model.alpha, model.fit_intercept, model.alphas, model.dtype = 1e9, False, [5.0], 'f32'
            yield frame

        expected = Apr.LinearRegression().fit(frame, 'y')
        for method in ('fit', 'partial_fit', 'fit_async', 'partial_fit_async'):
            with self.subTest(method):
                model, heard = Apr.LinearRegression(), []
                model.connect('notify::alpha', lambda model, _, heard=heard: heard.append(model.alpha))
                call = getattr(model, method)(read(model), 'y')
                if method.endswith('_async'):
                    asyncio.run(call)
                self.assertEqual((list(model.coefficients), model.intercept), (list(expected.coefficients), expected.intercept))
                self.assertEqual((model.alpha, model.fit_intercept, list(model.alphas), model.dtype),
                                 (1e9, False, [5.0], Apr.DType.F32))
                self.assertEqual(set(heard), {1e9})
                # The next is done with them.
                model.alphas, model.dtype = None, 'none'
                model.fit(frame, 'y')
                self.assertEqual(model.intercept, 0)

    def test_memory_of_wide_samples(self):
        """Samples to predict are made dense some megabytes at a time, however wide they are."""
        n_features = 1 << 14
        X = scipy.sparse.eye_array(1_000, n_features, format='csr')
        model = Apr.LinearRegression().fit(X[:3], [1, 2, 3])
        expected = model.predict(X.toarray())
        for call in (model.predict, lambda X: asyncio.run(model.predict_async(X))):
            tracemalloc.start()
            found = call(X)
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            self.assertEqual(found.tolist(), expected.tolist())
            self.assertLess(peak, 32 << 20)

    def test_predictions_that_would_overwrite_samples(self):
        """They are refused; memory beside that of X is not X's."""
        for n in (1_000, 200_000):
            for order in 'CF':
                data = numpy.ones((n, 4), order=order)
                data[::2, 0] = 2
                model = Apr.LinearRegression().fit(data[:10], data[:10, 0])
                before, expected = data.copy(), model.predict(data.copy())
                # pandas has the memory of an array, as a tensor does.
                for source in (data, Apr.Tensor(data), pandas.DataFrame(data, copy=False)) if (order, n) == ('C', 1_000) else (data,):
                    for out in (data.ravel(order)[:n], data.ravel(order)[2 * n:3 * n], data.ravel(order)[-n:]):
                        with self.subTest((n, order, type(source))):
                            with self.assertRaisesRegex(ValueError, 'out must not be memory of X'):
                                model.predict(source, out=out)
                            self.assertTrue((data == before).all())
                wide = numpy.ones((n, 5), order='F')
                wide[:, :4] = data
                self.assertEqual(model.predict(wide[:, :4], out=wide[:, 4]).tolist(), expected.tolist())
                # Columns between those of X.
                apart = numpy.ones((n, 8), order='F')
                apart[:, ::2] = data
                self.assertEqual(model.predict(apart[:, ::2], out=apart[:, 1]).tolist(), expected.tolist())


if __name__ == '__main__':
    tap.main()
