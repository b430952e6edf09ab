/* SPDX-License-Identifier: LGPL-2.1-or-later */
import Apr from 'gi://Apr?version=1.0';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';

import {assertEqual, assertRejects, assertThrows, assertTrue, float32Bytes, float64Bytes, run, test} from './tap.js';

const {DType, Tensor} = Apr;

function assertTensor(tensor, dtype, shape, bytes) {
  assertEqual(DType.to_string(tensor.dtype), dtype);
  assertEqual(tensor.shape, shape);
  assertEqual(tensor.get_bytes().toArray().slice(), Uint8Array.from(bytes));
}

test('from-nested-arrays', () => {
  assertTensor(Tensor.from([1, -2.5]), 'F64', [2], float64Bytes(1, -2.5));
  assertTensor(Tensor.from([[1, 2, 3], [4, 5, 6]]), 'F64', [2, 3], float64Bytes(1, 2, 3, 4, 5, 6));
  assertTensor(Tensor.from([[[1], [2]], [[3], [4]]]), 'F64', [2, 2, 1], float64Bytes(1, 2, 3, 4));
});

test('from-nothing', () => {
  assertTensor(Tensor.from([]), 'F64', [0], []);
  assertTensor(Tensor.from([[], []]), 'F64', [2, 0], []);
  assertTensor(Tensor.from(new Float32Array(0), [0, 4]), 'F32', [0, 4], []);
});

test('from-number', () => {
  assertTensor(Tensor.from(2.5), 'F64', [], float64Bytes(2.5));
  assertEqual(Tensor.from(2.5).to_array(), 2.5);
  assertThrows(() => [...Tensor.from(2.5)], TypeError, null, 'scalar');
});

test('from-numbers-of-every-kind', () => {
  const numbers = [0, -0, NaN, Infinity, -Infinity, 5e-324, 1.7976931348623157e308, 0.1];
  assertEqual(Tensor.from(numbers).to_array(), numbers);
  assertEqual(Tensor.from(Float64Array.from(numbers)).to_array(), numbers);
});

test('from-typed-arrays', () => {
  assertTensor(Tensor.from(Float32Array.of(1, 2, 3, 4), [2, 2]), 'F32', [2, 2], float32Bytes(1, 2, 3, 4));
  assertTensor(Tensor.from(Float64Array.of(1, 2)), 'F64', [2], float64Bytes(1, 2));
  assertTensor(Tensor.from(Int8Array.of(-1, 2)), 'I8', [2], [255, 2]);
  assertTensor(Tensor.from(Uint8Array.of(255, 2)), 'U8', [2], [255, 2]);
  assertTensor(Tensor.from(Uint8ClampedArray.of(300, 2)), 'U8', [2], [255, 2]);
  assertTensor(Tensor.from(Int16Array.of(-2)), 'I16', [1], [254, 255]);
  assertTensor(Tensor.from(Uint16Array.of(258)), 'U16', [1], [2, 1]);
  assertTensor(Tensor.from(Int32Array.of(-2)), 'I32', [1], [254, 255, 255, 255]);
  assertTensor(Tensor.from(Uint32Array.of(258)), 'U32', [1], [2, 1, 0, 0]);
  assertTensor(Tensor.from(BigInt64Array.of(-2n)), 'I64', [1], [254, 255, 255, 255, 255, 255, 255, 255]);
  assertTensor(Tensor.from(BigUint64Array.of(258n)), 'U64', [1], [2, 1, 0, 0, 0, 0, 0, 0]);
});

test('from-part-of-a-buffer', () => {
  const whole = Float64Array.of(9, 1, 2, 3, 4, 9);
  assertTensor(Tensor.from(whole.subarray(1, 5), [2, 2]), 'F64', [2, 2], float64Bytes(1, 2, 3, 4));
  assertTensor(Tensor.from(new Float32Array(whole.buffer, 8, 0)), 'F32', [0], []);
});

test('from-rows-in-typed-arrays', () => {
  const floats = Float32Array.of(1, 2);
  assertTensor(Tensor.from([floats, floats]), 'F32', [2, 2], float32Bytes(1, 2, 1, 2));
  assertTensor(Tensor.from([floats, [0.1, 2]]), 'F64', [2, 2], float64Bytes(1, 2, 0.1, 2));
  assertTensor(Tensor.from([Float64Array.of(0.1), Float32Array.of(2)]), 'F64', [2, 1], float64Bytes(0.1, 2));
  assertTensor(Tensor.from([Int16Array.of(-1, 2)]), 'F64', [1, 2], float64Bytes(-1, 2));
});

