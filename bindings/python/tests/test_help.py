# SPDX-License-Identifier: LGPL-2.1-or-later
"""What help(), type checkers and notebooks show."""

import ast
import asyncio
import builtins
import contextlib
import inspect
import io
import pathlib
import pickle
import pydoc
import re
import shutil
import sys
import unittest.mock

import tap
from common import EXAMPLES, Apr, GLib, TestCase, numpy
from gi.repository import Gio, GObject

X = [[1, 2], [2, 1], [3, 4], [4, 3]]
Y = [5, 4, 11, 10]


class Help(TestCase):
    def test_version(self):
        text = (EXAMPLES.parents[1] / 'meson.build').read_text()
        self.assertEqual(Apr.__version__, re.search(r"version: '([0-9.]+)'", text).group(1))

    def test_signatures(self):
        parameters = inspect.signature(Apr.LinearRegression).parameters
        self.assertEqual({name: parameter.default for name, parameter in parameters.items()},
                         Apr.LinearRegression().get_params() | {'feature_names': None, 'target_names': None})
        for name in ('fit', 'predict', 'score', 'partial_fit'):
            method = getattr(Apr.LinearRegression, name)
            self.assertEqual(method.__name__, name)
            self.assertEqual(list(inspect.signature(method).parameters)[1], 'X')
        self.assertEqual(list(inspect.signature(Apr.SafetensorsReader).parameters)[0], 'path')
        self.assertEqual(list(inspect.signature(Apr.r2_score).parameters), ['y_true', 'y_pred', 'sample_weight', 'multioutput'])
        for name in ('fit', 'coef_', 'get_params', 'alpha', 'summary'):
            self.assertIn(name, dir(Apr.LinearRegression))

    # All but enumerations without methods, and the structures of GObject's classes.
    CLASSES = [name for name, value in inspect.getmembers(Apr, inspect.isclass)
               if not name.startswith('_') and not name.endswith('Class') and (name == 'DType' or not issubclass(value, int))]

    def list_members(self, class_):
        """The public names of a class of ours, its own and those of its Python override."""
        ours = ('gi.repository.Apr', 'gi.overrides.Apr', 'gi.overrides.aprender')
        owners = [owner for owner in class_.__mro__ if owner.__module__.startswith(ours)]
        return {name: value for owner in reversed(owners) for name, value in vars(owner).items()
                if name[0] != '_' and not name.startswith('do_') and not isinstance(value, int) and
                name not in ('parent_instance', 'props', 'set_property', 'set_properties')}

    def test_help_is_about_python(self):
        """No program in C, and data for a callback are as many as there are, as type checkers have it."""
        for name in self.CLASSES:
            for member, value in self.list_members(getattr(Apr, name)).items():
                text = inspect.getdoc(getattr(value, 'fget', None) or value) or ''
                self.assertNotRegex(text, 'g_object_|apr_[a-z]+_', f'{name}.{member}')
                if callable(value) and 'user_data' in str(signature := inspect.signature(value)):
                    self.assertIn('*user_data', str(signature), f'{name}.{member}')

    def test_every_method_has_help(self):
        self.assertGreaterEqual(len(self.CLASSES), 14)
        for name in self.CLASSES:
            for member, value in self.list_members(getattr(Apr, name)).items():
                text = inspect.getdoc(getattr(value, 'fget', None) or value) or ''
                if isinstance(value, property):
                    text = value.__doc__ or ''
                self.assertRegex(text, r'[a-z] [a-z].*\w', f'{name}.{member}')
        for member in ('load', 'from_bytes'):
            self.assertIn('fitted model', getattr(Apr.LinearRegression, member).__doc__)
        # What help() shows of whatever is called.
        for owner in (Apr, *(getattr(Apr, name) for name in self.CLASSES)):
            names = dir(Apr) if owner is Apr else self.list_members(owner)
            functions = [getattr(owner, name, None) for name in (*names, 'copy')]
            for function in filter(inspect.isfunction, functions):
                self.assertRegex(function.__doc__ or '', r'\w \w', f'{owner}.{function.__name__}')

    def test_every_class_has_help(self):
        """Its own, and not what PyGObject makes of its constructors; what it shows, indented, is a program."""
        samples = {'Apr': Apr, 'numpy': numpy, 'X': [*X, [1, 1]], 'y': [*Y, 3]}
        for name in self.CLASSES:
            if issubclass(getattr(Apr, name), int):
                continue
            with self.subTest(name):
                text = inspect.getdoc(getattr(Apr, name))
                self.assertRegex(text, r'^[A-Z].*[.:](\n|$)')
                self.assertIn(text.splitlines()[0], pydoc.plain(pydoc.render_doc(getattr(Apr, name))))
            if name in ('HypothesisTest', 'RegressionDiagnostics', 'Tensor', 'Term') and numpy is not None:
                program = ''.join(re.findall(r'^    (.*\n)', text, flags=re.MULTILINE))
                self.assertIn('Apr', program)
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(program, dict(samples))

    def test_asynchronous_twins(self):
        """They take what the function takes that blocks, and a callback, but no priority; what they give is awaited."""
        n = 0
        for owner in (Apr, *(getattr(Apr, name) for name in self.CLASSES)):
            # Two are Gio's own.
            for name in [name for name in dir(owner) if name.endswith('_async') and name not in ('init_async', 'newv_async')]:
                with self.subTest(f'{owner.__name__}.{name}'):
                    parameters = list(inspect.signature(getattr(owner, name)).parameters)
                    self.assertEqual(parameters[-3:], ['cancellable', 'callback', 'user_data'])
                    twin = inspect.signature(getattr(owner, name.removesuffix('_async'))).parameters
                    self.assertEqual(parameters[:-3], [other for other in twin if other not in ('cancellable', 'out')])
                    n += 1
        self.assertGreater(n, 35)

    def parse_stub(self):
        stub = next((folder for entry in sys.path
                     if (folder := pathlib.Path(entry, 'aprender', '__init__.pyi')).exists()), None)
        return ast.parse(stub.read_text(encoding='utf-8'))

    def test_stub_knows_its_types(self):
        tree = self.parse_stub()
        known = set(dir(builtins))
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                known |= {alias.asname or alias.name for alias in node.names}
            elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                known.add(node.name)
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        known |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
        self.assertEqual({node.id for node in names} - known, set())

    def test_stub_has_every_name(self):
        tree = self.parse_stub()
        classes = {node.name: {getattr(item, 'name', None) for item in node.body} for node in tree.body
                   if isinstance(node, ast.ClassDef)}
        classes['LinearRegression'] |= classes['Estimator']
        for name in self.CLASSES:
            missing = set(self.list_members(getattr(Apr, name))) - classes[name] - {'ref', 'unref'}
            self.assertEqual(missing, set(), name)
            extra = {member for member in classes[name] - {None, ''} if not hasattr(getattr(Apr, name), member)}
            # Attributes of results that are missing before a fit.
            self.assertEqual(extra, set(), name)
        plot = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == 'Plot')
        documented = [plot, *(node for node in plot.body if isinstance(node, ast.FunctionDef) and node.name != '__init__')]
        self.assertEqual([ast.get_docstring(node) for node in documented],
                         [inspect.getdoc(Apr.Plot), *(inspect.getdoc(getattr(Apr.Plot, node.name)) for node in documented[1:])])
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        self.assertLessEqual({'r2_score', 'max_error', 'load_file', 'save_file'}, functions)
        self.assertEqual([name for name in functions if not hasattr(Apr, name)], [])

    def test_notebook(self):
        model = Apr.LinearRegression().fit(X, [5, 4, 11, 11])
        model.set_feature_names(['area', '<b>rooms'])
        statistics = model.get_statistics()
        self.assertEqual(repr(statistics), model.summary())
        # IPython writes a str as Python spells it, in one line, unless it says how it looks.
        for text in (model.summary(), asyncio.run(model.summary_async())):
            printer = unittest.mock.Mock()
            text._repr_pretty_(printer, False)
            printer.text.assert_called_once_with(repr(statistics))
            self.assertIs(type(printer.text.call_args[0][0]), str)
            self.assertEqual((text, type(pickle.loads(pickle.dumps(text)))), (repr(statistics), str))
        for html in (model._repr_html_(), statistics._repr_html_()):
            self.assertIn('&lt;b&gt;rooms', html)
            self.assertNotIn('<b>', html)
            self.assertIn(f'<td>{statistics.r_squared:.6g}</td>', html)
            self.assertEqual(html.count('<tr>'), html.count('</tr>'))
        for model in (Apr.LinearRegression(), Apr.LinearRegression(alpha=1.0).fit(X, Y)):
            self.assertIn('LinearRegression', model._repr_html_())

    def test_notebook_tells_what_the_summary_tells(self):
        def find_cells(html):
            rows = [re.findall('<t[dh]>(.*?)</t[dh]>', row) for row in html.split('<tr>')]
            return {row[0]: row[1:] for row in rows if row}

        y = [5, 4, 11, 11, 3]
        model = Apr.LinearRegression().fit([[a, b, a + b] for a, b in X + [[1, 1]]], y)
        html = model._repr_html_()
        cells = find_cells(html)
        self.assertEqual(cells[''][-1], 'minimum norm')
        self.assertEqual(cells['x2'], ['NA'] * 6 + [f'{model.coefficients[2]:.6g}'])
        self.assertIn('depends on features before it', html)
        self.assertIn('predict the same for rows that satisfy the same linear relations.', html)
        self.assertNotIn('covariance', cells)
        self.assertNotIn('Warning', html)

        # Shares of a whole: that of 53 parts, 61 and 59, and so on.
        parts = [(53 + i * 7 % 13, 61 + i * 5 % 17, 59 + i * 11 % 19) for i in range(40)]
        model = Apr.LinearRegression().fit([[part / sum(row) for part in row] for row in parts],
                                           [i * 29 % 31 for i in range(40)])
        self.assertGreater(model.prediction_rounding, 1e-4)
        self.assertEqual(model.prediction_rounding, model.get_statistics().prediction_rounding)
        self.assertIn(f'Warning: rounding alone may change a prediction by {model.prediction_rounding:.2g} ',
                      model._repr_html_())

        model = Apr.LinearRegression().fit(X + [[1, 1]], [[value, -value] for value in y])
        self.assertEqual(re.findall('<p>(Target .)</p>', model._repr_html_()), ['Target 0', 'Target 1'])
        model.target_names = ['rent', 'a < b']
        self.assertEqual(re.findall('<p>(Target .*?)</p>', model._repr_html_()), ['Target rent', 'Target a &lt; b'])
        robust = Apr.LinearRegression().fit(X + [[1, 1]], y).get_robust_statistics(X + [[1, 1]], y)
        self.assertEqual(find_cells(robust._repr_html_())['covariance'], ['HC3'])
        self.assertNotIn('minimum norm', robust._repr_html_())

        # Where there are no statistics.
        for y, n_targets in ([5, 4, 11, 11], 1), ([[5, 1], [4, 2], [11, 3], [11, 4]], 2):
            for fit_intercept in (True, False):
                model = Apr.LinearRegression(alpha=1, fit_intercept=fit_intercept).fit(X, y)
                model.feature_names = ['<b>', 'rooms']
                cells = find_cells(model._repr_html_())
                coefficients = model.get_coefficients()
                for i, name in enumerate(('&lt;b&gt;', 'rooms')):
                    self.assertEqual(cells[name], [f'{coefficients.get_double(2 * j + i):.6g}' for j in range(n_targets)])
                self.assertEqual('(Intercept)' in cells, fit_intercept)
                self.assertEqual(cells[''], ['coefficient'] if n_targets == 1 else ['Target 0', 'Target 1'])
        self.assertEqual(cells['rooms'], [f'{value:.6g}' for value in (model.coefficients[0][1], model.coefficients[1][1])])
        self.assertNotIn('table', Apr.LinearRegression(alpha=1)._repr_html_())

        rows = [[int(i == j) for j in range(100)] for i in range(102)]
        cells = find_cells(Apr.LinearRegression().fit(rows, [i % 7 for i in range(102)]).get_statistics()._repr_html_())
        self.assertEqual([name in cells for name in ('(Intercept)', 'x28', 'x29', '…', 'x69', 'x70', 'x99')],
                         [True, True, False, True, False, True, True])

    def test_the_package_has_no_modules_of_others(self):
        import aprender
        self.assertEqual([name for name in ('ctypes', 'gi', 'pathlib') if name in dir(aprender)], [])

    def test_plots(self):
        if shutil.which('aprender') is None:
            self.skipTest('plots are drawn by the command')
        model = Apr.LinearRegression().fit(X, Y)
        if 'no command' in self.get_message(model.plot, X, Y):
            self.skipTest('the command has been built without plots')
        size = re.compile(r'<svg [^>]*width="800\D[^>]*height="600\D')
        plot = model.plot(X, Y)
        self.assertRegex(plot._repr_svg_(), size)
        weights = [1, 1, 1, 2]
        self.assertNotEqual(Apr.LinearRegression().fit(X, Y, weights).plot(X, Y, weights).svg, plot.svg)
        path = self.make_directory() / 'fit.svg'
        plot.save(path)
        self.assertEqual(path.read_text(encoding='utf-8'), plot.svg)
        for end, begin in (('.png', b'\x89PNG\r\n'), ('.pdf', b'%PDF-')):
            plot.save(path.with_suffix(end))
            self.assertEqual(path.with_suffix(end).read_bytes()[:len(begin)], begin)
        for name in ('fit.jpg', 'fit', '.svg', 'svg'):
            with self.assertRaisesRegex(ValueError, f'ends with .svg, .png, .pdf: “{name}” does not'):
                plot.save(name)
        self.assertRegex(model.plot(X, Y, kind='actual', width=300, height=200).svg, 'width="300')
        self.assertNotEqual(model.plot(X, Y, feature='x1', dark=True).svg, model.plot(X, Y, feature='x0').svg)
        self.assertFalse(model.keep_state)
        self.assertIsNone(model.feature_names)
        # A feature that is called as the target is.
        model.feature_names = ['y', 'weight']
        self.assertEqual(model.plot(X, Y, [1, 1, 1, 1]).svg, plot.svg)
        self.assertRegex(Apr.LinearRegression().fit(X, [[y, -y] for y in Y]).plot(X, [[y, -y] for y in Y]).svg, size)
        self.assertIn('save(path)', repr(plot))

        unfitted = Apr.LinearRegression.from_bytes(model.to_bytes())
        with self.assertRaisesRegex(ValueError, 'kind must be one of “residuals”, .*, not the string “all”'):
            model.plot(X, Y, kind='all')
        with self.assertRaisesRegex(ValueError, '^kind and feature exclude each other'):
            model.plot(X, Y, kind='actual', feature='y')
        with self.assertRaisesRegex(ValueError, '^The model has no feature “weigt”: is it “weight”\\?$'):
            model.plot(X, Y, feature='weigt')
        ridge = Apr.LinearRegression(alpha=1.0).fit(X, Y)
        self.assertRegex(ridge.plot(X, Y, kind='actual').svg, size)
        self.assertFails(Apr.Error.FAILED, '^Cannot .* with the hyper-parameter alpha = 1', ridge.plot, X, Y)
        self.assertFails(Apr.Error.STATE, 'keep_state', unfitted.plot, X, Y)
        with self.assertRaisesRegex(ValueError, 'samples'):
            model.plot(X[1:], Y[1:])
        self.assertRaises(GLib.Error, Apr.LinearRegression().plot, X, Y)

    def get_message(self, function, *arguments):
        try:
            function(*arguments)
        except GLib.Error as error:
            return error.message
        return ''


if __name__ == '__main__':
    tap.main()
