/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-cholesky-private.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Rows that are finished before the rest is brought up to date. */
#define BLOCK 32
#define TILE 8

void
apr_cholesky_init (AprCholesky *self, gsize n)
{
  self->kernel = apr_dense_kernels ()[0];
  self->n = n;
  self->stride = apr_dense_pad (n);
  self->rows = g_aligned_alloc0 (MAX (n * self->stride, 1), sizeof (double), 64);
}

void
apr_cholesky_clear (AprCholesky *self)
{
  g_clear_pointer (&self->rows, g_aligned_free);
}

gsize
apr_cholesky_factorise (AprCholesky *self, const double *least, gsize *independent)
{
  gsize stride = self->stride;
  g_autofree double *panel = g_new (double, MIN (BLOCK, self->n) * stride);
  gsize n_independent = 0;
  gsize begin;
  gsize i;
  gsize k;

  for (begin = 0; begin < self->n; begin += BLOCK)
    {
      gsize end = MIN (begin + BLOCK, self->n);
      gsize n_panel = 0;

      for (i = begin; i < end; i++)
        {
          double *row = self->rows + i * stride;
          double root;

          for (k = 0; k < n_panel; k++)
            self->kernel->subtract_scaled (row + i, panel + k * stride + i, panel[k * stride + i],
                                           self->n - i);
          if (!(row[i] > least[i]))
            continue;

          root = sqrt (row[i]);
          row[i] = root;
          for (k = i + 1; k < self->n; k++)
            row[k] /= root;
          memcpy (panel + n_panel * stride + i, row + i, (stride - i) * sizeof *row);
          n_panel++;
          independent[n_independent++] = i;
        }

      /* From a multiple of the padding on: what falls below the diagonal is never read. */
      for (i = end; i < self->n && n_panel > 0; i += TILE)
        {
          gsize from = i & ~(gsize) (APR_DENSE_PAD - 1);

          self->kernel->subtract_products (self->rows + i * stride + from, stride, panel + i, stride,
                                           panel + from, stride, MIN (TILE, self->n - i), stride - from,
                                           n_panel);
        }
    }

  return n_independent;
}

/* Every entry of U is a sum of products taken one after the other, divided by a root. However that is ordered, what comes
 * out is exact for a matrix that differs by at most c = (n + 1) u / (1 - (n + 1) u) times |U'||U|, entry by entry (N. J. Higham,
 * "Accuracy and stability of numerical algorithms", 2002, theorem 10.3). */
double
apr_cholesky_bound_error (const AprCholesky *self)
{
  g_autofree double *row_sums = g_new0 (double, self->n);
  g_autofree double *sums = g_new0 (double, self->n);
  double greatest = 0;
  gsize i;
  gsize j;

  for (i = 0; i < self->n; i++)
    {
      const double *row = self->rows + i * self->stride;

      for (j = i; j < self->n; j++)
        row_sums[i] += fabs (row[j]);
      for (j = i; j < self->n; j++)
        sums[j] += fabs (row[j]) * row_sums[i];
    }
  for (i = 0; i < self->n; i++)
    greatest = MAX (greatest, sums[i]);

  /* Twice, for the rounding of the bound's own. */
  return 2 * (double) (self->n + 2) * DBL_EPSILON / 2 * greatest;
}

static void
solve_transposed (const AprCholesky *self, double *x)
{
  gsize i;

  for (i = 0; i < self->n; i++)
    {
      const double *row = self->rows + i * self->stride;

      x[i] /= row[i];
      self->kernel->subtract_scaled (x + i + 1, row + i + 1, x[i], self->n - i - 1);
    }
}

static void
solve_upper (const AprCholesky *self, double *x)
{
  gsize i;

  for (i = self->n; i-- > 0;)
    {
      const double *row = self->rows + i * self->stride;

      x[i] = (x[i] - self->kernel->dot (row + i + 1, x + i + 1, self->n - i - 1)) / row[i];
    }
}

void
apr_cholesky_solve (const AprCholesky *self, double *x)
{
  solve_transposed (self, x);
  solve_upper (self, x);
}

void
apr_cholesky_multiply (const AprCholesky *self, double *x)
{
  gsize i;

  for (i = 0; i < self->n; i++)
    x[i] = self->kernel->dot (self->rows + i * self->stride + i, x + i, self->n - i);
  for (i = self->n; i-- > 0;)
    {
      const double *row = self->rows + i * self->stride;

      self->kernel->subtract_scaled (x + i + 1, row + i + 1, -x[i], self->n - i - 1);
      x[i] *= row[i];
    }
}

double
apr_cholesky_estimate_least (const AprCholesky *self)
{
  g_autofree double *x = g_new (double, self->n);
  double estimate = INFINITY;
  int step;
  gsize i;

  for (i = 0; i < self->n; i++)
    x[i] = apr_dense_start (i);

  for (step = 0; step < 8; step++)
    {
      double norm = sqrt (self->kernel->dot (x, x, self->n));
      double middle;
      double before = estimate;

      for (i = 0; i < self->n; i++)
        x[i] /= norm;
      solve_transposed (self, x);
      middle = self->kernel->dot (x, x, self->n);
      solve_upper (self, x);
      estimate = 1 / middle;
      if (estimate > 0.7 * before)
        break;
    }

  return estimate;
}
