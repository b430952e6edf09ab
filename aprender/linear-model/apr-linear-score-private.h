/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/estimator/apr-metrics.h"
#include "aprender/linear-model/apr-linear-results-private.h"

G_BEGIN_DECLS

/* Scores of a linear model for samples of which only the cross products are there. */

/* Whether the cross products tell this metric: those that need no more than the sums of errors and of their squares. */
gboolean apr_linear_score_has (AprMetric metric);

/* Finds the metric of each target in @scores, worked out exactly and rounded once; predictions are not rounded on the
 * way. As of apr_compute_metric (), R² of one sample is NaN; @n_samples counts those without a weight too. @state must
 * be of samples with a weight, and as wide as the model. Fails where cancelled, and where exact sums leave less than
 * nothing of the squares; where sums that were rounded do, that counts as nothing. */
gboolean apr_linear_score_results (const AprLinearResults *results,
                                   AprCrossProducts *state,
                                   guint64 n_samples,
                                   AprMetric metric,
                                   GCancellable *cancellable,
                                   double *scores,
                                   GError **error);

G_END_DECLS
