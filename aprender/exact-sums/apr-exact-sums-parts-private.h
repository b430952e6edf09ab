/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/apr-exact-sums-private.h"
#include "aprender/exact-sums/apr-weight-windows-private.h"

G_BEGIN_DECLS

/* What the parts of the exact sums share: apr-exact-sums.c holds and adds them, apr-exact-sums-update.c sums rows,
 * apr-exact-sums-windows.c those whose weights differ much, and apr-exact-sums-few-rows.c adds products to them in
 * place. */

/* Every double is a whole number of at most 53 bits times a power of two, so a product of two is one of 106 bits, and
 * a sum of such products is a whole number on a fine enough grid. Each entry of the matrix is that number, in limbs:
 * limb i stands for multiples of 2^(32 (first_limb + i)). A limb is a signed 64-bit integer that receives 32 bits at
 * a time, so it can take 2^30 of them before what exceeds 32 bits must be carried to its neighbour.
 *
 * While rows are added, limbs hold what they have not carried yet. When an update ends, all is carried: every limb is
 * from 0 to 2^32 - 1, except the topmost one, which has the sign and fits 32 bits. So readers find the one way to
 * write a number, and write nothing: any number of threads can read sums that nobody updates.
 *
 * The limbs cover the exponents that the data have brought so far; the cover grows when a product falls outside. A
 * sum of whole numbers has no order: the same rows give the same numbers, whatever the order they came in.
 */
struct _AprExactSums
{
  gatomicrefcount ref_count;
  gsize n_features;
  gsize n_targets;
  gsize n_columns; /* of Z */
  gsize n_entries; /* of the packed lower triangle */
  gint64 *limbs;   /* (owned) n_entries x n_limbs, row-major */
  gsize n_limbs;
  gint first_limb;
  guint n_added;  /* additions to a limb since the last carry, at most */
  guint top_bits; /* atomic: bits that differ from the sign in any topmost limb, as they were last carried */
  gboolean doubtful; /* they came from a file or were subtracted, and may be those of no samples */
};

/* The limb that holds the bit 2^@exponent. */
static inline gint
apr_exact_sums_find_limb (gint exponent)
{
  return exponent >= 0 ? exponent / 32 : -((31 - exponent) / 32);
}

/* Makes room for limbs from @first to @end. What was the topmost limb is not carried to those above. */
gboolean apr_exact_sums_cover_limbs (
  AprExactSums *self, gint first, gint end, GCancellable *cancellable, GError **error);

/* Adds rows whose weights, where there are any, have been checked. */
gboolean apr_exact_sums_add_rows (AprExactSums *self,
                                  const AprRows *x,
                                  const AprRows *y,
                                  const AprRows *weights,
                                  AprPrecision precision,
                                  const AprSumsKernel *kernel,
                                  const AprRun *run,
                                  GError **error);

/* The threads that so many rows are worth, at most @n_threads if that is not 0. */
guint apr_exact_sums_count_threads (const AprExactSums *self, gsize n_rows, guint n_threads);

/* Adds rows whose weights have been checked, and are in several windows. */
gboolean apr_exact_sums_update_windows (AprExactSums *self,
                                        const AprRows *x,
                                        const AprRows *y,
                                        const AprRows *weights,
                                        const AprWeightWindows *windows,
                                        const AprSumsKernel *kernel,
                                        const AprRun *run,
                                        GError **error);

G_END_DECLS
