/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

/* Files of states: what can be saved can be loaded, and what others wrote is refused or survived. */

static GBytes *
file_with (gsize n_entries, gsize n_words, AprDType dtype, const char *key, const char *value)
{
  const char *const keys[] = { "aprender.model",      "aprender.format",     "aprender.dtype",
                               "aprender.first_word", "aprender.n_features", "aprender.n_targets",
                               "aprender.n_samples" };
  const char *const values[] = { "AprCrossProducts", "1", "F64", "-4", "1", "1", "3" };
  const gsize shape[] = { n_entries, n_words };
  gsize size = n_entries * n_words * apr_dtype_get_bits (dtype) / 8;
  g_autoptr (GBytes) data = g_bytes_new_take (g_malloc0 (MAX (size, 1)), size);
  g_autoptr (AprTensor) tensor = apr_tensor_new_from_bytes (dtype, shape, 2, data, NULL);
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  gsize i;

  g_assert_true (apr_safetensors_writer_add_tensor (writer, "sums", tensor, NULL));
  for (i = 0; i < G_N_ELEMENTS (keys); i++)
    if (g_strcmp0 (keys[i], key) != 0)
      g_assert_true (apr_safetensors_writer_set_metadata (writer, keys[i], values[i], NULL));
  if (value != NULL)
    g_assert_true (apr_safetensors_writer_set_metadata (writer, key, value, NULL));

  return apr_safetensors_writer_write_to_bytes (writer, NULL);
}

static void
test_load_errors (void)
{
  const struct
  {
    gsize n_entries;
    gsize n_words;
    AprDType dtype;
    const char *key;
    const char *value;
    gint code;
    const char *text;
  } cases[] = {
    { 6, 2, APR_DTYPE_U32, "aprender.model", "AprLinearRegression", APR_ERROR_MODEL, "AprLinearRegression" },
    { 6, 2, APR_DTYPE_U32, "aprender.model", NULL, APR_ERROR_MODEL, "missing" },
    { 6, 2, APR_DTYPE_U32, "aprender.format", "4", APR_ERROR_MODEL, "“4”" },
    { 6, 2, APR_DTYPE_U32, "aprender.dtype", "F16", APR_ERROR_MODEL, "F16" },
    { 6, 2, APR_DTYPE_U32, "aprender.first_word", "129", APR_ERROR_MODEL, "129" },
    { 6, 2, APR_DTYPE_U32, "aprender.n_features", "0", APR_ERROR_MODEL, "“0”" },
    { 6, 2, APR_DTYPE_U32, "aprender.n_features", "2", APR_ERROR_SHAPE, "U32 [10, " },
    { 6, 2, APR_DTYPE_U32, "aprender.n_features", "2147483647", APR_ERROR_RANGE, "2147483647" },
    { 6, 2, APR_DTYPE_U32, "aprender.n_samples", "-1", APR_ERROR_MODEL, "-1" },
    { 6, 2, APR_DTYPE_U32, "aprender.weight_logs", "0", APR_ERROR_MODEL, "weight_logs" },
    { 6, 2, APR_DTYPE_U32, "aprender.weight_logs", "+1", APR_ERROR_MODEL, "“+1”" },
    { 6, 2, APR_DTYPE_U32, "aprender.weight_logs", "85070591730234615865843651857942052864", APR_ERROR_MODEL,
      "2^126" },
    { 6, 133, APR_DTYPE_U32, "", NULL, APR_ERROR_SHAPE, "[6, 133]" },
    { 6, 2, APR_DTYPE_I32, "", NULL, APR_ERROR_SHAPE, "I32" },
  };
  g_autoptr (GBytes) good = file_with (6, 2, APR_DTYPE_U32, "", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprCrossProducts) state = apr_cross_products_from_bytes (good, &error);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  gsize i;

  g_assert_no_error (error);
  g_assert_cmpuint (apr_cross_products_get_n_samples (state), ==, 3);

  /* What the file says and what it holds need not agree: then there is nothing to fit. */
  g_assert_false (apr_linear_regression_fit_cross_products (model, state, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_WEIGHTS);

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes =
        file_with (cases[i].n_entries, cases[i].n_words, cases[i].dtype, cases[i].key, cases[i].value);
      g_autoptr (GError) case_error = NULL;

      g_assert_null (apr_cross_products_from_bytes (bytes, &case_error));
      g_assert_error (case_error, APR_ERROR, cases[i].code);
      assert_message_has (case_error, cases[i].text);
    }
}

static GBytes *
file_of (const char *n_features, gsize n_entries, gsize n_words, gconstpointer words, const char *n_samples)
{
  const gsize shape[] = { n_entries, n_words };
  g_autoptr (GBytes) data = g_bytes_new (words, n_entries * n_words * sizeof (guint32));
  g_autoptr (AprTensor) tensor = apr_tensor_new_from_bytes (APR_DTYPE_U32, shape, 2, data, NULL);
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  const char *const pairs[] = { "aprender.model",      "AprCrossProducts", /**/
                                "aprender.format",     "1",
                                "aprender.dtype",      "F64",
                                "aprender.first_word", "0",
                                "aprender.n_features", n_features,
                                "aprender.n_targets",  "1",
                                "aprender.n_samples",  n_samples };
  gsize i;

  g_assert_true (apr_safetensors_writer_add_tensor (writer, "sums", tensor, NULL));
  for (i = 0; i < G_N_ELEMENTS (pairs); i += 2)
    g_assert_true (apr_safetensors_writer_set_metadata (writer, pairs[i], pairs[i + 1], NULL));

  return apr_safetensors_writer_write_to_bytes (writer, NULL);
}

