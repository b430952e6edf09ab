# SPDX-License-Identifier: LGPL-2.1-or-later
"""Beside Ollama: its converter makes GGUF of a checkpoint of one layer that our writer wrote.

    with-peer ollama test_ollama.py
"""

import json
import re
import struct

import interop  # first, for it finds the rest
import tap
from interop import OURS, Apr, Gio, System, make_bytes, numpy

WIDTH, N_WORDS = 32, 8
# The shapes of a Llama with one layer, two heads, and a vocabulary of eight letters.
SHAPES = {
    'model.embed_tokens.weight': [N_WORDS, WIDTH],
    'model.layers.0.input_layernorm.weight': [WIDTH],
    'model.layers.0.mlp.down_proj.weight': [WIDTH, 2 * WIDTH],
    'model.layers.0.mlp.gate_proj.weight': [2 * WIDTH, WIDTH],
    'model.layers.0.mlp.up_proj.weight': [2 * WIDTH, WIDTH],
    'model.layers.0.post_attention_layernorm.weight': [WIDTH],
    'model.layers.0.self_attn.k_proj.weight': [WIDTH, WIDTH],
    'model.layers.0.self_attn.o_proj.weight': [WIDTH, WIDTH],
    'model.layers.0.self_attn.q_proj.weight': [WIDTH, WIDTH],
    'model.layers.0.self_attn.v_proj.weight': [WIDTH, WIDTH],
    'model.norm.weight': [WIDTH],
    'lm_head.weight': [N_WORDS, WIDTH],
}
# What GGUF calls the vectors, which it holds in F32.
VECTORS = {
    'model.layers.0.input_layernorm.weight': 'blk.0.attn_norm.weight',
    'model.layers.0.post_attention_layernorm.weight': 'blk.0.ffn_norm.weight',
    'model.norm.weight': 'output_norm.weight',
}
CONFIG = {'architectures': ['LlamaForCausalLM'], 'hidden_size': WIDTH, 'num_hidden_layers': 1,
          'intermediate_size': 2 * WIDTH, 'num_attention_heads': 2, 'num_key_value_heads': 2,
          'vocab_size': N_WORDS, 'max_position_embeddings': 16, 'rms_norm_eps': 1e-5, 'torch_dtype': 'float32'}
TOKENIZER = {'version': '1.0', 'added_tokens': [], 'pre_tokenizer': None,
             'model': {'type': 'BPE', 'vocab': {letter: i for i, letter in enumerate('abcdefgh')}, 'merges': []}}


