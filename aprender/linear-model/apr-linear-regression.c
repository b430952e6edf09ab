/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression.h"

#include <math.h>

#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/linear-model/apr-cross-products-private.h"
#include "aprender/linear-model/apr-least-squares-private.h"
#include "aprender/tensor/apr-tensor-private.h"

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
 * A file holds the tensors `coefficients` [n_features] or [n_targets, n_features], and `intercept` [1] or
 * [n_targets]. Files of the Rust aprender are read too; those of F16 and BF16 become F32.
 *
 * Since: 0.1
 */
struct _AprLinearRegression
{
  AprEstimator parent_instance;

  gboolean fit_intercept;
  AprDType dtype;

  AprTensor *coefficients; /* (owned) (nullable) */
  AprTensor *intercept;    /* (owned) (nullable) */
  int rank;
};

G_DEFINE_FINAL_TYPE (AprLinearRegression, apr_linear_regression, APR_TYPE_ESTIMATOR)

enum
{
  PROP_FIT_INTERCEPT = 1,
  PROP_DTYPE,
  PROP_COEFFICIENTS,
  PROP_INTERCEPT,
  PROP_RANK,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

#define COEFFICIENTS "coefficients"
#define INTERCEPT "intercept"
#define KEY_RANK "aprender.rank"
#define RANK_UNKNOWN (-1)

static void
apr_linear_regression_finalize (GObject *object)
{
  AprLinearRegression *self = APR_LINEAR_REGRESSION (object);

  g_clear_pointer (&self->coefficients, apr_tensor_unref);
  g_clear_pointer (&self->intercept, apr_tensor_unref);

  G_OBJECT_CLASS (apr_linear_regression_parent_class)->finalize (object);
}

static void
apr_linear_regression_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  AprLinearRegression *self = APR_LINEAR_REGRESSION (object);

