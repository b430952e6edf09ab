#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What check.sh says of a project of one test: that it passed, also after the checkout was moved, that it failed in one
of several ways, or was not built.

Usage: test-check.py SOURCES
"""

import os
import pathlib
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import harness  # noqa: E402


def check(project):
    # Meson tells the tests of one project about itself, which is nothing to the other's.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(('MESON', 'CI', 'CC', 'LD_'))}
    run = subprocess.run([project / 'check.sh', 'gcc', 'valgrind'], capture_output=True, text=True, env=environment)
    return run.returncode, run.stdout


def write_program(path):
    path.write_text('#!/bin/sh\n', 'utf-8')
    path.chmod(0o755)


def make_project(folder, options=''):
    project = folder / 'project'
    (project / 'debian').mkdir(parents=True)
    (project / 'tests').mkdir()
    for name in ['check.sh', 'tests/summarise']:
        shutil.copy(sources / name, project / name)
    write_program(project / 'debian' / 'install-build-dependencies')
    write_program(project / 'passes')
    (project / 'meson.build').write_text(
        f"project('one')\ntest('one', files('passes'), {options})\nadd_test_setup('valgrind')\n", 'utf-8')
    return project


def test_moved(folder):
    project = make_project(folder)
    status, output = check(project)
    assert status == 0 and output.endswith('\n2 passed, 0 failed, 0 skipped\n'), output
    project = project.rename(folder / 'moved')
    status, output = check(project)
    assert status == 0 and output.endswith('\n2 passed, 0 failed, 0 skipped\n'), output


# It is found by its exit status alone: each of its tests passed, such as where memory leaks.
def test_ends_badly(folder):
    project = make_project(folder, "protocol: 'tap'")
    (project / 'passes').write_text('#!/bin/sh\necho 1..1\necho ok 1\nexit 1\n', 'utf-8')
    status, output = check(project)
    failures = 'failed: _build-gcc: one (ERROR)\n' * 2
    assert status == 1 and output.endswith(f'\n{failures}2 passed, 2 failed, 0 skipped\n'), output


def test_too_slow(folder):
    project = make_project(folder, 'timeout: 1')
    (project / 'passes').write_text('#!/bin/sh\nexec sleep 60\n', 'utf-8')
    status, output = check(project)
    assert status == 1 and 'failed: _build-gcc: one (TIMEOUT)\n' in output, output


# A failure is counted once.
def test_fails(folder):
    for options, ends in ('', 'exit 1'), ("protocol: 'tap'", 'echo 1..1; echo not ok 1'):
        project = make_project(folder, options)
        (project / 'passes').write_text(f'#!/bin/sh\n{ends}\n', 'utf-8')
        status, output = check(project)
        assert status == 1 and output.endswith('\n0 passed, 2 failed, 0 skipped\n'), output
        shutil.rmtree(project)


def test_not_built(folder):
    project = make_project(folder)
    (project / 'passes').unlink()
    status, output = check(project)
    assert status == 1 and output.endswith('\nfailed: _build-gcc: no tests ran\n0 passed, 1 failed, 0 skipped\n'), output
    reason = output.split('\n_build-gcc was not built:\n')[1]
    assert 'passes' in reason, output


sources = pathlib.Path(sys.argv[1])
harness.run([test_moved, test_ends_badly, test_too_slow, test_fails, test_not_built], with_folder=True)
