/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-dual-ridge-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-double-double-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/least-squares/apr-dual-private.h"
#include "aprender/least-squares/apr-dual-ridge-sums-private.h"
#include "aprender/least-squares/apr-rounding-private.h"

/* The dual form with a penalty, (K + alpha I) u + a = y, without exact products.
 *
 * With an intercept, the sum of u is 0, and P is what takes the mean away; without one, P is the identity. K is summed
 * in double, which gives a first u, rounded to few bits that sum to exactly 0. Its residual r = P (y - alpha u - K u),
 * with K u = X (X'u) in twice the precision of doubles, gives a correction d, rounded likewise. Where the eigenvalues
 * of P (K + alpha I) P on the range of P are at least m, the error of u + d has a norm of at most
 *
 *   |r - P (K + alpha I) d| / m,
 *
 * and as d is small, this is known from K in double. So each coefficient X'(u + d) for which this error leaves one
 * value only is rounded to nearest, for certain; X'u is known from the residual. With an intercept, features whose
 * values are far from 0 are taken about that of the first sample, so that an offset takes no digits. The residual takes
 * time in proportion to the data, exact products take as much for each sample.
 *
 * Bounds are those of N. J. Higham, "Accuracy and stability of numerical algorithms", 2002, chapters 3 and 4, with room
 * for the rounding of the bounds themselves. */

/* All sizes are between these, so that nothing underflows that is of any size beside the errors. */
#define MIN_SIZE 0x1p-100
#define MAX_SIZE 0x1p100

/* A correction must be as small as this beside u, and the error of the sum as this. */
#define MAX_CORRECTION 0x1p-20
#define MAX_ERROR 0x1p-45

/* Whole numbers that are exact in double, and their sums in 64 bits. */
#define GRID_BITS 50
#define MAX_SAMPLES 4096

/* P K P */
static void
centre (AprDualRidge *self)
{
  gsize n = self->n;
  g_autofree double *means = g_new (double, n);
  double mean = 0;
  gsize i;
  gsize j;

  for (i = 0; i < n; i++)
    {
      means[i] = self->sums[i] / (double) n;
      mean += means[i];
    }
  mean /= (double) n;
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      self->products[i * self->stride + j] -= means[i] + means[j] - mean;
}

/* Factorises K + alpha I, and bounds its eigenvalues as apr-rank does; FALSE where cancelled. */
static gboolean
factorise (AprDualRidge *self, double size)
{
  gsize n = self->n;
  double ridge =
    self->centred ? self->trace / (double) n : 0; /* for vectors of the same numbers, which P loses */
  double max = 0;
  double scale;
  double shift;
  double bound = 0;
  g_auto (AprCholesky) shifted = { NULL };
  g_autofree double *zeros = g_new0 (double, n);
  g_autofree gsize *positions = g_new (gsize, n);
  gsize i;
  gsize j;

  if (!apr_cholesky_init (&self->cholesky, n, self->run) || !apr_cholesky_init (&shifted, n, self->run))
    return FALSE;
  for (i = 0; i < n; i++)
    max = MAX (max, self->products[i * self->stride + i] + self->alpha + ridge / (double) n);
  (void) frexp (max, &self->exponent);
  scale = ldexp (1, -self->exponent);
  for (i = 0; i < n; i++)
    for (j = i; j < n; j++)
      {
        double value = self->products[i * self->stride + j] + ridge / (double) n;

        self->cholesky.rows[i * self->cholesky.stride + j] = (i == j ? value + self->alpha : value) * scale;
      }
  memcpy (shifted.rows, self->cholesky.rows, n * shifted.stride * sizeof (double));
  if (apr_cholesky_factorise (&self->cholesky, zeros, positions, self->run) < n ||
      apr_run_is_cancelled (self->run))
    return FALSE;

  shift = apr_cholesky_estimate_min_eigenvalue (&self->cholesky) / 2;
  for (i = 0; i < n; i++)
    shifted.rows[i * shifted.stride + i] -= shift;
  if (apr_cholesky_factorise (&shifted, zeros, positions, self->run) == n)
    bound = shift - apr_cholesky_bound_error (&shifted) - 4 * APR_DUAL_RIDGE_UNIT;
  bound = 0.999 * ldexp (bound, self->exponent) - self->error -
          8 * APR_DUAL_RIDGE_UNIT * (size + sqrt ((double) n) * self->alpha + ridge);
  self->min_eigenvalue = MAX (bound, self->alpha);

  return TRUE;
}

