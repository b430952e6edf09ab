/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-double-doubles-private.h"

#include <float.h>
#include <math.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/base/apr-power-private.h"

#define BLOCK APR_DOUBLE_DOUBLES_BLOCK
#define TILE_ROWS 32
#define TILE_COLUMNS 256

AprDoubleDouble
apr_dd_from_integer (const mpz_t value, gint64 exponent)
{
  gsize n = mpz_size (value);
  unsigned __int128 top;
  guint64 rest;
  double sign;
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

  /* The upper half as a double, cut off, leaves a rest that is exact but for the bits beyond its own 53. Nothing
   * branches on signs and bits that follow no pattern, as a processor would guess them wrong. */
  rest = (guint64) (top >> 11);
  sign = mpz_sgn (value); /* Never 0: GCOVR_EXCL_BR_LINE */
  high = (double) (gint64) (top >> 75) * sign * 0x1p64;
  low = ((double) (gint64) (rest >> 32) * 0x1p32 + (double) (gint64) (rest & G_MAXUINT32)) * sign;
  exponent += (gint64) n * 64 - n_zeros - 117;
  /* Then neither leaves the range of normal doubles. */
  if (exponent > -900 && exponent < 800)
    {
      double factor = apr_power_of_two ((gint) exponent);

      return apr_dd_quick_sum (high * factor, low * factor);
    }
  exponent = CLAMP (exponent, -4 * DBL_MAX_EXP, 4 * DBL_MAX_EXP);

  return apr_dd_quick_sum (ldexp (high, (int) exponent), ldexp (low, (int) exponent));
}

AprDoubleDoubles
apr_double_doubles_new (gsize n_rows, gsize n_columns, const AprRun *run)
{
  AprDoubleDoubles self = { NULL };

  /* An odd number of cache lines, so that the rows of a column are not in each other's way. */
  self.stride = (n_columns + APR_DOUBLE_DOUBLE_PAD - 1) / APR_DOUBLE_DOUBLE_PAD;
  self.stride = (self.stride | 1) * APR_DOUBLE_DOUBLE_PAD;
  self.high = apr_run_new_pages (run, n_rows, self.stride * sizeof (double), TRUE);
  self.low = apr_run_new_pages (run, n_rows, self.stride * sizeof (double), TRUE);
  if (self.high == NULL || self.low == NULL)
    apr_double_doubles_free (&self);

  return self;
}

void
apr_double_doubles_free (AprDoubleDoubles *self)
{
  g_clear_pointer (&self->high, apr_pages_free);
  g_clear_pointer (&self->low, apr_pages_free);
}

/* Returns a number whose unit is 2^-@scale, with an error below 2^-104, where its magnitude is below 4; sets bits of
 * @too_large and returns 0 where it is not. */
static AprDoubleDouble
get_double_double (const mp_limb_t *limbs, gint64 n_limbs, gint64 scale, guint64 *too_large)
{
  unsigned __int128 value = apr_limbs_get_part (limbs, n_limbs, scale - 124);
  gint64 top = (gint64) (value >> 64);
  guint64 above = 0;
  double high;
  double rest;

  /* This tells whether it is below 4. What is not might be rounded to 2^63, which is no 64-bit integer. */
  (void) apr_limbs_get_double (limbs, n_limbs, scale, &above);
  *too_large |= above;
  if (above != 0)
    return (AprDoubleDouble){ 0 };

  high = (double) top;
  rest = (double) (top - (gint64) high);
  return apr_dd_quick_sum (high * 0x1p-60,
                           rest * 0x1p-60 + (double) (gint64) ((guint64) value >> 1) * 0x1p-123);
}

typedef struct
{
  AprDoubleDoubles to;
  gsize n;
  const AprProducts *products;
  const gsize *columns;
  const gint64 *scales;
  const AprRun *run;
  gint too_large; /* (atomic) */
} Reading;

/* Some columns, so many that what is written fills lines of the cache, in the order of the triangle. */
static void
read_columns (gpointer data, gsize part, gsize n_parts G_GNUC_UNUSED)
{
  Reading *self = data;
  const AprProducts *products = self->products;
  gsize first = part * APR_DOUBLE_DOUBLE_PAD;
  gsize end = MIN (first + APR_DOUBLE_DOUBLE_PAD, self->n);
  guint64 too_large = 0;
  gsize i;
  gsize j;

  for (i = 0; i < end && !apr_run_is_cancelled (self->run); i++)
    for (j = MAX (i, first); j < end; j++)
      apr_double_doubles_set (
        self->to, i, j,
        get_double_double (apr_products_get (products, self->columns[j], self->columns[i]),
                           (gint64) products->n_limbs, self->scales[i] + self->scales[j], &too_large));
  if (too_large != 0)
    g_atomic_int_set (&self->too_large, TRUE);
}

