/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-dual-private.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "aprender/least-squares/apr-rounding-private.h"
#include "aprender/least-squares/kernels/apr-dense-kernel-private.h"

/* Sums of the products of u with the values of a feature: its coefficient.
 *
 * Most are rounded from sums in double. Values are cut into 26 bits and a rest, and u into 20 bits, 20 bits and a rest,
 * so that the sums of products of the former ones have no rounding; the others are so small that their rounding errors
 * seldom matter.
 *
 * Of the rest, nearly all are rounded from leading bits in whole numbers. A value is high 2^42 + low, in units of 2^-83
 * of a power of two above the largest, and a number of u is high 2^62 + low; of the four products of these, that of the
 * low ones is ignored. */

#define PART_BITS 20

/* Sums of so many products of APR_DENSE_CUT_BITS and PART_BITS are exact in double. */
#define MAX_EXACT_TERMS 127

#define HIGH_BITS 41
#define LOW_BITS 42
#define LEADING_BITS 62

void
apr_dual_vector_init (AprDualVector *self, gsize n)
{
  gsize i;

  *self = (AprDualVector){ .n = n };
  self->numbers = apr_integers_new (n);
  self->high = g_new0 (gint64, n);
  self->low = g_new0 (gint64, n);
  self->kernel = apr_dense_kernel_choose ();
  for (i = 0; i < G_N_ELEMENTS (self->parts); i++)
    self->parts[i] = g_new0 (double, apr_dense_pad (n));
}

void
apr_dual_vector_clear (AprDualVector *self)
{
  gsize i;

  g_clear_pointer (&self->high, g_free);
  g_clear_pointer (&self->low, g_free);
  for (i = 0; i < G_N_ELEMENTS (self->parts); i++)
    g_clear_pointer (&self->parts[i], g_free);
  apr_integers_free (self->numbers, self->n);
  self->numbers = NULL;
}

void
apr_dual_vector_lead (AprDualVector *self)
{
  gint64 bits = 0;
  gint64 shift;
  mpz_t part;
  gsize i;

  self->zero = TRUE;
  for (i = 0; i < self->n; i++)
    if (mpz_sgn (self->numbers[i]) != 0)
      {
        bits = MAX (bits, (gint64) mpz_sizeinbase (self->numbers[i], 2));
        self->zero = FALSE;
      }

  shift = bits - 2 * LEADING_BITS;
  self->leading = self->exponent + shift;
  mpz_init (part);
  for (i = 0; i < self->n; i++)
    {
      if (shift >= 0)
        mpz_fdiv_q_2exp (part, self->numbers[i], (mp_bitcnt_t) shift);
      else
        mpz_mul_2exp (part, self->numbers[i], (mp_bitcnt_t) -shift);
      self->low[i] = (gint64) (mpz_fdiv_ui (part, 1ul << 31) | 0);
      mpz_fdiv_q_2exp (part, part, 31);
      self->low[i] |= (gint64) mpz_fdiv_ui (part, 1ul << 31) << 31;
      mpz_fdiv_q_2exp (part, part, 31);
      self->high[i] = (gint64) mpz_get_si (part);
    }
  mpz_clear (part);

  self->size = self->leading + 2 * LEADING_BITS;
  for (i = 0; i < self->n; i++)
    {
      /* The bits below the first 62 are behind the last part. */
      gint64 rest = self->high[i];
      gint64 first = rest >> (LEADING_BITS - PART_BITS);
      gint64 second;

      rest -= first * ((gint64) 1 << (LEADING_BITS - PART_BITS));
      second = rest >> (LEADING_BITS - 2 * PART_BITS);
      rest -= second * ((gint64) 1 << (LEADING_BITS - 2 * PART_BITS));
      self->parts[0][i] = ldexp ((double) first, -PART_BITS);
      self->parts[1][i] = ldexp ((double) second, -2 * PART_BITS);
      self->parts[2][i] = ldexp ((double) rest + ldexp ((double) self->low[i], -LEADING_BITS), -LEADING_BITS);
      self->parts[3][i] = self->parts[1][i] + self->parts[2][i];
      self->parts[4][i] = self->parts[0][i] + self->parts[3][i];
    }
}

/* The length of sums, which are below 2^(HIGH_BITS + 2 LEADING_BITS + 20). */
#define N_LIMBS 3

/* to += value 2^shift */
static void
add_shifted (mp_limb_t *to, __int128 value, guint shift)
{
  unsigned __int128 low = (unsigned __int128) value << shift;
  const mp_limb_t limbs[N_LIMBS] = { (mp_limb_t) low, (mp_limb_t) (low >> 64),
                                     (mp_limb_t) (value >> 64 >> (64 - shift)) };

  (void) mpn_add_n (to, to, limbs, N_LIMBS);
}

/* Returns e with all values below 2^e, and whether there is any but 0. */
static gboolean
find_size (const AprDualVector *self, const double *values, gint *exponent)
{
  double max = self->kernel->find_max (values, self->n);

  (void) frexp (max, exponent);

  return max > 0;
}

