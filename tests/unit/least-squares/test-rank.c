/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"

#include "aprender/least-squares/apr-normal-equations-private.h"

/* Which features are independent, and the least eigenvalue that Cholesky's factorisation proves, against whole
 * numbers. */

#define MAX_N 20

static const AprRun one_thread = { .n_threads = 1 };

/* Whether all eigenvalues of the scaled products are above @bound. */
static gboolean
is_above (const AprNormalEquations *equations, double bound)
{
  gsize n = equations->n_independent;
  g_autofree mpq_t *matrix = g_new (mpq_t, n * (n + 1));
  gboolean above;
  mpq_t limit;
  gsize i;
  gsize j;

  mpq_init (limit);
  mpq_set_d (limit, bound);
  for (i = 0; i < n; i++)
    for (j = 0; j <= n; j++)
      {
        mpq_t *entry = &matrix[i * (n + 1) + j];
        gsize row = equations->independent[i];
        gsize column = equations->independent[MIN (j, n - 1)];

        mpq_init (*entry);
        if (j == n)
          continue;
        apr_products_get_integer (equations->products, row, column, mpq_numref (*entry));
        mpq_div_2exp (*entry, *entry, (mp_bitcnt_t) (equations->scales[row] + equations->scales[column]));
        if (i == j)
          mpq_sub (*entry, *entry, limit);
      }
  above = eliminate (matrix, n);
  for (i = 0; i < n * (n + 1); i++)
    mpq_clear (matrix[i]);
  mpq_clear (limit);

  return above;
}

static void
test_bound (void)
{
  const gsize sizes[] = { 1, 2, 3, 8, 11, 16, MAX_N };
  const gboolean none[MAX_N] = { FALSE };
  g_autoptr (GRand) rand = g_rand_new_with_seed (120);
  int round;

  g_test_summary ("The least eigenvalue is above what is said of it, but at most eight times as large.");

  for (round = 0; round < 35; round++)
    {
      gsize n = sizes[(gsize) round % G_N_ELEMENTS (sizes)];
      g_autofree gint64 *x = g_new (gint64, 2 * n * n);
      gint32 noise = 1 << g_rand_int_range (rand, 1, 20);
      g_auto (AprProducts) products = { 0 };
      g_auto (AprNormalEquations) equations = { 0 };
      gsize i;
      gsize j;

      for (i = 0; i < 2 * n; i++)
        {
          gint64 common = g_rand_int_range (rand, -(1 << 20), 1 << 20);

          for (j = 0; j < n; j++)
            x[i * n + j] = (common + g_rand_int_range (rand, -noise, noise)) * (1 + (gint64) j);
        }
      set_products (&products, x, 2 * n, n, n, NULL);
      apr_normal_equations_init (&equations, &products, none, 0x1p-100, &one_thread);
      g_assert_cmpuint (equations.n_independent, ==, n);
      /* Features that are nearly the same are left to longer numbers. */
      if (equations.ldlt != NULL && noise < 1 << 8)
        continue;
      g_assert_null (equations.ldlt);
      g_assert_true (is_above (&equations, equations.min_eigenvalue));
      g_assert_false (is_above (&equations, 8 * equations.min_eigenvalue));
      g_assert_cmpfloat (exp2 ((double) equations.inverse_bits) * equations.min_eigenvalue, >=, 1);
      g_assert_cmpfloat (exp2 ((double) equations.inverse_bits) * equations.min_eigenvalue, <=, 2);
    }
}

/* Features of which the first two have the least eigenvalue, in the direction that is missing where the estimate of it
 * starts: then it is that of the others, which is 4^@exponent times as large. */
static void
check_missed (gsize n, int exponent, gboolean proven)
{
  const gboolean none[MAX_N] = { FALSE };
  /* Times 3, so that both features get the same scale. */
  gint64 a = 3 * (gint64) ldexp (apr_dense_start (0), 32);
  gint64 b = 3 * (gint64) ldexp (apr_dense_start (1), 32);
  gint64 factor = (gint64) 1 << exponent;
  g_autofree gint64 *x = g_new0 (gint64, n * n);
  g_auto (AprProducts) products = { 0 };
  g_auto (AprNormalEquations) equations = { 0 };
  gsize i;

  x[0] = a * factor;
  x[1] = b * factor;
  x[n] = -b;
  x[n + 1] = a;
  for (i = 2; i < n; i++)
    x[i * n + i] = (gint64) 0x1.69p34;
  set_products (&products, x, n, n, n, NULL);
  apr_normal_equations_init (&equations, &products, none, 0x1p-100, &one_thread);
  g_assert_cmpint (equations.scales[0], ==, equations.scales[1]);
  g_assert_cmpuint (equations.n_independent, ==, n);
  g_assert_true ((equations.ldlt == NULL) == proven);
  if (proven)
    g_assert_true (is_above (&equations, equations.min_eigenvalue));
}

