/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>
#include <stdlib.h>

/*
 * What must hold between fits of different data, whatever the data are: what is known of one answer from another. Equal
 * means equal bits, unless it says otherwise. The seed is printed; APRENDER_SEED sets another one.
 */

#define N_ROUNDS 200

typedef struct
{
  gsize n_rows;
  gsize n_features;
  gsize n_targets;
  double *x;
  double *y;
  double *weights; /* (nullable) */
} Samples;

static Samples *
samples_new (gsize n_rows, gsize n_features, gsize n_targets)
{
  Samples *samples = g_new0 (Samples, 1);

  samples->n_rows = n_rows;
  samples->n_features = n_features;
  samples->n_targets = n_targets;
  samples->x = g_new0 (double, n_rows *n_features);
  samples->y = g_new0 (double, n_rows *n_targets);

  return samples;
}

static void
samples_free (Samples *samples)
{
  g_free (samples->x);
  g_free (samples->y);
  g_free (samples->weights);
  g_free (samples);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Samples, samples_free)

static GRand *
rand_new (void)
{
  const char *text = g_getenv ("APRENDER_SEED");
  guint32 seed = text != NULL ? (guint32) g_ascii_strtoull (text, NULL, 10) : 1;

  g_test_message ("APRENDER_SEED=%u", seed);
  return g_rand_new_with_seed (seed);
}

/* Whole numbers, numbers near each other, or numbers of all sizes. */
static Samples *
draw_samples (GRand *rand, gsize n_rows, gsize n_features, gsize n_targets)
{
  Samples *samples = samples_new (n_rows, n_features, n_targets);
  int kind = g_rand_int_range (rand, 0, 3);
  gsize i;

  for (i = 0; i < n_rows * n_features; i++)
    samples->x[i] = kind == 0 ? g_rand_int_range (rand, -9, 10)
                  : kind == 1 ? 2000 + g_rand_double (rand)
                              : ldexp (g_rand_double_range (rand, -1, 1), g_rand_int_range (rand, -9, 10));
  for (i = 0; i < n_rows * n_targets; i++)
    samples->y[i] = g_rand_double_range (rand, -5, 5);

  return samples;
}

/* The rows that @rows names, which may be named twice or not at all. */
static Samples *
take_rows (const Samples *samples, const gsize *rows, gsize n_rows)
{
  Samples *taken = samples_new (n_rows, samples->n_features, samples->n_targets);
  gsize i;

  for (i = 0; i < n_rows; i++)
    {
      memcpy (taken->x + i * samples->n_features, samples->x + rows[i] * samples->n_features,
              samples->n_features * sizeof (double));
      memcpy (taken->y + i * samples->n_targets, samples->y + rows[i] * samples->n_targets,
              samples->n_targets * sizeof (double));
    }

  return taken;
}

static void
make_tensors (const Samples *samples, AprTensor **x, AprTensor **y, AprTensor **w)
{
  *x = matrix_new (samples->n_rows, samples->n_features, samples->x);
  *y = matrix_new (samples->n_rows, samples->n_targets, samples->y);
  *w = samples->weights != NULL ? vector_new (samples->n_rows, samples->weights) : NULL;
}

static AprLinearRegression *
fit_as (const Samples *samples, gboolean fit_intercept, AprDType dtype)
{
  AprLinearRegression *model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "fit-intercept", fit_intercept, NULL);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) w = NULL;
  g_autoptr (AprTensor) cast_x = NULL;
  g_autoptr (AprTensor) cast_y = NULL;
  GError *error = NULL;

  make_tensors (samples, &x, &y, &w);
  cast_x = apr_tensor_cast (x, dtype, NULL);
  cast_y = apr_tensor_cast (y, dtype, NULL);
  apr_estimator_fit (APR_ESTIMATOR (model), cast_x, cast_y, w, NULL, &error);
  g_assert_no_error (error);

  return model;
}

static AprLinearRegression *
fit (const Samples *samples, gboolean fit_intercept)
{
  return fit_as (samples, fit_intercept, APR_DTYPE_F64);
}

