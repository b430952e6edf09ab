/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Predicts the mean of the targets, plus a constant. */
class TestMean : Apr.Estimator {
  public double offset { get; set construct; default = 0.5; }

  private double mean;

  public TestMean (double offset) {
    Object (offset: offset);
  }

  public override bool fit (Apr.Tensor x, Apr.Tensor y, Apr.Tensor? sample_weight, Cancellable? cancellable)
      throws GLib.Error {
    double sum = 0;

    for (size_t i = 0; i < y.get_n_elements (); i++) {
      if (y.get_double (i) < 0)
        throw new Apr.AprError.RANGE ("The target %g is negative", y.get_double (i));
      sum += y.get_double (i);
    }
    mean = sum / y.get_n_elements ();
    return true;
  }

  public override Apr.Tensor predict (Apr.Tensor x) throws GLib.Error {
    double[] values = {};

    for (size_t i = 0; i < x.get_shape ()[0]; i++)
      values += mean + offset;
    return new Apr.Tensor.from_doubles (values, { values.length });
  }

  public override bool save_tensors (Apr.SafetensorsWriter writer) throws GLib.Error {
    writer.add_tensor ("n_features", new Apr.Tensor.from_doubles ({ get_n_features () }, { 1 }));
    return writer.add_tensor ("mean", new Apr.Tensor.from_doubles ({ mean }, { 1 }));
  }

  public override bool load_tensors (Apr.SafetensorsReader reader,
                                     out size_t n_features,
                                     out size_t n_targets)
      throws GLib.Error {
    n_features = (size_t) reader.get_tensor ("n_features").get_double (0);
    n_targets = 1;
    mean = reader.get_tensor ("mean").get_double (0);
    return true;
  }
}

/* Predicts the first target; the base class keeps it. */
class TestFirst : Apr.Estimator {
  /* What valac sets when it makes an object; the property's own default is null. */
  public string? label { get; set; default = "x"; }

  public override bool fit (Apr.Tensor x, Apr.Tensor y, Apr.Tensor? sample_weight, Cancellable? cancellable)
      throws GLib.Error {
    return set_result ("first", y.slice_rows (0, 1));
  }

  public override Apr.Tensor predict (Apr.Tensor x) throws GLib.Error {
    double[] values = {};

    for (size_t i = 0; i < x.get_shape ()[0]; i++)
      values += get_result ("first").get_double (0);
    return new Apr.Tensor.from_doubles (values, { values.length });
  }
}

/* y = 2 x1 + 3 x2 + 1. */
Apr.Tensor make_x () throws GLib.Error {
  return new Apr.Tensor.from_doubles ({ 0, 0, 1, 0, 0, 1, 1, 1 }, { 4, 2 });
}

Apr.Tensor make_y () throws GLib.Error {
  return new Apr.Tensor.from_doubles ({ 1, 3, 4, 6 }, { 4 });
}

void assert_values (Apr.Tensor? tensor, double[] expected) throws GLib.Error {
  assert_nonnull (tensor);
  assert (tensor.get_n_elements () == expected.length);
  for (int i = 0; i < expected.length; i++)
    assert (tensor.get_double (i) == expected[i]);
}

void assert_message (GLib.Error e, string text) {
  if (!e.message.contains (text))
    error ("Expected “%s” in “%s”", text, e.message);
}

string make_path () throws GLib.Error {
  return Path.build_filename (DirUtils.make_tmp ("aprender-XXXXXX"), "model.safetensors");
}

void remove_path (string path) {
  FileUtils.unlink (path);
  DirUtils.remove (Path.get_dirname (path));
}

