/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-distributions-private.h"

#include <math.h>

#include "aprender/base/apr-double-double-private.h"

/* Both are incomplete beta functions, which are a factor with an exponent of any size, and a continued fraction that
 * loses digits where one parameter is large. In double-double neither shows in the result. */

static const AprDoubleDouble log_2 = { 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56 };
static const AprDoubleDouble half_log_2_pi = { 0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55 };

#define CONTINUED_FRACTION_PRECISION 0x1p-70
#define MAX_TERMS 10000000

static AprDoubleDouble
dd (double value)
{
  return (AprDoubleDouble){ value, 0 };
}

/* Taylor's series after halving the argument nine times. */
static AprDoubleDouble
dd_exp (AprDoubleDouble x)
{
  double k = round (x.high / log_2.high);
  AprDoubleDouble r = apr_dd_subtract (x, apr_dd_multiply_double (log_2, k));
  AprDoubleDouble term;
  AprDoubleDouble sum;
  int i;

  /* What is kept is exp - 1, which does not lose its digits when it is squared. */
  r = (AprDoubleDouble){ ldexp (r.high, -9), ldexp (r.low, -9) };
  sum = term = r;
  for (i = 2; i < 12; i++)
    {
      term = apr_dd_divide (apr_dd_multiply (term, r), dd (i));
      sum = apr_dd_add (sum, term);
    }
  for (i = 0; i < 9; i++)
    sum = apr_dd_add (apr_dd_multiply_double (sum, 2), apr_dd_multiply (sum, sum));
  sum = apr_dd_add (sum, dd (1));

  k = fmax (fmin (k, 5000), -5000);
  return (AprDoubleDouble){ ldexp (sum.high, (int) k), ldexp (sum.low, (int) k) };
}

static AprDoubleDouble
dd_log (AprDoubleDouble x)
{
  double first = log (x.high);
  AprDoubleDouble rest = apr_dd_subtract (apr_dd_multiply (x, dd_exp (dd (-first))), dd (1));

  return apr_dd_add (dd (first), apr_dd_subtract (rest, dd (rest.high * rest.high / 2)));
}

/* Stirling's series, for @z above 0. */
static AprDoubleDouble
dd_log_gamma (double z)
{
  static const double bernoulli[][2] = {
    { 1, 6 }, { -1, 30 },     { 1, 42 },      { -1, 30 },       { 5, 66 },       { -691, 2730 },
    { 7, 6 }, { -3617, 510 }, { 43867, 798 }, { -174611, 330 }, { 854513, 138 }, { -236364091, 2730 },
  };
  AprDoubleDouble product = dd (1);
  AprDoubleDouble power;
  AprDoubleDouble square;
  AprDoubleDouble sum;
  gsize i;

  for (; z < 40; z++)
    product = apr_dd_multiply_double (product, z);

  sum = apr_dd_add (apr_dd_multiply (dd_log (dd (z)), dd (z - 0.5)), apr_dd_subtract (half_log_2_pi, dd (z)));
  power = apr_dd_divide (dd (1), dd (z));
  square = apr_dd_multiply (power, power);
  for (i = 0; i < G_N_ELEMENTS (bernoulli); i++)
    {
      double twice = 2.0 * (double) (i + 1);
      AprDoubleDouble factor =
        apr_dd_divide (dd (bernoulli[i][0]), dd (bernoulli[i][1] * twice * (twice - 1)));

      sum = apr_dd_add (sum, apr_dd_multiply (factor, power));
      power = apr_dd_multiply (power, square);
    }

  return apr_dd_subtract (sum, dd_log (product));
}

/* Lentz's method, as W. H. Press et al. modified it, for the continued fraction of M. Abramowitz and I. A. Stegun,
 * "Handbook of mathematical functions", 26.5.8. */
static AprDoubleDouble
beta_fraction (double a, double b, AprDoubleDouble x)
{
  AprDoubleDouble c = dd (1);
  AprDoubleDouble d;
  AprDoubleDouble result;
  double m;

  d = apr_dd_divide (
    dd (1), apr_dd_subtract (dd (1), apr_dd_divide (apr_dd_multiply (apr_dd_two_sum (a, b), x), dd (a + 1))));
  result = d;
  for (m = 1; m < MAX_TERMS; m++)
    {
      AprDoubleDouble step;
      AprDoubleDouble even = apr_dd_divide (apr_dd_multiply_double (apr_dd_multiply_double (x, b - m), m),
                                            apr_dd_multiply_double (dd (a + 2 * m - 1), a + 2 * m));
      AprDoubleDouble odd =
        apr_dd_divide (apr_dd_multiply (apr_dd_multiply_double (apr_dd_two_sum (a, b + m), -(a + m)), x),
                       apr_dd_multiply_double (dd (a + 2 * m), a + 2 * m + 1));

      d = apr_dd_divide (dd (1), apr_dd_add (dd (1), apr_dd_multiply (even, d)));
      c = apr_dd_add (dd (1), apr_dd_divide (even, c));
      result = apr_dd_multiply (result, apr_dd_multiply (c, d));
      d = apr_dd_divide (dd (1), apr_dd_add (dd (1), apr_dd_multiply (odd, d)));
      c = apr_dd_add (dd (1), apr_dd_divide (odd, c));
      step = apr_dd_multiply (c, d);
      result = apr_dd_multiply (result, step);
      if (fabs (step.high - 1 + step.low) < CONTINUED_FRACTION_PRECISION)
        break;
    }

  return result;
}

