/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/kernels/apr-residue-kernel-512bit-bytes-template.h"

#include <string.h>

#include "aprender/exact-sums/kernels/apr-tiles-private.h"

/* Residues of bytes in tiles of 16 times 64 bytes, which x86 calls AMX. One instruction adds the products of two tiles
 * to sixteen rows of sixteen sums. The tile on the right has four rows of sixteen columns side by side, which is how
 * panels are cut; the one on the left has the 64 rows of a column side by side, which takes a turn. */

/* Rows of a tile of residues. */
#define STEP 64

#define TILE_BYTES (STEP * APR_RESIDUE_PANEL)

/* Four words of 32 bits of a row of a tile, and the same of the rows 4, 8 and 12 behind it, in a quarter of the vector
 * each. */
INLINE __m512i
load_quarters (const guint8 *place)
{
  __m512i quarters = _mm512_castsi128_si512 (_mm_load_si128 ((const void *) place));

  quarters = _mm512_inserti32x4 (quarters, _mm_load_si128 ((const void *) (place + 4 * 64)), 1);
  quarters = _mm512_inserti32x4 (quarters, _mm_load_si128 ((const void *) (place + 8 * 64)), 2);
  return _mm512_inserti32x4 (quarters, _mm_load_si128 ((const void *) (place + 12 * 64)), 3);
}

/* Transposes sixteen rows of sixteen words: four columns at a time become rows. The next tile, which is far from this
 * one and may not be there, is fetched meanwhile: its address is an integer. */
INLINE void
turn_tile (const guint8 *tile, guint8 *turned)
{
  guintptr next = (guintptr) tile + 2 * TILE_BYTES;
  gsize i;

  for (i = 0; i < TILE_BYTES; i += 64)
    _mm_prefetch ((const void *) (next + i), _MM_HINT_T0);
  for (i = 0; i < 4; i++)
    {
      __m512i a = load_quarters (tile + 16 * i);
      __m512i b = load_quarters (tile + 16 * i + 64);
      __m512i c = load_quarters (tile + 16 * i + 2 * 64);
      __m512i d = load_quarters (tile + 16 * i + 3 * 64);
      __m512i low = _mm512_unpacklo_epi32 (a, b);
      __m512i other_low = _mm512_unpacklo_epi32 (c, d);
      __m512i high = _mm512_unpackhi_epi32 (a, b);
      __m512i other_high = _mm512_unpackhi_epi32 (c, d);

      _mm512_store_si512 (turned + 256 * i, _mm512_unpacklo_epi64 (low, other_low));
      _mm512_store_si512 (turned + 256 * i + 64, _mm512_unpackhi_epi64 (low, other_low));
      _mm512_store_si512 (turned + 256 * i + 128, _mm512_unpacklo_epi64 (high, other_high));
      _mm512_store_si512 (turned + 256 * i + 192, _mm512_unpackhi_epi64 (high, other_high));
    }
}

/* The last rows of a panel as a whole tile: rows beyond are 0. */
INLINE void
fill_tile (const guint8 *rows, gsize n_rows, guint8 tile[TILE_BYTES])
{
  memset (tile, 0, TILE_BYTES);
  memcpy (tile, rows, (n_rows + 3) / 4 * 4 * APR_RESIDUE_PANEL);
}

static void
turn (const guint8 *panel, gsize n_rows, guint8 *turned)
{
  guint8 last[TILE_BYTES] __attribute__ ((aligned (64)));
  gsize row;

  panel += APR_RESIDUE_HEADER;
  for (row = 0; row + STEP <= n_rows; row += STEP)
    turn_tile (panel + row * APR_RESIDUE_PANEL, turned + row * APR_RESIDUE_PANEL);
  if (row < n_rows)
    {
      fill_tile (panel + row * APR_RESIDUE_PANEL, n_rows - row, last);
      turn_tile (last, turned + row * APR_RESIDUE_PANEL);
    }
}

