# SPDX-License-Identifier: LGPL-2.1-or-later
"""What mypy says of programs that use the stub.

    with-peer python test_types.py
"""

import ast
import os
import pathlib
import subprocess
import sys

import tap
from common import EXAMPLES, Apr, TestCase

# Each mistake is on a line of its own, with what mypy says of it.
MISTAKES = [
    ('model.fit([[1.0]])', 'Missing positional argument "y"'),
    ('model.alpha = "much"', 'Incompatible types in assignment'),
    ('aprender.LinearRegression(aplha=1.0)', 'Unexpected keyword argument "aplha"'),
    ('aprender.LinearRegression(dtype=float)', 'incompatible type "type[float]"'),
    ('model.coeffs', 'has no attribute "coeffs"'),
    ('model.fitted = True', 'is read-only'),
    ('model.feature_names = [1]', 'has incompatible type "int"'),
    ('model.fit_async(y=[1.0])', 'Missing positional argument "X"'),
    ('aprender.load_file(7)', 'Argument 1 to "load_file"'),
    ('text: str = model.score([[1.0]], [1.0])', 'expression has type "float"'),
    ('states[0].equal_async(7)', 'Argument 1 to "equal_async"'),
    ('aprender.CrossProducts.new("two", 1)', 'Argument 1 to "new"'),
    ('aprender.Folds([[1.0]], [1.0], seed="one")', 'Argument "seed" to "Folds"'),
    ('model.cross_validate([[1.0]])', 'Argument 1 to "cross_validate"'),
]
TYPES = [
    ('model.fit([[1.0]], [1.0])', 'aprender.LinearRegression'),
    ('aprender.LinearRegression(alphas=[1.0, 2.0], dtype=None)', 'aprender.LinearRegression'),
    ('aprender.LinearRegression(dtype=numpy.float32)', 'aprender.LinearRegression'),
    ('aprender.Tensor([1.0]).cast(numpy.dtype("f4"))', 'aprender.Tensor'),
    ('model.get_statistics()["x0"].p_value', 'float'),
    ('model.clone()', 'aprender.LinearRegression'),
    ('aprender.LinearRegression.load("model")', 'aprender.LinearRegression'),
    ('model.summary()', 'str'),
    ('model.rank', 'int'),
    ('model.get_statistics().r_squared', 'float'),
    ('aprender.SafetensorsReader("file")["a"]', 'Any'),
    ('aprender.Tensor([1.0]).cast("f32")', 'aprender.Tensor'),
    ('aprender.max_error([1.0], [1.0])', 'float'),
    ('model.get_statistics().test_hypothesis([0.0, 1.0])', 'aprender.HypothesisTest'),
    ('aprender.DType.F32', 'aprender.DType'),
    ('[term.p_value for term in model.get_statistics()]', 'list[float]'),
    ('aprender.CrossProducts.new(1, 1) + aprender.CrossProducts.new(1, 1)', 'aprender.CrossProducts'),
    ('model.fit_cross_products(sum(states))', 'aprender.LinearRegression'),
    ('states[0].merge(sum(states)).subtract(sum(states[1:]))', 'aprender.CrossProducts'),
    ('model.score_cross_products(sum(states))', 'Any'),
    ('asyncio.run(model.fit_async([[1.0]], [1.0]))', 'aprender.LinearRegression'),
    ('asyncio.run(model.summary_async())', 'str'),
    ('asyncio.run(states[0].equal_async(states[1]))', 'bool'),
    ('asyncio.run(aprender.Tensor([1.0]).cast_async("f32"))', 'aprender.Tensor'),
    ('asyncio.run(aprender.LinearRegression.load_from_file_async("model"))', 'aprender.LinearRegression'),
    ('asyncio.run(asyncio.wait_for(model.score_async([[1.0]], [1.0]), 5))', 'float'),
    ('asyncio.run(states[0].update_async([[1.0]], [1.0]))', 'aprender.CrossProducts'),
    ('model.fit_groups_async([[1.0]], [1.0], ["a"]).cancel()', 'bool'),
    ('len(aprender.Folds([[1.0]], [1.0], folds=["a"]))', 'int'),
    ('aprender.Folds(X="table", y="price", folds="city", seed=None)', 'aprender.Folds'),
    ('model.cross_validate(aprender.Folds(), "r2").mean()', 'Any'),
    ('asyncio.run(model.cross_validate_async(aprender.Folds(), aprender.Metric.R2)).sum()', 'Any'),
    ('asyncio.run(aprender.TableReader().read_async())', 'tuple[aprender.Tensor, aprender.Tensor | None, aprender.Tensor | None] | None'),
    ('[y for X, y, weights in aprender.TableReader(targets=["y"])]', 'list[aprender.Tensor | None]'),
    ('states[0] + sum(states)', 'aprender.CrossProducts'),
    ('aprender.error_quark()', 'int'),
    ('aprender.safetensors_error_quark()', 'int'),
    ('aprender.dtype_to_string(aprender.DType.F32)', 'str'),
    ('sum([aprender.CrossProducts.new(1, 1)])', 'aprender.CrossProducts | Literal[0]'),
]

