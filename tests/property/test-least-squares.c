/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"

#include <stdlib.h>

#include "aprender/least-squares/apr-rounding-private.h"

/* The exact answer for the features in @mask, intercept first; false where there is not just one, or, where signs
 * matter, it is not the one that is wanted: none below 0, and none above 0 if it were let in. @strict says whether
 * all others are below 0. */
static gboolean
solve_rational (const Data *data,
                gboolean fit_intercept,
                double alpha,
                guint mask,
                gboolean positive,
                AprDType dtype,
                double *answers,
                gboolean *strict)
{
  gsize p = data->n_features;
  gsize columns[32];
  gsize m = 0;
  g_autofree mpq_t *matrix = NULL;
  gboolean right;
  mpq_t gradient;
  mpq_t term;
  gsize i;
  gsize j;

  if (fit_intercept)
    columns[m++] = 0;
  for (i = 0; i < p; i++)
    if ((mask >> i & 1) != 0)
      columns[m++] = 1 + i;
  columns[m] = 1 + p;
  matrix = g_new (mpq_t, m * (m + 1) + 1);
  for (i = 0; i < m; i++)
    for (j = 0; j <= m; j++)
      {
        mpq_init (matrix[i * (m + 1) + j]);
        get_product (data, columns[i], columns[j], alpha, matrix[i * (m + 1) + j]);
      }
  mpq_inits (gradient, term, NULL);

  right = eliminate (matrix, m);
  for (i = 0; i <= p; i++)
    answers[i] = 0;
  for (i = 0; i < m && right; i++)
    {
      mpq_t *value = &matrix[i * (m + 1) + m];

      mpq_div (*value, *value, matrix[i * (m + 1) + i]);
      right = !positive || columns[i] == 0 || mpq_sgn (*value) >= 0;
      answers[columns[i]] = apr_round_rational (mpq_numref (*value), mpq_denref (*value), 0, dtype);
    }
  if (strict != NULL)
    *strict = TRUE;
  for (i = 1; i <= p && positive && right; i++)
    if ((mask >> (i - 1) & 1) == 0)
      {
        get_product (data, i, 1 + p, 0, gradient);
        for (j = 0; j < m; j++)
          {
            get_product (data, i, columns[j], alpha, term);
            mpq_mul (term, term, matrix[j * (m + 1) + m]);
            mpq_sub (gradient, gradient, term);
          }
        right = mpq_sgn (gradient) <= 0;
        if (mpq_sgn (gradient) == 0)
          *strict = FALSE;
      }

  mpq_clears (gradient, term, NULL);
  for (i = 0; i < m * (m + 1); i++)
    mpq_clear (matrix[i]);
  return right;
}

static void
assert_answers (const AprLeastSquares *answer, gsize p, const double *expected)
{
  gsize i;

  for (i = 0; i < p; i++)
    assert_same_double (answer->coefficients[i] + 0.0, expected[1 + i] + 0.0);
  assert_same_double (answer->intercepts[0] + 0.0, expected[0] + 0.0);
}

