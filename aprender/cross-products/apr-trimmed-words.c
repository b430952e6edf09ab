/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-trimmed-words-private.h"

#include <string.h>

#include "aprender/base/apr-pages-private.h"

/* What the header of a file says of two more tensors. */
#define HEADER_BYTES 256

/* Between two looks at whether the work is cancelled. */
#define NUMBERS_PER_LOOK (1 << 14)

static gboolean
is_cancelled (GCancellable *cancellable, gsize number)
{
  return number % NUMBERS_PER_LOOK == 0 && g_cancellable_is_cancelled (cancellable);
}

/* The bytes of a number that are kept: from *@start on. */
static inline gsize
trim (const guint32 *words, gsize n_words, gsize *start)
{
  guint32 sign = words[n_words - 1] >> 31 != 0 ? G_MAXUINT32 : 0;
  gsize low = 0;
  gsize high = n_words - 1;
  gsize n_bits;

  *start = 0;
  while (low < n_words && words[low] == 0)
    low++;
  if (low == n_words)
    return 0;
  while (high > low && words[high] == sign)
    high--;

  /* With one for the sign. */
  n_bits = words[high] == sign ? 1 : (gsize) (33 - __builtin_clz (words[high] ^ sign));
  *start = sizeof (guint32) * low + (gsize) __builtin_ctz (words[low]) / 8;

  return MAX (sizeof (guint32) * high + (n_bits + 7) / 8, *start + 1) - *start;
}

/* Whether so many bytes of words are not too many beside what is kept, with a start and a size for each number. */
static gboolean
is_in_proportion (gsize size, gsize n_numbers, gsize n_bytes)
{
  return size / APR_TRIMMED_WORDS_MAX_RATIO <= 2 * n_numbers + n_bytes;
}

gboolean
apr_trimmed_words_init (AprTrimmedWords *self,
                        const guint32 *words,
                        gsize n_numbers,
                        gsize n_words,
                        GCancellable *cancellable,
                        GError **error)
{
  guint32 little[APR_TRIMMED_WORDS_MAX];
  gsize n = n_words * sizeof (guint32);
  gsize n_bytes = 0;
  gsize start;
  gsize i;
  gsize j;

  *self = (AprTrimmedWords){ 0 };
  if (n_words == 0 || n_words > APR_TRIMMED_WORDS_MAX)
    return FALSE;

  for (i = 0; i < n_numbers && !is_cancelled (cancellable, i); i++)
    n_bytes += 2 + trim (words + i * n_words, n_words, &start);
  if (i < n_numbers || n_bytes + HEADER_BYTES > n_numbers * n / 4 * 3 ||
      !is_in_proportion (n_numbers * n, n_numbers, n_bytes - 2 * n_numbers))
    return FALSE;

  self->n_numbers = n_numbers;
  self->starts = apr_memory_new (n_numbers, 1, "sums", error);
  self->sizes = self->starts != NULL ? apr_memory_new (n_numbers, 1, "sums", error) : NULL;
  self->bytes = self->sizes != NULL ? apr_memory_new (n_bytes - 2 * n_numbers, 1, "sums", error) : NULL;
  if (self->bytes == NULL)
    {
      apr_trimmed_words_clear (self);
      return FALSE;
    }
  for (i = 0; i < n_numbers && !is_cancelled (cancellable, i); i++)
    {
      gsize size = trim (words + i * n_words, n_words, &start);

      for (j = 0; j < n_words; j++)
        little[j] = GUINT32_TO_LE (words[i * n_words + j]);
      self->starts[i] = (guint8) start;
      self->sizes[i] = (guint8) size;
      memcpy (self->bytes + self->n_bytes, (const guint8 *) little + start, size);
      self->n_bytes += size;
    }

  return TRUE;
}

void
apr_trimmed_words_clear (AprTrimmedWords *self)
{
  g_clear_pointer (&self->starts, g_free);
  g_clear_pointer (&self->sizes, g_free);
  g_clear_pointer (&self->bytes, g_free);
  self->n_bytes = 0;
}

guint32 *
apr_trimmed_words_expand (const AprTrimmedWords *self,
                          gsize *n_words,
                          GCancellable *cancellable,
                          GError **error)
{
  const guint8 *bytes = self->bytes;
  g_autofree guint8 *starts = apr_memory_new (self->n_numbers, 1, "sums", error);
  g_autofree guint8 *sizes = starts != NULL ? apr_memory_new (self->n_numbers, 1, "sums", error) : NULL;
  gsize n_bytes = 0;
  guint max_end = 0;
  guint32 *words;
  gsize size;
  gsize i;

  if (sizes == NULL)
    return NULL;

  /* They may be those of a mapped file: another program must not change what has been checked. */
  memcpy (starts, self->starts, self->n_numbers);
  memcpy (sizes, self->sizes, self->n_numbers);
  for (i = 0; i < self->n_numbers; i++)
    {
      max_end = MAX (max_end, (guint) starts[i] + sizes[i]);
      n_bytes += sizes[i];
      /* Nothing is kept of 0, which begins nowhere. */
      if (sizes[i] == 0 && starts[i] != 0)
        return NULL;
    }
  *n_words = (max_end + sizeof (guint32) - 1) / sizeof (guint32);
  if (n_bytes != self->n_bytes || *n_words > APR_TRIMMED_WORDS_MAX ||
      !g_size_checked_mul (&size, self->n_numbers, *n_words * sizeof (guint32)) ||
      !is_in_proportion (size, self->n_numbers, n_bytes))
    return NULL;

  words = apr_memory_new (size, 1, "sums", error);
  for (i = 0; i < self->n_numbers && words != NULL; i++)
    {
      guint8 *number = (guint8 *) (words + i * *n_words);
      gsize start = starts[i];
      gsize end = start + sizes[i];

      if (is_cancelled (cancellable, i))
        {
          g_free (words);
          return NULL;
        }
      memset (number, 0, start);
      memcpy (number + start, bytes, sizes[i]);
      bytes += sizes[i];
      memset (number + end, end > start && number[end - 1] >= 0x80 ? 0xff : 0,
              *n_words * sizeof (guint32) - end);
    }
  if (G_BYTE_ORDER == G_BIG_ENDIAN)
    for (i = 0; i < self->n_numbers * *n_words && words != NULL; i++)
      words[i] = GUINT32_FROM_LE (words[i]);

  return words;
}
