/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"

#include "aprender/least-squares/apr-normal-equations-private.h"

/* The scales of targets, and multiplication, with numbers that are exact. */

enum
{
  N = 3
};

static const AprRun one_thread = { .n_threads = 1 };
static const gboolean none[N] = { FALSE };

static void
set_entry (AprProducts *products, gsize row, gsize column, gint64 value)
{
  mpz_t integer;

  mpz_init_set_si (integer, value);
  apr_products_set_integer (products, row, column, integer);
  mpz_clear (integer);
}

static void
test_scales (void)
{
  const gint64 squares[N] = { 1 << 20, G_GINT64_CONSTANT (1) << 40, 1 };
  const struct
  {
    gint64 entries[N]; /* products with the features, which are scaled by 2^-10, 2^-20 and 1 */
    gint64 scale;
  } targets[] = {
    { { 0, 1 << 30, -1 }, 11 },
    { { 0, 0, -1 }, 1 },
    { { 0, 0, 1 }, 1 },
    /* A product of 0 asks for nothing, */
    { { 0, 8, 0 }, -16 },
    { { 1, 0, 0 }, -9 },
    { { 0, 1, 0 }, -19 },
    /* and a target that has no other is not scaled. */
    { { 0, 0, 0 }, 0 },
  };
  g_auto (AprProducts) products = { 0 };
  g_auto (AprNormalEquations) equations = { 0 };
  gsize i;
  gsize j;

  (void) apr_products_init_zeros (&products, N, G_N_ELEMENTS (targets), 2, &(AprRun){ 0 });
  for (i = 0; i < N; i++)
    set_entry (&products, i, i, squares[i]);
  for (i = 0; i < G_N_ELEMENTS (targets); i++)
    for (j = 0; j < N; j++)
      set_entry (&products, N + i, j, targets[i].entries[j]);

  apr_normal_equations_init (&equations, &products, none, 0x1p-100, &one_thread);
  g_assert_cmpuint (equations.n_independent, ==, N);
  for (i = 0; i < G_N_ELEMENTS (targets); i++)
    {
      apr_normal_equations_scale_column (&equations, N + i);
      g_assert_cmpint (equations.scales[N + i], ==, targets[i].scale);
    }
}

static void
test_multiply (void)
{
  /* [16 4 -8; 4 16 2; -8 2 32], whose diagonal is scaled to 1, 1 and 1/2: their magnitudes have 5 and 6 bits. */
  const gint64 matrix[N][N] = { { 16, 4, -8 }, { 4, 16, 2 }, { -8, 2, 32 } };
  const gint64 scales[N] = { 2, 2, 3 };
  const double x[N] = { 1, -2, 4 };
  /* Of which double knows enough, and long numbers have to be asked. */
  const double tolerances[] = { 0x1p-40, 0x1p-2 };
  g_auto (AprProducts) products = { 0 };
  gsize k;
  gsize i;
  gsize j;

  (void) apr_products_init_zeros (&products, N, 0, 1, &(AprRun){ 0 });
  for (i = 0; i < N; i++)
    for (j = 0; j <= i; j++)
      set_entry (&products, i, j, matrix[i][j]);

  for (k = 0; k < G_N_ELEMENTS (tolerances); k++)
    {
      g_auto (AprNormalEquations) equations = { 0 };
      int round;

      apr_normal_equations_init (&equations, &products, none, tolerances[k], &one_thread);
      g_assert_true ((equations.ldlt == NULL) == (k == 0));
      g_assert_cmpuint (equations.n_independent, ==, N);
      /* Once more, with what the first time has left. */
      for (round = 0; round < 2; round++)
        {
          double product[N];

          memcpy (product, x, sizeof x);
          apr_normal_equations_multiply (&equations, product, &one_thread);
          for (i = 0; i < N; i++)
            {
              double expected = 0;

              g_assert_cmpint (equations.scales[i], ==, scales[i]);
              for (j = 0; j < N; j++)
                expected += ldexp ((double) matrix[i][j], (int) -(scales[i] + scales[j])) * x[j];
              g_assert_cmpfloat_with_epsilon (product[i], expected, 1e-14);
            }
        }
    }
}

