/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-cross-products-private.h"

#include <string.h>

#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/estimator/apr-feature-names-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/**
 * AprCrossProducts:
 *
 * All that least squares needs of the data: the exact matrix Z'WZ with Z = [1 | X | Y], W the sample weights.
 *
 * The sums are whole numbers on a grid of powers of two, so nothing is ever rounded, and a sum of whole numbers has no
 * order. Rows may be added in any number of calls, threads, programs and machines: states that were given the same rows are
 * equal, byte for byte, and so are the models that are fitted to them. A state can be saved, sent, merged with others, and
 * subtracted again, which is all that a distributed fit or a cross-validation is made of.
 *
 * Its size depends on the number of features, not on the number of samples.
 *
 * A state of the precision `DOUBLE` sums the products of each 256 samples of an update in double, in a fixed order, and these
 * sums exactly: faster for wide data, and the same for any number of threads, any processor, and any order of updates and
 * merges, but not for any cut of the samples into updates. Whatever is merged with such a state becomes one.
 *
 * ```c
 * g_autoptr (AprCrossProducts) state = apr_cross_products_new (2, 1, &error);
 *
 * if (!apr_cross_products_update (state, x, y, NULL, NULL, &error) ||
 *     !apr_cross_products_merge (state, from_another_machine, &error) ||
 *     !apr_linear_regression_fit_cross_products (model, state, &error))
 *   g_printerr ("%s\n", error->message);
 * ```
 *
 * A file of a state holds one tensor, `sums`, U32 [n_entries, n_words]: for each entry of the lower triangle, row by row, a
 * whole number in two's complement, least word first, in units of 2^(32 first_word). Where samples have weights, the metadata
 * `aprender.weight_logs` holds the sum of their logarithms to base two, which the likelihood of a model needs, as a whole
 * number of units of 2^-52; it is left out where it is 0, as it is without weights.
 *
 * Since: 0.1
 */
G_DEFINE_FINAL_TYPE (AprCrossProducts, apr_cross_products, G_TYPE_OBJECT)

enum
{
  PROP_PRECISION = 1,
  PROP_N_THREADS,
  PROP_FEATURE_NAMES,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

enum
{
  SIGNAL_PROGRESS,
  N_SIGNALS,
};

static guint signals[N_SIGNALS];

static void
apr_cross_products_finalize (GObject *object)
{
  AprCrossProducts *self = APR_CROSS_PRODUCTS (object);

  apr_exact_sums_free (self->sums);
  g_strfreev (self->feature_names);

  G_OBJECT_CLASS (apr_cross_products_parent_class)->finalize (object);
}

static void
apr_cross_products_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  AprCrossProducts *self = APR_CROSS_PRODUCTS (object);

