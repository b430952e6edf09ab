# SPDX-License-Identifier: LGPL-2.1-or-later
"""Asynchronous calls that take one block of the samples after the other."""

import asyncio

import tap
from common import Apr, TestCase, numpy

import pandas


class Blocks(TestCase):
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
