/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>
#include <gmp.h>

#include "aprender/linear-model/apr-gram-private.h"
#include "aprender/tensor/apr-tensor.h"

G_BEGIN_DECLS

/* The matrix Z'WZ with Z = [1 | X | Y], summed over rows as whole numbers, without any rounding. */
typedef struct _AprCrossProducts AprCrossProducts;

AprCrossProducts *apr_cross_products_new (gsize n_features, gsize n_targets, GError **error);

void apr_cross_products_free (AprCrossProducts *self);

gsize apr_cross_products_get_n_features (AprCrossProducts *self);

gsize apr_cross_products_get_n_targets (AprCrossProducts *self);

/* Adds rows, in @n_threads threads, or as many as the work is worth where that is 0. After an error the sums are of no use.
 * Whatever @kernel is, the sums are the same; %NULL takes the fastest. */
gboolean apr_cross_products_update_with (AprCrossProducts *self,
                                         AprTensor *x,
                                         AprTensor *y,
                                         AprTensor *sample_weight,
                                         const AprGramKernel *kernel,
                                         guint n_threads,
                                         GCancellable *cancellable,
                                         GError **error);

gboolean apr_cross_products_update (AprCrossProducts *self,
                                    AprTensor *x,
                                    AprTensor *y,
                                    AprTensor *sample_weight,
                                    GCancellable *cancellable,
                                    GError **error);

/* Adds one row of finite features and targets, in whole-number arithmetic: slow, and right for any weight. */
gboolean
apr_cross_products_add_row (AprCrossProducts *self, const double *row, double weight, GError **error);

/* Adds @value 2^@exponent to an entry of the packed lower triangle. */
gboolean apr_cross_products_add_term (
  AprCrossProducts *self, gsize entry, gint64 value, gint exponent, GError **error);

/* The entry at @row and @column of Z'WZ, as a multiple of a power of two that all entries share. */
void apr_cross_products_get_entry (AprCrossProducts *self, gsize row, gsize column, mpz_t value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprCrossProducts, apr_cross_products_free)

G_END_DECLS
