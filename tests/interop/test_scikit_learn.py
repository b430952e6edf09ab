# SPDX-License-Identifier: LGPL-2.1-or-later
"""Beside scikit-learn, whose linear regressions become files of ours and back.

    with-peer python test_scikit_learn.py
"""

import interop  # first, for it finds the rest
import tap
from interop import Apr, System, numpy

import sklearn
from sklearn.linear_model import LinearRegression


class Test(System):
    SYSTEM = 'scikit-learn'
    VERSION = sklearn.__version__

    def setUp(self):
        self.path = self.make_directory() / 'model.safetensors'

    def check(self, theirs, ours, x):
        bound = interop.bound_rounding(x, theirs.coef_, theirs.intercept_, x.dtype)
        self.assertClose(theirs.predict(x), ours.predict(x), bound)

    def test_1_export(self):
        for dtype in ('f4', 'f8'):
            x, y = interop.make_samples(dtype)
            theirs = LinearRegression().fit(x, y)
            writer = Apr.SafetensorsWriter()
            writer.add_tensor('coefficients', theirs.coef_)
            writer.add_tensor('intercept', numpy.array([theirs.intercept_], theirs.coef_.dtype))
            writer.write_to_path(self.path)
            ours = Apr.LinearRegression.load(self.path)
            self.assertEqual(ours.coefficients.tobytes(), theirs.coef_.tobytes())
            self.assertEqual(ours.intercept, theirs.intercept_)
            self.check(theirs, ours, x)
        self.show('its fitted model in our file', ['F32', 'F64'],
                  'equal coefficients and intercept, and 1000 predictions equal to rounding')

    def test_2_import(self):
        for dtype in ('f4', 'f8'):
            ours, x, _ = interop.fit(dtype)
            ours.save(self.path)
            reader = Apr.SafetensorsReader.new_from_path(self.path)
            theirs = LinearRegression()
            theirs.coef_ = numpy.asarray(reader['coefficients'])
            theirs.intercept_, = numpy.asarray(reader['intercept'])
            self.check(theirs, ours, x)
        self.show('our file in its model', ['F32', 'F64'], '1000 predictions equal to rounding')

    def test_3_both_fit(self):
        x, y = interop.make_samples('f8')
        ours, theirs = Apr.LinearRegression().fit(x, y), LinearRegression().fit(x, y)
        # The problem is well-conditioned, so what scikit-learn loses is a few thousand roundings at the most.
        numpy.testing.assert_allclose(theirs.coef_, ours.coefficients, rtol=1e-12)
        numpy.testing.assert_allclose(theirs.intercept_, ours.intercept, rtol=1e-12)
        self.show('both fit the same samples', ['F64'], 'coefficients and intercept are equal to 1e-12')


if __name__ == '__main__':
    tap.main()
