/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/kernels/apr-residue-kernel-private.h"
#include "aprender/exact-sums/kernels/apr-residue-kernel-rest-template.h"

#include <math.h>
#include <string.h>

#ifdef __SSE2__
# include <emmintrin.h>
#endif

/* Residues of 16 bits for every processor, in vectors of 128 bits that compilers make of what there is. x86-64 always
 * has one instruction that multiplies eight and adds two by two. */

#define INLINE static inline __attribute__ ((always_inline))

/* Two rows of four columns, or numbers of 32 bits. */
typedef gint32 Four __attribute__ ((vector_size (16), may_alias));
typedef float FourFloats __attribute__ ((vector_size (16)));

#define LANES 4
#define STEP 2

/* Where the rows are in 32 bits. */
#define FIRST (G_BYTE_ORDER == G_LITTLE_ENDIAN ? 0 : 16)
#define SECOND (16 - FIRST)

INLINE Four
splat (gint32 value)
{
  return (Four){ value, value, value, value };
}

/* Sums modulo 2^16 may wrap around, which numbers with a sign may not. */
INLINE Four
add_wrapping (Four a, Four b)
{
  typedef guint32 FourUnsigned __attribute__ ((vector_size (16)));

  return (Four) ((FourUnsigned) a + (FourUnsigned) b);
}

/* The products of numbers of 16 bits, added two by two. */
INLINE Four
multiply_pairs (Four a, Four b)
{
#ifdef __SSE2__
  return (Four) _mm_madd_epi16 ((__m128i) a, (__m128i) b);
#else
  return add_wrapping ((a << 16 >> 16) * (b << 16 >> 16), (a >> 16) * (b >> 16));
#endif
}

/* To the nearest whole number, which must be below 2^22. */
INLINE Four
round_floats (FourFloats a)
{
  const float rounder = 0x1.8p23f;

  return __builtin_convertvector(a + rounder - rounder, Four);
}

INLINE FourFloats
to_floats (Four a)
{
  return __builtin_convertvector(a, FourFloats);
}

/* The residues nearest to 0. */
INLINE Four
reduce (Four a, float reciprocal, gint32 modulus)
{
  return a - round_floats (to_floats (a) * reciprocal) * modulus;
}

INLINE Four
join_rows (Four first, Four second)
{
  return (first & 0xffff) << FIRST | (second & 0xffff) << SECOND;
}

static void
square (const AprResidueColumns *columns, gsize n_panels, double *squares, double *largest)
{
  gsize row;
  gsize i;

  for (row = 0; row < columns->n_rows; row++)
    for (i = 0; i < n_panels * APR_RESIDUE_PANEL; i++)
      {
        gsize place = row * columns->stride + i;
        double value = columns->is_float ? (double) ((const float *) columns->values)[place]
                                         : ((const double *) columns->values)[place];

        squares[i] += value * value;
        largest[i] = MAX (largest[i], fabs (value));
      }
}

/* The digits of two rows of four columns, and the numbers modulo 2^32. */
typedef struct
{
  Four digits[STEP][APR_RESIDUE_WORDS];
  Four low[STEP];
  double rests[STEP][LANES];
} Cut;

INLINE void
cut_row (const AprResidueColumns *columns,
         gsize first,
         gsize row,
         const double (*magic)[APR_RESIDUE_PANEL],
         guint n_words,
         gsize index,
         Cut *cut)
{
  gsize place = row * columns->stride + first;
  double *value = cut->rests[index];
  guint word;
  gsize i;

  for (i = 0; i < LANES; i++)
    if (row >= columns->n_rows)
      value[i] = 0;
    else
      value[i] = columns->is_float ? (double) ((const float *) columns->values)[place + i]
                                   : ((const double *) columns->values)[place + i];
  for (word = n_words; word-- > 0;)
    {
      guint64 bits[LANES];
      Four whole;

      for (i = 0; i < LANES; i++)
        {
          double shift = magic[word][first + i];
          double sum = value[i] + shift;

          value[i] -= sum - shift;
          memcpy (&bits[i], &sum, sizeof sum);
        }
      whole = (Four){ (gint32) (guint32) bits[0], (gint32) (guint32) bits[1], (gint32) (guint32) bits[2],
                      (gint32) (guint32) bits[3] };
      cut->digits[index][word] = (whole & 0xfff) | (whole >> 12 << 16);
      if (word == 0)
        cut->low[index] = whole;
    }
}

static gsize
store_rests (const Cut *cut, gsize first_row, gsize first, AprResidueRest *rests)
{
  gsize n = 0;
  gsize row;
  gsize i;

  for (row = 0; row < STEP; row++)
    for (i = 0; i < LANES; i++)
      if (cut->rests[row][i] != 0)
        rests[n++] = (AprResidueRest){ (guint) (first_row + row), (guint) (first + i), cut->rests[row][i] };

  return n;
}

