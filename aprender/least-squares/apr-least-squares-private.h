/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/cross-products/apr-exact-sums-private.h"

G_BEGIN_DECLS

/* What is asked for: the b, and the a where there is an intercept, that minimise sum w (y - a - X b)^2 + alpha |b|^2. */
typedef struct
{
  gboolean fit_intercept;
  double alpha;        /* finite, at least 0; the intercept is not penalised */
  gboolean positive;   /* no coefficient below 0 */
  AprDType data_dtype; /* that of X: decides what counts as zero when the rank is found */
  AprDType dtype;      /* what is rounded to, F32 or F64 */
  gboolean noisy;      /* the sums were rounded: they do not tell apart what differs by less than 2^-50 p */
  guint n_threads;     /* 0: as many as the work is worth */
} AprLeastSquaresOptions;

/* The answer for one state: values of the dtype that was asked for, held in doubles. */
typedef struct
{
  double *coefficients; /* (owned) n_targets x n_features */
  double *intercepts;   /* (owned) n_targets, zeros without intercept */

  gsize
    rank; /* of the features, centred where there is an intercept; all of them where alpha is above 0 and the sums are exact */
  gsize *dependent; /* (owned) in order, the features that depend on others before them, or are constant */
  gsize n_dependent;
  gboolean correctly_rounded; /* proven for every coefficient and intercept */
} AprLeastSquares;

void apr_least_squares_clear (AprLeastSquares *self);

gboolean apr_least_squares_solve (AprLeastSquares *self,
                                  AprExactSums *state,
                                  const AprLeastSquaresOptions *options,
                                  GError **error);

/* Of what was solved with the same arguments: see apr_condition_find(). */
double apr_least_squares_find_condition (AprExactSums *state, const AprLeastSquaresOptions *options);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprLeastSquares, apr_least_squares_clear)

G_END_DECLS