SUBCLASS = '''
from typing import Any

import aprender


class First(aprender.Estimator):
    factor: float

    def do_fit(self, X: aprender.Tensor, y: aprender.Tensor, sample_weight: aprender.Tensor | None, cancellable: Any) -> bool:
        return self.set_result('first', [y.get_double(0)])

    def do_predict(self, X: aprender.Tensor) -> aprender.Tensor:
        return aprender.Tensor([self.factor * float(self.get_result('first'))] * len(X))


model: First = First(factor=2.0).fit([[1], [2]], [3, 4]).clone()
'''


class Types(TestCase):
    def run_mypy(self, *arguments):
        folder = next(entry for entry in sys.path if pathlib.Path(entry, 'aprender', '__init__.pyi').exists())
        done = subprocess.run([sys.executable, '-m', 'mypy', '--strict', '--cache-dir', str(self.make_directory()), *arguments],
                              capture_output=True, text=True, env=dict(os.environ, MYPYPATH=folder, PYTHONDEVMODE=''))
        return done.stdout + done.stderr

    def test_examples(self):
        names = ('first.py', 'rents.py', 'cross-products.py', 'to-realizar.py')
        self.assertIn('Success', self.run_mypy(*(str(EXAMPLES / name) for name in names)))

    def test_types_and_mistakes(self):
        path = self.make_directory() / 'program.py'
        lines = ['import aprender, asyncio, numpy', 'model = aprender.LinearRegression(alpha=1.0, dtype="f32")']
        lines += ['states: list[aprender.CrossProducts] = []']
        lines += [f'reveal_type({expression})' for expression, _ in TYPES]
        lines += [statement for statement, _ in MISTAKES]
        path.write_text('\n'.join(lines) + '\n')
        output = self.run_mypy(str(path)).splitlines()
        said = {}
        for line in output:
            if line.startswith(str(path)):
                number, _, text = line[len(str(path)) + 1:].partition(':')
                said.setdefault(int(number), []).append(text)
        for i, (expression, type_) in enumerate(TYPES):
            self.assertIn(f'Revealed type is "{type_}"', said[4 + i][0].replace('builtins.', ''), expression)
        for i, (statement, text) in enumerate(MISTAKES):
            self.assertIn(text, ' '.join(said.get(4 + len(TYPES) + i, [])), statement)
        self.assertEqual(sum(' error: ' in line for line in output), len(MISTAKES), output)

    def test_subclass(self):
        path = self.make_directory() / 'subclass.py'
        path.write_text(SUBCLASS)
        self.assertIn('Success', self.run_mypy(str(path)))

    def test_stub_itself(self):
        folder = next(entry for entry in sys.path if pathlib.Path(entry, 'aprender', '__init__.pyi').exists())
        self.assertIn('Success', self.run_mypy(os.path.join(folder, 'aprender', '__init__.pyi')))

    def test_stub_has_what_there_is(self):
        folder = next(entry for entry in sys.path if pathlib.Path(entry, 'aprender', '__init__.pyi').exists())
        nodes = ast.parse(pathlib.Path(folder, 'aprender', '__init__.pyi').read_text()).body
        classes = [node for node in nodes if isinstance(node, ast.ClassDef) and hasattr(Apr, node.name)]
        self.assertGreater(len(classes), 14)
        missing = [f'{class_.name}.{node.name}' for class_ in classes for node in class_.body
                   if isinstance(node, ast.FunctionDef) and not hasattr(getattr(Apr, class_.name), node.name)]
        self.assertEqual(missing, [])


if __name__ == '__main__':
    tap.main()
