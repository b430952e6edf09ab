/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/ldlt-test.h"
#include "tests/rational.h"

static const AprRun usual = { 0 };

/* L D L' in double-double and in longer numbers, against rational arithmetic. */

#define MAX_N 8

/* The smallest rank tolerance for F64 data. */
#define TOLERANCE 0x1p-102

typedef struct
{
  gsize n;
  mpz_t *entries; /* (owned) packed lower triangle */
} Matrix;

static void
matrix_clear (Matrix *self)
{
  apr_integers_free (self->entries, apr_triangle (self->n, 0));
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Matrix, matrix_clear)

static void
matrix_init (Matrix *self, gsize n)
{
  self->n = n;
  self->entries = apr_integers_new (apr_triangle (n, 0));
}

static void
matrix_init_small (Matrix *self, gsize n, const glong *entries)
{
  gsize i;

  matrix_init (self, n);
  for (i = 0; i < apr_triangle (n, 0); i++)
    mpz_set_si (self->entries[i], entries[i]);
}

/* X'X of whole numbers whose columns are @bits apart from being the same, and may have scales of their own. */
static void
matrix_init_random (Matrix *self, GRand *rand, gsize n, mp_bitcnt_t bits)
{
  gsize n_rows = n + 2;
  mpz_t *x = apr_integers_new (n_rows * n);
  gsize i;
  gsize j;
  gsize row;

  matrix_init (self, n);
  for (row = 0; row < n_rows; row++)
    for (j = 0; j < n; j++)
      {
        mpz_set_si (x[row * n + j], g_rand_int_range (rand, -9, 10));
        if (bits > 0 && j > 0)
          {
            mpz_mul_2exp (x[row * n], x[row * n], j == 1 ? bits : 0);
            mpz_add (x[row * n + j], x[row * n + j], x[row * n]);
          }
      }
  for (j = 0; j < n && bits == 0; j++)
    {
      mp_bitcnt_t scale = (mp_bitcnt_t) g_rand_int_range (rand, 0, 300);

      for (row = 0; row < n_rows; row++)
        mpz_mul_2exp (x[row * n + j], x[row * n + j], scale);
    }
  for (i = 0; i < n; i++)
    for (j = 0; j <= i; j++)
      for (row = 0; row < n_rows; row++)
        mpz_addmul (self->entries[apr_triangle (i, j)], x[row * n + i], x[row * n + j]);
  apr_integers_free (x, n_rows * n);
}

static void
scale_by (mpq_t value, gint64 exponent)
{
  if (exponent >= 0)
    mpq_mul_2exp (value, value, (mp_bitcnt_t) exponent);
  else
    mpq_div_2exp (value, value, (mp_bitcnt_t) -exponent);
}

/* Solves the scaled system exactly; returns FALSE where the matrix is singular. */
static gboolean
solve_exactly (const Matrix *matrix, const gint64 *scales, mpq_t *right_side)
{
  gsize n = matrix->n;
  mpq_t *system = g_new (mpq_t, n * (n + 1));
  gboolean regular;
  gsize i;
  gsize j;

  for (i = 0; i < n; i++)
    for (j = 0; j <= n; j++)
      {
        mpq_ptr entry = system[i * (n + 1) + j];

        mpq_init (entry);
        if (j < n)
          {
            mpq_set_z (entry, matrix->entries[apr_triangle (i, j)]);
            scale_by (entry, -(scales[i] + scales[j]));
          }
        else
          mpq_set (entry, right_side[i]);
      }
  regular = eliminate (system, n);
  for (i = 0; i < n && regular; i++)
    mpq_div (right_side[i], system[i * (n + 1) + n], system[i * (n + 1) + i]);
  for (i = 0; i < n * (n + 1); i++)
    mpq_clear (system[i]);
  g_free (system);

  return regular;
}

