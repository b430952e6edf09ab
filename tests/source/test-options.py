#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What Meson says of options that need each other: what is enabled is built, or the reason why not names both.

Usage: test-options.py SOURCES
"""

import os
import pathlib
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import harness  # noqa: E402

NEEDS = {'serve': ['tool'], 'npz': ['tool'], 'vapi': ['introspection'], 'pygobject': ['introspection'],
         'gjs': ['introspection'], 'app': ['plot'], 'plot': ['tool', 'app']}


def set_up(folder, *options):
    # Meson tells the tests of a project about it, which is nothing to another build.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(('MESON', 'LD_'))}
    run = subprocess.run(['meson', 'setup', folder, sources, '-Dtests=false', *options], capture_output=True, text=True,
                         env=environment, check=False)
    return run.returncode, run.stdout


def test_enabled(folder):
    for option, needed in NEEDS.items():
        status, output = set_up(folder / option, f'-D{option}=enabled', '--auto-features=disabled')
        error = [line for line in output.splitlines() if f'ERROR: Feature {option} cannot be enabled: ' in line]
        assert status == 1 and len(error) == 1 and all(name in error[0] for name in needed), output


def test_fuzzing(folder):
    status, output = set_up(folder / 'build', '-Dfuzzing=enabled', '--auto-features=disabled')
    assert status == 1 and 'ERROR: Feature fuzzing cannot be enabled: it needs the option tests' in output, output


def test_left_to_meson(folder):
    disabled = {f'-D{name}=disabled' for needed in NEEDS.values() for name in needed}
    status, output = set_up(folder / 'build', *sorted(disabled))
    assert status == 0, output


sources = pathlib.Path(sys.argv[1])
harness.run([test_enabled, test_fuzzing, test_left_to_meson], with_folder=True)
