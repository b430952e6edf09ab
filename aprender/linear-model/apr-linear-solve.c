/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-solve-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-number-private.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/tensor/apr-tensor-private.h"

static gboolean
check_options (const AprLeastSquaresOptions *options, GError **error)
{
  AprDType dtype = options->dtype;
  char number[APR_NUMBER_SIZE];

  if (dtype != APR_DTYPE_NONE && dtype != APR_DTYPE_F32 && dtype != APR_DTYPE_F64)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_DTYPE,
                   "The hyper-parameter “dtype” is %s, but it must be F32, F64 or NONE",
                   apr_dtype_to_string (dtype));
      return FALSE;
    }

  if (!isfinite (options->alpha) || options->alpha < 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "The hyper-parameter “alpha” is %s, but it must be a finite number of at least 0",
                   apr_number_format (options->alpha, FALSE, number));
      return FALSE;
    }

  return TRUE;
}

/* @alphas may be %NULL. */
static gboolean
check_alphas (AprTensor *alphas, GError **error)
{
  gsize n_dims;
  const gsize *shape;
  gsize i;

  if (alphas == NULL)
    return TRUE;

  shape = apr_tensor_get_shape (alphas, &n_dims);
  if (n_dims != 1 || !apr_dtype_is_numeric (apr_tensor_get_dtype (alphas)))
    {
      g_autofree char *text = apr_shape_to_string (shape, n_dims);

      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "The hyper-parameter “alphas” must be numbers, [n_targets], but it is %s %s",
                   apr_dtype_to_string (apr_tensor_get_dtype (alphas)), text);
      return FALSE;
    }
  for (i = 0; i < shape[0]; i++)
    {
      double alpha = apr_tensor_get_double (alphas, i, NULL);
      char number[APR_NUMBER_SIZE];

      if (isfinite (alpha) && alpha >= 0)
        continue;
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "The hyper-parameter “alphas” is %s for target %" G_GSIZE_FORMAT
                   " (counted from 0), but it must be a finite number of at least 0",
                   apr_number_format (alpha, apr_tensor_get_dtype (alphas) == APR_DTYPE_F32, number), i);
      return FALSE;
    }

  return TRUE;
}

gboolean
apr_linear_options_check (const AprLinearOptions *options, AprTensor *alphas, GError **error)
{
  return check_options (&options->solver, error) && check_alphas (alphas, error);
}

gboolean
apr_linear_options_check_targets (AprTensor *alphas, gsize n_targets, GError **error)
{
  if (alphas == NULL || apr_tensor_get_n_elements (alphas) == n_targets)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
               "The hyper-parameter “alphas” has %" G_GSIZE_FORMAT " numbers, but there are %" G_GSIZE_FORMAT
               " targets",
               apr_tensor_get_n_elements (alphas), n_targets);
  return FALSE;
}

void
apr_linear_options_complete (AprLeastSquaresOptions *options, AprDType data_dtype, AprPrecision precision)
{
  options->data_dtype = data_dtype;
  options->rounded = precision == APR_PRECISION_DOUBLE;
  if (options->dtype == APR_DTYPE_NONE)
    options->dtype = data_dtype;
}

/* What is solved: samples, or the sums of some. */
typedef struct
{
  const AprSampleRows *rows; /* (unowned) (nullable) */
  const AprExactSums *sums;  /* (unowned) (nullable) */
  gsize n_features;
  gsize n_targets;
} Source;

static gboolean
solve_once (AprLeastSquares *solution,
            const Source *source,
            const AprLeastSquaresOptions *options,
            const AprRun *run,
            GError **error)
{
  if (source->rows != NULL)
    return apr_least_squares_solve_rows (solution, source->rows, options, run, error);

  /* What comes from a file could keep the solver busy for minutes. */
  return (options->rounded || apr_exact_sums_check (source->sums, run, error)) &&
         apr_least_squares_solve (solution, source->sums, options, run, error);
}

/* Adds the targets of @options to what has been found of others. */
static gboolean
solve_some (AprLeastSquares *solution,
            const Source *source,
            const AprLeastSquaresOptions *options,
            const AprRun *run,
            GError **error)
{
  gsize n_features = source->n_features;
  g_auto (AprLeastSquares) part = { NULL };
  gsize i;

  if (!solve_once (&part, source, options, run, error))
    return FALSE;

  if (solution->coefficients == NULL)
    {
      *solution = part;
      part = (AprLeastSquares){ NULL };
      return TRUE;
    }
  for (i = 0; i < source->n_targets; i++)
    if (options->targets[i])
      {
        memcpy (solution->coefficients + i * n_features, part.coefficients + i * n_features,
                n_features * sizeof (double));
        solution->intercepts[i] = part.intercepts[i];
      }
  solution->correctly_rounded = solution->correctly_rounded && part.correctly_rounded;
  if (part.rank < solution->rank)
    {
      gsize *dependent = solution->dependent;

      solution->rank = part.rank;
      solution->n_dependent = part.n_dependent;
      solution->dependent = part.dependent;
      part.dependent = dependent;
    }

  return TRUE;
}