  switch (property_id)
    {
    case PROP_PRECISION:
      g_value_set_enum (value, self->precision);
      break;
    case PROP_N_THREADS:
      g_value_set_uint (value, self->n_threads);
      break;
    case PROP_FEATURE_NAMES:
      g_value_set_boxed (value, self->feature_names);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

static void
apr_cross_products_set_property (GObject *object, guint property_id, const GValue *value, GParamSpec *pspec)
{
  AprCrossProducts *self = APR_CROSS_PRODUCTS (object);

  switch (property_id)
    {
    case PROP_N_THREADS:
      apr_cross_products_set_n_threads (self, g_value_get_uint (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

static void
apr_cross_products_class_init (AprCrossProductsClass *klass)
{
  const GParamFlags results = G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = apr_cross_products_finalize;
  object_class->get_property = apr_cross_products_get_property;
  object_class->set_property = apr_cross_products_set_property;

  /**
   * AprCrossProducts:precision: (getter get_precision)
   *
   * How the samples were summed: `DOUBLE` where any of them were summed in double.
   *
   * Since: 0.1
   */
  properties[PROP_PRECISION] =
    g_param_spec_enum ("precision", NULL, NULL, APR_TYPE_PRECISION, APR_PRECISION_EXACT, results);

  /**
   * AprCrossProducts:n-threads: (getter get_n_threads) (setter set_n_threads)
   *
   * The number of threads that sum; 0 for as many as there are processors, where the work is worth it.
   *
   * The sums do not depend on it. It is neither compared nor saved.
   *
   * Since: 0.1
   */
  properties[PROP_N_THREADS] =
    g_param_spec_uint ("n-threads", NULL, NULL, 0, APR_EXACT_SUMS_MAX_THREADS, 0,
                       G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  /**
   * AprCrossProducts:feature-names: (getter get_feature_names)
   *
   * The names of the features, or `NULL`.
   *
   * Since: 0.1
   */
  properties[PROP_FEATURE_NAMES] = g_param_spec_boxed ("feature-names", NULL, NULL, G_TYPE_STRV, results);

  g_object_class_install_properties (object_class, N_PROPS, properties);

  /**
   * AprCrossProducts::progress:
   * @self: a state
   * @n_done: about how many samples have been gone through
   * @n_samples: how many samples are being added
   *
   * Tells how far [method@Apr.CrossProducts.update] is: some dozens of times at the most, in the thread that called it, and at
   * last with @n_done equal to @n_samples. The state is still what it was before.
   *
   * A handler may cancel the update, by its cancellable.
   *
   * Since: 0.1
   */
  signals[SIGNAL_PROGRESS] = g_signal_new ("progress", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                           NULL, NULL, G_TYPE_NONE, 2, G_TYPE_UINT64, G_TYPE_UINT64);
}

static void
apr_cross_products_init (AprCrossProducts *self)
{
  self->sums = apr_exact_sums_new (0, 0, NULL);
  self->dtype = APR_DTYPE_NONE;
}

AprExactSums *
apr_cross_products_get_sums (AprCrossProducts *self)
{
  return self->sums;
}

double
apr_cross_products_get_weight_logs (AprCrossProducts *self)
{
  return apr_weight_logs_to_natural (self->weight_logs);
}

AprDType
apr_cross_products_get_dtype (AprCrossProducts *self)
{
  return self->dtype;
}

/* Takes @sums. */
static AprCrossProducts *
new_with_sums (AprExactSums *sums)
{
  AprCrossProducts *self = g_object_new (APR_TYPE_CROSS_PRODUCTS, NULL);

  apr_exact_sums_free (self->sums);
  self->sums = sums;

  return self;
}

/**
 * apr_cross_products_new: (constructor)
 * @n_features: the number of columns of X
 * @n_targets: the number of columns of Y
 * @error: return location for an error
 *
 * Makes a state without samples.
 *
 * Returns: (transfer full): the state; `NULL` with %APR_ERROR_EMPTY where one of the numbers is 0, or %APR_ERROR_RANGE
 *   where the matrix would be larger than memory can be
 *
 * Since: 0.1
 */
AprCrossProducts *
apr_cross_products_new (gsize n_features, gsize n_targets, GError **error)
{
  AprExactSums *sums;

  if (n_features == 0 || n_targets == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_EMPTY,
                   "Cross products of %" G_GSIZE_FORMAT " features and %" G_GSIZE_FORMAT
                   " targets: at least one of each is needed",
                   n_features, n_targets);
      return NULL;
    }

  sums = apr_exact_sums_new (n_features, n_targets, error);

  return sums != NULL ? new_with_sums (sums) : NULL;
}

/**
 * apr_cross_products_new_with_precision: (constructor)
 * @n_features: the number of columns of X
 * @n_targets: the number of columns of Y
 * @precision: how samples are summed
 * @error: return location for an error
 *
 * Makes a state without samples.
 *
 * Returns: (transfer full): the state, or `NULL` as of [ctor@Apr.CrossProducts.new]
 *
 * Since: 0.1
 */
AprCrossProducts *
apr_cross_products_new_with_precision (gsize n_features,
                                       gsize n_targets,
                                       AprPrecision precision,
                                       GError **error)
{
  AprCrossProducts *self = apr_cross_products_new (n_features, n_targets, error);

  if (self != NULL)
    self->precision = precision;

  return self;
}

/**
 * apr_cross_products_get_n_features:
 * @self: a state
 *
 * Gets the number of columns that X must have.
 *
 * Returns: the number of features
 *
 * Since: 0.1
 */
gsize
apr_cross_products_get_n_features (AprCrossProducts *self)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), 0);

  return apr_exact_sums_get_n_features (self->sums);
}

/**
 * apr_cross_products_get_n_targets:
 * @self: a state
 *
 * Gets the number of columns that Y must have.
 *
 * Returns: the number of targets
 *
 * Since: 0.1
 */
gsize
apr_cross_products_get_n_targets (AprCrossProducts *self)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), 0);

