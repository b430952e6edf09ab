/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-ldlt-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/least-squares/apr-cholesky-private.h"
#include "aprender/least-squares/apr-double-doubles-private.h"
#include "aprender/least-squares/apr-scaled-products-private.h"

struct _AprLdlt
{
  gsize *independent; /* (owned) */
  gsize n_independent;
  gsize *dependent; /* (owned) */
  gsize n_dependent;
  gssize negative; /* the first dependent column with a clearly negative Schur complement, or -1 */
  gint64 *scale;   /* (owned) by position */

  /* By position, U of U'U, with U' in the lower triangle; or, in longer numbers, the packed lower triangle of L, with D
   * in place of the unit diagonal. */
  AprDoubleDoubles doubles; /* (owned) (nullable) */
  const AprDoubleDoubleKernel *kernel;
  mpf_t *numbers; /* (owned) (nullable) */
  gsize n_numbers;
  gint64 precision;

  gint64 inverse_bits;
};

/* Of 106 bits, each operation loses two to rounding. */
#define DOUBLE_DOUBLE_PRECISION 104

/* A pivot above DOUBTFUL of its diagonal is certainly above the rank tolerance. The bound on the inverse must show
 * this of smaller ones; below HOPELESS it cannot. */
#define DOUBTFUL 0x1p-40
#define HOPELESS 0x1p-64

/* A correction must reduce the error by at least 2^MIN_GAIN. */
#define MIN_GAIN 12

/* The first precision that is tried; and the bits that are needed beyond those of the square of the bound on the
 * inverse, which is how much a backward error may grow in a pivot: more than those of the smallest rank tolerance, (4
 * u)^2 = 2^-102. */
#define FIRST_PRECISION 256
#define SPARE_PRECISION 160

/* The same beyond the bound on the inverse, where no pivot is compared with a tolerance and the factors only serve to
 * correct. */
#define SPARE_FOR_CORRECTIONS 72

void
apr_number_from_integer (mpf_t number, const mpz_t value, gint64 exponent)
{
  mpf_set_z (number, value);
  if (exponent >= 0)
    mpf_mul_2exp (number, number, (mp_bitcnt_t) exponent);
  else
    mpf_div_2exp (number, number, (mp_bitcnt_t) -exponent);
}

static mpf_t *
numbers_new (gsize n, gint64 precision)
{
  mpf_t *numbers = g_new (mpf_t, n);
  gsize i;

  for (i = 0; i < n; i++)
    mpf_init2 (numbers[i], (mp_bitcnt_t) precision);

  return numbers;
}

static void
numbers_free (mpf_t *numbers, gsize n)
{
  gsize i;

  for (i = 0; i < n; i++)
    mpf_clear (numbers[i]);
  g_free (numbers);
}

static gint64
bits_of (gsize n)
{
  return (gint64) g_bit_storage (n);
}

/* Returns the exponent of the backward error, relative to the largest entry. */
static gint64
rounding_bits (const AprLdlt *self)
{
  return 2 * bits_of (self->n_independent) + 8 - self->precision;
}

/* Bounds the inverse by those of the factors. Of U'U, U'^-1 is computed, in double; in longer numbers, |L^-1| is
 * bounded by the inverse of the comparison matrix of L, which has no cancellation. */
static gboolean
bound_inverse_of_doubles (AprLdlt *self, const AprRun *run)
{
  gsize n = self->n_independent;
  const AprCholesky factor = { apr_dense_kernel_choose (), n, self->doubles.stride, self->doubles.high };
  g_auto (AprCholesky) inverse = { NULL }; /* lower triangular */
  g_autofree double *column_sums = g_new0 (double, n);
  double max_row = 0;
  double max_column = 0;
  gsize i;
  gsize j;

  apr_cholesky_init (&inverse, n);
  apr_cholesky_invert (&factor, inverse.rows, inverse.stride, run);
  for (i = 0; i < n; i++)
    {
      const double *row = inverse.rows + i * inverse.stride;
      double sum = 0;

      for (j = 0; j <= i; j++)
        {
          sum += fabs (row[j]);
          column_sums[j] += fabs (row[j]);
        }
      max_row = MAX (max_row, sum);
    }
  for (j = 0; j < n; j++)
    max_column = MAX (max_column, column_sums[j]);

  /* Each norm doubled, to cover its own rounding, which is small as long as the norms are. */
  if (!(max_row * max_column < 0x1p60) || apr_run_is_cancelled (run))
    return FALSE;
  self->inverse_bits = (gint64) ceil (log2 (MAX (max_row * max_column, 1))) + 2;

  return TRUE;
}

