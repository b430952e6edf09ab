# SPDX-License-Identifier: LGPL-2.1-or-later
"""Strings with a NUL, which C would cut short: every function and property that takes a string refuses them."""

import ast
import ctypes
import inspect
import pathlib
import re
import sys

import tap
from common import Apr, Gio, GObject, TestCase

STRINGS = ('a\0b', 'a\0', '\0')
# What says that a string was refused: a NUL, or not being one of a few that are accepted.
REFUSED = 'NUL|null|must be one of|is no dtype'

# These never hand their string to C: they answer as for any other that is not there.
HARMLESS = {
    'SafetensorsReader.get': 'the default',
    'SafetensorsReader.__getitem__': 'KeyError',
    'SafetensorsReader.__contains__': 'False',
    'RegressionStatistics.__getitem__': 'KeyError',
    'RegressionStatistics.__contains__': 'False',
    'LinearRegression.predict_one': 'a dictionary that has other names than the features',
    'LinearRegression.set_partial_fit_request': 'a name that scikit-learn keeps',
    'Estimator.set_fit_request': 'a name that scikit-learn keeps',
    'Estimator.set_score_request': 'a name that scikit-learn keeps',
    'Estimator.get_params': 'gives names',
}


def parse_stub():
    """The stub, which has every public function, made from the typelib's description and from the override."""
    stub = next(path for entry in sys.path if (path := pathlib.Path(entry, 'aprender', '__init__.pyi')).exists())
    return ast.parse(stub.read_text(encoding='utf-8'))


def list_functions():
    """The functions: the class if they have one, their name, and their parameters: the type, and whether it is optional."""
    tree = parse_stub()
    for owner in [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef) and hasattr(Apr, node.name))]:
        functions = {node.name: node for node in owner.body if isinstance(node, ast.FunctionDef)}
        for name, node in functions.items():
            if any(isinstance(decorator, ast.Attribute) or getattr(decorator, 'id', '') == 'property'
                   for decorator in node.decorator_list):
                continue
            # An asynchronous twin takes what the function takes.
            twin = functions.get(name.removesuffix('_async'), node).args
            types = {argument.arg: ast.unparse(argument.annotation) for argument in twin.args if argument.annotation}
            optional = node.args.args[len(node.args.args) - len(node.args.defaults):]
            yield getattr(owner, 'name', None), name, {
                argument.arg: (types.get(argument.arg, ast.unparse(argument.annotation)), argument in optional)
                for argument in node.args.args if argument.arg not in ('self', 'cls')}


def make_string(type_, string):
    """The string as a parameter of this type has it, or None where the type has no strings."""
    if re.search(r'Mapping\[str', type_):
        return {'a': string} if type_.startswith('Mapping[str, str') else {string: [1.0]}
    if re.search(r'(Sequence|list)\[str\]', type_):
        return ['b', string]
    return string if re.search(r'\b(str|Path)\b', type_) else None


class Stream:
    """What hands out a stream of Arrow, which nobody reads."""

    def __arrow_c_stream__(self, requested_schema=None):
        new = ctypes.pythonapi.PyCapsule_New
        new.argtypes, new.restype = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p], ctypes.py_object
        self.stream = ctypes.create_string_buffer(64)
        return new(ctypes.addressof(self.stream), b'arrow_array_stream', None)


