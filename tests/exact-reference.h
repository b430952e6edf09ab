/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gmp.h>
#include <math.h>

#include "aprender/base/apr-cpu-private.h"
#include "aprender/exact-sums/apr-exact-sums-private.h"

/* Z'WZ in the whole numbers of GMP, in units of 2^-(3 1074), which divides every product of three doubles. */
typedef struct
{
  gsize n_columns;
  mpz_t *entries; /* of the packed lower triangle */
} Reference;

static inline Reference *
reference_new (gsize n_columns)
{
  Reference *self = g_new (Reference, 1);
  gsize i;

  self->n_columns = n_columns;
  self->entries = g_new (mpz_t, n_columns * (n_columns + 1) / 2);
  for (i = 0; i < n_columns * (n_columns + 1) / 2; i++)
    mpz_init (self->entries[i]);

  return self;
}

static inline void
reference_free (Reference *self)
{
  gsize i;

  for (i = 0; i < self->n_columns * (self->n_columns + 1) / 2; i++)
    mpz_clear (self->entries[i]);
  g_free (self->entries);
  g_free (self);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Reference, reference_free)

/* A double is this times 2^-1074. */
static inline void
reference_whole (mpz_t whole, double value)
{
  mpq_t number;

  mpq_init (number);
  mpq_set_d (number, value);
  mpq_mul_2exp (number, number, 1074);
  mpz_set (whole, mpq_numref (number));
  mpq_clear (number);
}

/* The same of a tensor's element. */
static inline void
reference_element (mpz_t whole, AprTensor *tensor, gsize i)
{
  const guint8 *data = g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL);
  AprDType dtype = apr_tensor_get_dtype (tensor);
  guint64 bits;

  if (dtype != APR_DTYPE_I64 && dtype != APR_DTYPE_U64)
    {
      reference_whole (whole, apr_tensor_get_double (tensor, i, NULL));
      return;
    }

  memcpy (&bits, data + 8 * i, sizeof bits);
  bits = GUINT64_FROM_LE (bits);
  if (dtype == APR_DTYPE_U64)
    mpz_set_ui (whole, bits);
  else
    mpz_set_si (whole, (gint64) bits);
  mpz_mul_2exp (whole, whole, 1074);
}

/* @row is Z, and each number, @weight too, times 2^-1074 the true one. */
static inline void
reference_add_whole_row (Reference *self, mpz_t *row, const mpz_t weight)
{
  mpz_t weighted;
  gsize i;
  gsize j;

  mpz_init (weighted);
  for (i = 0; i < self->n_columns; i++)
    {
      mpz_mul (weighted, row[i], weight);
      for (j = 0; j <= i; j++)
        mpz_addmul (self->entries[i * (i + 1) / 2 + j], weighted, row[j]);
    }
  mpz_clear (weighted);
}

/* @row is all of Z but the column of ones. */
static inline void
reference_add_row (Reference *self, const double *row, double weight)
{
  g_autofree mpz_t *whole = g_new (mpz_t, self->n_columns);
  mpz_t factor;
  gsize i;

  mpz_init (factor);
  reference_whole (factor, weight);
  for (i = 0; i < self->n_columns; i++)
    {
      mpz_init (whole[i]);
      reference_whole (whole[i], i == 0 ? 1 : row[i - 1]);
    }
  reference_add_whole_row (self, whole, factor);
  for (i = 0; i < self->n_columns; i++)
    mpz_clear (whole[i]);
  mpz_clear (factor);
}

/* @weights may be %NULL. */
static inline void
reference_add_rows (Reference *self, AprTensor *x, AprTensor *y, AprTensor *weights)
{
  gsize n_rows = apr_tensor_get_shape (x, NULL)[0];
  gsize p = apr_tensor_get_shape (x, NULL)[1];
  g_autofree double *row = g_new (double, p + 1);
  gsize i;
  gsize j;

  for (i = 0; i < n_rows; i++)
    {
      for (j = 0; j < p; j++)
        row[j] = apr_tensor_get_double (x, i * p + j, NULL);
      row[p] = apr_tensor_get_double (y, i, NULL);
      reference_add_row (self, row, weights != NULL ? apr_tensor_get_double (weights, i, NULL) : 1);
    }
}

/* Entries of sums are known up to a power of two that all share: the corner, a sum of weights, tells it. */
static inline void
reference_assert_equal (const Reference *self, AprExactSums *sums)
{
  mpz_t corner;
  mpz_t entry;
  mpz_t expected;
  gsize i;
  gsize j;

  mpz_inits (corner, entry, expected, NULL);
  apr_exact_sums_get_entry (sums, 0, 0, corner);
  g_assert_cmpint (mpz_sgn (corner), ==, mpz_sgn (self->entries[0]));
  for (i = 0; i < self->n_columns; i++)
    for (j = 0; j <= i; j++)
      {
        apr_exact_sums_get_entry (sums, i, j, entry);
        mpz_mul (entry, entry, self->entries[0]);
        mpz_mul (expected, self->entries[i * (i + 1) / 2 + j], corner);
        g_assert_cmpint (mpz_cmp (entry, expected), ==, 0);
      }
  mpz_clears (corner, entry, expected, NULL);
}

/* Has a kernel take its residues for any shape; false where it has none. */
static inline gboolean
force_residues (AprSumsKernel *kernel)
{
  kernel->n_rows = kernel->n_columns = kernel->n_weighted = kernel->n_whole = 0;

  return kernel->residues != NULL;
}

/* All kernels of this processor. One that has bytes, or residues, comes once more for each of them, as a kernel that
 * takes them for any shape. */
static inline const AprSumsKernel *const *
get_all_kernels (void)
{
  static const AprSumsKernel *kernels[3 * APR_CPU_N_SETS + 1];
  static AprSumsKernel with_bytes[APR_CPU_N_SETS];
  static AprSumsKernel with_residues[APR_CPU_N_SETS];
  const AprSumsKernel *const *all = apr_sums_kernels ();
  gsize n = 0;
  gsize i;

  for (i = 0; all[i] != NULL; i++)
    {
      kernels[n++] = all[i];
      with_bytes[i] = *all[i];
      with_bytes[i].n_sliced = 0;
      with_bytes[i].residues = NULL;
      if (all[i]->bytes != NULL)
        kernels[n++] = &with_bytes[i];
      with_residues[i] = *all[i];
      if (!force_residues (&with_residues[i]))
        continue;
      kernels[n++] = &with_residues[i];
    }

  return kernels;
}
