/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/nist.h"
#include "tests/waiting.h"

#include <math.h>

/* Robust covariances, and the tests that go with any covariance. The suites of Python compare them with rational
 * numbers; these are a part of what they find, and what only C can get wrong. */

static void
assert_near (double actual, double expected, double tolerance)
{
  if (!(fabs (actual - expected) <= tolerance * fabs (expected)))
    g_error ("%.17g is not %.17g", actual, expected);
}

static AprLinearRegression *
fit (AprTensor *x, AprTensor *y)
{
  AprLinearRegression *model = apr_linear_regression_new ();
  GError *error = NULL;

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  g_assert_no_error (error);

  return model;
}

static void
load (const char *name, AprTensor **x, AprTensor **y)
{
  gsize i;

  for (i = 0; strcmp (nist_sets[i].name, name) != 0; i++)
    ;
  nist_load (&nist_sets[i], x, y);
}

/* Of Longley's data, by rational numbers. */
static void
test_robust (void)
{
  static const struct
  {
    AprCovarianceKind kind;
    double errors[7];
  } cases[] = {
    { APR_COVARIANCE_HC0,
      { 832211.58058032638, 51.220347445663968, 0.024575997582644699, 0.38323911092599433,
        0.14624500114098413, 0.15820849621992381, 428.38437553509789 } },
    { APR_COVARIANCE_HC1,
      { 1109615.4407737686, 68.29379659421862, 0.032767996776859598, 0.51098548123465914, 0.19499333485464551,
        0.21094466162656508, 571.17916738013048 } },
    { APR_COVARIANCE_HC2,
      { 1202369.5126009071, 67.492082149754125, 0.036534050255994682, 0.55333671464878931,
        0.20522087372013958, 0.22323671795804048, 617.5929550837651 } },
    { APR_COVARIANCE_HC3,
      { 1799477.230661815, 91.119386601139311, 0.05562398838839349, 0.82213350201657875, 0.2987892575905412,
        0.32490582113601618, 922.80784171540347 } },
  };
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  gsize i;
  gsize j;

  load ("longley", &x, &y);
  model = fit (x, y);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AprRegressionStatistics) statistics =
        apr_linear_regression_get_robust_statistics (model, x, y, NULL, cases[i].kind, 0, NULL, &error);
      g_autofree char *text = apr_regression_statistics_to_string (statistics);

      g_assert_no_error (error);
      g_assert_null (strstr (text, "not known"));
      g_assert_cmpint (apr_regression_statistics_get_covariance_kind (statistics), ==, cases[i].kind);
      for (j = 0; j < 7; j++)
        assert_near (element (apr_regression_statistics_get_standard_errors (statistics), j),
                     cases[i].errors[j], 1e-9);
      assert_same_double (apr_regression_statistics_get_r_squared (statistics), 0.9954790045772957);
    }
}

/* The samples 0, 1, 2, 3, 4 with the targets 3, 1, 3, 9, 9: y = 1 + 2 x, the residuals 2, -2, -2, 2, 0,
 * σ² = 16 / 3, and Z'Z = [5 10; 10 30], whose inverse is [30 -10; -10 5] / 50. */
