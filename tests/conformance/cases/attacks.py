# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files that were used against readers, files that are two things at once, and files of known writers."""

from .recipes import T, accept, bytes_at, data, entry, file, header, metadata, one, reject


def padded(text, n_bytes, tail=8):
    """A file whose length of the header begins with the bytes by which another format is known."""
    return file(text.ljust(n_bytes), tail)


def hidden(tail):
    """A file whose one tensor is a file of another kind."""
    return file(f'{{"w":{entry("U8", f"[{len(tail)}]", f"[0,{len(tail)}]")}}}', tail)


ZIP = bytes.fromhex('504b0506') + bytes(18)

CASES = [
    reject('attack-shares-bytes-50', 'overlap', '[0, 160000)', 'a small file that asks for a lot of memory',
           file(header(*(f'"w{i}":{entry("F32", "[200,200]", "[0,160000]")}' for i in range(50))), 16)),
    reject('attack-shares-bytes-5000', 'overlap', '[0, 16)', 'five thousand tensors in sixteen bytes',
           file(header(*(f'"w{i}":{entry("F32", "[2,2]", "[0,16]")}' for i in range(5000))), 16)),
    reject('attack-length-patched', 'truncated', 'claims 1000 bytes', 'a length that leads out of the file',
           file('{}', 14, 1000)),
    reject('attack-shape-ignored', 'size-mismatch', '65536 bytes at [0, 65536), but F32 [32, 8] needs 1024',
           'readers that copy what the offsets say write behind the array',
           one('F32', '[32,8]', '[0,65536]', 65536)),
    reject('attack-offsets-ignored', 'size-mismatch', '4 bytes at [0, 4), but F32 [1000, 1000] needs 4000000',
           'readers that copy what the shape says read behind the file',
           one('F32', '[1000,1000]', '[0,4]', 4)),
    reject('attack-product-is-0', 'overflow', '[4294967296, 4294967296]',
           'readers that multiply without care skip all checks',
           one('U8', '[4294967296,4294967296]', '[0,0]', 0)),
    reject('attack-product-is-1', 'overflow', '[3, 12297829382473034411]', 'the product is one when it wraps',
           one('U8', '[3,12297829382473034411]', '[0,1]', 1)),
    reject('attack-product-is-negative', 'overflow', '[9223372036854775807, 3]',
           'the product is negative as a signed number',
           one('U8', '[9223372036854775807,3]', '[0,8]', 8)),
    reject('attack-32-bit-product', 'size-mismatch', 'F32 [65536, 65536] needs 17179869184',
           'the product is zero in 32 bits',
           one('F32', '[65536,65536]', '[0,0]', 0)),
    reject('attack-double-precision', 'size-mismatch', 'U8 [9007199254740993] needs 9007199254740993',
           'a double cannot hold the number', one('U8', '[9007199254740993]', '[0,9007199254740992]', 0)),
    reject('attack-data-after', 'trailing-data', 'but there are 50', 'something after the data',
           file('{"test":{"dtype":"I32","shape":[2,2],"data_offsets":[0,16]}}',
                bytes(16) + b'extra_bogus_data_for_polyglot_file')),
    reject('attack-zip-after', 'trailing-data', 'but there are 30', 'an archive after the data',
           file(f'{{"w":{T}}}', data(8) + ZIP)),
    reject('attack-zip-between', 'gap', '“b”: it begins at byte 26', 'an archive between tensors',
           file(f'{{"a":{entry("U8", "[4]", "[0,4]")},"b":{entry("U8", "[4]", "[26,30]")}}}',
                data(4) + ZIP + data(4))),
    reject('attack-header-in-padding', 'syntax', 'only spaces after the header',
           'a second header in the padding of the first',
           file('{}' + 14 * ' ' + f'{{"w":{T}}}', 8)),
    reject('attack-nul-then-header', 'syntax', '“\\u0000”', 'a second header behind a NUL',
           file(b'{}\0{"w":' + T.encode() + b'}', 8)),
    reject('attack-header-closed-early', 'syntax', 'only spaces after the header',
           'a header that ends, then goes on',
           file(f'{{"w":{T}}},"v":{T}}}', 8)),
    reject('attack-pickle', 'header-too-large', 'more than the limit', 'a pickle under another name',
           bytes.fromhex('80049519') + bytes(7) + b'cos\nsystem\n(S"true"\ntR.'),
    reject('polyglot-zip-magic', 'truncated', 'claims 67324752 bytes',
           'the length is the magic of an archive',
           file(f'{{"w":{T}}}', 8, 0x04034b50)),
    reject('polyglot-pdf-magic', 'header-too-large', 'begins with “%PDF', 'the length is the magic of a document',
           file(f'{{"w":{T}}}', 8, int.from_bytes(b'%PDF', 'little'))),
    reject('polyglot-elf-magic', 'header-too-large', '1179403647', 'the length is the magic of a program',
           file('{}', 0, int.from_bytes(b'\x7fELF', 'little'))),
    reject('polyglot-png-magic', 'header-too-large', '727905341920923785',
           'the length is the magic of a picture',
           b'\x89PNG\r\n\x1a\n' + b'{}'),
    reject('polyglot-html', 'header-too-large', 'begins with “<!DOCTYP”', 'a page under another name',
           b'<!DOCTYPE html><html></html>'),
    reject('polyglot-gguf', 'header-too-large', 'more than the limit', 'another format of weights',
           b'GGUF\3\0\0\0' + bytes(16)),
    reject('polyglot-numpy', 'header-too-large', 'more than the limit', 'another format of arrays',
           b'\x93NUMPY\1\0v\0' + bytes(16)),
    accept('polyglot-bmp-magic', 'a length that begins as a picture does is a length',
           padded(f'{{"w":{T}}}', 0x4d42)),
    accept('polyglot-exe-magic', 'a length that begins as a program does is a length',
           padded(f'{{"w":{T}}}', 0x5a4d)),
    accept('polyglot-script-magic', 'a length that begins as a script does is a length',
           padded(f'{{"w":{T}}}', 0x2123)),
    accept('polyglot-zip-in-tensor', 'bytes are bytes', hidden(ZIP)),
    accept('polyglot-safetensors-in-tensor', 'a file within a file', hidden(one())),
    accept('polyglot-html-in-metadata', 'a string is a string',
           metadata('{"x":"<script>alert(1)</script>"}')),
    accept('polyglot-format-string-in-name', 'a name is no format', file(f'{{"%s%n%x":{T}}}', 8)),
    reject('polyglot-format-string-in-message', 'size-mismatch', '“%s%n%x”', 'nor is it one in a message',
           file(f'{{"%s%n%x":{entry("F32", "[3]")}}}', 8)),
    reject('message-name-cut', 'size-mismatch', '(5000 bytes)', 'an enormous name is cut in the message',
           file(f'{{"{5000 * "n"}":{entry("F32", "[3]")}}}', 8)),
    reject('message-name-escaped', 'size-mismatch', '“\\u001b[31mred”',
           'a name cannot change the terminal\'s colours',
           file(f'{{"\\u001b[31mred":{entry("F32", "[3]")}}}', 8)),
    accept('reference-attn.0', 'as the reference writes it: 64 bytes without a space',
           padded('{"attn.0":{"dtype":"F32","shape":[1,2,3],"data_offsets":[0,24]}}', 64, 24)),
    accept('reference-attn0', 'as the reference writes it: 72 bytes with seven spaces',
           padded('{"attn0":{"dtype":"F32","shape":[1,1,2,3],"data_offsets":[0,24]}}', 72, 24)),
    accept('reference-f4', 'as the reference writes four bits',
           padded('{"attn.0":{"dtype":"F4","shape":[1,2],"data_offsets":[0,1]}}', 64, bytes(1))),
    accept('reference-framework', 'as the reference writes metadata alone',
           padded('{"__metadata__":{"framework":"pt"}}', 40, 0)),
    accept('reference-test', 'as the reference writes it',
           padded('{"test":{"dtype":"I32","shape":[2,2],"data_offsets":[0,16]}}', 64, 16)),
    accept('reference-test1', 'as the reference writes metadata and a tensor', padded(
        '{"__metadata__":{"framework":"pt"},"test1":{"dtype":"I32","shape":[2,2],"data_offsets":[0,16]}}', 96,
        16)),
    accept('reference-test1-test2', 'as the reference orders dtypes', padded(
        '{"test1":{"dtype":"I32","shape":[2,2],"data_offsets":[0,16]},'
        '"test2":{"dtype":"F16","shape":[2,2],"data_offsets":[16,24]}}',
        128, 24)),
    accept('reference-bf16', 'as the reference writes BF16', padded(
        '{"test":{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]}}', 64,
        bytes.fromhex('1040803f803f803f'))),
    accept('reference-c64', 'as the reference writes complex numbers', padded(
        '{"test":{"dtype":"C64","shape":[2,2],"data_offsets":[0,32]}}', 64,
        bytes(24) + bytes.fromhex('000080bf0000803f'))),
    accept('reference-test-unpadded', 'a header of sixty bytes', padded(
        '{"test":{"dtype":"I32","shape":[2,2],"data_offsets":[0,16]}}', 60, bytes(16))),
    accept('reference-scalar', 'a header of 56 bytes and a scalar', padded(
        '{"test":{"dtype":"I32","shape":[],"data_offsets":[0,4]}}', 56, bytes(4))),
    accept('reference-zero-size', 'a space in the offsets', padded(
        '{"test":{"dtype":"I32","shape":[2,0],"data_offsets":[0, 0]}}', 60, 0)),
    reject('reference-invalid-info', 'size-mismatch', 'I32 [2, 2] needs 16', 'offsets that are too close',
           padded('{"test":{"dtype":"I32","shape":[2,2],"data_offsets":[0, 4]}}', 60, 0)),
    accept('writer-mlx', 'MLX writes its fields in alphabetical order, its tensors in none, and no padding',
           file(
               '{"__metadata__":null,"a":{"data_offsets":[8,16],"dtype":"F32","shape":[2]},'
               '"b":{"data_offsets":[0,8],"dtype":"F32","shape":[2]}}', 16)),
    accept('writer-old', 'before 0.3 the reference ordered by name and did not align', bytes_at(
        ('a', 0, 3), ('b', 3, 11), tail=11)),
    accept('writer-pretty', 'a header that somebody has formatted', file(
        '{\n  "w": {\n    "dtype": "F32",\n    "shape": [\n      2\n    ],\n'
        '    "data_offsets": [\n      0,\n      8\n    ]\n  }\n}\n',
        8)),
]
