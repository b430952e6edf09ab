# SPDX-License-Identifier: LGPL-2.1-or-later
"""scikit-learn's tools with a model of ours, as they are.

    with-peer python test_scikit_learn.py
"""

import copy
import inspect
import os
import pickle
import subprocess
import sys
import warnings

import tap
from common import Apr, GLib, TestCase, numpy

import cloudpickle
import pandas
from gi.repository import GObject
from sklearn import base, compose, config_context, ensemble, feature_selection, inspection, linear_model, metrics, model_selection
from sklearn import pipeline, preprocessing
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

EXPECTED_FAILURES = {
    'check_do_not_raise_errors_in_init_or_set_params':
        'the properties of an object have types: a value of another type is refused when it is set, not by the next fit',
}


def make_samples(n=200, n_targets=None):
    random = numpy.random.default_rng(7)
    X = random.normal(size=(n, 4)) * [1, 10, 0.1, 3] + [0, 5, 0, -2]
    noise = random.normal(size=n if n_targets is None else (n, n_targets))
    weights = numpy.array([2, -1, 0, 0.5]) if n_targets is None else random.normal(size=(4, n_targets))
    return X, X @ weights + 3 + noise


class ScikitLearn(TestCase):
    def setUp(self):
        self.X, self.y = make_samples()
        self.frame = pandas.DataFrame(self.X, columns=['a', 'b', 'c', 'd'])

    def assertClose(self, ours, theirs):
        numpy.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)

    def test_check_estimator(self):
        # It wants predictions of float64 targets in float64.
        in_float32 = EXPECTED_FAILURES | {'check_regressor_multioutput': 'predictions are in the dtype that was asked for'}
        for model, failures in ((Apr.LinearRegression(), EXPECTED_FAILURES), (Apr.LinearRegression(dtype='f32'), in_float32),
                                (Apr.LinearRegression(alpha=0.5, fit_intercept=False), EXPECTED_FAILURES)):
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                results = check_estimator(model, expected_failed_checks=failures, on_skip=None, on_fail=None)
            self.assertGreater(len(results), 50)
            found = {status: {result['check_name'] for result in results if result['status'] == status}
                     for status in ('failed', 'xfail', 'skipped')}
            # It wants SCIPY_ARRAY_API to be set before scipy is imported.
            self.assertEqual(found, {'failed': set(), 'xfail': set(failures), 'skipped': {'check_array_api_input'}})

    def test_clone(self):
        model = Apr.LinearRegression(alpha=0.1, dtype='f32', n_threads=2).fit(self.X, self.y)
        clone = base.clone(model)
        self.assertIs(type(clone), Apr.LinearRegression)
        self.assertEqual((clone.get_params(), clone.fitted), (model.get_params(), False))
        self.assertEqual((clone.alpha, clone.dtype, clone.n_threads), (0.1, Apr.DType.F32, 2))
        # As scikit-learn below 1.3 clones.
        alpha = 0.1 + 0.2
        params = Apr.LinearRegression(alpha=alpha).get_params()
        again = Apr.LinearRegression(**params).get_params()
        self.assertIs(params['alpha'], alpha)
        self.assertTrue(all(again[name] is value for name, value in params.items()))

    def test_params(self):
        model = Apr.LinearRegression()
        self.assertEqual(model.get_params()['precision'], 'exact')
        self.assertIs(model.set_params(alpha=2.0, precision='double'), model)
        self.assertEqual((model.alpha, model.precision), (2.0, Apr.Precision.DOUBLE))
        with self.assertRaisesRegex(ValueError, 'no hyper-parameter “beta”, but: alpha, alphas, dtype'):
            model.set_params(alpha=3.0, beta=1)
        self.assertEqual(model.alpha, 2.0)
        for strange in ({'precision': 'best'}, {'positive': 'yes'}):
            with self.assertRaises((TypeError, ValueError)):
                model.set_params(**strange)
        self.assertTrue(base.is_regressor(model))

    def test_attributes(self):
        model = Apr.LinearRegression()
        for name in ('coef_', 'intercept_', 'n_features_in_', 'feature_names_in_'):
            self.assertFalse(hasattr(model, name))
        model.fit(self.frame, self.y)
        theirs = linear_model.LinearRegression().fit(self.frame, self.y)
        for name in ('coef_', 'intercept_'):
            self.assertClose(getattr(model, name), getattr(theirs, name))
        self.assertEqual(model.n_features_in_, 4)
        self.assertEqual(model.feature_names_in_.tolist(), theirs.feature_names_in_.tolist())
        self.assertFalse(hasattr(model.fit(self.X, self.y), 'feature_names_in_'))
        with self.assertRaisesRegex(NotFittedError, 'unfitted'):
            Apr.LinearRegression().predict(self.X)

    def test_every_scorer(self):
        # Targets above 0, which some of them want.
        y = self.y + 100
        tried = 0
        for scoring in metrics.get_scorer_names():
            with warnings.catch_warnings():
                # Those that are for classes and clusters say that there are none.
                warnings.simplefilter('ignore')
                theirs = model_selection.cross_val_score(linear_model.LinearRegression(), self.X, y, scoring=scoring)
                if numpy.isnan(theirs).any():
                    continue
                ours = model_selection.cross_val_score(Apr.LinearRegression(), self.X, y, scoring=scoring)
            self.assertClose(ours, theirs)
            tried += 1
        self.assertGreaterEqual(tried, 13)

    def test_metadata_routing(self):
        """Weights reach fit and score as scikit-learn's own model gets them; or none does, where nobody has asked for them."""
        from sklearn.exceptions import UnsetMetadataPassedError

        X, y = self.X, self.y
        weights = numpy.random.default_rng(1).random(len(y))
        with config_context(enable_metadata_routing=True):
            scores = []
            for model in (Apr.LinearRegression(), linear_model.LinearRegression()):
                with self.assertRaises(UnsetMetadataPassedError):
                    model_selection.cross_val_score(model, X, y, params={'sample_weight': weights})
                model.set_fit_request(sample_weight=True).set_score_request(sample_weight='sample_weight')
                scores.append(model_selection.cross_val_score(base.clone(model), X, y, params={'sample_weight': weights}))
                model.set_fit_request(sample_weight=False)
                scores.append(model_selection.cross_val_score(model, X, y, params={'sample_weight': weights}))
            numpy.testing.assert_allclose(scores[0], scores[2], rtol=1e-9)
            numpy.testing.assert_allclose(scores[1], scores[3], rtol=1e-9)
            self.assertNotEqual(scores[0].tolist(), scores[1].tolist())
        with self.assertRaisesRegex(ValueError, 'sample_weight'):
            Apr.LinearRegression().set_fit_request(sample_weight=7)

        def get(model):
            return model.get_metadata_routing().fit.requests, model.get_metadata_routing().score.requests

        # Clones and copies have them, and have their own.
        model = Apr.LinearRegression().set_fit_request(sample_weight=True)
        expected = {'sample_weight': True}, {'sample_weight': None}
        for make in (base.clone, Apr.LinearRegression.clone, copy.copy, copy.deepcopy):
            other = make(model)
            self.assertEqual(get(other), expected)
            other.set_fit_request(sample_weight=False).set_score_request(sample_weight='w')
            self.assertEqual(get(model), expected)

    def test_processes(self):
        scores = model_selection.cross_val_score(Apr.LinearRegression(), self.frame, self.y, n_jobs=2)
        self.assertEqual(scores.tolist(), model_selection.cross_val_score(Apr.LinearRegression(), self.frame, self.y).tolist())
        scores = model_selection.cross_validate(Apr.LinearRegression(), self.frame, self.y, n_jobs=2,
                                                scoring=['r2', 'neg_median_absolute_error'])
        self.assertTrue(numpy.isfinite(scores['test_r2']).all() and (scores['test_neg_median_absolute_error'] < 0).all())

    def test_grid_search(self):
        grid = {'alpha': [0.0, 1.0, 100.0, 1e4], 'fit_intercept': [True, False]}
        search = model_selection.GridSearchCV(Apr.LinearRegression(), grid).fit(self.X, self.y)
        self.assertEqual(search.best_params_['fit_intercept'], True)
        alpha = search.best_params_['alpha']
        self.assertClose(search.best_estimator_.coef_, linear_model.Ridge(alpha=alpha).fit(self.X, self.y).coef_)

    def test_folds(self):
        """What its own tools find, fold by fold."""
        random = numpy.random.default_rng(2)
        groups, split, weights = random.choice(['north', 'south', 'west'], 200), random.integers(-1, 3, 200), random.random(200)
        scorings = {'r2': 'r2', 'explained_variance': 'explained_variance', 'mean_squared_error': 'neg_mean_squared_error',
                    'root_mean_squared_error': 'neg_root_mean_squared_error', 'mean_absolute_error': 'neg_mean_absolute_error',
                    'mean_absolute_percentage_error': 'neg_mean_absolute_percentage_error',
                    'median_absolute_error': 'neg_median_absolute_error', 'max_error': 'neg_max_error'}
        for ours, theirs in ((Apr.LinearRegression(), linear_model.LinearRegression()),
                             (Apr.LinearRegression(alpha=9., fit_intercept=False), linear_model.Ridge(9., fit_intercept=False)),
                             (Apr.LinearRegression(positive=True), linear_model.LinearRegression(positive=True))):
            for folds, keywords in (({}, {}), ({'folds': 7}, {'cv': 7}),
                                    ({'folds': groups}, {'cv': model_selection.LeaveOneGroupOut(), 'groups': groups}),
                                    ({'folds': split}, {'cv': model_selection.PredefinedSplit(split)})):
                scores = model_selection.cross_validate(theirs, self.X, self.y, scoring=list(scorings.values()), **keywords)
                ours_folds = Apr.Folds(self.frame, self.y, **folds)
                for metric, scoring in scorings.items():
                    sign = -1 if scoring.startswith('neg') else 1
                    self.assertClose(ours.cross_validate(ours_folds, metric), sign * scores[f'test_{scoring}'])
                if folds.get('folds') is not split:
                    self.assertClose(ours.cross_predict(ours_folds),
                                     model_selection.cross_val_predict(theirs, self.X, self.y, **keywords))
        X, Y = make_samples(n_targets=3)
        self.assertClose(Apr.LinearRegression().cross_predict(Apr.Folds(X, Y)),
                         model_selection.cross_val_predict(linear_model.LinearRegression(), X, Y))
        self.assertClose(Apr.LinearRegression().cross_validate(Apr.Folds(X, Y)),
                         model_selection.cross_val_score(linear_model.LinearRegression(), X, Y))
        with config_context(enable_metadata_routing=True):
            model = linear_model.Ridge(1.).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
            expected = model_selection.cross_val_score(model, self.X, self.y, params={'sample_weight': weights})
        self.assertClose(Apr.LinearRegression(alpha=1.).cross_validate(Apr.Folds(self.X, self.y, weights)), expected)

    def test_pipeline_and_set_output(self):
        steps = pipeline.make_pipeline(preprocessing.StandardScaler(), Apr.LinearRegression()).set_output(transform='pandas')
        steps.fit(self.frame, self.y)
        self.assertEqual(steps[-1].feature_names, ['a', 'b', 'c', 'd'])
        self.assertClose(steps.predict(self.frame), linear_model.LinearRegression().fit(self.X, self.y).predict(self.X))
        self.assertEqual(pickle.loads(pickle.dumps(steps)).predict(self.frame).tolist(), steps.predict(self.frame).tolist())
        self.assertIn('LinearRegression', steps._repr_html_())

    def test_column_transformer(self):
        frame = self.frame.assign(colour=['red', 'green', 'blue', 'green'] * 50)
        columns = compose.ColumnTransformer([('colour', preprocessing.OneHotEncoder(drop='first'), ['colour'])],
                                            remainder='passthrough')
        ours, theirs = (pipeline.make_pipeline(columns, model).fit(frame, self.y).predict(frame)
                        for model in (Apr.LinearRegression(), linear_model.LinearRegression()))
        self.assertClose(ours, theirs)

    def test_ensembles(self):
        for make in (lambda model: ensemble.VotingRegressor([('one', model), ('two', linear_model.Ridge())]),
                     lambda model: ensemble.StackingRegressor([('one', model)], final_estimator=linear_model.Ridge()),
                     lambda model: ensemble.BaggingRegressor(model, n_estimators=5, random_state=1),
                     lambda model: ensemble.AdaBoostRegressor(model, n_estimators=5, random_state=1),
                     lambda model: compose.TransformedTargetRegressor(model, func=numpy.arcsinh, inverse_func=numpy.sinh)):
            ours, theirs = (make(model).fit(self.X, self.y).predict(self.X)
                            for model in (Apr.LinearRegression(), linear_model.LinearRegression()))
            self.assertClose(ours, theirs)

    def test_feature_selection(self):
        for select in (lambda model: feature_selection.RFE(model, n_features_to_select=2),
                       lambda model: feature_selection.RFECV(model),
                       lambda model: feature_selection.SelectFromModel(model),
                       lambda model: feature_selection.SequentialFeatureSelector(model, n_features_to_select=2)):
            ours, theirs = (select(model).fit(self.frame, self.y).get_support().tolist()
                            for model in (Apr.LinearRegression(), linear_model.LinearRegression()))
            self.assertEqual(ours, theirs)

    def test_inspection(self):
        for function in (lambda model: inspection.permutation_importance(model, self.X, self.y, random_state=1).importances,
                         lambda model: inspection.partial_dependence(model, self.X, [0])['average']):
            ours, theirs = (function(model.fit(self.X, self.y))
                            for model in (Apr.LinearRegression(), linear_model.LinearRegression()))
            self.assertClose(ours, theirs)

    def test_several_targets(self):
        X, Y = make_samples(n_targets=3)
        ours, theirs = (model.fit(X, Y) for model in (Apr.LinearRegression(), linear_model.LinearRegression()))
        self.assertClose(ours.coef_, theirs.coef_)
        self.assertClose(ours.intercept_, theirs.intercept_)
        self.assertEqual(model_selection.cross_val_predict(Apr.LinearRegression(), X, Y).shape, Y.shape)

    def test_subclass(self):
        class Centred(Apr.LinearRegression):
            """Fits as its parent does, and predicts deviations."""

            __gtype_name__ = 'AprTestCentredRegression'

            centre = GObject.Property(type=float, default=0.0)

            def do_predict(self, X):
                return Apr.Tensor(Apr.LinearRegression.do_predict(self, X).numpy() - self.centre)

        model = Centred(centre=2.0, alpha=0.5)
        self.assertEqual({name: model.get_params()[name] for name in ('alpha', 'centre')}, {'alpha': 0.5, 'centre': 2.0})
        self.assertEqual(base.clone(model).get_params(), model.get_params())
        ridge = linear_model.Ridge(alpha=0.5).fit(self.X, self.y)
        self.assertClose(model.fit(self.frame, self.y).predict(self.X), ridge.predict(self.X) - 2)
        self.assertClose(model.coef_, ridge.coef_)
        loaded = Centred.from_bytes(model.to_bytes())
        self.assertEqual((loaded.centre, loaded.predict(self.frame).tolist()), (2.0, model.predict(self.frame).tolist()))
        scores = model_selection.cross_val_score(Centred(), self.X, self.y)
        self.assertClose(scores, model_selection.cross_val_score(linear_model.LinearRegression(), self.X, self.y))
        search = model_selection.GridSearchCV(Centred(), {'centre': [0.0, 5.0]}).fit(self.X, self.y)
        self.assertEqual(search.best_params_, {'centre': 0.0})

    def test_feature_names(self):
        # What scikit-learn says of its own estimators, for its tools look for it.
        models = Apr.LinearRegression().fit(self.frame, self.y), linear_model.LinearRegression().fit(self.frame, self.y)
        for frame in (self.frame[['b', 'a', 'c', 'd']], self.frame[['a', 'b']],
                      self.frame.rename(columns={'a': 'x', 'd': 'w'})):
            messages = []
            for model in models:
                with self.assertRaises(ValueError) as caught:
                    model.predict(frame)
                messages.append(str(caught.exception))
            self.assertTrue(messages[0].startswith(messages[1]), messages)
        # Arrays have no names to check, of which both say the same, and where it was.
        nameless = Apr.LinearRegression().fit(self.X, self.y), linear_model.LinearRegression().fit(self.X, self.y)
        for pair, data in ((models, self.X), (models, self.X.tolist()), (nameless, self.frame)):
            texts = []
            for model in pair:
                with self.assertWarns(UserWarning) as caught:
                    self.assertClose(model.predict(data), models[1].predict(self.frame))
                texts.append(str(caught.warning))
            self.assertEqual(*texts)
            with self.assertWarns(UserWarning) as caught:
                pair[0].score(data, self.y)
            self.assertEqual((str(caught.warning), caught.filename), (texts[0], __file__))
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            # Of the samples of the fit the sums tell whether they are.
            models[0].diagnose(self.X, self.y), models[0].predict(Apr.Tensor(self.X)), models[0].predict(self.frame), nameless[0].predict(self.X)

    def test_nothing_imports_scikit_learn(self):
        code = '''
import sys
from common import Apr
X, y = [[1, 2], [2, 1], [3, 4], [4, 3]], [5, 4, 11, 10]
model = Apr.LinearRegression().fit(X, y)
model.get_params(), model.coef_, model.clone().set_params(alpha=1.0), repr(model)
try:
    Apr.LinearRegression().predict(X)
except ValueError as error:
    assert isinstance(error, Exception) and 'unfitted' in str(error)
print('sklearn' in sys.modules, 'pandas' in sys.modules)
'''
        done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                              env=dict(os.environ, PYTHONPATH=':'.join(sys.path)))
        self.assertEqual(done.stdout, 'False False\n', done.stderr)

    def test_errors_travel_between_processes(self):
        for function in (lambda: Apr.LinearRegression().predict(self.X), lambda: Apr.LinearRegression().fit(self.X, [1]),
                         lambda: Apr.LinearRegression.load('/there/is/none')):
            with self.assertRaises(GLib.Error) as caught:
                function()
            error = caught.exception
            other = pickle.loads(pickle.dumps(error))
            self.assertIs(type(other), type(error))
            self.assertEqual((str(other), other.domain, other.code), (str(error), error.domain, error.code))