static void
bound_inverse_of_numbers (AprLdlt *self, const AprRun *run)
{
  gsize n = self->n_independent;
  mpf_t *sums = g_new (mpf_t, n);
  mpf_t max_row;
  mpf_t max_column;
  mpf_t max_pivot;
  mpf_t term;
  signed long exponents[3];
  gsize i;
  gsize j;

  mpf_init2 (max_row, 64);
  mpf_init2 (max_column, 64);
  mpf_init2 (max_pivot, 64);
  mpf_init2 (term, 64);
  for (i = 0; i < n; i++)
    mpf_init2 (sums[i], 64);

  for (i = 0; i < n && !apr_run_is_cancelled (run); i++)
    {
      mpf_set_ui (sums[i], 1);
      for (j = 0; j < i; j++)
        {
          mpf_abs (term, self->numbers[apr_triangle (i, j)]);
          mpf_mul (term, term, sums[j]);
          mpf_add (sums[i], sums[i], term);
        }
      if (mpf_cmp (sums[i], max_row) > 0)
        mpf_set (max_row, sums[i]);
      mpf_ui_div (term, 1, self->numbers[apr_triangle (i, i)]);
      if (mpf_cmp (term, max_pivot) > 0)
        mpf_set (max_pivot, term);
    }
  for (i = n; i-- > 0 && !apr_run_is_cancelled (run);)
    {
      mpf_set_ui (sums[i], 1);
      for (j = i + 1; j < n; j++)
        {
          mpf_abs (term, self->numbers[apr_triangle (j, i)]);
          mpf_mul (term, term, sums[j]);
          mpf_add (sums[i], sums[i], term);
        }
      if (mpf_cmp (sums[i], max_column) > 0)
        mpf_set (max_column, sums[i]);
    }

  (void) mpf_get_d_2exp (&exponents[0], max_row);
  (void) mpf_get_d_2exp (&exponents[1], max_column);
  (void) mpf_get_d_2exp (&exponents[2], max_pivot);
  self->inverse_bits = n > 0 ? exponents[0] + exponents[1] + exponents[2] + 3 : 0;

  for (i = 0; i < n; i++)
    mpf_clear (sums[i]);
  g_free (sums);
  mpf_clears (max_row, max_column, max_pivot, term, NULL);
}

static gint64
scale_of (mpz_t *matrix, gsize column)
{
  return (gint64) mpz_sizeinbase (matrix[apr_triangle (column, column)], 2) / 2;
}

/* A solution is exact for a matrix with a small backward error, whose effect the bound on the inverse limits. */
gint64
apr_ldlt_get_contraction (const AprLdlt *self)
{
  return self->inverse_bits + rounding_bits (self);
}

/* Reads the columns at the positions, and finds below which limits pivots are hopeless, and doubtful. */
static gboolean
read_doubles (AprLdlt *self,
              const AprProducts *products,
              double rank_tolerance,
              double *limits,
              double *doubts,
              const AprRun *run)
{
  gsize n = self->n_independent;
  gsize i;

  self->doubles = apr_double_doubles_new (n, n);
  if (!apr_double_doubles_read (self->doubles, n, products, self->independent, self->scale, run))
    return FALSE;
  for (i = 0; i < n; i++)
    {
      double whole = apr_double_doubles_get (self->doubles, i, i).high;

      limits[i] = MAX (HOPELESS, 2 * rank_tolerance) * whole;
      doubts[i] = DOUBTFUL * whole;
    }

  return TRUE;
}

