#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The public headers: each compiles alone without a warning, as C and as C++, and all of them beside Apache's apr.

Usage: test-headers.py SOURCES COMPILER..., the folder aprender/ and the command of the C compiler
"""

import pathlib
import re
import shlex
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import harness  # noqa: E402

WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Werror']
# Other libraries' headers are not tested here.
PLATFORM = [re.sub('^-I', '-isystem', flag) for flag in
            shlex.split(subprocess.run(['pkg-config', '--cflags', 'gio-2.0'], check=True, capture_output=True, text=True).stdout)]


def compile_text(text, language, standard, *flags):
    """What the compiler says about it, which is nothing where all is well."""
    result = subprocess.run([*compiler, '-fsyntax-only', '-x', language, f'-std={standard}', *WARNINGS, *PLATFORM,
                             f'-I{sources.parent}', *flags, '-'], input=text, capture_output=True, text=True)
    return result.stderr if result.returncode else ''


def public_headers():
    return sorted(f'aprender/{path.relative_to(sources)}' for path in sources.glob('*/apr-*.h')
                  if not path.name.endswith('-private.h') and path.parent.name not in ('plot', 'serve', 'tool'))


def compile_all(language, standard):
    headers = public_headers()
    assert len(headers) > 10, headers
    # What an application includes, then each alone, as it is inside.
    said = compile_text('#include <aprender/aprender.h>\n', language, standard)
    said += ''.join(compile_text(f'#include <{header}>\n', language, standard, '-DAPR_INSIDE') for header in headers)
    assert not said, said


def test_c11():
    compile_all('c', 'c11')


def test_cpp17():
    if compile_text('int number;\n', 'c++', 'c++17'):
        return 'the compiler does not know C++'
    compile_all('c++', 'c++17')


def test_beside_apache():
    folder = pathlib.Path(subprocess.run(['pkg-config', '--variable=includedir', 'apr-1'], capture_output=True, text=True)
                          .stdout.strip() or '/usr/include/apr-1.0')
    theirs = ''.join(f'#include <{path.name}>\n' for path in sorted(folder.glob('apr*.h')))
    if not theirs:
        return 'there are no headers of Apache\'s apr: apt-get install libapr1-dev'
    # apr.h wants to know that files can be large, as its pkg-config file says.
    flags = ['-isystem', str(folder), '-D_GNU_SOURCE', '-D_LARGEFILE64_SOURCE']
    ours = '#include <aprender/aprender.h>\n'
    for text in (ours + theirs, theirs + ours):
        said = compile_text(text, 'c', 'gnu11', *flags)
        assert not said, said


sources = pathlib.Path(sys.argv[1]).resolve()
compiler = sys.argv[2:]
harness.run([test_c11, test_cpp17, test_beside_apache])
