/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/apr-exact-sums-private.h"
#include "aprender/exact-sums/apr-rows-private.h"

G_BEGIN_DECLS

/* What sums groups of rows, one group after the other in one thread: the sums of each are those of
 * apr_exact_sums_update(), and what that allocates for one update serves for all groups. */
typedef struct _AprGroupSums AprGroupSums;

/* Whether groups of at most @max_rows rows suit: where there are more columns, an update has better kernels. */
gboolean apr_group_sums_suit (gsize max_rows, gsize n_features, gsize n_targets);

AprGroupSums *apr_group_sums_new (
  gsize max_rows, gsize n_features, gsize n_targets, gboolean weighted, GCancellable *cancellable);

void apr_group_sums_free (AprGroupSums *self);

/* The sums of rows of exact precision, whose weights have been checked; @weights may be %NULL. Behind @x and @y there
 * are @n_behind more rows in memory, which will be read next. Returns: (transfer full) (nullable): %NULL with an error,
 * or without one where there is a NaN or an infinity */
AprExactSums *apr_group_sums_sum (AprGroupSums *self,
                                  const AprRows *x,
                                  const AprRows *y,
                                  const AprRows *weights,
                                  gsize n_behind,
                                  GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprGroupSums, apr_group_sums_free)

G_END_DECLS
