/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/apr-rows-private.h"
#include "aprender/exact-sums/kernels/apr-residue-kernel-private.h"

G_BEGIN_DECLS

/* Weights as whole numbers, in units of a power of two, and these in residues: the products of rows with their weights
 * are made of residues, so that none is rounded, whatever its bits. */

/* All of them. */
typedef struct
{
  const AprRows *rows; /* (unowned) (nullable) %NULL where there are none */
  gint unit;           /* they are whole numbers times 2^unit, */
  guint n_bits;        /* of at most so many bits; 0 where there are none */
} AprWholeWeights;

typedef struct
{
  AprWholeWeights all;
  gsize stride; /* of the residues of one modulus, in bytes */

  /* The block. */
  double *values;                    /* (owned) */
  guint32 *words[APR_RESIDUE_WORDS]; /* (owned) 24 bits each of the whole numbers */
  guint8 *residues;                  /* (owned) */
} AprResidueWeights;

/* @rows may be %NULL; false where they have too many bits. */
gboolean apr_whole_weights_init (AprWholeWeights *self, const AprRows *rows);

void apr_residue_weights_init (AprResidueWeights *self,
                               const AprWholeWeights *all,
                               gsize block_rows,
                               guint n_moduli,
                               const AprResidueKernel *kernel);

void apr_residue_weights_clear (AprResidueWeights *self);

/* Reads the weights of a block, and makes whole numbers of them; false where all are 0. */
gboolean apr_residue_weights_read (AprResidueWeights *self, gsize first_row, gsize n_rows);

/* Makes the residues of these. */
void
apr_residue_weights_cut (AprResidueWeights *self, const AprResidueModuli *moduli, guint index, gsize n_rows);

/* The residues for one modulus, one or two bytes each. */
static inline const guint8 *
apr_residue_weights_get (const AprResidueWeights *self, gsize modulus)
{
  return self->residues + modulus * self->stride;
}

G_END_DECLS
