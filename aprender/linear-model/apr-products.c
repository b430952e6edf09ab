/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-products-private.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "aprender/linear-model/apr-parallel-private.h"

#define WORDS_PER_LIMB (GMP_NUMB_BITS / 32)

mpz_t *
apr_integers_new (gsize n)
{
  mpz_t *integers = g_new (mpz_t, n);
  gsize i;

  for (i = 0; i < n; i++)
    mpz_init (integers[i]);

  return integers;
}

void
apr_integers_free (mpz_t *integers, gsize n)
{
  gsize i;

  if (integers == NULL)
    return;

  for (i = 0; i < n; i++)
    mpz_clear (integers[i]);
  g_free (integers);
}

static gsize
count_columns (const AprProducts *self)
{
  return self->n_features + self->n_targets;
}

/* What the products are made of: factor * sums of products - left[i] * sums[j]. */
typedef struct
{
  AprProducts *products;
  const guint32 *words; /* (unowned) of the state */
  gsize n_words;
  mpz_t factor;
  mpz_t *left; /* (owned), or those of the products */
} Centring;

/* The words of an entry, extended to @n_limbs. */
static void
extend_words (const guint32 *words, gsize n_words, mp_limb_t *limbs, gsize n_limbs)
{
  guint32 sign = n_words > 0 && (words[n_words - 1] >> 31) != 0 ? G_MAXUINT32 : 0;
  gsize i;

  for (i = 0; i < n_limbs; i++)
    {
      mp_limb_t limb = 0;
      gsize k;

      for (k = WORDS_PER_LIMB; k-- > 0;)
        {
          gsize word = i * WORDS_PER_LIMB + k;

          limb = (limb << 16 << 16) | (word < n_words ? words[word] : sign);
        }
      limbs[i] = limb;
    }
}

/* All arithmetic is modulo 2^(bits of @n_limbs), beyond which the result does not reach. */
static void
centre_rows (gpointer data, gsize part, gsize n_parts)
{
  const Centring *centring = data;
  AprProducts *self = centring->products;
  gsize n_limbs = self->n_limbs;
  g_autofree mp_limb_t *entry = g_new (mp_limb_t, n_limbs);
  g_autofree mp_limb_t *product = g_new (mp_limb_t, 4 * n_limbs + 4);
  const mp_limb_t *factor = mpz_limbs_read (centring->factor);
  gsize n_factor = MIN (mpz_size (centring->factor), n_limbs);
  gsize i;
  gsize j;
  gsize k;

  for (i = part; i < count_columns (self); i += n_parts)
    {
      const mp_limb_t *left = mpz_limbs_read (centring->left[1 + i]);
      gsize n_left = mpz_size (centring->left[1 + i]);

      for (j = 0; j <= i; j++)
        {
          mp_limb_t *to = self->limbs + apr_triangle (i, j) * n_limbs;
          const mp_limb_t *right = mpz_limbs_read (self->sums[1 + j]);
          gsize n_right = mpz_size (self->sums[1 + j]);
          gsize length = MIN (n_left + n_right, n_limbs);

          extend_words (centring->words + apr_triangle (1 + i, 1 + j) * centring->n_words, centring->n_words,
                        entry, n_limbs);
          mpn_mul_1 (to, entry, (mp_size_t) n_limbs, factor[0]);
          for (k = 1; k < n_factor; k++)
            (void) mpn_addmul_1 (to + k, entry, (mp_size_t) (n_limbs - k), factor[k]);

          if (n_left == 0 || n_right == 0)
            continue;
          if (n_left >= n_right)
            (void) mpn_mul (product, left, (mp_size_t) n_left, right, (mp_size_t) n_right);
          else
            (void) mpn_mul (product, right, (mp_size_t) n_right, left, (mp_size_t) n_left);
          if (mpz_sgn (centring->left[1 + i]) == mpz_sgn (self->sums[1 + j]))
            (void) mpn_sub (to, to, (mp_size_t) n_limbs, product, (mp_size_t) length);
          else
            (void) mpn_add (to, to, (mp_size_t) n_limbs, product, (mp_size_t) length);
        }
    }
}