/* One solution for each different penalty, of the targets that have it. The rank is the least. */
static gboolean
solve_by_alpha (AprLeastSquares *solution,
                const Source *source,
                AprTensor *alphas,
                const AprLeastSquaresOptions *options,
                const AprRun *run,
                GError **error)
{
  /* A penalty that is subnormal is not the same as none. */
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  gsize n_targets = source->n_targets;
  g_autofree gboolean *targets = g_new (gboolean, n_targets);
  g_autofree gboolean *done = g_new0 (gboolean, n_targets);
  AprLeastSquaresOptions own_options = *options;
  gsize i;
  gsize j;

  own_options.targets = targets;
  for (i = 0; i < n_targets; i++)
    {
      AprRun part;

      if (done[i])
        continue;
      own_options.alpha = apr_tensor_get_double (alphas, i, NULL);
      for (j = 0; j < n_targets; j++)
        {
          targets[j] = apr_tensor_get_double (alphas, j, NULL) == own_options.alpha;
          done[j] = done[j] || targets[j];
        }
      part = apr_run_get_part (run, (double) i / (double) n_targets, (double) (i + 1) / (double) n_targets);
      if (!solve_some (solution, source, &own_options, &part, error))
        return FALSE;
    }

  return TRUE;
}

static gboolean
solve (AprLeastSquares *solution,
       const Source *source,
       AprTensor *alphas,
       const AprLeastSquaresOptions *options,
       const AprRun *run,
       GError **error)
{
  return !apr_run_set_error_if_cancelled (run, error) &&
         apr_linear_options_check_targets (alphas, source->n_targets, error) &&
         (alphas != NULL ? solve_by_alpha (solution, source, alphas, options, run, error)
                         : solve_once (solution, source, options, run, error));
}

static gboolean
check_has_weight (gboolean has_weight, GError **error)
{
  if (!has_weight)
    g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS, "sample_weight has no value above zero");

  return has_weight;
}

gboolean
apr_linear_solve_state (AprLeastSquares *solution,
                        AprCrossProducts *state,
                        AprTensor *alphas,
                        const AprLeastSquaresOptions *options,
                        const AprRun *run,
                        GError **error)
{
  Source source = { .n_features = apr_cross_products_get_n_features (state),
                    .n_targets = apr_cross_products_get_n_targets (state) };
  g_autoptr (AprExactSums) sums = NULL;

  if (!check_has_weight (apr_cross_products_has_weight (state), error))
    return FALSE;

  source.rows = options->positive ? NULL : apr_cross_products_get_rows (state);
  if (source.rows == NULL)
    source.sums = sums = apr_cross_products_ref_sums (state, error);

  return (source.rows != NULL || sums != NULL) && solve (solution, &source, alphas, options, run, error);
}

gboolean
apr_linear_solve_sums (AprLeastSquares *solution,
                       const AprExactSums *sums,
                       AprTensor *alphas,
                       const AprLeastSquaresOptions *options,
                       const AprRun *run,
                       GError **error)
{
  Source source = { .sums = sums,
                    .n_features = apr_exact_sums_get_n_features (sums),
                    .n_targets = apr_exact_sums_get_n_targets (sums) };

  return check_has_weight (apr_exact_sums_has_weight (sums), error) &&
         solve (solution, &source, alphas, options, run, error);
}

/* Values that are already those of @dtype. */
AprTensor *
apr_linear_result_new (AprDType dtype, const double *values, const gsize *shape, gsize n_dims, GError **error)
{
  gsize n_values = shape[0] * (n_dims == 2 ? shape[1] : 1);
  float *floats;
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  gsize i;

  if (dtype == APR_DTYPE_F64)
    return apr_tensor_new_from_doubles (values, n_values, shape, n_dims, error);

  floats = apr_memory_new (n_values, sizeof *floats, "a tensor", error);
  if (floats == NULL)
    return NULL;
  for (i = 0; i < n_values; i++)
    floats[i] = (float) values[i];

  return apr_tensor_new_take (dtype, shape, n_dims, floats, n_values * sizeof *floats);
}