/* Four columns; returns how many rests they have. */
static gsize
cut_columns (const AprResidueModuli *moduli,
             const AprResidueColumns *columns,
             gsize first,
             const double (*magic)[APR_RESIDUE_PANEL],
             guint8 *residues,
             gsize distance,
             AprResidueRest *rests)
{
  /* For which the lowest bits of a number are its residue. */
  guint has_power = moduli->modulus[0] == 65536;
  float reciprocals[APR_RESIDUE_MODULI];
  gsize n_rests = 0;
  gsize row;
  guint word;
  guint i;

  for (i = 0; i < moduli->n_moduli; i++)
    reciprocals[i] = 1.0f / (float) moduli->modulus[i];
  for (row = 0; row < columns->n_rows; row += STEP)
    {
      guint8 *to = residues + APR_RESIDUE_HEADER + (row * APR_RESIDUE_PANEL + first * STEP) * 2;
      Cut cut;

      for (i = 0; i < STEP; i++)
        cut_row (columns, first, row + i, magic, moduli->n_words, i, &cut);
      n_rests += store_rests (&cut, row, first, rests + n_rests);

      if (has_power)
        {
          *(Four *) (gpointer) to = join_rows (cut.low[0], cut.low[1]);
          to += distance;
        }
      for (i = has_power; i < moduli->n_moduli; i++, to += distance)
        {
          gint32 modulus = (gint32) moduli->modulus[i];
          Four a = splat (0);
          Four b = splat (0);

          for (word = 0; word < moduli->n_words; word++)
            {
              Four weights = splat ((gint32) moduli->weights[i][word]);

              a += multiply_pairs (cut.digits[0][word], weights);
              b += multiply_pairs (cut.digits[1][word], weights);
            }
          *(Four *) (gpointer) to =
            join_rows (reduce (a, reciprocals[i], modulus), reduce (b, reciprocals[i], modulus));
        }
    }

  return n_rests;
}

static gsize
cut (const AprResidueModuli *moduli,
     const AprResidueColumns *columns,
     const double (*magic)[APR_RESIDUE_PANEL],
     guint8 *residues,
     gsize distance,
     AprResidueRest *rests)
{
  gsize n = 0;
  gsize first;

  for (first = 0; first < APR_RESIDUE_PANEL; first += LANES)
    n += cut_columns (moduli, columns, first, magic, residues, distance, rests + n);

  return n;
}

static void
weigh (const guint8 *panel, const guint8 *weights, gsize n_rows, guint modulus, guint8 *weighed)
{
  const gint32 *pairs = (const gint32 *) (gconstpointer) weights;
  const Four *from = (const Four *) (gconstpointer) (panel + APR_RESIDUE_HEADER);
  Four *to = (Four *) (gpointer) (weighed + APR_RESIDUE_HEADER);
  float reciprocal = 1.0f / (float) modulus;
  gsize n_steps = (n_rows + STEP - 1) / STEP;
  gsize step;
  gsize i;

  for (step = 0; step < n_steps; step++, from += 4, to += 4)
    {
      Four w = splat (pairs[step]);

      for (i = 0; i < APR_RESIDUE_PANEL / LANES; i++)
        {
          Four first = (from[i] << SECOND >> 16) * (w << SECOND >> 16);
          Four second = (from[i] << FIRST >> 16) * (w << FIRST >> 16);

          to[i] = modulus == 65536 ? join_rows (first, second)
                                   : join_rows (reduce (first, reciprocal, (gint32) modulus),
                                                reduce (second, reciprocal, (gint32) modulus));
        }
    }
}

/* Rows between reductions: 92 times 4800^2, and what was reduced, are below 2^31. */
#define MAX_ROWS 92

/* A tile is four columns times eight: as many sums as there are registers for. */
#define RIGHT_VECTORS 2

INLINE Four
load_sums (const gint16 *place)
{
  return (Four){ place[0], place[1], place[2], place[3] };
}

INLINE void
store_sums (gint16 *place, Four sums)
{
  gsize i;

  for (i = 0; i < LANES; i++)
    place[i] = (gint16) sums[i];
}

