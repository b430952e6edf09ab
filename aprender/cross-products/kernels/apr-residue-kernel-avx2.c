/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <immintrin.h>

#include "aprender/cross-products/kernels/apr-residue-kernel-private.h"

/* Residues of 16 bits in vectors of 256 bits, of which one instruction multiplies sixteen and adds two by two. */

#define INLINE static inline __attribute__ ((always_inline))

/* Two rows of eight columns. */
#define HALF 8
#define STEP 2

/* Values of two vectors for each panel. */
INLINE __m256d
load_value (const AprResidueColumns *columns, gboolean is_float, gsize place)
{
  return is_float ? _mm256_cvtps_pd (_mm_loadu_ps ((const float *) columns->values + place))
                  : _mm256_loadu_pd ((const double *) columns->values + place);
}

static void
square (const AprResidueColumns *columns, gsize n_panels, double *squares)
{
  gsize panel;
  gsize row;
  gsize i;

  for (panel = 0; panel < n_panels; panel++)
    {
      gsize first = panel * APR_RESIDUE_PANEL;
      __m256d sums[4];

      for (i = 0; i < 4; i++)
        sums[i] = _mm256_loadu_pd (squares + first + 4 * i);
      for (row = 0; row < columns->n_rows; row++)
        for (i = 0; i < 4; i++)
          {
            __m256d value = load_value (columns, columns->is_float, row * columns->stride + first + 4 * i);

            sums[i] = _mm256_fmadd_pd (value, value, sums[i]);
          }
      for (i = 0; i < 4; i++)
        _mm256_storeu_pd (squares + first + 4 * i, sums[i]);
    }
}

/* The digits of two rows of eight columns, and the numbers modulo 2^32. */
typedef struct
{
  __m256i digits[STEP][APR_RESIDUE_WORDS];
  __m256i low[STEP];
  __m256d rests[STEP][2];
} Cut;

INLINE void
cut_row (const AprResidueColumns *columns,
         gboolean is_float,
         gsize first,
         gsize row,
         const double (*magic)[APR_RESIDUE_PANEL],
         guint n_words,
         gsize index,
         Cut *cut)
{
  const __m256i digit_bits = _mm256_set1_epi32 (0xfff);
  __m256d value[2];
  guint word;
  gsize i;

  for (i = 0; i < 2; i++)
    value[i] = row < columns->n_rows ? load_value (columns, is_float, row * columns->stride + first + 4 * i)
                                     : _mm256_setzero_pd ();
  for (word = n_words; word-- > 0;)
    {
      __m256d sum[2];
      __m256i whole;

      for (i = 0; i < 2; i++)
        {
          __m256d shift = _mm256_load_pd (magic[word] + first + 4 * i);

          sum[i] = _mm256_add_pd (value[i], shift);
          value[i] = _mm256_sub_pd (value[i], _mm256_sub_pd (sum[i], shift));
        }
      whole = _mm256_castps_si256 (
        _mm256_shuffle_ps (_mm256_castpd_ps (sum[0]), _mm256_castpd_ps (sum[1]), _MM_SHUFFLE (2, 0, 2, 0)));
      whole = _mm256_permute4x64_epi64 (whole, _MM_SHUFFLE (3, 1, 2, 0));
      cut->digits[index][word] =
        _mm256_blend_epi16 (_mm256_and_si256 (whole, digit_bits), _mm256_slli_epi32 (whole, 4), 0xaa);
      if (word == 0)
        cut->low[index] = whole;
    }
  cut->rests[index][0] = value[0];
  cut->rests[index][1] = value[1];
}

static gsize __attribute__ ((noinline))
store_rests (const Cut *cut, gsize first_row, gsize first, AprResidueRest *rests)
{
  gsize n = 0;
  gsize row;
  gsize i;

  for (row = 0; row < STEP; row++)
    {
      double values[HALF];

      _mm256_storeu_pd (values, cut->rests[row][0]);
      _mm256_storeu_pd (values + 4, cut->rests[row][1]);
      for (i = 0; i < HALF; i++)
        if (values[i] != 0)
          rests[n++] = (AprResidueRest){ (guint) (first_row + row), (guint) (first + i), values[i] };
    }

  return n;
}