/* I_x (a, b), with @y = 1 - @x. */
static double
incomplete_beta (double a, double b, AprDoubleDouble x, AprDoubleDouble y)
{
  gboolean swap = x.high > (a + 1) / (a + b + 2);
  AprDoubleDouble exponent;
  AprDoubleDouble part;

  if (x.high <= 0 || y.high <= 0)
    return x.high <= 0 ? 0 : 1;

  exponent = apr_dd_add (apr_dd_multiply_double (dd_log (x), a), apr_dd_multiply_double (dd_log (y), b));
  exponent = apr_dd_subtract (exponent, apr_dd_add (dd_log_gamma (a), dd_log_gamma (b)));
  exponent = apr_dd_add (exponent, dd_log_gamma (a + b));
  if (exponent.high < -800)
    return swap ? 1 : 0;

  /* The factor is taken together with the fraction before it may become subnormal. */
  part = swap ? beta_fraction (b, a, y) : beta_fraction (a, b, x);
  part = apr_dd_divide (part, dd (swap ? b : a));
  part = dd_exp (apr_dd_add (exponent, dd_log (part)));
  if (swap)
    part = apr_dd_subtract (dd (1), part);

  return part.high;
}

/* The probability that a ratio is above @numerator / @denominator, given that numerator / (numerator + denominator)
 * is a beta variable of @b and @a. */
static double
upper_beta (double a, double b, AprDoubleDouble numerator, AprDoubleDouble denominator)
{
  AprDoubleDouble sum = apr_dd_add (numerator, denominator);

  return incomplete_beta (a, b, apr_dd_divide (denominator, sum), apr_dd_divide (numerator, sum));
}

/* The probability for a @t beside whose square @df is nothing: x^a / (a B (a, 1/2)), where x = df / t², a = df / 2. */
static double
find_far_tail (double t, double df)
{
  double a = df / 2;
  int shift;
  AprDoubleDouble log_t;
  AprDoubleDouble exponent;

  t = frexp (t, &shift);
  log_t = apr_dd_add (dd_log (dd (t)), apr_dd_multiply_double (log_2, shift));
  exponent = apr_dd_subtract (dd_log (dd (df)), apr_dd_multiply_double (log_t, 2));
  exponent = apr_dd_subtract (apr_dd_multiply_double (exponent, a), dd_log (dd (a)));
  exponent = apr_dd_subtract (exponent, apr_dd_add (dd_log_gamma (a), dd_log_gamma (0.5)));
  exponent = apr_dd_add (exponent, dd_log_gamma (a + 0.5));

  return exponent.high < -800 ? 0 : dd_exp (exponent).high;
}

double
apr_t_two_sided (double t, double df)
{
  if (isnan (t) || !(df > 0))
    return NAN;
  if (isinf (t))
    return 0;

  /* Of such a t the square would overflow, or be lost. */
  t = fabs (t);
  if (t > 1e100)
    return find_far_tail (t, df);
  if (t < 1e-100)
    return 1;

  return upper_beta (df / 2, 0.5, apr_dd_multiply_double (dd (t), t), dd (df));
}

double
apr_f_upper (double f, double df1, double df2)
{
  if (isnan (f) || !(df1 > 0) || !(df2 > 0))
    return NAN;
  if (isinf (f))
    return 0;
  if (f <= 0)
    return 1;

  return upper_beta (df2 / 2, df1 / 2, apr_dd_multiply_double (dd (f), df1), dd (df2));
}

/* The logarithm of the density's factor, without the root of @df: that of B (df / 2, 1 / 2). */
static double
find_log_beta (double df)
{
  return apr_dd_subtract (apr_dd_add (dd_log_gamma (df / 2), dd_log_gamma (0.5)), dd_log_gamma ((df + 1) / 2))
    .high;
}

/* Newton's method for the logarithm of the probability as a function of that of t, kept between bounds. */
double
apr_t_two_sided_inverse (double probability, double df)
{
  double target = log (probability);
  double log_beta = find_log_beta (df);
  double least = -40;
  double most = 700;
  double u = 0.5;
  int i;

  if (!(df > 0) || !(probability >= 0 && probability <= 1))
    return NAN;
  if (probability == 0)
    return INFINITY;
  if (probability == 1)
    return 0;

  for (i = 0; i < 200; i++)
    {
      double t = exp (u);
      double value = apr_t_two_sided (t, df);
      double difference = (value > 0 ? log (value) : -INFINITY) - target;
      double log_density = -log_beta - 0.5 * log (df) - (df + 1) / 2 * log1p (t / df * t);
      double slope = value > 0 ? -2 * exp (log_density + u) / value : 0;
      double next = u - difference / slope;
      /* An error of this size is far below rounding errors after one more step, which changes it to its square; those
       * would keep it moving for long. */
      double small = 0x1p-30;
      double step;

      if (difference > 0)
        least = u;
      else
        most = u;
      if (!(next >= least && next <= most))
        {
          next = (least + most) / 2;
          small = 0x1p-53;
        }
      step = fabs (next - u);
      u = next;
      if (step <= small * fmax (1, fabs (u)))
        break;
    }

  return exp (u);
}

/* Of a small level the probability outside would be rounded. The series is that of the integral of the density from the
 * centre, inverted. */
double
apr_t_central_inverse (double level, double df)
{
  double cubic = (df + 1) / (6 * df);
  double fifth = 3 * cubic * cubic - (df + 1) / df * ((df + 3) / df) / 40;
  double u;

  if (!(df > 0) || !(level < 0x1p-10))
    return apr_t_two_sided_inverse (1 - level, df);

  u = level / 2 * sqrt (df) * exp (find_log_beta (df));

  return u * (1 + u * u * (cubic + u * u * fifth));
}
