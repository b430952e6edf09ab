// SPDX-License-Identifier: LGPL-2.1-or-later
using Apr;

int main () {
    try {
        var state = new CrossProducts (2, 1);
        state.update (new Tensor.from_doubles ({ 1, 2, 2, 1 }, { 2, 2 }), new Tensor.from_doubles ({ 5, 4 }, { 2 }));
        var other = new CrossProducts (2, 1);
        other.update (new Tensor.from_doubles ({ 3, 4, 4, 3 }, { 2, 2 }), new Tensor.from_doubles ({ 11, 10 }, { 2 }));
        state.merge (other);

        var model = new LinearRegression ();
        model.fit_cross_products (state);
        print ("%s: %s, intercept %s\n", state.get_n_samples ().to_string (), model.coefficients.to_string (),
               model.intercept.to_string ());
    } catch (Error e) {
        printerr ("%s\n", e.message);
        return 1;
    }

    return 0;
}