static void
test_missed_direction (void)
{
  int exponent;

  g_test_summary (
    "An estimate that is too large is not believed: a half of it is tried, an eighth, and a 64th. Of few "
    "features, the inverse tells as much of eigenvalues that are not very small.");

  for (exponent = 0; exponent < 12; exponent++)
    {
      check_missed (APR_CHOLESKY_FEW + 1, exponent, exponent < 4);
      check_missed (2, exponent, exponent < 11);
    }
}

static void
test_features (void)
{
  enum
  {
    N_ROWS = 6,
    N = 6
  };
  const gint64 x[N_ROWS * N] = {
    1, 7, 0, 1,  2, 0, /* the second is excluded, the fourth the sum of the first and the third, */
    2, 7, 1, 3,  0, 0, /* and the last one 0 */
    0, 7, 5, 5,  1, 0, /*  */
    3, 7, 2, 5,  1, 0, /*  */
    1, 7, 1, 2,  4, 0, /*  */
    5, 7, 9, 14, 3, 0, /*  */
  };
  const gboolean excluded[N] = { FALSE, TRUE, FALSE, FALSE, FALSE, TRUE };
  const gsize independent[] = { 0, 2, 4 };
  /* Of which double knows enough, and long numbers have to be asked. */
  const double tolerances[] = { 0x1p-40, 0x1p-120 };
  g_auto (AprProducts) products = { 0 };
  gsize i;

  set_products (&products, x, N_ROWS, N, N, NULL);
  for (i = 0; i < G_N_ELEMENTS (tolerances); i++)
    {
      g_auto (AprNormalEquations) equations = { 0 };

      apr_normal_equations_init (&equations, &products, excluded, tolerances[i], &one_thread);
      g_assert_true ((equations.ldlt == NULL) == (i == 0));
      g_assert_cmpuint (equations.n_independent, ==, 3);
      g_assert_cmpmem (equations.independent, 3 * sizeof (gsize), independent, sizeof independent);
      g_assert_cmpuint (equations.n_dependent, ==, 1);
      g_assert_cmpuint (equations.dependent[0], ==, 3);
      g_assert_cmpint (equations.negative, ==, -1);
    }
}

/* As many samples as independent features, of which the second differs from the first by 2^-9 of its values. */
static void
test_nearly_singular (void)
{
  enum
  {
    N = 40,
    P = 120,
    N_ROUNDS = 50
  };
  const AprLeastSquaresOptions options = { .data_dtype = APR_DTYPE_F64 };
  const gboolean none[P] = { FALSE };
  g_autoptr (GRand) rand = g_rand_new_with_seed (121);
  guint n_in_doubles = 0;
  int round;

  g_test_summary (
    "What rounding leaves of features that depend on nearly singular ones makes none independent.");

  for (round = 0; round < N_ROUNDS; round++)
    {
      g_autofree double *x = g_new (double, N *P);
      double y[N] = { 0 };
      const Data data = { N, P, x, y };
      g_autoptr (AprExactSums) sums = NULL;
      g_auto (AprProducts) products = { 0 };
      g_auto (AprNormalEquations) equations = { 0 };
      gsize i;

      for (i = 0; i < N * P; i++)
        x[i] = g_rand_double_range (rand, -1, 1);
      for (i = 0; i < N; i++)
        x[i * P + 1] = x[i * P] + ldexp (x[i * P + 1], -9);
      sums = sum (&data);
      apr_products_init (&products, sums, FALSE, 0, &one_thread);
      apr_normal_equations_init (&equations, &products, none, apr_rank_find_tolerance (&options, P),
                                 &one_thread);
      g_assert_cmpuint (equations.n_independent, ==, N);
      n_in_doubles += equations.ldlt == NULL;
    }
  g_test_message ("%u of %d without longer numbers", n_in_doubles, N_ROUNDS);
  g_assert_cmpuint (n_in_doubles, >, N_ROUNDS * 3 / 5);
}

static void
test_tolerance (void)
{
  AprLeastSquaresOptions options = { .data_dtype = APR_DTYPE_F64 };

  g_test_summary ("(4 p u)^2, or nothing with a penalty.");

  assert_same_double (apr_rank_find_tolerance (&options, 3), 144 * 0x1p-106);
  options.data_dtype = APR_DTYPE_F32;
  assert_same_double (apr_rank_find_tolerance (&options, 5), 400 * 0x1p-48);
  options.alpha = 0x1p-1074;
  assert_same_double (apr_rank_find_tolerance (&options, 5), 0);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/rank/bound", test_bound);
  g_test_add_func ("/rank/missed-direction", test_missed_direction);
  g_test_add_func ("/rank/features", test_features);
  g_test_add_func ("/rank/nearly-singular", test_nearly_singular);
  g_test_add_func ("/rank/tolerance", test_tolerance);

  return g_test_run ();
}