void test_tensor () throws GLib.Error {
  float[] floats = { 1, 2, 3, 4, 5, 6 };
  var tensor = new Apr.Tensor.from_floats (floats, { 2, 3 });

  assert (tensor.get_dtype () == Apr.DType.F32);
  assert (tensor.get_dtype ().get_bits () == 32);
  assert (tensor.get_dtype ().to_string () == "F32");
  assert (tensor.get_n_dims () == 2);
  assert (tensor.get_shape ().length == 2);
  assert (tensor.get_shape ()[1] == 3);
  assert (tensor.get_floats ().length == 6);
  assert (tensor.get_floats ()[5] == 6);
  assert_values (tensor.slice_rows (1, 2), { 4, 5, 6 });
  assert_values (tensor.cast (Apr.DType.F64), { 1, 2, 3, 4, 5, 6 });
  assert (tensor.to_string () == "F32 [2, 3] [[1, 2, 3], [4, 5, 6]]");

  var same = new Apr.Tensor.from_bytes (Apr.DType.F32, { 2, 3 }, tensor.get_bytes ());
  assert (same.equal (tensor));
  assert (!same.equal (tensor.cast (Apr.DType.F64)));

  try {
    new Apr.Tensor.from_doubles ({ 1, 2 }, { 3 });
    assert_not_reached ();
  } catch (Apr.AprError.SHAPE e) {
    assert_message (e, "[3] needs 3 values, but there are 2");
  }
  try {
    tensor.get_doubles ();
    assert_not_reached ();
  } catch (Apr.AprError e) {
    assert (e is Apr.AprError.DTYPE);
  }

  Apr.DType dtype;
  Apr.DType.from_string ("BF16", out dtype);
  assert (dtype == Apr.DType.BF16);
}

void test_reader_and_writer () throws GLib.Error {
  var path = make_path ();
  var writer = new Apr.SafetensorsWriter ();
  writer.add_tensor ("b", new Apr.Tensor.from_doubles ({ 1, 2 }, { 2, 1 }));
  writer.add_tensor ("a", new Apr.Tensor.from_floats ({ 0.5f }, { 1 }));
  writer.set_metadata ("key", "value");
  writer.write_to_file (File.new_for_path (path));

  Apr.SafetensorsReader[] readers = {
    new Apr.SafetensorsReader.from_path (path),
    new Apr.SafetensorsReader.from_file (File.new_for_path (path)),
    new Apr.SafetensorsReader.from_bytes (writer.write_to_bytes ()),
  };
  remove_path (path);

  foreach (var reader in readers) {
    assert (string.joinv (" ", reader.get_names ()) == "a b");
    assert (reader.has_tensor ("a"));
    assert (reader.get_dtype ("a") == Apr.DType.F32);
    assert (reader.get_shape ("b").length == 2);
    assert (reader.get_shape ("b")[0] == 2);
    assert_values (reader.get_tensor ("b"), { 1, 2 });
    assert (reader.get_metadata ().size () == 1);
    assert (reader.get_metadata ()["key"] == "value");

    try {
      reader.get_tensor ("c");
      assert_not_reached ();
    } catch (Apr.SafetensorsError.NOT_FOUND e) {
      assert_message (e, "“c”");
    }
  }

  try {
    new Apr.SafetensorsReader.from_bytes (new Bytes ({ 1, 2, 3 }));
    assert_not_reached ();
  } catch (Apr.SafetensorsError e) {
    assert (e is Apr.SafetensorsError.TRUNCATED);
  }
}

void test_fit_and_predict () throws GLib.Error {
  var model = new Apr.LinearRegression ();
  int n_notified = 0;

  model.notify["coefficients"].connect (() => n_notified++);
  assert (!model.fitted);
  assert_null (model.coefficients);
  assert (model.fit (make_x (), make_y ()));
  assert (model.fitted);
  assert (n_notified == 1);
  assert (model.n_features == 2);
  assert (model.n_targets == 1);
  assert (model.rank == 2);
  assert_values (model.coefficients, { 2, 3 });
  assert_values (model.intercept, { 1 });
  assert_values (model.predict (new Apr.Tensor.from_doubles ({ 10, 100 }, { 1, 2 })), { 321 });
  assert (model.score (make_x (), make_y ()) == 1);
  assert (Apr.r2_score (make_y (), model.predict (make_x ())) == 1);
}

