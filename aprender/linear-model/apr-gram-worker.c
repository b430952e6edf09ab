/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-gram-worker-private.h"

#include <math.h>
#include <string.h>

/* Exponents that begin a column's scale change seldom when they are rounded up to a multiple of this. */
#define EXPONENT_STEP 4
#define NO_EXPONENT (-(1 << 20))

/* Sums of a block are below 2^54 units, so those of this many still fit in 63 bits. */
#define MAX_BLOCKS 256

/* Columns that are multiplied with each other while they are in the cache. */
#define TILE 32

/* A factor of the products: the columns, and behind them strips. A strip holds those values of a column that are too small
 * beside the column's greatest one to be summed with them; it has a scale of its own and belongs to the same entries. */
typedef struct
{
  double *values; /* (owned) n_allocated columns, APR_GRAM_STRIDE apart */
  gsize *owner;   /* (owned) which column of the matrix each belongs to */
  gint *offset;   /* (owned) the values, as they were put here, times 2^offset are the true ones */
  gint *
    exponent; /* (owned) the true values are below 2^exponent; once scaled, times it they are the true ones */
  gint *running; /* (owned) of the columns: the exponent that stands since the last flush */
  gint *wanted;  /* (owned) of the columns: that of this block */
  gsize n;
  gsize n_allocated;
} Factor;

struct _AprGramWorker
{
  const AprGramKernel *kernel; /* (unowned) */
  gsize n_columns;
  gsize n_parts;
  double least;
  Factor right;
  Factor left;     /* the weighted columns; not used without weights */
  double *weights; /* (owned) (nullable) */
  gint64 *sums;    /* (owned) n_parts for each entry, in units of the running exponents */
  guint n_blocks;  /* in the sums */
  GArray *terms;   /* (owned) (element-type AprGramTerm) */
};

static double *
columns_new (gsize n)
{
  return g_aligned_alloc0 (n * APR_GRAM_STRIDE, sizeof (double), 64);
}

static void
factor_init (Factor *self, gsize n_columns)
{
  gsize i;

  /* One more, so that columns can be taken two by two. */
  self->n = n_columns;
  self->n_allocated = n_columns + n_columns / 4 + 4;
  self->values = columns_new (self->n_allocated + 1);
  self->owner = g_new0 (gsize, self->n_allocated + 1);
  self->offset = g_new0 (gint, self->n_allocated + 1);
  self->exponent = g_new0 (gint, self->n_allocated + 1);
  self->running = g_new (gint, n_columns);
  self->wanted = g_new (gint, n_columns);
  for (i = 0; i < n_columns; i++)
    {
      self->owner[i] = i;
      self->running[i] = NO_EXPONENT;
    }
}

static void
factor_clear (Factor *self)
{
  g_aligned_free (self->values);
  g_free (self->owner);
  g_free (self->offset);
  g_free (self->exponent);
  g_free (self->running);
  g_free (self->wanted);
}

static double *
factor_get (const Factor *self, gsize index)
{
  return self->values + index * APR_GRAM_STRIDE;
}

/* A new strip of @owner; what factor_get () returned before is no longer valid. */
static gsize
factor_add_strip (Factor *self, gsize owner, gint offset)
{
  if (self->n == self->n_allocated)
    {
      double *values;

      self->n_allocated *= 2;
      values = columns_new (self->n_allocated + 1);
      memcpy (values, self->values, self->n * APR_GRAM_STRIDE * sizeof (double));
      g_aligned_free (self->values);
      self->values = values;
      self->owner = g_renew (gsize, self->owner, self->n_allocated + 1);
      self->offset = g_renew (gint, self->offset, self->n_allocated + 1);
      self->exponent = g_renew (gint, self->exponent, self->n_allocated + 1);
    }
  self->owner[self->n] = owner;
  self->offset[self->n] = offset;

  return self->n++;
}

AprGramWorker *
apr_gram_worker_new (const AprGramKernel *kernel, gsize n_columns, gboolean narrow, gboolean weighted)
{
  AprGramWorker *self = g_new0 (AprGramWorker, 1);

  self->kernel = kernel;
  self->n_columns = n_columns;
  self->n_parts = narrow && !weighted ? 2 : APR_GRAM_PARTS;
  self->least = narrow && !weighted ? APR_GRAM_NARROW_LEAST : APR_GRAM_WIDE_LEAST;
  factor_init (&self->right, n_columns);
  if (weighted)
    {
      factor_init (&self->left, n_columns);
      self->weights = columns_new (1);
    }
  self->sums = g_new0 (gint64, n_columns * (n_columns + 1) / 2 * self->n_parts);
  self->terms = g_array_new (FALSE, FALSE, sizeof (AprGramTerm));

  return self;
}

void
apr_gram_worker_free (AprGramWorker *self)
{
  factor_clear (&self->right);
  if (self->weights != NULL)
    {
      factor_clear (&self->left);
      g_aligned_free (self->weights);
    }
  g_free (self->sums);
  g_array_unref (self->terms);
  g_free (self);
}

