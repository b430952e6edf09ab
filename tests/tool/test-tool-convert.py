#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`aprender convert` beside numpy, which reads and writes the same files."""

import errno
import json
import os
import pathlib
import resource
import struct
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import harness  # noqa: E402

try:
    import numpy
except ImportError:
    print('1..0 # SKIP there is no numpy')
    sys.exit(0)

TOOL = os.environ['APR_TOOL']
DTYPES = ['|b1', '|u1', '|i1', '<i2', '<u2', '<f2', '<i4', '<u4', '<f4', '<c8', '<i8', '<u8', '<f8']


def run(*arguments):
    return subprocess.run([TOOL, 'convert', *map(str, arguments)], capture_output=True, encoding='utf-8', check=False)


def convert(*arguments):
    result = run(*arguments)
    assert result.returncode == 0 and result.stdout == result.stderr == '', result


def fails(message, *arguments):
    result = run(*arguments)
    assert result.returncode == 1 and message in result.stderr, result


def make(dtype, shape=(2, 3)):
    return numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape).astype(dtype)


def test_npy_of_each_dtype(folder):
    for dtype, shape in [(dtype, (2, 3)) for dtype in DTYPES] + [('<f8', ()), ('<f4', (0, 4)), ('|u1', (5,))]:
        array = make(dtype, shape)
        numpy.save(folder / 'a.npy', array)
        convert(folder / 'a.npy', folder / 'a.safetensors')
        convert(folder / 'a.safetensors', folder / 'b.npy')
        assert (folder / 'a.npy').read_bytes() == (folder / 'b.npy').read_bytes(), dtype


def test_byte_order_and_fortran_order(folder):
    for array in [make('>f8'), make('>i2'), make('>c8'), numpy.asfortranarray(make('<f4', (3, 4, 5))),
                  numpy.asfortranarray(make('>u4', (4, 2)))]:
        numpy.save(folder / 'a.npy', array)
        convert(folder / 'a.npy', folder / 'b.npy')
        found = numpy.load(folder / 'b.npy')
        assert found.dtype == array.dtype.newbyteorder('<') and found.flags.c_contiguous and (found == array).all()


def test_npz(folder):
    arrays = {'x': make('<f8'), 'größe/2': make('<f4', (4,)), 'n': make('<i8', ())}
    for save in [numpy.savez, numpy.savez_compressed]:
        save(folder / 'a.npz', **arrays)
        convert(folder / 'a.npz', folder / 'a.safetensors')
        convert(folder / 'a.safetensors', folder / 'b.npz')
        found = numpy.load(folder / 'b.npz')
        assert sorted(found) == sorted(arrays), list(found)
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype and (found[name] == array).all()
    convert(folder / 'a.npz', folder / 'x.npy', '--tensor', 'x')
    assert (numpy.load(folder / 'x.npy') == arrays['x']).all()
    fails('a.npz: there is no tensor “y”', folder / 'a.npz', folder / 'x.npy', '--tensor', 'y')
    fails('choose one by --tensor', folder / 'a.npz', folder / 'x.npy')
    first = (folder / 'b.npz').read_bytes()
    convert(folder / 'a.safetensors', folder / 'b.npz')
    assert (folder / 'b.npz').read_bytes() == first


def test_dtype(folder):
    values = numpy.array([0.1, 1e-8, 65504, 1 / 3])
    numpy.savez(folder / 'a.npz', x=values, n=numpy.array([2**53 + 1]))
    for name, dtype in [('f16', '<f2'), ('f32', '<f4')]:
        convert(folder / 'a.npz', folder / 'b.npz', '--dtype', name)
        found = numpy.load(folder / 'b.npz')
        assert found['x'].dtype == dtype and (found['x'] == values.astype(dtype)).all()
        assert found['n'].dtype == '<i8' and found['n'][0] == 2**53 + 1
    convert(folder / 'a.npz', folder / 'b.safetensors', '--dtype', 'bf16')
    fails('numpy has no dtype BF16: of BF16, --dtype f32 makes', folder / 'b.safetensors', folder / 'b.npz')


def test_metadata(folder):
    header = b'{"__metadata__":{"dtype":"kept","a":"b"},"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'
    header += b' ' * (-len(header) % 8)
    (folder / 'a.safetensors').write_bytes(struct.pack('<Q', len(header)) + header + b'x')
    convert(folder / 'a.safetensors', folder / 'b.safetensors')
    assert b'"dtype":"kept"' in (folder / 'b.safetensors').read_bytes()


def write_safetensors(path, header, data):
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack('<Q', len(text)) + text + data)


