# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests beside other systems have in common: files of ours, comparisons of bits, and the table of results.

A test says what it has shown, and what the tests of a system have shown must be its rows in docs/interoperability.md.
Where APRENDER_UPDATE_TABLE is set, they are written there instead.
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'bindings' / 'python' / 'tests'))

from common import Apr, Gio, TestCase, numpy  # noqa: E402

PEERS = pathlib.Path(__file__).resolve().parent / 'peers'
# Where the peer is installed.
FOLDER = pathlib.Path(os.environ['APRENDER_PEER'])

TABLE = ROOT / 'docs' / 'interoperability.md'
HEAD = '| system | version | direction | dtypes | result |\n| --- | --- | --- | --- | --- |\n'
# In the order of the table.
SYSTEMS = ['safetensors (Python)', 'PyTorch', 'TensorFlow', 'JAX and Flax', 'safetensors (Rust)', 'aprender (Rust)',
           'realizar', 'Ollama', 'huggingface.js', 'scikit-learn']

OURS, THEIRS = 'reads our file', 'its file is read by us'
EQUAL = 'names, shapes, metadata and bytes are equal'

# Every dtype of the format.
DTYPES = ['BOOL', 'F4', 'F6_E2M3', 'F6_E3M2', 'U8', 'I8', 'F8_E5M2', 'F8_E4M3', 'F8_E8M0', 'F8_E4M3FNUZ',
          'F8_E5M2FNUZ', 'I16', 'U16', 'F16', 'BF16', 'I32', 'U32', 'F32', 'C64', 'F64', 'I64', 'U64']
N_BITS = {'F4': 4, 'F6_E2M3': 6, 'F6_E3M2': 6, 'I16': 16, 'U16': 16, 'F16': 16, 'BF16': 16, 'I32': 32, 'U32': 32,
          'F32': 32, 'C64': 64, 'F64': 64, 'I64': 64, 'U64': 64}
METADATA = {'format': 'pt', 'aprender.note': 'a “note”, 重み'}

# How many layers the file of many tensors has.
N_LAYERS = 300