static double
coefficient (AprLinearRegression *model, gsize index)
{
  return element (coefficients_of (model), index);
}

static double
intercept (AprLinearRegression *model, gsize target)
{
  return element (intercept_of (model), target);
}

static void
assert_same_models (AprLinearRegression *model, AprLinearRegression *other)
{
  gsize n = apr_tensor_get_n_elements (coefficients_of (model));
  gsize n_targets = apr_tensor_get_n_elements (intercept_of (model));
  gsize i;

  for (i = 0; i < n; i++)
    assert_same_double (coefficient (model, i), coefficient (other, i));
  for (i = 0; i < n_targets; i++)
    assert_same_double (intercept (model, i), intercept (other, i));
  g_assert_cmpint (apr_linear_regression_get_rank (model), ==, apr_linear_regression_get_rank (other));
}

static void
assert_close_models (AprLinearRegression *model, AprLinearRegression *other, double part)
{
  gsize n = apr_tensor_get_n_elements (coefficients_of (model));
  double greatest = 0;
  gsize i;

  for (i = 0; i < n; i++)
    greatest = MAX (greatest, fabs (coefficient (other, i)));
  for (i = 0; i < n; i++)
    g_assert_cmpfloat_with_epsilon (coefficient (model, i), coefficient (other, i), part * greatest);
}

static void
test_weights (void)
{
  /* Full rank, fewer samples than features, and as many: the last two leave no rank to spare. */
  const gsize shapes[][2] = { { 10, 5 }, { 10, 20 }, { 40, 40 } };
  g_autoptr (GRand) rand = rand_new ();
  gsize shape;
  gsize i;
  int kind;

  g_test_summary (
    "The laws that scikit-learn's test of the consistency of weights states (its issues 26164 and 30131).");
  for (shape = 0; shape < G_N_ELEMENTS (shapes); shape++)
    for (kind = 0; kind < 4; kind++)
      {
        gsize n = shapes[shape][0];
        gboolean with = kind % 2;
        AprDType dtype = kind < 2 ? APR_DTYPE_F64 : APR_DTYPE_F32;
        g_autoptr (Samples) samples = draw_samples (rand, n, shapes[shape][1], 1);
        g_autoptr (AprLinearRegression) plain = fit_as (samples, with, dtype);
        double *weights = samples->weights = g_new (double, n);
        g_autofree gsize *rows = g_new (gsize, 2 * n);
        gsize n_rows;

        for (i = 0; i < n; i++)
          weights[i] = 1;
        {
          g_autoptr (AprLinearRegression) model = fit_as (samples, with, dtype);

          assert_same_models (model, plain);
        }
        for (i = 0; i < n; i++)
          weights[i] = 0.7;
        {
          g_autoptr (AprLinearRegression) model = fit_as (samples, with, dtype);

          assert_same_models (model, plain);
        }

        /* Times a power of two, exactly; times pi, each product is rounded. */
        for (i = 0; i < n; i++)
          weights[i] = g_rand_double_range (rand, 1, 2);
        {
          g_autoptr (AprLinearRegression) model = fit_as (samples, with, dtype);
          g_autoptr (AprLinearRegression) scaled = NULL;
          g_autoptr (AprLinearRegression) times_pi = NULL;

          for (i = 0; i < n; i++)
            weights[i] *= 0x1p-300;
          scaled = fit_as (samples, with, dtype);
          assert_same_models (scaled, model);
          for (i = 0; i < n; i++)
            weights[i] *= 0x1p300 * G_PI;
          times_pi = fit_as (samples, with, dtype);
          assert_close_models (times_pi, model, dtype == APR_DTYPE_F64 ? 1e-9 : 1e-6);
        }

        /* Rows of weight 0, which are far off, are no rows, and rows of weight 2 are there twice. */
        for (i = n_rows = 0; i < n; i++)
          {
            weights[i] = (double) (i * 7 % 3);
            if (weights[i] == 0)
              samples->y[i] = 1e6;
            if (weights[i] > 0)
              rows[n_rows++] = i;
            if (weights[i] > 1)
              rows[n_rows++] = i;
          }
        {
          g_autoptr (Samples) repeated = take_rows (samples, rows, n_rows);
          g_autoptr (AprLinearRegression) model = fit_as (samples, with, dtype);
          g_autoptr (AprLinearRegression) expected = fit_as (repeated, with, dtype);

          assert_same_models (model, expected);
        }
      }
}

