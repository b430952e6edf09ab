/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What kernels of residues of bytes in vectors of 512 bits share: all but the products. */

#include <immintrin.h>

/* As GCC 12 copies every sum around the intrinsic. */
#define DOT_BYTES(sum, a, b) __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
#define ADD_PAIRS(sum, a, b) __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))

#define APR_RESIDUE_BYTES 1
#include "aprender/exact-sums/kernels/apr-residue-kernel-512bit-template.h"

/* Numbers of 24 bits, of which each becomes four bytes: a byte has its six bits, and others above them. */
INLINE __m512i
spread_words (__m512i words)
{
#ifdef __AVX512VBMI__
  /* Bits 0, 6, 12 and 18 of each. */
  return _mm512_multishift_epi64_epi8 (_mm512_set1_epi64 (0x322c2620120c0600), words);
#else
  __m512i halves = _mm512_mask_blend_epi16 (0xaaaaaaaa, words, _mm512_slli_epi32 (words, 4));

  return _mm512_mask_blend_epi8 (0xaaaaaaaaaaaaaaaa, halves, _mm512_slli_epi16 (halves, 2));
#endif
}

/* The same of two numbers side by side in 64 bits. */
INLINE __m512i
spread_pairs (__m512i pairs)
{
#ifdef __AVX512VBMI__
  /* Bits 0, 6, and so on to 42. */
  return _mm512_multishift_epi64_epi8 (_mm512_set1_epi64 (0x2a241e18120c0600), pairs);
#else
  return spread_words (_mm512_mask_blend_epi32 (0xaaaa, pairs, _mm512_slli_epi64 (pairs, 8)));
#endif
}

/* One addition rounds to two words, or to a long word, behind which stands what has its top. */
INLINE void
cut_row (__m512d value[2],
         const double (*magic)[APR_RESIDUE_PANEL],
         guint n_words,
         __m512i digits[APR_RESIDUE_WORDS],
         __m512d rests[2])
{
  __m512i sums[2];
  guint word;
  gsize i;

  if (n_words == 1)
    {
      round_row (value, magic[0], sums);
      digits[0] = join_halves (sums, FALSE);
      digits[1] = join_halves (sums, TRUE);
    }
#pragma GCC unroll 2
  for (word = n_words; word >= 2; word -= 2)
    {
      const __m512i bits =
        _mm512_set1_epi64 (word == n_words ? (gint64) 0xff3f3f3f3f3f3f3f : 0x7f3f3f3f3f3f3f3f);

      round_row (value, magic[word - 2], sums);
#pragma GCC unroll 2
      for (i = 0; i < 2; i++)
        sums[i] = _mm512_and_si512 (spread_pairs (sums[i]), bits);
      digits[word - 1] = join_halves (sums, TRUE);
      digits[word - 2] = join_halves (sums, FALSE);
    }
  if (n_words == 3)
    {
      round_row (value, magic[0], sums);
      digits[0] = _mm512_and_si512 (spread_words (join_halves (sums, FALSE)), _mm512_set1_epi32 (0x7f3f3f3f));
    }
  rests[0] = value[0];
  rests[1] = value[1];
}

/* The tops of two rows, in the lowest bits of 16, in the order in which their sums are packed: for looking them up. */
INLINE __m512i
pack_tops (__m512i one, __m512i other)
{
  const __m512i order =
    _mm512_setr_epi32 (0x20000, 0x60004, 0x220020, 0x260024, 0xa0008, 0xe000c, 0x2a0028, 0x2e002c, 0x120010,
                       0x160014, 0x320030, 0x360034, 0x1a0018, 0x1e001c, 0x3a0038, 0x3e003c);

  return _mm512_permutex2var_epi16 (one, order, other);
}

/* What rounds to two words: the bias of the upper one, too. */
INLINE void
join_magic (const AprResidueModuli *moduli,
            const double (*magic)[APR_RESIDUE_PANEL],
            guint n_words,
            double (*joined)[APR_RESIDUE_PANEL])
{
  const __m512i exponent_bits = _mm512_set1_epi64 (0x7ff0000000000000);
  guint word;
  gsize i;

  for (word = 0; word < APR_RESIDUE_WORDS; word++)
    if (word < n_words)
      for (i = 0; i < APR_RESIDUE_PANEL; i += 8)
        {
          __m512d one = _mm512_load_pd (magic[word] + i);
          /* The unit times 2^52. */
          __m512d unit = _mm512_castsi512_pd (_mm512_and_si512 (_mm512_castpd_si512 (one), exponent_bits));
          /* Where the lowest of three words is cut alone, that is above the bits that are used. */
          double bias = word + 1 < n_words ? apr_residue_moduli_get_bias (moduli, word + 1) * 0x1p-28 : 0;

          _mm512_store_pd (joined[word] + i,
                           _mm512_add_pd (one, _mm512_mul_pd (unit, _mm512_set1_pd (bias))));
        }
}