void test_properties () throws GLib.Error {
  var model = (Apr.LinearRegression) Object.new (typeof (Apr.LinearRegression), "fit-intercept", false,
                                                 "dtype", Apr.DType.F32);
  var x = new Apr.Tensor.from_doubles ({ 1, 2 }, { 2, 1 });
  var y = new Apr.Tensor.from_doubles ({ 3, 6 }, { 2 });
  var weights = new Apr.Tensor.from_doubles ({ 1, 0.5 }, { 2 });

  model.fit (x, y, weights);
  assert (model.coefficients.get_dtype () == Apr.DType.F32);
  assert_values (model.coefficients, { 3 });
  assert_values (model.intercept, { 0 });

  var clone = (Apr.LinearRegression) model.clone ();
  assert (!clone.fitted);
  assert (!clone.fit_intercept);
  assert (clone.dtype == Apr.DType.F32);
  clone.fit_intercept = true;
  assert (!model.fit_intercept);
}

void test_fit_async () throws GLib.Error {
  var loop = new MainLoop ();

  check_fit_async.begin ((object, result) => {
    try {
      check_fit_async.end (result);
    } catch (GLib.Error e) {
      error ("%s", e.message);
    }
    loop.quit ();
  });
  loop.run ();
}

async void check_fit_async () throws GLib.Error {
  var model = new Apr.LinearRegression ();

  yield model.fit_async (make_x (), make_y ());
  assert_values (model.coefficients, { 2, 3 });

  var mean = new TestMean (1);
  yield mean.fit_async (make_x (), make_y ());
  assert_values (mean.predict (make_x ()), { 4.5, 4.5, 4.5, 4.5 });

  try {
    yield model.fit_async (make_y (), make_y ());
    assert_not_reached ();
  } catch (Apr.AprError e) {
    assert (e is Apr.AprError.SHAPE);
  }

  var cancellable = new Cancellable ();
  cancellable.cancel ();
  try {
    yield model.fit_async (make_x (), make_x (), null, GLib.Priority.DEFAULT, cancellable);
    assert_not_reached ();
  } catch (IOError e) {
    assert (e is IOError.CANCELLED);
  }
  assert_values (model.coefficients, { 2, 3 });
}

void test_async_twins () throws GLib.Error {
  var loop = new MainLoop ();

  check_async_twins.begin ((object, result) => {
    try {
      check_async_twins.end (result);
    } catch (GLib.Error e) {
      error ("%s", e.message);
    }
    loop.quit ();
  });
  loop.run ();
}

async void check_async_twins () throws GLib.Error {
  var path = make_path ();
  var file = File.new_for_path (path);
  var model = new Apr.LinearRegression ();
  Apr.Tensor lower;
  Apr.Tensor upper;

  yield model.partial_fit_async (make_x (), make_y ());
  assert ((yield model.predict_async (make_x ())).equal (model.predict (make_x ())));
  assert ((yield model.score_async (make_x (), make_y ())) == 1);
  assert ((yield model.get_statistics_async ()).get_r_squared () == 1);
  assert ((yield model.compute_condition_number_async ()) == model.compute_condition_number ());
  yield model.predict_interval_async (make_x (), 0.9, Apr.IntervalKind.CONFIDENCE, 0, null, out lower, out upper);
  assert (lower.get_n_elements () == upper.get_n_elements ());
  assert (!model.busy && model.progress == 1);

  yield model.save_to_file_async (file);
  var loaded = (Apr.LinearRegression) yield Apr.Estimator.load_from_file_async (typeof (Apr.LinearRegression), file);
  assert (loaded.coefficients.equal (model.coefficients));
  var reader = yield new Apr.SafetensorsReader.from_file_async (file);
  assert ((yield reader.get_tensor_async ("coefficients")).equal (model.coefficients));
  assert_values (yield reader.get_slice_async ("coefficients", "1:"), { 3 });
  remove_path (path);
  var bytes = yield model.to_bytes_async ();
  assert (bytes.compare (model.to_bytes ()) == 0);
  loaded = (Apr.LinearRegression) yield Apr.Estimator.from_bytes_async (typeof (Apr.LinearRegression), bytes);
  assert (loaded.coefficients.equal (model.coefficients));
  var errors = yield Apr.compute_metric_async (Apr.Metric.R2, Apr.Multioutput.RAW_VALUES, make_y (), make_y ());
  assert (errors.get_double (0) == 1);
  assert ((yield errors.cast_async (Apr.DType.F32)).get_dtype () == Apr.DType.F32);

  var table = new Apr.TableReader (new MemoryInputStream.from_data ("a,b\n1,2\n".data));
  assert (yield table.read_names_async ());
  assert (table.names.length == 2);
}

