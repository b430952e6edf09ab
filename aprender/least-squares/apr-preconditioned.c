/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-preconditioned-private.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A pivot below this part of its column may be nothing but rounding errors. */
#define DOUBTFUL 0x1p-34

/* The least eigenvalue that leaves something of a correction, for the sizes that fit into a memory. */
#define LEAST_EIGENVALUE 0x1p-36

AprScaledProducts
apr_preconditioned_get_scaled (const AprPreconditioned *self)
{
  return (AprScaledProducts){ self->products, self->scales, self->independent, self->n_independent };
}

/* A lower bound of the eigenvalues of the scaled products, which are in @shifted, to be overwritten: if the matrix less a multiple of the identity can be factorised, its
 * eigenvalues are no further below 0 than the errors of that (S. M. Rump, "Verification of positive definiteness", 2006). */
static double
bound_least (const AprPreconditioned *self, AprCholesky *shifted)
{
  AprScaledProducts scaled = apr_preconditioned_get_scaled (self);
  gsize n = self->n_independent;
  g_autofree gsize *positions = g_new (gsize, n);
  g_autofree double *zeros = g_new0 (double, n);
  double estimate = apr_cholesky_estimate_least (&self->cholesky);
  double least = 0;
  int tries;
  gsize i;

  for (tries = 0; tries < 3 && least == 0 && estimate > LEAST_EIGENVALUE; tries++)
    {
      double shift = estimate / (tries == 0 ? 2 : 1 << (3 * tries));

      if (tries > 0)
        (void) apr_scaled_products_get_doubles (&scaled, shifted->rows, NULL, shifted->stride,
                                                self->n_threads);
      for (i = 0; i < n; i++)
        shifted->rows[i * shifted->stride + i] -= shift;
      if (apr_cholesky_factorise (shifted, zeros, positions, self->n_threads) == n)
        /* What rounding the entries has changed is far less than 2^-50 each. */
        least = shift - apr_cholesky_bound_error (shifted) - (double) n * 0x1p-50;
      if (least < shift / 4)
        least = 0;
    }

  return least;
}

static void
list_columns (AprPreconditioned *self, const gboolean *left_out)
{
  gsize i;

  for (i = 0; i < self->products->n_features; i++)
    if (!left_out[i])
      {
        self->scales[i] = apr_slices_scale_of (self->products, i);
        self->independent[self->n_independent++] = i;
      }
}

/* Splits the columns, of which @positions were found independent. */
static void
split_columns (AprPreconditioned *self, const gsize *positions, gsize n_independent)
{
  gsize n = self->n_independent;
  gsize i;

  self->n_independent = 0;
  for (i = 0; i < n; i++)
    {
      gsize column = self->independent[i];

      if (self->n_independent < n_independent && positions[self->n_independent] == i)
        self->independent[self->n_independent++] = column;
      else
        self->dependent[self->n_dependent++] = column;
    }
}

AprPreconditioned *
apr_preconditioned_new (const AprProducts *products,
                        const gboolean *left_out,
                        double negligible,
                        guint n_threads)
{
  g_autoptr (AprPreconditioned) self = g_new0 (AprPreconditioned, 1);
  AprScaledProducts scaled;
  g_auto (AprCholesky) copy = { NULL };
  gsize n;
  gsize n_independent;
  gsize i;
  g_autofree double *doubtful = NULL;
  g_autofree gsize *positions = NULL;

  self->products = products;
  self->n_threads = n_threads;
  self->negative = -1;
  self->scales = g_new0 (gint64, products->n_features + products->n_targets);
  self->independent = g_new (gsize, products->n_features);
  self->dependent = g_new (gsize, products->n_features);
  list_columns (self, left_out);
  n = self->n_independent;

  scaled = apr_preconditioned_get_scaled (self);
  apr_cholesky_init (&self->cholesky, n);
  apr_cholesky_init (&copy, n);
  if (!apr_scaled_products_get_doubles (&scaled, self->cholesky.rows, copy.rows, self->cholesky.stride,
                                        n_threads))
    return NULL;
  doubtful = g_new (double, n);
  positions = g_new (gsize, n);
  for (i = 0; i < n; i++)
    doubtful[i] = self->cholesky.rows[i * self->cholesky.stride + i] * MAX (DOUBTFUL, 4 * negligible);
  n_independent = apr_cholesky_factorise (&self->cholesky, doubtful, positions, n_threads);
  if (n_independent < n)
    {
      split_columns (self, positions, n_independent);
      apr_cholesky_keep (&self->cholesky, positions, n_independent);
      apr_cholesky_keep (&copy, positions, n_independent);
    }

  self->least = n_independent > 0 ? bound_least (self, &copy) : 1;
  if (!(self->least > 4 * negligible) ||
      (n_independent < n && !apr_preconditioned_prove_dependence (self, negligible)))
    return NULL;

  return g_steal_pointer (&self);
}

void
apr_preconditioned_free (AprPreconditioned *self)
{
  if (self == NULL)
    return;

  apr_cholesky_clear (&self->cholesky);
  g_free (self->scales);
  g_free (self->independent);
  g_free (self->dependent);
  g_aligned_free (self->combinations);
  g_free (self);
}

void
apr_preconditioned_scale_column (AprPreconditioned *self, gsize column)
{
  gint64 scale = G_MININT64;
  gsize i;

  for (i = 0; i < self->n_independent; i++)
    {
      gsize feature = self->independent[i];
      gint64 bits = apr_products_get_bits (self->products, column, feature);

      if (bits > 0)
        scale = MAX (scale, bits - self->scales[feature]);
    }

  self->scales[column] = scale == G_MININT64 ? 0 : scale;
}