static void
test_line (void)
{
  g_autoptr (AprTensor) x = matrix_new (5, 1, (const double[]){ 0, 1, 2, 3, 4 });
  g_autoptr (AprTensor) y = vector_new (5, (const double[]){ 3, 1, 3, 9, 9 });
  g_autoptr (AprTensor) both = matrix_new (2, 2, (const double[]){ 1, 0, 1, 1 });
  g_autoptr (AprTensor) values = vector_new (2, (const double[]){ 0, 2 });
  g_autoptr (AprLinearRegression) model = fit (x, y);
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (AprHypothesisTest) test = NULL;
  g_autoptr (AprTensor) intervals = NULL;
  g_autoptr (GError) error = NULL;

  statistics = apr_linear_regression_get_statistics (model, 0, &error);
  test = apr_regression_statistics_test_hypothesis (statistics, both, values, &error);
  g_assert_no_error (error);
  assert_near (element (apr_hypothesis_test_get_estimates (test), 1), 3, 1e-15);
  /* The variances σ² 30/50, and σ² (30 - 20 + 5) / 50. */
  assert_near (element (apr_hypothesis_test_get_standard_errors (test), 0), sqrt (16 / 3. * 0.6), 1e-15);
  assert_near (element (apr_hypothesis_test_get_standard_errors (test), 1), sqrt (16 / 3. * 0.3), 1e-15);
  assert_near (element (apr_hypothesis_test_get_t_values (test), 1), 1 / sqrt (1.6), 1e-15);
  /* The distances 1 and 1 are those of a = 1 and b = 0, whose matrix Z'Z / σ² has 5 / σ² there, by 2. */
  assert_near (apr_hypothesis_test_get_f_statistic (test), 5 * 3 / 16. / 2, 1e-14);
  /* With 2 degrees of freedom F's tail is (1 + 2 F / 3)^-3/2. */
  assert_near (apr_hypothesis_test_get_f_p_value (test), pow (1 + 2 * 15 / 32. / 3, -1.5), 1e-14);
  g_assert_cmpuint (apr_hypothesis_test_get_df_hypothesis (test), ==, 2);
  g_assert_cmpuint (apr_hypothesis_test_get_df_residual (test), ==, 3);
  /* With 3 degrees of freedom, t is between -√3 and √3 with the probability 1/2 + 1/π. */
  intervals = apr_hypothesis_test_get_confidence_intervals (test, 0.5 + 1 / G_PI, &error);
  g_assert_no_error (error);
  assert_near (element (intervals, 2), 3 - sqrt (3 * 1.6), 1e-14);
  assert_near (element (intervals, 3), 3 + sqrt (3 * 1.6), 1e-14);
  g_assert_null (apr_hypothesis_test_get_confidence_intervals (test, 1, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
}

static double
get_f (AprRegressionStatistics *statistics, gsize n_rows, const double *factors, const double *values)
{
  gsize n_terms = g_strv_length ((char **) apr_regression_statistics_get_terms (statistics));
  g_autoptr (AprTensor) rows = matrix_new (n_rows, n_terms, factors);
  g_autoptr (AprTensor) sums = vector_new (n_rows, values);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprHypothesisTest) test =
    apr_regression_statistics_test_hypothesis (statistics, rows, sums, &error);

  g_assert_no_error (error);

  return apr_hypothesis_test_get_f_statistic (test);
}

/* Neither the units of features nor how hypotheses are written changes a joint test: b1 + b2 = 2 and b1 - b2 = 0 is
 * b1 = 1 and b2 = 1, also where one coefficient is 10^60 times the other. */
static void
test_units (void)
{
  const double sums[] = { 0, 1, 1, 0, 1, -1 };
  const double alone[] = { 0, 1, 0, 0, 0, 1 };
  const double x_values[] = { 1, 4, 2, 3, 3, 7, 5, 1, 8, 2, 9, 9 };
  g_autoptr (AprTensor) y = vector_new (6, (const double[]){ 3, 1, 4, 1, 5, 9 });
  static const int shifts[] = { 0, -20, -40, -47, -200, 200, -400, 400 };
  double expected[2] = { 0 };
  gsize i;
  gsize j;

  for (i = 0; i < G_N_ELEMENTS (shifts); i++)
    {
      const double zeros[] = { 0, 0 };
      const double both[] = { 2, 0 };
      const double ones[] = { 1, 1 };
      g_autoptr (AprTensor) x = NULL;
      g_autoptr (AprLinearRegression) model = NULL;
      g_autoptr (GError) error = NULL;
      double values[12];

      for (j = 0; j < 12; j++)
        values[j] = j % 2 == 0 ? x_values[j] : ldexp (x_values[j], shifts[i]);
      x = matrix_new (6, 2, values);
      model = fit (x, y);
      for (j = 0; j < 2; j++)
        {
          g_autoptr (AprRegressionStatistics) statistics = apr_linear_regression_get_robust_statistics (
            model, x, y, NULL, j == 0 ? APR_COVARIANCE_CLASSICAL : APR_COVARIANCE_HC1, 0, NULL, &error);

          g_assert_no_error (error);
          if (i == 0)
            expected[j] = get_f (statistics, 2, alone, zeros);
          assert_near (get_f (statistics, 2, alone, zeros), expected[j], 1e-14);
          assert_near (get_f (statistics, 2, sums, zeros), expected[j], 1e-14);
          assert_near (get_f (statistics, 2, sums, both), get_f (statistics, 2, alone, ones), 1e-14);
        }
    }
}

static void
test_far_away (void)
{
  g_autoptr (AprTensor) x = matrix_new (4, 2, (const double[]){ 1, 2, 2, 1, 3, 7, 5, 4 });
  g_autoptr (AprTensor) y = vector_new (4, (const double[]){ 1, 2, 2, 5 });
  g_autoptr (AprLinearRegression) model = fit (x, y);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprRegressionStatistics) statistics = apr_linear_regression_get_statistics (model, 0, &error);
  const double factors[] = { 0, 1, 0, 0, 0, 1 };
  const double values[] = { 1e200, -1e220 };

  g_test_summary ("What is far from the estimates does not follow from itself.");

  g_assert_no_error (error);
  assert_same_double (get_f (statistics, 1, factors, values), INFINITY);
  assert_same_double (get_f (statistics, 2, factors, values), INFINITY);
}

