# SPDX-License-Identifier: LGPL-2.1-or-later
"""Beside PyTorch.

    with-peer torch test_torch.py
"""

import interop  # first, for it finds the rest
import tap
from interop import OURS, FrontEnd

import safetensors.torch
import torch

DTYPES = {torch.bool: 'BOOL', torch.uint8: 'U8', torch.int8: 'I8', torch.int16: 'I16', torch.float16: 'F16',
          torch.bfloat16: 'BF16', torch.int32: 'I32', torch.float32: 'F32', torch.complex64: 'C64',
          torch.float64: 'F64', torch.int64: 'I64'}


class Test(FrontEnd):
    SYSTEM = 'PyTorch'
    VERSION = torch.__version__
    FRONT_END = safetensors.torch
    TYPES = list(DTYPES.values())

    def describe(self, tensor):
        return DTYPES[tensor.dtype], list(tensor.shape), tensor.reshape(-1).view(torch.uint8).numpy().tobytes()

    def test_1_dtypes(self):
        self.copy_all()
        self.copy_many(['F32', 'F16', 'BF16'])

    def test_2_model(self):
        path = self.make_directory() / 'model.safetensors'
        for dtype, torch_dtype in (('f4', torch.float32), ('f8', torch.float64)):
            model, x, predictions = interop.fit(dtype)
            model.save(path)
            tensors = safetensors.torch.load_file(path)
            linear = torch.nn.Linear(x.shape[1], 1, dtype=torch_dtype)
            linear.load_state_dict({'weight': tensors['coefficients'][None, :], 'bias': tensors['intercept']})
            with torch.no_grad():
                predicted = linear(torch.from_numpy(x)).numpy()[:, 0]
            bound = interop.bound_rounding(x, model.coefficients, model.intercept, dtype)
            self.assertClose(predicted, predictions, bound)

            # And back: what the layer holds is a model of ours.
            state = linear.state_dict()
            safetensors.torch.save_file({'coefficients': state['weight'][0], 'intercept': state['bias']}, path)
            loaded = interop.Apr.LinearRegression.load(path)
            self.assertEqual(loaded.predict(x).tobytes(), predictions.tobytes())
        self.show(OURS, ['F32', 'F64'],
                  'a model: `torch.nn.Linear` predicts the same to rounding, and what it saves is the model again')

    def test_3_bytes(self):
        """The advice of the error works, also for a scalar, a transposed tensor and one that requires a gradient."""
        path = self.make_directory() / 'tensor.safetensors'
        whole = torch.arange(6).reshape(2, 3).bfloat16()
        for tensor in (whole, whole.t(), whole[1, 1], whole[:0], whole.clone().requires_grad_()):
            with self.assertRaisesRegex(ValueError, 'The tensor “w” .*: pass ') as context:
                interop.Apr.save_file({'w': tensor}, path)
            advised = str(context.exception).rpartition(': pass ')[2]
            given = eval(advised, {'Apr': interop.Apr, 'torch': torch, 'tensor': tensor})
            interop.Apr.save_file({'w': given}, path)
            found = safetensors.torch.load_file(path)['w']
            self.assertEqual(found.dtype, torch.bfloat16)
            self.assertTrue(torch.equal(found, tensor.detach()))


if __name__ == '__main__':
    tap.main()
