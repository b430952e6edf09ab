/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/rational.h"

#include <stdlib.h>

#include "aprender/least-squares/apr-rounding-private.h"

/* Coefficients against the exact answer, found by elimination in rational numbers: not a digit less will do. */

#define N_PROBLEMS 1500

typedef struct
{
  gsize n_rows;
  gsize n_features;
  gboolean fit_intercept;
  gboolean weighted;
  AprDType dtype;
  double *x;
  double *y;
  double *weights;
} Problem;

static void
problem_free (Problem *problem)
{
  g_free (problem->x);
  g_free (problem->y);
  g_free (problem->weights);
  g_free (problem);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Problem, problem_free)

static Problem *
problem_new (GRand *rand)
{
  Problem *problem = g_new0 (Problem, 1);
  int kind = g_rand_int_range (rand, 0, 8);
  double shift = pow (10, g_rand_int_range (rand, 0, 9));
  gsize p;
  gsize i;
  gsize j;

  problem->n_features = p = (gsize) g_rand_int_range (rand, 1, 5);
  problem->n_rows = p + (gsize) g_rand_int_range (rand, 2, 9);
  problem->fit_intercept = g_rand_int_range (rand, 0, 3) != 0;
  problem->weighted = g_rand_int_range (rand, 0, 3) == 0;
  problem->dtype = g_rand_int_range (rand, 0, 4) == 0 ? APR_DTYPE_F32 : APR_DTYPE_F64;
  problem->x = g_new (double, problem->n_rows *p);
  problem->y = g_new (double, problem->n_rows);
  problem->weights = g_new (double, problem->n_rows);

  for (i = 0; i < problem->n_rows; i++)
    {
      double *x = problem->x + i * p;
      double t = g_rand_double_range (rand, -1, 1);
      double sum = 0;

      for (j = 0; j < p; j++)
        switch (kind)
          {
          case 0: /* whole numbers far from zero */
            x[j] = shift + g_rand_int_range (rand, -3, 4);
            break;
          case 1: /* indicators: many answers are exactly zero, or ratios of small numbers */
            x[j] = g_rand_int_range (rand, 0, 2);
            break;
          case 2: /* powers of one variable */
            x[j] = pow (t, (double) (j + 1));
            break;
          case 3: /* nearly the same columns */
            x[j] = t + 1e-6 * normal (rand);
            break;
          case 4: /* every scale at once */
            x[j] = ldexp (normal (rand), (int) (j * 97) - 150);
            break;
          case 6: /* rows of every size, and columns that are nearly the same in the greatest of them */
            x[j] = pow (10, (double) ((i * 7) % 21) - 10) * (t + pow (10, -(double) (i % 9)) * normal (rand));
            break;
          case 5: /* small whole numbers, balanced */
            x[j] = (double) ((i >> j) & 1) * 2 - 1;
            break;
          default:
            x[j] = normal (rand) * shift;
            break;
          }
      for (j = 0; j < p; j++)
        sum += x[j] * (double) (j + 1);
      problem->y[i] = g_rand_boolean (rand) && kind != 4 ? (double) g_rand_int_range (rand, -9, 10) : sum;
      if (g_rand_int_range (rand, 0, 4) == 0)
        problem->y[i] = normal (rand);
      problem->weights[i] =
        g_rand_boolean (rand) ? (double) g_rand_int_range (rand, 0, 4) : fabs (normal (rand));
    }

  return problem;
}

/* The exact answer, intercept first; false where there is not just one. */
static gboolean
solve_rational (const Problem *problem, double *answers)
{
  gsize first = problem->fit_intercept ? 0 : 1;
  gsize m = problem->n_features + 1 - first;
  gsize width = m + 1;
  g_autofree mpq_t *matrix = g_new (mpq_t, m * width);
  gboolean regular;
  mpq_t factor;
  mpq_t term;
  gsize i;
  gsize j;
  gsize row;

  mpq_inits (factor, term, NULL);
  for (i = 0; i < m * width; i++)
    mpq_init (matrix[i]);

#define Z(column)     \
 ((column) == m       \
    ? problem->y[row] \
    : ((column) + first == 0 ? 1.0 : problem->x[row * problem->n_features + (column) + first - 1]))
  for (row = 0; row < problem->n_rows; row++)
    for (i = 0; i < m; i++)
      for (j = 0; j < width; j++)
        {
          mpq_set_d (term, Z (i));
          mpq_set_d (factor, Z (j));
          mpq_mul (term, term, factor);
          if (problem->weighted)
            {
              mpq_set_d (factor, problem->weights[row]);
              mpq_mul (term, term, factor);
            }
          mpq_add (matrix[i * width + j], matrix[i * width + j], term);
        }
#undef Z

  regular = eliminate (matrix, m);

  for (i = 0; i < m && regular; i++)
    {
      mpq_div (term, matrix[i * width + m], matrix[i * width + i]);
      answers[i + first] = apr_round_rational (mpq_numref (term), mpq_denref (term), 0, problem->dtype);
    }

  mpq_clears (factor, term, NULL);
  for (i = 0; i < m * width; i++)
    mpq_clear (matrix[i]);
  return regular;
}

