/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/nist.h"

#include <glib/gstdio.h>
#include <math.h>

/* NIST's Filip: ten powers of x, whose sums in double-double depend on how the rows were cut. */
#define FILIP_ROWS 82
#define FILIP_FEATURES 10

static AprCrossProducts *
state_of (AprTensor *x, AprTensor *y, gsize start, gsize stop)
{
  g_autoptr (AprTensor) some_x = apr_tensor_slice_rows (x, start, stop, NULL);
  g_autoptr (AprTensor) some_y = apr_tensor_slice_rows (y, start, stop, NULL);
  AprCrossProducts *state = apr_cross_products_new (apr_tensor_get_shape (x, NULL)[1], 1, NULL);
  GError *error = NULL;

  g_assert_true (apr_cross_products_update (state, some_x, some_y, NULL, NULL, &error));
  g_assert_no_error (error);

  return state;
}

static void
merge (AprCrossProducts *state, AprCrossProducts *other)
{
  GError *error = NULL;

  g_assert_true (apr_cross_products_merge (state, other, &error));
  g_assert_no_error (error);
}

static void
assert_equal (AprCrossProducts *state, AprCrossProducts *other)
{
  g_autoptr (GBytes) bytes = apr_cross_products_to_bytes (state, NULL);
  g_autoptr (GBytes) other_bytes = apr_cross_products_to_bytes (other, NULL);

  g_assert_true (apr_cross_products_equal (state, other));
  g_assert_true (g_bytes_equal (bytes, other_bytes));
}

static void
test_chunks (void)
{
  const gsize chunks[] = { 1, 2, 7, 13, 40, 1000 };
  AprTensor *x;
  AprTensor *y;
  g_autoptr (AprCrossProducts) whole = NULL;
  gsize i;

  g_test_summary ("Rows in any pieces, merged in order or in a tree, are the rows at once, byte for byte.");
  nist_load_named ("filip", &x, &y);
  whole = state_of (x, y, 0, FILIP_ROWS);
  g_assert_cmpuint (apr_cross_products_get_n_samples (whole), ==, FILIP_ROWS);

  for (i = 0; i < G_N_ELEMENTS (chunks); i++)
    {
      g_autoptr (AprCrossProducts) state = apr_cross_products_new (FILIP_FEATURES, 1, NULL);
      g_autoptr (AprCrossProducts) backwards = apr_cross_products_new (FILIP_FEATURES, 1, NULL);
      g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func (g_object_unref);
      gsize start;

      for (start = 0; start < FILIP_ROWS; start += chunks[i])
        {
          gsize stop = MIN (start + chunks[i], FILIP_ROWS);
          g_autoptr (AprTensor) some_x = apr_tensor_slice_rows (x, start, stop, NULL);
          g_autoptr (AprTensor) some_y = apr_tensor_slice_rows (y, start, stop, NULL);

          g_assert_true (apr_cross_products_update (state, some_x, some_y, NULL, NULL, NULL));
          g_ptr_array_add (parts, state_of (x, y, start, stop));
        }
      for (start = parts->len; start-- > 0;)
        merge (backwards, g_ptr_array_index (parts, start));
      while (parts->len > 1)
        {
          merge (g_ptr_array_index (parts, 0), g_ptr_array_index (parts, parts->len - 1));
          g_ptr_array_remove_index (parts, parts->len - 1);
        }

      assert_equal (state, whole);
      assert_equal (backwards, whole);
      assert_equal (g_ptr_array_index (parts, 0), whole);
    }
  apr_tensor_unref (x);
  apr_tensor_unref (y);
}

