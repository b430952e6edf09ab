// SPDX-License-Identifier: LGPL-2.1-or-later
using Apr;

class Example.Mean : Estimator {
    public double factor { get; set construct; default = 1; }
    double mean;

    public override bool fit (Tensor x, Tensor y, Tensor? sample_weight, Cancellable? cancellable) throws Error {
        mean = 0;
        for (size_t i = 0; i < y.get_n_elements (); i++)
            mean += y.get_double (i) / y.get_n_elements ();
        return true;
    }

    public override Tensor predict (Tensor x) throws Error {
        var values = new double[x.get_shape ()[0]];
        for (int i = 0; i < values.length; i++)
            values[i] = factor * mean;
        return new Tensor.from_doubles (values, { values.length });
    }

    public override bool save_tensors (SafetensorsWriter writer) throws Error {
        return writer.add_tensor ("mean", new Tensor.from_doubles ({ mean }, { 1 })) &&
               writer.add_tensor ("n_features", new Tensor.from_doubles ({ get_n_features () }, { 1 }));
    }

    public override bool load_tensors (SafetensorsReader reader, out size_t n_features, out size_t n_targets)
        throws Error {
        mean = reader.get_tensor ("mean").get_double (0);
        n_features = (size_t) reader.get_tensor ("n_features").get_double (0);
        n_targets = 1;
        return true;
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
