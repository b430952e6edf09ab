# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a dtype and a shape need, against the bytes that are there."""

from .recipes import accept, entry, file, header, one, reject

# The dtypes in the reference's order, with the bits of an element.
BITS = {
    'BOOL': 8, 'F4': 4, 'F6_E2M3': 6, 'F6_E3M2': 6, 'U8': 8, 'I8': 8, 'F8_E5M2': 8, 'F8_E4M3': 8,
    'F8_E8M0': 8,
    'F8_E4M3FNUZ': 8, 'F8_E5M2FNUZ': 8, 'I16': 16, 'U16': 16, 'F16': 16, 'BF16': 16, 'I32': 32, 'U32': 32,
    'F32': 32,
    'C64': 64, 'F64': 64, 'I64': 64, 'U64': 64,
}


def label(dtype):
    return dtype.lower().replace('_', '-')


def sized(dtype, shape, n_bytes):
    return one(dtype, shape, f'[0,{n_bytes}]', n_bytes)


def every_dtype():
    for dtype, bits in BITS.items():
        yield accept(f'size-{label(dtype)}', f'eight elements of {bits} bits', sized(dtype, '[2,4]', bits))
        yield reject(f'size-{label(dtype)}-short', 'size-mismatch', f'but {dtype} [2, 4] needs {bits}',
                     'one byte too few',
                     sized(dtype, '[2,4]', bits - 1))
        yield reject(f'size-{label(dtype)}-long', 'size-mismatch', f'but {dtype} [2, 4] needs {bits}',
                     'one byte too many',
                     sized(dtype, '[2,4]', bits + 1))
        if bits % 8 == 0:
            yield accept(f'size-{label(dtype)}-scalar', 'a shape of no dimensions is one element',
                         sized(dtype, '[]', bits // 8))
        else:
            yield reject(f'size-{label(dtype)}-scalar', 'misaligned', f'{dtype} [] takes {bits} bits',
                         'less than a byte',
                         sized(dtype, '[]', 1))
        yield accept(f'size-{label(dtype)}-none', 'no element takes no byte', sized(dtype, '[3,0]', 0))


def overflow(name, message, reason, dtype, shape, offsets='[0,0]', tail=0):
    return reject('overflow-' + name, 'overflow', message, reason, one(dtype, shape, offsets, tail))


def all_dtypes():
    members, end = [], 0
    for dtype, bits in reversed(BITS.items()):
        members.append(f'"{label(dtype)}":' + entry(dtype, '[8]', f'[{end},{end + bits}]'))
        end += bits
    return file(header(*members), end)


CASES = [
    *every_dtype(),
    accept('dtypes-all', 'a tensor of each dtype, as the reference orders them', all_dtypes()),
    accept('f4-pairs', 'two elements of four bits are a byte', sized('F4', '[1,2]', 1)),
    reject('f4-odd', 'misaligned', 'F4 [3] takes 12 bits', 'half a byte', sized('F4', '[3]', 2)),
    reject('f4-odd-rounded-down', 'misaligned', 'F4 [3] takes 12 bits', 'half a byte', sized('F4', '[3]', 1)),
    reject('f4-odd-rows', 'misaligned', 'F4 [1, 3] takes 12 bits', 'half a byte', sized('F4', '[1,3]', 2)),
    reject('f4-bytes-as-shape', 'size-mismatch', 'F4 [1, 2] needs 1', 'the shape counts elements, not bytes',
           sized('F4', '[1,2]', 2)),
    reject('f6-3', 'misaligned', 'F6_E3M2 [3] takes 18 bits', 'two bits too many',
           sized('F6_E3M2', '[3]', 3)),
    reject('f6-2', 'misaligned', 'F6_E2M3 [2] takes 12 bits', 'half a byte', sized('F6_E2M3', '[2]', 2)),
    accept('f6-4', 'four elements of six bits are three bytes', sized('F6_E2M3', '[4]', 3)),
    reject('f6-as-bytes', 'size-mismatch', 'F6_E2M3 [4] needs 3', 'a byte to an element',
           sized('F6_E2M3', '[4]', 4)),
    accept('dims-1', 'one dimension', sized('U8', '[6]', 6)),
    accept('dims-9', 'nine dimensions', sized('U8', '[1,1,2,1,1,3,1,1,1]', 6)),
    accept('dims-100', 'a hundred dimensions', sized('U8', '[' + ','.join(99 * ['1']) + ',6]', 6)),
    accept('dims-10000', 'ten thousand dimensions', sized('U8', '[' + ','.join(10000 * ['1']) + ']', 1)),
    reject('dims-10', 'size-mismatch', '… (10 dimensions)]', 'a long shape is cut in the message',
           sized('U8', '[1,1,1,1,1,1,1,1,1,2]', 1)),
    accept('zero-first', 'no rows', sized('F32', '[0,7]', 0)),
    accept('zero-last', 'no columns', sized('I32', '[2,0]', 0)),
    accept('zero-of-f4', 'no element of four bits', sized('F4', '[0,3]', 0)),
    accept('zero-then-max', 'a huge dimension of nothing', sized('U8', f'[0,{2**64 - 1}]', 0)),
    accept('zero-then-two-huge', 'the zero comes before it is too much', sized('U8', f'[0,{2**63},2]', 0)),
    accept('max-then-zero', 'the zero comes before the bits are counted', sized('U8', f'[{2**64 - 1},0]', 0)),
    accept('max-then-zero-u64', 'the same with 64 bits', sized('U64', f'[{2**64 - 1},0]', 0)),
    reject('zero-with-bytes', 'size-mismatch', 'U8 [0] needs 0', 'no element, but a byte',
           sized('U8', '[0]', 1)),
    reject('scalar-without-bytes', 'size-mismatch', 'F32 [] needs 4', 'a scalar is one element',
           sized('F32', '[]', 0)),
    reject('scalar-too-long', 'size-mismatch', 'F32 [] needs 4', 'a scalar is one element',
           sized('F32', '[]', 8)),
    reject('size-half', 'size-mismatch', '16 bytes at [0, 16), but F32 [2, 3] needs 24', 'not all rows',
           sized('F32', '[2,3]', 16)),
    reject('size-double', 'size-mismatch', '48 bytes at [0, 48), but F32 [2, 3] needs 24', 'the bytes of F64',
           sized('F32', '[2,3]', 48)),
    reject('size-nothing', 'size-mismatch', '0 bytes at [0, 0), but F32 [2] needs 8', 'no bytes at all',
           sized('F32', '[2]', 0)),
    reject('size-second', 'size-mismatch', '“v”: 3 bytes at [8, 11), but U8 [4] needs 4', 'the second tensor',
           file(f'{{"w":{entry()},"v":{entry("U8", "[4]", "[8,11]")}}}', 11)),
    overflow('2-to-63-2-0', '“w”: the size of U8 [9223372036854775808, 2, 0]',
             'too much before the zero comes', 'U8',
             f'[{2**63},2,0]'),
    overflow('2-to-32-squared', '[4294967296, 4294967296]', 'the product is zero when it wraps', 'F32',
             f'[{2**32},{2**32}]'),
    overflow('2-to-32-squared-u8', '[4294967296, 4294967296]', 'the same with a byte each', 'U8',
             f'[{2**32},{2**32}]'),
    overflow('wraps-to-16-bytes', '211106198978564', 'the product is four elements when it wraps', 'F32',
             '[4194305,4194305,211106198978564]', '[0,16]', 16),
    overflow('max-times-2', '[2, 18446744073709551615]', 'twice the greatest number', 'I32',
             f'[2,{2**64 - 1}]', '[0,16]', 16),
    overflow('max-less-1-times-2', '[2, 18446744073709551614]', 'the product does not fit', 'I32',
             '[2,18446744073709551614]',
             '[0,16]', 16),
    overflow('bits-of-i32', '[2, 9223372036854775807]', 'the elements fit, their bits do not', 'I32',
             '[2,9223372036854775807]',
             '[0,16]', 16),
    overflow('bits-of-u8', '[2305843009213693952]', 'the bytes fit, their bits do not', 'U8', f'[{2**61}]',
             f'[0,{2**61}]'),
    overflow('bits-wrap-to-0', '[2305843009213693952]', 'the bits are zero when they wrap', 'U8',
             f'[{2**61}]'),
    overflow('bits-of-u64-wrap-to-0', '[288230376151711744]', 'the bits are zero when they wrap', 'U64',
             f'[{2**58}]'),
    overflow('bits-of-f4-wrap-to-0', '[4611686018427387904]', 'the bits are zero when they wrap', 'F4',
             f'[{2**62}]'),
    overflow('bits-of-f6', '[3074457345618258603]', 'six bits each are just too much', 'F6_E2M3',
             f'[{2**64 // 6 + 1}]'),
    overflow('bits-wrap-to-8-bytes', '[2305843009213693960]',
             'the bits are those of eight bytes when they wrap', 'U8',
             f'[{2**61 + 8}]', '[0,8]', 8),
    overflow('signed', '[9223372036854775808, 2]', 'zero when it wraps', 'F32', f'[{2**63},2]'),
    overflow('many-dims', '(64 dimensions)', 'two to the sixty-fourth', 'U8',
             '[' + ','.join(64 * ['2']) + ']'),
    reject('greatest-u8', 'truncated',
           '“w”: it ends at byte 2305843009213693951 of the data, but there are only 0',
           'the greatest size that can be told', one('U8', f'[{2**61 - 1}]', f'[0,{2**61 - 1}]', 0)),
    reject('greatest-u64', 'truncated', '2305843009213693944', 'the greatest size of 64 bits each',
           one('U64', f'[{2**58 - 1}]', f'[0,{2**61 - 8}]', 0)),
    reject('greatest-f4', 'truncated', '2305843009213693951', 'the greatest size of four bits each',
           one('F4', f'[{2**62 - 2}]', f'[0,{2**61 - 1}]', 0)),
    reject('odd-max-f4', 'overflow', '18446744073709551615', 'odd and too much',
           one('F4', f'[{2**64 - 1}]', '[0,8]', 8)),
]
