/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-products-private.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-parallel-private.h"

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

gboolean
apr_integer_table_init (AprIntegerTable *self, gsize n, gsize max_bits, const AprRun *run)
{
  gsize i;

  self->n_limbs = max_bits / GMP_NUMB_BITS + 1;
  self->numbers =
    apr_run_new_pages (run, n, sizeof *self->numbers + self->n_limbs * sizeof *self->limbs, TRUE);
  if (self->numbers == NULL)
    return FALSE;

  self->limbs = (gpointer) (self->numbers + n);
  /* Some functions of GMP look at the first limb of a number that is 0. */
  for (i = 0; i < n; i++)
    mpz_roinit_n (self->numbers[i], self->limbs + i * self->n_limbs, 0);
  return TRUE;
}

void
apr_integer_table_set (const AprIntegerTable *self, gsize i, const mpz_t value)
{
  mp_limb_t *to = self->limbs + i * self->n_limbs;
  gsize n = mpz_size (value);

  g_assert (n <= self->n_limbs);
  mpn_copyi (to, mpz_limbs_read (value), (mp_size_t) n);
  mpz_roinit_n (self->numbers[i], to, mpz_sgn (value) * (mp_size_t) n);
}

mpf_t *
apr_numbers_new (gsize n, gint64 precision, const AprRun *run)
{
  mpf_t *numbers;
  mp_limb_t *limbs;
  gsize n_limbs;
  mpf_t first;
  gsize i;

  mpf_init2 (first, (mp_bitcnt_t) precision);
  n_limbs = (gsize) first->_mp_prec + 1;
  numbers = apr_run_new_pages (run, n, sizeof *numbers + n_limbs * sizeof *limbs, FALSE);
  limbs = numbers != NULL ? (gpointer) (numbers + n) : NULL;
  for (i = 0; i < n && numbers != NULL; i++)
    {
      *numbers[i] = *first;
      numbers[i]->_mp_d = limbs + i * n_limbs;
    }
  mpf_clear (first);

  return numbers;
}

static gsize
count_columns (const AprProducts *self)
{
  return self->n_features + self->n_targets;
}

/* Centring: an entry is factor * (sum of products) - left[i] * sums[j]. */
typedef struct
{
  AprProducts *products;
  const AprRun *run;   /* (unowned) */
  const gint64 *state; /* (unowned) (nullable) the sums as they are held */
  gsize n_state;
  gsize first; /* of the words that are read */
  gsize n_words;
  mpz_t factor;
  mpz_t *left;  /* (owned), or those of the products */
  gint outside; /* a sum has bits outside the words that are read */
} Centring;

/* Widens the range of words to that of @entry and its sign. */
static void
widen (Centring *self, gsize entry)
{
  const gint64 *from = self->state + entry * self->n_state;
  gsize end = self->first + self->n_words;
  guint32 sign;
  gsize i;

  for (i = 0; i < self->n_state && from[i] == 0; i++)
    ;
  if (i == self->n_state)
    return;
  self->first = self->n_words == 0 ? i : MIN (self->first, i);
  sign = from[self->n_state - 1] < 0 ? G_MAXUINT32 : 0;
  for (i = self->n_state; i > 0 && (guint32) from[i - 1] == sign; i--)
    ;
  /* One more word where the highest bit is not the sign. */
  i += i == 0 || ((guint32) from[i - 1] ^ sign) >> 31 != 0 ? 1 : 0;
  self->n_words = MAX (end, i) - self->first;
}

/* Reads the words of an entry, with its sign extended to @n_limbs; returns FALSE where the entry has bits outside
 * them. */
