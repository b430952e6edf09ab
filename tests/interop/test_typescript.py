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

# What is for C, or a name of GObject's for what the types have as a property.
UNTYPED = re.compile('^(_|constructor$|toString$|ref$|unref$|new_from_memory$|get_memory$|get_floats$|get_doubles$|'
                     r'predict_into$|update_arrow(_async)?$|init_async$|.*_finish$|get_|set_|read_async$|load_tensors$|save_tensors$|\$)')

LIST = '''
import Apr from 'gi://Apr?version=1.0';
const found = {};
for (const name of ['Tensor', 'SafetensorsReader', 'SafetensorsWriter', 'Estimator', 'LinearRegression', 'CrossProducts',
  'HypothesisTest', 'RegressionDiagnostics', 'RegressionStatistics', 'TableReader', 'Term'])
  found[name] = [...new Set([Apr[name].prototype, Apr[name]].flatMap(object => Object.getOwnPropertyNames(object)))];
print(JSON.stringify(found));
'''


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
            self.run_program(shutil.which('node'), interop.FOLDER / 'node_modules' / 'typescript' / 'bin' / 'tsc',
                             '--strict', '--target', 'es2022', '--module', 'es2022', '--lib', 'es2022',
                             '--outDir', 'out', 'gi.d.ts', TYPES.name, 'program.ts', cwd=folder)
            gjs = shutil.which('gjs')
            if gjs is None:
                self.skipTest('there is no gjs')
            output = self.run_program(gjs, '-m', folder / 'out' / 'program.js')
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
        for type_name, members in found.items():
            body = re.search(rf'class {type_name} .*?\n    }}', text, flags=re.DOTALL)[0]
            for member in members:
                if not UNTYPED.match(member) and re.fullmatch('[a-z]\\w*', member) and member not in (
                        'length', 'prototype', 'name', 'new', 'from_bytes', 'load'):
                    self.assertRegex(body, rf'\b{member}\b', f'{TYPES.name} lacks {type_name}.{member}')


if __name__ == '__main__':
    tap.main()
