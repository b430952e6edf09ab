# SPDX-License-Identifier: LGPL-2.1-or-later
"""What must hold whatever the data are, of arrays as scripts have them."""

import itertools
import os
import random
import tempfile
import unittest

import tap
from common import Apr, TestCase, numpy


def layouts(array):
    """The same numbers as they may lie in memory."""
    yield 'C', numpy.ascontiguousarray(array)
    yield 'Fortran', numpy.asfortranarray(array)
    yield 'every other row', numpy.repeat(array, 2, axis=0)[::2]
    yield 'every third column', numpy.repeat(array, 3, axis=1)[:, ::3]
    yield 'backwards', array[::-1, ::-1].copy()[::-1, ::-1]
    yield 'shifted by a byte', numpy.frombuffer(b'x' + array.tobytes(), 'u1')[1:].view(array.dtype).reshape(array.shape)
    yield 'bytes swapped', array.astype(array.dtype.newbyteorder())
    frozen = array.copy()
    frozen.flags.writeable = False
    yield 'read-only', frozen


@unittest.skipIf(numpy is None, 'numpy is not installed')
class Laws(TestCase):
    def setUp(self):
        self.seed = int(os.environ.get('APRENDER_SEED', '1'))
        self.random = numpy.random.RandomState(self.seed)

    def draw(self, dtype='f8'):
        n, p, n_targets = self.random.randint(1, 40), self.random.randint(1, 7), self.random.randint(1, 4)
        X = self.random.normal(self.random.choice([0, 2000]), 1, (n, p)).astype(dtype)
        y = self.random.normal(size=(n, n_targets)).astype(dtype)
        return X, (y[:, 0].copy() if n_targets == 1 else y)

    def assertSame(self, model, other):
        message = f'APRENDER_SEED={self.seed}'
        self.assertEqual(model.coefficients.tobytes(), other.coefficients.tobytes(), message)
        self.assertEqual(model.get_intercept(), other.get_intercept(), message)

    def test_layouts(self):
        # scikit-learn's issue 26493: the order of the memory changes its coefficients.
        for dtype in ('f4', 'f8'):
            for _ in range(30):
                X, y = self.draw(dtype)
                model = Apr.LinearRegression().fit(X, y)
                predictions = model.predict(X).tobytes()
                for name, other in layouts(X):
                    self.assertSame(Apr.LinearRegression().fit(other, y), model)
                    self.assertEqual(model.predict(other).tobytes(), predictions, name)
                if y.ndim == 2:
                    for _, other in layouts(y):
                        self.assertSame(Apr.LinearRegression().fit(X, other), model)

    def test_files_in_memory(self):
        X, y = self.draw()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'X.npy')
            numpy.save(path, X)
            mapped = numpy.load(path, mmap_mode='r')
            self.assertSame(Apr.LinearRegression().fit(mapped, y), Apr.LinearRegression().fit(X, y))

    def test_lists(self):
        for _ in range(20):
            X, y = self.draw()
            self.assertSame(Apr.LinearRegression().fit(X.tolist(), y.tolist()), Apr.LinearRegression().fit(X, y))

    def test_whole_numbers(self):
        for dtype in ('i1', 'u2', 'i4', 'i8', 'f2'):
            X, y = self.random.randint(0, 100, (20, 3)), self.random.randint(0, 100, 20)
            expected = Apr.LinearRegression(dtype=Apr.DType.F64).fit(X.astype('f8'), y.astype('f8'))
            self.assertSame(Apr.LinearRegression(dtype=Apr.DType.F64).fit(X.astype(dtype), y.astype(dtype)), expected)

    def test_arguments_are_not_changed(self):
        X, y = self.draw()
        weights = self.random.random_sample(len(X)) + 0.1
        before = X.tobytes(), y.tobytes(), weights.tobytes()
        model = Apr.LinearRegression().fit(X, y, weights)
        model.predict(X)
        model.score(X, y, weights)
        self.assertEqual((X.tobytes(), y.tobytes(), weights.tobytes()), before)

    def test_fit_forgets(self):
        X, y = self.draw()
        other_X, other_y = self.draw()
        model = Apr.LinearRegression().fit(other_X, other_y).fit(X, y)
        self.assertSame(model, Apr.LinearRegression().fit(X, y))
        self.assertEqual(model.n_features, X.shape[1])

    def test_predictions_of_rows(self):
        # Of rows in another order, of some of them, and of one alone: each is its own.
        for _ in range(30):
            X, y = self.draw()
            model = Apr.LinearRegression().fit(X, y)
            predictions = model.predict(X)
            order = self.random.permutation(len(X))
            self.assertEqual(model.predict(X[order]).tobytes(), predictions[order].tobytes())
            for start, stop in itertools.combinations(sorted(self.random.randint(0, len(X) + 1, 5)), 2):
                self.assertEqual(model.predict(X[start:stop]).tobytes(), predictions[start:stop].tobytes())
            if y.ndim == 1:
                self.assertEqual([model.predict_one(row) for row in X], predictions.tolist())

    def test_pieces(self):
        for _ in range(20):
            X, y = self.draw()
            n_targets = 1 if y.ndim == 1 else y.shape[1]
            whole = Apr.CrossProducts.new(X.shape[1], n_targets).update(X, y)
            cuts = [0, *sorted(self.random.randint(0, len(X) + 1, 3)), len(X)]
            parts = [Apr.CrossProducts.new(X.shape[1], n_targets).update(X[a:b], y[a:b])
                     for a, b in zip(cuts, cuts[1:]) if a < b]
            random.Random(self.seed).shuffle(parts)
            state = parts.pop()
            for part in parts:
                state.merge(part)
            self.assertEqual(state, whole)
            self.assertSame(Apr.LinearRegression().fit_cross_products(state), Apr.LinearRegression().fit(X, y))


if __name__ == '__main__':
    tap.main()
