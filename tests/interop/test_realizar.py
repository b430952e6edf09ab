# SPDX-License-Identifier: LGPL-2.1-or-later
"""Beside realizar.

    with-peer rust test_realizar.py
"""

import interop  # first, for it finds the rest
import tap
from interop import OURS, Apr, System, make_bytes, make_tensors, numpy
from test_rust import PROGRAM, VERSIONS

# What it has a name for. The format's BOOL is not among them: it knows one Bool.
TYPES = ['U8', 'F16', 'BF16', 'I32', 'F32', 'I64']


class Test(System):
    SYSTEM = 'realizar'
    VERSION = VERSIONS['realizar']['version'][1:]

    def setUp(self):
        self.path = self.make_directory() / 'model.safetensors'

    def test_1_model(self):
        # Its own example: 2 x1 + 3 x2 + 1.5 x3 + 0.5 is 13 at (1, 2, 3).
        x = numpy.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
        model = Apr.LinearRegression().fit(x, x @ numpy.float32([2, 3, 1.5]) + numpy.float32(0.5))
        model.save(self.path)
        output = numpy.frombuffer(self.run_program(PROGRAM, 'realizar', self.path, 'coefficients', 'intercept'), '<f4')
        self.assertEqual(output.tolist(), [2, 3, 1.5, 0.5])
        self.assertEqual(model.predict(numpy.float32([[1, 2, 3]])).tolist(), [13])
        self.show(OURS, ['F32'], 'a model: equal coefficients and intercept; its own example, 13, is predicted')

    def test_2_tensors(self):
        tensors = make_tensors(TYPES)
        self.path.write_bytes(make_bytes(tensors, interop.METADATA))
        floats = [name for name, (dtype, _, _) in tensors.items() if 'F' in dtype]
        output = self.run_program(PROGRAM, 'realizar', self.path, *floats)
        expected = b''
        for name in floats:
            dtype, shape, data = tensors[name]
            tensor = Apr.Tensor.new_from_bytes(getattr(Apr.DType, dtype), shape, data)
            expected += interop.copy_bytes(tensor.cast(Apr.DType.F32))
        self.assertEqual(output, expected)
        self.show(OURS, TYPES, 'accepted; F32, F16 and BF16 are equal as F32')

    def test_3_refuse(self):
        for dtype in ('F64', 'BOOL'):
            # One such tensor is enough.
            self.path.write_bytes(make_bytes({**make_tensors(['F32']), 'other': (dtype, [1], bytes(8 if dtype == 'F64'
                                                                                                 else 1))}))
            message = self.run_program(PROGRAM, 'realizar', self.path, 'F32.vector', error=True)
            self.assertIn(f'unknown variant `{dtype}`', message)
        self.show(OURS, ['F64', 'BOOL'], 'the whole file is refused if one tensor is of such a dtype')


if __name__ == '__main__':
    tap.main()
