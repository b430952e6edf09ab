/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression-private.h"

#include <math.h>
#include <string.h>

#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/estimator/apr-hyper-parameters-private.h"

typedef struct
{
  GMutex lock; /* of the options */
  AprLinearOptions options;
  AprTensor *alphas; /* (owned) (nullable) */

  AprLinearOptions kept;  /* as the last fit began */
  AprTensor *kept_alphas; /* (owned) (nullable) */
} AprLinearRegressionPrivate;

/**
 * AprLinearRegression:
 *
 * Linear regression: the coefficients b and the intercept a that minimise Σ w (y - a - X b)² + alpha Σ b².
 *
 * Fit it, look at [property@Apr.LinearRegression:coefficients] and [property@Apr.LinearRegression:intercept], ask for
 * [method@Apr.LinearRegression.get_statistics], predict, and save it:
 *
 * ```c
 * g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
 *
 * if (!apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error) ||
 *     !apr_estimator_save (APR_ESTIMATOR (model), "model.safetensors", &error))
 *   g_printerr ("%s\n", error->message);
 * ```
 *
 * An application uses [method@Apr.Estimator.fit_async], and binds [property@Apr.Estimator:busy] and
 * [property@Apr.Estimator:progress] to its widgets.
 *
 * The answer is correctly rounded: where the features are independent, each coefficient is the float or double
 * nearest to the exact least-squares solution for the data as given, however ill-conditioned they are, in any order
 * of the rows, with any number of threads and on any processor. [property@Apr.LinearRegression:correctly-rounded]
 * tells whether that has been proven. A coefficient too large for the dtype is an error; one too small is rounded
 * to a subnormal number or to zero.
 *
 * Where features depend on each other, or are more than the samples, many coefficients fit equally well, and the
 * ones of minimum norm are taken. The chapter on the method in the documentation says when a feature counts as
 * dependent, and how all this is computed.
 *
 * The exact cross products of the samples stay with the model: [method@Apr.LinearRegression.partial_fit] adds
 * samples to them at no loss, and [property@Apr.LinearRegression:keep-state] puts them into the file. A file holds
 * the tensors `coefficients` [n_features] or [n_targets, n_features], and `intercept` [1] or [n_targets]. Files of
 * the Rust aprender are read too; those of F16 and BF16 become F32.
 *
 * ## Threads, memory and blocking
 *
 * The rules of [class@Apr.Estimator] on threads, blocking, ownership and failure hold. All virtual functions of
 * this class are thread-safe. What was found in a fit is one immutable value: readers see that of before or after a
 * fit, tensors that were handed out stay as they are, and [method@Apr.Estimator.copy] takes no time.
 *
 * ## Subclasses
 *
 * Where a subclass overrides `fit` and `predict`, [method@Apr.Estimator.fit], [method@Apr.Estimator.predict],
 * [method@Apr.Estimator.score] and their twins call its functions. The methods of this class are linear regression's
 * own and do not: [method@Apr.LinearRegression.partial_fit], [method@Apr.LinearRegression.fit_cross_products],
 * [method@Apr.LinearRegression.predict_one], [method@Apr.LinearRegression.predict_interval] and all others take y as it
 * is given, and use the coefficients as they are. So a model of transformed targets, such as their logarithms, better
 * derives from [class@Apr.Estimator] and has a linear regression.
 *
 * Since: 0.1
 */
G_DEFINE_TYPE_WITH_PRIVATE (AprLinearRegression, apr_linear_regression, APR_TYPE_ESTIMATOR)

enum
{
  PROP_FIT_INTERCEPT = 1,
  PROP_ALPHA,
  PROP_ALPHAS,
  PROP_POSITIVE,
  PROP_DTYPE,
  PROP_PRECISION,
  PROP_KEEP_STATE,
  PROP_N_THREADS,
  PROP_COEFFICIENTS,
  PROP_INTERCEPT,
  PROP_RANK,
  PROP_CORRECTLY_ROUNDED,
  PROP_PREDICTION_ROUNDING,
  PROP_DEPENDENT_FEATURES,
  PROP_CROSS_PRODUCTS,
  PROP_HAS_STATISTICS,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

AprLinearOptions
apr_linear_regression_get_options (AprLinearRegression *self)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_instance_private (self);
  AprLinearOptions options;

