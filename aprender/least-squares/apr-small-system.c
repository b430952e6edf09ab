/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-small-system-private.h"

#include <float.h>
#include <math.h>

#include "aprender/least-squares/apr-products-private.h"
#include "aprender/base/apr-double-double-private.h"

/* The products are centred in whole numbers of a few words, as apr-products.c does, scaled to a diagonal between 1/2
 * and 2, and cut to two digits of 60 bits: numbers in units of 2^-118. The inverse of Cholesky's factor, in double,
 * bounds their eigenvalues and corrects x, which gets some 50 bits longer by each exact residual; and the residual and
 * the least eigenvalue bound what is still missing.
 */
#define MAX_FEATURES 32

/* Of a product. */
#define MAX_WORDS 6

#define MAX_WEIGHT_BITS 62

#define DIGIT_BITS 60
#define FRACTION_BITS 118

/* Of what is added to x at once: sums of products with digits stay within 128 bits. */
#define STEP_BITS 54
#define MAX_STEP 63
#define MAX_BITS 120

/* Of the intercept: a few more than the error leaves. */
#define INTERCEPT_BITS 90

/* The least eigenvalue of which the bound still says something. */
#define LEAST_EIGENVALUE 0x1p-36

/* Beyond what there is of such short numbers, so that no double gets too large or too small. */
#define MAX_EXPONENT 400

typedef __int128 Wide;
typedef unsigned __int128 UnsignedWide;

/* The sum of a column. */
typedef struct
{
  guint64 magnitude[MAX_WORDS]; /* and zeros behind */
  gsize n_words;                /* up to the first that is not 0 */
  gboolean negative;
} Sum;

typedef struct
{
  const AprLeastSquaresOptions *options; /* (unowned) */
  gsize n;
  gsize n_targets;

  guint64 *words; /* (owned) the entries that are needed, in two's complement, @stride words each */
  gsize stride;
  gsize first;     /* word that is not 0 in all */
  gsize n_words;   /* from there on, that hold all */
  gsize n_product; /* words of a product, one more */

  guint64 weights; /* the sum of the weights, times 2^(2 half) in the unit of the entries */
  gint half;       /* the sums of columns are times 2^half in that unit */
  Sum sums[MAX_FEATURES];

  gint64 scales[MAX_FEATURES];
  gint64 high[MAX_FEATURES][MAX_FEATURES]; /* digits of the scaled products */
  gint64 low[MAX_FEATURES][MAX_FEATURES];
  gboolean exact; /* nothing is behind the digits, else a unit at the most */

  double inverse[MAX_FEATURES][MAX_FEATURES]; /* of Cholesky's factor, the lower triangle */
  double least;                               /* below every eigenvalue of the scaled products */
} SmallSystem;

static const guint64 *
get_entry (const SmallSystem *self, gsize row, gsize column)
{
  gsize entry = row <= self->n ? apr_triangle (row, column)
                               : apr_triangle (self->n + 1, 0) + (row - self->n - 1) * (self->n + 1) + column;

  return self->words + entry * self->stride + self->first;
}

static inline gboolean
is_negative (const guint64 *words, gsize n)
{
  return words[n - 1] >> 63 != 0; /* NOLINT: the analyser does not see that products are written by GMP. */
}

/* The magnitude is 2^this at the most; 0 for zero alone. */
static inline gint64
get_bits (const guint64 *words, gsize n)
{
  guint64 sign = is_negative (words, n) ? G_MAXUINT64 : 0;

  while (n > 0 && words[n - 1] == sign)
    n--;

  /* Nothing is left of -1. */
  return n > 0 ? (gint64) (n * 64) - __builtin_clzll (words[n - 1] ^ sign) : (gint64) (sign & 1);
}

/* -1 has no bits, but is not 0. */
static inline gboolean
is_zero (const guint64 *words, gsize n)
{
  return get_bits (words, n) == 0 && !is_negative (words, n);
}

