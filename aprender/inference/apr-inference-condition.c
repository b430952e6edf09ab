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
 * P is known by the inverse of its Cholesky factor in scales of its own, so that the smallest eigenvalue comes out as
 * well as the largest, however ill-conditioned Z is. */
typedef struct
{
  const AprDesign *design;
  const AprInverse *inverse;
  const AprRun *run;
  const AprDenseKernel *kernel;
  gsize first;     /* 1 where there is an intercept, else 0 */
  double *sums;    /* (owned) W and S, divided by a power of two */
  double *factors; /* (owned) by position: 2^scale, divided by the same */
} Condition;

static const double *
get_row (const Condition *self, gsize row)
{
  return self->inverse->root.high + row * self->inverse->root.stride;
}

/* x = root^-1 root'^-1 x */
static void
multiply_scaled (const Condition *self, double *x)
{
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
static void
divide_scaled (const Condition *self, double *x)
{
  gsize i;

  for (i = self->inverse->n; i-- > 0;)
    x[i] = self->kernel->dot (get_row (self, i), x, i + 1);
  for (i = 0; i < self->inverse->n; i++)
    {
      double value = x[i];

      self->kernel->subtract_scaled (x, get_row (self, i), -value, i);
      x[i] = value * get_row (self, i)[i];
    }
}

static void
multiply (gconstpointer data, double *x)
{
  const Condition *self = data;
  double *features = x + self->first;
  double sum = 0;
  gsize i;

  for (i = 0; i < self->first + self->inverse->n && self->first > 0; i++)
    sum += self->sums[i] * x[i];
  for (i = 0; i < self->inverse->n; i++)
    features[i] *= self->factors[i];
  multiply_scaled (self, features);
  for (i = 0; i < self->inverse->n; i++)
    features[i] *= self->factors[i];
  if (self->first > 0)
    x[0] = 0;
  for (i = 0; i < self->first + self->inverse->n && self->first > 0; i++)
    x[i] += self->sums[i] * sum;

  if (apr_run_is_cancelled (self->run))
    x[0] = NAN;
}

static void
divide (gconstpointer data, double *x)
{
  const Condition *self = data;
  double *features = x + self->first;
  gsize i;

  if (self->first > 0)
    x[0] /= self->sums[0];
  for (i = 0; i < self->inverse->n; i++)
    {
      if (self->first > 0)
        features[i] -= self->sums[1 + i] * x[0];
      features[i] /= self->factors[i];
    }
  divide_scaled (self, features);
  for (i = 0; i < self->inverse->n; i++)
    {
      features[i] /= self->factors[i];
      if (self->first > 0)
        x[0] -= self->sums[1 + i] * features[i];
    }
  if (self->first > 0)
    x[0] /= self->sums[0];

  if (apr_run_is_cancelled (self->run))
    x[0] = NAN;
}

double
apr_inference_find_condition (const AprDesign *design, const AprInverse *inverse, const AprRun *run)
{
  gsize first = design->centred ? 1 : 0;
  gsize n = design->n + first;
  g_autofree double *sums = g_new0 (double, n + 1);
  g_autofree double *factors = g_new (double, n + 1);
  Condition condition = { design, inverse, run, apr_dense_kernel_choose (), first, sums, factors };
  gint64 max_scale = first > 0 ? (gint64) mpz_sizeinbase (design->weight, 2) : 0;
  double high;
  double low;
  gsize i;

  if (n == 0)
    return NAN;

  for (i = 0; i < design->n; i++)
    max_scale = MAX (max_scale, MAX (design->scale[i], (gint64) mpz_sizeinbase (design->columns[i], 2)));
  if (first > 0)
    sums[0] = apr_dd_from_integer (design->weight, -max_scale).high;
  for (i = 0; i < design->n; i++)
    {
      factors[i] = ldexp (1, (int) MAX (design->scale[i] - max_scale, -5000));
      if (first > 0)
        sums[1 + i] = apr_dd_from_integer (design->columns[i], -max_scale).high;
    }

  high = apr_condition_find_singular_value (n, multiply, &condition);
  low = apr_condition_find_singular_value (n, divide, &condition);

  return isfinite (low) && low > 0 ? high * low : INFINITY;
}
