/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-exact-sums-parts-private.h"

#include <string.h>

#include "aprender/base/apr-pages-private.h"

/* A term is at most 2^63, and needs 3 limbs wherever it begins: it is at most 2^94 times their unit. So 2^64 terms sum
 * to at most 2^158, and five limbs have room for that and the sign. */
#define TERM_LIMBS 3
#define CARRY_LIMBS 2
#define SPARE_LIMBS 2

#define MAX_ADDITIONS (1u << 29)

/* Entries between two looks at whether what is done to all of them was cancelled. */
#define ENTRIES_PER_LOOK (1 << 14)

AprExactSums *
apr_exact_sums_new (gsize n_features, gsize n_targets, GError **error)
{
  AprExactSums *self;
  gsize n_columns;
  gsize n_entries;
  gsize size;

  if (!g_size_checked_add (&n_columns, n_features, n_targets) ||
      !g_size_checked_add (&n_columns, n_columns, 1) ||
      !g_size_checked_mul (&n_entries, n_columns, n_columns + 1) ||
      !g_size_checked_mul (&size, n_entries / 2, 64 * sizeof (gint64)))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "The cross products of %" G_GSIZE_FORMAT " features and %" G_GSIZE_FORMAT
                   " targets are larger than memory can be",
                   n_features, n_targets);
      return NULL;
    }

  self = g_new0 (AprExactSums, 1);
  g_atomic_ref_count_init (&self->ref_count);
  self->n_features = n_features;
  self->n_targets = n_targets;
  self->n_columns = n_columns;
  self->n_entries = n_entries / 2;

  return self;
}

AprExactSums *
apr_exact_sums_ref (AprExactSums *self)
{
  g_atomic_ref_count_inc (&self->ref_count);

  return self;
}

gboolean
apr_exact_sums_is_shared (AprExactSums *self)
{
  return !g_atomic_ref_count_compare (&self->ref_count, 1);
}

void
apr_exact_sums_unref (AprExactSums *self)
{
  if (self == NULL || !g_atomic_ref_count_dec (&self->ref_count))
    return;

  apr_pages_free (self->limbs);
  g_free (self);
}

gsize
apr_exact_sums_get_n_features (const AprExactSums *self)
{
  return self->n_features;
}

gsize
apr_exact_sums_get_n_targets (const AprExactSums *self)
{
  return self->n_targets;
}

gsize
apr_exact_sums_get_n_columns (const AprExactSums *self)
{
  return self->n_columns;
}

gboolean
apr_exact_sums_is_doubtful (const AprExactSums *self)
{
  return self->doubtful;
}

static gboolean
is_cancelled (GCancellable *cancellable, gsize entry)
{
  return entry % ENTRIES_PER_LOOK == 0 && g_cancellable_is_cancelled (cancellable);
}

static gboolean
check_cancelled (GCancellable *cancellable, gsize entry, GError **error)
{
  return entry % ENTRIES_PER_LOOK != 0 || !g_cancellable_set_error_if_cancelled (cancellable, error);
}

static gint64 *
allocate_limbs (const AprExactSums *self, gsize n_limbs, gboolean cleared, GError **error)
{
  gint64 *limbs = NULL;
  gsize size;

  if (g_size_checked_mul (&size, self->n_entries, n_limbs * sizeof (gint64)))
    limbs = apr_pages_new (size, cleared);
  if (limbs == NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
                 "No memory for the cross products of %" G_GSIZE_FORMAT " features and %" G_GSIZE_FORMAT
                 " targets in %" G_GSIZE_FORMAT " bits each",
                 self->n_features, self->n_targets, 32 * n_limbs);

  return limbs;
}