  return apr_exact_sums_get_n_targets (self->sums);
}

/**
 * apr_cross_products_get_n_samples:
 * @self: a state
 *
 * Gets the number of rows that count: those whose weight is not 0.
 *
 * Returns: the number of samples
 *
 * Since: 0.1
 */
guint64
apr_cross_products_get_n_samples (AprCrossProducts *self)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), 0);

  return self->n_samples;
}

/**
 * apr_cross_products_get_precision: (get-property precision)
 * @self: a state
 *
 * Gets how the samples were summed.
 *
 * Returns: `DOUBLE` where any of them were summed in double
 *
 * Since: 0.1
 */
AprPrecision
apr_cross_products_get_precision (AprCrossProducts *self)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), APR_PRECISION_EXACT);

  return self->precision;
}

/**
 * apr_cross_products_get_n_threads: (get-property n-threads)
 * @self: a state
 *
 * Gets the number of threads that sum.
 *
 * Returns: the number, 0 for all
 *
 * Since: 0.1
 */
guint
apr_cross_products_get_n_threads (AprCrossProducts *self)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), 0);

  return self->n_threads;
}

/**
 * apr_cross_products_set_n_threads: (set-property n-threads)
 * @self: a state
 * @n_threads: the number, at most 1024; 0 for as many as there are processors, where the work is worth it
 *
 * Sets the number of threads that sum. The sums do not depend on it.
 *
 * Since: 0.1
 */
void
apr_cross_products_set_n_threads (AprCrossProducts *self, guint n_threads)
{
  g_return_if_fail (APR_IS_CROSS_PRODUCTS (self));
  g_return_if_fail (n_threads <= APR_EXACT_SUMS_MAX_THREADS);

  if (self->n_threads == n_threads)
    return;

  self->n_threads = n_threads;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_N_THREADS]);
}

/**
 * apr_cross_products_get_feature_names: (get-property feature-names)
 * @self: a state
 *
 * Gets the names of the features.
 *
 * Returns: (transfer none) (nullable) (array zero-terminated=1): the names, or `NULL`
 *
 * Since: 0.1
 */
const char *const *
apr_cross_products_get_feature_names (AprCrossProducts *self)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), NULL);

  return (const char *const *) self->feature_names;
}

static void
take_feature_names (AprCrossProducts *self, const char *const *feature_names)
{
  char **copy = g_strdupv ((char **) feature_names);

  if (copy == NULL && self->feature_names == NULL)
    return;

  g_strfreev (self->feature_names);
  self->feature_names = copy;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_FEATURE_NAMES]);
}

