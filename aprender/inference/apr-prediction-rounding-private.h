/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/apr-exact-sums-private.h"

G_BEGIN_DECLS

/* From here on, people are warned. A model of ordinary features has 10^-9 or less, and 10^-5 in F32; one of features
 * that depend on each other but for their own rounding has about 0.1 by the root of a hundredth of the samples. */
#define APR_PREDICTION_ROUNDING_LIMIT 1e-4

/* By how much rounding may change predictions: u Σ |b_j| rms (x_j) / sd (y), with the weights, where the intercept is
 * the coefficient of a column of ones; u is 2^-24 where the coefficients are F32, and, of features, where @dtype, that
 * of the samples, is; else 2^-53. Takes time in proportion to the number of features. 0 where the targets are all the
 * same; NaN where @sums is %NULL. */
double apr_find_prediction_rounding (
  const AprExactSums *sums, AprDType dtype, AprTensor *coefficients, AprTensor *intercept, gsize target);

G_END_DECLS
