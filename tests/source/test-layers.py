#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which folder of the library uses which: dependencies point down only, in the includes and in the object files.

Usage: test-layers.py SOURCES LIBRARY, the folder aprender/ and the static library
"""

import collections
import os
import pathlib
import re
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import harness  # noqa: E402

# Lowest first. A folder may use itself and those before it.
LAYERS = ['base', 'tensor', 'safetensors', 'exact-sums', 'least-squares', 'estimator', 'table', 'cross-products', 'inference',
          'linear-model', 'model-selection', 'plot', 'serve', 'tool']


def rank(folder):
    return LAYERS.index(folder)


def test_every_folder_has_a_layer():
    folders = {path.parent.relative_to(sources).parts[0] for path in sources.rglob('*.[ch]') if path.parent != sources}
    assert folders == set(LAYERS), folders ^ set(LAYERS)


def test_includes():
    upward = []
    n_includes = 0
    for path in sorted(sources.rglob('*.[ch]')):
        if path.parent == sources:
            continue
        folder = path.relative_to(sources).parts[0]
        for included in re.findall(r'^\s*#\s*include ["<]aprender/([a-z-]+)/', path.read_text('utf-8'), re.MULTILINE):
            n_includes += 1
            if rank(included) > rank(folder):
                upward.append(f'{path.relative_to(sources)} includes {included}/')
    assert n_includes > 100, n_includes
    assert not upward, upward


def test_symbols():
    # Each object of the library is named after its folder and file: exact-sums_kernels_apr-slice-kernel.c.o.
    defined = {}
    wanted = collections.defaultdict(set)
    layer = None
    for line in subprocess.run(['nm', library], check=True, capture_output=True, text=True).stdout.splitlines():
        if line.endswith('.o:'):
            layer = os.path.basename(line).split('_')[0]
        elif match := re.search(r'([A-Za-z]) (apr_\w+)$', line):
            kind, symbol = match.groups()
            if kind == 'U':
                wanted[layer].add(symbol)
            elif kind.isupper():
                defined[symbol] = layer
    assert set(wanted) | set(defined.values()) >= set(LAYERS) - {'plot', 'serve', 'tool'}, set(defined.values())
    upward = [f'{layer}/ uses {symbol} of {defined[symbol]}/' for layer, symbols in sorted(wanted.items())
              for symbol in sorted(symbols) if symbol in defined and rank(defined[symbol]) > rank(layer)]
    assert not upward, upward


sources = pathlib.Path(sys.argv[1])
library = os.path.abspath(sys.argv[2])
harness.run([test_every_folder_has_a_layer, test_includes, test_symbols])
