/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/kernels/apr-slice-kernel-private.h"

G_BEGIN_DECLS

/* Sums of products without rounding, in products of bytes, for processors that have instructions for matrices of them.
 *
 * A column, divided by a power of two 2^e that is above all its values, is written in base 256, in two's complement:
 *
 *   x = 2^e (d0 2^-7 + d1 2^-15 + ... + d11 2^-95 + rest), -128 <= d0 < 128, 0 <= d1, ..., d11 < 256, |rest| <= 2^-96
 *
 * as many bytes as all its panel, sixteen columns, need: data of 24 bits have six as long as the values of a column
 * do not differ by more than 2^23, and normal deviates of 53 bits nine. Products of bytes i and j count for group
 * i + j. A group has at most twelve pairs, a block 512 rows: sums are below 12 512 255^2 < 2^29, and fit in integers
 * of 32 bits. Four groups, 2^24 times the first and so on, are a part, below 2^54, and parts of blocks are added as
 * integers of 64 bits.
 *
 * The product of a panel with itself is symmetric: that of bytes i and j is the transpose of that of j and i, so that
 * those where i < j, and those of bytes with themselves below the diagonal, give every entry, as the sum of two that
 * mirror each other.
 *
 * That bytes whose products hardware sums exactly give products of doubles is the idea of H. Ootomo, K. Ozaki and
 * R. Yokota, "DGEMM on integer matrix multiplication unit", 2024, after those in apr-slice-kernel-private.h. */
#define APR_BYTE_ROWS 512 /* of a block, at most */
#define APR_BYTE_STEP 64  /* rows that a tile has */
#define APR_BYTE_PANEL 16
#define APR_BYTE_MAX 12

/* A tile is a byte of a step of a panel: for each column the 64 rows. Tiles of the bytes stand one after the other, and
 * steps behind each other. A turned tile has four rows of every column, then the next four. */
#define APR_BYTE_TILE (APR_BYTE_PANEL * APR_BYTE_STEP)

/* Of sums of products, each the sixteen times sixteen of a tile. */
#define APR_BYTE_PARTS 6
#define APR_BYTE_SUMS (APR_BYTE_PANEL * APR_BYTE_PANEL)

/* Part k counts products in units of 2^(APR_BYTE_FIRST_UNIT - k APR_BYTE_PART), times the columns' 2^e. */
#define APR_BYTE_FIRST_UNIT (-38)
#define APR_BYTE_PART 32

/* The bytes of the first 64 bits, and the bits of the others. */
#define APR_BYTE_HIGH 8
#define APR_BYTE_TOP 63
#define APR_BYTE_LOW_BITS 32

/* What one instruction set does. Rows are a multiple of APR_BYTE_STEP, and @n_steps that; all pointers are aligned to
 * 64 bytes. Every implementation gives the same numbers. */
typedef struct
{
  const char *name;

  /* Cuts a column times @factor, a power of two, to the rows of it in @tiles: eight bytes, or all twelve where @all.
   * Returns how many it has; APR_BYTE_HIGH + 1 where there may be more than eight and not @all, and APR_BYTE_MAX + 1
   * where there is a rest; a column with a NaN has these. APR_SLICE_OUTSIDE where one of the products is not below
   * 2^63. */
  guint (*cut) (const double *column, gsize n_steps, double factor, gboolean all, guint8 *tiles);

  /* Turns the tiles of the first bytes of each step. */
  void (*turn) (const guint8 *tiles, gsize n_steps, guint n_bytes, guint8 *turned);

  /* Adds the products of a panel with one that is turned to the parts of @sums. */
  void (*multiply) (
    const guint8 *left, guint n_left, const guint8 *right, guint n_right, gsize n_steps, gint64 *sums);

  /* The same for a panel and itself: what is above the diagonal is to be added to its mirror image. */
  void (*multiply_self) (
    const guint8 *panel, const guint8 *turned, guint n_bytes, gsize n_steps, gint64 *sums);

  /* To be called by a thread before and after products. */
  void (*start) (void);
  void (*stop) (void);
} AprByteKernel;

#ifdef APR_KERNELS_AMX
extern const AprByteKernel apr_byte_kernel_amx;
#endif

G_END_DECLS
