/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-regression-diagnostics-private.h"

#include <math.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/inference/apr-residuals-private.h"
#include "aprender/tensor/apr-tensor-private.h"

enum
{
  FITTED_VALUES,
  RESIDUALS,
  LEVERAGES,
  STANDARDIZED_RESIDUALS,
  STUDENTIZED_RESIDUALS,
  COOKS_DISTANCES,
  N_VECTORS,
};

struct _AprRegressionDiagnostics
{
  GObject parent_instance;

  AprTensor *vectors[N_VECTORS]; /* (owned) */
  double durbin_watson;
};

/**
 * AprRegressionDiagnostics:
 *
 * What a linear regression says of each sample: how well it is fitted, and how much the fit depends on it.
 *
 * ```c
 * g_autoptr (AprRegressionDiagnostics) diagnostics =
 *   apr_linear_regression_diagnose (model, x, y, NULL, 0, NULL, &error);
 *
 * if (diagnostics == NULL)
 *   return FALSE;
 * distances = apr_regression_diagnostics_get_cooks_distances (diagnostics);
 * ```
 *
 * They come from [method@Apr.LinearRegression.diagnose], and are those of one target. Weights are precision weights, as
 * in [class@Apr.RegressionStatistics]. The definitions are those of R's `influence.measures ()`.
 *
 * The relative error of a leverage h is below 2⁻³⁵, but for those below 2⁻¹⁰²², for which doubles have fewer digits;
 * most have one of about 10⁻¹⁵. That of a standardised residual r is up to h / (1 - h) times as large, that of Cook's
 * distance up to (1 + h) / (1 - h) times, and that of a studentised residual, unless it is computed without the sample,
 * df / (df - r²) times that of r. To these, that of a residual e is added, which errs by less than 2⁻⁵¹ of e or of the
 * root of the residual sum of squares, whichever is larger; with weights, √w e does.
 *
 * Of an outlier, which makes nearly all of the residual sum of squares, and, where sums are exact, of a sample with a
 * leverage of 1 to within 2⁻³⁰, the three come from a fit without the sample instead, which takes as long as all
 * statistics. With exact sums the residuals have nearly all digits then, and Cook's distance as many as a leverage;
 * with the precision `DOUBLE`, as many as rounding leaves of the sums without the outlier. They are NaN where the
 * leverage is 1 to within 2⁻³⁴ and e below 2⁻⁵⁰ of that root: then the leverage is 1, as far as can be told, and the
 * fit says nothing of the sample. With the precision `DOUBLE`, they are NaN wherever it is 1 to within 2⁻³⁴.
 *
 * ## Threads, memory and blocking
 *
 * Diagnostics never change, so that any number of threads may read them at once. They own their tensors, and refer
 * neither to the samples nor to the model. Getters take constant time.
 *
 * Since: 0.1
 */
G_DEFINE_FINAL_TYPE (AprRegressionDiagnostics, apr_regression_diagnostics, G_TYPE_OBJECT)

enum
{
  PROP_DURBIN_WATSON = 1,
  PROP_FIRST_VECTOR,
  N_PROPS = PROP_FIRST_VECTOR + N_VECTORS,
};

static GParamSpec *properties[N_PROPS];

static void
apr_regression_diagnostics_finalize (GObject *object)
{
  AprRegressionDiagnostics *self = APR_REGRESSION_DIAGNOSTICS (object);
  gsize i;

  for (i = 0; i < N_VECTORS; i++)
    apr_tensor_unref (self->vectors[i]);

  G_OBJECT_CLASS (apr_regression_diagnostics_parent_class)->finalize (object);
}

static void
apr_regression_diagnostics_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  AprRegressionDiagnostics *self = APR_REGRESSION_DIAGNOSTICS (object);

  if (property_id == PROP_DURBIN_WATSON)
    g_value_set_double (value, self->durbin_watson);
  else if (property_id >= PROP_FIRST_VECTOR && property_id < N_PROPS)
    g_value_set_boxed (value, self->vectors[property_id - PROP_FIRST_VECTOR]);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
}

