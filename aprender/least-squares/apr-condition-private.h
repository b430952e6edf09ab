/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-normal-equations-private.h"

G_BEGIN_DECLS

/* The ratio of the greatest and the least singular value of the design matrix as it is, [1 X] with an intercept and X without, its
 * rows times the roots of the weights, and with rows below it that have the root of alpha for each feature. An infinity
 * where a feature depends on others or is constant. Good to three digits at least. */
double apr_condition_find (AprNormalEquations *equations);

/* Multiplies @x with a symmetric matrix that is positive definite. */
typedef void (*AprConditionFunc) (gconstpointer data, double *x);

/* The root of the greatest eigenvalue of a matrix of @n rows, to some six digits; NaN where @apply makes them. */
double apr_condition_find_singular_value (gsize n, AprConditionFunc apply, gconstpointer data);

G_END_DECLS
