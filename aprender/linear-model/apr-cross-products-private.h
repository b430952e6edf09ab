/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>
#include <gmp.h>

#include "aprender/tensor/apr-tensor.h"

G_BEGIN_DECLS

/* The matrix Z'WZ with Z = [1 | X | Y], summed over rows as whole numbers, without any rounding. */
typedef struct _AprCrossProducts AprCrossProducts;

AprCrossProducts *apr_cross_products_new (gsize n_features, gsize n_targets, GError **error);

void apr_cross_products_free (AprCrossProducts *self);

gsize apr_cross_products_get_n_features (AprCrossProducts *self);

gsize apr_cross_products_get_n_targets (AprCrossProducts *self);

/* Adds rows. After an error the sums are of no use. */
gboolean apr_cross_products_update (AprCrossProducts *self,
                                    AprTensor *x,
                                    AprTensor *y,
                                    AprTensor *sample_weight,
                                    GCancellable *cancellable,
                                    GError **error);

/* The entry at @row and @column of Z'WZ, as a multiple of a power of two that all entries share. */
void apr_cross_products_get_entry (AprCrossProducts *self, gsize row, gsize column, mpz_t value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprCrossProducts, apr_cross_products_free)

G_END_DECLS
