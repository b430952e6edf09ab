/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-double-doubles-private.h"

#include <float.h>
#include <math.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/least-squares/apr-products-private.h"

#define BLOCK APR_DOUBLE_DOUBLES_BLOCK
#define TILE_ROWS 32
#define TILE_COLUMNS 256

AprDoubleDouble
apr_dd_from_integer (const mpz_t value, gint64 exponent)
{
  gsize n = mpz_size (value);
  unsigned __int128 top;
  double high;
  double low;
  int n_zeros;

  if (n == 0)
    return (AprDoubleDouble){ 0, 0 };

  /* The first 128 bits, the topmost of which is 1. Limbs that are not there are 0. */
  n_zeros = __builtin_clzll (mpz_getlimbn (value, (mp_size_t) n - 1));
  top = (unsigned __int128) mpz_getlimbn (value, (mp_size_t) n - 1) << 64;
  top |= mpz_getlimbn (value, (mp_size_t) n - 2);
  if (n_zeros > 0)
    {
      top <<= n_zeros;
      top |= mpz_getlimbn (value, (mp_size_t) n - 3) >> (64 - n_zeros);
    }

  /* The upper half as a double, cut off, leaves a rest that is exact but for the bits beyond its own 53. */
  high = (double) (guint64) (top >> 75);
  low = (double) (guint64) ((top << 53) >> 64);
  high *= 0x1p64;
  if (mpz_sgn (value) < 0)
    {
      high = -high;
      low = -low;
    }
  exponent += (gint64) n * 64 - n_zeros - 117;
  exponent = CLAMP (exponent, -4 * DBL_MAX_EXP, 4 * DBL_MAX_EXP);

  return apr_dd_quick_sum (ldexp (high, (int) exponent), ldexp (low, (int) exponent));
}

AprDoubleDoubles
apr_double_doubles_new (gsize n_rows, gsize n_columns)
{
  AprDoubleDoubles self = { NULL };

  /* An odd number of cache lines, so that the rows of a column are not in each other's way. */
  self.stride = (n_columns + APR_DOUBLE_DOUBLE_PAD - 1) / APR_DOUBLE_DOUBLE_PAD;
  self.stride = (self.stride | 1) * APR_DOUBLE_DOUBLE_PAD;
  self.high = apr_pages_new_n (n_rows, self.stride * sizeof (double), TRUE);
  self.low = apr_pages_new_n (n_rows, self.stride * sizeof (double), TRUE);

  return self;
}

void
apr_double_doubles_free (AprDoubleDoubles *self)
{
  g_clear_pointer (&self->high, apr_pages_free);
  g_clear_pointer (&self->low, apr_pages_free);
}

typedef struct
{
  AprDoubleDoubles to;
  gsize n;
  mpz_t *triangle;
  const gsize *positions;
  const gint64 *scales;
  const AprRun *run;
} Reading;

/* Some columns, so many that what is written fills lines of the cache, in the order of the triangle. */
static void
read_columns (gpointer data, gsize part, gsize n_parts G_GNUC_UNUSED)
{
  const Reading *self = data;
  gsize first = part * APR_DOUBLE_DOUBLE_PAD;
  gsize end = MIN (first + APR_DOUBLE_DOUBLE_PAD, self->n);
  gsize i;
  gsize j;

  for (i = 0; i < end && !apr_run_is_cancelled (self->run); i++)
    for (j = MAX (i, first); j < end; j++)
      apr_double_doubles_set (
        self->to, i, j,
        apr_dd_from_integer (self->triangle[apr_triangle (self->positions[j], self->positions[i])],
                             -(self->scales[i] + self->scales[j])));
}

void
apr_double_doubles_read (AprDoubleDoubles self,
                         gsize n,
                         mpz_t *triangle,
                         const gsize *positions,
                         const gint64 *scales,
                         const AprRun *run)
{
  Reading reading = { self, n, triangle, positions, scales, run };
  double n_operations = 100.0 * (double) n * (double) n / 2;

  apr_parallel_run_parts (read_columns, &reading,
                          apr_parallel_count (run->n_threads, n_operations / APR_PARALLEL_OPERATIONS),
                          (n + APR_DOUBLE_DOUBLE_PAD - 1) / APR_DOUBLE_DOUBLE_PAD);
}