double *
apr_gram_worker_get_column (AprGramWorker *self, gsize column)
{
  return factor_get (&self->right, column);
}

double *
apr_gram_worker_get_weights (AprGramWorker *self)
{
  return self->weights;
}

GArray *
apr_gram_worker_get_terms (AprGramWorker *self)
{
  return self->terms;
}

static gsize
packed_index (gsize row, gsize column)
{
  return row * (row + 1) / 2 + column;
}

/* Turns the sums into terms, in the scales that have stood until now. */
void
apr_gram_worker_finish (AprGramWorker *self)
{
  const Factor *left = self->weights != NULL ? &self->left : &self->right;
  gint64 *sum = self->sums;
  gsize row;
  gsize column;
  gsize part;

  for (row = 0; row < self->n_columns && self->n_blocks > 0; row++)
    for (column = 0; column <= row; column++)
      for (part = 0; part < self->n_parts; part++, sum++)
        {
          AprGramTerm term = { packed_index (row, column), *sum,
                               left->running[row] + self->right.running[column] + apr_gram_unit[part] };

          if (*sum != 0)
            g_array_append_val (self->terms, term);
          *sum = 0;
        }
  self->n_blocks = 0;
}

static gint
round_up (gint exponent)
{
  return (exponent + (1 << 20)) / EXPONENT_STEP * EXPONENT_STEP + EXPONENT_STEP - (1 << 20);
}

/* Finds the exponents that the columns of a block want; false where there is a NaN or an infinity. */
static gboolean
measure_columns (AprGramWorker *self, Factor *factor, gsize n_rows, double *leasts)
{
  gsize i;

  for (i = 0; i < self->n_columns; i++)
    {
      double greatest;
      gint exponent;

      if (!self->kernel->find_range (factor_get (factor, i), n_rows, &greatest, &leasts[i]) ||
          isinf (greatest))
        return FALSE;

      factor->wanted[i] = factor->running[i];
      if (greatest == 0)
        continue;
      (void) frexp (greatest, &exponent);
      exponent += factor->offset[i];
      if (exponent > factor->running[i])
        factor->wanted[i] = round_up (exponent);
    }

  return TRUE;
}

/* A new scale makes other units: the sums in the old ones must go first. */
static gboolean
takes_new_scale (const AprGramWorker *self, const Factor *factor)
{
  return memcmp (factor->wanted, factor->running, self->n_columns * sizeof (gint)) != 0;
}

/* Multiplies by 2^@exponent. One factor cannot always do it. */
static void
scale_column (AprGramWorker *self, double *column, gsize n_rows, gint exponent)
{
  while (exponent != 0)
    {
      gint step = CLAMP (exponent, -1000, 1000);

      self->kernel->scale (column, n_rows, ldexp (1.0, step));
      exponent -= step;
    }
}

/* Scales column or strip @index, whose least value is @least, after what is too small for the scale has been moved
 * to a strip behind all others. */
static void
scale_or_split (AprGramWorker *self, Factor *factor, gsize index, double least, gsize n_rows)
{
  gint exponent = factor->exponent[index] - factor->offset[index];
  double limit = ldexp (self->least, exponent);

  if (least < limit)
    {
      double *strip =
        factor_get (factor, factor_add_strip (factor, factor->owner[index], factor->offset[index]));
      double *column = factor_get (factor, index);
      gsize row;

      for (row = 0; row < n_rows; row++)
        {
          gboolean small = fabs (column[row]) < limit;

          strip[row] = small ? column[row] : 0;
          column[row] = small ? 0 : column[row];
        }
    }

  scale_column (self, factor_get (factor, index), n_rows, -exponent);
}

static void
scale_factor (AprGramWorker *self, Factor *factor, gsize n_rows, const double *leasts)
{
  gsize i;

  for (i = 0; i < self->n_columns; i++)
    {
      factor->running[i] = factor->wanted[i];
      factor->exponent[i] = factor->running[i];
      if (factor->running[i] != NO_EXPONENT)
        scale_or_split (self, factor, i, leasts[i], n_rows);
    }

  /* A strip may be split again, until none is left. */
  for (i = self->n_columns; i < factor->n; i++)
    {
      double greatest;
      double least;

      (void) self->kernel->find_range (factor_get (factor, i), n_rows, &greatest, &least);
      (void) frexp (greatest, &factor->exponent[i]);
      factor->exponent[i] += factor->offset[i];
      scale_or_split (self, factor, i, least, n_rows);
    }
}

