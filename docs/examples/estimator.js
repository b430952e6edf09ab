// SPDX-License-Identifier: LGPL-2.1-or-later
import Apr from 'gi://Apr?version=1.0';
import GObject from 'gi://GObject';

const Mean = GObject.registerClass({
  GTypeName: 'ExampleMean',
  Properties: {
    factor: GObject.ParamSpec.double('factor', null, null,
      GObject.ParamFlags.READWRITE | GObject.ParamFlags.CONSTRUCT, 0, 100, 1),
  },
}, class Mean extends Apr.Estimator {
  vfunc_fit(X, y, sample_weight) {
    if (sample_weight)
      throw new Error('The mean takes no sample_weight');
    const values = y.cast('f64').to_typed_array();
    return this.set_result('mean', [values.reduce((sum, value) => sum + value, 0) / values.length]);
  }

  vfunc_predict(X) {
    const mean = this.get_result('mean').get_double(0);
    return Apr.Tensor.from(new Float64Array(X.shape[0]).fill(this.factor * mean));
  }
});

const X = [[1, 5], [2, 6], [3, 7]];
const model = new Mean({factor: 2}).fit(X, [1, 2, 6]);
print(...model.predict(X));
model.save('mean.safetensors');

const loaded = Mean.load('mean.safetensors');
print(loaded.factor, ...loaded.predict(X));
print(loaded.clone().fit(X, [1, 1, 1]).score(X, [2, 2, 2]));
