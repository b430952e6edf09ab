/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-row-products-private.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* What the exponent of a double's significand is biased by, as a whole number. */
#define FIRST_BIASED (DBL_MANT_DIG - DBL_MIN_EXP + 1)

/* The limbs of a sum of products of three doubles, whatever their exponents are. */
#define MAX_LIMBS (3 * (DBL_MAX_EXP - DBL_MIN_EXP + 2 * DBL_MANT_DIG) / 64 + 6)

/* The exponent of the lowest bit of @value, which is not 0. */
static gint
find_lowest_bit (double value)
{
  gint exponent;
  gint64 significand = (gint64) ldexp (frexp (value, &exponent), DBL_MANT_DIG);

  return exponent - DBL_MANT_DIG + __builtin_ctzll ((guint64) significand);
}

void
apr_row_products_init (AprRowProducts *self, const AprSampleRows *rows)
{
  gsize n_values = rows->n_features * rows->n;
  gsize i;

  /* The first column of Z has ones. */
  *self = (AprRowProducts){ rows, 0, rows->weights != NULL ? G_MAXINT32 : 0 };
  for (i = 0; i < n_values; i++)
    {
      double value = rows->floats != NULL ? (double) rows->floats[i] : rows->doubles[i];

      if (value != 0)
        self->unit = MIN (self->unit, find_lowest_bit (value));
    }
  for (i = 0; i < rows->n_targets * rows->n; i++)
    if (rows->y[i] != 0)
      self->unit = MIN (self->unit, find_lowest_bit (rows->y[i]));
  for (i = 0; i < rows->n && rows->weights != NULL; i++)
    self->weight_unit = MIN (self->weight_unit, find_lowest_bit (rows->weights[i]));
}

gint
apr_row_products_get_exponent (const AprRowProducts *self)
{
  return 2 * self->unit + self->weight_unit;
}

static double
get_double (const AprRowProducts *self, gsize column, gsize sample)
{
  const AprSampleRows *rows = self->rows;
  gsize feature = column - 1;

  if (column == 0)
    return 1;
  if (column > rows->n_features)
    return rows->y[(feature - rows->n_features) * rows->n + sample];

  return rows->floats != NULL ? (double) rows->floats[feature * rows->n + sample]
                              : rows->doubles[feature * rows->n + sample];
}

static void
set_number (mpz_t number, double value, gint unit)
{
  gint exponent;
  double fraction = frexp (value, &exponent);

  mpz_set_d (number, ldexp (fraction, DBL_MANT_DIG));
  exponent -= DBL_MANT_DIG + unit;
  if (exponent > 0)
    mpz_mul_2exp (number, number, (mp_bitcnt_t) exponent);
  else if (value != 0)
    mpz_tdiv_q_2exp (number, number, (mp_bitcnt_t) -exponent);
}

void
apr_row_products_get_value (const AprRowProducts *self, gsize column, gsize sample, mpz_t value)
{
  set_number (value, get_double (self, column, sample), self->unit);
}

void
apr_row_products_get_weight (const AprRowProducts *self, gsize sample, mpz_t value)
{
  set_number (value, self->rows->weights != NULL ? self->rows->weights[sample] : 1, self->weight_unit);
}

/* The significand of a double, a whole number of DBL_MANT_DIG bits, and its exponent. */
static inline guint64
split (double value, gint *exponent)
{
  guint64 bits;
  gint biased;

  memcpy (&bits, &value, sizeof bits);
  biased = (gint) (bits >> (DBL_MANT_DIG - 1) & 0x7ff);
  *exponent = MAX (biased, 1) - FIRST_BIASED;

  return (bits & (((guint64) 1 << (DBL_MANT_DIG - 1)) - 1)) | (guint64) (biased != 0) << (DBL_MANT_DIG - 1);
}

/* Adds @sign, 0 or -1, times @value 2^@first_bit, which is below 2^192: to sums of limbs, whose carries are theirs. */
static inline void
add_limbs (__int128 *sums, unsigned __int128 value, guint first_bit, gint64 sign)
{
  guint shift = first_bit % 64;
  guint64 low = (guint64) value << shift;
  unsigned __int128 above = value >> 1 >> (63 - shift);
  __int128 *to = sums + first_bit / 64;

  to[0] += ((__int128) low ^ sign) - sign;
  to[1] += ((__int128) (guint64) above ^ sign) - sign;
  to[2] += ((__int128) (guint64) (above >> 64) ^ sign) - sign;
}

/* Sets @value to the number that the sums are, without its lowest @cut bits, which are 0. */
static void
join_limbs (const __int128 *sums, gsize n, gint cut, mpz_t value)
{
  mp_limb_t *to = mpz_limbs_write (value, (mp_size_t) n);
  __int128 carry = 0;
  gsize i;

  G_STATIC_ASSERT (GMP_NUMB_BITS == 64);
  for (i = 0; i < n; i++)
    {
      carry += sums[i];
      to[i] = (mp_limb_t) carry;
      carry >>= 64;
    }
  if (carry < 0)
    (void) mpn_neg (to, to, (mp_size_t) n);
  mpz_limbs_finish (value, carry < 0 ? -(mp_size_t) n : (mp_size_t) n);
  mpz_tdiv_q_2exp (value, value, (mp_bitcnt_t) cut);
}

/* Significands end up to 52 bits below the last bit of a number that is not 0, so each counts from that far below the
 * unit. */
void
apr_row_products_get_entry (const AprRowProducts *self, gsize row, gsize column, mpz_t value)
{
  const gint below = DBL_MANT_DIG - 1;
  const double *weights = self->rows->weights;
  gint cut = 2 * below + (weights != NULL ? below : 0);
  gint lowest = 2 * self->unit + (weights != NULL ? self->weight_unit : 0) - cut;
  __int128 sums[MAX_LIMBS] = { 0 };
  gsize n_limbs = 1;
  gsize i;

  for (i = 0; i < self->rows->n; i++)
    {
      double one = get_double (self, row, i);
      double other = get_double (self, column, i);
      gint exponent;
      gint other_exponent;
      gint weight_exponent = 0;
      unsigned __int128 product = (unsigned __int128) split (one, &exponent) * split (other, &other_exponent);
      gint64 sign = -(gint64) ((one < 0) != (other < 0));
      guint64 weight = weights != NULL ? split (weights[i], &weight_exponent) : 1;
      guint first_bit;

      if (product == 0)
        continue;
      first_bit = (guint) (exponent + other_exponent + weight_exponent - lowest);
      if (weights == NULL)
        add_limbs (sums, product, first_bit, sign);
      else
        {
          add_limbs (sums, (unsigned __int128) (guint64) product * weight, first_bit, sign);
          add_limbs (sums, (product >> 64) * weight, first_bit + 64, sign);
        }
      /* Those of the second part, and one for the carries. */
      n_limbs = MAX (n_limbs, first_bit / 64 + 5);
    }
  join_limbs (sums, n_limbs, cut, value);
}