/* Returns FALSE where a pivot is in doubt, or the factors are not accurate enough to correct with. */
static gboolean
factorise_in_doubles (AprLdlt *self,
                      const AprProducts *products,
                      const gboolean *excluded,
                      double rank_tolerance,
                      const AprRun *run)
{
  gsize n = products->n_features;
  g_autofree double *limits = g_new (double, n);
  g_autofree double *doubts = g_new (double, n);
  gboolean doubtful = FALSE;
  gsize i;
  gsize j;

  self->precision = DOUBLE_DOUBLE_PRECISION;
  self->kernel = apr_double_double_kernel_choose ();
  self->n_independent = 0;
  for (i = 0; i < n; i++)
    if (!excluded[i])
      {
        self->scale[self->n_independent] = apr_products_get_scale (products, i);
        self->independent[self->n_independent++] = i;
      }

  n = self->n_independent;
  if (!read_doubles (self, products, rank_tolerance, limits, doubts, run) ||
      !apr_double_doubles_factorise (self->doubles, n, n, limits, self->kernel, run))
    return FALSE;
  for (i = 0; i < n; i++)
    {
      double root = apr_double_doubles_get (self->doubles, i, i).high;

      doubtful = doubtful || root * root <= doubts[i];
      for (j = 0; j < i; j++)
        apr_double_doubles_set (self->doubles, i, j, apr_double_doubles_get (self->doubles, j, i));
    }

  if (!bound_inverse_of_doubles (self, run))
    return FALSE;
  if (apr_ldlt_get_contraction (self) > -MIN_GAIN) /* GCOVR_EXCL_BR_LINE: only with a thousand columns */
    return FALSE;                                  /* GCOVR_EXCL_LINE: see above */

  /* A Schur complement is at least the smallest eigenvalue, which rounding has hardly changed where the contraction is
   * good. The diagonal is below 2. */
  return !doubtful || ldexp (1, (gint) -self->inverse_bits) > 4 * rank_tolerance;
}

static void
clear_numbers (AprLdlt *self)
{
  numbers_free (g_steal_pointer (&self->numbers), self->n_numbers);
  self->n_numbers = 0;
}

static void
append_row (AprLdlt *self)
{
  gsize end = apr_triangle (self->n_independent, 0) + self->n_independent + 1;

  self->numbers = g_renew (mpf_t, self->numbers, end);
  while (self->n_numbers < end)
    mpf_init2 (self->numbers[self->n_numbers++], (mp_bitcnt_t) self->precision);
}