  switch (property_id)
    {
    case PROP_FIT_INTERCEPT:
      g_value_set_boolean (value, self->fit_intercept);
      break;
    case PROP_DTYPE:
      g_value_set_enum (value, self->dtype);
      break;
    case PROP_COEFFICIENTS:
      g_value_set_boxed (value, self->coefficients);
      break;
    case PROP_INTERCEPT:
      g_value_set_boxed (value, self->intercept);
      break;
    case PROP_RANK:
      g_value_set_int (value, self->rank);
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
    case PROP_DTYPE:
      apr_linear_regression_set_dtype (self, (AprDType) g_value_get_enum (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

/* What a fit works on and what comes of it; nothing of the model, so that it may run in a thread. */
typedef struct
{
  AprTensor *x;             /* (owned) (nullable) */
  AprTensor *y;             /* (owned) (nullable) */
  AprTensor *sample_weight; /* (owned) (nullable) */
  gboolean fit_intercept;
  AprDType dtype;

  AprTensor *coefficients; /* (owned) (nullable) */
  AprTensor *intercept;    /* (owned) (nullable) */
  int rank;
} Fit;

static Fit *
fit_new (AprLinearRegression *self, AprTensor *x, AprTensor *y, AprTensor *sample_weight)
{
  Fit *fit = g_new0 (Fit, 1);

  fit->x = x != NULL ? apr_tensor_ref (x) : NULL;
  fit->y = y != NULL ? apr_tensor_ref (y) : NULL;
  fit->sample_weight = sample_weight != NULL ? apr_tensor_ref (sample_weight) : NULL;
  fit->fit_intercept = self->fit_intercept;
  fit->dtype = self->dtype;

  return fit;
}

static void
fit_free (Fit *fit)
{
  g_clear_pointer (&fit->x, apr_tensor_unref);
  g_clear_pointer (&fit->y, apr_tensor_unref);
  g_clear_pointer (&fit->sample_weight, apr_tensor_unref);
  g_clear_pointer (&fit->coefficients, apr_tensor_unref);
  g_clear_pointer (&fit->intercept, apr_tensor_unref);
  g_free (fit);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Fit, fit_free)

/* Values that are already those of @dtype. */
static AprTensor *
new_result (AprDType dtype, const double *values, const gsize *shape, gsize n_dims)
{
  gsize n_values = shape[0] * (n_dims == 2 ? shape[1] : 1);
  g_autofree float *floats = NULL;
  gsize i;

  if (dtype == APR_DTYPE_F64)
    return apr_tensor_new_from_doubles (values, n_values, shape, n_dims, NULL);

  floats = g_new (float, n_values);
  for (i = 0; i < n_values; i++)
    floats[i] = (float) values[i];

  return apr_tensor_new_from_floats (floats, n_values, shape, n_dims, NULL);
}

/* Solves for @fit's results; @n_dims is that of y, 1 where there is one target that is no matrix. */
static gboolean
fit_solve (Fit *fit, AprExactSums *sums, AprDType data_dtype, gsize n_dims, GError **error)
{
  gsize shape[2] = { apr_exact_sums_get_n_targets (sums), apr_exact_sums_get_n_features (sums) };
  AprDType dtype = fit->dtype != APR_DTYPE_NONE ? fit->dtype : data_dtype;
  g_auto (AprLeastSquares) solution = { NULL };
  gboolean any_weight;
  mpz_t weights;

  mpz_init (weights);
  apr_exact_sums_get_entry (sums, 0, 0, weights);
  any_weight = mpz_sgn (weights) > 0;
  mpz_clear (weights);
  if (!any_weight)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS, "sample_weight has no value above 0");
      return FALSE;
    }

  if (!apr_least_squares_solve (&solution, sums, fit->fit_intercept, data_dtype, dtype, error))
    return FALSE;

  fit->coefficients = n_dims == 2 ? new_result (dtype, solution.coefficients, shape, 2)
                                  : new_result (dtype, solution.coefficients, shape + 1, 1);
  fit->intercept = new_result (dtype, solution.intercepts, shape, 1);
  fit->rank = (int) solution.rank;
  return TRUE;
}

static gboolean
check_dtype (AprDType dtype, GError **error)
{
  if (dtype == APR_DTYPE_NONE || dtype == APR_DTYPE_F32 || dtype == APR_DTYPE_F64)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_DTYPE,
               "The hyper-parameter “dtype” is %s, but it must be F32, F64 or NONE",
               apr_dtype_to_string (dtype));
  return FALSE;
}

static gboolean
fit_run (Fit *fit, GCancellable *cancellable, GError **error)
{
  gsize n_dims;
  const gsize *y_shape = apr_tensor_get_shape (fit->y, &n_dims);
  g_autoptr (AprExactSums) sums = NULL;

  if (!check_dtype (fit->dtype, error))
    return FALSE;

  sums = apr_exact_sums_new (apr_tensor_get_shape (fit->x, NULL)[1], n_dims == 2 ? y_shape[1] : 1, error);

  return sums != NULL &&
         apr_exact_sums_update (sums, fit->x, fit->y, fit->sample_weight, cancellable, error) &&
         fit_solve (fit, sums, apr_tensor_get_dtype (fit->x), n_dims, error);
}

static void
set_results (AprLinearRegression *self, AprTensor *coefficients, AprTensor *intercept, int rank)
{
  GObject *object = G_OBJECT (self);

  g_object_freeze_notify (object);

  apr_tensor_ref (coefficients);
  g_clear_pointer (&self->coefficients, apr_tensor_unref);
  self->coefficients = coefficients;
  g_object_notify_by_pspec (object, properties[PROP_COEFFICIENTS]);

  apr_tensor_ref (intercept);
  g_clear_pointer (&self->intercept, apr_tensor_unref);
  self->intercept = intercept;
  g_object_notify_by_pspec (object, properties[PROP_INTERCEPT]);

  if (self->rank != rank)
    {
      self->rank = rank;
      g_object_notify_by_pspec (object, properties[PROP_RANK]);
    }

  g_object_thaw_notify (object);
}

static gboolean
apr_linear_regression_fit (AprEstimator *estimator,
                           AprTensor *x,
                           AprTensor *y,
                           AprTensor *sample_weight,
                           GCancellable *cancellable,
                           GError **error)
{
  AprLinearRegression *self = APR_LINEAR_REGRESSION (estimator);
  g_autoptr (Fit) fit = fit_new (self, x, y, sample_weight);

  if (!fit_run (fit, cancellable, error))
    return FALSE;

  set_results (self, fit->coefficients, fit->intercept, fit->rank);
  return TRUE;
}

static void
fit_in_thread (GTask *task, gpointer source_object, gpointer task_data, GCancellable *cancellable)
{
  GError *error = NULL;

  if (fit_run (task_data, cancellable, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
apr_linear_regression_fit_async (AprEstimator *estimator,
                                 AprTensor *x,
                                 AprTensor *y,
                                 AprTensor *sample_weight,
                                 GCancellable *cancellable,
                                 GAsyncReadyCallback callback,
                                 gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (estimator, cancellable, callback, user_data);

  g_task_set_source_tag (task, apr_linear_regression_fit_async);
  g_task_set_task_data (task, fit_new (APR_LINEAR_REGRESSION (estimator), x, y, sample_weight),
                        (GDestroyNotify) fit_free);
  g_task_run_in_thread (task, fit_in_thread);
}

static gboolean
apr_linear_regression_fit_finish (AprEstimator *estimator, GAsyncResult *result, GError **error)
{
  Fit *fit = g_task_get_task_data (G_TASK (result));

  if (!g_task_propagate_boolean (G_TASK (result), error))
    return FALSE;

  set_results (APR_LINEAR_REGRESSION (estimator), fit->coefficients, fit->intercept, fit->rank);
  return TRUE;
}

/* The elements of an F32 or F64 tensor as doubles. */
static double *
copy_doubles (AprTensor *tensor)
{
  gsize n_elements = apr_tensor_get_n_elements (tensor);
  const guint8 *data = g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL);
  double *values = g_new (double, n_elements);
  gsize i;

  for (i = 0; i < n_elements; i++)
    values[i] = apr_dtype_read_double (apr_tensor_get_dtype (tensor), data, i);

  return values;
}

/* The products are summed in the order of the features, in double, and rounded once, whatever the dtypes are.
 */
static AprTensor *
apr_linear_regression_predict (AprEstimator *estimator, AprTensor *x, GError **error)
{
  AprLinearRegression *self = APR_LINEAR_REGRESSION (estimator);
  AprDType dtype = apr_tensor_get_dtype (self->coefficients);
  g_autofree double *coefficients = copy_doubles (self->coefficients);
  g_autofree double *intercept = copy_doubles (self->intercept);
  gsize n_features = apr_estimator_get_n_features (estimator);
  gsize n_targets = apr_estimator_get_n_targets (estimator);
  gsize shape[2] = { apr_tensor_get_shape (x, NULL)[0], n_targets };
  gsize n_dims = apr_tensor_get_n_dims (self->coefficients);
  gboolean wide = apr_tensor_get_dtype (x) == APR_DTYPE_F64;
  const double *doubles = wide ? apr_tensor_get_doubles (x, NULL, NULL) : NULL;
  const float *floats = wide ? NULL : apr_tensor_get_floats (x, NULL, NULL);
  guint8 *data;
  gsize n_elements;
  gsize size;
  gsize row;
  gsize target;
  gsize i;

  if (!apr_dtype_count_bytes (dtype, shape, n_dims, &n_elements, &size, error))
    return NULL;
  data = g_try_malloc (MAX (size, 1));
  if (data == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE, "No memory for %" G_GSIZE_FORMAT " predictions",
                   n_elements);
      return NULL;
    }

  for (row = 0; row < shape[0]; row++)
    for (target = 0; target < n_targets; target++)
      {
        const double *weights = coefficients + target * n_features;
        gsize element = row * n_targets + target;
        double sum = 0;

        if (wide)
          for (i = 0; i < n_features; i++)
            sum += doubles[row * n_features + i] * weights[i];
        else
          for (i = 0; i < n_features; i++)
            sum += (double) floats[row * n_features + i] * weights[i];
        sum += intercept[target];

        if (dtype == APR_DTYPE_F64)
          ((double *) (gpointer) data)[element] = sum;
        else
          ((float *) (gpointer) data)[element] = (float) sum;
      }

  return apr_tensor_new_take (dtype, shape, n_dims, data, size);
}

static gboolean
apr_linear_regression_save_tensors (AprEstimator *estimator, AprSafetensorsWriter *writer, GError **error)
{
  AprLinearRegression *self = APR_LINEAR_REGRESSION (estimator);
  g_autofree char *rank = g_strdup_printf ("%d", self->rank);

  return apr_safetensors_writer_add_tensor (writer, COEFFICIENTS, self->coefficients, error) &&
         apr_safetensors_writer_add_tensor (writer, INTERCEPT, self->intercept, error) &&
         (self->rank == RANK_UNKNOWN || apr_safetensors_writer_set_metadata (writer, KEY_RANK, rank, error));
}

/* A tensor of F32 or F64 whose numbers are finite. */
static AprTensor *
load_tensor (AprSafetensorsReader *reader, const char *name, GError **error)
{
  g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, name, error);
  g_autoptr (AprTensor) computed = NULL;
  AprDType dtype;
  gsize n_elements;
  gsize i;

  if (tensor == NULL)
    return NULL;

  dtype = apr_tensor_get_dtype (tensor);
  if (dtype == APR_DTYPE_F16 || dtype == APR_DTYPE_BF16)
    computed = apr_tensor_cast (tensor, APR_DTYPE_F32, error);
  else if (dtype == APR_DTYPE_F32 || dtype == APR_DTYPE_F64)
    computed = apr_tensor_ref (tensor);
  else
    g_set_error (error, APR_ERROR, APR_ERROR_DTYPE,
                 "The tensor “%s” is %s, but a linear regression has F64, F32, F16 or BF16", name,
                 apr_dtype_to_string (dtype));
  if (computed == NULL)
    return NULL;

  n_elements = apr_tensor_get_n_elements (computed);
  for (i = 0; i < n_elements; i++)
    if (!isfinite (apr_tensor_get_double (computed, i, NULL)))
      {
        g_set_error (error, APR_ERROR, APR_ERROR_NOT_FINITE,
                     "The tensor “%s” has a NaN or an infinity at element %" G_GSIZE_FORMAT
                     " (counted from 0)",
                     name, i);
        return NULL;
      }

  return g_steal_pointer (&computed);
}

static gboolean
check_tensors (
  AprTensor *coefficients, AprTensor *intercept, gsize *n_features, gsize *n_targets, GError **error)
{
  gsize n_dims;
  gsize intercept_n_dims;
  const gsize *shape = apr_tensor_get_shape (coefficients, &n_dims);
  const gsize *intercept_shape = apr_tensor_get_shape (intercept, &intercept_n_dims);
  g_autofree char *text = apr_shape_to_string (shape, n_dims);
  g_autofree char *intercept_text = apr_shape_to_string (intercept_shape, intercept_n_dims);

  if (n_dims < 1 || n_dims > 2 || apr_tensor_get_n_elements (coefficients) == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "The tensor “" COEFFICIENTS
                   "” must have the shape [n_features] or [n_targets, n_features], but it has %s",
                   text);
      return FALSE;
    }

