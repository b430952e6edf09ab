/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define KERNEL apr_residue_kernel_dotprod
#define KERNEL_NAME "dotprod"
#define RATE 20
#define STEP 4
#include "aprender/exact-sums/kernels/apr-residue-kernel-128bit-template.h"

/* One instruction multiplies sixteen bytes and adds four by four. */

/* Adds the products of one column with eight. */
#define ADD_PRODUCTS(column, x, lane)                                \
 sums[column][0] = vdotq_laneq_u32 (sums[column][0], y[0], x, lane); \
 sums[column][1] = vdotq_laneq_u32 (sums[column][1], y[1], x, lane);

/* Sums of products below 2^16 are below 2^27 for APR_RESIDUE_ROWS rows. */
static void
multiply_eight (const guint8 *a, const guint8 *b, gsize n_rows, guint modulus, guint8 *to)
{
  float reciprocal = 1.0f / (float) modulus;
  uint32x4_t sums[HALF][2];
  gsize row;
  gsize i;

#pragma GCC unroll 8
  for (i = 0; i < HALF; i++)
    {
      uint16x8_t before = vmovl_u8 (vld1_u8 (to + i * APR_RESIDUE_PANEL));

      sums[i][0] = vmovl_u16 (vget_low_u16 (before));
      sums[i][1] = vmovl_u16 (vget_high_u16 (before));
    }

  for (row = 0; row < n_rows; row += STEP, a += STEP * APR_RESIDUE_PANEL, b += STEP * APR_RESIDUE_PANEL)
    {
      uint8x16_t x[2] = { vld1q_u8 (a), vld1q_u8 (a + 16) };
      uint8x16_t y[2] = { vld1q_u8 (b), vld1q_u8 (b + 16) };

      ADD_PRODUCTS (0, x[0], 0)
      ADD_PRODUCTS (1, x[0], 1)
      ADD_PRODUCTS (2, x[0], 2)
      ADD_PRODUCTS (3, x[0], 3)
      ADD_PRODUCTS (4, x[1], 0)
      ADD_PRODUCTS (5, x[1], 1)
      ADD_PRODUCTS (6, x[1], 2)
      ADD_PRODUCTS (7, x[1], 3)
    }

#pragma GCC unroll 8
  for (i = 0; i < HALF; i++)
    vst1_u8 (to + i * APR_RESIDUE_PANEL,
             vmovn_u16 (vcombine_u16 (reduce_sums (sums[i][0], reciprocal, (gint32) modulus),
                                      reduce_sums (sums[i][1], reciprocal, (gint32) modulus))));
}
