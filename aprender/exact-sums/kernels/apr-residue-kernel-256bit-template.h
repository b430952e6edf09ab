/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What kernels of residues in vectors of 256 bits share: APR_RESIDUE_BYTES says whether residues are of one byte. */

#include <immintrin.h>

#include "aprender/exact-sums/kernels/apr-residue-kernel-private.h"
#include "aprender/exact-sums/kernels/apr-residue-kernel-rest-template.h"

#define INLINE static inline __attribute__ ((always_inline))

/* Rows from one that is cut to one that is fetched. */
#define FETCHED_ROWS 4

/* Columns of a vector. */
#define HALF 8

/* Values of two vectors for each panel. */
INLINE __m256d
load_value (const AprResidueColumns *columns, gboolean is_float, gsize place)
{
  return is_float ? _mm256_cvtps_pd (_mm_loadu_ps ((const float *) columns->values + place))
                  : _mm256_loadu_pd ((const double *) columns->values + place);
}

INLINE void
square_panel (
  const AprResidueColumns *columns, gboolean is_float, gsize first, double *squares, double *largest)
{
  const __m256d sign = _mm256_set1_pd (-0.0);
  __m256d sums[4];
  __m256d max[4];
  gsize row;
  gsize i;

#pragma GCC unroll 4
  for (i = 0; i < 4; i++)
    {
      sums[i] = _mm256_loadu_pd (squares + 4 * i);
      max[i] = _mm256_loadu_pd (largest + 4 * i);
    }
  for (row = 0; row < columns->n_rows; row++)
#pragma GCC unroll 4
    for (i = 0; i < 4; i++)
      {
        __m256d value = load_value (columns, is_float, row * columns->stride + first + 4 * i);

        sums[i] = _mm256_fmadd_pd (value, value, sums[i]);
        max[i] = _mm256_max_pd (max[i], _mm256_andnot_pd (sign, value));
      }
#pragma GCC unroll 4
  for (i = 0; i < 4; i++)
    {
      _mm256_storeu_pd (squares + 4 * i, sums[i]);
      _mm256_storeu_pd (largest + 4 * i, max[i]);
    }
}

static void
square (const AprResidueColumns *columns, gsize n_panels, double *squares, double *largest)
{
  gsize i;

  for (i = 0; i < n_panels * APR_RESIDUE_PANEL; i += APR_RESIDUE_PANEL)
    if (columns->is_float)
      square_panel (columns, TRUE, i, squares + i, largest + i);
    else
      square_panel (columns, FALSE, i, squares + i, largest + i);
}

/* Eight values of a row that is cut later: rows may be far apart. It may be beyond the last one, where there need be no
 * memory: addresses are computed as integers, and nothing is read. */
INLINE void
fetch_row (const AprResidueColumns *columns, gboolean is_float, gsize first, gsize row)
{
  gsize size = is_float ? sizeof (float) : sizeof (double);
  guintptr place = (guintptr) columns->values + (row * columns->stride + first) * size;

  _mm_prefetch ((const void *) place, _MM_HINT_T0);
  _mm_prefetch ((const void *) (place + HALF * size - 1), _MM_HINT_T0);
}

/* A tile of residues, which may come from far. */
INLINE void
fetch_residues (const guint8 *tile)
{
  gsize i;

  for (i = 0; i < APR_RESIDUE_TILE * (APR_RESIDUE_BYTES ? 1 : 2); i += 64)
    _mm_prefetch ((const void *) (tile + i), _MM_HINT_T0);
}

/* Cuts eight values of a row into words, of which the low 24 bits count. */
INLINE void
cut_row (const AprResidueColumns *columns,
         gboolean is_float,
         gsize first,
         gsize row,
         const double (*magic)[APR_RESIDUE_PANEL],
         guint n_words,
         __m256i words[APR_RESIDUE_WORDS],
         __m256d rests[2])
{
  guint word;
  gsize i;

  fetch_row (columns, is_float, first, row + FETCHED_ROWS);
#pragma GCC unroll 2
  for (i = 0; i < 2; i++)
    rests[i] = row < columns->n_rows ? load_value (columns, is_float, row * columns->stride + first + 4 * i)
                                     : _mm256_setzero_pd ();
#pragma GCC unroll 4
  for (word = APR_RESIDUE_WORDS; word-- > 0;)
    if (word < n_words)
      {
        __m256d sum[2];
        __m256i whole;

#pragma GCC unroll 2
        for (i = 0; i < 2; i++)
          {
            __m256d shift = _mm256_load_pd (magic[word] + first + 4 * i);

            sum[i] = _mm256_add_pd (rests[i], shift);
            rests[i] = _mm256_sub_pd (rests[i], _mm256_sub_pd (sum[i], shift));
          }
        whole = _mm256_castps_si256 (
          _mm256_shuffle_ps (_mm256_castpd_ps (sum[0]), _mm256_castpd_ps (sum[1]), _MM_SHUFFLE (2, 0, 2, 0)));
        words[word] = _mm256_permute4x64_epi64 (whole, _MM_SHUFFLE (3, 1, 2, 0));
      }
}

