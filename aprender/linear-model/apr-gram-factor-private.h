/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/linear-model/apr-gram-private.h"

G_BEGIN_DECLS

/* What a factor is cut into. */
typedef enum
{
  APR_GRAM_WHOLE,
  APR_GRAM_SLICES,
  APR_GRAM_DIGITS,
} AprGramCut;

/* A factor of the products: layers of as many columns as the matrix has, filled up to whole panels, and behind them strips. A
 * strip holds what a column cannot hold beside its greatest value; it belongs to the same row or column of the matrix, and
 * has a scale of its own. */
typedef struct
{
  const AprGramKernel *kernel; /* (unowned) */
  AprGramCut cut;
  gboolean right;  /* of the products */
  gsize n_columns; /* of the matrix */
  gsize n_padded;  /* of a layer */
  gsize n_main;    /* of all layers */
  gsize n;         /* with the strips */
  gsize n_allocated;
  gsize panel;    /* columns that are multiplied at once */
  gsize n_steps;  /* of digits: what a block has at most */
  gsize stride;   /* between columns */
  double *values; /* (owned) n_allocated columns, and behind them the next three */
  double *slices; /* (nullable) APR_GRAM_N_SLICES times as many */
  guint8 *
    tiles; /* (nullable) for each panel its n_steps times APR_DIGITS_MAX tiles of digits, instead of slices */
  guint8 *turned;  /* (nullable) the same turned, of a factor that is on the right */
  gsize *owner;    /* (owned) which column of the matrix each belongs to, or APR_GRAM_NO_OWNER */
  gint *offset;    /* (owned) the values times 2^offset are the true ones */
  gint *exponent;  /* (owned) the true values are below 2^exponent */
  gint *running;   /* (owned) of the layers: an exponent that stands until the column outgrows it */
  guint *n_slices; /* (owned) of each panel, or its digits; 0 where all is 0 */
} AprGramFactor;

#define APR_GRAM_NO_OWNER G_MAXSIZE
#define APR_GRAM_NO_EXPONENT (-(1 << 20))

/* For blocks of at most @n_rows rows, which are at most APR_GRAM_ROWS, or APR_DIGITS_ROWS for digits; @right says whether the factor may be on the right. */
void apr_gram_factor_init (AprGramFactor *self,
                           const AprGramKernel *kernel,
                           AprGramCut cut,
                           gboolean right,
                           gsize n_columns,
                           gsize n_layers,
                           gsize n_rows);

void apr_gram_factor_clear (AprGramFactor *self);

static inline double *
apr_gram_factor_get (const AprGramFactor *self, gsize index)
{
  return self->values + index * self->stride;
}

static inline const double *
apr_gram_factor_get_slice (const AprGramFactor *self, gsize slice, gsize index)
{
  return self->slices + (slice * self->n_allocated + index) * APR_GRAM_STRIDE;
}

static inline gsize
apr_gram_factor_get_n_panels (const AprGramFactor *self)
{
  return (self->n + self->panel - 1) / self->panel;
}

static inline gsize
apr_gram_factor_get_tiles_size (const AprGramFactor *self)
{
  return self->n_steps * APR_DIGITS_MAX * APR_DIGITS_TILE;
}

static inline const guint8 *
apr_gram_factor_get_tiles (const AprGramFactor *self, gsize panel)
{
  return self->tiles + panel * apr_gram_factor_get_tiles_size (self);
}

static inline const guint8 *
apr_gram_factor_get_turned (const AprGramFactor *self, gsize panel)
{
  return self->turned + panel * apr_gram_factor_get_tiles_size (self);
}

/* Forgets the strips. */
void apr_gram_factor_reset (AprGramFactor *self);

/* A new strip of @owner, all 0; what apr_gram_factor_get () returned before is no longer valid. */
gsize apr_gram_factor_add_strip (AprGramFactor *self, gsize owner, gint offset);

/* Finds the exponents, and puts what is too small for a column into strips; calls @outgrow for columns of the layers before their
 * exponent changes. False where there is a NaN or an infinity. */
gboolean apr_gram_factor_measure (AprGramFactor *self,
                                  gsize n_rows,
                                  void (*outgrow) (gpointer user_data, AprGramFactor *self, gsize column),
                                  gpointer user_data);

/* Cuts all columns into slices as apr_gram_factor_measure () and apr_gram_factor_slice () do, if the exponents that the layers
 * have are seen to hold for these rows too; false, with the values as they were, where the columns must be measured. */
gboolean apr_gram_factor_try_slice (AprGramFactor *self, gsize n_rows);

/* Cuts all columns, and strips for what is left of them, into slices. */
void apr_gram_factor_slice (AprGramFactor *self, gsize n_rows);

/* Brings all columns below 1, for sums in double; what a column holds and how it is scaled depend on this block alone. */
void apr_gram_factor_normalize (AprGramFactor *self, gsize n_rows);

G_END_DECLS
