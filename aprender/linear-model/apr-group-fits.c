/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-group-fits-private.h"

#include "aprender/base/apr-error.h"

struct _AprGroupFits
{
  GObject parent_instance;

  AprTensor *tensors[APR_GROUP_FITS_N_TENSORS]; /* (owned) */
  gsize n_groups;
  GHashTable *errors; /* (owned) of GError by the number of the group, which is the key itself */
};

/**
 * AprGroupFits:
 *
 * Linear regressions of groups of samples, one for each, from [method@Apr.LinearRegression.fit_groups].
 *
 * ```c
 * g_autoptr (AprGroupFits) fits =
 *   apr_linear_regression_fit_groups (model, x, y, cities, NULL, NULL, &error);
 *
 * if (fits == NULL)
 *   return FALSE;
 * coefficients = apr_group_fits_get_coefficients (fits);
 * ```
 *
 * Each tensor has an entry for each group, in the order of the groups' labels. The coefficients and intercepts are
 * those of [method@Apr.Estimator.fit] of the group's samples alone, bit for bit.
 *
 * A group that cannot be fitted spoils no other: its coefficients and intercepts are NaN, its rank is -1, and
 * [method@Apr.GroupFits.check] says why. That is so where all its weights are 0, or a coefficient is too large for the
 * dtype. A group with fewer samples than features can be fitted: its rank is lower than their number, and its
 * coefficients are those of minimum norm, as in a fit.
 *
 * ## Threads, memory and blocking
 *
 * These fits never change, so that any number of threads may read them at once. They own their tensors, and refer
 * neither to the samples nor to the model. All methods take constant time.
 *
 * Since: 0.1
 */
G_DEFINE_FINAL_TYPE (AprGroupFits, apr_group_fits, G_TYPE_OBJECT)

enum
{
  PROP_N_GROUPS = 1,
  PROP_N_FAILED,
  PROP_FIRST_TENSOR,
  N_PROPS = PROP_FIRST_TENSOR + APR_GROUP_FITS_N_TENSORS,
};

static GParamSpec *properties[N_PROPS];

static void
apr_group_fits_finalize (GObject *object)
{
  AprGroupFits *self = APR_GROUP_FITS (object);
  gsize i;

  for (i = 0; i < APR_GROUP_FITS_N_TENSORS; i++)
    apr_tensor_unref (self->tensors[i]);
  g_hash_table_unref (self->errors);

  G_OBJECT_CLASS (apr_group_fits_parent_class)->finalize (object);
}

static void
apr_group_fits_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  AprGroupFits *self = APR_GROUP_FITS (object);

  if (property_id == PROP_N_GROUPS)
    g_value_set_uint64 (value, apr_group_fits_get_n_groups (self));
  else if (property_id == PROP_N_FAILED)
    g_value_set_uint64 (value, apr_group_fits_get_n_failed (self));
  else if (property_id >= PROP_FIRST_TENSOR && property_id < N_PROPS)
    g_value_set_boxed (value, self->tensors[property_id - PROP_FIRST_TENSOR]);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
}

