# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is said to who calls something in a wrong way, and that nothing has changed after it."""

import asyncio
import warnings

import tap
from common import Apr, Gio, TestCase


class Messages(TestCase):
    def test_a_class_without_virtual_functions(self):
        class Nothing(Apr.Estimator):
            __gtype_name__ = 'AprTestNothing'

        class Deaf(Apr.Estimator):
            __gtype_name__ = 'AprTestDeaf'

            def do_fit(self, X, y, sample_weight, cancellable):
                return True

        self.assertFails(Apr.Error.FAILED, 'AprTestNothing has no fit', Nothing().fit, [[1]], [1])
        model = Deaf().fit([[1]], [1])
        self.assertFails(Apr.Error.FAILED, 'AprTestDeaf has no predict', model.predict, [[1]])
        self.assertFails(Apr.Error.FAILED, 'AprTestDeaf has no predict', model.score, [[1]], [1])
        self.assertFails(Apr.Error.FAILED, 'AprTestDeaf has no predict', lambda: asyncio.run(model.predict_async([[1]])))

    def test_set_params_changes_all_or_nothing(self):
        model, seen = Apr.LinearRegression(alpha=1.0, alphas=[1.0, 2.0], dtype='f32'), []
        before = model.get_params()
        model.connect('notify', lambda model, _: seen.append((model.alpha, model.n_threads)))
        for wrong in ({'fit_intercept': 'no'}, {'dtype': 'f99'}, {'precision': []}, {'n_threads': -1}, {'alphas': 'x'},
                      {'n_threads': 2, 'alphas': None, 'positive': 2}):
            with self.assertRaises((TypeError, ValueError), msg=wrong):
                model.set_params(alpha=5.0, **wrong)
            self.assertEqual(model.get_params(), before)
            self.assertEqual(repr(model), repr(Apr.LinearRegression(**before)))
        self.assertLessEqual(set(seen), {(1.0, 0)})
        self.assertEqual(model.set_params(alpha=5.0, fit_intercept=False).get_params(),
                         {**before, 'alpha': 5.0, 'fit_intercept': False})

    def test_nothing_deprecated_is_used(self):
        """What a program that makes errors of warnings gets is what is meant for it."""
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            for keywords, text in (({'alpha': 'x'}, 'alpha must be a number, not the string “x”'),
                                   ({'n_threads': 'x'}, 'n_threads must be a whole number from 0 to')):
                with self.assertRaisesRegex(ValueError, text):
                    Apr.LinearRegression(**keywords)

    def test_loading_by_the_abstract_class(self):
        model = Apr.LinearRegression().fit([[1], [2]], [1, 2])
        data, path = model.to_bytes(), self.make_directory() / 'model.safetensors'
        model.save(path)
        for name, source in (('load', path), ('from_bytes', data), ('load_from_file', Gio.File.new_for_path(str(path))),
                             ('load_from_file_async', Gio.File.new_for_path(str(path))), ('from_bytes_async', data)):
            function = getattr(Apr.Estimator, name)
            for arguments in ((source,), ()):
                with self.assertRaisesRegex(TypeError, f'Call {name} on the class of the model, such as LinearRegression.{name}$'):
                    function(*arguments)
        self.assertEqual(Apr.Estimator.load(Apr.LinearRegression, str(path)).rank, 1)
        self.assertEqual(Apr.Estimator.from_bytes(Apr.LinearRegression.__gtype__, data).rank, 1)


if __name__ == '__main__':
    tap.main()
