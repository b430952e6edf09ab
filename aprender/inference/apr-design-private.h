/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gmp.h>

#include "aprender/base/apr-double-double-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/exact-sums/apr-row-products-private.h"

G_BEGIN_DECLS

/* The columns of a regression as their exact cross products show them, about their means where there is an intercept.
 *
 * A column is an independent feature, in order, and then one of the right-hand sides: the targets, of which the last is
 * a column of ones where there is no intercept, and the dependent features. */
typedef struct
{
  AprExactSums *sums;  /* (owned) (nullable) what the entries come from, or: */
  AprRowProducts rows; /* without sums */
  gboolean centred;
  gsize n;         /* independent features */
  gsize n_targets; /* the first right-hand sides: those of the samples, and the ones */
  gsize ones;      /* the target of ones, or the number of targets without one */
  gsize n_columns;
  gboolean saturated; /* as many terms as samples: nothing is left of a target; for the caller to set */
  gboolean rounded;   /* the sums were rounded, and may be those of no samples; for the caller to set */
  gsize *column;      /* (owned) by column: that of the cross products */
  gint64 *scale;      /* (owned) by column: its square is about 2^(2 scale) */
  mpz_t weight;       /* the sum of the weights where centred, else 1 */
  mpz_t *columns;     /* (owned) by column: its weighted sum where centred, else 0 */
} AprDesign;

/* @dependent are features, which are columns too where there are to be @relations to them. Fails where there is no
 * memory. */
gboolean apr_design_init (AprDesign *self,
                          AprCrossProducts *cross_products,
                          gboolean centred,
                          const gsize *dependent,
                          gsize n_dependent,
                          gboolean relations,
                          GError **error);

void apr_design_clear (AprDesign *self);

/* The entry of the cross products, as a multiple of a power of two that all share. */
void apr_design_get_entry (const AprDesign *self, gsize row, gsize column, mpz_t value);

/* The exponent of that power. */
gint apr_design_get_exponent (const AprDesign *self);

/* The weighted sum of a column times 2^-scale; @rest is what two doubles lack of it, as a third one. */
AprDoubleDouble apr_design_get_scaled_sum (const AprDesign *self, gsize i, double *rest);

/* The product of two columns, times the sum of the weights where centred: a whole number. */
void apr_design_get_product (const AprDesign *self, gsize i, gsize j, mpz_t value);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprDesign, apr_design_clear)

G_END_DECLS