static void
apr_group_fits_class_init (AprGroupFitsClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = apr_group_fits_finalize;
  object_class->get_property = apr_group_fits_get_property;

  /**
   * AprGroupFits:n-groups: (getter get_n_groups)
   *
   * How many groups there are.
   *
   * Since: 0.1
   */
  properties[PROP_N_GROUPS] = g_param_spec_uint64 ("n-groups", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  /**
   * AprGroupFits:n-failed: (getter get_n_failed)
   *
   * How many groups could not be fitted.
   *
   * Since: 0.1
   */
  properties[PROP_N_FAILED] = g_param_spec_uint64 ("n-failed", NULL, NULL, 0, G_MAXUINT64, 0, flags);

  /**
   * AprGroupFits:labels: (getter get_labels)
   *
   * The label of each group, [n_groups], in ascending order, of the dtype that was given.
   *
   * Since: 0.1
   */
  properties[PROP_FIRST_TENSOR + APR_GROUP_FITS_LABELS] =
    g_param_spec_boxed ("labels", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprGroupFits:coefficients: (getter get_coefficients)
   *
   * The coefficients of each group, [n_groups, n_features], or [n_groups, n_targets, n_features] where y is a matrix;
   * NaN for groups that cannot be fitted.
   *
   * Since: 0.1
   */
  properties[PROP_FIRST_TENSOR + APR_GROUP_FITS_COEFFICIENTS] =
    g_param_spec_boxed ("coefficients", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprGroupFits:intercepts: (getter get_intercepts)
   *
   * The intercepts of each group, [n_groups, 1], or [n_groups, n_targets] where y is a matrix; 0 without intercept, and
   * NaN for groups that cannot be fitted.
   *
   * Since: 0.1
   */
  properties[PROP_FIRST_TENSOR + APR_GROUP_FITS_INTERCEPTS] =
    g_param_spec_boxed ("intercepts", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprGroupFits:n-samples: (getter get_n_samples)
   *
   * The number of samples of each group but those of weight 0, as a fit counts them: I64, [n_groups].
   *
   * Since: 0.1
   */
  properties[PROP_FIRST_TENSOR + APR_GROUP_FITS_N_SAMPLES] =
    g_param_spec_boxed ("n-samples", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprGroupFits:ranks: (getter get_ranks)
   *
   * The rank of each group, as [property@Apr.LinearRegression:rank] has it: I64, [n_groups]. It is lower than the
   * number of features where these depend on each other, and -1 for groups that cannot be fitted.
   *
   * Since: 0.1
   */
  properties[PROP_FIRST_TENSOR + APR_GROUP_FITS_RANKS] =
    g_param_spec_boxed ("ranks", NULL, NULL, APR_TYPE_TENSOR, flags);

  /**
   * AprGroupFits:correctly-rounded: (getter get_correctly_rounded)
   *
   * Whether it is proven of all coefficients and intercepts of a group that they are rounded to nearest: BOOL,
   * [n_groups].
   *
   * Since: 0.1
   */
  properties[PROP_FIRST_TENSOR + APR_GROUP_FITS_CORRECTLY_ROUNDED] =
    g_param_spec_boxed ("correctly-rounded", NULL, NULL, APR_TYPE_TENSOR, flags);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
apr_group_fits_init (AprGroupFits *self)
{
  const gsize n = 0;
  gsize i;

  /* An object that a script makes itself has no groups. */
  for (i = 0; i < APR_GROUP_FITS_N_TENSORS; i++)
    self->tensors[i] = apr_tensor_new_from_doubles (NULL, 0, &n, 1, NULL);
  self->errors = g_hash_table_new (NULL, NULL);
}

AprGroupFits *
apr_group_fits_new (AprTensor *tensors[APR_GROUP_FITS_N_TENSORS], gsize n_groups, GHashTable *errors)
{
  AprGroupFits *self = g_object_new (APR_TYPE_GROUP_FITS, NULL);
  gsize i;

  for (i = 0; i < APR_GROUP_FITS_N_TENSORS; i++)
    {
      apr_tensor_unref (self->tensors[i]);
      self->tensors[i] = tensors[i];
    }
  g_hash_table_unref (self->errors);
  self->errors = errors;
  self->n_groups = n_groups;

  return self;
}

/**
 * apr_group_fits_get_n_groups: (get-property n-groups)
 * @self: fits of groups
 *
 * Gets the number of groups.
 *
 * Returns: how many there are
 *
 * Since: 0.1
 */
gsize
apr_group_fits_get_n_groups (AprGroupFits *self)
{
  g_return_val_if_fail (APR_IS_GROUP_FITS (self), 0);

  return self->n_groups;
}

/**
 * apr_group_fits_get_n_failed: (get-property n-failed)
 * @self: fits of groups
 *
 * Gets the number of groups that could not be fitted.
 *
 * Returns: how many there are
 *
 * Since: 0.1
 */
gsize
apr_group_fits_get_n_failed (AprGroupFits *self)
{
  g_return_val_if_fail (APR_IS_GROUP_FITS (self), 0);

  return g_hash_table_size (self->errors);
}

/**
 * apr_group_fits_get_labels: (get-property labels)
 * @self: fits of groups
 *
 * Gets the labels of the groups.
 *
 * Returns: (transfer none): the labels, [n_groups]
 *
 * Since: 0.1
 */
AprTensor *
apr_group_fits_get_labels (AprGroupFits *self)
{
  g_return_val_if_fail (APR_IS_GROUP_FITS (self), NULL);

  return self->tensors[APR_GROUP_FITS_LABELS];
}

/**
 * apr_group_fits_get_coefficients: (get-property coefficients)
 * @self: fits of groups
 *
 * Gets the coefficients of each group.
 *
 * Returns: (transfer none): the coefficients, [n_groups, n_features] or [n_groups, n_targets, n_features]
 *
 * Since: 0.1
 */
AprTensor *
apr_group_fits_get_coefficients (AprGroupFits *self)
{
  g_return_val_if_fail (APR_IS_GROUP_FITS (self), NULL);

  return self->tensors[APR_GROUP_FITS_COEFFICIENTS];
}

/**
 * apr_group_fits_get_intercepts: (get-property intercepts)
 * @self: fits of groups
 *
 * Gets the intercepts of each group.
 *
 * Returns: (transfer none): the intercepts, [n_groups, 1] or [n_groups, n_targets]
 *
 * Since: 0.1
 */
AprTensor *
apr_group_fits_get_intercepts (AprGroupFits *self)
{
  g_return_val_if_fail (APR_IS_GROUP_FITS (self), NULL);

  return self->tensors[APR_GROUP_FITS_INTERCEPTS];
}

/**
 * apr_group_fits_get_n_samples: (get-property n-samples)
 * @self: fits of groups
 *
 * Gets the number of samples of each group, in which those of weight 0 are not counted.
 *
 * Returns: (transfer none): the numbers, [n_groups]
 *
 * Since: 0.1
 */
AprTensor *
apr_group_fits_get_n_samples (AprGroupFits *self)
{
  g_return_val_if_fail (APR_IS_GROUP_FITS (self), NULL);

  return self->tensors[APR_GROUP_FITS_N_SAMPLES];
}

/**
 * apr_group_fits_get_ranks: (get-property ranks)
 * @self: fits of groups
 *
 * Gets the rank of each group.
 *
 * Returns: (transfer none): the ranks, [n_groups]
 *
 * Since: 0.1
 */
AprTensor *
apr_group_fits_get_ranks (AprGroupFits *self)
{
  g_return_val_if_fail (APR_IS_GROUP_FITS (self), NULL);

  return self->tensors[APR_GROUP_FITS_RANKS];
}

/**
 * apr_group_fits_get_correctly_rounded: (get-property correctly-rounded)
 * @self: fits of groups
 *
 * Tells whether each group is known to be correctly rounded.
 *
 * Returns: (transfer none): 0 or 1 for each group, [n_groups]
 *
 * Since: 0.1
 */
AprTensor *
apr_group_fits_get_correctly_rounded (AprGroupFits *self)
{
  g_return_val_if_fail (APR_IS_GROUP_FITS (self), NULL);

  return self->tensors[APR_GROUP_FITS_CORRECTLY_ROUNDED];
}

/**
 * apr_group_fits_check:
 * @self: fits of groups
 * @group: which group, counted from 0 in the order of the labels
 * @error: return location for an error
 *
 * Tells whether a group could be fitted, and why not.
 *
 * Returns: true, or false with the error of [method@Apr.Estimator.fit] of the group's samples: %APR_ERROR_WEIGHTS where
 *   all weights are 0, or %APR_ERROR_RANGE where a coefficient is too large; or %APR_ERROR_RANGE where there is no such
 *   group
 *
 * Since: 0.1
 */
gboolean
apr_group_fits_check (AprGroupFits *self, gsize group, GError **error)
{
  const GError *reason;

  g_return_val_if_fail (APR_IS_GROUP_FITS (self), FALSE);

  if (group >= self->n_groups)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "There is no group %" G_GSIZE_FORMAT " (counted from 0): there are %" G_GSIZE_FORMAT
                   " groups",
                   group, self->n_groups);
      return FALSE;
    }

  reason = g_hash_table_lookup (self->errors, GSIZE_TO_POINTER (group));
  if (reason != NULL)
    g_propagate_error (error, g_error_copy (reason));

  return reason == NULL;
}
