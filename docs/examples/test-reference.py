# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether what the comments of the reference show is what a program does: each of their pieces of C is in reference.c,
which runs.

Usage: test-reference.py SOURCE PROGRAM

SOURCE is the project's folder, PROGRAM reference.c, built.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

source, program = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
examples = source / 'docs' / 'examples'


def squeeze(text):
    """Text with one space where there is any, as lines may be wrapped elsewhere."""
    return ' '.join(re.sub(r'\(\s+', '(', text).split())


def list_paragraphs():
    """Each paragraph of C in a comment of the reference, with where it is."""
    for path in sorted((source / 'aprender').rglob('*.[ch]')):
        for comment in re.findall(r'/\*\*\n(.*?)\*/', path.read_text(encoding='utf-8'), re.DOTALL):
            for block in re.findall(r'```c\n(.*?)```', comment, re.DOTALL):
                text = re.sub(r'^ \* ?', '', block, flags=re.MULTILINE)
                for paragraph in text.strip().split('\n\n'):
                    yield path.name, squeeze(paragraph)


shown = list(list_paragraphs())
text = squeeze((examples / 'reference.c').read_text(encoding='utf-8'))
print('1..2')
missing = [(name, paragraph) for name, paragraph in shown if paragraph not in text]
print(f'{"not " if missing or not shown else ""}ok 1 comments')
for name, paragraph in missing:
    print(f'# {name} shows what is not in reference.c: {paragraph}')
with tempfile.TemporaryDirectory() as folder:
    shutil.copy(examples / 'rents.csv', folder)
    run = subprocess.run([program], cwd=folder, env=os.environ | {'G_DEBUG': 'fatal-criticals'},
                         stdout=subprocess.DEVNULL, check=False)
print(f'{"not " if run.returncode else ""}ok 2 program')
