/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What kernels of residues in vectors of 512 bits share: APR_RESIDUE_BYTES says whether residues are of one byte.
 * Whoever includes this defines ADD_PAIRS (sum, a, b), which adds the products of 16-bit numbers, two and two
 * together. */

#include <immintrin.h>
#include <string.h>

#include "aprender/exact-sums/kernels/apr-residue-kernel-private.h"
#include "aprender/exact-sums/kernels/apr-residue-kernel-rest-template.h"

#define INLINE static inline __attribute__ ((always_inline))

#define PANELS 4

/* Columns of half a panel: as many are multiplied at a time, by three panels, as there are registers for their sums. */
#define HALF 8

/* Lines of residues that are fetched before they are written, for each modulus. */
#define LINES_AHEAD 4

/* What _mm512_range_pd () takes for the larger magnitude of two, without its sign. */
#define LARGER_MAGNITUDE 11

INLINE void
square_panels (
  const AprResidueColumns *columns, gsize first, gsize n_panels, double *squares, double *largest)
{
  __m512d sums[2 * PANELS];
  __m512d max[2 * PANELS];
  gsize row;
  gsize i;

  for (i = 0; i < 2 * n_panels; i++)
    {
      sums[i] = _mm512_loadu_pd (squares + 8 * i);
      max[i] = _mm512_loadu_pd (largest + 8 * i);
    }
  for (row = 0; row < columns->n_rows; row++)
    for (i = 0; i < 2 * n_panels; i++)
      {
        gsize place = row * columns->stride + first * APR_RESIDUE_PANEL + 8 * i;
        __m512d value = columns->is_float
                        ? _mm512_cvtps_pd (_mm256_loadu_ps ((const float *) columns->values + place))
                        : _mm512_loadu_pd ((const double *) columns->values + place);

        sums[i] = _mm512_fmadd_pd (value, value, sums[i]);
        max[i] = _mm512_range_pd (max[i], value, LARGER_MAGNITUDE);
      }
  for (i = 0; i < 2 * n_panels; i++)
    {
      _mm512_storeu_pd (squares + 8 * i, sums[i]);
      _mm512_storeu_pd (largest + 8 * i, max[i]);
    }
}

static void
square (const AprResidueColumns *columns, gsize n_panels, double *squares, double *largest)
{
  gsize i;

  for (i = 0; i + PANELS <= n_panels; i += PANELS)
    square_panels (columns, i, PANELS, squares + i * APR_RESIDUE_PANEL, largest + i * APR_RESIDUE_PANEL);
  for (; i < n_panels; i++)
    square_panels (columns, i, 1, squares + i * APR_RESIDUE_PANEL, largest + i * APR_RESIDUE_PANEL);
}

INLINE void
load_row (const AprResidueColumns *columns, gsize row, gboolean is_float, __m512d value[2])
{
  gsize i;

#pragma GCC unroll 2
  for (i = 0; i < 2; i++)
    {
      gsize place = row * columns->stride + 8 * i;

      if (row >= columns->n_rows)
        value[i] = _mm512_setzero_pd ();
      else if (is_float)
        value[i] = _mm512_cvtps_pd (_mm256_loadu_ps ((const float *) columns->values + place));
      else
        value[i] = _mm512_loadu_pd ((const double *) columns->values + place);
    }
}

/* The next rows, while others are cut: rows may be far apart. They may be beyond the last one, where there need be no
 * memory: addresses are computed as integers, and nothing is read. */
INLINE void
fetch_rows (const AprResidueColumns *columns, gsize row, gsize n_rows, gboolean is_float)
{
  gsize row_size = columns->stride * (is_float ? sizeof (float) : sizeof (double));
  guintptr place = (guintptr) columns->values + row * row_size;
  gsize i;

#pragma GCC unroll 4
  for (i = 0; i < n_rows; i++, place += row_size)
    {
      _mm_prefetch ((const void *) place, _MM_HINT_T0);
      _mm_prefetch ((const void *) (place + (is_float ? 63 : 64)), _MM_HINT_T0);
      if (!is_float)
        _mm_prefetch ((const void *) (place + 127), _MM_HINT_T0);
    }
}