void test_save_and_load () throws GLib.Error {
  var path = make_path ();
  var model = new Apr.LinearRegression ();

  model.fit (make_x (), make_y ());
  model.feature_names = { "a", "b" };
  model.save (path);

  Apr.LinearRegression[] loaded = {
    new Apr.LinearRegression.load (path),
    new Apr.LinearRegression.from_bytes (model.to_bytes ()),
    (Apr.LinearRegression) Apr.Estimator.load (typeof (Apr.LinearRegression), path),
  };
  remove_path (path);

  foreach (var other in loaded) {
    assert (other.fitted);
    assert (other.coefficients.equal (model.coefficients));
    assert (other.intercept.equal (model.intercept));
    assert (other.predict (make_x ()).equal (model.predict (make_x ())));
    assert (string.joinv (" ", other.feature_names) == "a b");
    assert (other.to_bytes ().compare (model.to_bytes ()) == 0);
  }
}

void test_partial_fit () throws GLib.Error {
  var model = new Apr.LinearRegression ();

  model.keep_state = true;
  model.partial_fit (make_x ().slice_rows (0, 2), make_y ().slice_rows (0, 2));
  model = new Apr.LinearRegression.from_bytes (model.to_bytes ());
  model.partial_fit (make_x ().slice_rows (2, 4), make_y ().slice_rows (2, 4));
  assert (((!) model.cross_products).get_n_samples () == 4);

  var whole = new Apr.LinearRegression ();
  whole.keep_state = true;
  whole.fit (make_x (), make_y ());
  assert (model.to_bytes ().compare (whole.to_bytes ()) == 0);
}

void test_statistics () throws GLib.Error {
  var model = new Apr.LinearRegression ();
  Apr.Tensor lower;
  Apr.Tensor upper;

  var y = new Apr.Tensor.from_doubles ({ 1, 3, 2, 6 }, { 4 });
  model.fit (make_x (), y);
  var statistics = model.get_statistics ();
  assert (statistics.n_samples == 4);
  assert (statistics.terms.length == 3);
  assert (statistics.residual_standard_error > 0);
  assert (statistics.standard_errors.get_shape ()[0] == 3);
  assert (statistics.get_confidence_intervals ().get_shape ()[1] == 2);
  assert (statistics.to_string () == model.summary ());
  model.predict_interval (make_x (), 0.95, Apr.IntervalKind.CONFIDENCE, out lower, out upper);
  assert (lower.get_double (0) < upper.get_double (0));

  var robust = model.get_robust_statistics (make_x (), y, null, Apr.CovarianceKind.HC1);
  assert (robust.covariance_kind == Apr.CovarianceKind.HC1);
  try {
    model.get_robust_statistics (make_x (), make_y (), null, Apr.CovarianceKind.HC1);
    assert_not_reached ();
  } catch (Apr.AprError.STATE e) {
    assert_message (e, "not those that the model was fitted to");
  }
  double[] row = { 0, 1, 0 };
  var test = statistics.test_hypothesis (new Apr.Tensor.from_doubles (row, { 3 }));
  assert ((test.t_values.get_double (0) / statistics.t_values.get_double (1) - 1).abs () < 1e-12);
  assert (test.df_hypothesis == 1);
  assert (test.get_confidence_intervals ().get_shape ()[1] == 2);
  Apr.Tensor factors;
  Apr.Tensor values;
  statistics.parse_hypothesis ("x0 = 0", out factors, out values);
  assert (statistics.test_hypothesis (factors, values).f_statistic == test.f_statistic);
  statistics.test_hypothesis_async.begin (factors, values);
  try {
    statistics.compare (statistics);
    assert_not_reached ();
  } catch (Apr.AprError.RANGE e) {
    assert_message (e, "no part of this one");
  }
  try {
    model.get_statistics (1);
    assert_not_reached ();
  } catch (Apr.AprError.RANGE e) {
    assert_message (e, "target 1");
  }
}