static void
test_rows_and_targets (void)
{
  g_autoptr (GRand) rand = rand_new ();
  gsize round;

  g_test_summary (
    "Neither the order of the rows, nor all of them twice, nor other targets change an answer.");
  for (round = 0; round < N_ROUNDS; round++)
    {
      gboolean with = round % 2;
      gsize n = (gsize) g_rand_int_range (rand, 1, 31);
      gsize p = (gsize) g_rand_int_range (rand, 1, 7);
      gsize n_targets = (gsize) g_rand_int_range (rand, 1, 4);
      g_autoptr (Samples) samples = draw_samples (rand, n, p, n_targets);
      g_autoptr (AprLinearRegression) model = fit (samples, with);
      g_autoptr (AprLinearRegression) again = fit (samples, with);
      g_autofree gsize *rows = g_new (gsize, 2 * n);
      gsize target;
      gsize i;

      assert_same_models (again, model);

      for (i = 0; i < 2 * n; i++)
        rows[i] = i % n;
      for (i = n - 1; i > 0; i--)
        {
          gsize other = (gsize) g_rand_int_range (rand, 0, (gint32) i + 1);
          gsize row = rows[i];

          rows[i] = rows[other];
          rows[other] = row;
        }
      {
        g_autoptr (Samples) shuffled = take_rows (samples, rows, n);
        g_autoptr (Samples) doubled = take_rows (samples, rows, 2 * n);
        g_autoptr (AprLinearRegression) from_shuffled = fit (shuffled, with);
        g_autoptr (AprLinearRegression) from_doubled = fit (doubled, with);

        assert_same_models (from_shuffled, model);
        assert_same_models (from_doubled, model);
      }

      for (target = 0; target < n_targets; target++)
        {
          g_autoptr (Samples) alone = samples_new (n, p, 1);
          g_autoptr (AprLinearRegression) from_alone = NULL;

          memcpy (alone->x, samples->x, n * p * sizeof (double));
          for (i = 0; i < n; i++)
            alone->y[i] = samples->y[i * n_targets + target];
          from_alone = fit (alone, with);
          for (i = 0; i < p; i++)
            assert_same_double (coefficient (model, target * p + i), coefficient (from_alone, i));
          assert_same_double (intercept (model, target), intercept (from_alone, 0));
        }
    }
}

static void
test_units (void)
{
  g_autoptr (GRand) rand = rand_new ();
  gsize round;

  g_test_summary (
    "A feature in other units, by a power of two, has a coefficient in other units; so has a target.");
  for (round = 0; round < N_ROUNDS; round++)
    {
      gsize n = (gsize) g_rand_int_range (rand, 8, 31);
      gsize p = (gsize) g_rand_int_range (rand, 1, 6);
      g_autoptr (Samples) samples = draw_samples (rand, n, p, 1);
      g_autoptr (AprLinearRegression) model = fit (samples, TRUE);
      g_autoptr (AprLinearRegression) scaled = NULL;
      int of_target = g_rand_int_range (rand, -300, 301);
      int of_features[5];
      gsize i;

      /* Where features depend on each other, their units decide which answer has the least norm. */
      if (apr_linear_regression_get_rank (model) < (gssize) p)
        continue;

      for (i = 0; i < p; i++)
        of_features[i] = round % 3 == 0 ? 500 : round % 3 == 1 ? -500 : g_rand_int_range (rand, -200, 201);
      for (i = 0; i < n * p; i++)
        samples->x[i] = ldexp (samples->x[i], of_features[i % p]);
      for (i = 0; i < n; i++)
        samples->y[i] = -ldexp (samples->y[i], of_target);
      scaled = fit (samples, TRUE);
      for (i = 0; i < p; i++)
        g_assert_cmpfloat (coefficient (scaled, i), ==,
                           -ldexp (coefficient (model, i), of_target - of_features[i]));
      g_assert_cmpfloat (intercept (scaled, 0), ==, -ldexp (intercept (model, 0), of_target));
    }
}

