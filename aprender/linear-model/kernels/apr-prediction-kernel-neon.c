/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arm_neon.h>
#include <stddef.h>

/* Four rows, so that a coefficient serves two vectors. */
typedef struct
{
  float64x2_t half[2];
} Four;

static inline Four
four_splat (double value)
{
  return (Four){ { vdupq_n_f64 (value), vdupq_n_f64 (value) } };
}

static inline Four
four_add (Four a, Four b)
{
  return (Four){ { vaddq_f64 (a.half[0], b.half[0]), vaddq_f64 (a.half[1], b.half[1]) } };
}

static inline Four
four_multiply (Four a, Four b)
{
  return (Four){ { vmulq_f64 (a.half[0], b.half[0]), vmulq_f64 (a.half[1], b.half[1]) } };
}

static inline Four
four_multiply_add (Four a, Four b, Four c)
{
  return (
    Four){ { vfmaq_f64 (c.half[0], a.half[0], b.half[0]), vfmaq_f64 (c.half[1], a.half[1], b.half[1]) } };
}

static inline void
four_store (double *place, Four a)
{
  vst1q_f64 (place, a.half[0]);
  vst1q_f64 (place + 2, a.half[1]);
}

#define KERNEL apr_prediction_kernel_neon
#define KERNEL_NAME "neon"
#define VECTOR Four
#define LANES 4
#define SPLAT(value) four_splat (value)
#define ADD(a, b) four_add (a, b)
#define MULTIPLY(a, b) four_multiply (a, b)
#define MULTIPLY_ADD(a, b, c) four_multiply_add (a, b, c)
#define STORE(place, a) four_store (place, a)
#define STORE_FLOATS(place, a) \
 vst1q_f32 (place, vcombine_f32 (vcvt_f32_f64 ((a).half[0]), vcvt_f32_f64 ((a).half[1])))
#define COLUMNS 2

static inline float64x2_t
load_two_doubles (const double *place, size_t n)
{
  return n >= COLUMNS ? vld1q_f64 (place) : vcombine_f64 (vld1_f64 (place), vdup_n_f64 (0));
}

static inline float64x2_t
load_two_floats (const float *place, size_t n)
{
  return vcvt_f64_f32 (n >= COLUMNS ? vld1_f32 (place) : vset_lane_f32 (*place, vdup_n_f32 (0), 0));
}

#define LOAD_COLUMNS(load_two)                                \
 {                                                            \
  size_t i;                                                   \
                                                              \
  for (i = 0; i < 2; i++)                                     \
   {                                                          \
    float64x2_t first = load_two (x + starts[2 * i], n);      \
    float64x2_t second = load_two (x + starts[2 * i + 1], n); \
                                                              \
    columns[0].half[i] = vtrn1q_f64 (first, second);          \
    columns[1].half[i] = vtrn2q_f64 (first, second);          \
   }                                                          \
 }

static inline void
load_doubles (const double *x, const size_t starts[LANES], size_t n, Four columns[COLUMNS])
{
  LOAD_COLUMNS (load_two_doubles)
}

static inline void
load_floats (const float *x, const size_t starts[LANES], size_t n, Four columns[COLUMNS])
{
  LOAD_COLUMNS (load_two_floats)
}

#include "aprender/linear-model/kernels/apr-prediction-kernel-template.h"
