/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-triangle-private.h"
#include "aprender/exact-sums/apr-exact-sums-worker-private.h"
#include "aprender/exact-sums/apr-packed-operand-private.h"

G_BEGIN_DECLS

/* What the parts of a worker share: apr-exact-sums-worker.c takes blocks, apr-exact-sums-multiply.c multiplies their
 * columns, apr-exact-sums-move.c moves the sums to the state. */

/* What cannot be added to the sums of the columns' scales: a multiple of a power of two. */
typedef struct
{
  gsize entry;
  gint64 value;
  gint exponent;
} AprExactTerm;

/* The products of two panels: which slices, and what to add to the parts. */
typedef struct
{
  guint8 left;
  guint8 right;
  gint8 signs[APR_SLICE_PARTS];
} Product;

#define N_PRODUCTS 6

typedef gint64 Lanes[APR_SLICE_TILE][APR_SLICE_LANES];

struct _AprExactSumsWorker
{
  const AprSliceKernel *kernel; /* (unowned) */
  const AprByteKernel *bytes;   /* (unowned) (nullable) */
  AprPrecision precision;
  gsize n_columns;
  gsize n_panels; /* of a layer */
  gsize n_tiles;  /* of a layer: the lower triangle */
  guint share;    /* of all shares of the products, by the rows of the matrix */
  guint n_shares;
  gsize first_panel; /* of the rows of the matrix whose products are taken */
  gsize end_panel;
  gsize n_parts;
  gsize n_used; /* parts that are not all 0 */
  gsize n_sums; /* of a part of a tile */
  AprPackedOperand right;
  /* The weighted columns, and a layer of what a double cannot hold of them, or of tails; not used without weights. */
  AprPackedOperand left;
  double *weights; /* (owned) (nullable) */
  gint64 *sums;    /* (owned) for each tile of each layer, n_parts of APR_SLICE_TILE each */
  Lanes *lanes;    /* (owned) (nullable) for each tile of each layer, N_PRODUCTS */
  const Product *
    *lane_products;    /* (owned) (nullable) what the lanes of each tile are; NULL where they are nothing */
  guint n_blocks;      /* in the sums */
  gsize n_ones;        /* that the first column has; 0 where it has been changed */
  AprSliceFetch *next; /* (owned) what is read next, n_columns at most, and one that is here already */
  gsize n_pieces;
  gsize n_fetched;           /* of these */
  gsize n_next;              /* bytes of all */
  gsize n_next_step;         /* lines of the cache that are fetched between two products */
  guint n_cut;               /* blocks that are cut before one is tried whole again */
  guint n_next_cut;          /* the same, after the next one that does not suit */
  GArray *terms;             /* (owned) (element-type AprExactTerm) */
  GCancellable *cancellable; /* (unowned) (nullable) */
  AprExactSumsDrain drain;
  gpointer user_data;
};

static inline const AprPackedOperand *
worker_get_left (const AprExactSumsWorker *self)
{
  return self->weights != NULL ? &self->left : &self->right;
}

static inline gsize
worker_tile_index (const AprExactSumsWorker *self, gsize layer, gsize row, gsize column)
{
  return layer * self->n_tiles + apr_triangle (row / self->right.panel, column / self->right.panel);
}

/* The part of what is read next that is not fetched yet. */
static inline AprSliceFetch *
worker_get_fetch (AprExactSumsWorker *self)
{
  while (self->n_fetched < self->n_pieces &&
         self->next[self->n_fetched].next == self->next[self->n_fetched].end)
    self->n_fetched++;

  return &self->next[self->n_fetched];
}

/* Fetches some of it: called between products, where what multiplies them does not fetch by itself. */
static inline void
worker_fetch (AprExactSumsWorker *self)
{
  gsize n_left = self->n_next_step;
  AprSliceFetch *fetch;

  for (fetch = worker_get_fetch (self); n_left > 0 && self->n_fetched < self->n_pieces;
       fetch = worker_get_fetch (self))
    for (; n_left > 0 && fetch->next < fetch->end; n_left--)
      {
        apr_slice_fetch_line (fetch->next);
        fetch->next += MIN (APR_SLICE_LINE, fetch->end - fetch->next);
      }
}