static void
test_alpha_exact (void)
{
  const double alphas[] = { 1, 0.1, 1e-3, 1e-9, 1e5, 1e-30, 1e-300, 3 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (30);
  int round;

  g_test_summary ("With a penalty there is one answer, whatever the features: the nearest numbers to it.");

  for (round = 0; round < 400; round++)
    {
      g_auto (Data) data = { 0 };
      g_auto (AprLeastSquares) answer = { NULL };
      double alpha = alphas[g_rand_int_range (rand, 0, G_N_ELEMENTS (alphas))];
      gboolean fit_intercept = g_rand_boolean (rand);
      AprDType dtype = g_rand_int_range (rand, 0, 4) == 0 ? APR_DTYPE_F32 : APR_DTYPE_F64;
      gsize p = (gsize) g_rand_int_range (rand, 1, 7);
      double expected[16];

      data_init_random (&data, rand, (gsize) g_rand_int_range (rand, 1, 12), p);
      g_assert_true (
        solve_rational (&data, fit_intercept, alpha, (1u << p) - 1, FALSE, dtype, expected, NULL));
      solve (&answer, &data,
             (AprLeastSquaresOptions){ .fit_intercept = fit_intercept, .alpha = alpha, .dtype = dtype });
      g_assert_true (answer.correctly_rounded);
      g_assert_cmpuint (answer.rank, ==, p);
      g_assert_cmpuint (answer.n_dependent, ==, 0);
      assert_answers (&answer, p, expected);
    }
}

/* A penalty beside features that are far larger or smaller: the zero of the first coefficient is told so well that
 * its product with a mean of 1e100 leaves the intercept alone, and what is far below the other coefficient
 * is not lost. */
static void
test_alpha_scales (void)
{
  const struct
  {
    double scale;
    double second; /* of the first feature, in that scale */
  } sets[] = { { 1e100, 1 }, { 1e300, 1 }, { 1e100, 2 }, { 1e-300, 2 } };
  const double other[] = { 1, 2, 4 };
  gsize i;
  gsize k;

  for (k = 0; k < G_N_ELEMENTS (sets); k++)
    {
      g_auto (Data) data = { 0 };
      g_auto (AprLeastSquares) answer = { NULL };
      double expected[3];

      data_init (&data, 3, 2, FALSE);
      for (i = 0; i < 3; i++)
        {
          data.x[i * 2] = sets[k].scale * (i == 1 ? sets[k].second : 1);
          data.x[i * 2 + 1] = other[i];
          data.y[i] = (double) i + 1;
        }
      g_assert_true (solve_rational (&data, TRUE, 1, 3, FALSE, APR_DTYPE_F64, expected, NULL));
      solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = TRUE, .alpha = 1 });
      assert_answers (&answer, 2, expected);
      g_assert_true (answer.correctly_rounded);
    }
}

/* The laws by which scikit-learn's tests know ridge regression. */
static void
test_alpha_laws (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (31);
  int round;

  for (round = 0; round < 40; round++)
    {
      g_auto (Data) data = { 0 };
      g_auto (Data) beside = { 0 };
      g_auto (Data) below = { 0 };
      g_auto (AprLeastSquares) answer = { NULL };
      g_auto (AprLeastSquares) answer_beside = { NULL };
      g_auto (AprLeastSquares) answer_below = { NULL };
      g_auto (AprLeastSquares) plain = { NULL };
      g_auto (AprLeastSquares) limit = { NULL };
      gsize p = 1 + (gsize) round % 5;
      gsize n = round % 2 == 0 ? 12 : 4;
      gsize i;
      gsize j;

      data_init (&data, n, p, FALSE);
      data_init (&beside, n, 2 * p, FALSE);
      data_init (&below, 2 * n, p, FALSE);
      for (i = 0; i < n; i++)
        {
          for (j = 0; j < p; j++)
            {
              double value = normal (rand);

              data.x[i * p + j] = below.x[i * p + j] = below.x[(n + i) * p + j] = value;
              beside.x[i * 2 * p + j] = beside.x[i * 2 * p + p + j] = value / 2;
            }
          data.y[i] = beside.y[i] = below.y[i] = below.y[n + i] = normal (rand);
        }

      solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = TRUE, .alpha = 0.5 });
      solve (&answer_beside, &beside, (AprLeastSquaresOptions){ .fit_intercept = TRUE, .alpha = 0.25 });
      solve (&answer_below, &below, (AprLeastSquaresOptions){ .fit_intercept = TRUE, .alpha = 1 });
      for (j = 0; j < p; j++)
        {
          assert_same_double (answer_below.coefficients[j], answer.coefficients[j]);
          assert_same_double (answer_beside.coefficients[j], answer.coefficients[j]);
          assert_same_double (answer_beside.coefficients[p + j], answer.coefficients[j]);
        }
      assert_same_double (answer_below.intercepts[0], answer.intercepts[0]);
      assert_same_double (answer_beside.intercepts[0], answer.intercepts[0]);

      /* Towards no penalty: the answer of least norm, also with fewer samples than features. */
      solve (&plain, &data, (AprLeastSquaresOptions){ .fit_intercept = TRUE });
      solve (&limit, &data, (AprLeastSquaresOptions){ .fit_intercept = TRUE, .alpha = 1e-25 });
      for (j = 0; j < p; j++)
        assert_same_double (limit.coefficients[j], plain.coefficients[j]);
    }
}

