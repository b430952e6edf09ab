# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender
from gi.repository import GObject


class Quantile(aprender.Estimator):
    """Predicts a quantile of the targets, whatever the features are."""

    __gtype_name__ = 'ExampleQuantile'

    level = GObject.Property(type=float, default=0.5, minimum=0, maximum=1)

    def do_fit(self, X, y, sample_weight, cancellable):
        self.value = sorted(y)[round(self.level * (len(y) - 1))]
        return True

    def do_predict(self, X):
        return aprender.Tensor([self.value] * len(X))

    def do_save_tensors(self, writer):
        return writer.add_tensor('value', [self.value])

    def do_load_tensors(self, reader):
        self.value = float(reader['value'])
        return True, 1, 1


model = Quantile(level=0.9).fit([[1], [2], [3], [4], [5]], [10, 20, 30, 40, 90])
model.save('quantile.safetensors')
loaded = Quantile.load('quantile.safetensors')
print(loaded, loaded.predict([[6]]), loaded.clone().get_params())
