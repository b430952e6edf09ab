/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/rational.h"

#include <float.h>

#include "aprender/least-squares/apr-cholesky-private.h"

/* U'U in double, against the matrix itself in exact arithmetic, and what is said of its errors. */

#define MAX_N 70

/* A definite matrix whose diagonal is about 1. */
static void
draw_definite (GRand *rand, AprCholesky *cholesky, double *matrix, gsize n, double noise)
{
  g_autofree double *x = g_new (double, 2 * n * n);
  g_autofree double *lengths = g_new0 (double, n);
  gsize i;
  gsize j;
  gsize k;

  for (k = 0; k < 2 * n; k++)
    {
      double common = g_rand_double_range (rand, -1, 1);

      for (i = 0; i < n; i++)
        {
          x[k * n + i] = common + noise * g_rand_double_range (rand, -1, 1);
          lengths[i] += x[k * n + i] * x[k * n + i];
        }
    }
  (void) apr_cholesky_init (cholesky, n, &(AprRun){ 0 });
  for (i = 0; i < n; i++)
    for (j = i; j < n; j++)
      {
        double sum = 0;

        for (k = 0; k < 2 * n; k++)
          sum += x[k * n + i] * x[k * n + j];
        sum /= sqrt (lengths[i] * lengths[j]);
        cholesky->rows[i * cholesky->stride + j] = sum;
        matrix[i * n + j] = matrix[j * n + i] = sum;
      }
}

/* The largest row sum of |U'U - matrix|, computed exactly and rounded up. */
static double
find_error (const AprCholesky *cholesky, const double *matrix)
{
  gsize n = cholesky->n;
  double max = 0;
  mpq_t left;
  mpq_t right;
  mpq_t sum;
  mpq_t row_sum;
  gsize i;
  gsize j;
  gsize k;

  mpq_inits (left, right, sum, row_sum, NULL);
  for (i = 0; i < n; i++)
    {
      mpq_set_ui (row_sum, 0, 1);
      for (j = 0; j < n; j++)
        {
          mpq_set_d (sum, -matrix[i * n + j]);
          for (k = 0; k <= MIN (i, j); k++)
            {
              mpq_set_d (left, cholesky->rows[k * cholesky->stride + i]);
              mpq_set_d (right, cholesky->rows[k * cholesky->stride + j]);
              mpq_mul (left, left, right);
              mpq_add (sum, sum, left);
            }
          mpq_abs (sum, sum);
          mpq_add (row_sum, row_sum, sum);
        }
      max = MAX (max, mpq_get_d (row_sum) * (1 + DBL_EPSILON));
    }
  mpq_clears (left, right, sum, row_sum, NULL);

  return max;
}

/* The largest row sum of |U'||U| */
static double
find_size (const AprCholesky *cholesky)
{
  double max = 0;
  gsize i;
  gsize j;
  gsize k;

  for (i = 0; i < cholesky->n; i++)
    {
      double sum = 0;

      for (j = 0; j < cholesky->n; j++)
        for (k = 0; k <= MIN (i, j); k++)
          sum += fabs (cholesky->rows[k * cholesky->stride + i] * cholesky->rows[k * cholesky->stride + j]);
      max = MAX (max, sum);
    }

  return max;
}

