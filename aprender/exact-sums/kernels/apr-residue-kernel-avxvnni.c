/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define APR_RESIDUE_BYTES 1
#include "aprender/exact-sums/kernels/apr-residue-kernel-256bit-template.h"

/* Residues of bytes in vectors of 256 bits, of which one instruction multiplies 32 and adds four by four. */

/* In assembler, as GCC 12 copies every sum around the intrinsic; {vex} as AVX-512 is not there. */
#define DOT_BYTES(sum, a, b) __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(a), "xm"(b))

/* Rows side by side. */
#define STEP 4

/* The digits of four rows of eight columns. */
typedef struct
{
  __m256i digits[STEP][APR_RESIDUE_WORDS];
  __m256d rests[STEP][2];
} Cut;

INLINE void
find_digits (const __m256i *words, guint n_words, gsize index, Cut *cut)
{
  const __m256i low_bits = _mm256_set1_epi16 (0x3f);
  guint word;

#pragma GCC unroll 4
  for (word = 0; word < APR_RESIDUE_WORDS; word++)
    if (word < n_words)
      {
        /* The topmost digit has all eight bits. */
        const __m256i high_bits = _mm256_set1_epi32 (word == n_words - 1 ? (gint) 0xff003f00 : 0x7f003f00);
        __m256i halves = _mm256_blend_epi16 (words[word], _mm256_slli_epi32 (words[word], 4), 0xaa);

        cut->digits[index][word] = _mm256_or_si256 (
          _mm256_and_si256 (halves, low_bits), _mm256_and_si256 (_mm256_slli_epi16 (halves, 2), high_bits));
      }
}

/* 16-bit numbers v less m floor (v / m), or m less: from 0 to 255. */
INLINE __m256i
reduce_words (__m256i v, __m256i reciprocal, __m256i modulus)
{
  __m256i quotient = _mm256_srli_epi16 (_mm256_mulhi_epu16 (v, reciprocal), 7);

  return _mm256_sub_epi16 (v, _mm256_mullo_epi16 (quotient, modulus));
}

