/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Of one scheme, at most. */
#define APR_RESIDUE_MODULI 28
#define APR_RESIDUE_WORDS 4
#define APR_RESIDUE_TOPS 32
#define APR_RESIDUE_LIMBS 16
#define APR_RESIDUE_PARTS (APR_RESIDUE_LIMBS / 2)

/* Moduli, and the constants of what is done with them.
 *
 * Bytes: the moduli are at most 256, a word is four digits of 6 bits, and residues are from 0 to 255. A word is
 * biased, so that it is not negative; digits are multiplied by weights below 128 in size. As a number may be multiplied
 * by a unit, which the reconstruction takes back from products, a unit is taken for each modulus for which the sum is
 * between 0 and 2^16. Where numbers are short and the kernel can look residues up, a number is one long word, four
 * digits of 8 bits, and the 5 bits above, its top.
 *
 * Numbers of 16 bits: the moduli are 2^16, for which what does not fit may be lost, and odd ones up to 9501, a word is
 * two digits of 12 bits, the upper one with the sign, and residues are at most 4800 in size: 92 products of two are
 * below 2^31. */
typedef struct
{
  gsize residue_size; /* in bytes */
  guint n_moduli;
  guint n_words;  /* of a whole number; 1 for a long word */
  guint max_bits; /* of a whole number, without the sign */
  guint n_limbs;  /* 16 bits each, of the product of the moduli */
  double bits;    /* of the product of the moduli: log2 M */
  guint32 modulus[APR_RESIDUE_MODULI];

  /* Cutting: the sum of the digits times the weights, and @start, is the residue. */
  guint32 weights[APR_RESIDUE_MODULI][APR_RESIDUE_WORDS]; /* of the digits of a word, the lowest first */
  gint32 start[APR_RESIDUE_MODULI];
  guint16 tops[APR_RESIDUE_MODULI][APR_RESIDUE_TOPS]; /* the residues of the tops of long words */

  /* Reconstruction: the residue of a sum times @inverse, times M / m, is the sum modulo m, and 0 modulo all others. */
  gint32 inverse[APR_RESIDUE_MODULI];
  gint16 limbs[APR_RESIDUE_LIMBS][APR_RESIDUE_MODULI]; /* of M / m, from -2^15 to 2^15 - 1 */
  gint16 product[APR_RESIDUE_LIMBS];                   /* of M */
} AprResidueModuli;

/* How many moduli there are for residues of that many bytes. */
guint apr_residue_moduli_get_max (gsize residue_size);

/* The first @n_moduli, without the constants of cutting and of the reconstruction. */
void
apr_residue_moduli_init (AprResidueModuli *self, gsize residue_size, gboolean long_words, guint n_moduli);

/* Finds these constants. */
void apr_residue_moduli_prepare (AprResidueModuli *self);

/* So many of another's moduli from @first on, with the constants of cutting: their residues are the same. */
void
apr_residue_moduli_share (AprResidueModuli *self, const AprResidueModuli *all, guint first, guint n_moduli);

/* What is added to a word of a whole number. */
double apr_residue_moduli_get_bias (const AprResidueModuli *self, guint word);

G_END_DECLS
