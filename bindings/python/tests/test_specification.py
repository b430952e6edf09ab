# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tests of the specification's chapter on model serialization, by the names that they have there."""

import json
import random
import struct

import tap
from common import Apr, GLib, TestCase, needs_numpy, numpy


def fit(X, y, **hyper_parameters):
    """Fits to floats, as the specification does: the file is then F32."""
    return Apr.LinearRegression(dtype=Apr.DType.F32, **hyper_parameters).fit(X, y)


def predict(model, X):
    """Predicts from floats."""
    return list(model.predict(Apr.Tensor(X).cast(Apr.DType.F32)))


def read_header(data):
    length, = struct.unpack_from('<Q', data)
    return json.loads(data[8:8 + length].decode('utf-8')), data[8 + length:]


class Specification(TestCase):
    def setUp(self):
        self.path = self.make_directory() / 'test_model.safetensors'

    def test_linear_regression_save_safetensors_creates_file(self):
        fit([[1, 2], [2, 1], [3, 4], [4, 3]], [5, 4, 11, 10]).save(self.path)
        self.assertTrue(self.path.exists())

    def test_safetensors_header_format(self):
        fit([[1], [2]], [3, 4]).save(self.path)
        data = self.path.read_bytes()
        self.assertGreaterEqual(len(data), 8)
        metadata_len = int.from_bytes(data[:8], 'little')
        self.assertGreater(metadata_len, 0)
        self.assertLess(metadata_len, 10000)

    def test_safetensors_json_metadata_structure(self):
        fit([[1, 0], [0, 1], [1, 1]], [1, 2, 3]).save(self.path)
        metadata, _ = read_header(self.path.read_bytes())
        self.assertEqual(metadata['coefficients']['dtype'], 'F32')
        self.assertEqual(metadata['coefficients']['shape'], [2])
        self.assertEqual(metadata['coefficients']['data_offsets'], [0, 8])
        self.assertEqual(metadata['intercept']['dtype'], 'F32')
        self.assertEqual(metadata['intercept']['shape'], [1])
        self.assertEqual(metadata['intercept']['data_offsets'], [8, 12])
        self.assertTrue(all(key.startswith('aprender.') for key in metadata['__metadata__']))
        self.assertEqual(metadata['__metadata__']['aprender.model'], 'AprLinearRegression')
        self.assertEqual(set(metadata), {'__metadata__', 'coefficients', 'intercept'})

    def test_safetensors_coefficients_serialization(self):
        # y = 1 x1 + 2 x2 + 0 x3 + 1, and a fourth row that fits it.
        fit([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], [2, 3, 1, 4]).save(self.path)
        metadata, tensors = read_header(self.path.read_bytes())
        begin, end = metadata['coefficients']['data_offsets']
        self.assertEqual((end - begin) % 4, 0)
        self.assertEqual(struct.unpack('<3f', tensors[begin:end]), (1, 2, 0))
        begin, end = metadata['intercept']['data_offsets']
        self.assertEqual(struct.unpack('<f', tensors[begin:end]), (1,))

        # The specification's own data, where two features and an intercept meet three samples.
        fit([[1, 0], [0, 1], [1, 1]], [2, 3, 5]).save(self.path)
        metadata, tensors = read_header(self.path.read_bytes())
        begin, end = metadata['coefficients']['data_offsets']
        self.assertEqual(struct.unpack('<2f', tensors[begin:end]), (2, 3))

    def test_safetensors_roundtrip(self):
        X = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1]]
        original = fit(X, [2, 3, 4, 5, 6])
        original.save(self.path)
        loaded = Apr.LinearRegression.load(self.path)
        self.assertEqual(loaded.get_coefficients(), original.get_coefficients())
        self.assertEqual(loaded.get_intercept(), original.get_intercept())
        self.assertEqual(predict(loaded, X), predict(original, X))
        self.assertEqual(repr(loaded.clone()), repr(original.clone()))
        self.assertEqual((loaded.rank, loaded.fitted), (original.rank, True))
        # y = 2 x1 + 3 x2 + 4 x3 fits all rows.
        for value, expected in zip(predict(loaded, X), [2, 3, 4, 5, 6]):
            self.assertAlmostEqual(value, expected, delta=1e-5)

    def test_safetensors_file_does_not_exist_error(self):
        with self.assertRaisesRegex(GLib.Error, 'nonexistent.safetensors.*No such file'):
            Apr.LinearRegression.load('nonexistent.safetensors')

    def test_safetensors_corrupted_header_error(self):
        self.path.write_bytes(b'\1\2\3')
        self.assertFails(Apr.SafetensorsError.TRUNCATED, 'test_model.safetensors.*3',
                         Apr.LinearRegression.load, self.path)

    def test_safetensors_roundtrip_property(self):
        numbers = random.Random(20)
        for _ in range(300):
            n_samples = numbers.randrange(1, 10)
            n_features = numbers.randrange(1, 5)
            X = [[numbers.uniform(-100, 100) for _ in range(n_features)] for _ in range(n_samples)]
            y = [numbers.uniform(-100, 100) for _ in range(n_samples)]
            model = fit(X, y, fit_intercept=numbers.random() < 0.5)
            model.save(self.path)
            loaded = Apr.LinearRegression.load(self.path)
            self.assertEqual(predict(loaded, X), predict(model, X))
            self.assertEqual(loaded.to_bytes().get_data(), self.path.read_bytes())
            self.assertEqual(repr(loaded.clone()), repr(model.clone()))

    def test_header_is_little_endian(self):
        fit([[1], [2]], [3, 4]).save(self.path)
        data = self.path.read_bytes()
        # One feature and an intercept, so the data are eight bytes.
        metadata_len = len(data) - 8 - 8
        self.assertEqual(struct.unpack('<Q', data[:8]), (metadata_len,))
        self.assertNotEqual(struct.unpack('>Q', data[:8]), (metadata_len,))
        self.assertEqual(data[8:9], b'{')
        self.assertEqual(data[8:8 + metadata_len].rstrip(b' ')[-1:], b'}')

    def test_linear_regression_save_load_safetensors(self):
        fit([[1], [2], [3], [4]], [3, 5, 7, 9]).save(self.path)
        loaded = Apr.LinearRegression.load(self.path)
        self.assertTrue(loaded.fitted)
        self.assertEqual((list(loaded.coefficients), loaded.intercept), ([2.0], 1.0))

    def test_linear_regression_save_unfitted_error(self):
        model = Apr.LinearRegression()
        self.assertFails(Apr.Error.NOT_FITTED, 'Cannot save an unfitted AprLinearRegression: call fit first',
                         model.save, self.path)
        self.assertFails(Apr.Error.NOT_FITTED, 'Cannot save an unfitted', model.to_bytes)
        self.assertFalse(self.path.exists())

    def test_linear_regression_predict_unfitted_error(self):
        self.assertFails(Apr.Error.NOT_FITTED, 'Cannot predict with an unfitted AprLinearRegression',
                         Apr.LinearRegression().predict, [[1]])

    def test_deterministic_serialization(self):
        X = [[1, 0], [0, 1], [1, 1], [5, 3]]
        files = {fit(X, [1, 2, 3, 9]).to_bytes().get_data() for _ in range(20)}
        self.assertEqual(len(files), 1)
        loaded = Apr.LinearRegression.from_bytes(files.copy().pop())
        loaded.save(self.path)
        self.assertEqual({self.path.read_bytes()}, files)

    def test_file_size(self):
        X = [[1.5, 2, 9, -1, 7, 8, 4, 2.5, 3.25, 1], [2, 7, 1, 8, 2, 8, 1, 8, 2, 8]]
        for n_features in (1, 2, 5, 10):
            for fit_intercept in (True, False):
                model = fit([row[:n_features] for row in X], [1, 2], fit_intercept=fit_intercept)
                self.assertLessEqual(model.to_bytes().get_size(), 400 + 4 * n_features)

        # Wide models are made from files, with all the metadata that a fit leaves.
        for n_features in range(1, 1001):
            writer = Apr.SafetensorsWriter()
            writer.add_tensor('coefficients', Apr.Tensor([0.5] * n_features).cast(Apr.DType.F32))
            writer.add_tensor('intercept', Apr.Tensor([0.25]).cast(Apr.DType.F32))
            for key, value in (('dtype', 'f32'), ('fit_intercept', 'false'), ('rank', str(n_features))):
                writer.set_metadata('aprender.' + key, value)
            data = Apr.LinearRegression.from_bytes(writer.write_to_bytes()).to_bytes().get_data()
            self.assertIn(f'"aprender.rank":"{n_features}"'.encode(), data)
            self.assertLessEqual(len(data), 400 + 4 * n_features)

    @needs_numpy
    def test_floats_make_f32_files(self):
        X, y = numpy.array([[1, 2], [2, 1], [3, 4], [4, 3]], 'f4'), numpy.array([5, 4, 11, 10], 'f4')
        data = Apr.LinearRegression().fit(X, y).to_bytes().get_data()
        metadata, tensors = read_header(data)
        self.assertEqual(metadata['coefficients']['dtype'], 'F32')
        self.assertEqual(numpy.frombuffer(tensors, '<f4').tolist(), [1, 2, 0])
        metadata, _ = read_header(Apr.LinearRegression().fit(X.astype('f8'), y).to_bytes().get_data())
        self.assertEqual(metadata['coefficients']['dtype'], 'F64')

    def test_file_of_the_rust_aprender(self):
        # Its header has neither padding nor metadata, so that the floats are not aligned.
        header = (b'{"coefficients":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
                  b'"intercept":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}')
        self.assertNotEqual(len(header) % 4, 0)
        self.path.write_bytes(struct.pack('<Q', len(header)) + header + struct.pack('<3f', 2, 3, 0.5))
        model = Apr.LinearRegression.load(self.path)
        self.assertEqual((list(model.coefficients), model.intercept), ([2.0, 3.0], 0.5))
        self.assertEqual((model.n_features, model.rank, repr(model)),
                         (2, -1, 'Apr.LinearRegression(), fitted: 2 features'))
        self.assertEqual(list(model.predict([[1, 2]])), [8.5])

    def test_vector_of_realizar(self):
        header = b'''{
            "coefficients": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]},
            "intercept": {"dtype": "F32", "shape": [1], "data_offsets": [12, 16]}
        }'''
        data = struct.pack('<Q', len(header)) + header + struct.pack('<4f', 2, 3, 1.5, 0.5)
        self.assertEqual(list(Apr.LinearRegression.from_bytes(data).predict([[1, 2, 3]])), [13.0])

    def test_broken_models(self):
        def make_file(**tensors):
            writer = Apr.SafetensorsWriter()
            for name, tensor in tensors.items():
                writer.add_tensor(name, tensor)
            return writer.write_to_bytes()

        load = Apr.LinearRegression.from_bytes
        self.assertFails(Apr.Error.MODEL, '“intercept”', load, make_file(coefficients=[1]))
        self.assertFails(Apr.Error.MODEL, '“coefficients”', load, make_file(intercept=[1]))
        self.assertFails(Apr.Error.SHAPE, r'“intercept” must have the shape \[1\].*has \[2\]', load,
                         make_file(coefficients=[1], intercept=[1, 2]))
        self.assertFails(Apr.Error.SHAPE, r'“intercept” must have the shape \[1\].*has \[\]', load,
                         make_file(coefficients=[1], intercept=1))
        self.assertFails(Apr.Error.NOT_FINITE, '“coefficients” has a NaN', load,
                         make_file(coefficients=[1, float('nan')], intercept=[1]))


if __name__ == '__main__':
    tap.main()