/* Asserts that @x 2^@exponent is as near to the solution as is said, and that the inverse is as small. */
static void
check_solution (
  const Matrix *matrix, AprLdlt *ldlt, mpq_t *right_side, const double *x, gint64 exponent, gint64 allowed)
{
  gsize n = matrix->n;
  mpq_t largest;
  mpq_t off;
  mpq_t value;
  gsize i;

  mpq_inits (largest, off, value, NULL);
  g_assert_true (solve_exactly (matrix, apr_ldlt_get_scales (ldlt), right_side));
  for (i = 0; i < n; i++)
    {
      mpq_abs (value, right_side[i]);
      if (mpq_cmp (value, largest) > 0)
        mpq_set (largest, value);
    }
  for (i = 0; i < n; i++)
    {
      mpq_set_d (value, x[i]);
      scale_by (value, exponent);
      mpq_sub (value, value, right_side[i]);
      mpq_abs (value, value);
      if (mpq_cmp (value, off) > 0)
        mpq_set (off, value);
    }
  /* A double, too, has its last place. */
  scale_by (largest, MAX (allowed, -52));
  g_assert_cmpint (mpq_cmp (off, largest), <=, 0);
  mpq_clears (largest, off, value, NULL);
}

static void
check_inverse (const Matrix *matrix, AprLdlt *ldlt)
{
  gsize n = matrix->n;
  mpq_t unit[MAX_N];
  mpq_t row_sums[MAX_N];
  mpq_t bound;
  gsize i;
  gsize j;

  mpq_init (bound);
  mpq_set_ui (bound, 1, 1);
  scale_by (bound, apr_ldlt_get_inverse_bits (ldlt));
  for (i = 0; i < n; i++)
    mpq_inits (unit[i], row_sums[i], NULL);
  for (j = 0; j < n; j++)
    {
      for (i = 0; i < n; i++)
        mpq_set_ui (unit[i], i == j, 1);
      g_assert_true (solve_exactly (matrix, apr_ldlt_get_scales (ldlt), unit));
      for (i = 0; i < n; i++)
        {
          mpq_abs (unit[i], unit[i]);
          mpq_add (row_sums[i], row_sums[i], unit[i]);
        }
    }
  for (i = 0; i < n; i++)
    {
      g_assert_cmpint (mpq_cmp (row_sums[i], bound), <=, 0);
      mpq_clears (unit[i], row_sums[i], NULL);
    }
  mpq_clear (bound);
}

/* Solves for a right-hand side in fixed point, and for one in double. */
static void
check_solve (const Matrix *matrix, AprLdlt *ldlt, GRand *rand)
{
  gsize n = matrix->n;
  const gint64 *scales = apr_ldlt_get_scales (ldlt);
  g_auto (AprFixed) fixed = { 0 };
  mpq_t right_side[MAX_N];
  double x[MAX_N];
  double y[MAX_N];
  gint64 top = G_MININT64;
  gint64 exponent;
  gsize i;

  apr_fixed_init (&fixed, n, 100, 400);
  for (i = 0; i < n; i++)
    {
      mp_limb_t value = (mp_limb_t) (gint64) g_rand_int_range (rand, -1000, 1000);
      double sum = (double) (gint64) value;

      mpq_init (right_side[i]);
      apr_fixed_add (&fixed, i, &value, 1, -90);
      mpq_set_d (right_side[i], sum);
      scale_by (right_side[i], -90 - scales[i]);
      top = MAX (top, 10 - 90 - scales[i]);
      x[i] = g_rand_double_range (rand, -1, 1);
    }
  exponent = apr_ldlt_solve (ldlt, &fixed, top, y, &usual);
  check_solution (matrix, ldlt, right_side, y, exponent, apr_ldlt_get_contraction (ldlt));

  for (i = 0; i < n; i++)
    mpq_set_d (right_side[i], x[i]);
  exponent = apr_ldlt_divide (ldlt, x, &usual);
  check_solution (matrix, ldlt, right_side, x, exponent, apr_ldlt_get_contraction (ldlt));
  for (i = 0; i < n; i++)
    mpq_clear (right_side[i]);
}

