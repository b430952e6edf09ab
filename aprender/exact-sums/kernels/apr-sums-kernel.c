/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/kernels/apr-sums-kernel-private.h"

#include "aprender/base/apr-cpu-private.h"

/* Rows that are worth blocks of the size that is best for slices. */
#define MANY_ROWS 8192

/* Which kernels serve which shape, for each family of processors. Residues are for so many rows and columns: for fewer
 * columns where there are weights, and for more where slices can multiply them whole, as nearly all of floats. What is
 * narrower or shorter, and what residues leave, is for bytes, or for slices where there are none. The limits are where
 * both took as long on an AMD Zen 4, run as each family in turn; those of weighted rows are from an Intel Emerald
 * Rapids, and for arm64 half of the others. docs/kernels.md says how to measure them. */
static const AprSumsKernel *const table[APR_CPU_N_SETS] = {
  /* What a compiler makes of 128 bits, on x86 with SSE2: residues in products of 16 bits. */
  [APR_CPU_PORTABLE] = &(const AprSumsKernel){ "portable", &apr_slice_kernel_portable, NULL,
                                               &apr_residue_kernel_portable, 160, 30, 12 },
#ifdef APR_KERNELS_ARM
  /* Every arm64: residues in products of 16 bits take more instructions than slices, at any width. */
  [APR_CPU_NEON] = &(const AprSumsKernel){ "neon", &apr_slice_kernel_neon },
  /* From Neoverse N1, Cortex-A76 and Apple's M1 on: residues in products of bytes. No time is measured: for
   * 1,000 rows of floats, slices take fewer instructions with 32 columns, and residues with 102. */
  [APR_CPU_DOTPROD] = &(const AprSumsKernel){ "dotprod", &apr_slice_kernel_neon, NULL,
                                              &apr_residue_kernel_dotprod, 100, 44, 24 },
  /* From Neoverse V1 and N2, Cortex-A510 and Apple's M2 on: residues in products of matrices of bytes. No
   * time is measured: for 1,000 rows of floats, slices take fewer instructions with 32 columns, residues with 42. */
  [APR_CPU_I8MM] =
    &(const AprSumsKernel){ "i8mm", &apr_slice_kernel_neon, NULL, &apr_residue_kernel_i8mm, 100, 40, 24 },
#endif
#ifdef APR_KERNELS_X86
  /* From Haswell and Zen on: residues in products of 16 bits. */
  [APR_CPU_AVX2] =
    &(const AprSumsKernel){ "avx2", &apr_slice_kernel_avx2, NULL, &apr_residue_kernel_avx2, 160, 36, 20, 72 },
  /* Alder Lake's and later clients: residues in products of bytes. Measured on an AMD Zen 5, which runs them too. */
  [APR_CPU_AVX_VNNI] = &(const AprSumsKernel){ "avxvnni", &apr_slice_kernel_avx2, NULL,
                                               &apr_residue_kernel_avxvnni, 160, 30, 22, 72 },
  /* Skylake's servers: residues in products of 16 bits, which take two instructions. A Zen 5 took as long for half as
   * many columns. */
  [APR_CPU_AVX512] = &(const AprSumsKernel){ "avx512", &apr_slice_kernel_avx512, NULL,
                                             &apr_residue_kernel_avx512, 160, 100, 22, 100 },
  /* Cascade Lake's and Cooper Lake's servers: residues in products of bytes, from here on. */
  [APR_CPU_AVX512_DOT] = &(const AprSumsKernel){ "avx512dot", &apr_slice_kernel_avx512, NULL,
                                                 &apr_residue_kernel_avx512dot, 100, 48, 24, 52 },
  /* Ice Lake's and later servers, Zen 4 and later. */
  [APR_CPU_AVX512_VNNI] = &(const AprSumsKernel){ "avx512vnni", &apr_slice_kernel_avx512vnni, NULL,
                                                  &apr_residue_kernel_avx512vnni, 100, 48, 24, 52 },
#endif
#ifdef APR_KERNELS_AMX
  /* Sapphire Rapids' servers and later: products of matrices of bytes, and residues in them. Here bytes serve what
   * slices could multiply whole, too, but for n_sliced columns and fewer. Measured on an Emerald Rapids: for 20,000
   * rows and 94 columns, residues took 1.04 to 1.3 times as long as bytes, for 140 columns about as long, and for 180
   * columns 0.72 to 0.9 times. */
  [APR_CPU_AMX] = &(const AprSumsKernel){ "amx", &apr_slice_kernel_avx512vnni, &apr_byte_kernel_amx,
                                          &apr_residue_kernel_amx, 160, 130, 60, .n_sliced = 12 },
#endif
};

/* Fewer rows than n_rows take residues, too, where there are so many times as many columns. Most of the time then goes
 * into adding the sums of a few products to the state, and slices have more parts of a sum than residues. On an AMD
 * Zen 4, 9 to 150 rows of 150 columns took 0.3 to 1.05 times as long with them, whichever kernel ran. */
#define MORE_COLUMNS 2

const AprResidueKernel *
apr_sums_kernel_get_residues (
  const AprSumsKernel *self, gsize n_rows, gsize n_columns, gboolean weighted, gboolean whole)
{
  gsize least = weighted ? self->n_weighted : self->n_columns;

  if (n_rows < self->n_rows)
    least *= MORE_COLUMNS;
  if (whole)
    least = MAX (least, self->n_whole);

  return n_columns >= least ? self->residues : NULL;
}

const AprByteKernel *
apr_sums_kernel_get_bytes (const AprSumsKernel *self, gsize n_columns, gboolean weighted)
{
  return weighted || n_columns > self->n_sliced ? self->bytes : NULL;
}

gsize
apr_sums_kernel_get_block_rows (const AprSumsKernel *self, gsize n_rows, gsize n_columns, gboolean weighted)
{
  if (apr_sums_kernel_get_bytes (self, n_columns, weighted) != NULL)
    return APR_BYTE_ROWS;
  return n_rows < MANY_ROWS ? APR_SLICE_ROWS : APR_SLICE_MANY_ROWS;
}

APR_DEFINE_KERNELS (AprSumsKernel, apr_sums_kernel, table)
