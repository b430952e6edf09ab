/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/draw.h"

#include <math.h>

#include "aprender/cross-products/apr-cross-products-private.h"

/* How a state says its samples were summed, the number of threads, and the names of the features. */

static GBytes *
to_bytes (AprCrossProducts *state)
{
  g_autoptr (GError) error = NULL;
  GBytes *bytes = apr_cross_products_to_bytes (state, &error);

  g_assert_no_error (error);
  return bytes;
}

static void
assert_equal (AprCrossProducts *one, AprCrossProducts *other)
{
  g_autoptr (GBytes) bytes = to_bytes (one);
  g_autoptr (GBytes) other_bytes = to_bytes (other);

  g_assert_true (apr_cross_products_equal (one, other));
  g_assert_true (g_bytes_equal (bytes, other_bytes));
}

static void
test_double_is_the_same_everywhere (void)
{
  const guint threads[] = { 1, 2, 7 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (31);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  const AprSumsKernel *const *kernel;
  gsize i;
  gsize round;

  g_test_summary ("Sums in double do not depend on threads and processors, and differ from the exact ones.");
  for (round = 0; round < 4; round++)
    {
      gboolean weighted = round % 2 == 1;
      g_autoptr (AprExactSums) expected = NULL;
      g_autoptr (AprTensor) weights = NULL;
      g_autofree guint32 *expected_words = NULL;
      gsize n_expected = 0;
      gint expected_first = 0;

      g_clear_pointer (&x, apr_tensor_unref);
      g_clear_pointer (&y, apr_tensor_unref);
      x = draw_matrix (rand, DRAW_WIDE_RANGE, 1700 + round, 9 + round);
      y = draw_matrix (rand, DRAW_WIDE_RANGE, 1700 + round, 1);
      if (round >= 2)
        {
          /* So far from 0 that the sums are taken about a shift. */
          g_autofree double *values = g_new (double, 1700 + round);

          for (i = 0; i < 1700 + round; i++)
            values[i] = 1e7 + g_rand_double (rand);
          apr_tensor_unref (y);
          y = matrix_new (1700 + round, 1, values);
        }
      if (weighted)
        {
          g_autofree double *values = g_new (double, 1700 + round);

          for (i = 0; i < 1700 + round; i++)
            values[i] = i % 9 == 0 ? 0 : g_rand_double (rand);
          weights = vector_new (1700 + round, values);
        }

      for (kernel = apr_sums_kernels (); *kernel != NULL; kernel++)
        for (i = 0; i < G_N_ELEMENTS (threads); i++)
          {
            g_autoptr (AprExactSums) sums = apr_exact_sums_new (9 + round, 1, NULL);
            g_autofree guint32 *words = NULL;
            gsize n_words;
            gint first_word;

            g_assert_true (apr_exact_sums_update_with (sums, x, y, weights, APR_PRECISION_DOUBLE, *kernel,
                                                       &(AprRun){ .n_threads = threads[i] }, NULL));
            words = apr_exact_sums_to_words (sums, &n_words, &first_word, NULL, NULL);
            if (expected_words == NULL)
              {
                expected_words = g_steal_pointer (&words);
                n_expected = n_words;
                expected_first = first_word;
                continue;
              }
            g_assert_cmpuint (n_words, ==, n_expected);
            g_assert_cmpint (first_word, ==, expected_first);
            g_assert_cmpmem (words, n_words * apr_exact_sums_get_n_entries (sums) * sizeof (guint32),
                             expected_words,
                             n_words * apr_exact_sums_get_n_entries (sums) * sizeof (guint32));
          }

      expected = apr_exact_sums_new (9 + round, 1, NULL);
      g_assert_true (apr_exact_sums_update (expected, x, y, weights, APR_PRECISION_EXACT,
                                            &(AprRun){ .n_threads = 1 }, NULL));
      {
        gsize n_words;
        gint first_word;
        g_autofree guint32 *words = apr_exact_sums_to_words (expected, &n_words, &first_word, NULL, NULL);

        g_assert_true (n_words != n_expected || first_word != expected_first ||
                       memcmp (words, expected_words,
                               n_words * apr_exact_sums_get_n_entries (expected) * sizeof (guint32)) != 0);
      }
    }
}

/* What rounding may do to the sum of n products in double, as a part of the sum of their magnitudes. */
static void
test_double_is_near (void)
{
  enum
  {
    N = 1000,
    P = 5
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (32);
  const double scales[P] = { 1, 1e150, 1e-150, 1e300, 1e-300 };
  g_autofree double *values = g_new (double, N *P);
  g_autofree double *ones = g_new (double, N);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (P, 1, NULL);
  g_autoptr (AprExactSums) exact = apr_exact_sums_new (P, 1, NULL);
  mpf_t entry;
  mpf_t expected;
  mpf_t unit;
  mpf_t exact_unit;
  mpz_t whole;
  gsize i;
  gsize j;

  for (i = 0; i < N; i++)
    {
      ones[i] = 1;
      for (j = 0; j < P; j++)
        values[i * P + j] =
          g_rand_double_range (rand, 0.5, 1) * scales[j] * (j == 4 && i % 50 == 0 ? 1e-8 : 1);
    }
  x = matrix_new (N, P, values);
  y = vector_new (N, ones);
  g_assert_true (
    apr_exact_sums_update (sums, x, y, NULL, APR_PRECISION_DOUBLE, &(AprRun){ .n_threads = 2 }, NULL));
  g_assert_true (
    apr_exact_sums_update (exact, x, y, NULL, APR_PRECISION_EXACT, &(AprRun){ .n_threads = 2 }, NULL));

  mpf_set_default_prec (6000);
  mpf_inits (entry, expected, unit, exact_unit, NULL);
  mpz_init (whole);
  apr_exact_sums_get_entry (sums, 0, 0, whole);
  mpf_set_z (unit, whole);
  apr_exact_sums_get_entry (exact, 0, 0, whole);
  mpf_set_z (exact_unit, whole);
  for (i = 0; i < P + 2; i++)
    for (j = 0; j <= i; j++)
      {
        apr_exact_sums_get_entry (sums, i, j, whole);
        mpf_set_z (entry, whole);
        mpf_div (entry, entry, unit);
        apr_exact_sums_get_entry (exact, i, j, whole);
        mpf_set_z (expected, whole);
        mpf_div (expected, expected, exact_unit);
        mpf_div (entry, entry, expected);
        mpf_sub_ui (entry, entry, 1);
        g_assert_cmpfloat (fabs (mpf_get_d (entry)), <, 40 * 0x1p-53);
      }
  mpf_clears (entry, expected, unit, exact_unit, NULL);
  mpz_clear (whole);
}

/* One sample, whose weight and target are 1: beside the sum of the weights, that of x is 3 2^-1030 times as large, and
 * that of its squares 9 2^-2060 times. */
static void
test_double_subnormal (void)
{
  const double value = 0x3p-1030;
  const double one = 1;
  g_autoptr (AprTensor) x = matrix_new (1, 1, &value);
  g_autoptr (AprTensor) y = vector_new (1, &one);
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (1, 1, NULL);
  gsize power;

  g_test_summary (
    "Weighted sums in double take features that are all smaller than the inverse of any double.");
  g_assert_true (
    apr_exact_sums_update (sums, x, y, y, APR_PRECISION_DOUBLE, &(AprRun){ .n_threads = 1 }, NULL));
  for (power = 0; power <= 2; power++)
    {
      mpz_t entry;
      mpz_t ones;

      mpz_inits (entry, ones, NULL);
      apr_exact_sums_get_entry (sums, power > 0 ? 1 : 0, power > 1 ? 1 : 0, entry);
      apr_exact_sums_get_entry (sums, 0, 0, ones);
      g_assert_cmpint (mpz_sgn (ones), >, 0);
      mpz_mul_ui (ones, ones, power == 0 ? 1 : power == 1 ? 3 : 9);
      mpz_mul_2exp (entry, entry, 1030 * power);
      g_assert_cmpint (mpz_cmp (entry, ones), ==, 0);
      mpz_clears (entry, ones, NULL);
    }
}

static void
count_notify (GObject *object, GParamSpec *pspec, gpointer user_data)
{
  ++*(int *) user_data;
}

static void
test_precision (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (33);
  g_autoptr (AprCrossProducts) exact = apr_cross_products_new (4, 1, NULL);
  g_autoptr (AprCrossProducts) rounded =
    apr_cross_products_new_with_precision (4, 1, APR_PRECISION_DOUBLE, NULL);
  g_autoptr (AprCrossProducts) copy = NULL;
  g_autoptr (AprCrossProducts) loaded = NULL;
  g_autoptr (AprCrossProducts) with = apr_cross_products_new (4, 1, NULL);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  int n_notified = 0;

  x = draw_matrix (rand, DRAW_WIDE_RANGE, 600, 4);
  y = draw_matrix (rand, DRAW_WIDE_RANGE, 600, 1);
  g_assert_true (apr_cross_products_update (exact, x, y, NULL, NULL, NULL));
  g_assert_true (apr_cross_products_update (rounded, x, y, NULL, NULL, NULL));
  g_assert_cmpint (apr_cross_products_get_precision (exact), ==, APR_PRECISION_EXACT);
  g_assert_cmpint (apr_cross_products_get_precision (rounded), ==, APR_PRECISION_DOUBLE);
  g_assert_false (apr_cross_products_equal (exact, rounded));

  g_assert_true (
    apr_cross_products_update_with (with, x, y, NULL, APR_PRECISION_DOUBLE, &(AprRun){ 0 }, NULL));
  assert_equal (with, rounded);

  bytes = to_bytes (rounded);
  loaded = apr_cross_products_from_bytes (bytes, NULL);
  assert_equal (loaded, rounded);
  copy = apr_cross_products_copy (rounded);
  assert_equal (copy, rounded);

  g_signal_connect (exact, "notify::precision", G_CALLBACK (count_notify), &n_notified);
  g_assert_true (apr_cross_products_merge (exact, rounded, NULL));
  g_assert_cmpint (apr_cross_products_get_precision (exact), ==, APR_PRECISION_DOUBLE);
  g_assert_cmpint (n_notified, ==, 1);
  g_assert_true (apr_cross_products_merge (exact, rounded, NULL));
  g_assert_cmpint (n_notified, ==, 1);

  g_clear_object (&copy);
  copy = apr_cross_products_new (4, 1, NULL);
  g_assert_true (apr_cross_products_update (copy, x, y, NULL, NULL, NULL));
  g_assert_true (apr_cross_products_subtract (exact, copy, NULL));
  g_assert_cmpint (apr_cross_products_get_precision (exact), ==, APR_PRECISION_DOUBLE);
}

static void
test_threads (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (34);
  g_autoptr (AprCrossProducts) all = apr_cross_products_new (3, 1, NULL);
  g_autoptr (AprCrossProducts) one = apr_cross_products_new (3, 1, NULL);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  guint n_threads;
  int n_notified = 0;

  x = draw_matrix (rand, DRAW_WIDE_RANGE, 3000, 3);
  y = draw_matrix (rand, DRAW_WIDE_RANGE, 3000, 1);
  g_assert_cmpuint (apr_cross_products_get_n_threads (all), ==, 0);
  g_signal_connect (one, "notify::n-threads", G_CALLBACK (count_notify), &n_notified);
  g_object_set (one, "n-threads", 5, NULL);
  apr_cross_products_set_n_threads (one, 5);
  g_object_get (one, "n-threads", &n_threads, NULL);
  g_assert_cmpuint (n_threads, ==, 5);
  g_assert_cmpint (n_notified, ==, 1);

  g_assert_true (apr_cross_products_update (all, x, y, NULL, NULL, NULL));
  g_assert_true (apr_cross_products_update (one, x, y, NULL, NULL, NULL));
  assert_equal (all, one);

  apr_cross_products_set_n_threads (one, G_MAXUINT);
  g_assert_cmpuint (apr_cross_products_get_n_threads (one), ==, G_MAXUINT);
  g_assert_true (apr_cross_products_update (all, x, y, NULL, NULL, NULL));
  g_assert_true (apr_cross_products_update (one, x, y, NULL, NULL, NULL));
  assert_equal (all, one);
}

static void
test_feature_names (void)
{
  const char *const names[] = { "width", "height", NULL };
  const char *const others[] = { "width", "depth", NULL };
  const char *const too_many[] = { "width", "height", "depth", NULL };
  const char *const twice[] = { "width", "width", NULL };
  const double x_values[] = { 1, 2, 3, 5, 7, 11 };
  const double y_values[] = { 1, 0, 2 };
  g_autoptr (AprTensor) x = matrix_new (3, 2, x_values);
  g_autoptr (AprTensor) y = vector_new (3, y_values);
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (2, 1, NULL);
  g_autoptr (AprCrossProducts) other = apr_cross_products_new (2, 1, NULL);
  g_autoptr (AprCrossProducts) nameless = apr_cross_products_new (2, 1, NULL);
  g_autoptr (AprCrossProducts) narrow = apr_cross_products_new (1, 1, NULL);
  g_autoptr (AprCrossProducts) loaded = NULL;
  g_autoptr (AprCrossProducts) copy = NULL;
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  int n_notified = 0;

  g_assert_null (apr_cross_products_get_feature_names (state));
  g_assert_true (apr_cross_products_check_feature_names (state, others, NULL));
  g_assert_false (apr_cross_products_set_feature_names (state, too_many, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
  assert_message_has (error, "There are 3 feature names, but the cross products are of 2 features");
  g_clear_error (&error);
  g_assert_false (apr_cross_products_set_feature_names (narrow, others, &error));
  assert_message_has (error, "There are 2 feature names, but the cross products are of 1 feature");
  g_assert_true (g_str_has_suffix (error->message, "feature"));
  g_clear_error (&error);
  g_assert_false (apr_cross_products_set_feature_names (state, twice, &error));
  assert_message_has (error, "“width”");
  g_clear_error (&error);
  g_assert_null (apr_cross_products_get_feature_names (state));

  g_assert_true (apr_cross_products_update (state, x, y, NULL, NULL, NULL));
  g_assert_true (apr_cross_products_update (nameless, x, y, NULL, NULL, NULL));
  g_assert_true (apr_cross_products_equal (state, nameless));
  g_assert_true (apr_cross_products_set_feature_names (state, names, NULL));
  g_assert_true (apr_cross_products_set_feature_names (other, others, NULL));
  g_assert_false (apr_cross_products_equal (state, nameless));

  /* The same names again are no news. */
  g_signal_connect (state, "notify::feature-names", G_CALLBACK (count_notify), &n_notified);
  g_assert_true (apr_cross_products_set_feature_names (state, names, NULL));
  g_assert_cmpint (n_notified, ==, 0);
  g_assert_true (apr_cross_products_set_feature_names (state, others, NULL));
  g_assert_true (apr_cross_products_set_feature_names (state, names, NULL));
  g_assert_cmpint (n_notified, ==, 2);

  g_assert_false (apr_cross_products_merge (state, other, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
  assert_message_has (
    error, "Feature 1 (counted from 0) is “depth”, but the cross products were summed with “height”");
  g_clear_error (&error);
  g_assert_false (apr_cross_products_subtract (state, other, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
  g_clear_error (&error);
  g_assert_false (apr_cross_products_check_feature_names (state, too_many, &error));
  assert_message_has (error, "“depth”");
  g_clear_error (&error);

  bytes = to_bytes (state);
  loaded = apr_cross_products_from_bytes (bytes, &error);
  g_assert_no_error (error);
  assert_equal (loaded, state);
  copy = apr_cross_products_copy (state);
  assert_equal (copy, state);

  g_assert_true (apr_linear_regression_fit_cross_products (model, state, NULL, NULL));
  assert_feature_names (model, names);
  g_assert_true (apr_linear_regression_fit_cross_products (model, nameless, NULL, NULL));
  assert_feature_names (model, names);

  /* Names come with what is merged, and stay with what has none. */
  g_assert_true (apr_cross_products_merge (nameless, state, NULL));
  g_assert_cmpstr (apr_cross_products_get_feature_names (nameless)[0], ==, "width");
  g_clear_object (&other);
  other = apr_cross_products_new (2, 1, NULL);
  g_assert_true (apr_cross_products_merge (nameless, other, NULL));
  g_assert_cmpstr (apr_cross_products_get_feature_names (nameless)[0], ==, "width");
}

static void
test_failed_file (void)
{
  const struct
  {
    const char *key;
    const char *value;
    const char *text;
  } cases[] = {
    { "aprender.precision", "float", "“aprender.precision” of cross products cannot be “float”" },
    { "aprender.model", NULL, "“aprender.model” of cross products is missing" },
    { "aprender.feature_names", "[\"a\"", "aprender.feature_names" },
    { "aprender.feature_names", "[\"a\"]", "There is 1 feature name, but the cross products are of 2" },
    { "aprender.feature_names", "[\"a\", \"a\"]", "“a”" },
  };
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (2, 1, NULL);
  g_autoptr (GBytes) bytes = to_bytes (state);
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_bytes (bytes, NULL);
  g_autoptr (AprTensor) sums = apr_safetensors_reader_get_tensor (reader, "sums", NULL);
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
      g_autoptr (GBytes) changed = NULL;
      g_autoptr (GError) error = NULL;
      GHashTableIter iter;
      gpointer key;
      gpointer value;

      g_hash_table_iter_init (&iter, apr_safetensors_reader_get_metadata (reader));
      while (g_hash_table_iter_next (&iter, &key, &value))
        if (g_strcmp0 (key, cases[i].key) != 0)
          g_assert_true (apr_safetensors_writer_set_metadata (writer, key, value, NULL));
      if (cases[i].value != NULL)
        g_assert_true (apr_safetensors_writer_set_metadata (writer, cases[i].key, cases[i].value, NULL));
      g_assert_true (apr_safetensors_writer_add_tensor (writer, "sums", sums, NULL));
      changed = apr_safetensors_writer_write_to_bytes (writer, NULL);
      g_assert_null (apr_cross_products_from_bytes (changed, &error));
      g_assert_nonnull (error);
      assert_message_has (error, cases[i].text);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/cross-products/double/same-everywhere", test_double_is_the_same_everywhere);
  g_test_add_func ("/cross-products/double/near", test_double_is_near);
  g_test_add_func ("/cross-products/double/subnormal", test_double_subnormal);
  g_test_add_func ("/cross-products/precision", test_precision);
  g_test_add_func ("/cross-products/threads", test_threads);
  g_test_add_func ("/cross-products/feature-names", test_feature_names);
  g_test_add_func ("/cross-products/failed-file", test_failed_file);

  return g_test_run ();
}
