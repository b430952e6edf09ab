/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/base/apr-run-private.h"
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

/* Samples of a fold, or all but those: @which is X, y or the weights. Returns: (transfer full) (nullable): %NULL for
 * weights that are not there, and with an error where there is no memory, or it is cancelled */
AprTensor *apr_folds_gather (
  AprFolds *self, gsize which, gsize fold, gboolean others, GCancellable *cancellable, GError **error);

/* Whether the sums are there, so that they take no time. */
gboolean apr_folds_have_sums (AprFolds *self, AprPrecision precision);

/* The sums, which are found when they are first asked for. Returns: (transfer full) (nullable) */
AprFoldSums *apr_folds_ref_sums (AprFolds *self, AprPrecision precision, const AprRun *run, GError **error);

/* Takes a reference of each of @states, which must fit each other. */
AprFoldSums *apr_fold_sums_new (AprCrossProducts **states, gsize n_states, GError **error);

void apr_fold_sums_unref (AprFoldSums *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprFoldSums, apr_fold_sums_unref)

G_END_DECLS