static void
test_definite (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (110);
  const gsize sizes[] = { 1, 2, 7, 16, 31, 32, 33, 64, MAX_N };
  gsize i;
  gsize j;

  g_test_summary ("The bound holds, and is not far from what it bounds.");

  for (i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      gsize n = sizes[i];
      g_auto (AprCholesky) cholesky = { NULL };
      g_autofree double *matrix = g_new (double, n *n);
      g_autofree double *limits = g_new0 (double, n);
      g_autofree gsize *positions = g_new (gsize, n);
      g_autofree double *x = g_new (double, n);
      g_autofree double *y = g_new (double, n);
      double bound;

      draw_definite (rand, &cholesky, matrix, n, i % 2 == 0 ? 1 : 1e-3);
      g_assert_cmpuint (
        apr_cholesky_factorise (&cholesky, limits, positions, &(AprRun){ .n_threads = 1 + (guint) i % 3 }),
        ==, n);
      for (j = 0; j < n; j++)
        g_assert_cmpuint (positions[j], ==, j);
      bound = apr_cholesky_bound_error (&cholesky);
      g_assert_cmpfloat (find_error (&cholesky, matrix), <=, bound);
      g_assert_cmpfloat (bound, <=, 4 * (double) (n + 2) * (double) n * DBL_EPSILON);
      /* What the theorem asks for, and twice as much. */
      g_assert_cmpfloat (bound, >, (double) (n + 1) * DBL_EPSILON / 2 * find_size (&cholesky));
      g_assert_cmpfloat (bound, <, (double) (n + 2) * DBL_EPSILON * 1.001 * find_size (&cholesky));

      /* Multiplying undoes solving. */
      for (j = 0; j < n; j++)
        x[j] = y[j] = g_rand_double_range (rand, -1, 1);
      apr_cholesky_multiply (&cholesky, y);
      apr_cholesky_solve (&cholesky, y);
      for (j = 0; j < n; j++)
        g_assert_cmpfloat_with_epsilon (y[j], x[j], 1e-6);
      for (j = 0; j < n; j++)
        y[j] = j == n / 2;
      apr_cholesky_multiply (&cholesky, y);
      for (j = 0; j < n; j++)
        g_assert_cmpfloat_with_epsilon (y[j], matrix[j * n + n / 2], 1e-12);
    }
}

static void
test_bound_of_identity (void)
{
  gsize n;
  gsize i;
  gsize j;

  g_test_summary ("The bound on the error of a factor reads nothing but its upper triangle.");

  for (n = 1; n <= 17; n++)
    {
      g_auto (AprCholesky) cholesky = { NULL };
      double bound;

      (void) apr_cholesky_init (&cholesky, n, &(AprRun){ 0 });
      for (i = 0; i < n; i++)
        for (j = 0; j < cholesky.stride; j++)
          cholesky.rows[i * cholesky.stride + j] = i == j ? 1 : j > i && j < n ? 0 : 0x1p40;
      bound = apr_cholesky_bound_error (&cholesky);
      g_assert_cmpfloat (bound, >=, (double) (n + 1) * DBL_EPSILON / 2);
      g_assert_cmpfloat (bound, <=, (double) (n + 2) * DBL_EPSILON);
    }
}

static void
test_limits (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (111);
  g_auto (AprCholesky) cholesky = { NULL };
  g_auto (AprCholesky) kept = { NULL };
  g_autofree double *matrix = g_new (double, MAX_N *MAX_N);
  double limits[MAX_N] = { 0 };
  gsize positions[MAX_N];
  gsize n_kept = 0;
  gsize i;
  gsize j;

  g_test_summary (
    "A column whose Schur complement is at most its limit is skipped, as if it were not there.");

  draw_definite (rand, &cholesky, matrix, MAX_N, 1);
  for (i = 0; i < MAX_N; i++)
    limits[i] = i % 5 == 3 ? 2 : 0;
  g_assert_cmpuint (apr_cholesky_factorise (&cholesky, limits, positions, &(AprRun){ .n_threads = 2 }), ==,
                    MAX_N - MAX_N / 5);
  for (i = 0; i < MAX_N; i++)
    if (i % 5 != 3)
      g_assert_cmpuint (positions[n_kept++], ==, i);
  apr_cholesky_keep (&cholesky, positions, n_kept);
  g_assert_cmpuint (cholesky.n, ==, n_kept);

  (void) apr_cholesky_init (&kept, n_kept, &(AprRun){ 0 });
  for (i = 0; i < n_kept; i++)
    for (j = i; j < n_kept; j++)
      kept.rows[i * kept.stride + j] = matrix[positions[i] * MAX_N + positions[j]];
  memset (limits, 0, sizeof limits);
  g_assert_cmpuint (apr_cholesky_factorise (&kept, limits, positions, &(AprRun){ .n_threads = 1 }), ==,
                    n_kept);
  for (i = 0; i < n_kept; i++)
    for (j = i; j < n_kept; j++)
      g_assert_cmpfloat_with_epsilon (cholesky.rows[i * cholesky.stride + j], kept.rows[i * kept.stride + j],
                                      1e-12);
}