gboolean
apr_exact_sums_cover_limbs (
  AprExactSums *self, gint first, gint end, GCancellable *cancellable, GError **error)
{
  gint64 *limbs;
  gsize n_limbs;
  gsize i;

  if (self->n_limbs > 0)
    {
      if (first >= self->first_limb && end <= self->first_limb + (gint) self->n_limbs)
        return TRUE;
      first = MIN (first, self->first_limb);
      end = MAX (end, self->first_limb + (gint) self->n_limbs);
    }

  n_limbs = (gsize) (end - first);
  limbs = allocate_limbs (self, n_limbs, TRUE, error);
  if (limbs == NULL)
    return FALSE;

  for (i = 0; i < self->n_entries && self->n_limbs > 0; i++)
    {
      gint64 *to = limbs + i * n_limbs + (self->first_limb - first);

      if (!check_cancelled (cancellable, i, error))
        {
          apr_pages_free (limbs);
          return FALSE;
        }
      memcpy (to, self->limbs + i * self->n_limbs, self->n_limbs * sizeof (gint64));
    }

  apr_pages_free (self->limbs);
  self->limbs = limbs;
  self->n_limbs = n_limbs;
  self->first_limb = first;
  return TRUE;
}

/* Returns the bits of the topmost limb that differ from its sign. */
static inline guint64
carry (gint64 *limbs, gsize n_limbs)
{
  gint64 top;
  gsize i;

  for (i = 0; i + 1 < n_limbs; i++)
    {
      limbs[i + 1] += limbs[i] >> 32;
      limbs[i] &= 0xffffffff;
    }
  top = limbs[n_limbs - 1];

  return (guint64) (top ^ top >> 63);
}

void
apr_exact_sums_carry (AprExactSums *self, gsize first_row, gsize end_row)
{
  gsize end = end_row * (end_row + 1) / 2;
  guint64 top_bits = 0;
  gsize entry;

  if (self->n_limbs == 0)
    return;

  for (entry = first_row * (first_row + 1) / 2; entry < end; entry++)
    top_bits |= carry (self->limbs + entry * self->n_limbs, self->n_limbs);

  /* The cover has room for the carries of 2^64 additions. */
  g_assert (top_bits <= G_MAXINT32);
  g_atomic_int_or (&self->top_bits, (guint) top_bits);
}

static inline void
add_bits (gint64 *limb, guint64 bits, guint shift, gboolean negative)
{
  unsigned __int128 shifted = (unsigned __int128) bits << shift;
  gint64 low = (gint64) (guint32) shifted;
  gint64 middle = (gint64) (guint32) (shifted >> 32);
  gint64 high = (gint64) (guint32) (shifted >> 64);

  if (negative)
    {
      limb[0] -= low;
      limb[1] -= middle;
      limb[2] -= high;
    }
  else
    {
      limb[0] += low;
      limb[1] += middle;
      limb[2] += high;
    }
}

gboolean
apr_exact_sums_cover (
  AprExactSums *self, gint min, gint max, guint n_terms, GCancellable *cancellable, GError **error)
{
  gint first = apr_exact_sums_find_limb (min);

  /* Some more than needed, so that not each smaller number that comes has the sums copied. */
  if (self->n_limbs > 0 && first < self->first_limb)
    first -= SPARE_LIMBS;
  if (!apr_exact_sums_cover_limbs (self, first, apr_exact_sums_find_limb (max) + TERM_LIMBS + CARRY_LIMBS,
                                   cancellable, error))
    return FALSE;

  /* Carries before a limb could overflow. */
  g_assert (n_terms < MAX_ADDITIONS);
  if (self->n_added + n_terms >= MAX_ADDITIONS)
    {
      apr_exact_sums_carry (self, 0, self->n_columns);
      self->n_added = 0;
    }
  self->n_added += n_terms;

  return TRUE;
}

void
apr_exact_sums_add_term (AprExactSums *self, gsize entry, gint64 value, gint exponent)
{
  guint64 magnitude = value < 0 ? 0 - (guint64) value : (guint64) value;
  gint limb = apr_exact_sums_find_limb (exponent);

  g_assert (limb >= self->first_limb && limb + TERM_LIMBS <= self->first_limb + (gint) self->n_limbs);
  add_bits (self->limbs + entry * self->n_limbs + (limb - self->first_limb), magnitude,
            (guint) (exponent - 32 * limb), value < 0);
}

