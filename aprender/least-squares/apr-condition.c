/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-condition-private.h"

#include <math.h>
#include <string.h>

#include "aprender/least-squares/kernels/apr-dense-kernel-private.h"

/* With C the centred products of the features in scales of their own, E these scales, and t the means in them, the
 * design matrix has the singular values of R with
 *
 *   R'R = E [1 0; t I] [1 0; 0 C] [1 t'; 0 I] E,
 *
 * but for a common factor. This matrix and its inverse can both be multiplied with, and since C is factorised in its
 * own scales, however far apart these are, the inverse's largest eigenvalue is as accurate as that of the matrix. Both
 * are found by the Lanczos method. The scales are divided by the largest of them before the matrix is multiplied with,
 * and by the smallest before its inverse is, so that no square overflows, and what underflows does not count. */
#define MAX_STEPS 64
#define STRIDE 3 /* steps between two tests of convergence */
#define TOLERANCE 1e-6

typedef struct
{
  const AprConditionMatrix *matrix; /* (unowned) */
  double *factors;                  /* (unowned) by column: E divided by a power of two */
} Design;

/* Exponents are sums and differences of a few of those that sums of products have, which are far within an int. */
static double
scale (double value, gint64 exponent)
{
  return ldexp (value, (gint) exponent);
}

static double
dot (const double *a, const double *b, gsize n)
{
  double sum = 0;
  gsize i;

  for (i = 0; i < n; i++)
    sum += a[i] * b[i];

  return sum;
}

static gsize
count_columns (const AprConditionMatrix *self)
{
  return self->n + (self->centred ? 1 : 0);
}

/* What is not a number ends the iteration. */
static void
stop_if_cancelled (const AprConditionMatrix *self, double *x)
{
  if (apr_run_is_cancelled (self->run))
    x[0] = NAN;
}

static gint64
multiply (gconstpointer data, double *x)
{
  const Design *self = data;
  const AprConditionMatrix *matrix = self->matrix;
  double *features = x + (matrix->centred ? 1 : 0);
  gsize i;

  for (i = 0; i < count_columns (matrix); i++)
    x[i] *= self->factors[i];
  if (matrix->centred)
    x[0] += dot (matrix->means, features, matrix->n);
  matrix->multiply (matrix->data, features, matrix->run);
  for (i = 0; i < matrix->n && matrix->centred; i++)
    features[i] += matrix->means[i] * x[0];
  for (i = 0; i < count_columns (matrix); i++)
    x[i] *= self->factors[i];
  stop_if_cancelled (matrix, x);

  return 0;
}