/* The zeros below the lowest bit. */
static gint
count_zeros (const guint64 *words, gsize n)
{
  gsize i;

  for (i = 0; i < n; i++)
    if (words[i] != 0)
      return (gint) (i * 64) + __builtin_ctzll (words[i]);

  return G_MAXINT;
}

/* The products of the targets with each other are not needed, nor read. */
static gboolean
read_entries (SmallSystem *self, AprExactSums *state)
{
  gsize n_rows = 1 + self->n + self->n_targets;
  gsize stride = apr_exact_sums_count_words (state);
  gsize first = stride;
  gsize end = 1;
  guint64 *words;
  gsize row;
  gsize column;
  gsize i;

  self->stride = stride;
  words = self->words =
    g_new (guint64, (apr_triangle (self->n + 1, 0) + self->n_targets * (self->n + 1)) * stride);
  for (row = 0; row < n_rows; row++)
    {
      gsize n_columns = MIN (row, self->n) + 1;

      apr_exact_sums_read_row (state, row, n_columns, words);
      for (column = 0; column < n_columns && stride > 0; column++, words += stride)
        {
          guint64 sign = is_negative (words, stride) ? G_MAXUINT64 : 0;

          for (i = 0; i < first; i++)
            if (words[i] != 0)
              first = i;
          for (i = stride; i > end && words[i - 1] == sign; i--)
            ;
          end = i;
          /* The sign needs a bit. */
          if ((words[end - 1] ^ sign) >> 63 != 0)
            end++;
        }
    }

  self->first = first;
  self->n_words = end - first;
  self->n_product = self->n_words + 1;

  return first < end && self->n_product <= MAX_WORDS;
}

static gboolean
load_sum (const SmallSystem *self, gsize row, Sum *sum)
{
  const guint64 *words = get_entry (self, row, 0);
  gsize n = self->n_words;
  gsize skipped = (gsize) self->half / 64;
  guint shift = (guint) self->half % 64;
  UnsignedWide carry;
  gsize i;

  /* The bits below the sum's half are 0, so that the complement is one of what is above. */
  *sum = (Sum){ .negative = is_negative (words, n) };
  carry = sum->negative ? 1 : 0;
  for (i = skipped; i < n; i++)
    {
      guint64 next = i + 1 < n ? words[i + 1] : sum->negative ? G_MAXUINT64 : 0;
      guint64 word = shift == 0 ? words[i] : words[i] >> shift | next << (64 - shift);

      carry += sum->negative ? ~word : word;
      sum->magnitude[i - skipped] = (guint64) carry;
      if ((guint64) carry != 0)
        sum->n_words = i - skipped + 1;
      carry >>= 64;
    }

  /* A product of two has two bits left, so that nothing that is done with it wraps around. */
  return sum->n_words == 0 || 64 * sum->n_words - (gsize) __builtin_clzll (sum->magnitude[sum->n_words - 1]) <
                                32 * self->n_product;
}

/* Finds what powers of two the sums share. */
static gboolean
load_sums (SmallSystem *self)
{
  const guint64 *weights = get_entry (self, 0, 0);
  gint zeros = count_zeros (weights, self->n_words);
  gsize i;

  self->weights = 1;
  for (i = 0; i < self->n; i++)
    self->sums[i] = (Sum){ 0 };
  if (!self->options->fit_intercept)
    return TRUE;

  if (zeros == G_MAXINT || is_negative (weights, self->n_words))
    return FALSE;
  self->half = zeros / 2;
  for (i = 1; i <= self->n + self->n_targets; i++)
    self->half = MIN (self->half, count_zeros (get_entry (self, i, 0), self->n_words));
  if (get_bits (weights, self->n_words) - 2 * self->half > MAX_WEIGHT_BITS)
    return FALSE;

  i = (gsize) (2 * self->half) / 64;
  self->weights = weights[i] >> (2 * self->half % 64);
  if (2 * self->half % 64 != 0 && i + 1 < self->n_words)
    self->weights |= weights[i + 1] << (64 - 2 * self->half % 64);

  for (i = 0; i < self->n; i++)
    if (!load_sum (self, 1 + i, &self->sums[i]))
      return FALSE;
  return TRUE;
}

