/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>
#include <stdio.h>

#define EXAMPLE_TYPE_MEAN (example_mean_get_type ())
G_DECLARE_FINAL_TYPE (ExampleMean, example_mean, EXAMPLE, MEAN, AprEstimator)

struct _ExampleMean
{
  AprEstimator parent_instance;
  double factor;
};

G_DEFINE_FINAL_TYPE (ExampleMean, example_mean, APR_TYPE_ESTIMATOR)

static AprTensor *
new_vector (const double *values, gsize n, GError **error)
{
  return apr_tensor_new_from_doubles (values, n, &n, 1, error);
}

static gboolean
example_mean_fit (AprEstimator *self,
                  G_GNUC_UNUSED AprTensor *x,
                  AprTensor *y,
                  AprTensor *sample_weight,
                  G_GNUC_UNUSED GCancellable *cancellable,
                  GError **error)
{
  gsize n = apr_tensor_get_n_elements (y);
  g_autoptr (AprTensor) result = NULL;
  double mean = 0;

  if (sample_weight != NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS, "The mean takes no sample_weight");
      return FALSE;
    }
  for (gsize i = 0; i < n; i++)
    mean += apr_tensor_get_double (y, i, NULL) / (double) n;
  result = new_vector (&mean, 1, NULL);
  return apr_estimator_set_result (self, "mean", result, error);
}

static AprTensor *
example_mean_predict (AprEstimator *self, AprTensor *x, GError **error)
{
  gsize n_samples = apr_tensor_get_shape (x, NULL)[0];
  g_autofree double *values = g_new (double, n_samples);
  g_autoptr (AprTensor) mean = apr_estimator_get_result (self, "mean", error);

  if (mean == NULL)
    return NULL;
  for (gsize i = 0; i < n_samples; i++)
    values[i] = EXAMPLE_MEAN (self)->factor * apr_tensor_get_double (mean, 0, NULL);
  return new_vector (values, n_samples, error);
}

static void
example_mean_set_property (GObject *object,
                           G_GNUC_UNUSED guint id,
                           const GValue *value,
                           G_GNUC_UNUSED GParamSpec *pspec)
{
  EXAMPLE_MEAN (object)->factor = g_value_get_double (value);
}

static void
example_mean_get_property (GObject *object,
                           G_GNUC_UNUSED guint id,
                           GValue *value,
                           G_GNUC_UNUSED GParamSpec *pspec)
{
  g_value_set_double (value, EXAMPLE_MEAN (object)->factor);
}

static void
example_mean_class_init (ExampleMeanClass *klass)
{
  APR_ESTIMATOR_CLASS (klass)->fit = example_mean_fit;
  APR_ESTIMATOR_CLASS (klass)->predict = example_mean_predict;
  G_OBJECT_CLASS (klass)->set_property = example_mean_set_property;
  G_OBJECT_CLASS (klass)->get_property = example_mean_get_property;
  g_object_class_install_property (
    G_OBJECT_CLASS (klass), 1,
    g_param_spec_double ("factor", NULL, NULL, 0, 100, 1, G_PARAM_READWRITE | G_PARAM_CONSTRUCT));
}

static void
example_mean_init (G_GNUC_UNUSED ExampleMean *self)
{
}

static void
print_predictions (AprEstimator *model, AprTensor *x, const char *before)
{
  g_autoptr (AprTensor) predictions = apr_estimator_predict (model, x, NULL);

  printf ("%s", before);
  for (gsize i = 0; i < apr_tensor_get_n_elements (predictions); i++)
    printf ("%s%g", i > 0 ? " " : "", apr_tensor_get_double (predictions, i, NULL));
  printf ("\n");
}

static gboolean
run (GError **error)
{
  const gsize shape[] = { 3, 2 };
  g_autoptr (AprTensor) x = apr_tensor_new_from_doubles ((double[]){ 1, 5, 2, 6, 3, 7 }, 6, shape, 2, error);
  g_autoptr (AprTensor) y = new_vector ((double[]){ 1, 2, 6 }, 3, error);
  g_autoptr (AprTensor) ones = new_vector ((double[]){ 1, 1, 1 }, 3, error);
  g_autoptr (AprTensor) twos = new_vector ((double[]){ 2, 2, 2 }, 3, error);
  g_autoptr (AprEstimator) model = g_object_new (EXAMPLE_TYPE_MEAN, "factor", 2.0, NULL);
  g_autoptr (AprEstimator) loaded = NULL;
  g_autoptr (AprEstimator) clone = NULL;
  double score;

  if (!apr_estimator_fit (model, x, y, NULL, NULL, error))
    return FALSE;
  print_predictions (model, x, "");
  if (!apr_estimator_save (model, "mean.safetensors", error))
    return FALSE;

  loaded = apr_estimator_load (EXAMPLE_TYPE_MEAN, "mean.safetensors", error);
  if (loaded == NULL)
    return FALSE;
  print_predictions (loaded, x, "2 ");

  clone = apr_estimator_clone (loaded);
  if (!apr_estimator_fit (clone, x, ones, NULL, NULL, error))
    return FALSE;
  score = apr_estimator_score (clone, x, twos, NULL, error);
  printf ("%g\n", score);
  return TRUE;
}

int
main (void)
{
  g_autoptr (GError) error = NULL;

  if (run (&error))
    return 0;
  fprintf (stderr, "%s\n", error->message);
  return 1;
}
