#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""`aprender convert` beside numpy, which reads and writes the same files."""

import errno
import json
import math
import os
import pathlib
import re
import resource
import struct
import subprocess
import sys
import unicodedata
import warnings
import zipfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import harness  # noqa: E402

try:
    import numpy
except ImportError:
    print('1..0 # SKIP there is no numpy')
    sys.exit(0)

TOOL = os.environ['APR_TOOL']
# A sanitizer ends a program that asks for too much memory, unless it is told not to.
os.environ['ASAN_OPTIONS'] = os.environ.get('ASAN_OPTIONS', '') + ':allocator_may_return_null=1'
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


U8_HEADER = b"{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }"


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
    fails('out.npz: No such file or directory', folder / 'nothing.npz', folder / 'none' / 'out.npz')


def write_names(path, names):
    write_safetensors(path, {name: {'dtype': 'U8', 'shape': [1], 'data_offsets': [i, i + 1]}
                             for i, name in enumerate(names)}, bytes(i % 256 for i in range(len(names))))


def read_names(path):
    contents = path.read_bytes()
    return sorted(json.loads(contents[8:8 + struct.unpack('<Q', contents[:8])[0]]))


def test_names(folder):
    """Names are written and read as they are, byte for byte."""
    letters = [chr(c) for c in [*range(0x41, 0x5b), *range(0x61, 0x7b)]]
    names = ['', '/', '\u00e9', '\uac00', '\u00c5', 'a/b', '../x', '/abs', 'x/', 'x', 'd/../e', '.', '..', 'a.npy', '\x1b', 'a\nb',
             '\u0915\u093c', '\ufb01', '\U0001f600', '\U0001d157\U0001d165']
    names += [name for letter in letters for mark in range(0x300, 0x345)
              if unicodedata.is_normalized('NFC', name := letter + chr(mark))]
    write_names(folder / 'a.safetensors', names)
    convert(folder / 'a.safetensors', folder / 'b.npz')
    with zipfile.ZipFile(folder / 'b.npz') as archive:
        assert archive.testzip() is None
        assert sorted(archive.namelist()) == sorted(name + '.npy' for name in names)
    convert(folder / 'b.npz', folder / 'c.safetensors')
    assert read_names(folder / 'c.safetensors') == sorted(names)
    found = numpy.load(folder / 'b.npz')
    for i, name in enumerate(names):
        if name != 'a.npy':
            assert found[name].tolist() == [i % 256], name


def test_names_that_change(folder):
    """Names that would be read as others are not written, and none of two that become one is lost."""
    for name, other, reason in [('e\u0301', '\u00e9', 'NFC'), ('\u1100\u1161', '\uac00', 'NFC'), ('\u212b', '\u00c5', 'NFC'),
                                ('\U0001d15e', '', 'NFC'), ('a\\b', 'a/b', '/ for \\'), ('c:\\x', 'c:/x', '/ for \\')]:
        write_names(folder / 'a.safetensors', [other, name])
        before = sorted(folder.iterdir())
        fails(f'b.npz: the tensor “{name}” cannot have its name in .npz: it ', folder / 'a.safetensors', folder / 'b.npz')
        fails(reason, folder / 'a.safetensors', folder / 'b.npz')
        assert sorted(folder.iterdir()) == before
    numpy.save(folder / 'a.npy', numpy.zeros(2))
    for name in ['\udcf0', 'ab\udcf0']:
        for output in ['b.npz', 'b.safetensors']:
            fails('is not UTF-8', folder / 'a.npy', folder / output, '--tensor', name)
    (folder / 'pipe.npz').symlink_to('/dev/stdout')
    result = run(folder / 'a.safetensors', folder / 'pipe.npz')
    assert result.returncode == 1 and result.stdout == '', result
    for name, other in [('e\u0301', '\u00e9'), ('\u1100\u1161', '\uac00'), ('a\\b', 'a/b'), ('x', 'x')]:
        with zipfile.ZipFile(folder / 'd.npz', 'w') as archive, warnings.catch_warnings():
            warnings.simplefilter('ignore')
            for i in [name, other]:
                archive.writestr(zipfile.ZipInfo(i + '.npy'), npy(U8_HEADER, b'x'))
        for output in ['new.npz', 'new.safetensors']:
            fails(f'd.npz: two arrays in it are called “{other}”', folder / 'd.npz', folder / output)
            fails(f'd.npz: two arrays in it are called “{other}”', folder / 'd.npz', folder / output, '--tensor', other)