def read_metadata(path):
    contents = path.read_bytes()
    return json.loads(contents[8:8 + struct.unpack('<Q', contents[:8])[0]])['__metadata__']


def test_rounded_model(folder):
    """A model that is rounded once more is not correctly rounded; whatever else a file says of it stays."""
    said = {'aprender.model': 'AprLinearRegression', 'aprender.correctly_rounded': 'true', 'aprender.dtype': 'F64'}
    for metadata in [said, {'aprender.correctly_rounded': 'true'}, {'aprender.model': 'AprLinearRegression'}]:
        write_safetensors(folder / 'a.safetensors', {
            '__metadata__': metadata, 'coefficients': {'dtype': 'F64', 'shape': [1], 'data_offsets': [0, 8]},
        }, struct.pack('<d', 0.1))
        for dtype in ['bf16', 'f64', None]:
            convert(folder / 'a.safetensors', folder / 'b.safetensors', *(['--dtype', dtype] if dtype else []))
            changes = {'aprender.correctly_rounded': 'false'} if dtype == 'bf16' and metadata == said else {}
            assert read_metadata(folder / 'b.safetensors') == {**metadata, **changes}, (metadata, dtype)


def npy(header, data=b'', version=b'\x01\x00'):
    return b'\x93NUMPY' + version + struct.pack('<H', len(header)) + header + data


def test_hostile_npy(folder):
    good = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }"
    cases = {
        b'': 'the beginning has 10 bytes, but the file ends after 0',
        b'not numpy at all': 'it does not begin as one',
        npy(good, b'1234567'): 'the array has 8 bytes, but the file ends after 7',
        npy(good.replace(b'1,', b'1000000000000,'), b'x' * 5 * 2**20): (
            'the array has 8000000000000 bytes, but the file ends after 5242880'),
        npy(good, b'123456789'): 'bytes follow the array',
        npy(good, b'12345678', b'\x04\x00'): 'it does not begin as one',
        npy(good)[:30]: 'the header has 57 bytes, but the file ends after 20',
        b'\x93NUMPY\x02\x00\xff\xff\xff\xff': 'more than 1 MiB',
        npy(good + b'{}'): 'text follows',
        npy(b"{'descr': '<f8', 'shape': (1,)}"): 'lacks one of',
        npy(b"{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}"): 'another member',
        npy(b"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}"): 'structures',
        npy(b"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"): 'the dtype “|O” is none',
        npy(b"{'descr': '<f8', 'fortran_order': 1, 'shape': (1,)}"): 'no truth value',
        npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}"): 'whole numbers',
        npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551615,)}"): 'too large',
        npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 8)}"): 'no memory',
        npy(b"{'descr': '<f8', 'fortran_order': False, 'shape': (" + b'1,' * 65 + b')}'): 'more than 64 sizes',
    }
    for contents, message in cases.items():
        (folder / 'a.npy').write_bytes(contents)
        fails(message, folder / 'a.npy', folder / 'out.safetensors')
        assert not (folder / 'out.safetensors').exists()
    (folder / 'a.npz').write_bytes(b'PK\x03\x04 and no more')
    fails('a.npz: ', folder / 'a.npz', folder / 'out.safetensors')
    (folder / 'folder.npz').mkdir()
    fails('folder.npz: Is a directory', folder / 'folder.npz', folder / 'out.safetensors')
    fails('nothing.npz: No such file or directory', folder / 'nothing.npz', folder / 'out.safetensors')


def test_full(folder):
    """What cannot be written is named, with the reason: a limit on files stands for a full disk."""
    numpy.savez(folder / 'a.npz', x=numpy.zeros(100000))
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limit[1]))
    try:
        result = run(folder / 'a.npz', folder / 'b.npz')
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert result.returncode == 1 and f'b.npz: {os.strerror(errno.EFBIG)}\n' in result.stderr, result
    assert not (folder / 'b.npz').exists()


def test_usage(folder):
    for arguments, message in [(('a.txt', 'b.npy'), 'a.txt ends with none of'),
                               (('a.npy', 'b.safetensors.index.json'), 'can be read, but not written'),
                               ((folder / 'a.npy', folder / 'a.npy'), 'must not be the one that is read')]:
        (folder / 'a.npy').write_bytes(b'')
        result = run(*arguments)
        assert result.returncode == 2 and message in result.stderr, result


harness.run([test_npy_of_each_dtype, test_byte_order_and_fortran_order, test_npz, test_dtype, test_metadata,
             test_rounded_model, test_hostile_npy, test_full, test_usage], with_folder=True)
