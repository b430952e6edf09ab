/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported getFunctions */

// Arrays to tensors and back. Numbers cross over as bytes, in one copy.

const {Gio} = imports.gi;

function getFunctions(Apr, functions) {
  const {DType, Tensor} = Apr;
  const {get_bits: getBits} = DType;
  const {collectGarbage, countGarbage, isList, isTypedArray, describe, findShape, flatten} = functions;

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

  // Those whose numbers are all numbers of F32 too.
  const narrowFloats = new Set([DType.F16, DType.BF16, DType.F8_E5M2, DType.F8_E4M3, DType.F8_E8M0, DType.F8_E4M3FNUZ,
    DType.F8_E5M2FNUZ]);

  // Tensors are always little-endian; typed arrays have the byte order of the machine.
  const isBigEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 0;

  function swapBytes(bytes, width) {
    for (let i = 0; i < bytes.length; i += width)
      bytes.subarray(i, i + width).reverse();
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

  // What to do with something that is no data.
  function advise(values, name) {
    if (values instanceof Gio.Cancellable)
      return ': pass null before the cancellable';
    if (values instanceof Apr.TableReader) {
      return ': to fit to its rows, sum them up in an Apr.CrossProducts, “for (const rows of reader) state.update(...rows)”, ' +
        'and call model.fit_cross_products(state); predict() takes the X of each batch';
    }
    return name === 'y' && values === null ? ': an Apr.TableReader gives y if its targets are set before it reads' : '';
  }

  function checkValues(values, name) {
    if (!isList(values)) {
      throw new TypeError(`${name} must be numbers in arrays or in a typed array, or an Apr.Tensor, ` +
        `not ${describe(values)}${advise(values, name)}`);
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

  // What a model has returned knows its shape.
  function readShape(values, name) {
    const shape = values[SHAPE] ?? null;
    return shape === null ? findShape(values, name) : checkShape(shape);
  }

  function toTensor(values, name, shape = null) {
    if (values instanceof Tensor)
      return shape === null ? values : Tensor.new_from_bytes(values.dtype, shape, values.get_bytes());

    if (typeof values === 'number')
      return toTensor([values], name, shape ?? []);
    checkValues(values, name);

    const ownShape = readShape(values, name);
    if (!isTypedArray(values))
      values = flatten(values, ownShape, name);
    countGarbage(values.byteLength);
    collectGarbage();
    return Tensor.new_from_bytes(findDType(values, name), shape ?? ownShape, toBytes(values));
  }

  // Notes that C has made a tensor, and returns it.
  function countTensor(tensor) {
    if (tensor !== null)
      countGarbage(tensor.get_n_elements() * getBits(tensor.dtype) / 8);
    return tensor;
  }

  function toWeights(values) {
    return values === null ? null : toTensor(values, 'sample_weight');
  }

  // Cuts one typed array into nested arrays of typed arrays, from the inside out: a file may have more dimensions than
  // calls fit into each other. The pieces are copies: many views slow the garbage collector down.
  function nest(array, shape, makeInnermost = innermost => innermost) {
    if (shape.length === 1)
      return makeInnermost(array);

    const cut = (values, size, nPieces, make = piece => piece) =>
      Array.from({length: nPieces}, (_, i) => make(values.slice(i * size, (i + 1) * size)));
    const nPieces = [1];
    for (const size of shape.slice(0, -1))
      nPieces.push(nPieces.at(-1) * size);
    let pieces = cut(array, shape.at(-1), nPieces.at(-1), makeInnermost);
    for (let dim = shape.length - 2; dim >= 0; dim--)
      pieces = cut(pieces, shape[dim], nPieces[dim]);
    return pieces[0];
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

  // The same numbers in a dtype that has a typed array, where there is one that holds them all.
  function toExact(tensor) {
    const {dtype} = tensor;
    if (arrayTypes.has(dtype) || dtype === DType.BOOL)
      return tensor;
    if (narrowFloats.has(dtype))
      return tensor.cast(DType.F32);
    throw new TypeError(`JavaScript has no typed array of the dtype ${DType.to_string(dtype)}: get_bytes() has the bytes`);
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
    countTensor(tensor);
    const array = isNobodyElses && arrayTypes.has(tensor.dtype) && tensor.get_n_elements() > 0
      ? toTypedArray(getBytes(tensor), tensor.dtype)
      : toNumbers(tensor);
    return Object.defineProperty(array, SHAPE, {value: tensor.shape});
  }

  function fromTensor(tensor) {
    return tensor === null ? null : nest(toNumbers(tensor), tensor.shape);
  }

  return {SHAPE, checkShape, countTensor, findDType, checkValues, toBytes, toTensor, toWeights, nest, getBytes,
    toExact, toTypedArray, readShape, toNumbers, toShapedArray, fromTensor};
}