  g_mutex_lock (&priv->lock);
  options = priv->options;
  g_mutex_unlock (&priv->lock);

  return options;
}

void
apr_linear_regression_keep_options (AprEstimator *estimator)
{
  AprLinearRegressionPrivate *priv =
    apr_linear_regression_get_instance_private (APR_LINEAR_REGRESSION (estimator));
  g_autoptr (AprTensor) before = NULL;

  g_mutex_lock (&priv->lock);
  before = priv->kept_alphas;
  priv->kept = priv->options;
  priv->kept_alphas = priv->alphas != NULL ? apr_tensor_ref (priv->alphas) : NULL;
  g_mutex_unlock (&priv->lock);
}

AprTensor *
apr_linear_regression_ref_kept (AprLinearRegression *self, AprLinearOptions *options)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_instance_private (self);
  AprTensor *alphas;

  g_mutex_lock (&priv->lock);
  *options = priv->kept;
  alphas = priv->kept_alphas != NULL ? apr_tensor_ref (priv->kept_alphas) : NULL;
  g_mutex_unlock (&priv->lock);

  return alphas;
}

AprLinearRegression *
apr_linear_regression_new_with (const AprLinearOptions *options, AprTensor *alphas)
{
  AprLinearRegression *self = apr_linear_regression_new ();
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_instance_private (self);

  priv->options = *options;
  apr_linear_regression_set_alphas (self, alphas);

  return self;
}

void
apr_linear_regression_set_option (
  AprLinearRegression *self, gsize offset, gconstpointer value, gsize size, const char *property)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_instance_private (self);
  gpointer option = (guint8 *) &priv->options + offset;
  g_autoptr (AprFitted) pending = apr_estimator_ref_pending (APR_ESTIMATOR (self));
  gboolean is_other;

  g_mutex_lock (&priv->lock);
  is_other = memcmp (option, value, size) != 0;
  memcpy (option, value, size);
  /* What a subclass sets in its fit, before it calls this class's fit, holds for that fit. */
  if (pending != NULL)
    memcpy ((guint8 *) &priv->kept + offset, value, size);
  g_mutex_unlock (&priv->lock);

  if (is_other)
    g_object_notify (G_OBJECT (self), property);
}

static void
apr_linear_regression_finalize (GObject *object)
{
  AprLinearRegressionPrivate *priv =
    apr_linear_regression_get_instance_private (APR_LINEAR_REGRESSION (object));

  g_mutex_clear (&priv->lock);
  g_clear_pointer (&priv->alphas, apr_tensor_unref);
  g_clear_pointer (&priv->kept_alphas, apr_tensor_unref);

  G_OBJECT_CLASS (apr_linear_regression_parent_class)->finalize (object);
}

