/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* longley MODEL.safetensors DATA.csv: predicts, and prints a hash of the predictions. */
string hash_predictions (string model_path, string data_path) throws Error {
  var model = new Apr.LinearRegression.load (model_path);
  string text;
  FileUtils.get_contents (data_path, out text);
  string[] lines = text.replace ("\r", "").strip ().split ("\n");
  string[] header = lines[0].split (",");
  double[] values = {};

  foreach (unowned string line in lines[1:lines.length])
    foreach (unowned string name in model.feature_names)
      for (int i = 0; i < header.length; i++)
        if (header[i] == name)
          values += double.parse (line.split (",")[i]);

  var x = new Apr.Tensor.from_doubles (values, { lines.length - 1, model.get_n_features () });
  return Checksum.compute_for_bytes (ChecksumType.SHA256, model.predict (x).get_bytes ());
}

int main (string[] args) {
  try {
    print ("sha256  %s\n", hash_predictions (args[1], args[2]));
    return 0;
  } catch (Error e) {
    printerr ("%s\n", e.message);
    return 1;
  }
}
