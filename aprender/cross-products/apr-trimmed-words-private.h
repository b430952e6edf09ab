/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Whole numbers of as many 32-bit words each, in two's complement, without the bytes that are 0 at their lower ends and
 * those that only continue the sign at their upper ends. Columns of very different sizes have sums that need the
 * words of all, but few of them each. */
typedef struct
{
  guint8 *starts; /* (owned) the first byte of each number that is kept */
  guint8 *sizes;  /* (owned) how many bytes are kept */
  guint8 *bytes;  /* (owned) those of all numbers, the least first */
  gsize n_numbers;
  gsize n_bytes;
} AprTrimmedWords;

/* More words are left as they are, and words of so many more bytes than are kept: so a small file cannot ask for much
 * memory. */
#define APR_TRIMMED_WORDS_MAX 32
#define APR_TRIMMED_WORDS_MAX_RATIO 16

/* Whether it is worth it: FALSE, with nothing to clear, where less than a quarter would be saved, or too much, or it is
 * cancelled before that is known, and with an error where there is no memory; what is cancelled later means nothing. */
gboolean apr_trimmed_words_init (AprTrimmedWords *self,
                                 const guint32 *words,
                                 gsize n_numbers,
                                 gsize n_words,
                                 GCancellable *cancellable,
                                 GError **error);

void apr_trimmed_words_clear (AprTrimmedWords *self);

/* The words again, as few as serve. Returns: (transfer full) (nullable): %NULL where the sizes do not fit each other
 * or are none that apr_trimmed_words_init() makes, or it is cancelled, and with an error where there is no memory */
guint32 *apr_trimmed_words_expand (const AprTrimmedWords *self,
                                   gsize *n_words,
                                   GCancellable *cancellable,
                                   GError **error);

G_END_DECLS
