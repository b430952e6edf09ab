/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/model-selection/apr-folds-private.h"

#include <string.h>

#include "aprender/base/apr-error.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/**
 * AprFolds:
 *
 * Samples that are cut into folds, for [method@Apr.Estimator.cross_validate].
 *
 * Cross-validation tells how good a model is for samples that it has not seen: each fold in turn is set aside, the
 * model is fitted to all other samples, and scored for the fold. So hyper-parameters are compared, such as the penalty
 * of a ridge regression:
 *
 * ```c
 * const double alphas[] = { 0.01, 1, 100 };
 * g_autoptr (AprFolds) folds = apr_folds_new_shuffled (x, y, NULL, 5, 42, &error);
 * g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
 * gsize i;
 *
 * for (i = 0; folds != NULL && i < G_N_ELEMENTS (alphas); i++)
 *   {
 *     g_autoptr (AprTensor) errors = NULL;
 *
 *     apr_linear_regression_set_alpha (model, alphas[i]);
 *     errors = apr_estimator_cross_validate (APR_ESTIMATOR (model), folds, APR_METRIC_MEAN_SQUARED_ERROR, NULL,
 *                                            &error);
 *     if (errors == NULL)
 *       return FALSE;
 *     g_print ("%g: %g in the first fold\n", alphas[i], apr_tensor_get_double (errors, 0, NULL));
 *   }
 * ```
 *
 * For linear regressions the samples are summed once: the sums of the samples for a fit are those of all samples less
 * those of the fold, exactly. The folds keep these sums, so that the next model, or the next penalty, takes no more
 * than to solve them.
 *
 * [ctor@Apr.Folds.new] cuts the samples into pieces as they are, which is right where they come in no order or
 * neighbours belong together; [ctor@Apr.Folds.new_shuffled] deals them out at random; and
 * [ctor@Apr.Folds.new_from_labels] takes any other way to do it. [ctor@Apr.Folds.new_from_cross_products] needs no
 * samples, but their sums, for tables that are larger than memory or on other machines.
 *
 * ## Threads, memory and blocking
 *
 * Folds never change, so that any number of threads may use them at once. They keep X, y and the weights, which must
 * not be written to meanwhile, and the sums that linear regressions need of them: for each fold some 40 p² bytes of p
 * features. To make folds takes time that grows with the number of samples, as to sort them does, but not with their
 * features; those of cross products take time that grows with p².
 *
 * Since: 0.1
 */
G_DEFINE_FINAL_TYPE (AprFolds, apr_folds, G_TYPE_OBJECT)

enum
{
  PROP_N_FOLDS = 1,
  PROP_LABELS,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

static void
apr_folds_finalize (GObject *object)
{
  AprFolds *self = APR_FOLDS (object);
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (self->data); i++)
    g_clear_pointer (&self->data[i], apr_tensor_unref);
  for (i = 0; i < G_N_ELEMENTS (self->sums); i++)
    g_clear_pointer (&self->sums[i], apr_fold_sums_unref);
  g_clear_pointer (&self->labels, apr_tensor_unref);
  apr_row_groups_clear (&self->groups);
  g_mutex_clear (&self->lock);

  G_OBJECT_CLASS (apr_folds_parent_class)->finalize (object);
}

static void
apr_folds_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  AprFolds *self = APR_FOLDS (object);

  if (property_id == PROP_N_FOLDS)
    g_value_set_uint64 (value, apr_folds_get_n_folds (self));
  else if (property_id == PROP_LABELS)
    g_value_set_boxed (value, self->labels);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
}