class OfThisScript(Apr.Estimator):
    # As GObject had properties declared first.
    __gproperties__ = {'how-much': (float, None, None, 0, 9, 1, GObject.ParamFlags.READWRITE)}
    much = 1.0

    def do_get_property(self, pspec):
        return self.much

    def do_set_property(self, pspec, value):
        self.much = value

    def do_fit(self, X, y, sample_weight, cancellable):
        return self.set_result('mean', sum(y) / len(y))

    def do_predict(self, X):
        return Apr.Tensor([self.much * float(self.get_result('mean'))] * len(X))


class Scaled(Apr.LinearRegression):
    __gtype_name__ = 'AprTestScaled'
    factor = GObject.Property(type=float, default=1.0)

    def predict(self, X):
        assert isinstance(self, Scaled) and GLib.MAXUINT32 == 2**32 - 1
        return self.factor * super().predict(X)


class Powered(Scaled):
    power = GObject.Property(type=int, default=1, minimum=0, maximum=5)

    def predict(self, X):
        return super().predict(X) ** self.power


class NoEstimator(GObject.Object):
    pass


class OtherProcesses(TestCase):
    """Classes in Python, as joblib sends them where n_jobs is 2."""

    def test_class_of_a_script(self):
        X, y = make_samples()
        for model in OfThisScript(how_much=0.5), Scaled(factor=0.5), Powered(factor=2.0, power=2, alpha=0.5):
            self.assertEqual(list(pickle.loads(pickle.dumps(model.fit(X, y))).predict(X)), list(model.predict(X)))
            one = model_selection.cross_validate(model, X, y, return_estimator=True)
            two = model_selection.cross_validate(model, X, y, n_jobs=2, return_estimator=True)
            self.assertEqual(two['test_score'].tolist(), one['test_score'].tolist())
            for ours, theirs in zip(one['estimator'], two['estimator']):
                self.assertIs(type(theirs), type(model))
                self.assertEqual((theirs.to_bytes().get_data(), theirs.get_params()), (ours.to_bytes().get_data(), ours.get_params()))
        self.assertEqual((Scaled.__gtype__.name, Scaled(factor=3).clone().factor), ('AprTestScaled', 3.0))

    def test_class_of_a_script_in_a_new_process(self):
        code = """if True:
            import pickle, sys
            class_ = pickle.load(sys.stdin.buffer)

            class Shifted(class_):
                def predict(self, X):
                    return super().predict(X) + 1

            model = Shifted(power=2, factor=3.0).fit([[1.0], [2.0]], [1.0, 2.0])
            print(round(model.predict([[3.0]])[0], 9), model.clone().get_params()['power'])
            """
        for class_ in Powered, type('Named', (Powered,), {}):
            done = subprocess.run([sys.executable, '-c', code], input=cloudpickle.dumps(class_), capture_output=True)
            self.assertEqual(done.stdout.decode(), '82.0 2\n', done.stderr.decode())

    def test_class_of_a_script_that_was_changed(self):
        def define(power):
            class Raised(Apr.LinearRegression):
                __gtype_name__ = 'AprTestRaised'
                base = GObject.Property(type=float, default=2.0)

                def predict(self, X):
                    return self.base ** power + 0 * super().predict(X)
            return Raised

        classes = [define(power) for power in (1, 2, 3)]
        self.assertEqual([class_.__gtype__.name for class_ in classes], ['AprTestRaised', 'AprTestRaised-v2', 'AprTestRaised-v3'])
        code = 'import pickle, sys; print([(float(c.load("m").predict([[7.0]])[0]), c.__gtype__.name, c().base, c().clone().base) ' \
            'for c in pickle.load(sys.stdin.buffer)])'
        folder = self.make_directory()
        classes[0](base=3.0).fit([[1.0], [2.0]], [1.0, 2.0]).save(folder / 'm')
        done = subprocess.run([sys.executable, '-c', code], input=cloudpickle.dumps(classes[::-1]), capture_output=True, cwd=folder)
        names = 'AprTestRaised-v3', 'AprTestRaised-v2', 'AprTestRaised'
        values = [(value, name, 2.0, 2.0) for value, name in zip((27.0, 9.0, 3.0), names)]
        self.assertEqual(done.stdout.decode().strip(), str(values), done.stderr.decode())

    def test_other_class_of_a_script(self):
        with self.assertRaisesRegex(pickle.PicklingError, 'NoEstimator .*put the class into a module.*threading'):
            cloudpickle.dumps(NoEstimator)

    def test_class_of_a_module(self):
        folder = self.make_directory()
        source = 'import aprender\nfrom gi.repository import GObject\n\n\n' + inspect.getsource(OfThisScript).replace('Apr.', 'aprender.')
        (folder / 'means.py').write_text(source.replace('OfThisScript', 'Mean'))
        code = 'import pickle, sys; print(pickle.load(sys.stdin.buffer).predict([[7.0]]))'
        sys.path.insert(0, str(folder))
        try:
            from means import Mean
        finally:
            del sys.path[0]
        data = cloudpickle.dumps(Mean().fit([[1.0], [2.0]], [1.0, 2.0]))
        environment = {**os.environ, 'PYTHONPATH': f'{folder}:{os.environ["PYTHONPATH"]}'}
        done = subprocess.run([sys.executable, '-c', code], input=data, capture_output=True, env=environment)
        self.assertEqual(done.stdout.decode().strip(), '[1.5]', done.stderr.decode())



if __name__ == '__main__':
    tap.main()