/* weights * entry - left * right, where an entry has @n words and a sum at most @n_sum. */
static G_ALWAYS_INLINE inline void
centre_words (const SmallSystem *self,
              const guint64 *entry,
              const Sum *left,
              const Sum *right,
              guint64 *to,
              gsize n,
              gsize n_sum)
{
  guint64 complement = left->negative == right->negative ? G_MAXUINT64 : 0;
  guint64 product[2 * MAX_WORDS];
  UnsignedWide carry;
  gsize i;
  gsize j;

  for (i = 0; i < n_sum; i++)
    {
      carry = 0;
      for (j = 0; j < n_sum; j++)
        {
          carry += (UnsignedWide) left->magnitude[i] * right->magnitude[j] + (i > 0 ? product[i + j] : 0);
          product[i + j] = (guint64) carry;
          carry >>= 64;
        }
      product[i + j] = (guint64) carry;
    }

  carry = 0;
  for (i = 0; i < n; i++)
    {
      carry += (UnsignedWide) entry[i] * self->weights;
      to[i] = (guint64) carry;
      carry >>= 64;
    }
  to[n] = (guint64) carry - (is_negative (entry, n) ? self->weights : 0);

  /* A difference is a sum with the complement. */
  carry = complement & 1;
  for (i = 0; i <= n; i++)
    {
      carry += (UnsignedWide) to[i] + ((i < 2 * n_sum ? product[i] : 0) ^ complement);
      to[i] = (guint64) carry;
      carry >>= 64;
    }
}

/* The usual lengths for the compiler to unroll. */
static void
centre (const SmallSystem *self, const guint64 *entry, const Sum *left, const Sum *right, guint64 *to)
{
  gsize n = self->n_words;
  gsize n_sum = MAX (left->n_words, right->n_words);

  if (n == 2 && n_sum <= 1)
    centre_words (self, entry, left, right, to, 2, 1);
  else if (n == 3 && n_sum <= 2)
    centre_words (self, entry, left, right, to, 3, 2);
  else if (n == 4 && n_sum <= 2)
    centre_words (self, entry, left, right, to, 4, 2);
  else
    centre_words (self, entry, left, right, to, n, n_sum);
}

/* The product times 2^(FRACTION_BITS - @scale), which must be 2^(FRACTION_BITS + 1) at the most, without what is
 * behind the point: then @exact may be cleared. */
static Wide
scale_product (const SmallSystem *self, const guint64 *words, gint64 scale, gboolean *exact)
{
  gsize n = self->n_product;
  guint64 sign = is_negative (words, n) ? G_MAXUINT64 : 0;
  gint64 place = scale - FRACTION_BITS;
  gsize word;
  guint shift;
  guint64 parts[3];
  gsize i;

  if (place <= 0)
    {
      UnsignedWide whole = (UnsignedWide) words[1] << 64 | words[0]; /* NOLINT: as above */

      return (Wide) (whole << -place);
    }

  *exact = FALSE;
  word = (gsize) place / 64;
  shift = (guint) place % 64;
  for (i = 0; i < 3; i++)
    parts[i] = word + i < n ? words[word + i] : sign;
  if (shift > 0)
    for (i = 0; i < 2; i++)
      parts[i] = parts[i] >> shift | parts[i + 1] << (64 - shift);

  return (Wide) ((UnsignedWide) parts[1] << 64 | parts[0]);
}

static inline void
cut (Wide value, gint64 *high, gint64 *low)
{
  *high = (gint64) ((value + ((Wide) 1 << (DIGIT_BITS - 1))) >> DIGIT_BITS);
  *low = (gint64) (value - (Wide) *high * ((Wide) 1 << DIGIT_BITS));
}

