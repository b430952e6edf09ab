/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-preconditioned-private.h"

G_BEGIN_DECLS

/* Of all coefficients that fit equally well where features depend on others, those with the least sum of squares. */
typedef struct _AprLeastNorm AprLeastNorm;

/* Returns: %NULL where double is not enough to correct with */
AprLeastNorm *apr_least_norm_new (AprPreconditioned *system);

void apr_least_norm_free (AprLeastNorm *self);

/* As apr_preconditioned_solve(). @accurate says whether the coefficients are good to all digits even where that is false. */
gboolean apr_least_norm_solve (AprLeastNorm *self,
                               gsize target,
                               AprDType dtype,
                               double *coefficients,
                               double *intercept,
                               gboolean *accurate);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprLeastNorm, apr_least_norm_free)

G_END_DECLS