class Gguf:
    """The vectors of F32 in a GGUF file, of version 3."""

    def __init__(self, data):
        self.data, self.at = data, 0
        magic, version, n_tensors, n_values = self.take('<4sIQQ')
        assert (magic, version) == (b'GGUF', 3)
        self.alignment = 32
        for _ in range(n_values):
            key = self.take_string()
            value = self.take_value(*self.take('<I'))
            if key == b'general.alignment':
                self.alignment = value
        entries = []
        for _ in range(n_tensors):
            name = self.take_string().decode()
            shape = self.take(f'<{self.take("<I")[0]}Q')
            entries.append((name, shape, *self.take('<IQ')))
        start = -(-self.at // self.alignment) * self.alignment
        self.vectors = {name: data[start + offset:start + offset + 4 * shape[0]]
                        for name, shape, kind, offset in entries if len(shape) == 1 and kind == 0}
        self.names = {name for name, *_ in entries}

    def take(self, form):
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values

    def take_string(self):
        return self.take(f'{self.take("<Q")[0]}s')[0]

    def take_value(self, kind):
        if kind == 8:
            return self.take_string()
        if kind == 9:
            kind, n_values = self.take('<IQ')
            return [self.take_value(kind) for _ in range(n_values)]
        return self.take('<' + 'BbHhIif?..QqdX'[kind].replace('X', ''))[0]


class Test(System):
    SYSTEM = 'Ollama'
    VERSION = re.search(r'ollama v([\d.]+)', (interop.PEERS / 'ollama' / 'go.mod').read_text()).group(1)

    def convert(self, content, error=False):
        folder = self.make_directory()
        (folder / 'config.json').write_text(json.dumps(CONFIG))
        (folder / 'tokenizer.json').write_text(json.dumps(TOKENIZER))
        (folder / 'model.safetensors').write_bytes(content)
        message = self.run_program(interop.FOLDER / 'convert', folder, folder / 'model.gguf', error=error)
        return message if error else Gguf((folder / 'model.gguf').read_bytes())

    def make(self, dtype):
        source = numpy.random.default_rng(4)
        return {name: (dtype, shape, interop.make_numbers(source, dtype, int(numpy.prod(shape))))
                for name, shape in SHAPES.items()}

    def test_1_convert(self):
        for dtype in ('F32', 'F16', 'BF16'):
            tensors = self.make(dtype)
            gguf = self.convert(make_bytes(tensors, interop.METADATA))
            self.assertGreaterEqual(len(gguf.names), len(SHAPES))
            self.assertLessEqual(set(VECTORS.values()), set(gguf.vectors))
            for name, their_name in VECTORS.items():
                tensor = Apr.Tensor.new_from_bytes(getattr(Apr.DType, dtype), *tensors[name][1:])
                self.assertEqual(gguf.vectors[their_name], interop.copy_bytes(tensor.cast(Apr.DType.F32)), name)
        self.show(OURS, ['F32', 'F16', 'BF16'],
                  f'a Llama of one layer and {len(SHAPES)} tensors becomes GGUF, whose vectors of F32 are equal')

    def test_2_shards(self):
        tensors = self.make('F32')
        writer = Apr.SafetensorsWriter()
        folder = self.make_directory()
        for name, (dtype, shape, data) in tensors.items():
            writer.add_tensor(name, Apr.Tensor.new_from_bytes(Apr.DType.F32, shape, data))
        writer.write_shards(Gio.File.new_for_path(str(folder)), 'model', 16384)
        self.assertGreater(len(list(folder.iterdir())), 3)
        (folder / 'config.json').write_text(json.dumps(CONFIG))
        (folder / 'tokenizer.json').write_text(json.dumps(TOKENIZER))
        self.run_program(interop.FOLDER / 'convert', folder, folder / 'model.gguf')
        gguf = Gguf((folder / 'model.gguf').read_bytes())
        for name, their_name in VECTORS.items():
            self.assertEqual(gguf.vectors[their_name], tensors[name][2])
        self.show(OURS, ['F32'], 'the same in shards')

    def test_3_refuse(self):
        self.assertEqual(self.convert(make_bytes(self.make('F64')), error=True), 'unknown data type: F64')
        self.show(OURS, ['F64'], 'refused: “unknown data type: F64”')
        scalar = {**self.make('F32'), 'scalar': ('F32', [], bytes(4))}
        self.assertEqual(self.convert(make_bytes(scalar), error=True), 'unsupported safetensors model')
        self.show(OURS, ['F32'], 'refused with a scalar (shape []): “unsupported safetensors model”')

    def test_4_metadata(self):
        tensors = self.make('F32')
        keys = ['dtype', 'DType', 'shape', 'SHAPE', 'data_offsets', 'Data_Offsets', 'ſhape']
        for key in keys:
            # The file is legal, but it refuses it; so our writer refuses the key unless it is told otherwise.
            self.convert(make_bytes(tensors, {key: 'x'}, portable=False), error=True)
            self.assertFails(Apr.SafetensorsError.NAME, 'Ollama', make_bytes, tensors, {key: 'x'})
        harmless = {'aprender.dtype': 'x', 'shapes': 'x', 'data-offsets': 'x', 'type': 'x'}
        self.convert(make_bytes(tensors, harmless))
        self.show(OURS, ['F32'], 'refused with a metadata key `dtype`, `shape` or `data_offsets`, whatever its case: '
                  'our writer refuses them')


if __name__ == '__main__':
    tap.main()
