/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// Refuses what GJS would change on the way to C without a word.

function extend(Apr, functions) {
  const {DType, Estimator, LinearRegression, SafetensorsReader, SafetensorsWriter, Tensor} = Apr;
  const {readCount: checkCount} = functions;

  const {isArray} = Array;

  // C sees the end of a string at its first NUL: 'a\0b' would be the file 'a'.
  function checkString(string, what) {
    if (typeof string === 'string' && string.includes('\0'))
      throw new TypeError(`${what} has a NUL: ${JSON.stringify(string)}`);
  }

  // Checks the arguments of a function before it is called. The first of several may be a class.
  function guard(object, name, ...checks) {
    const original = object[name];
    object[name] = function (...args) {
      const first = typeof args[0] === 'function' ? 1 : 0;
      checks.forEach(([check, what], i) => {
        const value = args[first + i];
        if (isArray(value) && check === checkString)
          value.forEach(string => check(string, what));
        else if (value !== undefined)
          check?.(value, what);
      });
      return original.apply(this, args);
    };
  }

  const anything = [null, ''];
  const path = [checkString, 'The path'];
  const tensorName = [checkString, 'The name of a tensor'];
  const featureNames = [checkString, 'The name of a feature'];
  const indices = [checkString, 'The text of indices'];

  for (const type of [Estimator, LinearRegression, Apr.CrossProducts]) {
    guard(type, 'load', path);
    for (const [name, check] of [['save', path], ['set_feature_names', featureNames],
      ['check_feature_names', featureNames]]) {
      if (Object.prototype.hasOwnProperty.call(type.prototype, name))
        guard(type.prototype, name, check);
    }
  }
  for (const name of ['set_result', 'get_result'])
    guard(Estimator.prototype, name, [checkString, 'The name of a result']);
  guard(Apr.CrossProducts.prototype, 'set_identity', [checkString, 'The identity']);
  guard(DType, 'from_string', [checkString, 'The name of a dtype']);
  guard(Tensor.prototype, 'slice', indices);
  guard(Tensor.prototype, 'slice_rows', [checkCount, 'The first row'], [checkCount, 'The last row']);
  guard(Tensor.prototype, 'get_double', [checkCount, 'The index']);
  guard(SafetensorsReader, 'new_from_path', path);
  for (const name of ['has_tensor', 'get_dtype', 'get_shape', 'get_size', 'get_offset', 'get_tensor', 'get_tensor_async'])
    guard(SafetensorsReader.prototype, name, tensorName);
  for (const name of ['get_slice', 'get_slice_async'])
    guard(SafetensorsReader.prototype, name, tensorName, indices);
  for (const name of ['add_tensor', 'declare_tensor', 'set_source_bytes', 'set_source_stream'])
    guard(SafetensorsWriter.prototype, name, tensorName);
  for (const name of ['parse_hypothesis', 'test_hypothesis', 'test_hypothesis_async'])
    guard(Apr.RegressionStatistics.prototype, name, [checkString, 'The text of hypotheses']);
  const target = [checkCount, 'The target'];
  for (const suffix of ['', '_async']) {
    guard(LinearRegression.prototype, `get_statistics${suffix}`, target);
    guard(LinearRegression.prototype, `diagnose${suffix}`, anything, anything, anything, target);
    guard(LinearRegression.prototype, `get_robust_statistics${suffix}`, anything, anything, anything, anything, target);
  }
  const columns = [checkString, 'The name of a column'];
  guard(Apr.TableReader, 'new', anything, [checkString, 'The name of a table']);
  guard(Apr.TableReader.prototype, 'set_delimiter', [checkString, 'The delimiter']);
  for (const name of ['set_features', 'set_targets', 'set_weight', 'read_categories', 'read_categories_async'])
    guard(Apr.TableReader.prototype, name, columns);
  guard(SafetensorsWriter.prototype, 'set_metadata', [checkString, 'A metadata key'],
    [checkString, 'A metadata value']);
  guard(SafetensorsWriter.prototype, 'set_alignment', [checkCount, 'The alignment']);
  guard(SafetensorsWriter.prototype, 'write_to_path', path);
  for (const name of ['write_shards', 'write_shards_async']) {
    guard(SafetensorsWriter.prototype, name, anything, [checkString, 'The prefix'],
      [checkCount, 'The size of a shard']);
  }
}
