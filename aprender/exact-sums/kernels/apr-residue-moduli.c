/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/kernels/apr-residue-moduli-private.h"

#include <gmp.h>
#include <math.h>
#include <string.h>

/* The largest bytes that are pairwise coprime, 256 among them. */
static const guint16 bytes[] = {
  256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217, 211, 199,
  197, 193, 191, 181, 179, 173, 167, 163, 157, 151, 149, 139, 137, 131,
};

G_STATIC_ASSERT (G_N_ELEMENTS (bytes) == APR_RESIDUE_MODULI);

static const guint32 words[] = {
  65536, 9501, 9499, 9497, 9493, 9491, 9487, 9481, 9479, 9475, 9473, 9469, 9467, 9463, 9461, 9451, 9439,
};

#define DIGITS 4
#define DIGIT_BITS 6
#define WORD_BITS (DIGITS * DIGIT_BITS)

/* The bits that a whole number with its sign may have beyond its words. */
#define TOP_BITS 2

/* The same for a long word. */
#define LONG_DIGIT_BITS 8
#define LONG_WORD_BITS (DIGITS * LONG_DIGIT_BITS)
#define LONG_TOP_BITS 5

G_STATIC_ASSERT (APR_RESIDUE_TOPS == 1 << LONG_TOP_BITS);

/* Moduli whose product leaves whole numbers so few bits that a long word and its top hold them. */
#define LONG_MODULI 10

guint
apr_residue_moduli_get_max (gsize residue_size)
{
  return residue_size == 1 ? G_N_ELEMENTS (bytes) : G_N_ELEMENTS (words);
}

double
apr_residue_moduli_get_bias (const AprResidueModuli *self, guint word)
{
  if (self->residue_size == 2)
    return 0;
  if (self->n_words == 1)
    return ldexp (1.0, LONG_WORD_BITS + LONG_TOP_BITS - 1);

  return ldexp (1.0, WORD_BITS - 1 + (word + 1 == self->n_words ? TOP_BITS : 0));
}

/* The residue that is nearest to 0. */
static gint
balance (gint residue, gint modulus)
{
  return residue >= (modulus + 1) / 2 ? residue - modulus : residue;
}

static gint
invert (gint value, gint modulus)
{
  gint rest = modulus;
  gint next_rest = value;
  gint factor = 0;
  gint next_factor = 1;

  /* Of Euclid: rest is congruent to factor times value. */
  while (next_rest != 0)
    {
      gint quotient = rest / next_rest;
      gint old = next_rest;

      next_rest = rest - quotient * next_rest;
      rest = old;
      old = next_factor;
      next_factor = factor - quotient * next_factor;
      factor = old;
    }

  return factor < 0 ? factor + modulus : factor;
}

static gboolean
is_coprime (gint a, gint b)
{
  while (b != 0)
    {
      gint rest = a % b;

      a = b;
      b = rest;
    }

  return a == 1;
}

/* The largest value of a digit, of those of all words. */
static gint
get_max_digit (guint n_words, guint digit)
{
  if (n_words == 1)
    return (1 << LONG_DIGIT_BITS) - 1;
  if (digit + 1 == n_words * DIGITS)
    return (1 << (DIGIT_BITS + TOP_BITS)) - 1;

  return (1 << DIGIT_BITS) - (digit % DIGITS == DIGITS - 1 ? 0 : 1);
}

/* The weights of the digits of @unit times a number, and how far the sum can be above and below 0. */
static void
find_weights (gint unit, gint modulus, guint n_words, gint8 *weights, gint *above, gint *below)
{
  gint weight = unit;
  guint i;

  *above = *below = 0;
  for (i = 0; i < n_words * DIGITS; i++)
    {
      gint max = get_max_digit (n_words, i);

      weights[i] = (gint8) balance (weight, modulus);
      if (weights[i] > 0)
        *above += weights[i] * max;
      else
        *below -= weights[i] * max;
      weight = weight * (1 << (n_words == 1 ? LONG_DIGIT_BITS : DIGIT_BITS)) % modulus;
    }
}

/* The unit that makes sums range least. */
static gint
find_unit (gint modulus, guint n_words)
{
  gint8 weights[APR_RESIDUE_WORDS * DIGITS];
  gint least = G_MAXINT;
  gint best = 1;
  gint unit;

  for (unit = 1; unit < modulus; unit++)
    {
      gint above;
      gint below;

      if (!is_coprime (unit, modulus))
        continue;
      find_weights (unit, modulus, n_words, weights, &above, &below);
      if (above + below < least)
        {
          least = above + below;
          best = unit;
        }
    }

  return best;
}

/* The units of all moduli; finding them takes a while. */
static const guint8 *
get_units (guint n_words)
{
  static guint8 units[APR_RESIDUE_WORDS + 1][APR_RESIDUE_MODULI];
  static gsize initialized[APR_RESIDUE_WORDS + 1];

  if (g_once_init_enter (&initialized[n_words]))
    {
      gsize i;

      for (i = 0; i < G_N_ELEMENTS (bytes); i++)
        units[n_words][i] = (guint8) find_unit (bytes[i], n_words);
      g_once_init_leave (&initialized[n_words], 1);
    }

  return units[n_words];
}

/* The weights of two digits of each word. */
static void
init_cut_of_words (AprResidueModuli *self, guint index)
{
  gint modulus = (gint) self->modulus[index];
  gint64 weight = 1;
  guint word;

  for (word = 0; word < self->n_words; word++)
    {
      guint16 low = (guint16) balance ((gint) weight, modulus);
      guint16 high = (guint16) balance ((gint) ((weight << WORD_BITS / 2) % modulus), modulus);

      self->weights[index][word] = low | (guint32) high << 16;
      weight = (weight << WORD_BITS) % modulus;
    }
}

