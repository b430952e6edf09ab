/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-fixed-private.h"

#include <math.h>

#define LIMB_BITS 64

/* The bits of a correction: a little more than a double has, so that it fits into a limb with a small shift. */
#define CORRECTION_BITS 55

void
apr_fixed_init (AprFixed *self, gsize n, gint64 fraction, gint64 whole)
{
  self->n = n;
  self->n_limbs = (gsize) MAX (0, fraction + whole) / LIMB_BITS + 1;
  self->fraction = fraction;
  self->limbs = g_new0 (mp_limb_t, n * self->n_limbs);
}

void
apr_fixed_clear (AprFixed *self)
{
  g_clear_pointer (&self->limbs, g_free);
}

gint64
apr_fixed_get_exponent (const AprFixed *self, gsize i)
{
  gint64 bits = apr_limbs_get_bits (apr_fixed_get (self, i), self->n_limbs);

  return bits > 0 ? bits - self->fraction : G_MININT64;
}

double
apr_fixed_get_double (const AprFixed *self, gsize i, gint64 exponent)
{
  const mp_limb_t *limbs = apr_fixed_get (self, i);
  gint64 place = MAX (apr_limbs_get_bits (limbs, self->n_limbs) - 62, 0);
  gint64 n_limbs = (gint64) self->n_limbs;
  guint64 value = apr_limbs_join (apr_limbs_get (limbs, n_limbs, place >> 6),
                                  apr_limbs_get (limbs, n_limbs, (place >> 6) + 1), (guint) (place & 63));

  return apr_scale_double ((double) (gint64) value, place - self->fraction - exponent);
}

void
apr_fixed_add (AprFixed *self, gsize i, const mp_limb_t *value, gsize n, gint64 exponent)
{
  mp_limb_t *to = self->limbs + i * self->n_limbs;
  gsize n_limbs = self->n_limbs;
  gint64 shift = exponent + self->fraction;
  gsize first = shift > 0 ? (gsize) shift / LIMB_BITS : 0;
  gint64 place = (gint64) first * LIMB_BITS - shift;
  gint64 limb = place >> 6;
  mp_limb_t is_negative = value[n - 1] >> (LIMB_BITS - 1);
  mp_limb_t low = apr_limbs_get (value, (gint64) n, limb);
  mp_limb_t carry = 0;
  gsize k;

  for (k = first; k < n_limbs; k++, limb++)
    {
      mp_limb_t high = apr_limbs_get (value, (gint64) n, limb + 1);
      unsigned __int128 sum =
        (unsigned __int128) to[k] + carry + apr_limbs_join (low, high, (guint) (place & 63));

      to[k] = (mp_limb_t) sum;
      carry = (mp_limb_t) (sum >> LIMB_BITS);
      low = high;
      /* From here on, what carries and the sign cancel. */
      if (limb >= (gint64) n && carry == is_negative)
        break;
    }
}

void
apr_correction_init (AprCorrection *self, gsize n)
{
  self->n = n;
  self->values = g_new0 (gint64, n);
}

void
apr_correction_clear (AprCorrection *self)
{
  g_clear_pointer (&self->values, g_free);
}

gboolean
apr_correction_set (
  AprCorrection *self, const double *values, gint64 exponent, gint64 max_place, gint64 whole)
{
  double max = 0;
  gboolean any = FALSE;
  gint bits;
  gsize i;

  for (i = 0; i < self->n; i++)
    {
      /* Not a number is not to be overlooked. */
      if (!(fabs (values[i]) < INFINITY))
        return FALSE;
      max = MAX (max, fabs (values[i]));
    }
  (void) frexp (max, &bits);
  if (bits + exponent > whole)
    return FALSE;

  self->place = MIN (CORRECTION_BITS - (bits + exponent), max_place);
  exponent += self->place;
  for (i = 0; i < self->n; i++)
    {
      self->values[i] = (gint64) rint (apr_scale_double (values[i], exponent));
      any = any || self->values[i] != 0;
    }

  return any;
}

void
apr_fixed_add_correction (AprFixed *self, const AprCorrection *correction, gint64 exponent, gint sign)
{
  gsize i;

  for (i = 0; i < self->n; i++)
    {
      mp_limb_t value = (mp_limb_t) (sign * correction->values[i]);

      if (value != 0)
        apr_fixed_add (self, i, &value, 1, exponent - correction->place);
    }
}
