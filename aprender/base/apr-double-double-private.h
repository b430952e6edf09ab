/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <math.h>

G_BEGIN_DECLS

/* A number as the unevaluated sum of two doubles, of which @low is at most half a unit in the last place of
 * @high: 106 bits of precision. The operations are those of T. J. Dekker, "A floating-point technique for
 * extending the available precision", 1971, with the product's error from a fused multiply-add. They err by a
 * few units of 2^-104. */
typedef struct
{
  double high;
  double low;
} AprDoubleDouble;

static inline AprDoubleDouble
apr_dd_quick_sum (double a, double b)
{
  double sum = a + b;

  return (AprDoubleDouble){ sum, b - (sum - a) };
}

static inline AprDoubleDouble
apr_dd_two_sum (double a, double b)
{
  double sum = a + b;
  double part = sum - a;

  return (AprDoubleDouble){ sum, (a - (sum - part)) + (b - part) };
}

static inline AprDoubleDouble
apr_dd_add (AprDoubleDouble a, AprDoubleDouble b)
{
  AprDoubleDouble high = apr_dd_two_sum (a.high, b.high);
  AprDoubleDouble low = apr_dd_two_sum (a.low, b.low);

  high = apr_dd_quick_sum (high.high, high.low + low.high);
  return apr_dd_quick_sum (high.high, high.low + low.low);
}

static inline AprDoubleDouble
apr_dd_negate (AprDoubleDouble a)
{
  return (AprDoubleDouble){ -a.high, -a.low };
}

static inline AprDoubleDouble
apr_dd_subtract (AprDoubleDouble a, AprDoubleDouble b)
{
  return apr_dd_add (a, apr_dd_negate (b));
}

static inline AprDoubleDouble
apr_dd_multiply (AprDoubleDouble a, AprDoubleDouble b)
{
  double product = a.high * b.high;
  double error = fma (a.high, b.high, -product);

  return apr_dd_quick_sum (product, error + (a.high * b.low + a.low * b.high));
}

static inline AprDoubleDouble
apr_dd_multiply_double (AprDoubleDouble a, double b)
{
  double product = a.high * b;
  double error = fma (a.high, b, -product);

  return apr_dd_quick_sum (product, fma (a.low, b, error));
}

static inline AprDoubleDouble
apr_dd_divide (AprDoubleDouble a, AprDoubleDouble b)
{
  double first = a.high / b.high;
  AprDoubleDouble rest = apr_dd_subtract (a, apr_dd_multiply_double (b, first));
  double second = rest.high / b.high;
  double third;

  rest = apr_dd_subtract (rest, apr_dd_multiply_double (b, second));
  third = rest.high / b.high;

  return apr_dd_add (apr_dd_quick_sum (first, second), (AprDoubleDouble){ third, 0 });
}

static inline AprDoubleDouble
apr_dd_invert (AprDoubleDouble a)
{
  return apr_dd_divide ((AprDoubleDouble){ 1, 0 }, a);
}

G_END_DECLS
