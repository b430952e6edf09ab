/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported _init */

// Makes arrays, typed arrays and promises at home in Apr. Numbers cross over as bytes, in one copy: GJS would
// convert them one by one, and take null for 0 and undefined for NaN on the way.

const {GObject, Gio, GLib} = imports.gi;

const MAX_DEPTH = 32;

function _init() {
  const Apr = this;
  const {DType, Estimator, LinearRegression, SafetensorsReader, SafetensorsWriter, Tensor} = Apr;

  // Globals are slow to find from here, and these are asked for in every row.
  const {isArray} = Array;
  const {isView} = ArrayBuffer;
  const {DataView} = globalThis;

  const arrayTypes = new Map([
    [DType.I8, Int8Array],
    [DType.U8, Uint8Array],
    [DType.I16, Int16Array],
    [DType.U16, Uint16Array],
    [DType.I32, Int32Array],
    [DType.U32, Uint32Array],
    [DType.I64, BigInt64Array],
    [DType.U64, BigUint64Array],
    [DType.F32, Float32Array],
    [DType.F64, Float64Array],
  ]);
  const dtypes = new Map([...arrayTypes].map(([dtype, arrayType]) => [arrayType.name, dtype]));
  dtypes.set('Uint8ClampedArray', DType.U8);

  // Tensors are little-endian everywhere, typed arrays are as the machine is.
  const isBigEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 0;

  function swapBytes(bytes, width) {
    for (let i = 0; i < bytes.length; i += width)
      bytes.subarray(i, i + width).reverse();
  }

  function isTypedArray(value) {
    return isView(value) && !(value instanceof DataView);
  }

  function isList(value) {
    return isArray(value) || isTypedArray(value);
  }

  function describe(value) {
    if (isList(value))
      return 'an array';
    if (typeof value === 'string')
      return `the string “${value}”`;
    if (typeof value === 'number' || typeof value === 'boolean' || value === null || value === undefined)
      return String(value);

    const type = value.constructor?.name ?? typeof value;
    return `${/^[AEIOU]/i.test(type) ? 'an' : 'a'} ${type}`;
  }

  function describePlace(index) {
    const names = ['row', 'column'];
    const place = index.length > names.length
      ? `[${index.join(', ')}]`
      : index.map((position, dim) => `${names[dim]} ${position}`).join(', ');
    return `${place} (counted from 0)`;
  }

  // By the first entry at each depth: flatten() holds all the others against it.
  function findShape(values, name) {
    const shape = [];
    for (; isList(values); values = values[0]) {
      // An array that is its own entry has no end.
      if (shape.length === MAX_DEPTH)
        throw new TypeError(`${name} has more than ${MAX_DEPTH} arrays within each other`);
      shape.push(values.length);
    }
    return shape;
  }

  // Nested arrays of numbers in one Float64Array, or Float32Array where all of them are in Float32Arrays.
  function flatten(values, shape, name) {
    const flat = new Float64Array(shape.reduce((product, size) => product * size, 1));
    const index = [];
    let offset = 0;
    let isFloat32 = true;

    function checkList(list) {
      if (!isList(list))
        throw new TypeError(`${name} has ${describe(list)} at ${describePlace(index)}, not an array`);
      if (list.length !== shape[index.length]) {
        throw new GLib.Error(Apr.Error, Apr.Error.SHAPE,
          `${name} is ragged: the length at ${describePlace(index)} is ${list.length}, but before it was ` +
          `${shape[index.length]}`);
      }
    }

    function appendNumbers(list) {
      if (isTypedArray(list) && typeof list[0] === 'number') {
        flat.set(list, offset);
        offset += list.length;
        isFloat32 &&= list instanceof Float32Array;
        return;
      }

      isFloat32 = false;
      for (let i = 0; i < list.length; i++) {
        const number = list[i];

        if (typeof number !== 'number') {
          index.push(i);
          throw new TypeError(`${name} has ${describe(number)} at ${describePlace(index)}, not a number`);
        }
        flat[offset++] = number;
      }
    }

    function append(list) {
      checkList(list);
      if (index.length === shape.length - 1) {
        appendNumbers(list);
        return;
      }
      for (let i = 0; i < list.length; i++) {
        index.push(i);
        append(list[i]);
        index.pop();
      }
    }

    append(values);
    return isFloat32 ? new Float32Array(flat) : flat;
  }

  function checkShape(shape) {
    if (!isList(shape) || !Array.from(shape).every(size => Number.isSafeInteger(size) && size >= 0))
      throw new TypeError(`A shape is an array of whole numbers, not ${JSON.stringify(shape)}`);
    return shape;
  }

  function toTensor(values, name, shape = null) {
    if (values instanceof Tensor)
      return shape === null ? values : Tensor.new_from_bytes(values.dtype, shape, values.get_bytes());

    if (typeof values === 'number')
      return toTensor([values], name, shape ?? []);
    if (!isList(values)) {
      throw new TypeError(`${name} must be numbers in arrays or in a typed array, or an Apr.Tensor, ` +
        `not ${describe(values)}`);
    }

    const ownShape = findShape(values, name);
    if (!isTypedArray(values))
      values = flatten(values, ownShape, name);

    const dtype = dtypes.get(values[Symbol.toStringTag]);
    if (dtype === undefined)
      throw new TypeError(`${name} cannot be a ${values[Symbol.toStringTag]}`);

    let bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    if (isBigEndian) {
      bytes = bytes.slice();
      swapBytes(bytes, values.BYTES_PER_ELEMENT);
    }
    return Tensor.new_from_bytes(dtype, shape ?? ownShape, bytes);
  }

  function toWeights(values) {
    return values === null ? null : toTensor(values, 'sample_weight');
  }

  // Cuts one typed array into nested arrays of typed arrays. Slices: many views slow the collector down.
  function nest(array, shape, makeInnermost = innermost => innermost) {
    if (shape.length === 1)
      return makeInnermost(array);

    const [length, ...rest] = shape;
    const stride = array.length / length;
    return Array.from({length},
      (_, i) => nest(array.slice(i * stride, (i + 1) * stride), rest, makeInnermost));
  }

  // The elements as numbers, also of the dtypes that JavaScript has no typed array for.
  function toNumbers(tensor) {
    return (arrayTypes.has(tensor.dtype) ? tensor : tensor.cast(DType.F32)).to_typed_array();
  }

  function fromTensor(tensor) {
    return tensor === null ? null : nest(toNumbers(tensor), tensor.shape);
  }

  function defineGetter(object, name, get) {
    Object.defineProperty(object, name, {get, configurable: true, enumerable: true});
  }

  // Tensor

  Tensor.from = (values, shape = null) =>
    toTensor(values, 'The tensor', shape === null ? null : checkShape(shape));

  Tensor.new_from_floats = (values, shape) => Tensor.from(values, checkShape(shape)).cast(DType.F32);

  Tensor.new_from_doubles = (values, shape) => Tensor.from(values, checkShape(shape)).cast(DType.F64);

  defineGetter(Tensor.prototype, 'dtype', function () {
    return this.get_dtype();
  });

  defineGetter(Tensor.prototype, 'shape', function () {
    return this.get_shape();
  });

  Tensor.prototype.to_typed_array = function () {
    const ArrayType = arrayTypes.get(this.dtype) ?? Uint8Array;
    // GJS before 1.81.2 hands out the tensor's own memory, and lets one write there.
    const bytes = this.get_bytes().toArray().slice();

    if (isBigEndian)
      swapBytes(bytes, ArrayType.BYTES_PER_ELEMENT);
    return new ArrayType(bytes.buffer);
  };

  Tensor.prototype.to_array = function () {
    const numbers = toNumbers(this);
    return this.get_n_dims() === 0 ? numbers[0] : nest(numbers, this.shape, row => Array.from(row));
  };

  Tensor.prototype[Symbol.iterator] = function () {
    if (this.get_n_dims() === 0)
      throw new TypeError('A scalar has no rows');
    return fromTensor(this)[Symbol.iterator]();
  };

  Tensor.prototype.toString = Tensor.prototype.to_string;

  // SafeTensors

  const newFromFile = SafetensorsReader.new_from_file;
  SafetensorsReader.new_from_file = function (file, cancellable = null) {
    return newFromFile.call(this, file, cancellable);
  };

  const newFromStream = SafetensorsReader.new_from_stream;
  SafetensorsReader.new_from_stream = function (stream, cancellable = null) {
    return newFromStream.call(this, stream, cancellable);
  };

  Gio._promisify(SafetensorsReader, 'new_from_file_async', 'new_from_file_finish');
  const newFromFileAsync = SafetensorsReader.new_from_file_async;
  SafetensorsReader.new_from_file_async = function (file, priority = GLib.PRIORITY_DEFAULT,
    cancellable = null, ...rest) {
    return newFromFileAsync.call(this, file, priority, cancellable, ...rest);
  };

  SafetensorsReader.prototype[Symbol.iterator] = function () {
    return this.get_names()[Symbol.iterator]();
  };

  // GJS 1.74 takes the bytes of a hash table's key for Latin-1.
  const [probe] = Object.keys(GLib.Uri.parse_params('é=', -1, '&', GLib.UriParamsFlags.NONE));
  const fixKey = probe === 'é'
    ? key => key
    : key => new TextDecoder().decode(Uint8Array.from(key, character => character.charCodeAt(0)));

  defineGetter(SafetensorsReader.prototype, 'metadata', function () {
    const entries = Object.entries(this.get_metadata()).map(([key, value]) => [fixKey(key), value]);
    return Object.fromEntries(entries.sort(([a], [b]) => GLib.strcmp0(a, b)));
  });

  const addTensor = SafetensorsWriter.prototype.add_tensor;
  SafetensorsWriter.prototype.add_tensor = function (name, tensor) {
    return addTensor.call(this, name, toTensor(tensor, `The tensor “${name}”`));
  };

  // A cancellable may be left out.
  for (const [name, nArguments] of [['write_to_file', 1], ['write_to_stream', 1], ['write_shards', 3]]) {
    const write = SafetensorsWriter.prototype[name];
    SafetensorsWriter.prototype[name] = function (...args) {
      return write.call(this, ...args, ...args.length === nArguments ? [null] : []);
    };
  }

  Gio._promisify(SafetensorsWriter.prototype, 'write_to_file_async', 'write_to_file_finish');
  const writeToFileAsync = SafetensorsWriter.prototype.write_to_file_async;
  SafetensorsWriter.prototype.write_to_file_async = function (file, cancellable = null, ...rest) {
    return writeToFileAsync.call(this, file, cancellable, ...rest);
  };

  // Estimator

  function count(n, what) {
    return `${n} ${what}${n === 1 ? '' : 's'}`;
  }

  function isHyperParameter({flags}) {
    // As apr_hyper_parameters_list() has it.
    const wanted = GObject.ParamFlags.READWRITE;
    return (flags & (wanted | GObject.ParamFlags.DEPRECATED | Apr.PARAM_TRANSIENT)) === wanted;
  }

  function showValue(value, pspec) {
    if (pspec.value_type === DType.$gtype)
      return `Apr.DType.${Object.keys(DType).find(name => DType[name] === value)}`;
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  }

  Estimator.prototype.toString = function () {
    const values = GObject.Object.list_properties.call(this.constructor)
      .filter(pspec => isHyperParameter(pspec) && this[pspec.name] !== pspec.get_default_value())
      .map(pspec => `${pspec.name.replace(/-/g, '_')}: ${showValue(this[pspec.name], pspec)}`)
      .sort();
    let text = `new ${this.constructor.name.replace(/^Apr_/, 'Apr.')}`;

    text += values.length > 0 ? `({${values.join(', ')}})` : '()';
    if (this.fitted)
      text += `, fitted: ${count(this.n_features, 'feature')}`;
    if (this.fitted && this.n_targets !== 1)
      text += `, ${count(this.n_targets, 'target')}`;
    return text;
  };

  defineGetter(Estimator.prototype, 'feature_names', function () {
    return this.get_feature_names();
  });

  const {fit, predict, score} = Estimator.prototype;

  Estimator.prototype.fit = function (X, y, sampleWeight = null, cancellable = null) {
    fit.call(this, toTensor(X, 'X'), toTensor(y, 'y'), toWeights(sampleWeight), cancellable);
    return this;
  };

  Gio._promisify(Estimator.prototype, 'fit_async', 'fit_finish');
  const fitAsync = Estimator.prototype.fit_async;
  Estimator.prototype.fit_async = async function (X, y, sampleWeight = null, cancellable = null, ...rest) {
    // The rest is a callback, for those who want one.
    await fitAsync.call(this, toTensor(X, 'X'), toTensor(y, 'y'), toWeights(sampleWeight), cancellable,
      ...rest);
    return this;
  };

  Estimator.prototype.predict = function (X) {
    return fromTensor(predict.call(this, toTensor(X, 'X')));
  };

  Estimator.prototype.score = function (X, y, sampleWeight = null) {
    return score.call(this, toTensor(X, 'X'), toTensor(y, 'y'), toWeights(sampleWeight));
  };

  // Of a class that was written in JavaScript, which has no typed constructors: Model.load(path).
  for (const name of ['load', 'from_bytes']) {
    const create = Estimator[name];
    Estimator[name] = function (...args) {
      return args.length > 1 ? create(...args) : create(this, ...args);
    };
  }

  // The typed constructors make no subclass.
  for (const name of ['load', 'from_bytes']) {
    const create = LinearRegression[name];
    LinearRegression[name] = function (source) {
      return this === LinearRegression ? create.call(this, source) : Estimator[name].call(this, source);
    };
  }

  for (const name of ['coefficients', 'intercept']) {
    defineGetter(LinearRegression.prototype, name, function () {
      return fromTensor(this[`get_${name}`]());
    });
  }

  const getStatistics = LinearRegression.prototype.get_statistics;
  LinearRegression.prototype.get_statistics = function (target = 0) {
    return getStatistics.call(this, target);
  };

  const predictInterval = LinearRegression.prototype.predict_interval;
  LinearRegression.prototype.predict_interval = function (X, level = 0.95, kind = Apr.IntervalKind.PREDICTION) {
    const [, lower, upper] = predictInterval.call(this, toTensor(X, 'X'), level, kind);
    return [fromTensor(lower), fromTensor(upper)];
  };

  const {RegressionStatistics} = Apr;
  for (const name of ['coefficients', 'standard_errors', 't_values', 'p_values', 'variance_inflation', 'covariance']) {
    defineGetter(RegressionStatistics.prototype, name, function () {
      return fromTensor(this[`get_${name}`]());
    });
  }

  const getConfidenceIntervals = RegressionStatistics.prototype.get_confidence_intervals;
  RegressionStatistics.prototype.get_confidence_intervals = function (level = 0.95) {
    return fromTensor(getConfidenceIntervals.call(this, level));
  };

  RegressionStatistics.prototype.toString = RegressionStatistics.prototype.to_string;

  // CrossProducts

  const {update} = Apr.CrossProducts.prototype;
  Apr.CrossProducts.prototype.update = function (X, y, sampleWeight = null, cancellable = null) {
    update.call(this, toTensor(X, 'X'), toTensor(y, 'y'), toWeights(sampleWeight), cancellable);
    return this;
  };

  for (const name of ['n_features', 'n_targets', 'n_samples', 'feature_names']) {
    defineGetter(Apr.CrossProducts.prototype, name, function () {
      return this[`get_${name}`]();
    });
  }

  Apr.CrossProducts.prototype.toString = function () {
    return `[Apr.CrossProducts: ${count(this.n_samples, 'sample')}, ${count(this.n_features, 'feature')}, ` +
      `${count(this.n_targets, 'target')}]`;
  };

  const partialFit = LinearRegression.prototype.partial_fit;
  LinearRegression.prototype.partial_fit = function (X, y, sampleWeight = null, cancellable = null) {
    partialFit.call(this, toTensor(X, 'X'), toTensor(y, 'y'), toWeights(sampleWeight), cancellable);
    return this;
  };

  const fitCrossProducts = LinearRegression.prototype.fit_cross_products;
  LinearRegression.prototype.fit_cross_products = function (state) {
    fitCrossProducts.call(this, state);
    return this;
  };

  // Metrics

  for (const name of ['r2_score', 'explained_variance_score', 'mean_squared_error', 'root_mean_squared_error',
    'mean_absolute_error']) {
    const metric = Apr[name];
    Apr[name] = (yTrue, yPred, sampleWeight = null) =>
      metric(toTensor(yTrue, 'y_true'), toTensor(yPred, 'y_pred'), toWeights(sampleWeight));
  }

  const maxError = Apr.max_error;
  Apr.max_error = (yTrue, yPred) => maxError(toTensor(yTrue, 'y_true'), toTensor(yPred, 'y_pred'));

  const {predict_one: predictOne} = Apr.LinearRegression.prototype;
  Apr.LinearRegression.prototype.predict_one = function (x) {
    const shape = isList(x) ? findShape(x, 'x') : [];
    if (shape.length !== 1)
      throw new TypeError(`x must be the features of one sample in an array, not ${describe(x)}`);
    return predictOne.call(this, isTypedArray(x) ? Array.from(x, Number) : flatten(x, shape, 'x'));
  };
}