static void
apr_folds_class_init (AprFoldsClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = apr_folds_finalize;
  object_class->get_property = apr_folds_get_property;

  /**
   * AprFolds:n-folds: (getter get_n_folds)
   *
   * How many folds there are.
   *
   * Since: 0.1
   */
  properties[PROP_N_FOLDS] = g_param_spec_uint64 ("n-folds", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  /**
   * AprFolds:labels: (getter get_labels)
   *
   * The label of the fold that each sample is in, [n_samples]; `NULL` where the folds were made of cross products.
   *
   * Folds are in ascending order of their labels.
   *
   * Since: 0.1
   */
  properties[PROP_LABELS] = g_param_spec_boxed ("labels", NULL, NULL, APR_TYPE_TENSOR, flags);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
apr_folds_init (AprFolds *self)
{
  g_mutex_init (&self->lock);
}

/* That each fold leaves samples for a fit. */
static gboolean
check_n_folds (gsize n_folds, gsize n_groups, GError **error)
{
  if (n_folds > 0 && n_groups > 1)
    return TRUE;

  if (n_folds == 0)
    g_set_error (error, APR_ERROR, APR_ERROR_EMPTY,
                 "labels has no fold: no sample has a label of at least 0, which those have that are in one");
  else
    g_set_error (error, APR_ERROR, APR_ERROR_EMPTY,
                 "All samples are in one fold, which leaves none for a fit: there must be 2 folds at least");
  return FALSE;
}

/* Folds of samples that have been checked, with labels that may be wrong. */
static AprFolds *
new_with_labels (AprTensor *x, AprTensor *y, AprTensor *sample_weight, AprTensor *labels, GError **error)
{
  g_autoptr (AprFolds) self = g_object_new (APR_TYPE_FOLDS, NULL);
  gsize n_outside = 0;

  if (!apr_row_groups_init (&self->groups, "labels", labels, error))
    return NULL;

  /* Groups are in ascending order. */
  while (n_outside < self->groups.n_groups &&
         apr_tensor_get_double (self->groups.labels, n_outside, NULL) < 0)
    n_outside++;
  self->n_folds = self->groups.n_groups - n_outside;
  if (!check_n_folds (self->n_folds, self->groups.n_groups, error))
    return NULL;

  self->data[0] = apr_tensor_ref (x);
  self->data[1] = apr_tensor_ref (y);
  self->data[2] = sample_weight != NULL ? apr_tensor_ref (sample_weight) : NULL;
  self->labels = apr_tensor_ref (labels);

  return g_steal_pointer (&self);
}

/* A random number below @n, each as likely as the others. */
static guint64
draw (GRand *random, guint64 n)
{
  guint64 limit = G_MAXUINT64 - G_MAXUINT64 % n;
  guint64 number;

  do
    {
      number = (guint64) g_rand_int (random) << 32;
      number |= g_rand_int (random);
    }
  while (number >= limit);

  return number % n;
}

static void
shuffle (gint64 *values, gsize n, guint64 seed)
{
  const guint32 seeds[] = { (guint32) seed, (guint32) (seed >> 32) };
  g_autoptr (GRand) random = g_rand_new_with_seed_array (seeds, G_N_ELEMENTS (seeds));
  gsize i;

  for (i = n; i > 1; i--)
    {
      gsize other = (gsize) draw (random, i);
      gint64 value = values[i - 1];

      values[i - 1] = values[other];
      values[other] = value;
    }
}

/* Folds as equal as can be, the larger ones first; shuffled where there is a @seed. */
static AprFolds *
new_equal (
  AprTensor *x, AprTensor *y, AprTensor *sample_weight, gsize n_folds, const guint64 *seed, GError **error)
{
  g_autoptr (AprTensor) labels = NULL;
  gint64 *values;
  gsize n_samples;
  gsize fold;
  gsize i = 0;

  if (!apr_estimator_check_fit (x, y, sample_weight, error))
    return NULL;
  n_samples = apr_tensor_get_shape (x, NULL)[0];
  if (n_folds < 2 || n_folds > n_samples)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "Cannot cut %" G_GSIZE_FORMAT " samples into %" G_GSIZE_FORMAT
                   " folds: there must be 2 folds at least, and a sample in each",
                   n_samples, n_folds);
      return NULL;
    }

  values = apr_memory_new (n_samples, sizeof *values, "the labels of the samples", error);
  if (values == NULL)
    return NULL;
  for (fold = 0; fold < n_folds; fold++)
    {
      gsize end = i + n_samples / n_folds + (fold < n_samples % n_folds ? 1 : 0);

      while (i < end)
        values[i++] = (gint64) fold;
    }
  if (seed != NULL)
    shuffle (values, n_samples, *seed);
  labels = apr_tensor_new_take (APR_DTYPE_I64, &n_samples, 1, values, n_samples * sizeof *values);

  return new_with_labels (x, y, sample_weight, labels, error);
}

