/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <math.h>
#include <string.h>

#include "aprender/exact-sums/kernels/apr-byte-kernel-private.h"

G_BEGIN_DECLS

/* The kernel of bytes in plain C, which is too slow for the library: for tests on every processor. */

static inline gsize
tile_of (gsize step, guint index)
{
  return (step * APR_BYTE_MAX + index) * APR_BYTE_TILE;
}

static void
store_bytes (guint64 bits, guint first, guint n, gsize row, guint8 *tiles)
{
  guint i;

  for (i = 0; i < n; i++)
    tiles[tile_of (row / APR_BYTE_STEP, first + i) + row % APR_BYTE_STEP] =
      (guint8) (bits >> 8 * (n - 1 - i));
}

/* Bytes at the end that are 0 do not count. */
static guint
count_bytes (guint64 bits, guint n)
{
  while (n > 0 && (bits & 0xff) == 0)
    {
      bits >>= 8;
      n--;
    }

  return n;
}

static guint
cut (const double *column, gsize n_steps, double factor, gboolean all, guint8 *tiles)
{
  guint64 high_bits = 0;
  guint64 low_bits = 0;
  gboolean any_low = FALSE;
  gboolean any_rest = FALSE;
  double max = 0;
  gsize row;

  for (row = 0; row < n_steps * APR_BYTE_STEP; row++)
    {
      double value = column[row] * factor;
      double high = rint (value);
      double scaled = (value - high) * 0x1p32;
      double low = all ? rint (scaled) : 0;
      gint64 bits;

      if (value > max || -value > max)
        max = fabs (value);
      any_low |= scaled != 0;
      any_rest |= all && scaled != low;
      if (!(fabs (value) < 0x1p63))
        continue;

      bits = (gint64) high - (low < 0 ? 1 : 0);
      store_bytes ((guint64) bits, 0, APR_BYTE_HIGH, row, tiles);
      high_bits |= (guint64) bits;
      if (all)
        {
          bits = (gint64) low;
          store_bytes ((guint64) bits, APR_BYTE_HIGH, APR_BYTE_MAX - APR_BYTE_HIGH, row, tiles);
          low_bits |= (guint32) bits;
        }
    }

  if (!(max < 0x1p63))
    return APR_SLICE_OUTSIDE;
  if (any_rest)
    return APR_BYTE_MAX + 1;
  if (any_low && !all)
    return APR_BYTE_HIGH + 1;
  if (low_bits != 0)
    return APR_BYTE_HIGH + count_bytes (low_bits, APR_BYTE_MAX - APR_BYTE_HIGH);
  return count_bytes (high_bits, APR_BYTE_HIGH);
}

static void
turn (const guint8 *tiles, gsize n_steps, guint n_bytes, guint8 *turned)
{
  gsize step;
  guint index;
  gsize i;

  for (step = 0; step < n_steps; step++)
    for (index = 0; index < n_bytes; index++)
      for (i = 0; i < APR_BYTE_TILE; i++)
        turned[tile_of (step, index) + i % APR_BYTE_STEP / 4 * APR_BYTE_STEP + i / APR_BYTE_STEP * 4 +
               i % 4] = tiles[tile_of (step, index) + i];
}

static void
widen (const guint8 *tile, gboolean is_signed, gint16 *wide)
{
  gsize i;

  for (i = 0; i < APR_BYTE_TILE; i++)
    wide[i] = is_signed ? (gint8) tile[i] : tile[i];
}

static void
multiply_tiles (const gint16 *left, const gint16 *right, gint32 *sums)
{
  gsize row;
  gsize four;
  gsize i;

  for (row = 0; row < APR_BYTE_PANEL; row++, left += APR_BYTE_STEP, sums += APR_BYTE_PANEL)
    for (four = 0; four < APR_BYTE_STEP; four += 4)
      for (i = 0; i < APR_BYTE_PANEL; i++)
        {
          const gint16 *x = left + four;
          const gint16 *y = right + four * APR_BYTE_PANEL + 4 * i;

          sums[i] += x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3];
        }
}

/* The group's sums of the products of two bytes, for a part. */
static void
add_products (const guint8 *left, guint i, const guint8 *right, guint j, gsize n_steps, gint32 *products)
{
  gsize step;

  memset (products, 0, APR_BYTE_SUMS * sizeof *products);
  for (step = 0; step < n_steps; step++)
    {
      gint16 wide_left[APR_BYTE_TILE];
      gint16 wide_right[APR_BYTE_TILE];

      widen (left + tile_of (step, i), i == 0, wide_left);
      widen (right + tile_of (step, j), j == 0, wide_right);
      multiply_tiles (wide_left, wide_right, products);
    }
}

static void
multiply (const guint8 *left, guint n_left, const guint8 *right, guint n_right, gsize n_steps, gint64 *sums)
{
  gint32 products[APR_BYTE_SUMS];
  gsize entry;
  guint i;
  guint j;

  for (i = 0; i < n_left; i++)
    for (j = 0; j < n_right; j++)
      {
        guint64 *to = (guint64 *) sums + (i + j) / 4 * APR_BYTE_SUMS;

        add_products (left, i, right, j, n_steps, products);
        for (entry = 0; entry < APR_BYTE_SUMS; entry++)
          to[entry] += (guint64) products[entry] << 8 * (3 - (i + j) % 4);
      }
}

static void
multiply_self (const guint8 *panel, const guint8 *turned, guint n_bytes, gsize n_steps, gint64 *sums)
{
  gint32 products[APR_BYTE_SUMS];
  gsize entry;
  guint i;
  guint j;

  for (i = 0; i < n_bytes; i++)
    for (j = i; j < n_bytes; j++)
      {
        guint64 *to = (guint64 *) sums + (i + j) / 4 * APR_BYTE_SUMS;

        add_products (panel, i, turned, j, n_steps, products);
        for (entry = 0; entry < APR_BYTE_SUMS; entry++)
          {
            gsize row = entry / APR_BYTE_PANEL;
            gsize column = entry % APR_BYTE_PANEL;
            guint n_uses = i == j ? (column <= row ? 1 : 0) : (column == row ? 2 : 1);

            to[entry] += ((guint64) products[entry] << 8 * (3 - (i + j) % 4)) * n_uses;
          }
      }
}

static void
do_nothing (void)
{
}

static const AprByteKernel portable_byte_kernel = {
  "portable", cut, turn, multiply, multiply_self, do_nothing, do_nothing,
};

G_END_DECLS
