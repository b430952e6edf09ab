/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-ldlt-private.h"

#include <float.h>
#include <math.h>

#include "aprender/base/apr-double-double-private.h"

struct _AprLdlt
{
  gsize *independent; /* (owned) */
  gsize n_independent;
  gsize *dependent; /* (owned) */
  gsize n_dependent;
  gssize negative; /* the first dependent column with a clearly negative Schur complement, or -1 */
  gint64 *scale;   /* (owned) by position */

  /* By position, the lower triangle of L, with D in place of the unit diagonal; in one of two precisions. */
  AprDoubleDouble *doubles; /* (owned) (nullable) */
  mpf_t *numbers;           /* (owned) (nullable) */
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

/* Returns @value 2^@exponent to at least 106 bits. */
static AprDoubleDouble
double_double_from_integer (const mpz_t value, gint64 exponent)
{
  gint64 shift = (gint64) mpz_sizeinbase (value, 2) - 120;
  double high;
  double low;
  mpz_t part;
  mpz_t rest;

  if (mpz_sgn (value) == 0)
    return (AprDoubleDouble){ 0, 0 };

  mpz_init (part);
  mpz_init (rest);
  if (shift > 0)
    mpz_tdiv_q_2exp (part, value, (mp_bitcnt_t) shift);
  else
    {
      mpz_set (part, value);
      shift = 0;
    }
  high = mpz_get_d (part);
  mpz_set_d (rest, high);
  mpz_sub (rest, part, rest);
  low = mpz_get_d (rest);
  mpz_clear (part);
  mpz_clear (rest);

  exponent = CLAMP (exponent + shift, -4 * DBL_MAX_EXP, 4 * DBL_MAX_EXP);
  return apr_dd_quick_sum (ldexp (high, (gint) exponent), ldexp (low, (gint) exponent));
}

/* The same in a longer number. */
static void
number_from_integer (mpf_t number, const mpz_t value, gint64 exponent)
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

/* Bounds the inverse by those of the factors. In double-double, L^-1 is computed; in longer numbers, |L^-1| is bounded
 * by the inverse of the comparison matrix of L, which has no cancellation. */
static gboolean
bound_inverse_of_doubles (AprLdlt *self, const AprRun *run)
{
  gsize n = self->n_independent;
  g_autofree double *column = g_new (double, n);
  g_autofree double *row_sums = g_new0 (double, n);
  double max_row = 0;
  double max_column = 0;
  double max_pivot = 0;
  gsize i;
  gsize j;
  gsize k;

  for (j = 0; j < n && !apr_run_is_cancelled (run); j++)
    {
      double column_sum = 0;

      for (i = j; i < n; i++)
        {
          const AprDoubleDouble *row = self->doubles + apr_triangle (i, 0);
          double sum = i == j ? 1 : -row[j].high;

          for (k = j + 1; k < i; k++)
            sum -= row[k].high * column[k];
          column[i] = sum;
          column_sum += fabs (sum);
          row_sums[i] += fabs (sum);
        }
      max_column = MAX (max_column, column_sum);
      max_pivot = MAX (max_pivot, 1 / self->doubles[apr_triangle (j, j)].high);
    }
  for (i = 0; i < n; i++)
    max_row = MAX (max_row, row_sums[i]);

  /* Each norm doubled, to cover its own rounding, which is small as long as the norms are. */
  if (!(max_row * max_column * max_pivot < 0x1p60) || apr_run_is_cancelled (run))
    return FALSE;
  self->inverse_bits = (gint64) ceil (log2 (MAX (max_row * max_column * max_pivot, 1))) + 3;

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
  mpf_clear (max_row);
  mpf_clear (max_column);
  mpf_clear (max_pivot);
  mpf_clear (term);
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

/* Returns FALSE where a pivot is in doubt, or the factors are not accurate enough to correct with. */
static gboolean
factorise_in_doubles (
  AprLdlt *self, mpz_t *matrix, gsize n, const gboolean *excluded, double rank_tolerance, const AprRun *run)
{
  g_autofree AprDoubleDouble *unscaled = g_new (AprDoubleDouble, n);
  gboolean doubtful = FALSE;
  gsize column;
  gsize i;
  gsize j;

  self->precision = DOUBLE_DOUBLE_PRECISION;
  self->doubles = g_new (AprDoubleDouble, apr_triangle (n, 0));
  self->n_independent = 0;

  for (column = 0; column < n; column++)
    {
      gsize position = self->n_independent;
      AprDoubleDouble *row = self->doubles + apr_triangle (position, 0);
      gint64 scale = scale_of (matrix, column);
      AprDoubleDouble pivot;
      double whole;

      if (apr_run_is_cancelled (run))
        return FALSE;
      if (excluded[column])
        continue;

      pivot = double_double_from_integer (matrix[apr_triangle (column, column)], -2 * scale);
      whole = pivot.high;
      for (i = 0; i < position; i++)
        {
          const AprDoubleDouble *factor = self->doubles + apr_triangle (i, 0);
          AprDoubleDouble sum = double_double_from_integer (
            matrix[apr_triangle (column, self->independent[i])], -(scale + self->scale[i]));

          for (j = 0; j < i; j++)
            sum = apr_dd_subtract (sum, apr_dd_multiply (unscaled[j], factor[j]));
          unscaled[i] = sum;
          row[i] = apr_dd_divide (sum, factor[i]);
          pivot = apr_dd_subtract (pivot, apr_dd_multiply (sum, row[i]));
        }

      if (!(pivot.high > MAX (HOPELESS, 2 * rank_tolerance) * whole))
        return FALSE;
      doubtful = doubtful || pivot.high <= DOUBTFUL * whole;

      row[position] = pivot;
      self->scale[position] = scale;
      self->independent[position] = column;
      self->n_independent++;
    }

  if (!bound_inverse_of_doubles (self, run))
    return FALSE;
  if (apr_ldlt_get_contraction (self) > -MIN_GAIN) /* GCOVR_EXCL_BR_LINE: only with a thousand columns */
    return FALSE;                                  /* GCOVR_EXCL_LINE: see above */

  /* A Schur complement is at least the least eigenvalue, which rounding changed by a small part where the contraction
   * is good. The diagonal is below 2. */
  return !doubtful || ldexp (1, (gint) -self->inverse_bits) > 4 * rank_tolerance;
}

static void
clear_numbers (AprLdlt *self)
{
  gsize i;

  for (i = 0; i < self->n_numbers; i++)
    mpf_clear (self->numbers[i]);
  g_clear_pointer (&self->numbers, g_free);
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
      number_from_integer (pivot, matrix[apr_triangle (column, column)], -2 * scale);
      mpf_mul (limit, pivot, factor);
      for (i = 0; i < position; i++)
        {
          mpf_t *other = self->numbers + apr_triangle (i, 0);

          if (apr_run_is_cancelled (run))
            break;
          number_from_integer (unscaled[i], matrix[apr_triangle (column, self->independent[i])],
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
          if (self->negative < 0 && rank_tolerance > 0 && mpf_cmp (pivot, limit) < 0)
            self->negative = (gssize) column;
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
  mpf_clear (pivot);
  mpf_clear (limit);
  mpf_clear (product);
  mpf_clear (factor);
  bound_inverse_of_numbers (self, run);
}

/* Returns a precision with which no pivot of a definite matrix can be taken for 0: each is a ratio of two
 * determinants, whole numbers between 1 and the product of the diagonal, and so are its factors. */
static gint64
find_max_precision (mpz_t *matrix, gsize n, const gboolean *excluded)
{
  gint64 bits = FIRST_PRECISION;
  gsize i;

  for (i = 0; i < n; i++)
    if (!excluded[i])
      bits += 4 * (gint64) mpz_sizeinbase (matrix[apr_triangle (i, i)], 2);

  return bits;
}

AprLdlt *
apr_ldlt_new (mpz_t *matrix, gsize n, const gboolean *excluded, double rank_tolerance, const AprRun *run)
{
  AprLdlt *self = g_new0 (AprLdlt, 1);
  gint64 precision = FIRST_PRECISION;

  self->independent = g_new (gsize, n);
  self->dependent = g_new (gsize, n);
  self->scale = g_new (gint64, n);
  self->negative = -1;

  if (factorise_in_doubles (self, matrix, n, excluded, rank_tolerance, run))
    return self;

  g_clear_pointer (&self->doubles, g_free);
  for (;;)
    {
      gint64 needed;

      factorise_in_numbers (self, matrix, n, excluded, rank_tolerance, precision, run);
      needed = 2 * bits_of (n) + (rank_tolerance > 0 ? 2 * self->inverse_bits + SPARE_PRECISION
                                                     : self->inverse_bits + SPARE_FOR_CORRECTIONS);
      /* Where the rank tolerance is 0, products of samples are definite, and a dependent column shows a lack of
       * precision; but a file may hold products that no samples have. */
      if (rank_tolerance == 0 && self->n_dependent > 0 &&
          precision < find_max_precision (matrix, n, excluded))
        needed = MAX (needed, 2 * precision);
      if (needed <= precision || apr_run_is_cancelled (run))
        return self;
      precision = needed + (rank_tolerance > 0 ? FIRST_PRECISION : SPARE_FOR_CORRECTIONS);
    }
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
  if (self == NULL)
    return;

  clear_numbers (self);
  g_free (self->doubles);
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

static void
solve_in_doubles (AprLdlt *self, AprDoubleDouble *x)
{
  gsize n = self->n_independent;
  const AprDoubleDouble *factor = self->doubles;
  gsize i;
  gsize j;

  for (i = 0; i < n; i++)
    for (j = 0; j < i; j++)
      x[i] = apr_dd_subtract (x[i], apr_dd_multiply (factor[apr_triangle (i, j)], x[j]));
  for (i = 0; i < n; i++)
    x[i] = apr_dd_divide (x[i], factor[apr_triangle (i, i)]);
  for (i = n; i-- > 0;)
    for (j = i + 1; j < n; j++)
      x[i] = apr_dd_subtract (x[i], apr_dd_multiply (factor[apr_triangle (j, i)], x[j]));
}

static void
solve_in_numbers (AprLdlt *self, mpf_t *x, const AprRun *run)
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
      if (x[i] != 0)
        x[i] = ldexp (x[i], (gint) MAX (own_exponent - exponent, -4 * DBL_MAX_EXP));
    }

  return exponent;
}

gint64
apr_ldlt_divide (AprLdlt *self, double *x, const AprRun *run)
{
  gsize n = self->n_independent;
  g_autofree AprDoubleDouble *doubles = NULL;
  mpf_t *numbers;
  gint64 exponent;
  gsize i;

  if (self->doubles != NULL)
    {
      doubles = g_new (AprDoubleDouble, n);
      for (i = 0; i < n; i++)
        doubles[i] = (AprDoubleDouble){ x[i], 0 };
      solve_in_doubles (self, doubles);
      for (i = 0; i < n; i++)
        x[i] = doubles[i].high;
      return 0;
    }

  numbers = numbers_new (n, self->precision);
  for (i = 0; i < n; i++)
    mpf_set_d (numbers[i], x[i]);
  solve_in_numbers (self, numbers, run);
  exponent = take_doubles (numbers, n, x);
  numbers_free (numbers, n);

  return exponent;
}

gint64
apr_ldlt_solve (AprLdlt *self, const AprFixed *right_side, gint64 top, double *x, const AprRun *run)
{
  gsize n = self->n_independent;
  gboolean in_doubles = self->doubles != NULL;
  g_autofree AprDoubleDouble *doubles = NULL;
  mpf_t *numbers = NULL;
  gint64 exponent = 0;
  mpz_t value;
  gsize i;

  if (in_doubles)
    doubles = g_new (AprDoubleDouble, n);
  else
    numbers = numbers_new (n, self->precision);

  mpz_init (value);
  for (i = 0; i < n; i++)
    {
      gint64 scale = -right_side->fraction - self->scale[i] - top;

      apr_limbs_get_integer (apr_fixed_get (right_side, i), right_side->n_limbs, value);
      if (in_doubles)
        doubles[i] = double_double_from_integer (value, scale);
      else
        number_from_integer (numbers[i], value, scale);
    }
  mpz_clear (value);

  if (in_doubles)
    {
      solve_in_doubles (self, doubles);
      for (i = 0; i < n; i++)
        x[i] = doubles[i].high;
    }
  else
    {
      solve_in_numbers (self, numbers, run);
      exponent = take_doubles (numbers, n, x);
      numbers_free (numbers, n);
    }

  return exponent + top;
}