static void
test_limit_is_excluded (void)
{
  g_auto (AprCholesky) cholesky = { NULL };
  const double at[] = { 1, 0.25 };
  const double below[] = { 1, 0.2 };
  gsize positions[2];

  g_test_summary ("1 - 0.75 is left of the second diagonal entry, exactly.");

  (void) apr_cholesky_init (&cholesky, 2, &(AprRun){ 0 });
  cholesky.rows[0] = 4;
  cholesky.rows[1] = 3;
  cholesky.rows[cholesky.stride + 1] = 2.5;
  g_assert_cmpuint (apr_cholesky_factorise (&cholesky, at, positions, &(AprRun){ .n_threads = 1 }), ==, 1);
  cholesky.rows[0] = 4;
  cholesky.rows[1] = 3;
  cholesky.rows[cholesky.stride + 1] = 2.5;
  g_assert_cmpuint (apr_cholesky_factorise (&cholesky, below, positions, &(AprRun){ .n_threads = 1 }), ==, 2);
  assert_same_double (cholesky.rows[0], 2);
  assert_same_double (cholesky.rows[1], 1.5);
  assert_same_double (cholesky.rows[cholesky.stride + 1], 0.5);
}

/* Q diag (values) Q' with the reflection Q that takes the direction that the iteration starts from to @weights. */
static void
make_reflected (AprCholesky *cholesky, const double *values, const double *weights, gsize n)
{
  g_autofree double *v = g_new (double, n);
  double start_length = 0;
  double weights_length = 0;
  double length = 0;
  gsize i;
  gsize j;
  gsize k;

  for (i = 0; i < n; i++)
    {
      start_length += apr_dense_start (i) * apr_dense_start (i);
      weights_length += weights[i] * weights[i];
    }
  for (i = 0; i < n; i++)
    {
      v[i] = apr_dense_start (i) / sqrt (start_length) - weights[i] / sqrt (weights_length);
      length += v[i] * v[i];
    }
  (void) apr_cholesky_init (cholesky, n, &(AprRun){ 0 });
  for (i = 0; i < n; i++)
    for (j = i; j < n; j++)
      for (k = 0; k < n; k++)
        cholesky->rows[i * cholesky->stride + j] += ((i == k ? 1 : 0) - 2 * v[i] * v[k] / length) *
                                                    values[k] * ((j == k ? 1 : 0) - 2 * v[j] * v[k] / length);
}

static void
test_min_eigenvalue (void)
{
  enum
  {
    N = 12
  };
  const double zeros[N] = { 0 };
  double values[N];
  double weights[N];
  gsize positions[N];
  int spread;
  int i;

  g_test_summary (
    "Never below the least eigenvalue, however little of its direction the iteration starts with.");

  for (spread = 0; spread < 60; spread += 3)
    {
      g_auto (AprCholesky) cholesky = { NULL };
      double estimate;

      for (i = 0; i < N; i++)
        {
          values[i] = ldexp (1, -i);
          weights[i] = exp2 (-spread * i * i / 100.0);
        }
      make_reflected (&cholesky, values, weights, N);
      g_assert_cmpuint (apr_cholesky_factorise (&cholesky, zeros, positions, &(AprRun){ .n_threads = 1 }), ==,
                        N);
      estimate = apr_cholesky_estimate_min_eigenvalue (&cholesky);
      g_assert_cmpfloat (estimate, >=, ldexp (1 - 1e-9, -N + 1));
      if (spread == 0)
        g_assert_cmpfloat (estimate, <, ldexp (1.5, -N + 1));

      /* That of the inverse is on the other side, and nearer than their number. */
      estimate = apr_cholesky_bound_min_eigenvalue (&cholesky);
      g_assert_cmpfloat (estimate, <=, ldexp (1 + 1e-9, -N + 1));
      g_assert_cmpfloat (estimate, >=, ldexp (0.98 / N, -N + 1));
    }
}

