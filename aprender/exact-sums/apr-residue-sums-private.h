/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/apr-exact-sums-private.h"
#include "aprender/exact-sums/apr-rows-private.h"
#include "aprender/exact-sums/kernels/apr-residue-kernel-private.h"

G_BEGIN_DECLS

/* Adds the cross products of rows, in residues; progress is told of the rows that have been gone through. @weights,
 * which may be %NULL, have been checked. What residues do not suit, among it whatever is not finite, and all rows where
 * the weights need more bits than a window has (AprWeightWindows), is left to others: it is appended to @left, in no
 * order. False, with the error set, where it is cancelled or there is no memory; then
 * the sums are of no use. */
gboolean apr_residue_sums_update (AprExactSums *state,
                                  const AprResidueKernel *kernel,
                                  const AprRows *x,
                                  const AprRows *y,
                                  const AprRows *weights,
                                  const AprRun *run,
                                  GArray *left,
                                  GError **error);

G_END_DECLS
