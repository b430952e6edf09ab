/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-condition-private.h"

#include <math.h>
#include <string.h>

#include "aprender/least-squares/kernels/apr-dense-kernel-private.h"

/* The design matrix has the singular values of R with R'R = M,
 *
 *   M = [s0 0; s I] [1 0; 0 C] [s0 s'; 0 I],
 *
 * where C are the centred products, s0 the sum of the weights and s those of the features, but for a common factor. So
 * M and its inverse can be multiplied with, and since C is factorised in its own scales, far from how ill M itself may
 * be, the inverse's largest eigenvalue is as accurate as that of M. Both are found by the Lanczos method.
 */
#define MAX_STEPS 64
#define STRIDE 3 /* steps between two tests of convergence */
#define TOLERANCE 1e-6

typedef struct
{
  AprNormalEquations *equations; /* (unowned) */
  const AprRun *run;             /* (unowned) */
  gsize first;                   /* 1 where there is an intercept, 0 without */
  gsize n;                       /* of the design matrix's columns */
  double *sums;                  /* (unowned) s0 and s; 0 without an intercept */
  double *factors; /* (unowned) by position: C is the scaled products with rows and columns times these */
} Design;

static double
dot (const double *a, const double *b, gsize n)
{
  double sum = 0;
  gsize i;

  for (i = 0; i < n; i++)
    sum += a[i] * b[i];

  return sum;
}

/* What is not a number ends the iteration. */
static void
stop_if_cancelled (const Design *self, double *x)
{
  if (apr_run_is_cancelled (self->run))
    x[0] = NAN;
}

static void
multiply (gconstpointer data, double *x)
{
  const Design *self = data;
  double *features = x + self->first;
  gsize p = self->n - self->first;
  double sum = dot (self->sums, x, self->n);
  gsize i;

  for (i = 0; i < p; i++)
    features[i] *= self->factors[i];
  apr_normal_equations_multiply (self->equations, features, self->run);
  for (i = 0; i < p; i++)
    features[i] *= self->factors[i];

  if (self->first > 0)
    x[0] = 0;
  for (i = 0; i < self->n; i++)
    x[i] += self->sums[i] * sum;
  stop_if_cancelled (self, x);
}

static void
divide (gconstpointer data, double *x)
{
  const Design *self = data;
  double *features = x + self->first;
  gsize p = self->n - self->first;
  gint64 exponent;
  gsize i;

  if (self->first > 0)
    x[0] /= self->sums[0];
  for (i = 0; i < p; i++)
    {
      if (self->first > 0)
        features[i] -= self->sums[1 + i] * x[0];
      features[i] /= self->factors[i];
      if (!isfinite (features[i]))
        {
          /* The columns' scales are further apart than doubles reach, and long numbers know no infinity. */
          x[0] = NAN;
          return;
        }
    }
  exponent = apr_normal_equations_divide (self->equations, features, self->run);
  for (i = 0; i < p; i++)
    {
      /* A quotient of two doubles, so never clamped: GCOVR_EXCL_BR_START */
      features[i] = ldexp (features[i], (gint) CLAMP (exponent, -5000, 5000)) / self->factors[i];
      /* GCOVR_EXCL_BR_STOP */
      if (self->first > 0)
        x[0] -= self->sums[1 + i] * features[i];
    }
  if (self->first > 0)
    x[0] /= self->sums[0];
  stop_if_cancelled (self, x);
}

/* By bisection: a number has as many eigenvalues above it as the factorisation of the matrix less that number has
 * positive pivots. */
double
apr_condition_find_max_eigenvalue (const double *diagonal, const double *beside, gsize n, double low)
{
  double high = 0;
  int step;
  gsize i;

  for (i = 0; i < n; i++)
    {
      low = MAX (low, diagonal[i]);
      high = MAX (high, diagonal[i] + (i > 0 ? beside[i - 1] : 0) + (i + 1 < n ? beside[i] : 0));
    }
  /* 30 steps do, as @low is at least a third of @high: GCOVR_EXCL_BR_START */
  for (step = 0; step < 60 && high - low > 0.01 * TOLERANCE * high; step++)
    /* GCOVR_EXCL_BR_STOP */
    {
      double middle = low + (high - low) / 2;
      double pivot = diagonal[0] - middle; /* below 0, as @middle is above @low */
      gboolean above = FALSE;

      /* Where a pivot is 0, @middle is an eigenvalue of a part of the matrix, and that of the whole is no smaller. */
      for (i = 1; i < n && !above; i++)
        {
          pivot = diagonal[i] - middle - beside[i - 1] * beside[i - 1] / pivot;
          above = pivot >= 0;
        }
      if (above)
        low = middle;
      else
        high = middle;
    }

  return low;
}