static gint64
divide (gconstpointer data, double *x)
{
  const Design *self = data;
  const AprConditionMatrix *matrix = self->matrix;
  double *features = x + (matrix->centred ? 1 : 0);
  double first;
  gint64 exponent;
  gsize i;

  for (i = 0; i < count_columns (matrix); i++)
    x[i] /= self->factors[i];
  first = x[0];
  for (i = 0; i < matrix->n && matrix->centred; i++)
    features[i] -= matrix->means[i] * first;
  exponent = matrix->divide (matrix->data, features, matrix->run);
  if (matrix->centred)
    x[0] = scale (first, -exponent) - dot (matrix->means, features, matrix->n);
  for (i = 0; i < count_columns (matrix); i++)
    x[i] /= self->factors[i];
  stop_if_cancelled (matrix, x);

  return exponent;
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
apr_condition_find_singular_value (
  gsize n, AprConditionFunc apply, gconstpointer data, gint64 *exponent, const AprRun *run)
{
  gsize n_steps = MIN (n, MAX_STEPS);
  g_autofree double *vectors = apr_run_new_doubles (run, n_steps + 1, n);
  double diagonal[MAX_STEPS];
  double beside[MAX_STEPS];
  double eigenvalue = 0;
  gint64 unit = 0; /* even: the matrix is divided by 2 to this power, so that squares do not overflow */
  double norm;
  gsize step;
  gsize i;
  gsize j;

  if (vectors == NULL)
    return NAN;

  for (i = 0; i < n; i++)
    vectors[i] = apr_dense_start (i);
  norm = sqrt (dot (vectors, vectors, n));
  for (step = 0; step < n_steps; step++)
    {
      double *vector = vectors + step * n;
      double *next = vector + n;
      double before = eigenvalue;
      double max = 0;
      gint64 own_exponent;

      for (i = 0; i < n; i++)
        vector[i] /= norm;
      memcpy (next, vector, n * sizeof *next);
      own_exponent = apply (data, next);
      if (isnan (next[0]))
        return NAN;
      if (step == 0)
        {
          gint bits;

          for (i = 0; i < n; i++)
            max = MAX (max, fabs (next[i]));
          (void) frexp (max, &bits);
          unit = own_exponent + bits;
          unit += unit & 1;
        }
      for (i = 0; i < n; i++)
        next[i] = scale (next[i], own_exponent - unit);
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

  *exponent = unit / 2;

  return sqrt (eigenvalue);
}

/* E divided by 2^@unit. */
static void
set_factors (const AprConditionMatrix *self, gint64 unit, double *factors)
{
  gsize i;

  for (i = 0; i < count_columns (self); i++)
    factors[i] = scale (self->centred && i == 0 ? self->first : 1, self->scales[i] - unit);
}

double
apr_condition_find_ratio (const AprConditionMatrix *self)
{
  gsize n = count_columns (self);
  g_autofree double *factors = g_new (double, n);
  Design design = { self, factors };
  gint64 max_scale = G_MININT64;
  gint64 min_scale = G_MAXINT64;
  gint64 high_exponent = 0;
  gint64 low_exponent = 0;
  double high;
  double low;
  gsize i;

  for (i = 0; i < n; i++)
    {
      max_scale = MAX (max_scale, self->scales[i]);
      min_scale = MIN (min_scale, self->scales[i]);
    }
  set_factors (self, max_scale, factors);
  high = apr_condition_find_singular_value (n, multiply, &design, &high_exponent, self->run);
  set_factors (self, min_scale, factors);
  low = apr_condition_find_singular_value (n, divide, &design, &low_exponent, self->run);

  high_exponent += low_exponent + max_scale - min_scale;

  return scale (high * low, high_exponent);
}

static void
multiply_scaled (gconstpointer data, double *x, const AprRun *run)
{
  apr_normal_equations_multiply ((AprNormalEquations *) data, x, run);
}

static gint64
divide_scaled (gconstpointer data, double *x, const AprRun *run)
{
  return apr_normal_equations_divide (data, x, run);
}

double
apr_condition_find (AprNormalEquations *equations, const AprRun *run)
{
  const AprProducts *products = equations->products;
  const gsize *independent = equations->independent;
  gsize n = equations->n_independent;
  gsize first = products->centred ? 1 : 0;
  g_autofree double *means = g_new (double, n);
  g_autofree gint64 *scales = g_new (gint64, n + 1);
  AprConditionMatrix matrix = {
    .n = n,
    .centred = products->centred,
    .scales = scales,
    .means = means,
    .multiply = multiply_scaled,
    .divide = divide_scaled,
    .data = equations,
    .run = run,
  };
  double condition;
  signed long exponent;
  gsize i;

  if (n < products->n_features)
    return INFINITY;

  if (products->centred)
    {
      matrix.first = mpz_get_d_2exp (&exponent, products->sums[0]);
      scales[0] = exponent;
    }
  for (i = 0; i < n; i++)
    {
      gint64 own_scale = equations->scales[independent[i]] - products->finer;

      scales[first + i] = own_scale;
      if (products->centred)
        {
          double sum = mpz_get_d_2exp (&exponent, products->sums[1 + independent[i]]);

          means[i] = scale (sum, exponent - own_scale);
        }
    }
  condition = apr_condition_find_ratio (&matrix);

  return apr_run_is_cancelled (run) ? NAN : condition;
}
