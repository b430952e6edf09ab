/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Residues of 16 bits in vectors of 512 bits, of which one instruction multiplies 32 and adds two by two. */

#include <immintrin.h>

#define ADD_PAIRS(sum, a, b) (sum) = _mm512_add_epi32 (sum, _mm512_madd_epi16 (a, b))

#define APR_RESIDUE_BYTES 0
#include "aprender/exact-sums/kernels/apr-residue-kernel-512bit-template.h"

/* Its two instructions, in the order in which they are written: GCC 12 changes that, and puts sums into memory where
 * there are as many as registers. */
#define MULTIPLY_WORDS(product, a, b) __asm__ volatile("vpmaddwd %2, %1, %0" : "=v"(product) : "v"(a), "v"(b))
#define ADD_WORDS(sum, product) __asm__ volatile("vpaddd %1, %0, %0" : "+v"(sum) : "v"(product))

/* Products that wait to be added. */
#define MAX_WAITING 3

/* Rows side by side. */
#define STEP 2

/* The words of sixteen values of a row, of which the low 24 bits count, as two digits of 12 bits, the upper one with
 * the sign; returns the numbers modulo 2^32. */
INLINE __m512i
cut_row (__m512d value[2],
         const double (*magic)[APR_RESIDUE_PANEL],
         guint n_words,
         __m512i digits[APR_RESIDUE_WORDS])
{
  __m512i whole = _mm512_setzero_si512 ();
  guint word;

#pragma GCC unroll 4
  for (word = APR_RESIDUE_WORDS; word-- > 0;)
    if (word < n_words)
      {
        __m512i sums[2];

        round_row (value, magic[word], sums);
        whole = join_halves (sums, FALSE);
        digits[word] = _mm512_mask_blend_epi16 (
          0xaaaaaaaa, _mm512_and_si512 (whole, _mm512_set1_epi32 (0xfff)), _mm512_slli_epi32 (whole, 4));
      }

  return whole;
}

/* The residues of two rows of sums: of these and of the quotients, 16 bits are enough; so the modulus 2^16, which is 0
 * then, takes nothing. */
INLINE __m512i
reduce_rows (__m512i first, __m512i second, __m512 reciprocal, __m512i modulus)
{
  __m512i one = _mm512_cvtps_epi32 (_mm512_mul_ps (_mm512_cvtepi32_ps (first), reciprocal));
  __m512i other = _mm512_cvtps_epi32 (_mm512_mul_ps (_mm512_cvtepi32_ps (second), reciprocal));

  return _mm512_sub_epi16 (join_rows (first, second), _mm512_mullo_epi16 (join_rows (one, other), modulus));
}

INLINE gsize
cut_words (const AprResidueModuli *moduli,
           guint n_words,
           gboolean is_float,
           const AprResidueColumns *columns,
           const double (*magic)[APR_RESIDUE_PANEL],
           guint8 *residues,
           gsize distance,
           AprResidueRest *rests)
{
  guint n_moduli = moduli->n_moduli;
  /* For which the lowest bits of a number are its residue. */
  guint has_power = moduli->modulus[0] == 65536;
  float reciprocals[APR_RESIDUE_MODULI];
  gsize n_rests = 0;
  gsize row;
  guint word;
  guint i;

  for (i = 0; i < n_moduli; i++)
    reciprocals[i] = 1.0f / (float) moduli->modulus[i];
  for (row = 0; row < columns->n_rows; row += STEP)
    {
      guint8 *to = residues + APR_RESIDUE_HEADER + row * APR_RESIDUE_PANEL * 2;
      __m512i digits[STEP][APR_RESIDUE_WORDS];
      __m512i whole[STEP];
      __m512d left[STEP][2];

      fetch_rows (columns, row + STEP, STEP, is_float);
#pragma GCC unroll 2
      for (i = 0; i < STEP; i++)
        {
          load_row (columns, row + i, is_float, left[i]);
          whole[i] = cut_row (left[i], magic, n_words, digits[i]);
        }
      if (G_UNLIKELY (has_rest (left, STEP)))
        {
          /* A copy, as what has its address taken cannot stay in registers. */
          __m512d copy[STEP][2];

          memcpy (copy, left, sizeof copy);
          n_rests += store_rests (copy, STEP, row, rests + n_rests);
        }

      if (has_power)
        {
          _mm512_store_si512 (to, join_rows (whole[0], whole[1]));
          to += distance;
        }
      for (i = has_power; i < n_moduli; i++, to += distance)
        {
          __m512 reciprocal = _mm512_set1_ps (reciprocals[i]);
          __m512i modulus = _mm512_set1_epi16 ((gint16) moduli->modulus[i]);
          __m512i sums[STEP] = { _mm512_setzero_si512 (), _mm512_setzero_si512 () };

#pragma GCC unroll 4
          for (word = 0; word < APR_RESIDUE_WORDS; word++)
            if (word < n_words)
              {
                __m512i weights = _mm512_set1_epi32 ((gint) moduli->weights[i][word]);

                ADD_PAIRS (sums[0], digits[0][word], weights);
                ADD_PAIRS (sums[1], digits[1][word], weights);
              }
          fetch_for_writing ((guintptr) to + LINES_AHEAD * 64);
          _mm512_store_si512 (to, reduce_rows (sums[0], sums[1], reciprocal, modulus));
        }
    }

  return n_rests;
}

