/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/nist.h"
#include "tests/rational.h"

#include <stdlib.h>

#include "aprender/least-squares/apr-rounding-private.h"

/* Answers that are known exactly: of wide problems, of NIST's data, and of a few that were wrong once. What is
 * random and hostile is in test-random-problems.c. */

/* Fewer samples than features: the least norm is X' a with X X' a = y, after centring where there is an intercept, when
 * the last row says nothing that the others do not. */
static void
test_minimum_norm (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (21);
  gsize n_compared = 0;
  int round;

  for (round = 0; round < 400; round++)
    {
      gsize n = (gsize) g_rand_int_range (rand, 2, 7);
      gsize p = n + (gsize) g_rand_int_range (rand, 0, 6);
      gboolean whole = g_rand_boolean (rand);
      gboolean centred = g_rand_boolean (rand);
      gsize m = centred ? n - 1 : n;
      g_autofree double *x_values = g_new (double, n *p);
      g_autofree double *y_values = g_new (double, n);
      g_autofree mpq_t *z = g_new (mpq_t, n * (p + 1));
      g_autofree mpq_t *matrix = g_new (mpq_t, m * (m + 1));
      g_autoptr (AprLinearRegression) model =
        g_object_new (APR_TYPE_LINEAR_REGRESSION, "fit-intercept", centred, NULL);
      g_autoptr (AprTensor) x = NULL;
      g_autoptr (AprTensor) y = NULL;
      g_autoptr (GError) error = NULL;
      gboolean regular;
      mpq_t mean;
      mpq_t term;
      gsize i;
      gsize j;
      gsize k;

      mpq_inits (mean, term, NULL);
      for (i = 0; i < n; i++)
        {
          for (j = 0; j < p; j++)
            x_values[i * p + j] = whole ? (double) g_rand_int_range (rand, -9, 10) : normal (rand);
          y_values[i] = (double) g_rand_int_range (rand, -5, 6);
        }
      for (j = 0; j <= p; j++)
        {
          mpq_set_ui (mean, 0, 1);
          for (i = 0; i < n; i++)
            {
              mpq_init (z[i * (p + 1) + j]);
              mpq_set_d (z[i * (p + 1) + j], j < p ? x_values[i * p + j] : y_values[i]);
              mpq_add (mean, mean, z[i * (p + 1) + j]);
            }
          mpq_set_ui (term, n, 1);
          mpq_div (mean, mean, term);
          for (i = 0; i < n && centred; i++)
            mpq_sub (z[i * (p + 1) + j], z[i * (p + 1) + j], mean);
        }

      for (i = 0; i < m; i++)
        for (j = 0; j <= m; j++)
          {
            mpq_init (matrix[i * (m + 1) + j]);
            for (k = 0; k < p && j < m; k++)
              {
                mpq_mul (term, z[i * (p + 1) + k], z[j * (p + 1) + k]);
                mpq_add (matrix[i * (m + 1) + j], matrix[i * (m + 1) + j], term);
              }
            if (j == m)
              mpq_set (matrix[i * (m + 1) + j], z[i * (p + 1) + p]);
          }
      regular = eliminate (matrix, m);

      x = matrix_new (n, p, x_values);
      y = vector_new (n, y_values);
      g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
      g_assert_no_error (error);
      if (regular)
        g_assert_cmpint (apr_linear_regression_get_rank (model), ==, (int) m);
      else
        g_assert_cmpint (apr_linear_regression_get_rank (model), <, (int) m);

      n_compared += regular ? 1 : 0;
      for (j = 0; j < p && regular; j++)
        {
          mpq_set_ui (mean, 0, 1);
          for (i = 0; i < m; i++)
            {
              mpq_div (term, matrix[i * (m + 1) + m], matrix[i * (m + 1) + i]);
              mpq_mul (term, term, z[i * (p + 1) + j]);
              mpq_add (mean, mean, term);
            }
          assert_same_double (element (coefficients_of (model), j),
                              apr_round_rational (mpq_numref (mean), mpq_denref (mean), 0, APR_DTYPE_F64));
        }

      mpq_clears (mean, term, NULL);
      for (i = 0; i < n * (p + 1); i++)
        mpq_clear (z[i]);
      for (i = 0; i < m * (m + 1); i++)
        mpq_clear (matrix[i]);
    }
  g_assert_cmpuint (n_compared, >, 300);
}

/* Features that have nothing to do with each other: the first one's product with y is -1, and that of the second,
 * which is of another scale, 3. */