static void
test_large_claim (void)
{
  const gsize n = 2000000;
  g_autoptr (GBytes) bytes = file_of ("2000000", (n + 2) * (n + 3) / 2, 0, NULL, "7");
  g_autoptr (GBytes) again = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (AprCrossProducts) state = apr_cross_products_from_bytes (bytes, &error);
  g_autoptr (AprCrossProducts) copy = NULL;
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();

  g_test_summary (
    "Some hundred bytes that claim to be about two million features: nothing takes time in their square.");
  g_assert_no_error (error);
  copy = apr_cross_products_copy (state);
  g_assert_true (apr_cross_products_equal (copy, state));
  g_assert_true (apr_cross_products_merge (copy, state, &error));
  g_assert_cmpuint (apr_cross_products_get_n_samples (copy), ==, 14);
  g_assert_true (apr_cross_products_subtract (copy, state, &error));
  again = apr_cross_products_to_bytes (copy, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (again), <, 1000);
  g_assert_false (apr_linear_regression_fit_cross_products (model, copy, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_WEIGHTS);
}

static void
test_impossible_sums (void)
{
  enum
  {
    N_FEATURES = 100,
    N_COLUMNS = N_FEATURES + 2,
    N_ENTRIES = N_COLUMNS * (N_COLUMNS + 1) / 2,
    N_WORDS = 40,
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);
  g_autofree guint32 *words = g_new0 (guint32, N_ENTRIES * N_WORDS);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AprCrossProducts) state = NULL;
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (GError) error = NULL;
  gsize row;
  gsize column;
  gsize i;

  g_test_summary (
    "Of rank 1 in their first 31 bits, and indefinite in the other thousand: only long numbers could tell, "
    "were it not for the squares.");
  words[0] = 1;
  for (row = 1; row < N_COLUMNS; row++)
    for (column = 1; column <= row; column++)
      {
        guint32 *entry = words + (row * (row + 1) / 2 + column) * N_WORDS;

        for (i = 0; i + 1 < N_WORDS; i++)
          entry[i] = g_rand_int (rand);
        entry[N_WORDS - 1] = 0x40000000;
      }
  bytes = file_of ("100", N_ENTRIES, N_WORDS, words, "7");
  state = apr_cross_products_from_bytes (bytes, &error);
  g_assert_no_error (error);

  apr_linear_regression_set_alpha (model, 0x1p-300);
  g_assert_false (apr_linear_regression_fit_cross_products (model, state, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
  assert_message_has (error, "is larger than their squares allow");
}

static void
test_too_many_samples (void)
{
  const guint32 words[6] = { 3, 0, 5, 0, 0, 5 };
  g_autoptr (GBytes) bytes = file_of ("1", 6, 1, words, "5000000000000000000");
  g_autoptr (GError) error = NULL;
  g_autoptr (AprCrossProducts) state = apr_cross_products_from_bytes (bytes, &error);
  g_autoptr (AprCrossProducts) copy = NULL;

  g_test_summary ("What is merged can be saved, and what is saved can be loaded.");
  g_assert_no_error (error);
  copy = apr_cross_products_copy (state);
  g_assert_false (apr_cross_products_merge (state, copy, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  assert_message_has (error, "5000000000000000000");
  g_assert_true (apr_cross_products_equal (state, copy));
}

static void
test_nonsense_is_survived (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  int round;

  g_test_summary ("Sums that no data could have: a fit gives an error or an answer, not a crash.");
  for (round = 0; round < 300; round++)
    {
      const gsize shape[] = { 10, 3 };
      guint32 words[30];
      g_autoptr (GBytes) data = NULL;
      g_autoptr (AprTensor) tensor = NULL;
      g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (AprCrossProducts) state = NULL;
      g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
      const char *const keys[] = { "aprender.model",      "AprCrossProducts",
                                   "aprender.format",     "1",
                                   "aprender.dtype",      "F64",
                                   "aprender.first_word", "0",
                                   "aprender.n_features", "2",
                                   "aprender.n_targets",  "1",
                                   "aprender.n_samples",  "5" };
      gsize i;

      for (i = 0; i < 30; i++)
        words[i] =
          g_rand_int_range (rand, 0, 3) == 0 ? g_rand_int (rand) : (guint32) g_rand_int_range (rand, -3, 4);
      words[2] = 0;
      words[0] |= 1;
      data = g_bytes_new (words, sizeof words);
      tensor = apr_tensor_new_from_bytes (APR_DTYPE_U32, shape, 2, data, NULL);
      g_assert_true (apr_safetensors_writer_add_tensor (writer, "sums", tensor, NULL));
      for (i = 0; i < G_N_ELEMENTS (keys); i += 2)
        g_assert_true (apr_safetensors_writer_set_metadata (writer, keys[i], keys[i + 1], NULL));
      bytes = apr_safetensors_writer_write_to_bytes (writer, NULL);
      state = apr_cross_products_from_bytes (bytes, NULL);
      g_assert_nonnull (state);
      if (apr_linear_regression_fit_cross_products (model, state, NULL, NULL))
        g_assert_true (isfinite (element (coefficients_of (model), 0)));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/cross-products-file/load-errors", test_load_errors);
  g_test_add_func ("/cross-products-file/large-claim", test_large_claim);
  g_test_add_func ("/cross-products-file/impossible-sums", test_impossible_sums);
  g_test_add_func ("/cross-products-file/too-many-samples", test_too_many_samples);
  g_test_add_func ("/cross-products-file/nonsense-is-survived", test_nonsense_is_survived);

  return g_test_run ();
}