/* Shares what is read next among @n times that worker_fetch () is called. */
static inline void
worker_start_fetching (AprExactSumsWorker *self, gsize n)
{
  self->n_next_step = self->n_next / n / APR_SLICE_LINE + 1;
}

/* The first part of an entry of the matrix in a layer; the others are self->n_sums apart. */
static inline gint64 *
worker_get_sums (const AprExactSumsWorker *self, gsize layer, gsize row, gsize column)
{
  gsize panel = self->right.panel;

  return self->sums + worker_tile_index (self, layer, row, column) * self->n_parts * self->n_sums +
         row % panel * panel + column % panel;
}

/* Where what is to be added to an entry is, by which a panel of bytes is multiplied by itself; %NULL where nothing is.
 */
static inline gint64 *
worker_get_mirrored (const AprExactSumsWorker *self, gsize row, gsize column)
{
  gboolean mirrored = self->right.cut == APR_PACKING_BYTES && self->weights == NULL && row != column &&
                      row / self->right.panel == column / self->right.panel;

  return mirrored ? worker_get_sums (self, 0, column, row) : NULL;
}

/* The parts of an entry, and of what is to be added to it, which become 0; false where all were. */
static inline gboolean
worker_take_parts (const AprExactSumsWorker *self,
                   gint64 *sums,
                   gint64 *mirrored,
                   gint64 parts[APR_BYTE_PARTS])
{
  gsize n_used = self->n_used;
  gsize n_sums = self->n_sums;
  guint64 any = 0;
  gsize i;

  for (i = 0; i < n_used; i++)
    {
      parts[i] = sums[i * n_sums];
      sums[i * n_sums] = 0;
      if (mirrored != NULL)
        {
          parts[i] += mirrored[i * n_sums];
          mirrored[i * n_sums] = 0;
        }
      any |= (guint64) parts[i];
    }

  return any != 0;
}

/* Whether the products of a panel of the left operand are taken; remainder columns go round. */
static inline gboolean
worker_is_own (const AprExactSumsWorker *self, gsize panel)
{
  gsize n_main = worker_get_left (self)->n_main / self->right.panel;

  if (panel >= n_main)
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): at least 1 */
    return (panel - n_main) % self->n_shares == self->share;
  /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): at least 1, where a panel is below n_main */
  return panel % self->n_panels >= self->first_panel && panel % self->n_panels < self->end_panel;
}

static inline gint
worker_get_unit (const AprExactSumsWorker *self, gsize part)
{
  switch (self->right.cut)
    {
    case APR_PACKING_WHOLE:
      return APR_SLICE_DOUBLE_FIRST_UNIT - (gint) part * APR_SLICE_DOUBLE_BITS;
    case APR_PACKING_SLICES:
      return APR_SLICE_FIRST_UNIT - (gint) part * APR_SLICE_BITS;
    case APR_PACKING_BYTES:
    default:
      return APR_BYTE_FIRST_UNIT - (gint) part * APR_BYTE_PART;
    }
}

/* Adds what the lanes of all tiles hold to the sums. */
void apr_exact_sums_worker_add_up_lanes (AprExactSumsWorker *self);

/* Adds the products of a block's columns: cut into slices or bytes, cut in two, whole numbers, or in double. */
void apr_exact_sums_worker_multiply (AprExactSumsWorker *self, gsize n_rows);
void apr_exact_sums_worker_multiply_whole (AprExactSumsWorker *self, gsize n_rows);
void apr_exact_sums_worker_multiply_weighted (AprExactSumsWorker *self, gsize n_rows);
void apr_exact_sums_worker_multiply_in_two (AprExactSumsWorker *self, gsize n_rows);
void apr_exact_sums_worker_multiply_double (AprExactSumsWorker *self, gsize n_rows);

/* Adds what the sums of the columns' scales cannot hold. */
void apr_exact_sums_worker_append_term (AprExactSumsWorker *self, gsize entry, gint64 value, gint exponent);

G_END_DECLS
