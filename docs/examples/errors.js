// SPDX-License-Identifier: LGPL-2.1-or-later
import Apr from 'gi://Apr?version=1.0';
import Gio from 'gi://Gio';

const model = new Apr.LinearRegression();

try {
  model.predict([[1, 2]]);
} catch (error) {
  print(error.message);
  print(error.matches(Apr.Error, Apr.Error.NOT_FITTED));
}

try {
  model.fit([[1, 2], [3, NaN]], [1, 2]);
} catch (error) {
  print(error.message);
}

try {
  Apr.LinearRegression.load('missing.safetensors');
} catch (error) {
  if (!error.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.NOT_FOUND))
    throw error;
  print(error.message);
}
