#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What may be left out in Vala: in each function of the vapi, the arguments at the end that need not be given.

These are the ones that may be null, and the priority, which is the default's then. A method that does nothing but set
one thing is no call without it.

And what may be null: each property whose getter may return it. vapigen takes that from the metadata alone.

Usage: test-vapi.py aprender-1.0.vapi
"""

import pathlib
import re
import sys

FUNCTION = re.compile(r'^\s*public (?!delegate).*?(?P<name>[\w.@]+) \((?P<arguments>.*)\)(?: throws [\w.]+)?;$', re.MULTILINE)


def split_arguments(text):
    """The arguments that go in, without the attributes that some have in brackets."""
    text = re.sub(r'\[CCode \(.*?\)\] ', '', text)
    return [argument for argument in text.split(', ') if argument and not argument.startswith('out ')]


def list_missing(vapi):
    """The functions whose last arguments have no default although they need not be given."""
    for match in FUNCTION.finditer(vapi):
        name, arguments = match['name'], split_arguments(match['arguments'])
        if name.startswith('set_') and len(arguments) == 1:
            continue
        for argument in reversed(arguments):
            if ' = ' not in argument:
                if '? ' not in argument and not argument.endswith(' io_priority'):
                    break
                yield f'{name}: {argument}'


def list_not_nullable(vapi):
    """The properties that may not be null although their getters may return it."""
    for text in re.split(r'^\tpublic (?:abstract |sealed )?class ', vapi, flags=re.MULTILINE)[1:]:
        getters = set(re.findall(r'^\t\tpublic (?:\w+ )*\S+\? get_(\w+) \(\);$', text, re.MULTILINE))
        for type_name, name in re.findall(r'^\t\tpublic (?:\w+ )*(\S+) (\w+) \{', text, re.MULTILINE):
            if name in getters and not type_name.endswith('?'):
                yield f'{text.split()[0]}.{name}'


def main():
    vapi = pathlib.Path(sys.argv[1]).read_text(encoding='utf-8')
    # The test itself: what it looks for is found.
    for line, expected in (('public async bool a_async (T? x, int io_priority, T? y);', 3), ('public bool a (T? x, T y);', 0),
                           ('public void set_a (T? x);', 0), ('public void a (T? x, out T? y);', 1),
                           ('public void a (T? x = null, int n = 0, T? y);', 1)):
        assert len(list(list_missing(line))) == expected, line

    getter = '\tpublic class C : D {\n\t\tpublic unowned string[]? get_x ();\n'
    for line, expected in (('\t\tpublic string[] x { owned get; set; }', ['C.x']), ('\t\tpublic string[]? x { get; }', [])):
        assert list(list_not_nullable(getter + line)) == expected, line

    wrong = list(list_not_nullable(vapi))
    assert not wrong, f'not nullable: {wrong}'
    assert vapi.count('? file {') == 1 and vapi.count('? bytes {') == 1, 'a reader has one of the two'
    functions = FUNCTION.findall(vapi)
    assert len(functions) > 200 and sum(name.endswith('_async') for name, _ in functions) > 30, len(functions)
    missing = list(list_missing(vapi))
    assert not missing, f'no default: {missing}'
    # Those of weights and priorities are in each function, wherever it has them.
    for name, arguments in functions:
        for argument in split_arguments(arguments):
            if re.search(r' (sample_weight|io_priority|cancellable)\b', argument):
                assert ' = ' in argument, f'{name}: {argument}'


if __name__ == '__main__':
    main()
