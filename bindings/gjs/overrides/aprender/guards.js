/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// Refuses what GJS would change on the way to C without a word.

const {GLib, GObject} = imports.gi;

function extend(Apr, functions) {
  const {DType, Estimator, LinearRegression, SafetensorsReader, SafetensorsWriter, Tensor} = Apr;
  const {describe, readCount: checkCount} = functions;

  const {isArray} = Array;

  // C sees the end of a string at its first NUL: 'a\0b' would be the file 'a'.
  function checkString(string, what) {
    if (typeof string === 'string' && string.includes('\0'))
      throw new TypeError(`${what} has a NUL: ${JSON.stringify(string)}`);
    // GJS makes U+FFFD of each.
    if (typeof string === 'string' && /\p{Surrogate}/u.test(string))
      throw new TypeError(`${what} has half of a surrogate pair: ${JSON.stringify(string)}`);
  }

  function checkStrings(value, what) {
    if (isArray(value))
      value.forEach(string => checkString(string, what));
    else
      checkString(value, what);
  }

  function checkNames(names, what) {
    checkStrings(names, what);
    const wrong = isArray(names) ? names.findIndex(name => typeof name !== 'string') : -1;
    if (wrong >= 0)
      throw new TypeError(`${what} must be a string, not ${describe(names[wrong])}`);
  }

  function isType(value) {
    return typeof value === 'function' || String(value).startsWith('[object GType ');
  }

  // Checks the arguments of a function before it is called. The first of several may be a class, or its type.
  function guard(object, name, ...checks) {
    const original = object[name];
    object[name] = function (...args) {
      const first = args.length > 1 && isType(args[0]) ? 1 : 0;
      checks.forEach(([check, what], i) => {
        const value = args[first + i];
        if (check === checkString)
          checkStrings(value, what);
        else if (value !== undefined)
          check?.(value, what);
      });
      return original.apply(this, args);
    };
  }

  // GJS would take a file, bytes or a tensor for an object that sets no property.
  function guardConstructor(type) {
    const {_init: init} = type.prototype;
    type.prototype._init = function (properties = {}, ...rest) {
      if ([GObject.Object, GLib.Bytes, Tensor].some(other => properties instanceof other)) {
        const names = GObject.Object.list_properties.call(type).filter(({flags}) => flags & GObject.ParamFlags.WRITABLE)
          .map(({name}) => name.replaceAll('-', '_')).sort();
        throw new TypeError(`The constructor of ${type.name.replace(/^Apr_/, '')} takes {${names.join(', ')}}: ` +
          `name the property, as in {${names[0]}: value}`);
      }
      return init.call(this, properties, ...rest);
    };
  }

  // Checks the strings that properties are set to: by the constructor, by assignment, and by set_property().
  function guardProperties(type) {
    const isString = ({flags, value_type: valueType}) => flags & GObject.ParamFlags.WRITABLE &&
      (valueType === GObject.TYPE_STRING || valueType.name === 'GStrv');
    const names = new Set(GObject.Object.list_properties.call(type).filter(isString).map(({name}) => name));
    const toName = key => key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`).replaceAll('_', '-');
    const check = (key, value) => names.has(toName(key)) && checkNames(value, `The property “${toName(key)}”`);

    if (names.size === 0)
      return;
    const {_init: init} = type.prototype;
    type.prototype._init = function (properties = {}, ...rest) {
      Object.entries(properties ?? {}).forEach(([key, value]) => check(key, value));
      return init.call(this, properties, ...rest);
    };
    const {set_property: setProperty} = type.prototype;
    type.prototype.set_property = function (name, value) {
      if (typeof name !== 'string')
        throw new TypeError(`The name in set_property must be a string, not ${describe(name)}`);
      check(name, value);
      setProperty.call(this, name, value);
    };
    for (const name of names) {
      const spellings = [name, name.replaceAll('-', '_'), name.replace(/-(.)/g, (_, letter) => letter.toUpperCase())];
      for (const key of new Set(spellings)) {
        const {get, set} = Object.getOwnPropertyDescriptor(type.prototype, key) ?? {};
        if (set === undefined)
          continue;
        Object.defineProperty(type.prototype, key, {
          get,
          set(value) {
            check(key, value);
            set.call(this, value);
          },
          configurable: true,
          enumerable: true,
        });
      }
    }
  }

  const anything = [null, ''];
  const path = [checkString, 'The path'];
  const tensorName = [checkString, 'The name of a tensor'];
  const featureNames = [checkNames, 'The name of a feature'];
  const targetNames = [checkNames, 'The name of a target'];
  const indices = [checkString, 'The text of indices'];

  for (const type of [Estimator, LinearRegression, Apr.CrossProducts]) {
    guard(type, 'load', path);
    for (const [name, check] of [['save', path], ['set_feature_names', featureNames],
      ['check_feature_names', featureNames], ['set_target_names', targetNames], ['check_target_names', targetNames]]) {
      if (Object.prototype.hasOwnProperty.call(type.prototype, name))
        guard(type.prototype, name, check);
    }
  }
  for (const name of ['set_result', 'get_result'])
    guard(Estimator.prototype, name, [checkString, 'The name of a result']);
  for (const name of ['new', 'new_with_precision'])
    guard(Apr.CrossProducts, name, [checkCount, 'The number of features'], [checkCount, 'The number of targets']);
  guard(Apr.CrossProducts.prototype, 'set_identity', [checkString, 'The identity']);
  for (const type of [Estimator, LinearRegression, Apr.CrossProducts, Apr.TableReader, SafetensorsReader, SafetensorsWriter]) {
    guardProperties(type);
    guardConstructor(type);
  }
  guard(DType, 'from_string', [checkString, 'The name of a dtype']);
  guard(Apr, 'dtype_from_string', [checkString, 'The name of a dtype']);
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
  guard(Apr.GroupFits.prototype, 'check', [checkCount, 'The group']);
  const columns = [checkNames, 'The name of a column'];
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
