/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-sums-shift-private.h"

#include <float.h>
#include <math.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-parallel-private.h"

/* Columns x = d + s have the sums of products
 *
 *   sum of w x_i x_j = sum of w d_i d_j + s_i (sum of w d_j) + s_j (sum of w x_i)
 *
 * of which the first was rounded in double, and what is added here is exact. With the mean of the first 256 of n rows
 * as s, sum (x - s)^2 is at most 1 + n / 256 times sum (x - mean)^2, whatever the rows behind them are. With weights it
 * is the weighted mean of 256 rows from the first on that has one. */

/* Rows that tell the shifts: those of a block whose sums are rounded. */
#define ROWS APR_SLICE_ROWS

/* A shift of this size loses nothing when it is taken from a double, nor can that overflow. */
#define MAX_SHIFT 0x1p960

/* Shifts are cut into whole numbers of so many bits: their products with 32 bits are below 2^62. */
#define PIECE_BITS 30
#define PIECES 2

/* Near the mean of some values with weights, and exactly the value where all are the same; 0 where the mean is as near
 * to 0 as to the values. */
static double
find_shift (const double *values, const double *weights, gsize n)
{
  double first = values[0];
  double total = 0;
  double sum = 0;
  double squares = 0;
  double mean;
  double deviation;
  gint exponent;
  gsize i;

  for (i = 0; i < n; i++)
    {
      double difference = weights[i] > 0 ? values[i] - first : 0;

      total += weights[i];
      sum += weights[i] * difference;
      squares += weights[i] * difference * difference;
    }
  mean = first + sum / total;
  deviation = sqrt (fabs (squares / total - sum / total * (sum / total)));
  /* A NaN does not pass. */
  if (!(fabs (mean) > deviation && fabs (mean) < MAX_SHIFT && fabs (mean) > DBL_MIN / DBL_EPSILON))
    return 0;
  if (deviation <= fabs (mean) * DBL_EPSILON)
    return mean;

  /* No more bits than matter. */
  (void) frexp (deviation, &exponent);

  return ldexp (rint (ldexp (mean, 3 - exponent)), exponent - 3);
}

/* The weights of some rows, as parts of the largest of them, or 1 where there are none. The first of these rows is the
 * first that has a weight. Returns: how many rows they are; 0 where none has a weight */
static gsize
find_weights (const AprRows *weights, gsize n_rows, gsize *first, double *values)
{
  double largest = 0;
  gsize n;
  gsize i;

  *first = 0;
  if (weights == NULL)
    {
      n = MIN (n_rows, ROWS);
      for (i = 0; i < n; i++)
        values[i] = 1;
      return n;
    }

  for (; *first < n_rows; (*first)++)
    {
      apr_rows_read (weights, *first, 1, 0, 1, 1, values);
      if (values[0] > 0)
        break;
    }
  n = MIN (n_rows - *first, ROWS);
  apr_rows_read (weights, *first, n, 0, 1, 1, values);
  for (i = 0; i < n; i++)
    largest = fmax (largest, values[i]);
  for (i = 0; i < n; i++)
    values[i] /= largest;

  return n;
}

double *
apr_sums_shift_find (const AprRows *x, const AprRows *y, const AprRows *weights)
{
  gsize n_columns = x->n_columns + y->n_columns;
  g_autofree double *shifts = g_new0 (double, n_columns);
  double row_weights[ROWS];
  double values[ROWS];
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  gboolean any = FALSE;
  gsize first;
  gsize n = find_weights (weights, x->n_rows, &first, row_weights);
  gsize i;

  for (i = 0; i < n_columns && n > 0; i++)
    {
      if (i < x->n_columns)
        apr_rows_read (x, first, n, i, 1, 1, values);
      else
        apr_rows_read (y, first, n, i - x->n_columns, 1, 1, values);
      shifts[i] = find_shift (values, row_weights, n);
      any = any || shifts[i] != 0;
    }

  return any ? g_steal_pointer (&shifts) : NULL;
}

/* A shift as pieces[0] 2^(exponent + PIECE_BITS) + pieces[1] 2^exponent. */
typedef struct
{
  gint64 pieces[PIECES];
  gint exponent;
} Shift;

static Shift
split (double value)
{
  Shift shift = { { 0, 0 }, 0 };
  gint64 whole;

  if (value == 0)
    return shift;
  whole = (gint64) ldexp (frexp (value, &shift.exponent), DBL_MANT_DIG);
  shift.exponent -= DBL_MANT_DIG;
  while (whole % 2 == 0)
    {
      whole /= 2;
      shift.exponent++;
    }
  shift.pieces[0] = whole / ((gint64) 1 << PIECE_BITS);
  shift.pieces[1] = whole % ((gint64) 1 << PIECE_BITS);

  return shift;
}

typedef struct
{
  AprExactSums *sums; /* (unowned) */
  gsize n_columns;    /* of Z, whose first has no shift */
  Shift *shifts;      /* (owned) */
  gsize n_parts;
  gint exponent;    /* of the first part */
  gint64 *shifted;  /* (owned) n_columns x n_parts: sums of the weighted shifted columns, 32 bits each */
  gint64 *original; /* (owned) the same of the columns */
} Job;

