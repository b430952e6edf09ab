/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* For every processor: plain C over the C library's fused multiply-add, which is one instruction where there is one, and
 * right where there is none. Four lanes, so that a processor has something to do meanwhile. */

#include <glib.h>
#include <math.h>

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
  EACH (fma (a.lane[i], b.lane[i], c.lane[i]));
}

static inline Four
four_multiply_subtract (Four a, Four b, Four c)
{
  EACH (fma (a.lane[i], b.lane[i], -c.lane[i]));
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

#define KERNEL apr_gram_portable
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
#define GREATER(a, b) four_greater (a, b)
#define MAGNITUDE(a) four_magnitude (a)
#define IS_NAN(a) four_is_nan (a)
#define LESSER(a, b) four_lesser (a, b)
#define MAGNITUDE_UNLESS_0(a) four_magnitude_unless_0 (a)

#include "aprender/linear-model/apr-gram-template.h"