/* The residues of what the tops stand for. */
static void
init_tops (AprResidueModuli *self, guint index, gint unit)
{
  gint modulus = (gint) self->modulus[index];
  gint64 top;

  for (top = 0; top < APR_RESIDUE_TOPS; top++)
    self->tops[index][top] = (guint16) ((top << LONG_WORD_BITS) % modulus * unit % modulus);
}

static void
init_cut (AprResidueModuli *self, guint index, gint unit)
{
  gint modulus = (gint) self->modulus[index];
  gint8 weights[APR_RESIDUE_WORDS * DIGITS];
  gint above;
  gint below;
  gint bias = 0;
  guint word;
  guint i;

  find_weights (unit, modulus, self->n_words, weights, &above, &below);
  for (word = self->n_words; word-- > 0;)
    {
      guint32 packed = 0;

      for (i = DIGITS; i-- > 0;)
        packed = packed << 8 | (guint8) weights[word * DIGITS + i];
      self->weights[index][word] = packed;
      bias = (gint) (((gint64) bias << WORD_BITS) % modulus) +
             (gint) ((gint64) apr_residue_moduli_get_bias (self, word) % modulus);
    }

  /* Above 0, and congruent to what the biases must be less. */
  self->start[index] = modulus - bias % modulus * unit % modulus;
  while (self->start[index] < below)
    self->start[index] += modulus;
  if (self->n_words == 1)
    {
      init_tops (self, index, unit);
      above += modulus - 1;
    }
  g_assert (self->start[index] + above <= G_MAXUINT16);
}

/* A number that is not negative, in limbs of 16 bits with a sign. */
static void
set_limbs (mpz_t number, guint n_limbs, gint16 *limbs, gsize distance)
{
  mpz_t left;
  guint i;

  mpz_init_set (left, number);
  for (i = 0; i < n_limbs; i++)
    {
      gint16 limb = (gint16) (guint16) mpz_fdiv_ui (left, 1 << 16);

      limbs[i * distance] = limb;
      if (limb >= 0)
        mpz_sub_ui (left, left, (gulong) limb);
      else
        mpz_add_ui (left, left, (gulong) -limb);
      mpz_fdiv_q_2exp (left, left, 16);
    }
  g_assert (mpz_sgn (left) == 0);
  mpz_clear (left);
}

void
apr_residue_moduli_init (AprResidueModuli *self, gsize residue_size, gboolean long_words, guint n_moduli)
{
  const guint *limits = residue_size == 1 ? (const guint[]){ 12, 20 } : (const guint[]){ 7, 11 };
  guint i;

  g_assert (n_moduli > 0 && n_moduli <= apr_residue_moduli_get_max (residue_size));
  memset (self, 0, sizeof *self);
  self->residue_size = residue_size;
  self->n_moduli = n_moduli;
  if (long_words && n_moduli <= LONG_MODULI)
    {
      self->n_words = 1;
      self->max_bits = LONG_WORD_BITS + LONG_TOP_BITS - 1;
    }
  else
    {
      self->n_words = n_moduli <= limits[0] ? 2 : n_moduli <= limits[1] ? 3 : 4;
      self->max_bits = self->n_words * WORD_BITS + TOP_BITS - 1;
    }
  for (i = 0; i < n_moduli; i++)
    {
      self->modulus[i] = residue_size == 1 ? bytes[i] : words[i];
      self->bits += log2 (self->modulus[i]);
    }
}

void
apr_residue_moduli_prepare (AprResidueModuli *self)
{
  const guint8 *units = self->residue_size == 1 ? get_units (self->n_words) : NULL;
  mpz_t product;
  mpz_t cofactor;
  guint i;

  mpz_init_set_ui (product, 1);
  mpz_init (cofactor);
  for (i = 0; i < self->n_moduli; i++)
    {
      mpz_mul_ui (product, product, self->modulus[i]);
      if (units != NULL)
        init_cut (self, i, units[i]);
      else
        init_cut_of_words (self, i);
    }

  /* One bit more for the sign of the topmost limb. */
  self->n_limbs = (guint) mpz_sizeinbase (product, 2) / 16 + 1;
  set_limbs (product, self->n_limbs, self->product, 1);
  for (i = 0; i < self->n_moduli; i++)
    {
      gint modulus = (gint) self->modulus[i];
      gint unit = units != NULL ? invert (units[i], modulus) : 1;

      mpz_divexact_ui (cofactor, product, (gulong) modulus);
      self->inverse[i] = balance (invert ((gint) mpz_fdiv_ui (cofactor, (gulong) modulus), modulus) * unit %
                                    modulus * unit % modulus,
                                  modulus);
      set_limbs (cofactor, self->n_limbs, &self->limbs[0][i], APR_RESIDUE_MODULI);
    }
  mpz_clear (product);
  mpz_clear (cofactor);
}

void
apr_residue_moduli_share (AprResidueModuli *self, const AprResidueModuli *all, guint first, guint n_moduli)
{
  *self = *all;
  self->n_moduli = n_moduli;
  memmove (self->modulus, all->modulus + first, n_moduli * sizeof *all->modulus);
  memmove (self->weights, all->weights + first, n_moduli * sizeof *all->weights);
  memmove (self->start, all->start + first, n_moduli * sizeof *all->start);
  memmove (self->tops, all->tops + first, n_moduli * sizeof *all->tops);
}
