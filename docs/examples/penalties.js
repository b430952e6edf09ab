// SPDX-License-Identifier: LGPL-2.1-or-later
import Apr from 'gi://Apr?version=1.0';

// 60 samples of 40 features, of which two matter.
const X = new Float64Array(60 * 40).map((_, i) => Math.sin(i * i));
X.shape = [60, 40];
const y = Float64Array.from({length: 60}, (_, i) => 3 * X[40 * i] - X[40 * i + 1] + Math.sin(i ** 3));

const folds = Apr.Folds.new_shuffled(X, y, null, 10, 42);
const model = new Apr.LinearRegression();
for (const alpha of [0, 1, 10, 100]) {
  model.alpha = alpha;
  const scores = await model.cross_validate_async(folds, 'root_mean_squared_error');
  print(alpha, (scores.reduce((sum, score) => sum + score) / scores.length).toFixed(2));
}

// Samples of the same day are set aside together. The predictions are those of models that have not seen the day.
const days = Array.from(y, (_, i) => ['Monday', 'Tuesday', 'Wednesday'][i % 3]);
model.alpha = 1;
const predictions = model.cross_predict(Apr.Folds.new_from_labels(X, y, null, days));
print(Apr.r2_score(y, predictions).toFixed(2), model.fitted);