static void
test_definite (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (100);
  const gboolean excluded[MAX_N] = { FALSE };
  const mp_bitcnt_t bits[] = { 0, 12, 40, 75, 200 };
  int round;

  g_test_summary ("From independent columns to some that differ by 2^-200 of themselves.");

  for (round = 0; round < 200; round++)
    {
      gsize n = (gsize) g_rand_int_range (rand, 2, MAX_N + 1);
      g_auto (Matrix) matrix = { 0 };
      g_autoptr (AprLdlt) ldlt = NULL;
      gsize n_independent;
      gsize n_dependent;
      gsize column;
      gsize i;

      matrix_init_random (&matrix, rand, n, bits[round % 5]);
      ldlt = ldlt_new (matrix.entries, n, excluded, 0, FALSE);
      (void) apr_ldlt_get_dependent (ldlt, &n_dependent);
      g_assert_cmpuint (n_dependent, ==, 0);
      g_assert_cmpuint (apr_ldlt_get_independent (ldlt, &n_independent)[n - 1], ==, n - 1);
      g_assert_cmpuint (n_independent, ==, n);
      g_assert_false (apr_ldlt_find_negative (ldlt, &column));
      g_assert_cmpint (apr_ldlt_get_contraction (ldlt), <=, -12);
      for (i = 0; i < n; i++)
        g_assert_cmpint (apr_ldlt_get_scales (ldlt)[i], ==,
                         mpz_sizeinbase (matrix.entries[apr_triangle (i, i)], 2) / 2);
      check_inverse (&matrix, ldlt);
      check_solve (&matrix, ldlt, rand);
    }
}

/* The second column is the first one but for a Schur complement of 2^-@bits of its diagonal, and less. */
static void
check_tolerance (gint bits, double tolerance, gboolean independent)
{
  const gboolean excluded[] = { FALSE, FALSE };
  g_auto (Matrix) matrix = { 0 };
  g_autoptr (AprLdlt) ldlt = NULL;
  const gsize *columns;
  gsize n;

  /* [1 1; 1 1 + e] with e = 2^-bits: e / (1 + e) is left. */
  matrix_init (&matrix, 2);
  mpz_setbit (matrix.entries[0], 2000);
  mpz_setbit (matrix.entries[1], 2000);
  mpz_setbit (matrix.entries[2], 2000);
  mpz_setbit (matrix.entries[2], (mp_bitcnt_t) (2000 - bits));
  ldlt = ldlt_new (matrix.entries, 2, excluded, tolerance, FALSE);
  (void) apr_ldlt_get_independent (ldlt, &n);
  g_assert_cmpuint (n, ==, independent ? 2 : 1);
  columns = apr_ldlt_get_dependent (ldlt, &n);
  g_assert_cmpuint (n, ==, independent ? 0 : 1);
  if (!independent)
    g_assert_cmpuint (columns[0], ==, 1);
}

static void
test_rank_tolerance (void)
{
  g_test_summary ("What is left of a column is compared with the tolerance as if exactly.");

  check_tolerance (10, 0x1p-11, TRUE);
  check_tolerance (10, 0x1p-10, FALSE);
  check_tolerance (10, 0x1.fp-11, TRUE);
  check_tolerance (45, 0x1p-47, TRUE);
  check_tolerance (45, 0x1p-46, TRUE);
  check_tolerance (45, 0x1p-45, FALSE);
  check_tolerance (63, 0x1p-80, TRUE);
  check_tolerance (65, 0x1p-80, TRUE);
  check_tolerance (101, TOLERANCE, TRUE);
  check_tolerance (102, TOLERANCE, FALSE);
  check_tolerance (103, TOLERANCE, FALSE);
  check_tolerance (1500, TOLERANCE, FALSE);
  check_tolerance (1500, 0, TRUE);
}

