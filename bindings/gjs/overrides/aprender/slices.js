/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported getFunctions */

// Copies large arrays into tensors without stopping the main loop.

const {GLib} = imports.gi;

// An asynchronous call copies larger arrays in slices, and lets the main loop run in between. A slice takes less than
// a millisecond.
const SLICE_SIZE = 1 << 20;
const MAX_COPY_SIZE = 4 * SLICE_SIZE;

// How many elements of arrays in arrays are looked at before the main loop may run.
const SLICE_ELEMENTS = 1 << 15;

function getFunctions(Apr, functions) {
  const {SafetensorsReader, SafetensorsWriter, Tensor} = Apr;
  const {SHAPE, Flattener, checkValues, dtypes, findDType, findShape, isTypedArray, toBytes, toTensor} = functions;

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

  return {toTensorInSlices, toTensorsInSlices};
}