/* A line leaves 2.7 of 8.75, and a parabola 2.45 with one degree of freedom: in all units, also in those in which
 * doubles do not hold these sums of squares. */
static void
test_units_of_nested_models (void)
{
  static const int shifts[] = { 0, -530, -560, 530 };
  const double y_values[] = { 1, 3, 2, 5 };
  g_autoptr (AprTensor) line = matrix_new (4, 1, (const double[]){ 1, 2, 3, 4 });
  g_autoptr (AprTensor) parabola = matrix_new (4, 2, (const double[]){ 1, 1, 2, 4, 3, 9, 4, 16 });
  gsize i;
  gsize j;

  for (i = 0; i < G_N_ELEMENTS (shifts); i++)
    {
      AprRegressionStatistics *statistics[3];
      g_autoptr (AprHypothesisTest) test = NULL;
      g_autoptr (AprHypothesisTest) none = NULL;
      g_autoptr (GError) error = NULL;

      /* The last is of targets that are twice as large. */
      for (j = 0; j < 3; j++)
        {
          double values[4];
          g_autoptr (AprTensor) y = NULL;
          g_autoptr (AprLinearRegression) model = NULL;
          gsize k;

          for (k = 0; k < 4; k++)
            values[k] = ldexp (y_values[k], shifts[i] + (j == 2 ? 1 : 0));
          y = vector_new (4, values);
          model = fit (j == 0 ? parabola : line, y);
          statistics[j] = apr_linear_regression_get_statistics (model, 0, &error);
          g_assert_no_error (error);
        }
      test = apr_regression_statistics_compare (statistics[0], statistics[1], &error);
      g_assert_no_error (error);
      assert_near (apr_hypothesis_test_get_f_statistic (test), 0.25 / 2.45, 1e-15);
      /* Student's t with one degree of freedom is Cauchy's distribution. */
      assert_near (apr_hypothesis_test_get_f_p_value (test), 1 - 2 / G_PI * atan (sqrt (0.25 / 2.45)), 1e-14);
      none = apr_regression_statistics_compare (statistics[0], statistics[2], &error);
      g_assert_null (none);
      g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
      for (j = 0; j < 3; j++)
        g_object_unref (statistics[j]);
    }
}

/* Intercept and slope depend on each other the more, the farther the samples are from 0: a time in seconds, and one at
 * the end of the whole numbers of doubles. That both are 0 has F = ((Σy² - RSS) / 2) / (RSS / 10) all the same. */
static void
test_far_from_zero (void)
{
  const double y_values[] = { 2, 3, 5, 4, 7, 8, 8, 9, 12, 10, 13, 12 };
  static const double begins[] = { 0, 1.7e9, 0x1p52 };
  const double both[] = { 1, 0, 0, 1 };
  const double zeros[] = { 0, 0 };
  g_autoptr (AprTensor) y = vector_new (12, y_values);
  gsize i;
  gsize j;

  for (i = 0; i < G_N_ELEMENTS (begins); i++)
    {
      g_autoptr (AprTensor) x = NULL;
      g_autoptr (AprLinearRegression) model = NULL;
      g_autoptr (AprRegressionStatistics) statistics = NULL;
      g_autoptr (GError) error = NULL;
      double x_values[12];

      for (j = 0; j < 12; j++)
        x_values[j] = begins[i] + (double) j;
      x = matrix_new (12, 1, x_values);
      model = fit (x, y);
      statistics = apr_linear_regression_get_statistics (model, 0, &error);
      g_assert_no_error (error);
      assert_near (get_f (statistics, 2, both, zeros), 1228075.0 / 2919, 1e-14);
    }
}