static void
test_dependent (void)
{
  const gboolean excluded[] = { FALSE, TRUE, FALSE, FALSE };
  g_auto (Matrix) matrix = { 0 };
  g_autoptr (AprLdlt) ldlt = NULL;
  const gsize *columns;
  gsize n;

  g_test_summary ("Column 2 is twice column 0; column 1 takes no part.");

  matrix_init_small (&matrix, 4, (const glong[]){ 7, 0, -5, 14, 0, 28, 1, 0, 2, 3 });
  ldlt = ldlt_new (matrix.entries, 4, excluded, TOLERANCE, FALSE);
  columns = apr_ldlt_get_independent (ldlt, &n);
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpuint (columns[0], ==, 0);
  g_assert_cmpuint (columns[1], ==, 3);
  columns = apr_ldlt_get_dependent (ldlt, &n);
  g_assert_cmpuint (n, ==, 1);
  g_assert_cmpuint (columns[0], ==, 2);
  g_assert_false (apr_ldlt_find_negative (ldlt, &n));
}

static void
test_one_column (void)
{
  const gboolean excluded[] = { FALSE };
  g_auto (Matrix) matrix = { 0 };
  g_autoptr (AprLdlt) zero = NULL;
  g_autoptr (AprLdlt) seven = NULL;
  gsize n;

  matrix_init (&matrix, 1);
  zero = ldlt_new (matrix.entries, 1, excluded, TOLERANCE, FALSE);
  (void) apr_ldlt_get_independent (zero, &n);
  g_assert_cmpuint (n, ==, 0);
  g_assert_cmpint (apr_ldlt_get_inverse_bits (zero), ==, 0);

  mpz_set_ui (matrix.entries[0], 7);
  seven = ldlt_new (matrix.entries, 1, excluded, TOLERANCE, FALSE);
  g_assert_cmpint (apr_ldlt_get_scales (seven)[0], ==, 1);
  /* The inverse is 4 / 7. */
  g_assert_cmpint (apr_ldlt_get_inverse_bits (seven), >=, 0);
  g_assert_cmpint (apr_ldlt_get_inverse_bits (seven), <=, 3);
}

/* Matrices that no samples have. */
static void
test_indefinite (void)
{
  const gboolean excluded[] = { FALSE, FALSE, FALSE };
  const gboolean but_last[] = { FALSE, FALSE, TRUE };
  g_auto (Matrix) matrix = { 0 };
  gsize column;
  gsize n;

  matrix_init_small (&matrix, 3, (const glong[]){ 1, 2, 1, 3, 0, 1 });
  {
    g_autoptr (AprLdlt) ldlt = ldlt_new (matrix.entries, 3, excluded, TOLERANCE, FALSE);

    g_assert_true (apr_ldlt_find_negative (ldlt, &column));
    g_assert_cmpuint (column, ==, 1);
    (void) apr_ldlt_get_dependent (ldlt, &n);
    g_assert_cmpuint (n, ==, 2);
  }
  {
    /* Without a tolerance the first that is not positive ends it. */
    g_autoptr (AprLdlt) all = ldlt_new (matrix.entries, 3, excluded, 0, FALSE);
    g_autoptr (AprLdlt) ldlt = ldlt_new (matrix.entries, 3, but_last, 0, FALSE);

    g_assert_true (apr_ldlt_find_negative (ldlt, &column));
    g_assert_cmpuint (column, ==, 1);
    (void) apr_ldlt_get_dependent (ldlt, &n);
    g_assert_cmpuint (n, ==, 1);
    (void) apr_ldlt_get_dependent (all, &n);
    g_assert_cmpuint (n, ==, 1);
  }
  {
    g_autoptr (AprLdlt) ldlt = NULL;

    /* No double holds the scaled product. */
    mpz_setbit (matrix.entries[apr_triangle (1, 0)], 6000);
    ldlt = ldlt_new (matrix.entries, 3, excluded, TOLERANCE, FALSE);
    g_assert_true (apr_ldlt_find_negative (ldlt, &column));
    g_assert_cmpuint (column, ==, 1);
  }
}