/**
 * apr_folds_new:
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @y: the targets, [n_samples] or [n_samples, n_targets], of such a dtype
 * @sample_weight: (nullable): how much each sample counts, [n_samples], none below 0; `NULL` for equal weights
 * @n_folds: the number of folds, 2 at least
 * @error: return location for an error
 *
 * Cuts samples into folds as they follow each other, as scikit-learn does without shuffling.
 *
 * Folds have as many samples as others, or the first ones one more. Where the samples are sorted, by y for instance,
 * a fold is unlike all others: then use [ctor@Apr.Folds.new_shuffled].
 *
 * Returns: (transfer full): the folds, or `NULL` with %APR_ERROR_RANGE where there are fewer samples than folds, or
 *   fewer than 2 folds, or an error of [method@Apr.Estimator.fit] about the shapes and dtypes
 *
 * Since: 0.1
 */
AprFolds *
apr_folds_new (AprTensor *x, AprTensor *y, AprTensor *sample_weight, gsize n_folds, GError **error)
{
  g_return_val_if_fail (x != NULL, NULL);

  return new_equal (x, y, sample_weight, n_folds, NULL, error);
}

/**
 * apr_folds_new_shuffled:
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @y: the targets, [n_samples] or [n_samples, n_targets], of such a dtype
 * @sample_weight: (nullable): how much each sample counts, [n_samples], none below 0; `NULL` for equal weights
 * @n_folds: the number of folds, 2 at least
 * @seed: any number; the same one gives the same folds, on every machine
 * @error: return location for an error
 *
 * Deals samples out to folds at random.
 *
 * Folds have as many samples as others, or the first ones one more. Each way to do so is equally likely (Fisher and
 * Yates' shuffle, with the numbers of [struct@GLib.Rand]). Where the environment variable `G_RANDOM_VERSION` is `2.0`,
 * GLib takes the numbers of its version 2.0, and a seed gives other folds.
 *
 * Returns: (transfer full): the folds, or `NULL` with an error as of [ctor@Apr.Folds.new]
 *
 * Since: 0.1
 */
AprFolds *
apr_folds_new_shuffled (
  AprTensor *x, AprTensor *y, AprTensor *sample_weight, gsize n_folds, guint64 seed, GError **error)
{
  g_return_val_if_fail (x != NULL, NULL);

  return new_equal (x, y, sample_weight, n_folds, &seed, error);
}

/**
 * apr_folds_new_from_labels:
 * @x: the features, [n_samples, n_features]: F16, BF16, F32, F64, BOOL or integers
 * @y: the targets, [n_samples] or [n_samples, n_targets], of such a dtype
 * @sample_weight: (nullable): how much each sample counts, [n_samples], none below 0; `NULL` for equal weights
 * @labels: the label of the fold that each sample is in, [n_samples]: BOOL, integers, or whole numbers as F32 or F64
 * @error: return location for an error
 *
 * Cuts samples into folds by their labels: those with the same label are in the same fold.
 *
 * So samples that belong together, as those of one patient or one year do, are set aside together. Samples with a
 * negative label are in no fold: they are in each fit, and never scored. Labels of -1 and 0 alone are a single
 * validation set, 0, and the samples for the fit.
 *
 * Returns: (transfer full): the folds, or `NULL` with %APR_ERROR_EMPTY where there is no fold, or one with all samples,
 *   with %APR_ERROR_SHAPE, %APR_ERROR_DTYPE, %APR_ERROR_NOT_FINITE or %APR_ERROR_RANGE where @labels are no labels of
 *   samples, or an error of [method@Apr.Estimator.fit] about the shapes and dtypes
 *
 * Since: 0.1
 */
AprFolds *
apr_folds_new_from_labels (
  AprTensor *x, AprTensor *y, AprTensor *sample_weight, AprTensor *labels, GError **error)
{
  g_return_val_if_fail (x != NULL, NULL);
  g_return_val_if_fail (labels != NULL, NULL);

  return apr_estimator_check_fit (x, y, sample_weight, error) &&
             apr_row_groups_check ("labels", labels, apr_tensor_get_shape (x, NULL)[0], error)
         ? new_with_labels (x, y, sample_weight, labels, error)
         : NULL;
}

static gint
compare (gconstpointer a, gconstpointer b, gpointer unused)
{
  return strcmp (a, b);
}

