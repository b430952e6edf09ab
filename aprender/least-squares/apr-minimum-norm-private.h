/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-normal-equations-private.h"

G_BEGIN_DECLS

/* Of all coefficients that fit one target equally well, those with the least sum of squares. @coefficients
 * has a place for each feature. */
void apr_minimum_norm_solve (AprNormalEquations *equations,
                             const AprProducts *products,
                             gsize target,
                             AprDType dtype,
                             double *coefficients,
                             double *intercept);

G_END_DECLS