/* Rounds values to whole numbers: these are the lowest 51 bits of the sums, with the bias that is in @magic. */
INLINE void
round_row (__m512d value[2], const double *magic, __m512i sums[2])
{
  gsize i;

#pragma GCC unroll 2
  for (i = 0; i < 2; i++)
    {
      __m512d shift = _mm512_load_pd (magic + 8 * i);
      __m512d sum = _mm512_add_pd (value[i], shift);

      value[i] = _mm512_sub_pd (value[i], _mm512_sub_pd (sum, shift));
      sums[i] = _mm512_castpd_si512 (sum);
    }
}

/* The lower or upper 32 bits of the sums. */
INLINE __m512i
join_halves (const __m512i sums[2], gboolean upper)
{
  const __m512i even = _mm512_setr_epi32 (0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);

  return _mm512_permutex2var_epi32 (sums[0], upper ? _mm512_add_epi32 (even, _mm512_set1_epi32 (1)) : even,
                                    sums[1]);
}

/* Those of some rows, of which few are not 0. Four are compared at a time: of a comparison of eight, GCC 12 may store
 * one byte and load four. */
static gsize __attribute__ ((noinline))
store_rests (__m512d all[][2], gsize n_rows, gsize first_row, AprResidueRest *rests)
{
  gsize n = 0;
  gsize row;
  guint i;

  for (row = 0; row < n_rows; row++)
    for (i = 0; i < APR_RESIDUE_PANEL; i += 4)
      {
        const double *values = (const double *) all[row] + i;
        gint mask =
          _mm256_movemask_pd (_mm256_cmp_pd (_mm256_load_pd (values), _mm256_setzero_pd (), _CMP_NEQ_UQ));

        for (; mask != 0; mask &= mask - 1)
          {
            gint place = __builtin_ctz ((guint) mask);

            rests[n++] = (AprResidueRest){ (guint) (first_row + row), i + (guint) place, values[place] };
          }
      }

  return n;
}

INLINE gboolean
has_rest (__m512d rests[][2], gsize n_rows)
{
  __m512d any = _mm512_setzero_pd ();
  gsize i;

#pragma GCC unroll 4
  for (i = 0; i < n_rows; i++)
    any = _mm512_or_pd (any, _mm512_or_pd (rests[i][0], rests[i][1]));

  return _mm512_cmp_pd_mask (any, _mm512_setzero_pd (), _CMP_NEQ_UQ) != 0;
}

/* A line that is written soon: the processor has to read it first, and to take it from the caches of other threads. It
 * may be beyond the last one, so its address is an integer. */
INLINE void
fetch_for_writing (guintptr line)
{
  __asm__ volatile("prefetchw (%0)" : : "r"(line));
}

/* A tile of residues, which may come from far. */
INLINE void
fetch_residues (const guint8 *tile)
{
  gsize i;

  for (i = 0; i < APR_RESIDUE_TILE * (APR_RESIDUE_BYTES ? 1 : 2); i += 64)
    _mm_prefetch ((const void *) (tile + i), _MM_HINT_T0);
}

/* The residues nearest to 0. */
INLINE __m512i
reduce (__m512i a, __m512 reciprocal, __m512i modulus)
{
  __m512i quotient = _mm512_cvtps_epi32 (_mm512_mul_ps (_mm512_cvtepi32_ps (a), reciprocal));

  return _mm512_sub_epi32 (a, _mm512_mullo_epi32 (quotient, modulus));
}

/* The low halves of the lanes of both. */
INLINE __m512i
join_rows (__m512i first, __m512i second)
{
  return _mm512_mask_blend_epi16 (0xaaaaaaaa, first, _mm512_slli_epi32 (second, 16));
}

/* Residues times their inverses, nearest to 0, two and two side by side; returns how many times M their sum is. */
INLINE __m512i
weigh_residues (const AprResidueModuli *moduli,
                const guint8 *tiles,
                gsize first,
                __m512i pairs[APR_RESIDUE_MODULI / 2])
{
  __m512 fractions = _mm512_setzero_ps ();
  guint i;

  for (i = 0; i < moduli->n_moduli; i++)
    {
      gconstpointer place = tiles + (i * APR_RESIDUE_TILE + first) * (APR_RESIDUE_BYTES ? 1 : 2);
      __m512 reciprocal = _mm512_set1_ps (1.0f / (float) moduli->modulus[i]);
      __m512i residue = APR_RESIDUE_BYTES ? _mm512_cvtepu8_epi32 (_mm_load_si128 (place))
                                          : _mm512_cvtepi16_epi32 (_mm256_load_si256 (place));
      __m512i weight = _mm512_mullo_epi32 (residue, _mm512_set1_epi32 (moduli->inverse[i]));

      /* The first modulus of 16 bits is 2^16. */
      weight = !APR_RESIDUE_BYTES && i == 0
               ? _mm512_srai_epi32 (_mm512_slli_epi32 (weight, 16), 16)
               : reduce (weight, reciprocal, _mm512_set1_epi32 ((gint) moduli->modulus[i]));
      fractions = _mm512_fmadd_ps (_mm512_cvtepi32_ps (weight), reciprocal, fractions);
      pairs[i / 2] =
        i % 2 == 0 ? _mm512_and_si512 (weight, _mm512_set1_epi32 (0xffff)) : join_rows (pairs[i / 2], weight);
    }

  return _mm512_cvtps_epi32 (fractions);
}

