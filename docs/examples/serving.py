# SPDX-License-Identifier: LGPL-2.1-or-later
import sys
import urllib.request

import gi
gi.require_version('Apr', '1.0')
from gi.repository import Apr, GLib

writer = Apr.SafetensorsWriter()
writer.add_tensor('X', Apr.Tensor([[85.0, 3], [40, 1]]))
request = urllib.request.Request(f'{sys.argv[1]}/predict', writer.write_to_bytes().get_data(),
                                 {'Content-Type': 'application/octet-stream'})
with urllib.request.urlopen(request) as response:
    reader = Apr.SafetensorsReader.new_from_bytes(GLib.Bytes.new(response.read()))
print(reader.get_tensor('predictions').to_string())
