# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command aprender of a package that pip has installed, also as `python3 -m aprender`."""

import os
import pathlib
import sys


def main() -> None:
    """Becomes the command, which is beside the library."""
    command = pathlib.Path(__file__).with_name('aprender')
    os.execv(command, ['aprender', *sys.argv[1:]])


if __name__ == '__main__':
    main()
