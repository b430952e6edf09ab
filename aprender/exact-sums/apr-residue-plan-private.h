/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/apr-rows-private.h"
#include "aprender/exact-sums/kernels/apr-residue-kernel-private.h"

G_BEGIN_DECLS

/* At most so many rows are summed in residues before the sums are reconstructed. Scales are powers of two: of this many
 * rows, floats of variance 1, which are common, are given the larger of two with ten moduli of a byte. */
#define APR_RESIDUE_GROUP 14336

/* How much the columns of a group may grow. */
#define APR_RESIDUE_GROWTH 1.1

/* A rest is multiplied by its whole row. Where there are so few values for each rest, slices are faster; short ones
 * may be more. */
#define APR_RESIDUE_VALUES_PER_REST 128
#define APR_RESIDUE_VALUES_PER_SHORT_REST 32

/* Return the binary logarithm of the largest sum of squares of a column's whole numbers, and of the largest of them. */
double apr_residue_plan_get_max_sum (const AprResidueModuli *moduli);
double apr_residue_plan_get_max_value (const AprResidueModuli *moduli);

/* Estimates from a sample of rows whether nearly all values have so few bits that slices need not cut them. */
gboolean apr_residue_plan_suits_whole (const AprRows *x, const AprRows *y);

typedef struct
{
  guint n_moduli;     /* 0 where there would be too many rests with any number */
  gboolean any_short; /* whether it is worth it to tell short rests from long ones */
} AprResiduePlan;

/* Estimates from a sample of rows what is best for them, with weights of @weight_bits bits. */
AprResiduePlan
apr_residue_plan_find (const AprResidueKernel *kernel, const AprRows *x, const AprRows *y, guint weight_bits);

G_END_DECLS
