/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression-private.h"

#include <math.h>

#include "aprender/estimator/apr-hyper-parameters-private.h"

/**
 * AprLinearRegression:
 *
 * Ordinary least squares: the coefficients b and the intercept a that minimise Σ w (y - a - X b)².
 *
 * The answer is correctly rounded. Products of the data are summed as whole numbers, without any rounding; the
 * normal equations are solved with exact residuals, and bounds on the error, until it is certain which float or double
 * is nearest to each coefficient; and only then is each rounded, once. So, where X has full rank, a coefficient is
 * the nearest to the exact least-squares answer for the data as they were given, however ill-conditioned they are, and
 * the order of the rows makes no difference. What is too large for the dtype is an error; what is too small is
 * rounded to a subnormal number or to zero.
 *
 * Where features depend on each other, or are more than the samples, many coefficients fit equally well: the ones
 * with the least sum of squares are taken. With p features, and u = 2^-53, or 2^-24 for data in F32, a feature counts as
 * dependent when less than (4 p u)² of its sum of squares, centred where there is an intercept, is left once the
 * features before it have been taken out of it; and as constant, with the coefficient 0, when its centred sum of squares
 * is below that part of the plain one. Neither depends on the features' units, nor on the number of samples.
 *
 * ```c
 * g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
 *
 * if (!apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, &error) ||
 *     !apr_estimator_save (APR_ESTIMATOR (model), "model.safetensors", &error))
 *   g_printerr ("%s\n", error->message);
 * ```
 *
 * The sums of the samples stay with the model ([property@Apr.LinearRegression:cross-products]): more samples can be added
 * to it, [method@Apr.LinearRegression.partial_fit], at no loss.
 *
 * A file holds the tensors `coefficients` [n_features] or [n_targets, n_features], and `intercept` [1] or
 * [n_targets], and with [property@Apr.LinearRegression:keep-state] the sums. Files of the Rust aprender are read too;
 * those of F16 and BF16 become F32.
 *
 * Since: 0.1
 */
G_DEFINE_TYPE_WITH_PRIVATE (AprLinearRegression, apr_linear_regression, APR_TYPE_ESTIMATOR)

enum
{
  PROP_FIT_INTERCEPT = 1,
  PROP_ALPHA,
  PROP_POSITIVE,
  PROP_DTYPE,
  PROP_PRECISION,
  PROP_KEEP_STATE,
  PROP_N_THREADS,
  PROP_COEFFICIENTS,
  PROP_INTERCEPT,
  PROP_RANK,
  PROP_CONDITION_NUMBER,
  PROP_CORRECTLY_ROUNDED,
  PROP_DEPENDENT_FEATURES,
  PROP_CROSS_PRODUCTS,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

enum
{
  SIGNAL_PROGRESS,
  N_SIGNALS,
};

static guint signals[N_SIGNALS];

AprLinearRegressionPrivate *
apr_linear_regression_get_private (AprLinearRegression *self)
{
  return apr_linear_regression_get_instance_private (self);
}

const AprLinearResults *
apr_linear_regression_get_results (AprLinearRegression *self)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);

  return &priv->results;
}

static void
apr_linear_regression_finalize (GObject *object)
{
  AprLinearRegression *self = APR_LINEAR_REGRESSION (object);

  apr_linear_results_clear (&apr_linear_regression_get_private (self)->results);

  G_OBJECT_CLASS (apr_linear_regression_parent_class)->finalize (object);
}

