/* SPDX-License-Identifier: LGPL-2.1-or-later */
using Apr;

// What is behind a window: nothing blocks but opening a file, and the cancellable ends whichever call is under way.
class TableModel : Object {
    public LinearRegression model { get; private set; default = new LinearRegression () { keep_state = true }; }
    // For a progress bar, whose fraction is bound to it.
    public double progress { get; set; }

    public async void fit (File file, Cancellable? cancellable) throws Error {
        var scan = new TableReader.for_file (file, cancellable);
        string[] features = { "area", "rooms" };
        var districts = yield scan.read_categories_async ({ "district" }, Priority.DEFAULT, cancellable);
        foreach (unowned string district in districts)
            features += district;

        var reader = new TableReader.for_file (file, cancellable);
        reader.features = features;
        reader.targets = { "rent" };
        reader.drop_missing = true;
        reader.bind_property ("progress", this, "progress", BindingFlags.DEFAULT);
        var state = new CrossProducts (features.length, 1);
        state.set_feature_names (features);
        Tensor x, y, weights;
        while (yield reader.read_async (Priority.DEFAULT, cancellable, out x, out y, out weights))
            yield state.update_async (x, y, null, Priority.DEFAULT, cancellable);
        yield model.fit_cross_products_async (state, Priority.DEFAULT, cancellable);
    }

    public async void save (File file, Cancellable? cancellable) throws Error {
        yield model.save_to_file_async (file, Priority.DEFAULT, cancellable);
    }

    // An estimator is loaded as the class that is named: a file of another class is an error.
    public async void load (File file, Cancellable? cancellable) throws Error {
        var type = typeof (LinearRegression);
        model = (LinearRegression) yield Estimator.load_from_file_async (type, file, Priority.DEFAULT, cancellable);
    }
}

async void run () throws Error {
    var table = new TableModel ();
    yield table.fit (File.new_for_path ("flats.csv"), null);
    yield table.save (File.new_for_path ("flats.safetensors"), null);
    yield table.load (File.new_for_path ("flats.safetensors"), null);

    // The features in their order: area, rooms, district=centre, district=north, district=south.
    double[] flat = { 80, 3, 0, 1, 0 };
    Tensor lower, upper;
    table.model.predict_interval (new Tensor.from_doubles (flat, { 1, flat.length }), 0.9, IntervalKind.PREDICTION,
                                  out lower, out upper);
    print ("%.2f, from %.2f to %.2f\n", table.model.predict_one (flat), lower.get_double (0), upper.get_double (0));

    var cancellable = new Cancellable ();
    cancellable.cancel ();
    try {
        yield table.fit (File.new_for_path ("flats.csv"), cancellable);
    } catch (IOError.CANCELLED e) {
        print ("%s; fitted: %s\n", e.message, table.model.fitted.to_string ());
    }
}

int main () {
    var loop = new MainLoop ();
    var status = 0;
    run.begin ((_, result) => {
        try {
            run.end (result);
        } catch (Error e) {
            printerr ("%s\n", e.message);
            status = 1;
        }
        loop.quit ();
    });
    loop.run ();
    return status;
}
