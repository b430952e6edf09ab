#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Apr.Folds, and what models say of samples that they have not seen: cross_validate() and cross_predict()."""

import asyncio
import copy
import datetime
import decimal
import inspect
import math
import pickle

import tap
from common import Apr, Gio, GLib, TestCase, needs_numpy, numpy
from gi.repository import GObject

# Of the first two samples the regression is y = x, of the others y = 4 x - 6.
X = [[0.], [1.], [2.], [3.]]
Y = [0., 1., 2., 6.]


def to_list(values):
    return values.tolist() if hasattr(values, 'tolist') else list(values)


class Mean(Apr.Estimator):
    __gtype_name__ = 'AprTestFoldsMean'

    shift = GObject.Property(type=float, default=0.0)

    def do_fit(self, X, y, sample_weight, cancellable):
        values = to_list(y)
        if 66 in values:
            raise KeyError('route')
        weights = [1.] * len(values) if sample_weight is None else to_list(sample_weight)
        return self.set_result('mean', [sum(map(lambda a, b: a * b, values, weights)) / sum(weights)])

    def do_predict(self, X):
        return Apr.Tensor([float(self.get_result('mean')) + self.shift] * len(X))


class Interrupted(Apr.Estimator):
    __gtype_name__ = 'AprTestFoldsInterrupted'

    n_fits = 0

    def do_fit(self, X, y, sample_weight, cancellable):
        Interrupted.n_fits += 1
        raise KeyboardInterrupt


class Tuned(Apr.LinearRegression):
    """Whose fit chooses the penalty."""

    __gtype_name__ = 'AprTestFoldsTuned'

    begun = []

    def do_fit(self, X, y, sample_weight, cancellable):
        self.begun.append(self.alpha)
        self.alpha = 7.
        return Apr.LinearRegression.do_fit(self, X, y, sample_weight, cancellable)


class OwnFit(Apr.LinearRegression):
    __gtype_name__ = 'AprTestFoldsOwnFit'

    def fit(self, X, y, sample_weight=None, cancellable=None):
        return super().fit(X, y)


class OwnPredict(Apr.LinearRegression):
    __gtype_name__ = 'AprTestFoldsOwnPredict'

    def predict(self, X):
        return [0.] * len(X)