static inline gboolean
read_entry (const Centring *self, gsize entry, mp_limb_t *limbs, gsize n_limbs)
{
  const gint64 *from = self->state + entry * self->n_state;
  const gint64 *end = from + self->n_state;
  const gint64 *first = from + self->first;
  gint64 top_sign = self->n_state > 0 ? end[-1] >> 63 : 0;
  mp_limb_t elsewhere = 0;
  mp_limb_t sign = 0;
  gsize n_read = (self->n_words + 1) / 2;
  gsize i;

  apr_products_prefetch (from);
  apr_products_prefetch (end);
  for (; from < first; from++)
    elsewhere |= (mp_limb_t) *from;
  for (i = 0; i < n_read; i++, from += 2)
    limbs[i] = (guint32) from[0] | (mp_limb_t) (from + 1 < end ? from[1] : top_sign) << 32;
  if (n_read > 0)
    sign = (mp_limb_t) ((gint64) limbs[n_read - 1] >> 63);
  for (; i < n_limbs; i++)
    limbs[i] = sign;
  for (; from < end; from++)
    elsewhere |= (guint32) *from ^ (guint32) sign;

  elsewhere |= (mp_limb_t) top_sign ^ sign;

  return elsewhere == 0;
}

/* to = a f, modulo the length of @to */
static G_ALWAYS_INLINE inline void
multiply (mp_limb_t *to, gsize n, const mp_limb_t *a, const mp_limb_t *f, gsize n_f)
{
  gsize i;
  gsize k;

  memset (to, 0, n * sizeof *to);
  for (k = 0; k < n_f; k++)
    {
      mp_limb_t carry = 0;

      for (i = k; i < n; i++)
        {
          unsigned __int128 sum = (unsigned __int128) a[i - k] * f[k] + to[i] + carry;

          to[i] = (mp_limb_t) sum;
          carry = (mp_limb_t) (sum >> 64);
        }
    }
}

/* to += a b, or to -= a b, modulo the length of @to */
static G_ALWAYS_INLINE inline void
add_product (
  mp_limb_t *to, gsize n, const mp_limb_t *a, gsize n_a, const mp_limb_t *b, gsize n_b, gboolean subtract)
{
  mp_limb_t complement = subtract ? ~(mp_limb_t) 0 : 0;
  gsize i;
  gsize k;

  /* to - x is the complement of the complement of @to, plus x. */
  for (k = 0; k < n_b; k++)
    {
      gsize end = MIN (k + n_a, n);
      mp_limb_t carry = 0;

      for (i = k; i < end; i++)
        {
          unsigned __int128 sum = (unsigned __int128) a[i - k] * b[k] + (to[i] ^ complement) + carry;

          to[i] = (mp_limb_t) sum ^ complement;
          carry = (mp_limb_t) (sum >> 64);
        }
      for (; i < n && carry != 0; i++)
        {
          mp_limb_t sum = (to[i] ^ complement) + carry;

          carry = sum < carry;
          to[i] = sum ^ complement;
        }
    }
}

/* Limbs of a column's sum and of a factor, at most, where the two above take longer than what they do. */
#define FEW_LIMBS 2

/* to = a f + x y, or a f - x y, modulo the length of @to */
static G_ALWAYS_INLINE inline void
multiply_few (mp_limb_t *to,
              gsize n,
              const mp_limb_t *a,
              mp_limb_t f,
              const mp_limb_t x[FEW_LIMBS],
              const mp_limb_t y[FEW_LIMBS],
              gboolean subtract)
{
  mp_limb_t complement = subtract ? ~(mp_limb_t) 0 : 0;
  unsigned __int128 low = (unsigned __int128) x[0] * y[0];
  unsigned __int128 middle = (unsigned __int128) x[0] * y[1] + (mp_limb_t) (low >> 64);
  unsigned __int128 other = (unsigned __int128) x[1] * y[0] + (mp_limb_t) middle;
  unsigned __int128 high = (unsigned __int128) x[1] * y[1] + (middle >> 64) + (other >> 64);
  const mp_limb_t product[2 * FEW_LIMBS] = { (mp_limb_t) low, (mp_limb_t) other, (mp_limb_t) high,
                                             (mp_limb_t) (high >> 64) };
  mp_limb_t carry = 0;
  mp_limb_t added = complement & 1;
  gsize i;

  /* A constant in some of the places where this is inlined: GCOVR_EXCL_BR_START */
  for (i = 0; i < n; i++)
    {
      unsigned __int128 multiple = (unsigned __int128) a[i] * f + carry;
      unsigned __int128 sum = (unsigned __int128) (mp_limb_t) multiple +
                              ((i < 2 * FEW_LIMBS ? product[i] : 0) ^ complement) + added;

      to[i] = (mp_limb_t) sum;
      carry = (mp_limb_t) (multiple >> 64);
      added = (mp_limb_t) (sum >> 64);
    }
  /* GCOVR_EXCL_BR_STOP */
}