/* Whether less than 2^(@rank_tolerance + 1) can be left of what @entry is the sum of squares of. */
static gboolean
may_be_constant (const SmallSystem *self, const guint64 *entry, const guint64 *centred, gint64 rank_tolerance)
{
  gint64 bits = get_bits (centred, self->n_product);
  gint64 plain_bits = get_bits (entry, self->n_words) + get_bits (&self->weights, 1);

  return bits == 0 || is_negative (centred, self->n_product) || bits - 1 - plain_bits <= rank_tolerance;
}

static gboolean
load_products (SmallSystem *self, double rank_tolerance)
{
  guint64 product[MAX_WORDS];
  gsize i;
  gsize j;

  self->exact = TRUE;
  for (i = 0; i < self->n; i++)
    {
      const guint64 *square = get_entry (self, 1 + i, 1 + i);

      centre (self, square, &self->sums[i], &self->sums[i], product);
      if (may_be_constant (self, square, product, ilogb (rank_tolerance)))
        return FALSE;
      self->scales[i] = get_bits (product, self->n_product) / 2;
      cut (scale_product (self, product, 2 * self->scales[i], &self->exact), &self->high[i][i],
           &self->low[i][i]);

      for (j = 0; j < i; j++)
        {
          gint64 scale = self->scales[i] + self->scales[j];

          centre (self, get_entry (self, 1 + i, 1 + j), &self->sums[i], &self->sums[j], product);
          /* Nothing else can come from samples. */
          if (get_bits (product, self->n_product) > scale + 1)
            return FALSE;
          cut (scale_product (self, product, scale, &self->exact), &self->high[i][j], &self->low[i][j]);
          self->high[j][i] = self->high[i][j];
          self->low[j][i] = self->low[i][j];
        }
    }

  return TRUE;
}

/* Cholesky's factor, and its inverse. With c = (n + 8) u, which is more than any number here is the sum of, the factor
 * L is exact for a matrix that differs from the products by at most c |L|^2 in Frobenius's norm, and what rounding the
 * entries leaves; and L times the computed inverse W differs from the identity by at most c |L||W| (N. J. Higham,
 * "Accuracy and stability of numerical algorithms", 2002, theorems 8.5 and 10.3). So the least eigenvalue of L L' is
 * at least (1 - c |L||W|)^2 / |W|^2. */
static gboolean
factorise (SmallSystem *self)
{
  double upper[MAX_FEATURES][MAX_FEATURES];
  double n = (double) self->n;
  double c = (n + 8) * DBL_EPSILON;
  double factor_norm = sqrt (2.1 * n);
  double norm = 0;
  gsize i;
  gsize j;
  gsize k;

  for (i = 0; i < self->n; i++)
    for (j = i; j < self->n; j++)
      upper[i][j] = (double) self->high[i][j] * 0x1p-58;

  for (i = 0; i < self->n; i++)
    {
      for (j = 0; j < i; j++)
        self->inverse[i][j] = 0;
      self->inverse[i][i] = 1;
    }

  /* What a row brings to those below it, for both at once. */
  for (k = 0; k < self->n; k++)
    {
      double reciprocal;

      if (!(upper[k][k] > LEAST_EIGENVALUE))
        return FALSE;
      reciprocal = 1 / sqrt (upper[k][k]);
      for (j = k + 1; j < self->n; j++)
        upper[k][j] *= reciprocal;
      for (j = 0; j <= k; j++)
        self->inverse[k][j] *= reciprocal;
      for (i = k + 1; i < self->n; i++)
        {
          for (j = i; j < self->n; j++)
            upper[i][j] -= upper[k][i] * upper[k][j];
          for (j = 0; j <= k; j++)
            self->inverse[i][j] -= upper[k][i] * self->inverse[k][j];
        }
    }

  for (i = 0; i < self->n; i++)
    {
      double sum = 0;

      for (j = 0; j <= i; j++)
        sum += self->inverse[i][j] * self->inverse[i][j];
      norm += sum;
    }
  if (!(c * factor_norm * sqrt (norm) < 0x1p-10))
    return FALSE;
  self->least = 0.99 / norm - c * factor_norm * factor_norm - n * 0x1p-50;
  return TRUE;
}

