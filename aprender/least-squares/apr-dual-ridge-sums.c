/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-dual-ridge-sums-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-parallel-private.h"
#include "aprender/least-squares/apr-dual-private.h"

/* Features that are looked at together. */
#define BATCH 64

/* Batches whose products are summed by themselves, so that errors do not grow with the number of all. */
#define BATCHES_PER_SUM 4

/* The same where products are summed in twice the precision. The first level of the cache holds so few features. */
#define TWICE_BATCH 32
#define TWICE_BATCHES_PER_SUM 8

/* The batches of a part are counted once for both. */
G_STATIC_ASSERT (BATCH *BATCHES_PER_SUM == TWICE_BATCH * TWICE_BATCHES_PER_SUM);

/* Values that are compared before anything follows from them. */
#define AT_ONCE 8

double
apr_dual_ridge_find_norm (const double *values, gsize n)
{
  double sum = 0;
  gsize i;

  for (i = 0; i < n; i++)
    sum += values[i] * values[i];

  return sqrt (sum) * (1 + 0x1p-30);
}

/* Subtracts the first of @n values, which P loses, from all of them where no difference is rounded: where none is less
 * than half of it, or more than twice as much (P. H. Sterbenz, "Floating-point computation", 1974). Returns what was
 * subtracted. */
static double
shift_values (double *values, gsize n)
{
  double shift = values[0];
  double least = MIN (shift / 2, shift * 2);
  double most = MAX (shift / 2, shift * 2);
  gsize n_first = MIN (AT_ONCE, n);
  gboolean near = TRUE;
  gsize j;

  /* Which of the first values is not near cannot be foreseen, but that there is one can. */
  for (j = 0; j < n_first; j++)
    near &= (values[j] >= least) & (values[j] <= most);
  if (!near)
    return 0;

  for (j = n_first; j < n; j++)
    if (!(values[j] >= least && values[j] <= most))
      return 0;
  for (j = 0; j < n; j++)
    values[j] -= shift;

  return shift;
}

void
apr_dual_ridge_read_feature (const AprDualRidge *self, gsize feature, double *values)
{
  apr_dual_read_feature (self->rows, feature, self->kernel, values);
  if (self->centred)
    values[self->n] = shift_values (values, self->n);
}

/* Reads features from @*feature on into rows of @block, which are padded with zeros; returns how many. */
static gsize
read_batch (
  const AprDualRidge *self, gsize *feature, gsize end, double *block, gsize *features, gsize max_rows)
{
  gsize n_rows = 0;

  for (; *feature < end && n_rows < max_rows; (*feature)++)
    if (!self->excluded[*feature])
      {
        features[n_rows] = *feature;
        apr_dual_ridge_read_feature (self, *feature, block + n_rows++ * self->stride);
      }

  return n_rows;
}

/* Some parts of sums over all features, each by itself. */
typedef struct
{
  const AprDualRidge *self;
  gsize n_batches;        /* of BATCH features in a part, at most */
  double *products;       /* (owned) (nullable) of each part, K */
  const double *u;        /* (unowned) */
  double norm;            /* of it */
  AprDoubleDouble *twice; /* (owned) (nullable) of each part, K u */
  double *squares;        /* (owned) (nullable) of each part, of X'u */

  /* Of each feature: */
  AprDoubleDouble *of_features; /* (unowned) (nullable) X'u */
  double *norms;                /* (unowned) (nullable) */
} Sums;

/* products -= X'X on and above the diagonal, and in some entries beside it. Few features have anything subtracted from
 * them: products with that, in the last row, are added feature by feature. What K is on one processor or another does
 * not matter: the error is bounded. */
static void
subtract_batch (const AprDualRidge *self, double *products, const double *block, gsize n_rows)
{
  gsize stride = self->stride;
  gsize step = self->kernel->fused_step;
  gsize end_column = (self->n + step - 1) / step * step;
  gsize i;

  for (i = 0; i < self->n; i += step)
    self->kernel->subtract_products_fused (products + i * stride + i, stride, block + i, stride, block + i,
                                           stride, MIN (step, self->n - i), end_column - i, n_rows);
  for (i = 0; i < n_rows && self->centred; i++)
    if (block[i * stride + self->n] != 0)
      self->kernel->subtract_scaled (products + self->n * stride, block + i * stride,
                                     block[i * stride + self->n], self->width);
}

/* Moves them to @to. */
static void
move_products (const AprDualRidge *self, double *to, double *products)
{
  gsize i;

  for (i = 0; i < self->width; i++)
    {
      gsize begin = i < self->n ? i / APR_DENSE_STEP * APR_DENSE_STEP : 0;
      gsize place = i * self->stride + begin;

      self->kernel->subtract_scaled (to + place, products + place, 1, self->stride - begin);
      memset (products + place, 0, (self->stride - begin) * sizeof *products);
    }
}

