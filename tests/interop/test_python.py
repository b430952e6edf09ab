# SPDX-License-Identifier: LGPL-2.1-or-later
"""Beside the Python package safetensors, and numpy through it.

    with-peer python test_python.py
"""

import interop  # first, for it finds the rest
import tap
from interop import DTYPES, EQUAL, OURS, Apr, FrontEnd, make_bytes, make_tensors, numpy

import safetensors
import safetensors.numpy


class Test(FrontEnd):
    SYSTEM = 'safetensors (Python)'
    VERSION = safetensors.__version__
    FRONT_END = safetensors.numpy
    TYPES = ['BOOL', 'U8', 'I8', 'I16', 'U16', 'F16', 'I32', 'U32', 'F32', 'C64', 'F64', 'I64', 'U64']

    def describe(self, array):
        dtypes = {numpy.dtype(value): name for name, value in safetensors.numpy._TYPES.items()}
        return dtypes[array.dtype], list(array.shape), array.tobytes()

    def test_1_numpy(self):
        self.copy_all()
        self.copy_many(['F32', 'F64'])

    def test_2_deserialize(self):
        tensors = make_tensors(DTYPES)
        read = {name: (tensor['dtype'], tensor['shape'], bytes(tensor['data']))
                for name, tensor in safetensors.deserialize(make_bytes(tensors))}
        self.assertEqual(read, tensors)
        self.show('`deserialize` ' + OURS, DTYPES, EQUAL)

    def test_3_slices(self):
        source = numpy.random.default_rng(3)
        path = self.make_directory() / 'slices.safetensors'
        path.write_bytes(make_bytes({'a': ('F32', [7, 5, 3], source.bytes(7 * 5 * 3 * 4))}, interop.METADATA))
        reader = Apr.SafetensorsReader.new_from_path(path)
        with safetensors.safe_open(path, 'np') as file:
            self.assertEqual(file.metadata(), interop.METADATA)
            self.assertEqual(list(file.keys()), ['a'])
            part = file.get_slice('a')
            # It takes neither negative numbers nor steps.
            for text, index in (('1:3', numpy.s_[1:3]), ('2', 2), (':, 1:4', numpy.s_[:, 1:4]), ('4:4', numpy.s_[4:4]),
                                ('4:, 0, :2', numpy.s_[4:, 0, :2]), ('..., 1:', numpy.s_[..., 1:])):
                theirs, ours = part[index], reader.get_slice('a', text)
                self.assertEqual(list(ours.get_shape()), list(theirs.shape), text)
                self.assertEqual(interop.copy_bytes(ours), theirs.tobytes(), text)
        self.show('`safe_open` ' + OURS, ['F32'], 'metadata, and slices equal to those of `get_slice`')


if __name__ == '__main__':
    tap.main()
