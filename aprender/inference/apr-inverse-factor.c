/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-inverse-private.h"

#include <math.h>

#include "aprender/base/apr-parallel-private.h"
#include "aprender/least-squares/apr-products-private.h"

/* The inverse of Cholesky's factors U'U of the scaled products, in blocks of so many rows. */
#define BLOCK APR_DOUBLE_DOUBLES_BLOCK
#define TILE_ROWS 32
#define TILE_COLUMNS 256

#define LEAST_PIVOT 0x1p-90

/* What may come of rounding errors, relative to the result. */
#define TOLERANCE 0x1p-55

/* The factors are those of a matrix that differs from the scaled products by this times |U|'|U| at the most, entry
 * by entry: from the kernel, whose sums are at most 2 as the diagonal is, and from what is rounded once for each
 * entry. So the norm of the difference is at most 2 n times this. */
static double
bound_rounding (gsize n)
{
  return (3 * (double) n + 32) * 0x1p-103;
}

typedef struct
{
  AprDoubleDoubles u;
  const AprDesign *design;
  const AprRun *run;
  gint next; /* (atomic) row */
} Reading;

static void
read_rows (gpointer data, gsize part, gsize n_parts)
{
  Reading *self = data;
  const AprDesign *design = self->design;
  mpz_t product;
  gsize i;
  gsize j;

  mpz_init (product);
  while ((i = (gsize) g_atomic_int_add (&self->next, 1)) < design->n && !apr_run_is_cancelled (self->run))
    for (j = i; j < design->n_columns; j++)
      {
        apr_design_get_product (design, i, j, product);
        apr_double_doubles_set (self->u, i, j,
                                apr_dd_from_integer (product, -(design->scale[i] + design->scale[j])));
      }
  mpz_clear (product);
}

/* The upper triangle of the scaled products, and the right-hand sides beside it; false where cancelled. */
static gboolean
read_products (AprDoubleDoubles u, const AprDesign *design, const AprRun *run)
{
  Reading reading = { u, design, run };

  apr_parallel_run (read_rows, &reading, run->n_threads,
                    200.0 * (double) design->n * (double) design->n_columns);
  apr_run_report (run, 0.1);

  return !apr_run_is_cancelled (run);
}

/* root = U'^-1 */
static gboolean
invert (
  AprDoubleDoubles root, AprDoubleDoubles u, gsize n, const AprDoubleDoubleKernel *kernel, const AprRun *run)
{
  gsize block;
  gsize row;

  for (row = 0; row < n; row++)
    apr_double_doubles_set (root, row, row, (AprDoubleDouble){ 1, 0 });
  for (block = 0; block < n; block += BLOCK)
    {
      gsize end = MIN (block + BLOCK, n);

      for (row = block; row < end; row++)
        {
          kernel->subtract_products (
            apr_double_doubles_at (root, row, 0), apr_double_doubles_at (u, block, row),
            apr_double_doubles_at (root, block, 0), 1, apr_double_doubles_pad (row + 1), row - block);
          kernel->scale (apr_double_doubles_at (root, row, 0),
                         apr_dd_invert (apr_double_doubles_get (u, row, row)),
                         apr_double_doubles_pad (row + 1));
        }
      if (!apr_double_doubles_subtract (run, kernel, root, u, root, end, n, FALSE, end, block, end))
        return FALSE;
      apr_run_report (run, 0.35 + 0.25 * (double) end / (double) n);
    }

  return TRUE;
}

/* solutions -= root' right, a row for each right-hand side; then its sign. */
static void
solve (AprInverse *self, AprDoubleDoubles u)
{
  gsize block;
  gsize i;
  gsize j;

  for (block = 0; block < self->n; block += BLOCK)
    {
      gsize end = MIN (block + BLOCK, self->n);

      self->kernel->subtract_products (self->solutions, apr_double_doubles_at (u, block, self->n),
                                       apr_double_doubles_at (self->root, block, 0), self->n_right,
                                       apr_double_doubles_pad (end), end - block);
    }
  for (i = 0; i < self->n_right; i++)
    for (j = 0; j < self->n; j++)
      apr_double_doubles_set (self->solutions, i, j,
                              apr_dd_negate (apr_double_doubles_get (self->solutions, i, j)));
}

/* The sum of squares that the features leave of @target, or less than 0 where that is not certain. The difference of
 * the factors' matrix changes it by (b, -1)' difference (b, -1). */
static void
find_residual (AprInverse *self, AprDoubleDoubles u, const AprDesign *design, gsize target)
{
  gint64 scale = design->scale[self->n + target];
  AprDoubleDouble rest;
  double length = 1;
  mpf_t low;
  mpz_t square;
  gsize i;

  mpz_init (square);
  apr_design_get_product (design, self->n + target, self->n + target, square);
  rest = apr_dd_from_integer (square, -2 * scale);
  for (i = 0; i < self->n; i++)
    {
      AprDoubleDouble part = apr_double_doubles_get (u, i, self->n + target);
      double coefficient = self->solutions.high[target * self->solutions.stride + i];

      rest = apr_dd_subtract (rest, apr_dd_multiply (part, part));
      length += coefficient * coefficient;
    }

  if (!(rest.high * TOLERANCE > 2 * (double) (self->n + 1) * bound_rounding (self->n + 1) * length))
    mpf_set_si (self->residuals[target], -1);
  else
    {
      mpf_set_prec (self->residuals[target], 192);
      mpf_init2 (low, 192);
      mpf_set_d (self->residuals[target], rest.high);
      mpf_set_d (low, rest.low);
      mpf_add (self->residuals[target], self->residuals[target], low);
      mpf_mul_2exp (self->residuals[target], self->residuals[target], 2 * (mp_bitcnt_t) scale);
      mpf_clear (low);
    }
  mpz_clear (square);
}

