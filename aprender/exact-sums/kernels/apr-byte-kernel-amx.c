/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <immintrin.h>
#include <string.h>

#include "aprender/exact-sums/kernels/apr-byte-kernel-private.h"
#include "aprender/exact-sums/kernels/apr-tiles-private.h"

/* Tiles of 16 times 64 bytes, which x86 calls AMX, and vectors of 512 bits to fill them. */

#define STEP_BYTES (APR_BYTE_MAX * APR_BYTE_TILE)

/* Of two panels, up to a whole number of threes and of fours. */
#define MAX_GROUPS 24

#define INLINE static inline __attribute__ ((always_inline))

/* Lane i of vector j to lane j of vector i, in lanes of 64 bits. */
INLINE void
exchange_lanes (const __m512i v[8], __m512i out[8])
{
  __m512i pair[8];
  gsize i;

  for (i = 0; i < 8; i += 2)
    {
      pair[i] = _mm512_unpacklo_epi64 (v[i], v[i + 1]);
      pair[i + 1] = _mm512_unpackhi_epi64 (v[i], v[i + 1]);
    }
  for (i = 0; i < 2; i++)
    {
      __m512i a = _mm512_shuffle_i64x2 (pair[i], pair[i + 2], _MM_SHUFFLE (2, 0, 2, 0));
      __m512i b = _mm512_shuffle_i64x2 (pair[i + 4], pair[i + 6], _MM_SHUFFLE (2, 0, 2, 0));
      __m512i c = _mm512_shuffle_i64x2 (pair[i], pair[i + 2], _MM_SHUFFLE (3, 1, 3, 1));
      __m512i d = _mm512_shuffle_i64x2 (pair[i + 4], pair[i + 6], _MM_SHUFFLE (3, 1, 3, 1));

      out[i] = _mm512_shuffle_i64x2 (a, b, _MM_SHUFFLE (2, 0, 2, 0));
      out[i + 2] = _mm512_shuffle_i64x2 (c, d, _MM_SHUFFLE (2, 0, 2, 0));
      out[i + 4] = _mm512_shuffle_i64x2 (a, b, _MM_SHUFFLE (3, 1, 3, 1));
      out[i + 6] = _mm512_shuffle_i64x2 (c, d, _MM_SHUFFLE (3, 1, 3, 1));
    }
}

/* Four rows of bytes from @n integers each, the largest byte first: byte k of integer i to place k n + i. */
static inline __m512i
get_order (gsize n)
{
  guint8 order[64];
  gsize i;

  for (i = 0; i < 64; i++)
    order[i] = (guint8) (i % n * (64 / n) + (64 / n - 1) - i / n);
  return _mm512_loadu_si512 (order);
}

typedef struct
{
  __m512d most;
  __m512i high;
  __m512d any_low;
  __m256i low;
  __m512d any_rest;
} Seen;

