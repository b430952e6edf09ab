/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

#include "aprender/least-squares/apr-normal-equations-private.h"

/* What is said of features that depend on others, against rational arithmetic. */

/* Products of samples, without an intercept. */
static void
make_products (AprProducts *self, const double *x, gsize n_rows, gsize n_features)
{
  g_autofree double *y = g_new0 (double, n_rows);
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (n_features, 1, NULL);
  g_autoptr (AprTensor) x_tensor = matrix_new (n_rows, n_features, x);
  g_autoptr (AprTensor) y_tensor = vector_new (n_rows, y);

  g_assert_true (apr_exact_sums_update (sums, x_tensor, y_tensor, NULL, APR_PRECISION_EXACT,
                                        &(AprRun){ .n_threads = 1 }, NULL));
  apr_products_init (self, sums, FALSE, 0, &(AprRun){ .n_threads = 1 });
}

/* A system of the features that are not @dependent, and those that are. */
static void
make_system (AprNormalEquations *self,
             const AprProducts *products,
             const gboolean *dependent,
             const AprDenseKernel *kernel,
             const AprRun *run)
{
  gsize p = products->n_features;
  g_autofree double *least = g_new0 (double, p);
  g_autofree gsize *positions = g_new (gsize, p);
  AprScaledProducts scaled;
  gsize i;

  *self = (AprNormalEquations){ .products = products };
  /* All in one piece, as what frees them has it. */
  self->scales =
    g_malloc0 ((p + 1) * sizeof *self->scales + p * (sizeof *self->independent + sizeof *self->dependent));
  self->independent = (gsize *) (self->scales + p + 1);
  self->dependent = self->independent + p;
  for (i = 0; i < p; i++)
    {
      self->scales[i] = apr_products_get_scale (products, i);
      if (dependent[i])
        self->dependent[self->n_dependent++] = i;
      else
        self->independent[self->n_independent++] = i;
    }
  (void) apr_cholesky_init (&self->cholesky, self->n_independent, &(AprRun){ 0 });
  self->cholesky.kernel = kernel;
  scaled = apr_normal_equations_get_scaled (self);
  g_assert_true (
    apr_scaled_products_get_doubles (&scaled, self->cholesky.rows, NULL, self->cholesky.stride, run));
  g_assert_cmpuint (apr_cholesky_factorise (&self->cholesky, least, positions, run), ==, self->n_independent);
  self->min_eigenvalue = 0.4 * apr_cholesky_estimate_min_eigenvalue (&self->cholesky);
  self->combinations =
    apr_run_new_pages (run, self->n_dependent, self->cholesky.stride * sizeof (double), TRUE);
}

/* The part of the square of @feature that is left when the independent ones before it are taken out. */
static double
find_left (const AprNormalEquations *equations, gsize feature)
{
  gsize n = 0;
  gsize columns[32];
  mpq_t matrix[32][32];
  mpq_t ratio;
  mpq_t term;
  double left;
  gsize i;
  gsize j;
  gsize k;

  for (; n < equations->n_independent && equations->independent[n] < feature; n++)
    columns[n] = equations->independent[n];
  columns[n++] = feature;
  mpq_inits (ratio, term, NULL);
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      {
        mpq_init (matrix[i][j]);
        apr_products_get_integer (equations->products, columns[i], columns[j], mpq_numref (matrix[i][j]));
      }
  for (k = 0; k + 1 < n; k++)
    for (i = k + 1; i < n; i++)
      {
        mpq_div (ratio, matrix[i][k], matrix[k][k]);
        for (j = k; j < n; j++)
          {
            mpq_mul (term, ratio, matrix[k][j]);
            mpq_sub (matrix[i][j], matrix[i][j], term);
          }
      }
  mpq_set_ui (term, 0, 1);
  apr_products_get_integer (equations->products, feature, feature, mpq_numref (term));
  mpq_div (ratio, matrix[n - 1][n - 1], term);
  left = mpq_get_d (ratio);
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      mpq_clear (matrix[i][j]);
  mpq_clears (ratio, term, NULL);

  return left;
}

