/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include <gmodule.h>
#include <string.h>

#include "clock.h"

/* Which functions that block have no asynchronous twin: each is called with data of 5,000,000 x 10 and with a model of
 * 1,000 features, and what takes its thread more than a millisecond of processor time is printed, the least of some
 * calls, with whether the library has its twin. Functions that read a path or a stream are not here: they block
 * whatever they do. */

#define N_ROUNDS 5
#define MUCH 1000 /* microseconds */

typedef struct
{
  AprTensor *x;
  AprTensor *y;
  AprTensor *predicted;
  AprTensor *factors;
  AprEstimator *model; /* keeps its state */
  AprCrossProducts *sums;
  AprRegressionStatistics *statistics;
  AprRegressionStatistics *restricted;
  GBytes *model_bytes;
  GBytes *sums_bytes;
  double *row;
  double *values;
  gsize n_samples;
  gsize n_features;
} Data;

typedef struct
{
  const char *name;
  void (*call) (const Data *data);
} Function;

/* What a function returns is unreferenced at once; that it succeeded is looked at, as an error takes no time. */
#define TENSOR(NAME, CALL)                  \
 static void call_##NAME (const Data *data) \
 {                                          \
  g_autoptr (GError) error = NULL;          \
  g_autoptr (AprTensor) tensor = CALL;      \
                                            \
  g_assert_no_error (error);                \
  g_assert_true (tensor != NULL);           \
 }
#define OBJECT(NAME, CALL)                       \
 static void call_##NAME (const Data *data)      \
 {                                               \
  g_autoptr (GError) error = NULL;               \
  g_autoptr (GObject) object = (GObject *) CALL; \
                                                 \
  g_assert_no_error (error);                     \
  g_assert_true (object != NULL);                \
 }
#define NUMBER(NAME, CALL)                     \
 static void call_##NAME (const Data *data)    \
 {                                             \
  g_autoptr (GError) error = NULL;             \
  double number G_GNUC_UNUSED = (double) CALL; \
                                               \
  g_assert_no_error (error);                   \
 }
#define BYTES(NAME, CALL)                   \
 static void call_##NAME (const Data *data) \
 {                                          \
  g_autoptr (GError) error = NULL;          \
  g_autoptr (GBytes) bytes = CALL;          \
                                            \
  g_assert_no_error (error);                \
  g_assert_true (bytes != NULL);            \
 }
#define TEXT(NAME, CALL)                    \
 static void call_##NAME (const Data *data) \
 {                                          \
  g_autofree char *text = CALL;             \
                                            \
  g_assert_true (text != NULL);             \
 }
#define REGRESSION APR_LINEAR_REGRESSION (data->model)

TENSOR (predict, apr_estimator_predict (data->model, data->x, &error))
NUMBER (predict_into,
        apr_linear_regression_predict_into (
          REGRESSION, data->x, data->values, data->n_samples * sizeof *data->values, &error))
NUMBER (predict_one, apr_linear_regression_predict_one (REGRESSION, data->row, data->n_features, &error))
NUMBER (score, apr_estimator_score (data->model, data->x, data->y, NULL, &error))
OBJECT (clone, apr_estimator_clone (data->model))
OBJECT (copy, apr_estimator_copy (data->model, &error))
BYTES (to_bytes, apr_estimator_to_bytes (data->model, &error))
OBJECT (from_bytes, apr_estimator_from_bytes (APR_TYPE_LINEAR_REGRESSION, data->model_bytes, &error))
OBJECT (get_cross_products, apr_linear_regression_get_cross_products (REGRESSION))
TENSOR (score_cross_products, apr_linear_regression_score_cross_products (REGRESSION, data->sums, &error))
TEXT (statistics_to_string, apr_regression_statistics_to_string (data->statistics))
TENSOR (get_covariance, apr_tensor_ref (apr_regression_statistics_get_covariance (data->statistics)))
TENSOR (get_variance_inflation,
        apr_tensor_ref (apr_regression_statistics_get_variance_inflation (data->statistics)))
TENSOR (get_confidence_intervals,
        apr_regression_statistics_get_confidence_intervals (data->statistics, 0.9, &error))
