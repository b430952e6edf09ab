/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-normal-equations-private.h"

G_BEGIN_DECLS

/* Returns the ratio of the largest and the smallest singular value of the design matrix, [1 X] with an intercept and X
 * without. Its rows are multiplied by the roots of the weights, and alpha adds a row with its root for each feature.
 * Infinite where a feature is dependent or constant. Accurate to at least three digits; NaN where cancelled. */
double apr_condition_find (AprNormalEquations *equations, const AprRun *run);

/* Multiplies @x with a symmetric matrix that is positive definite. */
typedef void (*AprConditionFunc) (gconstpointer data, double *x);

/* The root of the largest eigenvalue of a matrix of @n rows, to some six digits; NaN where @apply makes them. */
double apr_condition_find_singular_value (gsize n, AprConditionFunc apply, gconstpointer data);

/* Returns the largest eigenvalue of a tridiagonal matrix without negative elements, which is at least @low. The last of
 * @beside is not read. */
double apr_condition_find_max_eigenvalue (const double *diagonal, const double *beside, gsize n, double low);

G_END_DECLS
