/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-cross-products-private.h"

#include <string.h>

/* Two states: copy, compare, merge, subtract. */

/**
 * apr_cross_products_copy:
 * @self: a state
 *
 * Copies the state, in no time: the sums are shared until one of the two is written to.
 *
 * Returns: (transfer full): an equal one
 *
 * Since: 0.1
 */
AprCrossProducts *
apr_cross_products_copy (AprCrossProducts *self)
{
  AprCrossProducts *copy;
  gsize i;

  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), NULL);

  copy = apr_cross_products_new_with_sums (apr_exact_sums_ref (self->sums), self->precision);
  copy->rows = self->rows != NULL ? apr_sample_rows_ref (self->rows) : NULL;
  copy->n_features = self->n_features;
  copy->n_targets = self->n_targets;
  copy->n_samples = self->n_samples;
  copy->weight_logs = self->weight_logs;
  copy->dtype = self->dtype;
  copy->n_threads = self->n_threads;
  for (i = 0; i < APR_N_NAMES; i++)
    copy->names[i] = g_strdupv (self->names[i]);
  copy->identities = g_strdupv (self->identities);

  return copy;
}

static gboolean
have_equal_sums (AprCrossProducts *self, AprCrossProducts *other, GError **error)
{
  g_autoptr (AprExactSums) sums = apr_cross_products_ref_sums (self, error);
  g_autoptr (AprExactSums) other_sums = sums != NULL ? apr_cross_products_ref_sums (other, error) : NULL;
  g_autofree guint32 *words = NULL;
  g_autofree guint32 *other_words = NULL;
  gsize n_words;
  gsize n_other_words;
  gint first_word;
  gint other_first_word;

  if (other_sums == NULL || sums == other_sums)
    return other_sums != NULL;

  words = apr_exact_sums_to_words (sums, &n_words, &first_word, NULL, error);
  if (words == NULL && n_words > 0)
    return FALSE;
  other_words = apr_exact_sums_to_words (other_sums, &n_other_words, &other_first_word, NULL, error);

  return n_words == n_other_words && first_word == other_first_word &&
         (n_words == 0 ||
          (other_words != NULL &&
           memcmp (words, other_words, n_words * apr_exact_sums_get_n_entries (sums) * sizeof *words) == 0));
}

gboolean
apr_cross_products_have_same_samples (AprCrossProducts *self, AprCrossProducts *other, GError **error)
{
  if (self->n_samples != other->n_samples || self->weight_logs != other->weight_logs)
    return FALSE;
  if (self->rows != NULL && other->rows != NULL)
    return self->rows == other->rows || apr_sample_rows_equal (self->rows, other->rows);

  return have_equal_sums (self, other, error);
}

/**
 * apr_cross_products_equal:
 * @self: a state
 * @other: another one
 *
 * Compares the sums, those of the logarithms of the weights, the numbers of samples, the dtype of the data, the
 * precision, the names of the features, and the identities.
 *
 * Returns: whether the two would make the same file; false too where there is no memory to find that out
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_equal (AprCrossProducts *self, AprCrossProducts *other)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (other), FALSE);

  if (!apr_cross_products_check_widths (self, apr_exact_sums_get_n_features (other->sums),
                                        apr_exact_sums_get_n_targets (other->sums), "", NULL) ||
      self->dtype != other->dtype || self->precision != other->precision ||
      !apr_cross_products_have_equal_identities (self, other) ||
      !apr_names_equal (self->names[APR_FEATURE_NAMES], other->names[APR_FEATURE_NAMES]) ||
      !apr_names_equal (self->names[APR_TARGET_NAMES], other->names[APR_TARGET_NAMES]))
    return FALSE;

  return apr_cross_products_have_same_samples (self, other, NULL);
}

/* No file holds more. */
gboolean
apr_cross_products_add_samples (AprCrossProducts *self, guint64 n_added, guint64 *n_samples, GError **error)
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