def test_long_names(folder):
    for name in ['x' * 65531, 'é' * 32765]:
        write_names(folder / 'a.safetensors', [name, 'b'])
        convert(folder / 'a.safetensors', folder / 'b.npz')
        assert sorted(numpy.load(folder / 'b.npz')) == sorted([name, 'b'])
        convert(folder / 'b.npz', folder / 'c.safetensors')
        assert read_names(folder / 'c.safetensors') == sorted([name, 'b'])
        (folder / 'b.npz').unlink()
    for name in ['x' * 65532, 'é' * 40000]:
        write_names(folder / 'a.safetensors', [name, 'b'])
        before = sorted(folder.iterdir())
        fails(f'b.npz: the tensor “{name[:40]}…” cannot have its name in .npz: it has {len(name.encode())} bytes, more than '
              '65531', folder / 'a.safetensors', folder / 'b.npz')
        assert sorted(folder.iterdir()) == before


def test_many_arrays(folder):
    """From 65,535 files on, the directory of a zip file needs Zip64."""
    for n in [65534, 65535]:
        names = [str(i) for i in range(n)]
        write_names(folder / 'a.safetensors', names)
        convert(folder / 'a.safetensors', folder / 'b.npz')
        with zipfile.ZipFile(folder / 'b.npz') as archive:
            assert archive.namelist() == [name + '.npy' for name in sorted(names)]
    convert(folder / 'b.npz', folder / 'c.safetensors')
    assert read_names(folder / 'c.safetensors') == sorted(names)


def test_zip_files(folder):
    """Archives as others write them, and broken ones."""
    numpy.savez(folder / 'none.npz')
    convert(folder / 'none.npz', folder / 'out.safetensors')
    assert read_names(folder / 'out.safetensors') == []
    convert(folder / 'out.safetensors', folder / 'b.npz')
    assert (folder / 'b.npz').read_bytes() == (folder / 'none.npz').read_bytes()

    for method in [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]:
        with zipfile.ZipFile(folder / 'good.npz', 'w', method) as archive:
            archive.writestr('x.npy', npy(U8_HEADER, b'x'))
            archive.comment = b'of no use'
        convert(folder / 'good.npz', folder / 'out.npy')
        assert numpy.load(folder / 'out.npy').tolist() == [120]

    with zipfile.ZipFile(folder / 'stored.npz', 'w') as archive:
        archive.writestr('x.npy', npy(U8_HEADER, b'x'))
    good = (folder / 'stored.npz').read_bytes()
    start, end = good.index(b'PK\x01\x02'), good.index(b'PK\x05\x06')
    with zipfile.ZipFile(folder / 'text.npz', 'w') as archive:
        archive.writestr('x.npy', npy(U8_HEADER, b'x'))
        archive.writestr('read me.txt', b'')
    cases = {
        (folder / 'text.npz').read_bytes(): 'the file “read me.txt” in it has no name that ends with .npy',
        good.replace(b'x.npy', b'\xff.npy'): 'file number 1 in it has no name in UTF-8',
        good.replace(b'x.npy', b'\0.npy'): 'the file “” in it has no name',
        good.replace(b'x.npy', b'x.np_'): 'the file “x.np_” in it has no name',
        good[:6] + b'\1' + good[7:]: '“x”: ',
        good[:8] + b'\x7f' + good[9:start + 10] + b'\x7f' + good[start + 11:]: '“x”: ',
        good[:start + 16] + b'1234' + good[start + 20:]: '“x”: ',
        good[:start + 24] + b'\x7f' + good[start + 25:]: '“x”: ',
        good[:start - 1] + b'y' + good[start:]: '“x”: ZIP bad CRC',
        good[:start + 42] + b'\xff\xff\xff\x7f' + good[start + 46:]: '',
        good[:end + 12] + b'\xff\xff\xff\x7f' + good[end + 16:]: '',
        good[:end + 12] + b'\x20' + good[end + 13:]: 'its directory cannot be read',
        good[:-1]: '',
        b'': '',
        b'PK\x05\x06': '',
    }
    for contents, message in cases.items():
        (folder / 'a.npz').write_bytes(contents)
        before = sorted(folder.iterdir())
        for output in ['new.safetensors', 'new.npz']:
            fails(f'a.npz: {message}', folder / 'a.npz', folder / output)
        assert sorted(folder.iterdir()) == before