/* By rational numbers, of the same products of powers. */
static void
test_robust_filip (void)
{
  static const struct
  {
    AprCovarianceKind kind;
    double f;
  } cases[] = { { APR_COVARIANCE_HC0, 6420.119978794508 }, { APR_COVARIANCE_HC3, 4385.294156984843 } };
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  gsize i;

  g_test_summary (
    "Terms that nearly depend on each other leave enough digits of a robust test of all of them.");
  load ("filip", &x, &y);
  model = fit (x, y);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AprRegressionStatistics) statistics =
        apr_linear_regression_get_robust_statistics (model, x, y, NULL, cases[i].kind, 0, NULL, &error);

      g_assert_no_error (error);
      assert_near (apr_regression_statistics_get_f_statistic (statistics), cases[i].f, 1e-6);
    }
}

/* A level and a slope of their own leave nothing of two samples, so that the errors of three estimates depend on each
 * other, whatever rounding makes of the residuals. */
static void
test_singular (void)
{
  const double slopes[] = { 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 };
  const double zeros[] = { 0, 0, 0 };
  g_autoptr (GRand) source = g_rand_new_with_seed (1);
  gsize i;
  gsize j;

  for (i = 0; i < 100; i++)
    {
      double x_values[36];
      double y_values[12];
      g_autoptr (AprTensor) x = NULL;
      g_autoptr (AprTensor) y = NULL;
      g_autoptr (AprTensor) factors = matrix_new (3, 4, slopes);
      g_autoptr (AprTensor) values = vector_new (3, zeros);
      g_autoptr (AprLinearRegression) model = NULL;
      g_autoptr (AprRegressionStatistics) statistics = NULL;
      g_autoptr (AprHypothesisTest) test = NULL;
      g_autofree char *text = NULL;
      g_autoptr (GError) error = NULL;

      for (j = 0; j < 12; j++)
        {
          double inside = j == 4 || j == 5 ? 1 : 0;

          x_values[3 * j] = g_rand_double (source);
          x_values[3 * j + 1] = inside;
          x_values[3 * j + 2] = inside * x_values[3 * j];
          y_values[j] = g_rand_double (source);
        }
      x = matrix_new (12, 3, x_values);
      y = vector_new (12, y_values);
      model = fit (x, y);
      statistics =
        apr_linear_regression_get_robust_statistics (model, x, y, NULL, APR_COVARIANCE_HC1, 0, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (isnan (apr_regression_statistics_get_f_statistic (statistics)));
      text = apr_regression_statistics_to_string (statistics);
      g_assert_nonnull (strstr (text, "\nF is not known: "));
      test = apr_regression_statistics_test_hypothesis (statistics, factors, values, &error);
      g_assert_null (test);
      g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
      g_assert_true (get_f (statistics, 1, slopes, zeros) > 0);
    }
}

static AprRegressionStatistics *
get_named_statistics (void)
{
  static const char *const names[] = { "x1", "x2", "x2 - x3", "2nd floor", "1", "größe", NULL };
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  AprRegressionStatistics *statistics;
  GError *error = NULL;

  load ("longley", &x, &y);
  model = apr_linear_regression_new ();
  g_assert_true (apr_estimator_set_feature_names (APR_ESTIMATOR (model), names, &error));
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error));
  statistics = apr_linear_regression_get_statistics (model, 0, &error);
  g_assert_no_error (error);

  return statistics;
}