gboolean
apr_dual_ridge_init (AprDualRidge *self,
                     const AprSampleRows *rows,
                     const AprLeastSquaresOptions *options,
                     const gboolean *excluded,
                     const AprRun *run)
{
  double n = (double) rows->n;
  double size;
  gsize i;
  gsize j;

  *self = (AprDualRidge){ .rows = rows,
                          .excluded = excluded,
                          .run = run,
                          .centred = options->fit_intercept,
                          .alpha = options->alpha,
                          .n = rows->n,
                          .kernel = apr_dense_kernel_choose (),
                          .width = rows->n + (options->fit_intercept ? 1 : 0) };
  self->stride = apr_dense_pad (self->width);
  if (rows->weights != NULL || rows->n > MAX_SAMPLES ||
      !(options->alpha > MIN_SIZE && options->alpha < MAX_SIZE))
    return FALSE;

  apr_dual_ridge_multiply_samples (self);
  if (apr_run_is_cancelled (run) || !(self->trace > MIN_SIZE && self->trace < MAX_SIZE) ||
      self->shift_size > MAX_SIZE)
    return FALSE;

  self->sums = g_new0 (double, self->n);
  size = apr_dual_ridge_find_norm (self->products, self->n * self->stride);
  self->size = size;
  for (i = 0; i < self->n; i++)
    for (j = 0; j < self->n; j++)
      self->sums[i] += self->products[i * self->stride + j];
  self->sums_error = sqrt (n) * (self->error + (n + 2) * APR_DUAL_RIDGE_UNIT * size);
  if (self->centred)
    {
      centre (self);
      self->error += 4 * (n + 8) * APR_DUAL_RIDGE_UNIT * size;
    }

  return factorise (self, size);
}

void
apr_dual_ridge_clear (AprDualRidge *self)
{
  g_clear_pointer (&self->products, g_free);
  g_clear_pointer (&self->sums, g_free);
  g_clear_pointer (&self->shift_products, g_free);
  apr_cholesky_clear (&self->cholesky);
}

/* Rounds @values to whole numbers times a power of two; where centred, their sum is 0. Returns FALSE where all are
 * 0. */
static gboolean
round_to_grid (const AprDualRidge *self, double *values, gint64 *numbers, gint *unit)
{
  gint64 n = (gint64) self->n;
  double max = 0;
  gint64 sum = 0;
  gint64 i;

  for (i = 0; i < n; i++)
    max = MAX (max, fabs (values[i]));
  if (max == 0)
    return FALSE;

  (void) frexp (max, unit);
  *unit -= GRID_BITS;
  for (i = 0; i < n; i++)
    {
      numbers[i] = (gint64) rint (ldexp (values[i], -*unit));
      sum += numbers[i];
    }
  for (i = 0; i < n; i++)
    {
      if (self->centred)
        numbers[i] -= sum / n + (i < ABS (sum % n) ? (sum > 0 ? 1 : -1) : 0);
      values[i] = ldexp ((double) numbers[i], *unit);
    }

  return TRUE;
}

/* What is known of u. */
typedef struct
{
  const AprDualRidge *self;
  AprDualVector u;
  double norm;           /* of the first u */
  AprDoubleDouble *rest; /* (owned) y - alpha u - K u, with the first u; later r */
  AprDoubleDouble mean;  /* of that, which P loses */
  double rest_error;     /* of it */
  AprDoubleDouble shift; /* the sum of what was subtracted from features, times X'u with the first u */
  double shift_error;    /* of it */
  double *correction;    /* (owned) */
  double error;          /* of the sum of both */

  /* Of each feature, X'u with the first u, and its norm, without what was subtracted: */
  AprDoubleDouble *products; /* (owned) */
  double *norms;             /* (owned) */
  double first_error;        /* of such a product as a coefficient, times the norm */
  double corrected_error;    /* the same with the correction */

  AprDType dtype;
  double *coefficients; /* (unowned) */
  gint n_open;          /* atomic */
} Solving;

