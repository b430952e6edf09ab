/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-double-doubles-private.h"
#include "aprender/least-squares/apr-ldlt-private.h"

G_BEGIN_DECLS

/* What the parts of the factorisation share: apr-ldlt.c finds the factors, apr-ldlt-solve.c solves with them. */

struct _AprLdlt
{
  gsize *independent; /* (owned) */
  gsize n_independent;
  gsize *dependent; /* (owned) */
  gsize n_dependent;
  gssize negative; /* the first dependent column with a clearly negative Schur complement, or -1 */
  gint64 *scale;   /* (owned) by position */

  /* By position, U of U'U, with U' in the lower triangle; or, in longer numbers, the packed lower triangle of L, with D
   * in place of the unit diagonal. */
  AprDoubleDoubles doubles; /* (owned) (nullable) */
  const AprDoubleDoubleKernel *kernel;
  mpf_t *numbers; /* (owned) (nullable) with room for all columns */
  gint64 precision;

  gint64 inverse_bits;
};

G_END_DECLS
