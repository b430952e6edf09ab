// SPDX-License-Identifier: LGPL-2.1-or-later
int main () {
    try {
        var x = new Apr.Tensor.from_floats ({ 1, 2, 2, 1, 3, 4, 4, 3 }, { 4, 2 });
        var y = new Apr.Tensor.from_floats ({ 5, 4, 11, 10 }, { 4 });

        var model = new Apr.LinearRegression () { dtype = Apr.DType.F32 };
        model.fit (x, y, null);
        print ("%s %s %g\n", model.coefficients.to_string (), model.intercept.to_string (), model.score (x, y));
        model.save ("first.safetensors");

        var loaded = new Apr.LinearRegression.load ("first.safetensors");
        print ("%s\n", loaded.predict (new Apr.Tensor.from_floats ({ 5, 6 }, { 1, 2 })).to_string ());
    } catch (Error e) {
        printerr ("%s\n", e.message);
        return 1;
    }

    return 0;
}