static void
test_non_negative (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (32);
  gsize n_proven = 0;
  gsize n_bound = 0;
  int round;

  g_test_summary (
    "Of all sets of features, the one whose exact answer has the signs that prove it the least.");

  for (round = 0; round < 400; round++)
    {
      g_auto (Data) data = { 0 };
      g_auto (AprLeastSquares) answer = { NULL };
      double alpha = g_rand_int_range (rand, 0, 3) == 0 ? 0.5 : 0;
      gboolean fit_intercept = g_rand_boolean (rand);
      gsize p = (gsize) g_rand_int_range (rand, 1, 6);
      double expected[16];
      double residual = 0;
      gboolean found = FALSE;
      gboolean strict = FALSE;
      guint mask;
      gsize i;

      data_init_random (&data, rand, (gsize) g_rand_int_range (rand, 2, 14), p);
      solve (&answer, &data,
             (AprLeastSquaresOptions){ .fit_intercept = fit_intercept, .alpha = alpha, .positive = TRUE });
      for (i = 0; i < p; i++)
        g_assert_cmpfloat (answer.coefficients[i], >=, 0);

      for (mask = 0; mask < 1u << p && !found; mask++)
        found = solve_rational (&data, fit_intercept, alpha, mask, TRUE, APR_DTYPE_F64, expected, &strict);
      g_assert_true (found);
      if (strict && answer.rank == p)
        {
          g_assert_true (answer.correctly_rounded);
          assert_answers (&answer, p, expected);
          n_proven++;
          n_bound += mask < 1u << p ? 1 : 0;
        }

      /* As good as the best, where there is more than one. */
      for (i = 0; i < data.n_rows; i++)
        {
          double best = data.y[i] - expected[0];
          double got = data.y[i] - answer.intercepts[0];
          double w = data.weights != NULL ? data.weights[i] : 1;
          gsize j;

          for (j = 0; j < p; j++)
            {
              best -= data.x[i * p + j] * expected[1 + j];
              got -= data.x[i * p + j] * answer.coefficients[j];
            }
          residual += w * (got * got - best * best);
        }
      if (alpha == 0)
        g_assert_cmpfloat (residual, <, 1e-6);
    }

  g_test_message ("%" G_GSIZE_FORMAT " proven, %" G_GSIZE_FORMAT " with a bound", n_proven, n_bound);
  g_assert_cmpuint (n_proven, >, 200);
  g_assert_cmpuint (n_bound, >, 100);
}

/* Where the truth is positive the constraint changes nothing, and where it is not it does. */
static void
test_non_negative_laws (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (33);
  g_auto (Data) data = { 0 };
  g_auto (AprLeastSquares) free_answer = { NULL };
  g_auto (AprLeastSquares) answer = { NULL };
  g_auto (AprLeastSquares) other = { NULL };
  gsize n = 300;
  gsize p = 60;
  gsize i;
  gsize j;

  data_init (&data, n, p, FALSE);
  for (i = 0; i < n; i++)
    for (j = 0; j < p; j++)
      {
        data.x[i * p + j] = normal (rand);
        data.y[i] += data.x[i * p + j] * (double) (1 + j % 5);
      }
  solve (&free_answer, &data, (AprLeastSquaresOptions){ .fit_intercept = TRUE });
  solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = TRUE, .positive = TRUE });
  for (j = 0; j < p; j++)
    assert_same_double (answer.coefficients[j], free_answer.coefficients[j]);

  for (i = 0; i < n; i++)
    data.y[i] = normal (rand);
  solve (&other, &data, (AprLeastSquaresOptions){ .fit_intercept = TRUE, .positive = TRUE });
  g_assert_true (other.correctly_rounded);

  /* The gradient of what is 0 is below 0, and that of the rest is 0, up to the rounding of this check. */
  for (j = 0; j < p; j++)
    {
      double gradient = 0;

      for (i = 0; i < n; i++)
        {
          double rest = data.y[i] - other.intercepts[0];
          gsize k;

          for (k = 0; k < p; k++)
            rest -= data.x[i * p + k] * other.coefficients[k];
          gradient += rest * data.x[i * p + j];
        }
      g_assert_cmpfloat (other.coefficients[j], >=, 0);
      g_assert_cmpfloat (gradient, <, 1e-10);
      g_assert_true (other.coefficients[j] == 0 || fabs (gradient) < 1e-10);
    }
}