/* The magnitude of @from, which has at most so many limbs. */
static inline void
read_few (mp_limb_t to[FEW_LIMBS], const mpz_t from)
{
  to[0] = mpz_getlimbn (from, 0);
  to[1] = mpz_getlimbn (from, 1);
}

static G_ALWAYS_INLINE inline void
negate (mp_limb_t *limbs, gsize n)
{
  mp_limb_t carry = 1;
  gsize i;

  for (i = 0; i < n; i++)
    {
      limbs[i] = ~limbs[i] + carry;
      carry = carry != 0 && limbs[i] == 0;
    }
}

/* All arithmetic is modulo the length of an entry, which the results fit into. */
static G_ALWAYS_INLINE inline gboolean
centre_row (const Centring *centring, gsize row, mp_limb_t *entry, gsize n_limbs)
{
  const AprProducts *self = centring->products;
  const mp_limb_t *factor = mpz_limbs_read (centring->factor);
  gsize n_factor = MIN (mpz_size (centring->factor), n_limbs);
  const mp_limb_t *left = mpz_limbs_read (centring->left[1 + row]);
  gsize n_left = mpz_size (centring->left[1 + row]);
  mp_limb_t *to = self->limbs + apr_triangle (row, 0) * n_limbs;
  /* Sums are of no more limbs where an entry is of 4: GCOVR_EXCL_BR_START */
  gboolean few = n_factor == 1 && n_left <= FEW_LIMBS;
  /* GCOVR_EXCL_BR_STOP */
  gboolean whole = TRUE;
  mp_limb_t few_left[FEW_LIMBS];
  gsize j;

  read_few (few_left, centring->left[1 + row]);
  for (j = 0; j <= row; j++, to += n_limbs)
    {
      gsize n_right = mpz_size (self->sums[1 + j]);
      gboolean subtract = mpz_sgn (centring->left[1 + row]) == mpz_sgn (self->sums[1 + j]);

      whole &= read_entry (centring, apr_triangle (1 + row, 1 + j), entry, n_limbs);
      if (few && n_right <= FEW_LIMBS) /* GCOVR_EXCL_BR_LINE: the same */
        {
          mp_limb_t few_right[FEW_LIMBS];

          read_few (few_right, self->sums[1 + j]);
          multiply_few (to, n_limbs, entry, factor[0], few_left, few_right, subtract);
        }
      else
        {
          multiply (to, n_limbs, entry, factor, n_factor);
          add_product (to, n_limbs, left, n_left, mpz_limbs_read (self->sums[1 + j]), n_right, subtract);
        }
    }

  return whole;
}

static void
centre_rows (gpointer data, gsize part, gsize n_parts)
{
  Centring *centring = data;
  const AprProducts *self = centring->products;
  mp_limb_t *entry = g_alloca ((self->n_limbs + centring->n_words) * sizeof *entry);
  gsize n = count_columns (self);
  gsize end = apr_triangle_part (n, part + 1, n_parts);
  gboolean whole = TRUE;
  gsize i;

  for (i = apr_triangle_part (n, part, n_parts); i < end && whole && !apr_run_is_cancelled (centring->run);
       i++)
    switch (self->n_limbs)
      {
        /* Common lengths, which the compiler unrolls. */
      case 3:
        whole = centre_row (centring, i, entry, 3);
        break;
      case 4:
        whole = centre_row (centring, i, entry, 4);
        break;
      default:
        whole = centre_row (centring, i, entry, self->n_limbs);
        break;
      }

  if (!whole)
    g_atomic_int_set (&centring->outside, TRUE);
}

/* Reads the sums of the columns, and divides them by the power of two that they share, the exponent of which is
 * returned. */
