// SPDX-License-Identifier: LGPL-2.1-or-later
using Apr;

// Rents, by square metres and rooms.
int main () {
    try {
        var x = new Tensor.from_doubles ({ 50, 1, 80, 2, 120, 3, 65, 2, 95, 4 }, { 5, 2 });
        var y = new Tensor.from_doubles ({ 520, 840, 1260, 690, 1030 }, { 5 });
        var model = new LinearRegression () { keep_state = true };
        model.fit (x, y);
        model.save ("rents.safetensors");

        var later = new LinearRegression.load ("rents.safetensors");
        later.partial_fit (new Tensor.from_doubles ({ 70, 2, 100, 3 }, { 2, 2 }),
                           new Tensor.from_doubles ({ 735, 1050 }, { 2 }));
        stdout.printf ("%s\n", later.summary ());
        var statistics = later.get_statistics ();
        for (uint i = 0; i < statistics.get_n_items (); i++) {
            var term = (Term) statistics.get_item (i);
            stdout.printf ("%s %.6f\n", term.name, term.standard_error);
        }

        var flat = new Tensor.from_doubles ({ 85, 3 }, { 1, 2 });
        Tensor lower, upper;
        later.predict_interval (flat, 0.9, IntervalKind.PREDICTION, out lower, out upper);
        stdout.printf ("%.3f %.3f %.3f\n", lower.get_double (0), later.predict (flat).get_double (0),
                       upper.get_double (0));
    } catch (Error e) {
        printerr ("%s\n", e.message);
        return 1;
    }

    return 0;
}