static void
multiply_some (const gint32 *a, const Four *b, gsize n_rows, guint modulus, gint16 *to)
{
  float reciprocal = 1.0f / (float) modulus;
  gsize n_steps = (n_rows + STEP - 1) / STEP;
  Four sums[LANES][RIGHT_VECTORS];
  gsize i;
  gsize j;

#pragma GCC unroll 4
  for (i = 0; i < LANES; i++)
#pragma GCC unroll 2
    for (j = 0; j < RIGHT_VECTORS; j++)
      sums[i][j] = load_sums (to + i * APR_RESIDUE_PANEL + j * LANES);

  while (n_steps > 0)
    {
      gsize n = MIN (n_steps, MAX_ROWS / STEP);

      n_steps -= n;
      for (; n > 0; n--, a += APR_RESIDUE_PANEL, b += APR_RESIDUE_PANEL / LANES)
#pragma GCC unroll 4
        for (i = 0; i < LANES; i++)
          {
            Four x = splat (a[i]);

#pragma GCC unroll 2
            for (j = 0; j < RIGHT_VECTORS; j++)
              sums[i][j] = add_wrapping (sums[i][j], multiply_pairs (x, b[j]));
          }
      if (modulus != 65536)
#pragma GCC unroll 4
        for (i = 0; i < LANES; i++)
#pragma GCC unroll 2
          for (j = 0; j < RIGHT_VECTORS; j++)
            sums[i][j] = reduce (sums[i][j], reciprocal, (gint32) modulus);
    }

#pragma GCC unroll 4
  for (i = 0; i < LANES; i++)
#pragma GCC unroll 2
    for (j = 0; j < RIGHT_VECTORS; j++)
      store_sums (to + i * APR_RESIDUE_PANEL + j * LANES, sums[i][j]);
}

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
  const gint32 *a = (const gint32 *) (gconstpointer) (left + APR_RESIDUE_HEADER);
  gsize panel;
  gsize i;
  gsize j;

  for (panel = 0; panel < n_right; panel++, right += distance, tiles += tile_distance)
    {
      const Four *b = (const Four *) (gconstpointer) (right + APR_RESIDUE_HEADER);
      gint16 *to = (gint16 *) (gpointer) tiles;
      gboolean on_diagonal = diagonal && panel + 1 == n_right;

      for (i = 0; i < n_left; i += LANES)
        for (j = 0; j < APR_RESIDUE_PANEL / LANES && !(on_diagonal && j * LANES > i); j += RIGHT_VECTORS)
          multiply_some (a + i, b + j, n_rows, modulus, to + i * APR_RESIDUE_PANEL + j * LANES);
    }
}

/* Residues times their inverses, nearest to 0, two and two side by side; returns how many times M their sum is. */
INLINE Four
weigh_residues (const AprResidueModuli *moduli,
                const gint16 *tiles,
                gsize first,
                Four pairs[APR_RESIDUE_MODULI / 2])
{
  FourFloats fractions = { 0, 0, 0, 0 };
  guint i;

  for (i = 0; i < moduli->n_moduli; i++)
    {
      float reciprocal = 1.0f / (float) moduli->modulus[i];
      Four weight = load_sums (tiles + i * APR_RESIDUE_TILE + first) * moduli->inverse[i];

      /* The first modulus is 2^16. */
      weight = i == 0 ? weight << 16 >> 16 : reduce (weight, reciprocal, (gint32) moduli->modulus[i]);
      fractions += to_floats (weight) * reciprocal;
      pairs[i / 2] = i % 2 == 0 ? weight & 0xffff : pairs[i / 2] | weight << 16;
    }

  return round_floats (fractions);
}

static void
reconstruct (const AprResidueModuli *moduli, const guint8 *tiles, gint64 (*parts)[APR_RESIDUE_TILE])
{
  guint n = moduli->n_moduli;
  gsize first;
  guint limb;
  guint i;

  for (first = 0; first < APR_RESIDUE_TILE; first += LANES)
    {
      Four pairs[APR_RESIDUE_MODULI / 2];
      Four n_products = weigh_residues (moduli, (const gint16 *) (gconstpointer) tiles, first, pairs);

      for (limb = 0; limb < moduli->n_limbs; limb++)
        {
          Four sum = -n_products * (gint32) moduli->product[limb];
          Four other = splat (0);
          gint64 *to = parts[limb / 2] + first;

          for (i = 0; i < n; i += 2)
            {
              Four product =
                multiply_pairs (pairs[i / 2], splat (apr_residue_get_pair (moduli->limbs[limb], i, n)));

              if (i < APR_RESIDUE_WORDS_AT_ONCE)
                sum += product;
              else
                other += product;
            }
          for (i = 0; i < LANES; i++)
            to[i] = limb % 2 == 0 ? (gint64) sum[i] + other[i] : to[i] + ((gint64) sum[i] + other[i]) * 65536;
        }
    }
}

const AprResidueKernel apr_residue_kernel_portable = {
  .name = "portable",
  .residue_size = 2,
  .step = STEP,
  .rate = 8,
  .square = square,
  .multiply_rest = multiply_rest,
  .cut = cut,
  .weigh = weigh,
  .multiply = multiply,
  .reconstruct = reconstruct,
};