static void
test_dependent (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (35);
  g_auto (Data) data = { 0 };
  g_auto (AprLeastSquares) answer = { NULL };
  const gsize dependent[] = { 2, 3, 6 };
  gsize i;

  g_test_summary (
    "A constant column, a copy, and a sum of columns after it; the last of each is the dependent one.");

  data_init (&data, 40, 7, FALSE);
  for (i = 0; i < data.n_rows; i++)
    {
      double *row = data.x + i * 7;

      row[0] = (double) g_rand_int_range (rand, -50, 50);
      row[1] = (double) g_rand_int_range (rand, -50, 50);
      row[2] = 7;
      row[3] = row[0];
      row[4] = (double) g_rand_int_range (rand, -50, 50) + row[1];
      row[5] = (double) g_rand_int_range (rand, -50, 50);
      row[6] = row[5] - 3 * row[4];
      data.y[i] = normal (rand);
    }
  solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = TRUE });
  g_assert_cmpuint (answer.rank, ==, 4);
  g_assert_cmpmem (answer.dependent, answer.n_dependent * sizeof (gsize), dependent, sizeof dependent);
  g_assert_true (answer.correctly_rounded);
  g_assert_true (isinf (find_condition (&data, (AprLeastSquaresOptions){ .fit_intercept = TRUE })));
  assert_same_double (answer.coefficients[0], answer.coefficients[3]);
  assert_same_double (answer.coefficients[2], 0.0);
}

/* What rounding leaves of a column that depends on others is no column where the sums are known to be rounded. */
static void
test_rounded_sums (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (36);
  g_auto (Data) data = { 0 };
  g_auto (AprLeastSquares) exact = { NULL };
  g_auto (AprLeastSquares) rounded = { NULL };
  g_auto (AprLeastSquares) penalised = { NULL };
  g_auto (AprLeastSquares) impossible = { NULL };
  g_autoptr (AprExactSums) sums = NULL;
  g_autoptr (GError) error = NULL;
  AprLeastSquaresOptions options = { .fit_intercept = TRUE,
                                     .data_dtype = APR_DTYPE_F64,
                                     .dtype = APR_DTYPE_F64 };
  gsize i;

  data_init (&data, 50, 3, FALSE);
  for (i = 0; i < data.n_rows; i++)
    {
      data.x[i * 3] = (double) g_rand_int_range (rand, -99, 100);
      data.x[i * 3 + 1] = (double) g_rand_int_range (rand, -99, 100);
      data.x[i * 3 + 2] = data.x[i * 3] + data.x[i * 3 + 1];
      data.y[i] = data.x[i * 3] - data.x[i * 3 + 1] + normal (rand);
    }
  sums = sum (&data);

  /* The last column's square, entry (3, 3), becomes greater by 2^-51 of itself. */
  g_assert_true (apr_exact_sums_cover (sums, -51 + 18, -51 + 18, 1, NULL, &error));
  apr_exact_sums_add_term (sums, 9, 1, -51 + 18);
  apr_exact_sums_carry (sums, 0, 4);
  g_assert_true (apr_least_squares_solve (&exact, sums, &options, &(AprRun){ 0 }, &error));
  g_assert_cmpuint (exact.rank, ==, 3);
  g_assert_true (exact.correctly_rounded);

  options.rounded = TRUE;
  g_assert_true (apr_least_squares_solve (&rounded, sums, &options, &(AprRun){ 0 }, &error));
  g_assert_cmpuint (rounded.rank, ==, 2);
  g_assert_false (rounded.correctly_rounded);
  g_assert_cmpfloat_with_epsilon (rounded.coefficients[0] + rounded.coefficients[1], rounded.coefficients[2],
                                  1e-9);

  /* Nor is it one with a penalty that is far below the rounding, or where rounding took more than was left. */
  apr_exact_sums_add_term (sums, 9, -3, -51 + 18);
  apr_exact_sums_carry (sums, 0, 4);
  options.alpha = 1e-30;
  g_assert_true (apr_least_squares_solve (&penalised, sums, &options, &(AprRun){ 0 }, &error));
  g_assert_no_error (error);
  for (i = 0; i < 3; i++)
    g_assert_cmpfloat_with_epsilon (penalised.coefficients[i], rounded.coefficients[i], 1e-9);

  /* Sums that were not rounded cannot be so. */
  options.rounded = FALSE;
  g_assert_false (apr_least_squares_solve (&impossible, sums, &options, &(AprRun){ 0 }, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
}

/* More features than the random problems of test-exact-answers have: full rank, and copies that share a coefficient. */
static void
test_wider (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (37);
  int round;

  for (round = 0; round < 12; round++)
    {
      g_auto (Data) data = { 0 };
      g_auto (Data) doubled = { 0 };
      g_auto (AprLeastSquares) answer = { NULL };
      g_auto (AprLeastSquares) shared = { NULL };
      gsize p = 15;
      gsize n = 60;
      double expected[32];
      double mixing = pow (10, -(double) (round % 6));
      gsize i;
      gsize j;

      data_init (&data, n, p, round % 3 == 0);
      data_init (&doubled, n, 2 * p, round % 3 == 0);
      for (i = 0; i < n; i++)
        {
          double common = normal (rand);

          for (j = 0; j < p; j++)
            {
              data.x[i * p + j] =
                (common + mixing * normal (rand)) * ldexp (1, (int) (j * 3)) + (double) round;
              doubled.x[i * 2 * p + j] = doubled.x[i * 2 * p + p + j] = data.x[i * p + j];
            }
          data.y[i] = doubled.y[i] = normal (rand);
          if (data.weights != NULL)
            data.weights[i] = doubled.weights[i] = g_rand_double (rand);
        }
      g_assert_true (solve_rational (&data, TRUE, 0, (1u << p) - 1, FALSE, APR_DTYPE_F64, expected, NULL));
      solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = TRUE });
      g_assert_true (answer.correctly_rounded);
      assert_answers (&answer, p, expected);

      solve (&shared, &doubled, (AprLeastSquaresOptions){ .fit_intercept = TRUE });
      g_assert_cmpuint (shared.rank, ==, p);
      g_assert_cmpuint (shared.n_dependent, ==, p);
      for (j = 0; j < p; j++)
        {
          assert_same_double (shared.coefficients[j], expected[1 + j] / 2);
          assert_same_double (shared.coefficients[p + j], expected[1 + j] / 2);
        }
      assert_same_double (shared.intercepts[0], expected[0]);
    }
}