  *n_features = shape[n_dims - 1];
  *n_targets = n_dims == 2 ? shape[0] : 1;

  if (intercept_n_dims != 1 || intercept_shape[0] != *n_targets)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "The tensor “" INTERCEPT "” must have the shape [%" G_GSIZE_FORMAT
                   "] beside coefficients %s, but it has %s",
                   *n_targets, text, intercept_text);
      return FALSE;
    }

  if (apr_tensor_get_dtype (coefficients) != apr_tensor_get_dtype (intercept))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_DTYPE,
                   "The tensor “" COEFFICIENTS "” is %s, but “" INTERCEPT "” is %s",
                   apr_dtype_to_string (apr_tensor_get_dtype (coefficients)),
                   apr_dtype_to_string (apr_tensor_get_dtype (intercept)));
      return FALSE;
    }

  return TRUE;
}

static gboolean
apr_linear_regression_load_tensors (
  AprEstimator *estimator, AprSafetensorsReader *reader, gsize *n_features, gsize *n_targets, GError **error)
{
  g_autoptr (AprTensor) coefficients = load_tensor (reader, COEFFICIENTS, error);
  g_autoptr (AprTensor) intercept = NULL;
  const char *text = g_hash_table_lookup (apr_safetensors_reader_get_metadata (reader), KEY_RANK);
  guint64 rank = 0;

  if (coefficients == NULL)
    return FALSE;
  intercept = load_tensor (reader, INTERCEPT, error);
  if (intercept == NULL || !check_tensors (coefficients, intercept, n_features, n_targets, error))
    return FALSE;

  if (text != NULL && !g_ascii_string_to_unsigned (text, 10, 0, MIN (*n_features, G_MAXINT), &rank, NULL))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                   "The metadata “" KEY_RANK "” cannot be “%s” with %" G_GSIZE_FORMAT " features", text,
                   *n_features);
      return FALSE;
    }

  set_results (APR_LINEAR_REGRESSION (estimator), coefficients, intercept,
               text != NULL ? (int) rank : RANK_UNKNOWN);
  return TRUE;
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
   * AprLinearRegression:dtype: (getter get_dtype) (setter set_dtype)
   *
   * The dtype of the coefficients, the intercept, the predictions and the file: F32, F64, or NONE to follow
   * X.
   *
   * A fit never writes it. Hugging Face, PyTorch, TensorFlow and JAX read files of both; the Rust aprender,
   * realizar and Ollama read F32 only, not F64.
   *
   * Since: 0.1
   */
  properties[PROP_DTYPE] =
    g_param_spec_enum ("dtype", NULL, NULL, APR_TYPE_DTYPE, APR_DTYPE_NONE, hyper_parameter);

  /**
   * AprLinearRegression:coefficients: (getter get_coefficients)
   *
   * The fitted weights, one per feature, in units of the target per unit of the feature.
   *
   * Since: 0.1
   */
  properties[PROP_COEFFICIENTS] = g_param_spec_boxed (COEFFICIENTS, NULL, NULL, APR_TYPE_TENSOR, result);

  /**
   * AprLinearRegression:intercept: (getter get_intercept)
   *
   * The prediction for a sample whose features are all 0, in units of the target.
   *
   * Since: 0.1
   */
  properties[PROP_INTERCEPT] = g_param_spec_boxed (INTERCEPT, NULL, NULL, APR_TYPE_TENSOR, result);

  /**
   * AprLinearRegression:rank: (getter get_rank)
   *
   * The number of independent features, after centring where there is an intercept; -1 before the first fit,
   * and where a file does not tell.
   *
   * Since: 0.1
   */
  properties[PROP_RANK] = g_param_spec_int ("rank", NULL, NULL, RANK_UNKNOWN, G_MAXINT, RANK_UNKNOWN, result);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
