#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Apr.GroupFits: what Apr.LinearRegression.fit_groups() finds for each group of samples."""

import copy
import math

import tap
from common import Apr, Gio, GLib, TestCase, needs_numpy, numpy

# y = 1 + 2 x, y = 5 - x, and one point.
X = [[0.], [1.], [1.], [3.], [2.], [8.]]
Y = [1., 4., 3., 2., 5., 7.]
CITIES = ['Rome', 'Oslo', 'Rome', 'Oslo', 'Rome', 'Paris']


def to_list(values):
    return values.tolist() if hasattr(values, 'tolist') else list(values)


class GroupFits(TestCase):
    def test_text(self):
        model = Apr.LinearRegression()
        fits = model.fit_groups(X, Y, CITIES)
        self.assertIsInstance(fits, Apr.GroupFits)
        self.assertEqual((len(fits), fits.n_groups, fits.n_failed), (3, 3, 0))
        self.assertEqual(list(fits.labels), ['Oslo', 'Paris', 'Rome'])
        self.assertEqual(to_list(fits.coefficients), [[-1], [0], [2]])
        self.assertEqual(to_list(fits.intercepts), [[5], [7], [1]])
        self.assertEqual(to_list(fits.n_samples), [2, 1, 3])
        self.assertEqual(to_list(fits.ranks), [1, 0, 1])
        self.assertEqual(to_list(fits.correctly_rounded), [True] * 3)
        self.assertEqual(repr(fits),
                         '3 groups: labels, coefficients, intercepts, n_samples, ranks, correctly_rounded')
        self.assertFalse(model.fitted)

    def test_kinds_of_labels(self):
        model = Apr.LinearRegression()
        for labels, expected in (([7, -3, 7, -3, 7, 0], [-3, 0, 7]), ((True, False, True, False, True, True), [False, True]),
                                 ([1.5, -3., 1.5, -3., 1.5, 0.], [-3, 0, 1.5]),
                                 ([('b', 1), ('a', 2)] * 3, [('a', 2), ('b', 1)]), (range(5, -1, -1), [0, 1, 2, 3, 4, 5])):
            self.assertEqual(list(model.fit_groups(X, Y, labels).labels), expected)
        tensor = Apr.Tensor.new_from_bytes(Apr.DType.U8, [6], GLib.Bytes.new(bytes([9, 2, 9, 2, 9, 4])))
        self.assertEqual(to_list(model.fit_groups(X, Y, tensor).labels), [2, 4, 9])

    @needs_numpy
    def test_arrays_of_labels(self):
        model = Apr.LinearRegression()
        for labels in (numpy.array(CITIES), numpy.array(CITIES, object)):
            self.assertEqual(list(model.fit_groups(X, Y, labels).labels), ['Oslo', 'Paris', 'Rome'])
        numbers = numpy.array([2.5, -1, 2.5, -1, 2.5, 0])
        self.assertEqual(to_list(model.fit_groups(X, Y, numbers).labels), [-1, 0, 2.5])
        numbers[3] = math.nan
        self.assertFails(Apr.Error.NOT_FINITE, 'no label at row 3', model.fit_groups, X, Y, numbers)
        self.assertFails(Apr.Error.SHAPE, r'but it has \[3, 2\]', model.fit_groups, X, Y, numbers.reshape(3, 2))

    def test_failed(self):
        fits = Apr.LinearRegression().fit_groups(X, Y, CITIES, [1., 0., 1., 0., 3., 1.])
        self.assertEqual(fits.n_failed, 1)
        self.assertTrue(math.isnan(fits.coefficients[0][0]))
        self.assertEqual(fits.coefficients[2][0], 2)
        self.assertEqual(to_list(fits.ranks), [-1, 0, 1])
        self.assertEqual(to_list(fits.n_samples), [0, 1, 3])
        self.assertFails(Apr.Error.WEIGHTS, 'no value above zero', fits.check, 0)
        self.assertTrue(fits.check(1))
        self.assertFails(Apr.Error.RANGE, 'no group 3', fits.check, 3)
        self.assertIn('1 failed', repr(fits))

    def test_refused(self):
        model = Apr.LinearRegression()
        self.assertFails(Apr.Error.SHAPE, 'groups has 1', model.fit_groups, X, Y, ['a'])
        self.assertFails(Apr.Error.NOT_FINITE, 'no label at row 5', model.fit_groups, X, Y, [*CITIES[:5], None])
        self.assertFails(Apr.Error.NOT_FINITE, 'row 5', model.fit_groups, [*X[:5], [math.nan]], Y, CITIES)
        with self.assertRaisesRegex(TypeError, 'no table'):
            model.fit_groups(X, Y, 'city')
        with self.assertRaisesRegex(TypeError, 'a label for each row'):
            model.fit_groups(X, Y, 7)
        with self.assertRaisesRegex(TypeError, 'sorted'):
            model.fit_groups(X, Y, ['a', 1, 'a', 1, 'a', 1])

    @needs_numpy
    def test_law(self):
        generator = numpy.random.default_rng(3)
        data, targets = generator.normal(size=(200, 3)).astype('f4'), generator.normal(size=(200, 2))
        labels, weights = generator.integers(0, 12, 200), generator.uniform(size=200)
        model = Apr.LinearRegression(fit_intercept=False, alpha=0.5)
        fits = model.fit_groups(data, targets, labels, weights)
        self.assertEqual((fits.coefficients.shape, fits.intercepts.shape), ((12, 2, 3), (12, 2)))
        self.assertEqual(fits.labels.dtype, labels.dtype)
        for i, label in enumerate(fits.labels):
            rows = labels == label
            alone = model.clone().fit(data[rows], targets[rows], weights[rows])
            self.assertEqual(fits.coefficients[i].tobytes(), alone.coefficients.tobytes())

    def test_async(self):
        model, loop, found = Apr.LinearRegression(), GLib.MainLoop(), []

        def finished(call):
            found.append(call)
            loop.quit()

        call = model.fit_groups_async(X, Y, CITIES)
        self.assertTrue(model.busy)
        call.add_done_callback(finished)
        loop.run()
        self.assertEqual(list(found[0].result().labels), ['Oslo', 'Paris', 'Rome'])
        self.assertEqual(to_list(found[0].result().coefficients), [[-1], [0], [2]])
        cancellable = Gio.Cancellable()
        cancellable.cancel()
        model.fit_groups_async(X, Y, CITIES, cancellable=cancellable).add_done_callback(finished)
        loop.run()
        with self.assertRaises(GLib.Error) as context:
            found[1].result()
        self.assertTrue(context.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))

    def test_empty(self):
        self.assertEqual((len(Apr.GroupFits()), list(Apr.GroupFits().ranks)), (0, []))
        fits = Apr.GroupFits()
        self.assertIs(copy.copy(fits), fits)
        self.assertIs(copy.deepcopy(fits), fits)


if __name__ == '__main__':
    tap.main()
