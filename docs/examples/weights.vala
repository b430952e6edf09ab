// SPDX-License-Identifier: LGPL-2.1-or-later
using Apr;

void show (Tensor x, Tensor y, Tensor? weights) throws Error {
    var model = new LinearRegression ();
    model.fit (x, y, weights);
    var statistics = model.get_statistics ();
    for (uint i = 0; i < statistics.get_n_items (); i++) {
        var term = (Term) statistics.get_item (i);
        print ("%s %.4f, standard error %.4f\n", term.name, term.estimate, term.standard_error);
    }
    print ("%s degrees of freedom\n", statistics.df_residual.to_string ());
}

int main () {
    try {
        // Rents by square metres. The third is the mean of two flats: it has the weight 2.
        show (new Tensor.from_doubles ({ 50, 65, 80, 120 }, { 4, 1 }),
              new Tensor.from_doubles ({ 523, 671, 835, 1214 }, { 4 }),
              new Tensor.from_doubles ({ 1, 1, 2, 1 }, { 4 }));
        // And twice, without weights.
        show (new Tensor.from_doubles ({ 50, 65, 80, 120, 80 }, { 5, 1 }),
              new Tensor.from_doubles ({ 523, 671, 835, 1214, 835 }, { 5 }), null);
    } catch (Error e) {
        printerr ("%s\n", e.message);
        return 1;
    }

    return 0;
}