typedef struct
{
  double last;
  guint n_ways;
} Ways;

/* Each way to the solution begins anew. */
static void
hear_way (double fraction, gpointer user_data)
{
  Ways *self = user_data;

  self->n_ways += self->n_ways == 0 || fraction <= self->last ? 1 : 0;
  self->last = fraction;
}

/* A correction in double does for columns of scales that are far apart, whichever of them is the small one, and so do
 * the leading bits for long coefficients. */
static void
test_far_scales (void)
{
  const double values[4][N] = { { 1, 0, 0 }, { 0, 1, 0 }, { -2, 3, 1 }, { 1, 1, 1 } };
  gsize small;

  for (small = 0; small < N; small++)
    {
      double x[4 * N];
      double y[] = { 3, 1, 4, 1 };
      const Data data = { 4, N, x, y };
      double coefficients[N];
      double intercept;
      const AprTarget target = { .dtype = APR_DTYPE_F64,
                                 .coefficients = coefficients,
                                 .intercept = &intercept };
      Ways ways = { 0 };
      const AprRun run = { .n_threads = 1, .progress = hear_way, .progress_data = &ways };
      gint64 exponents[N];
      AprLongCoefficients wanted = { N, 60, apr_integers_new (N), exponents };
      const AprTarget long_target = { .dtype = APR_DTYPE_F64, .wanted = &wanted };
      g_autoptr (AprExactSums) sums = NULL;
      g_auto (AprProducts) products = { 0 };
      g_auto (AprNormalEquations) equations = { 0 };
      gsize i;
      gsize j;

      for (i = 0; i < 4; i++)
        for (j = 0; j < N; j++)
          x[i * N + j] = ldexp (values[i][j], j == small ? 0 : 400);
      sums = sum (&data);
      apr_products_init (&products, sums, FALSE, 0, &one_thread);
      apr_normal_equations_init (&equations, &products, none, 0x1p-40, &one_thread);
      g_assert_true (apr_normal_equations_solve (&equations, &target, &run));
      g_assert_cmpuint (ways.n_ways, ==, 0);
      g_assert_true (apr_normal_equations_solve (&equations, &long_target, &run));
      g_assert_cmpuint (ways.n_ways, ==, 1);
      /* Those of the same columns without scales, by hand: X'X = [6 -5 -1; -5 11 4; -1 4 2], X'y = [-4; 14; 5]. */
      for (j = 0; j < N; j++)
        {
          const double solution[N] = { 1.0 / 1, 7.0 / 3, -5.0 / 3 };
          double scaled = ldexp (solution[j], j == small ? 0 : -400);

          assert_same_double (coefficients[j], scaled);
          assert_same_double (apr_round_dyadic (wanted.significands[j], exponents[j], APR_DTYPE_F64), scaled);
        }
      apr_integers_free (wanted.significands, N);
    }
}

/* Doubles would prove a solution that had no residual. */
static void
test_cancelled (void)
{
  double x[] = { 1, 0, 0, 0, 1, 0, -2, 3, 1, 1, 1, 1 };
  double y[] = { 3, 1, 4, 1 };
  const Data data = { 4, N, x, y };
  double coefficients[N];
  double intercept;
  const AprTarget target = { .dtype = APR_DTYPE_F32, .coefficients = coefficients, .intercept = &intercept };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  const AprRun run = { .n_threads = 1, .cancellable = cancellable };
  g_autoptr (AprExactSums) sums = sum (&data);
  g_auto (AprProducts) products = { 0 };
  g_auto (AprNormalEquations) equations = { 0 };

  apr_products_init (&products, sums, FALSE, 0, &one_thread);
  apr_normal_equations_init (&equations, &products, none, 0x1p-40, &one_thread);
  g_assert_true (apr_normal_equations_solve (&equations, &target, &run));
  g_cancellable_cancel (cancellable);
  g_assert_false (apr_normal_equations_solve (&equations, &target, &run));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/normal-equations/scales", test_scales);
  g_test_add_func ("/normal-equations/multiply", test_multiply);
  g_test_add_func ("/normal-equations/far-scales", test_far_scales);
  g_test_add_func ("/normal-equations/cancelled", test_cancelled);

  return g_test_run ();
}