static void
test_order_of_features (void)
{
  g_autoptr (GRand) rand = rand_new ();
  gsize round;

  for (round = 0; round < N_ROUNDS; round++)
    {
      gsize n = (gsize) g_rand_int_range (rand, 8, 31);
      gsize p = (gsize) g_rand_int_range (rand, 2, 6);
      g_autoptr (Samples) samples = draw_samples (rand, n, p, 1);
      g_autoptr (Samples) reversed = samples_new (n, p, 1);
      g_autoptr (AprLinearRegression) model = fit (samples, round % 2);
      g_autoptr (AprLinearRegression) other = NULL;
      gsize i;

      memcpy (reversed->y, samples->y, n * sizeof (double));
      for (i = 0; i < n * p; i++)
        reversed->x[i / p * p + p - 1 - i % p] = samples->x[i];
      other = fit (reversed, round % 2);
      for (i = 0; i < p; i++)
        assert_same_double (coefficient (other, p - 1 - i), coefficient (model, i));
      assert_same_double (intercept (other, 0), intercept (model, 0));
    }
}

/* The same features @n_copies times. */
static Samples *
copy_features (const Samples *samples, gsize n_copies, gsize n_constant)
{
  gsize p = samples->n_features;
  gsize width = p * n_copies + n_constant;
  Samples *wide = samples_new (samples->n_rows, width, samples->n_targets);
  gsize row;
  gsize i;

  memcpy (wide->y, samples->y, samples->n_rows * samples->n_targets * sizeof (double));
  for (row = 0; row < samples->n_rows; row++)
    for (i = 0; i < width; i++)
      wide->x[row * width + i] = i < p * n_copies ? samples->x[row * p + i % p] : 7;

  return wide;
}

static void
test_copies_share (void)
{
  /* Samples, features and copies: 3 columns and more than 200, also of fewer samples than features. */
  const gsize cases[][3] = { { 9, 1, 2 }, { 150, 100, 2 }, { 3, 4, 64 }, { 30, 50, 4 }, { 40, 13, 16 } };
  g_autoptr (GRand) rand = rand_new ();
  gsize n;

  g_test_summary ("The least norm gives copies of a feature equal parts, and nothing to what is constant.");
  for (n = 0; n < G_N_ELEMENTS (cases); n++)
    {
      gsize p = cases[n][1];
      gsize n_copies = cases[n][2];
      g_autoptr (Samples) samples = draw_samples (rand, cases[n][0], p, 1);
      g_autoptr (Samples) wide = copy_features (samples, n_copies, 1);
      g_autoptr (AprLinearRegression) model = fit (samples, TRUE);
      g_autoptr (AprLinearRegression) shared = fit (wide, TRUE);
      gsize i;

      g_assert_cmpint (apr_linear_regression_get_rank (shared), ==, apr_linear_regression_get_rank (model));
      for (i = 0; i < p * n_copies; i++)
        assert_same_double (coefficient (shared, i), coefficient (model, i % p) / (double) n_copies);
      g_assert_cmpfloat (coefficient (shared, p * n_copies), ==, 0);
      assert_same_double (intercept (shared, 0), intercept (model, 0));
    }
}

static void
test_indicators (void)
{
  enum
  {
    N = 100
  };
  g_autoptr (Samples) samples = samples_new (N, N, 1);
  g_autoptr (AprLinearRegression) with = NULL;
  g_autoptr (AprLinearRegression) without = NULL;
  gsize i;

  g_test_summary ("An indicator for each sample: what is fitted is the target itself.");
  for (i = 0; i < N; i++)
    {
      samples->x[i * N + i] = 1;
      samples->y[i] = (double) (i * i % 37);
    }
  with = fit (samples, TRUE);
  without = fit (samples, FALSE);
  g_assert_cmpint (apr_linear_regression_get_rank (with), ==, N - 1);
  g_assert_cmpint (apr_linear_regression_get_rank (without), ==, N);
  for (i = 0; i < N; i++)
    {
      g_assert_cmpfloat_with_epsilon (coefficient (with, i) + intercept (with, 0), samples->y[i], 1e-14);
      assert_same_double (coefficient (without, i), samples->y[i]);
    }
}