/* The number of threads does not show. */
static void
test_threads (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (38);
  const gsize n_rows[] = { 150, 40 };
  gsize k;

  for (k = 0; k < G_N_ELEMENTS (n_rows); k++)
    {
      g_auto (Data) data = { 0 };
      g_auto (AprLeastSquares) one = { NULL };
      g_auto (AprLeastSquares) seven = { NULL };
      gsize i;

      data_init (&data, n_rows[k], 70, FALSE);
      for (i = 0; i < data.n_rows * 70; i++)
        data.x[i] = normal (rand);
      for (i = 0; i < data.n_rows; i++)
        data.y[i] = normal (rand);
      solve_in_threads (&one, &data, (AprLeastSquaresOptions){ .fit_intercept = TRUE }, 1);
      solve_in_threads (&seven, &data, (AprLeastSquaresOptions){ .fit_intercept = TRUE }, 7);
      g_assert_true (one.correctly_rounded);
      g_assert_cmpuint (one.rank, ==, MIN (70, n_rows[k] - 1));
      for (i = 0; i < 70; i++)
        assert_same_double (one.coefficients[i], seven.coefficients[i]);
      assert_same_double (one.intercepts[0], seven.intercepts[0]);
      assert_same_double (
        find_condition_in_threads (&data, (AprLeastSquaresOptions){ .fit_intercept = TRUE }, 1),
        find_condition_in_threads (&data, (AprLeastSquaresOptions){ .fit_intercept = TRUE }, 7));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/least-squares/alpha/exact", test_alpha_exact);
  g_test_add_func ("/least-squares/alpha/scales", test_alpha_scales);
  g_test_add_func ("/least-squares/alpha/laws", test_alpha_laws);
  g_test_add_func ("/least-squares/non-negative/exact", test_non_negative);
  g_test_add_func ("/least-squares/non-negative/laws", test_non_negative_laws);
  g_test_add_func ("/least-squares/dependent", test_dependent);
  g_test_add_func ("/least-squares/rounded-sums", test_rounded_sums);
  g_test_add_func ("/least-squares/wider", test_wider);
  g_test_add_func ("/least-squares/threads", test_threads);

  return g_test_run ();
}
