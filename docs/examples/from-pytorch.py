# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender

reader = aprender.SafetensorsReader.new_from_path('layer.safetensors')
writer = aprender.SafetensorsWriter()
writer.add_tensor('coefficients', reader.get_slice('weight', '0'))
writer.add_tensor('intercept', reader.get_tensor('bias'))

model = aprender.LinearRegression.from_bytes(writer.write_to_bytes())
print(f'{model.predict([[5, 6]])[0]:.2f}')