OBJECT (compare, apr_regression_statistics_compare (data->statistics, data->restricted, &error))
OBJECT (test_hypothesis,
        apr_regression_statistics_test_hypothesis (data->statistics, data->factors, NULL, &error))
OBJECT (cross_products_copy, apr_cross_products_copy (data->sums))
NUMBER (get_n_bytes, apr_cross_products_get_n_bytes (data->sums))
NUMBER (cross_products_equal, apr_cross_products_equal (data->sums, data->sums))
BYTES (cross_products_to_bytes, apr_cross_products_to_bytes (data->sums, &error))
OBJECT (cross_products_from_bytes, apr_cross_products_from_bytes (data->sums_bytes, &error))
TENSOR (
  compute_metric,
  apr_compute_metric (APR_METRIC_R2, APR_MULTIOUTPUT_RAW_VALUES, data->y, data->predicted, NULL, &error))
NUMBER (median_absolute_error, apr_median_absolute_error (data->y, data->predicted, NULL, &error))
NUMBER (max_error, apr_max_error (data->y, data->predicted, &error))
TENSOR (cast, apr_tensor_cast (data->x, APR_DTYPE_F32, &error))
TENSOR (slice, apr_tensor_slice (data->x, ":, ::2", &error))
NUMBER (tensor_equal, apr_tensor_equal (data->x, data->x))
TEXT (tensor_to_string, apr_tensor_to_string (data->x))

static void
call_parse_hypothesis (const Data *data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprTensor) factors = NULL;
  g_autoptr (AprTensor) values = NULL;

  g_assert_true (
    apr_regression_statistics_parse_hypothesis (data->statistics, "x1 = x2", &factors, &values, &error));
}

/* What a GtkColumnView asks for. */
static void
call_list_items (const Data *data)
{
  guint i;

  for (i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (data->statistics)); i++)
    g_object_unref (g_list_model_get_item (G_LIST_MODEL (data->statistics), i));
}

#define METHOD(TYPE, NAME)           \
 {                                   \
  "apr_" TYPE "_" #NAME, call_##NAME \
 }

static const Function functions[] = {
  METHOD ("estimator", predict),
  METHOD ("linear_regression", predict_into),
  METHOD ("linear_regression", predict_one),
  METHOD ("estimator", score),
  METHOD ("estimator", clone),
  METHOD ("estimator", copy),
  METHOD ("estimator", to_bytes),
  METHOD ("estimator", from_bytes),
  METHOD ("linear_regression", get_cross_products),
  METHOD ("linear_regression", score_cross_products),
  { "apr_regression_statistics_to_string", call_statistics_to_string },
  METHOD ("regression_statistics", get_covariance),
  METHOD ("regression_statistics", get_variance_inflation),
  METHOD ("regression_statistics", get_confidence_intervals),
  METHOD ("regression_statistics", compare),
  METHOD ("regression_statistics", parse_hypothesis),
  METHOD ("regression_statistics", test_hypothesis),
  { "all of g_list_model_get_item", call_list_items },
  { "apr_cross_products_copy", call_cross_products_copy },
  METHOD ("cross_products", get_n_bytes),
  { "apr_cross_products_equal", call_cross_products_equal },
  { "apr_cross_products_to_bytes", call_cross_products_to_bytes },
  { "apr_cross_products_from_bytes", call_cross_products_from_bytes },
  { "apr_compute_metric", call_compute_metric },
  { "apr_median_absolute_error", call_median_absolute_error },
  { "apr_max_error", call_max_error },
  METHOD ("tensor", cast),
  METHOD ("tensor", slice),
  { "apr_tensor_equal", call_tensor_equal },
  { "apr_tensor_to_string", call_tensor_to_string },
};

static gint64
get_processor_time (void)
{
  return clock_read (CLOCK_THREAD_CPUTIME_ID) / 1000;
}

/* Of a model with the first @n_features features of the data. */
static AprRegressionStatistics *
get_statistics (AprTensor *x, AprTensor *y, gsize n_features)
{
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autofree char *indices = g_strdup_printf (":, :%" G_GSIZE_FORMAT, n_features);
  g_autoptr (AprTensor) part = apr_tensor_slice (x, indices, NULL);
  g_autoptr (GError) error = NULL;
  AprRegressionStatistics *statistics;

  apr_estimator_fit (APR_ESTIMATOR (model), part, y, NULL, NULL, &error);
  g_assert_no_error (error);
  statistics = apr_linear_regression_get_statistics (model, 0, &error);
  g_assert_no_error (error);

  return statistics;
}