gboolean
apr_dual_vector_round_roughly (const AprDualVector *self,
                               const double *values,
                               AprDType dtype,
                               double *rounded)
{
  gsize n = apr_dense_pad (self->n);
  double n_terms = (double) self->n;
  gint size;
  double error = 0;
  double sums[3];
  double high;
  double low;

  (void) find_size (self, values, &size);
  if (size < -900 || size > 900 || self->n > MAX_EXACT_TERMS || self->zero)
    return FALSE;

  if (self->error != APR_EXACT)
    error = n_terms * apr_scale_double (1, CLAMP (self->error - self->size, -1000, 1000));
  if (dtype == APR_DTYPE_F32)
    {
      /* A sum in double is enough: u is rounded once, and so are products and sums. */
      high = apr_scale_double (self->kernel->dot (values, self->parts[4], n), -size);
      error += 0x1p-52 * (n_terms + 4) * n_terms;

      return apr_round_bounds (high, 0, error, size + self->size, dtype, rounded);
    }

  self->kernel->dot_in_parts (values, n, apr_scale_double (1, -size), (const double *const *) self->parts,
                              sums);
  high = sums[0] + sums[1];
  low = sums[1] - (high - sums[0]);
  if (fabs (sums[0]) < fabs (sums[1]))
    low = sums[0] - (high - sums[1]);
  low += sums[2];

  /* Of products that are rounded: of rests of at most 2^-27 with u, and of values with what is left of u after 40
   * bits; and the rests of u below 2^-93. */
  error += 0x1p-52 * (n_terms + 4) * n_terms * (0x1p-27 + 0x1p-39 + 0x1p-46) + n_terms * 0x1p-90;

  return apr_round_bounds (high, low, error, size + self->size, dtype, rounded);
}

gboolean
apr_dual_vector_round (const AprDualVector *self, const double *values, AprDType dtype, double *rounded)
{
  __int128 high = 0;
  __int128 high_low = 0;
  __int128 low_high = 0;
  mp_limb_t sum[N_LIMBS] = { 0 };
  gboolean cut = FALSE;
  gint64 log2_n = (gint64) g_bit_storage (self->n);
  gint64 unit;
  gint64 error;
  gint exponent;
  gdouble first;
  gdouble second;
  gsize i;

  if (!find_size (self, values, &exponent) || (self->zero && self->error == APR_EXACT))
    {
      *rounded = 0;
      return TRUE;
    }
  if (log2_n > 20)
    return FALSE;

  first = ldexp (1, (HIGH_BITS - exponent) / 2);
  second = ldexp (1, HIGH_BITS - exponent - (HIGH_BITS - exponent) / 2);
  for (i = 0; i < self->n; i++)
    {
      double value = values[i] * first * second;
      gint64 value_high = (gint64) value;
      double rest = (value - (double) value_high) * (double) ((gint64) 1 << LOW_BITS);
      gint64 value_low = (gint64) rest;

      cut = cut || (double) value_low != rest;
      high += (__int128) value_high * self->high[i];
      high_low += (__int128) value_high * self->low[i];
      low_high += (__int128) value_low * self->high[i];
    }

  /* In units of 2^LOW_BITS of those of the products of low numbers. */
  add_shifted (sum, high, LEADING_BITS);
  add_shifted (sum, low_high, LEADING_BITS - LOW_BITS);
  add_shifted (sum, high_low, 0);
  unit = exponent - HIGH_BITS + self->leading;

  /* The products of low numbers, what u has below its leading bits, and what values have below theirs. */
  error = unit + LEADING_BITS + log2_n + 1;
  if (cut)
    error = MAX (error, unit + 2 * LEADING_BITS - LOW_BITS + log2_n) + 1;
  if (self->error != APR_EXACT)
    error = MAX (error, self->error + exponent + log2_n) + 1;

  return apr_round_leading (sum, N_LIMBS, unit, error, dtype, rounded);
}

gboolean
apr_dual_vector_round_feature (const AprDualVector *self,
                               const AprSampleRows *rows,
                               gsize feature,
                               AprDType dtype,
                               double *work,
                               double *rounded)
{
  apr_dual_read_feature (rows, feature, self->kernel, work);
  memset (work + self->n, 0, (apr_dense_pad (self->n) - self->n) * sizeof *work);
  if (apr_dual_vector_round_roughly (self, work, dtype, rounded))
    return TRUE;

  return apr_dual_vector_round (self, work, dtype, rounded);
}

gboolean
apr_dual_vector_round_exactly (const AprDualVector *self,
                               const double *values,
                               gint64 grid,
                               gint64 denominator_bits,
                               AprDType dtype,
                               double *rounded)
{
  AprApproximation sum = { .denominator_bits = denominator_bits };
  gint64 lowest = G_MAXINT32;
  gboolean certain;
  gint size;
  mpz_t value;
  gsize i;

  *rounded = 0;
  if (!find_size (self, values, &size))
    return TRUE;

  for (i = 0; i < self->n; i++)
    if (values[i] != 0)
      {
        gint exponent;

        (void) frexp (values[i], &exponent);
        lowest = MIN (lowest, exponent - DBL_MANT_DIG);
      }

  mpz_init (sum.significand);
  mpz_init (value);
  for (i = 0; i < self->n; i++)
    {
      gint exponent;
      double fraction = frexp (values[i], &exponent);

      if (fraction == 0)
        continue;
      mpz_set_d (value, ldexp (fraction, DBL_MANT_DIG));
      mpz_mul_2exp (value, value, (mp_bitcnt_t) (exponent - DBL_MANT_DIG - lowest));
      mpz_addmul (sum.significand, value, self->numbers[i]);
    }
  sum.exponent = lowest + self->exponent;
  sum.error = apr_scale_error (self->error, size + (gint64) g_bit_storage (self->n));
  sum.grid = grid - lowest;
  certain = apr_approximation_round (&sum, dtype, rounded);
  mpz_clear (value);
  mpz_clear (sum.significand);

  return certain;
}
