/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

/* Files of models whose sums somebody made up: whatever is asked of the model, there is an error or an answer. */

#define PREFIX "cross_products."
#define MAX_FEATURES 3
#define MAX_TARGETS 2
#define MAX_ENTRIES ((MAX_FEATURES + MAX_TARGETS + 1) * (MAX_FEATURES + MAX_TARGETS + 2) / 2)
#define MAX_WORDS 40

typedef struct
{
  gsize n_features;
  gsize n_targets;
  gsize n_words; /* of each sum */
  guint32 words[MAX_ENTRIES * MAX_WORDS];
  gint first_word;
  guint64 n_samples;
  guint dependent; /* a bit for each feature */
  gboolean fit_intercept;
  const char *precision;
  const char *alpha; /* of the fit */
} Forged;

static void
set (AprSafetensorsWriter *writer, const char *prefix, const char *key, const char *value)
{
  g_autofree char *full_key = g_strconcat ("aprender.", prefix, key, NULL);

  g_assert_true (apr_safetensors_writer_set_metadata (writer, full_key, value, NULL));
}

static void
set_number (AprSafetensorsWriter *writer, const char *prefix, const char *key, gint64 number)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, number);

  set (writer, prefix, key, text);
}

/* The file of a model, or with an empty prefix that of a state. */
static GBytes *
forge (const Forged *forged, const char *prefix)
{
  const double zeros[MAX_TARGETS * MAX_FEATURES] = { 0 };
  const char *const keys[] = { "model", "format", "dtype", "precision" };
  const char *const values[] = { "AprCrossProducts", "1", "F64", forged->precision };
  const char *const number_keys[] = { "n_features", "n_targets", "n_samples", "first_word" };
  const gint64 numbers[] = { (gint64) forged->n_features, (gint64) forged->n_targets,
                             (gint64) forged->n_samples, forged->first_word };
  gsize n_columns = 1 + forged->n_features + forged->n_targets;
  gsize n_entries = n_columns * (n_columns + 1) / 2;
  const gsize shape[] = { n_entries, forged->n_words };
  g_autoptr (GString) dependent = g_string_new (NULL);
  g_autoptr (AprTensor) coefficients = matrix_new (forged->n_targets, forged->n_features, zeros);
  g_autoptr (AprTensor) constants = vector_new (forged->n_targets, zeros);
  gsize n_words = n_entries * forged->n_words;
  guint32 *words = g_memdup2 (forged->words, n_words * sizeof *words);
  g_autoptr (GBytes) data = g_bytes_new_take (words, n_words * sizeof *words);
  g_autoptr (AprTensor) sums = apr_tensor_new_from_bytes (APR_DTYPE_U32, shape, 2, data, NULL);
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autofree char *name = g_strconcat (prefix, "sums", NULL);
  gsize rank = forged->n_features;
  gsize i;

  swap_on_big_endian (words, n_words, sizeof *words);
  g_assert_true (apr_safetensors_writer_add_tensor (writer, name, sums, NULL));
  for (i = 0; i < G_N_ELEMENTS (keys); i++)
    set (writer, prefix, keys[i], values[i]);
  for (i = 0; i < G_N_ELEMENTS (numbers); i++)
    set_number (writer, prefix, number_keys[i], numbers[i]);
  if (*prefix == '\0')
    return apr_safetensors_writer_write_to_bytes (writer, NULL);

  for (i = 0; i < forged->n_features; i++)
    if ((forged->dependent >> i & 1) != 0)
      {
        g_string_append_printf (dependent, "%s%" G_GSIZE_FORMAT, dependent->len > 0 ? "," : "", i);
        rank--;
      }
  g_assert_true (apr_safetensors_writer_add_tensor (writer, "coefficients", coefficients, NULL));
  g_assert_true (apr_safetensors_writer_add_tensor (writer, "intercept", constants, NULL));
  set (writer, "", "model", "AprLinearRegression");
  set (writer, "", "format", "1");
  set (writer, prefix, "alpha", forged->alpha);
  set (writer, "", "fit_intercept", forged->fit_intercept ? "true" : "false");
  set (writer, "", "dependent_features", dependent->str);
  set_number (writer, "", "rank", (gint64) rank);

  return apr_safetensors_writer_write_to_bytes (writer, NULL);
}

