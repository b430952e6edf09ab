/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported extend */

// Apr.Tensor.

const {GLib} = imports.gi;

const PRIORITY = GLib.PRIORITY_DEFAULT;

function extend(Apr, functions) {
  const {DType, Tensor} = Apr;
  const {checkShape, convertArgument, countTensor, defineGetter, fromTensor, getBytes, nest, readEnum, toExact, toNumbers, toTensor,
    toTypedArray} = functions;

  const readDType = dtype => readEnum(DType, dtype, 'dtype');
  convertArgument(Tensor, 'new_from_bytes', 0, readDType);
  convertArgument(Tensor.prototype, 'cast', 0, readDType);
  convertArgument(DType, 'get_bits', 0, readDType);

  // As Gio._promisify() does it for methods of objects, which the callback gets.
  const castAsync = Tensor.prototype._original_cast_async = Tensor.prototype.cast_async;
  Tensor.prototype.cast_async = function (dtype, cancellable = null) {
    return new Promise((resolve, reject) => {
      castAsync.call(this, readDType(dtype), PRIORITY, cancellable, (_, result) => {
        try {
          resolve(countTensor(this.cast_finish(result)));
        } catch (error) {
          reject(error);
        }
      });
    });
  };

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
    const tensor = toExact(this);
    return toTypedArray(getBytes(tensor).slice(), tensor.dtype);
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
}