void test_errors () throws GLib.Error {
  var model = new Apr.LinearRegression ();

  try {
    model.predict (make_x ());
    assert_not_reached ();
  } catch (Apr.AprError.NOT_FITTED e) {
    assert_message (e, "unfitted AprLinearRegression");
  }
  try {
    model.to_bytes ();
    assert_not_reached ();
  } catch (Apr.AprError e) {
    assert (e is Apr.AprError.NOT_FITTED);
  }

  model.fit (make_x (), make_y ());
  try {
    model.predict (new Apr.Tensor.from_doubles ({ 1, 2, 3 }, { 1, 3 }));
    assert_not_reached ();
  } catch (GLib.Error e) {
    assert (e.matches (Apr.AprError.quark (), Apr.AprError.SHAPE));
    assert_message (e, "X has 3 features, but this model was fitted with 2");
  }
  try {
    model.fit (new Apr.Tensor.from_doubles ({ 1, double.NAN }, { 1, 2 }),
               new Apr.Tensor.from_doubles ({ 1 }, { 1 }), null);
    assert_not_reached ();
  } catch (Apr.AprError.NOT_FINITE e) {
    assert_message (e, "row 0, column 1");
  }
  assert_values (model.coefficients, { 2, 3 });

  try {
    new Apr.LinearRegression.load ("/nonexistent/model");
    assert_not_reached ();
  } catch (IOError.NOT_FOUND e) {
    assert_message (e, "No such file");
  }
}

void test_subclass () throws GLib.Error {
  var path = make_path ();
  var model = new TestMean (10);

  model.fit (make_x (), make_y ());
  assert (model.fitted);
  assert_values (model.predict (make_x ()), { 13.5, 13.5, 13.5, 13.5 });

  var clone = (TestMean) model.clone ();
  assert (clone != model);
  assert (!clone.fitted);
  assert (clone.offset == 10);

  model.save (path);
  var loaded = (TestMean) Apr.Estimator.load (typeof (TestMean), path);
  remove_path (path);
  assert (loaded.fitted);
  assert (loaded.offset == 10);
  assert (loaded.n_features == 2);
  assert (loaded.predict (make_x ()).equal (model.predict (make_x ())));
  assert (loaded.to_bytes ().compare (model.to_bytes ()) == 0);

  try {
    model.fit (make_x (), new Apr.Tensor.from_doubles ({ 1, 2, -3, 4 }, { 4 }), null);
    assert_not_reached ();
  } catch (Apr.AprError.RANGE e) {
    assert_message (e, "The target -3 is negative");
  }
  try {
    new Apr.LinearRegression.from_bytes (model.to_bytes ());
    assert_not_reached ();
  } catch (Apr.AprError.MODEL e) {
    assert_message (e, "“TestMean”");
  }
}