INLINE gboolean
has_rest (const Cut *cut)
{
  __m256d any = _mm256_or_pd (_mm256_or_pd (cut->rests[0][0], cut->rests[0][1]),
                              _mm256_or_pd (cut->rests[1][0], cut->rests[1][1]));

  return _mm256_movemask_pd (_mm256_cmp_pd (any, _mm256_setzero_pd (), _CMP_NEQ_UQ)) != 0;
}

/* The residues nearest to 0. */
INLINE __m256i
reduce (__m256i a, __m256 reciprocal, __m256i modulus)
{
  __m256i quotient = _mm256_cvtps_epi32 (_mm256_mul_ps (_mm256_cvtepi32_ps (a), reciprocal));

  return _mm256_sub_epi32 (a, _mm256_mullo_epi32 (quotient, modulus));
}

/* Two rows side by side. */
INLINE __m256i
join_rows (__m256i first, __m256i second)
{
  return _mm256_blend_epi16 (first, _mm256_slli_epi32 (second, 16), 0xaa);
}

INLINE gsize
cut_half (const AprResidueModuli *moduli,
          guint n_words,
          gboolean is_float,
          const AprResidueColumns *columns,
          gsize first,
          const double (*magic)[APR_RESIDUE_PANEL],
          guint8 *residues,
          gsize distance,
          AprResidueRest *rests)
{
  guint n_moduli = moduli->n_moduli;
  gsize n_padded = (columns->n_rows + APR_RESIDUE_STEP - 1) / APR_RESIDUE_STEP * APR_RESIDUE_STEP;
  gsize n_rests = 0;
  gsize row;
  guint word;
  guint i;

  for (row = 0; row < n_padded; row += STEP)
    {
      guint8 *to = residues + APR_RESIDUE_HEADER + (row * APR_RESIDUE_PANEL + first * STEP) * 2;
      Cut cut;

#pragma GCC unroll 2
      for (i = 0; i < STEP; i++)
        cut_row (columns, is_float, first, row + i, magic, n_words, i, &cut);
      if (G_UNLIKELY (has_rest (&cut)))
        n_rests += store_rests (&cut, row, first, rests + n_rests);

      /* The first modulus is 2^16. */
      _mm256_store_si256 ((void *) to, join_rows (cut.low[0], cut.low[1]));
      for (i = 1; i < n_moduli; i++)
        {
          __m256 reciprocal = _mm256_set1_ps (1.0f / (float) moduli->modulus[i]);
          __m256i modulus = _mm256_set1_epi32 ((gint) moduli->modulus[i]);
          __m256i a = _mm256_setzero_si256 ();
          __m256i b = _mm256_setzero_si256 ();

#pragma GCC unroll 4
          for (word = 0; word < n_words; word++)
            {
              __m256i weights = _mm256_set1_epi32 ((gint) moduli->weights[i][word]);

              a = _mm256_add_epi32 (a, _mm256_madd_epi16 (cut.digits[0][word], weights));
              b = _mm256_add_epi32 (b, _mm256_madd_epi16 (cut.digits[1][word], weights));
            }
          to += distance;
          _mm256_store_si256 ((void *) to,
                              join_rows (reduce (a, reciprocal, modulus), reduce (b, reciprocal, modulus)));
        }
    }

  return n_rests;
}

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

/* The products of two rows, of sixteen columns for each. */
INLINE __m256i
weigh_rows (__m256i x, __m256i w, __m256 reciprocal, __m256i modulus)
{
  __m256i first = _mm256_mullo_epi32 (_mm256_srai_epi32 (_mm256_slli_epi32 (x, 16), 16),
                                      _mm256_srai_epi32 (_mm256_slli_epi32 (w, 16), 16));
  __m256i second = _mm256_mullo_epi32 (_mm256_srai_epi32 (x, 16), _mm256_srai_epi32 (w, 16));

  return join_rows (reduce (first, reciprocal, modulus), reduce (second, reciprocal, modulus));
}