/* The bytes of 64 rows of a column. */
INLINE void
cut_step (const double *column, __m512d factors, gboolean all, guint8 *tiles, Seen *seen)
{
  const __m512i eight = get_order (8);
  const __m512i sixteen = get_order (16);
  __m512i spread[8];
  __m512i bytes[8];
  __m512i words[4];
  gsize i;

  for (i = 0; i < 8; i++)
    {
      __m512d value = _mm512_mul_pd (_mm512_load_pd (column + 8 * i), factors);
      __m512i high = _mm512_cvtpd_epi64 (value);
      __m512d low = _mm512_sub_pd (value, _mm512_cvtepi64_pd (high));

      seen->most = _mm512_max_pd (_mm512_abs_pd (value), seen->most);
      seen->any_low = _mm512_or_pd (low, seen->any_low);
      if (all)
        {
          __m512d scaled = _mm512_mul_pd (low, _mm512_set1_pd (0x1p32));
          __m512d whole = _mm512_roundscale_pd (scaled, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
          /* 2^31 has the bits that it has without a sign. */
          __m256i word = _mm512_cvtpd_epi32 (whole);

          high = _mm512_mask_sub_epi64 (high, _mm512_cmp_pd_mask (whole, _mm512_setzero_pd (), _CMP_LT_OQ),
                                        high, _mm512_set1_epi64 (1));
          seen->low = _mm256_or_si256 (word, seen->low);
          seen->any_rest = _mm512_or_pd (_mm512_sub_pd (scaled, whole), seen->any_rest);
          words[i / 2] =
            i % 2 == 0 ? _mm512_castsi256_si512 (word) : _mm512_inserti64x4 (words[i / 2], word, 1);
        }
      seen->high = _mm512_or_si512 (high, seen->high);
      spread[i] = _mm512_permutexvar_epi8 (eight, high);
    }

  exchange_lanes (spread, bytes);
  for (i = 0; i < 8; i++)
    _mm512_store_si512 (tiles + i * APR_BYTE_TILE, bytes[i]);
  if (all)
    {
      __m512i a;
      __m512i b;
      __m512i c;
      __m512i d;

      for (i = 0; i < 4; i++)
        words[i] = _mm512_permutexvar_epi8 (sixteen, words[i]);
      a = _mm512_shuffle_i64x2 (words[0], words[1], _MM_SHUFFLE (1, 0, 1, 0));
      b = _mm512_shuffle_i64x2 (words[2], words[3], _MM_SHUFFLE (1, 0, 1, 0));
      c = _mm512_shuffle_i64x2 (words[0], words[1], _MM_SHUFFLE (3, 2, 3, 2));
      d = _mm512_shuffle_i64x2 (words[2], words[3], _MM_SHUFFLE (3, 2, 3, 2));
      _mm512_store_si512 (tiles + 8 * APR_BYTE_TILE, _mm512_shuffle_i64x2 (a, b, _MM_SHUFFLE (2, 0, 2, 0)));
      _mm512_store_si512 (tiles + 9 * APR_BYTE_TILE, _mm512_shuffle_i64x2 (a, b, _MM_SHUFFLE (3, 1, 3, 1)));
      _mm512_store_si512 (tiles + 10 * APR_BYTE_TILE, _mm512_shuffle_i64x2 (c, d, _MM_SHUFFLE (2, 0, 2, 0)));
      _mm512_store_si512 (tiles + 11 * APR_BYTE_TILE, _mm512_shuffle_i64x2 (c, d, _MM_SHUFFLE (3, 1, 3, 1)));
    }
}

static gboolean
any (__m512d a)
{
  return _mm512_cmp_pd_mask (a, _mm512_setzero_pd (), _CMP_NEQ_UQ) != 0;
}

static guint
cut (const double *column, gsize n_steps, double factor, gboolean all, guint8 *tiles)
{
  const __m512d factors = _mm512_set1_pd (factor);
  Seen seen = { _mm512_setzero_pd (), _mm512_setzero_si512 (), _mm512_setzero_pd (), _mm256_setzero_si256 (),
                _mm512_setzero_pd () };
  guint64 high;
  guint32 low[8];
  gsize step;
  guint i;

  if (all)
    for (step = 0; step < n_steps; step++)
      cut_step (column + step * APR_BYTE_STEP, factors, TRUE, tiles + step * STEP_BYTES, &seen);
  else
    for (step = 0; step < n_steps; step++)
      cut_step (column + step * APR_BYTE_STEP, factors, FALSE, tiles + step * STEP_BYTES, &seen);

  if (!(_mm512_reduce_max_pd (seen.most) < 0x1p63))
    return APR_SLICE_OUTSIDE;
  if (any (seen.any_rest))
    return APR_BYTE_MAX + 1;
  _mm256_storeu_si256 ((void *) low, seen.low);
  for (i = 1; i < 8; i++)
    low[0] |= low[i];
  if (low[0] != 0)
    return APR_BYTE_MAX - (guint) __builtin_ctz (low[0]) / 8;
  if (any (seen.any_low))
    return APR_BYTE_HIGH + 1;
  high = (guint64) _mm512_reduce_or_epi64 (seen.high);
  return high == 0 ? 0 : APR_BYTE_HIGH - (guint) __builtin_ctzll (high) / 8;
}

/* A quarter of every fourth row, from @place on. */
INLINE __m512i
load_quarters (const guint8 *place)
{
  __m512i quarters = _mm512_castsi128_si512 (_mm_load_si128 ((const void *) place));

  quarters = _mm512_inserti32x4 (quarters, _mm_load_si128 ((const void *) (place + 4 * 64)), 1);
  quarters = _mm512_inserti32x4 (quarters, _mm_load_si128 ((const void *) (place + 8 * 64)), 2);
  return _mm512_inserti32x4 (quarters, _mm_load_si128 ((const void *) (place + 12 * 64)), 3);
}

/* Row i of a tile to column i, in words of four bytes. */
static inline void
turn_tile (const guint8 *tile, guint8 *turned)
{
  gsize i;

  for (i = 0; i < 4; i++)
    {
      __m512i a = load_quarters (tile + 16 * i);
      __m512i b = load_quarters (tile + 16 * i + 64);
      __m512i c = load_quarters (tile + 16 * i + 2 * 64);
      __m512i d = load_quarters (tile + 16 * i + 3 * 64);
      __m512i ab = _mm512_unpacklo_epi32 (a, b);
      __m512i cd = _mm512_unpacklo_epi32 (c, d);

      _mm512_store_si512 (turned + 256 * i, _mm512_unpacklo_epi64 (ab, cd));
      _mm512_store_si512 (turned + 256 * i + 64, _mm512_unpackhi_epi64 (ab, cd));
      ab = _mm512_unpackhi_epi32 (a, b);
      cd = _mm512_unpackhi_epi32 (c, d);
      _mm512_store_si512 (turned + 256 * i + 128, _mm512_unpacklo_epi64 (ab, cd));
      _mm512_store_si512 (turned + 256 * i + 192, _mm512_unpackhi_epi64 (ab, cd));
    }
}

static void
turn (const guint8 *tiles, gsize n_steps, guint n_bytes, guint8 *turned)
{
  gsize step;
  gsize index;

  for (step = 0; step < n_steps; step++)
    for (index = 0; index < n_bytes; index++)
      turn_tile (tiles + step * STEP_BYTES + index * APR_BYTE_TILE,
                 turned + step * STEP_BYTES + index * APR_BYTE_TILE);
}

/* Tiles 0 to 2 sum three groups of products, 3 those of a byte and itself, 4 to 6 have three bytes of the right
 * panel, one after the other, and 7 has one of the left: with each byte of the left, one of the right comes in, and
 * one is done with. */

#define GROUPS 3
#define SQUARE 3
#define LEFT 7

/* Steps that are multiplied before the sums are put aside for those of the next groups: what stays in the first cache.
 */
#define STEPS(n_left, n_right) ((n_left) + (n_right) > 12 ? 2 : 4)
#define STEPS_OF_PAIRS 4

/* That all of it is known when it is compiled, but for the number of steps, is what makes it fast. */

INLINE void
load_right (const guint8 *right, gint j)
{
  switch (j % 3)
    {
    case 0:
      _tile_loadd (4, right + j * APR_BYTE_TILE, 64);
      break;
    case 1:
      _tile_loadd (5, right + j * APR_BYTE_TILE, 64);
      break;
    default:
      _tile_loadd (6, right + j * APR_BYTE_TILE, 64);
      break;
    }
}

/* The first bytes alone are signed. */
#define ADD_PRODUCT(group, right)    \
 if (i > 0 && j > 0)                 \
  _tile_dpbuud (group, LEFT, right); \
 else if (i > 0)                     \
  _tile_dpbusd (group, LEFT, right); \
 else if (j > 0)                     \
  _tile_dpbsud (group, LEFT, right); \
 else                                \
  _tile_dpbssd (group, LEFT, right); \
 break;

INLINE void
add_product (gint group, gint i, gint j)
{
  switch (group * 3 + j % 3)
    {
    case 0:
      ADD_PRODUCT (0, 4)
    case 1:
      ADD_PRODUCT (0, 5)
    case 2:
      ADD_PRODUCT (0, 6)
    case 3:
      ADD_PRODUCT (1, 4)
    case 4:
      ADD_PRODUCT (1, 5)
    case 5:
      ADD_PRODUCT (1, 6)
    case 6:
      ADD_PRODUCT (2, 4)
    case 7:
      ADD_PRODUCT (2, 5)
    case 8:
      ADD_PRODUCT (2, 6)
    case 9:
      ADD_PRODUCT (SQUARE, 4)
    case 10:
      ADD_PRODUCT (SQUARE, 5)
    default:
      ADD_PRODUCT (SQUARE, 6)
    }
}

/* Three groups. */
INLINE void
multiply_groups (const guint8 *left,
                 gint n_left,
                 const guint8 *right,
                 gint n_right,
                 gint first,
                 gboolean fresh,
                 gsize n_steps,
                 gint32 (*groups)[APR_BYTE_SUMS])
{
  gint begin = MAX (first - n_right + 1, 0);
  gint end = MIN (first + GROUPS, n_left);
  gsize step;
  gint i;
  gint group;

  if (fresh)
    {
      _tile_zero (0);
      _tile_zero (1);
      _tile_zero (2);
    }
  else
    {
      _tile_loadd (0, groups[0], 64);
      _tile_loadd (1, groups[1], 64);
      _tile_loadd (2, groups[2], 64);
    }
  for (step = 0; step < n_steps; step++, left += STEP_BYTES, right += STEP_BYTES)
#pragma GCC unroll 12
    for (i = begin; i < end; i++)
      {
        _tile_loadd (LEFT, left + i * APR_BYTE_TILE, 64);
#pragma GCC unroll 3
        for (group = 0; group < GROUPS; group++)
          {
            gint j = first + group - i;

            if (j < 0 || j >= n_right)
              continue;
            if (group == 0 || i == begin)
              load_right (right, j);
            add_product (group, i, j);
          }
      }
  _tile_stored (0, groups[0], 64);
  _tile_stored (1, groups[1], 64);
  _tile_stored (2, groups[2], 64);
}

INLINE void
multiply_all (const guint8 *left,
              gint n_left,
              const guint8 *right,
              gint n_right,
              gsize n_steps,
              gint32 (*groups)[APR_BYTE_SUMS])
{
  const gsize n_steps_at_once = STEPS (n_left, n_right);
  gint first;
  gsize step;

  for (step = 0; step < n_steps;
       step += n_steps_at_once, left += n_steps_at_once * STEP_BYTES, right += n_steps_at_once * STEP_BYTES)
#pragma GCC unroll 8
    for (first = 0; first < n_left + n_right - 1; first += GROUPS)
      multiply_groups (left, n_left, right, n_right, first, step == 0, MIN (n_steps_at_once, n_steps - step),
                       groups + first);
}

/* Two groups, of pairs with i < j, and the products of the byte that would be a pair with itself. */
INLINE void
multiply_pairs (const guint8 *left,
                const guint8 *right,
                gint n_bytes,
                gint first,
                gboolean fresh,
                gsize n_steps,
                gint32 (*groups)[APR_BYTE_SUMS],
                gint32 *square)
{
  gint begin = MAX (first - n_bytes + 1, 0);
  gsize step;
  gint i;
  gint group;

  if (fresh)
    {
      _tile_zero (0);
      _tile_zero (1);
      _tile_zero (SQUARE);
    }
  else
    {
      _tile_loadd (0, groups[0], 64);
      _tile_loadd (1, groups[1], 64);
      _tile_loadd (SQUARE, square, 64);
    }
  for (step = 0; step < n_steps; step++, left += STEP_BYTES, right += STEP_BYTES)
#pragma GCC unroll 12
    for (i = begin; i <= first / 2; i++)
      {
        _tile_loadd (LEFT, left + i * APR_BYTE_TILE, 64);
#pragma GCC unroll 2
        for (group = 0; group < 2; group++)
          {
            gint j = first + group - i;

            if (j >= n_bytes)
              continue;
            if (group == 0 || i == begin)
              load_right (right, j);
            add_product (i == j ? SQUARE : group, i, j);
          }
      }
  _tile_stored (0, groups[0], 64);
  _tile_stored (1, groups[1], 64);
  _tile_stored (SQUARE, square, 64);
}

INLINE void
multiply_all_pairs (const guint8 *left,
                    const guint8 *right,
                    gint n_bytes,
                    gsize n_steps,
                    gint32 (*groups)[APR_BYTE_SUMS],
                    gint32 (*squares)[APR_BYTE_SUMS])
{
  gint first;
  gsize step;

  for (step = 0; step < n_steps;
       step += STEPS_OF_PAIRS, left += STEPS_OF_PAIRS * STEP_BYTES, right += STEPS_OF_PAIRS * STEP_BYTES)
#pragma GCC unroll 12
    for (first = 0; first < 2 * n_bytes - 1; first += 2)
      multiply_pairs (left, right, n_bytes, first, step == 0, MIN (STEPS_OF_PAIRS, n_steps - step),
                      groups + first, squares[first / 2]);
}

/* The numbers of bytes of which it is known. */
#define EACH_NUMBER(DO) \
 switch (n_left)        \
  {                     \
   DO (1)               \
   DO (2)               \
   DO (3)               \
   DO (4)               \
   DO (5)               \
   DO (6)               \
   DO (7)               \
   DO (8)               \
   DO (9)               \
   DO (10)              \
   DO (11)              \
   DO (12)              \
  default:              \
   break;               \
  }

/* Adds groups, of 16 rows of 16 sums, to their parts, four to each. */
static void
add_groups (gint32 (*groups)[APR_BYTE_SUMS], guint n_groups, gint64 *sums)
{
  guint first;
  gsize i;
  gsize k;

  memset (groups[n_groups], 0, (0 - n_groups) % 4 * sizeof *groups);
  for (first = 0; first < n_groups; first += 4, sums += APR_BYTE_SUMS)
    for (i = 0; i < APR_BYTE_SUMS; i += 8)
      {
        __m512i sum = _mm512_cvtepi32_epi64 (_mm256_load_si256 ((const void *) (groups[first] + i)));

        for (k = 1; k < 4; k++)
          sum = _mm512_add_epi64 (_mm512_slli_epi64 (sum, 8), _mm512_cvtepi32_epi64 (_mm256_load_si256 (
                                                                (const void *) (groups[first + k] + i))));
        _mm512_store_si512 (sums + i, _mm512_add_epi64 (_mm512_load_si512 (sums + i), sum));
      }
}

/* The sums, which may come from far. */
static inline void
fetch (const gint64 *sums, gsize n)
{
  gsize i;

  for (i = 0; i < n; i += 8)
    _mm_prefetch ((const void *) (sums + i), _MM_HINT_T1);
}

#define MULTIPLY(n)                                  \
 case n:                                             \
  multiply_all (left, n, right, n, n_steps, groups); \
  break;

static void
multiply (const guint8 *left, guint n_left, const guint8 *right, guint n_right, gsize n_steps, gint64 *sums)
{
  gint32 groups[MAX_GROUPS][APR_BYTE_SUMS] __attribute__ ((aligned (64)));

  fetch (sums, (n_left + n_right + 2) / 4 * APR_BYTE_SUMS);
  if (n_left == n_right)
    EACH_NUMBER (MULTIPLY)
  else
    multiply_all (left, (gint) n_left, right, (gint) n_right, n_steps, groups);
  add_groups (groups, n_left + n_right - 1, sums);
}

#define MULTIPLY_PAIRS(n)                                        \
 case n:                                                         \
  multiply_all_pairs (left, right, n, n_steps, groups, squares); \
  break;

static void
multiply_self (const guint8 *left, const guint8 *right, guint n_left, gsize n_steps, gint64 *sums)
{
  gint32 groups[MAX_GROUPS][APR_BYTE_SUMS] __attribute__ ((aligned (64)));
  gint32 squares[APR_BYTE_MAX][APR_BYTE_SUMS] __attribute__ ((aligned (64)));
  guint group;
  guint row;

  fetch (sums, (2 * n_left + 2) / 4 * APR_BYTE_SUMS);
  EACH_NUMBER (MULTIPLY_PAIRS)

  for (group = 0; group < 2 * n_left - 1; group++)
    for (row = 0; row < APR_BYTE_PANEL; row++)
      {
        gint32 *place = groups[group] + row * APR_BYTE_PANEL;
        __m512i sum = _mm512_load_si512 (place);

        sum = _mm512_mask_add_epi32 (sum, (__mmask16) (1u << row), sum, sum);
        if (group % 2 == 0)
          sum = _mm512_mask_add_epi32 (sum, (__mmask16) ((2u << row) - 1), sum,
                                       _mm512_load_si512 (squares[group / 2] + row * APR_BYTE_PANEL));
        _mm512_store_si512 (place, sum);
      }
  add_groups (groups, 2 * n_left - 1, sums);
}

const AprByteKernel apr_byte_kernel_amx = {
  "amx", cut, turn, multiply, multiply_self, start, stop,
};