static void
weigh (const guint8 *panel, const guint8 *weights, gsize n_rows, guint modulus, guint8 *weighed)
{
  const __m512 reciprocal = _mm512_set1_ps (1.0f / (float) modulus);
  const __m512i moduli = _mm512_set1_epi16 ((gint16) modulus);
  gsize row;

  for (row = 0; row < n_rows; row += STEP)
    {
      gsize place = APR_RESIDUE_HEADER + row * APR_RESIDUE_PANEL * 2;
      __m512i x = _mm512_load_si512 (panel + place);
      __m512i w = _mm512_set1_epi32 (*(const gint32 *) (gconstpointer) (weights + row * 2));
      /* The products of the first row, and those of the second. */
      __m512i first = _mm512_madd_epi16 (x, _mm512_and_si512 (w, _mm512_set1_epi32 (0xffff)));
      __m512i second = _mm512_madd_epi16 (x, _mm512_and_si512 (w, _mm512_set1_epi32 ((gint) 0xffff0000)));

      _mm512_store_si512 (weighed + place, reduce_rows (first, second, reciprocal, moduli));
    }
}

/* Rows between reductions: 92 times 4800^2, and what was reduced, are below 2^31. */
#define MAX_ROWS 92

#define NARROW FALSE

#define ADD_PRODUCT(k) ADD_WORDS (sums[k], products[(k) % MAX_WAITING])

/* Of the half, the first @n_columns count, an even number; @narrow is not used. Loops go through as many as there can
 * be: Clang unrolls them before it knows how many count, and else would keep sums in memory. */
INLINE void
multiply_half (const guint8 *left,
               const guint8 *right,
               gsize distance,
               gsize n_right,
               gsize half,
               gsize n_columns,
               gboolean narrow G_GNUC_UNUSED,
               gsize n_rows,
               guint modulus,
               guint8 *tiles,
               gsize tile_distance)
{
  const __m512 reciprocal = _mm512_set1_ps (1.0f / (float) modulus);
  const __m512i moduli = _mm512_set1_epi32 ((gint) modulus);
  const guint8 *a = left + APR_RESIDUE_HEADER + half * HALF * STEP * 2;
  const guint8 *b = right + APR_RESIDUE_HEADER;
  guint8 *to = tiles + half * HALF * APR_RESIDUE_PANEL * 2;
  gsize n_steps = (n_rows + STEP - 1) / STEP;
  __m512i sums[HALF * APR_RESIDUE_RIGHT];
  gsize i;
  gsize j;

#pragma GCC unroll 8
  for (i = 0; i < HALF; i++)
    if (i < n_columns)
#pragma GCC unroll 3
      for (j = 0; j < APR_RESIDUE_RIGHT; j++)
        if (j < n_right)
          sums[i * n_right + j] = _mm512_cvtepi16_epi32 (
            _mm256_load_si256 ((const void *) (to + j * tile_distance + i * APR_RESIDUE_PANEL * 2)));

  while (n_steps > 0)
    {
      gsize n = MIN (n_steps, MAX_ROWS / STEP);

      n_steps -= n;
      for (; n > 0; n--, a += 64, b += 64)
        {
          __m512i products[MAX_WAITING];
          __m512i y[APR_RESIDUE_RIGHT];

#pragma GCC unroll 3
          for (j = 0; j < APR_RESIDUE_RIGHT; j++)
            if (j < n_right)
              y[j] = _mm512_load_si512 (b + j * distance);
          _mm_prefetch ((const void *) ((guintptr) a + 1024), _MM_HINT_T0);
          /* Two products, two sums: one after the other takes a fifth longer on processors that can add in more places
           * than they can multiply, as sums then take the places of products. */
#pragma GCC unroll 8
          for (i = 0; i < HALF; i++)
            if (i < n_columns)
              {
                __m512i x = _mm512_set1_epi32 (((const gint32 *) (gconstpointer) a)[i]);

#pragma GCC unroll 3
                for (j = 0; j < APR_RESIDUE_RIGHT; j++)
                  if (j < n_right)
                    {
                      gsize k = i * n_right + j;

                      MULTIPLY_WORDS (products[k % MAX_WAITING], x, y[j]);
                      if (k >= 2 && k % 2 == 0)
                        {
                          ADD_PRODUCT (k - 2);
                          ADD_PRODUCT (k - 1);
                        }
                    }
              }
          ADD_PRODUCT (n_columns * n_right - 2);
          ADD_PRODUCT (n_columns * n_right - 1);
        }
      if (modulus != 65536)
#pragma GCC unroll 8
        for (i = 0; i < HALF; i++)
          if (i < n_columns)
#pragma GCC unroll 3
            for (j = 0; j < APR_RESIDUE_RIGHT; j++)
              if (j < n_right)
                sums[i * n_right + j] = reduce (sums[i * n_right + j], reciprocal, moduli);
    }

#pragma GCC unroll 8
  for (i = 0; i < HALF; i++)
    if (i < n_columns)
#pragma GCC unroll 3
      for (j = 0; j < APR_RESIDUE_RIGHT; j++)
        if (j < n_right)
          _mm256_store_si256 ((void *) (to + j * tile_distance + i * APR_RESIDUE_PANEL * 2),
                              _mm512_cvtepi32_epi16 (sums[i * n_right + j]));
}

#include "aprender/exact-sums/kernels/apr-residue-kernel-512bit-halves-template.h"

const AprResidueKernel apr_residue_kernel_avx512 = {
  .name = "avx512",
  .residue_size = 2,
  .step = STEP,
  .rate = 48,
  .square = square,
  .multiply_rest = multiply_rest,
  .cut = cut,
  .weigh = weigh,
  .multiply = multiply,
  .reconstruct = reconstruct,
};
