// SPDX-License-Identifier: LGPL-2.1-or-later
using Apr;

class Example.Mean : Estimator {
    public double factor { get; set construct; default = 1; }

    public override bool fit (Tensor x, Tensor y, Tensor? sample_weight, Cancellable? cancellable) throws Error {
        if (sample_weight != null)
            throw new AprError.WEIGHTS ("The mean takes no sample_weight");
        double mean = 0;
        for (size_t i = 0; i < y.get_n_elements (); i++)
            mean += y.get_double (i) / y.get_n_elements ();
        return set_result ("mean", new Tensor.from_doubles ({ mean }, { 1 }));
    }

    public override Tensor predict (Tensor x) throws Error {
        var mean = get_result ("mean").get_double (0);
        var values = new double[x.get_shape ()[0]];
        for (int i = 0; i < values.length; i++)
            values[i] = factor * mean;
        return new Tensor.from_doubles (values, { values.length });
    }
}

void print_all (Tensor tensor, string before = "") throws Error {
    string[] words = {};
    if (before != "")
        words += before;
    for (size_t i = 0; i < tensor.get_n_elements (); i++)
        words += "%g".printf (tensor.get_double (i));
    print ("%s\n", string.joinv (" ", words));
}

int main () {
    try {
        var x = new Tensor.from_doubles ({ 1, 5, 2, 6, 3, 7 }, { 3, 2 });
        var model = (Example.Mean) Object.new (typeof (Example.Mean), factor: 2.0);
        model.fit (x, new Tensor.from_doubles ({ 1, 2, 6 }, { 3 }));
        print_all (model.predict (x));
        model.save ("mean.safetensors");

        var loaded = (Example.Mean) Estimator.load (typeof (Example.Mean), "mean.safetensors");
        print_all (loaded.predict (x), "%g".printf (loaded.factor));
        var clone = loaded.clone ();
        clone.fit (x, new Tensor.from_doubles ({ 1, 1, 1 }, { 3 }));
        print ("%g\n", clone.score (x, new Tensor.from_doubles ({ 2, 2, 2 }, { 3 })));
    } catch (AprError.SHAPE e) {
        printerr ("The shapes do not match: %s\n", e.message);
        return 1;
    } catch (Error e) {
        printerr ("%s\n", e.message);
        return 1;
    }

    return 0;
}