/* That no samples are in two folds, as far as the identities tell; adds those of @state to @known. */
static gboolean
check_identities (AprCrossProducts *state, GTree *known, GError **error)
{
  const char *const *identities = apr_cross_products_get_identities (state);
  gsize i;

  for (i = 0; identities != NULL && identities[i] != NULL; i++)
    {
      if (g_tree_lookup (known, identities[i]) != NULL)
        {
          g_set_error (error, APR_ERROR, APR_ERROR_RANGE, "The samples of “%s” are in another fold too",
                       identities[i]);
          return FALSE;
        }
      g_tree_insert (known, g_strdup (identities[i]), GINT_TO_POINTER (TRUE));
    }

  return TRUE;
}

static gboolean
check_state (AprCrossProducts *state, GTree *known, GError **error)
{
  const AprRun run = { 0 };

  /* Scripts can put it into an array. */
  if (state == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_EMPTY, "There are no cross products, but NULL");
      return FALSE;
    }
  if (!apr_cross_products_check (state, error) || !check_identities (state, known, error))
    return FALSE;
  if (apr_cross_products_get_n_samples (state) > 0 && apr_cross_products_has_weight (state))
    return apr_cross_products_check_possible (state, &run, error);

  g_set_error (error, APR_ERROR, APR_ERROR_EMPTY,
               "The cross products are of no samples with a weight above 0");
  return FALSE;
}

/**
 * apr_folds_new_from_cross_products:
 * @states: (array length=n_states): the cross products of the samples of each fold
 * @n_states: the number of folds, 2 at least
 * @error: return location for an error
 *
 * Makes folds of samples that have been summed before, such as those of a table that is larger than memory, or of
 * parts of the data on several machines.
 *
 * Samples that are added to the states later do not count. Those without a weight do not either: R² is a NaN where a
 * state has but one with a weight. Only linear regressions can be validated with such folds, and only by metrics that
 * follow from sums of squares: %APR_METRIC_R2, %APR_METRIC_EXPLAINED_VARIANCE, %APR_METRIC_MEAN_SQUARED_ERROR and
 * %APR_METRIC_ROOT_MEAN_SQUARED_ERROR.
 *
 * Returns: (transfer full): the folds, or `NULL` with %APR_ERROR_EMPTY where there are fewer than 2, or one of them has
 *   no samples, %APR_ERROR_SHAPE where their numbers of features or targets differ, or another error of
 *   [method@Apr.CrossProducts.merge]
 *
 * Since: 0.1
 */
AprFolds *
apr_folds_new_from_cross_products (AprCrossProducts **states, gsize n_states, GError **error)
{
  g_autoptr (AprFolds) self = NULL;
  g_autoptr (GTree) identities = NULL;
  const AprRun run = { 0 };
  gsize i;

  g_return_val_if_fail (states != NULL || n_states == 0, NULL);

  if (n_states < 2)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_EMPTY,
                   "There must be 2 folds at least, but there are cross products of %" G_GSIZE_FORMAT,
                   n_states);
      return NULL;
    }
  /* No hash table: a file can choose identities that all hash alike. */
  identities = g_tree_new_full (compare, NULL, g_free, NULL);
  for (i = 0; i < n_states; i++)
    if (!check_state (states[i], identities, error))
      {
        g_prefix_error (error, "Fold %" G_GSIZE_FORMAT " (counted from 0): ", i);
        return NULL;
      }

  self = g_object_new (APR_TYPE_FOLDS, NULL);
  self->n_folds = n_states;
  self->sums[0] = apr_fold_sums_new (states, n_states, &run, error);

  return self->sums[0] != NULL ? g_steal_pointer (&self) : NULL;
}

/**
 * apr_folds_get_n_folds: (get-property n-folds)
 * @self: folds
 *
 * Gets the number of folds.
 *
 * Returns: how many there are
 *
 * Since: 0.1
 */
gsize
apr_folds_get_n_folds (AprFolds *self)
{
  g_return_val_if_fail (APR_IS_FOLDS (self), 0);

  return self->n_folds;
}

/**
 * apr_folds_get_labels: (get-property labels)
 * @self: folds
 *
 * Gets the label of the fold that each sample is in.
 *
 * Returns: (transfer none) (nullable): the labels, [n_samples]; `NULL` where the folds were made of cross products
 *
 * Since: 0.1
 */
AprTensor *
apr_folds_get_labels (AprFolds *self)
{
  g_return_val_if_fail (APR_IS_FOLDS (self), NULL);

  return self->labels;
}
