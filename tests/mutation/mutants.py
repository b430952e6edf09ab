# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the changes of a C file that tests/mutation/run tries."""

import collections
import re

SWAPS = {
    '<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==',
    '+': '-', '-': '+', '*': '/', '/': '*', '%': '*',
    '&': '|', '|': '&', '^': '&', '<<': '>>', '>>': '<<',
    '&&': '||', '||': '&&',
    '+=': '-=', '-=': '+=', '|=': '&=', '&=': '|=', '^=': '&=',
    '++': '--', '--': '++',
    'TRUE': 'FALSE', 'FALSE': 'TRUE',
    'MIN': 'MAX', 'MAX': 'MIN',
}

# A binary operator has spaces on both sides, which tells it from a pointer, an address or a sign.
BINARY = re.compile(r'(?<= )(<=?|>=?|[=!]=|[-+*/%&|^]=?|<<|>>|&&|\|\|)(?=\s)(?!\n\w)')
STEP = re.compile(r'\+\+|--')
WORD = re.compile(r'\b(TRUE|FALSE|MIN|MAX)\b(?! *\w)')
NUMBER = re.compile(r'(?<![\w.])(0x[0-9a-f]+|[0-9]+)u?(?![\w.])')
# More room would do as well,
DECLARED_SIZE = re.compile(r'\b(?!return\b)\w+ \*?\w+\[(?=[0-9]+\])|\bg_new0? \([^;\n]* (?=1\))'
                           r'|\w->max_\w+ = MAX \([0-9]+, (?=2 )')
# as would another size to begin with,
FIRST_SIZE = re.compile(r'\w->max_\w+ = MAX \((?=[0-9])')
# and any negative number says that there is nothing, as -1 does.
NOTHING = re.compile(r'((?<=[^=!<>]= )|(?<=return )|(?<=, ))-(?=1\b)')
# What a number is a bound of: a comparison, or the smaller or larger of two.
COMPARISONS = ('<', '<=', '>', '>=', '==', '!=', 'MIN', 'MAX')
BEFORE_BOUND = re.compile(r'( (<=?|>=?|[=!]=)\s+[-(]*|\b(MIN|MAX) \([^()]*)$')
AFTER_BOUND = re.compile(r'\)*\s+(<=?|>=?|[=!]=)\s')
NEGATION = re.compile(r'!(?=[\w(*])')
CONDITION = re.compile(r'\b(if|while) (?=\()')
CALL = re.compile(r'(?<=[;{})\x01])\s+(?=(?!if\b|for\b|while\b|switch\b|return\b|sizeof\b|va_|g_auto|g_return|G_)[a-z_]\w* \()')
CALL_AFTER_ELSE = re.compile(r'(?<=\belse)\s+(?=(?!if\b|for\b|while\b|return\b)[a-z_]\w* \()')
HIDDEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\])*\'', re.DOTALL)
CHARACTER = re.compile(r"'(?:\\.[0-9a-f]*|[^'\\])'")

# A caller's mistake is not a test's business, nor is what only debugging prints.
PASSED_OVER = re.compile(r'#\s*(include|pragma|if|endif|else)|\b(g_return_if_fail|g_return_val_if_fail|g_debug|G_GNUC_PRINTF)\b'
                         # With Linux a mutex of zeros is a valid one, and owns nothing.
                         r'|\bg_(mutex|cond)_(init|clear) ')


class Mutant:
    def __init__(self, path, source, start, end, replacement):
        self.path = path
        self.original = source
        self.start = start
        self.end = end
        self.replacement = replacement
        self.text = source[:start] + replacement + source[end:]
        self.line = source.count('\n', 0, start) + 1
        begin = source.rfind('\n', 0, start) + 1
        stop = source.find('\n', end)
        self.before = ' '.join(source[begin:stop].split())
        self.after = ' '.join((source[begin:start] + replacement + source[end:stop]).split())

        hidden = hide(source)
        # Which one of those with the same lines it is.
        self.nth = 1
        self.is_bound = source[start:end] in COMPARISONS or NUMBER.match(source, start, end) is not None and (
            BEFORE_BOUND.search(hidden, begin, start) is not None or AFTER_BOUND.match(hidden, end) is not None)

    def key(self):
        """Names the change for the list of survivors, also when lines have come or gone above it."""
        nth = f'  ({self.nth})' if self.nth > 1 else ''
        return f'{self.path.rsplit("/", 1)[-1]}: {self.before}  =>  {self.after}{nth}'

    def describe(self):
        return f'{self.path}:{self.line}: {self.before}  =>  {self.after}'


def hide(source):
    """Blanks comments, strings and characters, so that no operator is found in them."""
    return HIDDEN.sub(lambda found: re.sub(r'[^\n]', '\x01', found[0]), source)


def close(text, start):
    """Where the parenthesis at @start is closed."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == '(') - (text[i] == ')')
        if depth == 0:
            return i
    return len(text)


def is_negated_otherwise(condition):
    """Whether another change of a condition negates it: it is one comparison for equality, or begins with a “!”."""
    if any(found[0] in ('&&', '||') for found in BINARY.finditer(condition)) or '?' in condition:
        return False
    if condition[1] == '!':
        return True
    equal = [found.start() for found in BINARY.finditer(condition) if found[0] in ('==', '!=')]
    return len(equal) == 1 and condition.count('(', 0, equal[0]) - condition.count(')', 0, equal[0]) == 1


def find(source):
    """Yields each change as start, end, replacement."""
    text = hide(source)
    for pattern in BINARY, STEP, WORD:
        for found in pattern.finditer(text):
            if found[0] in SWAPS:
                yield found.start(), found.end(), SWAPS[found[0]]
    changes = {found.end(): [' - 1'] for pattern in (DECLARED_SIZE, NOTHING) for found in pattern.finditer(text)}
    changes.update({found.end(): [] for found in FIRST_SIZE.finditer(text)})
    for found in NUMBER.finditer(text):
        for change in changes.get(found.start(), [' + 1', ' - 1']):
            yield found.start(), found.end(), f'({found[0]}{change})'
    for found in HIDDEN.finditer(source):
        if CHARACTER.fullmatch(found[0]):
            yield found.start(), found.end(), f'({found[0]} + 1)'
    for found in NEGATION.finditer(text):
        yield found.start(), found.end(), ''
    for found in CONDITION.finditer(text):
        end = close(text, found.end())
        if not is_negated_otherwise(text[found.end():end + 1]):
            yield found.end(), end + 1, f'(!{source[found.end():end + 1]})'
    for pattern in CALL, CALL_AFTER_ELSE:
        for found in pattern.finditer(text):
            end = close(text, text.index('(', found.end()))
            if text[end + 1:end + 2] == ';':
                yield found.end(), end + 1, ''


def make(root, path):
    with open(f'{root}/{path}', encoding='utf-8') as file:
        source = file.read()
    lines = source.split('\n')
    result = []
    counts = collections.Counter()
    for start, end, replacement in sorted(find(source)):
        mutant = Mutant(path, source, start, end, replacement)
        if not PASSED_OVER.search(lines[mutant.line - 1]):
            counts[mutant.key()] += 1
            mutant.nth = counts[mutant.key()]
            result.append(mutant)
    return result