static void
weigh (const guint8 *panel, const guint8 *weights, gsize n_rows, guint modulus, guint8 *weighed)
{
  const __m256 reciprocal = _mm256_set1_ps (1.0f / (float) modulus);
  const __m256i moduli = _mm256_set1_epi32 ((gint) modulus);
  gsize row;
  gsize i;

  for (row = 0; row < n_rows; row += STEP)
    for (i = 0; i < 2; i++)
      {
        gsize place = APR_RESIDUE_HEADER + (row * APR_RESIDUE_PANEL + i * STEP * HALF) * 2;
        __m256i x = _mm256_load_si256 ((const void *) (panel + place));
        __m256i w = _mm256_set1_epi32 (*(const gint32 *) (gconstpointer) (weights + row * 2));

        _mm256_store_si256 ((void *) (weighed + place), modulus == 65536
                                                          ? _mm256_mullo_epi16 (x, w)
                                                          : weigh_rows (x, w, reciprocal, moduli));
      }
}

/* Rows between reductions: 92 times 4800^2, and what was reduced, are below 2^31. */
#define MAX_ROWS 92

/* A tile is six columns on the left, or five, times sixteen: twelve sums, and no more than sixteen registers. */
#define MAX_LEFT 6

/* In assembler, as GCC 12 keeps the broadcasts and puts the sums into memory. */
#define ADD_PRODUCTS(sums, place, y)                                                   \
 {                                                                                     \
  __m256i x;                                                                           \
  __m256i product;                                                                     \
                                                                                       \
  __asm__("vpbroadcastd %4, %0\n\t"                                                    \
          "vpmaddwd %5, %0, %1\n\t"                                                    \
          "vpmaddwd %6, %0, %0\n\t"                                                    \
          "vpaddd %1, %2, %2\n\t"                                                      \
          "vpaddd %0, %3, %3"                                                          \
          : "=&x"(x), "=&x"(product), "+x"((sums)[0]), "+x"((sums)[1])                 \
          : "m"(*(const gint32 *) (gconstpointer) (place)), "x"((y)[0]), "x"((y)[1])); \
 }

/* The low 16 bits of each. */
INLINE __m128i
narrow (__m256i a)
{
  const __m256i order = _mm256_setr_epi8 (0, 1, 4, 5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 4,
                                          5, 8, 9, 12, 13, -1, -1, -1, -1, -1, -1, -1, -1);

  return _mm256_castsi256_si128 (
    _mm256_permute4x64_epi64 (_mm256_shuffle_epi8 (a, order), _MM_SHUFFLE (0, 0, 2, 0)));
}

INLINE void
multiply_some (const guint8 *left,
               const guint8 *right,
               gsize first,
               gsize n_left,
               gsize n_rows,
               guint modulus,
               guint8 *tile)
{
  const __m256 reciprocal = _mm256_set1_ps (1.0f / (float) modulus);
  const __m256i moduli = _mm256_set1_epi32 ((gint) modulus);
  const gint16 *a = (const gint16 *) (gconstpointer) (left + APR_RESIDUE_HEADER) + STEP * first;
  const gint16 *b = (const gint16 *) (gconstpointer) (right + APR_RESIDUE_HEADER);
  gint16 *to = (gint16 *) (gpointer) tile + first * APR_RESIDUE_PANEL;
  gsize n_steps = (n_rows + STEP - 1) / STEP;
  __m256i sums[MAX_LEFT][2];
  gsize i;
  gsize j;

#pragma GCC unroll 6
  for (i = 0; i < n_left; i++)
    for (j = 0; j < 2; j++)
      sums[i][j] =
        _mm256_cvtepi16_epi32 (_mm_load_si128 ((const void *) (to + i * APR_RESIDUE_PANEL + j * HALF)));

  while (n_steps > 0)
    {
      gsize n = MIN (n_steps, MAX_ROWS / STEP);

      n_steps -= n;
      for (; n > 0; n--, a += STEP * APR_RESIDUE_PANEL, b += STEP * APR_RESIDUE_PANEL)
        {
          __m256i y[2] = { _mm256_load_si256 ((const void *) b),
                           _mm256_load_si256 ((const void *) (b + STEP * HALF)) };

          _mm_prefetch ((const void *) (a + 512), _MM_HINT_T0);
#pragma GCC unroll 6
          for (i = 0; i < n_left; i++)
            ADD_PRODUCTS (sums[i], a + STEP * i, y)
        }
      if (modulus != 65536)
#pragma GCC unroll 6
        for (i = 0; i < n_left; i++)
          for (j = 0; j < 2; j++)
            sums[i][j] = reduce (sums[i][j], reciprocal, moduli);
    }

#pragma GCC unroll 6
  for (i = 0; i < n_left; i++)
    for (j = 0; j < 2; j++)
      _mm_store_si128 ((void *) (to + i * APR_RESIDUE_PANEL + j * HALF), narrow (sums[i][j]));
}