static void
apr_linear_regression_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  AprLinearRegression *self = APR_LINEAR_REGRESSION (object);
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);

  switch (property_id)
    {
    case PROP_FIT_INTERCEPT:
      g_value_set_boolean (value, priv->fit_intercept);
      break;
    case PROP_ALPHA:
      g_value_set_double (value, priv->alpha);
      break;
    case PROP_POSITIVE:
      g_value_set_boolean (value, priv->positive);
      break;
    case PROP_DTYPE:
      g_value_set_enum (value, priv->dtype);
      break;
    case PROP_PRECISION:
      g_value_set_enum (value, priv->precision);
      break;
    case PROP_KEEP_STATE:
      g_value_set_boolean (value, priv->keep_state);
      break;
    case PROP_N_THREADS:
      g_value_set_uint (value, priv->n_threads);
      break;
    case PROP_COEFFICIENTS:
      g_value_set_boxed (value, priv->results.coefficients);
      break;
    case PROP_INTERCEPT:
      g_value_set_boxed (value, priv->results.intercept);
      break;
    case PROP_RANK:
      g_value_set_int (value, priv->results.rank);
      break;
    case PROP_CONDITION_NUMBER:
      g_value_set_double (value, apr_linear_regression_get_condition_number (self));
      break;
    case PROP_CORRECTLY_ROUNDED:
      g_value_set_boolean (value, priv->results.correctly_rounded);
      break;
    case PROP_DEPENDENT_FEATURES:
      g_value_take_boxed (value, apr_linear_regression_get_dependent_features (self));
      break;
    case PROP_CROSS_PRODUCTS:
      g_value_take_object (value, apr_linear_regression_get_cross_products (self));
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
  GParamFlags hyper_parameter =
    G_PARAM_READWRITE | G_PARAM_CONSTRUCT | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;
  GParamFlags result = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;

  object_class->finalize = apr_linear_regression_finalize;
  object_class->get_property = apr_linear_regression_get_property;
  object_class->set_property = apr_linear_regression_set_property;

  estimator_class->fit = apr_linear_regression_fit;
  estimator_class->fit_async = apr_linear_regression_fit_async;
  estimator_class->fit_finish = apr_linear_regression_fit_finish;
  estimator_class->predict = apr_linear_regression_predict;
  estimator_class->save_tensors = apr_linear_regression_save_tensors;
  estimator_class->load_tensors = apr_linear_regression_load_tensors;

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
   * How much large coefficients cost: a fit minimises Σ w (y - a - X b)² + alpha Σ b², which is called ridge regression. The
   * intercept costs nothing.
   *
   * It is a finite number of at least 0, in the squared units of the features; 0 is ordinary least squares.
   *
   * Since: 0.1
   */
  /* What is no finite number is kept too, so that the next fit can tell. */
  properties[PROP_ALPHA] = g_param_spec_double ("alpha", NULL, NULL, -INFINITY, INFINITY, 0,
                                                hyper_parameter | APR_PARAM_UNSAID | G_PARAM_LAX_VALIDATION);

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
   * F32 unless `jax_enable_x64` is set; the Rust aprender, realizar and Ollama read F32 only, not F64.
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
   * How many threads a fit, or a prediction, uses at the most; 0 for as many as there are processors and the work
   * is worth.
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
   * The fitted weights, [n_features] or [n_targets, n_features], in units of the target per unit of the feature; `NULL` before
   * the first fit.
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
    g_param_spec_int ("rank", NULL, NULL, APR_RANK_UNKNOWN, G_MAXINT, APR_RANK_UNKNOWN, result);

  /**
   * AprLinearRegression:condition-number: (getter get_condition_number)
   *
   * How much an error of the data can grow in the coefficients, at the most; NaN before the first fit, and where a file does
   * not tell.
   *
   * Since: 0.1
   */
  properties[PROP_CONDITION_NUMBER] =
    g_param_spec_double ("condition-number", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, result);

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
   * AprLinearRegression:dependent-features: (getter get_dependent_features)
   *
   * The names of the features that depend on others before them, or are constant where there is an intercept.
   *
   * Since: 0.1
   */
  properties[PROP_DEPENDENT_FEATURES] =
    g_param_spec_boxed ("dependent-features", NULL, NULL, G_TYPE_STRV, result);

  /**
   * AprLinearRegression:cross-products: (getter get_cross_products)
   *
   * The sums of all samples that the model was fitted to, in a copy; `NULL` before the first fit, and where a file holds
   * none.
   *
   * Since: 0.1
   */
  properties[PROP_CROSS_PRODUCTS] =
    g_param_spec_object ("cross-products", NULL, NULL, APR_TYPE_CROSS_PRODUCTS, result);

  g_object_class_install_properties (object_class, N_PROPS, properties);

  /**
   * AprLinearRegression::progress:
   * @self: a linear regression
   * @n_done: about how many samples have been gone through
   * @n_samples: how many samples are being fitted to
   *
   * Tells how far a fit is: some dozens of times at the most, in the thread that called it, or, of an asynchronous fit, in the
   * main context that it was begun in; and at last with @n_done equal to @n_samples, before the model is solved for and
   * changes.
   *
   * A handler may cancel the fit, by its cancellable.
   *
   * ```python
   * model.connect('progress', lambda model, n_done, n_samples: print(f'{n_done} of {n_samples}'))
   * model.fit(X, y)
   * ```
   *
   * Since: 0.1
   */
  signals[SIGNAL_PROGRESS] = g_signal_new ("progress", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                           NULL, NULL, G_TYPE_NONE, 2, G_TYPE_UINT64, G_TYPE_UINT64);
}