static void
sum_products (gpointer data, gsize part, gsize n_parts)
{
  Sums *sums = data;
  const AprDualRidge *self = sums->self;
  gsize size = self->width * self->stride;
  double *block = g_aligned_alloc0 (BATCH * self->stride, sizeof *block, 64);
  double *products = g_aligned_alloc0 (size, sizeof *products, 64);
  double *to = sums->products + part * size;
  gsize n_batches = 0;
  gsize feature = self->rows->n_features * part / n_parts;
  gsize end = self->rows->n_features * (part + 1) / n_parts;
  gsize features[BATCH];
  gsize n_rows;

  while (!apr_run_is_cancelled (self->run) &&
         (n_rows = read_batch (self, &feature, end, block, features, BATCH)) > 0)
    {
      subtract_batch (self, products, block, n_rows);
      if (++n_batches % BATCHES_PER_SUM == 0)
        move_products (self, to, products);
    }
  move_products (self, to, products);
  g_aligned_free (block);
  g_aligned_free (products);
}

/* Finds the norms of some features in @block, and bounds what is summed of their products, by rows and by columns. */
static void
bound_batch (const Sums *sums,
             const double *block,
             const gsize *features,
             gsize n_rows,
             double sizes[TWICE_BATCH],
             double *norms)
{
  const AprDualRidge *self = sums->self;
  double squares = 0;
  double shift_squares = 0;
  gsize i;

  for (i = 0; i < n_rows; i++)
    {
      const double *row = block + i * self->stride;
      double norm = sqrt (self->kernel->dot (row, row, self->n)) * (1 + 0x1p-30);

      sums->norms[features[i]] = norm;
      norm = MAX (norm, APR_DUAL_RIDGE_MIN_NORM);
      sizes[i] = norm * sums->norm;
      squares += norm * norm;
      if (self->centred)
        shift_squares += row[self->n] * row[self->n];
    }
  for (i = 0; i < self->stride; i++)
    norms[i] = sqrt (squares);
  if (self->centred)
    norms[self->n] = MAX (sqrt (shift_squares), APR_DUAL_RIDGE_MIN_NORM);
}

/* Moves what is in @high and @low to @to. */
static void
move_sums (AprDoubleDouble *to, gsize n, double *high, double *low)
{
  gsize j;

  for (j = 0; j < n; j++)
    {
      to[j] = apr_dd_add (to[j], apr_dd_two_sum (high[j], low[j]));
      high[j] = low[j] = 0;
    }
}

static void
sum_residual (gpointer data, gsize part, gsize n_parts)
{
  Sums *sums = data;
  const AprDualRidge *self = sums->self;
  double *block = g_aligned_alloc0 (TWICE_BATCH * self->stride, sizeof *block, 64);
  double *high = g_aligned_alloc0 (3 * self->stride, sizeof *high, 64);
  double *low = high + self->stride;
  double *norms = low + self->stride;
  AprDoubleDouble *to = sums->twice + part * self->width;
  gsize feature = self->rows->n_features * part / n_parts;
  gsize end = self->rows->n_features * (part + 1) / n_parts;
  double sizes[TWICE_BATCH];
  double products[2 * TWICE_BATCH];
  gsize features[TWICE_BATCH];
  gsize n_batches = 0;
  gsize n_rows;
  gsize i;

  while (!apr_run_is_cancelled (self->run) &&
         (n_rows = read_batch (self, &feature, end, block, features, TWICE_BATCH)) > 0)
    {
      bound_batch (sums, block, features, n_rows, sizes, norms);
      sums->squares[part] += self->kernel->add_products_twice (block, n_rows, self->stride, sums->u, sizes,
                                                               norms, products, high, low);
      for (i = 0; i < n_rows; i++)
        sums->of_features[features[i]] = (AprDoubleDouble){ products[i], products[n_rows + i] };
      if (++n_batches % TWICE_BATCHES_PER_SUM == 0)
        move_sums (to, self->width, high, low);
    }
  move_sums (to, self->width, high, low);
  g_aligned_free (block);
  g_aligned_free (high);
}

/* Returns the number of parts, @max_parts at most. */
static guint
plan (const AprDualRidge *self, double n_operations, guint max_parts, Sums *sums)
{
  guint n_parts =
    MIN (apr_parallel_count (self->run->n_threads, n_operations / APR_PARALLEL_OPERATIONS), max_parts);

  sums->self = self;
  sums->n_batches = self->rows->n_features / n_parts / BATCH + 2;

  return n_parts;
}

