# SPDX-License-Identifier: LGPL-2.1-or-later
"""Beside the Rust library aprender.

    with-peer rust test_aprender.py
"""

import interop  # first, for it finds the rest
import tap
from interop import OURS, THEIRS, Apr, System, numpy
from test_rust import PROGRAM, VERSIONS


class Test(System):
    SYSTEM = 'aprender (Rust)'
    VERSION = VERSIONS['aprender']['version'][1:]

    def setUp(self):
        self.folder = self.make_directory()
        self.model = self.folder / 'model.safetensors'

    def write(self, name, array):
        array.tofile(self.folder / name)
        return self.folder / name

    def check(self, output, x):
        """The coefficients, the intercept and the predictions that it prints are those of our model of the file."""
        n_features = x.shape[1]
        values = numpy.frombuffer(output, '<f4')
        model = Apr.LinearRegression.load(self.model)
        self.assertEqual(values[:n_features].tobytes(), model.coefficients.tobytes())
        self.assertEqual(values[n_features:n_features + 1].tobytes(), model.get_intercept().numpy().tobytes())
        bound = interop.bound_rounding(x, model.coefficients, model.intercept, 'f4')
        self.assertClose(values[n_features + 1:], model.predict(x), bound)

    def test_1_load(self):
        model, x, predictions = interop.fit('f4')
        model.save(self.model)
        output = self.run_program(PROGRAM, 'aprender-load', self.model, self.write('x', x))
        self.assertEqual(len(output), 4 * (x.shape[1] + 1 + len(predictions)))
        self.check(output, x)
        self.show(OURS, ['F32'], 'a model: equal coefficients and intercept, and 1000 predictions equal to rounding')

    def test_2_load_half(self):
        # Coefficients that another program has narrowed.
        x = interop.make_samples('f4')[0]
        tensors = {name: Apr.Tensor(numpy.float32(values)) for name, values in
                   (('coefficients', [2, -0.5, 30, 1, 0.25]), ('intercept', [4]))}
        for dtype in (Apr.DType.F16, Apr.DType.BF16):
            writer = Apr.SafetensorsWriter()
            for name, tensor in tensors.items():
                writer.add_tensor(name, tensor.cast(dtype))
            writer.write_to_path(self.model)
            output = numpy.frombuffer(self.run_program(PROGRAM, 'aprender-load', self.model, self.write('x', x)), '<f4')
            self.assertEqual(output[:6].tolist(), [2, -0.5, 30, 1, 0.25, 4])
        self.show(OURS, ['F16', 'BF16'], 'equal coefficients and intercept')

    def test_3_refuse(self):
        model, x, _ = interop.fit('f8')
        model.save(self.model)
        message = self.run_program(PROGRAM, 'aprender-load', self.model, self.write('x', x), error=True)
        self.assertEqual(message, 'Unsupported dtype: F64. Supported: F32, BF16, F16')
        self.show(OURS, ['F64'], f'refused: “{message}”')

    def test_4_save(self):
        x, y = interop.make_samples('f4')
        output = self.run_program(PROGRAM, 'aprender-fit', self.write('x', x), self.write('y', y), self.model)
        self.check(output, x)
        self.show(THEIRS, ['F32'], 'a model: equal coefficients and intercept, and 1000 predictions equal to rounding')


if __name__ == '__main__':
    tap.main()
