// SPDX-License-Identifier: LGPL-2.1-or-later
using Apr;

int main () {
    try {
        var x = new Tensor.from_doubles ({ 1, 3, 2, 1, 3, 5, 4, 2, 5, 6, 6, 4, 7, 9, 8, 7 }, { 8, 2 });
        var y = new Tensor.from_doubles ({ 4, 3, 9, 5, 12, 9, 15, 16 }, { 8 });

        var model = new LinearRegression ();
        model.fit (x, y);
        var robust = model.get_robust_statistics (x, y, null, CovarianceKind.HC1);
        for (size_t i = 0; i < 3; i++)
            print ("%.5f\n", robust.get_standard_errors ().get_double (i));

        // Are the coefficients of both features the same?
        var same = robust.test_hypothesis (new Tensor.from_doubles ({ 0, 1, -1 }, { 3 }), null);
        print ("F = %.5f, p = %.5f\n", same.f_statistic, same.f_p_value);

        // How much the fit would change without the last sample.
        print ("%.5f\n", model.diagnose (x, y, null).get_cooks_distances ().get_double (7));
    } catch (Error e) {
        printerr ("%s\n", e.message);
        return 1;
    }

    return 0;
}
