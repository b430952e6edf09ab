/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

#include "aprender/cross-products/apr-cross-products-private.h"

/* States of few samples beside the features, which hold the samples themselves: what states promise holds for them. */

#define N_FEATURES 80
#define N_SAMPLES 36

typedef struct
{
  double x[2 * N_SAMPLES * N_FEATURES];
  double y[2 * N_SAMPLES];
  double weights[2 * N_SAMPLES];
} Samples;

static Samples *
draw (AprDType dtype)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (14);
  Samples *self = g_new (Samples, 1);
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (self->x); i++)
    {
      double value = g_rand_double (rand) - 0.5;

      self->x[i] = dtype == APR_DTYPE_F32 ? (double) (float) value : value;
    }
  for (i = 0; i < G_N_ELEMENTS (self->y); i++)
    {
      self->y[i] = g_rand_double (rand);
      self->weights[i] = g_rand_int_range (rand, 0, 4);
    }
  /* Some samples are there twice. */
  memcpy (self->x, self->x + N_FEATURES, N_FEATURES * sizeof (double));
  self->y[0] = self->y[1];
  self->weights[0] = self->weights[1] = 2;

  return self;
}

/* Adds samples from @first on, @step apart. */
static void
add (AprCrossProducts *state,
     const Samples *samples,
     AprDType dtype,
     gboolean weighted,
     gssize first,
     gssize step,
     gsize n)
{
  g_autofree double *x = g_new (double, n *N_FEATURES);
  g_autofree double *y = g_new (double, n);
  g_autofree double *weights = g_new (double, n);
  g_autoptr (AprTensor) doubles = NULL;
  g_autoptr (AprTensor) x_tensor = NULL;
  g_autoptr (AprTensor) y_tensor = NULL;
  g_autoptr (AprTensor) w_tensor = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  for (i = 0; i < n; i++)
    {
      gssize from = first + (gssize) i * step;

      memcpy (x + i * N_FEATURES, samples->x + from * N_FEATURES, N_FEATURES * sizeof (double));
      y[i] = samples->y[from];
      weights[i] = samples->weights[from];
    }
  doubles = matrix_new (n, N_FEATURES, x);
  x_tensor = apr_tensor_cast (doubles, dtype, &error);
  y_tensor = vector_new (n, y);
  w_tensor = vector_new (n, weights);
  g_assert_true (
    apr_cross_products_update (state, x_tensor, y_tensor, weighted ? w_tensor : NULL, NULL, &error));
  g_assert_no_error (error);
}

static void
assert_same (AprCrossProducts *state, AprCrossProducts *other)
{
  g_autoptr (GBytes) bytes = apr_cross_products_to_bytes (state, NULL);
  g_autoptr (GBytes) other_bytes = apr_cross_products_to_bytes (other, NULL);

  g_assert_true (apr_cross_products_equal (state, other));
  g_assert_true (g_bytes_equal (bytes, other_bytes));
}

static void
test_order (gconstpointer data)
{
  AprDType dtype = (AprDType) GPOINTER_TO_INT (data);
  g_autofree Samples *samples = draw (dtype);
  gboolean weighted;

  for (weighted = FALSE; weighted <= TRUE; weighted++)
    {
      g_autoptr (AprCrossProducts) state = apr_cross_products_new (N_FEATURES, 1, NULL);
      g_autoptr (AprCrossProducts) backward = apr_cross_products_new (N_FEATURES, 1, NULL);
      g_autoptr (AprCrossProducts) merged = apr_cross_products_new (N_FEATURES, 1, NULL);
      g_autoptr (AprCrossProducts) part = apr_cross_products_new (N_FEATURES, 1, NULL);

      add (state, samples, dtype, weighted, 0, 1, N_SAMPLES);
      g_assert_nonnull (apr_cross_products_get_rows (state));
      add (backward, samples, dtype, weighted, N_SAMPLES - 1, -1, N_SAMPLES);
      assert_same (state, backward);
      add (merged, samples, dtype, weighted, 20, 1, N_SAMPLES - 20);
      add (part, samples, dtype, weighted, 0, 1, 20);
      g_assert_true (apr_cross_products_merge (merged, part, NULL));
      g_assert_nonnull (apr_cross_products_get_rows (merged));
      assert_same (state, merged);
      g_assert_true (apr_cross_products_subtract (merged, part, NULL));
      g_assert_nonnull (apr_cross_products_get_rows (merged));
      g_assert_false (apr_cross_products_equal (state, merged));
      g_assert_true (apr_cross_products_merge (merged, part, NULL));
      assert_same (state, merged);
    }
}

/* Sums from the first sample on, as of states without rows. */
static AprExactSums *
sum (const Samples *samples, gboolean weighted, gsize n)
{
  AprExactSums *sums = apr_exact_sums_new (N_FEATURES, 1, NULL);
  g_autoptr (AprTensor) x = matrix_new (n, N_FEATURES, samples->x);
  g_autoptr (AprTensor) y = vector_new (n, samples->y);
  g_autoptr (AprTensor) weights = vector_new (n, samples->weights);

  g_assert_true (apr_exact_sums_update (sums, x, y, weighted ? weights : NULL, APR_PRECISION_EXACT,
                                        &(AprRun){ .n_threads = 1 }, NULL));
  return sums;
}