static void
job_clear (Job *self)
{
  g_free (self->shifts);
  g_free (self->shifted);
  g_free (self->original);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Job, job_clear)

static void
store_parts (const mpz_t value, gint64 *parts, gsize n_parts)
{
  gint64 sign = mpz_sgn (value);
  gsize i;
  mpz_t part;

  mpz_init (part);
  for (i = 0; i < n_parts; i++)
    {
      mpz_tdiv_q_2exp (part, value, 32 * (n_parts - 1 - i));
      parts[i] = sign * (gint64) (guint32) mpz_get_ui (part);
    }
  mpz_clear (part);
}

/* Finds the sums of the columns by those of the shifted ones. */
static void
find_sums (Job *self, const double *shifts)
{
  gint unit = apr_exact_sums_get_exponent (self->sums);
  mpz_t *shifted = g_new (mpz_t, self->n_columns);
  mpz_t *original = g_new (mpz_t, self->n_columns);
  gint min = 0;
  gsize bits = 0;
  mpz_t number;
  gsize i;

  self->shifts = g_new (Shift, self->n_columns);
  mpz_init (number);
  for (i = 0; i < self->n_columns; i++)
    {
      self->shifts[i] = split (i == 0 ? 0 : shifts[i - 1]);
      min = MIN (min, self->shifts[i].exponent);
    }
  for (i = 0; i < self->n_columns; i++)
    {
      const Shift *shift = &self->shifts[i];

      mpz_init (shifted[i]);
      mpz_init (original[i]);
      apr_exact_sums_get_entry (self->sums, i, 0, shifted[i]);
      mpz_mul_2exp (shifted[i], shifted[i], (mp_bitcnt_t) -min);
      mpz_set_si (number, (glong) (shift->pieces[0] * ((gint64) 1 << PIECE_BITS) + shift->pieces[1]));
      mpz_mul_2exp (number, number, (mp_bitcnt_t) (shift->exponent - min));
      apr_exact_sums_get_entry (self->sums, 0, 0, original[i]);
      mpz_mul (original[i], original[i], number);
      mpz_add (original[i], original[i], shifted[i]);
      bits = MAX (bits, MAX (mpz_sizeinbase (shifted[i], 2), mpz_sizeinbase (original[i], 2)));
    }
  mpz_clear (number);

  self->n_parts = bits / 32 + 1;
  self->exponent = unit + min + 32 * (gint) (self->n_parts - 1);
  self->shifted = g_new (gint64, self->n_columns * self->n_parts);
  self->original = g_new (gint64, self->n_columns * self->n_parts);
  for (i = 0; i < self->n_columns; i++)
    {
      store_parts (shifted[i], self->shifted + i * self->n_parts, self->n_parts);
      store_parts (original[i], self->original + i * self->n_parts, self->n_parts);
      mpz_clear (shifted[i]);
      mpz_clear (original[i]);
    }
  g_free (shifted);
  g_free (original);
}

static void
add_product (const Job *self, gsize entry, const Shift *shift, const gint64 *parts)
{
  gint64 *products = g_newa (gint64, self->n_parts);
  gsize i;
  gsize k;

  for (k = 0; k < PIECES; k++)
    {
      guint64 any = 0;

      for (i = 0; i < self->n_parts && shift->pieces[k] != 0; i++)
        any |= (guint64) (products[i] = shift->pieces[k] * parts[i]);
      if (any != 0)
        apr_exact_sums_add_parts (self->sums, entry, products, self->n_parts,
                                  self->exponent + shift->exponent + (gint) (PIECES - 1 - k) * PIECE_BITS);
    }
}

static void
add_row (gpointer data, gsize row, gsize n_rows)
{
  Job *self = data;
  gsize i = n_rows - 1 - row;
  gsize entry = i * (i + 1) / 2;
  gsize j;

  for (j = 0; j <= i; j++, entry++)
    {
      add_product (self, entry, &self->shifts[i], self->shifted + j * self->n_parts);
      add_product (self, entry, &self->shifts[j], self->original + i * self->n_parts);
    }
  apr_exact_sums_carry (self->sums, i, i + 1);
}

gboolean
apr_sums_shift_undo (const double *shifts, AprExactSums *sums, const AprRun *run, GError **error)
{
  g_auto (Job) self = { .sums = sums };
  gint min = G_MAXINT;
  gint max = G_MININT;
  gsize i;

  self.n_columns = apr_exact_sums_get_n_columns (sums);
  find_sums (&self, shifts);
  for (i = 0; i < self.n_columns; i++)
    {
      min = MIN (min, self.shifts[i].exponent);
      max = MAX (max, self.shifts[i].exponent + PIECE_BITS);
    }
  if (!apr_exact_sums_cover (sums, self.exponent - 32 * (gint) (self.n_parts - 1) + min, self.exponent + max,
                             2 * PIECES * ((guint) self.n_parts + 2), run->cancellable, error))
    return FALSE;

  apr_parallel_run_parts (add_row, &self, run->n_threads, self.n_columns);
  return TRUE;
}