def make_numbers(source, dtype, n_elements):
    """The bytes of some elements: finite numbers where frameworks compute with them, any bits elsewhere."""
    if dtype == 'BOOL':
        return source.integers(0, 2, n_elements, dtype='u1').tobytes()
    if dtype in ('F16', 'BF16', 'F32', 'F64'):
        doubles = Apr.Tensor.new_from_doubles(list(source.standard_normal(n_elements)), [n_elements])
        return copy_bytes(doubles.cast(getattr(Apr.DType, dtype)))
    if dtype == 'C64':
        return source.standard_normal(2 * n_elements).astype('<f4').tobytes()
    return source.bytes(n_elements * N_BITS.get(dtype, 8) // 8)


def copy_bytes(tensor):
    return bytes(tensor.get_bytes().get_data() or b'')


def make_tensors(dtypes, n_layers=1):
    """Names, each with a dtype, a shape and bytes: matrices, a vector, a scalar, and one without elements."""
    source = numpy.random.default_rng(1)
    tensors = {}
    for dtype in dtypes:
        for layer in range(n_layers):
            tensors[f'layers.{layer}.{dtype}.weight'] = (dtype, [3, 4])
        tensors[f'{dtype}.vector'] = (dtype, [8])
        tensors[f'{dtype}.empty'] = (dtype, [0, 4])
        if N_BITS.get(dtype, 8) >= 8:
            tensors[f'{dtype}.scalar'] = (dtype, [])
    return {name: (dtype, shape, make_numbers(source, dtype, int(numpy.prod(shape))))
            for name, (dtype, shape) in tensors.items()}


def make_bytes(tensors, metadata=None, **properties):
    """What our writer makes of them."""
    writer = Apr.SafetensorsWriter(**properties)
    for name, (dtype, shape, data) in tensors.items():
        writer.add_tensor(name, Apr.Tensor.new_from_bytes(getattr(Apr.DType, dtype), shape, data))
    for key, value in (metadata or {}).items():
        writer.set_metadata(key, value)
    return bytes(writer.write_to_bytes().get_data())


def read(path):
    """The tensors of a file, as our reader has them, and the metadata."""
    reader = Apr.SafetensorsReader.new_from_path(str(path))
    tensors = {name: reader.get_tensor(name) for name in reader}
    return {name: (Apr.DType.to_string(tensor.get_dtype()), list(tensor.get_shape()), copy_bytes(tensor))
            for name, tensor in tensors.items()}, dict(reader.metadata)


def make_samples(dtype, n_samples=1000):
    """X, and a y that is a linear function of it and noise."""
    source = numpy.random.default_rng(2)
    x = source.standard_normal((n_samples, 5)) * [1, 10, 0.1, 1, 3] + [0, 5, 0, -2, 1]
    y = x @ [2, -0.5, 30, 1, 0.25] + 4 + source.standard_normal(n_samples)
    return x.astype(dtype), y.astype(dtype)


def fit(dtype):
    """A model of ours, its X, and what it predicts."""
    x, y = make_samples(dtype)
    model = Apr.LinearRegression().fit(x, y)
    return model, x, model.predict(x)


def bound_rounding(x, coefficients, intercept, dtype):
    """How far two predictions may be from each other that add up the same products in any order."""
    x, coefficients, intercept = (numpy.asarray(array, 'f8') for array in (x, coefficients, intercept))
    return 2 * (x.shape[1] + 2) * numpy.finfo(dtype).eps / 2 * (numpy.abs(x) @ numpy.abs(coefficients) + abs(intercept))


class System(TestCase):
    """The tests of one system: SYSTEM is its name in the table, VERSION the version at hand."""
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        cls.rows = []

    @classmethod
    def tearDownClass(cls):
        text = TABLE.read_text(encoding='utf-8')
        before, after = text.split(HEAD)
        table, separator, after = after.partition('\n\n')
        table = [line for line in table.splitlines() if line]
        rows = [line for line in table if line.startswith(f'| {cls.SYSTEM} |')]
        if os.environ.get('APRENDER_UPDATE_TABLE'):
            table = sorted([line for line in table if line not in rows] + cls.rows,
                           key=lambda line: SYSTEMS.index(line.split(' | ')[0][2:]))
            TABLE.write_text(before + HEAD + '\n'.join(table) + separator + after, encoding='utf-8')
        elif rows != cls.rows:
            raise AssertionError('docs/interoperability.md has\n' + '\n'.join(rows) + '\nbut the tests have shown\n' +
                                 '\n'.join(cls.rows) + '\ntests/interop/update-table writes it anew')
        elif {line.split(' | ')[0][2:] for line in table} != set(SYSTEMS):
            raise AssertionError('docs/interoperability.md has rows for other systems than ' + ', '.join(SYSTEMS))

    def show(self, direction, dtypes, result):
        """Says what a test has found to be so."""
        dtypes = f'all {len(dtypes)}' if dtypes == DTYPES else ', '.join(dtypes)
        self.rows.append(f'| {self.SYSTEM} | {self.VERSION} | {direction} | {dtypes} | {result} |')

    def run_program(self, *arguments, error=False):
        """What a peer's program prints, or its error where it is to have one."""
        result = subprocess.run([str(argument) for argument in arguments], capture_output=True, check=False)
        self.assertEqual(result.returncode != 0, error, result.stderr.decode())
        return result.stderr.decode().strip() if error else result.stdout

    def assertClose(self, predicted, expected, bound):
        difference = numpy.abs(numpy.asarray(predicted, 'f8') - numpy.asarray(expected, 'f8'))
        self.assertEqual(difference.shape, bound.shape)
        self.assertTrue((difference <= bound).all(), (difference / bound).max())


class FrontEnd(System):
    """Tests that are the same for all front ends of the Python package: what a subclass has is FRONT_END, its
    module, TYPES, the dtypes that it knows, and describe(), which tells an array's dtype, shape and bytes."""
    SAVES_SCALARS = True

    def copy(self, tensors):
        """Reads a file of ours with the front end, and compares; saves what was read, and reads it again."""
        folder = self.make_directory()
        ours, theirs = folder / 'ours.safetensors', folder / 'theirs.safetensors'
        ours.write_bytes(make_bytes(tensors, METADATA))
        arrays = self.FRONT_END.load_file(ours)
        self.assertEqual({name: self.describe(array) for name, array in arrays.items()}, tensors)

        tensors = {name: tensor for name, tensor in tensors.items() if self.SAVES_SCALARS or tensor[1]}
        # Of several keys the package writes the order at random.
        metadata = {'format': 'pt'}
        self.FRONT_END.save_file({name: arrays[name] for name in tensors}, theirs, metadata)
        self.assertEqual(read(theirs), (tensors, metadata))
        self.assertEqual(theirs.read_bytes(), make_bytes(tensors, metadata))

    def copy_all(self):
        self.copy(make_tensors(self.TYPES))
        self.show(OURS, self.TYPES, EQUAL)
        remark = '' if self.SAVES_SCALARS else '; it saves no scalars (shape [])'
        self.show(THEIRS, self.TYPES, EQUAL + '; the file is byte for byte what our writer makes' + remark)

    def copy_many(self, dtypes):
        tensors = make_tensors(dtypes, N_LAYERS)
        self.copy(tensors)
        self.show('both', dtypes, f'the same for a file of {len(tensors)} tensors')
