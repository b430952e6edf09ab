# SPDX-License-Identifier: LGPL-2.1-or-later
"""Good files, changed at random: their bytes, and what their headers say.

A header is held as a tree that keeps what a dictionary loses: an object is a `Members`, a list of pairs, so
that a key can be there twice; a number is a `Number`, the text as it was written.
"""

import json
import re


class Members(list):
    """The members of an object: lists of a key and a value."""


class Number(str):
    """A number, or anything else that stands there without quotes."""


WORDS = {True: Number('true'), False: Number('false'), None: Number('null')}


def as_tree(value):
    if isinstance(value, Members):
        return Members([[key, as_tree(element)] for key, element in value])
    if isinstance(value, list):
        return [as_tree(element) for element in value]
    return value if isinstance(value, str) else WORDS[value]


def parse(text):
    return as_tree(json.loads(text, object_pairs_hook=Members, parse_int=Number, parse_float=Number,
                              parse_constant=Number))


def split(content):
    """The header and the data of a good file."""
    length = int.from_bytes(content[:8], 'little')
    return content[8:8 + length], content[8 + length:]


def join(header, data):
    return len(header).to_bytes(8, 'little') + header + data


NUMBERS = ['0', '1', '2', '3', '4', '7', '8', '9', '16', '255', '256', '65536', '4294967295', '4294967296',
           '2147483648', '9223372036854775807', '9223372036854775808', '18446744073709551615',
           '18446744073709551616', '2305843009213693951', '2305843009213693952', '-0', '-1', '00', '01',
           '1.0', '1e0',
           '0e0', '1E2', '-1.5e-3', '1e308', '1e309', '1.7976931348623157e308', '1.7976931348623159e308',
           '1e999',
           '0e999', '1e-999', '.5', '5.', '+1', '0x1', '1e', '1e+', '-', 400 * '9', 400 * '9' + 'e-200',
           '0.' + 400 * '9', 'true', 'false', 'null', 'NaN', 'Infinity', '-Infinity', 'nul', 'True', '']
DTYPES = ['BOOL', 'F4', 'F6_E2M3', 'F6_E3M2', 'U8', 'I8', 'F8_E5M2', 'F8_E4M3', 'F8_E8M0', 'F8_E4M3FNUZ',
          'F8_E5M2FNUZ', 'I16', 'U16', 'F16', 'BF16', 'I32', 'U32', 'F32', 'C64', 'F64', 'I64', 'U64']
STRINGS = ['', 'a', 'w', 'dtype', 'shape', 'data_offsets', '__metadata__', 'x', 'F33', 'f32', 'F3', 'F322',
           'F32 ',
           'F32\0', '\0', 'a\0b', 'a\0', '\x01', '\x1f', '\x7f', '\x80', '"', '\\', '/', '\n', 'é', 'e\u0301',
           '\u2028',
           '\ufeff', '\uffff', '\U0001f980', '\U0010ffff', 300 * 'n', *DTYPES]