/* 16-bit numbers v less m floor (v / m), or m less: from 0 to 255. */
INLINE __m512i
reduce_words (__m512i v, __m512i reciprocal, __m512i modulus)
{
  __m512i quotient = _mm512_srli_epi16 (_mm512_mulhi_epu16 (v, reciprocal), 7);

  return _mm512_sub_epi16 (v, _mm512_mullo_epi16 (quotient, modulus));
}

/* A modulus, and 2^23 divided by it, each of 16 bits and twice: 32 bits are loaded into all lanes of a vector by one
 * instruction, but 16 take a shuffle, too. */
typedef struct
{
  guint32 reciprocal;
  guint32 modulus;
} Divisor;

/* The residues of four rows for one modulus. */
INLINE __m512i
find_residues (__m512i digits[4][APR_RESIDUE_WORDS],
               guint n_words,
               const guint32 *weights,
               gint32 start,
               const guint16 *tops,
               const Divisor *divisor)
{
  const __m512i order =
    _mm512_broadcast_i32x4 (_mm_setr_epi8 (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  __m512i reciprocals = _mm512_set1_epi32 ((gint32) divisor->reciprocal);
  __m512i moduli = _mm512_set1_epi32 ((gint32) divisor->modulus);
  __m512i sums[4];
  __m512i first;
  __m512i second;
  guint word;
  gsize row;

#pragma GCC unroll 4
  for (row = 0; row < 4; row++)
    sums[row] = _mm512_set1_epi32 (start);
#pragma GCC unroll 4
  for (word = 0; word < APR_RESIDUE_WORDS; word++)
    if (word < n_words)
      {
        __m512i weight = _mm512_set1_epi32 ((gint32) weights[word]);

#pragma GCC unroll 4
        for (row = 0; row < 4; row++)
          DOT_BYTES (sums[row], digits[row][word], weight);
      }
  first = _mm512_packus_epi32 (sums[0], sums[1]);
  second = _mm512_packus_epi32 (sums[2], sums[3]);
  if (n_words == 1)
    {
      __m512i table = _mm512_loadu_si512 (tops);

      first = _mm512_add_epi16 (first, _mm512_permutexvar_epi16 (digits[0][1], table));
      second = _mm512_add_epi16 (second, _mm512_permutexvar_epi16 (digits[2][1], table));
    }
  first = reduce_words (first, reciprocals, moduli);
  second = reduce_words (second, reciprocals, moduli);

  return _mm512_shuffle_epi8 (_mm512_packus_epi16 (first, second), order);
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
  const __m512i ones = _mm512_set1_epi8 (1);
  guint n_moduli = moduli->n_moduli;
  __m512i sums[APR_RESIDUE_MODULI];
  Divisor divisors[APR_RESIDUE_MODULI];
  double joined[APR_RESIDUE_WORDS][APR_RESIDUE_PANEL] __attribute__ ((aligned (64)));
  gsize n_rests = 0;
  gsize row;
  guint i;

  for (i = 0; i < n_moduli; i++)
    {
      sums[i] = _mm512_setzero_si512 ();
      divisors[i].reciprocal = (1u << 23) / moduli->modulus[i] * 0x10001;
      divisors[i].modulus = moduli->modulus[i] * 0x10001;
    }
  join_magic (moduli, magic, n_words, joined);
  for (row = 0; row < columns->n_rows; row += 4)
    {
      guint8 *to = residues + APR_RESIDUE_HEADER + row * APR_RESIDUE_PANEL;
      __m512i digits[4][APR_RESIDUE_WORDS];
      __m512d left[4][2];

#pragma GCC unroll 4
      for (i = 0; i < 4; i++)
        {
          __m512d value[2];

          load_row (columns, row + i, is_float, value);
          cut_row (value, joined, n_words, digits[i], left[i]);
        }
      if (G_UNLIKELY (has_rest (left, 4)))
        {
          /* A copy, as what has its address taken cannot stay in registers. */
          __m512d copy[4][2];

          memcpy (copy, left, sizeof copy);
          n_rests += store_rests (copy, 4, row, rests + n_rests);
        }
      if (n_words == 1)
        {
          digits[0][1] = pack_tops (digits[0][1], digits[1][1]);
          digits[2][1] = pack_tops (digits[2][1], digits[3][1]);
        }
      fetch_rows (columns, row + 4, 4, is_float);
      for (i = 0; i < n_moduli; i++, to += distance)
        {
          __m512i found = find_residues (digits, n_words, moduli->weights[i], moduli->start[i],
                                         moduli->tops[i], &divisors[i]);

          fetch_for_writing ((guintptr) to + LINES_AHEAD * 64);
          _mm512_store_si512 (to, found);
          DOT_BYTES (sums[i], found, ones);
        }
    }

  /* What the products lack where 128 is taken from every residue on the right. */
  for (i = 0; i < n_moduli; i++)
    _mm512_store_si512 (residues + i * distance, _mm512_slli_epi32 (sums[i], 7));

  return n_rests;
}

static void
weigh (const guint8 *panel, const guint8 *weights, gsize n_rows, guint modulus, guint8 *weighed)
{
  const __m512i ones = _mm512_set1_epi8 (1);
  const __m512i zero = _mm512_setzero_si512 ();
  const __m512i reciprocals = _mm512_set1_epi16 ((gint16) ((1u << 23) / modulus));
  const __m512i moduli = _mm512_set1_epi16 ((gint16) modulus);
  __m512i sums = zero;
  gsize row;

  for (row = 0; row < n_rows; row += 4)
    {
      gsize place = APR_RESIDUE_HEADER + row * APR_RESIDUE_PANEL;
      __m512i x = _mm512_load_si512 (panel + place);
      __m512i w = _mm512_set1_epi32 (*(const gint32 *) (gconstpointer) (weights + row));
      __m512i low = _mm512_mullo_epi16 (_mm512_unpacklo_epi8 (x, zero), _mm512_unpacklo_epi8 (w, zero));
      __m512i high = _mm512_mullo_epi16 (_mm512_unpackhi_epi8 (x, zero), _mm512_unpackhi_epi8 (w, zero));
      __m512i found = _mm512_packus_epi16 (reduce_words (low, reciprocals, moduli),
                                           reduce_words (high, reciprocals, moduli));

      _mm512_store_si512 (weighed + place, found);
      DOT_BYTES (sums, found, ones);
    }
  _mm512_store_si512 (weighed, _mm512_slli_epi32 (sums, 7));
}

/* What reduces sums below 2^26. A sum is congruent to its bytes times the remainders of 1, 2^8, 2^16 and 2^24, nearest
 * to 0, and @start, a multiple of the modulus that keeps this from being negative: below 2^16 for every modulus, at
 * most 59,757 for 149. */
typedef struct
{
  __m512i weights;
  __m512i start;
  __m512i reciprocals;
  __m512i moduli;
} Reduction;

INLINE gint
find_remainder (guint number, guint modulus)
{
  gint rest = (gint) (number % modulus);

  return rest > 127 ? rest - (gint) modulus : rest;
}

INLINE Reduction
find_reduction (guint modulus)
{
  gint first = find_remainder (1u << 8, modulus);
  gint second = find_remainder (1u << 16, modulus);
  gint third = find_remainder (1u << 24, modulus);
  guint below = (guint) (255 * (MAX (-first, 0) + MAX (-second, 0)) + 3 * MAX (-third, 0));

  return (Reduction){
    _mm512_set1_epi32 ((gint) (1 | (guint) (first & 0xff) << 8 | (guint) (second & 0xff) << 16 |
                               (guint) (third & 0xff) << 24)),
    _mm512_set1_epi32 ((gint) ((below + modulus - 1) / modulus * modulus)),
    _mm512_set1_epi16 ((gint16) ((1u << 23) / modulus)),
    _mm512_set1_epi16 ((gint16) modulus),
  };
}

/* Four rows of sums modulo the modulus, from 0 to 255. */
INLINE __m512i
reduce_sums (const __m512i sums[4], const Reduction *reduction)
{
  const __m512i order = _mm512_setr_epi32 (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  __m512i words[4];
  __m512i first;
  __m512i second;
  gsize i;

#pragma GCC unroll 4
  for (i = 0; i < 4; i++)
    {
      words[i] = reduction->start;
      DOT_BYTES (words[i], sums[i], reduction->weights);
    }
  first = reduce_words (_mm512_packus_epi32 (words[0], words[1]), reduction->reciprocals, reduction->moduli);
  second = reduce_words (_mm512_packus_epi32 (words[2], words[3]), reduction->reciprocals, reduction->moduli);

  return _mm512_permutexvar_epi32 (order, _mm512_packus_epi16 (first, second));
}
