/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-minimum-norm-private.h"

#include <math.h>

#include "aprender/base/apr-parallel-private.h"
#include "aprender/least-squares/apr-refinement-private.h"

/* Let G be the products of all features with the independent ones, and c those of the independent ones with the
 * target. The solution of minimum norm is the b in the range of G with G'b = c: for some v, both residuals are 0,
 *
 *   r = G v - b (primal) and s = c - G'b (dual).
 *
 * For any b and v, b is off by r across the range, and within it by at most |s| over the least singular value of G,
 * which is at least the smallest eigenvalue of the independent features' own products, for they are part of it. So
 * residuals without rounding bound the error here too.
 *
 * For the correction: G = Q A with A the scaled products of the independent features and Q' the identity and the
 * combinations that the dependent ones are, all unscaled. With u = A dv, db = Q u + r, and Q'Q u = A^-1 s - Q'r.
 *
 * All rows of G have the largest scale, since b must not be scaled.
 *
 * Residuals are taken from the leading bits of the products, and where these leave a rounding open, from all bits, at
 * twice the time. Where that does, or factors in double are not enough, G'G takes over (apr-squared-equations.c). To go
 * on here with as many bits as it takes where answers are exactly 0 or halfway between two numbers, as factors in
 * double could, would save a third of the time at most.
 */
struct _AprMinimumNorm
{
  AprNormalEquations *equations; /* (unowned) */
  gsize n;                       /* of the features that take part */
  gsize *features;               /* (owned) the independent ones, then the dependent ones */
  AprSquaredEquations *squared;  /* (owned) (nullable) */

  gboolean in_doubles; /* what follows is there */
  gint64 max_scale;
  gint64 spread;       /* between the largest scale and the smallest of the independent features */
  double *factors;     /* (owned) of a feature: 2^(its scale - the largest) */
  gboolean few;        /* dependent features, beside the independent ones */
  AprCholesky squares; /* of Q'Q, or, where they are few, of what is called S below */
};

/* Beyond this, the corrections would underflow sooner or later. */
#define MAX_SPREAD 100

/* Room for what many corrections add up to, beyond what one may reach. */
#define SPARE_BITS 32

/* Where dependent features are few, and scales so near to each other that this loses no digits,
 *
 *   Q'Q = F^2 + W'W, (Q'Q)^-1 = F^-2 - F^-2 W' S^-1 W F^-2, S = I + W F^-2 W'
 *
 * with F the factors of the independent features, and W what the dependent ones are combinations of.
 */
#define FEW 8
#define MAX_NEAR 8

static void
multiply_squares (gpointer data, gsize part, gsize n_parts)
{
  AprMinimumNorm *self = data;
  const AprNormalEquations *equations = self->equations;
  gsize n = equations->n_independent;
  gsize stride = self->squares.stride;
  gsize i;
  gsize j;

  for (i = part * APR_DENSE_PAD; i < n; i += n_parts * APR_DENSE_PAD)
    {
      double *rows = self->squares.rows + i * stride;
      gsize n_rows = MIN (APR_DENSE_PAD, n - i);

      for (j = 0; j < n_rows; j++)
        rows[j * stride + i + j] = -self->factors[i + j] * self->factors[i + j];
      self->squares.kernel->subtract_products (rows + i, stride, equations->combinations + i, stride,
                                               equations->combinations + i, stride, n_rows, stride - i,
                                               equations->n_dependent);
      for (j = 0; j < n_rows * stride; j++)
        rows[j] = -rows[j];
    }
}

static void
multiply_few (AprMinimumNorm *self)
{
  const AprNormalEquations *equations = self->equations;
  gsize n = equations->n_independent;
  gsize stride = equations->cholesky.stride;
  g_autofree double *row = g_new (double, n);
  gsize i;
  gsize j;

  for (i = 0; i < equations->n_dependent; i++)
    {
      for (j = 0; j < n; j++)
        row[j] = equations->combinations[i * stride + j] / (self->factors[j] * self->factors[j]);
      for (j = i; j < equations->n_dependent; j++)
        self->squares.rows[i * self->squares.stride + j] =
          (i == j ? 1 : 0) + self->squares.kernel->dot (row, equations->combinations + j * stride, n);
    }
}

static gboolean
factorise (AprMinimumNorm *self, const AprRun *run)
{
  AprNormalEquations *equations = self->equations;
  gsize n = equations->n_independent;
  gsize n_squares;
  g_autofree double *least = NULL;
  g_autofree gsize *positions = NULL;
  gsize i;
  gsize j;

  for (i = 0; i < equations->n_dependent; i++)
    for (j = 0; j < n; j++)
      equations->combinations[i * equations->cholesky.stride + j] *= self->factors[n + i];

  self->few = FEW * equations->n_dependent < n && self->spread <= MAX_NEAR;
  n_squares = self->few ? equations->n_dependent : n;
  if (!apr_cholesky_init (&self->squares, n_squares, run))
    return FALSE;
  if (self->few)
    multiply_few (self);
  else
    apr_parallel_run (multiply_squares, self, run->n_threads,
                      (double) n * (double) n * (double) equations->n_dependent / 16);

  least = g_new0 (double, n_squares);
  positions = g_new (gsize, n_squares);
  return apr_cholesky_factorise (&self->squares, least, positions, run) == n_squares;
}

