# SPDX-License-Identifier: LGPL-2.1-or-later
import gi
gi.require_version('Apr', '1.0')
from gi.repository import Apr, Gio, GLib

writer = Apr.SafetensorsWriter()
embeddings = Apr.Tensor.new_from_floats([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], [4, 3])
writer.add_tensor('embed.weight', embeddings.cast(Apr.DType.BF16))
writer.add_tensor('norm.weight', Apr.Tensor.new_from_floats([0.5, 1, 1.5], [3]))
writer.set_metadata('format', 'pt')

# One file, then the same tensors in files of at most 24 bytes of data each, and an index.
writer.write_to_path('tiny.safetensors')
writer.write_shards(Gio.File.new_for_path('.'), 'tiny', 24)

for path in ('tiny.safetensors', 'tiny.safetensors.index.json'):
    reader = Apr.SafetensorsReader.new_from_path(path)
    print(f'{path}: format {reader.metadata["format"]}')
    for name in reader:
        print(' ', name, Apr.DType.to_string(reader.get_dtype(name)), *reader.get_shape(name))

print(reader.get_tensor('norm.weight').to_string())
print(reader.get_slice('embed.weight', '1:3, ::-1').cast(Apr.DType.F32).to_string())
try:
    reader.get_tensor('bias')
except GLib.Error as error:
    print(error.message)
