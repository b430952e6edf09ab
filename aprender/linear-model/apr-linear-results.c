/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression-private.h"

#include <math.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/inference/apr-prediction-rounding-private.h"

/* A list of the results that were left, the last one first. It is taken as a whole: no thread can take one that another
 * frees. */
static AprLinearResults *left; /* (atomic) */

static void
free_results (AprLinearResults *self)
{
  g_clear_pointer (&self->coefficients, apr_tensor_unref);
  g_clear_pointer (&self->intercept, apr_tensor_unref);
  g_clear_pointer (&self->dependent, g_array_unref);
  g_clear_object (&self->cross_products);
  g_clear_pointer (&self->inference, apr_inference_unref);
  g_strfreev (self->inference_names);
  g_mutex_clear (&self->lock);
  g_free (self);
}

static void
free_left (void)
{
  AprLinearResults *results =
    g_atomic_pointer_get (&left) != NULL ? g_atomic_pointer_exchange (&left, NULL) : NULL;

  while (results != NULL)
    {
      AprLinearResults *next = results->next_left;

      free_results (results);
      results = next;
    }
}

AprLinearResults *
apr_linear_results_new (const AprLeastSquaresOptions *fitted)
{
  AprLinearResults *self = g_new0 (AprLinearResults, 1);

  free_left ();
  self->ref_count = 1;
  self->rank = APR_RANK_UNKNOWN;
  self->condition_number = NAN;
  self->prediction_rounding = NAN;
  self->fitted = *fitted;
  g_mutex_init (&self->lock);

  return self;
}

gboolean
apr_linear_results_take_tensors (AprLinearResults *self,
                                 AprTensor *coefficients,
                                 AprTensor *intercept,
                                 GError **error)
{
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (coefficients, &n_dims);

  self->coefficients = coefficients;
  self->intercept = intercept;
  self->n_features = shape[n_dims - 1];
  self->n_targets = n_dims == 2 ? shape[0] : 1;
  if (apr_tensor_get_dtype (coefficients) == APR_DTYPE_F64)
    self->doubles = apr_tensor_get_doubles (coefficients, NULL, error);
  else
    self->floats = apr_tensor_get_floats (coefficients, NULL, error);
  self->intercept_double = apr_tensor_get_double (intercept, 0, NULL);

  return self->doubles != NULL || self->floats != NULL || apr_tensor_get_n_elements (coefficients) == 0;
}

void
apr_linear_results_find_prediction_rounding (AprLinearResults *self)
{
  AprDType dtype = apr_cross_products_get_dtype (self->cross_products);
  g_autoptr (AprExactSums) sums = NULL;
  gsize i;

  /* Of few samples, sums would take longer than the fit. */
  if (apr_cross_products_get_rows (self->cross_products) == NULL)
    sums = apr_cross_products_ref_sums (self->cross_products, NULL);
  for (i = 0; i < self->n_targets; i++)
    {
      double rounding = apr_find_prediction_rounding (sums, dtype, self->coefficients, self->intercept, i);

      self->prediction_rounding = i == 0 ? rounding : MAX (self->prediction_rounding, rounding);
    }
}

AprLinearResults *
apr_linear_results_ref (AprLinearResults *self)
{
  g_atomic_int_inc (&self->ref_count);

  return self;
}

void
apr_linear_results_unref (AprLinearResults *self)
{
  free_left ();
  if (g_atomic_int_dec_and_test (&self->ref_count))
    free_results (self);
}

void
apr_linear_results_leave (AprHeldResults *self)
{
  if (G_LIKELY (!g_atomic_int_dec_and_test (&self->ref_count)))
    return;

  do
    self->next_left = g_atomic_pointer_get (&left);
  while (!g_atomic_pointer_compare_and_exchange (&left, self->next_left, self));
}

gboolean
apr_linear_results_has_statistics (const AprLinearResults *self)
{
  /* A penalty that is subnormal is one. */
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();

  return self != NULL && self->cross_products != NULL && self->fitted.alpha == 0 && !self->fitted.positive;
}

static gboolean
find_condition (const AprLinearResults *self, const AprRun *run, double *number, GError **error)
{
  g_autoptr (AprExactSums) sums = NULL;

  if (self->fitted.alpha == 0 && self->rank < (gint64) self->n_features)
    *number = INFINITY;
  /* A model with a penalty for each target has none. With one penalty, finding it takes the products of all
   * features, which a state that stays rows does not have. */
  else if (!isnan (self->fitted.alpha) && !apr_cross_products_stays_rows (self->cross_products))
    {
      sums = apr_cross_products_ref_sums (self->cross_products, error);
      if (sums == NULL)
        return FALSE;
      *number = apr_least_squares_find_condition (sums, &self->fitted, run);
    }

  return !apr_run_set_error_if_cancelled (run, error);
}

gboolean
apr_linear_results_find_condition_number (AprLinearResults *self,
                                          const AprRun *caller,
                                          double *number,
                                          GError **error)
{
  gsize missing = 0;
  const AprRun run = apr_run_watch_memory (caller, &missing);
  double known;

  g_mutex_lock (&self->lock);
  known = self->condition_number;
  g_mutex_unlock (&self->lock);
  *number = known != APR_CONDITION_PENDING ? known : (double) NAN;
  if (known != APR_CONDITION_PENDING)
    return !apr_run_set_error_if_cancelled (&run, error);

  /* Not under the lock, where others would wait for it. */
  if (!find_condition (self, &run, number, error))
    return FALSE;

  g_mutex_lock (&self->lock);
  self->condition_number = *number;
  g_mutex_unlock (&self->lock);

  return TRUE;
}

AprInference *
apr_linear_results_ref_inference (AprLinearResults *self, char **feature_names)
{
  AprInference *inference = NULL;

  g_mutex_lock (&self->lock);
  if (self->inference != NULL && apr_names_equal (self->inference_names, feature_names))
    inference = apr_inference_ref (self->inference);
  g_mutex_unlock (&self->lock);

  return inference;
}

void
apr_linear_results_keep_inference (AprLinearResults *self, AprInference *inference, char **feature_names)
{
  g_autoptr (AprInference) before = NULL;
  g_auto (GStrv) names_before = NULL;

  g_mutex_lock (&self->lock);
  before = self->inference;
  names_before = self->inference_names;
  self->inference = apr_inference_ref (inference);
  self->inference_names = g_strdupv (feature_names);
  g_mutex_unlock (&self->lock);
}

static gpointer
ref (gpointer results)
{
  return apr_linear_results_ref (results);
}

static void
unref (gpointer results)
{
  apr_linear_results_unref (results);
}

const AprResultsType apr_linear_results_type = {
  .begin = apr_linear_regression_keep_options,
  .ref = ref,
  .unref = unref,
  .save_tensors = apr_linear_regression_save_tensors,
  .save = apr_linear_regression_save_results,
  .notify = apr_linear_regression_notify_results,
  .notify_names = apr_linear_regression_notify_names,
};