/* Whether no eigenvalue of [a, b; b, c] is below @bound. */
static gboolean
has_no_eigenvalue_below (double a, double b, double c, double bound)
{
  gboolean none;
  mpq_t product;
  mpq_t term;
  mpq_t other;

  mpq_inits (product, term, other, NULL);
  mpq_set_d (product, a);
  mpq_set_d (term, bound);
  mpq_sub (product, product, term);
  none = mpq_sgn (product) >= 0;
  /* (a - bound) (c - bound) >= b^2 */
  mpq_set_d (other, c);
  mpq_sub (other, other, term);
  mpq_mul (product, product, other);
  mpq_set_d (other, b);
  mpq_mul (other, other, other);
  none = none && mpq_cmp (product, other) >= 0;
  mpq_clears (product, term, other, NULL);

  return none;
}

static void
test_min_eigenvalue_of_rounded (void)
{
  const double zeros[2] = { 0 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (113);
  guint n_above = 0;
  guint n_positive = 0;
  int round;

  g_test_summary (
    "Where the least eigenvalue is not far above the errors of the factor, these do not raise its bound.");

  for (round = 0; round < 4000; round++)
    {
      double a = g_rand_double_range (rand, 0.5, 2);
      double b = g_rand_double_range (rand, 0.7, 1.4);
      double c = b * b / a * (1 + ldexp (g_rand_double_range (rand, 1, 2), -42 - round % 8));
      g_auto (AprCholesky) cholesky = { NULL };
      gsize positions[2];
      double bound;

      (void) apr_cholesky_init (&cholesky, 2, &(AprRun){ 0 });
      cholesky.rows[0] = a;
      cholesky.rows[1] = b;
      cholesky.rows[cholesky.stride + 1] = c;
      if (apr_cholesky_factorise (&cholesky, zeros, positions, &(AprRun){ .n_threads = 1 }) < 2)
        continue;

      bound = apr_cholesky_bound_min_eigenvalue (&cholesky);
      g_assert_true (has_no_eigenvalue_below (a, b, c, bound));
      n_positive += bound > 0;
      /* Without the errors of the factor it would be too large. */
      bound += apr_cholesky_bound_error (&cholesky);
      n_above += !has_no_eigenvalue_below (a, b, c, bound);
    }
  g_test_message ("%u bounds are positive; %u are because of the errors right", n_positive, n_above);
  g_assert_cmpuint (n_positive, >, 1000);
  g_assert_cmpuint (n_above, >, 100);
}

/* With a unit diagonal and few small whole numbers beside it, all sums are exact. */
static void
test_solve_many (void)
{
  enum
  {
    N_COLUMNS = 16
  };
  const gsize sizes[] = { 1, 2, 31, 32, 33, 64, 65, MAX_N };
  const AprDenseKernel *const *kernels = apr_dense_kernels ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (111);
  gsize size;
  gsize i;
  gsize j;
  gsize k;
  gsize kernel;
  gsize transposed;

  for (size = 0; size < G_N_ELEMENTS (sizes); size++)
    {
      gsize n = sizes[size];
      g_auto (AprCholesky) cholesky = { NULL };
      g_autofree double *solution = g_new (double, n *N_COLUMNS);

      (void) apr_cholesky_init (&cholesky, n, &(AprRun){ 0 });
      for (i = 0; i < n; i++)
        for (j = i; j < n; j++)
          cholesky.rows[i * cholesky.stride + j] = i == j ? 1
                                                 : g_rand_int_range (rand, 0, 4) == 0
                                                   ? g_rand_int_range (rand, -1, 2)
                                                   : 0;
      for (i = 0; i < n * N_COLUMNS; i++)
        solution[i] = g_rand_int_range (rand, -99, 100);

      for (kernel = 0; kernels[kernel] != NULL; kernel++)
        for (transposed = 0; transposed < 2; transposed++)
          {
            g_autofree double *x = g_new0 (double, n *N_COLUMNS);

            cholesky.kernel = kernels[kernel];
            for (i = 0; i < n; i++)
              for (j = i; j < n; j++)
                for (k = 0; k < N_COLUMNS; k++)
                  {
                    double factor = cholesky.rows[i * cholesky.stride + j];

                    if (transposed != 0)
                      x[j * N_COLUMNS + k] += factor * solution[i * N_COLUMNS + k];
                    else
                      x[i * N_COLUMNS + k] += factor * solution[j * N_COLUMNS + k];
                  }
            apr_cholesky_solve_many (&cholesky, transposed != 0, x, N_COLUMNS, N_COLUMNS,
                                     &(AprRun){ .n_threads = 1 });
            for (i = 0; i < n * N_COLUMNS; i++)
              assert_same_double (x[i] + 0, solution[i] + 0);
          }
    }
}

static void
test_invert (void)
{
  const AprRun run = { .n_threads = 2 };
  const gsize sizes[] = { 1, 63, 64, 65, 400 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (112);
  gsize size;
  gsize i;
  gsize j;
  gsize k;

  g_test_summary (
    "U' times its inverse is the identity, exactly where all are whole numbers, in one thread or two.");

  for (size = 0; size < G_N_ELEMENTS (sizes); size++)
    {
      gsize n = sizes[size];
      g_auto (AprCholesky) cholesky = { NULL };
      g_auto (AprCholesky) inverse = { NULL };

      (void) apr_cholesky_init (&cholesky, n, &(AprRun){ 0 });
      (void) apr_cholesky_init (&inverse, n, &(AprRun){ 0 });
      for (i = 0; i < n; i++)
        for (j = i; j < n; j++)
          cholesky.rows[i * cholesky.stride + j] = i == j ? 1
                                                 : g_rand_int_range (rand, 0, (gint) n) == 0
                                                   ? g_rand_int_range (rand, -2, 3)
                                                   : 0;
      apr_cholesky_invert (&cholesky, inverse.rows, inverse.stride, &run);
      for (i = 0; i < n; i++)
        {
          const double *row = inverse.rows + i * inverse.stride;

          for (j = 0; j < n; j++)
            {
              gint64 sum = 0;

              g_assert_cmpfloat (fabs (row[j]), <, 0x1p50);
              for (k = 0; k <= i; k++)
                sum += (gint64) cholesky.rows[k * cholesky.stride + i] *
                       (gint64) inverse.rows[k * inverse.stride + j];
              g_assert_cmpint (sum, ==, i == j ? 1 : 0);
            }
        }
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/cholesky/definite", test_definite);
  g_test_add_func ("/cholesky/bound-of-identity", test_bound_of_identity);
  g_test_add_func ("/cholesky/limits", test_limits);
  g_test_add_func ("/cholesky/limit-is-excluded", test_limit_is_excluded);
  g_test_add_func ("/cholesky/solve-many", test_solve_many);
  g_test_add_func ("/cholesky/invert", test_invert);
  g_test_add_func ("/cholesky/min-eigenvalue", test_min_eigenvalue);
  g_test_add_func ("/cholesky/min-eigenvalue/of-rounded", test_min_eigenvalue_of_rounded);

  return g_test_run ();
}