static void
test_combine_small (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (70);
  const AprDenseKernel *const *kernels = apr_dense_kernels ();
  guint n_proven = 0;
  guint n_doubted = 0;
  int round;

  g_test_summary (
    "Features that are nearly sums of others, with more or less left than what counts as nothing.");

  for (round = 0; round < 300; round++)
    {
      gsize n = (gsize) g_rand_int_range (rand, 1, 12);
      gsize p = n + (gsize) g_rand_int_range (rand, 1, 8);
      gsize n_rows = p + 2;
      gint bits = round % 2 == 0 ? 6 : 30;
      double tolerance = round % 9 == 3 ? 0x1p-4
                       : round % 3 == 0 ? 0x1p-40
                                        : 16 * (double) (p * p) * 0x1p-106;
      g_autofree double *x = g_new (double, n_rows *p);
      g_autofree gboolean *dependent = g_new0 (gboolean, p);
      g_autofree gboolean *proven = g_new0 (gboolean, p);
      g_auto (AprProducts) products = { 0 };
      gsize n_before = 0;
      gsize i;
      gsize j;
      gsize k;

      for (j = 0; j < p; j++)
        {
          dependent[j] = n_before == n || (n_before > 0 && g_rand_boolean (rand));
          n_before += !dependent[j];
          for (i = 0; i < n_rows; i++)
            x[i * p + j] = dependent[j] ? 0 : rint (g_rand_double_range (rand, -1, 1) * (1 << bits)) + 0.5;
          for (k = 0; k < j && dependent[j]; k++)
            {
              gint factor = k == 0 ? 1 : g_rand_int_range (rand, -2, 3);

              for (i = 0; i < n_rows && !dependent[k]; i++)
                x[i * p + j] += factor * x[i * p + k];
            }
          if (dependent[j])
            x[(gsize) g_rand_int_range (rand, 0, (gint) n_rows) * p + j] +=
              g_rand_int_range (rand, 0, 4) == 0 ? 0 : ldexp (1, -g_rand_int_range (rand, 5, 20));
        }
      make_products (&products, x, n_rows, p);
      for (k = 0; kernels[k] != NULL; k++)
        {
          AprRun run = { .n_threads = 1 };
          g_auto (AprNormalEquations) equations = { 0 };

          make_system (&equations, &products, dependent, kernels[k], &run);
          if (equations.min_eigenvalue < 1e-6)
            continue;
          equations.rank_tolerance = tolerance;
          apr_normal_equations_find_combinations (&equations, proven, &run);
          for (j = 0; j < equations.n_dependent; j++)
            {
              double left = find_left (&equations, equations.dependent[j]);

              if (proven[j])
                g_assert_cmpfloat (left, <, tolerance);
              else
                g_assert_cmpfloat (left, >, 0.9 * tolerance);
              n_proven += proven[j];
              n_doubted += !proven[j];
            }

          /* So small a bound says nothing of the residual's part, but the rest is a proof all the same. */
          equations.min_eigenvalue = ldexp (1e-6, -3 * (round % 9));
          apr_normal_equations_find_combinations (&equations, proven, &run);
          for (j = 0; j < equations.n_dependent; j++)
            if (proven[j])
              g_assert_cmpfloat (find_left (&equations, equations.dependent[j]), <, tolerance);
        }
    }
  g_assert_cmpuint (n_proven, >, 300);
  g_assert_cmpuint (n_doubted, >, 300);
}