/* Adds four rows of sums to residues, modulo the modulus. */
INLINE void
add_rows (const gint32 *sums, const Reduction *reduction, guint8 *tile)
{
  __m512i rows[4];
  gsize i;

#pragma GCC unroll 4
  for (i = 0; i < 4; i++)
    rows[i] = _mm512_add_epi32 (_mm512_load_si512 (sums + 16 * i),
                                _mm512_cvtepu8_epi32 (_mm_load_si128 ((const void *) (tile + 16 * i))));
  _mm512_store_si512 (tile, reduce_sums (rows, reduction));
}

/* Products of residues from 0 to 255 sum to less than 2^26 for APR_RESIDUE_ROWS rows. */
G_STATIC_ASSERT (255 * 255 * APR_RESIDUE_ROWS < 1 << 26);

/* One panel on the left: tiles 0 to 2 hold the sums with those on the right, 3 to 5 what comes from these, and 6 what
 * comes from the left. */
INLINE void
multiply_tiles (const guint8 *left, const guint8 *right, gsize distance, gsize n_right, gsize n_tiles)
{
  for (; n_tiles > 0; n_tiles--, left += TILE_BYTES, right += TILE_BYTES)
    {
      _tile_loadd (6, left, 64);
      _tile_loadd (3, right, 64);
      _tile_dpbuud (0, 6, 3);
      if (n_right > 1)
        {
          _tile_loadd (4, right + distance, 64);
          _tile_dpbuud (1, 6, 4);
        }
      if (n_right > 2)
        {
          _tile_loadd (5, right + 2 * distance, 64);
          _tile_dpbuud (2, 6, 5);
        }
    }
}

INLINE void
multiply_panels (const guint8 *left,
                 const guint8 *right,
                 gsize distance,
                 gsize n_right,
                 gsize n_rows,
                 guint modulus,
                 guint8 *tiles,
                 gsize tile_distance)
{
  gint32 sums[APR_RESIDUE_RIGHT][APR_RESIDUE_TILE] __attribute__ ((aligned (64)));
  guint8 last[APR_RESIDUE_RIGHT][TILE_BYTES] __attribute__ ((aligned (64)));
  const Reduction reduction = find_reduction (modulus);
  gsize n_whole = n_rows / STEP;
  gsize row;
  gsize i;

  for (i = 0; i < n_right; i++)
    fetch_residues (tiles + i * tile_distance);
  right += APR_RESIDUE_HEADER;
  _tile_zero (0);
  _tile_zero (1);
  _tile_zero (2);
  multiply_tiles (left, right, distance, n_right, n_whole);
  if (n_rows % STEP > 0)
    {
      for (i = 0; i < n_right; i++)
        fill_tile (right + i * distance + n_whole * TILE_BYTES, n_rows % STEP, last[i]);
      /* GCC does not know that loading a tile reads memory: without this it might fill the tiles after it. */
      __asm__ volatile("" ::: "memory");
      multiply_tiles (left + n_whole * TILE_BYTES, last[0], TILE_BYTES, n_right, 1);
    }
  _tile_stored (0, sums[0], 64);
  _tile_stored (1, sums[1], 64);
  _tile_stored (2, sums[2], 64);
  for (i = 0; i < n_right; i++)
    for (row = 0; row < APR_RESIDUE_TILE; row += 64)
      add_rows (sums[i] + row, &reduction, tiles + i * tile_distance + row);
}

#define MULTIPLY(n)                                                                 \
 multiply_panels (left, right, distance, n, n_rows, modulus, tiles, tile_distance); \
 break

