# SPDX-License-Identifier: LGPL-2.1-or-later
"""Beside the Rust crate safetensors.

    with-peer rust test_rust.py
"""

import tomllib

import interop  # first, for it finds the rest
import tap
from interop import DTYPES, EQUAL, OURS, THEIRS, System, make_bytes, make_tensors

PROGRAM = interop.FOLDER / 'debug' / 'interop'
with open(interop.PEERS / 'rust' / 'Cargo.toml', 'rb') as manifest:
    VERSIONS = tomllib.load(manifest)['dependencies']


class Test(System):
    SYSTEM = 'safetensors (Rust)'
    VERSION = VERSIONS['safetensors'][1:]

    def test_copy(self):
        folder = self.make_directory()
        ours, theirs = folder / 'ours.safetensors', folder / 'theirs.safetensors'
        tensors, metadata = make_tensors(DTYPES), {'format': 'pt'}
        ours.write_bytes(make_bytes(tensors, metadata))
        lines = [line.split('\t') for line in
                 self.run_program(PROGRAM, 'safetensors', ours, theirs).decode().splitlines()]
        self.assertEqual({name: (dtype, eval_shape(shape), bytes.fromhex(data)) for name, dtype, shape, data in lines},
                         tensors)
        self.show(OURS, DTYPES, EQUAL)
        self.assertEqual(interop.read(theirs), (tensors, metadata))
        self.assertEqual(theirs.read_bytes(), ours.read_bytes())
        self.show(THEIRS, DTYPES, EQUAL + '; the file is byte for byte what our writer makes')


def eval_shape(text):
    return [int(size) for size in text.strip('[]').split(', ') if size]


if __name__ == '__main__':
    tap.main()