static mp_bitcnt_t
load_sums (AprProducts *self, const Centring *centring)
{
  gsize n = 1 + count_columns (self);
  gsize n_limbs = centring->n_words / 2 + 1;
  mp_bitcnt_t half = 0;
  gsize i;

  g_free (self->sum_limbs);
  self->sum_limbs = g_new (mp_limb_t, n * n_limbs);
  for (i = 0; i < n; i++)
    {
      mp_limb_t *limbs = self->sum_limbs + i * n_limbs;
      gboolean negative;

      (void) read_entry (centring, apr_triangle (i, 0), limbs, n_limbs);
      negative = limbs[n_limbs - 1] >> (GMP_NUMB_BITS - 1) != 0;
      if (negative)
        negate (limbs, n_limbs);
      (void) mpz_roinit_n (self->sums[i], limbs, negative ? -(mp_size_t) n_limbs : (mp_size_t) n_limbs);
      if (i == 0)
        half = mpz_scan1 (self->sums[0], 0) / 2;
      else if (mpz_sgn (self->sums[i]) != 0)
        half = MIN (half, mpz_scan1 (self->sums[i], 0));
    }

  /* All may be 0 where they are the sums of no samples. */
  half = MIN (half, n_limbs * GMP_NUMB_BITS - 1);
  for (i = 0; i < n; i++)
    {
      mp_limb_t *limbs = self->sum_limbs + i * n_limbs;
      gsize skipped = half / GMP_NUMB_BITS;
      gsize left = n_limbs - skipped;

      if (half % GMP_NUMB_BITS != 0)
        (void) mpn_rshift (limbs, limbs + skipped, (mp_size_t) left, half % GMP_NUMB_BITS);
      else
        mpn_copyi (limbs, limbs + skipped, (mp_size_t) left);
      (void) mpz_roinit_n (self->sums[i], limbs,
                           mpz_sgn (self->sums[i]) < 0 ? -(mp_size_t) left : (mp_size_t) left);
    }

  return half;
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

static gboolean
allocate_limbs (AprProducts *self, gboolean zeros, const AprRun *run)
{
  self->limbs = apr_run_new_pages (run, apr_triangle (count_columns (self), 0),
                                   self->n_limbs * sizeof *self->limbs, zeros);

  return self->limbs != NULL;
}

gboolean
apr_products_init_zeros (
  AprProducts *self, gsize n_features, gsize n_targets, gsize n_limbs, const AprRun *run)
{
  *self = (AprProducts){ .n_features = n_features, .n_targets = n_targets, .n_limbs = n_limbs };

  return allocate_limbs (self, TRUE, run);
}

/* Returns FALSE where an entry has bits outside the words that are read. */
static gboolean
centre (AprProducts *self, Centring *centring, gint first_word, double alpha)
{
  gsize n_columns = count_columns (self);
  gsize n_entries = apr_triangle (n_columns, 0);
  gint alpha_exponent = 0;
  gint finer = 0;
  gsize i;
  mpz_t penalty;

  mpz_init_set_ui (centring->factor, 1);
  mpz_init (penalty);
  if (self->centred && centring->n_words > 0)
    {
      mp_bitcnt_t half = load_sums (self, centring);

      mpz_tdiv_q_2exp (centring->factor, self->sums[0], half);
    }

  /* The sums are in units of 2^(32 first_word): a finer unit where alpha needs it. */
  if (alpha > 0)
    {
      mpz_set_d (penalty, ldexp (frexp (alpha, &alpha_exponent), DBL_MANT_DIG));
      alpha_exponent -= DBL_MANT_DIG + 32 * first_word;
      self->finer = MAX (0, 1 - alpha_exponent) / 2;
      finer = 2 * self->finer;
      alpha_exponent += finer;
      mpz_mul_2exp (penalty, penalty, (mp_bitcnt_t) alpha_exponent);
      mpz_mul (penalty, penalty, centring->factor);
    }
  centring->left = finer > 0 ? apr_integers_new (1 + n_columns) : self->sums;
  if (finer > 0)
    {
      mpz_mul_2exp (centring->factor, centring->factor, (mp_bitcnt_t) finer);
      for (i = 0; i <= n_columns; i++)
        mpz_mul_2exp (centring->left[i], self->sums[i], (mp_bitcnt_t) finer);
    }

  self->n_limbs =
    (MAX (mpz_sizeinbase (centring->factor, 2) + 32 * centring->n_words, mpz_sizeinbase (penalty, 2)) + 2) /
      GMP_NUMB_BITS +
    1;
  if (allocate_limbs (self, FALSE, centring->run))
    apr_parallel_run (centre_rows, centring, centring->run->n_threads, 30.0 * (double) n_entries);
  if (alpha > 0 && !centring->outside && !apr_run_is_cancelled (centring->run))
    add_alpha (self, penalty);

  if (centring->left != self->sums)
    apr_integers_free (centring->left, 1 + n_columns);
  mpz_clear (centring->factor);
  mpz_clear (penalty);
  return !centring->outside;
}

void
apr_products_init (
  AprProducts *self, const AprExactSums *sums, gboolean centred, double alpha, const AprRun *run)
{
  static const mp_limb_t none = 0;
  Centring centring = { self, run };
  gboolean whole;
  gint first_limb = apr_exact_sums_get_first_limb (sums);
  gsize n_columns;
  gsize i;

  *self = (AprProducts){ .n_features = apr_exact_sums_get_n_features (sums),
                         .n_targets = apr_exact_sums_get_n_targets (sums),
                         .centred = centred,
                         .doubtful = apr_exact_sums_is_doubtful (sums),
                         .penalised = alpha > 0 };
  n_columns = count_columns (self);
  self->sums = g_new (mpz_t, 1 + n_columns);
  for (i = 0; i <= n_columns; i++)
    (void) mpz_roinit_n (self->sums[i], &none, 0);
  centring.state = apr_exact_sums_get_limbs (sums, &centring.n_state);

  /* No product of samples is above the largest square, and its lowest bit is seldom below those of the squares. But a
   * file may hold sums that no samples have, so all entries are checked, and read again where that was wrong. */
  for (i = 0; i <= n_columns; i++)
    {
      widen (&centring, apr_triangle (i, i));
      widen (&centring, apr_triangle (i, 0));
    }
  if (!centre (self, &centring, first_limb + (gint) centring.first, alpha))
    {
      g_clear_pointer (&self->limbs, apr_pages_free);
      centring.outside = FALSE;
      for (i = 0; i < apr_exact_sums_get_n_entries (sums) && !apr_run_is_cancelled (run); i++)
        widen (&centring, i);
      whole = centre (self, &centring, first_limb + (gint) centring.first, alpha);
      g_assert (whole || apr_run_is_cancelled (run));
    }
}

void
apr_products_clear (AprProducts *self)
{
  g_clear_pointer (&self->sums, g_free);
  g_clear_pointer (&self->sum_limbs, g_free);
  g_clear_pointer (&self->limbs, apr_pages_free);
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
apr_products_set_integer (AprProducts *self, gsize row, gsize column, const mpz_t value)
{
  mp_limb_t *to = self->limbs + apr_triangle (row, column) * self->n_limbs;

  g_assert (mpz_size (value) <= self->n_limbs);
  mpn_copyi (to, mpz_limbs_read (value), (mp_size_t) mpz_size (value));
  if (mpz_sgn (value) < 0)
    (void) mpn_neg (to, to, (mp_size_t) self->n_limbs);
}

void
apr_products_get_integer (const AprProducts *self, gsize row, gsize column, mpz_t value)
{
  apr_limbs_get_integer (apr_products_get (self, row, column), self->n_limbs, value);
}

/* Rows of the products that are copied at a time. */
#define COPIED_ROWS 8

typedef struct
{
  const AprProducts *products;
  mpz_t *integers;
  mp_limb_t *limbs;
  const AprRun *run;
} Copying;

static void
copy_rows (gpointer data, gsize part, gsize n_parts G_GNUC_UNUSED)
{
  const Copying *self = data;
  gsize n_limbs = self->products->n_limbs;
  gsize end = MIN ((part + 1) * COPIED_ROWS, self->products->n_features);
  mpz_t integer;
  gsize i;
  gsize j;

  mpz_init (integer);
  for (i = part * COPIED_ROWS; i < end && !apr_run_is_cancelled (self->run); i++)
    for (j = 0; j <= i; j++)
      {
        gsize at = apr_triangle (i, j);
        mp_limb_t *to = self->limbs + at * n_limbs;

        apr_products_get_integer (self->products, i, j, integer);
        mpn_copyi (to, mpz_limbs_read (integer), (mp_size_t) mpz_size (integer));
        mpz_roinit_n (self->integers[at], to, mpz_sgn (integer) * (mp_size_t) mpz_size (integer));
      }
  mpz_clear (integer);
}

mpz_t *
apr_products_copy (const AprProducts *self, mp_limb_t **limbs, const AprRun *run)
{
  gsize p = self->n_features;
  mpz_t *integers = apr_run_new_pages (run, apr_triangle (p, 0), sizeof *integers, TRUE);
  Copying copying = { self, integers, NULL, run };
  double n_operations = 50.0 * (double) p * (double) p / 2;

  *limbs = copying.limbs =
    apr_run_new_pages (run, apr_triangle (p, 0), self->n_limbs * sizeof **limbs, FALSE);
  if (integers == NULL || *limbs == NULL)
    {
      apr_pages_free (integers);
      g_clear_pointer (limbs, apr_pages_free);
      return NULL;
    }

  apr_parallel_run_parts (copy_rows, &copying,
                          apr_parallel_count (run->n_threads, n_operations / APR_PARALLEL_OPERATIONS),
                          (p + COPIED_ROWS - 1) / COPIED_ROWS);

  return integers;
}

gint64
apr_products_get_bits (const AprProducts *self, gsize row, gsize column)
{
  return apr_limbs_get_bits (apr_products_get (self, row, column), self->n_limbs);
}

gint64
apr_products_count_zeros (const AprProducts *self, gsize row, gsize column)
{
  const mp_limb_t *limbs = apr_products_get (self, row, column);

  /* It is the same in two's complement. */
  return mpn_zero_p (limbs, (mp_size_t) self->n_limbs) ? G_MAXINT32 : (gint64) mpn_scan1 (limbs, 0);
}

gboolean
apr_products_is_constant (const AprProducts *self, gsize feature, double rank_tolerance)
{
  gint64 bits = apr_products_get_bits (self, feature, feature);
  gint64 plain_bits = MAX (bits, 2 * (gint64) mpz_sizeinbase (self->sums[1 + feature], 2)) + 1;
  gboolean constant;
  int exponent;
  mpz_t moment;
  mpz_t limit;
  mpz_t factor;

  /* The ratio is above 2^(bits - 1 - plain_bits) where it is not negative. */
  if (bits > 0 && !is_negative (self, apr_products_get (self, feature, feature)) &&
      apr_scale_double (1, bits - 1 - plain_bits) >= rank_tolerance)
    return FALSE;

  /* Compared in whole numbers, as a rounded ratio may fall on the wrong side of the tolerance. */
  mpz_init (moment);
  mpz_init (limit);
  mpz_init_set_d (factor, ldexp (frexp (rank_tolerance, &exponent), DBL_MANT_DIG));
  exponent -= DBL_MANT_DIG; /* negative, as the tolerance is far below 2^53 */
  apr_products_get_integer (self, feature, feature, moment);
  mpz_set (limit, moment);
  mpz_addmul (limit, self->sums[1 + feature], self->sums[1 + feature]);
  mpz_mul (limit, limit, factor);
  constant = mpz_sgn (moment) <= 0;
  mpz_mul_2exp (moment, moment, (mp_bitcnt_t) -exponent);
  constant = constant || mpz_cmp (moment, limit) < 0;
  mpz_clear (moment);
  mpz_clear (limit);
  mpz_clear (factor);

  return constant;
}