static void
test_impossible (void)
{
  const struct
  {
    gint32 words[6]; /* of the weights; of x and 1, and x; of y and 1, x, and y */
    guint64 n_samples;
    gboolean rounded;
    gboolean loads;
    const char *message;
  } cases[] = {
    { { 0, 0, 0, 0, 0, 0 }, 3, FALSE, FALSE, "of 3 samples, the sum of the weights is 0" },
    { { -3, 7, 21, 0, 17, -14 }, 3, FALSE, FALSE, "of 3 samples, the sum of the weights is -3" },
    { { -3, 7, 21, 0, 17, 0 }, 3, FALSE, FALSE, "of 3 samples, the sum of the weights is -3" },
    { { -3, 7, 21, 0, 17, 0 }, 3, TRUE, FALSE, "of 3 samples, the sum of the weights is -3" },
    { { 3, 7, 21, 3, 8, 5 }, 0, FALSE, FALSE, "of 0 samples, the sum of the weights is 3" },
    { { 3, 7, 21, 3, 8, -5 },
      3,
      FALSE,
      TRUE,
      "the sum of squares of target 0 (counted from 0) is negative, -5" },
    { { 3, 7, 21, 3, 11, 5 },
      3,
      FALSE,
      TRUE,
      "the product of target 0 and feature 0 (counted from 0) is larger than their squares allow: 11 beside "
      "5 and 21" },
    { { 3, 8, 21, 3, 8, 5 },
      3,
      FALSE,
      TRUE,
      "the product of feature 0 and the weights (counted from 0) is larger than their squares allow: 8 "
      "beside 21 and 3" },
  };
  gsize i;
  gsize k;

  g_test_summary ("Of a model whose sums contradict each other, nothing is told.");
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    for (k = 0; k < 4; k++)
      {
        Forged forged = { .n_features = 1,
                          .n_targets = 1,
                          .n_words = 1,
                          .n_samples = cases[i].n_samples,
                          .dependent = k % 2,
                          .fit_intercept = k < 2,
                          .precision = cases[i].rounded ? "double" : "exact",
                          .alpha = "0" };
        g_autoptr (GBytes) bytes = NULL;
        g_autoptr (AprLinearRegression) model = NULL;
        g_autoptr (GError) error = NULL;

        memcpy (forged.words, cases[i].words, sizeof cases[i].words);
        bytes = forge (&forged, PREFIX);
        model = apr_linear_regression_from_bytes (bytes, &error);
        g_assert_true ((model != NULL) == cases[i].loads);
        if (model != NULL)
          g_assert_null (apr_linear_regression_get_statistics (model, 0, &error));
        g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
        assert_message_has (error, "The sums are not those of any samples");
        assert_message_has (error, cases[i].message);
      }
}

