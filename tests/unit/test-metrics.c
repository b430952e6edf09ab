/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "apr-test.h"

#include <math.h>

static double
r2 (gsize n, const double *y_true, const double *y_pred, const double *weights)
{
  g_autoptr (AprTensor) a = vector_new (n, y_true);
  g_autoptr (AprTensor) b = vector_new (n, y_pred);
  g_autoptr (AprTensor) w = weights != NULL ? vector_new (n, weights) : NULL;
  g_autoptr (GError) error = NULL;
  double score = apr_r2_score (a, b, w, &error);

  g_assert_no_error (error);

  return score;
}

static void
test_r2 (void)
{
  /* scikit-learn 1.9.1: 0.9594665272 for these five. */
  const double y_true[] = { 3, -0.5, 2, 7, 4.2 };
  const double y_pred[] = { 2.5, 0, 2.1, 7.8, 3.9 };

  g_assert_cmpfloat_with_epsilon (r2 (5, y_true, y_pred, NULL), 1 - 1.24 / 30.592, 1e-15);
}

static void
test_r2_by_hand (void)
{
  const double y_true[] = { 1, 2, 3 };
  const double mean[] = { 2, 2, 2 };
  const double worse[] = { 3, 2, 1 };
  const double weights[] = { 1, 0, 1 };
  const double off[] = { 1, 100, 2 };

  assert_same_double (r2 (3, y_true, y_true, NULL), 1);
  assert_same_double (r2 (3, y_true, mean, NULL), 0);
  assert_same_double (r2 (3, y_true, worse, NULL), -3);
  assert_same_double (r2 (3, y_true, off, weights), 0.5);
}

static void
test_r2_of_a_constant (void)
{
  const double y_true[] = { 5, 5, 5 };
  const double y_pred[] = { 5, 5, 6 };

  assert_same_double (r2 (3, y_true, y_true, NULL), 1);
  assert_same_double (r2 (3, y_true, y_pred, NULL), 0);
  assert_same_double (r2 (1, y_true, y_true, NULL), 1);
}

static void
test_r2_of_extremes (void)
{
  const double y_true[] = { 1e300, 2e300, 3e300 };
  const double off[] = { 1e300, 2e300, 2e300 };
  const double shifted[] = { 1e9 + 1, 1e9 + 2, 1e9 + 3 };
  const double shifted_off[] = { 1e9 + 1, 1e9 + 2, 1e9 + 2 };

  g_test_summary ("Neither the squares of great numbers nor a distance from zero may spoil it.");
  g_assert_cmpfloat_with_epsilon (r2 (3, y_true, off, NULL), 0.5, 1e-12);
  assert_same_double (r2 (3, shifted, shifted_off, NULL), 0.5);
}

static void
test_r2_of_several_targets (void)
{
  const double y_true[] = { 1, 10, 2, 20, 3, 30 };
  const double y_pred[] = { 1, 20, 2, 20, 3, 20 };
  g_autoptr (AprTensor) a = matrix_new (3, 2, y_true);
  g_autoptr (AprTensor) b = matrix_new (3, 2, y_pred);

  assert_same_double (apr_r2_score (a, b, NULL, NULL), 0.5);
}

static void
test_r2_errors (void)
{
  const double values[] = { 1, 2, NAN };
  const double negative[] = { 1, -1, 1 };
  const double zeros[] = { 0, 0, 0 };
  const gsize shape[] = { 1 };
  g_autoptr (AprTensor) two = vector_new (2, values);
  g_autoptr (AprTensor) three = vector_new (3, negative);
  g_autoptr (AprTensor) nan = vector_new (3, values);
  g_autoptr (AprTensor) none = vector_new (0, NULL);
  g_autoptr (AprTensor) zero = vector_new (3, zeros);
  g_autoptr (GBytes) bytes = g_bytes_new ("12345678", 8);
  g_autoptr (AprTensor) opaque = apr_tensor_new_from_bytes (APR_DTYPE_C64, shape, 1, bytes, NULL);
  const struct
  {
    AprTensor *y_true;
    AprTensor *y_pred;
    AprTensor *weights;
    gint code;
    const char *text;
  } cases[] = {
    { two, three, NULL, APR_ERROR_SHAPE, "[2]" },
    { three, two, NULL, APR_ERROR_SHAPE, "[3]" },
    { none, none, NULL, APR_ERROR_EMPTY, "[0]" },
    { nan, three, NULL, APR_ERROR_NOT_FINITE, "y_true has a NaN at element 2" },
    { three, nan, NULL, APR_ERROR_NOT_FINITE, "y_pred has a NaN at element 2" },
    { three, three, nan, APR_ERROR_NOT_FINITE, "sample_weight has a NaN at element 2" },
    { three, three, two, APR_ERROR_SHAPE, "there are 3 samples" },
    { three, three, three, APR_ERROR_WEIGHTS, "-1 at row 1" },
    { three, three, zero, APR_ERROR_WEIGHTS, "no value above 0" },
    { opaque, opaque, NULL, APR_ERROR_DTYPE, "C64" },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      apr_r2_score (cases[i].y_true, cases[i].y_pred, cases[i].weights, &error);
      g_assert_error (error, APR_ERROR, cases[i].code);
      assert_message_has (error, cases[i].text);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/metrics/r2", test_r2);
  g_test_add_func ("/metrics/r2/by-hand", test_r2_by_hand);
  g_test_add_func ("/metrics/r2/constant", test_r2_of_a_constant);
  g_test_add_func ("/metrics/r2/extremes", test_r2_of_extremes);
  g_test_add_func ("/metrics/r2/several-targets", test_r2_of_several_targets);
  g_test_add_func ("/metrics/r2/errors", test_r2_errors);

  return g_test_run ();
}
