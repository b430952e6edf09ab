/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/apr-sample-rows-private.h"

G_BEGIN_DECLS

/* Entries of Z'WZ with Z = [1 | X | Y] as apr_exact_sums_get_entry() tells them, found of samples when they are asked
 * for. Any number of threads may ask. */
typedef struct
{
  const AprSampleRows *rows; /* (unowned) */
  gint unit;                 /* values of Z are multiples of 2^this */
  gint weight_unit;
} AprRowProducts;

void apr_row_products_init (AprRowProducts *self, const AprSampleRows *rows);

/* The exponent of the power of two that all entries are multiples of. */
gint apr_row_products_get_exponent (const AprRowProducts *self);

/* The value of a sample in a column of Z, as a multiple of its power of two. */
void apr_row_products_get_value (const AprRowProducts *self, gsize column, gsize sample, mpz_t value);

void apr_row_products_get_weight (const AprRowProducts *self, gsize sample, mpz_t value);

void apr_row_products_get_entry (const AprRowProducts *self, gsize row, gsize column, mpz_t value);

G_END_DECLS