gboolean
apr_linear_regression_tells_progress (AprLinearRegression *self)
{
  return g_signal_has_handler_pending (self, signals[SIGNAL_PROGRESS], 0, FALSE);
}

void
apr_linear_regression_emit_progress (AprLinearRegression *self, guint64 n_done, guint64 n_samples)
{
  if (apr_linear_regression_tells_progress (self))
    g_signal_emit (self, signals[SIGNAL_PROGRESS], 0, n_done, n_samples);
}

void
apr_linear_regression_notify_results (AprLinearRegression *self, gboolean other_rounding, gboolean other_rank)
{
  GObject *object = G_OBJECT (self);

  /* By what they are: to look up names takes longer than the rest. */
  g_object_notify_by_pspec (object, properties[PROP_COEFFICIENTS]);
  g_object_notify_by_pspec (object, properties[PROP_INTERCEPT]);
  g_object_notify_by_pspec (object, properties[PROP_CROSS_PRODUCTS]);
  g_object_notify_by_pspec (object, properties[PROP_DEPENDENT_FEATURES]);
  g_object_notify_by_pspec (object, properties[PROP_CONDITION_NUMBER]);
  if (other_rounding)
    g_object_notify_by_pspec (object, properties[PROP_CORRECTLY_ROUNDED]);
  if (other_rank)
    g_object_notify_by_pspec (object, properties[PROP_RANK]);
}

static void
apr_linear_regression_init (AprLinearRegression *self)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);

  priv->results.rank = APR_RANK_UNKNOWN;
  priv->results.condition_number = NAN;
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
 * apr_linear_regression_load: (constructor)
 * @path: (type filename): a SafeTensors file
 * @error: return location for an error
 *
 * Makes a fitted model from a file, as [func@Apr.Estimator.load] does.
 *
 * Returns: (transfer full): the model; `NULL` with an error that names the file, and the tensor that is
 * missing or misshapen
 *
 * Since: 0.1
 */
AprLinearRegression *
apr_linear_regression_load (const char *path, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);

  return (AprLinearRegression *) apr_estimator_load (APR_TYPE_LINEAR_REGRESSION, path, error);
}

/**
 * apr_linear_regression_from_bytes: (constructor)
 * @bytes: the bytes of a SafeTensors file
 * @error: return location for an error
 *
 * Makes a fitted model from bytes, as [func@Apr.Estimator.from_bytes] does.
 *
 * Returns: (transfer full): the model, or `NULL` as of [ctor@Apr.LinearRegression.load]
 *
 * Since: 0.1
 */
AprLinearRegression *
apr_linear_regression_from_bytes (GBytes *bytes, GError **error)
{
  g_return_val_if_fail (bytes != NULL, NULL);

  return (AprLinearRegression *) apr_estimator_from_bytes (APR_TYPE_LINEAR_REGRESSION, bytes, error);
}

/**
 * apr_linear_regression_get_fit_intercept: (get-property fit-intercept)
 * @self: a linear regression
 *
 * Tells whether a fit looks for an intercept.
 *
 * Returns: whether there is one
 *
 * Since: 0.1
 */
gboolean
apr_linear_regression_get_fit_intercept (AprLinearRegression *self)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);

  return priv->fit_intercept;
}

/**
 * apr_linear_regression_set_fit_intercept: (set-property fit-intercept)
 * @self: a linear regression
 * @fit_intercept: whether there is an intercept
 *
 * Chooses between a model with an intercept and one that passes through the origin. The next fit heeds it.
 *
 * Since: 0.1
 */
void
apr_linear_regression_set_fit_intercept (AprLinearRegression *self, gboolean fit_intercept)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));

  fit_intercept = !!fit_intercept;
  if (priv->fit_intercept == fit_intercept)
    return;

  priv->fit_intercept = fit_intercept;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_FIT_INTERCEPT]);
}

/**
 * apr_linear_regression_get_alpha: (get-property alpha)
 * @self: a linear regression
 *
 * Gets how much large coefficients cost.
 *
 * Returns: the factor of the sum of their squares
 *
 * Since: 0.1
 */
double
apr_linear_regression_get_alpha (AprLinearRegression *self)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), 0);

  return priv->alpha;
}

/**
 * apr_linear_regression_set_alpha: (set-property alpha)
 * @self: a linear regression
 * @alpha: a finite number of at least 0
 *
 * Chooses how much large coefficients cost: 0, nothing, is ordinary least squares. The next fit heeds it, and fails where it
 * is below 0 or no finite number.
 *
 * Since: 0.1
 */
void
apr_linear_regression_set_alpha (AprLinearRegression *self, double alpha)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));

  if (priv->alpha == alpha)
    return;

  priv->alpha = alpha;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_ALPHA]);
}