gboolean
apr_double_doubles_read (AprDoubleDoubles self,
                         gsize n,
                         const AprProducts *products,
                         const gsize *columns,
                         const gint64 *scales,
                         const AprRun *run)
{
  Reading reading = { self, n, products, columns, scales, run };
  double n_operations = 40.0 * (double) n * (double) n / 2;

  apr_parallel_run_parts (read_columns, &reading,
                          apr_parallel_count (run->n_threads, n_operations / APR_PARALLEL_OPERATIONS),
                          (n + APR_DOUBLE_DOUBLE_PAD - 1) / APR_DOUBLE_DOUBLE_PAD);

  return !reading.too_large && !apr_run_is_cancelled (run);
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

/* Begins with the rows from @first_row to @end_row, and k from @k to @end_k. */
static void
start_update (Update *self, gsize first_row, gsize end_row, gsize k, gsize end_k)
{
  gsize n_row_tiles = (end_row - first_row + TILE_ROWS - 1) / TILE_ROWS;

  self->first_row = first_row;
  self->end_row = end_row;
  self->k = k;
  self->end_k = end_k;
  self->n_column_tiles = (self->end_column + TILE_COLUMNS - 1) / TILE_COLUMNS;
  self->n_tiles = (gint) (n_row_tiles * self->n_column_tiles);
  self->next = 0;
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
  Update self = { .run = run,
                  .kernel = kernel,
                  .c = c,
                  .a = a,
                  .b = b,
                  .upper = upper,
                  .end_column = apr_double_doubles_pad (n_columns) };

  start_update (&self, first_row, end_row, k, end_k);
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

/* Right-looking, block by block of rows: the triangle on the diagonal, which is little work, then the columns beside
 * it, and all rows below them. */
typedef struct
{
  AprDoubleDoubles u;
  gsize n;
  gsize n_columns; /* padded */
  const double *limits;
  const AprDoubleDoubleKernel *kernel;
  const AprRun *run;
  GThread *caller; /* which reports */
  Update update;
  gint failed; /* (atomic) */
} Factorisation;

/* Finishes columns of a row from those above it in its block, but for the division by its root. */
static void
finish_row (const Factorisation *self, gsize block, gsize row, gsize first, gsize end)
{
  self->kernel->subtract_products (
    apr_double_doubles_at (self->u, row, first), apr_double_doubles_at (self->u, block, row),
    apr_double_doubles_at (self->u, block, first), 1, end - first, row - block);
}

static gboolean
factorise_corner (const Factorisation *self, gsize block, gsize end, gsize end_column)
{
  gsize row;

  for (row = block; row < end && !apr_run_is_cancelled (self->run); row++)
    {
      gsize first = row & ~(gsize) (APR_DOUBLE_DOUBLE_PAD - 1);
      AprDoubleDouble root;

      finish_row (self, block, row, first, end_column);
      root = apr_double_doubles_get (self->u, row, row);
      if (!(root.high > self->limits[row]))
        return FALSE;
      root = dd_sqrt (root);
      self->kernel->scale (apr_double_doubles_at (self->u, row, first), apr_dd_invert (root),
                           end_column - first);
      apr_double_doubles_set (self->u, row, row, root);
    }

  return !apr_run_is_cancelled (self->run);
}

/* Some of the columns beside the corner. */
static void
finish_columns (const Factorisation *self, gsize block, gsize end, gsize first, gsize end_column)
{
  gsize row;

  for (row = block; row < end && first < end_column; row++)
    {
      finish_row (self, block, row, first, end_column);
      self->kernel->scale (apr_double_doubles_at (self->u, row, first),
                           apr_dd_invert (apr_double_doubles_get (self->u, row, row)), end_column - first);
    }
}

static void
factorise_together (AprTeam *team, gpointer data, gsize part)
{
  Factorisation *self = data;
  gsize n_parts = (gsize) team->n_parts;
  gsize block;

  for (block = 0; block < self->n; block += BLOCK)
    {
      gsize end = MIN (block + BLOCK, self->n);
      gsize corner = apr_double_doubles_pad (end);
      gsize n_pads = (self->n_columns - corner) / APR_DOUBLE_DOUBLE_PAD;

      if (part == 0)
        {
          start_update (&self->update, end, self->n, block, end);
          g_atomic_int_set (&self->failed, !factorise_corner (self, block, end, corner));
        }
      apr_team_barrier (team);
      if (g_atomic_int_get (&self->failed))
        return;

      finish_columns (self, block, end, corner + part * n_pads / n_parts * APR_DOUBLE_DOUBLE_PAD,
                      corner + (part + 1) * n_pads / n_parts * APR_DOUBLE_DOUBLE_PAD);
      apr_team_barrier (team);
      update_tiles (&self->update, part, n_parts);
      apr_team_barrier (team);
      if (self->caller == g_thread_self ())
        apr_run_report (self->run, (double) end / (double) self->n);
    }
}

gboolean
apr_double_doubles_factorise (AprDoubleDoubles u,
                              gsize n,
                              gsize n_columns,
                              const double *limits,
                              const AprDoubleDoubleKernel *kernel,
                              const AprRun *run)
{
  gsize n_padded = apr_double_doubles_pad (n_columns);
  Factorisation self = { u, n, n_padded, limits, kernel, run, g_thread_self () };

  self.update =
    (Update){ .run = run, .kernel = kernel, .c = u, .a = u, .b = u, .upper = TRUE, .end_column = n_padded };
  apr_team_run (factorise_together, &self, run->n_threads, (double) n * (double) n * (double) n_columns / 3);

  return !self.failed && !apr_run_is_cancelled (run);
}
