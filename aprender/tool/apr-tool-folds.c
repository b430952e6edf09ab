/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-tool-folds.h"

#include <string.h>

#include "aprender/tool/apr-tool-text.h"

static void
init (AprToolFolds *self, const AprToolFitOptions *options, gsize n_folds, char **categories)
{
  self->options = options;
  if (options->fold_column != NULL)
    {
      self->names = apr_tool_fit_get_categories (categories, options->fold_column);
      n_folds = g_strv_length (self->names);
    }
  self->n_folds = n_folds;
  self->states = g_new0 (AprCrossProducts *, n_folds);
}

void
apr_tool_folds_clear (AprToolFolds *self)
{
  gsize i;

  for (i = 0; i < self->n_folds; i++)
    g_clear_object (&self->states[i]);
  g_clear_pointer (&self->states, g_free);
  g_clear_pointer (&self->names, g_strfreev);
}

const char *
apr_tool_folds_get_value (const AprToolFolds *self, gsize fold)
{
  return self->names[fold] + strlen (self->options->fold_column) + strlen ("=");
}

char *
apr_tool_folds_describe (const AprToolFolds *self, gsize fold)
{
  return self->names != NULL ? g_strdup_printf ("column “%s”, fold “%s”", self->options->fold_column,
                                                apr_tool_folds_get_value (self, fold))
                             : g_strdup_printf ("fold %" G_GSIZE_FORMAT " (counted from 0)", fold);
}

/* The fold of a row of some; @categories are those of the row, one of which is 1. */
static gsize
find_fold (const AprToolFolds *self, gsize row, const double *categories)
{
  gsize fold = 0;

  if (self->names == NULL)
    return (gsize) ((self->n_rows + row) % self->n_folds);
  while (fold + 1 < self->n_folds && categories[fold] == 0)
    fold++;

  return fold;
}

/* A copy of some rows, and of each the first @n_columns numbers. */
static AprTensor *
gather (AprTensor *tensor, const gsize *rows, gsize n_rows, gsize n_columns, GError **error)
{
  const double *values = apr_tensor_get_doubles (tensor, NULL, error);
  gsize n_dims;
  const gsize *tensor_shape = apr_tensor_get_shape (tensor, &n_dims);
  gsize stride = n_dims > 1 ? tensor_shape[1] : 1;
  const gsize shape[] = { n_rows, n_columns };
  g_autofree double *gathered = NULL;
  gsize i;

  if (values == NULL)
    return NULL;
  gathered = g_try_malloc_n (n_rows, n_columns * sizeof *gathered);
  if (gathered == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY, "No memory for %" G_GSIZE_FORMAT " rows", n_rows);
      return NULL;
    }
  for (i = 0; i < n_rows; i++)
    memcpy (gathered + i * n_columns, values + rows[i] * stride, n_columns * sizeof *values);

  return apr_tensor_new_from_doubles (gathered, n_rows * n_columns, shape, n_dims, error);
}

/* Adds some rows to the cross products of a fold, which the first ones make. */
static gboolean
add_rows_to_fold (AprToolFolds *self,
                  gsize fold,
                  AprTensor *const *data,
                  const gsize *rows,
                  gsize n_rows,
                  gsize n_features,
                  GError **error)
{
  gsize n_targets = g_strv_length (self->options->targets);
  g_autoptr (AprTensor) x = gather (data[0], rows, n_rows, n_features, error);
  g_autoptr (AprTensor) y = x != NULL ? gather (data[1], rows, n_rows, n_targets, error) : NULL;
  g_autoptr (AprTensor) weight =
    y != NULL && data[2] != NULL ? gather (data[2], rows, n_rows, 1, error) : NULL;

  if (y == NULL || (data[2] != NULL && weight == NULL))
    return FALSE;
  if (self->states[fold] == NULL)
    self->states[fold] = apr_cross_products_new (n_features, n_targets, error);

  return self->states[fold] != NULL &&
         apr_cross_products_update (self->states[fold], x, y, weight, NULL, error);
}

