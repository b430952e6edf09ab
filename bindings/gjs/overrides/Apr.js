/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported _init */

// Lets Apr take and return JavaScript's arrays, typed arrays and promises. Numbers cross over as bytes, in one copy: GJS
// would convert them one by one, and turn null into 0 and undefined into NaN on the way.

const {GObject, Gio, GLib} = imports.gi;

const MAX_DEPTH = 32;

// An asynchronous call copies larger arrays in slices, and lets the main loop run in between. A slice takes less than
// a millisecond.
const SLICE_SIZE = 1 << 20;
const MAX_COPY_SIZE = 4 * SLICE_SIZE;

// How many elements of arrays in arrays are looked at before the main loop may run.
const SLICE_ELEMENTS = 1 << 15;

function _init() {
  const Apr = this;
  const {DType, Estimator, LinearRegression, SafetensorsReader, SafetensorsWriter, Tensor} = Apr;

  // Globals are slow to look up from here, and these are used in every row.
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

  // Tensors are always little-endian; typed arrays have the byte order of the machine.
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

  // The shape by the first entry at each depth. A Flattener checks all others against it.
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

  // Copies nested arrays of numbers into one Float64Array, as many of the outermost entries at a time as is asked for.
  class Flattener {
    constructor(values, shape, name) {
      Object.assign(this, {values, shape, name});
      this.flat = new Float64Array(shape.reduce((product, size) => product * size, 1));
      this.index = [];
      this.offset = 0;
      this.isFloat32 = true; // all numbers so far were in a Float32Array
    }

    checkList(list) {
      const {name, shape, index} = this;
      if (!isList(list))
        throw new TypeError(`${name} has ${describe(list)} at ${describePlace(index)}, not an array`);
      if (list.length !== shape[index.length]) {
        throw new GLib.Error(Apr.Error, Apr.Error.SHAPE,
          `${name} is ragged: the length at ${describePlace(index)} is ${list.length}, but before it was ` +
          `${shape[index.length]}`);
      }
    }

    appendNumbers(list, start, stop) {
      if (isTypedArray(list) && typeof list[0] === 'number') {
        this.flat.set(start === 0 && stop === list.length ? list : list.subarray(start, stop), this.offset);
        this.offset += stop - start;
        this.isFloat32 &&= list instanceof Float32Array;
        return;
      }

      const {flat, index, name} = this;
      this.isFloat32 = false;
      for (let i = start; i < stop; i++) {
        const number = list[i];

        if (typeof number !== 'number') {
          index.push(i);
          throw new TypeError(`${name} has ${describe(number)} at ${describePlace(index)}, not a number`);
        }
        flat[this.offset++] = number;
      }
    }

    append(list, start, stop) {
      const {index} = this;
      if (index.length === this.shape.length - 1) {
        this.appendNumbers(list, start, stop);
        return;
      }
      for (let i = start; i < stop; i++) {
        index.push(i);
        this.checkList(list[i]);
        this.append(list[i], 0, list[i].length);
        index.pop();
      }
    }

    // The outermost entries from start up to stop.
    appendSome(start, stop) {
      this.append(this.values, start, stop);
    }
  }

  // Nested arrays of numbers in one Float64Array, or in a Float32Array if all of them are in Float32Arrays.
  function flatten(values, shape, name) {
    const flattener = new Flattener(values, shape, name);
    flattener.appendSome(0, values.length);
    return flattener.isFloat32 ? new Float32Array(flattener.flat) : flattener.flat;
  }

  // C sees the end of a string at its first NUL: 'a\0b' would be the file 'a'.
  function checkString(string, what) {
    if (typeof string === 'string' && string.includes('\0'))
      throw new TypeError(`${what} has a NUL: ${JSON.stringify(string)}`);
  }

  // GJS cuts fractions off, and makes a large number of a negative one.
  function checkCount(number, what) {
    if (!Number.isSafeInteger(number) || number < 0)
      throw new TypeError(`${what} must be a whole number from 0 on, not ${describe(number)}`);
  }

  function checkShape(shape) {
    if (!isList(shape) || !Array.from(shape).every(size => Number.isSafeInteger(size) && size >= 0))
      throw new TypeError(`A shape is an array of whole numbers, not ${JSON.stringify(shape)}`);
    return shape;
  }

  function findDType(array, name) {
    const dtype = dtypes.get(array[Symbol.toStringTag]);
    if (dtype === undefined)
      throw new TypeError(`${name} cannot be a ${array[Symbol.toStringTag]}`);
    return dtype;
  }

  function checkValues(values, name) {
    if (!isList(values)) {
      throw new TypeError(`${name} must be numbers in arrays or in a typed array, or an Apr.Tensor, ` +
        `not ${describe(values)}`);
    }
  }

  // The bytes of a typed array, little-endian: its own memory if possible.
  function toBytes(array) {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    if (!isBigEndian)
      return bytes;
    const swapped = bytes.slice();
    swapBytes(swapped, array.BYTES_PER_ELEMENT);
    return swapped;
  }

  // Where an array that Apr has returned keeps the shape of its elements.
  const SHAPE = 'shape';

  function toTensor(values, name, shape = null) {
    if (values instanceof Tensor)
      return shape === null ? values : Tensor.new_from_bytes(values.dtype, shape, values.get_bytes());

    if (typeof values === 'number')
      return toTensor([values], name, shape ?? []);
    checkValues(values, name);

    // What a model has returned knows its shape.
    const ownShape = values[SHAPE] ?? findShape(values, name);
    if (!isTypedArray(values))
      values = flatten(values, ownShape, name);
    return Tensor.new_from_bytes(findDType(values, name), shape ?? ownShape, toBytes(values));
  }

  // Resolves when the main loop has run everything that waits.
  function letMainLoopRun() {
    return new Promise(resolve => GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, () => {
      resolve();
      return GLib.SOURCE_REMOVE;
    }));
  }

  // Copies a typed array, block by block as the writer's thread asks for them; the elements may change their type.
  async function copyInSlices(array, ArrayType, shape, name, cancellable) {
    const writer = new SafetensorsWriter();
    const width = ArrayType.BYTES_PER_ELEMENT;

    writer.declare_tensor(name, dtypes.get(ArrayType.name), shape);
    writer.set_data_func((_writer, _name, offset, size) => {
      const part = array.subarray(offset / width, (offset + size) / width);
      return toBytes(array instanceof ArrayType ? part : new ArrayType(part));
    });
    const file = await writer.write_to_bytes_async(GLib.PRIORITY_DEFAULT, cancellable);
    return SafetensorsReader.new_from_bytes(file).get_tensor(name);
  }

  // As toTensor(), but a large array does not stop the main loop while it is copied.
  async function toTensorInSlices(values, name, cancellable) {
    if (values instanceof Tensor || typeof values === 'number')
      return toTensor(values, name);
    checkValues(values, name);

    const shape = values[SHAPE] ?? findShape(values, name);
    const size = shape.reduce((product, n) => product * n, isTypedArray(values) ? values.BYTES_PER_ELEMENT : 8);
    if (size <= MAX_COPY_SIZE)
      return toTensor(values, name);
    if (isTypedArray(values)) {
      findDType(values, name);
      return copyInSlices(values, values.constructor, shape, name, cancellable);
    }

    const flattener = new Flattener(values, shape, name);
    const nTogether = Math.max(1, Math.floor(SLICE_ELEMENTS * values.length / flattener.flat.length));
    for (let i = 0; i < values.length; i += nTogether) {
      flattener.appendSome(i, Math.min(i + nTogether, values.length));
      await letMainLoopRun();
      // An array is not ours, and may have become shorter.
      if (values.length !== shape[0])
        throw new Error(`${name} was changed while it was copied`);
      cancellable?.set_error_if_cancelled();
    }
    return copyInSlices(flattener.flat, flattener.isFloat32 ? Float32Array : Float64Array, shape, name, cancellable);
  }

  // All small arrays are copied before the promise is returned to the caller, who may change them then.
  function toTensorsInSlices(X, y, sampleWeight, cancellable) {
    return Promise.all([
      toTensorInSlices(X, 'X', cancellable),
      toTensorInSlices(y, 'y', cancellable),
      sampleWeight === null ? null : toTensorInSlices(sampleWeight, 'sample_weight', cancellable),
    ]);
  }

  function toWeights(values) {
    return values === null ? null : toTensor(values, 'sample_weight');
  }

  // Cuts one typed array into nested arrays of typed arrays. The pieces are copies: many views slow the garbage
  // collector down.
  function nest(array, shape, makeInnermost = innermost => innermost) {
    if (shape.length === 1)
      return makeInnermost(array);

    const [length, ...rest] = shape;
    const stride = array.length / length;
    return Array.from({length},
      (_, i) => nest(array.slice(i * stride, (i + 1) * stride), rest, makeInnermost));
  }

  // The bytes of a tensor. GJS before 1.81.2 hands out the tensor's own memory, and lets one write there.
  function getBytes(tensor) {
    return tensor.get_bytes().toArray();
  }

  function toTypedArray(bytes, dtype) {
    const ArrayType = arrayTypes.get(dtype) ?? Uint8Array;

    if (isBigEndian)
      swapBytes(bytes, ArrayType.BYTES_PER_ELEMENT);
    return new ArrayType(bytes.buffer, bytes.byteOffset, bytes.byteLength / ArrayType.BYTES_PER_ELEMENT);
  }

  // A tensor of numbers, whose dtype has a typed array in JavaScript.
  function toNumeric(tensor) {
    return arrayTypes.has(tensor.dtype) ? tensor : tensor.cast(DType.F32);
  }

  // The elements as numbers.
  function toNumbers(tensor) {
    return toNumeric(tensor).to_typed_array();
  }

  // What a model returns: a typed array of all elements, row by row, with the property "shape". So it has one type,
  // whether there is one target or several. The memory of a tensor that nobody else has is not copied.
  function toShapedArray(tensor, isNobodyElses = false) {
    if (tensor === null)
      return null;
    const array = isNobodyElses && arrayTypes.has(tensor.dtype) && tensor.get_n_elements() > 0
      ? toTypedArray(getBytes(tensor), tensor.dtype)
      : toNumbers(tensor);
    return Object.defineProperty(array, SHAPE, {value: tensor.shape});
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
    return toTypedArray(getBytes(this).slice(), this.dtype);
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

  // A reader that was made with properties opens its file when it is first used, and that is where the error comes from.
  for (const name of ['get_names', 'get_names_in_file_order', 'has_tensor', 'get_dtype', 'get_shape', 'get_size',
    'get_offset', 'get_tensor', 'get_slice', 'get_metadata', 'get_metadata_keys']) {
    const method = SafetensorsReader.prototype[name];
    SafetensorsReader.prototype[name] = function (...args) {
      this.init(null);
      return method.apply(this, args);
    };
  }

  SafetensorsReader.prototype[Symbol.iterator] = function () {
    return this.get_names()[Symbol.iterator]();
  };

  // GJS 1.74 decodes the keys of a hash table as Latin-1.
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

  const declareTensor = SafetensorsWriter.prototype.declare_tensor;
  SafetensorsWriter.prototype.declare_tensor = function (name, dtype, shape) {
    return declareTensor.call(this, name, dtype, checkShape(shape));
  };

  // The cancellable is optional.
  for (const [name, nArguments] of [['write_to_file', 1], ['write_to_stream', 1], ['write_shards', 3]]) {
    const write = SafetensorsWriter.prototype[name];
    SafetensorsWriter.prototype[name] = function (...args) {
      return write.call(this, ...args, ...args.length === nArguments ? [null] : []);
    };
  }

  for (const name of ['write_to_file', 'write_to_bytes', 'write_shards'])
    Gio._promisify(SafetensorsWriter.prototype, `${name}_async`, `${name}_finish`);

  const {write_to_file_async: writeToFileAsync, write_to_bytes_async: writeToBytesAsync,
    write_shards_async: writeShardsAsync} = SafetensorsWriter.prototype;

  SafetensorsWriter.prototype.write_to_file_async = function (file, priority = GLib.PRIORITY_DEFAULT, cancellable = null,
    ...rest) {
    return writeToFileAsync.call(this, file, priority, cancellable, ...rest);
  };

  SafetensorsWriter.prototype.write_to_bytes_async = function (priority = GLib.PRIORITY_DEFAULT, cancellable = null,
    ...rest) {
    return writeToBytesAsync.call(this, priority, cancellable, ...rest);
  };

  SafetensorsWriter.prototype.write_shards_async = function (folder, prefix, maxShardSize,
    priority = GLib.PRIORITY_DEFAULT, cancellable = null, ...rest) {
    return writeShardsAsync.call(this, folder, prefix, maxShardSize, priority, cancellable, ...rest);
  };

  // Estimator

  function count(n, what) {
    return `${n} ${what}${n === 1 ? '' : 's'}`;
  }

  function isHyperParameter({flags}) {
    // The same rule as in apr_hyper_parameters_list().
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

  // Makes promises of a method, and returns it.
  function promisify(prototype, name) {
    Gio._promisify(prototype, `${name}_async`, `${name}_finish`);
    return prototype[`${name}_async`];
  }

  const PRIORITY = GLib.PRIORITY_DEFAULT;

  for (const [prototype, name] of [[Estimator.prototype, 'fit'], [LinearRegression.prototype, 'partial_fit']]) {
    const fitAsync = promisify(prototype, name);
    prototype[`${name}_async`] = async function (X, y, sampleWeight = null, cancellable = null, ...rest) {
      const tensors = await toTensorsInSlices(X, y, sampleWeight, cancellable);
      // The rest is an optional callback.
      await fitAsync.call(this, ...tensors, PRIORITY, cancellable, ...rest);
      return this;
    };
  }

  const predictAsync = promisify(Estimator.prototype, 'predict');
  Estimator.prototype.predict_async = async function (X, cancellable = null) {
    const tensor = await toTensorInSlices(X, 'X', cancellable);
    return toShapedArray(await predictAsync.call(this, tensor, PRIORITY, cancellable),
      this.constructor === LinearRegression);
  };

  const scoreAsync = promisify(Estimator.prototype, 'score');
  Estimator.prototype.score_async = async function (X, y, sampleWeight = null, cancellable = null) {
    const tensors = await toTensorsInSlices(X, y, sampleWeight, cancellable);
    return scoreAsync.call(this, ...tensors, PRIORITY, cancellable);
  };

  const saveModelAsync = promisify(Estimator.prototype, 'save_to_file');
  Estimator.prototype.save_to_file_async = function (file, cancellable = null) {
    return saveModelAsync.call(this, file, PRIORITY, cancellable);
  };

  const saveModel = Estimator.prototype.save_to_file;
  Estimator.prototype.save_to_file = function (file, cancellable = null) {
    return saveModel.call(this, file, cancellable);
  };

  const loadModel = Estimator.load_from_file;
  Estimator.load_from_file = function (file, cancellable = null) {
    return loadModel(this, file, cancellable);
  };

  const loadModelAsync = Estimator.load_from_file_async;
  Estimator.load_from_file_async = function (file, cancellable = null) {
    return new Promise((resolve, reject) => {
      loadModelAsync(this, file, PRIORITY, cancellable, (_, result) => {
        try {
          resolve(Estimator.load_from_file_finish(result));
        } catch (error) {
          reject(error);
        }
      });
    });
  };

  Estimator.prototype.predict = function (X) {
    // A class of a script may return a tensor that it keeps.
    return toShapedArray(predict.call(this, toTensor(X, 'X')), this.constructor === LinearRegression);
  };

  Estimator.prototype.score = function (X, y, sampleWeight = null) {
    return score.call(this, toTensor(X, 'X'), toTensor(y, 'y'), toWeights(sampleWeight));
  };

  // A class that is written in JavaScript inherits these: Model.load(path) returns a Model.
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
      return toShapedArray(this[`get_${name}`]());
    });
  }

  const getStatistics = LinearRegression.prototype.get_statistics;
  LinearRegression.prototype.get_statistics = function (target = 0) {
    return getStatistics.call(this, target);
  };

  const getStatisticsAsync = promisify(LinearRegression.prototype, 'get_statistics');
  LinearRegression.prototype.get_statistics_async = function (target = 0, cancellable = null) {
    return getStatisticsAsync.call(this, target, PRIORITY, cancellable);
  };

  const computeConditionNumberAsync = promisify(LinearRegression.prototype, 'compute_condition_number');
  LinearRegression.prototype.compute_condition_number_async = function (cancellable = null) {
    return computeConditionNumberAsync.call(this, PRIORITY, cancellable);
  };

  const predictIntervalAsync = promisify(LinearRegression.prototype, 'predict_interval');
  LinearRegression.prototype.predict_interval_async = async function (X, level = 0.95,
    kind = Apr.IntervalKind.PREDICTION, cancellable = null) {
    const tensor = await toTensorInSlices(X, 'X', cancellable);
    const ends = await predictIntervalAsync.call(this, tensor, level, kind, PRIORITY, cancellable);
    // GJS leaves out what the function returns, or not.
    return ends.slice(-2).map(end => toShapedArray(end, true));
  };

  const predictInterval = LinearRegression.prototype.predict_interval;
  LinearRegression.prototype.predict_interval = function (X, level = 0.95, kind = Apr.IntervalKind.PREDICTION) {
    const [, lower, upper] = predictInterval.call(this, toTensor(X, 'X'), level, kind);
    return [toShapedArray(lower, true), toShapedArray(upper, true)];
  };

  const {diagnose} = LinearRegression.prototype;
  LinearRegression.prototype.diagnose = function (X, y, sampleWeight = null, target = 0, cancellable = null) {
    return diagnose.call(this, toTensor(X, 'X'), toTensor(y, 'y'), toWeights(sampleWeight), target, cancellable);
  };

  const diagnoseAsync = promisify(LinearRegression.prototype, 'diagnose');
  LinearRegression.prototype.diagnose_async = async function (X, y, sampleWeight = null, target = 0, cancellable = null) {
    const tensors = await toTensorsInSlices(X, y, sampleWeight, cancellable);
    return diagnoseAsync.call(this, ...tensors, target, PRIORITY, cancellable);
  };

  const getRobustStatistics = LinearRegression.prototype.get_robust_statistics;
  LinearRegression.prototype.get_robust_statistics = function (X, y, sampleWeight = null,
    kind = Apr.CovarianceKind.HC3, target = 0, cancellable = null) {
    return getRobustStatistics.call(this, toTensor(X, 'X'), toTensor(y, 'y'), toWeights(sampleWeight), kind, target,
      cancellable);
  };

  const getRobustStatisticsAsync = promisify(LinearRegression.prototype, 'get_robust_statistics');
  LinearRegression.prototype.get_robust_statistics_async = async function (X, y, sampleWeight = null,
    kind = Apr.CovarianceKind.HC3, target = 0, cancellable = null) {
    const tensors = await toTensorsInSlices(X, y, sampleWeight, cancellable);
    return getRobustStatisticsAsync.call(this, ...tensors, kind, target, PRIORITY, cancellable);
  };

  for (const name of ['fitted_values', 'residuals', 'leverages', 'standardized_residuals', 'studentized_residuals',
    'cooks_distances']) {
    defineGetter(Apr.RegressionDiagnostics.prototype, name, function () {
      return fromTensor(this[`get_${name}`]());
    });
  }

  const {RegressionStatistics} = Apr;
  for (const name of ['coefficients', 'minimum_norm', 'standard_errors', 't_values', 'p_values', 'variance_inflation', 'covariance']) {
    defineGetter(RegressionStatistics.prototype, name, function () {
      return fromTensor(this[`get_${name}`]());
    });
  }

  const testHypothesis = RegressionStatistics.prototype.test_hypothesis;
  RegressionStatistics.prototype.test_hypothesis = function (factors, values = null) {
    return testHypothesis.call(this, toTensor(factors, 'factors'), values === null ? null : toTensor(values, 'values'));
  };
  for (const name of ['estimates', 'standard_errors', 't_values', 'p_values']) {
    defineGetter(Apr.HypothesisTest.prototype, name, function () {
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

  const CrossProducts = Apr.CrossProducts;
  Gio._promisify(CrossProducts, 'load_from_file_async', 'load_from_file_finish');
  for (const name of ['update', 'save_to_file'])
    Gio._promisify(CrossProducts.prototype, `${name}_async`, `${name}_finish`);

  const {load_from_file: loadFromFile} = CrossProducts;
  CrossProducts.load_from_file = function (file, cancellable = null) {
    return loadFromFile.call(this, file, cancellable);
  };

  const {save_to_file: saveToFile} = CrossProducts.prototype;
  CrossProducts.prototype.save_to_file = function (file, cancellable = null) {
    return saveToFile.call(this, file, cancellable);
  };

  const loadFromFileAsync = CrossProducts.load_from_file_async;
  CrossProducts.load_from_file_async = function (file, cancellable = null) {
    return loadFromFileAsync.call(this, file, PRIORITY, cancellable);
  };

  const {update_async: updateAsync, save_to_file_async: saveToFileAsync} = CrossProducts.prototype;
  CrossProducts.prototype.update_async = async function (X, y, sampleWeight = null, cancellable = null) {
    const tensors = await toTensorsInSlices(X, y, sampleWeight, cancellable);
    await updateAsync.call(this, ...tensors, PRIORITY, cancellable);
    return this;
  };

  CrossProducts.prototype.save_to_file_async = function (file, cancellable = null) {
    return saveToFileAsync.call(this, file, PRIORITY, cancellable);
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

  const fitCrossProductsAsync = promisify(LinearRegression.prototype, 'fit_cross_products');
  LinearRegression.prototype.fit_cross_products_async = async function (state, cancellable = null) {
    await fitCrossProductsAsync.call(this, state, PRIORITY, cancellable);
    return this;
  };

  // TableReader: X, y and the weights of the next rows, or null at the end

  const {TableReader} = Apr;
  const newForFile = TableReader.new_for_file;
  TableReader.new_for_file = function (file, cancellable = null) {
    return newForFile.call(this, file, cancellable);
  };

  const {read_names: readNames, read: readRows} = TableReader.prototype;
  TableReader.prototype.read_names = function (cancellable = null) {
    return readNames.call(this, cancellable);
  };
  TableReader.prototype.read = function (cancellable = null) {
    const [hasRows, ...tensors] = readRows.call(this, cancellable);
    return hasRows ? tensors : null;
  };

  const {read_categories: readCategories} = TableReader.prototype;
  TableReader.prototype.read_categories = function (columns, cancellable = null) {
    return readCategories.call(this, columns, cancellable);
  };
  const readCategoriesAsync = promisify(TableReader.prototype, 'read_categories');
  TableReader.prototype.read_categories_async = function (columns, cancellable = null) {
    return readCategoriesAsync.call(this, columns, PRIORITY, cancellable);
  };

  const readAsync = promisify(TableReader.prototype, 'read');
  TableReader.prototype.read_async = async function (cancellable = null) {
    const tensors = await readAsync.call(this, PRIORITY, cancellable);
    // GJS leaves out that there are rows, but not that there are none.
    return tensors[0] === false ? null : tensors;
  };

  // Metrics

  const {compute_metric: computeMetric, Multioutput} = Apr;
  Apr.compute_metric = (metric, multioutput, yTrue, yPred, sampleWeight = null) => fromTensor(
    computeMetric(metric, multioutput, toTensor(yTrue, 'y_true'), toTensor(yPred, 'y_pred'), toWeights(sampleWeight)));
  for (const [name, metric] of [['r2_score', 'R2'], ['explained_variance_score', 'EXPLAINED_VARIANCE'],
    ...['mean_squared_error', 'root_mean_squared_error', 'mean_absolute_error', 'mean_absolute_percentage_error',
      'median_absolute_error'].map(other => [other, other.toUpperCase()])]) {
    Apr[name] = (yTrue, yPred, sampleWeight = null, multioutput = Multioutput.UNIFORM_AVERAGE) => {
      const values = Apr.compute_metric(Apr.Metric[metric], multioutput, yTrue, yPred, sampleWeight);
      return multioutput === Multioutput.RAW_VALUES ? values : values[0];
    };
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

  // What GJS would change on the way to C without a word. The first of several arguments may be a class.
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
  guard(DType, 'from_string', [checkString, 'The name of a dtype']);
  guard(Tensor.prototype, 'slice', indices);
  guard(Tensor.prototype, 'slice_rows', [checkCount, 'The first row'], [checkCount, 'The last row']);
  guard(Tensor.prototype, 'get_double', [checkCount, 'The index']);
  guard(SafetensorsReader, 'new_from_path', path);
  for (const name of ['has_tensor', 'get_dtype', 'get_shape', 'get_size', 'get_offset', 'get_tensor'])
    guard(SafetensorsReader.prototype, name, tensorName);
  guard(SafetensorsReader.prototype, 'get_slice', tensorName, indices);
  for (const name of ['add_tensor', 'declare_tensor', 'set_source_bytes', 'set_source_stream'])
    guard(SafetensorsWriter.prototype, name, tensorName);
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