static void
data_init (Data *self, gsize n_samples, gsize n_features)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autofree double *x = g_new (double, n_samples *n_features);
  g_autofree double *factors = g_new0 (double, n_features + 1);
  g_autoptr (GError) error = NULL;
  gsize shape[] = { n_samples, n_features };
  gsize n_terms = n_features + 1;
  gsize i;

  self->n_samples = n_samples;
  self->n_features = n_features;
  self->row = g_new0 (double, n_features);
  self->values = g_new (double, n_samples);
  for (i = 0; i < n_samples * n_features; i++)
    x[i] = g_rand_double (rand);
  for (i = 0; i < n_samples; i++)
    self->values[i] = x[i * n_features] + g_rand_double (rand);
  factors[1] = 1;
  self->x = apr_tensor_new_from_doubles (x, n_samples * n_features, shape, 2, NULL);
  self->y = apr_tensor_new_from_doubles (self->values, n_samples, shape, 1, NULL);
  self->factors = apr_tensor_new_from_doubles (factors, n_terms, &n_terms, 1, NULL);
  self->sums = apr_cross_products_new (n_features, 1, NULL);
  apr_cross_products_update (self->sums, self->x, self->y, NULL, NULL, &error);
  g_assert_no_error (error);
  self->model = g_object_new (APR_TYPE_LINEAR_REGRESSION, "keep-state", TRUE, NULL);
  apr_linear_regression_fit_cross_products (APR_LINEAR_REGRESSION (self->model), self->sums, NULL, &error);
  g_assert_no_error (error);
  self->predicted = apr_estimator_predict (self->model, self->x, &error);
  self->model_bytes = apr_estimator_to_bytes (self->model, &error);
  self->sums_bytes = apr_cross_products_to_bytes (self->sums, &error);
  g_assert_no_error (error);
  self->statistics = get_statistics (self->x, self->y, n_features);
  self->restricted = get_statistics (self->x, self->y, n_features - 1);
}

static void
data_clear (Data *self)
{
  apr_tensor_unref (self->x);
  apr_tensor_unref (self->y);
  apr_tensor_unref (self->predicted);
  apr_tensor_unref (self->factors);
  g_object_unref (self->model);
  g_object_unref (self->sums);
  g_object_unref (self->statistics);
  g_object_unref (self->restricted);
  g_bytes_unref (self->model_bytes);
  g_bytes_unref (self->sums_bytes);
  g_free (self->row);
  g_free (self->values);
}

static void
measure (const Function *function, const Data *data, GModule *library)
{
  g_autofree char *twin = g_strconcat (function->name, "_async", NULL);
  gint64 least = G_MAXINT64;
  gpointer symbol;
  gsize i;

  for (i = 0; i < N_ROUNDS; i++)
    {
      gint64 start = get_processor_time ();

      function->call (data);
      least = MIN (least, get_processor_time () - start);
    }
  if (least > MUCH)
    g_print ("| %-44s | %9.1f | %-4s |\n", function->name, (double) least / 1000,
             g_module_symbol (library, twin, &symbol) ? "yes" : "no");
}

int
main (void)
{
  static const gsize shapes[][2] = { { 5000000, 10 }, { 3000, 1000 } };
  GModule *library = g_module_open (NULL, G_MODULE_BIND_LAZY);
  gsize i;
  gsize j;

  for (i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      Data data;

      data_init (&data, shapes[i][0], shapes[i][1]);
      g_print ("# %" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT ", milliseconds\n", shapes[i][0], shapes[i][1]);
      g_print ("| %-44s | %9s | %-4s |\n| --- | ---: | --- |\n", "function", "takes", "twin");
      for (j = 0; j < G_N_ELEMENTS (functions); j++)
        measure (&functions[j], &data, library);
      data_clear (&data);
    }
  g_module_close (library);

  return 0;
}
