/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/table/apr-decimal-private.h"

#include <math.h>
#include <string.h>

#include <gmp.h>

#include "aprender/base/apr-number-private.h"

/* Decimal numbers are read in three ways, the fastest that is certain first.
 *
 * 1. A whole number below 2^53 times or divided by a power of ten up to 10^22: both are doubles, so one operation
 * rounds the true value once (W. D. Clinger, "How to read floating point numbers accurately", 1990).
 * 2. A whole number of 19 digits times a power of ten of which 128 bits are known. That gives an interval that holds
 * the true value; where all of the interval rounds to one double, that is the answer. Multiplying by a truncated
 * power, and seeing that it is enough but for one number in 2^50 or so, is due to D. Lemire, "Number parsing at a
 * gigabyte per second", 2021.
 * 3. The C library.
 */

/* 10^MIN_EXPONENT times 19 digits is below half the least double; 10^(MAX_EXPONENT + 1) is above the largest. */
#define MIN_EXPONENT (-343)
#define MAX_EXPONENT 308

#define MAX_DIGITS 19

/* 5^q = (high 2^64 + low + less than 1) 2^exponent, with the top bit of @high set. */
typedef struct
{
  guint64 high;
  guint64 low;
  int exponent;
  gboolean exact;
} Power;

static Power powers[MAX_EXPONENT - MIN_EXPONENT + 1];

static void
make_power (Power *power, int q)
{
  mpz_t five;
  mpz_t top;
  gsize n_bits;

  mpz_inits (five, top, NULL);
  mpz_ui_pow_ui (five, 5, (gulong) ABS (q));
  n_bits = mpz_sizeinbase (five, 2);
  power->exact = FALSE;

  if (q < 0)
    {
      /* 2^(n_bits + 127) / 5^-q is above 2^127 and at most 2^128, which only 5^0 reaches. */
      mpz_setbit (top, n_bits + 127);
      mpz_fdiv_q (top, top, five);
      power->exponent = -(int) (n_bits + 127);
    }
  else
    {
      power->exponent = (int) n_bits - 128;
      power->exact = n_bits <= 128;
      if (power->exact)
        mpz_mul_2exp (top, five, 128 - n_bits);
      else
        mpz_fdiv_q_2exp (top, five, n_bits - 128);
    }

  power->low = mpz_get_ui (top);
  mpz_fdiv_q_2exp (top, top, 64);
  power->high = mpz_get_ui (top);
  mpz_clears (five, top, NULL);
}

static void
make_powers (void)
{
  int i;

  for (i = MIN_EXPONENT; i <= MAX_EXPONENT; i++)
    make_power (&powers[i - MIN_EXPONENT], i);
}

static inline const Power *
get_power (int q)
{
  static gsize initialized = 0;

  if (g_once_init_enter (&initialized))
    {
      make_powers ();
      g_once_init_leave (&initialized, 1);
    }

  return &powers[q - MIN_EXPONENT];
}

/* The double nearest to a number between @top 2^@exponent and (@top + 1) 2^@exponent: at the lower end where @sticky is
 * false, otherwise strictly between the two. The top bit of @top is set. */
static double
round_once (guint64 top, gboolean sticky, int exponent)
{
  /* The bits below a double's 53, or more where it is subnormal. */
  int n_dropped = MAX (11, -1074 - exponent);
  guint64 kept;
  guint64 dropped;
  guint64 half;
  double value;

  if (n_dropped > 64)
    return 0;
  kept = n_dropped == 64 ? 0 : top >> n_dropped;
  dropped = n_dropped == 64 ? top : top & ((G_GUINT64_CONSTANT (1) << n_dropped) - 1);
  half = G_GUINT64_CONSTANT (1) << (n_dropped - 1);
  if (dropped > half || (dropped == half && (sticky || (kept & 1) != 0)))
    kept++;

  /* The bit above a subnormal's fraction is the first exponent's, and a fraction that overflows counts one up too. */
  exponent += n_dropped + 1074;
  if (exponent > 2045)
    return HUGE_VAL;
  kept += (guint64) exponent << 52;
  memcpy (&value, &kept, sizeof value);

  return value;
}