static void
test_random_problems (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (20);
  gsize n_compared = 0;
  gsize n_ill = 0;
  int round;

  for (round = 0; round < N_PROBLEMS; round++)
    {
      g_autoptr (Problem) problem = problem_new (rand);
      g_autoptr (AprLinearRegression) model = g_object_new (
        APR_TYPE_LINEAR_REGRESSION, "fit-intercept", problem->fit_intercept, "dtype", problem->dtype, NULL);
      g_autoptr (AprTensor) x = matrix_new (problem->n_rows, problem->n_features, problem->x);
      g_autoptr (AprTensor) y = vector_new (problem->n_rows, problem->y);
      g_autoptr (AprTensor) w = problem->weighted ? vector_new (problem->n_rows, problem->weights) : NULL;
      g_autoptr (GError) error = NULL;
      double answers[8] = { 0 };
      gsize i;

      if (!solve_rational (problem, answers))
        continue;
      for (i = 0; i <= problem->n_features; i++)
        if (!isfinite (answers[i]))
          break;

      if (!apr_estimator_fit (APR_ESTIMATOR (model), x, y, w, NULL, &error))
        {
          g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
          g_assert_cmpuint (i, <=, problem->n_features);
          continue;
        }

      /* The documented rule may call ill what the exact arithmetic can still tell apart. */
      if (apr_linear_regression_get_rank (model) < (int) problem->n_features)
        {
          n_ill++;
          continue;
        }

      n_compared++;
      for (i = 0; i < problem->n_features; i++)
        assert_same_double (element (apr_linear_regression_get_coefficients (model), i), answers[i + 1]);
      assert_same_double (element (apr_linear_regression_get_intercept (model), 0), answers[0]);
    }

  g_test_message ("%" G_GSIZE_FORMAT " problems compared, %" G_GSIZE_FORMAT " of lower rank", n_compared,
                  n_ill);
  g_assert_cmpuint (n_compared, >, 1000);
}

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
          assert_same_double (element (apr_linear_regression_get_coefficients (model), j),
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

/* Features that have nothing to do with each other: the first one's product with y is -1, and that of the second, which is of
 * another scale, 3. */
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
        assert_same_double (element (apr_linear_regression_get_coefficients (model), 1),
                            apr_round_rational (three, square, 0, APR_DTYPE_F64));
        mpz_clears (square, other, three, NULL);
        assert_same_double (element (apr_linear_regression_get_coefficients (model), 0), -0.5);
        for (j = 2; j < p; j++)
          assert_same_double (element (apr_linear_regression_get_coefficients (model), j), 0);
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
        assert_same_double (element (apr_linear_regression_get_coefficients (model), 0), 0);
        /* y is 4 where x is 0. */
        if (sign > 0)
          mean = ldexp (4, cases[i].y_exponent);
        if (cases[i].dtype == APR_DTYPE_F32)
          mean = (double) (float) mean;
        assert_same_double (element (apr_linear_regression_get_intercept (model), 0) + 0.0, mean + 0.0);
        g_assert_true (apr_linear_regression_get_correctly_rounded (model));
      }
}

typedef struct
{
  const char *name;
  gsize degree;
  gboolean fit_intercept;
} Set;

static void
test_nist (gconstpointer data)
{
  const Set *set = data;
  g_autofree char *file = g_strconcat ("nist", G_DIR_SEPARATOR_S, set->name, ".csv", NULL);
  g_autofree char *path = data_path (file);
  g_autofree char *exact_path = data_path ("nist" G_DIR_SEPARATOR_S "exact.csv");
  g_autofree char *text = NULL;
  g_autofree char *exact = NULL;
  g_auto (GStrv) lines = NULL;
  g_auto (GStrv) exact_lines = NULL;
  g_autoptr (GArray) x_values = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) y_values = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (AprLinearRegression) model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "fit-intercept", set->fit_intercept, NULL);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (GError) error = NULL;
  gsize n_features;
  gsize n_found = 0;
  gsize i;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  g_file_get_contents (exact_path, &exact, NULL, &error);
  g_assert_no_error (error);

  lines = g_strsplit (g_strstrip (text), "\n", -1);
  for (i = 1; lines[i] != NULL; i++)
    {
      g_auto (GStrv) cells = g_strsplit (lines[i], ",", -1);
      double value = g_ascii_strtod (cells[0], NULL);
      double power;
      gsize j;

      g_array_append_val (y_values, value);
      for (j = 1; cells[j] != NULL; j++)
        {
          value = g_ascii_strtod (cells[j], NULL);
          g_array_append_val (x_values, value);
        }
      for (j = 1, power = value; j < set->degree; j++)
        {
          power *= value;
          g_array_append_val (x_values, power);
        }
    }

  n_features = x_values->len / y_values->len;
  x = matrix_new (y_values->len, n_features, (const double *) (gpointer) x_values->data);
  y = vector_new (y_values->len, (const double *) (gpointer) y_values->data);
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
      assert_same_double (index == 0 ? element (apr_linear_regression_get_intercept (model), 0)
                                     : element (apr_linear_regression_get_coefficients (model), index - 1),
                          g_ascii_strtod (cells[2], NULL));
    }
  g_assert_cmpuint (n_found, ==, n_features + (set->fit_intercept ? 1 : 0));
}

int
main (int argc, char *argv[])
{
  const Set sets[] = {
    { "norris", 1, TRUE },   { "longley", 1, TRUE },  { "noint1", 1, FALSE },  { "filip", 10, TRUE },
    { "wampler1", 5, TRUE }, { "wampler2", 5, TRUE }, { "wampler3", 5, TRUE }, { "wampler4", 5, TRUE },
  };
  gsize i;

  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/exact-answers/random-problems", test_random_problems);
  g_test_add_func ("/exact-answers/minimum-norm", test_minimum_norm);
  g_test_add_func ("/exact-answers/minus-one", test_minus_one);
  g_test_add_func ("/exact-answers/positive-too-small", test_positive_too_small);
  for (i = 0; i < G_N_ELEMENTS (sets); i++)
    {
      g_autofree char *path = g_strconcat ("/exact-answers/nist/", sets[i].name, NULL);

      g_test_add_data_func (path, &sets[i], test_nist);
    }

  return g_test_run ();
}
