/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>

G_BEGIN_DECLS

/*
 * The sums of the rows of a table, for a fit and for cross-validation: the rows are dealt out to five folds as they
 * are read, and each fold has its sums. All of them together are the sums of the fit, exactly.
 *
 * Of each five rows that follow each other, every fold gets one, in an order that is drawn anew each time and is the
 * same in each run. So the fold of a row depends only on the rows before it, and not on how many are added at once.
 * Rows of weight 0, which count for nothing, are not dealt out.
 */
typedef struct _TrendlineFoldSums TrendlineFoldSums;

/* Why it cannot be told how well new rows are predicted, or what suits them best. The messages are for people. */
#define TRENDLINE_FOLDS_ERROR (trendline_folds_error_quark ())

typedef enum
{
  TRENDLINE_FOLDS_ERROR_FEW_ROWS,
  TRENDLINE_FOLDS_ERROR_MANY_FEATURES,
  TRENDLINE_FOLDS_ERROR_CHANGED, /* what is chosen, meanwhile */
} TrendlineFoldsError;

GQuark trendline_folds_error_quark (void);

/* Rows of more than a thousand features are in no fold: the folds would take too much memory. */
TrendlineFoldSums *trendline_fold_sums_new (void) G_GNUC_WARN_UNUSED_RESULT;

/* Begins with the sums of other rows, to which rows are added, all in no fold. */
TrendlineFoldSums *trendline_fold_sums_new_from (AprCrossProducts *sums) G_GNUC_WARN_UNUSED_RESULT;

void trendline_fold_sums_free (TrendlineFoldSums *self);

/* Adds rows: @x is [n_rows, n_features], @y and @weights are [n_rows], all F64. This and what follows blocks. */
gboolean trendline_fold_sums_add (TrendlineFoldSums *self,
                                  AprTensor *x,
                                  AprTensor *y,
                                  AprTensor *weights,
                                  GCancellable *cancellable,
                                  GError **error);

/* Ends what is added. Returns: (transfer full) (nullable): the sums of all rows, or %NULL without an error where there
 * are none */
AprCrossProducts *
trendline_fold_sums_finish (TrendlineFoldSums *self, GCancellable *cancellable, GError **error);

/* Fails with %TRENDLINE_FOLDS_ERROR_MANY_FEATURES where rows of so many features are in no fold. */
gboolean trendline_fold_sums_check_features (gsize n_features, GError **error);

/* The folds, once all rows are there. Fails with %TRENDLINE_FOLDS_ERROR where there are too few rows or too many
 * features. */
AprFolds *
trendline_fold_sums_create_folds (TrendlineFoldSums *self, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The root of the mean squared error of all rows, by their weights, from that of each fold. */
double trendline_fold_sums_combine (TrendlineFoldSums *self, AprTensor *errors);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (TrendlineFoldSums, trendline_fold_sums_free)

G_END_DECLS