/**
 * apr_cross_products_set_feature_names:
 * @self: a state
 * @feature_names: (array zero-terminated=1) (nullable): a name for each feature, or `NULL` to forget them
 * @error: return location for an error
 *
 * Names the features. The names are saved with the state, and given to the models that are fitted to it.
 *
 * Returns: true, or false with %APR_ERROR_FEATURE_NAMES where their number is wrong, one is there twice, or one is not
 *   UTF-8
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_set_feature_names (AprCrossProducts *self,
                                      const char *const *feature_names,
                                      GError **error)
{
  gsize n_features;

  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);

  n_features = apr_exact_sums_get_n_features (self->sums);
  if (feature_names != NULL && g_strv_length ((char **) feature_names) != n_features)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
                   "There are %u feature names, but the cross products are of %" G_GSIZE_FORMAT " features",
                   g_strv_length ((char **) feature_names), n_features);
      return FALSE;
    }
  if (feature_names != NULL && !apr_feature_names_check (feature_names, error))
    return FALSE;

  take_feature_names (self, feature_names);
  return TRUE;
}

/**
 * apr_cross_products_check_feature_names:
 * @self: a state
 * @feature_names: (array zero-terminated=1): the names of the columns of some X
 * @error: return location for an error
 *
 * Compares names with those of the state, which must be the same in the same order.
 *
 * A state whose features have no names takes any.
 *
 * Returns: true, or false with %APR_ERROR_FEATURE_NAMES, whose message holds the first name that differs
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_check_feature_names (AprCrossProducts *self,
                                        const char *const *feature_names,
                                        GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (feature_names != NULL, FALSE);

  return self->feature_names == NULL ||
         apr_feature_names_compare ((const char *const *) self->feature_names, feature_names,
                                    "the cross products were summed", error);
}

static gboolean
check_widths (AprCrossProducts *self, gsize n_features, gsize n_targets, const char *what, GError **error)
{
  gsize own_features = apr_exact_sums_get_n_features (self->sums);
  gsize own_targets = apr_exact_sums_get_n_targets (self->sums);

  if (n_features == own_features && n_targets == own_targets)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
               "%s of %" G_GSIZE_FORMAT " features and %" G_GSIZE_FORMAT
               " targets, but the cross products are of %" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT,
               what, n_features, n_targets, own_features, own_targets);
  return FALSE;
}

static AprDType
combine_dtypes (AprDType one, AprDType other)
{
  return MAX (one, other);
}

static void
lower_precision (AprCrossProducts *self, AprPrecision precision)
{
  if (precision == APR_PRECISION_EXACT || self->precision == precision)
    return;

  self->precision = precision;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_PRECISION]);
}

static void
emit_progress (guint64 n_done, guint64 n_samples, gpointer user_data)
{
  if (g_signal_has_handler_pending (user_data, signals[SIGNAL_PROGRESS], 0, FALSE))
    g_signal_emit (user_data, signals[SIGNAL_PROGRESS], 0, n_done, n_samples);
}

/**
 * apr_cross_products_update:
 * @self: a state
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @y: the targets, [n_samples] or [n_samples, n_targets], of such a dtype
 * @sample_weight: (nullable): how much each sample counts, [n_samples], none below 0; `NULL` for equal weights
 * @cancellable: (nullable): a way to stop
 * @error: return location for an error
 *
 * Adds samples, exactly unless the state is of the precision `DOUBLE`.
 *
 * Integers of 64 bits count as they are, also where no double is equal to them; as weights they must be doubles.
 *
 * The signal [signal@Apr.CrossProducts::progress] tells how far it is.
 *
 * Returns: true, or false with the state as it was: the errors of [method@Apr.Estimator.fit]
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_update (AprCrossProducts *self,
                           AprTensor *x,
                           AprTensor *y,
                           AprTensor *sample_weight,
                           GCancellable *cancellable,
                           GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (x != NULL, FALSE);
  g_return_val_if_fail (y != NULL, FALSE);

  return apr_cross_products_update_with (self, x, y, sample_weight, self->precision, self->n_threads,
                                         cancellable, emit_progress, self, error);
}

/* No file holds more. */
static gboolean
add_samples (AprCrossProducts *self, guint64 n_added, guint64 *n_samples, GError **error)
{
  if (n_added <= G_MAXINT64 - self->n_samples)
    {
      *n_samples = self->n_samples + n_added;
      return TRUE;
    }

  g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
               "Cannot add %" G_GUINT64_FORMAT " samples to %" G_GUINT64_FORMAT, n_added, self->n_samples);
  return FALSE;
}

