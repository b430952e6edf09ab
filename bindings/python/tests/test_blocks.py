# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls that take one block of the samples after the other."""

import asyncio
import math

import tap
from common import Apr, TestCase, numpy

import pandas
import pyarrow


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


if __name__ == '__main__':
    tap.main()