/* Divides @x by Q'Q. */
static void
divide_by_squares (const AprMinimumNorm *self, double *x)
{
  const AprNormalEquations *equations = self->equations;
  const AprDenseKernel *kernel = self->squares.kernel;
  gsize n = equations->n_independent;
  gsize stride = equations->cholesky.stride;
  g_autofree double *product = NULL;
  gsize i;

  if (!self->few)
    {
      apr_cholesky_solve (&self->squares, x);
      return;
    }

  product = g_new (double, equations->n_dependent);
  for (i = 0; i < n; i++)
    x[i] /= self->factors[i] * self->factors[i];
  for (i = 0; i < equations->n_dependent; i++)
    product[i] = kernel->dot (equations->combinations + i * stride, x, n);
  apr_cholesky_solve (&self->squares, product);
  for (i = 0; i < n; i++)
    x[i] *= self->factors[i] * self->factors[i];
  for (i = 0; i < equations->n_dependent; i++)
    kernel->subtract_scaled (x, equations->combinations + i * stride, product[i], n);
  for (i = 0; i < n; i++)
    x[i] /= self->factors[i] * self->factors[i];
}

AprMinimumNorm *
apr_minimum_norm_new (AprNormalEquations *equations, const AprRun *run)
{
  AprMinimumNorm *self = g_new0 (AprMinimumNorm, 1);
  gint64 max_scale = 0;
  gsize i;

  self->equations = equations;
  self->n = equations->n_independent + equations->n_dependent;
  self->features = g_new (gsize, self->n);
  self->factors = g_new (double, self->n);
  for (i = 0; i < self->n; i++)
    {
      self->features[i] = i < equations->n_independent ? equations->independent[i]
                                                       : equations->dependent[i - equations->n_independent];
      max_scale = MAX (max_scale, equations->scales[self->features[i]]);
    }
  for (i = 0; i < equations->n_independent; i++)
    self->spread = MAX (self->spread, max_scale - equations->scales[equations->independent[i]]);
  self->max_scale = max_scale;
  for (i = 0; i < self->n; i++)
    self->factors[i] = ldexp (1, (gint) (equations->scales[self->features[i]] - max_scale));
  self->in_doubles = equations->combinations != NULL && self->spread <= MAX_SPREAD && factorise (self, run);

  return self;
}

void
apr_minimum_norm_free (AprMinimumNorm *self)
{
  g_clear_pointer (&self->squared, apr_squared_equations_free);
  apr_cholesky_clear (&self->squares);
  g_free (self->features);
  g_free (self->factors);
  g_free (self);
}

typedef struct
{
  AprMinimumNorm *norm; /* (unowned) */
  gsize column;
  AprTallProducts tall;
  gint64 *row_scales; /* (owned) (nullable) by feature the largest scale: to multiply with all bits */

  AprFixed b;
  double v_size;   /* at least the sum of the magnitudes of v */
  AprFixed primal; /* r, times 2^(the largest scale) */
  AprFixed dual;   /* s, of which number i is held times 2^(the scale of i) */
  gint64 top;      /* no number of a residual is above 2^this; %G_MININT64 where both are 0 */
  double *db;      /* (owned) r times 2^-top */
  double *dv;      /* (owned) s times 2^-top */
  double *u;       /* (owned) */
  gint64 whole;    /* no correction reaches 2^this */
  AprCorrection of_b;
  AprCorrection of_v;
} Residuals;

