/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-inference-condition-private.h"

#include <math.h>

#include "aprender/least-squares/apr-condition-private.h"
#include "aprender/least-squares/kernels/apr-dense-kernel-private.h"

/* With W the sum of the weights, S those of the features and P their centred products times W, W Z'WZ is
 *
 *   [W²    W S'  ]
 *   [W S   P + SS']
 *
 * P is known by the inverse of its Cholesky factor in scales of its own. */
typedef struct
{
  const AprInverse *inverse;
  const AprDenseKernel *kernel;
} Condition;

static const double *
get_row (const Condition *self, gsize row)
{
  return self->inverse->root.high + row * self->inverse->root.stride;
}

/* x = root^-1 root'^-1 x */
static void
multiply (gconstpointer data, double *x, const AprRun *run)
{
  const Condition *self = data;
  gsize i;

  for (i = self->inverse->n; i-- > 0;)
    {
      x[i] /= get_row (self, i)[i];
      self->kernel->subtract_scaled (x, get_row (self, i), x[i], i);
    }
  for (i = 0; i < self->inverse->n; i++)
    x[i] = (x[i] - self->kernel->dot (get_row (self, i), x, i)) / get_row (self, i)[i];
}

/* x = root' root x */
static gint64
divide (gconstpointer data, double *x, const AprRun *run)
{
  const Condition *self = data;
  gsize i;

  for (i = self->inverse->n; i-- > 0;)
    x[i] = self->kernel->dot (get_row (self, i), x, i + 1);
  for (i = 0; i < self->inverse->n; i++)
    {
      double value = x[i];

      self->kernel->subtract_scaled (x, get_row (self, i), -value, i);
      x[i] = value * get_row (self, i)[i];
    }

  return 0;
}

/* A sum of weighted values divided by 2^@scale. */
static double
get_scaled (const mpz_t sum, gint64 scale)
{
  signed long exponent;
  double fraction = mpz_get_d_2exp (&exponent, sum);

  return ldexp (fraction, (gint) CLAMP (exponent - scale, -5000, 5000));
}

double
apr_inference_find_condition (const AprDesign *design, const AprInverse *inverse, const AprRun *run)
{
  gsize first = design->centred ? 1 : 0;
  g_autofree double *means = g_new (double, design->n + 1);
  g_autofree gint64 *scales = g_new0 (gint64, design->n + 1);
  Condition condition = { inverse, apr_dense_kernel_choose () };
  AprConditionMatrix matrix = {
    design->n, design->centred, 0, scales, means, multiply, divide, &condition, run,
  };
  gsize i;

  if (design->n + first == 0)
    return NAN;

  if (first > 0)
    {
      scales[0] = (gint64) mpz_sizeinbase (design->weight, 2);
      matrix.first = get_scaled (design->weight, scales[0]);
    }
  for (i = 0; i < design->n; i++)
    {
      scales[first + i] = design->scale[i];
      means[i] = get_scaled (design->columns[i], design->scale[i]);
    }

  return apr_condition_find_ratio (&matrix);
}