ESCAPES = {'"': '\\"', '\\': '\\\\', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t'}
BAD_ESCAPES = ['\\q', '\\x41', '\\u12', '\\u00g0', '\\ud800', '\\udc00', '\\ud83e\\u0041', '\\', '\\U0041',
               '\n', '\0',
               '\x1f', '\\ud83e\\ud83e']
SPACES = [' ', '\n', '\r', '\t', '  ', ' \t\r\n']
BAD_SPACES = ['\f', '\v', '\0', '\u00a0', '\u2028', '\ufeff', '/**/', '//\n', '#', ',', ':', ';', '{', '}',
              '[', ']', '"',
              '\\', '0', 'null']

# Bytes that mean something in a header.
CHARACTERS = b'{}[]",:\\0123456789-.eE \t\r\n\0\x80\xff/nutfa'


class Mutator:
    """Makes one changed file after the other from a list of good ones; `random` decides."""

    def __init__(self, random, seeds):
        self.random = random
        self.seeds = seeds
        self.trees = [parse(split(seed)[0]) for seed in seeds]

    # Bytes.

    def change_bytes(self):
        random = self.random
        content = bytearray(random.choice(self.seeds))
        n_header = int.from_bytes(content[:8], 'little')
        for _ in range(random.choice((1, 1, 1, 1, 2))):
            # Most of them in the header, where it matters.
            end = min(8 + n_header, len(content)) if random.random() < 0.7 else len(content)
            place = random.randrange(0 if random.random() < 0.1 else 8, end) if end > 8 else 0
            self.change_at(content, place)
        if random.random() < 0.05:
            del content[random.randrange(len(content) + 1):]
        return bytes(content)

    def change_at(self, content, place):
        random = self.random
        kind = random.randrange(8)
        if not content:
            return
        if kind == 0:
            content[place] ^= 1 << random.randrange(8)
        elif kind == 1:
            content[place] = random.choice(CHARACTERS)
        elif kind == 2:
            content[place] = random.randrange(256)
        elif kind in (3, 7):
            n_header = int.from_bytes(content[:8], 'little')
            content.insert(place, random.choice(b' \t\r\n' if kind == 7 else CHARACTERS))
            content[:8] = (n_header + 1).to_bytes(9, 'little')[:8] if place >= 8 else content[:8]
        elif kind == 4:
            n_header = int.from_bytes(content[:8], 'little')
            del content[place]
            if place >= 8 and n_header > 0:
                content[:8] = (n_header - 1).to_bytes(8, 'little')
        elif kind == 5:
            length = random.randrange(1, 20)
            source = random.randrange(len(content))
            piece = content[source:source + length]
            content[place:place + len(piece)] = piece
        elif chr(content[place]).isalnum():
            content[place] = random.choice(b'0123456789abcdefFU')

    # What the header says.

    def change_header(self):
        random = self.random
        choice = random.randrange(len(self.seeds))
        tree = self.copy(self.trees[choice])
        data = split(self.seeds[choice])[1]
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            tree = self.change_tree(tree)
        header = self.write(tree).encode('utf-8', 'surrogatepass')
        if random.random() < 0.1:
            data = data[:-1] if random.random() < 0.5 else data + b'\0'
        content = join(header, data)
        if random.random() < 0.02:
            content = (len(header) + random.choice((-1, 1))).to_bytes(9, 'little',
                                                                      signed=True)[:8] + content[8:]
        return content

    def copy(self, tree):
        if isinstance(tree, Members):
            return Members([[key, self.copy(value)] for key, value in tree])
        return [self.copy(value) for value in tree] if isinstance(tree, list) else tree

    def places(self, tree, found):
        """Every list that holds a value, with the index of the value in it."""
        for i, value in enumerate(tree):
            holder, index = (value, 1) if isinstance(tree, Members) else (tree, i)
            found.append((holder, index))
            if isinstance(holder[index], list):
                self.places(holder[index], found)
        return found

    def objects(self, tree, found):
        if isinstance(tree, Members):
            found.append(tree)
            for _, value in tree:
                self.objects(value, found)
        elif isinstance(tree, list):
            for value in tree:
                self.objects(value, found)
        return found

    def change_tree(self, tree):
        random = self.random
        objects = [members for members in self.objects(tree, []) if members]
        places = self.places(tree, [])
        kind = random.randrange(10)
        if not objects or not places or kind == 0:
            return self.change_whole(tree)
        members = random.choice(objects)
        holder, index = random.choice(places)
        if kind == 1:
            random.choice(members)[0] = self.key(tree)
        elif kind == 2:
            del members[random.randrange(len(members))]
        elif kind == 3:
            members.insert(random.randrange(len(members) + 1), self.copy(random.choice(members)))
        elif kind == 4:
            random.shuffle(members)
        elif kind == 5:
            members.insert(random.randrange(len(members) + 1), [self.key(tree), self.value(3)])
        elif kind == 6:
            holder[index] = self.value(3)
        elif kind == 7:
            holder[index] = self.change_value(holder[index])
        elif kind == 8:
            other, i = random.choice(places)
            holder[index], other[i] = self.copy(other[i]), self.copy(holder[index])
        else:
            numbers = [place for place in places if isinstance(place[0][place[1]], Number)]
            if numbers:
                holder, index = random.choice(numbers)
                holder[index] = self.change_value(holder[index])
        return tree

    def change_whole(self, tree):
        kind = self.random.randrange(6)
        if kind == 0:
            return [tree]
        if kind == 1:
            return self.value(2)
        if kind == 2 and isinstance(tree, Members):
            tree.append(['__metadata__', self.random.choice((Number('null'), Members(),
                                                             Members([['k', 'v']])))])
        return tree

    def change_value(self, value):
        random = self.random
        if isinstance(value, Number):
            if re.fullmatch('[0-9]+', value) and random.random() < 0.6:
                return Number(max(0, int(value) + random.choice((-8, -4, -1, 1, 4, 8))))
            return Number(random.choice(NUMBERS))
        if isinstance(value, str):
            return random.choice(STRINGS)
        if isinstance(value, Members):
            # An entry as an array, and a dtype as a map, are what the reference reads and we do not.
            return [self.copy(member[1]) for member in value] if random.random() < 0.5 else Members([['a',
                                                                                                      value]])
        if random.random() < 0.5:
            return [value]
        return value + [Number(random.choice(NUMBERS[:12]))] if random.random() < 0.5 else value[:-1]

    def key(self, tree):
        keys = [member[0] for members in self.objects(tree, []) for member in members]
        return self.random.choice(keys if self.random.random() < 0.3 and keys else STRINGS)

    def value(self, depth):
        random = self.random
        kind = random.randrange(8 if depth > 0 else 4)
        if kind < 2:
            return Number(random.choice(NUMBERS))
        if kind < 4:
            return random.choice(STRINGS)
        if kind == 4:
            return [self.value(depth - 1) for _ in range(random.randrange(4))]
        if kind == 5:
            return Members([[random.choice(STRINGS),
                             self.value(depth - 1)] for _ in range(random.randrange(4))])
        if kind == 6:
            return Members([[random.choice(DTYPES),
                             random.choice((Number('null'), Number('null'), [], Members()))]])
        return self.nested(random.choice((3, 100, 122, 123, 124, 125, 126, 127, 128)))

    def nested(self, n_levels):
        value = [] if self.random.random() < 0.5 else Number('0')
        for _ in range(n_levels):
            value = [value] if self.random.random() < 0.7 else Members([['', value]])
        return value

    # How it is written.

    def write(self, tree):
        random = self.random
        self.p_space = random.choice((0, 0, 0, 0.02, 0.3))
        self.p_escape = random.choice((0, 0, 0, 0.02, 0.3))
        self.p_bad = random.choice((0, 0, 0, 0, 0.01))
        out = []
        self.put(tree, out)
        return ''.join(out) + ' ' * random.choice((0, 0, 1, 7))

    def put_token(self, token, out):
        random = self.random
        if self.p_bad and random.random() < self.p_bad:
            kind = random.randrange(3)
            if kind == 0:
                return
            out.append(token if kind == 1 else random.choice(BAD_SPACES))
        if self.p_space and random.random() < self.p_space:
            out.append(random.choice(SPACES))
        out.append(token)

    def put_string(self, text, out):
        random = self.random
        pieces = ['"']
        for c in text:
            if c in ESCAPES or c < ' ' or (self.p_escape and random.random() < self.p_escape):
                pieces.append(self.escape(c))
            else:
                pieces.append(c)
        if self.p_bad and random.random() < self.p_bad:
            pieces.insert(random.randrange(1, len(pieces) + 1), random.choice(BAD_ESCAPES))
        self.put_token(''.join(pieces) + '"', out)

    def escape(self, c):
        if c in ESCAPES and self.random.random() < 0.5:
            return ESCAPES[c]
        if c == '/' and self.random.random() < 0.5:
            return '\\/'
        units = c.encode('utf-16-be', 'surrogatepass')
        form = self.random.choice(('\\u%04x', '\\u%04X'))
        return ''.join(form % int.from_bytes(units[i:i + 2], 'big') for i in range(0, len(units), 2))

    def put(self, value, out):
        if isinstance(value, Number):
            self.put_token(value, out)
        elif isinstance(value, str):
            self.put_string(value, out)
        else:
            is_object = isinstance(value, Members)
            self.put_token('{' if is_object else '[', out)
            for i, element in enumerate(value):
                if i > 0:
                    self.put_token(',', out)
                if is_object:
                    self.put_string(element[0], out)
                    self.put_token(':', out)
                    element = element[1]
                self.put(element, out)
            self.put_token('}' if is_object else ']', out)
