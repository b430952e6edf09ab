# SPDX-License-Identifier: LGPL-2.1-or-later
"""Asks the Python package safetensors about the same files, and compares.

    with-peer test-peer.py CORPUS VERDICTS DIFFERENCES

CORPUS is the folder that make-corpus has filled, VERDICTS the program that asks our reader, DIFFERENCES where
files go on which the two differ. APRENDER_MUTATIONS is how many changed files to make of each kind,
APRENDER_SEED the seed.
"""

import collections
import ctypes
import hashlib
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'bindings' / 'python' / 'tests'))

import gi  # noqa: E402
import safetensors  # noqa: E402
import tap  # noqa: E402

import mutations  # noqa: E402

gi.require_version('Apr', '1.0')
from gi.repository import Apr, GLib  # noqa: E402

N_MUTATIONS = int(os.environ.get('APRENDER_MUTATIONS', 25_000))
SEED = int(os.environ.get('APRENDER_SEED', 20_261_121))

# The documented cases in which we are stricter, by our error and what it says, each with a function that
# finds out from the header's tree whether it is true.
STRICTER = {
    'duplicate tensor': ('duplicate', 'there are two of this name', lambda tree: has_duplicate(tree)),
    'duplicate metadata key': ('duplicate', 'two metadata keys are “',
                               lambda tree: any(has_duplicate(value) for value in metadata_of(tree))),
    'NUL in a name': ('name', 'a tensor\'s name with a NUL: “',
                      lambda tree: any('\0' in key for key, _ in tree)),
    'NUL in a metadata key': ('name', 'a metadata key with a NUL: “',
                              lambda tree: any('\0' in key for value in metadata_of(tree) for key,
                                               _ in value)),
    'NUL in a metadata value': ('metadata', '” holds a NUL',
                                lambda tree: any('\0' in text for value in metadata_of(tree) for _,
                                                 text in value)),
    'entry as an array': ('field', '”: the entry is an array, not an object',
                          lambda tree: any(is_array(entry) for _, entry in tree)),
    'dtype as a map': ('field', '”: dtype is an object, not a string',
                       lambda tree: any(has_dtype_map(entry) for _, entry in tree)),
}


def has_duplicate(members):
    keys = [key for key, _ in members]
    return len(set(keys)) < len(keys)


def metadata_of(tree):
    return [value for key, value in tree if key == '__metadata__' and isinstance(value, mutations.Members)]


def is_array(value):
    return isinstance(value, list) and not isinstance(value, mutations.Members)


def has_dtype_map(entry):
    return isinstance(entry, mutations.Members) and any(
        key == 'dtype' and isinstance(value, mutations.Members) for key, value in entry)