apr_linear_regression_init (AprLinearRegression *self)
{
  self->rank = RANK_UNKNOWN;
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
 * apr_linear_regression_fit_cross_products:
 * @self: a linear regression
 * @state: the cross products of the samples
 * @error: return location for an error
 *
 * Fits the model to samples that have been summed before.
 *
 * The model is that of [method@Apr.Estimator.fit] with the same samples, bit for bit, however they were cut into updates
 * and merges. Where the state has one target, the coefficients have the shape [n_features]; F32 counts as the samples' dtype
 * where all X were F32.
 *
 * Returns: true, or false with the model as it was: %APR_ERROR_EMPTY where the state has no samples, or another error of
 *   [method@Apr.Estimator.fit]
 *
 * Since: 0.1
 */
gboolean
apr_linear_regression_fit_cross_products (AprLinearRegression *self, AprCrossProducts *state, GError **error)
{
  g_autoptr (Fit) fit = NULL;
  gsize n_targets;

  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (state), FALSE);

  if (apr_cross_products_get_n_samples (state) == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_EMPTY, "Cannot fit cross products of 0 samples");
      return FALSE;
    }

  fit = fit_new (self, NULL, NULL, NULL);
  n_targets = apr_cross_products_get_n_targets (state);
  if (!check_dtype (fit->dtype, error) ||
      !fit_solve (fit, apr_cross_products_get_sums (state), apr_cross_products_get_dtype (state),
                  n_targets > 1 ? 2 : 1, error))
    return FALSE;

  g_object_freeze_notify (G_OBJECT (self));
  set_results (self, fit->coefficients, fit->intercept, fit->rank);
  apr_estimator_set_fitted (APR_ESTIMATOR (self), apr_cross_products_get_n_features (state), n_targets);
  g_object_thaw_notify (G_OBJECT (self));
  return TRUE;
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
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), FALSE);

  return self->fit_intercept;
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
  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));

  fit_intercept = !!fit_intercept;
  if (self->fit_intercept == fit_intercept)
    return;

  self->fit_intercept = fit_intercept;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_FIT_INTERCEPT]);
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
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), APR_DTYPE_NONE);

  return self->dtype;
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
  g_return_if_fail (APR_IS_LINEAR_REGRESSION (self));

  if (self->dtype == dtype)
    return;

  self->dtype = dtype;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_DTYPE]);
}

