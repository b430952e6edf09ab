/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernels of residues of bytes in vectors of 512 bits, of which one instruction multiplies 64 and adds four by
 * four. Whoever includes this defines KERNEL, the structure that this file makes, and KERNEL_NAME, its name. */

#include "aprender/exact-sums/kernels/apr-residue-kernel-512bit-bytes-template.h"

/* The same of the first eight of sixteen sums; the others become 0. */
#define DOT_BYTES_HALF(sum, a, b) __asm__("vpdpbusd %t2, %t1, %t0" : "+v"(sum) : "v"(a), "v"(b))

/* Half of a vector multiplies faster. */
#define NARROW TRUE

/* Sums of residues on the left, from 0 to 255, times those on the right less 128, are below 2^26 for
 * APR_RESIDUE_ROWS rows. Of the half, the first @n_columns count, an even number; where @narrow is set, only the first
 * eight columns of the last panel do. */
INLINE void
multiply_half (const guint8 *left,
               const guint8 *right,
               gsize distance,
               gsize n_right,
               gsize half,
               gsize n_columns,
               gboolean narrow,
               gsize n_rows,
               guint modulus,
               guint8 *tiles,
               gsize tile_distance)
{
  const __m512i flip = _mm512_set1_epi8 (-128);
  const Reduction reduction = find_reduction (modulus);
  const gint32 *lacking = (const gint32 *) (gconstpointer) left + half * HALF;
  const guint8 *a = left + APR_RESIDUE_HEADER + half * HALF * 4;
  const guint8 *b = right + APR_RESIDUE_HEADER;
  guint8 *to = tiles + half * HALF * APR_RESIDUE_PANEL;
  __m512i sums[HALF][APR_RESIDUE_RIGHT];
  gsize row;
  gsize i;
  gsize j;

#pragma GCC unroll 8
  for (i = 0; i < HALF; i++)
#pragma GCC unroll 3
    for (j = 0; j < APR_RESIDUE_RIGHT; j++)
      if (j < n_right)
        sums[i][j] = _mm512_add_epi32 (_mm512_set1_epi32 (lacking[i]),
                                       _mm512_cvtepu8_epi32 (_mm_load_si128 (
                                         (const void *) (to + j * tile_distance + i * APR_RESIDUE_PANEL))));

  for (row = 0; row < n_rows; row += 4, a += 64, b += 64)
    {
      __m512i y[APR_RESIDUE_RIGHT];

#pragma GCC unroll 3
      for (j = 0; j < APR_RESIDUE_RIGHT; j++)
        if (j < n_right)
          y[j] = _mm512_xor_si512 (_mm512_load_si512 (b + j * distance), flip);
      _mm_prefetch ((const void *) ((guintptr) a + 1024), _MM_HINT_T0);
#pragma GCC unroll 8
      for (i = 0; i < HALF; i++)
        if (i < n_columns)
          {
            __m512i x = _mm512_set1_epi32 (((const gint32 *) (gconstpointer) a)[i]);

#pragma GCC unroll 3
            for (j = 0; j < APR_RESIDUE_RIGHT; j++)
              if (narrow && j == n_right - 1)
                DOT_BYTES_HALF (sums[i][j], x, y[j]);
              else if (j < n_right)
                DOT_BYTES (sums[i][j], x, y[j]);
          }
    }

#pragma GCC unroll 2
  for (i = 0; i < HALF; i += 4)
    if (i < n_columns)
#pragma GCC unroll 3
      for (j = 0; j < APR_RESIDUE_RIGHT; j++)
        if (j < n_right)
          {
            const __m512i rows[] = { sums[i][j], sums[i + 1][j], sums[i + 2][j], sums[i + 3][j] };

            _mm512_store_si512 (to + j * tile_distance + i * APR_RESIDUE_PANEL,
                                reduce_sums (rows, &reduction));
          }
}

#include "aprender/exact-sums/kernels/apr-residue-kernel-512bit-halves-template.h"

const AprResidueKernel KERNEL = {
  .name = KERNEL_NAME,
  .residue_size = 1,
  .step = 4,
  .long_words = TRUE,
  .rate = 60,
  .square = square,
  .multiply_rest = multiply_rest,
  .cut = cut,
  .weigh = weigh,
  .multiply = multiply,
  .reconstruct = reconstruct,
};