/* The factors of the terms (Intercept), x1, x2, “x2 - x3”, “2nd floor”, “1” and größe, and what they sum up to. */
static void
test_text (void)
{
  static const struct
  {
    const char *text;
    gsize n;
    double rows[3][8];
  } cases[] = {
    { "x1 = x2", 1, { { 0, 1, -1, 0, 0, 0, 0, 0 } } },
    { "x1 + 2*x2 = 3", 1, { { 0, 1, 2, 0, 0, 0, 0, 3 } } },
    { "x1, x2 = 0", 2, { { 0, 1, 0, 0, 0, 0, 0, 0 }, { 0, 0, 1, 0, 0, 0, 0, 0 } } },
    { "x1=x2=größe", 2, { { 0, 1, -1, 0, 0, 0, 0, 0 }, { 0, 0, 1, 0, 0, 0, -1, 0 } } },
    { " -(x1 - 3) / 2 * 4 = - -1e-1 ", 1, { { 0, -2, 0, 0, 0, 0, 0, 0.1 - 6 } } },
    { "(Intercept) = 1.5", 1, { { 1, 0, 0, 0, 0, 0, 0, 1.5 } } },
    { "Intercept + .5 = 0", 1, { { 1, 0, 0, 0, 0, 0, 0, -0.5 } } },
    /* The longest name, or what stands in backquotes. */
    { "x2 - x3 = 2nd floor", 1, { { 0, 0, 0, 1, -1, 0, 0, 0 } } },
    { "`x2` - x1 = 1", 1, { { 0, -1, 1, 0, 0, 0, 0, 1 } } },
    { "`1` = 1", 1, { { 0, 0, 0, 0, 0, 1, 0, 1 } } },
    { "3 = 2*(x1 + x2)*2", 1, { { 0, -4, -4, 0, 0, 0, 0, -3 } } },
  };
  g_autoptr (AprRegressionStatistics) statistics = get_named_statistics ();
  gsize i;
  gsize j;
  gsize k;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AprTensor) factors = NULL;
      g_autoptr (AprTensor) values = NULL;
      g_autoptr (GError) error = NULL;

      g_test_message ("%s", cases[i].text);
      g_assert_true (
        apr_regression_statistics_parse_hypothesis (statistics, cases[i].text, &factors, &values, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (apr_tensor_get_n_elements (factors), ==, 7 * cases[i].n);
      g_assert_cmpuint (apr_tensor_get_n_elements (values), ==, cases[i].n);
      for (j = 0; j < cases[i].n; j++)
        {
          for (k = 0; k < 7; k++)
            g_assert_cmpfloat (element (factors, 7 * j + k), ==, cases[i].rows[j][k]);
          g_assert_cmpfloat (element (values, j), ==, cases[i].rows[j][7]);
        }
    }
}

static void
test_text_errors (void)
{
  static const struct
  {
    const char *text;
    AprError code;
    const char *message;
  } cases[] = {
    { "", APR_ERROR_SYNTAX, "The hypotheses “”: neither a term nor a number at position 0 (counted from 0)" },
    { "größe = x9", APR_ERROR_FEATURE_NAMES, "*no term is named “x9” at position 8 (counted from 0)" },
    { "x1 = x22", APR_ERROR_FEATURE_NAMES, "*“x22” at position 5 *" },
    { "x1 = `x`", APR_ERROR_FEATURE_NAMES, "*“x” at position 5 *" },
    { "x1 = `x2", APR_ERROR_SYNTAX, "*a “`” without a second one at position 5 *" },
    { "x1 x2", APR_ERROR_SYNTAX, "*neither an operator, a comma nor the end at position 3 *" },
    { "2 x1", APR_ERROR_SYNTAX, "*at position 2 *" },
    { "x1 == 1", APR_ERROR_SYNTAX, "*neither a term nor a number at position 4 *" },
    { "x1,", APR_ERROR_SYNTAX, "*at position 3 *" },
    { "(x1", APR_ERROR_SYNTAX, "*no “)” at position 3 *" },
    { "x1 * x2 = 0", APR_ERROR_SYNTAX, "*not linear, at position 3 *" },
    { "1 / x1 = 0", APR_ERROR_SYNTAX, "*not linear, at position 2 *" },
    { "x1 / 0 = 1", APR_ERROR_RANGE, "*a division by 0 at position 3 *" },
    { "x1 = 1e999", APR_ERROR_RANGE, "*too large at position 0 *" },
    { "x2 = 0, 1e300*1e300*x1", APR_ERROR_RANGE, "*too large at position 8 *" },
    { "x2 = 0, x1 = x1", APR_ERROR_RANGE, "*no term is left at position 8 *" },
    { "1 = 1", APR_ERROR_RANGE, "*no term is left at position 0 *" },
    { "x1,x1,x1,x1,x1,x1,x1,x2", APR_ERROR_RANGE, "*hypothesis 7 *there are only 7 terms, at position 21 *" },
    { "x1\xff", APR_ERROR_SYNTAX, "*not UTF-8" },
  };
  g_autoptr (AprRegressionStatistics) statistics = get_named_statistics ();
  g_autoptr (AprRegressionStatistics) nobody = g_object_new (APR_TYPE_REGRESSION_STATISTICS, NULL);
  g_autofree char *deep = g_strnfill (100000, '(');
  AprTensor *factors = NULL;
  AprTensor *values = NULL;
  GError *error = NULL;
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_assert_false (
        apr_regression_statistics_parse_hypothesis (statistics, cases[i].text, &factors, &values, &error));
      g_assert_error (error, APR_ERROR, (int) cases[i].code);
      if (!g_pattern_match_simple (cases[i].message, error->message))
        g_error ("%s", error->message);
      g_clear_error (&error);
    }
  g_assert_false (apr_regression_statistics_parse_hypothesis (statistics, deep, &factors, &values, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SYNTAX);
  g_clear_error (&error);
  g_assert_false (apr_regression_statistics_parse_hypothesis (nobody, "x1", &factors, &values, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FITTED);
  g_clear_error (&error);
  g_assert_null (factors);
  g_assert_null (values);
}

static void
test_robust_weights (void)
{
  const struct
  {
    double weight;
    gint code;
    const char *message;
  } cases[] = {
    { -0.5, APR_ERROR_WEIGHTS, "sample_weight has the negative value -0.5 at row 15 (counted from 0)" },
    { -INFINITY, APR_ERROR_NOT_FINITE, "sample_weight has an infinity at row 15 (counted from 0)" },
    { NAN, APR_ERROR_NOT_FINITE, "sample_weight has a NaN at row 15 (counted from 0)" },
  };
  const gsize shape[] = { 16 };
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (GError) error = NULL;
  gsize i;

  /* Where sums are exact, they tell that these are not the samples of the fit. */
  load ("longley", &x, &y);
  apr_linear_regression_set_precision (model, APR_PRECISION_DOUBLE);
  apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error);
  g_assert_no_error (error);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const double values[16] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, cases[i].weight };
      g_autoptr (AprTensor) weights = apr_tensor_new_from_doubles (values, 16, shape, 1, NULL);

      g_assert_null (apr_linear_regression_get_robust_statistics (model, x, y, weights, APR_COVARIANCE_HC0, 0,
                                                                  NULL, &error));
      g_assert_error (error, APR_ERROR, cases[i].code);
      g_assert_true (g_str_has_suffix (error->message, cases[i].message));
      g_clear_error (&error);
    }
}