static void
assert_same_sums (AprCrossProducts *state, const AprExactSums *expected)
{
  g_autoptr (AprExactSums) sums = apr_cross_products_ref_sums (state, NULL);
  gsize n_words;
  gsize n_expected;
  gint first_word;
  gint first_expected;
  g_autofree guint32 *words = apr_exact_sums_to_words (sums, &n_words, &first_word, NULL, NULL);
  g_autofree guint32 *expected_words =
    apr_exact_sums_to_words (expected, &n_expected, &first_expected, NULL, NULL);

  g_assert_cmpint (first_word, ==, first_expected);
  g_assert_cmpmem (words, n_words * apr_exact_sums_get_n_entries (sums) * sizeof *words, expected_words,
                   n_expected * apr_exact_sums_get_n_entries (expected) * sizeof *words);
}

/* More samples than are few: as if they had been sums from the start. */
static void
test_growth (void)
{
  g_autofree Samples *samples = draw (APR_DTYPE_F64);
  gboolean weighted;

  for (weighted = FALSE; weighted <= TRUE; weighted++)
    {
      g_autoptr (AprCrossProducts) state = apr_cross_products_new (N_FEATURES, 1, NULL);
      g_autoptr (AprCrossProducts) other = apr_cross_products_new (N_FEATURES, 1, NULL);
      g_autoptr (AprCrossProducts) part = apr_cross_products_new (N_FEATURES, 1, NULL);
      g_autoptr (AprCrossProducts) back = NULL;
      g_autoptr (AprExactSums) few = sum (samples, weighted, N_SAMPLES);
      g_autoptr (AprExactSums) all = sum (samples, weighted, 2 * N_SAMPLES);

      add (state, samples, APR_DTYPE_F64, weighted, 0, 1, N_SAMPLES);
      assert_same_sums (state, few);
      add (state, samples, APR_DTYPE_F64, weighted, N_SAMPLES, 1, N_SAMPLES);
      g_assert_null (apr_cross_products_get_rows (state));
      assert_same_sums (state, all);

      add (other, samples, APR_DTYPE_F64, weighted, 0, 1, N_SAMPLES);
      add (part, samples, APR_DTYPE_F64, weighted, N_SAMPLES, 1, N_SAMPLES);
      g_assert_true (apr_cross_products_merge (other, part, NULL));
      assert_same (state, other);

      /* Sums stay sums, but are equal to rows. */
      back = apr_cross_products_copy (state);
      g_assert_true (apr_cross_products_subtract (back, part, NULL));
      g_assert_null (apr_cross_products_get_rows (back));
      g_clear_object (&other);
      other = apr_cross_products_new (N_FEATURES, 1, NULL);
      add (other, samples, APR_DTYPE_F64, weighted, 0, 1, N_SAMPLES);
      g_assert_nonnull (apr_cross_products_get_rows (other));
      assert_same (back, other);

      /* Sums and rows. */
      g_assert_true (apr_cross_products_merge (back, part, NULL));
      assert_same (state, back);
      g_assert_true (apr_cross_products_merge (part, other, NULL));
      assert_same (state, part);
    }
}

/* Samples whose weight is 0 leave no trace. */
static void
test_no_weight (void)
{
  g_autofree Samples *samples = draw (APR_DTYPE_F64);
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (N_FEATURES, 1, NULL);
  g_autoptr (AprCrossProducts) other = apr_cross_products_new (N_FEATURES, 1, NULL);
  gsize i;

  for (i = 0; i < 5; i++)
    samples->weights[i] = 0;
  add (state, samples, APR_DTYPE_F64, TRUE, 0, 1, 5);
  g_assert_cmpuint (apr_cross_products_get_n_samples (state), ==, 0);
  g_assert_false (apr_cross_products_has_weight (state));
  add (state, samples, APR_DTYPE_F64, TRUE, 5, 1, 10);
  add (other, samples, APR_DTYPE_F64, TRUE, 5, 1, 10);
  g_assert_nonnull (apr_cross_products_get_rows (state));
  assert_same (state, other);
}

/* What no row can hold, and what is refused. */
static void
test_values (void)
{
  const gsize shape[] = { 2, N_FEATURES };
  g_autofree gint64 *integers = g_new (gint64, 2 * N_FEATURES);
  g_autofree double *values = g_new0 (double, 2 * N_FEATURES);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = vector_new (2, (double[]){ 1, 2 });
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (N_FEATURES, 1, NULL);
  g_autoptr (GError) error = NULL;
  gsize i;

  for (i = 0; i < 2 * N_FEATURES; i++)
    integers[i] = (gint64) GUINT64_TO_LE ((guint64) i << 53 | 1);
  bytes = g_bytes_new (integers, 2 * N_FEATURES * sizeof *integers);
  x = apr_tensor_new_from_bytes (APR_DTYPE_I64, shape, 2, bytes, &error);
  g_assert_no_error (error);
  g_assert_true (apr_cross_products_update (state, x, y, NULL, NULL, &error));
  g_assert_null (apr_cross_products_get_rows (state));

  values[N_FEATURES + 7] = (double) INFINITY;
  g_clear_pointer (&x, apr_tensor_unref);
  x = matrix_new (2, N_FEATURES, values);
  g_clear_object (&state);
  state = apr_cross_products_new (N_FEATURES, 1, NULL);
  g_assert_false (apr_cross_products_update (state, x, y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
  assert_message_has (error, "X has an infinity at row 1, column 7");
  g_assert_cmpuint (apr_cross_products_get_n_samples (state), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/sample-rows/order/floats", GINT_TO_POINTER (APR_DTYPE_F32), test_order);
  g_test_add_data_func ("/sample-rows/order/doubles", GINT_TO_POINTER (APR_DTYPE_F64), test_order);
  g_test_add_func ("/sample-rows/growth", test_growth);
  g_test_add_func ("/sample-rows/no-weight", test_no_weight);
  g_test_add_func ("/sample-rows/values", test_values);

  return g_test_run ();
}
