/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-inverse-private.h"

#include <math.h>

#include "aprender/least-squares/apr-factor-private.h"

#define FIRST_PRECISION 192
/* Independent columns of doubles never need so much; what a file claims might. */
#define MAX_PRECISION (1 << 14)

/* Of 106 bits, two go with the rounding of each operation. */
#define DOUBLE_DOUBLE_PRECISION 104

/* Bits that results are to have. */
#define WANTED_BITS 64

typedef struct
{
  mpz_t *matrix; /* (unowned) packed lower triangle */
  gsize n;
  gsize n_targets;
  const gint64 *scale; /* (unowned) */
  gint64 precision;

  mpf_t *rows; /* packed, n + n_targets columns: L, and D in place of the unit diagonal */
  mpf_t *root; /* packed, n columns: L^-1 */
} Work;

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

  for (i = 0; i < n && numbers != NULL; i++)
    mpf_clear (numbers[i]);
  g_free (numbers);
}

static void
number_set_scaled (mpf_t number, const mpz_t value, gint64 exponent)
{
  mpf_set_z (number, value);
  if (exponent >= 0)
    mpf_mul_2exp (number, number, (mp_bitcnt_t) exponent);
  else
    mpf_div_2exp (number, number, (mp_bitcnt_t) -exponent);
}

static void
work_clear (Work *work)
{
  numbers_free (work->rows, apr_triangle (work->n + work->n_targets, 0));
  numbers_free (work->root, apr_triangle (work->n, 0));
}

/* Below the features' rows stand those of the targets, which do not take part: what is left on the diagonal there is the sum
 * of squares that the features leave. */
static gboolean
factorise (Work *work)
{
  gsize n_rows = work->n + work->n_targets;
  mpf_t *unscaled = numbers_new (work->n, work->precision);
  gboolean positive = TRUE;
  mpf_t product;
  gsize i;
  gsize j;
  gsize k;

  work->rows = numbers_new (apr_triangle (n_rows, 0), work->precision);
  mpf_init2 (product, (mp_bitcnt_t) work->precision);
  for (i = 0; i < n_rows && positive; i++)
    {
      mpf_t *row = work->rows + apr_triangle (i, 0);

      number_set_scaled (row[i], work->matrix[apr_triangle (i, i)], -2 * work->scale[i]);
      for (j = 0; j < MIN (i, work->n); j++)
        {
          mpf_t *other = work->rows + apr_triangle (j, 0);

          number_set_scaled (unscaled[j], work->matrix[apr_triangle (i, j)],
                             -(work->scale[i] + work->scale[j]));
          for (k = 0; k < j; k++)
            {
              mpf_mul (product, unscaled[k], other[k]);
              mpf_sub (unscaled[j], unscaled[j], product);
            }
          mpf_div (row[j], unscaled[j], other[j]);
          mpf_mul (product, unscaled[j], row[j]);
          mpf_sub (row[i], row[i], product);
        }
      positive = i >= work->n || mpf_sgn (row[i]) > 0;
    }
  mpf_clear (product);
  numbers_free (unscaled, work->n);

  return positive;
}

static void
invert (Work *work)
{
  mpf_t product;
  gsize i;
  gsize j;
  gsize k;

  work->root = numbers_new (apr_triangle (work->n, 0), work->precision);
  mpf_init2 (product, (mp_bitcnt_t) work->precision);
  for (i = 0; i < work->n; i++)
    {
      mpf_t *row = work->rows + apr_triangle (i, 0);
      mpf_t *inverse = work->root + apr_triangle (i, 0);

      mpf_set_ui (inverse[i], 1);
      for (k = 0; k < i; k++)
        for (j = 0; j <= k; j++)
          {
            mpf_mul (product, row[k], work->root[apr_triangle (k, j)]);
            mpf_sub (inverse[j], inverse[j], product);
          }
    }
  mpf_clear (product);
}