/* With a tolerance a little below what is left, and a little above. */
static void
test_combine_close (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (72);
  const AprDenseKernel *const *kernels = apr_dense_kernels ();
  const AprRun run = { .n_threads = 1 };
  const int n_rounds = runs_slowly () ? 100 : 3000;
  guint n_proven = 0;
  guint n_close = 0;
  int round;

  for (round = 0; round < n_rounds; round++)
    {
      gsize n = (gsize) g_rand_int_range (rand, 1, 7);
      gsize p = n + 1;
      gsize n_rows = p + 1;
      gint bits = g_rand_int_range (rand, 4, 40);
      g_autofree double *x = g_new0 (double, n_rows *p);
      g_autofree gboolean *dependent = g_new0 (gboolean, p);
      g_auto (AprProducts) products = { 0 };
      g_auto (AprNormalEquations) equations = { 0 };
      gboolean proven = FALSE;
      double left;
      gsize nudged;
      gsize i;
      gsize j;

      for (i = 0; i < n_rows * p; i++)
        x[i] = i % p == n
               ? 0
               : ldexp (rint (g_rand_double_range (rand, 0, 1) * (double) (1ll << bits)) + 1, -bits);
      for (j = 0; j < n; j++)
        {
          double factor = g_rand_int_range (rand, 1, round % 2 == 0 ? 4 : 400);

          for (i = 0; i < n_rows; i++)
            x[i * p + n] += factor * x[i * p + j];
        }
      nudged = (gsize) g_rand_int_range (rand, 0, (gint) n_rows);
      x[nudged * p + n] += ldexp (1, -g_rand_int_range (rand, 2, 45));
      dependent[n] = TRUE;
      make_products (&products, x, n_rows, p);
      make_system (&equations, &products, dependent, kernels[0], &run);
      left = find_left (&equations, n);
      if (!(left > 0x1p-100 && left < 0.25) || equations.min_eigenvalue < 1e-8)
        continue;

      equations.rank_tolerance = left * (1 - 0x1p-13);
      apr_normal_equations_find_combinations (&equations, &proven, &run);
      g_assert_false (proven);
      equations.rank_tolerance = left * 1.01;
      apr_normal_equations_find_combinations (&equations, &proven, &run);
      n_proven += proven;
      n_close++;
    }
  g_test_message ("%u of %u are proven with a hundredth of room", n_proven, n_close);
  g_assert_cmpuint (n_close, >, (guint) n_rounds / 2);
  g_assert_cmpuint (100 * n_proven, >, 98 * n_close);
}

/* As many samples as independent features, of which the second is nearly the first, and one sample more, in which only
 * one of the dependent features may be anything. */
