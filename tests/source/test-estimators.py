#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An estimator of one's own takes at most 20 lines of code, as the guide says: those of the class, without the program.

In C they are what stands between the braces of fit and predict; the rest is what GObject asks of any class.

Usage: test-estimators.py FOLDER_OF_EXAMPLES
"""

import pathlib
import re
import sys

MOST = 20
CLASSES = {
    'estimator.py': r'^class \w+.*?(?=^\w)',
    'estimator.js': r'^const \w+ = GObject\.registerClass.*?^\}\);',
    'estimator.vala': r'^class .*?^\}',
    'estimator.c': r'^example_mean_(?:fit|predict) \(.*?^\{\n(.*?)^\}',
}


def count_lines(text):
    """The lines that hold code, without documentation."""
    text = re.sub(r'"""(?:.*?)"""|/\*.*?\*/', '', text, flags=re.DOTALL)
    return sum(bool(line.strip()) and not line.strip().startswith('//') for line in text.splitlines())


folder = pathlib.Path(sys.argv[1])
assert count_lines('a\n\n  b // c\n// d\n/* e\n */') == 2
print(f'1..{len(CLASSES)}')
status = 0
for number, (name, pattern) in enumerate(CLASSES.items(), 1):
    parts = re.findall(pattern, (folder / name).read_text(encoding='utf-8'), re.MULTILINE | re.DOTALL)
    n = count_lines('\n'.join(parts))
    is_right = 5 < n <= MOST and len(parts) == (2 if name.endswith('.c') else 1)
    status |= not is_right
    print(f'{"ok" if is_right else "not ok"} {number} {name}\n# {n} lines of code in {len(parts)} parts')
sys.exit(status)
