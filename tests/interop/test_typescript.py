# SPDX-License-Identifier: LGPL-2.1-or-later
"""Has TypeScript check the types of the library for JavaScript, and GJS run what it has checked.

    with-peer typescript test_typescript.py
"""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import interop  # first, for it finds the rest
import tap

SOURCES = interop.PEERS / 'typescript'
ROOT = pathlib.Path(__file__).resolve().parents[2]
TYPES = ROOT / 'bindings' / 'gjs' / 'types' / 'Apr-1.0.d.ts'

# What is for C, GObject's own, or a property's second spelling.
UNTYPED = re.compile('_|featureNames$|targetNames$|constructor$|toString$|ref$|unref$|new_from_memory$|get_memory$|get_floats$|'
                     r'get_doubles$|predict_into$|update_arrow(_async)?$|init_async$|set_property$|.*_finish$|\$')

LIST = '''
import Apr from 'gi://Apr?version=1.0';
import GObject from 'gi://GObject';
const {READWRITE, CONSTRUCT_ONLY} = GObject.ParamFlags;
const found = {};
for (const name of Object.getOwnPropertyNames(Apr)) {
  const value = Apr[name];
  // A structure of C's.
  if (value === undefined)
    continue;
  const entry = found[name] = {kind: typeof value};
  if (typeof value === 'object' || name.endsWith('Error'))
    entry.numbers = Object.getOwnPropertyNames(value).filter(key => typeof value[key] === 'number' && key !== 'length');
  else if (value.$gtype !== undefined)
    entry.members = [...new Set([value.prototype, value].flatMap(object => Object.getOwnPropertyNames(object)))];
  // With what it inherits.
  if (value.prototype !== undefined) {
    entry.known = [];
    for (let object of [value.prototype, value])
      for (; object && object !== Object.prototype && object !== Function.prototype; object = Object.getPrototypeOf(object))
        entry.known.push(...Reflect.ownKeys(object).map(key => key === Symbol.iterator ? 'Symbol.iterator' : String(key)));
  }
  if (value.prototype instanceof GObject.Object) {
    entry.known.push(...GObject.Object.list_properties.call(value).map(({name}) => name.replaceAll('-', '_')));
    entry.properties = GObject.Object.list_properties.call(value).filter(pspec => pspec.owner_type === value.$gtype)
      .map(({name, flags}) => [name.replaceAll('-', '_'), (flags & (READWRITE | CONSTRUCT_ONLY)) === READWRITE]);
  }
}
print(JSON.stringify(found));
'''
SUBCLASS = '''
import Apr from 'gi://Apr?version=1.0';
import GObject from 'gi://GObject?version=2.0';
declare function print(text: unknown): void;

class First extends Apr.Estimator {
  declare factor: number;

  vfunc_fit(_X: Apr.Tensor, y: Apr.Tensor): boolean {
    return this.set_result('first', [y.get_double(0)]);
  }

  vfunc_predict(X: Apr.Tensor): Apr.Tensor {
    const first: number = this.get_result('first').get_double(0);
    return Apr.Tensor.from(new Float64Array(X.shape[0]).fill(this.factor * first));
  }
}
const {ParamSpec, ParamFlags} = GObject as any;
(GObject as any).registerClass({
  GTypeName: 'TestFirst',
  Properties: {factor: ParamSpec.double('factor', null, null, ParamFlags.READWRITE | ParamFlags.CONSTRUCT, 0, 100, 1)},
}, First);
print(new First({factor: 2}).fit([[1], [2]], [7, 8]).copy().predict([[3]])[0]);
'''
# What models and statistics give are numbers to compute with, which a bigint could not be.
NUMBERS = '''
import Apr from 'gi://Apr?version=1.0';
import type Gio from 'gi://Gio?version=2.0';
declare function print(text: unknown): void;

const [X, y] = [[[0, 0], [1, 0], [0, 1], [2, 2]], [1, 3, 4, 10]];
const model = new Apr.LinearRegression({alpha: undefined, n_threads: 1}).fit(X, y);
const statistics = model.get_statistics();
const list: Gio.ListModel = statistics;
const flat = Object.assign(new Float64Array(8), {shape: [4, 2]});
const [lower] = model.predict_interval(X);
const test = statistics.test_hypothesis(['x0 = 0', 'x1 = 0']);
const sum: number = model.predict(X)[0] + (await model.predict_async(X))[1] * 2 + (model.intercept?.[0] ?? 0) + lower[0] +
  statistics.p_values[0] + statistics.covariance[0][0] + test.t_values[0] + statistics.get_confidence_intervals(0.9)[0][1];
async function countRows(reader: Apr.TableReader): Promise<number> {
  let nRows = 0;
  for (const [x, y, weights] of reader)
    nRows += x.shape[0] + (y?.shape[0] ?? 0) + (weights?.shape[0] ?? 0);
  for await (const [x] of reader)
    nRows += x.shape[0];
  return nRows;
}
const folds: Apr.Folds = Apr.Folds.new_from_labels(X, y, null, ['a', 'b', 'a', 'b']);
const loss: number = model.cross_validate(folds, 'max_error')[0] + (await model.cross_validate_async(folds, Apr.Metric.R2))[1] +
  model.cross_predict(folds)[3] + (await model.cross_predict_async(Apr.Folds.new_shuffled(X, y, null, 2, 42)))[0];
print([Number.isFinite(sum + loss) && folds.labels?.[3] === 'b' && countRows.length === 1 && list.get_n_items() === 3 && model.predict(flat).length === 4,
  model.diagnose(X, y).residuals.map(Math.abs).length, model.predict(X).shape.length,
  statistics.standard_errors[1].toFixed(1).length].join());
'''
# What the types have as functions of an enumeration, and what a promise stands for.
ELSEWHERE = re.compile('_|dtype_|.*error_quark$|.*_finish$')