/* The logarithm to base two of the trace of the inverse, which bounds how much an error of the matrix can grow. */
static double
log2_trace (Work *work)
{
  double greatest = 0;
  mpf_t term;
  mpf_t sum;
  gsize i;
  gsize j;

  mpf_init2 (term, 64);
  mpf_init2 (sum, 64);
  for (i = 0; i < work->n; i++)
    for (j = 0; j <= i; j++)
      {
        mpf_mul (term, work->root[apr_triangle (i, j)], work->root[apr_triangle (i, j)]);
        mpf_div (term, term, work->rows[apr_triangle (i, i)]);
        mpf_add (sum, sum, term);
      }
  if (mpf_sgn (sum) > 0)
    {
      signed long exponent;
      double mantissa = mpf_get_d_2exp (&exponent, sum);

      greatest = fmax (log2 (mantissa) + (double) exponent, 0);
    }
  mpf_clear (term);
  mpf_clear (sum);

  return greatest;
}

static guint64
multiply_modulo (guint64 a, guint64 b, guint64 prime)
{
  return (guint64) ((unsigned __int128) a * b % prime);
}

static guint64
invert_modulo (guint64 a, guint64 prime)
{
  guint64 power = prime - 2;
  guint64 result = 1;

  for (; power > 0; power >>= 1)
    {
      if (power & 1)
        result = multiply_modulo (result, a, prime);
      a = multiply_modulo (a, a, prime);
    }

  return result;
}

/* Whether the determinant of the features' columns with @target is a multiple of @prime: it is that of the features alone
 * times the sum of squares that they leave. */
static gboolean
is_singular_modulo (Work *work, gsize target, guint64 prime)
{
  gsize n = work->n + 1;
  g_autofree guint64 *rows = g_new (guint64, n * n);
  gboolean singular = FALSE;
  gsize i;
  gsize j;
  gsize k;

  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      rows[i * n + j] = mpz_fdiv_ui (
        work->matrix[apr_triangle (i < work->n ? i : work->n + target, j < work->n ? j : work->n + target)],
        prime);

  for (k = 0; k < n && !singular; k++)
    {
      guint64 inverse;

      /* Rows that change places do not change whether it is zero. */
      for (i = k; i < n && rows[i * n + k] == 0; i++)
        ;
      singular = i == n;
      if (singular)
        break;
      for (j = k; j < n && i != k; j++)
        {
          guint64 entry = rows[k * n + j];

          rows[k * n + j] = rows[i * n + j];
          rows[i * n + j] = entry;
        }
      inverse = invert_modulo (rows[k * n + k], prime);
      for (i = k + 1; i < n; i++)
        {
          guint64 factor = multiply_modulo (rows[i * n + k], inverse, prime);

          for (j = k; j < n && factor != 0; j++)
            rows[i * n + j] =
              (rows[i * n + j] + prime - multiply_modulo (factor, rows[k * n + j], prime)) % prime;
        }
    }

  return singular;
}

/* Whether the features leave nothing of @target. A determinant that is not zero is a multiple of a given prime of 61 bits once in
 * 2^60 times or so, and of four of them never. */
static gboolean
is_exact_fit (Work *work, gsize target)
{
  /* The four greatest primes below 2^61. */
  static const guint64 primes[] = {
    (G_GUINT64_CONSTANT (1) << 61) - 1,
    (G_GUINT64_CONSTANT (1) << 61) - 31,
    (G_GUINT64_CONSTANT (1) << 61) - 45,
    (G_GUINT64_CONSTANT (1) << 61) - 229,
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (primes); i++)
    if (!is_singular_modulo (work, target, primes[i]))
      return FALSE;

  return TRUE;
}

static double
log2_of (const mpf_t number)
{
  signed long exponent;
  double mantissa = mpf_get_d_2exp (&exponent, number);

  return log2 (fabs (mantissa)) + (double) exponent;
}

