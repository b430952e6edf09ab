/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gmp.h>

#include "aprender/base/apr-run-private.h"
#include "aprender/exact-sums/apr-precision.h"
#include "aprender/exact-sums/apr-rows-private.h"
#include "aprender/exact-sums/kernels/apr-sums-kernel-private.h"
#include "aprender/tensor/apr-tensor.h"

G_BEGIN_DECLS

/* The matrix Z'WZ with Z = [1 | X | Y], summed over rows as whole numbers, without any rounding.
 *
 * Any number of threads may call the functions that take a const pointer, as long as none calls another one. */
typedef struct _AprExactSums AprExactSums;

AprExactSums *apr_exact_sums_new (gsize n_features, gsize n_targets, GError **error);

/* Sums that have several owners are not to be changed: apr_exact_sums_is_shared(). References may be taken by any
 * thread. */
AprExactSums *apr_exact_sums_ref (AprExactSums *self);

void apr_exact_sums_unref (AprExactSums *self);

gboolean apr_exact_sums_is_shared (AprExactSums *self);

gsize apr_exact_sums_get_n_features (const AprExactSums *self);

gsize apr_exact_sums_get_n_targets (const AprExactSums *self);

/* Those of Z = [1 | X | Y]. */
gsize apr_exact_sums_get_n_columns (const AprExactSums *self);

/* Adds rows of any dtype that is a number, in as many threads as @run has, but no more than there are blocks of rows.
 * After an error the sums are of no use. Whatever @kernel is, the sums are the same; %NULL takes the fastest. */
gboolean apr_exact_sums_update_with (AprExactSums *self,
                                     AprTensor *x,
                                     AprTensor *y,
                                     AprTensor *sample_weight,
                                     AprPrecision precision,
                                     const AprSumsKernel *kernel,
                                     const AprRun *run,
                                     GError **error);

/* The same with the fastest kernel, in as many threads as the work is worth, at most those of @run if these are not
 * 0. */
gboolean apr_exact_sums_update (AprExactSums *self,
                                AprTensor *x,
                                AprTensor *y,
                                AprTensor *sample_weight,
                                AprPrecision precision,
                                const AprRun *run,
                                GError **error);

/* The same of columns. */
gboolean apr_exact_sums_update_columns (AprExactSums *self,
                                        const AprRows *x,
                                        const AprRows *y,
                                        AprTensor *sample_weight,
                                        AprPrecision precision,
                                        const AprRun *run,
                                        GError **error);

/* Whether so many rows are better added by apr_exact_sums_add_few_rows(). */
gboolean apr_exact_sums_are_few_rows (gsize n_rows);

/* Whether all values are finite, and the weights are weights. */
gboolean apr_exact_sums_check_rows (AprTensor *x, AprTensor *y, AprTensor *sample_weight, GError **error);

/* Adds few rows that have been checked, in place. After an error the sums are as they were, unless that was
 * %G_IO_ERROR_CANCELLED. */
gboolean apr_exact_sums_add_few_rows (AprExactSums *self,
                                      AprTensor *x,
                                      AprTensor *y,
                                      AprTensor *sample_weight,
                                      const AprRun *run,
                                      GError **error);

/* What changes the sums and takes a @cancellable, which may be %NULL, fails once that is cancelled; the sums are of no
 * use then. */

/* The steps of an update: cover, add, carry. Between them, no function that takes a const pointer may be called. */

/* Makes room for terms with exponents from @min to @max, of which one entry gets at most @n_terms. */
gboolean apr_exact_sums_cover (
  AprExactSums *self, gint min, gint max, guint n_terms, GCancellable *cancellable, GError **error);

/* Adds @value 2^@exponent to an entry of the packed lower triangle. Threads may do so for different entries. */
void apr_exact_sums_add_term (AprExactSums *self, gsize entry, gint64 value, gint exponent);

/* Adds @parts[0] 2^@exponent + @parts[1] 2^(@exponent - 32) and so on, each of at most 2^62; one of them is not 0. */
void
apr_exact_sums_add_parts (AprExactSums *self, gsize entry, const gint64 *parts, gsize n_parts, gint exponent);

/* Sets an entry, to which nothing has been added, to (@high 2^64 + @low) 2^@exponent, and carries it; @high is below
 * 2^96 in size. */
void apr_exact_sums_set_entry (AprExactSums *self, gsize entry, __int128 high, guint64 low, gint exponent);

/* Carries the entries of some rows of the matrix, after the last terms were added to them. Threads may do so for
 * different rows. */
void apr_exact_sums_carry (AprExactSums *self, gsize first_row, gsize end_row);

/* Adds the sums of @other, or takes them away where @sign is -1. */
gboolean apr_exact_sums_add (
  AprExactSums *self, const AprExactSums *other, gint sign, GCancellable *cancellable, GError **error);

/* Whether they may be those of no samples: they came from a file, or some were subtracted. */
gboolean apr_exact_sums_is_doubtful (const AprExactSums *self);

/* Returns: (transfer full) (nullable): %NULL where there is no memory */
AprExactSums *apr_exact_sums_copy (const AprExactSums *self, GError **error);

/* The sums as they are held: for each entry @n_limbs words of 32 bits, the least significant first, in units of
 * 2^(32 first_limb). The topmost word has the sign; the others are not negative. %NULL where nothing was added. */
const gint64 *apr_exact_sums_get_limbs (const AprExactSums *self, gsize *n_limbs);

gint apr_exact_sums_get_first_limb (const AprExactSums *self);

/* The one way to write these sums: for each entry @n_words 32-bit words in two's complement, the least first, as few as
 * serve for all, in units of 2^(32 @first_word). Returns: (transfer full) (nullable): what means nothing where it is
 * cancelled; %NULL without words, and where there is no memory for @n_words */
guint32 *apr_exact_sums_to_words (
  const AprExactSums *self, gsize *n_words, gint *first_word, GCancellable *cancellable, GError **error);

/* The same back; @first_word and @first_word + @n_words must be within APR_EXACT_SUMS_MAX_WORD. */
gboolean apr_exact_sums_set_words (AprExactSums *self,
                                   const guint32 *words,
                                   gsize n_words,
                                   gint first_word,
                                   GCancellable *cancellable,
                                   GError **error);

/* Far beyond what products of three doubles and a sum of 2^64 of them can reach. */
#define APR_EXACT_SUMS_MAX_WORD 128

gsize apr_exact_sums_get_n_entries (const AprExactSums *self);

/* The entry at @row and @column of Z'WZ, as a multiple of a power of two that all entries share. */
void apr_exact_sums_get_entry (const AprExactSums *self, gsize row, gsize column, mpz_t value);

/* Fails where no samples can have such sums, as far as each entry shows beside the squares of its row and column. */
gboolean apr_exact_sums_check (const AprExactSums *self, const AprRun *run, GError **error);

/* Whether all sums are 0. */
gboolean apr_exact_sums_is_zero (const AprExactSums *self);

/* Whether the sum of the weights is above 0. */
gboolean apr_exact_sums_has_weight (const AprExactSums *self);

/* The exponent of the power of two that apr_exact_sums_get_entry () counts in. */
gint apr_exact_sums_get_exponent (const AprExactSums *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprExactSums, apr_exact_sums_unref)

G_END_DECLS
