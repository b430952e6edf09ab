/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/kernels/apr-residue-kernel-private.h"

G_BEGIN_DECLS

/* Rests of few bits, whose products are summed in doubles without rounding, and moved to the state together with the
 * sums of residues. Where columns j and k of a row are whole numbers h and short rests d, times powers of two,
 *
 *   z_j z_k = h_j h_k + d_j h_k + d_k h_j + d_j d_k.
 *
 * A column's rests are whole numbers t in units of 2^-n_bits of its own. The square of the sum of t_j h_k is at most
 * the sum of all t_j² times that of all h_k², and the latter is below half the product of the moduli. So the squares
 * of rests are counted, and rests that there is no room for are not short. */

typedef struct
{
  guint n_bits;    /* after the binary point; 0 where no rest is short */
  gsize n_columns; /* filled up to whole panels */
  gboolean any;    /* whether something has been summed */
  double limit;    /* of the totals */
  double *units;   /* (owned) of each column, the factor that makes whole numbers of its values */
  double *factors; /* (owned) the same of its rests */
  double *totals;  /* (owned) of each column, the squares of these */
  double *sums;    /* (owned) (nullable) d_j h_k: row j, column k */
  double *pairs;   /* (owned) (nullable) d_j d_k, on and below the diagonal */
} AprResidueShortRests;

/* @n_columns is a multiple of APR_RESIDUE_PANEL. Without @any, and where there is no memory, no rest is short. */
void apr_residue_short_rests_init (AprResidueShortRests *self,
                                   const AprResidueModuli *moduli,
                                   gsize n_columns,
                                   gboolean any);

void apr_residue_short_rests_clear (AprResidueShortRests *self);

/* Forgets the squares of the column, whose whole numbers are values times 2^@scale from now on. */
void apr_residue_short_rests_set_scale (AprResidueShortRests *self, gsize column, gint scale);

/* Whether a rest is short. It is counted then; a column is asked about by one thread at a time. */
gboolean apr_residue_short_rests_count (AprResidueShortRests *self, gsize column, double rest);

/* Fetches what was summed for the columns of two panels, which comes from far, before it is moved. */
void apr_residue_short_rests_fetch (const AprResidueShortRests *self, gsize left, gsize right);

/* Adds what was summed for two columns, of which @one is not left of @other, to a number of two parts, and forgets it:
 * @parts[0] is in units of both scales, @parts[1] in those of 2^-32 times that. */
void apr_residue_short_rests_move (AprResidueShortRests *self, gsize one, gsize other, gint64 parts[2]);

/* How many bits of a rest are short, with so many moduli and columns; 0 where no rest is. */
guint apr_residue_short_rests_count_bits (const AprResidueModuli *moduli, gsize n_columns);

G_END_DECLS
