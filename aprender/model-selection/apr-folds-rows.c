/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/model-selection/apr-folds-private.h"

#include <string.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"

/* The samples of a fold, and all others. */

/* Samples that are not one after the other are copied to be summed, as many bytes at a time. */
#define BYTES_PER_COPY (16 << 20)

static const char *const data_names[] = { "X", "y", "sample_weight" };

static AprTensor *
gather (
  AprFolds *self, gsize which, const gsize *rows, gsize n_rows, GCancellable *cancellable, GError **error)
{
  AprRows all;

  if (self->data[which] == NULL)
    return NULL;

  apr_rows_init (&all, data_names[which], self->data[which]);
  return apr_rows_gather (&all, rows, n_rows, cancellable, error);
}

AprTensor *
apr_folds_gather_group (AprFolds *self,
                        gsize which,
                        gsize group,
                        gsize first,
                        gsize n_rows,
                        GCancellable *cancellable,
                        GError **error)
{
  gsize start = self->groups.starts[group] + first;

  if (self->groups.order != NULL)
    return gather (self, which, self->groups.order + start, n_rows, cancellable, error);

  return self->data[which] != NULL ? apr_tensor_slice_rows (self->data[which], start, start + n_rows, error)
                                   : NULL;
}

static gsize
get_group (AprFolds *self, gsize fold)
{
  return self->groups.n_groups - self->n_folds + fold;
}

gsize
apr_folds_count (AprFolds *self, gsize fold)
{
  return self->data[0] != NULL ? apr_row_groups_count (&self->groups, get_group (self, fold))
                               : (gsize) apr_cross_products_get_n_samples (self->sums[0]->states[fold]);
}

gsize
apr_folds_count_at_once (AprFolds *self)
{
  gsize n_features = apr_tensor_get_shape (self->data[0], NULL)[1];

  /* Whole blocks of 256 rows, of which the precision DOUBLE makes its sums. */
  return self->groups.order != NULL ? MAX (BYTES_PER_COPY / sizeof (double) / n_features / 256, 1) * 256
                                    : G_MAXSIZE;
}

AprTensor *
apr_folds_gather (AprFolds *self,
                  gsize which,
                  gsize fold,
                  gsize first,
                  gsize n_rows,
                  GCancellable *cancellable,
                  GError **error)
{
  return apr_folds_gather_group (self, which, get_group (self, fold), first, n_rows, cancellable, error);
}

AprTensor *
apr_folds_gather_others (AprFolds *self, gsize which, gsize fold, GCancellable *cancellable, GError **error)
{
  const AprRowGroups *groups = &self->groups;
  gsize group = get_group (self, fold);
  g_autofree guint8 *set_aside = apr_memory_new (groups->n_rows, 1, "the samples of a fold", error);
  g_autofree gsize *rows =
    set_aside != NULL ? apr_memory_new (groups->n_rows, sizeof *rows, "the samples of a fit", error) : NULL;
  gsize n = 0;
  gsize i;

  if (rows == NULL)
    return NULL;

  memset (set_aside, FALSE, groups->n_rows);
  for (i = groups->starts[group]; i < groups->starts[group + 1]; i++)
    set_aside[apr_row_groups_get_row (groups, i)] = TRUE;
  for (i = 0; i < groups->n_rows; i++)
    if (!set_aside[i])
      rows[n++] = i;

  return gather (self, which, rows, n, cancellable, error);
}

void
apr_folds_init_rows (AprFolds *self, AprRows rows[3])
{
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (data_names); i++)
    if (self->data[i] != NULL)
      apr_rows_init (&rows[i], data_names[i], self->data[i]);
}