/**
 * apr_linear_regression_get_coefficients: (get-property coefficients)
 * @self: a linear regression
 *
 * Gets the fitted weights, one per feature, in units of the target per unit of the feature.
 *
 * The shape is [n_features], or [n_targets, n_features] when the model was fitted with a matrix of targets.
 *
 * Returns: (transfer none) (nullable): the weights, or `NULL` before the first fit
 *
 * Since: 0.1
 */
AprTensor *
apr_linear_regression_get_coefficients (AprLinearRegression *self)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  return self->coefficients;
}

/**
 * apr_linear_regression_get_intercept: (get-property intercept)
 * @self: a linear regression
 *
 * Gets the prediction for a sample whose features are all 0, in units of the target.
 *
 * The shape is [1], or [n_targets] when the model was fitted with a matrix of targets.
 *
 * Returns: (transfer none) (nullable): the intercept, or `NULL` before the first fit
 *
 * Since: 0.1
 */
AprTensor *
apr_linear_regression_get_intercept (AprLinearRegression *self)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), NULL);

  return self->intercept;
}

/**
 * apr_linear_regression_get_rank: (get-property rank)
 * @self: a linear regression
 *
 * Gets the number of independent features, after centring where there is an intercept.
 *
 * Returns: the rank; -1 before the first fit, and where a file does not tell
 *
 * Since: 0.1
 */
int
apr_linear_regression_get_rank (AprLinearRegression *self)
{
  g_return_val_if_fail (APR_IS_LINEAR_REGRESSION (self), RANK_UNKNOWN);

  return self->rank;
}