/**
 * apr_linear_regression_get_positive: (get-property positive)
 * @self: a linear regression
 *
 * Tells whether no coefficient may be below 0.
 *
 * Returns: whether that is so
 *
 * Since: 0.1
 */
gboolean
apr_linear_regression_get_positive (AprLinearRegression *self)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);

  return priv->positive;
}

/**
 * apr_linear_regression_set_positive: (set-property positive)
 * @self: a linear regression
 * @positive: whether that is so
 *
 * Chooses whether coefficients may be below 0. The next fit heeds it.
 *
 * Since: 0.1
 */
void
apr_linear_regression_set_positive (AprLinearRegression *self, gboolean positive)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));

  positive = !!positive;
  if (priv->positive == positive)
    return;

  priv->positive = positive;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_POSITIVE]);
}

/**
 * apr_linear_regression_get_dtype: (get-property dtype)
 * @self: a linear regression
 *
 * Gets the dtype that was asked for; that of a fitted model is its coefficients'.
 *
 * Returns: F32, F64, or %APR_DTYPE_NONE to follow X
 *
 * Since: 0.1
 */
AprDType
apr_linear_regression_get_dtype (AprLinearRegression *self)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), APR_DTYPE_NONE);

  return priv->dtype;
}

/**
 * apr_linear_regression_set_dtype: (set-property dtype)
 * @self: a linear regression
 * @dtype: F32, F64, or %APR_DTYPE_NONE to follow X
 *
 * Chooses the dtype that the next fit rounds to. Any other dtype makes it fail.
 *
 * Since: 0.1
 */
void
apr_linear_regression_set_dtype (AprLinearRegression *self, AprDType dtype)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));

  if (priv->dtype == dtype)
    return;

  priv->dtype = dtype;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_DTYPE]);
}

/**
 * apr_linear_regression_get_precision: (get-property precision)
 * @self: a linear regression
 *
 * Gets how the products of the data are summed.
 *
 * Returns: the precision
 *
 * Since: 0.1
 */
AprPrecision
apr_linear_regression_get_precision (AprLinearRegression *self)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), APR_PRECISION_EXACT);

  return priv->precision;
}

/**
 * apr_linear_regression_set_precision: (set-property precision)
 * @self: a linear regression
 * @precision: the precision
 *
 * Chooses how the products of the data are summed. The next fit heeds it.
 *
 * Since: 0.1
 */
void
apr_linear_regression_set_precision (AprLinearRegression *self, AprPrecision precision)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));

  if (priv->precision == precision)
    return;

  priv->precision = precision;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_PRECISION]);
}

/**
 * apr_linear_regression_get_keep_state: (get-property keep-state)
 * @self: a linear regression
 *
 * Tells whether a file holds the sums of the samples too.
 *
 * Returns: whether they are kept
 *
 * Since: 0.1
 */
gboolean
apr_linear_regression_get_keep_state (AprLinearRegression *self)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);

  return priv->keep_state;
}

/**
 * apr_linear_regression_set_keep_state: (set-property keep-state)
 * @self: a linear regression
 * @keep_state: whether to keep them
 *
 * Chooses whether a file holds the sums of the samples too. The next save heeds it; it fails with %APR_ERROR_STATE where
 * the model itself was loaded without them.
 *
 * Since: 0.1
 */
void
apr_linear_regression_set_keep_state (AprLinearRegression *self, gboolean keep_state)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));

  keep_state = !!keep_state;
  if (priv->keep_state == keep_state)
    return;

  priv->keep_state = keep_state;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_KEEP_STATE]);
}

/**
 * apr_linear_regression_get_n_threads: (get-property n-threads)
 * @self: a linear regression
 *
 * Gets how many threads a fit uses at the most.
 *
 * Returns: their number, 0 for as many as there are processors
 *
 * Since: 0.1
 */
guint
apr_linear_regression_get_n_threads (AprLinearRegression *self)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), 0);

  return priv->n_threads;
}

/**
 * apr_linear_regression_set_n_threads: (set-property n-threads)
 * @self: a linear regression
 * @n_threads: a number, 0 for as many as there are processors
 *
 * Limits the threads of the next fit. Its answer does not depend on it.
 *
 * Since: 0.1
 */
void
apr_linear_regression_set_n_threads (AprLinearRegression *self, guint n_threads)
{
  AprLinearRegressionPrivate *priv = apr_linear_regression_get_private (self);

  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));

  if (priv->n_threads == n_threads)
    return;

  priv->n_threads = n_threads;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_N_THREADS]);
}