class Test(unittest.TestCase):
    def run_program(self, *command, cwd=None):
        result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                encoding='utf-8', cwd=cwd, check=False)
        self.assertEqual(result.returncode, 0, result.stdout)
        return result.stdout

    def test_types(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for path in (SOURCES / 'gi.d.ts', SOURCES / 'program.ts', TYPES):
                shutil.copy(path, folder)
            (folder / 'subclass.ts').write_text(SUBCLASS, encoding='utf-8')
            (folder / 'numbers.ts').write_text(NUMBERS, encoding='utf-8')
            self.run_program(shutil.which('node'), interop.FOLDER / 'node_modules' / 'typescript' / 'bin' / 'tsc',
                             '--strict', '--target', 'es2022', '--module', 'es2022', '--lib', 'es2022',
                             '--outDir', 'out', 'gi.d.ts', TYPES.name, 'program.ts', 'subclass.ts', 'numbers.ts',
                             cwd=folder)
            gjs = shutil.which('gjs')
            if gjs is None:
                self.skipTest('there is no gjs')
            output = self.run_program(gjs, '-m', folder / 'out' / 'program.js')
            self.assertEqual(self.run_program(gjs, '-m', folder / 'out' / 'subclass.js'), '14\n')
            self.assertEqual(self.run_program(gjs, '-m', folder / 'out' / 'numbers.js'), 'true,4,1,3\n')
        self.assertIn('weights', output)
        self.assertIn('function', output)

    def test_nothing_is_missing(self):
        gjs = shutil.which('gjs')
        if gjs is None:
            self.skipTest('there is no gjs')
        with tempfile.NamedTemporaryFile('w', suffix='.js') as file:
            file.write(LIST)
            file.flush()
            found = json.loads(self.run_program(gjs, '-m', file.name))
        text = TYPES.read_text(encoding='utf-8')
        self.assertIn('r2_score', found)
        for name, entry in found.items():
            if ELSEWHERE.match(name):
                continue
            if entry['kind'] != 'object' and 'members' not in entry and 'numbers' not in entry:
                self.assertRegex(text, rf'\n    (const|function) {name}\b', f'{TYPES.name} lacks {name}')
                continue
            body = re.search(rf'(?:class|enum) {name}\b.*?(?:\n    }}|}}\n)', text, flags=re.DOTALL)[0]
            if 'numbers' in entry:
                self.assertEqual(set(re.findall(r'\b[A-Z]\w*\b', body.split('{', 1)[1])), set(entry['numbers']), name)
                continue
            properties = dict(entry.get('properties', []))
            for member in entry['members']:
                if member not in properties and not UNTYPED.match(member) and re.fullmatch('[a-z]\\w*', member) and member not in (
                        'length', 'prototype', 'name', 'new', 'from_bytes', 'load'):
                    self.assertRegex(body, rf'\n      ((static|readonly|get|set|protected|abstract) )*{member}[?<(:]',
                                     f'{TYPES.name} lacks {name}.{member}')
            for member, is_writable in properties.items():
                # What only a constructor takes can be given to it.
                self.assertRegex(body, rf'\b{member}\??:|\bget {member}\(', f'{TYPES.name} lacks {name}.{member}')
                found_writable = re.search(rf'\n      {member}:|\bset {member}\(', body) is not None
                # What may not be assigned in C may be assigned in JavaScript.
                self.assertEqual(found_writable, is_writable or member in ('feature_names', 'target_names'), f'{name}.{member}')


    def test_nothing_is_made_up(self):
        gjs = shutil.which('gjs')
        if gjs is None:
            self.skipTest('there is no gjs')
        with tempfile.NamedTemporaryFile('w', suffix='.js') as file:
            file.write(LIST)
            file.flush()
            found = json.loads(self.run_program(gjs, '-m', file.name))
        classes = re.findall(r'\n    (?:abstract )?class (\w+)\b[^{]*{(.*?)\n    }', TYPES.read_text(encoding='utf-8'), flags=re.DOTALL)
        self.assertGreater(len(classes), 10)
        for name, body in classes:
            for member in re.findall(r'\n      (?:(?:static|readonly|get|set|protected|abstract) )*([a-z]\w*)[?<(:]', body):
                # A virtual function is there for a subclass to have.
                if not member.startswith('vfunc_'):
                    self.assertTrue(member in found[name]['known'], f'{TYPES.name} has {name}.{member}, which is not there')


if __name__ == '__main__':
    tap.main()
