/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What arm64's kernels of residues of bytes share, which is all but the products. Whoever includes this defines
 *
 *   KERNEL        the structure that this file makes
 *   KERNEL_NAME   its name
 *   RATE          its rate
 *   STEP          4 or 8 rows, of which the residues of a column are side by side
 *
 * and, behind it, the function multiply_eight ().
 */

#include <arm_neon.h>
#include <string.h>

#include "aprender/exact-sums/kernels/apr-residue-kernel-private.h"
#include "aprender/exact-sums/kernels/apr-residue-kernel-rest-template.h"

#define INLINE static inline __attribute__ ((always_inline))

/* Columns, and rows, that are cut at a time: the digits of a row of a column are the bytes of a lane, and residues of
 * four rows those of another. */
#define LANES 4
#define ROWS 4

INLINE float64x2_t
load_value (const AprResidueColumns *columns, gboolean is_float, gsize place)
{
  return is_float ? vcvt_f64_f32 (vld1_f32 ((const float *) columns->values + place))
                  : vld1q_f64 ((const double *) columns->values + place);
}

static void
square (const AprResidueColumns *columns, gsize n_panels, double *squares, double *largest)
{
  gsize panel;
  gsize row;
  gsize i;

  for (panel = 0; panel < n_panels; panel++)
    {
      gsize first = panel * APR_RESIDUE_PANEL;
      float64x2_t sums[APR_RESIDUE_PANEL / 2];
      float64x2_t max[APR_RESIDUE_PANEL / 2];

      for (i = 0; i < APR_RESIDUE_PANEL / 2; i++)
        {
          sums[i] = vld1q_f64 (squares + first + 2 * i);
          max[i] = vld1q_f64 (largest + first + 2 * i);
        }
      for (row = 0; row < columns->n_rows; row++)
        for (i = 0; i < APR_RESIDUE_PANEL / 2; i++)
          {
            float64x2_t value =
              load_value (columns, columns->is_float, row * columns->stride + first + 2 * i);

            sums[i] = vfmaq_f64 (sums[i], value, value);
            max[i] = vmaxq_f64 (max[i], vabsq_f64 (value));
          }
      for (i = 0; i < APR_RESIDUE_PANEL / 2; i++)
        {
          vst1q_f64 (squares + first + 2 * i, sums[i]);
          vst1q_f64 (largest + first + 2 * i, max[i]);
        }
    }
}

