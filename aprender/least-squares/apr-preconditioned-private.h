/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-cholesky-private.h"
#include "aprender/least-squares/apr-scaled-products-private.h"

G_BEGIN_DECLS

/* The normal equations of features of which Cholesky's factors in double are good enough to correct with: those whose scaled
 * products are of a condition below some 10^10. */
typedef struct
{
  const AprProducts *products; /* (unowned) */
  guint n_threads;
  gint64 *scales; /* (owned) of the products' columns */

  gsize *independent; /* (owned) features, in order: a position counts through these */
  gsize n_independent;
  AprCholesky cholesky; /* of their scaled products */
  double least;         /* below every eigenvalue of those */

  gsize *dependent; /* (owned) features, in order */
  gsize n_dependent;
  gssize negative; /* the first of them of which clearly less than nothing is left, or -1 */
  double *
    combinations; /* (owned) of each the scaled coefficients of the independent ones that it is about the sum of; rows have the
                           stride of @cholesky */
} AprPreconditioned;

/* Enough for coefficients of 53 bits that are 2^-20 of the greatest. */
#define APR_PRECONDITIONED_SLICES 7

/* The features that are not @left_out. A feature of which less than @negligible is left depends on those before it. Returns:
 * %NULL where double is not enough to tell which do, or to correct with */
AprPreconditioned *apr_preconditioned_new (const AprProducts *products,
                                           const gboolean *left_out,
                                           double negligible,
                                           guint n_threads);

void apr_preconditioned_free (AprPreconditioned *self);

/* Finds the combinations, and of which it is certain that no more than @negligible is left of the feature. */
void apr_preconditioned_combine (AprPreconditioned *self, double negligible, gboolean *proven);

/* Finds the combinations; false where it is not certain that nothing more than @negligible is left of a feature. */
gboolean apr_preconditioned_prove_dependence (AprPreconditioned *self, double negligible);

/* The products of the independent features. */
AprScaledProducts apr_preconditioned_get_scaled (const AprPreconditioned *self);

/* Makes the scale of @column such that the entries of the independent features are below 2. */
void apr_preconditioned_scale_column (AprPreconditioned *self, gsize column);

/* Slices that are multiplied for one answer, at the most: a second or so. */
#define APR_PRECONDITIONED_MAX_WORK 4e9

/* The slices that there is memory for: 2,000 bits for small matrices, and no more than 64 MB for large ones, but always 16. */
static inline gsize
apr_preconditioned_count_slices (const AprPreconditioned *self)
{
  double n = (double) (self->n_independent + self->n_dependent);

  return (gsize) CLAMP (0x1p24 / (n * n + 1), 16, 96);
}

/* The coefficients of all features for one target, and the intercept where the products are centred; only where no feature
 * depends on others. False where it is not certain that all are rounded to the nearest. */
gboolean apr_preconditioned_solve (
  AprPreconditioned *self, gsize target, AprDType dtype, double *coefficients, double *intercept);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprPreconditioned, apr_preconditioned_free)

G_END_DECLS
