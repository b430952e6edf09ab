# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs functions as tests, and says in TAP what became of them."""

import pathlib
import sys
import tempfile
import traceback


def run(tests, with_folder=False, skip_on=()):
    """Runs the functions, each with a folder of its own where they take one, and ends the program.

    A test that returns a text, or raises an exception of the types in skip_on, was skipped for that reason.
    """
    print(f'1..{len(tests)}')
    status = 0
    for number, test in enumerate(tests, 1):
        name = test.__name__.replace('test_', '').replace('_', '-')
        try:
            if with_folder:
                with tempfile.TemporaryDirectory() as folder:
                    skip = test(pathlib.Path(folder))
            else:
                skip = test()
            print(f'ok {number} {name}' + (f' # SKIP {skip}' if skip else ''))
        except skip_on as error:
            print(f'ok {number} {name} # SKIP {error}')
        except Exception:  # pylint: disable=broad-except
            status = 1
            print(f'not ok {number} {name}')
            print('\n'.join(f'# {line}' for line in traceback.format_exc().splitlines()))
        sys.stdout.flush()
    sys.exit(status)
