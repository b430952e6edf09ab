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
from common import Apr, Gio, GLib, TestCase, needs_numpy, numpy

X = [[1.5, 2.0], [3.25, -1.0], [0.1, 7.0], [1e9, 1e-9], [5.0, 0.0]]
Y = [1.0, 2.5, -3.0, 0.5, 1e6]


class Frame:
    """What is taken of a data frame."""

    def __init__(self, values, columns):
        self.values = values
        self.columns = columns

    def __array__(self, dtype=None, copy=None):
        return numpy.array(self.values, dtype or float)


class CrossProducts(TestCase):

    def test_identities(self):
        parts = [Apr.CrossProducts.new(1, 1).update([[float(i)], [i + 1.0]], [1.0, 2.0]) for i in range(3)]
        for i, part in enumerate(parts):
            part.set_identity(f'part {i}')
        total = sum(parts)
        self.assertEqual(total.identities, ['part 0', 'part 1', 'part 2'])
        again = parts[1].to_bytes()
        self.assertFails(Apr.Error.RANGE, 'The samples of “part 1” have been merged before', total.merge_bytes, again)
        with self.assertRaises(GLib.Error):
            total += parts[2]
        self.assertEqual(Apr.CrossProducts.new(1, 1).merge_bytes(bytes(again.get_data())), parts[1])
        self.assertEqual(pickle.loads(pickle.dumps(total)).identities, total.identities)

    def test_size(self):
        """What distributed engines ask, to decide where a state is kept."""
        state = Apr.CrossProducts.new(100, 1)
        self.assertLess(sys.getsizeof(state), 1000)
        state.update([[float(i * j % 17) for i in range(100)] for j in range(200)], [float(j) for j in range(200)])
        self.assertGreater(sys.getsizeof(state), 102 * 103 // 2 * 8)

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

    def test_operators(self):
        parts = [Apr.CrossProducts.new(2, 1).update([row], [target]) for row, target in zip(X, Y)]
        whole = Apr.CrossProducts.new(2, 1).update(X, Y)
        self.assertEqual(sum(parts), whole)
        self.assertEqual(parts[0].n_samples, 1)
        state = parts[0] + parts[1]
        self.assertEqual(state, Apr.CrossProducts.new(2, 1).update(X[:2], Y[:2]))
        same = state
        state += parts[2]
        self.assertIs(state, same)
        self.assertIs(state.merge(parts[3]), state)
        self.assertEqual(state.subtract(parts[3]).n_samples, 3)
        for other in 1, None, 'state':
            with self.assertRaises(TypeError):
                state + other
            with self.assertRaises(TypeError):
                other + state

    def test_pickles_without_a_copy(self):
        state = Apr.CrossProducts.new(2, 1).update(X, Y)
        buffers = []
        data = pickle.dumps(state, protocol=5, buffer_callback=buffers.append)
        self.assertLess(len(data), 200)
        self.assertEqual(b''.join(buffers), state.to_bytes().get_data())
        self.assertEqual(pickle.loads(data, buffers=buffers), state)
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            self.assertEqual(pickle.loads(pickle.dumps(state, protocol)), state)

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

    def test_threads_travel(self):
        state = Apr.CrossProducts(n_features=2, n_targets=1, n_threads=3)
        for other in copy.copy(state), copy.deepcopy(state), pickle.loads(pickle.dumps(state)), state + state:
            self.assertEqual(other.n_threads, 3)

    def test_merges_only_states(self):
        state = Apr.CrossProducts.new(2, 1).update(X, Y)
        for other in None, 1, state.to_bytes():
            with self.assertRaisesRegex(TypeError, 'merged with another state, not with'):
                state.merge(other)
        self.assertEqual(state.n_samples, 5)

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

    def test_fit_is_cancelled(self):
        model, cancellable = Apr.LinearRegression(), Gio.Cancellable()
        cancellable.cancel()
        with self.assertRaisesRegex(GLib.Error, 'cancelled'):
            model.fit_cross_products(Apr.CrossProducts.new(2, 1).update(X, Y), cancellable)
        self.assertFalse(model.fitted)

    def test_errors(self):
        state = Apr.CrossProducts.new(2, 1)
        self.assertFails(Apr.Error.SHAPE, 'cross products are of 2 and 1', state.update, [[1.0]], [1.0])
        self.assertFails(Apr.Error.EMPTY, '0 samples', Apr.LinearRegression().fit_cross_products, state)
        self.assertFails(Apr.Error.EMPTY, '0 features', Apr.CrossProducts.new, 0, 1)
        self.assertFails(Apr.Error.EMPTY, '0 features', Apr.CrossProducts().to_bytes)
        self.assertFails(Apr.Error.RANGE, '1 samples from 0', state.subtract,
                         Apr.CrossProducts.new(2, 1).update([[1, 2]], [3]))

    def test_progress(self):
        told = []
        state = Apr.CrossProducts.new(2, 1)
        state.connect('notify::progress', lambda state, _: told.append((state.n_samples, state.props.progress)))
        state.update(X, Y).update(X, Y)
        self.assertEqual(told, [(0, 1), (5, 0), (5, 1)])

    @needs_numpy
    def test_arrays(self):
        state = Apr.CrossProducts.new(2, 1).update(numpy.array(X), numpy.array(Y))
        self.assertEqual(state, Apr.CrossProducts.new(2, 1).update(X, Y))

    @needs_numpy
    def test_integers_are_exact(self):
        values = numpy.array([[1, 2], [3, 2**63 - 1], [-2**63, 5]])
        state = Apr.CrossProducts.new(2, 1)
        state.update(values, numpy.array([True, False, True]), numpy.array([1, 2, 3], 'u1'))
        reader = Apr.SafetensorsReader.new_from_bytes(state.to_bytes().get_data())
        words = reader.get_tensor('sums').tolist()[5]
        value = sum(int(word) << (32 * i) for i, word in enumerate(words))
        self.assertEqual(value << 32 * int(reader.metadata['aprender.first_word']),
                         1 * 2**2 + 2 * (2**63 - 1)**2 + 3 * 5**2)
        self.assertEqual(reader.metadata['aprender.dtype'], 'F64')
        half = Apr.CrossProducts.new(2, 1).update(numpy.array(X[:3], 'f2'), Y[:3])
        self.assertEqual(Apr.LinearRegression().fit_cross_products(half).coefficients.dtype, numpy.float32)
        with self.assertRaisesRegex(GLib.Error, 'row 0.*no double is equal'):
            state.update([[1, 2]], [3], numpy.array([2**53 + 1]))

    @needs_numpy
    def test_feature_names(self):
        state = Apr.CrossProducts.new(2, 1).update(Frame(X, ['a', 'b']), Y).update(X, Y)
        self.assertEqual(state.feature_names, ['a', 'b'])
        self.assertEqual(pickle.loads(pickle.dumps(state)).feature_names, ['a', 'b'])
        self.assertEqual(Apr.LinearRegression().fit_cross_products(state).feature_names, ['a', 'b'])
        named = Apr.LinearRegression(feature_names=['one'])
        self.assertEqual(named.fit_cross_products(state).feature_names, ['a', 'b'])
        before = state.copy()
        self.assertFails(Apr.Error.FEATURE_NAMES, '“c”.*“b”', state.update, Frame(X, ['a', 'c']), Y)
        self.assertFails(Apr.Error.FEATURE_NAMES, '“c”.*“b”', state.merge,
                         Apr.CrossProducts.new(2, 1).update(Frame(X, ['a', 'c']), Y))
        self.assertEqual(state, before)
        state.feature_names = ['c', 'd']
        self.assertEqual(state.get_feature_names(), ['c', 'd'])

    def test_scores(self):
        rows, others = [[1.0], [2.0], [4.0]], [[0.0], [1.0], [2.0]]
        state = Apr.CrossProducts.new(1, 1).update(others, [1.0, 0.0, 4.0])
        score = Apr.LinearRegression().fit(rows, [2.0, 4.0, 8.0]).score_cross_products(state)
        # The predictions are 0, 2 and 4, the squares of the errors add up to 5, those about the mean of 5/3 to 26/3.
        self.assertIsInstance(score, float)
        self.assertAlmostEqual(score, 1 - 15 / 26, 14)
        state = Apr.CrossProducts.new(1, 2).update(others, [[1.0, 0.0], [0.0, 2.0], [4.0, 4.0]])
        scores = Apr.LinearRegression().fit(rows, [[2.0, 2.0], [4.0, 4.0], [8.0, 8.0]]).score_cross_products(state)
        self.assertEqual(len(scores), 2)
        self.assertAlmostEqual(scores[0], 1 - 15 / 26, 14)
        self.assertEqual(scores[1], 1)

    def test_precision_and_threads(self):
        generator = random.Random(2)
        rows = [[generator.random(), generator.random()] for _ in range(700)]
        targets = [generator.random() for _ in rows]
        exact = Apr.CrossProducts.new(2, 1).update(rows, targets)
        state = Apr.CrossProducts.new_with_precision(2, 1, Apr.Precision.DOUBLE)
        state.props.n_threads = 3
        self.assertEqual(state.update(rows, targets).props.precision, Apr.Precision.DOUBLE)
        self.assertNotEqual(state, exact)
        other = Apr.CrossProducts.new_with_precision(2, 1, Apr.Precision.DOUBLE)
        self.assertEqual(state, other.update(rows, targets))
        exact.merge(state)
        self.assertEqual(exact.props.precision, Apr.Precision.DOUBLE)


if __name__ == '__main__':
    tap.main()
