// SPDX-License-Identifier: LGPL-2.1-or-later
using Apr;

int main () {
    Intl.setlocale ();
    try {
        // A part of the samples is summed up where it is, gets a name, and is sent as bytes.
        var other = new CrossProducts (2, 1);
        other.update (new Tensor.from_doubles ({ 3, 4, 4, 3 }, { 2, 2 }), new Tensor.from_doubles ({ 11, 10 }, { 2 }));
        other.set_identity ("Tuesday");
        var sent = other.to_bytes ();

        var state = new CrossProducts (2, 1);
        state.update (new Tensor.from_doubles ({ 1, 2, 2, 1 }, { 2, 2 }), new Tensor.from_doubles ({ 5, 4 }, { 2 }));
        state.set_identity ("Monday");
        state.merge_bytes (sent);
        try {
            state.merge_bytes (sent);
        } catch (Error e) {
            print ("%s\n", e.message);
        }

        var model = new LinearRegression ();
        model.fit_cross_products (state);
        print ("%s: %s samples, %s, intercept %s\n", string.joinv (", ", state.get_identities ()),
               state.get_n_samples ().to_string (), model.coefficients.to_string (), model.intercept.to_string ());
        print ("%g\n", model.predict_one ({ 5, 6 }));
    } catch (Error e) {
        printerr ("%s\n", e.message);
        return 1;
    }

    return 0;
}