/* Without a rank tolerance, this ends at the first column that depends on those before it. */
static void
factorise_in_numbers (AprLdlt *self,
                      mpz_t *matrix,
                      gsize n,
                      const gboolean *excluded,
                      double rank_tolerance,
                      gint64 precision,
                      const AprRun *run)
{
  mpf_t *unscaled = g_new (mpf_t, n);
  mpf_t pivot;
  mpf_t limit;
  mpf_t product;
  mpf_t factor;
  gsize column;
  gsize i;
  gsize j;

  clear_numbers (self);
  self->precision = precision;
  self->n_independent = 0;
  self->n_dependent = 0;
  self->negative = -1;
  mpf_init2 (pivot, (mp_bitcnt_t) precision);
  mpf_init2 (limit, (mp_bitcnt_t) precision);
  mpf_init2 (product, (mp_bitcnt_t) precision);
  mpf_init2 (factor, 64);
  mpf_set_d (factor, rank_tolerance);
  for (i = 0; i < n; i++)
    mpf_init2 (unscaled[i], (mp_bitcnt_t) precision);

  for (column = 0; column < n && !apr_run_is_cancelled (run); column++)
    {
      gsize position = self->n_independent;
      gint64 scale = scale_of (matrix, column);
      mpf_t *row;

      if (excluded[column])
        continue;

      append_row (self);
      row = self->numbers + apr_triangle (position, 0);
      apr_number_from_integer (pivot, matrix[apr_triangle (column, column)], -2 * scale);
      mpf_mul (limit, pivot, factor);
      for (i = 0; i < position; i++)
        {
          mpf_t *other = self->numbers + apr_triangle (i, 0);

          if (apr_run_is_cancelled (run))
            break;
          apr_number_from_integer (unscaled[i], matrix[apr_triangle (column, self->independent[i])],
                                   -(scale + self->scale[i]));
          for (j = 0; j < i; j++)
            {
              mpf_mul (product, unscaled[j], other[j]);
              mpf_sub (unscaled[i], unscaled[i], product);
            }
          mpf_div (row[i], unscaled[i], other[i]);
          mpf_mul (product, unscaled[i], row[i]);
          mpf_sub (pivot, pivot, product);
        }

      if (mpf_cmp (pivot, limit) <= 0)
        {
          self->dependent[self->n_dependent++] = column;
          mpf_neg (limit, limit);
          if (self->negative < 0 && (rank_tolerance == 0 || mpf_cmp (pivot, limit) < 0))
            self->negative = (gssize) column;
          if (rank_tolerance == 0)
            break;
          continue;
        }

      mpf_set (row[position], pivot);
      self->scale[position] = scale;
      self->independent[position] = column;
      self->n_independent++;
    }

  for (i = 0; i < n; i++)
    mpf_clear (unscaled[i]);
  g_free (unscaled);
  mpf_clears (pivot, limit, product, factor, NULL);
  bound_inverse_of_numbers (self, run);
}

/* Returns a precision with which no pivot of a definite matrix can be taken for 0: each is a ratio of two
 * determinants, whole numbers between 1 and the product of the diagonal, and so are its factors. With a penalty none is
 * below 1. */
static gint64
find_max_precision (mpz_t *matrix, gsize n, const gboolean *excluded, gboolean penalised)
{
  gint64 bits = 0;
  gsize i;

  for (i = 0; i < n; i++)
    if (!excluded[i])
      {
        gint64 own_bits = (gint64) mpz_sizeinbase (matrix[apr_triangle (i, i)], 2);

        bits = penalised ? MAX (bits, own_bits) : bits + 4 * own_bits;
      }

  return FIRST_PRECISION + bits;
}

AprLdlt *
apr_ldlt_new (const AprProducts *products, const gboolean *excluded, double rank_tolerance, const AprRun *run)
{
  AprLdlt *self = g_new0 (AprLdlt, 1);
  gsize n = products->n_features;
  gint64 precision = FIRST_PRECISION;
  gint64 max_precision;
  mpz_t *matrix;
  mp_limb_t *limbs;

  self->independent = g_new (gsize, n);
  self->dependent = g_new (gsize, n);
  self->scale = g_new (gint64, n);
  self->negative = -1;

  if (factorise_in_doubles (self, products, excluded, rank_tolerance, run))
    return self;

  apr_double_doubles_free (&self->doubles);
  matrix = apr_products_copy (products, &limbs, run);
  max_precision = find_max_precision (matrix, n, excluded, products->penalised);
  for (;;)
    {
      gint64 needed;

      factorise_in_numbers (self, matrix, n, excluded, rank_tolerance, precision, run);
      needed = 2 * bits_of (n) + (rank_tolerance > 0 ? 2 * self->inverse_bits + SPARE_PRECISION
                                                     : self->inverse_bits + SPARE_FOR_CORRECTIONS);
      /* Where the rank tolerance is 0, products of samples are definite, and a dependent column shows a lack of
       * precision; but a file may hold products that no samples have. */
      if (rank_tolerance == 0 && self->n_dependent > 0)
        needed = MIN (2 * precision, max_precision);
      if (needed <= precision || apr_run_is_cancelled (run))
        break;
      precision = needed + (rank_tolerance > 0 ? FIRST_PRECISION : SPARE_FOR_CORRECTIONS);
    }
  apr_pages_free (matrix);
  apr_pages_free (limbs);

  return self;
}

