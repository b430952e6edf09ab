/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-least-squares-private.h"

G_BEGIN_DECLS

/* Solves for few features in numbers of a fixed length, many times faster than an AprSystem does. A feature of which
 * less than @rank_tolerance is left would depend on others. True where it is certain that all are independent and that
 * every rounding is to the nearest; else nothing is to be made of @coefficients, n_targets x n_features, and
 * @intercepts, which is only set where there are some. */
gboolean apr_small_system_solve (AprExactSums *state,
                                 const AprLeastSquaresOptions *options,
                                 double rank_tolerance,
                                 double *coefficients,
                                 double *intercepts);

G_END_DECLS