class Folds(TestCase):
    def test_by_hand(self):
        model, folds = Apr.LinearRegression(), Apr.Folds(X, Y, folds=2)
        self.assertIsInstance(folds, Apr.Folds)
        self.assertEqual((len(folds), folds.n_folds, to_list(folds.labels)), (2, 2, [0, 0, 1, 1]))
        self.assertEqual(repr(folds), '<Apr.Folds: 2 folds, 4 samples>')
        self.assertEqual(to_list(model.cross_predict(folds)), [-6, -2, 2, 3])
        self.assertEqual(to_list(model.cross_validate(folds)), [-89, -.125])
        for metric in ('mean_squared_error', Apr.Metric.MEAN_SQUARED_ERROR, 'mean-squared-error'):
            self.assertEqual(to_list(model.cross_validate(folds, metric)), [22.5, 4.5])
        self.assertEqual(to_list(model.cross_validate(folds, metric='max_error')), [6, 3])
        self.assertEqual((model.fitted, model.busy), (False, False))

    def test_sizes(self):
        rows, targets = [[float(i)] for i in range(7)], list(range(7))
        self.assertEqual(to_list(Apr.Folds(rows, targets, folds=3).labels), [0, 0, 0, 1, 1, 2, 2])
        self.assertEqual(to_list(Apr.Folds(rows, targets).labels), [0, 0, 1, 1, 2, 3, 4])
        shuffled = Apr.Folds(rows, targets, folds=3, seed=2**64 - 1)
        self.assertEqual(sorted(to_list(shuffled.labels)), [0, 0, 0, 1, 1, 2, 2])
        self.assertEqual(to_list(shuffled.labels), to_list(Apr.Folds(rows, targets, folds=3, seed=2**64 - 1).labels))
        self.assertGreater(len({tuple(to_list(Apr.Folds(rows, targets, seed=seed).labels)) for seed in range(20)}), 10)
        labels, model = to_list(shuffled.labels), Apr.LinearRegression(alpha=1.)
        targets = [1., 5., 2., 8., 3., 7., 4.]
        self.assertEqual(to_list(model.cross_validate(Apr.Folds(rows, targets, folds=3, seed=2**64 - 1))),
                         to_list(model.cross_validate(Apr.Folds(rows, targets, folds=labels))))

    def test_labels(self):
        """Folds are in the order of the labels, which stay as they are; those below 0 are of samples in no fold."""
        model = Apr.LinearRegression()
        expected = [[-6, -2, 2, 3], [22.5, 4.5]]
        for labels in (['a', 'a', 'b', 'b'], ('b', 'b', 'c', 'c'), [7, 7, 9, 9], [False, False, True, True], range(0, 4),
                       [('a', -1), ('a', -1), ('a', 2), ('a', 2)], [.25, .25, 1.5, 1.5],
                       [datetime.timedelta(-1)] * 2 + [datetime.timedelta(1)] * 2):
            folds = Apr.Folds(X, Y, folds=labels)
            self.assertEqual((folds.labels, type(folds.labels)), (list(labels), list))
            if len(folds) == 2:
                self.assertEqual([to_list(model.cross_predict(folds)), to_list(model.cross_validate(folds, 'mean_squared_error'))],
                                 expected)
        last_first = Apr.Folds(X, Y, folds=['z', 'z', 'a', 'a'])
        self.assertEqual(to_list(model.cross_validate(last_first, 'mean_squared_error')), [4.5, 22.5])
        for labels in ([-1, -1, 0, 0], [-2, -9, 5, 5], [-.5, -1., 0., 0.], [-1, -1, True, True],
                       [decimal.Decimal(-1), decimal.Decimal('-0.5'), decimal.Decimal(0), decimal.Decimal(0)]):
            folds = Apr.Folds(X, Y, folds=labels)
            self.assertEqual((len(folds), folds.labels), (1, labels))
            predicted = to_list(model.cross_predict(folds))
            self.assertEqual(([math.isnan(value) for value in predicted], predicted[2:]), ([True, True, False, False], [2, 3]))
            self.assertEqual(to_list(model.cross_validate(folds, 'mean_squared_error')), [4.5])
        tensor = Apr.Tensor.new_from_bytes(Apr.DType.I8, [4], GLib.Bytes.new(bytes([255, 254, 3, 3])))
        folds = Apr.Folds(X, Y, folds=tensor)
        self.assertEqual((len(folds), to_list(folds.labels)), (1, [-1, -2, 3, 3]))

    @needs_numpy
    def test_arrays(self):
        model = Apr.LinearRegression()
        for labels in (numpy.array(['a', 'a', 'b', 'b']), numpy.array(['a', 'a', 'b', 'b'], object), numpy.array([3, 3, 4, 4], 'u1'),
                       numpy.array([.5, .5, 2, 2], 'f4'), numpy.array(['2026-01-01'] * 2 + ['2026-01-02'] * 2, 'M8[D]'),
                       numpy.array([-2, -2, -1, -1], 'm8[D]')):
            folds = Apr.Folds(numpy.array(X), numpy.array(Y), folds=labels)
            numpy.testing.assert_array_equal(folds.labels, labels)
            self.assertEqual(folds.labels.dtype, labels.dtype)
            self.assertEqual(to_list(model.cross_predict(folds)), [-6, -2, 2, 3])
        for labels in numpy.array([-1., -1, 0, 0]), numpy.array([decimal.Decimal(i) for i in (-1, -1, 0, 0)], object):
            folds = Apr.Folds(X, Y, folds=labels)
            self.assertEqual((len(folds), folds.labels.tolist()), (1, [-1, -1, 0, 0]))
        self.assertEqual(len(Apr.Folds(X, Y, folds=numpy.int64(2))), 2)
        for dtype in 'f4', 'f8':
            predicted = model.cross_predict(Apr.Folds(numpy.array(X, dtype), numpy.array(Y, dtype), folds=2))
            self.assertEqual((predicted.dtype, predicted.flags.writeable), (dtype, True))
        self.assertEqual(model.cross_validate(Apr.Folds(numpy.array(X, 'f4'), Y, folds=2)).dtype, 'f8')
        two = model.cross_predict(Apr.Folds(X, numpy.stack([Y, -numpy.array(Y)], 1), folds=2))
        self.assertEqual(two.tolist(), [[-6, 6], [-2, 2], [2, -2], [3, -3]])

    @needs_numpy
    def test_arrays_in_a_list(self):
        rows = numpy.arange(4)
        for folds in [(rows[2:], rows[:2]), (rows[:2], rows[2:])], [rows[:2], rows[2:]], [1, 1, 2, rows]:
            with self.assertRaisesRegex(TypeError, f'label for each row of X, but has an array at {3 * (len(folds) > 2)} '):
                Apr.Folds(X, Y, folds=folds)

    @needs_numpy
    def test_fits(self):
        """Scores and predictions are those of models that are fitted to the other samples."""
        random = numpy.random.default_rng(5)
        data, weights, labels = random.normal(size=(90, 4)), random.uniform(size=90), random.integers(-1, 4, 90)
        targets = data @ random.normal(size=(4, 2)) + random.normal(size=(90, 2))
        metrics = {'r2': Apr.r2_score, 'explained_variance': Apr.explained_variance_score,
                   'root_mean_squared_error': Apr.root_mean_squared_error, 'mean_absolute_error': Apr.mean_absolute_error,
                   'median_absolute_error': Apr.median_absolute_error}
        for model in (Apr.LinearRegression(), Apr.LinearRegression(alpha=3., fit_intercept=False), Apr.LinearRegression(positive=True),
                      Apr.LinearRegression(alphas=[0., 2.], precision='double'), Mean(shift=.5)):
            for y in targets, targets[:, 0]:
                if y.ndim > 1 and isinstance(model, Mean) or y.ndim == 1 and getattr(model, 'alphas', None) is not None:
                    continue
                for given in None, weights:
                    folds = Apr.Folds(data, y, given, labels)
                    predicted = model.cross_predict(folds)
                    scores = {metric: model.cross_validate(folds, metric) for metric in metrics}
                    self.assertTrue(numpy.isnan(predicted[labels < 0]).all())
                    for i in range(4):
                        others, own = labels != i, labels == i
                        one = model.clone().fit(data[others], y[others], None if given is None else given[others])
                        numpy.testing.assert_allclose(predicted[own], one.predict(data[own]), rtol=1e-12, atol=1e-12)
                        for metric, function in metrics.items():
                            expected = function(y[own], one.predict(data[own]), None if given is None else given[own])
                            numpy.testing.assert_allclose(scores[metric][i], expected, rtol=1e-12, atol=1e-12)

    @needs_numpy
    def test_weights(self):
        """A row with the weight 2 is the row twice, and one with the weight 0 is none."""
        random = numpy.random.default_rng(6)
        data, targets = random.normal(size=(40, 3)), random.normal(size=40)
        weights, labels = random.integers(0, 3, 40), random.choice(['a', 'b', 'c'], 40)
        rows = numpy.repeat(numpy.arange(40), weights)
        for model in Apr.LinearRegression(alpha=.5), Mean():
            for metric in 'r2', 'mean_squared_error', 'mean_absolute_error':
                ours = model.cross_validate(Apr.Folds(data, targets, weights, labels), metric)
                numpy.testing.assert_allclose(
                    ours, model.cross_validate(Apr.Folds(data[rows], targets[rows], folds=labels[rows]), metric), rtol=1e-12)

    def test_cross_products(self):
        states = [Apr.CrossProducts.new(1, 1).update(X[i:i + 2], Y[i:i + 2]) for i in (0, 2)]
        for given in states, tuple(states):
            folds = Apr.Folds(folds=given)
            self.assertEqual((len(folds), folds.labels, repr(folds)), (2, None, '<Apr.Folds: 2 folds>'))
            self.assertEqual(to_list(Apr.LinearRegression().cross_validate(folds)), [-89, -.125])
        self.assertFails(Apr.Error.STATE, 'no samples to predict', Apr.LinearRegression().cross_predict, folds)
        self.assertFails(Apr.Error.STATE, 'AprTestFoldsMean needs the samples', Mean().cross_validate, folds)
        self.assertFails(Apr.Error.EMPTY, '2 folds at least', Apr.Folds, folds=states[:1])
        for arguments in (states,), (states, None, None, 2):
            with self.assertRaisesRegex(TypeError, r'pass it as folds, Apr.Folds\(folds=\[…\]\)'):
                Apr.Folds(*arguments)
        with self.assertRaisesRegex(TypeError, 'pass neither X nor y'):
            Apr.Folds(X, Y, folds=states)

    def test_classes_of_scripts(self):
        model = Mean(shift=1.)
        folds = Apr.Folds(X, Y, folds=2)
        self.assertEqual(to_list(model.cross_predict(folds)), [5, 5, 1.5, 1.5])
        self.assertEqual(to_list(model.cross_validate(folds, 'max_error')), [5, 4.5])
        self.assertEqual(to_list(asyncio.run(model.cross_predict_async(folds))), [5, 5, 1.5, 1.5])
        self.assertEqual(to_list(asyncio.run(model.cross_validate_async(folds, 'max_error'))), [5, 4.5])
        wrong, labelled = Apr.Folds(X, [0., 1., 2., 66.], folds=2), Apr.Folds(X, [0., 1., 2., 66.], folds=['b', 'b', 'a', 'a'])
        for call in (model.cross_validate, model.cross_predict, lambda folds: asyncio.run(model.cross_validate_async(folds)),
                     lambda folds: asyncio.run(model.cross_predict_async(folds))):
            for folds, note in ((wrong, 'Fold 0 (counted from 0)'), (labelled, 'Fold 1 (counted from 0), label b')):
                with self.assertRaisesRegex(KeyError, '^\'route\'$') as caught:
                    call(folds)
                if hasattr(BaseException, 'add_note'):
                    self.assertEqual(caught.exception.__notes__, [note])
                self.assertFalse(model.busy)

    def test_hyper_parameters(self):
        """What a fit does to those of its model is over with its fold."""
        model = Tuned(alpha=2.)
        for method in model.cross_validate, model.cross_predict:
            Tuned.begun.clear()
            method(Apr.Folds(X, Y, folds=[0, 0, 1, 1]))
            self.assertEqual((Tuned.begun, model.alpha), ([2, 2], 2))

    def test_a_failure_ends_all(self):
        """As where Ctrl-C stops the fit of a fold."""
        for method in Interrupted().cross_validate, Interrupted().cross_predict:
            Interrupted.n_fits = 0
            self.assertRaises(KeyboardInterrupt, method, Apr.Folds(X, Y, folds=4))
            self.assertEqual(Interrupted.n_fits, 1)

    def test_own_methods(self):
        """What they do would not be done."""
        folds = Apr.Folds(X, Y, folds=2)
        for model, name in (OwnFit(), 'fit'), (OwnPredict(), 'predict'):
            for method in 'cross_validate', 'cross_validate_async', 'cross_predict', 'cross_predict_async':
                with self.assertRaisesRegex(TypeError, rf'^{method.removesuffix("_async")}\(\) calls .* has its own {name}\(\): '
                                                       rf'write do_{name}\(\) instead, or call scikit-learn’s cross_val'):
                    getattr(model, method)(folds)

    def test_async(self):
        model, folds, loop, found = Apr.LinearRegression(), Apr.Folds(X, Y, folds=2), GLib.MainLoop(), []

        async def validate():
            found.append(await model.cross_validate_async(folds, 'mean_squared_error'))
            found.append(await model.cross_predict_async(folds))

        asyncio.run(validate())
        self.assertEqual([to_list(values) for values in found], [[22.5, 4.5], [-6, -2, 2, 3]])

        def call_back(model, result, finish):
            found.append(finish(result))
            loop.quit()

        self.assertIsNone(model.cross_validate_async(folds, 'max_error', None, call_back, model.cross_validate_finish))
        self.assertTrue(model.busy)
        loop.run()
        self.assertIsNone(model.cross_predict_async(folds, None, call_back, model.cross_predict_finish))
        loop.run()
        self.assertEqual([to_list(values) for values in found[2:]], [[6, 3], [-6, -2, 2, 3]])

        cancellable = Gio.Cancellable()
        cancellable.cancel()
        for call in (lambda: model.cross_validate(folds, 'r2', cancellable), lambda: model.cross_predict(folds, cancellable),
                     lambda: asyncio.run(model.cross_validate_async(folds, cancellable=cancellable)),
                     lambda: asyncio.run(model.cross_predict_async(folds, cancellable))):
            with self.assertRaises(GLib.Error) as context:
                call()
            self.assertTrue(context.exception.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))

    def test_errors_of_callbacks(self):
        """They name the label, as those of a call that blocks do."""
        model, loop, found = Apr.LinearRegression(), GLib.MainLoop(), []
        folds = Apr.Folds(X, Y, [0, 0, 1, 1], folds=['control', 'control', 'treated', 'treated'])

        def call_back(source, result, finish, *rest):
            # A result may be kept, and ended later.
            found.append((finish, result, rest))
            loop.quit()

        model.cross_validate_async(folds, 'r2', None, call_back, model.cross_validate_finish, '0 .*, label control', 1)
        loop.run()
        model.cross_predict_async(folds, None, call_back, model.cross_predict_finish, '1 .*, label treated', 2)
        loop.run()
        self.assertEqual([number for _, _, (_, number) in found], [1, 2])
        for finish, result, (name, _) in found:
            self.assertFails(Apr.Error.WEIGHTS, f'^Fold {name}: .*no value above zero', finish, result)

    def test_cancelled(self):
        """At any time, also while rows in no fold are summed."""
        rows = [[float(i)] for i in range(1700)]
        labels = [float(i % 34 - 30) for i in range(1700)]

        def cancel(model, _):
            notified.append(model.progress)
            if len(notified) == n:
                cancellable.cancel()

        for n in range(1, 60):
            model, cancellable, notified = Apr.LinearRegression(n_threads=1), Gio.Cancellable(), []
            model.connect('notify::progress', cancel)
            try:
                model.cross_validate(Apr.Folds(rows, list(range(1700)), folds=labels), cancellable=cancellable)
            except GLib.Error as error:
                self.assertTrue(error.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED))
                self.assertEqual(error.message, 'Operation was cancelled')
        self.assertGreater(len(notified), 30)

    def test_samples(self):
        model = Apr.LinearRegression()
        for folds in 2, ['a', 'b', 'a', 'b']:
            wrong = Apr.Folds([[0.], [1.], [math.nan], [3.]], Y, folds=folds)
            for call in (model.cross_validate, model.cross_predict, lambda folds: asyncio.run(model.cross_validate_async(folds)),
                         lambda folds: asyncio.run(model.cross_predict_async(folds))):
                self.assertFails(Apr.Error.NOT_FINITE, '^X has a NaN at row 2, column 0', call, wrong)
        self.assertFails(Apr.Error.WEIGHTS, '^Fold 0 .*no value above zero', model.cross_validate,
                         Apr.Folds(X, Y, [0, 0, 1, 1], folds=2))
        days = [datetime.date(2026, 1, 1)] * 2 + [datetime.date(2026, 1, 2)] * 2
        for labels, name in ((['control', 'control', 'treated', 'treated'], ', label control'), ([-1, 0, 1, 1], ''),
                             ([5, 5, 7, 7], ', label 5'), ([-1, 2.5, 7.5, 7.5], ', label 2.5'), ([False, False, True, True], ''),
                             ([('a', 1), ('a', 1), ('a', 2), ('a', 2)], r', label \(a, 1\)'), (days, ', label 2026-01-01')):
            arrays = [labels] if numpy is None or isinstance(labels[0], tuple) else [labels, numpy.array(labels)]
            for folds in arrays:
                wrong = Apr.Folds(X, Y, [0, 1, 0, 0], folds=folds)
                for call in (model.cross_validate, model.cross_predict, lambda folds: asyncio.run(model.cross_validate_async(folds)),
                             lambda folds: asyncio.run(model.cross_predict_async(folds))):
                    self.assertFails(Apr.Error.WEIGHTS, rf'^Fold 0 \(counted from 0\){name}: .*no value above zero', call, wrong)
        self.assertFails(Apr.Error.WEIGHTS, r'^Fold 1 \(counted from 0\), label treated: ', model.cross_predict,
                         Apr.Folds(X, Y, [0, 0, 1, 1], folds=['control', 'control', 'treated', 'treated']))
        self.assertFails(Apr.Error.SHAPE, 'X has 4 samples, but y has 3', Apr.Folds, X, Y[:3], folds=2)
        self.assertFails(Apr.Error.SHAPE, 'sample_weight has 3', Apr.Folds, X, Y, [1, 1, 1], folds=2)
        with self.assertWarnsRegex(UserWarning, 'R.2 score is not well-defined') as caught:
            scores = model.cross_validate(Apr.Folds(X, Y, folds=[0, 0, 1, 2]))
        self.assertEqual(([math.isnan(score) for score in scores], caught.filename), ([False, True, True], __file__))

    def test_refused(self):
        for n_folds in -1, 0, 1, 5, 2**64:
            self.assertFails(Apr.Error.RANGE, f'2 folds at least.*{n_folds}|{n_folds} folds.*2 folds at least', Apr.Folds, X, Y,
                             folds=n_folds)
        for seed in -1, 2**64, 1.5, 'one':
            with self.assertRaisesRegex(TypeError, 'seed must be a whole number from 0 to 18446744073709551615, not'):
                Apr.Folds(X, Y, folds=2, seed=seed)
        with self.assertRaisesRegex(TypeError, 'seed is for a number of folds'):
            Apr.Folds(X, Y, folds=[0, 0, 1, 1], seed=1)
        for folds in 2.0, None:
            with self.assertRaisesRegex(TypeError, f'a number of folds, or a label for each row of X, not {folds}'):
                Apr.Folds(X, Y, folds=folds)
        with self.assertRaisesRegex(TypeError, 'folds names a column of X, “town”, but X is no table'):
            Apr.Folds(X, Y, folds='town')
        with self.assertRaisesRegex(TypeError, 'folds must be a label for each row of X, not an object'):
            Apr.Folds(X, Y, folds=object())
        # Such as a split of scikit-learn's: pairs of the rows that are fitted to and those that are not.
        for folds in [([2, 3], [0, 1]), ([0, 1], [2, 3])], [[0], [0], [1], [1]]:
            with self.assertRaisesRegex(TypeError, r'folds must be a label for each row of X, but has an array at 0 \(counted'):
                Apr.Folds(X, Y, folds=folds)
        self.assertFails(Apr.Error.SHAPE, 'X has 4 samples, but folds has 0', Apr.Folds, X, Y, folds=[])
        for folds in [], ():
            self.assertFails(Apr.Error.EMPTY, 'There must be 2 folds at least, but .* 0$', Apr.Folds, folds=folds)
        with self.assertRaisesRegex(TypeError, 'folds has labels that cannot be sorted'):
            Apr.Folds(X, Y, folds=['a', 1, 'a', 1])
        self.assertFails(Apr.Error.SHAPE, 'X has 4 samples, but folds has 3', Apr.Folds, X, Y, folds=[0, 1, 2])
        self.assertFails(Apr.Error.NOT_FINITE, 'folds has no label at row 3', Apr.Folds, X, Y, folds=['a', 'b', 'b', None])
        self.assertFails(Apr.Error.EMPTY, '^folds has no fold', Apr.Folds, X, Y, folds=[-1, -1, -2, -1])
        self.assertFails(Apr.Error.EMPTY, 'All samples are in one fold', Apr.Folds, X, Y, folds=['a'] * 4)
        self.assertFails(Apr.Error.RANGE, '^folds has the label 0.5 at row 0', Apr.Folds, X, Y, folds=Apr.Tensor([.5, 1, 2, 2]))
        for arguments in (X,), (None, Y), (None, None, Y), (None, None, None, 3), (None, None, None, 5, 1):
            with self.assertRaises(TypeError):
                Apr.Folds(*arguments)
        model = Apr.LinearRegression()
        for method in model.cross_validate, model.cross_predict, model.cross_validate_async, model.cross_predict_async:
            with self.assertRaisesRegex(TypeError, r'folds must be an Apr.Folds, as Apr.Folds\(X, y\) makes them, not an array'):
                method(X)
        with self.assertRaisesRegex(ValueError, 'metric must be one of “r2”, .*, not “accuracy”'):
            model.cross_validate(Apr.Folds(X, Y, folds=2), 'accuracy')

    def test_object(self):
        empty = Apr.Folds()
        self.assertEqual((len(empty), empty.n_folds, empty.labels, repr(empty)), (0, 0, None, '<Apr.Folds: 0 folds>'))
        for method in Apr.LinearRegression().cross_validate, Mean().cross_validate, Mean().cross_predict:
            self.assertFails(Apr.Error.EMPTY, '0 folds', method, empty)
        tensors = Apr.Tensor([[0.], [1.], [2.], [3.]]), Apr.Tensor(Y), None
        plain = Apr.Folds.new(*tensors, 2)
        self.assertEqual(to_list(Apr.LinearRegression().cross_predict(plain)), [-6, -2, 2, 3])
        for folds in empty, plain, Apr.Folds(X, Y, folds=2):
            self.assertIs(copy.copy(folds), folds)
            self.assertIs(copy.deepcopy(folds), folds)
            with self.assertRaisesRegex(TypeError, 'Folds cannot be pickled: pass on the samples'):
                pickle.dumps(folds)
        self.assertEqual(list(inspect.signature(Apr.Folds).parameters), ['X', 'y', 'sample_weight', 'folds', 'seed'])

    def test_nothing_is_kept(self):
        def validate():
            Apr.LinearRegression().cross_validate(Apr.Folds(X, Y, folds=['a', 'b', 'a', 'b']), 'mean_squared_error')
            self.assertRaises(ValueError, Apr.Folds, X, Y, folds=9)

        folds, cancellable = Apr.Folds(X, Y, folds=2), Gio.Cancellable()
        cancellable.cancel()
        self.assertNoLeak(validate, 2000)
        self.assertNoLeak(lambda: Mean().cross_validate(folds), 4000)
        self.assertNoLeak(lambda: self.assertRaises(GLib.Error, Mean().cross_validate, folds, 'r2', cancellable), 4000)
        self.assertNoLeak(lambda: self.assertRaises(KeyboardInterrupt, Interrupted().cross_validate, folds), 8000)


if __name__ == '__main__':
    tap.main()
