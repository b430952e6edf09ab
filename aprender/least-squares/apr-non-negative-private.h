/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-refinement-private.h"

G_BEGIN_DECLS

/* Replaces the unconstrained coefficients and intercept of one target by those of least squares without negative
 * coefficients. @certain says whether the former are proven to be correctly rounded; returns whether the latter are.
 * Where cancelled, they mean nothing. @excluded and @rank_tolerance are those of the former. */
gboolean apr_non_negative_solve (const AprProducts *products,
                                 const gboolean *excluded,
                                 double rank_tolerance,
                                 const AprTarget *target,
                                 const AprRun *run,
                                 gboolean certain);

G_END_DECLS
