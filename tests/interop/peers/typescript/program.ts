// SPDX-License-Identifier: LGPL-2.1-or-later
// What a user may write, and what the compiler is to refuse. The same program runs in GJS when its types are removed.
import Apr from 'gi://Apr?version=1.0';

declare function print(...values: unknown[]): void;

const X = [[0, 0], [1, 0], [0, 1]];
const model: Apr.LinearRegression = new Apr.LinearRegression({dtype: Apr.DType.F64, alpha: 0}).fit(X, [1, 3, 4]);
const predictions: Apr.ShapedArray = model.predict(X);
const [first] = predictions;
const shape: number[] = predictions.shape;
print(first, shape.length, model.coefficients?.shape, model.score(X, Float64Array.of(1, 3, 4)));

const two = await new Apr.LinearRegression().fit_async(X, [[1, 10], [3, 10], [4, 15]]);
print(two.predict(X).shape, two.get_coefficients()?.to_array());

const statistics: Apr.RegressionStatistics = new Apr.LinearRegression({fit_intercept: false}).fit(X, [1, 3, 4])
  .get_statistics();
print(statistics.terms, statistics.covariance[0].length, statistics.get_confidence_intervals(0.9).length,
  Array.from(statistics, (term: Apr.Term) => term.name));

const test: Apr.HypothesisTest = await statistics.test_hypothesis_async('x0 = x1');
print([...statistics].map(term => term.estimate), test.f_statistic, statistics.test_hypothesis('x0 = 1').p_values[0],
  model.predict_interval(X, 0.9, 'confidence').length);

model.feature_names = ['a', 'b'];
const fit: Promise<Apr.LinearRegression> = model.fit_async(X, [1, 3, 4]);
print(model.busy, (await fit).feature_names, Apr.get_kernel(), new Apr.CrossProducts({n_features: 2, n_targets: 1}).n_samples);

const writer = new Apr.SafetensorsWriter({durable: false});
writer.add_tensor('weights', [[1, 2], [3, 4]]);
const bytes = await writer.write_to_bytes_async();
const modelBytes = await model.to_bytes_async();
const received: Apr.LinearRegression = await Apr.LinearRegression.from_bytes_async(modelBytes);
const metric: Float64Array = await Apr.compute_metric_async('r2', 'raw_values', [1, 2],
  received.predict([[0, 0], [1, 0]]));
print(metric.length);
const reader = Apr.SafetensorsReader.new_from_bytes(bytes);
for (const name of reader)
  print(name, reader.get_slice(name, '::-1, 0').to_array(), reader.metadata);

const loaded: Apr.LinearRegression = Apr.LinearRegression.from_bytes(model.to_bytes());
print(loaded.predict_one([1, 1]), Apr.r2_score([1, 2], loaded.predict([[0, 0], [1, 0]])));

function refused() {
  // @ts-expect-error: a string is no number
  model.fit([['1']], [1]);
  // @ts-expect-error: the property is called alpha
  new Apr.LinearRegression({lambda: 1});
  // @ts-expect-error: predictions are one typed array, not an array of rows
  const rows: Float64Array[] = model.predict(X);
  // @ts-expect-error: results are read-only
  model.rank = 1;
  // @ts-expect-error: a promise is not the model
  const unfinished: Apr.LinearRegression = model.fit_async(X, [1, 3, 4]);
  return [rows, unfinished];
}
print(typeof refused);