void
apr_dual_ridge_multiply_samples (AprDualRidge *self)
{
  double n = (double) self->n;
  double p = (double) self->rows->n_features;
  Sums sums = { 0 };
  /* Each part has two matrices of its own: all take three times the memory of the samples in double, at most. */
  guint n_parts = plan (self, n * n * p / 8, 1 + (guint) MIN (p / n, 1000), &sums);
  gsize size = self->width * self->stride;
  gsize n_roundings;
  gsize i;
  gsize j;

  sums.products = apr_run_new_doubles (self->run, n_parts, size);
  if (sums.products == NULL)
    return;
  apr_parallel_run_parts (sum_products, &sums, n_parts, n_parts);
  for (i = 1; i < n_parts; i++)
    self->kernel->subtract_scaled (sums.products, sums.products + i * size, -1, size);
  self->products = sums.products;
  for (i = 0; i < self->n; i++)
    for (j = 0; j < i; j++)
      self->products[i * self->stride + j] = self->products[j * self->stride + i];
  self->shift_products = g_new0 (double, self->n);
  for (i = 0; i < self->n && self->centred; i++)
    {
      self->shift_products[i] = self->products[self->n * self->stride + i];
      self->products[i * self->stride + self->n] = 0;
    }
  self->shift_size = self->centred ? sqrt (self->products[self->n * self->stride + self->n] * 1.01) : 0;

  self->trace = 0;
  for (i = 0; i < self->n; i++)
    self->trace += self->products[i * self->stride + i];
  self->trace *= 1.01;
  /* Of each entry, so many roundings of sums of absolute values, which the diagonal bounds; one of them is only of
   * what was subtracted, whose products are rounded. */
  n_roundings = BATCHES_PER_SUM * BATCH + sums.n_batches / BATCHES_PER_SUM + n_parts + 3;
  self->error = 1.01 * (double) n_roundings * APR_DUAL_RIDGE_UNIT * self->trace;
  self->shift_error = self->error * self->shift_size / sqrt (self->trace);
}

double
apr_dual_ridge_bound_product_error (const AprDualRidge *self)
{
  double n = (double) self->stride;

  return 2.2 * n * (n / APR_DENSE_PAD + 10) * APR_DUAL_RIDGE_UNIT * APR_DUAL_RIDGE_UNIT;
}

void
apr_dual_ridge_multiply (const AprDualRidge *self,
                         const double *u,
                         double norm,
                         AprDoubleDouble *sums,
                         AprDoubleDouble *of_features,
                         double *norms,
                         AprDualRidgeSize *size)
{
  double n = (double) self->n;
  double p = (double) self->rows->n_features;
  Sums parts = { .u = u, .norm = norm, .of_features = of_features, .norms = norms };
  guint n_parts = plan (self, 8 * n * p, G_MAXUINT, &parts);
  double squares = 0;
  double of_batches;
  gsize n_moves;
  gsize i;
  gsize part;

  parts.squares = g_new0 (double, n_parts);
  parts.twice = g_new0 (AprDoubleDouble, n_parts * self->width);
  apr_parallel_run_parts (sum_residual, &parts, n_parts, n_parts);
  *size = (AprDualRidgeSize){ .n_parts = n_parts };
  memcpy (sums, parts.twice, self->width * sizeof *sums);
  for (part = 0; part < n_parts; part++)
    {
      const AprDoubleDouble *twice = parts.twice + part * self->width;

      squares += parts.squares[part];
      for (i = 0; i < self->width && part > 0; i++)
        sums[i] = apr_dd_add (sums[i], twice[i]);
      for (i = 0; i < self->n; i++)
        size->sum += fabs (twice[i].high);
    }
  g_free (parts.squares);
  g_free (parts.twice);

  /* Of X'u; and of X times it, with adding the batches up. */
  of_batches = 3.1 * (TWICE_BATCH + 3) * (TWICE_BATCH + 3) +
               7 * (TWICE_BATCHES_PER_SUM + 1) * (TWICE_BATCH + TWICE_BATCHES_PER_SUM);
  n_moves = parts.n_batches / BATCHES_PER_SUM + n_parts + 1;
  size->error = apr_dual_ridge_bound_product_error (self) * sqrt (self->trace) * norm +
                1.1 * (of_batches * sqrt (n) + 8 * (double) n_moves) * APR_DUAL_RIDGE_UNIT *
                  APR_DUAL_RIDGE_UNIT * sqrt (squares) * (1 + 0x1p-20);
}
