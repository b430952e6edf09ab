/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-ldlt-private.h"

/* Factors of the integers of a packed lower triangle, as products have them. */
static AprLdlt *
ldlt_new_with (mpz_t *triangle,
               gsize n,
               const gboolean *excluded,
               double rank_tolerance,
               gboolean penalised,
               const AprRun *run)
{
  g_auto (AprProducts) products = { 0 };
  gsize n_limbs = 1;
  gsize i;
  gsize j;

  for (i = 0; i < apr_triangle (n, 0); i++)
    n_limbs = MAX (n_limbs, mpz_size (triangle[i]) + 1);
  (void) apr_products_init_zeros (&products, n, 0, n_limbs, &(AprRun){ 0 });
  products.penalised = penalised;
  for (i = 0; i < n; i++)
    for (j = 0; j <= i; j++)
      apr_products_set_integer (&products, i, j, triangle[apr_triangle (i, j)]);

  return apr_ldlt_new (&products, excluded, rank_tolerance, run);
}

static inline AprLdlt *
ldlt_new (mpz_t *triangle, gsize n, const gboolean *excluded, double rank_tolerance, gboolean penalised)
{
  return ldlt_new_with (triangle, n, excluded, rank_tolerance, penalised, &(AprRun){ 0 });
}
