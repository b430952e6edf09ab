/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

/* Parts that are merged once. */

static AprCrossProducts *
make_part (double value, const char *identity)
{
  const double x[] = { value, value + 1, value * 3 };
  const double y[] = { 1, value, 2 };
  g_autoptr (AprTensor) x_tensor = matrix_new (3, 1, x);
  g_autoptr (AprTensor) y_tensor = vector_new (3, y);
  g_autoptr (GError) error = NULL;
  AprCrossProducts *state = apr_cross_products_new (1, 1, NULL);

  g_assert_true (apr_cross_products_update (state, x_tensor, y_tensor, NULL, NULL, &error));
  g_assert_true (identity == NULL || apr_cross_products_set_identity (state, identity, &error));
  g_assert_no_error (error);

  return state;
}

static char *
list (AprCrossProducts *state)
{
  const char *const *identities = apr_cross_products_get_identities (state);

  return identities != NULL ? g_strjoinv (" ", (char **) identities) : g_strdup ("none");
}

#define assert_identities(state, expected) \
 G_STMT_START                              \
 {                                         \
  g_autofree char *found = list (state);   \
                                           \
  g_assert_cmpstr (found, ==, expected);   \
 }                                         \
 G_STMT_END

static void
test_merge (void)
{
  g_autoptr (AprCrossProducts) total = apr_cross_products_new (1, 1, NULL);
  g_autoptr (AprCrossProducts) b = make_part (2, "b");
  g_autoptr (AprCrossProducts) a = make_part (5, "a");
  g_autoptr (AprCrossProducts) unnamed = make_part (7, NULL);
  g_autoptr (AprCrossProducts) before = NULL;
  g_autoptr (AprCrossProducts) loaded = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) a_bytes = apr_cross_products_to_bytes (a, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_cross_products_merge (total, b, &error));
  g_assert_true (apr_cross_products_merge_bytes (total, a_bytes, &error));
  g_assert_true (apr_cross_products_merge (total, unnamed, &error));
  g_assert_no_error (error);
  assert_identities (total, "a b");

  before = apr_cross_products_copy (total);
  g_assert_false (apr_cross_products_merge (total, b, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  g_assert_cmpstr (error->message, ==, "The samples of “b” have been merged before");
  g_clear_error (&error);
  g_assert_false (apr_cross_products_merge_bytes (total, a_bytes, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  g_clear_error (&error);
  g_assert_true (apr_cross_products_equal (total, before));

  /* They travel with the state, and are a part of it. */
  bytes = apr_cross_products_to_bytes (total, &error);
  loaded = apr_cross_products_from_bytes (bytes, &error);
  g_assert_no_error (error);
  assert_identities (loaded, "a b");
  g_assert_true (apr_cross_products_equal (loaded, total));

  g_assert_true (apr_cross_products_subtract (total, b, &error));
  assert_identities (total, "a");
  g_assert_false (apr_cross_products_equal (loaded, total));
  g_assert_false (apr_cross_products_subtract (total, b, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  g_assert_cmpstr (error->message, ==, "The samples of “b” have not been merged");
  g_clear_error (&error);
  g_assert_true (apr_cross_products_merge (total, b, &error));
  g_assert_true (apr_cross_products_equal (loaded, total));

  g_assert_false (apr_cross_products_set_identity (total, "", &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  g_assert_true (apr_cross_products_set_identity (total, NULL, NULL));
  assert_identities (total, "none");
}

/* A model does not tell how many parts there were. */
static void
test_model (void)
{
  g_autoptr (AprCrossProducts) named = make_part (2, "b");
  g_autoptr (AprCrossProducts) unnamed = make_part (2, NULL);
  g_autoptr (AprLinearRegression) one = g_object_new (APR_TYPE_LINEAR_REGRESSION, "keep-state", TRUE, NULL);
  g_autoptr (AprLinearRegression) other = g_object_new (APR_TYPE_LINEAR_REGRESSION, "keep-state", TRUE, NULL);
  g_autoptr (GBytes) one_bytes = NULL;
  g_autoptr (GBytes) other_bytes = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_linear_regression_fit_cross_products (one, named, NULL, &error));
  g_assert_true (apr_linear_regression_fit_cross_products (other, unnamed, NULL, &error));
  one_bytes = apr_estimator_to_bytes (APR_ESTIMATOR (one), &error);
  other_bytes = apr_estimator_to_bytes (APR_ESTIMATOR (other), &error);
  g_assert_no_error (error);
  g_assert_true (g_bytes_equal (one_bytes, other_bytes));
}

/* What does not fit is refused by the header: the sums of this file are not even sums. */
static void
test_header (void)
{
  const struct
  {
    const char *n_features;
    const char *identities;
    gint code;
    const char *message;
  } cases[] = {
    { "2", NULL, APR_ERROR_SHAPE, "A state of 2 features and 1 targets" },
    { "1", "[\"b\"]", APR_ERROR_RANGE, "The samples of “b” have been merged before" },
    { "1", "[\"a\",\"a\"]", APR_ERROR_MODEL, "“a”" },
    { "1", "[\"c\",\"a\"]", APR_ERROR_MODEL, "“a”" },
    { "1", "[\"\"]", APR_ERROR_MODEL, "“”" },
    { "1", "[\"d\"]", APR_ERROR_SHAPE, "U32 [6, " },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *const metadata[] = { "aprender.model",      "AprCrossProducts",
                                       "aprender.format",     "1",
                                       "aprender.dtype",      "F64",
                                       "aprender.first_word", "0",
                                       "aprender.n_features", cases[i].n_features,
                                       "aprender.n_targets",  "1",
                                       "aprender.n_samples",  "3" };
      const gsize shape[] = { 1, 1 };
      g_autoptr (AprCrossProducts) state = make_part (2, "b");
      g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
      g_autoptr (GBytes) data = g_bytes_new_static ("abcd", 4);
      g_autoptr (AprTensor) tensor = apr_tensor_new_from_bytes (APR_DTYPE_U32, shape, 2, data, NULL);
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GError) error = NULL;
      gsize j;

      g_assert_true (apr_safetensors_writer_add_tensor (writer, "sums", tensor, NULL));
      for (j = 0; j < G_N_ELEMENTS (metadata); j += 2)
        g_assert_true (apr_safetensors_writer_set_metadata (writer, metadata[j], metadata[j + 1], NULL));
      if (cases[i].identities != NULL)
        g_assert_true (
          apr_safetensors_writer_set_metadata (writer, "aprender.identities", cases[i].identities, NULL));
      bytes = apr_safetensors_writer_write_to_bytes (writer, NULL);
      g_assert_false (apr_cross_products_merge_bytes (state, bytes, &error));
      g_assert_error (error, APR_ERROR, cases[i].code);
      if (strstr (error->message, cases[i].message) == NULL)
        g_error ("“%s” is not in “%s”", cases[i].message, error->message);
    }
}

static void
test_n_bytes (void)
{
  g_autoptr (AprCrossProducts) state = make_part (2, NULL);
  g_autoptr (AprCrossProducts) empty = apr_cross_products_new (1000, 1, NULL);

  /* 6 numbers, in words of 64 bits of which each holds 32. */
  g_assert_cmpuint (apr_cross_products_get_n_bytes (state), >, 6 * 8);
  g_assert_cmpuint (apr_cross_products_get_n_bytes (state), <, 6 * 8 * 32);
  g_assert_cmpuint (apr_cross_products_get_n_bytes (empty), <, 1000);
}

static void
test_own_identity (void)
{
  g_autoptr (AprCrossProducts) total = make_part (2, "the first of the parts that were sent");
  g_autoptr (AprCrossProducts) other = make_part (5, "the second of the parts that were sent");

  g_test_summary ("A state takes an identity, or the end of one, that it returned itself.");

  g_assert_true (apr_cross_products_merge (total, other, NULL));
  g_assert_true (apr_cross_products_set_identity (total, apr_cross_products_get_identities (total)[1], NULL));
  assert_identities (total, "the second of the parts that were sent");
  g_assert_true (
    apr_cross_products_set_identity (total, apr_cross_products_get_identities (total)[0] + 4, NULL));
  assert_identities (total, "second of the parts that were sent");
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/cross-products-identity/merge", test_merge);
  g_test_add_func ("/cross-products-identity/model", test_model);
  g_test_add_func ("/cross-products-identity/header", test_header);
  g_test_add_func ("/cross-products-identity/n-bytes", test_n_bytes);
  g_test_add_func ("/cross-products-identity/own-identity", test_own_identity);

  return g_test_run ();
}
