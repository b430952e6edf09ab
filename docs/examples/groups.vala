// SPDX-License-Identifier: LGPL-2.1-or-later
using Apr;

int main () {
    try {
        // Rents by square metres, each in its city: 0 is Bern, 1 is Oslo, 2 is Rome.
        string[] names = { "Bern", "Oslo", "Rome" };
        var areas = new Tensor.from_doubles ({ 50, 80, 60, 120, 65, 95, 30 }, { 7, 1 });
        var rents = new Tensor.from_doubles ({ 510, 810, 740, 1210, 800, 960, 450 }, { 7 });
        var cities = new Tensor.from_bytes (DType.U8, { 7 }, new Bytes ({ 2, 2, 1, 2, 1, 2, 0 }));

        var fits = new LinearRegression ().fit_groups (areas, rents, cities);
        for (size_t i = 0; i < fits.get_n_groups (); i++) {
            var city = names[(int) fits.labels.get_double (i)];
            print ("%s: %g + %g x, rank %g\n", city, fits.intercepts.get_double (i), fits.coefficients.get_double (i),
                   fits.ranks.get_double (i));
        }
    } catch (Error e) {
        printerr ("%s\n", e.message);
        return 1;
    }

    return 0;
}