AprLdlt *
apr_ldlt_new_long (mpz_t *matrix, gsize n, gint64 max_precision, const AprRun *run)
{
  g_autoptr (AprLdlt) self = g_new0 (AprLdlt, 1);
  g_autofree gboolean *excluded = g_new0 (gboolean, n);
  gint64 precision = FIRST_PRECISION;

  self->independent = g_new (gsize, n);
  self->dependent = g_new (gsize, n);
  self->scale = g_new (gint64, n);
  while (precision <= max_precision && !apr_run_is_cancelled (run))
    {
      gint64 needed;

      factorise_in_numbers (self, matrix, n, excluded, 0, precision, run);
      needed = 2 * self->inverse_bits + 2 * bits_of (n) + SPARE_PRECISION;
      if (self->n_dependent == 0 && needed <= precision)
        return apr_run_is_cancelled (run) ? NULL : g_steal_pointer (&self);
      precision = self->n_dependent > 0 ? 2 * precision : needed + FIRST_PRECISION;
    }

  return NULL;
}

void
apr_ldlt_free (AprLdlt *self)
{
  clear_numbers (self);
  apr_double_doubles_free (&self->doubles);
  g_free (self->independent);
  g_free (self->dependent);
  g_free (self->scale);
  g_free (self);
}

const gsize *
apr_ldlt_get_independent (AprLdlt *self, gsize *n_independent)
{
  *n_independent = self->n_independent;

  return self->independent;
}

const gsize *
apr_ldlt_get_dependent (AprLdlt *self, gsize *n_dependent)
{
  *n_dependent = self->n_dependent;

  return self->dependent;
}

gboolean
apr_ldlt_find_negative (AprLdlt *self, gsize *column)
{
  *column = (gsize) self->negative;

  return self->negative >= 0;
}

const mpf_t *
apr_ldlt_get_numbers (const AprLdlt *self)
{
  return (const mpf_t *) self->numbers;
}

const gint64 *
apr_ldlt_get_scales (AprLdlt *self)
{
  return self->scale;
}

gint64
apr_ldlt_get_inverse_bits (AprLdlt *self)
{
  return self->inverse_bits;
}

/* x[j] -= factor row[j] */
static void
subtract_row (
  const AprLdlt *self, AprDoubleDoubles x, AprDoubleDouble factor, gsize row, gsize first, gsize end)
{
  AprDoubleDoubles multiplier = { &factor.high, &factor.low, 1 };
  gsize n_columns = (end - first) / APR_DOUBLE_DOUBLE_PAD * APR_DOUBLE_DOUBLE_PAD;
  gsize j;

  self->kernel->subtract_products (apr_double_doubles_at (x, 0, first), multiplier,
                                   apr_double_doubles_at (self->doubles, row, first), 1, n_columns, 1);
  for (j = first + n_columns; j < end; j++)
    apr_double_doubles_set (
      x, 0, j,
      apr_dd_subtract (apr_double_doubles_get (x, 0, j),
                       apr_dd_multiply (factor, apr_double_doubles_get (self->doubles, row, j))));
}

static void
solve_in_doubles (const AprLdlt *self, AprDoubleDoubles x)
{
  gsize n = self->n_independent;
  gsize i;

  for (i = 0; i < n; i++)
    {
      AprDoubleDouble value =
        apr_dd_divide (apr_double_doubles_get (x, 0, i), apr_double_doubles_get (self->doubles, i, i));

      apr_double_doubles_set (x, 0, i, value);
      subtract_row (self, x, value, i, i + 1, n);
    }
  for (i = n; i-- > 0;)
    {
      AprDoubleDouble value =
        apr_dd_divide (apr_double_doubles_get (x, 0, i), apr_double_doubles_get (self->doubles, i, i));

      apr_double_doubles_set (x, 0, i, value);
      subtract_row (self, x, value, i, 0, i);
    }
}