test('from-tensor', () => {
  const tensor = Tensor.from([1, 2, 3, 4]);
  assertTrue(Tensor.from(tensor) === tensor);
  assertTensor(Tensor.from(tensor, [2, 2]), 'F64', [2, 2], float64Bytes(1, 2, 3, 4));
  assertThrows(() => Tensor.from(tensor, [3]), Apr.Error, Apr.Error.SHAPE, 'needs 24 bytes');
});

test('from-copies', () => {
  const values = Float64Array.of(1, 2);
  const tensor = Tensor.from(values);
  values[0] = 99;
  assertEqual(tensor.to_array(), [1, 2]);
});

test('from-ragged-arrays', () => {
  for (const [values, message] of [
    [[[1, 2], [3]], 'the length at row 1 (counted from 0) is 1, but before it was 2'],
    [[[1], [2, 3]], 'the length at row 1 (counted from 0) is 2, but before it was 1'],
    [[[], [1]], 'the length at row 1 (counted from 0) is 1, but before it was 0'],
    [[[1, 2], Float64Array.of(1, 2, 3)], 'the length at row 1'],
    [[[[1, 2]], [[1]]], 'the length at row 1, column 0 (counted from 0) is 1'],
  ])
    assertThrows(() => Tensor.from(values), Apr.Error, Apr.Error.SHAPE, message);
});

test('from-what-is-not-numbers', () => {
  const cyclic = [];
  cyclic.push(cyclic);
  for (const [values, message] of [
    [[[1, 2], [3, null]], 'null at row 1, column 1 (counted from 0), not a number'],
    [[[1, undefined], [3, 4]], 'undefined at row 0, column 1'],
    [[1, '2'], 'the string “2” at row 1 (counted from 0)'],
    [['2'], 'the string “2” at row 0'],
    [[1, true], 'true at row 1'],
    [[1, 2n], 'a BigInt at row 1'],
    [[1, {}], 'an Object at row 1'],
    [[1, [2]], 'an array at row 1 (counted from 0), not a number'],
    [[[1, 2], 3], '3 at row 1 (counted from 0), not an array'],
    [[[1, 2], null], 'null at row 1 (counted from 0), not an array'],
    [[[1], BigInt64Array.of(1n)], 'a BigInt at row 1, column 0'],
    [[[[1, 2]], [[1, 'x']]], 'the string “x” at [1, 0, 1] (counted from 0)'],
    [[[[1, 2], [3, 4]], Float64Array.of(1, 2)], '1 at row 1, column 0 (counted from 0), not an array'],
    [null, 'not null'],
    [undefined, 'not undefined'],
    [cyclic, 'The tensor has more than 32 arrays within each other'],
    [[1, cyclic], 'an array at row 1'],
    ['12', 'not the string “12”'],
    [true, 'not true'],
    [new Set([1]), 'not a Set'],
    [new ArrayBuffer(8), 'not an ArrayBuffer'],
    [new DataView(new ArrayBuffer(8)), 'not a DataView'],
    [Object.create(null), 'not an object'],
  ])
    assertThrows(() => Tensor.from(values), TypeError, null, message);

  // A hole is no number either.
  const holed = [1, 2];
  delete holed[0];
  assertThrows(() => Tensor.from(holed), TypeError, null, 'undefined at row 0');
});

test('shape', () => {
  assertEqual(Tensor.from([[1, 2], [3, 4]], [4]).shape, [4]);
  assertEqual(Tensor.from([1, 2, 3, 4], [1, 2, 2]).shape, [1, 2, 2]);
  assertThrows(() => Tensor.from([1, 2], [3]), Apr.Error, Apr.Error.SHAPE,
    'needs 24 bytes, but there are 16');
  assertThrows(() => Tensor.from([], [2 ** 40, 2 ** 40]), Apr.Error, Apr.Error.RANGE, '1099511627776');
  for (const shape of [[-2], [2.5], ['2'], [NaN], 2, 'ab', {}])
    assertThrows(() => Tensor.from([1, 2], shape), TypeError, null, 'whole numbers');
  for (const shape of [[4, 2.0000001], [-4, -2], 'ab'])
    assertThrows(() => Tensor.from(Object.assign(new Float64Array(8), {shape})), TypeError, null, 'whole numbers');
});

test('new-from-floats-and-doubles', () => {
  assertTensor(Tensor.new_from_floats([1, 0.1], [2]), 'F32', [2], float32Bytes(1, 0.1));
  assertTensor(Tensor.new_from_floats(Float32Array.of(1, 2), [2, 1]), 'F32', [2, 1], float32Bytes(1, 2));
  assertTensor(Tensor.new_from_doubles(Float64Array.of(1, 2), [1, 2]), 'F64', [1, 2], float64Bytes(1, 2));
  assertTensor(Tensor.new_from_doubles(Uint8Array.of(1, 2), [2]), 'F64', [2], float64Bytes(1, 2));
  assertThrows(() => Tensor.new_from_floats([1, null], [2]), TypeError, null, 'null at row 1');
  assertThrows(() => Tensor.new_from_doubles([1, undefined], [2]), TypeError, null, 'undefined at row 1');
  assertThrows(() => Tensor.new_from_doubles([1, 2, 3], [2]), Apr.Error, Apr.Error.SHAPE);
});