/* Takes what is left of each target; false where longer numbers are needed to tell. */
static gboolean
take_residuals (AprInverse *self, Work *work, double log2_growth)
{
  gsize target;

  for (target = 0; target < work->n_targets; target++)
    {
      gsize row = work->n + target;
      mpf_t *left = &work->rows[apr_triangle (row, row)];

      /* The scaled sum of squares itself is about 1. */
      if (mpf_sgn (*left) > 0 && log2_of (*left) > log2_growth + WANTED_BITS - (double) work->precision)
        {
          mpf_set_prec (self->residuals[target], (mp_bitcnt_t) work->precision);
          mpf_set (self->residuals[target], *left);
          mpf_mul_2exp (self->residuals[target], self->residuals[target], 2 * (mp_bitcnt_t) work->scale[row]);
        }
      else if (is_exact_fit (work, target))
        mpf_set_ui (self->residuals[target], 0);
      else
        return FALSE;
    }

  return TRUE;
}

static AprDoubleDouble
dd_from_number (const mpf_t number)
{
  double high = mpf_get_d (number);
  double low;
  mpf_t rest;

  if (!isfinite (high))
    return (AprDoubleDouble){ high, 0 };

  mpf_init2 (rest, 192);
  mpf_set_d (rest, high);
  mpf_sub (rest, number, rest);
  low = mpf_get_d (rest);
  mpf_clear (rest);

  return apr_dd_quick_sum (high, low);
}

/* What is kept of the factors; and the solutions L'^-1 D^-1 L^-1 c, in which the row of a target in L is D^-1 L^-1 c. */
static void
take_factors (AprInverse *self, Work *work)
{
  mpf_t pivot;
  mpf_t sum;
  mpf_t product;
  gsize target;
  gsize i;
  gsize j;

  mpf_init2 (pivot, (mp_bitcnt_t) work->precision);
  mpf_init2 (sum, (mp_bitcnt_t) work->precision);
  mpf_init2 (product, (mp_bitcnt_t) work->precision);

  for (target = 0; target < work->n_targets; target++)
    for (i = 0; i < work->n; i++)
      {
        gint64 exponent = work->scale[work->n + target] - work->scale[i];

        mpf_set_ui (sum, 0);
        for (j = i; j < work->n; j++)
          {
            mpf_mul (product, work->root[apr_triangle (j, i)],
                     work->rows[apr_triangle (work->n + target, j)]);
            mpf_add (sum, sum, product);
          }
        if (exponent >= 0)
          mpf_mul_2exp (sum, sum, (mp_bitcnt_t) exponent);
        else
          mpf_div_2exp (sum, sum, (mp_bitcnt_t) -exponent);
        self->solutions[target * work->n + i] = dd_from_number (sum).high;
      }

  for (i = 0; i < work->n; i++)
    {
      mpf_sqrt (pivot, work->rows[apr_triangle (i, i)]);
      for (j = 0; j <= i; j++)
        {
          mpf_div (sum, work->root[apr_triangle (i, j)], pivot);
          self->root[apr_triangle (i, j)] = dd_from_number (sum);
        }
    }

  mpf_clear (pivot);
  mpf_clear (sum);
  mpf_clear (product);
}

static AprDoubleDouble
dd_sqrt (AprDoubleDouble x)
{
  double root = sqrt (x.high);
  AprDoubleDouble rest = apr_dd_subtract (x, apr_dd_multiply_double ((AprDoubleDouble){ root, 0 }, root));

  return apr_dd_quick_sum (root, rest.high / (2 * root));
}