static void
apr_linear_regression_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  AprLinearRegression *self = APR_LINEAR_REGRESSION (object);
  AprLinearOptions options = apr_linear_regression_get_options (self);

  switch (property_id)
    {
    case PROP_FIT_INTERCEPT:
      g_value_set_boolean (value, options.solver.fit_intercept);
      break;
    case PROP_ALPHA:
      g_value_set_double (value, options.solver.alpha);
      break;
    case PROP_ALPHAS:
      g_value_take_boxed (value, apr_linear_regression_get_alphas (self));
      break;
    case PROP_POSITIVE:
      g_value_set_boolean (value, options.solver.positive);
      break;
    case PROP_DTYPE:
      g_value_set_enum (value, options.solver.dtype);
      break;
    case PROP_PRECISION:
      g_value_set_enum (value, options.precision);
      break;
    case PROP_KEEP_STATE:
      g_value_set_boolean (value, options.keep_state);
      break;
    case PROP_N_THREADS:
      g_value_set_uint (value, options.n_threads);
      break;
    case PROP_COEFFICIENTS:
      g_value_take_boxed (value, apr_linear_regression_get_coefficients (self));
      break;
    case PROP_INTERCEPT:
      g_value_take_boxed (value, apr_linear_regression_get_intercept (self));
      break;
    case PROP_RANK:
      g_value_set_int64 (value, apr_linear_regression_get_rank (self));
      break;
    case PROP_CORRECTLY_ROUNDED:
      g_value_set_boolean (value, apr_linear_regression_get_correctly_rounded (self));
      break;
    case PROP_PREDICTION_ROUNDING:
      g_value_set_double (value, apr_linear_regression_get_prediction_rounding (self));
      break;
    case PROP_DEPENDENT_FEATURES:
      g_value_take_boxed (value, apr_linear_regression_get_dependent_features (self));
      break;
    case PROP_CROSS_PRODUCTS:
      g_value_take_object (value, apr_linear_regression_get_cross_products (self));
      break;
    case PROP_HAS_STATISTICS:
      g_value_set_boolean (value, apr_linear_regression_get_has_statistics (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

static void
apr_linear_regression_set_property (GObject *object,
                                    guint property_id,
                                    const GValue *value,
                                    GParamSpec *pspec)
{
  AprLinearRegression *self = APR_LINEAR_REGRESSION (object);

  switch (property_id)
    {
    case PROP_FIT_INTERCEPT:
      apr_linear_regression_set_fit_intercept (self, g_value_get_boolean (value));
      break;
    case PROP_ALPHA:
      apr_linear_regression_set_alpha (self, g_value_get_double (value));
      break;
    case PROP_ALPHAS:
      apr_linear_regression_set_alphas (self, g_value_get_boxed (value));
      break;
    case PROP_POSITIVE:
      apr_linear_regression_set_positive (self, g_value_get_boolean (value));
      break;
    case PROP_DTYPE:
      apr_linear_regression_set_dtype (self, (AprDType) g_value_get_enum (value));
      break;
    case PROP_PRECISION:
      apr_linear_regression_set_precision (self, (AprPrecision) g_value_get_enum (value));
      break;
    case PROP_KEEP_STATE:
      apr_linear_regression_set_keep_state (self, g_value_get_boolean (value));
      break;
    case PROP_N_THREADS:
      apr_linear_regression_set_n_threads (self, g_value_get_uint (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

static void
apr_linear_regression_class_init (AprLinearRegressionClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  AprEstimatorClass *estimator_class = APR_ESTIMATOR_CLASS (klass);
  GParamFlags hyper_parameter = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;
  GParamFlags result = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;

  object_class->finalize = apr_linear_regression_finalize;
  object_class->get_property = apr_linear_regression_get_property;
  object_class->set_property = apr_linear_regression_set_property;

  estimator_class->fit = apr_linear_regression_fit;
  estimator_class->predict = apr_linear_regression_predict;
  estimator_class->save_tensors = apr_linear_regression_save_tensors;
  estimator_class->load_tensors = apr_linear_regression_load_tensors;
  estimator_class->results_type = &apr_linear_results_type;
  apr_estimator_class_set_thread_safe (estimator_class);

  /**
   * AprLinearRegression:fit-intercept: (getter get_fit_intercept) (setter set_fit_intercept)
   *
   * Whether the model has an intercept. Without one, it passes through the origin, and the intercept is 0.
   *
   * Since: 0.1
   */
  properties[PROP_FIT_INTERCEPT] = g_param_spec_boolean ("fit-intercept", NULL, NULL, TRUE, hyper_parameter);

  /**
   * AprLinearRegression:alpha: (getter get_alpha) (setter set_alpha)
   *
   * The ridge penalty: a fit minimises Σ w (y - a - X b)² + alpha Σ b². The intercept is not penalised.
   *
   * It is a finite number of at least 0, in the squared units of the features; 0 is ordinary least squares.
   *
   * Since: 0.1
   */
  /* What is no finite number is kept too, so that the next fit can tell. */
  properties[PROP_ALPHA] = g_param_spec_double ("alpha", NULL, NULL, -INFINITY, INFINITY, 0,
                                                hyper_parameter | APR_PARAM_UNSAID | G_PARAM_LAX_VALIDATION);

  /**
   * AprLinearRegression:alphas: (getter get_alphas) (setter set_alphas)
   *
   * The ridge penalties of the targets, [n_targets], where each has its own; `NULL` for
   * [property@Apr.LinearRegression:alpha] for all.
   *
   * A fit takes the time of as many fits as there are different penalties, but for the sums.
   *
   * Since: 0.1
   */
  properties[PROP_ALPHAS] =
    g_param_spec_boxed ("alphas", NULL, NULL, APR_TYPE_TENSOR, hyper_parameter | APR_PARAM_UNSAID);

  /**
   * AprLinearRegression:positive: (getter get_positive) (setter set_positive)
   *
   * Whether no coefficient may be below 0. The intercept may.
   *
   * Since: 0.1
   */
  properties[PROP_POSITIVE] =
    g_param_spec_boolean ("positive", NULL, NULL, FALSE, hyper_parameter | APR_PARAM_UNSAID);

  /**
   * AprLinearRegression:dtype: (getter get_dtype) (setter set_dtype)
   *
   * The dtype of the coefficients, the intercept, the predictions and the file: F32, F64, or NONE to follow
   * X.
   *
   * A fit never writes it. Hugging Face, PyTorch, TensorFlow and JAX read files of both, but JAX rounds F64 to
   * F32 unless `jax_enable_x64` is set; the Rust aprender, realizar and Ollama read F32, but not F64.
   *
   * Since: 0.1
   */
  properties[PROP_DTYPE] =
    g_param_spec_enum ("dtype", NULL, NULL, APR_TYPE_DTYPE, APR_DTYPE_NONE, hyper_parameter);

  /**
   * AprLinearRegression:precision: (getter get_precision) (setter set_precision)
   *
   * How the products of the data are summed: without any rounding, or, which is faster for wide data, in double.
   *
   * Samples that are added in double make all sums such.
   *
   * Since: 0.1
   */
  properties[PROP_PRECISION] = g_param_spec_enum ("precision", NULL, NULL, APR_TYPE_PRECISION,
                                                  APR_PRECISION_EXACT, hyper_parameter | APR_PARAM_UNSAID);

  /**
   * AprLinearRegression:keep-state: (getter get_keep_state) (setter set_keep_state)
   *
   * Whether a file holds the sums of the samples too, so that what needs them works after loading: adding samples, and
   * whatever else is found out about the fit.
   *
   * They take 4 bytes times 5 to 7 as a rule for each pair of features.
   *
   * Since: 0.1
   */
  properties[PROP_KEEP_STATE] =
    g_param_spec_boolean ("keep-state", NULL, NULL, FALSE, hyper_parameter | APR_PARAM_UNSAID);

  /**
   * AprLinearRegression:n-threads: (getter get_n_threads) (setter set_n_threads)
   *
   * How many threads a fit, or a prediction, uses at the most; 0 for as many as there are processors. No more are
   * started than the work is worth, nor more than 1024.
   *
   * The answer does not depend on it, and files do not hold it.
   *
   * Since: 0.1
   */
  properties[PROP_N_THREADS] = g_param_spec_uint ("n-threads", NULL, NULL, 0, G_MAXUINT, 0,
                                                  hyper_parameter | (GParamFlags) APR_PARAM_TRANSIENT);

  /**
   * AprLinearRegression:coefficients: (getter get_coefficients)
   *
   * The fitted weights, [n_features] or [n_targets, n_features], in units of the target per unit of the feature;
   * `NULL` before the first fit.
   *
   * Since: 0.1
   */
  properties[PROP_COEFFICIENTS] = g_param_spec_boxed ("coefficients", NULL, NULL, APR_TYPE_TENSOR, result);

  /**
   * AprLinearRegression:intercept: (getter get_intercept)
   *
   * The prediction for a sample whose features are all 0, in units of the target.
   *
   * Since: 0.1
   */
  properties[PROP_INTERCEPT] = g_param_spec_boxed ("intercept", NULL, NULL, APR_TYPE_TENSOR, result);

  /**
   * AprLinearRegression:rank: (getter get_rank)
   *
   * The number of independent features, after centring where there is an intercept; -1 before the first fit,
   * and where a file does not tell.
   *
   * Since: 0.1
   */
  properties[PROP_RANK] =
    g_param_spec_int64 ("rank", NULL, NULL, APR_RANK_UNKNOWN, G_MAXINT64, APR_RANK_UNKNOWN, result);

  /**
   * AprLinearRegression:correctly-rounded: (getter get_correctly_rounded)
   *
   * Whether it is proven that each coefficient and intercept is the number of its dtype that is nearest to the exact
   * answer for the data.
   *
   * Since: 0.1
   */
  properties[PROP_CORRECTLY_ROUNDED] = g_param_spec_boolean ("correctly-rounded", NULL, NULL, FALSE, result);

  /**
   * AprLinearRegression:prediction-rounding: (getter get_prediction_rounding)
   *
   * By how many standard deviations of its target the rounding of numbers may change a prediction, as
   * [property@Apr.RegressionStatistics:prediction-rounding] explains it; of several targets, the most. From 0.0001 on,
   * rounding spoils predictions: features depend on each other but for their own rounding, or features or a target are
   * far from 0, in F32 most often.
   *
   * NaN before the first fit, where a file holds no sums, and where there are far more features than samples.
   *
   * Since: 0.1
   */
  properties[PROP_PREDICTION_ROUNDING] =
    g_param_spec_double ("prediction-rounding", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, result);

  /**
   * AprLinearRegression:dependent-features: (getter get_dependent_features)
   *
   * The names of the features that depend on others before them, or are constant where there is an intercept; `NULL`
   * before the first fit and where a file does not tell, which scripts see as an empty list, too.
   *
   * Since: 0.1
   */
  properties[PROP_DEPENDENT_FEATURES] =
    g_param_spec_boxed ("dependent-features", NULL, NULL, G_TYPE_STRV, result);

  /**
   * AprLinearRegression:cross-products: (getter get_cross_products)
   *
   * The sums of all samples that the model was fitted to, in a copy; `NULL` before the first fit, and where a file
   * holds none.
   *
   * Since: 0.1
   */
  properties[PROP_CROSS_PRODUCTS] =
    g_param_spec_object ("cross-products", NULL, NULL, APR_TYPE_CROSS_PRODUCTS, result);

  /**
   * AprLinearRegression:has-statistics: (getter get_has_statistics)
   *
   * Whether the model has statistics: after a fit of ordinary least squares, and after loading a file that holds the
   * cross products of one. [method@Apr.LinearRegression.get_statistics] says what else it needs.
   *
   * Since: 0.1
   */
  properties[PROP_HAS_STATISTICS] = g_param_spec_boolean ("has-statistics", NULL, NULL, FALSE, result);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

void
apr_linear_regression_notify_results (AprEstimator *estimator, gconstpointer before, gconstpointer after)
{
  GObject *object = G_OBJECT (estimator);
  const AprLinearResults *old = before;
  const AprLinearResults *new = after;

  /* By what they are: to look up names takes longer than the rest. */
  g_object_notify_by_pspec (object, properties[PROP_COEFFICIENTS]);
  g_object_notify_by_pspec (object, properties[PROP_INTERCEPT]);
  g_object_notify_by_pspec (object, properties[PROP_CROSS_PRODUCTS]);
  g_object_notify_by_pspec (object, properties[PROP_DEPENDENT_FEATURES]);
  g_object_notify_by_pspec (object, properties[PROP_PREDICTION_ROUNDING]);
  if ((old != NULL && old->correctly_rounded) != (new != NULL &&new->correctly_rounded))
    g_object_notify_by_pspec (object, properties[PROP_CORRECTLY_ROUNDED]);
  if ((old != NULL ? old->rank : APR_RANK_UNKNOWN) != (new != NULL ? new->rank : APR_RANK_UNKNOWN))
    g_object_notify_by_pspec (object, properties[PROP_RANK]);
  if (apr_linear_results_has_statistics (old) != apr_linear_results_has_statistics (new))
    g_object_notify_by_pspec (object, properties[PROP_HAS_STATISTICS]);
}

void
apr_linear_regression_notify_names (AprEstimator *estimator, gconstpointer results)
{
  const GArray *dependent = ((const AprLinearResults *) results)->dependent;

  if (dependent != NULL && dependent->len > 0)
    g_object_notify_by_pspec (G_OBJECT (estimator), properties[PROP_DEPENDENT_FEATURES]);
}

static void
apr_linear_regression_init (AprLinearRegression *self)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_instance_private (self);

  g_mutex_init (&priv->lock);
  /* The other properties are 0 by default. */
  priv->options.solver.fit_intercept = TRUE;
}

/**
 * apr_linear_regression_new:
 *
 * Makes an unfitted model with an intercept, whose dtype follows the data.
 *
 * Returns: (transfer full): the model
 *
 * Since: 0.1
 */
AprLinearRegression *
apr_linear_regression_new (void)
{
  return g_object_new (APR_TYPE_LINEAR_REGRESSION, NULL);
}

/**
 * apr_linear_regression_get_alphas: (get-property alphas)
 * @self: a linear regression
 *
 * Gets the ridge penalties of the targets.
 *
 * Returns: (transfer full) (nullable): the penalties, [n_targets], or `NULL` where alpha is that of all
 *
 * Since: 0.1
 */
AprTensor *
apr_linear_regression_get_alphas (AprLinearRegression *self)
{
  AprLinearRegressionPrivate *priv;
  AprTensor *alphas;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  priv = apr_linear_regression_get_instance_private (self);
  g_mutex_lock (&priv->lock);
  alphas = priv->alphas != NULL ? apr_tensor_ref (priv->alphas) : NULL;
  g_mutex_unlock (&priv->lock);

  return alphas;
}

/**
 * apr_linear_regression_set_alphas: (set-property alphas)
 * @self: a linear regression
 * @alphas: (nullable): a finite number of at least 0 for each target, [n_targets]; `NULL` to have alpha for all
 *
 * Sets the ridge penalties of the targets. Other values make the next fit fail with %APR_ERROR_RANGE, and another
 * number of them with %APR_ERROR_SHAPE.
 *
 * Since: 0.1
 */
void
apr_linear_regression_set_alphas (AprLinearRegression *self, AprTensor *alphas)
{
  AprLinearRegressionPrivate *priv;
  g_autoptr (AprFitted) pending = NULL;
  g_autoptr (AprTensor) before = NULL;
  g_autoptr (AprTensor) kept_before = NULL;

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));

  priv = apr_linear_regression_get_instance_private (self);
  pending = apr_estimator_ref_pending (APR_ESTIMATOR (self));
  g_mutex_lock (&priv->lock);
  before = priv->alphas;
  priv->alphas = alphas != NULL ? apr_tensor_ref (alphas) : NULL;
  /* As other options that the fit of a subclass sets. */
  if (pending != NULL)
    {
      kept_before = priv->kept_alphas;
      priv->kept_alphas = alphas != NULL ? apr_tensor_ref (alphas) : NULL;
    }
  g_mutex_unlock (&priv->lock);

  if (before != alphas && (before == NULL || alphas == NULL || !apr_tensor_equal (before, alphas)))
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_ALPHAS]);
}
