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

G_END_DECLS