static void
residuals_clear (Residuals *self)
{
  apr_fixed_clear (&self->b);
  apr_fixed_clear (&self->primal);
  apr_fixed_clear (&self->dual);
  apr_correction_clear (&self->of_b);
  apr_correction_clear (&self->of_v);
  g_clear_pointer (&self->row_scales, g_free);
  g_clear_pointer (&self->db, g_free);
  g_clear_pointer (&self->dv, g_free);
  g_clear_pointer (&self->u, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Residuals, residuals_clear)

static gint64
get_scale (const Residuals *self, gsize position)
{
  return self->tall.scales[self->tall.columns[position]];
}

/* Finds the magnitude of the residuals, and their leading digits. */
static void
measure (Residuals *self)
{
  gint64 primal_scale = self->tall.row_scale;
  gsize i;

  self->top = G_MININT64;
  for (i = 0; i < self->primal.n; i++)
    {
      gint64 exponent = apr_fixed_get_exponent (&self->primal, i);

      if (exponent != G_MININT64)
        self->top = MAX (self->top, exponent - primal_scale);
    }
  for (i = 0; i < self->dual.n; i++)
    {
      gint64 exponent = apr_fixed_get_exponent (&self->dual, i);

      if (exponent != G_MININT64)
        self->top = MAX (self->top, exponent - get_scale (self, i));
    }
  if (self->top == G_MININT64)
    return;

  for (i = 0; i < self->primal.n; i++)
    self->db[i] = apr_fixed_get_double (&self->primal, i, self->top + primal_scale);
  for (i = 0; i < self->dual.n; i++)
    self->dv[i] = apr_fixed_get_double (&self->dual, i, self->top + get_scale (self, i));
}

/* Returns whether the leading bits of the products are not all. */
static gboolean
is_cut (const AprMinimumNorm *self)
{
  return 2 * self->max_scale > apr_scaled_products_get_bits (self->n);
}

static void
residuals_init (Residuals *self, AprMinimumNorm *norm, gsize column, gboolean all_bits)
{
  const AprNormalEquations *equations = norm->equations;
  const AprProducts *products = equations->products;
  gsize n = equations->n_independent;
  gint64 log2_n = (gint64) g_bit_storage (norm->n);
  gint64 row_scale = norm->max_scale;
  gint64 fraction = APR_REFINEMENT_FIRST_BITS + norm->spread + (all_bits ? equations->inverse_bits : 0);
  gint64 residual_fraction = all_bits
                             ? MAX (fraction + row_scale, equations->scales[column])
                             : fraction + apr_scaled_products_get_bits (norm->n) - (row_scale - norm->spread);
  gsize i;

  *self = (Residuals){ .norm = norm, .column = column };
  self->tall = (AprTallProducts){ products, row_scale, equations->scales, norm->features, norm->n, n };
  if (all_bits)
    {
      self->row_scales = g_new (gint64, products->n_features);
      for (i = 0; i < products->n_features; i++)
        self->row_scales[i] = row_scale;
    }
  self->whole = 2 * (norm->spread + equations->inverse_bits + log2_n) + 8;
  apr_fixed_init (&self->b, norm->n, fraction, self->whole + SPARE_BITS);
  apr_fixed_init (&self->primal, norm->n, residual_fraction, self->whole + row_scale + log2_n + SPARE_BITS);
  apr_fixed_init (&self->dual, n, residual_fraction, self->whole + row_scale + log2_n + SPARE_BITS);
  apr_correction_init (&self->of_b, norm->n);
  apr_correction_init (&self->of_v, n);
  self->db = g_new (double, norm->n);
  self->dv = g_new (double, n);
  self->u = g_new (double, n);
  for (i = 0; i < n; i++)
    apr_fixed_add (&self->dual, i, apr_products_get (products, column, equations->independent[i]),
                   products->n_limbs, -equations->scales[column]);
  measure (self);
}

/* Corrections for the residuals @db = r and @dv = s, in place. */
static void
find_corrections (Residuals *self)
{
  AprMinimumNorm *norm = self->norm;
  AprNormalEquations *equations = norm->equations;
  const AprDenseKernel *kernel = equations->cholesky.kernel;
  gsize stride = equations->cholesky.stride;
  gsize n = equations->n_independent;
  gsize i;

  apr_cholesky_solve (&equations->cholesky, self->dv);
  for (i = 0; i < n; i++)
    self->u[i] = self->dv[i] - norm->factors[i] * self->db[i];
  for (i = 0; i < equations->n_dependent; i++)
    kernel->subtract_scaled (self->u, equations->combinations + i * stride, self->db[n + i], n);
  divide_by_squares (norm, self->u);

  for (i = 0; i < n; i++)
    {
      self->dv[i] = self->u[i];
      self->db[i] += norm->factors[i] * self->u[i];
    }
  for (i = 0; i < equations->n_dependent; i++)
    self->db[n + i] += kernel->dot (equations->combinations + i * stride, self->u, n);
  apr_cholesky_solve (&equations->cholesky, self->dv);
}

/* Adds G times the correction of v to the one residual, and subtracts G' times that of b from the other. */
static void
multiply (Residuals *self, const AprRun *run)
{
  const AprTallProducts *tall = &self->tall;

  if (self->row_scales == NULL)
    {
      apr_fixed_add_tall (&self->primal, &self->dual, tall, &self->of_v, &self->of_b, run);
      return;
    }

  apr_fixed_add_products (&self->primal, tall->products, tall->columns, tall->columns, tall->scales, 0,
                          &self->of_v, 1, run);
  apr_fixed_add_products (&self->dual, tall->products, tall->columns, tall->columns, self->row_scales, 0,
                          &self->of_b, -1, run);
}

/* Adds corrections to b and v, and updates the residuals; returns %FALSE where there are none. */
static gboolean
correct (Residuals *self, const AprRun *run)
{
  gsize i;

  find_corrections (self);
  if (!apr_correction_set (&self->of_b, self->db, self->top, self->b.fraction, self->whole))
    return FALSE;
  /* Of v there may be nothing. */
  if (!apr_correction_set (&self->of_v, self->dv, self->top, self->b.fraction, self->whole))
    for (i = 0; i < self->of_v.n; i++)
      self->of_v.values[i] = 0;

  apr_fixed_add_correction (&self->b, &self->of_b, 0, 1);
  apr_fixed_add_correction (&self->primal, &self->of_b, self->tall.row_scale, -1);
  multiply (self, run);
  for (i = 0; i < self->of_v.n; i++)
    self->v_size += ldexp (fabs ((double) self->of_v.values[i]), -(gint) self->of_v.place);
  measure (self);

  return TRUE;
}

/* Returns the exponent of a bound on the 2-norm of @n numbers times 2^@exponent. */
static gint64
bound_norm (const double *values, gsize n, gint64 exponent)
{
  double sum = 0;
  gsize i;

  for (i = 0; i < n; i++)
    sum += values[i] * values[i];

  /* What has underflowed counts too. */
  return apr_floor_log2 (1.001 * sqrt (sum) + 0x1p-500) + 1 + exponent;
}

static gboolean
refine (AprRefinement *refinement, gpointer data)
{
  Residuals *self = data;
  const AprNormalEquations *equations = self->norm->equations;
  gint64 log2_n = (gint64) g_bit_storage (self->norm->n);
  gint64 bits = apr_scaled_products_get_bits (self->norm->n);
  gint64 before = refinement->error;
  gint64 min_scale = self->tall.row_scale - self->norm->spread;
  gint64 primal = APR_EXACT;
  gint64 dual = APR_EXACT;
  gsize i;

  if (self->top != G_MININT64 && !correct (self, refinement->run))
    return FALSE;

  if (self->top != G_MININT64)
    {
      primal = bound_norm (self->db, self->primal.n, self->top);
      dual = bound_norm (self->dv, self->dual.n, self->top);
    }
  /* A unit of each product that was cut off, and one of the right-hand side, where the 2-norm is at most n times the
   * largest. The logarithm of 0 is APR_EXACT, as what is cut off where there is nothing. */
  if (self->row_scales == NULL && is_cut (self->norm))
    {
      double b_size = 0;
      gint64 of_v;
      gint64 of_b;

      for (i = 0; i < self->b.n; i++)
        b_size += fabs (apr_fixed_get_double (&self->b, i, self->whole));
      of_v = apr_scale_error (apr_floor_log2 (1.01 * self->v_size), 1 - bits + log2_n);
      of_b = apr_scale_error (apr_floor_log2 (1.01 * b_size), 1 + self->whole - bits + log2_n);
      primal = apr_scale_error (MAX (primal, of_v), 1);
      dual = apr_scale_error (MAX (dual, of_b), 1);
    }
  if (equations->scales[self->column] > self->dual.fraction)
    dual = MAX (dual, log2_n - (self->dual.fraction + min_scale)) + 1;

  dual = apr_scale_error (dual, equations->inverse_bits + self->norm->spread);
  refinement->error = apr_scale_error (MAX (primal, dual), 1);

  return refinement->error < before - 2;
}

static gboolean
solve_in_doubles (AprMinimumNorm *self, const AprTarget *target, gboolean all_bits, const AprRun *run)
{
  const AprNormalEquations *equations = self->equations;
  g_auto (AprRefinement) refinement = { 0 };
  g_auto (Residuals) residuals = { 0 };
  gsize i;

  apr_refinement_init (&refinement, equations->products, target, self->features, self->n, run);
  for (i = 0; i < self->n; i++)
    refinement.exponents[i] = equations->scales[refinement.column] - self->max_scale;
  residuals_init (&residuals, self, refinement.column, all_bits);
  refinement.x = &residuals.b;

  return apr_refinement_run (&refinement, refine, &residuals);
}

gboolean
apr_minimum_norm_solve (AprMinimumNorm *self, const AprTarget *target, const AprRun *run)
{
  if (self->in_doubles && (solve_in_doubles (self, target, FALSE, run) ||
                           (is_cut (self) && solve_in_doubles (self, target, TRUE, run))))
    return TRUE;
  if (apr_run_is_cancelled (run))
    return FALSE;

  if (self->squared == NULL)
    self->squared = apr_squared_equations_new (self->equations, self->features, run);

  return apr_squared_equations_solve (self->squared, target, run);
}