void test_results () throws GLib.Error {
  var model = new TestFirst ();

  model.fit (make_x (), make_y ());
  var loaded = Apr.Estimator.from_bytes (typeof (TestFirst), model.to_bytes ());
  assert_values (loaded.predict (make_x ()), { 1, 1, 1, 1 });
  assert_values (loaded.get_result ("first"), { 1 });
  assert (((TestFirst) loaded).label == "x");
  model.label = null;
  assert (((TestFirst) Apr.Estimator.from_bytes (typeof (TestFirst), model.to_bytes ())).label == null);
  assert (((TestFirst) model.copy ()).label == null && ((TestFirst) model.clone ()).label == null);
  try {
    model.set_result ("first", make_y ());
    assert_not_reached ();
  } catch (Apr.AprError.FAILED e) {
    assert_message (e, "TestFirst");
  }
}

void test_groups () throws GLib.Error {
  var model = new Apr.LinearRegression ();
  var x = new Apr.Tensor.from_doubles ({ 0, 1, 1, 3, 2, 8 }, { 6, 1 });
  // y = 1 + 2 x, y = 5 - x, and one point.
  var y = new Apr.Tensor.from_doubles ({ 1, 4, 3, 2, 5, 7 }, { 6 });
  var groups = new Apr.Tensor.from_bytes (Apr.DType.U8, { 6 }, new Bytes ({ 9, 2, 9, 2, 9, 4 }));
  var fits = model.fit_groups (x, y, groups);

  assert (fits.n_groups == 3 && fits.n_failed == 0);
  assert_values (fits.coefficients, { -1, 0, 2 });
  assert_values (fits.intercepts, { 5, 7, 1 });
  assert_values (fits.labels.cast (Apr.DType.F64), { 2, 4, 9 });
  assert_values (model.fit_groups (x, y, groups.cast (Apr.DType.F64)).labels, { 2, 4, 9 });
  assert (fits.check (1));
  try {
    fits.check (3);
    assert_not_reached ();
  } catch (Apr.AprError.RANGE e) {
    assert_message (e, "no group 3");
  }

  var loop = new MainLoop ();
  model.fit_groups_async.begin (x, y, groups, null, Priority.DEFAULT, null, (object, result) => {
    try {
      assert_values (model.fit_groups_async.end (result).coefficients, { -1, 0, 2 });
    } catch (GLib.Error e) {
      error ("%s", e.message);
    }
    loop.quit ();
  });
  assert (model.busy);
  loop.run ();
}

/* The R² of each fold of a model that has seen the other rows. */
double[] score_by_hand (Apr.Estimator model, Apr.Tensor x, Apr.Tensor y, size_t n_rows) throws GLib.Error {
  double[] scores = {};

  for (size_t start = 0; start < n_rows; start += n_rows / 2) {
    var end = start + n_rows / 2;
    var other = start == 0 ? end : 0;
    var fitted = model.clone ();
    fitted.fit (x.slice_rows (other, other + n_rows / 2), y.slice_rows (other, other + n_rows / 2));
    scores += fitted.score (x.slice_rows (start, end), y.slice_rows (start, end));
  }
  return scores;
}

void assert_near (Apr.Tensor tensor, double[] expected) throws GLib.Error {
  assert (tensor.get_n_elements () == expected.length);
  for (int i = 0; i < expected.length; i++)
    assert ((tensor.get_double (i) - expected[i]).abs () <= 1e-12 * double.max (expected[i].abs (), 1));
}

void test_folds () throws GLib.Error {
  var loop = new MainLoop ();

  check_folds.begin ((object, result) => {
    try {
      check_folds.end (result);
    } catch (GLib.Error e) {
      error ("%s", e.message);
    }
    loop.quit ();
  });
  loop.run ();
}

