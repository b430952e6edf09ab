/* SPDX-License-Identifier: LGPL-2.1-or-later */
void write_checkpoint () throws Error {
    var embeddings = new Apr.Tensor.from_floats ({ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }, { 4, 3 });
    var writer = new Apr.SafetensorsWriter ();
    writer.add_tensor ("embed.weight", embeddings.cast (Apr.DType.BF16));
    writer.add_tensor ("norm.weight", new Apr.Tensor.from_floats ({ 0.5f, 1, 1.5f }, { 3 }));
    writer.set_metadata ("format", "pt");

    // One file, then the same tensors in files of at most 24 bytes of data each, and an index.
    writer.write_to_path ("tiny.safetensors");
    writer.write_shards (File.new_for_path ("."), "tiny", 24);
}

Apr.SafetensorsReader open_checkpoint (string path) throws Error {
    var reader = new Apr.SafetensorsReader.from_path (path);
    print ("%s: format %s\n", path, reader.get_metadata ()["format"]);
    foreach (unowned string name in reader.get_names ()) {
        print ("  %s %s", name, reader.get_dtype (name).to_string ());
        foreach (size_t size in reader.get_shape (name))
            print (" %zu", size);
        print ("\n");
    }
    return reader;
}

int main () {
    Intl.setlocale ();
    try {
        write_checkpoint ();
        open_checkpoint ("tiny.safetensors");
        var reader = open_checkpoint ("tiny.safetensors.index.json");

        print ("%s\n", reader.get_tensor ("norm.weight").to_string ());
        print ("%s\n", reader.get_slice ("embed.weight", "1:3, ::-1").cast (Apr.DType.F32).to_string ());
        try {
            reader.get_tensor ("bias");
        } catch (Apr.SafetensorsError e) {
            print ("%s\n", e.message);
        }
    } catch (Error e) {
        printerr ("%s\n", e.message);
        return 1;
    }

    return 0;
}