INLINE gboolean
has_rest (__m256d rests[][2], gsize n_rows)
{
  __m256d any = _mm256_setzero_pd ();
  gsize i;

#pragma GCC unroll 4
  for (i = 0; i < n_rows; i++)
    any = _mm256_or_pd (any, _mm256_or_pd (rests[i][0], rests[i][1]));

  return _mm256_movemask_pd (_mm256_cmp_pd (any, _mm256_setzero_pd (), _CMP_NEQ_UQ)) != 0;
}

static gsize __attribute__ ((noinline))
store_rests (__m256d found[][2], gsize n_rows, gsize first_row, gsize first, AprResidueRest *rests)
{
  gsize n = 0;
  gsize row;
  gsize i;

  for (row = 0; row < n_rows; row++)
    {
      double values[HALF];

      _mm256_storeu_pd (values, found[row][0]);
      _mm256_storeu_pd (values + 4, found[row][1]);
      for (i = 0; i < HALF; i++)
        if (values[i] != 0)
          rests[n++] = (AprResidueRest){ (guint) (first_row + row), (guint) (first + i), values[i] };
    }

  return n;
}

/* The residues nearest to 0. */
INLINE __m256i
reduce (__m256i a, __m256 reciprocal, __m256i modulus)
{
  __m256i quotient = _mm256_cvtps_epi32 (_mm256_mul_ps (_mm256_cvtepi32_ps (a), reciprocal));

  return _mm256_sub_epi32 (a, _mm256_mullo_epi32 (quotient, modulus));
}

/* The low halves of the lanes of both. */
INLINE __m256i
join_rows (__m256i first, __m256i second)
{
  return _mm256_blend_epi16 (first, _mm256_slli_epi32 (second, 16), 0xaa);
}

/* Residues times their inverses, nearest to 0, two and two side by side; returns how many times M their sum is. */
INLINE __m256i
weigh_residues (const AprResidueModuli *moduli,
                const guint8 *tiles,
                gsize first,
                __m256i pairs[APR_RESIDUE_MODULI / 2])
{
  __m256 fractions = _mm256_setzero_ps ();
  guint i;

  for (i = 0; i < moduli->n_moduli; i++)
    {
      gconstpointer place = tiles + (i * APR_RESIDUE_TILE + first) * (APR_RESIDUE_BYTES ? 1 : 2);
      __m256 reciprocal = _mm256_set1_ps (1.0f / (float) moduli->modulus[i]);
      __m256i residue = APR_RESIDUE_BYTES ? _mm256_cvtepu8_epi32 (_mm_loadl_epi64 (place))
                                          : _mm256_cvtepi16_epi32 (_mm_load_si128 (place));
      __m256i weight = _mm256_mullo_epi32 (residue, _mm256_set1_epi32 (moduli->inverse[i]));

      /* The first modulus of 16 bits is 2^16. */
      weight = !APR_RESIDUE_BYTES && i == 0
               ? _mm256_srai_epi32 (_mm256_slli_epi32 (weight, 16), 16)
               : reduce (weight, reciprocal, _mm256_set1_epi32 ((gint) moduli->modulus[i]));
      fractions = _mm256_fmadd_ps (_mm256_cvtepi32_ps (weight), reciprocal, fractions);
      pairs[i / 2] =
        i % 2 == 0 ? _mm256_and_si256 (weight, _mm256_set1_epi32 (0xffff)) : join_rows (pairs[i / 2], weight);
    }

  return _mm256_cvtps_epi32 (fractions);
}

INLINE void
store_limb (__m128i sum, __m128i other, guint limb, gint64 *to)
{
  __m256i wide = _mm256_add_epi64 (_mm256_cvtepi32_epi64 (sum), _mm256_cvtepi32_epi64 (other));

  if (limb % 2 == 1)
    wide = _mm256_add_epi64 (_mm256_loadu_si256 ((const void *) to), _mm256_slli_epi64 (wide, 16));
  _mm256_storeu_si256 ((void *) to, wide);
}