static gboolean
add_rows (
  AprTableReader *reader, AprTensor *x, AprTensor *y, AprTensor *weight, gpointer user_data, GError **error)
{
  AprToolFolds *self = user_data;
  AprTensor *const data[] = { x, y, weight };
  const gsize *shape = apr_tensor_get_shape (x, NULL);
  const double *values = apr_tensor_get_doubles (x, NULL, error);
  gsize n_features = shape[1] - (self->names != NULL ? self->n_folds : 0);
  g_autofree gsize *folds = g_try_new (gsize, shape[0]);
  g_autofree gsize *rows = g_try_new (gsize, shape[0]);
  g_autofree gsize *ends = g_new0 (gsize, self->n_folds);
  gsize fold;
  gsize i;

  if (values == NULL)
    return FALSE;
  if (folds == NULL || rows == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY, "No memory for %" G_GSIZE_FORMAT " rows", shape[0]);
      return FALSE;
    }
  if (n_features == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_EMPTY,
                   "no column is left to be a feature: all are targets, weights or --fold-column");
      return FALSE;
    }

  /* Sorts the rows by their folds, with each in the order of the table. */
  for (i = 0; i < shape[0]; i++)
    {
      folds[i] = find_fold (self, i, values + i * shape[1] + n_features);
      ends[folds[i]]++;
    }
  for (fold = 1; fold < self->n_folds; fold++)
    ends[fold] += ends[fold - 1];
  for (i = shape[0]; i > 0; i--)
    rows[--ends[folds[i - 1]]] = i - 1;

  /* Now each fold begins where it ended. */
  for (fold = 0; fold < self->n_folds; fold++)
    {
      gsize end = fold + 1 < self->n_folds ? ends[fold + 1] : shape[0];

      if (end > ends[fold] &&
          !add_rows_to_fold (self, fold, data, rows + ends[fold], end - ends[fold], n_features, error))
        return FALSE;
    }
  self->n_rows += shape[0];

  return TRUE;
}

/* Leaves out the values of --fold-column whose rows all miss a number. */
static void
drop_empty (AprToolFolds *self)
{
  gsize n = 0;
  gsize i;

  for (i = 0; i < self->n_folds; i++)
    if (self->states[i] == NULL)
      g_free (self->names[i]);
    else
      {
        self->states[n] = self->states[i];
        self->names[n++] = self->names[i];
      }
  self->names[n] = NULL;
  self->n_folds = n;
}

/* That there are folds, and samples in each. */
static gboolean
check (AprToolFolds *self, GError **error)
{
  gsize i;

  if (self->names != NULL)
    drop_empty (self);
  else if (self->n_rows < self->n_folds)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "%" G_GUINT64_FORMAT " %s for %" G_GSIZE_FORMAT
                   " folds: there must be 2 folds at least, and a row in each (--folds)",
                   self->n_rows, self->n_rows == 1 ? "row" : "rows", self->n_folds);
      return FALSE;
    }
  if (self->n_folds < 2)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "column “%s” has %" G_GSIZE_FORMAT " %s: there must be 2 folds at least",
                   self->options->fold_column, self->n_folds, self->n_folds == 1 ? "value" : "values");
      return FALSE;
    }
  for (i = 0; i < self->n_folds; i++)
    if (apr_cross_products_get_n_samples (self->states[i]) == 0)
      {
        g_autofree char *fold = apr_tool_folds_describe (self, i);

        g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS, "%s: no weight in column “%s” is above 0", fold,
                     self->options->weight);
        return FALSE;
      }

  return TRUE;
}

guint64
apr_tool_folds_count_samples (const AprToolFolds *self)
{
  guint64 n = 0;
  gsize i;

  for (i = 0; i < self->n_folds; i++)
    n += apr_cross_products_get_n_samples (self->states[i]);

  return n;
}

gboolean
apr_tool_folds_read (
  AprToolFolds *self, char **paths, const AprToolFitOptions *options, gsize n_folds, GError **error)
{
  g_auto (GStrv) categories = apr_tool_fit_list_categories (paths, options, error);

  if (categories == NULL)
    return FALSE;
  init (self, options, n_folds, categories);
  if (!apr_tool_fit_read_tables (paths, options, categories, add_rows, self, error))
    return FALSE;
  if (!check (self, error))
    {
      g_autofree char *name = apr_tool_get_display_name (paths[0]);

      g_prefix_error (error, "%s: ", name);
      return FALSE;
    }

  return TRUE;
}