static void
multiply (const guint8 *left,
          const guint8 *right,
          gsize distance,
          gsize n_right,
          gsize n_rows,
          guint modulus,
          guint8 *tiles,
          gsize tile_distance)
{
  gsize i;

  for (i = 0; i < n_right; i++, right += distance, tiles += tile_distance)
    {
      multiply_some (left, right, 0, 6, n_rows, modulus, tiles);
      multiply_some (left, right, 6, 5, n_rows, modulus, tiles);
      multiply_some (left, right, 11, 5, n_rows, modulus, tiles);
    }
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
      const gint16 *tile = (const gint16 *) (gconstpointer) tiles + i * APR_RESIDUE_TILE + first;
      __m256 reciprocal = _mm256_set1_ps (1.0f / (float) moduli->modulus[i]);
      __m256i weight = _mm256_mullo_epi32 (_mm256_cvtepi16_epi32 (_mm_load_si128 ((const void *) tile)),
                                           _mm256_set1_epi32 (moduli->inverse[i]));

      /* The first modulus is 2^16. */
      weight = i == 0 ? _mm256_srai_epi32 (_mm256_slli_epi32 (weight, 16), 16)
                      : reduce (weight, reciprocal, _mm256_set1_epi32 ((gint) moduli->modulus[i]));
      fractions = _mm256_fmadd_ps (_mm256_cvtepi32_ps (weight), reciprocal, fractions);
      pairs[i / 2] =
        i % 2 == 0 ? _mm256_and_si256 (weight, _mm256_set1_epi32 (0xffff)) : join_rows (pairs[i / 2], weight);
    }

  return _mm256_cvtps_epi32 (fractions);
}

static inline gint32
get_pair (const gint16 *limbs, guint i, guint n)
{
  guint32 second = i + 1 < n ? (guint16) limbs[i + 1] : 0;

  return (gint32) ((guint16) limbs[i] | second << 16);
}

/* Moduli whose weights, below 2^15 the first and below 4800 the others, times limbs of at most 2^15, sum to less than
 * 2^31; and as many others again. */
#define MODULI_AT_ONCE 6

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
              __m256i product =
                _mm256_madd_epi16 (pairs[i / 2], _mm256_set1_epi32 (get_pair (moduli->limbs[limb], i, n)));

              if (i < MODULI_AT_ONCE)
                sum = _mm256_add_epi32 (sum, product);
              else
                other = _mm256_add_epi32 (other, product);
            }
          store_limb (_mm256_castsi256_si128 (sum), _mm256_castsi256_si128 (other), limb, to);
          store_limb (_mm256_extracti128_si256 (sum, 1), _mm256_extracti128_si256 (other, 1), limb, to + 4);
        }
    }
}

const AprResidueKernel apr_residue_kernel_avx2 = {
  .name = "avx2",
  .residue_size = 2,
  .rate = 24,
  .square = square,
  .cut = cut,
  .weigh = weigh,
  .multiply = multiply,
  .reconstruct = reconstruct,
};