/* Fills the left factor with the products of the weights and the right one's values, each as two doubles. */
static void
weigh (AprGramWorker *self, gsize n_rows)
{
  double greatest;
  double least;
  gint exponent;
  gsize i;
  gsize row;

  (void) self->kernel->find_range (self->weights, n_rows, &greatest, &least);
  (void) frexp (greatest, &exponent);
  scale_column (self, self->weights, n_rows, -exponent);

  self->left.n = self->n_columns;
  for (i = 0; i < self->right.n; i++)
    {
      gint offset = exponent + self->right.exponent[i];
      gsize owner = self->right.owner[i];
      gsize high_index = i < self->n_columns ? i : factor_add_strip (&self->left, owner, offset);
      gsize low_index = factor_add_strip (&self->left, owner, offset);
      double *high = factor_get (&self->left, high_index);
      double *low = factor_get (&self->left, low_index);
      const double *column = factor_get (&self->right, i);
      gboolean any = FALSE;

      self->left.offset[high_index] = offset;
      for (row = 0; row < n_rows; row++)
        {
          high[row] = self->weights[row] * column[row];
          low[row] = fma (self->weights[row], column[row], -high[row]);
          any |= low[row] != 0;
        }
      if (!any)
        self->left.n--;
    }
}

static void
add_products (AprGramWorker *self, const Factor *left, gsize l, gsize r, gint64 sums[4][APR_GRAM_PARTS])
{
  const Factor *right = &self->right;
  gsize i;
  gsize part;

  for (i = 0; i < 4; i++)
    {
      gsize x = l + i / 2;
      gsize y = r + i % 2;
      gsize entry;

      if (x >= left->n || y >= right->n || left->owner[x] < right->owner[y])
        continue;
      entry = packed_index (left->owner[x], right->owner[y]);

      for (part = 0; part < self->n_parts; part++)
        if (x < self->n_columns && y < self->n_columns)
          self->sums[entry * self->n_parts + part] += sums[i][part];
        else if (sums[i][part] != 0)
          {
            AprGramTerm term = { entry, sums[i][part],
                                 left->exponent[x] + right->exponent[y] + apr_gram_unit[part] };

            g_array_append_val (self->terms, term);
          }
    }
}

static gsize
greatest_owner (const Factor *factor, gsize i)
{
  return i + 1 < factor->n ? MAX (factor->owner[i], factor->owner[i + 1]) : factor->owner[i];
}

static gsize
least_owner (const Factor *factor, gsize i)
{
  return i + 1 < factor->n ? MIN (factor->owner[i], factor->owner[i + 1]) : factor->owner[i];
}

static void
multiply (AprGramWorker *self, gsize n_rows)
{
  const Factor *left = self->weights != NULL ? &self->left : &self->right;
  const Factor *right = &self->right;
  gint64 sums[4][APR_GRAM_PARTS];
  gsize tile_l;
  gsize tile_r;
  gsize l;
  gsize r;

  for (tile_l = 0; tile_l < left->n; tile_l += TILE)
    for (tile_r = 0; tile_r < right->n; tile_r += TILE)
      for (l = tile_l; l < MIN (tile_l + TILE, left->n); l += 2)
        for (r = tile_r; r < MIN (tile_r + TILE, right->n); r += 2)
          {
            const double *const columns[2] = { factor_get (left, l), factor_get (left, l + 1) };
            const double *const others[2] = { factor_get (right, r), factor_get (right, r + 1) };

            if (greatest_owner (left, l) < least_owner (right, r))
              continue;
            if (self->n_parts == 2)
              self->kernel->multiply_narrow (columns, others, n_rows, sums);
            else
              self->kernel->multiply_wide (columns, others, n_rows, sums);
            add_products (self, left, l, r, sums);
          }
}

/* The column behind the last is multiplied with, too, where their number is odd; its products are not looked at, but
 * must not leave the accumulators' binade. */
static void
clear_last (Factor *factor)
{
  memset (factor_get (factor, factor->n), 0, APR_GRAM_STRIDE * sizeof (double));
}

gboolean
apr_gram_worker_add_block (AprGramWorker *self, gsize n_rows)
{
  g_autofree double *leasts = g_new (double, self->n_columns);
  g_autofree double *left_leasts = g_new (double, self->n_columns);
  gsize n_padded = (n_rows + APR_GRAM_MAX_LANES - 1) / APR_GRAM_MAX_LANES * APR_GRAM_MAX_LANES;
  gboolean flush = self->n_blocks >= MAX_BLOCKS;
  gsize i;
  gsize row;

  g_assert (n_rows <= self->kernel->n_rows);

  for (row = n_rows; row < n_padded; row++)
    {
      for (i = 0; i < self->n_columns; i++)
        factor_get (&self->right, i)[row] = 0;
      if (self->weights != NULL)
        self->weights[row] = 0;
    }

  self->right.n = self->n_columns;
  if (!measure_columns (self, &self->right, n_padded, leasts))
    return FALSE;

  if (flush || takes_new_scale (self, &self->right))
    apr_gram_worker_finish (self);
  scale_factor (self, &self->right, n_padded, leasts);
  clear_last (&self->right);

  if (self->weights != NULL)
    {
      weigh (self, n_padded);
      (void) measure_columns (self, &self->left, n_padded, left_leasts);
      if (takes_new_scale (self, &self->left))
        apr_gram_worker_finish (self);
      scale_factor (self, &self->left, n_padded, left_leasts);
      clear_last (&self->left);
    }

  multiply (self, n_padded);
  self->n_blocks++;
  return TRUE;
}
