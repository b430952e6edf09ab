#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the library exports: only its own names, versioned, none of Apache's, and all of them documented.

Usage: test-symbols.py LIBRARY [GIR]
"""

import ctypes.util
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import harness  # noqa: E402

CORE = '{http://www.gtk.org/introspection/core/1.0}'
GLIB = '{http://www.gtk.org/introspection/glib/1.0}'
C = '{http://www.gtk.org/introspection/c/1.0}'


def exported(path):
    output = subprocess.run(['nm', '-D', '--defined-only', path], check=True, capture_output=True, text=True).stdout
    return [line.split()[-1] for line in output.splitlines()]


def find_library(name):
    file = ctypes.util.find_library(name)
    folders = ['/usr/lib', '/usr/local/lib'] + [str(p) for p in pathlib.Path('/usr/lib').glob('*-linux-gnu*')]
    return next((f'{folder}/{file}' for folder in folders if file and pathlib.Path(folder, file).exists()), None)


def test_names_and_versions():
    names = [name for name in symbols if name != 'APR_1.0@@APR_1.0' and name != 'APR_1.0']
    wrong = [name for name in names if not re.fullmatch(r'apr_\w+@@APR_1\.0', name)]
    assert names and not wrong, wrong


def test_none_of_apache():
    libraries = [find_library('apr-1'), find_library('aprutil-1')]
    if None in libraries:
        return 'libapr1 and libaprutil1 are not installed: apt-get install libapr1 libaprutil1'
    ours = {name.split('@')[0] for name in symbols}
    for library in libraries:
        theirs = {name.split('@')[0] for name in exported(library)}
        assert any(name.startswith('apr_') for name in theirs), library
        assert not ours & theirs, sorted(ours & theirs)


def test_documentation():
    if len(sys.argv) < 3:
        return 'the library was built without introspection'
    lacking = []
    seen = set()
    for element in ElementTree.parse(sys.argv[2]).iter():
        name = element.get(C + 'identifier') or element.get(C + 'type')
        if element.tag not in {CORE + tag for tag in ('function', 'method', 'constructor', 'class', 'record', 'enumeration')}:
            continue
        if element.get(GLIB + 'is-gtype-struct-for') and not element.get('version'):
            continue
        if name.endswith('_quark'):
            continue
        seen.add(name)
        if element.find(CORE + 'doc') is None or element.get('version') is None:
            lacking.append(name)
    assert len(seen) > 50, seen
    assert not lacking, lacking

    # Every function that is exported is in the description, but for the two that it does without.
    functions = {name.split('@')[0] for name in symbols if name.startswith('apr_')}
    assert {name for name in functions - seen if not name.endswith(('_get_type', '_quark', '_ref', '_unref'))} == set()


def test_contracts():
    """Every type says which threads may use it, who keeps memory, and what blocks."""
    if len(sys.argv) < 3:
        return 'the library was built without introspection'
    tree = ElementTree.parse(sys.argv[2])
    boxed = [element for element in tree.iter(CORE + 'record') if element.get(GLIB + 'get-type')]
    types = {element.get('name'): element.find(CORE + 'doc') for element in [*tree.iter(CORE + 'class'), *boxed]}
    assert len(types) >= 10, sorted(types)
    lacking = [name for name, doc in types.items() if doc is None or '## Threads, memory and blocking' not in doc.text]
    assert not lacking, lacking


symbols = exported(sys.argv[1])
# What the page about stability promises: the type of each count, and of the property, as GObject has none of gsize.
SIZES = 'n_features n_targets n_dims n_elements n_values n_groups n_failed n_folds n_states group index start stop target size'
LONG = 'n_samples n_rows n_dropped n_missing offset max_shard_size max_header_size max_rows df_model df_residual df_hypothesis'
COUNTS = {**dict.fromkeys(SIZES.split(), 'gsize'), **dict.fromkeys(LONG.split(), 'guint64'), 'n_threads': 'guint',
          'rank': 'gssize'}
# The bytes of sums are in memory; those of a table were read, and of a tensor are in a file.
EXCEPTIONS = {('CrossProducts', 'n_bytes'): 'gsize', ('TableReader', 'n_bytes'): 'guint64',
              ('SafetensorsReader', 'size'): 'guint64'}
NO_COUNTS = {'alignment', 'bits', 'io_priority', 'seed'}
INTEGERS = {'gint', 'guint', 'gint64', 'guint64', 'gsize', 'gssize', 'glong', 'gulong'}


def list_integers(element, owner=None):
    """Every integer in the interface, with what it belongs to: (owner, name, type, whether it is a property)."""
    for child in element:
        name = (child.get('name') or '').replace('-', '_')
        type_ = child.find(CORE + 'type')
        if child.tag in (CORE + 'parameter', CORE + 'property', CORE + 'field') and type_ is not None:
            yield owner, name, type_.get('name'), child.tag == CORE + 'property'
        result = child.find(f'{CORE}return-value/{CORE}type')
        if result is not None:
            yield owner, re.sub('^(dtype_)?get_', '', name), result.get('name'), False
        yield from list_integers(child, name if child.tag in (CORE + 'class', CORE + 'record') else owner)


def test_counts():
    if len(sys.argv) < 3:
        return 'the library was built without introspection'
    wrong = []
    seen = set()
    for owner, name, type_, is_property in list_integers(ElementTree.parse(sys.argv[2]).getroot()):
        if type_ not in INTEGERS or name in NO_COUNTS:
            continue
        expected = EXCEPTIONS.get((owner, name)) or COUNTS.get(name)
        if is_property:
            expected = {'gsize': 'guint64', 'gssize': 'gint64'}.get(expected, expected)
        seen.add(name)
        if type_ != expected:
            wrong.append(f'{owner}: {name} is {type_}, not {expected}')
    assert not wrong, '\n'.join(wrong)
    assert seen == COUNTS.keys() | {'n_bytes'}, seen ^ (COUNTS.keys() | {'n_bytes'})


harness.run([test_names_and_versions, test_none_of_apache, test_documentation, test_counts, test_contracts])
