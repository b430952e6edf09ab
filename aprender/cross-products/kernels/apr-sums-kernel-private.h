/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/cross-products/kernels/apr-byte-kernel-private.h"
#include "aprender/cross-products/kernels/apr-residue-kernel-private.h"
#include "aprender/cross-products/kernels/apr-slice-kernel-private.h"

G_BEGIN_DECLS

/* What a family of processors sums exact products with: one row of the table in apr-sums-kernel.c. */
typedef struct
{
  const char *name;
  const AprSliceKernel *slices;     /* (unowned) which serve whatever the others do not */
  const AprByteKernel *bytes;       /* (unowned) (nullable) which take the place of slices */
  const AprResidueKernel *residues; /* (unowned) (nullable) for data that are wide and not weighted */
  gsize residue_rows;               /* from which on they are faster */
  gsize residue_columns;
} AprSumsKernel;

/* The one that runs. */
const AprSumsKernel *apr_sums_kernel_choose (void);

/* All that this processor can run, the fastest first, NULL-terminated. */
const AprSumsKernel *const *apr_sums_kernels (void);

G_END_DECLS