static void
test_combine_nearly_singular (void)
{
  enum
  {
    N = 12,
    P = 15
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (74);
  const AprDenseKernel *const *kernels = apr_dense_kernels ();
  const AprRun run = { .n_threads = 1 };
  const double tolerance = 16.0 * P * P * 0x1p-106;
  int nearness;

  g_test_summary (
    "What depends on features that are nearly singular is found to, and nothing that does not.");

  for (nearness = 0; nearness <= 8; nearness++)
    {
      double x[(N + 1) * P];
      gboolean dependent[P] = { FALSE };
      g_auto (AprProducts) products = { 0 };
      gsize k;
      gsize i;

      for (i = 0; i < N * P; i++)
        x[i] = g_rand_double_range (rand, -1, 1);
      for (i = 0; i < N; i++)
        x[i * P + 1] = x[i * P] + ldexp (x[i * P + 1], -nearness);
      for (i = 0; i < P; i++)
        {
          x[N * P + i] = i == P - 2 ? 0x1p-40 : 0;
          dependent[i] = i >= N;
        }
      make_products (&products, x, N + 1, P);

      for (k = 0; kernels[k] != NULL; k++)
        {
          g_auto (AprNormalEquations) equations = { 0 };
          gboolean proven[P - N] = { FALSE };
          double left;

          make_system (&equations, &products, dependent, kernels[k], &run);
          left = find_left (&equations, P - 2);
          g_assert_cmpfloat (left, >, 8 * tolerance);
          g_assert_cmpfloat (find_left (&equations, P - 1), ==, 0);

          equations.rank_tolerance = tolerance;
          apr_normal_equations_find_combinations (&equations, proven, &run);
          g_assert_false (proven[P - 2 - N]);
          equations.rank_tolerance = left * (1 - 0x1p-13);
          apr_normal_equations_find_combinations (&equations, proven, &run);
          g_assert_false (proven[P - 2 - N]);
          equations.rank_tolerance = left * 1.1;
          apr_normal_equations_find_combinations (&equations, proven, &run);
          for (i = 0; i < P - N; i++)
            g_assert_true (proven[i]);

          /* Without the one that is none. */
          equations.n_dependent--;
          equations.dependent[P - 2 - N] = equations.dependent[P - 1 - N];
          equations.rank_tolerance = tolerance;
          apr_normal_equations_find_combinations (&equations, proven, &run);
          for (i = 0; i < P - 1 - N; i++)
            g_assert_true (proven[i]);
        }
    }
}

static void
note_report (double fraction, gpointer reports)
{
  g_array_append_val ((GArray *) reports, fraction);
}

/* So many that depend on features which are nearly singular that they are solved for in more than one piece. Two digits
 * of their coefficients prove nothing, and three prove all. */
static void
test_combine_many_nearly_singular (void)
{
  const gsize n = 12, m = 140, p = n + m;
  const double expected[] = { 0.3 * 0.8, 0.8 * 0.8, 0.8 + 0.3 * 0.2, 0.8 + 0.8 * 0.2 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (76);
  const AprDenseKernel *const *kernels = apr_dense_kernels ();
  g_autofree double *x = g_new (double, n *p);
  g_autofree gboolean *dependent = g_new0 (gboolean, p);
  g_auto (AprProducts) products = { 0 };
  gsize i, k;

  for (i = 0; i < n * p; i++)
    x[i] = g_rand_double_range (rand, -1, 1);
  for (i = 0; i < n; i++)
    x[i * p + 1] = x[i * p] + ldexp (x[i * p + 1], -8);
  for (i = n; i < p; i++)
    dependent[i] = TRUE;
  make_products (&products, x, n, p);

  for (k = 0; kernels[k] != NULL; k++)
    {
      g_autoptr (GArray) reports = g_array_new (FALSE, FALSE, sizeof (double));
      AprRun run = { .n_threads = (guint) k + 1, .progress = note_report, .progress_data = reports };
      g_auto (AprNormalEquations) equations = { 0 };
      g_autofree gboolean *proven = g_new0 (gboolean, m);

      make_system (&equations, &products, dependent, kernels[k], &(AprRun){ .n_threads = 1 });
      equations.rank_tolerance = 16 * (double) (p * p) * 0x1p-106;
      apr_normal_equations_find_combinations (&equations, proven, &run);
      for (i = 0; i < m; i++)
        g_assert_true (proven[i]);
      g_assert_cmpuint (reports->len, ==, 4);
      for (i = 0; i < 4; i++)
        g_assert_cmpfloat_with_epsilon (g_array_index (reports, double, i), expected[i], 1e-12);
    }
}

/* Sums of two features are found, in any number, whatever the instruction set and the threads. */
static void
check_sums_of_two (gsize n, gsize m, double rank_tolerance)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (71);
  const AprDenseKernel *const *kernels = apr_dense_kernels ();
  gsize p = n + m;
  gsize n_rows = 3;
  g_autofree double *x = NULL;
  g_autofree gboolean *dependent = g_new0 (gboolean, p);
  g_autofree gboolean *proven = g_new (gboolean, m);
  g_autofree gsize *first = g_new0 (gsize, m);
  g_autofree double *expected = NULL;
  g_auto (AprProducts) products = { 0 };
  gsize i;
  gsize j;
  gsize k;

  /* Rows that let nothing but a diagonal and some of what is beside it fill up. */
  n_rows = n + 1;
  x = g_new0 (double, n_rows *p);
  for (i = 0; i < n; i++)
    {
      x[i * p + i] = g_rand_int_range (rand, 100, 1000);
      x[(i + 1) * p + i] = g_rand_int_range (rand, 1, 100);
    }
  for (j = 0; j < m; j++)
    {
      dependent[n + j] = TRUE;
      first[j] = (gsize) g_rand_int_range (rand, 0, (gint) n - 1);
      for (i = 0; i < n_rows; i++)
        x[i * p + n + j] = x[i * p + first[j]] + x[i * p + n - 1];
    }
  make_products (&products, x, n_rows, p);

  for (k = 0; kernels[k] != NULL; k++)
    {
      AprRun run = { .n_threads = (guint) k + 1 };
      g_auto (AprNormalEquations) equations = { 0 };
      gsize stride;

      make_system (&equations, &products, dependent, kernels[k], &run);
      stride = equations.cholesky.stride;
      memset (proven, 0, m * sizeof *proven);
      equations.rank_tolerance = rank_tolerance;
      apr_normal_equations_find_combinations (&equations, proven, &run);
      for (j = 0; j < m; j++)
        {
          g_assert_true (proven[j]);
          for (i = 0; i < n; i++)
            g_assert_cmpfloat_with_epsilon (
              equations.combinations[j * stride + i],
              i == first[j] || i == n - 1 ? ldexp (1, (gint) (equations.scales[i] - equations.scales[n + j]))
                                          : 0,
              1e-9);
        }
      if (expected == NULL)
        expected = g_memdup2 (equations.combinations, m * stride * sizeof (double));
      g_assert_cmpmem (equations.combinations, m * stride * sizeof (double), expected,
                       m * stride * sizeof (double));
    }
}

static void
test_combine_many (void)
{
  check_sums_of_two (100, 150, 0x1p-86);
  check_sums_of_two (130, 3, 0x1p-86);
  check_sums_of_two (20, 16, 0x1p-86);
  check_sums_of_two (33, 300, 0x1p-86);
  /* A whole block of rows, with as many slices as there may be. */
  check_sums_of_two (64, 100, 0x1p-100);
}

/* Returns whether the last feature is proven to depend on those before it, whatever the instruction set. */
static gboolean
is_last_proven (const double *x, gsize n_rows, gsize p)
{
  const AprDenseKernel *const *kernels = apr_dense_kernels ();
  g_auto (AprProducts) products = { 0 };
  g_autofree gboolean *dependent = g_new0 (gboolean, p);
  gsize n_proven = 0;
  gsize k;

  make_products (&products, x, n_rows, p);
  dependent[p - 1] = TRUE;
  for (k = 0; kernels[k] != NULL; k++)
    {
      g_autoptr (GArray) reports = g_array_new (FALSE, FALSE, sizeof (double));
      AprRun run = { .n_threads = 1, .progress = note_report, .progress_data = reports };
      g_auto (AprNormalEquations) equations = { 0 };
      gboolean proven = FALSE;

      make_system (&equations, &products, dependent, kernels[k], &(AprRun){ .n_threads = 1 });
      equations.rank_tolerance = 16 * (double) (p * p) * 0x1p-106;
      apr_normal_equations_find_combinations (&equations, &proven, &run);
      n_proven += proven;
      g_assert_cmpuint (reports->len, ==, 2);
    }
  g_assert_true (n_proven == 0 || n_proven == k);

  return n_proven > 0;
}

/* A third of a sum takes both digits of a coefficient, and a third digit would prove no more. */
static void
test_combine_thirds (void)
{
  const double sums[] = { 1, 2, 1, 5, 4, 3, -3, 0, -1, 7, -4, 1 };
  const double not_sums[] = { 1, 2, 1, 5, 4, 3, -3, 0, -1, 7, -4, 1 + 0x1p-40 };

  g_assert_true (is_last_proven (sums, 4, 3));
  g_assert_false (is_last_proven (not_sums, 4, 3));
}

/* Of the second feature a quarter or more is left beside the first, of which it is made up in part, exactly. */
static void
test_small_eigenvalue (void)
{
  const double x[] = { 1, 1, 0, 1 };
  const gboolean dependent[] = { FALSE, TRUE };
  const AprRun run = { .n_threads = 1 };
  const AprDenseKernel *const *kernels = apr_dense_kernels ();
  g_auto (AprProducts) products = { 0 };
  int exponent;

  g_test_summary ("However little is known of the least eigenvalue, nothing is proven that is not so.");
  make_products (&products, x, 2, 2);
  for (exponent = -50; exponent < 0; exponent++)
    {
      g_auto (AprNormalEquations) equations = { 0 };
      gboolean proven = TRUE;

      make_system (&equations, &products, dependent, kernels[0], &run);
      equations.min_eigenvalue = ldexp (1, exponent);
      equations.rank_tolerance = 0.5 * (1 - 0x1p-36);
      apr_normal_equations_find_combinations (&equations, &proven, &run);
      g_assert_false (proven);
    }
}

/* The third feature is 3/7 of 2^11 times the difference of two that are nearly the same. */
static void
test_large_coefficients (void)
{
  const double x[] = { 0x1.5555p20, 0x1.5555p20 + 7, 0x3p11, 0x1.2345p20, 0x1.2345p20 - 14, -0x3p12 };
  const gboolean dependent[] = { FALSE, FALSE, TRUE };
  const AprRun run = { .n_threads = 1 };
  const AprDenseKernel *const *kernels = apr_dense_kernels ();
  g_auto (AprProducts) products = { 0 };
  gsize k;

  g_test_summary ("Coefficients above 1 are cut into digits that are multiplied exactly, too.");
  make_products (&products, x, 2, 3);
  for (k = 0; kernels[k] != NULL; k++)
    {
      g_auto (AprNormalEquations) equations = { 0 };
      gboolean proven = FALSE;

      make_system (&equations, &products, dependent, kernels[k], &run);
      equations.rank_tolerance = 0x1p-40;
      apr_normal_equations_find_combinations (&equations, &proven, &run);
      g_assert_cmpfloat (fabs (equations.combinations[0]), >, 0x1p16);
      g_assert_true (proven);
    }
}

/* A sum of more products than fit into a double at once. */
static void
test_combine_wide (void)
{
  check_sums_of_two (2060, 2, 0x1p-86);
}

#define N_LOOKED_AT 40

/* a, b, c, a + e, a + b + 2^-k d, d */
static void
test_look (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (71);
  const gboolean dependent[6] = { FALSE, FALSE, FALSE, FALSE, TRUE, FALSE };
  const AprRun run = { .n_threads = 1 };
  gsize n_independent = 0;
  int k;

  g_test_summary (
    "A feature looks independent where what the features before it leave of it is above 2^-70, and above "
    "twice the rank tolerance.");

  for (k = 10; k < 50; k++)
    {
      double x[N_LOOKED_AT][6];
      g_auto (AprProducts) products = { 0 };
      g_auto (AprNormalEquations) equations = { 0 };
      double left;
      gboolean looks;
      gsize row;
      gsize j;

      for (row = 0; row < N_LOOKED_AT; row++)
        {
          for (j = 0; j < 6; j++)
            x[row][j] = g_rand_int_range (rand, -9, 10);
          x[row][3] += x[row][0];
          x[row][4] = x[row][0] + x[row][1] + ldexp (x[row][5], -k);
        }
      make_products (&products, x[0], N_LOOKED_AT, 6);
      make_system (&equations, &products, dependent, apr_dense_kernel_choose (), &run);
      left = find_left (&equations, 4);
      looks = apr_normal_equations_look_independent (&equations, &run);
      /* Coefficients may be twice as large where they are scaled, and what is evident four times. */
      if (left > 0x1p-67)
        g_assert_true (looks);
      if (left < 0x1p-71)
        g_assert_false (looks);
      n_independent += looks;

      /* Twice the tolerance leaves no doubt. */
      equations.rank_tolerance = left / 1.9;
      g_assert_false (apr_normal_equations_look_independent (&equations, &run));
      equations.rank_tolerance = left / 2.1;
      g_assert_cmpint (apr_normal_equations_look_independent (&equations, &run), ==, looks);
    }
  g_assert_cmpuint (n_independent, >, 20);
  g_assert_cmpuint (n_independent, <, 30);
}

/* a, a + 2^-k b, b + c, c: with k = 15 the coefficients of the third are below 2^20, with k = 21 not. */
static void
test_look_at_large (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (72);
  const gboolean dependent[4] = { FALSE, FALSE, TRUE, FALSE };
  const AprRun run = { .n_threads = 1 };
  int k;

  g_test_summary ("A combination with large coefficients shows nothing.");

  for (k = 15; k <= 21; k += 6)
    {
      double x[N_LOOKED_AT][4];
      g_auto (AprProducts) products = { 0 };
      g_auto (AprNormalEquations) equations = { 0 };
      gsize row;
      gsize j;

      for (row = 0; row < N_LOOKED_AT; row++)
        {
          for (j = 0; j < 4; j++)
            x[row][j] = g_rand_int_range (rand, -9, 10);
          x[row][2] = x[row][1] + x[row][3];
          x[row][1] = x[row][0] + ldexp (x[row][1], -k);
        }
      make_products (&products, x[0], N_LOOKED_AT, 4);
      make_system (&equations, &products, dependent, apr_dense_kernel_choose (), &run);
      g_assert_cmpfloat (find_left (&equations, 2), >, 0.1);
      g_assert_cmpint (apr_normal_equations_look_independent (&equations, &run), ==, k == 15);
    }
}

#define N_DEPENDED_ON 128

/* a, b, ..., 3 a + 5 b + 2^-k (a combination of all), c: the last depends on the others, with coefficients up to 2^k or
 * so, none of which is short. */
static void
test_look_at_dependent (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (73);
  g_autofree double *x = g_new (double, (N_DEPENDED_ON + 8) * (N_DEPENDED_ON + 1));
  gboolean dependent[N_DEPENDED_ON + 1] = { FALSE };
  const AprRun run = { .n_threads = 1 };
  int k;

  g_test_summary (
    "A feature that depends on others does not look independent, as rounding of large coefficients is no "
    "evidence.");

  dependent[N_DEPENDED_ON] = TRUE;
  for (k = 4; k < 12; k++)
    {
      int factors[N_DEPENDED_ON + 1];
      g_auto (AprProducts) products = { 0 };
      g_auto (AprNormalEquations) equations = { 0 };
      gsize row;
      gsize j;

      for (j = 0; j < N_DEPENDED_ON; j++)
        factors[j] = j == 2 ? 0 : g_rand_int_range (rand, -3, 4);
      factors[N_DEPENDED_ON] = 7;
      for (row = 0; row < N_DEPENDED_ON + 8; row++)
        {
          double *values = x + row * (N_DEPENDED_ON + 1);
          double sum = 0;

          for (j = 0; j <= N_DEPENDED_ON; j++)
            {
              values[j] = g_rand_int_range (rand, 1, 17);
              sum += factors[j] * values[j];
            }
          values[2] = 3 * values[0] + 5 * values[1] + ldexp (sum, -k);
        }
      make_products (&products, x, N_DEPENDED_ON + 8, N_DEPENDED_ON + 1);
      make_system (&equations, &products, dependent, apr_dense_kernel_choose (), &run);
      g_assert_false (apr_normal_equations_look_independent (&equations, &run));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/rank-proof/small", test_combine_small);
  g_test_add_func ("/rank-proof/close", test_combine_close);
  g_test_add_func ("/rank-proof/nearly-singular", test_combine_nearly_singular);
  g_test_add_func ("/rank-proof/nearly-singular/many", test_combine_many_nearly_singular);
  g_test_add_func ("/rank-proof/many", test_combine_many);
  g_test_add_func ("/rank-proof/thirds", test_combine_thirds);
  g_test_add_func ("/rank-proof/small-eigenvalue", test_small_eigenvalue);
  g_test_add_func ("/rank-proof/large-coefficients", test_large_coefficients);
  /* It takes minutes there. */
  if (!runs_slowly ())
    g_test_add_func ("/rank-proof/wide", test_combine_wide);
  g_test_add_func ("/rank-proof/look", test_look);
  g_test_add_func ("/rank-proof/look-at-large", test_look_at_large);
  g_test_add_func ("/rank-proof/look-at-dependent", test_look_at_dependent);

  return g_test_run ();
}