static gboolean
factorise_in_doubles (Work *work, AprDoubleDouble *rows)
{
  gsize n_rows = work->n + work->n_targets;
  g_autofree AprDoubleDouble *unscaled = g_new (AprDoubleDouble, work->n + 1);
  gboolean positive = TRUE;
  mpf_t number;
  gsize i;
  gsize j;
  gsize k;

  mpf_init2 (number, FIRST_PRECISION);
  for (i = 0; i < n_rows && positive; i++)
    {
      AprDoubleDouble *row = rows + apr_triangle (i, 0);

      number_set_scaled (number, work->matrix[apr_triangle (i, i)], -2 * work->scale[i]);
      row[i] = dd_from_number (number);
      for (j = 0; j < MIN (i, work->n); j++)
        {
          const AprDoubleDouble *other = rows + apr_triangle (j, 0);
          AprDoubleDouble sum;

          number_set_scaled (number, work->matrix[apr_triangle (i, j)], -(work->scale[i] + work->scale[j]));
          sum = dd_from_number (number);
          for (k = 0; k < j; k++)
            sum = apr_dd_subtract (sum, apr_dd_multiply (unscaled[k], other[k]));
          unscaled[j] = sum;
          row[j] = apr_dd_divide (sum, other[j]);
          row[i] = apr_dd_subtract (row[i], apr_dd_multiply (sum, row[j]));
        }
      positive = row[i].high > 0;
    }
  mpf_clear (number);

  return positive;
}

/* The root D^-1/2 L^-1, and the logarithm to base two of the sum of its squares, the trace of the inverse. */
static double
invert_in_doubles (const Work *work, const AprDoubleDouble *rows, AprDoubleDouble *root)
{
  double trace = 0;
  gsize i;
  gsize j;
  gsize k;

  for (i = 0; i < work->n; i++)
    {
      const AprDoubleDouble *row = rows + apr_triangle (i, 0);
      AprDoubleDouble *inverse = root + apr_triangle (i, 0);

      for (j = 0; j < i; j++)
        inverse[j] = (AprDoubleDouble){ 0, 0 };
      inverse[i] = (AprDoubleDouble){ 1, 0 };
      for (k = 0; k < i; k++)
        {
          const AprDoubleDouble *other = root + apr_triangle (k, 0);
          AprDoubleDouble factor = apr_dd_multiply (row[k], dd_sqrt (rows[apr_triangle (k, k)]));

          for (j = 0; j <= k; j++)
            inverse[j] = apr_dd_subtract (inverse[j], apr_dd_multiply (factor, other[j]));
        }
      for (j = 0; j <= i; j++)
        {
          inverse[j] = apr_dd_divide (inverse[j], dd_sqrt (row[i]));
          trace += inverse[j].high * inverse[j].high;
        }
    }

  return log2 (fmax (trace, 1));
}

/* The same in double-double, which is faster; false where that is not enough, and where nothing is left of a target. */
static gboolean
init_in_doubles (AprInverse *self, Work *work)
{
  g_autofree AprDoubleDouble *rows = g_new (AprDoubleDouble, apr_triangle (work->n + work->n_targets, 0));
  double log2_growth;
  gsize target;
  gsize i;
  gsize j;

  if (!factorise_in_doubles (work, rows))
    return FALSE;
  log2_growth = invert_in_doubles (work, rows, self->root) + log2 ((double) (work->n + 1));
  for (target = 0; target < work->n_targets; target++)
    {
      gsize row = work->n + target;

      if (!(log2 (rows[apr_triangle (row, row)].high) > log2_growth + WANTED_BITS - DOUBLE_DOUBLE_PRECISION))
        return FALSE;
    }
  if (!(log2_growth + WANTED_BITS < DOUBLE_DOUBLE_PRECISION))
    return FALSE;

  for (target = 0; target < work->n_targets; target++)
    {
      gsize row = work->n + target;
      AprDoubleDouble left = rows[apr_triangle (row, row)];
      mpf_t low;

      mpf_set_prec (self->residuals[target], FIRST_PRECISION);
      mpf_init2 (low, FIRST_PRECISION);
      mpf_set_d (self->residuals[target], left.high);
      mpf_set_d (low, left.low);
      mpf_add (self->residuals[target], self->residuals[target], low);
      mpf_mul_2exp (self->residuals[target], self->residuals[target], 2 * (mp_bitcnt_t) work->scale[row]);
      mpf_clear (low);

      /* L'^-1 is root' D^1/2. */
      for (i = 0; i < work->n; i++)
        {
          AprDoubleDouble sum = { 0, 0 };

          for (j = i; j < work->n; j++)
            sum = apr_dd_add (sum, apr_dd_multiply (apr_dd_multiply (self->root[apr_triangle (j, i)],
                                                                     dd_sqrt (rows[apr_triangle (j, j)])),
                                                    rows[apr_triangle (row, j)]));
          self->solutions[target * work->n + i] =
            ldexp (sum.high, (int) CLAMP (work->scale[row] - work->scale[i], -5000, 5000));
        }
    }

  return TRUE;
}