/* The digits of four rows of four columns: numbers with a sign. */
typedef struct
{
  int8x16_t digits[ROWS][APR_RESIDUE_WORDS];
  float64x2_t rests[ROWS][2];
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
  float64x2_t value[2];
  guint word;
  gsize i;

  for (i = 0; i < 2; i++)
    value[i] = row < columns->n_rows ? load_value (columns, is_float, row * columns->stride + first + 2 * i)
                                     : vdupq_n_f64 (0);
  for (word = n_words; word-- > 0;)
    {
      uint32x2_t half[2];
      uint32x4_t whole;
      uint32x4_t digits;

      for (i = 0; i < 2; i++)
        {
          float64x2_t shift = vld1q_f64 (magic[word] + first + 2 * i);
          float64x2_t sum = vaddq_f64 (value[i], shift);

          value[i] = vsubq_f64 (value[i], vsubq_f64 (sum, shift));
          half[i] = vmovn_u64 (vreinterpretq_u64_f64 (sum));
        }
      whole = vcombine_u32 (half[0], half[1]);
      digits = vandq_u32 (whole, vdupq_n_u32 (0x3f));
      digits = vorrq_u32 (digits, vandq_u32 (vshlq_n_u32 (whole, 2), vdupq_n_u32 (0x3f00)));
      digits = vorrq_u32 (digits, vandq_u32 (vshlq_n_u32 (whole, 4), vdupq_n_u32 (0x3f0000)));
      if (word == n_words - 1)
        /* The topmost digit has all eight bits: 128 is taken from it. */
        digits = veorq_u32 (vorrq_u32 (digits, vandq_u32 (vshlq_n_u32 (whole, 6), vdupq_n_u32 (0xff000000))),
                            vdupq_n_u32 (0x80000000));
      else
        digits = vorrq_u32 (digits, vandq_u32 (vshlq_n_u32 (whole, 6), vdupq_n_u32 (0x7f000000)));
      cut->digits[index][word] = vreinterpretq_s8_u32 (digits);
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

  for (row = 0; row < ROWS; row++)
    {
      double values[LANES];

      vst1q_f64 (values, cut->rests[row][0]);
      vst1q_f64 (values + 2, cut->rests[row][1]);
      for (i = 0; i < LANES; i++)
        if (values[i] != 0)
          rests[n++] = (AprResidueRest){ (guint) (first_row + row), (guint) (first + i), values[i] };
    }

  return n;
}

INLINE gboolean
has_rest (const Cut *cut)
{
  uint64x2_t any = vdupq_n_u64 (0);
  gsize row;

  for (row = 0; row < ROWS; row++)
    any = vorrq_u64 (any, vorrq_u64 (vreinterpretq_u64_f64 (cut->rests[row][0]),
                                     vreinterpretq_u64_f64 (cut->rests[row][1])));

  return (vgetq_lane_u64 (any, 0) | vgetq_lane_u64 (any, 1)) != 0;
}

/* Numbers v below 2^16 less m floor (v / m), or m less: from 0 to 255. */
INLINE uint32x4_t
reduce_words (uint32x4_t v, uint32x4_t reciprocal, uint32x4_t modulus)
{
  return vmlsq_u32 (v, vshrq_n_u32 (vmulq_u32 (v, reciprocal), 23), modulus);
}

/* What cutting takes of a modulus, so that an instruction loads each into all lanes. */
typedef struct
{
  gint32 start;
  guint32 weights[APR_RESIDUE_WORDS];
  guint32 reciprocal;
  guint32 modulus;
} Constants;

static void
find_constants (const AprResidueModuli *moduli, Constants constants[APR_RESIDUE_MODULI])
{
  guint i;

  for (i = 0; i < moduli->n_moduli; i++)
    {
      gint32 top = (gint8) (moduli->weights[i][moduli->n_words - 1] >> 24);

      constants[i].start = moduli->start[i] + 128 * top;
      memcpy (constants[i].weights, moduli->weights[i], sizeof moduli->weights[i]);
      constants[i].reciprocal = (1u << 23) / moduli->modulus[i];
      constants[i].modulus = moduli->modulus[i];
    }
}

/* The residues of four rows for one modulus, those of a column side by side. */
INLINE uint32x4_t
find_residues (const Cut *cut, guint n_words, const Constants *constants)
{
  uint32x4_t reciprocal = vld1q_dup_u32 (&constants->reciprocal);
  uint32x4_t modulus = vld1q_dup_u32 (&constants->modulus);
  uint32x4_t found[ROWS];
  gsize row;
  guint word;

  for (row = 0; row < ROWS; row++)
    {
      int32x4_t sum = vld1q_dup_s32 (&constants->start);

      for (word = 0; word < n_words; word++)
        sum = vdotq_s32 (sum, cut->digits[row][word],
                         vreinterpretq_s8_u32 (vld1q_dup_u32 (&constants->weights[word])));
      found[row] = reduce_words (vreinterpretq_u32_s32 (sum), reciprocal, modulus);
    }

  return vsliq_n_u32 (vsliq_n_u32 (found[0], found[1], 8), vsliq_n_u32 (found[2], found[3], 8), 16);
}

/* Of eight rows, the residues of the first four wait where they are to be until those of the last four come. */
INLINE void
store_residues (uint32x4_t residues, gboolean last, guint8 *to)
{
  uint32x4_t before;

  if (!last)
    {
      vst1q_u8 (to, vreinterpretq_u8_u32 (residues));
      return;
    }
  before = vreinterpretq_u32_u8 (vld1q_u8 (to));
  vst1q_u8 (to, vreinterpretq_u8_u32 (vzip1q_u32 (before, residues)));
  vst1q_u8 (to + 16, vreinterpretq_u8_u32 (vzip2q_u32 (before, residues)));
}

/* Four columns; returns how many rests they have. */
INLINE gsize
cut_columns (const Constants constants[APR_RESIDUE_MODULI],
             guint n_moduli,
             guint n_words,
             gboolean is_float,
             const AprResidueColumns *columns,
             gsize first,
             const double (*magic)[APR_RESIDUE_PANEL],
             guint8 *residues,
             gsize distance,
             AprResidueRest *rests)
{
  gsize n_rests = 0;
  gsize row;
  guint i;

  for (row = 0; row < columns->n_rows || row % STEP != 0; row += ROWS)
    {
      guint8 *to = residues + APR_RESIDUE_HEADER + row / STEP * STEP * APR_RESIDUE_PANEL + first * STEP;
      Cut cut;

#pragma GCC unroll 4
      for (i = 0; i < ROWS; i++)
        cut_row (columns, is_float, first, row + i, magic, n_words, i, &cut);
      if (G_UNLIKELY (has_rest (&cut)))
        n_rests += store_rests (&cut, row, first, rests + n_rests);
      for (i = 0; i < n_moduli; i++, to += distance)
        store_residues (find_residues (&cut, n_words, &constants[i]), row % STEP != 0, to);
    }

  return n_rests;
}

/* All that is known when it is compiled makes it fast. */
#define CUT_COLUMNS(n, is_float)                                                                   \
 cut_columns (constants, moduli->n_moduli, n, is_float, columns, first, magic, residues, distance, \
              rests + n_rests)
#define CUT(n) (columns->is_float ? CUT_COLUMNS (n, TRUE) : CUT_COLUMNS (n, FALSE))

static gsize
cut (const AprResidueModuli *moduli,
     const AprResidueColumns *columns,
     const double (*magic)[APR_RESIDUE_PANEL],
     guint8 *residues,
     gsize distance,
     AprResidueRest *rests)
{
  Constants constants[APR_RESIDUE_MODULI];
  gsize n_rests = 0;
  gsize first;

  find_constants (moduli, constants);
  for (first = 0; first < APR_RESIDUE_PANEL; first += LANES)
    n_rests += moduli->n_words == 2 ? CUT (2) : moduli->n_words == 3 ? CUT (3) : CUT (4);

  return n_rests;
}

/* Eight products of bytes. */
INLINE uint8x8_t
weigh_bytes (uint8x8_t x, uint8x8_t weights, uint32x4_t reciprocal, uint32x4_t modulus)
{
  uint16x8_t v = vmull_u8 (x, weights);
  uint32x4_t low = reduce_words (vmovl_u16 (vget_low_u16 (v)), reciprocal, modulus);
  uint32x4_t high = reduce_words (vmovl_u16 (vget_high_u16 (v)), reciprocal, modulus);

  return vmovn_u16 (vcombine_u16 (vmovn_u32 (low), vmovn_u32 (high)));
}

static void
weigh (const guint8 *panel, const guint8 *weights, gsize n_rows, guint modulus, guint8 *weighed)
{
  uint32x4_t reciprocal = vdupq_n_u32 ((1u << 23) / modulus);
  uint32x4_t moduli = vdupq_n_u32 (modulus);
  gsize row;
  gsize i;

  for (row = 0; row < n_rows; row += STEP)
    {
#if STEP == 8
      uint8x8_t w = vld1_u8 (weights + row);
#else
      uint8x8_t w = vreinterpret_u8_u32 (vdup_n_u32 (*(const guint32 *) (gconstpointer) (weights + row)));
#endif
      gsize place = APR_RESIDUE_HEADER + row * APR_RESIDUE_PANEL;

      for (i = 0; i < STEP * APR_RESIDUE_PANEL; i += 8)
        vst1_u8 (weighed + place + i, weigh_bytes (vld1_u8 (panel + place + i), w, reciprocal, moduli));
    }
}

/* Modulo the modulus, from 0 to 255. */
INLINE uint16x4_t
reduce_sums (uint32x4_t sum, float reciprocal, gint32 modulus)
{
  int32x4_t quotient = vcvtnq_s32_f32 (vmulq_n_f32 (vcvtq_f32_u32 (sum), reciprocal));
  int32x4_t rest = vmlsq_n_s32 (vreinterpretq_s32_u32 (sum), quotient, modulus);

  rest = vaddq_s32 (rest, vandq_s32 (vshrq_n_s32 (rest, 31), vdupq_n_s32 (modulus)));

  return vmovn_u32 (vreinterpretq_u32_s32 (rest));
}

/* Eight columns of a panel. */
#define HALF 8

/* Adds the products of eight columns with eight to a part of a tile. */
static void multiply_eight (const guint8 *a, const guint8 *b, gsize n_rows, guint modulus, guint8 *to);

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
  gsize panel;
  gsize i;
  gsize j;

  for (panel = 0; panel < n_right; panel++, right += distance, tiles += tile_distance)
    for (i = 0; i < n_left; i += HALF)
      for (j = 0; j < APR_RESIDUE_PANEL && !(diagonal && panel + 1 == n_right && j > i); j += HALF)
        multiply_eight (left + APR_RESIDUE_HEADER + i * STEP, right + APR_RESIDUE_HEADER + j * STEP, n_rows,
                        modulus, tiles + i * APR_RESIDUE_PANEL + j);
}

