/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/apr-exact-sums-private.h"
#include "aprender/exact-sums/apr-rows-private.h"

G_BEGIN_DECLS

/* Shifts of the columns of X and Y, near their means: sums of products that are rounded keep their digits where values
 * are far from 0 and near each other. */

/* Finds the shifts by the first rows that count; 0 for columns that need none. Weights are %NULL where there are none.
 * Returns: (transfer full) (nullable): %NULL where no column needs one */
double *apr_sums_shift_find (const AprRows *x, const AprRows *y, const AprRows *weights);

/* Makes the sums of shifted columns those of the columns, without rounding. */
gboolean apr_sums_shift_undo (const double *shifts, AprExactSums *sums, const AprRun *run, GError **error);

G_END_DECLS
