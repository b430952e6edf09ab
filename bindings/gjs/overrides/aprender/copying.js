/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported getFunctions */

// Copies large arrays into tensors without stopping the main loop.

const {Gio, GLib, GObject} = imports.gi;

// An asynchronous call copies larger arrays in slices, and lets the main loop run in between. A slice takes less than
// a millisecond.
const SLICE_SIZE = 1 << 20;
const MAX_COPY_SIZE = 4 * SLICE_SIZE;

// How many elements of arrays in arrays are looked at before the main loop may run.
const SLICE_ELEMENTS = 1 << 15;

function getFunctions(Apr, functions) {
  const {DType, SafetensorsReader, SafetensorsWriter, Tensor} = Apr;
  const {Flattener, checkValues, countGarbage, findDType, isTypedArray, readShape, toBytes, toTensor,
    wantCollection} = functions;

  // Resolves when the main loop has run everything that waits.
  function letMainLoopRun() {
    return new Promise(resolve => GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, () => {
      resolve();
      return GLib.SOURCE_REMOVE;
    }));
  }

  // Has a writer's thread make one tensor of what setSource(writer) gives.
  async function writeTensor(name, dtype, shape, cancellable, setSource) {
    const writer = new SafetensorsWriter();

    writer.declare_tensor(name, dtype, shape);
    setSource(writer);
    const file = await writer.write_to_bytes_async(cancellable);
    return SafetensorsReader.new_from_bytes(file).get_tensor(name);
  }

  // Copies a typed array, block by block as the thread asks for them.
  function copyInSlices(array, dtype, shape, name, cancellable) {
    const width = array.BYTES_PER_ELEMENT;
    return writeTensor(name, dtype, shape, cancellable, writer => writer.set_data_func((_writer, _name, offset, size) =>
      toBytes(array.subarray(offset / width, (offset + size) / width))));
  }

  // Copies arrays in arrays, some of the outermost at a time, into memory that is not JavaScript's: the collector of
  // garbage would begin at once where much of that is asked for, and hold the main loop. Those of nothing but
  // Float32Arrays stay so, which is known when the last has been seen: until then it is assumed.
  async function flattenInSlices(values, shape, name, cancellable, mayBeFloat32 = true) {
    const size = shape.slice(1).reduce((product, n) => product * n, 1);
    const nTogether = Math.min(Math.max(1, Math.floor(SLICE_ELEMENTS / Math.max(size, 1))), values.length);
    const flattener = new Flattener(values, shape, name, nTogether);
    const stream = new Gio.MemoryInputStream();
    let floats = null;

    for (let i = 0; i < values.length; i += nTogether) {
      const numbers = flattener.flatten(i, Math.min(i + nTogether, values.length));
      if (i === 0 && mayBeFloat32 && flattener.isFloat32)
        floats = new Float32Array(numbers.length);
      if (floats !== null && !flattener.isFloat32)
        return flattenInSlices(values, shape, name, cancellable, false);
      floats?.set(numbers);
      stream.add_bytes(toBytes(floats?.subarray(0, numbers.length) ?? numbers));

      await letMainLoopRun();
      // An array is not ours, and may have become shorter.
      if (values.length !== shape[0])
        throw new Error(`${name} was changed while it was copied`);
      cancellable?.set_error_if_cancelled();
    }
    return writeTensor(name, floats === null ? DType.F64 : DType.F32, shape, cancellable,
      writer => writer.set_source_stream(name, stream));
  }

  // As toTensor(), but a large array does not stop the main loop while it is copied.
  async function toTensorInSlices(values, name, cancellable) {
    if (values instanceof Tensor || typeof values === 'number')
      return toTensor(values, name);
    checkValues(values, name);

    const shape = readShape(values, name);
    const size = shape.reduce((product, n) => product * n, isTypedArray(values) ? values.BYTES_PER_ELEMENT : 8);
    if (size <= MAX_COPY_SIZE)
      return toTensor(values, name);
    wantCollection();
    const tensor = await (isTypedArray(values)
      ? copyInSlices(values, findDType(values, name), shape, name, cancellable)
      : flattenInSlices(values, shape, name, cancellable));
    countGarbage(size);
    return tensor;
  }

  // All small arrays are copied before the promise is returned to the caller, who may change them then.
  function toTensorsInSlices(X, y, sampleWeight, cancellable) {
    return Promise.all([
      toTensorInSlices(X, 'X', cancellable),
      toTensorInSlices(y, 'y', cancellable),
      sampleWeight === null ? null : toTensorInSlices(sampleWeight, 'sample_weight', cancellable),
    ]);
  }

  // What is reserved here is not the caller's to release.
  const copying = new WeakSet();
  for (const {prototype} of [Apr.Estimator, Apr.CrossProducts]) {
    const release = prototype.release;
    prototype.release = function () {
      if (!copying.has(this))
        release.call(this);
    };
  }

  function reserve(object) {
    object.reserve();
    copying.add(object);
  }

  function release(object) {
    copying.delete(object);
    object.release();
  }

  function isHyperParameter({flags, owner_type: owner}) {
    // The same rule as in apr_is_hyper_parameter().
    const wanted = GObject.ParamFlags.READWRITE;
    return owner !== Apr.Estimator.$gtype && (flags & (wanted | GObject.ParamFlags.DEPRECATED | Apr.PARAM_TRANSIENT)) === wanted;
  }

  const NAMES = ['feature-names', 'target-names'];

  // GObject compares the addresses of names, hence their text.
  function readProperty(object, pspec) {
    const value = new GObject.Value();
    value.init(pspec.value_type);
    object.get_property(pspec.name, value);
    return {value, text: NAMES.includes(pspec.name) ? JSON.stringify(object[pspec.name]) : null};
  }

  function isSame(pspec, {value, text}, other) {
    return text === null ? GObject.param_values_cmp(pspec, value, other.value) === 0 : text === other.text;
  }

  // Without the checks of what scripts give.
  const {set_property: setProperty} = GObject.Object.prototype;

  // What a fit takes of its model when it is called, by the descriptions of the properties.
  function readSettings(object) {
    return GObject.Object.list_properties.call(object.constructor)
      .filter(pspec => isHyperParameter(pspec) || NAMES.includes(pspec.name))
      .map(pspec => [pspec, readProperty(object, pspec)]);
  }

  // Begins a fit with the settings of when it was called; those of now stay.
  function beginWith(settings, object, begin) {
    const changed = settings.map(([pspec, setting]) => [pspec, setting, readProperty(object, pspec)])
      .filter(([pspec, setting, present]) => !isSame(pspec, setting, present));
    changed.forEach(([pspec, {value}]) => setProperty.call(object, pspec.name, value));
    try {
      return begin();
    } finally {
      changed.forEach(([pspec, , {value}]) => setProperty.call(object, pspec.name, value));
    }
  }

  // Copies the arrays of a fit or an update, and begins it. The model or the sums are busy from the call on, so that
  // no other fit begins meanwhile.
  async function updateInSlices(object, X, y, sampleWeight, cancellable, begin) {
    reserve(object);
    const settings = object instanceof Apr.Estimator ? readSettings(object) : [];
    let tensors;
    try {
      tensors = await toTensorsInSlices(X, y, sampleWeight, cancellable);
    } catch (error) {
      release(object);
      throw error;
    }

    // Nobody sees the moment between the two.
    object.freeze_notify();
    let promise;
    try {
      release(object);
      promise = beginWith(settings, object, () => begin(tensors));
    } finally {
      object.thaw_notify();
    }
    await promise;
    return object;
  }

  return {isHyperParameter, toTensorInSlices, toTensorsInSlices, updateInSlices};
}
