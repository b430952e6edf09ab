/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arm_neon.h>
#include <glib.h>
#include <math.h>

/* Four lanes are two vectors: there are as many registers for them as AVX2 has. */
typedef struct
{
  float64x2_t low;
  float64x2_t high;
} Four;

#define INLINE static inline G_ALWAYS_INLINE

INLINE Four
four_load (const double *place)
{
  return (Four){ vld1q_f64 (place), vld1q_f64 (place + 2) };
}

INLINE void
four_store (double *place, Four a)
{
  vst1q_f64 (place, a.low);
  vst1q_f64 (place + 2, a.high);
}

INLINE Four
four_splat (double value)
{
  return (Four){ vdupq_n_f64 (value), vdupq_n_f64 (value) };
}

INLINE Four
four_add (Four a, Four b)
{
  return (Four){ vaddq_f64 (a.low, b.low), vaddq_f64 (a.high, b.high) };
}

INLINE Four
four_subtract (Four a, Four b)
{
  return (Four){ vsubq_f64 (a.low, b.low), vsubq_f64 (a.high, b.high) };
}

INLINE Four
four_multiply (Four a, Four b)
{
  return (Four){ vmulq_f64 (a.low, b.low), vmulq_f64 (a.high, b.high) };
}

INLINE Four
four_fused_add (Four a, Four b, Four c)
{
  return (Four){ vfmaq_f64 (c.low, a.low, b.low), vfmaq_f64 (c.high, a.high, b.high) };
}

INLINE Four
four_negate (Four a)
{
  return (Four){ vnegq_f64 (a.low), vnegq_f64 (a.high) };
}

INLINE Four
four_magnitude (Four a)
{
  return (Four){ vabsq_f64 (a.low), vabsq_f64 (a.high) };
}

/* The instructions for the greater and the lesser of two numbers return NaN where one is a NaN. */
INLINE Four
four_greater (Four a, Four b)
{
  return (Four){ vbslq_f64 (vcgtq_f64 (a.low, b.low), a.low, b.low),
                 vbslq_f64 (vcgtq_f64 (a.high, b.high), a.high, b.high) };
}

INLINE Four
four_lesser (Four a, Four b)
{
  return (Four){ vbslq_f64 (vcltq_f64 (a.low, b.low), a.low, b.low),
                 vbslq_f64 (vcltq_f64 (a.high, b.high), a.high, b.high) };
}

INLINE float64x2_t
magnitude_unless_0 (float64x2_t a)
{
  return vbslq_f64 (vceqzq_f64 (a), vdupq_n_f64 (INFINITY), vabsq_f64 (a));
}

INLINE Four
four_magnitude_unless_0 (Four a)
{
  return (Four){ magnitude_unless_0 (a.low), magnitude_unless_0 (a.high) };
}

INLINE float64x2_t
combine_bits (float64x2_t a, float64x2_t b)
{
  return vreinterpretq_f64_u64 (vorrq_u64 (vreinterpretq_u64_f64 (a), vreinterpretq_u64_f64 (b)));
}

INLINE Four
four_either (Four a, Four b)
{
  return (Four){ combine_bits (a.low, b.low), combine_bits (a.high, b.high) };
}

/* Whether a comparison held in all lanes. */
INLINE gboolean
all_hold (uint64x2_t low, uint64x2_t high)
{
  return vminvq_u32 (vreinterpretq_u32_u64 (vandq_u64 (low, high))) != 0;
}

INLINE gboolean
four_is_nan (Four a)
{
  return !all_hold (vceqq_f64 (a.low, a.low), vceqq_f64 (a.high, a.high));
}

INLINE gboolean
four_any (Four a)
{
  return !all_hold (vceqzq_f64 (a.low), vceqzq_f64 (a.high));
}

INLINE int64x2_t
add_halves (Four sum)
{
  return vaddq_s64 (vcvtq_s64_f64 (sum.low), vcvtq_s64_f64 (sum.high));
}

INLINE void
count_lanes (const Four sum[8], gint64 *sums)
{
  gsize i;

#pragma GCC unroll 4
  for (i = 0; i < 8; i += 2)
    vst1q_s64 (sums + i, vpaddq_s64 (add_halves (sum[i]), add_halves (sum[i + 1])));
}