test('new-from-bytes', () => {
  const bytes = float32Bytes(1, 2);
  assertTensor(Tensor.new_from_bytes(DType.F32, [2], bytes), 'F32', [2], bytes);
  assertTensor(Tensor.new_from_bytes(DType.F32, [2], new GLib.Bytes(bytes)), 'F32', [2], bytes);
  assertThrows(() => Tensor.new_from_bytes(DType.NONE, [2], bytes), Apr.Error, Apr.Error.DTYPE);
});

test('to-typed-array', () => {
  for (const array of [
    Int8Array.of(-128, 127), Uint8Array.of(0, 255), Int16Array.of(-32768, 32767), Uint16Array.of(0, 65535),
    Int32Array.of(-2147483648, 2147483647), Uint32Array.of(0, 4294967295),
    BigInt64Array.of(-9223372036854775808n, 9223372036854775807n),
    BigUint64Array.of(0n, 18446744073709551615n), Float32Array.of(0.5, -0), Float64Array.of(0.1, NaN),
    new Float32Array(0),
  ])
    assertEqual(Tensor.from(array).to_typed_array(), array);

  const halves = Tensor.new_from_bytes(DType.F16, [2], Uint8Array.of(0x00, 0x3c, 0x00, 0xc0));
  assertEqual(halves.to_typed_array(), Float32Array.of(1, -2));
  const brains = Tensor.new_from_bytes(DType.BF16, [2], Uint8Array.of(0x80, 0x3f, 0x00, 0xc0));
  assertEqual(brains.to_typed_array(), Float32Array.of(1, -2));
  const booleans = Tensor.new_from_bytes(DType.BOOL, [2], Uint8Array.of(1, 0));
  assertEqual(booleans.to_typed_array(), Uint8Array.of(1, 0));

  const ones = {F8_E4M3: 0x38, F8_E5M2: 0x3c, F8_E8M0: 0x7f, F8_E4M3FNUZ: 0x40, F8_E5M2FNUZ: 0x40};
  for (const [name, one] of Object.entries(ones))
    assertEqual(Tensor.new_from_bytes(DType[name], [1], Uint8Array.of(one)).to_typed_array(), Float32Array.of(1));

  // Bytes without a word would look like U8.
  const quarters = Tensor.new_from_bytes(DType.F4, [4, 1], Uint8Array.of(1, 2));
  assertThrows(() => quarters.to_typed_array(), TypeError, null, 'no typed array of the dtype F4: get_bytes()');
});

test('to-typed-array-copies', () => {
  const tensor = Tensor.from([1, 2]);
  const array = tensor.to_typed_array();
  array[0] = 99;
  assertEqual(array.buffer.byteLength, 16);
  assertEqual(tensor.to_array(), [1, 2]);
});

test('to-array', () => {
  for (const values of [[], [1], [[1, 2], [3, 4]], [[], []], [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]])
    assertEqual(Tensor.from(values).to_array(), values);

  assertEqual(Tensor.from(Float32Array.of(0.5, 1), [2, 1]).to_array(), [[0.5], [1]]);
  assertEqual(Tensor.from(BigInt64Array.of(-9223372036854775808n)).to_array(), [-9223372036854775808n]);
  assertEqual(Tensor.from(new Float32Array(0), [0, 4]).to_array(), []);
});

test('many-dimensions', () => {
  const tensor = Tensor.from([7], Array(20000).fill(1));
  const [row] = tensor;
  for (const values of [tensor.to_array(), [row]]) {
    let innermost = values;
    let depth = 0;
    for (; typeof innermost === 'object'; innermost = innermost[0])
      depth++;
    assertEqual([depth, innermost], [20000, 7]);
  }
  assertEqual(Tensor.from([], [2, 0, 3]).to_array(), [[], []]);
  assertEqual(Tensor.from([1, 2, 3, 4, 5, 6], [3, 1, 2, 1]).to_array(), [[[[1], [2]]], [[[3], [4]]], [[[5], [6]]]]);
});

