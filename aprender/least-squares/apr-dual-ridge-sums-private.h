/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <float.h>

#include "aprender/base/apr-double-double-private.h"
#include "aprender/least-squares/apr-dual-ridge-private.h"

G_BEGIN_DECLS

/* What apr-dual-ridge.c needs of all features, each of which is read once for K, and once for the residual. */

#define APR_DUAL_RIDGE_UNIT (DBL_EPSILON / 2)

/* What a feature's norm is above, so that nothing underflows that is of any size beside the errors. */
#define APR_DUAL_RIDGE_MIN_NORM 0x1p-150

/* An upper bound of the norm. */
double apr_dual_ridge_find_norm (const double *values, gsize n);

/* Where centred, what was subtracted from a feature follows its values, as if it were that of another sample, whose u
 * is 0. */
void apr_dual_ridge_read_feature (const AprDualRidge *self, gsize feature, double *values);

/* Finds K, in both triangles, and a bound of its error. */
void apr_dual_ridge_multiply_samples (AprDualRidge *self);

typedef struct
{
  double error; /* of K u at most this times the root of K's trace; of what was subtracted, times its norm */
  double sum;   /* of the absolute values of parts */
  guint n_parts;
} AprDualRidgeSize;

/* Finds @sums = K u, [width], in about twice the precision of doubles; and of each feature X'u, and its norm. @norm is
 * that of u. */
void apr_dual_ridge_multiply (const AprDualRidge *self,
                              const double *u,
                              double norm,
                              AprDoubleDouble *sums,
                              AprDoubleDouble *of_features,
                              double *norms,
                              AprDualRidgeSize *size);

/* The error of X'u that this finds, relative to the norms of u and of a feature. */
double apr_dual_ridge_bound_product_error (const AprDualRidge *self);

G_END_DECLS
