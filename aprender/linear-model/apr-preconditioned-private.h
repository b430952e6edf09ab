/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/linear-model/apr-cholesky-private.h"
#include "aprender/linear-model/apr-slices-private.h"

G_BEGIN_DECLS

/* The normal equations of features of which Cholesky's factors in double are good enough to correct with: those whose scaled
 * products are of a condition below some 10^10. */
typedef struct
{
  const AprProducts *products; /* (unowned) */
  guint n_threads;
  gint64 *scales;     /* (owned) of the products' columns */
  gsize *independent; /* (owned) features, in order: a position counts through these */
  gsize n_independent;
  gsize *dependent; /* (owned) */
  gsize n_dependent;
  AprCholesky cholesky; /* of the independent ones */
  double least;         /* below every eigenvalue of their scaled products */
  AprSlices *slices;    /* (owned) of the same */
} AprPreconditioned;

/* The features that are not @left_out. A feature of which less than @negligible is left depends on those before it. Returns:
 * %NULL where double is not enough to tell which do, or to correct with */
AprPreconditioned *apr_preconditioned_new (const AprProducts *products,
                                           const gboolean *left_out,
                                           double negligible,
                                           guint n_threads);

void apr_preconditioned_free (AprPreconditioned *self);

/* The unknowns of one right-hand side, by position, and the intercept; only where no feature depends on others. What is returned
 * is rounded; false where it is not certain that it is rounded to the nearest. */
gboolean apr_preconditioned_solve (
  AprPreconditioned *self, gsize target, AprDType dtype, double *unknowns, double *intercept);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprPreconditioned, apr_preconditioned_free)

G_END_DECLS