static gboolean
check_names (AprCrossProducts *self, AprCrossProducts *other, GError **error)
{
  AprNames kind;

  for (kind = 0; kind < APR_N_NAMES; kind++)
    if (!apr_cross_products_check_names (self, kind, (const char *const *) other->names[kind], error))
      return FALSE;

  return TRUE;
}

/* Whether nothing was ever added, or all has been taken away. */
static gboolean
is_empty (AprCrossProducts *self)
{
  return self->rows == NULL && self->n_samples == 0 && apr_exact_sums_is_zero (self->sums);
}

/* The rows with those of @other, or without them; %NULL where the state needs sums. Fails where there is no memory. */
static gboolean
add_rows (AprCrossProducts *self, AprCrossProducts *other, gint sign, AprSampleRows **rows, GError **error)
{
  *rows = NULL;
  if (other->rows == NULL || other->precision != APR_PRECISION_EXACT)
    return TRUE;
  if (sign > 0)
    return apr_cross_products_add_rows (self, other->rows, rows, error);

  return self->rows == NULL || apr_sample_rows_subtract (self->rows, other->rows, rows, error);
}

/* Adds the samples of @other, or takes them away; the state's own stay as they are where that fails, and where others
 * share them. */
static gboolean
add_samples (
  AprCrossProducts *self, AprCrossProducts *other, gint sign, GCancellable *cancellable, GError **error)
{
  AprWeightLogs weight_logs = self->weight_logs;
  g_autoptr (AprExactSums) sums = NULL;
  g_autoptr (AprExactSums) others = NULL;
  AprSampleRows *rows = NULL;

  if (!apr_weight_logs_add (&weight_logs, other->weight_logs, sign, error))
    return FALSE;

  if (!is_empty (other) && !add_rows (self, other, sign, &rows, error))
    return FALSE;
  if (rows == NULL && !is_empty (other))
    {
      sums = self->rows == NULL && apr_exact_sums_is_shared (self->sums)
             ? apr_exact_sums_copy (self->sums, error)
             : apr_cross_products_ref_sums (self, error);
      others = sums != NULL ? apr_cross_products_ref_sums (other, error) : NULL;
      if (others == NULL || !apr_exact_sums_add (sums, others, sign, cancellable, error))
        return FALSE;
    }

  if (!is_empty (other))
    apr_cross_products_take (self, g_steal_pointer (&sums), rows);
  self->weight_logs = weight_logs;
  return TRUE;
}

gboolean
apr_cross_products_check_other (AprCrossProducts *self, AprCrossProducts *other, GError **error)
{
  return apr_cross_products_check (self, error) && apr_cross_products_check (other, error) &&
         apr_cross_products_check_widths (self, apr_exact_sums_get_n_features (other->sums),
                                          apr_exact_sums_get_n_targets (other->sums), "A state", error) &&
         check_names (self, other, error);
}

static gboolean
merge (AprCrossProducts *self, AprCrossProducts *other, GCancellable *cancellable, GError **error)
{
  g_auto (GStrv) identities = NULL;
  guint64 n_samples;

  if (!apr_cross_products_combine_identities (self, other, 1, &identities, error) ||
      !apr_cross_products_add_samples (self, other->n_samples, &n_samples, error) ||
      !add_samples (self, other, 1, cancellable, error))
    return FALSE;

  g_strfreev (self->identities);
  self->identities = g_steal_pointer (&identities);

  self->n_samples = n_samples;
  self->dtype = MAX (self->dtype, other->dtype);
  apr_cross_products_lower_precision (self, other->precision);
  apr_cross_products_inherit_names (self, other);
  return TRUE;
}