typedef struct
{
  const AprRun *run;
  const AprDoubleDoubleKernel *kernel;
  AprDoubleDoubles c;
  AprDoubleDoubles a;
  AprDoubleDoubles b;
  gsize first_row;
  gsize end_row;
  gboolean upper; /* a row's columns begin at the diagonal */
  gsize end_column;
  gsize k;
  gsize end_k;
  gsize n_column_tiles;
  gint n_tiles;
  gint next; /* (atomic) */
} Update;

static void
update_tiles (gpointer data, gsize part, gsize n_parts)
{
  Update *self = data;
  gint tile;

  while ((tile = g_atomic_int_add (&self->next, 1)) < self->n_tiles && !apr_run_is_cancelled (self->run))
    {
      gsize row = self->first_row + (gsize) tile / self->n_column_tiles * TILE_ROWS;
      gsize column = (gsize) tile % self->n_column_tiles * TILE_COLUMNS;
      gsize end_row = MIN (row + TILE_ROWS, self->end_row);
      gsize end_column = MIN (column + TILE_COLUMNS, self->end_column);

      if (self->upper)
        column = MAX (column, row & ~(gsize) (APR_DOUBLE_DOUBLE_PAD - 1));
      if (column < end_column)
        self->kernel->subtract_products (apr_double_doubles_at (self->c, row, column),
                                         apr_double_doubles_at (self->a, self->k, row),
                                         apr_double_doubles_at (self->b, self->k, column), end_row - row,
                                         end_column - column, self->end_k - self->k);
    }
}

gboolean
apr_double_doubles_subtract (const AprRun *run,
                             const AprDoubleDoubleKernel *kernel,
                             AprDoubleDoubles c,
                             AprDoubleDoubles a,
                             AprDoubleDoubles b,
                             gsize first_row,
                             gsize end_row,
                             gboolean upper,
                             gsize n_columns,
                             gsize k,
                             gsize end_k)
{
  Update self = { run, kernel, c, a, b, first_row, end_row, upper, apr_double_doubles_pad (n_columns),
                  k,   end_k };
  gsize n_row_tiles = (end_row - first_row + TILE_ROWS - 1) / TILE_ROWS;

  self.n_column_tiles = (self.end_column + TILE_COLUMNS - 1) / TILE_COLUMNS;
  self.n_tiles = (gint) (n_row_tiles * self.n_column_tiles);
  apr_parallel_run (update_tiles, &self, run->n_threads,
                    2.0 * (double) (end_row - first_row) * (double) n_columns * (double) (end_k - k));

  return !apr_run_is_cancelled (run);
}

static AprDoubleDouble
dd_sqrt (AprDoubleDouble x)
{
  double root = sqrt (x.high);
  AprDoubleDouble rest = apr_dd_subtract (x, apr_dd_multiply_double ((AprDoubleDouble){ root, 0 }, root));

  return apr_dd_quick_sum (root, rest.high / (2 * root));
}

gboolean
apr_double_doubles_factorise (AprDoubleDoubles u,
                              gsize n,
                              gsize n_columns,
                              const double *limits,
                              const AprDoubleDoubleKernel *kernel,
                              const AprRun *run)
{
  gsize block;
  gsize row;

  for (block = 0; block < n; block += BLOCK)
    {
      gsize end = MIN (block + BLOCK, n);

      for (row = block; row < end && !apr_run_is_cancelled (run); row++)
        {
          gsize first = row & ~(gsize) (APR_DOUBLE_DOUBLE_PAD - 1);
          AprDoubleDoubles from = apr_double_doubles_at (u, row, first);
          AprDoubleDouble root;

          kernel->subtract_products (from, apr_double_doubles_at (u, block, row),
                                     apr_double_doubles_at (u, block, first), 1,
                                     apr_double_doubles_pad (n_columns) - first, row - block);
          root = apr_double_doubles_get (u, row, row);
          if (!(root.high > limits[row]))
            return FALSE;
          root = dd_sqrt (root);
          kernel->scale (from, apr_dd_invert (root), apr_double_doubles_pad (n_columns) - first);
          apr_double_doubles_set (u, row, row, root);
        }
      if (!apr_double_doubles_subtract (run, kernel, u, u, u, end, n, TRUE, n_columns, block, end))
        return FALSE;
      apr_run_report (run, (double) end / (double) n);
    }

  return TRUE;
}
