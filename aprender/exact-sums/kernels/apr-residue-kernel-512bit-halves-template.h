/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How kernels of residues in vectors of 512 bits multiply a panel: in two halves, of which only the columns that count
 * are multiplied, with up to three panels on the right. Whoever includes this defines multiply_half (), which adds the
 * products of a half, and NARROW: whether that is faster where it leaves out half of the last panel, as it may on the
 * diagonal. */

/* The last panel on the left often has few columns. */
#define MULTIPLY_COLUMNS(n, half, n_columns, narrow) \
 multiply_half (left, right, distance, n, half, n_columns, narrow, n_rows, modulus, tiles, tile_distance)
#define MULTIPLY_HALF(n, half, n_columns, narrow) \
 if (n_columns > 6)                               \
  MULTIPLY_COLUMNS (n, half, 8, narrow);          \
 else if (n_columns > 4)                          \
  MULTIPLY_COLUMNS (n, half, 6, narrow);          \
 else if (n_columns > 2)                          \
  MULTIPLY_COLUMNS (n, half, 4, narrow);          \
 else if (n_columns > 0)                          \
 MULTIPLY_COLUMNS (n, half, 2, narrow)
/* On the diagonal, the first half of a panel is multiplied by itself. */
#define MULTIPLY(n)                        \
 if (NARROW && diagonal)                   \
  {                                        \
   MULTIPLY_HALF (n, 0, n_left, TRUE);     \
  }                                        \
 else                                      \
  {                                        \
   MULTIPLY_HALF (n, 0, n_left, FALSE);    \
  }                                        \
 MULTIPLY_HALF (n, 1, n_left_more, FALSE); \
 break

static void
multiply (const guint8 *left,
          gsize n_left,
          const guint8 *right,
          gsize distance,
          gsize n_right,
          gboolean diagonal,
          gsize n_rows,
          guint modulus,
          guint8 *tiles,
          gsize tile_distance)
{
  gsize n_left_more = n_left > HALF ? n_left - HALF : 0;
  gsize i;

  for (i = 0; i < n_right; i++)
    fetch_residues (tiles + i * tile_distance);
  switch (n_right)
    {
    case 1:
      MULTIPLY (1);
    case 2:
      MULTIPLY (2);
    default:
      MULTIPLY (3);
    }
}