async void check_folds () throws GLib.Error {
  var x = new Apr.Tensor.from_doubles ({ 0, 1, 2, 3, 5, 8, 13, 21 }, { 8, 1 });
  var y = new Apr.Tensor.from_doubles ({ 1, 2, 4, 5, 9, 11, 15, 30 }, { 8 });
  var folds = new Apr.Folds (x, y, null, 2);

  assert (folds.n_folds == 2);
  assert_values (((!) folds.labels).cast (Apr.DType.F64), { 0, 0, 0, 0, 1, 1, 1, 1 });
  Apr.Estimator[] models = { new Apr.LinearRegression (), new TestMean (1) };
  foreach (var model in models) {
    var expected = score_by_hand (model, x, y, 8);
    assert_near (model.cross_validate (folds), expected);
    assert_near (yield model.cross_validate_async (folds), expected);
    assert (model.cross_predict (folds).equal (yield model.cross_predict_async (folds)));
    var mean = model.cross_validate (folds, Apr.Metric.MEAN_ABSOLUTE_ERROR);
    assert (mean.equal (yield model.cross_validate_async (folds, Apr.Metric.MEAN_ABSOLUTE_ERROR)));
    assert (!model.fitted && !model.busy);
  }

  var labels = new Apr.Tensor.from_doubles ({ -1, 0, -1, 0, -1, 0, 7, 7 }, { 8 });
  var by_label = new Apr.Folds.from_labels (x, y, null, labels);
  assert (by_label.n_folds == 2);
  assert (models[0].cross_predict (by_label).get_double (0).is_nan ());
  assert (new Apr.Folds.shuffled (x, y, null, 4, 42).labels.equal (new Apr.Folds.shuffled (x, y, null, 4, 42).labels));

  Apr.CrossProducts[] states = { new Apr.CrossProducts (1, 1), new Apr.CrossProducts (1, 1) };
  for (int i = 0; i < 2; i++)
    states[i].update (x.slice_rows (4 * i, 4 * i + 4), y.slice_rows (4 * i, 4 * i + 4));
  var summed = new Apr.Folds.from_cross_products (states);
  assert_null (summed.labels);
  assert (models[0].cross_validate (summed).equal (models[0].cross_validate (folds)));
  assert ((yield models[0].cross_validate_async (summed)).equal (models[0].cross_validate (folds)));
  try {
    yield models[1].cross_validate_async (summed);
    assert_not_reached ();
  } catch (Apr.AprError.STATE e) {
    assert_message (e, "TestMean");
  }
  try {
    new Apr.Folds (x, y, null, 9);
    assert_not_reached ();
  } catch (Apr.AprError.RANGE e) {
    assert_message (e, "8 samples into 9 folds");
  }
  try {
    var negative = new Apr.Tensor.from_doubles ({ 1, 2, 4, -5, 9, 11, 15, 30 }, { 8 });
    models[1].cross_validate (new Apr.Folds (x, negative, null, 2));
    assert_not_reached ();
  } catch (Apr.AprError.RANGE e) {
    assert_message (e, "Fold 1 (counted from 0): The target -5 is negative");
  }
}

delegate void Body () throws GLib.Error;

void add_test (string name, owned Body body) {
  Test.add_data_func ("/vala/" + name, () => {
    try {
      body ();
    } catch (GLib.Error e) {
      error ("%s", e.message);
    }
  });
}

int main (string[] args) {
  Test.init (ref args);

  add_test ("tensor", test_tensor);
  add_test ("reader-and-writer", test_reader_and_writer);
  add_test ("fit-and-predict", test_fit_and_predict);
  add_test ("properties", test_properties);
  add_test ("fit-async", test_fit_async);
  add_test ("async-twins", test_async_twins);
  add_test ("save-and-load", test_save_and_load);
  add_test ("partial-fit", test_partial_fit);
  add_test ("statistics", test_statistics);
  add_test ("groups", test_groups);
  add_test ("folds", test_folds);
  add_test ("errors", test_errors);
  add_test ("subclass", test_subclass);
  add_test ("results", test_results);

  return Test.run ();
}
