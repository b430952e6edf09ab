/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define APR_RESIDUE_BYTES 0
#include "aprender/exact-sums/kernels/apr-residue-kernel-256bit-template.h"

/* Residues of 16 bits in vectors of 256 bits, of which one instruction multiplies sixteen and adds two by two. */

/* Rows side by side. */
#define STEP 2

/* The digits of two rows of eight columns, and the numbers modulo 2^32. */
typedef struct
{
  __m256i digits[STEP][APR_RESIDUE_WORDS];
  __m256i low[STEP];
  __m256d rests[STEP][2];
} Cut;

INLINE void
find_digits (const __m256i *words, guint n_words, gsize index, Cut *cut)
{
  const __m256i digit_bits = _mm256_set1_epi32 (0xfff);
  guint word;

#pragma GCC unroll 4
  for (word = 0; word < APR_RESIDUE_WORDS; word++)
    if (word < n_words)
      cut->digits[index][word] = _mm256_blend_epi16 (_mm256_and_si256 (words[word], digit_bits),
                                                     _mm256_slli_epi32 (words[word], 4), 0xaa);
  cut->low[index] = words[0];
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
      guint8 *to = residues + APR_RESIDUE_HEADER + (row * APR_RESIDUE_PANEL + first * STEP) * 2;
      Cut cut;

#pragma GCC unroll 2
      for (i = 0; i < STEP; i++)
        {
          __m256i words[APR_RESIDUE_WORDS];

          cut_row (columns, is_float, first, row + i, magic, n_words, words, cut.rests[i]);
          find_digits (words, n_words, i, &cut);
        }
      if (G_UNLIKELY (has_rest (cut.rests, STEP)))
        n_rests += store_rests (cut.rests, STEP, row, first, rests + n_rests);

      if (has_power)
        {
          _mm256_store_si256 ((void *) to, join_rows (cut.low[0], cut.low[1]));
          to += distance;
        }
      for (i = has_power; i < n_moduli; i++, to += distance)
        {
          __m256 reciprocal = _mm256_set1_ps (reciprocals[i]);
          __m256i modulus = _mm256_set1_epi32 ((gint) moduli->modulus[i]);
          __m256i a = _mm256_setzero_si256 ();
          __m256i b = _mm256_setzero_si256 ();

#pragma GCC unroll 4
          for (word = 0; word < APR_RESIDUE_WORDS; word++)
            if (word < n_words)
              {
                __m256i weights = _mm256_set1_epi32 ((gint) moduli->weights[i][word]);

                a = _mm256_add_epi32 (a, _mm256_madd_epi16 (cut.digits[0][word], weights));
                b = _mm256_add_epi32 (b, _mm256_madd_epi16 (cut.digits[1][word], weights));
              }
          _mm256_store_si256 ((void *) to,
                              join_rows (reduce (a, reciprocal, modulus), reduce (b, reciprocal, modulus)));
        }
    }

  return n_rests;
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

/* The same of eight columns on the right. */
#define ADD_HALF(sum, place, y)                                      \
 {                                                                   \
  __m256i x;                                                         \
                                                                     \
  __asm__("vpbroadcastd %2, %0\n\t"                                  \
          "vpmaddwd %3, %0, %0\n\t"                                  \
          "vpaddd %0, %1, %1"                                        \
          : "=&x"(x), "+x"(sum)                                      \
          : "m"(*(const gint32 *) (gconstpointer) (place)), "x"(y)); \
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
               gsize n_vectors,
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
  for (i = 0; i < MAX_LEFT; i++)
    if (i < n_left)
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

          _mm_prefetch ((const void *) ((guintptr) a + 512), _MM_HINT_T0);
#pragma GCC unroll 6
          for (i = 0; i < MAX_LEFT; i++)
            if (i < n_left && n_vectors == 2)
              ADD_PRODUCTS (sums[i], a + STEP * i, y)
            else if (i < n_left)
              ADD_HALF (sums[i][0], a + STEP * i, y[0])
        }
      if (modulus != 65536)
#pragma GCC unroll 6
        for (i = 0; i < MAX_LEFT; i++)
          if (i < n_left)
            for (j = 0; j < 2; j++)
              sums[i][j] = reduce (sums[i][j], reciprocal, moduli);
    }

#pragma GCC unroll 6
  for (i = 0; i < MAX_LEFT; i++)
    if (i < n_left)
      for (j = 0; j < 2; j++)
        _mm_store_si128 ((void *) (to + i * APR_RESIDUE_PANEL + j * HALF), narrow (sums[i][j]));
}

const AprResidueKernel apr_residue_kernel_avx2 = {
  .name = "avx2",
  .residue_size = 2,
  .step = STEP,
  .rate = 24,
  .square = square,
  .multiply_rest = multiply_rest,
  .cut = cut,
  .weigh = weigh,
  .multiply = multiply,
  .reconstruct = reconstruct,
};
