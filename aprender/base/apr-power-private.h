/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <math.h>
#include <string.h>

G_BEGIN_DECLS

/* 2^@exponent: faster than ldexp () where that is a normal number. */
static inline double
apr_power_of_two (gint exponent)
{
  guint64 bits = (guint64) (exponent + 1023) << 52;
  double power;

  if (exponent < -1022 || exponent > 1023)
    return ldexp (1.0, exponent);

  memcpy (&power, &bits, sizeof power);
  return power;
}

/* The size of a finite number as an odd one times 2^@exponent; 0 for 0. */
static inline guint64
apr_split_double (double value, gint *exponent)
{
  guint64 bits;
  guint64 whole;
  gint n_zeros;

  memcpy (&bits, &value, sizeof bits);
  whole = bits & (((guint64) 1 << 52) - 1);
  *exponent = (gint) (bits >> 52 & 0x7ff);
  if (*exponent > 0)
    whole |= (guint64) 1 << 52;
  else
    *exponent = 1;
  if (whole == 0)
    return 0;
  n_zeros = __builtin_ctzll (whole);
  *exponent += n_zeros - 1075;

  return whole >> n_zeros;
}

G_END_DECLS
