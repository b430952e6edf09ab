# SPDX-License-Identifier: LGPL-2.1-or-later
"""Apr.CrossProducts: sums that can be cut, sent and put together in any way."""

import copy
import os
import pickle
import random
import subprocess
import sys
import tempfile
from fractions import Fraction

import tap
from common import Apr, TestCase, needs_numpy, numpy

X = [[1.5, 2.0], [3.25, -1.0], [0.1, 7.0], [1e9, 1e-9], [5.0, 0.0]]
Y = [1.0, 2.5, -3.0, 0.5, 1e6]


class CrossProducts(TestCase):

    def test_any_cut_is_the_whole(self):
        whole = Apr.CrossProducts.new(2, 1).update(X, Y)
        generator = random.Random(1)
        for _ in range(20):
            order = list(range(5))
            generator.shuffle(order)
            cut = generator.randrange(6)
            state = Apr.CrossProducts.new(2, 1)
            for part in (order[:cut], order[cut:]):
                if part:
                    rows = [X[i] for i in part], [Y[i] for i in part]
                    state.merge(Apr.CrossProducts.new(2, 1).update(*rows))
            self.assertEqual(state, whole)
            self.assertEqual(state.to_bytes().get_data(), whole.to_bytes().get_data())

    def test_fit(self):
        state = Apr.CrossProducts.new(2, 1).update(X[:2], Y[:2]).update(X[2:], Y[2:])
        model = Apr.LinearRegression().fit_cross_products(state)
        at_once = Apr.LinearRegression().fit(X, Y)
        self.assertEqual(model.to_bytes().get_data(), at_once.to_bytes().get_data())

    def test_sums_are_those_of_fractions(self):
        # The words of the file, put together by hand, against rational arithmetic.
        state = Apr.CrossProducts.new(2, 1).update(X, Y, [1, 0.1, 3, 2, 0])
        reader = Apr.SafetensorsReader.new_from_bytes(state.to_bytes().get_data())
        first = int(reader.metadata['aprender.first_word'])
        rows = reader.get_tensor('sums').tolist()
        entries = []
        for words in rows:
            value = sum(int(word) << (32 * i) for i, word in enumerate(words))
            if words[-1] >> 31:
                value -= 1 << (32 * len(words))
            entries.append(Fraction(value) * Fraction(2) ** (32 * first))
        z = [[Fraction(1)] + [Fraction(v) for v in x] + [Fraction(y)] for x, y in zip(X, Y)]
        w = [Fraction(v) for v in (1, 0.1, 3, 2, 0)]
        expected = [sum(a * r[i] * r[j] for a, r in zip(w, z)) for i in range(4) for j in range(i + 1)]
        self.assertEqual(entries, expected)
        self.assertEqual(state.n_samples, 4)

    def test_is_a_value(self):
        state = Apr.CrossProducts.new(2, 1).update(X, Y)
        self.assertEqual(repr(state), '<Apr.CrossProducts: 5 samples, 2 features, 1 target>')
        for other in (copy.copy(state), copy.deepcopy(state), pickle.loads(pickle.dumps(state)),
                      Apr.CrossProducts.from_bytes(state.to_bytes().get_data())):
            self.assertEqual(other, state)
            other.update(X, Y)
            self.assertNotEqual(other, state)
        self.assertEqual((state.n_features, state.n_targets, state.n_samples), (2, 1, 5))

    def test_pickle_in_another_process(self):
        state = Apr.CrossProducts.new(2, 1).update(X, Y)
        program = 'import pickle, sys; print(pickle.load(sys.stdin.buffer))'
        output = subprocess.run([sys.executable, '-c', program], input=pickle.dumps(state),
                                capture_output=True, check=True).stdout
        self.assertEqual(output.decode().strip(), repr(state))

    def test_files(self):
        state = Apr.CrossProducts.new(2, 1).update(X, Y)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'state.safetensors')
            state.save(path)
            self.assertEqual(Apr.CrossProducts.load(path), state)

    def test_errors(self):
        state = Apr.CrossProducts.new(2, 1)
        self.assertFails(Apr.Error.SHAPE, 'cross products are of 2 and 1', state.update, [[1.0]], [1.0])
        self.assertFails(Apr.Error.EMPTY, '0 samples', Apr.LinearRegression().fit_cross_products, state)
        self.assertFails(Apr.Error.EMPTY, '0 features', Apr.CrossProducts.new, 0, 1)
        self.assertFails(Apr.Error.RANGE, '1 samples from 0', state.subtract,
                         Apr.CrossProducts.new(2, 1).update([[1, 2]], [3]))

    @needs_numpy
    def test_arrays(self):
        state = Apr.CrossProducts.new(2, 1).update(numpy.array(X), numpy.array(Y))
        self.assertEqual(state, Apr.CrossProducts.new(2, 1).update(X, Y))


if __name__ == '__main__':
    tap.main()
