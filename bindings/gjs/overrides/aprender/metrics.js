/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// The metrics.

const {GLib} = imports.gi;

function extend(Apr, functions) {
  const {fromTensor, promisify, toEnum, toTensor, toWeights} = functions;

  const {compute_metric: computeMetric, Multioutput} = Apr;
  const toArguments = (metric, multioutput, yTrue, yPred, sampleWeight) => [
    toEnum(Apr.Metric, metric, 'metric'), toEnum(Multioutput, multioutput, 'multioutput'),
    toTensor(yTrue, 'y_true'), toTensor(yPred, 'y_pred'), toWeights(sampleWeight)];
  Apr.compute_metric = (metric, multioutput, yTrue, yPred, sampleWeight = null) => fromTensor(
    computeMetric(...toArguments(metric, multioutput, yTrue, yPred, sampleWeight)));

  const computeMetricAsync = promisify(Apr, 'compute_metric');
  Apr.compute_metric_async = async (metric, multioutput, yTrue, yPred, sampleWeight = null, cancellable = null) =>
    fromTensor(await computeMetricAsync.call(Apr, ...toArguments(metric, multioutput, yTrue, yPred, sampleWeight),
      GLib.PRIORITY_DEFAULT, cancellable));

  for (const [name, metric] of [['r2_score', 'R2'], ['explained_variance_score', 'EXPLAINED_VARIANCE'],
    ...['mean_squared_error', 'root_mean_squared_error', 'mean_absolute_error', 'mean_absolute_percentage_error',
      'median_absolute_error'].map(other => [other, other.toUpperCase()])]) {
    Apr[name] = (yTrue, yPred, sampleWeight = null, multioutput = Multioutput.UNIFORM_AVERAGE) => {
      const type = toEnum(Multioutput, multioutput, 'multioutput');
      const values = Apr.compute_metric(Apr.Metric[metric], type, yTrue, yPred, sampleWeight);
      return type === Multioutput.RAW_VALUES ? values : values[0];
    };
  }

  const maxError = Apr.max_error;
  Apr.max_error = (yTrue, yPred) => maxError(toTensor(yTrue, 'y_true'), toTensor(yPred, 'y_pred'));
}
