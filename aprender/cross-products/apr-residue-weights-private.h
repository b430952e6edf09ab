/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/cross-products/apr-rows-private.h"
#include "aprender/cross-products/kernels/apr-residue-kernel-private.h"

G_BEGIN_DECLS

/* Weights as whole numbers, in units of a power of two, and these in residues: the products of rows with their weights
 * are made of residues, so that none is rounded, whatever its bits. */

/* The bits that the weights of a block may have together; blocks with more are not for residues. */
#define APR_RESIDUE_WEIGHT_BITS 80

typedef struct
{
  const AprRows *rows; /* (unowned) (nullable) %NULL where there are none */
  guint n_bits;        /* that most blocks need */
  gsize stride;        /* of the residues of one modulus, in bytes */
  gint unit;           /* the exponent that all blocks share until they are moved to the state */

  /* The block. */
  double *values;                    /* (owned) */
  guint32 *words[APR_RESIDUE_WORDS]; /* (owned) 24 bits each of the whole numbers */
  guint8 *residues;                  /* (owned) */
  gint min_exponent;                 /* of the bits of all weights */
  gint max_exponent; /* all weights are below that power of two; at most min_exponent where all are 0 */
} AprResidueWeights;

/* Looks at some blocks of @block_rows rows; 0 without weights. */
guint apr_residue_weights_count_bits (const AprRows *rows, gsize block_rows);

/* @rows may be %NULL. */
void apr_residue_weights_init (AprResidueWeights *self,
                               const AprRows *rows,
                               gsize block_rows,
                               guint n_moduli,
                               const AprResidueKernel *kernel);

void apr_residue_weights_clear (AprResidueWeights *self);

/* Reads the weights of a block, and finds their exponents. */
void apr_residue_weights_read (AprResidueWeights *self, gsize first_row, gsize n_rows);

static inline gboolean
apr_residue_weights_are_zero (const AprResidueWeights *self)
{
  return self->rows != NULL && self->max_exponent <= self->min_exponent;
}

/* The binary logarithm of what the whole numbers are below. */
static inline gint
apr_residue_weights_get_bits (const AprResidueWeights *self)
{
  return self->rows != NULL ? self->max_exponent - self->unit : 0;
}

/* Takes a unit in which the weights of the block are whole, and those of most others. */
void apr_residue_weights_set_unit (AprResidueWeights *self);

/* Makes whole numbers of the weights of the block, which must be some in units of 2^unit. */
void apr_residue_weights_split (AprResidueWeights *self, gsize n_rows);

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
