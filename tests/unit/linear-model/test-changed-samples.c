/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>
#include <string.h>

#include "aprender/exact-sums/apr-rows-private.h"

/* Samples in memory that somebody else writes to while a model is fitted to them. */

#define N_GROUPS 20
#define N_SAMPLES (3 * N_GROUPS)

/* Tensors are little-endian. */
static guint64
get_bits (double value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof bits);
  return GUINT64_TO_LE (bits);
}

/* Spoils the last weight when the first group has been fitted. */
static void
on_progress (AprEstimator *model, GParamSpec *pspec, guint64 *weights)
{
  if (apr_estimator_get_progress (model) > 0)
    weights[N_SAMPLES - 1] = get_bits (NAN);
}

static void
test_groups (void)
{
  const gsize n = N_SAMPLES;
  double values[N_SAMPLES];
  guint64 weights[N_SAMPLES];
  gint64 labels[N_SAMPLES];
  g_autoptr (AprLinearRegression) model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "precision", APR_PRECISION_DOUBLE, "n-threads", 1, NULL);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) sample_weight = NULL;
  g_autoptr (AprTensor) groups = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;

  g_test_summary ("Groups whose weights are changed once they have been checked fail with an error.");

  for (i = 0; i < n; i++)
    {
      values[i] = (double) (i * i % 7);
      weights[i] = get_bits (1);
      labels[i] = GINT64_TO_LE ((gint64) i / 3);
    }
  x = matrix_new (n, 1, values);
  y = vector_new (n, values);
  sample_weight =
    apr_tensor_new_from_memory (APR_DTYPE_F64, &n, 1, weights, sizeof weights, NULL, NULL, NULL);
  groups = apr_tensor_new_from_memory (APR_DTYPE_I64, &n, 1, labels, sizeof labels, NULL, NULL, NULL);
  g_signal_connect (model, "notify::progress", G_CALLBACK (on_progress), weights);

  g_assert_null (apr_linear_regression_fit_groups (model, x, y, groups, sample_weight, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
  assert_message_has (error, "sample_weight has a NaN at row 59");
  g_assert_false (apr_estimator_get_busy (APR_ESTIMATOR (model)));
}

static void
test_back_as_they_were (void)
{
  g_autoptr (AprTensor) vector = vector_new (2, (double[]){ 1, 2 });
  AprRows rows;
  gsize i;

  g_test_summary (
    "What could not be summed for a while is an error where nothing is wrong with it any more.");

  apr_rows_init (&rows, "y", vector);
  for (i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;

      apr_rows_set_error (&rows, &rows, i > 0 ? &rows : NULL, &error);
      g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
      assert_message_has (error, "changed by somebody else");
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/changed-samples/groups", test_groups);
  g_test_add_func ("/changed-samples/back-as-they-were", test_back_as_they_were);

  return g_test_run ();
}
