/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

/* The compiler's own vector type: it finds instructions for it on every processor. */
typedef double Pair __attribute__ ((vector_size (16)));

#define KERNEL apr_prediction_kernel_portable
#define KERNEL_NAME "portable"
#define VECTOR Pair
#define LANES 2
#define SPLAT(value) ((Pair){ value, value })
#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#define STORE(place, a) memcpy (place, &(a), sizeof (Pair))
#define STORE_FLOATS(place, a) ((place)[0] = (float) (a)[0], (place)[1] = (float) (a)[1])
#define COLUMNS 2

#define LOAD                                                                           \
 {                                                                                     \
  columns[0] = (Pair){ x[starts[0]], x[starts[1]] };                                   \
  columns[1] = n == 1 ? (Pair){ 0, 0 } : (Pair){ x[starts[0] + 1], x[starts[1] + 1] }; \
 }

static inline void
load_doubles (const double *x, const size_t starts[LANES], size_t n, Pair columns[COLUMNS])
{
  LOAD
}

static inline void
load_floats (const float *x, const size_t starts[LANES], size_t n, Pair columns[COLUMNS])
{
  LOAD
}

#include "aprender/linear-model/kernels/apr-prediction-kernel-template.h"