/* Weights of bytes, at most 128, need no such limit. */
#define MODULI_AT_ONCE (APR_RESIDUE_BYTES ? APR_RESIDUE_MODULI : APR_RESIDUE_WORDS_AT_ONCE)

INLINE void
store_limb (__m256i sum, __m256i other, guint limb, gint64 *to)
{
  __m512i wide = _mm512_cvtepi32_epi64 (sum);

  if (!APR_RESIDUE_BYTES)
    wide = _mm512_add_epi64 (wide, _mm512_cvtepi32_epi64 (other));
  if (limb % 2 == 1)
    wide = _mm512_add_epi64 (_mm512_loadu_si512 (to), _mm512_slli_epi64 (wide, 16));
  _mm512_storeu_si512 (to, wide);
}

static void
reconstruct (const AprResidueModuli *moduli, const guint8 *tiles, gint64 (*parts)[APR_RESIDUE_TILE])
{
  guint n = moduli->n_moduli;
  gsize first;
  guint limb;
  guint i;

  for (first = 0; first < APR_RESIDUE_TILE; first += 16)
    {
      __m512i pairs[APR_RESIDUE_MODULI / 2];
      __m512i n_products = weigh_residues (moduli, tiles, first, pairs);

      for (limb = 0; limb < moduli->n_limbs; limb++)
        {
          __m512i sum =
            _mm512_sub_epi32 (_mm512_setzero_si512 (),
                              _mm512_mullo_epi32 (n_products, _mm512_set1_epi32 (moduli->product[limb])));
          __m512i other = _mm512_setzero_si512 ();
          gint64 *to = parts[limb / 2] + first;

          for (i = 0; i < MIN (n, MODULI_AT_ONCE); i += 2)
            ADD_PAIRS (sum, pairs[i / 2],
                       _mm512_set1_epi32 (apr_residue_get_pair (moduli->limbs[limb], i, n)));
          for (; i < n; i += 2)
            ADD_PAIRS (other, pairs[i / 2],
                       _mm512_set1_epi32 (apr_residue_get_pair (moduli->limbs[limb], i, n)));
          store_limb (_mm512_castsi512_si256 (sum), _mm512_castsi512_si256 (other), limb, to);
          store_limb (_mm512_extracti64x4_epi64 (sum, 1), _mm512_extracti64x4_epi64 (other, 1), limb, to + 8);
        }
    }
}

/* What the kernel has to define: the residues of sixteen columns. Returns the number of rests. */
INLINE gsize cut_words (const AprResidueModuli *moduli,
                        guint n_words,
                        gboolean is_float,
                        const AprResidueColumns *columns,
                        const double (*magic)[APR_RESIDUE_PANEL],
                        guint8 *residues,
                        gsize distance,
                        AprResidueRest *rests);

/* All that is known when it is compiled makes it fast. */
#define CUT(n)                                                                                     \
 return columns->is_float ? cut_words (moduli, n, TRUE, columns, magic, residues, distance, rests) \
                          : cut_words (moduli, n, FALSE, columns, magic, residues, distance, rests)

static gsize
cut (const AprResidueModuli *moduli,
     const AprResidueColumns *columns,
     const double (*magic)[APR_RESIDUE_PANEL],
     guint8 *residues,
     gsize distance,
     AprResidueRest *rests)
{
  switch (moduli->n_words)
    {
#if APR_RESIDUE_BYTES
    case 1:
      CUT (1);
#endif
    case 2:
      CUT (2);
    case 3:
      CUT (3);
    default:
      CUT (4);
    }
}