static void
apr_regression_diagnostics_class_init (AprRegressionDiagnosticsClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = apr_regression_diagnostics_finalize;
  object_class->get_property = apr_regression_diagnostics_get_property;

  /**
   * AprRegressionDiagnostics:durbin-watson: (getter get_durbin_watson)
   *
   * The statistic of J. Durbin and G. S. Watson, "Testing for serial correlation in least squares regression", 1950,
   * of the residuals times the roots of their weights: about 2 where residuals in a row are uncorrelated, 0 where
   * they are the same, 4 where they alternate. NaN where all are 0.
   *
   * Since: 0.1
   */
  properties[PROP_DURBIN_WATSON] =
    g_param_spec_double ("durbin-watson", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprRegressionDiagnostics:fitted-values: (getter get_fitted_values)
   *
   * What the exact solution gives for the samples, [n_samples]: the targets less
   * [property@Apr.RegressionDiagnostics:residuals], so that both add up to the targets, but for rounding. Predictions
   * of the model differ from them by the rounding of its coefficients and their own. NaN where a residual is infinite.
   *
   * Since: 0.1
   */
  properties[PROP_FIRST_VECTOR + FITTED_VALUES] =
    g_param_spec_boxed ("fitted-values", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprRegressionDiagnostics:residuals: (getter get_residuals)
   *
   * What the exact solution leaves of the targets, [n_samples]: the targets less the predictions, but without the
   * rounding of these. They are exactly 0 where the fit is perfect.
   *
   * Since: 0.1
   */
  properties[PROP_FIRST_VECTOR + RESIDUALS] =
    g_param_spec_boxed ("residuals", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprRegressionDiagnostics:leverages: (getter get_leverages)
   *
   * How much each prediction depends on its own target, between 0 and 1, [n_samples]: the diagonal of the hat matrix,
   * w x'(Z'WZ)⁻¹x.
   *
   * Since: 0.1
   */
  properties[PROP_FIRST_VECTOR + LEVERAGES] =
    g_param_spec_boxed ("leverages", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprRegressionDiagnostics:standardized-residuals: (getter get_standardized_residuals)
   *
   * The residuals by their own standard errors, √w e / (σ √(1 - h)), [n_samples]: R's `rstandard ()`, which others
   * call internally studentised. NaN where the leverage is 1.
   *
   * Since: 0.1
   */
  properties[PROP_FIRST_VECTOR + STANDARDIZED_RESIDUALS] =
    g_param_spec_boxed ("standardized-residuals", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprRegressionDiagnostics:studentized-residuals: (getter get_studentized_residuals)
   *
   * The same with the σ of the fit without the sample, [n_samples]: R's `rstudent ()`, which others call externally
   * studentised. Infinite where the fit without the sample is perfect. NaN where the leverage is 1, where there are
   * no degrees of freedom to spare, and, with the precision `DOUBLE`, where less is left without the sample than the
   * rounding of the sums.
   *
   * Since: 0.1
   */
  properties[PROP_FIRST_VECTOR + STUDENTIZED_RESIDUALS] =
    g_param_spec_boxed ("studentized-residuals", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprRegressionDiagnostics:cooks-distances: (getter get_cooks_distances)
   *
   * How far all predictions move when the sample is left out, after R. D. Cook, "Detection of influential observation
   * in linear regression", 1977, [n_samples]. NaN where the leverage is 1.
   *
   * Since: 0.1
   */
  properties[PROP_FIRST_VECTOR + COOKS_DISTANCES] =
    g_param_spec_boxed ("cooks-distances", NULL, NULL, APR_TYPE_TENSOR, flags);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
apr_regression_diagnostics_init (AprRegressionDiagnostics *self)
{
  const gsize n = 0;
  gsize i;

  /* Of an object that a script makes itself nothing is known. */
  self->durbin_watson = NAN;
  for (i = 0; i < N_VECTORS; i++)
    self->vectors[i] = apr_tensor_new_from_doubles (NULL, 0, &n, 1, NULL);
}

/* The residual standard error in units of 2^@exponent. */
static double
find_sigma (const AprInference *self, gsize target, gint64 exponent)
{
  double sigma;
  mpf_t variance;

  if (self->df_residual == 0 || apr_inference_is_uncertain (self, target))
    return NAN;

  mpf_init2 (variance, APR_INFERENCE_PRECISION);
  mpf_div_ui (variance, self->residuals[target], (gulong) MIN (self->df_residual, G_MAXULONG));
  mpf_sqrt (variance, variance);
  sigma = apr_inference_to_double (variance, self->exponent / 2 - exponent);
  mpf_clear (variance);

  return sigma;
}

/* Of the residual sum of squares, so much or less is left without an outlier. Times what its leverage lacks of 1, this
 * is below the second part: else rounding mostly leaves 36 bits of the difference of both, and fitting without it takes
 * as long as all statistics. */
#define OUTLIER 0x1p-7
#define ROUNDED_OUTLIER 0x1p-16

/* What a leverage lacks of 1, where rounding takes too many digits of it, and where it takes all. */
#define NEAR_ONE 0x1p-30
#define ROUNDED_TO_ONE 0x1p-34

/* A residual of so much of the root of the residual sum of squares, or less, may be rounding. */
#define ROUNDED_RESIDUAL 0x1p-50

/* The cross products of all samples but one. */
static AprCrossProducts *
leave_out (const AprInferenceSource *source,
           AprTensor *x,
           AprTensor *y,
           AprTensor *sample_weight,
           gsize sample,
           const AprRun *run,
           GError **error)
{
  gsize n_features = apr_cross_products_get_n_features (source->cross_products);
  gsize n_targets = apr_cross_products_get_n_targets (source->cross_products);
  g_autoptr (AprTensor) features = apr_tensor_slice_rows (x, sample, sample + 1, error);
  g_autoptr (AprTensor) targets = apr_tensor_slice_rows (y, sample, sample + 1, error);
  g_autoptr (AprTensor) weight =
    sample_weight != NULL ? apr_tensor_slice_rows (sample_weight, sample, sample + 1, error) : NULL;
  g_autoptr (AprCrossProducts) one = apr_cross_products_new (n_features, n_targets, error);
  g_autoptr (AprCrossProducts) others = apr_cross_products_copy (source->cross_products);
  const AprRun alone = { .n_threads = 1, .cancellable = run->cancellable };

  return apr_cross_products_update_with (one, features, targets, weight, APR_PRECISION_EXACT, &alone,
                                         error) &&
             apr_cross_products_combine (others, one, -1, run->cancellable, error)
         ? g_steal_pointer (&others)
         : NULL;
}

/* What the fit without a sample tells of it; all NaN where the features depend on each other then, so that its leverage
 * is 1. */
typedef struct
{
  double distance;     /* h / (1 - h) */
  double standardized; /* the residual's size */
  double growth;       /* how many times smaller the residual standard error is without the sample */
} Without;

/* Returns: the residual sum of squares of the others, by that of all. */
static double
compare_residuals (const AprInference *self, const AprInference *others, gsize target, double *growth)
{
  double share;
  mpf_t ratio;

  mpf_init2 (ratio, APR_INFERENCE_PRECISION);
  apr_inference_shift (ratio, others->residuals[target], others->exponent - self->exponent);
  mpf_div (ratio, ratio, self->residuals[target]);
  share = apr_inference_to_double (ratio, 0);
  *growth = INFINITY;
  if (mpf_sgn (ratio) > 0)
    {
      mpf_ui_div (ratio, (gulong) MIN (self->df_residual - 1, G_MAXULONG), ratio);
      mpf_div_ui (ratio, ratio, (gulong) MIN (self->df_residual, G_MAXULONG));
      mpf_sqrt (ratio, ratio);
      *growth = apr_inference_to_double (ratio, 0);
    }
  mpf_clear (ratio);

  return share;
}

/* @sigma is in units of 2^@exponent. With d, what the fit without the sample leaves of it, the residual with it is
 * (1 - h) d, and 1 - h is 1 / (1 + distance). The square of that, w d² / (1 + distance), is also what the sample adds
 * to the residual sum of squares: of an outlier, which may be beyond all numbers in the scale of the others, nearly
 * all. */
static gboolean
fit_without (const AprInference *self,
             const AprInferenceSource *source,
             AprTensor *x,
             AprTensor *y,
             AprTensor *sample_weight,
             gsize sample,
             gsize target,
             double sigma,
             gint64 exponent,
             const AprRun *run,
             Without *found,
             GError **error)
{
  const gsize one = 1;
  const double zero = 0;
  double root = sample_weight != NULL ? sqrt (apr_tensor_get_double (sample_weight, sample, NULL)) : 1;
  const AprRun alone = { .n_threads = run->n_threads, .cancellable = run->cancellable };
  g_autoptr (AprTensor) weight =
    sample_weight != NULL ? apr_tensor_slice_rows (sample_weight, sample, sample + 1, NULL) : NULL;
  g_autoptr (AprCrossProducts) sums = leave_out (source, x, y, sample_weight, sample, run, error);
  g_autoptr (AprTensor) features = apr_tensor_slice_rows (x, sample, sample + 1, NULL);
  g_autoptr (AprTensor) targets = apr_tensor_slice_rows (y, sample, sample + 1, NULL);
  g_autoptr (AprTensor) no_weight = apr_tensor_new_from_doubles (&zero, 1, &one, 1, NULL);
  AprInferenceSource without = *source;
  g_autoptr (AprInference) others = NULL;
  g_autoptr (GError) local_error = NULL;
  double residual = NAN;
  double share;
  gint64 unit = 0;

  *found = (Without){ NAN, NAN, NAN };
  if (sums == NULL)
    return FALSE;

  without.cross_products = sums;
  without.relations = FALSE;
  others = apr_inference_new (&without, &alone, &local_error);
  if (g_error_matches (local_error, APR_ERROR, APR_ERROR_MODEL))
    return TRUE;
  if (others == NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local_error));
      return FALSE;
    }

  share = compare_residuals (self, others, target, &found->growth);
  if (!apr_inference_find_distances (others, features, weight, &alone, &found->distance, error))
    return FALSE;
  /* A weight of 0 says that the sample is not one of the fit. */
  if (share >= OUTLIER && !apr_inference_find_residuals (others, &without, features, targets, no_weight,
                                                         target, &alone, &residual, NULL, &unit, error))
    return FALSE;

  if (isfinite (residual))
    found->standardized = ldexp (fabs (root * residual / (sigma * sqrt (1 + found->distance))),
                                 (int) CLAMP (unit - exponent, -5000, 5000));
  else
    found->standardized = sqrt ((1 - share) * (double) self->df_residual);

  return TRUE;
}

static void
free_vectors (double **vectors)
{
  gsize i;

  for (i = 0; i < N_VECTORS; i++)
    g_free (vectors[i]);
}

/* A target less its residual, which is the sum of two numbers in the unit 2^@exponent, and may be much larger; NaN
 * where it is infinite. What the first sum rounds off is added to the rest, which is small beside the sum, so that the
 * value is rounded once. */
static double
find_fitted (double y, double residual, double rest, int exponent)
{
  double scaled = ldexp (y, -exponent);
  AprDoubleDouble sum;

  if (!isfinite (residual))
    return NAN;

  if (ldexp (scaled, exponent) == y || !isfinite (ldexp (residual, exponent)))
    y = scaled;
  else
    {
      residual = ldexp (residual, exponent);
      rest = ldexp (rest, exponent);
      exponent = 0;
    }
  sum = apr_dd_two_sum (y, -residual);

  return ldexp (isfinite (sum.high) ? sum.high + (sum.low - rest) : sum.high, exponent);
}

/* @y has one row for each sample, and @sample_weight is none or a vector. */
AprRegressionDiagnostics *
apr_inference_diagnose (const AprInference *self,
                        const AprInferenceSource *source,
                        AprTensor *x,
                        AprTensor *y,
                        AprTensor *sample_weight,
                        gsize target,
                        const AprRun *caller,
                        GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  gsize missing = 0;
  const AprRun watching = apr_run_watch_memory (caller, &missing);
  const AprRun *run = &watching;
  AprRegressionDiagnostics *diagnostics;
  gsize n = apr_tensor_get_shape (x, NULL)[0];
  double df = (double) self->df_residual;
  double *vectors[N_VECTORS] = { NULL };
  gboolean has_room = TRUE;
  gint64 exponent;
  double sigma;
  double differences = 0;
  double squares = 0;
  double before = 0;
  gboolean counted = FALSE; /* whether there is a sample before; those of weight 0 are not */
  gsize i;

  for (i = 0; i < N_VECTORS && has_room; i++)
    {
      vectors[i] = apr_memory_new (n, sizeof (double), "sample diagnostics", error);
      has_room = vectors[i] != NULL;
    }
  if (!has_room || !apr_inference_get_leverages (self, x, sample_weight, run, vectors[LEVERAGES], error) ||
      !apr_inference_find_residuals (self, source, x, y, sample_weight, target, run, vectors[RESIDUALS],
                                     vectors[FITTED_VALUES], &exponent, error))
    {
      free_vectors (vectors);
      return NULL;
    }

  /* In the unit of the residuals, in which squares are neither too large nor too small. */
  sigma = find_sigma (self, target, exponent);
  for (i = 0; i < n; i++)
    {
      double weight = sample_weight != NULL ? apr_tensor_get_double (sample_weight, i, NULL) : 1;
      /* A sample without weight may be so far away that it is infinite. */
      double weighted = weight > 0 ? sqrt (weight) * vectors[RESIDUALS][i] / sigma : 0;
      double leverage = vectors[LEVERAGES][i];
      double left = 1 - leverage;
      double distance = leverage / left;
      double standardized = self->df_residual > 0 && left > ROUNDED_TO_ONE ? weighted / sqrt (left) : NAN;
      double spare = df - standardized * standardized;
      double studentized = self->df_residual > 1 ? standardized * sqrt ((df - 1) / spare) : NAN;
      gboolean is_outlier =
        self->df_residual > 1 && spare < OUTLIER * df && spare * left < ROUNDED_OUTLIER * df;
      /* A leverage of 1 leaves nothing but rounding. */
      gboolean is_far = self->df_residual > 0 && left <= NEAR_ONE && self->rounding[target] == 0 &&
                        fabs (weighted) > ROUNDED_RESIDUAL * sqrt (df);

      /* Rounded sums do not tell what is left without a sample better. */
      if (self->rounding[target] > 0 && !(spare > self->rounding[target] * df))
        studentized = NAN;
      else if (is_outlier || is_far)
        {
          Without without;

          if (!fit_without (self, source, x, y, sample_weight, i, target, sigma, exponent, run, &without,
                            error))
            {
              free_vectors (vectors);
              return NULL;
            }
          distance = without.distance;
          standardized = copysign (without.standardized, weighted);
          studentized = self->df_residual > 1 ? standardized * without.growth : NAN;
        }

      vectors[FITTED_VALUES][i] =
        find_fitted (apr_tensor_get_double (y, i * self->n_targets + target, NULL), vectors[RESIDUALS][i],
                     vectors[FITTED_VALUES][i], (int) exponent);
      vectors[RESIDUALS][i] = ldexp (vectors[RESIDUALS][i], (int) exponent);
      vectors[STANDARDIZED_RESIDUALS][i] = standardized;
      vectors[STUDENTIZED_RESIDUALS][i] = studentized;
      vectors[COOKS_DISTANCES][i] = standardized * standardized * distance / (double) self->n;
      if (weight == 0)
        continue;
      if (counted)
        differences += (weighted - before) * (weighted - before);
      squares += weighted * weighted;
      before = weighted;
      counted = TRUE;
    }

  diagnostics = g_object_new (APR_TYPE_REGRESSION_DIAGNOSTICS, NULL);
  diagnostics->durbin_watson = differences / squares;
  for (i = 0; i < N_VECTORS; i++)
    {
      apr_tensor_unref (diagnostics->vectors[i]);
      diagnostics->vectors[i] = apr_tensor_new_take (APR_DTYPE_F64, &n, 1, vectors[i], n * sizeof (double));
    }

  return diagnostics;
}

/**
 * apr_regression_diagnostics_get_durbin_watson: (get-property durbin-watson)
 * @self: diagnostics
 *
 * Gets the Durbin-Watson statistic of the residuals.
 *
 * Returns: the statistic, between 0 and 4
 *
 * Since: 0.1
 */
double
apr_regression_diagnostics_get_durbin_watson (AprRegressionDiagnostics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_DIAGNOSTICS (self), NAN);

  return self->durbin_watson;
}

/**
 * apr_regression_diagnostics_get_fitted_values: (get-property fitted-values)
 * @self: diagnostics
 *
 * Gets the fitted values, F64.
 *
 * Returns: (transfer none): the fitted values, [n_samples]
 *
 * Since: 0.1
 */
AprTensor *
apr_regression_diagnostics_get_fitted_values (AprRegressionDiagnostics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_DIAGNOSTICS (self), NULL);

  return self->vectors[FITTED_VALUES];
}

/**
 * apr_regression_diagnostics_get_residuals: (get-property residuals)
 * @self: diagnostics
 *
 * Gets the residuals, F64.
 *
 * Returns: (transfer none): the residuals, [n_samples]
 *
 * Since: 0.1
 */
AprTensor *
apr_regression_diagnostics_get_residuals (AprRegressionDiagnostics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_DIAGNOSTICS (self), NULL);

  return self->vectors[RESIDUALS];
}

/**
 * apr_regression_diagnostics_get_leverages: (get-property leverages)
 * @self: diagnostics
 *
 * Gets the leverages, F64.
 *
 * Returns: (transfer none): the leverages, [n_samples]
 *
 * Since: 0.1
 */
AprTensor *
apr_regression_diagnostics_get_leverages (AprRegressionDiagnostics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_DIAGNOSTICS (self), NULL);

  return self->vectors[LEVERAGES];
}

