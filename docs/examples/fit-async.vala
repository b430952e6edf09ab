// SPDX-License-Identifier: LGPL-2.1-or-later
using Apr;

// Fits, saves and loads without stopping the main loop, and gives up when the user cancels.
async void run (Cancellable cancellable) {
    try {
        var x = new Tensor.from_doubles ({ 0, 1, 2 }, { 3, 1 });
        var model = new LinearRegression ();
        yield model.fit_async (x, new Tensor.from_doubles ({ 1, 3, 5 }, { 3 }), null, GLib.Priority.DEFAULT, cancellable);

        var writer = new SafetensorsWriter ();
        writer.add_tensor ("slope", model.coefficients);
        var file = File.new_for_path ("slope.safetensors");
        yield writer.write_to_file_async (file, GLib.Priority.DEFAULT, cancellable);

        var reader = yield new SafetensorsReader.from_file_async (file);
        print ("%s\n", reader.get_tensor ("slope").to_string ());

        cancellable.cancel ();
        yield writer.write_to_file_async (file, GLib.Priority.DEFAULT, cancellable);
    } catch (IOError.CANCELLED e) {
        print ("cancelled, and the file is as it was\n");
    } catch (AprError e) {
        printerr ("wrong data: %s\n", e.message);
    } catch (Error e) {
        printerr ("%s\n", e.message);
    }
}

int main () {
    var loop = new MainLoop ();
    run.begin (new Cancellable (), () => loop.quit ());
    loop.run ();
    return 0;
}
