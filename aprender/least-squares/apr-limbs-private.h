/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <float.h>
#include <glib.h>
#include <gmp.h>
#include <math.h>

G_BEGIN_DECLS

G_STATIC_ASSERT (GMP_NUMB_BITS == 64);

/* Returns @value 2^@exponent, as ldexp() does; much faster where the power is a normal double. */
static inline double
apr_scale_double (double value, gint64 exponent)
{
  union
  {
    guint64 bits;
    double value;
  } power = { ((guint64) exponent + DBL_MAX_EXP - 1) << (DBL_MANT_DIG - 1) };

  if (exponent < DBL_MIN_EXP - 1 || exponent >= DBL_MAX_EXP)
    return ldexp (value, (gint) CLAMP (exponent, -5000, 5000));

  return value * power.value;
}

/* Whole numbers in two's complement, the least significant limb first. */

/* Returns the limb at index @limb: zeros below the number, its sign above. */
static inline guint64
apr_limbs_get (const mp_limb_t *limbs, gint64 n_limbs, gint64 limb)
{
  if (limb < 0)
    return 0;

  return limb < n_limbs ? limbs[limb] : (guint64) ((gint64) limbs[n_limbs - 1] >> 63);
}

/* Returns 64 bits, from bit @shift of @low up. */
static inline guint64
apr_limbs_join (guint64 low, guint64 high, guint shift)
{
  return low >> shift | high << 1 << (63 - shift);
}

/* Returns the 128 bits from bit @place up. */
static inline unsigned __int128
apr_limbs_get_part (const mp_limb_t *limbs, gint64 n_limbs, gint64 place)
{
  gint64 limb = place >> 6;
  guint shift = (guint) (place & 63);
  guint64 middle = apr_limbs_get (limbs, n_limbs, limb + 1);

  return (unsigned __int128) apr_limbs_join (middle, apr_limbs_get (limbs, n_limbs, limb + 2), shift) << 64 |
         apr_limbs_join (apr_limbs_get (limbs, n_limbs, limb), middle, shift);
}

/* Returns a b such that the magnitude is at most 2^b: the least one, or one more; 0 only where the number is 0. */
static inline gint64
apr_limbs_get_bits (const mp_limb_t *limbs, gsize n_limbs)
{
  mp_limb_t sign = (mp_limb_t) ((gint64) limbs[n_limbs - 1] >> 63);

  while (n_limbs > 0 && limbs[n_limbs - 1] == sign)
    n_limbs--;

  return n_limbs > 0 ? (gint64) (n_limbs * 64) - __builtin_clzll (limbs[n_limbs - 1] ^ sign)
                     : (gint64) (sign & 1);
}

static inline void
apr_limbs_get_integer (const mp_limb_t *limbs, gsize n_limbs, mpz_t value)
{
  mp_limb_t *to = mpz_limbs_write (value, (mp_size_t) n_limbs);
  gboolean negative = limbs[n_limbs - 1] >> 63 != 0;

  if (negative)
    (void) mpn_neg (to, limbs, (mp_size_t) n_limbs);
  else
    mpn_copyi (to, limbs, (mp_size_t) n_limbs);
  mpz_limbs_finish (value, negative ? -(mp_size_t) n_limbs : (mp_size_t) n_limbs);
}

/* Returns a number whose unit is 2^-@scale as a double, where its magnitude is below 4; sets bits of @too_large where
 * it is not. */
static inline double
apr_limbs_get_double (const mp_limb_t *limbs, gint64 n_limbs, gint64 scale, guint64 *too_large)
{
  gint64 place = scale - 61;
  gint64 limb = place >> 6;
  guint shift = (guint) (place & 63);
  guint64 high = apr_limbs_get (limbs, n_limbs, limb + 1);
  gint64 value = (gint64) apr_limbs_join (apr_limbs_get (limbs, n_limbs, limb), high, shift);
  guint64 sign = (guint64) (value >> 63);

  *too_large |= (guint64) ((gint64) high >> shift) ^ sign;
  for (limb = MAX (limb + 2, 0); limb < n_limbs; limb++)
    *too_large |= limbs[limb] ^ sign;

  return (double) value * 0x1p-61;
}

G_END_DECLS
