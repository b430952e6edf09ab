/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/kernels/apr-sums-kernel-private.h"

G_BEGIN_DECLS

/* What an operand is cut into. */
typedef enum
{
  APR_PACKING_WHOLE,
  APR_PACKING_SLICES,
  APR_PACKING_BYTES,
} AprPacking;

/* An operand of the products: layers of as many columns as the matrix has, filled up to whole panels, and behind them
 * remainder columns. A remainder column holds what a column cannot hold beside its largest value; it belongs to the
 * same row or column of the matrix, and has a scale of its own. */
typedef struct
{
  const AprSliceKernel *kernel; /* (unowned) */
  const AprByteKernel *bytes;   /* (unowned) (nullable) */
  AprPacking cut;
  gboolean in_two;   /* of slices: the columns of this block are cut in two, or of fixed point */
  gboolean ones_cut; /* whether the first column, of ones, has been cut in two already */
  gboolean right;    /* of the products */
  gsize n_columns;   /* of the matrix */
  gsize n_padded;    /* of a layer */
  gsize n_main;      /* of all layers */
  gsize n;           /* with the remainder columns */
  gsize n_allocated;
  gsize panel;           /* columns that are multiplied at once */
  gsize n_steps;         /* of bytes: what a block has at most */
  gsize stride;          /* between columns */
  double *values;        /* (owned) n_allocated columns, and behind them what has no owner here */
  const double **places; /* (owned) of the layers: where a column is read instead, or %NULL */
  double *slices;        /* (nullable) APR_SLICE_N_SLICES times as many */
  guint8 *tiles;  /* (nullable) instead of slices, n_steps times APR_BYTE_MAX tiles of bytes for each panel */
  guint8 *turned; /* (nullable) the same tiles transposed, for the operand on the right */
  gsize *owner;   /* which column of the matrix each belongs to, or APR_PACKED_OPERAND_NO_OWNER */
  gint *offset;   /* the values times 2^offset are the true ones */
  gint *exponent; /* the true values are below 2^exponent */
  gint *running;  /* (owned) of the layers: an exponent that stands until the column outgrows it */
  guint *n_slices;        /* of each panel, or its bytes; 0 where all is 0 */
  double *units;          /* of columns that are multiplied whole */
  AprColumnRange *ranges; /* of columns that were made of floats */
  gint64 (*sums)[2];      /* of the values that are whole numbers, or of heads and of tails */
  gsize missing;          /* how many columns there was no memory for, or 0: then the sums mean nothing */
} AprPackedOperand;

#define APR_PACKED_OPERAND_NO_OWNER G_MAXSIZE
#define APR_PACKED_OPERAND_NO_EXPONENT (-(1 << 20))

/* For blocks of at most @n_rows rows, which are at most APR_SLICE_ROWS, or APR_BYTE_ROWS for bytes; @right says
 * whether the operand may be on the right. Returns FALSE where there is no memory. */
gboolean apr_packed_operand_init (AprPackedOperand *self,
                                  const AprSumsKernel *kernel,
                                  AprPacking cut,
                                  gboolean right,
                                  gsize n_columns,
                                  gsize n_layers,
                                  gsize n_rows);

void apr_packed_operand_clear (AprPackedOperand *self);

static inline double *
apr_packed_operand_get (const AprPackedOperand *self, gsize index)
{
  return self->values + index * self->stride;
}

static inline const double *
apr_packed_operand_get_slice (const AprPackedOperand *self, gsize slice, gsize index)
{
  return self->slices + (slice * self->n_allocated + index) * APR_SLICE_STRIDE;
}

/* Between the slices of a column. */
static inline gsize
apr_packed_operand_get_distance (const AprPackedOperand *self)
{
  return self->n_allocated * APR_SLICE_STRIDE;
}

static inline gsize
apr_packed_operand_get_n_panels (const AprPackedOperand *self)
{
  return (self->n + self->panel - 1) / self->panel;
}

static inline gsize
apr_packed_operand_get_tiles_size (const AprPackedOperand *self)
{
  return self->n_steps * APR_BYTE_MAX * APR_BYTE_TILE;
}

static inline const guint8 *
apr_packed_operand_get_tiles (const AprPackedOperand *self, gsize panel)
{
  return self->tiles + panel * apr_packed_operand_get_tiles_size (self);
}

static inline const guint8 *
apr_packed_operand_get_turned (const AprPackedOperand *self, gsize panel)
{
  return self->turned + panel * apr_packed_operand_get_tiles_size (self);
}

/* Copies columns that are read elsewhere, as they must be before they are measured. */
void apr_packed_operand_copy_places (AprPackedOperand *self, gsize n_rows);

/* Drops the remainder columns, and forgets the places. */
void apr_packed_operand_reset (AprPackedOperand *self);

/* Forgets the exponents of the layers. */
void apr_packed_operand_forget (AprPackedOperand *self);

/* A new remainder column of @owner, all 0; what apr_packed_operand_get () returned before is no longer valid. Where
 * there is no memory, @missing says so, and it is one of the columns that there are. */
gsize apr_packed_operand_add_remainder (AprPackedOperand *self, gsize owner, gint offset);

/* Finds the exponents, and puts what is too small for a column into remainder columns; calls @outgrow for columns of
 * the layers before their exponent changes. False where there is a NaN or an infinity. */
gboolean
apr_packed_operand_measure (AprPackedOperand *self,
                            gsize n_rows,
                            void (*outgrow) (gpointer user_data, AprPackedOperand *self, gsize column),
                            gpointer user_data);

/* Finds the units and the sums of all columns for AprSliceKernel.multiply_whole (); false where one does not suit. */
gboolean apr_packed_operand_try_whole (AprPackedOperand *self, gsize n_rows);

/* Multiplies the column @from by @weights, times 2^@exponent, and cuts the products in three, into the slices of column
 * @index, whose exponent has to be above them; false where three parts do not suffice. The columns of a panel are cut
 * in their order: n_slices of the panel is the number of parts that one of them has at most. */
gboolean apr_packed_operand_cut_weighted (AprPackedOperand *self,
                                          gsize index,
                                          const double *from,
                                          const double *weights,
                                          gsize n_rows,
                                          gint exponent);

/* Cuts all columns into slices as apr_packed_operand_measure () and apr_packed_operand_slice () do, or in two where the
 * kernel can, if the exponents that the layers have are seen to hold for these rows too; false, with the values as they
 * were, where the columns must be measured. */
gboolean apr_packed_operand_try_slice (AprPackedOperand *self, gsize n_rows);

/* Cuts all columns, and remainder columns for what is left of them, into slices. */
void apr_packed_operand_slice (AprPackedOperand *self, gsize n_rows);

/* Brings all columns below 1, for sums in double; what a column holds and how it is scaled depend on this block alone.
 */
void apr_packed_operand_normalize (AprPackedOperand *self, gsize n_rows);

G_END_DECLS