/* Rounds @digits 10^@q, which is not 0; false where 128 bits of the power do not tell. */
static gboolean
multiply (guint64 digits, int q, double *value)
{
  const Power *power = get_power (q);
  int shift = __builtin_clzll (digits);
  guint64 factor = digits << shift;
  unsigned __int128 low = (unsigned __int128) factor * power->low;
  unsigned __int128 high = (unsigned __int128) factor * power->high + (guint64) (low >> 64);
  guint64 bottom = (guint64) low;
  /* The value of the lowest bit of @high. */
  int exponent = power->exponent + q - shift + 64;
  unsigned __int128 above;

  if (power->exact)
    {
      int missing = (high >> 127) == 0;

      high <<= missing;
      if (missing)
        high |= bottom >> 63;
      bottom <<= missing;
      *value =
        round_once ((guint64) (high >> 64), (guint64) high != 0 || bottom != 0, exponent - missing + 64);
      return TRUE;
    }

  /* The true value is above the product, and below the product plus @factor. What is below bit 0 of @high adds less
   * than 1 to it at the lower end, and at most 2 at the upper one. */
  above = high + 1 + (bottom + factor < bottom);
  if ((high >> 127) == 0)
    {
      if ((above >> 127) != 0)
        return FALSE;
      high <<= 1;
      above <<= 1;
      exponent--;
    }
  if (above < high)
    return FALSE;

  *value = round_once ((guint64) (high >> 64), TRUE, exponent + 64);

  return (guint64) (above >> 64) == (guint64) (high >> 64) ||
       *value == round_once ((guint64) (above >> 64), (guint64) above != 0, exponent + 64);
}

/* Does the same by the upper half of the power, where that tells: mostly. */
static inline gboolean
multiply_once (guint64 digits, int q, double *value)
{
  const Power *power = get_power (q);
  int shift = __builtin_clzll (digits);
  guint64 high = (guint64) (((unsigned __int128) (digits << shift) * power->high) >> 64);
  /* Half of all numbers are shifted: a branch could not be foreseen. */
  int missing = high >> 63 == 0;
  guint64 top = high << missing;
  /* Of a normal double, less 1. */
  int exponent = power->exponent + q - shift - missing + 128 + 11 + 1074;
  guint64 bits;

  /* The true value is above @high and below @high + 2. Rounding treats all between these alike, unless a half of a
   * double's last bit, a multiple of 2^9, is among them. */
  if (power->exact || (high & 511) == 511 || exponent < 0 || exponent > 2045)
    return FALSE;

  bits = (top >> 11) + (top >> 10 & 1) + ((guint64) exponent << 52);
  memcpy (value, &bits, sizeof bits);

  return TRUE;
}