/* The residues of four rows for one modulus. */
INLINE __m256i
find_residues (const Cut *cut, guint n_words, const guint32 *weights, gint32 start, guint modulus)
{
  const __m256i order = _mm256_setr_epi8 (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, 0, 4, 8, 12,
                                          1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  __m256i reciprocals = _mm256_set1_epi16 ((gint16) ((1u << 23) / modulus));
  __m256i moduli = _mm256_set1_epi16 ((gint16) modulus);
  __m256i sums[STEP];
  __m256i first;
  __m256i second;
  guint word;
  gsize row;

#pragma GCC unroll 4
  for (row = 0; row < STEP; row++)
    sums[row] = _mm256_set1_epi32 (start);
#pragma GCC unroll 4
  for (word = 0; word < APR_RESIDUE_WORDS; word++)
    if (word < n_words)
      {
        __m256i weight = _mm256_set1_epi32 ((gint) weights[word]);

#pragma GCC unroll 4
        for (row = 0; row < STEP; row++)
          DOT_BYTES (sums[row], cut->digits[row][word], weight);
      }
  first = reduce_words (_mm256_packus_epi32 (sums[0], sums[1]), reciprocals, moduli);
  second = reduce_words (_mm256_packus_epi32 (sums[2], sums[3]), reciprocals, moduli);

  return _mm256_shuffle_epi8 (_mm256_packus_epi16 (first, second), order);
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
  const __m256i ones = _mm256_set1_epi8 (1);
  guint n_moduli = moduli->n_moduli;
  __m256i sums[APR_RESIDUE_MODULI];
  gsize n_rests = 0;
  gsize row;
  guint i;

  for (i = 0; i < n_moduli; i++)
    sums[i] = _mm256_setzero_si256 ();
  for (row = 0; row < columns->n_rows; row += STEP)
    {
      guint8 *to = residues + APR_RESIDUE_HEADER + row * APR_RESIDUE_PANEL + first * STEP;
      Cut cut;

#pragma GCC unroll 4
      for (i = 0; i < STEP; i++)
        {
          __m256i words[APR_RESIDUE_WORDS];

          cut_row (columns, is_float, first, row + i, magic, n_words, words, cut.rests[i]);
          find_digits (words, n_words, i, &cut);
        }
      if (G_UNLIKELY (has_rest (cut.rests, STEP)))
        n_rests += store_rests (cut.rests, STEP, row, first, rests + n_rests);
      for (i = 0; i < n_moduli; i++, to += distance)
        {
          __m256i found =
            find_residues (&cut, n_words, moduli->weights[i], moduli->start[i], moduli->modulus[i]);

          _mm256_store_si256 ((void *) to, found);
          DOT_BYTES (sums[i], found, ones);
        }
    }

  /* What the products lack where 128 is taken from every residue on the right. */
  for (i = 0; i < n_moduli; i++)
    _mm256_store_si256 ((void *) (residues + i * distance + first * sizeof (gint32)),
                        _mm256_slli_epi32 (sums[i], 7));

  return n_rests;
}

static void
weigh (const guint8 *panel, const guint8 *weights, gsize n_rows, guint modulus, guint8 *weighed)
{
  const __m256i ones = _mm256_set1_epi8 (1);
  const __m256i zero = _mm256_setzero_si256 ();
  const __m256i reciprocals = _mm256_set1_epi16 ((gint16) ((1u << 23) / modulus));
  const __m256i moduli = _mm256_set1_epi16 ((gint16) modulus);
  __m256i sums[2] = { zero, zero };
  gsize row;
  gsize i;

  for (row = 0; row < n_rows; row += STEP)
    {
      __m256i w = _mm256_set1_epi32 (*(const gint32 *) (gconstpointer) (weights + row));

#pragma GCC unroll 2
      for (i = 0; i < 2; i++)
        {
          gsize place = APR_RESIDUE_HEADER + row * APR_RESIDUE_PANEL + i * HALF * STEP;
          __m256i x = _mm256_load_si256 ((const void *) (panel + place));
          __m256i low = _mm256_mullo_epi16 (_mm256_unpacklo_epi8 (x, zero), _mm256_unpacklo_epi8 (w, zero));
          __m256i high = _mm256_mullo_epi16 (_mm256_unpackhi_epi8 (x, zero), _mm256_unpackhi_epi8 (w, zero));
          __m256i found = _mm256_packus_epi16 (reduce_words (low, reciprocals, moduli),
                                               reduce_words (high, reciprocals, moduli));

          _mm256_store_si256 ((void *) (weighed + place), found);
          DOT_BYTES (sums[i], found, ones);
        }
    }
  for (i = 0; i < 2; i++)
    _mm256_store_si256 ((void *) (weighed + i * sizeof sums[i]), _mm256_slli_epi32 (sums[i], 7));
}

/* In one piece, as GCC 12 keeps the broadcasts and puts the sums into memory. */
#define ADD_PRODUCTS(sums, place, y)                                                   \
 {                                                                                     \
  __m256i x;                                                                           \
                                                                                       \
  __asm__("vpbroadcastd %3, %0\n\t"                                                    \
          "%{vex%} vpdpbusd %4, %0, %1\n\t"                                            \
          "%{vex%} vpdpbusd %5, %0, %2"                                                \
          : "=&x"(x), "+x"((sums)[0]), "+x"((sums)[1])                                 \
          : "m"(*(const gint32 *) (gconstpointer) (place)), "x"((y)[0]), "x"((y)[1])); \
 }

/* The same of eight columns on the right. */
#define ADD_HALF(sum, place, y)                                      \
 {                                                                   \
  __m256i x;                                                         \
                                                                     \
  __asm__("vpbroadcastd %2, %0\n\t"                                  \
          "%{vex%} vpdpbusd %3, %0, %1"                              \
          : "=&x"(x), "+x"(sum)                                      \
          : "m"(*(const gint32 *) (gconstpointer) (place)), "x"(y)); \
 }

/* Modulo the modulus, sixteen numbers from 0 to 255. */
INLINE __m128i
reduce_sums (const __m256i sums[2], __m256 reciprocal, __m256i modulus)
{
  __m256i residues[2];
  __m256i words;
  gsize i;

#pragma GCC unroll 2
  for (i = 0; i < 2; i++)
    {
      __m256i nearest = reduce (sums[i], reciprocal, modulus);

      residues[i] = _mm256_add_epi32 (nearest, _mm256_and_si256 (_mm256_srai_epi32 (nearest, 31), modulus));
    }
  words = _mm256_permute4x64_epi64 (_mm256_packus_epi32 (residues[0], residues[1]), _MM_SHUFFLE (3, 1, 2, 0));

  return _mm_packus_epi16 (_mm256_castsi256_si128 (words), _mm256_extracti128_si256 (words, 1));
}

/* Sums of residues on the left, from 0 to 255, times those on the right less 128, are below 2^26 for
 * APR_RESIDUE_ROWS rows. */
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
  const __m256i flip = _mm256_set1_epi8 (-128);
  const __m256 reciprocal = _mm256_set1_ps (1.0f / (float) modulus);
  const __m256i moduli = _mm256_set1_epi32 ((gint) modulus);
  const gint32 *lacking = (const gint32 *) (gconstpointer) left + first;
  const guint8 *a = left + APR_RESIDUE_HEADER + STEP * first;
  const guint8 *b = right + APR_RESIDUE_HEADER;
  guint8 *to = tile + first * APR_RESIDUE_PANEL;
  __m256i sums[MAX_LEFT][2];
  gsize row;
  gsize i;
  gsize j;

#pragma GCC unroll 6
  for (i = 0; i < MAX_LEFT; i++)
    if (i < n_left)
      for (j = 0; j < 2; j++)
        sums[i][j] = _mm256_add_epi32 (
          _mm256_set1_epi32 (lacking[i]),
          _mm256_cvtepu8_epi32 (_mm_loadl_epi64 ((const void *) (to + i * APR_RESIDUE_PANEL + j * HALF))));

  for (row = 0; row < n_rows; row += STEP, a += STEP * APR_RESIDUE_PANEL, b += STEP * APR_RESIDUE_PANEL)
    {
      __m256i y[2] = { _mm256_xor_si256 (flip, _mm256_load_si256 ((const void *) b)),
                       _mm256_xor_si256 (flip, _mm256_load_si256 ((const void *) (b + STEP * HALF))) };

      _mm_prefetch ((const void *) ((guintptr) a + 1024), _MM_HINT_T0);
#pragma GCC unroll 6
      for (i = 0; i < MAX_LEFT; i++)
        if (i < n_left && n_vectors == 2)
          ADD_PRODUCTS (sums[i], a + STEP * i, y)
        else if (i < n_left)
          ADD_HALF (sums[i][0], a + STEP * i, y[0])
    }

#pragma GCC unroll 6
  for (i = 0; i < MAX_LEFT; i++)
    if (i < n_left)
      _mm_store_si128 ((void *) (to + i * APR_RESIDUE_PANEL), reduce_sums (sums[i], reciprocal, moduli));
}

const AprResidueKernel apr_residue_kernel_avxvnni = {
  .name = "avxvnni",
  .residue_size = 1,
  .step = STEP,
  .rate = 40,
  .square = square,
  .multiply_rest = multiply_rest,
  .cut = cut,
  .weigh = weigh,
  .multiply = multiply,
  .reconstruct = reconstruct,
};
