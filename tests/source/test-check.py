#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What check.sh says of a project of one test: that it passed, also after the checkout was moved, or was not built.

Usage: test-check.py SOURCES
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def check(project):
    # Meson tells the tests of one project about itself, which is nothing to the other's.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(('MESON', 'CI', 'CC', 'LD_'))}
    run = subprocess.run([project / 'check.sh', 'gcc', 'valgrind'], capture_output=True, text=True, env=environment)
    return run.returncode, run.stdout


def write_program(path):
    path.write_text('#!/bin/sh\n', 'utf-8')
    path.chmod(0o755)


def make_project(folder):
    project = folder / 'project'
    (project / 'debian').mkdir(parents=True)
    (project / 'tests').mkdir()
    for name in ['check.sh', 'tests/summarise']:
        shutil.copy(sources / name, project / name)
    write_program(project / 'debian' / 'install-build-dependencies')
    write_program(project / 'passes')
    (project / 'meson.build').write_text("project('one')\ntest('one', files('passes'))\nadd_test_setup('valgrind')\n", 'utf-8')
    return project


def test_moved(folder):
    project = make_project(folder)
    status, output = check(project)
    assert status == 0 and output.endswith('\n2 passed, 0 failed, 0 skipped\n'), output
    project = project.rename(folder / 'moved')
    status, output = check(project)
    assert status == 0 and output.endswith('\n2 passed, 0 failed, 0 skipped\n'), output


def test_not_built(folder):
    project = make_project(folder)
    (project / 'passes').unlink()
    status, output = check(project)
    assert status == 1 and output.endswith('\nfailed: _build-gcc: no tests ran\n0 passed, 1 failed, 0 skipped\n'), output
    reason = output.split('\n_build-gcc was not built:\n')[1]
    assert 'passes' in reason, output


sources = pathlib.Path(sys.argv[1])
tests = [test_moved, test_not_built]
print(f'1..{len(tests)}')
status = 0
for number, test in enumerate(tests, 1):
    try:
        with tempfile.TemporaryDirectory() as temporary:
            test(pathlib.Path(temporary))
        print(f'ok {number} {test.__name__}')
    except AssertionError as error:
        status = 1
        print(f'not ok {number} {test.__name__}')
        print(*[f'# {line}' for line in str(error).splitlines()], sep='\n')
sys.exit(status)
