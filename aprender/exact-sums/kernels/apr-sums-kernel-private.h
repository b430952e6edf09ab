/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/kernels/apr-byte-kernel-private.h"
#include "aprender/exact-sums/kernels/apr-residue-kernel-private.h"
#include "aprender/exact-sums/kernels/apr-slice-kernel-private.h"

G_BEGIN_DECLS

/* What a family of processors sums exact products with: one row of the table in apr-sums-kernel.c. */
typedef struct
{
  const char *name;
  const AprSliceKernel *slices;     /* (unowned) which serve whatever the others do not */
  const AprByteKernel *bytes;       /* (unowned) (nullable) which take the place of slices */
  const AprResidueKernel *residues; /* (unowned) (nullable) which take the place of both */
  /* Residues are faster from so many rows on (for fewer, see MORE_COLUMNS), and so many columns: */
  gsize n_rows;
  gsize n_columns;  /* in general, */
  gsize n_weighted; /* of rows that have weights, */
  gsize n_whole;    /* and, with weights or without, of what slices can multiply whole, if these are more */
  gsize n_sliced;   /* columns up to which slices are faster than bytes, where there are no weights */
} AprSumsKernel;

/* The residues for a shape; %NULL where bytes or slices are faster. @whole says whether slices can multiply nearly all
 * columns whole. */
const AprResidueKernel *apr_sums_kernel_get_residues (
  const AprSumsKernel *self, gsize n_rows, gsize n_columns, gboolean weighted, gboolean whole);

/* The bytes for a shape; %NULL where slices are faster, or there are none. */
const AprByteKernel *
apr_sums_kernel_get_bytes (const AprSumsKernel *self, gsize n_columns, gboolean weighted);

/* The rows that a block of exact sums may have: few rows are better cut into few blocks. */
gsize
apr_sums_kernel_get_block_rows (const AprSumsKernel *self, gsize n_rows, gsize n_columns, gboolean weighted);

/* The one that runs. */
const AprSumsKernel *apr_sums_kernel_choose (void);

/* All that this processor can run, the fastest first, NULL-terminated. */
const AprSumsKernel *const *apr_sums_kernels (void);

G_END_DECLS