static void
solving_clear (Solving *solving)
{
  apr_dual_vector_clear (&solving->u);
  g_clear_pointer (&solving->rest, g_free);
  g_clear_pointer (&solving->correction, g_free);
  g_clear_pointer (&solving->products, g_free);
  g_clear_pointer (&solving->norms, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Solving, solving_clear)

static void
find_rest (Solving *solving, const double *y, const double *u)
{
  const AprDualRidge *self = solving->self;
  double n = (double) self->n;
  g_autofree AprDoubleDouble *sums = g_new (AprDoubleDouble, self->width);
  AprDualRidgeSize size;
  AprDoubleDouble sum = { 0 };
  gsize i;

  apr_dual_ridge_multiply (self, u, solving->norm, sums, solving->products, solving->norms, &size);
  for (i = 0; i < self->n; i++)
    {
      AprDoubleDouble rest = apr_dd_subtract ((AprDoubleDouble){ y[i], 0 }, sums[i]);

      rest = apr_dd_subtract (rest, apr_dd_multiply_double ((AprDoubleDouble){ u[i], 0 }, self->alpha));
      solving->rest[i] = rest;
      sum = apr_dd_add (sum, rest);
    }
  if (self->centred)
    {
      solving->shift = sums[self->n];
      solving->mean = apr_dd_divide (sum, (AprDoubleDouble){ n, 0 });
      for (i = 0; i < self->n; i++)
        solving->rest[i] = apr_dd_subtract (solving->rest[i], solving->mean);
    }

  /* Of K u, and of what is done here. */
  solving->rest_error = size.error * sqrt (self->trace) +
                        (n + size.n_parts + 16) * 8 * APR_DUAL_RIDGE_UNIT * APR_DUAL_RIDGE_UNIT *
                          (apr_dual_ridge_find_norm (y, self->n) + self->alpha * solving->norm + size.sum);
  solving->shift_error = size.error * self->shift_size;
}

/* Finds the correction, and the error of the sum; returns FALSE where that is no use. */
static gboolean
correct (Solving *solving, gint64 *numbers, gint *unit)
{
  const AprDualRidge *self = solving->self;
  double n = (double) self->n;
  double *d = solving->correction;
  g_autofree double *rest = g_new (double, self->n);
  double product_error = apr_dual_ridge_bound_product_error (self) * solving->norm;
  double norm;
  double d_norm;
  gsize i;

  for (i = 0; i < self->n; i++)
    {
      rest[i] = solving->rest[i].high;
      d[i] = ldexp (rest[i], -self->exponent);
    }
  norm = apr_dual_ridge_find_norm (rest, self->n);
  apr_cholesky_solve (&self->cholesky, d);
  if (!round_to_grid (self, d, numbers, unit))
    return FALSE;

  for (i = 0; i < self->n; i++)
    rest[i] -= self->alpha * d[i] + self->kernel->dot (self->products + i * self->stride, d, self->n);
  d_norm = apr_dual_ridge_find_norm (d, self->n);
  solving->error =
    1.01 *
    (apr_dual_ridge_find_norm (rest, self->n) + solving->rest_error +
     d_norm * (self->error + (n + 5) * APR_DUAL_RIDGE_UNIT * (self->size + 2 * self->error + self->alpha)) +
     3 * APR_DUAL_RIDGE_UNIT * norm) /
    self->min_eigenvalue;
  solving->first_error = 1.1 * (d_norm + solving->error + product_error);
  solving->corrected_error = 1.1 * (solving->error + product_error + (n + 2) * APR_DUAL_RIDGE_UNIT * d_norm);

  return d_norm < MAX_CORRECTION * solving->norm && solving->error < MAX_ERROR * solving->norm;
}

/* The product with u is known already. That with the correction is so small that few floats need it, and seldom are
 * both not enough. */
static gboolean
round_feature (const Solving *solving, gsize feature, double *values, double *rounded)
{
  const AprDualRidge *self = solving->self;
  AprDoubleDouble product = solving->products[feature];
  double norm = solving->norms[feature];

  if (norm > APR_DUAL_RIDGE_MIN_NORM &&
      apr_round_bounds (product.high, product.low, norm * solving->first_error, 0, solving->dtype, rounded))
    return TRUE;

  apr_dual_ridge_read_feature (self, feature, values);
  product =
    apr_dd_add (product, (AprDoubleDouble){ self->kernel->dot (values, solving->correction, self->n), 0 });
  if (norm > APR_DUAL_RIDGE_MIN_NORM &&
      apr_round_bounds (product.high, product.low, norm * solving->corrected_error, 0, solving->dtype,
                        rounded))
    return TRUE;

  return apr_dual_vector_round (&solving->u, values, solving->dtype, rounded);
}

static void
round_some (gpointer data, gsize part, gsize n_parts)
{
  Solving *solving = data;
  const AprDualRidge *self = solving->self;
  gsize n_features = self->rows->n_features;
  g_autofree double *values = g_new (double, self->stride);
  gsize end = n_features * (part + 1) / n_parts;
  gsize i;

  for (i = n_features * part / n_parts;
       i < end && g_atomic_int_get (&solving->n_open) == 0 && !apr_run_is_cancelled (self->run); i++)
    if (!self->excluded[i] && !round_feature (solving, i, values, &solving->coefficients[i]))
      g_atomic_int_inc (&solving->n_open);
}

/* The mean of y - X X'(u + d), with X before anything was subtracted from it: that of the rest, in which the sum of
 * alpha u is 0, less that of K d, and less the products of what was subtracted. */
static gboolean
round_intercept (const Solving *solving, AprDType dtype, double *intercept)
{
  const AprDualRidge *self = solving->self;
  double n = (double) self->n;
  double d_norm = apr_dual_ridge_find_norm (solving->correction, self->n);
  double sums_norm = apr_dual_ridge_find_norm (self->sums, self->n);
  double shift_norm = apr_dual_ridge_find_norm (self->shift_products, self->n);
  double of_sums = self->kernel->dot (self->sums, solving->correction, self->n) / n;
  double of_shift = self->kernel->dot (self->shift_products, solving->correction, self->n);
  AprDoubleDouble mean =
    apr_dd_subtract (apr_dd_subtract (solving->mean, solving->shift), apr_dd_two_sum (of_sums, of_shift));
  double error =
    1.01 * ((self->sums_error / n + self->shift_error +
             (n + 5) * APR_DUAL_RIDGE_UNIT * (sums_norm / n + shift_norm)) *
              d_norm +
            (sums_norm / n + self->sums_error / n + shift_norm + self->shift_error) * solving->error) +
    solving->rest_error + solving->shift_error +
    (fabs (solving->mean.high) + fabs (solving->shift.high) + fabs (mean.high)) * 0x1p-100;
  gint size;
  gint exponent;
  gboolean certain;
  mpz_t number;
  mpz_t low;

  (void) frexp (mean.high, &size);
  (void) frexp (error, &exponent);
  mpz_init_set_d (number, ldexp (mean.high, 120 - size));
  mpz_init_set_d (low, ldexp (mean.low, 120 - size));
  mpz_add (number, number, low);
  /* Below its 120 bits, the mean has less than the error has. */
  certain = apr_round_leading_integer (number, size - 120, exponent + 1, dtype, intercept);
  mpz_clear (number);
  mpz_clear (low);

  return certain;
}

gboolean
apr_dual_ridge_solve (
  const AprDualRidge *self, gsize target, AprDType dtype, double *coefficients, double *intercept)
{
  const double *y = self->rows->y + target * self->n;
  gsize n = self->n;
  double size = apr_dual_ridge_find_norm (y, n);
  g_auto (Solving) solving = { .self = self, .dtype = dtype, .coefficients = coefficients };
  g_autofree double *u = g_new0 (double, self->stride);
  g_autofree gint64 *numbers = g_new (gint64, n);
  g_autofree gint64 *corrections = g_new (gint64, n);
  gint unit;
  gint unit_of_corrections;
  double mean = 0;
  mpz_t correction;
  gsize i;

  if (!(size > MIN_SIZE && size < MAX_SIZE))
    return FALSE;

  for (i = 0; i < n && self->centred; i++)
    mean += y[i] / (double) n;
  for (i = 0; i < n; i++)
    u[i] = ldexp (y[i] - mean, -self->exponent);
  apr_cholesky_solve (&self->cholesky, u);
  if (!round_to_grid (self, u, numbers, &unit))
    return FALSE;

  solving.norm = apr_dual_ridge_find_norm (u, n);
  solving.rest = g_new (AprDoubleDouble, n);
  solving.correction = g_new (double, n);
  solving.products = g_new (AprDoubleDouble, self->rows->n_features);
  solving.norms = g_new (double, self->rows->n_features);
  find_rest (&solving, y, u);
  if (apr_run_is_cancelled (self->run) || !correct (&solving, corrections, &unit_of_corrections))
    return FALSE;

  apr_dual_vector_init (&solving.u, n);
  mpz_init (correction);
  for (i = 0; i < n; i++)
    {
      mpz_set_si (solving.u.numbers[i], numbers[i]);
      mpz_mul_2exp (solving.u.numbers[i], solving.u.numbers[i], (mp_bitcnt_t) (unit - unit_of_corrections));
      mpz_set_si (correction, corrections[i]);
      mpz_add (solving.u.numbers[i], solving.u.numbers[i], correction);
    }
  mpz_clear (correction);
  solving.u.exponent = unit_of_corrections;
  solving.u.error = apr_floor_log2 (solving.error) + 1;
  apr_dual_vector_lead (&solving.u);
  if (self->centred && !round_intercept (&solving, dtype, intercept))
    return FALSE;

  apr_parallel_run (round_some, &solving, self->run->n_threads,
                    (double) self->rows->n_features * (dtype == APR_DTYPE_F32 ? 32 : 2 * (double) n));

  return solving.n_open == 0 && !apr_run_is_cancelled (self->run);
}
