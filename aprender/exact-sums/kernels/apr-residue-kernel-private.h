/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/kernels/apr-residue-moduli-private.h"

G_BEGIN_DECLS

/* Sums of products without rounding, in the residues of whole numbers modulo many small numbers.
 *
 * A column, times a power of two 2^s, is rounded to whole numbers h; weights are whole numbers too, and the squares
 * those of weighted columns. The moduli are pairwise coprime, and their product
 * is M. Where the squares of every column sum to less than M / 2, so do the products of any two columns, by the
 * inequality of Cauchy and Schwarz: their sum is known by its residues, which are summed modulo each modulus, for as
 * many rows as the squares allow. Then the sum is reconstructed, by the Chinese remainder theorem, and goes to the
 * state. What rounding takes from a value, its rest, is exact too; rests are few, and each is multiplied by its whole
 * row.
 *
 * A whole number is cut into words of 24 bits, or is a long word, and these are cut into digits. A sum of digits times
 * constants is congruent to it modulo m, and small enough to be reduced by one multiplication with 1 / m.
 *
 * That few residues take the place of many slices is the idea of K. Ozaki, Y. Uchino and T. Imamura, "Ozaki scheme II:
 * a GEMM-oriented emulation of floating-point matrix multiplication using an integer modular technique", 2025, which
 * rounds where this does not. */

/* Columns are cut and multiplied sixteen by sixteen: a panel. */
#define APR_RESIDUE_PANEL 16
#define APR_RESIDUE_TILE (APR_RESIDUE_PANEL * APR_RESIDUE_PANEL)

/* Of a block, at most. */
#define APR_RESIDUE_ROWS 1024

/* Panels on the right that are multiplied at once, at most. */
#define APR_RESIDUE_RIGHT 3

/* The residues of a panel for one modulus: sixteen numbers of 32 bits, which are the kernel's own, and then the
 * residues, one or two bytes each: some rows of a column side by side, then those of the next column. */
#define APR_RESIDUE_HEADER 64

/* Sixteen columns of rows that stand @stride values apart. */
typedef struct
{
  gconstpointer values; /* (unowned) doubles, or floats */
  gboolean is_float;
  gsize stride;
  gsize n_rows;
} AprResidueColumns;

/* What scaling and rounding leave of a value. */
typedef struct
{
  guint row;
  guint column; /* of the panel */
  double value;
} AprResidueRest;

/* What one instruction set does. Residues and sums are aligned to 64 bytes. Implementations of one scheme give the
 * same residues, but for a multiple of the modulus. */
