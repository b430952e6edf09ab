/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define KERNEL apr_residue_kernel_i8mm
#define KERNEL_NAME "i8mm"
#define RATE 40
#define STEP 8
#include "aprender/exact-sums/kernels/apr-residue-kernel-128bit-template.h"

/* One instruction multiplies two columns of eight rows with two: four sums of eight products. */

/* Two columns at a time. */
#define PAIRS (HALF / 2)

/* The sums of four columns of the right panel, one column of the left one after the other. */
INLINE uint32x4_t
join_sums (uint32x4_t first, uint32x4_t second, gboolean odd)
{
  uint64x2_t a = vreinterpretq_u64_u32 (first);
  uint64x2_t b = vreinterpretq_u64_u32 (second);

  return vreinterpretq_u32_u64 (odd ? vzip2q_u64 (a, b) : vzip1q_u64 (a, b));
}

/* Sums of products below 2^16 are below 2^27 for APR_RESIDUE_ROWS rows. */
static void
multiply_eight (const guint8 *a, const guint8 *b, gsize n_rows, guint modulus, guint8 *to)
{
  float reciprocal = 1.0f / (float) modulus;
  uint32x4_t sums[PAIRS][PAIRS];
  gsize row;
  gsize i;
  gsize j;

#pragma GCC unroll 4
  for (i = 0; i < PAIRS; i++)
#pragma GCC unroll 4
    for (j = 0; j < PAIRS; j++)
      sums[i][j] = vdupq_n_u32 (0);

  for (row = 0; row < n_rows; row += STEP, a += STEP * APR_RESIDUE_PANEL, b += STEP * APR_RESIDUE_PANEL)
    {
      uint8x16_t y[PAIRS];

#pragma GCC unroll 4
      for (j = 0; j < PAIRS; j++)
        y[j] = vld1q_u8 (b + 16 * j);
#pragma GCC unroll 4
      for (i = 0; i < PAIRS; i++)
        {
          uint8x16_t x = vld1q_u8 (a + 16 * i);

#pragma GCC unroll 4
          for (j = 0; j < PAIRS; j++)
            sums[i][j] = vmmlaq_u32 (sums[i][j], x, y[j]);
        }
    }

#pragma GCC unroll 8
  for (i = 0; i < HALF; i++)
    {
      guint8 *place = to + i * APR_RESIDUE_PANEL;
      uint32x4_t *pairs = sums[i / 2];
      uint16x8_t before = vmovl_u8 (vld1_u8 (place));
      uint32x4_t low = vaddw_u16 (join_sums (pairs[0], pairs[1], i % 2 != 0), vget_low_u16 (before));
      uint32x4_t high = vaddw_u16 (join_sums (pairs[2], pairs[3], i % 2 != 0), vget_high_u16 (before));

      vst1_u8 (place, vmovn_u16 (vcombine_u16 (reduce_sums (low, reciprocal, (gint32) modulus),
                                               reduce_sums (high, reciprocal, (gint32) modulus))));
    }
}