/* What is left of a right-hand side, high 2^DIGIT_BITS + low in some unit, and the x that it is left by, in another. */
typedef struct
{
  Wide high[MAX_FEATURES];
  Wide low[MAX_FEATURES];
  double values[MAX_FEATURES]; /* the same, or nearly so */
  double size;                 /* the 2-norm, or a bit more */

  Wide x[MAX_FEATURES];
  gint fraction_bits; /* x counts 2^-this, the residual 2^-(FRACTION_BITS + this) */
  gboolean exact;     /* nothing was left out of the right-hand side, nor of the products */
  gint bits;          /* x is below 2^(this + 1) */
} Residual;

/* The high digit of what to_double() takes is below 2^this. */
#define MAX_HIGH_BITS 94

static inline double
to_double (Wide high, Wide low)
{
  double top = (double) (gint64) (high >> 32) * 0x1p32 + (double) (guint32) high;

  return top * (double) ((gint64) 1 << DIGIT_BITS) + (double) (gint64) low;
}

static void
measure (const SmallSystem *self, Residual *residual)
{
  double sum = 0;
  gsize i;

  for (i = 0; i < self->n; i++)
    {
      residual->values[i] = to_double (residual->high[i], residual->low[i]);
      sum += residual->values[i] * residual->values[i];
    }
  residual->size = 1.001 * sqrt (sum);
}

/* The unknowns that belong to the residual, in its unit. Returns: the greatest magnitude of them */
static double
estimate (const SmallSystem *self, const Residual *residual, double *x)
{
  double greatest = 0;
  gsize i;
  gsize j;

  for (i = 0; i < self->n; i++)
    {
      double y = 0;

      x[i] = 0;
      for (j = 0; j <= i; j++)
        y += self->inverse[i][j] * residual->values[j];
      for (j = 0; j <= i; j++)
        x[j] += self->inverse[i][j] * y;
    }
  for (i = 0; i < self->n; i++)
    greatest = MAX (greatest, fabs (x[i]));

  return greatest;
}

/* Adds what belongs to the residual to its x, as far as that can hold it, and takes the products away. False where
 * there is no room. */
static gboolean
correct (const SmallSystem *self, Residual *residual)
{
  double x[MAX_FEATURES];
  gint64 digits[MAX_FEATURES];
  double greatest = estimate (self, residual, x);
  double factor;
  gint bits;
  gint step;
  gsize i;
  gsize j;

  (void) frexp (greatest, &bits);
  step = MIN (STEP_BITS + FRACTION_BITS - bits, MIN (MAX_STEP, MAX_BITS - residual->bits));
  if (!(greatest > 0) || step < 1 || residual->size > ldexp (1, 2 * DIGIT_BITS + 64 - step))
    return FALSE;

  factor = ldexp (1, step - FRACTION_BITS);
  for (i = 0; i < self->n; i++)
    {
      digits[i] = (gint64) (x[i] * factor);
      residual->x[i] = residual->x[i] * ((Wide) 1 << step) + digits[i];
    }
  residual->fraction_bits += step;
  residual->bits = residual->bits == 0 ? STEP_BITS : residual->bits + step;

  for (i = 0; i < self->n; i++)
    {
      Wide high = residual->high[i] * ((Wide) 1 << step);
      Wide low = residual->low[i] * ((Wide) 1 << step);
      Wide carry;

      for (j = 0; j < self->n; j++)
        {
          high -= (Wide) self->high[i][j] * digits[j];
          low -= (Wide) self->low[i][j] * digits[j];
        }
      carry = (low + ((Wide) 1 << (DIGIT_BITS - 1))) >> DIGIT_BITS;
      residual->high[i] = high + carry;
      residual->low[i] = low - carry * ((Wide) 1 << DIGIT_BITS);
      /* No estimate was as wrong as that. */
      if ((high + carry + ((Wide) 1 << MAX_HIGH_BITS)) >> (MAX_HIGH_BITS + 1) != 0)
        return FALSE;
    }
  measure (self, residual);

  return TRUE;
}