/**
 * apr_regression_diagnostics_get_standardized_residuals: (get-property standardized-residuals)
 * @self: diagnostics
 *
 * Gets the standardised residuals, F64.
 *
 * Returns: (transfer none): the standardised residuals, [n_samples]
 *
 * Since: 0.1
 */
AprTensor *
apr_regression_diagnostics_get_standardized_residuals (AprRegressionDiagnostics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_DIAGNOSTICS (self), NULL);

  return self->vectors[STANDARDIZED_RESIDUALS];
}

/**
 * apr_regression_diagnostics_get_studentized_residuals: (get-property studentized-residuals)
 * @self: diagnostics
 *
 * Gets the studentised residuals, F64.
 *
 * Returns: (transfer none): the studentised residuals, [n_samples]
 *
 * Since: 0.1
 */
AprTensor *
apr_regression_diagnostics_get_studentized_residuals (AprRegressionDiagnostics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_DIAGNOSTICS (self), NULL);

  return self->vectors[STUDENTIZED_RESIDUALS];
}

/**
 * apr_regression_diagnostics_get_cooks_distances: (get-property cooks-distances)
 * @self: diagnostics
 *
 * Gets Cook's distances, F64.
 *
 * Returns: (transfer none): Cook's distances, [n_samples]
 *
 * Since: 0.1
 */
AprTensor *
apr_regression_diagnostics_get_cooks_distances (AprRegressionDiagnostics *self)
{
  g_return_val_if_fail (APR_IS_REGRESSION_DIAGNOSTICS (self), NULL);

  return self->vectors[COOKS_DISTANCES];
}
