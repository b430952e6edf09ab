/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/cross-products/apr-rows-private.h"
#include "aprender/cross-products/kernels/apr-residue-kernel-private.h"

G_BEGIN_DECLS

/* Rows whose products are summed in residues before they are reconstructed, at most. */
#define APR_RESIDUE_GROUP 16384

/* A rest is multiplied by its whole row. So many values for each rest, or fewer, are faster in slices. */
#define APR_RESIDUE_VALUES_PER_REST 128

/* The binary logarithms of what the squares of scaled columns may sum to, and of what a scaled value may be. */
double apr_residue_plan_get_max_sum (const AprResidueModuli *moduli);
double apr_residue_plan_get_max_value (const AprResidueModuli *moduli);

/* Whether slices can multiply nearly all blocks of columns whole, by a sample. */
gboolean apr_residue_plan_suits_whole (const AprRows *x, const AprRows *y);

/* How many moduli some rows are worth, by a sample of them, with weights of @weight_bits bits; 0 where they have too
 * many rests for any number. */
guint apr_residue_plan_count (const AprResidueKernel *kernel,
                              const AprRows *x,
                              const AprRows *y,
                              guint weight_bits);

G_END_DECLS
