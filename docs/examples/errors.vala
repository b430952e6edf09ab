// SPDX-License-Identifier: LGPL-2.1-or-later
using Apr;

int main () {
    var model = new LinearRegression ();

    try {
        model.predict (new Tensor.from_doubles ({ 1, 2 }, { 1, 2 }));
    } catch (AprError.NOT_FITTED e) {
        print ("%s\n", e.message);
    } catch (Error e) {
        return 1;
    }

    try {
        model.fit (new Tensor.from_doubles ({ 1, 2, 3, double.NAN }, { 2, 2 }), new Tensor.from_doubles ({ 1, 2 }, { 2 }));
    } catch (Error e) {
        print ("%s\n%s %s\n", e.message, (e is AprError.NOT_FINITE).to_string (), model.fitted.to_string ());
    }

    try {
        new LinearRegression.load ("missing.safetensors");
    } catch (IOError.NOT_FOUND e) {
        print ("%s\n", e.message);
    } catch (Error e) {
        return 1;
    }

    return 0;
}
