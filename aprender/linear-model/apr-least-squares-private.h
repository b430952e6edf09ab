/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/linear-model/apr-exact-sums-private.h"

G_BEGIN_DECLS

/* The answer for one state: values of the dtype that was asked for, held in doubles. */
typedef struct
{
  double *coefficients; /* (owned) n_targets x n_features */
  double *intercepts;   /* (owned) n_targets, zeros without intercept */
  gsize rank;           /* of the features, centred where there is an intercept */
} AprLeastSquares;

void apr_least_squares_clear (AprLeastSquares *self);

/* @data_dtype, that of X, decides what counts as zero when the rank is found; @dtype is what is rounded to.
 */
gboolean apr_least_squares_solve (AprLeastSquares *self,
                                  AprExactSums *state,
                                  gboolean fit_intercept,
                                  AprDType data_dtype,
                                  AprDType dtype,
                                  GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprLeastSquares, apr_least_squares_clear)

G_END_DECLS