/* How far x may be from the solution, in its units. */
static double
bound_error (const SmallSystem *self, const Residual *residual)
{
  double excluded = 0;

  /* A unit for each number that is multiplied, and one for the right-hand side. */
  if (!residual->exact)
    excluded = ldexp ((double) self->n, residual->bits + 1) + ldexp (1, residual->fraction_bits);

  return 1.01 * (residual->size + sqrt ((double) self->n) * excluded) * ldexp (1, -FRACTION_BITS) /
         self->least;
}

/* Rounds @value 2^@exponent where all that is within @error of @value is rounded alike. */
static gboolean
round_alike (Wide value, guint64 error, gint64 exponent, AprDType dtype, double *rounded)
{
  Wide least = value - error;
  Wide most = value + error;
  gboolean narrow = dtype == APR_DTYPE_F32;
  double bound = narrow ? (double) (float) least : (double) least;

  *rounded = ldexp (bound, (gint) exponent);

  /* Scaling must not round again. */
  return bound == (narrow ? (double) (float) most : (double) most) &&
         (bound == 0 || (fabs (*rounded) > (narrow ? (double) FLT_MIN : DBL_MIN) &&
                         fabs (*rounded) <= (narrow ? (double) FLT_MAX : DBL_MAX)));
}

static AprDoubleDouble
to_double_double (Wide value)
{
  double high = (double) value;

  return (AprDoubleDouble){ high, (double) (value - (Wide) high) };
}

/* Errs by less than 2^-104 of it. */
static AprDoubleDouble
lead_sum (const Sum *sum)
{
  AprDoubleDouble lead = { 0 };
  gsize i;

  for (i = sum->n_words; i-- > 0;)
    {
      guint64 word = sum->magnitude[i];

      lead.high *= 0x1p64;
      lead.low *= 0x1p64;
      lead = apr_dd_add (lead, apr_dd_quick_sum ((double) (word >> 32) * 0x1p32, (double) (guint32) word));
    }

  return sum->negative ? apr_dd_negate (lead) : lead;
}

/* The intercept is (sum of the target - sums of the features times their coefficients) / sum of the weights: in
 * double-double, as all but the last bits of it are enough. A coefficient is x 2^exponents[i], within @error of x. */
static gboolean
round_intercept (const SmallSystem *self,
                 const Sum *target,
                 const Residual *residual,
                 const gint64 *exponents,
                 double error,
                 double *intercept)
{
  AprDoubleDouble sum = lead_sum (target);
  double weights = (double) self->weights;
  AprDoubleDouble weight = { weights, (double) ((gint64) self->weights - (gint64) weights) };
  double size = fabs (sum.high);
  double doubt = 0;
  double factor;
  gint bits;
  gsize i;

  for (i = 0; i < self->n; i++)
    {
      AprDoubleDouble feature = lead_sum (&self->sums[i]);
      AprDoubleDouble unknown = to_double_double (residual->x[i]);
      AprDoubleDouble product;

      if (exponents[i] < -MAX_EXPONENT || exponents[i] > MAX_EXPONENT)
        return FALSE;
      factor = ldexp (1, (gint) exponents[i]);
      feature.high *= factor;
      feature.low *= factor;
      product = apr_dd_multiply (feature, unknown);
      size += fabs (product.high);
      doubt += fabs (feature.high);
      sum = apr_dd_subtract (sum, product);
    }

  /* The errors of the operations are below 2^-102 of the parts for each, and below 2^-100 of the quotient. */
  sum = apr_dd_divide (sum, weight);
  doubt =
    1.01 * (doubt * error + ((double) self->n + 64) * 0x1p-102 * size) / weights + fabs (sum.high) * 0x1p-100;
  (void) frexp (sum.high, &bits);
  factor = ldexp (1, INTERCEPT_BITS - bits);
  if (!(fabs (sum.high) > 0 && fabs (sum.high) < DBL_MAX && doubt * factor < 0x1p62))
    return FALSE;

  return round_alike ((Wide) (sum.high * factor) + (Wide) (sum.low * factor), (guint64) (doubt * factor) + 2,
                      bits - INTERCEPT_BITS - self->half, self->options->dtype, intercept);
}