def test_broken_off(folder):
    """What a pipe has when a later tensor cannot be written is no whole archive."""
    write_safetensors(folder / 'a.safetensors', {'a': {'dtype': 'U8', 'shape': [20000], 'data_offsets': [0, 20000]},
                                                 'b': {'dtype': 'BF16', 'shape': [1], 'data_offsets': [20000, 20002]}}, bytes(20002))
    (folder / 'pipe.npz').symlink_to('/dev/stdout')
    result = subprocess.run([TOOL, 'convert', folder / 'a.safetensors', folder / 'pipe.npz'], capture_output=True, check=False)
    assert result.returncode == 1 and b'pipe.npz: the tensor \xe2\x80\x9cb\xe2\x80\x9d: numpy has no' in result.stderr, result
    assert result.stdout.startswith(b'PK') and b'PK\5\6' not in result.stdout


def test_large_array(folder):
    """libarchive takes at most 2 GiB at once."""
    size = 2**31 + 4096
    write_safetensors(folder / 'a.safetensors', {'x': {'dtype': 'U8', 'shape': [size], 'data_offsets': [0, size]}}, b'')
    with open(folder / 'a.safetensors', 'r+b') as file:
        try:
            file.truncate(file.seek(0, os.SEEK_END) + size)
        except OSError:
            return 'files cannot be so large here'
    (folder / 'pipe.npz').symlink_to('/dev/stdout')
    with subprocess.Popen([TOOL, 'convert', folder / 'a.safetensors', folder / 'pipe.npz'], stdout=subprocess.PIPE) as process:
        n = sum(iter(lambda: len(process.stdout.read(1 << 20)), 0))
    assert process.returncode == 0 and size < n < size + 4096, n
    return None


def test_one_array(folder):
    """What is not asked for is not read."""
    with zipfile.ZipFile(folder / 'a.npz', 'w') as archive:
        archive.writestr('broken.npy', b'no array')
        archive.writestr('x.npy', npy(U8_HEADER, b'x'))
    convert(folder / 'a.npz', folder / 'x.npy', '--tensor', 'x')
    assert numpy.load(folder / 'x.npy').tolist() == [120]
    fails('a.npz: “broken”: not a file of numpy', folder / 'a.npz', folder / 'x.npz')


def test_rounded_one_at_a_time(folder):
    """What all rounded tensors take together is never held in memory."""
    size, n = 4 << 20, 16
    # The pages of the input count too; without them, all rounded tensors have 4 n times the size. Sanitizers take memory
    # of their own.
    most = math.inf if re.search(rb'__[at]san_init', pathlib.Path(TOOL).read_bytes()) else (n + 2 * n) * size
    write_safetensors(folder / 'a.safetensors', {
        str(i): {'dtype': 'BF16', 'shape': [size // 2], 'data_offsets': [i * size, (i + 1) * size]} for i in range(n)
    }, b'')
    with open(folder / 'a.safetensors', 'r+b') as file:
        file.truncate(file.seek(0, os.SEEK_END) + n * size)
    for output in ['b.safetensors', 'b.npz']:
        pid = os.posix_spawn(TOOL, [TOOL, 'convert', folder / 'a.safetensors', folder / output, '--dtype', 'f64'], os.environ)
        _, status, usage = os.wait4(pid, 0)
        assert status == 0 and usage.ru_maxrss << 10 < most, usage
        assert os.path.getsize(folder / output) > 4 * n * size
        (folder / output).unlink()


def test_no_memory(folder):
    """A tensor for which there is no memory is named, with its file."""
    if pathlib.Path('/proc/sys/vm/overcommit_memory').read_text(encoding='ascii').strip() == '1':
        return 'the system promises any memory'
    write_safetensors(folder / 'a.safetensors', {
        'small': {'dtype': 'BF16', 'shape': [1], 'data_offsets': [0, 2]},
        'large': {'dtype': 'BF16', 'shape': [1 << 40], 'data_offsets': [2, 2 + (2 << 40)]}}, b'')
    with open(folder / 'a.safetensors', 'r+b') as file:
        try:
            file.truncate(file.seek(0, os.SEEK_END) + 2 + (2 << 40))
        except OSError:
            return 'files cannot be so large here'
    before = sorted(folder.iterdir())
    for output in ['b.safetensors', 'b.npz']:
        result = run(folder / 'a.safetensors', folder / output, '--dtype', 'f64')
        if 'Cannot allocate memory' in result.stderr:
            return 'no such file can be mapped here'
        assert result.returncode == 1 and 'a.safetensors: the tensor “large”: There is no memory for ' in result.stderr, result
        assert sorted(folder.iterdir()) == before
    return None


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
             test_rounded_model, test_hostile_npy, test_names, test_names_that_change, test_long_names, test_many_arrays,
             test_zip_files, test_broken_off, test_large_array, test_one_array, test_rounded_one_at_a_time, test_no_memory,
             test_full, test_usage], with_folder=True)