void
apr_exact_sums_add_parts (AprExactSums *self, gsize entry, const gint64 *parts, gsize n_parts, gint exponent)
{
  gint first;
  guint shift;
  gint64 *limb;
  gint64 carry = 0;
  guint64 bits = 0;

  /* What is 0 may be where there are no limbs. */
  for (; parts[n_parts - 1] == 0; n_parts--)
    g_assert (n_parts > 1);

  exponent -= 32 * (gint) (n_parts - 1);
  first = apr_exact_sums_find_limb (exponent);
  shift = (guint) (exponent - 32 * first);
  first -= self->first_limb;
  g_assert (first >= 0 && first + (gint) n_parts + 2 <= (gint) self->n_limbs);
  for (limb = self->limbs + entry * self->n_limbs + first; n_parts > 0; limb++)
    {
      /* As 32 bits and a carry, which are moved up then. */
      carry += parts[--n_parts];
      bits += (guint64) (guint32) carry << shift;
      carry >>= 32;
      limb[0] += (guint32) bits;
      bits >>= 32;
    }
  carry = carry * ((gint64) 1 << shift) + (gint64) bits;
  limb[0] += (guint32) carry;
  limb[1] += carry >> 32;
}

void
apr_exact_sums_set_entry (AprExactSums *self, gsize entry, __int128 high, guint64 low, gint exponent)
{
  gint first = apr_exact_sums_find_limb (exponent);
  guint shift = (guint) (exponent - 32 * first);
  gint64 *limb = self->limbs + entry * self->n_limbs + (first - self->first_limb);
  gint64 *top = self->limbs + (entry + 1) * self->n_limbs - 1;
  gint64 sign = high < 0 ? -1 : 0;

  g_assert (first >= self->first_limb && top - limb >= 6);
  high = high * ((__int128) 1 << shift) + (low >> 1 >> (63 - shift));
  low <<= shift;
  limb[0] = (guint32) low;
  limb[1] = (gint64) (low >> 32);
  limb[2] = (guint32) high;
  limb[3] = (guint32) (high >> 32);
  limb[4] = (guint32) (high >> 64);
  limb[5] = (guint32) (high >> 96);
  for (limb += 6; limb < top; limb++)
    *limb = (guint32) sign;
  *top = sign;
}

void
apr_exact_sums_get_entry (const AprExactSums *self, gsize row, gsize column, mpz_t value)
{
  gsize low = MIN (row, column);
  gsize high = MAX (row, column);
  const gint64 *limbs = self->limbs + (high * (high + 1) / 2 + low) * self->n_limbs;
  gsize n = self->n_limbs / 2 + 1;
  mp_limb_t *to;
  gint64 top;
  gsize i;

  G_STATIC_ASSERT (GMP_NUMB_BITS == 64);
  if (self->n_limbs == 0)
    {
      mpz_set_ui (value, 0);
      return;
    }

  /* In two's complement; the topmost limb has 64 bits, the others 32. */
  top = limbs[self->n_limbs - 1];
  to = mpz_limbs_write (value, (mp_size_t) n);
  for (i = 0; i + 2 < self->n_limbs; i += 2)
    to[i / 2] = (mp_limb_t) limbs[i] | (mp_limb_t) limbs[i + 1] << 32;
  if (i + 2 == self->n_limbs)
    {
      to[i / 2] = (mp_limb_t) limbs[i] | (mp_limb_t) top << 32;
      to[i / 2 + 1] = (mp_limb_t) (top >> 32);
    }
  else
    to[i / 2] = (mp_limb_t) top;
  if (top < 0)
    (void) mpn_neg (to, to, (mp_size_t) n);
  mpz_limbs_finish (value, top < 0 ? -(mp_size_t) n : (mp_size_t) n);
}

gboolean
apr_exact_sums_is_zero (const AprExactSums *self)
{
  gsize i;

  for (i = 0; i < self->n_entries * self->n_limbs; i++)
    if (self->limbs[i] != 0)
      return FALSE;

  return TRUE;
}

gboolean
apr_exact_sums_has_weight (const AprExactSums *self)
{
  gsize i;

  if (self->n_limbs == 0 || self->limbs[self->n_limbs - 1] < 0)
    return FALSE;

  for (i = 0; i < self->n_limbs; i++)
    if (self->limbs[i] != 0)
      return TRUE;

  return FALSE;
}