INLINE void
count_each (Four sum, gint64 *lanes)
{
  vst1q_s64 (lanes, vaddq_s64 (vld1q_s64 (lanes), vcvtq_s64_f64 (sum.low)));
  vst1q_s64 (lanes + 2, vaddq_s64 (vld1q_s64 (lanes + 2), vcvtq_s64_f64 (sum.high)));
}

/* Of two vectors of four lanes, (the first lane + the second) + (the third + the last). */
INLINE float64x2_t
add_lanes (Four a, Four b)
{
  return vpaddq_f64 (vpaddq_f64 (a.low, a.high), vpaddq_f64 (b.low, b.high));
}

INLINE Four
add_lanes_of_four (const Four a[4])
{
  return (Four){ add_lanes (a[0], a[1]), add_lanes (a[2], a[3]) };
}

INLINE Four
load_floats (const float *place)
{
  float32x4_t values = vld1q_f32 (place);

  return (Four){ vcvt_f64_f32 (vget_low_f32 (values)), vcvt_high_f64_f32 (values) };
}

/* Four columns of four rows. */
INLINE void
transpose (Four a, Four b, Four c, Four d, gsize stride, double *columns)
{
  four_store (columns, (Four){ vzip1q_f64 (a.low, b.low), vzip1q_f64 (c.low, d.low) });
  four_store (columns + stride, (Four){ vzip2q_f64 (a.low, b.low), vzip2q_f64 (c.low, d.low) });
  four_store (columns + 2 * stride, (Four){ vzip1q_f64 (a.high, b.high), vzip1q_f64 (c.high, d.high) });
  four_store (columns + 3 * stride, (Four){ vzip2q_f64 (a.high, b.high), vzip2q_f64 (c.high, d.high) });
}

#define KERNEL apr_slice_kernel_neon
#define KERNEL_NAME "neon"
#define VECTOR Four
#define LANES 4
#define LOAD(place) four_load (place)
#define STORE(place, a) four_store (place, a)
#define SPLAT(value) four_splat (value)
#define ADD(a, b) four_add (a, b)
#define SUBTRACT(a, b) four_subtract (a, b)
#define MULTIPLY(a, b) four_multiply (a, b)
#define MULTIPLY_ADD(a, b, c) four_fused_add (a, b, c)
#define MULTIPLY_SUBTRACT(a, b, c) four_fused_add (a, b, four_negate (c))
#define FUSED_ADD(a, b, c) four_fused_add (a, b, c)
#define FUSED_SUBTRACT(a, b, c) four_fused_add (a, b, four_negate (c))
#define EITHER(a, b) four_either (a, b)
#define GREATER(a, b) four_greater (a, b)
#define LESSER(a, b) four_lesser (a, b)
#define MAGNITUDE(a) four_magnitude (a)
#define MAGNITUDE_UNLESS_0(a) four_magnitude_unless_0 (a)
#define IS_NAN(a) four_is_nan (a)
#define ANY(a) four_any (a)
#define COUNT_LANES(sum, sums) count_lanes (sum, sums)
#define COUNT_EACH(sum, lanes) count_each (sum, lanes)
/* Columns are not multiplied whole: additions would take the units that multiplications need. */
#define ADD_LANES_OF_FOUR(a) add_lanes_of_four (a)
#define LOAD_DOUBLES(place) four_load (place)
#define LOAD_FLOATS(place) load_floats (place)
#define TRANSPOSE_ROWS_OF(LOAD_VALUES, rows, n, stride, columns)                            \
 transpose (LOAD_VALUES (rows), LOAD_VALUES ((rows) + (n)), LOAD_VALUES ((rows) + 2 * (n)), \
            LOAD_VALUES ((rows) + 3 * (n)), stride, columns)
#define TRANSPOSE_DOUBLES(rows, n, stride, columns) TRANSPOSE_ROWS_OF (four_load, rows, n, stride, columns)
#define TRANSPOSE_FLOATS(rows, n, stride, columns) TRANSPOSE_ROWS_OF (load_floats, rows, n, stride, columns)

#include "aprender/exact-sums/kernels/apr-slice-kernel-template.h"
