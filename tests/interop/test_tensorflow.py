# SPDX-License-Identifier: LGPL-2.1-or-later
"""Beside TensorFlow.

    with-peer tensorflow test_tensorflow.py
"""

import os

# It has much to say on the standard error when it starts.
os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'

import interop  # noqa: E402, before what it finds
import tap  # noqa: E402
from interop import OURS, FrontEnd  # noqa: E402

import safetensors.tensorflow  # noqa: E402
import tensorflow  # noqa: E402

DTYPES = {tensorflow.bool: 'BOOL', tensorflow.uint8: 'U8', tensorflow.int8: 'I8', tensorflow.int16: 'I16',
          tensorflow.uint16: 'U16', tensorflow.float16: 'F16', tensorflow.bfloat16: 'BF16', tensorflow.int32: 'I32',
          tensorflow.uint32: 'U32', tensorflow.float32: 'F32', tensorflow.complex64: 'C64',
          tensorflow.float64: 'F64', tensorflow.int64: 'I64', tensorflow.uint64: 'U64'}


class Test(FrontEnd):
    SYSTEM = 'TensorFlow'
    VERSION = tensorflow.__version__
    FRONT_END = safetensors.tensorflow
    TYPES = list(DTYPES.values())
    SAVES_SCALARS = False

    def describe(self, tensor):
        return DTYPES[tensor.dtype], list(tensor.shape), tensor.numpy().tobytes()

    def test_1_dtypes(self):
        self.copy_all()
        self.copy_many(['F32', 'F16', 'BF16'])

    def test_2_model(self):
        path = self.make_directory() / 'model.safetensors'
        for dtype in ('f4', 'f8'):
            model, x, predictions = interop.fit(dtype)
            model.save(path)
            tensors = safetensors.tensorflow.load_file(path)
            predicted = tensorflow.linalg.matvec(x, tensors['coefficients']) + tensors['intercept']
            bound = interop.bound_rounding(x, model.coefficients, model.intercept, dtype)
            self.assertClose(predicted.numpy(), predictions, bound)

            safetensors.tensorflow.save_file(tensors, path)
            loaded = interop.Apr.LinearRegression.load(path)
            self.assertEqual(loaded.predict(x).tobytes(), predictions.tobytes())
        self.show(OURS, ['F32', 'F64'],
                  'a model: `linalg.matvec` predicts the same to rounding, and what it saves is the model again')


if __name__ == '__main__':
    tap.main()