static void
multiply (const guint8 *left,
          gsize n_left G_GNUC_UNUSED,
          const guint8 *right,
          gsize distance,
          gsize n_right,
          gboolean diagonal G_GNUC_UNUSED,
          gsize n_rows,
          guint modulus,
          guint8 *tiles,
          gsize tile_distance)
{
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

/* Two panels on the left with two on the right: tiles 0 to 3 hold the sums, 4 and 5 what comes from the left, which
 * bypasses the first cache, so that the panels on the right stay there, and 6 and 7 what comes from these. */
INLINE void
multiply_four_tiles (const guint8 *left, gsize left_distance, const guint8 *right, gsize distance)
{
  _tile_stream_loadd (4, left, 64);
  _tile_loadd (6, right, 64);
  _tile_dpbuud (0, 4, 6);
  _tile_loadd (7, right + distance, 64);
  _tile_dpbuud (1, 4, 7);
  _tile_stream_loadd (5, left + left_distance, 64);
  _tile_dpbuud (2, 5, 6);
  _tile_dpbuud (3, 5, 7);
}

/* The sums of two pairs of panels are added to their tiles in so many parts, of four rows each. */
#define PARTS (4 * APR_RESIDUE_TILE / 64)

/* At least as many as a block has steps. */
G_STATIC_ASSERT (APR_RESIDUE_ROWS <= PARTS * STEP);

/* While two pairs are multiplied, the sums of those before them are added to their tiles, and these pairs' tiles, which
 * may come from far, are fetched: the products take the time of both. */
static void
multiply_pairs (const guint8 *left,
                gsize left_distance,
                gsize n_pairs,
                const guint8 *right,
                gsize distance,
                gsize n_rows,
                guint modulus,
                guint8 *const (*tiles)[4])
{
  gint32 sums[4 * APR_RESIDUE_TILE] __attribute__ ((aligned (64)));
  guint8 last[2][TILE_BYTES] __attribute__ ((aligned (64)));
  const Reduction reduction = find_reduction (modulus);
  gsize n_whole = n_rows / STEP;
  gsize pair;
  gsize i;

  right += APR_RESIDUE_HEADER;
  for (i = 0; i < 2 && n_rows % STEP > 0; i++)
    fill_tile (right + i * distance + n_whole * TILE_BYTES, n_rows % STEP, last[i]);
  /* GCC does not know that loading a tile reads memory: without this it might fill the tiles after it. */
  __asm__ volatile("" ::: "memory");

  for (pair = 0; pair < n_pairs; pair++, left += 2 * left_distance)
    {
      _tile_zero (0);
      _tile_zero (1);
      _tile_zero (2);
      _tile_zero (3);
      for (i = 0; i < PARTS; i++)
        {
          if (i < n_whole)
            multiply_four_tiles (left + i * TILE_BYTES, left_distance, right + i * TILE_BYTES, distance);
          else if (i * STEP < n_rows)
            multiply_four_tiles (left + i * TILE_BYTES, left_distance, last[0], TILE_BYTES);
          _mm_prefetch ((const void *) (tiles[pair][i / 4] + i % 4 * 64), _MM_HINT_T0);
          if (pair > 0)
            add_rows (sums + 64 * i, &reduction, tiles[pair - 1][i / 4] + i % 4 * 64);
        }
      _tile_stored (0, sums, 64);
      _tile_stored (1, sums + APR_RESIDUE_TILE, 64);
      _tile_stored (2, sums + 2 * APR_RESIDUE_TILE, 64);
      _tile_stored (3, sums + 3 * APR_RESIDUE_TILE, 64);
    }
  for (i = 0; i < PARTS; i++)
    add_rows (sums + 64 * i, &reduction, tiles[n_pairs - 1][i / 4] + i % 4 * 64);
}

const AprResidueKernel apr_residue_kernel_amx = {
  .name = "amx",
  .residue_size = 1,
  .step = 4,
  .turned_step = STEP,
  .long_words = TRUE,
  .rate = 500,
  .square = square,
  .multiply_rest = multiply_rest,
  .cut = cut,
  .weigh = weigh,
  .turn = turn,
  .start = start,
  .stop = stop,
  .multiply = multiply,
  .multiply_pairs = multiply_pairs,
  .reconstruct = reconstruct,
};
