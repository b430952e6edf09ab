/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-ldlt-parts-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/least-squares/apr-cholesky-private.h"
#include "aprender/least-squares/apr-scaled-products-private.h"

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

  if (!apr_cholesky_init (&inverse, n, run))
    return FALSE;
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
  mpf_t *sums = apr_numbers_new (n, 64, run);
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

  apr_pages_free (sums);
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

  self->doubles = apr_double_doubles_new (n, n, run);
  if (self->doubles.high == NULL ||
      !apr_double_doubles_read (self->doubles, n, products, self->independent, self->scale, run))
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
  for (i = 0; i < n && !apr_run_is_cancelled (run); i++)
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

/* Rows that are begun together, by several threads. */
#define ROWS 8

/* A row of L times D, as far as it is known. */
typedef struct
{
  gsize column;
  gint64 scale;
  mpf_t *numbers; /* (owned) */
} Row;

/* Rows of which none depends on the others as far as the rows before them go. */
typedef struct
{
  const AprLdlt *self;
  mpz_t *matrix;
  Row rows[ROWS];
  gsize n;
  double rank_tolerance;
  gint64 max_precision;
  const AprRun *run;
} Rows;

/* Finds numbers @first to @end of a row. */
static void
continue_row (const Rows *rows, const Row *row, gsize first, gsize end)
{
  const AprLdlt *self = rows->self;
  mpf_t product;
  gsize i;
  gsize j;

  mpf_init2 (product, (mp_bitcnt_t) self->precision);
  for (i = first; i < end && !apr_run_is_cancelled (rows->run); i++)
    {
      mpf_t *other = self->numbers + apr_triangle (i, 0);

      apr_number_from_integer (row->numbers[i],
                               rows->matrix[apr_triangle (row->column, self->independent[i])],
                               -(row->scale + self->scale[i]));
      for (j = 0; j < i; j++)
        {
          mpf_mul (product, row->numbers[j], other[j]);
          mpf_sub (row->numbers[i], row->numbers[i], product);
        }
    }
  mpf_clear (product);
}

static void
begin_rows (gpointer data, gsize part, gsize n_parts)
{
  const Rows *rows = data;
  gsize i;

  for (i = part; i < rows->n; i += n_parts)
    continue_row (rows, &rows->rows[i], 0, rows->self->n_independent);
}

/* The limit of a pivot: the rank tolerance, of its diagonal. Without one, pivots of a definite matrix are at least
 * 2^-(max_precision - FIRST_PRECISION) of their diagonals. A limit far below that ends the search for a precision where
 * a pivot is 0, which files may hold: at each precision, rounding may leave a little of it. */
static void
find_limit (mpf_t limit, const mpf_t diagonal, const Rows *rows)
{
  if (rows->rank_tolerance == 0)
    {
      mpf_div_2exp (limit, diagonal, (mp_bitcnt_t) (rows->max_precision - FIRST_PRECISION / 2));
      return;
    }
  mpf_set_d (limit, rows->rank_tolerance);
  mpf_mul (limit, diagonal, limit);
}

/* Ends a row that is known up to position @known; returns whether it is independent. */
static gboolean
append_row (AprLdlt *self, const Rows *rows, const Row *row, gsize known)
{
  gsize position = self->n_independent;
  mpf_t *to = self->numbers + apr_triangle (position, 0);
  mpf_t pivot;
  mpf_t limit;
  mpf_t product;
  gboolean independent;
  gsize i;

  continue_row (rows, row, known, position);
  mpf_init2 (pivot, (mp_bitcnt_t) self->precision);
  mpf_init2 (limit, (mp_bitcnt_t) self->precision);
  mpf_init2 (product, (mp_bitcnt_t) self->precision);
  apr_number_from_integer (pivot, rows->matrix[apr_triangle (row->column, row->column)], -2 * row->scale);
  find_limit (limit, pivot, rows);
  for (i = 0; i < position && !apr_run_is_cancelled (rows->run); i++)
    {
      mpf_div (to[i], row->numbers[i], self->numbers[apr_triangle (i, i)]);
      mpf_mul (product, row->numbers[i], to[i]);
      mpf_sub (pivot, pivot, product);
    }

  independent = mpf_cmp (pivot, limit) > 0;
  if (independent)
    {
      mpf_set (to[position], pivot);
      self->scale[position] = row->scale;
      self->independent[self->n_independent++] = row->column;
    }
  else
    {
      self->dependent[self->n_dependent++] = row->column;
      mpf_neg (limit, limit);
      if (self->negative < 0 && (rows->rank_tolerance == 0 || mpf_cmp (pivot, limit) < 0))
        self->negative = (gssize) row->column;
    }
  mpf_clears (pivot, limit, product, NULL);

  return independent;
}

/* Without a rank tolerance, this ends at the first column that depends on those before it. */
static void
factorise_in_numbers (AprLdlt *self,
                      mpz_t *matrix,
                      gsize n,
                      const gboolean *excluded,
                      double rank_tolerance,
                      gint64 precision,
                      gint64 max_precision,
                      const AprRun *run)
{
  Rows rows = { .self = self,
                .matrix = matrix,
                .rank_tolerance = rank_tolerance,
                .max_precision = max_precision,
                .run = run };
  double n_limbs = (double) precision / GMP_NUMB_BITS;
  double n_operations = 20 * n_limbs * ROWS * (double) n * (double) n / 2;
  gsize n_rows = apr_parallel_count (run->n_threads, n_operations / APR_PARALLEL_OPERATIONS) > 1 ? ROWS : 1;
  gboolean ended = FALSE;
  gsize column = 0;
  gsize i;

  g_clear_pointer (&self->numbers, apr_pages_free);
  self->numbers = apr_numbers_new (apr_triangle (n, 0), precision, run);
  self->precision = precision;
  self->n_independent = 0;
  self->n_dependent = 0;
  self->negative = -1;
  for (i = 0; i < n_rows; i++)
    rows.rows[i].numbers = apr_numbers_new (n, precision, run);

  while (column < n && !ended && !apr_run_is_cancelled (run))
    {
      gsize known = self->n_independent;

      for (rows.n = 0; column < n && rows.n < n_rows; column++)
        if (!excluded[column])
          {
            rows.rows[rows.n].column = column;
            rows.rows[rows.n++].scale = scale_of (matrix, column);
          }
      apr_parallel_run (begin_rows, &rows, run->n_threads,
                        10 * n_limbs * (double) rows.n * (double) known * (double) known);
      for (i = 0; i < rows.n && !ended && !apr_run_is_cancelled (run); i++)
        ended = !append_row (self, &rows, &rows.rows[i], known) && rank_tolerance == 0;
    }

  for (i = 0; i < n_rows; i++)
    apr_pages_free (rows.rows[i].numbers);
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
  if (matrix == NULL)
    {
      self->n_independent = 0;
      return self;
    }
  max_precision = find_max_precision (matrix, n, excluded, products->penalised);
  for (;;)
    {
      gint64 needed;

      factorise_in_numbers (self, matrix, n, excluded, rank_tolerance, precision, max_precision, run);
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

      factorise_in_numbers (self, matrix, n, excluded, 0, precision, max_precision, run);
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
  apr_pages_free (self->numbers);
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