/* Entries that are reconstructed at a time, and moduli of which constants are loaded at a time. */
#define ENTRIES 8
#define MODULI 4

G_STATIC_ASSERT (APR_RESIDUE_MODULI % MODULI == 0);

/* Numbers less what is nearest to them of the multiples of the modulus; adds their fractions of it. */
INLINE int16x4_t
reduce_products (int32x4_t product, float reciprocal, gint32 modulus, float32x4_t *fractions)
{
  int32x4_t quotient = vcvtnq_s32_f32 (vmulq_n_f32 (vcvtq_f32_s32 (product), reciprocal));
  int32x4_t rest = vmlsq_n_s32 (product, quotient, modulus);

  *fractions = vfmaq_n_f32 (*fractions, vcvtq_f32_s32 (rest), reciprocal);

  return vmovn_s32 (rest);
}

/* Sums of limbs of 16 bits to parts of 32: those of odd limbs are added to those that are there. */
INLINE void
add_limb (int32x4_t sums, guint limb, gint64 *parts)
{
  int64x2_t low = vmovl_s32 (vget_low_s32 (sums));
  int64x2_t high = vmovl_high_s32 (sums);

  if (limb % 2 == 1)
    {
      low = vaddq_s64 (vld1q_s64 (parts), vshlq_n_s64 (low, 16));
      high = vaddq_s64 (vld1q_s64 (parts + 2), vshlq_n_s64 (high, 16));
    }
  vst1q_s64 (parts, low);
  vst1q_s64 (parts + 2, high);
}