typedef struct
{
  const char *name;
  gsize residue_size; /* 1 or 2 bytes */
  gsize step; /* rows of a column whose residues are side by side; rows are filled up to a multiple of it */
  gsize turned_step;   /* the same of a panel that is turned */
  gboolean long_words; /* whether whole numbers may be long words */

  /* Products of two residues in a cycle, roughly: beside it stands what a rest costs. */
  double rate;

  /* Adds the squares of @n_panels panels that stand side by side to @squares, rounded, and raises @largest to the
   * largest magnitudes, where there is no NaN. */
  void (*square) (const AprResidueColumns *columns, gsize n_panels, double *squares, double *largest);

  /* Adds the values of a row of @n_panels panels that stand side by side, times @rest, to @sums. Sums that doubles
   * cannot hold are rounded, not always in the same way. */
  void (*multiply_rest) (
    const AprResidueColumns *columns, gsize row, gsize n_panels, double rest, double *restrict sums);

  /* Writes the residues of h = rint (x 2^s), rows beyond @columns->n_rows as 0, up to a multiple of @step;
   * those of a modulus are @distance bytes behind those of the one before. @moduli may be some of all, without the
   * first. @magic has for word d of each column (1.5 2^52 + apr_residue_moduli_get_bias ()) 2^(24 d - s), aligned
   * to 64 bytes. |h| must be below 2^max_bits. Returns how many rests there are, and writes them. */
  gsize (*cut) (const AprResidueModuli *moduli,
                const AprResidueColumns *columns,
                const double (*magic)[APR_RESIDUE_PANEL],
                guint8 *residues,
                gsize distance,
                AprResidueRest *rests);

  /* Writes the residues of a panel times those of weights, one for each row: for bytes from 0 to the modulus less 1,
   * for 16 bits the nearest to 0. */
  void (*weigh) (const guint8 *panel, const guint8 *weights, gsize n_rows, guint modulus, guint8 *weighed);

  /* Writes a panel as it is multiplied on the left, without the header; %NULL where that is as it is cut. */
  void (*turn) (const guint8 *panel, gsize n_rows, guint8 *turned);

  /* To be called by a thread before and after products; %NULL where there is nothing to do. */
  void (*start) (void);
  void (*stop) (void);

  /* Adds the products of a panel, turned if the kernel turns, with @n_right others, which stand @distance bytes apart,
   * to tiles of residues, which stand @tile_distance bytes apart. Of the panel, only the first @n_left columns count,
   * and where @diagonal is set, the last of the others is that panel too, of which only the products on and below the
   * diagonal count: all others may be anything that a residue can be. */
  void (*multiply) (const guint8 *left,
                    gsize n_left,
                    const guint8 *right,
                    gsize distance,
                    gsize n_right,
                    gboolean diagonal,
                    gsize n_rows,
                    guint modulus,
                    guint8 *tiles,
                    gsize tile_distance);

  /* The same for @n_pairs pairs of panels on the left, at least one, with a pair on the right: the panels stand
   * @left_distance and @distance bytes apart, and all products are added, also those above the diagonal.
   * @tiles[p][2 i + j] is the tile of panel i of pair p with panel j on the right. %NULL where this is not faster. */
  void (*multiply_pairs) (const guint8 *left,
                          gsize left_distance,
                          gsize n_pairs,
                          const guint8 *right,
                          gsize distance,
                          gsize n_rows,
                          guint modulus,
                          guint8 *const (*tiles)[4]);

  /* Finds the whole numbers below M / 2 in magnitude that have the residues in @tiles, one tile for each modulus: part
   * k, in units of 2^(32 k), of entry i is @parts[k][i]. */
  void (*reconstruct) (const AprResidueModuli *moduli,
                       const guint8 *tiles,
                       gint64 (*parts)[APR_RESIDUE_TILE]);
} AprResidueKernel;

/* The rows that are written where there are @n_rows. */
static inline gsize
apr_residue_kernel_fill_up (const AprResidueKernel *self, gsize n_rows)
{
  return (n_rows + self->step - 1) / self->step * self->step;
}

/* The bytes of a panel of @n_rows rows. */
static inline gsize
apr_residue_kernel_get_panel_size (const AprResidueKernel *self, gsize n_rows)
{
  return APR_RESIDUE_HEADER +
         apr_residue_kernel_fill_up (self, n_rows) * APR_RESIDUE_PANEL * self->residue_size;
}

/* The bytes of a panel of @n_rows rows that is multiplied on the left. */
static inline gsize
apr_residue_kernel_get_left_size (const AprResidueKernel *self, gsize n_rows)
{
  if (self->turn == NULL)
    return apr_residue_kernel_get_panel_size (self, n_rows);

  return (n_rows + self->turned_step - 1) / self->turned_step * self->turned_step * APR_RESIDUE_PANEL *
         self->residue_size;
}

/* What reconstructs multiplies two moduli at once: their limbs side by side, of @n moduli. */
static inline gint32
apr_residue_get_pair (const gint16 *limbs, guint i, guint n)
{
  guint32 second = i + 1 < n ? (guint16) limbs[i + 1] : 0;

  return (gint32) ((guint16) limbs[i] | second << 16);
}

/* Moduli of 16 bits whose weights, below 2^15 the first and below 4800 the others, times limbs of at most 2^15, sum to
 * less than 2^31; and so do those of up to eleven others. */
#define APR_RESIDUE_WORDS_AT_ONCE 6

extern const AprResidueKernel apr_residue_kernel_portable;
#ifdef APR_KERNELS_ARM
extern const AprResidueKernel apr_residue_kernel_dotprod;
extern const AprResidueKernel apr_residue_kernel_i8mm;
#endif
#ifdef APR_KERNELS_X86
extern const AprResidueKernel apr_residue_kernel_avx2;
extern const AprResidueKernel apr_residue_kernel_avxvnni;
extern const AprResidueKernel apr_residue_kernel_avx512;
extern const AprResidueKernel apr_residue_kernel_avx512dot;
extern const AprResidueKernel apr_residue_kernel_avx512vnni;
#endif
#ifdef APR_KERNELS_AMX
extern const AprResidueKernel apr_residue_kernel_amx;
#endif

G_END_DECLS
