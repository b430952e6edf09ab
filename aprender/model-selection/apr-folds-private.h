/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/base/apr-run-private.h"
#include "aprender/exact-sums/apr-rows-private.h"
#include "aprender/linear-model/apr-row-groups-private.h"
#include "aprender/model-selection/apr-folds.h"

G_BEGIN_DECLS

/* The cross products of each fold, and of all samples. They never change. */
typedef struct
{
  AprCrossProducts *total;   /* (owned) */
  AprCrossProducts **states; /* (owned) */
  gsize n_states;
} AprFoldSums;

struct _AprFolds
{
  GObject parent_instance;

  AprTensor
    *data[3]; /* (owned) (nullable) X, y and the weights; none of folds that were made of cross products */
  AprTensor *labels;   /* (owned) (nullable) */
  AprRowGroups groups; /* the folds are the last of them; samples of those before are in no fold */
  gsize n_folds;

  GMutex lock; /* of: */
  AprFoldSums
    *sums[2]; /* (owned) (nullable) of the precisions, exact and double, or of any where there are no data */
};

/* How many samples a fold has; of cross products, those with a weight. */
gsize apr_folds_count (AprFolds *self, gsize fold);

/* How many samples should be gathered at once, so that no copy of all is made. */
gsize apr_folds_count_at_once (AprFolds *self);

/* @n_rows samples of a fold, from its @first one on: @which is X, y or the weights. Returns: (transfer full)
 * (nullable): %NULL for weights that are not there, and with an error where there is no memory, or it is cancelled */
AprTensor *apr_folds_gather (AprFolds *self,
                             gsize which,
                             gsize fold,
                             gsize first,
                             gsize n_rows,
                             GCancellable *cancellable,
                             GError **error);

/* The same of all samples but those of a fold, in the order that they are in. */
AprTensor *
apr_folds_gather_others (AprFolds *self, gsize which, gsize fold, GCancellable *cancellable, GError **error);

/* As apr_folds_gather (), of one of the groups, which those are too that are no folds. */
AprTensor *apr_folds_gather_group (AprFolds *self,
                                   gsize which,
                                   gsize group,
                                   gsize first,
                                   gsize n_rows,
                                   GCancellable *cancellable,
                                   GError **error);

/* All samples: X, y and, where there are any, the weights. */
void apr_folds_init_rows (AprFolds *self, AprRows rows[3]);

/* Whether the sums are there, so that they take no time. */
gboolean apr_folds_have_sums (AprFolds *self, AprPrecision precision);

/* The sums, which are found when they are first asked for. Returns: (transfer full) (nullable) */
AprFoldSums *apr_folds_ref_sums (AprFolds *self, AprPrecision precision, const AprRun *run, GError **error);

/* Copies each of @states, which must fit each other, without its identities: each fit would copy those of all. */
AprFoldSums *apr_fold_sums_new (AprCrossProducts **states, gsize n_states, const AprRun *run, GError **error);

void apr_fold_sums_unref (AprFoldSums *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprFoldSums, apr_fold_sums_unref)

G_END_DECLS