static void
test_subtract (void)
{
  AprTensor *x;
  AprTensor *y;
  g_autoptr (AprCrossProducts) whole = NULL;
  g_autoptr (AprCrossProducts) first = NULL;
  g_autoptr (AprCrossProducts) rest = NULL;
  g_autoptr (AprCrossProducts) empty = apr_cross_products_new (FILIP_FEATURES, 1, NULL);
  g_autoptr (GError) error = NULL;

  nist_load_named ("filip", &x, &y);
  whole = state_of (x, y, 0, FILIP_ROWS);
  first = state_of (x, y, 0, 30);
  rest = state_of (x, y, 30, FILIP_ROWS);

  g_assert_true (apr_cross_products_subtract (whole, first, &error));
  g_assert_no_error (error);
  assert_equal (whole, rest);
  g_assert_false (apr_cross_products_subtract (first, whole, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  assert_message_has (error, "52 samples from 30");

  /* Nothing is left but the memory that the data were doubles. */
  g_assert_true (apr_cross_products_subtract (whole, rest, NULL));
  g_assert_cmpuint (apr_cross_products_get_n_samples (whole), ==, 0);
  merge (whole, rest);
  assert_equal (whole, rest);
  merge (empty, rest);
  assert_equal (empty, rest);
  apr_tensor_unref (x);
  apr_tensor_unref (y);
}

static void
test_order_and_weights (void)
{
  const double x_values[] = { 1e300, 1, 2e-300, 3, -1e300, 5 };
  const double shuffled_x[] = { -1e300, 5, 1e300, 1, 2e-300, 3 };
  const double doubled_x[] = { 1e300, 1, 2e-300, 3, 2e-300, 3, 7, 7 };
  const double y_values[] = { 1, 2, 3 };
  const double shuffled_y[] = { 3, 1, 2 };
  const double doubled_y[] = { 1, 2, 2, 9 };
  const double weights[] = { 1, 2, 0 };
  const double other_weights[] = { 1, 1, 1, 0 };
  g_autoptr (AprTensor) x = matrix_new (3, 2, x_values);
  g_autoptr (AprTensor) y = vector_new (3, y_values);
  g_autoptr (AprTensor) other_x = matrix_new (3, 2, shuffled_x);
  g_autoptr (AprTensor) other_y = vector_new (3, shuffled_y);
  g_autoptr (AprTensor) long_x = matrix_new (4, 2, doubled_x);
  g_autoptr (AprTensor) long_y = vector_new (4, doubled_y);
  g_autoptr (AprTensor) w = vector_new (3, weights);
  g_autoptr (AprTensor) long_w = vector_new (4, other_weights);
  g_autoptr (AprCrossProducts) state = state_of (x, y, 0, 3);
  g_autoptr (AprCrossProducts) shuffled = state_of (other_x, other_y, 0, 3);
  g_autoptr (AprCrossProducts) weighted = apr_cross_products_new (2, 1, NULL);
  g_autoptr (AprCrossProducts) repeated = apr_cross_products_new (2, 1, NULL);

  assert_equal (state, shuffled);

  g_test_summary ("Weight 2 is the row twice, in the sums; but the number of samples tells them apart.");
  g_assert_true (apr_cross_products_update (weighted, x, y, w, NULL, NULL));
  g_assert_true (apr_cross_products_update (repeated, long_x, long_y, long_w, NULL, NULL));
  g_assert_cmpuint (apr_cross_products_get_n_samples (weighted), ==, 2);
  g_assert_cmpuint (apr_cross_products_get_n_samples (repeated), ==, 3);
  g_assert_false (apr_cross_products_equal (weighted, repeated));
}

static void
test_fit (void)
{
  AprTensor *x;
  AprTensor *y;
  g_autoptr (AprCrossProducts) state = NULL;
  g_autoptr (AprCrossProducts) rest = NULL;
  g_autoptr (AprCrossProducts) loaded = NULL;
  g_autoptr (AprCrossProducts) empty = apr_cross_products_new (3, 1, NULL);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AprLinearRegression) at_once = apr_linear_regression_new ();
  g_autoptr (AprLinearRegression) from_state = apr_linear_regression_new ();
  g_autoptr (GError) error = NULL;

  nist_load_named ("filip", &x, &y);
  state = state_of (x, y, 0, 11);
  rest = state_of (x, y, 11, FILIP_ROWS);
  merge (state, rest);
  bytes = apr_cross_products_to_bytes (state, &error);
  g_assert_no_error (error);
  loaded = apr_cross_products_from_bytes (bytes, &error);
  g_assert_no_error (error);
  assert_equal (loaded, state);

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (at_once), x, y, NULL, NULL, &error));
  g_assert_true (apr_linear_regression_fit_cross_products (from_state, loaded, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (apr_tensor_equal (coefficients_of (at_once), coefficients_of (from_state)));
  g_assert_true (apr_tensor_equal (intercept_of (at_once), intercept_of (from_state)));
  g_assert_cmpuint (apr_estimator_get_n_features (APR_ESTIMATOR (from_state)), ==, FILIP_FEATURES);

  g_assert_false (apr_linear_regression_fit_cross_products (from_state, empty, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_EMPTY);
  g_assert_cmpuint (apr_estimator_get_n_features (APR_ESTIMATOR (from_state)), ==, FILIP_FEATURES);
  apr_tensor_unref (x);
  apr_tensor_unref (y);
}

/* Samples of @x and @y without those of @other_x and @other_y, which are not among them. */
static void
assert_not_fitted (gboolean fit_intercept,
                   AprTensor *x,
                   AprTensor *y,
                   AprTensor *other_x,
                   AprTensor *other_y,
                   const char *text)
{
  g_autoptr (AprCrossProducts) state = state_of (x, y, 0, apr_tensor_get_shape (x, NULL)[0]);
  g_autoptr (AprCrossProducts) other =
    state_of (other_x, other_y, 0, apr_tensor_get_shape (other_x, NULL)[0]);
  g_autoptr (AprLinearRegression) model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "fit-intercept", fit_intercept, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_cross_products_subtract (state, other, NULL));
  g_assert_false (apr_linear_regression_fit_cross_products (model, state, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
  assert_message_has (error, text);
  g_assert_false (apr_estimator_get_fitted (APR_ESTIMATOR (model)));
}

static void
test_fit_of_what_was_not_in (void)
{
  g_autoptr (AprTensor) x = matrix_new (4, 2, (double[]){ 3, 0, -3, 0, 0, 3, 0, -3 });
  g_autoptr (AprTensor) y = vector_new (4, (double[]){ 1, 2, 3, 4 });
  g_autoptr (AprTensor) long_x = matrix_new (2, 2, (double[]){ 1, -7, 1, 7 });
  g_autoptr (AprTensor) other_x = matrix_new (2, 2, (double[]){ 2.5, 2.5, -2.5, -2.5 });
  g_autoptr (AprTensor) short_y = vector_new (2, (double[]){ 2, 2 });
  g_autoptr (AprTensor) filip_row = NULL;
  g_autoptr (AprTensor) filip_target = NULL;
  double powers[FILIP_FEATURES];
  AprTensor *filip_x;
  AprTensor *filip_y;
  gsize i;

  g_test_summary ("Sums from which samples are subtracted that were not in them have no answer.");
  assert_not_fitted (FALSE, x, y, long_x, short_y,
                     "the sum of squares of feature 1 (counted from 0) is negative");
  assert_not_fitted (TRUE, x, y, long_x, short_y,
                     "the sum of squares of feature 1 (counted from 0) is negative");

  /* The squares are 18 - 12.5, but the product is -12.5. */
  assert_not_fitted (FALSE, x, y, other_x, short_y,
                     "the product of feature 1 and feature 0 (counted from 0) is larger");
  assert_not_fitted (TRUE, x, y, other_x, short_y,
                     "the product of feature 1 and feature 0 (counted from 0) is larger");

  /* Of a condition that doubles cannot factorise: powers of -4, of which the odd ones have the wrong sign. */
  nist_load_named ("filip", &filip_x, &filip_y);
  for (i = 0; i < FILIP_FEATURES; i++)
    powers[i] = pow (4, (double) i + 1);
  filip_row = matrix_new (1, FILIP_FEATURES, powers);
  filip_target = vector_new (1, (double[]){ 0.8 });
  assert_not_fitted (TRUE, filip_x, filip_y, filip_row, filip_target,
                     "The sums are not those of any samples: without the features before it");
  apr_tensor_unref (filip_x);
  apr_tensor_unref (filip_y);
}

static void
test_fit_follows_the_dtype (void)
{
  const float values[] = { 1, 2, 4 };
  g_autoptr (AprTensor) x = float_matrix_new (3, 1, values);
  g_autoptr (AprTensor) y = float_vector_new (3, values);
  g_autoptr (AprTensor) wide_x = apr_tensor_cast (x, APR_DTYPE_F64, NULL);
  g_autoptr (AprCrossProducts) state = state_of (x, y, 0, 3);
  g_autoptr (AprCrossProducts) wide = state_of (wide_x, y, 0, 3);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();

  g_assert_true (apr_linear_regression_fit_cross_products (model, state, NULL, NULL));
  g_assert_cmpint (apr_tensor_get_dtype (coefficients_of (model)), ==, APR_DTYPE_F32);
  merge (state, wide);
  g_assert_true (apr_linear_regression_fit_cross_products (model, state, NULL, NULL));
  g_assert_cmpint (apr_tensor_get_dtype (coefficients_of (model)), ==, APR_DTYPE_F64);
  apr_linear_regression_set_dtype (model, APR_DTYPE_I8);
  g_assert_false (apr_linear_regression_fit_cross_products (model, state, NULL, NULL));
}

static void
test_fit_is_cancelled (void)
{
  g_autoptr (AprTensor) x = matrix_new (4, 1, (const double[]){ 1, 2, 4, 8 });
  g_autoptr (AprCrossProducts) state = state_of (x, x, 0, 4);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_false (apr_linear_regression_fit_cross_products (model, state, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_false (apr_estimator_get_fitted (APR_ESTIMATOR (model)));
}

static void
test_no_samples (void)
{
  const gsize shapes[3][2] = { { 0, 1 }, { 0, 2 }, { 0, 0 } };
  g_autoptr (AprTensor) x = matrix_new (2, 1, (double[]){ 1, 2 });
  g_autoptr (AprTensor) y = vector_new (2, (double[]){ 3, 5 });
  g_autoptr (AprTensor) float_x = apr_tensor_cast (x, APR_DTYPE_F32, NULL);
  g_autoptr (AprTensor) none = apr_tensor_new_from_doubles (NULL, 0, shapes[0], 2, NULL);
  g_autoptr (AprTensor) wide = apr_tensor_new_from_doubles (NULL, 0, shapes[1], 2, NULL);
  g_autoptr (AprTensor) nothing = apr_tensor_new_from_doubles (NULL, 0, shapes[2], 2, NULL);
  g_autoptr (AprTensor) no_y = apr_tensor_new_from_doubles (NULL, 0, shapes[0], 1, NULL);
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (1, 1, NULL);
  g_autoptr (AprCrossProducts) empty = apr_cross_products_copy (state);
  g_autoptr (AprCrossProducts) before = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("A part without rows changes nothing: not the dtype, either.");
  g_assert_true (apr_cross_products_update (state, none, no_y, no_y, NULL, &error));
  g_assert_no_error (error);
  assert_equal (state, empty);

  g_assert_true (apr_cross_products_update (state, float_x, y, NULL, NULL, &error));
  before = apr_cross_products_copy (state);
  g_assert_true (apr_cross_products_update (state, none, no_y, NULL, NULL, &error));
  assert_equal (state, before);

  g_assert_false (apr_cross_products_update (state, wide, no_y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  g_clear_error (&error);
  g_assert_false (apr_cross_products_update (state, nothing, no_y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  g_clear_error (&error);
  g_assert_false (apr_cross_products_update (state, x, no_y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  assert_equal (state, before);
}

static void
test_failed_update_changes_nothing (void)
{
  const double good[] = { 1, 2, 3, 5 };
  const double bad[] = { 1, 2, 3, NAN };
  const double cube[] = { 1, 2, 3, 4, 5, 6 };
  g_autoptr (AprTensor) x = matrix_new (4, 1, good);
  g_autoptr (AprTensor) bad_x = matrix_new (4, 1, bad);
  g_autoptr (AprTensor) wide_x = matrix_new (2, 3, cube);
  g_autoptr (AprTensor) y = vector_new (4, good);
  g_autoptr (AprTensor) two = vector_new (2, good);
  g_autoptr (AprCrossProducts) state = state_of (x, y, 0, 4);
  g_autoptr (AprCrossProducts) before = apr_cross_products_copy (state);
  g_autoptr (AprCrossProducts) other = apr_cross_products_new (3, 1, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_false (apr_cross_products_update (state, bad_x, y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
  assert_message_has (error, "X has a NaN at row 3, column 0");
  g_clear_error (&error);
  g_assert_false (apr_cross_products_update (state, wide_x, two, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  assert_message_has (error, "3 features and 1 targets, but the cross products are of 1 and 1");
  g_clear_error (&error);
  g_assert_false (apr_cross_products_merge (state, other, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  g_clear_error (&error);
  g_assert_false (apr_cross_products_subtract (state, other, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  g_clear_error (&error);
  assert_equal (state, before);

  g_assert_null (apr_cross_products_new (0, 1, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_EMPTY);
  g_clear_error (&error);
  g_assert_null (apr_cross_products_new (G_MAXSIZE, 1, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
}

static AprCrossProducts *
weighted_state_of (AprTensor *x, AprTensor *y, AprTensor *w, gsize start, gsize stop)
{
  g_autoptr (AprTensor) some_x = apr_tensor_slice_rows (x, start, stop, NULL);
  g_autoptr (AprTensor) some_y = apr_tensor_slice_rows (y, start, stop, NULL);
  g_autoptr (AprTensor) some_w = apr_tensor_slice_rows (w, start, stop, NULL);
  AprCrossProducts *state = apr_cross_products_new (apr_tensor_get_shape (x, NULL)[1], 1, NULL);
  GError *error = NULL;

  g_assert_true (apr_cross_products_update (state, some_x, some_y, some_w, NULL, &error));
  g_assert_no_error (error);

  return state;
}

static char *
get_metadata (AprCrossProducts *state, const char *key)
{
  g_autoptr (GBytes) bytes = apr_cross_products_to_bytes (state, NULL);
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_bytes (bytes, NULL);

  return g_strdup (g_hash_table_lookup (apr_safetensors_reader_get_metadata (reader), key));
}

static void
test_weights (void)
{
  const char *key = "aprender.weight_logs";
  AprTensor *x;
  AprTensor *y;
  double weights[FILIP_ROWS];
  double ones[FILIP_ROWS];
  g_autoptr (AprTensor) w = NULL;
  g_autoptr (AprTensor) w_ones = NULL;
  g_autoptr (AprCrossProducts) whole = NULL;
  g_autoptr (AprCrossProducts) plain = NULL;
  g_autoptr (AprCrossProducts) with_ones = NULL;
  g_autoptr (AprCrossProducts) halved = NULL;
  g_autofree char *none = NULL;
  g_autofree char *none_again = NULL;
  g_autofree char *some = NULL;
  gsize cut;
  gsize i;

  g_test_summary (
    "The sum of the weights' logarithms is the same however samples are cut, and is kept in the file.");
  nist_load_named ("filip", &x, &y);
  for (i = 0; i < FILIP_ROWS; i++)
    {
      weights[i] = i % 7 == 0 ? 0 : 0.1 * (double) i;
      ones[i] = 1;
    }
  w = vector_new (FILIP_ROWS, weights);
  w_ones = vector_new (FILIP_ROWS, ones);
  whole = weighted_state_of (x, y, w, 0, FILIP_ROWS);
  some = get_metadata (whole, key);
  g_assert_nonnull (some);
  for (cut = 1; cut < FILIP_ROWS; cut += 16)
    {
      g_autoptr (AprCrossProducts) first = weighted_state_of (x, y, w, 0, cut);
      g_autoptr (AprCrossProducts) rest = weighted_state_of (x, y, w, cut, FILIP_ROWS);
      g_autoptr (AprCrossProducts) copy = apr_cross_products_copy (rest);
      g_autoptr (GBytes) bytes = apr_cross_products_to_bytes (first, NULL);
      g_autoptr (AprCrossProducts) loaded = apr_cross_products_from_bytes (bytes, NULL);

      assert_equal (loaded, first);
      merge (rest, loaded);
      assert_equal (rest, whole);
      g_assert_true (apr_cross_products_subtract (rest, first, NULL));
      assert_equal (rest, copy);
    }

  /* The logarithm of 1 is 0: no weights, and weights of 1, make the same file. */
  plain = state_of (x, y, 0, FILIP_ROWS);
  with_ones = weighted_state_of (x, y, w_ones, 0, FILIP_ROWS);
  assert_equal (plain, with_ones);
  none = get_metadata (plain, key);
  g_assert_null (none);

  /* So is that of 2 and 1/2 together, but the sums differ. */
  weights[0] = 2;
  weights[1] = 0.5;
  for (i = 2; i < FILIP_ROWS; i++)
    weights[i] = 1;
  apr_tensor_unref (g_steal_pointer (&w));
  w = vector_new (FILIP_ROWS, weights);
  halved = weighted_state_of (x, y, w, 0, FILIP_ROWS);
  none_again = get_metadata (halved, key);
  g_assert_null (none_again);
  g_assert_false (apr_cross_products_equal (halved, plain));
  apr_tensor_unref (x);
  apr_tensor_unref (y);
}

#define assert_fails_with(call, expected)      \
 G_STMT_START                                  \
 {                                             \
  g_assert_false (call);                       \
  g_assert_error (error, APR_ERROR, expected); \
  g_clear_error (&error);                      \
 }                                             \
 G_STMT_END

/* As scripts make objects. */
static void
test_properties (void)
{
  const char *const names[] = { "a", NULL };
  const struct
  {
    guint64 n_features;
    guint64 n_targets;
    gint code;
  } cases[] = {
    { 0, 1, APR_ERROR_EMPTY },           { 3, 0, APR_ERROR_EMPTY },
    { G_MAXUINT64, 1, APR_ERROR_RANGE }, { G_MAXUINT64, G_MAXUINT64, APR_ERROR_RANGE },
    { G_MAXUINT32, 1, APR_ERROR_RANGE },
  };
  g_autoptr (AprTensor) x = matrix_new (1, 1, (double[]){ 1 });
  g_autoptr (AprTensor) y = vector_new (1, (double[]){ 1 });
  g_autoptr (AprCrossProducts) good = g_object_new (APR_TYPE_CROSS_PRODUCTS, "n-features", (guint64) 1,
                                                    "precision", APR_PRECISION_DOUBLE, NULL);
  g_autoptr (AprCrossProducts) same =
    apr_cross_products_new_with_precision (1, 1, APR_PRECISION_DOUBLE, NULL);
  g_autoptr (AprCrossProducts) plain = g_object_new (APR_TYPE_CROSS_PRODUCTS, NULL);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AprCrossProducts) loaded = NULL;
  g_autoptr (GError) error = NULL;
  guint64 n_features;
  guint64 n_targets;
  AprPrecision precision;
  gsize i;

  g_object_get (good, "n-features", &n_features, "n-targets", &n_targets, "precision", &precision, NULL);
  g_assert_cmpuint (n_features, ==, 1);
  g_assert_cmpuint (n_targets, ==, 1);
  g_assert_cmpint (precision, ==, APR_PRECISION_DOUBLE);
  g_assert_true (apr_cross_products_update (good, x, y, NULL, NULL, &error));
  g_assert_true (apr_cross_products_update (same, x, y, NULL, NULL, &error));
  g_assert_true (apr_cross_products_equal (good, same));
  bytes = apr_cross_products_to_bytes (good, &error);
  loaded = apr_cross_products_from_bytes (bytes, &error);
  g_assert_no_error (error);
  g_assert_true (apr_cross_products_equal (good, loaded));

  g_test_message ("What cannot be fails when it is used, and changes nothing.");
  g_assert_cmpuint (apr_cross_products_get_n_features (plain), ==, 0);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AprCrossProducts) state = g_object_new (
        APR_TYPE_CROSS_PRODUCTS, "n-features", cases[i].n_features, "n-targets", cases[i].n_targets, NULL);
      g_autoptr (AprCrossProducts) copy = apr_cross_products_copy (state);
      g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();

      assert_fails_with (apr_cross_products_update (state, x, y, NULL, NULL, &error), cases[i].code);
      assert_fails_with (apr_cross_products_merge (state, copy, &error), cases[i].code);
      assert_fails_with (apr_cross_products_merge (good, state, &error), cases[i].code);
      assert_fails_with (apr_cross_products_subtract (copy, state, &error), cases[i].code);
      assert_fails_with (apr_cross_products_to_bytes (copy, &error) != NULL, cases[i].code);
      assert_fails_with (apr_cross_products_save (state, "/nowhere", &error), cases[i].code);
      assert_fails_with (apr_cross_products_set_feature_names (state, NULL, &error), cases[i].code);
      assert_fails_with (apr_cross_products_set_feature_names (state, names, &error), cases[i].code);
      assert_fails_with (apr_cross_products_set_target_names (state, names, &error), cases[i].code);
      assert_fails_with (apr_linear_regression_fit_cross_products (model, state, NULL, &error),
                         cases[i].code);
      assert_fails_with (apr_linear_regression_score_cross_products (model, state, &error) != NULL,
                         cases[i].code);
      g_assert_true (apr_cross_products_equal (state, copy));
      g_assert_false (apr_cross_products_get_busy (state));
    }
  g_assert_true (apr_cross_products_equal (good, loaded));
}

/* Copies share what they can, and it must not show. */
static void
test_copies (void)
{
  g_autoptr (AprTensor) x = matrix_new (3, 1, (double[]){ 1, 2, 4 });
  g_autoptr (AprTensor) y = vector_new (3, (double[]){ 1, -1, 3 });
  g_autoptr (AprCrossProducts) state = state_of (x, y, 0, 2);
  g_autoptr (AprCrossProducts) last = state_of (x, y, 2, 3);
  g_autoptr (AprCrossProducts) whole = state_of (x, y, 0, 3);
  g_autoptr (AprCrossProducts) before = state_of (x, y, 0, 2);
  g_autoptr (AprCrossProducts) copy = apr_cross_products_copy (state);
  g_autoptr (AprCrossProducts) other = apr_cross_products_copy (copy);

  g_assert_true (apr_cross_products_merge (copy, last, NULL));
  g_assert_true (apr_cross_products_equal (copy, whole));
  g_assert_true (apr_cross_products_equal (state, before));
  g_assert_true (apr_cross_products_equal (other, before));

  g_assert_true (apr_cross_products_merge (state, last, NULL));
  g_assert_true (apr_cross_products_equal (state, whole));
  g_assert_true (apr_cross_products_equal (other, before));
  g_assert_true (apr_cross_products_subtract (state, last, NULL));
  g_assert_true (apr_cross_products_equal (state, before));

  /* Also where a state is merged with what it shares. */
  g_clear_object (&copy);
  copy = apr_cross_products_copy (other);
  g_assert_true (apr_cross_products_merge (copy, other, NULL));
  g_assert_true (apr_cross_products_merge (state, state, NULL));
  g_assert_true (apr_cross_products_equal (state, copy));
  g_assert_true (apr_cross_products_equal (other, before));
}

static void
test_files (void)
{
  AprTensor *x;
  AprTensor *y;
  g_autofree char *folder = g_dir_make_tmp ("aprender-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "state.safetensors", NULL);
  g_autoptr (AprCrossProducts) state = NULL;
  g_autoptr (AprCrossProducts) loaded = NULL;
  g_autoptr (GError) error = NULL;

  nist_load_named ("filip", &x, &y);
  state = state_of (x, y, 0, FILIP_ROWS);
  g_assert_true (apr_cross_products_save (state, path, &error));
  loaded = apr_cross_products_load (path, &error);
  g_assert_no_error (error);
  assert_equal (loaded, state);
  g_unlink (path);

  g_assert_null (apr_cross_products_load (path, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_rmdir (folder);
  apr_tensor_unref (x);
  apr_tensor_unref (y);
}

static void
test_merges_of_sent_states (void)
{
  g_autoptr (AprCrossProducts) total = apr_cross_products_new (FILIP_FEATURES, 1, NULL);
  g_autoptr (AprCrossProducts) state = NULL;
  g_autoptr (GBytes) bytes = NULL;
  AprTensor *x;
  AprTensor *y;
  gsize n_bytes = 0;
  gsize i;

  g_test_summary (
    "However many states are received and merged, the sum takes no more memory than its numbers need.");
  nist_load_named ("filip", &x, &y);
  state = state_of (x, y, 0, FILIP_ROWS);
  bytes = apr_cross_products_to_bytes (state, NULL);
  for (i = 0; i < 100; i++)
    {
      g_assert_true (apr_cross_products_merge_bytes (total, bytes, NULL));
      if (i == 1)
        n_bytes = apr_cross_products_get_n_bytes (total);
    }
  g_assert_cmpuint (apr_cross_products_get_n_samples (total), ==, 100 * FILIP_ROWS);
  /* A limb for each entry, which the sum of 100 may need. */
  g_assert_cmpuint (apr_cross_products_get_n_bytes (total), <=,
                    n_bytes + (FILIP_FEATURES + 2) * (FILIP_FEATURES + 3) / 2 * sizeof (gint64));
  apr_tensor_unref (x);
  apr_tensor_unref (y);
}

static void
test_many_updates (void)
{
  enum
  {
    N_ROWS = 64,
    N_FEATURES = 10,
  };
  const gsize shape[] = { N_ROWS, N_FEATURES };
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (N_FEATURES, 1, NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  gsize n_bytes = 0;
  gsize i;
  gsize j;

  g_test_summary ("However many small blocks of numbers of all sizes are added, a state does not grow.");
  for (i = 0; i < 300; i++)
    {
      double values[N_ROWS * N_FEATURES];
      g_autoptr (AprTensor) x = NULL;
      g_autoptr (AprTensor) y = NULL;

      for (j = 0; j < N_ROWS * N_FEATURES; j++)
        values[j] = ldexp (g_rand_double (rand) - 0.5, g_rand_int_range (rand, -20, 20));
      x = apr_tensor_new_from_doubles (values, N_ROWS * N_FEATURES, shape, 2, NULL);
      y = apr_tensor_new_from_doubles (values, N_ROWS, shape, 1, NULL);
      g_assert_true (apr_cross_products_update (state, x, y, NULL, NULL, NULL));
      if (i == 20)
        n_bytes = apr_cross_products_get_n_bytes (state);
    }
  g_assert_cmpuint (apr_cross_products_get_n_bytes (state), <=, 2 * n_bytes);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/cross-products/chunks", test_chunks);
  g_test_add_func ("/cross-products/subtract", test_subtract);
  g_test_add_func ("/cross-products/order-and-weights", test_order_and_weights);
  g_test_add_func ("/cross-products/weights", test_weights);
  g_test_add_func ("/cross-products/fit", test_fit);
  g_test_add_func ("/cross-products/fit/follows-the-dtype", test_fit_follows_the_dtype);
  g_test_add_func ("/cross-products/fit-is-cancelled", test_fit_is_cancelled);
  g_test_add_func ("/cross-products/fit/what-was-not-in", test_fit_of_what_was_not_in);
  g_test_add_func ("/cross-products/failed-update-changes-nothing", test_failed_update_changes_nothing);
  g_test_add_func ("/cross-products/no-samples", test_no_samples);
  g_test_add_func ("/cross-products/properties", test_properties);
  g_test_add_func ("/cross-products/copies", test_copies);
  g_test_add_func ("/cross-products/files", test_files);
  g_test_add_func ("/cross-products/merges-of-sent-states", test_merges_of_sent_states);
  g_test_add_func ("/cross-products/many-updates", test_many_updates);

  return g_test_run ();
}
