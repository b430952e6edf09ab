# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the rows of the table are written with."""

import dataclasses

# The entry of most rows: eight bytes.
T = '{"dtype":"F32","shape":[2],"data_offsets":[0,8]}'


@dataclasses.dataclass(frozen=True)
class Case:
    """A file, and what has to be said about it.

    `verdict` is `accept`, `reject` (everybody does), or `stricter`: the reference accepts the file, but two
    programs may read it differently, so it should be refused. `error` is the nick of an AprSafetensorsError,
    and `message` a part of the error's message: the name or the number that offends.
    """
    name: str
    verdict: str
    error: str
    message: str
    reason: str
    content: bytes


def accept(name, reason, content):
    return Case(name, 'accept', '', '', reason, content)


def reject(name, error, message, reason, content):
    return Case(name, 'reject', error, message, reason, content)


def stricter(name, error, message, reason, content):
    return Case(name, 'stricter', error, message, reason, content)


def data(n_bytes):
    """Bytes that differ, so that a tensor which is read from the wrong place shows."""
    return bytes((7 * i + 1) % 256 for i in range(n_bytes))


def file(text, tail=0, claim=None):
    """A file: the header's length (or what `claim` says), the header, and the data (or their length)."""
    if isinstance(text, str):
        text = text.encode()
    length = len(text) if claim is None else claim
    return length.to_bytes(8, 'little') + text + (data(tail) if isinstance(tail, int) else tail)


def header(*members):
    return '{' + ','.join(members) + '}'


def colliding(number, n_bits):
    """One of many names that all have the same hash in g_str_hash."""
    return ''.join('aa' if number >> i & 1 else 'b@' for i in range(n_bits))


def entry(dtype='F32', shape='[2]', offsets='[0,8]', more=''):
    return f'{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}{more}}}'


def one(dtype='F32', shape='[2]', offsets='[0,8]', tail=8):
    """A file with the one tensor `w`."""
    return file(f'{{"w":{entry(dtype, shape, offsets)}}}', tail)


def fields(text, tail=8):
    """A file with the one tensor `w`, the fields of which are written out."""
    return file(f'{{"w":{{{text}}}}}', tail)


def ignored(value):
    """A file with the one tensor `w`, in which a field that nobody knows has this value."""
    if isinstance(value, str):
        value = value.encode()
    return file(b'{"w":{"x":' + value + b',' + T[1:].encode() + b'}', 8)


def bytes_at(*places, tail):
    """A file of U8 tensors: each place is a name, a begin, an end and, if they do not tell it, a length."""
    return file(header(*(
        f'"{name}":' + entry('U8', f'[{length[0] if length else end - begin}]', f'[{begin},{end}]')
        for name, begin, end, *length in places)), tail)


def metadata(text, tail=0):
    """A file with these metadata, and no tensor."""
    return file(b'{"__metadata__":' + (text if isinstance(text, bytes) else text.encode()) + b'}', tail)
