# SPDX-License-Identifier: LGPL-2.1-or-later
"""Beside JAX and Flax.

    with-peer jax test_jax.py
"""

import interop  # first, for it finds the rest
import tap
from interop import OURS, FrontEnd, numpy

import flax.linen
import jax
import safetensors.flax

DTYPES = {'bool': 'BOOL', 'uint8': 'U8', 'int8': 'I8', 'int16': 'I16', 'uint16': 'U16', 'float16': 'F16',
          'bfloat16': 'BF16', 'int32': 'I32', 'uint32': 'U32', 'float32': 'F32', 'complex64': 'C64', 'float64': 'F64',
          'int64': 'I64', 'uint64': 'U64'}


class Test(FrontEnd):
    SYSTEM = 'JAX and Flax'
    VERSION = f'{jax.__version__}, {flax.__version__}'
    FRONT_END = safetensors.flax
    TYPES = list(DTYPES.values())

    def describe(self, array):
        return DTYPES[array.dtype.name], list(array.shape), numpy.asarray(array).tobytes()

    def setUp(self):
        jax.config.update('jax_enable_x64', True)

    def test_1_dtypes(self):
        self.copy_all()
        self.copy_many(['F32', 'F16', 'BF16'])

    def test_2_eight_bits(self):
        path = self.make_directory() / 'model.safetensors'
        path.write_bytes(interop.make_bytes(interop.make_tensors(['F8_E4M3'])))
        # Reported for numpy, which has no such type, although JAX has.
        with self.assertRaisesRegex(AttributeError, 'numpy.*float8_e4m3fn'):
            safetensors.flax.load_file(path)
        self.show(OURS, ['F8_E4M3'], 'refused by its front end: numpy has no such type')

    def test_3_narrow(self):
        jax.config.update('jax_enable_x64', False)
        model, _, _ = interop.fit('f8')
        path = self.make_directory() / 'model.safetensors'
        model.save(path)
        coefficients = safetensors.flax.load_file(path)['coefficients']
        narrow = model.get_coefficients().cast(interop.Apr.DType.F32)
        self.assertEqual(self.describe(coefficients), ('F32', [5], interop.copy_bytes(narrow)))
        self.show(OURS, ['F64'], 'without `jax_enable_x64` it is rounded to F32; the other rows are with it')

    def test_4_model(self):
        path = self.make_directory() / 'model.safetensors'
        for dtype in ('f4', 'f8'):
            model, x, predictions = interop.fit(dtype)
            model.save(path)
            tensors = safetensors.flax.load_file(path)
            layer = flax.linen.Dense(1, param_dtype=dtype, dtype=dtype, precision='highest')
            parameters = {'kernel': tensors['coefficients'][:, None], 'bias': tensors['intercept']}
            predicted = numpy.asarray(layer.apply({'params': parameters}, x))[:, 0]
            bound = interop.bound_rounding(x, model.coefficients, model.intercept, dtype)
            self.assertClose(predicted, predictions, bound)

            safetensors.flax.save_file(tensors, path)
            loaded = interop.Apr.LinearRegression.load(path)
            self.assertEqual(loaded.predict(x).tobytes(), predictions.tobytes())
        self.show(OURS, ['F32', 'F64'],
                  'a model: `flax.linen.Dense` predicts the same to rounding, and what it saves is the model again')


if __name__ == '__main__':
    tap.main()