static void
get_sum (const guint32 *words, gsize n_words, gsize entry, mpz_t value)
{
  gsize n_limbs = n_words / WORDS_PER_LIMB + 1;
  mp_limb_t *limbs = mpz_limbs_write (value, (mp_size_t) n_limbs);
  gboolean negative;

  extend_words (words + entry * n_words, n_words, limbs, n_limbs);
  negative = limbs[n_limbs - 1] >> (GMP_NUMB_BITS - 1) != 0;
  if (negative)
    (void) mpn_neg (limbs, limbs, (mp_size_t) n_limbs);
  mpz_limbs_finish (value, negative ? -(mp_size_t) n_limbs : (mp_size_t) n_limbs);
}

/* Reads the sums, and divides them by what powers of two they share. */
static void
load_sums (AprProducts *self, Centring *centring)
{
  gsize n = 1 + count_columns (self);
  mp_bitcnt_t half;
  gsize i;

  for (i = 0; i < n; i++)
    get_sum (centring->words, centring->n_words, apr_triangle (i, 0), self->sums[i]);

  half = mpz_scan1 (self->sums[0], 0) / 2;
  for (i = 1; i < n; i++)
    if (mpz_sgn (self->sums[i]) != 0)
      half = MIN (half, mpz_scan1 (self->sums[i], 0));
  for (i = 0; i < n; i++)
    mpz_tdiv_q_2exp (self->sums[i], self->sums[i], half);

  mpz_tdiv_q_2exp (centring->factor, self->sums[0], half);
}

static void
add_alpha (AprProducts *self, const mpz_t alpha)
{
  gsize i;

  for (i = 0; i < self->n_features; i++)
    {
      mp_limb_t *limbs = self->limbs + apr_triangle (i, i) * self->n_limbs;

      (void) mpn_add (limbs, limbs, (mp_size_t) self->n_limbs, mpz_limbs_read (alpha),
                      (mp_size_t) mpz_size (alpha));
    }
}

AprProducts *
apr_products_new (AprExactSums *state, gboolean centred, double alpha, guint n_threads)
{
  AprProducts *self = g_new0 (AprProducts, 1);
  gint first_word;
  gint alpha_exponent = 0;
  gint finer = 0;
  gsize n_columns;
  gsize n_entries;
  gsize i;
  g_autofree guint32 *words = NULL;
  Centring centring = { self };
  mpz_t penalty;

  self->n_features = apr_exact_sums_get_n_features (state);
  self->n_targets = apr_exact_sums_get_n_targets (state);
  self->centred = centred;
  n_columns = count_columns (self);
  n_entries = apr_triangle (n_columns, 0);
  self->sums = apr_integers_new (1 + n_columns);
  words = apr_exact_sums_to_words (state, &centring.n_words, &first_word);
  centring.words = words;
  mpz_init_set_ui (centring.factor, 1);
  mpz_init (penalty);

  if (centred && centring.n_words > 0)
    load_sums (self, &centring);

  /* The sums are in units of 2^(32 first_word): a finer unit where alpha needs it. */
  if (alpha > 0)
    {
      mpz_set_d (penalty, ldexp (frexp (alpha, &alpha_exponent), DBL_MANT_DIG));
      alpha_exponent -= DBL_MANT_DIG + 32 * first_word;
      self->finer = MAX (0, 1 - alpha_exponent) / 2;
      finer = 2 * self->finer;
      mpz_mul_2exp (penalty, penalty, (mp_bitcnt_t) (alpha_exponent + finer));
      mpz_mul (penalty, penalty, centring.factor);
    }
  centring.left = finer > 0 ? apr_integers_new (1 + n_columns) : self->sums;
  if (finer > 0)
    {
      mpz_mul_2exp (centring.factor, centring.factor, (mp_bitcnt_t) finer);
      for (i = 0; i <= n_columns; i++)
        mpz_mul_2exp (centring.left[i], self->sums[i], (mp_bitcnt_t) finer);
    }

  self->n_limbs =
    (MAX (mpz_sizeinbase (centring.factor, 2) + 32 * centring.n_words, mpz_sizeinbase (penalty, 2)) + 2) /
      GMP_NUMB_BITS +
    1;
  self->limbs = g_new (mp_limb_t, n_entries * self->n_limbs);
  apr_parallel_run (centre_rows, &centring, n_threads, 30.0 * (double) n_entries);
  if (alpha > 0)
    add_alpha (self, penalty);

  if (centring.left != self->sums)
    apr_integers_free (centring.left, 1 + n_columns);
  mpz_clear (centring.factor);
  mpz_clear (penalty);
  return self;
}

