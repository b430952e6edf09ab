/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-cross-products-private.h"

/**
 * AprCrossProducts:
 *
 * Sums of samples, from which least squares can be solved without the samples: the matrix Z'WZ with Z = [1 | X | Y]
 * and the sample weights W, without any rounding.
 *
 * Make one, add samples with [method@Apr.CrossProducts.update] as often as there are new ones, and fit a model with
 * [method@Apr.LinearRegression.fit_cross_products]. States can be saved, sent, merged, and subtracted again, which is
 * what a distributed fit or a cross-validation needs. Their size depends on the number of features, not on that of
 * samples. While there are fewer samples than half the features, of which there are at least 64, a state keeps the
 * samples instead, which are smaller.
 *
 * ```c
 * g_autoptr (AprCrossProducts) state = apr_cross_products_new (2, 1, &error);
 *
 * if (state == NULL || !apr_cross_products_update (state, x, y, NULL, NULL, &error) ||
 *     !apr_cross_products_merge (state, from_another_machine, &error) ||
 *     !apr_linear_regression_fit_cross_products (model, state, NULL, &error))
 *   g_printerr ("%s\n", error->message);
 * ```
 *
 * The sums are whole numbers on a grid of powers of two, so nothing is ever rounded, and a sum of whole numbers has
 * no order. Rows may be added in any number of calls, threads, programs and machines: states that were given the same
 * rows are equal, byte for byte, and so are the models that are fitted to them.
 *
 * A state of the precision `DOUBLE` sums the products of each 256 samples of an update in double, in a fixed order,
 * and these sums exactly: faster for wide data, and the same for any number of threads, any processor, and any order
 * of updates and merges, but not for any cut of the samples into updates. Whatever is merged with such a state
 * becomes one.
 *
 * ## Threads, memory and blocking
 *
 * Any number of threads may read a state that nobody updates: copy, compare, save, fit models, and merge it into
 * states of their own. While one thread writes (update, merge, subtract, set names), no other may use the
 * state: the program sees to that, with a lock, say. As a help against mistakes, a write that finds another one under
 * way, also from a handler of its progress, fails with %G_IO_ERROR_PENDING and changes nothing. During an asynchronous
 * write, such as [method@Apr.CrossProducts.update_async], the state can be read, as it was before: it changes, and
 * notifies, in the main context of the call, just before the callback.
 *
 * A state owns its sums: it refers neither to the tensors it was updated with nor to the file it was loaded from. A
 * copy shares the sums until one of the two is written to, so it takes no time.
 *
 * Update, merge, subtract, compare, save and load take time: update in proportion to the samples, all others to the
 * square of the number of features, 5 to 50 milliseconds for 1,000 of them. All have asynchronous twins. Each uses the
 * states that it is given as they are when it is called: they may be written to meanwhile.
 *
 * ## File
 *
 * A file of a state holds one tensor, `sums`, U32 [n_entries, n_words]: for each entry of the lower triangle, row by
 * row, a whole number in two's complement, least significant word first, in units of 2^(32 first_word). Where samples
 * have weights, the metadata `aprender.weight_logs` holds the sum of their logarithms to base two, which the
 * likelihood of a model needs, as a whole number of units of 2^-52; it is omitted where it is 0, as it is without
 * weights.
 *
 * Where that saves at least a quarter of the file, the numbers are written without the bytes that are 0 at their lower
 * ends and those that continue the sign at their upper ends: `sums`, U8 [n_bytes], has the bytes that are left, of all
 * numbers, least significant first; `sums.starts` and `sums.sizes`, U8 [n_entries], say which byte of a number is the
 * first of them, and how many there are. The metadata `aprender.format` is then 3.
 *
 * A state that keeps the samples of at least 1,024 features holds these in its file, sorted: `rows.x`, F32 or F64
 * [n_samples, n_features], `rows.y`, F64 [n_samples, n_targets], and, where not all weights are 1,
 * `rows.sample_weight`, F64 [n_samples]. The metadata `aprender.format` is then 2, which versions that do not know
 * it refuse. Samples that were subtracted from sums leave sums, which are equal to the samples that remain, but are
 * saved as sums.
 *
 * Since: 0.1
 */
G_DEFINE_FINAL_TYPE (AprCrossProducts, apr_cross_products, G_TYPE_OBJECT)