class Strings(TestCase):
    def setUp(self):
        model = Apr.LinearRegression().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0])
        statistics = model.get_statistics()
        self.objects = {
            'Tensor': Apr.Tensor([1.0]),
            'CrossProducts': Apr.CrossProducts.new(1, 1),
            'Estimator': model,
            'LinearRegression': model,
            'RegressionStatistics': statistics,
            'HypothesisTest': statistics.test_hypothesis([[0.0, 1.0]]),
            'Plot': Apr.Plot('<svg/>'),
            'SafetensorsReader': Apr.SafetensorsReader.new_from_bytes(model.to_bytes()),
            'SafetensorsWriter': Apr.SafetensorsWriter(),
            'TableReader': Apr.TableReader(),
            'Term': statistics.get_item(0),
        }

    def make_value(self, type_):
        """Something that a parameter of this type takes."""
        values = {'Gio.File': Gio.File.new_for_path('/'), 'Gio.InputStream': Gio.MemoryInputStream.new(), 'Buffer': b'',
                  'Tensor': Apr.Tensor([1.0]), 'DType | str': 'f32', 'Sequence[int]': [1], 'Target': [1.0], 'Data': [[1.0]],
                  'ArrowStream': Stream(), 'Mapping[str, object]': {}, 'Metric | str': 'r2', 'Multioutput | str': 'raw_values',
                  'Precision | str': 'exact', 'list[str]': ['a'], 'str': 'a', 'int': 1, 'Path': '/a',
                  'Folds': Apr.Folds([[1.0], [2.0]], [1.0, 2.0], folds=2)}
        return values.get(next((known for known in values if type_.startswith(known)), None))

    def test_functions(self):
        n = 0
        for owner, name, types in list_functions():
            where = f'{owner}.{name}' if owner else name
            object_ = self.objects.get(owner, getattr(Apr, owner) if owner else Apr)
            object_ = type(object_) if owner and name.startswith('load') else object_
            for argument, (type_, _) in types.items():
                if make_string(type_, 'a') is None or where in HARMLESS or name == '__init__':
                    continue
                for string in STRINGS:
                    values = {other: make_string(type_, string) if other == argument else self.make_value(of_other)
                              for other, (of_other, is_optional) in types.items() if other == argument or not is_optional}
                    with self.subTest(f'{where}: {argument} {string!r}'), self.assertRaisesRegex(
                            (ValueError, TypeError), REFUSED):
                        getattr(object_, name)(**values)
                    n += 1
        self.assertGreater(n, 3 * 30)
        # It is a function of the module too, which the stub leaves out.
        with self.assertRaisesRegex(ValueError, 'NUL'):
            Apr.dtype_from_string('F32\0x')

    def test_what_is_harmless(self):
        """Nothing is listed that is no function, and what stands before the NUL is not taken."""
        names = {f'{owner}.{name}' for owner, name, _ in list_functions()}
        self.assertEqual(set(HARMLESS) - names, set())
        reader, statistics = self.objects['SafetensorsReader'], self.objects['RegressionStatistics']
        name = 'coefficients\0a'
        self.assertIn('coefficients', reader)
        self.assertNotIn(name, reader)
        self.assertEqual(reader.get(name, 5), 5)
        for object_, key in ((reader, name), (statistics, statistics.terms[0] + '\0')):
            self.assertNotIn(key, object_)
            with self.assertRaises(KeyError):
                object_[key]

    def test_columns_of_a_table(self):
        """Names of columns as y."""
        model = self.objects['LinearRegression']
        for function in (model.fit, model.partial_fit, model.score, self.objects['CrossProducts'].update):
            with self.assertRaises((ValueError, KeyError)):
                function({'a': [1.0, 2.0], 'b': [1.0, 2.0]}, 'b\0')

    def list_strings(self):
        """The properties that hold strings and can be written: their classes, names, and whether they are lists."""
        for name in self.objects:
            class_ = getattr(Apr, name)
            for pspec in class_.list_properties() if issubclass(class_, GObject.Object) else ():
                if pspec.value_type in (GObject.TYPE_STRING, GObject.TYPE_STRV) and pspec.flags & GObject.ParamFlags.WRITABLE:
                    yield class_, pspec, pspec.value_type == GObject.TYPE_STRV

    def test_properties(self):
        properties = list(self.list_strings())
        self.assertGreaterEqual({pspec.name for _, pspec, _ in properties},
                                {'name', 'delimiter', 'targets', 'features', 'weight'})
        for class_, pspec, is_list in properties:
            name = pspec.name.replace('-', '_')
            is_settable = not pspec.flags & GObject.ParamFlags.CONSTRUCT_ONLY
            for string in STRINGS:
                value = ['b', string] if is_list else string
                object_ = self.objects[class_.__name__]
                ways = [lambda: class_(**{name: value}), lambda: class_(**{pspec.name: value})]
                if is_settable:
                    ways += [lambda: setattr(object_, name, value), lambda: object_.set_property(pspec.name, value),
                             lambda: object_.set_property(name, value), lambda: object_.set_properties(**{name: value}),
                             lambda: setattr(object_.props, name, value)]
                before = object_.get_property(pspec.name)
                for way in ways:
                    with self.subTest(f'{class_.__name__}.{name}: {inspect.getsource(way)}'), self.assertRaisesRegex(
                            ValueError, 'NUL'):
                        way()
                self.assertEqual(object_.get_property(pspec.name), before)

    def test_property_of_a_subclass(self):
        class Labelled(Apr.Estimator):
            __gtype_name__ = 'StringsLabelled'
            label = GObject.Property(type=str)

        model = Labelled(label='a')
        for way in (lambda: Labelled(label='a\0'), lambda: setattr(model, 'label', 'a\0'),
                    lambda: setattr(model.props, 'label', 'a\0')):
            with self.assertRaisesRegex(ValueError, 'NUL'):
                way()
        self.assertEqual((model.label, model.props.label, 'label' in dir(model.props)), ('a', 'a', True))
        self.assertEqual(len(model.props), len(Labelled.list_properties()))
        self.assertIn('label', {pspec.name for pspec in model.props})

    def test_what_pygobject_alone_decides(self):
        """The guide says that this way cuts a string short: PyGObject's own function asks no override."""
        table = GObject.new(Apr.TableReader, delimiter='x\0y')
        self.assertEqual(table.delimiter, 'x')


if __name__ == '__main__':
    tap.main()
