/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* For every processor: plain C, four lanes at a time, so that a compiler can use what vectors there are. Where the
 * products are whole numbers nothing needs to be fused. */

#include <glib.h>
#include <math.h>

#include "aprender/base/apr-fma-private.h"

typedef struct
{
  double lane[4];
} Four;

static inline Four
four_load (const double *place)
{
  return (Four){ { place[0], place[1], place[2], place[3] } };
}

static inline void
four_store (double *place, Four a)
{
  place[0] = a.lane[0];
  place[1] = a.lane[1];
  place[2] = a.lane[2];
  place[3] = a.lane[3];
}

#define EACH(expression)         \
 Four result;                    \
 gsize i;                        \
                                 \
 for (i = 0; i < 4; i++)         \
  result.lane[i] = (expression); \
 return result

static inline Four
four_splat (double value)
{
  EACH (value);
}

static inline Four
four_add (Four a, Four b)
{
  EACH (a.lane[i] + b.lane[i]);
}

static inline Four
four_subtract (Four a, Four b)
{
  EACH (a.lane[i] - b.lane[i]);
}

static inline Four
four_multiply (Four a, Four b)
{
  EACH (a.lane[i] * b.lane[i]);
}

static inline Four
four_multiply_add (Four a, Four b, Four c)
{
  EACH (a.lane[i] * b.lane[i] + c.lane[i]);
}

static inline Four
four_multiply_subtract (Four a, Four b, Four c)
{
  EACH (a.lane[i] * b.lane[i] - c.lane[i]);
}

static inline Four
four_fused_add (Four a, Four b, Four c)
{
  AprPair first = apr_fma_pair ((AprPair){ a.lane[0], a.lane[1] }, (AprPair){ b.lane[0], b.lane[1] },
                                (AprPair){ c.lane[0], c.lane[1] });
  AprPair second = apr_fma_pair ((AprPair){ a.lane[2], a.lane[3] }, (AprPair){ b.lane[2], b.lane[3] },
                                 (AprPair){ c.lane[2], c.lane[3] });

  return (Four){ { first[0], first[1], second[0], second[1] } };
}

static inline Four
four_fused_subtract (Four a, Four b, Four c)
{
  return four_fused_add (a, b, (Four){ { -c.lane[0], -c.lane[1], -c.lane[2], -c.lane[3] } });
}

static inline Four
four_greater (Four a, Four b)
{
  EACH (a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i]);
}

static inline Four
four_magnitude (Four a)
{
  EACH (fabs (a.lane[i]));
}

static inline gboolean
four_is_nan (Four a)
{
  return isnan (a.lane[0]) || isnan (a.lane[1]) || isnan (a.lane[2]) || isnan (a.lane[3]);
}

static inline Four
four_lesser (Four a, Four b)
{
  EACH (a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i]);
}

static inline Four
four_magnitude_unless_0 (Four a)
{
  EACH (a.lane[i] == 0 ? INFINITY : fabs (a.lane[i]));
}

static inline gboolean
four_any (Four a)
{
  return a.lane[0] != 0 || a.lane[1] != 0 || a.lane[2] != 0 || a.lane[3] != 0;
}

static inline void
count_lanes (const Four sum[8], gint64 *sums)
{
  gsize i;

  for (i = 0; i < 8; i++)
    sums[i] =
      (gint64) sum[i].lane[0] + (gint64) sum[i].lane[1] + (gint64) sum[i].lane[2] + (gint64) sum[i].lane[3];
}

static inline void
count_each (Four sum, gint64 *to)
{
  gsize i;

  for (i = 0; i < 4; i++)
    to[i] += (gint64) sum.lane[i];
}

static inline Four
add_lanes (const Four a[4])
{
  EACH ((a[i].lane[0] + a[i].lane[1]) + (a[i].lane[2] + a[i].lane[3]));
}

#define KERNEL apr_slice_kernel_portable
#define KERNEL_NAME "portable"
#define VECTOR Four
#define LANES 4
#define LOAD(place) four_load (place)
#define STORE(place, a) four_store (place, a)
#define SPLAT(value) four_splat (value)
#define ADD(a, b) four_add (a, b)
#define SUBTRACT(a, b) four_subtract (a, b)
#define MULTIPLY(a, b) four_multiply (a, b)
#define MULTIPLY_ADD(a, b, c) four_multiply_add (a, b, c)
#define MULTIPLY_SUBTRACT(a, b, c) four_multiply_subtract (a, b, c)
#define EITHER(a, b) four_add (four_magnitude (a), b)
#define FUSED_ADD(a, b, c) four_fused_add (a, b, c)
#define FUSED_SUBTRACT(a, b, c) four_fused_subtract (a, b, c)
#define GREATER(a, b) four_greater (a, b)
#define LESSER(a, b) four_lesser (a, b)
#define MAGNITUDE(a) four_magnitude (a)
#define MAGNITUDE_UNLESS_0(a) four_magnitude_unless_0 (a)
#define IS_NAN(a) four_is_nan (a)
#define ANY(a) four_any (a)
#define COUNT_LANES(sum, sums) count_lanes (sum, sums)
#define COUNT_EACH(sum, lanes) count_each (sum, lanes)
#define ADD_LANES_OF_FOUR(a) add_lanes (a)

#include "aprender/exact-sums/kernels/apr-slice-kernel-template.h"