enum
{
  PROP_N_FEATURES = 1,
  PROP_N_TARGETS,
  PROP_PRECISION,
  PROP_N_THREADS,
  PROP_FEATURE_NAMES,
  PROP_TARGET_NAMES,
  PROP_PROGRESS,
  PROP_BUSY,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

static AprExactSums *
create_sums (guint64 n_features, guint64 n_targets, GError **error)
{
  if (n_features > 0 && n_targets > 0)
    return apr_exact_sums_new (n_features, n_targets, error);

  g_set_error (error, APR_ERROR, APR_ERROR_EMPTY,
               "Cross products of %" G_GUINT64_FORMAT " features and %" G_GUINT64_FORMAT
               " targets: at least one of each is needed",
               n_features, n_targets);
  return NULL;
}

/* Properties have no way to fail: a state that cannot be says so in each call. */
static void
apr_cross_products_constructed (GObject *object)
{
  AprCrossProducts *self = APR_CROSS_PRODUCTS (object);

  G_OBJECT_CLASS (apr_cross_products_parent_class)->constructed (object);

  self->sums = create_sums (self->n_features, self->n_targets, NULL);
  if (self->sums == NULL)
    self->sums = apr_exact_sums_new (0, 0, NULL);
}

static void
apr_cross_products_finalize (GObject *object)
{
  AprCrossProducts *self = APR_CROSS_PRODUCTS (object);
  gsize i;

  apr_exact_sums_unref (self->sums);
  apr_sample_rows_unref (self->rows);
  for (i = 0; i < APR_N_NAMES; i++)
    g_strfreev (self->names[i]);
  g_strfreev (self->identities);

  G_OBJECT_CLASS (apr_cross_products_parent_class)->finalize (object);
}

static void
apr_cross_products_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  AprCrossProducts *self = APR_CROSS_PRODUCTS (object);

  switch (property_id)
    {
    case PROP_N_FEATURES:
      g_value_set_uint64 (value, apr_cross_products_get_n_features (self));
      break;
    case PROP_N_TARGETS:
      g_value_set_uint64 (value, apr_cross_products_get_n_targets (self));
      break;
    case PROP_PRECISION:
      g_value_set_enum (value, self->precision);
      break;
    case PROP_N_THREADS:
      g_value_set_uint (value, self->n_threads);
      break;
    case PROP_FEATURE_NAMES:
      g_value_set_boxed (value, self->names[APR_FEATURE_NAMES]);
      break;
    case PROP_TARGET_NAMES:
      g_value_set_boxed (value, self->names[APR_TARGET_NAMES]);
      break;
    case PROP_PROGRESS:
      g_value_set_double (value, self->progress);
      break;
    case PROP_BUSY:
      g_value_set_boolean (value, apr_cross_products_get_busy (self));
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
    case PROP_N_FEATURES:
      self->n_features = g_value_get_uint64 (value);
      break;
    case PROP_N_TARGETS:
      self->n_targets = g_value_get_uint64 (value);
      break;
    case PROP_PRECISION:
      self->precision = (AprPrecision) g_value_get_enum (value);
      break;
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
  const GParamFlags arguments = G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS;
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->constructed = apr_cross_products_constructed;
  object_class->finalize = apr_cross_products_finalize;
  object_class->get_property = apr_cross_products_get_property;
  object_class->set_property = apr_cross_products_set_property;

  /**
   * AprCrossProducts:n-features: (getter get_n_features)
   *
   * The number of columns that X must have, at least 1.
   *
   * A state that was made with 0, or with so many that memory could not hold the matrix, cannot be used: whatever adds
   * samples to it, merges it, saves it, names its columns, or fits or scores a model, fails with the error that
   * [ctor@Apr.CrossProducts.new] would have given.
   *
   * Since: 0.1
   */
  properties[PROP_N_FEATURES] = g_param_spec_uint64 ("n-features", NULL, NULL, 0, G_MAXUINT64, 0, arguments);

  /**
   * AprCrossProducts:n-targets: (getter get_n_targets)
   *
   * The number of columns that Y must have, at least 1.
   *
   * Since: 0.1
   */
  properties[PROP_N_TARGETS] = g_param_spec_uint64 ("n-targets", NULL, NULL, 0, G_MAXUINT64, 1, arguments);

  /**
   * AprCrossProducts:precision: (getter get_precision)
   *
   * How samples are summed: `DOUBLE` where any of them were summed in double.
   *
   * Since: 0.1
   */
  properties[PROP_PRECISION] = g_param_spec_enum ("precision", NULL, NULL, APR_TYPE_PRECISION,
                                                  APR_PRECISION_EXACT, arguments | G_PARAM_EXPLICIT_NOTIFY);

  /**
   * AprCrossProducts:n-threads: (getter get_n_threads) (setter set_n_threads)
   *
   * How many threads sum at the most; 0 for as many as there are processors. No more are started than the work is
   * worth, nor more than 1024.
   *
   * The sums do not depend on it. It is neither compared nor saved.
   *
   * Since: 0.1
   */
  properties[PROP_N_THREADS] =
    g_param_spec_uint ("n-threads", NULL, NULL, 0, G_MAXUINT, 0,
                       G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  /**
   * AprCrossProducts:feature-names: (getter get_feature_names)
   *
   * The names of the features, or `NULL`. How many there must be is known from the begin on, so that
   * [method@Apr.CrossProducts.set_feature_names] can refuse them at once, with an error, as no property can.
   *
   * Since: 0.1
   */
  properties[PROP_FEATURE_NAMES] = g_param_spec_boxed ("feature-names", NULL, NULL, G_TYPE_STRV, results);

  /**
   * AprCrossProducts:target-names: (getter get_target_names)
   *
   * The names of the targets, or `NULL`, which [method@Apr.CrossProducts.set_target_names] gives.
   *
   * Since: 0.1
   */
  properties[PROP_TARGET_NAMES] = g_param_spec_boxed ("target-names", NULL, NULL, G_TYPE_STRV, results);

  /**
   * AprCrossProducts:progress: (getter get_progress)
   *
   * How far the last update, or other asynchronous write, is: from 0 to 1. It can be bound to a progress bar.
   *
   * It changes at most every 1/32 of the samples, in the main context of the call of
   * [method@Apr.CrossProducts.update_async], or in the thread of [method@Apr.CrossProducts.update]. The state is
   * still what it was before the update. A handler of its notification may cancel the update, by its cancellable.
   *
   * Since: 0.1
   */
  properties[PROP_PROGRESS] = g_param_spec_double ("progress", NULL, NULL, 0, 1, 0, results);

  /**
   * AprCrossProducts:busy: (getter get_busy)
   *
   * Whether the state is being written to, so that other writes fail with %G_IO_ERROR_PENDING.
   *
   * Of an asynchronous write it notifies, in the main context of the call.
   *
   * Since: 0.1
   */
  properties[PROP_BUSY] = g_param_spec_boolean ("busy", NULL, NULL, FALSE, results);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
apr_cross_products_init (AprCrossProducts *self)
{
  self->dtype = APR_DTYPE_NONE;
}

gboolean
apr_cross_products_check (AprCrossProducts *self, GError **error)
{
  if (apr_exact_sums_get_n_features (self->sums) > 0)
    return TRUE;

  /* It fails as it did when the state was made. */
  apr_exact_sums_unref (create_sums (self->n_features, self->n_targets, error));
  return FALSE;
}

gboolean
apr_cross_products_begin (AprCrossProducts *self, GError **error)
{
  if (!g_atomic_int_compare_and_exchange (&self->busy, FALSE, TRUE))
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_PENDING,
                           "The cross products are being written to: only one write can be under way");
      return FALSE;
    }

  /* Only now no other write frees the sums that this looks at. */
  if (!apr_cross_products_check (self, error))
    {
      apr_cross_products_end (self);
      return FALSE;
    }

  return TRUE;
}

void
apr_cross_products_end (AprCrossProducts *self)
{
  g_atomic_int_set (&self->busy, FALSE);
}

void
apr_cross_products_notify_busy (AprCrossProducts *self)
{
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_BUSY]);
}

