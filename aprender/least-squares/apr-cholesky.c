/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-cholesky-private.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-parallel-private.h"

#define BLOCK 32
#define STRIP APR_DENSE_PAD
#define TILE 8

void
apr_cholesky_init (AprCholesky *self, gsize n)
{
  self->kernel = apr_dense_kernel_choose ();
  self->n = n;
  self->stride = apr_dense_pad (n);
  self->rows = apr_pages_new (n * self->stride * sizeof (double), TRUE);
  if (self->rows == NULL)
    g_error ("no memory for a matrix of %" G_GSIZE_FORMAT " rows", n);
}

void
apr_cholesky_clear (AprCholesky *self)
{
  g_clear_pointer (&self->rows, apr_pages_free);
}

/* A block of rows is finished before what is below it is brought up to date. Of their columns behind the block, STRIP at a time
 * lie together. */
typedef struct
{
  AprCholesky *matrix;
  const double *least;
  gsize *independent;
  gsize n_independent;
  double *panel;     /* (owned) strips of BLOCK rows of STRIP columns */
  gint *next_strips; /* (owned) two for each block: that is finished next, and brought up to date next */
} Factorisation;

/* The triangle of a block: every member of the team works it out. */
typedef struct
{
  double rows[BLOCK][BLOCK];    /* of the independent ones */
  double factors[BLOCK][BLOCK]; /* their columns alone */
  gsize positions[BLOCK];
  gsize n;
} Corner;

static void
factorise_corner (const Factorisation *self, gsize begin, gsize size, Corner *corner)
{
  const AprCholesky *matrix = self->matrix;
  gsize i;
  gsize k;

  corner->n = 0;
  for (i = 0; i < size; i++)
    {
      double *row = corner->rows[corner->n];
      double root;

      memcpy (row + i, matrix->rows + (begin + i) * matrix->stride + begin + i, (size - i) * sizeof *row);
      for (k = 0; k < corner->n; k++)
        matrix->kernel->subtract_scaled (row + i, corner->rows[k] + i, corner->rows[k][i], size - i);
      if (!(row[i] > self->least[begin + i]))
        continue;

      root = sqrt (row[i]);
      row[i] = root;
      for (k = i + 1; k < size; k++)
        row[k] /= root;
      corner->positions[corner->n++] = i;
    }

  for (i = 0; i < corner->n; i++)
    for (k = i; k < corner->n; k++)
      corner->factors[i][k] = corner->rows[i][corner->positions[k]];
}

/* The independent rows of a block in the columns of a strip. */
static void
finish_strip (const Factorisation *self, gsize begin, const Corner *corner, gsize strip)
{
  const AprCholesky *matrix = self->matrix;
  double *panel = self->panel + strip * BLOCK * STRIP;
  double *to = matrix->rows + begin * matrix->stride + strip * STRIP;
  gsize i;
  gsize j;
  gsize k;

  for (i = 0; i < corner->n; i++)
    memcpy (panel + i * STRIP, to + corner->positions[i] * matrix->stride, STRIP * sizeof *panel);
  for (i = 0; i < corner->n; i++)
    {
      double *row = panel + i * STRIP;

      if (i % TILE == 0)
        matrix->kernel->subtract_products (row, STRIP, &corner->factors[0][i], BLOCK, panel, STRIP,
                                           MIN (TILE, corner->n - i), STRIP, i);
      for (k = i - i % TILE; k < i; k++)
        matrix->kernel->subtract_scaled (row, panel + k * STRIP, corner->factors[k][i], STRIP);
      for (j = 0; j < STRIP; j++)
        row[j] /= corner->factors[i][i];
      memcpy (to + corner->positions[i] * matrix->stride, row, STRIP * sizeof *row);
    }
}

static void
factorise_together (AprTeam *team, gpointer data, gsize part)
{
  Factorisation *self = data;
  const AprCholesky *matrix = self->matrix;
  gsize n_strips = matrix->stride / STRIP;
  g_autofree Corner *corner = g_new (Corner, 1);
  gsize begin;
  gsize i;

  for (begin = 0; begin < matrix->n; begin += BLOCK)
    {
      gsize size = MIN (BLOCK, matrix->n - begin);
      gint *next_strips = self->next_strips + 2 * (begin / BLOCK);
      gsize first = (begin + BLOCK) / STRIP;
      gsize row;
      gsize column;

      factorise_corner (self, begin, size, corner);
      while ((column = first + (gsize) g_atomic_int_add (&next_strips[0], 1)) < n_strips)
        finish_strip (self, begin, corner, column);
      apr_team_barrier (team);

      if (part == 0)
        for (i = 0; i < corner->n; i++)
          {
            gsize position = corner->positions[i];

            memcpy (matrix->rows + (begin + position) * matrix->stride + begin + position,
                    corner->rows[i] + position, (size - position) * sizeof (double));
            self->independent[self->n_independent++] = begin + position;
          }
      while ((row = first + (gsize) g_atomic_int_add (&next_strips[1], 1)) < n_strips)
        for (column = row; column < n_strips; column++)
          /* What falls below the diagonal is never read. */
          matrix->kernel->subtract_products (matrix->rows + row * STRIP * matrix->stride + column * STRIP,
                                             matrix->stride, self->panel + row * BLOCK * STRIP, STRIP,
                                             self->panel + column * BLOCK * STRIP, STRIP,
                                             MIN (STRIP, matrix->n - row * STRIP), STRIP, corner->n);
      apr_team_barrier (team);
    }
}

gsize
apr_cholesky_factorise (AprCholesky *self, const double *least, gsize *independent, guint n_threads)
{
  Factorisation factorisation = { self, least, independent };
  double n = (double) self->n;

  factorisation.panel = g_aligned_alloc (BLOCK * self->stride, sizeof (double), 64);
  factorisation.next_strips = g_new0 (gint, 2 * (self->n / BLOCK + 1));
  apr_team_run (factorise_together, &factorisation, n_threads, n * n * n / 48);
  g_aligned_free (factorisation.panel);
  g_free (factorisation.next_strips);

  return factorisation.n_independent;
}

void
apr_cholesky_keep (AprCholesky *self, const gsize *positions, gsize n)
{
  gsize stride = apr_dense_pad (n);
  gsize i;
  gsize j;

  /* Nothing is moved behind where it was. */
  for (i = 0; i < n; i++)
    for (j = i; j < n; j++)
      self->rows[i * stride + j] = self->rows[positions[i] * self->stride + positions[j]];
  self->n = n;
  self->stride = stride;
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