static gboolean
subtract (AprCrossProducts *self, AprCrossProducts *other, GCancellable *cancellable, GError **error)
{
  g_auto (GStrv) identities = NULL;

  if (other->n_samples > self->n_samples)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "Cannot subtract %" G_GUINT64_FORMAT " samples from %" G_GUINT64_FORMAT, other->n_samples,
                   self->n_samples);
      return FALSE;
    }
  if (!apr_cross_products_combine_identities (self, other, -1, &identities, error) ||
      !add_samples (self, other, -1, cancellable, error))
    return FALSE;

  g_strfreev (self->identities);
  self->identities = g_steal_pointer (&identities);

  self->n_samples -= other->n_samples;
  apr_cross_products_lower_precision (self, other->precision);
  return TRUE;
}

gboolean
apr_cross_products_combine (
  AprCrossProducts *self, AprCrossProducts *other, gint sign, GCancellable *cancellable, GError **error)
{
  return apr_cross_products_check_other (self, other, error) &&
         (sign > 0 ? merge : subtract) (self, other, cancellable, error);
}

static gboolean
write_other (AprCrossProducts *self, AprCrossProducts *other, gint sign, GError **error)
{
  gboolean combined;

  if (!apr_cross_products_begin (self, error))
    return FALSE;

  combined = apr_cross_products_combine (self, other, sign, NULL, error);
  apr_cross_products_end (self);

  return combined;
}

/**
 * apr_cross_products_merge:
 * @self: a state
 * @other: a state of as many features and targets
 * @error: return location for an error
 *
 * Adds the samples of another state, as if they had been added here.
 *
 * Where both have names of features or of targets, they must be the same; else those of one are taken. Where samples
 * of one identity, of [method@Apr.CrossProducts.set_identity], would be counted twice, nothing is added. States without
 * an identity can be merged as often as one likes, a state into itself too: each time their samples count once more.
 *
 * Returns: true, or false with the state as it was: %G_IO_ERROR_PENDING while another write is under way,
 *   %APR_ERROR_SHAPE, %APR_ERROR_FEATURE_NAMES with the first name that differs, %APR_ERROR_RANGE where there would
 *   be 2^63 samples or more, or both have the same identity, or %APR_ERROR_NO_MEMORY
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_merge (AprCrossProducts *self, AprCrossProducts *other, GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (other), FALSE);

  return write_other (self, other, 1, error);
}

/**
 * apr_cross_products_merge_bytes:
 * @self: a state
 * @bytes: what [method@Apr.CrossProducts.to_bytes] made of another one
 * @error: return location for an error
 *
 * Adds the samples of a state that was sent, as [method@Apr.CrossProducts.merge] does. What does not fit is found out
 * from the header, before the sums are read.
 *
 * Returns: true, or false with the state as it was and an error of [method@Apr.CrossProducts.merge] or
 *   [ctor@Apr.CrossProducts.from_bytes]
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_merge_bytes (AprCrossProducts *self, GBytes *bytes, GError **error)
{
  g_autoptr (AprCrossProducts) other = NULL;

  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (bytes != NULL, FALSE);

  other = apr_cross_products_from_bytes_for (bytes, self, error);

  return other != NULL && apr_cross_products_merge (self, other, error);
}

/**
 * apr_cross_products_subtract:
 * @self: a state
 * @other: a state whose samples were added to @self
 * @error: return location for an error
 *
 * Takes samples away again, exactly: all sums and counts are as if they had never been added. What else the samples
 * brought stays: names, the wider of the dtypes, and the precision %APR_PRECISION_DOUBLE.
 *
 * The caller must know that @other was part of @self; only its number of samples, and the names of features and targets
 * where both have any, are checked.
 *
 * Returns: true, or false with the state as it was: %G_IO_ERROR_PENDING while another write is under way,
 *   %APR_ERROR_SHAPE, %APR_ERROR_FEATURE_NAMES, %APR_ERROR_RANGE where @other has more samples than @self, or an
 *   identity that @self has not, or %APR_ERROR_NO_MEMORY
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_subtract (AprCrossProducts *self, AprCrossProducts *other, GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (other), FALSE);

  return write_other (self, other, -1, error);
}
