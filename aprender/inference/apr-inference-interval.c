/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-inference-private.h"

#include <math.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-error.h"
#include "aprender/inference/apr-distributions-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* So much of the exponents of doubles that squares of what is below it, and its sums, are no infinities. */
#define MAX_EXPONENT 100

static double
get_value (const AprInference *self, const double *row, gsize position)
{
  return position < self->first ? 1 : row[self->term[position] - self->first];
}

/* The standard error of the prediction for one row; @z has a place for each position. Without degrees of freedom it is not known.
 */
static double
get_prediction_error (
  const AprInference *self, gsize target, AprIntervalKind kind, const double *row, double *z)
{
  gint64 shift = 0;
  double variance;
  double error;
  mpf_t number;
  gsize i;

  if (self->df_residual == 0)
    return NAN;

  for (i = 0; i < self->n; i++)
    {
      double value = get_value (self, row, i);

      if (value != 0)
        shift = MAX (shift, ilogb (value) - self->inverse.scale[i] - self->exponent / 2 - MAX_EXPONENT);
    }
  for (i = 0; i < self->n; i++)
    {
      gint64 scale = self->inverse.scale[i] + self->exponent / 2 + shift;

      z[i] = ldexp (get_value (self, row, i), (int) CLAMP (-scale, -5000, 5000));
    }

  /* Beside what had to be made smaller, 1 is nothing. */
  variance =
    apr_inverse_get_leverage (&self->inverse, z) + (kind == APR_INTERVAL_PREDICTION && shift == 0 ? 1 : 0);
  mpf_init2 (number, APR_INFERENCE_PRECISION);
  mpf_set_d (number, variance / (double) self->df_residual);
  mpf_mul (number, number, self->inverse.residuals[target]);
  mpf_sqrt (number, number);
  error = apr_inference_to_double (number, self->exponent / 2 + shift);
  mpf_clear (number);

  return error;
}

gboolean
apr_inference_predict_interval (const AprInference *self,
                                AprTensor *x,
                                AprTensor *predictions,
                                double level,
                                AprIntervalKind kind,
                                AprTensor **lower,
                                AprTensor **upper,
                                GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  const gsize *shape = apr_tensor_get_shape (x, NULL);
  const guint8 *data = g_bytes_get_data (apr_tensor_get_bytes (x), NULL);
  gsize n_targets = self->inverse.n_targets;
  g_autoptr (AprTensor) middle = apr_tensor_cast (predictions, APR_DTYPE_F64, error);
  g_autofree double *values = g_new (double, shape[1]);
  g_autofree double *z = g_new (double, self->n + 1);
  g_autofree double *lower_ends = NULL;
  g_autofree double *upper_ends = NULL;
  const gsize *end_shape;
  const double *ends;
  gsize n_ends;
  gsize n_dims;
  gsize row;
  gsize i;
  double t;

  if (middle == NULL)
    return FALSE;

  ends = apr_tensor_get_doubles (middle, &n_ends, NULL);
  lower_ends = g_new (double, n_ends);
  upper_ends = g_new (double, n_ends);
  t = apr_t_two_sided_inverse (1 - level, (double) self->df_residual);
  for (row = 0; row < shape[0]; row++)
    {
      for (i = 0; i < shape[1]; i++)
        values[i] = apr_dtype_read_double (apr_tensor_get_dtype (x), data, row * shape[1] + i);
      for (i = row * n_targets; i < (row + 1) * n_targets; i++)
        {
          double reach = t * get_prediction_error (self, i - row * n_targets, kind, values, z);

          lower_ends[i] = ends[i] - reach;
          upper_ends[i] = ends[i] + reach;
        }
    }

  end_shape = apr_tensor_get_shape (middle, &n_dims);
  *lower = apr_tensor_new_from_doubles (lower_ends, n_ends, end_shape, n_dims, NULL);
  *upper = apr_tensor_new_from_doubles (upper_ends, n_ends, end_shape, n_dims, NULL);
  return TRUE;
}
