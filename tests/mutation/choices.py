# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes one text of a C file that holds all its changes, of which one is chosen when a program runs.

A change becomes a choice between the expression around it and the changed one. An expression with the changes 7 and 8
becomes

    ((mutation < 0 ? (NOTES) : (void) 0), mutation < 7 || mutation > 8 ? (a < b) : mutation == 7 ? (a <= b) : (a > b))

where the notes say which of the changed expressions have another value there (chosen.c keeps them). What calls a
function that may do something is not computed twice, and always counts as another value.
"""

import re

import mutants

HEAD = '''extern int mutation;
extern void mutation_note (int number, int differs);
#line 1
'''
ASSIGNMENTS = {'=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>='}
ASSIGNMENT = r'(?<= )(?:<<|>>|[-+*/%&|^])?=(?=\s)'
STATEMENTS = ('if', 'while', 'for', 'switch')
STOPS = {*STATEMENTS, 'return', 'else', 'do', 'case', ',', ';', ':', '?', '{', '}', '(', '[', ')', ']'}
TOKEN = re.compile(ASSIGNMENT + r'|&&|\|\||\b(?:return|if|while|for|switch|else|do|case)\b|[][(){},;:?]')
BEFORE = re.compile(r'(?:\s|/\*.*?\*/)*', re.DOTALL)
# What only computes a value.
PURE = {'ABS', 'CLAMP', 'G_N_ELEMENTS', 'MAX', 'MIN', 'ceil', 'fabs', 'floor', 'fmax', 'fmin', 'g_bit_storage', 'ilogb',
        'isfinite', 'isinf', 'isnan', 'ldexp', 'log2', 'mpz_cmp', 'mpz_cmp_ui', 'mpz_cmpabs', 'mpz_sgn', 'mpz_sizeinbase',
        'mpz_tstbit', 'scalbn', 'sizeof', 'sqrt', 'strlen'}
CALL = re.compile(r'(\w+) ?\(')
EFFECT = re.compile(r'\+\+|--|"|' + ASSIGNMENT)
DIVISION = re.compile(r' [/%]\s')


def is_directive(text, position):
    line = text.rfind('\n', 0, position) + 1
    while text[:line].endswith('\\\n'):
        line = text.rfind('\n', 0, line - 1) + 1
    return text.startswith('#', line)


def find_end(text, position, stops):
    depth = 0
    for found in TOKEN.finditer(text, position):
        if depth == 0 and found[0] in stops and found[0] not in '([{':
            return found
        depth += (found[0] in '([{') - (found[0] in ')]}')
    return None


def find_start(text, position, stops):
    depth = 0
    for found in reversed(list(TOKEN.finditer(text, 0, position))):
        if depth == 0 and found[0] in STATEMENTS:
            after = mutants.close(text, text.index('(', found.start())) + 1
            return after if after <= position else found.end()
        if depth == 0 and found[0] in stops and found[0] not in ')]':
            return None if found[0] == 'case' else found.end()
        depth += (found[0] in ')]') - (found[0] in '([')
    return None


def find_region(source, text, mutant):
    """Where the smallest expression around a change begins and ends, or None where there is none."""
    if is_directive(text, mutant.start):
        return None
    changed = source[mutant.start:mutant.end]
    if changed.endswith(')'):
        # A whole condition, or a whole call.
        return mutant.start, mutant.end
    stops = STOPS | (set() if changed in ('&&', '||') else {'&&', '||'}) | (set() if changed in ASSIGNMENTS else ASSIGNMENTS)
    end = find_end(text, mutant.end, stops)
    if end is not None and end[0] in ASSIGNMENTS:
        stops -= ASSIGNMENTS
        end = find_end(text, mutant.end, stops)
    start = find_start(text, mutant.start, stops)
    if start is None or end is None:
        return None
    return BEFORE.match(source, start).end(), max(mutant.end, start + len(source[start:end.start()].rstrip()))


def is_pure(expression):
    return not EFFECT.search(expression) and all(found[1] in PURE for found in CALL.finditer(expression))


def write_region(source, region, choices, inner):
    """Returns the expression as a choice between its changes; @choices are numbers, one after the other, and changes."""
    start, end = region
    plain = source[start:end]
    chain = notes = ''
    for number, mutant in choices:
        changed = source[start:mutant.start] + mutant.replacement + source[mutant.end:end]
        changed = changed if changed.strip() else '(void) 0'
        # A division by what was 1 may end the program, and so may what “&&” or “||” guard.
        is_known = (is_pure(plain + changed) and mutant.replacement not in ('&&', '||') and
                    not (DIVISION.search(changed) and '(1 - 1)' in changed))
        differs = f'({changed}) != ({plain})' if is_known else '1'
        notes += f'mutation_note ({number}, {differs}), '
        chain += f'mutation == {number} ? ({changed}) : '
    first, last = choices[0][0], choices[-1][0]
    chain = f'{chain[:chain.rindex(f"mutation == {last} ?")]}({changed})'
    return (f'((mutation < 0 ? ({notes}(void) 0) : (void) 0), '
            f'mutation < {first} || mutation > {last} ? ({inner}) : {chain})')


def write(source, changes, first):
    """Writes the changes of a source into one text; returns it and, by number, those that can be chosen in it."""
    text = mutants.hide(source)
    regions = {}
    for mutant in changes:
        region = find_region(source, text, mutant)
        if region is not None and not any(a < region[0] < b < region[1] or region[0] < a < region[1] < b for a, b in regions):
            regions.setdefault(region, []).append(mutant)
    numbered = {}
    choices = {}
    for region in sorted(regions):
        choices[region] = list(enumerate(regions[region], first + len(numbered)))
        numbered.update(choices[region])

    def write_range(begin, end, outside):
        result = ''
        # Of those that begin together the longest comes first.
        for region in sorted(choices, key=lambda region: (region[0], -region[1])):
            if region != outside and begin <= region[0] and region[1] <= end:
                inner = write_range(*region, region)
                result += source[begin:region[0]] + write_region(source, region, choices[region], inner)
                begin = region[1]
        return result + source[begin:end]

    return HEAD + write_range(0, len(source), None), numbered
