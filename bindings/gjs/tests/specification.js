/* SPDX-License-Identifier: LGPL-2.1-or-later */
// The tests of the specification, by its names, with floats as it has them.

import Apr from 'gi://Apr?version=1.0';
import GLib from 'gi://GLib';
import Gio from 'gi://Gio';

import {
  assertClose, assertEqual, assertThrows, assertTrue, float32Bytes, makeFile, makeRandom, parseHeader,
  readFile, run, test, withPath, writeFile,
} from './tap.js';

const {LinearRegression, Tensor} = Apr;

const matrix = (nRows, nColumns, ...values) => Tensor.from(Float32Array.from(values), [nRows, nColumns]);
const vector = (...values) => Float32Array.from(values);

function saveAndRead(model) {
  return withPath(path => {
    model.save(path);
    return readFile(path);
  });
}

test('test_linear_regression_save_safetensors_creates_file', () => withPath(path => {
  const model = new LinearRegression().fit(matrix(4, 2, 1, 2, 2, 1, 3, 4, 4, 3), vector(5, 4, 11, 10));
  model.save(path);
  assertTrue(GLib.file_test(path, GLib.FileTest.IS_REGULAR));
}));

test('test_safetensors_header_format', () => {
  const bytes = saveAndRead(new LinearRegression().fit(matrix(2, 1, 1, 2), vector(3, 4)));
  assertTrue(bytes.length >= 8);
  const {length} = parseHeader(bytes);
  assertTrue(length > 0);
  assertTrue(length < 10000);
});

test('test_safetensors_json_metadata_structure', () => {
  const model = new LinearRegression().fit(matrix(3, 2, 1, 0, 0, 1, 1, 1), vector(1, 2, 3));
  const {header} = parseHeader(saveAndRead(model));
  assertEqual(Object.keys(header).sort(), ['__metadata__', 'coefficients', 'intercept']);
  assertEqual(header.coefficients, {dtype: 'F32', shape: [2], data_offsets: [0, 8]});
  assertEqual(header.intercept, {dtype: 'F32', shape: [1], data_offsets: [8, 12]});
});

test('test_safetensors_coefficients_serialization', () => {
  // y = 2 x1 + 3 x2.
  const model = new LinearRegression().fit(matrix(3, 2, 1, 0, 0, 1, 1, 1), vector(2, 3, 5));
  const bytes = saveAndRead(model);
  const {length, header} = parseHeader(bytes);
  const [begin, end] = header.coefficients.data_offsets;
  assertEqual((end - begin) % 4, 0);
  assertEqual(bytes.slice(8 + length + begin, 8 + length + end), float32Bytes(2, 3));
  const [interceptBegin, interceptEnd] = header.intercept.data_offsets;
  assertEqual(bytes.slice(8 + length + interceptBegin, 8 + length + interceptEnd), float32Bytes(0));
});

test('test_safetensors_roundtrip', () => withPath(path => {
  const X = matrix(5, 3, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0, 1);
  const original = new LinearRegression().fit(X, vector(2, 3, 4, 5, 6));
  original.save(path);
  const loaded = LinearRegression.load(path);

  assertTrue(loaded.fitted);
  assertEqual(loaded.coefficients.length, 3);
  loaded.coefficients.forEach((value, i) => assertClose(value, original.coefficients[i], 1e-6));
  assertClose(loaded.intercept[0], original.intercept[0], 1e-6);
  loaded.predict(X).forEach((value, i) => assertClose(value, original.predict(X)[i], 1e-5));

  // More than the specification asks for: the very same numbers.
  assertEqual(loaded.coefficients, original.coefficients);
  assertEqual(loaded.intercept, original.intercept);
  assertEqual(loaded.predict(X), original.predict(X));
  assertEqual(loaded.coefficients, Float32Array.of(2, 3, 4));
}));

test('test_safetensors_file_does_not_exist_error', () => {
  assertThrows(() => LinearRegression.load('nonexistent.safetensors'), Gio.IOErrorEnum,
    Gio.IOErrorEnum.NOT_FOUND, 'No such file');
});

test('test_safetensors_corrupted_header_error', () => withPath(path => {
  writeFile(path, Uint8Array.of(1, 2, 3));
  assertThrows(() => LinearRegression.load(path), Apr.SafetensorsError, Apr.SafetensorsError.TRUNCATED, path);
}));

test('test_safetensors_roundtrip_property', () => {
  const random = makeRandom(5);

  for (let i = 0; i < 200; i++) {
    const nSamples = 1 + Math.floor(random() * 9);
    const nFeatures = 1 + Math.floor(random() * 4);
    const draw = () => (random() - 0.5) * 200;
    const X = matrix(nSamples, nFeatures, ...Array.from({length: nSamples * nFeatures}, draw));
    const y = vector(...Array.from({length: nSamples}, draw));
    const model = new LinearRegression().fit(X, y);
    const loaded = withPath(path => {
      model.save(path);
      return LinearRegression.load(path);
    });

    const predictions = loaded.predict(X);
    assertEqual(predictions.length, nSamples);
    model.predict(X).forEach((value, j) => assertClose(predictions[j], value, 1e-5));
    assertEqual(predictions, model.predict(X));
    assertEqual(loaded.coefficients, model.coefficients);
    assertEqual(loaded.to_bytes().toArray().slice(), model.to_bytes().toArray().slice());
  }
});

test('test_header_is_little_endian', () => {
  const bytes = saveAndRead(new LinearRegression().fit(matrix(2, 1, 1, 2), vector(3, 4)));
  const length = bytes.slice(0, 8).reduceRight((sum, byte) => 256 * sum + byte, 0);
  // After the header come two floats and nothing else.
  assertEqual(length, bytes.length - 8 - 8);
  assertEqual(bytes[8], '{'.charCodeAt(0));
  assertEqual(bytes.slice(8 + length), float32Bytes(1, 2));
});

test('test_linear_regression_save_unfitted_error', () => withPath(path => {
  assertThrows(() => new LinearRegression().save(path), Apr.Error, Apr.Error.NOT_FITTED,
    'Cannot save an unfitted AprLinearRegression: call fit first');
  assertTrue(!GLib.file_test(path, GLib.FileTest.EXISTS));
}));

test('test_file_size', () => {
  for (let n = 1; n <= 1000; n++) {
    const model = LinearRegression.from_bytes(makeFile('{"__metadata__":' +
      `{"aprender.model":"AprLinearRegression","aprender.format":"1","aprender.rank":"${n}"},` +
      `"coefficients":{"dtype":"F32","shape":[${n}],"data_offsets":[0,${4 * n}]},` +
      `"intercept":{"dtype":"F32","shape":[1],"data_offsets":[${4 * n},${4 * n + 4}]}}`,
    new Uint8Array(4 * n + 4)));
    const size = model.to_bytes().get_size();
    assertTrue(size <= 400 + 4 * n, `${size} bytes for ${n} features`);
    assertEqual(model.rank, n);
  }

  // And one that was fitted, with every hyper-parameter said aloud.
  const model = new LinearRegression({dtype: Apr.DType.F32, fit_intercept: false})
    .fit(matrix(2, 40, ...Array.from({length: 80}, (_, i) => i % 7)), vector(1, 2));
  assertTrue(saveAndRead(model).length <= 400 + 4 * 40);
});

await run();