void
apr_ldlt_solve_numbers (const AprLdlt *self, mpf_t *x, const AprRun *run)
{
  gsize n = self->n_independent;
  mpf_t *factor = self->numbers;
  mpf_t product;
  gsize i;
  gsize j;

  mpf_init2 (product, (mp_bitcnt_t) self->precision);
  for (i = 0; i < n && !apr_run_is_cancelled (run); i++)
    for (j = 0; j < i; j++)
      {
        mpf_mul (product, factor[apr_triangle (i, j)], x[j]);
        mpf_sub (x[i], x[i], product);
      }
  for (i = 0; i < n && !apr_run_is_cancelled (run); i++)
    mpf_div (x[i], x[i], factor[apr_triangle (i, i)]);
  for (i = n; i-- > 0 && !apr_run_is_cancelled (run);)
    for (j = i + 1; j < n; j++)
      {
        mpf_mul (product, factor[apr_triangle (j, i)], x[j]);
        mpf_sub (x[i], x[i], product);
      }
  mpf_clear (product);
}

/* Writes @numbers 2^-e to @x. Returns: e, with which none is above 1 */
static gint64
take_doubles (mpf_t *numbers, gsize n, double *x)
{
  gint64 exponent = 0;
  signed long own_exponent;
  gboolean any = FALSE;
  gsize i;

  for (i = 0; i < n; i++)
    if (mpf_sgn (numbers[i]) != 0)
      {
        (void) mpf_get_d_2exp (&own_exponent, numbers[i]);
        exponent = any ? MAX (exponent, own_exponent) : own_exponent;
        any = TRUE;
      }
  for (i = 0; i < n; i++)
    {
      x[i] = mpf_get_d_2exp (&own_exponent, numbers[i]);
      x[i] = ldexp (x[i], (gint) MAX (own_exponent - exponent, -4 * DBL_MAX_EXP));
    }

  return exponent;
}

gint64
apr_ldlt_divide (AprLdlt *self, double *x, const AprRun *run)
{
  gsize n = self->n_independent;
  AprDoubleDoubles doubles;
  mpf_t *numbers;
  gint64 exponent;
  gsize i;

  if (self->doubles.high != NULL)
    {
      doubles = apr_double_doubles_new (1, n);
      memcpy (doubles.high, x, n * sizeof *x);
      solve_in_doubles (self, doubles);
      memcpy (x, doubles.high, n * sizeof *x);
      apr_double_doubles_free (&doubles);
      return 0;
    }

  numbers = numbers_new (n, self->precision);
  for (i = 0; i < n; i++)
    mpf_set_d (numbers[i], x[i]);
  apr_ldlt_solve_numbers (self, numbers, run);
  exponent = take_doubles (numbers, n, x);
  numbers_free (numbers, n);

  return exponent;
}

gint64
apr_ldlt_solve (AprLdlt *self, const AprFixed *right_side, gint64 top, double *x, const AprRun *run)
{
  gsize n = self->n_independent;
  gboolean in_doubles = self->doubles.high != NULL;
  AprDoubleDoubles doubles = { NULL };
  mpf_t *numbers = NULL;
  gint64 exponent = 0;
  mpz_t value;
  gsize i;

  if (in_doubles)
    doubles = apr_double_doubles_new (1, n);
  else
    numbers = numbers_new (n, self->precision);

  mpz_init (value);
  for (i = 0; i < n; i++)
    {
      gint64 scale = -right_side->fraction - self->scale[i] - top;

      apr_limbs_get_integer (apr_fixed_get (right_side, i), right_side->n_limbs, value);
      if (in_doubles)
        apr_double_doubles_set (doubles, 0, i, apr_dd_from_integer (value, scale));
      else
        apr_number_from_integer (numbers[i], value, scale);
    }
  mpz_clear (value);

  if (in_doubles)
    {
      solve_in_doubles (self, doubles);
      memcpy (x, doubles.high, n * sizeof *x);
      apr_double_doubles_free (&doubles);
    }
  else
    {
      apr_ldlt_solve_numbers (self, numbers, run);
      exponent = take_doubles (numbers, n, x);
      numbers_free (numbers, n);
    }

  return exponent + top;
}
