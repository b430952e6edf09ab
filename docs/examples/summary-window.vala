// SPDX-License-Identifier: LGPL-2.1-or-later
using Apr;

class SummaryWindow : Gtk.ApplicationWindow {
    Gtk.ProgressBar bar = new Gtk.ProgressBar ();
    Gtk.Button button = new Gtk.Button.with_label ("Cancel");
    Gtk.Label label = new Gtk.Label ("") { selectable = true, css_classes = { "monospace" } };

    public SummaryWindow (Gtk.Application application) {
        Object (application: application, title: "Rents");
        child = new Gtk.Box (Gtk.Orientation.VERTICAL, 12);
        foreach (var part in new Gtk.Widget[] { bar, button, label })
            ((Gtk.Box) child).append (part);
    }

    // Adds the samples to the model as they are read, so that the file may be of any size.
    public async void fit (File file) {
        var cancellable = new Cancellable ();
        button.clicked.connect (() => cancellable.cancel ());
        try {
            var model = new LinearRegression ();
            var reader = new TableReader.for_file (file, cancellable);
            reader.targets = { "rent" };
            reader.bind_property ("progress", bar, "fraction", BindingFlags.DEFAULT);
            Tensor x, y, weights;
            while (yield reader.read_async (Priority.DEFAULT, cancellable, out x, out y, out weights))
                yield model.partial_fit_async (x, y, null, Priority.DEFAULT, cancellable);
            model.feature_names = reader.features;
            label.label = yield model.summary_async (Priority.DEFAULT, cancellable);
        } catch (Error e) {
            label.label = e.message;
        }
        button.sensitive = false;
    }
}

class SummaryApplication : Gtk.Application {
    public SummaryApplication () {
        Object (application_id: "org.example.Rents", flags: ApplicationFlags.HANDLES_OPEN);
    }

    public override void open (File[] files, string hint) {
        var window = new SummaryWindow (this);
        window.present ();
        window.fit.begin (files[0]);
    }
}

int main (string[] arguments) {
    return new SummaryApplication ().run (arguments);
}