/* Two columns, and which of them shows that they are none of samples, if any. */
static void
test_negative (void)
{
  const struct
  {
    glong entries[3];
    double rank_tolerance;
    int column;
  } cases[] = {
    { { -1, 0, -1 }, 0.25, 0 }, { { 4, 4, 4 }, 0.25, -1 }, { { 4, 4, 4 }, 0, 1 },
    { { 6, 6, 4 }, 0.5, -1 }, /* a pivot of -2, which is as far below 0 as the tolerance */
    { { 6, 6, 4 }, 0.25, 1 },
  };
  const gboolean excluded[2] = { FALSE };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (Matrix) matrix = { 0 };
      g_autoptr (AprLdlt) ldlt = NULL;
      gsize column;

      matrix_init_small (&matrix, 2, cases[i].entries);
      ldlt = ldlt_new (matrix.entries, 2, excluded, cases[i].rank_tolerance, FALSE);
      g_assert_cmpint (apr_ldlt_find_negative (ldlt, &column), ==, cases[i].column >= 0);
      if (cases[i].column >= 0)
        g_assert_cmpuint (column, ==, (gsize) cases[i].column);
    }
}

/* With a penalty of 1, pivots are at least 1: how much longer than the diagonal numbers have to be does not depend on
 * how many columns there are. */
static void
test_penalised (void)
{
  const gboolean excluded[] = { FALSE, FALSE };
  g_auto (Matrix) matrix = { 0 };
  gsize column;
  gsize n;

  matrix_init (&matrix, 2);
  mpz_setbit (matrix.entries[0], 600);
  mpz_setbit (matrix.entries[1], 600);
  mpz_setbit (matrix.entries[2], 600);
  mpz_sub_ui (matrix.entries[2], matrix.entries[2], 1);
  {
    g_autoptr (AprLdlt) ldlt = ldlt_new (matrix.entries, 2, excluded, 0, TRUE);

    g_assert_true (apr_ldlt_find_negative (ldlt, &column));
    g_assert_cmpuint (column, ==, 1);
  }
  mpz_setbit (matrix.entries[0], 0);
  mpz_add_ui (matrix.entries[2], matrix.entries[2], 2);
  {
    g_autoptr (AprLdlt) ldlt = ldlt_new (matrix.entries, 2, excluded, 0, TRUE);

    g_assert_false (apr_ldlt_find_negative (ldlt, &column));
    (void) apr_ldlt_get_independent (ldlt, &n);
    g_assert_cmpuint (n, ==, 2);
  }
}

/* Right-hand sides whose numbers have exponents further apart than doubles have. */
static void
check_far_apart (const Matrix *matrix)
{
  const gboolean excluded[] = { FALSE, FALSE, FALSE };
  g_autoptr (AprLdlt) ldlt = ldlt_new (matrix->entries, 3, excluded, 0, FALSE);
  const gint64 *scales = apr_ldlt_get_scales (ldlt);
  g_auto (AprFixed) fixed = { 0 };
  const mp_limb_t one = 1;
  double x[3];
  gint64 exponent;

  apr_fixed_init (&fixed, 3, 6000, 500);
  apr_fixed_add (&fixed, 0, &one, 1, scales[0]);
  apr_fixed_add (&fixed, 2, &one, 1, -6000);
  exponent = apr_ldlt_solve (ldlt, &fixed, 0, x, &usual);
  g_assert_cmpfloat (ldexp (x[0], (gint) exponent), >, 0.25);
  assert_same_double (x[2], 0);

  /* One unit alone. */
  apr_fixed_clear (&fixed);
  apr_fixed_init (&fixed, 3, 6000, 500);
  apr_fixed_add (&fixed, 2, &one, 1, -6000);
  exponent = apr_ldlt_solve (ldlt, &fixed, -6000 - scales[2], x, &usual);
  assert_same_double (x[0], 0);
  g_assert_cmpfloat (x[2], >, 0);
  g_assert_cmpint (ilogb (x[2]) + exponent, >=, -6002 - scales[2]);
  g_assert_cmpint (ilogb (x[2]) + exponent, <=, -5999 - scales[2]);
}

