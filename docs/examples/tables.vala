/* SPDX-License-Identifier: LGPL-2.1-or-later */
using Apr;

int main () {
    try {
        var file = File.new_for_path ("flats.csv");

        // Each value of a text column becomes a feature: 1 in the rows that have it, 0 in the others.
        var districts = new TableReader.for_file (file).read_categories ({ "district" });
        var reader = new TableReader.for_file (file);
        string[] features = { "area", "rooms" };
        foreach (unowned string district in districts)
            features += district;
        reader.features = features;
        reader.targets = { "rent" };

        // However long the table is, no more than some blocks of rows are in memory.
        var state = new CrossProducts (features.length, 1);
        state.set_feature_names (features);
        Tensor x, y, weights;
        while (reader.read (out x, out y, out weights))
            state.update (x, y);

        var model = new LinearRegression () { keep_state = true };
        model.fit_cross_products (state);
        var statistics = model.get_statistics ();
        for (uint i = 0; i < statistics.get_n_items (); i++) {
            var term = (Term) statistics.get_item (i);
            print ("%-15s %9.3f %8.3f\n", term.name, term.estimate, term.standard_error);
        }
        print ("%s rows\n", reader.n_rows.to_string ());
    } catch (Error e) {
        printerr ("%s\n", e.message);
        return 1;
    }

    return 0;
}
