/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

/* Of the compiler's making, which every processor can do in some way. */
typedef double Pair __attribute__ ((vector_size (16)));

#define KERNEL apr_prediction_portable
#define KERNEL_NAME "portable"
#define VECTOR Pair
#define LANES 2
#define SPLAT(value) ((Pair){ value, value })
#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))
#define STORE(place, a) memcpy (place, &(a), sizeof (Pair))
#define LOAD_FLOATS(place) ((Pair){ (place)[0], (place)[1] })
#define LOAD_DOUBLES(place) ((Pair){ (place)[0], (place)[1] })
#define LOAD_SOME_FLOATS(place, n) ((Pair){ (place)[0], 0 })
#define LOAD_SOME_DOUBLES(place, n) ((Pair){ (place)[0], 0 })

static inline void
transpose (Pair v[2])
{
  Pair first = { v[0][0], v[1][0] };
  Pair second = { v[0][1], v[1][1] };

  v[0] = first;
  v[1] = second;
}

#include "aprender/linear-model/apr-prediction-template.h"
