#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How the sources look: clang-format has nothing to change, includes are in order, lines and files are not too long.

Usage: test-style.py ROOT, the folder of the whole project
"""

import pathlib
import re
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import harness  # noqa: E402

MAX_LINE = 120
MAX_FILE = 700


def sources(*suffixes):
    for folder in ('app', 'aprender', 'bindings', 'docs', 'tests'):
        for path in sorted((root / folder).rglob('*')):
            if path.suffix in suffixes and 'node_modules' not in path.parts:
                yield path


def name(path):
    return str(path.relative_to(root))


def test_format():
    clang_format = shutil.which('clang-format')
    if clang_format is None:
        return 'there is no clang-format'
    result = subprocess.run([clang_format, '--dry-run', '--Werror', '--style=file', *sources('.c', '.h')],
                            capture_output=True, text=True, cwd=root)
    assert result.returncode == 0, result.stderr


def order_of_includes(path):
    """What is wrong with it: it has the own header, then those of the system, then those of the project, each block sorted."""
    blocks = [[]]
    for line in path.read_text('utf-8').splitlines():
        # What a condition holds may stand anywhere.
        if re.match(r'\s*#\s*if', line) and any(blocks):
            break
        if match := re.match(r'#include (["<].*[">])', line):
            blocks[-1].append(match[1])
        elif blocks[-1]:
            blocks.append([])
    blocks = [block for block in blocks if block]
    wrong = []

    if path.suffix == '.c':
        stem = str(path.relative_to(root).with_suffix(''))
        own = [f'"{stem}{end}.h"' for end in ('-private', '') if (root / f'{stem}{end}.h').exists()]
        own = [header for header in own if any(header in block for block in blocks)]
        if own:
            if blocks[0][0] not in own:
                wrong.append(f'{own[0]} is not the first')
            blocks[0] = [header for header in blocks[0] if header not in own]
    kinds = []
    for block in blocks:
        if block != sorted(block):
            wrong.append(f'{" ".join(block)} is not sorted')
        if len({header[0] for header in block}) > 1:
            wrong.append(f'{" ".join(block)} mixes the system and the project')
        if block and (not kinds or kinds[-1] != block[0][0]):
            kinds.append(block[0][0])
    if ''.join(kinds) not in ('', '"', '<', '"<', '<"', '"<"'):
        wrong.append('the system is to stand before the project')
    return wrong


def test_includes():
    # The header of all headers has the order of the folders.
    wrong = {name(path): reasons for path in sources('.c', '.h') if (reasons := order_of_includes(path))}
    wrong.pop('aprender/aprender.h', None)
    assert not wrong, '\n'.join(f'{file}: {reason}' for file, reasons in wrong.items() for reason in reasons)


def test_lines():
    long = [f'{name(path)}:{number}: {len(line)} characters' for path in sources('.c', '.h')
            for number, line in enumerate(path.read_text('utf-8').splitlines(), 1) if len(line) > MAX_LINE]
    assert not long, '\n'.join(long)


def test_files():
    lengths = {name(path): len(path.read_text('utf-8').splitlines())
               for path in sources('.c', '.h', '.py', '.js', '.vala')}
    long = [f'{file}: {length} lines' for file, length in lengths.items() if length > MAX_FILE]
    assert not long, '\n'.join(long)


root = pathlib.Path(sys.argv[1])
harness.run([test_format, test_includes, test_lines, test_files])