class Ours:
    """Our reader, in a process of its own that reads many files."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, content):
        """Returns (None, contents) or (nick of the error, message)."""
        self.process.stdin.write(len(content).to_bytes(4, 'little') + content)
        self.process.stdin.flush()
        length = int.from_bytes(self.process.stdout.read(4), 'little')
        answer = self.process.stdout.read(length).decode()
        if self.process.poll() is not None or not answer:
            raise RuntimeError(f'{self.process.args[0]} has ended')
        verdict, _, rest = answer.partition('\n')
        return (None, rest) if verdict == 'accept' else (verdict, rest)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait()


class Theirs:
    """The package: what it says, in the same words as ours."""

    def __init__(self, folder):
        self.path = os.path.join(folder, 'file.safetensors')

    def ask(self, content):
        try:
            tensors = safetensors.deserialize(content)
        except safetensors.SafetensorError as error:
            return str(error), None
        lines = []
        for name, tensor in tensors:
            shape = ','.join(str(dim) for dim in tensor['shape'])
            digest = hashlib.sha256(tensor['data']).hexdigest()
            lines.append(f'tensor {name.encode().hex()} {tensor["dtype"]} [{shape}] {digest}\n')
        return None, lines

    def metadata(self, content):
        """Only a file has metadata there."""
        with open(self.path, 'wb') as file:
            file.write(content)
        with safetensors.safe_open(self.path, 'np') as file:
            return [f'metadata {key.encode().hex()} {value.encode().hex()}\n'
                    for key, value in (file.metadata() or {}).items()]


def stricter_class(content, nick, message):
    """Which of the documented cases it is that we refuse and they do not; None where it is none of them."""
    for name, (expected_nick, part, holds) in STRICTER.items():
        if nick == expected_nick and part in message:
            return name if holds(mutations.parse(mutations.split(content)[0])) else None
    return None


class PeerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.ours = Ours(VERDICTS)
        cls.theirs = Theirs(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        status = cls.ours.close()
        cls.folder.cleanup()
        if status != 0:
            raise RuntimeError(f'{VERDICTS} has ended with {status}')

    def save(self, content, text):
        """Keeps a file on which the two differ."""
        os.makedirs(DIFFERENCES, exist_ok=True)
        path = os.path.join(DIFFERENCES, f'{hashlib.sha256(content).hexdigest()[:16]}.safetensors')
        with open(path, 'wb') as file:
            file.write(content)
        return f'{path}: {text}'

    def compare(self, content):
        """Returns the kind of agreement, and a text if there is none."""
        nick, ours = self.ours.ask(content)
        refusal, theirs = self.theirs.ask(content)
        if nick is None and refusal is None:
            theirs = ''.join(sorted(theirs + self.theirs.metadata(content)))
            if ours == theirs:
                return 'both accept', None
            return None, self.save(content, f'it holds for us:\n{ours}and for them:\n{theirs}')
        if nick is None:
            return None, self.save(content, f'accepted by us, refused by them: {refusal}')
        if refusal is not None:
            return 'both refuse', None
        name = stricter_class(content, nick, ours)
        return (name, None) if name else (None,
                                          self.save(content,
                                                    f'refused by us, accepted by them: {nick}: {ours}'))


class Corpus(PeerTest):
    def test_corpus(self):
        expected = {'accept': 'both accept', 'reject': 'both refuse'}
        n_files = 0
        with open(os.path.join(CORPUS, 'index.tsv'), encoding='utf-8') as index:
            for line in index:
                name, verdict = line.split('\t')[:2]
                with open(os.path.join(CORPUS, 'files', name + '.safetensors'), 'rb') as file:
                    kind, text = self.compare(file.read())
                n_files += 1
                with self.subTest(name):
                    self.assertIsNone(text)
                    self.assertIn(kind, {expected[verdict]} if verdict in expected else set(STRICTER))
        self.assertGreaterEqual(n_files, 300)
        print(f'# {n_files} files of the corpus')


class Mutations(PeerTest):
    def seeds(self):
        """The small ones among the good files."""
        paths = sorted(pathlib.Path(CORPUS, 'files').glob('*.contents'))
        contents = [path.with_suffix('.safetensors').read_bytes() for path in paths]
        return [content for content in contents if 8 < len(content) < 2000]

    def check(self, change, n_classes):
        counts, differences = collections.Counter(), []
        for _ in range(N_MUTATIONS):
            kind, text = self.compare(change())
            counts[kind] += 1
            if text is not None:
                differences.append(text)
                if len(differences) == 20:
                    break
        print('# ' + ', '.join(f'{name}: {n}' for name, n in counts.most_common()))
        self.assertFalse(differences, '\n'.join(['they differ:'] + differences))
        # A test that makes only nonsense, or nothing but good files, would prove little.
        for kind in ('both accept', 'both refuse'):
            self.assertGreater(counts[kind], sum(counts.values()) // 50)
        if N_MUTATIONS >= 25_000:
            self.assertGreaterEqual(len(counts), 2 + n_classes)

    def test_bytes(self):
        self.check(mutations.Mutator(random.Random(SEED), self.seeds()).change_bytes, 0)

    def test_headers(self):
        self.check(mutations.Mutator(random.Random(SEED + 1), self.seeds()).change_header, len(STRICTER))


# The package's words for the dtypes that it can write, and the bytes of an element. It has none for six bits.
DTYPES = {
    'bool': ('BOOL', 1), 'uint8': ('U8', 1), 'int8': ('I8', 1), 'int16': ('I16', 2), 'uint16': ('U16', 2),
    'int32': ('I32', 4), 'uint32': ('U32', 4), 'int64': ('I64', 8), 'uint64': ('U64', 8),
    'float16': ('F16', 2),
    'bfloat16': ('BF16', 2), 'float32': ('F32', 4), 'float64': ('F64', 8), 'complex64': ('C64', 8),
    'float8_e4m3fn': ('F8_E4M3', 1), 'float8_e5m2': ('F8_E5M2', 1), 'float8_e8m0fnu': ('F8_E8M0', 1),
    'float8_e4m3fnuz': ('F8_E4M3FNUZ', 1), 'float8_e5m2fnuz': ('F8_E5M2FNUZ', 1),
    'float4_e2m1fn_x2': ('F4', 1),
}
CHARACTERS = [chr(c) for c in range(1, 0x100)] + 5 * list('._/"\\')
CHARACTERS += list('重み🦀\u2028\u2029\ufeff\ufffd\uffff\U0010ffff')


class Bytes(PeerTest):
    def name(self, source):
        kind = source.randrange(3)
        if kind == 0:
            return f'layers.{source.randrange(100)}.{source.choice(("weight", "bias", "Weight", "_w"))}'
        return ''.join(source.choice(CHARACTERS) for _ in range(source.randrange(kind * 6)))

    def tensors(self, source):
        """Names, each with the package's word for the dtype, the shape that it takes, and the bytes."""
        made = {}
        for _ in range(source.choice((0, 1, 1, 2, 3, 8, 30))):
            word = source.choice(list(DTYPES))
            least = 1 if word == 'float4_e2m1fn_x2' else 0
            shape = [source.choice((0, 1, 1, 2, 3, 5)) for _ in range(source.randrange(least, 5))]
            n_bytes = DTYPES[word][1]
            for dim in shape:
                n_bytes *= dim
            made[self.name(source)] = (word, shape, source.randbytes(n_bytes))
        made.pop('__metadata__', None)
        return made

    def write_theirs(self, tensors, metadata):
        buffers = {name: ctypes.create_string_buffer(data, max(1, len(data)))
                   for name, (_, _, data) in tensors.items()}
        specs = {name: safetensors.TensorSpec(dtype=word, shape=shape,
                                              data_ptr=ctypes.addressof(buffers[name]),
                                              data_len=len(data))
                 for name, (word, shape, data) in tensors.items()}
        return safetensors.serialize(specs, metadata)

    def write_ours(self, source, tensors, metadata):
        writer = Apr.SafetensorsWriter(portable=False)
        # In any order in: the order in the file is not ours to choose.
        for name in source.sample(list(tensors), len(tensors)):
            word, shape, data = tensors[name]
            # Two elements of four bits to a byte: the package is told of bytes and counts elements.
            shape = shape[:-1] + [2 * shape[-1]] if word == 'float4_e2m1fn_x2' else shape
            dtype = getattr(Apr.DType, DTYPES[word][0])
            writer.add_tensor(name, Apr.Tensor.new_from_bytes(dtype, shape, GLib.Bytes.new(data)))
        for key, value in (metadata or {}).items():
            writer.set_metadata(key, value)
        return bytes(writer.write_to_bytes().get_data())

    def test_bytes(self):
        source = random.Random(SEED + 2)
        seen = collections.Counter()
        for _ in range(1000):
            tensors = self.tensors(source)
            # What the package writes for no tensor but metadata is no JSON if the metadata are empty.
            metadata = None if source.random() < 0.5 else {self.name(source): self.name(source)}
            theirs = self.write_theirs(tensors, metadata)
            ours = self.write_ours(source, tensors, metadata)
            if ours != theirs:
                self.save(theirs, '')
                self.fail(self.save(ours, f'the bytes differ: {ours[:400]!r} is not {theirs[:400]!r}'))
            # Each reads the other's, and finds in it what was written.
            self.assertEqual(self.compare(theirs), ('both accept', None))
            reader = Apr.SafetensorsReader.new_from_bytes(GLib.Bytes.new(theirs))
            read = dict(safetensors.deserialize(ours))
            self.assertEqual(set(read), set(tensors))
            for name, (word, _, data) in tensors.items():
                self.assertEqual(bytes(read[name]['data']), data)
                self.assertEqual(bytes(reader.get_tensor(name).get_bytes().get_data() or b''), data)
                seen[word] += 1
            seen['metadata' if metadata else 'no metadata'] += 1
        self.assertEqual(set(seen), {*DTYPES, 'metadata', 'no metadata'})

    def test_every_dtype_is_there(self):
        # The list above is all that the package has, so that a new version which has more is noticed.
        with self.assertRaises(safetensors.SafetensorError) as context:
            safetensors.TensorSpec(dtype='none', shape=[], data_ptr=0, data_len=0)
        words = re.search('Supported dtypes: (.*)', str(context.exception)).group(1)
        self.assertEqual({word.strip() for word in words.split(',')}, set(DTYPES))


if __name__ == '__main__':
    CORPUS, VERDICTS, DIFFERENCES = sys.argv[1:4]
    del sys.argv[1:]
    print(f'# safetensors {safetensors.__version__}, seed {SEED}, 2 × {N_MUTATIONS} mutations')
    tap.main()
