/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-products-private.h"

G_BEGIN_DECLS

/* Turns the coefficients and the intercept without constraint, for one target, into those of least squares with no coefficient
 * below 0. @certain says whether the former are known to be correctly rounded, and what is returned whether the latter are.
 * The same features are @left_out, and the same part of one is @negligible, as before. */
gboolean apr_non_negative_solve (const AprProducts *products,
                                 const gboolean *left_out,
                                 double negligible,
                                 gsize target,
                                 AprDType dtype,
                                 guint n_threads,
                                 gboolean certain,
                                 double *coefficients,
                                 double *intercept);

G_END_DECLS
