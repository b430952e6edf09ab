/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-normal-equations-private.h"

G_BEGIN_DECLS

/* Returns the ratio of the largest and the smallest singular value of the design matrix, [1 X] with an intercept and X
 * without. Its rows are multiplied by the roots of the weights, and alpha adds a row with its root for each feature.
 * Infinite where a feature is dependent or constant. Accurate to at least three digits; NaN where cancelled. */
double apr_condition_find (AprNormalEquations *equations, const AprRun *run);

/* R'R = E [1 0; t I] [1 0; 0 C] [1 t'; 0 I] E, or E C E where it is not centred, with E diagonal and C, whose diagonal
 * is about 1, symmetric and positive definite. */
typedef struct
{
  gsize n; /* rows of C */
  gboolean centred;
  double first;         /* E is 2^@scales, in whose first row is @first times that where centred */
  const gint64 *scales; /* (unowned) */
  const double *means;  /* (unowned) t where centred */
  /* x = C x, and x = C^-1 x divided by 2 to the power that is returned. */
  void (*multiply) (gconstpointer data, double *x, const AprRun *run);
  gint64 (*divide) (gconstpointer data, double *x, const AprRun *run);
  gconstpointer data;
  const AprRun *run;
} AprConditionMatrix;

/* The ratio of the largest and the smallest singular value of R, however large it is; of no meaning where cancelled. */
double apr_condition_find_ratio (const AprConditionMatrix *self);

/* Multiplies @x with a symmetric matrix that is positive definite, divided by 2 to the power that is returned. */
typedef gint64 (*AprConditionFunc) (gconstpointer data, double *x);

/* The root of the largest eigenvalue of a matrix of @n rows, to some six digits, divided by 2^@exponent; NaN where
 * @apply makes them, or where there is no memory, and @run is cancelled. */
double apr_condition_find_singular_value (
  gsize n, AprConditionFunc apply, gconstpointer data, gint64 *exponent, const AprRun *run);

/* Returns the largest eigenvalue of a tridiagonal matrix without negative elements, which is at least @low. The last of
 * @beside is not read. */
double apr_condition_find_max_eigenvalue (const double *diagonal, const double *beside, gsize n, double low);

G_END_DECLS
