/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-preconditioned-private.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A pivot below this part of its column may be nothing but rounding errors. */
#define DOUBTFUL 0x1p-34

/* The least eigenvalue that leaves something of a correction, for the sizes that fit into a memory. */
#define LEAST_EIGENVALUE 0x1p-36

/* A lower bound of the eigenvalues of the scaled products: if the matrix less a multiple of the identity can be factorised, its
 * eigenvalues are no further below 0 than the errors of that (S. M. Rump, "Verification of positive definiteness", 2006). */
static double
bound_least (const AprPreconditioned *self, const double *matrix)
{
  gsize n = self->n_independent;
  gsize stride = self->cholesky.stride;
  g_autofree gsize *positions = g_new (gsize, n);
  g_autofree double *zeros = g_new0 (double, n);
  g_auto (AprCholesky) shifted = { NULL };
  double estimate = apr_cholesky_estimate_least (&self->cholesky);
  double least = 0;
  int tries;
  gsize i;

  apr_cholesky_init (&shifted, n);
  for (tries = 0; tries < 3 && least == 0 && estimate > LEAST_EIGENVALUE; tries++)
    {
      double shift = estimate / (tries == 0 ? 2 : 1 << (3 * tries));

      memcpy (shifted.rows, matrix, n * stride * sizeof *matrix);
      for (i = 0; i < n; i++)
        shifted.rows[i * stride + i] -= shift;
      if (apr_cholesky_factorise (&shifted, zeros, positions) == n)
        /* What rounding the entries has changed is far less than 2^-50 each. */
        least = shift - apr_cholesky_bound_error (&shifted) - (double) n * 0x1p-50;
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

/* Keeps the rows and columns of @positions, in a matrix and in the factors. */
static void
keep_positions (double *rows, gsize stride, const gsize *positions, gsize n, double *kept, gsize kept_stride)
{
  gsize i;
  gsize j;

  for (i = 0; i < n; i++)
    for (j = i; j < n; j++)
      kept[i * kept_stride + j] = rows[positions[i] * stride + positions[j]];
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
  g_autoptr (AprSlices) slices = NULL;
  g_auto (AprCholesky) whole = { NULL };
  gsize n;
  gsize n_independent;
  gsize i;
  gsize j;
  g_autofree double *matrix = NULL;
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

  self->slices = apr_slices_new (products, self->scales, self->independent, n, self->scales,
                                 self->independent, n, APR_PRECONDITIONED_SLICES, n_threads);
  if (!self->slices->fits)
    return NULL;

  apr_cholesky_init (&whole, n);
  doubtful = g_new (double, n);
  positions = g_new (gsize, n);
  for (i = 0; i < n; i++)
    {
      for (j = i; j < n; j++)
        whole.rows[i * whole.stride + j] = apr_slices_get_double (self->slices, i, j);
      doubtful[i] = whole.rows[i * whole.stride + i] * MAX (DOUBTFUL, 4 * negligible);
    }
  matrix = g_memdup2 (whole.rows, n * whole.stride * sizeof (double));
  n_independent = apr_cholesky_factorise (&whole, doubtful, positions);
  if (n_independent == n)
    {
      self->cholesky = whole;
      whole.rows = NULL;
    }
  else
    {
      double *kept;

      split_columns (self, positions, n_independent);
      apr_cholesky_init (&self->cholesky, n_independent);
      keep_positions (whole.rows, whole.stride, positions, n_independent, self->cholesky.rows,
                      self->cholesky.stride);
      kept = g_new (double, n_independent * self->cholesky.stride);
      keep_positions (matrix, whole.stride, positions, n_independent, kept, self->cholesky.stride);
      g_free (matrix);
      matrix = kept;
      slices = self->slices;
      self->slices = apr_slices_new_part (slices, positions, n_independent);
    }

  self->least = n_independent > 0 ? bound_least (self, matrix) : 1;
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

  apr_slices_free (self->slices);
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