/* The inverse and its squares can be told in doubles, as they can for columns of doubles that are independent. */
static gboolean
is_root_small (const AprInverse *self)
{
  gsize i;

  for (i = 0; i < apr_triangle (self->n, 0); i++)
    if (!(fabs (self->root[i].high) < 0x1p400))
      return FALSE;

  return TRUE;
}

gboolean
apr_inverse_init (AprInverse *self, mpz_t *matrix, gsize n, gsize n_targets)
{
  Work work = { .matrix = matrix, .n = n, .n_targets = n_targets, .precision = FIRST_PRECISION };
  gboolean known = FALSE;
  gsize i;

  *self = (AprInverse){ .n = n, .n_targets = n_targets };
  self->scale = g_new (gint64, n + n_targets);
  self->root = g_new (AprDoubleDouble, apr_triangle (n, 0));
  self->solutions = g_new (double, n_targets *n);
  self->residuals = numbers_new (n_targets, WANTED_BITS);
  for (i = 0; i < n + n_targets; i++)
    self->scale[i] = (gint64) mpz_sizeinbase (matrix[apr_triangle (i, i)], 2) / 2;
  work.scale = self->scale;

  known = init_in_doubles (self, &work);
  while (!known && work.precision <= MAX_PRECISION)
    {
      double log2_growth;

      if (factorise (&work))
        {
          invert (&work);
          log2_growth = log2_trace (&work) + log2 ((double) (n + 1));
          known =
            log2_growth + WANTED_BITS < (double) work.precision && take_residuals (self, &work, log2_growth);
        }
      if (known)
        take_factors (self, &work);
      work_clear (&work);
      work.rows = NULL;
      work.root = NULL;
      work.precision *= 2;
    }

  return known && is_root_small (self);
}

void
apr_inverse_clear (AprInverse *self)
{
  g_clear_pointer (&self->scale, g_free);
  g_clear_pointer (&self->root, g_free);
  g_clear_pointer (&self->solutions, g_free);
  numbers_free (self->residuals, self->n_targets);
  self->residuals = NULL;
}

double
apr_inverse_get_inverse (const AprInverse *self, gsize i, gsize j)
{
  AprDoubleDouble sum = { 0, 0 };
  gsize k;

  for (k = MAX (i, j); k < self->n; k++)
    sum =
      apr_dd_add (sum, apr_dd_multiply (self->root[apr_triangle (k, i)], self->root[apr_triangle (k, j)]));

  return sum.high;
}

double
apr_inverse_get_leverage (const AprInverse *self, const double *z)
{
  AprDoubleDouble total = { 0, 0 };
  gsize i;
  gsize j;

  for (i = 0; i < self->n; i++)
    {
      const AprDoubleDouble *row = self->root + apr_triangle (i, 0);
      AprDoubleDouble sum = { 0, 0 };

      for (j = 0; j <= i; j++)
        sum = apr_dd_add (sum, apr_dd_multiply_double (row[j], z[j]));
      total = apr_dd_add (total, apr_dd_multiply (sum, sum));
    }

  return total.high;
}