void
apr_products_free (AprProducts *self)
{
  if (self == NULL)
    return;

  apr_integers_free (self->sums, 1 + count_columns (self));
  g_free (self->limbs);
  g_free (self);
}

static gboolean
is_negative (const AprProducts *self, const mp_limb_t *limbs)
{
  return limbs[self->n_limbs - 1] >> (GMP_NUMB_BITS - 1) != 0;
}

gboolean
apr_products_is_negative (const AprProducts *self, gsize row, gsize column)
{
  return is_negative (self, apr_products_get (self, row, column));
}

void
apr_products_get_integer (const AprProducts *self, gsize row, gsize column, mpz_t value)
{
  const mp_limb_t *limbs = apr_products_get (self, row, column);
  mp_limb_t *to = mpz_limbs_write (value, (mp_size_t) self->n_limbs);

  if (is_negative (self, limbs))
    {
      (void) mpn_neg (to, limbs, (mp_size_t) self->n_limbs);
      mpz_limbs_finish (value, -(mp_size_t) self->n_limbs);
    }
  else
    {
      memcpy (to, limbs, self->n_limbs * sizeof *limbs);
      mpz_limbs_finish (value, (mp_size_t) self->n_limbs);
    }
}

gint64
apr_products_get_bits (const AprProducts *self, gsize row, gsize column)
{
  const mp_limb_t *limbs = apr_products_get (self, row, column);
  mp_limb_t sign = is_negative (self, limbs) ? ~(mp_limb_t) 0 : 0;
  gsize n = self->n_limbs;

  while (n > 0 && limbs[n - 1] == sign)
    n--;
  /* Of a negative power of two, one bit is left out: nobody counts on it. */
  return n > 0 ? (gint64) (n * GMP_NUMB_BITS) - __builtin_clzll (limbs[n - 1] ^ sign) +
                   (64 - (gint64) GMP_NUMB_BITS)
               : 0;
}

gint64
apr_products_count_zeros (const AprProducts *self, gsize row, gsize column)
{
  const mp_limb_t *limbs = apr_products_get (self, row, column);

  /* It is the same in two's complement. */
  return mpn_zero_p (limbs, (mp_size_t) self->n_limbs) ? G_MAXINT32 : (gint64) mpn_scan1 (limbs, 0);
}

gboolean
apr_products_is_constant (const AprProducts *self, gsize feature, double negligible)
{
  signed long exponent;
  signed long plain_exponent;
  double plain;
  double moment;
  gint64 bits = apr_products_get_bits (self, feature, feature);
  gint64 plain_bits = MAX (bits, 2 * (gint64) mpz_sizeinbase (self->sums[1 + feature], 2)) + 1;
  gboolean constant;
  mpz_t value;

  /* The ratio is above 2^(bits - 1 - plain_bits) where it is not negative. */
  if (bits > 0 && !is_negative (self, apr_products_get (self, feature, feature)) &&
      ldexp (1, (gint) MAX (bits - 1 - plain_bits, -4 * DBL_MAX_EXP)) >= negligible)
    return FALSE;

  mpz_init (value);
  apr_products_get_integer (self, feature, feature, value);
  moment = mpz_get_d_2exp (&exponent, value);
  mpz_addmul (value, self->sums[1 + feature], self->sums[1 + feature]);
  plain = mpz_get_d_2exp (&plain_exponent, value);
  constant = moment <= 0 ||
             ldexp (moment / plain, (gint) MAX (exponent - plain_exponent, -4 * DBL_MAX_EXP)) < negligible;
  mpz_clear (value);

  return constant;
}
