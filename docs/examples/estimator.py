# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender
from gi.repository import GObject


class Quantile(aprender.Estimator):
    """Predicts a quantile of the targets, whatever the features are."""

    __gtype_name__ = 'ExampleQuantile'

    level = GObject.Property(type=float, default=0.5, minimum=0, maximum=1)

    def do_fit(self, X, y, sample_weight, cancellable):
        if sample_weight is not None:
            raise ValueError('A quantile takes no sample_weight')
        return self.set_result('value', [sorted(y)[round(self.level * (len(y) - 1))]])

    def do_predict(self, X):
        return aprender.Tensor([float(self.get_result('value'))] * len(X))


model = Quantile(level=0.9).fit([[1], [2], [3], [4], [5]], [10, 20, 30, 40, 90])
model.save('quantile.safetensors')
loaded = Quantile.load('quantile.safetensors')
print(loaded, loaded.predict([[6]]), loaded.clone().get_params())
