/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/apr-exact-sums-private.h"
#include "aprender/exact-sums/apr-sample-rows-private.h"

G_BEGIN_DECLS

/* What to solve: minimise sum w (y - a - X b)^2 + alpha |b|^2 over b and, with an intercept, a. */
typedef struct
{
  gboolean fit_intercept;
  double alpha;            /* finite, at least 0; the intercept is not penalised */
  gboolean positive;       /* no coefficient below 0 */
  AprDType data_dtype;     /* that of X, which sets the rank tolerance */
  AprDType dtype;          /* that of the results, F32 or F64 */
  gboolean rounded;        /* the sums were rounded, so that the rank tolerance is at least p 2^-50 */
  const gboolean *targets; /* (unowned) (nullable) by target: whether to solve for it; %NULL for all */
} AprLeastSquaresOptions;

/* The solution: values of the dtype that was asked for, as doubles. */
typedef struct
{
  double *coefficients; /* (owned) n_targets x n_features */
  double *intercepts;   /* (owned) n_targets, zeros without intercept */

  gsize rank; /* of X, centred with an intercept; n_features where alpha is above 0 and the sums are exact */
  gsize *dependent; /* (owned) in order, the features that are constant or depend on those before them */
  gsize n_dependent;
  gboolean correctly_rounded; /* proven for every coefficient and intercept */
} AprLeastSquares;

void apr_least_squares_clear (AprLeastSquares *self);

/* Fails with %G_IO_ERROR_CANCELLED where @run is cancelled, and with %APR_ERROR_NO_MEMORY where there is no memory. */
gboolean apr_least_squares_solve (AprLeastSquares *self,
                                  const AprExactSums *sums,
                                  const AprLeastSquaresOptions *options,
                                  const AprRun *run,
                                  GError **error);

/* The same from samples, which are solved in their dual form: in time and memory that are linear in the number of
 * features. There must be one whose weight is not 0, and no option asks for signs or has rounded sums. */
gboolean apr_least_squares_solve_rows (AprLeastSquares *self,
                                       const AprSampleRows *rows,
                                       const AprLeastSquaresOptions *options,
                                       const AprRun *run,
                                       GError **error);

/* Of what was solved with the same arguments: see apr_condition_find(). NaN where cancelled, or there is no
 * memory. */
double apr_least_squares_find_condition (const AprExactSums *sums,
                                         const AprLeastSquaresOptions *options,
                                         const AprRun *run);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprLeastSquares, apr_least_squares_clear)

G_END_DECLS
