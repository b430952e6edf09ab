/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"

/* Small problems at the edge of a proof, with answers worked out by hand. */

typedef struct
{
  const char *name;
  gsize n_rows;
  gsize n_features;
  gboolean fit_intercept;
  AprDType dtype;
  double x[9];
  double y[3];
  double coefficients[3];
  double intercept;
} Case;

static const Case cases[] = {
  /* 2 b + 2^-2012 b = 6 + 3 2^-51: b is just below the middle of 3 + 2^-51 and 3 + 2^-50. */
  { "below-halfway",
    3,
    1,
    FALSE,
    APR_DTYPE_F64,
    { 1, 1, 0x1p-1006 },
    { 3 + 0x1p-51, 3 + 0x1p-50, 0 },
    { 3 + 0x1p-51 } },
  { "below-negative-halfway",
    3,
    1,
    FALSE,
    APR_DTYPE_F64,
    { 1, 1, 0x1p-1006 },
    { -3 - 0x1p-51, -3 - 0x1p-50, 0 },
    { -3 - 0x1p-51 } },
  /* The second row takes 2^-1060 / (1 + 2^-2040) away from nothing. */
  { "zero", 3, 2, FALSE, APR_DTYPE_F64, { 1, 0, 0, 0x1p-1020, 0, 0 }, { 1, 0, 1 }, { 1, 0 } },
  { "smaller-coefficient", 2, 2, FALSE, APR_DTYPE_F64, { 1, 0, 0, 1 }, { 1.1, 1e91 }, { 1.1, 1e91 } },
  { "far-smaller-coefficient", 2, 2, FALSE, APR_DTYPE_F64, { 1, 0, 0, 1 }, { 1.1, 1e300 }, { 1.1, 1e300 } },
  /* The last correction is of the coefficients alone. */
  { "twice", 3, 3, TRUE, APR_DTYPE_F64, { 0, 0, 0, 0, 1, 1, 1, 1, 1 }, { -7, 8, -4 }, { -12, 7.5, 7.5 }, -7 },
  { "twice-without-intercept",
    3,
    3,
    FALSE,
    APR_DTYPE_F64,
    { 0, 0, 0, 0, 1, 1, 1, 1, 1 },
    { -7, 8, -4 },
    { -12, 4, 4 },
    0 },
  { "smaller-of-three",
    3,
    3,
    FALSE,
    APR_DTYPE_F64,
    { 1, 0, 0, 0, 1, 1, 0, 0, 0 },
    { 1.1, 1e91, 0 },
    { 1.1, 1e91 / 2, 1e91 / 2 } },
};

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (AprTensor) x = matrix_new (c->n_rows, c->n_features, c->x);
  g_autoptr (AprTensor) y = vector_new (c->n_rows, c->y);
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (c->n_features, 1, NULL);
  const AprLeastSquaresOptions options = { .fit_intercept = c->fit_intercept,
                                           .data_dtype = APR_DTYPE_F64,
                                           .dtype = c->dtype };
  g_auto (AprLeastSquares) answer = { NULL };
  g_autoptr (GError) error = NULL;
  gsize i;

  g_assert_true (
    apr_exact_sums_update (sums, x, y, NULL, APR_PRECISION_EXACT, &(AprRun){ .n_threads = 1 }, &error));
  g_assert_true (apr_least_squares_solve (&answer, sums, &options, &(AprRun){ 0 }, &error));
  g_assert_no_error (error);
  g_assert_true (answer.correctly_rounded);
  for (i = 0; i < c->n_features; i++)
    assert_same_double (answer.coefficients[i], c->coefficients[i]);
  assert_same_double (answer.intercepts[0], c->intercept);
}

/* n S2 - S1^2 is 2^-102 / (1 + 2^-102) of n S2, and so less than the limit of (4 2^-53)^2 by the last digit. */
static void
test_almost_constant (void)
{
  const double units[] = { 1, 0x1p51, 0x1p200 };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (units); i++)
    {
      double x[] = { (1 - 0x1p-51) * units[i], (1 + 0x1p-51) * units[i] };
      double y[] = { 1, 2 };
      Data data = { 2, 1, x, y };
      g_auto (AprLeastSquares) answer = { NULL };

      solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = TRUE });
      g_assert_cmpuint (answer.rank, ==, 0);
      g_assert_cmpuint (answer.n_dependent, ==, 1);
      assert_same_double (answer.coefficients[0], 0);
      assert_same_double (answer.intercepts[0], 1.5);
      g_assert_true (answer.correctly_rounded);
    }
}

/* Features so near to each other that the factors need longer numbers; the leading bits of the products are not enough
 * for the two small coefficients. The answer is by elimination in rational numbers. */
static void
test_nearly_dependent (void)
{
  double x[] = { 0x1.e3fed40245879p+31,  0x0p+0,
                 0x1.2925ca5bfe1f8p-34,  -0x1.3f6be5cd27c3bp-96,
                 -0x1.db98c4c19891ep-97, 0x1.f0451f78f02f1p+46,
                 0x1.3e60d8c52d553p+70,  -0x1.2b6053074b3d4p-89,
                 -0x1.0805a5b2d9007p+65, 0x0p+0,
                 -0x1.30bc36e7ee3dbp+86, -0x1.15b707e36ffb5p+51 };
  double y[] = { -0x1.3a630451cb13bp-1, -0x1.32b3a588d5d04p+29, 0x1.487df33547e81p+93,
                 -0x1.47fbdf0cce7dap-40 };
  double weights[] = { 0x1p+0, 0x1.8p+1, 0x1.8p+1, 0x1.8p+1 };
  Data data = { 4, 3, x, y, weights };
  g_auto (AprLeastSquares) answer = { NULL };

  solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = FALSE });
  g_assert_true (answer.correctly_rounded);
  assert_same_double (answer.coefficients[0], 0x1.0821d5396cf74p+23);
  assert_same_double (answer.coefficients[1], 0x1.0f2c8cd044172p-49);
  assert_same_double (answer.coefficients[2], -0x1.298ed0b661372p-14);
}

/* Of all sums, that of the target alone has bits below 2^64: it is 2^63, and its squares are 2^64. */
static void
test_sum_below_the_squares (void)
{
  double x[] = { 4, 0, 0, 0 };
  double y[] = { 1, 1, 1, -1 };
  double weights[] = { 0x1p62, 0x1p62, 0x1p62, 0x1p62 };
  Data data = { 4, 1, x, y, weights };
  g_auto (AprLeastSquares) answer = { NULL };

  solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = TRUE });
  g_assert_true (answer.correctly_rounded);
  assert_same_double (answer.coefficients[0], 1.0 / 6);
  assert_same_double (answer.intercepts[0], 1.0 / 3);
}

int
main (int argc, char *argv[])
{
  gsize i;

  g_test_init (&argc, &argv, NULL);

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/edge-cases/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/edge-cases/almost-constant", test_almost_constant);

  g_test_add_func ("/edge-cases/nearly-dependent", test_nearly_dependent);
  g_test_add_func ("/edge-cases/sum-below-the-squares", test_sum_below_the_squares);

  return g_test_run ();
}