static void
test_tiny_coefficient (void)
{
  enum
  {
    N = 10000
  };
  g_autoptr (GRand) rand = rand_new ();
  g_autoptr (Samples) samples = samples_new (N, 2, 1);
  g_autoptr (AprLinearRegression) model = NULL;
  gsize i;

  g_test_summary (
    "scikit-learn 1.9 finds 1.957e-07 and -2.8e-16: it drops what is small beside the greatest column.");
  for (i = 0; i < N; i++)
    {
      samples->x[2 * i] = 1e7 * g_rand_double_range (rand, -2, 2);
      samples->x[2 * i + 1] = g_rand_double_range (rand, -2, 2);
      samples->y[i] = 2e-7 * samples->x[2 * i] + 3 * samples->x[2 * i + 1] + 1;
    }
  model = fit (samples, TRUE);
  g_assert_cmpint (apr_linear_regression_get_rank (model), ==, 2);
  g_assert_cmpfloat_with_epsilon (coefficient (model, 0), 2e-7, 1e-21);
  g_assert_cmpfloat_with_epsilon (coefficient (model, 1), 3, 1e-14);
  g_assert_cmpfloat_with_epsilon (intercept (model, 0), 1, 1e-14);
}

static void
test_many_floats (void)
{
  gsize n = runs_slowly () ? 20000 : 2000000;
  g_autoptr (GRand) rand = rand_new ();
  g_autofree float *x_values = g_new (float, n);
  g_autofree float *y_values = g_new (float, n);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (GError) error = NULL;
  gsize i;

  g_test_summary (
    "scikit-learn's issue 23376: floats from 1000 to 9999, of which it finds the intercept 1.229.");
  for (i = 0; i < n; i++)
    {
      x_values[i] = (float) g_rand_int_range (rand, 1000, 10000);
      y_values[i] = x_values[i] + 2;
    }
  x = float_matrix_new (n, 1, x_values);
  y = float_vector_new (n, y_values);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  g_assert_no_error (error);
  assert_same_double (coefficient (model, 0), 1);
  assert_same_double (intercept (model, 0), 2);
}

static void
test_rank_of_many_samples (void)
{
  enum
  {
    N = 20000
  };
  g_autoptr (GRand) rand = rand_new ();
  g_autofree float *x_values = g_new (float, 2 * N);
  g_autofree float *y_values = g_new (float, N);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (2, 1, NULL);
  guint i;

  g_test_summary (
    "scikit-learn's issue 33032: above 500,000 floats it drops a column that nearly follows from another.");
  for (i = 0; i < N; i++)
    {
      x_values[2 * i] = (float) (10 * g_rand_int_range (rand, -9999, 10000));
      x_values[2 * i + 1] = (float) (0.3 * (double) x_values[2 * i]) + (float) g_rand_int_range (rand, -2, 3);
      y_values[i] = 2 * x_values[2 * i] - 5 * x_values[2 * i + 1];
    }
  x = float_matrix_new (N, 2, x_values);
  y = float_vector_new (N, y_values);
  g_assert_true (apr_cross_products_update (state, x, y, NULL, NULL, NULL));

  /* Twice as many, and twice, and so on, up to 10 thousand million. */
  for (i = 0; i < 20; i++)
    {
      g_autoptr (AprCrossProducts) same = apr_cross_products_copy (state);
      g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
      g_autoptr (GError) error = NULL;

      g_assert_true (apr_linear_regression_fit_cross_products (model, state, NULL, &error));
      g_assert_no_error (error);
      g_assert_cmpint (apr_linear_regression_get_rank (model), ==, 2);
      assert_same_double (coefficient (model, 0), 2);
      assert_same_double (coefficient (model, 1), -5);
      g_assert_true (apr_cross_products_merge (state, same, &error));
      g_assert_no_error (error);
    }
}