static const double exact_powers[] = {
  1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/* @truncated says that more digits followed, not all of them 0. */
static gboolean
scale (guint64 digits, gboolean truncated, gint64 q, double *value)
{
  double next;

  if (digits == 0 && !truncated)
    {
      *value = 0;
      return TRUE;
    }
  if (!truncated && digits <= G_GUINT64_CONSTANT (1) << 53 && q >= -22 && q <= 22)
    {
      *value = q < 0 ? (double) digits / exact_powers[-q] : (double) digits * exact_powers[q];
      return TRUE;
    }
  if (q < MIN_EXPONENT || q > MAX_EXPONENT)
    {
      *value = q > 0 ? HUGE_VAL : 0;
      return TRUE;
    }

  if (digits != 0 && !truncated && multiply_once (digits, (int) q, value))
    return TRUE;

  return digits != 0 && multiply (digits, (int) q, value) &&
         (!truncated || (multiply (digits + 1, (int) q, &next) && next == *value));
}

static const guint64 powers_of_ten[] = {
  1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000,
};

static inline gboolean
is_digit (char c)
{
  return (guint8) (c - '0') < 10;
}

/* Eight bytes, of which the first is the lowest. */
static inline guint64
load_eight (const char *text)
{
  guint64 bytes;

  memcpy (&bytes, text, 8);

  return GUINT64_FROM_LE (bytes);
}

/* The high bit of the first byte that is no digit; what is above it means nothing. */
static inline guint64
mark_others (guint64 bytes)
{
  return ((bytes + G_GUINT64_CONSTANT (0x4646464646464646)) |
          (bytes - G_GUINT64_CONSTANT (0x3030303030303030))) &
         G_GUINT64_CONSTANT (0x8080808080808080);
}

/* Neighbours are joined: pairs, fours, eights. */
static inline guint64
join_digits (guint64 digits)
{
  digits = digits * 10 + (digits >> 8);

  return (((digits & G_GUINT64_CONSTANT (0x000000ff000000ff)) * G_GUINT64_CONSTANT (0x000f424000000064)) +
          (((digits >> 16) & G_GUINT64_CONSTANT (0x000000ff000000ff)) *
           G_GUINT64_CONSTANT (0x0000271000000001))) >>
         32;
}

/* Whether eight bytes are digits, and the number that they make. */
static inline gboolean
read_eight (const char *text, guint64 *number)
{
  guint64 bytes = load_eight (text);

  if (mark_others (bytes) != 0)
    return FALSE;
  *number = join_digits (bytes - G_GUINT64_CONSTANT (0x3030303030303030));

  return TRUE;
}

/* Puts the digits among eight bytes behind @digits, and returns how many these are. How many is not foreseen, so this
 * branches for eight only. */
static inline guint
append_digits (const char *text, guint64 *digits)
{
  guint64 bytes = load_eight (text);
  guint64 others = mark_others (bytes);
  guint n;

  bytes -= G_GUINT64_CONSTANT (0x3030303030303030);
  if (others == 0)
    {
      *digits = *digits * 100000000 + join_digits (bytes);
      return 8;
    }
  n = (guint) __builtin_ctzll (others) / 8;
  *digits = *digits * powers_of_ten[n] + join_digits ((bytes << 8) << (56 - 8 * n));

  return n;
}

/* What read_short() looks at: 7 digits, the point, and 24 digits. */
#define SHORT_SIZE 32

/* Reads most numbers, faster than digit by digit: few digits before the point, not many behind, and no more in all than
 * @digits has room for. Returns: (nullable): the place behind them */
static inline const char *
read_short (const char *text, char point, guint64 *digits, gsize *n_fraction)
{
  guint n_whole = 1;
  guint n = 0;

  /* As data are often scaled. */
  if (text[1] == point && is_digit (*text))
    *digits = (guint64) (*text - '0');
  else
    n_whole = append_digits (text, digits);

  text += n_whole;
  if (n_whole < 8 && *text == point)
    {
      text++;
      while ((n = append_digits (text + *n_fraction, digits)) == 8 && *n_fraction < 16)
        *n_fraction += 8;
      *n_fraction += n;
      text += *n_fraction;
    }

  return n_whole < 8 && n < 8 && n_whole + *n_fraction - 1 < MAX_DIGITS ? text : NULL;
}

/* The digits that come next, as many as @digits still has room for; @n_digits counts from the first that is not 0.
 * Those that find no room are counted in @n_excess. */
static const char *
read_digits (
  const char *text, const char *end, guint64 *digits, guint *n_digits, gsize *n_excess, gboolean *truncated)
{
  guint64 eight;

  if (*n_digits == 0)
    while (text < end && *text == '0')
      text++;
  while (*n_digits + 8 <= MAX_DIGITS && end - text >= 8 && read_eight (text, &eight))
    {
      *digits = *digits * 100000000 + eight;
      *n_digits += 8;
      text += 8;
    }
  for (; text < end && is_digit (*text); text++)
    if (*n_digits < MAX_DIGITS)
      {
        *digits = *digits * 10 + (guint64) (*text - '0');
        (*n_digits)++;
      }
    else
      {
        (*n_excess)++;
        *truncated = *truncated || *text != '0';
      }

  return text;
}

static double
ask_c_library (const char *begin, const char *end, char point)
{
  char buffer[128];
  gsize length = (gsize) (end - begin);
  g_autofree char *allocated = length < sizeof buffer ? NULL : g_malloc (length + 1);
  char *copy = allocated != NULL ? allocated : buffer;
  char *found;

  memcpy (copy, begin, length);
  copy[length] = '\0';
  found = memchr (copy, point, length);
  if (found != NULL)
    *found = '.';

  return g_ascii_strtod (copy, NULL);
}

const char *
apr_decimal_parse (const char *text, const char *end, char point, double *value)
{
  const char *begin = text;
  const char *first_digit;
  const char *after;
  guint64 digits = 0;
  guint n_digits = 0;
  gsize n_excess = 0;
  gsize n_fraction = 0;
  gsize n_places;
  gboolean truncated = FALSE;
  gboolean negative;
  gint64 exponent = 0;

  if (text == end)
    return NULL;
  negative = *text == '-';
  text += negative | (*text == '+');

  first_digit = text;
  after = end - text >= SHORT_SIZE ? read_short (text, point, &digits, &n_fraction) : NULL;
  if (after != NULL)
    text = after;
  else
    {
      digits = 0;
      text = read_digits (text, end, &digits, &n_digits, &n_excess, &truncated);
      n_fraction = 0;
      n_places = (gsize) (text - first_digit);
      if (text < end && *text == point)
        {
          gsize n_excess_before = n_excess;

          after = read_digits (text + 1, end, &digits, &n_digits, &n_excess, &truncated);
          n_fraction = (gsize) (after - text - 1) - (n_excess - n_excess_before);
          n_places += (gsize) (after - text - 1);
          n_excess = n_excess_before;
          text = after;
        }
      if (n_places == 0)
        return NULL;
    }

  if (text < end && (*text == 'e' || *text == 'E'))
    {
      gboolean downwards;

      after = text + 1;
      downwards = after < end && *after == '-';
      if (after < end && (*after == '-' || *after == '+'))
        after++;
      if (after < end && is_digit (*after))
        {
          for (; after < end && is_digit (*after); after++)
            exponent = MIN (exponent * 10 + (*after - '0'), G_MAXINT32);
          exponent = downwards ? -exponent : exponent;
          text = after;
        }
    }

  exponent += (gint64) n_excess - (gint64) n_fraction;
  if (!scale (digits, truncated, exponent, value))
    *value = fabs (ask_c_library (begin, text, point));
  *value = copysign (*value, negative ? -1 : 1);

  return text;
}

/* The first MAX_WRITTEN digits of a number and what is left of it. */
#define MAX_WRITTEN 17

typedef struct
{
  guint64 digits;  /* [10^16, 10^17) */
  guint remainder; /* of the last digit: 0 is none, 1 less than half, 2 a half, 3 more */
  int exponent;    /* of the first digit */
} Decimal;

/* Cuts a positive normal number into digits. What is left is told by 128 bits of the power of ten, so that it may be
 * wrong next to a half; false where there is no such power. */
static gboolean
split (double value, Decimal *self)
{
  const Power *power;
  guint64 bits;
  guint64 fraction;
  guint64 dropped;
  unsigned __int128 low;
  unsigned __int128 high;
  unsigned __int128 part;
  unsigned __int128 half;
  int exponent;
  int shift;
  int q;

  memcpy (&bits, &value, sizeof bits);
  exponent = (int) (bits >> 52) - 1075;
  fraction = (bits & ((G_GUINT64_CONSTANT (1) << 52) - 1)) | G_GUINT64_CONSTANT (1) << 52;

  /* The largest power of ten that is at most 2^(exponent + 52), by 78913 / 2^18, which is just above log10 (2). */
  self->exponent = ((exponent + 52) * 78913) >> 18;
  q = MAX_WRITTEN - 1 - self->exponent;
  if (q < MIN_EXPONENT || q > MAX_EXPONENT)
    return FALSE;

  power = get_power (q);
  low = (unsigned __int128) fraction * power->low;
  high = (unsigned __int128) fraction * power->high + (guint64) (low >> 64);
  shift = -(power->exponent + exponent + q + 64);
  if (shift < 1 || shift > 127)
    return FALSE;
  self->digits = (guint64) (high >> shift);
  half = (unsigned __int128) 1 << (shift - 1);
  part = high & (2 * half - 1);
  self->remainder = part > half || (part == half && ((guint64) low != 0 || !power->exact)) ? 3
                  : part == half                                                           ? 2
                  : part != 0 || (guint64) low != 0 || !power->exact                       ? 1
                                                                                           : 0;

  /* The number may have ten times that power, too. */
  if (self->digits >= G_GUINT64_CONSTANT (100000000000000000))
    {
      dropped = self->digits % 10;
      self->digits /= 10;
      self->exponent++;
      self->remainder = dropped > 5 || (dropped == 5 && self->remainder != 0) ? 3
                      : dropped == 5                                          ? 2
                      : dropped != 0 || self->remainder != 0                  ? 1
                                                                              : 0;
    }

  return TRUE;
}

/* Rounds to @n_digits, ties to even. */
static guint64
round_digits (const Decimal *self, int n_digits, int *exponent)
{
  guint64 unit = powers_of_ten[MAX_WRITTEN - n_digits];
  guint64 rounded = self->digits / unit;
  guint64 dropped = self->digits % unit;
  gboolean up;

  if (unit == 1)
    up = self->remainder == 3 || (self->remainder == 2 && (rounded & 1) != 0);
  else
    up = dropped > unit / 2 || (dropped == unit / 2 && (self->remainder != 0 || (rounded & 1) != 0));
  rounded += up;

  *exponent = self->exponent;
  if (rounded == G_GUINT64_CONSTANT (100000000000000000) / unit)
    {
      rounded /= 10;
      (*exponent)++;
    }

  return rounded;
}

/* As "%.*g" does it with @precision digits, of which those at the end that are 0 are left out. */
static char *
lay_out (char *out, guint64 digits, int n_digits, int exponent, int precision)
{
  char text[MAX_WRITTEN];
  int n_whole = exponent + 1;
  int i;

  for (i = n_digits - 1; i >= 0; i--, digits /= 10)
    text[i] = (char) ('0' + digits % 10);
  while (n_digits > 1 && text[n_digits - 1] == '0')
    n_digits--;

  if (exponent < -4 || exponent >= precision)
    {
      *out++ = text[0];
      if (n_digits > 1)
        *out++ = '.';
      memcpy (out, text + 1, (gsize) n_digits - 1);
      out += n_digits - 1;
      return out + g_snprintf (out, 8, "e%c%02d", exponent < 0 ? '-' : '+', ABS (exponent));
    }

  if (n_whole <= 0)
    {
      *out++ = '0';
      *out++ = '.';
      for (i = n_whole; i < 0; i++)
        *out++ = '0';
      n_whole = 0;
    }
  for (i = 0; i < MAX (n_digits, n_whole); i++)
    {
      if (i == n_whole && n_whole > 0)
        *out++ = '.';
      *out++ = i < n_digits ? text[i] : '0';
    }

  return out;
}

gsize
apr_decimal_format (double value, gboolean narrow, char buffer[APR_NUMBER_SIZE])
{
  double magnitude = fabs (value);
  int n_digits = narrow ? 6 : 15;
  char *out = buffer;
  Decimal decimal;

  if (magnitude < (narrow ? 0x1p-126 : 0x1p-1022) || !split (magnitude, &decimal))
    return strlen (apr_number_format (value, narrow, buffer));

  if (value < 0)
    *out++ = '-';
  for (; n_digits <= (narrow ? 9 : 17); n_digits++)
    {
      int exponent;
      guint64 digits = round_digits (&decimal, n_digits, &exponent);
      double again;

      if (scale (digits, FALSE, exponent - n_digits + 1, &again) &&
          (narrow ? (float) again == (float) magnitude : again == magnitude))
        {
          out = lay_out (out, digits, n_digits, exponent, n_digits);
          *out = '\0';
          return (gsize) (out - buffer);
        }
    }

  return strlen (apr_number_format (value, narrow, buffer));
}