static void
test_minus_one (void)
{
  const gsize counts[] = { 2, 33 };
  int exponent;
  gsize i;
  gsize j;

  g_test_summary (
    "-1 in units of the products, which is all sign, beside a product of a feature of another scale.");

  for (exponent = 0; exponent < 54; exponent++)
    for (i = 0; i < G_N_ELEMENTS (counts); i++)
      {
        gsize p = counts[i];
        gsize n = p + 2;
        double unit = ldexp (1, exponent);
        g_autofree double *x_values = g_new0 (double, n *p);
        g_autofree double *y_values = g_new0 (double, n);
        g_autoptr (AprLinearRegression) model =
          g_object_new (APR_TYPE_LINEAR_REGRESSION, "fit-intercept", FALSE, NULL);
        g_autoptr (AprTensor) x = NULL;
        g_autoptr (AprTensor) y = NULL;
        g_autoptr (GError) error = NULL;
        mpz_t square;
        mpz_t other;
        mpz_t three;

        for (j = 0; j < p; j++)
          x_values[(j == 0 ? 0 : j + 2) * p + j] = j == 0 ? 1 : unit;
        x_values[p] = 1;
        x_values[2 * p + 1] = 3 - unit;
        y_values[0] = -1;
        y_values[2] = 1;
        y_values[3] = 1;
        x = matrix_new (n, p, x_values);
        y = vector_new (n, y_values);
        g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
        g_assert_no_error (error);

        mpz_init_set_d (square, unit);
        mpz_mul (square, square, square);
        mpz_init_set_d (other, 3 - unit);
        mpz_addmul (square, other, other);
        mpz_init_set_ui (three, 3);
        assert_same_double (element (coefficients_of (model), 1),
                            apr_round_rational (three, square, 0, APR_DTYPE_F64));
        mpz_clears (square, other, three, NULL);
        assert_same_double (element (coefficients_of (model), 0), -0.5);
        for (j = 2; j < p; j++)
          assert_same_double (element (coefficients_of (model), j), 0);
        g_assert_true (apr_linear_regression_get_correctly_rounded (model));
      }
}

static void
test_positive_too_small (void)
{
  const struct
  {
    AprDType dtype;
    int x_exponent;
    int y_exponent;
  } cases[] = { { APR_DTYPE_F32, 150, -10 }, { APR_DTYPE_F32, 10, -160 }, { APR_DTYPE_F64, 600, -480 } };
  gsize i;
  int sign;

  g_test_summary ("A coefficient that is too small for the dtype is no less below 0: then it is 0, and the "
                  "intercept the mean.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    for (sign = -1; sign <= 1; sign += 2)
      {
        double x_values[4];
        double y_values[4];
        g_autoptr (AprLinearRegression) model =
          g_object_new (APR_TYPE_LINEAR_REGRESSION, "positive", TRUE, "dtype", cases[i].dtype, NULL);
        g_autoptr (AprTensor) x = NULL;
        g_autoptr (AprTensor) y = NULL;
        g_autoptr (GError) error = NULL;
        double mean = sign * ldexp (10, cases[i].y_exponent);
        int j;

        for (j = 0; j < 4; j++)
          {
            x_values[j] = ldexp (j, cases[i].x_exponent);
            y_values[j] = sign * ldexp (4 * j + 4, cases[i].y_exponent);
          }
        x = matrix_new (4, 1, x_values);
        y = vector_new (4, y_values);
        g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
        g_assert_no_error (error);
        assert_same_double (element (coefficients_of (model), 0), 0);
        /* y is 4 where x is 0. */
        if (sign > 0)
          mean = ldexp (4, cases[i].y_exponent);
        if (cases[i].dtype == APR_DTYPE_F32)
          mean = (double) (float) mean;
        assert_same_double (element (intercept_of (model), 0) + 0.0, mean + 0.0);
        g_assert_true (apr_linear_regression_get_correctly_rounded (model));
      }
}

static void
test_nist (gconstpointer data)
{
  const NistSet *set = data;
  g_autofree char *exact_path = data_path ("nist" G_DIR_SEPARATOR_S "exact.csv");
  g_autofree char *exact = NULL;
  g_auto (GStrv) exact_lines = NULL;
  g_autoptr (AprLinearRegression) model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "fit-intercept", set->fit_intercept, NULL);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (GError) error = NULL;
  gsize n_features;
  gsize n_found = 0;
  gsize i;

  g_file_get_contents (exact_path, &exact, NULL, &error);
  g_assert_no_error (error);
  nist_load (set, &x, &y);
  n_features = apr_tensor_get_shape (x, NULL)[1];
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpint (apr_linear_regression_get_rank (model), ==, (int) n_features);

  exact_lines = g_strsplit (g_strstrip (exact), "\n", -1);
  for (i = 1; exact_lines[i] != NULL; i++)
    {
      g_auto (GStrv) cells = g_strsplit (exact_lines[i], ",", -1);
      guint index = (guint) atoi (cells[1] + 1);

      if (strcmp (cells[0], set->name) != 0)
        continue;
      n_found++;
      assert_same_double (index == 0 ? element (intercept_of (model), 0)
                                     : element (coefficients_of (model), index - 1),
                          g_ascii_strtod (cells[2], NULL));
    }
  g_assert_cmpuint (n_found, ==, n_features + (set->fit_intercept ? 1 : 0));
}

int
main (int argc, char *argv[])
{
  gsize i;

  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/exact-answers/minimum-norm", test_minimum_norm);
  g_test_add_func ("/exact-answers/minus-one", test_minus_one);
  g_test_add_func ("/exact-answers/positive-too-small", test_positive_too_small);
  for (i = 0; i < G_N_ELEMENTS (nist_sets); i++)
    {
      g_autofree char *path = g_strconcat ("/exact-answers/nist/", nist_sets[i].name, NULL);

      g_test_add_data_func (path, &nist_sets[i], test_nist);
    }

  return g_test_run ();
}