static void
test_too_few_samples (void)
{
  const guint32 words[] = { 3, 7, 21, 3, 8, 5 };
  Forged forged = { .n_features = 1,
                    .n_targets = 1,
                    .n_words = 1,
                    .n_samples = 1,
                    .fit_intercept = TRUE,
                    .precision = "exact",
                    .alpha = "0" };
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AprLinearRegression) model = NULL;
  g_autoptr (GError) error = NULL;

  memcpy (forged.words, words, sizeof words);
  bytes = forge (&forged, PREFIX);
  model = apr_linear_regression_from_bytes (bytes, &error);
  g_assert_no_error (error);
  g_assert_null (apr_linear_regression_get_statistics (model, 0, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
  assert_message_has (error, "of 1 samples, 2 terms cannot be independent");
}

static void
test_indefinite_score (void)
{
  /* Every product is within its squares, but the weights, x and y without each other are not. */
  const guint32 words[] = { 1, 0, 10, 0, 9, 10 };
  const gint32 indefinite[] = { 10, 9, 10, 9, -9, 10 };
  Forged forged = { .n_features = 1,
                    .n_targets = 1,
                    .n_words = 1,
                    .n_samples = 9,
                    .fit_intercept = TRUE,
                    .precision = "exact",
                    .alpha = "0" };
  const double x_values[] = { 0, 1, 2 };
  const double y_values[] = { 1, 0, -1 };
  g_autoptr (AprTensor) x = matrix_new (3, 1, x_values);
  g_autoptr (AprTensor) y = vector_new (3, y_values);
  g_autoptr (AprLinearRegression) model = fitted_new (x, y, NULL, TRUE);
  g_autoptr (AprCrossProducts) state = NULL;
  g_autoptr (AprTensor) scores = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) good = NULL;
  g_autoptr (AprCrossProducts) good_state = NULL;

  /* y = 1 - x leaves 10 + 1 + 10 - 2 (0 - 9 + 0) of these. */
  memcpy (forged.words, words, sizeof words);
  good = forge (&forged, "");
  good_state = apr_cross_products_from_bytes (good, &error);
  g_assert_no_error (error);
  scores = apr_linear_regression_score_cross_products (model, good_state, &error);
  g_assert_no_error (error);
  assert_same_double (element (scores, 0), 1 - 39.0 / 10);

  /* And 10 + 10 + 10 - 2 (9 + 9 + 9) of these. */
  memcpy (forged.words, indefinite, sizeof indefinite);
  bytes = forge (&forged, "");
  state = apr_cross_products_from_bytes (bytes, &error);
  g_assert_no_error (error);
  g_assert_null (apr_linear_regression_score_cross_products (model, state, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
  assert_message_has (error, "the residuals of target 0 (counted from 0) is negative");
}

/* The sums of samples of small whole numbers, some of them changed, somewhere in many words. */
static void
draw (GRand *rand, Forged *forged)
{
  gsize n_samples = (gsize) g_rand_int_range (rand, 1, 7);
  gint64 z[8][1 + MAX_FEATURES + MAX_TARGETS];
  gsize n_columns;
  gsize entry = 0;
  gsize i;
  gsize j;
  gsize k;

  *forged = (Forged){ .n_features = (gsize) g_rand_int_range (rand, 1, MAX_FEATURES + 1),
                      .n_targets = (gsize) g_rand_int_range (rand, 1, MAX_TARGETS + 1),
                      .n_words = (gsize) (g_rand_int_range (rand, 0, 4) > 0 ? g_rand_int_range (rand, 1, 5)
                                                                            : MAX_WORDS),
                      .first_word = g_rand_int_range (rand, -128, 88),
                      .n_samples = g_rand_int_range (rand, 0, 6) > 0 ? n_samples : g_rand_int (rand),
                      .dependent = g_rand_boolean (rand) ? 0 : g_rand_int (rand),
                      .fit_intercept = g_rand_boolean (rand),
                      .precision = g_rand_boolean (rand) ? "exact" : "double",
                      .alpha = g_rand_int_range (rand, 0, 5) > 0 ? "0" : "1e-3" };
  n_columns = 1 + forged->n_features + forged->n_targets;
  for (i = 0; i < n_samples; i++)
    for (j = 0; j < n_columns; j++)
      z[i][j] = j == 0 ? 1 : g_rand_int_range (rand, -5, 6);
  for (j = 0; j < n_columns; j++)
    for (k = 0; k <= j; k++, entry++)
      {
        guint32 *words = forged->words + entry * forged->n_words;
        gboolean changed = g_rand_int_range (rand, 0, 12) == 0;
        gsize low = changed ? (gsize) g_rand_int_range (rand, 0, (gint32) forged->n_words) : 0;
        gint64 sum = changed ? g_rand_int_range (rand, -9, 10) : 0;

        for (i = 0; i < n_samples; i++)
          sum += z[i][j] * z[i][k];
        for (i = low; i < forged->n_words; i++)
          words[i] = (guint32) (i == low ? sum : sum >> 63);
        if (g_rand_int_range (rand, 0, 40) == 0)
          words[g_rand_int_range (rand, 0, (gint32) forged->n_words)] = g_rand_int (rand);
      }
}

/* No number is asked for, only that there is an answer or an error. Takes both. */
static void
assert_answer (gpointer answer, GDestroyNotify free_answer, GError **error)
{
  g_assert_true ((answer != NULL) == (*error == NULL));
  g_assert_true (*error == NULL || (*error)->domain == APR_ERROR);
  g_clear_error (error);
  g_clear_pointer (&answer, free_answer);
}

static void
ask_statistics (AprLinearRegression *model, AprTensor *x, AprTensor *y, gsize target)
{
  const double factor_values[1 + MAX_FEATURES] = { 1, -1, 2, 1 };
  AprCovarianceKind kind;
  GError *error = NULL;
  gpointer answer;

  for (kind = APR_COVARIANCE_CLASSICAL; kind <= APR_COVARIANCE_HC3; kind++)
    {
      g_autoptr (AprRegressionStatistics) statistics =
        apr_linear_regression_get_robust_statistics (model, x, y, NULL, kind, target, NULL, &error);
      g_autoptr (AprTensor) factors = NULL;
      g_autofree char *text = NULL;

      g_assert_true ((statistics != NULL) == (error == NULL));
      g_clear_error (&error);
      if (statistics == NULL)
        continue;
      g_assert_false (apr_regression_statistics_get_residual_sum_of_squares (statistics) < 0);
      text = apr_regression_statistics_to_string (statistics);
      factors = matrix_new (1, g_strv_length ((char **) apr_regression_statistics_get_terms (statistics)),
                            factor_values);
      answer = apr_regression_statistics_test_hypothesis (statistics, factors, NULL, &error);
      assert_answer (answer, g_object_unref, &error);
    }
  answer = apr_linear_regression_get_statistics (model, target, &error);
  assert_answer (answer, g_object_unref, &error);
  answer = apr_linear_regression_diagnose (model, x, y, NULL, target, NULL, &error);
  assert_answer (answer, g_object_unref, &error);
}

static void
ask (AprLinearRegression *model, const Forged *forged)
{
  const double values[] = { 1, -2, 3, 5, 8, -7, 4, 4, 1, 0, 0, 2, 9, -1, 3 };
  g_autoptr (AprTensor) x = matrix_new (5, forged->n_features, values);
  g_autoptr (AprTensor) y = matrix_new (5, forged->n_targets, values + 3);
  g_autoptr (AprCrossProducts) state = apr_linear_regression_get_cross_products (model);
  GError *error = NULL;
  gpointer answer;
  gsize target;
  int kind;

  answer = apr_linear_regression_summary (model, &error);
  assert_answer (answer, g_free, &error);
  for (target = 0; target < forged->n_targets; target++)
    ask_statistics (model, x, y, target);
  for (kind = APR_INTERVAL_PREDICTION; kind <= APR_INTERVAL_CONFIDENCE; kind++)
    {
      g_autoptr (AprTensor) lower = NULL;
      g_autoptr (AprTensor) upper = NULL;

      g_assert_true (apr_linear_regression_predict_interval (model, x, 0.9, (AprIntervalKind) kind, &lower,
                                                             &upper, &error) == (error == NULL));
      g_clear_error (&error);
    }
  answer = apr_linear_regression_score_cross_products (model, state, &error);
  assert_answer (answer, (GDestroyNotify) apr_tensor_unref, &error);
  answer = apr_estimator_to_bytes (APR_ESTIMATOR (model), &error);
  assert_answer (answer, (GDestroyNotify) g_bytes_unref, &error);
  g_assert_false (apr_linear_regression_compute_condition_number (model) < 1);
  g_assert_false (apr_linear_regression_get_prediction_rounding (model) < 0);
}

static void
test_anything (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  int n_loaded = 0;
  int n_refused = 0;
  int n_fits = 0;
  int round;

  for (round = 0; round < 300; round++)
    {
      Forged forged;
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GBytes) state_bytes = NULL;
      g_autoptr (AprLinearRegression) model = NULL;
      g_autoptr (AprLinearRegression) other = apr_linear_regression_new ();
      g_autoptr (AprCrossProducts) state = NULL;
      g_autoptr (GError) error = NULL;

      draw (rand, &forged);
      bytes = forge (&forged, PREFIX);
      model = apr_linear_regression_from_bytes (bytes, &error);
      if (model == NULL)
        {
          g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
          g_clear_error (&error);
          n_refused++;
        }
      else
        {
          ask (model, &forged);
          n_loaded++;
        }

      /* The state alone may be a step on a way, until a model is to be fitted to it. */
      state_bytes = forge (&forged, "");
      state = apr_cross_products_from_bytes (state_bytes, &error);
      g_assert_no_error (error);
      if (apr_linear_regression_fit_cross_products (other, state, NULL, &error))
        {
          ask (other, &forged);
          n_fits++;
        }
      else
        g_assert_true (error->domain == APR_ERROR);
    }
  g_assert_cmpint (n_loaded, >, 50);
  g_assert_cmpint (n_refused, >, 0);
  g_assert_cmpint (n_fits, >, 50);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/forged-states/impossible", test_impossible);
  g_test_add_func ("/forged-states/too-few-samples", test_too_few_samples);
  g_test_add_func ("/forged-states/indefinite-score", test_indefinite_score);
  g_test_add_func ("/forged-states/anything", test_anything);

  return g_test_run ();
}