static void
test_far_apart (void)
{
  g_auto (Matrix) matrix = { 0 };

  matrix_init_small (&matrix, 3, (const glong[]){ 1, 0, 1, 0, 0, 1 });
  check_far_apart (&matrix);

  /* The same in longer numbers. */
  mpz_setbit (matrix.entries[0], 400);
  mpz_setbit (matrix.entries[apr_triangle (1, 0)], 400);
  mpz_setbit (matrix.entries[apr_triangle (1, 1)], 400);
  check_far_apart (&matrix);
}

static void
test_long (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (101);
  const mp_bitcnt_t bits[] = { 0, 40, 200, 600 };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  int round;

  g_test_summary ("Factors whose inverse is that of the matrix to 100 bits.");

  for (round = 0; round < 40; round++)
    {
      gsize n = (gsize) g_rand_int_range (rand, 2, MAX_N + 1);
      g_auto (Matrix) matrix = { 0 };
      g_autoptr (AprLdlt) ldlt = NULL;
      const mpf_t *numbers;
      mpf_t square;
      mpq_t exact;
      mpq_t value;

      matrix_init_random (&matrix, rand, n, bits[round % 4]);
      ldlt = apr_ldlt_new_long (matrix.entries, n, 100000, &(AprRun){ .cancellable = cancellable });
      g_assert_nonnull (ldlt);
      check_inverse (&matrix, ldlt);
      check_solve (&matrix, ldlt, rand);

      /* The last pivot is 1 over the inverse's last diagonal entry. */
      numbers = apr_ldlt_get_numbers (ldlt);
      {
        mpq_t unit[MAX_N];
        gsize i;

        mpq_inits (exact, value, NULL);
        mpf_init2 (square, 64);
        for (i = 0; i < n; i++)
          {
            mpq_init (unit[i]);
            mpq_set_ui (unit[i], i == n - 1, 1);
          }
        g_assert_true (solve_exactly (&matrix, apr_ldlt_get_scales (ldlt), unit));
        mpq_set_f (value, numbers[apr_triangle (n - 1, n - 1)]);
        mpq_mul (exact, unit[n - 1], value);
        mpq_set_ui (value, 1, 1);
        mpq_sub (exact, exact, value);
        mpq_abs (exact, exact);
        scale_by (exact, 100);
        g_assert_cmpint (mpq_cmp_ui (exact, 1, 1), <=, 0);
        for (i = 0; i < n; i++)
          mpq_clear (unit[i]);
        mpq_clears (exact, value, NULL);
        mpf_clear (square);
      }
    }

  {
    g_auto (Matrix) matrix = { 0 };

    matrix_init_random (&matrix, rand, 3, 600);
    g_assert_null (apr_ldlt_new_long (matrix.entries, 3, 512, &(AprRun){ .cancellable = cancellable }));
    g_assert_null (apr_ldlt_new_long (matrix.entries, 3, 255, &(AprRun){ .cancellable = cancellable }));
    g_cancellable_cancel (cancellable);
    g_assert_null (apr_ldlt_new_long (matrix.entries, 3, 100000, &(AprRun){ .cancellable = cancellable }));
  }
}

/* Squares of one and of two bits, whose scales differ by 1, and one column alone; and a second pivot that is 2^-38 of
 * the first. The fewest bits are just enough. */
static void
test_small (void)
{
  const glong entries[][3] = { { 2 }, { 1, 1, 3 }, { 1l << 60, 1l << 60, (1l << 60) + (1l << 22) } };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (entries); i++)
    {
      g_auto (Matrix) matrix = { 0 };
      g_autoptr (AprLdlt) ldlt = NULL;

      matrix_init_small (&matrix, MIN (i + 1, 2), entries[i]);
      ldlt = apr_ldlt_new_long (matrix.entries, matrix.n, 256, &usual);
      g_assert_nonnull (ldlt);
      check_inverse (&matrix, ldlt);
    }
}

static gpointer
cancel_soon (gpointer cancellable)
{
  g_usleep (20000);
  g_cancellable_cancel (cancellable);

  return NULL;
}

/* Columns of several blocks, of which some are excluded: I + 2^40 J, where J has ones only. The inverse is I less
 * J / (n + 2^-40), so that its norm is just below 2, and it gives x for x + 2^40 times the sum of x. */