static void
test_small (void)
{
  const double readme_x[] = { 1, 2, 2, 3, 3, 4, 4, 5 };
  const double readme_y[] = { 3, 5, 7, 9 };
  g_autoptr (Samples) two = samples_new (2, 1, 1);
  g_autoptr (Samples) one = samples_new (1, 1, 1);
  g_autoptr (Samples) readme = samples_new (4, 2, 1);
  g_autoptr (AprLinearRegression) of_two = NULL;
  g_autoptr (AprLinearRegression) of_one = NULL;
  g_autoptr (AprLinearRegression) of_readme = NULL;

  two->x[0] = two->y[0] = 1;
  two->x[1] = two->y[1] = 2;
  of_two = fit (two, TRUE);
  g_assert_cmpfloat (coefficient (of_two, 0), ==, 1);
  g_assert_cmpfloat (intercept (of_two, 0), ==, 0);

  one->x[0] = 1;
  of_one = fit (one, TRUE);
  g_assert_cmpfloat (coefficient (of_one, 0), ==, 0);
  g_assert_cmpfloat (intercept (of_one, 0), ==, 0);

  /* The example of the Rust aprender's README, which it refuses: the features differ by a constant. */
  memcpy (readme->x, readme_x, sizeof readme_x);
  memcpy (readme->y, readme_y, sizeof readme_y);
  of_readme = fit (readme, TRUE);
  g_assert_cmpint (apr_linear_regression_get_rank (of_readme), ==, 1);
  g_assert_cmpfloat (coefficient (of_readme, 0), ==, 1);
  g_assert_cmpfloat (coefficient (of_readme, 1), ==, 1);
  g_assert_cmpfloat (intercept (of_readme, 0), ==, 0);
}

static void
test_nearly_dependent (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  int power;

  g_test_summary ("A feature that is 2^k times another one and a rest of -1, 0 or 1 does not depend on it, "
                  "although next to "
                  "nothing of its square is left: y, which is the other one and the rest, tells exactly.");
  for (power = 15; power < 45; power++)
    {
      double x_values[40];
      double y_values[20];
      g_autoptr (AprTensor) x = NULL;
      g_autoptr (AprTensor) y = NULL;
      gboolean fit_intercept;
      gsize i;

      for (i = 0; i < 20; i++)
        {
          double one = (double) g_rand_int_range (rand, -8, 9);
          double rest = (double) ((gint) (i % 3) - 1);

          x_values[2 * i] = one;
          x_values[2 * i + 1] = ldexp (one, power) + rest;
          y_values[i] = one + rest;
        }
      x = matrix_new (20, 2, x_values);
      y = vector_new (20, y_values);
      for (fit_intercept = FALSE; fit_intercept <= TRUE; fit_intercept++)
        {
          g_autoptr (AprLinearRegression) model =
            g_object_new (APR_TYPE_LINEAR_REGRESSION, "fit-intercept", fit_intercept, NULL);

          g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, NULL));
          g_assert_cmpint (apr_linear_regression_get_rank (model), ==, 2);
          g_assert_true (apr_linear_regression_get_correctly_rounded (model));
          assert_same_double (coefficient (model, 0), 1 - ldexp (1, power));
          assert_same_double (coefficient (model, 1), 1);
        }
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/laws/weights", test_weights);
  g_test_add_func ("/laws/rows-and-targets", test_rows_and_targets);
  g_test_add_func ("/laws/units", test_units);
  g_test_add_func ("/laws/order-of-features", test_order_of_features);
  g_test_add_func ("/laws/copies-share", test_copies_share);
  g_test_add_func ("/laws/indicators", test_indicators);
  g_test_add_func ("/laws/tiny-coefficient", test_tiny_coefficient);
  g_test_add_func ("/laws/nearly-dependent", test_nearly_dependent);
  g_test_add_func ("/laws/many-floats", test_many_floats);
  g_test_add_func ("/laws/rank-of-many-samples", test_rank_of_many_samples);
  g_test_add_func ("/laws/small", test_small);

  return g_test_run ();
}