/* Scales the right-hand side to be 1 at the most. */
static gboolean
load_right_side (const SmallSystem *self, gsize row, Residual *residual, Sum *sum, gint64 *scale)
{
  guint64 products[MAX_FEATURES][MAX_WORDS];
  gint64 bits[MAX_FEATURES];
  gsize i;

  *sum = (Sum){ 0 };
  if (self->options->fit_intercept && !load_sum (self, row, sum))
    return FALSE;

  residual->exact = self->exact;
  residual->fraction_bits = 0;
  residual->bits = 0;
  *scale = G_MININT64;
  for (i = 0; i < self->n; i++)
    {
      centre (self, get_entry (self, row, 1 + i), sum, &self->sums[i], products[i]);
      bits[i] = get_bits (products[i], self->n_product);
      if (!is_zero (products[i], self->n_product))
        *scale = MAX (*scale, bits[i] - self->scales[i]);
    }
  for (i = 0; i < self->n; i++)
    {
      gint64 high = 0;
      gint64 low = 0;

      if (!is_zero (products[i], self->n_product))
        cut (scale_product (self, products[i], *scale + self->scales[i], &residual->exact), &high, &low);
      residual->high[i] = high;
      residual->low[i] = low;
      residual->x[i] = 0;
    }

  measure (self, residual);
  return TRUE;
}

static gboolean
solve_target (const SmallSystem *self, gsize target, double *coefficients, double *intercept)
{
  /* Some more than are to be told from the last place. */
  double wanted = self->options->dtype == APR_DTYPE_F32 ? 0x1p-30 : 0x1p-60;
  Residual residual;
  Sum sum;
  gint64 scale;

  if (!load_right_side (self, 1 + self->n + target, &residual, &sum, &scale))
    return FALSE;

  while (residual.size > 0)
    {
      gint64 exponents[MAX_FEATURES];
      gboolean certain;
      double error;
      gsize i;

      if (!correct (self, &residual))
        return FALSE;
      error = bound_error (self, &residual);
      if (error > wanted * ldexp (1, residual.bits) || !(error < 0x1p60))
        continue;

      certain = TRUE;
      for (i = 0; i < self->n && certain; i++)
        {
          exponents[i] = scale - self->scales[i] - residual.fraction_bits;
          certain = round_alike (residual.x[i], error > 0 ? (guint64) error + 1 : 0, exponents[i],
                                 self->options->dtype, &coefficients[i]);
        }
      if (certain && self->options->fit_intercept)
        certain = round_intercept (self, &sum, &residual, exponents, error, intercept);
      if (certain)
        return TRUE;
    }

  return FALSE;
}

gboolean
apr_small_system_solve (AprExactSums *state,
                        const AprLeastSquaresOptions *options,
                        double rank_tolerance,
                        double *coefficients,
                        double *intercepts)
{
  SmallSystem self;
  gboolean solved;
  gsize i;

  self.n = apr_exact_sums_get_n_features (state);
  self.n_targets = apr_exact_sums_get_n_targets (state);
  if (self.n > MAX_FEATURES || options->alpha > 0 || options->positive)
    return FALSE;

  self.options = options;
  self.words = NULL;
  self.half = 0;
  solved = read_entries (&self, state) && load_sums (&self) && load_products (&self, rank_tolerance) &&
           factorise (&self) && self.least > MAX (LEAST_EIGENVALUE, 4 * rank_tolerance);
  for (i = 0; i < self.n_targets && solved; i++)
    solved = solve_target (&self, i, coefficients + i * self.n, &intercepts[i]);
  g_free (self.words);

  return solved;
}