static void
test_async (void)
{
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (AprRegressionStatistics) others = NULL;
  g_autoptr (AprRegressionDiagnostics) diagnostics = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  GAsyncResult *results[3] = { NULL };
  gsize i;

  load ("longley", &x, &y);
  model = fit (x, y);
  apr_linear_regression_get_robust_statistics_async (model, x, y, NULL, APR_COVARIANCE_HC3, 0, 0, NULL,
                                                     on_ready, &results[0]);
  apr_linear_regression_diagnose_async (model, x, y, NULL, 0, 0, NULL, on_ready, &results[1]);
  g_cancellable_cancel (cancellable);
  apr_linear_regression_get_robust_statistics_async (model, x, y, NULL, APR_COVARIANCE_HC3, 0, 0, cancellable,
                                                     on_ready, &results[2]);
  statistics = apr_linear_regression_get_robust_statistics_finish (model, wait_for (&results[0]), &error);
  g_assert_no_error (error);
  diagnostics = apr_linear_regression_diagnose_finish (model, wait_for (&results[1]), &error);
  g_assert_no_error (error);
  others =
    apr_linear_regression_get_robust_statistics (model, x, y, NULL, APR_COVARIANCE_HC3, 0, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (apr_tensor_equal (apr_regression_statistics_get_covariance (statistics),
                                   apr_regression_statistics_get_covariance (others)));
  g_assert_cmpuint (apr_tensor_get_n_elements (apr_regression_diagnostics_get_leverages (diagnostics)), ==,
                    16);
  g_assert_null (apr_linear_regression_get_robust_statistics_finish (model, wait_for (&results[2]), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  for (i = 0; i < G_N_ELEMENTS (results); i++)
    g_object_unref (results[i]);
}

static void
test_hypothesis_async (void)
{
  g_autoptr (AprRegressionStatistics) statistics = get_named_statistics ();
  g_autoptr (AprTensor) factors = NULL;
  g_autoptr (AprTensor) values = NULL;
  g_autoptr (AprHypothesisTest) test = NULL;
  g_autoptr (AprHypothesisTest) expected = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  GAsyncResult *results[2] = { NULL };
  gsize i;

  g_assert_true (
    apr_regression_statistics_parse_hypothesis (statistics, "x1 = x2, x1 = 7", &factors, &values, &error));
  apr_regression_statistics_test_hypothesis_async (statistics, factors, values, 0, NULL, on_ready,
                                                   &results[0]);
  g_cancellable_cancel (cancellable);
  apr_regression_statistics_test_hypothesis_async (statistics, factors, NULL, 0, cancellable, on_ready,
                                                   &results[1]);
  test = apr_regression_statistics_test_hypothesis_finish (statistics, wait_for (&results[0]), &error);
  g_assert_no_error (error);
  expected = apr_regression_statistics_test_hypothesis (statistics, factors, values, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (apr_hypothesis_test_get_df_hypothesis (test), ==, 2);
  g_assert_cmpfloat (apr_hypothesis_test_get_f_statistic (test), ==,
                     apr_hypothesis_test_get_f_statistic (expected));
  g_assert_true (
    apr_tensor_equal (apr_hypothesis_test_get_t_values (test), apr_hypothesis_test_get_t_values (expected)));
  g_assert_null (
    apr_regression_statistics_test_hypothesis_finish (statistics, wait_for (&results[1]), &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  for (i = 0; i < G_N_ELEMENTS (results); i++)
    g_object_unref (results[i]);
}

static void
test_finish_is_misused (void)
{
  g_autoptr (AprRegressionStatistics) statistics = get_named_statistics ();
  g_autoptr (AprRegressionStatistics) other = get_named_statistics ();
  g_autoptr (GAsyncResult) foreign = G_ASYNC_RESULT (g_task_new (statistics, NULL, NULL, NULL));
  g_autoptr (AprTensor) factors = NULL;
  g_autoptr (AprTensor) values = NULL;
  g_autoptr (AprHypothesisTest) test = NULL;
  GAsyncResult *result = NULL;
  GError *error = NULL;

  g_test_summary ("The result of another call fails, and the right one is still there.");

  g_assert_true (
    apr_regression_statistics_parse_hypothesis (statistics, "x1 = 0", &factors, &values, &error));
  apr_regression_statistics_test_hypothesis_async (statistics, factors, NULL, 0, NULL, on_ready, &result);
  g_assert_null (apr_regression_statistics_test_hypothesis_finish (other, wait_for (&result), &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  g_clear_error (&error);
  g_assert_null (apr_regression_statistics_test_hypothesis_finish (statistics, foreign, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  g_clear_error (&error);
  test = apr_regression_statistics_test_hypothesis_finish (statistics, result, &error);
  g_assert_no_error (error);
  g_assert_nonnull (test);
  g_object_unref (result);
}

/* The statistics own what tests need: the model may be fitted to something else, or be gone. */
static void
test_without_the_model (void)
{
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) factors = vector_new (7, (const double[]){ 0, 1, 0, 0, 0, 0, 0 });
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autoptr (AprHypothesisTest) test = NULL;
  g_autoptr (GError) error = NULL;
  AprLinearRegression *model;

  load ("longley", &x, &y);
  model = fit (x, y);
  statistics = apr_linear_regression_get_statistics (model, 0, &error);
  g_object_unref (model);
  test = apr_regression_statistics_test_hypothesis (statistics, factors, NULL, &error);
  g_assert_no_error (error);
  assert_near (element (apr_hypothesis_test_get_t_values (test), 0),
               element (apr_regression_statistics_get_t_values (statistics), 1), 1e-14);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/hypothesis-test/robust", test_robust);
  g_test_add_func ("/hypothesis-test/robust-weights", test_robust_weights);
  g_test_add_func ("/hypothesis-test/line", test_line);
  g_test_add_func ("/hypothesis-test/units", test_units);
  g_test_add_func ("/hypothesis-test/units-of-nested-models", test_units_of_nested_models);
  g_test_add_func ("/hypothesis-test/far-away", test_far_away);
  g_test_add_func ("/hypothesis-test/far-from-zero", test_far_from_zero);
  g_test_add_func ("/hypothesis-test/robust-filip", test_robust_filip);
  g_test_add_func ("/hypothesis-test/singular", test_singular);
  g_test_add_func ("/hypothesis-test/text", test_text);
  g_test_add_func ("/hypothesis-test/text-errors", test_text_errors);
  g_test_add_func ("/hypothesis-test/async", test_async);
  g_test_add_func ("/hypothesis-test/hypothesis-async", test_hypothesis_async);
  g_test_add_func ("/hypothesis-test/finish-is-misused", test_finish_is_misused);
  g_test_add_func ("/hypothesis-test/without-the-model", test_without_the_model);

  return g_test_run ();
}