static void
reconstruct (const AprResidueModuli *moduli, const guint8 *tiles, gint64 (*parts)[APR_RESIDUE_TILE])
{
  guint n = moduli->n_moduli;
  gsize first;
  guint limb;
  guint i;

  for (first = 0; first < APR_RESIDUE_TILE; first += HALF)
    {
      __m256i pairs[APR_RESIDUE_MODULI / 2];
      __m256i n_products = weigh_residues (moduli, tiles, first, pairs);

      for (limb = 0; limb < moduli->n_limbs; limb++)
        {
          __m256i sum =
            _mm256_sub_epi32 (_mm256_setzero_si256 (),
                              _mm256_mullo_epi32 (n_products, _mm256_set1_epi32 (moduli->product[limb])));
          __m256i other = _mm256_setzero_si256 ();
          gint64 *to = parts[limb / 2] + first;

          for (i = 0; i < n; i += 2)
            {
              __m256i product = _mm256_madd_epi16 (
                pairs[i / 2], _mm256_set1_epi32 (apr_residue_get_pair (moduli->limbs[limb], i, n)));

              if (i < APR_RESIDUE_WORDS_AT_ONCE)
                sum = _mm256_add_epi32 (sum, product);
              else
                other = _mm256_add_epi32 (other, product);
            }
          store_limb (_mm256_castsi256_si128 (sum), _mm256_castsi256_si128 (other), limb, to);
          store_limb (_mm256_extracti128_si256 (sum, 1), _mm256_extracti128_si256 (other, 1), limb, to + 4);
        }
    }
}

/* What the kernel has to define: the residues of HALF columns from @first on. Returns the number of rests. */
INLINE gsize cut_half (const AprResidueModuli *moduli,
                       guint n_words,
                       gboolean is_float,
                       const AprResidueColumns *columns,
                       gsize first,
                       const double (*magic)[APR_RESIDUE_PANEL],
                       guint8 *residues,
                       gsize distance,
                       AprResidueRest *rests);

/* All that is known when it is compiled makes it fast. */
#define CUT(n)                                                                                           \
 return columns->is_float ? cut_half (moduli, n, TRUE, columns, first, magic, residues, distance, rests) \
                          : cut_half (moduli, n, FALSE, columns, first, magic, residues, distance, rests)

static gsize
cut_columns (const AprResidueModuli *moduli,
             const AprResidueColumns *columns,
             gsize first,
             const double (*magic)[APR_RESIDUE_PANEL],
             guint8 *residues,
             gsize distance,
             AprResidueRest *rests)
{
  switch (moduli->n_words)
    {
    case 2:
      CUT (2);
    case 3:
      CUT (3);
    default:
      CUT (4);
    }
}

static gsize
cut (const AprResidueModuli *moduli,
     const AprResidueColumns *columns,
     const double (*magic)[APR_RESIDUE_PANEL],
     guint8 *residues,
     gsize distance,
     AprResidueRest *rests)
{
  gsize n = cut_columns (moduli, columns, 0, magic, residues, distance, rests);

  return n + cut_columns (moduli, columns, HALF, magic, residues, distance, rests + n);
}

/* A tile is six columns on the left, or five, times sixteen: twelve sums, and no more than sixteen registers. */
#define MAX_LEFT 6

/* What the kernel has to define: adds the products of some columns on the left with sixteen, or where @n_vectors is 1,
 * with the first eight, to a tile. Its loops go through as many as there can be: Clang unrolls them before it
 * knows how many count, and else would keep sums in memory. */
INLINE void multiply_some (const guint8 *left,
                           const guint8 *right,
                           gsize first,
                           gsize n_left,
                           gsize n_vectors,
                           gsize n_rows,
                           guint modulus,
                           guint8 *tile);

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
  gsize i;

  for (i = 0; i < n_right; i++)
    fetch_residues (tiles + i * tile_distance);
  for (i = 0; i < n_right; i++, right += distance, tiles += tile_distance)
    {
      if (diagonal && i + 1 == n_right)
        multiply_some (left, right, 0, 6, 1, n_rows, modulus, tiles);
      else
        multiply_some (left, right, 0, 6, 2, n_rows, modulus, tiles);
      if (n_left > 6)
        multiply_some (left, right, 6, 5, 2, n_rows, modulus, tiles);
      if (n_left > 11)
        multiply_some (left, right, 11, 5, 2, n_rows, modulus, tiles);
    }
}
