// SPDX-License-Identifier: LGPL-2.1-or-later
using Apr;

int main () {
    try {
        // The rents of flats by square metres and rooms, in districts: 0 is the centre, 1 the north, 2 the south.
        var flats = new Tensor.from_doubles ({ 54, 2, 38, 1, 81, 3, 61, 2, 72, 3, 45, 2, 95, 4, 50, 2, 66, 3, 84, 3,
                                               40, 1, 70, 3 }, { 12, 2 });
        var rents = new Tensor.from_doubles ({ 1010, 765, 1420, 790, 905, 640, 1130, 735, 910, 1105, 640, 1260 },
                                             { 12 });
        var districts = new Tensor.from_bytes (DType.U8, { 12 }, new Bytes ({ 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0 }));

        var folds = new Folds.from_labels (flats, rents, null, districts);
        foreach (double alpha in new double[] { 0, 1000, 10000 }) {
            var model = new LinearRegression () { alpha = alpha };
            var errors = model.cross_validate (folds, Metric.ROOT_MEAN_SQUARED_ERROR);
            print ("alpha %g: wrong by %.1f, %.1f and %.1f\n", alpha, errors.get_double (0), errors.get_double (1),
                   errors.get_double (2));
        }
    } catch (Error e) {
        printerr ("%s\n", e.message);
        return 1;
    }

    return 0;
}
