/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <math.h>

G_BEGIN_DECLS

/* Returns the index of an entry in a packed lower triangle. */
static inline gsize
apr_triangle (gsize row, gsize column)
{
  return row >= column ? row * (row + 1) / 2 + column : column * (column + 1) / 2 + row;
}

/* Divides the rows of a triangle into parts with like numbers of entries; returns the first row of a part. Its rows are
 * side by side, so that a thread seldom writes what is in the cache of another's processor. */
static inline gsize
apr_triangle_part (gsize n_rows, gsize part, gsize n_parts)
{
  return (gsize) ((double) n_rows * sqrt ((double) part / (double) n_parts));
}

G_END_DECLS