/* What the state will have with those weights, which have been checked. */
static gboolean
add_weights (AprCrossProducts *self,
             AprTensor *x,
             AprTensor *sample_weight,
             guint n_threads,
             AprWeightLogs *weight_logs,
             guint64 *n_samples,
             GError **error)
{
  *weight_logs = self->weight_logs;
  if (sample_weight == NULL)
    {
      *n_samples = apr_tensor_get_shape (x, NULL)[0];
      return TRUE;
    }

  return apr_weight_logs_add (weight_logs, apr_weight_logs_of (sample_weight, n_threads, n_samples), 1,
                              error);
}

gboolean
apr_cross_products_update_with (AprCrossProducts *self,
                                AprTensor *x,
                                AprTensor *y,
                                AprTensor *sample_weight,
                                AprPrecision precision,
                                guint n_threads,
                                GCancellable *cancellable,
                                AprExactSumsProgress progress,
                                gpointer progress_data,
                                GError **error)
{
  AprWeightLogs weight_logs;
  AprExactSums *added;
  guint64 n_samples = 0;
  gsize n_features;
  gsize n_targets;

  if (!apr_estimator_check_fit (x, y, sample_weight, &n_features, &n_targets, error) ||
      !check_widths (self, n_features, n_targets, "Samples", error))
    return FALSE;

  added = apr_exact_sums_new (n_features, n_targets, error);
  if (added == NULL)
    return FALSE;

  apr_exact_sums_set_progress (added, progress, progress_data);
  if (!apr_exact_sums_update (added, x, y, sample_weight, precision, n_threads, cancellable, error) ||
      !add_weights (self, x, sample_weight, n_threads, &weight_logs, &n_samples, error) ||
      !add_samples (self, n_samples, &n_samples, error) || !apr_exact_sums_add (added, self->sums, 1, error))
    {
      apr_exact_sums_free (added);
      return FALSE;
    }

  apr_exact_sums_set_progress (added, NULL, NULL);
  apr_exact_sums_free (self->sums);
  self->sums = added;
  self->n_samples = n_samples;
  self->weight_logs = weight_logs;
  self->dtype = combine_dtypes (self->dtype, apr_estimator_choose_dtype (x));
  lower_precision (self, precision);
  return TRUE;
}

static gboolean
check_names (AprCrossProducts *self, AprCrossProducts *other, GError **error)
{
  return other->feature_names == NULL ||
         apr_cross_products_check_feature_names (self, (const char *const *) other->feature_names, error);
}