double
apr_condition_find_singular_value (gsize n, AprConditionFunc apply, gconstpointer data)
{
  gsize n_steps = MIN (n, MAX_STEPS);
  g_autofree double *vectors = g_new (double, n *(n_steps + 1));
  double diagonal[MAX_STEPS];
  double beside[MAX_STEPS];
  double eigenvalue = 0;
  double unit = 0; /* scales the matrix, so that squares do not overflow */
  double norm;
  gsize step;
  gsize i;
  gsize j;

  for (i = 0; i < n; i++)
    vectors[i] = apr_dense_start (i);
  norm = sqrt (dot (vectors, vectors, n));
  for (step = 0; step < n_steps; step++)
    {
      double *vector = vectors + step * n;
      double *next = vector + n;
      double before = eigenvalue;

      for (i = 0; i < n; i++)
        vector[i] /= norm;
      memcpy (next, vector, n * sizeof *next);
      apply (data, next);
      if (isnan (next[0]))
        return NAN;
      for (i = 0; i < n && step == 0; i++)
        unit = MAX (unit, fabs (next[i]));
      for (i = 0; i < n; i++)
        next[i] /= unit;
      diagonal[step] = dot (vector, next, n);

      /* Twice: what rounding leaves of the vectors before in the next one would grow from step to step. */
      for (j = 0; j < 2 * (step + 1); j++)
        {
          const double *other = vectors + j % (step + 1) * n;
          double part = dot (other, next, n);

          for (i = 0; i < n; i++)
            next[i] -= part * other[i];
        }
      norm = sqrt (dot (next, next, n));
      beside[step] = norm;
      if (step % STRIDE != STRIDE - 1 && step + 1 < n_steps && norm > diagonal[0] * 1e-14)
        continue;
      eigenvalue = apr_condition_find_max_eigenvalue (diagonal, beside, step + 1, before);
      if (!(norm > eigenvalue * 1e-14) || eigenvalue - before <= TOLERANCE * eigenvalue)
        break;
    }

  return sqrt (eigenvalue) * sqrt (unit);
}

double
apr_condition_find (AprNormalEquations *equations, const AprRun *run)
{
  const AprProducts *products = equations->products;
  gsize rank = equations->n_independent;
  gsize first = products->centred ? 1 : 0;
  gsize n = products->n_features + first;
  g_autofree double *sums = g_new0 (double, n);
  g_autofree double *factors = g_new (double, rank);
  Design design = { equations, run, first, n, sums, factors };
  gint64 max_scale = G_MININT64;
  const gsize *independent = equations->independent;
  gsize i;

  if (rank < products->n_features)
    return INFINITY;

  for (i = 0; i < rank; i++)
    max_scale = MAX (max_scale, equations->scales[independent[i]] - products->finer);
  for (i = 0; i < n && products->centred; i++)
    max_scale = MAX (max_scale, (gint64) mpz_sizeinbase (products->sums[i], 2));

  for (i = 0; i < rank; i++)
    factors[i] =
      ldexp (1, (gint) MAX (equations->scales[independent[i]] - products->finer - max_scale, -2000));
  for (i = 0; i < n && products->centred; i++)
    {
      signed long exponent;
      double part = mpz_get_d_2exp (&exponent, products->sums[i == 0 ? 0 : 1 + independent[i - 1]]);

      sums[i] = ldexp (part, (gint) MAX (exponent - max_scale, -2000));
    }

  {
    double high = apr_condition_find_singular_value (n, multiply, &design);
    double low = apr_condition_find_singular_value (n, divide, &design);

    if (apr_run_is_cancelled (run))
      return NAN;
    return isfinite (low) ? high * low : INFINITY;
  }
}