gint
apr_exact_sums_get_exponent (const AprExactSums *self)
{
  return 32 * self->first_limb;
}

gsize
apr_exact_sums_get_n_entries (const AprExactSums *self)
{
  return self->n_entries;
}

/* Leaves 32 bits of a sum in a limb, and returns what the next one gets. */
static inline gint64
put (gint64 *limb, gint64 sum)
{
  *limb = sum & 0xffffffff;

  return sum >> 32;
}

/* Adds entries of @n_from limbs to the limbs from @offset on of as many of @n, and carries from @first on, which is at
 * most @offset, in the same pass. Returns the bits of topmost limbs that differ from their signs. */
static inline guint64
add_entries (gint64 *limbs,
             gsize n,
             gsize first,
             gsize offset,
             const gint64 *from,
             gsize n_from,
             gsize n_entries,
             gint sign)
{
  gsize end = MIN (offset + n_from, n - 1);
  gsize n_top = offset + n_from - end;
  guint64 top_bits = 0;
  gsize i;

  for (; n_entries > 0; n_entries--, limbs += n, from += n_from)
    {
      gint64 carried = 0;

      for (i = first; i < offset; i++)
        carried = put (limbs + i, limbs[i] + carried);
      for (; i < end; i++)
        carried = put (limbs + i, limbs[i] + sign * from[i - offset] + carried);
      for (; i < n - 1; i++)
        carried = put (limbs + i, limbs[i] + carried);
      limbs[i] += carried + (n_top > 0 ? sign * from[n_from - 1] : 0);
      top_bits |= (guint64) (limbs[i] ^ limbs[i] >> 63);
    }

  return top_bits;
}

gboolean
apr_exact_sums_add (
  AprExactSums *self, const AprExactSums *other, gint sign, GCancellable *cancellable, GError **error)
{
  gint top = self->first_limb + (gint) self->n_limbs - 1;
  gint other_top = other->first_limb + (gint) other->n_limbs - 1;
  gint end = MAX (top, other_top) + 1;
  guint64 top_bits = 0;
  gsize offset;
  gsize first_carried;
  gsize entry;
  gsize n;

  g_assert (self->n_entries == other->n_entries);

  if (other->n_limbs == 0)
    return TRUE;
  if (self->n_limbs == 0)
    top = end = other_top + 1;
  /* One limb more where a sum of the topmost ones and a carry may not fit 32 bits; sums that end below only carry. */
  if ((guint64) (top + 1 >= end ? self->top_bits : 0) + (other_top + 1 >= end ? other->top_bits : 0) + 3 >
      G_MAXINT32)
    end++;
  if (!apr_exact_sums_cover_limbs (self, other->first_limb, end, cancellable, error))
    return FALSE;

  /* What was the topmost limb has a sign to carry. */
  offset = (gsize) (other->first_limb - self->first_limb);
  first_carried = (gsize) (MIN (other->first_limb, top) - self->first_limb);
  for (entry = 0; entry < self->n_entries; entry += n)
    {
      gint64 *limbs = self->limbs + entry * self->n_limbs;
      const gint64 *from = other->limbs + entry * other->n_limbs;

      if (!check_cancelled (cancellable, entry, error))
        return FALSE;
      n = MIN (self->n_entries - entry, ENTRIES_PER_LOOK);
      /* A constant sign costs no multiplication. */
      top_bits |= sign > 0
                  ? add_entries (limbs, self->n_limbs, first_carried, offset, from, other->n_limbs, n, 1)
                  : add_entries (limbs, self->n_limbs, first_carried, offset, from, other->n_limbs, n, -1);
    }
  g_assert (top_bits <= G_MAXINT32);
  self->top_bits = (guint) top_bits;
  self->n_added = 1;
  self->doubtful = self->doubtful || other->doubtful || sign < 0;

  return TRUE;
}

