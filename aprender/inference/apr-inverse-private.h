/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gmp.h>

#include "aprender/base/apr-double-double-private.h"
#include "aprender/tensor/apr-tensor.h"

G_BEGIN_DECLS

/* What the inference statistics of a regression are made of, from the whole numbers of Z'WZ: an inverse of it, and what Z leaves of
 * the targets' sums of squares.
 *
 * The matrix is scaled by powers of two, so that its diagonal is about 1. With its factors L D L', and @root = D^-1/2
 * L^-1, the inverse is root' root. All of it is known to 60 bits or more, as far as the data have not lost them: the
 * numbers that it is worked out in are double-doubles where they are long enough, and else as long as it takes. */
typedef struct
{
  gsize n;
  gint64
    *scale; /* (owned) by column: an entry of the matrix is that of the scaled one times 2^(scale + scale) */
  AprDoubleDouble *root; /* (owned) packed lower triangle */
  gsize n_targets;
  double *solutions; /* (owned) n_targets x n */
  mpf_t *residuals;  /* (owned) by target: the least sum of squares, exactly 0 where it is that */
} AprInverse;

/* @matrix is a packed lower triangle of @n columns that are independent, and of @n_targets targets. False where its columns
 * are not independent, or it is no matrix of sums of squares: then a file is wrong. */
gboolean apr_inverse_init (AprInverse *self, mpz_t *matrix, gsize n, gsize n_targets);

void apr_inverse_clear (AprInverse *self);

/* An entry of the scaled inverse. */
double apr_inverse_get_inverse (const AprInverse *self, gsize i, gsize j);

/* z' A^-1 z for a row of the matrix that A was summed from. */
double apr_inverse_get_leverage (const AprInverse *self, const double *z);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprInverse, apr_inverse_clear)

G_END_DECLS