void
apr_cross_products_report (AprCrossProducts *self, double fraction)
{
  self->progress = fraction;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_PROGRESS]);
}

void
apr_cross_products_lower_precision (AprCrossProducts *self, AprPrecision precision)
{
  if (precision == APR_PRECISION_EXACT || self->precision == precision)
    return;

  self->precision = precision;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_PRECISION]);
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

AprCrossProducts *
apr_cross_products_new_with_sums (AprExactSums *sums, AprPrecision precision)
{
  AprCrossProducts *self = g_object_new (APR_TYPE_CROSS_PRODUCTS, NULL);

  apr_exact_sums_unref (self->sums);
  self->sums = sums;
  self->precision = precision;

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
  return apr_cross_products_new_with_precision (n_features, n_targets, APR_PRECISION_EXACT, error);
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
  AprExactSums *sums;

  g_return_val_if_fail (precision >= APR_PRECISION_EXACT && precision <= APR_PRECISION_DOUBLE, NULL);

  sums = create_sums (n_features, n_targets, error);

  return sums != NULL ? apr_cross_products_new_with_sums (sums, precision) : NULL;
}

/**
 * apr_cross_products_get_n_features: (get-property n-features)
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
 * apr_cross_products_get_n_targets: (get-property n-targets)
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
 * apr_cross_products_get_progress: (get-property progress)
 * @self: a state
 *
 * Gets how far the last update is.
 *
 * Returns: from 0 to 1
 *
 * Since: 0.1
 */
double
apr_cross_products_get_progress (AprCrossProducts *self)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), 0);

  return self->progress;
}

/**
 * apr_cross_products_get_busy: (get-property busy)
 * @self: a state
 *
 * Gets whether the state is being written to.
 *
 * Returns: whether other writes would fail with %G_IO_ERROR_PENDING
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_get_busy (AprCrossProducts *self)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);

  return g_atomic_int_get (&self->busy);
}

/**
 * apr_cross_products_get_n_threads: (get-property n-threads)
 * @self: a state
 *
 * Gets how many threads sum at the most.
 *
 * Returns: their number, 0 for as many as there are processors
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
 * @n_threads: any number, 0 for as many as there are processors
 *
 * Limits the threads of each update from now on. No more are started than the work is worth, nor more than 1024. The
 * sums do not depend on it.
 *
 * Since: 0.1
 */
void
apr_cross_products_set_n_threads (AprCrossProducts *self, guint n_threads)
{
  g_return_if_fail (APR_IS_CROSS_PRODUCTS (self));

  if (self->n_threads == n_threads)
    return;

  self->n_threads = n_threads;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_N_THREADS]);
}

gboolean
apr_cross_products_check_widths (
  AprCrossProducts *self, gsize n_features, gsize n_targets, const char *what, GError **error)
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
