/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/inference/apr-hypothesis-test.h"
#include "aprender/inference/apr-inference-private.h"

G_BEGIN_DECLS

/* The covariance of the coefficients of one target, in factors: where the terms nearly depend on each other, the
 * matrix itself has not the digits that tests of several coefficients need.
 *
 * With positions and scales as those of AprInference, and w the sum of the weights times 2^-scale[0], a row r of
 * factors has the variance g' H g 2^exponent, where ρ_i = r_i 2^-scale[i], and g is
 *
 *   [ρ_0 / w ; root (ρ - ρ_0 centre / w)]
 *
 * or root ρ without an intercept. H is @factor times @scores, or times the identity: for errors of one variance. */
typedef struct
{
  AprInference *inference; /* (owned) (nullable) */
  gsize target;
  AprDoubleDoubles scores; /* (owned) n x n, symmetric */
  double rounding;         /* of the scores, relative to the largest of them */
  double squares;          /* the residual sum of squares, in units of H 2^exponent */
  AprDoubleDouble factor;
  gint64 exponent;  /* even */
  gboolean unknown; /* there are no degrees of freedom, or sums are rounded too much */
} AprCovariance;

/* σ² (Z'WZ)^-1 */
void apr_covariance_init_classical (AprCovariance *self, AprInference *inference, gsize target);

/* (Z'WZ)^-1 Z'ΩZ (Z'WZ)^-1, where Ω are the squared residuals, times the squared weights, as @kind corrects them. The
 * samples have been checked, but not whether they are those of the fit; @source is what @inference was made of. */
gboolean apr_covariance_init_robust (AprCovariance *self,
                                     AprInference *inference,
                                     const AprInferenceSource *source,
                                     AprTensor *x,
                                     AprTensor *y,
                                     AprTensor *sample_weight,
                                     AprCovarianceKind kind,
                                     gsize target,
                                     const AprRun *run,
                                     GError **error);

void apr_covariance_clear (AprCovariance *self);

/* By term: the standard errors, and, unless @covariances is %NULL, these as a matrix; NaN for those of which rounding
 * leaves too few digits. What belongs to terms without a position is left as it is. */
void apr_covariance_describe (const AprCovariance *self,
                              const AprRun *run,
                              double *standard_errors,
                              double *covariances);

/* The test that the sums of @coefficients, which are by term, times @factors, @n_rows rows by position, are @values.
 * @independent is set to whether the rows are. Returns: (transfer full): with NaN where they are not, or where the
 * covariance has too few digits */
AprHypothesisTest *apr_covariance_test (const AprCovariance *self,
                                        AprTensor *coefficients,
                                        const double *factors,
                                        const double *values,
                                        gsize n_rows,
                                        gboolean *independent,
                                        const AprRun *run);

/* The joint distance of such rows from the estimates, of which F is a part, whatever the scales of the terms are. */
double apr_covariance_find_distance (const AprCovariance *self,
                                     AprTensor *coefficients,
                                     const double *factors,
                                     const double *values,
                                     gsize n_rows,
                                     gboolean *independent,
                                     const AprRun *run);

/* G' H G, @n_columns squared, in units of 2^exponent. G has rows by position. It has NULL where there is no memory. */
AprDoubleDoubles
apr_covariance_transform (const AprCovariance *self, AprDoubleDoubles g, gsize n_columns, const AprRun *run);

/* What g' H g is more than for each g of the length 1 of which rounding leaves digits. */
double apr_covariance_find_limit (const AprCovariance *self);

/* @covariance, or 0 where it may be all rounding beside the variances of its row and column: the inverse is proven to
 * 2^-55 of the root of their product. In other units rounding could be infinite. */
double apr_covariance_trim (double covariance, double variance, double other_variance);

/* The coefficient at a position, which is in @coefficients by term, before it was rounded. */
AprDoubleDouble
apr_covariance_get_estimate (const AprCovariance *self, AprTensor *coefficients, gsize position);

/* The columns g for the unit vectors ρ; NULL where there is no memory. */
AprDoubleDoubles
apr_covariance_get_basis (const AprInference *inference, gboolean transposed, const AprRun *run);

/* c -= a' b, in threads. */
void apr_double_doubles_subtract_product (AprDoubleDoubles c,
                                          AprDoubleDoubles a,
                                          AprDoubleDoubles b,
                                          gsize n_rows,
                                          gsize n_columns,
                                          gsize n_inner,
                                          const AprRun *run);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprCovariance, apr_covariance_clear)

G_END_DECLS
