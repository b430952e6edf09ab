/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/apr-sample-rows-private.h"
#include "aprender/least-squares/apr-cholesky-private.h"
#include "aprender/least-squares/apr-least-squares-private.h"

G_BEGIN_DECLS

/* What is faster than an AprDualSystem where there is a penalty and nothing is hard: it finds the same answers, or
 * none. */
typedef struct
{
  const AprSampleRows *rows; /* (unowned) */
  const gboolean *excluded;  /* (unowned) features that take no part */
  const AprRun *run;         /* (unowned) */
  const AprDenseKernel *kernel;
  gboolean centred;
  double alpha;
  gsize n;
  gsize width; /* with what is subtracted from features as one more sample, where centred */
  gsize stride;

  double *products; /* (owned) K in double, width x stride; about means where centred */
  double size;      /* a bound of the norm of K in double */
  double trace;     /* a bound of the trace of K */
  double error;     /* a bound of the norm of what @products lack */
  double *sums;     /* (owned) of the rows of K */
  double sums_error;
  double *shift_products; /* (owned) of the samples with what was subtracted */
  double shift_size;      /* a bound of the norm of what was subtracted */
  double shift_error;     /* a bound of the norm of what @shift_products lack */

  AprCholesky cholesky; /* of (@products + alpha) 2^-@exponent */
  gint exponent;
  double min_eigenvalue; /* a lower bound of those that are solved with */
} AprDualRidge;

/* More targets than this share exact products at less cost. */
#define APR_DUAL_RIDGE_MAX_TARGETS 4

/* Returns %FALSE where it is of no use, or cancelled. It has to be cleared in any case. */
gboolean apr_dual_ridge_init (AprDualRidge *self,
                              const AprSampleRows *rows,
                              const AprLeastSquaresOptions *options,
                              const gboolean *excluded,
                              const AprRun *run);

void apr_dual_ridge_clear (AprDualRidge *self);

/* Returns %FALSE where it is not certain that all are rounded to nearest, or where cancelled; what is found means
 * nothing then. Coefficients of excluded features are left as they are. */
gboolean apr_dual_ridge_solve (
  const AprDualRidge *self, gsize target, AprDType dtype, double *coefficients, double *intercept);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprDualRidge, apr_dual_ridge_clear)

G_END_DECLS
