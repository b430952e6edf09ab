# SPDX-License-Identifier: LGPL-2.1-or-later
"""Beside huggingface.js, which reads headers.

    with-peer huggingface-js test_huggingface_js.py
"""

import collections
import json
import math
import shutil

import interop  # first, for it finds the rest
import tap
from interop import DTYPES, OURS, System, make_bytes, make_tensors

with open(interop.FOLDER / 'node_modules' / '@huggingface' / 'hub' / 'package.json', encoding='utf-8') as package:
    VERSION = json.load(package)['version']


class Test(System):
    SYSTEM = 'huggingface.js'
    VERSION = VERSION

    def describe(self, content):
        path = self.make_directory() / 'model.safetensors'
        path.write_bytes(content)
        program = interop.PEERS / 'huggingface-js' / 'describe.mjs'
        return json.loads(self.run_program(shutil.which('node'), program, interop.FOLDER, path))

    def test_header(self):
        tensors = make_tensors(DTYPES)
        content = make_bytes(tensors, interop.METADATA)
        described = self.describe(content)
        self.assertFalse(described['sharded'])
        header = described['header']
        self.assertEqual(header.pop('__metadata__'), interop.METADATA)
        self.assertEqual({name: (entry['dtype'], entry['shape']) for name, entry in header.items()},
                         {name: (dtype, shape) for name, (dtype, shape, _) in tensors.items()})
        start = 8 + int.from_bytes(content[:8], 'little')
        for name, entry in header.items():
            begin, end = entry['data_offsets']
            self.assertEqual(content[start + begin:start + end], tensors[name][2])
        self.show(OURS, DTYPES, 'names, dtypes, shapes, metadata and offsets are equal')

        counts = collections.Counter()
        for dtype, shape, _ in tensors.values():
            # For it neither a scalar nor F8_E8M0, which scales others, is a parameter.
            if shape and dtype != 'F8_E8M0':
                counts[dtype] += math.prod(shape)
        self.assertEqual(described['parameterCount'], dict(counts))
        self.show(OURS, DTYPES, f'it counts our {counts.total()} parameters, all but scalars and F8_E8M0')


if __name__ == '__main__':
    tap.main()
