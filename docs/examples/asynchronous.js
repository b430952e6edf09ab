// SPDX-License-Identifier: LGPL-2.1-or-later
import Apr from 'gi://Apr?version=1.0';
import Gio from 'gi://Gio';

const n = 200000;
const X = Float64Array.from({length: 2 * n}, (_, i) => Math.sin(i));
const y = Float64Array.from({length: n}, (_, i) => 3 * X[2 * i] - X[2 * i + 1]);
X.shape = [n, 2];

const model = new Apr.LinearRegression();
const seen = [];
model.connect('notify::progress', () => seen.push(model.progress));
await model.fit_async(X, y);
print('fitted', model.fitted, 'progress', seen.at(-1));

const cancellable = new Gio.Cancellable();
const fit = model.fit_async(X, y, null, cancellable);
cancellable.cancel();
try {
  await fit;
} catch (error) {
  if (!error.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED))
    throw error;
  print(error.message, '- unchanged', model.coefficients);
}