static void
reconstruct (const AprResidueModuli *moduli, const guint8 *tiles, gint64 (*parts)[APR_RESIDUE_TILE])
{
  gsize n_padded = (moduli->n_moduli + MODULI - 1) / MODULI * MODULI;
  float reciprocals[APR_RESIDUE_MODULI];
  gsize first;
  guint limb;
  guint i;

  for (i = 0; i < moduli->n_moduli; i++)
    reciprocals[i] = 1.0f / (float) moduli->modulus[i];
  for (first = 0; first < APR_RESIDUE_TILE; first += ENTRIES)
    {
      /* Residues times their inverses, nearest to 0, and how many times M their sum is. */
      int16x8_t weights[APR_RESIDUE_MODULI];
      float32x4_t fractions[2] = { vdupq_n_f32 (0), vdupq_n_f32 (0) };
      int32x4_t n_products[2];

      for (i = 0; i < moduli->n_moduli; i++)
        {
          int16x8_t residues =
            vreinterpretq_s16_u16 (vmovl_u8 (vld1_u8 (tiles + i * APR_RESIDUE_TILE + first)));
          gint16 inverse = (gint16) moduli->inverse[i];
          gint32 modulus = (gint32) moduli->modulus[i];

          weights[i] = vcombine_s16 (reduce_products (vmull_n_s16 (vget_low_s16 (residues), inverse),
                                                      reciprocals[i], modulus, &fractions[0]),
                                     reduce_products (vmull_n_s16 (vget_high_s16 (residues), inverse),
                                                      reciprocals[i], modulus, &fractions[1]));
        }
      for (; i < n_padded; i++)
        weights[i] = vdupq_n_s16 (0);
      for (i = 0; i < 2; i++)
        n_products[i] = vcvtnq_s32_f32 (fractions[i]);

      for (limb = 0; limb < moduli->n_limbs; limb++)
        {
          int32x4_t low = vmulq_n_s32 (n_products[0], -(gint32) moduli->product[limb]);
          int32x4_t high = vmulq_n_s32 (n_products[1], -(gint32) moduli->product[limb]);
          gint64 *to = parts[limb / 2] + first;

          for (i = 0; i < n_padded; i += MODULI)
            {
              int16x4_t limbs = vld1_s16 (moduli->limbs[limb] + i);

#define ADD_LIMBS(lane)                                                       \
 low = vmlal_lane_s16 (low, vget_low_s16 (weights[i + (lane)]), limbs, lane); \
 high = vmlal_high_lane_s16 (high, weights[i + (lane)], limbs, lane);

              ADD_LIMBS (0)
              ADD_LIMBS (1)
              ADD_LIMBS (2)
              ADD_LIMBS (3)
            }
          add_limb (low, limb, to);
          add_limb (high, limb, to + ENTRIES / 2);
        }
    }
}

const AprResidueKernel KERNEL = {
  .name = KERNEL_NAME,
  .residue_size = 1,
  .step = STEP,
  .rate = RATE,
  .square = square,
  .multiply_rest = multiply_rest,
  .cut = cut,
  .weigh = weigh,
  .multiply = multiply,
  .reconstruct = reconstruct,
};