AprExactSums *
apr_exact_sums_copy (const AprExactSums *self, GError **error)
{
  g_autoptr (AprExactSums) copy = g_new0 (AprExactSums, 1);

  g_atomic_ref_count_init (&copy->ref_count);
  copy->n_features = self->n_features;
  copy->n_targets = self->n_targets;
  copy->n_columns = self->n_columns;
  copy->n_entries = self->n_entries;
  copy->n_limbs = self->n_limbs;
  copy->first_limb = self->first_limb;
  copy->n_added = self->n_added;
  copy->top_bits = self->top_bits;
  copy->doubtful = self->doubtful;
  if (self->limbs == NULL)
    return g_steal_pointer (&copy);

  copy->limbs = allocate_limbs (self, self->n_limbs, FALSE, error);
  if (copy->limbs == NULL)
    return NULL;
  memcpy (copy->limbs, self->limbs, self->n_entries * self->n_limbs * sizeof (gint64));

  return g_steal_pointer (&copy);
}

const gint64 *
apr_exact_sums_get_limbs (const AprExactSums *self, gsize *n_limbs)
{
  *n_limbs = self->n_limbs;

  return self->limbs;
}

gint
apr_exact_sums_get_first_limb (const AprExactSums *self)
{
  return self->first_limb;
}

/* Whether the limbs from @i on only continue the sign of the one below. */
static gboolean
is_sign_from (const gint64 *limbs, gsize n_limbs, gsize i)
{
  guint32 sign = limbs[n_limbs - 1] < 0 ? G_MAXUINT32 : 0;
  gsize j;

  for (j = i; j < n_limbs; j++)
    if ((guint32) limbs[j] != sign)
      return FALSE;

  return i == 0 ? sign == 0 : (limbs[i - 1] >> 31 & 1) == (sign & 1);
}

guint32 *
apr_exact_sums_to_words (
  const AprExactSums *self, gsize *n_words, gint *first_word, GCancellable *cancellable, GError **error)
{
  gsize lowest = self->n_limbs;
  gsize end = 0;
  guint32 *words;
  gsize entry;
  gsize i;

  *n_words = 0;
  *first_word = 0;
  /* However many entries there are, a state without samples takes no time. */
  if (self->n_limbs == 0)
    return NULL;

  for (entry = 0; entry < self->n_entries && !is_cancelled (cancellable, entry); entry++)
    {
      const gint64 *limbs = self->limbs + entry * self->n_limbs;

      for (i = 0; i < lowest; i++)
        if (limbs[i] != 0)
          lowest = i;
      while (end < self->n_limbs && !is_sign_from (limbs, self->n_limbs, end))
        end++;
    }

  if (lowest >= end)
    return NULL;

  *n_words = end - lowest;
  *first_word = self->first_limb + (gint) lowest;
  words = apr_memory_new (self->n_entries, *n_words * sizeof *words, "sums", error);
  for (entry = 0; words != NULL && entry < self->n_entries && !is_cancelled (cancellable, entry); entry++)
    for (i = 0; i < *n_words; i++)
      words[entry * *n_words + i] = (guint32) self->limbs[entry * self->n_limbs + lowest + i];

  return words;
}

gboolean
apr_exact_sums_set_words (AprExactSums *self,
                          const guint32 *words,
                          gsize n_words,
                          gint first_word,
                          GCancellable *cancellable,
                          GError **error)
{
  guint64 top_bits = 0;
  gint64 *limb;
  gsize entry;
  gsize i;

  g_clear_pointer (&self->limbs, apr_pages_free);
  self->n_limbs = 0;
  self->n_added = 1;
  self->top_bits = 0;
  self->doubtful = TRUE;
  if (n_words == 0)
    return TRUE;
  if (!apr_exact_sums_cover_limbs (self, first_word, first_word + (gint) n_words, cancellable, error))
    return FALSE;

  limb = self->limbs;
  for (entry = 0; entry < self->n_entries; entry++)
    {
      if (!check_cancelled (cancellable, entry, error))
        return FALSE;
      for (i = 1; i < n_words; i++)
        *limb++ = *words++;
      /* The topmost word has the sign. */
      *limb = (gint32) *words++;
      top_bits |= (guint64) (*limb ^ *limb >> 63);
      limb++;
    }
  self->top_bits = (guint) top_bits;

  return TRUE;
}
