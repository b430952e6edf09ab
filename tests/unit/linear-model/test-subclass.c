/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

/* A linear regression whose predictions are multiplied by a hyper-parameter of its own. */

G_DECLARE_FINAL_TYPE (Scaled, scaled, TEST, SCALED, AprLinearRegression)

struct _Scaled
{
  AprLinearRegression parent_instance;
  double factor;
  AprTensor *alphas; /* (unowned) (nullable) */
  int n_fits;
};

G_DEFINE_FINAL_TYPE (Scaled, scaled, APR_TYPE_LINEAR_REGRESSION)

static void
scaled_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  g_value_set_double (value, TEST_SCALED (object)->factor);
}

static void
scaled_set_property (GObject *object, guint property_id, const GValue *value, GParamSpec *pspec)
{
  TEST_SCALED (object)->factor = g_value_get_double (value);
}

static gboolean
scaled_fit (AprEstimator *self,
            AprTensor *x,
            AprTensor *y,
            AprTensor *sample_weight,
            GCancellable *cancellable,
            GError **error)
{
  g_autoptr (GError) nested_error = NULL;

  TEST_SCALED (self)->n_fits++;
  /* What it sets before it calls the parent's holds for this fit. */
  g_object_set (self, "alpha", 0.0, NULL);
  if (TEST_SCALED (self)->alphas != NULL)
    apr_linear_regression_set_alphas (APR_LINEAR_REGRESSION (self), TEST_SCALED (self)->alphas);
  /* The model is busy, for its own fit too. */
  g_assert_true (apr_estimator_get_busy (self));
  g_assert_false (apr_estimator_fit (self, x, y, sample_weight, cancellable, &nested_error));
  g_assert_error (nested_error, G_IO_ERROR, G_IO_ERROR_PENDING);

  return APR_ESTIMATOR_CLASS (scaled_parent_class)->fit (self, x, y, sample_weight, cancellable, error);
}

static AprTensor *
scaled_predict (AprEstimator *self, AprTensor *x, GError **error)
{
  g_autoptr (AprTensor) predictions = APR_ESTIMATOR_CLASS (scaled_parent_class)->predict (self, x, error);
  g_autofree double *values = NULL;
  gsize n;
  gsize i;

  if (predictions == NULL)
    return NULL;

  n = apr_tensor_get_n_elements (predictions);
  values = g_new (double, n);
  for (i = 0; i < n; i++)
    values[i] = TEST_SCALED (self)->factor * element (predictions, i);

  return vector_new (n, values);
}

static void
scaled_class_init (ScaledClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  AprEstimatorClass *estimator_class = APR_ESTIMATOR_CLASS (klass);

  object_class->get_property = scaled_get_property;
  object_class->set_property = scaled_set_property;
  estimator_class->fit = scaled_fit;
  estimator_class->predict = scaled_predict;
  g_object_class_install_property (
    object_class, 1,
    g_param_spec_double ("factor", NULL, NULL, 0, 100, 1,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT | G_PARAM_STATIC_STRINGS));
}

static void
scaled_init (Scaled *self)
{
}

/* y = 1 + 2 x, three times. */
static void
assert_predicts (gpointer model, AprTensor *x)
{
  GError *error = NULL;
  g_autoptr (AprTensor) predictions = apr_estimator_predict (model, x, &error);

  g_assert_no_error (error);
  assert_same_double (element (predictions, 0), 3);
  assert_same_double (element (predictions, 1), 9);
  assert_same_double (element (predictions, 2), 15);
}

static void
test_fit_save_clone (void)
{
  g_autoptr (AprTensor) x = matrix_new (3, 1, (double[]){ 0, 1, 2 });
  g_autoptr (AprTensor) y = vector_new (3, (double[]){ 1, 3, 5 });
  g_autoptr (AprEstimator) model = g_object_new (scaled_get_type (), "factor", 3.0, "alpha", 0.0, NULL);
  g_autoptr (AprEstimator) clone = NULL;
  g_autoptr (AprEstimator) loaded = NULL;
  g_autoptr (GBytes) bytes = NULL;
  GError *error = NULL;
  double factor;

  apr_estimator_fit (model, x, y, NULL, NULL, &error);
  g_assert_no_error (error);
  assert_predicts (model, x);
  assert_same_double (element (coefficients_of (APR_LINEAR_REGRESSION (model)), 0), 2);

  clone = apr_estimator_clone (model);
  g_assert_true (G_OBJECT_TYPE (clone) == scaled_get_type ());
  g_assert_false (apr_estimator_get_fitted (clone));
  g_object_get (clone, "factor", &factor, NULL);
  assert_same_double (factor, 3);

  bytes = apr_estimator_to_bytes (model, &error);
  g_assert_no_error (error);
  loaded = apr_estimator_from_bytes (scaled_get_type (), bytes, &error);
  g_assert_no_error (error);
  assert_predicts (loaded, x);

  g_assert_null (apr_linear_regression_from_bytes (bytes, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
  assert_message_has (error, "“Scaled”, not “AprLinearRegression”");
  g_error_free (error);
}

static void
finish_cb (GObject *object, GAsyncResult *result, gpointer user_data)
{
  GError *error = NULL;

  g_assert_true (apr_estimator_fit_finish (APR_ESTIMATOR (object), result, &error));
  g_assert_no_error (error);
  g_main_loop_quit (user_data);
}

static void
test_fit_async_calls_own_fit (void)
{
  g_autoptr (AprTensor) x = matrix_new (3, 1, (double[]){ 0, 1, 2 });
  g_autoptr (AprTensor) y = vector_new (3, (double[]){ 1, 3, 5 });
  g_autoptr (Scaled) model = g_object_new (scaled_get_type (), "factor", 3.0, "alpha", 5.0, NULL);
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);

  apr_estimator_fit_async (APR_ESTIMATOR (model), x, y, NULL, G_PRIORITY_DEFAULT, NULL, finish_cb, loop);
  g_main_loop_run (loop);
  g_assert_cmpint (model->n_fits, ==, 1);
  assert_predicts (model, x);
}

static void
test_fit_sets_alphas (void)
{
  g_autoptr (AprTensor) x = matrix_new (3, 1, (double[]){ 0, 1, 2 });
  g_autoptr (AprTensor) y = vector_new (3, (double[]){ 1, 3, 5 });
  g_autoptr (AprTensor) alphas = vector_new (1, (double[]){ 2 });
  g_autoptr (AprTensor) kept = NULL;
  g_autoptr (Scaled) model = g_object_new (scaled_get_type (), NULL);

  g_test_summary ("The penalties that a subclass sets in its fit hold for this fit, as alpha does.");

  model->alphas = alphas;
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, NULL));
  assert_same_double (element (coefficients_of (APR_LINEAR_REGRESSION (model)), 0), 1);
  kept = apr_linear_regression_get_alphas (APR_LINEAR_REGRESSION (model));
  g_assert_true (kept == alphas);

  apr_linear_regression_set_alphas (APR_LINEAR_REGRESSION (model), NULL);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, NULL));
  assert_same_double (element (coefficients_of (APR_LINEAR_REGRESSION (model)), 0), 1);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define ADD(path, function) g_test_add_func ("/subclass/" path, function)
  ADD ("fit-save-clone", test_fit_save_clone);
  ADD ("fit-async-calls-own-fit", test_fit_async_calls_own_fit);
  ADD ("fit-sets-alphas", test_fit_sets_alphas);
#undef ADD

  return g_test_run ();
}