/**
 * apr_cross_products_merge:
 * @self: a state
 * @other: a state of as many features and targets
 * @error: return location for an error
 *
 * Adds the samples of another state, as if they had been added here.
 *
 * Where both have names of features, they must be the same; else those of one are taken.
 *
 * Returns: true, or false with %APR_ERROR_SHAPE, %APR_ERROR_FEATURE_NAMES with the first name that differs, or
 *   %APR_ERROR_RANGE where there is no memory, or the sums are not those of any samples
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_merge (AprCrossProducts *self, AprCrossProducts *other, GError **error)
{
  guint64 n_samples;
  AprWeightLogs weight_logs;

  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (other), FALSE);

  if (!check_widths (self, apr_exact_sums_get_n_features (other->sums),
                     apr_exact_sums_get_n_targets (other->sums), "A state", error) ||
      !check_names (self, other, error))
    return FALSE;

  if (!add_samples (self, other->n_samples, &n_samples, error))
    return FALSE;

  weight_logs = self->weight_logs;
  if (!apr_weight_logs_add (&weight_logs, other->weight_logs, 1, error) ||
      !apr_exact_sums_add (self->sums, other->sums, 1, error))
    return FALSE;

  self->n_samples = n_samples;
  self->weight_logs = weight_logs;
  self->dtype = combine_dtypes (self->dtype, other->dtype);
  lower_precision (self, other->precision);
  if (self->feature_names == NULL && other->feature_names != NULL)
    take_feature_names (self, (const char *const *) other->feature_names);
  return TRUE;
}

/**
 * apr_cross_products_subtract:
 * @self: a state
 * @other: a state whose samples were added to @self
 * @error: return location for an error
 *
 * Takes samples away again, exactly: what is left is as if they had never been there.
 *
 * That @other was part of @self is for the caller to know; only its number of samples, and the names of the features where both
 * have any, are checked.
 *
 * Returns: true, or false with %APR_ERROR_SHAPE or %APR_ERROR_FEATURE_NAMES, or %APR_ERROR_RANGE where @other has more samples than @self
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_subtract (AprCrossProducts *self, AprCrossProducts *other, GError **error)
{
  AprWeightLogs weight_logs;

  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (other), FALSE);

  if (!check_widths (self, apr_exact_sums_get_n_features (other->sums),
                     apr_exact_sums_get_n_targets (other->sums), "A state", error) ||
      !check_names (self, other, error))
    return FALSE;

  if (other->n_samples > self->n_samples)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "Cannot subtract %" G_GUINT64_FORMAT " samples from %" G_GUINT64_FORMAT, other->n_samples,
                   self->n_samples);
      return FALSE;
    }

  weight_logs = self->weight_logs;
  if (!apr_weight_logs_add (&weight_logs, other->weight_logs, -1, error) ||
      !apr_exact_sums_add (self->sums, other->sums, -1, error))
    return FALSE;
  self->n_samples -= other->n_samples;
  self->weight_logs = weight_logs;
  lower_precision (self, other->precision);
  return TRUE;
}

/**
 * apr_cross_products_copy:
 * @self: a state
 *
 * Copies the state.
 *
 * Returns: (transfer full): an equal one
 *
 * Since: 0.1
 */
AprCrossProducts *
apr_cross_products_copy (AprCrossProducts *self)
{
  AprCrossProducts *copy;

  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), NULL);

  copy = new_with_sums (apr_exact_sums_copy (self->sums));
  copy->n_samples = self->n_samples;
  copy->weight_logs = self->weight_logs;
  copy->dtype = self->dtype;
  copy->precision = self->precision;
  copy->n_threads = self->n_threads;
  copy->feature_names = g_strdupv (self->feature_names);

  return copy;
}

/**
 * apr_cross_products_equal:
 * @self: a state
 * @other: another one
 *
 * Compares the sums, those of the logarithms of the weights, the numbers of samples, the dtype of the data, the precision, and the names of the features.
 *
 * Returns: whether the two would make the same file
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_equal (AprCrossProducts *self, AprCrossProducts *other)
{
  g_autofree guint32 *words = NULL;
  g_autofree guint32 *other_words = NULL;
  gsize n_words;
  gsize n_other_words;
  gint first_word;
  gint other_first_word;

  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (other), FALSE);

  if (!check_widths (self, apr_exact_sums_get_n_features (other->sums),
                     apr_exact_sums_get_n_targets (other->sums), "", NULL) ||
      self->n_samples != other->n_samples || self->weight_logs != other->weight_logs ||
      self->dtype != other->dtype || self->precision != other->precision ||
      (self->feature_names == NULL) != (other->feature_names == NULL) ||
      (self->feature_names != NULL &&
       !g_strv_equal ((const char *const *) self->feature_names, (const char *const *) other->feature_names)))
    return FALSE;

  words = apr_exact_sums_to_words (self->sums, &n_words, &first_word);
  other_words = apr_exact_sums_to_words (other->sums, &n_other_words, &other_first_word);

  return n_words == n_other_words && first_word == other_first_word &&
         (n_words == 0 ||
          memcmp (words, other_words,
                  n_words * apr_exact_sums_get_n_entries (self->sums) * sizeof (guint32)) == 0);
}