/* With F = U'U the matrix of the factors and A that of the products, x'(A^-1 - F^-1)y = x'A^-1 (F - A) F^-1 y, which
 * is at most the norm of F - A times that of the inverse, relative to the roots of x'A^-1 x and y'A^-1 y. That of
 * the inverse is at most the trace of it. The root's own errors, E = root U' - I, are at most that bound times
 * |root| |U|', which is far less. */
static gboolean
is_proven (const AprInverse *self)
{
  double rounding = bound_rounding (self->n);
  double n = (double) self->n;
  double trace = 0;
  gsize i;
  gsize j;

  for (i = 0; i < self->n; i++)
    for (j = 0; j <= i; j++)
      {
        double entry = self->root.high[i * self->root.stride + j];

        trace += entry * entry;
      }

  return rounding * (2 * n * trace + 4 * sqrt (2 * n * trace)) < TOLERANCE;
}

gboolean
apr_inverse_factorise (AprInverse *self, const AprDesign *design, const AprRun *run)
{
  AprDoubleDoubles u = apr_double_doubles_new (self->n, design->n_columns, run);
  AprRun of_factors = apr_run_get_part (run, 0.1, 0.35);
  g_autofree double *limits = g_new (double, self->n);
  gboolean proven;
  gsize target;
  gsize i;

  for (i = 0; i < self->n; i++)
    limits[i] = LEAST_PIVOT;
  self->root = apr_double_doubles_new (self->n, self->n, run);
  self->solutions = apr_double_doubles_new (self->n_right, self->n, run);
  proven = u.high != NULL && self->root.high != NULL && self->solutions.high != NULL &&
           read_products (u, design, run) &&
           apr_double_doubles_factorise (u, self->n, design->n_columns, limits, self->kernel, &of_factors) &&
           invert (self->root, u, self->n, self->kernel, run) && is_proven (self);
  if (proven)
    {
      solve (self, u);
      for (target = 0; target < self->n_targets; target++)
        find_residual (self, u, design, target);
    }
  apr_double_doubles_free (&u);

  return proven;
}

typedef struct
{
  AprInverse *inverse;
  const AprRun *run;
  gint n_tiles;
  gint next; /* (atomic) */
} Square;

/* A tile of TILE_ROWS rows, and all columns before their end. */
static void
square_tiles (gpointer data, gsize part, gsize n_parts)
{
  Square *square = data;
  AprInverse *self = square->inverse;
  AprDoubleDoubles sums = apr_double_doubles_new (TILE_ROWS, TILE_COLUMNS, square->run);
  gint tile;

  while (sums.high != NULL && (tile = g_atomic_int_add (&square->next, 1)) < square->n_tiles)
    {
      gsize row = (gsize) tile * TILE_ROWS;
      gsize end = MIN (row + TILE_ROWS, self->n);
      gsize column;

      for (column = 0; column < end && !apr_run_is_cancelled (square->run); column += TILE_COLUMNS)
        {
          gsize n_columns = MIN (end - column, TILE_COLUMNS);
          gsize i;
          gsize j;
          gsize k;

          for (i = 0; i < TILE_ROWS; i++)
            for (j = 0; j < TILE_COLUMNS; j++)
              apr_double_doubles_set (sums, i, j, (AprDoubleDouble){ 0, 0 });
          /* Above its diagonal the root has zeros. */
          for (k = row / BLOCK * BLOCK; k < self->n; k += BLOCK)
            self->kernel->subtract_products (sums, apr_double_doubles_at (self->root, k, row),
                                             apr_double_doubles_at (self->root, k, column), end - row,
                                             apr_double_doubles_pad (n_columns), MIN (BLOCK, self->n - k));
          for (i = row; i < end; i++)
            for (j = column; j <= i && j < column + n_columns; j++)
              self->inverse[apr_triangle (i, j)] = -sums.high[(i - row) * sums.stride + j - column];
        }
    }
  apr_double_doubles_free (&sums);
}

gboolean
apr_inverse_square_root (AprInverse *self, const AprRun *run)
{
  Square square = { self, run, (gint) ((self->n + TILE_ROWS - 1) / TILE_ROWS) };
  double n = (double) self->n;

  self->inverse = apr_run_new_pages (run, apr_triangle (self->n, 0), sizeof *self->inverse, FALSE);
  if (self->inverse == NULL)
    return FALSE;
  apr_parallel_run (square_tiles, &square, run->n_threads, n * n * n / 3);
  apr_run_report (run, 0.95);

  return !apr_run_is_cancelled (run);
}