test('to-array-of-narrow-floats', () => {
  const halves = Uint8Array.of(0x00, 0x3c, 0x00, 0xc0);
  const brains = Uint8Array.of(0x80, 0x3f, 0x00, 0xc0);
  assertEqual(Tensor.new_from_bytes(DType.F16, [2, 1], halves).to_array(), [[1], [-2]]);
  assertEqual(Tensor.new_from_bytes(DType.BF16, [2], brains).to_array(), [1, -2]);
  assertEqual(Tensor.new_from_bytes(DType.BOOL, [2], Uint8Array.of(1, 0)).to_array(), [1, 0]);
  assertEqual(Tensor.new_from_bytes(DType.F8_E4M3, [2], Uint8Array.of(0x38, 0xc0)).to_array(), [1, -2]);
  assertThrows(() => Tensor.new_from_bytes(DType.F4, [2], Uint8Array.of(1)).to_array(),
    Apr.Error, Apr.Error.DTYPE, 'F4 cannot be cast');
});

test('iterator', () => {
  assertEqual([...Tensor.from([1, 2, 3])], [1, 2, 3]);
  assertEqual([...Tensor.from([])], []);
  assertEqual([...Tensor.from([[1, 2], [3, 4]])], [Float64Array.of(1, 2), Float64Array.of(3, 4)]);
  const halves = Tensor.new_from_bytes(DType.F16, [2, 1], Uint8Array.of(0x00, 0x3c, 0x00, 0xc0));
  assertEqual([...halves], [Float32Array.of(1), Float32Array.of(-2)]);
  assertEqual([...Tensor.from([[[1], [2]]])], [[Float64Array.of(1), Float64Array.of(2)]]);
  for (const [a, b] of Tensor.from(Float32Array.of(1, 2), [1, 2]))
    assertEqual([a, b], [1, 2]);
});

test('to-string', () => {
  assertEqual(String(Tensor.from([[1, 2], [3, 0.1]])), 'F64 [2, 2] [[1, 2], [3, 0.1]]');
  assertEqual(`${Tensor.from(Float32Array.of(0.1))}`, 'F32 [1] [0.1]');
});

test('native-methods', () => {
  const tensor = Tensor.from([[1, 2], [3, 4], [5, 6]]);
  assertEqual(tensor.slice_rows(1, 3).to_array(), [[3, 4], [5, 6]]);
  assertEqual(tensor.get_n_elements(), 6);
  assertEqual(tensor.get_double(3), 4);
  assertEqual(tensor.cast(DType.F32).dtype, DType.F32);
  assertTrue(tensor.equal(Tensor.from([1, 2, 3, 4, 5, 6], [3, 2])));
  assertTrue(!tensor.equal(Tensor.from([1, 2, 3, 4, 5, 6])));
  assertThrows(() => tensor.get_double(6), Apr.Error, Apr.Error.RANGE, 'Element 6');
  assertThrows(() => tensor.slice_rows(2, 4), Apr.Error, Apr.Error.RANGE, 'has 3');
  assertThrows(() => tensor.get_floats(), Apr.Error, Apr.Error.DTYPE, 'F64, not F32');
});

test('cast-async', async () => {
  const tensor = Tensor.from([0.1, 1, 1e300]);
  assertEqual((await tensor.cast_async('f32')).to_array(), [Math.fround(0.1), 1, Infinity]);
  await assertRejects(tensor.cast_async(DType.I32), Apr.Error, Apr.Error.DTYPE);
  const cancellable = new Gio.Cancellable();
  cancellable.cancel();
  await assertRejects(tensor.cast_async('f32', cancellable), Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED);
  assertThrows(() => tensor.cast_async('f32', null, () => {}), TypeError, null, 'returns a promise');
});

test('slice', () => {
  const tensor = Tensor.from([[1, 2, 3], [4, 5, 6]]);
  assertEqual(tensor.slice('1, ::-1').to_array(), [6, 5, 4]);
  assertEqual(tensor.slice('..., 1').to_array(), [2, 5]);
  assertEqual(tensor.slice('-1, -1').to_array(), 6);
  assertEqual(tensor.slice('2:').shape, [0, 3]);
  assertThrows(() => tensor.slice('0, 3'), Apr.Error, Apr.Error.RANGE, 'dimension 1 of size 3');
  assertThrows(() => tensor.slice('::0'), Apr.Error, Apr.Error.RANGE, 'step of 0');
});

test('many-elements', () => {
  const array = Float64Array.from({length: 300000}, (_, i) => i / 7);
  const tensor = Tensor.from(array, [100000, 3]);
  assertEqual(tensor.to_typed_array(), array);
  assertEqual(tensor.to_array()[99999], [...array.slice(-3)]);
  assertTrue(Tensor.from(tensor.to_array()).equal(tensor));
});

test('fractions', () => {
  const tensor = Tensor.from([[1, 2], [3, 4]]);
  assertThrows(() => tensor.slice_rows(0.5, 1), TypeError, null, 'The first row must be a whole number');
  assertThrows(() => tensor.slice_rows(0, 1.5), TypeError, null, 'The last row must be a whole number');
  assertThrows(() => tensor.get_double(-1), TypeError, null, 'The index must be a whole number from 0 on, not -1');
});

await run();