static void
test_many_columns (void)
{
  enum
  {
    N = 150,
    EXCLUDED = 7
  };
  g_autofree gboolean *excluded = g_new0 (gboolean, N + EXCLUDED);
  g_auto (Matrix) matrix = { 0 };
  g_autoptr (AprLdlt) ldlt = NULL;
  double right_side[N];
  gsize n_independent;
  gint64 exponent;
  gsize i;
  gsize j;

  matrix_init (&matrix, N + EXCLUDED);
  for (i = 0; i < N + EXCLUDED; i++)
    {
      excluded[i] = i % 20 == 3 && i / 20 < EXCLUDED;
      for (j = 0; j <= i; j++)
        {
          mpz_set_ui (matrix.entries[apr_triangle (i, j)], (gulong) 1 << 40);
          if (i == j)
            mpz_add_ui (matrix.entries[apr_triangle (i, j)], matrix.entries[apr_triangle (i, j)], 1);
        }
    }

  ldlt = ldlt_new (matrix.entries, N + EXCLUDED, excluded, TOLERANCE, FALSE);
  (void) apr_ldlt_get_independent (ldlt, &n_independent);
  g_assert_cmpuint (n_independent, ==, N);
  /* In double-double, with a bound that is not much above the norm of the inverse of the scaled matrix. */
  g_assert_null (apr_ldlt_get_numbers (ldlt));
  g_assert_cmpint (apr_ldlt_get_scales (ldlt)[0], ==, 20);
  g_assert_cmpint (apr_ldlt_get_inverse_bits (ldlt), >=, 41);
  g_assert_cmpint (apr_ldlt_get_inverse_bits (ldlt), <=, 50);
  g_assert_cmpint (apr_ldlt_get_contraction (ldlt), <, -30);

  /* The numbers from 0 on, with signs in turn, whose sum is -75. */
  for (i = 0; i < N; i++)
    right_side[i] = (i % 2 == 0 ? 1 : -1) * (double) i * 0x1p-40 - (double) N / 2;
  exponent = apr_ldlt_divide (ldlt, right_side, &usual);
  for (i = 0; i < N; i++)
    g_assert_cmpfloat_with_epsilon (ldexp (right_side[i], (gint) exponent),
                                    (i % 2 == 0 ? 1 : -1) * (double) i,
                                    N * ldexp (1, (gint) apr_ldlt_get_contraction (ldlt)));
}

static void
test_cancel (void)
{
  enum
  {
    N = 500
  };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_auto (Matrix) matrix = { 0 };
  GThread *thread;
  gsize i;
  gsize j;

  g_test_summary ("So many columns that they are not done when another thread cancels.");

  matrix_init (&matrix, N);
  for (i = 0; i < N; i++)
    for (j = 0; j <= i; j++)
      mpz_set_si (matrix.entries[apr_triangle (i, j)], i == j ? 2 * N : 1);
  thread = g_thread_new ("cancel", cancel_soon, cancellable);
  g_assert_null (apr_ldlt_new_long (matrix.entries, N, 100000, &(AprRun){ .cancellable = cancellable }));
  g_thread_join (thread);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/ldlt/definite", test_definite);
  g_test_add_func ("/ldlt/rank-tolerance", test_rank_tolerance);
  g_test_add_func ("/ldlt/dependent", test_dependent);
  g_test_add_func ("/ldlt/one-column", test_one_column);
  g_test_add_func ("/ldlt/indefinite", test_indefinite);
  g_test_add_func ("/ldlt/negative", test_negative);
  g_test_add_func ("/ldlt/penalised", test_penalised);
  g_test_add_func ("/ldlt/far-apart", test_far_apart);
  g_test_add_func ("/ldlt/long", test_long);
  g_test_add_func ("/ldlt/small", test_small);
  g_test_add_func ("/ldlt/many-columns", test_many_columns);
  g_test_add_func ("/ldlt/cancel", test_cancel);

  return g_test_run ();
}
