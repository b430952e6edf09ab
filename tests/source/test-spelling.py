#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the spelling of the pages and of the documentation of the interface: British English, as hunspell knows it,
and words.txt, which has a word of the project a line.

Usage: test-spelling.py SOURCE
"""

import pathlib
import re
import subprocess
import sys

source = pathlib.Path(sys.argv[1])
words = pathlib.Path(__file__).with_name('words.txt')
# What is code, a link's target or a symbol.
CODE = re.compile(r'^```.*?^```$|\|\[.*?\]\||`[^`]*`|\]\([^)]*\)|<[^>]*>|\[\w+@[^\]]*\]|https?:\S+|[%@#][\w:.-]+|'
                  r'\b[\w.]+ ?\(\)|\w*[\d_]\w*|\w*Apr[A-Z]\w*', re.MULTILINE | re.DOTALL)


def read_pages():
    for path in sorted([*source.glob('*.md'), *source.glob('docs/*.md')]):
        yield path, path.read_text(encoding='utf-8')


def read_comments():
    for path in sorted(source.glob('aprender/**/*.[ch]')):
        comments = re.findall(r'/\*\*(.*?)\*/', path.read_text(encoding='utf-8'), re.DOTALL)
        # The first line names the symbol; the others begin with a star.
        yield path, '\n'.join(re.sub(r'^ \* ?', '', comment.strip().partition('\n')[2], flags=re.MULTILINE)
                              for comment in comments)


def find_mistakes(texts):
    """The unknown words with the file of each; a word that ends in 's is known without it. All texts are asked about at
    once: hunspell takes longer to begin than to read them."""
    texts = [(path, re.sub(r"'s\b", '', CODE.sub(' ', text))) for path, text in texts]
    result = subprocess.run(['hunspell', '-d', 'en_GB', '-i', 'utf-8', '-l'], input='\n'.join(text for _, text in texts),
                            stdout=subprocess.PIPE, encoding='utf-8', check=True)
    unknown = sorted(set(result.stdout.split()) - set(words.read_text(encoding='utf-8').split()))
    return [f'{path.relative_to(source)}: {word}' for path, text in texts for word in unknown if word in text]


print('1..2')
for number, (name, texts) in enumerate([('pages', read_pages()), ('documentation', read_comments())], 1):
    mistakes = find_mistakes(texts)
    print(f'{"not ok" if mistakes else "ok"} {number} {name}')
    print('\n'.join(f'# {mistake}' for mistake in mistakes), end='\n' if mistakes else '')
